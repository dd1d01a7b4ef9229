/* Reductions: each group of elements becomes one number. Reals are summed in order, in double; integers wrap. */
#include <math.h>
#include "lines.h"
#include "map.h"

/* Combines numbers with what was combined so far. Reals: element by element, or along four rows at once, which lie
 * `stride` apart, because an addition waits for the one before it. Integers: along one group. */
typedef void    real_strip(double *restrict sofar, const double *restrict in, size_t n);
typedef void    real_rows(double sofar[4], const double *in, size_t stride, size_t n);
typedef int64_t i64_line(int64_t sofar, const int64_t *in, const groups *g);

#define FOLD_REALS(id, formula)                                                                    \
    static double id(double sofar, double x) { return formula; }                                   \
    static void id##_strip(double *restrict sofar, const double *restrict in, size_t n) {          \
        for (size_t i = 0; i < n; i++) sofar[i] = id(sofar[i], in[i]);                             \
    }                                                                                              \
    static void id##_rows(double sofar[4], const double *in, size_t stride, size_t n) {            \
        double a = sofar[0], b = sofar[1], c = sofar[2], d = sofar[3];                             \
        for (size_t i = 0; i < n; i++) {                                                           \
            a = id(a, in[i]);                                                                      \
            b = id(b, in[stride + i]);                                                             \
            c = id(c, in[2 * stride + i]);                                                         \
            d = id(d, in[3 * stride + i]);                                                         \
        }                                                                                          \
        sofar[0] = a, sofar[1] = b, sofar[2] = c, sofar[3] = d;                                    \
    }
#define FOLD_I64S(id, formula)                                                                     \
    static int64_t id(int64_t sofar, const int64_t *in, const groups *g) {                         \
        for (size_t m = 0; m < g->size; m++) {                                                     \
            const int64_t x = in[group_member(g, m)];                                              \
            sofar = formula;                                                                       \
        }                                                                                          \
        return sofar;                                                                              \
    }
FOLD_REALS (sum,          sofar + x)
FOLD_REALS (product,      sofar * x)
FOLD_REALS (greatest,     isnan(sofar) || sofar >= x ? sofar : x)
FOLD_REALS (least,        isnan(sofar) || sofar <= x ? sofar : x)
FOLD_I64S  (sum_i64,      wrap_add(sofar, x))
FOLD_I64S  (product_i64,  wrap_mul(sofar, x))
FOLD_I64S  (greatest_i64, sofar >= x ? sofar : x)
FOLD_I64S  (least_i64,    sofar <= x ? sofar : x)
FOLD_I64S  (greatest_u64, (uint64_t)sofar >= (uint64_t)x ? sofar : x)
FOLD_I64S  (least_u64,    (uint64_t)sofar <= (uint64_t)x ? sofar : x)

/* How a reduction combines elements, and its start value. A reduction that starts with its first element has no result
 * for no elements; an element that is combined with itself gives the same element. */
typedef struct fold {
    real_strip *strip;
    real_rows  *rows;
    i64_line   *of_integers, *of_u64s;
    bool        from_first;
    int         first;
    bool        mean;
} fold;

/*                    reals                           integers      uint64         first   initial  mean */
static const fold of_max  = { greatest_strip, greatest_rows,  greatest_i64, greatest_u64,  true,   0,       false };
static const fold of_min  = { least_strip,    least_rows,     least_i64,    least_u64,     true,   0,       false };
static const fold of_mean = { sum_strip,      sum_rows,       sum_i64,      sum_i64,       false,  0,       true  };
static const fold of_sum  = { sum_strip,      sum_rows,       sum_i64,      sum_i64,       false,  0,       false };
static const fold of_prod = { product_strip,  product_rows,   product_i64,  product_i64,   false,  1,       false };

static xir_status reduce_i64s(xir_kernel *at, const groups *g, const fold *f) {
    const int64_t *x = xir_kernel_i64s(at, 0);
    int64_t *out = kernel_all_i64s(at, 0);
    i64_line *line = is_u64(xir_kernel_input_type(at, 0)) ? f->of_u64s : f->of_integers;
    if (!x || !out) return XIR_E_MEMORY;
    if (f->mean && g->size == 0) {
        return xir_kernel_fail(at, XIR_E_INVALID, NULL, "the mean of no integers is not defined");
    }
    for (size_t i = 0; i < g->n && !xir_kernel_stops(at, g->size + 1); i++) {
        const int64_t all = line(f->from_first ? x[g->starts[i] + group_member(g, 0)] : f->first, x + g->starts[i], g);
        out[i] = f->mean ? all / (int64_t)g->size : all;
    }
    return XIR_OK;
}

/* ---- reals ------------------------------------------------------------------------------------------------------ */

enum { AT_ONCE = 256 };

typedef struct reduction {
    groups      g;
    reader      x;
    writer      y;
    const fold *f;
} reduction;

static void begin(const reduction *r, size_t start, size_t n, double *sofar) {
    for (size_t i = 0; i < n; i++) sofar[i] = r->f->first;
    if (!r->f->from_first) return;
    const double *x = read_reals(&r->x, start + group_member(&r->g, 0), n, sofar);
    if (x != sofar) memcpy(sofar, x, n * sizeof *sofar);
}

/* At most four groups whose elements lie next to each other, or in lines. */
static void reduce_rows(const reduction *r, size_t first, size_t n, double *out) {
    const groups *g = &r->g;
    double room[4 * AT_ONCE] = { 0 }, sofar[4] = { 0 };
    for (size_t k = 0; k < n; k++) begin(r, g->starts[first + k], 1, sofar + k);
    for (size_t m = 0, some; m < g->size; m += some) {
        some = g->line - m % g->line;
        if (some > AT_ONCE) some = AT_ONCE;
        for (size_t k = 0; k < n; k++) {
            double *row = room + k * AT_ONCE;
            const double *x = read_reals(&r->x, g->starts[first + k] + group_member(g, m), some, row);
            if (x != row) memcpy(row, x, some * sizeof *row);
        }
        r->f->rows(sofar, room, AT_ONCE, some);
    }
    memcpy(out, sofar, n * sizeof *out);
}

/* At most AT_ONCE groups that begin at consecutive elements, side by side. */
static void reduce_strip(const reduction *r, size_t first, size_t n, double *out) {
    const size_t start = r->g.starts[first];
    double room[AT_ONCE];
    begin(r, start, n, out);
    for (size_t m = 0; m < r->g.size; m++)
        r->f->strip(out, read_reals(&r->x, start + group_member(&r->g, m), n, room), n);
}

static void reduce_some(size_t first, size_t n, double *unused, void *user) {
    const reduction *r = user;
    double out[AT_ONCE];
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
    for (size_t i = 0; r->f->mean && i < n; i++) out[i] /= (double)r->g.size;
    write_reals(&r->y, first, n, out);
}

static xir_status reduce_reals(xir_kernel *at, const groups *g, const fold *f) {
    reduction r = { .g = *g, .f = f };
    if (!reader_open(&r.x, at, 0) || !writer_open(&r.y, at, 0)) return XIR_E_MEMORY;
    /* About a block of elements; side by side more, so that what is read in order is long enough. */
    const size_t size = g->size ? g->size : 1, fit = (g->line == 1 ? 4 : 1) * (size_t)BLOCK / size / 4 * 4;
    const size_t few = g->line == 1 ? 32 : 4, at_once = fit < few ? few : fit < AT_ONCE ? fit : AT_ONCE;
    return spread_rows(at, g->n, at_once, g->size + 1, 0, &r.y, reduce_some, &r);
}

static xir_status reduce(xir_kernel *at, const int64_t *axes, size_t n, const fold *f) {
    const xir_type *type = xir_kernel_input_type(at, 0);
    groups g;
    xir_status status = refuse_padding(at, 0);
    if (status) return status;
    const bool *along = groups_along(at, type, axes, n);
    if (!along || !groups_open_lines(&g, at, type, along)) return XIR_E_MEMORY;
    if (f->from_first && g.size == 0 && g.n) {
        return xir_kernel_fail(at, XIR_E_INVALID, "inputs/0", "there are no elements along the reduced dims");
    }
    return xir_kernel_is_real(type) ? reduce_reals(at, &g, f) : reduce_i64s(at, &g, f);
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

static void sum_rows_so_far(const lines *l, double *rows, size_t first, size_t n, void *user) {
    const xir_cum_sum_attrs *a = user;
    const size_t size = l->g.size;
    (void)first;
    for (size_t i = 0; i < n; i++) {
        double sum = 0;
        for (size_t k = 0; k < size; k++) {
            double *at = &rows[i * size + (a->reverse ? size - 1 - k : k)];
            const double x = *at;
            *at = a->exclusive ? sum : sum + x;
            sum += x;
        }
    }
}

static xir_status sum_i64s_so_far(xir_kernel *at, const xir_cum_sum_attrs *a) {
    const xir_type *type = xir_kernel_input_type(at, 0);
    groups g;
    xir_status status = refuse_padding(at, 0);
    if (status) return status;
    const bool *along = groups_along(at, type, &a->axis, 1);
    if (!along || !groups_open_lines(&g, at, type, along)) return XIR_E_MEMORY;
    const int64_t *x = xir_kernel_i64s(at, 0);
    int64_t *y = kernel_all_i64s(at, 0);
    if (!x || !y) return XIR_E_MEMORY;
    for (size_t i = 0; i < g.n && !xir_kernel_stops(at, g.size); i++) {
        int64_t sum = 0;
        for (size_t k = 0; k < g.size; k++) {
            const size_t o = g.starts[i] + group_member(&g, a->reverse ? g.size - 1 - k : k);
            y[o] = a->exclusive ? sum : wrap_add(sum, x[o]);
            sum = wrap_add(sum, x[o]);
        }
    }
    return XIR_OK;
}

static xir_status run_cum_sum(xir_kernel *at) {
    const xir_cum_sum_attrs *a = xir_kernel_attrs(at);
    if (!xir_kernel_is_real(xir_kernel_input_type(at, 0))) return sum_i64s_so_far(at, a);
    lines l;
    xir_status status = lines_open(&l, at, &a->axis, 1);
    return status ? status : lines_each(&l, at, sum_rows_so_far, (void *)(uintptr_t)a);
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
