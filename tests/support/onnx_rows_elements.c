/* Rows of op types that work element by element. */
#include <math.h>
#include <string.h>
#include "onnx_rows.h"

/* Before version 7, `axis` says where the right side lies on the left one. */
static xir_value *right_side(onnx_at *at) {
    xir_value *x = map_in(at, 0), *y = map_in(at, 1);
    if (map_failed(at) || at->opset >= 7 || !map_has_attr(at, "axis")) return y;
    items dims = map_dims_of(y);
    int64_t axis;
    if (!map_to_axis(at, map_attr_int(at, "axis", 0), map_rank_of(x), &axis)) return NULL;
    while (dims.n < map_rank_of(x) - (size_t)axis) dims.v[dims.n++] = 1;
    return dims.n == map_rank_of(y) ? y : seed_make_reshaped(at, y, &dims);
}

bool row_add(onnx_at *at) { return map_give(at, 0, seed_make_sum(at, map_in(at, 0), right_side(at), 1, 1)); }
bool row_sub(onnx_at *at) { return map_give(at, 0, seed_make_sum(at, map_in(at, 0), right_side(at), 1, -1)); }
bool row_mul(onnx_at *at) { return map_give(at, 0, seed_make_product(at, map_in(at, 0), right_side(at))); }

bool row_div(onnx_at *at) {
    xir_value *x = map_in(at, 0), *y = right_side(at);
    if (map_failed(at)) return false;
    return map_gives(at, "Div", INS(x, y), SETS(WORD("rounding_mode", map_is_integer(x) ? "TRUNC" : "NONE")));
}

/* Max, Min, Sum and Mean of any number of inputs. */
static bool chain_of(onnx_at *at, const char *cls) {
    xir_value *all = at->n_in == 1 ? seed_make_of(at, "Copy", map_in(at, 0)) : map_in(at, 0);
    for (size_t i = 1; i < at->n_in; i++) all = map_make1(at, cls, INS(all, map_in(at, i)), NO_SETS);
    if (!pb_is(at->node.op_type, "Mean")) return map_give(at, 0, all);
    return map_gives(at, "DivideScalar", INS(all), SETS(REALN("divisor", (double)at->n_in)));
}
bool row_max(onnx_at *at)  { return chain_of(at, "Maximum"); }
bool row_min(onnx_at *at)  { return chain_of(at, "Minimum"); }
bool row_sum(onnx_at *at)  { return chain_of(at, "Add"); }

bool row_where(onnx_at *at) { return map_gives(at, "Where", INS(map_in(at, 1), map_in(at, 2), map_in(at, 0)), NO_SETS); }

static bool cast(onnx_at *at, uint64_t element) {
    const xir_type *to = onnx_element_type(at->ctx, element);
    xir_value *x = map_in(at, 0);
    if (!to) return map_no_form(at, "no element type of ours is TensorProto.DataType %d", (int)element);
    return map_give(at, 0, map_cast_to(at, x, to));
}
bool row_cast(onnx_at *at) { return cast(at, (uint64_t)map_attr_int(at, "to", 0)); }
bool row_cast_like(onnx_at *at) {
    xir_value *like = map_in(at, 1), *x = map_in(at, 0);
    return !map_failed(at) && map_give(at, 0, map_cast_to(at, x, map_element_of(like)));
}

bool row_clip(onnx_at *at) {
    double least, greatest;
    xir_value *x = map_in(at, 0);
    if (!map_number(at, 1, "min", -INFINITY, &least) || !map_number(at, 2, "max", INFINITY, &greatest)) return false;
    return map_gives(at, "ClampScalar", INS(x), SETS(REALN("min", least), REALN("max", greatest)));
}

/* A slope for each channel, or one for all; others are written out: ReLU(x) + slope * min(x, 0). */
bool row_prelu(onnx_at *at) {
    xir_value *x = map_in(at, 0), *slope = map_in(at, 1);
    if (map_failed(at)) return false;
    items dims = map_dims_of(slope);
    size_t rank = map_rank_of(x), behind = rank >= 2 ? rank - 2 : 0;
    bool last = dims.n == 1, channels = dims.n == behind + 1 && items_product(&dims, 1, dims.n) == 1;
    if (last && at->opset < 7) channels = true;
    if (channels && rank >= 3 && rank <= 5) {
        slope = map_in_params(at, 1);
        return map_gives(at, "PReLU", INS(map_lettered(at, x, map_feature_letters[rank - 3])), SETS(PARAM("alpha", slope)));
    }
    if (last && dims.v[0] >= 0) return map_gives(at, "PReLU", INS(x), SETS(PARAM("alpha", map_in_params(at, 1))));
    xir_value *below = map_make1(at, "Minimum", INS(x, seed_make_number(at, map_element_of(x), 0)), NO_SETS);
    return map_give(at, 0, seed_make_sum(at, seed_make_of(at, "ReLU", x), seed_make_product(at, slope, below), 1, 1));
}

bool row_shrink(onnx_at *at) {
    double bias = map_attr_real(at, "bias", 0), lambda = map_attr_real(at, "lambd", 0.5);
    if (bias != 0 && bias != lambda) return map_no_form(at, "a bias that is neither 0 nor lambd");
    return map_gives(at, bias == 0 ? "Hardshrink" : "Softshrink", INS(map_in(at, 0)), SETS(REALN("lambda", lambda)));
}

/* gamma * (x > 0 ? x : alpha * (e^x - 1)) */
bool row_selu(onnx_at *at) {
    xir_value *x = map_in(at, 0);
    double alpha = map_attr_real(at, "alpha", 1.67326319217681884765625);
    xir_value *elu = map_make1(at, "ELU", INS(x), SETS(REALN("alpha", alpha)));
    return map_give(at, 0, seed_make_scaled(at, elu, map_attr_real(at, "gamma", 1.05070102214813232421875)));
}

/* alpha * ELU(x / alpha) */
bool row_celu(onnx_at *at) {
    double alpha = map_attr_real(at, "alpha", 1);
    xir_value *scaled = map_make1(at, "DivideScalar", INS(map_in(at, 0)), SETS(REALN("divisor", alpha)));
    return map_give(at, 0, seed_make_scaled(at, seed_make_of(at, "ELU", scaled), alpha));
}

bool row_is_nan(onnx_at *at) {
    xir_value *x = map_in(at, 0);
    return map_gives(at, "NotEqual", INS(x, x), NO_SETS);
}

bool row_is_inf(onnx_at *at) {
    bool above = map_attr_int(at, "detect_positive", 1), below = map_attr_int(at, "detect_negative", 1);
    xir_value *x = map_in(at, 0);
    if (map_failed(at)) return false;
    if (!above && !below) return map_no_form(at, "neither infinity is looked for");
    xir_value *infinite = seed_make_number(at, map_element_of(x), above ? INFINITY : -INFINITY);
    return map_gives(at, "Equal", INS(above && below ? seed_make_of(at, "Abs", x) : x, infinite), NO_SETS);
}

bool row_pow(onnx_at *at) {
    return map_gives(at, "Pow", INS(map_in(at, 0), right_side(at)), NO_SETS);
}

/* When it is not trained, the input as it is, and a mask that is true everywhere. */
bool row_dropout(onnx_at *at) {
    const onnx_number *known;
    size_t n;
    xir_value *x = map_in(at, 0);
    if (map_failed(at)) return false;
    if (map_has_in(at, 2) && (!map_in_known(at, 2, &known, &n) || n != 1 || known[0].i)) {
        double ratio;
        if (!map_number(at, 1, "ratio", 0.5, &ratio)) return false;
        if (ratio != 0) return map_no_form(at, "training");
    }
    if (at->n_out > 1) {
        const xir_type *boolean = at->opset >= 10 ? xir_bool_type_get(at->ctx) : map_element_of(x);
        items dims = map_dims_of(x);
        bool known_dims = !xir_type_has_unknown_dim(xir_value_type(x));
        xir_value *shape = known_dims ? map_integers(at, &dims) : seed_make_of(at, "Shape", x);
        const set attrs[] = { INT("value", 1), OBJECT("element_dtype", boolean) };
        xir_value *mask = map_make1(at, "ConstantOfShape", INS(shape), (sets){ attrs, COUNT(attrs) });
        map_give(at, 1, mask);
        for (size_t i = 0; !known_dims && i < dims.n; i++) map_by_bounds(at, 1, i);
    }
    return map_give(at, 0, seed_make_of(at, "Copy", x));
}
