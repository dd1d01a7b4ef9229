/* Bytes that several holders share: counted, owned or borrowed, whole or part of another blob. */
#ifndef CORE_BLOB_H
#define CORE_BLOB_H

#include <stdatomic.h>
#include "memory.h"

/* Bytes, counted; shared by Params of several networks. */
typedef struct blob {
    atomic_size_t references;
    xir_allocator alloc;
    const uint8_t *bytes;
    uint64_t      size;
    bool          mapped;    /* bytes of a file: not in memory until touched */
    bool          owned;     /* allocated behind this head, writable         */
    bool          inside;    /* this head lies in the parent's bytes: nothing to free */
    atomic_uchar  looked;    /* what the watch said when the bytes were first asked for */
    struct file_watch *watch;  /* NULL: bytes are simply there; of the mapping that they are part of (file.c) */
    void        (*release)(void *user, const void *data);
    void         *user;
    struct blob  *parent;    /* the blob of the whole file, which this is a part of */
} blob;
blob *blob_new(const xir_allocator *alloc, uint64_t size);                 /* owned, bytes not cleared */
blob *blob_borrow(const xir_allocator *alloc, const void *data, uint64_t size, bool mapped,
                  void (*release)(void *, const void *), void *user);
/* The bytes of a buffer, which becomes empty, where they are; room that they do not take is given back. */
blob *blob_of_buffer(buffer *bytes);
blob *blob_part(blob *whole, uint64_t offset, uint64_t size);              /* retains the whole        */
/* Makes the heads of parts of `whole` in memory that belongs to `keeper`: many parts for one allocation. Each counts
 * as a holder of the keeper, which must be retained for all of them, and keep the whole alive. */
void  blob_part_in(blob *head, blob *keeper, const blob *whole, uint64_t offset, uint64_t size);
void  blob_retain_many(blob *b, size_t n);
/* Whether the bytes may be written: owned, and no other Params have them. */
bool  blob_is_mine(const blob *b);
/* Whether the file of a mapping that is watched is still as it was when it was opened. */
bool  blob_is_there(const blob *b);
const char *blob_path(const blob *b);   /* of the file that is mapped, as it was opened; NULL: it is none */
void  blob_retain(blob *b);
void  blob_release(blob *b);                                               /* accepts NULL             */

#endif
