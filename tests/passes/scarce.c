/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Memory runs out at every allocation of every pass. Each time the pass reports it, and the network stays
 * consistent. With memory again, the same pass succeeds with the same network (except for types that were about to
 * be inferred). */
#include "support/op_list.h"
#include "support/scarce.h"
#include "support/story.h"

static const char everything[] =
    "x: NHWC 1 2 3 4; p: params 24 = 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24; q: params 24; "
    "c = Add p q; d = Neg c; e = Reshape d [shape=1,2,3,4] [layout=@layout(NHWC)]; y = Add x e; "
    "s = Shape y; t = ConstantOfShape s; u = Add t y; "
    "a = Copy u; b = Reshape a [shape=1,6,4] [layout=@layout(**C)]; f = Reshape b [shape=6,4] [layout=@layout(*C)]; "
    "g = Transpose f [dims=1,0] [layout=@layout(C*)]; h = Transpose g [dims=1,0] [layout=@layout(*C)]; "
    "i = Slice h [begin=1,0] [end=6,4] [stride=2,1]; j = Slice i [begin=0,1] [end=2,3] [stride=1,1]; "
    "k = Slice h [begin=1,0] [end=6,4] [stride=2,1]; l = Slice k [begin=0,1] [end=2,3] [stride=1,1]; "
    "m = Concat j l [axis=0]; n = Concat m j [axis=0]; o = Concat n l l [axis=0]; dead = ReLU o; deader = ReLU dead; out o y";

static const char *pass, *options;
static bool with_tables, backwards;

static void prepare(want *w) {
    w->net = story_net_in(w->ctx, everything);
    if (!w->net) return;
    xir_network_clear_status(w->net);
    if (with_tables) xir_network_op_by_id(w->net, 0);
    xir_op *last = xir_network_last(w->net);
    for (int i = 0; backwards && i < 20; i++)
        xir_op_move(xir_op_next(xir_network_first(w->net)), i ? xir_network_op_by_name(w->net, XIR_STR("dead")) : last);
}

static void running_a_pass(want *w) {
    IN_PLENTY(w, prepare(w));
    assert_non_null(w->net);
    TRY_LOOSELY(w, xir_pass_run(w->net, pass, options, NULL, w->why));
    IN_PLENTY(w, DOES(xir_pass_run(w->net, "infer", NULL, NULL, w->why)));
    IN_PLENTY(w, w->result = op_list_typed(w->net));
}

static void every_pass_survives_the_end_of_memory(void **state) {
    (void)state;
    static const char *const passes[] = { "sort", "infer", "dce",      "cse",  "dedup",
                                          "canon", "fold", "identity", "moves", "fold-products", "merge",
                                          "outline", "partition" };
    for (size_t i = 0; i < COUNT(passes); i++) {
        pass = passes[i];
        options = strcmp(pass, "partition") == 0 ? "target=zhuge" : NULL;
        for (int k = 0; k < 4; k++) {
            with_tables = k & 1;
            backwards = k & 2 && (strcmp(pass, "sort") == 0 || strcmp(pass, "dce") == 0);
            run_scarcely(pass, running_a_pass, false);
        }
    }
}

GROUP {
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_pass_survives_the_end_of_memory) };
    return RUN_GROUP(tests);
}
