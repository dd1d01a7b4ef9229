/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The work of an op: an estimate from its class, attributes and types, without computing anything. It bounds what the
 * library computes implicitly, and it is a cost model for comparing ops or networks.
 *
 * There are two figures; no step counts in both:
 *   multiply-adds        products that are added to a sum: in convolutions, matrix products, interpolations
 *   element operations   everything else done to an element: a function of it, a comparison, a move. Producing an
 *                        element of an output counts as one
 * They count what the definition of an op takes. How a machine does it (blocking, conversions, memory) is not
 * included. Dims of tiled types count with their padding. Figures above INT64_MAX are UINT64_MAX.
 *
 * It is always a number, so that a limit can be kept. xir/cost.h says the same figures of an op, and its bytes, where
 * they are known, and says where they are not. */
#ifndef XIR_WORK_H
#define XIR_WORK_H

#include <xir/infer.h>

XIR_BEGIN

typedef struct xir_work {
    uint32_t size;            /* XIR_INIT(xir_work) */
    uint64_t multiply_adds;
    uint64_t element_ops;
} xir_work;

/* Sums and products that are UINT64_MAX if they exceed INT64_MAX. */
static inline uint64_t xir_work_add(uint64_t a, uint64_t b) {
    return a > INT64_MAX || b > INT64_MAX - a ? UINT64_MAX : a + b;
}
static inline uint64_t xir_work_times(uint64_t a, uint64_t b) {
    return a && b > INT64_MAX / a ? UINT64_MAX : a * b;
}
/* Both figures as one number of steps, the unit of the limits: a multiply-add is one step, an element operation ten.
 * That is about what they cost in the reference executor, conversions included. It runs 2 * 10^9 steps in a second or
 * two. */
static inline uint64_t xir_work_steps(const xir_work *work) {
    return xir_work_add(work->multiply_adds, xir_work_times(work->element_ops, 10));
}

/* Fills `out` with the work of an op, for the current types of its inputs and outputs. An op whose class has no WORK
 * function, or one that does not know (xir_work_unknown), or is not registered, counts one element operation for each
 * element of its outputs. An op that is not valid is accepted too, but its figures mean little. Reads only.
 *   XIR_E_BOUNDS   it depends on an unknown dim or a missing type: both figures are 0
 *   XIR_E_MISSING  `op` is NULL: both figures are 0
 *   XIR_E_ABI */
XIR_API xir_status xir_op_work(const xir_op *op, xir_work *out, xir_diags *why);

/* ---- for WORK functions ----------------------------------------------------------------------------------------- */

/* A WORK function sees what an inference function sees, plus the types of the outputs (xir_infer_output). It adds up
 * what the op takes and returns xir_work_result. It must accept any types, since the op may not have been checked. */

/* The number of elements of a type; a dim of it, from the end if negative, 1 if there is no such dim. An unknown dim
 * counts as 1, a missing type (NULL) as 0, and xir_work_result then fails with XIR_E_BOUNDS. */
XIR_API uint64_t xir_work_elements(xir_infer *at, const xir_type *type);
XIR_API uint64_t xir_work_dim(xir_infer *at, const xir_type *type, int64_t axis);
/* The number of elements of all outputs. */
XIR_API uint64_t xir_work_outputs(xir_infer *at);
/* Ends a WORK function with the two figures. */
XIR_API xir_status xir_work_result(xir_infer *at, uint64_t multiply_adds, uint64_t element_ops);
/* Ends a WORK function of an op without multiply-adds: that there are none is known even if a dim is not. */
XIR_API xir_status xir_work_elementwise(xir_infer *at, uint64_t element_ops);
/* Ends a WORK function of an op whose work is unknown; before xir_work_result, whose figures are then an estimate for
 * limits alone. */
XIR_API xir_status xir_work_unknown(xir_infer *at);

/* Says how many elements of input `i` the op reads, for xir/cost.h: without this, it reads each of them once. At most
 * all of them; once for an input; only the first 64 inputs are noted. */
XIR_API void xir_work_reads(xir_infer *at, size_t i, uint64_t elements);

XIR_END

#endif
