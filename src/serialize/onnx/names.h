/* The names of a graph's values. Open addressing: a name is looked up by a hash with a seed that differs from run to run, so
 * that no file can be made to fill one place, and costs one comparison mostly. A name stands for one value at a time. */
#ifndef SERIALIZE_ONNX_NAMES_H
#define SERIALIZE_ONNX_NAMES_H

#include "graph.h"

typedef struct name_slot { uint32_t hash, value; /* its number + 1; 0: free */ } name_slot;

typedef struct name_table {
    const xir_allocator *alloc;
    uint64_t             seed;
    name_slot           *slots;
    size_t               room;       /* a power of two, 0 at first */
    xir_value          **values;     /* each has this name         */
    size_t               n, value_room;
} name_table;

void name_table_init(name_table *t, const xir_allocator *alloc);
void name_table_free(name_table *t);
/* Room for so many names at once; false without memory. */
bool name_table_reserve(name_table *t, size_t n);

uint64_t name_hash(uint64_t seed, const char *text, size_t size);
/* The place of the value of a name; NULL if there is none. It is valid until the next name is added. */
xir_value **name_find(const name_table *t, xir_str text, uint64_t hash);
/* Adds a name that is not there. False without memory. */
bool name_add(name_table *t, xir_value *value, uint64_t hash);

#endif
