/* Between codec_read.c and codec_graph.c. */
#ifndef SERIALIZE_CODEC_READ_H
#define SERIALIZE_CODEC_READ_H

#include <inttypes.h>
#include "codec.h"

/* A list of unknown length, growing in the scratch arena. */
typedef struct gathered { void *data; size_t size, room; } gathered;

void *gather_slow(decoder *d, gathered *g, size_t item);
/* One more item, uninitialised; NULL without memory, which is recorded. */
static inline void *gather(decoder *d, gathered *g, size_t item) {
    return g->size < g->room ? (char *)g->data + g->size++ * item : gather_slow(d, g, item);
}

/* Empties the scratch arena. */
void decoder_rewind(decoder *d);

/* What has been read of a map that has rows: bits of fields, and behind them of the other keys, and what is undeclared. */
typedef struct members {
    uint64_t    few[4];
    uint64_t   *seen;
    gathered    extra;     /* xir_entry, in the order of the file */
    const void *at;        /* of the map                          */
} members;

bool     members_begin(decoder *d, source *s, members *m, const xir_class *cls);
uint64_t members_absent(const members *m, const xir_class *cls);
/* Notes that a key is there; twice is a failure. */
bool     members_note(decoder *d, const source *s, members *m, const xir_class *cls, int what, xir_str name);
static inline uint32_t member_bit(const xir_class *cls, int what) {
    return what >= 0 ? (uint32_t)what : cls->n_fields + (uint32_t)(-1 - what);
}

/* Steps to the next member of a map of the plan's class. 1: before its item; 0: behind the map; -1: failed. `next` is the key
 * that is likely, *what the field or KEY_…, KEY_NONE if no row knows the key. */
enum { KEY_NONE = -8 };
int next_member(source *s, const codec_plan *plan, bool first, uint32_t *next, xir_str *name, int *what);

/* Sorts the undeclared ones; none may be there twice. */
bool     sort_extra(decoder *d, const source *s, const void *at, gathered *extra, xir_map *out);
bool     add_extra(decoder *d, source *s, gathered *extra, xir_str key, bool with_params);
/* Records that a key of the map at `at` is there twice. Returns false. */
bool     key_again(decoder *d, const source *s, const void *at, xir_str key);

bool decode_field(decoder *d, source *s, const xir_field *f, void *body);
bool decode_op_field(decoder *d, source *s, const xir_field *f, void *body);
bool decode_map(decoder *d, source *s, xir_map *out);
bool decode_any_with_params(decoder *d, source *s, xir_any *out);
bool decode_params(decoder *d, source *s, xir_value **out);

#endif
