/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

#include <inttypes.h>
#include <stdio.h>
#include "graph.h"
#include "tiled.h"
#include "types.h"

bool target_tiles(const xir_infer *at) {
    return at->ctx->tiled_targets >> xir_target_kind_of(xir_infer_target(at)) & 1;
}

bool inputs_checkable(xir_infer *at, size_t n) {
    return inputs_known(at, n) && (!inputs_tiled(at, n) || target_tiles(at));
}

xir_status need_few_dims(xir_infer *at, size_t n) {
    for (size_t i = 0; i < n; i++) {
        const xir_type *type = xir_infer_input(at, i);
        size_t rank = xir_type_rank(type);
        if (rank <= MOST_TILED_DIMS || !xir_type_is_layouted(type)) continue;
        return xir_infer_fail(at, XIR_E_LIMIT, path_of_input(i).text,
                              "%s is tiled and has %zu dims: expected at most %d", input_name(at, i), rank,
                              MOST_TILED_DIMS);
    }
    return XIR_OK;
}

const xir_distr *valid_of_dim(xir_infer *at, size_t i, const named_dims *d, size_t k) {
    const xir_tensor_type *tensor = xir_type_as_tensor(xir_infer_input(at, i));
    const int64_t axes[2] = { (int64_t)d->at[k], (int64_t)d->unit_at[k] };
    if (!tensor || !tensor->merged_distrs.size) return NULL;   /* as most types */
    return xir_type_distr(xir_infer_input(at, i), axes, d->unit[k] ? 2 : 1);
}

bool dim_may_be(xir_infer *at, size_t i, const named_dims *d, size_t k, int64_t expected) {
    int64_t dim = d->dim[k], unit = d->unit[k], most;
    if (dim == expected || dim < 0 || expected < 0) return true;
    if (!unit || dim < expected || valid_of_dim(at, i, d, k)) return false;
    return !add_i64(expected, unit, &most) || dim < most;
}

/* ---- giving ------------------------------------------------------------------------------------------------------ */

static bool is_changed(unsigned changed, size_t k) { return changed >> k & 1; }

/* Writes dim k to its position. */
static xir_status put_dim(xir_infer *at, const named_dims *now, size_t k, const xir_distr *valid, dim_list *dims) {
    int64_t dim = now->dim[k], unit = now->unit[k], *tiles = &dims->data[now->at[k]], total;
    if (unit) dims->data[now->unit_at[k]] = unit;
    *tiles = unit && dim < 0 ? UNKNOWN_DIM : dim;
    if (!unit || dim < 0) return XIR_OK;
    if (valid) dim = xir_distr_total(valid);
    *tiles = dim / unit + (dim % unit != 0);
    if (mul_i64(*tiles, unit, &total)) return XIR_OK;
    return xir_infer_fail(at, XIR_E_LIMIT, NULL, "%" PRId64 " tiles of %" PRId64 " exceed 64 bits", *tiles, unit);
}

/* The layout with the units of `now`. */
static xir_status put_units(xir_infer *at, const named_dims *now, unsigned changed, const xir_layout **layout) {
    bool same = true;
    for (size_t k = 0; k < now->n && same; k++) {
        same = !is_changed(changed, k) || !now->unit[k] || xir_layout_unit(*layout, now->unit_at[k]) == now->unit[k];
    }
    if (same) return XIR_OK;
    buffer text;
    buffer_init(&text, context_alloc(at->ctx));
    layout_axis a;
    size_t axis = 0;
    for (form_text t = layout_walk(*layout); layout_next(&t, &a); axis++) {
        int64_t unit = a.unit;
        for (size_t k = 0; k < now->n; k++) {
            if (is_changed(changed, k) && now->unit[k] && now->unit_at[k] == axis) unit = now->unit[k];
        }
        char word[24];
        int n = unit ? snprintf(word, sizeof word, "%c%" PRId64, a.letter, unit)
            : snprintf(word, sizeof word, "%c", a.letter);
        buffer_put(&text, word, (size_t)n);
    }
    const xir_layout *made = text.failed ? NULL : layout_make(at->pool, (xir_str){ text.data, text.size }, 0, NULL);
    buffer_free(&text);
    if (!made) return infer_no_memory(at);
    *layout = made;
    return XIR_OK;
}

/* Returns true if a distribution covers a changed dim. */
static bool covers_changed(const xir_distr *distr, const named_dims *now, unsigned changed, size_t rank) {
    for (size_t i = 0; i < distr->merged_axis.size; i++) {
        int64_t axis = from_start(distr->merged_axis.data[i], rank);
        if (axis < 0) return true;
        for (size_t k = 0; k < now->n; k++) {
            if (!is_changed(changed, k)) continue;
            if ((size_t)axis == now->at[k] || (now->unit[k] && (size_t)axis == now->unit_at[k])) return true;
        }
    }
    return false;
}

/* The distribution of the changed dim k; *out is NULL if all elements are valid. */
static xir_status new_distr(xir_infer *at, const named_dims *now, size_t k, const xir_distr *valid,
                            const dim_list *dims, const xir_object **out) {
    int64_t dim = now->dim[k], unit = now->unit[k], total = dims->data[now->at[k]];
    const int64_t axes[2] = { (int64_t)now->at[k], (int64_t)now->unit_at[k] };
    *out = NULL;
    if (dim < 0 || total <= 0) return XIR_OK;
    if (unit) total *= unit;   // put_dim has checked for overflow
    int64_t known = valid ? xir_distr_total(valid) : dim;
    if (unit ? known > total : !valid || known != total) return XIR_OK;
    run_list runs;
    run_list_init(&runs, context_alloc(at->ctx));
    xir_status status = valid ? run_list_append(&runs, valid->sections, 0, known) : run_list_add(&runs, known, 1, 0, 0);
    if (!status) status = run_list_add(&runs, total - known, 0, 0, 0);
    if (!status) {
        *out = (const xir_object *)distr_make(at->pool, (xir_i64s){ axes, unit ? 2 : 1 }, run_list_runs(&runs),
                                              valid ? valid->uvalue : XIR_UVALUE_ZERO, false);
    }
    run_list_free(&runs);
    return *out ? XIR_OK : infer_no_memory(at);
}

/* Sets the result with the distributions that were collected. */
static xir_status give_distributed(xir_infer *at, const xir_tensor_type *like, const xir_type *element,
                                   const xir_layout *layout, const named_dims *now, unsigned changed,
                                   const xir_distr *const *valid, const dim_list *dims) {
    const xir_object *few[8], **distrs = few;
    size_t room = like->merged_distrs.size + now->n, n = 0;
    const xir_allocator *alloc = context_alloc(at->ctx);
    if (room > sizeof few / sizeof few[0]) distrs = mem_new(alloc, room * sizeof *distrs);
    if (!distrs) return infer_no_memory(at);
    for (size_t i = 0; i < like->merged_distrs.size; i++) {
        const xir_object *distr = like->merged_distrs.data[i];
        if (!covers_changed((const xir_distr *)distr, now, changed, dims->size)) distrs[n++] = distr;
    }
    xir_status status = XIR_OK;
    for (size_t k = 0; k < now->n && !status; k++) {
        if (!is_changed(changed, k)) continue;
        status = new_distr(at, now, k, valid ? valid[k] : NULL, dims, &distrs[n]);
        n += !status && distrs[n];
    }
    if (!status) {
        const xir_type *type = type_tensor(at->pool, element, layout, (xir_i64s){ dims->data, dims->size },
                                           (xir_refs){ distrs, n });
        status = type ? xir_infer_result(at, type) : infer_no_memory(at);
    }
    if (distrs != few) mem_free(alloc, (void *)distrs, room * sizeof *distrs);
    return status;
}

/* The element type of input i; its arrays follow the unchanged dims. */
static xir_status kept_element(xir_infer *at, size_t i, const named_dims *now, unsigned changed, const dim_list *dims,
                               const xir_type **out) {
    *out = xir_type_element(xir_infer_input(at, i));
    if (!xir_type_is_quantized(*out)) return XIR_OK;
    dim_list to;
    if (!dims_init(at, &to, dims->size)) return XIR_E_MEMORY;
    for (size_t k = 0; k < to.size; k++) to.data[k] = (int64_t)k;
    for (size_t k = 0; k < now->n; k++) {
        if (!is_changed(changed, k)) continue;
        to.data[now->at[k]] = -1;
        if (now->unit[k]) to.data[now->unit_at[k]] = -1;
    }
    xir_status status = moved_element(at, i, to.data, dims, out);
    dims_free(&to);
    return status;
}

/* The usual case of give_named: neither the input nor the result has tiles or padding, so that the named dims are all
 * there are. False otherwise. */
static bool plain_dims(const xir_tensor_type *like, const named_dims *now, unsigned changed,
                       const xir_distr *const *valid, int64_t dims[MOST_NAMED]) {
    if (like->merged_distrs.size || like->shape.size != now->n) return false;
    for (size_t k = 0; k < now->n; k++) {
        const size_t i = now->at[k];
        if (now->unit[k] || (valid && valid[k])) return false;
        dims[i] = is_changed(changed, k) ? now->dim[k] : like->shape.data[i];
    }
    return true;
}

xir_status give_named(xir_infer *at, size_t i, const named_dims *now, unsigned changed, const xir_distr *const *valid,
                      const xir_type *element) {
    const xir_type *type = xir_infer_input(at, i);
    const xir_tensor_type *like = xir_type_as_tensor(type);
    const xir_layout *layout = like->layout;
    if (!element && !xir_type_is_quantized(like->element_dtype)) element = like->element_dtype;
    int64_t plain[MOST_NAMED];
    if (element && plain_dims(like, now, changed, valid, plain))
        return xir_infer_result_tensor(at, element, layout, plain, now->n);
    bool distributed = like->merged_distrs.size;
    xir_status status = XIR_OK;
    dim_list dims;
    if (!dims_copy(at, &dims, type)) return XIR_E_MEMORY;
    for (size_t k = 0; k < now->n && !status; k++) {
        if (!is_changed(changed, k)) continue;
        const xir_distr *of = valid ? valid[k] : NULL;
        status = put_dim(at, now, k, of, &dims);
        distributed |= now->unit[k] || of;
    }
    if (!status && distributed) status = put_units(at, now, changed, &layout);
    if (!status && !element) status = kept_element(at, i, now, changed, &dims, &element);
    if (!status) {
        status = distributed ? give_distributed(at, like, element, layout, now, changed, valid, &dims)
                             : xir_infer_result_tensor(at, element, layout, dims.data, dims.size);
    }
    dims_free(&dims);
    return status;
}
