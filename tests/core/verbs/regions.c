/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Regions: which sets of ops are convex, into which groups the ops of a kind fall, and that a region becomes one op and
 * comes back without a trace. XIR_REGIONS is how many random networks are tried. */
#include <stdlib.h>
#include <xir/exec.h>
#include <xir/icraft.h>
#include "support/formats.h"
#include "support/often.h"
#include "support/op_list.h"
#include "support/region_net.h"
#include "support/scratch.h"

static long times(long usual) {
    const char *text = getenv("XIR_REGIONS");
    return text ? atol(text) : OFTEN(usual);
}

/* ---- convex sets ------------------------------------------------------------------------------------------------ */

static void a_region_that_is_not_convex_is_refused_with_the_path(void **state) {
    (void)state;
    xir_network *net = ladder_net();
    xir_op *ops[] = { named_op(net, "d"), named_op(net, "b") }, *path[8];
    assert_int_equal(xir_region_check(net, ops, 2, why), XIR_E_INVALID);
    char text[200];
    const xir_op *last = xir_region_path(net, ops, 2, path, COUNT(path)) == 3 ? path[1] : NULL;
    assert_non_null(last);
    assert_ptr_equal(path[0], named_op(net, "b"));
    assert_ptr_equal(path[2], named_op(net, "d"));
    snprintf(text, sizeof text, "op 2 'b', op %d '%.*s', op 6 'd'", (int)xir_op_id(last), (int)xir_op_name(last).size,
             xir_op_name(last).data);
    if (!strstr(xir_diags_at(why, 0)->message.data, text)) fail_msg("%s", xir_diags_at(why, 0)->message.data);
    xir_diags_clear(why);
    REFUSES_NULL(net, xir_outline(net, ops, 2, NULL), XIR_E_INVALID, text);
    REFUSES_NULL(net, xir_outline_network(net, ops, 2), XIR_E_INVALID, text);
    assert_int_equal(xir_region_path(net, ops, 1, NULL, 0), 0);
    xir_network_free(net);
}

static void a_long_path_is_shortened(void **state) {
    (void)state;
    xir_network *net = new_net();
    xir_at at = XIR_AT(net);
    xir_value *x = xir_build_relu(at, xir_input(at, "x", FP32("*", 4)), "first");
    for (int i = 0; i < 40; i++) x = xir_build_relu(at, x, NULL);
    x = xir_build_relu(at, x, "last");
    assert_non_null(xir_output(at, XIR_VALUES(x)));
    xir_op *ops[] = { named_op(net, "first"), named_op(net, "last") };
    assert_int_equal(xir_region_path(net, ops, 2, NULL, 0), 42);
    assert_int_equal(xir_region_check(net, ops, 2, why), XIR_E_INVALID);
    assert_non_null(strstr(xir_diags_at(why, 0)->message.data, "34 more ops"));
    xir_diags_clear(why);
    xir_network_free(net);
}

static void any_region_is_convex_as_brute_force_says(void **state) {
    (void)state;
    long convex = 0, n = times(1000);
    for (long i = 0; i < n; i++) {
        xir_network *net = region_net(20);
        reach r;
        reach_of(net, &r);
        xir_op *ops[REGION_MOST_OPS];
        size_t count = 0;
        for (size_t k = 0; k < r.n; k++)
            if (chance(3) == 0) ops[count++] = r.ops[k];
        const bool is = reach_is_convex(&r, ops, count);
        convex += is;
        assert_int_equal(xir_region_check(net, ops, count, NULL), is ? XIR_OK : XIR_E_INVALID);
        xir_op *path[REGION_MOST_OPS];
        const size_t length = xir_region_path(net, ops, count, path, COUNT(path));
        assert_true(is ? length == 0 : length >= 3);
        for (size_t k = 0; k + 1 < length; k++) {   /* each uses the one before */
            xir_op *makers[REGION_MOST_OPS];
            const size_t all = xir_op_producers(path[k + 1], false, makers, COUNT(makers));
            bool found = false;
            for (size_t m = 0; m < all; m++) found |= makers[m] == path[k];
            assert_true(found);
        }
        xir_network_free(net);
    }
    if (convex < n / 20 || convex > n * 19 / 20) fail_msg("%ld of %ld are convex", convex, n);
}

/* ---- groups ----------------------------------------------------------------------------------------------------- */

static int by_class(const xir_op *op, void *user) {
    (void)user;
    return xir_op_is(op, xir_relu_class()) ? 1 : xir_op_is(op, xir_add_class()) ? 0 : -1;
}

static int by_name(const xir_op *op, void *user) { return strchr(user, xir_op_name(op).data[0]) ? 1 : -1; }

/* a0 leaves the device early and comes back late: the branch a1, a2 waits for it and joins what follows. */
static void a_group_joins_what_comes_later(void **state) {
    (void)state;
    xir_network *net = new_net();
    xir_at at = XIR_AT(net);
    xir_value *x = xir_input(at, "x", FP32("*", 4));
    xir_value *a1 = xir_build_relu(at, x, "p1"), *a2 = xir_build_relu(at, a1, "p2"), *a0 = xir_build_relu(at, x, "p0");
    xir_value *h = xir_build_relu(at, a0, "h"), *a3 = xir_build_add(at, a2, h, 1, 1, "p3");
    assert_non_null(xir_output(at, XIR_VALUES(a3)));
    char device[] = "p";
    xir_groups *groups = xir_groups_new(net, by_name, device, why);
    assert_non_null(groups);
    assert_int_equal(xir_groups_count(groups), 2);
    assert_int_equal(xir_groups_at(groups, 0).size, 3);
    assert_ptr_equal(xir_groups_at(groups, 0).data[2], xir_value_op(a3));
    assert_int_equal(xir_groups_of(groups, xir_value_op(a0)), 1);
    assert_int_equal(xir_groups_of(groups, xir_value_op(h)), -1);
    assert_int_equal(xir_groups_at(groups, 2).size, 0);
    xir_groups_free(groups);
    xir_network_free(net);
}

static int by_letter(const xir_op *op, void *user) {
    (void)user;
    return xir_op_name(op).data[0] == 'p' ? 0 : 1;
}

/* q1 is only a result: it may run late, so that p1 waits for p3, which q2 precedes. */
static void a_group_makes_room_for_what_it_reads(void **state) {
    (void)state;
    xir_network *net = new_net();
    xir_at at = XIR_AT(net);
    xir_value *x = xir_input(at, "x", FP32("*", 4)), *p1 = xir_build_relu(at, x, "p1");
    xir_value *q1 = xir_build_relu(at, p1, "q1"), *p2 = xir_build_relu(at, x, "p2");
    xir_value *q2 = xir_build_relu(at, p2, "q2"), *p3 = xir_build_add(at, q2, p1, 1, 1, "p3");
    assert_non_null(xir_output(at, XIR_VALUES(q1, p3)));
    xir_groups *groups = xir_groups_new(net, by_letter, NULL, why);
    assert_non_null(groups);
    assert_int_equal(xir_groups_count(groups), 4);
    assert_int_equal(xir_groups_of(groups, xir_value_op(p1)), 0);
    assert_int_equal(xir_groups_of(groups, xir_value_op(q1)), 1);
    assert_int_equal(xir_groups_of(groups, xir_value_op(p2)), 2);
    assert_int_equal(xir_groups_of(groups, xir_value_op(q2)), 3);
    assert_int_equal(xir_groups_of(groups, xir_value_op(p3)), 0);
    xir_groups_free(groups);
    xir_network_free(net);
}

/* Each group is convex and of one kind, and groups form no cycle: an order of all groups and other ops exists. */
static void check_groups(const xir_groups *groups, const reach *r) {
    size_t covered = 0;
    for (size_t g = 0; g < xir_groups_count(groups); g++) {
        const xir_ops ops = xir_groups_at(groups, g);
        assert_true(ops.size > 0);
        assert_true(reach_is_convex(r, ops.data, ops.size));
        covered += ops.size;
        for (size_t i = 0; i < ops.size; i++) {
            assert_int_equal(xir_groups_of(groups, ops.data[i]), g);
            assert_int_equal(by_class(ops.data[i], NULL), by_class(ops.data[0], NULL));
            assert_true(i == 0 || xir_op_before(ops.data[i - 1], ops.data[i]));
        }
    }
    size_t wanted = 0;
    for (size_t i = 0; i < r->n; i++) wanted += by_class(r->ops[i], NULL) >= 0;
    assert_int_equal(covered, wanted);
    /* ops of one group become one: what reaches what is then without cycles */
    bool to[REGION_MOST_OPS][REGION_MOST_OPS] = { { false } };
    size_t place[REGION_MOST_OPS];
    for (size_t i = 0; i < r->n; i++) {
        const int64_t g = xir_groups_of(groups, r->ops[i]);
        place[i] = g < 0 ? i : reach_place(r, xir_groups_at(groups, (size_t)g).data[0]);
    }
    for (size_t i = 0; i < r->n; i++)
        for (size_t j = 0; j < r->n; j++) to[place[i]][place[j]] |= r->to[i][j] && place[i] != place[j];
    for (size_t k = 0; k < r->n; k++)
        for (size_t i = 0; i < r->n; i++)
            for (size_t j = 0; to[i][k] && j < r->n; j++) to[i][j] |= to[k][j];
    for (size_t i = 0; i < r->n; i++) assert_false(to[i][i]);
}

static void groups_are_convex_and_without_cycles(void **state) {
    (void)state;
    size_t ops = 0, groups_in_all = 0;
    for (long i = 0, n = times(1000); i < n; i++) {
        xir_network *net = region_net(40), *before = xir_network_clone(net);
        reach r;
        reach_of(net, &r);
        xir_groups *groups = xir_groups_new(net, by_class, NULL, why);
        assert_non_null(groups);
        check_groups(groups, &r);
        groups_in_all += xir_groups_count(groups);
        /* all can be outlined, in any order, and inlined again */
        xir_op *calls[REGION_MOST_OPS];
        const size_t count = xir_groups_count(groups);
        for (size_t k = 0; k < count; k++) {
            const xir_ops group = xir_groups_at(groups, i % 2 ? count - 1 - k : k);
            ops += group.size;
            calls[k] = xir_outline(net, group.data, group.size, NULL);
            assert_non_null(calls[k]);
        }
        if (xir_network_validate(net, why)) {
            xir_diags_print(why, stderr);
            fail_msg("network %ld is not valid", i);
        }
        for (size_t k = count; k-- > 0;) DOES(xir_op_inline(calls[k]));
        assert_true(xir_network_equal(net, before, true));
        xir_groups_free(groups);
        xir_network_free(net);
        xir_network_free(before);
    }
    assert_true(groups_in_all * 3 < ops * 2);   /* most groups have more than one op */
}

/* ---- outline and inline ----------------------------------------------------------------------------------------- */

static void a_region_becomes_one_op(void **state) {
    (void)state;
    xir_network *net = ladder_net(), *before = xir_network_clone(net);
    xir_op *ops[] = { named_op(net, "d"), named_op(net, "c"), named_op(net, "e"), named_op(net, "b") };
    xir_op *call = xir_outline(net, ops, 4, &XIR_INIT(xir_outline_options, .name = XIR_STR("part")));
    assert_non_null(call);
    CHECK_OPS(net, "x = Input()", "a = ReLU(x)", "f = ReLU(x)", "d = Call(a)", "Output(d, f)");
    CHECK_STR(xir_op_name(call), "part");
    CHECK_STR(xir_call_op_of(call)->takes.data[0], "a");
    CHECK_STR(xir_call_op_of(call)->gives.data[0], "d");
    const xir_ops body = xir_call_op_of(call)->body;
    assert_int_equal(body.size, 6);
    assert_ptr_equal(body.data[1], ops[3]);   /* the same record, in its new place */
    assert_ptr_equal(xir_op_parent(ops[3]), call);
    assert_int_equal(xir_op_id(ops[3]), 2);
    assert_int_equal(xir_network_validate(net, why), XIR_OK);
    CHECK_SOUND(net);
    assert_ptr_equal(xir_network_value_by_name(net, XIR_STR("d")), xir_op_output(call, 0));
    DOES(xir_op_inline(call));
    assert_true(xir_network_equal(net, before, true));
    assert_true(xir_op_is_erased(call));
    CHECK_SOUND(net);
    xir_network_free(net);
    xir_network_free(before);
}

/* Ops that depend on the region cannot stay in their place; f can. */
static void ops_between_move_only_if_they_must(void **state) {
    (void)state;
    xir_network *net = new_net(), *before;
    xir_at at = XIR_AT(net);
    xir_value *x = xir_input(at, "x", FP32("*", 4)), *a = xir_build_relu(at, x, "a"), *u = xir_build_relu(at, a, "u");
    xir_value *f = xir_build_relu(at, x, "f"), *b = xir_build_relu(at, f, "b");
    assert_non_null(xir_output(at, XIR_VALUES(u, b)));
    before = xir_network_clone(net);
    xir_op *ops[] = { xir_value_op(a), xir_value_op(b) };
    xir_op *call = xir_outline(net, ops, 2, NULL);
    CHECK_OPS(net, "x = Input()", "f = ReLU(x)", "a, b = Call(x, f)", "u = ReLU(a)", "Output(u, b)");
    assert_int_equal(xir_network_validate(net, why), XIR_OK);
    DOES(xir_op_inline(call));
    CHECK_OPS(net, "x = Input()", "a = ReLU(x)", "u = ReLU(a)", "f = ReLU(x)", "b = ReLU(f)", "Output(u, b)");
    assert_true(xir_network_equal(net, before, true));
    xir_network_free(net);
    xir_network_free(before);
}

static void ports_have_names_of_their_own(void **state) {
    (void)state;
    xir_network *net = new_net();
    xir_at at = XIR_AT(net);
    const xir_type *type = FP32("*", 4);
    xir_op *input = xir_network_add(net, &(xir_op_desc)DESC(input, TYPES(type, type, type, type)));
    static const char *const names[] = { "x", "x", "", "x_2" };
    xir_value *v[4];
    for (int i = 0; i < 4; i++) {
        v[i] = xir_op_output(input, i);
        DOES(xir_value_set_name(v[i], xir_str_of(names[i])));
    }
    xir_value *a = xir_build_add(at, v[0], v[1], 1, 1, "a"), *b = xir_build_add(at, v[2], v[3], 1, 1, "b");
    xir_value *c = xir_build_add(at, a, b, 1, 1, "");
    assert_non_null(xir_output(at, XIR_VALUES(c)));
    xir_op *ops[] = { xir_value_op(a), xir_value_op(b), xir_value_op(c) };
    const xir_call_op_attrs *call = xir_call_op_of(xir_outline(net, ops, 3, NULL));
    CHECK_STR(call->takes.data[0], "x");
    CHECK_STR(call->takes.data[1], "x_3");
    CHECK_STR(call->takes.data[2], "in2");
    CHECK_STR(call->takes.data[3], "x_2");
    CHECK_STR(call->gives.data[0], "out0");
    assert_int_equal(xir_network_validate(net, why), XIR_OK);
    xir_network_free(net);
}

/* A name finds what is in the order: the call has the names of its outputs, the body's ops have theirs again when they
 * are back. */
static void names_are_found_in_the_order(void **state) {
    (void)state;
    xir_network *net = ladder_net();
    xir_op *ops[] = { named_op(net, "c"), named_op(net, "e"), named_op(net, "d"), named_op(net, "b") };
    xir_value *d = xir_network_value_by_name(net, XIR_STR("d")), *c = xir_network_value_by_name(net, XIR_STR("c"));
    assert_ptr_equal(d, xir_op_output(ops[2], 0));
    xir_op *call = xir_outline(net, ops, 4, &XIR_INIT(xir_outline_options, .name = XIR_STR("b")));
    assert_ptr_equal(xir_network_value_by_name(net, XIR_STR("d")), xir_op_output(call, 0));
    assert_null(xir_network_value_by_name(net, XIR_STR("c")));
    assert_ptr_equal(xir_network_op_by_name(net, XIR_STR("b")), call);
    assert_null(xir_network_op_by_name(net, XIR_STR("c")));
    assert_ptr_equal(xir_network_value_by_id(net, xir_value_id(c)), c);   /* ids are of all */
    DOES(xir_op_inline(call));
    assert_ptr_equal(xir_network_value_by_name(net, XIR_STR("d")), d);
    assert_ptr_equal(xir_network_value_by_name(net, XIR_STR("c")), c);
    assert_ptr_equal(xir_network_op_by_name(net, XIR_STR("b")), ops[3]);
    xir_network_free(net);
}

static void what_is_no_region_is_refused(void **state) {
    (void)state;
    xir_network *net = ladder_net(), *other = ladder_net();
    xir_op *a = named_op(net, "a"), *b = named_op(net, "b"), *f = named_op(net, "f");
    xir_op *twice[] = { a, b, a }, *strange[] = { a, named_op(other, "b") }, *null[] = { a, NULL };
    xir_op *ends[] = { xir_network_first(net), a }, *gone[] = { a, f };
    REFUSES_NULL(net, xir_outline(net, twice, 3, NULL), XIR_E_INVALID, "twice");
    REFUSES_NULL(net, xir_outline(net, strange, 2, NULL), XIR_E_INVALID, "another network");
    REFUSES_NULL(net, xir_outline(net, null, 2, NULL), XIR_E_INVALID, "NULL");
    REFUSES_NULL(net, xir_outline(net, ends, 2, NULL), XIR_E_INVALID, "an end of the network");
    REFUSES_NULL(net, xir_outline(net, NULL, 0, NULL), XIR_E_INVALID, "empty");
    REFUSES_NULL(net, xir_outline(net, &a, 1, &(xir_outline_options){ 0 }), XIR_E_ABI, "xir_outline_options");
    REFUSES(net, xir_op_inline(a), XIR_E_TYPE, "expected an xir::Call");
    assert_int_equal(xir_op_inline(NULL), XIR_E_MISSING);
    assert_null(xir_outline(NULL, &a, 1, NULL));
    DOES(xir_network_remove(net, f));
    REFUSES_NULL(net, xir_outline(net, gone, 2, NULL), XIR_E_INVALID, "erased");
    xir_op *call = xir_outline(net, &a, 1, NULL);
    assert_non_null(call);
    REFUSES_NULL(net, xir_outline(net, &a, 1, NULL), XIR_E_INVALID, "sub op");
    assert_int_equal(xir_region_check(net, &a, 1, NULL), XIR_E_INVALID);
    xir_op *copy = xir_op_clone(call);
    assert_non_null(copy);
    REFUSES(net, xir_op_inline(copy), XIR_E_INVALID, "not in the order");
    xir_network_free(net);
    xir_network_free(other);
}

static void a_cycle_is_refused(void **state) {
    (void)state;
    xir_network *net = ladder_net();
    xir_op *ops[] = { named_op(net, "a"), named_op(net, "b") };
    DOES(xir_op_set_input(ops[0], 0, xir_op_output(named_op(net, "c"), 0)));   /* c uses b, which uses a */
    REFUSES_NULL(net, xir_outline(net, ops, 2, NULL), XIR_E_INVALID, "before it is run");
    assert_int_equal(xir_region_check(net, ops, 2, NULL), XIR_E_INVALID);
    assert_null(xir_groups_new(net, by_class, NULL, why));
    assert_int_equal(xir_diags_at(why, 0)->code, XIR_E_INVALID);
    xir_diags_clear(why);
    DOES(xir_op_set_input(ops[0], 0, xir_op_output(ops[0], 0)));   /* a uses what it makes itself */
    REFUSES_NULL(net, xir_outline(net, ops, 1, NULL), XIR_E_INVALID, "op 1 is used by op 1 before it is run");
    assert_null(xir_groups_new(net, by_class, NULL, why));
    assert_int_equal(xir_diags_at(why, 0)->code, XIR_E_INVALID);
    xir_diags_clear(why);
    xir_network_free(net);
}

/* f comes before a, which it uses: no call has a place. */
static void a_user_before_the_region_is_refused(void **state) {
    (void)state;
    xir_network *net = ladder_net();
    xir_op *a = named_op(net, "a"), *f = named_op(net, "f");
    DOES(xir_op_set_input(f, 0, xir_op_output(a, 0)));
    DOES(xir_op_move(f, a));
    REFUSES_NULL(net, xir_outline(net, &a, 1, NULL), XIR_E_INVALID, "op 1 is used by op 4 before it is run");
    CHECK_SOUND(net);
    xir_network_free(net);
}

/* A body could not be run without the op that such a value comes from. */
static void what_a_sub_op_makes_stays_in_its_op(void **state) {
    (void)state;
    xir_network *net = ladder_net(), *before;
    xir_op *a = named_op(net, "a"), *c = named_op(net, "c");
    const xir_type *types[] = { FP32("*", 4) };
    const xir_op_desc desc = DESC(hard_op, INPUTS(xir_op_output(a, 0)), .types = types, .n_types = 1);
    xir_op *part = xir_op_new(net, &desc);
    xir_hard_op_attrs attrs = xir_hard_op_init();
    attrs.sub_hard_ops = (xir_ops){ (xir_op *const[]){ part }, 1 };
    xir_op *hard = xir_network_add(net, &(xir_op_desc)DESC(hard_op, .attrs = &attrs, INPUTS(xir_op_output(a, 0)),
                                                           .types = types, .n_types = 1, .before = c));
    assert_non_null(hard);
    DOES(xir_op_set_input(c, 0, xir_op_output(part, 0)));
    before = xir_network_clone(net);
    xir_op *ops[] = { hard, c };
    char text[100];
    snprintf(text, sizeof text, "op %d uses an output of sub op %d of op %d", (int)xir_op_id(c), (int)xir_op_id(part),
             (int)xir_op_id(hard));
    REFUSES_NULL(net, xir_outline(net, ops, 2, NULL), XIR_E_INVALID, text);
    assert_true(xir_network_equal(net, before, true));
    CHECK_SOUND(net);
    DOES(xir_op_set_input(c, 0, xir_op_output(a, 0)));
    DOES(xir_op_set_input(hard, 0, xir_op_output(part, 0)));   /* of its own sub op */
    REFUSES_NULL(net, xir_outline(net, &hard, 1, NULL), XIR_E_INVALID, "uses an output of sub op");
    xir_network_free(before);
    xir_network_free(net);
}

static void absent_inputs_and_many_uses_stay(void **state) {
    (void)state;
    enum { USES = 100000 };
    xir_network *net = new_net(), *before;
    xir_at at = XIR_AT(net);
    xir_value *x = xir_input(at, "x", FP32("*", 4)), *a = xir_build_relu(at, x, "a"), *b = xir_build_relu(at, a, "b");
    xir_value **all = calloc(USES, sizeof *all);
    for (size_t i = 0; i < USES; i++) all[i] = i % 2 ? b : a;
    xir_value *c = concat(net, (xir_values){ all, USES }, 0, "c");
    assert_non_null(xir_output(at, XIR_VALUES(c, b)));
    xir_op *lonely = xir_value_op(xir_build_relu(at, a, "lonely"));
    DOES(xir_op_set_input(lonely, 0, NULL));
    DOES(xir_op_move(lonely, xir_value_op(b)));
    before = xir_network_clone(net);
    for (int which = 0; which < 2; which++) {
        xir_op *ops[] = { which ? lonely : xir_value_op(a), which ? xir_value_op(c) : lonely, xir_value_op(b) };
        xir_op *call = xir_outline(net, ops, 3, NULL);
        assert_non_null(call);
        CHECK_SOUND(net);
        DOES(xir_op_inline(call));
        assert_true(xir_network_equal(net, before, true));
    }
    free(all);
    xir_network_free(net);
    xir_network_free(before);
}

/* ---- any region of any network ---------------------------------------------------------------------------------- */

static void run(const xir_network *net, xir_array **out, size_t n) {
    xir_array *in[2] = { xir_array_random(ctx, FP32("*", 4), 1, why), xir_array_random(ctx, FP32("*", 4), 2, why) };
    const xir_status status = xir_network_run(net, (const xir_array *const *)in, 2, out, n, NULL, why);
    if (status) xir_diags_print(why, stderr);
    DOES(status);
    xir_array_free(in[0]);
    xir_array_free(in[1]);
}

static void same_results(const xir_network *a, const xir_network *b) {
    xir_array *x[3], *y[3];
    run(a, x, 3);
    run(b, y, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_true(xir_type_equal(xir_array_type(x[i]), xir_array_type(y[i])));
        assert_memory_equal(xir_array_data(x[i], NULL), xir_array_data(y[i], NULL), 16);
        xir_array_free(x[i]);
        xir_array_free(y[i]);
    }
}

static xir_op *inline_all(xir_network *net, int64_t *ids, size_t n) {
    while (n-- > 0) {
        xir_op *call = xir_network_op_by_id(net, ids[n]);
        assert_non_null(call);
        DOES(xir_op_inline(call));
    }
    return NULL;
}

/* Several regions one after another, also around earlier ones; then back from the last to the first, in the network, in
 * a clone of it and in one that was saved. */
static void any_region_goes_and_comes_back(void **state) {
    (void)state;
    size_t moved = 0;
    for (long i = 0, n = times(1000); i < n; i++) {
        xir_network *net = region_net(24), *before = xir_network_clone(net);
        int64_t ids[4];
        size_t calls = 0;
        if (chance(2)) xir_network_op_by_id(net, 3);   /* tables of ids exist, or not */
        if (chance(2)) xir_network_value_by_name(net, XIR_STR("a"));
        for (size_t most = 1 + chance(4); calls < most; calls++) {
            reach r;
            xir_op *ops[REGION_MOST_OPS];
            reach_of(net, &r);
            const size_t count = random_convex(&r, ops);
            xir_op *call = xir_outline(net, ops, count, NULL);
            if (!call) {
                xir_diags_print(xir_network_diags(net), stderr);
                fail_msg("network %ld", i);
            }
            ids[calls] = xir_op_id(call);
            moved += xir_call_op_of(call)->places.size > 0;
        }
        const char *broken = broken_invariant(net, chance(2) ? ASK_ALL : ASK_NOTHING);
        if (broken) fail_msg("network %ld: %s", i, broken);
        if (xir_network_validate(net, why)) {
            xir_diags_print(why, stderr);
            fail_msg("network %ld is not valid", i);
        }
        same_results(net, before);
        xir_network *copy = xir_network_clone(net);
        assert_true(xir_network_equal(copy, net, true));
        xir_format_info format;
        if (i % 20 == 0) {
            for (size_t f = 0; written_format_at(f, &format); f++) {
                xir_network *again = region_through(net, format.name, scratch("net"));
                if (!xir_network_equal(again, net, true)) fail_msg("network %ld differs as %s", i, format.name);
                same_results(again, before);
                (void)inline_all(again, ids, calls);
                assert_true(xir_network_equal(again, before, true));
                xir_network_free(again);
            }
        }
        (void)inline_all(net, ids, calls);
        (void)inline_all(copy, ids, calls);
        broken = broken_invariant(net, chance(2) ? ASK_ALL : ASK_NOTHING);
        if (broken) fail_msg("network %ld after inlining: %s", i, broken);
        if (!xir_network_equal(net, before, true)) {
            char *x = op_list(before), *y = op_list(net);
            fail_msg("network %ld:\n%s\nbecame\n%s", i, x, y);
        }
        assert_true(xir_network_equal(copy, before, true));
        xir_network_free(net);
        xir_network_free(copy);
        xir_network_free(before);
    }
    assert_true(moved > 0);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_region_that_is_not_convex_is_refused_with_the_path),
        cmocka_unit_test(a_long_path_is_shortened),
        cmocka_unit_test(any_region_is_convex_as_brute_force_says),
        cmocka_unit_test(a_group_joins_what_comes_later),
        cmocka_unit_test(a_group_makes_room_for_what_it_reads),
        cmocka_unit_test(groups_are_convex_and_without_cycles),
        cmocka_unit_test(a_region_becomes_one_op),
        cmocka_unit_test(ops_between_move_only_if_they_must),
        cmocka_unit_test(ports_have_names_of_their_own),
        cmocka_unit_test(names_are_found_in_the_order),
        cmocka_unit_test(what_is_no_region_is_refused),
        cmocka_unit_test(a_cycle_is_refused),
        cmocka_unit_test(a_user_before_the_region_is_refused),
        cmocka_unit_test(what_a_sub_op_makes_stays_in_its_op),
        cmocka_unit_test(absent_inputs_and_many_uses_stay),
        cmocka_unit_test(any_region_goes_and_comes_back),
    };
    scratch_make();
    return RUN_GROUP(tests);
}
