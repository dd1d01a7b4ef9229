/* Memory that a run uses again: fresh pages cost more than filling them, because the system clears them first. Large
 * blocks of kernels and arrays that are no longer needed are kept for the next op that asks for their size. What is
 * kept and what is in use together never exceed the most that was in use at one moment, so a run takes no more memory
 * than without. Several threads of a run may call these at once, but for opening and closing. */
#ifndef EXEC_ROOMS_H
#define EXEC_ROOMS_H

#include <pthread.h>
#include "blob.h"

enum { MOST_ROOMS = 32 };

typedef struct kept_room {
    void  *block;      /* a blob, or bytes of the allocator */
    size_t size;
    bool   is_blob;
} kept_room;

typedef struct rooms {
    const xir_allocator *alloc;
    kept_room kept[MOST_ROOMS];   /* the oldest first */
    size_t    n;
    size_t    kept_bytes, used, most;
    pthread_mutex_t lock;         /* held while the members above are used */
} rooms;

void  rooms_open(rooms *r, const xir_allocator *alloc);

/* Uninitialised bytes of the allocator; NULL without memory. `r` may be NULL: nothing is kept then. */
void *rooms_take(rooms *r, const xir_allocator *alloc, size_t size);
void  rooms_give(rooms *r, const xir_allocator *alloc, void *block, size_t size);
/* The same for an owned blob. rooms_give_blob releases it if others hold it too, or if its bytes are borrowed. */
blob *rooms_take_blob(rooms *r, const xir_allocator *alloc, uint64_t size);
void  rooms_give_blob(rooms *r, blob *data);
/* Frees what is kept. */
void  rooms_close(rooms *r);

#endif
