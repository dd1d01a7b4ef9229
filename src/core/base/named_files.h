/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Files that another file names: weights of a model in separate files. Such a path was written by a stranger. It may
 * only lead to a regular file in the folder of the file that names it, or below. It is not absolute, has no "..",
 * and no part of it is a symbolic link. The file has no other name, since a hard link to a file outside looks like
 * that file. */
#ifndef CORE_NAMED_FILES_H
#define CORE_NAMED_FILES_H

#include "file.h"
#include "hash.h"

/* Returns NULL if such a path may be opened, otherwise what is wrong with it: "it is empty". */
const char *named_file_refuses(xir_str location);
/* Opens a path that is not refused, from a folder, for reading. Returns -1 with errno. `by_steps`: folder by folder, as
 * on a kernel without the call. The kind of the file is not checked. */
int named_file_open(int folder, const char *location, bool by_steps);

typedef struct named_file {
    xir_str location;   /* borrowed from the caller */
    blob   *whole;
} named_file;

/* All files that one file names. Each is opened once, and read or mapped as a whole. */
typedef struct named_files {
    xir_context         *ctx;
    const xir_allocator *alloc;
    const char          *path;         /* of the file that names them; its folder is opened on first use    */
    bool                 lazy, watch;  /* map the files, and watch the mappings                            */
    uint64_t             most;         /* the largest file that is read, XIR_E_LIMIT above                 */
    xir_diags           *why;
    int                  folder;       /* -1: not open                                                     */
    named_file          *files;
    size_t               n, room;
    text_table           by_location;  /* indexes in `files`                                               */
} named_files;

/* Why a file is not available. `what` is a sentence about the path or the folder. It is empty if `why` already has a
 * finding or if memory ran out. */
typedef struct named_fault {
    xir_status status;
    bool       folder;
    bool       absent;      /* there is no such file in the folder */
    char       what[500];
} named_fault;

/* The caller fills `files` up to `why`; the rest is zero. */
void named_files_begin(named_files *files);
/* Releases the files; parts of them that are still in use are kept. */
void named_files_end(named_files *files);
/* Returns the index in `files` of a location, or -1 with *fault. Indices are 0, 1, … in the order of the first calls.
 * The bytes at `location` must live as long as `files`. */
int64_t named_files_find(named_files *files, xir_str location, named_fault *fault);

#endif
