/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Memory that a run uses again: fresh pages cost more than filling them, because the system clears them first. Large
 * blocks of kernels and arrays that are no longer needed are kept for the next op that asks for their size. What is
 * kept and what is in use together never exceed the most that was in use at one moment, or what is kept takes at most
 * `spare` bytes: none if memory is limited or planned, so that such a run takes no more than without.
 *
 * At its end a run of a network leaves its spare blocks to the next run of the context. Several threads of a run may
 * call these functions at once, but for opening and closing. */
#ifndef EXEC_ROOMS_H
#define EXEC_ROOMS_H

#include <pthread.h>
#include "blob.h"
#include "context.h"
#include "meter.h"

enum { MOST_ROOMS = 128, SPARE = 32 << 20 };

typedef struct kept_room {
    void  *block;      /* a blob, or bytes of the allocator */
    size_t size;
    bool   is_blob;
} kept_room;

typedef struct rooms {
    const xir_allocator *alloc;   /* that of `meter`, if there is one */
    meter    *meter;              /* NULL: no limit                   */
    kept_room kept[MOST_ROOMS];   /* the oldest first */
    size_t    n;
    size_t    kept_bytes, used, most, spare;
    pthread_mutex_t lock;         /* held while the members above are used */
    struct rooms_left *left;      /* what was taken over from the last run, empty; or NULL */
} rooms;

/* The meter, which may be NULL, must exist until the rooms are closed. */
void  rooms_open(rooms *r, const xir_allocator *alloc, meter *limit);

/* Uninitialised bytes; NULL without memory. Without rooms (`r` is NULL) they are those of the allocator, and nothing is
 * kept. */
void *rooms_take(rooms *r, const xir_allocator *alloc, size_t size);
void  rooms_give(rooms *r, const xir_allocator *alloc, void *block, size_t size);
/* The same for an owned blob. rooms_give_blob releases it if others hold it too, or if its bytes are borrowed. */
blob *rooms_take_blob(rooms *r, const xir_allocator *alloc, uint64_t size);
void  rooms_give_blob(rooms *r, blob *data);
/* Frees what is kept. */
void  rooms_close(rooms *r);

/* The same for a run of a network, which takes over what the last run of the context has left, and leaves at most SPARE
 * bytes; rooms_close_run closes others too. */
void  rooms_open_for_run(rooms *r, xir_context *ctx);
void  rooms_close_run(rooms *r, xir_context *ctx);

#endif
