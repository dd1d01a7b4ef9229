/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* .npy files: files written by NumPy are read, written files equal NumPy's byte for byte in the header, and everything
 * else is refused with a position. */
#include "support/net.h"
#include "support/scratch.h"

/* A file with this header, version 1, followed by these bytes. */
static xir_array *read_file(const char *header, const void *data, size_t size) {
    uint8_t file[512];
    size_t n = strlen(header);
    memcpy(file, "\x93NUMPY\x01\x00", 8);
    file[8] = (uint8_t)n;
    file[9] = (uint8_t)(n >> 8);
    memcpy(file + 10, header, n);
    if (size) memcpy(file + 10 + n, data, size);
    uint8_t *exact = malloc(10 + n + size);   // so that reads past the end are detected
    assert_non_null(exact);
    memcpy(exact, file, 10 + n + size);
    xir_diags_clear(why);
    xir_array *array = xir_array_read_npy(ctx, exact, 10 + n + size, XIR_STR("a.npy"), why);
    free(exact);
    return array;
}

static void check(const xir_array *array, const char *type, const double *expected, size_t n) {
    assert_non_null(array);
    assert_string_equal(spelled(xir_type_element(xir_array_type(array))), type);
    assert_int_equal(xir_array_count(array), n);
    for (size_t i = 0; i < n; i++) assert_true(xir_array_real(array, i) == expected[i]);
}

static void numbers_of_each_type_are_read(void **state) {
    (void)state;
    static const struct { const char *descr, *type; const char *bytes; size_t size; double value; } rows[] = {
        { "<f4", "@fp(32)",  "\x00\x00\xc0\x3f",                 4, 1.5     },
        { ">f4", "@fp(32)",  "\x3f\xc0\x00\x00",                 4, 1.5     },
        { "<f8", "@fp(64)",  "\x00\x00\x00\x00\x00\x00\xf8\x3f", 8, 1.5     },
        { "<f2", "@fp(16)",  "\x00\x3e",                         2, 1.5     },
        { "|b1", "@bool",    "\x02",                             1, 1       },
        { "|i1", "@sint(8)", "\xff",                             1, -1      },
        { "<u1", "@uint(8)", "\xff",                             1, 255     },
        { "<i2", "@sint(16)", "\xfe\xff",                        2, -2      },
        { ">u2", "@uint(16)", "\x01\x02",                        2, 258     },
        { "=i4", "@sint(32)", "\x01\x00\x00\x00",                4, 1       },
        { "i8",  "@sint(64)", "\x03\x00\x00\x00\x00\x00\x00\x00", 8, 3      },
        { ">u8", "@uint(64)", "\x00\x00\x00\x00\x00\x00\x00\x05", 8, 5      },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char header[128];
        snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': (1,), }\n", rows[i].descr);
        xir_array *array = read_file(header, rows[i].bytes, rows[i].size);
        check(array, rows[i].type, &rows[i].value, 1);
        xir_array_free(array);
    }
}

static void columns_first_become_rows_first(void **state) {
    (void)state;
    static const int8_t data[] = { 1, 4, 2, 5, 3, 6 };
    xir_array *array = read_file("{'descr': '|i1', 'fortran_order': True, 'shape': (2, 3), }", data, 6);
    check(array, "@sint(8)", (const double[]){ 1, 2, 3, 4, 5, 6 }, 6);
    assert_int_equal(xir_type_rank(xir_array_type(array)), 2);
    assert_int_equal(xir_type_dim(xir_array_type(array), 1, false), 3);
    CHECK_SPELLED(xir_type_layout(xir_array_type(array)), "@layout(**)");
    xir_array_free(array);
}

static void spellings_of_headers(void **state) {
    (void)state;
    static const char *const good[] = {
        "{\"shape\":(2,1),\"descr\":\"<i1\",\"fortran_order\":False}",
        "  { 'fortran_order' : True , 'shape' : ( 2L , ) , 'descr' : '|i1' , }  \n",
        "{'descr': '|i1', 'fortran_order': False, 'shape': (1, 1, 2)}",
    };
    for (size_t i = 0; i < COUNT(good); i++) {
        xir_array *array = read_file(good[i], "\x05\x06", 2);
        check(array, "@sint(8)", (const double[]){ 5, 6 }, 2);
        xir_array_free(array);
    }
    xir_array *scalar = read_file("{'descr': '<f4', 'fortran_order': False, 'shape': ()}", "\x00\x00\x80\x3f", 4);
    check(scalar, "@fp(32)", (const double[]){ 1 }, 1);
    assert_int_equal(xir_type_rank(xir_array_type(scalar)), 0);
    xir_array_free(scalar);
    xir_array *none = read_file(
        "{'descr': '<f4', 'fortran_order': False, 'shape': (0, 9223372036854775807, 9223372036854775807)}", "", 0);
    check(none, "@fp(32)", NULL, 0);
    xir_array_free(none);
}

static void headers_that_are_refused(void **state) {
    (void)state;
    static const struct { const char *header; size_t bytes; xir_status code; const char *part; } rows[] = {
        { "{'descr': '|O', 'fortran_order': False, 'shape': (1,)}",          8, XIR_E_UNSUPPORTED, "pickle" },
        { "{'descr': '<c8', 'fortran_order': False, 'shape': (1,)}",         8, XIR_E_UNSUPPORTED, "'<c8'" },
        { "{'descr': '<f1', 'fortran_order': False, 'shape': (1,)}",         1, XIR_E_UNSUPPORTED, "'<f1'" },
        { "{'descr': '<b2', 'fortran_order': False, 'shape': (1,)}",         2, XIR_E_UNSUPPORTED, "'<b2'" },
        { "{'descr': '|f4', 'fortran_order': False, 'shape': (1,)}",         4, XIR_E_UNSUPPORTED, "'|f4'" },
        { "{'descr': '', 'fortran_order': False, 'shape': (1,)}",            4, XIR_E_UNSUPPORTED, "''" },
        { "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", 4, XIR_E_UNSUPPORTED, "records" },
        { "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}",         4, XIR_E_CORRUPT,     "expected 8 bytes of elements, found 4" },
        { "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}",         5, XIR_E_CORRUPT,     "expected 4 bytes of elements, found 5" },
        { "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296)}", 0, XIR_E_LIMIT, "2^64" },
        { "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}", 0, XIR_E_LIMIT, "64 bits" },
        { "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",        4, XIR_E_SYNTAX,      "expected a dim" },
        { "{'descr': '<f4', 'fortran_order': False, 'shape': (1 2)}",        4, XIR_E_SYNTAX,      "expected ')'" },
        { "{'descr': '<f4', 'fortran_order': False, 'shape': 1}",            4, XIR_E_SYNTAX,      "expected '('" },
        { "{'descr': '<f4', 'fortran_order': false, 'shape': (1,)}",         4, XIR_E_SYNTAX,      "True or False" },
        { "{'descr': '<f4', 'shape': (1,)}",                                 4, XIR_E_SYNTAX,      "lacks" },
        { "{'descr': '<f4', 'descr': '<f4', 'shape': (1,)}",                 4, XIR_E_SYNTAX,      "duplicate" },
        { "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'x': 1}", 4, XIR_E_SYNTAX,      "unknown" },
        { "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} 1",       4, XIR_E_SYNTAX,      "text after" },
        { "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)",          4, XIR_E_SYNTAX,      "expected '}'" },
        { "{'descr': '<f\\4', 'fortran_order': False, 'shape': (1,)}",       4, XIR_E_SYNTAX,      "escape" },
        { "{'descr': '<f4",                                                  0, XIR_E_SYNTAX,      "unterminated" },
        { "",                                                                0, XIR_E_SYNTAX,      "expected '{'" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        static const char zeros[16];
        if (read_file(rows[i].header, zeros, rows[i].bytes)) fail_msg("%s: is read", rows[i].header);
        check_finding(rows[i].code, rows[i].part);
    }
    char deep[400] = "{'descr': '<f4', 'fortran_order': False, 'shape': (";
    for (int i = 0; i < 65; i++) strcat(deep, "1,");
    strcat(deep, ")}");
    assert_null(read_file(deep, "\0\0\0\0", 4));
    check_finding(XIR_E_LIMIT, "more than 64 dims");
}

static void beginnings_of_files_are_refused(void **state) {
    (void)state;
    static const char whole[] =
        "\x93NUMPY\x01\x00\x3b\x00{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1), "
        "}\x00\x00\x80\x3f\x00\x00\x00\x40";
    size_t size = sizeof whole - 1;
    xir_array *array = xir_array_read_npy(ctx, whole, size, XIR_STR(""), why);
    check(array, "@fp(32)", (const double[]){ 1, 2 }, 2);
    xir_array_free(array);
    for (size_t n = 0; n < size; n++) {
        char *part = malloc(n + 1);
        assert_non_null(part);
        memcpy(part, whole, n);
        part = realloc(part, n ? n : 1);
        assert_null(xir_array_read_npy(ctx, part, n, XIR_STR(""), why));
        free(part);
        assert_true(xir_diags_count(why) > 0);
        xir_diags_clear(why);
    }
    static const char versions[] = { 0, 4, (char)255 };
    for (size_t i = 0; i < sizeof versions; i++) {
        char other[sizeof whole];
        memcpy(other, whole, sizeof whole);
        other[6] = versions[i];
        assert_null(xir_array_read_npy(ctx, other, size, XIR_STR(""), why));
        check_finding(XIR_E_UNSUPPORTED, "version");
    }
}

static void lengths_of_four_bytes(void **state) {
    (void)state;
    static const char whole[] =
        "\x93NUMPY\x02\x00\x39\x00\x00\x00{'descr': '|i1', 'fortran_order': False, 'shape': (1,)}  \x07";
    for (int version = 2; version <= 3; version++) {
        char copy[sizeof whole];
        memcpy(copy, whole, sizeof whole);
        copy[6] = (char)version;
        xir_array *array = xir_array_read_npy(ctx, copy, sizeof whole - 1, XIR_STR(""), why);
        check(array, "@sint(8)", (const double[]){ 7 }, 1);
        xir_array_free(array);
    }
    char longer[sizeof whole];
    memcpy(longer, whole, sizeof whole);
    longer[11] = (char)255;
    assert_null(xir_array_read_npy(ctx, longer, sizeof whole - 1, XIR_STR(""), why));
    check_finding(XIR_E_SYNTAX, "the header has");
}

static void check_written(const xir_type *type, const void *data, size_t size, const char *header, const void *bytes,
                          size_t n_bytes) {
    const char *path = scratch("out.npy");
    xir_array *array = xir_array_copy(ctx, type, data, size, why);
    assert_non_null(array);
    DOES(xir_array_save_npy(array, path, why));
    xir_array_free(array);
    size_t found;
    char *file = (char *)scratch_get(path, &found);
    assert_non_null(file);
    assert_int_equal(found, 128 + n_bytes);
    assert_memory_equal(file, "\x93NUMPY\x01\x00\x76\x00", 10);
    char expected[119];
    snprintf(expected, sizeof expected, "%-117s\n", header);
    assert_memory_equal(file + 10, expected, 118);
    assert_memory_equal(file + 128, bytes, n_bytes);
    free(file);
}

static void what_is_written_is_what_numpy_writes(void **state) {
    (void)state;
    const float reals[] = { 1, -2 };
    check_written(FP32("NC", 1, 2), reals, 8, "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }", reals, 8);
    check_written(FP32("*", 2), reals, 8, "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", reals, 8);
    check_written(xir_type_tensor(ctx, xir_type_float(ctx, XIR_FLOAT_FP32), NULL, NULL, 0), reals, 4,
                  "{'descr': '<f4', 'fortran_order': False, 'shape': (), }", reals, 4);
    check_written(XIR_TENSOR(ctx, xir_type_bool(ctx), "*", 2), "\x01\x00", 2,
                  "{'descr': '|b1', 'fortran_order': False, 'shape': (2,), }", "\x01\x00", 2);
    check_written(XIR_TENSOR(ctx, xir_type_sint(ctx, 64), "*", 1), "\x01\x00\x00\x00\x00\x00\x00\x00", 8,
                  "{'descr': '<i8', 'fortran_order': False, 'shape': (1,), }", "\x01\x00\x00\x00\x00\x00\x00\x00", 8);
    /* types that NumPy lacks */
    check_written(XIR_TENSOR(ctx, xir_type_float(ctx, XIR_FLOAT_BF16), "*", 2), "\x80\x3f\x00\xc0", 4,
                  "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", reals, 8);
    check_written(XIR_TENSOR(ctx, xir_type_sint(ctx, 4), "*", 2), "\xe1", 1,
                  "{'descr': '|i1', 'fortran_order': False, 'shape': (2,), }", "\x01\xfe", 2);
    const xir_scales *half = xir_scales_from(ctx, (const double[]){ 0.5 }, 1, -1);
    const xir_type *quantised = xir_type_quantized(ctx, half, NULL, 0, xir_type_sint(ctx, 8), NULL);
    check_written(XIR_TENSOR(ctx, quantised, "*", 2), "\x02\xfc", 2,
                  "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", reals, 8);
}

static void a_failing_write_leaves_the_old_file(void **state) {
    (void)state;
    xir_array *array = xir_array_new(ctx, FP32("*", 3), why);
    const char *path = scratch("there/is/no/such.npy");
    assert_int_equal(xir_array_save_npy(array, path, why), XIR_E_IO);
    check_finding(XIR_E_IO, "");
    xir_array_free(array);
    assert_null(xir_array_load_npy(ctx, path, why));
    check_finding(XIR_E_IO, "");
}

static void what_is_saved_is_loaded(void **state) {
    (void)state;
    const xir_type *types[] = {
        FP32("NHWC", 2, 3, 4, 5), XIR_TENSOR(ctx, xir_type_sint(ctx, 32), "**", 7, 9), XIR_TENSOR(ctx, xir_type_bool(ctx), "*", 3),
        XIR_TENSOR(ctx, xir_type_float(ctx, XIR_FLOAT_FP16), "*", 600), XIR_TENSOR(ctx, xir_type_uint(ctx, 8), "**", 0, 4),
    };
    for (size_t i = 0; i < COUNT(types); i++) {
        xir_difference d;
        xir_array *a = xir_array_random(ctx, types[i], 7, why);
        DOES(xir_array_save_npy(a, scratch("round.npy"), why));
        xir_array *b = xir_array_load_npy(ctx, scratch("round.npy"), why);
        assert_non_null(b);
        DOES(xir_array_compare(a, b, 0, 0, &d));
        assert_true(d.same_shape && d.count == 0);
        assert_true(xir_type_equal(xir_type_element(xir_array_type(a)), xir_type_element(xir_array_type(b))));
        xir_array_free(a);
        xir_array_free(b);
    }
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_of_each_type_are_read),       cmocka_unit_test(columns_first_become_rows_first),
        cmocka_unit_test(spellings_of_headers),                cmocka_unit_test(headers_that_are_refused),
        cmocka_unit_test(beginnings_of_files_are_refused),     cmocka_unit_test(lengths_of_four_bytes),
        cmocka_unit_test(what_is_written_is_what_numpy_writes), cmocka_unit_test(a_failing_write_leaves_the_old_file),
        cmocka_unit_test(what_is_saved_is_loaded),
    };
    scratch_make();
    return RUN_GROUP(tests);
}
