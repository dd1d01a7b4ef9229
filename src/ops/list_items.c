/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The rules of ops for short lists of integers whose items may be expressions (items.h): the arithmetic by which
 * exporters compute shapes. Each rule sees the op and the items of its inputs; what no rule covers is unknown. */
#include <inttypes.h>
#include "list.h"
#include "rules.h"

typedef struct step {
    object_pool    *pool;
    const xir_op   *op;
    input_items_fn *of;
    void           *user;
    size_t          n;     /* items of the output */
} step;

static bool input_items(const step *s, size_t i, item_list *out) {
    return s->of(s->user, xir_op_input(s->op, (int64_t)i), out);
}

/* ---- the dims of a tensor, and items by position ---------------------------------------------------------------- */

static bool shape(const step *s, item_list *out) {
    const xir_shape_attrs *a = s->op->attrs;
    const xir_value *x = xir_op_input(s->op, 0);
    const xir_tensor_type *type = x ? xir_type_as_tensor(x->type) : NULL;
    if (!type) return false;
    int64_t rank = (int64_t)type->shape.size, start = a->start < 0 ? a->start + rank : a->start;
    start = start < 0 ? 0 : start;
    if (start + (int64_t)s->n > rank) return false;
    for (size_t i = 0; i < s->n; i++) out->v[i] = expr_of_dim(type->shape.data[(size_t)start + i]);
    return true;
}

static bool gather(const step *s, item_list *out) {
    item_list data, at;
    if (!input_items(s, 0, &data) || !input_items(s, 1, &at) || at.n != s->n) return false;
    for (size_t i = 0; i < s->n; i++) {
        bool known = expr_is_number(at.v[i]);
        int64_t k = at.v[i] < 0 ? at.v[i] + (int64_t)data.n : at.v[i];
        if (known && (k < 0 || k >= (int64_t)data.n)) return false;
        out->v[i] = known ? data.v[k] : EXPR_UNKNOWN;
    }
    return true;
}

static bool slice(const step *s, item_list *out) {
    const xir_slice_attrs *a = s->op->attrs;
    item_list data;
    if (xir_op_input_count(s->op) != 1 || !input_items(s, 0, &data) || a->begin.size != 1 || a->stride.size != 1)
        return false;
    int64_t size = (int64_t)data.n, by = a->stride.data[0], at = a->begin.data[0] < 0
        ? a->begin.data[0] + size : a->begin.data[0];
    at = at < 0 ? (by < 0 ? -1 : 0) : at >= size && by < 0 ? size - 1 : at;
    for (size_t i = 0; i < s->n; i++) {
        if (at < 0 || at >= size) return false;
        out->v[i] = data.v[at];
        if (i + 1 < s->n) at += by;   // a step past the list may be any number
    }
    return true;
}

static bool concat(const step *s, item_list *out) {
    item_list part;
    size_t filled = 0, parts = xir_op_input_count(s->op);
    if (parts > MOST_ITEMS) return false;   // some are empty
    for (size_t i = 0; i < parts; i++) {
        if (!input_items(s, i, &part) || filled + part.n > s->n) return false;
        memcpy(out->v + filled, part.v, part.n * sizeof *part.v);
        filled += part.n;
    }
    return filled == s->n;
}

static bool same(const step *s, item_list *out) { return input_items(s, 0, out) && out->n == s->n; }

/* To bool: not 0. An integer that the new element type does not hold is unknown (keep_held). */
static bool cast(const step *s, item_list *out) {
    bool to_bool = xir_type_kind_of(xir_type_element(op_outputs(s->op)->type)) == XIR_TYPE_BOOL;
    if (!same(s, out)) return false;
    for (size_t i = 0; to_bool && i < s->n; i++) {
        out->v[i] = out->v[i] == 0 ? 0 : expr_never_equal(s->pool, out->v[i], 0) ? 1 : EXPR_UNKNOWN;
    }
    return true;
}

/* Integers that the element type of the output does not hold would wrap around: they are unknown. */
static void keep_held(const step *s, item_list *out) {
    const xir_type *element = xir_type_element(op_outputs(s->op)->type);
    const xir_integer_type *integer = xir_integer_type_of((const xir_object *)element);
    int64_t bits = integer ? integer->ibits - integer->sign : 64;   // of the magnitude
    for (size_t i = 0; i < s->n && (bits < 63 || (integer && !integer->sign)); i++) {
        int64_t least, most;
        expr_range(s->pool, out->v[i], &least, &most);
        bool fits = least >= (integer->sign ? -(INT64_C(1) << bits) : 0) && (bits >= 63 || most < INT64_C(1) << bits);
        if (!fits) out->v[i] = EXPR_UNKNOWN;
    }
}

/* ---- arithmetic ------------------------------------------------------------------------------------------------- */

/* Both inputs of a binary op, each repeated if it has one item. */
static bool operands(const step *s, item_list *a, item_list *b) {
    if (!input_items(s, 0, a) || !input_items(s, 1, b)) return false;
    if ((a->n != s->n && a->n != 1) || (b->n != s->n && b->n != 1)) return false;
    for (size_t i = a->n; i < s->n; i++) a->v[i] = a->v[0];
    for (size_t i = b->n; i < s->n; i++) b->v[i] = b->v[0];
    return true;
}

/* A factor of Add: a single 1 or -1. */
static bool one_factor(xir_refs factors, int64_t *out) {
    if (factors.size != 1) return false;
    double v = xir_scalar_as_real((const xir_scalar *)(const void *)factors.data[0]);
    *out = v < 0 ? -1 : 1;
    return v == 1 || v == -1;
}

static bool add(const step *s, item_list *out) {
    const xir_add_attrs *x = s->op->attrs;
    item_list a, b;
    int64_t alpha, beta;
    if (!one_factor(x->alpha, &alpha) || !one_factor(x->beta, &beta) || !operands(s, &a, &b)) return false;
    for (size_t i = 0; i < s->n; i++) {
        expr l = expr_mul(s->pool, a.v[i], alpha), r = b.v[i];
        out->v[i] = beta < 0 ? expr_sub(s->pool, l, r) : expr_add(s->pool, l, r);
    }
    return true;
}

/* Rounded down, and towards 0, are the same from 0 on. */
static expr quotient(object_pool *pool, expr x, expr y, bool down) {
    if (y == 0) return EXPR_UNKNOWN;
    if (expr_is_number(x) && expr_is_number(y) && !(y == -1 && x == INT64_MIN)) {
        return x / y - (down && x % y && (x < 0) != (y < 0));
    }
    expr exact = expr_exact_div(pool, x, y);
    if (exact != EXPR_UNKNOWN && expr_at_least(pool, y, 1)) return exact;
    bool good = expr_is_number(y) && y > 0 && (down || expr_at_least(pool, x, 0));
    return good ? expr_floor_div(pool, x, y) : EXPR_UNKNOWN;
}

static bool divide(const step *s, item_list *out) {
    const xir_div_attrs *x = s->op->attrs;
    item_list a, b;
    if (x->rounding_mode == XIR_ROUNDING_NONE || !operands(s, &a, &b)) return false;
    for (size_t i = 0; i < s->n; i++) {
        out->v[i] = quotient(s->pool, a.v[i], b.v[i], x->rounding_mode == XIR_ROUNDING_FLOOR);
    }
    return true;
}

static bool multiply(const step *s, item_list *out) {
    item_list a, b;
    if (!operands(s, &a, &b)) return false;
    for (size_t i = 0; i < s->n; i++) out->v[i] = expr_mul(s->pool, a.v[i], b.v[i]);
    return true;
}

/* x - y * floor(x / y), for y > 0; fmod gives the same from 0 on. */
static expr remainder_of(object_pool *pool, expr x, expr y, bool truncated) {
    bool good = expr_is_number(y) && y > 0 && (!truncated || expr_at_least(pool, x, 0));
    return good ? expr_sub(pool, x, expr_mul(pool, y, expr_floor_div(pool, x, y))) : EXPR_UNKNOWN;
}

static bool mod(const step *s, item_list *out) {
    const xir_mod_attrs *x = s->op->attrs;
    item_list a, b;
    if (!operands(s, &a, &b)) return false;
    for (size_t i = 0; i < s->n; i++) out->v[i] = remainder_of(s->pool, a.v[i], b.v[i], x->fmod);
    return true;
}

static bool maximum(const step *s, item_list *out) {
    item_list a, b;
    if (!operands(s, &a, &b)) return false;
    for (size_t i = 0; i < s->n; i++) out->v[i] = expr_max(s->pool, a.v[i], b.v[i]);
    return true;
}

static bool minimum(const step *s, item_list *out) {
    item_list a, b;
    if (!operands(s, &a, &b)) return false;
    for (size_t i = 0; i < s->n; i++) out->v[i] = expr_min(s->pool, a.v[i], b.v[i]);
    return true;
}

static bool product(const step *s, item_list *out) {
    const xir_prod_attrs *x = s->op->attrs;
    item_list a;
    if (!input_items(s, 0, &a) || s->n != 1 || x->dim.size > 1) return false;
    out->v[0] = 1;
    for (size_t i = 0; i < a.n; i++) out->v[0] = expr_mul(s->pool, out->v[0], a.v[i]);
    return true;
}

/* ---- comparisons ------------------------------------------------------------------------------------------------ */

static bool equal(const step *s, item_list *out) {
    item_list a, b;
    if (!operands(s, &a, &b)) return false;
    for (size_t i = 0; i < s->n; i++) {
        bool same = a.v[i] == b.v[i] && a.v[i] != EXPR_UNKNOWN;
        out->v[i] = same ? 1 : expr_never_equal(s->pool, a.v[i], b.v[i]) ? 0 : EXPR_UNKNOWN;
    }
    return true;
}

/* Takes the items of the first list where the condition is true, and those of the second elsewhere. */
static bool choice(const step *s, item_list *out) {
    item_list from[3];
    for (size_t k = 0; k < 3; k++) {
        if (!input_items(s, k, &from[k]) || (from[k].n != s->n && from[k].n != 1)) return false;
    }
    for (size_t i = 0; i < s->n; i++) {
        expr on = from[2].v[from[2].n == 1 ? 0 : i], a = from[0].v[from[0].n == 1 ? 0 : i],
             b = from[1].v[from[1].n == 1 ? 0 : i];
        out->v[i] = a == b || on == 1 ? a : on == 0 ? b : EXPR_UNKNOWN;
    }
    return true;
}

/* ---- all of them ------------------------------------------------------------------------------------------------ */

static const struct { const xir_class_decl *(*cls)(void); bool (*rule)(const step *s, item_list *out); } rules[] = {
    { xir_shape_class,    shape    }, { xir_gather_class,   gather   }, { xir_slice_class,    slice    },
    { xir_concat_class,   concat   }, { xir_reshape_class,  same     }, { xir_squeeze_class,  same     },
    { xir_copy_class,     same     }, { xir_cast_class,     cast     }, { xir_add_class,      add      },
    { xir_multiply_class, multiply }, { xir_div_class,      divide   }, { xir_maximum_class,  maximum  },
    { xir_minimum_class,  minimum  }, { xir_prod_class,     product  }, { xir_equal_class,    equal    },
    { xir_where_class,    choice   }, { xir_mod_class,      mod      },
};

bool list_items(object_pool *pool, const xir_op *op, input_items_fn *of, void *user, item_list *out) {
    step s = { .pool = pool, .op = op, .of = of, .user = user };
    if (op->n_outputs != 1 || !items_count(op_outputs(op)->type, &s.n)) return false;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        if (op->cls->decl != rules[i].cls()) continue;
        if (!rules[i].rule(&s, out)) return false;
        out->n = s.n;
        keep_held(&s, out);
        return true;
    }
    return false;
}
