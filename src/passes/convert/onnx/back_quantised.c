/* The way back of quantised numbers, as pairs: DequantizeLinear before an operator, which computes with reals, and
 * QuantizeLinear after it. In between, a quantised value is the integers that it stores.
 *
 *     Conv2d(q, w) of type t  =>  y = Conv(DequantizeLinear(q), DequantizeLinear(w))
 *                                 QuantizeLinear(y, rounded as XIR does)
 *
 * The parts that an op becomes are plain ops of XIR, which the rows convert. Between them and quantised values are
 * Identity nodes, "views": of a quantised type on one side and of its integers on the other. At the end they go. */
#include <math.h>
#include <xir/quant.h>
#include "convert/formulas.h"
#include "convert/onnx/back.h"
#include "convert/onnx/custom.h"

enum { MOST_SCALES = 1 << 20 };

/* ---- types ------------------------------------------------------------------------------------------------------ */

static bool is_quantised(const xir_value *v) {
    return v && xir_type_as_tensor(xir_value_type(v)) && xir_type_is_quantized(v_element(v));
}

/* What is known about a quantised type. */
typedef struct linear {
    const xir_type *element, *stored;
    size_t          n;           /* scales                                          */
    const double   *scales;
    int64_t        *zeros;       /* n of them                                       */
    bool            any_zero, sign;
    int64_t         axis;        /* of several scales                               */
    uint64_t        bits;
    double          least, most; /* of stored numbers                               */
} linear;

static bool is_expressed_in_floats(const xir_type *element) {
    const xir_float_type *real = xir_float_type_of(xir_type_object(xir_type_expressed(element)));
    return real && real->format == XIR_FLOAT_FP32;
}

/* Scales of ONNX are floats: as many as there are, along one axis. */
static bool read_scales(xir_node *at, const xir_value *v, linear *t) {
    const xir_scales *scales = xir_type_scale(t->element);
    t->n = scales ? xir_scales_count(scales) : 0;
    if (t->n > MOST_SCALES) return xir_node_unsupported(at, "%zu scales", t->n);   /* runs may stand for any number */
    double *list = t->n ? node_take(at, t->n * sizeof *list) : NULL;
    if (!t->n) return xir_node_unsupported(at, "a type without scales");
    if (!list) return node_no_memory(at);
    for (size_t i = 0; i < t->n; i++) {
        list[i] = xir_scales_at(scales, i);
        const bool fits = list[i] > 0 && list[i] <= 0x1.fffffep127 && (double)(float)list[i] == list[i];
        if (!fits) return xir_node_unsupported(at, "a scale that is not a float above 0");
    }
    t->scales = list;
    const int64_t axis = xir_scales_axis(scales), rank = (int64_t)v_rank(v);
    t->axis = axis < 0 ? axis + rank : axis;
    if (t->n == 1) return true;
    if (t->axis < 0 || t->axis >= rank || v_dim(v, (size_t)t->axis) != (int64_t)t->n)
        return xir_node_unsupported(at, "scales that do not fit their axis");
    return true;
}

static bool read_zeros(xir_node *at, linear *t) {
    const xir_i64s zeros = xir_type_zero_points(t->element);
    t->zeros = node_take(at, t->n * sizeof *t->zeros);
    if (!t->zeros) return node_no_memory(at);
    if (zeros.size > 1 && zeros.size != t->n) return xir_node_unsupported(at, "zero points of another axis");
    for (size_t i = 0; i < t->n; i++) {
        t->zeros[i] = zeros.size ? zeros.data[zeros.size > 1 ? i : 0] : 0;
        t->any_zero |= t->zeros[i] != 0;
        if ((double)t->zeros[i] < t->least || (double)t->zeros[i] > t->most)
            return xir_node_unsupported(at, "a zero point that its integers do not have");
    }
    return true;
}

static bool read_type(xir_node *at, const xir_value *v, linear *t) {
    *t = (linear){ .element = v_element(v), .stored = xir_type_storage(v_element(v)) };
    const xir_integer_type *integer = xir_integer_type_of(xir_type_object(t->stored));
    if (xir_type_kind_of(t->element) != XIR_TYPE_QUANTIZED || !is_expressed_in_floats(t->element))
        return xir_node_unsupported(at, "quantised elements of another kind than scaled integers");
    t->bits = xir_type_storage_bits(t->element);
    const bool known = integer && onnx_code_of(at, t->stored) >= 0 && t->bits >= 4 && t->bits <= 32;
    if (!known || (t->bits < 8 && onnx_target(at) < 21))
        return xir_node_unsupported(at, "integers of %d bits", (int)t->bits);
    if (xir_type_is_layouted(xir_value_type(v))) return xir_node_unsupported(at, "a tiled layout");
    t->sign = integer->sign;
    t->most = ldexp(1, (int)t->bits - t->sign) - 1;
    t->least = t->sign ? -t->most - 1 : 0;
    return read_scales(at, v, t) && read_zeros(at, t);
}

/* Whether DequantizeLinear and QuantizeLinear of the version have the type. */
static bool has_axis(const xir_node *at, const linear *t) { return t->n == 1 || onnx_target(at) >= 13; }
static bool can_read(const xir_node *at, const linear *t) {
    if (t->bits == 32) return t->sign && !t->any_zero && has_axis(at, t);
    return has_axis(at, t) && (t->bits == 8 || onnx_target(at) >= 21);
}
static bool can_write(const xir_node *at, const linear *t) {
    return has_axis(at, t) && (t->bits == 8 || (t->bits < 32 && onnx_target(at) >= 21));
}

/* ---- views ------------------------------------------------------------------------------------------------------ */

static const xir_type *with_element(xir_node *at, const xir_value *v, const xir_type *element) {
    const xir_type *type = xir_node_failed(at) || !v || !element ? NULL
                         : xir_type_with_element(at->c->ctx, xir_value_type(v), element, NULL);
    if (!type) node_no_memory(at);
    return type;
}

/* The same bits with other elements. No row checks a node that has a quantised side. */
static xir_value *view(xir_node *at, xir_value *v, const xir_type *element) {
    const xir_type *type = v && !xir_node_failed(at) ? with_element(at, v, element) : NULL;
    if (!type) return NULL;
    if (xir_value_is_params(v)) {
        xir_value *made = node_alias(at, v);
        if (made && !xir_value_set_type(made, type) && !xir_value_set_name(made, xir_value_name(v))) return made;
        return node_no_memory(at), NULL;
    }
    const xir_class *cls = xir_class_opaque(at->c->ctx, XIR_STR("onnx::Identity"));
    const xir_op_desc desc = XIR_INIT(xir_op_desc, .cls = cls, .inputs = &v, .n_inputs = 1, .types = &type,
                                      .n_types = 1, .id = XIR_NO_ID, .before = at->op);
    const xir_status before = xir_network_status(at->c->net);
    xir_op *op = cls ? xir_network_add(at->c->net, &desc) : NULL;
    if (!op && !before) xir_network_clear_status(at->c->net);
    return op ? xir_op_output(op, 0) : (node_no_memory(at), NULL);
}

static xir_value *stored_of(xir_node *at, xir_value *q, const linear *t) { return view(at, q, t->stored); }

/* ---- constants -------------------------------------------------------------------------------------------------- */

/* One number, or one for each index of the axis, in dims that broadcast with v. Without a list, memory was out. */
static xir_value *along(xir_node *at, const xir_value *v, const linear *t, const xir_type *element,
                        const double *list) {
    if (!list || !v || xir_node_failed(at)) return NULL;
    if (t->n == 1) return xir_node_scalar(at, element, list[0]);
    xir_ints dims = xir_node_make_ints(at, v_rank(v), 1);
    if (!dims.v) return NULL;
    dims.v[t->axis] = (int64_t)t->n;
    return xir_node_constant(at, element, &dims, list, t->n);
}

static double *zeros_of(xir_node *at, const linear *t) {
    double *list = onnx_reals(at, (int64_t)t->n);
    for (size_t i = 0; list && i < t->n; i++) list[i] = (double)t->zeros[i];
    return list;
}

/* Scale or zero point as an input of the operators. */
static xir_value *operand(xir_node *at, const linear *t, const xir_type *element, const double *list) {
    const int64_t n = (int64_t)t->n;
    const xir_ints line = { (int64_t[]){ n }, 1 }, none = { (int64_t[]){ 0 }, 0 };
    return list ? xir_node_constant(at, element, t->n == 1 ? &none : &line, list, t->n) : NULL;
}

static const xir_type *real_type(xir_node *at, xir_float_format format) {
    const xir_type *type = xir_type_float(at->c->ctx, format);
    if (!type) node_no_memory(at);
    return type;
}

/* ---- to reals --------------------------------------------------------------------------------------------------- */

static onnx_form form_of(xir_node *at, xir_value *x, const linear *t, bool zero) {
    onnx_form f = { .in = { x }, .n_in = 1 };
    const xir_type *real = real_type(at, XIR_FLOAT_FP32);
    if (!real) return f;
    onnx_put_input(&f, 1, operand(at, t, real, t->scales));
    if (zero) onnx_put_input(&f, 2, operand(at, t, t->stored, zeros_of(at, t)));
    if (t->n > 1) f.sets[f.n_sets++] = (xir_set)INT("axis", t->axis);
    return f;
}

/* (stored - zero point) * scale in 64 bits. */
static xir_value *real64_of(xir_node *at, xir_value *q, const linear *t) {
    const xir_type *wide = real_type(at, XIR_FLOAT_FP64);
    xir_value *v = xir_node_cast(at, stored_of(at, q, t), wide);
    if (v && t->any_zero) v = xir_node_sum(at, v, along(at, q, t, wide, zeros_of(at, t)), 1, -1);
    return v ? xir_node_product(at, v, along(at, q, t, wide, t->scales)) : NULL;
}

static xir_value *real_of(xir_node *at, xir_value *q, const linear *t) {
    const xir_type *real = real_type(at, XIR_FLOAT_FP32), *type = real ? with_element(at, q, real) : NULL;
    if (!type) return NULL;
    if (!can_read(at, t)) return xir_node_cast(at, real64_of(at, q, t), real);
    const onnx_form f = form_of(at, stored_of(at, q, t), t, t->any_zero);
    if (xir_node_failed(at)) return NULL;
    xir_op *op = xir_node_make_foreign(at, "onnx::DequantizeLinear", onnx_inputs(&f), onnx_sets(&f), &type, 1);
    return op ? xir_op_output(op, 0) : NULL;
}

/* Any value as reals of 64 bits. */
static xir_value *wide_of(xir_node *at, xir_value *v) {
    linear t;
    if (is_quantised(v)) return read_type(at, v, &t) ? real64_of(at, v, &t) : NULL;
    return xir_node_cast(at, v, real_type(at, XIR_FLOAT_FP64));
}

/* ---- to quantised numbers --------------------------------------------------------------------------------------- */

/* QuantizeLinear with these scales. */
static xir_value *quantised_by(xir_node *at, xir_value *x, const linear *t, const double *scales) {
    linear own = *t;
    own.scales = scales;
    const onnx_form f = form_of(at, x, &own, true);
    const xir_type *type = x && !xir_node_failed(at) ? with_element(at, x, t->stored) : NULL;
    if (!type) return NULL;
    xir_op *op = xir_node_make_foreign(at, "onnx::QuantizeLinear", onnx_inputs(&f), onnx_sets(&f), &type, 1);
    return op ? view(at, xir_op_output(op, 0), t->element) : NULL;
}

/* Whether a multiple of a scale that the type has is not a float. */
static bool exceeds_floats(const linear *t) {
    for (size_t i = 0; i < t->n; i++) if ((t->most - t->least) * t->scales[i] > 0x1.fffffep127) return true;
    return false;
}

/* Whole reals of 64 bits, without the zero point, as the type's numbers: clamped, and stored. QuantizeLinear gives them
 * back from their multiples of the scale, so that a reader finds the type, unless these are not floats. */
static xir_value *stored_whole(xir_node *at, xir_value *whole, const linear *t, double least) {
    const xir_type *wide = real_type(at, XIR_FLOAT_FP64), *real = real_type(at, XIR_FLOAT_FP32);
    if (xir_node_failed(at) || !whole || !wide || !real) return NULL;
    if (t->any_zero) whole = xir_node_sum(at, whole, along(at, whole, t, wide, zeros_of(at, t)), 1, 1);
    if (t->bits <= 16) whole = xir_node_cast(at, whole, real);   /* more runtimes have a Clip of them */
    whole = whole ? xir_node_make(at, "ClampScalar", INS(whole), SETS(REAL("min", least), REAL("max", t->most))) : NULL;
    if (!whole) return NULL;
    if (!can_write(at, t) || exceeds_floats(t)) return view(at, xir_node_cast(at, whole, t->stored), t->element);
    xir_value *v = whole;
    if (t->any_zero) v = xir_node_sum(at, v, along(at, v, t, real, zeros_of(at, t)), 1, -1);
    v = v ? xir_node_product(at, v, along(at, v, t, real, t->scales)) : NULL;
    return v ? quantised_by(at, v, t, t->scales) : NULL;
}

/* Rounded half away from zero, as XIR stores results. */
static xir_value *stored_away(xir_node *at, xir_value *v, const linear *t, bool full) {
    const xir_type *wide = real_type(at, XIR_FLOAT_FP64);
    xir_value *x = wide_of(at, v);
    if (xir_node_failed(at) || !x) return NULL;
    xir_value *q = xir_node_quotient(at, x, along(at, x, t, wide, t->scales));
    return stored_whole(at, make_rounded(at, q), t, full || !t->sign ? t->least : -t->most);
}

/* ---- ops -------------------------------------------------------------------------------------------------------- */

/* Whether y has the axes of x. */
static bool keeps_axes(xir_node *at, const xir_value *x, const xir_value *y) {
    const xir_layout *a = xir_type_layout(xir_value_type(x)), *b = xir_type_layout(xir_value_type(y));
    bool same = v_rank(x) == v_rank(y);
    for (size_t i = 0; same && i < v_rank(x); i++) {
        const char was = a ? xir_layout_axis(a, i) : '*', now = b ? xir_layout_axis(b, i) : '*';
        same = v_dim(x, i) == v_dim(y, i) && (was == now || was == '*' || now == '*');
    }
    return same || xir_node_unsupported(at, "a cast that moves elements");
}

static bool give(xir_node *at, xir_value *v) { return v && xir_node_result(at, 0, v) && !xir_node_failed(at); }

static bool pair_cast(xir_node *at, xir_value *x, xir_value *y) {
    linear t;
    if (!keeps_axes(at, x, y)) return false;
    if (is_quantised(y)) return read_type(at, y, &t) && give(at, stored_away(at, x, &t, false));
    if (!read_type(at, x, &t)) return false;
    const xir_float_type *real = xir_float_type_of(xir_type_object(v_element(y)));
    const bool single = real && real->format == XIR_FLOAT_FP32;
    return give(at, single ? real_of(at, x, &t) : xir_node_cast(at, real64_of(at, x, &t), v_element(y)));
}

static bool pair_bits(xir_node *at, xir_value *x, xir_value *y) {
    const xir_type *from = is_quantised(x) ? xir_type_storage(v_element(x)) : v_element(x),
                   *to = is_quantised(y) ? xir_type_storage(v_element(y)) : v_element(y);
    linear t;
    if (!keeps_axes(at, x, y)) return false;
    if (!xir_type_equal(from, to)) return xir_node_unsupported(at, "bits of another type");
    if ((is_quantised(x) && !read_type(at, x, &t)) || (is_quantised(y) && !read_type(at, y, &t))) return false;
    xir_value *stored = is_quantised(x) ? view(at, x, from) : x;
    return give(at, is_quantised(y) ? view(at, stored, v_element(y)) : stored);
}

/* Quantised numbers in another type, half to even: with the quotient of both scales, as QLinearConv has it. */
static bool requantise(xir_node *at, xir_value *x, const linear *from, const linear *to) {
    const xir_type *real = real_type(at, XIR_FLOAT_FP32), *wide = real_type(at, XIR_FLOAT_FP64);
    const size_t n = from->n > to->n ? from->n : to->n;
    const linear *longer = from->n > to->n ? from : to;
    double *ratios = onnx_reals(at, (int64_t)n), *ones = onnx_reals(at, (int64_t)to->n);
    if (!ratios || !ones || !real || !wide) return false;
    if (from->n > 1 && to->n > 1 && (from->n != to->n || from->axis != to->axis))
        return xir_node_unsupported(at, "scales along two axes");
    for (size_t i = 0; i < n; i++) {
        ratios[i] = (double)(float)(from->scales[from->n > 1 ? i : 0] / to->scales[to->n > 1 ? i : 0]);
        if (!(ratios[i] > 0) || isinf(ratios[i]))
            return xir_node_unsupported(at, "a quotient of scales that is not a float");
    }
    for (size_t i = 0; i < to->n; i++) ones[i] = 1;
    xir_value *v = xir_node_cast(at, stored_of(at, x, from), wide);
    if (v && from->any_zero) v = xir_node_sum(at, v, along(at, x, from, wide, zeros_of(at, from)), 1, -1);
    v = v ? xir_node_cast(at, v, real) : NULL;
    v = v ? xir_node_product(at, v, along(at, x, longer, real, ratios)) : NULL;
    return v && give(at, quantised_by(at, v, to, ones));
}

static bool pair_quantize(xir_node *at, xir_value *x, xir_value *y) {
    linear to, from;
    const bool even = xir_node_is(at, "rounding", "HALF_EVEN"), full = xir_node_bool(at, "full_range", false);
    if (!keeps_axes(at, x, y) || !read_type(at, y, &to)) return false;
    if (!even) return give(at, stored_away(at, x, &to, full));
    if (to.sign && !full) return xir_node_unsupported(at, "half to even without the least integer");
    if (!can_write(at, &to))
        return xir_node_unsupported(at, "QuantizeLinear of %d bits or along an axis", (int)to.bits);
    if (is_quantised(x)) return read_type(at, x, &from) && requantise(at, x, &from, &to);
    const xir_float_type *real = xir_float_type_of(xir_type_object(v_element(x)));
    if (!real || real->format == XIR_FLOAT_FP64) return xir_node_unsupported(at, "other elements than floats");
    return give(at, quantised_by(at, xir_node_cast(at, x, real_type(at, XIR_FLOAT_FP32)), &to, to.scales));
}

/* Ops inside of an op belong to it, and to no other one. */
static bool has_parts(const xir_op *op) {
    for (size_t i = 0; i < op->cls->n_fields; i++) {
        xir_attr a;
        if (op->cls->fields[i].kind != XIR_KIND_OPS || xir_op_get(op, op->cls->fields[i].name, &a)) continue;
        if (a.as.ops.size) return true;
    }
    return false;
}

static bool has_quantised_constants(const xir_op *op) {
    for (size_t i = 0; i < op->cls->n_fields; i++) {
        const xir_field *f = &op->cls->fields[i];
        xir_attr a;
        if (f->kind != XIR_KIND_PARAMS || xir_op_get(op, f->name, &a) || a.is_null) continue;
        if (is_quantised(a.as.params)) return true;
    }
    return false;
}

/* Operations that move elements. A Pad has new ones, too. */
static bool moves(xir_node *at) {
    static const char *const names[] = { "Copy", "Transpose", "Reshape", "Squeeze", "Slice", "Expand", "PixelShuffle",
                                         "Concat", "Split", "Stack", "Tile", "Gather", "Unstack", "Roll", "SwapOrder",
                                         "ChannelShuffle", "GatherElements", "GatherND", "Pad" };
    for (size_t i = 0; i < COUNT(names); i++) if (node_is_class(at, names[i])) return true;
    return false;
}

/* Whether the quantised values around the op are of one type, or store the same integers: then those of its outputs
 * need to be what inference makes of its inputs, which has scales and zero points follow the elements. */
static bool has_one_type(const xir_op *op, bool by_storage) {
    const xir_type *all = NULL;
    const size_t n_in = xir_op_input_count(op), n = n_in + xir_op_output_count(op);
    for (size_t i = 0; i < n; i++) {
        const xir_value *v = i < n_in ? xir_op_input(op, (int64_t)i) : xir_op_output(op, (int64_t)(i - n_in));
        if (i >= n_in && !is_quantised(v)) return false;
        if (!v || !is_quantised(v)) continue;
        const xir_type *own = by_storage ? xir_type_storage(v_element(v)) : v_element(v);
        if (all && !xir_type_equal(all, own)) return false;
        all = own;
    }
    return all;
}

static bool follows(xir_node *at) {
    const xir_type **types;
    const xir_status status = onnx_inferred(at, at->op, &types);
    bool same = !status;
    for (size_t i = 0; same && i < xir_op_output_count(at->op); i++) {
        const xir_value *v = xir_op_output(at->op, (int64_t)i);
        same = xir_type_as_tensor(types[i]) && xir_type_equal(xir_type_element(types[i]), v_element(v));
    }
    return same;
}

/* Whether new elements of a Pad are not the integer 0: 0 as a real is the zero point. */
static bool fills_otherwise(xir_node *at, const linear *t) {
    return node_is_class(at, "Pad") && xir_node_is(at, "mode", "CONSTANT") &&
           (t->any_zero || xir_node_real(at, "value", 0) != 0);
}

/* Whether the op copies integers, as the executor does. */
static bool copies(xir_node *at) {
    linear t;
    if (!moves(at) || !(has_one_type(at->op, false) || (has_one_type(at->op, true) && follows(at)))) return false;
    return !node_is_class(at, "Pad") || (read_type(at, xir_op_output(at->op, 0), &t) && !fills_otherwise(at, &t));
}

static bool has_zero_points(const xir_value *v) {
    const xir_i64s zeros = xir_type_zero_points(xir_value_type(v));
    for (size_t i = 0; i < zeros.size; i++) if (zeros.data[i]) return true;
    return false;
}

/* Whether the op copies integers in the executor, but has a form on reals here, which must keep the least one too. */
static bool copies_as_reals(xir_node *at) {
    const bool copies = (node_is_class(at, "Unfold") && !has_zero_points(xir_op_output(at->op, 0))) ||
                        (node_is_class(at, "ScatterND") && xir_node_is(at, "reduction", "NONE")) ||
                        (node_is_class(at, "Upsample") && xir_node_is(at, "interpolation", "NEAREST")) ||
                        (node_is_class(at, "Resize") && xir_node_is(at, "interpolation", "INTER_NEAREST"));
    return copies && has_one_type(at->op, true) && follows(at);
}

/* An output of the op on reals or integers, as the node has it. `full`: with the least integer. */
static bool give_output(xir_node *at, size_t i, xir_value *y, bool moved, bool full) {
    const xir_value *old = xir_op_output(at->op, (int64_t)i);
    linear t;
    xir_value *v = y;
    if (v_rank(y) != v_rank(old)) return xir_node_unsupported(at, "output %zu has other dims with reals", i);
    if (is_quantised(old)) {
        if (!read_type(at, old, &t)) return false;
        v = moved ? view(at, y, t.element) : stored_away(at, y, &t, full);
    } else if (!xir_type_equal(v_element(y), v_element(old))) {
        v = xir_node_cast(at, y, v_element(old));
    }
    return v && xir_node_result(at, i, v);
}

static bool pair_any(xir_node *at) {
    const size_t n = xir_op_input_count(at->op);
    xir_value **in = node_take(at, (n + 1) * sizeof *in);
    if (!in) return node_no_memory(at);
    if (has_parts(at->op)) return xir_node_unsupported(at, "ops inside of an op");
    if (has_quantised_constants(at->op)) return xir_node_unsupported(at, "quantised constants among its attributes");
    const bool moved = copies(at), full = !moved && copies_as_reals(at);
    const bool wide = moves(at);   /* what is moved to another type is not rounded before */
    if (xir_node_failed(at)) return false;
    for (size_t i = 0; i < n; i++) {
        linear t;
        in[i] = xir_op_input(at->op, (int64_t)i);
        if (!is_quantised(in[i])) continue;
        if (!read_type(at, in[i], &t)) return false;
        const bool exact = wide || (full && t.bits > 16);
        in[i] = moved ? stored_of(at, in[i], &t) : exact ? real64_of(at, in[i], &t) : real_of(at, in[i], &t);
        if (!in[i]) return false;
    }
    xir_op *op = node_remade(at, in, n);
    if (!op) return false;
    if (xir_op_output_count(op) < at->n_out) return xir_node_unsupported(at, "it has other outputs with reals");
    for (size_t i = 0; i < at->n_out; i++)
        if (!give_output(at, i, xir_op_output(op, (int64_t)i), moved, full)) return false;
    return !xir_node_failed(at);
}

static bool onnx_back_pairs(xir_node *at) {
    xir_value *x = xir_op_input_count(at->op) ? xir_op_input(at->op, 0) : NULL, *y = xir_op_output(at->op, 0);
    for (size_t i = 0; i < xir_op_input_count(at->op) + xir_op_output_count(at->op); i++) {
        const size_t n = xir_op_input_count(at->op);
        const xir_value *v = i < n ? xir_op_input(at->op, (int64_t)i) : xir_op_output(at->op, (int64_t)(i - n));
        const xir_tensor_type *type = v ? xir_type_as_tensor(xir_value_type(v)) : NULL;
        if (v && (!type || type->merged_distrs.size)) return xir_node_unsupported(at, "elements that are padding");
    }
    if (x && xir_op_is(at->op, xir_cast_class())) return pair_cast(at, x, y);
    if (x && xir_op_is(at->op, xir_bit_cast_class())) return pair_bits(at, x, y);
    if (x && xir_op_is(at->op, xir_quantize_class())) return pair_quantize(at, x, y);
    return pair_any(at);
}

static bool has_quantised(const xir_op *op) {
    for (size_t i = 0; i < xir_op_input_count(op); i++) if (is_quantised(xir_op_input(op, (int64_t)i))) return true;
    for (size_t i = 0; i < xir_op_output_count(op); i++) if (is_quantised(xir_op_output(op, (int64_t)i))) return true;
    return false;
}

xir_convert_fn *onnx_pairs(const xir_node *at) { return has_quantised(at->op) ? onnx_back_pairs : NULL; }

/* ---- the end of views ------------------------------------------------------------------------------------------- */

bool onnx_is_view(const xir_op *op) {
    if (!xir_str_equal(xir_class_key(xir_op_class(op)), XIR_STR("onnx::Identity")) || xir_op_input_count(op) != 1)
        return false;
    const xir_value *x = xir_op_input(op, 0), *y = xir_op_output(op, 0);
    return x && y && is_quantised(x) != is_quantised(y);
}

/* In a network of which ops stay, a view is XIR's op for it. */
static xir_status as_bit_cast(xir_network *net, xir_op *op) {
    xir_context *ctx = xir_network_context(net);
    xir_value *x = xir_op_input(op, 0), *y = xir_op_output(op, 0);
    const xir_type *type = xir_value_type(y);
    int64_t dims[64];
    const size_t rank = xir_type_rank(type);
    if (rank > COUNT(dims)) return XIR_OK;
    for (size_t i = 0; i < rank; i++) dims[i] = xir_type_dim(type, (int64_t)i, false);
    xir_bit_cast_attrs attrs = xir_bit_cast_init();
    const xir_type *known = xir_type_tensor(ctx, xir_type_element(type), xir_type_layout(type), dims, rank);
    attrs.target_dtype = xir_type_as_tensor(known);
    if (!known) return XIR_E_MEMORY;
    xir_op *made = xir_network_add(net, &XIR_INIT(xir_op_desc, .cls = xir_class_find_decl(ctx, xir_bit_cast_class()),
        .attrs = &attrs, .inputs = &x, .n_inputs = 1, .types = &type, .n_types = 1, .id = XIR_NO_ID, .before = op));
    if (!made) return XIR_E_MEMORY;
    xir_value *v = xir_op_output(made, 0);
    xir_status status = xir_value_set_name(v, xir_value_name(y));
    if (!status) status = xir_value_replace(y, v);
    return status ? status : xir_op_erase(op);
}

xir_status onnx_finish(xir_network *net, bool *changed) {
    bool whole = true, any = false;
    xir_status status = XIR_OK;
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) {
        const bool end = xir_op_is(op, xir_input_class()) || xir_op_is(op, xir_output_class());
        whole &= end || xir_class_is_opaque(xir_op_class(op));
        any |= onnx_is_view(op);
    }
    for (xir_op *op = xir_network_first(net), *next; op && any && !whole && !status; op = next) {
        next = xir_op_next(op);
        if (!onnx_is_view(op)) continue;
        status = as_bit_cast(net, op);
        *changed = true;
    }
    return status;
}
