/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Reshape, Squeeze, Expand, Tile: the same elements in the same order in other dims, and repetitions. */
#include <inttypes.h>
#include "axes.h"
#include "graph.h"
#include "list.h"
#include "reshape.h"

/* ---- Reshape -------------------------------------------------------------------------------------------------- */

/* The product of dims: -1 if it depends on an unknown one. `known` is the product of the known ones. False if it
 * exceeds 64 bits. */
static bool product(xir_i64s dims, int64_t *all, int64_t *known) {
    bool unknown = false, zero = false, fits = true;
    *known = 1;
    for (size_t i = 0; i < dims.size; i++) {
        if (dims.data[i] < 0) unknown = true;
        else if (dims.data[i] == 0) zero = true;
        else fits &= mul_i64(*known, dims.data[i], known);
    }
    *all = zero ? 0 : unknown ? UNKNOWN_DIM : *known;
    if (zero) *known = 0;
    return fits || zero;
}

static xir_status check_layout(xir_infer *at) {
    const xir_reshape_attrs *a = xir_infer_attrs(at);
    xir_str text = xir_layout_text(a->layout);
    if (!a->layout) return XIR_OK;   // the rows report that it is missing
    if (xir_layout_rank(a->layout) != a->shape.size) {
        return xir_infer_fail(at, XIR_E_INVALID, "layout", "%.*s has %zu axes, but 'shape' has %zu dims",
                              (int)text.size, text.data, xir_layout_rank(a->layout), a->shape.size);
    }
    if (!xir_layout_is_layouted(a->layout)) return XIR_OK;
    if (target_tiles(at) && a->shape.size > MOST_TILED_DIMS) {
        return xir_infer_fail(at, XIR_E_LIMIT, "layout", "the tiled output has %zu dims: expected at most %d",
                              a->shape.size, MOST_TILED_DIMS);
    }
    if (target_tiles(at)) return XIR_OK;
    return xir_infer_fail(at, XIR_E_UNSUPPORTED, "layout", "%.*s is tiled: the target %s does not take tiled layouts",
                          (int)text.size, text.data, xir_target_row_of(xir_infer_target(at))->name);
}

/* The number of elements that remains for -1, if dims or sizes are expressions. Where the op is valid, nothing is
 * left. */
static int64_t quotient(xir_infer *at, xir_i64s dims, xir_i64s shape, size_t infer) {
    expr have = 1, want = 1;
    for (size_t i = 0; i < dims.size; i++) have = expr_mul(at->pool, have, expr_of_dim(dims.data[i]));
    for (size_t i = 0; i < shape.size; i++) {
        if (i != infer) want = expr_mul(at->pool, want, expr_of_dim(shape.data[i]));
    }
    return dim_of_expr(expr_is_number(want) ? expr_floor_div(at->pool, have, want)
                                            : expr_exact_div(at->pool, have, want));
}

xir_status reshape_dims(xir_infer *at, xir_i64s input, xir_i64s shape, dim_list *out) {
    const char *where = list_place(at, "shape");
    size_t rank = shape.size, infer = rank;
    bool open = false;   // some sizes are expressions
    for (size_t i = 0; i < rank; i++) {
        int64_t dim = shape.data[i];
        open |= dim < -1;
        if (dim < -1 && (expr_is_number(dim) || !has_list(at))) {
            return xir_infer_fail(at, XIR_E_BOUNDS, where,
                                  "dim %zu is %" PRId64 ": expected at least 0, or -1 for the remaining elements", i,
                                  dim);
        }
        if (dim == -1 && infer < rank) {
            return xir_infer_fail(at, XIR_E_INVALID, where, "dims %zu and %zu are both -1: expected at most one",
                                  infer, i);
        }
        if (dim == -1) infer = i;
    }
    int64_t have, have_known, want, want_known, left = UNKNOWN_DIM;
    if (!product(input, &have, &have_known)) {
        return xir_infer_fail(at, XIR_E_LIMIT, "inputs/0", "the number of elements of input exceeds 64 bits");
    }
    if (!product(shape, &want, &want_known)) {
        return xir_infer_fail(at, XIR_E_LIMIT, where, "the number of elements of the output exceeds 64 bits");
    }
    if (infer < rank && want_known == 0) {
        return xir_infer_fail(at, XIR_E_INVALID, where,
                              "dim %zu is -1 and another dim is 0: the size of dim -1 cannot be determined", infer);
    }
    if (infer < rank && have >= 0) {
        if (have % want_known) {
            return xir_infer_fail(at, XIR_E_INVALID, where, "input has %" PRId64 " elements: expected a multiple of "
                                  "%" PRId64 ", the product of the other dims", have, want_known);
        }
        left = have / want_known;
    }
    if (infer < rank && (have < 0 || open)) left = quotient(at, input, shape, infer);
    if (infer == rank && !open && have >= 0 && have != want) {
        return xir_infer_fail(at, XIR_E_INVALID, where,
                              "input has %" PRId64 " elements: expected %" PRId64 ", the product of 'shape'", have,
                              want);
    }
    if (infer == rank && !open && have < 0 && want % have_known) {
        return xir_infer_fail(at, XIR_E_INVALID, where, "the product of the known dims of input is %" PRId64 ": "
                              "expected a divisor of %" PRId64 ", the product of 'shape'", have_known, want);
    }
    if (!dims_init(at, out, rank)) return XIR_E_MEMORY;
    for (size_t i = 0; i < rank; i++) out->data[i] = i == infer ? left : shape.data[i];
    return XIR_OK;
}

void find_whole(xir_i64s in, xir_i64s out, int64_t *to) {
    size_t i = 0, j = 0, n = in.size, m = out.size;
    for (size_t k = 0; k < n; k++) to[k] = -1;
    while (i < n && j < m && in.data[i] >= 0 && out.data[j] >= 0) {
        int64_t a = in.data[i], b = out.data[j];
        if (a == b) to[i++] = (int64_t)j++;
        else if (a == 1) i++;
        else if (b == 1) j++;
        else {
            /* These dims are merged, split or both, up to where the products are equal again. */
            size_t p = i + 1, q = j + 1;
            bool fits = true;
            while (a != b && fits) {
                bool left = a < b;
                if (left ? p == n || in.data[p] < 0 : q == m || out.data[q] < 0) break;
                fits = left ? mul_i64(a, in.data[p++], &a) : mul_i64(b, out.data[q++], &b);
            }
            if (a != b) break;
            i = p;
            j = q;
        }
    }
    /* Matches dims from the end, as far as they are equal. */
    while (n > i && m > j && in.data[n - 1] >= 0 && in.data[n - 1] == out.data[m - 1]) to[--n] = (int64_t)--m;
    /* If one dim remains on each side, they are the same, unless the number of elements is 0 in any case. */
    bool zero = false, left = n == i + 1 && m == j + 1;
    for (size_t k = 0; k < in.size; k++) zero |= in.data[k] == 0;
    if (left && !zero && (in.data[i] < 0 || out.data[j] < 0)) to[i] = (int64_t)j;
}

static bool is_tiled(xir_infer *at) {
    const xir_reshape_attrs *a = xir_infer_attrs(at);
    return inputs_tiled(at, 1) || (a->layout && xir_layout_is_layouted(a->layout));
}

/* The dims for a computed shape. If an item is unknown, its dim is, and nothing follows for -1. */
static xir_status listed_shape(xir_infer *at, xir_i64s input, dim_list *out) {
    const xir_reshape_attrs *a = xir_infer_attrs(at);
    dim_list asked;
    bool unknown = false;
    xir_status status = check_list(at, a->shape.size);
    if (!status) status = check_open(at, "shape", a->shape);
    if (!status) status = read_items(at, a->shape.size, &asked);
    if (status) return status;
    for (size_t i = 0; i < asked.size; i++) {
        unknown |= asked.data[i] == UNKNOWN_ITEM;
        if (asked.data[i] >= -1 || !expr_is_number(asked.data[i])) continue;
        dims_free(&asked);
        return xir_infer_fail(at, XIR_E_BOUNDS, "inputs/1",
                              "dim %zu is %" PRId64 ": expected at least 0, or -1 for the remaining elements", i,
                              asked.data[i]);
    }
    if (!unknown) status = reshape_dims(at, input, (xir_i64s){ asked.data, asked.size }, out);
    else if (!dims_init(at, out, asked.size)) status = XIR_E_MEMORY;
    for (size_t i = 0; unknown && !status && i < asked.size; i++) {
        out->data[i] = asked.data[i] == UNKNOWN_ITEM ? UNKNOWN_DIM : asked.data[i];
    }
    dims_free(&asked);
    return status;
}

static xir_status shape_of(xir_infer *at, dim_list *out) {
    const xir_reshape_attrs *a = xir_infer_attrs(at);
    xir_i64s input = xir_type_as_tensor(xir_infer_input(at, 0))->shape;
    return has_list(at) ? listed_shape(at, input, out) : reshape_dims(at, input, a->shape, out);
}

xir_status reshape_check(xir_infer *at) {
    dim_list dims;
    if (!inputs_checkable(at, 1) || !list_checkable(at)) return XIR_OK;
    xir_status status = need_few_dims(at, 1);
    if (!status) status = check_layout(at);
    if (status) return status;
    if (is_tiled(at) && !has_list(at)) return retile(at, false);
    status = shape_of(at, &dims);
    if (!status) dims_free(&dims);
    return status;
}

xir_status reshape_infer(xir_infer *at) {
    const xir_reshape_attrs *a = xir_infer_attrs(at);
    const xir_type *input = xir_infer_input(at, 0);
    dim_list dims, to;
    xir_status status = need_movable(at, 1);
    if (!status && list_checkable(at)) status = need_few_dims(at, 1);
    if (!status) status = check_layout(at);
    if (!status && is_tiled(at) && !has_list(at)) return retile(at, true);
    if (!status) status = shape_of(at, &dims);
    if (status) return status;
    if (!dims_init(at, &to, xir_type_rank(input))) status = XIR_E_MEMORY;
    else {
        find_whole(xir_type_as_tensor(input)->shape, (xir_i64s){ dims.data, dims.size }, to.data);
        status = give_moved(at, &(move){ .to = to.data, .dims = &dims, .layout = a->layout, .ordered = true });
        dims_free(&to);
    }
    dims_free(&dims);
    return status;
}

/* ---- Squeeze -------------------------------------------------------------------------------------------------- */

/* Maps dim k of the input to dim to[k] of the output, -1 if it is removed; creates both unless it fails. In a check the
 * rank may be unknown. */
static xir_status squeeze_dims(xir_infer *at, dim_list *to, dim_list *out, bool check) {
    const xir_squeeze_attrs *a = xir_infer_attrs(at);
    xir_i64s shape = xir_type_as_tensor(xir_infer_input(at, 0))->shape;
    size_t n = 0;
    xir_status status = mark_axes(at, "axis", a->axis, to);
    if (status) return status;
    for (size_t k = 0; k < shape.size && !status; k++) {
        int64_t dim = shape.data[k];
        bool goes = to->data[k];
        if (goes && (dim == 0 || dim > 1)) {
            status = xir_infer_fail(at, XIR_E_INVALID, "axis", "dim %zu of input is %" PRId64 ": expected 1", k, dim);
        }
        if (a->axis.size == 0) {
            goes = dim == 1;
            if (dim < 0 && !dims_differ(at, dim, 1) && !check) {
                status = xir_infer_fail(at, XIR_E_UNSUPPORTED, "axis",
                                        "dim %zu of input is unknown: list the dims to remove", k);
            }
        }
        to->data[k] = goes ? -1 : (int64_t)n++;
    }
    if (!status && !dims_init(at, out, n)) status = XIR_E_MEMORY;
    if (status) {
        dims_free(to);
        return status;
    }
    for (size_t k = 0; k < shape.size; k++) {
        if (to->data[k] >= 0) out->data[to->data[k]] = shape.data[k];
    }
    return XIR_OK;
}

xir_status squeeze_check(xir_infer *at) {
    dim_list to, dims;
    if (!inputs_known(at, 1) || inputs_tiled(at, 1)) return XIR_OK;
    xir_status status = squeeze_dims(at, &to, &dims, true);
    if (status) return status;
    dims_free(&dims);
    dims_free(&to);
    return XIR_OK;
}

/* The layout "*…*C" of a rank. */
static xir_status channels_last(xir_infer *at, size_t rank, const xir_layout **out) {
    static const char stars[] = "***************C";
    const size_t most = sizeof stars - 1;
    *out = NULL;
    if (rank <= most) *out = layout_make(at->pool, (xir_str){ stars + most - rank, rank }, 0, NULL);
    else {
        char *text = mem_new(context_alloc(at->ctx), rank);
        if (!text) return infer_no_memory(at);
        memset(text, '*', rank - 1);
        text[rank - 1] = 'C';
        *out = layout_make(at->pool, (xir_str){ text, rank }, 0, NULL);
        mem_free(context_alloc(at->ctx), text, rank);
    }
    return *out ? XIR_OK : infer_no_memory(at);
}

xir_status squeeze_infer(xir_infer *at) {
    dim_list to, dims;
    const xir_layout *layout;
    xir_status status = need_inputs(at, 1);
    if (!status) status = squeeze_dims(at, &to, &dims, false);
    if (status) return status;
    status = channels_last(at, dims.size, &layout);
    if (!status) status = give_moved(at, &(move){ .to = to.data, .dims = &dims, .layout = layout });
    dims_free(&dims);
    dims_free(&to);
    return status;
}

/* ---- Expand, Tile --------------------------------------------------------------------------------------------- */

/* Sets the result to the type with new leading dims; `m` has the function that takes elements. */
static xir_status give_grown(xir_infer *at, const dim_list *dims, move *m) {
    size_t rank = xir_type_rank(xir_infer_input(at, 0)), more = dims->size - rank;
    const xir_layout *layout = xir_type_layout(xir_infer_input(at, 0));
    dim_list to, from;
    xir_status status = XIR_OK;
    if (!dims_init(at, &to, rank)) return XIR_E_MEMORY;
    if (!dims_init(at, &from, dims->size)) {
        dims_free(&to);
        return XIR_E_MEMORY;
    }
    for (size_t k = 0; k < rank; k++) to.data[k] = (int64_t)(k + more);
    for (size_t i = 0; i < dims->size; i++) from.data[i] = i < more ? -1 : (int64_t)(i - more);
    if (more) status = layout_of_axes(at, xir_infer_input(at, 0), from.data, from.size, &layout);
    m->to = to.data;
    m->dims = dims;
    m->layout = layout;
    if (!status) status = give_moved(at, m);
    dims_free(&from);
    dims_free(&to);
    return status;
}

/* The sizes that are asked for: -1 keeps a dim, and so does 1 if the sizes are computed. */
static xir_status asked_sizes(xir_infer *at, dim_list *out) {
    const xir_expand_attrs *a = xir_infer_attrs(at);
    size_t n = a->sizes.size, rank = xir_type_rank(xir_infer_input(at, 0));
    if (has_list(at)) {
        xir_status status = check_list(at, n);
        if (!status) status = check_open(at, "sizes", a->sizes);
        if (!status) status = read_items(at, n, out);
        for (size_t i = 0; !status && i < n; i++) {
            if (out->data[i] == 1 && i + rank >= n) out->data[i] = -1;
        }
        return status;
    }
    return copy_items(at, a->sizes, out);
}

/* One dim of an Expand. */
static xir_status expand_dim(xir_infer *at, size_t i, int64_t size, int64_t dim, bool is_new, int64_t *out) {
    const char *where = list_place(at, "sizes");
    *out = size;
    if (!expr_is_number(size)) {   // it is 1 or the dim, or the dim is 1
        (void)join_dim(at, dim, dim_of_expr(size), out);
        return XIR_OK;
    }
    if (size < -1) {
        return xir_infer_fail(at, XIR_E_BOUNDS, where,
                              "size %zu is %" PRId64 ": expected at least 0, or -1 for the input's size", i, size);
    }
    if (size == -1 && is_new) {
        return xir_infer_fail(at, XIR_E_INVALID, where, "size %zu is -1, but the dim is new: expected a size", i);
    }
    if (size >= 0 && dims_differ(at, dim, 1) && dims_differ(at, size, dim)) {
        return xir_infer_fail(at, XIR_E_INVALID, where,
                              "size %zu is %" PRId64 ", the dim of input is %s: only dims of 1 can grow", i, size,
                              dim_words(at, dim).text);
    }
    if (size < 0) *out = dim;
    return XIR_OK;
}

static xir_status expand_dims(xir_infer *at, dim_list *out) {
    const xir_expand_attrs *a = xir_infer_attrs(at);
    const xir_tensor_type *input = xir_type_as_tensor(xir_infer_input(at, 0));
    size_t rank = input->shape.size, n = a->sizes.size;
    if (n < rank) {
        return xir_infer_fail(at, XIR_E_INVALID, "sizes",
                              "%zu sizes are given: expected at least %zu, the dims of input", n, rank);
    }
    dim_list asked;
    xir_status status = asked_sizes(at, &asked);
    if (status) return status;
    if (!dims_init(at, out, n)) status = XIR_E_MEMORY;
    for (size_t i = 0; i < n && !status; i++) {
        bool is_new = i < n - rank;
        int64_t dim = is_new ? 1 : input->shape.data[i - (n - rank)];
        status = expand_dim(at, i, asked.data[i], dim, is_new, &out->data[i]);
        if (status) dims_free(out);
    }
    dims_free(&asked);
    return status;
}

xir_status expand_check(xir_infer *at) {
    dim_list dims;
    if (!inputs_known(at, 1) || inputs_tiled(at, 1) || !list_checkable(at)) return XIR_OK;
    xir_status status = expand_dims(at, &dims);
    if (!status) dims_free(&dims);
    return status;
}

static xir_status expand_take(const move *m, xir_infer *at, size_t k, stretch_list *out) {
    int64_t dim = type_dim(xir_infer_input(at, 0), (int64_t)k), now = m->dims->data[m->to[k]];
    if (dim == now || now < 0) return XIR_OK;
    return dim < 0 ? refuse_unknown(at, k) : add_stretch(out, 0, now, 0);   // dim is 1
}

xir_status expand_infer(xir_infer *at) {
    dim_list dims;
    xir_status status = need_inputs(at, 1);
    if (!status) status = expand_dims(at, &dims);
    if (status) return status;
    status = give_grown(at, &dims, &(move){ .take = expand_take });
    dims_free(&dims);
    return status;
}

/* The counts of a Tile: an attribute, or read from the input. */
typedef struct counted {
    move     m;   /* first: the function that takes elements gets a pointer to it */
    dim_list counts;
} counted;

static xir_status read_counts(xir_infer *at, dim_list *out) {
    const xir_tile_attrs *a = xir_infer_attrs(at);
    if (has_list(at)) {
        xir_status status = check_list(at, a->dims.size);
        if (!status) status = check_open(at, "dims", a->dims);
        return status ? status : read_items(at, a->dims.size, out);
    }
    return copy_items(at, a->dims, out);
}

/* Returns how many times dim i of the output repeats the input. */
static int64_t repeats(const dim_list *counts, size_t i, size_t n) {
    return i + counts->size < n ? 1 : counts->data[i + counts->size - n];
}

/* A dim, repeated. */
static xir_status tile_dim(xir_infer *at, int64_t dim, int64_t times, int64_t *out) {
    *out = 0;
    if (times == 0 || dim == 0) return XIR_OK;
    if (dim < 0 || !expr_is_number(times)) *out = dim_of_expr(expr_mul(at->pool, expr_of_dim(dim), times));
    else if (!mul_i64(dim, times, out)) {
        return xir_infer_fail(at, XIR_E_LIMIT, list_place(at, "dims"),
                              "a dim of %" PRId64 " repeated %" PRId64 " times exceeds 64 bits", dim, times);
    }
    return XIR_OK;
}

/* Creates the counts and the dims, unless it fails. */
static xir_status tile_dims(xir_infer *at, dim_list *counts, dim_list *out) {
    const xir_tensor_type *input = xir_type_as_tensor(xir_infer_input(at, 0));
    xir_status status = read_counts(at, counts);
    if (status) return status;
    size_t rank = input->shape.size, n = counts->size > rank ? counts->size : rank;
    for (size_t i = 0; i < counts->size && !status; i++) {
        if (counts->data[i] >= 0 || !expr_is_number(counts->data[i])) continue;
        status = xir_infer_fail(at, XIR_E_BOUNDS, list_place(at, "dims"),
                                "count %zu is %" PRId64 ": expected at least 0", i, counts->data[i]);
    }
    bool made = !status && dims_init(at, out, n);
    if (!status && !made) status = XIR_E_MEMORY;
    for (size_t i = 0; i < n && !status; i++) {
        int64_t dim = i < n - rank ? 1 : input->shape.data[i - (n - rank)];
        status = tile_dim(at, dim, repeats(counts, i, n), &out->data[i]);
    }
    if (status && made) dims_free(out);
    if (status) dims_free(counts);
    return status;
}

xir_status tile_check(xir_infer *at) {
    dim_list counts, dims;
    if (!inputs_known(at, 1) || inputs_tiled(at, 1) || !list_checkable(at)) return XIR_OK;
    xir_status status = tile_dims(at, &counts, &dims);
    if (status) return status;
    dims_free(&dims);
    dims_free(&counts);
    return XIR_OK;
}

static xir_status tile_take(const move *m, xir_infer *at, size_t k, stretch_list *out) {
    int64_t dim = xir_type_as_tensor(xir_infer_input(at, 0))->shape.data[k];
    int64_t times = repeats(&((const counted *)m)->counts, (size_t)m->to[k], m->dims->size);
    if (times == 1) return XIR_OK;
    if (dim < 0 || !expr_is_number(times)) return refuse_unknown(at, k);
    if (times == 0 || dim == 0) return add_stretch(out, 0, 0, 1);
    if (dim == 1) return add_stretch(out, 0, times, 0);
    xir_status status = XIR_OK;
    for (int64_t i = 0; i < times && !status; i++) status = add_stretch(out, 0, dim, 1);
    return status;
}

xir_status tile_infer(xir_infer *at) {
    counted c = { .m = { .take = tile_take } };
    dim_list dims;
    xir_status status = need_inputs(at, 1);
    if (!status) status = tile_dims(at, &c.counts, &dims);
    if (status) return status;
    status = give_grown(at, &dims, &c.m);
    dims_free(&dims);
    dims_free(&c.counts);
    return status;
}
