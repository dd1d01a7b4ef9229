/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Reductions. A reduced dim becomes 1 or is removed. Layout letters, distributions and quantised arrays of the other
 * dims are kept. Reductions skip padding, so a reduced dim has none. */
#include <inttypes.h>
#include "axes.h"
#include "element.h"
#include "sort.h"
#include "tiled.h"
#include "graph.h"
#include "types.h"

/* ---- which dims -------------------------------------------------------------------------------------------------- */

/* The reduced dims: gone.data[k] is 1 if dim k is reduced, otherwise 0. */
typedef struct reduction {
    bool     keepdim;
    dim_list gone;
} reduction;

/* Reads a single dim, or NULL for all dims; creates `r->gone` unless it fails. */
static xir_status read_dim(xir_infer *at, const xir_int_imm *dim, bool keepdim, reduction *r) {
    r->keepdim = keepdim;
    if (!dim) return mark_all(at, &r->gone);
    dim = xir_int_imm_of((const xir_object *)dim);   // in an unchecked file it may be any object
    if (!dim) return xir_infer_fail(at, XIR_E_TYPE, "dim", "dim is not an integer");
    return mark_axes(at, "dim", (xir_i64s){ &dim->value, 1 }, &r->gone);
}

/* Reads a list of dims; an empty list means all of them. */
static xir_status read_dims_list(xir_infer *at, xir_i64s dim, bool keepdim, reduction *r) {
    r->keepdim = keepdim;
    return dim.size ? mark_axes(at, "dim", dim, &r->gone) : mark_all(at, &r->gone);
}

static bool reduces(const reduction *r, size_t k) { return r->gone.data[k] != 0; }

/* ---- distributions ----------------------------------------------------------------------------------------------- */

/* The relations of a distribution to the reduced dims. A distribution that does not fit its tensor covers none. */
typedef enum coverage { COVERS_NONE, COVERS_REDUCED, COVERS_KEPT, COVERS_BOTH } coverage;

static coverage covers(const xir_distr *distr, const reduction *r) {
    bool reduced = false, kept = false;
    if (!distr || distr->merged_axis.size == 0) return COVERS_NONE;
    for (size_t i = 0; i < distr->merged_axis.size; i++) {
        int64_t axis = from_start(distr->merged_axis.data[i], r->gone.size);
        if (axis < 0) return COVERS_NONE;
        *(reduces(r, (size_t)axis) ? &reduced : &kept) = true;
    }
    return reduced && kept ? COVERS_BOTH : reduced ? COVERS_REDUCED : COVERS_KEPT;
}

static const xir_distr *distr_of(const xir_type *type, size_t i) {
    return xir_distr_of(xir_type_as_tensor(type)->merged_distrs.data[i]);
}

/* ---- tiles ------------------------------------------------------------------------------------------------------ */

/* Returns true if the class has its own function for this target. Such a function takes tiled inputs, and the dims are
 * those of the tiled tensor. */
static bool takes_tiles(xir_infer *at) {
    return target_tiles(at) && xir_class_infers_on(xir_infer_class(at), (int)xir_target_kind_of(xir_infer_target(at)));
}

static bool checkable(xir_infer *at) { return inputs_known(at, 1) && (!inputs_tiled(at, 1) || takes_tiles(at)); }

static xir_status need_input(xir_infer *at) { return takes_tiles(at) ? need_tensors(at, 1) : need_inputs(at, 1); }

/* Checks that the two dims of a tiled axis are reduced together or not at all. */
static xir_status check_tiles(xir_infer *at, const reduction *r) {
    const xir_layout *layout = xir_type_layout(xir_infer_input(at, 0));
    size_t at_letter[2][32], n = r->gone.size, k = 0;
    layout_axis a;
    if (!xir_layout_is_layouted(layout)) return XIR_OK;
    for (size_t i = 0; i < 32; i++) at_letter[0][i] = at_letter[1][i] = n;
    for (form_text t = layout_walk(layout); layout_next(&t, &a) && k < n; k++) {
        size_t *first = &at_letter[a.unit != 0][a.letter & 31];
        if (*first == n) *first = k;
    }
    for (char letter = 'A'; letter <= 'Z'; letter++) {
        size_t tiles = at_letter[0][letter & 31], unit = at_letter[1][letter & 31];
        if (tiles == n || unit == n || reduces(r, tiles) == reduces(r, unit)) continue;
        return xir_infer_fail(at, XIR_E_INVALID, "dim",
                              "dims %zu and %zu of %s are the tiled axis %c: expected both or neither", tiles, unit,
                              input_name(at, 0), letter);
    }
    return XIR_OK;
}

/* ---- checks ------------------------------------------------------------------------------------------------------ */

static xir_status no_elements(xir_infer *at, const char *what) {
    return xir_infer_fail(at, XIR_E_INVALID, "inputs/0",
                          "%s has no elements along the reduced dims: the %s of no elements is not defined",
                          input_name(at, 0), what);
}

/* Returns true if there are no elements to reduce: a dim is 0, or all its elements are padding. */
static bool reduces_nothing(xir_infer *at, const reduction *r) {
    const xir_type *type = xir_infer_input(at, 0);
    const xir_tensor_type *tensor = xir_type_as_tensor(type);
    for (size_t k = 0; k < r->gone.size; k++) {
        if (reduces(r, k) && tensor->shape.data[k] == 0) return true;
    }
    for (size_t i = 0; i < tensor->merged_distrs.size; i++) {
        const xir_distr *distr = distr_of(type, i);
        if (covers(distr, r) == COVERS_REDUCED && xir_distr_total_valid(distr) == 0) return true;
    }
    return false;
}

/* ---- results ----------------------------------------------------------------------------------------------------- */

/* Maps the dims to those of the output, -1 for removed ones. */
static void places(const reduction *r, dim_list *to) {
    for (size_t k = 0, next = 0; k < r->gone.size; k++) {
        to->data[k] = reduces(r, k) ? -1 : (int64_t)(r->keepdim ? k : next);
        next += !reduces(r, k);
    }
}

static void remaining(const xir_type *type, const reduction *r, dim_list *dims) {
    const int64_t *shape = xir_type_as_tensor(type)->shape.data;
    size_t n = 0;
    for (size_t k = 0; k < r->gone.size; k++) {
        if (!reduces(r, k)) dims->data[n++] = shape[k];
        else if (r->keepdim) dims->data[n++] = 1;
    }
    dims->size = n;
}

/* Writes the layout of the remaining dims; `text` has room for the layout of the input. A reduced unit becomes 1. False
 * if the result is not a layout: the letters do not fit the rank, appear twice, or a unit has no axis. */
static bool remaining_letters(const xir_layout *layout, const reduction *r, char *text, size_t *size) {
    layout_axis a;
    uint32_t seen[2] = { 0, 0 };   // upper case, lower case
    size_t k = 0;
    *size = 0;
    for (form_text t = layout_walk(layout); layout_next(&t, &a); k++) {
        if (k == r->gone.size) return false;
        bool reduced = reduces(r, k);
        if (reduced && !r->keepdim) continue;
        uint32_t bit = a.letter == '*' ? 0 : UINT32_C(1) << (a.letter & 31);
        if (seen[a.unit != 0] & bit) return false;
        seen[a.unit != 0] |= bit;
        memcpy(text + *size, layout->axes.data + a.start, a.size);
        *size += a.size;
        if (reduced && a.unit) {
            *size -= a.size - 2;
            text[*size - 1] = '1';
        }
    }
    return k == r->gone.size && !(seen[1] & ~seen[0]);
}

/* Returns NULL on out of memory. */
static const xir_layout *remaining_layout(xir_infer *at, const xir_layout *layout, const reduction *r, size_t rank) {
    if (!layout) return layout_default(at->pool, rank);
    if (r->keepdim && !xir_layout_is_layouted(layout) && xir_layout_rank(layout) == rank) return layout;
    char few[64], *text = few;
    size_t room = layout->axes.size, size;
    if (room > sizeof few) text = mem_new(context_alloc(at->ctx), room);
    if (!text) return NULL;
    bool fits = remaining_letters(layout, r, text, &size);
    const xir_layout *out = fits ? layout_make(at->pool, (xir_str){ text, size }, 0, NULL)
        : layout_default(at->pool, rank);
    if (text != few) mem_free(context_alloc(at->ctx), text, room);
    return out;
}

/* A distribution over the dims of the output. NULL on out of memory. */
static const xir_distr *moved_distr(xir_infer *at, const xir_distr *distr, const dim_list *to) {
    dim_list axes;
    if (!dims_init(at, &axes, distr->merged_axis.size)) return NULL;
    for (size_t i = 0; i < axes.size; i++) axes.data[i] = to->data[from_start(distr->merged_axis.data[i], to->size)];
    const xir_i64s now = { axes.data, axes.size };
    const xir_distr *out = distr_make(at->pool, now, distr->sections, distr->uvalue, distr->legacy);
    dims_free(&axes);
    return out;
}

/* Collects the remaining distributions in `out`, which has room for all. */
static xir_status remaining_distrs(xir_infer *at, const reduction *r, const dim_list *to, const xir_object **out,
                                   size_t *n) {
    const xir_type *type = xir_infer_input(at, 0);
    xir_refs distrs = xir_type_as_tensor(type)->merged_distrs;
    *n = 0;
    for (size_t i = 0; i < distrs.size; i++) {
        const xir_distr *distr = distr_of(type, i);
        coverage what = covers(distr, r);
        if (what == COVERS_BOTH && xir_distr_total_invalid(distr)) {
            return xir_infer_fail(at, XIR_E_UNSUPPORTED, "inputs/0", "distribution %zu of %s is over reduced dims and "
                                  "others: the valid elements of the output cannot be determined", i,
                                  input_name(at, 0));
        }
        if (what != COVERS_KEPT) continue;
        if (!r->keepdim) distr = moved_distr(at, distr, to);
        if (!distr) return infer_no_memory(at);
        out[(*n)++] = (const xir_object *)distr;
    }
    return XIR_OK;
}

typedef enum result { INDICES, REAL_INDICES, MOVED, COMPUTED } result;

static xir_status result_element(xir_infer *at, result what, const dim_list *to, const dim_list *dims,
                                 const xir_type **out) {
    if (what == MOVED) return moved_element(at, 0, to->data, dims, out);
    if (what == COMPUTED) return computed_element(at, 0, out);
    *out = what == INDICES ? type_integer(at->pool, true, 64) : type_float(at->pool, XIR_FLOAT_TF32);
    return *out ? XIR_OK : infer_no_memory(at);
}

static xir_status give_reduced(xir_infer *at, const reduction *r, result what, dim_list *to, dim_list *dims) {
    const xir_type *type = xir_infer_input(at, 0), *element;
    const xir_allocator *alloc = context_alloc(at->ctx);
    places(r, to);
    remaining(type, r, dims);
    xir_status status = result_element(at, what, to, dims, &element);
    if (status) return status;
    const xir_layout *layout = remaining_layout(at, xir_type_layout(type), r, dims->size);
    if (!layout) return infer_no_memory(at);

    const xir_object *few[4], **distrs = few;
    size_t room = xir_type_as_tensor(type)->merged_distrs.size, n;
    if (room > sizeof few / sizeof few[0]) distrs = mem_new(alloc, room * sizeof *distrs);
    if (!distrs) return infer_no_memory(at);
    status = remaining_distrs(at, r, to, distrs, &n);
    if (!status) {
        const xir_i64s shape = { dims->data, dims->size };
        const xir_type *out = type_tensor(at->pool, element, layout, shape, (xir_refs){ distrs, n });
        status = out ? xir_infer_result(at, out) : infer_no_memory(at);
    }
    if (distrs != few) mem_free(alloc, (void *)distrs, room * sizeof *distrs);
    return status;
}

/* Sets the result and frees the members of `r`. */
static xir_status give(xir_infer *at, reduction *r, result what) {
    size_t rank = r->gone.size;
    dim_list to, dims;
    xir_status status = XIR_E_MEMORY;
    if (dims_init(at, &to, rank)) {
        if (dims_init(at, &dims, rank)) {
            status = give_reduced(at, r, what, &to, &dims);
            dims.size = rank;   // restores the allocated size for the release
            dims_free(&dims);
        }
        dims_free(&to);
    }
    dims_free(&r->gone);
    return status;
}

/* ---- Max, Min, Argmax, Argmin ------------------------------------------------------------------------------------ */

/* The four attribute structs have the same members. */
#define SAME_ROWS(a, b, row) \
    _Static_assert(offsetof(a, row) == offsetof(b, row), "one function reads the attributes of both")
SAME_ROWS(xir_max_attrs, xir_min_attrs,    dim);
SAME_ROWS(xir_max_attrs, xir_argmax_attrs, dim);
SAME_ROWS(xir_max_attrs, xir_argmin_attrs, dim);
SAME_ROWS(xir_max_attrs, xir_min_attrs,    keepdim);
SAME_ROWS(xir_max_attrs, xir_argmax_attrs, keepdim);
SAME_ROWS(xir_max_attrs, xir_argmin_attrs, keepdim);

static xir_status read_max(xir_infer *at, reduction *r) {
    const xir_max_attrs *a = xir_infer_attrs(at);
    return read_dim(at, a->dim, a->keepdim, r);
}

static xir_status check_max(xir_infer *at) {
    reduction r;
    xir_status status = read_max(at, &r);
    if (status) return status;
    status = check_tiles(at, &r);
    dims_free(&r.gone);
    return status;
}

static xir_status check_place(xir_infer *at) {
    reduction r;
    xir_status status = need_numbers(at, 0);
    if (!status) status = check_max(at);
    if (!status) status = read_max(at, &r);
    if (status) return status;
    if (reduces_nothing(at, &r)) status = no_elements(at, "place");
    dims_free(&r.gone);
    return status;
}

static xir_status infer_max(xir_infer *at, result what) {
    reduction r;
    xir_status status = need_input(at);
    if (!status) status = read_max(at, &r);
    return status ? status : give(at, &r, what);
}

xir_status max_check(xir_infer *at) { return checkable(at) ? check_max(at) : XIR_OK; }
xir_status max_infer(xir_infer *at) { return infer_max(at, MOVED); }

xir_status argmax_check(xir_infer *at) { return checkable(at) ? check_place(at) : XIR_OK; }

xir_status argmax_infer(xir_infer *at) { return infer_max(at, INDICES); }

/* The target searches in TF32, whose 11 bits of precision suffice for its 2048 candidates. */
xir_status argmax_zhuge_infer(xir_infer *at) { return infer_max(at, REAL_INDICES); }

/* ---- Mean, Sum, Prod --------------------------------------------------------------------------------------------- */

SAME_ROWS(xir_sum_attrs, xir_mean_attrs, dim);
SAME_ROWS(xir_sum_attrs, xir_prod_attrs, dim);
SAME_ROWS(xir_sum_attrs, xir_mean_attrs, keepdim);
SAME_ROWS(xir_sum_attrs, xir_prod_attrs, keepdim);

static xir_status read_sum(xir_infer *at, reduction *r) {
    const xir_sum_attrs *a = xir_infer_attrs(at);
    return read_dims_list(at, a->dim, a->keepdim, r);
}

static xir_status infer_sum(xir_infer *at, result what) {
    reduction r;
    xir_status status = need_input(at);
    if (!status) status = read_sum(at, &r);
    return status ? status : give(at, &r, what);
}

/* Only floating-point types have a NaN for the mean of no elements. */
xir_status mean_check(xir_infer *at) {
    reduction r;
    if (!checkable(at)) return XIR_OK;
    xir_status status = need_numbers(at, 0);
    if (!status) status = read_sum(at, &r);
    if (status) return status;
    xir_type_kind kind = xir_type_kind_of(xir_type_element(xir_infer_input(at, 0)));
    status = check_tiles(at, &r);
    if (!status && kind != XIR_TYPE_FLOAT && reduces_nothing(at, &r)) status = no_elements(at, "mean");
    dims_free(&r.gone);
    return status;
}

xir_status mean_infer(xir_infer *at) { return infer_sum(at, MOVED); }

xir_status sum_check(xir_infer *at) {
    reduction r;
    if (!checkable(at)) return XIR_OK;
    xir_status status = need_numbers(at, 0);
    if (!status) status = read_sum(at, &r);
    if (status) return status;
    status = check_tiles(at, &r);
    dims_free(&r.gone);
    return status;
}

xir_status sum_infer(xir_infer *at) { return infer_sum(at, COMPUTED); }

/* ---- CumSum ------------------------------------------------------------------------------------------------------ */

xir_status cum_sum_check(xir_infer *at) {
    const xir_cum_sum_attrs *a = xir_infer_attrs(at);
    if (!checkable(at)) return XIR_OK;
    size_t rank = xir_type_rank(xir_infer_input(at, 0));
    xir_status status = need_numbers(at, 0);
    if (!status && from_start(a->axis, rank) < 0) status = axis_outside(at, "axis", a->axis, rank);
    return status;
}

xir_status cum_sum_infer(xir_infer *at) {
    const xir_type *element;
    xir_status status = need_inputs(at, 1);
    if (!status) status = computed_element(at, 0, &element);
    return status ? status : xir_infer_result(at, xir_infer_input(at, 0));
}
