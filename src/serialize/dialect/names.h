/* The names of a network's values. Open addressing: a name is looked up by a hash with a seed that differs from
 * run to run, so that no file can be made to fill one place, and costs one comparison mostly. A name stands for
 * one value at a time. */
#ifndef SERIALIZE_DIALECT_NAMES_H
#define SERIALIZE_DIALECT_NAMES_H

#include "graph.h"
#include "hash.h"

typedef struct name_slot { uint32_t hash, value; /* its number + 1; 0: free */ } name_slot;

/* The last name of those whose hashes end alike: most are used soon after they were met, and then nothing else is
 * looked at. */
typedef struct name_recent { uint64_t hash; xir_value *value; } name_recent;
enum { NAME_RECENT = 256 };

typedef struct name_table {
    const xir_allocator *alloc;
    uint64_t             seed;
    name_slot           *slots;
    size_t               room;       /* a power of two, 0 at first */
    xir_value          **values;     /* each has this name         */
    size_t               n, value_room;
    name_recent          recent[NAME_RECENT];
    size_t               guess;      /* the one after the last that was found slowly: weights are used in order */
} name_table;

void name_table_init(name_table *t, const xir_allocator *alloc);
void name_table_free(name_table *t);
/* Room for so many names at once; false without memory. */
bool name_table_reserve(name_table *t, size_t n);

/* The value of a name; NULL if there is none. */
xir_value *name_find_slowly(name_table *t, xir_str text, uint64_t hash);
static inline bool name_is(const xir_value *v, xir_str text) {
    const label *name = v->more->name;
    return name->size == text.size && memcmp(name->bytes, text.data, text.size) == 0;
}
static inline xir_value *name_find(name_table *t, xir_str text, uint64_t hash) {
    const name_recent *recent = &t->recent[hash % NAME_RECENT];
    if (recent->value && recent->hash == hash && name_is(recent->value, text)) return recent->value;
    return name_find_slowly(t, text, hash);
}
/* Where the name will be looked for: asked for ahead, memory answers while other work is done. */
static inline void name_prefetch(const name_table *t, uint64_t hash) {
    bool known = t->recent[hash % NAME_RECENT].hash == hash;
    if (t->room && !known) __builtin_prefetch(&t->slots[(hash >> 32) & (t->room - 1)]);
}
/* Adds a name that is not there. False without memory. */
bool name_add(name_table *t, xir_value *value, uint64_t hash);
/* Another value has the name from now on. */
void name_replace(name_table *t, xir_value *old, xir_value *value, uint64_t hash);

#endif
