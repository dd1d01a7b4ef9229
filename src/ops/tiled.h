/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Types with tiled channels, as on Buyi and Zhuge: NCHWc32 for maps, OIHWo32i32 for kernels. The upper-case axis counts
 * tiles, the lower-case axis is the unit, and a distribution over both declares which of the tiles * unit elements are
 * valid: `@merged_distr([1, 4]^ZERO:{v:[0, 65), u:[65, 96)})`. An op reads logical dims with read_dims, computes with
 * them, and writes them back with the functions below. All of them accept untiled types too. */
#ifndef OPS_TILED_H
#define OPS_TILED_H

#include "element.h"

/* Returns true if the op's target has an inference function that takes tiled inputs. */
bool target_tiles(const xir_infer *at);
/* The most dims of a tiled tensor. Rules that look up the tile of each dim refuse more with XIR_E_LIMIT, because each
 * lookup walks the layout, and a hostile layout can be long. */
enum { MOST_TILED_DIMS = 64 };
xir_status need_few_dims(xir_infer *at, size_t n);

/* Returns true if a check can look at its inputs: the first `n` have types, and none is tiled unless the target takes
 * tiles. For classes with an INFER_TILED; others use inputs_known and inputs_tiled. */
bool inputs_checkable(xir_infer *at, size_t n);

/* The distribution of the valid elements of dim k of input i, `d` as read_dims returned it; NULL: all are valid. */
const xir_distr *valid_of_dim(xir_infer *at, size_t i, const named_dims *d, size_t k);
/* Returns true if dim k of input i can have `expected` elements: it has, one of both is unknown, or the dim is tiled
 * with undeclared padding (common for kernels) and `expected` needs the same number of tiles. */
bool dim_may_be(xir_infer *at, size_t i, const named_dims *d, size_t k, int64_t expected);

/* Sets the result to a type like that of input i with some dims changed. `now` is what read_dims returned for the
 * input, with new values of `dim` (and `unit`, for tiled dims); bit k of `changed` marks dim k as changed.
 *
 *     dims        changed and tiled: ceil(dim / unit) tiles; changed: `dim`; others, and UNKNOWN_DIM, are kept.
 *     layout      that of the input, with the new units.
 *     distrs      Those over unchanged dims are kept, others are dropped. A changed tiled dim of known size gets one:
 *                 its first `dim` elements are valid. If others are valid, or an untiled dim has padding, the caller
 *                 passes in valid[k] (`valid` may be NULL) the distribution of another input's dim, whose runs
 *                 apply to the output; its total is the dim with padding.
 *     element     `element`, or if that is NULL the input's; arrays of quantised types follow the unchanged dims
 *                 (moved_element).
 *
 * XIR_E_LIMIT if tiles * unit exceeds 64 bits. */
xir_status give_named(xir_infer *at, size_t i, const named_dims *now, unsigned changed, const xir_distr *const *valid,
                      const xir_type *element);

#endif
