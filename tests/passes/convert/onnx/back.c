/* The way to ONNX and back: every case of the executor's tables (tests/exec), and of onnx/back.txt, is an op of XIR. As
 * a network it becomes operators of ONNX, of several versions of the operator set, in which ONNX's own rules find no
 * fault. They become ops of XIR again, which compute the same. ONNX_BACK=1 prints for each class how many cases are
 * converted to versions 13 and 21, and why the first one is not; ONNX_STAYS=1 prints each case that is not
 * converted. */
#include <xir/convert.h>
#include "passes/convert/way_back.h"
#include "support/story.h"

static const int versions[] = { 11, 12, 13, 15, 17, 18, 21 };

/* In the first column of a class are cases that are converted to version 13, in the second those to 21. */
static void convert(way_case *w, int version) {
    way_class *t = way_class_of(w->op);
    xir_network *net = xir_network_clone(w->c.net);
    char how[60], options[24];
    snprintf(how, sizeof how, ", version %d%s", version, w->how);
    snprintf(options, sizeof options, "opset=%d", version);
    xir_diags_clear(why);
    assert_int_equal(xir_pass_run(net, "xir-to-onnx", options, NULL, why), XIR_OK);
    if (!way_is_whole(net, true)) {
        if (getenv("ONNX_STAYS")) printf("%s%s: %s\n", w->c.text, how, way_first_message());
        if (version == 13 || version == 21) way_reason(t, version == 21, way_first_message());
    } else {
        if (version == 13 || version == 21) t->count[version == 21]++;
        xir_diags_clear(why);
        const bool sound = xir_network_validate(net, why) == XIR_OK && xir_dialect_check(net, why) == XIR_OK;
        if (!sound) op_case_fail(&w->c, "sound operators", "%s%s", way_first_message(), how);
        xir_diags_clear(why);
        const bool back = sound && !xir_pass_run(net, "onnx-to-xir", "strict", NULL, why) && way_is_whole(net, false);
        if (sound && !back) op_case_fail(&w->c, "ops of XIR", "%s%s", way_first_message(), how);
        if (back) way_compute(&w->c, NULL, net, w->in, NULL, NULL, how);
    }
    xir_network_free(net);
}

static void each(const char *text, const char *file, int line, op_counts *counts) {
    for (int constants = 0; constants < 2; constants++) {
        way_case w;
        way_case_begin(&w, text, file, line, counts, constants);
        for (size_t i = 0; w.op && i < COUNT(versions); i++) convert(&w, versions[i]);
        counts->good += w.op != NULL;
        way_case_end(&w);
    }
}

static void tables_go_there_and_back(void **state) {
    (void)state;
    op_counts counts = { .out = stderr };
    size_t totals[2];
    way_each("passes/convert/onnx/back.txt", each, &counts);
    way_summary("ONNX_BACK", totals);
    printf("%zu classes: %zu become operators of version 13, %zu of version 21\n", way_n_classes, totals[0],
           totals[1]);
    assert_true(totals[0] >= 125 && totals[1] >= 126);
    if (counts.failed) fail_msg("%zu cases fail", counts.failed);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_go_there_and_back),
    };
    return _cmocka_run_group_tests("onnx_back", tests, COUNT(tests), group_begin, group_end);
}
