/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* See folder.h. A killed process leaves at most a folder ".NAME.xir-….tmp". */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include "context_base.h"
#include "folder.h"

enum { MORE = 64, TRIES = 100 };

static const char marker[] = ".xir-", suffix[] = ".tmp";

static xir_status fail(folder_writer *f, xir_status code, const char *what) {
    if (f->status) return f->status;
    return f->status = file_fail(f->why, code, f->target, XIR_NO_BYTE, "%s: %s", what, strerror(errno));
}

/* ---- names ------------------------------------------------------------------------------------------------------ */

/* ".X.data.xir-PID-N.tmp" next to X.data. */
static void name_next_to(const folder_writer *f, char *out, unsigned number) {
    const size_t n = file_folder_size(f->target);
    snprintf(out, f->room, "%.*s.%s%s%ld-%u%s", (int)n, f->target, f->target + n, marker, (long)getpid(), number,
             suffix);
}

static size_t count_digits(const char *p, const char *end) {
    size_t n = 0;
    while (p + n < end && p[n] >= '0' && p[n] <= '9') n++;
    return n;
}

bool folder_is_temp_of(xir_str temp, xir_str name) {
    const size_t n = 1 + name.size;
    const char *p = temp.data, *end = p + temp.size;
    if (temp.size < n + sizeof marker - 1 || *p != '.' || memcmp(p + 1, name.data, name.size) != 0) return false;
    if (memcmp(p + n, marker, sizeof marker - 1) != 0) return false;
    p += n + sizeof marker - 1;
    const size_t process = count_digits(p, end);
    p += process;
    if (!process || p == end || *p++ != '-') return false;
    const size_t number = count_digits(p, end);
    p += number;
    return number && (size_t)(end - p) == sizeof suffix - 1 && memcmp(p, suffix, sizeof suffix - 1) == 0;
}

/* ---- folders that exist ----------------------------------------------------------------------------------------- */

static bool next_entry(DIR *d, xir_str *name) {
    const struct dirent *e;
    do {
        errno = 0;
        e = readdir(d);
    } while (e && (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0));
    if (e) *name = xir_str_of(e->d_name);
    return e;
}

static bool is_own_file(DIR *d, xir_str name, folder_own_fn *is_own) {
    struct stat st;
    return fstatat(dirfd(d), name.data, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) && is_own(name);
}

void folder_remove(const char *path, folder_own_fn *is_own) {
    xir_str name;
    const int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    if (!d) {
        if (fd >= 0) (void)close(fd);
        return;
    }
    while (next_entry(d, &name))
        if (is_own_file(d, name, is_own)) (void)unlinkat(dirfd(d), name.data, 0);
    closedir(d);
    (void)rmdir(path);
}

bool folder_may_replace(const char *path, folder_own_fn *is_own, xir_status *status, xir_diags *why) {
    struct stat st;
    xir_str name;
    *status = XIR_OK;
    if (lstat(path, &st) != 0) {
        if (errno != ENOENT)
            *status = file_fail(why, XIR_E_IO, path, XIR_NO_BYTE, "cannot examine it: %s", strerror(errno));
        return !*status;
    }
    if (!S_ISDIR(st.st_mode)) {
        *status = file_fail(why, XIR_E_EXISTS, path, XIR_NO_BYTE, "it exists and is not a folder");
        return false;
    }
    DIR *d = opendir(path);
    if (!d) {
        *status = file_fail(why, XIR_E_IO, path, XIR_NO_BYTE, "cannot read the folder: %s", strerror(errno));
        return false;
    }
    while (!*status && next_entry(d, &name))
        if (!is_own_file(d, name, is_own))
            *status = file_fail(why, XIR_E_EXISTS, path, XIR_NO_BYTE, "the folder has something else: '%.*s'. It is "
                                "not replaced", CLIP_TO(name, 100));
    closedir(d);
    return !*status;
}

/* ---- writing one ------------------------------------------------------------------------------------------------ */

xir_status folder_open(folder_writer *f, xir_context *ctx, const char *path, folder_own_fn *is_own, xir_diags *why) {
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/') n--;
    *f = (folder_writer){ .ctx = ctx, .why = why, .room = 2 * n + MORE, .is_own = is_own };
    f->target = mem_new(context_alloc(ctx), f->room);
    f->temp = mem_new(context_alloc(ctx), f->room);
    if (!f->target || !f->temp) return f->status = diag_memory(why);
    memcpy(f->target, path, n);
    f->target[n] = '\0';
    if (!folder_may_replace(f->target, is_own, &f->status, why)) return f->status;
    for (unsigned i = 0; i < TRIES && !f->made; i++) {
        name_next_to(f, f->temp, i);
        f->made = mkdir(f->temp, 0777) == 0;
        if (!f->made && errno != EEXIST) break;
    }
    return f->made ? XIR_OK : fail(f, XIR_E_IO, "cannot make a folder next to it");
}

xir_status folder_write(folder_writer *f, xir_str name, const void *data, size_t size) {
    char path[PATH_MAX];
    file_writer w;
    if (f->status) return f->status;
    if (snprintf(path, sizeof path, "%s/%.*s", f->temp, (int)name.size, name.data) >= (int)sizeof path) {
        errno = ENAMETOOLONG;
        return fail(f, XIR_E_IO, "cannot write a file in it");
    }
    if (file_open(&w, f->ctx, path, f->why) == XIR_OK) (void)file_write(&w, data, size);
    return f->status = file_commit(&w);
}

xir_status folder_ready(folder_writer *f) {
    if (!f->status) (void)folder_may_replace(f->target, f->is_own, &f->status, f->why);
    return f->status;
}

void folder_close(folder_writer *f) {
    if (!f->ctx) return;
    const xir_allocator *alloc = context_alloc(f->ctx);
    if (f->made) folder_remove(f->temp, f->is_own);
    mem_free(alloc, f->target, f->room);
    mem_free(alloc, f->temp, f->room);
    *f = (folder_writer){ .status = f->status };
}
