/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A check of NNB finds each fault once, whether the format's own check or the rows find it; and infers the shapes. */
#include <xir/convert.h>
#include "support/net.h"
#include "support/nnb_make.h"

#define HEAD "nnb 3 45\ninputs 0\noutputs 1\nbuffers 96 96\n"
#define TWO  HEAD "v f 2,3 b0\nv f 2,3 b1\n"

/* The beginnings of all findings of 1 network, "path: message" a line. */
typedef struct story { const char *text, *findings; } story;

static const story stories[] = {
    { TWO "f 11 0>1\n", "" },
    /* what the format's own check finds */
    { TWO "f 400 0>1\n", "/functions/0: number 400 is not in the table of functions\n" },
    { TWO "f 31 0>1 B0\n", "/functions/0: Add2: expected 2 inputs, found 1\n" },
    { TWO "f 11 0,0>1\n", "/functions/0: Sigmoid: expected 1 input, found 2\n" },
    { TWO "f 15 0>1\n", "/functions/0/argument/alpha: LeakyReLU: the record ends before alpha\n" },
    { TWO "f 16 0>1 i2\n", "/functions/0/argument/axis: Softmax: axis is out of range: expected -2 to 1, found 2\n" },
    { TWO "f 14 0>1 B7\n", "/functions/0/argument/inplace: ReLU: inplace: expected 0 or 1, found 7\n" },
    { "nnb 3 3\ninputs 0\noutputs 1\nbuffers 96 96\nv f 2,3 b0\nv f 2,3 b1\nf 349 0>1\n",
      "/functions/0: Erf: number 349 is of api level 42, but the file is of level 3\n" },
    { "nnb 3 45\ninputs 0\noutputs 2\nbuffers 96 96 96\nv f 2,3 b0\nv f 2,3 b1\nv f 2,3 b2\nf 31 0,1>2 B0\n",
      "/functions/0/input/1: no function makes variable 1, and it is not an input: it holds zeros\n" },
    { "nnb 3 45\ninputs 0\noutputs 2\nbuffers 96 96 96\nv f 2,3 b0\nv f 2,3 b1\nv f 2,3 b2\nf 31 0,1>2 B0\nf 68 0>1\n",
      "/functions/0/input/1: variable 1 is used before it is made: expected function 1 earlier\n" },
    { "nnb 3 45\ninputs 0\noutputs 2\nbuffers 96 96 96\nv f 2,3 b0\nv f 2,3 b1\nv f 2,3 b2\nf 31 0,2>1 B0\nf 68 1>2\n",
      "/functions/0/input/1: variable 2 is used before it is made: expected function 1 earlier\n" },
    { HEAD "v f 2,3 b0\nv f 2,3 b1\n", "" },   /* not of the dialect: it has no functions */
    /* what the rows find */
    { HEAD "v f 2,3 b0\nv f 3,2 b1\nf 11 0>1\n",
      "/functions/0/output/0: Sigmoid 'Sigmoid_0' (function 0): output 0 'v1' has a wrong declared type: expected "
      "@fp(32) [2, 3], found @fp(32) [3, 2]\n" },
    { HEAD "v f 2,3 b0\nv i8:3 2,2 b1\nf 11 0>1\n",
      "/functions/0/output/0: Sigmoid 'Sigmoid_0' (function 0): output 0 'v1.real' has a wrong declared type: "
      "expected @fp(32) [2, 3], found @fp(32) [2, 2]\n" },
    { TWO "f 75 0>1 i1\n",
      "/functions/0/output/0: Split 'Split_0' (function 0): output 0 'v1' has a wrong declared type: " },
    { TWO "f 77 0>1 [0,0] [2,3] [1,0]\n", "/functions/0/argument/step: Slice 'Slice_0' (function 0): step is out of " },
    { TWO "f 269 0>1 i5\n",
      "/functions/0/argument/axis: LogSoftmax: axis is out of range: expected -2 to 1, found 5\n" },
    { HEAD "v f 2,3 b0\nv f 2,4 b1\nv f 4,4 p64\nf 0 0,2>1 i1\n",
      "/functions/0/input/1: Affine 'Affine_0' (function 0): the weight: expected leading dims of 3 elements" },
    /* both, of several functions */
    { "nnb 3 45\ninputs 0\noutputs 3\nbuffers 96 96 96\nv f 2,3 b0\nv f 3,2 b1\nv f 2,3 b2\nv f 2,3 b1\n"
      "f 11 0>1\nf 16 0>2 i2\nf 68 2>3\n",
      "/functions/1/argument/axis: Softmax: axis is out of range: expected -2 to 1, found 2\n"
      "/functions/0/output/0: Sigmoid 'Sigmoid_0' (function 0): output 0 'v1' has a wrong declared type: " },
};

static void each_fault_is_found_once(void **state) {
    (void)state;
    static nnb_made f;
    size_t wrong = 0;
    for (size_t i = 0; i < COUNT(stories); i++) {
        char found[2000] = "";
        size_t n = 0, lines = 0;
        nnb_make(&f, stories[i].text);
        xir_network *net = xir_network_read(ctx, f.bytes, f.size, XIR_STR("x.nnb"),
                                            &XIR_INIT(xir_load_options, .format = "nnb"), why);
        assert_non_null(net);
        xir_diags_clear(why);
        (void)xir_dialect_check(net, why);
        for (size_t k = 0; k < xir_diags_count(why); k++) {
            const xir_diag *d = xir_diags_at(why, k);
            n += (size_t)snprintf(found + n, sizeof found - n, "%.*s: %.*s\n", (int)d->path.size, d->path.data,
                                  (int)d->message.size, d->message.data);
        }
        const char *expected = stories[i].findings;
        for (const char *p = expected; *p; p++) lines += *p == '\n' || !p[1];
        if (strncmp(found, expected, strlen(expected)) != 0 || lines != xir_diags_count(why)) {
            print_error("story %zu:\n%s\nexpected:\n%s\nfound:\n%s\n", i, stories[i].text, expected, found);
            wrong++;
        }
        xir_network_free(net);
        xir_diags_clear(why);
    }
    assert_int_equal(wrong, 0);
}

GROUP {
    const struct CMUnitTest tests[] = { cmocka_unit_test(each_fault_is_found_once) };
    return RUN_GROUP(tests);
}
