/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Recurrent networks, step by step, all sequences of a batch at a time. The products of the inputs with W are computed
 * for many steps at once, those of the states with R for each step. A sequence ends at its length: the outputs after it
 * are 0, and the reverse direction starts at its last element. */
#include <inttypes.h>
#include <math.h>
#include <xir/work.h>
#include "gemm.h"
#include "kernels.h"
#include "pool.h"

enum { X, W, R, B, SEQUENCE_LENS, INITIAL_H, INITIAL_C, P, PORTS };
enum { MOST_FUNCTIONS = 3 };

/* ---- activations ------------------------------------------------------------------------------------------------ */

typedef enum shape { AFFINE, ELU, HARD_SIGMOID, LEAKY_RELU, RELU, SCALED_TANH, SIGMOID, SOFTPLUS, SOFTSIGN, TANH,
                     THRESHOLDED_RELU, SHAPES } shape;

/* The names of the activations, and the defaults of alpha and beta, which are those of ONNX's operators. */
static const struct {
    const char *word;
    bool        has_alpha, has_beta;
    double      alpha, beta;
} shapes[SHAPES] = {
    [AFFINE]           = { "Affine",          true,  true,  1,    0   },
    [ELU]              = { "Elu",             true,  false, 1,    0   },
    [HARD_SIGMOID]     = { "HardSigmoid",     true,  true,  0.2,  0.5 },
    [LEAKY_RELU]       = { "LeakyRelu",       true,  false, 0.01, 0   },
    [RELU]             = { "Relu",            false, false, 0,    0   },
    [SCALED_TANH]      = { "ScaledTanh",      true,  true,  1,    1   },
    [SIGMOID]          = { "Sigmoid",         false, false, 0,    0   },
    [SOFTPLUS]         = { "Softplus",        false, false, 0,    0   },
    [SOFTSIGN]         = { "Softsign",        false, false, 0,    0   },
    [TANH]             = { "Tanh",            false, false, 0,    0   },
    [THRESHOLDED_RELU] = { "ThresholdedRelu", true,  false, 1,    0   },
};

/* An activation with its parameters, applied after its input is clipped. */
typedef struct function {
    shape  shape;
    double alpha, beta, clip;
} function;

static double apply(const function *f, double x) {
    if (x > f->clip) x = f->clip;
    if (x < -f->clip) x = -f->clip;
    switch (f->shape) {
    case AFFINE:           return f->alpha * x + f->beta;
    case ELU:              return x >= 0 ? x : f->alpha * expm1(x);
    case HARD_SIGMOID:     return fmax(0, fmin(1, f->alpha * x + f->beta));
    case LEAKY_RELU:       return x >= 0 ? x : f->alpha * x;
    case RELU:             return x >= 0 ? x : 0;
    case SCALED_TANH:      return f->alpha * tanh(f->beta * x);
    case SIGMOID:          return 1 / (1 + exp(-x));
    case SOFTPLUS:         return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x));
    case SOFTSIGN:         return x / (1 + fabs(x));
    case TANH:             return tanh(x);
    case THRESHOLDED_RELU: return x > f->alpha ? x : 0;
    case SHAPES:           break;
    }
    return NAN;
}

/* ---- attributes ------------------------------------------------------------------------------------------------- */

typedef struct cell cell;
/* The state of one sequence at one step. */
typedef struct sequence {
    double *sum;        /* gates: the product of x and W plus the first half of the bias */
    double *carried;    /* the product of h and R plus the second half                   */
    double *reset;      /* of GRU: h as the reset gate leaves it                         */
    double *h, *state;
} sequence;
/* Computes the new state of a sequence. */
typedef void step_fn(const cell *c, size_t direction, const sequence *s);

struct cell {
    size_t        gates, functions;
    bool          has_c;
    step_fn      *reset_step;             /* before `step`: sets `reset`; then `carried` of the last gate is its product
                                             with R; NULL: none                                       */
    step_fn      *step;
    int64_t       hidden_size;
    xir_direction direction;
    bool          batch_first, flag;      /* `flag`: input_forget of LSTM, linear_before_reset of GRU */
    double        clip;
    xir_texts     activations;
    xir_reals     alphas, betas;

    size_t        hidden, directions, length, batch, inputs, rows;   /* `rows` of W and R: gates * hidden */
    function      f[2 * MOST_FUNCTIONS];
    const double *in[PORTS];              /* NULL if absent; not X, W, R                       */
    const int64_t *lengths;               /* NULL: all are `length`                            */
    const gemm_path *path;
    gemm_input    x, w, r;
    size_t        together;               /* steps whose products with W are computed at once  */
    double       *sum, *carried, *reset;  /* of each sequence; sum: of each of those steps     */
};

#define CELL(a, n_gates, n_functions, c, first, fn, flag_) \
    { .gates = (n_gates), .functions = (n_functions), .has_c = (c), .reset_step = (first), .step = (fn), \
      .hidden_size = (a)->hidden_size, \
      .direction = (a)->direction, .batch_first = (a)->layout == 1, .flag = (flag_), .clip = (a)->clip, \
      .activations = (a)->activations, .alphas = (a)->activation_alpha, .betas = (a)->activation_beta }

static void read_functions(cell *c) {
    static const shape usual[2][MOST_FUNCTIONS] = { { SIGMOID, TANH, TANH }, { TANH, TANH, TANH } };   // RNN: the first
    size_t n = c->functions * c->directions, alpha = 0, beta = 0;
    for (size_t i = 0; i < n; i++) {
        function *f = &c->f[i];
        f->shape = usual[c->functions == 1][i % c->functions];
        for (shape s = 0; s < SHAPES && i < c->activations.size; s++) {
            if (xir_str_equal(c->activations.data[i], xir_str_of(shapes[s].word))) f->shape = s;
        }
        f->clip = i % c->functions == 2 ? INFINITY : c->clip;   // H of LSTM gets the state as it is
        f->alpha = shapes[f->shape].has_alpha && alpha < c->alphas.size ? c->alphas.data[alpha++]
            : shapes[f->shape].alpha;
        f->beta = shapes[f->shape].has_beta && beta < c->betas.size ? c->betas.data[beta++] : shapes[f->shape].beta;
    }
}

/* ---- one step --------------------------------------------------------------------------------------------------- */

static void lstm_step(const cell *c, size_t direction, const sequence *s) {
    const function *f = c->f + direction * c->functions, *g = f + 1, *last = f + 2;
    const double *p = c->in[P] ? c->in[P] + direction * 3 * c->hidden : NULL;
    const size_t n = c->hidden;
    double *state = s->state;
    for (size_t k = 0; k < n; k++) {
        double gate[4];   // i, o, f, c
        for (size_t i = 0; i < 4; i++) gate[i] = s->sum[i * n + k] + s->carried[i * n + k];
        double in = apply(f, gate[0] + (p ? p[k] * state[k] : 0));
        double forget = c->flag ? 1 - in : apply(f, gate[2] + (p ? p[2 * n + k] * state[k] : 0));
        state[k] = forget * state[k] + in * apply(g, gate[3]);
        s->h[k] = apply(f, gate[1] + (p ? p[n + k] * state[k] : 0)) * apply(last, state[k]);
    }
}

/* The gates z, r, and the next state. */
static void gru_gates(const cell *c, size_t direction, const sequence *s) {
    const function *f = c->f + direction * c->functions;
    const size_t n = c->hidden;
    for (size_t k = 0; k < 2 * n; k++) s->sum[k] = apply(f, s->sum[k] + s->carried[k]);
    for (size_t k = 0; k < n; k++) s->reset[k] = s->sum[n + k] * s->h[k];
}

static void gru_step(const cell *c, size_t direction, const sequence *s) {
    const function *g = c->f + direction * c->functions + 1;
    const size_t n = c->hidden;
    if (c->flag) gru_gates(c, direction, s);
    const double *z = s->sum, *r = s->sum + n, *next = s->sum + 2 * n, *carried = s->carried + 2 * n;
    for (size_t k = 0; k < n; k++) {
        double now = apply(g, next[k] + (c->flag ? r[k] * carried[k] : carried[k]));
        s->h[k] = (1 - z[k]) * now + z[k] * s->h[k];
    }
}

static void rnn_step(const cell *c, size_t direction, const sequence *s) {
    for (size_t k = 0; k < c->hidden; k++) s->h[k] = apply(c->f + direction, s->sum[k] + s->carried[k]);
}

/* ---- products --------------------------------------------------------------------------------------------------- */

/* Returns the offset of element t of sequence b in X. At step i it is t = i, or counted from the end of the
 * sequence. */
static size_t time_of(const cell *c, size_t direction, size_t b, size_t i) {
    const size_t length = c->lengths ? (size_t)c->lengths[b] : c->length;
    if (i >= length) return 0;     // what is computed for it is not used
    return direction == 1 || c->direction == XIR_DIRECTION_REVERSE ? length - 1 - i : i;
}

typedef struct product {
    const cell       *c;
    size_t            direction, first;      /* of X: the step of row 0                                       */
    const double     *left;                  /* of states: their rows; NULL: the elements of X                */
    size_t            left_step;
    const gemm_input *right;                 /* W or R, from `right_at` on: a row of `depth` for each column  */
    size_t            right_at, depth;
    const double     *bias;                  /* NULL: none                                                    */
    double           *out;
    size_t            out_step;
} product;

static void pack_left(const void *of, const gemm_panel *panel) {
    const product *p = of;
    const cell *c = p->c;
    const gemm_input states = { .doubles = p->left };
    gemm_panel one = *panel;
    if (p->left) {
        gemm_pack_matrix(c->path, &states, 0, (int64_t)p->left_step, 1, panel);
        return;
    }
    one.n = 1;
    one.first = 0;
    for (size_t i = 0; i < panel->n; i++) {
        const size_t row = panel->first + i, b = row % c->batch,
                     t = time_of(c, p->direction, b, p->first + row / c->batch);
        one.out = panel->out + i;
        gemm_pack_matrix(c->path, &c->x, (int64_t)((c->batch_first ? b * c->length + t : t * c->batch + b) * c->inputs),
                         0, 1, &one);
    }
}

static void pack_right(const void *of, const gemm_panel *panel) {
    const product *p = of;
    gemm_pack_matrix(p->c->path, p->right, (int64_t)p->right_at, (int64_t)p->depth, 1, panel);
}

static void take_sums(void *out, const gemm_sums *s) {
    const product *p = out;
    for (size_t i = 0; i < s->rows; i++) {
        double *to = p->out + (s->row + i) * p->out_step + s->column;
        const double *sum = s->sum + i * s->step;
        for (size_t j = 0; j < s->columns; j++) to[j] = sum[j] + (p->bias ? p->bias[s->column + j] : 0);
    }
}

static xir_status multiply(xir_kernel *at, const product *p, size_t rows, size_t columns) {
    const gemm g = {
        .path = p->c->path, .exact = !p->left && gemm_is_exact(&p->c->x, p->right), .batches = 1, .rows = rows,
        .columns = columns, .depth = p->depth, .left = pack_left, .left_of = p, .right = pack_right, .right_of = p,
        .take = take_sums, .out = (void *)(uintptr_t)p,
    };
    return gemm_run(at, &g);
}

/* x W plus the first half of the bias, for `steps` steps from `first` on. */
static xir_status multiply_inputs(xir_kernel *at, const cell *c, size_t direction, size_t first, size_t steps) {
    const product p = {
        .c = c, .direction = direction, .first = first, .right = &c->w, .right_at = direction * c->rows * c->inputs,
        .depth = c->inputs, .bias = c->in[B] ? c->in[B] + 2 * direction * c->rows : NULL, .out = c->sum,
        .out_step = c->rows,
    };
    return multiply(at, &p, steps * c->batch, c->rows);
}

/* h R plus the second half of the bias, of the gates from `gate` on. */
static xir_status multiply_states(xir_kernel *at, const cell *c, size_t direction, const double *h, size_t h_step,
                                  size_t gate) {
    const size_t first = gate * c->hidden;
    const product p = {
        .c = c, .left = h, .left_step = h_step, .right = &c->r,
        .right_at = (direction * c->rows + first) * c->hidden, .depth = c->hidden,
        .bias = c->in[B] ? c->in[B] + (2 * direction + 1) * c->rows + first : NULL, .out = c->carried + first,
        .out_step = c->rows,
    };
    return multiply(at, &p, c->batch, c->rows - first);
}

/* ---- the sequence ----------------------------------------------------------------------------------------------- */

enum { SUMS = 1 << 20 };   /* that exist at a time, unless one step has more */

/* Reads dims and inputs. False on out of memory. */
static bool read_inputs(xir_kernel *at, cell *c) {
    const xir_type *x = xir_kernel_input_type(at, X);
    c->length = (size_t)xir_type_dim(x, c->batch_first, false);
    c->batch = (size_t)xir_type_dim(x, !c->batch_first, false);
    c->inputs = (size_t)xir_type_dim(x, 2, false);
    c->directions = c->direction == XIR_DIRECTION_BIDIRECTIONAL ? 2 : 1;
    c->hidden = (size_t)c->hidden_size;
    c->rows = c->gates * c->hidden;
    c->path = gemm_path_now();
    if (!gemm_read(at, X, &c->x) || !gemm_read(at, W, &c->w) || !gemm_read(at, R, &c->r)) return false;
    for (size_t i = B; i < PORTS; i++) {
        bool there = xir_kernel_input_type(at, i) && i != SEQUENCE_LENS && (c->has_c || i < INITIAL_C);
        if (there && !(c->in[i] = xir_kernel_reals(at, i))) return false;
    }
    if (xir_kernel_input_type(at, SEQUENCE_LENS) && !(c->lengths = xir_kernel_i64s(at, SEQUENCE_LENS))) return false;
    c->together = SUMS / (c->rows * c->batch + 1) + 1;
    if (c->together > c->length) c->together = c->length;
    c->sum = xir_kernel_alloc(at, c->together * c->batch + 1, c->rows * sizeof *c->sum);
    c->carried = xir_kernel_alloc(at, c->batch + 1, c->rows * sizeof *c->carried);
    c->reset = xir_kernel_alloc(at, c->batch + 1, c->hidden * sizeof *c->reset);
    return c->sum && c->carried && c->reset;
}

/* Offsets in Y and in the states. */
static size_t state_at(const cell *c, size_t direction, size_t b) {
    return (c->batch_first ? b * c->directions + direction : direction * c->batch + b) * c->hidden;
}
static size_t output_at(const cell *c, size_t t, size_t direction, size_t b) {
    size_t i = c->batch_first ? (b * c->length + t) * c->directions + direction
        : (t * c->directions + direction) * c->batch + b;
    return i * c->hidden;
}

/* The outputs, and the states of all sequences. */
typedef struct results { double *y, *h, *state; } results;

/* Step i, the `of`-th of those whose inputs are multiplied. */
static xir_status run_step(xir_kernel *at, const cell *c, size_t direction, size_t i, size_t of, const results *r) {
    const size_t h_step = (c->batch_first ? c->directions : 1) * c->hidden;
    xir_status status = multiply_states(at, c, direction, r->h + state_at(c, direction, 0), h_step, 0);
    for (size_t half = !c->reset_step; half < 2 && !status; half++) {
        for (size_t b = 0; b < c->batch; b++) {
            if (c->lengths && i >= (size_t)c->lengths[b]) continue;
            const size_t s = state_at(c, direction, b);
            const sequence now = { c->sum + (of * c->batch + b) * c->rows, c->carried + b * c->rows,
                                   c->reset + b * c->hidden, r->h + s, r->state + s };
            (half ? c->step : c->reset_step)(c, direction, &now);
            if (!half) continue;
            double *out = r->y + output_at(c, time_of(c, direction, b, i), direction, b);
            for (size_t k = 0; k < c->hidden; k++) out[k] = now.h[k];
            if (xir_kernel_stops(at, c->rows)) return XIR_E_CANCELLED;
        }
        if (!half) status = multiply_states(at, c, direction, c->reset, c->hidden, c->gates - 1);
    }
    return status;
}

static xir_status run_direction(xir_kernel *at, const cell *c, size_t direction, const results *r) {
    for (size_t b = 0; b < c->batch; b++) {
        const size_t s = state_at(c, direction, b), length = c->lengths ? (size_t)c->lengths[b] : c->length;
        for (size_t k = 0; k < c->hidden; k++) {
            r->h[s + k] = c->in[INITIAL_H] ? c->in[INITIAL_H][s + k] : 0;
            if (c->has_c) r->state[s + k] = c->in[INITIAL_C] ? c->in[INITIAL_C][s + k] : 0;
        }
        for (size_t t = length; t < c->length; t++) {
            double *out = r->y + output_at(c, t, direction, b);
            for (size_t k = 0; k < c->hidden; k++) out[k] = 0;
        }
    }
    for (size_t first = 0; first < c->length; first += c->together) {
        const size_t steps = c->length - first < c->together ? c->length - first : c->together;
        xir_status status = multiply_inputs(at, c, direction, first, steps);
        for (size_t i = 0; i < steps && !status; i++) status = run_step(at, c, direction, first + i, i, r);
        if (status) return status;
    }
    return XIR_OK;
}

static xir_status run(xir_kernel *at, cell c) {
    if (!read_inputs(at, &c)) return XIR_E_MEMORY;
    read_functions(&c);
    results r = { xir_kernel_real_out(at, 0), xir_kernel_real_out(at, 1), NULL };
    r.state = c.has_c ? xir_kernel_real_out(at, 2) : r.h;
    if (!r.y || !r.h || !r.state) return XIR_E_MEMORY;
    for (size_t b = 0; c.lengths && b < c.batch; b++) {
        if (c.lengths[b] >= 0 && (uint64_t)c.lengths[b] <= c.length) continue;
        return xir_kernel_fail(at, XIR_E_BOUNDS, "inputs/4",
                               "sequence %zu has the length %" PRId64 ": expected 0 to %zu, the length of X",
                               b, c.lengths[b], c.length);
    }
    xir_status status = XIR_OK;
    for (size_t d = 0; d < c.directions && !status; d++) status = run_direction(at, &c, d, &r);
    return status;
}

static xir_status lstm(xir_kernel *at) {
    const xir_lstm_attrs *a = xir_kernel_attrs(at);
    return run(at, (cell)CELL(a, 4, 3, true, NULL, lstm_step, a->input_forget));
}
static xir_status gru(xir_kernel *at) {
    const xir_gru_attrs *a = xir_kernel_attrs(at);
    step_fn *first = a->linear_before_reset ? NULL : gru_gates;
    return run(at, (cell)CELL(a, 3, 2, false, first, gru_step, a->linear_before_reset));
}
static xir_status rnn(xir_kernel *at) {
    const xir_rnn_attrs *a = xir_kernel_attrs(at);
    return run(at, (cell)CELL(a, 1, 1, false, NULL, rnn_step, false));
}

/* Returns true if the product of states with R is too short for threads, as those of most steps then are. */
static bool has_short_steps(const xir_op *op, bool batch_first) {
    const xir_type *x = xir_value_type(xir_op_input(op, X)), *r = xir_value_type(xir_op_input(op, R));
    if (xir_type_rank(x) != 3 || xir_type_rank(r) != 3) return false;
    const int64_t batch = xir_type_dim(x, !batch_first, false), rows = xir_type_dim(r, 1, false),
                  hidden = xir_type_dim(r, 2, false);
    return batch >= 0 && rows >= 0 && hidden >= 0 &&
           xir_work_times((uint64_t)batch, xir_work_times((uint64_t)rows, (uint64_t)hidden)) < STEPS_A_LOOP;
}

static bool lstm_is_alone(const xir_op *op) {
    return has_short_steps(op, ((const xir_lstm_attrs *)op->attrs)->layout == 1);
}
static bool gru_is_alone(const xir_op *op) {
    return has_short_steps(op, ((const xir_gru_attrs *)op->attrs)->layout == 1);
}
static bool rnn_is_alone(const xir_op *op) {
    return has_short_steps(op, ((const xir_rnn_attrs *)op->attrs)->layout == 1);
}

kernel_table kernels_recurrent = {
    { xir_lstm_class, lstm, lstm_is_alone },
    { xir_gru_class,  gru,  gru_is_alone  },
    { xir_rnn_class,  rnn,  rnn_is_alone  },
    { NULL,           NULL },
};
