/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The way back of operations that move elements. Parts of a dim are picked by a constant of positions; what is added
 * comes from a constant that is joined. */
#include "deepx/deepx.h"
#include "spec/borders.h"
#include "spec/moving.h"
#include "spec/one_axis.h"
#include "spec/slicing.h"

enum { MOST_PLACES = 1 << 22 };

/* ---- shapes ----------------------------------------------------------------------------------------------------- */

/* Reshape, Squeeze. */
bool deepx_back_reshape(xir_node *at) {
    const char *texts[] = { deepx_dims(at, deepx_result(at)) };
    return deepx_gives(at, "TV", INS(xir_node_input(at, 0)), texts);
}

bool deepx_back_transpose(xir_node *at) {
    xir_ints order;
    xir_value *x = xir_node_input(at, 0);
    if (!order_of_op(at, x, &order)) return false;
    if (!order.n) return xir_node_becomes(at, "Copy", INS(x), NO_SETS);
    const char *texts[] = { deepx_vector(at, &order) };
    return deepx_gives(at, "TV", INS(x), texts);
}

bool deepx_back_expand(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    if (!x || xir_node_has(at, 1)) return x && xir_node_unsupported(at, "dims that are computed");
    const char *texts[] = { deepx_dims(at, deepx_result(at)) };
    return deepx_gives(at, "TV", INS(x), texts);
}

/* [c, x, c, y] of [1, x, 1, y], as [c x, c y]. */
bool deepx_back_tile(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    const xir_value *y = xir_op_output(at->op, 0);
    if (!x || xir_node_has(at, 1)) return x && xir_node_unsupported(at, "counts that are computed");
    const size_t rank = v_rank(y), more = rank - v_rank(x);
    xir_ints apart = xir_node_make_ints(at, 2 * rank, 1), wide = xir_node_make_ints(at, 2 * rank, 1),
             dims = xir_node_dims(at, y);
    if (!deepx_back_check(at)) return false;
    for (size_t i = 0; i < rank && !xir_node_failed(at); i++) {
        const int64_t own = i < more ? 1 : v_dim(x, i - more);
        apart.v[2 * i + 1] = wide.v[2 * i + 1] = own;
        wide.v[2 * i] = v_dim(y, i) / own;
    }
    x = make_reshaped(at, x, &apart);
    if (x) x = xir_node_make(at, "Expand", INS(x), SETS(LIST("sizes", &wide)));
    return x && xir_node_result(at, 0, make_reshaped(at, x, &dims));
}

/* ---- joined tensors --------------------------------------------------------------------------------------------- */

bool deepx_back_concat(xir_node *at) {
    joining j;
    if (!joining_of_op(at, &j)) return false;
    const char *texts[] = { deepx_digits(at, (double)j.axis) };
    return deepx_gives(at, "Li", j.in, texts);
}

/* Each gets the new dim. */
bool deepx_back_stack(xir_node *at) {
    joining j;
    xir_value **in = node_take(at, (at->n_in + 1) * sizeof *in);
    if (!in || !joining_of_op(at, &j)) return false;
    const xir_ints one = { &j.axis, 1 };
    for (size_t i = 0; i < j.in.size; i++) {
        if (v_is_open(j.in.data[i])) return xir_node_unsupported(at, "open dims");
        in[i] = xir_node_unsqueezed(at, j.in.data[i], &one, "attribute/dim");
    }
    return xir_node_becomes(at, "Concat", (xir_values){ in, j.in.size }, SETS(INT("axis", j.axis)));
}

/* ---- parts ------------------------------------------------------------------------------------------------------ */

/* Elements `first`, `first` + step, … of an axis. */
static xir_value *taken(xir_node *at, xir_value *x, size_t axis, int64_t first, int64_t n, int64_t step) {
    if (xir_node_failed(at) || !x || n < 1 || n > MOST_PLACES)
        return xir_node_failed(at) || !x ? NULL : (xir_node_unsupported(at, "no elements, or very many"), NULL);
    if (first == 0 && step == 1 && n == v_dim(x, axis)) return x;
    xir_ints places = xir_node_make_ints(at, (size_t)n, first);
    for (size_t i = 0; i < places.n && places.v; i++) places.v[i] += (int64_t)i * step;
    return make_taken(at, x, axis, &places);
}

bool deepx_back_slice(xir_node *at) {
    slicing s;
    xir_value *x = xir_node_input(at, 0), *y = x;
    if (!fixed_slicing_of_op(at, x, &s)) return false;
    for (size_t i = 0; i < s.step.n && y; i++) {
        const slice_part p = slicing_picks(&s, i, v_dim(x, i));
        y = taken(at, y, i, p.first, p.count, s.step.v[i]);
    }
    return y == x ? xir_node_becomes(at, "Copy", INS(x), NO_SETS) : xir_node_result(at, 0, y);
}

/* Split; Unstack, whose parts lose the dim. */
bool deepx_back_split(xir_node *at) {
    xir_ints sizes;
    int64_t from = 0;
    const bool splits = node_is_class(at, "Split");
    const one_axis a = splits ? one_axis_of(at, "attribute/axis", -1) : one_axis_of(at, "attribute/dim", 0);
    xir_value *x = a.x;
    if (splits && !xir_node_items(at, "sections", &sizes)) return false;
    if (!splits) sizes = xir_node_make_ints(at, at->n_out, 1);
    for (size_t i = 0; i < at->n_out && i < sizes.n && !xir_node_failed(at); from += sizes.v[i], i++) {
        xir_value *part = taken(at, x, a.axis, from, sizes.v[i], 1);
        if (!part) return false;
        const xir_ints dims = xir_node_dims(at, xir_op_output(at->op, (int64_t)i));
        if (part == x && splits) part = xir_node_make(at, "Copy", INS(x), NO_SETS);
        xir_node_result(at, i, splits ? part : make_reshaped(at, part, &dims));
    }
    return !xir_node_failed(at);
}

/* ---- cells around a tensor -------------------------------------------------------------------------------------- */

/* x with cells of one number before and after a dim; fewer of its own where they are negative. */
static xir_value *bordered(xir_node *at, xir_value *x, size_t axis, int64_t before, int64_t after, double value) {
    xir_value *parts[3];
    size_t n = 0;
    const int64_t cut_before = before < 0 ? -before : 0, cut_after = after < 0 ? -after : 0;
    x = taken(at, x, axis, cut_before, v_dim(x, axis) - cut_before - cut_after, 1);
    if (!x || (before <= 0 && after <= 0)) return x;
    xir_ints dims = xir_node_dims(at, x);
    if (before > MOST_PLACES || after > MOST_PLACES) return xir_node_unsupported(at, "very many cells"), NULL;
    for (int side = 0; side < 2; side++) {
        if (side) parts[n++] = x;
        dims.v[axis] = side ? after : before;
        if (dims.v[axis] <= 0) continue;
        const int64_t count = product_of(&dims, 0, dims.n);
        if (count < 0 || count > MOST_PLACES) return xir_node_unsupported(at, "very many cells"), NULL;
        parts[n++] = xir_node_filled(at, v_element(x), &dims, value);
    }
    return xir_node_failed(at) ? NULL : xir_node_make(at, "Concat", (xir_values){ parts, n },
                                                      SETS(INT("axis", (int64_t)axis)));
}

/* Mirrored elements are a simpler class's. */
bool deepx_back_pad(xir_node *at) {
    static const pad_words constant = { { "" } };
    borders b;
    xir_value *x = xir_node_input(at, 0), *y = x;
    if (!fixed_borders_of_op(at, x, &b) || !border_word(at, &b, &constant)) return false;
    if (!xir_node_need_dims(at, x, 0, SIZE_MAX)) return false;
    for (size_t i = 0; i < v_rank(x) && y; i++)
        y = bordered(at, y, i, b.cells.v[2 * i], b.cells.v[2 * i + 1], b.value);
    return y == x ? xir_node_becomes(at, "Copy", INS(x), NO_SETS) : xir_node_result(at, 0, y);
}

/* ---- positions -------------------------------------------------------------------------------------------------- */

static bool has_bits(const xir_value *v, uint64_t least) {
    return v_is_integer(v) && deepx_precision(v_element(v)) && xir_type_storage_bits(v_element(v)) >= least;
}

/* The positions have at least one dim there. */
bool deepx_back_gather(xir_node *at) {
    const one_axis a = one_axis_of(at, "attribute/axis", 0);
    xir_value *places = xir_node_input(at, 1);
    const xir_ints one = { (int64_t[]){ 1 }, 1 }, dims = xir_node_dims(at, xir_op_output(at->op, 0));
    if (!places) return false;
    const bool single = !v_rank(places);
    if (!has_bits(places, 32)) places = xir_node_cast(at, places, xir_type_sint(xir_node_context(at), 64));
    if (single) places = make_reshaped(at, places, &one);
    if (single) return xir_node_result(at, 0, make_reshaped(at, xir_node_make(at, "Gather", INS(a.x, places),
                                                                               SETS(AXIS("axis", a))), &dims));
    const char *texts[] = { deepx_digits(at, (double)a.axis) };
    return deepx_gives(at, "TTi", INS(a.x, places), texts);
}

/* All elements as one dim: the position along the axis times its step, plus that of the other coordinates. */
bool deepx_back_gather_elements(xir_node *at) {
    int64_t axis, step = 1, count;
    xir_value *x = xir_node_input(at, 0), *places = xir_node_input(at, 1);
    if (!x || !places || !node_axis(at, "axis", 0, v_rank(x), &axis) ||
        !xir_node_need_dims(at, x, 0, SIZE_MAX) || !xir_node_need_dims(at, places, 0, SIZE_MAX)) return false;
    const xir_type *whole = xir_type_sint(xir_node_context(at), 64);
    const xir_ints of = xir_node_dims(at, x), dims = xir_node_dims(at, places), flat = { (int64_t[]){ -1 }, 1 };
    if (xir_node_failed(at)) return false;
    count = product_of(&dims, 0, dims.n);
    if (count < 1 || count > MOST_PLACES || product_of(&of, 0, of.n) < 1)
        return xir_node_unsupported(at, "no positions, or very many");
    double *base = node_take(at, ((size_t)count + 1) * sizeof *base);
    if (!base) return node_no_memory(at);
    for (int64_t i = 0; i < count; i++) {
        int64_t rest = i, own = 1, sum = 0;
        for (size_t k = dims.n; k-- > 0; own *= of.v[k]) {
            if ((int64_t)k != axis) sum += rest % dims.v[k] * own;
            else step = own;
            rest /= dims.v[k];
        }
        base[i] = (double)sum;
    }
    places = xir_node_cast(at, places, whole);
    places = xir_node_make(at, "Mod", INS(places, xir_node_scalar(at, whole, (double)of.v[axis])), NO_SETS);
    places = xir_node_product(at, places, xir_node_scalar(at, whole, (double)step));
    places = xir_node_sum(at, places, xir_node_constant(at, whole, &dims, base, (size_t)count), 1, 1);
    return places && xir_node_becomes(at, "Gather", INS(make_reshaped(at, x, &flat), places), SETS(INT("axis", 0)));
}
