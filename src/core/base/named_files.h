/* Files that a file names: weights of a model that lie in other files. Such a path was written by a stranger. It leads
 * to a regular file in the folder of the file that names it, or below, and to nothing else: it is not absolute, has no
 * "..", and no part of it is a symbolic link; the file has no other name, since a hard link to a file outside looks
 * like that file. */
#ifndef CORE_NAMED_FILES_H
#define CORE_NAMED_FILES_H

#include "file.h"
#include "hash.h"

/* Returns NULL if such a path may be opened, otherwise what is wrong with it: "it is empty". */
const char *named_file_refuses(xir_str location);
/* Opens a path that is not refused, from a folder, for reading. Returns -1 with errno. `by_steps`: folder by folder, as
 * where the kernel has no call for it. The kind of the file is not checked. */
int named_file_open(int folder, const char *location, bool by_steps);

typedef struct named_file {
    xir_str location;   /* borrowed from the caller */
    blob   *whole;
} named_file;

/* All files that one file names. Each is opened once, and read or mapped as a whole. */
typedef struct named_files {
    xir_context         *ctx;
    const xir_allocator *alloc;
    const char          *path;         /* of the file that names them; its folder is opened late            */
    bool                 lazy, watch;  /* they are mapped, and the mapping is watched                      */
    uint64_t             most;         /* bytes of one that is read, XIR_E_LIMIT above                     */
    xir_diags           *why;
    int                  folder;       /* -1: not open                                                     */
    named_file          *files;
    size_t               n, room;
    text_table           by_location;  /* indexes in `files`                                               */
} named_files;

/* Why there is no file. `what` is a sentence about the path or about the folder; it is empty if `why` has a finding
 * already, or if there is no memory. */
typedef struct named_fault {
    xir_status status;
    bool       folder;
    char       what[500];
} named_fault;

/* `files` is filled in by the caller up to `why`, the rest is zero. */
void named_files_begin(named_files *files);
/* Releases the files; parts of them that are in use stay. */
void named_files_end(named_files *files);
/* Returns the index in `files` of a location, or -1 with *fault. Indices are 0, 1, … in the order of the first calls.
 * The bytes at `location` stay as long as `files`. */
int64_t named_files_find(named_files *files, xir_str location, named_fault *fault);
/* Returns true if a file has this range. */
static inline bool named_file_holds(const named_file *file, uint64_t offset, uint64_t size) {
    return offset <= file->whole->size && size <= file->whole->size - offset;
}

#endif
