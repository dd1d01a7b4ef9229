/* Shorthands: what they leave out is the class's default, what fails fails once, and tags have kinds. */
#include <string.h>
#include "support/forms.h"
#include <xir/xir.h>

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
    /* The call itself leaves what is not given to the class: one factor of 1. */
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

/* Build straight on and ask once: the first failure is the only finding. */
static void a_failure_is_told_once(void **state) {
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

static void a_missing_type_is_told(void **state) {
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
    assert_int_equal(integer, -3);   /* as it was */
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

int main(void) {
    const struct CMUnitTest tests[] = {
        STORY(what_is_left_out_is_the_default),
        STORY(activations_and_sums),
        STORY(a_cursor_sets_once_what_all_get),
        STORY(a_failure_is_told_once),
        STORY(a_missing_type_is_told),
        STORY(axes_and_powers),
        STORY(axes_and_powers_are_refused),
        STORY(tags_have_kinds),
    };
    return RUN_GROUP(tests);
}
