/* Elements of constants as numbers, and numbers as elements: bools and integers exactly, floats as numbers.h has them. */
#include "support/numbers.h"
#include "convert/convert.h"

static size_t size_of(const xir_type *element) { return (size_t)xir_type_storage_bits(element) / 8; }
static bool   is_bool(const xir_type *element) { return xir_type_kind_of(element) == XIR_TYPE_BOOL; }

bool element_readable(const xir_type *element) { return element && (is_bool(element) || number_form_of(element) != NUMBER_NONE); }

/* An integer of `size` bytes; of 64 bits without a sign, the same bits. */
static int64_t integer_at(const uint8_t *p, size_t size, bool sign) {
    uint64_t v = 0, top = UINT64_C(1) << (8 * size - 1);
    memcpy(&v, p, size);
    return sign ? (int64_t)((v ^ top) - top) : (int64_t)v;
}

/* Towards 0; what no int64 can be is the nearest one, and NaN is 0. Without a sign: the same of uint64, as its bits. */
static int64_t cut(double v) {
    if (!(v > -9223372036854775808.0)) return v != v ? 0 : INT64_MIN;
    return v < 9223372036854775808.0 ? (int64_t)v : INT64_MAX;
}

static int64_t cut_unsigned(double v) {
    if (!(v >= 9223372036854775808.0)) return cut(v);
    return v < 18446744073709551616.0 ? (int64_t)(uint64_t)v : -1;
}

void elements_to_ints(const xir_type *element, const void *bytes, size_t from, size_t n, int64_t *out) {
    number_form form = number_form_of(element);
    size_t size = size_of(element);
    const uint8_t *p = (const uint8_t *)bytes + from * size;
    for (size_t i = 0; i < n; i++, p += size) {
        if (is_bool(element)) out[i] = *p != 0;
        else if (number_is_float(form)) out[i] = cut(number_read(form, p, 0));
        else out[i] = form == NUMBER_NONE ? 0 : integer_at(p, size, form < NUMBER_U8);
    }
}

void elements_to_reals(const xir_type *element, const void *bytes, size_t from, size_t n, double *out) {
    number_form form = number_form_of(element);
    const uint8_t *p = bytes;
    for (size_t i = 0; i < n; i++) {
        if (is_bool(element)) out[i] = p[from + i] != 0;
        else out[i] = form == NUMBER_NONE ? 0 : number_read(form, bytes, from + i);
    }
}

bool elements_of_reals(const xir_type *element, const double *v, size_t n, void *out) {
    number_form form = number_form_of(element);
    size_t size = size_of(element);
    uint8_t *p = out;
    if (!element_readable(element)) return false;
    for (size_t i = 0; i < n; i++, p += size) {
        int64_t whole = form == NUMBER_U64 ? cut_unsigned(v[i]) : cut(v[i]);
        if (is_bool(element)) *p = v[i] != 0;
        else if (number_is_float(form)) number_write(form, p, 0, v[i]);
        else memcpy(p, &whole, size);
    }
    return true;
}

bool elements_of_ints(const xir_type *element, const int64_t *v, size_t n, void *out) {
    number_form form = number_form_of(element);
    size_t size = size_of(element);
    uint8_t *p = out;
    if (!element_readable(element)) return false;
    for (size_t i = 0; i < n; i++, p += size) {
        if (is_bool(element)) *p = v[i] != 0;
        else if (number_is_float(form)) number_write(form, p, 0, (double)v[i]);
        else memcpy(p, &v[i], size);
    }
    return true;
}
