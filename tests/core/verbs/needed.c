/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Parts are followed through several ops and through calls; what is wrong is refused; memory may run out. What a
 * single op needs, tests/exec/needed.c compares with what it computes. */
#include <inttypes.h>
#include <stdio.h>
#include "support/scarce.h"
#include "support/story.h"

#define PAD1 "[pad_top=1 pad_bottom=1 pad_left=1 pad_right=1]"

static const char block[] =
    "x: NHWC 1 16 12 4; w: params 3 3 4 4; v: params 3 3 4 4; c = Conv2d x w " PAD1 "; r = ReLU c; d = Conv2d r v " PAD1
    "; a = Add d x; y = ReLU a; out y";

typedef struct told { char text[600]; const xir_network *net; } told;

/* "c [0, 1)[3, 8)…", one value after the other. */
static void tell(void *user, const xir_value *value, const xir_box *part) {
    told *t = user;
    char *out = t->text + strlen(t->text);
    const xir_str name = xir_value_name(value);
    out += sprintf(out, "%s%.*s ", *t->text ? "; " : "", (int)name.size, name.data);
    for (uint32_t k = 0; k < part->rank; k++)
        out += sprintf(out, "%" PRId64 "-%" PRId64 " ", part->begin[k], part->end[k]);
    strcpy(out, part->exact ? "exact" : "");
}

static size_t ops_of(const xir_network *net, xir_op **ops, size_t room) {
    size_t n = 0;
    XIR_EACH_OP(op, net) {
        if (op == xir_network_input_op(net) || op == xir_network_output_op(net)) continue;
        assert_true(n < room);
        ops[n++] = op;
    }
    return n;
}

static xir_box rows(const xir_value *v, int64_t begin, int64_t end) {
    xir_box part = XIR_INIT(xir_box);
    DOES(xir_box_whole(xir_value_type(v), &part, why));
    part.begin[1] = begin;
    part.end[1] = end;
    return part;
}

static void check_block(const xir_network *net, xir_op **ops, size_t n, const char *expected) {
    const xir_value *y = story_value(net, "y");
    const xir_box part = rows(y, 4, 6);
    told t = { .net = net };
    DOES(xir_region_needed(net, ops, n, &y, &part, 1, tell, &t, why));
    assert_string_equal(t.text, expected);
}

static void a_halo_grows_with_each_window(void **state) {
    (void)state;
    xir_network *net = story_net(block);
    xir_op *ops[10], *turned[10];
    const size_t n = ops_of(net, ops, COUNT(ops));
    const char *expected = "y 0-1 4-6 0-12 0-4 exact; a 0-1 4-6 0-12 0-4 exact; d 0-1 4-6 0-12 0-4 exact; "
                           "x 0-1 2-8 0-12 0-4 exact; r 0-1 3-7 0-12 0-4 exact; v 0-3 0-3 0-4 0-4 exact; "
                           "c 0-1 3-7 0-12 0-4 exact; w 0-3 0-3 0-4 0-4 exact";
    check_block(net, ops, n, expected);
    for (size_t i = 0; i < n; i++) turned[i] = ops[n - 1 - i];
    check_block(net, turned, n, expected);
    xir_network_free(net);
}

static void a_call_is_asked_through_its_body(void **state) {
    (void)state;
    xir_network *net = story_net(block);
    xir_op *ops[10];
    (void)ops_of(net, ops, COUNT(ops));
    xir_op *call = xir_outline(net, ops, 3, NULL);   /* c, r, d */
    assert_non_null(call);
    call = xir_outline(net, &call, 1, NULL);         /* and that in another one */
    assert_non_null(call);
    xir_op *now[10];
    const size_t n = ops_of(net, now, COUNT(now));
    assert_int_equal(n, 3);
    check_block(net, now, n, "y 0-1 4-6 0-12 0-4 exact; a 0-1 4-6 0-12 0-4 exact; d 0-1 4-6 0-12 0-4 exact; "
                             "x 0-1 2-8 0-12 0-4 exact; v 0-3 0-3 0-4 0-4 exact; w 0-3 0-3 0-4 0-4 exact");
    xir_box in = XIR_INIT(xir_box);
    const xir_box part = rows(xir_op_output(call, 0), 0, 1);
    DOES(xir_op_needed(call, 0, &part, &in, 1, why));
    assert_int_equal(in.begin[1], 0);
    assert_int_equal(in.end[1], 3);
    assert_int_equal(in.exact, 0);
    xir_network_free(net);
}

static void nothing_of_nothing(void **state) {
    (void)state;
    xir_network *net = story_net(block);
    const xir_op *op = story_op(net, "c");
    xir_box part = rows(xir_op_output(op, 0), 3, 3), in[4];
    for (size_t i = 0; i < 4; i++) in[i] = XIR_INIT(xir_box);
    DOES(xir_op_needed(op, 0, &part, in, 4, why));
    for (size_t i = 0; i < 4; i++) assert_int_equal(in[i].none, 1);
    assert_int_equal(xir_box_elements(&in[0]), 0);
    xir_network_free(net);
}

#define REFUSED(call, code, words)                                                     \
    do {                                                                               \
        xir_diags_clear(why);                                                          \
        assert_int_equal((call), code);                                                \
        const xir_diag *d_ = xir_diags_at(why, 0);                                     \
        if (!d_ || !memmem(d_->message.data, d_->message.size, words, strlen(words))) { \
            xir_diags_print(why, stderr);                                              \
            fail_msg("line %d: expected a finding with '%s'", __LINE__, words);        \
        }                                                                              \
        xir_diags_clear(why);                                                          \
    } while (0)

static void nop(void *user, const xir_value *value, const xir_box *part) { (void)user, (void)value, (void)part; }

static void what_is_refused(void **state) {
    (void)state;
    xir_network *net = story_net(block), *open = story_net("x: NHWC 1 -1 4 2; y = ReLU x; out y");
    xir_op *op = story_op(net, "c"), *ops[10];
    const size_t n = ops_of(net, ops, COUNT(ops));
    const xir_value *c = xir_op_output(op, 0), *none = NULL, *strange = story_value(open, "y");
    xir_box in[2] = { XIR_INIT(xir_box), XIR_INIT(xir_box) }, empty = { 0 };
    xir_box part = rows(c, 0, 2), wrong = rows(c, 0, 17);
    REFUSED(xir_op_needed(NULL, 0, &part, in, 2, why), XIR_E_MISSING, "op");
    REFUSED(xir_op_needed(op, 0, NULL, in, 2, why), XIR_E_MISSING, "part");
    REFUSED(xir_op_needed(op, 0, &part, NULL, 2, why), XIR_E_MISSING, "needed");
    REFUSED(xir_op_needed(op, 1, &part, in, 2, why), XIR_E_BOUNDS, "the op has 1");
    REFUSED(xir_op_needed(op, 0, &wrong, in, 2, why), XIR_E_BOUNDS, "[0, 17): expected a part of [0, 16)");
    REFUSED(xir_op_needed(op, 0, &empty, in, 2, why), XIR_E_ABI, "no size");
    REFUSED(xir_op_needed(op, 0, &part, &empty, 1, why), XIR_E_ABI, "no size");
    wrong = part;
    wrong.rank = 3;
    REFUSED(xir_op_needed(op, 0, &wrong, in, 2, why), XIR_E_BOUNDS, "3 dims, the output 4");
    REFUSED(xir_op_needed(story_op(open, "y"), 0, &part, in, 1, why), XIR_E_BOUNDS, "dim 1 is not known");
    REFUSED(xir_box_whole(NULL, &part, why), XIR_E_TYPE, "not a tensor");
    REFUSED(xir_box_whole(XIR_TENSOR(ctx, xir_type_bool(ctx), "*********", 1, 1, 1, 1, 1, 1, 1, 1, 1), &part, why),
            XIR_E_LIMIT, "9 dims");
    REFUSED(xir_region_needed(NULL, ops, n, &c, &part, 1, nop, NULL, why), XIR_E_MISSING, "net");
    REFUSED(xir_region_needed(net, ops, n, &c, &part, 1, NULL, NULL, why), XIR_E_MISSING, "each");
    REFUSED(xir_region_needed(net, ops, n, &none, &part, 1, nop, NULL, why), XIR_E_MISSING, "value");
    REFUSED(xir_region_needed(net, ops, n, &strange, &part, 1, nop, NULL, why), XIR_E_INVALID, "another network");
    ops[n] = ops[0];
    REFUSED(xir_region_needed(net, ops, n + 1, &c, &part, 1, nop, NULL, why), XIR_E_INVALID, "twice");
    xir_op *foreign = story_op(open, "y");
    REFUSED(xir_region_needed(net, &foreign, 1, &c, &part, 1, nop, NULL, why), XIR_E_INVALID, "another network");
    /* an op whose input has an open dim: the place is in the finding */
    const xir_type *type = FP32("NHWC", 1, -1, 12, 4);
    DOES(xir_value_set_type(xir_op_input(op, 0), type));
    part = rows(c, 0, 2);
    xir_diags_clear(why);
    assert_int_equal(xir_region_needed(net, ops, n, &c, &part, 1, nop, NULL, why), XIR_E_BOUNDS);
    CHECK_STR(xir_diags_at(why, 0)->path, "/ops/1/inputs/0");
    xir_network_free(net);
    xir_network_free(open);
}

/* A class of a program without the row needs everything. */
static void opaque_classes_need_all(void **state) {
    (void)state;
    xir_network *net = story_net("x: NHWC 1 8 8 2; y = other::Thing x; out y");
    const xir_op *op = story_op(net, "y");
    xir_box part = rows(xir_op_output(op, 0), 0, 1), in = XIR_INIT(xir_box);
    assert_int_equal(xir_class_needs(xir_op_class(op)), XIR_NEEDS_ALL);
    DOES(xir_op_needed(op, 0, &part, &in, 1, why));
    assert_int_equal(xir_box_elements(&in), 128);
    assert_int_equal(in.exact, 0);
    xir_network_free(net);
}

static void asking(want *w) {
    xir_op *ops[10];
    size_t n;
    const xir_value *y;
    xir_box part, in[2] = { XIR_INIT(xir_box), XIR_INIT(xir_box) };
    IN_PLENTY(w, w->net = story_net_in(w->ctx, block));
    IN_PLENTY(w, n = ops_of(w->net, ops, COUNT(ops)));
    IN_PLENTY(w, y = story_value(w->net, "y"));
    IN_PLENTY(w, part = rows(y, 4, 6));
    told t = { .net = w->net };
    TRY(w, (*t.text = '\0', xir_region_needed(w->net, ops, n, &y, &part, 1, tell, &t, w->why)));
    IN_PLENTY(w, part = rows(xir_op_output(ops[0], 0), 4, 6));
    TRY(w, xir_op_needed(ops[0], 0, &part, in, 2, w->why));
    IN_PLENTY(w, w->result = strdup(t.text));
}

static void without_memory(void **state) {
    (void)state;
    run_scarcely("needed", asking, false);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_halo_grows_with_each_window), cmocka_unit_test(a_call_is_asked_through_its_body),
        cmocka_unit_test(nothing_of_nothing),            cmocka_unit_test(what_is_refused),
        cmocka_unit_test(opaque_classes_need_all),       cmocka_unit_test(without_memory),
    };
    return RUN_GROUP(tests);
}
