/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Nodes with subgraphs that are kept, with their subgraphs as bytes (docs/onnx.md): only the declared types of the
 * subgraphs' outputs are read here, so that the ops after an If have types. */
#include "onnx/control.h"
#include "source_tags.h"

/* ---- the part of protobuf needed here --------------------------------------------------------------------------- */

typedef struct wire { const uint8_t *p, *end; } wire;
typedef struct field { uint32_t number; uint64_t value; wire bytes; } field;

static bool varint(wire *w, uint64_t *out) {
    *out = 0;
    for (unsigned shift = 0; shift < 64 && w->p < w->end; shift += 7) {
        uint8_t byte = *w->p++;
        *out |= (uint64_t)(byte & 127) << shift;
        if (byte < 128) return true;
    }
    return false;
}

/* Reads the next field; false at the end, or if the bytes end inside a field. */
static bool next_field(wire *w, field *f) {
    uint64_t key, size;
    if (w->p == w->end || !varint(w, &key)) return false;
    *f = (field){ .number = (uint32_t)(key >> 3), .bytes = { w->p, w->p } };
    switch (key & 7) {
    case 0: return varint(w, &f->value);
    case 1: size = 8; break;
    case 5: size = 4; break;
    case 2: if (!varint(w, &size)) return false; break;
    default: return false;
    }
    if (size > (uint64_t)(w->end - w->p)) return false;
    f->bytes = (wire){ w->p, w->p + size };
    w->p += size;
    return true;
}

static bool find(wire w, uint32_t number, field *out) {
    while (next_field(&w, out)) if (out->number == number) return true;
    return false;
}

/* ---- types of a graph's outputs --------------------------------------------------------------------------------- */

/* ValueInfoProto has the field type (2), with tensor_type (1), with elem_type (1) and shape (2), with dims (1), with
 * dim_value (1). NULL if a part is missing. */
static const xir_type *declared_type(xir_node *at, wire value) {
    field type, tensor, element, shape, dim, n;
    if (!find(value, 2, &type) || !find(type.bytes, 1, &tensor) || !find(tensor.bytes, 1, &element) ||
        !find(tensor.bytes, 2, &shape)) return NULL;
    const xir_type *of = element.value <= 64 ? onnx_element(at->c->ctx, (int64_t)element.value) : NULL;
    size_t rank = 0;
    for (wire w = shape.bytes; next_field(&w, &dim);) rank += dim.number == 1;
    xir_ints dims = xir_node_make_ints(at, rank, -1);
    if (!of || !dims.v || rank > 32) return NULL;
    rank = 0;
    for (wire w = shape.bytes; next_field(&w, &dim);) {
        if (dim.number != 1) continue;
        if (find(dim.bytes, 1, &n) && n.value <= INT64_MAX) dims.v[rank] = (int64_t)n.value;
        rank++;
    }
    return xir_type_tensor(at->c->ctx, of, NULL, dims.v, dims.n);
}

const xir_type *onnx_body_type(xir_node *at, const char *graph, size_t i) {
    const xir_any *map = xir_node_attr(at, graph);
    const xir_any *bytes = map && map->kind == XIR_ANY_MAP ? xir_map_find(&map->as.map, XIR_STR("onnx.graph")) : NULL;
    uint64_t size;
    field f;
    if (!bytes || bytes->kind != XIR_ANY_PARAMS || !xir_params_has_data(bytes->as.params)) return NULL;
    const uint8_t *p = xir_params_data(bytes->as.params, &size);
    for (wire w = { p, p ? p + size : p }; next_field(&w, &f);) {
        if (f.number == 12 && i-- == 0) return declared_type(at, f.bytes);   /* GraphProto.output */
    }
    return NULL;
}

/* The facts on which both types agree; NULL if there are none. */
static const xir_type *common(xir_node *at, const xir_type *a, const xir_type *b) {
    if (!a || !b || xir_type_rank(a) != xir_type_rank(b) ||
        !xir_type_equal(xir_type_element(a), xir_type_element(b))) return NULL;
    xir_ints dims = xir_node_make_ints(at, xir_type_rank(a), -1);
    for (size_t i = 0; i < dims.n; i++) {
        int64_t d = xir_type_dim(a, (int64_t)i, false);
        if (d == xir_type_dim(b, (int64_t)i, false)) dims.v[i] = d;
    }
    return dims.v ? xir_type_tensor(at->c->ctx, xir_type_element(a), NULL, dims.v, dims.n) : NULL;
}

void onnx_type_if(xir_node *at) {
    for (size_t i = 0; i < at->n_out; i++) {
        const xir_type *then = onnx_body_type(at, "then_branch", i), *other = onnx_body_type(at, "else_branch", i);
        xir_node_type_output(at, i, common(at, then, other));
    }
}

size_t onnx_captured(const xir_node *at) {
    const xir_any *captures = source_tag_find(xir_op_tags(at->op), SOURCE_CAPTURES);
    return captures && captures->kind == XIR_ANY_LIST ? captures->as.list.size : 0;
}

/* A type with one more dim; NULL for a value without a type, or if it cannot be made. */
static const xir_type *stacked(xir_node *at, const xir_type *type, int64_t axis, int64_t length) {
    if (!type) return NULL;
    const size_t rank = xir_type_rank(type) + 1;
    if (axis < 0) axis += (int64_t)rank;
    xir_ints dims = xir_node_make_ints(at, rank, length);
    if (!dims.v || axis < 0 || axis >= (int64_t)rank) return NULL;
    for (size_t k = 0, from = 0; k < rank; k++) {
        if ((int64_t)k != axis) dims.v[k] = xir_type_dim(type, (int64_t)from++, false);
    }
    return xir_type_tensor(at->c->ctx, xir_type_element(type), NULL, dims.v, dims.n);
}

/* The body returns a condition, the carried values, then one slice of each scanned value. */
void onnx_type_loop(xir_node *at) {
    const size_t others = 2 + onnx_captured(at), carried = at->n_in > others ? at->n_in - others : 0;
    for (size_t i = 0; i < at->n_out; i++) {
        const xir_type *type = onnx_body_type(at, "body", i + 1);
        if (i < carried) {   /* may have other dims after each iteration */
            xir_value *first = xir_op_input(at->op, (int64_t)i + 2);
            type = common(at, type, first ? xir_value_type(first) : NULL);
        } else {
            type = stacked(at, type, 0, -1);
        }
        xir_node_type_output(at, i, type);
    }
}

/* The states come first, in inputs and outputs. A scanned value loses its axis in the body, and a result of the body
 * gets one. Version 8 had a batch and other inputs. */
void onnx_type_scan(xir_node *at) {
    const int64_t scanned = xir_node_int(at, "num_scan_inputs", 0);
    const size_t own = at->n_in > onnx_captured(at) ? at->n_in - onnx_captured(at) : 0;
    xir_ints axes = { NULL, 0 }, to = { NULL, 0 };
    if (at->cls->version < 9 || scanned < 1 || (uint64_t)scanned > own) return;
    const size_t states = own - (size_t)scanned;
    (void)xir_node_items(at, "scan_input_axes", &axes);
    (void)xir_node_items(at, "scan_output_axes", &to);
    const xir_value *first = xir_op_input(at->op, (int64_t)states);
    const xir_type *whole = first ? xir_value_type(first) : NULL;
    int64_t axis = axes.n ? axes.v[0] : 0, length = -1;
    if (xir_type_as_tensor(whole)) {
        if (axis < 0) axis += (int64_t)xir_type_rank(whole);
        if (axis >= 0 && axis < (int64_t)xir_type_rank(whole)) length = xir_type_dim(whole, axis, false);
    }
    for (size_t i = 0; i < at->n_out; i++) {
        const xir_type *type = onnx_body_type(at, "body", i);
        if (i < states) {
            const xir_value *state = xir_op_input(at->op, (int64_t)i);
            type = common(at, type, state ? xir_value_type(state) : NULL);
        } else {
            type = stacked(at, type, i - states < to.n ? to.v[i - states] : 0, length);
        }
        xir_node_type_output(at, i, type);
    }
}
