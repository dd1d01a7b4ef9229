/* The names of a graph's values. Open addressing: a name is looked up by a hash with a seed that differs from run to run, so
 * that no file can be made to fill one place, and costs one comparison mostly. A name stands for one value at a time. */
#ifndef SERIALIZE_ONNX_NAMES_H
#define SERIALIZE_ONNX_NAMES_H

#include "graph.h"

typedef struct name_slot { uint32_t hash, value; /* its number + 1; 0: free */ } name_slot;

/* The last name of those whose hashes end alike: most are used soon after they were met, and then nothing else is looked
 * at. */
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
    size_t               guess;      /* the one behind the last that was found slowly: weights are used as they stand */
} name_table;

void name_table_init(name_table *t, const xir_allocator *alloc);
void name_table_free(name_table *t);
/* Room for so many names at once; false without memory. */
bool name_table_reserve(name_table *t, size_t n);

static inline uint64_t name_byte(char c) { return (unsigned char)c; }
static inline uint64_t name_word(const char *at, size_t size) {
    uint64_t word = 0;
    memcpy(&word, at, size);
    return word;
}

/* Folds the product of two words, whose 128 bits depend on all of both. */
static inline uint64_t name_mix(uint64_t a, uint64_t b) {
#ifdef __SIZEOF_INT128__
    __extension__ typedef unsigned __int128 wide;
    wide product = (wide)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
#else
    uint64_t hash = (a ^ b >> 32) * 0x9E3779B97F4A7C15u;
    return (hash ^ hash >> 29 ^ b) * 0xFF51AFD7ED558CCDu;
#endif
}

/* Names are short: up to 16 bytes are two words, which may overlap. */
static inline uint64_t name_hash(uint64_t seed, const char *text, size_t size) {
    const uint64_t k0 = 0x9E3779B97F4A7C15u, k1 = 0xC4CEB9FE1A85EC53u;
    uint64_t hash = seed ^ size * k1;
    for (; size > 16; size -= 16, text += 16) hash = name_mix(name_word(text, 8) ^ k0, name_word(text + 8, 8) ^ hash);
    uint64_t a = 0, b = 0;
    if (size >= 8) {
        a = name_word(text, 8);
        b = name_word(text + size - 8, 8);
    } else if (size >= 4) {
        a = name_word(text, 4);
        b = name_word(text + size - 4, 4);
    } else if (size) {
        a = name_byte(text[0]) << 16 | name_byte(text[size / 2]) << 8 | name_byte(text[size - 1]);
    }
    return name_mix(name_mix(a ^ k0, b ^ hash), k1);
}

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
    if (t->room && t->recent[hash % NAME_RECENT].hash != hash) __builtin_prefetch(&t->slots[(hash >> 32) & (t->room - 1)]);
}
/* Adds a name that is not there. False without memory. */
bool name_add(name_table *t, xir_value *value, uint64_t hash);
/* Another value has the name from now on. */
void name_replace(name_table *t, xir_value *old, xir_value *value, uint64_t hash);

#endif
