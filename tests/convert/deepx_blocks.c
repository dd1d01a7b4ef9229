/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Functions with a body take the places of their calls: what programs with blocks compute, which calls stay, and what a
 * check says of them. */
#include <stdio.h>
#include <string.h>
#include <xir/deepx.h>
#include <xir/exec.h>
#include <xir/pass.h>
#include <xir/serialize.h>
#include "support/net.h"

static xir_network *read_program(const char *text) {
    xir_diags_clear(why);
    xir_network *net = xir_network_read(ctx, text, strlen(text), XIR_STR("p.ir"),
                                        &XIR_INIT(xir_load_options, .format = "deepx"), why);
    if (!net) xir_diags_print(why, stderr);
    assert_non_null(net);
    return net;
}

static const char *const head =
    "newtensor(vector<int32>:[2 3])->(tensor<float32>:a)\n"
    "arange(var<float32>:1, var<float32>:1)->(tensor<float32>:a)\n"
    "newtensor(vector<int32>:[2])->(tensor<float32>:r)\n";

#define HALF "func half(x: tensor<?1x?2xf32>) -> (y: tensor<?1x?2xf32>) {\n    mulscalar(x, 0.5)->(y)\n}\n"
#define SUM  "deepxir total(A: tensor<?1x?2xf32>, axis: list<i32>) -> (m: tensor<?1xf32>) {\n" \
             "    sum(A, axis, false) -> (m)   // of a row\n}\n"

static const struct { const char *blocks, *calls; double r[2]; } programs[] = {
    { SUM, "total(a, [1])->(r)", { 6, 15 } },
    { SUM, "total(tensor<float32>:a, vector<int32>:[-1])->(tensor<float32>:r)", { 6, 15 } },
    { SUM, "total(a, [1])->(r)\ntotal(a, [1])->(r)\naddscalar(r, 1)->(r)", { 7, 16 } },
    { HALF "function f(A: tensor<?1x?2xf32>, n: f32) -> (m: tensor<?1xf32>) {\n    newtensor(?1x?2, f32)->(t)\n"
      "    mulscalar(A, n)-> t\n    half(t)->(t)\n    sum(t, [1], false) -> (m)\n}\n", "f(a, 4)->(r)", { 12, 30 } },
    { "func f(A: tensor<?1x?2xf32>) -> (m: tensor<?1xf32>) {\n    newtensor([?2 ?1], f32)->(t)\n    transpose(A, [1 0])"
      "->(t)\n    sum(t, [0], false)->(m)\n}\n", "f(a)->(r)", { 6, 15 } },
    { "func f(A: tensor<2x?xf64>|tensor<2x?xf32>) -> (m: tensor) {\n"
      "    reducemax(A, [1], false)->(m)\n}\n", "f(a)->(r)", { 3, 6 } },
    { "func f(A: list<tensor<?1xf32>>, d: i32) -> (m: tensor) {\n    newtensor([4], f32)->(t)\n    concat(A, d)->(t)\n"
      "    newtensor([2 2], f32)->(q)\n    reshape(t, [2 2])->(q)\n    sum(q, [0], false)->(m)\n}\n",
      "constant(3)->(r)\nf([r r], 0)->(r)", { 6, 6 } },
    { "func f(A: tensor) -> (m: tensor) {\n    argset(var<float32>:2.5)->(var<float32>:k)\n"
      "    newtensor([2 3], f32)->(t)\n"
      "    mulscalar(A, k)->(t)\n    sum(t, [1], false)->(m)\n}\n",
      "argset(var<float32>:100)->(var<float32>:k)\nf(a)->(r)\naddscalar(r, k)->(r)", { 115, 137.5 } },
    { "func twice(x: tensor) -> (y: tensor) {\n    addscalar(x, 1)->(y)\n    add(y, y)->(y)\n}\n",
      "sum(a, [1], false)->(r)\ntwice(r)->(r)", { 14, 32 } },
    { "func both(x: tensor) -> (y: tensor, z: tensor) {\n    reducemin(x, [1], false)->(y)\n"
      "    reducemax(x, [1], false)->(z)\n}\n",
      "newtensor([2])->(tensor<float32>:q)\nboth(a)->(q, r)\nsub(r, q)->(r)", { 2, 2 } },
    { "func f(A: tensor) -> (m: tensor) {\n    sum(A, [1], false)->(m)\n}\nfunc g(A: tensor) -> (m: tensor) {\n"
      "    f(A)->(m)\n}\nfunc h(A: tensor) -> (m: tensor) {\n    g(A)->(m)\n}\n", "h(a)->(r)", { 6, 15 } },
};

static void blocks_compute_what_their_lines_do(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(programs); i++) {
        char text[2000];
        snprintf(text, sizeof text, "%s%s%s\n", programs[i].blocks, head, programs[i].calls);
        xir_network *net = read_program(text);
        assert_int_equal(xir_deepx_check(net, why), XIR_OK);
        if (xir_pass_run(net, "deepx-to-xir", NULL, NULL, why)) xir_diags_print(why, stderr);
        assert_int_equal(xir_network_validate(net, why), XIR_OK);
        if (xir_network_is_dialect(net)) xir_diags_print(why, stderr);
        assert_false(xir_network_is_dialect(net));
        xir_array *out[8] = { NULL };
        const xir_op *output = xir_network_output_op(net);
        const size_t n = xir_op_input_count(output);
        assert_true(n <= COUNT(out));
        DOES(xir_network_run(net, NULL, 0, out, n, NULL, why));
        size_t found = 0;
        for (size_t k = 0; k < n; k++) {
            const bool r = xir_str_equal(xir_value_name(xir_op_input(output, (int64_t)k)), XIR_STR("r"));
            for (size_t e = 0; r && e < 2; e++, found++)
                if (xir_array_real(out[k], e) != programs[i].r[e])
                    fail_msg("%s: element %zu is %g, expected %g", text, e, xir_array_real(out[k], e),
                             programs[i].r[e]);
            xir_array_free(out[k]);
        }
        assert_int_equal(found, 2);
        xir_network_free(net);
    }
}

/* ---- what does not fit ------------------------------------------------------------------------------------------ */

static const struct { const char *blocks, *calls; xir_status code; const char *path, *words; } faults[] = {
    { "func f(x: tensor) -> (y: tensor) {\n    g(x)->(y)\n}\nfunc g(x: tensor) -> (y: tensor) {\n    f(x)->(y)\n}\n",
      "f(a)->(r)", XIR_E_UNSUPPORTED, "/defs/0", "the block calls itself, through 'g'" },
    { "func f(x: tensor) -> (y: tensor) {\n    exp(x)->(x)\n    exp(x)->(y)\n}\n", "f(a)->(r)", XIR_E_UNSUPPORTED,
      "/defs/0", "the block writes its parameter 'x'" },
    { "func f(x: tensor) -> (y: tensor) {\n    exp(z)->(y)\n}\n", "f(a)->(r)", XIR_E_MISSING, "/defs/0",
      "'z' is used before a line of the block makes it" },
    { "func f(x: tensor) -> (y: tensor) {\n    print(x)->()\n}\n", "f(a)->(r)", XIR_E_INVALID, "/defs/0",
      "no line of the block writes 'y'" },
    { "func f(x: tensor) -> (y: tensor) {\n    load(/w)->()\n    exp(x)->(y)\n}\n", "f(a)->(r)", XIR_E_UNSUPPORTED,
      "/defs/0", "the block calls load, which makes a name outside of it" },
    { SUM SUM, "total(a, [1])->(r)", XIR_E_EXISTS, "/defs/1", "the block 'total' is defined twice" },
    { "func f(x: tensor<?1x?1xf32>) -> (y: tensor) {\n    sum(x, [1], false)->(y)\n}\n", "f(a)->(r)", XIR_E_TYPE,
      "/ops/4/attribute/arg0", "dim 1, ?1, is 2: found 3" },
    { "func f(x: tensor<?1x?2xf32>) -> (y: tensor<?2xf32>) {\n    sum(x, [1], false)->(y)\n}\n", "f(a)->(r)",
      XIR_E_TYPE, "/ops/4/attribute/ret0", "'y' of the block 'f': dim 0, ?2, is 3: found 2" },
    { "func f(x: tensor<2x4xf32>) -> (y: tensor) {\n    sum(x, [1], false)->(y)\n}\n", "f(a)->(r)", XIR_E_TYPE,
      "/ops/4/attribute/arg0", "dim 1, 4, is 4: found 3" },
    { "func f(x: tensor<?xf32>) -> (y: tensor) {\n    exp(x)->(y)\n}\n", "f(a)->(r)", XIR_E_TYPE,
      "/ops/4/attribute/arg0", "expected 1 dims, found 2" },
    { "func f(x: tensor<?x?xf64>|i32) -> (y: tensor) {\n    exp(x)->(y)\n}\n", "f(a)->(r)", XIR_E_TYPE,
      "/ops/4/attribute/arg0", "found a tensor" },
    { "func f(x: tensor<?x?xf64>) -> (y: tensor) {\n    exp(x)->(y)\n}\n", "f(a)->(r)", XIR_E_TYPE,
      "/ops/4/attribute/arg0", "expected elements of f64" },
    { SUM, "total(a)->(r)", XIR_E_TYPE, "/ops/4", "the block 'total' has 2 parameters, the call 1" },
    { SUM, "total(a, [1])->()", XIR_E_TYPE, "/ops/4", "the block 'total' has 1 return slots, the call 0" },
    { SUM, "total(a, 1)->(r)", XIR_E_TYPE, "/ops/4/attribute/arg1", "expected list<i32>, found '1'" },
    { SUM, "total(2, [1])->(r)", XIR_E_TYPE, "/ops/4/attribute/arg0", "expected tensor<?1x?2xf32>, found '2'" },
    { SUM, "total([a a], [1])->(r)", XIR_E_TYPE, "/ops/4/attribute/arg0", "found a list of tensors" },
};

static void calls_that_do_not_fit_stay(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(faults); i++) {
        char text[1000];
        snprintf(text, sizeof text, "%s%s%s\n", faults[i].blocks, head, faults[i].calls);
        xir_network *net = read_program(text);
        const xir_status status = xir_deepx_check(net, why);
        bool found = false;
        for (size_t k = 0; k < xir_diags_count(why); k++) {
            const xir_diag *d = xir_diags_at(why, k);
            found |= d->code == faults[i].code && xir_str_equal(d->path, xir_str_of(faults[i].path)) &&
                     strstr(d->message.data, faults[i].words);
        }
        if (!found || !status) {
            xir_diags_print(why, stderr);
            fail_msg("%s: expected %s: %s", text, faults[i].path, faults[i].words);
        }
        bool replaced;
        const size_t ops = xir_network_op_count(net);
        assert_int_equal(xir_deepx_inline(net, &replaced), XIR_OK);
        if (faults[i].code != XIR_E_EXISTS) {
            assert_false(replaced);
            assert_int_equal(xir_network_op_count(net), ops);
        }
        assert_int_equal(xir_network_validate(net, why), XIR_OK);
        xir_network_free(net);
    }
}

/* Returns the number of calls of blocks that a conversion with these limits leaves. */
static size_t calls_left(const char *text, const xir_limits *limits) {
    xir_limits before = XIR_INIT(xir_limits);
    DOES(xir_context_limits(ctx, &before, why));
    DOES(xir_context_set_limits(ctx, limits, why));
    xir_network *net = read_program(text);
    xir_diags_clear(why);
    DOES(xir_pass_run(net, "deepx-to-xir", NULL, NULL, why));
    DOES(xir_network_validate(net, why));
    size_t n = 0;
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op))
        n += xir_class_is_dialect(xir_op_class(op));
    if (n) assert_non_null(strstr(xir_diags_at(why, 0)->message.data, "max_converted"));
    xir_network_free(net);
    DOES(xir_context_set_limits(ctx, &before, why));
    return n;
}

/* Writes blocks that each call the one before twice, and a call of the last one: 2^depth calls. Returns where the lines
 * after the blocks begin. */
static size_t put_doubling_blocks(char *text, size_t size, int depth) {
    size_t n = (size_t)snprintf(text, size, "func f0(x: tensor) -> (y: tensor) {\n    exp(x)->(y)\n}\n");
    for (int i = 1; i <= depth; i++)
        n += (size_t)snprintf(text + n, size - n, "func f%d(x: tensor) -> (y: tensor) {\n    f%d(x)->(y)\n"
                              "    f%d(y)->(y)\n}\n", i, i - 1, i - 1);
    snprintf(text + n, size - n, "newtensor([2])->(tensor<float32>:a)\nf%d(a)->(a)\n", depth);
    return n;
}

/* Calls of blocks in blocks count, too: f7 takes 3 * 2^7 - 2. Lines take bytes for their texts. */
static void the_limits_of_conversions_are_those_of_blocks(void **state) {
    (void)state;
    char text[8000];
    (void)put_doubling_blocks(text, sizeof text, 7);
    assert_int_equal(calls_left(text, &XIR_INIT(xir_limits, .max_inlined = 382)), 0);
    assert_int_equal(calls_left(text, &XIR_INIT(xir_limits, .max_inlined = 381)), 1);
    size_t n = (size_t)snprintf(text, sizeof text, "func f(x: tensor, a: tensor) -> (y: tensor) {\n");
    for (int i = 0; i < 20; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "    addscalar(x, %0*d)->(y)\n", 99, 1);
    n += (size_t)snprintf(text + n, sizeof text - n, "}\nnewtensor([2])->(tensor<float32>:a)\n");
    for (int i = 0; i < 60; i++) n += (size_t)snprintf(text + n, sizeof text - n, "f(a, a)->(a)\n");
    assert_int_equal(calls_left(text, &XIR_INIT(xir_limits, .max_converted = 4 << 20)), 0);
    const size_t left = calls_left(text, &XIR_INIT(xir_limits, .max_converted = 100000));
    if (left < 1 || left > 200) fail_msg("%zu calls are left", left);
}

static void blocks_that_would_explode_stay(void **state) {
    (void)state;
    char text[6000];
    const size_t n = put_doubling_blocks(text, sizeof text, 40);
    xir_network *net = read_program(text);
    assert_int_equal(xir_deepx_check(net, why), XIR_E_LIMIT);
    bool replaced;
    assert_int_equal(xir_deepx_inline(net, &replaced), XIR_OK);
    assert_false(replaced);
    xir_network_free(net);
    text[n - 1] = '\0';
    snprintf(text + n, sizeof text - n, "newtensor([2])->(tensor<float32>:a)\nf10(a)->(a)\n");
    text[n - 1] = '\n';
    net = read_program(text);
    assert_int_equal(xir_deepx_inline(net, &replaced), XIR_OK);
    assert_true(replaced);
    assert_int_equal(xir_network_op_count(net), 3 + 1024);
    assert_int_equal(xir_network_validate(net, why), XIR_OK);
    xir_network_free(net);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_compute_what_their_lines_do),
        cmocka_unit_test(calls_that_do_not_fit_stay),
        cmocka_unit_test(the_limits_of_conversions_are_those_of_blocks),
        cmocka_unit_test(blocks_that_would_explode_stay),
    };
    return RUN_GROUP(tests);
}
