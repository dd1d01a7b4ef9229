/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The way back of matrix products, sums over dims, and attention. */
#include "pnnx/pnnx.h"

/* x times a constant matrix, with a bias of one number for each column or none. */
bool pnnx_back_linear(xir_node *at) {
    xir_value *x = xir_node_input(at, 0), *k = xir_node_params(at, 1), *bias = at->n_in > 2 ? xir_node_params(at, 2)
        : NULL;
    if (v_rank(k) != 2 || (bias && (v_rank(bias) != 1 || v_dim(bias, 0) != v_dim(k, 1))))
        return xir_node_unsupported(at, "a product of another form than x W + b");
    if (bias && !xir_type_equal(v_element(bias), v_element(x)))
        return xir_node_unsupported(at, "a bias of other elements than the product");
    return row_becomes(at, INS(x, make_swapped(at, k), bias),
                       SETS(XIR_SETB("bias", bias != NULL), INT("in_features", v_dim(k, 0)),
                            INT("out_features", v_dim(k, 1))));
}

/* Any product; a bias is added. */
bool pnnx_back_matmul(xir_node *at) {
    xir_value *x = xir_node_input(at, 0), *k = xir_node_input(at, 1), *bias = xir_node_optional_input(at, 2);
    if (!bias) return row_becomes(at, INS(x, k), NO_SETS);
    if (v_rank(bias) > v_rank(xir_op_output(at->op, 0)))
        return xir_node_unsupported(at, "a bias of more dims than the product");
    xir_value *y = xir_node_make(at, "Matmul", INS(x, k), NO_SETS);
    if (y && v_is_integer(y)) bias = xir_node_cast(at, bias, v_element(y));   /* sums of integers wrap */
    return xir_node_result(at, 0, xir_node_sum(at, y, bias, 1, 1));
}

/* Sums and products of small integers are 64-bit integers there. */
bool pnnx_back_reduce(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    const bool sum = xir_op_is(at->op, xir_sum_class()), grows = sum || xir_op_is(at->op, xir_prod_class());
    const xir_type *element = v_element(x);
    const bool real = xir_type_kind_of(element) == XIR_TYPE_FLOAT;
    if (!real && !grows) return xir_node_unsupported(at, "a mean of integers");
    if (real || xir_type_storage_bits(element) == 64) return row_becomes(at, INS(x), NO_SETS);
    x = xir_node_cast(at, x, xir_type_sint(xir_node_context(at), 64));
    xir_ints axes = { NULL, 0 };
    (void)xir_node_items(at, "dim", &axes);
    xir_value *y = x ? xir_node_make(at, sum ? "Sum" : "Prod", INS(x),
                                     SETS(LIST("dim", &axes), INT("keepdim", xir_node_bool(at, "keepdim", false))))
                                         : NULL;
    return xir_node_result(at, 0, xir_node_cast(at, y, element));
}

/* So are running sums. PNNX does not write the dtype that PyTorch's function has. */
bool pnnx_back_cumsum(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    const xir_type *element = v_element(x);
    if (xir_type_kind_of(element) == XIR_TYPE_FLOAT || xir_type_storage_bits(element) == 64)
        return row_becomes(at, INS(x), NO_SETS);
    if (xir_node_bool(at, "exclusive", false) || xir_node_bool(at, "reverse", false))
        return xir_node_unsupported(at, "a sum of other elements than those up to each");
    x = xir_node_cast(at, x, xir_type_sint(xir_node_context(at), 64));
    xir_value *y = x ? xir_node_make(at, "CumSum", INS(x), SETS(INT("axis", xir_node_int(at, "axis", 0)))) : NULL;
    return xir_node_result(at, 0, xir_node_cast(at, y, element));
}

bool pnnx_back_einsum(xir_node *at) {
    const xir_str equation = xir_node_text(at, "equation", "");
    char *text = node_take(at, equation.size + 1);
    size_t n = 0;
    if (!text) return node_no_memory(at);
    for (size_t i = 0; i < equation.size; i++)   /* blanks end a word of the file, and mean nothing */
        if (equation.data[i] != ' ') text[n++] = equation.data[i];
    return xir_node_becomes_foreign(at, node_inputs(at), SETS(WORD("equation", ((xir_str){ text, n }))));
}

/* Heads in dim 1; without a cap and a mask of its own. */
bool pnnx_back_sdpa(xir_node *at) {
    xir_value *q = xir_node_input(at, 0), *k = xir_node_input(at, 1), *v = xir_node_input(at, 2),
              *mask = xir_node_optional_input(at, 3);
    if (v_rank(q) != 4) return xir_node_unsupported(at, "heads in the last dim");
    if (xir_node_real(at, "softcap", 0) != 0) return xir_node_unsupported(at, "capped scores");
    const bool causal = xir_node_bool(at, "is_causal", false);
    if (causal && mask) return xir_node_unsupported(at, "a causal mask and another one");
    xir_set sets[4] = { REAL("dropout_p", 0), XIR_SETB("is_causal", causal) };
    size_t n = 2;
    if (v_dim(q, 1) != v_dim(k, 1)) sets[n++] = (xir_set)XIR_SETB("enable_gqa", true);
    if (xir_node_attr(at, "scale")) sets[n++] = (xir_set)REAL("scale", xir_node_real(at, "scale", 1));
    return xir_node_becomes_foreign(at, INS(q, k, v, mask), (xir_sets){ sets, n });
}
