/* See elements.h. Formats of floats are described by their parts, so that one function reads them all and one writes
 * them all. fp32, by far the most common, is a move. */
#include "elements.h"
#include <math.h>
#include <xir/quant.h>
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

/* ---- opening --------------------------------------------------------------------------------------------------- */

static xir_status refuse_type(xir_diags *why, const char *sentence) {
    return diag_fail(why, XIR_E_UNSUPPORTED, (xir_str){ 0 }, "%s", sentence);
}

static xir_status open_storage(tensor_elements *e, const xir_type *storage, xir_diags *why) {
    e->format = format_of(storage);
    if (e->format.kind != ELEMENT_NONE) return XIR_OK;
    uint64_t bits = xir_type_storage_bits(storage);
    bool wide = bits == 0 || bits > 64;
    return refuse_type(why, wide ? "elements that are not numbers of up to 64 bits" : "elements that are not numbers");
}

/* Makes a row of `count` items along an axis of the type; or of one item for all. */
static xir_status open_row(tensor_elements *e, const xir_type *type, size_t count, int64_t axis, element_row *out,
                           xir_diags *why) {
    *out = (element_row){ .n = 1, .inner = 1 };
    if (count == 0) return XIR_OK;
    if (count > 1) {
        size_t rank = xir_type_rank(type);
        if (axis < 0) axis += (int64_t)rank;
        if (axis < 0 || (uint64_t)axis >= rank || xir_type_dim(type, axis, false) != (int64_t)count) {
            return refuse_type(
                why, "scales, ratios or zero points are not as many as the dim that they lie along has elements");
        }
        for (size_t k = (size_t)axis + 1; k < rank; k++) out->inner *= (size_t)xir_type_dim(type, (int64_t)k, false);
        if (out->inner == 0) return XIR_OK;   // no elements: nobody asks
    }
    out->items = mem_new(e->alloc, count * sizeof *out->items);
    if (!out->items) return diag_memory(why);
    out->n = count;
    return XIR_OK;
}

static xir_status open_quant(tensor_elements *e, const xir_type *type, xir_diags *why) {
    const xir_scales *scales = xir_type_scale(type);
    const xir_norm_ratios *ratios = xir_type_norm_ratios(type);
    xir_i64s zeros = xir_type_zero_points(type);
    int64_t axis = scales ? xir_scales_axis(scales) : -1;
    xir_status status = open_row(e, type, scales ? xir_scales_count(scales) : 0, axis, &e->scale, why);
    if (!status) status = open_row(e, type, zeros.size, axis, &e->zero, why);
    if (!status && ratios)
        status = open_row(e, type, xir_norm_ratios_count(ratios), xir_norm_ratios_axis(ratios), &e->ratio, why);
    if (status) return status;
    for (size_t i = 0; e->scale.items && i < e->scale.n; i++) e->scale.items[i] = xir_scales_at(scales, i);
    for (size_t i = 0; e->zero.items && i < e->zero.n; i++) e->zero.items[i] = (double)zeros.data[i];
    for (size_t i = 0; e->ratio.items && i < e->ratio.n; i++) e->ratio.items[i] = xir_norm_ratios_at(ratios, i);
    return XIR_OK;
}

xir_status elements_open(tensor_elements *e, const xir_allocator *alloc, const xir_type *type, xir_diags *why) {
    *e = (tensor_elements){ .alloc = alloc };
    const xir_type *element = xir_type_element(type);
    if (!element) return refuse_type(why, "a type that is not a tensor");
    e->quantised = xir_type_is_quantized(element);
    xir_status status = open_storage(e, xir_type_storage(element), why);
    if (!status && e->quantised) status = open_quant(e, type, why);
    if (status) elements_close(e);
    return status;
}

static void close_row(const tensor_elements *e, element_row *row) {
    mem_free(e->alloc, row->items, row->n * sizeof *row->items);
    row->items = NULL;
}

void elements_close(tensor_elements *e) {
    close_row(e, &e->scale);
    close_row(e, &e->ratio);
    close_row(e, &e->zero);
}

void elements_normalise(tensor_elements *e) { close_row(e, &e->ratio); }
void elements_unscale(tensor_elements *e)   { close_row(e, &e->scale); }

static double row_at(const element_row *row, size_t i, double otherwise) {
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

/* Loops over many elements of the formats that nearly all tensors have: stored as the processor stores them, so that
 * the compiler joins elements into vectors. */
#if defined __BYTE_ORDER__ && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define EACH_STORED(type, conversion)                                                                    \
    for (size_t i = 0; i < n; i++) {                                                                     \
        type v;                                                                                          \
        memcpy(&v, b + i * sizeof v, sizeof v);                                                          \
        out[i] = (conversion);                                                                           \
    }                                                                                                    \
    return true
#define EACH_NUMBER(type, conversion)                                                                    \
    for (size_t i = 0; i < n; i++) {                                                                     \
        const type v = (conversion);                                                                     \
        memcpy(b + i * sizeof v, &v, sizeof v);                                                          \
    }                                                                                                    \
    return true
#else
#define EACH_STORED(type, conversion) return false
#define EACH_NUMBER(type, conversion) return false
#endif

/* False if the format has no such loop. `b` is where the first element begins. */
static bool singles_to_reals(const uint8_t *restrict b, size_t n, double *restrict out) {
    EACH_STORED (float, (double)v);
}
static bool doubles_to_reals(const uint8_t *restrict b, size_t n, double *restrict out) { EACH_STORED (double, v); }
static bool reals_to_singles(const double *restrict in, size_t n, uint8_t *restrict b) {
    EACH_NUMBER (float, (float)in[i]);
}
static bool reals_to_doubles(const double *restrict in, size_t n, uint8_t *restrict b) { EACH_NUMBER (double, in[i]); }

static bool reals_to_bools(const double *restrict in, size_t n, uint8_t *restrict b) {
    for (size_t i = 0; i < n; i++) b[i] = in[i] != 0;
    return true;
}

static bool bytes_to_i64s(const uint8_t *restrict b, size_t n, int64_t *restrict out) { EACH_STORED (uint8_t, v); }
static bool bools_to_i64s(const uint8_t *restrict b, size_t n, int64_t *restrict out) { EACH_STORED (uint8_t, v != 0); }
static bool s8s_to_i64s(const uint8_t *restrict b, size_t n, int64_t *restrict out)   { EACH_STORED (int8_t, v); }
static bool u16s_to_i64s(const uint8_t *restrict b, size_t n, int64_t *restrict out)  { EACH_STORED (uint16_t, v); }
static bool s16s_to_i64s(const uint8_t *restrict b, size_t n, int64_t *restrict out)  { EACH_STORED (int16_t, v); }
static bool u32s_to_i64s(const uint8_t *restrict b, size_t n, int64_t *restrict out)  { EACH_STORED (uint32_t, v); }
static bool s32s_to_i64s(const uint8_t *restrict b, size_t n, int64_t *restrict out)  { EACH_STORED (int32_t, v); }
static bool words_to_i64s(const uint8_t *restrict b, size_t n, int64_t *restrict out) { EACH_STORED (int64_t, v); }

/* Integers are wrapped to their width, so the sign does not matter. */
static bool i64s_to_bools(const int64_t *restrict in, size_t n, uint8_t *restrict b) {
    for (size_t i = 0; i < n; i++) b[i] = in[i] != 0;
    return true;
}
static bool i64s_to_bytes(const int64_t *restrict in, size_t n, uint8_t *restrict b) {
    EACH_NUMBER (uint8_t, (uint8_t)in[i]);
}
static bool i64s_to_16s(const int64_t *restrict in, size_t n, uint8_t *restrict b) {
    EACH_NUMBER (uint16_t, (uint16_t)in[i]);
}
static bool i64s_to_32s(const int64_t *restrict in, size_t n, uint8_t *restrict b) {
    EACH_NUMBER (uint32_t, (uint32_t)in[i]);
}
static bool i64s_to_64s(const int64_t *restrict in, size_t n, uint8_t *restrict b) { EACH_NUMBER (int64_t, in[i]); }

static bool read_reals(element_format f, const uint8_t *b, size_t from, size_t n, double *out) {
    if (n == 0 || f.kind != ELEMENT_FLOAT) return n == 0;
    if (f.mantissa == 23) return singles_to_reals(b + 4 * from, n, out);
    return f.mantissa == 52 && doubles_to_reals(b + 8 * from, n, out);
}

static bool write_reals(element_format f, const double *in, size_t n, uint8_t *b, size_t from) {
    if (n && f.kind == ELEMENT_BOOL && f.bits == 8) return reals_to_bools(in, n, b + from);
    if (n == 0 || f.kind != ELEMENT_FLOAT) return n == 0;
    if (f.mantissa == 23) return reals_to_singles(in, n, b + 4 * from);
    return f.mantissa == 52 && reals_to_doubles(in, n, b + 8 * from);
}

static bool read_i64s(element_format f, const uint8_t *b, size_t from, size_t n, int64_t *out) {
    const bool is_signed = f.kind == ELEMENT_SIGNED;
    if (n == 0 || f.kind == ELEMENT_FLOAT || f.kind == ELEMENT_NONE || f.bits % 8) return n == 0;
    b += from * (f.bits / 8);
    if (f.kind == ELEMENT_BOOL) return f.bits == 8 && bools_to_i64s(b, n, out);
    switch (f.bits) {
    case 8:  return is_signed ? s8s_to_i64s(b, n, out) : bytes_to_i64s(b, n, out);
    case 16: return is_signed ? s16s_to_i64s(b, n, out) : u16s_to_i64s(b, n, out);
    case 32: return is_signed ? s32s_to_i64s(b, n, out) : u32s_to_i64s(b, n, out);
    case 64: return words_to_i64s(b, n, out);
    default: return false;
    }
}

static bool write_i64s(element_format f, const int64_t *in, size_t n, uint8_t *b, size_t from) {
    if (n == 0 || f.kind == ELEMENT_FLOAT || f.kind == ELEMENT_NONE || f.bits % 8) return n == 0;
    b += from * (f.bits / 8);
    if (f.kind == ELEMENT_BOOL) return f.bits == 8 && i64s_to_bools(in, n, b);
    switch (f.bits) {
    case 8:  return i64s_to_bytes(in, n, b);
    case 16: return i64s_to_16s(in, n, b);
    case 32: return i64s_to_32s(in, n, b);
    case 64: return i64s_to_64s(in, n, b);
    default: return false;
    }
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

/* Towards zero, limited to int64_t; NaN becomes 0. */
static int64_t cut_real(double v) {
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
    int64_t most = (int64_t)((UINT64_C(1) << (f.bits - 1)) - 1), cut = cut_real(v);
    return (uint64_t)(cut > most ? most : cut < -most - 1 ? -most - 1 : cut);
}

/* An integer as a real that will be rounded again: 53 bits, of which the last says whether more followed, so that two
 * roundings give the same as one. */
static double real_of_integer(element_format f, int64_t v) {
    if (f.mantissa == 52 || (v > -(INT64_C(1) << 53) && v < INT64_C(1) << 53)) return (double)v;
    uint64_t magnitude = v < 0 ? 0 - (uint64_t)v : (uint64_t)v, kept = magnitude & ~UINT64_C(2047);
    if (magnitude & 2047) kept |= 2048;
    return v < 0 ? -(double)kept : (double)kept;
}

/* ---- quantised ------------------------------------------------------------------------------------------------- */

static uint64_t quantise(const tensor_elements *e, size_t i, double v) {
    element_format f = e->format;
    double stored = v / (row_at(&e->scale, i, 1) * row_at(&e->ratio, i, 1));
    if (f.kind == ELEMENT_FLOAT) return bits_of_float(f, stored + row_at(&e->zero, i, 0));
    stored = round(stored) + row_at(&e->zero, i, 0);
    double most = ldexp(1, (int)f.bits - (f.kind == ELEMENT_SIGNED)) - 1, least = f.kind == ELEMENT_SIGNED ? -most : 0;
    return limited(f, stored > most ? most : stored < least ? least : stored);
}

static double dequantise(const tensor_elements *e, size_t i, uint64_t bits) {
    double stored = e->format.kind == ELEMENT_FLOAT ? float_of(e->format, bits) : (double)integer_of(e->format, bits);
    return (stored - row_at(&e->zero, i, 0)) * (row_at(&e->scale, i, 1) * row_at(&e->ratio, i, 1));
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
    return f.kind == ELEMENT_FLOAT ? bits_of_float(f, real_of_integer(f, v)) : f.kind == ELEMENT_BOOL ? v != 0
           : (uint64_t)v;
}

double element_real(element_format f, const void *bytes, size_t i) {
    if (f.mantissa == 23) return single_of(load_bytes((const uint8_t *)bytes + 4 * i, 4));
    return f.kind == ELEMENT_NONE ? (double)NAN : real_of(f, load(f, bytes, i));
}

int64_t element_i64(element_format f, const void *bytes, size_t i) {
    if (f.kind == ELEMENT_NONE) return 0;
    uint64_t bits = load(f, bytes, i);
    return f.kind == ELEMENT_FLOAT ? cut_real(float_of(f, bits)) : integer_of(f, bits);
}

void element_put_real(element_format f, void *bytes, size_t i, double v) {
    if (f.mantissa == 23) store_bytes((uint8_t *)bytes + 4 * i, 4, bits_of_single((float)v));
    else store(f, bytes, i, bits_of_real(f, v));
}

void element_put_i64(element_format f, void *bytes, size_t i, int64_t v) { store(f, bytes, i, bits_of_i64(f, v)); }

double element_rounded(element_format f, double v) {
    if (f.kind != ELEMENT_FLOAT) return v;
    return f.mantissa == 23 ? (double)(float)v : float_of(f, bits_of_float(f, v));
}

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

bool elements_fill(const xir_type *element, double v, size_t n, void *out) {
    element_format f;
    if (!begin(element, n, out, &f)) return false;
    for (size_t i = 0; i < n; i++) element_put_real(f, out, i, v);
    return true;
}

/* ---- many of a tensor ------------------------------------------------------------------------------------------ */

static double real_at(const tensor_elements *e, const uint8_t *bytes, size_t i) {
    uint64_t bits = load(e->format, bytes, i);
    return e->quantised ? dequantise(e, i, bits) : real_of(e->format, bits);
}

double elements_scale(const tensor_elements *e, size_t i) { return row_at(&e->scale, i, 1); }
double elements_zero(const tensor_elements *e, size_t i)  { return row_at(&e->zero, i, 0); }
double elements_stored(const tensor_elements *e, const void *bytes, size_t i) {
    return real_of(e->format, load(e->format, bytes, i));
}
void elements_store(const tensor_elements *e, void *bytes, size_t i, double stored) {
    store(e->format, bytes, i, bits_of_real(e->format, stored));
}

void elements_read_reals(const tensor_elements *e, const void *bytes, size_t from, size_t n, double *out) {
    const uint8_t *b = bytes;
    if (!e->quantised && read_reals(e->format, b, from, n, out)) return;
    for (size_t i = 0; i < n; i++) out[i] = real_at(e, b, from + i);
}

void elements_read_i64s(const tensor_elements *e, const void *bytes, size_t from, size_t n, int64_t *out) {
    bool real = elements_are_real(e);
    if (!real && read_i64s(e->format, bytes, from, n, out)) return;
    for (size_t i = 0; i < n; i++) {
        out[i] = real ? cut_real(real_at(e, bytes, from + i)) : integer_of(e->format, load(e->format, bytes, from + i));
    }
}

void elements_write_reals(const tensor_elements *e, void *bytes, size_t from, size_t n, const double *in) {
    uint8_t *b = bytes;
    if (!e->quantised && write_reals(e->format, in, n, b, from)) return;
    for (size_t i = 0; i < n; i++) {
        store(e->format, b, from + i, e->quantised ? quantise(e, from + i, in[i]) : bits_of_real(e->format, in[i]));
    }
}

void elements_write_i64s(const tensor_elements *e, void *bytes, size_t from, size_t n, const int64_t *in) {
    if (!e->quantised && write_i64s(e->format, in, n, bytes, from)) return;
    for (size_t i = 0; i < n; i++) {
        store(e->format, bytes, from + i, e->quantised ? quantise(e, from + i, (double)in[i])
              : bits_of_i64(e->format, in[i]));
    }
}
