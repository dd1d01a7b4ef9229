/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* nn.LSTM, nn.GRU and nn.RNN: an op for each layer. PyTorch's gates are i f g o and r z n, XIR's i o f g and z r n;
 * each direction's weights become one entry of XIR's W and R, both biases one of B.
 *
 * With proj_size the state is P h, P being weight_hr: R (P h) is (R P) h, so the op has R P for R, and P is applied to
 * what it gives. A first state s is not P h of any h; R s is added to the gates of the first step instead: s becomes
 * more features of that step, with R for their weights. */
#include <stdio.h>
#include "pnnx/pnnx.h"
#include "spec/borders.h"
#include "spec/recurrent.h"

typedef struct cell {
    const recurrent_kind *kind;
    int64_t               hidden, projected;   /* 0: the state is not projected */
    size_t                directions;
} cell;

/* The Params @NAME_lK or @NAME_lK_reverse; NULL if absent. */
static xir_value *weight_of(xir_node *at, const char *name, int64_t layer, size_t direction) {
    char key[64];
    snprintf(key, sizeof key, "@%s_l%lld%s", name, (long long)layer, direction ? "_reverse" : "");
    return xir_node_attr_params(at, key);
}

/* The gates of a weight in XIR's order. */
static xir_value *in_order(xir_node *at, const cell *c, xir_value *w) {
    xir_value *parts[4] = { NULL };
    const int64_t gates = c->kind->gates, *order = c->kind->order;
    if (!w || gates == 1) return w;
    for (int64_t g = 0; g < gates; g++)
        parts[g] = make_part(at, w, 0, order[g] * c->hidden, (order[g] + 1) * c->hidden, 1);
    return xir_node_make(at, "Concat", (xir_values){ parts, (size_t)gates }, SETS(INT("axis", 0)));
}

/* The weights of both directions as one tensor, or one with a dim of 1. */
static xir_value *stacked(xir_node *at, xir_value *parts[2], size_t n) {
    if (xir_node_failed(at) || !parts[0] || (n > 1 && !parts[1])) return NULL;
    return xir_node_make(at, "Stack", (xir_values){ parts, n }, SETS(INT("dim", 0)));
}

/* W, R or B of a layer. */
static xir_value *weights_of(xir_node *at, const cell *c, const char *name, const char *second, int64_t layer) {
    xir_value *parts[2] = { NULL };
    for (size_t d = 0; d < c->directions; d++) {
        parts[d] = in_order(at, c, weight_of(at, name, layer, d));
        if (!second || !parts[d]) continue;
        xir_value *more = in_order(at, c, weight_of(at, second, layer, d));
        parts[d] = more ? xir_node_make(at, "Concat", INS(parts[d], more), SETS(INT("axis", 0))) : NULL;
    }
    return stacked(at, parts, c->directions);
}

/* The directions of a layer of a state, [layers * directions, n, size]. */
static xir_value *state_of(xir_node *at, const cell *c, size_t input, int64_t layer) {
    bool added;
    xir_value *all = pnnx_with_batch(at, xir_node_optional_input(at, input), 3, 1, &added);
    const int64_t d = (int64_t)c->directions;
    if (all && v_rank(all) != 3) return xir_node_unsupported(at, "a state of %zu dims", v_rank(all)), NULL;
    return all ? make_part(at, all, 0, layer * d, (layer + 1) * d, 1) : NULL;
}

static bool read_cell(xir_node *at, cell *c) {
    *c = (cell){ .kind = &recurrent_kinds[xir_node_variant(at)], .hidden = xir_node_int(at, "hidden_size", 0),
                 .directions = xir_node_bool(at, "bidirectional", false) ? 2 : 1 };
    if (c->hidden < 1 || c->hidden > 1 << 24)
        return xir_node_unsupported(at, "a hidden size of %lld", (long long)c->hidden);
    c->projected = c->kind->gates == 4 ? xir_node_int(at, "proj_size", 0) : 0;
    if (c->projected < 0 || c->projected >= c->hidden)
        return xir_node_invalid(at, XIR_E_BOUNDS, "proj_size", "expected 0 to %lld, found %lld",
                                (long long)c->hidden - 1, (long long)c->projected);
    return true;
}

/* ---- projected states ------------------------------------------------------------------------------------------- */

static xir_value *padded(xir_node *at, xir_value *x, size_t axis, int64_t before, int64_t after) {
    int64_t v[6] = { 0 };
    const size_t n = v_rank(x);
    if (xir_node_failed(at) || n > 3) return NULL;
    v[2 * axis] = before;
    v[2 * axis + 1] = after;
    const xir_ints pads = { v, 2 * n };
    return before || after ? zeros_around(at, x, &pads) : x;
}

/* Adds the first state h, [directions, n, P], to the features of x, and their weights to w: those of one direction are
 * 0 for the state of the other. */
static bool feed_state(xir_node *at, const cell *c, int64_t layer, xir_value *h, xir_value **x, xir_value **w) {
    const int64_t steps = v_dim(*x, 0), size = c->projected;
    xir_value *features[3] = { *x }, *parts[2] = { NULL };
    if (steps < 1) return xir_node_unsupported(at, "a projected first state of an unknown number of steps");
    for (size_t d = 0; d < c->directions; d++) {
        xir_value *own = make_part(at, h, 0, (int64_t)d, (int64_t)d + 1, 1);
        xir_value *r = in_order(at, c, weight_of(at, "weight_hh", layer, d));
        if (!own || !r) return false;
        features[1 + d] = padded(at, own, 0, d ? steps - 1 : 0, d ? 0 : steps - 1);
        parts[d] = c->directions > 1 ? padded(at, r, 1, d ? size : 0, d ? 0 : size) : r;
    }
    xir_value *more = stacked(at, parts, c->directions);
    *x = xir_node_make(at, "Concat", (xir_values){ features, 1 + c->directions }, SETS(INT("axis", 2)));
    *w = xir_node_make(at, "Concat", INS(*w, more), SETS(INT("axis", 2)));
    return *x && *w;
}

/* R P, and P itself as factors [directions, H, P]. */
static bool project_weights(xir_node *at, const cell *c, int64_t layer, xir_value **r, xir_value **factors) {
    static const int64_t turn[] = { 1, 0 };
    xir_value *products[2] = { NULL }, *turned[2] = { NULL };
    for (size_t d = 0; d < c->directions; d++) {
        xir_value *own = in_order(at, c, weight_of(at, "weight_hh", layer, d));
        xir_value *p = weight_of(at, "weight_hr", layer, d);
        if (!own || !p)
            return !xir_node_failed(at) && xir_node_invalid(at, XIR_E_MISSING, NULL, "the weights of layer %lld are "
                                                            "missing", (long long)layer);
        if (v_rank(p) != 2 || v_dim(p, 0) != c->projected || v_dim(p, 1) != c->hidden)
            return xir_node_invalid(at, XIR_E_TYPE, NULL, "weight_hr of layer %lld is not of [proj_size, hidden_size]",
                                    (long long)layer);
        if (v_rank(own) != 2 || v_dim(own, 1) != c->projected)
            return xir_node_invalid(at, XIR_E_TYPE, NULL, "weight_hh of layer %lld is not of [gates, proj_size]",
                                    (long long)layer);
        products[d] = make_matrix_product(at, own, p);
        turned[d] = xir_node_transposed(at, p, turn, 2, NULL);
    }
    *r = stacked(at, products, c->directions);
    *factors = stacked(at, turned, c->directions);
    return *r && *factors;
}

bool pnnx_recurrent(xir_node *at) {
    enum { MOST_LAYERS = 64 };
    static const int64_t swap[] = { 1, 0, 2 };
    cell c;
    xir_value *x = xir_node_input(at, 0), *last[2][MOST_LAYERS] = { { NULL } };
    if (!x || !read_cell(at, &c)) return false;
    const int64_t layers = xir_node_int(at, "num_layers", 1);
    bool added;   /* a batch */
    const bool batch_first = v_rank(x) == 3 && xir_node_bool(at, "batch_first", false),
               bias = xir_node_bool(at, "bias", true);
    const bool lstm = c.kind->gates == 4, relu = xir_node_is(at, "nonlinearity", "relu");
    x = pnnx_with_batch(at, x, 3, 1, &added);
    if (!x || v_rank(x) != 3) return xir_node_unsupported(at, "an input that is not a sequence of vectors");
    if (layers < 1 || layers > MOST_LAYERS) return xir_node_unsupported(at, "%lld layers", (long long)layers);
    if (batch_first) x = xir_node_transposed(at, x, swap, 3, NULL);
    for (int64_t l = 0; l < layers; l++) {
        xir_value *w = weights_of(at, &c, "weight_ih", NULL, l), *r = weights_of(at, &c, "weight_hh", NULL, l);
        xir_value *b = bias ? weights_of(at, &c, "bias_ih", "bias_hh", l) : NULL;
        if (!xir_node_failed(at) && (!w || !r || (bias && !b)))
            return xir_node_invalid(at, XIR_E_MISSING, NULL, "the weights of layer %lld are missing", (long long)l);
        xir_value *h = state_of(at, &c, 1, l), *cells = lstm ? state_of(at, &c, 2, l) : NULL, *factors = NULL;
        if (c.projected && !xir_node_failed(at)) {
            if (!project_weights(at, &c, l, &r, &factors) || (h && !feed_state(at, &c, l, h, &x, &w))) return false;
            h = NULL;   /* it is among the features now */
        }
        xir_op *op = op_of_recurrent(at, c.kind, c.hidden, c.directions, relu,
                                     lstm ? INS(x, w, r, b, NULL, h, cells) : INS(x, w, r, b, NULL, h));
        if (!op) return false;
        xir_value *y = xir_op_output(op, 0);
        for (size_t k = 0; k < 1 + (size_t)lstm; k++) last[k][l] = xir_op_output(op, 1 + (int64_t)k);
        if (factors) {
            y = make_matrix_product(at, y, factors);
            last[0][l] = make_matrix_product(at, last[0][l], factors);
        }
        x = recurrent_joined(at, y);
    }
    if (batch_first && x) x = xir_node_transposed(at, x, swap, 3, NULL);
    xir_node_result(at, 0, pnnx_without_batch(at, x, 1, added));
    for (size_t k = 0; k + 1 < at->n_out; k++) {
        xir_value *all = layers == 1 ? last[k][0] : xir_node_make(at, "Concat", (xir_values){ last[k], (size_t)layers },
                                                                  SETS(INT("axis", 0)));
        xir_node_result(at, 1 + k, pnnx_without_batch(at, all, 1, added));
    }
    return !xir_node_failed(at);
}
