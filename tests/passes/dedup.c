/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* dedup: keeps the first of Params with the same bytes; those that differ in anything relevant stay. */
#include <math.h>
#include <xir/serialize.h>
#include "support/op_list.h"
#include "support/scratch.h"

enum { MANY = 5000 };     /* floats: more than a head */

static const xir_type *image(void) { return FP32("NHWC", 1, 4, 4, 2); }

/* Params of MANY numbers; one differs from 0. */
static xir_value *row_of(xir_network *net, const char *name, size_t at, float number) {
    static float bytes[MANY];
    bytes[at] = number;
    xir_value *v = xir_params_copy(net, xir_str_of(name), FP32("**", 1, MANY), bytes, sizeof bytes);
    bytes[at] = 0;
    return v;
}

static void the_first_of_equal_params_stays(void **state) {
    (void)state;
    xir_network *net = new_net();
    xir_value *x = argument(net, "x", FP32("**", 1, MANY));
    xir_value *p = row_of(net, "p", MANY - 1, 1), *q = row_of(net, "q", MANY - 1, 1),
              *r = row_of(net, "r", MANY - 1, 2), *s = row_of(net, "s", MANY - 1, 2), *t = row_of(net, "t", 0, 1),
              *u = row_of(net, "u", MANY - 1, 1);
    xir_value *a = add(net, x, p, "a"), *b = add(net, a, q, "b"), *c = add(net, b, r, "c"), *d = add(net, c, s, "d");
    results(net, XIR_VALUES(add(net, add(net, d, t, "e"), u, "y")));
    assert_int_equal(PASS(net, "dedup"), 3);
    CHECK_OPS(net, "x = Input()", "a = Add(x, p)", "b = Add(a, p)", "c = Add(b, r)", "d = Add(c, r)", "e = Add(d, t)",
              "y = Add(e, p)", "Output(y)");
    xir_network_free(net);
}

/* -0 is not 0; a NaN is itself; another type, memory or tag is another Params. */
static void different_params_stay(void **state) {
    (void)state;
    xir_network *net = new_net();
    const xir_type *row = FP32("C", 2);
    xir_value *x = argument(net, "x", image());
    xir_value *v[] = {
        FLOATS(net, "zero", row, 0, 1),  FLOATS(net, "minus", row, -0.0f, 1), FLOATS(net, "other", FP32("*", 2), 0, 1),
        FLOATS(net, "chip", row, 0, 1),  FLOATS(net, "tag", row, 0, 1),       FLOATS(net, "nan", row, NAN, 1),
        FLOATS(net, "nan2", row, NAN, 1), FLOATS(net, "tag2", row, 0, 1),
    };
    DOES(xir_value_set_mtype(v[3], xir_mtype_onchip(ctx, 64)));
    for (size_t i = 4; i < COUNT(v); i += 3)
        DOES(xir_value_set_tag(v[i], XIR_STR("of"), &(xir_any){ .kind = XIR_ANY_INT, .as.integer = 1 }));
    xir_value *y = x;
    for (size_t i = 0; i < COUNT(v); i++) y = add(net, y, v[i], "");
    results(net, XIR_VALUES(named(y, "y")));
    assert_int_equal(PASS(net, "dedup"), 2);
    const xir_value *now[COUNT(v)];
    size_t n = 0;
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op))
        if (xir_op_input_count(op) == 2) now[n++] = xir_op_input(op, 1);
    assert_int_equal(n, COUNT(v));
    for (size_t i = 0; i < COUNT(v); i++) assert_ptr_equal(now[i], v[i == 6 ? 5 : i == 7 ? 4 : i]);
    xir_network_free(net);
}

/* Two results keep their names; what reads the second reads the first. */
static void results_keep_their_names(void **state) {
    (void)state;
    xir_network *net = new_net();
    xir_value *x = argument(net, "x", image());
    xir_value *p = FLOATS(net, "p", FP32("C", 2), 1, 2), *q = FLOATS(net, "q", FP32("C", 2), 1, 2);
    results(net, XIR_VALUES(p, q, add(net, add(net, x, p, "a"), q, "y")));
    assert_int_equal(PASS(net, "dedup"), 1);
    CHECK_OPS(net, "x = Input()", "a = Add(x, p)", "y = Add(a, p)", "Output(p, q, y)");
    xir_network_free(net);
}

static void inputs_with_a_default_stay(void **state) {
    (void)state;
    xir_network *net = new_net();
    xir_value *x = argument(net, "x", image());
    xir_value *p = FLOATS(net, "p", FP32("C", 2), 1, 2), *q = FLOATS(net, "q", FP32("C", 2), 1, 2);
    DOES(xir_value_set_tag(q, XIR_STR("onnx.input"), &(xir_any){ .kind = XIR_ANY_BOOL, .as.boolean = true }));
    results(net, XIR_VALUES(add(net, add(net, x, p, "a"), q, "y")));
    assert_int_equal(xir_pass_run(net, "dedup", NULL, NULL, why), XIR_OK);
    CHECK_OPS(net, "x = Input()", "a = Add(x, p)", "y = Add(a, q)", "Output(y)");
    xir_network_free(net);
}

/* Mapped bytes are read only if an option asks for it. */
static void mapped_params_stay_unread(void **state) {
    (void)state;
    static const struct { const char *options; bool lazy; size_t changes; } rows[] = {
        { NULL, false, 1 }, { NULL, true, 0 }, { "lazy", true, 1 },
    };
    xir_network *net = new_net();
    xir_value *x = argument(net, "x", FP32("**", 1, MANY));
    xir_value *a = add(net, x, row_of(net, "p", 3, 1), "a");
    results(net, XIR_VALUES(add(net, a, row_of(net, "q", 3, 1), "y")));
    DOES(xir_network_save(net, scratch("twice.json"), NULL, why));
    xir_network_free(net);
    for (size_t i = 0; i < COUNT(rows); i++) {
        const xir_load_options how = XIR_INIT(xir_load_options, .lazy = rows[i].lazy);
        xir_network *read = xir_network_load(ctx, scratch("twice.json"), &how, why);
        size_t changes;
        assert_non_null(read);
        DOES(xir_pass_run(read, "dedup", rows[i].options, &changes, why));
        assert_int_equal(changes, rows[i].changes);
        xir_network_free(read);
    }
}

/* Equal bytes of many types, and many Params that begin alike, take linear time. */
static void many_alike(void **state) {
    (void)state;
    enum { KINDS = 3000 };
    xir_network *net = new_net();
    xir_value *x = argument(net, "x", FP32("N", 1)), *y = x;
    for (int64_t i = 1; i <= KINDS; i++) {
        xir_value *v = xir_params_new(net, XIR_STR(""), FP32("**", i, 1 << 20));
        static const float zeros[64];
        const xir_type *type = i % 2 ? FP32("**", 1, 64) : FP32("****", 1, 1, 64, 1);
        xir_value *w = xir_params_copy(net, XIR_STR(""), type, zeros, sizeof zeros);
        y = output_of(xir_network_add(net, &(xir_op_desc)DESC(hard_op, INPUTS(y, v, w), TYPES(FP32("N", 1)))), "");
    }
    results(net, XIR_VALUES(y));
    size_t changes;
    DOES(xir_pass_run(net, "dedup", NULL, &changes, why));
    assert_int_equal(changes, KINDS - 2);
    xir_network_free(net);
}

GROUP {
    scratch_make();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_of_equal_params_stays), cmocka_unit_test(different_params_stay),
        cmocka_unit_test(results_keep_their_names),        cmocka_unit_test(inputs_with_a_default_stay),
        cmocka_unit_test(mapped_params_stay_unread),       cmocka_unit_test(many_alike),
    };
    return RUN_GROUP(tests);
}
