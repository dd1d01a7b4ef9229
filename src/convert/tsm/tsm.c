/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Helpers of TensorStack's hooks: parameters, element types, and short sequences of ops. */
#include <stdio.h>
#include <string.h>
#include "spec/borders.h"
#include "tsm/tsm.h"
#include "element_codes.h"

/* ---- parameters ------------------------------------------------------------------------------------------------- */

bool tsm_out_of_range(xir_node *at, const char *name, int64_t found) {
    char where[60];
    snprintf(where, sizeof where, "attribute/%s", name);
    return xir_node_invalid(at, XIR_E_BOUNDS, where, "%s is out of range: found %lld", name, (long long)found);
}

bool tsm_int(xir_node *at, const char *name, int64_t otherwise, int64_t least, int64_t most, int64_t *out) {
    char where[60];
    *out = xir_node_int(at, name, otherwise);
    if (xir_node_failed(at)) return false;
    if (*out >= least && *out <= most) return true;
    snprintf(where, sizeof where, "attribute/%s", name);
    if (most >= TSM_MOST_DIM)
        return xir_node_invalid(at, XIR_E_BOUNDS, where, "%s: expected at least %lld, found %lld", name,
                                (long long)least, (long long)*out);
    return xir_node_invalid(at, XIR_E_BOUNDS, where, "%s: expected a number from %lld to %lld, found %lld", name,
                            (long long)least, (long long)most, (long long)*out);
}

/* Checks how many numbers there are, and their range. `where`: their place. */
static bool fits(xir_node *at, const char *where, const char *name, size_t n, int64_t least, const xir_ints *list) {
    if (n != SIZE_MAX && list->n != n)
        return xir_node_invalid(at, XIR_E_BOUNDS, where, "%s: expected %zu numbers, found %zu", name, n, list->n);
    for (size_t i = 0; i < list->n; i++) {
        if (list->v[i] >= least && list->v[i] <= TSM_MOST_DIM) continue;
        return xir_node_invalid(at, XIR_E_BOUNDS, where, "%s[%zu] is out of range: found %lld", name, i,
                                (long long)list->v[i]);
    }
    return true;
}

bool tsm_list(xir_node *at, const char *name, size_t n, int64_t least, xir_ints *out) {
    char where[60];
    const xir_any *a = xir_node_attr(at, name);
    *out = (xir_ints){ NULL, 0 };
    if (xir_node_failed(at) || !a) return false;
    if (a->kind == XIR_ANY_INT || a->kind == XIR_ANY_BOOL) *out = xir_node_make_ints(at, 1, xir_node_int(at, name, 0));
    else if (!xir_node_items(at, name, out)) {
        return xir_node_failed(at) ? false : xir_node_unsupported(at, "%s is not a list of integers", name);
    }
    snprintf(where, sizeof where, "attribute/%s", name);
    return out->v && fits(at, where, name, n, least, out);
}

bool tsm_constant(xir_node *at, size_t i, size_t n, xir_ints *out) {
    char where[32], name[32];
    if (!xir_node_ints(at, i, out)) return false;
    snprintf(where, sizeof where, "input/%zu", i);
    snprintf(name, sizeof name, "input %zu", i);
    return fits(at, where, name, n, INT32_MIN, out);
}

bool tsm_has_rank(xir_node *at, size_t i, const xir_value *v, size_t rank) {
    char where[32];
    if (xir_node_failed(at) || !v) return false;
    if (v_rank(v) == rank) return true;
    snprintf(where, sizeof where, "input/%zu", i);
    return xir_node_invalid(at, XIR_E_INVALID, where, "input %zu: expected %zu dims, found %zu", i, rank, v_rank(v));
}

/* ---- element types ---------------------------------------------------------------------------------------------- */

const xir_type *tsm_element(xir_context *ctx, int64_t dtype) {
    return element_code_type(ctx, element_code_at(&element_codes_tsm, (uint64_t)dtype));
}

/* The part of a number that decides about the common type. */
typedef struct number { xir_type_kind kind; int bits; bool sign; } number;

static number number_of(const xir_value *v) {
    const xir_type *element = v_element(v);
    const xir_integer_type *integer = xir_integer_type_of(xir_type_object(element));
    return (number){ xir_type_kind_of(element), (int)xir_type_storage_bits(element), !integer || integer->sign };
}

/* Of two floats the wider one. Of a float and an integer the float, if it has as many bits as the integer, else the
 * next float of more bits. Of two integers the wider one, signed if one of them is, or if 8 bits meet 16 or 64. */
const xir_type *tsm_common(xir_node *at, const xir_value *a, const xir_value *b) {
    if (xir_node_failed(at) || !a || !b) return NULL;
    if (xir_type_equal(v_element(a), v_element(b))) return v_element(a);
    number x = number_of(a), y = number_of(b);
    if (x.kind == XIR_TYPE_BOOL) return v_element(b);
    if (y.kind == XIR_TYPE_BOOL) return v_element(a);
    if (x.kind == XIR_TYPE_INTEGER && y.kind == XIR_TYPE_FLOAT) {
        const number z = x;
        x = y, y = z;
    }
    const bool reals = x.kind == XIR_TYPE_FLOAT;
    if ((!reals && x.kind != XIR_TYPE_INTEGER) || (y.kind != XIR_TYPE_FLOAT && y.kind != XIR_TYPE_INTEGER))
        return xir_node_unsupported(at, "elements of other types than integers and reals"), NULL;
    int bits = x.bits > y.bits ? x.bits : y.bits;
    xir_context *ctx = xir_node_context(at);
    if (reals) {
        if (y.kind == XIR_TYPE_INTEGER && y.bits < 32) bits = x.bits;
        return xir_type_float(ctx, bits <= 16 ? XIR_FLOAT_FP16 : bits <= 32 ? XIR_FLOAT_FP32 : XIR_FLOAT_FP64);
    }
    const int least = x.bits < y.bits ? x.bits : y.bits;
    const bool sign = x.sign || y.sign || (least == 8 && (bits == 16 || bits == 64));
    return sign ? xir_type_sint(ctx, bits) : xir_type_uint(ctx, bits);
}

/* A real becomes an integer of 32 bits first, or of 64 for what these cannot hold, and loses its upper bits. */
xir_value *tsm_cast(xir_node *at, xir_value *x, const xir_type *element) {
    const xir_integer_type *integer = xir_integer_type_of(xir_type_object(element));
    const int bits = (int)xir_type_storage_bits(element);
    if (xir_type_kind_of(v_element(x)) == XIR_TYPE_FLOAT && integer && (bits < 32 || (bits == 32 && !integer->sign)))
        x = xir_node_cast(at, x, xir_type_sint(xir_node_context(at), bits < 32 ? 32 : 64));
    return x ? xir_node_cast(at, x, element) : NULL;
}

xir_value *tsm_index(xir_node *at, xir_value *x) {
    return x ? xir_node_cast(at, x, xir_type_sint(xir_node_context(at), 64)) : NULL;
}

xir_value *tsm_int32(xir_node *at, xir_value *x) {
    return x ? xir_node_cast(at, x, xir_type_sint(xir_node_context(at), 32)) : NULL;
}

/* ---- operations ------------------------------------------------------------------------------------------------- */

xir_value *tsm_along(xir_node *at, xir_value *v, const xir_value *x, size_t axis) {
    if (xir_node_failed(at) || !v || !x) return NULL;
    const size_t rank = v_rank(x);
    if (axis + 1 == rank && v_rank(v) == 1) return v;
    const xir_ints dims = node_line(at, rank - axis, 0, -1);
    return make_reshaped(at, v, &dims);
}

xir_value *tsm_flattened(xir_node *at, xir_value *x, size_t from) {
    const xir_ints dims = xir_node_dims(at, x);
    int64_t before = product_of(&dims, 0, from), after = product_of(&dims, from, dims.n);
    if (before < 0 && after < 0)
        return xir_node_unsupported(at, "open dims, or dims whose product exceeds 63 bits"), NULL;
    return make_shaped(at, x, (int64_t[]){ before, after }, 2);
}

xir_value *tsm_padded(xir_node *at, xir_value *x, const xir_ints *pairs, double value) {
    bool any = false;
    if (xir_node_failed(at) || !x || !pairs->v) return NULL;
    for (size_t i = 0; i < pairs->n; i++) any |= pairs->v[i] != 0;
    if (!any) return x;
    return op_of_borders(at, x, &(borders){ .cells = *pairs, .filled = true, .value = value });
}
