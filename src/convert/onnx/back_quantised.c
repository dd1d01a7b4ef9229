/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Quantised types as ONNX has them: scales and zero points as inputs of DequantizeLinear and QuantizeLinear. There is
 * always a zero point: ONNX Runtime 1.20 computes wrong products of signed integers without one, at its default level
 * of optimisation. What these operators do not have in a version is arithmetic in Mul, Add, Div and Cast. */
#include <math.h>
#include <xir/quant.h>
#include "formula/formulas.h"
#include "formula/text.h"
#include "onnx/back_quantised.h"

enum { MOST_SCALES = 1 << 20 };

/* ---- types ------------------------------------------------------------------------------------------------------ */

bool linear_is(const xir_value *v) {
    return v && xir_type_as_tensor(xir_value_type(v)) && xir_type_is_quantized(v_element(v));
}

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

bool linear_read(xir_node *at, const xir_value *v, linear *t) {
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

/* Return true if DequantizeLinear and QuantizeLinear of the version have the type. */
static bool has_axis(const xir_node *at, const linear *t) { return t->n == 1 || onnx_target(at) >= 13; }
static bool can_read(const xir_node *at, const linear *t) {
    if (t->bits == 32) return t->sign && !t->any_zero && has_axis(at, t);
    return has_axis(at, t) && (t->bits == 8 || onnx_target(at) >= 21);
}
bool linear_can_write(const xir_node *at, const linear *t) {
    return has_axis(at, t) && (t->bits == 8 || (t->bits < 32 && onnx_target(at) >= 21));
}

/* ---- views ------------------------------------------------------------------------------------------------------ */

static const xir_type *with_element(xir_node *at, const xir_value *v, const xir_type *element) {
    const xir_type *type = xir_node_failed(at) || !v || !element ? NULL
                         : xir_type_with_element(at->c->ctx, xir_value_type(v), element, NULL);
    if (!type) node_no_memory(at);
    return type;
}

bool onnx_is_view(const xir_op *op) {
    if (!xir_str_equal(xir_class_key(xir_op_class(op)), XIR_STR("onnx::Identity")) || xir_op_input_count(op) != 1)
        return false;
    const xir_value *x = xir_op_input(op, 0), *y = xir_op_output(op, 0);
    return x && y && linear_is(x) != linear_is(y);
}

/* The value that v is a view of, if it has this type. A result of the network may have got other letters. */
static xir_value *viewed(const xir_value *v, const xir_type *type) {
    const xir_op *op = xir_value_op(v);
    xir_value *x = op && onnx_is_view(op) ? xir_op_input(op, 0) : NULL;
    return x && xir_type_equal(xir_value_type(x), type) ? x : NULL;
}

/* No row checks a node that has a quantised side. */
xir_value *linear_view(xir_node *at, xir_value *v, const xir_type *element) {
    const xir_type *type = v && !xir_node_failed(at) ? with_element(at, v, element) : NULL;
    if (!type) return NULL;
    xir_value *source = viewed(v, type);
    if (source) return source;
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

/* ---- constants -------------------------------------------------------------------------------------------------- */

xir_value *linear_along(xir_node *at, const xir_value *v, const linear *t, const xir_type *element,
                        const double *list) {
    if (!list || !v || xir_node_failed(at)) return NULL;
    if (t->n == 1) return xir_node_scalar(at, element, list[0]);
    const xir_ints dims = node_line(at, v_rank(v), t->axis, (int64_t)t->n);
    return xir_node_constant(at, element, &dims, list, t->n);
}

double *linear_zeros(xir_node *at, const linear *t) {
    double *list = node_reals(at, (int64_t)t->n);
    for (size_t i = 0; list && i < t->n; i++) list[i] = (double)t->zeros[i];
    return list;
}

/* Scale or zero point as an input of the operators. */
static xir_value *operand(xir_node *at, const linear *t, const xir_type *element, const double *list) {
    const int64_t n = (int64_t)t->n;
    const xir_ints line = { (int64_t[]){ n }, 1 }, none = { (int64_t[]){ 0 }, 0 };
    return list ? xir_node_constant(at, element, t->n == 1 ? &none : &line, list, t->n) : NULL;
}

const xir_type *linear_reals(xir_node *at, xir_float_format format) {
    const xir_type *type = xir_type_float(at->c->ctx, format);
    if (!type) node_no_memory(at);
    return type;
}

/* ---- to reals --------------------------------------------------------------------------------------------------- */

static onnx_form form_of(xir_node *at, xir_value *x, const linear *t) {
    onnx_form f = { .in = { x }, .n_in = 1 };
    const xir_type *real = linear_reals(at, XIR_FLOAT_FP32);
    if (!real) return f;
    onnx_put_input(&f, 1, operand(at, t, real, t->scales));
    onnx_put_input(&f, 2, operand(at, t, t->stored, linear_zeros(at, t)));
    if (t->n > 1) f.sets[f.n_sets++] = (xir_set)INT("axis", t->axis);
    return f;
}

/* (stored - zero point) * scale in 64 bits. */
xir_value *linear_real64(xir_node *at, xir_value *q, const linear *t) {
    const xir_type *wide = linear_reals(at, XIR_FLOAT_FP64);
    xir_value *v = xir_node_cast(at, linear_stored(at, q, t), wide);
    if (v && t->any_zero) v = xir_node_sum(at, v, linear_along(at, q, t, wide, linear_zeros(at, t)), 1, -1);
    return v ? xir_node_product(at, v, linear_along(at, q, t, wide, t->scales)) : NULL;
}

xir_value *linear_real(xir_node *at, xir_value *q, const linear *t) {
    const xir_type *real = linear_reals(at, XIR_FLOAT_FP32), *type = real ? with_element(at, q, real) : NULL;
    if (!type) return NULL;
    if (!can_read(at, t)) return xir_node_cast(at, linear_real64(at, q, t), real);
    const onnx_form f = form_of(at, linear_stored(at, q, t), t);
    return foreign_value(at, "onnx::DequantizeLinear", onnx_inputs(&f), onnx_sets(&f), type);
}

/* The axis of several scales of a DequantizeLinear; false if it has other attributes. */
static bool axis_of(const xir_op *op, int64_t *axis) {
    const xir_map *extra = xir_op_extra(op);
    *axis = 1;
    for (size_t i = 0; extra && i < extra->size; i++) {
        const xir_entry *e = &extra->entries[i];
        if (!xir_str_equal(e->key, XIR_STR("axis")) || e->value.kind != XIR_ANY_INT) return false;
        *axis = e->value.as.integer;
    }
    return true;
}

xir_value *onnx_turned_constant(xir_node *at, xir_value *x, const xir_ints *order) {
    xir_op *op = xir_node_failed(at) || !x ? NULL : xir_value_op(x);
    xir_value *in[3] = { NULL };
    int64_t axis, now = 0;
    uint64_t size;
    if (!op || !xir_str_equal(xir_class_key(xir_op_class(op)), XIR_STR("onnx::DequantizeLinear"))) return NULL;
    for (size_t i = 0; i < 3; i++) in[i] = xir_op_input(op, (int64_t)i);
    if (!in[0] || !in[1] || !xir_value_is_params(in[0]) || v_rank(in[0]) != order->n) return NULL;
    if (!axis_of(op, &axis)) return NULL;
    if (xir_type_bytes(xir_value_type(in[0]), &size) || size > converted_left(at->c)) return NULL;
    if (xir_type_storage_bits(v_element(in[0])) % 8 || linear_is(in[0])) return NULL;
    if (axis < 0) axis += (int64_t)order->n;
    while (now < (int64_t)order->n && order->v[now] != axis) now++;
    in[0] = xir_node_transposed(at, in[0], order->v, order->n, NULL);
    if (!in[0]) return NULL;
    const xir_set set = INT("axis", now);
    return foreign_value(at, "onnx::DequantizeLinear", (xir_values){ in, in[2] ? 3 : 2 },
                         (xir_sets){ &set, v_rank(in[1]) ? 1 : 0 }, xir_value_type(xir_op_output(at->op, 0)));
}

/* Any value as reals of 64 bits. */
static xir_value *wide_of(xir_node *at, xir_value *v) {
    linear t;
    if (linear_is(v)) return linear_read(at, v, &t) ? linear_real64(at, v, &t) : NULL;
    return xir_node_cast(at, v, linear_reals(at, XIR_FLOAT_FP64));
}

/* ---- to quantised numbers --------------------------------------------------------------------------------------- */

xir_value *linear_quantised_by(xir_node *at, xir_value *x, const linear *t, const double *scales) {
    linear own = *t;
    own.scales = scales;
    const onnx_form f = form_of(at, x, &own);
    const xir_type *type = x && !xir_node_failed(at) ? with_element(at, x, t->stored) : NULL;
    if (!type) return NULL;
    xir_value *q = foreign_value(at, "onnx::QuantizeLinear", onnx_inputs(&f), onnx_sets(&f), type);
    return q ? linear_view(at, q, t->element) : NULL;
}

/* Returns true if a multiple of a scale that the type has is not a float. */
static bool exceeds_floats(const linear *t) {
    for (size_t i = 0; i < t->n; i++) if ((t->most - t->least) * t->scales[i] > 0x1.fffffep127) return true;
    return false;
}

xir_value *linear_clamped(xir_node *at, xir_value *v, double low, double high) {
    const bool single = (double)(float)low == low && (double)(float)high == high;
    if (single) return xir_node_make(at, "ClampScalar", INS(v), SETS(REAL("min", low), REAL("max", high)));
    return make_formula(at, "Minimum(Maximum(x, a), b)", INS(v), NUMBERS(low, high));
}

/* Integers as reals of 64 bits, without the zero point, as the type's numbers: clamped, and stored. QuantizeLinear
 * gives them back from their multiples of the scale, so that a reader finds the type, unless these are not floats. */
static xir_value *stored_whole(xir_node *at, xir_value *whole, const linear *t, double least) {
    const xir_type *wide = linear_reals(at, XIR_FLOAT_FP64), *real = linear_reals(at, XIR_FLOAT_FP32);
    if (xir_node_failed(at) || !whole || !wide || !real) return NULL;
    if (t->any_zero) whole = xir_node_sum(at, whole, linear_along(at, whole, t, wide, linear_zeros(at, t)), 1, 1);
    if (t->bits <= 16) whole = xir_node_cast(at, whole, real);   /* more runtimes have a Clip of them */
    whole = linear_clamped(at, whole, least, t->most);
    if (!linear_can_write(at, t) || exceeds_floats(t))
        return linear_view(at, xir_node_cast(at, whole, t->stored), t->element);
    xir_value *v = whole;
    if (t->any_zero) v = xir_node_sum(at, v, linear_along(at, v, t, real, linear_zeros(at, t)), 1, -1);
    v = v ? xir_node_product(at, v, linear_along(at, v, t, real, t->scales)) : NULL;
    return v ? linear_quantised_by(at, v, t, t->scales) : NULL;
}

xir_value *linear_rounded(xir_node *at, xir_value *v, const linear *t, bool full) {
    const xir_type *wide = linear_reals(at, XIR_FLOAT_FP64);
    xir_value *x = wide_of(at, v);
    xir_value *q = xir_node_quotient(at, x, linear_along(at, x, t, wide, t->scales));
    return stored_whole(at, make_rounded(at, q), t, full || !t->sign ? t->least : -t->most);
}

/* Such numbers are stored again, so the least one with a sign becomes the next. */
xir_value *linear_chosen(xir_node *at, xir_value *v, const linear *t) {
    if (t->n != 1 || !linear_can_write(at, t) || exceeds_floats(t)) return linear_rounded(at, v, t, false);
    const double scale = t->scales[0], zero = (double)t->zeros[0];
    if (t->sign) v = linear_clamped(at, v, (float)((-t->most - zero) * scale), (float)((t->most - zero) * scale));
    return linear_quantised_by(at, v, t, t->scales);
}
