/* Classless values as a format: a sink that builds one and a source that reads one. The attributes of an op of an
 * unknown class are kept as such a value, and are read from it once the class is registered. */
#ifndef SERIALIZE_ANY_IO_H
#define SERIALIZE_ANY_IO_H

#include "codec/codec.h"

/* ---- building ---------------------------------------------------------------------------------------------- */

typedef struct any_sink {
    sink         sink;
    xir_context *ctx;
    arena       *to;
    xir_entry   *stack;          /* complete items, each with its key; items of lists have none    */
    size_t       size, room;
    struct { size_t first; bool map; xir_str key; } open[CODEC_DEEPEST + 1];
    uint32_t     depth, deepest;
    xir_str      key;            /* of the next value */
} any_sink;

/* Starts one value. The value and all its texts go into the arena. The struct is large: keep it off small stacks. */
void any_sink_init(any_sink *a, xir_context *ctx, arena *to);
/* Returns the value and the status of building it. */
xir_status any_sink_end(any_sink *a, xir_any *out);
void any_sink_free(any_sink *a);

/* ---- reading ----------------------------------------------------------------------------------------------- */

typedef struct any_level { const xir_any *in; size_t next; } any_level;
typedef struct any_levels { any_level of[CODEC_DEEPEST + 1]; } any_levels;

extern const source_ops any_source;

/* Points a source at a value. `levels` is the source's memory. */
void any_source_init(decoder *d, source *s, const xir_any *any, any_levels *levels);

/* resolve.c. Turns an op of an opaque class into one of `cls`: its undeclared attributes become rows, as if they were
 * read from a file now. On failure (with a finding in `why`) the op is unchanged. */
xir_status op_resolve(xir_op *op, const xir_class *cls, xir_diags *why);

#endif
