/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Attention from its parts: Softmax of scaled products of queries and keys, with masks, times values. From Softmax the
 * search goes up: masks, which are added or chosen; then a cap and factors; then the product, with factors of its own
 * and the transposition of the keys. All of this must be used only here, so nothing is computed twice and the number of
 * transpositions does not grow. The heads are rules of attention_heads.c. */
#include "fuse/attention.h"
#include <math.h>
#include <xir/sugar.h>
#include "normalised.h"
#include "types.h"

enum { MOST_FACTORS = 3 };

/* ---- dims and ops ------------------------------------------------------------------------------------------------ */

bool same_tensors(const xir_type *a, const xir_type *b) {
    const xir_i64s x = dims_of(a), y = dims_of(b);
    if (!x.data || x.size != y.size || !xir_type_equal(xir_type_element(a), xir_type_element(b))) return false;
    for (size_t i = 0; i < x.size; i++) if (!dims_agree(x.data[i], y.data[i])) return false;
    return true;
}

bool has_dims(const xir_value *v, const int64_t *dims, size_t n) {
    const xir_i64s own = dims_of(v->type);
    if (own.size != n) return false;
    for (size_t i = 0; i < n; i++) if (!dims_agree(own.data[i], dims[i])) return false;
    return true;
}

bool transposes_by(const xir_op *op, const int64_t *order, size_t n) {
    const xir_transpose_attrs *a = xir_transpose_of(op);
    if (!a || a->dims.size != n) return false;
    for (size_t i = 0; i < n; i++) if (from_end(a->dims.data[i], (int64_t)n) != order[i]) return false;
    return true;
}

xir_op *plain_maker(const xir_value *v) {
    xir_op *op = v ? value_op(v) : NULL;
    if (!op || !op->n_inputs || xir_op_extra(op)) return NULL;
    if (!op_inputs(op)[0].value || !target_is_host(op_target(op)) || op_has_normalised(op)) return NULL;
    return op;
}

/* The op that makes a value that nothing else uses. */
static xir_op *inner_maker(const xir_value *v) {
    xir_op *op = plain_maker(v);
    return op && op->n_outputs == 1 && v->uses && !v->uses->next ? op : NULL;
}

static bool keep_inner(attention *a, xir_op *op) {
    if (a->n_inner == MOST_INNER) return false;
    a->inner[a->n_inner++] = op;
    return true;
}

/* ---- factors ----------------------------------------------------------------------------------------------------- */

/* The operand of a product or quotient with one number. NULL if `op` is something else, or if the number makes the
 * tensor larger. */
static xir_value *scaled_by(const xir_op *op, double *factor) {
    const bool by_input = xir_multiply_of(op) || xir_div_of(op);
    if (by_input ? op->n_inputs != 2 : !xir_divide_scalar_of(op)) return NULL;
    double x;
    if (!fuse_factor(op, factor)) return NULL;
    const bool second = !by_input || number_of_params(op_inputs(op)[1].value, &x);
    xir_value *of = op_inputs(op)[second ? 0 : 1].value;
    return of && same_tensors(of->type, op_outputs(op)[0].type) ? of : NULL;
}

/* Takes factors from a value. */
static xir_value *without_factors(attention *a, xir_value *v) {
    for (size_t i = 0; i < MOST_FACTORS; i++) {
        double factor;
        xir_op *op = inner_maker(v);
        xir_value *of = op ? scaled_by(op, &factor) : NULL;
        if (!of || !keep_inner(a, op)) break;
        a->scale *= factor;
        v = of;
    }
    return v;
}

/* ---- keys and values --------------------------------------------------------------------------------------------- */

/* Takes transpositions and factors from the second operand of the product. What remains, in `k_order`, is the key. */
static bool find_key(attention *a, xir_value *v) {
    const size_t rank = rank_of(v);
    int64_t order[MOST_DIMS];
    bool moved = false;
    for (size_t i = 0; i < rank; i++) order[i] = (int64_t)i;
    for (;;) {
        v = without_factors(a, v);
        xir_op *op = inner_maker(v);
        const xir_transpose_attrs *t = op ? xir_transpose_of(op) : NULL;
        if (!t || t->dims.size != rank || !keep_inner(a, op)) break;
        for (size_t i = 0; i < rank; i++) {
            order[i] = from_end(t->dims.data[order[i]], (int64_t)rank);
            if (order[i] < 0 || order[i] >= (int64_t)rank) return false;   /* nobody has checked the op */
        }
        v = op_inputs(op)[0].value;
        moved = true;
    }
    const int64_t last = order[rank - 1];
    order[rank - 1] = order[rank - 2], order[rank - 2] = last;
    a->k_moves = false;
    for (size_t i = 0; i < rank; i++) {
        a->k_order[i] = order[i];
        a->k_moves |= order[i] != (int64_t)i;
    }
    a->k = v;
    return moved;
}

/* The dims of the key as the op gets it. */
static int64_t key_dim(const attention *a, size_t i) { return dim_at(a->k, (size_t)a->k_order[i]); }

/* Returns the value that is repeated head by head: [n, heads, length, size] with a dim of 1 after the heads, which is
 * expanded, and then one with the heads. NULL if it is nothing like that. */
static xir_value *unrepeated(attention *a, xir_value *v) {
    xir_op *merge = inner_maker(v), *expand, *apart;
    if (!merge || !xir_reshape_of(merge) || rank_of(v) != 4) return NULL;
    xir_value *wide = op_inputs(merge)[0].value;
    expand = inner_maker(wide);
    if (!expand || (!xir_expand_of(expand) && !xir_tile_of(expand)) || rank_of(wide) != 5) return NULL;
    xir_value *narrow = op_inputs(expand)[0].value;
    apart = inner_maker(narrow);
    if (!apart || !xir_reshape_of(apart)) return NULL;
    xir_value *x = op_inputs(apart)[0].value;
    if (rank_of(x) != 4) return NULL;
    const int64_t *d = dims_of(x->type).data, heads = d[1], times = dim_at(wide, 2);
    if (heads < 1 || times < 1 || times > INT32_MAX || heads > INT32_MAX) return NULL;
    if (!has_dims(narrow, (int64_t[]){ d[0], heads, 1, d[2], d[3] }, 5) ||
        !has_dims(wide, (int64_t[]){ d[0], heads, times, d[2], d[3] }, 5) ||
        !has_dims(v, (int64_t[]){ d[0], heads * times, d[2], d[3] }, 4)) return NULL;
    return keep_inner(a, merge) && keep_inner(a, expand) && keep_inner(a, apart) ? x : NULL;
}

/* Grouped queries: keys and values are repeated for the queries of their group, both in the same way. */
static void find_groups(attention *a) {
    if (a->k_moves || rank_of(a->k) != 4) return;
    const size_t n = a->n_inner;
    xir_value *k = unrepeated(a, a->k), *v = k ? unrepeated(a, a->v) : NULL;
    if (v && dims_agree(dim_at(k, 1), dim_at(v, 1))) a->k = k, a->v = v;
    else a->n_inner = n;
}

/* [batch, heads, length, size], of which a value is [batch * heads, length, size]; NULL if it is not. */
static xir_value *unfolded(attention *a, xir_value *v) {
    xir_op *op = inner_maker(v);
    if (!op || !xir_reshape_of(op) || rank_of(v) != 3 || rank_of(op_inputs(op)[0].value) != 4) return NULL;
    xir_value *x = op_inputs(op)[0].value;
    const bool same = dims_agree(dim_at(x, 2), dim_at(v, 1)) && dims_agree(dim_at(x, 3), dim_at(v, 2));
    return same && dim_at(x, 1) >= 1 && keep_inner(a, op) ? x : NULL;
}

/* Takes heads out of the batch, where all operands and the masks allow it. The Reshape of the queries can then put them
 * back. */
static void unfold(attention *a, const xir_value *out) {
    const size_t n = a->n_inner;
    if (rank_of(a->q) != 3 || a->k_moves || !xir_type_equal(a->q->type, out->type)) return;
    xir_value *q = unfolded(a, a->q), *k = q ? unfolded(a, a->k) : NULL, *v = k ? unfolded(a, a->v) : NULL;
    bool fits = v && dims_agree(dim_at(q, 0), dim_at(k, 0)) && dims_agree(dim_at(q, 0), dim_at(v, 0)) &&
                dims_agree(dim_at(q, 1), dim_at(k, 1)) && dims_agree(dim_at(q, 1), dim_at(v, 1)) &&
                (!a->wide || (dims_agree(dim_at(a->wide, 0), dim_at(q, 0)) &&
                              dims_agree(dim_at(a->wide, 1), dim_at(q, 1))));
    for (size_t i = 0; i < a->n_masks && fits; i++) {   /* of 3 dims, masks for each head would need a Reshape */
        const mask_part *part = &a->masks[i];
        const xir_value *mask = part->addend ? part->addend : part->condition;
        fits = part->apart || rank_of(mask) < 3 || dim_at(mask, 0) == 1;
    }
    if (!fits) {
        a->n_inner = n;
        return;
    }
    a->folded = a->q;
    a->q = q, a->k = k, a->v = v;
    for (size_t i = 0; i < 4; i++) a->k_order[i] = (int64_t)i;
}

/* Returns true if the operands are what our Attention takes, and its result has the type of the product. */
static bool operands_fit(const attention *a, const xir_value *out) {
    const xir_value *q = a->q, *v = a->v;
    const size_t rank = rank_of(q);
    if ((rank != 3 && rank != 4) || rank_of(a->k) != rank || rank_of(v) != rank) return false;
    const xir_type *element = xir_type_element(out->type);
    const xir_value *const all[] = { q, a->k, v };
    for (size_t i = 0; i < 3; i++)
        if (!xir_type_equal(xir_type_element(all[i]->type), element) || xir_type_is_layouted(all[i]->type) ||
            xir_type_as_tensor(all[i]->type)->merged_distrs.size) return false;
    const xir_value *like = a->folded ? a->folded : q;
    const xir_object *layout = (const xir_object *)xir_type_layout(like->type);
    if (xir_type_as_tensor(out->type)->merged_distrs.size || xir_type_is_layouted(out->type) ||
        (!windows_are_open(a) && !xir_object_equal(layout, (const xir_object *)xir_type_layout(out->type))))
        return false;
    const size_t length = rank - 2, size = rank - 1;
    if (!dims_agree(dim_at(q, 0), key_dim(a, 0)) || !dims_agree(dim_at(q, 0), dim_at(v, 0)) ||
        !dims_agree(key_dim(a, length), dim_at(v, length)) || !dims_agree(dim_at(q, size), key_dim(a, size)) ||
        dim_at(q, size) < 1) return false;
    if (rank == 4) {
        const int64_t heads = dim_at(q, 1), groups = key_dim(a, 1);
        if (heads < 1 || groups < 1 || heads % groups || !dims_agree(groups, dim_at(v, 1))) return false;
    }
    int64_t dims[4] = { dim_at(q, 0), dim_at(q, 1), dim_at(q, length), 0 };
    dims[size] = dim_at(v, size);
    return a->folded ? dims_agree(dims[size], dim_at(q, size)) : has_dims(out, dims, rank);
}

/* ---- from Softmax to the product --------------------------------------------------------------------------------- */

static bool find_scores(attention *a, xir_value *v, bool masked);

/* Goes on from one operand. What was found is forgotten if it leads nowhere. */
static bool goes_on(attention *a, xir_op *op, xir_value *scores, const mask_part *part) {
    const attention before = *a;
    if (part && a->n_masks == MOST_MASKS) return false;
    if (part) a->masks[a->n_masks++] = *part;
    if (keep_inner(a, op) && find_scores(a, scores, true)) return true;
    *a = before;
    return false;
}

static bool find_addend(attention *a, xir_op *op) {
    if (!fuse_plain_sum(op, NULL) || op->n_inputs != 2) return false;
    for (size_t i = 0; i < 2; i++) {
        xir_value *addend = op_inputs(op)[1 - i].value, *scores = op_inputs(op)[i].value;
        if (!addend || !scores || value_is_params(scores)) continue;
        if (goes_on(a, op, scores, &(mask_part){ .addend = addend })) return true;
    }
    return false;
}

static bool find_choice(attention *a, xir_op *op) {
    if (op->n_inputs != 3) return false;
    for (size_t i = 0; i < 2; i++) {
        xir_value *scores = op_inputs(op)[i].value, *number = op_inputs(op)[1 - i].value;
        mask_part part = { .condition = op_inputs(op)[2].value, .number = number, .keeps = i == 0 };
        if (!scores || !part.condition || !number_of_params(number, &part.low)) continue;
        if (goes_on(a, op, scores, &part)) return true;
    }
    return false;
}

/* Scores may have one more dim while a mask is added: [batch, windows, heads, …] instead of [batch * windows, heads,
 * …], or [batch, heads, …] instead of [batch * heads, …]. As the other dims stay, the product of the first two must be
 * the first dim of the scores. */
static bool find_apart(attention *a, xir_op *op) {
    const xir_i64s dims = dims_of(a->scores);
    xir_value *wide = op_inputs(op)[0].value;
    xir_op *sum = inner_maker(wide);
    if (a->wide || rank_of(wide) != dims.size + 1 || !sum || !fuse_plain_sum(sum, NULL) ||
        sum->n_inputs != 2) return false;
    int64_t apart[MOST_DIMS] = { dim_at(wide, 0), dim_at(wide, 1) };
    for (size_t i = 1; i < dims.size; i++) apart[i + 1] = dims.data[i];
    if (!has_dims(wide, apart, dims.size + 1) || !keep_inner(a, op)) return false;
    const attention before = *a;
    for (size_t i = 0; i < 2; i++) {
        xir_value *addend = op_inputs(sum)[1 - i].value, *scores = op_inputs(sum)[i].value;
        xir_op *back = scores && addend ? inner_maker(scores) : NULL;
        *a = before;
        a->wide = wide;
        if (!back || !xir_reshape_of(back) || !has_dims(scores, apart, dims.size + 1) || !keep_inner(a, sum)) continue;
        const mask_part part = { .addend = addend, .apart = true };
        if (goes_on(a, back, op_inputs(back)[0].value, &part)) return true;
    }
    return false;
}

static bool find_product(attention *a, xir_op *op) {
    const xir_matmul_attrs *m = xir_matmul_of(op);
    xir_value *bias = op->n_inputs > 2 ? op_inputs(op)[2].value : NULL;
    if (!m->cut_scale || m->cut_scale->items.size || op->n_inputs < 2 || !op_inputs(op)[1].value) return false;
    if (bias) {   /* a constant mask that another rule has made the bias of the product; factors apply to it, too */
        if (a->scale != 1 || a->softcap != 0 || a->n_masks == MOST_MASKS) return false;
        a->masks[a->n_masks++] = (mask_part){ .addend = bias };
    }
    xir_value *q = op_inputs(op)[0].value, *k = op_inputs(op)[1].value;
    const size_t rank = rank_of(q);
    if (rank != dims_of(a->scores).size || rank != rank_of(k) || !keep_inner(a, op)) return false;
    a->q = without_factors(a, q);
    if (!find_key(a, k)) return false;
    find_groups(a);
    return true;
}

/* Returns true if a value is the scores of an attention. After the first factor there are no masks. */
static bool find_scores(attention *a, xir_value *v, bool masked) {
    double factor;
    for (;;) {
        xir_op *op = inner_maker(v);
        if (!op || !same_tensors(v->type, a->scores)) return false;
        if (xir_matmul_of(op)) return find_product(a, op);
        if (masked && xir_add_of(op)) return find_addend(a, op);
        if (masked && xir_op_is(op, xir_where_class())) return find_choice(a, op);
        if (masked && xir_reshape_of(op)) return find_apart(a, op);
        masked = false;
        xir_value *of = NULL;
        if (xir_op_is(op, xir_tanh_class())) {   /* the factors after it are the cap */
            if (a->softcap != 0 || !(a->scale > 0)) return false;
            a->softcap = a->scale;
            a->scale = 1;
            of = op_inputs(op)[0].value;
        } else if ((of = scaled_by(op, &factor))) {
            a->scale *= factor;
        }
        if (!of || !keep_inner(a, op)) return false;
        v = of;
    }
}

/* ---- the rule ---------------------------------------------------------------------------------------------------- */

static bool is_over_last_dim(const xir_op *op, void *user) {
    (void)user;
    const int64_t axis = xir_softmax_of(op)->axis;
    return op->n_outputs == 1 && (axis == -1 || axis + 1 == (int64_t)rank_of(&op_outputs(op)[0]));
}

static bool is_plain_product(const xir_op *op, void *user) {
    (void)user;
    const xir_matmul_attrs *a = xir_matmul_of(op);
    return op->n_outputs == 1 && a->cut_scale && !a->cut_scale->items.size;
}

enum { SCORES, WEIGHTS, VALUE, OUT };
static const xir_pattern_row core_rows[] = {
    [SCORES]  = { XIR_ROW_ANY },
    [WEIGHTS] = { XIR_ROW_OP(xir_softmax_class), XIR_ROW_INPUTS(SCORES), .where = is_over_last_dim },
    [VALUE]   = { XIR_ROW_ANY },
    [OUT]     = { XIR_ROW_OP(xir_matmul_class), XIR_ROW_INPUTS(WEIGHTS, VALUE), .where = is_plain_product },
};

static bool find(const xir_match *m, attention *a) {
    xir_value *scores = xir_match_value(m, SCORES), *weights = xir_match_value(m, WEIGHTS), *out = op_outputs(m->root);
    *a = (attention){ .scores = scores->type, .v = xir_match_value(m, VALUE), .scale = 1 };
    if (!fuse_check_ops(m) || plain_maker(weights) == NULL || plain_maker(out) == NULL) return false;
    if (!out->type || !element_is_float(element_format_of(out->type)) || !same_tensors(weights->type, a->scores) ||
        (dims_of(a->scores).size != 3 && dims_of(a->scores).size != 4) || !find_scores(a, scores, true)) return false;
    unfold(a, out);
    if (!operands_fit(a, out)) return false;
    if (a->softcap != 0) a->scale *= a->softcap;   /* cap * tanh(f * q k) is cap * tanh(cap * f * q k / cap) */
    return isfinite(a->scale) && isfinite(a->softcap) && masks_fit(a);
}

static bool is_attention(const xir_match *m, void *user) {
    attention a;
    return (void)user, find(m, &a);
}

static const xir_pattern_decl core = {
    XIR_PATTERN_HEAD("attention", core_rows), .closed = true, .check = is_attention,
};

static xir_verdict to_attention(xir_rewriter *at, const xir_match *m, const void *user) {
    (void)user;
    attention a;
    bool ok = true;
    xir_attention_attrs attrs = xir_attention_init();
    if (!find(m, &a)) return XIR_REWRITE_LEFT;
    const size_t rank = rank_of(a.q);
    const double size = (double)dim_at(a.q, rank - 1);
    xir_at before = xir_match_at(m), step = before;
    step.name = XIR_STR("");
    const bool windows = windows_are_open(&a);
    xir_op *const last = m->root->prev;
    xir_value *q = a.q, *v = a.v, *mask = NULL;
    xir_value *k = a.k_moves ? xir_build_transpose(step, a.k, a.k_order, rank, NULL) : a.k;
    if (k && windows) {
        mask = make_window_mask(step, &a);
        q = windows_to_heads(step, &a, q), k = windows_to_heads(step, &a, k), v = windows_to_heads(step, &a, v);
        ok = mask && q && v;
    } else if (k) {
        mask = make_mask(step, &a, &ok);
    }
    if (!k || !ok) return XIR_REWRITE_FAILED;
    attrs.softcap = a.softcap;
    if (fabs(a.scale * sqrt(size) - 1) > 1e-6) {   /* other than the default */
        attrs.scale = xir_scalar_real(xir_network_context(xir_rewriter_network(at)), a.scale);
        if (!attrs.scale) return net_no_memory(xir_rewriter_network(at)), XIR_REWRITE_FAILED;
    }
    if (rank == 3) attrs.q_num_heads = attrs.kv_num_heads = 1;
    xir_op *now = xir_add_attention(a.folded || windows ? step : before,
                                    (xir_attention_in){ .query = q, .key = k, .value = v, .mask = mask }, &attrs);
    xir_value *y = xir_op_output(now, 0);
    if (y && windows) y = windows_from_heads(before, &a, y, xir_type_layout(op_outputs(m->root)->type));
    if (y && a.folded) {   /* as the Reshape of the queries does it */
        const xir_op *fold = value_op(a.folded);
        const xir_reshape_in in = { .input = y, .dims = fold->n_inputs > 1 ? op_inputs(fold)[1].value : NULL };
        y = xir_op_output(xir_add_reshape(before, in, xir_reshape_of(fold)), 0);
    }
    const xir_verdict verdict = xir_match_replace(m, y);
    for (xir_op *op = m->root->prev, *up; verdict == XIR_REWRITE_LEFT && op && op != last; op = up) {
        up = op->prev;
        if (op_is_unused(op)) op_drop(op);
    }
    for (size_t i = 0; i < a.n_inner && verdict == XIR_REWRITE_DONE; i++)
        if (op_is_unused(a.inner[i])) op_drop(a.inner[i]);
    return verdict;
}

const fuse_rule fuse_attention[] = {
    { &core, to_attention },
    { NULL, NULL },
};
