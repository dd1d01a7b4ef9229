/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* merge: a run of moves becomes one move; the elements end in the same places. merge.xir has the cases that are
 * texts. */
#include "support/op_list.h"

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

/* ---- concatenations ---------------------------------------------------------------------------------------------- */

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
        cmocka_unit_test(two_slices_pick_what_one_picks),
        cmocka_unit_test(a_long_chain_of_concatenations_is_one),
        cmocka_unit_test(a_cycle_terminates),
    };
    return RUN_GROUP(tests);
}
