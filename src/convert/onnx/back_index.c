/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The way back of elements by index. Indices are 32-bit or 64-bit integers in ONNX, lists of positions 64-bit ones. */
#include "onnx/back.h"
#include "spec/one_axis.h"

/* Integers of 32 or 64 bits. */
static xir_value *index_of(xir_node *at, xir_value *v) {
    const xir_integer_type *whole = xir_integer_type_of(xir_type_object(v_element(v)));
    return whole && whole->sign && xir_type_storage_bits(v_element(v)) == 32 ? v : onnx_long(at, v);
}

/* Unstack: an element of the axis for each output, which does not have the axis then. */
static bool elements_of_axis(xir_node *at) {
    const one_axis a = one_axis_of(at, "attribute/dim", 0);
    const xir_type *whole = xir_type_sint(at->c->ctx, 64);
    if (!whole) return node_no_memory(at);
    for (size_t i = 0; i < at->n_out; i++) {
        const xir_value *old = xir_op_output(at->op, (int64_t)i);
        const xir_ints dims = node_own_dims(at, old);
        xir_node_result(at, i, onnx_call(at, "onnx::Gather", INS(a.x, xir_node_scalar(at, whole, (double)i)),
                                         SETS(AXIS("axis", a)), v_element(old), &dims));
    }
    return !xir_node_failed(at);
}

bool onnx_back_gather(xir_node *at) {
    if (node_is_class(at, "Unstack")) return elements_of_axis(at);
    const one_axis a = one_axis_of(at, "attribute/axis", 0);
    xir_value *index = xir_node_input(at, 1);
    return index && onnx_becomes(at, INS(a.x, index_of(at, index)), SETS(AXIS("axis", a)));
}

bool onnx_back_gather_nd(xir_node *at) {
    const int64_t batch = xir_node_int(at, "batch_dims", 0);
    xir_value *x = xir_node_input(at, 0), *index = onnx_long(at, xir_node_input(at, 1));
    if (batch && onnx_target(at) < 12) return xir_node_unsupported(at, "positions for each of a batch");
    return onnx_becomes(at, INS(x, index), (xir_sets){ &(xir_set)INT("batch_dims", batch), batch ? 1 : 0 });
}

bool onnx_back_scatter_nd(xir_node *at) {
    static const char *const words[][2] = { { "ADD", "add" }, { "MUL", "mul" }, { "MAX", "max" }, { "MIN", "min" } };
    xir_value *x = xir_node_input(at, 0), *index = onnx_long(at, xir_node_input(at, 1)), *more = xir_node_input(at, 2);
    xir_set how = WORD("reduction", XIR_STR("none"));
    size_t n = 0;
    if (!x || !index || !more || !onnx_is_new_enough(at)) return false;
    for (size_t i = 0; i < COUNT(words); i++) {
        if (!xir_node_is(at, "reduction", words[i][0])) continue;
        how.text = xir_str_of(words[i][1]);
        n = 1;
    }
    return onnx_becomes(at, INS(x, index, more), (xir_sets){ &how, n });
}

bool onnx_back_non_zero(xir_node *at) { return onnx_becomes(at, INS(xir_node_input(at, 0)), NO_SETS); }

/* One number in one dim, or NULL. */
static xir_value *in_one_dim(xir_node *at, xir_value *v) {
    return v && v_rank(v) != 1 ? make_shaped(at, v, (int64_t[]){ 1 }, 1) : v;
}

/* XIR gives positions in the elements of x. */
bool onnx_back_top_k(xir_node *at) {
    const one_axis a = one_axis_of(at, "attribute/axis", -1);
    xir_value *x = a.x, *k = in_one_dim(at, onnx_long(at, xir_node_input(at, 1)));
    if (!x || !k) return false;
    const xir_type *own = v_element(x), *whole = xir_type_sint(at->c->ctx, 64),
                   *wide = onnx_element_for(at, "onnx::TopK", own);
    if (!whole) return node_no_memory(at);
    if (!wide) return xir_node_unsupported(at, "elements that TopK does not take");
    const xir_type *type = xir_value_type(xir_op_output(at->op, 0));
    const xir_type *types[] = { xir_type_with_element(at->c->ctx, type, wide, NULL),
                                xir_type_with_element(at->c->ctx, type, whole, NULL) };
    if (!types[0] || !types[1]) return node_no_memory(at);
    x = xir_node_cast(at, x, wide);
    xir_op *op = xir_node_make_foreign(at, at->to->row->name, INS(x, k),
                                       SETS(AXIS("axis", a), INT("largest", xir_node_bool(at, "largest", true)),
                                            INT("sorted", xir_node_bool(at, "sorted", true))), types, 2);
    at->main = op;
    if (op && !onnx_name_rest(at, op)) return false;
    for (size_t i = 0; op && i < at->n_out; i++)
        xir_node_result(at, i, xir_node_cast(at, xir_op_output(op, (int64_t)i),
                                             v_element(xir_op_output(at->op, (int64_t)i))));
    return op && !xir_node_failed(at);
}

/* Reals are floats there; limits have one dim. */
bool onnx_back_boxes(xir_node *at) {
    const xir_type *real = xir_type_float(at->c->ctx, XIR_FLOAT_FP32);
    xir_value *in[5] = { NULL };
    if (!real) return node_no_memory(at);
    for (size_t i = 0; i < 5; i++) {
        xir_value *v = xir_node_optional_input(at, i);
        if (!v) continue;
        if (i == 2) in[i] = in_one_dim(at, onnx_long(at, v));
        else in[i] = i < 2 ? xir_node_cast(at, v, real) : in_one_dim(at, xir_node_cast(at, v, real));
    }
    return onnx_becomes(at, (xir_values){ in, 5 },
                        SETS(INT("center_point_box", xir_node_bool(at, "center_point_box", false))));
}
