/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Dims of operators that move, pick or reduce elements, and of those that work element by element. */
#include <math.h>
#include "onnx/types.h"

/* ---- lists ------------------------------------------------------------------------------------------------------ */

bool items_of(xir_node *at, const char *attribute, size_t input, xir_ints *out) {
    if (attribute && xir_node_items(at, attribute, out)) return true;
    return conversion_ints(at->c, node_input_at(at, input), out);
}

int64_t number_of(xir_node *at, size_t input) {
    xir_ints list;
    const double *reals;
    size_t n;
    if (items_of(at, NULL, input, &list)) return list.n == 1 ? dim_given(list.v[0]) : -1;
    const bool is_real = xir_node_is_constant(at, input) && length_of(at, input) < 2;   /* the depth of OneHot may be */
    if (!is_real || !xir_node_reals(at, input, &reals, &n) || n != 1) return -1;
    return reals[0] >= 0 && reals[0] < 0x1p53 ? (int64_t)reals[0] : -1;
}

/* A known list, or as many unknown dims as the list has items. */
static bool listed_by(xir_node *at, const char *attribute, size_t input, xir_ints *dims) {
    if (items_of(at, attribute, input, dims)) {
        for (size_t i = 0; i < dims->n; i++) dims->v[i] = dim_given(dims->v[i]);
        return true;
    }
    const int64_t n = length_of(at, input);
    return n >= 0 && n <= 64 && open_dims(at, (size_t)n, dims);
}

bool onnx_shape_listed(xir_node *at, xir_ints *dims) {
    return listed_by(at, NULL, 0, dims);
}

bool onnx_shape_attribute_shape(xir_node *at, xir_ints *dims) {
    if (!xir_node_items(at, "shape", dims)) return false;
    for (size_t i = 0; i < dims->n; i++) dims->v[i] = dim_given(dims->v[i]);
    return true;
}

bool onnx_shape_counted(xir_node *at, xir_ints *dims) {
    return dims_are(at, dims, DIMS(number_of(at, 0)));
}

bool dims_with(xir_node *at, xir_ints *out, const xir_ints *x, size_t from, size_t to, const xir_ints *others) {
    if (!open_dims(at, from + others->n + x->n - to, out)) return false;
    for (size_t i = 0; i < from; i++) out->v[i] = x->v[i];
    for (size_t i = 0; i < others->n; i++) out->v[from + i] = others->v[i];
    for (size_t i = to; i < x->n; i++) out->v[from + others->n + i - to] = x->v[i];
    return true;
}

bool dims_are(xir_node *at, xir_ints *out, const xir_ints *dims) { return dims_with(at, out, dims, 0, dims->n, dims); }

/* ---- element by element ----------------------------------------------------------------------------------------- */

bool onnx_shape_same(xir_node *at, xir_ints *dims) {
    return dims_of(at, 0, dims);
}

bool onnx_shape_like_second(xir_node *at, xir_ints *dims) {
    return dims_of(at, 1, dims);
}

bool onnx_shape_scalar(xir_node *at, xir_ints *dims) {
    return open_dims(at, 0, dims);
}

bool dims_broadcast(xir_node *at, const xir_ints *a, const xir_ints *b, xir_ints *out) {
    const xir_ints longer = a->n >= b->n ? *a : *b, shorter = a->n >= b->n ? *b : *a;   /* `out` may be one of them */
    if (!open_dims(at, longer.n, out)) return false;
    memcpy(out->v, longer.v, longer.n * sizeof *out->v);
    for (size_t k = 0; k < shorter.n; k++) {
        int64_t *dim = &out->v[longer.n - shorter.n + k], other = shorter.v[k];
        if (other == 1 || *dim == other) continue;
        if (*dim == 1 || (*dim < 0 && other > 1)) *dim = other;
        else if (*dim >= 0 && other >= 0) return false;
        else if (*dim < 2) *dim = -1;
    }
    return true;
}

/* Before version 7 the first input decides. */
bool onnx_shape_broadcast(xir_node *at, xir_ints *dims) {
    xir_ints next;
    if (!dims_of(at, 0, dims)) return false;
    for (size_t i = 1; at->cls->version >= 7 && i < at->n_in; i++) {
        if (!dims_of(at, i, &next) || !dims_broadcast(at, dims, &next, dims)) return false;
    }
    return true;
}

/* ---- reductions ------------------------------------------------------------------------------------------------- */

static bool drop_axes(xir_node *at, const xir_ints *x, const bool *gone, bool keep, xir_ints *dims) {
    if (!open_dims(at, x->n, dims)) return false;
    size_t n = 0;
    for (size_t i = 0; i < x->n; i++) {
        if (!gone[i]) dims->v[n++] = x->v[i];
        else if (keep) dims->v[n++] = 1;
    }
    dims->n = n;
    return true;
}

/* Marks the axes of a list. */
static bool marked(const xir_ints *axes, size_t rank, bool gone[64]) {
    memset(gone, 0, 64 * sizeof *gone);
    for (size_t i = 0, axis; i < axes->n; i++) {
        if (rank > 64 || !axis_in(axes->v[i], rank, &axis)) return false;
        gone[axis] = true;
    }
    return true;
}

bool onnx_shape_reduced(xir_node *at, xir_ints *dims) {
    const bool keep = xir_node_int(at, "keepdims", 1), has_list = xir_node_has(at, 1) || xir_node_attr(at, "axes");
    xir_ints x, axes = { NULL, 0 };
    bool gone[64];
    if (!dims_of(at, 0, &x) || x.n > 64) return false;
    if (has_list && !items_of(at, "axes", 1, &axes)) {
        const int64_t n = length_of(at, 1);   /* some axes: which ones depends on data */
        if (keep) return open_dims(at, x.n, dims);
        return n > 0 && n <= (int64_t)x.n && open_dims(at, x.n - (size_t)n, dims);
    }
    if (!marked(&axes, x.n, gone)) return false;
    const bool all = axes.n == 0 && !xir_node_int(at, "noop_with_empty_axes", 0);
    for (size_t i = 0; i < x.n; i++) gone[i] |= all;
    return drop_axes(at, &x, gone, keep, dims);
}

bool onnx_shape_positions(xir_node *at, xir_ints *dims) {
    xir_ints x;
    bool gone[64] = { false };
    size_t axis;
    if (!dims_of(at, 0, &x) || x.n > 64 || !axis_in(xir_node_int(at, "axis", 0), x.n, &axis)) return false;
    gone[axis] = true;
    return drop_axes(at, &x, gone, xir_node_int(at, "keepdims", 1), dims);
}

/* ---- shapes ----------------------------------------------------------------------------------------------------- */

static int64_t clipped(int64_t v, int64_t least, int64_t most) { return v < least ? least : v > most ? most : v; }

bool onnx_shape_shape(xir_node *at, xir_ints *dims) {
    xir_ints x;
    if (!dims_of(at, 0, &x)) return open_dims(at, 1, dims);
    const int64_t rank = (int64_t)x.n;
    int64_t start = xir_node_int(at, "start", 0), end = xir_node_int(at, "end", rank);
    start = clipped(start < 0 ? start + rank : start, 0, rank);
    end = clipped(end < 0 ? end + rank : end, 0, rank);
    return dims_are(at, dims, DIMS(end > start ? end - start : 0));
}

bool onnx_shape_range(xir_node *at, xir_ints *dims) {
    return open_dims(at, 1, dims);
}

/* 0 copies a dim of x, -1 is what remains. */
bool onnx_shape_reshape(xir_node *at, xir_ints *dims) {
    xir_ints x = { NULL, 0 };
    int64_t known = 1, rest = -1;
    bool open = false;
    const bool has_x = dims_of(at, 0, &x);
    if (!items_of(at, "shape", 1, dims)) return listed_by(at, NULL, 1, dims);
    for (size_t i = 0; i < dims->n; i++) {
        if (dims->v[i] == 0 && !xir_node_int(at, "allowzero", 0)) dims->v[i] = has_x && i < x.n ? x.v[i] : OPEN_ITEM;
        else if (dims->v[i] == -1) rest = (int64_t)i;
        else if (dims->v[i] < 0) dims->v[i] = OPEN_ITEM;
        if (rest == (int64_t)i) continue;
        open |= dims->v[i] < 0;
        known = dim_product(known, dims->v[i]);
    }
    const int64_t all = has_x ? product_of(&x, 0, x.n) : -1;
    if (rest >= 0 && !open && known > 0 && all >= 0 && all % known == 0) dims->v[rest] = all / known;
    for (size_t i = 0; i < dims->n; i++) if (dims->v[i] == OPEN_ITEM) dims->v[i] = -1;
    return true;
}

bool onnx_shape_expand(xir_node *at, xir_ints *dims) {
    xir_ints x, to;
    return dims_of(at, 0, &x) && listed_by(at, NULL, 1, &to) && dims_broadcast(at, &x, &to, dims);
}

bool onnx_shape_tile(xir_node *at, xir_ints *dims) {
    xir_ints times;
    if (!dims_of(at, 0, dims)) return false;
    if (at->cls->version < 6 || !items_of(at, NULL, 1, &times)) return open_dims(at, dims->n, dims);
    for (size_t i = 0; i < dims->n; i++) dims->v[i] = i < times.n ? dim_product(dims->v[i], times.v[i]) : -1;
    return true;
}

bool onnx_shape_flatten(xir_node *at, xir_ints *dims) {
    xir_ints x;
    size_t axis;
    if (!dims_of(at, 0, &x) || !axis_in(xir_node_int(at, "axis", 1), x.n + 1, &axis)) return false;
    if (xir_node_int(at, "axis", 1) < 0) axis--;   /* the axis may be the rank, but counts from it */
    return axis <= x.n && dims_are(at, dims, DIMS(product_of(&x, 0, axis), product_of(&x, axis, x.n)));
}

bool onnx_shape_transpose(xir_node *at, xir_ints *dims) {
    xir_ints x, order;
    if (!dims_of(at, 0, &x) || !open_dims(at, x.n, dims)) return false;
    const bool given = xir_node_items(at, "perm", &order);
    if (given && order.n != x.n) return false;
    for (size_t i = 0, axis; i < x.n; i++) {
        if (!axis_in(given ? order.v[i] : (int64_t)(x.n - 1 - i), x.n, &axis)) return false;
        dims->v[i] = x.v[axis];
    }
    return true;
}

bool onnx_shape_squeeze(xir_node *at, xir_ints *dims) {
    const bool has_list = xir_node_has(at, 1) || xir_node_attr(at, "axes");
    xir_ints x, axes = { NULL, 0 };
    bool gone[64];
    if (!dims_of(at, 0, &x) || x.n > 64) return false;
    if (has_list && !items_of(at, "axes", 1, &axes)) {
        const int64_t n = length_of(at, 1);
        return n >= 0 && n <= (int64_t)x.n && open_dims(at, x.n - (size_t)n, dims);
    }
    if (!marked(&axes, x.n, gone)) return false;
    for (size_t i = 0; !has_list && i < x.n; i++) {
        if (x.v[i] < 0) return false;
        gone[i] = x.v[i] == 1;
    }
    return drop_axes(at, &x, gone, false, dims);
}

bool onnx_shape_unsqueeze(xir_node *at, xir_ints *dims) {
    xir_ints x, axes;
    bool added[64];
    if (!dims_of(at, 0, &x)) return false;
    if (!items_of(at, "axes", 1, &axes)) {
        const int64_t n = length_of(at, 1);
        return n >= 0 && n <= 64 && open_dims(at, x.n + (size_t)n, dims);
    }
    const size_t rank = x.n + axes.n;
    if (!marked(&axes, rank, added) || !open_dims(at, rank, dims)) return false;
    for (size_t i = 0, from = 0; i < rank; i++) dims->v[i] = added[i] ? 1 : from < x.n ? x.v[from++] : -1;
    return true;
}

/* ---- parts ------------------------------------------------------------------------------------------------------ */

bool onnx_shape_concat(xir_node *at, xir_ints *dims) {
    xir_ints next;
    size_t axis;
    if (!dims_of(at, 0, dims) || !axis_in(xir_node_int(at, "axis", 1), dims->n, &axis)) return false;
    for (size_t i = 1; i < at->n_in; i++) {
        if (!dims_of(at, i, &next) || next.n != dims->n) return false;
        for (size_t k = 0; k < next.n; k++) {
            if (k == axis) dims->v[k] = dim_sum(dims->v[k], next.v[k]);
            else if (dims->v[k] < 0) dims->v[k] = next.v[k];
        }
    }
    return true;
}

bool onnx_shape_split(xir_node *at, xir_ints *dims) {
    xir_ints sizes;
    size_t axis;
    if (!dims_of(at, 0, dims) || !axis_in(xir_node_int(at, "axis", 0), dims->n, &axis)) return false;
    const int64_t parts = xir_node_int(at, "num_outputs", (int64_t)xir_op_output_count(at->op)), whole = dims->v[axis];
    const bool listed = xir_node_has(at, 1) || xir_node_attr(at, "split");
    dims->v[axis] = -1;
    if (listed && items_of(at, "split", 1, &sizes) && at->asked < sizes.n && sizes.v[at->asked] >= 0) {
        dims->v[axis] = sizes.v[at->asked];
    } else if (!listed && whole >= 0 && parts > 0) {   /* the last one is smaller, and may be empty */
        const int64_t each = whole / parts + (whole % parts != 0), first = dim_product(each, (int64_t)at->asked);
        dims->v[axis] = first < 0 || first >= whole ? 0 : whole - first < each ? whole - first : each;
    }
    return true;
}

bool onnx_shape_pad(xir_node *at, xir_ints *dims) {
    xir_ints pads, axes = { NULL, 0 };
    if (!dims_of(at, 0, dims)) return false;
    const char *name = at->cls->version < 2 ? "paddings" : "pads";
    const bool some = xir_node_has(at, 3);
    if (!items_of(at, name, 1, &pads) || (some && !items_of(at, NULL, 3, &axes))) return open_dims(at, dims->n, dims);
    const size_t n = some ? axes.n : dims->n;
    if (pads.n != 2 * n) return false;
    for (size_t i = 0, axis; i < n; i++) {
        if (!axis_in(some ? axes.v[i] : (int64_t)i, dims->n, &axis)) return false;
        const int64_t before = pads.v[i], after = pads.v[n + i], whole = dims->v[axis];
        int64_t sum;
        const bool known = whole >= 0 && before != OPEN_ITEM && after != OPEN_ITEM &&
                           !__builtin_add_overflow(before, after, &sum) && !__builtin_add_overflow(sum, whole, &sum);
        if (known && sum < 0) return false;
        dims->v[axis] = known ? sum : -1;
    }
    return true;
}

/* Returns how many elements [start, end) has with a step, as ONNX clips them; -1: unknown. */
static int64_t sliced(int64_t whole, int64_t start, int64_t end, int64_t step) {
    if (whole < 0 || start == OPEN_ITEM || end == OPEN_ITEM || step == OPEN_ITEM || step == 0) return -1;
    if (whole == 0) return 0;
    start = clipped(start < 0 ? start + whole : start, 0, step < 0 ? whole - 1 : whole);
    end = clipped(end < 0 ? end + whole : end, step < 0 ? -1 : 0, whole);
    const uint64_t size = step > 0 ? (uint64_t)step : 0 - (uint64_t)step;
    const int64_t room = step > 0 ? end - start : start - end;
    return room <= 0 ? 0 : (int64_t)(((uint64_t)room - 1) / size + 1);
}

bool onnx_shape_slice(xir_node *at, xir_ints *dims) {
    xir_ints starts, ends, axes = { NULL, 0 }, steps = { NULL, 0 };
    if (!dims_of(at, 0, dims)) return false;
    const bool some = xir_node_has(at, 3) || xir_node_attr(at, "axes"), stepped = xir_node_has(at, 4);
    if (some && !items_of(at, "axes", 3, &axes)) return open_dims(at, dims->n, dims);
    const bool known = items_of(at, "starts", 1, &starts) && items_of(at, "ends", 2, &ends) && starts.n == ends.n &&
                       (!stepped || items_of(at, NULL, 4, &steps)) && (!some || axes.n == starts.n);
    const int64_t n = some ? (int64_t)axes.n : known ? (int64_t)starts.n : length_of(at, 1);
    for (int64_t i = 0; i < (n < 0 ? (int64_t)dims->n : n); i++) {
        size_t axis;
        if (!axis_in(some ? axes.v[i] : i, dims->n, &axis)) return false;
        const int64_t step = stepped && known && (size_t)i < steps.n ? steps.v[i] : 1;
        dims->v[axis] = known ? sliced(dims->v[axis], starts.v[i], ends.v[i], step) : -1;
    }
    return true;
}

bool onnx_shape_center_crop_pad(xir_node *at, xir_ints *dims) {
    xir_ints sizes, axes;
    if (!dims_of(at, 0, dims)) return false;
    const bool some = xir_node_items(at, "axes", &axes), known = listed_by(at, NULL, 1, &sizes);
    const size_t n = some ? axes.n : dims->n;
    for (size_t i = 0, axis; i < n; i++) {
        if (!axis_in(some ? axes.v[i] : (int64_t)i, dims->n, &axis)) return false;
        dims->v[axis] = known && i < sizes.n ? sizes.v[i] : -1;
    }
    return true;
}

/* ---- blocks and sizes ------------------------------------------------------------------------------------------- */

bool onnx_shape_depth_to_space(xir_node *at, xir_ints *dims) {
    const int64_t block = xir_node_int(at, "blocksize", 0);
    xir_ints x;
    if (!dims_of(at, 0, &x) || x.n != 4 || block < 1) return false;
    return dims_are(at, dims, DIMS(x.v[0], dim_quotient(x.v[1], dim_product(block, block)),
                                   dim_product(x.v[2], block), dim_product(x.v[3], block)));
}

bool onnx_shape_space_to_depth(xir_node *at, xir_ints *dims) {
    const int64_t block = xir_node_int(at, "blocksize", 0);
    xir_ints x;
    if (!dims_of(at, 0, &x) || x.n != 4 || block < 1) return false;
    return dims_are(at, dims, DIMS(x.v[0], dim_product(x.v[1], dim_product(block, block)),
                                   dim_quotient(x.v[2], block), dim_quotient(x.v[3], block)));
}

/* Upsample and Resize: sizes, or factors that are rounded down. */
bool onnx_shape_resize(xir_node *at, xir_ints *dims) {
    xir_ints sizes, axes;
    const double *scales = NULL;
    size_t n = 0;
    if (!dims_of(at, 0, dims)) return false;
    const bool upsample = xir_str_equal(at->cls->type, XIR_STR("Upsample"));
    const size_t factors = upsample || at->cls->version < 11 ? 1 : 2;
    const bool some = xir_node_items(at, "axes", &axes), has_sizes = xir_node_has(at, 3);
    if (!xir_node_real_items(at, "scales", &scales, &n) && xir_node_is_constant(at, factors)) {
        (void)xir_node_reals(at, factors, &scales, &n);
    }
    const bool stretched = !xir_node_is(at, "keep_aspect_ratio_policy", "stretch") &&
                           xir_node_attr(at, "keep_aspect_ratio_policy");
    const bool known = has_sizes && !stretched && listed_by(at, NULL, 3, &sizes);
    for (size_t i = 0, axis; i < (some ? axes.n : dims->n); i++) {
        if (!axis_in(some ? axes.v[i] : (int64_t)i, dims->n, &axis)) return false;
        const double size = i < n ? floor((double)dims->v[axis] * scales[i]) : -1;
        if (!has_sizes && i < n && scales[i] == 1) continue;
        if (has_sizes) dims->v[axis] = known && i < sizes.n ? sizes.v[i] : -1;
        else dims->v[axis] = dims->v[axis] >= 0 && size >= 0 && size < 0x1p53 ? (int64_t)size : -1;
    }
    return true;
}

/* ---- elements by index ------------------------------------------------------------------------------------------ */

bool dims_gathered(xir_node *at, const xir_ints *x, int64_t axis, xir_ints *out) {
    xir_ints places;
    size_t k;
    return dims_of(at, 1, &places) && axis_in(axis, x->n, &k) && dims_with(at, out, x, k, k + 1, &places);
}

bool onnx_shape_gather(xir_node *at, xir_ints *dims) {
    xir_ints x;
    return dims_of(at, 0, &x) && dims_gathered(at, &x, xir_node_int(at, "axis", 0), dims);
}

bool onnx_shape_gather_nd(xir_node *at, xir_ints *dims) {
    const int64_t batch = xir_node_int(at, "batch_dims", 0);
    xir_ints x, places;
    if (!dims_of(at, 0, &x) || !dims_of(at, 1, &places) || places.n == 0 || batch < 0 || batch > (int64_t)x.n) {
        return false;
    }
    const int64_t depth = places.v[places.n - 1];
    if (depth < 0 || depth > (int64_t)x.n - batch) return false;
    places.n--;
    return dims_with(at, dims, &x, 0, (size_t)(batch + depth), &places);
}

bool onnx_shape_one_hot(xir_node *at, xir_ints *dims) {
    xir_ints x;
    size_t axis;
    if (!dims_of(at, 0, &x) || !axis_in(xir_node_int(at, "axis", -1), x.n + 1, &axis)) return false;
    return dims_with(at, dims, &x, axis, axis, DIMS(number_of(at, 1)));
}

/* The axis that depends on data, or one dim if all are one. */
static bool picked(xir_node *at, xir_ints *dims) {
    size_t axis;
    if (!xir_node_attr(at, "axis")) return open_dims(at, 1, dims);
    if (!dims_of(at, 0, dims) || !axis_in(xir_node_int(at, "axis", 0), dims->n, &axis)) return false;
    dims->v[axis] = -1;
    return true;
}

bool onnx_shape_compress(xir_node *at, xir_ints *dims) {
    return picked(at, dims);
}

bool onnx_shape_unique(xir_node *at, xir_ints *dims) {
    return at->asked ? open_dims(at, 1, dims) : picked(at, dims);
}

bool onnx_shape_top_k(xir_node *at, xir_ints *dims) {
    size_t axis;
    if (!dims_of(at, 0, dims) || !axis_in(xir_node_int(at, "axis", -1), dims->n, &axis)) return false;
    const int64_t k = xir_node_int(at, "k", -1);
    dims->v[axis] = k >= 0 ? k : number_of(at, 1);
    return true;
}

bool onnx_shape_non_zero(xir_node *at, xir_ints *dims) {
    xir_ints x;
    return dims_are(at, dims, DIMS(dims_of(at, 0, &x) ? (int64_t)x.n : -1, -1));
}

bool onnx_shape_boxes(xir_node *at, xir_ints *dims) {
    return dims_are(at, dims, DIMS(-1, 3));
}
