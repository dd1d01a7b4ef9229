/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* JSON as XIR reads and writes it: RFC 8259 in strict UTF-8, written byte for byte as nlohmann::json::dump does. */
#ifndef SERIALIZE_JSON_H
#define SERIALIZE_JSON_H

#include <xir/serialize.h>
#include "codec/codec.h"
#include "codec/known.h"
#include "format.h"

/* A key as both the writer and the reader expect it, with its colon. */
uint8_t json_bake(xir_str key, char *out);

/* ---- writing ----------------------------------------------------------------------------------------------- */

/* The position in `out` at which a value was last written. */
typedef struct recent_value { const xir_value *value; uint32_t depth; size_t start, size; } recent_value;
enum { RECENT_VALUES = 64 };

typedef struct json_sink {
    sink        sink;
    xir_context *ctx;
    buffer      out;
    uint32_t    indent, depth, deepest;
    uint64_t    lists[CODEC_DEEPEST / 64 + 1];   /* bit d: at depth d a list is open         */
    xir_write_fn *write;                          /* NULL: everything stays in `out`          */
    void        *user;
    known_items  known;
    size_t       listed, pieces;                  /* of the outermost list: items announced, ops written so far */
    recent_value values[RECENT_VALUES];           /* direct-mapped; cleared when a piece is flushed     */
} json_sink;

/* Starts one item, compact (indent 0) or indented. */
void json_sink_init(json_sink *j, xir_context *ctx, int indent, xir_write_fn *write, void *user);
/* Removes the last comma, flushes the rest, and returns the final status. */
xir_status json_sink_end(json_sink *j);
void json_sink_free(json_sink *j);

/* A text in quotes, escaped; it must be UTF-8. After a refused allocation the buffer has failed. */
void json_quote(buffer *out, xir_str v);

/* ---- reading ----------------------------------------------------------------------------------------------- */

extern const source_ops json_source;

/* Moves to the first byte of the item. */
void json_begin(source *s);

/* Returns true if only white space follows the item that was read. False with a finding. */
bool json_at_end(source *s);

/* Reads any JSON text into the arena. `why` may be NULL. */
xir_status json_read_any(xir_context *ctx, arena *to, xir_str json, xir_any *out, xir_diags *why);

/* Finds the places that JSON pointers lead to (place.c). */
xir_status json_find_places(xir_context *ctx, xir_str json, xir_format_place *places, size_t n, void *user);

#endif
