/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Random networks. A pass leaves any network consistent, reports truthfully whether it changed it, and changes nothing
 * when run again. A valid network stays valid, keeps the names of its inputs and results, and computes exactly the same
 * numbers; and each op names the ops that it was made of, which lie between its inputs and outputs. */
#include <stdio.h>
#include <xir/exec.h>
#include "support/often.h"
#include "support/op_list.h"
#include "support/path_rule.h"
#include "support/random_graph.h"
#include "support/random_net.h"

static const char *const passes[] = { "sort", "infer", "dce", "cse", "dedup", "canon", "fold", "identity", "moves", "layout",
                                      "fuse", "fold-batchnorm", "fold-products" };

static size_t all_changes[COUNT(passes)];

static bool once_in(uint64_t n) { return chance(n) == 0; }

/* ---- honesty ----------------------------------------------------------------------------------------------------- */

/* Returns true if an op uses what it makes itself, as in some networks that are not valid: its types may change each
 * time. */
static bool has_loop(const xir_network *net) {
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) {
        for (size_t i = 0; i < xir_op_input_count(op); i++) {
            const xir_value *v = xir_op_input(op, (int64_t)i);
            if (v && xir_value_op(v) == op) return true;
        }
    }
    return false;
}

/* Returns true if an op uses what it or a later op makes: once that has a type, the op may turn out to be wrong. */
static bool uses_later(const xir_network *net) {
    size_t at = 0;
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op), at++) {
        for (size_t i = 0; i < xir_op_input_count(op); i++) {
            const xir_value *v = xir_op_input(op, (int64_t)i);
            const xir_op *maker = v ? xir_value_op(v) : NULL;
            size_t place = 0;
            for (const xir_op *o = xir_network_first(net); o && o != maker; o = xir_op_next(o)) place++;
            if (maker && place >= at) return true;
        }
    }
    return false;
}

/* Runs a pass; false if it refuses the network. */
static bool run_honestly(xir_network *net, size_t which, uint64_t seed) {
    const char *pass = passes[which];
    size_t changes = 0, again = 0;
    xir_network *before = xir_network_clone(net);
    assert_non_null(before);
    bool valid = xir_network_validate(net, NULL) == XIR_OK;
    xir_diags_clear(why);
    bool done = xir_pass_run(net, pass, NULL, &changes, why) == XIR_OK;
    xir_diags_clear(why);
    const char *broken = broken_invariant(net, once_in(2) ? ASK_ALL : ASK_NOTHING);
    if (broken) fail_msg("seed %d, %s: %s", (int)seed, pass, broken);
    bool same = xir_network_equal(before, net, true);
    all_changes[which] += changes;
    if (same != (changes == 0))
        fail_msg("seed %d, %s: %zu changes, but the network is %s", (int)seed, pass, changes,
                 same ? "unchanged" : "changed");
    if (valid && (!done || xir_network_validate(net, why))) {
        xir_diags_print(why, stderr);
        fail_msg("seed %d, %s: not valid any more", (int)seed, pass);
    }
    const bool types_may_change = has_loop(net) || (strcmp(pass, "infer") == 0 && uses_later(net));
    if (done && xir_pass_run(net, pass, NULL, &again, why) && !types_may_change) {
        xir_diags_print(why, stderr);
        fail_msg("seed %d, %s: refuses its own result", (int)seed, pass);
    }
    if (again && !types_may_change) fail_msg("seed %d, %s: %zu changes the second time", (int)seed, pass, again);
    xir_diags_clear(why);
    xir_network_free(before);
    return done;
}

/* Networks of everything that a file may have, valid or not. */
static void passes_are_honest_about_any_network(void **state) {
    (void)state;
    random_counts *counts = calloc(1, sizeof *counts);
    const xir_load_options structure = XIR_INIT(xir_load_options, .format = "json", .no_params = true);
    size_t refused = 0, done = 0;
    const graph_seeds seeds = often_seeds(400);
    for (uint64_t seed = seeds.first; seed < seeds.end; seed++) {
        chance_begin(seed);
        random_net *r = random_net_make(ctx, seed, counts);
        size_t size;
        char *text = random_net_text(r, NULL, 0, "d41d8cd98f00b204e9800998ecf8427e", &size);
        for (size_t i = 0; i < COUNT(passes); i++) {
            xir_network *net = xir_network_read(ctx, text, size, XIR_STR("net.json"), &structure, NULL);
            if (!net) continue;
            if (random_net_has_payloads(r) && once_in(2)) random_net_fill(r, net);
            xir_network_clear_status(net);
            if (run_honestly(net, i, seed)) done++;
            else refused++;
            xir_network_free(net);
        }
        free(text);
        random_net_free(r);
    }
    free(counts);
    assert_true(seeds.end - seeds.first < OFTEN(400) || (done > 100 && refused > 10));
}

/* ---- networks that run ------------------------------------------------------------------------------------------- */

enum { RESULTS = RANDOM_RESULTS };

static void run(xir_network *net, const xir_array *const *in, xir_array **out, uint64_t seed, const char *pass) {
    xir_diags_clear(why);
    if (xir_network_run(net, in, 2, out, RESULTS, NULL, why) == XIR_OK) return;
    xir_diags_print(why, stderr);
    char *list = op_list_typed(net);
    fail_msg("seed %d, after %s:\n%s", (int)seed, pass, list);
}

static void check_same(const xir_network *net, xir_array *const *expected, xir_array *const *found, uint64_t seed,
                       const char *pass) {
    for (size_t i = 0; i < RESULTS; i++) {
        xir_difference d;
        DOES(xir_array_compare(found[i], expected[i], 0, 0, &d));
        if (d.same_shape && !d.count) continue;
        char *list = op_list_typed(net);
        fail_msg("seed %d, %s: result %zu differs\n%s", (int)seed, pass, i, list);
    }
}

static void the_numbers_stay_the_same(void **state) {
    (void)state;
    size_t ops_before = 0, ops_after = 0;
    memset(all_changes, 0, sizeof all_changes);
    const graph_seeds seeds = often_seeds(1000);
    for (uint64_t seed = seeds.first; seed < seeds.end; seed++) {
        xir_network *net = random_graph(seed);
        assert_int_equal(xir_network_validate(net, why), XIR_OK);
        const xir_array *in[2];
        xir_array *before[RESULTS], *after[RESULTS];
        xir_str names[RESULTS];
        for (size_t i = 0; i < 2; i++) {
            const xir_type *type = xir_value_type(xir_op_output(xir_network_first(net), (int64_t)i));
            xir_array *array = xir_array_new(ctx, type, why);
            float *data = xir_array_edit(array);
            for (size_t k = 0; k < xir_array_count(array); k++) data[k] = (float)((int)chance(9) - 4);
            in[i] = array;
        }
        run(net, in, before, seed, "making");
        for (size_t i = 0; i < RESULTS; i++) names[i] = xir_value_name(xir_op_input(xir_network_last(net), (int64_t)i));
        ops_before += xir_network_op_count(net);
        xir_network *was = xir_network_clone(net);
        xir_provenance *p = xir_provenance_new(net, why);
        path_counts named = { 0 };
        for (int k = 0; k < (int)COUNT(passes) + 4; k++) {
            size_t which = k < (int)COUNT(passes) ? (size_t)k : chance(COUNT(passes));
            const char *pass = passes[which];
            if (!run_honestly(net, which, seed)) fail_msg("seed %d: %s refuses", (int)seed, pass);
            run(net, in, after, seed, pass);
            check_same(net, before, after, seed, pass);
            const char *broken = broken_path(p, was, &named);
            if (broken) fail_msg("seed %d, %s: %s", (int)seed, pass, broken);
            for (size_t i = 0; i < RESULTS; i++) {
                xir_str name = xir_value_name(xir_op_input(xir_network_last(net), (int64_t)i));
                if (names[i].size && !xir_str_equal(name, names[i]))
                    fail_msg("seed %d, %s: result %zu lost its name", (int)seed, pass, i);
                xir_array_free(after[i]);
            }
        }
        ops_after += xir_network_op_count(net);
        assert_int_equal(named.named, named.ops);
        xir_provenance_free(p);
        xir_network_free(was);
        for (size_t i = 0; i < RESULTS; i++) xir_array_free(before[i]);
        for (size_t i = 0; i < 2; i++) xir_array_free((xir_array *)(uintptr_t)in[i]);
        xir_network_free(net);
    }
    assert_true(ops_after * 2 < ops_before);
    /* the networks are sorted and typed, and match no pattern */
    for (size_t i = 2; i < COUNT(passes) && seeds.end - seeds.first >= OFTEN(1000); i++) {
        if (!all_changes[i] && strcmp(passes[i], "fuse") != 0) fail_msg("%s never changed anything", passes[i]);
    }
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(passes_are_honest_about_any_network),
        cmocka_unit_test(the_numbers_stay_the_same),
    };
    return RUN_GROUP(tests);
}
