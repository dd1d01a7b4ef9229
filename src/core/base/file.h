/* Files: whole ones read or mapped, and written so that a crash leaves the old file or the new one. Only paths that the
 * caller gave are opened. Findings name the path and what the system said. */
#ifndef CORE_FILE_H
#define CORE_FILE_H

#include "blob.h"
#include "diagnose.h"

/* Reads a whole regular file, pipe or device ("-" is not special here) into a blob. NULL with a finding (XIR_E_IO;
 * XIR_E_LIMIT if larger than the context's limit; XIR_E_MEMORY). */
blob *file_read(xir_context *ctx, const char *path, xir_diags *why);

/* Maps a regular file privately and read-only; NULL with a finding. An empty file gives a blob of no bytes. Who
 * shortens the file while it is mapped makes later reads of the bytes raise SIGBUS: nothing here can prevent that. */
blob *file_map(xir_context *ctx, const char *path, xir_diags *why);

/* Adds a finding about a place in a file, `byte` may be XIR_NO_BYTE. Returns `code`. */
xir_status file_fail(xir_diags *why, xir_status code, const char *path, uint64_t byte, const char *format, ...)
    XIR_PRINTF(5, 6);
xir_status file_failv(xir_diags *why, xir_status code, const char *path, uint64_t byte, const char *format,
                      va_list args)
    XIR_PRINTF(5, 0);

/* The same in steps, for who looks at the beginning first. After a failure `status` is set and `why` has the
 * finding. */
typedef struct file_reader {
    xir_context *ctx;
    xir_diags   *why;
    const char  *path;
    int          fd;
    bool         regular;   /* and its size known: only such a file has read_at and map  */
    uint64_t     size;      /* when it was opened                                        */
    uint64_t     device, inode;
    int64_t      changed, changed_ns;   /* the time of its last change, then             */
    /* Asked once about what has no size, when STREAM_HEAD bytes of it have come and more may: false, with a finding,
     * ends the reading, which then has failed with XIR_E_SYNTAX. NULL: all is read. */
    bool       (*reads_on)(void *user, const void *head, size_t size);
    void        *user;
    xir_status   status;
} file_reader;
enum { STREAM_HEAD = 256 << 10 };
xir_status file_reader_open(file_reader *r, xir_context *ctx, const char *path, xir_diags *why);
/* The same for a descriptor that somebody else has opened; it is the reader's now, also after a failure. */
xir_status file_reader_take(file_reader *r, xir_context *ctx, int fd, const char *path, xir_diags *why);
/* Reads exactly `size` bytes; it is a failure if the file has become shorter. */
xir_status file_reader_at(file_reader *r, uint64_t offset, void *out, size_t size);
/* XIR_E_LIMIT above `most` bytes; of what is not regular also above the context's max_stream. */
blob      *file_reader_all(file_reader *r, uint64_t most);
blob      *file_reader_map(file_reader *r);
/* The same with a watch: the first time that the bytes of a part are asked for, the file must be as it was when it
 * was opened, in device, inode, size and time of change. The mapping takes the descriptor: nothing more can be read. */
blob      *file_reader_map_watched(file_reader *r);
void       file_reader_close(file_reader *r);

/* A replacement of `path` in the making: a temporary file in the same directory. Committing flushes it (fsync),
 * renames it over the path and flushes the directory; aborting, or a failure, removes it and leaves the old file.
 * Keeps the mode of the old file, and its owner where that is allowed. A symbolic link stays one: the file it leads
 * to is replaced. Other hard links to the old file keep the old bytes. A path that is not a regular file (a device,
 * a pipe) is written directly. */
typedef struct file_writer {
    xir_context *ctx;
    xir_diags   *why;
    const char  *path;
    char        *target;     /* what the path leads to, links followed                           */
    char        *temp;       /* in the same directory                                            */
    size_t       target_size, temp_size;
    int          fd;         /* -1: closed                                                       */
    int          noted;      /* its slot in temp_files.h, for signals; -1: none                  */
    bool         exists;     /* the temporary file; if not, what is written goes to the path     */
    bool         placed;     /* it has taken the place of the old one                            */
    xir_status   status;
    uint64_t     written;
    char        *block;      /* buffered bytes          */
    size_t       used;
    /* The path of the mapped file that these bytes are from, for when it has become shorter meanwhile; NULL: of
     * none. Set after opening, or not. */
    const char *(*source)(void *user, const void *data);
    void        *source_user;
} file_writer;
/* After a failure of any of these `status` stays set, the temporary file is gone, and only file_abort (or file_commit,
 * which then does the same) is left to call. */
xir_status file_open(file_writer *w, xir_context *ctx, const char *path, xir_diags *why);
bool       file_write(void *w, const void *data, size_t size);   /* an xir_write_fn */
/* The first two thirds of committing, for who replaces two files: everything but the rename, so that all that is
 * likely to fail is over before the first name changes; and the rename, so that nothing slow comes between the two.
 * Optional. */
xir_status file_ready(file_writer *w);
xir_status file_place(file_writer *w);
xir_status file_commit(file_writer *w);
void       file_abort(file_writer *w);

#endif
