/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* See listed.h. */
#include "support/listed.h"
#include <xir/ops.h>
#include "items.h"
#include "support/upkeep.h"

bool op_is_listed(const xir_op *op) {
    const xir_class_decl *decl = op->cls->decl;
    if (op->n_inputs < 2 || !op_inputs(op)[1].value || !decl) return false;
    return decl == xir_reshape_class() || decl == xir_expand_class() || decl == xir_tile_class() ||
           decl == xir_slice_class() || decl == xir_pad_class() || decl == xir_resize_class();
}

/* The attributes with the numbers in the lists that are now -1; false if they are not as many. */
static bool settle_expand(const xir_op *op, xir_expand_attrs *a, int64_t *v, size_t n) {
    const xir_i64s *dims = value_dims(op_inputs(op)[0].value);
    if (!dims || dims->size > n || a->sizes.size != n) return false;
    for (size_t i = n - dims->size; i < n; i++) {
        if (v[i] == 1) v[i] = -1;   // in a list it keeps the dim
    }
    a->sizes = (xir_i64s){ v, n };
    return true;
}

static bool put_list(xir_i64s *attribute, const int64_t *v, size_t n) {
    if (attribute->size != n) return false;
    *attribute = (xir_i64s){ v, n };
    return true;
}

union listed_attrs {
    xir_reshape_attrs reshape;
    xir_expand_attrs  expand;
    xir_tile_attrs    tile;
    xir_slice_attrs   slice;
    xir_pad_attrs     pad;
    xir_resize_attrs  resize;
};

static bool settle_attrs(const xir_op *op, union listed_attrs *a, int64_t *v, size_t n) {
    const xir_class_decl *decl = op->cls->decl;
    memcpy(a, op->attrs, op->cls->body_size);
    if (decl == xir_reshape_class()) return put_list(&a->reshape.shape, v, n);
    if (decl == xir_expand_class()) return settle_expand(op, &a->expand, v, n);
    if (decl == xir_tile_class()) return put_list(&a->tile.dims, v, n);
    if (decl == xir_pad_class()) return put_list(&a->pad.padding, v, n);
    if (decl == xir_resize_class()) return put_list(&a->resize.dsize, v, n);
    return n % 2 == 0 && put_list(&a->slice.begin, v, n / 2) && put_list(&a->slice.end, v + n / 2, n / 2);
}

xir_status op_settle_list(xir_op *op, bool *done) {
    union listed_attrs a;
    item_list list;
    *done = false;
    if (!op_is_listed(op) || op->n_inputs != 2 || op->cls->body_size > sizeof a) return XIR_OK;
    if (!value_is_params(op_inputs(op)[1].value) || !items_of_params(op_inputs(op)[1].value, &list)) return XIR_OK;
    for (size_t i = 0; i < list.n; i++) {
        if (!expr_is_number(list.v[i])) return XIR_OK;
    }
    xir_value *x = op_inputs(op)[0].value;
    if (!x || !settle_attrs(op, &a, list.v, list.n)) return XIR_OK;
    xir_status status = infers_same(op, &a, &x, 1, done);
    if (status || !*done) return status;
    status = xir_op_set_body(op, op->cls->decl, &a);
    return status ? status : xir_op_set_inputs(op, &x, 1);
}
