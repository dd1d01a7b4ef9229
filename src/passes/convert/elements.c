/* Elements of constants as numbers, one by one where they lie: bytes are little-endian and not aligned. */
#include <math.h>
#include "convert.h"

typedef enum shape_of_element { NO_NUMBER, SIGNED, UNSIGNED, TRUTH, HALF, BRAIN, SINGLE, DOUBLE } shape_of_element;

static shape_of_element what_of(const xir_type *element, size_t *size) {
    uint64_t bits = xir_type_storage_bits(element);
    *size = (size_t)bits / 8;
    const xir_integer_type *integer = xir_integer_type_of(xir_type_object(element));
    const xir_float_type *real = xir_float_type_of(xir_type_object(element));
    if (xir_type_kind_of(element) == XIR_TYPE_BOOL) return TRUTH;
    if (integer && (bits == 8 || bits == 16 || bits == 32 || bits == 64)) return integer->sign ? SIGNED : UNSIGNED;
    if (!real) return NO_NUMBER;
    switch (real->format) {
    case XIR_FLOAT_FP16: return HALF;
    case XIR_FLOAT_BF16: return BRAIN;
    case XIR_FLOAT_FP32: return SINGLE;
    case XIR_FLOAT_FP64: return DOUBLE;
    default:             return NO_NUMBER;
    }
}

bool element_readable(const xir_type *element) {
    size_t size;
    return element && what_of(element, &size) != NO_NUMBER;
}

/* ---- reading ------------------------------------------------------------------------------------------------------ */

static int64_t integer_at(shape_of_element what, const uint8_t *p, size_t size) {
    uint64_t v = 0;
    memcpy(&v, p, size);
    if (what == TRUTH) return v != 0;
    if (what == UNSIGNED || size == 8) return (int64_t)v;
    uint64_t sign = UINT64_C(1) << (8 * size - 1);
    return (int64_t)((v ^ sign) - sign);
}

static double half_at(const uint8_t *p) {
    unsigned bits = p[0] | (unsigned)p[1] << 8, fraction = bits & 0x3ff, exponent = bits >> 10 & 31;
    double magnitude = exponent == 31 ? (fraction ? NAN : INFINITY)
                     : exponent       ? ldexp(fraction + 1024.0, (int)exponent - 25)
                                      : ldexp(fraction, -24);
    return bits >> 15 ? -magnitude : magnitude;
}

static double real_at(shape_of_element what, const uint8_t *p) {
    uint32_t bits = 0;
    float single;
    double v;
    if (what == HALF) return half_at(p);
    if (what == DOUBLE) return memcpy(&v, p, sizeof v), v;
    memcpy(what == BRAIN ? (uint8_t *)&bits + 2 : (uint8_t *)&bits, p, what == BRAIN ? 2 : 4);
    memcpy(&single, &bits, sizeof single);
    return single;
}

/* Towards 0; what no int64 can be is the nearest one, and NaN is 0. */
static int64_t cut(double v) {
    if (!(v > -9223372036854775808.0)) return v != v ? 0 : INT64_MIN;
    return v < 9223372036854775808.0 ? (int64_t)v : INT64_MAX;
}

void elements_to_ints(const xir_type *element, const void *bytes, size_t from, size_t n, int64_t *out) {
    size_t size;
    shape_of_element what = what_of(element, &size);
    const uint8_t *p = (const uint8_t *)bytes + from * size;
    for (size_t i = 0; i < n; i++, p += size) {
        out[i] = what == NO_NUMBER ? 0 : what >= HALF ? cut(real_at(what, p)) : integer_at(what, p, size);
    }
}

void elements_to_reals(const xir_type *element, const void *bytes, size_t from, size_t n, double *out) {
    size_t size;
    shape_of_element what = what_of(element, &size);
    const uint8_t *p = (const uint8_t *)bytes + from * size;
    for (size_t i = 0; i < n; i++, p += size) {
        if (what == NO_NUMBER) out[i] = 0;
        else if (what >= HALF) out[i] = real_at(what, p);
        else if (what == UNSIGNED) out[i] = (double)(uint64_t)integer_at(what, p, size);
        else out[i] = (double)integer_at(what, p, size);
    }
}

/* ---- writing ------------------------------------------------------------------------------------------------------ */

/* To the nearest half, ties to even. */
static unsigned half_of(double v) {
    unsigned sign = signbit(v) ? 0x8000 : 0;
    double a = fabs(v);
    int exponent;
    if (a != a) return sign | 0x7e00;
    if (a >= 65520) return sign | 0x7c00;
    frexp(a, &exponent);
    int step = (exponent < -13 ? -13 : exponent) - 11;   /* of the last bit of the fraction */
    unsigned n = (unsigned)nearbyint(ldexp(a, -step));
    return sign | (step == -24 ? n : n + ((unsigned)(step + 24) << 10));
}

static unsigned brain_of(double v) {
    float single = (float)v;
    uint32_t bits;
    memcpy(&bits, &single, sizeof bits);
    if (v != v) return 0x7fc0;
    return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

bool elements_of_reals(const xir_type *element, const double *v, size_t n, void *out) {
    size_t size;
    shape_of_element what = what_of(element, &size);
    uint8_t *p = out;
    for (size_t i = 0; i < n && what != NO_NUMBER; i++, p += size) {
        float single = (float)v[i];
        int64_t whole = what == UNSIGNED && v[i] >= 9223372036854775808.0 ? (int64_t)(uint64_t)v[i] : cut(v[i]);
        unsigned bits = what == HALF ? half_of(v[i]) : brain_of(v[i]);
        if (what == DOUBLE) memcpy(p, &v[i], size);
        else if (what == SINGLE) memcpy(p, &single, size);
        else if (what >= HALF) p[0] = (uint8_t)bits, p[1] = (uint8_t)(bits >> 8);
        else if (what == TRUTH) *p = v[i] != 0;
        else memcpy(p, &whole, size);
    }
    return what != NO_NUMBER;
}

bool elements_of_ints(const xir_type *element, const int64_t *v, size_t n, void *out) {
    size_t size;
    shape_of_element what = what_of(element, &size);
    uint8_t *p = out;
    for (size_t i = 0; i < n && what != NO_NUMBER; i++, p += size) {
        double real = (double)v[i];
        if (what >= HALF) elements_of_reals(element, &real, 1, p);
        else if (what == TRUTH) *p = v[i] != 0;
        else memcpy(p, &v[i], size);
    }
    return what != NO_NUMBER;
}
