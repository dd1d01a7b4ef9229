/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The system calls of the program faults: they fail, do less than requested, or end the process (support/faults.h). */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>
#include "support/faults.h"

struct trouble trouble;

void set_fault(int what, int error, unsigned at) {
    trouble = (struct trouble){ .on = true, .what = what, .error = error, .at = at,
                                .no_exchange = trouble.no_exchange };
}

#if HAVE_FAULTS
static int suffers(const char *call) {
    if (!trouble.on || ++trouble.calls != trouble.at) return GO_ON;
    trouble.hit = call;
    if (trouble.what == KILL) kill(getpid(), SIGKILL);
    if (trouble.what == CHANGE) {
        trouble.on = false;
        trouble.change();
        return GO_ON;
    }
    errno = trouble.error;
    return trouble.what;
}

static int open_file(const char *path, int flags, va_list args) {
    int mode = flags & O_CREAT ? va_arg(args, int) : 0;
    return suffers("open") == FAIL ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

#define OPEN(call)                              \
    int call(const char *path, int flags, ...) { \
        va_list args;                           \
        va_start(args, flags);                  \
        int fd = open_file(path, flags, args);  \
        va_end(args);                           \
        return fd;                              \
    }
OPEN(open)
OPEN(open64)

/* A short write writes 1 byte. */
#define TRANSFER(call, at)                                     \
    int what = suffers(#call);                                 \
    if (what == FAIL) return -1;                               \
    if (what == NOTHING) return 0;                             \
    return syscall(SYS_##call, fd, data, what == SHORT && size > 1 ? 1 : size, at)
ssize_t write(int fd, const void *data, size_t size)           { TRANSFER(write, 0); }
ssize_t read(int fd, void *data, size_t size)                  { TRANSFER(read, 0); }
ssize_t pread(int fd, void *data, size_t size, off_t at)       { TRANSFER(pread64, at); }
ssize_t pread64(int fd, void *data, size_t size, off64_t at)   { TRANSFER(pread64, at); }
ssize_t writev(int fd, const struct iovec *pieces, int n) {
    int what = suffers("writev");
    if (what == FAIL) return -1;
    if (what == NOTHING) return 0;
    return what == SHORT ? syscall(SYS_write, fd, pieces->iov_base, 1) : syscall(SYS_writev, fd, pieces, n);
}
/* A short readlink returns far too much: a link that has grown since it was followed. */
ssize_t readlink(const char *restrict path, char *restrict out, size_t size) {
    int what = suffers("readlink");
    if (what == SHORT) memset(out, 'n', size);
    return what == FAIL ? -1 : what == SHORT ? (ssize_t)size : syscall(SYS_readlink, path, out, size);
}
ssize_t getrandom(void *out, size_t size, unsigned flags) {
    return suffers("getrandom") == FAIL ? -1 : syscall(SYS_getrandom, out, size, flags);
}
void *mmap64(void *where, size_t size, int protection, int flags, int fd, off64_t at) {
    return suffers("mmap") == FAIL ? MAP_FAILED : (void *)syscall(SYS_mmap, where, size, protection, flags, fd, at);
}

#define PLAIN(call) return suffers(#call) == FAIL ? -1 : (int)syscall(SYS_##call
/* Hundreds of saves do not need to wait for the disk. */
int fsync(int fd) { return suffers("fsync") == FAIL ? -1 : trouble.on ? 0 : (int)syscall(SYS_fsync, fd); }
int close(int fd) {
    int what = suffers("close");
    long done = syscall(SYS_close, fd);   /* it closes the file even when it fails */
    if (what != FAIL) return (int)done;
    errno = trouble.error;
    return -1;
}
int rename(const char *from, const char *to) { PLAIN(rename), from, to); }
int renameat2(int a, const char *from, int b, const char *to, unsigned how) {
    if (suffers("renameat2") == FAIL) return -1;
    if (!trouble.no_exchange) return (int)syscall(SYS_renameat2, a, from, b, to, how);
    errno = EINVAL;
    return -1;
}
int mkdir(const char *path, mode_t mode) { PLAIN(mkdir), path, mode); }
int rmdir(const char *path) { PLAIN(rmdir), path); }
int unlinkat(int folder, const char *path, int how) { PLAIN(unlinkat), folder, path, how); }
int lstat(const char *path, struct stat *st) { PLAIN(lstat), path, st); }
int lstat64(const char *path, struct stat64 *st) { PLAIN(lstat), path, st); }
int flock(int fd, int how) { PLAIN(flock), fd, how); }
int unlink(const char *path) { PLAIN(unlink), path); }
int fchmod(int fd, mode_t mode) { PLAIN(fchmod), fd, mode); }
int fchown(int fd, uid_t uid, gid_t gid) { PLAIN(fchown), fd, uid, gid); }
int fstat(int fd, struct stat *st) { PLAIN(fstat), fd, st); }
int fstat64(int fd, struct stat64 *st) { PLAIN(fstat), fd, st); }
int stat(const char *path, struct stat *st) { PLAIN(stat), path, st); }
int stat64(const char *path, struct stat64 *st) { PLAIN(stat), path, st); }
#endif
