/* Reductions: each group of elements becomes one number. Reals are summed in order, in double; integers wrap. */
#include <math.h>
#include "groups.h"
#include "map.h"

typedef double  real_fold(double sofar, double x);
typedef int64_t i64_fold(int64_t sofar, int64_t x);

/* How a reduction combines elements, and its start value. A reduction that starts with its first element has no result
 * for no elements. */
typedef struct fold {
    real_fold *of_reals;
    i64_fold  *of_integers, *of_u64s;
    bool       from_first;
    int        first;
    bool       mean;
} fold;

static xir_status reduce_i64s(xir_kernel *at, const groups *g, const fold *f) {
    const int64_t *x = xir_kernel_i64s(at, 0);
    int64_t *out = xir_kernel_i64_out(at, 0);
    i64_fold *step = is_u64(xir_kernel_input_type(at, 0)) && f->of_u64s ? f->of_u64s : f->of_integers;
    if (!x || !out) return XIR_E_MEMORY;
    if (f->mean && g->size == 0) {
        return xir_kernel_fail(at, XIR_E_INVALID, NULL, "the mean of no integers is not defined");
    }
    for (size_t i = 0; i < g->n && !xir_kernel_stops(at, g->size + 1); i++) {
        int64_t sofar = f->from_first ? x[g->starts[i] + group_member(g, 0)] : f->first;
        for (size_t m = f->from_first; m < g->size; m++) sofar = step(sofar, x[g->starts[i] + group_member(g, m)]);
        out[i] = f->mean ? sofar / (int64_t)g->size : sofar;
    }
    return XIR_OK;
}

static xir_status reduce_reals(xir_kernel *at, const groups *g, const fold *f) {
    const double *x = xir_kernel_reals(at, 0);
    double *out = xir_kernel_real_out(at, 0);
    if (!x || !out) return XIR_E_MEMORY;
    for (size_t i = 0; i < g->n && !xir_kernel_stops(at, g->size + 1); i++) {
        double sofar = f->from_first ? x[g->starts[i] + group_member(g, 0)] : f->first;
        for (size_t m = f->from_first; m < g->size; m++) {
            sofar = f->of_reals(sofar, x[g->starts[i] + group_member(g, m)]);
        }
        out[i] = f->mean ? sofar / (double)g->size : sofar;
    }
    return XIR_OK;
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

static double  add_real(double sofar, double x)        { return sofar + x; }
static double  multiply_real(double sofar, double x)   { return sofar * x; }
static double  greatest(double sofar, double x)        { return isnan(sofar) || sofar >= x ? sofar : x; }
static double  least(double sofar, double x)           { return isnan(sofar) || sofar <= x ? sofar : x; }
static int64_t greatest_i64(int64_t sofar, int64_t x)  { return sofar >= x ? sofar : x; }
static int64_t least_i64(int64_t sofar, int64_t x)     { return sofar <= x ? sofar : x; }
static int64_t greatest_u64(int64_t sofar, int64_t x)  { return (uint64_t)sofar >= (uint64_t)x ? sofar : x; }
static int64_t least_u64(int64_t sofar, int64_t x)     { return (uint64_t)sofar <= (uint64_t)x ? sofar : x; }

/*                    reals          integers      uint64         first     initial     mean   */
static const fold of_max  = { greatest,      greatest_i64, greatest_u64,  true,     0,          false };
static const fold of_min  = { least,         least_i64,    least_u64,     true,     0,          false };
static const fold of_mean = { add_real,      wrap_add,     NULL,          false,    0,          true  };
static const fold of_sum  = { add_real,      wrap_add,     NULL,          false,    0,          false };
static const fold of_prod = { multiply_real, wrap_mul,     NULL,          false,    1,          false };

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

static xir_status run_cum_sum(xir_kernel *at) {
    const xir_cum_sum_attrs *a = xir_kernel_attrs(at);
    const xir_type *type = xir_kernel_input_type(at, 0);
    groups g;
    xir_status status = refuse_padding(at, 0);
    if (status) return status;
    const bool *along = groups_along(at, type, &a->axis, 1);
    if (!along || !groups_open_lines(&g, at, type, along)) return XIR_E_MEMORY;
    bool real = xir_kernel_is_real(type);
    const double *x = real ? xir_kernel_reals(at, 0) : NULL;
    const int64_t *n = real ? NULL : xir_kernel_i64s(at, 0);
    double *y = real ? xir_kernel_real_out(at, 0) : NULL;
    int64_t *m = real ? NULL : xir_kernel_i64_out(at, 0);
    if (real ? !x || !y : !n || !m) return XIR_E_MEMORY;
    for (size_t i = 0; i < g.n && !xir_kernel_stops(at, g.size); i++) {
        double sum = 0;
        int64_t count = 0;
        for (size_t k = 0; k < g.size; k++) {
            size_t o = g.starts[i] + group_member(&g, a->reverse ? g.size - 1 - k : k);
            if (real) {
                y[o] = a->exclusive ? sum : sum + x[o];
                sum += x[o];
            } else {
                m[o] = a->exclusive ? count : wrap_add(count, n[o]);
                count = wrap_add(count, n[o]);
            }
        }
    }
    return XIR_OK;
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
