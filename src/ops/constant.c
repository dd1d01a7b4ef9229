/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* See constant.h. */
#include <inttypes.h>
#include "constant.h"
#include "elements.h"

/* ---- types ---------------------------------------------------------------------------------------------------- */

xir_status need_one(xir_infer *at, size_t i) {
    const xir_type *type = xir_infer_input(at, i);
    size_t rank = xir_type_rank(type);
    if (rank > 1) {
        return xir_infer_fail(at, XIR_E_INVALID, path_of_input(i).text, "%s has %zu dims: expected one element",
                              input_name(at, i), rank);
    }
    int64_t dim = rank ? type_dim(type, 0) : 1;
    if (dim < 0 || dim == 1) return XIR_OK;
    return xir_infer_fail(at, XIR_E_INVALID, path_of_input(i).text, "%s has %" PRId64 " elements: expected 1",
                          input_name(at, i), dim);
}

/* ---- reading ---------------------------------------------------------------------------------------------------- */

enum { WIDEST = 8 };   /* bytes of the widest number */

/* Copies the elements of a constant to `room`, which holds `most`. Returns how many, or 0 if they are unknown or
 * too many. */
static size_t constant_bytes(xir_infer *at, size_t i, element_format f, size_t most, void *room) {
    const xir_value *value = xir_infer_input_value(at, i);
    int64_t n;
    if (!value || !xir_value_is_params(value) || !element_is_number(f)) return 0;
    if (xir_type_elements(xir_infer_input(at, i), &n) != XIR_OK || n < 1 || (uint64_t)n > most) return 0;
    return xir_params_read(value, 0, room, ((size_t)n * f.bits + 7) / 8) == XIR_OK ? (size_t)n : 0;
}

/* False if the number exceeds int64, which only an unsigned 64-bit number can. */
static bool integer_at(element_format f, const void *bytes, size_t k, int64_t *out) {
    *out = element_i64(f, bytes, k);
    return *out >= 0 || f.kind == ELEMENT_SIGNED;
}

static xir_status too_large(xir_infer *at, size_t i) {
    return xir_infer_fail(at, XIR_E_LIMIT, path_of_input(i).text, "a number of %s exceeds int64", input_name(at, i));
}

xir_status read_integers(xir_infer *at, size_t i, integer_list *out) {
    out->known = false;
    out->size = 0;
    xir_status status = need_integers(at, i);
    if (status) return status;

    element_format f = element_format_of(xir_infer_input(at, i));
    if (f.kind != ELEMENT_SIGNED && f.kind != ELEMENT_UNSIGNED)
        return XIR_OK;   // a class that this library does not know
    uint8_t bytes[MOST_CONSTANTS * WIDEST];
    size_t n = constant_bytes(at, i, f, MOST_CONSTANTS, bytes);
    for (size_t k = 0; k < n; k++) {
        if (!integer_at(f, bytes, k, &out->data[k])) return too_large(at, i);
    }
    int64_t elements;
    out->size = n;
    out->known = n || (xir_type_elements(xir_infer_input(at, i), &elements) == XIR_OK && elements == 0);
    return XIR_OK;
}

xir_status read_number(xir_infer *at, size_t i, constant_number *out) {
    element_format f = element_format_of(xir_infer_input(at, i));
    *out = (constant_number){ .is_integer = f.kind == ELEMENT_SIGNED || f.kind == ELEMENT_UNSIGNED };
    uint8_t bytes[WIDEST];
    if (!constant_bytes(at, i, f, 1, bytes)) return XIR_OK;
    if (out->is_integer && !integer_at(f, bytes, 0, &out->integer)) return too_large(at, i);
    out->real = out->is_integer ? (double)out->integer : element_real(f, bytes, 0);
    out->known = true;
    return XIR_OK;
}
