/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* See elements.h. Formats of floats are described by their parts, so that one function reads them all and one writes
 * them all. fp32, by far the most common, is a move. */
#include "elements.h"
#include <math.h>
#include "object.h"

/* ---- formats ------------------------------------------------------------------------------------------------- */

/* ORDER FLOAT. TF32 is stored in the upper bits of an fp32. */
static const element_format floats[] = {
    [XIR_FLOAT_FP16]   = { ELEMENT_FLOAT, 16, 5,  10 }, [XIR_FLOAT_FP32]   = { ELEMENT_FLOAT, 32, 8, 23 },
    [XIR_FLOAT_FP64]   = { ELEMENT_FLOAT, 64, 11, 52 }, [XIR_FLOAT_BF16]   = { ELEMENT_FLOAT, 16, 8, 7  },
    [XIR_FLOAT_TF32]   = { ELEMENT_FLOAT, 32, 8,  10 }, [XIR_FLOAT_FPE7M8] = { ELEMENT_FLOAT, 16, 7, 8  },
    [XIR_FLOAT_FPE6M9] = { ELEMENT_FLOAT, 16, 6,  9  },
};

/* The format of an element type. Passes need it for every op, so it looks up nothing. */
static element_format format_of(const xir_type *element) {
    element_format f = { .kind = ELEMENT_NONE };
    switch (xir_type_kind_of(element)) {
    case XIR_TYPE_FLOAT: {
        unsigned format = (unsigned)((const xir_float_type *)element)->format;
        return format < sizeof floats / sizeof floats[0] ? floats[format] : f;
    }
    case XIR_TYPE_INTEGER: {
        const xir_integer_type *integer = (const xir_integer_type *)element;
        if (integer->ibits < 1 || integer->ibits > 64) return f;
        f.kind = integer->sign ? ELEMENT_SIGNED : ELEMENT_UNSIGNED;
        f.bits = (uint8_t)integer->ibits;
        return f;
    }
    case XIR_TYPE_BOOL:
        return (element_format){ .kind = ELEMENT_BOOL, .bits = 8 };
    default:
        return f;
    }
}

element_format element_format_of(const xir_type *type) {
    const xir_tensor_type *tensor = xir_type_as_tensor(type);
    return format_of(tensor ? tensor->element_dtype : type);
}

/* ---- bits ------------------------------------------------------------------------------------------------------ */

static uint64_t load_bytes(const uint8_t *at, size_t width) {
    uint64_t bits = 0;
    for (size_t k = 0; k < width; k++) bits |= (uint64_t)at[k] << (8 * k);
    return bits;
}

static void store_bytes(uint8_t *at, size_t width, uint64_t bits) {
    for (size_t k = 0; k < width; k++) at[k] = (uint8_t)(bits >> (8 * k));
}

/* The same with a number of bytes known to the compiler: one move each. */
static uint64_t load(element_format f, const uint8_t *bytes, size_t i) {
    switch (f.bits) {
    case 8:  return bytes[i];
    case 16: return load_bytes(bytes + 2 * i, 2);
    case 32: return load_bytes(bytes + 4 * i, 4);
    case 64: return load_bytes(bytes + 8 * i, 8);
    default: break;
    }
    if (f.bits % 8 == 0) return load_bytes(bytes + i * (f.bits / 8), f.bits / 8);
    uint64_t bits = 0;
    size_t from = i * f.bits;   // cannot overflow: the last one's byte has an address
    for (unsigned k = 0; k < f.bits; k++) bits |= (uint64_t)(bytes[(from + k) / 8] >> ((from + k) % 8) & 1) << k;
    return bits;
}

static void store(element_format f, uint8_t *bytes, size_t i, uint64_t bits) {
    switch (f.bits) {
    case 8:  bytes[i] = (uint8_t)bits; return;
    case 16: store_bytes(bytes + 2 * i, 2, bits); return;
    case 32: store_bytes(bytes + 4 * i, 4, bits); return;
    case 64: store_bytes(bytes + 8 * i, 8, bits); return;
    default: break;
    }
    if (f.bits % 8 == 0) {
        store_bytes(bytes + i * (f.bits / 8), f.bits / 8, bits);
        return;
    }
    size_t from = i * f.bits;
    for (unsigned k = 0; k < f.bits; k++) {
        uint8_t *byte = &bytes[(from + k) / 8], mask = (uint8_t)(1u << ((from + k) % 8));
        *byte = (uint8_t)(bits >> k & 1 ? *byte | mask : *byte & ~mask);
    }
}

/* ---- floats ---------------------------------------------------------------------------------------------------- */

static double single_of(uint64_t bits) {
    uint32_t word = (uint32_t)bits;
    float v;
    memcpy(&v, &word, sizeof v);
    return (double)v;
}

static uint64_t bits_of_single(float v) {
    uint32_t word;
    memcpy(&word, &v, sizeof word);
    return word;
}

/* A float of another format, computed from its parts. */
static double float_of(element_format f, uint64_t bits) {
    if (f.mantissa == 23 || f.bits == 32) return single_of(bits);
    if (f.mantissa == 52) {
        double v;
        memcpy(&v, &bits, sizeof v);
        return v;
    }
    unsigned top = (1u << f.exponent) - 1, exponent = (unsigned)(bits >> f.mantissa) & top;
    double fraction = (double)(bits & ((1u << f.mantissa) - 1));
    int lowest = 2 - (1 << (f.exponent - 1)) - (int)f.mantissa;   // exponent of the last bit of a subnormal number
    double v = exponent == top ? (fraction > 0 ? NAN : INFINITY)
             : exponent == 0   ? ldexp(fraction, lowest)
                               : ldexp(fraction + (double)(1u << f.mantissa), lowest + (int)exponent - 1);
    return bits >> (f.exponent + f.mantissa) & 1 ? -v : v;
}

static uint64_t bits_of_float(element_format f, double v) {
    uint64_t sign = signbit(v) ? 1 : 0;
    if (f.mantissa == 23) return bits_of_single((float)v);
    if (f.mantissa == 52) {
        uint64_t bits;
        memcpy(&bits, &v, sizeof bits);
        return bits;
    }
    unsigned top = (1u << f.exponent) - 1, shift = f.bits - 1 - f.exponent - f.mantissa;   // 13 of TF32, else 0
    uint64_t infinite = (uint64_t)top << f.mantissa, bits;
    int lowest = 2 - (1 << (f.exponent - 1)) - (int)f.mantissa;
    double most = ldexp((double)(2u << f.mantissa) - 1, lowest + (int)top - 2);
    if (isnan(v)) {
        bits = infinite | 1u << (f.mantissa - 1);
    } else if (isinf(v)) {
        bits = infinite;
    } else if (v == 0) {
        bits = 0;
    } else {
        int exponent = 0;
        double magnitude = fabs(v);
        frexp(magnitude, &exponent);
        exponent -= (int)f.mantissa + 1;            // of the last bit that is kept
        if (exponent < lowest) exponent = lowest;
        /* Ties to even. A carry into the next power of two comes out right, because the bits are added. */
        double last = nearbyint(ldexp(magnitude, -exponent));
        if (ldexp(last, exponent) > most) bits = infinite;
        else bits = (uint64_t)last + ((uint64_t)(exponent - lowest) << f.mantissa);
    }
    return (bits | sign << (f.exponent + f.mantissa)) << shift;
}

/* ---- integers -------------------------------------------------------------------------------------------------- */

static int64_t integer_of(element_format f, uint64_t bits) {
    if (f.kind == ELEMENT_BOOL) return bits != 0;
    if (f.kind == ELEMENT_SIGNED && f.bits < 64 && bits >> (f.bits - 1) & 1) bits |= ~UINT64_C(0) << f.bits;
    return (int64_t)bits;
}

int64_t element_cut(double v) {
    if (isnan(v)) return 0;
    if (v >= 0x1p63) return INT64_MAX;
    return v < -0x1p63 ? INT64_MIN : (int64_t)v;
}

/* Limited to the range of the type. */
static uint64_t limited(element_format f, double v) {
    if (f.kind == ELEMENT_BOOL) return v != 0;   // NaN counts as true
    if (f.kind == ELEMENT_UNSIGNED) {
        if (!(v > 0)) return 0;
        return v >= ldexp(1, (int)f.bits) ? ~UINT64_C(0) >> (64 - f.bits) : (uint64_t)v;
    }
    int64_t most = (int64_t)((UINT64_C(1) << (f.bits - 1)) - 1), cut = element_cut(v);
    return (uint64_t)(cut > most ? most : cut < -most - 1 ? -most - 1 : cut);
}

/* 53 bits; the last one says whether more followed, so that two roundings give the same as one. */
double element_of_i64(element_format f, int64_t v) {
    if (f.mantissa == 52 || (v > -(INT64_C(1) << 53) && v < INT64_C(1) << 53)) return (double)v;
    uint64_t magnitude = v < 0 ? 0 - (uint64_t)v : (uint64_t)v, kept = magnitude & ~UINT64_C(2047);
    if (magnitude & 2047) kept |= 2048;
    return v < 0 ? -(double)kept : (double)kept;
}

/* ---- one ------------------------------------------------------------------------------------------------------- */

static double real_of(element_format f, uint64_t bits) {
    if (f.kind == ELEMENT_FLOAT) return float_of(f, bits);
    return f.kind == ELEMENT_UNSIGNED ? (double)bits : (double)integer_of(f, bits);
}

static uint64_t bits_of_real(element_format f, double v) {
    return f.kind == ELEMENT_FLOAT ? bits_of_float(f, v) : limited(f, v);
}

static uint64_t bits_of_i64(element_format f, int64_t v) {
    return f.kind == ELEMENT_FLOAT ? bits_of_float(f, element_of_i64(f, v)) : f.kind == ELEMENT_BOOL ? v != 0
           : (uint64_t)v;
}

double element_real(element_format f, const void *bytes, size_t i) {
    if (f.mantissa == 23) return single_of(load_bytes((const uint8_t *)bytes + 4 * i, 4));
    return f.kind == ELEMENT_NONE ? (double)NAN : real_of(f, load(f, bytes, i));
}

int64_t element_i64(element_format f, const void *bytes, size_t i) {
    if (f.kind == ELEMENT_NONE) return 0;
    uint64_t bits = load(f, bytes, i);
    return f.kind == ELEMENT_FLOAT ? element_cut(float_of(f, bits)) : integer_of(f, bits);
}

void element_put_real(element_format f, void *bytes, size_t i, double v) {
    if (f.mantissa == 23) store_bytes((uint8_t *)bytes + 4 * i, 4, bits_of_single((float)v));
    else store(f, bytes, i, bits_of_real(f, v));
}

void element_put_i64(element_format f, void *bytes, size_t i, int64_t v) { store(f, bytes, i, bits_of_i64(f, v)); }

/* ---- many of a type -------------------------------------------------------------------------------------------- */

void elements_to_ints(const xir_type *element, const void *bytes, size_t from, size_t n, int64_t *out) {
    element_format f = element_format_of(element);
    for (size_t i = 0; i < n; i++) out[i] = element_i64(f, bytes, from + i);
}

void elements_to_reals(const xir_type *element, const void *bytes, size_t from, size_t n, double *out) {
    element_format f = element_format_of(element);
    for (size_t i = 0; i < n; i++) out[i] = f.kind == ELEMENT_NONE ? 0 : element_real(f, bytes, from + i);
}

/* Sets the format of elements that are about to be written; false if they cannot be written. */
static bool begin(const xir_type *element, size_t n, void *out, element_format *f) {
    *f = element_format_of(element);
    if (f->kind == ELEMENT_NONE) return false;
    if (f->bits % 8 && n) ((uint8_t *)out)[(n * f->bits - 1) / 8] = 0;
    return true;
}

bool elements_of_ints(const xir_type *element, const int64_t *v, size_t n, void *out) {
    element_format f;
    if (!begin(element, n, out, &f)) return false;
    for (size_t i = 0; i < n; i++) element_put_i64(f, out, i, v[i]);
    return true;
}

bool elements_of_reals(const xir_type *element, const double *v, size_t n, void *out) {
    element_format f;
    if (!begin(element, n, out, &f)) return false;
    for (size_t i = 0; i < n; i++) element_put_real(f, out, i, v[i]);
    return true;
}

bool element_has(const xir_type *element, double v) {
    const element_format f = element_format_of(element);
    if (f.kind == ELEMENT_NONE || element_is_float(f)) return true;
    const bool sign = f.kind == ELEMENT_SIGNED;
    const double above = f.kind == ELEMENT_BOOL ? 2 : ldexp(1, f.bits - sign);
    return v == trunc(v) && v >= (sign ? -above : 0) && v < above;
}

bool elements_fill(const xir_type *element, double v, size_t n, void *out) {
    element_format f;
    if (!begin(element, n, out, &f)) return false;
    for (size_t i = 0; i < n; i++) element_put_real(f, out, i, v);
    return true;
}
