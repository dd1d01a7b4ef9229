/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Reading files, and findings about files. A regular file has the same size as when it was opened, or reading fails. A
 * mapping keeps the path of its file, for findings; if it is watched, it also keeps the descriptor, so that changes of
 * the file are detected. A pipe or device is read up to a limit.
 *
 * Every system call may be interrupted or do less than asked; the code handles both. */
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "context_base.h"
#include "file.h"
#include "memory_limit.h"
#include "task.h"

enum {
    BLOCK = STREAM_HEAD,      /* streams are read in blocks of this size              */
    AT_ONCE = TASK_EACH       /* the most for one call: so a task can be cancelled in between */
};

/* ---- findings --------------------------------------------------------------------------------------------------- */

xir_status file_failv(xir_diags *why, xir_status code, const char *path, uint64_t byte, const char *format,
                      va_list args) {
    return diag_failv(why, &(xir_diag){ .severity = XIR_ERROR, .code = code, .file = xir_str_of(path), .byte = byte },
                      format, args);
}

xir_status file_fail(xir_diags *why, xir_status code, const char *path, uint64_t byte, const char *format, ...) {
    va_list args;
    va_start(args, format);
    file_failv(why, code, path, byte, format, args);
    va_end(args);
    return code;
}

/* ---- reading ---------------------------------------------------------------------------------------------------- */

static xir_status read_fail(file_reader *r, const char *what) {
    return r->status = file_fail(r->why, XIR_E_IO, r->path, XIR_NO_BYTE, "cannot %s: %s", what, strerror(errno));
}

static xir_status read_memory(file_reader *r) { return r->status = diag_memory(r->why); }

xir_status file_reader_take(file_reader *r, xir_context *ctx, int fd, const char *path, xir_diags *why) {
    struct stat st;
    *r = (file_reader){ .ctx = ctx, .why = why, .path = path, .fd = fd };
    if (fstat(r->fd, &st) != 0) {
        read_fail(r, "get its size");
    } else if (S_ISDIR(st.st_mode)) {
        errno = EISDIR;
        read_fail(r, "read");
    } else {
        /* Files of /proc are regular and report size 0: they are read to their end. */
        r->regular = S_ISREG(st.st_mode) && st.st_size > 0;
        r->size = r->regular ? (uint64_t)st.st_size : 0;
        memory_limit_add(r->size);
        r->device = (uint64_t)st.st_dev;
        r->inode = (uint64_t)st.st_ino;
        r->changed = st.st_mtim.tv_sec;
        r->changed_ns = st.st_mtim.tv_nsec;
    }
    if (r->status != XIR_OK) file_reader_close(r);
    return r->status;
}

xir_status file_reader_open(file_reader *r, xir_context *ctx, const char *path, xir_diags *why) {
    *r = (file_reader){ .ctx = ctx, .why = why, .path = path, .fd = -1 };
    do r->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    while (r->fd < 0 && errno == EINTR);
    return r->fd < 0 ? read_fail(r, "open") : file_reader_take(r, ctx, r->fd, path, why);
}

void file_reader_close(file_reader *r) {
    if (r->fd >= 0) (void)close(r->fd);
    r->fd = -1;
}

/* Reads up to `size` bytes, fewer only at the end of the file; -1 after a failure. If `offset` is -1, it reads from the
 * current position. */
static ssize_t read_some(file_reader *r, void *out, size_t size, int64_t offset) {
    size_t got = 0;
    while (got < size) {
        size_t ask = size - got < AT_ONCE ? size - got : AT_ONCE;
        ssize_t n = offset < 0 ? read(r->fd, (char *)out + got, ask)
                               : pread(r->fd, (char *)out + got, ask, (off_t)(offset + (int64_t)got));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) {
            read_fail(r, "read");
            return -1;
        }
        if (n == 0) break;
        got += (size_t)n;
        if (offset < 0 ? task_did((uint64_t)n) : task_worked((uint64_t)n)) continue;    /* a head is read again */
        r->status = task_fail(r->why);
        return -1;
    }
    return (ssize_t)got;
}

static void changed_size(file_reader *r, const char *how) {
    r->status = file_fail(r->why, XIR_E_IO, r->path, XIR_NO_BYTE,
        "the file had %llu bytes when it was opened and became %s while it was read", (unsigned long long)r->size, how);
}

xir_status file_reader_at(file_reader *r, uint64_t offset, void *out, size_t size) {
    ssize_t got = read_some(r, out, size, (int64_t)offset);
    if (got >= 0 && (size_t)got < size) changed_size(r, "shorter");
    return r->status;
}

static blob *read_regular(file_reader *r) {
    blob *b = blob_new(context_alloc(r->ctx), r->size);
    if (!b) {
        read_memory(r);
        return NULL;
    }
    char more;
    task_expect(r->size);
    ssize_t got = read_some(r, (void *)(uintptr_t)b->bytes, (size_t)r->size, -1);
    if (got >= 0 && (uint64_t)got < r->size) changed_size(r, "shorter");
    else if (got >= 0 && read_some(r, &more, 1, -1) > 0) changed_size(r, "longer");
    if (r->status == XIR_OK) return b;
    blob_release(b);
    return NULL;
}

/* A pipe or device: its size is unknown, and it may never end. */
static blob *read_stream(file_reader *r, uint64_t most) {
    const uint64_t limit = context_base_of(r->ctx)->limits.max_stream;
    if (most > limit) most = limit;
    buffer all;
    blob *b = NULL;
    buffer_init(&all, context_alloc(r->ctx));
    for (;;) {
        if (!buffer_reserve(&all, BLOCK)) {
            read_memory(r);
            break;
        }
        uint64_t ask = most - all.size < BLOCK ? most - all.size + 1 : BLOCK;   /* one extra byte shows an excess */
        ssize_t n = read_some(r, all.data + all.size, (size_t)ask, -1);
        if (n < 0) break;
        all.size += (size_t)n;
        memory_limit_add((uint64_t)n);
        if (all.size > most) {
            r->status = file_fail(r->why, XIR_E_LIMIT, r->path, most, "more than %llu bytes come, which is the limit",
                                  (unsigned long long)most);
            break;
        }
        if ((uint64_t)n < ask) {   /* a short read: the end */
            b = blob_of_buffer(&all);
            if (!b) read_memory(r);
            break;
        }
        if (all.size == STREAM_HEAD && r->reads_on && !r->reads_on(r->user, all.data, all.size)) {
            r->status = XIR_E_SYNTAX;
            break;
        }
    }
    buffer_free(&all);
    return b;
}

blob *file_reader_all(file_reader *r, uint64_t most) {
    if (!r->regular) return read_stream(r, most);
    if (r->size > most) {
        r->status = file_fail(r->why, XIR_E_LIMIT, r->path, XIR_NO_BYTE, "the file has %llu bytes, the limit is %llu",
                              (unsigned long long)r->size, (unsigned long long)most);
        return NULL;
    }
    return read_regular(r);
}

/* ---- mapping ---------------------------------------------------------------------------------------------------- */

/* The file that a mapping was made from. If it is watched, the descriptor shows changes of the very file that is
 * mapped, whatever file has its name now. The time is that of the last change of bytes; a rename, a new link or
 * another mode does not count. */
typedef struct file_watch {
    xir_allocator alloc;
    int           fd;          /* -1: not watched */
    uint64_t      device, inode, size;
    int64_t       changed, changed_ns;
    atomic_bool   quiet;       /* bytes are given away without a look at the file */
    size_t        room;        /* the size of this allocation */
    char          path[];
} file_watch;

static void unmap(void *user, const void *data) {
    file_watch *w = user;
    xir_allocator alloc = w->alloc;
    if (data) (void)munmap((void *)(uintptr_t)data, (size_t)w->size);
    (void)memory_limit_take((size_t)w->size, 0);
    if (w->fd >= 0) (void)close(w->fd);
    mem_free(&alloc, w, w->room);
}

blob *file_reader_map(file_reader *r) {
    const xir_allocator *alloc = context_alloc(r->ctx);
    struct stat st;
    if (fstat(r->fd, &st) != 0) {
        read_fail(r, "get its size");
        return NULL;
    }
    if (!S_ISREG(st.st_mode)) {
        r->status = file_fail(r->why, XIR_E_IO, r->path, XIR_NO_BYTE,
                              "not a regular file, and only such files can be mapped: load it eagerly");
        return NULL;
    }
    if (r->size > SIZE_MAX / 2) {
        r->status = file_fail(r->why, XIR_E_LIMIT, r->path, XIR_NO_BYTE,
                              "%llu bytes do not fit this machine's address space", (unsigned long long)r->size);
        return NULL;
    }
    if (!memory_limit_take(0, (size_t)r->size)) {
        read_memory(r);
        return NULL;
    }
    void *data = NULL;   /* for an empty file */
    if (r->size > 0) {
        data = mmap(NULL, (size_t)r->size, PROT_READ, MAP_PRIVATE, r->fd, 0);
        if (data == MAP_FAILED) {
            read_fail(r, "map");
            return NULL;
        }
    }
    const size_t name = strlen(r->path) + 1, room = sizeof(file_watch) + name;
    file_watch *w = mem_new(alloc, room);
    blob *b = w ? blob_borrow(alloc, data, r->size, true, unmap, w) : NULL;
    if (!b) {
        if (data) (void)munmap(data, (size_t)r->size);
        mem_free(alloc, w, room);
        read_memory(r);
        return NULL;
    }
    *w = (file_watch){ .alloc = *alloc, .fd = -1, .device = r->device, .inode = r->inode, .size = r->size,
                       .changed = r->changed, .changed_ns = r->changed_ns, .room = room };
    memcpy(w->path, r->path, name);
    return b;
}

blob *file_reader_map_watched(file_reader *r) {
    blob *b = file_reader_map(r);
    if (!b) return NULL;
    b->watch = b->user;
    b->watch->fd = r->fd;
    r->fd = -1;
    return b;
}

const char *blob_path(const blob *b) {
    while (b->parent) b = b->parent;
    return b->release == unmap ? ((const file_watch *)b->user)->path : NULL;
}

bool blob_read(const blob *b, uint64_t offset, void *out, size_t size) {
    for (size_t got = 0; got < size;) {
        const ssize_t n = pread(b->watch->fd, (char *)out + got, size - got, (off_t)(offset + got));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        got += (size_t)n;
    }
    return true;
}

void blob_hush(const blob *b) { atomic_store_explicit(&b->watch->quiet, true, memory_order_relaxed); }

bool blob_is_hushed(const blob *b) { return atomic_load_explicit(&b->watch->quiet, memory_order_relaxed); }

bool blob_is_there(const blob *b) {
    const file_watch *w = b->watch;
    struct stat st;
    return !w || (fstat(w->fd, &st) == 0 && (uint64_t)st.st_dev == w->device && (uint64_t)st.st_ino == w->inode &&
                  (uint64_t)st.st_size == w->size && st.st_mtim.tv_sec == w->changed &&
                  st.st_mtim.tv_nsec == w->changed_ns);
}

/* ---- the whole -------------------------------------------------------------------------------------------------- */

blob *file_read(xir_context *ctx, const char *path, xir_diags *why) {
    file_reader r;
    if (file_reader_open(&r, ctx, path, why) != XIR_OK) return NULL;
    blob *b = file_reader_all(&r, context_base_of(ctx)->limits.max_bytes);
    file_reader_close(&r);
    return b;
}
