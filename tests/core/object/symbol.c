/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Expressions over symbols: canonical texts, proofs, bounds; and random ones, whose values are computed a second time
 * with plain numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <xir/network.h>
#include "context.h"
#include "symbol.h"
#include "support/program.h"

static xir_context *ctx;
static object_pool pool, other;

static int set_up(void **state) {
    (void)state;
    ctx = xir_context_new(NULL);
    pool_init(&pool, ctx, NULL);
    pool_init(&other, ctx, NULL);
    return ctx ? 0 : -1;
}

static int tear_down(void **state) {
    (void)state;
    pool_free(&pool);
    pool_free(&other);
    xir_context_free(ctx);
    return 0;
}

static expr parsed_in(object_pool *in, const char *text) {
    expr e;
    form_error why = { 0 };
    if (!expr_parse(in, xir_str_of(text), &e, &why)) fail_msg("%s: %s at %zu", text, why.message, why.at);
    return e;
}

static expr parsed(const char *text) { return parsed_in(&pool, text); }

static void expect_text(expr e, const char *text) {
    buffer b;
    buffer_init(&b, &memory_default);
    expr_print(&pool, e, &b);
    buffer_char(&b, '\0');
    assert_string_equal(b.data, text);
    buffer_free(&b);
}

static void declare(const char *name, int64_t least, int64_t most) {
    expr e;
    assert_int_equal(symbol_declare(&pool, xir_str_of(name), least, most, &e, NULL), XIR_OK);
}

/* ---- limits -------------------------------------------------------------------------------------------------- */

/* max(floor(max(floor(n/2), m0)/2), m1): two more levels for each name. */
static const char *nested(int levels) {
    static char text[400];
    size_t at = 0;
    for (int i = 0; i < levels; i++) at += (size_t)sprintf(text + at, "max(floor(");
    at += (size_t)sprintf(text + at, "n");
    for (int i = 0; i < levels; i++) at += (size_t)sprintf(text + at, "/2), m%d)", i);
    return text;
}

static void limits_belong_to_the_context(void **state) {
    (void)state;
    static const struct { xir_limits limits; const char *text; xir_status status; bool known; } rows[] = {
        { { 0 },                       "a + b + c",      XIR_OK,      true  },
        { { .max_expr_terms = 2 },     "a + b + c",      XIR_OK,      false },
        { { .max_expr_terms = 3 },     "a + b + c",      XIR_OK,      true  },
        { { .max_expr_terms = 3 },     "(a + b)*(c + d)", XIR_OK,     false },
        { { .max_expr_degree = 2 },    "a*b*c",          XIR_OK,      false },
        { { .max_expr_degree = 3 },    "a*b*c",          XIR_OK,      true  },
        { { .max_expr_depth = 2 },     "max(floor(a/2), b)", XIR_OK,  false },
        { { .max_expr_depth = 3 },     "max(floor(a/2), b)", XIR_OK,  true  },
        { { .max_expr_weight = 5 },    "a*b + c*d",      XIR_OK,      false },
        { { .max_expr_weight = 6 },    "a*b + c*d",      XIR_OK,      true  },
        { { .max_expr_text = 4 },      "a + b",          XIR_E_LIMIT, false },
        { { .max_expr_text = 5 },      "a + b",          XIR_OK,      true  },
        { { .max_symbols = 2 },        "a + b + c",      XIR_E_LIMIT, false },
        { { .max_symbols = 3 },        "a + b + c + a",  XIR_OK,      true  },
        { { .max_expr_terms = 17 },    NULL,             XIR_E_BOUNDS, false },
        { { .max_expr_degree = 9 },    NULL,             XIR_E_BOUNDS, false },
        { { .max_expr_depth = 33 },    NULL,             XIR_E_BOUNDS, false },
        { { .max_expr_weight = 4097 }, NULL,             XIR_E_BOUNDS, false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        xir_context *with = xir_context_new(NULL);
        xir_diags *why = xir_diags_new(with);
        xir_limits limits = rows[i].limits, found = XIR_INIT(xir_limits);
        limits.size = sizeof limits;
        limits.max_values = 5;
        xir_status status = xir_context_set_limits(with, &limits, why);
        assert_int_equal(xir_context_limits(with, &found, why), XIR_OK);
        assert_int_equal(found.max_values, status ? 1000000 : 5);   /* all limits or none */
        object_pool own;
        expr e = EXPR_UNKNOWN;
        form_error error = { 0 };
        pool_init(&own, with, NULL);
        if (rows[i].text && !expr_parse(&own, xir_str_of(rows[i].text), &e, &error)) status = error.status;
        if (status != rows[i].status || (e != EXPR_UNKNOWN) != rows[i].known)
            fail_msg("row %zu: %s, %s", i, xir_status_name(status), e == EXPR_UNKNOWN ? "unknown" : "known");
        pool_free(&own);
        xir_diags_free(why);
        xir_context_free(with);
    }
}

static void a_limit_can_be_raised(void **state) {
    (void)state;
    xir_context *with = xir_context_new(NULL);
    object_pool own;
    pool_init(&own, with, NULL);
    assert_true(parsed_in(&own, nested(3)) != EXPR_UNKNOWN);
    assert_true(parsed_in(&own, nested(4)) == EXPR_UNKNOWN);
    const xir_limits limits = XIR_INIT(xir_limits, .max_expr_depth = 9);
    assert_int_equal(xir_context_set_limits(with, &limits, NULL), XIR_OK);
    assert_true(parsed_in(&own, nested(4)) != EXPR_UNKNOWN);
    assert_true(parsed_in(&own, nested(5)) == EXPR_UNKNOWN);
    pool_free(&own);
    xir_context_free(with);
}

/* ---- texts --------------------------------------------------------------------------------------------------- */

static const struct { const char *from, *to; } texts[] = {
    { "n",                                "n"                       },
    { "n + n",                            "2*n"                     },
    { "n - n",                            "0"                       },
    { "3",                                "3"                       },
    { "-n + 4",                           "-n + 4"                  },
    { "m*n",                              "m*n"                     },
    { "n*m",                              "m*n"                     },
    { "1 + m + n*n",                      "n*n + m + 1"             },
    { "(n + 1)*(n - 1)",                  "n*n - 1"                 },
    { "floor((2*n + 6)/2)",               "n + 3"                   },
    { "floor((2*n + 1)/2)",               "n"                       },
    { "floor((n + 5)/2)",                 "floor((n + 1)/2) + 2"    },
    { "(n - 1)//2 + 1",                   "floor((n + 1)/2)"        },
    { "ceil(n/2)",                        "floor((n + 1)/2)"        },
    { "floor(floor(n/2)/3)",              "floor(n/6)"              },
    { "floor((floor((n + 1)/2) + 1)/2)",  "floor((n + 3)/4)"        },
    { "floor((4*n + 2*m + 1)/6)",         "floor((m + 2*n)/3)"      },
    { "2*floor(n/2)",                     "2*floor(n/2)"            },
    { "max(n, 0)",                        "n"                       },
    { "max(0, n + 3)",                    "n + 3"                   },
    { "max(n - 3, 0)",                    "max(n - 3, 0)"           },
    { "max(0, n - 3)",                    "max(n - 3, 0)"           },
    { "min(n, n + m)",                    "n"                       },
    { "min(n, m)",                        "min(m, n)"               },
    { "max(max(n, 2), 1)",                "max(n, 2)"               },
    { "max(max(n, 2), 5)",                "max(n, 5)"               },
    { "min(max(n, 2), 1)",                "1"                       },
    { "-4*floor(n/4) + n",                "n - 4*floor(n/4)"        },
    { "floor((n - 4*floor(n/4))/4)",      "0"                       },
    { "'batch size' * 2",                 "2*'batch size'"          },
    { "'it''s'",                          "'it''s'"                 },
    { "'max' + ?0 + a.b_1",               "?0 + a.b_1 + 'max'"      },
    { "7//2 - 5",                         "-2"                      },
    { "((((n))))",                        "n"                       },
    { "n*n*n*n*n*n*n*n",                  "n*n*n*n*n*n*n*n"         },
    { "n*n*n*n*n*n*n*n*n",                "?"                       },   /* too many factors */
    { "n*4611686018427387903*2",          "?"                       },
    { "floor((floor((floor((floor((floor((floor((floor((m + floor(n/3)*m)/3)*m + 1)/3)*m + 1)/3)*m + 1)/3)*m + 1)/3)*"
      "m + 1)/3)*m + 1)/3)",              "?"                       },   /* too deep */
};

static void texts_are_canonical(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        expr e = parsed(texts[i].from);
        expect_text(e, texts[i].to);
        if (e != EXPR_UNKNOWN) {
            assert_true(parsed(texts[i].to) == e);
            assert_true(parsed_in(&other, texts[i].to) == e);   /* the handle depends on the contents alone */
        }
    }
}

static const struct { const char *text; xir_status status; size_t at; } faults[] = {
    { "",                                XIR_E_SYNTAX, 0  },
    { "n +",                             XIR_E_SYNTAX, 3  },
    { "n n",                             XIR_E_SYNTAX, 2  },
    { "n / 2",                           XIR_E_SYNTAX, 2  },
    { "floor(n)",                        XIR_E_SYNTAX, 7  },
    { "floor(n/0)",                      XIR_E_BOUNDS, 8  },
    { "floor(n/m)",                      XIR_E_SYNTAX, 8  },
    { "n//-1",                           XIR_E_SYNTAX, 3  },
    { "max(n)",                          XIR_E_SYNTAX, 5  },
    { "(n",                              XIR_E_SYNTAX, 2  },
    { "2n",                              XIR_E_SYNTAX, 1  },
    { "'n",                              XIR_E_SYNTAX, 2  },
    { "''",                              XIR_E_SYNTAX, 0  },
    { "'a\nb'",                          XIR_E_SYNTAX, 0  },
    { "'\xff'",                          XIR_E_SYNTAX, 0  },
    { "n\n",                             XIR_E_SYNTAX, 1  },
    { "\xc3\xa9",                        XIR_E_SYNTAX, 0  },
    { "4611686018427387904",             XIR_E_BOUNDS, 0  },
    { "9223372036854775808",             XIR_E_BOUNDS, 0  },
};

static void expect_fault(const char *text, size_t size, xir_status status, size_t at) {
    expr e;
    form_error why = { 0 };
    assert_false(expr_parse(&pool, (xir_str){ text, size }, &e, &why));
    if (why.status != status || why.at != at) {
        fail_msg("%.20s: %d at %zu: %s", text, (int)why.status, why.at, why.message);
    }
}

static void faults_have_a_place(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        expect_fault(faults[i].text, strlen(faults[i].text), faults[i].status, faults[i].at);
    }
    size_t size = (size_t)1 << 18;   /* max_expr_text */
    char *text = malloc(size + 1);
    assert_non_null(text);
    memset(text, '(', size + 1);
    expect_fault(text, size + 1, XIR_E_LIMIT, 0);
    expect_fault(text, size, XIR_E_LIMIT, 65);
    memset(text, 'n', size);
    expect_fault(text, size, XIR_E_LIMIT, 0);
    text[0] = '\'';
    expect_fault(text, size, XIR_E_LIMIT, 0);
    for (size_t i = 0; i < size; i++) text[i] = i % 2 ? '-' : 'n';
    expect_fault(text, size, XIR_E_SYNTAX, size);
    free(text);
}

/* ---- symbols ------------------------------------------------------------------------------------------------- */

static void symbols_have_intervals(void **state) {
    (void)state;
    expr e, again;
    xir_diags *why = xir_diags_new(ctx);
    assert_int_equal(symbol_declare(&pool, XIR_STR("k"), 8, 512, &e, why), XIR_OK);
    assert_int_equal(symbol_declare(&pool, XIR_STR("k"), 0, 100, &again, why), XIR_OK);
    assert_true(e == again && symbol_find(&pool, XIR_STR("k")) == e);
    assert_true(symbol_find(&pool, XIR_STR("j")) == EXPR_UNKNOWN);
    int64_t least, most;
    expr_range(&pool, e, &least, &most);
    assert_true(least == 8 && most == 100);
    assert_int_equal(symbol_declare(&pool, XIR_STR("k"), 101, 102, &again, why), XIR_E_EXISTS);
    assert_int_equal(symbol_declare(&pool, XIR_STR("k"), -1, 102, &again, why), XIR_E_BOUNDS);
    assert_int_equal(symbol_declare(&pool, XIR_STR("k"), 3, 2, &again, why), XIR_E_BOUNDS);
    assert_int_equal(symbol_declare(&pool, XIR_STR("k\n"), 0, 1, &again, why), XIR_E_SYNTAX);
    assert_int_equal(symbol_declare(&pool, XIR_STR(""), 0, 1, &again, why), XIR_E_SYNTAX);
    assert_int_equal(xir_diags_count(why), 5);
    xir_diags_free(why);
    assert_true(symbol_at(&pool, 0)->least == 8 && symbol_at(&pool, 0)->most == 100 && !symbol_at(&pool, 1));
}

/* A narrower interval of a symbol also narrows the expressions that were made of it before. */
static void an_interval_narrows_what_depends_on_it(void **state) {
    (void)state;
    expr half = parsed("floor(n/2)"), least_4 = parsed("max(n, 4)");
    assert_false(expr_at_least(&pool, half, 4));
    declare("n", 8, 512);
    assert_true(expr_at_least(&pool, half, 4) && expr_at_least(&pool, 256, half));
    assert_true(expr_at_least(&pool, least_4, 8));
    expect_text(parsed("max(n, 4)"), "n");
}

static void an_expression_moves_to_another_pool(void **state) {
    (void)state;
    declare("n", 8, 512);
    expr e = parsed("floor(n/4) + max(m, 7)"), moved = expr_translate(&other, &pool, e);
    assert_true(moved == e && expr_is_of(&other, e));
    int64_t least, most;
    expr_range(&other, symbol_find(&other, XIR_STR("n")), &least, &most);
    assert_true(least == 8 && most == 512);
    /* A symbol of the same name with more values is another one. */
    assert_int_equal(symbol_declare(&pool, XIR_STR("m"), 3, 5, &e, NULL), XIR_OK);
    assert_true(expr_translate(&other, &pool, e) == EXPR_UNKNOWN);
}

/* ---- proofs -------------------------------------------------------------------------------------------------- */

static void proofs(void **state) {
    (void)state;
    declare("k", 1, 100);
    assert_true(expr_at_least(&pool, parsed("n"), 0) && !expr_at_least(&pool, parsed("n"), 1));
    assert_true(expr_at_least(&pool, parsed("k*m"), parsed("0")));
    assert_true(expr_at_least(&pool, parsed("n - 4*floor(n/4)"), 0));
    assert_true(expr_at_least(&pool, 3, parsed("n - 4*floor(n/4)")));
    assert_true(expr_at_least(&pool, parsed("n"), parsed("min(n, 7)")));
    assert_true(expr_at_least(&pool, parsed("max(n, m)"), parsed("m")));
    assert_true(expr_at_least(&pool, parsed("max(n, m) + floor(n/2)"), parsed("m")));
    assert_false(expr_at_least(&pool, parsed("n"), parsed("m")));
    assert_true(expr_never_equal(&pool, parsed("n"), parsed("n + 1")));
    assert_true(expr_never_equal(&pool, parsed("2*n"), parsed("4*m + 1")));
    assert_true(expr_never_equal(&pool, parsed("k"), parsed("101 + n")));
    assert_false(expr_never_equal(&pool, parsed("n"), parsed("m")));
    expect_text(expr_exact_div(&pool, parsed("12*n*m"), parsed("4*m")), "3*n");
    expect_text(expr_exact_div(&pool, parsed("(n + 1)*(m + k)"), parsed("k + m")), "n + 1");
    expect_text(expr_exact_div(&pool, parsed("n*m + 1"), parsed("m")), "?");
    expect_text(expr_ceil_div(&pool, parsed("n"), 16), "floor((n + 15)/16)");
    expect_text(expr_floor_div(&pool, parsed("n*m"), parsed("n")), "m");
    assert_true(expr_mul(&pool, EXPR_UNKNOWN, 0) == 0 && expr_add(&pool, EXPR_UNKNOWN, 0) == EXPR_UNKNOWN);
    assert_true(expr_add(&pool, INT64_MAX, 1) == EXPR_UNKNOWN && expr_mul(&pool, EXPR_LEAST, 2) == EXPR_UNKNOWN);
    assert_true(expr_floor_div(&pool, -7, 2) == -4 && expr_ceil_div(&pool, -7, 2) == -3);
}

/* ---- random expressions -------------------------------------------------------------------------------------- */

enum { SYMBOLS = 4, BINDINGS = 20, MADE = 24 };

static uint64_t random_state;
static int64_t draw(int64_t n) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((random_state >> 33) % (uint64_t)n);
}

static int64_t bound[BINDINGS][SYMBOLS];

static expr choose(void *user, const object_pool *from, size_t i) {
    (void)from;
    return ((const int64_t *)user)[i];
}

typedef struct made { expr e; int64_t v[BINDINGS]; bool over; } made;

static int64_t apply(int op, int64_t a, int64_t b, bool *over) {
    int64_t v = 0;
    switch (op) {
    case 0:  *over |= !add_i64(a, b, &v); return v;
    case 1:  *over |= !sub_i64(a, b, &v); return v;
    case 2:  *over |= !mul_i64(a, b, &v); return v;
    case 3:  return a > b ? a : b;
    case 4:  return a < b ? a : b;
    case 5:  return a / b - (a % b < 0);
    default: return a / b + (a % b > 0);
    }
}

static expr make(int op, expr a, expr b) {
    static expr (*const functions[])(object_pool *, expr, expr) = {
        expr_add, expr_sub, expr_mul, expr_max, expr_min, expr_floor_div, expr_ceil_div };
    return functions[op](&pool, a, b);
}

static void expect_same(const made *m) {
    int64_t least, most;
    buffer text;
    if (m->e == EXPR_UNKNOWN) return;
    expr_range(&pool, m->e, &least, &most);
    buffer_init(&text, &memory_default);
    expr_print(&pool, m->e, &text);
    for (int k = 0; k < BINDINGS && !m->over; k++) {
        int64_t v;
        expr number = expr_remake(&other, &pool, m->e, choose, bound[k]);
        bool has = expr_evaluate(&pool, m->e, bound[k], SYMBOLS, &v);
        if ((has && v != m->v[k]) || (number != EXPR_UNKNOWN && number != m->v[k])) {
            fail_msg("%.*s: expected %lld, found %lld and %lld", (int)text.size, text.data, (long long)m->v[k],
                     (long long)v, (long long)number);
        }
        if (m->v[k] < least || m->v[k] > most) {
            fail_msg("%.*s: expected %lld within %lld..%lld", (int)text.size, text.data, (long long)m->v[k],
                     (long long)least, (long long)most);
        }
    }
    expr again;
    assert_true(expr_parse(&pool, (xir_str){ text.data, text.size }, &again, NULL) && again == m->e);
    assert_true(expr_translate(&other, &pool, m->e) == m->e);
    buffer_free(&text);
}

static void expect_proofs(const made *a, const made *b) {
    if (a->e == EXPR_UNKNOWN || b->e == EXPR_UNKNOWN || a->over || b->over) return;
    bool at_least = expr_at_least(&pool, a->e, b->e), never = expr_never_equal(&pool, a->e, b->e);
    expr quotient = expr_exact_div(&pool, a->e, b->e);
    for (int k = 0; k < BINDINGS; k++) {
        int64_t v;
        if (at_least) assert_true(a->v[k] >= b->v[k]);
        if (never) assert_true(a->v[k] != b->v[k]);
        if (a->e == b->e) assert_true(a->v[k] == b->v[k]);
        if (quotient == EXPR_UNKNOWN || !b->v[k] || !expr_evaluate(&pool, quotient, bound[k], SYMBOLS, &v)) continue;
        assert_true(v * b->v[k] == a->v[k]);
    }
}

static void one_graph(uint64_t seed) {
    static const char *const names[SYMBOLS] = { "a", "b", "c", "d" };
    static const int64_t intervals[SYMBOLS][2] = { { 0, SYMBOL_MOST }, { 1, 64 }, { 8, 512 }, { 0, 3 } };
    made m[SYMBOLS + MADE];
    random_state = seed;
    for (size_t i = 0; i < SYMBOLS; i++) {
        assert_int_equal(symbol_declare(&pool, xir_str_of(names[i]), intervals[i][0], intervals[i][1], &m[i].e, NULL),
                         XIR_OK);
        m[i].over = false;
        for (int k = 0; k < BINDINGS; k++) {
            int64_t least = intervals[i][0], most = intervals[i][1] < least + 40 ? intervals[i][1] : least + 40;
            m[i].v[k] = bound[k][i] = k < 2 ? (least + k <= most ? least + k : most)
                                               : least + draw(most - least + 1);
        }
    }
    for (size_t i = SYMBOLS; i < SYMBOLS + MADE; i++) {
        int op = (int)draw(7);
        const made *x = &m[draw((int64_t)i)], *y = &m[draw((int64_t)i)];
        made number = { .e = op >= 5 ? 1 + draw(6) : draw(9) - 2 };
        for (int k = 0; k < BINDINGS; k++) number.v[k] = number.e;
        if (op >= 5 || draw(2)) y = &number;
        m[i] = (made){ .e = make(op, x->e, y->e), .over = x->over || y->over };
        for (int k = 0; k < BINDINGS; k++) m[i].v[k] = apply(op, x->v[k], y->v[k], &m[i].over);
        expect_same(&m[i]);
        expect_proofs(x, y);
        expect_proofs(&m[i], x);
    }
}

static void random_expressions_have_the_values_of_numbers(void **state) {
    const char *count = getenv("XIR_SYMBOL_COUNT");
    long n = count ? atol(count) : 300;
    for (long i = 0; i < n; i++) {
        one_graph((uint64_t)i * 977 + 5);
        if (i % 50 == 49) {
            tear_down(state);
            set_up(state);
        }
    }
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits_belong_to_the_context),
        cmocka_unit_test(a_limit_can_be_raised),
        cmocka_unit_test_setup_teardown(texts_are_canonical, set_up, tear_down),
        cmocka_unit_test_setup_teardown(faults_have_a_place, set_up, tear_down),
        cmocka_unit_test_setup_teardown(symbols_have_intervals, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_interval_narrows_what_depends_on_it, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_expression_moves_to_another_pool, set_up, tear_down),
        cmocka_unit_test_setup_teardown(proofs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(random_expressions_have_the_values_of_numbers, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
