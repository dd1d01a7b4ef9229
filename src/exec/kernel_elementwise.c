/* Broadcast functions of two numbers. Integers of any size are computed as integers; sums and products wrap. */
#include <math.h>
#include "broadcast.h"
#include "dims.h"
#include "map.h"
#include "remainder.h"

/* ---- pairs ------------------------------------------------------------------------------------------------------ */

/* State of a function of two numbers. */
typedef struct pair {
    const void *attrs;
    bool        is_u64;    /* integers are uint64, in the bits of an int64 */
    bool        by_zero;   /* an integer was divided by 0                  */
} pair;
typedef double  real_pair(double x, double y, pair *p);
typedef int64_t i64_pair(int64_t x, int64_t y, pair *p);

static bool all_integers(const xir_kernel *at, size_t n) {
    bool integers = !xir_kernel_is_real(xir_kernel_output_type(at, 0));
    for (size_t i = 0; i < n; i++) integers = integers && !xir_kernel_is_real(xir_kernel_input_type(at, i));
    return integers;
}

static xir_status pair_elements(xir_kernel *at, real_pair *of_reals, i64_pair *of_integers) {
    pair p = { .attrs = xir_kernel_attrs(at), .is_u64 = is_u64(xir_kernel_input_type(at, 0)) };
    broadcast b;
    xir_status status = broadcast_open(&b, at, 2);
    if (status) return status;
    if (all_integers(at, 2)) {
        const int64_t *x = xir_kernel_i64s(at, 0), *y = xir_kernel_i64s(at, 1);
        int64_t *out = xir_kernel_i64_out(at, 0);
        if (!x || !y || !out) return XIR_E_MEMORY;
        while (broadcast_next(&b)) {
            for (size_t i = 0; i < b.row; i++)
                *out++ = of_integers(x[b.at[0] + i * b.step[0]], y[b.at[1] + i * b.step[1]], &p);
        }
        return p.by_zero ? xir_kernel_fail(at, XIR_E_INVALID, "inputs/1", "an integer is divided by 0") : XIR_OK;
    }
    const double *x = xir_kernel_reals(at, 0), *y = xir_kernel_reals(at, 1);
    double *out = xir_kernel_real_out(at, 0);
    if (!x || !y || !out) return XIR_E_MEMORY;
    while (broadcast_next(&b)) {
        for (size_t i = 0; i < b.row; i++)
            *out++ = of_reals(x[b.at[0] + i * b.step[0]], y[b.at[1] + i * b.step[1]], &p);
    }
    return XIR_OK;
}

/* ---- integers --------------------------------------------------------------------------------------------------- */

static bool is_below(int64_t x, int64_t y, const pair *p) { return p->is_u64 ? (uint64_t)x < (uint64_t)y : x < y; }

/* The quotient rounded towards 0, or towards -inf, and the remainder, with the sign of the dividend or the divisor. */
static int64_t quotient(int64_t x, int64_t y, bool down, pair *p) {
    if (y == 0) {
        p->by_zero = true;
        return 0;
    }
    if (p->is_u64) return (int64_t)((uint64_t)x / (uint64_t)y);
    if (y == -1) return wrap_sub(0, x);
    int64_t q = x / y;
    return down && x % y != 0 && (x < 0) != (y < 0) ? q - 1 : q;
}

static int64_t remainder_i64(int64_t x, int64_t y, bool down, pair *p) {
    return wrap_sub(x, wrap_mul(y, quotient(x, y, down, p)));
}

static int64_t power_i64(int64_t x, int64_t n) {
    if (n < 0) return x == 1 ? 1 : x == -1 ? (n % 2 ? -1 : 1) : 0;   // 0 to a negative power gives 0
    int64_t out = 1;
    for (; n; n >>= 1, x = wrap_mul(x, x)) {
        if (n & 1) out = wrap_mul(out, x);
    }
    return out;
}

static double divide(double x, double y, xir_rounding mode) {
    double q = x / y;
    return mode == XIR_ROUNDING_TRUNC ? trunc(q) : mode == XIR_ROUNDING_FLOOR ? floor(q) : q;
}

/* ---- rows ------------------------------------------------------------------------------------------------------- */

#define PAIR(id, formula, integers)                                                                        \
    static double id##_real(double x, double y, pair *p) {                                                 \
        const xir_##id##_attrs *a = p->attrs;                                                              \
        (void)a;                                                                                           \
        return formula;                                                                                    \
    }                                                                                                      \
    static int64_t id##_i64(int64_t x, int64_t y, pair *p) {                                               \
        const xir_##id##_attrs *a = p->attrs;                                                              \
        (void)a;                                                                                           \
        return integers;                                                                                   \
    }                                                                                                      \
    static xir_status run_##id(xir_kernel *at) { return pair_elements(at, id##_real, id##_i64); }

/*    class     formula for reals                                  formula for integers                     */
PAIR (multiply, x * y,                                             wrap_mul(x, y))
PAIR (div,      divide(x, y, a->rounding_mode),                    quotient(x, y, a->rounding_mode == XIR_ROUNDING_FLOOR, p))
PAIR (maximum,  isnan(x) || x >= y ? x : y,                        is_below(x, y, p) ? y : x)
PAIR (minimum,  isnan(x) || x <= y ? x : y,                        is_below(y, x, p) ? y : x)
PAIR (mod,      a->fmod ? real_mod(x, y) : x - y * floor(x / y),   remainder_i64(x, y, !a->fmod, p))
PAIR (pow,      pow(x, y),                                         power_i64(x, y))

/* ---- Add: a factor for each operand, or one for each of its channels --------------------------------------------- */

/* A single factor, or one for each index of the output's channels. */
typedef struct factor {
    double *of;
    size_t  n;
} factor;

static bool read_factor(xir_kernel *at, xir_refs scalars, factor *out) {
    out->n = scalars.size ? scalars.size : 1;
    out->of = xir_kernel_alloc(at, out->n, sizeof *out->of);
    if (!out->of) return false;
    out->of[0] = 1;
    for (size_t i = 0; i < scalars.size; i++) out->of[i] = xir_scalar_as_real((const xir_scalar *)scalars.data[i]);
    return true;
}

static bool is_whole(const factor *f) {
    for (size_t i = 0; i < f->n; i++) {
        if (f->of[i] != trunc(f->of[i]) || fabs(f->of[i]) >= 0x1p53) return false;
    }
    return true;
}

/* The factor for element o of the output. */
static double factor_at(const factor *f, size_t o, size_t inner) {
    return f->n == 1 ? f->of[0] : f->of[o / inner % f->n];
}

static xir_status run_add(xir_kernel *at) {
    const xir_add_attrs *a = xir_kernel_attrs(at);
    const xir_type *type = xir_kernel_output_type(at, 0);
    factor alpha, beta;
    broadcast b;
    if (!read_factor(at, a->alpha, &alpha) || !read_factor(at, a->beta, &beta)) return XIR_E_MEMORY;
    xir_status status = broadcast_open(&b, at, 2);
    if (status) return status;
    size_t inner = elements_after(type, channel_axis(type, "COI")), o = 0;
    if (all_integers(at, 2) && is_whole(&alpha) && is_whole(&beta)) {
        const int64_t *x = xir_kernel_i64s(at, 0), *y = xir_kernel_i64s(at, 1);
        int64_t *out = xir_kernel_i64_out(at, 0);
        if (!x || !y || !out) return XIR_E_MEMORY;
        while (broadcast_next(&b)) {
            for (size_t i = 0; i < b.row; i++, o++) {
                out[o] = wrap_add(wrap_mul((int64_t)factor_at(&alpha, o, inner), x[b.at[0] + i * b.step[0]]),
                                  wrap_mul((int64_t)factor_at(&beta, o, inner), y[b.at[1] + i * b.step[1]]));
            }
        }
        return XIR_OK;
    }
    const double *x = xir_kernel_reals(at, 0), *y = xir_kernel_reals(at, 1);
    double *out = xir_kernel_real_out(at, 0);
    if (!x || !y || !out) return XIR_E_MEMORY;
    while (broadcast_next(&b)) {
        for (size_t i = 0; i < b.row; i++, o++) {
            out[o] = factor_at(&alpha, o, inner) * x[b.at[0] + i * b.step[0]] + factor_at(&beta, o, inner) *
                y[b.at[1] + i * b.step[1]];
        }
    }
    return XIR_OK;
}

/* ---- DivideScalar ----------------------------------------------------------------------------------------------- */

static double divide_scalar_real(double x, const void *attrs) {
    const xir_divide_scalar_attrs *a = attrs;
    return divide(x, a->divisor, a->rounding_mode);
}

static int64_t divide_scalar_i64(int64_t x, const void *attrs) {
    const xir_divide_scalar_attrs *a = attrs;
    pair p = { 0 };
    return quotient(x, (int64_t)a->divisor, a->rounding_mode == XIR_ROUNDING_FLOOR, &p);
}

static xir_status run_divide_scalar(xir_kernel *at) {
    const xir_divide_scalar_attrs *a = xir_kernel_attrs(at);
    bool whole = a->divisor == trunc(a->divisor) && fabs(a->divisor) < 0x1p63 && a->divisor != 0;
    return map_elements(at, divide_scalar_real, whole && !is_u64(xir_kernel_input_type(at, 0))
                        ? divide_scalar_i64 : NULL);
}

/* ---- comparisons and logic -------------------------------------------------------------------------------------- */

/* The same with a bool result. */
#define TEST(id, formula, integers)                                                                        \
    static double id##_real(double x, double y, pair *p) {                                                 \
        (void)p;                                                                                           \
        return formula;                                                                                    \
    }                                                                                                      \
    static int64_t id##_i64(int64_t x, int64_t y, pair *p) {                                               \
        (void)p;                                                                                           \
        return integers;                                                                                   \
    }                                                                                                      \
    static xir_status run_##id(xir_kernel *at) { return pair_elements(at, id##_real, id##_i64); }

TEST (equal,         x == y,            x == y)
TEST (not_equal,     x != y,            x != y)
TEST (greater,       x > y,             is_below(y, x, p))
TEST (greater_equal, x >= y,            !is_below(x, y, p))
TEST (less,          x < y,             is_below(x, y, p))
TEST (less_equal,    x <= y,            !is_below(y, x, p))
TEST (logical_and,   x != 0 && y != 0,  x && y)
TEST (logical_or,    x != 0 || y != 0,  x || y)
TEST (logical_xor,   (x != 0) != (y != 0), !x != !y)

static double  logical_not_real(double x, const void *attrs) { (void)attrs; return x == 0; }
static int64_t logical_not_i64(int64_t x, const void *attrs) { (void)attrs; return x == 0; }
static xir_status run_logical_not(xir_kernel *at) { return map_elements(at, logical_not_real, logical_not_i64); }

static xir_status run_where(xir_kernel *at) {
    broadcast b;
    xir_status status = broadcast_open(&b, at, 3);
    if (status) return status;
    const int64_t *which = xir_kernel_i64s(at, 2);
    if (!which) return XIR_E_MEMORY;
    if (all_integers(at, 2)) {
        const int64_t *x = xir_kernel_i64s(at, 0), *y = xir_kernel_i64s(at, 1);
        int64_t *out = xir_kernel_i64_out(at, 0);
        if (!x || !y || !out) return XIR_E_MEMORY;
        while (broadcast_next(&b)) {
            for (size_t i = 0; i < b.row; i++) {
                *out++ = which[b.at[2] + i * b.step[2]] ? x[b.at[0] + i * b.step[0]] : y[b.at[1] + i * b.step[1]];
            }
        }
        return XIR_OK;
    }
    const double *x = xir_kernel_reals(at, 0), *y = xir_kernel_reals(at, 1);
    double *out = xir_kernel_real_out(at, 0);
    if (!x || !y || !out) return XIR_E_MEMORY;
    while (broadcast_next(&b)) {
        for (size_t i = 0; i < b.row; i++) {
            *out++ = which[b.at[2] + i * b.step[2]] ? x[b.at[0] + i * b.step[0]] : y[b.at[1] + i * b.step[1]];
        }
    }
    return XIR_OK;
}

kernel_table kernels_elementwise = {
#define ROW(id) { xir_##id##_class, run_##id }
    ROW(add),           ROW(div),        ROW(divide_scalar), ROW(equal),       ROW(greater),    ROW(greater_equal), ROW(less),
    ROW(less_equal),    ROW(logical_and), ROW(logical_not),  ROW(logical_or),  ROW(logical_xor), ROW(maximum),      ROW(minimum),
    ROW(mod),           ROW(multiply),   ROW(not_equal),     ROW(pow),         ROW(where),
    { NULL, NULL },
};
