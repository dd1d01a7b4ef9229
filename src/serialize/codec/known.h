/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Objects that a sink has written, with their bytes: an object that comes again is copied from here. */
#ifndef SERIALIZE_KNOWN_H
#define SERIALIZE_KNOWN_H

#include "hash.h"
#include "object.h"

typedef struct known_item {
    uint32_t    depth;    /* at which it has these bytes; 0 in formats where depth is irrelevant */
    uint32_t    height;   /* private to the sink                                               */
    uint32_t    next;     /* number, from 1, of the same object at another depth; 0: none       */
    const char *bytes;
    size_t      size;
} known_item;

typedef struct known_items {
    arena         kept;
    pointer_table last;   /* of an object: the number, from 1, of its latest item                */
    known_item   *items;
    size_t        n, room;
} known_items;

void known_init(known_items *k, const xir_allocator *alloc);
void known_free(known_items *k);
/* NULL if the object is not known. */
const known_item *known_find(const known_items *k, const xir_object *object, uint32_t depth);
/* Copies the bytes of an object that is not known. NULL if out of memory: then it is just not remembered. */
known_item *known_learn(known_items *k, const xir_object *object, uint32_t depth, const char *bytes, size_t size);

#endif
