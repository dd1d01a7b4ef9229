/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Composed ops on quantised operands: values between the parts are real numbers, unless their quantised types follow.
 * The executor, to-parts and fuse-to agree about that, bit by bit. */
#include <stdio.h>
#include <xir/exec.h>
#include "support/scarce.h"

#define XIR_DEFS "support/twins.def"
#include <xir/declare.h>

static int register_twins(xir_context *with) {
    static const xir_class_decl *(*const twins[])(void) = {
        xir_twin_conv_class, xir_twin_silu_class, xir_twin_block_class, xir_twin_halves_class,
    };
    int bad = 0;
    for (size_t i = 0; i < COUNT(twins) && !bad; i++) bad = xir_class_register(with, twins[i](), why) != XIR_OK;
    return bad;
}

static int begin_group(void **state) { return group_begin(state) || register_twins(ctx); }

#define MAP   "QuantizedType{scale=@scales([axis=-1]0.03), zero_points=[7], storage_dtype=int8, expressed_dtype=fp32}"
#define STEPS "QuantizedType{scale=@scales([axis=-1]0.11), storage_dtype=int8, expressed_dtype=fp32}"
#define WEIGHTS "@w : QuantizedType{scale=@scales([axis=3]0.02,0.05), storage_dtype=int8, expressed_dtype=fp32} " \
                "HWIO [1,1,2,2] = x \"1f81e07f\""

static xir_network *network_in(xir_context *with, const char *lines) {
    char text[2000];
    snprintf(text, sizeof text, "xir 1\n%%x = Input() : fp32 NHWC [1,2,2,2]\n"
             "%%q = xir::Quantize(%%x) {target_dtype=" MAP " NHWC [1,2,2,2]} : " MAP " NHWC [1,2,2,2]\n"
             "%s\nOutput(%%y)\n", lines);
    xir_network *net = xir_network_read(with, text, strlen(text), XIR_STR("text"),
                                        &XIR_INIT(xir_load_options, .format = "text"), why);
    if (!net) {
        xir_diags_print(why, stderr);
        fail_msg("not read: %s", text);
    }
    return net;
}

static xir_network *network_of(const char *lines) { return network_in(ctx, lines); }

static xir_array *result_of(xir_network *net) {
    xir_value *x;
    (void)xir_network_inputs(net, &x, 1);
    xir_array *in = xir_array_random(ctx, xir_value_type(x), 3, why), *y = NULL;
    if (xir_network_run(net, (const xir_array *const *)&in, 1, &y, 1, NULL, why)) {
        xir_diags_print(why, stderr);
        fail_msg("it does not run");
    }
    xir_array_free(in);
    return y;
}

static void compute_the_same(xir_network *a, xir_network *b) {
    xir_array *one = result_of(a), *other = result_of(b);
    size_t size, size2;
    const void *bytes = xir_array_data(one, &size), *bytes2 = xir_array_data(other, &size2);
    assert_true(xir_type_equal(xir_type_element(xir_array_type(one)), xir_type_element(xir_array_type(other))));
    assert_int_equal(size, size2);
    assert_memory_equal(bytes, bytes2, size);
    xir_array_free(one);
    xir_array_free(other);
}

static size_t count(const xir_network *net, const char *key) {
    size_t n = 0;
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op))
        n += xir_str_equal(xir_class_key(xir_op_class(op)), xir_str_of(key));
    return n;
}

#define CONV  "%c = Conv2d(%q, " WEIGHTS ")"
#define FUSED "%y = twin::Conv(%q, " WEIGHTS ", _, _) {leak=0.1}"

static void parts_compute_real_numbers(void **state) {
    (void)state;
    xir_network *whole = network_of(FUSED " : fp32 NHWC [1,2,2,2]");
    xir_network *parts = network_of(CONV " : fp32 NHWC [1,2,2,2]\n%y = ReLU(%c) {alpha=0.1} : fp32 NHWC [1,2,2,2]");
    compute_the_same(whole, parts);
    xir_network *written = xir_network_clone(whole);
    DOES(xir_pass_run(written, "to-parts", NULL, NULL, why));
    assert_int_equal(count(written, "twin::Conv"), 0);
    compute_the_same(written, parts);
    DOES(xir_pass_run(written, "fuse-to", "class=twin::Conv", NULL, why));
    DOES(xir_pass_run(parts, "fuse-to", "class=twin::Conv", NULL, why));
    assert_int_equal(count(written, "twin::Conv"), 1);
    assert_int_equal(count(parts, "twin::Conv"), 1);
    compute_the_same(written, whole);
    compute_the_same(parts, whole);
    xir_network_free(written);
    xir_network_free(parts);
    xir_network_free(whole);
}

static void a_stored_result_is_rounded_once(void **state) {
    (void)state;
    xir_network *whole = network_of(FUSED " : " STEPS " NHWC [1,2,2,2]");
    xir_network *parts = network_of(CONV " : fp32 NHWC [1,2,2,2]\n%r = ReLU(%c) {alpha=0.1} : fp32 NHWC [1,2,2,2]\n"
                                    "%y = Cast(%r) {target_dtype=" STEPS " NHWC [1,2,2,2]} : " STEPS " NHWC [1,2,2,2]");
    compute_the_same(whole, parts);
    DOES(xir_pass_run(whole, "to-parts", NULL, NULL, why));   /* no part has this type */
    assert_int_equal(count(whole, "twin::Conv"), 1);
    xir_network_free(parts);
    xir_network_free(whole);
}

static void what_is_stored_between_parts_is_not_fused(void **state) {
    (void)state;
    xir_network *net = network_of(CONV " : " STEPS " NHWC [1,2,2,2]\n%y = ReLU(%c) : " STEPS " NHWC [1,2,2,2]");
    DOES(xir_pass_run(net, "fuse-to", "class=twin::Conv", NULL, why));
    assert_int_equal(count(net, "twin::Conv"), 0);
    const xir_diag *d = xir_diags_at(why, 0);
    assert_non_null(d);
    assert_int_equal(d->severity, XIR_NOTE);
    assert_non_null(strstr(d->message.data, "its result is stored as integers, but between the parts of twin::Conv"));
    xir_diags_clear(why);
    xir_network_free(net);
}

static void composed_parts_do_so_too(void **state) {
    (void)state;
    xir_network *whole = network_of("%y = twin::Block(%q, " WEIGHTS ", _) : fp32 NHWC [1,2,2,2]");
    xir_network *parts = network_of(CONV " : fp32 NHWC [1,2,2,2]\n%r = ReLU(%c) : fp32 NHWC [1,2,2,2]\n"
                                    "%s = SiLU(%r) : fp32 NHWC [1,2,2,2]\n%y = Add(%r, %s) : fp32 NHWC [1,2,2,2]");
    compute_the_same(whole, parts);
    DOES(xir_pass_run(whole, "to-parts", NULL, NULL, why));
    assert_int_equal(count(whole, "icraft::xir::Conv2d"), 1);
    compute_the_same(whole, parts);
    xir_network_free(parts);
    xir_network_free(whole);
}

/* Types that follow are those of the operands. */
static void moved_numbers_stay_quantised(void **state) {
    (void)state;
    xir_network *net = network_of("%low, %high = twin::Halves(%q, %q) {half=2} : " MAP " NHWC [1,2,2,2], " MAP
                                  " NHWC [1,2,2,2]\n%y = Copy(%high) : " MAP " NHWC [1,2,2,2]");
    DOES(xir_pass_run(net, "to-parts", NULL, NULL, why));
    assert_int_equal(count(net, "icraft::xir::Split"), 1);
    const xir_op *split = xir_op_prev(xir_op_prev(xir_network_output_op(net)));
    assert_true(xir_type_is_quantized(xir_type_element(xir_value_type(xir_op_output(split, 1)))));
    xir_network_free(net);
}

static void there_and_back(want *w) {
    IN_PLENTY(w, assert_int_equal(register_twins(w->ctx), 0));
    IN_PLENTY(w, w->net = network_in(w->ctx, FUSED " : fp32 NHWC [1,2,2,2]"));
    assert_non_null(w->net);
    TRY_LOOSELY(w, xir_pass_run(w->net, "to-parts", NULL, NULL, w->why));
    assert_int_equal(count(w->net, "icraft::xir::Conv2d"), 1);
    TRY_LOOSELY(w, xir_pass_run(w->net, "fuse-to", "class=twin::Conv", NULL, w->why));
    assert_int_equal(count(w->net, "twin::Conv"), 1);
    xir_network_free(w->net);
    w->net = NULL;
}

SCARCE_TEST(there_and_back)

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_compute_real_numbers),
        cmocka_unit_test(a_stored_result_is_rounded_once),
        cmocka_unit_test(what_is_stored_between_parts_is_not_fused),
        cmocka_unit_test(composed_parts_do_so_too),
        cmocka_unit_test(moved_numbers_stay_quantised),
        cmocka_unit_test(test_there_and_back),
    };
    return cmocka_run_group_tests(tests, begin_group, group_end);
}
