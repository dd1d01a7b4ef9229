/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* An order of the elements of a dim, by a SwapOrder, a Gather with constant indices or a ChannelShuffle, goes into the
 * weights of all products that read the result, directly or through ops that treat each element of the dim alike.
 *
 *     y = SwapOrder x [order=2,0,1]         a = ReLU x
 *     a = ReLU y                      =>    b = Conv2d a w'      w'[.., order[i], o] = w[.., i, o]
 *     b = Conv2d a w
 */
#include <string.h>
#include "canon/canon.h"
#include "normalised.h"
#include "products/products.h"
#include "provenance.h"
#include "support/affine.h"
#include "support/linear.h"
#include "support/upkeep.h"
#include "types.h"

enum { X, INDICES, OUT, MOST_USES = 32, MOST_ELEMENTS = 65536 };

static const xir_pattern_row rows[] = {
    [X]       = { XIR_ROW_ANY },
    [INDICES] = { XIR_ROW_PARAMS, .optional = true },
    [OUT]     = { XIR_ROW_OP(xir_swap_order_class, xir_gather_class, xir_channel_shuffle_class),
                  XIR_ROW_INPUTS(X, INDICES) },
};

/* ---- the order -------------------------------------------------------------------------------------------------- */

static int64_t dim_of(const xir_match *m) {
    const xir_op *op = m->root;
    const xir_type *x = xir_match_value(m, X)->type;
    if (xir_channel_shuffle_of(op)) return channel_dim(x);
    const int64_t axis = xir_gather_of(op) ? xir_gather_of(op)->axis : xir_swap_order_of(op)->axis;
    return from_end(axis, (int64_t)xir_type_rank(x));
}

/* The place that element i of the result has in X. */
static int64_t place_of(const xir_match *m, int64_t n, int64_t i) {
    const xir_op *op = m->root;
    const xir_value *indices = xir_match_value(m, INDICES);
    if (xir_channel_shuffle_of(op)) {
        const int64_t groups = xir_channel_shuffle_of(op)->groups;
        return i % groups * (n / groups) + i / groups;
    }
    if (xir_swap_order_of(op)) return xir_swap_order_of(op)->order.data[i];
    return from_end(element_i64(element_format_of(indices->type), xir_params_data(indices, NULL), (size_t)i), n);
}

/* Returns true if there are n places. */
static bool has_places(const xir_match *m, int64_t n) {
    const xir_op *op = m->root;
    const xir_value *indices = xir_match_value(m, INDICES);
    int64_t count;
    const xir_channel_shuffle_attrs *shuffle = xir_channel_shuffle_of(op);
    if (shuffle) return shuffle->groups > 0 && n % shuffle->groups == 0;
    if (xir_swap_order_of(op)) return (int64_t)xir_swap_order_of(op)->order.size == n;
    return indices && xir_type_rank(indices->type) == 1 && constant_is_plain(indices, &count) && count == n;
}

/* Reads the order; false if an element is missing. `seen` has room for n bytes. */
static bool read_order(const xir_match *m, int64_t n, int64_t *order, uint8_t *seen) {
    memset(seen, 0, (size_t)n);
    for (int64_t i = 0; i < n; i++) {
        order[i] = place_of(m, n, i);
        if (order[i] < 0 || order[i] >= n || seen[order[i]]++) return false;
    }
    return true;
}

static bool is_order(const xir_match *m, void *user) {
    const int64_t dim = dim_of(m), rank = (int64_t)xir_type_rank(xir_match_value(m, X)->type);
    if (!canon_check_floats(m, user) || dim < 0 || dim >= rank || xir_match_op(m, X) == m->root) return false;
    const int64_t n = xir_type_dim(xir_match_value(m, X)->type, dim, false);
    return n > 1 && n <= MOST_ELEMENTS && has_places(m, n);
}

static const xir_pattern_decl order_ = { XIR_PATTERN_HEAD("order", rows), .check = is_order };

/* ---- what reads it ---------------------------------------------------------------------------------------------- */

/* The products at the ends, and the values on the way. */
typedef struct ends {
    linear     of[MOST_USES];
    xir_value *values[MOST_USES];
    size_t     n, n_values, n_uses;
} ends;

/* Functions of each element. */
static bool is_function(const xir_op *op) {
    static xir_pattern_class *const of[] = {
        xir_relu_class, xir_clamp_scalar_class, xir_sigmoid_class, xir_tanh_class, xir_gelu_class, xir_silu_class,
        xir_hardsigmoid_class, xir_hardswish_class, xir_divide_scalar_class, xir_neg_class, xir_abs_class,
    };
    size_t i = 0;
    while (i < sizeof of / sizeof *of && op->cls->decl != of[i]()) i++;
    return i < sizeof of / sizeof *of;
}

/* Returns true if the op treats the elements of a dim alike and keeps the dim. */
static bool keeps_dim(const xir_op *op, const xir_value *v, int64_t dim) {
    const xir_mean_attrs *mean = xir_mean_of(op);
    if (is_function(op)) return xir_type_equal(v->type, op_outputs(op)[0].type);
    if (xir_max_pool2d_of(op) || xir_avg_pool2d_of(op)) return dim == channel_dim(v->type);
    if (!mean || !mean->keepdim || !mean->dim.size) return false;
    for (size_t i = 0; i < mean->dim.size; i++) {
        if (from_end(mean->dim.data[i], (int64_t)xir_type_rank(v->type)) == dim) return false;
    }
    return true;
}

static bool follow(ends *e, xir_op *op, size_t at, const xir_value *v, int64_t dim) {
    linear l;
    if (at != 0 || !(op->flags & OP_PLACED) || op->flags & OP_CHILD || op->n_outputs != 1 || xir_op_extra(op))
        return false;
    if (linear_of(op, &l)) {
        const bool fits = l.groups == 1 && dim == linear_dim(&l, v->type) &&
                          l.in_channels == xir_type_dim(v->type, dim, false) && !l.weights->uses->next;
        if (fits) e->of[e->n++] = l;
        return fits;
    }
    if (!target_is_host(op_target(op)) || op_has_normalised(op) || e->n_values == MOST_USES || !keeps_dim(op, v, dim))
        return false;
    e->values[e->n_values++] = &op_outputs(op)[0];
    return true;
}

static bool find_ends(const xir_match *m, ends *e) {
    const int64_t dim = dim_of(m);
    *e = (ends){ .values = { xir_op_output(m->root, 0) }, .n_values = 1 };
    for (size_t i = 0; i < e->n_values; i++) {
        for (const xir_use *u = e->values[i]->uses; u; u = u->next) {
            if (++e->n_uses > MOST_USES || !follow(e, u->user, xir_use_index(u), e->values[i], dim)) return false;
        }
    }
    return e->n > 0;
}

/* ---- the rule --------------------------------------------------------------------------------------------------- */

/* All that may fail comes before the first use moves, and is undone. */
static xir_status reorder(xir_rewriter *at, const xir_match *m, const ends *e, const int64_t *order) {
    xir_status status = XIR_OK;
    linear_made made;
    operand_change changes[MOST_USES];
    const label *names[MOST_USES];
    for (size_t i = 0; i < e->n && !status; i++) {
        status = linear_reorder(&e->of[i], order, &made);
        if (!status) changes[i] = linear_change(e->of[i].op, &made, NULL);
    }
    size_t n = 1;
    while (n < e->n_values && !status) status = products_rename(e->values[n], &names[n]), n++;
    if (!status) status = operands_change(changes, e->n);
    for (size_t i = 1; i < n; i++) {
        if (status) products_restore(e->values[i], names[i]);
        else provenance_changed(e->values[i]);
    }
    if (status) return status;
    for (size_t i = 0; i < e->n; i++) xir_rewriter_touch(at, e->of[i].op);
    products_bypass(at, m->root, xir_match_value(m, X));
    return XIR_OK;
}

static xir_verdict fold(xir_rewriter *at, const xir_match *m, const void *user) {
    ends e;
    const xir_allocator *alloc = &m->root->net->alloc;
    (void)user;
    if (!find_ends(m, &e)) return XIR_REWRITE_LEFT;
    const size_t n = (size_t)xir_type_dim(xir_match_value(m, X)->type, dim_of(m), false);
    int64_t *order = mem_new(alloc, n * (sizeof *order + 1));
    if (!order) {
        net_no_memory(m->root->net);
        return XIR_REWRITE_FAILED;
    }
    xir_verdict verdict = XIR_REWRITE_LEFT;
    if (read_order(m, (int64_t)n, order, (uint8_t *)(order + n)))
        verdict = reorder(at, m, &e, order) ? XIR_REWRITE_FAILED : XIR_REWRITE_DONE;
    mem_free(alloc, order, n * (sizeof *order + 1));
    return verdict;
}

const pass_rule products_orders[] = { { &order_, fold }, { NULL, NULL } };
