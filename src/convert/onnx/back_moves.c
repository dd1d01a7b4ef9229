/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The way back of operations that move elements. Lists that XIR's ops have as attributes are inputs: 64-bit
 * integers. */
#include <math.h>
#include "onnx/back.h"
#include "spec/borders.h"
#include "spec/moving.h"
#include "spec/one_axis.h"
#include "spec/slicing.h"

/* ---- shapes ----------------------------------------------------------------------------------------------------- */

/* 0 is a dim of 0 for XIR. For ONNX it keeps a dim, unless allowzero is set, which then forbids -1. */
bool onnx_back_reshape(xir_node *at) {
    xir_ints shape;
    xir_value *x = xir_node_input(at, 0), *y = xir_op_output(at->op, 0);
    if (!x || !onnx_is_new_enough(at)) return false;
    if (xir_node_has(at, 1)) {
        xir_value *dims = onnx_long(at, xir_node_input(at, 1));
        return onnx_becomes(at, INS(x, dims), (xir_sets){ &(xir_set)INT("allowzero", 1), onnx_target(at) >= 14 });
    }
    if (!xir_node_items(at, "shape", &shape)) return xir_node_unsupported(at, "its shape is missing");
    bool zero = false, kept = true;
    size_t rest = shape.n;
    for (size_t i = 0; i < shape.n; i++) {
        if (shape.v[i] == -1) rest = i;
        if (shape.v[i]) continue;
        zero = true;
        kept &= i < v_rank(x) && v_dim(x, i) == 0;
    }
    if (!zero || kept) return onnx_becomes(at, INS(x, xir_node_integers(at, &shape)), NO_SETS);
    if (rest < shape.n && v_dim(y, rest) >= 0) shape.v[rest] = v_dim(y, rest), rest = shape.n;
    if (rest < shape.n) return xir_node_unsupported(at, "a dim of 0 elements");
    return onnx_becomes(at, INS(x, xir_node_integers(at, &shape)), SETS(INT("allowzero", 1)));
}

bool onnx_back_squeeze(xir_node *at) {
    xir_ints axes = { NULL, 0 };
    xir_value *x = xir_node_input(at, 0);
    onnx_form f = { .in = { x }, .n_in = 1 };
    (void)xir_node_items(at, "axis", &axes);
    if (!axes.n) {   /* every dim of 1: known ones */
        if (!xir_node_need_dims(at, x, 0, SIZE_MAX)) return false;
        axes = xir_node_make_ints(at, v_rank(x), 0);
        axes.n = 0;
        for (size_t i = 0; i < v_rank(x) && axes.v; i++) if (v_dim(x, i) == 1) axes.v[axes.n++] = (int64_t)i;
        if (!axes.n) return onnx_calls(at, "onnx::Identity", INS(x), NO_SETS);
    }
    if (!axes_from_start(at, "attribute/axis", v_rank(x), &axes)) return false;
    onnx_put_list(at, &f, "axes", 1, 13, &axes);
    return onnx_becomes(at, onnx_inputs(&f), onnx_sets(&f));
}

bool onnx_back_transpose(xir_node *at) {
    xir_ints dims;
    xir_value *x = xir_node_input(at, 0);
    if (!order_of_op(at, x, &dims)) return false;
    xir_value *turned = onnx_turned_constant(at, x, &dims);
    return turned ? xir_node_result(at, 0, turned) : onnx_becomes(at, INS(x), SETS(LIST("perm", &dims)));
}

/* A size of -1 keeps a dim, as 1 does for ONNX. */
bool onnx_back_expand(xir_node *at) {
    xir_ints sizes, known;
    xir_value *x = xir_node_input(at, 0);
    if (!xir_node_has(at, 1)) {
        if (!xir_node_items(at, "sizes", &sizes)) return xir_node_unsupported(at, "its sizes are missing");
        for (size_t i = 0; i < sizes.n; i++) if (sizes.v[i] < 0) sizes.v[i] = 1;
        return onnx_becomes(at, INS(x, xir_node_integers(at, &sizes)), NO_SETS);
    }
    xir_value *dims = onnx_long(at, xir_node_input(at, 1));
    if (!dims) return false;
    bool keeps = !conversion_ints(at->c, xir_node_input(at, 1), &known);
    for (size_t i = 0; !keeps && i < known.n; i++) keeps = known.v[i] < 0 && known.v[i] != OPEN_ITEM;
    if (at->c->no_memory) return node_no_memory(at);
    if (keeps) {
        xir_value *one = xir_node_scalar(at, v_element(dims), 1), *zero = xir_node_scalar(at, v_element(dims), 0);
        xir_value *kept = xir_node_make(at, "Less", INS(dims, zero), NO_SETS);
        dims = kept ? xir_node_make(at, "Where", INS(one, dims, kept), NO_SETS) : NULL;
    }
    return onnx_becomes(at, INS(x, dims), NO_SETS);
}

/* x with dims of 1 in front. */
static xir_value *raised(xir_node *at, xir_value *x, size_t rank) {
    while (x && v_rank(x) < rank) x = onnx_unsqueezed(at, x, 0);
    return x;
}

/* A count for each dim. */
bool onnx_back_tile(xir_node *at) {
    xir_ints counts;
    xir_value *x = xir_node_input(at, 0), *y = xir_op_output(at->op, 0);
    const size_t rank = v_rank(y);
    x = raised(at, x, rank);
    if (!xir_node_has(at, 1)) {
        if (!xir_node_items(at, "dims", &counts)) return xir_node_unsupported(at, "its counts are missing");
        if (!rank) return onnx_calls(at, "onnx::Identity", INS(x), NO_SETS);
        xir_ints all = xir_node_make_ints(at, rank, 1);
        for (size_t i = 0; i < counts.n && i < rank && all.v; i++) all.v[rank - counts.n + i] = counts.v[i];
        return all.v && onnx_becomes(at, INS(x, xir_node_integers(at, &all)), NO_SETS);
    }
    xir_value *list = onnx_long(at, xir_node_input(at, 1));
    if (!list || v_rank(list) != 1 || v_dim(list, 0) < 0)
        return xir_node_unsupported(at, "an unknown number of counts");
    if ((size_t)v_dim(list, 0) < rank) {
        const xir_ints ones = xir_node_make_ints(at, rank - (size_t)v_dim(list, 0), 1);
        if (!ones.v) return false;
        list = xir_node_make(at, "Concat", INS(xir_node_integers(at, &ones), list), SETS(INT("axis", 0)));
    }
    return onnx_becomes(at, INS(x, list), NO_SETS);
}

/* The dims [start, end) of x; before version 15 all of them, some of which are taken. */
bool onnx_back_shape(xir_node *at) {
    xir_value *x = xir_op_input(at->op, 0);
    if (!x || !xir_type_as_tensor(xir_value_type(x))) return xir_node_unsupported(at, "an input without a type");
    const int64_t rank = (int64_t)v_rank(x);
    int64_t from, to;
    if (!part_of_shape(at, x, &from, &to)) return false;
    if (!from && to == rank) return onnx_becomes(at, INS(x), NO_SETS);
    if (onnx_target(at) >= 15) return onnx_becomes(at, INS(x), SETS(INT("start", from), INT("end", to)));
    const xir_ints all = { &(int64_t){ rank }, 1 };
    xir_value *shape = onnx_call(at, "onnx::Shape", INS(x), NO_SETS, xir_type_sint(at->c->ctx, 64), &all);
    return xir_node_result(at, 0, make_part(at, shape, 0, from, to, 1));
}

bool onnx_back_constant_of_shape(xir_node *at) {
    const xir_ints one = { &(int64_t){ 1 }, 1 };
    const xir_value *y = xir_op_output(at->op, 0);
    xir_value *shape = onnx_long(at, xir_node_input(at, 0)), *value;
    value = xir_node_filled(at, v_element(y), &one, xir_node_real(at, "value", 0));
    return value && onnx_becomes(at, INS(shape), SETS(OBJ("value", value)));
}

/* Numbers without dims. */
static xir_value *as_scalar(xir_node *at, xir_value *v) {
    if (!v || !v_rank(v)) return v;
    const xir_ints none = { (int64_t[]){ 0 }, 0 };
    return make_reshaped(at, v, &none);
}

bool onnx_back_range(xir_node *at) {
    xir_value *from = as_scalar(at, xir_node_input(at, 0)), *to = as_scalar(at, xir_node_input(at, 1)),
              *by = as_scalar(at, xir_node_input(at, 2));
    return from && to && by && onnx_becomes(at, INS(from, to, by), NO_SETS);
}

/* ---- parts and joins -------------------------------------------------------------------------------------------- */

/* Concat; Stack, of operands with one more dim. */
bool onnx_back_join(xir_node *at) {
    joining j;
    xir_value **in = node_take(at, (at->n_in + 1) * sizeof *in);
    if (!in || !joining_of_op(at, &j)) return false;
    for (size_t i = 0; i < j.in.size; i++)
        in[i] = j.stacks ? onnx_unsqueezed(at, j.in.data[i], j.axis) : j.in.data[i];
    return onnx_becomes(at, (xir_values){ in, j.in.size }, SETS(INT("axis", j.axis)));
}

bool onnx_back_split(xir_node *at) {
    const size_t n = xir_op_output_count(at->op);
    const xir_type **types = node_take(at, (n + 1) * sizeof *types);
    const one_axis a = one_axis_of(at, "attribute/axis", -1);
    xir_ints sections;
    if (!types) return node_no_memory(at);
    if (!xir_node_items(at, "sections", &sections)) return xir_node_unsupported(at, "its sections are missing");
    if (xir_node_failed(at) || sections.n != n) return xir_node_unsupported(at, "sections without outputs");
    onnx_form f = { .in = { a.x }, .n_in = 1, .sets = { AXIS("axis", a) }, .n_sets = 1 };
    for (size_t i = 0; i < n; i++) types[i] = xir_value_type(xir_op_output(at->op, (int64_t)i));
    onnx_put_list(at, &f, "split", 1, 13, &sections);
    xir_op *op = xir_node_make_foreign(at, at->to->row->name, onnx_inputs(&f), onnx_sets(&f), types, n);
    return foreign_gives(at, op) && onnx_name_rest(at, op);
}

/* The ends of a slice of x from computed starts. Where it goes backward and starts before the first element, XIR picks
 * nothing, and ONNX begins with that element: an end after the last one leaves nothing to be picked there, too. */
static xir_value *ends_in_onnx(xir_node *at, xir_value *x, const slicing *s, xir_value *starts, xir_value *ends) {
    const size_t rank = s->step.n;
    const xir_ints dims = { (int64_t[]){ (int64_t)rank }, 1 }, never = xir_node_make_ints(at, rank, INT64_MAX);
    double *backward = node_take(at, rank * sizeof *backward);
    bool any = false;
    if (!backward || xir_node_failed(at)) return node_no_memory(at), NULL;
    for (size_t i = 0; i < rank; i++) {
        backward[i] = s->step.v[i] < 0;
        any |= s->step.v[i] < 0;
    }
    if (!any) return ends;
    xir_value *least = xir_node_unary(at, "Neg", xir_node_unary(at, "Shape", x));
    xir_value *before = xir_node_make(at, "Less", INS(starts, least), NO_SETS);
    xir_value *is_backward = xir_node_constant(at, xir_type_bool(at->c->net->ctx), &dims, backward, rank);
    return xir_node_make(at, "Where", INS(xir_node_integers(at, &never), ends,
                                          xir_node_make(at, "And", INS(before, is_backward), NO_SETS)), NO_SETS);
}

static bool back_computed_slice(xir_node *at, xir_value *x, const slicing *s) {
    const int64_t rank = (int64_t)s->step.n;
    const xir_ints axes = xir_node_series(at, 0, s->step.n);
    xir_value *bounds = s->bounds ? onnx_long(at, s->bounds) : NULL;
    xir_value *starts = s->bounds ? make_part(at, bounds, 0, 0, rank, 1) : xir_node_integers(at, &s->begin);
    xir_value *ends = s->bounds ? make_part(at, bounds, 0, rank, 2 * rank, 1) : xir_node_integers(at, &s->end);
    ends = ends_in_onnx(at, x, s, starts, ends);
    return ends && onnx_becomes(at, INS(x, starts, ends, xir_node_integers(at, &axes), xir_node_integers(at, &s->step)),
                                NO_SETS);
}

bool onnx_back_slice(xir_node *at) {
    slicing s;
    xir_value *x = xir_node_input(at, 0), *y = xir_op_output(at->op, 0);
    if (!slicing_of_op(at, x, &s)) return false;
    const size_t rank = v_rank(x);
    const xir_ints axes = xir_node_series(at, 0, rank);
    if (xir_node_failed(at)) return false;
    if (!rank) return onnx_calls(at, "onnx::Identity", INS(x), NO_SETS);
    int64_t *begin = s.begin.v, *end = s.end.v, *step = s.step.v;
    bool may_be_before = s.bounds;
    for (size_t i = 0; i < rank; i++) may_be_before |= step[i] < 0 && begin[i] < -1 && v_dim(x, i) < 0 && v_dim(y, i);
    if (may_be_before) return back_computed_slice(at, x, &s);
    size_t n = 0;
    for (size_t i = 0; i < rank; i++) {
        const int64_t dim = v_dim(x, i);
        if (step[i] < 0 && v_dim(y, i) == 0) begin[i] = end[i] = 0, step[i] = 1;
        const bool to_end = end[i] == INT64_MAX || (dim >= 0 && end[i] >= dim);
        const bool whole = step[i] == 1 && begin[i] == 0 && to_end;
        if (whole && (n || i + 1 < rank)) continue;   /* one axis at least */
        axes.v[n] = (int64_t)i;
        begin[n] = begin[i], end[n] = end[i], step[n] = step[i], n++;
    }
    const xir_ints some = { axes.v, n }, from = { begin, n }, to = { end, n }, by = { step, n };
    return onnx_becomes(at, INS(x, xir_node_integers(at, &from), xir_node_integers(at, &to),
                                xir_node_integers(at, &some), xir_node_integers(at, &by)), NO_SETS);
}

/* ---- borders ---------------------------------------------------------------------------------------------------- */

/* [before, after, before, …] as [before, before, …, after, …]. */
static xir_value *sides_apart(xir_node *at, xir_value *amounts, size_t rank) {
    xir_value *pairs = make_shaped(at, amounts, (int64_t[]){ (int64_t)rank, 2 }, 2);
    pairs = pairs ? make_swapped(at, pairs) : NULL;
    return make_shaped(at, pairs, (int64_t[]){ 2 * (int64_t)rank }, 1);
}

bool onnx_back_pad(xir_node *at) {
    static const pad_words words = { { "constant", "reflect", "edge" } };
    borders b;
    xir_value *x = xir_node_input(at, 0), *value = NULL;
    if (!borders_of_op(at, x, &b)) return false;
    const size_t rank = v_rank(x);
    const char *word = border_word(at, &b, &words);
    if (!word) return false;
    if (!rank) return onnx_calls(at, "onnx::Identity", INS(x), NO_SETS);
    xir_ints apart = xir_node_make_ints(at, 2 * rank, 0);
    for (size_t i = 0; i < apart.n; i++) apart.v[i % 2 * rank + i / 2] = b.cells.v[i];
    xir_value *pads = b.amounts ? sides_apart(at, onnx_long(at, b.amounts), rank) : xir_node_integers(at, &apart);
    if (b.mode == XIR_PAD_CONSTANT && b.value != 0) value = xir_node_scalar(at, v_element(x), b.value);
    return onnx_becomes(at, INS(x, pads, value), SETS(WORD("mode", xir_str_of(word))));
}

/* The channels [c, r, r] become parts of rows and columns: column, row, depth. */
bool onnx_back_depth_to_space(xir_node *at) {
    xir_value *x = map_input(at);
    if (v_rank(x) != 4) return xir_node_unsupported(at, "a map of %zu dims", v_rank(x));
    if (!v_is_real(x)) return xir_node_unsupported(at, "integers, of which ONNX Runtime has no kernel");
    return onnx_becomes_map(at, INS(x), SETS(INT("blocksize", xir_node_int(at, "upscale_factor", 1)),
                                             WORD("mode", XIR_STR("CRD"))));
}
