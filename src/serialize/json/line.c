/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* One line for an op or a value, for logs and debuggers. It says what a reader needs at a glance; xir_op_print says
 * everything. */
#include <stdlib.h>
#include <string.h>
#include <xir/serialize.h>
#include "graph.h"
#include "text.h"

/* A text from a file: bare if it is a name that a reader can take in, otherwise quoted and escaped. */
static void put_text(buffer *line, xir_context *ctx, xir_str text) {
    bool bare = text.size != 0;
    for (size_t i = 0; i < text.size; i++) {
        const char c = text.data[i], letter = c | 0x20;
        bare &= (letter >= 'a' && letter <= 'z') || (c >= '-' && c <= ':') || c == '_';   /* - . / digits : */
    }
    xir_text_buffer quoted = { 0 };
    if (bare) {
        buffer_put(line, text.data, text.size);
        return;
    }
    const xir_any any = xir_any_text(text);
    if (xir_any_print(ctx, &any, 0, &quoted) == XIR_OK) buffer_put(line, quoted.data, quoted.size);
    xir_text_free(&quoted);
}

static void put_printed(buffer *line, xir_status status, xir_text_buffer *text) {
    /* "@fp(32)" is a text in JSON */
    const bool quoted = !status && text->size > 2 && text->data[0] == '"' && text->data[1] == '@';
    if (!status) buffer_put(line, text->data + (quoted ? 1 : 0), text->size - (quoted ? 2 : 0));
    else buffer_char(line, '?');
    xir_text_free(text);
}

static void put_number(buffer *line, const char *before, int64_t number) {
    char digits[32];
    snprintf(digits, sizeof digits, "%s%lld", before, (long long)number);
    buffer_str(line, digits);
}

static void put_label(buffer *line, const xir_value *v) {
    if (!v) {
        buffer_char(line, '_');
        return;
    }
    const xir_str name = xir_value_name(v);
    buffer_char(line, xir_value_is_params(v) ? '@' : '%');
    if (name.size) put_text(line, xir_network_context(xir_value_network(v)), name);
    else put_number(line, "", xir_value_id(v));
}

static void put_type(buffer *line, xir_context *ctx, const xir_type *type) {
    xir_text_buffer text = { 0 };
    const xir_tensor_type *tensor = xir_type_as_tensor(type);
    if (!type) {
        buffer_str(line, "none");
        return;
    }
    const xir_type *shown = tensor ? xir_type_element(type) : type;
    put_printed(line, xir_object_print(ctx, xir_type_object(shown), 0, &text), &text);
    if (!tensor) return;
    buffer_char(line, ' ');
    const xir_str axes = tensor->layout ? tensor->layout->axes : XIR_STR("?");
    buffer_put(line, axes.data, axes.size);
    for (size_t i = 0; i < xir_type_rank(type); i++) {
        char dim[80];
        xir_type_dim_text(type, (int64_t)i, dim, sizeof dim);
        buffer_str(line, i ? "," : " [");
        buffer_str(line, dim);
    }
    buffer_str(line, xir_type_rank(type) ? "]" : " []");
}

/* Attributes that are not their default, and those that the class does not declare. */
static void put_attrs(buffer *line, const xir_op *op) {
    const char *before = " {";
    xir_text_buffer text = { 0 };
    for (size_t i = 0; i < op->cls->n_fields; i++) {
        const xir_field *f = &op->cls->fields[i];
        if (field_equal(f, op->attrs, op->cls->defaults)) continue;
        buffer_str(line, before);
        buffer_put(line, f->name.data, f->name.size);
        buffer_char(line, '=');
        if (f->kind == XIR_KIND_OPS) buffer_str(line, "...");
        else put_printed(line, xir_op_attr_print(op, f->name, 0, &text), &text);
        before = ", ";
    }
    const xir_map *extra = xir_op_extra(op);
    for (size_t i = 0; extra && i < extra->size; i++) {
        buffer_str(line, before);
        put_text(line, op->net->ctx, extra->entries[i].key);
        buffer_char(line, '=');
        put_printed(line, xir_any_print(op->net->ctx, &extra->entries[i].value, 0, &text), &text);
        before = ", ";
    }
    if (*before == ',') buffer_char(line, '}');
}

/* Copies the line, cut before a character, and ends it with a zero. */
static size_t give(buffer *line, char *out, size_t room) {
    const size_t size = line->size;
    if (room) {
        const int n = text_clip((xir_str){ line->data, size }, room - 1);
        if (n) memcpy(out, line->data, (size_t)n);
        out[n] = '\0';
    }
    buffer_free(line);
    return size;
}

size_t xir_op_line(const xir_op *op, char *out, size_t room) {
    buffer line;
    buffer_init(&line, op ? context_alloc(op->net->ctx) : &memory_default);
    if (!op) return give(&line, out, room);
    const xir_str key = op->cls->key, own = XIR_STR("icraft::xir::");
    for (size_t i = 0; i < xir_op_output_count(op); i++) {
        if (i) buffer_str(&line, ", ");
        put_label(&line, xir_op_output(op, (int64_t)i));
    }
    if (xir_op_output_count(op)) buffer_str(&line, " = ");
    const size_t skip = key.size > own.size && !memcmp(key.data, own.data, own.size) ? own.size : 0;
    buffer_put(&line, key.data + skip, key.size - skip);
    for (size_t i = 0; i < xir_op_input_count(op); i++) {
        buffer_str(&line, i ? ", " : "(");
        put_label(&line, xir_op_input(op, (int64_t)i));
    }
    buffer_str(&line, xir_op_input_count(op) ? ")" : "()");
    put_attrs(&line, op);
    if (xir_op_name(op).size) {
        buffer_char(&line, ' ');
        put_text(&line, op->net->ctx, xir_op_name(op));
    }
    if (xir_op_id(op) >= 0) put_number(&line, " #", xir_op_id(op));
    for (size_t i = 0; i < xir_op_output_count(op); i++) {
        buffer_str(&line, i ? ", " : " : ");
        put_type(&line, op->net->ctx, xir_value_type(xir_op_output(op, (int64_t)i)));
    }
    return give(&line, out, room);
}

size_t xir_value_line(const xir_value *value, char *out, size_t room) {
    buffer line;
    xir_context *ctx = value ? xir_network_context(xir_value_network(value)) : NULL;
    buffer_init(&line, ctx ? context_alloc(ctx) : &memory_default);
    if (!value) return give(&line, out, room);
    put_label(&line, value);
    if (xir_value_name(value).size && xir_value_id(value) >= 0) put_number(&line, " #", xir_value_id(value));
    buffer_str(&line, " : ");
    put_type(&line, ctx, xir_value_type(value));
    return give(&line, out, room);
}
