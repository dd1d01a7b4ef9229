/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Compares elements as numbers: floats within a tolerance, integers exactly, and bytes if they are not numbers.
 * Payloads need not be aligned. */
#include <math.h>
#include <xir/diff.h>
#include "graph.h"
#include "sized.h"

typedef enum coding { BYTES, SIGNED, UNSIGNED, F16, BF16, F32, F64 } coding;

/* Returns the code of an element, and the bytes that it takes. */
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

/* NaN is infinitely far from any number, and equal to NaN. */
static double apart(double a, double b) {
    if (isnan(a) || isnan(b)) return isnan(a) && isnan(b) ? 0 : (double)INFINITY;
    return a == b ? 0 : fabs(a - b);
}

static void compare_reals(xir_elements_diff *d, const unsigned char *a, const unsigned char *b, coding c, size_t bytes,
                          double tolerance) {
    for (uint64_t i = 0; i < d->of; i++) {
        double x = real_at(a + i * bytes, c), y = real_at(b + i * bytes, c), by = apart(x, y);
        if (by <= tolerance) continue;
        d->differ++;
        if (d->differ > 1 && by <= d->largest) continue;
        d->largest = by;
        d->at = i;
        d->a = x;
        d->b = y;
    }
}

static void compare_integers(xir_elements_diff *d, const unsigned char *a, const unsigned char *b, coding c,
                             size_t bytes) {
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
        d->differ++;
        if (by <= d->largest_int) continue;
        d->largest_int = by;
        d->at = i;
        d->int_a = (int64_t)x;
        d->int_b = (int64_t)y;
    }
}

static void compare_bytes(xir_elements_diff *d, const unsigned char *a, const unsigned char *b) {
    d->by_bytes = true;
    for (uint64_t i = 0; i < d->of; i++) {
        if (a[i] == b[i]) continue;
        if (!d->differ) d->at = i;
        d->differ++;
    }
}

/* ---- the calls ------------------------------------------------------------------------------------------------- */

static xir_elements_diff compare(const xir_type *type_a, const unsigned char *a, uint64_t n_a, const xir_type *type_b,
                                 const unsigned char *b, uint64_t n_b, double tolerance) {
    xir_elements_diff d = XIR_INIT(xir_elements_diff);
    if (n_a == n_b && (!n_a || a == b || memcmp(a, b, (size_t)n_a) == 0)) return d;
    size_t bytes, other;
    coding c = coding_of(type_a, &bytes), c_b = coding_of(type_b, &other);
    if (n_a != n_b || c != c_b || bytes != other || n_a % bytes) {
        /* A different type is recorded separately; here only bytes can be compared. */
        c = BYTES;
        bytes = 1;
    }
    d.of = (n_a < n_b ? n_a : n_b) / bytes;
    switch (c) {
    case BYTES:    compare_bytes(&d, a, b); break;
    case SIGNED:
    case UNSIGNED: compare_integers(&d, a, b, c, bytes); break;
    default:       compare_reals(&d, a, b, c, bytes, tolerance); break;
    }
    if (n_a != n_b) {
        uint64_t longer = n_a > n_b ? n_a : n_b;
        if (!d.differ) d.at = d.of;
        d.differ += longer - d.of;
        d.of = longer;
    }
    return d;
}

xir_status xir_elements_compare(const xir_type *type_a, const void *a, uint64_t bytes_a, const xir_type *type_b,
                                const void *b, uint64_t bytes_b, double tolerance, xir_elements_diff *out) {
    const xir_elements_diff d = compare(type_a, a, a ? bytes_a : 0, type_b, b, b ? bytes_b : 0, tolerance);
    return sized_fill(SIZED(xir_elements_diff, int_b), out, &d, NULL);
}

/* ---- Params ---------------------------------------------------------------------------------------------------- */

enum { MOST_AXES = 16 };

/* The order of b's axes in the dims of a, by letters: axis i of a is axis order[i] of b. False if letters do not say
 * it. */
static bool order_by_letters(const xir_type *a, const xir_type *b, size_t order[MOST_AXES]) {
    const xir_layout *x = xir_type_layout(a), *y = xir_type_layout(b);
    const size_t rank = xir_type_rank(a);
    if (!x || !y || rank > MOST_AXES || xir_layout_rank(x) != rank || xir_layout_rank(y) != rank ||
        xir_layout_is_layouted(x) || xir_layout_is_layouted(y)) return false;
    for (size_t i = 0; i < rank; i++) {
        const char letter = xir_layout_axis(x, i);
        size_t k = 0;
        while (k < rank && xir_layout_axis(y, k) != letter) k++;
        if (letter == '*' || k == rank || xir_type_dim(a, (int64_t)i, false) != xir_type_dim(b, (int64_t)k, false))
            return false;
        order[i] = k;
    }
    return true;
}

/* The bytes of b in the order of a's axes, in memory that the caller frees. */
static unsigned char *in_order(const xir_type *a, const xir_type *b, const size_t *order, const unsigned char *bytes,
                               uint64_t size, size_t element, const xir_allocator *alloc) {
    const size_t rank = xir_type_rank(a);
    uint64_t step[MOST_AXES], at[MOST_AXES] = { 0 }, of[MOST_AXES];
    unsigned char *out = mem_new(alloc, (size_t)size + 1);
    uint64_t one = element;
    for (size_t k = rank; k-- > 0; one *= (uint64_t)xir_type_dim(b, (int64_t)k, false)) of[k] = one;
    for (size_t i = 0; i < rank; i++) step[i] = of[order[i]];
    uint64_t from = 0;
    for (uint64_t to = 0; out && to + element <= size; to += element) {
        memcpy(out + to, bytes + from, element);
        for (size_t i = rank; i-- > 0;) {
            from += step[i];
            if (++at[i] < (uint64_t)xir_type_dim(a, (int64_t)i, false)) break;
            from -= at[i] * step[i];
            at[i] = 0;
        }
    }
    return out;
}

static bool same_dims(const xir_type *a, const xir_type *b) {
    bool same = xir_type_rank(a) == xir_type_rank(b);
    for (size_t i = 0; same && i < xir_type_rank(a); i++)
        same = xir_type_dim(a, (int64_t)i, false) == xir_type_dim(b, (int64_t)i, false);
    return same;
}

/* Two letters that are both known and differ at one place. */
static bool letters_differ(const xir_type *a, const xir_type *b) {
    const xir_layout *x = xir_type_layout(a), *y = xir_type_layout(b);
    const size_t rank = xir_type_rank(a);
    if (!x || !y || xir_layout_rank(x) != rank || xir_layout_rank(y) != rank) return false;
    for (size_t i = 0; i < rank; i++) {
        const char p = xir_layout_axis(x, i), q = xir_layout_axis(y, i);
        if (p != q && p != '*' && q != '*') return true;
    }
    return false;
}

/* Elements of the same kind whose places differ. */
static xir_status compare_moved(const xir_value *a, const unsigned char *x, const xir_value *b, const unsigned char *y,
                                uint64_t size, double tolerance, xir_elements_diff *out) {
    const xir_allocator *alloc = &value_net(a)->alloc;
    const xir_type *to = xir_value_type(a), *from = xir_value_type(b);
    size_t order[MOST_AXES], bytes;
    (void)coding_of(to, &bytes);
    if (!order_by_letters(to, from, order)) {
        xir_elements_diff d = XIR_INIT(xir_elements_diff);
        d.not_compared = true;
        return sized_fill(SIZED(xir_elements_diff, int_b), out, &d, NULL);
    }
    unsigned char *moved = in_order(to, from, order, y, size, bytes, alloc);
    if (!moved) return XIR_E_MEMORY;
    const xir_status status = xir_elements_compare(to, x, size, to, moved, size, tolerance, out);
    mem_free(alloc, moved, (size_t)size + 1);
    return status;
}

xir_status xir_params_compare(const xir_value *a, const xir_value *b, double tolerance, xir_elements_diff *out) {
    if (!a || !b || !value_is_params(a) || !value_is_params(b)) return XIR_E_TYPE;
    uint64_t n_a = 0, n_b = 0;
    const void *x = xir_params_data(a, &n_a), *y = xir_params_data(b, &n_b);
    /* Bytes of a mapped file may turn out to be lost when they are accessed. */
    if ((!x && n_a) || (!y && n_b) || !xir_params_has_data(a) || !xir_params_has_data(b)) return XIR_E_MISSING;
    const xir_type *to = xir_value_type(a), *from = xir_value_type(b);
    size_t bytes, other;
    const coding c = coding_of(to, &bytes), c_b = coding_of(from, &other);
    const bool tensors = xir_type_as_tensor(to) && xir_type_as_tensor(from);
    if (tensors && c != BYTES && c == c_b && bytes == other && n_a == n_b && x && y &&
        (!same_dims(to, from) || letters_differ(to, from)))
        return compare_moved(a, x, b, y, n_a, tolerance, out);
    return xir_elements_compare(to, x, n_a, from, y, n_b, tolerance, out);
}
