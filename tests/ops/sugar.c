/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Shorthands: omitted members have the class's defaults, a failure is reported once, and tags have kinds. */
#include <string.h>
#include "support/forms.h"
#include "support/own.h"
#include <xir/xir.h>
#include <xir/icraft.h>

static xir_network *net;

static int set_up(void **state) {
    (void)state;
    net = xir_network_new(ctx, "net", XIR_FRAMEWORK_PYTORCH, "v1.9");
    return net ? 0 : -1;
}

static int tear_down(void **state) {
    (void)state;
    xir_network_free(net);
    return 0;
}

static const xir_type *image(int64_t size, int64_t channels) {
    return XIR_TENSOR(ctx, xir_type_float(ctx, XIR_FLOAT_FP32), "NHWC", 1, size, size, channels);
}

static xir_value *kernel(int64_t size, int64_t in, int64_t out) {
    return xir_params_new(net, XIR_STR("w"),
                          XIR_TENSOR(ctx, xir_type_float(ctx, XIR_FLOAT_FP32), "HWIO", size, size, in, out));
}

#define CHECK_TEXT(text, expected)                                   \
    do {                                                             \
        xir_str text_ = (text);                                      \
        assert_int_equal(text_.size, strlen(expected));              \
        assert_memory_equal(text_.data, expected, text_.size);       \
    } while (0)

static void what_is_left_out_is_the_default(void **state) {
    (void)state;
    xir_at at = XIR_AT(net);
    xir_value *x = xir_input(at, "x", image(9, 4));
    x = XIR_CONV2D(at, .input = x, .weights = kernel(3, 4, 4));
    const xir_conv2d_attrs *c = xir_conv2d_of(xir_value_op(x)), plain = xir_conv2d_init();
    assert_int_equal(c->stride_width, plain.stride_width);
    assert_int_equal(c->stride_height, 1);
    assert_int_equal(c->dilation_width, 1);
    assert_int_equal(c->groups, 1);
    assert_int_equal(c->pad_left, 0);
    assert_int_equal(c->padding_mode, XIR_PADDING_ZEROS);
    assert_int_equal(xir_scales_count(c->cut_scale), 0);
    CHECK_TEXT(xir_op_name(xir_value_op(x)), "");

    x = XIR_CONV2D(at, .input = x, .weights = kernel(3, 2, 4), .stride = 2, .pad = 3, .dilation = 2, .groups = 2,
                   .name = "c2");
    c = xir_conv2d_of(xir_value_op(x));
    assert_true(c->stride_width == 2 && c->stride_height == 2 && c->dilation_width == 2 && c->dilation_height == 2);
    assert_true(c->pad_top == 3 && c->pad_bottom == 3 && c->pad_left == 3 && c->pad_right == 3 && c->groups == 2);
    CHECK_TEXT(xir_op_name(xir_value_op(x)), "c2");

    x = XIR_MAX_POOL2D(at, .input = x, .k = 2);
    const xir_max_pool2d_attrs *p = xir_max_pool2d_of(xir_value_op(x));
    assert_true(p->pool_width == 2 && p->pool_height == 2 && p->stride_width == 1 && p->dilation_height == 1 &&
                p->pad_top == 0);
    assert_int_equal(xir_network_status(net), XIR_OK);
}

static void activations_and_sums(void **state) {
    (void)state;
    xir_at at = XIR_AT(net);
    xir_op *inputs = xir_inputs(at, "both", (const xir_type *const[]){ image(2, 3), image(2, 3) }, 2);
    assert_int_equal(xir_op_output_count(inputs), 2);
    xir_value *x = xir_build_relu(at, xir_op_output(inputs, 0), "r");
    assert_true(xir_op_is_activation(xir_value_op(x)));
    xir_value *sum = xir_build_add(at, x, xir_op_output(inputs, 1), 0.1, -2, "s");
    const xir_add_attrs *a = xir_add_of(xir_value_op(sum));
    assert_int_equal(a->alpha.size, 1);
    assert_true(xir_scalar_as_real((const xir_scalar *)a->alpha.data[0]) == (double)0.1f);
    assert_true(xir_scalar_as_real((const xir_scalar *)a->beta.data[0]) == -2);
    /* For omitted members the call uses the class's default: one factor of 1. */
    xir_op *plain = xir_add_add(at, (xir_add_in){ .lhs = x, .rhs = sum }, NULL);
    assert_int_equal(xir_add_of(plain)->alpha.size, 1);
    assert_true(xir_scalar_as_real((const xir_scalar *)xir_add_of(plain)->alpha.data[0]) == 1);

    const xir_type *target = XIR_TENSOR(ctx, xir_type_sint(ctx, 8), "NCHW", 1, 3, 2, 2);
    xir_value *cast = xir_build_cast(at, sum, target, "c");
    assert_true(xir_type_equal(xir_value_type(cast), target));
    xir_op *out = xir_output(at, XIR_VALUES(cast, x, xir_op_output(inputs, 1)));
    assert_int_equal(xir_op_input_count(out), 3);
    assert_ptr_equal(xir_op_input(out, 1), x);
    assert_int_equal(xir_network_validate(net, why), XIR_OK);
}

static void a_cursor_sets_once_what_all_get(void **state) {
    (void)state;
    xir_at at = XIR_AT(net);
    at.target = xir_target_of_kind(ctx, XIR_TARGET_BUYI, NULL);
    at.scope = XIR_STR("stem/");
    xir_value *x = xir_input(at, "x", image(4, 2));
    xir_value *last = xir_build_relu(at, x, "last");
    at.before = xir_value_op(last);
    xir_value *first = xir_build_relu(at, x, "first");
    CHECK_TEXT(xir_op_name(xir_value_op(first)), "stem/first");
    CHECK_TEXT(xir_op_name(xir_value_op(x)), "stem/x");
    assert_int_equal(xir_target_kind_of(xir_op_target(xir_value_op(first))), XIR_TARGET_BUYI);
    assert_ptr_equal(xir_op_next(xir_value_op(first)), xir_value_op(last));
    assert_int_equal(xir_op_id(xir_value_op(first)), 2);
}

/* Build without checks and ask once: the first failure is the only finding. */
static void a_failure_is_reported_once(void **state) {
    (void)state;
    xir_at at = XIR_AT(net);
    xir_value *x = xir_input(at, "x", image(4, 2));
    x = XIR_MAX_POOL2D(at, .input = x, .k = 0);                              /* the fault */
    x = XIR_CONV2D(at, .input = x, .weights = kernel(3, 2, 2));
    x = xir_build_add(at, x, x, 1, 1, NULL);
    x = xir_build_cast(at, XIR_RELU(at, x), image(4, 2), NULL);
    assert_null(xir_output(at, XIR_VALUES(x)));
    assert_int_equal(xir_network_status(net), XIR_E_BOUNDS);
    assert_int_equal(xir_network_op_count(net), 1);
    size_t n = xir_diags_count(xir_network_diags(net));
    assert_true(n >= 1 && n <= 2);   /* both axes are below 1 */
    for (size_t i = 0; i < n; i++) {
        assert_non_null(strstr(xir_diags_at(xir_network_diags(net), i)->message.data, "0 is below 1"));
        assert_true(xir_diags_at(xir_network_diags(net), i)->line > 0);
    }
}

static void a_missing_type_is_reported(void **state) {
    (void)state;
    assert_null(xir_input(XIR_AT(net), "x", NULL));
    int line = __LINE__ - 1;
    assert_int_equal(xir_network_status(net), XIR_E_MISSING);
    assert_int_equal(xir_diags_at(xir_network_diags(net), 0)->line, line);
    xir_network_clear_status(net);

    xir_value *x = xir_input(XIR_AT(net), "x", image(4, 2));
    assert_null(xir_build_cast(XIR_AT(net), x, xir_type_sint(ctx, 8), "no tensor"));
    assert_int_equal(xir_network_status(net), XIR_E_MISSING);
}

/* ---- attributes ------------------------------------------------------------------------------------------------- */

static void only_named_attributes_differ_from_the_defaults(void **state) {
    (void)state;
    xir_at at = XIR_AT(net);
    xir_value *x = xir_input(at, "x", image(4, 2));
    x = XIR_OP(at, relu, .input = x, .attrs = XIR_ATTRS(relu, (alpha, 0.5), (threshold, 0.25)));
    const xir_relu_attrs *relu = xir_relu_of(xir_value_op(x)), plain = xir_relu_init();
    assert_true(relu->alpha == 0.5 && relu->threshold == 0.25 && relu->max_value == plain.max_value);
    const xir_layout *letters = xir_layout_parse(ctx, XIR_STR("NCHW"), why);
    x = XIR_OP(at, transpose, .input = x,
               .attrs = XIR_ATTRS(transpose, (dims, XIR_I64S(0, 3, 1, 2)), (layout, letters)));
    CHECK_TEXT(xir_layout_text(xir_type_layout(xir_value_type(x))), "NCHW");
    xir_op *two = xir_add_relu(at, (xir_relu_in){ .input = x }, NULL);
    xir_relu_attrs copy = *xir_relu_of(two);   /* what an op has may be changed and set */
    copy.alpha = 2;
    assert_int_equal(xir_relu_set(two, &copy), XIR_OK);
    assert_int_equal(xir_relu_set(two, NULL), XIR_OK);
    assert_true(xir_relu_of(two)->alpha == plain.alpha);
    assert_int_equal(xir_network_status(net), XIR_OK);
}

static void check_refused_attrs(const char *id) {
    const xir_diag *d = xir_diags_at(xir_network_diags(net), 0);
    assert_non_null(d);
    assert_int_equal(d->code, XIR_E_INVALID);
    assert_non_null(strstr(d->message.data, id));
    assert_non_null(strstr(d->message.data, "what that leaves out is 0"));
    assert_int_equal(xir_network_status(net), XIR_E_INVALID);
    xir_network_clear_status(net);
}

/* A maximum of 0 that nobody has asked for: an initialiser leaves it. */
static void a_struct_with_gaps_is_refused(void **state) {
    (void)state;
    xir_at at = XIR_AT(net);
    xir_value *x = xir_input(at, "x", image(4, 2));
    assert_null(XIR_OP(at, relu, .input = x, .attrs = &(xir_relu_attrs){ .alpha = 0.1 }));
    assert_int_equal(xir_diags_at(xir_network_diags(net), 0)->line, __LINE__ - 1);
    check_refused_attrs("xir_relu_init() or XIR_ATTRS");
    assert_null(xir_add_relu(at, (xir_relu_in){ .input = x }, &(xir_relu_attrs){ .alpha = 0.1 }));
    check_refused_attrs("xir_relu_init()");
    const xir_op_desc desc = XIR_INIT(xir_op_desc, .cls = xir_class_find_decl(ctx, xir_relu_class()), .inputs = &x,
                                      .n_inputs = 1, .attrs = &(xir_relu_attrs){ .alpha = 0.1 }, .id = XIR_NO_ID);
    assert_null(xir_network_add(net, &desc));
    check_refused_attrs("xir_relu_init()");
    assert_null(xir_op_new(net, &desc));
    check_refused_attrs("xir_relu_init()");
    xir_op *relu = xir_add_relu(at, (xir_relu_in){ .input = x }, NULL);
    assert_int_equal(xir_relu_set(relu, &(xir_relu_attrs){ .alpha = 0.1 }), XIR_E_INVALID);
    check_refused_attrs("xir_relu_init()");
    assert_true(xir_relu_of(relu)->alpha == 0);   /* as it was */
    xir_aligned_unit unit = { .index = { NULL, 0 } };
    assert_null(xir_aligned_unit_make(ctx, &unit, why));
    assert_non_null(strstr(xir_diags_at(why, 0)->message.data, "xir_aligned_unit_init()"));
    xir_diags_clear(why);
}

static void ops_of_a_program_are_refused_alike(void **state) {
    (void)state;
    assert_int_equal(xir_class_register(ctx, xir_own_tap_class(), why), XIR_OK);
    xir_value *x = xir_input(XIR_AT(net), "x", image(4, 2));
    assert_non_null(x);
    xir_at at = XIR_AT(net);
    const xir_type *type = image(4, 2);
    at.types = &type;   /* the class infers none */
    at.n_types = 1;
    assert_null(xir_add_own_tap(at, (xir_own_tap_in){ 0 }, &(xir_own_tap_attrs){ .pressure = 2 }));
    check_refused_attrs("test::Tap");
    xir_op *tap = xir_add_own_tap(at, (xir_own_tap_in){ 0 }, XIR_ATTRS(own_tap, (pressure, 2)));
    assert_true(tap && xir_own_tap_of(tap)->pressure == 2);
}

/* ---- names and places ------------------------------------------------------------------------------------------- */

static void a_name_is_that_of_op_and_value(void **state) {
    (void)state;
    xir_at at = xir_at_scope(XIR_AT(net), "net/");
    xir_value *x = xir_input(at, "image", image(9, 4));
    CHECK_TEXT(xir_value_name(x), "net/image");
    xir_at stem = xir_at_scope(at, "stem/");
    xir_value *w = xir_build_params(stem, "w", xir_value_type(kernel(3, 4, 4)));
    CHECK_TEXT(xir_value_name(w), "net/stem/w");
    x = XIR_CONV2D(stem, .input = x, .weights = w, .name = "conv");
    CHECK_TEXT(xir_value_name(x), "net/stem/conv");
    CHECK_TEXT(xir_op_name(xir_value_op(x)), "net/stem/conv");
    x = XIR_OP(at, relu, .input = x, .name = "act");
    CHECK_TEXT(xir_value_name(x), "net/act");
    x = XIR_OP(at, relu, .input = x);
    CHECK_TEXT(xir_value_name(x), "");
    xir_value *half = XIR_OP(at, split, .input = x, .name = "both",
                             .attrs = XIR_ATTRS(split, (axis, -1), (sections, XIR_I64S(2, 2))));
    CHECK_TEXT(xir_op_name(xir_value_op(half)), "net/both");
    CHECK_TEXT(xir_value_name(half), "");   /* one of two */
    assert_ptr_equal(half, xir_op_output(xir_value_op(half), 0));
    assert_int_equal(xir_network_status(net), XIR_OK);
    assert_null(XIR_OP(XIR_AT(NULL), relu, .input = x));
    assert_null(xir_input(XIR_AT(NULL), "x", image(4, 2)));
}

enum { HELPER_LINE = __LINE__ + 2 };
static xir_value *two_pools(xir_at at, xir_value *x) {
    x = XIR_MAX_POOL2D(at, .input = x, .k = 0);
    return XIR_MAX_POOL2D(at, .input = x, .k = 2);
}

static xir_value *four_pools(xir_at at, xir_value *x) { return two_pools(XIR_HERE(at), two_pools(XIR_HERE(at), x)); }

static void a_helper_has_its_callers_line(void **state) {
    (void)state;
    xir_at at = XIR_AT(net);
    xir_value *x = xir_input(at, "x", image(8, 4));
    assert_null(two_pools(at, x));
    assert_int_equal(xir_diags_at(xir_network_diags(net), 0)->line, HELPER_LINE);
    xir_network_clear_status(net);
    assert_null(two_pools(XIR_HERE(at), x));
    assert_int_equal(xir_diags_at(xir_network_diags(net), 0)->line, __LINE__ - 1);
    xir_network_clear_status(net);
    assert_null(four_pools(XIR_HERE(at), x));   /* the outermost line stays */
    assert_int_equal(xir_diags_at(xir_network_diags(net), 0)->line, __LINE__ - 1);
}

/* ---- types that are not made ------------------------------------------------------------------------------------ */

static void a_bad_layout_is_in_the_finding(void **state) {
    (void)state;
    const xir_type *fp32 = xir_type_float(ctx, XIR_FLOAT_FP32);
    assert_null(xir_input(XIR_AT(net), "x", XIR_TENSOR(ctx, fp32, "NHW3", 1, 2, 2, 3)));
    const char *said = xir_diags_at(xir_network_diags(net), 0)->message.data;
    assert_non_null(strstr(said, "argument 0 of the network has no type: layout 'NHW3': "));
    assert_non_null(strstr(said, "at character 4"));
    xir_network_clear_status(net);
    assert_null(xir_params_new(net, XIR_STR("w"), XIR_TENSOR(ctx, fp32, "N?", 1, 2)));
    said = xir_diags_at(xir_network_diags(net), 0)->message.data;
    assert_non_null(strstr(said, "'w' is made without a type: layout 'N?': "));
    xir_network_clear_status(net);
    assert_null(xir_input(XIR_AT(net), "x", NULL));   /* an old reason is not given twice */
    assert_non_null(strstr(xir_diags_at(xir_network_diags(net), 0)->message.data, "NULL was given"));
}

static void tags_have_kinds(void **state) {
    (void)state;
    const xir_any values[] = { xir_any_int(-3), xir_any_real(0.5), xir_any_bool(true), xir_any_text(XIR_STR("word")) };
    static const char *const keys[] = { "int", "real", "bool", "text" };
    for (size_t i = 0; i < 4; i++) assert_int_equal(xir_network_set_tag(net, xir_str_of(keys[i]), &values[i]), XIR_OK);
    const xir_map *tags = xir_network_tags(net);
    int64_t integer = 1;
    double real = 1;
    bool boolean = false;
    xir_str text = XIR_STR("none");
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(xir_tag_int(tags, keys[i], &integer), i == 0);
        assert_int_equal(xir_tag_real(tags, keys[i], &real), i == 1);
        assert_int_equal(xir_tag_bool(tags, keys[i], &boolean), i == 2);
        assert_int_equal(xir_tag_text(tags, keys[i], &text), i == 3);
    }
    assert_true(integer == -3 && real == 0.5 && boolean);
    CHECK_TEXT(text, "word");
    assert_false(xir_tag_int(tags, "absent", &integer));
    assert_false(xir_tag_int(NULL, "int", &integer));
    assert_int_equal(integer, -3);   /* unchanged */
}

#define STORY(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

static void axes_and_powers(void **state) {
    (void)state;
    xir_at at = XIR_AT(net);
    xir_value *x = xir_input(at, "x", image(8, 4));
    x = XIR_AVG_POOL2D(at, .input = x, .k = 2, .stride = 2);
    x = xir_build_pow(at, x, 2.5, "square and a half");
    xir_value *exponent = xir_op_input(xir_value_op(x), 1);
    float number = 0;
    assert_int_equal(xir_params_read(exponent, 0, &number, sizeof number), XIR_OK);
    assert_true(number == 2.5f);
    x = XIR_TRANSPOSE(at, x, 0, 3, 1, 2);
    CHECK_TEXT(xir_layout_text(xir_transpose_of(xir_value_op(x))->layout), "NCHW");
    CHECK_TEXT(xir_layout_text(xir_type_layout(xir_value_type(x))), "NCHW");
    assert_int_equal(xir_type_dim(xir_value_type(x), 1, false), 4);
    x = XIR_RESHAPE(at, x, "NC", 1, -1);
    CHECK_TEXT(xir_layout_text(xir_type_layout(xir_value_type(x))), "NC");
    assert_int_equal(xir_type_dim(xir_value_type(x), 1, false), 4 * 4 * 4);
    x = XIR_TRANSPOSE(at, x, -1, -2);
    CHECK_TEXT(xir_layout_text(xir_type_layout(xir_value_type(x))), "CN");
    assert_int_equal(xir_network_status(net), XIR_OK);
}

static void axes_and_powers_are_refused(void **state) {
    (void)state;
    xir_at at = XIR_AT(net);
    xir_value *x = xir_input(at, "x", image(8, 4));
    xir_value *whole = xir_build_cast(at, x, XIR_TENSOR(ctx, xir_type_sint(ctx, 32), "NHWC", 1, 8, 8, 4), NULL);
    struct { xir_value *made; xir_status code; } rows[4];
    for (size_t i = 0; i < 4; i++) {
        rows[i].made = i == 0 ? XIR_TRANSPOSE(at, x, 0, 1, 1, 2) : i == 1 ? XIR_RESHAPE(at, x, "NQ", 1, -1)
                     : i == 2 ? XIR_RESHAPE(at, x, "NC", 7, -1) : xir_build_pow(at, whole, 2, NULL);
        rows[i].code = xir_network_status(net);
        assert_null(rows[i].made);
        assert_true(rows[i].code != XIR_OK);
        assert_true(xir_diags_count(xir_network_diags(net)) > 0);
        const xir_diag *d = xir_diags_at(xir_network_diags(net), 0);
        assert_int_equal(d->code, rows[i].code);
        xir_network_clear_status(net);
    }
    assert_int_equal(rows[0].code, XIR_E_INVALID);
    assert_int_equal(rows[2].code, XIR_E_INVALID);
    assert_int_equal(rows[3].code, XIR_E_UNSUPPORTED);
    assert_null(XIR_TRANSPOSE(at, NULL, 0, 1));
    assert_int_equal(xir_network_status(net), XIR_E_MISSING);
}

GROUP {
    const struct CMUnitTest tests[] = {
        STORY(what_is_left_out_is_the_default),
        STORY(activations_and_sums),
        STORY(a_cursor_sets_once_what_all_get),
        STORY(a_failure_is_reported_once),
        STORY(a_missing_type_is_reported),
        STORY(axes_and_powers),
        STORY(axes_and_powers_are_refused),
        STORY(only_named_attributes_differ_from_the_defaults),
        STORY(a_struct_with_gaps_is_refused),
        STORY(ops_of_a_program_are_refused_alike),
        STORY(a_name_is_that_of_op_and_value),
        STORY(a_helper_has_its_callers_line),
        STORY(a_bad_layout_is_in_the_finding),
        STORY(tags_have_kinds),
    };
    return RUN_GROUP(tests);
}
