/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A temporary folder for each test program, removed when it ends, and reading and writing of whole files in it. */
#ifndef TESTS_SCRATCH_H
#define TESTS_SCRATCH_H

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xir/context.h>

static char scratch_folder[PATH_MAX];

static inline int scratch_unlink(const char *path, const struct stat *st, int flag, struct FTW *ftw) {
    (void)st;
    (void)flag;
    (void)ftw;
    return remove(path);
}

static inline void scratch_remove(void) {
    if (*scratch_folder) nftw(scratch_folder, scratch_unlink, 16, FTW_DEPTH | FTW_PHYS);
    *scratch_folder = '\0';
}

static inline void scratch_die(const char *what, const char *path) {
    fprintf(stderr, "scratch: cannot %s %s: %s\n", what, path, strerror(errno));
    abort();
}

/* Call it once, before everything else here. */
static inline void scratch_make(void) {
    const char *top = getenv("TMPDIR");
    snprintf(scratch_folder, sizeof scratch_folder, "%s/xir-test-XXXXXX", top && *top ? top : "/tmp");
    if (!mkdtemp(scratch_folder)) scratch_die("make", scratch_folder);
    atexit(scratch_remove);
}

/* For groups of tests that need the folder, and a context as their state. */
static inline int scratch_begin(void **state) {
    scratch_make();
    return (*state = xir_context_new(NULL)) ? 0 : -1;
}
static inline int scratch_end(void **state) {
    xir_context_free(*state);
    return 0;
}

/* A path in the folder, valid until the eighth call from now. */
static inline const char *scratch(const char *name) {
    static char paths[8][PATH_MAX + 256];
    static unsigned next;
    char *path = paths[next++ % 8];
    if (!*scratch_folder) scratch_die("name a file before scratch_make:", name);
    snprintf(path, sizeof paths[0], "%s/%s", scratch_folder, name);
    return path;
}

static inline void scratch_put(const char *path, const void *data, size_t size) {
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(data, 1, size, f) != size || fclose(f) != 0) scratch_die("write", path);
}

/* The bytes of a file, followed by a zero byte; free them. NULL if the file does not exist. */
static inline uint8_t *scratch_get(const char *path, size_t *size) {
    FILE *f = fopen(path, "rb");
    struct stat st;
    if (!f) return NULL;
    if (fstat(fileno(f), &st) != 0) scratch_die("ask", path);
    *size = (size_t)st.st_size;
    uint8_t *data = malloc(*size + 1);
    if (!data || fread(data, 1, *size, f) != *size) scratch_die("read", path);
    data[*size] = 0;
    fclose(f);
    return data;
}

/* The number of names in a folder: it reveals a temporary file that was left over. */
static inline int scratch_count_in(const char *folder) {
    int n = -2;   /* "." and ".." */
    DIR *dir = opendir(folder);
    if (!dir) scratch_die("list", folder);
    while (readdir(dir)) n++;
    closedir(dir);
    return n;
}

#endif
