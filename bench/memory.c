/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Buffers of hundreds of megabytes. They are on huge pages, so that forking the process that holds them copies few
 * page-table entries, and a child that reads them takes no page fault. */
#include "bench.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define HUGE_PAGE ((size_t)2 << 20)

void *pages_take(size_t size)
{
    /* One more huge page, so that the used part can begin on a boundary. */
    void *p = mmap(NULL, size + 2 * HUGE_PAGE, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) {
        fprintf(stderr, "xir-bench: no memory for %zu bytes\n", size);
        return NULL;
    }
    uintptr_t at = ((uintptr_t)p + HUGE_PAGE - 1) & ~(uintptr_t)(HUGE_PAGE - 1);
    madvise((void *)at, size, MADV_HUGEPAGE);
    return (void *)at;
}

static bool read_all(int fd, char *to, size_t size)
{
    for (size_t at = 0; at < size;) {
        ssize_t n = read(fd, to + at, size - at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        at += (size_t)n;
    }
    return true;
}

char *pages_read(const char *path, size_t *size)
{
    char *bytes = NULL;
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0)
        goto fail;
    *size = (size_t)st.st_size;
    bytes = pages_take(*size + BENCH_PADDING);
    if (!bytes || !read_all(fd, bytes, *size))
        goto fail;
    close(fd);
    return bytes;
fail:
    fprintf(stderr, "xir-bench: cannot read %s: %s\n", path, strerror(errno));
    if (fd >= 0)
        close(fd);
    return NULL;
}

/* Files are kept in one folder, which is removed when the program that made it ends. */
static char folder[256];
static pid_t folder_owner;

static void remove_folder(void)
{
    DIR *d = getpid() == folder_owner ? opendir(folder) : NULL;
    if (!d)
        return;
    for (const struct dirent *e; (e = readdir(d));)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            unlinkat(dirfd(d), e->d_name, 0);
    closedir(d);
    rmdir(folder);
}

const char *pages_folder(void)
{
    if (folder_owner)
        return folder;
    const char *dir = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/xir-bench-XXXXXX", dir && *dir ? dir : "/tmp");
    if (!mkdtemp(folder)) {
        fprintf(stderr, "xir-bench: cannot make %s: %s\n", folder, strerror(errno));
        return NULL;
    }
    folder_owner = getpid();
    atexit(remove_folder);
    return folder;
}

bool pages_write(int fd, const void *bytes, size_t size)
{
    for (size_t at = 0; at < size;) {
        ssize_t n = write(fd, (const char *)bytes + at, size - at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            fprintf(stderr, "xir-bench: cannot write: %s\n", strerror(errno));
            return false;
        }
        at += (size_t)n;
    }
    return true;
}

const char *pages_keep(const char *bytes, size_t size)
{
    static int kept;
    const char *in = pages_folder();
    char *path = NULL;
    if (!in || asprintf(&path, "%s/kept-%d", in, kept++) < 0)
        return NULL;
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        fprintf(stderr, "xir-bench: cannot make %s: %s\n", path, strerror(errno));
    if (fd < 0 || !pages_write(fd, bytes, size))
        return NULL;
    close(fd);
    return path;
}
