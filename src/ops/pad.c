/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Adds elements before and after each dim. In all modes, negative padding first removes elements; the rest is then
 * padded. */
#include <inttypes.h>
#include <math.h>
#include "graph.h"
#include "list.h"
#include "move.h"

static int64_t positive(int64_t v) { return v > 0 ? v : 0; }

/* Returns how many mirrored elements a dim of `n` can provide. */
static int64_t most_mirrored(xir_pad_mode mode, int64_t n) {
    if (mode == XIR_PAD_REFLECTION) return n - 1;
    if (mode == XIR_PAD_SYMMETRIC) return n;
    return n > 0 ? INT64_MAX : 0;
}

/* The amounts: an attribute, or read from the input. */
typedef struct pad_amounts {
    move     m;   /* first: the function that takes elements gets a pointer to it */
    dim_list amounts;
} pad_amounts;

static xir_status read_amounts(xir_infer *at, size_t rank, dim_list *out) {
    const xir_pad_attrs *a = xir_infer_attrs(at);
    if (a->padding.size % 2 || a->padding.size / 2 != rank) {
        return xir_infer_fail(at, XIR_E_INVALID, "padding",
                              "padding has %zu entries: expected 2 for each of the %zu dims of input", a->padding.size,
                              rank);
    }
    if (has_list(at)) {
        xir_status status = check_list(at, a->padding.size);
        if (!status) status = check_open(at, "padding", a->padding);
        return status ? status : read_items(at, a->padding.size, out);
    }
    return copy_items(at, a->padding, out);
}

/* Checks one dim. Unknown sizes are accepted. */
static xir_status pad_dim(xir_infer *at, const dim_list *amounts, size_t k, int64_t dim, int64_t *out) {
    const xir_pad_attrs *a = xir_infer_attrs(at);
    const char *where = list_place(at, "padding");
    int64_t before = amounts->data[2 * k], after = amounts->data[2 * k + 1], cropped, padded;
    *out = UNKNOWN_DIM;
    if (dim < 0 || !expr_is_number(before) || !expr_is_number(after)) {
        *out = dim_of_expr(expr_add(at->pool, expr_add(at->pool, expr_of_dim(dim), before), after));
        return XIR_OK;
    }
    if (!add_i64(dim, before < 0 ? before : 0, &cropped) || !add_i64(cropped, after < 0 ? after : 0, &cropped) ||
        cropped < 0) {
        return xir_infer_fail(at, XIR_E_INVALID, where,
                              "dim %zu of input is %" PRId64 ": a padding of %" PRId64 " and %" PRId64 " removes more",
                              k, dim, before, after);
    }
    int64_t most = a->mode == XIR_PAD_CONSTANT ? INT64_MAX : most_mirrored(a->mode, cropped);
    if (positive(before) > positive(most) || positive(after) > positive(most)) {
        return xir_infer_fail(at, XIR_E_INVALID, where, "padding of %" PRId64 " and %" PRId64 " around dim %zu: %s "
                              "of %" PRId64 " gives at most %" PRId64, before, after, k,
                              xir_pad_mode_enum()->names[a->mode], cropped, positive(most));
    }
    if (!add_i64(cropped, positive(before), &padded) || !add_i64(padded, positive(after), &padded)) {
        return xir_infer_fail(at, XIR_E_LIMIT, where,
                              "dim %zu of %" PRId64 " with padding %" PRId64 " and %" PRId64 " exceeds 64 bits", k, dim,
                              before, after);
    }
    *out = padded;
    return XIR_OK;
}

/* Fails unless the element type of input 0 can hold the padding value. */
static xir_status fits(xir_infer *at, const xir_scalar *value) {
    const xir_type *element = xir_type_element(xir_infer_input(at, 0));
    double real = xir_scalar_as_real(value);
    const xir_integer_type *integer = xir_integer_type_of((const xir_object *)element);
    bool is_bool = xir_type_kind_of(element) == XIR_TYPE_BOOL;
    if (xir_type_is_quantized(element) && xir_type_kind_of(element) != XIR_TYPE_CALIBRATED && real != 0) {
        return xir_infer_fail(at, XIR_E_UNSUPPORTED, "value", "the value for a quantised input is %g: expected 0, "
                              "because the stored number for others depends on the element", real);
    }
    if (!integer && !is_bool) return XIR_OK;
    if (real != trunc(real)) {
        return xir_infer_fail(at, XIR_E_TYPE, "value",
                              "the value is %g, but the elements of input are integers or bool", real);
    }
    int bits = is_bool ? 1 : integer->ibits > 64 ? 64 : (int)integer->ibits;
    bool sign = !is_bool && integer->sign, good;
    double least = sign ? -ldexp(1, bits - 1) : 0, above = ldexp(1, sign ? bits - 1 : bits);
    bool exact = object_what(value) == WHAT_INT && bits == 64;   // a double cannot represent all of them
    if (exact) good = sign || xir_scalar_as_int(value) >= 0;
    else good = real >= least && real < above;
    if (good) return XIR_OK;
    return xir_infer_fail(at, XIR_E_BOUNDS, "value", "%g is outside [%g, %g), the range of the elements of input", real,
                          least, above);
}

/* Creates the amounts and the dims, unless it fails. */
static xir_status pad_dims(xir_infer *at, dim_list *amounts, dim_list *out) {
    const xir_pad_attrs *a = xir_infer_attrs(at);
    xir_i64s shape = xir_type_as_tensor(xir_infer_input(at, 0))->shape;
    xir_status status = read_amounts(at, shape.size, amounts);
    if (status) return status;
    if ((unsigned)a->mode > XIR_PAD_SYMMETRIC) {
        status = xir_infer_fail(at, XIR_E_BOUNDS, "mode", "%d is not a mode", (int)a->mode);
    }
    if (!status && a->mode == XIR_PAD_CONSTANT && a->value) status = fits(at, a->value);
    bool tiled = inputs_tiled(at, 1), made = !status && dims_init(at, out, shape.size);
    if (!status && !made) status = XIR_E_MEMORY;
    for (size_t k = 0; k < shape.size && !status; k++) {
        status = pad_dim(at, amounts, k, shape.data[k], &out->data[k]);
        bool moves = amounts->data[2 * k] || amounts->data[2 * k + 1];
        if (!status && moves && tiled) status = need_untiled(at, "padding", k);
    }
    if (status && made) dims_free(out);
    if (status) dims_free(amounts);
    return status;
}

xir_status pad_check(xir_infer *at) {
    dim_list amounts, dims;
    if (!inputs_checkable(at, 1) || !list_checkable(at)) return XIR_OK;
    xir_status status = need_few_dims(at, 1);
    if (!status) status = pad_dims(at, &amounts, &dims);
    if (status) return status;
    dims_free(&dims);
    dims_free(&amounts);
    return XIR_OK;
}

static xir_status pad_take(const move *m, xir_infer *at, size_t k, stretch_list *out) {
    const xir_pad_attrs *a = xir_infer_attrs(at);
    int64_t n = xir_type_as_tensor(xir_infer_input(at, 0))->shape.data[k];
    const dim_list *amounts = &((const pad_amounts *)m)->amounts;
    int64_t before = amounts->data[2 * k], after = amounts->data[2 * k + 1];
    if (before == 0 && after == 0) return XIR_OK;
    if (n < 0 || !expr_is_number(before) || !expr_is_number(after)) return refuse_unknown(at, k);
    int64_t first = before < 0 ? -before : 0, end = after < 0 ? n + after : n;
    xir_status status = XIR_OK;
    bool skips = a->mode == XIR_PAD_REFLECTION;   // reflection does not repeat the outermost element
    if (before > 0) {
        if (a->mode == XIR_PAD_CONSTANT)         status = add_stretch(out, NEW_ELEMENTS, before, 0);
        else if (a->mode == XIR_PAD_REPLICATION) status = add_stretch(out, first, before, 0);
        else                                     status = add_stretch(out, first + before - !skips, before, -1);
    }
    if (!status) status = add_stretch(out, first, end - first, 1);
    if (!status && after > 0) {
        if (a->mode == XIR_PAD_CONSTANT)         status = add_stretch(out, NEW_ELEMENTS, after, 0);
        else if (a->mode == XIR_PAD_REPLICATION) status = add_stretch(out, end - 1, after, 0);
        else                                     status = add_stretch(out, end - 1 - skips, after, -1);
    }
    return status;
}

xir_status pad_infer(xir_infer *at) {
    pad_amounts p = { .m = { .take = pad_take, .layout = xir_type_layout(xir_infer_input(at, 0)) } };
    dim_list dims;
    xir_status status = need_movable(at, 1);
    if (!status) status = pad_dims(at, &p.amounts, &dims);
    if (status) return status;
    p.m.dims = &dims;
    status = give_moved(at, &p.m);
    dims_free(&dims);
    dims_free(&p.amounts);
    return status;
}
