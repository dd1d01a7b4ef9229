/* Rows of products, of quantisation, of what goes by indices, of losses, of recurrent networks. */
#include <stdio.h>
#include "onnx_rows.h"

/* ---- products ------------------------------------------------------------------------------------------------------ */

bool row_gemm(onnx_at *at) {
    static const items swap = { 2, { 1, 0 } };
    xir_value *a = map_in(at, 0), *b = map_in(at, 1), *c = map_opt(at, 2);
    if (map_attr_int(at, "transA", 0)) a = make_transposed(at, a, &swap);
    if (map_attr_int(at, "transB", 0)) b = make_transposed(at, b, &swap);
    double alpha = map_attr_real(at, "alpha", 1), beta = map_attr_real(at, "beta", 1);
    xir_value *y = map_make1(at, "Matmul", INS(a, b, alpha == 1 && beta == 1 ? c : NULL), NO_SETS);
    if (c && !(alpha == 1 && beta == 1)) y = seed_make_sum(at, y, c, alpha, beta);
    else if (alpha != 1) y = seed_make_scaled(at, y, alpha);
    return map_give(at, 0, y);
}

bool row_einsum(onnx_at *at) {
    onnx_attribute a;
    char equation[128];
    xir_value *inputs[MOST_PORTS];
    for (size_t i = 0; i < at->n_in; i++) inputs[i] = map_in(at, i);
    bool found = onnx_find_attribute(&at->node, "equation", &a);
    if (!found || a.s.size >= sizeof equation) return map_refused(at, "no equation");
    snprintf(equation, sizeof equation, "%.*s", (int)a.s.size, (const char *)a.s.data);
    return map_gives(at, "Einsum", (ins){ inputs, at->n_in }, SETS(WORD("equation", equation)));
}

/* Integers less their zero points, in 32 bits. */
static xir_value *centred(onnx_at *at, size_t i, size_t zero, size_t axis) {
    const xir_type *wide = xir_sint(at->ctx, 32);
    xir_value *x = map_in(at, i);
    if (map_failed(at)) return NULL;
    size_t rank = map_rank_of(x);
    x = map_cast_to(at, x, wide);
    if (!map_has_in(at, zero)) return x;
    xir_value *point = map_cast_to(at, map_in(at, zero), wide);
    if (map_failed(at)) return NULL;
    if (map_rank_of(point) == 1 && map_dim_of(point, 0) != 1) {   // one a channel
        items dims = items_of_one(rank - axis);
        dims.v[0] = map_dim_of(point, 0);
        point = seed_make_reshaped(at, point, &dims);
    }
    return seed_make_sum(at, x, point, 1, -1);
}

bool row_matmul_integer(onnx_at *at) {
    xir_value *a = centred(at, 0, 2, 0), *b = centred(at, 1, 3, 1);
    return map_gives(at, "Matmul", INS(a, b), NO_SETS);
}

bool row_conv_integer(onnx_at *at) {
    xir_value *x = centred(at, 0, 2, 1), *kernel = centred(at, 1, 3, 0);
    return map_give(at, 0, seed_make_conv(at, x, kernel, NULL));
}

/* ---- quantisation, written out ------------------------------------------------------------------------------------- */

/* A scale or zero point for each element of an axis, so that it broadcasts. */
static xir_value *along(onnx_at *at, xir_value *v, size_t rank) {
    int64_t axis;
    if (map_failed(at) || map_rank_of(v) == 0 || map_dim_of(v, 0) == 1) return v;
    if (!map_to_axis(at, map_attr_int(at, "axis", 1), rank, &axis)) return NULL;
    items dims = items_of_one(rank - (size_t)axis);
    dims.v[0] = map_dim_of(v, 0);
    return seed_make_reshaped(at, v, &dims);
}

/* saturate(round(x / scale) + zero point) */
static xir_value *quantized(onnx_at *at, xir_value *x, xir_value *scale, xir_value *zero) {
    if (map_failed(at)) return NULL;
    const xir_type *to = zero ? map_element_of(zero) : xir_uint(at->ctx, 8), *real = map_element_of(x);
    const xir_integer_type *integer = xir_integer_type_of(xir_type_object(to));
    size_t rank = map_rank_of(x);
    xir_value *y = seed_make_of(at, "Round", seed_make_quotient(at, x, along(at, scale, rank)));
    if (zero) y = seed_make_sum(at, y, map_cast_to(at, along(at, zero, rank), real), 1, 1);
    bool sign = integer && integer->sign;
    y = map_make1(at, "ClampScalar", INS(y), SETS(REALN("min", sign ? -128 : 0), REALN("max", sign ? 127 : 255)));
    return map_cast_to(at, y, to);
}

bool row_quantize_linear(onnx_at *at) {
    return map_give(at, 0, quantized(at, map_in(at, 0), map_in(at, 1), map_opt(at, 2)));
}

bool row_dequantize_linear(onnx_at *at) {
    xir_value *x = map_in(at, 0), *scale = map_in(at, 1), *zero = map_opt(at, 2);
    if (map_failed(at)) return false;
    const xir_type *wide = xir_sint(at->ctx, 32), *real = map_element_of(scale);
    size_t rank = map_rank_of(x);
    xir_value *y = map_cast_to(at, x, wide);
    if (zero) y = seed_make_sum(at, y, map_cast_to(at, along(at, zero, rank), wide), 1, -1);
    return map_give(at, 0, seed_make_product(at, map_cast_to(at, y, real), along(at, scale, rank)));
}

/* The range of x, which has 0 in it, onto 0 to 255. */
bool row_dynamic_quantize_linear(onnx_at *at) {
    xir_value *x = map_in(at, 0);
    if (map_failed(at)) return false;
    const xir_type *real = map_element_of(x), *byte = xir_uint(at->ctx, 8);
    xir_value *zero = seed_make_number(at, real, 0);
    xir_value *least = map_make1(at, "Minimum", INS(seed_make_of(at, "Min", x), zero), NO_SETS);
    xir_value *greatest = map_make1(at, "Maximum", INS(seed_make_of(at, "Max", x), zero), NO_SETS);
    xir_value *scale = map_make1(at, "DivideScalar", INS(seed_make_sum(at, greatest, least, 1, -1)), SETS(REALN("divisor", 255)));
    xir_value *point = seed_make_of(at, "Round", seed_make_quotient(at, seed_make_of(at, "Neg", least), scale));
    point = map_cast_to(at, map_make1(at, "ClampScalar", INS(point), SETS(REALN("min", 0), REALN("max", 255))), byte);
    return map_give(at, 0, quantized(at, x, scale, point)) && map_give(at, 1, scale) && map_give(at, 2, point);
}

/* ---- elements by index --------------------------------------------------------------------------------------------- */

bool row_top_k(onnx_at *at) {
    xir_value *x = map_in(at, 0), *k = map_in_params(at, 1);
    int64_t largest = map_attr_int(at, "largest", 1), sorted = map_attr_int(at, "sorted", 1);
    const set attrs[] = { INT("axis", map_attr_int(at, "axis", -1)), INT("largest", largest), INT("sorted", sorted) };
    xir_op *op = map_make(at, "TopK", INS(x, k), (sets){ attrs, COUNT(attrs) });
    return op && map_give(at, 0, xir_op_output(op, 0)) && map_give(at, 1, xir_op_output(op, 1));
}

bool row_gather_nd(onnx_at *at) {
    xir_value *data = map_in(at, 0), *indices = map_in(at, 1);
    if (map_failed(at)) return false;
    if (map_dim_of(indices, map_rank_of(indices) - 1) < 0) return map_no_form(at, "the rank of the output is not known");
    return map_gives(at, "GatherND", INS(data, indices), SETS(INT("batch_dims", map_attr_int(at, "batch_dims", 0))));
}

bool row_scatter_nd(onnx_at *at) {
    char word[48];
    return map_gives(at, "ScatterND", INS(map_in(at, 0), map_in(at, 1), map_in(at, 2)),
             SETS(WORD("reduction", map_upper(word, at, "reduction", "none"))));
}

bool row_non_zero(onnx_at *at) {
    if (!map_give(at, 0, seed_make_of(at, "NonZero", map_in(at, 0)))) return false;
    map_by_data(at, 0, 1);
    return true;
}

/* The places where the condition holds, taken from the axis, or from all elements in one dim. */
bool row_compress(onnx_at *at) {
    static const items flat = { 1, { -1 } };
    xir_value *x = map_in(at, 0);
    int64_t axis = map_attr_int(at, "axis", 0);
    if (!map_has_attr(at, "axis")) x = map_reshaped(at, x, &flat);
    xir_value *places = map_reshaped(at, seed_make_of(at, "NonZero", map_in(at, 1)), &flat);
    if (map_failed(at) || !map_to_axis(at, axis, map_rank_of(x), &axis)) return false;
    if (!map_gives(at, "Gather", INS(x, places), SETS(INT("axis", axis)))) return false;
    map_by_data(at, 0, (size_t)axis);
    return true;
}

bool row_non_max_suppression(onnx_at *at) {
    xir_value *inputs[5] = { NULL };
    for (size_t i = 0; i < at->n_in && i < 5; i++) inputs[i] = map_opt(at, i);
    if (!map_gives(at, "NonMaxSuppression", (ins){ inputs, at->n_in },
           SETS(INT("center_point_box", map_attr_int(at, "center_point_box", 0))))) return false;
    map_by_data(at, 0, 0);
    return true;
}

/* Where the index is the place along the new axis, counted from either end, the second of the values, elsewhere the
 * first. */
bool row_one_hot(onnx_at *at) {
    items depth, axes = { 1, { map_attr_int(at, "axis", -1) } };
    xir_value *index = map_in(at, 0), *values = map_in(at, 2);
    if (!map_in_items(at, 1, &depth) || map_failed(at)) return false;
    if (depth.n != 1 || depth.v[0] < 1 || depth.v[0] > MOST_ITEMS) return map_no_form(at, "a depth that is not small");
    index = seed_make_unsqueezed(at, map_cast_to(at, index, map_int64(at)), &axes);
    if (map_failed(at) || !map_to_axis(at, axes.v[0], map_rank_of(index), &axes.v[0])) return false;
    const items places = items_from(0, (size_t)depth.v[0]), from_end = items_from(-depth.v[0], (size_t)depth.v[0]);
    const items zero = { 1, { 0 } }, one = { 1, { 1 } };
    items dims = items_of_one(map_rank_of(index));
    dims.v[axes.v[0]] = depth.v[0];
    xir_value *hot = map_make1(at, "Equal", INS(index, map_reshaped(at, map_integers(at, &places), &dims)), NO_SETS);
    xir_value *end = map_make1(at, "Equal", INS(index, map_reshaped(at, map_integers(at, &from_end), &dims)), NO_SETS);
    xir_value *off = map_make1(at, "Gather", INS(values, map_integers(at, &zero)), SETS(INT("axis", 0)));
    xir_value *on = map_make1(at, "Gather", INS(values, map_integers(at, &one)), SETS(INT("axis", 0)));
    return map_gives(at, "Where", INS(on, off, map_make1(at, "Or", INS(hot, end), NO_SETS)), NO_SETS);
}

/* Zeros beside a constant mask of the last two dims. */
bool row_trilu(onnx_at *at) {
    xir_value *x = map_in(at, 0);
    items k = { 1, { 0 } };
    if (map_has_in(at, 1) && !map_in_items(at, 1, &k)) return false;
    if (map_failed(at)) return false;
    if (map_rank_of(x) < 2) return map_refused(at, "%zu dims", map_rank_of(x));
    if (!map_need_dims(at, x, map_rank_of(x) - 2, SIZE_MAX)) return false;
    bool above = map_attr_int(at, "upper", 1);
    size_t rank = map_rank_of(x);
    if (k.n != 1) return map_refused(at, "k has %zu elements", k.n);
    const items dims = { 2, { map_dim_of(x, rank - 2), map_dim_of(x, rank - 1) } };
    if (dims.v[0] > 1 << 10 || dims.v[1] > 1 << 10) return map_no_form(at, "a large mask");
    onnx_number *mask = map_pool_take(at, (size_t)(dims.v[0] * dims.v[1]) + 1);
    if (!mask) return map_no_form(at, "a large mask");
    for (int64_t i = 0; i < dims.v[0]; i++) {
        for (int64_t j = 0; j < dims.v[1]; j++) {
            mask[i * dims.v[1] + j] = (onnx_number){ .i = above ? j - i >= k.v[0] : j - i <= k.v[0] };
        }
    }
    xir_value *where = map_constant(at, xir_bool_type_get(at->ctx), &dims, mask);
    return map_gives(at, "Where", INS(x, seed_make_number(at, map_element_of(x), 0), where), NO_SETS);
}

/* ---- losses -------------------------------------------------------------------------------------------------------- */

/* -input[n, target[n, …], …] * weight[target], 0 where the target is ignored; then none, its sum, or its weighted mean. */
static bool nll(onnx_at *at, xir_value *input) {
    static const items second = { 1, { 1 } };
    const items all = { .n = 0 };
    xir_value *target = map_in(at, 1), *weight = map_opt(at, 2);
    if (map_failed(at)) return false;
    const xir_type *real = map_element_of(input);
    bool ignore = map_has_attr(at, "ignore_index");
    xir_value *ignored = NULL, *kept = NULL;
    if (ignore) {
        xir_value *index = seed_make_number(at, map_element_of(target), (double)map_attr_int(at, "ignore_index", -1));
        ignored = map_make1(at, "Equal", INS(target, index), NO_SETS);
        target = map_make1(at, "Where", INS(seed_make_number(at, map_element_of(target), 0), target, ignored), NO_SETS);
    }
    xir_value *places = seed_make_unsqueezed(at, target, &second);
    xir_value *picked = map_make1(at, "GatherElements", INS(input, places), SETS(INT("axis", 1)));
    xir_value *loss = seed_make_of(at, "Neg", map_make1(at, "Squeeze", INS(picked), SETS(ITEMS("axis", &second))));
    if (weight) kept = map_make1(at, "Gather", INS(weight, target), SETS(INT("axis", 0)));
    if (ignore) {
        kept = kept ? kept : seed_make_number(at, real, 1);
        kept = map_make1(at, "Where", INS(seed_make_number(at, real, 0), kept, ignored), NO_SETS);
    }
    if (kept) loss = seed_make_product(at, loss, kept);
    if (map_attr_is(at, "reduction", "none")) return map_give(at, 0, loss);
    bool sum = map_attr_is(at, "reduction", "sum");
    loss = map_make1(at, sum || kept ? "Sum" : "Mean", INS(loss), SETS(ITEMS("dim", &all)));
    if (!sum && kept) loss = seed_make_quotient(at, loss, map_make1(at, "Sum", INS(kept), SETS(ITEMS("dim", &all))));
    return map_give(at, 0, loss);
}
bool row_nll_loss(onnx_at *at) { return nll(at, map_in(at, 0)); }

bool row_softmax_cross_entropy_loss(onnx_at *at) {
    xir_value *log_prob = map_make1(at, "LogSoftmax", INS(map_in(at, 0)), SETS(INT("axis", 1)));
    if (at->n_out > 1) map_give(at, 1, log_prob);
    return nll(at, log_prob);
}

/* ---- recurrent ----------------------------------------------------------------------------------------------------- */

static bool recurrent(onnx_at *at, const char *cls, size_t n_inputs) {
    char word[48];
    xir_value *inputs[8] = { NULL };
    set attrs[8];
    size_t n = 0;
    if (map_has_attr(at, "activations")) return map_no_form(at, "activations of its own");
    for (size_t i = 0; i < at->n_in && i < n_inputs; i++) inputs[i] = map_opt(at, i);
    attrs[n++] = (set)INT("hidden_size", map_attr_int(at, "hidden_size", 0));
    attrs[n++] = (set)WORD("direction", map_upper(word, at, "direction", "forward"));
    attrs[n++] = (set)INT("layout", map_attr_int(at, "layout", 0));
    if (map_has_attr(at, "clip")) attrs[n++] = (set)REALN("clip", map_attr_real(at, "clip", 0));
    if (map_attr_int(at, "linear_before_reset", 0)) attrs[n++] = (set)INT("linear_before_reset", 1);
    if (map_attr_int(at, "input_forget", 0)) attrs[n++] = (set)INT("input_forget", 1);
    xir_op *op = map_make(at, cls, (ins){ inputs, n_inputs }, (sets){ attrs, n });
    for (size_t i = 0; op && i < at->n_out; i++) map_give(at, i, xir_op_output(op, (int64_t)i));
    return !map_failed(at);
}
bool row_lstm(onnx_at *at) { return recurrent(at, "LSTM", 8); }
bool row_gru(onnx_at *at)  { return recurrent(at, "GRU", 6); }
bool row_rnn(onnx_at *at)  { return recurrent(at, "RNN", 6); }
