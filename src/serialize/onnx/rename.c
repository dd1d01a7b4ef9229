/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* New names for the values that a graph takes from outside (xir/onnx.h): the bytes are copied, and each use of such a
 * value gets its new name. A graph inside defines names of its own, which hide those outside of it. */
#include <xir/onnx.h>
#include "codec/codec.h"
#include "onnx/write.h"

enum { GRAPH_NODE = 1, GRAPH_INITIALIZER = 5, GRAPH_INPUT = 11, GRAPH_OUTPUT = 12, GRAPH_SPARSE = 15,
       NODE_INPUT = 1, NODE_OUTPUT = 2, NODE_ATTRIBUTE = 5, ATTRIBUTE_G = 6, ATTRIBUTE_GRAPHS = 11, INFO_NAME = 1,
       TENSOR_NAME = 8, SPARSE_VALUES = 1 };

typedef struct renaming {
    const xir_allocator *alloc;
    const xir_str       *names;        /* the old name, then the new one, and so on                     */
    text_table           old, now;     /* -> the number of the pair                                     */
    uint32_t            *hidden, *taken;   /* by pair: graphs around it that define the old name, the new one */
    uint32_t             depth, deepest;
    xir_status           status;
    const char          *fault;
} renaming;

static bool fail(renaming *r, xir_status status, const char *fault) {
    if (!r->status) r->status = status, r->fault = fault;
    return false;
}

static bool at_end(renaming *r, const wire *w) {
    return w->fault == WIRE_GOOD || fail(r, XIR_E_SYNTAX, wire_fault_text(w->fault));
}

static xir_str text_of(wire_bytes b) { return (xir_str){ (const char *)b.at, b.size }; }

/* ---- scopes ----------------------------------------------------------------------------------------------------- */

/* Counts a name that a graph defines, or no longer does. */
static void count(renaming *r, xir_str name, bool defines) {
    const uint32_t *hides = text_table_find(&r->old, name), *takes = text_table_find(&r->now, name);
    const uint32_t by = defines ? 1 : UINT32_MAX;
    if (hides) r->hidden[*hides] += by;
    if (takes) r->taken[*takes] += by;
}

/* Counts the texts of a field in a message. */
static bool count_texts(renaming *r, wire_bytes message, uint32_t field, bool defines) {
    wire_field f;
    wire w = wire_of(message);
    while (wire_next(&w, &f)) if (f.number == field && f.kind == WIRE_BYTES) count(r, text_of(f.bytes), defines);
    return at_end(r, &w);
}

static bool count_sparse(renaming *r, wire_bytes sparse, bool defines) {
    wire_field f;
    wire w = wire_of(sparse);
    bool ok = true;
    while (ok && wire_next(&w, &f))
        if (f.number == SPARSE_VALUES && f.kind == WIRE_BYTES) ok = count_texts(r, f.bytes, TENSOR_NAME, defines);
    return ok && at_end(r, &w);
}

static bool count_all(renaming *r, wire_bytes graph, bool defines) {
    wire_field f;
    wire w = wire_of(graph);
    bool ok = true;
    while (ok && wire_next(&w, &f)) {
        if (f.kind != WIRE_BYTES) continue;
        switch (f.number) {
        case GRAPH_NODE:        ok = count_texts(r, f.bytes, NODE_OUTPUT, defines); break;
        case GRAPH_INITIALIZER: ok = count_texts(r, f.bytes, TENSOR_NAME, defines); break;
        case GRAPH_INPUT:       ok = count_texts(r, f.bytes, INFO_NAME, defines); break;
        case GRAPH_SPARSE:      ok = count_sparse(r, f.bytes, defines); break;
        default:                break;
        }
    }
    return ok && at_end(r, &w);
}

/* ---- copies ----------------------------------------------------------------------------------------------------- */

static void put_field(buffer *out, uint32_t field, const void *data, size_t size) {
    uint8_t head[PROTO_HEAD];
    const uint8_t *end = proto_varint(proto_varint(head, proto_key(field, WIRE_BYTES)), size);
    buffer_put(out, head, (size_t)(end - head));
    if (size) buffer_put(out, data, size);
}

static bool put_use(renaming *r, const wire_field *f, buffer *out) {
    xir_str name = text_of(f->bytes);
    const uint32_t *pair = text_table_find(&r->old, name);
    if (pair && !r->hidden[*pair]) {
        if (r->taken[*text_table_find(&r->now, r->names[2 * (size_t)*pair + 1])])
            return fail(r, XIR_E_EXISTS, "a graph inside defines a value of the new name");
        name = r->names[2 * (size_t)*pair + 1];
    }
    put_field(out, f->number, name.data, name.size);
    return true;
}

/* Copies a message. Its fields of the wanted numbers go through `each`, which puts them out. */
typedef bool field_fn(renaming *r, const wire_field *f, buffer *out);
static bool copy_with(renaming *r, wire_bytes message, field_fn *each, buffer *out) {
    wire_field f;
    wire w = wire_of(message);
    bool ok = true;
    while (ok && wire_next(&w, &f)) {
        if (f.kind == WIRE_BYTES) ok = each(r, &f, out);
        else buffer_put(out, f.at, (size_t)(w.at - f.at));
    }
    if (out->failed) return fail(r, XIR_E_MEMORY, "out of memory");
    return ok && at_end(r, &w);
}

static bool put_inner(renaming *r, const wire_field *f, field_fn *each, buffer *out) {
    buffer inner;
    buffer_init(&inner, r->alloc);
    const bool ok = copy_with(r, f->bytes, each, &inner);
    if (ok) put_field(out, f->number, inner.data, inner.size);
    buffer_free(&inner);
    return ok;
}

static bool put_as_is(const wire_field *f, buffer *out) {
    put_field(out, f->number, f->bytes.at, f->bytes.size);
    return true;
}

static bool graph_field(renaming *r, const wire_field *f, buffer *out);

static bool attribute_field(renaming *r, const wire_field *f, buffer *out) {
    if (f->number != ATTRIBUTE_G && f->number != ATTRIBUTE_GRAPHS) return put_as_is(f, out);
    if (r->depth >= r->deepest) return fail(r, XIR_E_LIMIT, "graphs are nested too deeply");
    r->depth++;
    const bool ok = count_all(r, f->bytes, true) && put_inner(r, f, graph_field, out) && count_all(r, f->bytes, false);
    r->depth--;
    return ok;
}

static bool node_field(renaming *r, const wire_field *f, buffer *out) {
    if (f->number == NODE_INPUT) return put_use(r, f, out);
    return f->number == NODE_ATTRIBUTE ? put_inner(r, f, attribute_field, out) : put_as_is(f, out);
}

/* A result that comes straight from outside is used by its name. */
static bool output_field(renaming *r, const wire_field *f, buffer *out) {
    return f->number == INFO_NAME ? put_use(r, f, out) : put_as_is(f, out);
}

static bool graph_field(renaming *r, const wire_field *f, buffer *out) {
    if (f->number == GRAPH_NODE) return put_inner(r, f, node_field, out);
    return f->number == GRAPH_OUTPUT ? put_inner(r, f, output_field, out) : put_as_is(f, out);
}

/* ---- all -------------------------------------------------------------------------------------------------------- */

static bool begin(renaming *r, const xir_str *names, size_t n) {
    text_table_init(&r->old, r->alloc);
    text_table_init(&r->now, r->alloc);
    r->names = names;
    r->hidden = mem_new(r->alloc, (2 * n + 1) * sizeof *r->hidden);
    if (!r->hidden) return fail(r, XIR_E_MEMORY, "out of memory");
    memset(r->hidden, 0, (2 * n + 1) * sizeof *r->hidden);
    r->taken = r->hidden + n;
    for (size_t i = 0; i < n; i++) {
        const bool added = text_table_add(&r->old, names[2 * i], (uint32_t)i) &&
                           text_table_add(&r->now, names[2 * i + 1], (uint32_t)i);
        if (!added) return fail(r, XIR_E_MEMORY, "out of memory");
    }
    return true;
}

static xir_value *made_of(renaming *r, const xir_value *graph, const buffer *out) {
    xir_value *made = xir_params_new(xir_value_network(graph), xir_value_name(graph), xir_value_type(graph));
    const int64_t size = (int64_t)out->size;
    xir_context *ctx = xir_network_context(xir_value_network(graph));
    const xir_type *type = xir_type_tensor(ctx, xir_type_element(xir_value_type(graph)), NULL, &size, 1);
    const bool typed = made && type && !xir_value_set_type(made, type);
    if (typed && !xir_params_set_copy(made, out->data, out->size)) return made;
    fail(r, XIR_E_MEMORY, "out of memory");
    return NULL;
}

xir_value *xir_onnx_rename_captures(const xir_value *graph, const xir_str *names, size_t n, xir_diags *why) {
    if (!graph || (n && !names)) return diag_null(why, graph ? "names" : "graph"), NULL;
    if (!xir_value_is_params(graph))
        return diag_fail(why, XIR_E_TYPE, XIR_STR(""), "the bytes of a graph are Params"), NULL;
    uint64_t size = 0;
    const void *data = xir_params_data(graph, &size);
    if (!data && !xir_params_has_data(graph))
        return diag_fail(why, XIR_E_MISSING, XIR_STR(""), "the bytes of the graph were not loaded"), NULL;
    xir_context *ctx = xir_network_context(xir_value_network(graph));
    const uint32_t deepest = ctx->limits.max_depth;
    renaming r = { .alloc = context_alloc(ctx), .deepest = deepest < CODEC_DEEPEST ? deepest : CODEC_DEEPEST };
    const wire_bytes message = { data, (size_t)size };
    buffer out;
    buffer_init(&out, r.alloc);
    xir_value *made = NULL;
    if (begin(&r, names, n) && count_all(&r, message, true) && copy_with(&r, message, graph_field, &out))
        made = made_of(&r, graph, &out);
    if (r.status == XIR_E_MEMORY) diag_memory(why);
    else if (r.status) diag_fail(why, r.status, XIR_STR(""), "%s", r.fault);
    buffer_free(&out);
    text_table_free(&r.old);
    text_table_free(&r.now);
    mem_free(r.alloc, r.hidden, (2 * n + 1) * sizeof *r.hidden);
    return made;
}
