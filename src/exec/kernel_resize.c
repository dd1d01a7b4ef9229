/* Resized images, and images sampled at grid positions. An output cell is a weighted sum of input cells along each
 * axis: one cell for nearest, two for linear, four for cubic. */
#include <math.h>
#include "carry.h"
#include "windows.h"

enum { MOST_TAPS = 4 };

/* The input cells of one output cell along one axis; -1 stands for a cell of 0. */
typedef struct taps {
    size_t  n;
    int64_t cell[MOST_TAPS];
    double  weight[MOST_TAPS];
} taps;

/* The weights of the four cells around a position at distance t after the second one: cubic convolution, a = -0.75. */
static void cubic_weights(double t, double weight[MOST_TAPS]) {
    const double a = -0.75;
    for (int i = 0; i < MOST_TAPS; i++) {
        double d = fabs(t + 1 - i);
        if (d <= 1) weight[i] = ((a + 2) * d - (a + 3)) * d * d + 1;
        else        weight[i] = ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
    }
}

typedef enum between { NEAREST = 1, LINEAR = 2, CUBIC = 4 } between;

/* The cells around position x, which may be outside; `cell` is the one that NEAREST uses. */
static taps taps_at(double x, between how, double cell) {
    double low = floor(x), t = x - low;
    taps out = { (size_t)how, { 0 }, { 1 } };
    if (how == NEAREST) out.cell[0] = (int64_t)cell;
    if (how == LINEAR) {
        out.weight[0] = 1 - t;
        out.weight[1] = t;
    }
    if (how == CUBIC) cubic_weights(t, out.weight);
    for (size_t i = 0; how != NEAREST && i < out.n; i++) out.cell[i] = (int64_t)low + (int64_t)i - (how == CUBIC);
    return out;
}

static int64_t limit(int64_t i, int64_t n) { return i < 0 ? 0 : i < n ? i : n - 1; }

/* The weighted sum over the taps of all axes for one channel. */
static double sum_taps(const double *x, const axes *map, const taps *along[SPATIAL]) {
    double sum = 0;
    for (size_t d = 0; d < along[0]->n; d++) {
        for (size_t h = 0; h < along[1]->n; h++) {
            for (size_t w = 0; w < along[2]->n; w++) {
                int64_t z = along[0]->cell[d], y = along[1]->cell[h], c = along[2]->cell[w];
                if (z < 0 || y < 0 || c < 0) continue;
                sum += along[0]->weight[d] * along[1]->weight[h] * along[2]->weight[w] *
                       x[z * map->step[D] + y * map->step[H] + c * map->step[W]];
            }
        }
    }
    return sum;
}

/* ---- resizing --------------------------------------------------------------------------------------------------- */

typedef struct scaling {
    axes        x, y;
    between     how;
    bool        align_corners;
    const taps *along[SPATIAL];   /* a table for each axis, indexed by output cells */
} scaling;

static const taps *scale_axis(xir_kernel *at, const scaling *s, size_t a) {
    const int64_t in = s->x.dim[D + a], out = s->y.dim[D + a];
    taps *table = xir_kernel_alloc(at, (size_t)out + 1, sizeof *table);
    for (int64_t p = 0; p < out && table; p++) {
        double x = ((double)p + 0.5) * (double)in / (double)out - 0.5;
        if (s->align_corners) x = out == 1 ? 0 : (double)p * (double)(in - 1) / (double)(out - 1);
        /* An axis that is missing or keeps its size needs no interpolation. */
        table[p] = in == out ? taps_at((double)p, NEAREST, (double)p) : taps_at(x, s->how, floor(x + 0.5));
        for (size_t i = 0; i < table[p].n; i++) table[p].cell[i] = limit(table[p].cell[i], in);
    }
    return table;
}

/* One pass over the output. If all taps are single cells, elements are copied. */
static xir_status scale(xir_kernel *at, scaling *s) {
    const axes *x = &s->x, *y = &s->y;
    const double *from = NULL;
    double *to = NULL;
    carrier m = { .from = NULL };
    bool moved = s->how == NEAREST;
    for (size_t a = 0; a < SPATIAL; a++) {
        if (!(s->along[a] = scale_axis(at, s, a))) return XIR_E_MEMORY;
    }
    if (moved && !carry_begin(at, &m, 0, 0)) return XIR_E_MEMORY;
    if (!moved && (!(from = xir_kernel_reals(at, 0)) || !(to = xir_kernel_real_out(at, 0)))) return XIR_E_MEMORY;
    if (y->dim[D] == 0 || y->dim[H] == 0 || y->dim[W] == 0) return XIR_OK;
    int64_t p[SPATIAL] = { 0 };
    do {
        const taps *along[SPATIAL] = { &s->along[0][p[0]], &s->along[1][p[1]], &s->along[2][p[2]] };
        int64_t place = 0, cell = 0;
        for (size_t a = 0; a < SPATIAL; a++) {
            place += p[a] * y->step[D + a];
            cell += along[a]->cell[0] * x->step[D + a];
        }
        for (int64_t n = 0; n < y->dim[N]; n++) {
            if (xir_kernel_stops(at, (uint64_t)y->dim[C])) return XIR_E_CANCELLED;
            for (int64_t c = 0; c < y->dim[C]; c++) {
                int64_t out = n * y->step[N] + c * y->step[C] + place, in = n * x->step[N] + c * x->step[C];
                if (moved) carry(&m, out, in + cell, 1);
                else       to[out] = sum_taps(from + in, x, along);
            }
        }
    } while (next_cell(p, y->dim + D));
    return XIR_OK;
}

static xir_status resize(xir_kernel *at) {
    const xir_resize_attrs *a = xir_kernel_attrs(at);
    scaling s = { .how = a->interpolation == XIR_RESIZE_INTER_NEAREST ? NEAREST : LINEAR };
    size_t n = xir_type_rank(xir_kernel_input_type(at, 0)) - 2;
    map_axes(xir_kernel_input_type(at, 0), n, &s.x);
    map_axes(xir_kernel_output_type(at, 0), n, &s.y);
    return scale(at, &s);
}

static xir_status upsample(xir_kernel *at) {
    static const between how[] = {
        [XIR_UPSAMPLE_NEAREST] = NEAREST, [XIR_UPSAMPLE_BILINEAR] = LINEAR, [XIR_UPSAMPLE_BICUBIC] = CUBIC
    };
    const xir_upsample_attrs *a = xir_kernel_attrs(at);
    scaling s = { .how = how[a->interpolation], .align_corners = a->align_corners };
    map_axes(xir_kernel_input_type(at, 0), 2, &s.x);
    map_axes(xir_kernel_output_type(at, 0), 2, &s.y);
    return scale(at, &s);
}

/* ---- grid sampling ---------------------------------------------------------------------------------------------- */

/* Mirrors position x into the n cells: at their borders, or at the outermost centres. */
static double mirrored(double x, int64_t n, bool centres) {
    double low = centres ? 0 : -0.5, span = (double)n - (centres ? 1 : 0);
    if (span <= 0) return 0;
    double turn = fmod(fabs(x - low), 2 * span);
    return low + (turn <= span ? turn : 2 * span - turn);
}

static int64_t padded_cell(double cell, int64_t n, const xir_grid_sample_attrs *a) {
    if (a->padding_mode == XIR_GRID_PADDING_REFLECTION) cell = floor(mirrored(cell, n, a->align_corners) + 0.5);
    if (a->padding_mode == XIR_GRID_PADDING_ZEROS && !(cell >= 0 && cell < (double)n)) return -1;
    return !(cell >= 0) ? 0 : cell < (double)n ? (int64_t)cell : n - 1;   // NaN selects cell 0
}

/* The taps for coordinate g along an axis of n cells. */
static taps grid_taps(double g, int64_t n, const xir_grid_sample_attrs *a) {
    static const between how[] = { [XIR_GRID_NEAREST] = NEAREST, [XIR_GRID_LINEAR] = LINEAR, [XIR_GRID_CUBIC] = CUBIC };
    double x = a->align_corners ? (g + 1) / 2 * (double)(n - 1) : ((g + 1) * (double)n - 1) / 2;
    /* As in PyTorch, positions are clamped, not cells; a cubic curve then takes the cells it needs. */
    if (a->interpolation != XIR_GRID_CUBIC) {
        if (a->padding_mode == XIR_GRID_PADDING_REFLECTION) x = mirrored(x, n, a->align_corners);
        if (a->padding_mode != XIR_GRID_PADDING_ZEROS) x = fmin(fmax(x, 0), (double)(n - 1));
    }
    taps out = taps_at(0, how[a->interpolation], 0);
    double low = a->interpolation == XIR_GRID_NEAREST ? nearbyint(x) : floor(x);
    if (how[a->interpolation] == LINEAR) {
        out.weight[1] = x - low;
        out.weight[0] = 1 - out.weight[1];
    }
    if (how[a->interpolation] == CUBIC) cubic_weights(x - low, out.weight);
    for (size_t i = 0; i < out.n; i++)
        out.cell[i] = padded_cell(low + (double)i - (how[a->interpolation] == CUBIC), n, a);
    return out;
}

/* One channel at one position: the sum over its taps or, if elements are copied, one cell or 0. */
typedef struct sampling {
    axes          x, g, y;
    const double *from, *grid;
    double       *to;
    carrier       m;
    bool          moved;
} sampling;

static void sample(const sampling *s, int64_t out, int64_t in, const taps *along[SPATIAL]) {
    int64_t z = along[0]->cell[0], y = along[1]->cell[0], x = along[2]->cell[0];
    if (!s->moved) s->to[out] = sum_taps(s->from + in, &s->x, along);
    else if (z < 0 || y < 0 || x < 0) carry_zeros(&s->m, out, 1);
    else carry(&s->m, out, in + z * s->x.step[D] + y * s->x.step[H] + x * s->x.step[W], 1);
}

static xir_status grid_sample(xir_kernel *at) {
    const xir_grid_sample_attrs *a = xir_kernel_attrs(at);
    const size_t n = xir_type_rank(xir_kernel_input_type(at, 0)) - 2;
    sampling s = { .moved = a->interpolation == XIR_GRID_NEAREST, .grid = xir_kernel_reals(at, 1) };
    map_axes(xir_kernel_input_type(at, 0), n, &s.x);
    map_axes(xir_kernel_input_type(at, 1), n, &s.g);
    map_axes(xir_kernel_output_type(at, 0), n, &s.y);
    if (!s.grid || (s.moved && !carry_begin_zeros(at, &s.m, 0, 0))) return XIR_E_MEMORY;
    if (!s.moved && (!(s.from = xir_kernel_reals(at, 0)) || !(s.to = xir_kernel_real_out(at, 0)))) return XIR_E_MEMORY;
    const axes *x = &s.x, *g = &s.g, *y = &s.y;
    if (y->dim[D] == 0 || y->dim[H] == 0 || y->dim[W] == 0) return XIR_OK;
    int64_t p[SPATIAL] = { 0 };
    do {
        for (int64_t b = 0; b < y->dim[N]; b++) {
            if (xir_kernel_stops(at, (uint64_t)y->dim[C])) return XIR_E_CANCELLED;
            taps along[SPATIAL] = { { 1, { 0 }, { 1 } }, { 1, { 0 }, { 1 } }, { 1, { 0 }, { 1 } } };
            const taps *all[SPATIAL] = { &along[0], &along[1], &along[2] };
            int64_t out = b * y->step[N], place = b * g->step[N];
            for (size_t k = 0; k < SPATIAL; k++) {
                place += p[k] * g->step[D + k];
                out += p[k] * y->step[D + k];
            }
            for (size_t k = 0; k < n; k++) {   // the first coordinate belongs to W
                along[SPATIAL - 1 - k] = grid_taps(s.grid[place + (int64_t)k * g->step[C]], x->dim[W - k], a);
            }
            for (int64_t c = 0; c < y->dim[C]; c++)
                sample(&s, out + c * y->step[C], b * x->step[N] + c * x->step[C], all);
        }
    } while (next_cell(p, y->dim + D));
    return XIR_OK;
}

kernel_table kernels_resize = {
    { xir_resize_class,      resize      },
    { xir_upsample_class,    upsample    },
    { xir_grid_sample_class, grid_sample },
    { NULL,                  NULL        },
};
