/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The loops over many elements, on each path of this processor, against the functions of one element: every format, all
 * numbers of the narrow ones, and doubles of every kind. Bits must be the same, those of NaN included. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include "element_loops.h"
#include "support/net.h"

enum { MOST = 4096 };

static double  reals[MOST], found[MOST];
static int64_t whole[MOST], found_whole[MOST];
static uint8_t stored[MOST * 8], expected[MOST * 8];

/* Doubles: halfway points of narrower formats and their neighbours, ends of ranges, all exponents, special ones. */
static double some_real(void) {
    static const double special[] = {
        0, -0.0, INFINITY, -INFINITY, NAN, DBL_MAX, -DBL_MAX, DBL_MIN, 0x1p-1074, -0x1p-1074, 0.5, -0.5, 1.5, 2.5,
        0x1.fffffffffffffp-2, FLT_MAX, 0x1.ffffffp127, 0x1p128, 0x1p-149, 0x1p-150, 65504, 65519.99, 65520, 0x1p-24,
        0x1p-25, 127, 127.5, 128, -128, -128.5, -129, 255, 255.5, 256, 32767.5, 65535.5, 2147483647, 2147483647.5,
        2147483648, -2147483648.5, -2147483649, 4294967295, 4294967295.5, 0x1p52, 0x1.8p52, 0x1p53, 0x1p63, 0x1p64,
    };
    if (chance(4) == 0) return special[chance(COUNT(special))];
    uint64_t bits = chance(UINT64_MAX) * 2 + chance(2);
    if (chance(2)) bits = (bits & ~(UINT64_C(0x7FF) << 52)) | (1023 - 30 + chance(80)) << 52;   /* of middle size */
    if (chance(3) == 0) bits &= ~UINT64_C(0) << (20 + chance(32));                              /* short, so ties */
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

static const element_loops *path_named(size_t i) { return element_loops_at(i); }

static void fails(const element_loops *l, const char *type, const char *what, size_t n, size_t i) {
    fail_msg("%s: %s: %s: element %zu of %zu differs", l->name, type, what, i, n);
}

static void check_bytes(const element_loops *l, const char *type, const char *what, const void *a, const void *b,
                        size_t width, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (memcmp((const char *)a + i * width, (const char *)b + i * width, width)) fails(l, type, what, n, i);
    }
}

/* Elements that are stored become numbers. */
static void check_reading(const element_loops *l, element_format f, const char *type, const uint8_t *bytes, size_t n) {
    const element_store s = element_store_of(f);
    if (l->to_reals[s]) {
        l->to_reals[s](f, bytes, n, found);
        for (size_t i = 0; i < n; i++) reals[i] = element_real(f, bytes, i);
        check_bytes(l, type, "as reals", found, reals, 8, n);
    }
    if (l->to_i64s[s]) {
        l->to_i64s[s](bytes, n, found_whole);
        for (size_t i = 0; i < n; i++) whole[i] = element_i64(f, bytes, i);
        check_bytes(l, type, "as integers", found_whole, whole, 8, n);
    }
}

/* `reals` and `whole` are stored. */
static void check_writing(const element_loops *l, element_format f, const char *type, uint8_t *bytes, size_t n) {
    const element_store s = element_store_of(f);
    const size_t width = f.bits / 8;
    if (l->of_reals[s]) {
        memset(bytes, 0x55, n * width + 1);
        l->of_reals[s](f, reals, n, bytes);
        for (size_t i = 0; i < n; i++) element_put_real(f, expected, i, reals[i]);
        check_bytes(l, type, "reals stored", bytes, expected, width, n);
        assert_int_equal(bytes[n * width], 0x55);
    }
    if (l->of_i64s[s]) {
        l->of_i64s[s](whole, n, bytes);
        for (size_t i = 0; i < n; i++) element_put_i64(f, expected, i, whole[i]);
        check_bytes(l, type, "integers stored", bytes, expected, width, n);
    }
}

static const char *const types[] = {
    "@fp(64)", "@fp(32)", "@tf(32)", "@fp(16)", "@bf(16)", "@fpe7m8", "@fpe6m9", "@bool", "@sint(8)", "@uint(8)",
    "@sint(16)", "@uint(16)", "@sint(32)", "@uint(32)", "@sint(64)", "@uint(64)",
};

static element_format format_named(const char *type) {
    form_error e = { 0 };
    const xir_object *of = form_parse(&ctx->pool, xir_str_of(type), &e);
    if (!of) fail_msg("%s is not a type", type);
    return element_format_of((const xir_type *)of);
}

/* Any number of elements, from any byte on. */
static void loops_are_those_of_one_element(void **state) {
    (void)state;
    for (size_t p = 0; path_named(p); p++) {
        for (size_t t = 0; t < COUNT(types); t++) {
            const element_format f = format_named(types[t]);
            assert_true(element_store_of(f) != STORED_OTHER);
            for (size_t turn = 0; turn < 80; turn++) {
                const size_t n = turn < 70 ? turn : MOST - 8 - chance(100), shift = turn % 4;
                for (size_t i = 0; i < n * 8; i++) stored[i] = (uint8_t)chance(256);
                for (size_t i = 0; i < n && f.kind == ELEMENT_BOOL; i++) stored[shift + i] &= 3;
                check_reading(path_named(p), f, types[t], stored + shift, n);
                for (size_t i = 0; i < n; i++) {
                    reals[i] = some_real();
                    whole[i] = (int64_t)(chance(UINT64_MAX) * 2 + chance(2)) >> chance(64);
                }
                check_writing(path_named(p), f, types[t], stored + shift, n);
            }
        }
    }
}

static void all_narrow_floats(void **state) {
    (void)state;
    for (size_t p = 0; path_named(p); p++) {
        for (size_t t = 2; t < 7; t++) {   /* of 16 bits; TF32 by its upper ones */
            const element_format f = format_named(types[t]);
            const size_t width = f.bits / 8;
            for (uint32_t first = 0; first < 0x10000; first += MOST) {
                for (uint32_t i = 0; i < MOST; i++) {
                    const uint32_t bits = f.bits == 32 ? (first + i) << 16 : first + i;
                    for (size_t k = 0; k < width; k++) stored[i * width + k] = (uint8_t)(bits >> 8 * k);
                }
                check_reading(path_named(p), f, types[t], stored, MOST);
                /* Each number, and points around the middle between it and the next one. */
                const double step[] = { 1, 1 + 0x1p-53 * (1 << 12), 1 - 0x1p-53 * (1 << 12), 1 };
                for (size_t s = 0; s < COUNT(step); s++) {
                    for (uint32_t i = 0; i < MOST; i++) {
                        const double v = element_real(f, stored, i), next = element_real(f, stored, (i + 1) % MOST);
                        expected[0] = 0;
                        reals[i] = s == 3 ? v : (v + next) / 2 * step[s];
                        whole[i] = 0;
                    }
                    static uint8_t out[MOST * 8];
                    check_writing(path_named(p), f, types[t], out, MOST);
                }
            }
        }
    }
}

/* By the definition: divided by the factor, rounded half away from zero, with the zero point, and limited. */
static void quantised_numbers(void **state) {
    (void)state;
    static double factor[MOST], zero[MOST], in[MOST];
    for (size_t p = 0; path_named(p); p++) {
        const element_loops *l = path_named(p);
        for (size_t turn = 0; turn < 50; turn++) {
            const size_t n = turn < 40 ? turn : MOST;
            const quantum q = { factor, zero, turn % 2 ? 0 : -127, turn % 2 ? 255 : 127 };
            for (size_t i = 0; i < n; i++) {
                in[i] = chance(3) ? (double)(int)chance(2000) / 4 - 250 : some_real();
                factor[i] = chance(2) ? 1 : (double)(float)ldexp((double)(1 + chance(1000)), -(int)chance(20));
                zero[i] = chance(2) ? 0 : (double)chance(256) - 128;
            }
            l->quantise(&q, n, in, found);
            for (size_t i = 0; i < n; i++) {
                const double v = round(in[i] / factor[i]) + zero[i], limited = v > q.most ? q.most : v < q.least
                               ? q.least : v;
                if (found[i] != limited && !(isnan(found[i]) && isnan(limited)))
                    fail_msg("%s: %a / %a + %g is %g, not %g", l->name, in[i], factor[i], zero[i], found[i], limited);
            }
            l->rescale(&q, n, in, found);
            for (size_t i = 0; i < n; i++) reals[i] = in[i] / factor[i] + zero[i];
            check_bytes(l, "rescale", "", found, reals, 8, n);
            memcpy(found, in, sizeof in);
            l->dequantise(&q, n, found);
            for (size_t i = 0; i < n; i++) reals[i] = (in[i] - zero[i]) * factor[i];
            check_bytes(l, "dequantise", "", found, reals, 8, n);
        }
    }
}

/* Products of stored numbers with one factor, or with one each, in double and rounded once; and their sums. */
static void scaled_numbers(void **state) {
    (void)state;
    static double factor[MOST], sums[MOST];
    static uint8_t out[MOST * 4];
    for (size_t p = 0; path_named(p); p++) {
        const element_loops *l = path_named(p);
        for (size_t turn = 0; turn < 80; turn++) {
            const size_t n = turn < 70 ? turn : MOST - 8 - chance(100), shift = turn % 4;
            uint8_t *in = stored + shift;
            for (size_t i = 0; i < n * 4; i++) in[i] = (uint8_t)chance(256);
            for (size_t i = 0; i < n + 1; i++) {
                do factor[i] = some_real(); while (isnan(factor[i]));
                sums[i] = found[i] = some_real();
            }
            for (int each = 0; each < 2; each++) {
                for (size_t i = 0; i < n; i++) {
                    float x;
                    memcpy(&x, in + i * 4, 4);
                    x = (float)((double)x * factor[each ? i : n]);
                    memcpy(expected + i * 4, &x, 4);
                }
                if (each) l->scale_each(in, n, factor, out);
                else l->scale(in, n, factor[n], out);
                check_bytes(l, "fp32", each ? "times one each" : "times one factor", out, expected, 4, n);
            }
            l->add_scaled(in, n, factor[n], found);
            for (size_t i = 0; i < n; i++) {
                float x;
                memcpy(&x, in + i * 4, 4);
                const double sum = sums[i] + (double)x * factor[n];
                if (memcmp(&sum, &found[i], sizeof sum) && !(isnan(sum) && isnan(found[i])))
                    fails(l, "fp32", "added", n, i);
            }
        }
    }
}

static void a_path_is_chosen_by_its_name(void **state) {
    (void)state;
    char before[20] = "";
    if (getenv("XIR_EXEC_PATH")) snprintf(before, sizeof before, "%s", getenv("XIR_EXEC_PATH"));
    size_t n = 0;
    for (; path_named(n); n++) {
        setenv("XIR_EXEC_PATH", path_named(n)->name, 1);
        assert_ptr_equal(element_loops_now(), path_named(n));
    }
    setenv("XIR_EXEC_PATH", "none", 1);
    assert_ptr_equal(element_loops_now(), path_named(n - 1));
    unsetenv("XIR_EXEC_PATH");
    assert_ptr_equal(element_loops_now(), path_named(n - 1));
    assert_string_equal(path_named(0)->name, "plain");
    if (before[0]) setenv("XIR_EXEC_PATH", before, 1);
}

/* In any order, with places that stand for 0; with scales along an axis. */
static void elements_at_places(void **state) {
    (void)state;
    const double scale[] = { 0.5, 2, 0.125 };
    const int64_t dims[] = { 40, 3, 7 }, zeros[] = { 1, -2, 3 }, count = 840;
    for (size_t t = 0; t < COUNT(types) + 3; t++) {
        const char *const more[] = { "@sint(4)", "@uint(3)", "@sint(24)" };
        form_error e = { 0 };
        const char *text = t < COUNT(types) ? types[t] : more[t - COUNT(types)];
        const xir_object *of = form_parse(&ctx->pool, xir_str_of(text), &e);
        for (int quantised = 0; quantised < 2; quantised++) {
            const xir_type *element = (const xir_type *)of;
            if (quantised && xir_type_kind_of(element) == XIR_TYPE_BOOL) continue;
            if (quantised)
                element = xir_type_quantized(ctx, xir_scales_from(ctx, scale, 3, 1), zeros, 3, element, NULL);
            const xir_type *type = element ? xir_type_tensor(ctx, element, NULL, dims, 3) : NULL;
            if (!type) continue;
            tensor_elements elements;
            DOES(elements_open(&elements, &ctx->alloc, type, why));
            for (size_t i = 0; i < sizeof stored; i++) stored[i] = (uint8_t)chance(256);
            static int64_t places[1000];
            const int64_t base = (int64_t)chance(100);
            for (size_t i = 0; i < 1000; i++) places[i] = chance(9) ? (int64_t)chance((uint64_t)(count - base)) : -1;
            elements_read_reals_at(&elements, stored, base, places, 1000, found);
            elements_read_i64s_at(&elements, stored, base, places, 1000, found_whole);
            for (size_t i = 0; i < 1000; i++) {
                reals[i] = 0;
                whole[i] = 0;
                if (places[i] < 0) continue;
                elements_read_reals(&elements, stored, (size_t)(base + places[i]), 1, &reals[i]);
                elements_read_i64s(&elements, stored, (size_t)(base + places[i]), 1, &whole[i]);
            }
            assert_memory_equal(found, reals, 8000);
            assert_memory_equal(found_whole, whole, 8000);
            elements_close(&elements);
        }
    }
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loops_are_those_of_one_element), cmocka_unit_test(all_narrow_floats),
        cmocka_unit_test(quantised_numbers), cmocka_unit_test(scaled_numbers),
        cmocka_unit_test(a_path_is_chosen_by_its_name),
        cmocka_unit_test(elements_at_places),
    };
    return RUN_GROUP(tests);
}
