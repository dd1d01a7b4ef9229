/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Addresses in the bodies of calls: buffers, memory types, the checker, and random networks with calls in calls, whose
 * addresses are compared with lives that are found in the simplest way. */
#include <stdlib.h>
#include <xir/ops.h>
#include <xir/pass.h>
#include <xir/region.h>
#include "support/buffers.h"
#include "support/scarce.h"
#include "support/story.h"

static unsigned luck(unsigned n) { return (unsigned)rand() % n; }

static xir_ops body_of(const xir_op *call) {
    xir_attr body;
    DOES(xir_op_get(call, XIR_STR("body"), &body));
    return body.as.ops;
}

static xir_op *outline(xir_network *net, int64_t from, int64_t to) {
    xir_op *ops[64];
    size_t n = 0;
    for (int64_t i = from; i <= to; i++) ops[n++] = xir_network_op_at(net, i);
    xir_op *call = xir_outline(net, ops, n, NULL);
    assert_non_null(call);
    return call;
}

static void plan_net(xir_network *net, uint64_t align, xir_mtype_kind kind, uint64_t at) {
    xir_liveness *l = xir_liveness_new(net, &XIR_INIT(xir_liveness_options, .views = true, .in_place = true), why);
    xir_memory_buffers *b = xir_memory_buffers_new(l, &XIR_INIT(xir_memory_buffers_options, .align = align), why);
    xir_memory_plan *plan = xir_memory_buffers_plan(b, NULL, why);
    assert_non_null(plan);
    DOES(xir_memory_assign(net, b, plan, kind, at, why));
    xir_memory_plan_free(plan);
    xir_memory_buffers_free(b);
    xir_liveness_free(l);
}

static uint64_t address_of(const xir_value *v) {
    const xir_mtype *m = xir_value_mtype(v);
    assert_int_not_equal(xir_mtype_kind_of(m), XIR_MTYPE_HOST);
    return xir_mtype_kind_of(m) == XIR_MTYPE_CHUNK ? xir_mtype_offset(m) : xir_mtype_addr(m);
}

/* ---- the simplest way -------------------------------------------------------------------------------------------- */

/* A value with the moments of its life, of an order in which the ops of bodies stand in the place of their call. Ports
 * are the values outside, so they are not listed, but the reads in bodies are reads of these. */
typedef struct lived { const xir_value *value; size_t from, to; } lived;
typedef struct flat {
    lived  of[512];
    struct { const xir_value *inside, *outside; } ports[512];
    size_t n, time, n_ports;
} flat;

static const xir_value *outermost(const flat *f, const xir_value *v) {
    for (size_t i = f->n_ports; i-- > 0;)
        if (f->ports[i].inside == v) return outermost(f, f->ports[i].outside);
    return v;
}

static void live(flat *f, const xir_value *v) {
    if (!v || xir_value_is_params(v)) return;
    v = outermost(f, v);
    for (size_t i = 0; i < f->n; i++) {
        if (f->of[i].value != v) continue;
        f->of[i].to = f->time;
        return;
    }
    assert_true(f->n < COUNT(f->of));
    f->of[f->n++] = (lived){ v, f->time, f->time };
}

static void flatten(flat *f, const xir_op *op) {
    if (!xir_op_is(op, xir_call_op_class())) {
        for (size_t i = 0; i < xir_op_input_count(op); i++) live(f, xir_op_input(op, (int64_t)i));
        for (size_t i = 0; i < xir_op_output_count(op); i++) live(f, xir_op_output(op, (int64_t)i));
        f->time++;
        return;
    }
    const xir_ops ops = body_of(op);
    const xir_op *in = ops.data[0], *out = ops.data[ops.size - 1];
    for (size_t i = 0; i < xir_op_output_count(in); i++) {
        f->ports[f->n_ports].inside = xir_op_output(in, (int64_t)i);
        f->ports[f->n_ports++].outside = xir_op_input(op, (int64_t)i);
    }
    for (size_t i = 0; i < xir_op_input_count(out); i++) {
        f->ports[f->n_ports].inside = xir_op_input(out, (int64_t)i);
        f->ports[f->n_ports++].outside = xir_op_output(op, (int64_t)i);
    }
    for (size_t i = 0; i < xir_op_input_count(op); i++) live(f, xir_op_input(op, (int64_t)i));
    for (size_t i = 1; i + 1 < ops.size; i++) flatten(f, ops.data[i]);
    for (size_t i = 0; i < xir_op_output_count(op); i++) live(f, xir_op_output(op, (int64_t)i));
    f->time++;
}

/* All values have addresses, and those that live together share no bytes, unless one is made over the other. */
static void check_flat(const xir_network *net) {
    static flat f;
    f.n = f.time = f.n_ports = 0;
    XIR_EACH_OP(op, net) flatten(&f, op);
    for (size_t i = 0; i < f.n_ports; i++)
        assert_int_equal(address_of(f.ports[i].inside), address_of(f.ports[i].outside));
    for (size_t i = 0; i < f.n; i++) {
        for (size_t k = 0; k < i; k++) {
            uint64_t a, b;
            const lived *x = &f.of[i], *y = &f.of[k];
            DOES(xir_type_bytes(xir_value_type(x->value), &a));
            DOES(xir_type_bytes(xir_value_type(y->value), &b));
            const uint64_t at = address_of(x->value), with = address_of(y->value);
            const bool apart = at + a <= with || with + b <= at || y->to < x->from || x->to < y->from;
            if (!apart && at != with) fail_msg("values %zu and %zu overlap", i, k);
            if (!apart && y->to != x->from && x->to != y->from) fail_msg("values %zu and %zu live together", i, k);
        }
    }
}

/* ---- stories ----------------------------------------------------------------------------------------------------- */

#define STORY "x: fp32 16; a = Sigmoid x; b = Tanh a; c = Add a b; d = Exp c; e = Add d x; out e"

static void values_of_a_body_are_in_the_buffer_of_the_call(void **state) {
    (void)state;
    xir_network *net = story_net(STORY);
    const xir_op *call = outline(net, 1, 4);
    const xir_ops body = body_of(call);
    xir_liveness *l = xir_liveness_new(net, &XIR_INIT(xir_liveness_options, .views = true), why);
    xir_memory_buffers *b = xir_memory_buffers_new(l, &XIR_INIT(xir_memory_buffers_options, .align = 64), why);
    assert_int_equal(xir_memory_buffers_count(b), 4);   /* x, d, the body, e */
    const xir_value *a = xir_op_output(body.data[1], 0), *t = xir_op_output(body.data[2], 0),
                    *c = xir_op_output(body.data[3], 0), *d = xir_op_output(body.data[4], 0);
    const size_t its = xir_memory_buffers_find(b, a);
    assert_null(xir_memory_buffers_value(b, its));
    assert_int_equal(xir_memory_buffers_data(b)[its].size, 192);   /* three at the Add */
    assert_int_equal(xir_memory_buffers_find(b, t), its);
    assert_int_equal(xir_memory_buffers_find(b, c), its);
    assert_int_equal(xir_memory_buffers_find(b, d), xir_memory_buffers_find(b, xir_op_output(call, 0)));
    assert_int_equal(xir_memory_buffers_find(b, xir_op_output(body.data[0], 0)),
                     xir_memory_buffers_find(b, xir_op_input(call, 0)));
    assert_true(xir_memory_buffers_offset(b, a) != xir_memory_buffers_offset(b, t));
    xir_memory_buffers_free(b);
    xir_liveness_free(l);
    plan_net(net, 64, XIR_MTYPE_CHUNK, 3);
    check_flat(net);
    DOES(xir_memory_check(net, &XIR_INIT(xir_memory_check_options, .align = 64), why));
    xir_network_free(net);
}

/* The pass sets them, keeps them, and takes them away. */
static void the_pass_plans_bodies(void **state) {
    (void)state;
    static const char *const ways[] = { "", "memory=etm", "in-place=false", "effort=2,align=1" };
    for (size_t i = 0; i < COUNT(ways); i++) {
        xir_network *net = story_net(STORY);
        outline(net, 2, 3);
        const xir_op *call = outline(net, 1, 3);   /* with the call in it */
        DOES(xir_pass_run(net, "plan", ways[i], NULL, why));
        check_flat(net);
        DOES(xir_memory_check(net, NULL, why));
        const uint64_t was = address_of(xir_op_output(body_of(call).data[1], 0));
        char keep[60];
        snprintf(keep, sizeof keep, "keep=true%s%s", *ways[i] ? "," : "", ways[i]);
        size_t changes = 1;
        DOES(xir_pass_run(net, "plan", keep, &changes, why));
        if (changes) fail_msg("%s: %zu changes", keep, changes);
        assert_int_equal(address_of(xir_op_output(body_of(call).data[1], 0)), was);
        DOES(xir_pass_run(net, "plan", "clear=true", NULL, why));
        const xir_ops body = body_of(call);
        for (size_t k = 0; k < body.size; k++)
            for (size_t o = 0; o < xir_op_output_count(body.data[k]); o++)
                assert_int_equal(xir_mtype_kind_of(xir_value_mtype(xir_op_output(body.data[k], (int64_t)o))),
                                 XIR_MTYPE_HOST);
        DOES(xir_pass_run(net, "plan", "reuse=false", NULL, why));
        DOES(xir_memory_check(net, NULL, why));
        xir_network_free(net);
    }
}

/* ---- what is wrong ----------------------------------------------------------------------------------------------- */

static void addresses_in_bodies_that_are_wrong(void **state) {
    (void)state;
    static const struct { int op, on; const char *path, *says; } cases[] = {
        { 2, 1, "/ops/1/body/2/outputs/0", "overlap those of another value of the body, which lives at the same time" },
        { 1, 2, "/ops/1/body/1/outputs/0", "overlap those of another value of the body, which lives at the same time" },
        { 1, 0, "/ops/1/body/1/outputs/0", "that the body needs overlap those of value 'x', which lives while the call" },
        { 1, 4, "/ops/1/body/1/outputs/0", "that the body needs overlap those of value 'd', which lives while the call" },
        { 0, 1, "/ops/1/body/0/outputs/0", "it is not where the input of the call is" },
        { 4, 1, "/ops/1/body/4/outputs/0", "it is not where the output of the call is" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        xir_network *net = story_net(STORY);
        const xir_ops body = body_of(outline(net, 1, 4));
        plan_net(net, 64, XIR_MTYPE_EXTERNAL, 4096);
        xir_value *v = xir_op_output(body.data[cases[i].op], 0);
        DOES(xir_value_set_mtype(v, xir_value_mtype(xir_op_output(body.data[cases[i].on], 0))));
        xir_diags_clear(why);
        if (xir_memory_check(net, NULL, why) != XIR_E_INVALID) fail_msg("case %zu: no fault", i);
        const xir_diag *d = xir_diags_at(why, 0);
        const bool there = xir_str_equal(d->path, xir_str_of(cases[i].path)) ||
                           (i < 4 && !strncmp(d->path.data, "/ops/1/body/", 12));
        if (!there || !strstr(d->message.data, cases[i].says))
            fail_msg("case %zu: %.*s: %s", i, XIR_ARG(d->path), d->message.data);
        xir_network_free(net);
    }
    xir_network *net = story_net(STORY);   /* only values of the body have addresses */
    xir_ops body = body_of(outline(net, 1, 4));
    for (int i = 1; i < 3; i++) DOES(xir_value_set_mtype(xir_op_output(body.data[i], 0), xir_mtype_onchip(ctx, 64)));
    xir_diags_clear(why);
    assert_int_equal(xir_memory_check(net, NULL, why), XIR_E_INVALID);
    xir_network_free(net);
    net = story_net(STORY);
    body = body_of(outline(net, 1, 4));
    plan_net(net, 64, XIR_MTYPE_ONCHIP, 0);
    DOES(xir_value_set_mtype(xir_op_output(body.data[2], 0), xir_mtype_onchip(ctx, 1000001)));
    xir_diags_clear(why);
    assert_int_equal(xir_memory_check(net, &XIR_INIT(xir_memory_check_options, .align = 64, .onchip = 1 << 20), why),
                     XIR_E_INVALID);
    assert_non_null(strstr(xir_diags_at(why, 0)->message.data, "the address 1000001 is not a multiple of 64"));
    xir_diags_clear(why);
    assert_int_equal(xir_memory_check(net, &XIR_INIT(xir_memory_check_options, .onchip = 1000000), why), XIR_E_INVALID);
    assert_non_null(strstr(xir_diags_at(why, 0)->message.data, "end beyond the on-chip memory"));
    xir_network_free(net);
    xir_diags_clear(why);
}

/* ---- random ------------------------------------------------------------------------------------------------------ */

static xir_network *any_network(void) {
    char text[2000];
    size_t used = (size_t)snprintf(text, sizeof text, "v0: fp32 16; v1: fp32 16; ");
    const unsigned n = 4 + luck(20);
    for (unsigned i = 2; i < n; i++) {
        const unsigned a = luck(i), b = luck(i);
        used += luck(2) ? (size_t)snprintf(text + used, sizeof text - used, "v%u = Add v%u v%u; ", i, a, b)
                        : (size_t)snprintf(text + used, sizeof text - used, "v%u = Sigmoid v%u; ", i, a);
    }
    snprintf(text + used, sizeof text - used, "out v%u v%u", n - 1, n - 2);
    return story_net(text);
}

/* Outlines a run of ops, which is convex. */
static void outline_some(xir_network *net) {
    const int64_t n = (int64_t)xir_network_op_count(net);
    const int64_t from = 1 + (int64_t)luck((unsigned)n - 2), to = from + (int64_t)luck((unsigned)(n - 1 - from));
    xir_op *ops[64];
    size_t k = 0;
    for (int64_t i = from; i <= to; i++) ops[k++] = xir_network_op_at(net, i);
    (void)xir_outline(net, ops, k, NULL);
    xir_network_clear_status(net);
}

static void any_network_with_calls(void **state) {
    (void)state;
    for (unsigned round = 0; round < 400; round++) {
        srand(round);
        xir_network *net = any_network();
        for (unsigned i = 1 + luck(4); i-- > 0;) outline_some(net);
        plan_net(net, 1u << luck(8), XIR_MTYPE_CHUNK, 0);
        check_flat(net);
        DOES(xir_memory_check(net, NULL, why));
        DOES(xir_pass_run(net, "plan", luck(2) ? "memory=etm" : "", NULL, why));
        check_flat(net);
        DOES(xir_memory_check(net, NULL, why));
        xir_network_free(net);
    }
}

/* ---- little memory ----------------------------------------------------------------------------------------------- */

static bool plan_in(xir_context *with) {
    xir_network *net = story_net_in(with, STORY);
    xir_op *ops[] = { xir_network_op_at(net, 1), xir_network_op_at(net, 2), xir_network_op_at(net, 3) };
    const bool done = net && xir_outline(net, ops, 3, NULL) && !xir_pass_run(net, "plan", NULL, NULL, NULL) &&
                      !xir_memory_check(net, NULL, NULL);
    xir_network_free(net);
    return done;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    check_memory(plan_in);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_of_a_body_are_in_the_buffer_of_the_call),
        cmocka_unit_test(the_pass_plans_bodies),
        cmocka_unit_test(addresses_in_bodies_that_are_wrong),
        cmocka_unit_test(any_network_with_calls),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return RUN_GROUP(tests);
}
