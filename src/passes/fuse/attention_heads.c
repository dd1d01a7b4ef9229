/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The heads of Attention: query, key and value that are split into heads by Reshape and Transpose, and a result whose
 * heads are put side by side again, need neither: our Attention takes [batch, length, heads * size], too. Query, key
 * and value may also be parts of one tensor, [batch, length, parts * heads * size]: a Split of its last dim makes them,
 * and no transposition is left. */
#include <xir/sugar.h>
#include "fuse/attention.h"

enum { INPUTS = 3, MOST_PARTS = 8, MOST_ASKING = 8 };

/* The origin of an input: a Reshape to [batch, length, heads, size], or to [batch, length, parts, heads, size], of
 * which it is one part. */
typedef struct stem {
    xir_op *reshape;
    int64_t part, parts, heads, size, row;   /* row: parts * heads * size */
} stem;

/* ---- parts of one tensor ----------------------------------------------------------------------------------------- */

/* Returns true if a value is another one without a dim of 1. */
static bool lacks_dim(const xir_value *v, const xir_value *of, size_t axis) {
    const xir_i64s dims = dims_of(of->type);
    int64_t rest[MOST_DIMS];
    if (dims.size > MOST_DIMS || axis >= dims.size || dims.data[axis] != 1) return false;
    for (size_t i = 0; i + 1 < dims.size; i++) rest[i] = dims.data[i + (i >= axis)];
    return has_dims(v, rest, dims.size - 1);
}

static bool is_axis(int64_t axis, size_t wanted, const xir_value *v) {
    return from_end(axis, (int64_t)rank_of(v)) == (int64_t)wanted;
}

/* Returns true if Split takes single elements of a dim. */
static bool takes_singles(const xir_op *op, const xir_split_attrs *a) {
    for (size_t i = 0; i < a->sections.size; i++) if (a->sections.data[i] != 1) return false;
    return a->sections.size == op->n_outputs;
}

/* The tensor from which an output of Split, or a Slice, is one element of a dim; NULL if it is not. */
static xir_value *cut_from(const xir_value *v, size_t axis, int64_t *index) {
    const xir_op *op = plain_maker(v);
    const xir_split_attrs *split = op ? xir_split_of(op) : NULL;
    const xir_slice_attrs *slice = op ? xir_slice_of(op) : NULL;
    xir_value *x = op ? op_inputs(op)[0].value : NULL;
    if (split) {
        *index = v - op_outputs(op);
        return is_axis(split->axis, axis, x) && takes_singles(op, split) ? x : NULL;
    }
    const size_t rank = rank_of(v);
    if (!slice || op->n_inputs != 1 || rank_of(x) != rank || axis >= rank || slice->begin.size != rank ||
        slice->stride.size != rank) return NULL;
    for (size_t i = 0; i < rank; i++)   /* as many elements, one after the other: all */
        if (i != axis && (slice->stride.data[i] != 1 || !dims_agree(dim_at(v, i), dim_at(x, i)))) return NULL;
    const int64_t dim = dim_at(x, axis);
    *index = from_end(slice->begin.data[axis], dim);
    return dim_at(v, axis) == 1 && *index >= 0 && *index < dim ? x : NULL;
}

/* The tensor whose element `index` of a dim a value is, without that dim; NULL if it is not. */
static xir_value *picked_from(const xir_value *v, size_t axis, int64_t *index) {
    const xir_op *op = plain_maker(v);
    xir_value *x = op ? op_inputs(op)[0].value : NULL;
    if (!x || axis >= rank_of(x)) return NULL;
    const xir_gather_attrs *gather = xir_gather_of(op);
    const xir_unstack_attrs *unstack = xir_unstack_of(op);
    if (gather) {
        double place;
        const xir_value *places = op->n_inputs > 1 ? op_inputs(op)[1].value : NULL;
        const int64_t dim = dim_at(x, axis);
        if (!places || rank_of(places) != 0 || !number_of_params(places, &place) || dim < 1 || dim > INT32_MAX ||
            !is_axis(gather->axis, axis, x) || !(place >= -(double)dim && place < (double)dim)) return NULL;
        *index = from_end((int64_t)place, dim);
        return x;
    }
    if (unstack) {
        *index = v - op_outputs(op);
        return is_axis(unstack->dim, axis, x) ? x : NULL;
    }
    if (!xir_squeeze_of(op) && !xir_reshape_of(op)) return NULL;
    return lacks_dim(v, x, axis) ? cut_from(x, axis, index) : NULL;
}

/* ---- where inputs come from -------------------------------------------------------------------------------------- */

/* The value whose axes a Transpose puts in this order; NULL if `v` is not one. */
static xir_value *before_transpose(const xir_value *v, const int64_t *order, size_t n) {
    const xir_op *op = plain_maker(v);
    return op && transposes_by(op, order, n) ? op_inputs(op)[0].value : NULL;
}

static const int64_t swapped[] = { 0, 2, 1, 3 }, parts_first[] = { 2, 0, 3, 1, 4 };

/* Fills in what the Reshape says. `split` is its output, with a dim for parts if there are any. */
static bool find_reshape(const xir_value *split, stem *s) {
    xir_op *op = plain_maker(split);
    const size_t rank = rank_of(split);
    if (!op || !xir_reshape_of(op) || xir_reshape_of(op)->shape.size != rank || (s->part < 0 ? rank != 4 : rank != 5))
        return false;
    const int64_t *dims = dims_of(split->type).data;
    s->reshape = op;
    s->parts = s->part < 0 ? 1 : dims[2];
    s->heads = dims[rank - 2], s->size = dims[rank - 1];
    if (s->parts < 1 || s->parts > MOST_PARTS || s->heads < 1 || s->size < 1 || !mul_i64(s->parts, s->heads, &s->row) ||
        !mul_i64(s->row, s->size, &s->row)) return false;
    /* either the tensor has these dims before, or they can be written */
    return has_dims(op_inputs(op)[0].value, (int64_t[]){ dims[0], dims[1], s->row }, 3) || op->n_inputs == 1;
}

static bool find_stem(const xir_value *v, stem *s) {
    s->part = -1;
    xir_value *x = before_transpose(v, swapped, 4);
    if (x && find_reshape(x, s)) return true;
    xir_value *all = x ? picked_from(x, 2, &s->part) : picked_from(v, 0, &s->part);
    if (all && !x) all = before_transpose(all, parts_first, 5);
    return all && find_reshape(all, s);
}

/* ---- the rule ---------------------------------------------------------------------------------------------------- */

static bool has_heads_first(const xir_op *op, void *user) {
    (void)user;
    return op->n_outputs == 1 && rank_of(&op_outputs(op)[0]) == 4 && plain_maker(&op_outputs(op)[0]);
}

static bool swaps_heads(const xir_op *op, void *user) { return (void)user, transposes_by(op, swapped, 4); }

enum { Q, K, V, MASK, HEADS, SIDES, DIMS, MERGED };
static const xir_pattern_row heads_rows[] = {
    [Q]      = { XIR_ROW_ANY },
    [K]      = { XIR_ROW_ANY },
    [V]      = { XIR_ROW_ANY },
    [MASK]   = { XIR_ROW_ANY, .optional = true },
    [HEADS]  = { XIR_ROW_OP(xir_attention_class), XIR_ROW_INPUTS(Q, K, V, MASK), .where = has_heads_first },
    [SIDES]  = { XIR_ROW_OP(xir_transpose_class), XIR_ROW_INPUTS(HEADS), .where = swaps_heads },
    [DIMS]   = { XIR_ROW_ANY, .optional = true },
    [MERGED] = { XIR_ROW_OP(xir_reshape_class), XIR_ROW_INPUTS(SIDES, DIMS) },
};

static bool find_stems(const xir_match *m, stem stems[INPUTS]) {
    for (unsigned i = 0; i < INPUTS; i++) if (!find_stem(xir_match_value(m, Q + i), &stems[i])) return false;
    return stems[K].heads == stems[V].heads;
}

/* The value that can tell the dims of the result while its heads have a dim of their own: query, before it was
 * transposed. Exporters ask for these dims to put the heads side by side. NULL if it has other dims. */
static xir_value *same_dims(const xir_match *m, const stem *query) {
    xir_value *apart = &op_outputs(query->reshape)[0];
    const xir_i64s dims = dims_of(xir_match_value(m, SIDES)->type);
    return query->part < 0 && has_dims(apart, dims.data, dims.size) ? apart : NULL;
}

/* Returns true if the result is used only here, and by a few that ask for its dims. */
static bool is_closed(const xir_match *m, const stem *query) {
    const xir_use *heads = xir_match_value(m, HEADS)->uses;
    size_t asked = 0;
    if (!heads || heads->next) return false;
    for (const xir_use *u = xir_match_value(m, SIDES)->uses; u; u = u->next) {
        if (u->user == m->root) continue;
        if (!xir_op_is(u->user, xir_shape_class()) || ++asked > MOST_ASKING) return false;
    }
    return !asked || same_dims(m, query);
}

static bool has_stems(const xir_match *m, void *user) {
    stem stems[INPUTS];
    const xir_value *heads = xir_match_value(m, HEADS);
    return (void)user, fuse_check_ops(m) && element_is_float(element_format_of(heads->type)) &&
                       plain_maker(op_outputs(m->root)) && find_stems(m, stems) && is_closed(m, &stems[Q]);
}

static const xir_pattern_decl heads = { XIR_PATTERN_HEAD("attention-heads", heads_rows), .check = has_stems };

/* The tensor before it was split into heads, in 3 dims. */
static xir_value *make_base(xir_at at, const stem *s) {
    const xir_op *op = s->reshape;
    const int64_t *dims = dims_of(op_outputs(op)[0].type).data, *shape = xir_reshape_of(op)->shape.data;
    if (has_dims(op_inputs(op)[0].value, (int64_t[]){ dims[0], dims[1], s->row }, 3)) return op_inputs(op)[0].value;
    return xir_build_reshape(at, op_inputs(op)[0].value, "***", (int64_t[]){ shape[0], shape[1], s->row }, 3, NULL);
}

/* The inputs in 3 dims. Those of one Reshape share what is made for them. */
static bool make_inputs(xir_at at, const stem stems[INPUTS], xir_value *out[INPUTS]) {
    xir_value *bases[INPUTS];
    xir_op *splits[INPUTS] = { NULL };
    for (size_t i = 0; i < INPUTS; i++) {
        const stem *s = &stems[i];
        size_t first = 0;
        while (stems[first].reshape != s->reshape) first++;
        bases[i] = first < i ? bases[first] : make_base(at, s);
        if (!bases[i]) return false;
        if (s->part >= 0 && !splits[first]) {
            int64_t sections[MOST_PARTS];
            xir_split_attrs a = xir_split_init();
            a.axis = 2;
            a.sections = (xir_i64s){ sections, (size_t)s->parts };
            for (int64_t k = 0; k < s->parts; k++) sections[k] = s->heads * s->size;
            splits[first] = xir_add_split(at, (xir_split_in){ .input = bases[i] }, &a);
            if (!splits[first]) return false;
        }
        out[i] = s->part < 0 ? bases[i] : xir_op_output(splits[first], s->part);
    }
    return true;
}

/* Removes what nothing uses any more between a value and what its Reshape reads. */
static void drop_way(xir_value *v, const xir_op *reshape) {
    for (xir_op *op = value_op(v); op && !(op->flags & OP_ERASED) && op_is_unused(op);) {
        xir_value *x = op_inputs(op)[0].value;
        const bool last = op == reshape;
        op_drop(op);
        if (last) return;
        op = value_op(x);
    }
}

/* Those that ask for the dims of the result ask another value. */
static xir_status ask_query(const xir_match *m, const stem *query) {
    xir_status status = XIR_OK;
    for (xir_use *u = xir_match_value(m, SIDES)->uses, *next; u && !status; u = next) {
        next = u->next;
        if (u->user != m->root) status = xir_op_set_input(u->user, 0, same_dims(m, query));
    }
    return status;
}

static xir_verdict to_sides(xir_rewriter *at, const xir_match *m, const void *user) {
    (void)at, (void)user;
    stem stems[INPUTS];
    xir_value *in[INPUTS], *old[INPUTS] = { xir_match_value(m, Q), xir_match_value(m, K), xir_match_value(m, V) };
    xir_op *heads_op = xir_match_op(m, HEADS), *sides = xir_match_op(m, SIDES), *root = m->root;
    if (!find_stems(m, stems)) return XIR_REWRITE_LEFT;
    xir_at before = xir_match_at(m), step = before;
    step.name = XIR_STR("");
    if (!make_inputs(step, stems, in)) return XIR_REWRITE_FAILED;
    xir_attention_attrs attrs = *xir_attention_of(heads_op);
    attrs.q_num_heads = stems[Q].heads;
    attrs.kv_num_heads = stems[K].heads;
    const bool same = dims_of(op_outputs(root)[0].type).size == 3;
    const xir_attention_in inputs = { .query = in[Q], .key = in[K], .value = in[V], .mask = xir_match_value(m, MASK) };
    xir_op *now = xir_add_attention(same ? before : step, inputs, &attrs);
    xir_value *y = xir_op_output(now, 0);
    if (!y) return XIR_REWRITE_FAILED;
    if (ask_query(m, &stems[Q])) return XIR_REWRITE_FAILED;
    xir_verdict verdict = XIR_REWRITE_DONE;
    if (xir_type_equal(y->type, op_outputs(root)[0].type)) {
        verdict = xir_match_replace(m, y);
    } else {   /* the Reshape has other dims to make, too */
        if (xir_op_set_input(root, 0, y)) return XIR_REWRITE_FAILED;
        op_drop(sides);
        op_drop(heads_op);
    }
    for (size_t i = 0; i < INPUTS && verdict == XIR_REWRITE_DONE; i++) drop_way(old[i], stems[i].reshape);
    return verdict;
}

/* ---- heads that go into the batch and come back ------------------------------------------------------------------ */

enum { B_HEADS, B_DIMS, B_FOLDED, B_BACK, B_APART };
static const xir_pattern_row back_rows[] = {
    [B_HEADS]  = { XIR_ROW_OP(xir_attention_class), .where = has_heads_first },
    [B_DIMS]   = { XIR_ROW_ANY, .optional = true },
    [B_FOLDED] = { XIR_ROW_OP(xir_reshape_class), XIR_ROW_INPUTS(B_HEADS, B_DIMS) },
    [B_BACK]   = { XIR_ROW_ANY, .optional = true },
    [B_APART]  = { XIR_ROW_OP(xir_reshape_class), XIR_ROW_INPUTS(B_FOLDED, B_BACK) },
};

static bool comes_back(const xir_match *m, void *user) {
    const xir_value *from = xir_match_value(m, B_HEADS), *to = op_outputs(m->root);
    return (void)user, fuse_check_ops(m) && plain_maker(xir_match_value(m, B_FOLDED)) && plain_maker(to) &&
                       !from->uses->next && same_tensors(from->type, to->type) && xir_type_equal(from->type, to->type);
}

static const xir_pattern_decl back = { XIR_PATTERN_HEAD("attention-back", back_rows), .check = comes_back };

static xir_verdict to_heads(xir_rewriter *at, const xir_match *m, const void *user) {
    return (void)at, (void)user, xir_match_replace(m, xir_match_value(m, B_HEADS));
}

const fuse_rule fuse_attention_heads[] = {
    { &heads, to_sides },
    { &back,  to_heads },
    { NULL, NULL },
};
