/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Tests of the runner of tests/ops tables: a line that cannot be read fails, and so does a wrong expectation. */
#include <stdio.h>
#include "support/op_case.h"

/* Runs one line; returns what was printed, which the caller frees. */
static char *run(const char *line, op_counts *counts) {
    char *text = NULL;
    size_t size = 0;
    *counts = (op_counts){ .out = open_memstream(&text, &size) };
    assert_non_null(counts->out);
    op_case_run(line, "table", 1, counts);
    fclose(counts->out);
    return text;
}

static void right_lines_pass(void **state) {
    (void)state;
    static const struct { const char *line; bool bad; } rows[] = {
        { "Conv2d(fp32 NHWC 1x8x8x3, fp32 HWIO 3x3x3x16) stride_width=2 -> fp32 NHWC 1x6x3x16" },
        { "icraft::xir::Conv2d ( fp32 NHWC 1x8x8x3 , param fp32 HWIO 3x3x3x16 , - ) -> fp32 NHWC 1x6x6x16  # a comment" },
        { "Conv2d@buyit(fp32 NHWC 1x8x8x3, fp32 HWIO 3x3x3x16) padding_mode=REFLECT -> fp32 NHWC 1x6x6x16" },
        { "Conv2d@zhuget(330)(fp32 NHWC 1x8x8x3, fp32 HWIO 3x3x3x16) cut_scale=@scales([axis=-1]0.5) -> fp32 NHWC 1x6x6x16" },
        { "Add(fp32 - 2x4, param fp32 - 4 = 1 -2 3e1 .5) alpha=[1,2,3,4] beta=[0.5] -> fp32 - 2x4" },
        { "Add(i8 - -, param i8 - - = -128) -> i8 - -" },
        { "Cast(fp32 - 3) target_dtype=(q8{@scales([axis=-1]3*0.5) [1, 2, 3]} - 3) -> q8{@scales([axis=-1]3*0.5) [1, 2, 3]} - 3" },
        { "Cast(fp32 - 3) target_dtype=(nu8{@norm_ratios([axis=-1]3*0.5) @exp_scales([axis=-1]1/0/1)} - 3) "
          "-> nu8{@norm_ratios([axis=-1]3*0.5) @exp_scales([axis=-1]1/0/1)} - 3" },
        { "AlignAxis(fp32 NHWC 1x8x8x3) aligned_units=[{[3],[8]}] -> fp32 NHWC 1x8x8x8 @merged_distr([3]^ZERO:{v:[0, 3), u:[3, 8)})" },
        { "HardOp(fp32 - 3) instr=[param(u8 - 2 = 1 255)] device_info={\"a\": 1, \"b\": \"c\", \"d\": -0.5} origin_ops_id=[1,2] -> fp32 - 3, i8 - ?" },
        { "Conv2d(fp32 NHWC 1x8x8x3, fp32 HWIO 3x3x3x16) stride_width=0 !! bounds stride_width \"0 is below 1\"", true },
        { "Conv2d(fp32 NHWC 1x8x8x3) !! missing . \"needs 2 inputs\"", true },
        { "Conv2d(fp32 NHWC 1x8x8x3, fp32 HWIO 3x3x4x16) !! invalid inputs/1 \"channels = I * groups\"", true },
        { "Conv2d(fp32 NHWC 1x8x8x3, fp32 HWIO 3x3x3x16) padding_mode=7 !! bounds padding_mode \"7 is not a word of padding\"", true },
        { "Cast(fp32 - 3) target_dtype=null !! missing target_dtype \"is null\"", true },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        op_counts counts;
        char *text = run(rows[i].line, &counts);
        if (counts.failed || counts.good != !rows[i].bad || counts.bad != rows[i].bad)
            fail_msg("%s: %s", rows[i].line, text);
        free(text);
    }
}

static void wrong_lines_fail(void **state) {
    (void)state;
    static const struct { const char *line, *part; } rows[] = {
        /* malformed lines */
        { "Conv3(fp32 - 3) -> fp32 - 3",                              "there is no op 'Conv3'" },
        { "TensorType() -> fp32 - 3",                                 "there is no op" },
        { "ReLU@nowhere(fp32 - 3) -> fp32 - 3",                       "@nowhere" },
        { "ReLU@layout(NC)(fp32 - 3) -> fp32 - 3",                    "a target was expected" },
        { "ReLU fp32 - 3 -> fp32 - 3",                                "'(' was expected" },
        { "ReLU(fp32 - 3 -> fp32 - 3",                                "',' was expected" },
        { "ReLU(fp31 - 3) -> fp32 - 3",                               "an element type was expected" },
        { "ReLU(i08 - 3) -> fp32 - 3",                                "an element type was expected" },
        { "ReLU(q8 - 3) -> fp32 - 3",                                 "'{' was expected" },
        { "ReLU(q8{@norm_ratios([axis=-1]1)} - 3) -> fp32 - 3",       "no quantised type has these parts" },
        { "ReLU(fp32 NC 3y) -> fp32 - 3",                             "',' was expected" },
        { "ReLU(fp32 - 3x) -> fp32 - 3",                              "a dim was expected" },
        { "ReLU(fp32 - -3) -> fp32 - 3",                              "',' was expected" },
        { "ReLU(fp32 3) -> fp32 - 3",                                 "a dim was expected" },
        { "ReLU(fp32 - 3 @scales([axis=-1]1)) -> fp32 - 3",           "a distribution was expected" },
        { "ReLU(fp32 - 3) ->",                                        "no outputs" },
        { "ReLU(fp32 - 3) -> fp32 - 3 x",                             "the end was expected" },
        { "ReLU(fp32 - 3)",                                           "'->' or '!!' was expected" },
        { "ReLU(fp32 - 3) slope=1 -> fp32 - 3",                       "there is no attribute 'slope'" },
        { "ReLU(fp32 - 3) max_value=1 max_value=1 -> fp32 - 3",       "max_value appears twice" },
        { "ReLU(fp32 - 3) max_value=x -> fp32 - 3",                   "a number was expected" },
        { "ReLU(fp32 - 3) max_value 1 -> fp32 - 3",                   "'=' was expected" },
        { "Conv2d(fp32 NHWC 1x8x8x3, fp32 HWIO 3x3x3x16) stride_width=1.5 -> fp32 - 3",     "an integer was expected" },
        { "Conv2d(fp32 NHWC 1x8x8x3, fp32 HWIO 3x3x3x16) padding_mode=ZERO -> fp32 - 3",    "a word of padding was expected" },
        { "PruneAxis(fp32 - 3) index=null -> fp32 - 3",               "index can't be null" },
        { "PruneAxis(fp32 - 3) index=[0 -> fp32 - 3",                 "',' was expected" },
        { "Add(fp32 - 3, param fp32 - 3 = 1 2) -> fp32 - 3",          "3 elements were expected, 2 found" },
        { "Add(fp32 - 3, param i8 - 1 = 128) -> fp32 - 3",            "128 has no room in 8 bits" },
        { "ReLU(fp32 - 3) !! wrong . \"x\"",                          "a status was expected" },
        { "ReLU(fp32 - 3) !! invalid \"x\"",                          "the end of a path was expected" },
        { "ReLU(fp32 - 3) !! invalid . x",                            "was expected" },
        { "ReLU(fp32 - 3) !! invalid . \"x",                          "part of a sentence was expected" },
        /* wrong expectations */
        { "ReLU(fp32 - 3) -> fp32 - 4",                               "expected: fp32 - 4\n    found:    fp32 - 3" },
        { "ReLU(fp32 NC 3x4) -> fp32 - 3x4",                          "expected: fp32 - 3x4\n    found:    fp32 NC 3x4" },
        { "ReLU(fp32 - 3) -> fp32 - 3, fp32 - 3",                     "expected: fp32 - 3, fp32 - 3\n" },
        { "ReLU(fp32 - 3) !! invalid . \"x\"",                        "found:    fp32 - 3" },
        { "Conv2d(fp32 NHWC 1x8x8x3) -> fp32 - 3",                    "needs 2 inputs" },
        { "Conv2d(fp32 NHWC 1x8x8x3) !! invalid . \"needs 2 inputs\"", "expected: invalid" },
        { "Conv2d(fp32 NHWC 1x8x8x3) !! missing . \"needs 3 inputs\"", "expected: missing" },
        { "Conv2d(fp32 NHWC 1x8x8x3, fp32 HWIO 3x3x4x16) !! invalid inputs/0 \"I * groups\"", "expected: invalid inputs/0" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        op_counts counts;
        char *text = run(rows[i].line, &counts);
        if (counts.failed != 1 || !strstr(text, rows[i].part))
            fail_msg("%s: '%s' was expected, found %s", rows[i].line, rows[i].part, text);
        free(text);
    }
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(right_lines_pass),
        cmocka_unit_test(wrong_lines_fail),
    };
    return RUN_GROUP(tests);
}
