/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Bytes that several holders share: reference counted, owned or borrowed, whole or part of another blob. */
#ifndef CORE_BLOB_H
#define CORE_BLOB_H

#include <stdatomic.h>
#include "memory.h"

/* Reference-counted bytes; Params of several networks may share them. */
typedef struct blob {
    atomic_size_t references;
    xir_allocator alloc;
    const uint8_t *bytes;
    uint64_t      size;
    bool          mapped;    /* bytes of a file: not in memory until touched */
    bool          owned;     /* allocated after this head, writable          */
    bool          inside;    /* this head lies in the parent's bytes: nothing to free */
    atomic_bool   gone;      /* the watched file was found changed           */
    struct file_watch *watch;  /* of the mapping that contains the bytes (file.c); NULL: not watched */
    void        (*release)(void *user, const void *data);
    void         *user;
    struct blob  *parent;    /* the blob that this one is a part of */
} blob;
blob *blob_new(const xir_allocator *alloc, uint64_t size);                 /* owned, bytes not cleared */
blob *blob_borrow(const xir_allocator *alloc, const void *data, uint64_t size, bool mapped,
                  void (*release)(void *, const void *), void *user);
/* Takes the bytes of a buffer, which becomes empty, without moving them. Unused room is given back. */
blob *blob_of_buffer(buffer *bytes);
blob *blob_part(blob *whole, uint64_t offset, uint64_t size);              /* retains the whole        */
/* Makes the heads of parts of `whole` in memory that belongs to `keeper`: many parts for one allocation. Each counts
 * as a holder of the keeper. The keeper must be retained for all of them and keep the whole alive. */
void  blob_part_in(blob *head, blob *keeper, const blob *whole, uint64_t offset, uint64_t size);
void  blob_retain_many(blob *b, size_t n);
/* Returns true if the bytes may be written: they are owned, and no other Params share them. */
bool  blob_is_mine(const blob *b);
/* Returns true unless the file of a watched mapping has changed since it was opened. */
bool  blob_is_there(const blob *b);
/* Reads bytes of a watched file by its descriptor, not from the mapping. False if it has become shorter, or cannot be
 * read. `b` is the whole mapping. */
bool  blob_read(const blob *b, uint64_t offset, void *out, size_t size);
/* From now on the bytes of a watched mapping are given away without a look at its file. */
void  blob_hush(const blob *b);
bool  blob_is_hushed(const blob *b);
const char *blob_path(const blob *b);   /* of the mapped file, as it was opened; NULL: not of a file */
void  blob_retain(blob *b);
void  blob_release(blob *b);                                               /* accepts NULL             */

#endif
