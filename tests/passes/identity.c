/* identity: ops whose output equals their input are removed; an op with any visible effect stays. */
#include <stdio.h>
#include "support/op_list.h"
#include "support/story.h"

/* Makes the network x -> op -> relu -> y from x. */
typedef xir_value *make_fn(xir_network *net, xir_value *x);

/* Checks that the op was removed and y reads x, or that the op is still present. */
static void check(const xir_type *type, make_fn *make, bool goes, int line) {
    xir_network *net = new_net();
    xir_value *x = argument(net, "x", type);
    named(make(net, x), "m");
    xir_value *m = xir_op_output(xir_network_last(net), 0);
    results(net, XIR_VALUES(relu(net, m, "y")));
    size_t changes = PASS(net, "identity");
    char *list = op_list(net);
    const char *gone = "x = Input()\ny = ReLU(x)\nOutput(y)\n";
    if (changes != goes || (strcmp(list, gone) == 0) != goes)
        fail_msg("line %d: %zu changes, now\n%s", line, changes, list);
    free(list);
    xir_network_free(net);
}
#define GOES(type, make)  check(type, make, true, __LINE__)
#define STAYS(type, make) check(type, make, false, __LINE__)

static const xir_type *image(void) { return FP32("NHWC", 1, 4, 4, 2); }
static const xir_type *open(void)  { return FP32("NHWC", -1, 4, 4, 2); }
static const xir_type *wide(void)  { return FP32("NHWC", -1, -1, 4, 2); }

/* ---- reshapes ---------------------------------------------------------------------------------------------------- */

static xir_value *same_dims(xir_network *net, xir_value *x)    { return reshape(net, x, "NHWC", LIST(1, 4, 4, 2), ""); }
static xir_value *other_letters(xir_network *net, xir_value *x) {
    return reshape(net, x, "NCHW", LIST(1, 4, 4, 2), "");
}
static xir_value *other_dims(xir_network *net, xir_value *x)   { return reshape(net, x, "NHWC", LIST(1, 4, 2, 4), ""); }
static xir_value *rest_first(xir_network *net, xir_value *x) {
    return reshape(net, x, "NHWC", LIST(-1, 4, 4, 2), "");
}
static xir_value *none_squeezed(xir_network *net, xir_value *x) { return squeeze(net, x, LIST(), ""); }

static void a_reshape_to_the_same_type(void **state) {
    (void)state;
    GOES(image(), same_dims);
    STAYS(image(), other_letters);
    STAYS(image(), other_dims);
    GOES(image(), rest_first);
    GOES(open(), rest_first);    /* the unknown dim is the rest in both */
    GOES(FP32("**C", 3, 4, 2), none_squeezed);
}

static xir_value *expand_to(xir_network *net, xir_value *x, xir_i64s sizes) {
    xir_expand_attrs a = xir_expand_init();
    a.sizes = sizes;
    return output_of(xir_add_expand(xir_at_end(net), (xir_expand_in){ x }, &a), "");
}
static xir_value *expand_none(xir_network *net, xir_value *x)  { return expand_to(net, x, LIST(-1, 4, -1, 2)); }
static xir_value *expand_one(xir_network *net, xir_value *x)   { return expand_to(net, x, LIST(3, 4, 4, 2)); }

static void an_expand_that_repeats_nothing(void **state) {
    (void)state;
    GOES(image(), expand_none);
    GOES(open(), expand_none);
    STAYS(image(), expand_one);
}

static xir_value *tile_by(xir_network *net, xir_value *x, xir_i64s dims) {
    xir_tile_attrs a = xir_tile_init();
    a.dims = dims;
    return output_of(xir_add_tile(xir_at_end(net), (xir_tile_in){ x }, &a), "");
}
static xir_value *tile_once(xir_network *net, xir_value *x)    { return tile_by(net, x, LIST(1, 1)); }
static xir_value *tile_twice(xir_network *net, xir_value *x)   { return tile_by(net, x, LIST(2, 1)); }
static xir_value *tile_more(xir_network *net, xir_value *x)    { return tile_by(net, x, LIST(1, 1, 1, 1, 1)); }

static void a_tile_of_one(void **state) {
    (void)state;
    GOES(image(), tile_once);
    STAYS(image(), tile_twice);
    STAYS(image(), tile_more);
    STAYS(wide(), tile_twice);
}

/* ---- moves ------------------------------------------------------------------------------------------------------- */

static xir_value *in_order(xir_network *net, xir_value *x) {
    return transpose(net, x, "NHWC", LIST(0, 1, -2, -1), "");
}
static xir_value *swapped(xir_network *net, xir_value *x) {
    return transpose(net, x, "NHWC", LIST(0, 2, 1, 3), "");
}
static xir_value *one_moved(xir_network *net, xir_value *x) {
    return transpose(net, x, "***C", LIST(1, 0, 2, 3), "");
}

static void a_transposition_that_moves_nothing(void **state) {
    (void)state;
    GOES(image(), in_order);
    GOES(wide(), in_order);
    STAYS(image(), swapped);                           /* although the type is the same */
    GOES(FP32("NHWC", 1, 4, 1, 2), in_order);
    GOES(FP32("***C", 1, 1, 3, 2), one_moved);         /* only dims of 1 */
    STAYS(FP32("***C", -1, 1, 3, 2), one_moved);
    STAYS(FP32("***C", -1, -1, 3, 2), one_moved);
}

static xir_value *whole(xir_network *net, xir_value *x) {
    return slice(net, x, LIST(0, 0, 0, 0), LIST(INT64_MAX, 4, 9, INT32_MAX), LIST(1, 1, 1, 1), "");
}
static xir_value *from_minus_n(xir_network *net, xir_value *x) {
    return slice(net, x, LIST(0, -4, 0, -2), LIST(INT64_MAX, 4, 9, 2), LIST(1, 1, 1, 1), "");
}
static xir_value *reversed(xir_network *net, xir_value *x) {
    return slice(net, x, LIST(0, 3, 0, 0), LIST(9, -5, 9, 9), LIST(1, -1, 1, 1), "");
}
static xir_value *shorter(xir_network *net, xir_value *x) {
    return slice(net, x, LIST(0, 0, 0, 0), LIST(9, 3, 9, 9), LIST(1, 1, 1, 1), "");
}
static xir_value *first_nine(xir_network *net, xir_value *x) {
    return slice(net, x, LIST(0, 0, 0, 0), LIST(9, 9, 9, 9), LIST(1, 1, 1, 1), "");
}

static void a_slice_of_everything(void **state) {
    (void)state;
    GOES(image(), whole);
    GOES(open(), whole);
    GOES(image(), from_minus_n);
    STAYS(image(), reversed);
    STAYS(image(), shorter);
    STAYS(open(), first_nine);                         /* ten elements would become nine */
}

static xir_value *one_section(xir_network *net, xir_value *x) {
    xir_split_attrs a = xir_split_init();
    a.sections = LIST(4);
    a.axis = 1;
    return output_of(xir_add_split(xir_at_end(net), (xir_split_in){ x }, &a), "");
}
static xir_value *one_part(xir_network *net, xir_value *x)     { return concat(net, XIR_VALUES(x), 1, ""); }
static xir_value *two_parts(xir_network *net, xir_value *x)    { return concat(net, XIR_VALUES(x, x), 1, ""); }

static void a_split_or_concatenation_of_one(void **state) {
    (void)state;
    GOES(image(), one_section);
    GOES(image(), one_part);
    STAYS(image(), two_parts);
}

static xir_value *pad_by(xir_network *net, xir_value *x, int64_t n) {
    xir_pad_attrs a = xir_pad_init();
    a.padding = LIST(0, 0, 0, n, 0, -n, 0, 0);
    return output_of(xir_add_pad(xir_at_end(net), (xir_pad_in){ x }, &a), "");
}
static xir_value *pad_none(xir_network *net, xir_value *x)     { return pad_by(net, x, 0); }
static xir_value *pad_some(xir_network *net, xir_value *x)     { return pad_by(net, x, 1); }

static xir_value *roll_by(xir_network *net, xir_value *x, int64_t n) {
    xir_roll_attrs a = xir_roll_init();
    a.shifts = LIST(n);
    a.dims = LIST(1);
    return output_of(xir_add_roll(xir_at_end(net), (xir_roll_in){ x }, &a), "");
}
static xir_value *roll_none(xir_network *net, xir_value *x)    { return roll_by(net, x, 0); }
static xir_value *roll_some(xir_network *net, xir_value *x)    { return roll_by(net, x, 1); }

static xir_value *order(xir_network *net, xir_value *x, xir_i64s to) {
    xir_swap_order_attrs a = xir_swap_order_init();
    a.order = to;
    a.axis = 1;
    return output_of(xir_add_swap_order(xir_at_end(net), (xir_swap_order_in){ x }, &a), "");
}
static xir_value *order_same(xir_network *net, xir_value *x)   { return order(net, x, LIST(0, 1, 2, 3)); }
static xir_value *order_other(xir_network *net, xir_value *x)  { return order(net, x, LIST(0, 2, 1, 3)); }

static xir_value *shuffle(xir_network *net, xir_value *x, int64_t groups) {
    xir_channel_shuffle_attrs a = xir_channel_shuffle_init();
    a.groups = groups;
    return output_of(xir_add_channel_shuffle(xir_at_end(net), (xir_channel_shuffle_in){ x }, &a), "");
}
static xir_value *shuffle_one(xir_network *net, xir_value *x)  { return shuffle(net, x, 1); }
static xir_value *shuffle_two(xir_network *net, xir_value *x)  { return shuffle(net, x, 2); }

static void other_moves_that_move_nothing(void **state) {
    (void)state;
    GOES(image(), pad_none);
    STAYS(FP32("NHWC", 1, 2, 4, 2), pad_some);
    GOES(image(), roll_none);
    STAYS(image(), roll_some);
    GOES(image(), order_same);
    STAYS(image(), order_other);
    GOES(image(), shuffle_one);
    STAYS(FP32("NHWC", 1, 4, 4, 8), shuffle_two);
}

/* ---- conversions and pools --------------------------------------------------------------------------------------- */

static xir_value *to_same(xir_network *net, xir_value *x)      { return cast(net, x, image(), ""); }
static xir_value *to_fp16(xir_network *net, xir_value *x) {
    return cast(net, x, XIR_TENSOR(ctx, xir_type_float(ctx, XIR_FLOAT_FP16), "NHWC", 1, 4, 4, 2), "");
}
static xir_value *copied(xir_network *net, xir_value *x)       { return copy(net, x, ""); }

static void a_cast_to_the_same_type_and_a_copy(void **state) {
    (void)state;
    GOES(image(), to_same);
    STAYS(image(), to_fp16);
    GOES(image(), copied);
    GOES(wide(), copied);
}

static void a_copy_into_other_memory_stays(void **state) {
    (void)state;
    xir_network *net = new_net();
    xir_value *x = argument(net, "x", image()), *m = copy(net, x, "m");
    DOES(xir_value_set_mtype(m, xir_mtype_onchip(ctx, 64)));
    results(net, XIR_VALUES(relu(net, m, "y")));
    assert_int_equal(PASS(net, "identity"), 0);
    xir_network_free(net);
}

static void an_op_with_unknown_attributes_stays(void **state) {
    (void)state;
    xir_network *net = new_net();
    xir_value *x = argument(net, "x", image()), *m = copy(net, x, "m");
    DOES(xir_op_set_extra(xir_value_op(m), XIR_STR("times"), &(xir_any){ .kind = XIR_ANY_INT, .as.integer = 2 }));
    results(net, XIR_VALUES(relu(net, m, "y")));
    assert_int_equal(PASS(net, "identity"), 0);
    xir_network_free(net);
}

static xir_value *max_1x1(xir_network *net, xir_value *x) {
    return XIR_MAX_POOL2D(xir_at_end(net), .input = x, .k = 1);
}
static xir_value *max_1x1_by_2(xir_network *net, xir_value *x) {
    return XIR_MAX_POOL2D(xir_at_end(net), .input = x, .k = 1, .stride = 2);
}
static xir_value *max_3x3(xir_network *net, xir_value *x) {
    return XIR_MAX_POOL2D(xir_at_end(net), .input = x, .k = 3, .pad = 1);
}
static xir_value *avg(xir_network *net, xir_value *x, int64_t divisor) {
    xir_avg_pool2d_attrs a = xir_avg_pool2d_init();
    a.pool_width = a.pool_height = 1;
    a.divisor_override = divisor;
    return output_of(xir_add_avg_pool2d(xir_at_end(net), (xir_avg_pool2d_in){ x }, &a), "");
}
static xir_value *avg_1x1(xir_network *net, xir_value *x) { return avg(net, x, 0); }
static xir_value *avg_by_1(xir_network *net, xir_value *x) { return avg(net, x, 1); }
static xir_value *avg_by_2(xir_network *net, xir_value *x) { return avg(net, x, 2); }
static xir_value *avg_1d(xir_network *net, xir_value *x) {
    xir_avg_pool1d_attrs a = xir_avg_pool1d_init();
    a.pool_width = 1;
    return output_of(xir_add_avg_pool1d(xir_at_end(net), (xir_avg_pool1d_in){ x }, &a), "");
}
static xir_value *max_3d(xir_network *net, xir_value *x) {
    xir_max_pool3d_attrs a = xir_max_pool3d_init();
    a.pool_width = a.pool_height = a.pool_depth = 1;
    return output_of(xir_add_max_pool3d(xir_at_end(net), (xir_max_pool3d_in){ x }, &a), "");
}
static xir_value *max_3d_shifted(xir_network *net, xir_value *x) {
    xir_max_pool3d_attrs a = xir_max_pool3d_init();
    a.pool_width = a.pool_height = a.pool_depth = 1;
    a.pad_front = 1;
    a.pad_back = -1;
    return output_of(xir_add_max_pool3d(xir_at_end(net), (xir_max_pool3d_in){ x }, &a), "");
}

static void a_window_of_one_element(void **state) {
    (void)state;
    GOES(image(), max_1x1);
    STAYS(image(), max_1x1_by_2);
    STAYS(image(), max_3x3);
    GOES(image(), avg_1x1);
    GOES(image(), avg_by_1);
    STAYS(image(), avg_by_2);
    GOES(FP32("NLC", 1, 4, 2), avg_1d);
    GOES(FP32("NDHWC", 1, 3, 4, 4, 2), max_3d);
    STAYS(FP32("NDHWC", 1, 3, 4, 4, 2), max_3d_shifted);
}

/* ---- arithmetic -------------------------------------------------------------------------------------------------- */

static void arithmetic(const char *op, bool goes, int line) {
    char text[400];
    snprintf(text, sizeof text,
             "x: 2 3; n: sint64 2 3; one: 1; zero: 0; minus: -0; ones: params 3 = 1 1 1; mixed: params 3 = 1 1 0; "
             "row: params 1 2 3 = 1 1 1 1 1 1; "
                                "none: params sint64 3 = 0 0 0; t: tf32 2 3; tone: params tf32 3 = 1 1 1; m = %s; y = Neg m; out y", op);
    xir_network *net = story_net(text);
    size_t changes = PASS(net, "identity");
    if (changes != goes) fail_msg("line %d: %s: %zu changes", line, op, changes);
    xir_network_free(net);
}
#define OP_GOES(op)  arithmetic(op, true, __LINE__)
#define OP_STAYS(op) arithmetic(op, false, __LINE__)

static void exact_arithmetic_is_removed(void **state) {
    (void)state;
    OP_GOES("Multiply x one");
    OP_GOES("Multiply one x");
    OP_GOES("Multiply one one");
    OP_GOES("Multiply x ones");
    OP_GOES("Multiply t tone");
    OP_GOES("Div x one");
    OP_GOES("Div x ones");
    OP_GOES("DivideScalar x [divisor=1]");
    OP_GOES("Add x minus");
    OP_GOES("Add minus x");
    OP_GOES("Add x zero [beta=-1]");    /* x - 0 */
    OP_GOES("Add n none");
    OP_GOES("Add n none [beta=-1]");
}

static void inexact_arithmetic_stays(void **state) {
    (void)state;
    OP_STAYS("Add x zero");             /* -0 + 0 is 0 */
    OP_STAYS("Add x minus [beta=-1]");
    OP_STAYS("Add x minus [alpha=2]");
    OP_STAYS("Add zero x [alpha=-1] [beta=-1]");
    OP_STAYS("Add x x");
    OP_STAYS("Multiply x zero");
    OP_STAYS("Multiply x mixed");
    OP_STAYS("Multiply x row");         /* another rank */
    OP_STAYS("Multiply x x");
    OP_STAYS("Div one x");
    OP_STAYS("Div x zero");
    OP_STAYS("DivideScalar x [divisor=2]");
    OP_STAYS("Maximum x one");
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

static void a_result_passes_its_name_to_its_new_producer(void **state) {
    (void)state;
    xir_network *net = new_net();
    xir_value *x = argument(net, "x", image()), *a = relu(net, x, "a"), *y = copy(net, a, "y");
    results(net, XIR_VALUES(y, sigmoid(net, a, "z")));
    assert_int_equal(PASS(net, "identity"), 1);
    CHECK_OPS(net, "x = Input()", "y = ReLU(x)", "z = Sigmoid(y)", "Output(y, z)");
    xir_network_free(net);
}

/* Callers know both the name of an input and that of a result: one value can't have two names. */
static void an_input_does_not_become_a_result(void **state) {
    (void)state;
    xir_network *net = new_net();
    xir_value *x = argument(net, "x", image()), *y = copy(net, x, "y");
    results(net, XIR_VALUES(y, relu(net, y, "z")));
    assert_int_equal(PASS(net, "identity"), 1);   /* z now reads x */
    CHECK_OPS(net, "x = Input()", "y = Copy(x)", "z = ReLU(x)", "Output(y, z)");
    xir_network_free(net);
}

static void two_results_of_one_value_stay_two(void **state) {
    (void)state;
    xir_network *net = new_net();
    xir_value *x = argument(net, "x", image()), *a = relu(net, x, "a"), *y = copy(net, a, "y"), *z = copy(net, a, "z");
    results(net, XIR_VALUES(y, z));
    assert_int_equal(PASS(net, "identity"), 1);
    CHECK_OPS(net, "x = Input()", "y = ReLU(x)", "z = Copy(y)", "Output(y, z)");
    xir_network_free(net);
}

/* A conversion names the values on the way to a source value after that value. */
static void the_name_of_the_source_is_kept(void **state) {
    (void)state;
    static const char *const rows[][3] = {   /* the value's own name, the copy's, the resulting one */
        { "y.Conv2d", "y", "y" }, { "", "y", "y" }, { "a", "y", "a" }, { "y", "y.Copy", "y" }, { "y2", "y", "y2" }, { "y.", "y", "y" }, { "a", "", "a" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        xir_network *net = new_net();
        xir_value *x = argument(net, "x", image()), *a = relu(net, x, rows[i][0]), *y = copy(net, a, rows[i][1]);
        results(net, XIR_VALUES(sigmoid(net, y, "z")));
        assert_int_equal(PASS(net, "identity"), 1);
        CHECK_STR(xir_value_name(a), rows[i][2]);
        xir_network_free(net);
    }
    xir_network *net = new_net();   /* names that callers know stay */
    xir_value *x = argument(net, "y.in", image()), *a = relu(net, x, "z.out"), *y = copy(net, x, "y"),
               *z = copy(net, a, "z");
    results(net, XIR_VALUES(a, sigmoid(net, y, "p"), sigmoid(net, z, "q")));
    assert_int_equal(PASS(net, "identity"), 2);
    CHECK_OPS(net, "y.in = Input()", "z.out = ReLU(y.in)", "p = Sigmoid(y.in)", "q = Sigmoid(z.out)", "Output(z.out, p, q)");
    xir_network_free(net);
}

static void a_chain_is_removed_as_a_whole(void **state) {
    (void)state;
    xir_network *net = new_net();
    xir_value *v = argument(net, "x", image());
    for (int i = 0; i < 10000; i++) v = copy(net, v, "");
    results(net, XIR_VALUES(relu(net, v, "y")));
    assert_int_equal(PASS(net, "identity"), 10000);
    CHECK_OPS(net, "x = Input()", "y = ReLU(x)", "Output(y)");
    xir_network_free(net);
}

static void tags_are_kept(void **state) {
    (void)state;
    xir_network *net = new_net();
    xir_value *x = argument(net, "x", image()), *a = XIR_RELU(xir_at_end(net), x), *y = copy(net, a, "y");
    DOES(xir_value_set_tag(y, XIR_STR("t"), &(xir_any){ .kind = XIR_ANY_INT, .as.integer = 3 }));
    results(net, XIR_VALUES(relu(net, y, "z")));
    assert_int_equal(PASS(net, "identity"), 1);
    CHECK_OPS(net, "x = Input()", "y = ReLU(x)", "z = ReLU(y)", "Output(z)");
    int64_t tag;
    assert_true(xir_tag_int(xir_value_tags(a), "t", &tag) && tag == 3);
    xir_network_free(net);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reshape_to_the_same_type),
        cmocka_unit_test(an_expand_that_repeats_nothing),
        cmocka_unit_test(a_tile_of_one),
        cmocka_unit_test(a_transposition_that_moves_nothing),
        cmocka_unit_test(a_slice_of_everything),
        cmocka_unit_test(a_split_or_concatenation_of_one),
        cmocka_unit_test(other_moves_that_move_nothing),
        cmocka_unit_test(a_cast_to_the_same_type_and_a_copy),
        cmocka_unit_test(a_copy_into_other_memory_stays),
        cmocka_unit_test(an_op_with_unknown_attributes_stays),
        cmocka_unit_test(a_window_of_one_element),
        cmocka_unit_test(exact_arithmetic_is_removed),
        cmocka_unit_test(inexact_arithmetic_stays),
        cmocka_unit_test(a_result_passes_its_name_to_its_new_producer),
        cmocka_unit_test(an_input_does_not_become_a_result),
        cmocka_unit_test(two_results_of_one_value_stay_two),
        cmocka_unit_test(the_name_of_the_source_is_kept),
        cmocka_unit_test(a_chain_is_removed_as_a_whole),
        cmocka_unit_test(tags_are_kept),
    };
    return RUN_GROUP(tests);
}
