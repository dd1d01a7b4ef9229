/* Buffers of hundreds of megabytes. They lie on huge pages, so that forking the process that holds
 * them copies few page-table entries, and a child that reads them takes no page fault. */
#include "bench.h"

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
    /* One more huge page, so that the part that is used can begin on a boundary. */
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

/* The files that pages_keep made. */
static struct { char path[256]; } kept[4];
static size_t kept_count;
static pid_t keeper;

static void remove_kept(void)
{
    if (getpid() == keeper)
        for (size_t i = 0; i < kept_count; i++)
            unlink(kept[i].path);
}

const char *pages_keep(const char *bytes, size_t size)
{
    if (kept_count == sizeof kept / sizeof kept[0])
        return NULL;
    const char *dir = getenv("TMPDIR");
    char *path = kept[kept_count].path;
    snprintf(path, sizeof kept[0].path, "%s/xir-bench-XXXXXX", dir && *dir ? dir : "/tmp");
    int fd = mkstemp(path);
    if (fd < 0) {
        fprintf(stderr, "xir-bench: cannot make %s: %s\n", path, strerror(errno));
        return NULL;
    }
    if (kept_count++ == 0) {
        keeper = getpid();
        atexit(remove_kept);
    }
    for (size_t at = 0; at < size;) {
        ssize_t n = write(fd, bytes + at, size - at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            fprintf(stderr, "xir-bench: cannot write %s: %s\n", path, strerror(errno));
            close(fd);
            return NULL;
        }
        at += (size_t)n;
    }
    close(fd);
    return path;
}
