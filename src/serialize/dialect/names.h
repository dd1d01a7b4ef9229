/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The names of a network's values. Open addressing: a name is looked up by a hash with a seed that differs from run to
 * run, so that no file can be made to fill one slot; a look-up usually costs one comparison. Most look-ups are of new
 * names: a byte of each slot is enough to see that, and the bytes of a million slots fit into a cache. A name refers to
 * one value at a time. */
#ifndef SERIALIZE_DIALECT_NAMES_H
#define SERIALIZE_DIALECT_NAMES_H

#include "graph.h"
#include "hash.h"

/* The last name used with these low bits of the hash: most names are used again soon, and then nothing else is
 * touched. */
typedef struct name_recent { uint64_t hash; xir_value *value; size_t number; /* among the values */ } name_recent;
enum { NAME_RECENT = 256 };

typedef struct name_table {
    const xir_allocator *alloc;
    uint64_t             seed;
    uint8_t             *marks;      /* of slots: 128 and seven bits of the hash; 0: free */
    uint32_t            *numbers;    /* of the value of a slot, if it is not free */
    size_t               room;       /* of both, a power of two; 0 at first       */
    xir_value          **values;     /* each has this name                        */
    size_t               n, value_room;
    name_recent          recent[NAME_RECENT];
    size_t               guess;      /* the one after the last slow find: weights are used in order */
} name_table;

void name_table_init(name_table *t, const xir_allocator *alloc);
void name_table_free(name_table *t);
/* Reserves room for so many names; false if out of memory. */
bool name_table_reserve(name_table *t, size_t n);

/* The value of a name, or NULL. */
xir_value *name_find_slowly(name_table *t, xir_str text, uint64_t hash);
static inline bool name_is(const xir_value *v, xir_str text) {
    const label *name = value_more_of(v)->name;
    return name->size == text.size && memcmp(name->bytes, text.data, text.size) == 0;
}
static inline xir_value *name_find(name_table *t, xir_str text, uint64_t hash) {
    const name_recent *recent = &t->recent[hash % NAME_RECENT];
    if (recent->value && recent->hash == hash && name_is(recent->value, text)) return recent->value;
    return name_find_slowly(t, text, hash);
}
/* Prefetches the slot of a name: memory responds while other work is done. Always inline: gcc takes a function that
 * only prefetches for one without effects, and drops its calls. */
__attribute__((always_inline)) static inline void name_prefetch(const name_table *t, uint64_t hash) {
    bool known = t->recent[hash % NAME_RECENT].hash == hash;
    const size_t at = (size_t)(hash >> 32) & (t->room - 1);
    if (!t->room || known) return;
    __builtin_prefetch(&t->marks[at]);
    __builtin_prefetch(&t->numbers[at], 1);
}
/* Adds a name that is not in the table. False if out of memory. */
bool name_add(name_table *t, xir_value *value, uint64_t hash);
/* Makes a name refer to another value. */
void name_replace(name_table *t, xir_value *old, xir_value *value, uint64_t hash);

#endif
