/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Dims. A dim is a number, a name, or nothing. The name is what the file said (the tag source.dims) as long as it still
 * means the dim; otherwise a symbol's name, or the text of an expression.
 *
 * Where the reader alone would not make the same dims of these texts, the entry xir.symbols of metadata_props has the
 * symbols with their intervals, one a line ("0..8 batch"); then every dim that is an expression over them is read as
 * one. */
#include <stdio.h>
#include "name_dims.h"
#include "onnx/write.h"
#include "symbols.h"

#define SYMBOLS_KEY XIR_STR("xir.symbols")

static const xir_any *said_of(const xir_value *v, size_t i) {
    const xir_any *tag = source_tag_find(proto_value_tags(v), SOURCE_DIMS);
    return tag && tag->kind == XIR_ANY_LIST && i < tag->as.list.size ? &tag->as.list.items[i] : NULL;
}

/* Returns true if the text of the tag is what the reader would make this dim of. */
static bool stands_for(proto_writer *w, xir_str text, int64_t dim) {
    expr e;
    if (dim == XIR_UNKNOWN_DIM) return true;
    if (!expr_of_name(&w->net->pool, text, &e) || expr_no_memory(&w->net->pool)) return proto_no_memory(w);
    return expr_is_symbolic(e) && e == dim;
}

static xir_str symbol_name(proto_writer *w, int64_t dim) {
    const size_t i = symbol_of(&w->net->pool, dim);
    const symbol *s = i == SIZE_MAX ? NULL : symbol_at(&w->net->pool, i);
    return s ? s->name : XIR_STR("");
}

/* The reader's own name for a dim that the file does not name. */
static bool is_unnamed(proto_writer *w, int64_t dim, const xir_any *said) {
    const xir_str name = symbol_name(w, dim);
    const bool named = said && said->kind == XIR_ANY_TEXT && symbol_name_ok(said->as.text);
    return name.size > 1 && name.data[0] == '?' && !named;
}

static xir_str print_dim(proto_writer *w, int64_t dim) {
    const xir_str name = symbol_name(w, dim);
    buffer text;
    xir_str kept = XIR_STR("");
    if (name.size) return name;
    buffer_init(&text, w->alloc);
    expr_print(&w->net->pool, dim, &text);
    if (text.failed || !arena_text(&w->scratch, (xir_str){ text.data, text.size }, &kept)) proto_no_memory(w);
    buffer_free(&text);
    return kept;
}

proto_dim proto_dim_of(proto_writer *w, const xir_value *v, size_t i) {
    const int64_t dim = ((const xir_tensor_type *)v->type)->shape.data[i];
    if (dim >= 0) return (proto_dim){ .has_value = true, .value = dim };
    const xir_any *said = said_of(v, i);
    const bool unnamed = dim_is_symbolic(dim) && !w->spells && is_unnamed(w, dim, said);
    if (said && said->kind == XIR_ANY_INT && (unnamed || dim == XIR_UNKNOWN_DIM))
        return (proto_dim){ .has_value = true, .value = said->as.integer };
    if (said && said->kind == XIR_ANY_TEXT && (unnamed || stands_for(w, said->as.text, dim)))
        return (proto_dim){ .name = said->as.text };
    if (dim == XIR_UNKNOWN_DIM || unnamed) return (proto_dim){ .has_value = false };
    return (proto_dim){ .name = print_dim(w, dim) };
}

/* ---- the entry ------------------------------------------------------------------------------------------------- */

/* Returns true if the reader would take the name of a symbol for an expression over others. */
static bool is_ambiguous(proto_writer *w, xir_str name, int64_t dim) {
    form_error why = { 0 };
    expr e;
    const bool parsed = expr_parse_known(&w->net->pool, name, &e, &why);
    if (why.status == XIR_E_MEMORY || expr_no_memory(&w->net->pool)) proto_no_memory(w);
    return parsed && e != dim;
}

/* Emulates the reader on the dims of the inputs: those without a name are "?0", "?1", … in their order. */
static bool input_reads_back(proto_writer *w, const xir_value *v, size_t *unnamed) {
    const xir_tensor_type *tensor = xir_type_as_tensor(v->type);
    for (size_t i = 0; tensor && i < tensor->shape.size; i++) {
        const int64_t dim = tensor->shape.data[i];
        const xir_any *said = said_of(v, i);
        if (!dim_is_symbolic(dim)) continue;
        if (is_unnamed(w, dim, said)) {
            char name[32];
            snprintf(name, sizeof name, "?%zu", (*unnamed)++);
            if (!xir_str_equal(symbol_name(w, dim), xir_str_of(name))) return false;
            continue;
        }
        const xir_str name = symbol_name(w, dim);
        const bool kept = said && said->kind == XIR_ANY_TEXT && stands_for(w, said->as.text, dim);
        if (!kept && (!name.size || is_ambiguous(w, name, dim))) return false;
    }
    return true;
}

static bool is_plain(void *user, xir_value *v) {
    const proto_writer *w = user;
    return !symbolic_type(v) || (value_op(v) && value_op(v) == w->input);
}

static bool reads_back(proto_writer *w) {
    size_t unnamed = 0;
    const symbol *s;
    for (size_t i = 0; (s = symbol_at(&w->net->pool, i)); i++)
        if (s->least != 0 || s->most != SYMBOL_MOST) return false;
    if (!net_walk_values(w->net, is_plain, w)) return false;
    for (uint32_t i = 0; w->input && i < w->input->n_outputs; i++)
        if (!input_reads_back(w, &op_outputs(w->input)[i], &unnamed)) return false;
    return true;
}

bool proto_list_symbols(proto_writer *w) {
    w->spells = w->net->pool.symbols && !reads_back(w);
    return !proto_failed(w);
}

void proto_put_symbols(proto_writer *w, uint32_t field) {
    const symbol *s;
    if (!w->spells) return;
    const proto_message m = proto_open(w, field);
    proto_put_text(w, 1, SYMBOLS_KEY);
    const proto_message value = proto_open(w, 2);
    for (size_t i = 0; (s = symbol_at(&w->net->pool, i)); i++) {
        char text[64];
        const int n = snprintf(text, sizeof text, "%s%lld..%lld ", i ? "\n" : "", (long long)s->least,
                               (long long)s->most);
        proto_put(w, text, (size_t)n);
        proto_put(w, s->name.data, s->name.size);
    }
    proto_close(w, value);
    proto_close(w, m);
}
