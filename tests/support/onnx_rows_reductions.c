/* Rows of reductions and of normalisations. */
#include <math.h>
#include <string.h>
#include "onnx_rows.h"

/* ---- reductions ---------------------------------------------------------------------------------------------------- */

/* Classes that reduce one dim are made for each, from the last one on. */
xir_value *seed_make_reduced(onnx_at *at, const char *cls, xir_value *x, const items *axes, bool keep) {
    const xir_field *f = map_failed(at) ? NULL : map_field_named(at, cls, "dim");
    if (!f) return NULL;
    if (axes->n == 0) return seed_make_of(at, "Copy", x);
    if (f->kind == XIR_KIND_I64S) return map_make1(at, cls, INS(x), SETS(ITEMS("dim", axes), INT("keepdim", keep)));
    bool gone[MOST_ITEMS] = { false };
    size_t rank = map_rank_of(x), n = 0;
    for (size_t i = 0; i < axes->n; i++) {
        int64_t axis;
        if (!map_to_axis(at, axes->v[i], rank, &axis)) return NULL;
        gone[axis] = true;
    }
    for (size_t i = 0; i < rank; i++) n += gone[i];
    if (n == rank && !keep) return map_make1(at, cls, INS(x), NO_SETS);
    for (size_t i = rank; i-- > 0;) {
        if (gone[i]) x = map_make1(at, cls, INS(x), SETS(INT("dim", (int64_t)i), INT("keepdim", keep)));
    }
    return x;
}

static bool axes_of(onnx_at *at, xir_value *x, items *axes) {
    if (map_failed(at)) return false;
    axes->n = 0;
    map_list(at, "axes", 1, axes);
    if (map_failed(at)) return false;
    if (axes->n == 0 && !map_attr_int(at, "noop_with_empty_axes", 0)) *axes = items_from(0, map_rank_of(x));
    return true;
}

/* What is done to the elements before, which reduction, and what after it. */
static bool reduction(onnx_at *at, const char *before, const char *cls, const char *after) {
    items axes;
    xir_value *x = map_in(at, 0);
    if (!axes_of(at, x, &axes)) return false;
    if (before) x = strcmp(before, "Multiply") == 0 ? seed_make_product(at, x, x) : seed_make_of(at, before, x);
    x = seed_make_reduced(at, cls, x, &axes, map_attr_int(at, "keepdims", 1));
    return map_give(at, 0, after ? seed_make_of(at, after, x) : x);
}
bool row_reduce_sum(onnx_at *at)         { return reduction(at, NULL, "Sum", NULL); }
bool row_reduce_mean(onnx_at *at)        { return reduction(at, NULL, "Mean", NULL); }
bool row_reduce_max(onnx_at *at)         { return reduction(at, NULL, "Max", NULL); }
bool row_reduce_min(onnx_at *at)         { return reduction(at, NULL, "Min", NULL); }
bool row_reduce_prod(onnx_at *at)        { return reduction(at, NULL, "Prod", NULL); }
bool row_reduce_l1(onnx_at *at)          { return reduction(at, "Abs", "Sum", NULL); }
bool row_reduce_l2(onnx_at *at)          { return reduction(at, "Multiply", "Sum", "Sqrt"); }
bool row_reduce_log_sum(onnx_at *at)     { return reduction(at, NULL, "Sum", "Log"); }
bool row_reduce_log_sum_exp(onnx_at *at) { return reduction(at, "Exp", "Sum", "Log"); }
bool row_reduce_sum_square(onnx_at *at)  { return reduction(at, "Multiply", "Sum", NULL); }

/* The last of several equal elements is the first one when the dim is turned around. */
static bool arg(onnx_at *at, const char *cls) {
    xir_value *x = map_in(at, 0);
    int64_t axis;
    if (map_failed(at) || !map_to_axis(at, map_attr_int(at, "axis", 0), map_rank_of(x), &axis)) return false;
    bool last = map_attr_int(at, "select_last_index", 0);
    int64_t dim = map_dim_of(x, (size_t)axis);
    if (last) {
        if (!map_need_dims(at, x, (size_t)axis, (size_t)axis + 1)) return false;
        if (dim > MOST_ITEMS) return map_no_form(at, "an order of %lld", (long long)dim);
        items order = items_from(0, (size_t)dim);
        for (int64_t i = 0; i < dim; i++) order.v[i] = dim - 1 - i;
        x = map_make1(at, "SwapOrder", INS(x), SETS(ITEMS("order", &order), INT("axis", axis)));
    }
    x = map_make1(at, cls, INS(x), SETS(INT("dim", axis), INT("keepdim", map_attr_int(at, "keepdims", 1))));
    if (last && x) x = seed_make_sum(at, seed_make_number(at, map_element_of(x), (double)(dim - 1)), x, 1, -1);
    return map_give(at, 0, x);
}
bool row_arg_max(onnx_at *at) { return arg(at, "Argmax"); }
bool row_arg_min(onnx_at *at) { return arg(at, "Argmin"); }

bool row_cum_sum(onnx_at *at) {
    items axis;
    xir_value *x = map_in(at, 0);
    if (!map_in_items(at, 1, &axis) || axis.n != 1) return false;
    return map_gives(at, "CumSum", INS(x), SETS(INT("axis", axis.v[0]), INT("exclusive", map_attr_int(at, "exclusive", 0)),
                                        INT("reverse", map_attr_int(at, "reverse", 0))));
}

/* A one where the greatest element is. */
bool row_hardmax(onnx_at *at) {
    xir_value *x = map_in(at, 0);
    int64_t axis = map_attr_int(at, "axis", at->opset < 13 ? 1 : -1);
    if (map_failed(at) || !map_to_axis(at, axis, map_rank_of(x), &axis)) return false;
    if (!map_need_dims(at, x, (size_t)axis, (size_t)axis + 1)) return false;
    if (map_dim_of(x, (size_t)axis) > MOST_ITEMS) return map_no_form(at, "many places");
    xir_value *where = map_make1(at, "Argmax", INS(x), SETS(INT("dim", axis), INT("keepdim", 1)));
    const items places = items_from(0, (size_t)map_dim_of(x, (size_t)axis));
    items dims = items_of_one(map_rank_of(x));
    dims.v[axis] = (int64_t)places.n;
    if (map_failed(at)) return false;
    xir_value *index = map_cast_to(at, map_reshaped(at, map_integers(at, &places), &dims), map_element_of(where));
    return map_give(at, 0, map_cast_to(at, map_make1(at, "Equal", INS(where, index), NO_SETS), map_element_of(x)));
}

/* ---- normalisations ------------------------------------------------------------------------------------------------ */

/* Before version 13 all dims from `axis` on are one. */
static bool soft(onnx_at *at, const char *cls) {
    xir_value *x = map_in(at, 0);
    int64_t axis = map_attr_int(at, "axis", at->opset < 13 ? 1 : -1);
    if (map_failed(at) || !map_to_axis(at, axis, map_rank_of(x), &axis)) return false;
    if (at->opset >= 13 || (size_t)axis + 1 == map_rank_of(x)) return map_gives(at, cls, INS(x), SETS(INT("axis", axis)));
    items dims = map_dims_of(x);
    const items flat = { 2, { items_product(&dims, 0, (size_t)axis), items_product(&dims, (size_t)axis, dims.n) } };
    xir_value *y = map_make1(at, cls, INS(seed_make_reshaped(at, x, &flat)), SETS(INT("axis", 1)));
    return map_give(at, 0, seed_make_reshaped(at, y, &dims));
}
bool row_softmax(onnx_at *at)     { return soft(at, "Softmax"); }
bool row_log_softmax(onnx_at *at) { return soft(at, "LogSoftmax"); }

/* multiplier = scale / sqrt(var + epsilon), addend = bias - mean * multiplier. */
bool row_batch_normalization(onnx_at *at) {
    const onnx_number *k[4];
    size_t n = 0;
    char cls[32];
    xir_value *x = map_in(at, 0);
    if (map_failed(at)) return false;
    if (map_attr_int(at, "training_mode", 0) || at->n_out > 1) return map_no_form(at, "training");
    for (size_t i = 0; i < 4; i++) {
        if (!map_in_known(at, 1 + i, &k[i], &n)) return map_no_form(at, "the statistics are not constant");
    }
    onnx_number *factors = map_pool_take(at, n), *addends = map_pool_take(at, n);
    size_t rank = map_rank_of(x), spatial = rank > 3 ? rank - 2 : 1;
    if (!addends || rank < 2 || rank > 5) return map_no_form(at, "%zu channels in %zu dims", n, rank);
    for (size_t i = 0; i < n; i++) {
        factors[i] = (onnx_number){ .real = true, .f = k[0][i].f / sqrt(k[3][i].f + map_attr_real(at, "epsilon", 1e-5)) };
        addends[i] = (onnx_number){ .real = true, .f = k[1][i].f - k[2][i].f * factors[i].f };
    }
    const items dims = { 1, { (int64_t)n } };
    xir_value *variance = map_constant(at, map_element_of(x), &dims, factors);
    xir_value *mean = map_constant(at, map_element_of(x), &dims, addends);
    x = map_lettered(at, x, rank == 2 ? "NC" : map_feature_letters[spatial - 1]);
    map_class_of_rank(cls, "BatchNorm", spatial);
    return map_gives(at, cls, INS(x), SETS(PARAM("variance", variance), PARAM("mean", mean)));
}

bool row_instance_normalization(onnx_at *at) {
    char cls[32];
    xir_value *x = map_in(at, 0), *gamma = map_in_params(at, 1), *beta = map_in_params(at, 2);
    if (map_failed(at)) return false;
    if (map_rank_of(x) < 3 || map_rank_of(x) > 5) return map_no_form(at, "%zu dims", map_rank_of(x));
    size_t n = map_rank_of(x) - 2;
    x = map_lettered(at, x, map_feature_letters[n - 1]);
    return map_gives(at, map_class_of_rank(cls, "InstanceNorm", n), INS(x),
             SETS(REALN("eps", map_attr_real(at, "epsilon", 1e-5)), PARAM("gamma", gamma), PARAM("beta", beta)));
}

/* Y by one op; the mean and the reciprocal of the deviation, which it does not give, by others. */
bool row_layer_normalization(onnx_at *at) {
    xir_value *x = map_in(at, 0), *gamma = map_in_params(at, 1), *beta = map_has_in(at, 2) ? map_in_params(at, 2) : NULL;
    int64_t axis;
    if (map_failed(at) || !map_to_axis(at, map_attr_int(at, "axis", -1), map_rank_of(x), &axis)) return false;
    const items axes = items_from(axis, map_rank_of(x) - (size_t)axis);
    double eps = map_attr_real(at, "epsilon", 1e-5);
    const set attrs[] = { ITEMS("axis", &axes), REALN("eps", eps), PARAM("gamma", gamma), PARAM("beta", beta) };
    map_gives(at, "LayerNorm", INS(x), (sets){ attrs, beta ? 4 : 3 });
    if (at->n_out == 1) return !map_failed(at);
    xir_value *mean = seed_make_reduced(at, "Mean", x, &axes, true), *off = seed_make_sum(at, x, mean, 1, -1);
    xir_value *variance = seed_make_reduced(at, "Mean", seed_make_product(at, off, off), &axes, true);
    xir_value *deviation = seed_make_of(at, "Sqrt", seed_make_sum(at, variance, seed_make_number(at, map_element_of(x), eps), 1, 1));
    return map_give(at, 1, mean) && map_give(at, 2, seed_make_of(at, "Reciprocal", deviation));
}

/* (x - mean) / (deviation + 1e-9); LayerNorm adds its eps to the variance. */
bool row_mean_variance_normalization(onnx_at *at) {
    items axes;
    xir_value *x = map_in(at, 0);
    if (map_failed(at)) return false;
    if (!map_attr_items(at, "axes", &axes)) axes = (items){ 3, { 0, 2, 3 } };
    xir_value *off = seed_make_sum(at, x, seed_make_reduced(at, "Mean", x, &axes, true), 1, -1);
    xir_value *deviation = seed_make_of(at, "Sqrt", seed_make_reduced(at, "Mean", seed_make_product(at, off, off), &axes, true));
    return map_give(at, 0, seed_make_quotient(at, off, seed_make_sum(at, deviation, seed_make_number(at, map_element_of(x), 1e-9), 1, 1)));
}

/* The mean square of the neighbouring channels: an average pool over [n, 1, c, everything else]. */
bool row_lrn(onnx_at *at) {
    xir_value *x = map_in(at, 0);
    if (!map_need_dims(at, x, 1, SIZE_MAX)) return false;
    items dims = map_dims_of(x);
    int64_t size = map_attr_int(at, "size", 1);
    if (dims.n < 3 || size < 1 || size > 1 << 20) return map_refused(at, "%lld channels", (long long)size);
    const items flat = { 4, { dims.v[0], 1, dims.v[1], items_product(&dims, 2, dims.n) } };
    xir_value *square = seed_make_reshaped(at, seed_make_product(at, x, x), &flat);
    xir_value *mean = map_make1(at, "AvgPool2d", INS(map_lettered(at, square, "NCHW")),
                            SETS(INT("pool_height", size), INT("pool_width", 1), INT("pad_top", (size - 1) / 2),
                                 INT("pad_bottom", size - 1 - (size - 1) / 2), INT("count_include_pad", 1)));
    xir_value *bias = seed_make_number(at, map_element_of(x), map_attr_real(at, "bias", 1));
    xir_value *sum = seed_make_sum(at, seed_make_reshaped(at, mean, &dims), bias, map_attr_real(at, "alpha", 1e-4), 1);
    xir_value *beta = seed_make_number(at, map_element_of(x), map_attr_real(at, "beta", 0.75));
    return map_give(at, 0, seed_make_quotient(at, x, map_make1(at, "Pow", INS(sum, beta), NO_SETS)));
}
