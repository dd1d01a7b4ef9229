/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Reductions: each group of elements becomes one number. Reals are summed in order, in double; integers wrap. */
#include <math.h>
#include "along.h"
#include "groups.h"
#include "map.h"

/* Combines numbers with what was combined so far: element by element, or along four rows at once, which lie `stride`
 * apart, because an addition waits for the one before it. */
typedef void real_strip(double *restrict sofar, const double *restrict in, size_t n);
typedef void real_rows(double sofar[4], const double *in, size_t stride, size_t n);
typedef void i64_strip(int64_t *restrict sofar, const int64_t *restrict in, size_t n);
typedef void i64_rows(int64_t sofar[4], const int64_t *in, size_t stride, size_t n);

#define FOLD(id, type, formula)                                                                    \
    static type id(type sofar, type x) { return formula; }                                         \
    static void id##_strip(type *restrict sofar, const type *restrict in, size_t n) {              \
        for (size_t i = 0; i < n; i++) sofar[i] = id(sofar[i], in[i]);                             \
    }                                                                                              \
    static void id##_rows(type sofar[4], const type *in, size_t stride, size_t n) {                \
        type a = sofar[0], b = sofar[1], c = sofar[2], d = sofar[3];                               \
        for (size_t i = 0; i < n; i++) {                                                           \
            a = id(a, in[i]);                                                                      \
            b = id(b, in[stride + i]);                                                             \
            c = id(c, in[2 * stride + i]);                                                         \
            d = id(d, in[3 * stride + i]);                                                         \
        }                                                                                          \
        sofar[0] = a, sofar[1] = b, sofar[2] = c, sofar[3] = d;                                    \
    }
FOLD (sum,          double,  sofar + x)
FOLD (product,      double,  sofar * x)
FOLD (greatest,     double,  isnan(sofar) || sofar >= x ? sofar : x)
FOLD (least,        double,  isnan(sofar) || sofar <= x ? sofar : x)
FOLD (sum_i64,      int64_t, wrap_add(sofar, x))
FOLD (product_i64,  int64_t, wrap_mul(sofar, x))
FOLD (greatest_i64, int64_t, sofar >= x ? sofar : x)
FOLD (least_i64,    int64_t, sofar <= x ? sofar : x)
FOLD (greatest_u64, int64_t, (uint64_t)sofar >= (uint64_t)x ? sofar : x)
FOLD (least_u64,    int64_t, (uint64_t)sofar <= (uint64_t)x ? sofar : x)

typedef struct i64_fold { i64_strip *strip; i64_rows *rows; } i64_fold;

/* A reduction: the function that combines elements, and its start value. A reduction for which an element combined with
 * itself gives the same element begins with its first element, or without one with an extreme of the type. */
typedef struct fold {
    real_strip *strip;
    real_rows  *rows;
    i64_fold    of_integers, of_u64s;
    bool        from_first;
    int         first;
    bool        mean;
} fold;

#define I64S(id) { id##_strip, id##_rows }

/*                    reals                         integers             uint64               first initial mean */
static const fold of_max  = { greatest_strip, greatest_rows, I64S(greatest_i64), I64S(greatest_u64), true, -1, false };
static const fold of_min  = { least_strip,    least_rows,    I64S(least_i64),    I64S(least_u64),    true,  1, false };
static const fold of_mean = { sum_strip,      sum_rows,      I64S(sum_i64),      I64S(sum_i64),      false, 0, true  };
static const fold of_sum  = { sum_strip,      sum_rows,      I64S(sum_i64),      I64S(sum_i64),      false, 0, false };
static const fold of_prod = { product_strip,  product_rows,  I64S(product_i64),  I64S(product_i64),  false, 1, false };

/* At once: numbers of a row, groups side by side. */
enum { AT_ONCE = 256 };

typedef struct reduction {
    groups      g;
    reader      x;
    writer      y;
    bool        real, is_u64;
    const fold *f;
    i64_fold    of_i64s;
    number      first;     /* of a reduction that does not start with its first element, or has none */
} reduction;

/* The least or the greatest number of an element type: infinite, if reals are. */
static number extreme(const xir_type *type, bool real, bool greatest) {
    const element_format f = element_format_of(type);
    if (real) return (number){ .real = greatest ? INFINITY : -INFINITY };
    if (f.kind == ELEMENT_SIGNED) {
        const uint64_t most = UINT64_MAX >> (65 - f.bits);
        return (number){ .integer = (int64_t)(greatest ? most : ~most) };
    }
    return (number){ .integer = !greatest ? 0 : f.kind == ELEMENT_BOOL ? 1 : (int64_t)(UINT64_MAX >> (64 - f.bits)) };
}

static number first_of(const reduction *r, const xir_type *type) {
    if (r->f->from_first) return extreme(type, r->real, r->f->first > 0);
    return r->real ? (number){ .real = r->f->first } : (number){ .integer = r->f->first };
}

static void begin(const reduction *r, size_t start, size_t n, number *sofar) {
    if (r->f->from_first && r->g.size) copy_numbers(&r->x, r->real, start + group_member(&r->g, 0), n, sofar);
    else for (size_t i = 0; i < n; i++) sofar[i] = r->first;
}

/* At most four groups whose elements lie next to each other, or in lines. */
static void reduce_rows(const reduction *r, size_t first, size_t n, number *out) {
    const groups *g = &r->g;
    number room[4 * AT_ONCE] = { { 0 } }, sofar[4] = { { 0 } };
    for (size_t k = 0; k < n; k++) begin(r, group_start(g, first + k), 1, sofar + k);
    for (size_t m = 0, some; m < g->size; m += some) {
        some = g->line - m % g->line;
        if (some > AT_ONCE) some = AT_ONCE;
        for (size_t k = 0; k < n; k++)
            copy_numbers(&r->x, r->real, group_start(g, first + k) + group_member(g, m), some, room + k * AT_ONCE);
        if (r->real) r->f->rows(&sofar->real, &room->real, AT_ONCE, some);
        else         r->of_i64s.rows(&sofar->integer, &room->integer, AT_ONCE, some);
    }
    memcpy(out, sofar, n * sizeof *out);
}

/* At most AT_ONCE groups that begin at consecutive elements, side by side. */
static void reduce_strip(const reduction *r, size_t first, size_t n, number *out) {
    const size_t start = group_start(&r->g, first);
    number room[AT_ONCE];
    begin(r, start, n, out);
    for (size_t m = 0; m < r->g.size; m++) {
        const number *x = read_numbers(&r->x, r->real, start + group_member(&r->g, m), n, room);
        if (r->real) r->f->strip(&out->real, &x->real, n);
        else         r->of_i64s.strip(&out->integer, &x->integer, n);
    }
}

static void divide(const reduction *r, number *sum, size_t n) {
    const size_t size = r->g.size;
    for (size_t i = 0; i < n; i++) {
        if (r->real)        sum[i].real /= (double)size;
        else if (r->is_u64) sum[i].integer = (int64_t)((uint64_t)sum[i].integer / size);
        else                sum[i].integer /= (int64_t)size;
    }
}

static void reduce_some(size_t first, size_t n, double *unused, void *user) {
    const reduction *r = user;
    number out[AT_ONCE];
    (void)unused;
    for (size_t i = 0, run; i < n; i += run) {
        run = groups_in_a_row(&r->g, first + i, n - i);
        if (run > 1 && r->g.line == 1) {
            reduce_strip(r, first + i, run, out + i);
        } else {
            run = n - i < 4 ? n - i : 4;
            reduce_rows(r, first + i, run, out + i);
        }
    }
    if (r->f->mean) divide(r, out, n);
    write_numbers(&r->y, r->real, first, n, out);
}

static xir_status reduce(xir_kernel *at, const int64_t *axes, size_t n, const fold *f) {
    const xir_type *type = xir_kernel_input_type(at, 0);
    reduction r = { .real = xir_kernel_is_real(type), .is_u64 = is_u64(type), .f = f };
    groups *g = &r.g;
    xir_status status = refuse_padding(at, 0);
    if (status) return status;
    r.of_i64s = r.is_u64 ? f->of_u64s : f->of_integers;
    r.first = first_of(&r, type);
    const bool *grouped = groups_along(at, type, axes, n);
    if (!grouped || !groups_open_lines(g, at, type, grouped)) return XIR_E_MEMORY;
    if (f->mean && g->size == 0 && !r.real)
        return xir_kernel_fail(at, XIR_E_INVALID, NULL, "the mean of no integers is not defined");
    if (!reader_open(&r.x, at, 0) || !writer_open(&r.y, at, 0)) return XIR_E_MEMORY;
    /* About a block of elements; side by side more, so that what is read in order is long enough. */
    const size_t size = g->size ? g->size : 1, fit = (g->line == 1 ? 4 : 1) * (size_t)BLOCK / size / 4 * 4;
    const size_t few = g->line == 1 ? 32 : 4, at_once = fit < few ? few : fit < AT_ONCE ? fit : AT_ONCE;
    return spread_rows(at, g->n, at_once, g->size + 1, 0, &r.y, reduce_some, &r);
}

/* One dim, or all. */
#define ONE_DIM(id)                                                                                      \
    static xir_status run_##id(xir_kernel *at) {                                                         \
        const xir_##id##_attrs *a = xir_kernel_attrs(at);                                                \
        return reduce(at, a->dim ? &a->dim->value : NULL, a->dim != NULL, &of_##id);                     \
    }
/* A list of dims; an empty one means all. */
#define MANY_DIMS(id)                                                                                    \
    static xir_status run_##id(xir_kernel *at) {                                                         \
        const xir_##id##_attrs *a = xir_kernel_attrs(at);                                                \
        return reduce(at, a->dim.data, a->dim.size, &of_##id);                                           \
    }
ONE_DIM   (max)
ONE_DIM   (min)
MANY_DIMS (mean)
MANY_DIMS (sum)
MANY_DIMS (prod)

/* ---- cumulative sums -------------------------------------------------------------------------------------------- */

typedef struct cumulation {
    along  l;
    writer y;
    bool   exclusive, reverse;
} cumulation;

INLINED number plus(bool real, number a, number b) {
    number sum;
    if (real) sum.real = a.real + b.real;
    else      sum.integer = wrap_add(a.integer, b.integer);
    return sum;
}

/* Elements [0, n) of a part of a line. */
INLINED void sum_part(bool real, const cumulation *c, const number *x, int64_t n, number *sum, number *out) {
    for (int64_t i = 0; i < n; i++) {
        const int64_t k = c->reverse ? n - 1 - i : i;
        const number next = plus(real, *sum, x[k]);
        out[k] = c->exclusive ? *sum : next;
        *sum = next;
    }
}

INLINED void sum_abreast(bool real, const number *restrict x, int64_t n, number *restrict sum, number *before) {
    for (int64_t i = 0; i < n; i++) {
        before[i] = sum[i];
        sum[i] = plus(real, sum[i], x[i]);
    }
}

/* The sum of no numbers. */
static number nothing(bool real) { return real ? (number){ .real = 0 } : (number){ .integer = 0 }; }

static void sum_line(const cumulation *c, int64_t line) {
    const along *l = &c->l;
    const int64_t start = along_start(l, line);
    number room[BLOCK], out[BLOCK], sum = nothing(l->real);
    for (int64_t i = 0, n; i < l->n; i += n) {
        n = l->n - i < BLOCK ? l->n - i : BLOCK;
        const int64_t k = c->reverse ? l->n - i - n : i;
        const number *x = along_line(l, start, k, n, room);
        if (l->real) sum_part(true, c, x, n, &sum, out);
        else         sum_part(false, c, x, n, &sum, out);
        write_numbers(&c->y, l->real, (size_t)(start + k), (size_t)n, out);
    }
}

static void sum_lines(const cumulation *c, int64_t line, int64_t n) {
    const along *l = &c->l;
    const int64_t start = along_start(l, line);
    number room[ABREAST], before[ABREAST], sum[ABREAST];
    for (int64_t i = 0; i < n; i++) sum[i] = nothing(l->real);
    for (int64_t i = 0; i < l->n; i++) {
        const int64_t k = c->reverse ? l->n - 1 - i : i;
        const number *x = along_lines(l, start, k, n, room);
        if (l->real) sum_abreast(true, x, n, sum, before);
        else         sum_abreast(false, x, n, sum, before);
        if (!c->exclusive) memcpy(before, sum, (size_t)n * sizeof *sum);   // what is written may be changed
        write_numbers(&c->y, l->real, (size_t)(start + k * l->after), (size_t)n, before);
    }
}

static void sum_some(size_t first, size_t n, double *unused, void *user) {
    const cumulation *c = user;
    (void)unused;
    for (int64_t i = 0, some; i < (int64_t)n; i += some) {
        some = along_abreast(&c->l, (int64_t)first + i, (int64_t)n - i);
        if (c->l.after == 1) sum_line(c, (int64_t)first + i), some = 1;
        else                 sum_lines(c, (int64_t)first + i, some);
    }
}

static xir_status run_cum_sum(xir_kernel *at) {
    const xir_cum_sum_attrs *a = xir_kernel_attrs(at);
    const size_t axis = axis_of(xir_kernel_input_type(at, 0), a->axis);
    cumulation c = { .exclusive = a->exclusive, .reverse = a->reverse };
    xir_status status = refuse_padding(at, 0);
    if (status) return status;
    if (!along_open(&c.l, at, axis, axis + 1) || !writer_open(&c.y, at, 0)) return XIR_E_MEMORY;
    return spread_rows(at, (size_t)(c.l.before * c.l.after), along_at_once(&c.l), (size_t)c.l.n, 0, &c.y, sum_some, &c);
}

kernel_table kernels_reduce = {
    { xir_cum_sum_class, run_cum_sum },
    { xir_max_class,     run_max     },
    { xir_mean_class,    run_mean    },
    { xir_min_class,     run_min     },
    { xir_prod_class,    run_prod    },
    { xir_sum_class,     run_sum     },
    { NULL,              NULL        },
};
