/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* RNN, LSTM and GRU of NNabla compute what a loop over layers, directions, steps and gates computes, with NNabla's
 * weights, and still do after they went back to NNB; what an op of XIR becomes computes the same as it. */
#include <math.h>
#include <xir/convert.h>
#include <xir/nnb.h>
#include <xir/serialize.h>
#include "convert/nnb_text.h"
#include "support/kept.h"

enum { MOST = 4000 };

/* ---- the loop --------------------------------------------------------------------------------------------------- */

typedef struct cell {
    char   kind;                                      /* L, G, R; r: an RNN of ReLU */
    size_t layers, directions, steps, batch, features, hidden;
    bool   bias;
} cell;

typedef struct numbers { double v[MOST]; size_t n; } numbers;

static size_t gates(const cell *c) { return c->kind == 'L' ? 4 : c->kind == 'G' ? 3 : 1; }
static size_t lists(const cell *c) { return c->kind == 'L' || c->kind == 'G' ? 4 : 1; }
static double sigmoid(double x) { return 1 / (1 + exp(-x)); }

/* Number i of the parameter at this place. */
static double of(size_t variable, size_t i) {
    char name[16];
    snprintf(name, sizeof name, "v%zu", variable);
    return (float)number_of(name, i);
}

/* Element j of gate g: the products of [x, h], of both parts, or of x (1) or h (2) alone, and a bias. */
static double product(const cell *c, size_t layer, size_t d, size_t g, size_t j, const double *x, size_t n,
                      const double *h, int parts, size_t list) {
    const size_t first = c->kind == 'L' ? 3 : 2, others = first + 1, columns = n + c->hidden;
    const size_t row = layer ? (((layer - 1) * c->directions + d) * gates(c) + g) * c->hidden + j
                             : (d * gates(c) + g) * c->hidden + j;
    double sum = c->bias && list < 4 ? of(first + 1 + (c->layers > 1),
                                          ((layer * c->directions + d) * lists(c) + list) * c->hidden + j) : 0;
    for (size_t i = 0; i < n && parts & 1; i++) sum += x[i] * of(layer ? others : first, row * columns + i);
    for (size_t i = 0; i < c->hidden && parts & 2; i++)
        sum += h[i] * of(layer ? others : first, row * columns + n + i);
    return sum;
}

/* A step of one sequence: h, and the cells s of LSTM. */
static void step(const cell *c, size_t layer, size_t d, const double *x, size_t n, double *h, double *s) {
    double now[64];
    for (size_t j = 0; j < c->hidden; j++) {
        double p[4];
        for (size_t g = 0; g < gates(c); g++) p[g] = product(c, layer, d, g, j, x, n, h, 3, g);
        if (c->kind == 'L') {   /* i f g o */
            s[j] = sigmoid(p[1]) * s[j] + sigmoid(p[0]) * tanh(p[2]);
            now[j] = sigmoid(p[3]) * tanh(s[j]);
        } else if (c->kind == 'G') {   /* r z n */
            const double of_x = product(c, layer, d, 2, j, x, n, h, 1, 2);
            const double of_h = product(c, layer, d, 2, j, x, n, h, 2, 3);
            const double z = sigmoid(p[1]);
            now[j] = (1 - z) * tanh(of_x + sigmoid(p[0]) * of_h) + z * h[j];
        } else {
            now[j] = c->kind == 'R' ? tanh(p[0]) : p[0] > 0 ? p[0] : 0;
        }
    }
    memcpy(h, now, c->hidden * sizeof *h);
}

/* y [steps, batch, directions * hidden], and the last states [layers, directions, batch, hidden]. */
static void loop(const cell *c, const double *input, numbers *y, numbers *last, numbers *cells) {
    const size_t wide = c->directions * c->hidden;
    numbers x = { .n = c->steps * c->batch * c->features };
    size_t n = c->features;
    memcpy(x.v, input, x.n * sizeof *x.v);
    for (size_t layer = 0; layer < c->layers; layer++, n = wide) {
        y->n = c->steps * c->batch * wide;
        for (size_t d = 0; d < c->directions; d++) {
            for (size_t b = 0; b < c->batch; b++) {
                const size_t at = ((layer * c->directions + d) * c->batch + b) * c->hidden;
                for (size_t k = 0; k < c->steps; k++) {
                    const size_t t = d ? c->steps - 1 - k : k;
                    step(c, layer, d, x.v + (t * c->batch + b) * n, n, last->v + at, cells->v + at);
                    memcpy(y->v + (t * c->batch + b) * wide + d * c->hidden, last->v + at,
                           c->hidden * sizeof *last->v);
                }
            }
        }
        x = *y;
    }
}

/* ---- the function ----------------------------------------------------------------------------------------------- */

static nnb_words text_of(const cell *c, char text[8000]) {
    char in[1000], out[1000], variables[800], function[200], state[60], own[60], more[80] = "", bias[60] = "";
    const size_t d = c->directions, h = c->hidden, wide = d * h + h, n = c->kind == 'L' ? 3 : 2;
    const bool gated = gates(c) > 1;
    char gate[16] = "", list[16] = "";
    if (gated) snprintf(gate, sizeof gate, ",%zu", gates(c)), snprintf(list, sizeof list, ",%zu", lists(c));
    snprintf(state, sizeof state, "%zu,%zu,%zu,%zu", c->layers, d, c->batch, h);
    snprintf(own, sizeof own, " p%zu%s,%zu,%zu", d, gate, h, c->features + h);
    if (c->layers > 1) snprintf(more, sizeof more, " p%zu,%zu%s,%zu,%zu", c->layers - 1, d, gate, h, wide);
    if (c->bias) snprintf(bias, sizeof bias, " p%zu,%zu%s,%zu", c->layers, d, list, h);
    snprintf(variables, sizeof variables, "i%zu,%zu,%zu i%s%s%s%s%s%s o%zu,%zu,%zu o%s%s%s", c->steps, c->batch,
             c->features, state, n == 3 ? " i" : "", n == 3 ? state : "", own, more, bias, c->steps, c->batch, d * h,
             state, n == 3 ? " o" : "", n == 3 ? state : "");
    size_t at = (size_t)snprintf(function, sizeof function, "%d 0", n == 3 ? 242 : gated ? 243 : 244);
    const size_t inputs = n + 1 + (c->layers > 1) + c->bias;
    for (size_t i = 1; i < inputs; i++) at += (size_t)snprintf(function + at, sizeof function - at, ",%zu", i);
    for (size_t i = 0; i < n; i++)
        at += (size_t)snprintf(function + at, sizeof function - at, "%c%zu", i ? ',' : '>', inputs + i);
    at += (size_t)snprintf(function + at, sizeof function - at, " i%zu", c->layers);
    if (!gated) at += (size_t)snprintf(function + at, sizeof function - at, " i%d", c->kind == 'r');
    snprintf(function + at, sizeof function - at, " f0.25 B%d B%d", d == 2, c->bias);   /* dropout and training */
    return nnb_text(text, variables, function, in, out);
}

static void near(const cell *c, const char *what, const xir_array *found, const numbers *expected) {
    assert_int_equal(xir_array_count(found), expected->n);
    for (size_t i = 0; i < expected->n; i++) {
        const double v = xir_array_real(found, i);
        if (fabs(v - expected->v[i]) > 1e-5)
            fail_msg("%c, %zu layers, %zu directions%s: %s[%zu] is %g, expected %g", c->kind, c->layers, c->directions,
                     c->bias ? ", bias" : "", what, i, v, expected->v[i]);
    }
}

/* The network of the function, as ops of XIR, gives what the loop gives; then it goes back to NNB and comes again. */
static void computes(const cell *c) {
    static char text[8000];
    static numbers x, y, h, s;
    const size_t n_out = c->kind == 'L' ? 3 : 2;
    const nnb_words words = text_of(c, text);
    xir_network *net = nnb_net(text, &words);
    if (xir_dialect_check(net, why)) xir_diags_print(why, stderr);
    assert_int_equal(xir_diags_count(why), 0);
    x.n = c->steps * c->batch * c->features;
    h.n = s.n = c->layers * c->directions * c->batch * c->hidden;
    for (size_t i = 0; i < x.n; i++) x.v[i] = (float)(2 * of(0, i));
    for (size_t i = 0; i < h.n; i++) h.v[i] = (float)(2 * of(1, i)), s.v[i] = (float)(2 * of(2, i));
    loop(c, x.v, &y, &h, &s);
    for (size_t turn = 0; turn < 2; turn++) {
        xir_array *out[NNB_MOST_ENDS] = { NULL };
        const xir_status status = xir_pass_run(net, "nnb-to-xir", "strict", NULL, why);
        if (status) xir_diags_print(why, stderr);
        assert_int_equal(status, XIR_OK);
        assert_int_equal(nnb_run(net, &words, out), n_out);
        near(c, "y", out[0], &y);
        near(c, "h", out[1], &h);
        if (n_out > 2) near(c, "c", out[2], &s);
        for (size_t i = 0; i < n_out; i++) xir_array_free(out[i]);
        if (turn) break;
        buffer file;
        buffer_init(&file, &memory_default);
        assert_int_equal(xir_pass_run(net, "xir-to-nnb", "runtime=false,strict", NULL, why), XIR_OK);
        DOES(xir_network_write(net, keep, &file, &XIR_INIT(xir_save_options, .format = "nnb"), why));
        xir_network_free(net);
        net = xir_network_read(ctx, file.data, file.size, XIR_STR("x.nnb"), NULL, why);
        assert_non_null(net);
        buffer_free(&file);
    }
    xir_network_free(net);
}

static void a_loop_computes_the_same(void **state) {
    (void)state;
    for (const char *kind = "LGRr"; *kind; kind++)
        for (size_t layers = 1; layers <= 3; layers++)
            for (size_t directions = 1; directions <= 2; directions++)
                for (int bias = 0; bias < 2; bias++)
                    computes(&(cell){ *kind, layers, directions, 4 - layers, 2, 3, 2 + (directions == 1), bias });
}

/* Tensors that do not fit each other are findings that name them. */
static void tensors_fit(void **state) {
    static const struct { const char *variables, *function, *message; } cases[] = {
        { "i3,2,2 i1,1,2,2 p1,2,5 o3,2,2 o1,1,2,2", "244 0,1,2>3,4 i1 i0 f0 B0 B0",
          "weight_l0: expected the dims [1, 2, 4], found [1, 2, 5]" },
        { "i3,2,2 i1,1,2,2 p1,2,4 o3,2,2 o1,1,2,2", "244 0,1,2>3,4 i2 i0 f0 B0 B0",
          "h: expected the dims [2, 1, 2, 2]" },
        { "i3,2,2 i2,1,2,2 p1,2,4 o3,2,2 o1,1,2,2", "244 0,1,2>3,4 i2 i0 f0 B0 B0",
          "input 3" },
        { "i3,2,2 i1,1,2,2 i1,1,2,1 p1,4,2,4 o3,2,2 o1,1,2,2 o1,1,2,2", "242 0,1,2,3>4,5,6 i1 f0 B0 B0",
          "c: expected the dims [1, 1, 2, 2]" },
        { "i3,2,2 i1,1,2,2 p1,3,2,4 p1,3,2 o3,2,2 o1,1,2,2", "243 0,1,2,3>4,5 i1 f0 B0 B0",
          "bias: expected the dims [1, 1, 4, 2]" },
        { "i3,2,2 i1,1,2,2 p1,2,4 p1,1,2 p1,1,2 o3,2,2 o1,1,2,2", "244 0,1,2,3,4>5,6 i1 i0 f0 B0 B0",
          "expected 3 to 4 inputs for 1 layers, found 5" },
        { "i3,2 i1,1,2,2 p1,2,4 o3,2,2 o1,1,2,2", "244 0,1,2>3,4 i1 i0 f0 B0 B0",
          "an input of 3 dims and a state of 4, found 2" },
        { "i3,2,2 i1,1,2,2 p1,2,4 o3,2,2 o1,1,2,2", "244 0,1,2>3,4 i0 i0 f0 B0 B0",
          "num_layers: expected 1 or more, found 0" },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        static char text[8000];
        char in[1000], out[1000];
        const nnb_words words = nnb_text(text, cases[i].variables, cases[i].function, in, out);
        xir_network *net = nnb_net(text, &words);
        (void)xir_dialect_check(net, why);
        bool found = false;
        for (size_t k = 0; k < xir_diags_count(why); k++) {
            const xir_str m = xir_diags_at(why, k)->message;
            char message[400];
            snprintf(message, sizeof message, "%.*s", (int)m.size, m.data);
            found |= strstr(message, cases[i].message) != NULL;
        }
        if (!found) {
            xir_diags_print(why, stderr);
            fail_msg("case %zu: expected '%s'", i, cases[i].message);
        }
        xir_network_free(net);
    }
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_loop_computes_the_same),
        cmocka_unit_test(tensors_fit),
    };
    return RUN_GROUP(tests);
}
