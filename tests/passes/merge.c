/* merge: a run of moves becomes one move; the elements end in the same places. */
#include "support/op_list.h"

/* ---- reshapes ---------------------------------------------------------------------------------------------------- */

static void a_run_of_reshapes_is_the_last_one(void **state) {
    (void)state;
    xir_network *net = new_net();
    xir_value *x = argument(net, "x", FP32("NHWC", 1, 4, 4, 2));
    xir_value *a = reshape(net, x, "NC", LIST(4, 8), "a"), *b = reshape(net, a, "***C", LIST(2, 2, 2, -1), "b");
    results(net, XIR_VALUES(reshape(net, squeeze(net, reshape(net, b, "**C", LIST(1, 1, 32), "c"), LIST(0), "d"), "NC",
                                    LIST(8, 4), "y")));
    assert_int_equal(PASS(net, "merge"), 4);
    CHECK_TYPED_OPS(net, "x:fp32[1,4,4,2]NHWC = Input()", "y:fp32[8,4]NC = Reshape(x)", "Output(y)");
    xir_network_free(net);
}

static void values_with_other_users_stay(void **state) {
    (void)state;
    xir_network *net = new_net();
    xir_value *x = argument(net, "x", FP32("NC", 4, 8));
    xir_value *a = reshape(net, x, "NC", LIST(2, 16), "a"), *b = reshape(net, a, "NC", LIST(8, 4), "b");
    results(net, XIR_VALUES(a, relu(net, b, "y")));
    assert_int_equal(PASS(net, "merge"), 1);
    CHECK_OPS(net, "x = Input()", "a = Reshape(x)", "b = Reshape(x)", "y = ReLU(b)", "Output(a, y)");
    xir_network_free(net);
}

/* The dim for a -1 is known from the reshape before, and would not be known from the input. */
static void known_dims_stay_known(void **state) {
    (void)state;
    xir_network *net = new_net();
    xir_value *x = argument(net, "x", FP32("**", -1, -1));
    xir_value *a = reshape(net, x, "**", LIST(4, 6), "a"), *y = reshape(net, a, "**", LIST(-1, 8), "y");
    results(net, XIR_VALUES(y));
    assert_int_equal(PASS(net, "merge"), 1);
    CHECK_TYPED_OPS(net, "x:fp32[?,?]** = Input()", "y:fp32[3,8]** = Reshape(x)", "Output(y)");
    const xir_reshape_attrs *attrs = xir_reshape_of(xir_value_op(y));
    assert_int_equal(attrs->shape.data[0], 3);
    xir_network_free(net);
}

/* ---- transpositions ---------------------------------------------------------------------------------------------- */

static void two_transpositions_are_one(void **state) {
    (void)state;
    xir_network *net = new_net();
    xir_value *x = argument(net, "x", FP32("NHWC", 2, 3, 4, 5));
    xir_value *a = transpose(net, x, "NCHW", LIST(0, 3, 1, 2), "a"),
               *y = transpose(net, a, "CNWH", LIST(1, 0, -1, -2), "y");
    results(net, XIR_VALUES(y));
    assert_int_equal(PASS(net, "merge"), 1);
    CHECK_TYPED_OPS(net, "x:fp32[2,3,4,5]NHWC = Input()", "y:fp32[5,2,4,3]CNWH = Transpose(x)", "Output(y)");
    const xir_i64s *dims = &xir_transpose_of(xir_value_op(y))->dims;
    static const int64_t expected[] = { 3, 0, 2, 1 };
    assert_int_equal(dims->size, 4);
    assert_memory_equal(dims->data, expected, sizeof expected);
    xir_network_free(net);
}

static void identity_removes_a_transposition_there_and_back(void **state) {
    (void)state;
    xir_network *net = new_net();
    xir_value *x = argument(net, "x", FP32("NHWC", 1, 3, 4, 5));
    xir_value *a = transpose(net, x, "NCHW", LIST(0, 3, 1, 2), "a"),
               *b = transpose(net, a, "NHWC", LIST(0, 2, 3, 1), "b");
    results(net, XIR_VALUES(relu(net, b, "y")));
    assert_int_equal(PASS(net, "merge"), 1);
    assert_int_equal(PASS(net, "identity"), 1);
    CHECK_OPS(net, "x = Input()", "y = ReLU(x)", "Output(y)");
    xir_network_free(net);
}

/* ---- slices ------------------------------------------------------------------------------------------------------ */

/* The positions that NumPy's begin:end:stride picks of n, found by walking. */
static size_t walk(int64_t begin, int64_t end, int64_t stride, int64_t n, int64_t *out) {
    size_t count = 0;
    if (begin < 0) begin += n;
    if (end < 0) end += n;
    if (stride > 0) {
        if (begin < 0) begin = 0;
        for (int64_t i = begin; i < end && i < n; i += stride) out[count++] = i;
    } else {
        if (begin > n - 1) begin = n - 1;
        for (int64_t i = begin; i > end && i >= 0; i += stride) out[count++] = i;
    }
    return count;
}

static int64_t any_of(int64_t low, int64_t high) { return low + (int64_t)chance((uint64_t)(high - low + 1)); }

static int64_t any_stride(void) {
    int64_t stride = any_of(-3, 3);
    return stride ? stride : 1;
}

/* The merged slice picks exactly what the two slices pick. */
static void two_slices_pick_what_one_picks(void **state) {
    (void)state;
    size_t merged = 0;
    for (int round = 0; round < 4000; round++) {
        int64_t n = any_of(1, 7), b1 = any_of(-9, 9), e1 = any_of(-9, 9), s1 = any_stride(), b2 = any_of(-9, 9),
                e2 = any_of(-9, 9), s2 = any_stride();
        int64_t first[16], second[16], last[16];
        size_t n1 = walk(b1, e1, s1, n, first), n2 = walk(b2, e2, s2, (int64_t)n1, second);
        xir_network *net = new_net();
        xir_value *x = argument(net, "x", FP32("*", n));
        xir_value *a = slice(net, x, LIST(b1), LIST(e1), LIST(s1), "a"),
                   *y = slice(net, a, LIST(b2), LIST(e2), LIST(s2), "y");
        results(net, XIR_VALUES(y));
        assert_int_equal(xir_type_as_tensor(xir_value_type(y))->shape.data[0], n2);
        size_t changes;
        DOES(xir_pass_run(net, "merge", NULL, &changes, why));
        merged += changes;
        const xir_slice_attrs *now = xir_slice_of(xir_value_op(y));
        size_t n3 = walk(now->begin.data[0], now->end.data[0], now->stride.data[0], n, last);
        bool same = n3 == n2;
        for (size_t i = 0; same && i < n2; i++) same = last[i] == first[second[i]];
        if (changes && !same)
            fail_msg("%d:%d:%d then %d:%d:%d of %d became %d:%d:%d", (int)b1, (int)e1, (int)s1, (int)b2, (int)e2,
                     (int)s2, (int)n, (int)now->begin.data[0], (int)now->end.data[0], (int)now->stride.data[0]);
        xir_network_free(net);
    }
    assert_int_equal(merged, 4000);
}

static void slices_of_unknown_dims(void **state) {
    (void)state;
    xir_network *net = new_net();
    xir_value *x = argument(net, "x", FP32("***", -1, 8, -1));
    xir_value *a = slice(net, x, LIST(0, 2, 1), LIST(INT64_MAX, 8, INT64_MAX), LIST(1, 1, 2), "a");
    xir_value *b = slice(net, a, LIST(3, 0, 0), LIST(9, 4, INT64_MAX), LIST(2, 2, 1), "b");
    /* a slice of a part of unknown length */
    xir_value *c = slice(net, b, LIST(1, 0, 0), LIST(2, 2, 2), LIST(1, 1, 1), "c");
    results(net, XIR_VALUES(c));
    assert_int_equal(PASS(net, "merge"), 1);
    CHECK_OPS(net, "x = Input()", "b = Slice(x)", "c = Slice(b)", "Output(c)");
    const xir_slice_attrs *now = xir_slice_of(xir_value_op(b));
    static const int64_t begin[] = { 3, 2, 1 }, end[] = { 9, 5, INT64_MAX }, stride[] = { 2, 2, 2 };
    assert_memory_equal(now->begin.data, begin, sizeof begin);
    assert_memory_equal(now->end.data, end, sizeof end);
    assert_memory_equal(now->stride.data, stride, sizeof stride);
    xir_network_free(net);
}

/* ---- concatenations ---------------------------------------------------------------------------------------------- */

static void a_tree_of_concatenations_is_one(void **state) {
    (void)state;
    xir_network *net = new_net();
    const xir_type *type = FP32("NC", 2, 3);
    xir_op *in = xir_inputs(xir_at_end(net), "in", (const xir_type *const[]){ type, type, type, type }, 4);
    xir_value *p = named(xir_op_output(in, 0), "p"), *q = named(xir_op_output(in, 1), "q"),
               *r = named(xir_op_output(in, 2), "r");
    xir_value *s = named(xir_op_output(in, 3), "s"), *w = xir_params_new(net, XIR_STR("w"), type);
    xir_value *a = concat(net, XIR_VALUES(p, q), 1, "a"), *b = concat(net, XIR_VALUES(r, a, w), -1, "b"),
               *c = concat(net, XIR_VALUES(s, s), 1, "c");
    results(net, XIR_VALUES(concat(net, XIR_VALUES(b, q, c), 1, "y")));
    assert_int_equal(PASS(net, "merge"), 3);
    CHECK_TYPED_OPS(net, "p:fp32[2,3]NC, q:fp32[2,3]NC, r:fp32[2,3]NC, s:fp32[2,3]NC = Input()",
                    "y:fp32[2,21]NC = Concat(r, p, q, w, q, s, s)", "Output(y)");
    xir_network_free(net);
}

static void a_concatenation_with_other_users_stays(void **state) {
    (void)state;
    xir_network *net = new_net();
    xir_value *x = argument(net, "x", FP32("NC", 2, 3));
    xir_value *a = concat(net, XIR_VALUES(x, x), 1, "a"), *twice = concat(net, XIR_VALUES(a, a), 1, "b");
    xir_value *other = concat(net, XIR_VALUES(x, x), 0, "c"), *across = concat(net, XIR_VALUES(other, other), 1, "d");
    xir_value *result = concat(net, XIR_VALUES(x, x, x), 1, "e"), *more = concat(net, XIR_VALUES(result, x), 1, "f");
    results(net, XIR_VALUES(twice, across, result, more));
    assert_int_equal(PASS(net, "merge"), 0);
    xir_network_free(net);
}

/* Concatenations along different axes are not merged. */
static void concatenations_along_other_axes_stay(void **state) {
    (void)state;
    xir_network *net = new_net();
    xir_value *x = argument(net, "x", FP32("NC", 3, 3));
    xir_value *a = concat(net, XIR_VALUES(x, x), 0, "a"), *b = concat(net, XIR_VALUES(x, x), 0, "b");
    results(net, XIR_VALUES(concat(net, XIR_VALUES(a, b), 1, "y")));
    assert_int_equal(PASS(net, "merge"), 0);
    xir_network_free(net);
}

static void a_long_chain_of_concatenations_is_one(void **state) {
    (void)state;
    enum { LENGTH = 20000 };   /* merging them one by one would copy 2e8 times */
    xir_network *net = new_net();
    xir_value *x = argument(net, "x", FP32("NC", 1, 1)), *v = x;
    for (int i = 0; i < LENGTH; i++) v = concat(net, XIR_VALUES(v, x), 1, "");
    results(net, XIR_VALUES(v));
    size_t changes;
    DOES(xir_pass_run(net, "merge", NULL, &changes, why));
    assert_int_equal(changes, LENGTH - 1);
    assert_int_equal(xir_network_op_count(net), 3);
    assert_int_equal(xir_op_input_count(xir_value_op(v)), LENGTH + 1);
    CHECK_SOUND(net);
    xir_network_free(net);
}

/* ---- limits of a run ------------------------------------------------------------------------------------------- */

static void other_targets_memories_and_attributes_end_a_run(void **state) {
    (void)state;
    for (int i = 0; i < 4; i++) {
        xir_network *net = new_net();
        xir_value *x = argument(net, "x", FP32("NC", 4, 8));
        xir_value *a = reshape(net, x, "NC", LIST(2, 16), "a"), *y = reshape(net, a, "NC", LIST(8, 4), "y");
        results(net, XIR_VALUES(y));
        if (i == 1) DOES(xir_op_set_target(xir_value_op(a), xir_target_of_kind(ctx, XIR_TARGET_BUYI, NULL)));
        if (i == 2) DOES(xir_value_set_mtype(a, xir_mtype_onchip(ctx, 64)));
        if (i == 3)
            DOES(xir_op_set_extra(xir_value_op(a), XIR_STR("more"),
                                  &(xir_any){ .kind = XIR_ANY_INT, .as.integer = 1 }));
        assert_int_equal(PASS(net, "merge"), i == 0);
        xir_network_free(net);
    }
}

static void a_cycle_terminates(void **state) {
    (void)state;
    xir_network *net = new_net();
    xir_value *x = argument(net, "x", FP32("NC", 4, 8));
    xir_value *a = reshape(net, x, "NC", LIST(2, 16), "a"), *b = reshape(net, a, "NC", LIST(8, 4), "b"),
               *c = reshape(net, b, "NC", LIST(16, 2), "c");
    xir_value *d = concat(net, XIR_VALUES(x), 0, "d"), *e = concat(net, XIR_VALUES(d), 0, "e");
    results(net, XIR_VALUES(x));
    DOES(xir_op_set_input(xir_value_op(a), 0, c));
    DOES(xir_op_set_input(xir_value_op(d), 0, e));
    DOES(xir_pass_run(net, "merge", NULL, NULL, why));
    CHECK_SOUND(net);
    xir_network_free(net);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_of_reshapes_is_the_last_one),
        cmocka_unit_test(values_with_other_users_stay),
        cmocka_unit_test(known_dims_stay_known),
        cmocka_unit_test(two_transpositions_are_one),
        cmocka_unit_test(identity_removes_a_transposition_there_and_back),
        cmocka_unit_test(two_slices_pick_what_one_picks),
        cmocka_unit_test(slices_of_unknown_dims),
        cmocka_unit_test(a_tree_of_concatenations_is_one),
        cmocka_unit_test(a_concatenation_with_other_users_stays),
        cmocka_unit_test(concatenations_along_other_axes_stay),
        cmocka_unit_test(a_long_chain_of_concatenations_is_one),
        cmocka_unit_test(other_targets_memories_and_attributes_end_a_run),
        cmocka_unit_test(a_cycle_terminates),
    };
    return RUN_GROUP(tests);
}
