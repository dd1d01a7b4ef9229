/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* One rule that uses the class's row, the op's attributes and the types of its inputs and outputs. Anything that the
 * row does not cover is refused. */
#include "normalised.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include "elements.h"

/* Passes ask this of every value that they look at. */
static inline bool may_have_ratios(const xir_type *type) {
    if (object_what(type) == 1 + XIR_TYPE_TENSOR) type = ((const xir_tensor_type *)type)->element_dtype;
    const int what = object_what(type);
    return what == 1 + XIR_TYPE_NORMALIZED || what == 1 + XIR_TYPE_NORMALIZED_QUANTIZED;
}

bool type_is_normalised(const xir_type *type) {
    if (!may_have_ratios(type)) return false;
    const xir_norm_ratios *ratios = xir_type_norm_ratios(type);
    for (size_t i = 0; ratios && i < ratios->items.size; i++) {
        if (ratios->items.data[i].value != 1) return true;
    }
    return false;
}

bool op_has_normalised(const xir_op *op) {
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        if (op_inputs(op)[i].value && type_is_normalised(op_inputs(op)[i].value->type)) return true;
    }
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        if (type_is_normalised(op_outputs(op)[i].type)) return true;
    }
    return false;
}

/* ---- what inputs and attributes are ----------------------------------------------------------------------------- */

typedef struct question {
    const xir_op            *op;
    const xir_type *const   *types;
    const class_normalised  *row;
    numbers_fault           *why;
} question;

typedef enum role {
    ROLE_NONE,       /* absent, or not a number of a map: an index, a bool                */
    ROLE_MAP,        /* has ratios                                                        */
    ROLE_CONSTANT,   /* Params without ratios                                             */
    ROLE_COMPUTED    /* without ratios, and made by an op                                 */
} role;

enum { WHOLE = -1 };   /* instead of an index: the whole */

/* Adds a fault at "where/i". */
static xir_status fault(const question *q, xir_str where, int64_t i, const char *format, ...) XIR_PRINTF(4, 5);
static xir_status fault(const question *q, xir_str where, int64_t i, const char *format, ...) {
    va_list list;
    if (i == WHOLE) snprintf(q->why->where, sizeof q->why->where, "%.*s", CLIP(where));
    else snprintf(q->why->where, sizeof q->why->where, "%.*s/%" PRId64, CLIP(where), i);
    va_start(list, format);
    vsnprintf(q->why->text, sizeof q->why->text, format, list);
    va_end(list);
    return XIR_E_UNSUPPORTED;
}

static xir_status fault_of_input(const question *q, size_t i, const char *text) {
    return fault(q, XIR_STR("inputs"), (int64_t)i, "%s", text);
}

static bool has_ratios(const xir_type *type) {
    const xir_norm_ratios *ratios = xir_type_norm_ratios(type);
    return ratios && ratios->items.size;
}

/* If constants contain the ratios, integers may be such constants; otherwise they are positions and counts. */
static bool holds_numbers(const question *q, const xir_type *type) {
    if (!xir_type_as_tensor(type)) return false;
    element_format form = element_format_of(type);
    bool integers = q->row->kind == NORMALISED_SCALED || q->row->kind == NORMALISED_PRODUCT;
    return xir_type_is_quantized(xir_type_element(type)) || element_is_float(form) ||
           (integers && element_is_number(form));
}

static role role_of(const question *q, size_t i) {
    const xir_value *v = i < q->op->n_inputs ? op_inputs(q->op)[i].value : NULL;
    if (!v || !holds_numbers(q, q->types[i])) return ROLE_NONE;
    if (has_ratios(q->types[i])) return ROLE_MAP;
    return value_is_params(v) ? ROLE_CONSTANT : ROLE_COMPUTED;
}

static bool has_role(const question *q, role wanted, size_t *at) {
    for (*at = 0; *at < q->op->n_inputs; ++*at) {
        if (role_of(q, *at) == wanted) return true;
    }
    return false;
}

static bool input_is_named(const question *q, size_t i) {
    size_t last = q->op->cls->more->n_inputs ? q->op->cls->more->n_inputs - 1 : 0, bit = i < last ? i : last;
    return bit < 64 && q->row->inputs >> bit & 1;
}

static bool field_is_named(const question *q, uint32_t i) { return i < 64 && q->row->fields >> i & 1; }

static bool is_default(const question *q, const xir_field *f) {
    if (f->flags & XIR_FIELD_REQUIRED) return false;
    return field_equal(f, q->op->attrs, q->op->cls->defaults);
}

static xir_status check_named(const question *q) {
    const xir_class *cls = q->op->cls;
    for (size_t i = 0; i < q->op->n_inputs; i++) {
        if (role_of(q, i) != ROLE_CONSTANT || input_is_named(q, i)) continue;
        return fault_of_input(q, i,
                              "it is a constant next to maps in normalised numbers, and it is not known which numbers "
                              "it holds");
    }
    for (uint32_t i = 0; i < cls->n_fields; i++) {
        const xir_field *f = &cls->fields[i];
        if (!field_holds_numbers(f) || field_is_named(q, i) || is_default(q, f)) continue;
        return fault(q, f->name, WHOLE,
                     "its maps are in normalised numbers, and it is not known which numbers '%.*s' holds",
                     CLIP(f->name));
    }
    return XIR_OK;
}

/* ---- EVEN ------------------------------------------------------------------------------------------------------- */

static bool has_constants(const question *q) {
    size_t at;
    if (has_role(q, ROLE_CONSTANT, &at)) return true;
    for (uint32_t i = 0; i < q->op->cls->n_fields; i++) {
        if (field_is_named(q, i) && !is_default(q, &q->op->cls->fields[i])) return true;
    }
    return false;
}

/* Returns true if two types have the same ratio at every index: one ratio for all, or the same ratios along the same
 * axis counted from the end. */
static bool same_ratios(const xir_type *a, const xir_type *b) {
    static const xir_run one = { .end = 1, .value = 1 };
    const xir_norm_ratios *of_a = xir_type_norm_ratios(a), *of_b = xir_type_norm_ratios(b);
    xir_runs x = has_ratios(a) ? of_a->items : (xir_runs){ &one, 1 },
             y = has_ratios(b) ? of_b->items : (xir_runs){ &one, 1 };
    if (x.size != y.size) return false;
    for (size_t i = 0; i < x.size; i++) {
        if (x.data[i].value != y.data[i].value || (x.size > 1 && x.data[i].end != y.data[i].end)) return false;
    }
    if (x.size == 1) return true;
    int64_t axis_a = of_a->axis < 0 ? of_a->axis : of_a->axis - (int64_t)xir_type_rank(a);
    int64_t axis_b = of_b->axis < 0 ? of_b->axis : of_b->axis - (int64_t)xir_type_rank(b);
    return axis_a == axis_b;
}

static xir_status even(const question *q, op_numbers *out) {
    const xir_type *first = NULL;
    size_t n = q->op->n_inputs;
    out->normalised = has_constants(q);
    for (size_t i = 0; out->normalised && i < n + q->op->n_outputs; i++) {
        bool counts = i < n ? role_of(q, i) == ROLE_MAP || role_of(q, i) == ROLE_COMPUTED
            : holds_numbers(q, q->types[i]);
        if (!counts) continue;
        if (!first) first = q->types[i];
        if (same_ratios(first, q->types[i])) continue;
        return fault(q, i < n ? XIR_STR("inputs") : XIR_STR("outputs"), (int64_t)(i < n ? i : i - n),
                     "its ratios are not those of "
                     "the other maps, and what the constants of the operation hold is known only if they are");
    }
    return XIR_OK;
}

/* ---- SCALED, PRODUCT -------------------------------------------------------------------------------------------- */

static const xir_scales *cut_of(const question *q) {
    const xir_scales *cut = q->row->cut ? *(const xir_scales *const *)body_at(q->op->attrs, q->row->cut) : NULL;
    return cut && cut->items.size ? cut : NULL;
}

/* Refuses a computed number if it is unknown whether it is a map or a constant. */
static xir_status check_computed(const question *q) {
    size_t map, computed;
    if (!has_role(q, ROLE_MAP, &map) || !has_role(q, ROLE_COMPUTED, &computed)) return XIR_OK;
    return fault(q, XIR_STR("inputs"), (int64_t)computed,
                 "input %zu is in normalised numbers; this one is neither that nor a "
                 "constant, and it is not known which numbers it holds", map);
}

static xir_status scaled(const question *q, op_numbers *out) {
    *out = (op_numbers){ true, cut_of(q) };
    return check_computed(q);
}

/* An addend of a product must be a constant: stored for the result, like its weights. */
static xir_status check_added(const question *q, bool constant) {
    for (size_t i = 2; i < q->op->n_inputs; i++) {
        role r = role_of(q, i);
        if (r == ROLE_NONE || (constant && r == ROLE_CONSTANT)) continue;
        if (constant) return fault_of_input(q, i, "expected a constant, stored for the product as its weights are");
        return fault_of_input(q, i,
                              "it is added to the product of two maps in normalised numbers, and it is not known which "
                              "numbers it holds");
    }
    return XIR_OK;
}

static xir_status product(const question *q, op_numbers *out) {
    bool constant = role_of(q, 0) == ROLE_CONSTANT || role_of(q, 1) == ROLE_CONSTANT;
    const xir_scales *cut = cut_of(q);
    xir_status status = check_computed(q);
    if (!status) status = check_added(q, constant);
    if (status) return status;
    if (constant && cut) {
        return fault(q, q->row->cut->name, WHOLE,
                     "it scales the product of two maps in normalised numbers; what it does to a product "
                     "with a constant is not known");
    }
    /* With two maps and no scales there is no constant, and the types determine everything. */
    *out = (op_numbers){ constant || cut, cut };
    return XIR_OK;
}

/* ---- all -------------------------------------------------------------------------------------------------------- */

xir_status op_numbers_of(const xir_op *op, const xir_type *const *types, op_numbers *out, numbers_fault *why) {
    question q = { op, types, op->cls->more->normalised, why };
    bool any = false;
    *out = (op_numbers){ false, NULL };
    for (size_t i = 0; !any && i < (size_t)op->n_inputs + op->n_outputs; i++) any = type_is_normalised(types[i]);
    if (!any) return XIR_OK;
    if (!q.row) {
        return fault(&q, XIR_STR(""), WHOLE,
                     "its maps are in normalised numbers, and it is not known what the class computes from them");
    }
    xir_status status = check_named(&q);
    if (status) return status;
    switch (q.row->kind) {
    case NORMALISED_EVEN:    return even(&q, out);
    case NORMALISED_SCALED:  return scaled(&q, out);
    case NORMALISED_PRODUCT: return product(&q, out);
    default:                 return XIR_OK;
    }
}
