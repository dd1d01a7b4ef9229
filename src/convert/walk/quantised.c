/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Quantised types in a converted network. Hooks convert each node by itself, so a quantised value becomes real numbers
 * by a Cast, or integers by a BitCast, before each operation. Here, in execution order:
 *
 *     Reshape(Cast(q))             =>  Cast(Reshape(q))     operations that only move or compare elements
 *     Conv2d(Cast(q), Cast(w), …)  =>  Conv2d(q, w, …)      products of quantised numbers
 *     Quantize(Cast(q)) to type q  =>  q                    if all numbers come back; also a BitCast of a BitCast
 *
 * Constants stay as they are stored. At the end, what nothing uses is erased; its name goes to the quantised value. */
#include <math.h>
#include <xir/quant.h>
#include "node/helpers.h"
#include "walk/walk.h"
#include "support/spent.h"

/* ---- views ------------------------------------------------------------------------------------------------------- */

static bool is_any(const xir_op *op, const xir_class_decl *const *classes, size_t n) {
    for (size_t i = 0; i < n; i++) if (xir_op_is(op, classes[i])) return true;
    return false;
}

/* The quantised value of which this is a Cast to float32, or a BitCast to integers; otherwise NULL. */
static xir_value *quantised_of(const xir_value *v, const xir_class_decl *how) {
    xir_op *op = v ? xir_value_op(v) : NULL;
    xir_value *from = op && xir_op_is(op, how) ? xir_op_input(op, 0) : NULL;
    if (!from || xir_type_kind_of(v_element(from)) != XIR_TYPE_QUANTIZED) return NULL;
    if (xir_type_is_quantized(v_element(v)) || v_rank(v) != v_rank(from)) return NULL;
    if (how == xir_bit_cast_class()) return from;
    return xir_type_equal(v_element(v), xir_type_expressed(v_element(from))) ? from : NULL;
}

/* ---- moves ------------------------------------------------------------------------------------------------------- */

/* Returns true if signed integers are stored. MaxPool computes with numbers and stores its results again, for which the
 * least signed integer, -128 of 8 bits, is out of range. */
static bool may_be_least(const xir_value *view) {
    const xir_op *op = view ? xir_value_op(view) : NULL;
    const xir_value *from = op ? xir_op_input(op, 0) : NULL;
    const xir_type *stored = from ? xir_type_storage(v_element(from)) : NULL;
    const xir_integer_type *of = stored ? xir_integer_type_of(xir_type_object(stored)) : NULL;
    return !of || of->sign;
}

/* Operations whose results are elements of their inputs: all inputs, or the first one. */
static bool moves_all(const xir_op *op) { return xir_op_is(op, xir_concat_class()); }
static bool moves(const xir_op *op) {
    const xir_class_decl *const classes[] = {
        xir_transpose_class(), xir_reshape_class(), xir_squeeze_class(), xir_slice_class(), xir_expand_class(),
        xir_pixel_shuffle_class(),
    };
    const xir_class_decl *const greatest[] = { xir_max_pool1d_class(), xir_max_pool2d_class(), xir_max_pool3d_class() };
    if (moves_all(op) || is_any(op, classes, COUNT(classes))) return true;
    return is_any(op, greatest, COUNT(greatest)) && !may_be_least(xir_op_input(op, 0));
}

/* Returns true if all elements that the op moves are views of one kind of the same quantised type. */
static bool moves_views(const xir_op *op, const xir_class_decl *how) {
    const size_t n = moves_all(op) ? xir_op_input_count(op) : 1;
    const xir_value *first = quantised_of(xir_op_input(op, 0), how);
    for (size_t i = 0; first && i < n; i++) {
        const xir_value *q = quantised_of(xir_op_input(op, (int64_t)i), how);
        if (!q || !xir_type_equal(v_element(q), v_element(first))) return false;
    }
    return first && xir_op_output_count(op) == 1;
}

/* Infers the op again; what it had stays if its quantised type does not follow. */
static bool infers(conversion *c, xir_op *op) {
    const xir_status before = xir_network_status(c->net);
    const xir_status status = xir_op_infer(op, true);
    if (!status) return xir_type_is_quantized(v_element(xir_op_output(op, 0)));
    if (status == XIR_E_MEMORY) c->no_memory = true;
    else if (!before) xir_network_clear_status(c->net);
    return false;
}

/* A type as an attribute, in which open dims are unknown. */
static const xir_tensor_type *target_of(conversion *c, const xir_type *type) {
    const size_t rank = xir_type_rank(type);
    int64_t *dims = arena_take(&c->scratch, (rank + 1) * sizeof *dims);
    for (size_t i = 0; dims && i < rank; i++) dims[i] = xir_type_dim(type, (int64_t)i, false);
    return dims ? xir_type_as_tensor(xir_type_tensor(c->ctx, xir_type_element(type), xir_type_layout(type), dims, rank))
                : NULL;
}

static xir_value *add_view(conversion *c, const xir_class_decl *how, xir_value *from, const xir_type *type,
                           xir_op *before) {
    xir_cast_attrs cast = xir_cast_init();
    xir_bit_cast_attrs bits = xir_bit_cast_init();
    cast.target_dtype = bits.target_dtype = target_of(c, type);
    if (!cast.target_dtype) return c->no_memory = true, NULL;
    const void *attrs = how == xir_cast_class() ? (const void *)&cast : &bits;
    xir_op *op = xir_network_add(c->net, &XIR_INIT(xir_op_desc,
        .cls = xir_class_find_decl(c->ctx, how), .attrs = attrs, .inputs = &from, .n_inputs = 1,
        .types = &type, .n_types = 1, .target = xir_op_target(xir_value_op(from)), .id = XIR_NO_ID, .before = before));
    if (!op) c->no_memory = true;
    return op ? xir_op_output(op, 0) : NULL;
}

/* Gives `to` the name and the tags of `from`, which loses its name. */
static bool take_name(conversion *c, xir_value *from, xir_value *to) {
    const xir_map *tags = xir_value_tags(from);
    const xir_status status = xir_value_set_name(to, xir_value_name(from));
    for (size_t k = 0; !status && tags && k < tags->size; k++) {
        if (xir_value_set_tag(to, tags->entries[k].key, &tags->entries[k].value)) c->no_memory = true;
    }
    if (status || xir_value_set_name(from, XIR_STR(""))) c->no_memory = true;
    return !c->no_memory;
}

/* Moves what is stored, and views the result. */
static void move_quantised(conversion *c, xir_op *op, const xir_class_decl *how) {
    const size_t n = moves_all(op) ? xir_op_input_count(op) : 1;
    xir_value **was = arena_take(&c->scratch, n * sizeof *was), *y = xir_op_output(op, 0);
    const xir_type *type = xir_value_type(y);
    if (!was) c->no_memory = true;
    for (size_t i = 0; was && i < n; i++) {
        was[i] = xir_op_input(op, (int64_t)i);
        if (xir_op_set_input(op, i, quantised_of(was[i], how))) c->no_memory = true;
    }
    if (c->no_memory) return;
    if (!infers(c, op)) {
        for (size_t i = 0; i < n; i++) if (xir_op_set_input(op, i, was[i])) c->no_memory = true;
        if (xir_value_set_type(y, type)) c->no_memory = true;
        return;
    }
    xir_value *view = add_view(c, how, y, type, xir_op_next(op));
    if (!view || !take_name(c, y, view)) return;
    if (xir_value_replace(y, view) || xir_op_set_input(xir_value_op(view), 0, y)) c->no_memory = true;
}

/* ---- products ---------------------------------------------------------------------------------------------------- */

static bool is_conv(const xir_op *op) {
    const xir_class_decl *const classes[] = {
        xir_conv1d_class(),           xir_conv2d_class(),           xir_conv3d_class(),
        xir_conv_transpose1d_class(), xir_conv_transpose2d_class(), xir_conv_transpose3d_class(),
    };
    return is_any(op, classes, COUNT(classes));
}

/* A constant kernel that a Transpose turns, which letters can express: the op finds the axes by them. */
static xir_value *by_letters(conversion *c, const xir_value *v) {
    const xir_op *op = xir_value_op(v);
    if (!op || !xir_op_is(op, xir_transpose_class()) || !xir_value_is_params(xir_op_input(op, 0))) return NULL;
    const xir_value *from = xir_op_input(op, 0);
    const xir_transpose_attrs *a = op->attrs;
    char letters[8] = "";
    const size_t rank = v_rank(v);
    if (rank >= sizeof letters || a->dims.size != rank || v_rank(from) != rank) return NULL;
    for (size_t i = 0; i < rank; i++) {
        const int64_t axis = a->dims.data[i] < 0 ? a->dims.data[i] + (int64_t)rank : a->dims.data[i];
        if (axis < 0 || axis >= (int64_t)rank) return NULL;   /* nobody has checked the op */
        letters[axis] = xir_layout_axis(xir_type_layout(xir_value_type(v)), i);
    }
    if (strlen(letters) != rank) return NULL;
    const xir_layout *layout = xir_layout_parse(c->ctx, xir_str_of(letters), NULL);
    const xir_type *type = layout ? xir_type_with_layout(c->ctx, xir_value_type(from), layout, NULL) : NULL;
    xir_value *made = type ? params_alias(c->net, from) : NULL;
    if (!made || xir_value_set_type(made, type) || xir_value_set_name(made, xir_value_name(from))) c->no_memory = true;
    return c->no_memory ? NULL : made;
}

xir_value *conversion_run_constant(conversion *c, const xir_op *op, xir_str name) {
    xir_array *array = NULL;
    uint64_t bytes;
    const xir_type *type = xir_value_type(xir_op_output(op, 0));
    if (!c->ctx->run_op || xir_type_bytes(type, &bytes) || bytes > converted_left(c)) return NULL;
    const xir_status status = c->ctx->run_op(op, &array, 1, c->within, NULL);
    if (status == XIR_E_MEMORY) c->no_memory = true;
    if (status == XIR_E_CANCELLED) c->cancelled = true;
    if (status) return NULL;
    xir_value *made = xir_params_from_array(c->net, name, array);
    c->bytes.constants += bytes;
    xir_array_free(array);
    if (!made || xir_value_set_type(made, type)) c->no_memory = true;
    return c->no_memory ? NULL : made;
}

/* The same for a matrix, with its elements moved, if there is room for them. */
static xir_value *moved_constant(conversion *c, xir_value *v) {
    xir_op *op = xir_value_op(v);
    if (!op || !xir_op_is(op, xir_transpose_class())) return NULL;
    const xir_value *from = xir_op_input(op, 0);
    if (!xir_value_is_params(from) || !xir_params_has_data(from)) return NULL;
    return conversion_run_constant(c, op, xir_value_name(from));
}

static xir_value *weights_of(conversion *c, const xir_op *op, xir_value *q) {
    xir_value *constant = is_conv(op) ? by_letters(c, q) : moved_constant(c, q);
    return constant ? constant : q;
}

/* Products with quantised weights take them as they are, then the map and a bias, too. */
static void multiply_quantised(conversion *c, xir_op *op) {
    xir_value *x = quantised_of(xir_op_input(op, 0), xir_cast_class()),
              *w = quantised_of(xir_op_input(op, 1), xir_cast_class()), *b = xir_op_input(op, 2);
    if (!w || (xir_op_is(op, xir_multiply_class()) && !(x && xir_type_is_quantized(v_element(xir_op_output(op, 0))))))
        return;
    w = weights_of(c, op, w);
    if (c->no_memory) return;
    if (xir_op_is(op, xir_matmul_class()) && x && xir_value_is_params(x) && xir_value_is_params(w)) return;
    if (xir_op_set_input(op, 1, w) || (x && xir_op_set_input(op, 0, x))) c->no_memory = true;
    b = x && b ? quantised_of(b, xir_cast_class()) : NULL;
    if (b && xir_op_set_input(op, 2, b)) c->no_memory = true;
}

/* ---- round trips ------------------------------------------------------------------------------------------------- */

/* Returns true if all numbers of a type are stored again as what they are: they are finite as float32, which has their
 * digits, and none is out of the range that the Quantize stores. */
static bool come_back(const xir_op *quantize, const xir_type *type) {
    const xir_quantize_attrs *a = quantize->attrs;
    const xir_scales *scales = xir_type_scale(type);
    const xir_integer_type *stored = xir_integer_type_of(xir_type_object(xir_type_storage(type)));
    if (!stored || stored->ibits > 16 || (stored->sign && !a->full_range)) return false;
    const double most = (double)((UINT64_C(1) << stored->ibits) - 1);   /* of a number minus its zero point */
    for (size_t i = 0; i < xir_scales_count(scales); i++)
        if (!isfinite((float)(xir_scales_at(scales, i) * most))) return false;
    return true;
}

static void skip_round_trip(conversion *c, xir_op *op) {
    const bool bits = xir_op_is(op, xir_bit_cast_class());
    xir_value *q = quantised_of(xir_op_input(op, 0), bits ? xir_bit_cast_class() : xir_cast_class()),
              *y = xir_op_output(op, 0);
    if (!q || !xir_type_equal(v_element(q), v_element(y)) || (!bits && !come_back(op, v_element(y)))) return;
    if (xir_value_replace(y, q)) c->no_memory = true;
}

/* ---- the end ----------------------------------------------------------------------------------------------------- */

/* Returns true if the name of a value is free to be that of another one, which is made by an op of its own. */
static bool can_be_named(const xir_value *v) {
    const xir_op *op = xir_value_op(v);
    return op && !xir_op_is(op, xir_input_class());
}

static void erase_unused(conversion *c) {
    const xir_class_decl *const classes[] = {
        xir_cast_class(), xir_bit_cast_class(), xir_quantize_class(), xir_transpose_class(),
    };
    for (xir_op *op = xir_network_last(c->net), *prev; op && !c->no_memory; op = prev) {
        prev = xir_op_prev(op);
        xir_value *y = is_any(op, classes, COUNT(classes)) ? xir_op_output(op, 0) : NULL;
        xir_value *x = y ? xir_op_input(op, 0) : NULL;
        if (!x || xir_value_uses(y)) continue;
        if (!xir_type_is_quantized(v_element(x)) && !xir_type_is_quantized(v_element(y))) continue;
        const bool view = !xir_op_is(op, xir_transpose_class()) && xir_type_is_quantized(v_element(x));
        if (view && xir_value_name(y).size && can_be_named(x) && !take_name(c, y, x)) return;
        if (xir_op_erase(op) != XIR_OK) c->no_memory = true;
    }
}

xir_status conversion_take_quantised(conversion *c) {
    const xir_class_decl *const trips[] = { xir_quantize_class(), xir_bit_cast_class() },
                         *const products[] = { xir_matmul_class(), xir_multiply_class() };
    for (xir_op *op = xir_network_first(c->net), *next; op && !c->no_memory && !c->cancelled; op = next) {
        next = xir_op_next(op);
        if (moves(op) && moves_views(op, xir_cast_class())) move_quantised(c, op, xir_cast_class());
        else if (moves(op) && moves_views(op, xir_bit_cast_class())) move_quantised(c, op, xir_bit_cast_class());
        else if (is_conv(op) || is_any(op, products, COUNT(products))) multiply_quantised(c, op);
        else if (is_any(op, trips, COUNT(trips))) skip_round_trip(c, op);
    }
    if (!c->no_memory) erase_unused(c);
    if (c->no_memory) return diag_memory(c->why);
    if (!c->cancelled) return XIR_OK;
    return diag_fail(c->why, XIR_E_CANCELLED, XIR_STR(""), "%sthe run was cancelled", c->prefix);
}
