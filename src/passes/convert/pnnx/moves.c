/* Operators that move elements. */
#include <stdio.h>
#include "convert/lists.h"
#include "convert/pnnx/pnnx.h"

/* ---- other dims ------------------------------------------------------------------------------------------------- */

/* The shape is a parameter, or an input that an Expression makes. A 0 is a dim without elements, as everywhere in
 * PyTorch; but the converter writes 0 for a dim that is kept. */
bool pnnx_reshape(xir_node *at) {
    list_items shape;
    xir_value *x = xir_node_input(at, 0);
    if (!x) return false;
    if (!read_items_of(at, "shape", 1, &shape))
        return xir_node_failed(at) ? false : xir_node_invalid(at, XIR_E_MISSING, NULL, "shape is missing");
    for (size_t i = 0; i < shape.n; i++)
        if (shape.v[i].v == 0 && shape.v[i].origin == FROM_NUMBER && i < v_rank(x)) shape.v[i] = item_dim(x, i);
    return xir_node_result(at, 0, make_reshaped_to(at, x, &shape));
}

/* The dims of a value as a list. */
static list_items dims_of(xir_node *at, xir_value *x) {
    list_items dims = make_items(at, x ? v_rank(x) : 0, 0);
    for (size_t i = 0; i < dims.n; i++) {
        dims.v[i] = item_dim(x, i);
        if (expr_is_number(dims.v[i].v)) dims.v[i].origin = FROM_NUMBER;
    }
    return dims;
}

static bool expanded(xir_node *at, xir_value *x, list_items *sizes) {
    if (xir_node_failed(at)) return false;
    const size_t more = sizes->n - v_rank(x);
    xir_ints numbers = xir_node_make_ints(at, sizes->n, -1);
    for (size_t i = 0; i < numbers.n; i++) {
        if (i >= more && sizes->v[i].v == v_dim(x, i - more)) sizes->v[i] = item_number(-1);
        if (items_known(sizes)) numbers.v[i] = sizes->v[i].v;
    }
    const xir_sets sets = SETS(LIST("sizes", &numbers));
    if (items_known(sizes)) return xir_node_becomes(at, "Expand", INS(x), sets);
    for (size_t i = 0; i < numbers.n; i++) numbers.v[i] = -1;
    return xir_node_result(at, 0, make_listed(at, "Expand", x, sizes, sets));
}

/* The dims of another value. */
bool pnnx_like(xir_node *at) {
    xir_value *x = xir_node_input(at, 0), *other = xir_node_input(at, 1);
    list_items dims = dims_of(at, other);
    if (xir_node_failed(at)) return false;
    const xir_str type = xir_node_type(at);
    if (!xir_str_equal(type, XIR_STR("Tensor.expand_as"))) return xir_node_result(at, 0, make_reshaped_to(at, x, &dims));
    if (dims.n < v_rank(x)) return xir_node_unsupported(at, "fewer dims");
    return expanded(at, x, &dims);
}

bool pnnx_expand(xir_node *at) {
    list_items sizes;
    xir_value *x = xir_node_input(at, 0);
    if (!x || !read_items_of(at, "sizes", 1, &sizes)) return false;
    if (sizes.n < v_rank(x)) {
        return xir_node_invalid(at, XIR_E_BOUNDS, "attribute/sizes", "expected at least %zu items, found %zu", v_rank(x),
                                sizes.n);
    }
    return expanded(at, x, &sizes);
}

bool pnnx_repeat(xir_node *at) {
    xir_ints counts;
    xir_value *x = xir_node_input(at, 0);
    const char *name = xir_str_equal(xir_node_type(at), XIR_STR("torch.tile")) ? "dims" : "sizes";
    if (!x || !pnnx_list(at, name, 0, &counts)) return false;
    const size_t rank = v_rank(x), n = counts.n > rank ? counts.n : rank;
    list_items dims = make_items(at, n, 1);
    xir_ints all = xir_node_make_ints(at, n, 1);
    if (xir_node_failed(at)) return false;
    for (size_t i = 0; i < counts.n; i++) all.v[n - counts.n + i] = counts.v[i];
    for (size_t i = 0; i < rank; i++) {
        dims.v[n - rank + i] = item_dim(x, i);
        if (v_dim(x, i) >= 0) dims.v[n - rank + i].origin = FROM_NUMBER;
    }
    if (n > rank) x = make_reshaped_to(at, x, &dims);
    return xir_node_becomes(at, "Tile", INS(x), SETS(LIST("dims", &all)));
}

bool pnnx_permute(xir_node *at) {
    xir_ints dims;
    xir_value *x = xir_node_input(at, 0);
    if (!x || !pnnx_list(at, "dims", v_rank(x), &dims)) return false;
    xir_ints seen = xir_node_make_ints(at, dims.n, 0);
    for (size_t i = 0; i < seen.n; i++) {
        if (!xir_node_axis(at, "attribute/dims", dims.v[i], dims.n, &dims.v[i])) return false;
        if (seen.v[dims.v[i]]++) {
            return xir_node_invalid(at, XIR_E_INVALID, "attribute/dims", "dims: expected each dim once, found %lld twice",
                                    (long long)dims.v[i]);
        }
    }
    return xir_node_result(at, 0, xir_node_transposed(at, x, dims.v, dims.n, NULL));
}

/* torch.t swaps the dims of a matrix. */
bool pnnx_transpose(xir_node *at) {
    int64_t a, b;
    xir_value *x = xir_node_input(at, 0);
    if (!x) return false;
    const size_t rank = v_rank(x);
    if (xir_str_equal(xir_node_type(at), XIR_STR("torch.t")) && rank < 2) return xir_node_result(at, 0, x);
    if (!pnnx_axis(at, "dim0", 0, rank, &a) || !pnnx_axis(at, "dim1", 1, rank, &b)) return false;
    xir_ints order = xir_node_series(at, 0, rank);
    if (!order.v) return false;
    order.v[a] = b, order.v[b] = a;
    return xir_node_result(at, 0, xir_node_transposed(at, x, order.v, rank, NULL));
}

bool pnnx_flatten(xir_node *at) {
    int64_t first, last;
    xir_value *x = xir_node_input(at, 0);
    const bool module = xir_node_type(at).data[0] == 'n';
    if (!x) return false;
    const size_t rank = v_rank(x);
    if (rank == 0) return xir_node_result(at, 0, pnnx_shaped(at, x, (int64_t[]){ 1 }, 1));
    if (!pnnx_axis(at, "start_dim", module, rank, &first) || !pnnx_axis(at, "end_dim", -1, rank, &last)) return false;
    if (first > last) return xir_node_invalid(at, XIR_E_BOUNDS, "attribute/end_dim", "end_dim is before start_dim");
    const size_t n = rank - (size_t)(last - first);
    list_items dims = make_items(at, n, -1);
    for (size_t i = 0; i < dims.n; i++) {
        if (i != (size_t)first) dims.v[i] = item_dim(x, i < (size_t)first ? i : i + (size_t)(last - first));
        if (expr_is_number(dims.v[i].v)) dims.v[i].origin = FROM_NUMBER;
    }
    if (first == last) return xir_node_result(at, 0, x);
    return xir_node_result(at, 0, make_reshaped_to(at, x, &dims));
}

bool pnnx_unflatten(xir_node *at) {
    int64_t axis;
    xir_ints sizes;
    xir_value *x = xir_node_input(at, 0);
    if (!x || !pnnx_axis(at, "dim", 0, v_rank(x), &axis) || !pnnx_list(at, "sizes", 0, &sizes)) return false;
    list_items dims = make_items(at, v_rank(x) - 1 + sizes.n, -1);
    for (size_t i = 0; i < dims.n; i++) {
        const size_t k = (size_t)axis;
        if (i >= k && i < k + sizes.n) dims.v[i] = item_number(sizes.v[i - k]);
        else dims.v[i] = item_dim(x, i < k ? i : i - sizes.n + 1);
        if (expr_is_number(dims.v[i].v)) dims.v[i].origin = FROM_NUMBER;
    }
    return xir_node_result(at, 0, make_reshaped_to(at, x, &dims));
}

/* Only dims of 1 are removed. */
bool pnnx_squeeze(xir_node *at) {
    xir_ints axes;
    xir_value *x = xir_node_input(at, 0);
    if (!x || !xir_node_need_dims(at, x, 0, SIZE_MAX)) return false;
    if (!pnnx_list(at, "dim", 0, &axes)) axes = xir_node_series(at, 0, v_rank(x));
    xir_ints gone = xir_node_make_ints(at, v_rank(x), 0), rest = xir_node_make_ints(at, v_rank(x), 0);
    if (xir_node_failed(at)) return false;
    for (size_t i = 0; i < axes.n; i++) {
        int64_t axis;
        if (!xir_node_axis(at, "attribute/dim", axes.v[i], v_rank(x), &axis)) return false;
        gone.v[axis] = v_dim(x, (size_t)axis) == 1;
    }
    rest.n = 0;
    for (size_t i = 0; i < gone.n; i++) if (!gone.v[i]) rest.v[rest.n++] = v_dim(x, i);
    return xir_node_result(at, 0, rest.n == gone.n ? x : make_reshaped(at, x, &rest));
}

bool pnnx_unsqueeze(xir_node *at) {
    xir_ints axes;
    xir_value *x = xir_node_input(at, 0);
    if (!x || !pnnx_list(at, "dim", 0, &axes)) return false;
    return xir_node_result(at, 0, xir_node_unsqueezed(at, x, &axes, "attribute/dim"));
}

/* ---- parts ------------------------------------------------------------------------------------------------------ */

/* What a slice takes: for each dim of x its bounds and step; and the dims that are removed. */
typedef struct slicing {
    list_items bounds;     /* the begins of all dims, then the ends */
    xir_ints   steps, gone;
} slicing;

/* A list of the attribute, an input or a scalar of a single dim; NULL items if there is none. */
static bool slice_list(xir_node *at, const char *one, const char *many, size_t n, int64_t otherwise, list_items *out) {
    const char *name = pnnx_is_none(at, many) && xir_node_input_named(at, many) == SIZE_MAX ? one : many;
    const size_t input = name ? xir_node_input_named(at, name) : SIZE_MAX;
    xir_ints numbers;
    if (name && input != SIZE_MAX) return read_items_of(at, NULL, input, out) && out->n == n;
    *out = make_items(at, n, otherwise);
    if (!name || !pnnx_list(at, name, n, &numbers)) return !xir_node_failed(at);
    for (size_t i = 0; i < n; i++) out->v[i] = item_number(numbers.v[i] >= PNNX_END ? INT64_MAX : numbers.v[i]);
    return true;
}

/* From the parameters of a Tensor.slice of x. Negative selections count from the end. */
static bool read_slicing(xir_node *at, xir_value *x, slicing *s) {
    list_items starts, ends, steps, selects;
    xir_ints dims;
    if (xir_node_failed(at) || !x) return false;
    const size_t rank = v_rank(x);
    if (!pnnx_list(at, "dims", 0, &dims) && !xir_node_failed(at)) dims = xir_node_make_ints(at, 1, xir_node_int(at, "dim", 0));
    if (xir_node_failed(at)) return false;
    if (!slice_list(at, "start", "starts", dims.n, 0, &starts) || !slice_list(at, "end", "ends", dims.n, INT64_MAX, &ends) ||
        !slice_list(at, "step", "steps", dims.n, 1, &steps) ||
        !slice_list(at, NULL, "selects", dims.n, INT64_MAX, &selects))
        return xir_node_unsupported(at, "lists of different lengths");
    s->bounds = make_items(at, 2 * rank, 0);
    s->steps = xir_node_make_ints(at, rank, 1);
    s->gone = xir_node_make_ints(at, rank, 0);
    if (xir_node_failed(at)) return false;
    for (size_t i = 0; i < rank; i++) s->bounds.v[rank + i] = item_number(INT64_MAX);
    for (size_t i = 0; i < dims.n; i++) {
        int64_t axis;
        if (!xir_node_axis(at, "attribute/dims", dims.v[i], rank, &axis)) return false;
        const expr select = selects.v[i].v;
        list_item *begin = &s->bounds.v[axis], *end = &s->bounds.v[rank + (size_t)axis];
        if (!expr_is_number(select)) return xir_node_unsupported(at, "a selection that is computed");
        if (select < PNNX_END) {
            *begin = item_number(select);
            *end = item_number(select == -1 ? INT64_MAX : select + 1);
            s->gone.v[axis] = 1;
            continue;
        }
        if (!expr_is_number(steps.v[i].v) || steps.v[i].v < 1) return xir_node_unsupported(at, "a step that is computed");
        *begin = starts.v[i];
        *end = ends.v[i];
        s->steps.v[axis] = steps.v[i].v;
    }
    return true;
}

bool pnnx_slice(xir_node *at) {
    slicing s;
    xir_value *x = xir_node_input(at, 0);
    if (!read_slicing(at, x, &s)) return false;
    const size_t rank = v_rank(x);
    const bool known = items_known(&s.bounds);
    xir_ints begin = xir_node_make_ints(at, rank, -1), end = xir_node_make_ints(at, rank, -1),
             axes = xir_node_make_ints(at, rank, 0);
    if (xir_node_failed(at)) return false;
    axes.n = 0;
    for (size_t i = 0; i < rank; i++) {
        if (known) begin.v[i] = s.bounds.v[i].v, end.v[i] = s.bounds.v[rank + i].v;
        if (s.gone.v[i]) axes.v[axes.n++] = (int64_t)i;
    }
    const xir_sets sets = SETS(LIST("begin", &begin), LIST("end", &end), LIST("stride", &s.steps));
    xir_value *y = known ? xir_node_make(at, "Slice", INS(x), sets) : make_listed(at, "Slice", x, &s.bounds, sets);
    if (!y || !axes.n) return xir_node_result(at, 0, y);
    return xir_node_result(at, 0, xir_node_make(at, "Squeeze", INS(y), SETS(LIST("axis", &axes))));
}

/* Writes a part: for each dim the rest before, the part, the rest after. With a step the positions are listed, and all of
 * them are written by one ScatterND over the flattened tensor. */
bool pnnx_slice_copy(xir_node *at) {
    slicing s;
    xir_value *x = xir_node_input(at, 0), *src = xir_node_input(at, 1);
    if (!read_slicing(at, x, &s) || !src || !xir_node_need_dims(at, x, 0, SIZE_MAX)) return false;
    if (!items_known(&s.bounds)) return xir_node_unsupported(at, "bounds that are computed");
    const size_t rank = v_rank(x);
    xir_ints dims = xir_node_dims(at, x), begin = xir_node_make_ints(at, rank, 0), count = xir_node_make_ints(at, rank, 0);
    if (xir_node_failed(at)) return false;
    int64_t total = 1;
    for (size_t i = 0; i < rank; i++) {
        int64_t b = s.bounds.v[i].v, e = s.bounds.v[rank + i].v;
        const int64_t n = dims.v[i];
        b = b < 0 ? b + n : b, e = e < 0 ? e + n : e;
        b = b < 0 ? 0 : b > n ? n : b, e = e < b ? b : e > n ? n : e;
        begin.v[i] = b;
        count.v[i] = (e - b + s.steps.v[i] - 1) / s.steps.v[i];
        if (__builtin_mul_overflow(total, count.v[i], &total) || total > PNNX_MOST_LISTED)
            return xir_node_unsupported(at, "a very large part");
    }
    xir_ints places = xir_node_make_ints(at, (size_t)total, 0);
    for (int64_t k = 0; places.v && k < total; k++) {
        int64_t rest = k, stride = 1;
        for (size_t i = rank; i-- > 0; stride *= dims.v[i], rest /= count.v[i]) {
            places.v[k] += (begin.v[i] + rest % count.v[i] * s.steps.v[i]) * stride;
        }
    }
    xir_value *flat = pnnx_shaped(at, x, (int64_t[]){ -1 }, 1), *updates = pnnx_shaped(at, src, (int64_t[]){ -1 }, 1);
    if (updates && v_dim(updates, 0) != total) return xir_node_unsupported(at, "a source of other dims");
    xir_value *index = places.v ? pnnx_shaped(at, xir_node_integers(at, &places), (int64_t[]){ total, 1 }, 2) : NULL;
    xir_value *y = index && updates ? xir_node_make(at, "ScatterND", INS(flat, index, updates), NO_SETS) : NULL;
    return xir_node_result(at, 0, y ? make_reshaped(at, y, &dims) : NULL);
}

bool pnnx_select(xir_node *at) {
    int64_t axis;
    xir_value *x = xir_node_input(at, 0);
    if (!x || !pnnx_axis(at, "dim", 0, v_rank(x), &axis)) return false;
    xir_value *index = xir_node_has(at, 1) ? xir_node_input(at, 1)
        : xir_node_scalar(at, xir_type_sint(xir_node_context(at), 64), (double)xir_node_int(at, "index", 0));
    return xir_node_becomes(at, "Gather", INS(x, index), SETS(INT("axis", axis)));
}

bool pnnx_narrow(xir_node *at) {
    int64_t axis;
    xir_value *x = xir_node_input(at, 0);
    if (!x || !pnnx_axis(at, "dim", 0, v_rank(x), &axis)) return false;
    int64_t start = xir_node_int(at, "start", 0), length = xir_node_int(at, "length", 0);
    if (start < 0) {
        if (!xir_node_need_dims(at, x, (size_t)axis, (size_t)axis + 1)) return false;
        start += v_dim(x, (size_t)axis);
    }
    if (start < 0 || length < 0 || start > PNNX_END || length > PNNX_END)
        return xir_node_invalid(at, XIR_E_BOUNDS, NULL, "a part from %lld of %lld elements", (long long)start, (long long)length);
    return xir_node_result(at, 0, pnnx_part(at, x, (size_t)axis, start, start + length, 1));
}

/* ---- splits ----------------------------------------------------------------------------------------------------- */

static bool split_into(xir_node *at, xir_value *x, int64_t axis, const xir_ints *sections) {
    if (xir_node_failed(at)) return false;
    if (sections->n < at->n_out) {
        return xir_node_invalid(at, XIR_E_BOUNDS, NULL, "expected at most %zu outputs, found %zu", sections->n, at->n_out);
    }
    xir_op *op = xir_node_make_op(at, "Split", INS(x), SETS(LIST("sections", sections), INT("axis", axis)));
    for (size_t i = 0; op && i < at->n_out; i++) xir_node_result(at, i, xir_op_output(op, (int64_t)i));
    return !xir_node_failed(at);
}

/* The input, its axis and the known size of that. */
static bool split_axis(xir_node *at, xir_value **x, int64_t *axis, int64_t *n) {
    enum { MOST_PARTS = 1 << 20 };
    *x = xir_node_input(at, 0);
    if (!*x || !pnnx_axis(at, "dim", 0, v_rank(*x), axis)) return false;
    if (!xir_node_need_dims(at, *x, (size_t)*axis, (size_t)*axis + 1)) return false;
    *n = v_dim(*x, (size_t)*axis);
    return *n <= MOST_PARTS || xir_node_unsupported(at, "a very large dim");
}

static xir_ints parts_of(xir_node *at, int64_t n, int64_t size) {
    xir_ints parts = xir_node_make_ints(at, (size_t)(n ? (n + size - 1) / size : 1), size);
    if (parts.v) parts.v[parts.n - 1] = n - (int64_t)(parts.n - 1) * size;
    return parts;
}

bool pnnx_chunk(xir_node *at) {
    xir_value *x;
    int64_t axis, n, chunks = xir_node_int(at, "chunks", 1);
    if (!split_axis(at, &x, &axis, &n)) return false;
    if (chunks < 1) return xir_node_invalid(at, XIR_E_BOUNDS, "attribute/chunks", "chunks: expected at least 1");
    const int64_t size = n / chunks + (n % chunks != 0);
    const xir_ints parts = parts_of(at, n, size ? size : 1);
    return split_into(at, x, axis, &parts);
}

bool pnnx_split(xir_node *at) {
    xir_value *x;
    int64_t axis, n;
    xir_ints parts;
    const xir_any *a = xir_node_attr(at, "split_size_or_sections");
    if (!split_axis(at, &x, &axis, &n) || !pnnx_list(at, "split_size_or_sections", 0, &parts)) return false;
    if (a->kind == XIR_ANY_INT) {
        if (parts.v[0] < 1) return xir_node_invalid(at, XIR_E_BOUNDS, NULL, "a size: expected at least 1");
        parts = parts_of(at, n, parts.v[0]);
    }
    return split_into(at, x, axis, &parts);
}

/* By positions, or into a number of parts whose first n mod c are one longer. */
bool pnnx_tensor_split(xir_node *at) {
    xir_value *x;
    int64_t axis, n, from = 0;
    xir_ints at_each, parts;
    if (!split_axis(at, &x, &axis, &n)) return false;
    if (pnnx_list(at, "indices", 0, &at_each)) {
        parts = xir_node_make_ints(at, at_each.n + 1, 0);
        for (size_t i = 0; i < parts.n; i++) {
            int64_t to = i < at_each.n ? at_each.v[i] : n;
            to = to < 0 ? to + n : to;
            to = to < from ? from : to > n ? n : to;
            parts.v[i] = to - from;
            from = to;
        }
    } else {
        const int64_t c = xir_node_int(at, "sections", 1);
        if (c < 1 || c > 1 << 20) return xir_node_invalid(at, XIR_E_BOUNDS, "attribute/sections", "sections: expected at least 1");
        parts = xir_node_make_ints(at, (size_t)c, n / c);
        for (size_t i = 0; i < parts.n; i++) parts.v[i] += (int64_t)i < n % c;
    }
    return split_into(at, x, axis, &parts);
}

bool pnnx_unbind(xir_node *at) {
    int64_t axis;
    xir_value *x = xir_node_input(at, 0);
    if (!x || !pnnx_axis(at, "dim", 0, v_rank(x), &axis)) return false;
    xir_op *op = xir_node_make_op(at, "Unstack", INS(x), SETS(INT("dim", axis)));
    for (size_t i = 0; op && i < at->n_out; i++) xir_node_result(at, i, xir_op_output(op, (int64_t)i));
    return !xir_node_failed(at);
}

/* ---- joins ------------------------------------------------------------------------------------------------------ */

static bool joined(xir_node *at, const char *cls, const char *attribute, size_t more) {
    int64_t axis;
    xir_value **inputs = arena_take(&at->c->scratch, (at->n_in + 1) * sizeof *inputs);
    if (!inputs) return node_no_memory(at);
    for (size_t i = 0; i < at->n_in; i++) inputs[i] = xir_node_input(at, i);
    if (xir_node_failed(at) || !pnnx_axis(at, "dim", 0, v_rank(inputs[0]) + more, &axis)) return false;
    for (size_t i = 1; i < at->n_in; i++) if (!xir_node_same_elements(at, 0, inputs[0], i, inputs[i])) return false;
    return xir_node_becomes(at, cls, (xir_values){ inputs, at->n_in }, SETS(INT(attribute, axis)));
}
bool pnnx_cat(xir_node *at)   { return joined(at, "Concat", "axis", 0); }
bool pnnx_stack(xir_node *at) { return joined(at, "Stack", "dim", 1); }

/* ---- orders ----------------------------------------------------------------------------------------------------- */

/* Without dims the flattened tensor is rolled. */
bool pnnx_roll(xir_node *at) {
    xir_ints shifts, dims;
    xir_value *x = xir_node_input(at, 0);
    if (!x || !pnnx_list(at, "shifts", 0, &shifts)) return false;
    if (!pnnx_list(at, "dims", shifts.n, &dims) || !dims.n) {
        if (xir_node_failed(at)) return false;
        return xir_node_becomes(at, "Roll", INS(x), SETS(LIST("shifts", &shifts)));
    }
    return xir_node_becomes(at, "Roll", INS(x), SETS(LIST("shifts", &shifts), LIST("dims", &dims)));
}

bool pnnx_flip(xir_node *at) {
    xir_ints dims;
    xir_value *x = xir_node_input(at, 0);
    if (!x || !pnnx_list(at, "dims", 0, &dims)) return false;
    for (size_t i = 0; i < dims.n; i++) {
        int64_t axis;
        if (!xir_node_axis(at, "attribute/dims", dims.v[i], v_rank(x), &axis)) return false;
        x = pnnx_part(at, x, (size_t)axis, INT64_MAX, INT64_MIN, -1);
        if (!x) return false;
    }
    return xir_node_result(at, 0, x);
}

/* Pairs from the last dim on. */
bool pnnx_pad(xir_node *at) {
    const xir_str type = xir_node_type(at);
    const bool module = type.data[0] == 'n';
    xir_ints pads;
    xir_value *x = xir_node_input(at, 0);
    if (!x || !pnnx_list(at, module ? "padding" : "pad", 0, &pads)) return false;
    const size_t rank = v_rank(x), spatial = module ? (size_t)(type.data[type.size - 2] - '0') : pads.n / 2;
    if (module && pads.n == 1) pads = xir_node_make_ints(at, 2 * spatial, pads.v[0]);
    if (xir_node_failed(at)) return false;
    if (pads.n % 2 || pads.n > 2 * rank) return xir_node_invalid(at, XIR_E_BOUNDS, NULL, "padding of %zu items", pads.n);
    xir_ints all = xir_node_make_ints(at, 2 * rank, 0);
    for (size_t i = 0; i < pads.n && all.v; i++) {
        const size_t axis = rank - 1 - i / 2;
        all.v[2 * axis + i % 2] = pads.v[i];
    }
    const xir_str mode = xir_node_text(at, "mode", "constant");
    const bool reflect = module ? type.size > 6 && !strncmp(type.data + 3, "Refl", 4) : xir_str_equal(mode, XIR_STR("reflect"));
    const bool edge = module ? !strncmp(type.data + 3, "Repl", 4) : xir_str_equal(mode, XIR_STR("replicate"));
    if (xir_str_equal(mode, XIR_STR("circular"))) return xir_node_unsupported(at, "padding that wraps around");
    const double value = xir_node_real(at, "value", 0);
    const xir_set fill = v_is_integer(x) ? (xir_set)INT("value", (int64_t)value) : (xir_set)REAL("value", value);
    const char *word = reflect ? "REFLECTION" : edge ? "REPLICATION" : "CONSTANT";
    return xir_node_becomes(at, "Pad", INS(x), SETS(LIST("padding", &all), WORD("mode", xir_str_of(word)), fill));
}

/* ---- blocks ----------------------------------------------------------------------------------------------------- */

/* x taken apart into dims, which are put into another order and joined. */
static bool blocks(xir_node *at, xir_value *x, const int64_t *apart, const int64_t *order, size_t n, const int64_t *back,
                   size_t rank) {
    xir_value *y = pnnx_shaped(at, x, apart, n);
    y = y ? xir_node_transposed(at, y, order, n, NULL) : NULL;
    return xir_node_result(at, 0, pnnx_shaped(at, y, back, rank));
}

/* [n, c, h, w] of x with known channels and image; dims before them become n. */
static bool image_of(xir_node *at, const char *name, xir_value **x, int64_t *factor, int64_t dims[4]) {
    *x = xir_node_input(at, 0);
    *factor = xir_node_int(at, name, 1);
    if (!*x) return false;
    const size_t rank = v_rank(*x);
    if (rank < 3) return xir_node_unsupported(at, "an input of %zu dims", rank);
    if (*factor < 1 || *factor > 1 << 10) return xir_node_unsupported(at, "a factor of %lld", (long long)*factor);
    if (!xir_node_need_dims(at, *x, rank - 3 > 1 ? 0 : rank - 3, SIZE_MAX)) return false;
    const xir_ints all = xir_node_dims(at, *x);
    for (size_t i = 1; i < 4 && all.v; i++) dims[i] = all.v[rank - 4 + i];
    dims[0] = all.v ? product_of(&all, 0, rank - 3) : -1;
    return all.v;
}

/* The same dims before the last three. */
static bool image_blocks(xir_node *at, xir_value *x, const int64_t *apart, const int64_t *order, const int64_t image[3]) {
    xir_ints back = xir_node_dims(at, x);
    for (size_t i = 0; i < 3 && back.v; i++) back.v[back.n - 3 + i] = image[i];
    return back.v && blocks(at, x, apart, order, 6, back.v, back.n);
}

bool pnnx_pixel_shuffle(xir_node *at) {
    static const int64_t order[] = { 0, 1, 4, 2, 5, 3 };
    xir_value *x;
    int64_t r, d[4];
    if (!image_of(at, "upscale_factor", &x, &r, d)) return false;
    if (d[1] % (r * r)) return xir_node_invalid(at, XIR_E_INVALID, "input/0", "%lld channels", (long long)d[1]);
    const int64_t c = d[1] / (r * r);
    return image_blocks(at, x, (int64_t[]){ d[0], c, r, r, d[2], d[3] }, order, (int64_t[]){ c, d[2] * r, d[3] * r });
}

bool pnnx_pixel_unshuffle(xir_node *at) {
    static const int64_t order[] = { 0, 1, 3, 5, 2, 4 };
    xir_value *x;
    int64_t r, d[4];
    if (!image_of(at, "downscale_factor", &x, &r, d)) return false;
    if (d[2] % r || d[3] % r) return xir_node_invalid(at, XIR_E_INVALID, "input/0", "rows or columns are no multiple of %lld", (long long)r);
    return image_blocks(at, x, (int64_t[]){ d[0], d[1], d[2] / r, r, d[3] / r, r }, order,
                        (int64_t[]){ d[1] * r * r, d[2] / r, d[3] / r });
}

bool pnnx_channel_shuffle(xir_node *at) {
    static const int64_t order[] = { 0, 2, 1, 3 };
    xir_value *x = xir_node_input(at, 0);
    const int64_t groups = xir_node_int(at, "groups", 1);
    if (!x || !xir_node_need_dims(at, x, 0, SIZE_MAX)) return false;
    xir_ints dims = xir_node_dims(at, x);
    if (dims.n < 2 || groups < 1 || dims.v[1] % groups) return xir_node_unsupported(at, "channels that are not divided");
    const int64_t rest = product_of(&dims, 2, dims.n);
    return blocks(at, x, (int64_t[]){ dims.v[0], groups, dims.v[1] / groups, rest }, order, 4, dims.v, dims.n);
}

/* ---- windows as columns ----------------------------------------------------------------------------------------- */

typedef struct patches { int64_t size[2], stride[2], dilation[2], pad[2], out[2], in[2]; } patches;

static bool read_patches(xir_node *at, patches *p) {
    xir_ints list;
    static const char *const names[] = { "kernel_size", "stride", "dilation", "padding" };
    int64_t *const to[] = { p->size, p->stride, p->dilation, p->pad };
    for (size_t k = 0; k < 4; k++) {
        to[k][0] = to[k][1] = k < 3;
        if (pnnx_list(at, names[k], 2, &list)) memcpy(to[k], list.v, 2 * sizeof *list.v);
        if (xir_node_failed(at)) return false;
        for (size_t i = 0; i < 2; i++)
            if (to[k][i] < (k < 3) || to[k][i] > 1 << 16) return xir_node_unsupported(at, "this %s", names[k]);
    }
    for (size_t i = 0; i < 2; i++) {
        if (p->in[i] > 1 << 24) return xir_node_unsupported(at, "very large dims");
        const int64_t room = p->in[i] + 2 * p->pad[i] - p->dilation[i] * (p->size[i] - 1) - 1;
        if (room < 0) return xir_node_unsupported(at, "windows that do not fit");
        p->out[i] = room / p->stride[i] + 1;
    }
    return true;
}

/* [n, c k, places]: the channels are outermost. */
bool pnnx_unfold(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    patches p;
    if (!x || !xir_node_need_dims(at, x, 0, SIZE_MAX)) return false;
    if (v_rank(x) != 4) return xir_node_unsupported(at, "an input of %zu dims", v_rank(x));
    p.in[0] = v_dim(x, 2), p.in[1] = v_dim(x, 3);
    if (!read_patches(at, &p)) return false;
    const int64_t n = v_dim(x, 0), c = v_dim(x, 1);
    if (p.out[0] * p.size[0] > PNNX_MOST_LISTED || p.out[1] * p.size[1] > PNNX_MOST_LISTED)
        return xir_node_unsupported(at, "very many windows");
    const xir_ints pads = { (int64_t[]){ 0, 0, 0, 0, p.pad[0], p.pad[0], p.pad[1], p.pad[1] }, 8 };
    if (p.pad[0] || p.pad[1]) x = xir_node_make(at, "Pad", INS(x), SETS(LIST("padding", &pads)));
    for (size_t i = 0; i < 2; i++) {
        xir_ints places = xir_node_make_ints(at, (size_t)(p.out[i] * p.size[i]), 0);
        for (size_t k = 0; k < places.n; k++)
            places.v[k] = (int64_t)k / p.out[i] * p.dilation[i] + (int64_t)k % p.out[i] * p.stride[i];
        x = pnnx_taken(at, x, 2 + i, &places);
    }
    static const int64_t order[] = { 0, 1, 2, 4, 3, 5 };
    return blocks(at, x, (int64_t[]){ n, c, p.size[0], p.out[0], p.size[1], p.out[1] }, order, 6,
                  (int64_t[]){ n, c * p.size[0] * p.size[1], p.out[0] * p.out[1] }, 3);
}

/* Sums over windows, one axis after the other: a product with the 0 and 1 that say which cells a window covers. */
bool pnnx_fold(xir_node *at) {
    static const int64_t order[] = { 0, 1, 2, 4, 3, 5 };
    xir_value *x = xir_node_input(at, 0);
    xir_ints size;
    patches p;
    if (!x || !pnnx_list(at, "output_size", 2, &size) || !xir_node_need_dims(at, x, 0, SIZE_MAX)) return false;
    if (v_rank(x) != 3) return xir_node_unsupported(at, "an input of %zu dims", v_rank(x));
    p.in[0] = size.v[0], p.in[1] = size.v[1];
    if (!read_patches(at, &p)) return false;
    const int64_t n = v_dim(x, 0), cells = p.size[0] * p.size[1], c = v_dim(x, 1) / cells;
    if (v_dim(x, 1) % cells || v_dim(x, 2) != p.out[0] * p.out[1])
        return xir_node_invalid(at, XIR_E_INVALID, "input/0", "expected %lld places", (long long)(p.out[0] * p.out[1]));
    x = pnnx_shaped(at, x, (int64_t[]){ n, c, p.size[0], p.size[1], p.out[0], p.out[1] }, 6);
    x = x ? xir_node_transposed(at, x, order, 6, NULL) : NULL;
    x = pnnx_shaped(at, x, (int64_t[]){ n, c, p.size[0] * p.out[0], p.size[1] * p.out[1] }, 4);
    for (size_t i = 0; i < 2 && x; i++) {
        const int64_t rows = p.size[i] * p.out[i], columns = p.in[i];
        if (rows * columns > PNNX_MOST_LISTED) return xir_node_unsupported(at, "very many windows");
        double *matrix = arena_take(&at->c->scratch, (size_t)(rows * columns + 1) * sizeof *matrix);
        if (!matrix) return node_no_memory(at);
        memset(matrix, 0, (size_t)(rows * columns) * sizeof *matrix);
        for (int64_t k = 0; k < rows; k++) {
            const int64_t cell = k / p.out[i] * p.dilation[i] + k % p.out[i] * p.stride[i] - p.pad[i];
            if (cell >= 0 && cell < columns) matrix[k * columns + cell] = 1;
        }
        x = pnnx_mixed(at, x, 2 + i, matrix, (size_t)columns);
    }
    return xir_node_result(at, 0, x);
}
