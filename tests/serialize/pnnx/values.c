/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Values of PNNX: what a text is, and how it is printed again. The expectations are those of PNNX's own code, except
 * where that gives up. */
#include "support/net.h"
#include <float.h>
#include <locale.h>
#include <math.h>

typedef struct row { const char *text, *kind, *again; } row;

static const row table[] = {
    { "None",  "none", "None" }, { "()", "none", "None" }, { "[]", "none", "None" },
    { "True",  "bool", "True" }, { "False", "bool", "False" }, { "true", "string", "true" }, { "none", "string", "none" },
    { "0", "int", "0" }, { "-1", "int", "-1" }, { "007", "int", "7" }, { "-0", "int", "0" }, { "+1", "string", "+1" },
    { "2147483647", "int", "2147483647" }, { "-2147483648", "int", "-2147483648" },
    { ".5", "string", ".5" }, { "1.", "float", "1.0" }, { "-.5", "string", "-.5" }, { "-0.0", "float", "0.0" },
    { "1e5", "float", "100000.0" }, { "1E5", "int", "1" }, { "1.5E3", "float", "1500.0" }, { "1.e2", "float", "100.0" },
    { "1e-5", "float", "1.000000e-5" }, { "1.000000e-05", "float", "1.000000e-5" }, { "2.000000e+00", "float", "2.0" },
    { "0.1", "float", "0.1" }, { "0.333333343", "float", "0.333333343" }, { "123456.789", "float", "123456.789" },
    { "999999.9", "float", "999999.875" }, { "1e6", "float", "1.000000e6" }, { "16777216.0", "float", "1.67772160e7" },
    { "0.00009", "float", "9.000000e-5" }, { "0.0001", "float", "0.0001" }, { "00.25", "float", "0.25" },
    { "1e-45", "float", "1.401298e-45" }, { "3.4028235e38", "float", "3.40282347e38" }, { "1e-99", "float", "0.0" },
    { "0x10", "int", "0" }, { "0xe", "float", "14.0" }, { "0x1.8p3", "float", "12.0" }, { "0x1.", "float", "1.0" },
    { "0x.ep1", "float", "1.75" }, { "0xg.", "float", "0.0" }, { "12abc", "int", "12" },
    { "1.0e-5x", "float", "1.000000e-5" },
    { "inf", "string", "inf" }, { "-inf", "string", "-inf" }, { "nan.0", "string", "nan.0" }, { "1.2e+00+3.0e+00j", "float", "1.2" },
    { "-", "string", "-" }, { "-x", "string", "-x" }, { "", "string", "" }, { "=5", "string", "=5" }, { "b=c", "string", "b=c" },
    { "(1)", "ints", "(1)" }, { "(1,2)", "ints", "(1,2)" }, { "[1,2]", "ints", "(1,2)" }, { "(1,2]", "ints", "(1,2)" },
    { "(1.0)", "floats", "(1.0)" }, { "(1e5,2e5)", "floats", "(100000.0,200000.0)" }, { "(a,b)", "strings", "(a,b)" },
    { "(1", "strings", "()" }, { "(1,2", "strings", "()" }, { "(", "strings", "()" }, { "(1,)", "strings", "()" },
    { "(,)", "strings", "(,)" }, { "(1,2.5,3)", "ints", "(1,3)" }, { "(2.5,1)", "ints", "(1)" }, { "(1,x,2)", "ints", "(1,2)" },
    { "(1.5,-)", "strings", "(-)" }, { "(inf,1.0)", "floats", "(1.0)" }, { "((1,2),(3,4))", "ints", "(2,4)" },
    { "[[2,1],[0,1]]", "ints", "(1,1)" }, { "(None,1)", "ints", "(1)" }, { "(True,False)", "strings", "(True,False)" },
    { "[@0]", "strings", "(@0)" }, { "[1,2,4,size(@0,2),size(@0,3)]", "ints", "(1,2,4,2,3)" },
    { "add(@0,@1)", "string", "add(@0,@1)" }, { "%x", "string", "%x" }, { "(1,%x)", "string", "(1,%x)" }, { "5%", "string", "5%" },
    { "torch.float", "string", "torch.float" }, { "ij,jk->ik", "string", "ij,jk->ik" },
};

static const char *const kinds[] = { "none", "bool", "int", "float", "string", "ints", "floats", "strings" };
enum { ROOM = 8 };

static void texts_are_values(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(table); i++) {
        xir_pnnx_kind kind;
        xir_any items[ROOM];
        char out[64];
        size_t n, size;
        DOES(xir_pnnx_value_parse(xir_str_of(table[i].text), &kind, items, ROOM, &n, why));
        assert_in_range(n, 0, ROOM);
        DOES(xir_pnnx_value_print(kind, items, n, out, sizeof out, &size, why));
        if (strcmp(kinds[kind], table[i].kind) != 0 || strcmp(out, table[i].again) != 0 || size != strlen(out))
            fail_msg("'%s' is %s '%s', expected %s '%s'", table[i].text, kinds[kind], out, table[i].kind,
                     table[i].again);
    }
}

static void numbers_that_do_not_fit(void **state) {
    static const char *const texts[] = {
        "2147483648", "-2147483649", "99999999999999999999", "1e39", "-1e39", "3.5e38", "0x1.p200", "(1,4294967296)",
        "(1e39,1)", "[@0,99999999999]",
    };
    (void)state;
    for (size_t i = 0; i < COUNT(texts); i++) {
        assert_int_equal(xir_pnnx_value_parse(xir_str_of(texts[i]), NULL, NULL, 0, NULL, why), XIR_E_BOUNDS);
        check_finding(XIR_E_BOUNDS, "does not fit into 32 bits");
    }
}

static void lists_longer_than_the_room(void **state) {
    xir_pnnx_kind kind;
    xir_any items[2];
    size_t n;
    (void)state;
    DOES(xir_pnnx_value_parse(XIR_STR("(5,6,7)"), &kind, items, 2, &n, why));
    assert_int_equal(n, 3);
    assert_int_equal(items[0].as.integer, 5);
    assert_int_equal(items[1].as.integer, 6);
}

static void texts_longer_than_the_room(void **state) {
    const xir_any items[] = { xir_any_int(100), xir_any_int(200) };
    char out[6] = "?????";
    size_t size;
    (void)state;
    DOES(xir_pnnx_value_print(XIR_PNNX_INTS, items, 2, out, sizeof out, &size, why));
    assert_string_equal(out, "(100,");
    assert_int_equal(size, strlen("(100,200)"));
    DOES(xir_pnnx_value_print(XIR_PNNX_INTS, items, 2, NULL, 0, &size, why));
    assert_int_equal(size, strlen("(100,200)"));
}

static void complex_numbers(void **state) {
    const xir_any items[] = { xir_any_real(1.2), xir_any_real(-3), xir_any_real(0), xir_any_real(1e-20) };
    char out[100];
    size_t size;
    (void)state;
    DOES(xir_pnnx_value_print(XIR_PNNX_COMPLEX, items, 2, out, sizeof out, &size, why));
    assert_string_equal(out, "1.200000e+00+-3.000000e+00j");
    DOES(xir_pnnx_value_print(XIR_PNNX_COMPLEXES, items, 4, out, sizeof out, &size, why));
    assert_string_equal(out, "(1.200000e+00+-3.000000e+00j,0.000000e+00+1.000000e-20j)");
}

static void values_that_are_refused(void **state) {
    const xir_any one = xir_any_int(1), wide = xir_any_int(INT64_C(1) << 31), text = xir_any_text(XIR_STR("x"));
    const xir_any large = xir_any_real(1e300);
    const struct { xir_pnnx_kind kind; const xir_any *items; size_t n; xir_status status; } rows[] = {
        { XIR_PNNX_INT, &wide, 1, XIR_E_BOUNDS },  { XIR_PNNX_INT, &text, 1, XIR_E_TYPE },
        { XIR_PNNX_INT, &one, 0, XIR_E_BOUNDS },   { XIR_PNNX_NONE, &one, 1, XIR_E_BOUNDS },
        { XIR_PNNX_BOOL, &one, 1, XIR_E_TYPE },    { XIR_PNNX_FLOATS, &one, 1, XIR_E_TYPE },
        { XIR_PNNX_STRING, &one, 1, XIR_E_TYPE },  { XIR_PNNX_COMPLEX, &one, 1, XIR_E_BOUNDS },
        { XIR_PNNX_FLOAT, &large, 1, XIR_E_BOUNDS },
        { (xir_pnnx_kind)9, &one, 1, XIR_E_BOUNDS }, { XIR_PNNX_INT, NULL, 1, XIR_E_MISSING },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        size_t size = 7;
        char out[20] = "?";
        assert_int_equal(xir_pnnx_value_print(rows[i].kind, rows[i].items, rows[i].n, out, sizeof out, &size, why),
                         rows[i].status);
        assert_int_equal(size, 0);
        assert_string_equal(out, "");
        xir_diags_clear(why);
    }
}

/* Every printed float reads back as itself, whatever the locale of the program is. */
static void floats_read_back(void **state) {
    (void)state;
    (void)setlocale(LC_NUMERIC, "de_DE.UTF-8");
    uint32_t bits = 12345;
    for (int i = 0; i < 200000; i++) {
        float v;
        bits = bits * 1664525 + 1013904223;
        memcpy(&v, &bits, sizeof v);
        const xir_any item = xir_any_real(v);
        xir_any again;
        xir_pnnx_kind kind;
        char out[40];
        size_t n;
        DOES(xir_pnnx_value_print(XIR_PNNX_FLOAT, &item, 1, out, sizeof out, &n, why));
        DOES(xir_pnnx_value_parse((xir_str){ out, n }, &kind, &again, 1, &n, why));
        if (!isfinite(v)) assert_int_equal(kind, XIR_PNNX_STRING);
        else if (kind != XIR_PNNX_FLOAT || again.as.real != (double)v)
            fail_msg("%.9g is printed as %s", (double)v, out);
    }
    (void)setlocale(LC_NUMERIC, "C");
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_values),        cmocka_unit_test(numbers_that_do_not_fit),
        cmocka_unit_test(lists_longer_than_the_room), cmocka_unit_test(texts_longer_than_the_room),
        cmocka_unit_test(complex_numbers),         cmocka_unit_test(values_that_are_refused),
        cmocka_unit_test(floats_read_back),
    };
    return cmocka_run_group_tests(tests, group_begin, group_end);
}
