/* Convolutions, as one matrix product for each image and group. A row of the left side is a window of the image, tap by
 * tap, channel by channel; the right side is the kernel with a column for each output channel. A transposed convolution
 * multiplies each cell of the image by the whole kernel and adds the result to the window in the output. Integers are
 * computed by the definition.
 *
 * Quantised inputs are multiplied as the numbers that they stand for. A cut_scale, by which hardware converts to the
 * output's scale, therefore has no effect, except for maps of normalised numbers: there it is applied when the
 * result is stored. */
#include "carry.h"
#include "gemm.h"
#include "windows.h"

typedef struct conv {
    size_t      n;          /* number of spatial axes                                                   */
    window      w;          /* slides over the input; transposed: over the output                       */
    int64_t     groups;
    xir_padding mode;
    bool        transposed;
    axes        x, k, y;    /* axes of input, kernel, output; D, H, W of the kernel are its dims 0 to 2 */
    int64_t     in, out;    /* input and output channels of a group                                     */
    int64_t     in_step, out_step, group_step;   /* strides of the kernel                               */
    size_t      pixels;     /* window positions: pixels of the output; transposed: of the input         */
} conv;

/* Reads dims. False on out of memory. */
static bool conv_make(xir_kernel *at, conv *c) {
    static const char *const letters[2][SPATIAL + 1] = {
        { "", "..LIO", ".HWIO", "DHWIO" },
        { "", "..LOI", ".HWOI", "DHWOI" },
    };
    const size_t i = SPATIAL + c->transposed, o = SPATIAL + !c->transposed;
    const axes *over = c->transposed ? &c->y : &c->x, *placed = c->transposed ? &c->x : &c->y;
    map_axes(xir_kernel_input_type(at, 0), c->n, &c->x);
    read_axes(xir_kernel_input_type(at, 1), letters[c->transposed][c->n], &c->k);
    map_axes(xir_kernel_output_type(at, 0), c->n, &c->y);
    c->pixels = 1;
    for (size_t a = 0; a < SPATIAL; a++) {
        c->w.along[a].size = c->k.dim[a];
        c->pixels *= (size_t)placed->dim[D + a];
    }
    c->in = c->k.dim[i] / (c->transposed ? c->groups : 1);
    c->out = c->k.dim[o] / (c->transposed ? 1 : c->groups);
    c->in_step = c->k.step[i];
    c->out_step = c->k.step[o];
    c->group_step = c->transposed ? c->in * c->in_step : c->out * c->out_step;
    return window_make(at, &c->w, over->dim + D, placed->dim + D, c->mode);
}

/* The coordinates of pixel `i` of a map, in row-major order. */
static void pixel_at(const axes *map, size_t i, int64_t p[SPATIAL]) {
    for (size_t a = SPATIAL; a-- > 0; i /= (size_t)map->dim[D + a]) p[a] = (int64_t)(i % (size_t)map->dim[D + a]);
}

static int64_t pixel_offset(const axes *map, const int64_t p[SPATIAL]) {
    return p[0] * map->step[D] + p[1] * map->step[H] + p[2] * map->step[W];
}

static int64_t tap_offset(const conv *c, const int64_t tap[SPATIAL]) {
    return tap[0] * c->k.step[0] + tap[1] * c->k.step[1] + tap[2] * c->k.step[2];
}

/* ---- as products of matrices ------------------------------------------------------------------------------------- */

/* The left side: the channels of one group in one image. */
typedef struct image {
    const conv   *c;
    const double *x;
} image;

static void read_window(const void *left, size_t row, size_t k, size_t n, double *out, size_t step) {
    const image *m = left;
    const conv *c = m->c;
    int64_t p[SPATIAL], tap[SPATIAL], i = (int64_t)k % c->in, rest = (int64_t)k / c->in, channel_step = c->x.step[C];
    pixel_at(&c->y, row, p);
    for (size_t a = SPATIAL; a-- > 0; rest /= c->k.dim[a]) tap[a] = rest % c->k.dim[a];
    while (n) {
        size_t some = (size_t)(c->in - i) < n ? (size_t)(c->in - i) : n;
        int64_t cell = window_cell(&c->w, &c->x, p, tap);
        if (cell < 0) {
            for (size_t t = 0; t < some; t++) out[t * step] = 0;
        } else {
            const double *from = m->x + cell + i * channel_step;
            for (size_t t = 0; t < some; t++) out[t * step] = from[(int64_t)t * channel_step];
        }
        out += some * step;
        n -= some;
        i = 0;
        next_cell(tap, c->w.size);
    }
}

static void read_pixel(const void *left, size_t row, size_t k, size_t n, double *out, size_t step) {
    const image *m = left;
    int64_t p[SPATIAL], channel_step = m->c->x.step[C];
    pixel_at(&m->c->x, row, p);
    const double *from = m->x + pixel_offset(&m->c->x, p) + (int64_t)k * channel_step;
    for (size_t t = 0; t < n; t++) out[t * step] = from[(int64_t)t * channel_step];
}

/* Copies the right side of a group: a row for each tap and input channel, a column for each output channel.
 * Transposed: a row for each input channel, a column for each tap and output channel. */
static void copy_kernel(const conv *c, const double *k, double *out) {
    int64_t tap[SPATIAL] = { 0 }, t = 0;
    do {
        const double *from = k + tap_offset(c, tap);
        for (int64_t i = 0; i < c->in; i++) {
            double *to = out + (c->transposed ? (i * c->w.cells + t) : (t * c->in + i)) * c->out;
            for (int64_t o = 0; o < c->out; o++) to[o] = from[i * c->in_step + o * c->out_step];
        }
        t++;
    } while (next_cell(tap, c->w.size));
}

/* Adds a row of the product to the output; `y` points to the channels of the group in the image. */
static void add_window(const conv *c, const double *row, size_t pixel, double *y) {
    int64_t p[SPATIAL], tap[SPATIAL] = { 0 }, step = c->y.step[C];
    pixel_at(c->transposed ? &c->x : &c->y, pixel, p);
    if (!c->transposed) {
        double *to = y + pixel_offset(&c->y, p);
        for (int64_t o = 0; o < c->out; o++) to[o * step] += row[o];
        return;
    }
    do {
        int64_t cell = window_cell(&c->w, &c->y, p, tap);
        for (int64_t o = 0; o < c->out && cell >= 0; o++) y[cell + o * step] += row[o];
        row += c->out;
    } while (next_cell(tap, c->w.size));
}

static xir_status multiply(xir_kernel *at, const conv *c, const double *x, const double *k, double *y) {
    size_t in = (size_t)c->in, out = (size_t)c->out, taps = (size_t)c->w.cells;
    size_t depth = c->transposed ? in : in * taps, columns = c->transposed ? out * taps : out;
    gemm g;
    double *kernel = xir_kernel_alloc(at, depth * columns + 1, sizeof *kernel);
    if (!kernel || !gemm_make(at, &g, depth, columns)) return XIR_E_MEMORY;
    for (int64_t group = 0; group < c->groups; group++) {
        copy_kernel(c, k + group * c->group_step, kernel);
        gemm_right(&g, kernel, columns, 1);
        for (int64_t n = 0; n < c->y.dim[N]; n++) {
            image m = { c, x + n * c->x.step[N] + group * c->in * c->x.step[C] };
            double *to = y + n * c->y.step[N] + group * c->out * c->y.step[C];
            for (size_t row = 0; row < c->pixels; row += GEMM_ROWS) {
                size_t rows = c->pixels - row < GEMM_ROWS ? c->pixels - row : GEMM_ROWS;
                if (!gemm_run(&g, c->transposed ? read_pixel : read_window, &m, row, rows)) return XIR_E_CANCELLED;
                for (size_t i = 0; i < rows; i++) add_window(c, g.out + i * g.wide, row + i, to);
            }
        }
    }
    return XIR_OK;
}

/* ---- by definition ---------------------------------------------------------------------------------------------- */

/* What one tap of the input adds to output channel o of a group. */
static uint64_t sum_channels(const conv *c, const int64_t *x, const int64_t *k) {
    uint64_t sum = 0;
    for (int64_t i = 0; i < c->in; i++) sum += (uint64_t)x[i * c->x.step[C]] * (uint64_t)k[i * c->in_step];
    return sum;
}

/* Integers wrap. False if the run is cancelled. */
static bool sum_integers(xir_kernel *at, const conv *c, const int64_t *x, const int64_t *k, int64_t *y) {
    const axes *over = c->transposed ? &c->y : &c->x, *placed = c->transposed ? &c->x : &c->y;
    for (size_t pixel = 0; pixel < c->pixels; pixel++) {
        int64_t p[SPATIAL], tap[SPATIAL] = { 0 };
        pixel_at(placed, pixel, p);
        do {
            int64_t cell = window_cell(&c->w, over, p, tap), place = pixel_offset(placed, p);
            if (xir_kernel_stops(at, (uint64_t)(c->in * c->y.dim[C]))) return false;
            if (cell < 0) continue;
            const int64_t *from = x + (c->transposed ? place : cell), *w = k + tap_offset(c, tap);
            int64_t *to = y + (c->transposed ? cell : place);
            for (int64_t o = 0; o < c->y.dim[C]; o++) {
                int64_t group = o / c->out, *sum = &to[o * c->y.step[C]];
                *sum = (int64_t)((uint64_t)*sum + sum_channels(c, from + group * c->in * c->x.step[C],
                                                               w + group * c->group_step + o % c->out * c->out_step));
            }
        } while (next_cell(tap, c->w.size));
    }
    return true;
}

/* ---- kernels ---------------------------------------------------------------------------------------------------- */

static xir_status run(xir_kernel *at, window_attrs attrs) {
    conv c = { .n = attrs.n, .groups = attrs.groups, .mode = attrs.mode, .transposed = attrs.transposed };
    window_axes(&c.w, &attrs);
    if (!conv_make(at, &c)) return XIR_E_MEMORY;
    const bool has_bias = xir_kernel_input_type(at, 2) != NULL;
    const int64_t elements = c.y.dim[N] * c.y.dim[D] * c.y.dim[H] * c.y.dim[W] * c.y.dim[C];
    if (xir_kernel_is_real(xir_kernel_input_type(at, 0)) || xir_kernel_is_real(xir_kernel_input_type(at, 1))) {
        const double *x = xir_kernel_reals(at, 0), *k = xir_kernel_reals(at, 1);
        const double *bias = has_bias ? xir_kernel_reals(at, 2) : x;
        double *y = xir_kernel_real_out(at, 0);
        if (!x || !k || !bias || !y) return XIR_E_MEMORY;
        for (int64_t i = 0; i < elements; i++) y[i] = has_bias ? bias[i / c.y.step[C] % c.y.dim[C]] : 0;
        return multiply(at, &c, x, k, y);
    }
    const int64_t *x = xir_kernel_i64s(at, 0), *k = xir_kernel_i64s(at, 1),
                   *bias = has_bias ? xir_kernel_i64s(at, 2) : x;
    int64_t *y = xir_kernel_i64_out(at, 0);
    if (!x || !k || !bias || !y) return XIR_E_MEMORY;
    for (int64_t i = 0; i < elements; i++) y[i] = has_bias ? bias[i / c.y.step[C] % c.y.dim[C]] : 0;
    for (int64_t n = 0; n < c.y.dim[N]; n++) {
        if (!sum_integers(at, &c, x + n * c.x.step[N], k, y + n * c.y.step[N])) return XIR_E_CANCELLED;
    }
    return XIR_OK;
}

static xir_status conv1d(xir_kernel *at) { return run(at, conv1d_windows(xir_kernel_attrs(at))); }
static xir_status conv2d(xir_kernel *at) { return run(at, conv2d_windows(xir_kernel_attrs(at))); }
static xir_status conv3d(xir_kernel *at) { return run(at, conv3d_windows(xir_kernel_attrs(at))); }
static xir_status conv_transpose1d(xir_kernel *at) { return run(at, conv_transpose1d_windows(xir_kernel_attrs(at))); }
static xir_status conv_transpose2d(xir_kernel *at) { return run(at, conv_transpose2d_windows(xir_kernel_attrs(at))); }
static xir_status conv_transpose3d(xir_kernel *at) { return run(at, conv_transpose3d_windows(xir_kernel_attrs(at))); }

/* ---- Unfold ----------------------------------------------------------------------------------------------------- */

/* The output has a row (L) for each window position and a cell (C) for each channel and tap. */
static xir_status unfold(xir_kernel *at) {
    const window_attrs attrs = unfold_windows(xir_kernel_attrs(at));
    window w;
    window_axes(&w, &attrs);
    axes x, y;
    map_axes(xir_kernel_input_type(at, 0), 2, &x);
    map_axes(xir_kernel_output_type(at, 0), 1, &y);
    const int64_t places[SPATIAL] = { 1, window_places(&w.along[1], x.dim[H]), window_places(&w.along[2], x.dim[W]) };
    if (!window_make(at, &w, x.dim + D, places, XIR_PADDING_ZEROS)) return XIR_E_MEMORY;
    carrier m;
    if (!carry_begin_zeros(at, &m, 0, 0)) return XIR_E_MEMORY;
    carry_zeros(&m, 0, y.dim[N] * y.dim[W] * y.dim[C]);
    for (int64_t n = 0; n < x.dim[N]; n++) {
        int64_t p[SPATIAL] = { 0 }, place = 0;
        do {
            int64_t tap[SPATIAL] = { 0 }, t = 0;
            do {
                int64_t cell = window_cell(&w, &x, p, tap);
                if (xir_kernel_stops(at, (uint64_t)x.dim[C])) return XIR_E_CANCELLED;
                for (int64_t c = 0; c < x.dim[C] && cell >= 0; c++) {
                    carry(&m, n * y.step[N] + place * y.step[W] + (c * w.cells + t) * y.step[C],
                          n * x.step[N] + cell + c * x.step[C], 1);
                }
                t++;
            } while (next_cell(tap, w.size));
            place++;
        } while (next_cell(p, places));
    }
    return XIR_OK;
}

kernel_table kernels_conv = {
    { xir_conv1d_class,           conv1d           },
    { xir_conv2d_class,           conv2d           },
    { xir_conv3d_class,           conv3d           },
    { xir_conv_transpose1d_class, conv_transpose1d },
    { xir_conv_transpose2d_class, conv_transpose2d },
    { xir_conv_transpose3d_class, conv_transpose3d },
    { xir_unfold_class,           unfold           },
    { NULL,                       NULL             },
};
