/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Loops over what a network is made of. In all of them `break` and `continue` mean what they mean in a `for`.
 *
 *     XIR_EACH_OP(op, net)
 *         XIR_EACH_INPUT(v, op)
 *             if (v && xir_value_is_params(v)) bytes += bytes_of(v);
 */
#ifndef XIR_EACH_H
#define XIR_EACH_H

#include <xir/network.h>

/* Every op in execution order. The body may erase or replace this op, but not the one after it. Ops that it adds right
 * after this one are not met. */
#define XIR_EACH_OP(op, net)                                                                                          \
    for (xir_op *op = xir_network_first(net), *op##_next_ = op ? xir_op_next(op) : NULL; op;                          \
         op = op##_next_, op##_next_ = op ? xir_op_next(op) : NULL)

/* Every input of an op by position, NULL for an absent one, and every output. The body may set inputs, but not change
 * how many there are. */
#define XIR_EACH_INPUT(value, op)  XIR_EACH_PORT_(value, op, xir_op_input_count, xir_op_input)
#define XIR_EACH_OUTPUT(value, op) XIR_EACH_PORT_(value, op, xir_op_output_count, xir_op_output)

/* The uses of a value, in no particular order; xir_use_op and xir_use_index tell which input of which op it is. The
 * body may take away this use, but no other. */
#define XIR_EACH_USE(use, value)                                                                                      \
    for (const xir_use *use = xir_value_uses(value), *use##_next_ = use ? xir_use_next(use) : NULL; use;              \
         use = use##_next_, use##_next_ = use ? xir_use_next(use) : NULL)

/* The outer loop counts, the inner one declares the value and runs once. `_on_` tells whether it ended or was left. */
#define XIR_EACH_PORT_(value, op, count, at)                                                                          \
    for (size_t value##_at_ = 0, value##_n_ = count(op), value##_on_ = 1; value##_on_ && value##_at_ < value##_n_;    \
         value##_at_++, value##_on_ = !value##_on_)                                                                   \
        for (xir_value *value = at((op), (int64_t)value##_at_); value##_on_; value##_on_ = 0)

#endif
