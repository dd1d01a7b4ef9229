/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* COMPOSED rows that are refused, each with its place and a sentence. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "support/net.h"

typedef struct body {
    int64_t           count;
    double            slope;
    xir_i64s          axis;
    xir_value        *gamma;
    const xir_layout *order;
    bool              flag;
    int               word;
} body;

static const char *const words[] = { "ZEROS", "ONES" };
static const xir_enum word_enum = { "word", words, 2 };
static const xir_enum *word_members(void) { return &word_enum; }

#define ATTR(kind_, name_, ...) \
    { .decl = XIR_DECL_FIELD, .kind = XIR_KIND_##kind_, .name = #name_, .doc = "", .offset = offsetof(body, name_), __VA_ARGS__ }
#define ANY .min = { .i = INT64_MIN }, .max = { .i = INT64_MAX }

/* A class with the text; its rows are made again each time. */
static xir_status register_with(const char *text, double within) {
    const xir_row rows[] = {
        { .decl = XIR_DECL_OP, .name = "test::It", .doc = "", .offset = sizeof(body) },
        { .decl = XIR_DECL_IN,  .name = "x", .doc = "" },
        { .decl = XIR_DECL_OPT, .name = "r", .doc = "", .offset = 8 },
        ATTR(I64, count, ANY),
        ATTR(REAL, slope, .min = { .r = -INFINITY }, .max = { .r = INFINITY }),
        ATTR(I64S, axis, .flags = 0),
        ATTR(PARAMS, gamma, .flags = XIR_FIELD_OPTIONAL),
        ATTR(REF, order, .flags = XIR_FIELD_OPTIONAL, .of = xir_layout_class),
        ATTR(BOOL, flag, .flags = 0),
        ATTR(ENUM, word, .members = word_members),
        { .decl = XIR_DECL_OUT, .name = "y", .doc = "" },
        { .decl = XIR_DECL_COMPOSED, .doc = text, .default_value = { .r = within } },
        { .decl = XIR_DECL_END },
    };
    const xir_class_decl decl = { XIR_ABI, sizeof decl, sizeof(xir_row), rows };
    xir_context *own = xir_context_new(NULL);
    assert_non_null(own);
    xir_diags_clear(why);
    const xir_status status = xir_class_register(own, &decl, why);
    if (status) assert_null(xir_class_find(own, XIR_STR("test::It")));
    xir_context_free(own);
    return status;
}

#define USED "; %y = Add(%c, %r)?"   /* reads what is left */

static const struct { const char *text; xir_status status; const char *part; } bad[] = {
    { "",                                             XIR_E_SYNTAX,  "line 1, column 1: there is no part" },
    { " ; ;",                                         XIR_E_SYNTAX,  "column 2: expected '%', found ';'" },
    { "y = ReLU(%x)",                                 XIR_E_SYNTAX,  "line 1, column 1: expected '%', found 'y'" },
    { "%y ReLU(%x)",                                  XIR_E_SYNTAX,  "column 4: expected '=', found 'R'" },
    { "% = ReLU(%x)",                                 XIR_E_SYNTAX,  "expected the name of a result" },
    { "%y = (%x)",                                    XIR_E_SYNTAX,  "expected the class of a part, found '('" },
    { "%y = ReLU %x",                                 XIR_E_SYNTAX,  "expected '(', found '%'" },
    { "%y = ReLU(%x",                                 XIR_E_SYNTAX,  "expected ')', found the end of the text" },
    { "%y = ReLU(%x) %",                              XIR_E_SYNTAX,  "expected ';' or the end of the text, found '%'" },
    { "%y = ReLU(%x){alpha}",                         XIR_E_SYNTAX,  "expected '=', found '}'" },
    { "%y = ReLU(%x){alpha=}",                        XIR_E_SYNTAX,  "expected a number" },
    { "%y = ReLU(%x){alpha=1",                        XIR_E_SYNTAX,  "expected '}'" },
    { "%y = ReLU(%x){alpha=(1}",                      XIR_E_SYNTAX,  "expected ')'" },
    { "%y = Covn2d(%x)",                              XIR_E_UNKNOWN, "there is no class Covn2d" },
    { "%y = no::Class(%x)",                           XIR_E_UNKNOWN, "column 6: there is no class no::Class: a part is of a class "
                                                                     "that is registered before" },
    { "%y = test::It(%x)",                            XIR_E_INVALID, "the class is a part of itself" },
    { "%y = Input(%x)",                               XIR_E_INVALID, "icraft::xir::Input is not an operation that can be a part" },
    { "%y = HardOp(%x)",                              XIR_E_INVALID, "icraft::xir::HardOp is not an operation" },
    { "%y = xir::Call(%x)",                           XIR_E_INVALID, "has ops inside" },
    { "%y = Layout(%x)",                              XIR_E_INVALID, "icraft::xir::Layout is not an operation" },
    { "%z = ReLU(%x)",                                XIR_E_INVALID, "no part makes the output %y" },
    { "%y = ReLU(%z)",                                XIR_E_INVALID, "column 12: nothing before makes %z" },
    { "%y = ReLU(%y)",                                XIR_E_INVALID, "nothing before makes %y" },
    { "%a = ReLU(%b); %b = ReLU(%a); %y = ReLU(%a)",  XIR_E_INVALID, "nothing before makes %b" },
    { "%y = ReLU(%x); %y = ReLU(%x)",                 XIR_E_EXISTS,  "%y is made already" },
    { "%x = ReLU(%x)",                                XIR_E_EXISTS,  "%x is made already" },
    { "%c = ReLU(%x); %y = ReLU(%x)",                 XIR_E_INVALID, "nothing reads %r" },
    { "%c = ReLU(%x); %d = ReLU(%x)" USED,            XIR_E_INVALID, "column 17: nothing reads %d" },
    { "%y, %z = ReLU(%x)",                            XIR_E_INVALID, "ReLU gives 1 result, found names for 2" },
    { "%y = ReLU(%x, %x)",                            XIR_E_INVALID, "ReLU takes 1 inputs, found 2" },
    { "%y = Add(%x)",                                 XIR_E_INVALID, "Add needs its input 'rhs'" },
    { "%y = Add(%x, _)",                              XIR_E_INVALID, "Add needs its input 'rhs'" },
    { "%y = Add(%x, %r)",                             XIR_E_INVALID, "'r' may be absent, but icraft::xir::Add needs its input 'rhs': "
                                                                     "write ')?'" },
    { "%y = Add(%r, %x)?",                            XIR_E_INVALID, "'r' may be absent, but icraft::xir::Add needs its input 'lhs'" },
    { "%y = Add(%x, gamma)",                          XIR_E_INVALID, "'gamma' may be absent" },
    { "%y = Add(%x, %x)?",                            XIR_E_INVALID, "the part is never left out" },
    { "%y = Add(1, %r)?",                             XIR_E_INVALID, "a value as its first input" },
    { "%y = Add(1, 2)",                               XIR_E_INVALID, "a part with a number needs a value" },
    { "%c = ReLU(%x){beta=1}" USED,                   XIR_E_UNKNOWN, "icraft::xir::ReLU has no attribute 'beta'" },
    { "%c = ReLU(%x){alpha=slop}" USED,               XIR_E_UNKNOWN, "the class has no attribute 'slop': perhaps 'slope' is meant" },
    { "%c = ReLU(%x){alpha=1, alpha=2}" USED,         XIR_E_EXISTS,  "'alpha' is given twice" },
    { "%c = ReLU(%x){*}" USED,                        XIR_E_INVALID, "the class has no attribute of icraft::xir::ReLU" },
    { "%c = Softmax(%x){*}" USED,                     XIR_E_TYPE,    "attribute 'axis' is of kind list<int64>, but in "
                                                                     "icraft::xir::Softmax of kind int64" },
    { "%c = Softmax(%x){axis=slope}" USED,            XIR_E_TYPE,    "attribute 'axis' is of kind int64, found a real" },
    { "%c = Softmax(%x){axis=axis}" USED,             XIR_E_TYPE,    "attribute 'axis' is of kind list<int64>, but 'axis' of" },
    { "%c = Softmax(%x){axis=-2}" USED,               XIR_E_BOUNDS,  "the number is outside the bounds of 'axis'" },
    { "%c = Softmax(%x){axis=3/2}" USED,              XIR_E_BOUNDS,  "exceeds 64 bits, or divides by 0" },
    { "%c = Softmax(%x){axis=1/0}" USED,              XIR_E_BOUNDS,  "exceeds 64 bits, or divides by 0" },
    { "%c = Softmax(%x){axis=9223372036854775807+1}" USED, XIR_E_BOUNDS, "exceeds 64 bits" },
    { "%c = Softmax(%x){axis=18446744073709551615}" USED,  XIR_E_BOUNDS, "the number is too large" },
    { "%c = Mean(%x){dim=[1.5]}" USED,                XIR_E_TYPE,    "'dim' is of kind list<int64>, found a list of reals" },
    { "%c = Mean(%x){dim=1}" USED,                    XIR_E_TYPE,    "'dim' is of kind list<int64>, found an integer" },
    { "%c = Mean(%x){keepdim=\"yes\"}" USED,          XIR_E_TYPE,    "'keepdim' is of kind bool, found a text" },
    { "%c = Mean(%x){keepdim=null}" USED,             XIR_E_TYPE,    "'keepdim' cannot be null" },
    { "%c = Einsum(%x){equation=\"a->a}" USED,        XIR_E_SYNTAX,  "the text does not end" },
    { "%c = Reshape(%x){shape=[-1]}" USED,            XIR_E_MISSING, "icraft::xir::Reshape needs its attribute 'layout'" },
    { "%c = Reshape(%x){shape=[-1], layout=QQ}" USED, XIR_E_SYNTAX,  "'QQ' is neither an attribute nor a layout" },
    { "%c = Reshape(%x){shape=[-1], layout=@layout(Q)}" USED, XIR_E_SYNTAX, "COMPOSED, line 1, column" },
    { "%c = Reshape(%x){shape=[-1], layout=@fp(32)}" USED, XIR_E_TYPE, "'layout' is of kind ref, found an object of another kind" },
    { "%c = Reshape(%x){shape=[-1], layout=type(%x)}" USED, XIR_E_TYPE, "found a type" },
    { "%c = Reshape(%x){shape=[%x.Q], layout=N}" USED, XIR_E_SYNTAX, "expected the letter of an axis" },
    { "%c = Reshape(%x){shape=[%x[a]], layout=N}" USED, XIR_E_SYNTAX, "expected the index of a dim" },
    { "%c = Reshape(%x){shape=[%z[0]], layout=N}" USED, XIR_E_INVALID, "nothing before makes %z" },
    { "%c = Conv2d(%x, %x){padding_mode=word}" USED,  XIR_E_TYPE,    "attribute 'word' is of kind enum, but 'padding_mode'" },
    { "%c = Conv2d(%x, %x){padding_mode=TWOS}" USED,  XIR_E_UNKNOWN, "the class has no attribute 'TWOS'" },
    { "%c = Concat(%x, %r)" USED,                     XIR_E_INVALID, "'r' may be absent" },
};

static void rows_that_mean_nothing_are_refused(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++) {
        const xir_status status = register_with(bad[i].text, 0);
        const xir_diag *d = xir_diags_at(why, 0);
        if (status != bad[i].status || !d || !strstr(d->message.data, bad[i].part) ||
            strncmp(d->message.data, "class test::It: COMPOSED, line 1, column ", 41) != 0)
            fail_msg("%s: %s: %s", bad[i].text, xir_status_name(status), d ? d->message.data : "no finding");
    }
    xir_diags_clear(why);
}

/* Compositions that are right, in all their forms. */
static const char *const good[] = {
    "%y = Add(%x, %r)?",
    "\n  %c = ReLU(%x) { alpha = slope , max_value = 6 } ;\n  %y = Add(%c, %r)? {beta=-1} ; ",
    "%c = xir::Exp(%x); %d = Exp(%c); %e = icraft::xir::ReLU(%d); %y = Add(%e, %r)?",
    "%c = Multiply(%x, gamma)?" USED,
    "%c = Add(%x, 2 * (slope + 1) / count){alpha=slope, beta=[1.5]}" USED,
    "%c = Mean(%x){dim=axis, keepdim=flag}" USED,
    "%c = Mean(%x){dim=[]}" USED,
    "%c = Softmax(%x){axis=count}" USED,
    "%c = Hardsigmoid(%x){alpha=count}" USED,
    "%c = Max(%x){dim=count, keepdim=true}" USED,
    "%c = Max(%x){dim=null}" USED,
    "%c = Reshape(%x){shape=[%x[0], -1, %x.C - 1], layout=layout(%x)}" USED,
    "%c = Reshape(%x, _){shape=[-1], layout=@layout(N)}" USED,
    "%c = Reshape(%x){shape=[-1], layout=order}" USED,
    "%c = Cast(%x){target_dtype=type(%x)}" USED,
    "%c = xir::ConstantOfShape(%x){value=slope, element_dtype=element(%x)}" USED,
    "%c = Conv2d(%x, %x, %r){padding_mode=ZEROS, cut_scale=@scales([axis=-1]0.5)}; %y = ReLU(%c)",
    "%a, %b = Split(%x){sections=[1, 2]}; %c = Add(%a, %b)" USED,
    "%a, %b = Split(%x){sections=[1, 2]}; %y = Add(%a, %r)?",
    "%c = Einsum(%x, %x){equation=\"ab,ab->a\"}" USED,
};

static void rows_are_read(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(good); i++) {
        if (register_with(good[i], 1e-3) == XIR_OK) continue;
        fail_msg("%s: %s", good[i], xir_diags_at(why, 0)->message.data);
    }
    assert_int_equal(register_with(good[0], -1), XIR_E_INVALID);
    check_finding(XIR_E_INVALID, "the tolerance is -1, expected 0 or more");
    assert_int_equal(register_with(NULL, 0), XIR_E_INVALID);
    check_finding(XIR_E_INVALID, "expected a text");
}

/* Every beginning of a text, and every text with one byte changed, is read or refused. */
static void damaged_rows_are_read_or_refused(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(good); i += 4) {
        const size_t n = strlen(good[i]);
        char *text = malloc(n + 1);
        assert_non_null(text);
        for (size_t k = 0; k < n; k += 2) {
            memcpy(text, good[i], n + 1);
            text[k] = (char)(1 + chance(255));
            (void)register_with(text, 0);
            text[k] = '\0';
            if (register_with(text, 0) != XIR_OK) assert_non_null(xir_diags_at(why, 0));
        }
        free(text);
    }
    xir_diags_clear(why);
}

/* ---- nesting ---------------------------------------------------------------------------------------------------- */

/* Each class consists of two of the one before. */
static void classes_are_nested_so_deep(void **state) {
    (void)state;
    enum { MOST = 20 };
    static char keys[MOST][24], texts[MOST][100];
    static xir_row rows[MOST][5];
    static xir_class_decl decls[MOST];
    xir_status status = XIR_OK;
    size_t n = 0;
    xir_context *own = xir_context_new(NULL);
    for (; n < MOST && !status; n++) {
        snprintf(keys[n], sizeof keys[n], "test::C%zu", n);
        if (n) snprintf(texts[n], sizeof texts[n], "%%a = %s(%%x); %%y = %s(%%a)", keys[n - 1], keys[n - 1]);
        else snprintf(texts[n], sizeof texts[n], "%%y = ReLU(%%x)");
        memcpy(rows[n], ((xir_row[]){ { .decl = XIR_DECL_OP, .name = keys[n], .doc = "" },
                                      { .decl = XIR_DECL_IN, .name = "x", .doc = "" },
                                      { .decl = XIR_DECL_OUT, .name = "y", .doc = "" },
                                      { .decl = XIR_DECL_COMPOSED, .doc = texts[n] },
                                      { .decl = XIR_DECL_END } }), sizeof rows[n]);
        decls[n] = (xir_class_decl){ XIR_ABI, sizeof decls[n], sizeof(xir_row), rows[n] };
        status = xir_class_register(own, &decls[n], why);
    }
    assert_int_equal(status, XIR_E_LIMIT);
    assert_true(n > 6);
    check_finding(XIR_E_LIMIT, "more than 1024 parts");
    xir_context_free(own);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_that_mean_nothing_are_refused),
        cmocka_unit_test(rows_are_read),
        cmocka_unit_test(damaged_rows_are_read_or_refused),
        cmocka_unit_test(classes_are_nested_so_deep),
    };
    return RUN_GROUP(tests);
}
