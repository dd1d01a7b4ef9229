/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The way back of quantised numbers, as pairs: DequantizeLinear before an operator, which computes with reals, and
 * QuantizeLinear after it.
 *
 *     Conv2d(q, w) of type t  =>  y = Conv(DequantizeLinear(q), DequantizeLinear(w))
 *                                 QuantizeLinear(y, rounded as XIR does)
 *
 * The parts that an op becomes are plain ops of XIR, which the rows convert. What needs no reals is computed with the
 * integers (back_integers.c). */
#include <math.h>
#include <xir/quant.h>
#include "onnx/back_quantised.h"
#include "onnx/custom.h"

/* ---- ops -------------------------------------------------------------------------------------------------------- */

/* Quantize and BitCast keep the order of axes. */
static bool keeps_dims(xir_node *at, const xir_value *x, const xir_value *y) {
    return v_same_dims(x, y) || xir_node_unsupported(at, "other dims");
}

static bool give(xir_node *at, xir_value *v) { return v && xir_node_result(at, 0, v) && !xir_node_failed(at); }

static bool pair_cast(xir_node *at, xir_value *x, xir_value *y) {
    linear t;
    if (!node_casts_in_place(at, x, y)) return false;
    if (linear_is(y)) return linear_read(at, y, &t) && give(at, linear_rounded(at, x, &t, false));
    if (!linear_read(at, x, &t)) return false;
    const xir_float_type *real = xir_float_type_of(xir_type_object(v_element(y)));
    const bool single = real && real->format == XIR_FLOAT_FP32;
    return give(at, single ? linear_real(at, x, &t) : xir_node_cast(at, linear_real64(at, x, &t), v_element(y)));
}

static bool pair_bits(xir_node *at, xir_value *x, xir_value *y) {
    const xir_type *from = linear_is(x) ? xir_type_storage(v_element(x)) : v_element(x),
                   *to = linear_is(y) ? xir_type_storage(v_element(y)) : v_element(y);
    linear t;
    if (!keeps_dims(at, x, y)) return false;
    if (!xir_type_equal(from, to)) return xir_node_unsupported(at, "bits of another type");
    if ((linear_is(x) && !linear_read(at, x, &t)) || (linear_is(y) && !linear_read(at, y, &t))) return false;
    xir_value *stored = linear_is(x) ? linear_view(at, x, from) : x;
    return give(at, linear_is(y) ? linear_view(at, stored, v_element(y)) : stored);
}

/* Quantised numbers in another type, half to even: with the quotient of both scales, as QLinearConv has it. */
static bool requantise(xir_node *at, xir_value *x, const linear *from, const linear *to) {
    const xir_type *real = linear_reals(at, XIR_FLOAT_FP32), *wide = linear_reals(at, XIR_FLOAT_FP64);
    const size_t n = from->n > to->n ? from->n : to->n;
    const linear *longer = from->n > to->n ? from : to;
    double *ratios = node_reals(at, (int64_t)n), *ones = node_reals(at, (int64_t)to->n);
    if (!ratios || !ones || !real || !wide) return false;
    if (from->n > 1 && to->n > 1 && (from->n != to->n || from->axis != to->axis))
        return xir_node_unsupported(at, "scales along two axes");
    for (size_t i = 0; i < n; i++) {
        ratios[i] = (double)(float)(from->scales[from->n > 1 ? i : 0] / to->scales[to->n > 1 ? i : 0]);
        if (!(ratios[i] > 0) || isinf(ratios[i]))
            return xir_node_unsupported(at, "a quotient of scales that is not a float");
    }
    for (size_t i = 0; i < to->n; i++) ones[i] = 1;
    xir_value *v = xir_node_cast(at, linear_stored(at, x, from), wide);
    if (v && from->any_zero) v = xir_node_sum(at, v, linear_along(at, x, from, wide, linear_zeros(at, from)), 1, -1);
    v = v ? xir_node_cast(at, v, real) : NULL;
    v = v ? xir_node_product(at, v, linear_along(at, x, longer, real, ratios)) : NULL;
    return v && give(at, linear_quantised_by(at, v, to, ones));
}

static bool pair_quantize(xir_node *at, xir_value *x, xir_value *y) {
    linear to, from;
    const bool even = xir_node_is(at, "rounding", "HALF_EVEN"), full = xir_node_bool(at, "full_range", false);
    if (!keeps_dims(at, x, y) || !linear_read(at, y, &to)) return false;
    if (!even) return give(at, linear_rounded(at, x, &to, full));
    if (to.sign && !full) return xir_node_unsupported(at, "half to even without the least integer");
    if (!linear_can_write(at, &to))
        return xir_node_unsupported(at, "QuantizeLinear of %d bits or along an axis", (int)to.bits);
    if (linear_is(x)) return linear_read(at, x, &from) && requantise(at, x, &from, &to);
    const xir_float_type *real = xir_float_type_of(xir_type_object(v_element(x)));
    if (!real || real->format == XIR_FLOAT_FP64) return xir_node_unsupported(at, "other elements than floats");
    return give(at, linear_quantised_by(at, xir_node_cast(at, x, linear_reals(at, XIR_FLOAT_FP32)), &to, to.scales));
}

/* Ops inside of an op belong to it, and to no other one. */
static bool has_parts(const xir_op *op) {
    for (size_t i = 0; i < op->cls->n_fields; i++) {
        xir_attr a;
        if (op->cls->fields[i].kind != XIR_KIND_OPS || xir_op_get(op, op->cls->fields[i].name, &a)) continue;
        if (a.as.ops.size) return true;
    }
    return false;
}

static bool has_quantised_constants(const xir_op *op) {
    for (size_t i = 0; i < op->cls->n_fields; i++) {
        const xir_field *f = &op->cls->fields[i];
        xir_attr a;
        if (f->kind != XIR_KIND_PARAMS || xir_op_get(op, f->name, &a) || a.is_null) continue;
        if (linear_is(a.as.params)) return true;
    }
    return false;
}

/* An output of the op on reals, as the node has it. `full`: with the least integer; `chosen`: it is one of the inputs'
 * numbers. */
static bool give_output(xir_node *at, size_t i, xir_value *y, bool full, bool chosen) {
    const xir_value *old = xir_op_output(at->op, (int64_t)i);
    linear t;
    xir_value *v = y;
    if (v_rank(y) != v_rank(old)) return xir_node_unsupported(at, "output %zu has other dims with reals", i);
    if (linear_is(old)) {
        if (!linear_read(at, old, &t)) return false;
        v = chosen ? linear_chosen(at, y, &t) : linear_rounded(at, y, &t, full);
    } else if (!xir_type_equal(v_element(y), v_element(old))) {
        v = xir_node_cast(at, y, v_element(old));
    }
    return v && xir_node_result(at, i, v);
}

/* A float of fewer bits next to stored numbers: operators take one element type, and those are fp32. */
static bool is_narrow(const xir_value *v) {
    const xir_float_type *real = v ? xir_float_type_of(xir_type_object(v_element(v))) : NULL;
    return real && real->format != XIR_FLOAT_FP32 && real->format != XIR_FLOAT_FP64;
}

static bool reads_stored(const xir_op *op) {
    for (size_t i = 0; i < xir_op_input_count(op); i++)
        if (linear_is(xir_op_input(op, (int64_t)i))) return true;
    return false;
}

static bool pair_any(xir_node *at) {
    const size_t n = xir_op_input_count(at->op);
    xir_value **in = node_take(at, (n + 1) * sizeof *in);
    if (!in) return node_no_memory(at);
    const bool full = onnx_copies(at) && !onnx_fills(at);
    const bool wide = onnx_moves(at);   /* what is moved to another type is not rounded before */
    const bool chosen = !full && onnx_chooses(at);
    if (xir_node_failed(at)) return false;
    for (size_t i = 0; i < n; i++) {
        linear t;
        in[i] = xir_op_input(at->op, (int64_t)i);
        if (is_narrow(in[i]) && !wide && reads_stored(at->op)) {
            const xir_type *real = linear_reals(at, XIR_FLOAT_FP32);
            in[i] = real ? xir_node_cast(at, in[i], real) : NULL;
            if (!in[i]) return false;
        }
        if (!linear_is(in[i])) continue;
        if (!linear_read(at, in[i], &t)) return false;
        const bool exact = wide || (full && t.bits > 16);
        in[i] = exact ? linear_real64(at, in[i], &t) : linear_real(at, in[i], &t);
        if (!in[i]) return false;
    }
    xir_op *op = node_remade(at, in, n);
    if (!op) return false;
    if (xir_op_output_count(op) < at->n_out) return xir_node_unsupported(at, "it has other outputs with reals");
    for (size_t i = 0; i < at->n_out; i++)
        if (!give_output(at, i, xir_op_output(op, (int64_t)i), full, chosen)) return false;
    return !xir_node_failed(at);
}

/* Returns false, with a reason, for ops that have parts, constants or padding that neither form can express. */
static bool is_plain(xir_node *at) {
    for (size_t i = 0, n = op_values(at->op); i < n; i++) {
        const xir_value *v = op_value(at->op, i);
        const xir_tensor_type *type = v ? xir_type_as_tensor(xir_value_type(v)) : NULL;
        if (v && (!type || type->merged_distrs.size)) return xir_node_unsupported(at, "elements that are padding");
    }
    if (has_parts(at->op)) return xir_node_unsupported(at, "ops inside of an op");
    return !has_quantised_constants(at->op) || xir_node_unsupported(at, "quantised constants among its attributes");
}

bool onnx_back_pairs(xir_node *at) {
    xir_value *x = xir_op_input_count(at->op) ? xir_op_input(at->op, 0) : NULL, *y = xir_op_output(at->op, 0);
    if (!is_plain(at)) return false;
    if (x && xir_op_is(at->op, xir_cast_class())) return pair_cast(at, x, y);
    if (x && xir_op_is(at->op, xir_bit_cast_class())) return pair_bits(at, x, y);
    if (x && xir_op_is(at->op, xir_quantize_class())) return pair_quantize(at, x, y);
    return pair_any(at);
}

static bool onnx_back_integers(xir_node *at) { return is_plain(at) && onnx_on_integers(at)(at); }

static bool has_linear(const xir_op *op) {
    for (size_t i = 0; i < xir_op_input_count(op); i++) if (linear_is(xir_op_input(op, (int64_t)i))) return true;
    for (size_t i = 0; i < xir_op_output_count(op); i++) if (linear_is(xir_op_output(op, (int64_t)i))) return true;
    return false;
}

size_t onnx_quantised_ways(xir_node *at, xir_convert_fn *out[2]) {
    size_t n = 0;
    if (!has_linear(at->op)) return 0;
    if (onnx_on_integers(at)) out[n++] = onnx_back_integers;
    out[n++] = onnx_back_pairs;
    return n;
}
