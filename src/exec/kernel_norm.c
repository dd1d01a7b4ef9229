/* Normalisations: each group of elements is shifted and scaled by its statistics. */
#include <math.h>
#include "groups.h"

/* Reads a constant attribute, which must have `n` elements; NULL if it is absent. False after a failure. */
static bool constants(xir_kernel *at, const xir_value *params, const char *name, size_t n, const double **out) {
    int64_t count = 0;
    *out = NULL;
    if (!params) return true;
    if (xir_type_elements(xir_value_type(params), &count) || (size_t)count != n) {
        xir_kernel_fail(at, XIR_E_INVALID, name, "there are %lld elements: expected %zu", (long long)count, n);
        return false;
    }
    return (*out = xir_kernel_param_reals(at, params)) != NULL;
}

/* ---- a factor and an addend for each channel --------------------------------------------------------------------- */

static xir_status batch_norm(xir_kernel *at, const xir_value *variance, const xir_value *mean) {
    const xir_type *type = xir_kernel_input_type(at, 0);
    size_t c = channel_axis(type, "C"), channels = dim_of(type, c), inner = elements_after(type, c);
    const double *x = xir_kernel_reals(at, 0), *factor, *addend;
    double *y = xir_kernel_real_out(at, 0);
    int64_t n;
    if (!x || !y || !constants(at, variance, "variance", channels, &factor) ||
        !constants(at, mean, "mean", channels, &addend) || xir_type_elements(type, &n)) return XIR_E_MEMORY;
    if (!factor || !addend) return xir_kernel_fail(at, XIR_E_MISSING, NULL, "the constants are missing");
    for (size_t i = 0, k = 0; i < (size_t)n && !xir_kernel_stops(at, inner); k = k + 1 < channels ? k + 1 : 0) {
        for (size_t end = i + inner; i < end; i++) y[i] = x[i] * factor[k] + addend[k];
    }
    return XIR_OK;
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

/* The mean of a group, and 1 / sqrt(variance + eps). */
static void measure(const double *x, const groups *g, size_t start, double eps, double *mean, double *scale) {
    double sum = 0, squares = 0, n = (double)g->size;
    for (size_t m = 0; m < g->size; m++) sum += x[start + g->members[m]];
    *mean = sum / n;
    for (size_t m = 0; m < g->size; m++) {
        double d = x[start + g->members[m]] - *mean;
        squares += d * d;
    }
    *scale = 1 / sqrt(squares / n + eps);
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
    const double *x = xir_kernel_reals(at, 0), *factor, *addend;
    double *y = xir_kernel_real_out(at, 0);
    xir_status status = refuse_padding(at, 0);
    if (status) return status;
    if (!along || !x || !y || !constants(at, gamma, "gamma", channels, &factor) ||
        !constants(at, beta, "beta", channels, &addend)) return XIR_E_MEMORY;
    if (n_groups == 0 || channels % n_groups || channels < n_groups) {
        return xir_kernel_fail(at, XIR_E_INVALID, NULL, "there are %zu channels: expected a multiple of %zu groups",
                               channels, n_groups);
    }
    /* Members are the elements of one channel in a sample. A group consists of `each` channels. */
    groups g, of_channels;
    for (size_t k = 0; k < rank; k++) along[k] = k != n && k != c;
    if (!groups_open(&g, at, type, along)) return XIR_E_MEMORY;
    size_t each = channels / n_groups;
    of_channels = (groups){ .size = g.size * each, .members = xir_kernel_alloc(at, g.size * each + 1, sizeof(size_t)) };
    if (!of_channels.members) return XIR_E_MEMORY;
    for (size_t j = 0; j < each; j++) {
        for (size_t m = 0; m < g.size; m++) of_channels.members[j * g.size + m] = j * inner + g.members[m];
    }
    for (size_t i = 0; i < g.n; i++) {
        size_t start = g.starts[i], channel = start / inner % channels;
        if (channel % each) continue;   // not the first channel of a group
        if (xir_kernel_stops(at, of_channels.size)) return XIR_E_CANCELLED;
        double mean, scale;
        measure(x, &of_channels, start, eps, &mean, &scale);
        for (size_t m = 0; m < of_channels.size; m++) {
            size_t o = start + of_channels.members[m], k = o / inner % channels;
            y[o] = (x[o] - mean) * scale * (factor ? factor[k] : 1) + (addend ? addend[k] : 0);
        }
    }
    return XIR_OK;
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

/* Opens groups along these axes of input 0, with the numbers of input 0 and output 0. */
static xir_status open_along(xir_kernel *at, const int64_t *axes, size_t n, groups *g, const double **x, double **y) {
    xir_status status = refuse_padding(at, 0);
    if (status) return status;
    const xir_type *type = xir_kernel_input_type(at, 0);
    const bool *along = groups_along(at, type, axes, n);
    if (!along || !groups_open(g, at, type, along)) return XIR_E_MEMORY;
    *x = xir_kernel_reals(at, 0);
    *y = xir_kernel_real_out(at, 0);
    return *x && *y ? XIR_OK : XIR_E_MEMORY;
}

static xir_status run_layer_norm(xir_kernel *at) {
    const xir_layer_norm_attrs *a = xir_kernel_attrs(at);
    const double *x, *gamma, *beta;
    double *y;
    groups g;
    xir_status status = open_along(at, a->axis.data, a->axis.size, &g, &x, &y);
    if (status) return status;
    if (!constants(at, a->gamma, "gamma", g.size, &gamma) || !constants(at, a->beta, "beta", g.size, &beta))
        return XIR_E_MEMORY;
    for (size_t i = 0; i < g.n && !xir_kernel_stops(at, g.size); i++) {
        double mean, scale;
        measure(x, &g, g.starts[i], a->eps, &mean, &scale);
        for (size_t m = 0; m < g.size; m++) {
            size_t o = g.starts[i] + g.members[m];
            y[o] = (x[o] - mean) * scale * (gamma ? gamma[m] : 1) + (beta ? beta[m] : 0);
        }
    }
    return XIR_OK;
}

static xir_status run_rms_norm(xir_kernel *at) {
    const xir_rms_norm_attrs *a = xir_kernel_attrs(at);
    const double *x, *gamma;
    double *y;
    groups g;
    xir_status status = open_along(at, a->axis.data, a->axis.size, &g, &x, &y);
    if (status) return status;
    if (!constants(at, a->gamma, "gamma", g.size, &gamma)) return XIR_E_MEMORY;
    for (size_t i = 0; i < g.n && !xir_kernel_stops(at, g.size); i++) {
        double squares = 0;
        for (size_t m = 0; m < g.size; m++) squares += x[g.starts[i] + g.members[m]] * x[g.starts[i] + g.members[m]];
        double root = sqrt(squares / (double)g.size + a->eps);
        for (size_t m = 0; m < g.size; m++) {
            size_t o = g.starts[i] + g.members[m];
            y[o] = x[o] / root * (gamma ? gamma[m] : 1);
        }
    }
    return XIR_OK;
}

static double norm_of(const double *x, const groups *g, size_t start, double p) {
    double sum = p == -INFINITY ? INFINITY : 0;
    for (size_t m = 0; m < g->size; m++) {
        double v = fabs(x[start + g->members[m]]);
        if (p == 0) sum += v != 0;
        else if (p == INFINITY) sum = v > sum || isnan(v) ? v : sum;
        else if (p == -INFINITY) sum = v < sum || isnan(v) ? v : sum;
        else sum += p == 2 ? v * v : p == 1 ? v : pow(v, p);
    }
    if (p == 0 || isinf(p) || p == 1) return sum;
    return p == 2 ? sqrt(sum) : pow(sum, 1 / p);
}

static xir_status run_normalize(xir_kernel *at) {
    const xir_normalize_attrs *a = xir_kernel_attrs(at);
    const double *x;
    double *y;
    groups g;
    xir_status status = open_along(at, a->axis.data, a->axis.size, &g, &x, &y);
    if (status) return status;
    for (size_t i = 0; i < g.n && !xir_kernel_stops(at, g.size); i++) {
        double norm = norm_of(x, &g, g.starts[i], a->p);
        if (norm < a->eps) norm = a->eps;
        for (size_t m = 0; m < g.size; m++) y[g.starts[i] + g.members[m]] = x[g.starts[i] + g.members[m]] / norm;
    }
    return XIR_OK;
}

/* The greatest element is subtracted from all, so that exp does not overflow. */
static xir_status softmax(xir_kernel *at, int64_t axis, bool logarithm) {
    const double *x;
    double *y;
    groups g;
    xir_status status = open_along(at, &axis, 1, &g, &x, &y);
    if (status) return status;
    for (size_t i = 0; i < g.n && !xir_kernel_stops(at, g.size); i++) {
        double most = -INFINITY, sum = 0;
        for (size_t m = 0; m < g.size; m++) most = fmax(most, x[g.starts[i] + g.members[m]]);
        for (size_t m = 0; m < g.size; m++) sum += exp(x[g.starts[i] + g.members[m]] - most);
        for (size_t m = 0; m < g.size; m++) {
            size_t o = g.starts[i] + g.members[m];
            y[o] = logarithm ? x[o] - most - log(sum) : exp(x[o] - most) / sum;
        }
    }
    return XIR_OK;
}

static xir_status run_softmax(xir_kernel *at) {
    const xir_softmax_attrs *a = xir_kernel_attrs(at);
    return softmax(at, a->axis, false);
}

static xir_status run_log_softmax(xir_kernel *at) {
    const xir_log_softmax_attrs *a = xir_kernel_attrs(at);
    return softmax(at, a->axis, true);
}

kernel_table kernels_norm = {
#define ROW(id) { xir_##id##_class, run_##id }
    ROW(batch_norm1d),    ROW(batch_norm2d),    ROW(batch_norm3d), ROW(group_norm),  ROW(instance_norm1d), ROW(instance_norm2d),
    ROW(instance_norm3d), ROW(layer_norm),      ROW(log_softmax),  ROW(normalize),   ROW(rms_norm),        ROW(softmax),
    { NULL, NULL },
};
