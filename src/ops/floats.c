/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Results of rules of the library for plain tensors of floats (float_rule), which composed classes need not ask for.
 * They are those of the rules; wherever a rule fails, or needs an object that may not exist yet, such as another
 * layout, it is asked. Nothing here allocates. */
#include "axes.h"
#include "floats.h"
#include "list.h"

/* ---- reductions -------------------------------------------------------------------------------------------------- */

/* Reduced dims become 1; no axes are all of them. Expressions belong to a pool, which the result does not. */
static bool reduce(const xir_type *of, xir_i64s axes, bool keepdim, moved_dims *out) {
    const xir_tensor_type *t = (const xir_tensor_type *)of;
    const size_t rank = t->shape.size;
    unsigned gone = 0;
    if (!keepdim || rank > MOVED_DIMS) return false;
    for (size_t k = 0; k < rank; k++) {
        out->dims[k] = axes.size ? t->shape.data[k] : 1;
        if (out->dims[k] < UNKNOWN_DIM) return false;
    }
    for (size_t i = 0; i < axes.size; i++) {
        const int64_t axis = axes.data[i] < 0 ? axes.data[i] + (int64_t)rank : axes.data[i];
        if (axis < 0 || axis >= (int64_t)rank || gone >> axis & 1) return false;
        gone |= 1u << axis;
        out->dims[axis] = 1;
    }
    out->layout = t->layout;
    out->rank = rank;
    out->narrows = true;
    return true;
}

static bool sum_moved(const void *attrs, const xir_type *of, moved_dims *out) {
    const xir_sum_attrs *a = attrs;   /* the attributes of Mean and Prod begin alike: see reduce.c */
    return reduce(of, a->dim, a->keepdim, out);
}

static bool max_moved(const void *attrs, const xir_type *of, moved_dims *out) {
    const xir_max_attrs *a = attrs;   /* so do those of Min */
    const xir_int_imm *dim = a->dim ? xir_int_imm_of((const xir_object *)a->dim) : NULL;
    return !dim == !a->dim && reduce(of, (xir_i64s){ dim ? &dim->value : NULL, dim != NULL }, a->keepdim, out);
}

/* ---- Transpose --------------------------------------------------------------------------------------------------- */

/* Without a layout among its attributes, that of the input in another order would have to be made. */
static bool transpose_moved(const void *attrs, const xir_type *of, moved_dims *out) {
    const xir_transpose_attrs *a = attrs;
    const xir_tensor_type *t = (const xir_tensor_type *)of;
    const size_t rank = t->shape.size;
    unsigned seen = 0;
    if (rank > MOVED_DIMS || a->dims.size != rank || !layout_is_plain(a->layout, rank)) return false;
    for (size_t i = 0; i < rank; i++) {
        const int64_t axis = a->dims.data[i] < 0 ? a->dims.data[i] + (int64_t)rank : a->dims.data[i];
        if (axis < 0 || axis >= (int64_t)rank || seen >> axis & 1 || t->shape.data[axis] < UNKNOWN_DIM) return false;
        seen |= 1u << axis;
        out->dims[i] = t->shape.data[axis];
    }
    out->layout = a->layout;
    out->rank = rank;
    out->narrows = false;
    return true;
}

/* ---- elements ---------------------------------------------------------------------------------------------------- */

static bool softplus_fits(const void *attrs) { return (float)((const xir_softplus_attrs *)attrs)->beta != 0; }

static bool hardtanh_fits(const void *attrs) {
    const xir_hardtanh_attrs *a = attrs;
    return (float)a->min_val <= (float)a->max_val;
}

/* ---- classes ----------------------------------------------------------------------------------------------------- */

static bool is_one_of(xir_infer_fn *rule, xir_infer_fn *const *list) {
    while (*list && *list != rule) list++;
    return *list;
}

/* Other checks than these look at attributes or at dims. */
static float_rule rule_of(const class_more *more, xir_infer_fn *rule) {
    static xir_infer_fn *const checks[] = {
        float_check, number_check, neg_check, relu_check, softplus_check, hardtanh_check, pair_check, add_check,
        div_check, divide_scalar_check, NULL
    }, *const rules[] = { same_infer, function_infer, mirror_infer, relu_infer, pair_infer, either_infer, NULL };
    if (more->check == compare_check && rule == compare_infer) return FLOATS_COMPARED;
    if (more->check == where_check && rule == where_infer) return FLOATS_CHOSEN;
    return is_one_of(more->check, checks) && is_one_of(rule, rules) ? FLOATS_KEPT : FLOATS_ASKED;
}

void floats_of_class(const xir_class *cls) {
    class_more *more = cls->more;
    static const struct { xir_infer_fn *check, *rule; moved_fn *moved; } movers[] = {
        { mean_check,      mean_infer,      sum_moved       },
        { sum_check,       sum_infer,       sum_moved       },
        { max_check,       max_infer,       max_moved       },
        { transpose_check, transpose_infer, transpose_moved },
    };
    xir_infer_fn *rule = more->infer[XIR_TARGET_HOST];
    for (size_t i = 0; i < sizeof movers / sizeof movers[0]; i++)
        if (more->check == movers[i].check && rule == movers[i].rule) more->moved = movers[i].moved;
    if (more->check == softplus_check) more->fits = softplus_fits;
    if (more->check == hardtanh_check) more->fits = hardtanh_fits;
    more->floats = more->moved ? FLOATS_MOVED : rule_of(more, rule);
    if (more->check == reshape_check && rule == reshape_infer) {
        more->dims = xir_class_field(cls, XIR_STR("shape"));
        more->dims_layout = xir_class_field(cls, XIR_STR("layout"));
        more->floats = FLOATS_RESHAPED;
    }
}
