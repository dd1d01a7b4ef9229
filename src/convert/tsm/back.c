/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The way back: what its hooks share. An operator of TensorStack has one result; packed tensors have fields. */
#include "tsm/tsm.h"

/* An operator in place of the op, or a part of it with an own type. */
xir_value *tsm_part(xir_node *at, const char *key, xir_values inputs, xir_sets sets, const xir_type *type) {
    if (xir_node_failed(at) || !type) return NULL;
    for (size_t i = 0; i < inputs.size; i++) if (!inputs.data[i]) return NULL;
    return foreign_value(at, key, inputs, sets, type);
}

const xir_type *tsm_type(const xir_node *at, size_t i) {
    return xir_value_type(xir_op_output(at->op, (int64_t)i));
}

const xir_type *tsm_tensor(xir_node *at, const xir_type *element, const xir_layout *layout, const xir_ints *dims) {
    const xir_type *type = !xir_node_failed(at) && element && dims->v ? node_type(at, element, layout, dims) : NULL;
    if (!type) node_no_memory(at);
    return type;
}

const xir_type *tsm_typed_as(xir_node *at, const xir_type *type, const xir_type *element) {
    const xir_ints dims = node_dims_of(at, type);
    return tsm_tensor(at, element, xir_type_layout(type), &dims);
}

bool tsm_gives(xir_node *at, const char *key, xir_values inputs, xir_sets sets) {
    return xir_node_result(at, 0, tsm_part(at, key, inputs, sets, tsm_type(at, 0)));
}

/* The fields of a packed tensor are the results. */
bool tsm_give_fields(xir_node *at, const char *key, xir_values inputs, xir_sets sets) {
    xir_value *packed = tsm_part(at, key, inputs, sets, tsm_type(at, 0));
    for (size_t i = 0; i < at->n_out && packed; i++)
        xir_node_result(at, i, tsm_part(at, "tsm::_field", INS(packed), SETS(INT("offset", (int64_t)i)),
                                        tsm_type(at, i)));
    return packed && !xir_node_failed(at);
}

/* A constant of the file that holds a list: 32-bit integers with these dims. */
xir_value *tsm_list_of(xir_node *at, const xir_ints *v, const xir_ints *dims) {
    double *reals = v->v ? node_take(at, (v->n + 1) * sizeof *reals) : NULL;
    if (!reals) return node_no_memory(at), NULL;
    for (size_t i = 0; i < v->n; i++) {
        if (v->v[i] < INT32_MIN || v->v[i] > INT32_MAX)
            return xir_node_unsupported(at, "a number of more than 32 bits"), NULL;
        reals[i] = (double)v->v[i];
    }
    return xir_node_constant(at, xir_type_sint(xir_node_context(at), 32), dims, reals, v->n);
}

bool tsm_short_dims(xir_node *at, const xir_value *x) {
    for (size_t i = 0; x && i < v_rank(x); i++)
        if (v_dim(x, i) > TSM_MOST_DIM) return xir_node_unsupported(at, "a dim of more than 32 bits");
    return x != NULL;
}

/* Integers of both signs take turns, from 8 bits on; reals follow, and truths come later. */
int64_t tsm_dtype(xir_node *at, const xir_type *element) {
    const xir_integer_type *integer = xir_integer_type_of(xir_type_object(element));
    const int bits = (int)xir_type_storage_bits(element), size = bits <= 8 ? 0 : bits <= 16 ? 1 : bits <= 32 ? 2 : 3;
    const xir_type_kind kind = xir_type_kind_of(element);
    const int64_t code = kind == XIR_TYPE_BOOL ? TSM_BOOLEAN : kind == XIR_TYPE_FLOAT ? TSM_FLOAT16 + size - 1
                       : TSM_INT8 + 2 * size + (integer && !integer->sign);
    const xir_type *own = tsm_element(xir_node_context(at), code);
    if (!own) return node_no_memory(at), 0;   /* each code has a type */
    return xir_type_equal(own, element) ? code : 0;
}

bool tsm_is_class(const xir_node *at, const char *name) {
    return xir_str_equal(xir_node_type(at), xir_str_of(name));
}
