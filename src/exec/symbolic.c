/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* See symbolic.h. */
#include "symbolic.h"
#include "symbol.h"
#include "types.h"

typedef struct known_symbols {
    const object_pool *pool;
    int64_t           *values;   /* by symbol; -1: not known yet */
    size_t             n;
    xir_diags         *why;
} known_symbols;

typedef struct input_dim {
    const xir_value *value;
    size_t           i, k;       /* dim k of input i */
    int64_t          declared, found;
} input_dim;

typedef xir_status dim_fn(known_symbols *s, const input_dim *d);

static xir_status contradicts(const known_symbols *s, const input_dim *d, int64_t expected) {
    xir_str name = xir_value_name(d->value);
    return array_fail(s->why, XIR_E_INVALID, "input %zu '%.*s' of the network: dim %zu is %s: expected %lld, as in the "
                      "other dims, found %lld", d->i, CLIP(name), d->k, word_of_dim(s->pool, d->declared).text,
                      (long long)expected, (long long)d->found);
}

/* A dim that is one symbol. */
static xir_status learn(known_symbols *s, const input_dim *d) {
    size_t i = symbol_of(s->pool, d->declared);
    const symbol *it = i == SIZE_MAX ? NULL : symbol_at(s->pool, i);
    if (!it) return XIR_OK;
    if (d->found < it->least || d->found > it->most) {
        xir_str name = xir_value_name(d->value);
        return array_fail(s->why, XIR_E_BOUNDS, "input %zu '%.*s' of the network: dim %zu is %s: expected %lld..%lld, "
                          "found %lld", d->i, CLIP(name), d->k, word_of_dim(s->pool, d->declared).text,
                          (long long)it->least, (long long)it->most, (long long)d->found);
    }
    if (s->values[i] >= 0 && s->values[i] != d->found) return contradicts(s, d, s->values[i]);
    s->values[i] = d->found;
    return XIR_OK;
}

static xir_status compare(known_symbols *s, const input_dim *d) {
    int64_t v;
    bool known = expr_evaluate(s->pool, d->declared, s->values, s->n, &v);
    return known && v != d->found ? contradicts(s, d, v) : XIR_OK;
}

static xir_status each_dim(known_symbols *s, const xir_op *in, const xir_array *const *arrays, dim_fn *visit) {
    xir_status status = XIR_OK;
    for (size_t i = 0; i < in->n_outputs && !status; i++) {
        const xir_value *value = &op_outputs(in)[i];
        size_t rank = arrays[i] ? xir_type_rank(value->type) : 0;
        if (arrays[i] && xir_type_rank(arrays[i]->type) != rank) continue;   // reported when the array is taken
        for (size_t k = 0; k < rank && !status; k++) {
            const input_dim d = { value, i, k, type_dim(value->type, (int64_t)k),
                                  type_dim(arrays[i]->type, (int64_t)k) };
            if (dim_is_symbolic(d.declared)) status = visit(s, &d);
        }
    }
    return status;
}

xir_status check_symbols(const xir_op *in, const xir_array *const *arrays, xir_diags *why) {
    known_symbols s = { .pool = &in->net->pool, .why = why };
    const xir_allocator *alloc = &in->net->alloc;
    while (symbol_at(s.pool, s.n)) s.n++;
    if (s.n == 0) return XIR_OK;
    s.values = mem_new(alloc, s.n * sizeof *s.values);
    if (!s.values) return diag_memory(why);
    for (size_t i = 0; i < s.n; i++) s.values[i] = -1;
    xir_status status = each_dim(&s, in, arrays, learn);
    if (!status) status = each_dim(&s, in, arrays, compare);
    mem_free(alloc, s.values, s.n * sizeof *s.values);
    return status;
}
