/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The common parts of the networks of the executor's benches. */
#ifndef XIR_BENCH_EXEC_H
#define XIR_BENCH_EXEC_H

#include "bench.h"

#include <xir/exec.h>
#include <xir/xir.h>

typedef struct exec_net {
    xir_context    *ctx;
    xir_network    *net;
    const xir_type *f32;
    xir_array      *image, *other; /* what the network takes */
    xir_diags      *why;
    xir_value      *shared;        /* Params of several ops */
    uint64_t        params;        /* made so far */
    uint64_t        products;      /* multiply-adds of products, counted as the network is built */
} exec_net;

/* An empty network for an image of size x size with 3 channels, NHWC. NULL without memory. */
exec_net *exec_begin(int64_t size, const char *name);
/* Checks a network that has its outputs; NULL with a message on stderr. */
exec_net *exec_end(exec_net *r);
/* Params with weights; and a convolution with a bias and `of` filters, which adds to `products`. */
xir_value *exec_params(exec_net *r, const xir_type *type);
xir_value *exec_conv(exec_net *r, xir_value *x, int64_t size, int64_t stride, int64_t of);
/* Runs the image through it; there must be 1000 logits. */
bool exec_run(void *state, bench_result *out);

/* branches.c */
void *branches_setup(const bench_input *in);
void *lstms_setup(const bench_input *in);

/* maxvit.c */
void *maxvit_setup(const bench_input *in);

#endif
