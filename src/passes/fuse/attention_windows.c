/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Windows of an open batch. A mask of windows is for each window of one image, and scores are [batch * windows, heads,
 * length, keys]: as long as the batch has no number, no constant has these dims. But windows can be heads: [batch,
 * windows * heads, length, size] has the same elements in the same order, and the mask is [1, windows * heads, length,
 * keys]. */
#include <xir/sugar.h>
#include "fuse/attention.h"

enum { MOST_DIM = 1 << 24 };

static bool is_moderate(int64_t dim) { return dim >= 1 && dim <= MOST_DIM; }

bool windows_are_open(const attention *a) {
    return a->wide && dims_of(a->scores).size == 4 && dim_at(a->wide, 0) < 0;
}

/* The dims of a mask for all images; false if one is not known, or too large. */
static bool mask_dims(const xir_value *mask, int64_t out[5]) {
    bool fits = window_dims(mask, out) && out[0] == 1;
    for (size_t i = 0; i < 5 && fits; i++) fits = is_moderate(out[i]);
    return fits;
}

bool windows_fit(const attention *a) {
    const size_t rank = 4;
    int64_t dims[5];
    for (size_t i = 0; i < a->n_masks; i++) {
        const mask_part *part = &a->masks[i];
        /* without a dim for windows, the batch stands there */
        if (!part->addend || !mask_dims(part->addend, dims) || (!part->apart && dims[1] != 1)) return false;
    }
    const xir_value *const all[] = { a->q, a->k, a->v };
    for (size_t i = 0; i < 3; i++)
        for (size_t k = 1; k < rank; k++) if (!is_moderate(dim_at(all[i], k))) return false;
    return is_moderate(dim_at(a->wide, 1)) && xir_type_is_symbolic(a->wide->type);
}

xir_value *windows_to_heads(xir_at at, const attention *a, xir_value *v) {
    const int64_t dims[] = { -1, dim_at(a->wide, 1) * dim_at(v, 1), dim_at(v, 2), dim_at(v, 3) };
    return reshaped(at, v, dims, 4);
}

xir_value *windows_from_heads(xir_at at, const attention *a, xir_value *v, const xir_layout *layout) {
    int64_t dims[] = { -1, dim_at(v, 1) / dim_at(a->wide, 1), dim_at(v, 2), dim_at(v, 3) };
    xir_reshape_attrs attrs = xir_reshape_init();
    attrs.shape = (xir_i64s){ dims, 4 };
    attrs.layout = layout;
    return xir_op_output(xir_add_reshape(at, (xir_reshape_in){ .input = v }, &attrs), 0);
}

xir_value *make_window_mask(xir_at at, const attention *a) {
    xir_value *sum = a->masks[a->n_masks - 1].addend;
    for (size_t i = a->n_masks - 1; i-- > 0 && sum;) sum = XIR_OP(at, add, .lhs = sum, .rhs = a->masks[i].addend);
    int64_t dims[5] = { 1, 1, 1, 1, 1 };
    const int64_t windows = dim_at(a->wide, 1), heads = dim_at(a->q, 1);
    if (!sum || !mask_dims(sum, dims)) return NULL;
    if (dims[1] * dims[2] != 1 && (dims[1] != windows || dims[2] != heads)) {
        const int64_t sizes[] = { 1, windows, heads, dims[3], dims[4] };
        if (rank_of(sum) < 5) sum = reshaped(at, sum, dims, 5);
        if (sum) sum = XIR_OP(at, expand, .input = sum, .attrs = XIR_ATTRS(expand, (sizes, ((xir_i64s){ sizes, 5 }))));
        dims[1] = windows, dims[2] = heads;
    }
    const int64_t merged[] = { 1, dims[1] * dims[2], dims[3], dims[4] };
    return sum ? reshaped(at, sum, merged, 4) : NULL;
}
