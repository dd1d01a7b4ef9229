/* Pools. A cell outside the input is not an element: it is never the maximum and adds nothing to a mean. A window
 * without elements gives the lowest number, or 0. If an element is NaN, the maximum is NaN, as in PyTorch. */
#include <math.h>
#include "dims.h"
#include "spread.h"
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

/* The divisor for the sum of a window, of which `inside` cells are in the input. */
static int64_t divisor_of(const pool *p, int64_t inside) {
    if (p->divisor) return p->divisor;
    return p->padding_counts ? p->w.cells : inside ? inside : 1;
}

/* ---- reals: strips of windows ------------------------------------------------------------------------------------ */

/* Windows of consecutive output elements are combined side by side, cell by cell: along C if that is the last axis of
 * both maps, else along W. `sofar` has a number for each window of a strip. */
typedef void strip_fn(double *restrict sofar, const double *restrict x, size_t n, size_t step);

static void greatest_strip(double *restrict sofar, const double *restrict x, size_t n, size_t step) {
    if (step == 1) {
        for (size_t i = 0; i < n; i++) sofar[i] = isnan(sofar[i]) || x[i] <= sofar[i] ? sofar[i] : x[i];
    } else {
        for (size_t i = 0; i < n; i++) sofar[i] = isnan(sofar[i]) || x[i * step] <= sofar[i] ? sofar[i] : x[i * step];
    }
}

static void sum_strip(double *restrict sofar, const double *restrict x, size_t n, size_t step) {
    if (step == 1) {
        for (size_t i = 0; i < n; i++) sofar[i] += x[i];
    } else {
        for (size_t i = 0; i < n; i++) sofar[i] += x[i * step];
    }
}

typedef struct strips {
    const pool *p;
    reader      x;
    writer      y;
    strip_fn   *fn;
    double      first;
    bool        mean;
    size_t      along;      /* C or W */
    size_t      length;     /* output elements of a strip                 */
    int64_t    *from, *to;  /* along W, for each cell of a window: the windows that have it inside the map */
} strips;

/* The windows [from, to) of a strip along W whose cell k is inside the map. */
static bool find_insides(xir_kernel *at, strips *s) {
    const window *w = &s->p->w;
    const int64_t size = w->size[W - D], places = s->p->y.dim[W];
    s->from = xir_kernel_alloc(at, (size_t)size + 1, sizeof *s->from);
    s->to = xir_kernel_alloc(at, (size_t)size + 1, sizeof *s->to);
    if (!s->from || !s->to) return false;
    for (int64_t k = 0; k < size; k++) {
        const int64_t *cell = w->cell[W - D] + k;
        int64_t from = 0, to = places;
        while (from < places && cell[from * size] < 0) from++;
        while (to > from && cell[(to - 1) * size] < 0) to--;
        s->from[k] = from;
        s->to[k] = to;
    }
    return true;
}

/* The divisor of window i of a strip, of which `rows` rows of cells are inside the map. */
static double strip_divisor(const strips *s, int64_t i, int64_t rows) {
    int64_t inside = 0;
    for (int64_t k = 0; k < s->p->w.size[W - D]; k++) inside += i >= s->from[k] && i < s->to[k];
    return (double)divisor_of(s->p, inside * rows);
}

/* Combines row `x` of the map along W with the windows of a strip. */
static void combine_row(const strips *s, const double *x, double *sofar) {
    const window *w = &s->p->w;
    const size_t stride = (size_t)w->along[W - D].stride;
    const int64_t size = w->size[W - D];
    for (int64_t k = 0; k < size; k++) {
        const int64_t from = s->from[k], to = s->to[k];
        if (from < to) s->fn(sofar + from, x + w->cell[W - D][from * size + k], (size_t)(to - from), stride);
    }
}

/* A strip along W: place and channel are those of its first window. */
static void strip_along_w(const strips *s, const int64_t place[SPATIAL], int64_t from, int64_t to, double *room) {
    const pool *p = s->p;
    const size_t width = (size_t)p->x.dim[W], n = s->length;
    double *sofar = room, *row = room + n;
    int64_t rows = 0;
    for (size_t i = 0; i < n; i++) sofar[i] = s->first;
    for (int64_t d = 0; d < p->w.size[0]; d++) {
        for (int64_t h = 0; h < p->w.size[1]; h++) {
            const int64_t z = p->w.cell[0][place[0] * p->w.size[0] + d], y = p->w.cell[1][place[1] * p->w.size[1] + h];
            if (z < 0 || y < 0) continue;
            rows++;
            combine_row(s, read_reals(&s->x, (size_t)(from + z * p->x.step[D] + y * p->x.step[H]), width, row), sofar);
        }
    }
    for (size_t i = 0; s->mean && i < n; i++) sofar[i] /= strip_divisor(s, (int64_t)i, rows);
    write_reals(&s->y, (size_t)to, n, sofar);
}

/* A strip along C. */
static void strip_along_c(const strips *s, const int64_t place[SPATIAL], int64_t from, int64_t to, double *room) {
    const pool *p = s->p;
    const size_t n = s->length;
    double *sofar = room, *row = room + n;
    int64_t k[SPATIAL] = { 0 }, inside = 0;
    for (size_t i = 0; i < n; i++) sofar[i] = s->first;
    do {
        const int64_t cell = window_cell(&p->w, &p->x, place, k);
        if (cell < 0) continue;
        s->fn(sofar, read_reals(&s->x, (size_t)(from + cell), n, row), n, 1);
        inside++;
    } while (next_cell(k, p->w.size));
    const double divisor = (double)divisor_of(p, inside);
    for (size_t i = 0; s->mean && i < n; i++) sofar[i] /= divisor;
    write_reals(&s->y, (size_t)to, n, sofar);
}

/* Strips [first, first + n): row-major over N, then C or D, H, and the rest. */
static void compute_strips(size_t first, size_t n, double *room, void *user) {
    const strips *s = user;
    const axes *x = &s->p->x, *y = &s->p->y;
    for (size_t i = first; i < first + n; i++) {
        int64_t rest = (int64_t)i, place[SPATIAL] = { 0 }, c = 0;
        if (s->along == C) place[2] = rest % y->dim[W], rest /= y->dim[W];
        place[1] = rest % y->dim[H], rest /= y->dim[H];
        place[0] = rest % y->dim[D], rest /= y->dim[D];
        if (s->along == W) c = rest % y->dim[C], rest /= y->dim[C];
        const int64_t from = rest * x->step[N] + c * x->step[C];
        int64_t to = rest * y->step[N] + c * y->step[C];
        for (size_t k = 0; k < SPATIAL; k++) to += place[k] * y->step[D + k];
        if (s->along == C) strip_along_c(s, place, from, to, room);
        else               strip_along_w(s, place, from, to, room);
    }
}

static xir_status pool_reals(xir_kernel *at, const pool *p, strip_fn *fn, double first, bool mean) {
    const bool c = p->x.step[C] == 1 && p->y.step[C] == 1;
    strips s = { .p = p, .fn = fn, .first = first, .mean = mean, .along = c ? C : W,
                 .length = (size_t)p->y.dim[c ? C : W] };
    if (!reader_open(&s.x, at, 0) || !writer_open(&s.y, at, 0) || !find_insides(at, &s)) return XIR_E_MEMORY;
    const size_t count = (size_t)(p->y.dim[N] * p->y.dim[D] * p->y.dim[H] * p->y.dim[c ? W : C]);
    const size_t row = (size_t)(c ? p->x.dim[C] : p->x.dim[W]);
    return spread_rows(at, count, 1, s.length * (size_t)p->w.cells, s.length + row, &s.y, compute_strips, &s);
}

/* Whether strips of both maps are consecutive elements: W or C is the last axis. */
static bool has_strips(const pool *p) {
    return (p->x.step[C] == 1 && p->y.step[C] == 1) || (p->x.step[W] == 1 && p->y.step[W] == 1);
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
    if (xir_kernel_is_real(type) && has_strips(&p)) return pool_reals(at, &p, greatest_strip, -INFINITY, false);
    if (xir_kernel_is_real(type)) {
        reals r = { xir_kernel_reals(at, 0), kernel_all_reals(at, 0) };
        if (!r.x || !r.y) return XIR_E_MEMORY;
        each_element(at, &p, greatest_real, &r);
    } else {
        integers r = { xir_kernel_i64s(at, 0), kernel_all_i64s(at, 0), lowest_of(xir_type_element(type)),
                       order_of(type) };
        if (!r.x || !r.y) return XIR_E_MEMORY;
        each_element(at, &p, greatest_integer, &r);
    }
    return XIR_OK;
}

/* ---- mean ------------------------------------------------------------------------------------------------------- */

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
    if (xir_kernel_is_real(type) && has_strips(&p)) return pool_reals(at, &p, sum_strip, 0, true);
    if (xir_kernel_is_real(type)) {
        reals r = { xir_kernel_reals(at, 0), kernel_all_reals(at, 0) };
        if (!r.x || !r.y) return XIR_E_MEMORY;
        each_element(at, &p, mean_of_reals, &r);
    } else {
        integers r = { xir_kernel_i64s(at, 0), kernel_all_i64s(at, 0), 0, order_of(type) };
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
