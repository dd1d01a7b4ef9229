/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Numbers of PNNX as text. A float gets the digits of C's %e or %g if they read back as the same float, and two or
 * three more otherwise; exponents have no plus sign and no leading zeros. */
#include <math.h>
#include <stdio.h>
#include "number.h"
#include "pnnx/value.h"

/* ---- printing -------------------------------------------------------------------------------------------------- */

/* Rounds to `n` significant digits. Returns the exponent of the first. Whatever the locale puts between the first digit
 * and the second is skipped. */
static int digits_of(double v, int n, char *digits) {
    char text[64];
    snprintf(text, sizeof text, "%.*e", n - 1, v);
    const char *p = text;
    for (int i = 0; i < n; p++)
        if (is_digit(*p)) digits[i++] = *p;
    while (*p != 'e') p++;
    bool below = p[1] == '-';
    int exponent = 0;
    for (p += 2; is_digit(*p); p++) exponent = 10 * exponent + (*p - '0');
    return below ? -exponent : exponent;
}

/* "d.ddde-5" */
static size_t put_scientific(char *out, const char *digits, int n, int exponent) {
    size_t size = 0;
    out[size++] = digits[0];
    out[size++] = '.';
    memcpy(out + size, digits + 1, (size_t)n - 1);
    size += (size_t)n - 1;
    out[size++] = 'e';
    return size + number_put_i64(out + size, exponent);
}

/* Without an exponent, which is above -5 and below n. Zeros at the end are left out. Returns 0 if more than 9 digits
 * follow the point. */
static size_t put_plain(char *out, const char *digits, int n, int exponent) {
    enum { MOST_FRACTION = 9 };
    size_t size = 0;
    while (n > 1 && n > exponent + 1 && digits[n - 1] == '0') n--;
    int fraction = n - 1 - exponent;
    if (exponent < -4 || fraction > MOST_FRACTION) return 0;
    if (exponent < 0) {
        memcpy(out, "0.0000", 6);
        size = (size_t)(1 - exponent);
        memcpy(out + size, digits, (size_t)n);
        return size + (size_t)n;
    }
    memcpy(out, digits, (size_t)exponent + 1);
    size = (size_t)exponent + 1;
    out[size++] = '.';
    if (fraction <= 0) out[size++] = '0';
    else memcpy(out + size, digits + exponent + 1, (size_t)fraction);
    return size + (size_t)(fraction > 0 ? fraction : 0);
}

static bool reads_back(const char *text, size_t size, float v) {
    float again;
    return size && number_parse_f32(text, size, &again) == size && again == v;
}

static size_t put_magnitude(char *out, float v) {
    enum { FEW_E = 7, FEW_G = 6, MANY = 9 };
    char digits[MANY];
    bool plain = !(v < 0.0001f) && v < 1000000.0f;
    int exponent = digits_of(v, plain ? FEW_G : FEW_E, digits);
    size_t size = plain ? put_plain(out, digits, FEW_G, exponent) : put_scientific(out, digits, FEW_E, exponent);
    if (reads_back(out, size, v)) return size;
    exponent = digits_of(v, MANY, digits);
    size = plain ? put_plain(out, digits, MANY, exponent) : 0;
    return size ? size : put_scientific(out, digits, MANY, exponent);
}

size_t pnnx_put_float(char *out, float v) {
    size_t sign = signbit(v) && v != 0 ? 1 : 0;
    if (sign) *out++ = '-';
    if (isinf(v) || isnan(v)) {
        const xir_str word = isinf(v) ? XIR_STR("inf") : XIR_STR("nan.0");
        memcpy(out, word.data, word.size);
        return sign + word.size;
    }
    if (v == 0) {
        memcpy(out, "0.0", 3);
        return 3;
    }
    return sign + put_magnitude(out, fabsf(v));
}

size_t pnnx_put_scientific(char *out, float v) {
    enum { DIGITS = 7 };
    char digits[DIGITS];
    if (isinf(v) || isnan(v)) return (size_t)sprintf(out, "%s%s", signbit(v) ? "-" : "", isinf(v) ? "inf" : "nan");
    int exponent = digits_of(fabsf(v), DIGITS, digits);
    return (size_t)sprintf(out, "%s%c.%.6se%c%02d", signbit(v) ? "-" : "", digits[0], digits + 1,
                           exponent < 0 ? '-' : '+', exponent < 0 ? -exponent : exponent);
}

/* ---- reading --------------------------------------------------------------------------------------------------- */

size_t pnnx_take_int(xir_str text, int32_t *out) {
    size_t i = text.data[0] == '-';
    bool below = i;
    int64_t v = 0;
    for (; i < text.size && is_digit(text.data[i]); i++) {
        v = 10 * v + (text.data[i] - '0');
        if (v > (int64_t)INT32_MAX + below) return 0;
    }
    *out = (int32_t)(below ? -v : v);
    return i;
}

static int hex_digit(char c) {
    if (is_digit(c)) return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The digits after "0x"; 0 if there are none. Digits past the sixteenth are one bit that decides the rounding. */
static size_t take_hex(const char *p, const char *end, float *out) {
    const char *at = p;
    uint64_t v = 0;
    int64_t shift = 0;
    bool point = false, any = false;
    for (; at < end; at++) {
        const int digit = hex_digit(*at);
        if (*at == '.' && !point) {
            point = true;
            continue;
        }
        if (digit < 0) break;
        any = true;
        if (v >> 60) v |= digit != 0;
        else v = v << 4 | (unsigned)digit;
        shift += (v >> 60 ? 4 : 0) - (point ? 4 : 0);
    }
    if (!any) return 0;
    const char *e = at;
    if (e < end && (*e | 0x20) == 'p') {
        e++;
        bool below = e < end && *e == '-';
        if (e < end && (*e == '-' || *e == '+')) e++;
        int64_t exponent = 0;
        bool some = false;
        for (; e < end && is_digit(*e); e++, some = true)
            if (exponent < 1 << 24) exponent = 10 * exponent + (*e - '0');
        if (some) {
            shift += below ? -exponent : exponent;
            at = e;
        }
    }
    *out = ldexpf((float)v, shift > 4096 ? 4096 : shift < -4096 ? -4096 : (int)shift);
    return (size_t)(at - p);
}

/* C reads "1." and "1.e5", the grammar of number_parse_f32 does not: those are read without the point. */
static size_t take_pointed(const char *p, size_t whole, const char *end, float *out) {
    char text[512];
    const char *at = p + whole + 1, *e = at;
    if (whole + 32 > sizeof text) return 0;
    memcpy(text, p, whole);
    size_t n = whole;
    if (e < end && (*e | 0x20) == 'e') {
        e++;
        if (e < end && (*e == '-' || *e == '+')) e++;
        const char *first = e;
        while (e < end && is_digit(*e)) e++;
        if (e > first && (size_t)(e - at) < 24) {
            memcpy(text + n, at, (size_t)(e - at));
            n += (size_t)(e - at);
            at = e;
        }
    }
    return number_parse_f32(text, n, out) ? (size_t)(at - p) : 0;
}

size_t pnnx_take_float(xir_str text, float *out) {
    const char *p = text.data, *end = p + text.size;
    const bool below = *p == '-';
    p += below;
    float v = 0;
    size_t n = 0;
    if (end - p > 2 && *p == '0' && (p[1] | 0x20) == 'x' && (n = take_hex(p + 2, end, &v))) {
        p += 2;
    } else {
        while (end - p > 1 && *p == '0' && is_digit(p[1])) p++;
        size_t whole = 0;
        while (p + whole < end && is_digit(p[whole])) whole++;
        bool pointed = p + whole < end && p[whole] == '.' && !(p + whole + 1 < end && is_digit(p[whole + 1]));
        n = pointed ? take_pointed(p, whole, end, &v) : number_parse_f32(p, (size_t)(end - p), &v);
    }
    if (!n || isinf(v)) return 0;
    *out = below ? -v : v;
    return (size_t)(p - text.data) + n;
}
