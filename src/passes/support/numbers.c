#include "support/numbers.h"
#include <math.h>

number_form number_form_of(const xir_type *type) {
    const xir_type *element = xir_type_tensor(type) ? xir_type_element(type) : type;
    if (!element) return NUMBER_NONE;
    if (xir_type_kind_of(element) == XIR_TYPE_FLOAT) {
        switch (((const xir_float_type *)element)->format) {
        case XIR_FLOAT_FP16: return NUMBER_FP16;
        case XIR_FLOAT_BF16: return NUMBER_BF16;
        case XIR_FLOAT_FP32: return NUMBER_FP32;
        case XIR_FLOAT_FP64: return NUMBER_FP64;
        default:             return NUMBER_NONE;
        }
    }
    if (xir_type_kind_of(element) != XIR_TYPE_INTEGER) return NUMBER_NONE;
    bool sign = ((const xir_integer_type *)element)->sign;
    switch (((const xir_integer_type *)element)->ibits) {
    case 8:  return sign ? NUMBER_I8 : NUMBER_U8;
    case 16: return sign ? NUMBER_I16 : NUMBER_U16;
    case 32: return sign ? NUMBER_I32 : NUMBER_U32;
    case 64: return sign ? NUMBER_I64 : NUMBER_U64;
    default: return NUMBER_NONE;
    }
}

/* ---- floats of 16 bits ------------------------------------------------------------------------------------------ */

/* 1 sign, 5 bits of exponent, 10 of mantissa. */
static double read_fp16(uint16_t bits) {
    int exponent = bits >> 10 & 31, mantissa = bits & 1023;
    double magnitude = exponent == 31 ? (mantissa ? (double)NAN : (double)INFINITY)
                     : exponent == 0  ? ldexp(mantissa, -24) : ldexp(1024 + mantissa, exponent - 25);
    return bits >> 15 ? -magnitude : magnitude;
}

static uint16_t write_fp16(double x) {
    uint16_t sign = signbit(x) ? 0x8000 : 0;
    double magnitude = fabs(x);
    int exponent;
    if (isnan(x)) return (uint16_t)(sign | 0x7E00);
    if (magnitude == 0) return sign;
    if (magnitude >= 65520) return (uint16_t)(sign | 0x7C00);      /* halfway to what would be the next, and above */
    frexp(magnitude, &exponent);
    int step = exponent - 11 < -24 ? -24 : exponent - 11;          /* the exponent of the last bit */
    double units = nearbyint(ldexp(magnitude, -step));             /* 2048 carries into the exponent by itself */
    return (uint16_t)(sign | (uint16_t)((step + 24) * 1024 + (int)units));
}

static double read_bf16(uint16_t bits) {
    uint32_t wide = (uint32_t)bits << 16;
    float x;
    memcpy(&x, &wide, sizeof x);
    return (double)x;
}

/* To 8 bits of mantissa in double, so that nothing is rounded twice; what is too small for that steps by the least
 * number. */
static uint16_t write_bf16(double x) {
    int exponent;
    uint32_t wide;
    if (isfinite(x) && x != 0) {
        frexp(x, &exponent);
        int step = exponent - 8 < -133 ? -133 : exponent - 8;
        x = ldexp(nearbyint(ldexp(x, -step)), step);
    }
    float narrow = (float)x;
    memcpy(&wide, &narrow, sizeof wide);
    if (isnan(x)) wide |= 0x400000;
    return (uint16_t)(wide >> 16);
}

/* ---- elements --------------------------------------------------------------------------------------------------- */

#define TAKE(type) { type x; memcpy(&x, (const char *)bytes + i * sizeof x, sizeof x); return (double)x; }

double number_read(number_form form, const void *bytes, size_t i) {
    uint16_t bits;
    switch (form) {
    case NUMBER_FP16: memcpy(&bits, (const char *)bytes + 2 * i, 2); return read_fp16(bits);
    case NUMBER_BF16: memcpy(&bits, (const char *)bytes + 2 * i, 2); return read_bf16(bits);
    case NUMBER_FP32: TAKE(float)
    case NUMBER_FP64: TAKE(double)
    case NUMBER_I8:   TAKE(int8_t)
    case NUMBER_I16:  TAKE(int16_t)
    case NUMBER_I32:  TAKE(int32_t)
    case NUMBER_I64:  TAKE(int64_t)
    case NUMBER_U8:   TAKE(uint8_t)
    case NUMBER_U16:  TAKE(uint16_t)
    case NUMBER_U32:  TAKE(uint32_t)
    case NUMBER_U64:  TAKE(uint64_t)
    default:          return (double)NAN;
    }
}

void number_write(number_form form, void *bytes, size_t i, double x) {
    float narrow = (float)x;
    uint16_t bits;
    switch (form) {
    case NUMBER_FP16: bits = write_fp16(x); memcpy((char *)bytes + 2 * i, &bits, 2); break;
    case NUMBER_BF16: bits = write_bf16(x); memcpy((char *)bytes + 2 * i, &bits, 2); break;
    case NUMBER_FP32: memcpy((char *)bytes + 4 * i, &narrow, 4); break;
    case NUMBER_FP64: memcpy((char *)bytes + 8 * i, &x, 8); break;
    default:          break;
    }
}

bool number_of_params(const xir_value *v, double *out) {
    int64_t n;
    uint64_t size;
    number_form form = v && value_is_params(v) ? number_form_of(v->type) : NUMBER_NONE;
    if (form == NUMBER_NONE || xir_type_elements(v->type, &n) != XIR_OK || n != 1) return false;
    const void *bytes = xir_params_data(v, &size);
    if (!bytes || size * 8 < xir_type_storage_bits(v->type)) return false;
    *out = number_read(form, bytes, 0);
    return true;
}

bool number_near(double x, double wanted, double within) {
    return fabs(x - wanted) <= within * (wanted != 0 ? fabs(wanted) : 1);
}
