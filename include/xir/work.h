/* How much an op computes: an estimate from its class, attributes and types, before anything is computed. It bounds
 * what the library computes on its own, and is a cost for whoever compares ops or networks.
 *
 * Two figures, which no op counts a step under both of:
 *   multiply-adds        products that become part of a sum: those of convolutions, matrix products, interpolations
 *   element operations   everything else that is done to an element: a function of it, a comparison, a move; each element of an output
 *                        counts once for being made
 * They say what the definition of an op takes. What a machine makes of it (blocking, conversions, memory) is not in
 * them. Dims of tiled types count with their padding. Figures that 64 bits cannot hold are UINT64_MAX. */
#ifndef XIR_WORK_H
#define XIR_WORK_H

#include <xir/infer.h>

XIR_BEGIN

typedef struct xir_work {
    uint32_t size;            /* XIR_INIT(xir_work) */
    uint64_t multiply_adds;
    uint64_t element_ops;
} xir_work;

/* Sums and products that stop at UINT64_MAX. */
static inline uint64_t xir_work_add(uint64_t a, uint64_t b) { return a > UINT64_MAX - b ? UINT64_MAX : a + b; }
static inline uint64_t xir_work_times(uint64_t a, uint64_t b) { return a && b > UINT64_MAX / a ? UINT64_MAX : a * b; }
/* Both figures in one number, steps, which is what limits count: a multiply-add is one, an element operation is ten,
 * since that is about what they take in the reference executor, conversions included. 2 * 10^9 steps are a second or
 * two. */
static inline uint64_t xir_work_steps(const xir_work *work) {
    return xir_work_add(work->multiply_adds, xir_work_times(work->element_ops, 10));
}

/* Fills `out` with the work of an op, for the types that its inputs and outputs have now. An op of a class that does
 * not say how much it computes, or that nobody registered, takes an element operation for each element of its outputs.
 * Any op may be asked, also one that is not valid: the figures of such a one mean little. Only reads.
 *   XIR_E_BOUNDS   it depends on a dim that is not known, or on a type that is not there: both figures are 0
 *   XIR_E_MISSING  `op` is NULL: both figures are 0
 *   XIR_E_ABI */
XIR_API xir_status xir_op_work(const xir_op *op, xir_work *out, xir_diags *why);

/* ---- for WORK functions ----------------------------------------------------------------------------------------- */

/* A WORK function sees what an inference function sees, and the types of the outputs (xir_infer_output). It adds up
 * what the op takes and returns xir_work_result. It must bear any types: the op may not have been checked. */

/* The elements of a type; a dim of it, from the end if negative, 1 if there is no such dim. A dim that is not known
 * counts as 1 and a type that is none (NULL) as 0, and xir_work_result then fails with XIR_E_BOUNDS. */
XIR_API uint64_t xir_work_elements(xir_infer *at, const xir_type *type);
XIR_API uint64_t xir_work_dim(xir_infer *at, const xir_type *type, int64_t axis);
/* The elements of all outputs. */
XIR_API uint64_t xir_work_outputs(xir_infer *at);
/* Ends a WORK function: the figures. */
XIR_API xir_status xir_work_result(xir_infer *at, uint64_t multiply_adds, uint64_t element_ops);

XIR_END

#endif
