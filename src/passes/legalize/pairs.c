/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Ops with two operands: ranks, shapes; and LayerNorm, whose factors and addends are operands then. */
#include <string.h>
#include "legalize/legalize.h"

/* The operand with dims of 1 in front. */
static xir_value *raise_rank(const legalizer *l, xir_op *op, xir_value *v, size_t rank) {
    const xir_i64s *own = known_dims(v);
    int64_t dims[MOST_DIMS];
    if (!own || own->size >= rank || rank > MOST_DIMS) return NULL;
    const size_t more = rank - own->size;
    for (size_t i = 0; i < rank; i++) dims[i] = i < more ? 1 : own->data[i - more];
    if (value_is_params(v)) return params_shaped(l->net, v, dims, rank);
    return reshape_to(step_at(l, op), v, dims, rank, NULL);
}

static bool equal_ranks(const legalizer *l, xir_op *op, xir_value **out) {
    xir_value *inputs[3] = { xir_op_input(op, 0), xir_op_input(op, 1), xir_op_input(op, 2) };
    const size_t a = xir_type_rank(inputs[0]->type), b = xir_type_rank(inputs[1]->type), rank = a > b ? a : b;
    const bool multiplies = op->cls->decl == xir_matmul_class();
    if (a == b || (multiplies && (a < 2 || b < 2))) return false;   /* a row or column has no dim of 1 in the result */
    xir_value *raised = raise_rank(l, op, inputs[a > b], rank);
    if (!raised) return false;
    inputs[a > b] = raised;
    out[0] = rebuild(l, op, inputs, op->n_inputs, NULL, 0);
    return true;
}

/* The last dim alone, if all others are 1; otherwise all. */
static xir_value *widen(const legalizer *l, xir_op *op, xir_value *v, const xir_i64s *to) {
    const xir_i64s *own = known_dims(v);
    const size_t n = to->size;
    int64_t dims[MOST_DIMS];
    bool scalar = true;
    for (size_t i = 0; i < n; i++) scalar &= own->data[i] == 1;
    if (!value_is_params(v)) {
        xir_expand_attrs a = xir_expand_init();
        a.sizes = *to;
        return XIR_OP(step_at(l, op), expand, .input = v, .attrs = &a);
    }
    for (size_t i = 0; i < n; i++) dims[i] = scalar && i + 1 < n ? 1 : to->data[i];
    return params_repeated(l->net, v, dims, n);
}

static bool is_vector(const xir_i64s *own, const xir_i64s *to) {
    for (size_t i = 0; i + 1 < own->size; i++) {
        if (own->data[i] != 1) return false;
    }
    return own->size && own->data[own->size - 1] == to->data[to->size - 1];
}

static bool equal_shapes(const legalizer *l, xir_op *op, xir_value **out) {
    xir_value *inputs[2] = { xir_op_input(op, 0), xir_op_input(op, 1) };
    const xir_i64s *to = known_dims(&op_outputs(op)[0]);
    bool any = false;
    for (int i = 0; i < 2 && to; i++) {
        const xir_i64s *own = known_dims(inputs[i]);
        if (!own || own->size != to->size) return false;
        const bool same = memcmp(own->data, to->data, to->size * sizeof *to->data) == 0;
        if (same || is_vector(own, to)) continue;
        inputs[i] = widen(l, op, inputs[i], to);
        if (!inputs[i]) return false;
        any = true;
    }
    if (!any) return false;
    out[0] = rebuild(l, op, inputs, 2, NULL, 0);
    return true;
}

/* ---- LayerNorm --------------------------------------------------------------------------------------------------- */

/* A factor for each element of the normalised dims, as an operand that is 1 along the others. */
static xir_value *as_operand(const legalizer *l, const xir_value *v, const xir_i64s *dims, xir_i64s axis) {
    int64_t shape[MOST_DIMS];
    for (size_t i = 0; i < dims->size; i++) shape[i] = 1;
    for (size_t i = 0; i < axis.size; i++) {
        const int64_t k = from_end(axis.data[i], (int64_t)dims->size);
        shape[k] = dims->data[k];
    }
    return params_shaped(l->net, v, shape, dims->size);
}

static bool bare_norm(const legalizer *l, xir_op *op, xir_value **out) {
    const xir_layer_norm_attrs *a = xir_layer_norm_of(op);
    xir_value *x = xir_op_input(op, 0), *gamma = a->gamma, *beta = a->beta;
    const xir_i64s *dims = known_dims(x);
    if (!dims || (!gamma && !beta)) return false;
    xir_layer_norm_attrs bare = *a;
    bare.gamma = bare.beta = NULL;
    xir_value *factor = gamma ? as_operand(l, gamma, dims, a->axis) : NULL;
    xir_value *addend = beta ? as_operand(l, beta, dims, a->axis) : NULL;
    if ((gamma && !factor) || (beta && !addend)) return false;
    xir_value *y = XIR_OP(step_at(l, op), layer_norm, .input = x, .attrs = &bare);
    if (factor) y = XIR_OP(beta ? step_at(l, op) : last_at(l, op), multiply, .lhs = y, .rhs = factor);
    if (addend) y = XIR_OP(last_at(l, op), add, .lhs = y, .rhs = addend);
    out[0] = y;
    return true;
}

const rewrite legalize_pairs[] = {
    { xir_add_class,        equal_ranks,  false },
    { xir_multiply_class,   equal_ranks,  false },
    { xir_matmul_class,     equal_ranks,  false },
    { xir_add_class,        equal_shapes, false },
    { xir_multiply_class,   equal_shapes, false },
    { xir_layer_norm_class, bare_norm,    false },
    { NULL },
};
