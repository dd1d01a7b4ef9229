/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The costs of ops: multiply-adds, element operations, bytes that are read and written, and parameters. Everything
 * follows from classes, attributes and types; nothing is computed, and no bytes of Params are read. docs/cost.md
 * defines each figure, class by class.
 *
 *     xir_cost sum = XIR_INIT(xir_cost), open = XIR_INIT(xir_cost);
 *     xir_network_cost(net, &sum, &open, why);
 *     printf("%llu multiply-adds, not known of %llu ops\n", sum.multiply_adds, open.multiply_adds);
 *
 * A figure is a number up to INT64_MAX or XIR_COST_UNKNOWN; what is not known is never 0. It is not known
 *   - if it depends on a dim that is open, or on a value without a type (a WORK function returns XIR_E_BOUNDS);
 *   - if it exceeds INT64_MAX;
 *   - multiply-adds, element operations and bytes read: of a class that is not registered, of one of a program or
 *     plug-in that has no WORK row (declare.h), and of one whose WORK function says so (xir_work_unknown): HardOp,
 *     Unknown, Unsupport, and the detectors that the original has given up. */
#ifndef XIR_COST_H
#define XIR_COST_H

#include <xir/network.h>

XIR_BEGIN

#define XIR_COST_UNKNOWN UINT64_MAX

typedef struct xir_cost {
    uint32_t size;              /* XIR_INIT(xir_cost)                                                              */
    uint64_t multiply_adds;     /* products that are added to a sum; a bias is not counted                          */
    uint64_t element_ops;       /* everything else that is done to an element, see work.h                          */
    uint64_t bytes_read;        /* each input once, and the Params in attributes; of an op that picks elements, these */
    uint64_t bytes_written;     /* each output once                                                                */
    uint64_t parameters;        /* elements of its Params: inputs and attributes, also those of its sub ops        */
    uint64_t parameter_bytes;   /* what they take in a file                                                        */
} xir_cost;

/* Sums of two figures: XIR_COST_UNKNOWN if one is, or if the sum exceeds INT64_MAX. */
static inline uint64_t xir_cost_add(uint64_t a, uint64_t b) {
    return a > INT64_MAX || b > INT64_MAX - a ? XIR_COST_UNKNOWN : a + b;
}

/* Fills `out` with the cost of an op, for the current types of its inputs and outputs. Params that an op has twice
 * count once. The Input and the Output of a network compute and move nothing; Params that are results are
 * parameters of the Output. An op that is not valid is accepted too, but its figures mean little. Reads only. If it
 * fails, no figure is known:
 *   XIR_E_MISSING  `op` is NULL, or a draft
 *   XIR_E_INVALID  the WORK function of its class gives no result, a negative number of anything, or reads more of an
 *                  input than there is; the finding names the op ("/ops/17") and the class
 *   others         the WORK function itself failed with this status; the finding says so
 *   XIR_E_MEMORY, XIR_E_ABI */
XIR_API xir_status xir_op_cost(const xir_op *op, xir_cost *out, xir_diags *why);

/* Called for each op; returns false to stop. */
typedef bool xir_cost_fn(void *user, const xir_op *op, const xir_cost *cost);

/* Calls `each` with the cost of every op in execution order. Params of several ops count in the first of them, so that
 * the figures of all ops add up to those of the network. Sub ops are part of their op. `each` must not change the
 * network. A refused op (see xir_op_cost) is a finding, its figures are not known, and the walk goes on; the status is
 * that of the first one. Linear in ops and uses.
 *   XIR_E_MISSING  `net` or `each` is NULL
 *   XIR_E_MEMORY   `each` has not been called for all ops */
XIR_API xir_status xir_network_costs(const xir_network *net, xir_cost_fn *each, void *user, xir_diags *why);

/* Adds up all of it: in `known` the figures that are known, in `unknown` of how many ops each figure is not known. A
 * sum that exceeds INT64_MAX is XIR_COST_UNKNOWN. Either may be NULL. The statuses are those of xir_network_costs and
 * XIR_E_ABI. */
XIR_API xir_status xir_network_cost(const xir_network *net, xir_cost *known, xir_cost *unknown, xir_diags *why);

XIR_END

#endif
