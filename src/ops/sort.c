/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The checks look only at the kind of the element type. */
#include "sort.h"

const xir_type *element_of(const xir_type *type) {
    return xir_type_as_tensor(type) ? xir_type_element(type) : type;
}

enum { FLOATS = 1, INTEGERS = 2, BOOLS = 4, OTHERS = 8 };

static unsigned sort_of(const xir_type *element) {
    if (xir_type_is_quantized(element)) return FLOATS | INTEGERS;
    switch (xir_type_kind_of(element)) {
    case XIR_TYPE_FLOAT:   return FLOATS;
    case XIR_TYPE_INTEGER: return INTEGERS;
    case XIR_TYPE_BOOL:    return BOOLS;
    default:               return OTHERS;
    }
}

static xir_status need_sort(xir_infer *at, size_t i, unsigned sorts, const char *expected) {
    const xir_type *type = xir_infer_input(at, i);
    if (!type || sort_of(element_of(type)) & (sorts | OTHERS)) return XIR_OK;
    char room[40];
    return xir_infer_fail(at, XIR_E_TYPE, path_of_input(i).text, "the elements of %s are %s: expected %s",
                          input_name(at, i), element_word(element_of(type), room, sizeof room), expected);
}

xir_status need_reals(xir_infer *at, size_t i)   { return need_sort(at, i, FLOATS, "floating-point numbers"); }
xir_status need_numbers(xir_infer *at, size_t i) { return need_sort(at, i, FLOATS | INTEGERS, "numbers"); }
xir_status need_bools(xir_infer *at, size_t i)   { return need_sort(at, i, BOOLS, "bool"); }

xir_status need_integers(xir_infer *at, size_t i) {
    const xir_type *element = element_of(xir_infer_input(at, i));
    if (xir_type_kind_of(element) == XIR_TYPE_INTEGER) return XIR_OK;
    char room[40];
    return xir_infer_fail(at, XIR_E_TYPE, path_of_input(i).text, "the elements of %s are %s: expected integers",
                          input_name(at, i),
                          xir_type_is_quantized(element) ? "quantised" : element_word(element, room, sizeof room));
}

bool holds_integers(const xir_type *type) { return type && sort_of(element_of(type)) == INTEGERS; }
bool holds_reals(const xir_type *type)    { return type && sort_of(element_of(type)) == FLOATS; }
