/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Networks as formats with channels first have them: NCHW, with Transposes around ops that need NHWC. And a proof
 * that a pass has not changed what a network computes. */
#ifndef SUPPORT_NCHW_H
#define SUPPORT_NCHW_H

#include <xir/exec.h>
#include "support/op_list.h"

/* A network with one argument "x" of these dims, without letters. Ops are added at its end. */
xir_value *nchw_begin(xir_network **net, const int64_t *dims, size_t rank);
#define NCHW_BEGIN(net, ...) \
    nchw_begin((net), (const int64_t[]){ __VA_ARGS__ }, COUNT(((const int64_t[]){ __VA_ARGS__ })))
void nchw_end(xir_values results);
#define NCHW_END(...) nchw_end(XIR_VALUES(__VA_ARGS__))

xir_value *nchw_transpose(xir_value *x, const char *letters, const int64_t *dims, size_t rank);
#define TRANSPOSE(x, letters, ...) \
    nchw_transpose((x), (letters), (const int64_t[]){ __VA_ARGS__ }, COUNT(((const int64_t[]){ __VA_ARGS__ })))
/* Transposes to channels last and to channels first, of 3 to 5 dims; without names. */
xir_value *channels_last(xir_value *x);
xir_value *channels_first(xir_value *x);

/* Params of random numbers. */
xir_value *nchw_params(xir_network *net, const char *name, const char *letters, const int64_t *dims, size_t rank);
#define PARAMS(net, name, letters, ...) \
    nchw_params((net), (name), (letters), (const int64_t[]){ __VA_ARGS__ }, COUNT(((const int64_t[]){ __VA_ARGS__ })))

/* Each takes and returns NCHW (or NCL, NCDHW), and names its result. */
xir_value *nchw_conv(xir_value *x, int64_t channels, int64_t kernel, const char *name);
xir_value *nchw_pool(xir_value *x, const char *name);            /* the greatest of 2 x 2 */
xir_value *nchw_global_pool(xir_value *x, const char *name);
xir_value *nchw_upsample(xir_value *x, int64_t height, int64_t width, const char *name);
xir_value *nchw_batch_norm(xir_value *x, const char *name);

/* These have no Transposes. */
xir_value *relu_of(xir_value *x, const char *name);
xir_value *sigmoid_of(xir_value *x, const char *name);
xir_value *add_of(xir_value *a, xir_value *b, const char *name);
xir_value *multiply_of(xir_value *a, xir_value *b, const char *name);
xir_value *concat_of(xir_values inputs, int64_t axis, const char *name);
xir_value *reshape_of(xir_value *x, const char *name, const int64_t *dims, size_t rank);
#define RESHAPE(x, name, ...) \
    reshape_of((x), (name), (const int64_t[]){ __VA_ARGS__ }, COUNT(((const int64_t[]){ __VA_ARGS__ })))
xir_value *matmul_of(xir_value *x, int64_t columns, const char *name);

/* The number of ops of a class. */
size_t count_of(const xir_network *net, const xir_class_decl *decl);
#define TRANSPOSES(net) count_of((net), xir_transpose_class())

/* Runs a pass. The network must be valid, and a second run of the pass must change nothing. For random arguments the
 * network must compute the same as before: to the last bit, or within `tolerance`. With options that change the
 * layout of arguments and results, these are compared after their axes are moved back. Returns the number of
 * changes. */
size_t prove_pass(xir_network *net, const char *pass, const char *options, double tolerance,
                  const char *file, int line);
#define PROVE(net, options) prove_pass((net), "layout", (options), 0, __FILE__, __LINE__)
#define PROVE_WITHIN(net, tolerance) prove_pass((net), "layout", NULL, (tolerance), __FILE__, __LINE__)

#endif
