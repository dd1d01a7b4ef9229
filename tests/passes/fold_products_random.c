/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Random networks of ops that `fold-products` follows: whatever it folds, the numbers stay the same, a second run
 * changes nothing, and each op names the ops that it was made of. All values have one type, so that any of them can be
 * the input of any line. */
#include <math.h>
#include <string.h>
#include "support/often.h"
#include "support/path_rule.h"
#include "support/random_tale.h"
#include "support/story.h"
#include <xir/exec.h>
#include <xir/pass.h>

static void compute(const xir_network *net, xir_array **out, size_t n) {
    xir_value *x;
    xir_network_inputs(net, &x, 1);
    xir_array *in = xir_array_random(ctx, xir_value_type(x), 7, why);
    DOES(xir_network_run(net, (const xir_array *const *)&in, 1, out, n, NULL, why));
    xir_array_free(in);
}

/* Other roundings: differences are compared relative to the largest number. */
static void compare(const random_tale *t, const xir_array *a, const xir_array *b) {
    xir_difference d = { 0 };
    double most = 1;
    for (size_t i = 0; i < xir_array_count(a); i++) {
        const double x = fabs(xir_array_real(a, i));
        if (isfinite(x) && x > most) most = x;
    }
    DOES(xir_array_compare(b, a, 1e-4 * most, 0, &d));
    if (!d.same_shape || d.count)
        fail_msg("%s\n%zu elements differ, the first is %g, was %g", t->text, d.count, d.a, d.b);
}

static void check_paths(const xir_provenance *p, const xir_network *was, const char *text) {
    path_counts n = { 0 };
    const char *broken = broken_path(p, was, &n);
    if (broken) fail_msg("%s\n%s", text, broken);
    assert_int_equal(n.named, n.ops);
}

static void the_numbers_stay_the_same(void **state) {
    (void)state;
    size_t all = 0;
    const graph_seeds seeds = often_seeds(1000);
    for (uint64_t seed = seeds.first; seed < seeds.end; seed++) {
        random_tale t;
        random_tale_make(&t, seed);
        const size_t outputs = t.outputs;
        xir_array *before[2], *after[2];
        xir_network *net = story_net(t.text), *was = xir_network_clone(net);
        xir_provenance *p = xir_provenance_new(net, why);
        size_t changes, again;
        compute(net, before, outputs);
        DOES(xir_pass_run(net, "fold-products", NULL, &changes, why));
        check_paths(p, was, t.text);
        xir_provenance_free(p);
        xir_network_free(was);
        CHECK_SOUND(net);
        if (xir_network_validate(net, why)) fail_msg("%s\nis not valid any more", t.text);
        compute(net, after, outputs);
        for (size_t k = 0; k < outputs; k++) {
            compare(&t, before[k], after[k]);
            xir_array_free(before[k]);
            xir_array_free(after[k]);
        }
        DOES(xir_pass_run(net, "fold-products", NULL, &again, why));
        if (again) fail_msg("%s\na second run makes %zu changes", t.text, again);
        all += changes;
        xir_network_free(net);
    }
    const uint64_t n = seeds.end - seeds.first;
    if (n > 100 && all < n / 3) fail_msg("%zu changes: too few for a conclusion", all);
}

GROUP {
    const struct CMUnitTest tests[] = { cmocka_unit_test(the_numbers_stay_the_same) };
    return RUN_GROUP(tests);
}
