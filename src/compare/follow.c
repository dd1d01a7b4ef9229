/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The positions of an array's elements in another type: a network may keep a value with its axes in another order,
 * with axes of length 1 more or less, or as other elements. Arrays are brought there by the executor, in a network of
 * one op: so scales follow their axis, and numbers are rounded as everywhere. */
#include "comparison.h"

/* ---- places ------------------------------------------------------------------------------------------------------ */

static bool dims_fit(int64_t x, int64_t y) { return x < 0 || y < 0 || x == y; }

static int64_t dim(const xir_type *type, size_t i) { return xir_type_dim(type, (int64_t)i, false); }

/* The letter of an axis, `*` without one. */
static char letter(const xir_type *type, size_t i) {
    const xir_layout *layout = xir_type_layout(type);
    const char c = layout ? xir_layout_axis(layout, i) : '*';
    return c ? c : '*';
}

static bool has_no_letters(const xir_type *type) {
    for (size_t i = 0; i < xir_type_rank(type); i++)
        if (letter(type, i) != '*') return false;
    return true;
}

/* Finds the axis of `from` for each axis of `to` by letters; false if they do not tell. */
static bool axes_by_letters(const xir_type *from, const xir_type *to, int64_t axes[MOST_AXES]) {
    const size_t rank = xir_type_rank(to);
    for (size_t i = 0; i < rank; i++) {
        size_t found = 0;
        for (size_t k = 0; k < rank; k++) {
            if (letter(from, k) != letter(to, i) || letter(to, i) == '*') continue;
            axes[i] = (int64_t)k;
            found++;
        }
        if (found != 1) return false;
    }
    return true;
}

/* The axes of `from` if axis 1 of it is the last one of `to`; or the other way round. */
static void axes_moved_last(size_t rank, int64_t axes[MOST_AXES]) {
    for (size_t i = 0; i < rank; i++) axes[i] = i == 0 ? 0 : i == rank - 1 ? 1 : (int64_t)i + 1;
}

static void axes_moved_first(size_t rank, int64_t axes[MOST_AXES]) {
    for (size_t i = 0; i < rank; i++) axes[i] = i == 0 ? 0 : i == 1 ? (int64_t)rank - 1 : (int64_t)i - 1;
}

static bool axes_fit(const xir_type *from, const xir_type *to, const int64_t *axes) {
    for (size_t i = 0; i < xir_type_rank(to); i++)
        if (!dims_fit(dim(from, (size_t)axes[i]), dim(to, i))) return false;
    return true;
}

static bool ends_with_channels(const xir_type *type) { return letter(type, xir_type_rank(type) - 1) == 'C'; }

/* Returns true if all dims agree in their order, or all but those of length 1; or one side is flat. */
static bool are_in_order(const xir_type *from, const xir_type *to) {
    const size_t n = xir_type_rank(from), m = xir_type_rank(to);
    size_t i = 0, k = 0, of_from = 0, of_to = 0;
    int64_t all_from = 0, all_to = 0;
    bool same = n == m;
    for (size_t axis = 0; axis < n && same; axis++) same = dims_fit(dim(from, axis), dim(to, axis));
    if (same) return true;
    for (same = true; i < n || k < m;) {
        if (i < n && dim(from, i) == 1) i++;
        else if (k < m && dim(to, k) == 1) k++;
        else {
            same = same && i < n && k < m && dims_fit(dim(from, i), dim(to, k));
            of_from += i < n;
            of_to += k < m;
            i += i < n;
            k += k < m;
        }
    }
    if (same || (of_from > 1 && of_to > 1)) return same;
    return !xir_type_elements(from, &all_from) && !xir_type_elements(to, &all_to) && all_from == all_to;
}

static bool is_same_order(size_t rank, const int64_t *axes) {
    for (size_t i = 0; i < rank; i++)
        if (axes[i] != (int64_t)i) return false;
    return true;
}

static bool is_movable(const xir_type *from, const xir_type *to) {
    const size_t rank = xir_type_rank(to);
    return rank == xir_type_rank(from) && rank > 2 && rank <= MOST_AXES;
}

/* Dims alone decide if nothing else fits. Arrays of files have no letters, so letters decide nothing there. */
static compare_places places(const xir_type *from, const xir_type *to, bool is_file, int64_t axes[MOST_AXES]) {
    const size_t rank = xir_type_rank(to);
    const bool movable = is_movable(from, to);
    if (!xir_type_as_tensor(from) || !xir_type_as_tensor(to)) return from == to ? PLACES_SAME : PLACES_NONE;
    if (is_file && are_in_order(from, to)) return PLACES_SAME;
    if (movable && axes_by_letters(from, to, axes)) {
        if (!axes_fit(from, to, axes)) return PLACES_NONE;
        return is_same_order(rank, axes) ? PLACES_SAME : PLACES_MOVED;
    }
    if (movable && has_no_letters(from) && ends_with_channels(to)) {
        axes_moved_last(rank, axes);
        if (axes_fit(from, to, axes)) return PLACES_MOVED;
    }
    if (movable && has_no_letters(to) && ends_with_channels(from)) {
        axes_moved_first(rank, axes);
        if (axes_fit(from, to, axes)) return PLACES_MOVED;
    }
    if (are_in_order(from, to)) return PLACES_SAME;
    if (!movable) return PLACES_NONE;
    axes_moved_last(rank, axes);
    if (axes_fit(from, to, axes)) return PLACES_MOVED;
    axes_moved_first(rank, axes);
    return axes_fit(from, to, axes) ? PLACES_MOVED : PLACES_NONE;
}

compare_places compare_places_of(const xir_type *from, const xir_type *to) {
    int64_t axes[MOST_AXES];
    return from && to ? places(from, to, false, axes) : PLACES_SAME;
}

compare_places compare_places_of_file(const xir_type *from, const xir_type *to) {
    int64_t axes[MOST_AXES];
    return places(from, to, true, axes);
}

static void keep_order(const xir_type *from, const int64_t *axes, compare_order *order) {
    const size_t rank = xir_type_rank(from);
    *order = (compare_order){ 0 };
    if (rank > MOST_KEPT_AXES) return;
    order->rank = (unsigned char)rank;
    for (size_t i = 0; i < rank; i++) {
        order->axes[i] = (unsigned char)axes[i];
        order->dims[i] = dim(from, i);
    }
}

bool compare_other_order(const xir_type *from, const xir_type *to, bool last, compare_order *order) {
    int64_t axes[MOST_AXES];
    if (!is_movable(from, to)) return false;
    if (last) axes_moved_last(xir_type_rank(to), axes);
    else axes_moved_first(xir_type_rank(to), axes);
    keep_order(from, axes, order);
    return order->rank && axes_fit(from, to, axes);
}

/* ---- arrays ------------------------------------------------------------------------------------------------------ */

/* Runs one op on an array: a Transpose by `axes`, or without them a Cast to `element`. */
static xir_status run_op(const xir_compare *c, const xir_array *array, const int64_t *axes, const xir_type *element,
                         xir_array **out, xir_diags *why) {
    const xir_type *type = xir_array_type(array), *like = NULL;
    const size_t rank = xir_type_rank(type);
    xir_network *net = xir_network_new(c->ctx, "follow", XIR_FRAMEWORK_ONNX, "");
    if (!net) return no_memory(why);
    const xir_at at = XIR_AT(net);
    xir_value *x = xir_input(at, "x", type), *y = NULL;
    if (!axes) like = xir_type_with_element(c->ctx, type, element, why);
    if (axes) y = xir_build_transpose(at, x, axes, rank, NULL);
    else if (like) y = xir_build_cast(at, x, like, NULL);
    xir_output(at, XIR_VALUES(y));
    xir_status status = xir_network_status(net);
    const xir_run_options how = XIR_INIT(xir_run_options, .cancel = c->how.cancel, .user = c->how.user,
                                         .threads = c->how.threads);
    if (status) xir_network_move_diags(net, why);
    else status = xir_network_run(net, &array, 1, out, 1, &how, why);
    xir_network_free(net);
    return status;
}

xir_status compare_follow(const xir_compare *c, const xir_array *array, const xir_type *to, xir_array **out,
                          compare_order *order, xir_diags *why) {
    int64_t axes[MOST_AXES];
    *out = NULL;
    *order = (compare_order){ 0 };
    const compare_places where = places(xir_array_type(array), to, c->folder.path != NULL, axes);
    if (where == PLACES_MOVED) keep_order(xir_array_type(array), axes, order);
    if (where == PLACES_MOVED) return run_op(c, array, axes, NULL, out, why);
    if (where == PLACES_SAME) *out = xir_array_retain((xir_array *)(uintptr_t)array);
    return XIR_OK;
}

/* The same bytes under other dims. */
static xir_status reshape(const xir_compare *c, const xir_array *array, const int64_t *dims, size_t rank,
                          xir_array **out, xir_diags *why) {
    const xir_type *type = xir_type_tensor(c->ctx, xir_type_element(xir_array_type(array)), NULL, dims, rank);
    size_t size;
    const void *bytes = xir_array_data(array, &size);
    *out = type ? xir_array_copy(c->ctx, type, bytes, size, why) : NULL;
    return *out ? XIR_OK : type ? XIR_E_MEMORY : no_memory(why);
}

/* Returns true if an array has as many elements as an order, and one scale, which has no axis to follow. */
static bool has_order(const xir_array *array, const compare_order *order) {
    int64_t n = 1;
    for (size_t i = 0; i < order->rank; i++) n *= order->dims[i];
    const xir_type *element = xir_type_element(xir_array_type(array));
    return order->rank && (size_t)n == xir_array_count(array) && xir_scales_count(xir_type_scale(element)) < 2 &&
           xir_type_zero_points(element).size < 2;
}

static xir_status reorder(const xir_compare *c, const xir_array *array, const int64_t *dims, const int64_t *axes,
                          size_t rank, xir_array **out, xir_diags *why) {
    xir_array *folded;
    xir_status status = reshape(c, array, dims, rank, &folded, why);
    if (!status) status = run_op(c, folded, axes, NULL, out, why);
    xir_array_free(folded);
    return status;
}

xir_status compare_unfold(const xir_compare *c, const xir_array *array, const compare_order *order, xir_array **out,
                          xir_diags *why) {
    int64_t axes[MOST_KEPT_AXES];
    *out = NULL;
    for (size_t i = 0; i < order->rank; i++) axes[i] = order->axes[i];
    return has_order(array, order) ? reorder(c, array, order->dims, axes, order->rank, out, why) : XIR_OK;
}

xir_status compare_fold(const xir_compare *c, const xir_array *array, const compare_order *order, xir_array **out,
                        xir_diags *why) {
    int64_t axes[MOST_KEPT_AXES], dims[MOST_KEPT_AXES];
    *out = NULL;
    for (size_t i = 0; i < order->rank; i++) {
        axes[order->axes[i]] = (int64_t)i;
        dims[i] = order->dims[order->axes[i]];
    }
    return has_order(array, order) ? reorder(c, array, dims, axes, order->rank, out, why) : XIR_OK;
}

xir_status compare_relabel(const xir_compare *c, const xir_array *array, const xir_type *to, xir_array **out,
                           xir_diags *why) {
    const xir_type *was = xir_array_type(array);
    const size_t rank = xir_type_rank(to);
    *out = NULL;
    for (size_t i = 0; i < rank; i++)
        if (rank != xir_type_rank(was) || !dims_fit(dim(was, i), dim(to, i))) return XIR_OK;
    const xir_type *type = xir_type_with_layout(c->ctx, was, xir_type_layout(to), why);
    size_t size;
    const void *bytes = xir_array_data(array, &size);
    *out = type ? xir_array_copy(c->ctx, type, bytes, size, why) : NULL;
    return *out ? XIR_OK : XIR_E_MEMORY;
}

xir_status compare_fit(const xir_compare *c, const xir_array *array, const xir_type *to, xir_array **out,
                       xir_diags *why) {
    compare_order order;
    xir_status status = compare_follow(c, array, to, out, &order, why);
    if (status || !*out) return status;
    bool same_dims = xir_type_rank(xir_array_type(*out)) == xir_type_rank(to);
    for (size_t i = 0; same_dims && i < xir_type_rank(to); i++)
        same_dims = dims_fit(dim(xir_array_type(*out), i), dim(to, i));
    if (!same_dims && !xir_type_has_unknown_dim(to)) {
        const xir_tensor_type *tensor = xir_type_as_tensor(to);
        xir_array *now;
        status = reshape(c, *out, tensor->shape.data, tensor->shape.size, &now, why);
        xir_array_free(*out);
        *out = now;
    }
    const xir_type *element = xir_type_element(to);
    if (!status && !xir_type_equal(element, xir_type_element(xir_array_type(*out)))) {
        xir_array *now = NULL;
        status = run_op(c, *out, NULL, element, &now, why);
        xir_array_free(*out);
        *out = now;
    }
    if (status) {
        xir_array_free(*out);
        *out = NULL;
    }
    return status;
}
