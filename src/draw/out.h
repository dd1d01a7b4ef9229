/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Text that is written in large pieces. After a refused write nothing more is written, and draw_end reports it. */
#ifndef DRAW_OUT_H
#define DRAW_OUT_H

#include "picture.h"

typedef struct draw_out {
    xir_write_fn *write;
    void         *user;
    size_t        size;
    bool          failed, no_memory;
    char          buffer[1 << 15];
} draw_out;

void draw_put(draw_out *o, const char *text, size_t size);
/* Room for n bytes, which are fewer than the buffer has; what is written there is added to o->size. */
char *draw_begin(draw_out *o, size_t n);
void draw_text(draw_out *o, const char *terminated);
void draw_int(draw_out *o, int64_t number);
/* Writes the digits without a zero at the end, and returns how many bytes these are. */
enum { DRAW_DIGITS = 24 };
size_t draw_digits(char out[DRAW_DIGITS], int64_t number);
/* Like printf, for short texts that need no escaping. */
void draw_print(draw_out *o, const char *format, ...) XIR_PRINTF(2, 3);
/* Text of a file, at most `most` bytes of it: harmless, and escaped for XML or for a quoted text of DOT. */
void draw_xml(draw_out *o, xir_str text, size_t most);
void draw_quoted(draw_out *o, xir_str text, size_t most);
/* Writes what is left. XIR_E_IO with a finding if a write was refused, XIR_E_MEMORY if `no_memory` is set. */
xir_status draw_end(draw_out *o, xir_diags *why);

/* ---- detail.c: what a reader sees of an op when the pointer rests on it ------------------------------------------ */

typedef void draw_escape_fn(draw_out *o, xir_str text, size_t most);

/* Class, name and id of an op, its attributes that are not the default, inputs and outputs: a line for each. */
void draw_detail(draw_out *o, const xir_op *op, draw_escape_fn *escape, const char *new_line);
/* Returns true if an attribute has its default; false for kinds whose defaults are rarely of interest. */
bool draw_is_default(const xir_op *op, const xir_field *f);
/* A value: its name and type. */
void draw_value_detail(draw_out *o, const xir_value *value, draw_escape_fn *escape);
/* The value of a number; NULL if the picture has none. `node` gets its maker. */
const xir_value *draw_value_of(const picture *p, uint32_t value, uint32_t *node);

/* The prefix before the number of an op in its id: two networks may have the same numbers, so that of an op that only
 * the first one has begins with another letter. */
const char *draw_id_prefix(const picture *p, size_t node);

/* "conv1", or "Conv2d #17" for an op without a name. */
void draw_node_label(draw_out *o, const picture *p, uint32_t node, draw_escape_fn *escape);
/* The box that shows a node: the node itself, or `*group` if that is closed around it. */
bool draw_is_shown(const picture *p, uint32_t node, uint32_t *group);

#endif
