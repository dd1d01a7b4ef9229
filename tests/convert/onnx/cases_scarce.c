/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Memory runs out at every allocation of the conversion of single operators: those of cases/cases.txt whose conversions
 * make lists and constants of their own. The call reports it, and the conversion goes on to the same result. */
#include "cases.h"
#include "convert/scarce_dialect.h"

static const char *const names[] = {
    "fused_matmul_batch", "nbits4_rest", "skip_norm_all", "embed", "mha_past_causal", "rotary_partial", "qgemm",
    "attention_23_past", "tensor_scatter_round", "bits_xor", "mel", "hann_run", "dft_complex", "stft",
    "average_dilated_counted", "max_places_pads", "max_unpool", "roi_align", "deform_groups", "col2im_all", "pad_wrap",
    "resize_crop", "gqa_past_rotary", "if_nested", "loop_while", "loop_with_an_if", "scan_batch_back",
    "function_in_a_function", "function_with_an_if", "loop_of_a_sequence", "if_of_a_sequence", "optional_sequence",
    "gqa_run_padded", "gather_bits_zero",
};

static onnx_case one;

static void find_case(const char *name) {
    static char line[1 << 12];
    FILE *f = fopen(XIR_TEST_DATA "/convert/onnx/cases/cases.txt", "r");
    bool found = false;
    assert_non_null(f);
    case_all_bodies()->n = 0;
    while (!found && fgets(line, sizeof line, f)) found = case_read(&one, line) && strcmp(one.part[0], name) == 0;
    fclose(f);
    if (!found) fail_msg("no case %s", name);
}

static void prepare(want *w) { w->net = case_network_in(w->ctx, &one); }
static const char *pass_name(void) { return "onnx-to-xir"; }

static void converting_one(want *w) {
    IN_PLENTY(w, prepare(w));
    assert_non_null(w->net);
    TRY_LOOSELY(w, xir_pass_run(w->net, pass_name(), NULL, NULL, w->why));
    IN_PLENTY(w, tidy(w));
    IN_PLENTY(w, w->result = classes_of(w->net));
    if (strstr(w->result, "onnx::")) fail_msg("%s is not converted", one.part[0]);
}

static void memory_runs_out(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(names); i++) {
        find_case(names[i]);
        run_scarcely(names[i], converting_one, false);
    }
}

GROUP {
    (void)test_converting, (void)test_checking;
    const struct CMUnitTest tests[] = { cmocka_unit_test(memory_runs_out) };
    return RUN_GROUP(tests);
}
