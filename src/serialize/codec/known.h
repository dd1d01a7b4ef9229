/* Objects that a sink has written, and the bytes that it wrote: an object that comes again is copied from here. */
#ifndef SERIALIZE_KNOWN_H
#define SERIALIZE_KNOWN_H

#include "object.h"

typedef struct known_item {
    const xir_object *object;   /* NULL: free                                                      */
    uint32_t          depth;    /* where its bytes are these; 0 in formats where that is everywhere */
    uint32_t          height;   /* the sink's own                                                  */
    const char       *bytes;
    size_t            size;
} known_item;

typedef struct known_items {
    arena       kept;
    known_item *items;          /* open addressing by object and depth */
    size_t      room, count;
} known_items;

void known_init(known_items *k, const xir_allocator *alloc);
void known_free(known_items *k);
/* NULL if it is not known. */
const known_item *known_find(const known_items *k, const xir_object *object, uint32_t depth);
/* Copies the bytes. NULL without memory: then it is not remembered, and that is all. */
known_item *known_learn(known_items *k, const xir_object *object, uint32_t depth, const char *bytes, size_t size);

#endif
