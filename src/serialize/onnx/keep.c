/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The parts of a network that serve only to write it as ONNX again. */
#include "name_dims.h"
#include "onnx/read.h"
#include "number.h"
#include "symbols.h"

/* ---- constants ------------------------------------------------------------------------------------------------- */

/* The map of one initializer: its message, and its number among the graph's inputs if it is declared as one. */
static bool keep_constant(proto_reader *r, const proto_constant *c, dialect_list *out) {
    const xir_map *tags = value_more_of(c->v)->tags;
    const xir_str key = r->has_defaults ? XIR_STR("onnx.input") : XIR_STR("onnx.listed_input");
    const xir_any *input = xir_map_find(tags, key);
    xir_entry *entries = arena_take(&r->d.scratch, 2 * sizeof *entries);
    dialect_list text = { 0 };
    size_t n = 0;
    if (!entries) return trace_memory(&r->d.trace);
    bool ok = proto_keep(r, c->message, &text);
    xir_any *item = ok ? dialect_add(&r->d, out, sizeof *item) : NULL;
    if (item && input) entries[n++] = (xir_entry){ XIR_STR("input"), *input };
    if (item) {
        entries[n++] = (xir_entry){ c->sparse ? XIR_STR("sparse_tensor") : XIR_STR("tensor"), *(xir_any *)text.data };
        *item = xir_any_map(entries, n);
    }
    dialect_list_free(&r->d, &text, sizeof(xir_any));
    return item != NULL;
}

/* Returns true if the elements are in another file. */
static bool is_external(wire_bytes tensor) {
    enum { TENSOR_LOCATION = 14 };
    uint64_t location = 0;
    wire_field f;
    for (wire w = wire_of(tensor); wire_next(&w, &f);)
        if (f.number == TENSOR_LOCATION) location = f.value;
    return location;
}

bool proto_keep_unused(proto_reader *r) {
    enum { MOST_KEPT = 1 << 20 };
    const proto_constant *constants = r->constants.data;
    dialect_list unused = { 0 };
    bool ok = true;
    for (size_t i = 0; ok && i < r->constants.size; i++) {
        const proto_constant *c = &constants[i];
        if (c->v->id >= 0 || (!c->sparse && is_external(c->message)) || c->message.size > MOST_KEPT - r->kept) continue;
        r->kept += c->message.size;
        ok = keep_constant(r, c, &unused);
    }
    const xir_any list = xir_any_list(unused.data, unused.size);
    if (ok && unused.size) ok = dialect_tag(&r->d, &r->d.net->tags, "onnx.unused", list);
    dialect_list_free(&r->d, &unused, sizeof(xir_any));
    const xir_any values = xir_any_list(r->other_values.data, r->other_values.size);
    const xir_any annotations = xir_any_list(r->other_annotations.data, r->other_annotations.size);
    if (ok && values.as.list.size) ok = dialect_tag(&r->d, &r->d.net->tags, "onnx.value_info", values);
    if (ok && annotations.as.list.size)
        ok = dialect_tag(&r->d, &r->d.net->tags, "onnx.quantization_annotation", annotations);
    return ok;
}

/* ---- symbols --------------------------------------------------------------------------------------------------- */

static bool take_number(xir_str *text, int64_t *out) {
    uint64_t v = 0;
    size_t i = 0;
    for (; i < text->size && is_digit(text->data[i]); i++)
        if (!mul_u64(v, 10, &v) || !add_u64(v, (uint64_t)(text->data[i] - '0'), &v)) return false;
    *text = (xir_str){ text->data + i, text->size - i };
    *out = (int64_t)v;
    return i && v <= INT64_MAX;
}

static bool take_word(xir_str *text, const char *word) {
    const size_t n = strlen(word);
    if (text->size < n || memcmp(text->data, word, n) != 0) return false;
    *text = (xir_str){ text->data + n, text->size - n };
    return true;
}

/* "0..8 batch" */
static bool declare(proto_reader *r, xir_str line) {
    int64_t least, most;
    expr e;
    xir_str name = line;
    if (!take_number(&name, &least) || !take_word(&name, "..") || !take_number(&name, &most) || !take_word(&name, " "))
        return PROTO_FAIL(r, (const uint8_t *)line.data, XIR_E_SYNTAX, "a line of xir.symbols is \"%.*s\", expected "
                          "\"LEAST..MOST NAME\"", CLIP(line));
    const xir_status status = symbol_declare(&r->d.net->pool, name, least, most, &e, NULL);
    if (status == XIR_E_MEMORY) return trace_memory(&r->d.trace);
    return !status || PROTO_FAIL(r, (const uint8_t *)line.data, status, "xir.symbols has \"%.*s\", but the name or "
                                 "the interval is not valid", CLIP(line));
}

bool proto_declare_symbols(proto_reader *r) {
    xir_str left = r->symbols;
    while (left.size) {
        const char *feed = memchr(left.data, '\n', left.size);
        const size_t n = feed ? (size_t)(feed - left.data) : left.size;
        if (!declare(r, (xir_str){ left.data, n })) return false;
        left = (xir_str){ left.data + n + (feed != NULL), left.size - n - (feed != NULL) };
    }
    return true;
}

/* The dims of a value, as its tag says them. */
static bool spell_dims(void *user, xir_value *v) {
    proto_reader *r = user;
    const xir_tensor_type *type = xir_type_as_tensor(v->type);
    const xir_any *names = value_more_of(v) ? source_tag_find(value_more_of(v)->tags, SOURCE_DIMS) : NULL;
    if (!type || !names || names->kind != XIR_ANY_LIST || names->as.list.size != type->shape.size) return true;
    int64_t *dims = arena_take(&r->d.scratch, type->shape.size * sizeof *dims);
    bool changed = false;
    if (!dims) return trace_memory(&r->d.trace);
    for (size_t i = 0; i < type->shape.size; i++) {
        const xir_any *name = &names->as.list.items[i];
        expr e = EXPR_UNKNOWN;
        dims[i] = type->shape.data[i];
        if (dims[i] != XIR_UNKNOWN_DIM || name->kind != XIR_ANY_TEXT) continue;
        if (!expr_of_name(&r->d.net->pool, name->as.text, &e)) return trace_memory(&r->d.trace);
        if (expr_is_symbolic(e)) dims[i] = e;
        changed |= expr_is_symbolic(e);
    }
    const xir_type *made = changed ? dialect_tensor(&r->d, type->element_dtype, dims, type->shape.size) : v->type;
    if (!made || expr_no_memory(&r->d.net->pool)) return trace_memory(&r->d.trace);
    v->type = made;
    return true;
}

bool proto_spell_dims(proto_reader *r) {
    return !r->symbols.size || net_walk_values(r->d.net, spell_dims, r);
}
