/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Helpers shared by the hooks of ONNX's rows. */
#include <stdio.h>
#include "node/lists.h"
#include "onnx/rows.h"
#include "onnx/types.h"
#include "element_codes.h"

const xir_type *onnx_element(xir_context *ctx, int64_t data_type) {
    return element_code_type(ctx, element_code_at(&element_codes_onnx, (uint64_t)data_type));
}

const xir_type *onnx_given_element(xir_node *at, int64_t data_type) {
    const element_code *e = element_code_at(&element_codes_onnx, (uint64_t)data_type);
    const xir_type *element = element_code_type(at->c->ctx, e);
    const bool known = e && (e->kind == ELEMENT_BOOL || e->kind == ELEMENT_UNSIGNED || e->kind == ELEMENT_SIGNED ||
                             e->kind == ELEMENT_FLOAT);
    if (known && !element) (void)node_no_memory(at);
    return element;
}

bool onnx_broadcasts_to(xir_node *at, const xir_value *x, size_t j, const xir_value *v) {
    char where[32];
    if (!xir_node_broadcasts(at, 0, x, j, v)) return false;
    const size_t rank = v_rank(v), all = v_rank(x);
    snprintf(where, sizeof where, "input/%zu", j);
    if (rank > all) {
        return xir_node_invalid(at, XIR_E_BOUNDS, where, "input %zu: expected at most %zu dim%s, like input 0, "
                                "found %zu", j, all, all == 1 ? "" : "s", rank);
    }
    for (size_t d = 0; d < rank; d++) {
        if (v_dim(x, all - rank + d) != 1 || v_dim(v, d) < 0 || v_dim(v, d) == 1) continue;
        return xir_node_invalid(at, XIR_E_INVALID, where, "dim %zu of input %zu: expected 1, like input 0, found %lld",
                                d, j, (long long)v_dim(v, d));
    }
    return true;
}

xir_value *onnx_in_heads(xir_node *at, xir_value *x, int64_t heads, const char *where) {
    if (xir_node_failed(at) || !x || !xir_node_need_dims(at, x, 2, 3)) return NULL;
    if (heads < 1 || v_dim(x, 2) % heads) {
        return xir_node_invalid(at, XIR_E_INVALID, where, "dim 2 of the input: expected a multiple of %lld heads, found "
                                "%lld", (long long)heads, (long long)v_dim(x, 2)), NULL;
    }
    list_items dims = make_items(at, 4, heads);
    if (xir_node_failed(at)) return NULL;
    dims.v[0] = item_dim(x, 0), dims.v[1] = item_dim(x, 1), dims.v[3] = item_number(v_dim(x, 2) / heads);
    return make_reshaped_to(at, x, &dims);
}

xir_value *onnx_heads_exchanged(xir_node *at, xir_value *x) {
    static const int64_t order[] = { 0, 2, 1, 3 };
    return xir_node_failed(at) || !x ? NULL : xir_node_transposed(at, x, order, 4, NULL);
}

xir_value *onnx_from_heads(xir_node *at, xir_value *x) {
    if (xir_node_failed(at) || !x || !xir_node_need_dims(at, x, 2, 4)) return NULL;
    list_items dims = make_items(at, 3, v_dim(x, 2) * v_dim(x, 3));
    if (xir_node_failed(at)) return NULL;
    dims.v[0] = item_dim(x, 0), dims.v[1] = item_dim(x, 1);
    return make_reshaped_to(at, x, &dims);
}

bool onnx_inner_dims_fit(xir_node *at, const xir_value *a, const xir_value *b) {
    if (xir_node_failed(at) || !xir_node_same_elements(at, 0, a, 1, b)) return false;
    size_t ra = v_rank(a), rb = v_rank(b);
    if (ra == 0 || rb == 0) {
        return xir_node_invalid(at, XIR_E_BOUNDS, ra ? "input/1" : "input/0",
                                "expected at least 1 dim, found none");
    }
    int64_t k = v_dim(a, ra - 1), m = v_dim(b, rb > 1 ? rb - 2 : 0);
    if (k == m || k < 0 || m < 0) return true;
    return xir_node_invalid(at, XIR_E_INVALID, "input/1",
                            "input 1: expected %lld rows, as many as input 0 has columns, found %lld",
                            (long long)k, (long long)m);
}

/* XIR's Matmul takes at most one constant. A product of two gets a Copy of the first, which the pass fold removes. */
xir_value *onnx_product(xir_node *at, xir_value *a, xir_value *b, xir_value *c) {
    if (!onnx_inner_dims_fit(at, a, b)) return NULL;
    if (xir_value_is_params(a) && xir_value_is_params(b)) {
        xir_op *copy = xir_node_make_op(at, "Copy", INS(a), NO_SETS);
        a = copy ? xir_op_output(copy, 0) : NULL;
    }
    return xir_node_make(at, "Matmul", INS(a, b, c), NO_SETS);
}

/* ---- tables of operators ---------------------------------------------------------------------------------------- */

bool onnx_has_name(const char *names, const char *name) {
    const size_t n = strlen(name);
    for (const char *p = names; n && (p = strstr(p, name)); p += n) if (p[-1] == ' ' && p[n] == ' ') return true;
    return false;
}

onnx_facts *onnx_facts_of(xir_node *at, const convert_class *cls) {
    if (cls && *cls->facts) return (onnx_facts *)(uintptr_t)*cls->facts;
    onnx_facts *f = cls ? arena_take(&at->c->scratch, sizeof *f) : NULL;
    at->c->no_memory |= !f;
    if (!f) return NULL;
    *f = (onnx_facts){ .typed = false };
    if (cls->type.size < sizeof f->name) memcpy(f->name, cls->type.data, cls->type.size);
    if (strcspn(f->name, " ") != cls->type.size) *f->name = '\0';
    *cls->facts = f;
    return f;
}
