/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The way to PNNX and back: every case of the executor's tables (tests/exec), and of pnnx_back.txt, is an op of XIR.
 * As a network it becomes operators of PNNX, and these become ops of XIR again, which compute the same. The class and
 * its attributes are the same again, except for classes that PNNX has in terms of others. XIR_PNNX_BACK=1 prints for
 * each class how many cases are converted, how many come back with the same attributes, and the first that do not;
 * XIR_PNNX_STAYS=1 prints each case that is not converted. */
#include <stdio.h>
#include "convert/way_back.h"
#include "support/story.h"

/* An op of the same class whose attributes are equal, except Params and layouts. */
static bool has_again(const xir_network *net, const xir_op *was) {
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) {
        bool same = xir_op_class(op) == xir_op_class(was);
        const xir_field *f;
        for (size_t i = 0; same && (f = xir_class_field_at(xir_op_class(was), i)); i++) {
            xir_attr attr;
            if (f->kind == XIR_KIND_PARAMS || xir_str_equal(f->name, XIR_STR("layout"))) continue;
            same = xir_op_get(was, f->name, &attr) == XIR_OK && xir_op_attr_is(op, f->name, &attr);
        }
        if (same) return true;
    }
    return false;
}

/* Returns true if PNNX's files can hold a network. */
static bool goes_on(void *user, const void *data, size_t size) {
    (void)user, (void)data, (void)size;
    return true;
}
static bool is_written(xir_network *net) {
    const xir_save_options options = XIR_INIT(xir_save_options, .format = "pnnx");
    return !xir_network_write(net, goes_on, NULL, &options, why) &&
           !xir_network_write_params(net, goes_on, NULL, &options, why);
}

/* In the first column of a class are the cases that are converted, in the second those that come back. */
static void convert(way_case *w, const char *text, op_counts *counts) {
    way_class *t = way_class_of(w->op);
    xir_network *net = xir_network_clone(w->c.net);
    xir_diags_clear(why);
    assert_int_equal(xir_pass_run(net, "xir-to-pnnx", NULL, NULL, why), XIR_OK);
    if (!way_is_whole(net, true)) {
        if (getenv("XIR_PNNX_STAYS")) printf("%s%s: %s\n", text, w->how, way_first_message());
        way_reason(t, 0, way_first_message());
    } else {
        t->count[0]++;
        xir_diags_clear(why);
        if (!is_written(net)) op_case_fail(&w->c, "files", "%s%s", way_first_message(), w->how);
        xir_diags_clear(why);
        const xir_status status = xir_pass_run(net, "pnnx-to-xir", "strict", NULL, why);
        if (status || !way_is_whole(net, false))
            op_case_fail(&w->c, "ops of XIR", "%s%s", way_first_message(), w->how);
        else
            way_compute(&w->c, NULL, net, w->in, NULL, NULL, w->how);
        if (has_again(net, w->op)) t->count[1]++;
        else way_reason(t, 1, text);
        counts->good++;
    }
    xir_network_free(net);
}

static void each(const char *text, const char *file, int line, op_counts *counts) {
    for (int constants = 0; constants < 2; constants++) {
        way_case w;
        way_case_begin(&w, text, file, line, counts, constants);
        if (w.op) convert(&w, text, counts);
        way_case_end(&w);
    }
}

static void tables_go_there_and_back(void **state) {
    (void)state;
    op_counts counts = { .out = stderr };
    size_t totals[2];
    way_each("convert/pnnx_back.txt", each, &counts);
    way_summary("XIR_PNNX_BACK", totals);
    printf("%zu classes: %zu are converted, %zu come back\n", way_n_classes, totals[0], totals[1]);
    assert_true(totals[0] >= 127 && totals[1] >= 117);
    if (counts.failed) fail_msg("%zu cases fail", counts.failed);
}

/* PNNX pads pools on both sides alike. Padding that no window reaches is dropped, other padding becomes cells, or
 * rounding up has it. */
static void pools_with_more_padding_at_the_end(void **state) {
    (void)state;
    static const struct { const char *pool; bool pads; } cases[] = {
        { "MaxPool2d x [pool_height=2 pool_width=2 stride_height=2 stride_width=2 pad_bottom=1 pad_right=1]", false },
        { "MaxPool2d x [pool_height=3 pool_width=3 stride_height=2 stride_width=2 pad_bottom=1 pad_right=1]", false },
        { "MaxPool2d x [pool_height=3 pool_width=3 pad_bottom=2 pad_right=1]",                                true  },
        { "MaxPool2d x [pool_height=2 pool_width=2 stride_height=2 stride_width=2 pad_top=1 pad_left=1]",     true  },
        { "MaxPool2d x [pool_height=2 pool_width=2 pad_top=2 pad_bottom=2]",                                  true  },
        { "AvgPool2d x [pool_height=2 pool_width=2 stride_height=2 stride_width=2 pad_bottom=1 pad_right=1]", false },
        { "AvgPool2d x [pool_height=3 pool_width=3 pad_bottom=2 count_include_pad=true]",                     true  },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[300];
        snprintf(text, sizeof text, "x: NCHW 1 2 6 6; y = %s; out y", cases[i].pool);
        xir_network *before = story_net(text), *net = xir_network_clone(before);
        xir_diags_clear(why);
        if (xir_pass_run(net, "xir-to-pnnx", "strict", NULL, why)) {
            xir_diags_print(why, stderr);
            fail_msg("case %zu", i);
        }
        const bool pads = xir_network_op_count(net) > 3;   /* F.pad; or parts of -inf around x, which it can't say */
        if (pads != cases[i].pads) fail_msg("case %zu: %s", i, pads ? "padded" : "not padded");
        DOES(xir_pass_run(net, "pnnx-to-xir", "strict", NULL, why));
        CHECK_SAME_NUMBERS(before, net);
        xir_network_free(before);
        xir_network_free(net);
    }
    xir_network *net = story_net("x: NCHW 1 2 6 6; y = AvgPool2d x [pool_height=3 pool_width=3 pad_bottom=2]; out y");
    xir_diags_clear(why);
    DOES(xir_pass_run(net, "xir-to-pnnx", NULL, NULL, why));
    assert_non_null(strstr(xir_diags_at(why, 0)->message.data, "more padding after than before"));
    xir_network_free(net);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_go_there_and_back),
        cmocka_unit_test(pools_with_more_padding_at_the_end),
    };
    return _cmocka_run_group_tests("pnnx_back", tests, COUNT(tests), group_begin, group_end);
}
