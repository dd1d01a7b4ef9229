/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The constants of convolutions and matrix products for maps that hold x / N: weights w * Nx / Nz by input and output
 * channel, a bias b / Nz. Of two maps the product gets the cut_scale Nx * Ny / Nz. Where a constant has no dim with the
 * channels of a map, these have one ratio. */
#include <xir/exec.h>
#include <xir/icraft.h>
#include <xir/ops.h>
#include "factors.h"
#include "support/upkeep.h"

static bool is_matmul(const xir_op *op) { return xir_op_is(op, xir_matmul_class()); }

/* Transposed convolutions have no padding mode. */
static bool is_transposed(const xir_op *op) {
    return !is_matmul(op) && !xir_class_field(op->cls, XIR_STR("padding_mode"));
}

static int64_t groups_of(const xir_op *op) {
    xir_attr groups;
    return !is_matmul(op) && xir_op_get(op, XIR_STR("groups"), &groups) == XIR_OK ? groups.as.i64 : 1;
}

static bool is_two_maps(const xir_op *op) { return is_stored(xir_op_input(op, 0)) && is_stored(xir_op_input(op, 1)); }

static bool has_cut(const xir_op *op) {
    xir_attr cut;
    if (!xir_class_field(op->cls, XIR_STR("cut_scale")) || xir_op_get(op, XIR_STR("cut_scale"), &cut)) return false;
    return xir_scales_count(xir_scales_of(cut.as.ref)) > 0;
}

bool product_factors_fit(const quantizing *q, const xir_op *op) {
    const xir_value *x = xir_op_input(op, 0), *y = xir_op_input(op, 1), *bias = xir_op_input(op, 2);
    if (has_cut(op) && !q->again) return false;
    if (is_stored(x) && is_stored(y)) return !bias && xir_class_field(op->cls, XIR_STR("cut_scale"));
    if (bias && !is_constant(bias)) return false;
    if (is_stored(x)) return is_constant(y);
    return is_constant(x) && is_stored(y) && is_matmul(op) && (q->real_maps || q->again);
}

/* ---- which channels are joined ----------------------------------------------------------------------------------- */

/* A map whose channels are not the dim C of its layout has one ratio. */
static void even_unless_channels(quantizing *q, const xir_value *v) {
    const map_channels *c = ratios_of(&q->plan, v);
    const int64_t dim = xir_layout_index(xir_type_layout(v->type), 'C');
    if (c && (dim < 0 || c->axis + (int64_t)xir_type_rank(v->type) != dim)) ratios_even(&q->plan, v);
}

static void join_matmul(quantizing *q, const xir_value *x, const xir_value *y, const xir_value *z) {
    const xir_value *weights = is_stored(x) ? y : x;
    const bool plain = xir_type_rank(y->type) >= 2;   /* the result has the last dim of y */
    if (is_stored(y)) {
        ratios_even(&q->plan, x);
        even_unless_last(q, y, last_dim(z->type));
    } else even_unless_last(q, x, last_dim(x->type));
    if (!plain || weights == x) {
        ratios_even(&q->plan, y);
        ratios_even(&q->plan, z);
    }
}

void product_factors_join(quantizing *q, const xir_op *op) {
    const xir_value *x = xir_op_input(op, 0), *y = xir_op_input(op, 1), *bias = xir_op_input(op, 2);
    const xir_value *z = xir_op_output(op, 0);
    if (is_matmul(op)) join_matmul(q, x, y, z);
    else {
        even_unless_channels(q, x);
        even_unless_channels(q, z);
    }
    if (is_stored(x) && is_stored(y) && (!is_matmul(op) || !q->real_maps)) {
        ratios_even(&q->plan, x);
        ratios_even(&q->plan, y);
        ratios_even(&q->plan, z);
    }
    if (bias && is_matmul(op) && last_dim(bias->type) != last_dim(z->type)) ratios_even(&q->plan, z);
    if (bias && !is_matmul(op) && bias_axis(bias->type, xir_type_axis_dim(z->type, 'C', false)) < 0)
        ratios_even(&q->plan, z);
}

/* ---- ratios of constants ----------------------------------------------------------------------------------------- */

/* In groups, the weights of output channel o begin with input channel o / (O / groups) * I. */
static xir_status conv_ratios(const quantizing *q, const xir_op *op, constant *w) {
    const xir_type *type = w->value->type;
    const int64_t in = xir_layout_index(xir_type_layout(type), 'I'), out = xir_layout_index(xir_type_layout(type), 'O');
    const int64_t groups = groups_of(op);
    xir_status status = factors_along(q, w->value, in, xir_op_input(op, 0), &w->read);
    if (!status) status = factors_along(q, w->value, out, xir_op_output(op, 0), &w->given);
    if (status || groups <= 1) return status;
    const size_t n_in = (size_t)xir_type_dim(type, in, false), n_out = (size_t)xir_type_dim(type, out, false);
    const size_t inner_in = elements_after_dim(type, in), inner_out = elements_after_dim(type, out);
    constant_ratios *r = is_transposed(op) ? &w->given : &w->read;
    if (r->n == 1) return XIR_OK;
    r->rule = is_transposed(op)
        ? (channel_rule){ inner_out, n_out, inner_in, n_in, n_in / (size_t)groups, n_out }
        : (channel_rule){ inner_in, n_in, inner_out, n_out, n_out / (size_t)groups, n_in };
    return XIR_OK;
}

static xir_status matmul_ratios(const quantizing *q, const xir_op *op, bool first, constant *w) {
    const int64_t rank = (int64_t)xir_type_rank(w->value->type);
    const xir_value *map = xir_op_input(op, first ? 1 : 0);
    xir_status status = factors_along(q, w->value, first ? -1 : rank >= 2 ? rank - 2 : 0, map, &w->read);
    return status ? status : factors_along(q, w->value, first || rank < 2 ? -1 : rank - 1, xir_op_output(op, 0),
                                           &w->given);
}

static xir_status bias_ratios(const quantizing *q, const xir_op *op, constant *bias) {
    const xir_value *z = xir_op_output(op, 0);
    const int64_t rank = (int64_t)xir_type_rank(bias->value->type);
    const int64_t dim = is_matmul(op) ? rank - 1 : bias_axis(bias->value->type, xir_type_axis_dim(z->type, 'C', false));
    return factors_along(q, bias->value, dim, z, &bias->given);
}

xir_status product_open(quantizing *q, const xir_op *op, int64_t axis, constant *weights, constant *bias) {
    const bool first = is_constant(xir_op_input(op, 0));
    xir_value *b = xir_op_input(op, 2);
    *bias = (constant){ .value = NULL };
    xir_status status = constant_open(q, op, xir_op_input(op, first ? 0 : 1), axis, weights);
    if (!status) status = is_matmul(op) ? matmul_ratios(q, op, first, weights) : conv_ratios(q, op, weights);
    if (status || !b) return status;
    const int64_t bias_dim = weights->n > 1 ? bias_axis(b->type, (int64_t)weights->n) : -1;
    status = constant_open(q, op, b, bias_dim, bias);
    return status ? status : bias_ratios(q, op, bias);
}

/* ---- new constants ----------------------------------------------------------------------------------------------- */

xir_status operand_apply(quantizing *q, xir_op *op, uint32_t at, const constant *c) {
    const xir_type *was = xir_type_element(c->value->type);
    const xir_type *element = xir_type_kind_of(was) == XIR_TYPE_FLOAT ? was : xir_type_expressed(was);
    xir_value *made = constant_store(q, c, element, NULL, 0);
    return made ? xir_op_set_input(op, at, made) : XIR_E_MEMORY;
}

xir_status cut_apply(quantizing *q, xir_op *op) {
    const xir_value *x = xir_op_input(op, 0), *y = xir_op_input(op, 1), *z = xir_op_output(op, 0);
    const ratio_plan *p = &q->plan;
    if (!q->real_maps) return buyi_cut(q, op);
    if (q->again && !has_cut(op)) return XIR_OK;   /* the types determine everything */
    const bool even = ratios_are_even(p, x) && ratios_are_even(p, y) && ratios_are_even(p, z);
    const size_t n = even ? 1 : (size_t)last_dim(z->type);
    double *cut = mem_new(&q->net->alloc, n * sizeof *cut);
    if (!cut) return XIR_E_MEMORY;
    for (size_t c = 0; c < n; c++) cut[c] = ratio_at(p, x, c) * ratio_at(p, y, c) / ratio_at(p, z, c);
    const xir_scales *scales = xir_scales_from(q->net->ctx, cut, n, -1);
    mem_free(&q->net->alloc, cut, n * sizeof *cut);
    return scales ? xir_op_set(op, XIR_STR("cut_scale"), &(xir_attr){ .kind = XIR_KIND_REF,
                               .as.ref = (const xir_object *)scales }) : XIR_E_MEMORY;
}

xir_status product_factors_apply(quantizing *q, xir_op *op) {
    if (is_two_maps(op)) return cut_apply(q, op);
    const uint32_t at = is_constant(xir_op_input(op, 0)) ? 0 : 1;
    const xir_value *map = xir_op_input(op, 1 - (int64_t)at), *z = xir_op_output(op, 0);
    constant w = { 0 }, bias = { 0 };
    if (!factors_matter(q, map) && !factors_matter(q, z)) return XIR_OK;
    xir_status status = product_open(q, op, -1, &w, &bias);
    if (!status) status = operand_apply(q, op, at, &w);
    if (!status && bias.value && factors_matter(q, z)) status = operand_apply(q, op, 2, &bias);
    constant_close(q, &w);
    constant_close(q, &bias);
    return status;
}
