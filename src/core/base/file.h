/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Files: read whole or mapped, and written so that a crash leaves the old file or the new one. Only paths from the
 * caller are opened. Findings name the path and quote the system's message. */
#ifndef CORE_FILE_H
#define CORE_FILE_H

#include "blob.h"
#include "diagnose.h"

/* Reads a whole regular file, pipe or device ("-" is not special here) into a blob. NULL with a finding: XIR_E_IO,
 * XIR_E_LIMIT if larger than the context's limit, XIR_E_MEMORY. */
blob *file_read(xir_context *ctx, const char *path, xir_diags *why);

/* Adds a finding about a place in a file; `byte` may be XIR_NO_BYTE. Returns `code`. */
xir_status file_fail(xir_diags *why, xir_status code, const char *path, uint64_t byte, const char *format, ...)
    XIR_PRINTF(5, 6);
xir_status file_failv(xir_diags *why, xir_status code, const char *path, uint64_t byte, const char *format,
                      va_list args)
    XIR_PRINTF(5, 0);

/* The same in steps, for callers that examine the beginning first. After a failure `status` is set and `why` has the
 * finding. */
typedef struct file_reader {
    xir_context *ctx;
    xir_diags   *why;
    const char  *path;
    int          fd;
    bool         regular;   /* with a known size: only then are read_at and map allowed  */
    uint64_t     size;      /* when the file was opened                                  */
    uint64_t     device, inode;
    int64_t      changed, changed_ns;   /* the time of its last change at that point     */
    /* Called once for an input without a known size, when STREAM_HEAD bytes have come and more may follow. Returning
     * false, with a finding, ends the reading, which then fails with XIR_E_SYNTAX. NULL: everything is read. */
    bool       (*reads_on)(void *user, const void *head, size_t size);
    void        *user;
    xir_status   status;
} file_reader;
enum { STREAM_HEAD = 256 << 10 };
xir_status file_reader_open(file_reader *r, xir_context *ctx, const char *path, xir_diags *why);
/* The same for a descriptor that is already open. The reader owns it from now on, even after a failure. */
xir_status file_reader_take(file_reader *r, xir_context *ctx, int fd, const char *path, xir_diags *why);
/* Reads exactly `size` bytes; fails if the file has become shorter. */
xir_status file_reader_at(file_reader *r, uint64_t offset, void *out, size_t size);
/* XIR_E_LIMIT above `most` bytes; if the file is not regular, also above the context's max_stream. */
blob      *file_reader_all(file_reader *r, uint64_t most);
/* Maps a regular file, private and read-only; NULL with a finding. An empty file gives a blob without bytes. If another
 * program shortens the file while it is mapped, later reads of the lost bytes raise SIGBUS; nothing here can prevent
 * that. */
blob      *file_reader_map(file_reader *r);
/* The same with a watch: when the bytes of a part are first accessed, device, inode, size and change time of the file
 * must be the same as when it was opened. The mapping takes the descriptor, so nothing more can be read. */
blob      *file_reader_map_watched(file_reader *r);
void       file_reader_close(file_reader *r);

/* A replacement of `path` in progress: a temporary file in the same directory. Committing flushes it (fsync),
 * renames it to the path and flushes the directory. Aborting, or a failure, removes it and leaves the old file. The
 * new file gets the mode of the old one, and its owner if permitted. A symbolic link is kept, and the file that it
 * leads to is replaced. Other hard links to the old file keep the old bytes. A path that is not a regular file (a
 * device, a pipe) is written directly. */
typedef struct file_writer {
    xir_context *ctx;
    xir_diags   *why;
    const char  *path;
    char        *target;     /* the path with links followed                                     */
    char        *temp;       /* the temporary file, in the same directory                        */
    size_t       target_size, temp_size;
    int          fd;         /* -1: closed                                                       */
    int          noted;      /* its slot in temp_files.h, for signals; -1: none                  */
    bool         exists;     /* the temporary file exists; if not, bytes are written to the path */
    bool         stays_open; /* file_ready does not close it, so that its lock stays             */
    bool         placed;     /* it has replaced the old file                                     */
    xir_status   status;
    uint64_t     written, begun;   /* bytes; of those, what goes to the disk already */
    /* The bytes of the next system call: pieces of the block, and between them bytes of others. */
    struct iovec *pieces;
    size_t       n_pieces, queued;
    char        *block;
    size_t       used;       /* bytes of the block      */
    /* Returns the path of the mapped file that contains these bytes, in case the file has become shorter; NULL: none.
     * Set after opening; optional. */
    const char *(*source)(void *user, const void *data);
    void        *source_user;
} file_writer;
/* After a failure of any of these, `status` stays set, the temporary file is removed, and the caller must only call
 * file_abort (or file_commit, which then does the same). */
xir_status file_open(file_writer *w, xir_context *ctx, const char *path, xir_diags *why);
bool       file_write(void *w, const void *data, size_t size);   /* an xir_write_fn */
/* The same for bytes that stay where they are until file_ready, and so need not be copied. */
bool       file_write_lasting(void *w, const void *data, size_t size);
/* Replaces bytes that were written, of a file that exists (file_writer.exists). */
bool       file_patch(void *w, uint64_t at, const void *data, size_t size);
/* Optional steps of committing, for a caller that replaces two files (journal.h). file_ready does everything but the
 * rename. file_place_new renames a file that must be new, and does not flush the directory. XIR_E_EXISTS, without a
 * finding, if the target exists: then it may be called again. */
xir_status file_ready(file_writer *w);
xir_status file_place_new(file_writer *w);
xir_status file_commit(file_writer *w);
void       file_abort(file_writer *w);

/* Names of files. */
enum { FILE_PATH_ROOM = 4096, FILE_TEMP_ROOM = FILE_PATH_ROOM + 48 };
/* Follows the links of a path to the file that saving to it replaces, which need not exist. False with errno; ELOOP,
 * ENAMETOOLONG. `target` has FILE_PATH_ROOM bytes. */
bool   file_follow(const char *path, char *target);
/* The size of the folder part of a path, with its slash; 0: the current folder. */
size_t file_folder_size(const char *path);
/* Returns true if a temporary file of this name belongs to a target of that name, both without folders. */
bool   file_is_temp_of(xir_str temp, xir_str name);
/* Removes a temporary file unless it is locked, which it is while it is written. */
void   file_remove_left(const char *temp);
/* Makes the names in the folder of this path durable. False with errno. Some file systems do not support that, and a
 * folder may be writable but not readable: then it returns true. */
bool   file_sync_folder(const char *path);
/* Locks a file until it is closed. False: another process or another descriptor has locked it. On file systems without
 * locks it returns true. */
bool   file_lock(int fd);
/* Returns true if the path leads to this file. */
struct stat;
bool   file_is_at(const struct stat *file, const char *path);

#endif
