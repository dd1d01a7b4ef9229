/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The default pipeline ends: no network makes its passes undo each other's work, and what it leaves it does not change
 * again. A run that reaches the last round of a `fix` is an error of the pipeline; random networks need few rounds. */
#include <inttypes.h>
#include <stdio.h>
#include <xir/convert.h>
#include <xir/pass.h>
#include "support/often.h"
#include "support/random_graph.h"
#include "support/random_tale.h"
#include "support/story.h"

enum { MANY_ROUNDS = 12 };   /* far from the 100 that are an error */

typedef struct ending {
    xir_pipeline    *pipeline;
    xir_pass_report *report;
    size_t           rounds;     /* the most that any network has needed */
} ending;

/* The number of rounds of the pipeline's `fix`. */
static size_t rounds_of(const xir_pass_report *report, size_t *changes) {
    size_t rounds = 0;
    *changes = 0;
    for (size_t i = 0; xir_pass_report_at(report, i); i++) {
        const xir_pass_row *row = xir_pass_report_at(report, i);
        if (row->pass) *changes += row->changes;
        else rounds = row->runs;
    }
    return rounds;
}

static size_t run(ending *e, xir_network *net, uint64_t seed, const char *when) {
    size_t changes;
    xir_diags_clear(why);
    if (xir_pipeline_run(e->pipeline, net, NULL, e->report, why)) {
        xir_diags_print(why, stderr);
        fail_msg("seed %" PRIu64 ": the pipeline fails %s", seed, when);
    }
    const size_t rounds = rounds_of(e->report, &changes);
    if (rounds > e->rounds) e->rounds = rounds;
    if (rounds > MANY_ROUNDS) fail_msg("seed %" PRIu64 ": %zu rounds", seed, rounds);
    return changes;
}

static void check_end(ending *e, xir_network *net, uint64_t seed) {
    (void)run(e, net, seed, "");
    const size_t again = run(e, net, seed, "on its own result");
    if (again) {
        for (size_t i = 0; xir_pass_report_at(e->report, i); i++) {
            const xir_pass_row *row = xir_pass_report_at(e->report, i);
            if (row->pass && row->changes) fprintf(stderr, "%s: %zu changes\n", row->pass->name, row->changes);
        }
        fail_msg("seed %" PRIu64 ": the pipeline makes %zu changes of its own result", seed, again);
    }
    xir_network_free(net);
}

static ending begin(void) {
    ending e = { .pipeline = xir_pipeline_parse(ctx, xir_str_of(xir_default_pipeline()), why),
                 .report = xir_pass_report_new(ctx) };
    assert_true(e.pipeline && e.report);
    return e;
}

static void finish(ending *e) {
    assert_true(e->rounds > 1);
    printf("at most %zu rounds\n", e->rounds);
    xir_pass_report_free(e->report);
    xir_pipeline_free(e->pipeline);
}

static void graphs_of_moves_and_sums(void **state) {
    ending e = begin();
    const graph_seeds seeds = often_seeds(500);
    (void)state;
    for (uint64_t seed = seeds.first; seed < seeds.end; seed++) check_end(&e, random_graph(seed), seed);
    finish(&e);
}

static void stories_of_factors_and_products(void **state) {
    ending e = begin();
    const graph_seeds seeds = often_seeds(1000);
    (void)state;
    for (uint64_t seed = seeds.first; seed < seeds.end; seed++) {
        random_tale t;
        random_tale_make(&t, seed);
        check_end(&e, story_net(t.text), seed);
    }
    finish(&e);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(graphs_of_moves_and_sums),
        cmocka_unit_test(stories_of_factors_and_products),
    };
    return RUN_GROUP(tests);
}
