/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Activations and other functions of one number. The formulas are those of activation.def and math.def, in forms
 * that are accurate for small and large numbers. NaN gives NaN unless a formula says otherwise. */
#include <math.h>
#include "map.h"
#include "spread.h"

/* minimum(maximum(x, least), most): if the limits contradict each other, `most` wins. */
static double limit(double x, double least, double most) {
    double y = x < least ? least : x;
    return y > most ? most : y;
}

static int64_t cut(double v) {
    return isnan(v) ? 0 : v >= 0x1p63 ? INT64_MAX : v < -0x1p63 ? INT64_MIN : (int64_t)v;
}

static int64_t limit_i64(int64_t x, double least, double most) {
    int64_t low = cut(least), high = cut(most), y = x < low ? low : x;
    return y > high ? high : y;
}

/* log(1 + exp(x)), even if exp(x) overflows. */
static double log_one_exp(double x) { return (x > 0 ? x : 0) + log1p(exp(-fabs(x))); }

/* Everything is computed before it is selected, so that the loop over many numbers has no branches. */
static double relu(double x, double alpha, double max_value, double threshold) {
    const bool is_most = x >= max_value, is_kept = x >= threshold, is_zero = (alpha == 0) & (x == x);   // also for -inf
    double low = alpha * (x - threshold);
    low = is_zero ? 0 : low;
    const double y = is_kept ? x : low;
    return is_most ? max_value : y;
}

static int64_t relu_whole(int64_t x, double max_value, double threshold) {
    return (double)x >= max_value ? cut(max_value) : (double)x >= threshold ? x : 0;
}

#define SQRT_HALF 0.70710678118654752440

/*           class         formula for reals */
MAP_REALS   (acos,         acos(x))
MAP_REALS   (acosh,        acosh(x))
MAP_REALS   (asin,         asin(x))
MAP_REALS   (asinh,        asinh(x))
MAP_REALS   (atan,         atan(x))
MAP_REALS   (atanh,        atanh(x))
MAP_REALS   (cos,          cos(x))
MAP_REALS   (cosh,         cosh(x))
MAP_REALS   (elu,          x > 0 ? x : a->alpha * expm1(x))
MAP_REALS   (erf,          erf(x))
MAP_REALS   (exp,          exp(x))
MAP_REALS   (gelu,         x * (1 + erf(x * SQRT_HALF)) / 2)
MAP_REALS   (hardshrink,   fabs(x) > a->lambda ? x : 0)
MAP_REALS   (hardsigmoid,  limit(a->alpha * x + a->beta, 0, 1))
MAP_REALS   (hardswish,    x * limit(x / 6 + 0.5, 0, 1))
MAP_REALS   (log,          log(x))
MAP_REALS   (log_sigmoid,  -log_one_exp(-x))
MAP_REALS   (mish,         x * tanh(log_one_exp(x)))
MAP_REALS   (reciprocal,   1 / x)
MAP_REALS   (sigmoid,      1 / (1 + exp(-x)))
MAP_REALS   (silu,         x / (1 + exp(-x)))
MAP_REALS   (sin,          sin(x))
MAP_REALS   (sinh,         sinh(x))
MAP_REALS   (softplus,     a->beta * x > a->threshold ? x : log_one_exp(a->beta * x) / a->beta)
MAP_REALS   (softshrink,   x > a->lambda ? x - a->lambda : x < -a->lambda ? x + a->lambda : 0)
MAP_REALS   (softsign,     x / (1 + fabs(x)))
MAP_REALS   (sqrt,         sqrt(x))
MAP_REALS   (tan,          tan(x))
MAP_REALS   (tanh,         tanh(x))
MAP_REALS   (tanhshrink,   x - tanh(x))
/*           class         formula for reals                               formula for integers */
MAP_NUMBERS (abs,          fabs(x),                                        x < 0 ? wrap_sub(0, x) : x)
MAP_NUMBERS (ceil,         ceil(x),                                        x)
MAP_NUMBERS (clamp_scalar, limit(x, a->min, a->max),                       limit_i64(x, a->min, a->max))
MAP_NUMBERS (floor,        floor(x),                                       x)
MAP_NUMBERS (hardtanh,     limit(x, a->min_val, a->max_val),               limit_i64(x, a->min_val, a->max_val))
MAP_NUMBERS (neg,          -x,                                             wrap_sub(0, x))
MAP_BOTH    (relu,         relu(x, a->alpha, a->max_value, a->threshold),  relu_whole(x, a->max_value, a->threshold))
MAP_NUMBERS (round,        nearbyint(x),                                   x)
MAP_NUMBERS (sign,         x > 0 ? 1 : x < 0 ? -1 : 0,                     (x > 0) - (x < 0))

/* ---- ReLU of fp32 that has no slope: the result is the number, a limit or 0, so it needs no double; NaN stays ---- */

typedef struct relu_limits { const float *x; float *y; float max_value, threshold; } relu_limits;

static void relu_block(size_t from, size_t n, void *user) {
    const relu_limits *r = user;
    const float *restrict in = r->x + from, max_value = r->max_value, threshold = r->threshold;
    float *restrict out = r->y + from;
    for (size_t i = 0; i < n; i++) out[i] = in[i] < threshold ? 0 : in[i];
    if (max_value == INFINITY) return;
    for (size_t i = 0; i < n; i++) out[i] = in[i] >= max_value ? max_value : out[i];
}

static bool is_single(double v) { return (double)(float)v == v; }

static xir_status run_relu(xir_kernel *at) {
    const xir_relu_attrs *a = xir_kernel_attrs(at);
    const xir_type *type = xir_kernel_output_type(at, 0);
    reader x;
    writer y;
    int64_t n;
    if (xir_type_elements(type, &n) || a->alpha != 0 || !is_single(a->max_value) || !is_single(a->threshold))
        return map_elements(at, relu_reals, relu_i64s);
    if (!reader_open(&x, at, 0) || !writer_open(&y, at, 0)) return XIR_E_MEMORY;
    relu_limits r = { reader_singles(&x), writer_singles(&y), (float)a->max_value, (float)a->threshold };
    if (!r.x || !r.y) return map_elements(at, relu_reals, relu_i64s);
    return spread_blocks(at, (size_t)n, relu_block, &r);
}

/* ---- PReLU: one slope for all negative numbers, or one for each channel ----------------------------------------- */

typedef struct prelu {
    reader        x;
    writer        y;
    const double *alpha;
    size_t        slopes, inner;   /* inner: elements in order that a slope is for */
} prelu;

static void prelu_block(size_t from, size_t n, void *user) {
    const prelu *p = user;
    double room[BLOCK], out[BLOCK];
    const double *x = read_reals(&p->x, from, n, room);
    for (size_t i = 0; i < n;) {
        const double slope = p->alpha[p->slopes == 1 ? 0 : (from + i) / p->inner % p->slopes];
        size_t end = p->slopes == 1 ? n : i + p->inner - (from + i) % p->inner;
        if (end > n) end = n;
        for (; i < end; i++) out[i] = x[i] < 0 ? slope * x[i] : x[i];
    }
    write_reals(&p->y, from, n, out);
}

static xir_status run_prelu(xir_kernel *at) {
    const xir_prelu_attrs *a = xir_kernel_attrs(at);
    const xir_type *type = xir_kernel_input_type(at, 0);
    prelu p = { .inner = 1 };
    int64_t n, slopes, c = xir_layout_index(xir_type_layout(type), 'C'), rank = (int64_t)xir_type_rank(type);
    if (!reader_open(&p.x, at, 0) || !writer_open(&p.y, at, 0) || !(p.alpha = xir_kernel_param_reals(at, a->alpha)) ||
        xir_type_elements(type, &n) || xir_type_elements(xir_value_type(a->alpha), &slopes)) return XIR_E_MEMORY;
    p.slopes = (size_t)slopes;
    for (int64_t k = rank - 1; k > (c < 0 ? rank - 1 : c); k--) p.inner *= (size_t)xir_type_dim(type, k, false);
    return spread_blocks(at, (size_t)n, prelu_block, &p);
}

kernel_table kernels_activation = {
#define ROW(id) { xir_##id##_class, run_##id }
    ROW(abs),      ROW(acos),       ROW(acosh),       ROW(asin),      ROW(asinh),       ROW(atan),        ROW(atanh),    ROW(ceil),
    ROW(cos),      ROW(cosh),       ROW(elu),         ROW(erf),       ROW(exp),         ROW(floor),       ROW(gelu),     ROW(clamp_scalar),
    ROW(neg),      ROW(hardshrink), ROW(hardsigmoid), ROW(hardswish), ROW(hardtanh),    ROW(log),         ROW(log_sigmoid), ROW(mish),
    ROW(prelu),    ROW(reciprocal), ROW(relu),        ROW(round),     ROW(sigmoid),     ROW(sign),        ROW(silu),     ROW(sin),
    ROW(sinh),     ROW(softplus),   ROW(softshrink),  ROW(softsign),  ROW(sqrt),        ROW(tan),         ROW(tanh),     ROW(tanhshrink),
    { NULL, NULL },
};
