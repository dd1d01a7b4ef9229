/* Bytes of constants lie as in files: little endian, whatever the machine. */
#include <inttypes.h>
#include <math.h>
#include "constant.h"

/* ---- types ---------------------------------------------------------------------------------------------------- */

xir_status need_one(xir_infer *at, size_t i) {
    const xir_type *type = xir_infer_input(at, i);
    size_t rank = xir_type_rank(type);
    if (rank > 1) {
        return xir_infer_fail(at, XIR_E_INVALID, path_of_input(i).text, "%s has %zu dims, one element was expected",
                              input_name(at, i), rank);
    }
    int64_t dim = rank ? xir_type_dim(type, 0, false) : 1;
    if (dim < 0 || dim == 1) return XIR_OK;
    return xir_infer_fail(at, XIR_E_INVALID, path_of_input(i).text, "%s has %" PRId64 " elements, one was expected",
                          input_name(at, i), dim);
}

/* ---- bytes ------------------------------------------------------------------------------------------------------ */

enum { WIDEST = 8 };   /* bytes of a number */

static uint64_t bits_of(const uint8_t *bytes, size_t size) {
    uint64_t bits = 0;
    for (size_t k = 0; k < size; k++) bits |= (uint64_t)bytes[k] << (8 * k);
    return bits;
}

/* Copies the elements of a constant out, `width` bytes each; 0 if they are not known. `room` has space for `most`. */
static size_t constant_bytes(xir_infer *at, size_t i, size_t most, uint8_t *room, size_t *width) {
    const xir_value *value = xir_infer_input_value(at, i);
    const xir_type *type = xir_infer_input(at, i);
    uint64_t bits = xir_type_storage_bits(type);
    int64_t n;
    if (!value || !xir_value_is_params(value) || bits == 0 || bits % 8 || bits > 8 * WIDEST) return 0;
    if (xir_type_elements(type, &n) != XIR_OK || n < 1 || (uint64_t)n > most) return 0;
    *width = (size_t)bits / 8;
    return xir_params_read(value, 0, room, (size_t)n * *width) == XIR_OK ? (size_t)n : 0;
}

/* False if it exceeds int64, which only an unsigned number of 64 bits does. */
static bool integer_of(const uint8_t *bytes, size_t width, bool sign, int64_t *out) {
    uint64_t bits = bits_of(bytes, width);
    if (!sign) {
        *out = (int64_t)(bits & INT64_MAX);
        return bits <= INT64_MAX;
    }
    uint64_t top = UINT64_C(1) << (8 * width - 1);
    bits &= top | (top - 1);
    *out = bits & top ? -(int64_t)((top | (top - 1)) - bits) - 1 : (int64_t)bits;
    return true;
}

static double half_of(uint64_t bits) {
    int exponent = (int)(bits >> 10 & 31);
    double fraction = (double)(bits & 1023);
    double v = exponent == 31 ? (fraction > 0 ? NAN : INFINITY)
             : exponent == 0  ? ldexp(fraction, -24) : ldexp(fraction + 1024, exponent - 25);
    return bits >> 15 ? -v : v;
}

static double single_of(uint64_t bits) {
    uint32_t word = (uint32_t)bits;
    float v;
    memcpy(&v, &word, sizeof v);
    return (double)v;
}

static double double_of(uint64_t bits) {
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

/* False for formats that are not read. */
static bool real_of(const uint8_t *bytes, size_t width, xir_float_format format, double *out) {
    uint64_t bits = bits_of(bytes, width);
    switch (format) {
    case XIR_FLOAT_FP16: *out = half_of(bits); return true;
    case XIR_FLOAT_BF16: *out = single_of(bits << 16); return true;
    case XIR_FLOAT_FP32:
    case XIR_FLOAT_TF32: *out = single_of(bits); return true;
    case XIR_FLOAT_FP64: *out = double_of(bits); return true;
    default:             return false;
    }
}

static xir_status too_large(xir_infer *at, size_t i) {
    return xir_infer_fail(at, XIR_E_LIMIT, path_of_input(i).text, "a number of %s exceeds int64", input_name(at, i));
}

/* ---- reading ---------------------------------------------------------------------------------------------------- */

static const xir_integer_type *integer_type(xir_infer *at, size_t i) {
    return xir_integer_type_of((const xir_object *)xir_type_element(xir_infer_input(at, i)));
}

xir_status read_integers(xir_infer *at, size_t i, integer_list *out) {
    out->known = false;
    out->size = 0;
    xir_status status = need_integers(at, i);
    if (status) return status;

    const xir_integer_type *type = integer_type(at, i);
    if (!type) return XIR_OK;   // a class that the library does not know
    uint8_t bytes[MOST_CONSTANTS * WIDEST];
    size_t width, n = constant_bytes(at, i, MOST_CONSTANTS, bytes, &width);
    for (size_t k = 0; k < n; k++) {
        if (!integer_of(bytes + k * width, width, type->sign, &out->data[k])) return too_large(at, i);
    }
    int64_t elements;
    out->size = n;
    out->known = n || (xir_type_elements(xir_infer_input(at, i), &elements) == XIR_OK && elements == 0);
    return XIR_OK;
}

xir_status read_number(xir_infer *at, size_t i, constant_number *out) {
    const xir_integer_type *integer = integer_type(at, i);
    const xir_float_type *real = xir_float_type_of((const xir_object *)xir_type_element(xir_infer_input(at, i)));
    *out = (constant_number){ .is_integer = integer };
    uint8_t bytes[WIDEST];
    size_t width;
    if (!constant_bytes(at, i, 1, bytes, &width)) return XIR_OK;
    if (integer) {
        if (!integer_of(bytes, width, integer->sign, &out->integer)) return too_large(at, i);
        out->real = (double)out->integer;
        out->known = true;
    } else if (real) {
        out->known = real_of(bytes, width, real->format, &out->real);
    }
    return XIR_OK;
}
