/* Objects that a sink has written, and the bytes that it wrote: an object that comes again is copied from here. */
#ifndef SERIALIZE_KNOWN_H
#define SERIALIZE_KNOWN_H

#include "hash.h"
#include "object.h"

typedef struct known_item {
    uint32_t    depth;    /* where its bytes are these; 0 in formats where that is everywhere */
    uint32_t    height;   /* the sink's own                                                  */
    uint32_t    next;     /* number of the same object at another depth, from 1; 0: none     */
    const char *bytes;
    size_t      size;
} known_item;

typedef struct known_items {
    arena         kept;
    pointer_table last;   /* of an object: the number, from 1, of the item that was learned last */
    known_item   *items;
    size_t        n, room;
} known_items;

void known_init(known_items *k, const xir_allocator *alloc);
void known_free(known_items *k);
/* NULL if it is not known. */
const known_item *known_find(const known_items *k, const xir_object *object, uint32_t depth);
/* Copies the bytes of what is not known. NULL without memory: then it is not remembered, and that is all. */
known_item *known_learn(known_items *k, const xir_object *object, uint32_t depth, const char *bytes, size_t size);

#endif
