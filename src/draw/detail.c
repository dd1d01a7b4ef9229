/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The details of an op, line by line. */
#include <stdio.h>
#include "out.h"

enum { MOST_NAME = 400, MOST_ATTR = 160, MOST_ATTRS = 40, MOST_VALUES = 12 };

const xir_value *draw_value_of(const picture *p, uint32_t value, uint32_t *node) {
    size_t low = 0, high = p->n_nodes;   /* the last node whose first value is not after it */
    if (value >= p->nodes[p->n_nodes].value) return NULL;
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (p->nodes[middle].value <= value) low = middle;
        else high = middle;
    }
    *node = (uint32_t)low;
    return draw_output(p, low, value - p->nodes[low].value);
}

const char *draw_id_prefix(const picture *p, size_t node) {
    return draw_changes(p, node) & XIR_DIFF_REMOVED ? "r" : "n";
}

void draw_node_label(draw_out *o, const picture *p, uint32_t node, draw_escape_fn *escape) {
    const xir_op *op = p->nodes[node].op;
    char text[DRAW_TEXT];
    size_t n = draw_node_text(p, node, DRAW_LINE_NAME, text);
    if (!n) n = draw_node_text(p, node, DRAW_LINE_CLASS, text);
    escape(o, (xir_str){ text, n }, DRAW_TEXT);
    if (!xir_op_name(op).size) draw_print(o, " #%lld", (long long)xir_op_id(op));
}

bool draw_is_shown(const picture *p, uint32_t node, uint32_t *group) {
    uint32_t g = p->nodes[node].group;
    const uint32_t depth = p->how.depth;
    if (!depth || p->groups[g].depth < depth) return true;
    while (p->groups[g].depth > depth) g = p->groups[g].parent;
    *group = g;
    return false;
}

void draw_value_detail(draw_out *o, const xir_value *value, draw_escape_fn *escape) {
    char type[256];
    const size_t n = draw_type_text(xir_value_type(value), type, sizeof type);
    const xir_str name = xir_value_name(value);
    escape(o, name, MOST_NAME);
    if (name.size) draw_text(o, " ");
    escape(o, (xir_str){ type, n }, MOST_NAME);
}

bool draw_is_default(const xir_op *op, const xir_field *f) {
    xir_attr a = { .kind = f->kind };
    if (!f->has_default) return false;
    switch (f->kind) {
    case XIR_KIND_BOOL: a.as.boolean = f->default_value.i != 0; break;
    case XIR_KIND_I64:  a.as.i64 = f->default_value.i; break;
    case XIR_KIND_U64:  a.as.u64 = (uint64_t)f->default_value.i; break;
    case XIR_KIND_REAL: a.as.real = f->default_value.r; break;
    case XIR_KIND_ENUM: a.as.enumerator = (int)f->default_value.i; break;
    case XIR_KIND_TEXT: a.as.text = f->default_text; break;
    default:            return false;
    }
    return xir_op_attr_is(op, f->name, &a);
}

static void put_attr(draw_out *o, const xir_op *op, xir_str name, draw_escape_fn *escape, const char *new_line) {
    xir_text_buffer text = { 0 };
    const xir_status status = xir_op_attr_print(op, name, 0, &text);
    if (status == XIR_E_MEMORY) o->no_memory = true;
    if (status) return;
    draw_text(o, new_line);
    escape(o, name, MOST_ATTR);
    draw_text(o, " = ");
    escape(o, (xir_str){ text.data, text.size }, MOST_ATTR);
    xir_text_free(&text);
}

static bool is_shown(const xir_op *op, const xir_field *f) {
    xir_attr a;
    if (f->kind == XIR_KIND_OPS || xir_op_get(op, f->name, &a) || a.is_null) return false;
    if (f->kind == XIR_KIND_REF) {   /* scales and layouts that say nothing */
        return !f->default_text.size;
    }
    return !draw_is_default(op, f);
}

static void put_attrs(draw_out *o, const xir_op *op, draw_escape_fn *escape, const char *new_line) {
    const xir_class *cls = xir_op_class(op);
    const xir_map *extra = xir_op_extra(op);
    size_t n = 0;
    for (size_t i = 0; i < xir_class_field_count(cls) && n < MOST_ATTRS; i++) {
        const xir_field *f = xir_class_field_at(cls, i);
        if (!is_shown(op, f)) continue;
        put_attr(o, op, f->name, escape, new_line);
        n++;
    }
    for (size_t i = 0; extra && i < extra->size && n < MOST_ATTRS; i++, n++)
        put_attr(o, op, extra->entries[i].key, escape, new_line);
}

static void put_values(draw_out *o, const xir_op *op, bool inputs, draw_escape_fn *escape, const char *new_line) {
    const size_t n = inputs ? xir_op_input_count(op) : xir_op_output_count(op);
    for (size_t i = 0; i < n && i < MOST_VALUES; i++) {
        const xir_value *v = inputs ? xir_op_input(op, (int64_t)i) : xir_op_output(op, (int64_t)i);
        draw_text(o, new_line);
        draw_text(o, inputs ? "in: " : "out: ");
        if (v) draw_value_detail(o, v, escape);
        else draw_text(o, "absent");
    }
    if (n > MOST_VALUES) {
        draw_text(o, new_line);
        draw_print(o, "and %zu more", n - MOST_VALUES);
    }
}

void draw_detail(draw_out *o, const xir_op *op, draw_escape_fn *escape, const char *new_line) {
    escape(o, draw_class_word(op), MOST_NAME);
    draw_text(o, " ");
    escape(o, xir_op_name(op), MOST_NAME);
    draw_print(o, " #%lld", (long long)xir_op_id(op));
    put_attrs(o, op, escape, new_line);
    put_values(o, op, true, escape, new_line);
    put_values(o, op, false, escape, new_line);
}
