/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Elements as numbers: each format against a slow formula, in both directions. The floats of 16 bits and TF32 are
 * tested with all their numbers and all points halfway between two. */
#include <float.h>
#include <math.h>
#include "elements.h"
#include "support/scarce.h"

static element_format format_of(const xir_type *type) {
    element_format f = element_format_of(type);
    if (f.kind == ELEMENT_NONE) fail_msg("%s is not a number", spelled(type));
    return f;
}

/* ---- floats ----------------------------------------------------------------------------------------------------- */

/* Parts of the formats, for the loops below; the bits are `shift` places up in the element. */
static const struct small { xir_float_format format; unsigned exponent, mantissa, shift; } smalls[] = {
    { XIR_FLOAT_FP16, 5, 10, 0 }, { XIR_FLOAT_BF16,   8, 7, 0 }, { XIR_FLOAT_TF32, 8, 10, 13 },
    { XIR_FLOAT_FPE7M8, 7, 8, 0 }, { XIR_FLOAT_FPE6M9, 6, 9, 0 },
};

/* The number of bits without a sign, by the definition of the format: a power of two, reached step by step, times a
 * fraction. The number after the largest one stands for infinity. */
static double slowly(const struct small *s, uint32_t bits) {
    int exponent = (int)(bits >> s->mantissa), bias = (1 << (s->exponent - 1)) - 1;
    double v = (double)(bits & ((1u << s->mantissa) - 1));
    for (unsigned k = 0; k < s->mantissa; k++) v /= 2;
    if (exponent) v += 1;
    for (int k = (exponent ? exponent : 1) - bias; k > 0; k--) v *= 2;
    for (int k = (exponent ? exponent : 1) - bias; k < 0; k++) v /= 2;
    return v;
}

static uint32_t put(element_format f, double v) {
    uint32_t out = 0;
    element_put_real(f, &out, 0, v);
    return out;
}

static void small_floats_are_read_and_written(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(smalls); i++) {
        const struct small *s = &smalls[i];
        element_format f = format_of(xir_type_float(ctx, s->format));
        uint32_t infinite = ((1u << s->exponent) - 1) << s->mantissa, sign = 1u << (s->exponent + s->mantissa);
        assert_true(element_is_float(f));
        for (uint32_t bits = 0; bits < 2 * sign; bits++) {
            uint32_t element = bits << s->shift, plain = bits & ~sign;
            double v = element_real(f, &element, 0);
            if (plain > infinite) {
                if (!isnan(v)) fail_msg("%zu: %x is %a, not NaN", i, bits, v);
                continue;
            }
            double wanted = plain == infinite ? (double)INFINITY : slowly(s, plain);
            if (fabs(v) != wanted || !signbit(v) != !(bits & sign))
                fail_msg("%zu: %x is %a, not %a", i, bits, v, wanted);
            if (put(f, v) != element) fail_msg("%zu: %a becomes %x, not %x", i, v, put(f, v), element);
        }
        assert_true(isnan(element_real(f, &(uint32_t){ put(f, (double)NAN) }, 0)));
        assert_int_equal(put(f, (double)INFINITY), infinite << s->shift);
        assert_int_equal(put(f, -DBL_MAX), (infinite | sign) << s->shift);
        assert_int_equal(put(f, 0x1p-1074), 0);
    }
}

/* Halfway between two numbers the even one is the result, and slightly below or above that point the nearer one. */
static void small_floats_are_rounded_to_nearest_even(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(smalls); i++) {
        const struct small *s = &smalls[i];
        element_format f = format_of(xir_type_float(ctx, s->format));
        uint32_t infinite = ((1u << s->exponent) - 1) << s->mantissa, sign = 1u << (s->exponent + s->mantissa);
        for (uint32_t low = 0; low < infinite; low++) {
            double half = (slowly(s, low) + slowly(s, low + 1)) / 2;
            const struct { double v; uint32_t wanted; } tries[] = {
                { nextafter(half, 0), low }, { half, low + (low & 1) }, { nextafter(half, (double)INFINITY), low + 1 },
            };
            for (size_t k = 0; k < COUNT(tries); k++) {
                uint32_t up = put(f, tries[k].v), down = put(f, -tries[k].v);
                if (up != tries[k].wanted << s->shift || down != (tries[k].wanted | sign) << s->shift) {
                    fail_msg("%zu: %a becomes %x and %x, not %x", i, tries[k].v, up, down, tries[k].wanted << s->shift);
                }
            }
        }
    }
}

static void large_floats_are_those_of_c(void **state) {
    (void)state;
    element_format single = format_of(xir_type_float(ctx, XIR_FLOAT_FP32)),
                   twice = format_of(xir_type_float(ctx, XIR_FLOAT_FP64));
    char room[24];
    for (int i = 0; i < 100000; i++) {
        uint64_t bits = chance(UINT64_MAX) * 2 + chance(2);
        double v, found;
        float narrow;
        memcpy(&v, &bits, sizeof v);
        narrow = (float)v;
        element_put_real(twice, room + 1, 1, v);   /* not aligned */
        assert_memory_equal(room + 9, &bits, 8);
        found = element_real(twice, room + 1, 1);
        assert_memory_equal(&found, &bits, 8);
        element_put_real(single, room + 1, 2, v);
        if (!isnan(v)) assert_memory_equal(room + 9, &narrow, 4);
        found = element_real(single, room + 1, 2);
        assert_true(isnan(v) ? isnan(found) : found == (double)narrow);
    }
}

/* An integer becomes a float with a single rounding, and a float becomes an integer towards zero. */
static void integers_and_floats_become_each_other(void **state) {
    (void)state;
    element_format brain = format_of(xir_type_float(ctx, XIR_FLOAT_BF16)),
                   single = format_of(xir_type_float(ctx, XIR_FLOAT_FP32));
    const struct { int64_t from; double to; } rows[] = {
        { 0, 0 }, { -3, -3 }, { 257, 256 }, { 258, 258 }, { 259, 260 },
        { INT64_C(1) << 60 | INT64_C(1) << 52, 0x1p60 },              /* a tie, to the even one         */
        { INT64_C(1) << 60 | INT64_C(1) << 52 | 1, 0x1.02p60 },       /* which a double cannot represent */
        { -(INT64_C(1) << 60 | INT64_C(1) << 52 | 1), -0x1.02p60 },
        { INT64_MAX, 0x1p63 }, { INT64_MIN, -0x1p63 },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        uint16_t out;
        element_put_i64(brain, &out, 0, rows[i].from);
        if (element_real(brain, &out, 0) != rows[i].to)
            fail_msg("%lld: %a", (long long)rows[i].from, element_real(brain, &out, 0));
    }
    for (int i = 0; i < 100000; i++) {
        int64_t v = (int64_t)(chance(UINT64_MAX) >> chance(64));
        float out;
        element_put_i64(single, &out, 0, i % 2 ? v : -v);
        assert_true(out == (float)(i % 2 ? v : -v));
    }
    const struct { double from; int64_t to; } cuts[] = {
        { 1.9, 1 }, { -1.9, -1 }, { (double)NAN, 0 }, { (double)INFINITY, INT64_MAX }, { -0x1p63, INT64_MIN },
        { -1e300, INT64_MIN }, { 0x1p63, INT64_MAX }, { 0x1.fffffffffffffp62, 0x7ffffffffffffc00 },
    };
    element_format twice = format_of(xir_type_float(ctx, XIR_FLOAT_FP64));
    for (size_t i = 0; i < COUNT(cuts); i++) assert_int_equal(element_i64(twice, &cuts[i].from, 0), cuts[i].to);
}

/* ---- integers --------------------------------------------------------------------------------------------------- */

/* Bit by bit. */
static uint64_t bits_slowly(const uint8_t *bytes, size_t i, unsigned width) {
    uint64_t v = 0;
    for (size_t k = 0; k < width; k++) {
        size_t at = i * width + k;
        if (bytes[at / 8] >> (at % 8) & 1) v |= (uint64_t)1 << k;
    }
    return v;
}

static void integers_of_every_width(void **state) {
    (void)state;
    enum { N = 40 };
    for (unsigned width = 1; width <= 64; width++) {
        element_format whole = format_of(xir_type_uint(ctx, (int64_t)width)),
                       with_sign = format_of(xir_type_sint(ctx, (int64_t)width));
        uint64_t all = ~UINT64_C(0) >> (64 - width), top = (uint64_t)1 << (width - 1);
        uint8_t bytes[N * 8 + 1], copy[sizeof bytes];
        assert_true(element_is_number(whole) && element_is_number(with_sign) && !element_is_float(whole));
        for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)chance(256);
        for (size_t i = 0; i < N; i++) {
            uint64_t v = bits_slowly(bytes, i, width);
            int64_t signed_v = v & top ? (int64_t)(v | ~all) : (int64_t)v;
            assert_int_equal(element_i64(whole, bytes, i), (int64_t)v);
            assert_int_equal(element_i64(with_sign, bytes, i), signed_v);
            assert_true(element_real(whole, bytes, i) == (double)v);
            assert_true(element_real(with_sign, bytes, i) == (double)signed_v);
        }
        for (size_t i = 0; i < N; i++) {   /* overwritten, neighbours unchanged; too wide numbers wrap */
            uint64_t v = chance(UINT64_MAX);
            memcpy(copy, bytes, sizeof bytes);
            element_put_i64(i % 2 ? whole : with_sign, bytes, i, (int64_t)v);
            for (size_t k = 0; k < N; k++) {
                assert_int_equal(bits_slowly(bytes, k, width), k == i ? (v & all) : bits_slowly(copy, k, width));
            }
        }
        const struct { double v; uint64_t plain, with; } limits[] = {
            { -1e300, 0, top }, { 1e300, all, top - 1 }, { (double)NAN, 0, 0 }, { -0.9, 0, 0 }, { -(double)INFINITY, 0, top },
            { ldexp(1, (int)width), all, top - 1 }, { ldexp(1, (int)width - 1), top, top - 1 }, { -ldexp(1, (int)width - 1), 0, top },
        };
        for (size_t i = 0; i < COUNT(limits); i++) {
            element_put_real(whole, bytes, 3, limits[i].v);
            assert_int_equal(bits_slowly(bytes, 3, width), limits[i].plain);
            element_put_real(with_sign, bytes, 3, limits[i].v);
            assert_int_equal(bits_slowly(bytes, 3, width), limits[i].with);
        }
    }
}

static void bools_are_0_or_1(void **state) {
    (void)state;
    element_format f = format_of(xir_type_bool(ctx));
    uint8_t bytes[] = { 0, 1, 7 };
    assert_false(element_is_number(f));
    assert_int_equal(element_i64(f, bytes, 2), 1);
    assert_true(element_real(f, bytes, 2) == 1 && element_real(f, bytes, 0) == 0);
    element_put_real(f, bytes, 0, (double)NAN);
    element_put_i64(f, bytes, 1, 0);
    element_put_i64(f, bytes, 2, -256);
    assert_memory_equal(bytes, "\1\0\1", 3);
}

/* ---- types ------------------------------------------------------------------------------------------------------ */

static void formats_are_those_of_types(void **state) {
    (void)state;
    const xir_type *sint8 = xir_type_sint(ctx, 8);
    const xir_scales *scale = xir_scales_from(ctx, &(double){ 0.5 }, 1, -1);
    assert_int_equal(element_format_of(FP32("*", 4)).mantissa, 23);
    assert_int_equal(element_format_of(sint8).bits, 8);
    assert_int_equal(element_format_of(NULL).kind, ELEMENT_NONE);
    assert_int_equal(element_format_of(xir_type_sint(ctx, 65)).kind, ELEMENT_NONE);
    assert_int_equal(element_format_of(xir_type_quantized(ctx, scale, NULL, 0, sint8, NULL)).kind, ELEMENT_NONE);
    element_format none = { .kind = ELEMENT_NONE };
    assert_true(isnan(element_real(none, "x", 0)) && element_i64(none, "x", 0) == 0);
}

static void many_of_a_type(void **state) {
    (void)state;
    const xir_type *nibble = xir_type_sint(ctx, 4), *single = xir_type_float(ctx, XIR_FLOAT_FP32);
    uint8_t bytes[16];
    int64_t back[3];
    double reals[3];
    memset(bytes, 0xFF, sizeof bytes);
    assert_true(elements_of_ints(nibble, (const int64_t[]){ -1, 2, 3 }, 3, bytes));
    assert_memory_equal(bytes, "\x2f\x03\xff", 3);   /* unused bits are 0, other bytes are unchanged */
    elements_to_ints(nibble, bytes, 1, 2, back);
    assert_true(back[0] == 2 && back[1] == 3);
    assert_true(elements_fill(nibble, 7.5, 3, bytes));
    assert_memory_equal(bytes, "\x77\x07\xff", 3);
    assert_true(elements_of_reals(single, (const double[]){ 0.1, -2 }, 2, bytes));
    elements_to_reals(single, bytes, 0, 2, reals);
    assert_true(reals[0] == (double)0.1f && reals[1] == -2);
    memset(bytes, 0xFF, sizeof bytes);
    assert_false(element_readable(xir_type_sint(ctx, 65)));
    assert_false(elements_of_ints(xir_type_sint(ctx, 65), back, 1, bytes) || elements_of_reals(NULL, reals, 1, bytes) ||
                 elements_fill(NULL, 0, 1, bytes));
    assert_int_equal(bytes[0], 0xFF);
    elements_to_ints(NULL, bytes, 0, 1, back);
    elements_to_reals(NULL, bytes, 0, 1, reals);
    assert_true(back[0] == 0 && reals[0] == 0);
}

/* ---- quantised -------------------------------------------------------------------------------------------------- */

/* Element (i, j) of [2, 3] has scale i; (stored - zero) * scale, and back: rounded half away from zero, clamped. */
static void quantised_by_axis(void **state) {
    (void)state;
    const double scales[] = { 0.5, 2 };
    const int64_t zeros[] = { 1, -1 };
    const xir_scales *scale = xir_scales_from(ctx, scales, 2, 0);
    const xir_type *type = XIR_TENSOR(ctx, xir_type_quantized(ctx, scale, zeros, 2, xir_type_sint(ctx, 8), NULL),
                                      "**", 2, 3);
    tensor_elements e;
    double reals[6], v[6] = { 0.75, -0.75, 1000, 3, -3, -1000 };
    int8_t stored[6];
    DOES(elements_open(&e, &memory_default, type, why));
    assert_true(elements_are_real(&e));
    for (int b = -128; b < 128; b++) {
        memset(stored, b, sizeof stored);
        elements_read_reals(&e, stored, 0, 6, reals);
        for (size_t i = 0; i < 6; i++) assert_true(reals[i] == ((double)b - (double)zeros[i / 3]) * scales[i / 3]);
        if (b == -128) continue;   /* the range is symmetric */
        elements_write_reals(&e, stored, 0, 6, reals);
        for (size_t i = 0; i < 6; i++) assert_int_equal(stored[i], b);
    }
    elements_write_reals(&e, stored, 0, 6, v);
    assert_memory_equal(stored, ((const int8_t[]){ 3, -1, 127, 1, -3, -127 }), 6);
    elements_write_i64s(&e, stored, 4, 1, &(int64_t){ 5 });   /* one in the middle has its own scale */
    assert_int_equal(stored[4], 2);
    elements_close(&e);
}

static void opening(want *w) {
    tensor_elements e;
    const double scales[] = { 1, 2 };
    const int64_t zeros[] = { 1, 2 };
    const xir_type *type;
    IN_PLENTY(w, type = XIR_TENSOR(w->ctx, xir_type_quantized(w->ctx, xir_scales_from(w->ctx, scales, 2, 0), zeros, 2,
                                                              xir_type_sint(w->ctx, 8), NULL), "*", 2));
    TRY(w, elements_open(&e, context_alloc(w->ctx), type, w->why));
    elements_close(&e);
}

static void opening_without_memory(void **state) {
    (void)state;
    run_scarcely("opening", opening, false);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_floats_are_read_and_written), cmocka_unit_test(small_floats_are_rounded_to_nearest_even),
        cmocka_unit_test(large_floats_are_those_of_c),       cmocka_unit_test(integers_and_floats_become_each_other),
        cmocka_unit_test(integers_of_every_width),           cmocka_unit_test(bools_are_0_or_1),
        cmocka_unit_test(formats_are_those_of_types),        cmocka_unit_test(many_of_a_type),
        cmocka_unit_test(quantised_by_axis),                 cmocka_unit_test(opening_without_memory),
    };
    return RUN_GROUP(tests);
}
