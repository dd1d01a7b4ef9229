/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Normalisations: each group of elements is shifted and scaled by its statistics. */
#include <math.h>
#include "lines.h"

/* A call of exp, log or pow takes as long as so many sums. */
enum { STEPS_A_FUNCTION = 4 };

/* Reads a constant attribute, which must have `n` elements; NULL if it is absent. False after a failure. */
static bool constants(xir_kernel *at, const xir_value *value, const char *name, size_t n, const double **out) {
    int64_t count = 0;
    *out = NULL;
    if (!value) return true;
    if (xir_type_elements(xir_value_type(value), &count) || (size_t)count != n) {
        xir_kernel_fail(at, XIR_E_INVALID, name, "there are %lld elements: expected %zu", (long long)count, n);
        return false;
    }
    return (*out = xir_kernel_param_reals(at, value)) != NULL;
}

/* ---- a factor and an addend for each channel --------------------------------------------------------------------- */

typedef struct batch_channels {
    reader        x;
    writer        y;
    const double *factor, *addend;
    size_t        n, inner;         /* channels, and elements in order of each */
} batch_channels;

static void norm_block(size_t from, size_t n, void *user) {
    const batch_channels *c = user;
    double room[BLOCK], out[BLOCK];
    const double *x = read_reals(&c->x, from, n, room);
    for (size_t i = 0, end; i < n; i = end) {
        const size_t k = (from + i) / c->inner % c->n;
        if (c->inner == 1) {                             // channels lie next to each other
            const double *factor = c->factor + k - i, *addend = c->addend + k - i;
            end = n - i < c->n - k ? n : i + c->n - k;
            for (size_t j = i; j < end; j++) out[j] = x[j] * factor[j] + addend[j];
        } else {
            const double factor = c->factor[k], addend = c->addend[k];
            const size_t rest = c->inner - (from + i) % c->inner;
            end = n - i < rest ? n : i + rest;
            for (size_t j = i; j < end; j++) out[j] = x[j] * factor + addend;
        }
    }
    write_reals(&c->y, from, n, out);
}

static xir_status batch_norm(xir_kernel *at, const xir_value *variance, const xir_value *mean) {
    const xir_type *type = xir_kernel_input_type(at, 0);
    const size_t axis = channel_axis(type, "C");
    batch_channels c = { .n = dim_of(type, axis), .inner = elements_after(type, axis) };
    int64_t n;
    if (!reader_open(&c.x, at, 0) || !writer_open(&c.y, at, 0) ||
        !constants(at, variance, "variance", c.n, &c.factor) || !constants(at, mean, "mean", c.n, &c.addend) ||
        xir_type_elements(type, &n)) return XIR_E_MEMORY;
    if (!c.factor || !c.addend) return xir_kernel_fail(at, XIR_E_MISSING, NULL, "the constants are missing");
    return spread_blocks(at, (size_t)n, norm_block, &c);
}

#define BATCH_NORM(id)                                                   \
    static xir_status run_##id(xir_kernel *at) {                         \
        const xir_##id##_attrs *a = xir_kernel_attrs(at);                \
        return batch_norm(at, a->variance, a->mean);                     \
    }
BATCH_NORM (batch_norm1d)
BATCH_NORM (batch_norm2d)
BATCH_NORM (batch_norm3d)

/* ---- mean and variance ------------------------------------------------------------------------------------------ */

/* Sums of a term over each of n rows, in order. Four rows are added at once, because each addition waits for the one
 * before it; the last row stands for those that are missing. */
#define SUMS(id, term)                                                                                               \
    static void id(const double *x, size_t n, size_t size, const double *mean, double *sum) {                        \
        for (size_t i = 0; i < n; i += 4) {                                                                          \
            const double *row[4];                                                                                    \
            double sums[4] = { 0 }, centres[4] = { 0 };                                                              \
            for (size_t k = 0; k < 4; k++) {                                                                         \
                const size_t one = i + k < n ? i + k : n - 1;                                                        \
                row[k] = x + one * size;                                                                             \
                if (mean) centres[k] = mean[one];                                                                    \
            }                                                                                                        \
            for (size_t m = 0; m < size; m++) {                                                                      \
                for (size_t k = 0; k < 4; k++) {                                                                     \
                    const double v = row[k][m], centre = centres[k];                                                 \
                    (void)centre;                                                                                    \
                    sums[k] += term;                                                                                 \
                }                                                                                                    \
            }                                                                                                        \
            for (size_t k = 0; k < 4 && i + k < n; k++) sum[i + k] = sums[k];                                        \
        }                                                                                                            \
    }
SUMS (sum_numbers, v)
SUMS (sum_squares, v * v)
SUMS (sum_distances, (v - centre) * (v - centre))
SUMS (sum_sizes, fabs(v))

/* The mean of each group, and 1 / sqrt(variance + eps). */
static void measure(const double *x, size_t n, size_t size, double eps, double *mean, double *scale) {
    sum_numbers(x, n, size, NULL, mean);
    for (size_t i = 0; i < n; i++) mean[i] /= (double)size;
    sum_distances(x, n, size, mean, scale);
    for (size_t i = 0; i < n; i++) scale[i] = 1 / sqrt(scale[i] / (double)size + eps);
}

/* Factors and addends of the elements of a group: for each its own, or for each channel. */
typedef struct affine {
    double        eps, p;
    const double *factor, *addend;
    size_t        channels, each, inner;   /* of GroupNorm: channels, those of a group, elements of one */
    size_t        stride;                  /* from one channel to the next */
} affine;

/* The constants of a norm: ones and zeros if it has none. */
static bool read_affine(xir_kernel *at, const xir_value *gamma, const xir_value *beta, size_t n, affine *a) {
    if (!constants(at, gamma, "gamma", n, &a->factor) || !constants(at, beta, "beta", n, &a->addend)) return false;
    if (!a->factor) {
        double *ones = kernel_room(at, n + 1, sizeof *ones);
        for (size_t i = 0; ones && i < n; i++) ones[i] = 1;
        a->factor = ones;
    }
    if (!a->addend) a->addend = xir_kernel_alloc(at, n + 1, sizeof *a->addend);
    return a->factor && a->addend;
}

static void norm_groups(const lines *l, double *rows, size_t first, size_t n, void *user) {
    const affine *a = user;
    double mean[MOST_LINES], scale[MOST_LINES];
    measure(rows, n, l->g.size, a->eps, mean, scale);
    for (size_t i = 0; i < n; i++) {
        double *x = rows + i * l->g.size;
        const size_t channel = group_start(&l->g, first + i) / a->stride % a->channels;
        for (size_t k = 0; k < a->each; k++, x += a->inner) {
            const double factor = a->factor[channel + k], addend = a->addend[channel + k];
            for (size_t m = 0; m < a->inner; m++) x[m] = (x[m] - mean[i]) * scale[i] * factor + addend;
        }
    }
}

/* Normalises groups of channels in each sample. Groups of one channel are instances. */
static xir_status group_norm(xir_kernel *at, size_t n_groups, double eps, const xir_value *gamma,
                             const xir_value *beta) {
    const xir_type *type = xir_kernel_input_type(at, 0);
    size_t rank = xir_type_rank(type), c = channel_axis(type, "C"), channels = dim_of(type, c),
           inner = elements_after(type, c);
    int64_t n_at = xir_layout_index(xir_type_layout(type), 'N');
    size_t n = n_at >= 0 && (size_t)n_at < rank ? (size_t)n_at : 0;
    bool *along = xir_kernel_alloc(at, rank + 1, sizeof *along);
    affine a = { .eps = eps, .channels = channels, .stride = inner };
    lines l;
    xir_status status = refuse_padding(at, 0);
    if (status) return status;
    if (!along || !read_affine(at, gamma, beta, channels, &a)) return XIR_E_MEMORY;
    if (n_groups == 0 || channels % n_groups || channels < n_groups) {
        return xir_kernel_fail(at, XIR_E_INVALID, NULL, "there are %zu channels: expected a multiple of %zu groups",
                               channels, n_groups);
    }
    /* Members are the elements of one channel in a sample. A group consists of `each` channels. */
    groups g;
    for (size_t k = 0; k < rank; k++) along[k] = k != n && k != c;
    if (!groups_open(&g, at, type, along)) return XIR_E_MEMORY;
    a.each = channels / n_groups;
    a.inner = g.size;
    size_t *members = kernel_room(at, g.size * a.each + 1, sizeof *members), *starts = kernel_room(at, g.n + 1,
                                                                                                   sizeof *starts);
    if (!members || !starts) return XIR_E_MEMORY;
    l.g = (groups){ .size = g.size * a.each, .members = members, .starts = starts };
    bool in_order = true;
    for (size_t j = 0; j < a.each; j++) {
        for (size_t m = 0; m < g.size; m++) {
            members[j * g.size + m] = j * inner + g.members[m];
            in_order = in_order && members[j * g.size + m] == j * g.size + m;
        }
    }
    for (size_t i = 0; i < g.n; i++) {   // those of the first channel of a group
        if (group_start(&g, i) / inner % channels % a.each == 0) starts[l.g.n++] = group_start(&g, i);
    }
    if (in_order) l.g.members = NULL;
    l.g.line = in_order ? l.g.size : g.line;
    status = lines_open_groups(&l, at);
    return status ? status : lines_each(&l, at, norm_groups, &a);
}

#define INSTANCE_NORM(id)                                                                          \
    static xir_status run_##id(xir_kernel *at) {                                                   \
        const xir_##id##_attrs *a = xir_kernel_attrs(at);                                          \
        const xir_type *type = xir_kernel_input_type(at, 0);                                       \
        return group_norm(at, dim_of(type, channel_axis(type, "C")), a->eps, a->gamma, a->beta);   \
    }
INSTANCE_NORM (instance_norm1d)
INSTANCE_NORM (instance_norm2d)
INSTANCE_NORM (instance_norm3d)

static xir_status run_group_norm(xir_kernel *at) {
    const xir_group_norm_attrs *a = xir_kernel_attrs(at);
    return group_norm(at, (size_t)a->groups, a->eps, a->gamma, a->beta);
}

/* ---- groups along dims ------------------------------------------------------------------------------------------ */

static void layer_norm(const lines *l, double *rows, size_t first, size_t n, void *user) {
    const affine *a = user;
    const size_t size = l->g.size;
    double mean[MOST_LINES], scale[MOST_LINES];
    (void)first;
    measure(rows, n, size, a->eps, mean, scale);
    for (size_t i = 0; i < n; i++) {
        double *x = rows + i * size;
        for (size_t m = 0; m < size; m++) x[m] = (x[m] - mean[i]) * scale[i] * a->factor[m] + a->addend[m];
    }
}

static xir_status run_layer_norm(xir_kernel *at) {
    const xir_layer_norm_attrs *attrs = xir_kernel_attrs(at);
    affine a = { .eps = attrs->eps };
    lines l;
    xir_status status = lines_open(&l, at, attrs->axis.data, attrs->axis.size);
    if (status) return status;
    if (!read_affine(at, attrs->gamma, attrs->beta, l.g.size, &a)) return XIR_E_MEMORY;
    return lines_each(&l, at, layer_norm, &a);
}

static void rms_norm(const lines *l, double *rows, size_t first, size_t n, void *user) {
    const affine *a = user;
    const size_t size = l->g.size;
    double squares[MOST_LINES];
    (void)first;
    sum_squares(rows, n, size, NULL, squares);
    for (size_t i = 0; i < n; i++) {
        double *x = rows + i * size;
        const double root = sqrt(squares[i] / (double)size + a->eps);
        for (size_t m = 0; m < size; m++) x[m] = x[m] / root * a->factor[m];
    }
}

static xir_status run_rms_norm(xir_kernel *at) {
    const xir_rms_norm_attrs *attrs = xir_kernel_attrs(at);
    affine a = { .eps = attrs->eps };
    lines l;
    xir_status status = lines_open(&l, at, attrs->axis.data, attrs->axis.size);
    if (status) return status;
    if (!read_affine(at, attrs->gamma, NULL, l.g.size, &a)) return XIR_E_MEMORY;
    return lines_each(&l, at, rms_norm, &a);
}

static double norm_of(const double *x, size_t size, double p) {
    double sum = p == -INFINITY ? INFINITY : 0;
    for (size_t m = 0; m < size; m++) {
        const double v = fabs(x[m]);
        if (p == 0) sum += v != 0;
        else if (p == INFINITY) sum = v > sum || isnan(v) ? v : sum;
        else if (p == -INFINITY) sum = v < sum || isnan(v) ? v : sum;
        else sum += pow(v, p);
    }
    return p == 0 || isinf(p) ? sum : pow(sum, 1 / p);
}

static void normalize(const lines *l, double *rows, size_t first, size_t n, void *user) {
    const affine *a = user;
    const size_t size = l->g.size;
    double norms[MOST_LINES];
    (void)first;
    if (a->p == 2) sum_squares(rows, n, size, NULL, norms);
    if (a->p == 1) sum_sizes(rows, n, size, NULL, norms);
    for (size_t i = 0; i < n; i++) {
        double *x = rows + i * size;
        double norm = a->p == 2 ? sqrt(norms[i]) : a->p == 1 ? norms[i] : norm_of(x, size, a->p);
        if (norm < a->eps) norm = a->eps;
        for (size_t m = 0; m < size; m++) x[m] /= norm;
    }
}

static xir_status run_normalize(xir_kernel *at) {
    const xir_normalize_attrs *attrs = xir_kernel_attrs(at);
    affine a = { .eps = attrs->eps, .p = attrs->p };
    lines l;
    xir_status status = lines_open(&l, at, attrs->axis.data, attrs->axis.size);
    if (a.p != 1 && a.p != 2) l.steps = STEPS_A_FUNCTION;
    return status ? status : lines_each(&l, at, normalize, &a);
}

/* ---- Softmax ---------------------------------------------------------------------------------------------------- */

/* The greatest element is subtracted from all, so that exp does not overflow. NaN is not the greatest. */
static double greatest(const double *x, size_t size) {
    double most[4] = { -INFINITY, -INFINITY, -INFINITY, -INFINITY };   // four, so that none waits for another
    size_t m = 0;
    for (; m + 4 <= size; m += 4) {
        for (size_t k = 0; k < 4; k++) most[k] = x[m + k] > most[k] ? x[m + k] : most[k];
    }
    for (; m < size; m++) most[0] = x[m] > most[0] ? x[m] : most[0];
    for (size_t k = 1; k < 4; k++) most[0] = most[k] > most[0] ? most[k] : most[0];
    return most[0];
}

static void softmax(const lines *l, double *rows, size_t first, size_t n, void *user) {
    const size_t size = l->g.size;
    (void)first;
    (void)user;
    for (size_t i = 0; i < n; i++) {
        double *x = rows + i * size, sum = 0;
        const double most = greatest(x, size);
        for (size_t m = 0; m < size; m++) sum += x[m] = exp(x[m] - most);
        for (size_t m = 0; m < size; m++) x[m] /= sum;
    }
}

static void log_softmax(const lines *l, double *rows, size_t first, size_t n, void *user) {
    const size_t size = l->g.size;
    (void)first;
    (void)user;
    for (size_t i = 0; i < n; i++) {
        double *x = rows + i * size, sum = 0;
        const double most = greatest(x, size);
        for (size_t m = 0; m < size; m++) sum += exp(x[m] - most);
        sum = log(sum);
        for (size_t m = 0; m < size; m++) x[m] = x[m] - most - sum;
    }
}

static xir_status along_axis(xir_kernel *at, int64_t axis, lines_fn *fn) {
    lines l;
    xir_status status = lines_open(&l, at, &axis, 1);
    l.steps = STEPS_A_FUNCTION;
    return status ? status : lines_each(&l, at, fn, NULL);
}

static xir_status run_softmax(xir_kernel *at) {
    const xir_softmax_attrs *a = xir_kernel_attrs(at);
    return along_axis(at, a->axis, softmax);
}

static xir_status run_log_softmax(xir_kernel *at) {
    const xir_log_softmax_attrs *a = xir_kernel_attrs(at);
    return along_axis(at, a->axis, log_softmax);
}

kernel_table kernels_norm = {
#define ROW(id) { xir_##id##_class, run_##id }
    ROW(batch_norm1d),    ROW(batch_norm2d),    ROW(batch_norm3d), ROW(group_norm),  ROW(instance_norm1d), ROW(instance_norm2d),
    ROW(instance_norm3d), ROW(layer_norm),      ROW(log_softmax),  ROW(normalize),   ROW(rms_norm),        ROW(softmax),
    { NULL, NULL },
};
