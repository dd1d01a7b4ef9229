/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Findings of a check of NNB: all faults of a file in one run, each with its function, argument or variable. */
#include "support/load_net.h"
#include "support/nnb_make.h"

#define HEAD "nnb 3 44\ninputs 0\noutputs 1\nbuffers 16 16\n"
#define TWO  HEAD "v f 1,1,2,2 b0\nv f 1,1,2,2 b1\n"

/* All findings, "path: severity: message" a line; notes too. */
typedef struct story { const char *text, *findings; } story;

static const story stories[] = {
    /* nothing wrong */
    { TWO "f 14 0>1 B0\n", "" },
    { HEAD "v f 4 b0\nv f 4 b1\nf 336 0>1 f0.5 i-1\n", "" },
    /* two variables that share a buffer, as an in-place function does */
    { "nnb 3 44\ninputs 0\noutputs 2\nbuffers 16\nv f 4 b0\nv f 4 b0\nv f 4 b0\nf 14 0>1 B1\nf 68 1>2\n", "" },
    /* variables that nothing uses have buffer 0, whatever it holds */
    { HEAD "v f 4 b0\nv f 4 b1\nv f 99 b0\nf 68 0>1\n", "" },
    /* the head */
    { "nnb 3 0\ninputs 0\noutputs 1\nbuffers 4 4\nv f 1 b0\nv f 1 b1\nf 400 0>1\n",
      "/api_level: warning: the api level is 0: expected 1 to 45\n/functions/0: error: number 400 is not in the table of functions\n" },
    { "nnb 3 46\ninputs 0\noutputs 1\nbuffers 4 4\nv f 1 b0\nv f 1 b1\nf 68 0>1\n",
      "/api_level: note: the api level is 46, later than the newest known here, 45\n" },
    /* numbers */
    { "nnb 3 3\ninputs 0\noutputs 1\nbuffers 4 4\nv f 1 b0\nv f 1 b1\nf 349 0>1\n",
      "/functions/0: warning: Erf: number 349 is of api level 42, but the file is of level 3\n" },
    { "nnb 3 0x06428c7c\ninputs 0\noutputs 1\nbuffers 4 4\nv f 1 b0\nv f 1 b1\nf 349 0>1\n",
      "/functions/0: warning: Erf: number 349 is of api level 42, but the file is of level 1\n" },
    { TWO "f 298 0>1\n", "/functions/0: warning: Mish: no exporter writes number 298: its arguments are kept as bytes\n" },
    { TWO "f 14/101 0>1 B0\n", "/functions/0: warning: ReLU: implementation 101 is reserved: expected 0 to 100\n" },
    { "nnb 2 0x06428c7c\ninputs 0\noutputs 1\nbuffers 4 4\nv f 1,1,2,2 b0\nv f 1,1,2,2 b1\n"
      "f 6 0>1 [1,1] [1,1] B1 [0,0] B1\n",
      "/functions/0: note: AveragePooling: the last argument is read as including_pad, as before api levels: number 6 has two meanings\n" },
    /* ends */
    { TWO "f 14 0,0>1 B0\n", "/functions/0: error: ReLU: expected 1 input, found 2\n" },
    { TWO "f 31 0>1 B0\n", "/functions/0: error: Add2: expected 2 inputs, found 1\n" },
    { TWO "f 0 0>1 i1\n", "/functions/0: error: Affine: expected 2 to 3 inputs, found 1\n" },
    { TWO "f 74 >1 i1\n", "/functions/0: error: Concatenate: expected at least 1 input, found 0\n" },
    /* arguments */
    { TWO "f 14 0>1\n", "/functions/0/argument/inplace: error: ReLU: the record ends before inplace\n" },
    { TWO "f 123 0>1 [0,0]\n", "/functions/0/argument/mode: error: Pad: the record ends before mode\n"
                                 "/functions/0/argument/constant_value: error: Pad: the record ends before constant_value\n" },
    { TWO "f 123 0>1 [0,0,0,0] i5 f0\n", "/functions/0/argument/mode: error: Pad: mode: expected the number of one of constant|reflect|repeat, found 5\n" },
    { TWO "f 14 0>1 B7\n", "/functions/0/argument/inplace: error: ReLU: inplace: expected 0 or 1, found 7\n" },
    { TWO "f 5 0>1 [1,0] [1,1] B1 [0,-1]\n",
      "/functions/0/argument/kernel: error: MaxPooling: kernel: expected 1 or more, found 0\n"
                                              "/functions/0/argument/pad: error: MaxPooling: pad: expected 0 or more, found -1\n" },
    { TWO "f 5 0>1 [1,1] [1] B1 [0,0]\n", "/functions/0/argument/stride: error: MaxPooling: stride: expected 2 items, as kernel has, found 1\n" },
    { TWO "f 16 0>1 i4\n", "/functions/0/argument/axis: error: Softmax: axis is out of range: expected -4 to 3, found 4\n" },
    { TWO "f 24 0>1 [0,-5] B0\n", "/functions/0/argument/axes: error: Sum: axes is out of range: expected -4 to 3, found -5\n" },
    { TWO "f 321 0>1 i0 i1 [0] f0.1 B1 B1\n", "/functions/0/argument/num_groups: error: GroupNormalization: num_groups: expected 1 or more, found 0\n" },
    { TWO "f 321 0>1 i1 i4 [0,-5] f0.1 B1 B1\n",
      "/functions/0/argument/channel_axis: error: GroupNormalization: channel_axis is out of range: expected -4 to 3, found 4\n"
      "/functions/0/argument/batch_axis: error: GroupNormalization: batch_axis is out of range: expected -4 to 3, found -5\n" },
    { TWO "f 304 0,0>1 i-5 f0.1\n", "/functions/0/argument/dim: error: WeightNormalization: dim is out of range: expected -4 to 3, found -5\n" },
    /* types and shapes */
    { HEAD "v 7 4 b0\nv f:3 4 b1\nf 68 0>1\n", "/variables/0: error: unknown type: expected less than 4, found 7\n"
                                                  "/variables/1: error: a float has fraction bits: expected 0, found 3\n" },
    { HEAD "v i8:8 4 b0\nv sign 8 b1\nf 68 0>1\n",
      "/variables/0: error: an int8 has too many fraction bits: expected 0 to 7, found 8\n"
                                                      "/variables/1: error: only parameters may be signs: expected another type\n" },
    { HEAD "v f 4,-2 b0\nv f 65536,65536 b1\nf 68 0>1\n",
      "/variables/0: error: dim 1 is negative: expected 0 or more, found -2\n"
      "/variables/1: error: the shape has 2^31 elements or more\n" },
    { "nnb 3 44\ninputs 0\noutputs 2\nbuffers 4 4\nv f 1 b0\nv f 1000 p4\nv f 1 b1\nf 31 0,1>2 B0\n",
      "/variables/1: error: the data is shorter than the shape: expected 4000 bytes, found " },
    /* a weight of one element that is not computed with */
    { "nnb 3 44\ninputs 0\noutputs 3\nbuffers 8 8\nv f 1,2,1,1 b0\nv f 2,2,1,1 p4\nv sign 2,2,1,1 p1\nv f 1,2,1,1 b1\n"
      "f 108 0,1,2>3 i1 [0,0] [1,1] [1,1] i1\n", "" },
    /* buffers */
    { HEAD "v f 4 b0\nv f 4 b2\nf 68 0>1\n", "/variables/1: error: buffer 2 does not exist: the file has 2\n" },
    { HEAD "v f 5 b0\nv f 4 b1\nf 68 0>1\n",
      "/variables/0: error: buffer 0 is too small: expected 20 bytes, found 16\n" },
    { "nnb 2 44\ninputs 0\noutputs 1\nbuffers 4 4\nv f 5 b0\nv i8:1 4 b1\nf 68 0>1\n",
      "/variables/0: error: buffer 0 is too small: expected 5 elements, found 4\n" },
    /* what makes a variable, and what overwrites it */
    { "nnb 3 44\ninputs 0\noutputs 3\nbuffers 16 16\nv f 4 b0\nv f 4 b1\nv f 4 b1\nv f 4 b1\nf 68 0>1\n"
      "f 68 0>2\nf 31 1,2>3 B0\n",
      "/functions/1/output/0: error: variable 2 overwrites variable 1 in buffer 1, which function 2 needs later\n" },
    { "nnb 3 44\ninputs 0\noutputs 1 2\nbuffers 16 16\nv f 4 b0\nv f 4 b1\nv f 4 b1\nf 68 0>1\nf 68 0>2\n",
      "/functions/1/output/0: error: variable 2 overwrites variable 1 in buffer 1, which the network returns\n" },
    { "nnb 3 44\ninputs 0 1\noutputs 2\nbuffers 16 16\nv f 4 b0\nv f 4 b0\nv f 4 b1\nf 31 0,1>2 B0\n",
      "/inputs/1: error: variable 1 overwrites variable 0 in buffer 0, which function 0 needs later\n" },
    { "nnb 3 44\ninputs 0\noutputs 2\nbuffers 16 16 16\nv f 4 b0\nv f 4 b1\nv f 4 b2\nf 31 0,1>2 B0\nf 68 0>1\n",
      "/functions/0/input/1: error: variable 1 is used before it is made: expected function 1 earlier\n" },
    { "nnb 3 44\ninputs 0\noutputs 2\nbuffers 16 16 16\nv f 4 b0\nv f 4 b1\nv f 4 b2\nf 31 0,1>2 B0\n",
      "/functions/0/input/1: warning: no function makes variable 1, and it is not an input: it holds zeros\n" },
    { HEAD "v f 4 b0\nv f 4 b1\n", "/outputs/0: error: no function makes variable 1, an output of the network\n" },
    { HEAD "v f 4 b0\nv f 4 b1\nf 68 0>1\nf 69 0>1\n",
      "/functions/1/output/0: error: variable 1 is made twice: expected one function or input\n" },
    { HEAD "v f 4 b0\nv f 4 p16\nf 68 0>1\n",
      "/functions/0/output/0: error: variable 1 is a parameter, which lies in the file: expected one with a buffer\n" },
    /* fixed point */
    { "nnb 3 44\ninputs 0\noutputs 3\nbuffers 2 2\nv i8:1 1,2 b0\nv i8:2 2,2 p4\nv i8:3 2 p2\n"
      "v i8:4 1,2 b1\nf 0 0,1,2>3 i1\n",
      "/functions/0/output/0: error: Affine: too many fraction bits: expected at most those of input and weight, 3, found 4\n"
      "/functions/0/input/2: error: Affine: the bias has too few fraction bits: expected at least those of the output, 4, found 3\n" },
};

static void list(buffer *out) {
    for (size_t i = 0; i < xir_diags_count(why); i++) {
        const xir_diag *d = xir_diags_at(why, i);
        buffer_put(out, d->path.data, d->path.size);
        buffer_str(out, d->severity == XIR_ERROR ? ": error: "
                        : d->severity == XIR_WARNING ? ": warning: " : ": note: ");
        buffer_put(out, d->message.data, d->message.size);
        buffer_char(out, '\n');
    }
    buffer_char(out, '\0');
}

static void findings(void **state) {
    size_t wrong = 0;
    (void)state;
    for (size_t i = 0; i < COUNT(stories); i++) {
        nnb_made f;
        buffer found;
        nnb_make(&f, stories[i].text);
        xir_network *net = xir_network_read(ctx, f.bytes, f.size, XIR_STR("x.nnb"),
                                            &XIR_INIT(xir_load_options, .format = "nnb"), why);
        assert_non_null(net);
        assert_int_equal(xir_diags_count(why), 0);
        const bool error = strstr(stories[i].findings, ": error: ") != NULL;
        const xir_status status = xir_nnb_check(net, why);
        buffer_init(&found, &memory_default);
        list(&found);
        const char *expected = stories[i].findings;
        const size_t n = strlen(expected);
        const bool open = n && expected[n - 1] != '\n';   /* the end is not compared */
        if ((status != XIR_OK) != error ||
            (open ? strncmp(found.data, expected, n) : strcmp(found.data, expected)) != 0) {
            print_error("story %zu:\n%s\nexpected:\n%s\nfound (%s):\n%s\n", i, stories[i].text, expected,
                        xir_status_name(status), found.data);
            wrong++;
        }
        buffer_free(&found);
        xir_network_free(net);
        xir_diags_clear(why);
    }
    assert_int_equal(wrong, 0);
}

/* Running statistics are written: theirs is the only data that must not be shared. */
static void data_that_is_written_and_shared(void **state) {
    static const struct { const char *batch_stat; unsigned from, to; const char *found; } cases[] = {
        { "B0", 3, 4, "" },
        { "B1", 1, 2, "" },   /* beta and gamma are only read */
        { "B1", 3, 4, "the function writes variable 4, whose data overlaps that of variable 3: expected data of its own" },
        { "B1", 2, 3, "the function writes variable 3, whose data overlaps that of variable 2: expected data of its own" },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        nnb_made f;
        char text[400];
        snprintf(text, sizeof text, "nnb 3 44\ninputs 0\noutputs 5\nbuffers 8 8\nv f 1,2 b0\nv f 1,2 p8\nv f 1,2 p8\n"
                 "v f 1,2 p8\nv f 1,2 p8\nv f 1,2 b1\nf 22 0,1,2,3,4>5 [1] f0.9 f0.1 %s\n", cases[i].batch_stat);
        nnb_make(&f, text);
        nnb_set_word(&f, f.variables[cases[i].to] + 16, nnb_word(&f, f.variables[cases[i].from] + 16));
        xir_network *net = xir_network_read(ctx, f.bytes, f.size, XIR_STR("x.nnb"),
                                            &XIR_INIT(xir_load_options, .format = "nnb"), why);
        assert_non_null(net);
        const xir_status status = xir_nnb_check(net, why);
        assert_int_equal(status, *cases[i].found ? XIR_E_INVALID : XIR_OK);
        assert_int_equal(xir_diags_count(why), *cases[i].found ? 1 : 0);
        if (*cases[i].found) CHECK_STR(xir_diags_at(why, 0)->message, cases[i].found);
        xir_network_free(net);
        xir_diags_clear(why);
    }
}

static void other_networks(void **state) {
    (void)state;
    xir_network *net = small_net();
    assert_int_equal(xir_nnb_check(net, why), XIR_OK);
    assert_int_equal(xir_diags_count(why), 0);
    xir_network_free(net);
}

GROUP {
    const struct CMUnitTest tests[] = { cmocka_unit_test(findings), cmocka_unit_test(data_that_is_written_and_shared),
                                        cmocka_unit_test(other_networks) };
    return cmocka_run_group_tests(tests, group_begin, group_end);
}
