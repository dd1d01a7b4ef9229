/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The way back from XIR to a dialect: rows read backward, by the first that holds; orders of axes; constants; formulas
 * in terms of simpler ops; what stays, and why. The dialect belongs to the test, as it would to a plug-in. Networks are
 * written as in support/story.h. */
#include <stdio.h>
#include <string.h>
#include <xir/pass.h>
#include <xir/prove.h>
#include "own_dialect.h"

/* ---- a dialect both ways ---------------------------------------------------------------------------------------- */

/* x * by, or x * other: the second is for factors that are computed. */
static bool scale(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    return xir_node_result(at, 0, xir_node_scaled(at, x, xir_node_real(at, "by", 1)));
}
static bool scale_back(xir_node *at) {
    const double *by;
    size_t n;
    if (!xir_node_is_constant(at, 1) || !xir_node_reals(at, 1, &by, &n) || n != 1)
        return xir_node_unsupported(at, "the factor is not a number");
    const xir_set sets[] = { XIR_SETR("by", *by) };
    return xir_node_becomes_foreign(at, XIR_VALUES(xir_node_input(at, 0)), (xir_sets){ sets, 1 });
}

static xir_value *constant(xir_node *at, xir_value *params) {
    const xir_type *type = xir_value_type(params);
    const xir_set sets[] = { XIR_SETO("data", params) };
    xir_op *op = xir_node_make_foreign(at, "form::Data", (xir_values){ NULL, 0 }, (xir_sets){ sets, 1 }, &type, 1);
    return op ? xir_op_output(op, 0) : NULL;
}

static const xir_convert_row rows[] = {
    { XIR_CONVERT_HEAD, "form::Cut6", "1", "1", "", "ReLU", "max_value=6" },
    { XIR_CONVERT_HEAD, "form::Leak", "1", "1", "slope:f", "ReLU", "alpha=slope:0.01" },
    { XIR_CONVERT_HEAD, "form::Pool", "1 x:NCHW", "1", "size:I! pad:I include:b", "AvgPool2d",
      "pool_height=size[0] pool_width=size[1] pad_top=pad[0] pad_bottom=pad[0] pad_left=pad[1] pad_right=pad[1] "
      "count_include_pad=!include" },
    { XIR_CONVERT_HEAD, "form::Conv", "1 x:NCHW @weight:OIHW @bias?", "1", "step:I", "Conv2d",
      "stride_height=step[0] stride_width=step[1]" },
    { XIR_CONVERT_HEAD, "form::Half", "1", "1", "mode:s", "DivideScalar",
      "divisor=2 rounding_mode=mode{down:FLOOR,near:NONE}" },
    { XIR_CONVERT_HEAD, "form::Scale", "1", "1", "by:f!", "Multiply", NULL, scale, "Multiply", scale_back },
    { XIR_CONVERT_HEAD, "form::Times", "2", "1", "", "Multiply", NULL },
    { XIR_CONVERT_HEAD, "form::Turn", "1", "1", "dims:I!", "Transpose", "dims=dims layout=letters" },
    { XIR_CONVERT_HEAD, "form::Logistic", "1", "1", "", "Sigmoid", NULL },
    { XIR_CONVERT_HEAD, "form::Data", "0", "1", "data:t!", "Params", NULL, xir_convert_unsupported },
    { XIR_CONVERT_HEAD, "form::Needs", "1", "1", "what:i!", "Tanh", NULL },
};
static const xir_dialect_decl form;
static const xir_pass_decl pass = XIR_DIALECT_PASS("xir-to-form", "to the test's own format", &form);
static const xir_dialect_decl form = { XIR_DIALECT_HEAD("form::", "Form"), .rows = rows, .n_rows = COUNT(rows), .back =
                                       &pass,
                                       .before_back = "layout{to=nchw}", .constant = constant };

static int begin(void **state) {
    (void)state;
    return begin_with(&form);
}

/* "include=true pad=0,0": the attributes of the op that makes a value, by name. */
static const char *attributes(const char *name) {
    static char text[400];
    const xir_map *extra = xir_op_extra(story_op(net, name));
    size_t n = 0;
    *text = '\0';
    for (size_t i = 0; extra && i < extra->size; i++) {
        const xir_any *a = &extra->entries[i].value;
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%.*s=", i ? " " : "", (int)extra->entries[i].key.size,
                              extra->entries[i].key.data);
        const size_t items = a->kind == XIR_ANY_LIST ? a->as.list.size : 1;
        for (size_t k = 0; k < items; k++) {
            const xir_any *item = a->kind == XIR_ANY_LIST ? &a->as.list.items[k] : a;
            if (k) n += (size_t)snprintf(text + n, sizeof text - n, ",");
            if (item->kind == XIR_ANY_BOOL)
                n += (size_t)snprintf(text + n, sizeof text - n, "%s", item->as.boolean ? "true" : "false");
            if (item->kind == XIR_ANY_INT)
                n += (size_t)snprintf(text + n, sizeof text - n, "%lld", (long long)item->as.integer);
            if (item->kind == XIR_ANY_REAL) n += (size_t)snprintf(text + n, sizeof text - n, "%g", item->as.real);
            if (item->kind == XIR_ANY_TEXT)
                n += (size_t)snprintf(text + n, sizeof text - n, "%.*s", (int)item->as.text.size, item->as.text.data);
            if (item->kind == XIR_ANY_PARAMS) n += (size_t)snprintf(text + n, sizeof text - n, "PARAMS");
        }
    }
    return text;
}

/* Returns true if something is found other than that constants lose their names. */
static bool finds_more(void) {
    const xir_diag *first = xir_diags_at(found, 0);
    return xir_diags_count(found) > 1 || (first && !strstr(first->message.data, "not in the file: "));
}

static void becomes(const char *expected, int line) {
    const xir_status status = xir_pass_run(net, "xir-to-form", "strict", NULL, found);
    if (status || finds_more()) {
        xir_diags_print(found, stderr);
        fail_msg("line %d", line);
    }
    check_story(net, expected, __FILE__, line);
}
#define BECOMES(expected) becomes(expected, __LINE__)

/* The op stays for this reason, and the network is unchanged; strictly, that is an error. */
static void stays(const char *text, const char *reason, int line) {
    given(text);
    char *before = story_text(net);
    assert_int_equal(xir_pass_run(net, "xir-to-form", NULL, NULL, found), XIR_OK);
    const xir_diag *d = xir_diags_at(found, 0);
    if (!d || d->severity != XIR_NOTE || !strstr(d->message.data, reason))
        fail_msg("line %d: expected '%s', found '%s'", line, reason, d ? d->message.data : "");
    check_story(net, before, __FILE__, line);
    free(before);
    given(text);
    assert_int_equal(xir_pass_run(net, "xir-to-form", "strict", NULL, found), XIR_E_UNKNOWN);
}
#define STAYS(text, reason) stays(text, reason, __LINE__)

/* ---- rows ------------------------------------------------------------------------------------------------------- */

static void the_first_row_that_holds(void **state) {
    (void)state;
    given("x: 2 3; a = ReLU x [max_value=6]; out a");
    BECOMES("a = form::Cut6 x; out a");
    assert_string_equal(attributes("a"), "");
    given("x: 2 3; a = ReLU x [alpha=0.5]; out a");
    BECOMES("a = form::Leak x; out a");
    assert_string_equal(attributes("a"), "slope=0.5");
    given("x: 2 3; a = ReLU x; out a");
    BECOMES("a = form::Leak x; out a");
    assert_string_equal(attributes("a"), "slope=0");
    STAYS("x: 2 3; a = ReLU x [threshold=2]; out a", "max_value is not 6");
    STAYS("x: 2 3; a = Tanh x; out a", "nothing gives what");
    STAYS("x: 2 3; a = Softsign x; out a", "Form has no operation for it");
}

static void items_words_and_inverted_bools(void **state) {
    (void)state;
    given("x: NCHW 1 2 9 9; "
         "a = AvgPool2d x [pool_height=3 pool_width=2 pad_left=1 pad_right=1 count_include_pad=true]; out a");
    BECOMES("a = form::Pool x; out a");
    assert_string_equal(attributes("a"), "include=false pad=0,1 size=3,2");
    STAYS("x: NCHW 1 2 9 9; a = AvgPool2d x [pool_height=3 pool_width=2 pad_left=1]; out a",
          "another number than its counterpart");
    given("x: 2 3; a = DivideScalar x [divisor=2 rounding_mode=FLOOR]; out a");
    BECOMES("a = form::Half x; out a");
    assert_string_equal(attributes("a"), "mode=down");
    STAYS("x: 2 3; a = DivideScalar x [divisor=2 rounding_mode=TRUNC]; out a", "rounding_mode is TRUNC");
    STAYS("x: 2 3; a = DivideScalar x [divisor=3]; out a", "divisor is not 2");
}

static void weights_get_the_order_of_the_file(void **state) {
    (void)state;
    given("x: NCHW 1 2 6 6; w: params HWIO 3 3 2 4; b: params 4; "
         "a = Conv2d x w b [stride_height=2 stride_width=2]; out a");
    BECOMES("a = form::Conv x; out a");
    assert_string_equal(attributes("a"), "@bias=PARAMS @weight=PARAMS step=2,2");
    const xir_any *weight = xir_map_find(xir_op_extra(story_op(net, "a")), XIR_STR("@weight"));
    static const int64_t dims[] = { 4, 2, 3, 3 };
    for (int64_t i = 0; i < 4; i++)
        assert_int_equal(xir_type_dim(xir_value_type(weight->as.params), i, false), dims[i]);
    STAYS("x: NCHW 1 2 6 6; w: HWIO 3 3 2 4; a = Conv2d x w; out a", "@weight is not constant");
}

/* ---- axes ------------------------------------------------------------------------------------------------------- */

static void maps_in_another_order_are_turned(void **state) {
    (void)state;
    given("x: NHWC 1 9 9 2; a = AvgPool2d x [pool_height=3 pool_width=3]; out a");
    assert_int_equal(xir_pass_run(net, "xir-to-form", NULL, NULL, found), XIR_OK);
    CHECK_STORY(net, "a.Turn = form::Turn x; a.Pool = form::Pool a.Turn; a = form::Turn a.Pool; out a");
}

/* The model moves channels to axis 1, and averages over axes 1 and 2 then: what the first average gives has the order
 * of the file, and the second one must not take it for a map of that order. */
static void a_map_without_letters_has_channels_last(void **state) {
    (void)state;
    given("x: NHWC 1 9 9 9; a = AvgPool2d x [pool_height=3 pool_width=3]; "
          "t = Transpose a [dims=0,3,1,2 layout=@layout(****)]; b = AvgPool2d t [pool_height=3 pool_width=3]; out b");
    assert_int_equal(xir_pass_run(net, "xir-to-form", "strict", NULL, found), XIR_OK);
    CHECK_STORY(net, "a.Turn = form::Turn x; a = form::Pool a.Turn; b.Turn = form::Turn a; b.Pool = form::Pool b.Turn; "
                     "b = form::Turn b.Pool; out b");
}

/* ---- formulas, hooks and constants ------------------------------------------------------------------------------ */

static void hooks_are_tried_before_the_next_row(void **state) {
    (void)state;
    given("x: 2 3; h: 0.5; a = Multiply x h; out a");
    BECOMES("a = form::Scale x; out a");
    assert_string_equal(attributes("a"), "by=0.5");
    given("x: 2 3; y: 2 3; a = Multiply x y; out a");
    BECOMES("a = form::Times x y; out a");
}

static void simpler_ops_stand_for_others(void **state) {
    (void)state;
    given("x: 2 3; a = SiLU x; out a");
    BECOMES("a.Logistic = form::Logistic x; a = form::Times x a.Logistic; out a");
}

/* ---- ops that are alike ----------------------------------------------------------------------------------------- */

static const xir_map *extra_of(const char *name) { return xir_op_extra(story_op(net, name)); }

static void ops_that_are_alike_share_attributes(void **state) {
    (void)state;
    const xir_any three = xir_any_int(3);
    given("x: 2 3; a = ReLU x [alpha=0.5]; b = ReLU a [alpha=0.5]; c = ReLU b [alpha=0.25]; d = ReLU c [alpha=0.5]; "
          "e = ReLU d [max_value=6]; f = ReLU e [alpha=0.5]; out f");
    BECOMES("a = form::Leak x; b = form::Leak a; c = form::Leak b; d = form::Leak c; e = form::Cut6 d; "
            "f = form::Leak e; out f");
    assert_ptr_equal(extra_of("a"), extra_of("b"));
    assert_string_equal(attributes("c"), "slope=0.25");
    assert_string_equal(attributes("e"), "");
    assert_ptr_equal(extra_of("d"), extra_of("f"));
    DOES(xir_op_set_extra(story_op(net, "d"), XIR_STR("slope"), &three));
    assert_string_equal(attributes("d"), "slope=3");
    assert_string_equal(attributes("f"), "slope=0.5");
}

static void params_become_ops(void **state) {
    (void)state;
    given("x: 2 3; w: params 2 3; a = Multiply x w; b = Multiply a w; out b");
    BECOMES("w = form::Data; a = form::Times x w; b = form::Times a w; out b");
    given("x: 2 3; w: params 2 3; a = form::Strange x w; out a w");   /* an op of the format that was never converted */
    BECOMES("w = form::Data; a = form::Strange x w; out a w");
}

/* ---- rows of programs that were built before there was a way back ------------------------------------------------ */

/* A row as it was then. Without a hook it is read backward, too. */
typedef struct old_row {
    uint32_t        abi, size;
    const char     *name, *inputs, *outputs, *attributes, *cls, *sets;
    xir_convert_fn *hook;
} old_row;

static void rows_of_older_programs(void **state) {
    (void)state;
    static const old_row old[] = {
        { XIR_ABI, sizeof(old_row), "form::Soft", "1", "1", "along:i", "Softmax", "axis=along", NULL },
        { XIR_ABI, sizeof(old_row), "form::Round", "1", "1", "", "Round", NULL, NULL },
    };
    assert_int_equal(xir_convert_register(with, (const xir_convert_row *)(const void *)old, COUNT(old), found), XIR_OK);
    given("x: 2 3; a = Softmax x [axis=0]; b = Round a; out b");
    BECOMES("a = form::Soft x; b = form::Round a; out b");
    assert_string_equal(attributes("a"), "along=0");
    static const xir_convert_row backless = { XIR_CONVERT_HEAD, "form::Bad", "1", "1", "", "Exp", NULL, scale, NULL,
                                              scale_back };
    assert_int_equal(xir_convert_register(with, &backless, 1, found), XIR_E_INVALID);
}

/* ---- networks that are partly converted ------------------------------------------------------------------ */

static void ops_that_stay_find_their_axes(void **state) {
    (void)state;
    given("x: NCHW 1 2 9 9; a = AvgPool2d x [pool_height=3 pool_width=3]; "
         "b = MaxPool2d a [pool_height=2 pool_width=2]; out b");
    xir_network *before = xir_network_clone(net);
    assert_int_equal(xir_pass_run(net, "xir-to-form", NULL, NULL, found), XIR_OK);
    CHECK_STORY(net, "a = form::Pool x; b = MaxPool2d a [pool_width=2 pool_height=2]; out b");
    xir_diags_clear(found);
    assert_int_equal(xir_pass_run(net, "to-xir", "strict", NULL, found), XIR_OK);
    assert_int_equal(xir_network_infer(net, found), XIR_OK);
    CHECK_SAME_NUMBERS(net, before);
    xir_network_free(before);
}

static void letters_alone_are_not_ops(void **state) {
    (void)state;
    given("x: 1 2 9 9; t = Transpose x [dims=0,1,2,3 layout=@layout(NCHW)]; "
         "a = AvgPool2d t [pool_height=3 pool_width=3]; r = Transpose a [dims=0,1,2,3 layout=@layout(****)]; out r");
    BECOMES("r = form::Pool x; out r");
    given("x: 1 2 9 9; r = Transpose x [dims=0,1,2,3 layout=@layout(****)]; out r");   /* two names need an op */
    BECOMES("r = form::Turn x; out r");
}

/* ---- a way back with options ------------------------------------------------------------------------------------- */

/* x times a number that is not above `most`; the tags note which calls there were. */
static bool without_pass;

static bool gain(xir_node *at) {
    without_pass = xir_node_pass(at) == NULL;
    return xir_node_result(at, 0, xir_node_scaled(at, xir_node_input(at, 0), xir_node_real(at, "by", 1)));
}
static bool gain_back(xir_node *at) {
    const double *by;
    size_t n;
    if (!xir_node_reals(at, 1, &by, &n) || n != 1) return xir_node_unsupported(at, "the factor is not a number");
    const int64_t most = xir_pass_int(xir_node_pass(at), "most");
    if (*by > (double)most) return xir_node_unsupported(at, "more than %lld", (long long)most);
    const xir_set sets[] = { XIR_SETR("by", *by) };
    return xir_node_becomes_foreign(at, XIR_VALUES(xir_node_input(at, 0)), (xir_sets){ sets, 1 });
}
static xir_status note(xir_pass *at, const char *key) {
    const xir_any yes = xir_any_bool(true);
    xir_pass_changed(at, 1);
    return xir_network_set_tag(xir_pass_network(at), xir_str_of(key), &yes);
}
static xir_status tuned_begin(xir_pass *at) {
    if (xir_pass_int(at, "most") < 0) return xir_pass_fail(at, XIR_E_INVALID, NULL, "most: expected 0 or more");
    return note(at, "tuned.begun");
}
static xir_status tuned_end(xir_pass *at) {
    if (xir_pass_int(at, "most") == 9) return xir_pass_fail(at, XIR_E_LIMIT, NULL, "most: 9 is too many");
    return note(at, "tuned.whole");
}
static const xir_convert_row tuned_rows[] = {
    { XIR_CONVERT_HEAD, "tuned::Gain", "1", "1", "by:f!", "Multiply", NULL, gain, "Multiply", gain_back },
};
static const xir_pass_option tuned_options[] = {
    XIR_DIALECT_STRICT, { "most", XIR_PASS_INT, "2", "the greatest factor" },
};
static const xir_dialect_decl tuned;
static const xir_pass_decl tuned_pass =
    XIR_DIALECT_PASS_WITH("xir-to-tuned", "to a format with options", &tuned, tuned_options);
static const xir_dialect_decl tuned = {
    XIR_DIALECT_HEAD("tuned::", "Tuned"), .rows = tuned_rows, .n_rows = COUNT(tuned_rows), .back = &tuned_pass,
    .begin_back = tuned_begin, .end_back = tuned_end,
};

static bool has_tag(const char *key) { return xir_map_find(xir_network_tags(net), xir_str_of(key)) != NULL; }

static void options_reach_hooks(void **state) {
    (void)state;
    assert_int_equal(xir_dialect_register(with, &tuned, found), XIR_OK);
    given("x: 2 3; h: 2; a = Multiply x h; out a");
    assert_int_equal(xir_pass_run(net, "xir-to-tuned", "strict", NULL, found), XIR_OK);
    CHECK_STORY(net, "a = tuned::Gain x; out a");
    assert_true(has_tag("tuned.begun") && has_tag("tuned.whole"));
    assert_int_equal(xir_pass_run(net, "to-xir", "strict", NULL, found), XIR_OK);
    assert_true(without_pass);   /* the way there is another pass */

    given("x: 2 3; h: 3; a = Multiply x h; out a");
    assert_int_equal(xir_pass_run(net, "xir-to-tuned", NULL, NULL, found), XIR_OK);
    assert_non_null(strstr(xir_diags_at(found, 0)->message.data, "more than 2"));
    CHECK_STORY(net, "a = Multiply x h; out a");
    assert_true(has_tag("tuned.begun") && !has_tag("tuned.whole"));   /* an op stays */
    assert_int_equal(xir_pass_run(net, "xir-to-tuned", "most=3", NULL, found), XIR_OK);
    CHECK_STORY(net, "a = tuned::Gain x; out a");
    assert_true(has_tag("tuned.whole"));
}

static void options_are_refused(void **state) {
    (void)state;
    assert_int_equal(xir_dialect_register(with, &tuned, found), XIR_OK);
    given("x: 2 3; h: 2; a = Multiply x h; out a");
    assert_int_equal(xir_pass_run(net, "xir-to-tuned", "most=-1", NULL, found), XIR_E_INVALID);
    assert_non_null(strstr(xir_diags_at(found, 0)->message.data, "most: expected 0 or more"));
    CHECK_STORY(net, "a = Multiply x h; out a");   /* before any op is converted */
    assert_int_equal(xir_pass_run(net, "xir-to-tuned", "most=9", NULL, found), XIR_E_LIMIT);
}

/* ---- proofs ------------------------------------------------------------------------------------------------------ */

/* A proof runs a copy in which the ops of the format are XIR's again. */
static void what_the_format_has_is_proven(void **state) {
    (void)state;
    const xir_proof_options options = XIR_INIT(xir_proof_options, .seed = 1);
    const xir_any other = xir_any_real(0.3), strange = xir_any_int(3);
    xir_proof_state seen = XIR_INIT(xir_proof_state, .networks = 0);
    given("x: 2 3; a = ReLU x [alpha=0.2]; b = Tanh a; out b");
    xir_proof *proof = xir_proof_new(with, &options, found);
    assert_int_equal(xir_proof_check(proof, net, found), XIR_OK);
    assert_int_equal(xir_pass_run(net, "xir-to-form", NULL, NULL, found), XIR_OK);
    CHECK_STORY(net, "a = form::Leak x; b = Tanh a; out b");
    assert_int_equal(xir_proof_check(proof, net, found), XIR_OK);
    DOES(xir_proof_state_of(proof, &seen, found));
    assert_int_equal(seen.networks, 2);
    CHECK_STORY(net, "a = form::Leak x; b = Tanh a; out b");   /* only a copy was converted */
    DOES(xir_op_set_extra(story_op(net, "a"), XIR_STR("slope"), &other));
    xir_diags_clear(found);
    assert_int_equal(xir_proof_check(proof, net, found), XIR_E_INVALID);
    assert_non_null(strstr(xir_diags_at(found, 0)->message.data, "the network computes something else"));
    DOES(xir_op_set_extra(story_op(net, "a"), XIR_STR("strange"), &strange));
    assert_int_not_equal(xir_proof_check(proof, net, found), XIR_OK);
    xir_proof_free(proof);
}

GROUP {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(the_first_row_that_holds),
        TEST(items_words_and_inverted_bools),
        TEST(weights_get_the_order_of_the_file),
        TEST(maps_in_another_order_are_turned),
        TEST(a_map_without_letters_has_channels_last),
        TEST(hooks_are_tried_before_the_next_row),
        TEST(simpler_ops_stand_for_others),
        TEST(ops_that_are_alike_share_attributes),
        TEST(params_become_ops),
        TEST(rows_of_older_programs),
        TEST(ops_that_stay_find_their_axes),
        TEST(letters_alone_are_not_ops),
        TEST(options_reach_hooks),
        TEST(options_are_refused),
        TEST(what_the_format_has_is_proven),
    };
    return RUN_GROUP(tests);
}
