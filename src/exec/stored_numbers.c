/* Elements of whole bytes lie in little-endian order; others lie bit after bit, the lowest bit of a byte first. */
#include "stored_numbers.h"
#include <math.h>
#include <xir/quant.h>
#include "object.h"

/* ---- opening -------------------------------------------------------------------------------------------------- */

static xir_status refuse_type(xir_diags *why, const char *sentence) {
    return diag_fail(why, XIR_E_UNSUPPORTED, (xir_str){ 0 }, "%s", sentence);
}

static bool open_float(numbers *e, xir_float_format format) {
    static const struct { unsigned exponent, mantissa; } parts[] = {
        [XIR_FLOAT_FP16]   = { 5,  10 }, [XIR_FLOAT_FP32]   = { 8, 23 }, [XIR_FLOAT_FP64]   = { 11, 52 }, [XIR_FLOAT_BF16] = { 8, 7 },
        [XIR_FLOAT_TF32]   = { 8,  10 }, [XIR_FLOAT_FPE7M8] = { 7, 8  }, [XIR_FLOAT_FPE6M9] = { 6,  9  },
    };
    if ((unsigned)format >= sizeof parts / sizeof parts[0]) return false;
    e->kind = NUMBER_FLOAT;
    e->exponent = parts[format].exponent;
    e->mantissa = parts[format].mantissa;
    return true;
}

static xir_status open_storage(numbers *e, const xir_type *storage, xir_diags *why) {
    const xir_integer_type *integer = xir_integer_type_of(xir_type_object(storage));
    const xir_float_type *real = xir_float_type_of(xir_type_object(storage));
    uint64_t bits = xir_type_storage_bits(storage);
    if (bits == 0 || bits > 64) return refuse_type(why, "elements that are no numbers of up to 64 bits");
    e->bits = (unsigned)bits;
    if (integer) e->kind = integer->sign ? NUMBER_SIGNED : NUMBER_UNSIGNED;
    else if (xir_type_kind_of(storage) == XIR_TYPE_BOOL) e->kind = NUMBER_BOOL;
    else if (!real || !open_float(e, real->format)) return refuse_type(why, "elements that are no numbers");
    return XIR_OK;
}

/* Room for `count` items along an axis of the type; there may be one for all. */
static xir_status open_row(numbers *e, const xir_type *type, size_t count, int64_t axis, number_row *out, xir_diags *why) {
    *out = (number_row){ .n = 1, .inner = 1 };
    if (count == 0) return XIR_OK;
    if (count > 1) {
        size_t rank = xir_type_rank(type);
        if (axis < 0) axis += (int64_t)rank;
        if (axis < 0 || (uint64_t)axis >= rank || xir_type_dim(type, axis, false) != (int64_t)count) {
            return refuse_type(why, "scales, ratios or zero points are not as many as the dim that they lie along has elements");
        }
        for (size_t k = (size_t)axis + 1; k < rank; k++) out->inner *= (size_t)xir_type_dim(type, (int64_t)k, false);
        if (out->inner == 0) return XIR_OK;   // no elements: nobody asks
    }
    out->items = mem_new(e->alloc, count * sizeof *out->items);
    if (!out->items) return diag_memory(why);
    out->n = count;
    return XIR_OK;
}

static xir_status open_quant(numbers *e, const xir_type *type, xir_diags *why) {
    const xir_scales *scales = xir_type_scale(type);
    const xir_norm_ratios *ratios = xir_type_norm_ratios(type);
    xir_i64s zeros = xir_type_zero_points(type);
    int64_t axis = scales ? xir_scales_axis(scales) : -1;
    xir_status status = open_row(e, type, scales ? xir_scales_count(scales) : 0, axis, &e->scale, why);
    if (!status) status = open_row(e, type, zeros.size, axis, &e->zero, why);
    if (!status && ratios) status = open_row(e, type, xir_norm_ratios_count(ratios), xir_norm_ratios_axis(ratios), &e->ratio, why);
    if (status) return status;
    for (size_t i = 0; e->scale.items && i < e->scale.n; i++) e->scale.items[i] = xir_scales_at(scales, i);
    for (size_t i = 0; e->zero.items && i < e->zero.n; i++) e->zero.items[i] = (double)zeros.data[i];
    for (size_t i = 0; e->ratio.items && i < e->ratio.n; i++) e->ratio.items[i] = xir_norm_ratios_at(ratios, i);
    return XIR_OK;
}

xir_status numbers_open(numbers *e, const xir_allocator *alloc, const xir_type *type, xir_diags *why) {
    *e = (numbers){ .alloc = alloc };
    const xir_type *element = xir_type_element(type);
    if (!element) return refuse_type(why, "a type that is no tensor");
    e->quantised = xir_type_is_quantized(element);
    xir_status status = open_storage(e, xir_type_storage(element), why);
    if (!status && e->quantised) status = open_quant(e, type, why);
    if (status) numbers_close(e);
    return status;
}

static void close_row(const numbers *e, number_row *row) {
    mem_free(e->alloc, row->items, row->n * sizeof *row->items);
    row->items = NULL;
}

void numbers_close(numbers *e) {
    close_row(e, &e->scale);
    close_row(e, &e->ratio);
    close_row(e, &e->zero);
}

static double row_at(const number_row *row, size_t i, double otherwise) {
    if (!row->items) return otherwise;
    return row->n == 1 ? row->items[0] : row->items[i / row->inner % row->n];
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

/* The same with a number of bytes that the compiler knows: one move each. */
static uint64_t load(const numbers *e, const uint8_t *bytes, size_t i) {
    switch (e->bits) {
    case 8:  return bytes[i];
    case 16: return load_bytes(bytes + 2 * i, 2);
    case 32: return load_bytes(bytes + 4 * i, 4);
    case 64: return load_bytes(bytes + 8 * i, 8);
    default: break;
    }
    if (e->bits % 8 == 0) return load_bytes(bytes + i * (e->bits / 8), e->bits / 8);
    uint64_t bits = 0;
    size_t from = i * e->bits;   // cannot overflow: the last one's byte has an address
    for (unsigned k = 0; k < e->bits; k++) bits |= (uint64_t)(bytes[(from + k) / 8] >> ((from + k) % 8) & 1) << k;
    return bits;
}

static void store(const numbers *e, uint8_t *bytes, size_t i, uint64_t bits) {
    switch (e->bits) {
    case 8:  bytes[i] = (uint8_t)bits; return;
    case 16: store_bytes(bytes + 2 * i, 2, bits); return;
    case 32: store_bytes(bytes + 4 * i, 4, bits); return;
    case 64: store_bytes(bytes + 8 * i, 8, bits); return;
    default: break;
    }
    if (e->bits % 8 == 0) {
        store_bytes(bytes + i * (e->bits / 8), e->bits / 8, bits);
        return;
    }
    size_t from = i * e->bits;
    for (unsigned k = 0; k < e->bits; k++) {
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

/* A float of other parts, by what they mean. TF32 lies in the upper bits of an fp32. */
static double float_of(const numbers *e, uint64_t bits) {
    if (e->mantissa == 23 || e->bits == 32) return single_of(bits);
    if (e->mantissa == 52) {
        double v;
        memcpy(&v, &bits, sizeof v);
        return v;
    }
    unsigned top = (1u << e->exponent) - 1, exponent = (unsigned)(bits >> e->mantissa) & top;
    double fraction = (double)(bits & ((1u << e->mantissa) - 1));
    int lowest = 2 - (1 << (e->exponent - 1)) - (int)e->mantissa;   // exponent of the last bit of a subnormal number
    double v = exponent == top ? (fraction > 0 ? NAN : INFINITY)
             : exponent == 0   ? ldexp(fraction, lowest)
                               : ldexp(fraction + (double)(1u << e->mantissa), lowest + (int)exponent - 1);
    return bits >> (e->exponent + e->mantissa) & 1 ? -v : v;
}

static uint64_t bits_of_float(const numbers *e, double v) {
    uint64_t sign = signbit(v) ? 1 : 0;
    if (e->mantissa == 23) return bits_of_single((float)v);
    if (e->mantissa == 52) {
        uint64_t bits;
        memcpy(&bits, &v, sizeof bits);
        return bits;
    }
    unsigned top = (1u << e->exponent) - 1, shift = e->bits - 1 - e->exponent - e->mantissa;   // 13 of TF32, else 0
    uint64_t infinite = (uint64_t)top << e->mantissa, bits;
    int lowest = 2 - (1 << (e->exponent - 1)) - (int)e->mantissa;
    double most = ldexp((double)(2u << e->mantissa) - 1, lowest + (int)top - 2);
    if (isnan(v)) {
        bits = infinite | 1u << (e->mantissa - 1);
    } else if (isinf(v)) {
        bits = infinite;
    } else if (v == 0) {
        bits = 0;
    } else {
        int exponent = 0;
        double magnitude = fabs(v);
        frexp(magnitude, &exponent);
        exponent -= (int)e->mantissa + 1;            // of the last bit that is kept
        if (exponent < lowest) exponent = lowest;
        /* Halves to even, and a carry into the next power of two comes out right by itself: the bits are added. */
        double last = nearbyint(ldexp(magnitude, -exponent));
        if (ldexp(last, exponent) > most) bits = infinite;
        else bits = (uint64_t)last + ((uint64_t)(exponent - lowest) << e->mantissa);
    }
    return (bits | sign << (e->exponent + e->mantissa)) << shift;
}

/* ---- integers -------------------------------------------------------------------------------------------------- */

static int64_t integer_of(const numbers *e, uint64_t bits) {
    if (e->kind == NUMBER_BOOL) return bits != 0;
    if (e->kind == NUMBER_SIGNED && e->bits < 64 && bits >> (e->bits - 1) & 1) bits |= ~UINT64_C(0) << e->bits;
    return (int64_t)bits;
}

int64_t number_cut(double v) {
    if (isnan(v)) return 0;
    if (v >= 0x1p63) return INT64_MAX;
    return v < -0x1p63 ? INT64_MIN : (int64_t)v;
}

/* Limited to what the type has. */
static uint64_t limited(const numbers *e, double v) {
    if (e->kind == NUMBER_BOOL) return v != 0;   // NaN is no zero
    if (e->kind == NUMBER_UNSIGNED) {
        if (!(v > 0)) return 0;
        return v >= ldexp(1, (int)e->bits) ? ~UINT64_C(0) >> (64 - e->bits) : (uint64_t)v;
    }
    int64_t most = (int64_t)((UINT64_C(1) << (e->bits - 1)) - 1), cut = number_cut(v);
    return (uint64_t)(cut > most ? most : cut < -most - 1 ? -most - 1 : cut);
}

/* An integer as a real that is rounded again later: of 53 bits, whose last one says whether more followed, so that rounding twice gives
 * what rounding once would. */
static double real_of_integer(const numbers *e, int64_t v) {
    if (e->mantissa == 52 || (v > -(INT64_C(1) << 53) && v < INT64_C(1) << 53)) return (double)v;
    uint64_t magnitude = v < 0 ? 0 - (uint64_t)v : (uint64_t)v, kept = magnitude & ~UINT64_C(2047);
    if (magnitude & 2047) kept |= 2048;
    return v < 0 ? -(double)kept : (double)kept;
}

/* ---- quantised ------------------------------------------------------------------------------------------------- */

static uint64_t quantise(const numbers *e, size_t i, double v) {
    double stored = v / (row_at(&e->scale, i, 1) * row_at(&e->ratio, i, 1));
    if (e->kind == NUMBER_FLOAT) return bits_of_float(e, stored + row_at(&e->zero, i, 0));
    stored = round(stored) + row_at(&e->zero, i, 0);
    double most = ldexp(1, (int)e->bits - (e->kind == NUMBER_SIGNED)) - 1, least = e->kind == NUMBER_SIGNED ? -most : 0;
    return limited(e, stored > most ? most : stored < least ? least : stored);
}

static double dequantise(const numbers *e, size_t i, uint64_t bits) {
    double stored = e->kind == NUMBER_FLOAT ? float_of(e, bits) : (double)integer_of(e, bits);
    return (stored - row_at(&e->zero, i, 0)) * (row_at(&e->scale, i, 1) * row_at(&e->ratio, i, 1));
}

/* ---- many ------------------------------------------------------------------------------------------------------ */

static double real_at(const numbers *e, const uint8_t *bytes, size_t i) {
    uint64_t bits = load(e, bytes, i);
    if (e->quantised) return dequantise(e, i, bits);
    if (e->kind == NUMBER_FLOAT) return float_of(e, bits);
    return e->kind == NUMBER_UNSIGNED ? (double)bits : (double)integer_of(e, bits);
}

void numbers_read_reals(const numbers *e, const void *bytes, size_t from, size_t n, double *out) {
    const uint8_t *b = bytes;
    if (!e->quantised && e->kind == NUMBER_FLOAT && e->bits == 32) {   // what nearly all are
        for (size_t i = 0; i < n; i++) out[i] = single_of(load_bytes(b + 4 * (from + i), 4));
        return;
    }
    for (size_t i = 0; i < n; i++) out[i] = real_at(e, b, from + i);
}

void numbers_read_i64s(const numbers *e, const void *bytes, size_t from, size_t n, int64_t *out) {
    bool real = e->quantised || e->kind == NUMBER_FLOAT;
    for (size_t i = 0; i < n; i++) out[i] = real ? number_cut(real_at(e, bytes, from + i)) : integer_of(e, load(e, bytes, from + i));
}

void numbers_write_reals(const numbers *e, void *bytes, size_t from, size_t n, const double *in) {
    uint8_t *b = bytes;
    if (!e->quantised && e->mantissa == 23) {
        for (size_t i = 0; i < n; i++) store_bytes(b + 4 * (from + i), 4, bits_of_single((float)in[i]));
        return;
    }
    for (size_t i = 0; i < n; i++) {
        uint64_t bits = e->quantised ? quantise(e, from + i, in[i])
                      : e->kind == NUMBER_FLOAT ? bits_of_float(e, in[i]) : limited(e, in[i]);
        store(e, b, from + i, bits);
    }
}

void numbers_write_i64s(const numbers *e, void *bytes, size_t from, size_t n, const int64_t *in) {
    for (size_t i = 0; i < n; i++) {
        uint64_t bits = e->quantised ? quantise(e, from + i, (double)in[i])
                      : e->kind == NUMBER_FLOAT ? bits_of_float(e, real_of_integer(e, in[i]))
                      : e->kind == NUMBER_BOOL ? in[i] != 0 : (uint64_t)in[i];
        store(e, bytes, from + i, bits);
    }
}
