/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Normalisations. */
#include <math.h>
#include "formula/formulas.h"
#include "formula/text.h"
#include "pnnx/pnnx.h"
#include "spec/reduction.h"

enum { INPUT, MEAN, VAR, WEIGHT, BIAS };

/* The numbers of an optional constant, `n` of them; all `otherwise` if it is absent. */
static const double *numbers(xir_node *at, size_t i, size_t n, double otherwise) {
    const double *found;
    size_t count;
    if (xir_node_has(at, i)) {
        if (!xir_node_reals(at, i, &found, &count)) return NULL;
        if (count == n) return found;
        return xir_node_invalid(at, XIR_E_INVALID, NULL, "expected %zu elements for each statistic, found %zu", n,
                                count),
               NULL;
    }
    double *v = node_take(at, (n + 1) * sizeof *v);
    if (!v) return node_no_memory(at), NULL;
    for (size_t k = 0; k < n; k++) v[k] = otherwise;
    return v;
}

/* One number for each channel, in a shape that broadcasts with x. */
static xir_value *along_channels(xir_node *at, size_t i, size_t rank) {
    xir_value *v = xir_node_optional_input(at, i);
    return v ? make_line(at, v, rank - 1, 0) : NULL;
}

/* Statistics that are computed: (x - mean) / sqrt(var + eps) * weight + bias. */
static bool computed_norm(xir_node *at, xir_value *x) {
    const size_t rank = v_rank(x);
    xir_value *mean = along_channels(at, MEAN, rank), *var = along_channels(at, VAR, rank),
              *weight = along_channels(at, WEIGHT, rank), *bias = along_channels(at, BIAS, rank);
    xir_value *root = xir_node_unary(at, "Sqrt", make_affine(at, var, 1, xir_node_real(at, "eps", 1e-5)));
    xir_value *y = xir_node_quotient(at, xir_node_sum(at, x, mean, 1, -1), root);
    if (weight) y = xir_node_product(at, y, weight);
    if (bias) y = xir_node_sum(at, y, bias, 1, 1);
    return xir_node_result(at, 0, y);
}

/* x * factor + addend with weight / sqrt(var + eps) and bias - mean * factor for each channel. */
bool pnnx_batch_norm(xir_node *at) {
    xir_value *x = xir_node_input(at, INPUT), *mean_of = xir_node_input(at, MEAN);
    const size_t rank = v_rank(x), n = v_dim(mean_of, 0) > 0 ? (size_t)v_dim(mean_of, 0) : 0;
    if (rank < 2 || rank > 5) return xir_node_unsupported(at, "%zu dims", rank);
    for (size_t i = MEAN; i <= BIAS; i++)
        if (xir_node_has(at, i) && !xir_node_is_constant(at, i)) return computed_norm(at, x);
    const channel_statistics s = {
        .n = n, .eps = xir_node_real(at, "eps", 1e-5), .mean = numbers(at, MEAN, n, 0),
        .variance = numbers(at, VAR, n, 1), .gamma = numbers(at, WEIGHT, n, 1), .beta = numbers(at, BIAS, n, 0),
    };
    return xir_node_result(at, 0, op_of_statistics(at, x, &s));
}

/* An op with gamma and beta, which are constants of the op, or ops after it. */
static xir_value *scaled(xir_node *at, const char *cls, xir_value *x, const xir_set *sets, size_t n, xir_value *gamma,
                         xir_value *beta) {
    xir_set all[6];
    const bool constant = (!gamma || xir_value_is_params(gamma)) && (!beta || xir_value_is_params(beta));
    for (size_t i = 0; i < n; i++) all[i] = sets[i];
    if (constant && gamma) all[n++] = (xir_set)OBJ("gamma", gamma);
    if (constant && beta) all[n++] = (xir_set)OBJ("beta", beta);
    xir_value *y = xir_node_make(at, cls, INS(x), (xir_sets){ all, n });
    if (!constant && gamma) y = xir_node_product(at, y, gamma);
    if (!constant && beta) y = xir_node_sum(at, y, beta, 1, 1);
    return y;
}

/* The function ignores running statistics; the module uses them if it has them. */
bool pnnx_instance_norm(xir_node *at) {
    if (xir_node_variant(at) && xir_node_has(at, MEAN)) return pnnx_batch_norm(at);
    xir_value *x = xir_node_input(at, INPUT);
    const size_t rank = v_rank(x);
    if (rank < 3 || rank > 5) return xir_node_unsupported(at, "%zu dims", rank);
    const xir_set eps = REAL("eps", xir_node_real(at, "eps", 1e-5));
    xir_value *y = scaled(at, BY_RANK(rank - 2, "InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d"),
                          xir_node_channels_last(at, x), &eps, 1, xir_node_optional_input(at, WEIGHT),
                          xir_node_optional_input(at, BIAS));
    return xir_node_result(at, 0, y ? xir_node_channels_second(at, y) : NULL);
}

/* XIR's op has feature maps of 3 to 5 dims; a matrix is a map of one column. */
bool pnnx_group_norm(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    const size_t rank = v_rank(x);
    xir_ints dims = xir_node_dims(at, x);
    if (rank < 2 || rank > 5) return xir_node_unsupported(at, "%zu dims", rank);
    const xir_ints last = { (int64_t[]){ -1 }, 1 };
    if (rank == 2) x = xir_node_unsqueezed(at, x, &last, NULL);
    const xir_set sets[] = { INT("groups", xir_node_int(at, "num_groups", 1)),
                             REAL("eps", xir_node_real(at, "eps", 1e-5)) };
    xir_value *y = scaled(at, "GroupNorm", x ? xir_node_channels_last(at, x) : NULL, sets, 2,
                          xir_node_optional_input(at, 1), xir_node_optional_input(at, 2));
    y = y ? xir_node_channels_second(at, y) : NULL;
    return xir_node_result(at, 0, rank == 2 && y ? make_reshaped(at, y, &dims) : y);
}

/* The last dims, as many as the normalised shape has; several are one for gamma and beta, which XIR's op has flat. */
static bool last_dims(xir_node *at, const char *cls, xir_value *gamma, xir_value *beta, double eps) {
    xir_value *x = xir_node_input(at, 0);
    xir_ints shape;
    if (!x || !pnnx_list(at, "normalized_shape", 0, &shape)) return false;
    const size_t rank = v_rank(x);
    if (!shape.n || shape.n > rank) {
        return xir_node_invalid(at, XIR_E_BOUNDS, "attribute/normalized_shape",
                                "expected 1 to %zu items, found %zu", rank, shape.n);
    }
    const xir_ints axes = xir_node_series(at, (int64_t)(rank - shape.n), shape.n);
    const xir_set sets[] = { LIST("axis", &axes), REAL("eps", eps) };
    return xir_node_result(at, 0, scaled(at, cls, x, sets, 2, gamma, beta));
}

bool pnnx_layer_norm(xir_node *at) {
    return last_dims(at, "LayerNorm", xir_node_optional_input(at, 1), xir_node_optional_input(at, 2),
                     xir_node_real(at, "eps", 1e-5));
}

/* Without eps PyTorch adds the smallest step of the element type. */
bool pnnx_rms_norm(xir_node *at) {
    return last_dims(at, "RMSNorm", xir_node_optional_input(at, 1), NULL, xir_node_real(at, "eps", 0x1p-23));
}

/* PyTorch counts the half of an even size before the channel. */
bool pnnx_lrn(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    if (!x || !xir_node_need_dims(at, x, 1, SIZE_MAX)) return false;
    const int64_t size = xir_node_int(at, "size", 1);
    if (v_rank(x) < 3) return xir_node_unsupported(at, "%zu dims", v_rank(x));
    if (size < 1 || size > 1 << 20) return xir_node_unsupported(at, "a size of %lld", (long long)size);
    return xir_node_result(at, 0, make_lrn(at, x, size, size / 2, xir_node_real(at, "alpha", 1e-4),
                                           xir_node_real(at, "beta", 0.75), xir_node_real(at, "k", 1)));
}

/* ---- norms ------------------------------------------------------------------------------------------------------ */

/* The norm of order p; of order 0 how many elements are not 0. */
static xir_value *norm_over(xir_node *at, xir_value *x, double p, const xir_ints *axes, bool keep) {
    if (isinf(p)) return xir_node_reduced(at, p > 0 ? "Max" : "Min", xir_node_unary(at, "Abs", x), axes, keep);
    if (p == 0) return xir_node_reduced(at, "Sum", make_formula(at, "like(x != 0)", INS(x), NULL), axes, keep);
    return make_root(at, xir_node_reduced(at, "Sum", make_powers(at, x, p), axes, keep), p);
}

/* x / max(norm, eps). */
bool pnnx_normalize(xir_node *at) {
    xir_ints axes;
    xir_value *x = xir_node_input(at, 0);
    if (!pnnx_list(at, "dim", 0, &axes)) axes = xir_node_make_ints(at, 1, 1);
    const double p = xir_node_real(at, "p", 2), eps = xir_node_real(at, "eps", 1e-12);
    xir_value *norm = norm_over(at, x, p, &axes, true);
    return xir_node_result(at, 0, make_formula(at, "x / Maximum(y, a)", INS(x, norm), NUMBERS(eps)));
}

bool pnnx_pairwise_distance(xir_node *at) {
    const xir_ints last = { (int64_t[]){ -1 }, 1 };
    xir_value *off = xir_node_sum(at, xir_node_input(at, 0), xir_node_input(at, 1), 1, -1);
    off = make_affine(at, off, 1, xir_node_real(at, "eps", 1e-6));
    const bool keepdim = xir_node_bool(at, "keepdim", false);
    return xir_node_result(at, 0, norm_over(at, off, xir_node_real(at, "p", 2), &last, keepdim));
}

bool pnnx_norm(xir_node *at) {
    xir_ints axes;
    xir_value *x = pnnx_cast_first(at, xir_node_input(at, 0));
    const xir_str word = xir_node_text(at, "p", "");
    double p = xir_node_real(at, "p", 2);
    if (word.size && !xir_str_equal(word, XIR_STR("fro")) && !node_real_word(word, &p))
        return xir_node_unsupported(at, "the norm %.*s", CLIP(word));
    if (!pnnx_list(at, "dim", 0, &axes)) axes = xir_node_series(at, 0, v_rank(x));
    return xir_node_result(at, 0, norm_over(at, x, p, &axes, xir_node_bool(at, "keepdim", false)));
}
