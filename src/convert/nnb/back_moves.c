/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The way back of operations that move elements, repeat them, or join tensors. All axes count from the start, and all
 * lists are of all dims, since NNabla's C runtime takes no others. */
#include <math.h>
#include "nnb/nnb.h"
#include "spec/borders.h"
#include "spec/moving.h"
#include "spec/one_axis.h"
#include "spec/slicing.h"

/* ---- shapes ----------------------------------------------------------------------------------------------------- */

/* To the dims of the result; one of them may be open. */
bool nnb_back_reshape(xir_node *at) {
    xir_ints dims;
    xir_value *x = xir_node_input(at, 0);
    if (!dims_of_result(at, &dims)) return false;
    const xir_set sets[] = { LIST("shape", &dims), XIR_SETB("inplace", false) };
    return nnb_calls(at, "nnb::Reshape", INS(x), (xir_sets){ sets, nnb_level(at) >= 2 ? 2 : 1 });
}

bool nnb_back_transpose(xir_node *at) {
    xir_ints order;
    xir_value *x = xir_node_input(at, 0);
    return order_of_op(at, x, &order) && nnb_calls(at, "nnb::Transpose", INS(x), SETS(LIST("axes", &order)));
}

/* Concat, along an axis of the operands, or Stack, along one of the result. */
bool nnb_back_join(xir_node *at) {
    joining j;
    if (!joining_of_op(at, &j)) return false;
    return nnb_calls(at, j.stacks ? "nnb::Stack" : "nnb::Concatenate", j.in, SETS(INT("axis", j.axis)));
}

bool nnb_back_unstack(xir_node *at) {
    const one_axis a = one_axis_of(at, "attribute/dim", 0);
    return nnb_calls(at, "nnb::Split", INS(a.x), SETS(AXIS("axis", a)));
}

/* ---- parts ------------------------------------------------------------------------------------------------------ */

/* Dims that are taken backward are turned around first: the elements of each are then in the order of the result. */
static xir_value *turned(xir_node *at, xir_value *x, const slicing *s, slice_part *of) {
    xir_ints axes = xir_node_make_ints(at, s->step.n, 0);
    const xir_type *type = xir_value_type(x);
    axes.n = 0;
    for (size_t i = 0; i < s->step.n && axes.v; i++) {
        of[i] = slicing_picks(s, i, v_dim(x, i));
        if (!of[i].count) return xir_node_unsupported(at, "no elements"), NULL;
        if (s->step.v[i] > 0) continue;
        of[i].first = v_dim(x, i) - 1 - of[i].first;
        s->step.v[i] = -s->step.v[i];
        axes.v[axes.n++] = (int64_t)i;
    }
    if (!axes.n || !axes.v) return x;
    return foreign_value(at, "nnb::Flip", INS(x), SETS(LIST("axes", &axes)), type);
}

/* Parts of the given sizes along an axis. */
static bool split(xir_node *at) {
    int64_t from = 0;
    const one_axis a = one_axis_of(at, "attribute/axis", -1);
    for (size_t i = 0; i < at->n_out; i++) {
        const int64_t n = v_dim(xir_op_output(at->op, (int64_t)i), a.axis);
        if (n < 0) return xir_node_unsupported(at, "open dims");
        if (!xir_node_result(at, i, make_part(at, a.x, a.axis, from, from + n, 1))) return false;
        from += n;
    }
    return true;
}

bool nnb_back_slice(xir_node *at) {
    slicing s;
    xir_value *x = xir_node_input(at, 0);
    if (xir_op_is(at->op, xir_split_class())) return split(at);
    if (!fixed_slicing_of_op(at, x, &s)) return false;
    const size_t rank = v_rank(x);
    slice_part *of = node_take(at, (rank + 1) * sizeof *of);
    if (!of) return node_no_memory(at);
    x = turned(at, x, &s, of);
    if (!x) return false;
    for (size_t i = 0; i < rank; i++) {
        if (of[i].count == 1) s.step.v[i] = 1;
        if (!node_at_most(at, s.step.v[i], NNB_MOST_DIM, "stride[%zu]", i)) return false;
        s.begin.v[i] = of[i].first;
        s.end.v[i] = of[i].first + (of[i].count - 1) * s.step.v[i] + 1;
    }
    return nnb_calls(at, "nnb::Slice", INS(x), SETS(LIST("start", &s.begin), LIST("stop", &s.end),
                                                    LIST("step", &s.step)));
}

/* Cuts off what padding below 0 removes, and sets it to 0. */
static xir_value *without_ends(xir_node *at, xir_value *x, xir_ints *pads) {
    for (size_t k = 0; k < v_rank(x) && x && 2 * k + 1 < pads->n; k++) {
        int64_t *before = &pads->v[2 * k], *after = before + 1;
        if (*before >= 0 && *after >= 0) continue;
        if (v_dim(x, k) < 0) return xir_node_unsupported(at, "padding below 0 of an open dim"), NULL;
        x = make_part(at, x, k, *before < 0 ? -*before : 0, v_dim(x, k) + (*after < 0 ? *after : 0), 1);
        if (*before < 0) *before = 0;
        if (*after < 0) *after = 0;
    }
    return x;
}

bool nnb_back_pad(xir_node *at) {
    static const pad_words words = { { "constant", "reflect", "repeat" } };
    borders b;
    xir_value *x = xir_node_input(at, 0);
    if (!fixed_borders_of_op(at, x, &b)) return false;
    const char *word = border_word(at, &b, &words);
    if (!word) return false;
    if (b.mode == XIR_PAD_REPLICATION && nnb_for_runtime(at))
        return xir_node_unsupported(at, "NNabla's C runtime does not repeat");
    bool adds = false;
    x = without_ends(at, x, &b.cells);
    for (size_t i = 0; i < b.cells.n; i++) adds = adds || b.cells.v[i];
    if (!adds) return x && xir_node_result(at, 0, x);
    return nnb_calls(at, "nnb::Pad", INS(x), SETS(LIST("pad_width", &b.cells), WORD("mode", xir_str_of(word)),
                                                  REAL("constant_value", b.value)));
}

/* ---- repetitions ------------------------------------------------------------------------------------------------ */

/* x in n dims, times ones where it has to grow. */
static xir_value *grown(xir_node *at, xir_value *x, const xir_ints *to) {
    const xir_ints own = xir_node_dims(at, x);
    xir_ints dims = xir_node_make_ints(at, to->n, 1), ones = xir_node_make_ints(at, to->n, 1);
    if (xir_node_failed(at) || own.n > to->n) return NULL;
    bool grows = false;
    for (size_t i = 0; i < to->n; i++) {
        if (i + own.n >= to->n) dims.v[i] = own.v[i + own.n - to->n];
        if (to->v[i] < 0) return xir_node_unsupported(at, "open dims"), NULL;
        if (dims.v[i] != to->v[i]) ones.v[i] = to->v[i], grows = true;
    }
    if (product_of(&ones, 0, ones.n) < 0 || product_of(&ones, 0, ones.n) > NNB_MOST_LISTED)
        return xir_node_unsupported(at, "a constant of more than 2^22 elements"), NULL;
    if (own.n < to->n) x = make_reshaped(at, x, &dims);
    return grows ? xir_node_product(at, x, xir_node_filled(at, v_element(x), &ones, 1)) : x;
}

bool nnb_back_expand(xir_node *at) {
    xir_value *x = xir_node_input(at, 0), *y = xir_op_output(at->op, 0);
    const xir_ints to = xir_node_dims(at, y);
    if (!x || xir_node_failed(at) || !xir_node_need_dims(at, y, 0, SIZE_MAX)) return false;
    if (nnb_for_runtime(at)) return xir_node_result(at, 0, grown(at, x, &to));
    if (v_rank(x) < to.n) x = make_widened(at, x, to.n, to.n - v_rank(x));
    return x && nnb_calls(at, "nnb::Broadcast", INS(x), SETS(LIST("shape", &to)));
}

/* For the runtime each dim d becomes [count, d], times ones. */
bool nnb_back_tile(xir_node *at) {
    xir_ints counts;
    xir_value *x = xir_node_input(at, 0), *y = xir_op_output(at->op, 0);
    if (xir_node_has(at, 1)) return xir_node_unsupported(at, "counts that are computed");
    if (!x || !xir_node_items(at, "dims", &counts) || !xir_node_need_dims(at, y, 0, SIZE_MAX)) return false;
    const size_t rank = v_rank(y);
    const xir_ints to = xir_node_dims(at, y);
    xir_ints reps = xir_node_make_ints(at, rank, 1), pairs = xir_node_make_ints(at, 2 * rank, 1),
             all = xir_node_make_ints(at, 2 * rank, 1);
    if (xir_node_failed(at)) return false;
    for (size_t i = 0; i < rank; i++) {
        if (i + counts.n >= rank) reps.v[i] = counts.v[i + counts.n - rank];
        const int64_t own = i + v_rank(x) >= rank ? v_dim(x, i + v_rank(x) - rank) : 1;
        pairs.v[2 * i + 1] = all.v[2 * i + 1] = own;
        all.v[2 * i] = reps.v[i];
    }
    if (!nnb_for_runtime(at)) return nnb_calls(at, "nnb::Tile", INS(x), SETS(LIST("reps", &reps)));
    x = grown(at, make_reshaped(at, x, &pairs), &all);
    return x && xir_node_result(at, 0, make_reshaped(at, x, &to));
}

/* ---- positions -------------------------------------------------------------------------------------------------- */

/* Constant positions: a slice if each comes a step after the one before, else slices of one. */
static xir_value *picked(xir_node *at, xir_value *x, size_t axis, const xir_ints *places) {
    enum { MOST_SLICES = 256 };
    const int64_t dim = v_dim(x, axis);
    for (size_t i = 0; i < places->n; i++) {
        if (places->v[i] < 0) places->v[i] += dim;
        if (places->v[i] < 0 || places->v[i] >= dim) return xir_node_unsupported(at, "positions out of range"), NULL;
    }
    const int64_t step = places->n > 1 ? places->v[1] - places->v[0] : 1, first = places->v[0];
    bool even = step != 0;
    for (size_t i = 1; i < places->n; i++) even &= places->v[i] == first + (int64_t)i * step;
    if (even) {
        const int64_t last = places->v[places->n - 1], end = step > 0 ? last + 1 : last ? last - 1 : INT64_MIN;
        return make_part(at, x, axis, first, end, step);
    }
    if (places->n > MOST_SLICES) return xir_node_unsupported(at, "%zu positions", places->n), NULL;
    xir_value **parts = node_take(at, (places->n + 1) * sizeof *parts);
    if (!parts) return node_no_memory(at), NULL;
    for (size_t i = 0; i < places->n; i++) parts[i] = make_part(at, x, axis, places->v[i], places->v[i] + 1, 1);
    return xir_node_make(at, "Concat", (xir_values){ parts, places->n }, SETS(INT("axis", (int64_t)axis)));
}

/* Positions as numbers from 0 on, in dims of the sizes `n`. */
static xir_value *from_start(xir_node *at, xir_value *index, const double *n, size_t n_sizes) {
    const xir_type *real = xir_type_float(xir_node_context(at), XIR_FLOAT_FP32);
    if (!real) return node_no_memory(at), NULL;
    xir_value *v = xir_node_cast(at, index, real);
    xir_value *below = v ? xir_node_make(at, "Less", INS(v, xir_node_scalar(at, real, 0)), NO_SETS) : NULL;
    const xir_ints line = { (int64_t[]){ (int64_t)n_sizes }, 1 };
    xir_value *sizes = n_sizes == 1 ? xir_node_scalar(at, real, *n) : xir_node_constant(at, real, &line, n, n_sizes);
    return below ? xir_node_sum(at, v, xir_node_product(at, xir_node_cast(at, below, real), sizes), 1, 1) : NULL;
}

/* The axis first, as Embed takes it, and last of all the dims of the positions in its place. */
static bool embedded(xir_node *at, xir_value *x, size_t axis, xir_value *index) {
    const xir_value *y = xir_op_output(at->op, 0);
    const size_t rank = v_rank(x), own = v_rank(index), all = v_rank(y);
    xir_ints order = xir_node_series(at, 0, rank), back = xir_node_series(at, 0, all), dims = xir_node_dims(at, y),
             made = xir_node_make_ints(at, all, 0);
    index = from_start(at, index, &(double){ (double)v_dim(x, axis) }, 1);
    if (xir_node_failed(at) || !index) return false;
    for (size_t i = 0; i <= axis; i++) order.v[i] = i ? (int64_t)i - 1 : (int64_t)axis;
    for (size_t i = 0; i < all; i++)   /* [indices, before, after] */
        back.v[i] = (int64_t)(i < axis ? own + i : i < axis + own ? i - axis : i);
    for (size_t i = 0; i < all; i++) made.v[back.v[i]] = dims.v[i];
    if (!axis) return nnb_calls(at, "nnb::Embed", INS(index, x), NO_SETS);
    x = xir_node_transposed(at, x, order.v, rank, NULL);
    x = foreign_tensor(at, "nnb::Embed", INS(index, x), NO_SETS, v_element(y), &made);
    return xir_node_result(at, 0, xir_node_transposed(at, x, back.v, all, NULL));
}

bool nnb_back_gather(xir_node *at) {
    int64_t axis;
    xir_ints places;
    xir_value *x = xir_node_input(at, 0), *index = xir_node_input(at, 1), *y = xir_op_output(at->op, 0);
    if (xir_node_failed(at) || !node_axis(at, "axis", 0, v_rank(x), &axis)) return false;
    if (!xir_node_need_dims(at, x, (size_t)axis, (size_t)axis + 1)) return false;
    if (!xir_node_is_constant(at, 1)) return embedded(at, x, (size_t)axis, index);
    if (!xir_node_ints(at, 1, &places)) return false;
    if (!places.n) return xir_node_unsupported(at, "no elements");
    const xir_ints dims = xir_node_dims(at, y);
    xir_value *v = picked(at, x, (size_t)axis, &places);
    return v && xir_node_result(at, 0, v_rank(index) == 1 ? v : make_reshaped(at, v, &dims));
}

/* Returns true if all positions are constant, and count from the start: negative ones are only XIR's. */
static bool counts_from_start(xir_node *at, size_t i) {
    xir_ints v;
    if (!xir_node_is_constant(at, i) || !xir_node_ints(at, i, &v)) return false;
    for (size_t k = 0; k < v.n; k++) if (v.v[k] < 0) return false;
    return true;
}

/* Input i, positions in x. Their coordinates are the first dim in NNabla, and the last in XIR. */
static xir_value *coordinates(xir_node *at, size_t i, const xir_value *x) {
    xir_value *index = xir_node_input(at, i);
    const size_t rank = index ? v_rank(index) : 0;
    if (!rank || !xir_node_need_dims(at, index, rank - 1, rank)) return NULL;
    const size_t n = (size_t)v_dim(index, rank - 1);
    xir_ints order = xir_node_make_ints(at, rank, 0);
    double *sizes = node_take(at, (n + 1) * sizeof *sizes);
    if (!sizes) return node_no_memory(at), NULL;
    if (!xir_node_need_dims(at, x, 0, n)) return NULL;
    for (size_t k = 0; k < n; k++) sizes[k] = (double)v_dim(x, k);
    if (n && !counts_from_start(at, i)) index = from_start(at, index, sizes, n);
    if (xir_node_failed(at) || rank < 2) return index;
    order.v[0] = (int64_t)rank - 1;
    for (size_t k = 1; k < rank; k++) order.v[k] = (int64_t)k - 1;
    return xir_node_transposed(at, index, order.v, rank, NULL);
}

/* Positions along one axis: in the others, each cell has its own. */
static bool gather_elements(xir_node *at) {
    int64_t axis;
    xir_value *x = xir_node_input(at, 0), *index = xir_node_input(at, 1);
    if (xir_node_failed(at) || !node_axis(at, "axis", 0, v_rank(x), &axis)) return false;
    if (!xir_node_need_dims(at, x, (size_t)axis, (size_t)axis + 1) || !xir_node_need_dims(at, index, 0, SIZE_MAX))
        return false;
    const xir_type *real = xir_type_float(xir_node_context(at), XIR_FLOAT_FP32);
    const xir_ints dims = xir_node_dims(at, index);
    const int64_t cells = product_of(&dims, 0, dims.n);
    if (cells < 1 || cells > NNB_MOST_LISTED) return xir_node_unsupported(at, "no indices, or more than 2^22");
    xir_value **each = node_take(at, (dims.n + 1) * sizeof *each);
    double *own = node_take(at, (size_t)cells * sizeof *own);
    if (!each || !own || !real) return node_no_memory(at);
    for (size_t d = 0; d < dims.n; d++) {
        const int64_t after = product_of(&dims, d + 1, dims.n);
        for (int64_t i = 0; i < cells; i++) own[i] = (double)(i / after % dims.v[d]);
        each[d] = (int64_t)d == axis ? from_start(at, index, &(double){ (double)v_dim(x, d) }, 1)
                                     : xir_node_constant(at, real, &dims, own, (size_t)cells);
    }
    xir_value *places = xir_node_make(at, "Stack", (xir_values){ each, dims.n }, SETS(INT("dim", 0)));
    return places && nnb_calls(at, "nnb::GatherNd", INS(x, places), NO_SETS);
}

bool nnb_back_gather_nd(xir_node *at) {
    if (xir_op_is(at->op, xir_gather_elements_class())) return gather_elements(at);
    xir_value *x = xir_node_input(at, 0);
    if (xir_node_int(at, "batch_dims", 0)) return xir_node_unsupported(at, "positions for each of a batch");
    xir_value *index = x ? coordinates(at, 1, x) : NULL;
    return index && nnb_calls(at, "nnb::GatherNd", INS(x, index), NO_SETS);
}

bool nnb_back_scatter_nd(xir_node *at) {
    xir_value *x = xir_node_input(at, 0), *more = xir_node_input(at, 2);
    const bool add = xir_node_is(at, "reduction", "ADD");
    if (!add && !xir_node_is(at, "reduction", "NONE")) return xir_node_unsupported(at, "this reduction");
    if (add && x && !v_is_real(x)) return xir_node_unsupported(at, "sums of integers, which are reals there");
    if (add && nnb_level(at) < 37) return xir_node_unsupported(at, "sums, which need api level 37");
    xir_value *index = x ? coordinates(at, 1, x) : NULL;
    const xir_ints dims = xir_node_dims(at, x);
    const xir_set sets[] = { LIST("shape", &dims), XIR_SETB("add", add) };
    return nnb_calls(at, "nnb::ScatterNd", INS(more, index, x), (xir_sets){ sets, nnb_level(at) >= 37 ? 2 : 1 });
}

/* The k greatest or least: all of them sorted, then a part. */
bool nnb_back_topk(xir_node *at) {
    const one_axis a = one_axis_of(at, "attribute/axis", -1);
    xir_ints k;
    if (!a.x) return false;
    if (!xir_node_is_constant(at, 1) || !xir_node_ints(at, 1, &k) || k.n != 1)
        return xir_node_unsupported(at, "a number of elements that is computed");
    const xir_type *types[] = { xir_value_type(a.x), xir_value_type(a.x) };
    xir_op *op = xir_node_make_foreign(at, "nnb::Sort", INS(a.x),
                                       SETS(AXIS("axis", a), XIR_SETB("reverse", xir_node_bool(at, "largest", true)),
                                            XIR_SETB("with_index", true), XIR_SETB("only_index", false)), types, 2);
    for (size_t i = 0; i < at->n_out && op; i++)
        xir_node_result(at, i, make_part(at, xir_op_output(op, (int64_t)i), a.axis, 0, k.v[0], 1));
    return op && !xir_node_failed(at);
}
