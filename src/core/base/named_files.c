/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The kernel resolves such a path in one call, without links and without leaving the folder (openat2). On a kernel
 * without this call, the path is opened folder by folder. Either way the descriptor is checked, not the name. */
#define _FILE_OFFSET_BITS 64
#include "named_files.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- opening --------------------------------------------------------------------------------------------------- */

/* The kernel's struct open_how, copied because the header is newer than the call. */
typedef struct open_how_ { uint64_t flags, mode, resolve; } open_how_;
enum { NO_MAGIC_LINKS = 0x02, NO_SYMLINKS = 0x04, BENEATH = 0x08 };
/* O_NONBLOCK: opening must not wait for the other end of a pipe. */
enum { FLAGS = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW };
enum { LOCATION_ROOM = 4096 };

const char *named_file_refuses(xir_str location) {
    if (!location.size) return "it is empty";
    if (location.size >= LOCATION_ROOM) return "it is too long";
    if (memchr(location.data, '\0', location.size)) return "a byte of it is 0";
    if (location.data[0] == '/') return "it begins at the root";
    for (size_t i = 0, n; i <= location.size; i += n + 1) {
        const char *part = location.data + i, *slash = i < location.size ? memchr(part, '/', location.size - i) : NULL;
        n = slash ? (size_t)(slash - part) : location.size - i;
        if (n == 2 && part[0] == '.' && part[1] == '.') return "it has a \"..\"";
    }
    return location.data[location.size - 1] == '/' ? "it ends with a slash" : NULL;
}

/* Opens one folder after another, none through a link. The file that was opened must be the one that has the name. */
static int open_by_steps(int folder, const char *location) {
    int at = folder;
    char part[256];
    for (;;) {
        const char *slash = strchr(location, '/');
        size_t n = slash ? (size_t)(slash - location) : strlen(location);
        int flags = slash ? O_RDONLY | O_CLOEXEC | O_DIRECTORY | O_NOFOLLOW : FLAGS, next = -1, error = ENAMETOOLONG;
        if (n < sizeof part) {
            memcpy(part, location, n);
            part[n] = '\0';
            next = openat(at, n ? part : ".", flags);
            error = errno;
        }
        struct stat named, opened;
        if (next < 0 && error == ENOTDIR && fstatat(at, part, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISLNK(named.st_mode)) error = ELOOP;    // a link is refused, as openat2 says it
        if (next >= 0 && !slash && (fstatat(at, part, &named, AT_SYMLINK_NOFOLLOW) != 0 || fstat(next, &opened) != 0 ||
                                    named.st_dev != opened.st_dev || named.st_ino != opened.st_ino)) {
            (void)close(next);
            next = -1;
            error = ELOOP;
        }
        if (at != folder) (void)close(at);
        if (next < 0 || !slash) {
            errno = error;
            return next;
        }
        at = next;
        location = slash + 1;
    }
}

int named_file_open(int folder, const char *location, bool by_steps) {
#ifdef SYS_openat2
    if (!by_steps) {
        open_how_ how = { .flags = FLAGS, .resolve = NO_MAGIC_LINKS | NO_SYMLINKS | BENEATH };
        int fd;
        do fd = (int)syscall(SYS_openat2, folder, location, &how, sizeof how);
        while (fd < 0 && (errno == EINTR || errno == EAGAIN));
        if (fd >= 0 || (errno != ENOSYS && errno != EPERM && errno != E2BIG)) return fd;
    }
#else
    (void)by_steps;
#endif
    return open_by_steps(folder, location);
}

/* ---- the set of them --------------------------------------------------------------------------------------------- */

void named_files_begin(named_files *files) {
    files->folder = -1;
    text_table_init(&files->by_location, files->alloc);
}

void named_files_end(named_files *f) {
    for (size_t i = 0; i < f->n; i++) blob_release(f->files[i].whole);
    if (f->folder >= 0) (void)close(f->folder);
    mem_free(f->alloc, f->files, f->room * sizeof *f->files);
    text_table_free(&f->by_location);
    f->files = NULL;
    f->n = f->room = 0;
    f->folder = -1;
}

static bool refuse(named_fault *fault, xir_status status, const char *what) {
    *fault = (named_fault){ .status = status };
    snprintf(fault->what, sizeof fault->what, "%s", what);
    return false;
}

static bool no_memory(named_fault *fault) { return refuse(fault, XIR_E_MEMORY, ""); }

static bool open_folder(named_files *f, named_fault *fault) {
    if (f->folder >= 0) return true;
    size_t n = file_folder_size(f->path);
    char *folder = mem_new(f->alloc, n + 2);
    if (!folder) return no_memory(fault);
    memcpy(folder, n ? f->path : ".", n ? n : 1);
    folder[n > 1 ? n - 1 : 1] = '\0';   /* "/" keeps its slash */
    do f->folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    while (f->folder < 0 && errno == EINTR);
    if (f->folder < 0) {
        const char *reason = strerror(errno);
        *fault = (named_fault){ .status = XIR_E_IO, .folder = true };
        snprintf(fault->what, sizeof fault->what, "cannot open the folder of the model, %.300s: %s", folder, reason);
    }
    mem_free(f->alloc, folder, n + 2);
    return f->folder >= 0;
}

/* Translates the kernel's error for the caller: the path breaks a rule, or there is no such file. */
static bool refuse_open(named_fault *fault, int error) {
    switch (error) {
    case ELOOP: return refuse(fault, XIR_E_INVALID, "a part of the path is a symbolic link");
    case EXDEV: return refuse(fault, XIR_E_INVALID, "the path leaves the model's folder");
    case ENXIO: return refuse(fault, XIR_E_INVALID, "it is not a regular file");
    default:    return refuse(fault, XIR_E_IO, strerror(error));
    }
}

static bool check_file(int fd, named_fault *fault) {
    struct stat st;
    if (fstat(fd, &st) != 0) return refuse(fault, XIR_E_IO, strerror(errno));
    if (!S_ISREG(st.st_mode)) return refuse(fault, XIR_E_INVALID, "it is not a regular file");
    if (st.st_nlink > 1) return refuse(fault, XIR_E_INVALID, "the file has other names (hard links)");
    return true;
}

/* Reads or maps all of the file. The descriptor is closed. */
static blob *take_file(named_files *f, const char *location, int fd, named_fault *fault) {
    file_reader r;
    buffer path;
    blob *whole = NULL;
    buffer_init(&path, f->alloc);
    buffer_put(&path, f->path, file_folder_size(f->path));
    buffer_put(&path, location, strlen(location) + 1);
    if (path.failed) {
        (void)close(fd);
        no_memory(fault);
    } else if (file_reader_take(&r, f->ctx, fd, path.data, f->why) == XIR_OK) {
        whole = !f->lazy ? file_reader_all(&r, f->most) : f->watch ? file_reader_map_watched(&r) : file_reader_map(&r);
        if (!whole) refuse(fault, r.status, "");
        file_reader_close(&r);
    } else {
        refuse(fault, r.status, "");
    }
    buffer_free(&path);
    return whole;
}

static blob *open_file(named_files *f, xir_str location, named_fault *fault) {
    char text[LOCATION_ROOM];
    const char *wrong = named_file_refuses(location);
    if (wrong) {
        refuse(fault, XIR_E_INVALID, wrong);
        return NULL;
    }
    memcpy(text, location.data, location.size);
    text[location.size] = '\0';
    int fd = named_file_open(f->folder, text, false);
    if (fd < 0) {
        const bool absent = errno == ENOENT;
        refuse_open(fault, errno);
        fault->absent = absent;
        return NULL;
    }
    if (check_file(fd, fault)) return take_file(f, text, fd, fault);
    (void)close(fd);
    return NULL;
}

int64_t named_files_find(named_files *f, xir_str location, named_fault *fault) {
    if (!open_folder(f, fault)) return -1;
    const uint32_t *known = text_table_find(&f->by_location, location);
    if (known) return (int64_t)*known;
    if (!mem_reserve(f->alloc, (void **)&f->files, &f->room, f->n + 1, sizeof *f->files) ||
        !text_table_reserve(&f->by_location, f->n + 1)) {
        no_memory(fault);
        return -1;
    }
    blob *whole = open_file(f, location, fault);
    if (!whole) return -1;
    (void)text_table_add(&f->by_location, location, (uint32_t)f->n);   /* room has been reserved */
    f->files[f->n] = (named_file){ location, whole };
    return (int64_t)f->n++;
}
