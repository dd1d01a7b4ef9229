/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The rows read for one op. The parts of a whole are one run of bytes each if all dims before the axis are 1. A tiled
 * axis runs by its tiles, of which all but the last must be full, as inference demands. */
#include "shares.h"
#include "class_shares.h"
#include "graph.h"

bool shares_same_places(const xir_type *a, const xir_type *b) {
    if (a == b) return true;
    int64_t in_a, in_b;
    return ((!xir_type_is_layouted(a) && !xir_type_is_layouted(b)) || xir_type_equal(a, b)) &&
           !xir_type_elements(a, &in_a) && !xir_type_elements(b, &in_b) && in_a == in_b &&
           xir_type_storage_bits(a) == xir_type_storage_bits(b);
}

bool shares_names_input(const xir_op *op, size_t input) {
    const class_more *more = op->cls->more;
    const size_t port = input < more->n_inputs ? input : more->n_inputs - (size_t)1;
    return port < 64 && more->shares.inputs >> port & 1;
}

bool shares_is_view(const xir_op *op, size_t input) {
    const xir_value *v = input < op->n_inputs ? op_inputs(op)[input].value : NULL;
    const xir_type *type = op_outputs(op)[0].type;
    return v && v->type && xir_type_equal(xir_type_element(v->type), xir_type_element(type)) &&
           shares_same_places(v->type, type);
}

/* ---- parts ------------------------------------------------------------------------------------------------------- */

static bool has_bytes(const xir_value *v, uint64_t *bytes) {
    return v && v->type && xir_type_as_tensor(v->type) && !xir_type_bytes(v->type, bytes);
}

/* Bytes of equal elements, in equal tiles. */
static bool is_like(const xir_value *part, const xir_value *whole) {
    const bool tiled = xir_type_is_layouted(whole->type);
    return xir_type_equal(xir_type_element(part->type), xir_type_element(whole->type)) &&
           tiled == xir_type_is_layouted(part->type) &&
           (!tiled || xir_type_layout(part->type) == xir_type_layout(whole->type));
}

/* The dim along which an op joins or divides; for a tile, the one that counts the tiles. -1: there is none. */
static int64_t axis_of(const xir_op *op, const xir_type *type) {
    const int64_t rank = (int64_t)xir_type_rank(type), *axis = body_at(op->attrs, op->cls->more->shares.along);
    const int64_t at = *axis < 0 ? *axis + rank : *axis;
    if (at < 0 || at >= rank) return -1;
    const char letter = xir_type_is_layouted(type) ? xir_layout_axis(xir_type_layout(type), (size_t)at) : 0;
    return letter >= 'a' ? xir_layout_index(xir_type_layout(type), (char)(letter - 'a' + 'A')) : at;
}

/* The parts follow each other, and fill the whole. */
static bool begin_list(shares_parts *p) {
    uint64_t all, sum = 0, bytes;
    if (!has_bytes(p->whole, &all)) return false;
    const int64_t axis = axis_of(p->op, p->whole->type);
    for (int64_t k = 0; k < axis; k++)
        if (xir_type_dim(p->whole->type, k, false) != 1) return false;
    for (uint32_t i = 0; i < p->n && axis >= 0; i++) {
        const xir_value *part = p->joins ? op_inputs(p->op)[i].value : &op_outputs(p->op)[i];
        if (!has_bytes(part, &bytes) || !is_like(part, p->whole) || !add_u64(sum, bytes, &sum)) return false;
    }
    return axis >= 0 && sum == all;
}

/* A slice is a run if its dims before the last one that it cuts are 1. */
static bool begin_slice(shares_parts *p) {
    const class_shares *row = &p->op->cls->more->shares;
    const xir_i64s *from = body_at(p->op->attrs, row->along), *by = body_at(p->op->attrs, row->by);
    const xir_type *in = p->whole->type, *out = op_outputs(p->op)[0].type;
    const size_t rank = xir_type_rank(in);
    uint64_t all, bytes, run, first = 0;
    int64_t elements;
    if (!has_bytes(p->whole, &all) || !has_bytes(&op_outputs(p->op)[0], &bytes) || xir_type_is_layouted(in) ||
        !is_like(&op_outputs(p->op)[0], p->whole) || xir_type_elements(in, &elements) || !elements) return false;
    if (xir_type_rank(out) != rank || from->size != rank || by->size != rank || p->op->n_inputs > 1) return false;
    run = all / (uint64_t)elements;
    if (run * (uint64_t)elements != all || !bytes) return false;   /* elements of whole bytes */
    bool cut = false;
    for (size_t k = rank; k-- > 0;) {
        const int64_t dim = xir_type_dim(in, (int64_t)k, false), now = xir_type_dim(out, (int64_t)k, false);
        const int64_t start = from->data[k] < 0 ? from->data[k] + dim : from->data[k];
        if (by->data[k] != 1 || (cut && now != 1)) return false;
        first += run * (uint64_t)(start < 0 ? 0 : start > dim ? dim : start);
        run *= (uint64_t)dim;
        cut = cut || now != dim;
    }
    p->at = first;
    return first <= all && bytes <= all - first;
}

bool shares_begin_parts(const xir_op *op, shares_parts *out) {
    const class_shares *row = &op->cls->more->shares;
    if (row->kind < SHARES_DIVIDES || op_has_children(op)) return false;
    const size_t input = (size_t)__builtin_ctzll(row->inputs);
    *out = (shares_parts){ .op = op, .joins = row->kind == SHARES_JOINS };
    out->n = out->joins ? op->n_inputs : op->n_outputs;
    out->whole = out->joins ? (op->n_outputs == 1 ? &op_outputs(op)[0] : NULL)
                            : input < op->n_inputs ? op_inputs(op)[input].value : NULL;
    if (!out->whole || !out->n || (out->joins && input)) return false;
    return row->kind == SHARES_PICKS ? begin_slice(out) : begin_list(out);
}

bool shares_next_part(shares_parts *p, const xir_value **part, uint64_t *offset, uint64_t *bytes) {
    if (p->i == p->n) return false;
    *part = p->joins ? op_inputs(p->op)[p->i].value : &op_outputs(p->op)[p->i];
    p->i++;
    *offset = p->at;
    (void)has_bytes(*part, bytes);
    p->at += *bytes;
    return true;
}
