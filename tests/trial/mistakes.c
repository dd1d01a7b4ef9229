/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The mistakes of plug-in authors are found, and named in a sentence. tests/plugin/mistakes.c makes them. */
#include <stdio.h>
#include <stdlib.h>
#include "support/net.h"

static const struct { const char *mistake; xir_status status; const char *sentence; } cases[] = {
    { "two",     XIR_E_INVALID, "its inference gives 2 types: expected 1, one for each output" },
    { "none",    XIR_E_INVALID, "its inference gives 0 types: expected 1, one for each output" },
    { "null",    XIR_E_INVALID, "its inference gives no type for output 0" },
    { "checks",  XIR_E_INVALID, "CHECK is not pure: " },
    { "infers",  XIR_E_INVALID, "INFER is not pure: output 0 of " },
    { "changes", XIR_E_INVALID, "CHECK or INFER changes the attribute 'times' of " },
    { "silent",  XIR_E_INVALID, "CHECK or INFER refuses " },
    { "refuses", XIR_OK,        "random ops is accepted, so most was not tried; the last refusal: mistake::Refuses: " },
    { "closed",  XIR_E_INVALID, " is unknown: mistake::Closed: dim " },
    { "knows",   XIR_E_INVALID, " is unknown, but " },
    { "work",    XIR_E_INVALID, "WORK is not pure: " },
    { "counts",  XIR_E_INVALID, "its kernel is not pure: element 0 of output 0 of " },
    { "beyond",  XIR_E_INVALID, "its kernel writes past the end of its memory for " },
    { "writes",  XIR_E_INVALID, "its kernel changes input 0 of " },
    { "answers", XIR_E_INVALID, "its kernel answers invalid for " },
    { "fails",   XIR_E_INVALID, "its kernel fails (bounds) for " },
    { "over",    XIR_E_INVALID, "SHARES (OVER, input) is wrong: element " },
    { "view",    XIR_E_INVALID, "SHARES (VIEW) is wrong: the output of " },
    { "little",  XIR_E_INVALID, "NEEDS names too little of input 0 of " },
    { "much",    XIR_E_INVALID, "NEEDS names too much of input 0 of " },
    { "places",  XIR_E_INVALID, "NEEDS says that an op computes a part alone, but output 0 of " },
    { "grows",   XIR_E_INVALID, "NEEDS is wrong about the tiles of " },
    { "each",    XIR_E_INVALID, "LAYOUT (EACH) is wrong: element " },
    { "parts",   XIR_E_INVALID, "its kernel differs from the parts for " },
    { "types",   XIR_E_INVALID, "INFER differs from the parts for " },
    { "endless", XIR_E_INVALID, "class mistake::Endless: its rows do not end with END: row 2 begins the class " },
    { "text",    XIR_E_ABI,     "it is of a later version, or the rows do not end with END" },
};

static const char module[] = XIR_TEST_PLUGINS "/mistakes.so";

static xir_status try_mistake(const char *name, xir_trial *out) {
    setenv("XIR_MISTAKE", name, 1);
    xir_diags_clear(why);
    const xir_status status = xir_plugin_try(ctx, module, NULL, out, why);
    unsetenv("XIR_MISTAKE");
    return status;
}

static bool is_told(const char *sentence) {
    for (size_t i = 0; i < xir_diags_count(why); i++) {
        const xir_diag *d = xir_diags_at(why, i);
        if (d->severity != XIR_NOTE && strstr(d->message.data, sentence)) return true;
    }
    return false;
}

static void a_mistake_is_named_in_a_sentence(void **state) {
    (void)state;
    size_t wrong = 0;
    for (size_t i = 0; i < COUNT(cases); i++) {
        const xir_status status = try_mistake(cases[i].mistake, NULL);
        if (getenv("XIR_SHOW")) xir_diags_print(why, stdout);
        if (status == cases[i].status && is_told(cases[i].sentence)) continue;
        wrong++;
        fprintf(stderr, "%s: %s, expected '%s'\n", cases[i].mistake, xir_status_name(status), cases[i].sentence);
        xir_diags_print(why, stderr);
    }
    assert_int_equal(wrong, 0);
}

static void a_class_without_a_mistake_has_no_finding(void **state) {
    (void)state;
    xir_trial t = XIR_INIT(xir_trial);
    const xir_status status = try_mistake("fine", &t);
    xir_diags_print(why, stderr);
    assert_int_equal(status, XIR_OK);
    assert_int_equal(xir_diags_count(why), 0);
    assert_int_equal(t.classes, 1);
    assert_true(t.ops == 40 && t.runs == 40 && t.faults == 0);
}

/* ---- a kernel and its parts -------------------------------------------------------------------------------------- */

static void a_kernel_is_compared_with_its_parts(void **state) {
    (void)state;
    xir_context *own = xir_context_new(NULL);
    xir_diags *found = xir_diags_new(own);
    setenv("XIR_MISTAKE", "parts", 1);
    DOES(xir_plugin_load(own, module, found));
    unsetenv("XIR_MISTAKE");
    xir_network *net = xir_network_new(own, "parts", XIR_FRAMEWORK_PYTORCH, "");
    const xir_type *type = XIR_TENSOR(own, xir_type_float(own, XIR_FLOAT_FP32), "*", 4);
    xir_value *x = xir_input(xir_at_end(net), "x", type);
    xir_op *op = xir_op_create(net, XIR_STR("mistake::Parts"));
    assert_non_null(op);
    DOES(xir_op_add_input(op, x));
    DOES(xir_op_place(op, NULL));
    const float numbers[4] = { -1, 0, 1, 2 }, small[4] = { -1, 0, -2, 0 };
    xir_array *in = xir_array_copy(own, type, numbers, sizeof numbers, found);
    xir_kernel_check c = XIR_INIT(xir_kernel_check);
    assert_int_equal(xir_op_check_kernel(op, (const xir_array *const *)&in, 1, &c, found), XIR_E_INVALID);
    assert_true(c.within > 0.9e-5 && c.within < 1.1e-5 && c.largest > 0.019 && c.largest < 0.021);
    assert_true(c.elements == 4 && c.differ == 2);
    assert_non_null(strstr(xir_diags_at(found, 0)->message.data, "element 2 of output 0 is 1.00999999, expected 1 as "
                           "its parts compute it"));
    xir_array_free(in);
    in = xir_array_copy(own, type, small, sizeof small, found);      /* where it is right */
    DOES(xir_op_check_kernel(op, (const xir_array *const *)&in, 1, &c, found));
    assert_true(c.differ == 0 && c.elements == 4);
    xir_kernel_check none = { 0 };
    assert_int_equal(xir_op_check_kernel(op, (const xir_array *const *)&in, 1, &none, found), XIR_E_ABI);
    assert_int_equal(xir_op_check_kernel(NULL, NULL, 0, NULL, found), XIR_E_MISSING);
    xir_op *relu = xir_op_create(net, XIR_STR("icraft::xir::ReLU"));
    assert_int_equal(xir_op_check_kernel(relu, (const xir_array *const *)&in, 1, NULL, found), XIR_E_UNSUPPORTED);
    xir_array_free(in);
    xir_network_free(net);
    xir_diags_free(found);
    xir_context_free(own);
}

/* ---- bad calls --------------------------------------------------------------------------------------------------- */

static void bad_arguments_are_refused(void **state) {
    (void)state;
    struct { xir_trial_options how; char more[8]; } later = { { .size = sizeof later }, { 1 } };
    assert_int_equal(xir_plugin_try(NULL, module, NULL, NULL, why), XIR_E_MISSING);
    assert_int_equal(xir_plugin_try(ctx, NULL, NULL, NULL, why), XIR_E_MISSING);
    assert_int_equal(xir_plugin_try(ctx, "nowhere.so", NULL, NULL, why), XIR_E_IO);
    assert_int_equal(xir_plugin_try(ctx, module, &(xir_trial_options){ 0 }, NULL, why), XIR_E_ABI);
    assert_int_equal(xir_plugin_try(ctx, module, NULL, &(xir_trial){ 0 }, why), XIR_E_ABI);
    assert_int_equal(xir_plugin_try(ctx, module, &later.how, NULL, why), XIR_E_UNSUPPORTED);
}

/* An allocator that refuses everything after some requests. */
static size_t left;
static void *some(void *user, void *block, size_t old_size, size_t size) {
    (void)user;
    (void)old_size;
    if (!size) {
        free(block);
        return NULL;
    }
    if (!left) return NULL;
    left--;
    return realloc(block, size);
}

static void memory_may_run_out(void **state) {
    (void)state;
    size_t refused = 0;
    setenv("XIR_MISTAKE", "fine", 1);
    for (size_t n = 1; n < 200000; n += 1 + n / 4) {
        left = SIZE_MAX;
        xir_context *own = xir_context_new(&(xir_allocator){ some, NULL });
        const xir_trial_options how = XIR_INIT(xir_trial_options, .ops = 2);
        xir_diags *found = xir_diags_new(own);
        left = n;
        const xir_status status = xir_plugin_try(own, module, &how, NULL, found);
        left = SIZE_MAX;
        if (status && status != XIR_E_MEMORY) fail_msg("%zu requests: %s", n, xir_status_name(status));
        refused += status != XIR_OK;
        xir_diags_free(found);
        xir_context_free(own);
    }
    unsetenv("XIR_MISTAKE");
    assert_true(refused > 20);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_mistake_is_named_in_a_sentence),
        cmocka_unit_test(a_class_without_a_mistake_has_no_finding),
        cmocka_unit_test(a_kernel_is_compared_with_its_parts),
        cmocka_unit_test(bad_arguments_are_refused),
        cmocka_unit_test(memory_may_run_out),
    };
    return RUN_GROUP(tests);
}
