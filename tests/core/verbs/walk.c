/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Walks: what is visited and in which order, each thing once; how a walk ends early or passes something over; sub ops
 * nested deeper than any stack. */
#include "support/story.h"

typedef struct seen { char text[1000]; size_t n; const char *past, *stop; } seen;

static xir_walk_answer note(seen *l, char kind, xir_str name) {
    l->n += (size_t)snprintf(l->text + l->n, sizeof l->text - l->n, "%s%c%.*s", l->n ? " " : "", kind, (int)name.size,
                             name.data);
    if (l->stop && xir_str_equal(name, xir_str_of(l->stop))) return XIR_WALK_STOP;
    return l->past && xir_str_equal(name, xir_str_of(l->past)) ? XIR_WALK_PAST : XIR_WALK_ON;
}

static xir_walk_answer note_op(void *user, xir_op *op)           { return note(user, '.', xir_op_name(op)); }
static xir_walk_answer note_value(void *user, xir_value *value)  { return note(user, '=', xir_value_name(value)); }
static xir_walk_answer note_params(void *user, xir_value *value) { return note(user, '#', xir_value_name(value)); }

static void check_walk(const xir_network *net, const char *past, const char *stop, const char *expected, int line) {
    seen l = { .past = past, .stop = stop };
    const xir_walker how = XIR_INIT(xir_walker, .user = &l, .op = note_op, .value = note_value, .params = note_params);
    DOES(xir_network_walk(net, &how, why));
    if (strcmp(l.text, expected)) fail_msg("line %d: expected %s, found %s", line, expected, l.text);
}
#define CHECK_WALK(net, past, stop, expected) check_walk(net, past, stop, expected, __LINE__)

static xir_op *part_of(xir_network *net, const char *name, xir_value *reads, xir_ops parts) {
    xir_hard_op_attrs attrs = xir_hard_op_init();
    attrs.sub_hard_ops = parts;
    xir_op *op = xir_op_new(net, &(xir_op_desc)DESC(hard_op, .attrs = &attrs, INPUTS(reads), TYPES(FP32("*", 4)),
                                                    .name = xir_str_of(name)));
    assert_non_null(op);
    DOES(xir_value_set_name(xir_op_output(op, 0), xir_str_of(name)));
    return op;
}
#define PARTS(...) (xir_ops){ (xir_op *const[]){ __VA_ARGS__ }, COUNT(((xir_op *const[]){ __VA_ARGS__ })) }

/* x, w -> a; a -> h { p { q }, r } -> out, where h has Params of its own and r reads a value that no op makes. */
static xir_network *nested(void) {
    xir_network *net = story_net("x: fp32 4; w: params 4; a = Add x w; b = Add a w; out b");
    xir_value *loose = xir_value_new(net, XIR_STR("loose"), FP32("*", 4), NULL);
    xir_value *code = xir_params_new(net, XIR_STR("code"), FP32("*", 1));
    xir_op *q = part_of(net, "q", story_value(net, "w"), (xir_ops){ 0 });
    xir_op *p = part_of(net, "p", story_value(net, "a"), PARTS(q)), *r = part_of(net, "r", loose, (xir_ops){ 0 });
    xir_hard_op_attrs attrs = xir_hard_op_init();
    attrs.sub_hard_ops = PARTS(p, r);
    attrs.instr = (xir_values){ (xir_value *const[]){ code, code }, 2 };
    xir_op *h = xir_network_add(net, &(xir_op_desc)DESC(hard_op, .attrs = &attrs, INPUTS(loose), TYPES(FP32("*", 4)),
                                                        .name = XIR_STR("h"), .before = xir_network_output_op(net)));
    assert_non_null(h);
    DOES(xir_value_set_name(xir_op_output(h, 0), XIR_STR("h")));
    return net;
}

static void everything_is_met_once(void **state) {
    (void)state;
    xir_network *net = nested();
    CHECK_WALK(net, NULL, NULL, ".in =x .a =a #w .b =b .h =h =loose #code .p =p .q =q .r =r .");
    /* The walk over one op knows nothing of what is outside. */
    seen l = { .n = 0 };
    const xir_walker how = XIR_INIT(xir_walker, .user = &l, .op = note_op, .value = note_value, .params = note_params);
    DOES(xir_op_walk(xir_hard_op_of(story_op(net, "h"))->sub_hard_ops.data[0], &how, why));
    assert_string_equal(l.text, ".p =p .q =q #w");
    l = (seen){ .n = 0 };
    DOES(xir_network_walk(net, &XIR_INIT(xir_walker, .user = &l, .params = note_params), why));
    assert_string_equal(l.text, "#w #code");
    l = (seen){ .n = 0 };
    DOES(xir_network_walk(net, &XIR_INIT(xir_walker, .user = &l), why));
    assert_string_equal(l.text, "");
    xir_network_free(net);
}

static void a_walk_passes_over_what_is_in_an_op(void **state) {
    (void)state;
    xir_network *net = nested();
    CHECK_WALK(net, "h", NULL, ".in =x .a =a #w .b =b .h .");
    CHECK_WALK(net, "p", NULL, ".in =x .a =a #w .b =b .h =h =loose #code .p .r =r .");
    CHECK_WALK(net, "w", NULL, ".in =x .a =a #w .b =b .h =h =loose #code .p =p .q =q .r =r .");
    xir_network_free(net);
}

static void a_walk_ends_when_a_call_says_so(void **state) {
    (void)state;
    xir_network *net = nested();
    CHECK_WALK(net, NULL, "x", ".in =x");
    CHECK_WALK(net, NULL, "w", ".in =x .a =a #w");
    CHECK_WALK(net, NULL, "q", ".in =x .a =a #w .b =b .h =h =loose #code .p =p .q");
    CHECK_WALK(net, NULL, "code", ".in =x .a =a #w .b =b .h =h =loose #code");
    CHECK_WALK(net, NULL, "loose", ".in =x .a =a #w .b =b .h =h =loose");
    xir_network_free(net);
}

static void bad_calls_are_refused(void **state) {
    (void)state;
    xir_network *net = story_net("x: fp32 4; a = ReLU x; out a");
    const xir_walker how = XIR_INIT(xir_walker);
    assert_int_equal(xir_network_walk(NULL, &how, why), XIR_E_MISSING);
    assert_int_equal(xir_op_walk(NULL, &how, why), XIR_E_MISSING);
    assert_int_equal(xir_network_walk(net, NULL, why), XIR_E_MISSING);
    assert_int_equal(xir_network_walk(net, &(xir_walker){ 0 }, why), XIR_E_ABI);
    xir_diags_clear(why);
    xir_network_free(net);
}

static xir_walk_answer count(void *user, xir_op *op) {
    (void)op;
    ++*(size_t *)user;
    return XIR_WALK_ON;
}

/* Readers bound the depth of sub ops; here it is as deep as the rest of the library goes. */
static void sub_ops_may_be_nested_deeply(void **state) {
    (void)state;
    enum { DEPTH = 2000 };
    xir_network *net = story_net("x: fp32 4; out x");
    xir_op *op = part_of(net, "p", story_value(net, "x"), (xir_ops){ 0 });
    for (size_t i = 1; i < DEPTH; i++) op = part_of(net, "p", story_value(net, "x"), PARTS(op));
    size_t n = 0;
    DOES(xir_op_walk(op, &XIR_INIT(xir_walker, .user = &n, .op = count), why));
    assert_int_equal(n, DEPTH);
    xir_network_free(net);
}

static bool look(xir_context *with) {
    xir_network *net = story_net_in(with, "x: fp32 4; w: params 4; a = Add x w; out a");
    xir_value *loose = net ? xir_value_new(net, XIR_STR("v"), xir_value_type(story_value(net, "x")), NULL) : NULL;
    seen l = { .n = 0 };
    bool done = loose && !xir_op_set_input(story_op(net, "a"), 0, loose);
    done = done && !xir_network_walk(net, &XIR_INIT(xir_walker, .user = &l, .op = note_op, .value = note_value,
                                                    .params = note_params), NULL);
    if (done) assert_string_equal(l.text, ".in =x .a =a =v #w .");
    xir_network_free(net);
    return done;
}

static void failing_allocations_lose_nothing(void **state) {
    (void)state;
    check_memory(look);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_is_met_once),
        cmocka_unit_test(a_walk_passes_over_what_is_in_an_op),
        cmocka_unit_test(a_walk_ends_when_a_call_says_so),
        cmocka_unit_test(bad_calls_are_refused),
        cmocka_unit_test(sub_ops_may_be_nested_deeply),
        cmocka_unit_test(failing_allocations_lose_nothing),
    };
    return RUN_GROUP(tests);
}
