/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* RNN, LSTM and GRU as products and activations, step by step: for formats without recurrences. The input's part of all
 * steps is one product. */
#include "formula/parts.h"
#include "spec/recurrent.h"
#include "formula/simpler.h"

enum { MOST_STEPS = 512 };

typedef struct state { xir_value *h, *c; } state;

/* Weights of one direction, [columns, gates * hidden]. */
static xir_value *matrix(xir_node *at, const recurrent *c, size_t input, int64_t direction, int64_t columns) {
    const int64_t rows = c->gates * c->hidden, n = rows * columns;
    const double *from = recurrent_numbers(at, input, c->directions * n);
    double *to = from ? node_take(at, (size_t)n * sizeof *to) : NULL;
    if (!from) return NULL;
    if (!to) return node_no_memory(at), NULL;
    from += direction * n;
    for (int64_t i = 0; i < n; i++) to[i % columns * rows + i / columns] = from[i];
    return xir_node_constant(at, v_element(xir_node_input(at, input)), &(xir_ints){ (int64_t[]){ columns, rows }, 2 },
                             to, (size_t)n);
}

/* The bias of one direction: both lists together, or, where GRU needs them apart, of the state alone and the rest. */
static bool bias(xir_node *at, const recurrent *c, int64_t direction, xir_value **of_x, xir_value **of_h) {
    const int64_t rows = c->gates * c->hidden, apart = c->gates == 3 ? 2 * c->hidden : rows;
    *of_x = *of_h = NULL;
    if (!xir_node_has(at, RECURRENT_B)) return true;
    const double *b = recurrent_numbers(at, RECURRENT_B, 2 * c->directions * rows);
    double *x = b ? node_take(at, 2 * (size_t)rows * sizeof *x) : NULL;
    if (!b) return false;
    if (!x) return node_no_memory(at);
    b += 2 * direction * rows;
    for (int64_t i = 0; i < rows; i++) {
        x[i] = i < apart ? b[i] + b[rows + i] : b[i];
        x[rows + i] = i < apart ? 0 : b[rows + i];
    }
    const xir_type *element = v_element(xir_node_input(at, RECURRENT_B));
    *of_x = xir_node_constant(at, element, NULL, x, (size_t)rows);
    if (apart < rows) *of_h = xir_node_constant(at, element, NULL, x + rows, (size_t)rows);
    return !xir_node_failed(at);
}

/* Columns of gates [from, to) of [batch, gates * hidden]. */
static xir_value *gates(xir_node *at, const recurrent *c, xir_value *x, int64_t from, int64_t to) {
    return make_part(at, x, 1, from * c->hidden, to * c->hidden, 1);
}

static xir_value *sum(xir_node *at, xir_value *x, xir_value *y) { return xir_node_sum(at, x, y, 1, 1); }

/* One step, of the input's part p and the state's q. */
static void step(xir_node *at, const recurrent *c, xir_value *p, xir_value *q, state *s) {
    if (c->gates == 1) {
        s->h = xir_node_unary(at, c->relu ? "ReLU" : "Tanh", sum(at, p, q));
    } else if (c->gates == 4) {   /* i o f g */
        xir_value *all = sum(at, p, q), *open = xir_node_unary(at, "Sigmoid", gates(at, c, all, 0, 3));
        xir_value *g = xir_node_unary(at, "Tanh", gates(at, c, all, 3, 4));
        s->c = sum(at, xir_node_product(at, gates(at, c, open, 2, 3), s->c),
                   xir_node_product(at, gates(at, c, open, 0, 1), g));
        s->h = xir_node_product(at, gates(at, c, open, 1, 2), xir_node_unary(at, "Tanh", s->c));
    } else {   /* z r n: h + (1 - z) (n - h) */
        xir_value *open = xir_node_unary(at, "Sigmoid", sum(at, gates(at, c, p, 0, 2), gates(at, c, q, 0, 2)));
        xir_value *kept = xir_node_product(at, gates(at, c, open, 1, 2), gates(at, c, q, 2, 3));
        xir_value *n = xir_node_unary(at, "Tanh", sum(at, gates(at, c, p, 2, 3), kept)), *z = gates(at, c, open, 0, 1);
        s->h = sum(at, n, xir_node_product(at, z, xir_node_sum(at, s->h, n, 1, -1)));
    }
}

/* A direction of the input, whose steps are put into `all`, and its last state. */
static state direction(xir_node *at, const recurrent *c, xir_value *x, int64_t d, xir_value **all) {
    const int64_t flat[] = { c->steps * c->batch, c->features }, rows = c->gates * c->hidden,
                  own[] = { c->batch, c->hidden };
    xir_value *w = matrix(at, c, RECURRENT_W, d, c->features), *r = matrix(at, c, RECURRENT_R, d, c->hidden), *b, *more;
    state s = { NULL, NULL };
    if (!w || !r || !bias(at, c, d, &b, &more)) return s;
    xir_value *products = make_matrix_product(at, make_shaped(at, x, flat, 2), w);
    if (b) products = sum(at, products, b);
    for (size_t i = 0; i < c->states; i++) {
        xir_value *v = recurrent_state(at, c, RECURRENT_H + i);
        v = make_shaped(at, c->directions > 1 ? make_part(at, v, 0, d, d + 1, 1) : v, own, 2);
        *(i ? &s.c : &s.h) = v;
    }
    for (int64_t k = 0; k < c->steps && !xir_node_failed(at); k++) {
        const int64_t t = d || c->backward ? c->steps - 1 - k : k, dims[] = { c->batch, rows };
        xir_value *p = make_shaped(at, make_part(at, products, 0, t * c->batch, (t + 1) * c->batch, 1), dims, 2);
        xir_value *q = make_matrix_product(at, s.h, r);
        step(at, c, p, more ? sum(at, q, more) : q, &s);
        all[t] = s.h;
    }
    return s;
}

bool simpler_recurrent(xir_node *at) {
    recurrent c;
    xir_value *steps[MOST_STEPS] = { NULL }, *y[2] = { NULL }, *last[2][2] = { { NULL } }, *states[2] = { NULL };
    if (!recurrent_read(at, &c)) return false;
    if (c.steps > MOST_STEPS) return xir_node_unsupported(at, "%lld steps", (long long)c.steps);
    xir_value *x = recurrent_input(at, &c);
    for (int64_t d = 0; d < c.directions && !xir_node_failed(at); d++) {
        const state s = direction(at, &c, x, d, steps);
        last[0][d] = s.h, last[1][d] = s.c;
        if (!xir_node_failed(at))
            y[d] = xir_node_make(at, "Stack", (xir_values){ steps, (size_t)c.steps }, SETS(INT("dim", 0)));
    }
    if (xir_node_failed(at)) return false;
    const size_t n = (size_t)c.directions;
    xir_value *all = xir_node_make(at, "Stack", (xir_values){ y, n }, SETS(INT("dim", 1)));
    for (size_t i = 0; i < c.states; i++)
        states[i] = xir_node_make(at, "Stack", (xir_values){ last[i], n }, SETS(INT("dim", 0)));
    return recurrent_give(at, &c, all, states);
}
