/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* See numbers.h. */
#include "support/numbers.h"
#include <math.h>

const void *whole_params(const xir_value *v) {
    uint64_t size, need;
    if (!v || !value_is_params(v) || xir_type_bytes(v->type, &need) != XIR_OK) return NULL;
    const void *bytes = xir_params_data(v, &size);
    return bytes && size >= need ? bytes : NULL;
}

bool number_of_params(const xir_value *v, double *out) {
    int64_t n;
    uint64_t size;
    element_format form = element_format_of(value_is_constant(v) ? v->type : NULL);
    if (!element_is_number(form) || xir_type_elements(v->type, &n) != XIR_OK || n != 1) return false;
    const void *bytes = xir_params_data(v, &size);
    if (!bytes || size * 8 < xir_type_storage_bits(v->type)) return false;
    *out = element_real(form, bytes, 0);
    return true;
}

bool number_near(double x, double wanted, double within) {
    return fabs(x - wanted) <= within * (wanted != 0 ? fabs(wanted) : 1);
}

void number_range(element_format f, double *least, double *greatest) {
    const int half = 1 << (f.exponent - 1);
    *least = ldexp(1, 2 - half);
    *greatest = ldexp(2 - ldexp(1, -f.mantissa), half - 1);
}
