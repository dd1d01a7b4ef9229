/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Values that a proof computes again, and those that it knows: its verdicts are those of a proof that computes
 * everything, and no pass has to be believed. */
#include <stdio.h>
#include "support/net.h"
#include "support/often.h"
#include "support/passes.h"
#include "support/patience.h"
#include "support/proof.h"
#include "support/scarce.h"
#include "support/story.h"

/* A proof that keeps this many bytes; 1: nothing. */
static xir_proof *proof_keeping(uint64_t bytes) {
    xir_proof *p = xir_proof_new(ctx, &XIR_INIT(xir_proof_options, .max_kept = bytes), why);
    assert_non_null(p);
    return p;
}

/* ---- how much is computed --------------------------------------------------------------------------------------- */

/* Both signs in b, so that the ReLU is needed. */
static const char chain[] = "x: fp32 4; w: params 4 = 1 -2 3 -4; v: params 4; a = Sigmoid x; b = Multiply a w;"
                            "c = ReLU b; d = Add c v; e = Neg d; f = Sigmoid e; out f";

#define BEGINS "x: fp32 4; w: params 4 = 1 -2 3 -4; v: params 4; a = Sigmoid x;"

static const struct {
    const char *story;
    xir_status  status;
    size_t      computed, reused;
} rows[] = {
    /* the same network, also with its Params in other bytes */
    { chain, XIR_OK, 0, 6 },
    /* an op deep in: what comes after it is computed */
    { BEGINS "b = Multiply a w; c = ReLU b; d = Multiply c v; e = Neg d; f = Sigmoid e; out f", XIR_E_INVALID, 3, 3 },
    /* … as far as it has other bytes */
    { BEGINS "b = Multiply a w; c = ReLU b; q = ReLU c; d = Add q v; e = Neg d; f = Sigmoid e; out f", XIR_OK, 1, 6 },
    { BEGINS "m = Neg a; n = Neg m; b = Multiply n w; c = ReLU b; d = Add c v; e = Neg d; f = Sigmoid e; out f",
      XIR_OK, 2, 6 },
    /* an attribute */
    { BEGINS "b = Multiply a w; c = ReLU b; d = Add c v [beta=2]; e = Neg d; f = Sigmoid e; out f",
      XIR_E_INVALID, 3, 3 },
    /* Params */
    { "x: fp32 4; w: params 4 = 1 -2 3 -4; v: params 4 = 1 2 3 4; a = Sigmoid x; b = Multiply a w; c = ReLU b;"
      "d = Add c v; e = Neg d; f = Sigmoid e; out f", XIR_E_INVALID, 3, 3 },
    /* other names, and an op that nothing needs */
    { "x: fp32 4; w: params 4 = 1 -2 3 -4; v: params 4; z = Sigmoid x; g = Neg z; b = Multiply z w; c = ReLU b;"
      "d = Add c v; e = Neg d; f = Sigmoid e; out f", XIR_OK, 1, 6 },
    /* operands that change places are others, even if the product is the same */
    { BEGINS "b = Multiply w a; c = ReLU b; d = Add c v; e = Neg d; f = Sigmoid e; out f", XIR_OK, 1, 5 },
};

static void only_what_has_changed_is_computed(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        xir_proof *p = xir_proof_new(ctx, NULL, why);
        xir_network *first = story_net(chain), *next = story_net(rows[i].story);
        DOES(xir_proof_check(p, first, why));
        assert_int_equal(state_of(p).computed, 6);
        xir_network_free(first);
        xir_status status = xir_proof_check(p, next, why);
        const xir_proof_state s = state_of(p);
        if (status != rows[i].status || s.computed != 6 + rows[i].computed || s.reused != rows[i].reused)
            fail_msg("row %zu: %s, %zu computed, %zu reused", i, xir_status_name(status), s.computed - 6, s.reused);
        assert_int_equal(s.networks, 2);
        xir_diags_clear(why);
        xir_network_free(next);
        xir_proof_free(p);
    }
}

#define NORM(m) "x: NHWC 1 2 2 3; v: params 3; m: params 3" m "; n = BatchNorm2d x [variance=v mean=m]; y = Neg n; out y"

static void constants_among_attributes_count_by_their_bytes(void **state) {
    (void)state;
    xir_proof *p = xir_proof_new(ctx, NULL, why);
    xir_network *first = story_net(NORM("")), *same = story_net(NORM("")), *other = story_net(NORM(" = 1 2 3"));
    DOES(xir_proof_check(p, first, why));
    DOES(xir_proof_check(p, same, why));
    assert_int_equal(state_of(p).computed, 2);
    assert_int_equal(state_of(p).reused, 2);
    assert_int_equal(xir_proof_check(p, other, why), XIR_E_INVALID);
    assert_int_equal(state_of(p).computed, 4);
    xir_diags_clear(why);
    xir_network_free(first);
    xir_network_free(same);
    xir_network_free(other);
    xir_proof_free(p);
}

/* It may matter whether an input is a constant, so an op that reads a folded one is computed; what follows is not. */
static void a_constant_is_not_what_was_computed(void **state) {
    (void)state;
    xir_proof *p = xir_proof_new(ctx, NULL, why);
    xir_network *first = story_net("x: fp32 4; w: params 4 = 1 2 3 4; n = Neg w; a = Add x n; b = Neg a; out b"),
                *next = story_net("x: fp32 4; n: params 4 = -1 -2 -3 -4; a = Add x n; b = Neg a; out b");
    DOES(xir_proof_check(p, first, why));
    DOES(xir_proof_check(p, next, why));
    assert_int_equal(state_of(p).computed, 3 + 1);
    assert_int_equal(state_of(p).reused, 1);
    assert_true(state_of(p).largest == 0);
    xir_network_free(first);
    xir_network_free(next);
    xir_proof_free(p);
}

/* Each sample knows its own values. */
static void samples_are_not_mixed_up(void **state) {
    (void)state;
    xir_array *x = xir_array_random(ctx, FP32("**", 20, 4), 1, why);
    const xir_proof_input input = XIR_INIT(xir_proof_input, .name = "0", .array = x);
    xir_proof *p = xir_proof_new(ctx, &XIR_INIT(xir_proof_options, .inputs = &input, .n_inputs = 1, .each = true), why);
    xir_network *a = story_net("x: 1 4; a = Sigmoid x; b = Neg a; out b"),
                *b = story_net("x: 1 4; a = Sigmoid x; c = Copy a; b = Neg c; out b"),
                *wrong = story_net("x: 1 4; a = Sigmoid x; b = ReLU a; out b");
    DOES(xir_proof_check(p, a, why));
    assert_int_equal(state_of(p).computed, 40);
    DOES(xir_proof_check(p, b, why));
    assert_int_equal(state_of(p).computed, 40 + 16 + 4 * 3);   /* 16 samples know a and b, the others nothing */
    assert_int_equal(state_of(p).reused, 16 * 2);
    assert_true(state_of(p).largest == 0);
    assert_int_equal(xir_proof_check(p, wrong, why), XIR_E_INVALID);
    DOES(xir_proof_check(p, a, NULL));
    xir_diags_clear(why);
    xir_network_free(a);
    xir_network_free(b);
    xir_network_free(wrong);
    xir_proof_free(p);
    xir_array_free(x);
}

/* ---- passes that lie -------------------------------------------------------------------------------------------- */

/* Each spoils the network and reports no change. */
static xir_status spoil_bytes(xir_pass *at) {
    float *w = xir_params_edit(story_value(xir_pass_network(at), "w"));
    assert_non_null(w);
    w[1] += 3;
    return XIR_OK;
}

static xir_status spoil_input(xir_pass *at) {
    xir_network *net = xir_pass_network(at);
    return xir_op_set_input(story_op(net, "e"), 0, story_value(net, "c"));
}

static xir_status spoil_attribute(xir_pass *at) {
    return xir_op_set_real(story_op(xir_pass_network(at), "c"), "alpha", 0.5);
}

/* It renames a value, which changes nothing that is computed. */
static xir_status only_rename(xir_pass *at) {
    return xir_value_set_name(story_value(xir_pass_network(at), "b"), XIR_STR("better"));
}

static const xir_pass_decl liars[] = {
    { XIR_PASS_HEAD("lie-bytes", "writes bytes"), .level = XIR_LEVEL_MAX, .run = spoil_bytes },
    { XIR_PASS_HEAD("lie-input", "sets an input"), .level = XIR_LEVEL_MAX, .run = spoil_input },
    { XIR_PASS_HEAD("lie-attribute", "sets an attribute"), .level = XIR_LEVEL_MAX, .run = spoil_attribute },
    { XIR_PASS_HEAD("rename", "renames a value"), .level = XIR_LEVEL_MAX, .run = only_rename },
};

static xir_status run(xir_network *net, xir_proof *p, const char *text) {
    xir_pass_watch watch = XIR_INIT(xir_pass_watch);
    DOES(xir_proof_watch(p, &watch, why));
    xir_pipeline *passes = xir_pipeline_parse(ctx, xir_str_of(text), why);
    assert_non_null(passes);
    xir_status status = xir_pipeline_run(passes, net, &XIR_INIT(xir_pass_settings, .watches = &watch, .n_watches = 1),
                                         NULL, why);
    xir_pipeline_free(passes);
    return status;
}

static void a_pass_that_reports_no_change_is_not_believed(void **state) {
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        char text[80], expected[80];
        xir_proof *p = xir_proof_new(ctx, NULL, why);
        xir_network *net = story_net(chain);
        snprintf(text, sizeof text, "cse,fix(%s,dce),sort", liars[i].name);
        snprintf(expected, sizeof expected, "%s: the network is not proven", liars[i].name);
        assert_int_equal(run(net, p, text), XIR_E_INVALID);
        assert_non_null(strstr(xir_diags_at(why, 0)->message.data, expected));
        xir_diags_clear(why);
        xir_network_free(net);
        xir_proof_free(p);
    }
}

static void a_pass_that_changes_nothing_costs_no_run(void **state) {
    (void)state;
    xir_proof *p = xir_proof_new(ctx, NULL, why);
    xir_network *net = story_net(chain);
    DOES(run(net, p, "cse,dce,fix(cse,dce),sort"));
    assert_int_equal(state_of(p).networks, 1);
    assert_int_equal(state_of(p).computed, 6);
    DOES(run(net, p, "rename"));   /* the network is another one, its values are the same */
    assert_int_equal(state_of(p).networks, 2);
    assert_int_equal(state_of(p).computed, 6);
    xir_network_free(net);
    xir_proof_free(p);
}

/* ---- random networks -------------------------------------------------------------------------------------------- */

enum { OPS = 14, PARAMS = 3 };

/* Ops on four numbers, Params among their inputs. */
static xir_network *random_chain(void) {
    static const char *const ones[] = { "Sigmoid", "Neg", "ReLU", "Copy", "Tanh" },
                      *const twos[] = { "Add", "Multiply" };
    char text[2000];
    size_t n = (size_t)snprintf(text, sizeof text, "x: fp32 4; y: fp32 4; p0: params 4; p1: params 4; p2: params 4");
    for (int i = 0; i < OPS; i++) {
        char in[2][12];
        for (int k = 0; k < 2; k++) {
            const int which = (int)chance((uint64_t)i + 3);
            if (k && chance(2)) snprintf(in[k], sizeof in[k], "p%d", (int)chance(PARAMS));
            else if (which < 2) snprintf(in[k], sizeof in[k], "%c", "xy"[which]);
            else snprintf(in[k], sizeof in[k], "v%d", i ? (int)chance((uint64_t)i) : 0);
            if (!i && in[k][0] == 'v') snprintf(in[k], sizeof in[k], "x");
        }
        if (chance(2)) n += (size_t)snprintf(text + n, sizeof text - n, "; v%d = %s %s", i, ones[chance(5)], in[0]);
        else n += (size_t)snprintf(text + n, sizeof text - n, "; v%d = %s %s %s", i, twos[chance(2)], in[0], in[1]);
    }
    snprintf(text + n, sizeof text - n, "; out v%d v%d", OPS - 1, OPS - 2);
    return story_net(text);
}

static xir_op *random_op(xir_network *net) {
    xir_op *op = NULL;
    const size_t n = 1 + chance(OPS);
    for (size_t i = 0; i <= n; i++) op = op ? xir_op_next(op) : xir_op_next(xir_network_first(net));
    return op && xir_op_next(op) && xir_op_input_count(op) ? op : NULL;
}

static xir_at before(xir_op *op) { return (xir_at){ .net = xir_op_network(op), .before = op }; }

/* Changes a network, sometimes what it computes. */
static void change(xir_network *net) {
    static const char *const passes[] = { "cse", "dce", "fold", "identity", "sort" };
    xir_op *op = random_op(net);
    const int64_t i = op ? (int64_t)chance(xir_op_input_count(op)) : 0;
    xir_value *v = op ? xir_op_input(op, i) : NULL;
    const int kind = (int)chance(6);
    if (kind == 0 || !v) {
        DOES(xir_pass_run(net, passes[chance(5)], NULL, NULL, why));
    } else if (kind == 1) {   /* the same numbers by two more ops */
        xir_value *n = XIR_OP(before(op), neg, .input = v);
        DOES(xir_op_set_input(op, i, XIR_OP(before(op), neg, .input = n)));
    } else if (kind == 2 && xir_value_is_params(v)) {   /* other bytes, often with the same numbers */
        float *w = xir_params_edit(v);
        w[chance(4)] += chance(2) ? 0 : 0.5f;
    } else if (kind == 3 && xir_value_is_params(v)) {   /* the same numbers in other Params */
        const void *bytes = xir_params_data(v, NULL);
        DOES(xir_op_set_input(op, i, xir_params_copy(net, XIR_STR("q"), xir_value_type(v), bytes, 16)));
    } else if (kind == 4 && xir_network_inputs(net, NULL, 0) == 2) {   /* dce removes those that nothing uses */
        DOES(xir_op_set_input(op, i, xir_op_output(xir_network_input_op(net), (int64_t)chance(2))));
    } else {
        DOES(xir_op_set_input(op, i, XIR_OP(before(op), relu, .input = v)));
    }
}

/* Proofs that keep everything, a little, and nothing. */
static void reuse_changes_no_verdict(void **state) {
    (void)state;
    static const uint64_t kept[] = { 0, 100, 1 };
    enum { PROOFS = COUNT(kept) };
    const int rounds = OFTEN(60);
    xir_diags_clear(why);
    size_t good = 0, bad = 0, computed[PROOFS] = { 0 };
    for (int round = 0; round < rounds; round++) {
        xir_network *net = random_chain();
        xir_proof *p[PROOFS];
        for (size_t i = 0; i < PROOFS; i++) {
            p[i] = proof_keeping(kept[i]);
            DOES(xir_proof_check(p[i], net, why));
        }
        for (int step = 0; step < 12; step++) {
            xir_network *next = xir_network_clone(net);
            char said[PROOFS][4000];
            xir_status status[PROOFS];
            for (size_t n = 1 + chance(2); n--;) change(next);
            for (size_t i = 0; i < PROOFS; i++) {
                status[i] = xir_proof_check(p[i], next, why);
                strcpy(said[i], findings());
            }
            for (size_t i = 1; i < PROOFS; i++) {
                const xir_proof_state a = state_of(p[0]), b = state_of(p[i]);
                if (status[i] != status[0] || strcmp(said[i], said[0]) || a.largest != b.largest ||
                    a.networks != b.networks || a.outputs != b.outputs ||
                    a.computed + a.reused != b.computed + b.reused)
                    fail_msg("round %d, step %d: keeping %d bytes: %s\n%s%s", round, step, (int)kept[i],
                             story_text(next), said[0], said[i]);
            }
            if (status[0]) bad++;
            else good++;
            xir_network_free(status[0] ? next : net);
            if (!status[0]) net = next;
        }
        for (size_t i = 0; i < PROOFS; i++) {
            computed[i] += state_of(p[i]).computed;
            xir_proof_free(p[i]);
        }
        xir_network_free(net);
    }
    assert_true(good > (size_t)rounds && bad > (size_t)rounds);
    assert_true(computed[0] < computed[1] && computed[1] < computed[2]);
    assert_true(2 * computed[0] < computed[2]);
}

/* ---- limits ----------------------------------------------------------------------------------------------------- */

/* A proof that was cancelled goes on with what it knew before. */
static void a_cancelled_check_leaves_the_proof_as_it_was(void **state) {
    (void)state;
    xir_network *first = story_net(chain), *next = story_net(rows[1].story);
    size_t cancelled = 0;
    for (size_t at = 1; at < 12; at++) {
        patience patient = { 0 };
        xir_proof *p = xir_proof_new(ctx, &XIR_INIT(xir_proof_options, .cancel = impatient, .user = &patient), why);
        DOES(xir_proof_check(p, first, why));
        patient = (patience){ .at = at };
        xir_status status = xir_proof_check(p, next, why);
        cancelled += status == XIR_E_CANCELLED;
        if (status != XIR_E_CANCELLED) assert_int_equal(status, XIR_E_INVALID);   /* too late, or not asked so often */
        patient = (patience){ 0 };
        DOES(xir_proof_check(p, first, NULL));
        xir_diags_clear(why);
        xir_proof_free(p);
    }
    assert_true(cancelled >= 8);   /* before each of the eight ops */
    xir_network_free(first);
    xir_network_free(next);
}

static void scarce_reuse(want *w) {
    xir_network *a, *b;
    IN_PLENTY(w, a = story_net_in(w->ctx, chain); b = story_net_in(w->ctx, rows[2].story));
    xir_proof *p;
    TRY_MAKE(w, p, xir_proof_new(w->ctx, NULL, w->why));
    TRY(w, xir_proof_check(p, a, w->why));
    TRY(w, xir_proof_check(p, b, w->why));
    TRY(w, xir_proof_check(p, a, w->why));
    assert_true(state_of(p).networks >= 3 && state_of(p).largest == 0);
    IN_PLENTY(w, xir_network_free(a); xir_network_free(b); xir_proof_free(p));
}

static void every_allocation(void **state) {
    (void)state;
    run_scarcely("checking networks that are nearly the same", scarce_reuse, false);
}

static int begin(void **state) {
    int result = group_begin(state);
    passes_for_tests(ctx);
    for (size_t i = 0; i < COUNT(liars) && !result; i++) result = xir_pass_register(ctx, &liars[i], why) ? -1 : 0;
    return result;
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_what_has_changed_is_computed),
        cmocka_unit_test(constants_among_attributes_count_by_their_bytes),
        cmocka_unit_test(a_constant_is_not_what_was_computed),
        cmocka_unit_test(samples_are_not_mixed_up),
        cmocka_unit_test(a_pass_that_reports_no_change_is_not_believed),
        cmocka_unit_test(a_pass_that_changes_nothing_costs_no_run),
        cmocka_unit_test(reuse_changes_no_verdict),
        cmocka_unit_test(a_cancelled_check_leaves_the_proof_as_it_was),
        cmocka_unit_test(every_allocation),
    };
    return cmocka_run_group_tests(tests, begin, group_end);
}
