/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The way back of operations on quantised numbers that are operations on the integers which they store: without a
 * DequantizeLinear before and a QuantizeLinear after them.
 *
 *     Reshape(q)    =>  Reshape(integers)              elements that only move, and a Pad with a number of the type
 *     MaxPool2d(q)  =>  MaxPool(integers), Clip        maxima and minima of numbers of one scale
 *     ReLU(q)       =>  Clip(integers)                 a bound is an integer too, for ReLU the zero point
 *
 * XIR stores no result as the least signed integer, -128 of 8 bits, but moves it: hence the Clip. What moves a constant
 * is computed at once. */
#include <math.h>
#include "onnx/back_quantised.h"
#include "spec/borders.h"
#include "walk/walk.h"

/* ---- which ops -------------------------------------------------------------------------------------------------- */

static bool is_one_of(const xir_node *at, const char *const *names, size_t n) {
    for (size_t i = 0; i < n; i++) if (node_is_class(at, names[i])) return true;
    return false;
}

bool onnx_moves(const xir_node *at) {
    static const char *const names[] = { "Copy", "Transpose", "Reshape", "Squeeze", "Slice", "Expand", "PixelShuffle",
                                         "Concat", "Split", "Stack", "Tile", "Gather", "Unstack", "Roll", "SwapOrder",
                                         "ChannelShuffle", "GatherElements", "GatherND", "Pad" };
    return is_one_of(at, names, COUNT(names));
}

static bool has_zero_points(const xir_value *v) {
    const xir_i64s zeros = xir_type_zero_points(xir_value_type(v));
    for (size_t i = 0; i < zeros.size; i++) if (zeros.data[i]) return true;
    return false;
}

/* Returns true if quantised values around the op are of one type or, with `by_storage`, store the same integers. */
static bool is_one_type(const xir_op *op, bool by_storage) {
    const xir_type *all = NULL;
    for (size_t i = 0, n = op_values(op); i < n; i++) {
        const xir_value *v = op_value(op, i);
        if (i >= xir_op_input_count(op) && !linear_is(v)) return false;
        if (!v || !linear_is(v)) continue;
        const xir_type *own = by_storage ? xir_type_storage(v_element(v)) : v_element(v);
        if (all && !xir_type_equal(all, own)) return false;
        all = own;
    }
    return all;
}

/* Returns true if the quantised types of the outputs are those that inference gives the op. */
static bool follows(xir_node *at) {
    const xir_type **types;
    const xir_status status = onnx_inferred(at, at->op, &types);
    bool same = !status;
    for (size_t i = 0; same && i < xir_op_output_count(at->op); i++) {
        const xir_value *v = xir_op_output(at->op, (int64_t)i);
        same = xir_type_as_tensor(types[i]) && xir_type_equal(xir_type_element(types[i]), v_element(v));
    }
    return same;
}

bool onnx_copies(xir_node *at) {
    const bool copies = onnx_moves(at) ||
                        (node_is_class(at, "Unfold") && !has_zero_points(xir_op_output(at->op, 0))) ||
                        (node_is_class(at, "ScatterND") && xir_node_is(at, "reduction", "NONE")) ||
                        (node_is_class(at, "Upsample") && xir_node_is(at, "interpolation", "NEAREST")) ||
                        (node_is_class(at, "Resize") && xir_node_is(at, "interpolation", "INTER_NEAREST"));
    /* the types of inputs and outputs agree, or scales and zero points follow the elements */
    return copies && (is_one_type(at->op, false) || (is_one_type(at->op, true) && follows(at)));
}

bool onnx_fills(const xir_node *at) { return node_is_class(at, "Pad") && xir_node_is(at, "mode", "CONSTANT"); }

/* Returns true if all inputs are quantised numbers of the type of all outputs. */
static bool is_within_one_type(const xir_op *op) {
    for (size_t i = 0; i < xir_op_input_count(op); i++) if (!linear_is(xir_op_input(op, (int64_t)i))) return false;
    return is_one_type(op, false);
}

/* Maxima and minima. */
static const char *const choosing[] = { "MaxPool1d", "MaxPool2d", "MaxPool3d", "Max", "Min", "Maximum", "Minimum" };

bool onnx_chooses(const xir_node *at) {
    return is_one_of(at, choosing, COUNT(choosing)) && is_within_one_type(at->op);
}

/* Their operators take integers from version 12 on. */
static bool selects(xir_node *at) {
    static const char *const keys[] = { "onnx::MaxPool", "onnx::MaxPool", "onnx::MaxPool", "onnx::ReduceMax",
                                        "onnx::ReduceMin", "onnx::Max", "onnx::Min" };
    for (size_t i = 0; i < COUNT(choosing); i++) {
        if (!node_is_class(at, choosing[i])) continue;
        return is_within_one_type(at->op) &&
               onnx_takes(at, keys[i], xir_type_storage(v_element(xir_op_output(at->op, 0))));
    }
    return false;
}

static bool clamps(xir_node *at) {
    static const char *const names[] = { "ReLU", "ClampScalar", "Hardtanh" };
    return is_one_of(at, names, COUNT(names)) && is_within_one_type(at->op) &&
           onnx_takes(at, "onnx::Clip", xir_type_storage(v_element(xir_op_output(at->op, 0))));
}

/* ---- integers --------------------------------------------------------------------------------------------------- */

/* The integer that XIR stores a real as. Returns false after a failure. */
static bool stored_number(xir_node *at, const linear *t, double real, double *out) {
    tensor_elements e;
    uint8_t bytes[8] = { 0 };
    const int64_t one = 1;
    const xir_type *type = xir_type_tensor(at->c->ctx, t->element, NULL, &one, 1);
    const xir_status status = type ? elements_open(&e, context_alloc(at->c->ctx), type, NULL) : XIR_E_MEMORY;
    if (status == XIR_E_MEMORY) return node_no_memory(at);
    if (status) return xir_node_unsupported(at, "numbers that cannot be stored");
    elements_write_reals(&e, bytes, 0, 1, &real);
    elements_read_stored(&e, bytes, 0, 1, out);
    elements_close(&e);
    return true;
}

/* The inputs of the node, quantised ones as integers. NULL after a failure. */
static xir_value **stored_inputs(xir_node *at, size_t n) {
    xir_value **in = node_take(at, (n + 1) * sizeof *in);
    for (size_t i = 0; in && i < n; i++) {
        linear t;
        in[i] = xir_op_input(at->op, (int64_t)i);
        if (!linear_is(in[i])) continue;
        if (!linear_read(at, in[i], &t) || !(in[i] = linear_stored(at, in[i], &t))) return NULL;
    }
    return in;
}

/* Gives output i of the node these integers; `limited`: without the least signed one. */
static bool give_integers(xir_node *at, size_t i, xir_value *v, bool limited) {
    const xir_value *old = xir_op_output(at->op, (int64_t)i);
    linear t;
    if (xir_node_failed(at) || !v || !linear_read(at, old, &t)) return false;
    if (v_rank(v) != v_rank(old)) return xir_node_unsupported(at, "output %zu has other dims with integers", i);
    if (limited && t.sign) v = linear_clamped(at, v, -t.most, t.most);
    return v && xir_node_result(at, i, linear_view(at, v, t.element));
}

/* The constant that an op of constants computes, or NULL. */
static xir_value *computed(xir_node *at, xir_op *op) {
    bool constant = xir_op_output_count(op) == 1;
    for (size_t i = 0; i < xir_op_input_count(op); i++) {
        const xir_value *v = xir_op_input(op, (int64_t)i);
        constant &= !v || (xir_value_is_params(v) && xir_params_has_data(v));
    }
    xir_value *made = constant ? conversion_run_constant(at->c, op, xir_value_name(xir_op_input(op, 0))) : NULL;
    if (at->c->no_memory) node_no_memory(at);
    return made;
}

/* The node's op on integers. */
static bool on_integers(xir_node *at, bool limited) {
    const size_t n = xir_op_input_count(at->op);
    xir_value **in = stored_inputs(at, n);
    xir_op *op = in ? node_remade(at, in, n) : NULL;
    if (!op) return false;
    if (xir_op_output_count(op) < at->n_out) return xir_node_unsupported(at, "it has other outputs with integers");
    xir_value *constant = computed(at, op);
    if (constant) return xir_op_erase(op) == XIR_OK && give_integers(at, 0, constant, limited);
    for (size_t i = 0; i < at->n_out; i++)
        if (!give_integers(at, i, xir_op_output(op, (int64_t)i), limited)) return false;
    return !xir_node_failed(at);
}

/* ---- the forms -------------------------------------------------------------------------------------------------- */

/* The number of new elements of a Pad. If it is stored as 0, they are moved as all others; otherwise the executor
 * stores all elements again. */
static bool padded(xir_node *at) {
    borders b;
    linear t;
    if (!linear_read(at, xir_op_output(at->op, 0), &t) || !borders_of_op(at, xir_op_input(at->op, 0), &b)) return false;
    if (!t.any_zero && b.value == 0) return on_integers(at, false);
    if (t.n > 1) return xir_node_unsupported(at, "new elements along several scales");
    if (!stored_number(at, &t, b.value, &b.value)) return false;
    return give_integers(at, 0, op_of_borders(at, linear_stored(at, xir_op_input(at->op, 0), &t), &b), true);
}

static bool moved(xir_node *at) {
    xir_value *x = xir_op_input(at->op, 0);
    if (node_is_class(at, "Copy") && is_one_type(at->op, false)) return xir_node_result(at, 0, x);
    if (onnx_fills(at)) return padded(at);
    return on_integers(at, false);
}

/* A larger integer is a larger number where there is one scale, which is above 0. */
static bool selected(xir_node *at) {
    linear t;
    if (!linear_read(at, xir_op_output(at->op, 0), &t)) return false;
    if (t.n > 1) return xir_node_unsupported(at, "several scales");
    return on_integers(at, true);
}

/* Sets the bounds of the results, which are infinite where there are none. Returns false for other forms of the op. */
static bool bounds_of(const xir_node *at, double *low, double *high) {
    if (node_is_class(at, "ReLU")) {
        *low = 0, *high = xir_node_real(at, "max_value", INFINITY);
        return xir_node_real(at, "alpha", 0) == 0 && xir_node_real(at, "threshold", 0) == 0 && *high >= 0;
    }
    const bool hard = node_is_class(at, "Hardtanh");
    *low = xir_node_real(at, hard ? "min_val" : "min", -INFINITY);
    *high = xir_node_real(at, hard ? "max_val" : "max", INFINITY);
    return *low <= *high;
}

static bool clamped(xir_node *at) {
    linear t;
    double low, high;
    xir_value *x = xir_op_input(at->op, 0);
    if (!linear_read(at, xir_op_output(at->op, 0), &t)) return false;
    if (t.n > 1) return xir_node_unsupported(at, "several scales");
    if (!bounds_of(at, &low, &high)) return xir_node_unsupported(at, "this form of it");
    if (!stored_number(at, &t, low, &low) || !stored_number(at, &t, high, &high)) return false;
    if (low <= t.least && high >= t.most) return xir_node_result(at, 0, x);   /* all integers are within the bounds */
    return give_integers(at, 0, linear_clamped(at, linear_stored(at, x, &t), low, high), false);
}

xir_convert_fn *onnx_on_integers(xir_node *at) {
    if (!xir_op_input_count(at->op) || !xir_op_output_count(at->op)) return NULL;
    return onnx_copies(at) ? moved : selects(at) ? selected : clamps(at) ? clamped : NULL;
}
