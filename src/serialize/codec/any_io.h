/* Values without a class as a format: a sink that builds one, a source that reads one. What a file said of an op of
 * an unknown class is kept as such a value, and is read from it once the class is known. */
#ifndef SERIALIZE_ANY_IO_H
#define SERIALIZE_ANY_IO_H

#include "codec/codec.h"

/* ---- building ---------------------------------------------------------------------------------------------- */

typedef struct any_sink {
    sink         sink;
    xir_context *ctx;
    arena       *to;
    xir_entry   *stack;          /* what is complete, each with its key; lists have none           */
    size_t       size, room;
    struct { size_t first; bool map; xir_str key; } open[CODEC_DEEPEST + 1];
    uint32_t     depth, deepest;
    xir_str      key;            /* of the value that comes */
} any_sink;

/* Starts one value, which goes into the arena with all its texts. The struct is large: not on small stacks. */
void any_sink_init(any_sink *a, xir_context *ctx, arena *to);
/* Gives the value, and what became of it. */
xir_status any_sink_end(any_sink *a, xir_any *out);
void any_sink_free(any_sink *a);

/* ---- reading ----------------------------------------------------------------------------------------------- */

typedef struct any_level { const xir_any *in; size_t next; } any_level;
typedef struct any_levels { any_level of[CODEC_DEEPEST + 1]; } any_levels;

extern const source_ops any_source;

/* Points a source at a value; `levels` is its memory. */
void any_source_init(decoder *d, source *s, const xir_any *any, any_levels *levels);

/* resolve.c. Makes an op of an opaque class one of `cls`: its undeclared attributes become rows as if they were read
 * from a file now. On failure (a finding in `why`) the op is as before. */
xir_status op_resolve(xir_op *op, const xir_class *cls, xir_diags *why);

#endif
