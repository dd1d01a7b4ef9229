/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Masks of an attention as one mask of our Attention: booleans, which exclude keys, or numbers that are added.
 *
 * A choice of -inf excludes a key, and so does a condition in our Attention. A finite number is only the same where it
 * makes no difference that all keys of a query have it: it is so large that the sum of it and a score is that number
 * again; or the condition lets each query see a key, which constants show, and there is no other mask. */
#include "fuse/attention.h"
#include <math.h>
#include <xir/array.h>
#include <xir/sugar.h>

/* The most elements of a constant, and the most ops between it and its use, that are looked at. */
enum { MOST_CONDITIONS = 1 << 22, MOST_STEPS = 8 };

/* Numbers below these are large ones: no score reaches them; and a sum with a score rounds to them, in double too. */
static const double large = -1e4, absorbing = -1e20;

/* ---- whether they fit -------------------------------------------------------------------------------------------- */

/* Item i of a list of integers, which is constant or put together from parts; false if it is not known. */
static bool item_of(const xir_value *list, int64_t i, int64_t *out) {
    for (size_t steps = 0; !value_is_params(list); steps++) {
        const xir_op *op = plain_maker(list);
        const xir_value *part = NULL;
        if (!op || !xir_concat_of(op) || steps == MOST_STEPS) return false;
        for (uint32_t k = 0; k < op->n_inputs && !part; k++) {
            const xir_value *x = op_inputs(op)[k].value;
            if (!x || rank_of(x) != 1 || dim_at(x, 0) < 0) return false;
            if (i < dim_at(x, 0)) part = x;
            else i -= dim_at(x, 0);
        }
        if (!part) return false;
        list = part;
    }
    const void *bytes = value_is_constant(list) ? whole_params(list) : NULL;
    if (!bytes || rank_of(list) != 1 || i >= dim_at(list, 0)) return false;
    *out = element_i64(element_format_of(list->type), bytes, (size_t)i);
    return true;
}

/* Returns true if a Slice takes the first keys, however many. */
static bool takes_first_keys(const xir_op *op) {
    const xir_slice_attrs *a = xir_slice_of(op);
    const size_t rank = a->begin.size;
    int64_t begin;
    if (!rank || a->stride.size != rank || a->stride.data[rank - 1] != 1) return false;
    if (op->n_inputs == 1) return a->begin.data[rank - 1] == 0;
    return op_inputs(op)[1].value && item_of(op_inputs(op)[1].value, (int64_t)rank - 1, &begin) && begin == 0;
}

/* Returns true if a constant condition, or slices of one, leaves a key for each query. In slices that is the first
 * key: how many of the others there are is not known. */
static bool leaves_keys(const mask_part *part) {
    const xir_value *v = part->condition;
    int64_t n;
    size_t steps = 0;
    for (const xir_op *op; (op = plain_maker(v)); v = op_inputs(op)[0].value)
        if (!xir_slice_of(op) || !takes_first_keys(op) || ++steps > MOST_STEPS) return false;
    const xir_i64s dims = dims_of(v->type);
    const element_format form = element_format_of(v->type);
    const void *bytes = value_is_constant(v) ? whole_params(v) : NULL;
    if (!bytes || xir_type_elements(v->type, &n) != XIR_OK || n > MOST_CONDITIONS) return false;
    const int64_t row = dims.size ? dims.data[dims.size - 1] : 1, looked_at = v == part->condition ? row : 1;
    for (int64_t i = 0; row > 0 && i < n; i += row) {
        bool some = false;
        for (int64_t j = i; j < i + looked_at && !some; j++)
            some = (element_real(form, bytes, (size_t)j) != 0) == part->keeps;
        if (!some) return false;
    }
    return row > 0;
}

/* Masks that are applied before part i come after it in the list. */
static bool choice_fits(const attention *a, size_t i) {
    const mask_part *part = &a->masks[i];
    if (element_format_of(part->condition->type).kind != ELEMENT_BOOL || !(part->low <= large)) return false;
    if (isinf(part->low)) return true;
    if (part->low <= absorbing) return i + 1 == a->n_masks;
    return a->n_masks == 1 && leaves_keys(part);
}

bool window_dims(const xir_value *addend, int64_t out[5]) {
    const xir_i64s dims = dims_of(addend->type);
    if (dims.size > 5) return false;
    for (size_t i = 0; i < 5; i++) {
        out[i] = i + dims.size < 5 ? 1 : dims.data[i + dims.size - 5];
        if (out[i] < 1) return false;
    }
    return true;
}

static bool addend_fits(const attention *a, const mask_part *part) {
    const xir_i64s scores = dims_of(a->scores), dims = dims_of(part->addend->type);
    int64_t wide[5];
    if (!xir_type_as_tensor(part->addend->type) ||
        !xir_type_equal(xir_type_element(part->addend->type), xir_type_element(a->scores)) ||
        xir_type_is_layouted(part->addend->type) || xir_type_as_tensor(part->addend->type)->merged_distrs.size)
        return false;
    if (!part->apart) return dims.size <= scores.size;
    if (scores.size == 3) return a->folded && dims.size <= 4;
    const int64_t batch = dim_at(a->wide, 0), windows = dim_at(a->wide, 1);
    if (windows_are_open(a)) return windows_fit(a);
    return window_dims(part->addend, wide) && batch >= 1 && windows >= 1 && batch <= INT32_MAX && windows <= INT32_MAX;
}

/* In 3 dims the batch has the heads: a mask for each of them needs a dim of 1 in between, and a Reshape to such dims
 * has at most one that is not a number. */
static bool takes_dims(const attention *a) {
    const xir_i64s dims = dims_of(a->scores);
    size_t open = 0;
    for (size_t i = 0; i < dims.size; i++) open += dims.data[i] < 0;
    return dims.size == 4 || a->folded || open <= 1;
}

bool masks_fit(const attention *a) {
    for (size_t i = 0; i < a->n_masks; i++) {
        const mask_part *part = &a->masks[i];
        if (part->addend ? !addend_fits(a, part) : !choice_fits(a, i)) return false;
    }
    return a->n_masks == 0 || takes_dims(a);
}

/* ---- the mask ---------------------------------------------------------------------------------------------------- */

xir_value *reshaped(xir_at at, xir_value *v, const int64_t *dims, size_t n) {
    static const char layout[] = "*****";
    return xir_build_reshape(at, v, layout + (sizeof layout - 1 - n), dims, n, NULL);
}

/* [batch, windows, heads, length, keys] as [batch * windows, heads, length, keys]. */
static xir_value *without_windows(xir_at at, const attention *a, xir_value *addend) {
    int64_t dims[5] = { 1, 1, 1, 1, 1 };
    const int64_t batch = dim_at(a->wide, 0), windows = dim_at(a->wide, 1);
    window_dims(addend, dims);
    if ((dims[0] != 1 && dims[1] != windows) || (dims[1] != 1 && dims[0] != batch)) {
        const int64_t sizes[] = { batch, windows, dims[2], dims[3], dims[4] };
        const int64_t from[] = { dims[0], dims[1], dims[2], dims[3], dims[4] };
        if (rank_of(addend) < 5) addend = reshaped(at, addend, from, 5);
        if (addend)
            addend = XIR_OP(at, expand, .input = addend, .attrs = XIR_ATTRS(expand, (sizes, ((xir_i64s){ sizes, 5 }))));
        dims[0] = batch, dims[1] = windows;
    }
    const int64_t merged[] = { dims[0] * dims[1], dims[2], dims[3], dims[4] };
    return addend ? reshaped(at, addend, merged, 4) : NULL;
}

/* A choice as an addend: the number where a key is excluded, 0 elsewhere. */
static xir_value *chosen_addend(xir_at at, const mask_part *part) {
    xir_array *zeros = xir_array_new(xir_network_context(at.net), part->number->type, NULL);
    if (!zeros) return net_no_memory(at.net), NULL;
    xir_value *zero = xir_params_from_array(at.net, XIR_STR(""), zeros);
    xir_array_free(zeros);
    if (!zero) return NULL;
    return XIR_OP(at, where, .lhs = part->keeps ? zero : part->number, .rhs = part->keeps ? part->number : zero,
                  .condition = part->condition);
}

/* [heads in the batch, length, keys] with a dim of 1 for heads. */
static xir_value *with_heads(xir_at at, xir_value *mask) {
    const xir_i64s dims = dims_of(mask->type);
    if (dims.size < 3 || dims.data[0] == 1) return mask;
    int64_t to[] = { dims.data[0], 1, dims.data[1], dims.data[2] };
    for (size_t i = 0; i < 4; i++) if (to[i] < 0) to[i] = -1;
    return reshaped(at, mask, to, 4);
}

/* Returns true if the only mask is a condition that our Attention takes as it is. */
static bool is_condition(const attention *a) {
    const mask_part *only = a->masks;
    return a->n_masks == 1 && only->condition && only->keeps && (isinf(only->low) || only->low > absorbing);
}

xir_value *make_mask(xir_at at, const attention *a, bool *ok) {
    xir_value *mask = is_condition(a) ? a->masks->condition : NULL;
    for (size_t i = mask ? 0 : a->n_masks; i-- > 0 && *ok;) {
        const mask_part *part = &a->masks[i];
        xir_value *one = part->apart && !a->folded ? without_windows(at, a, part->addend)
                       : part->addend   ? part->addend : chosen_addend(at, part);
        mask = one && mask ? XIR_OP(at, add, .lhs = mask, .rhs = one) : one;
        *ok = mask != NULL;
    }
    if (*ok && mask && dims_of(a->scores).size == 3 && !a->folded) {
        mask = with_heads(at, mask);
        *ok = mask != NULL;
    }
    return mask;
}
