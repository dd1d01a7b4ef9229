/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The expressions of PNNX: each function computes what its formula here does, on reals, integers, bools and Python's
 * numbers; lists become integers or index tensors. What does not parse, or nests without end, leaves the operator as it
 * is, with the place in the expression. */
#include <math.h>
#include "convert/pnnx_text.h"

static xir_network *net;

static int end(void **state) {
    (void)state;
    xir_network_free(net);
    net = NULL;
    return 0;
}

static void given(const char *inputs, const char *expression, int n_inputs) {
    char line[3000];
    snprintf(line, sizeof line, "pnnx.Expression e %d 1 %s y expr=%s\n", n_inputs,
             n_inputs == 0 ? "" : n_inputs == 1 ? "a" : n_inputs == 2 ? "a b" : "a b c", expression);
    xir_network_free(net);
    net = pnnx_net(inputs, line, "y");
}

/* ---- functions -------------------------------------------------------------------------------------------------- */

static double neg(double x) { return -x; }
static double reciprocal(double x) { return 1 / x; }
static double rsqrt_(double x) { return 1 / sqrt(x); }
static double square(double x) { return x * x; }
static double sign(double x) { return (x > 0) - (x < 0); }
static double is_not_0(double x) { return x != 0; }
static double same(double x) { return x; }

static void functions_of_one_operand(void **state) {
    (void)state;
    static const struct { const char *expression; double (*f)(double); } cases[] = {
        { "abs(@0)", fabs }, { "acos(@0)", acos }, { "acosh(@0)", acosh }, { "asin(@0)", asin }, { "asinh(@0)", asinh },
        { "atan(@0)", atan }, { "atanh(@0)", atanh }, { "ceil(@0)", ceil }, { "cos(@0)", cos }, { "cosh(@0)", cosh },
        { "erf(@0)", erf }, { "exp(@0)", exp }, { "expm1(@0)", expm1 }, { "floor(@0)", floor }, { "log(@0)", log },
        { "log10(@0)", log10 }, { "log1p(@0)", log1p }, { "log1p,@0", log1p }, { "neg(@0)", neg },
        { "reciprocal(@0)", reciprocal }, { "round(@0)", nearbyint }, { "rsqrt(@0)", rsqrt_ }, { "sign(@0)", sign },
        { "sin(@0)", sin }, { "sinh(@0)", sinh }, { "sqrt(@0)", sqrt }, { "square(@0)", square }, { "tan(@0)", tan },
        { "tanh(@0)", tanh }, { "trunc(@0)", trunc }, { "int(@0)", trunc }, { "torch.long(@0)", trunc },
        { "torch.bool(@0)", is_not_0 }, { "torch.float(@0)", same },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        xir_array *in[1], *out[1];
        given("a=(2,60)f32", cases[i].expression, 1);
        pnnx_converted(net, cases[i].expression);
        pnnx_arrays(net, in);
        pnnx_run(net, out);
        for (size_t k = 0; k < 120; k++) {
            const double x = xir_array_real(in[0], k), expected = cases[i].f(x), y = xir_array_real(out[0], k);
            if (isnan(expected) ? !isnan(y) : !(fabs(y - expected) <= 2e-6 * (1 + fabs(expected))) && y != expected)
                fail_msg("%s of %g: expected %.9g, found %.9g", cases[i].expression, x, expected, y);
        }
        xir_array_free(in[0]);
        xir_array_free(out[0]);
    }
}

static double add(double a, double b) { return a + b; }
static double sub(double a, double b) { return a - b; }
static double mul(double a, double b) { return a * b; }
static double over(double a, double b) { return a / b; }
static double floored(double a, double b) { return floor(a / b); }
static double rest(double a, double b) { return a - floor(a / b) * b; }
static double either(double a, double b) { return log(exp(a) + exp(b)); }
static double twice(double a, double b) { return a + 2 * b; }
static double less_half(double a, double b) { return a - b / 2; }

static void functions_of_two_operands(void **state) {
    (void)state;
    static const struct { const char *expression; double (*f)(double, double); } cases[] = {
        { "add(@0,@1)", add }, { "sub(@0,@1)", sub }, { "mul(@0,@1)", mul }, { "div(@0,@1)", over },
        { "floor_divide(@0,@1)", floored }, { "remainder(@0,@1)", rest }, { "fmod(@0,@1)", fmod },
        { "pow(abs(@0),@1)", NULL }, { "atan2(@0,@1)", atan2 }, { "max(@0,@1)", fmax }, { "min(@0,@1)", fmin },
        { "maximum(@0,@1)", fmax }, { "minimum(@0,@1)", fmin }, { "logaddexp(@0,@1)", either },
        { "add(@0,@1,1)", add }, { "add(@0,@1,2)", twice }, { "sub(@0,@1,0.5)", less_half }, { "rsub(@1,@0)", sub },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        xir_array *in[2], *out[1];
        given("a=(2,60)f32 b=(2,60)f32", cases[i].expression, 2);
        pnnx_converted(net, cases[i].expression);
        pnnx_arrays(net, in);
        pnnx_run(net, out);
        for (size_t k = 0; k < 120; k++) {
            const double a = xir_array_real(in[0], k), b = xir_array_real(in[1], k), y = xir_array_real(out[0], k);
            const double expected = cases[i].f ? cases[i].f(a, b) : pow(fabs(a), b);
            if (!(fabs(y - expected) <= 1e-5 * (1 + fabs(expected))) && y != expected && !isnan(expected))
                fail_msg("%s of %g and %g: expected %.9g, found %.9g", cases[i].expression, a, b, expected, y);
        }
        for (size_t k = 0; k < 2; k++) xir_array_free(in[k]);
        xir_array_free(out[0]);
    }
}

/* ---- numbers ---------------------------------------------------------------------------------------------------- */

/* a is a bool, b are the integers 0, 1 or 2, c is real, each of one element. */
static void results_of_single_elements(void **state) {
    (void)state;
    static const char inputs[] = "a=(1)bool b=(1)i64 c=(1)f32";
    static const struct { const char *expression; const char *element; double value; } cases[] = {
        { "7", "@sint(64)", 7 }, { "-7", "@sint(64)", -7 }, { "2.5", "@fp(64)", 2.5 }, { "True", "@bool", 1 },
        { "add(2,3)", "@sint(64)", 5 }, { "div(3,2)", "@fp(64)", 1.5 }, { "floor_divide(-7,2)", "@sint(64)", -4 },
        { "remainder(-7,3)", "@sint(64)", 2 }, { "pow(2,10)", "@sint(64)", 1024 }, { "int(2.75)", "@sint(64)", 2 },
        { "int(-2.75)", "@sint(64)", -2 }, { "floor(-2.5)", "@sint(64)", -3 }, { "ceil(2.5)", "@sint(64)", 3 },
        { "round(2.5)", "@sint(64)", 2 }, { "neg(4)", "@sint(64)", -4 }, { "abs(-4)", "@sint(64)", 4 },
        { "sqrt(2.25)", "@fp(64)", 1.5 }, { "max(2,3)", "@sint(64)", 3 }, { "min(2.5,3)", "@fp(64)", 2.5 },
        { "size(@1,0)", "@sint(64)", 1 }, { "size(@2,-1)", "@sint(64)", 1 }, { "mul(size(@0,0),6)", "@sint(64)", 6 },
        { "mul(@1,0)", "@sint(64)", 0 }, { "add(mul(@1,0),2.5)", "@fp(32)", 2.5 }, { "mul(@2,0)", "@fp(32)", 0 },
        { "div(add(mul(@1,0),3),2)", "@fp(32)", 1.5 }, { "and(@0,False)", "@bool", 0 }, { "or(@0,True)", "@bool", 1 },
        { "xor(or(@0,True),True)", "@bool", 0 }, { "and(add(mul(@1,0),13),7)", "@sint(64)", 5 },
        { "or(add(mul(@1,0),9),7)", "@sint(64)", 15 }, { "xor(add(mul(@1,0),9),7)", "@sint(64)", 14 },
        { "lshift(add(mul(@1,0),3),4)", "@sint(64)", 48 }, { "rshift(add(mul(@1,0),49),4)", "@sint(64)", 3 },
        { "floor_divide(add(mul(@1,0),-7),2)", "@sint(64)", -4 }, { "remainder(add(mul(@1,0),-7),3)", "@sint(64)", 2 },
        { "fmod(add(mul(@1,0),-7),3)", "@sint(64)", -1 }, { "torch.bool(add(mul(@1,0),5))", "@bool", 1 },
        { "sqrt(add(mul(@1,0),4))", "@fp(32)", 2 }, { "round(add(mul(@1,0),4))", "@sint(64)", 4 },
        { "add(and(@0,False),2)", "@sint(64)", 2 }, { "add(or(@0,True),or(@0,True))", "@bool", 1 },
        { "mul(or(@0,True),and(@0,False))", "@bool", 0 }, { "max(-inf,2.5)", "@fp(64)", 2.5 },
        { "min(2.5,inf)", "@fp(64)", 2.5 }, { "torch.bool(nan.0)", "@bool", 1 },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        xir_array *out[1];
        given(inputs, cases[i].expression, 3);
        pnnx_converted(net, cases[i].expression);
        pnnx_run(net, out);
        const char *element = spelled(xir_type_element(xir_array_type(out[0])));
        if (strcmp(element, cases[i].element) != 0 || fabs(xir_array_real(out[0], 0) - cases[i].value) > 1e-6) {
            fail_msg("%s: expected %s %g, found %s %g", cases[i].expression, cases[i].element, cases[i].value, element,
                     xir_array_real(out[0], 0));
        }
        xir_array_free(out[0]);
    }
}

static void lists_of_integers(void **state) {
    (void)state;
    static const struct { const char *expression; int64_t items[4]; size_t n; } cases[] = {
        { "[1,2,3]", { 1, 2, 3 }, 3 }, { "(4,5)", { 4, 5 }, 2 }, { "[7]", { 7 }, 1 },
        { "[size(@0,1),-1]", { 3, -1 }, 2 }, { "[mul(2,size(@0,0)),add(size(@0,1),1)]", { 4, 4 }, 2 },
        { "[int(floor_divide(size(@0,1),2)),3]", { 1, 3 }, 2 },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        xir_array *out[1];
        given("a=(2,3)f32", cases[i].expression, 1);
        pnnx_converted(net, cases[i].expression);
        pnnx_run(net, out);
        assert_int_equal(xir_array_count(out[0]), cases[i].n);
        for (size_t k = 0; k < cases[i].n; k++)
            assert_int_equal((int64_t)xir_array_real(out[0], k), cases[i].items[k]);
        xir_array_free(out[0]);
    }
}

/* An open dim is computed. */
static void sizes_of_open_dims(void **state) {
    (void)state;
    xir_network_free(net);
    net = pnnx_net("a=(?,6)f32", "pnnx.Expression s 1 1 a s expr=[mul(2,size(@0,0)),3]\n"
                                 "Tensor.reshape r 2 1 a s y $input=a $shape=s\n", "y");
    pnnx_converted(net, "an open dim");
    static const float numbers[24] = { 1 };
    const xir_type *type = FP32("**", 4, 6);
    xir_array *in = xir_array_copy(ctx, type, numbers, sizeof numbers, why), *out = NULL;
    assert_int_equal(xir_network_run(net, (const xir_array *const *)&in, 1, &out, 1, NULL, why), XIR_OK);
    assert_int_equal(xir_type_dim(xir_array_type(out), 0, false), 8);
    assert_int_equal(xir_type_dim(xir_array_type(out), 1, false), 3);
    xir_array_free(in);
    xir_array_free(out);
}

/* ---- malformed expressions -------------------------------------------------------------------------------------- */

static void check_stays(const char *expression, const char *reason) {
    assert_int_equal(xir_pass_run(net, "pnnx-to-xir", NULL, NULL, why), XIR_OK);
    assert_non_null(xir_network_first_unrunnable(net));
    for (size_t i = 0; i < xir_diags_count(why); i++)
        if (strstr(xir_diags_at(why, i)->message.data, reason)) return;
    fail_msg("%s: expected '%s', found '%s'", expression, reason,
             xir_diags_count(why) ? xir_diags_at(why, 0)->message.data : "");
}

static void what_does_not_parse_stays(void **state) {
    (void)state;
    static const struct { const char *expression, *reason; } cases[] = {
        { "", "an empty expression" }, { "None", "None" }, { "add", "an unknown word at ''" },
        { "add(", "expected an operand at ''" }, { "add()", "expected an operand at ')'" },
        { "add(@0", "expected ) at ''" }, { "add(@0,", "expected an operand at ''" },
        { "add(@0)", "add with 1 operand" }, { "add(@0,@0,@0,@0)", "too many operands at '@0)'" },
        { "neg(@0,@0)", "neg with 2 operands" }, { "nothing(@0)", "nothing with 1 operand" },
        { "@", "expected the number of an input at ''" }, { "@x", "expected the number of an input at 'x'" },
        { "@0)", "expected the end at ')'" }, { "@0,@0", "expected the end at ',@0'" },
        { "add(@0,1x)", "not a number" }, { "add(@0,-)", "not a number" }, { "add(@0,1.2.3)", "not a number" },
        { "add(@0,1e-3-2e-1j)", "not a number" }, { "add(@0,what)", "an unknown word at ')'" },
        { "[@0", "expected the end of the list at ''" }, { "[1,2", "expected the end of the list" }, { "[1,2]]", "expected the end of the list" },
        { "[1,[2]]", "expected an operand at '[2]]'" }, { "[1,@0]", "a list of tensors and numbers" },
        { "[None,1]", "a list of something else" }, { "[1.5,2]", "a list of something else" },
        { "size(1,0)", "a size of something else" }, { "size(@0,@0)", "a size of something else" },
        { "size(@0,1.5)", "a size of something else" },
        { "pow(1000000000,3)", "too large" }, { "mul(pow(1000000,3),pow(1000000,3))", "too large" },
        { "int(1e30)", "too large" }, { "floor(inf)", "too large" }, { "[pow(10,30)]", "too large" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        given("a=(2,3)f32", cases[i].expression, 1);
        check_stays(cases[i].expression, cases[i].reason);
    }
}

/* An operand that the operator does not have, and an axis that the tensor does not have, are faults of the file. */
static void operands_that_do_not_exist(void **state) {
    (void)state;
    static const struct { const char *expression, *message; } cases[] = {
        { "@1", "input 1 is missing" }, { "add(@0,@7)", "input 7 is missing" },
        { "@99999999999999999999", "is missing" }, { "size(@0,2)", "expected an axis from -2 to 1" },
        { "size(@0,-3)", "expected an axis from -2 to 1" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        given("a=(2,3)f32", cases[i].expression, 1);
        xir_diags_clear(why);
        assert_true(xir_dialect_check(net, why) != XIR_OK);
        const xir_diag *d = xir_diags_at(why, 0);
        if (!strstr(d->message.data, cases[i].message)) fail_msg("%s: %s", cases[i].expression, d->message.data);
    }
}

static void nesting_ends(void **state) {
    (void)state;
    static char deep[2600];
    for (size_t depth = 190; depth < 600; depth += 400) {
        size_t n = 0;
        for (size_t i = 0; i < depth; i++) n += (size_t)snprintf(deep + n, sizeof deep - n, "neg(");
        snprintf(deep + n, sizeof deep - n, "@0");
        if (depth > 300) {
            given("a=(2,3)f32", deep, 1);
            check_stays("a deep expression", "nested too deeply");
            continue;
        }
        n += 2;
        memset(deep + n, ')', depth), deep[n + depth] = '\0';
        given("a=(2,3)f32", deep, 1);
        pnnx_converted(net, "a deep expression");
        assert_int_equal(xir_network_op_count(net), depth + 2);
    }
}

GROUP {
#define TEST(name) cmocka_unit_test_teardown(name, end)
    const struct CMUnitTest tests[] = {
        TEST(functions_of_one_operand),
        TEST(functions_of_two_operands),
        TEST(results_of_single_elements),
        TEST(lists_of_integers),
        TEST(sizes_of_open_dims),
        TEST(what_does_not_parse_stays),
        TEST(operands_that_do_not_exist),
        TEST(nesting_ends),
    };
    return RUN_GROUP(tests);
}
