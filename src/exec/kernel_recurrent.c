/* Recurrent networks, step by step. A sequence ends at its length: the outputs after it are 0, and the reverse
 * direction starts at its last element. */
#include <inttypes.h>
#include <math.h>
#include "kernels.h"

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
/* Computes one step of one direction and batch: reads c->sum, the product of x and W plus the first half of the
 * bias, and updates the state. */
typedef void step_fn(const cell *c, size_t direction, double *h, double *state);

struct cell {
    xir_kernel   *at;
    size_t        gates, functions;
    bool          has_c;
    step_fn      *step;
    int64_t       hidden_size;
    xir_direction direction;
    bool          batch_first, flag;      /* `flag`: input_forget of LSTM, linear_before_reset of GRU */
    double        clip;
    xir_texts     activations;
    xir_reals     alphas, betas;

    size_t        hidden, directions, length, batch, inputs, rows;   /* `rows` of W and R: gates * hidden */
    function      f[2 * MOST_FUNCTIONS];
    const double *in[PORTS];              /* NULL if absent                                    */
    double       *sum, *carried, *reset;  /* rows of x W + B, rows of h R + B, the reset state */
};

#define CELL(a, n_gates, n_functions, c, fn, flag_) \
    { .gates = (n_gates), .functions = (n_functions), .has_c = (c), .step = (fn), .hidden_size = (a)->hidden_size, \
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
        f->clip = c->clip;
        f->alpha = shapes[f->shape].has_alpha && alpha < c->alphas.size ? c->alphas.data[alpha++]
            : shapes[f->shape].alpha;
        f->beta = shapes[f->shape].has_beta && beta < c->betas.size ? c->betas.data[beta++] : shapes[f->shape].beta;
    }
}

/* ---- one step --------------------------------------------------------------------------------------------------- */

/* out[i] = bias[i] + row i of `m` times x. If the run is cancelled, the remaining rows are not written. */
static void multiply_rows(const cell *c, const double *m, size_t rows, size_t columns, const double *x,
                          const double *bias, double *out) {
    for (size_t i = 0; i < rows && !xir_kernel_stops(c->at, columns + 1); i++, m += columns) {
        double sum = 0;
        for (size_t k = 0; k < columns; k++) sum += x[k] * m[k];
        out[i] = sum + (bias ? bias[i] : 0);
    }
}

static const double *second_bias(const cell *c, size_t direction) {
    return c->in[B] ? c->in[B] + (2 * direction + 1) * c->rows : NULL;
}

static const double *kernel_of_state(const cell *c, size_t direction) {
    return c->in[R] + direction * c->rows * c->hidden;
}

/* Writes h R plus the second half of the bias to c->carried. */
static void carry_state(const cell *c, size_t direction, const double *h) {
    multiply_rows(c, kernel_of_state(c, direction), c->rows, c->hidden, h, second_bias(c, direction), c->carried);
}

static void lstm_step(const cell *c, size_t direction, double *h, double *state) {
    const function *f = c->f + direction * c->functions, *g = f + 1, *last = f + 2;
    const double *p = c->in[P] ? c->in[P] + direction * 3 * c->hidden : NULL;
    const size_t n = c->hidden;
    carry_state(c, direction, h);
    for (size_t k = 0; k < n; k++) {
        double gate[4];   // i, o, f, c
        for (size_t i = 0; i < 4; i++) gate[i] = c->sum[i * n + k] + c->carried[i * n + k];
        double in = apply(f, gate[0] + (p ? p[k] * state[k] : 0));
        double forget = c->flag ? 1 - in : apply(f, gate[2] + (p ? p[2 * n + k] * state[k] : 0));
        state[k] = forget * state[k] + in * apply(g, gate[3]);
        h[k] = apply(f, gate[1] + (p ? p[n + k] * state[k] : 0)) * apply(last, state[k]);
    }
}

static void gru_step(const cell *c, size_t direction, double *h, double *state) {
    const function *f = c->f + direction * c->functions, *g = f + 1;
    const size_t n = c->hidden;
    double *z = c->sum, *r = c->sum + n, *next = c->sum + 2 * n, *carried = c->carried + 2 * n;
    (void)state;
    carry_state(c, direction, h);
    for (size_t k = 0; k < 2 * n; k++) c->sum[k] = apply(f, c->sum[k] + c->carried[k]);
    if (!c->flag) {
        const double *bias = second_bias(c, direction);
        for (size_t k = 0; k < n; k++) c->reset[k] = r[k] * h[k];
        multiply_rows(c, kernel_of_state(c, direction) + 2 * n * n, n, n, c->reset, bias ? bias + 2 * n
                      : NULL, carried);
    }
    for (size_t k = 0; k < n; k++) {
        double now = apply(g, next[k] + (c->flag ? r[k] * carried[k] : carried[k]));
        h[k] = (1 - z[k]) * now + z[k] * h[k];
    }
}

static void rnn_step(const cell *c, size_t direction, double *h, double *state) {
    (void)state;
    carry_state(c, direction, h);
    for (size_t k = 0; k < c->hidden; k++) h[k] = apply(c->f + direction, c->sum[k] + c->carried[k]);
}

/* ---- the sequence ----------------------------------------------------------------------------------------------- */

/* Reads dims and inputs. False on out of memory. */
static bool read_inputs(xir_kernel *at, cell *c) {
    const xir_type *x = xir_kernel_input_type(at, X);
    c->length = (size_t)xir_type_dim(x, c->batch_first, false);
    c->batch = (size_t)xir_type_dim(x, !c->batch_first, false);
    c->inputs = (size_t)xir_type_dim(x, 2, false);
    c->directions = c->direction == XIR_DIRECTION_BIDIRECTIONAL ? 2 : 1;
    c->hidden = (size_t)c->hidden_size;
    c->rows = c->gates * c->hidden;
    for (size_t i = 0; i < PORTS; i++) {
        bool there = xir_kernel_input_type(at, i) && i != SEQUENCE_LENS && (c->has_c || i < INITIAL_C);
        if (there && !(c->in[i] = xir_kernel_reals(at, i))) return false;
    }
    c->sum = xir_kernel_alloc(at, c->rows, sizeof *c->sum);
    c->carried = xir_kernel_alloc(at, c->rows, sizeof *c->carried);
    c->reset = xir_kernel_alloc(at, c->hidden, sizeof *c->reset);
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

/* Runs one direction of one batch over `length` elements. */
static void run_sequence(const cell *c, size_t direction, size_t b, size_t length, double *y, double *h,
                         double *state) {
    const bool backwards = direction == 1 || c->direction == XIR_DIRECTION_REVERSE;
    const double *bias = c->in[B] ? c->in[B] + 2 * direction * c->rows : NULL;
    for (size_t i = 0; i < length && !xir_kernel_stops(c->at, c->hidden); i++) {
        size_t t = backwards ? length - 1 - i : i;
        const double *x = c->in[X] + (c->batch_first ? b * c->length + t : t * c->batch + b) * c->inputs;
        multiply_rows(c, c->in[W] + direction * c->rows * c->inputs, c->rows, c->inputs, x, bias, c->sum);
        c->step(c, direction, h, state);
        double *out = y + output_at(c, t, direction, b);
        for (size_t k = 0; k < c->hidden; k++) out[k] = h[k];
    }
    for (size_t t = length; t < c->length; t++) {
        double *out = y + output_at(c, t, direction, b);
        for (size_t k = 0; k < c->hidden; k++) out[k] = 0;
    }
}

static xir_status run(xir_kernel *at, cell c) {
    c.at = at;
    if (!read_inputs(at, &c)) return XIR_E_MEMORY;
    read_functions(&c);
    const int64_t *lengths = xir_kernel_input_type(at, SEQUENCE_LENS) ? xir_kernel_i64s(at, SEQUENCE_LENS) : NULL;
    double *y = xir_kernel_real_out(at, 0), *h = xir_kernel_real_out(at, 1);
    double *state = c.has_c ? xir_kernel_real_out(at, 2) : h;
    if (!y || !h || !state || (xir_kernel_input_type(at, SEQUENCE_LENS) && !lengths)) return XIR_E_MEMORY;
    for (size_t d = 0; d < c.directions; d++) {
        for (size_t b = 0; b < c.batch; b++) {
            int64_t length = lengths ? lengths[b] : (int64_t)c.length;
            size_t s = state_at(&c, d, b);
            if (length < 0 || (uint64_t)length > c.length) {
                return xir_kernel_fail(at, XIR_E_BOUNDS, "inputs/4",
                                       "sequence %zu has the length %" PRId64 ": expected 0 to %zu, the length of X",
                                       b, length, c.length);
            }
            for (size_t k = 0; k < c.hidden; k++) {
                h[s + k] = c.in[INITIAL_H] ? c.in[INITIAL_H][s + k] : 0;
                if (c.has_c) state[s + k] = c.in[INITIAL_C] ? c.in[INITIAL_C][s + k] : 0;
            }
            run_sequence(&c, d, b, (size_t)length, y, h + s, state + s);
        }
    }
    return XIR_OK;
}

static xir_status lstm(xir_kernel *at) {
    const xir_lstm_attrs *a = xir_kernel_attrs(at);
    return run(at, (cell)CELL(a, 4, 3, true, lstm_step, a->input_forget));
}
static xir_status gru(xir_kernel *at) {
    const xir_gru_attrs *a = xir_kernel_attrs(at);
    return run(at, (cell)CELL(a, 3, 2, false, gru_step, a->linear_before_reset));
}
static xir_status rnn(xir_kernel *at) {
    const xir_rnn_attrs *a = xir_kernel_attrs(at);
    return run(at, (cell)CELL(a, 1, 1, false, rnn_step, false));
}

kernel_table kernels_recurrent = {
    { xir_lstm_class, lstm },
    { xir_gru_class,  gru  },
    { xir_rnn_class,  rnn  },
    { NULL,           NULL },
};
