/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The part of an input that a part of an output needs. A class answers in its NEEDS row (declare.h), from attributes
 * and dims alone; nothing is computed. A part is a box: an interval of indices along each dim.
 *
 *     xir_box part = XIR_INIT(xir_box), in[2] = { XIR_INIT(xir_box), XIR_INIT(xir_box) };
 *     xir_box_whole(xir_value_type(y), &part, why);
 *     part.begin[1] = 8, part.end[1] = 16;                         rows 8 to 15 of y
 *     xir_op_needed(xir_value_op(y), 0, &part, in, 2, why);        in[0]: the rows of the map that they need
 *
 * A box that is needed exactly is the smallest one that has all elements on which an element of the part depends, for
 * some values of the inputs. A class without the row, and an op whose attributes do not tell (a Reshape with computed
 * dims), needs the whole of its inputs: that is always right, but often not exact. */
#ifndef XIR_NEEDED_H
#define XIR_NEEDED_H

#include <xir/network.h>

XIR_BEGIN

/* Tensors of more dims have no boxes. */
#define XIR_BOX_DIMS 8

/* Elements of a tensor: along dim k those with an index from begin[k] to end[k] - 1. */
typedef struct xir_box {
    uint32_t size;                    /* XIR_INIT(xir_box)                                                        */
    uint32_t rank;                    /* the number of dims                                                       */
    uint32_t none;                    /* 1: no element; begin and end are then 0                                  */
    uint32_t exact;                   /* 1, in an answer: nothing smaller is needed; 0: it may be more            */
    int64_t  begin[XIR_BOX_DIMS], end[XIR_BOX_DIMS];
} xir_box;

/* Fills `out` with all elements of a type. Fails with a finding that names the dim:
 *   XIR_E_TYPE    not a tensor type, or NULL
 *   XIR_E_BOUNDS  a dim is unknown
 *   XIR_E_LIMIT   more than XIR_BOX_DIMS dims
 *   XIR_E_ABI */
XIR_API xir_status xir_box_whole(const xir_type *type, xir_box *out, xir_diags *why);
/* The number of elements of a box; 0 if there are none, UINT64_MAX if the number exceeds 64 bits. */
XIR_API uint64_t   xir_box_elements(const xir_box *box);

/* The answers that a class gives for its ops. */
typedef enum xir_needs {
    XIR_NEEDS_ALL,        /* no NEEDS row: the whole inputs                                                       */
    XIR_NEEDS_SUPERSET,   /* what is needed, and perhaps more                                                     */
    XIR_NEEDS_EXACT       /* what is needed exactly, unless an input computes dims or positions                   */
} xir_needs;
XIR_API xir_needs xir_class_needs(const xir_class *cls);

/* Fills the first `n` boxes of `needed`, one for each input, with the parts of the inputs that a part of an output
 * needs. An absent input, or one that the op does not need, gets none; so do boxes beyond the inputs. `part` lies
 * within the output. An op that is not valid is accepted, but the answer means little. Reads only; time depends on the
 * number of inputs, and not on dims (an exact answer about a dilated window, or about mirrored padding, may take up to
 * 65536 steps; beyond these the answer is not exact).
 *   XIR_E_MISSING  `op`, `part` or `needed` is NULL; the op is a draft
 *   XIR_E_BOUNDS   no such output; the part is not within it or has another rank; a dim is unknown
 *   XIR_E_TYPE     an input or the output is not a tensor
 *   XIR_E_LIMIT    one has more than XIR_BOX_DIMS dims
 *   XIR_E_MEMORY, XIR_E_ABI */
XIR_API xir_status xir_op_needed(const xir_op *op, size_t output, const xir_box *part, xir_box *needed, size_t n,
                                 xir_diags *why);

/* Called for each value that is needed in part. */
typedef void xir_needed_fn(void *user, const xir_value *value, const xir_box *part);

/* Asks what parts of values need through several ops: the parts of `values` that are in `parts` (an array of n_values
 * boxes) are made by a set of ops, in any order, of the execution order of the network. Calls `each` once for each
 * value of which a part is needed, among them the given ones, values that enter the set, and Params: a value whose
 * parts several ops need gets the smallest box around them. A Call is asked through its body, whose own values are not
 * reported. A box that is not exact for one op is not for what follows from it; nor is one around several parts that
 * are not in one of them. Linear in ops and inputs, apart from sorting the ops.
 *   XIR_E_MISSING  an argument is NULL
 *   XIR_E_INVALID  an op is not placed in the network, or listed twice; a value is not of the network
 *   others         as xir_op_needed; the finding names the op */
XIR_API xir_status xir_region_needed(const xir_network *net, xir_op *const *ops, size_t n,
                                     const xir_value *const *values, const xir_box *parts, size_t n_values,
                                     xir_needed_fn *each, void *user, xir_diags *why);

/* ---- for NEEDS functions ---------------------------------------------------------------------------------------- */

/* A NEEDS function sees what an inference function sees, the types of the outputs (xir_infer_output), and the part of
 * an output that is asked about. It narrows the boxes of the inputs, which begin as the whole inputs. All types are
 * tensors of known dims, but the op may not have been checked: a function that meets what it does not understand
 * returns a status other than XIR_OK, and then the whole inputs are needed. */

/* The output, and its part, which is not empty. */
XIR_API size_t         xir_needs_output(const xir_infer *at);
XIR_API const xir_box *xir_needs_part(const xir_infer *at);
/* Of input `i`, along a dim, only indices from begin to end - 1 are needed; what lies outside of the dim is ignored,
 * and if nothing remains, nothing of the input is needed. Inputs and dims that do not exist are ignored. */
XIR_API void xir_needs_along(xir_infer *at, size_t i, size_t dim, int64_t begin, int64_t end);
/* Nothing of input `i` is needed. */
XIR_API void xir_needs_none(xir_infer *at, size_t i);
/* The box of input `i` may be more than what is needed. */
XIR_API void xir_needs_wide(xir_infer *at, size_t i);

/* Some questions come with another: may an op of the class compute the part alone, from the parts of the inputs
 * (tiles.h)? A function that accepts calls xir_tile_same, or sets the attributes that such an op has; all others
 * remain. Then the boxes are the inputs of this op, and may be more than what the part needs. Any other function is
 * asked for the whole output instead.
 *     xir_tile_asked   returns true if this is asked
 *     xir_tile_same    yes; attributes that are set below are the only ones that differ
 *     xir_tile_i64     an attribute is this number
 *     xir_tile_i64s    an attribute is this list, of at most 2 * XIR_BOX_DIMS numbers
 *     xir_tile_type    an attribute is the type of the output of this op
 *     xir_tile_makes   along a dim, the op computes more than the part: indices from begin to end - 1
 * `name` is a literal. Too many attributes, or too long a list, mean that the op cannot compute a part. */
XIR_API bool xir_tile_asked(const xir_infer *at);
XIR_API void xir_tile_same(xir_infer *at);
XIR_API void xir_tile_i64(xir_infer *at, const char *name, int64_t v);
XIR_API void xir_tile_i64s(xir_infer *at, const char *name, const int64_t *v, size_t n);
XIR_API void xir_tile_type(xir_infer *at, const char *name);
XIR_API void xir_tile_makes(xir_infer *at, size_t dim, int64_t begin, int64_t end);

XIR_END

#endif
