/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Broadcast functions of two numbers. Integers of any size are computed as integers; sums and products wrap. */
#include <math.h>
#include <stdatomic.h>
#include "broadcast.h"
#include "dims.h"
#include "map.h"
#include "remainder.h"
#include "spread.h"

/* ---- pairs ------------------------------------------------------------------------------------------------------ */

/* State of a function of two numbers. */
typedef struct pair {
    const void *attrs;
    bool        is_u64;    /* integers are uint64, in the bits of an int64 */
    bool        by_zero;   /* an integer was divided by 0                  */
} pair;

/* Computes n numbers. Each is one loop that the compiler sees whole. */
typedef void real_pair(const double *restrict x, const double *restrict y, double *restrict out, size_t n, pair *p);
typedef void i64_pair(const int64_t *restrict x, const int64_t *restrict y, int64_t *restrict out, size_t n, pair *p);

typedef struct pairs {
    broadcast   b;
    writer      out;
    real_pair  *of_reals;
    i64_pair   *of_integers;
    pair        p;
    atomic_bool by_zero;
} pairs;

static bool all_integers(const xir_kernel *at, size_t n) {
    bool integers = !xir_kernel_is_real(xir_kernel_output_type(at, 0));
    for (size_t i = 0; i < n; i++) integers = integers && !xir_kernel_is_real(xir_kernel_input_type(at, i));
    return integers;
}

static void pair_reals(size_t from, size_t n, void *user) {
    pairs *all = user;
    double x[BLOCK], y[BLOCK], out[BLOCK];
    pair p = all->p;
    all->of_reals(broadcast_reals(&all->b, 0, from, n, x), broadcast_reals(&all->b, 1, from, n, y), out, n, &p);
    write_reals(&all->out, from, n, out);
}

static void pair_i64s(size_t from, size_t n, void *user) {
    pairs *all = user;
    int64_t x[BLOCK], y[BLOCK], out[BLOCK];
    pair p = all->p;
    all->of_integers(broadcast_i64s(&all->b, 0, from, n, x), broadcast_i64s(&all->b, 1, from, n, y), out, n, &p);
    if (p.by_zero) atomic_store_explicit(&all->by_zero, true, memory_order_relaxed);
    write_i64s(&all->out, from, n, out);
}

static xir_status pair_elements(xir_kernel *at, real_pair *of_reals, i64_pair *of_integers) {
    pairs all = { .of_reals = of_reals, .of_integers = of_integers,
                  .p = { .attrs = xir_kernel_attrs(at), .is_u64 = is_u64(xir_kernel_input_type(at, 0)) } };
    atomic_init(&all.by_zero, false);
    xir_status status = broadcast_open(&all.b, at, 2);
    if (status) return status;
    if (!writer_open(&all.out, at, 0)) return XIR_E_MEMORY;
    status = spread_blocks(at, all.b.count, all_integers(at, 2) ? pair_i64s : pair_reals, &all);
    if (status || !atomic_load_explicit(&all.by_zero, memory_order_relaxed)) return status;
    return xir_kernel_fail(at, XIR_E_INVALID, "inputs/1", "an integer is divided by 0");
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

#define PAIR_LOOP(id, name, number, formula)                                                                    \
    static void id##name(const number *restrict xs, const number *restrict ys, number *restrict out, size_t n,  \
                         pair *p) {                                                                             \
        const xir_##id##_attrs *a = p->attrs;                                                                   \
        (void)a;                                                                                                \
        for (size_t i = 0; i < n; i++) {                                                                        \
            const number x = xs[i], y = ys[i];                                                                  \
            out[i] = (formula);                                                                                 \
        }                                                                                                       \
    }
#define PAIR(id, formula, integers)                                                                             \
    PAIR_LOOP(id, _reals, double, formula)                                                                      \
    PAIR_LOOP(id, _i64s, int64_t, integers)                                                                     \
    static xir_status run_##id(xir_kernel *at) { return pair_elements(at, id##_reals, id##_i64s); }

/*    class     formula for reals                                  formula for integers                     */
PAIR (multiply, x * y,                                             wrap_mul(x, y))
PAIR (div,      divide(x, y, a->rounding_mode),                    quotient(x, y, a->rounding_mode == XIR_ROUNDING_FLOOR, p))
PAIR (maximum,  isnan(x) || x >= y ? x : y,                        is_below(x, y, p) ? y : x)
PAIR (minimum,  isnan(x) || x <= y ? x : y,                        is_below(y, x, p) ? y : x)
PAIR (mod,      a->fmod ? real_mod(x, y) : x - y * floor(x / y),   remainder_i64(x, y, !a->fmod, p))

/* ---- Pow --------------------------------------------------------------------------------------------------------- */

PAIR_LOOP (pow, _i64s, int64_t, power_i64(x, y))

/* Squares of fp32 are exact in double, so a product gives what pow does, at a tenth of the time. */
static bool are_exact_squares(const double *restrict x, const double *restrict y, size_t n) {
    bool all = true;
    for (size_t i = 0; i < n; i++) all = all & (y[i] == 2) & (x[i] == (double)(float)x[i]);
    return all;
}

static void pow_reals(const double *restrict x, const double *restrict y, double *restrict out, size_t n, pair *p) {
    (void)p;
    if (are_exact_squares(x, y, n)) {
        for (size_t i = 0; i < n; i++) out[i] = x[i] * x[i];
    } else {
        for (size_t i = 0; i < n; i++) out[i] = pow(x[i], y[i]);
    }
}

static xir_status run_pow(xir_kernel *at) { return pair_elements(at, pow_reals, pow_i64s); }

/* ---- Add: a factor for each operand, or one for each of its channels --------------------------------------------- */

/* A single factor, or one for each index of the output's channels. */
typedef struct factor {
    double *of, one;
    size_t  n;
} factor;

static bool read_factor(xir_kernel *at, xir_refs scalars, factor *out) {
    out->n = scalars.size ? scalars.size : 1;
    out->of = out->n == 1 ? &out->one : xir_kernel_alloc(at, out->n, sizeof *out->of);
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

typedef struct addition {
    broadcast b;
    writer    out;
    factor    alpha, beta;
    size_t    inner;         /* elements in order that a factor is for */
} addition;

/* The factors of elements [from, from + n) of the output. */
static void factors_at(const factor *f, size_t from, size_t n, size_t inner, double *out) {
    for (size_t i = 0; i < n;) {
        const double one = f->of[f->n == 1 ? 0 : (from + i) / inner % f->n];
        size_t end = f->n == 1 ? n : i + inner - (from + i) % inner;
        if (end > n) end = n;
        for (; i < end; i++) out[i] = one;
    }
}

static void add_reals(size_t from, size_t n, void *user) {
    const addition *all = user;
    double x_room[BLOCK], y_room[BLOCK], out[BLOCK], alpha[BLOCK], beta[BLOCK];
    const double *x = broadcast_reals(&all->b, 0, from, n, x_room), *y = broadcast_reals(&all->b, 1, from, n, y_room);
    if (all->alpha.n == 1 && all->beta.n == 1) {
        const double a = all->alpha.of[0], b = all->beta.of[0];
        for (size_t i = 0; i < n; i++) out[i] = a * x[i] + b * y[i];
    } else {
        factors_at(&all->alpha, from, n, all->inner, alpha);
        factors_at(&all->beta, from, n, all->inner, beta);
        for (size_t i = 0; i < n; i++) out[i] = alpha[i] * x[i] + beta[i] * y[i];
    }
    write_reals(&all->out, from, n, out);
}

static void add_i64s(size_t from, size_t n, void *user) {
    const addition *all = user;
    int64_t x_room[BLOCK], y_room[BLOCK], out[BLOCK];
    double alpha[BLOCK], beta[BLOCK];
    const int64_t *x = broadcast_i64s(&all->b, 0, from, n, x_room), *y = broadcast_i64s(&all->b, 1, from, n, y_room);
    factors_at(&all->alpha, from, n, all->inner, alpha);
    factors_at(&all->beta, from, n, all->inner, beta);
    for (size_t i = 0; i < n; i++)
        out[i] = wrap_add(wrap_mul((int64_t)alpha[i], x[i]), wrap_mul((int64_t)beta[i], y[i]));
    write_i64s(&all->out, from, n, out);
}

static xir_status run_add(xir_kernel *at) {
    const xir_add_attrs *a = xir_kernel_attrs(at);
    const xir_type *type = xir_kernel_output_type(at, 0);
    addition all = { .inner = elements_after(type, channel_axis(type, "COI")) };
    if (!read_factor(at, a->alpha, &all.alpha) || !read_factor(at, a->beta, &all.beta)) return XIR_E_MEMORY;
    xir_status status = broadcast_open(&all.b, at, 2);
    if (status) return status;
    if (!writer_open(&all.out, at, 0)) return XIR_E_MEMORY;
    const bool integers = all_integers(at, 2) && is_whole(&all.alpha) && is_whole(&all.beta);
    return spread_blocks(at, all.b.count, integers ? add_i64s : add_reals, &all);
}

/* ---- DivideScalar ----------------------------------------------------------------------------------------------- */

MAP_LOOP (divide_scalar, _reals, double, divide(x, a->divisor, a->rounding_mode))

static void divide_scalar_i64s(const int64_t *restrict in, int64_t *restrict out, size_t n, const void *attrs) {
    const xir_divide_scalar_attrs *a = attrs;
    pair p = { 0 };
    for (size_t i = 0; i < n; i++)
        out[i] = quotient(in[i], (int64_t)a->divisor, a->rounding_mode == XIR_ROUNDING_FLOOR, &p);
}

static xir_status run_divide_scalar(xir_kernel *at) {
    const xir_divide_scalar_attrs *a = xir_kernel_attrs(at);
    bool whole = a->divisor == trunc(a->divisor) && fabs(a->divisor) < 0x1p63 && a->divisor != 0;
    return map_elements(at, divide_scalar_reals, whole && !is_u64(xir_kernel_input_type(at, 0))
                        ? divide_scalar_i64s : NULL);
}

/* ---- comparisons and logic -------------------------------------------------------------------------------------- */

PAIR (equal,         x == y,            x == y)
PAIR (not_equal,     x != y,            x != y)
PAIR (greater,       x > y,             is_below(y, x, p))
PAIR (greater_equal, x >= y,            !is_below(x, y, p))
PAIR (less,          x < y,             is_below(x, y, p))
PAIR (less_equal,    x <= y,            !is_below(y, x, p))
PAIR (logical_and,   x != 0 && y != 0,  x && y)
PAIR (logical_or,    x != 0 || y != 0,  x || y)
PAIR (logical_xor,   (x != 0) != (y != 0), !x != !y)

MAP_NUMBERS (logical_not, x == 0, x == 0)

/* ---- Where ------------------------------------------------------------------------------------------------------ */

typedef struct choice {
    broadcast b;
    writer    out;
} choice;

static void choose_reals(size_t from, size_t n, void *user) {
    const choice *c = user;
    double x_room[BLOCK], y_room[BLOCK], out[BLOCK];
    int64_t room[BLOCK];
    const int64_t *which = broadcast_i64s(&c->b, 2, from, n, room);
    const double *x = broadcast_reals(&c->b, 0, from, n, x_room), *y = broadcast_reals(&c->b, 1, from, n, y_room);
    for (size_t i = 0; i < n; i++) out[i] = which[i] ? x[i] : y[i];
    write_reals(&c->out, from, n, out);
}

static void choose_i64s(size_t from, size_t n, void *user) {
    const choice *c = user;
    int64_t x_room[BLOCK], y_room[BLOCK], out[BLOCK], room[BLOCK];
    const int64_t *which = broadcast_i64s(&c->b, 2, from, n, room);
    const int64_t *x = broadcast_i64s(&c->b, 0, from, n, x_room), *y = broadcast_i64s(&c->b, 1, from, n, y_room);
    for (size_t i = 0; i < n; i++) out[i] = which[i] ? x[i] : y[i];
    write_i64s(&c->out, from, n, out);
}

static xir_status run_where(xir_kernel *at) {
    choice c;
    xir_status status = broadcast_open(&c.b, at, 3);
    if (status) return status;
    if (!writer_open(&c.out, at, 0)) return XIR_E_MEMORY;
    return spread_blocks(at, c.b.count, all_integers(at, 2) ? choose_i64s : choose_reals, &c);
}

kernel_table kernels_elementwise = {
#define ROW(id) { xir_##id##_class, run_##id }
    ROW(add),           ROW(div),        ROW(divide_scalar), ROW(equal),       ROW(greater),    ROW(greater_equal), ROW(less),
    ROW(less_equal),    ROW(logical_and), ROW(logical_not),  ROW(logical_or),  ROW(logical_xor), ROW(maximum),      ROW(minimum),
    ROW(mod),           ROW(multiply),   ROW(not_equal),     ROW(pow),         ROW(where),
    { NULL, NULL },
};
