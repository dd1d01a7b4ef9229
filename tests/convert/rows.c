/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The texts of conversion rows: inputs with orders of axes and weights among the attributes; sets with items, words and
 * inverted bools. A malformed row is refused with a sentence, and so is what a hook asks for by mistake; each part of a
 * sound row is seen in the op that it makes. Networks are written as in support/story.h. */
#include <stdio.h>
#include <xir/pass.h>
#include "graph.h"
#include "own_dialect.h"

/* Asks for a constant of three numbers in other dims; for a cast, and for a constant, whose elements are tensors. */
static bool mistaken(xir_node *at) {
    static int64_t two = 2;
    static const double three[] = { 1, 2, 3 };
    xir_value *x = xir_node_input(at, 0);
    const xir_type *tensor = xir_value_type(x);
    switch (xir_node_int(at, "how", 0)) {
    case 0:  x = xir_node_constant(at, xir_type_element(tensor), &(xir_ints){ &two, 1 }, three, COUNT(three)); break;
    case 1:  x = xir_node_cast(at, x, tensor); break;
    default: x = xir_node_scalar(at, tensor, 1);
    }
    return xir_node_result(at, 0, x);
}

static const xir_convert_row rows[] = {
    { XIR_CONVERT_HEAD, "form::Pool", "1 x:NCHW", "1", "size:Ii! pad:Iisn include:bis", "AvgPool2d",
      "pool_height=size[0] pool_width=size[1] pad_top=pad[0]:1 pad_left=pad[1]:2 stride_width=3 "
      "count_include_pad=!include" },
    { XIR_CONVERT_HEAD, "form::Conv", "1 x:NCHW @weight:OIHW @bias?", "1", "step:I", "Conv2d",
      "stride_height=step[0] stride_width=step[1]" },
    { XIR_CONVERT_HEAD, "form::Turned", "2-3 x:NCHW weight:IOHW bias?", "1", "", "ConvTranspose2d", NULL },
    { XIR_CONVERT_HEAD, "form::Linear", "1 x @weight:OI @bias?", "1", "", "Matmul", NULL },
    { XIR_CONVERT_HEAD, "form::Half", "1", "1", "mode:sibn", "DivideScalar",
      "divisor=2 rounding_mode=mode{down:FLOOR,0:TRUNC,True:FLOOR,-1:NONE}" },
    { XIR_CONVERT_HEAD, "form::Mistake", "1", "1", "how:i", "Cast", NULL, mistaken },
    { XIR_CONVERT_HEAD, "form::Down", "1", "1", "by:fi", "DivideScalar", "rounding_mode='FLOOR' divisor=by:4" },
};
static const xir_dialect_decl form = { XIR_DIALECT_HEAD("form::", "Form"), .rows = rows, .n_rows = COUNT(rows) };

static int begin(void **state) {
    (void)state;
    return begin_with(&form);
}

/* A network whose file declares no type for `a`. */
static void undeclared(const char *text) {
    given(text);
    story_value(net, "a")->type = NULL;
}

static void set_attr(const char *name, xir_any value) {
    DOES(xir_op_set_extra(story_op(net, "a"), xir_str_of(name), &value));
}

static void set_ints(const char *name, int64_t a, int64_t b) {
    const xir_any items[] = { xir_any_int(a), xir_any_int(b) };
    set_attr(name, xir_any_list(items, 2));
}

static void set_params(const char *name, const xir_type *type) {
    static const float numbers[96] = { 1, 2, 3 };
    uint64_t size;
    DOES(xir_type_bytes(type, &size));
    assert_true(size <= sizeof numbers);
    xir_value *v = xir_params_copy(net, xir_str_of(name), type, numbers, size);
    assert_non_null(v);
    set_attr(name, (xir_any){ .kind = XIR_ANY_PARAMS, .as.params = v });
}

#define TENSOR(layout, ...) XIR_TENSOR(with, xir_type_float(with, XIR_FLOAT_FP32), layout, __VA_ARGS__)

/* The network becomes the expected one, without findings. */
static void becomes(const char *expected, int line) {
    const xir_status status = xir_pass_run(net, "to-xir", "strict", NULL, found);
    if (status || xir_diags_count(found)) {
        xir_diags_print(found, stderr);
        fail_msg("line %d", line);
    }
    assert_int_equal(xir_network_validate(net, found), XIR_OK);
    check_story(net, expected, __FILE__, line);
}
#define BECOMES(expected) becomes(expected, __LINE__)

/* The node stays, for this reason. */
static void stays(const char *reason, int line) {
    assert_int_equal(xir_pass_run(net, "to-xir", NULL, NULL, found), XIR_OK);
    const xir_diag *d = xir_diags_at(found, 0);
    if (!d || !strstr(d->message.data, reason))
        fail_msg("line %d: expected '%s', found '%s'", line, reason, d ? d->message.data : "");
}
#define STAYS(reason) stays(reason, __LINE__)

/* ---- rows that are refused -------------------------------------------------------------------------------------- */

static void malformed_rows(void **state) {
    (void)state;
#define ROW(...) { .abi = XIR_ABI, .size = sizeof(xir_convert_row), .name = "form::Bad", __VA_ARGS__ }
#define IN(text)   { ROW(.inputs = text, .outputs = "1", .cls = "ReLU"), "its number of inputs is not a range" }
#define NAMES(text) { ROW(.inputs = text, .outputs = "1", .cls = "ReLU"), "its input names are malformed" }
#define OUT(text)  { ROW(.inputs = "1", .outputs = text, .cls = "ReLU"), "its number of outputs is not a range" }
#define ATTR(text) \
    { ROW(.inputs = "1", .outputs = "1", .cls = "ReLU", .attributes = text), "its list of attributes is malformed" }
#define SETS(text) { ROW(.inputs = "1", .outputs = "1", .cls = "ReLU", .sets = text), "its list of sets is malformed" }
    static const struct { xir_convert_row row; const char *part; } cases[] = {
        IN(NULL), IN(""), IN("x"), IN("-1"), IN("2-1"), IN("1-x"), IN("1.5"), IN("1x"),
        NAMES("1 x y"), NAMES("1 x:"), NAMES("1 x:N"), NAMES("1 x:NCHX"), NAMES("1 x:NCHW!"), NAMES("1 x??"),
        NAMES("1 @"), NAMES("1 @@x"), NAMES("1 ?"), NAMES("1 x,y"), NAMES("0 x"), NAMES("1 :NC"),
        OUT(NULL), OUT(""), OUT("y"), OUT("1 y"), OUT("2-1"),
        ATTR("a"), ATTR("a:"), ATTR("a:z"), ATTR(":i"), ATTR("a:i,b:i"), ATTR("a:i b"),
        SETS("a"), SETS("a="), SETS("=b"), SETS("a=b:"), SETS("a=b:x"), SETS("a=b=c"), SETS("a=1x"), SETS("a=-"),
        SETS("a=b[]"), SETS("a=b[x]"), SETS("a=b[-1]"), SETS("a=b[0"), SETS("a=b[0]]"), SETS("a=b0]"),
        SETS("a=!"), SETS("a=!!b"), SETS("a=b!"),
        SETS("a=b{}"), SETS("a=b{x}"), SETS("a=b{x:}"), SETS("a=b{:X}"), SETS("a=b{x:X"), SETS("a=b{x:X,}"),
        SETS("a=b{x:X,y}"), SETS("a=b{x:X}}"), SETS("a=b{x:X y:Y}"), SETS("a=''"), SETS("a='X"), SETS("a='X Y'"),
        SETS("a='X'Y"), SETS("a=b a"),
        { ROW(.inputs = "1", .outputs = "1"), "it has no class and no hook" },
        { ROW(.inputs = "1", .outputs = "1", .cls = "ReLU",
              .sets = "a=1 b=1 c=1 d=1 e=1 f=1 g=1 h=1 i=1 j=1 k=1 l=1 m=1 n=1 o=1 p=1 q=1 r=1 s=1 t=1 u=1 v=1 w=1 x=1 "
                      "y=1 z=1 aa=1 bb=1 cc=1 dd=1 ee=1 ff=1 gg=1"), "it has more than 32 sets" },
        { ROW(.inputs = "1", .outputs = "1", .cls = "ReLU",
              .sets = "a_name_that_is_longer_than_any_name_of_an_attribute_in_this_world=1"), "the name of a set is too long" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        xir_diags_clear(found);
        const xir_status status = xir_convert_register(with, &cases[i].row, 1, found);
        const xir_diag *d = xir_diags_at(found, 0);
        if (status != XIR_E_INVALID || !d || !strstr(d->message.data, cases[i].part)) {
            fail_msg("row %zu: expected '%s', found status %d: %s", i, cases[i].part, (int)status,
                     d ? d->message.data : "");
        }
        assert_non_null(strstr(d->message.data, "the conversion row 'form::Bad' is invalid: "));
        assert_null(xir_convert_find(with, XIR_STR("form::Bad")));
    }
}

static void mistakes_of_hooks(void **state) {
    (void)state;
    undeclared("x: 2; a = form::Mistake x [how=0]; out a");
    STAYS("the conversion is invalid: 3 numbers for 2 elements");
    undeclared("x: 2; a = form::Mistake x [how=1]; out a");
    STAYS("the conversion is invalid: expected the type of an element, found that of a tensor");
    undeclared("x: 2; a = form::Mistake x [how=2]; out a");
    STAYS("the conversion is invalid: expected the type of an element, found that of a tensor");
}

/* ---- inputs ----------------------------------------------------------------------------------------------------- */

static void maps_and_kernels_get_the_order_of_xir(void **state) {
    (void)state;
    undeclared("x: 1 2 6 6; a = form::Conv x; out a");
    set_params("@weight", TENSOR("****", 4, 2, 3, 3));
    set_params("@bias", TENSOR("*", 4));
    BECOMES("a.Transpose = Transpose x [dims=0,2,3,1 layout=@layout(NHWC)]; "
            "a.Conv2d = Conv2d a.Transpose @weight @bias; "
            "a = Transpose a.Conv2d [dims=0,3,1,2 layout=@layout(****)]; out a");
    const xir_op *conv = xir_op_next(xir_network_first(net));
    while (conv && xir_op_input_count(conv) != 3) conv = xir_op_next(conv);
    assert_int_equal(xir_type_dim(xir_value_type(xir_op_input(conv, 1)), 0, false), 3);
    assert_int_equal(xir_type_dim(xir_value_type(xir_op_input(conv, 1)), 2, false), 2);
    assert_int_equal(xir_type_dim(xir_value_type(xir_op_input(conv, 1)), 3, false), 4);
    CHECK_STR(xir_layout_text(xir_type_layout(xir_value_type(xir_op_input(conv, 1)))), "HWIO");
}

static void weights_may_be_inputs(void **state) {
    (void)state;
    undeclared("x: 1 2 6 6; w: params 2 5 3 3; a = form::Turned x w; out a");
    BECOMES("a.Transpose = Transpose x [dims=0,2,3,1 layout=@layout(NHWC)]; "
            "a.ConvTranspose2d = ConvTranspose2d a.Transpose w; "
            "a = Transpose a.ConvTranspose2d [dims=0,3,1,2 layout=@layout(****)]; out a");
    undeclared("x: 2 3; a = form::Linear x; out a");
    set_params("@weight", TENSOR("**", 4, 3));
    BECOMES("a = Matmul x @weight; out a");
}

static void a_weight_that_is_missing_or_of_other_dims(void **state) {
    (void)state;
    undeclared("x: 2 3; a = form::Linear x; out a");
    assert_int_equal(xir_dialect_check(net, found), XIR_E_MISSING);
    assert_non_null(strstr(xir_diags_at(found, 0)->message.data, "attribute @weight is missing: expected a tensor"));
    undeclared("x: 1 2 6 6; a = form::Conv x; out a");
    set_params("@weight", TENSOR("***", 4, 2, 3));
    STAYS("input 1 (@weight) has 3 dims");
    undeclared("x: 2 6 6; a = form::Pool x; out a");
    set_attr("size", xir_any_int(2));
    STAYS("input 0 (x) has 3 dims");
}

/* ---- sets ------------------------------------------------------------------------------------------------------- */

#define POOL(attributes) \
    "a.Transpose = Transpose x [dims=0,2,3,1 layout=@layout(NHWC)]; " \
    "a.AvgPool2d = AvgPool2d a.Transpose [" attributes "]; " \
    "a = Transpose a.AvgPool2d [dims=0,3,1,2 layout=@layout(****)]; out a"
static const char pool[] = "x: 1 2 9 9; a = form::Pool x; out a";

static void items_of_lists(void **state) {
    (void)state;
    undeclared(pool);
    set_ints("size", 3, 4);
    set_ints("pad", 0, 1);
    BECOMES(POOL("pool_width=4 pool_height=3 stride_width=3 pad_left=1"));
    undeclared(pool);                            /* a number is every item; an item that is missing has its default */
    const xir_any one = xir_any_int(0);
    set_attr("size", xir_any_int(2));
    set_attr("pad", xir_any_list(&one, 1));
    BECOMES(POOL("pool_width=2 pool_height=2 stride_width=3 pad_left=2"));
    undeclared(pool);                            /* None counts as missing */
    set_attr("size", xir_any_int(2));
    set_attr("pad", xir_any_null());
    BECOMES(POOL("pool_width=2 pool_height=2 stride_width=3 pad_top=1 pad_left=2"));
    undeclared(pool);
    set_attr("size", xir_any_int(2));
    set_attr("pad", xir_any_text(XIR_STR("same")));
    STAYS("pad is same");
}

static void inverted_bools(void **state) {
    (void)state;
    static const struct { xir_any value; bool counts; } cases[] = {
        { { .kind = XIR_ANY_BOOL, .as.boolean = true }, false }, { { .kind = XIR_ANY_BOOL }, true },
        { { .kind = XIR_ANY_INT, .as.integer = 1 }, false },     { { .kind = XIR_ANY_INT }, true },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        undeclared(pool);
        set_attr("size", xir_any_int(2));
        set_attr("pad", xir_any_int(0));
        set_attr("include", cases[i].value);
        if (cases[i].counts) BECOMES(POOL("pool_width=2 pool_height=2 stride_width=3 count_include_pad=true"));
        else BECOMES(POOL("pool_width=2 pool_height=2 stride_width=3"));
    }
    undeclared(pool);
    set_attr("size", xir_any_int(2));
    set_attr("include", xir_any_text(XIR_STR("maybe")));
    STAYS("include is maybe");
}

static void words(void **state) {
    (void)state;
    static const char half[] = "x: 2 3; a = form::Half x; out a";
    const struct { xir_any value; const char *after; } cases[] = {
        { { .kind = XIR_ANY_TEXT, .as.text = XIR_STR("down") }, "a = DivideScalar x [divisor=2 rounding_mode=FLOOR]; out a" },
        { { .kind = XIR_ANY_INT, .as.integer = 0 },                  "a = DivideScalar x [divisor=2 rounding_mode=TRUNC]; out a" },
        { { .kind = XIR_ANY_BOOL, .as.boolean = true },              "a = DivideScalar x [divisor=2 rounding_mode=FLOOR]; out a" },
        { { .kind = XIR_ANY_INT, .as.integer = -1 },                 "a = DivideScalar x [divisor=2]; out a" },
        { { .kind = XIR_ANY_NULL },                                  "a = DivideScalar x [divisor=2]; out a" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        undeclared(half);
        set_attr("mode", cases[i].value);
        BECOMES(cases[i].after);
    }
    undeclared(half);
    set_attr("mode", xir_any_text(XIR_STR("up")));
    STAYS("mode is up");
    undeclared(half);
    set_attr("mode", xir_any_int(7));
    STAYS("this value of mode");
    undeclared("x: 2 3; a = form::Down x; out a");
    BECOMES("a = DivideScalar x [divisor=4 rounding_mode=FLOOR]; out a");
    undeclared("x: 2 3; a = form::Down x [by=0.5]; out a");
    BECOMES("a = DivideScalar x [divisor=0.5 rounding_mode=FLOOR]; out a");
}

GROUP {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(malformed_rows),
        TEST(mistakes_of_hooks),
        TEST(maps_and_kernels_get_the_order_of_xir),
        TEST(weights_may_be_inputs),
        TEST(a_weight_that_is_missing_or_of_other_dims),
        TEST(items_of_lists),
        TEST(inverted_bools),
        TEST(words),
    };
    return RUN_GROUP(tests);
}
