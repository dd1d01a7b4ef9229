/* Pools. A cell outside the input is not an element: it is never the maximum and adds nothing to a mean. A window
 * without elements gives the lowest number, or 0. If an element is NaN, the maximum is NaN, as in PyTorch. */
#include <math.h>
#include "dims.h"
#include "windows.h"

typedef struct pool {
    size_t  n;          /* number of spatial axes*/
    window  w;
    bool    padding_counts;
    int64_t divisor;    /* 0: counted elements  */
    axes    x, y;
} pool;

/* Reads dims. False on out of memory. */
static bool pool_make(xir_kernel *at, const window_attrs *attrs, pool *p) {
    *p = (pool){ .n = attrs->n, .padding_counts = attrs->padding_counts, .divisor = attrs->divisor };
    window_axes(&p->w, attrs);
    map_axes(xir_kernel_input_type(at, 0), p->n, &p->x);
    map_axes(xir_kernel_output_type(at, 0), p->n, &p->y);
    return window_make(at, &p->w, p->x.dim + D, p->y.dim + D, XIR_PADDING_ZEROS);
}

/* Computes element `to` of the output from the window at a place, over the channel that starts at element `from` of the
 * input. */
typedef void pool_fn(const pool *p, const int64_t place[SPATIAL], int64_t from, int64_t to, void *user);

static void each_element(xir_kernel *kernel, const pool *p, pool_fn *each, void *user) {
    int64_t place[SPATIAL] = { 0 };
    if (p->y.dim[N] == 0 || p->y.dim[C] == 0) return;
    do {
        int64_t at = 0;
        for (size_t a = 0; a < SPATIAL; a++) at += place[a] * p->y.step[D + a];
        for (int64_t n = 0; n < p->y.dim[N]; n++) {
            for (int64_t c = 0; c < p->y.dim[C]; c++) {
                if (xir_kernel_stops(kernel, (uint64_t)p->w.cells)) return;
                each(p, place, n * p->x.step[N] + c * p->x.step[C], at + n * p->y.step[N] + c * p->y.step[C], user);
            }
        }
    } while (next_cell(place, p->y.dim + D));
}

/* ---- maximum ---------------------------------------------------------------------------------------------------- */

typedef struct reals    { const double  *x; double  *y; } reals;
typedef struct integers { const int64_t *x; int64_t *y; int64_t lowest, order; } integers;   /* order: order_of */

static void greatest_real(const pool *p, const int64_t place[SPATIAL], int64_t from, int64_t to, void *user) {
    const reals *r = user;
    int64_t k[SPATIAL] = { 0 };
    double most = -INFINITY;
    do {
        int64_t cell = window_cell(&p->w, &p->x, place, k);
        if (cell >= 0 && !(r->x[from + cell] <= most) && !isnan(most)) most = r->x[from + cell];
    } while (next_cell(k, p->w.size));
    r->y[to] = most;
}

static void greatest_integer(const pool *p, const int64_t place[SPATIAL], int64_t from, int64_t to, void *user) {
    const integers *r = user;
    int64_t k[SPATIAL] = { 0 }, most = r->lowest;
    do {
        int64_t cell = window_cell(&p->w, &p->x, place, k);
        if (cell >= 0 && (r->x[from + cell] ^ r->order) > (most ^ r->order)) most = r->x[from + cell];
    } while (next_cell(k, p->w.size));
    r->y[to] = most;
}

/* The lowest number of an integer type; false for bool. */
static int64_t lowest_of(const xir_type *element) {
    const xir_integer_type *integer = xir_integer_type_of((const xir_object *)element);
    if (!integer || !integer->sign) return 0;
    return integer->ibits >= 64 ? INT64_MIN : -((int64_t)1 << (integer->ibits - 1));
}

static xir_status max_pool(xir_kernel *at, window_attrs attrs) {
    const xir_type *type = xir_kernel_input_type(at, 0);
    pool p;
    if (!pool_make(at, &attrs, &p)) return XIR_E_MEMORY;
    if (xir_kernel_is_real(type)) {
        reals r = { xir_kernel_reals(at, 0), xir_kernel_real_out(at, 0) };
        if (!r.x || !r.y) return XIR_E_MEMORY;
        each_element(at, &p, greatest_real, &r);
    } else {
        integers r = { xir_kernel_i64s(at, 0), xir_kernel_i64_out(at, 0), lowest_of(xir_type_element(type)),
                       order_of(type) };
        if (!r.x || !r.y) return XIR_E_MEMORY;
        each_element(at, &p, greatest_integer, &r);
    }
    return XIR_OK;
}

/* ---- mean ------------------------------------------------------------------------------------------------------- */

/* The divisor for the sum of a window, of which `inside` cells are in the input. */
static int64_t divisor_of(const pool *p, int64_t inside) {
    if (p->divisor) return p->divisor;
    return p->padding_counts ? p->w.cells : inside ? inside : 1;
}

static void mean_of_reals(const pool *p, const int64_t place[SPATIAL], int64_t from, int64_t to, void *user) {
    const reals *r = user;
    int64_t k[SPATIAL] = { 0 }, inside = 0;
    double sum = 0;
    do {
        int64_t cell = window_cell(&p->w, &p->x, place, k);
        if (cell < 0) continue;
        sum += r->x[from + cell];
        inside++;
    } while (next_cell(k, p->w.size));
    r->y[to] = sum / (double)divisor_of(p, inside);
}

/* Rounds towards 0, as C does. */
static void mean_of_integers(const pool *p, const int64_t place[SPATIAL], int64_t from, int64_t to, void *user) {
    const integers *r = user;
    int64_t k[SPATIAL] = { 0 }, inside = 0;
    uint64_t sum = 0;
    do {
        int64_t cell = window_cell(&p->w, &p->x, place, k);
        if (cell < 0) continue;
        sum += (uint64_t)r->x[from + cell];
        inside++;
    } while (next_cell(k, p->w.size));
    int64_t divisor = divisor_of(p, inside);
    r->y[to] = r->order ? (int64_t)(sum / (uint64_t)divisor) : (int64_t)sum / divisor;
}

static xir_status avg_pool(xir_kernel *at, window_attrs attrs) {
    const xir_type *type = xir_kernel_input_type(at, 0);
    pool p;
    if (!pool_make(at, &attrs, &p)) return XIR_E_MEMORY;
    if (xir_kernel_is_real(type)) {
        reals r = { xir_kernel_reals(at, 0), xir_kernel_real_out(at, 0) };
        if (!r.x || !r.y) return XIR_E_MEMORY;
        each_element(at, &p, mean_of_reals, &r);
    } else {
        integers r = { xir_kernel_i64s(at, 0), xir_kernel_i64_out(at, 0), 0, order_of(type) };
        if (!r.x || !r.y) return XIR_E_MEMORY;
        each_element(at, &p, mean_of_integers, &r);
    }
    return XIR_OK;
}

/* ---- kernels ---------------------------------------------------------------------------------------------------- */

static xir_status avg_pool1d(xir_kernel *at) { return avg_pool(at, avg_pool1d_windows(xir_kernel_attrs(at))); }
static xir_status avg_pool2d(xir_kernel *at) { return avg_pool(at, avg_pool2d_windows(xir_kernel_attrs(at))); }
static xir_status avg_pool3d(xir_kernel *at) { return avg_pool(at, avg_pool3d_windows(xir_kernel_attrs(at))); }
static xir_status max_pool1d(xir_kernel *at) { return max_pool(at, max_pool1d_windows(xir_kernel_attrs(at))); }
static xir_status max_pool2d(xir_kernel *at) { return max_pool(at, max_pool2d_windows(xir_kernel_attrs(at))); }
static xir_status max_pool3d(xir_kernel *at) { return max_pool(at, max_pool3d_windows(xir_kernel_attrs(at))); }

kernel_table kernels_pool = {
    { xir_avg_pool1d_class, avg_pool1d },
    { xir_avg_pool2d_class, avg_pool2d },
    { xir_avg_pool3d_class, avg_pool3d },
    { xir_max_pool1d_class, max_pool1d },
    { xir_max_pool2d_class, max_pool2d },
    { xir_max_pool3d_class, max_pool3d },
    { NULL,                 NULL       },
};
