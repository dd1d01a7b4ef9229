/* Comparing parameters by value: floats within a tolerance, integers exactly, and bytes where what they mean is not known.
 * Payloads need not be aligned. */
#include <math.h>
#include <string.h>
#include "diff.h"

typedef enum coding { BYTES, SIGNED, UNSIGNED, F16, BF16, F32, F64 } coding;

/* What one element is, and how many bytes it takes. */
static coding coding_of(const xir_type *type, size_t *bytes) {
    const xir_type *storage = xir_type_storage(type);
    uint64_t bits = xir_type_storage_bits(type);
    *bytes = 1;
    if (!storage || bits % 8) return BYTES;
    *bytes = (size_t)(bits / 8);
    switch (xir_type_kind_of(storage)) {
    case XIR_TYPE_BOOL:
        return UNSIGNED;
    case XIR_TYPE_INTEGER: {
        const xir_integer_type *i = xir_integer_type_of(xir_type_object(storage));
        if (bits != 8 && bits != 16 && bits != 32 && bits != 64) break;
        return i->sign ? SIGNED : UNSIGNED;
    }
    case XIR_TYPE_FLOAT:
        switch (xir_float_type_of(xir_type_object(storage))->format) {
        case XIR_FLOAT_FP16: return F16;
        case XIR_FLOAT_BF16: return BF16;
        case XIR_FLOAT_FP32:
        case XIR_FLOAT_TF32: return F32;
        case XIR_FLOAT_FP64: return F64;
        default: break;
        }
        break;
    default: break;
    }
    *bytes = 1;
    return BYTES;
}

/* Numbers in files are little-endian. */
static uint64_t number_at(const unsigned char *p, size_t bytes) {
    uint64_t v = 0;
    for (size_t i = bytes; i-- > 0;) v = v << 8 | p[i];
    return v;
}

static float float_of(uint32_t bits) {
    float v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

static double half(uint32_t h) {
    uint32_t exponent = h >> 10 & 31, fraction = h & 1023;
    double v = exponent == 31 ? (fraction ? (double)NAN : (double)INFINITY)
             : exponent ? ldexp(1024 + fraction, (int)exponent - 25) : ldexp(fraction, -24);
    return h >> 15 ? -v : v;
}

static double real_at(const unsigned char *p, coding c) {
    switch (c) {
    case F16:  return half((uint32_t)number_at(p, 2));
    case BF16: return (double)float_of((uint32_t)number_at(p, 2) << 16);
    case F32:  return (double)float_of((uint32_t)number_at(p, 4));
    default: {
        uint64_t bits = number_at(p, 8);
        double v;
        memcpy(&v, &bits, sizeof v);
        return v;
    }
    }
}

static int64_t extend(uint64_t v, size_t bytes) {
    unsigned shift = (unsigned)(64 - 8 * bytes);
    return (int64_t)(v << shift) >> shift;
}

/* NaN is as far from a number as can be, and the same as NaN. */
static double apart(double a, double b) {
    if (isnan(a) || isnan(b)) return isnan(a) && isnan(b) ? 0 : (double)INFINITY;
    return a == b ? 0 : fabs(a - b);
}

static void compare_reals(value_diff *d, const unsigned char *a, const unsigned char *b, coding c, size_t bytes, double tolerance) {
    for (uint64_t i = 0; i < d->of; i++) {
        double x = real_at(a + i * bytes, c), y = real_at(b + i * bytes, c), by = apart(x, y);
        if (by <= tolerance) continue;
        d->count++;
        if (d->count > 1 && by <= d->largest) continue;
        d->largest = by;
        d->at = i;
        d->a = x;
        d->b = y;
    }
}

static void compare_integers(value_diff *d, const unsigned char *a, const unsigned char *b, coding c, size_t bytes) {
    d->integers = true;
    d->is_unsigned = c == UNSIGNED;
    for (uint64_t i = 0; i < d->of; i++) {
        uint64_t x = number_at(a + i * bytes, bytes), y = number_at(b + i * bytes, bytes);
        if (x == y) continue;
        int64_t sx = extend(x, bytes), sy = extend(y, bytes);
        bool less = c == UNSIGNED ? x < y : sx < sy;
        if (c == SIGNED) {
            x = (uint64_t)sx;
            y = (uint64_t)sy;
        }
        uint64_t by = less ? y - x : x - y;
        d->count++;
        if (by <= d->largest_integer) continue;
        d->largest_integer = by;
        d->at = i;
        d->ia = (int64_t)x;
        d->ib = (int64_t)y;
    }
}

static void compare_bytes(value_diff *d, const unsigned char *a, const unsigned char *b) {
    d->by_bytes = true;
    for (uint64_t i = 0; i < d->of; i++) {
        if (a[i] == b[i]) continue;
        if (!d->count) d->at = i;
        d->count++;
    }
}

value_diff compare_values(const xir_value *a, const xir_value *b, double tolerance) {
    value_diff d = { 0 };
    uint64_t n_a = 0, n_b = 0;
    const unsigned char *x = xir_params_data(a, &n_a), *y = xir_params_data(b, &n_b);
    if (n_a == n_b && (!n_a || x == y || memcmp(x, y, (size_t)n_a) == 0)) return d;
    size_t bytes, other;
    coding c = coding_of(xir_value_type(a), &bytes), c_b = coding_of(xir_value_type(b), &other);
    if (n_a != n_b || c != c_b || bytes != other || n_a % bytes) {
        /* A type that differs is a difference of its own; here it is bytes that are left to compare. */
        c = BYTES;
        bytes = 1;
    }
    d.of = (n_a < n_b ? n_a : n_b) / bytes;
    switch (c) {
    case BYTES:    compare_bytes(&d, x, y); break;
    case SIGNED:
    case UNSIGNED: compare_integers(&d, x, y, c, bytes); break;
    default:       compare_reals(&d, x, y, c, bytes, tolerance); break;
    }
    if (n_a != n_b) {
        uint64_t longer = n_a > n_b ? n_a : n_b;
        if (!d.count) d.at = d.of;
        d.count += longer - d.of;
        d.of = longer;
    }
    d.differ = d.count > 0;
    return d;
}
