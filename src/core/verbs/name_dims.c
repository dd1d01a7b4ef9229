/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* See name_dims.h. Only inputs make symbols. What a file says about the dims of other values is compared with what
 * inference finds. */
#include <stdio.h>
#include "name_dims.h"
#include "diagnose.h"
#include "source_tags.h"
#include "types.h"

/* An expression may have the names of later dims, and a dim without a name must not get the name of another one. */
typedef enum naming_round { PLAIN_NAMES, OTHER_NAMES, NO_NAMES, ROUNDS } naming_round;

typedef struct naming {
    xir_network *net;
    naming_round round;
    size_t       numbered;   /* dims without a name so far */
    bool         named;
} naming;

bool expr_of_name(object_pool *pool, xir_str name, expr *out) {
    form_error why = { 0 };
    *out = symbol_find(pool, name);
    if (*out != EXPR_UNKNOWN || expr_parse_known(pool, name, out, &why)) return true;
    *out = EXPR_UNKNOWN;
    return why.status != XIR_E_MEMORY;
}

static bool has_operator(xir_str text) {
    for (size_t i = 0; i < text.size; i++) {
        if (memchr("+-*/(", text.data[i], 5)) return true;
    }
    return false;
}

static naming_round round_of(xir_str name) {
    return !symbol_name_ok(name) ? NO_NAMES : has_operator(name) ? OTHER_NAMES : PLAIN_NAMES;
}

/* A dim past the limit of symbols stays unknown. */
static xir_status declare(naming *n, xir_str name, int64_t *dim) {
    expr e;
    xir_status status = symbol_declare(&n->net->pool, name, 0, SYMBOL_MOST, &e, NULL);
    if (!status) *dim = e;
    return status == XIR_E_LIMIT ? XIR_OK : status;
}

static xir_status name_unnamed(naming *n, int64_t *dim) {
    char name[32];
    do snprintf(name, sizeof name, "?%zu", n->numbered++);
    while (symbol_find(&n->net->pool, xir_str_of(name)) != EXPR_UNKNOWN);
    return declare(n, xir_str_of(name), dim);
}

static xir_status name_dim(naming *n, xir_str name, int64_t *dim) {
    if (*dim != XIR_UNKNOWN_DIM || round_of(name) != n->round) return XIR_OK;
    n->named = true;
    if (n->round == NO_NAMES) return name_unnamed(n, dim);
    expr e;
    if (!expr_of_name(&n->net->pool, name, &e)) return XIR_E_MEMORY;
    if (!expr_is_symbolic(e)) return declare(n, name, dim);
    *dim = e;
    return XIR_OK;
}

static xir_status name_value(naming *n, xir_value *v) {
    const xir_tensor_type *type = xir_type_as_tensor(v->type);
    if (!type || !xir_type_has_unknown_dim(v->type) || xir_type_is_layouted(v->type)) return XIR_OK;
    const xir_any *names = source_tag_find(xir_value_tags(v), SOURCE_DIMS);
    const xir_allocator *alloc = &n->net->alloc;
    const size_t rank = type->shape.size, listed = names && names->kind == XIR_ANY_LIST ? names->as.list.size : 0;
    int64_t *dims = mem_new(alloc, rank * sizeof *dims);
    if (!dims) return XIR_E_MEMORY;
    xir_status status = XIR_OK;
    for (size_t i = 0; i < rank && !status; i++) {
        const xir_any *name = i < listed ? &names->as.list.items[i] : NULL;
        dims[i] = type->shape.data[i];
        status = name_dim(n, name && name->kind == XIR_ANY_TEXT ? name->as.text : (xir_str){ NULL, 0 }, &dims[i]);
    }
    if (!status && memcmp(dims, type->shape.data, rank * sizeof *dims)) {
        const xir_type *made = type_tensor(&n->net->pool, type->element_dtype, type->layout, (xir_i64s){ dims, rank },
                                           type->merged_distrs);
        status = !made || expr_no_memory(&n->net->pool) ? XIR_E_MEMORY : xir_value_set_type(v, made);
    }
    mem_free(alloc, dims, rank * sizeof *dims);
    return status;
}

xir_status net_name_dims(xir_network *net, bool *named) {
    naming n = { .net = net };
    const xir_op *op = xir_network_input_op(net);
    xir_status status = XIR_OK;
    for (; n.round < ROUNDS && !status; n.round++) {
        for (uint32_t i = 0; op && i < op->n_outputs && !status; i++) status = name_value(&n, &op_outputs(op)[i]);
    }
    *named = n.named;
    return status;
}
