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
/* Sorts the undeclared ones; none may be there twice. */
bool     sort_extra(decoder *d, const source *s, const void *at, gathered *extra, xir_map *out);
bool     add_extra(decoder *d, source *s, gathered *extra, xir_str key, bool with_params);
/* Records that a key of the map at `at` is there twice. Returns false. */
bool     key_again(decoder *d, const source *s, const void *at, xir_str key);

typedef struct op_in op_in;
/* Reads all members of a map of the plan's class; `op` NULL: an object. */
bool read_members(decoder *d, source *s, const codec_plan *plan, void *body, members *m, op_in *op);
/* One of the keys that all ops have. */
bool read_op_base(decoder *d, source *s, int what, op_in *op);

bool decode_field(decoder *d, source *s, const xir_field *f, void *body);
bool decode_map(decoder *d, source *s, xir_map *out);
bool decode_any_with_params(decoder *d, source *s, xir_any *out);
bool decode_params(decoder *d, source *s, xir_value **out);

#endif
