/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* System calls fail anywhere in a program: to be preloaded. Before the program begins, it forks for every call that
 * the program and its library will make, and in the child this one fails: too many files are open, or the disk has an
 * error. Calls of the C library itself are not counted.
 *
 * XIR_CALLS=FOLDER has what that leaves; XIR_CALLS_KILL=N instead ends the program itself at the N-th call.
 *
 * An error on stderr and exit code 0 never occur together, nor does another exit code without a word, nor is a
 * temporary file left, except by a call that would have removed it. XIR_CALLS/faults lists what breaks this. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__x86_64__) && !defined(__ILP32__)

/* The report of a child to its parent. */
typedef struct report { unsigned long calls; const char *hit; } report;

static report       *child;      /* NULL in a program that is not tried */
static bool          armed, kills;
static unsigned long wanted;     /* which call fails, from 1 */
static char          folder[PATH_MAX];

/* ---- failing ---------------------------------------------------------------------------------------------------- */

static bool fails(const char *call, int error) {
    if (!armed || ++child->calls != wanted) return false;
    if (kills) raise(SIGKILL);
    child->hit = call;
    errno = error;
    return true;
}

static int open_file(int at, const char *path, int flags, va_list args) {
    const int mode = flags & O_CREAT ? va_arg(args, int) : 0;
    return fails("open", EMFILE) ? -1 : (int)syscall(SYS_openat, at, path, flags, mode);
}

#define OPEN(call, parameters, last, at)             \
    int call parameters {                            \
        va_list args;                                \
        va_start(args, last);                        \
        const int fd = open_file(at, path, flags, args); \
        va_end(args);                                \
        return fd;                                   \
    }
OPEN(open, (const char *path, int flags, ...), flags, AT_FDCWD)
OPEN(open64, (const char *path, int flags, ...), flags, AT_FDCWD)
OPEN(openat, (int folder_fd, const char *path, int flags, ...), flags, folder_fd)
OPEN(openat64, (int folder_fd, const char *path, int flags, ...), flags, folder_fd)

#define PLAIN(name, number) return fails(name, EIO) ? -1 : syscall(number
ssize_t read(int fd, void *data, size_t size) { PLAIN("read", SYS_read), fd, data, size); }
ssize_t pread64(int fd, void *data, size_t size, off64_t at) { PLAIN("pread", SYS_pread64), fd, data, size, at); }
ssize_t writev(int fd, const struct iovec *pieces, int n) { PLAIN("writev", SYS_writev), fd, pieces, n); }
ssize_t readlink(const char *restrict path, char *restrict out, size_t size) {
    PLAIN("readlink", SYS_readlink), path, out, size);
}
#define FALSE_OR(name, number) return fails(name, EIO) ? -1 : (int)syscall(number
/* Thousands of saves do not need to wait for the disk. */
int fsync(int fd) { return (void)fd, fails("fsync", EIO) ? -1 : 0; }
int fstat64(int fd, struct stat64 *st) { FALSE_OR("fstat", SYS_fstat), fd, st); }
int fstat(int fd, struct stat *st) { FALSE_OR("fstat", SYS_fstat), fd, st); }
int stat64(const char *path, struct stat64 *st) { FALSE_OR("stat", SYS_stat), path, st); }
int stat(const char *path, struct stat *st) { FALSE_OR("stat", SYS_stat), path, st); }
int lstat64(const char *path, struct stat64 *st) { FALSE_OR("lstat", SYS_lstat), path, st); }
int lstat(const char *path, struct stat *st) { FALSE_OR("lstat", SYS_lstat), path, st); }
int fchmod(int fd, mode_t mode) { FALSE_OR("fchmod", SYS_fchmod), fd, mode); }
int mkdir(const char *path, mode_t mode) { FALSE_OR("mkdir", SYS_mkdir), path, mode); }
int unlink(const char *path) { FALSE_OR("unlink", SYS_unlink), path); }
int rename(const char *from, const char *to) { FALSE_OR("rename", SYS_rename), from, to); }
int renameat2(int a, const char *from, int b, const char *to, unsigned how) {
    FALSE_OR("renameat2", SYS_renameat2), a, from, b, to, how);
}
void *mmap64(void *where, size_t size, int protection, int flags, int fd, off64_t at) {
    return fails("mmap", ENOMEM) ? MAP_FAILED : (void *)syscall(SYS_mmap, where, size, protection, flags, fd, at);
}

/* ---- checking --------------------------------------------------------------------------------------------------- */

static void fault(int code, const char *what) {
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%s/faults", folder);
    FILE *f = fopen(path, "a");
    if (!f) abort();
    fprintf(f, "call %lu, %s, fails: exit code %d: %s\n", wanted, child->hit, code, what);
    fclose(f);
}

/* Findings that are not errors begin with a word, and so does the line that counts those that are not printed. */
static bool is_error(const char *line) {
    return !strstr(line, "warning: ") && !strstr(line, "note: ") && strncmp(line, "and ", 4) != 0;
}

static int remove_entry(const char *path, const struct stat *st, int flag, struct FTW *ftw) {
    (void)st, (void)flag, (void)ftw;
    return remove(path);
}

static void check(int status) {
    char path[PATH_MAX + 16], line[4096], error[4096] = "";
    size_t lines = 0;
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    snprintf(path, sizeof path, "%s/err", folder);
    FILE *f = fopen(path, "r");
    if (!f) abort();
    for (; fgets(line, sizeof line, f); lines++)
        if (is_error(line)) memcpy(error, line, sizeof line);
    fclose(f);
    if (code < 0) fault(code, "it is ended by a signal");
    if (code == 0 && *error) fault(code, error);
    if (code != 0 && !lines) fault(code, "without a word");
    const bool removes = strcmp(child->hit, "unlink") == 0 || strcmp(child->hit, "open") == 0;
    DIR *dir = opendir(".");
    for (struct dirent *e; dir && (e = readdir(dir));) {
        if (!strstr(e->d_name, ".tmp")) continue;
        if (!removes) fault(code, "a temporary file is left");
        nftw(e->d_name, remove_entry, 8, FTW_DEPTH | FTW_PHYS);    /* or a folder */
    }
    if (dir) closedir(dir);
}

/* ---- trying ----------------------------------------------------------------------------------------------------- */

static void redirect(const char *name, int to) {
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (fd < 0 || dup2(fd, to) < 0) abort();
    close(fd);
}

/* Returns only in the children, which continue as the program. */
static __attribute__((constructor)) void begin(void) {
    static report alone;
    const char *where = getenv("XIR_CALLS"), *last = getenv("XIR_CALLS_KILL");
    if (last) {
        child = &alone;
        wanted = strtoul(last, NULL, 10);
        armed = kills = true;
    }
    if (!where || last) return;
    snprintf(folder, sizeof folder, "%s", where);
    child = mmap(NULL, sizeof *child, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (child == MAP_FAILED) abort();
    for (wanted = 1;; wanted++) {
        int status;
        *child = (report){ 0 };
        lseek(STDIN_FILENO, 0, SEEK_SET);
        const pid_t pid = fork();
        if (pid == 0) {
            redirect("out", STDOUT_FILENO);
            redirect("err", STDERR_FILENO);
            armed = true;
            return;
        }
        if (pid < 0 || waitpid(pid, &status, 0) != pid) abort();
        if (!child->hit) break;
        check(status);
    }
    redirect("count", STDOUT_FILENO);
    printf("%lu\n", wanted - 1);
    fflush(stdout);
    _exit(0);
}

#endif
