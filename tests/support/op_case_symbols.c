/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The inferred symbolic dims hold for every value of the symbols: an op whose inputs have expressions for dims is
 * inferred once with the expressions, and once for each of several values of the symbols. */
#include <inttypes.h>
#include <stdio.h>
#include "support/op_case.h"
#include "graph.h"
#include "support/often.h"
#include "symbol.h"
#include "types.h"

enum { SYMBOLS = 4, VARIANTS = 3, BINDINGS = 20, MOST_DIMS = 16 };

typedef struct symbolic_case {
    op_case        *c;
    xir_op         *op;
    object_pool    *pool;
    expr            symbols[SYMBOLS];
    int64_t         base[SYMBOLS];             /* the values with which the op is the case; -1: not used */
    const xir_type *before[MOST_INPUTS];
    int64_t         dims[MOST_INPUTS][MOST_DIMS];
    bool            varies[MOST_INPUTS];
    int64_t         values[64];                /* of all symbols of the pool, by number */
} symbolic_case;

static const xir_type *with_dims(const symbolic_case *s, size_t i, const int64_t *dims) {
    const xir_tensor_type *tensor = xir_type_as_tensor(s->before[i]);
    return type_tensor(s->pool, tensor->element_dtype, tensor->layout, (xir_i64s){ dims, tensor->shape.size },
                       tensor->merged_distrs);
}

/* A dim becomes a symbol plus a number: symbols are shared by dims. */
static int64_t vary(symbolic_case *s, int64_t dim, size_t variant) {
    size_t which = variant == 0 ? (size_t)dim % SYMBOLS : chance(SYMBOLS);
    if (variant && chance(3) == 0) return dim;
    if (s->base[which] < 0) s->base[which] = dim;
    return expr_add(s->pool, s->symbols[which], dim - s->base[which]);
}

static void choose_dims(symbolic_case *s, size_t variant) {
    for (size_t i = 0; i < SYMBOLS; i++) s->base[i] = -1;
    for (size_t i = 0; i < s->op->n_inputs; i++) {
        const xir_value *v = op_inputs(s->op)[i].value;
        const xir_tensor_type *type = v ? xir_type_as_tensor(v->type) : NULL;
        s->varies[i] = type && !value_is_params(v) && !type->merged_distrs.size &&
            !xir_type_is_quantized(type->element_dtype) && type->shape.size <= MOST_DIMS && i < MOST_INPUTS;
        for (size_t k = 0; s->varies[i] && k < i; k++) s->varies[i] = op_inputs(s->op)[k].value != v;
        if (!s->varies[i]) continue;
        s->before[i] = v->type;
        for (size_t k = 0; k < type->shape.size; k++) {
            int64_t dim = type->shape.data[k];
            s->dims[i][k] = dim < 0 || xir_layout_unit(type->layout, k) ? dim : vary(s, dim, variant);
        }
    }
}

/* The values of the symbols for binding `n`: those of the case, 0, 1, near those of the case, any. */
static void choose_values(symbolic_case *s, size_t n) {
    for (size_t i = 0; i < SYMBOLS; i++) {
        int64_t base = s->base[i] < 0 ? 1 : s->base[i], v = n < 12 ? base + (int64_t)chance(7) - 2
            : (int64_t)chance(40);
        s->values[i] = n == 0 ? base : n < 3 ? (int64_t)n - 1 : v < 0 ? 0 : v;
    }
}

/* Gives the inputs numbers; false if one would be negative. */
static bool bind(const symbolic_case *s) {
    for (size_t i = 0; i < s->op->n_inputs; i++) {
        int64_t dims[MOST_DIMS];
        size_t rank = s->varies[i] ? xir_type_rank(s->before[i]) : 0;
        if (!s->varies[i]) continue;
        for (size_t k = 0; k < rank; k++) {
            dims[k] = s->dims[i][k];
            if (dims[k] == -1) continue;
            if (!expr_evaluate(s->pool, s->dims[i][k], s->values, SYMBOLS, &dims[k]) || dims[k] < 0) return false;
        }
        DOES(xir_value_set_type(op_inputs(s->op)[i].value, with_dims(s, i, dims)));
    }
    return true;
}

static bool holds(const symbolic_case *s, const xir_type *symbolic, const xir_type *number) {
    const xir_tensor_type *a = xir_type_as_tensor(symbolic), *b = xir_type_as_tensor(number);
    if (!a || !b) return xir_type_equal(symbolic, number);
    if (a->shape.size != b->shape.size) return false;
    for (size_t i = 0; i < a->shape.size; i++) {
        int64_t v = a->shape.data[i];
        if (v == -1) continue;
        if (!expr_evaluate(s->pool, v, s->values, SYMBOLS, &v) || v != b->shape.data[i]) return false;
    }
    return true;
}

static const char *texts(const xir_type *const *types, size_t n) {
    static char out[600];
    size_t at = 0;
    out[0] = '\0';
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < xir_type_rank(types[i]) && at < sizeof out - 100; k++) {
            at += (size_t)snprintf(out + at, sizeof out - at, k ? " x " : i ? ", " : "");
            at += xir_type_dim_text(types[i], (int64_t)k, out + at, 80);
        }
    }
    return out;
}

static void compare(symbolic_case *s, size_t binding, xir_status status, const xir_type *const *types, size_t n) {
    const xir_type *found[MOST_OUTPUTS];
    char what[700];
    choose_values(s, binding);
    if (!bind(s)) return;
    xir_network_clear_status(s->c->net);
    xir_status now = xir_op_infer(s->op, true);
    if (now) return;   // these values are refused
    size_t m = op_case_types(s->op, found);
    bool right = !status && n == m;
    for (size_t i = 0; right && i < n; i++) right = holds(s, types[i], found[i]);
    if (right || status == XIR_E_UNSUPPORTED) return;
    snprintf(what, sizeof what, "%s for s = %" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64, status
             ? xir_status_name(status) : texts(types, n), s->values[0], s->values[1], s->values[2], s->values[3]);
    op_case_fail(s->c, what, "%s", texts(found, m));
}

static void one_variant(symbolic_case *s, size_t variant) {
    const xir_type *types[MOST_OUTPUTS];
    choose_dims(s, variant);
    bool any = false;
    for (size_t i = 0; i < s->op->n_inputs; i++) {
        if (!s->varies[i]) continue;
        DOES(xir_value_set_type(op_inputs(s->op)[i].value, with_dims(s, i, s->dims[i])));
        any = true;
    }
    if (any) {
        xir_network_clear_status(s->c->net);
        xir_status status = xir_op_infer(s->op, true);
        size_t n = status ? 0 : op_case_types(s->op, types);
        for (size_t i = 0; i < BINDINGS && !s->c->failed; i++) compare(s, i, status, types, n);
    }
    for (size_t i = 0; i < s->op->n_inputs; i++) {
        if (s->varies[i]) DOES(xir_value_set_type(op_inputs(s->op)[i].value, s->before[i]));
    }
    xir_network_clear_status(s->c->net);
    xir_op_infer(s->op, true);
}

void op_case_with_symbols(op_case *c, xir_op *op) {
    static const char *const names[SYMBOLS] = { "s0", "s1", "s2", "s3" };
    symbolic_case s = { .c = c, .op = op, .pool = &c->net->pool };
    if (op->n_inputs > MOST_INPUTS) return;
    for (size_t i = 0; i < SYMBOLS; i++) {
        DOES(symbol_declare(s.pool, xir_str_of(names[i]), 0, SYMBOL_MOST, &s.symbols[i], NULL));
    }
    for (size_t i = 0; i < VARIANTS && !c->failed; i++) one_variant(&s, i);
}
