/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Dims that no values of their symbols make equal: each rule that compares dims says so, with both texts. */
#include <stdio.h>
#include "support/net.h"
#include "support/story.h"

/* A network whose dims are unknown, the dims of its inputs, "batch 4; n + 1", and what inference then finds; NULL:
 * nothing. */
typedef struct contradiction { const char *story, *dims, *finding; } contradiction;

#define LSTM "x: -1 -1 3; w: params 1 20 3; r: params 1 20 5; l: sint32 -1; h: -1 -1 5; y, a, b = LSTM x w r - l h" \
             " [hidden_size=5]; out y"
#define GRU  "x: -1 -1 3; w: params 1 15 3; r: params 1 15 5; l: sint32 -1; y, a = GRU x w r - l" \
             " [hidden_size=5 layout=1]; out y"
#define RNN  "x: -1 -1 -1; w: -1 -1 -1; r: params 1 5 5; y, a = RNN x w r [hidden_size=5]; out y"

static const contradiction rows[] = {
    { LSTM, "t,b,3; b; 1,b,5",         NULL },
    { LSTM, "t,b,3; c; 1,b,5",         NULL },   /* b and c may be equal */
    { LSTM, "t,b,3; b + 1; 1,b,5",     "inputs/4: dim 0 of sequence_lens is b + 1: expected b" },
    { LSTM, "t,b,3; b; 1,b + 1,5",     "inputs/5: dim 1 of initial_h is b + 1: expected b" },
    { LSTM, "t,b,3; b; n + 2,b,5",     "inputs/5: dim 0 of initial_h is n + 2: expected 1" },
    { GRU,  "b,t,3; t + b",            NULL },   /* t may be 0 */
    { GRU,  "2*b,t,3; 2*c + 1",        "inputs/4: dim 0 of sequence_lens is 2*c + 1: expected 2*b" },
    { RNN,  "t,b,i; 1,5,i",            NULL },
    { RNN,  "t,b,i; 1,5,i + 2",        "inputs/1: dim 2 of W is i + 2: expected i" },
    { RNN,  "t,b,i; 1,n + 6,i",        "inputs/1: dim 1 of W is n + 6: expected 5" },

    { "d: -1 -1; i: sint64 -1 -1; u: -1 -1; y = ScatterND d i u; out y", "n,k; m,1; m,k", NULL },
    { "d: -1 -1; i: sint64 -1 -1; u: -1 -1; y = ScatterND d i u; out y", "n,k; m,1; m + 1,k",
      "inputs/2: dim 0 of updates is m + 1: expected m" },
    { "d: -1 -1; i: sint64 -1 -1; u: -1 -1; y = ScatterND d i u; out y", "n,k; m,1; m,k + 3",
      "inputs/2: dim 1 of updates is k + 3: expected k" },
    { "d: -1 -1; i: sint64 -1 1; y = GatherND d i [batch_dims=1]; out y", "b,n; b,1", NULL },
    { "d: -1 -1; i: sint64 -1 1; y = GatherND d i [batch_dims=1]; out y", "b,n; b + 1,1",
      "inputs/1: batch dim 0 of indices is b + 1, that of data is b: expected the same" },
    { "d: -1 -1; i: sint64 -1 -1; y = GatherElements d i; out y", "n,k; m,k", NULL },
    { "d: -1 -1; i: sint64 -1 -1; y = GatherElements d i; out y", "n,k; m,k + 1",
      "inputs/1: dim 1 of indices is k + 1, that of data is k: expected at most that, except along axis 0" },

    { "b: -1 -1 -1; s: -1 -1 -1; y = NonMaxSuppression b s; out y", "b,n,4; b,c,n", NULL },
    { "b: -1 -1 -1; s: -1 -1 -1; y = NonMaxSuppression b s; out y", "b,n,4; b + 1,c,n",
      "inputs/1: scores has b + 1 batches, boxes has b: expected the same" },
    { "b: -1 -1 -1; s: -1 -1 -1; y = NonMaxSuppression b s; out y", "b,n,4; b,c,n + 1",
      "inputs/1: scores has n + 1 boxes, boxes has n: expected the same" },
    { "b: -1 -1 -1; s: -1 -1 -1; y = NonMaxSuppression b s; out y", "b,n,2*k + 5; b,c,n",
      "inputs/0: a box has 2*k + 5 numbers: expected 4" },

    { "x: -1 -1; k: params 4 3; b: * -1; y = Matmul x k b; out y", "n,4; m", NULL },
    { "x: -1 -1; k: params 4 3; b: * -1; y = Matmul x k b; out y", "n,4; m + 4",
      "inputs/2: dim -1 of b is m + 4, that of the product is 3: expected the same or 1" },
    { "x: NHWC -1 -1 -1 -1; g: -1 -1 -1 -1; y = GridSample x g; out y", "b,8,8,3; b,4,4,2", NULL },
    { "x: NHWC -1 -1 -1 -1; g: -1 -1 -1 -1; y = GridSample x g; out y", "b,8,8,3; b + 1,4,4,2",
      "inputs/1: grid has a batch of b + 1: expected b, as in input" },
    { "x: -1 -1; y = Expand x [sizes=5,3]; out y", "n,3", NULL },
    { "x: -1 -1; y = Expand x [sizes=5,3]; out y", "2*n,3",
      "size 0 is 5, the dim of input is 2*n: only dims of 1 can grow" },
    { "x: -1 -1; a, b = Split x [sections=2,3 axis=0]; out a b", "n,7", NULL },
    { "x: -1 -1; a, b = Split x [sections=2,3 axis=0]; out a b", "n + 6,7",
      "the sum of the sections is 5, but dim 0 of input is n + 6" },
};

/* Gives the dims to the inputs: those of an input are separated by commas. */
static void give_dims(xir_network *net, const char *all) {
    char text[200], *rest = text;
    snprintf(text, sizeof text, "%s", all);
    for (int64_t i = 0; *rest; i++) {
        xir_str dims[4];
        size_t n = 0;
        char *end = strchr(rest, ';'), *next = end ? end + 2 : rest + strlen(rest);
        if (end) *end = '\0';
        for (char *word = strtok(rest, ","); word; word = strtok(NULL, ",")) dims[n++] = xir_str_of(word);
        xir_diags_clear(why);
        xir_value *v = xir_op_output(xir_network_input_op(net), i);
        const xir_type *type = xir_network_type_with_dims(net, xir_value_type(v), dims, n, why);
        if (!type) fail_msg("%s: %s", all, xir_diags_at(why, 0)->message.data);
        DOES(xir_value_set_type(v, type));
        rest = next;
    }
}

static void dims_that_are_never_equal_are_findings(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        xir_network *net = story_net(rows[i].story);
        give_dims(net, rows[i].dims);
        xir_diags_clear(why);
        const xir_status status = xir_network_infer(net, why);
        const xir_diag *d = xir_diags_at(why, 0);
        const char *finding = rows[i].finding, *colon = finding ? strchr(finding, ':') : NULL;
        const bool placed = finding && strncmp(finding, "inputs/", 7) == 0;
        bool good = finding ? status == XIR_E_INVALID && strstr(d->message.data, placed ? colon + 2 : finding)
                            : !status;
        if (good && placed) good = d->path.size > 8 && !memcmp(d->path.data + d->path.size - 8, finding, 8);
        if (!good) {
            fail_msg("%s\n%s\nexpected %s\nfound    %s", rows[i].story, rows[i].dims, finding ? finding : "nothing",
                     d ? d->message.data : "nothing");
        }
        xir_network_free(net);
    }
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dims_that_are_never_equal_are_findings),
    };
    return RUN_GROUP(tests);
}
