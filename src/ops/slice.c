/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Parts of a tensor, and its elements in another order along a dim. */
#include <inttypes.h>
#include "graph.h"
#include "list.h"
#include "move.h"

static const xir_tensor_type *input_of(xir_infer *at) { return xir_type_as_tensor(xir_infer_input(at, 0)); }

/* Returns true if a dim is the unit of a tiled axis. The layout fixes its size. */
static bool is_unit(xir_infer *at, size_t k) {
    return xir_layout_unit(xir_type_layout(xir_infer_input(at, 0)), k) != 0;
}

/* ---- Slice ---------------------------------------------------------------------------------------------------- */

/* Normalises a position in a dim of n: a negative one counts from the end, then it is clamped to [least, most]. */
static int64_t place(int64_t at, int64_t n, int64_t least, int64_t most) {
    if (at < 0) at = at < -n ? least : at + n;
    return at < least ? least : at > most ? most : at;
}

/* The number of elements picked from a dim of n, and the index of the first. */
static int64_t pick(int64_t begin, int64_t end, int64_t stride, int64_t n, int64_t *first) {
    bool back = stride < 0;
    begin = place(begin, n, back ? -1 : 0, back ? n - 1 : n);
    end = place(end, n, back ? -1 : 0, back ? n - 1 : n);
    *first = begin;
    uint64_t step = back ? 0 - (uint64_t)stride : (uint64_t)stride;   // unsigned, because -INT64_MIN does not fit int64
    if (back ? begin <= end : begin >= end) return 0;
    uint64_t distance = back ? (uint64_t)begin - (uint64_t)end : (uint64_t)end - (uint64_t)begin;
    return (int64_t)((distance - 1) / step + 1);
}

#define MOST_DIM ((int64_t)1 << 62)

/* `place` for a dim or a position that is an expression: unknown unless its sign is known. No dim reaches FAR. */
#define FAR (INT64_C(1) << 60)
static expr place_open(object_pool *pool, expr at, expr n, int64_t least, expr most) {
    if (expr_is_number(at) && at <= -FAR) return least;
    if (expr_is_number(at) && at >= FAR) return most;
    if (expr_at_least(pool, at, 0)) return expr_min(pool, at, most);
    if (expr_at_least(pool, -1, at)) return expr_max(pool, expr_add(pool, n, at), least);
    return EXPR_UNKNOWN;
}

/* The number of elements picked, if the dim or a position is an expression. */
static int64_t pick_open(object_pool *pool, expr begin, expr end, int64_t stride, int64_t dim) {
    int64_t least = stride < 0 ? -1 : 0;
    expr n = expr_of_dim(dim), most = expr_add(pool, n, least);
    if (stride <= -FAR || stride >= FAR) return UNKNOWN_DIM;
    expr from = place_open(pool, begin, n, least, most), to = place_open(pool, end, n, least, most);
    expr distance = stride < 0 ? expr_sub(pool, from, to) : expr_sub(pool, to, from);
    expr count = expr_ceil_div(pool, distance, stride < 0 ? -stride : stride);
    return dim_of_expr(expr_max(pool, count, 0));
}

/* Returns true if nothing is picked for any size of the dim, up to MOST_DIM. */
static bool picks_none(int64_t begin, int64_t end, int64_t stride) {
    if ((begin < 0) == (end < 0)) return stride > 0 ? begin >= end : begin <= end;
    if (stride > 0) return begin < 0 ? end == 0 : MOST_DIM + end <= begin;
    return begin < 0 ? MOST_DIM + begin <= end : end == -1;
}

/* The range that a Slice takes from each dim: attributes, or read from the input. */
typedef struct sliced {
    move     m;            /* first: the function that takes elements gets a pointer to it */
    dim_list begin, end;
    xir_i64s stride;
} sliced;

static bool takes_all(const sliced *s, size_t k, int64_t n) {
    int64_t begin = s->begin.data[k], end = s->end.data[k], first;
    if (s->stride.data[k] != 1 || !expr_is_number(begin) || !expr_is_number(end)) return false;
    return n < 0 ? begin == 0 && end == INT64_MAX : pick(begin, end, 1, n, &first) == n;
}

static void free_bounds(sliced *s) {
    dims_free(&s->begin);
    dims_free(&s->end);
}

static xir_status read_bounds(xir_infer *at, size_t rank, sliced *out) {
    const xir_slice_attrs *a = xir_infer_attrs(at);
    *out = (sliced){ .stride = a->stride };
    const struct { const char *name; size_t size; } lists[] = {
        { "begin", a->begin.size }, { "end", a->end.size }, { "stride", a->stride.size },
    };
    for (size_t i = 0; i < 3; i++) {
        if (lists[i].size == rank) continue;
        return xir_infer_fail(at, XIR_E_INVALID, lists[i].name,
                              "%zu entries are given: expected %zu, 1 for each dim of input", lists[i].size, rank);
    }
    dim_list both;
    xir_status status = copy_items(at, a->begin, &out->begin);
    if (status) return status;
    status = copy_items(at, a->end, &out->end);
    if (status) dims_free(&out->begin);
    if (status || !has_list(at)) return status;
    status = check_list(at, 2 * rank);
    if (!status) status = check_open(at, "begin", a->begin);
    if (!status) status = check_open(at, "end", a->end);
    if (!status) status = read_items(at, 2 * rank, &both);
    if (status) {
        free_bounds(out);
        return status;
    }
    if (rank) memcpy(out->begin.data, both.data, rank * sizeof *both.data);
    if (rank) memcpy(out->end.data, both.data + rank, rank * sizeof *both.data);
    dims_free(&both);
    return XIR_OK;
}

static int64_t slice_dim(const xir_infer *at, const sliced *s, size_t k, int64_t dim) {
    int64_t begin = s->begin.data[k], end = s->end.data[k], stride = s->stride.data[k], first;
    if (dim == 0) return 0;
    bool numbers = expr_is_number(begin) && expr_is_number(end);
    if (numbers && dim >= 0) return pick(begin, end, stride, dim, &first);
    if (numbers && picks_none(begin, end, stride)) return 0;
    return pick_open(at->pool, begin, end, stride, dim);
}

/* Creates the bounds and the dims, unless it fails. */
static xir_status slice_dims(xir_infer *at, sliced *s, dim_list *out) {
    xir_i64s shape = input_of(at)->shape;
    bool tiled = inputs_tiled(at, 1);
    xir_status status = read_bounds(at, shape.size, s);
    if (status) return status;
    for (size_t k = 0; k < shape.size && !status; k++) {
        if (s->stride.data[k] == 0) {
            status = xir_infer_fail(at, XIR_E_BOUNDS, "stride",
                                    "the stride of dim %zu is 0: expected another number", k);
        }
        bool slices_unit = !status && tiled && is_unit(at, k) && !takes_all(s, k, shape.data[k]);
        if (slices_unit) status = need_untiled(at, "begin", k);
    }
    if (!status && !dims_init(at, out, shape.size)) status = XIR_E_MEMORY;
    for (size_t k = 0; k < shape.size && !status; k++) out->data[k] = slice_dim(at, s, k, shape.data[k]);
    if (status) free_bounds(s);
    return status;
}

xir_status slice_check(xir_infer *at) {
    sliced s;
    dim_list dims;
    if (!inputs_checkable(at, 1) || !list_checkable(at)) return XIR_OK;
    xir_status status = need_few_dims(at, 1);
    if (!status) status = slice_dims(at, &s, &dims);
    if (status) return status;
    dims_free(&dims);
    free_bounds(&s);
    return XIR_OK;
}

static xir_status slice_take(const move *m, xir_infer *at, size_t k, stretch_list *out) {
    const sliced *s = (const sliced *)m;
    int64_t n = input_of(at)->shape.data[k], begin = s->begin.data[k], end = s->end.data[k], first;
    if (takes_all(s, k, n)) return XIR_OK;
    if (n < 0 || !expr_is_number(begin) || !expr_is_number(end)) return refuse_unknown(at, k);
    int64_t count = pick(begin, end, s->stride.data[k], n, &first);
    return add_stretch(out, first, count, s->stride.data[k]);
}

xir_status slice_infer(xir_infer *at) {
    sliced s;
    dim_list dims;
    xir_status status = need_movable(at, 1);
    if (!status) status = slice_dims(at, &s, &dims);
    if (status) return status;
    s.m = (move){ .dims = &dims, .take = slice_take, .layout = xir_type_layout(xir_infer_input(at, 0)) };
    status = give_moved(at, &s.m);
    dims_free(&dims);
    free_bounds(&s);
    return status;
}

/* The most outputs of one op: the type of each is computed separately. */
enum { MOST_OUTPUTS = 1 << 12 };

/* ---- Split ---------------------------------------------------------------------------------------------------- */

static xir_status split_axis(xir_infer *at, size_t *axis) {
    const xir_split_attrs *a = xir_infer_attrs(at);
    xir_i64s shape = input_of(at)->shape;
    xir_status status = read_axis(at, "axis", a->axis, shape.size, axis);
    if (!status && is_unit(at, *axis)) status = need_untiled(at, "axis", *axis);
    if (status) return status;
    if (a->sections.size == 0) {
        return xir_infer_fail(at, XIR_E_INVALID, "sections", "sections is empty: expected at least one");
    }
    if (a->sections.size > MOST_OUTPUTS) {
        return xir_infer_fail(at, XIR_E_LIMIT, "sections", "%zu sections: expected at most %d", a->sections.size,
                              MOST_OUTPUTS);
    }
    int64_t total = 0;
    for (size_t i = 0; i < a->sections.size; i++) {
        if (a->sections.data[i] < 0) {
            return xir_infer_fail(at, XIR_E_BOUNDS, "sections", "section %zu is %" PRId64 ": expected at least 0", i,
                                  a->sections.data[i]);
        }
        if (!add_i64(total, a->sections.data[i], &total)) {
            return xir_infer_fail(at, XIR_E_LIMIT, "sections", "the sum of the sections exceeds 64 bits");
        }
    }
    if (dims_differ(at, total, shape.data[*axis])) {
        return xir_infer_fail(at, XIR_E_INVALID, "sections",
                              "the sum of the sections is %" PRId64 ", but dim %zu of input is %s", total, *axis,
                              dim_words(at, shape.data[*axis]).text);
    }
    return XIR_OK;
}

xir_status split_check(xir_infer *at) {
    size_t axis;
    if (!inputs_checkable(at, 1)) return XIR_OK;
    xir_status status = need_few_dims(at, 1);
    return status ? status : split_axis(at, &axis);
}

/* The start of the next section, and its dim. */
typedef struct section {
    move    m;   /* first: the slice function gets a pointer to it */
    size_t  axis;
    int64_t start;
} section;

static xir_status split_take(const move *m, xir_infer *at, size_t k, stretch_list *out) {
    const section *s = (const section *)m;
    (void)at;
    return k == s->axis ? add_stretch(out, s->start, m->dims->data[k], 1) : XIR_OK;
}

xir_status split_infer(xir_infer *at) {
    const xir_split_attrs *a = xir_infer_attrs(at);
    dim_list dims;
    section s = { .m = { .dims = &dims, .layout = xir_type_layout(xir_infer_input(at, 0)), .take = split_take } };
    xir_status status = need_movable(at, 1);
    if (!status) status = split_axis(at, &s.axis);
    if (status) return status;
    if (!copy_dims(at, &dims)) return XIR_E_MEMORY;
    for (size_t i = 0; i < a->sections.size && !status; i++) {
        dims.data[s.axis] = a->sections.data[i];
        status = give_moved(at, &s.m);
        s.start += a->sections.data[i];
    }
    dims_free(&dims);
    return status;
}

/* ---- Unstack -------------------------------------------------------------------------------------------------- */

static xir_status unstack_axis(xir_infer *at, size_t *axis) {
    const xir_unstack_attrs *a = xir_infer_attrs(at);
    xir_i64s shape = input_of(at)->shape;
    xir_status status = read_axis(at, "dim", a->dim, shape.size, axis);
    if (status) return status;
    if (shape.data[*axis] == 0) {
        return xir_infer_fail(at, XIR_E_INVALID, "inputs/0", "dim %zu is 0: expected at least 1 to unstack", *axis);
    }
    if (shape.data[*axis] > MOST_OUTPUTS) {
        return xir_infer_fail(at, XIR_E_LIMIT, "inputs/0", "dim %zu is %" PRId64 ": expected at most %d outputs", *axis,
                              shape.data[*axis], MOST_OUTPUTS);
    }
    return XIR_OK;
}

xir_status unstack_check(xir_infer *at) {
    size_t axis;
    return inputs_known(at, 1) && !inputs_tiled(at, 1) ? unstack_axis(at, &axis) : XIR_OK;
}

static xir_status unstack_take(const move *m, xir_infer *at, size_t k, stretch_list *out) {
    const section *s = (const section *)m;
    (void)at;
    return k == s->axis ? add_stretch(out, s->start, 1, 1) : XIR_OK;
}

xir_status unstack_infer(xir_infer *at) {
    dim_list to, from, dims;
    section s = { .m = { .dims = &dims, .take = unstack_take } };
    xir_status status = need_inputs(at, 1);
    if (!status) status = unstack_axis(at, &s.axis);
    if (status) return status;
    xir_i64s shape = input_of(at)->shape;
    size_t rank = shape.size;
    if (shape.data[s.axis] < 0) {
        return xir_infer_fail(at, XIR_E_UNSUPPORTED, "inputs/0",
                              "dim %zu is unknown, so the number of outputs cannot be determined", s.axis);
    }
    if (!dims_init(at, &to, rank)) return XIR_E_MEMORY;
    if (!dims_init(at, &from, rank - 1)) {
        dims_free(&to);
        return XIR_E_MEMORY;
    }
    if (!dims_init(at, &dims, rank - 1)) {
        dims_free(&to);
        dims_free(&from);
        return XIR_E_MEMORY;
    }
    for (size_t k = 0, n = 0; k < rank; k++) {
        to.data[k] = k == s.axis ? -1 : (int64_t)n;
        if (k == s.axis) continue;
        dims.data[n] = shape.data[k];
        from.data[n++] = (int64_t)k;
    }
    s.m.to = to.data;
    status = layout_of_axes(at, xir_infer_input(at, 0), from.data, from.size, &s.m.layout);
    for (int64_t n = shape.data[s.axis]; s.start < n && !status; s.start++) status = give_moved(at, &s.m);
    dims_free(&dims);
    dims_free(&from);
    dims_free(&to);
    return status;
}

/* ---- Roll ----------------------------------------------------------------------------------------------------- */

/* A shift normalised to [0, n). */
static int64_t wrapped(int64_t shift, int64_t n) {
    if (n <= 0) return 0;
    shift %= n;
    return shift < 0 ? shift + n : shift;
}

static xir_status roll_axes(xir_infer *at) {
    const xir_roll_attrs *a = xir_infer_attrs(at);
    size_t rank = input_of(at)->shape.size, axis;
    bool tiled = inputs_tiled(at, 1);
    if (a->dims.size == 0 && a->shifts.size != 1) {
        return xir_infer_fail(at, XIR_E_INVALID, "shifts", "%zu shifts without dims: expected one", a->shifts.size);
    }
    if (a->dims.size == 0 && tiled) {
        return xir_infer_fail(at, XIR_E_UNSUPPORTED, "shifts",
                              "the elements of a tiled input are not in row-major order: expected a list of dims");
    }
    if (a->dims.size && a->dims.size != a->shifts.size) {
        return xir_infer_fail(at, XIR_E_INVALID, "shifts", "%zu shifts for %zu dims: expected the same number of both",
                              a->shifts.size, a->dims.size);
    }
    for (size_t i = 0; i < a->dims.size; i++) {
        xir_status status = read_axis(at, "dims", a->dims.data[i], rank, &axis);
        if (!status && tiled) status = need_untiled(at, "dims", axis);
        if (status) return status;
    }
    return XIR_OK;
}

xir_status roll_check(xir_infer *at) {
    if (!inputs_checkable(at, 1)) return XIR_OK;
    xir_status status = need_few_dims(at, 1);
    return status ? status : roll_axes(at);
}

/* A roll before its dims are processed. */
typedef struct rolling {
    move     m;       /* first: the slice function gets a pointer to it                             */
    dim_list by;      /* the shift along each dim, -1 if unknown                                    */
    int64_t  total;   /* without dims: the number of elements, -1 if unknown                        */
    size_t   wide;    /* without dims: how many dims are not 1                                      */
} rolling;

/* If a dim is listed twice, both shifts add up. */
static void add_shifts(const xir_roll_attrs *a, xir_i64s shape, int64_t *by) {
    for (size_t k = 0; k < shape.size; k++) by[k] = 0;
    for (size_t i = 0; i < a->dims.size; i++) {
        int64_t k = from_start(a->dims.data[i], shape.size), n = shape.data[k], more = wrapped(a->shifts.data[i], n);
        if (n < 0) by[k] = -1;
        else by[k] = by[k] >= n - more ? by[k] - (n - more) : by[k] + more;
    }
}

static void count_elements(xir_i64s shape, rolling *r) {
    r->total = 1;
    r->wide = 0;
    for (size_t i = 0; i < shape.size; i++) {
        if (shape.data[i] < 0 || (r->total >= 0 && !mul_i64(r->total, shape.data[i], &r->total)))
            r->total = UNKNOWN_DIM;
        r->wide += shape.data[i] != 1;
    }
}

/* The shift of dim k when the roll treats all dims as one. Elements stay in dim k only if all other dims are 1. */
static xir_status rolled_flat(xir_infer *at, const rolling *r, size_t k, int64_t *shift) {
    const xir_roll_attrs *a = xir_infer_attrs(at);
    bool alone = r->wide == (input_of(at)->shape.data[k] != 1);
    *shift = r->total < 0 ? 0 : wrapped(a->shifts.data[0], r->total);
    if (r->total >= 0 && (*shift == 0 || alone)) return XIR_OK;
    return xir_infer_fail(at, XIR_E_UNSUPPORTED, "inputs/0", "the roll moves elements between dims: the scales and "
                          "valid elements of dim %zu cannot be carried over to the output", k);
}

static xir_status roll_take(const move *m, xir_infer *at, size_t k, stretch_list *out) {
    const xir_roll_attrs *a = xir_infer_attrs(at);
    const rolling *r = (const rolling *)m;
    int64_t n = input_of(at)->shape.data[k], shift;
    if (a->dims.size) shift = r->by.data[k];
    else {
        xir_status status = rolled_flat(at, r, k, &shift);
        if (status) return status;
    }
    if (shift == 0) return XIR_OK;
    if (shift < 0) return refuse_unknown(at, k);
    xir_status status = add_stretch(out, n - shift, shift, 1);
    return status ? status : add_stretch(out, 0, n - shift, 1);
}

xir_status roll_infer(xir_infer *at) {
    xir_i64s shape;
    dim_list dims;
    rolling r = { .m = { .dims = &dims, .take = roll_take } };
    xir_status status = need_movable(at, 1);
    if (!status) status = roll_axes(at);
    if (status) return status;
    shape = input_of(at)->shape;
    r.m.layout = xir_type_layout(xir_infer_input(at, 0));
    if (!copy_dims(at, &dims)) return XIR_E_MEMORY;
    if (dims_init(at, &r.by, shape.size)) {
        add_shifts(xir_infer_attrs(at), shape, r.by.data);
        count_elements(shape, &r);
        status = give_moved(at, &r.m);
        dims_free(&r.by);
    } else status = XIR_E_MEMORY;
    dims_free(&dims);
    return status;
}

/* ---- SwapOrder ------------------------------------------------------------------------------------------------ */

static xir_status swap_axis(xir_infer *at, size_t *axis) {
    const xir_swap_order_attrs *a = xir_infer_attrs(at);
    xir_i64s shape = input_of(at)->shape;
    xir_status status = read_axis(at, "axis", a->axis, shape.size, axis);
    if (!status && inputs_tiled(at, 1)) status = need_untiled(at, "axis", *axis);
    if (status) return status;
    size_t n = a->order.size;
    if (dims_differ(at, (int64_t)n, shape.data[*axis])) {
        return xir_infer_fail(at, XIR_E_INVALID, "order", "%zu places are given, but dim %zu of input is %s", n, *axis,
                              dim_words(at, shape.data[*axis]).text);
    }
    dim_list seen;
    if (!dims_init(at, &seen, n)) return XIR_E_MEMORY;
    for (size_t i = 0; i < n; i++) seen.data[i] = false;
    for (size_t i = 0; i < n && !status; i++) {
        int64_t from = a->order.data[i];
        if (from < 0 || (uint64_t)from >= n) {
            status = xir_infer_fail(at, XIR_E_BOUNDS, "order", "place %zu is %" PRId64 ": expected less than %zu", i,
                                    from, n);
        } else if (seen.data[from]) {
            status = xir_infer_fail(at, XIR_E_INVALID, "order",
                                    "place %" PRId64 " appears twice: expected each place once", from);
        } else seen.data[from] = true;
    }
    dims_free(&seen);
    return status;
}

xir_status swap_order_check(xir_infer *at) {
    size_t axis;
    if (!inputs_checkable(at, 1)) return XIR_OK;
    xir_status status = need_few_dims(at, 1);
    return status ? status : swap_axis(at, &axis);
}

static xir_status swap_take(const move *m, xir_infer *at, size_t k, stretch_list *out) {
    const xir_swap_order_attrs *a = xir_infer_attrs(at);
    xir_status status = XIR_OK;
    if (k != m->part) return XIR_OK;
    for (size_t i = 0; i < a->order.size && !status; i++) status = add_stretch(out, a->order.data[i], 1, 1);
    return status;
}

xir_status swap_order_infer(xir_infer *at) {
    const xir_swap_order_attrs *a = xir_infer_attrs(at);
    size_t axis;
    dim_list dims;
    xir_status status = need_movable(at, 1);
    if (!status) status = swap_axis(at, &axis);
    if (status) return status;
    if (!copy_dims(at, &dims)) return XIR_E_MEMORY;
    dims.data[axis] = (int64_t)a->order.size;
    status = give_moved(at, &(move){ .dims = &dims, .take = swap_take, .part = axis,
                                     .layout = xir_type_layout(xir_infer_input(at, 0)) });
    dims_free(&dims);
    return status;
}
