/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Formulas that are texts: which ops they make, in which order, and what these compute. A text that is not a formula
 * makes nothing, and the node stays. */
#include <math.h>
#include <xir/exec.h>
#include <xir/pass.h>
#include "formula/text.h"
#include "own_dialect.h"

static const char *text;   /* the formula of the node */

static bool by_text(xir_node *at) { return formula_gives(at, text, NUMBERS(0.5, 3)); }

static const xir_convert_row rows[] = {
    { XIR_CONVERT_HEAD, "f::Is", "1-4", "1", "slope:f", "Add", NULL, by_text },
};
static const xir_dialect_decl dialect = {
    XIR_DIALECT_HEAD("f::", "F"), .rows = rows, .n_rows = sizeof rows / sizeof *rows,
};

static int begin(void **state) { return (void)state, begin_with(&dialect); }

/* Converts the node; true if it does not stay. */
static bool converts(const char *formula) {
    text = formula;
    given("x: 3 1; y: 3 1; v = f::Is x y; out v");
    return xir_pass_run(net, "to-xir", "strict", NULL, found) == XIR_OK;
}

static void check(const char *formula, const char *classes, double x, double y, double expected) {
    char made[400] = "";
    xir_array *in[2], *out = NULL;
    if (!converts(formula)) {
        xir_diags_print(found, stderr);
        fail_msg("%s", formula);
    }
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) {
        const char *name = strrchr(xir_class_key(xir_op_class(op)).data, ':') + 1;
        if (op == xir_network_first(net) || op == xir_network_last(net)) continue;
        snprintf(made + strlen(made), sizeof made - strlen(made), "%s%s", *made ? " " : "", name);
    }
    if (strcmp(made, classes) != 0) fail_msg("%s makes %s", formula, made);
    for (size_t i = 0; i < 2; i++) {
        const float v[3] = { (float)(i ? y : x), (float)(i ? y : x), (float)(i ? y : x) };
        in[i] = xir_array_copy(with, XIR_TENSOR(with, xir_type_float(with, XIR_FLOAT_FP32), "**", 3, 1), v, sizeof v,
                               found);
    }
    assert_int_equal(xir_network_run(net, (const xir_array *const *)in, 2, &out, 1, NULL, found), XIR_OK);
    const double got = xir_array_real(out, 2);
    if (!(fabs(got - expected) < 1e-6)) fail_msg("%s is %g, not %g", formula, got, expected);
    xir_array_free(out);
    for (size_t i = 0; i < 2; i++) xir_array_free(in[i]);
}

static void texts_become_ops_from_left_to_right(void **state) {
    (void)state;
    check("x + y * 2 - -x", "Multiply Add Neg Add", 1, 3, 8);
    check("(x + y) * (1 / 4)", "Add Multiply", 1, 3, 1);
    check("2 - x / b", "DivideScalar Add", 6, 0, 0);
    check("b / x - 1", "Div Add", 2, 0, 0.5);
    check("e = Exp(-x); e = e + 1; Reciprocal(e)", "Neg Exp Add Reciprocal", 0, 0, 0.5);
    check("x == 0 ? 1 : Sin(x) / x", "Equal Sin Div Where", 0, 0, 1);
    check("x < y ? x >= 2 ? 2 : x : y", "Less GreaterEqual Where Where", 1, 5, 1);
    check("like(Xor(x != y, x <= 1)) + a", "NotEqual LessEqual Xor Cast Add", 1, 1, 1.5);
    check("Maximum(x, -inf) + Pow(2, y)", "Maximum Pow Add", 1, 3, 9);
    check("Add(x, y, alpha=a, beta=-1)", "Add", 4, 3, -1);
    check("Div(y, x, rounding_mode='FLOOR')", "Div", 2, -3, -2);
    check("o = like(0); ReLU(x - o, alpha=slope:0.25)", "Add ReLU", -4, 0, -1);
    check("Row(x, slope:2)", "Add", 1, 0, 3);
}

static void others_are_not_formulas(void **state) {
    (void)state;
    static const char *const texts[] = {
        "", "x +", "x y", "Sin(x", "Sin()", "x ? y", "n = x", "name = x; x", "x; y", "Add(x, y, x, y)", "(x", "slope:", "?",
        "Div(x, y, rounding_mode='FLOOR", "Nothing(x)",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (converts(texts[i])) fail_msg("'%s' is a formula", texts[i]);
    converts("x +");
    assert_non_null(strstr(xir_diags_at(found, 0)->message.data, "a formula 'x +'"));
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(texts_become_ops_from_left_to_right, begin, end),
        cmocka_unit_test_setup_teardown(others_are_not_formulas, begin, end),
    };
    return RUN_GROUP(tests);
}
