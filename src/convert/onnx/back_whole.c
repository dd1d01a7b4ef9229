/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The way back of convolutions of integers, which ONNX's Conv does not take: as reals that have all the sums, and then
 * as integers that wrap as XIR's do. Floats have the sums of 8 bits up to about a thousand products, doubles all others
 * of up to 16 bits. */
#include <math.h>
#include "onnx/back.h"

/* Returns the number of bits of a sum of the op, with its sign; 0: unknown. */
static double bits_of_sums(const xir_value *x, const xir_value *kernel, const xir_value *bias) {
    double products = 1;
    for (size_t i = 0; i < v_rank(kernel); i++) products *= v_dim(kernel, i) > 0 ? (double)v_dim(kernel, i) : 0;
    if (products <= 0) return 0;
    const double bits = (double)xir_type_storage_bits(v_element(x)) + (double)xir_type_storage_bits(v_element(kernel));
    const double added = bias ? (double)xir_type_storage_bits(v_element(bias)) : 0;
    const double sums = bits + ceil(log2(products)) + 1;
    return (sums > added ? sums : added) + 1;
}

bool onnx_back_whole_conv(xir_node *at) {
    xir_value *x = xir_node_input(at, 0), *kernel = xir_node_input(at, 1), *bias = xir_node_optional_input(at, 2);
    const xir_value *y = xir_op_output(at->op, 0);
    const bool whole = v_is_integer(kernel) && (!bias || v_is_integer(bias)) && v_is_integer(y);
    const double bits = whole ? bits_of_sums(x, kernel, bias) : 0;
    if (!whole || bits <= 0 || bits > 53) return xir_node_unsupported(at, "sums of integers that no real has");
    const xir_type *real = xir_type_float(at->c->ctx, bits <= 24 ? XIR_FLOAT_FP32 : XIR_FLOAT_FP64),
                   *wide = xir_type_sint(at->c->ctx, 64);
    if (!real || !wide) return node_no_memory(at);
    xir_value *in[] = { xir_node_cast(at, x, real), xir_node_cast(at, kernel, real),
                        bias ? xir_node_cast(at, bias, real) : NULL };
    xir_op *op = xir_node_failed(at) ? NULL : node_remade(at, in, bias ? 3 : 2);
    xir_value *v = op ? xir_node_cast(at, xir_op_output(op, 0), wide) : NULL;
    return v && xir_node_result(at, 0, xir_node_cast(at, v, v_element(y)));
}
