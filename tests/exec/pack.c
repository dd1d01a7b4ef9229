/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Packing: elements come to the places that a slow second implementation computes from the letters, for elements of any
 * width, and come back; what cannot be packed is refused. */
#include <stdio.h>
#include <xir/exec.h>
#include "support/net.h"

/* The stored bits of an element, up to 64 of them. */
static uint64_t bits_of(const xir_array *a, size_t i) {
    const uint64_t bits = xir_type_storage_bits(xir_array_type(a));
    size_t size;
    const uint8_t *bytes = xir_array_data(a, &size);
    uint64_t v = 0;
    for (uint64_t b = 0; b < bits && b < 64; b++)
        v |= (uint64_t)(bytes[(i * bits + b) / 8] >> ((i * bits + b) % 8) & 1) << b;
    return v;
}

/* The row-major number of a place. */
static size_t number_of(const xir_type *type, const int64_t *place) {
    size_t n = 0;
    for (size_t k = 0; k < xir_type_rank(type); k++)
        n = n * (size_t)xir_type_dim(type, (int64_t)k, false) + (size_t)place[k];
    return n;
}

static bool next_place(const xir_type *type, int64_t *place) {
    for (size_t k = xir_type_rank(type); k-- > 0;) {
        if (++place[k] < xir_type_dim(type, (int64_t)k, false)) return true;
        place[k] = 0;
    }
    return false;
}

/* An array whose stored bits are random. */
static xir_array *random_bits(const xir_type *type) {
    xir_array *a = xir_array_new(ctx, type, why);
    size_t size;
    assert_non_null(a);
    xir_array_data(a, &size);
    uint8_t *bytes = xir_array_edit(a);
    for (size_t i = 0; i < size; i++) bytes[i] = (uint8_t)chance(256);
    return a;
}

static const xir_type *scaled(const char *scales) {
    char text[300];
    snprintf(text, sizeof text, "{\"_type_key\":\"icraft::xir::QuantizedType\",\"scale\":\"%s\",\"storage_dtype\":\"@sint(8)\","
             "\"expressed_dtype\":\"@fp(32)\",\"zero_points\":[]}", scales);
    const xir_object *o = xir_object_read(ctx, text, strlen(text), "json", why);
    if (!o) xir_diags_print(why, stderr);
    assert_non_null(o);
    return (const xir_type *)o;
}

static const xir_type *elements_at(int i) {
    switch (i) {
    case 0: return xir_type_sint(ctx, 4);
    case 1: return xir_type_uint(ctx, 1);
    case 2: return xir_type_uint(ctx, 12);
    case 3: return xir_type_sint(ctx, 8);
    case 4: return xir_type_float(ctx, XIR_FLOAT_FP16);
    case 5: return xir_type_float(ctx, XIR_FLOAT_FP32);
    case 6: return xir_type_sint(ctx, 64);
    case 7: return xir_type_sint(ctx, 24);
    case 8: return scaled("@scales([axis=-1]0.5)");
    default: return xir_type_bool(ctx);
    }
}

/* The place in the plain array of a place in tiles; false: it is filling. `usual` has units after their letters. */
static bool plain_place(const char *axes, const char *usual, const xir_type *plain, const int64_t *tiled,
                        int64_t *out) {
    for (size_t k = 0; axes[k]; k++) {
        int64_t at = 0;
        size_t axis = 0;
        for (const char *p = usual; *p; axis++) {
            const char c = *p++;
            char *end = NULL;
            const int64_t unit = strtoll(p, &end, 10);
            if ((c | 0x20) == (axes[k] | 0x20)) at = at * (end == p ? 1 : unit) + tiled[axis];
            p = end;
        }
        out[k] = at;
        if (at >= xir_type_dim(plain, (int64_t)k, false)) return false;
    }
    return true;
}

static const struct { const char *axes, *to, *usual; } layouts[] = {
    { "NCHW", "NCHWc4",    "NCHWc4"    },
    { "NHWC", "NCHWc32",   "NCHWc32"   },
    { "HWIO", "OIHW16o",   "OIHWo16"   },
    { "OIHW", "OIHW4i16o", "OIHWi4o16" },
    { "OIHW", "OHWI16o4i", "OHWIo16i4" },
    { "OIHW", "OIHWi2o3i2", "OIHWi2o3i2" },
    { "NC",   "CN",        "CN"        },
    { "C",    "Cc3",       "Cc3"       },
    { "LC",   "CLl2c5",    "CLl2c5"    },
};

static void tiles_are_where_the_letters_say(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(layouts); i++)
        for (int e = 0; e < 10; e++) {
            int64_t dims[8], place[8] = { 0 }, at[8];
            const size_t rank = strlen(layouts[i].axes);
            for (size_t k = 0; k < rank; k++) dims[k] = (int64_t)(1 + chance(7));
            const xir_layout *layout = xir_layout_parse(ctx, xir_str_of(layouts[i].axes), why);
            const xir_type *type = xir_type_tensor(ctx, elements_at(e), layout, dims, rank);
            xir_array *a = random_bits(type);
            xir_array *t = xir_array_tile(a, XIR_STR(""), xir_str_of(layouts[i].to), why);
            if (!t) xir_diags_print(why, stderr);
            assert_non_null(t);
            const xir_type *tiled = xir_array_type(t);
            CHECK_STR(xir_layout_text(xir_type_layout(tiled)), layouts[i].usual);
            assert_true(xir_type_equal(xir_type_element(tiled), xir_type_element(type)));
            if (xir_array_count(t))
                do {
                    const bool inside = plain_place(layouts[i].axes, layouts[i].usual, type, place, at);
                    assert_int_equal(bits_of(t, number_of(tiled, place)), inside ? bits_of(a, number_of(type, at)) : 0);
                } while (next_place(tiled, place));
            xir_array *back = xir_array_untile(t, XIR_STR(""), xir_str_of(layouts[i].axes), dims, rank, why);
            assert_non_null(back);
            assert_true(xir_type_equal(xir_array_type(back), type));
            for (size_t k = 0; k < xir_array_count(a); k++) assert_int_equal(bits_of(back, k), bits_of(a, k));
            xir_array_free(a);
            xir_array_free(t);
            xir_array_free(back);
        }
}

static void axes_are_permuted_and_padded(void **state) {
    (void)state;
    for (int e = 0; e < 10; e++) {
        const xir_type *type = xir_type_tensor(ctx, elements_at(e), xir_layout_parse(ctx, XIR_STR("NHWC"), why),
                                               (const int64_t[]){ 2, 3, 4, 5 }, 4);
        xir_array *a = random_bits(type);
        const int64_t order[] = { 3, 0, -2, 1 }, before[] = { 1, -1, 0, 2 }, after[] = { 0, 2, -3, 0 };
        xir_array *p = xir_array_permute(a, order, 4, why), *q = xir_array_pad(a, before, after, 4, 0, why);
        assert_non_null(p);
        assert_non_null(q);
        CHECK_STR(xir_layout_text(xir_type_layout(xir_array_type(p))), "CNWH");
        int64_t place[4] = { 0 };
        do {
            const int64_t at[] = { place[1], place[3], place[2], place[0] };
            assert_int_equal(bits_of(p, number_of(xir_array_type(p), place)), bits_of(a, number_of(type, at)));
        } while (next_place(xir_array_type(p), place));
        assert_int_equal(xir_array_count(q), 3 * 4 * 1 * 7);
        memset(place, 0, sizeof place);
        do {
            int64_t at[4];
            bool inside = true;
            for (int k = 0; k < 4; k++) {
                at[k] = place[k] - before[k];
                inside &= at[k] >= 0 && at[k] < xir_type_dim(type, k, false);
            }
            const uint64_t expected = inside ? bits_of(a, number_of(type, at)) : 0;
            assert_int_equal(bits_of(q, number_of(xir_array_type(q), place)), expected);
        } while (next_place(xir_array_type(q), place));
        xir_array_free(a);
        xir_array_free(p);
        xir_array_free(q);
    }
    xir_array *one = xir_array_filled(ctx, FP32("NC", 1, 1), 3, why);
    xir_array *more = xir_array_pad(one, (const int64_t[]){ 0, 1 }, (const int64_t[]){ 0, 1 }, 2, -2.5, why);
    assert_non_null(more);
    assert_true(xir_array_real(more, 0) == -2.5 && xir_array_real(more, 1) == 3 && xir_array_real(more, 2) == -2.5);
    xir_array_free(one);
    xir_array_free(more);
}

/* Scales follow their axis, or the stored integers remain. */
static void scales_follow_their_axis(void **state) {
    (void)state;
    const xir_type *type = xir_type_tensor(ctx, scaled("@scales([axis=0]0.5,0.25,2)"),
                                           xir_layout_parse(ctx, XIR_STR("OI"), why), (const int64_t[]){ 3, 4 }, 2);
    xir_array *a = random_bits(type);
    xir_array *p = xir_array_permute(a, (const int64_t[]){ 1, 0 }, 2, why);
    assert_non_null(p);
    for (size_t o = 0; o < 3; o++)
        for (size_t i = 0; i < 4; i++) assert_true(xir_array_real(p, i * 3 + o) == xir_array_real(a, o * 4 + i));
    xir_array *t = xir_array_tile(a, XIR_STR(""), XIR_STR("IOi2"), why);
    xir_array *u = xir_array_tile(a, XIR_STR(""), XIR_STR("OIo2"), why);
    assert_non_null(t);
    assert_non_null(u);
    assert_true(xir_type_is_quantized(xir_type_element(xir_array_type(t))));
    assert_true(xir_array_real(t, 1 * 3 * 2 + 2 * 2 + 1) == xir_array_real(a, 2 * 4 + 3));
    assert_true(xir_type_equal(xir_type_element(xir_array_type(u)), xir_type_sint(ctx, 8)));
    xir_array_free(a);
    xir_array_free(p);
    xir_array_free(t);
    xir_array_free(u);
}

static void elements_are_cast(void **state) {
    (void)state;
    const xir_type *type = FP32("NCc2", 1, 2, 2);
    xir_array *a = xir_array_new(ctx, type, why);
    const float numbers[] = { 1.75f, -1.75f, 300, 0.1f };
    memcpy(xir_array_edit(a), numbers, sizeof numbers);
    xir_array *i = xir_array_cast(a, xir_type_sint(ctx, 8), why);
    xir_array *h = xir_array_cast(a, xir_type_float(ctx, XIR_FLOAT_FP16), why);
    xir_array *q = xir_array_cast(a, scaled("@scales([axis=-1]0.5)"), why);
    if (!i || !h || !q) xir_diags_print(why, stderr);
    assert_non_null(i);
    assert_non_null(h);
    assert_non_null(q);
    const double expected[] = { 1, -1, 127, 0 };
    for (size_t k = 0; k < 4; k++) assert_true(xir_array_real(i, k) == expected[k]);
    CHECK_STR(xir_layout_text(xir_type_layout(xir_array_type(h))), "NCc2");
    assert_true(xir_array_real(h, 3) != xir_array_real(a, 3) && xir_array_real(h, 0) == 1.75);
    assert_true(xir_array_real(q, 0) == 2 && xir_array_real(q, 2) == 63.5);
    xir_array_free(a);
    xir_array_free(i);
    xir_array_free(h);
    xir_array_free(q);
}

static void what_cannot_be_packed_is_refused(void **state) {
    (void)state;
    static const struct { const char *from, *to; xir_status status; const char *part; } bad[] = {
        { "",     "NCHWc0",    XIR_E_BOUNDS,  "layout"                        },
        { "",     "NCHWx4",    XIR_E_SYNTAX,  "layout"                        },
        { "",     "NCHW4",     XIR_E_SYNTAX,  "layout"                        },
        { "",     "NCHW4c4",   XIR_E_SYNTAX,  "layout"                        },
        { "",     "NCHc4",     XIR_E_INVALID, "lacks the axis W"              },
        { "",     "NCHWW",     XIR_E_INVALID, "the axis W twice"              },
        { "",     "NCHWO",     XIR_E_INVALID, "has the axis O"                },
        { "",     "NHWc4",     XIR_E_INVALID, "a unit of c before the axis"   },
        { "",     "Nc4CHW",    XIR_E_INVALID, "a unit of c before the axis"   },
        { "",     "NCHW*",     XIR_E_INVALID, "has the axis *"                },
        { "NHW",  "NCHW",      XIR_E_BOUNDS,  "has 3 axes, expected 4"        },
        { "NHWH", "NCHW",      XIR_E_INVALID, "a letter of its own"           },
        { "NHWc4", "NCHW",     XIR_E_INVALID, "a letter of its own"           },
        { "",     "NCHWc4611686018427387904c4", XIR_E_LIMIT, "exceed 64 bits" },
        { "",     "NCHWc4611686018427387904",   XIR_E_LIMIT, ""               },
    };
    xir_array *a = xir_array_new(ctx, FP32("NHWC", 1, 2, 2, 4), why);
    for (size_t i = 0; i < COUNT(bad); i++) {
        xir_diags_clear(why);
        if (xir_array_tile(a, xir_str_of(bad[i].from), xir_str_of(bad[i].to), why)) fail_msg("%s is packed", bad[i].to);
        check_finding(bad[i].status, bad[i].part);
    }
    const int64_t twice[] = { 0, 0, 1, 2 }, far[] = { 0, 1, 2, 4 }, zeros[4] = { 0 }, less[] = { 0, -3, 0, 0 };
    const int64_t most[] = { INT64_MAX, 0, 0, 0 };
    assert_null(xir_array_permute(a, twice, 4, why));
    check_finding(XIR_E_BOUNDS, "listed twice");
    assert_null(xir_array_permute(a, far, 4, why));
    check_finding(XIR_E_BOUNDS, "out of range");
    assert_null(xir_array_permute(a, far, 3, why));
    check_finding(XIR_E_BOUNDS, "expected 4 axes");
    assert_null(xir_array_permute(NULL, far, 4, why));
    check_finding(XIR_E_MISSING, "");
    assert_null(xir_array_pad(a, less, zeros, 4, 0, why));
    check_finding(XIR_E_BOUNDS, "leaves no dim");
    assert_null(xir_array_pad(a, most, most, 4, 0, why));
    check_finding(XIR_E_BOUNDS, "leaves no dim");
    assert_null(xir_array_pad(a, most, zeros, 4, 0, why));
    check_finding(XIR_E_BOUNDS, "leaves no dim");
    assert_null(xir_array_pad(a, zeros, zeros, 3, 0, why));
    check_finding(XIR_E_BOUNDS, "4 axes");
    xir_array *t = xir_array_tile(a, XIR_STR(""), XIR_STR("NCHWc3"), why);
    assert_non_null(t);
    assert_null(xir_array_untile(t, XIR_STR(""), XIR_STR("NHWC"), (const int64_t[]){ 1, 2, 2, 7 }, 4, why));
    check_finding(XIR_E_BOUNDS, "the tiles have 6");
    assert_null(xir_array_untile(t, XIR_STR("NCHWc4"), XIR_STR("NHWC"), NULL, 0, why));
    check_finding(XIR_E_BOUNDS, "the unit is 4");
    assert_null(xir_array_untile(t, XIR_STR("NCHW"), XIR_STR("NHWC"), NULL, 0, why));
    check_finding(XIR_E_BOUNDS, "axes");
    assert_null(xir_array_cast(a, NULL, why));
    check_finding(XIR_E_MISSING, "an element type");
    assert_null(xir_array_cast(a, xir_array_type(a), why));
    check_finding(XIR_E_TYPE, "elements");
    xir_array *same = xir_array_cast(a, xir_type_element(xir_array_type(a)), why);
    assert_ptr_equal(same, a);
    xir_array_free(same);
    xir_array *all = xir_array_untile(t, XIR_STR(""), XIR_STR("NHWC"), NULL, 0, why);
    assert_non_null(all);
    assert_int_equal(xir_array_count(all), 1 * 2 * 2 * 6);
    xir_array_free(a);
    xir_array_free(t);
    xir_array_free(all);
}

/* Arrays without elements, and of no axis. */
static void nothing_is_packed(void **state) {
    (void)state;
    xir_array *a = xir_array_new(ctx, FP32("NC", 0, 5), why), *t = xir_array_tile(a, XIR_STR(""), XIR_STR("NCc4"), why);
    assert_non_null(t);
    assert_int_equal(xir_array_count(t), 0);
    xir_array *p = xir_array_pad(a, (const int64_t[]){ 1, 0 }, (const int64_t[]){ 0, 0 }, 2, 7, why);
    assert_non_null(p);
    assert_true(xir_array_count(p) == 5 && xir_array_real(p, 4) == 7);
    const xir_type *single = xir_type_tensor(ctx, xir_type_float(ctx, XIR_FLOAT_FP32), NULL, NULL, 0);
    xir_array *one = xir_array_filled(ctx, single, 2, why);
    assert_non_null(one);
    xir_array *same = xir_array_permute(one, NULL, 0, why);
    assert_non_null(same);
    assert_true(xir_array_real(same, 0) == 2);
    xir_array_free(a);
    xir_array_free(t);
    xir_array_free(p);
    xir_array_free(one);
    xir_array_free(same);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiles_are_where_the_letters_say),
        cmocka_unit_test(axes_are_permuted_and_padded),
        cmocka_unit_test(scales_follow_their_axis),
        cmocka_unit_test(elements_are_cast),
        cmocka_unit_test(what_cannot_be_packed_is_refused),
        cmocka_unit_test(nothing_is_packed),
    };
    return RUN_GROUP(tests);
}
