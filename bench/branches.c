/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Networks whose ops are too short for threads, or keep to one: what is gained by computing them side by side. */
#include "exec.h"

enum { BRANCHES = 256, LSTMS = 4, STEPS = 100, FEATURES = 64, HIDDEN = 128, CLASSES = 1000 };

static xir_value *classes(exec_net *r, xir_value *x, int64_t from)
{
    xir_at at = xir_at_end(r->net);
    x = XIR_OP(at, reshape, .input = x,
               .attrs = XIR_ATTRS(reshape, (shape, XIR_I64S(1, from)), (layout, xir_layout_default(r->ctx, 2))));
    return XIR_OP(at, matmul, .x = x, .k = exec_params(r, XIR_TENSOR(r->ctx, r->f32, "**", from, CLASSES)));
}

/* A branch takes 0.33e6 multiply-adds. Each is added whole before the next one. */
void *branches_setup(const bench_input *in)
{
    (void)in;
    exec_net *r = exec_begin(14, "branches");
    xir_value *ends[BRANCHES];
    if (!r)
        return NULL;
    xir_value *x = exec_conv(r, xir_input(xir_at_end(r->net), "image", xir_array_type(r->image)), 1, 1, 32);
    for (int i = 0; i < BRANCHES; i++)
        ends[i] = exec_conv(r, XIR_RELU(xir_at_end(r->net), exec_conv(r, x, 1, 1, 16)), 3, 1, 8);
    x = XIR_OP(xir_at_end(r->net), concat, .inputs = { ends, BRANCHES },
               .attrs = XIR_ATTRS(concat, (axis, 3)));
    x = XIR_OP(xir_at_end(r->net), mean, .input = x, .attrs = XIR_ATTRS(mean, (dim, XIR_I64S(1, 2))));
    xir_output(xir_at_end(r->net), XIR_VALUES(classes(r, x, BRANCHES * 8)));
    return exec_end(r);
}

void *lstms_setup(const bench_input *in)
{
    (void)in;
    exec_net *r = exec_begin(1, "lstms");
    xir_value *ends[LSTMS];
    if (!r)
        return NULL;
    xir_array_free(r->image);
    r->image = xir_array_random(r->ctx, XIR_TENSOR(r->ctx, r->f32, "***", STEPS, 1, FEATURES), 1, r->why);
    xir_value *x = xir_input(xir_at_end(r->net), "x", xir_array_type(r->image));
    for (int i = 0; i < LSTMS; i++) {
        xir_value *w = exec_params(r, XIR_TENSOR(r->ctx, r->f32, "***", 1, 4 * HIDDEN, FEATURES)),
                  *k = exec_params(r, XIR_TENSOR(r->ctx, r->f32, "***", 1, 4 * HIDDEN, HIDDEN));
        ends[i] = XIR_OP(xir_at_end(r->net), lstm, .X = x, .W = w, .R = k,
                         .attrs = XIR_ATTRS(lstm, (hidden_size, HIDDEN)));
        r->products += (uint64_t)STEPS * 4 * HIDDEN * (HIDDEN + FEATURES);
    }
    x = XIR_OP(xir_at_end(r->net), concat, .inputs = { ends, LSTMS }, .attrs = XIR_ATTRS(concat, (axis, 3)));
    x = XIR_OP(xir_at_end(r->net), mean, .input = x, .attrs = XIR_ATTRS(mean, (dim, XIR_I64S(0))));
    xir_output(xir_at_end(r->net), XIR_VALUES(classes(r, x, LSTMS * HIDDEN)));
    return exec_end(r);
}
