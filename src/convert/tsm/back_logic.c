/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The way back of comparisons and of logic. TensorStack compares for equality alone, and only numbers; the rest follows
 * from the greater of two. A truth is a real 0 or 1 in between, since other formats have no arithmetic of integers.
 * Nothing is less than, greater than or equal to NaN, and so it stays: the greater of NaN and a number is one of them,
 * which does not equal the other. */
#include "tsm/tsm.h"

static const xir_type *reals(xir_node *at) { return xir_type_float(xir_node_context(at), XIR_FLOAT_FP32); }

/* A truth as 0 or 1; other values as they are. */
static xir_value *as_number(xir_node *at, xir_value *x) {
    return x && xir_type_kind_of(v_element(x)) == XIR_TYPE_BOOL ? xir_node_cast(at, x, reals(at)) : x;
}

/* 0 or 1 as the op's result, a truth. */
static bool give_truth(xir_node *at, xir_value *x) {
    return x && tsm_gives(at, "tsm::_cast", INS(x), SETS(INT("dtype", TSM_BOOLEAN)));
}

/* An operand in the dims of the result: `equal` takes operands of one shape. */
static xir_value *spread(xir_node *at, xir_value *x) {
    const xir_value *y = xir_op_output(at->op, 0);
    if (!x || (v_same_dims(x, y) && !v_is_open(x))) return x;
    if (!xir_node_need_dims(at, y, 0, SIZE_MAX)) return NULL;
    const xir_ints dims = xir_node_dims(at, y);
    return dims.v ? xir_node_make(at, "Expand", INS(x), SETS(LIST("sizes", &dims))) : NULL;
}

static xir_value *equal(xir_node *at, xir_value *x, xir_value *y) {
    return xir_node_failed(at) || !x || !y ? NULL : tsm_part(at, "tsm::equal", INS(x, y), NO_SETS, tsm_type(at, 0));
}

/* 1 - x of a truth. */
static xir_value *opposite(xir_node *at, xir_value *x) {
    x = as_number(at, x);
    return x ? xir_node_sum(at, xir_node_scalar(at, v_element(x), 1), x, 1, -1) : NULL;
}

static bool of_truths(xir_node *at) {
    const xir_value *x = xir_node_input(at, 0);
    return x && (xir_type_kind_of(v_element(x)) == XIR_TYPE_BOOL || xir_node_unsupported(at, "bits of integers"));
}

static bool operands(xir_node *at, xir_value **x, xir_value **y) {
    *x = spread(at, as_number(at, xir_node_input(at, 0)));
    *y = spread(at, as_number(at, xir_node_input(at, 1)));
    return !xir_node_failed(at) && *x && *y;
}

/* Equal, NotEqual and Xor; GreaterEqual: x is the greater one; LessEqual: y is the greater one; and the same without
 * equal numbers. */
bool tsm_back_equal(xir_node *at) {
    xir_value *x, *y;
    if (tsm_is_class(at, "Xor") && !of_truths(at)) return false;
    if (!operands(at, &x, &y)) return false;
    if (tsm_is_class(at, "Equal")) return xir_node_result(at, 0, equal(at, x, y));
    if (tsm_is_class(at, "NotEqual") || tsm_is_class(at, "Xor")) return give_truth(at, opposite(at, equal(at, x, y)));
    const bool less = tsm_is_class(at, "Less") || tsm_is_class(at, "LessEqual");
    const bool strict = tsm_is_class(at, "Less") || tsm_is_class(at, "Greater");
    xir_value *most = xir_node_make(at, "Maximum", INS(x, y), NO_SETS), *is = equal(at, most, less ? y : x);
    if (!strict) return xir_node_result(at, 0, is);
    return give_truth(at, xir_node_product(at, as_number(at, is), opposite(at, equal(at, x, y))));
}

bool tsm_back_logic(xir_node *at) {
    xir_value *x = as_number(at, xir_node_input(at, 0)), *y = as_number(at, xir_node_optional_input(at, 1));
    if (!of_truths(at)) return false;
    if (tsm_is_class(at, "Not")) return give_truth(at, opposite(at, x));
    return give_truth(at, tsm_is_class(at, "And") ? xir_node_product(at, x, y)
                                                  : xir_node_make(at, "Maximum", INS(x, y), NO_SETS));
}
