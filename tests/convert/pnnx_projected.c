/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* nn.LSTM with proj_size: an LSTM whose state is the product of a matrix and o tanh(c). A loop over steps, layers and
 * directions gives the numbers of the network that it is converted to. */
#include <math.h>
#include "convert/pnnx_text.h"

enum { STEPS = 3, BATCH = 2, INPUT = 2, HIDDEN = 4, SIZE = 3, LAYERS = 2, DIRECTIONS = 2 };
enum { WIDEST = DIRECTIONS * SIZE };   /* features of a step */

typedef struct lstm { bool bias, bidirectional, batch_first, states; int layers; } lstm;

static double sigmoid(double v) { return 1 / (1 + exp(-v)); }

/* Element i of a weight of the network: "m.weight_ih_l0_reverse". */
static double weight(const char *name, int layer, int direction, size_t i) {
    char full[60];
    snprintf(full, sizeof full, "m.%s_l%d%s", name, layer, direction ? "_reverse" : "");
    return (float)number_of(full, i);
}

static double given(const char *name, size_t i) { return (float)(2 * number_of(name, i)); }

/* One step of one direction: h of SIZE, c of HIDDEN. */
static void step(const lstm *m, int layer, int direction, const double *x, int n_x, double *h, double *c) {
    double gate[4 * HIDDEN], out[HIDDEN];
    for (int g = 0; g < 4 * HIDDEN; g++) {
        gate[g] = 0;
        if (m->bias) gate[g] += weight("bias_ih", layer, direction, (size_t)g);
        if (m->bias) gate[g] += weight("bias_hh", layer, direction, (size_t)g);
        for (int k = 0; k < n_x; k++) gate[g] += weight("weight_ih", layer, direction, (size_t)(g * n_x + k)) * x[k];
        for (int k = 0; k < SIZE; k++) gate[g] += weight("weight_hh", layer, direction, (size_t)(g * SIZE + k)) * h[k];
    }
    for (int k = 0; k < HIDDEN; k++) {   /* i f g o */
        c[k] = sigmoid(gate[HIDDEN + k]) * c[k] + sigmoid(gate[k]) * tanh(gate[2 * HIDDEN + k]);
        out[k] = sigmoid(gate[3 * HIDDEN + k]) * tanh(c[k]);
    }
    for (int k = 0; k < SIZE; k++) {
        h[k] = 0;
        for (int j = 0; j < HIDDEN; j++)
            h[k] += weight("weight_hr", layer, direction, (size_t)(k * HIDDEN + j)) * out[j];
    }
}

static double y[STEPS][BATCH][WIDEST], last_h[LAYERS * DIRECTIONS][BATCH][SIZE],
              last_c[LAYERS * DIRECTIONS][BATCH][HIDDEN];

static void compute(const lstm *m) {
    const int directions = m->bidirectional ? 2 : 1;
    double x[STEPS][BATCH][WIDEST];
    int n_x = INPUT;
    for (int t = 0; t < STEPS; t++)
        for (int b = 0; b < BATCH; b++)
            for (int k = 0; k < INPUT; k++)
                x[t][b][k] = given("x", (size_t)((m->batch_first ? b * STEPS + t : t * BATCH + b) * INPUT + k));
    for (int l = 0; l < m->layers; l++, n_x = directions * SIZE) {
        for (int d = 0; d < directions; d++) {
            for (int b = 0; b < BATCH; b++) {
                const int row = (l * directions + d) * BATCH + b;
                double h[SIZE] = { 0 }, c[HIDDEN] = { 0 };
                for (int k = 0; k < SIZE && m->states; k++) h[k] = given("h", (size_t)(row * SIZE + k));
                for (int k = 0; k < HIDDEN && m->states; k++) c[k] = given("c", (size_t)(row * HIDDEN + k));
                for (int i = 0; i < STEPS; i++) {
                    const int t = d ? STEPS - 1 - i : i;
                    step(m, l, d, x[t][b], n_x, h, c);
                    memcpy(&y[t][b][d * SIZE], h, sizeof h);
                }
                memcpy(last_h[l * directions + d][b], h, sizeof h);
                memcpy(last_c[l * directions + d][b], c, sizeof c);
            }
        }
        memcpy(x, y, sizeof x);
    }
}

static xir_network *network(const lstm *m) {
    const int directions = m->bidirectional ? 2 : 1;
    char inputs[200], lines[3000];
    snprintf(inputs, sizeof inputs, "x=(%d,%d,%d)f32", m->batch_first ? BATCH : STEPS, m->batch_first ? STEPS : BATCH,
             INPUT);
    if (m->states)
        snprintf(inputs + strlen(inputs), 100, " h=(%d,%d,%d)f32 c=(%d,%d,%d)f32", m->layers * directions, BATCH, SIZE,
                 m->layers * directions, BATCH, HIDDEN);
    int n = snprintf(lines, sizeof lines, "nn.LSTM m %d 3 x%s y hn cn batch_first=%s bias=%s bidirectional=%s "
                     "hidden_size=%d input_size=%d num_layers=%d proj_size=%d", m->states ? 3 : 1,
                     m->states ? " h c" : "", m->batch_first ? "True" : "False", m->bias ? "True" : "False",
                     m->bidirectional ? "True" : "False", HIDDEN, INPUT, m->layers, SIZE);
    for (int l = 0; l < m->layers; l++) {
        for (int d = 0; d < directions; d++) {
            const char *end = d ? "_reverse" : "";
            n += snprintf(lines + n, sizeof lines - (size_t)n,
                          " @weight_ih_l%d%s=(%d,%d)f32 @weight_hh_l%d%s=(%d,%d)f32 @weight_hr_l%d%s=(%d,%d)f32", l, end,
                          4 * HIDDEN, l ? directions * SIZE : INPUT, l, end, 4 * HIDDEN, SIZE, l, end, SIZE, HIDDEN);
            if (m->bias)
                n += snprintf(lines + n, sizeof lines - (size_t)n, " @bias_ih_l%d%s=(%d)f32 @bias_hh_l%d%s=(%d)f32", l,
                              end, 4 * HIDDEN, l, end, 4 * HIDDEN);
        }
    }
    snprintf(lines + n, sizeof lines - (size_t)n, "\n");
    return pnnx_net(inputs, lines, "y hn cn");
}

static void near(double found, double expected, const char *what, size_t i) {
    if (!(fabs(found - expected) <= 1e-5)) fail_msg("%s %zu is %.9g, expected %.9g", what, i, found, expected);
}

static void check(const lstm *m) {
    const int directions = m->bidirectional ? 2 : 1;
    xir_array *out[PNNX_MOST_ENDS] = { NULL };
    xir_network *net = network(m);
    pnnx_converted(net, "nn.LSTM");
    assert_int_equal(pnnx_run(net, out), 3);
    compute(m);
    size_t at = 0;
    for (int i = 0; i < STEPS * BATCH; i++) {
        const int t = m->batch_first ? i % STEPS : i / BATCH, b = m->batch_first ? i / STEPS : i % BATCH;
        for (int k = 0; k < directions * SIZE; k++, at++) near(xir_array_real(out[0], at), y[t][b][k], "y", at);
    }
    assert_int_equal(xir_array_count(out[0]), at);
    for (size_t i = 0; i < (size_t)(m->layers * directions * BATCH * SIZE); i++)
        near(xir_array_real(out[1], i), (&last_h[0][0][0])[i], "h", i);
    for (size_t i = 0; i < (size_t)(m->layers * directions * BATCH * HIDDEN); i++)
        near(xir_array_real(out[2], i), (&last_c[0][0][0])[i], "c", i);
    for (size_t i = 0; i < 3; i++) xir_array_free(out[i]);
    xir_network_free(net);
}

static void projected_states(void **state) {
    (void)state;
    for (int i = 0; i < 1 << 5; i++)
        check(&(lstm){ i & 1, i & 2, i & 4, i & 8, 1 + (i >> 4) });
}

/* The state is smaller than the cells, and the weights are of its size. */
static void sizes_that_are_refused(void **state) {
    static const struct { const char *size, *weights, *sentence; xir_status status; } rows[] = {
        { "4",  "@weight_hh_l0=(16,4)f32 @weight_hr_l0=(4,4)f32", "expected 0 to 3, found 4", XIR_E_BOUNDS },
        { "-1", "@weight_hh_l0=(16,4)f32 @weight_hr_l0=(4,4)f32", "expected 0 to 3, found -1", XIR_E_BOUNDS },
        { "3",  "@weight_hh_l0=(16,3)f32", "the weights of layer 0 are missing", XIR_E_MISSING },
        { "3",  "@weight_hh_l0=(16,3)f32 @weight_hr_l0=(4,3)f32", "weight_hr of layer 0 is not of", XIR_E_TYPE },
        { "3",  "@weight_hh_l0=(16,4)f32 @weight_hr_l0=(3,4)f32", "weight_hh of layer 0 is not of", XIR_E_TYPE },
        { "3",  "@weight_hh_l0=(16,1,3,1)f32 @weight_hr_l0=(3,4)f32", "weight_hh of layer 0 is not of", XIR_E_TYPE },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char line[400];
        snprintf(line, sizeof line, "nn.LSTM m 2 1 x h y bias=False hidden_size=4 input_size=2 num_layers=1 "
                 "proj_size=%s @weight_ih_l0=(16,2)f32 %s\n", rows[i].size, rows[i].weights);
        xir_network *net = pnnx_net("x=(3,2,2)f32 h=(1,2,3)f32", line, "y");
        assert_int_not_equal(xir_pass_run(net, "pnnx-to-xir", "strict", NULL, why), XIR_OK);
        check_finding(rows[i].status, rows[i].sentence);
        xir_network_free(net);
    }
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(projected_states),
        cmocka_unit_test(sizes_that_are_refused),
    };
    return RUN_GROUP(tests);
}
