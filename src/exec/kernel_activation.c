/* Activations and other functions of one number. The formulas are those of activation.def and math.def, in forms
 * that are accurate for small and large numbers. NaN gives NaN unless a formula says otherwise. */
#include <math.h>
#include "map.h"
#include "pieces.h"

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

static double relu(double x, double alpha, double max_value, double threshold) {
    if (x >= max_value) return max_value;
    if (x >= threshold) return x;
    return alpha == 0 && !isnan(x) ? 0 : alpha * (x - threshold);   // also for -inf
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
MAP_NUMBERS (relu,         relu(x, a->alpha, a->max_value, a->threshold),  relu_whole(x, a->max_value, a->threshold))
MAP_NUMBERS (round,        nearbyint(x),                                   x)
MAP_NUMBERS (sign,         x > 0 ? 1 : x < 0 ? -1 : 0,                     (x > 0) - (x < 0))

/* One slope for all negative numbers, or one for each channel. */
static xir_status run_prelu(xir_kernel *at) {
    const xir_prelu_attrs *a = xir_kernel_attrs(at);
    const xir_type *type = xir_kernel_input_type(at, 0);
    const double *x = xir_kernel_reals(at, 0), *alpha = xir_kernel_param_reals(at, a->alpha);
    double *y = xir_kernel_real_out(at, 0);
    int64_t n, slopes, c = xir_layout_index(xir_type_layout(type), 'C'), rank = (int64_t)xir_type_rank(type), inner = 1;
    if (!x || !y || !alpha || xir_type_elements(type, &n) || xir_type_elements(xir_value_type(a->alpha), &slopes))
        return XIR_E_MEMORY;
    for (int64_t k = rank - 1; k > (c < 0 ? rank - 1 : c); k--) inner *= xir_type_dim(type, k, false);
    for (int64_t i = 0, end; (end = next_piece(at, i, n)) > i;) {
        for (; i < end; i++) y[i] = x[i] < 0 ? alpha[slopes == 1 ? 0 : i / inner % slopes] * x[i] : x[i];
    }
    return XIR_OK;
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
