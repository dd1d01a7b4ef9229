/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Helpers of NEEDS functions. Types are tensors of known dims without tiles; ops may not have been checked. */
#ifndef OPS_NEEDED_H
#define OPS_NEEDED_H

#include <xir/needed.h>
#include "shape.h"

/* The interval [begin, end); empty if end <= begin. */
typedef struct span { int64_t begin, end; } span;

static inline size_t  rank_of_input(const xir_infer *at, size_t i) { return xir_type_rank(xir_infer_input(at, i)); }
static inline int64_t dim_of_input(const xir_infer *at, size_t i, size_t k) {
    return k < rank_of_input(at, i) ? xir_type_dim(xir_infer_input(at, i), (int64_t)k, false) : 0;
}
static inline int64_t dim_of_output(const xir_infer *at, size_t k) {
    return xir_type_dim(xir_infer_output(at, xir_needs_output(at)), (int64_t)k, false);
}
/* The part along a dim of the output; empty past its rank. */
static inline span part_along(const xir_infer *at, size_t k) {
    const xir_box *part = xir_needs_part(at);
    return k < part->rank ? (span){ part->begin[k], part->end[k] } : (span){ 0, 0 };
}
/* Returns true if the part has all elements along a dim of the output. */
static inline bool part_is_whole(const xir_infer *at, size_t k) {
    const span s = part_along(at, k);
    return s.begin == 0 && s.end == dim_of_output(at, k);
}
/* Of input i the part along dim k is that of the output along dim `o`. */
static inline void need_same(xir_infer *at, size_t i, size_t k, size_t o) {
    const span s = part_along(at, o);
    xir_needs_along(at, i, k, s.begin, s.end);
}
/* Input i is broadcast to the output, from the right. */
void need_broadcast(xir_infer *at, size_t i);
/* The position of the channels of input 0: the letter C, otherwise the last dim. Its rank is not 0. */
size_t channels_of_input(const xir_infer *at);

/* The smallest interval that has the cells of `cell` at positions [begin, end), of a dim of n. Cells outside of it do
 * not count.
 * False, with all of the dim, if that would take more than 65536 steps. */
typedef int64_t cell_fn(const void *user, int64_t position);
bool span_of_cells(cell_fn *cell, const void *user, span over, int64_t n, span *out);

#endif
