/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Writing files. A file appears under its name complete and flushed, or not at all: rename(2) is atomic, fsync(2)
 * before it prevents a name without bytes after a crash, and fsync on the directory makes the new name durable. A
 * killed process leaves at most a file ".xir-….tmp", which the next save of the same file removes. Two files that
 * belong together are replaced by journal.c.
 *
 * Every system call may be interrupted or do less than asked; the code handles both. */
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>
#include "context_base.h"
#include "file.h"
#include "hash.h"
#include "task.h"
#include "temp_files.h"

enum {
    JOINED = 1 << 20,         /* bytes are joined before they are written: a kernel with large pages takes a file in
                                 calls of 1 MiB at almost twice the speed of calls of 64 KiB                        */
    QUEUED = 4 << 20,         /* the same with bytes that are written from where they lie,    */
    PIECES = 256,             /* in so many pieces; Linux takes 1024                          */
    MOST_LINKS = 40,          /* as in the kernel                                             */
    TRIES = 100
};

#define BUFFERS (PIECES * sizeof(struct iovec) + JOINED)    /* the pieces, and the block */

/* ---- failures --------------------------------------------------------------------------------------------------- */

static void discard(file_writer *w) {
    if (w->fd >= 0) (void)close(w->fd);
    w->fd = -1;
    if (w->exists) (void)unlink(w->temp);
    w->exists = false;
    temp_file_forget(w->noted);
    w->noted = -1;
}

static void forget(file_writer *w) {
    const xir_allocator *alloc = context_alloc(w->ctx);
    mem_free(alloc, w->pieces, BUFFERS);
    mem_free(alloc, w->target, w->target_size);
    mem_free(alloc, w->temp, w->temp_size);
    w->pieces = NULL;
    w->block = w->target = w->temp = NULL;
}

static xir_status write_fail(file_writer *w, const char *what) {
    w->status = file_fail(w->why, XIR_E_IO, w->path, XIR_NO_BYTE, "cannot %s: %s", what, strerror(errno));
    discard(w);
    return w->status;
}

/* Detects that the bytes to be written are in a mapped file that has been shortened: the target is not at fault. */
static bool is_lost(file_writer *w, const void *data) {
    const char *source = errno == EFAULT && w->source ? w->source(w->source_user, data) : NULL;
    if (!source) return false;
    w->status = file_fail(w->why, XIR_E_IO, source, XIR_NO_BYTE,
                          "the file was made shorter while it was mapped: what %s was to get from it is gone", w->path);
    discard(w);
    return true;
}

/* ---- the temporary file ----------------------------------------------------------------------------------------- */

_Static_assert(FILE_PATH_ROOM == PATH_MAX, "a path has as many bytes as the system takes");

size_t file_folder_size(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

static uint64_t some_number(void) {
    uint64_t n;
    if (getrandom(&n, sizeof n, GRND_NONBLOCK) == (ssize_t)sizeof n) return n;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_nsec * 0x9E3779B97F4A7C15u ^ (uint64_t)now.tv_sec << 20 ^ (uint64_t)getpid();
}

/* Gives the new file the old one's mode and owner before it becomes visible. If the process may not change the
 * owner, the file stays its own, and then set-user-ID bits are dropped. */
static bool dress_like(int fd, const struct stat *old) {
    mode_t mode = old->st_mode & 07777;
    if ((old->st_uid != geteuid() || old->st_gid != getegid()) && fchown(fd, old->st_uid, old->st_gid) != 0)
        mode &= 0777;
    int done;
    do done = fchmod(fd, mode);
    while (done != 0 && errno == EINTR);
    return done == 0;
}

bool file_is_at(const struct stat *file, const char *path) {
    struct stat b;
    return stat(path, &b) == 0 && file->st_dev == b.st_dev && file->st_ino == b.st_ino;
}

/* A temporary file is named after its target and locked while it is written. So a save can find files that killed saves
 * of the same target have left: they have one of a few names, and are not locked. */
enum { SLOTS = 8 };

/* Such a name is ".xir-", the hash of the target's name, "-", a number, ".tmp". */
enum { HASH_DIGITS = 16, PREFIX = 5 + HASH_DIGITS + 1 };
static const char hex_digits[] = "0123456789abcdef", suffix[] = ".tmp";

static void put_prefix(char *out, xir_str name) {
    uint64_t hash = hash_bytes(0, name.data, name.size);
    memcpy(out, ".xir-", 5);
    for (size_t i = HASH_DIGITS; i-- > 0; hash >>= 4) out[5 + i] = hex_digits[hash & 15];
    out[PREFIX - 1] = '-';
}

/* Writes what the names have in common; returns where they differ. */
static char *begin_temp(const file_writer *w, char *temp) {
    const size_t dir = file_folder_size(w->target);
    memcpy(temp, w->target, dir);
    put_prefix(temp + dir, xir_str_of(w->target + dir));
    return temp + dir + PREFIX;
}

/* The i-th name. Those after the slots are random, for directories in which all slots are kept in use. */
static void end_temp(char *at, unsigned i) {
    const uint64_t number = i < SLOTS ? i : some_number();
    unsigned shift = 60;
    while (shift && !(number >> shift)) shift -= 4;
    for (;; shift -= 4) {
        *at++ = hex_digits[number >> shift & 15];
        if (!shift) break;
    }
    memcpy(at, suffix, sizeof suffix);
}

bool file_is_temp_of(xir_str temp, xir_str name) {
    enum { SUFFIX = sizeof suffix - 1, MOST_DIGITS = 16 };
    char prefix[PREFIX];
    put_prefix(prefix, name);
    const size_t digits = temp.size > PREFIX + SUFFIX ? temp.size - PREFIX - SUFFIX : 0;
    if (!digits || digits > MOST_DIGITS || memcmp(temp.data, prefix, PREFIX) != 0) return false;
    for (size_t i = PREFIX; i < PREFIX + digits; i++)
        if (!memchr(hex_digits, temp.data[i], 16)) return false;
    return memcmp(temp.data + PREFIX + digits, suffix, SUFFIX) == 0;
}

bool file_lock(int fd) {
    int done;
    do done = flock(fd, LOCK_EX | LOCK_NB);
    while (done != 0 && errno == EINTR);
    return done == 0 || errno != EWOULDBLOCK;
}

/* To test the lock, it locks the file itself, so it may also remove a file whose writer is about to lock it. The writer
 * then notices. */
void file_remove_left(const char *temp) {
    struct stat st;
    int fd = open(temp, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) return;
    const bool left = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && flock(fd, LOCK_EX | LOCK_NB) == 0;
    if (left && file_is_at(&st, temp)) (void)unlink(temp);
    (void)close(fd);
}

/* Makes and locks the file of this name. False with errno; EEXIST: another process has it. */
static bool open_temp(file_writer *w, mode_t mode) {
    struct stat st;
    do w->fd = open(w->temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
    while (w->fd < 0 && errno == EINTR);
    if (w->fd < 0) return false;
    if (file_lock(w->fd) && (fstat(w->fd, &st) != 0 || st.st_nlink > 0)) return true;
    (void)close(w->fd);   /* a remover mistook it for an abandoned file and unlinks it */
    w->fd = -1;
    errno = EEXIST;
    return false;
}

static void make_temp(file_writer *w, const struct stat *old) {
    char *number = begin_temp(w, w->temp);
    for (unsigned i = 0; i < SLOTS; i++) {
        end_temp(number, i);
        file_remove_left(w->temp);
    }
    for (unsigned i = 0; w->fd < 0 && i < SLOTS + TRIES; i++) {
        end_temp(number, i);
        if (!open_temp(w, old ? 0600 : 0666) && errno != EEXIST) break;
    }
    if (w->fd < 0) {
        write_fail(w, "make a temporary file next to it");
        return;
    }
    w->exists = true;
    w->noted = temp_file_note(w->temp);
    if (old && !dress_like(w->fd, old)) write_fail(w, "give the new file the mode of the old one");
}

/* ---- opening ---------------------------------------------------------------------------------------------------- */

/* Stops at the first name that is not a link or does not exist. The system follows the rest of the path. */
bool file_follow(const char *path, char *target) {
    char link[FILE_PATH_ROOM];
    size_t size = strlen(path);
    if (size < FILE_PATH_ROOM) memcpy(target, path, size + 1);
    for (int i = 0; i < MOST_LINKS && size < FILE_PATH_ROOM; i++) {
        ssize_t n = readlink(target, link, sizeof link);
        if (n < 0) return errno == EINVAL || errno == ENOENT;   /* not a link; does not exist */
        size_t keep = n > 0 && link[0] == '/' ? 0 : file_folder_size(target);
        size = keep + (size_t)n;
        if (size >= FILE_PATH_ROOM) continue;
        memcpy(target + keep, link, (size_t)n);
        target[size] = '\0';
    }
    errno = size < FILE_PATH_ROOM ? ELOOP : ENAMETOOLONG;
    return false;
}

static void open_directly(file_writer *w) {
    do w->fd = open(w->path, O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOCTTY);
    while (w->fd < 0 && errno == EINTR);
    if (w->fd < 0) write_fail(w, "open");
}

/* Refuses what cannot be written. *there: the path exists, as `old` says. */
static bool examine(file_writer *w, struct stat *old, bool *there) {
    *there = stat(w->path, old) == 0;
    if (!*there && errno != ENOENT) {
        write_fail(w, "open");
        return false;
    }
    if (*there && S_ISDIR(old->st_mode)) {
        errno = EISDIR;
        write_fail(w, "write");
        return false;
    }
    return true;
}

static bool find_target(file_writer *w) {
    if (!file_follow(w->path, w->target)) {
        write_fail(w, "follow the link");
        return false;
    }
    if (w->target[file_folder_size(w->target)] != '\0') return true;
    errno = *w->path ? EISDIR : ENOENT;
    write_fail(w, "write");
    return false;
}

/* Links of /proc lead to files that may no longer have a name: those can only be written in place. But a file that is
 * replaced or removed just now also seems to be another one, so that is examined again. */
static void open_for(file_writer *w) {
    enum { LOOKS = 8 };
    struct stat old;
    bool there;
    for (int i = 0; i < LOOKS; i++) {
        if (!examine(w, &old, &there)) return;
        if (there && !S_ISREG(old.st_mode)) break;
        if (!find_target(w)) return;
        if (there && !file_is_at(&old, w->target)) continue;
        make_temp(w, there ? &old : NULL);
        return;
    }
    open_directly(w);
}

xir_status file_open(file_writer *w, xir_context *ctx, const char *path, xir_diags *why) {
    *w = (file_writer){ .ctx = ctx, .why = why, .path = path, .fd = -1, .noted = -1, .target_size = FILE_PATH_ROOM,
                       .temp_size = FILE_TEMP_ROOM };
    w->pieces = mem_new(context_alloc(ctx), BUFFERS);
    w->block = w->pieces ? (char *)(w->pieces + PIECES) : NULL;
    w->target = mem_new(context_alloc(ctx), w->target_size);
    w->temp = mem_new(context_alloc(ctx), w->temp_size);
    if (w->block && w->target && w->temp) open_for(w);
    else w->status = diag_memory(why);
    if (w->status != XIR_OK) forget(w);
    return w->status;
}

/* ---- bytes ------------------------------------------------------------------------------------------------------ */

/* Leaves out bytes that are written. */
static struct iovec *skip(struct iovec *p, size_t written) {
    for (; written && written >= p->iov_len; p++) written -= p->iov_len;
    if (written) {
        p->iov_base = (char *)p->iov_base + written;
        p->iov_len -= written;
    }
    return p;
}

static bool cancel(file_writer *w) {
    w->status = task_fail(w->why);
    discard(w);
    return false;
}

/* One call writes a few MiB, so that a task can be cancelled in between. */
static ssize_t write_pieces(int fd, const struct iovec *p, const struct iovec *end) {
    if (p->iov_len > QUEUED) return writev(fd, &(struct iovec){ p->iov_base, QUEUED }, 1);
    size_t size = p->iov_len;
    int n = 1;
    while (p + n < end && p[n].iov_len <= QUEUED - size) size += p[n++].iov_len;
    return writev(fd, p, n);
}

/* Complete bytes go to the disk while the rest is computed, so that the last flush waits for little. Only advice:
 * errors show in fsync. */
static void begin_writeback(file_writer *w) {
    enum { AT_ONCE = 8 << 20 };
    if (!w->exists || w->written - w->begun < AT_ONCE) return;
    (void)sync_file_range(w->fd, (off_t)w->begun, (off_t)(w->written - w->begun), SYNC_FILE_RANGE_WRITE);
    w->begun = w->written;
}

static bool flush(file_writer *w) {
    struct iovec *p = w->pieces, *const end = p + w->n_pieces;
    w->n_pieces = w->queued = w->used = 0;
    while (p < end) {
        ssize_t n = write_pieces(w->fd, p, end);
        if (n < 0 && errno == EINTR) continue;
        if (n == 0) errno = ENOSPC;   /* neither an error nor progress: must not be repeated forever */
        if (n < 0 && is_lost(w, p->iov_base)) return false;
        if (n <= 0) {
            char what[64];
            snprintf(what, sizeof what, "write byte %llu", (unsigned long long)w->written);
            write_fail(w, what);
            return false;
        }
        p = skip(p, (size_t)n);
        w->written += (uint64_t)n;
        begin_writeback(w);
        if (!task_did((uint64_t)n)) return cancel(w);
    }
    return true;
}

/* Bytes that stay until the next flush. There is always room for one more piece. */
static bool queue(file_writer *w, const void *data, size_t size) {
    struct iovec *last = w->n_pieces ? &w->pieces[w->n_pieces - 1] : NULL;
    if (last && (char *)last->iov_base + last->iov_len == (const char *)data) last->iov_len += size;
    else w->pieces[w->n_pieces++] = (struct iovec){ (void *)(uintptr_t)data, size };
    w->queued += size;
    return (w->n_pieces < PIECES && w->queued < QUEUED) || flush(w);
}

bool file_write(void *user, const void *data, size_t size) {
    file_writer *w = user;
    if (w->status != XIR_OK) return false;
    if (!size) return true;
    if (size >= JOINED / 4) return queue(w, data, size) && flush(w);
    if (size > JOINED - w->used && !flush(w)) return false;
    char *to = w->block + w->used;
    memcpy(to, data, size);
    w->used += size;
    return queue(w, to, size);
}

bool file_write_lasting(void *user, const void *data, size_t size) {
    enum { WORTH_A_PIECE = 4 << 10 };
    file_writer *w = user;
    if (size < WORTH_A_PIECE) return file_write(w, data, size);
    return w->status == XIR_OK && queue(w, data, size);
}

bool file_patch(void *user, uint64_t at, const void *data, size_t size) {
    file_writer *w = user;
    if (w->status != XIR_OK || !flush(w)) return false;
    for (size_t done = 0; done < size;) {
        const ssize_t n = pwrite(w->fd, (const char *)data + done, size - done, (off_t)(at + done));
        if (n < 0 && errno == EINTR) continue;
        if (n == 0) errno = ENOSPC;
        if (n <= 0) {
            write_fail(w, "write");
            return false;
        }
        done += (size_t)n;
    }
    return true;
}

/* ---- committing ------------------------------------------------------------------------------------------------- */

/* Some file systems do not support flushing and report that. */
static bool sync_file(int fd) {
    int done;
    do done = fsync(fd);
    while (done != 0 && errno == EINTR);
    return done == 0 || errno == EINVAL || errno == ENOTSUP || errno == EROFS;
}

xir_status file_ready(file_writer *w) {
    if (w->status != XIR_OK || w->fd < 0 || !flush(w)) return w->status;
    if (!sync_file(w->fd)) return write_fail(w, "flush");
    if (w->stays_open) return XIR_OK;
    int fd = w->fd;
    w->fd = -1;
    if (close(fd) != 0 && errno != EINTR) return write_fail(w, "close");
    return XIR_OK;
}

bool file_sync_folder(const char *path) {
    char folder[FILE_TEMP_ROOM] = ".";
    const size_t size = file_folder_size(path);
    if (size >= sizeof folder) return true;
    if (size) memcpy(folder, path, size);
    if (size) folder[size] = '\0';
    int fd;
    do fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    while (fd < 0 && errno == EINTR);
    if (fd < 0) return errno == EACCES;   /* writable but not readable: cannot be flushed */
    const bool done = sync_file(fd);
    const int error = errno;
    (void)close(fd);
    errno = error;
    return done;
}

static xir_status flush_dir(file_writer *w) {
    if (file_sync_folder(w->target)) return XIR_OK;
    return file_fail(w->why, XIR_E_IO, w->path, XIR_NO_BYTE,
        "replaced, but a crash may still bring the old file back: cannot flush its directory: %s", strerror(errno));
}

static xir_status note_placed(file_writer *w) {
    w->exists = false;
    w->placed = true;
    temp_file_forget(w->noted);
    w->noted = -1;
    return XIR_OK;
}

static xir_status place(file_writer *w) {
    if (!w->block || file_ready(w) != XIR_OK || !w->exists) return w->status;
    return rename(w->temp, w->target) == 0 ? note_placed(w) : write_fail(w, "put the new file in place");
}

xir_status file_place_new(file_writer *w) {
    if (!w->block || file_ready(w) != XIR_OK || !w->exists) return w->status;
    if (renameat2(AT_FDCWD, w->temp, AT_FDCWD, w->target, RENAME_NOREPLACE) == 0) return note_placed(w);
    if (errno == EEXIST) return XIR_E_EXISTS;
    const bool supported = errno != EINVAL && errno != ENOSYS && errno != ENOTSUP && errno != EPERM;
    return supported ? write_fail(w, "put the new file in place") : place(w);
}

xir_status file_commit(file_writer *w) {
    if (place(w) == XIR_OK && w->placed) w->status = flush_dir(w);
    discard(w);
    forget(w);
    return w->status;
}

void file_abort(file_writer *w) {
    discard(w);
    forget(w);
}
