/* Types whose channels are cut into tiles, as Buyi and Zhuge have them: NCHWc32 for maps, OIHWo32i32 for kernels. An
 * upper-case axis then counts tiles, the lower-case one is the unit, and a distribution over both says which of the
 * tiles * unit elements are no padding: `@merged_distr([1, 4]^ZERO:{v:[0, 65), u:[65, 96)})`. What an op computes is
 * computed by meaning, in dims that read_dims has put together; this writes them back. All of it does for types that
 * are not tiled, too. */
#ifndef OPS_TILED_H
#define OPS_TILED_H

#include "element.h"

/* Whether the op is for a target whose inference takes tiled inputs: its row says so. */
bool target_tiles(const xir_infer *at);
/* No network has tiled tensors of more dims. Rules that look for the tiles of each dim refuse them, XIR_E_LIMIT: a
 * layout has to be walked to a dim, which hostile ones make long. */
enum { MOST_TILED_DIMS = 64 };
xir_status need_few_dims(xir_infer *at, size_t n);

/* Whether a check has anything to look at: the first `n` inputs have types, and none is tiled unless the target
 * tiles. For classes with an INFER_TILED; others ask inputs_known and inputs_tiled. */
bool inputs_judged(xir_infer *at, size_t n);

/* The distribution that says which elements of dim k of input i count, `d` as read_dims gave it; NULL: it says
 * nothing. */
const xir_distr *valid_of_dim(xir_infer *at, size_t i, const named_dims *d, size_t k);
/* Whether dim k of input i may have `expected` elements: it has, one of both is unknown, or it is tiled and does not
 * say how much of it is padding (kernels often don't), and `expected` takes up as many tiles. */
bool dim_may_be(xir_infer *at, size_t i, const named_dims *d, size_t k, int64_t expected);

/* Gives a type like that of input i, some of its dims made anew. `now` is what read_dims said of that input, with `dim`
 * (and `unit`, of tiled dims) of those changed; bit k of `anew` says that dim k is one of them.
 *
 *     dims        anew and tiled: ceil(dim / unit) tiles; anew: `dim`; others as they are. UNKNOWN_DIM is kept.
 *     layout      the input's, with other units where they changed.
 *     distrs      those that say something of no dim that is anew are kept, others are not. A tiled dim that is anew and known
 *                 gets one: its first `dim` elements count. If they are others, or the dim is not tiled but has padding, the
 *                 caller says so in valid[k] (`valid` may be NULL): the distribution of another input's dim, whose runs
 *                 are then those of the output. Its total is the dim with its padding.
 *     element     `element`, or if that is NULL the input's, arrays of quantised types following the dims that are not anew
 *                 (moved_element).
 *
 * XIR_E_LIMIT if tiles * unit exceeds 64 bits. */
xir_status give_named(xir_infer *at, size_t i, const named_dims *now, unsigned anew, const xir_distr *const *valid,
                      const xir_type *element);

#endif
