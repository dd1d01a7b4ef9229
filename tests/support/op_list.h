/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Passes in tests: a network as a list of its ops in short words, and a way to run a pass on it. */
#ifndef SUPPORT_OP_LIST_H
#define SUPPORT_OP_LIST_H

#include "support/net.h"

/* A line for each op in execution order, "y = ReLU(x)": the last word of the class, with a prefix for dialects
 * ("onnx::Conv"); operands and results by the names of values. A value without a name is %v_id, Params without a
 * name are #v_id, an absent input is -. Sub ops are not listed. Free it. */
char *op_list(const xir_network *net);
/* The same with types: "y:fp32[1,8,8,3]NHWC = ReLU(x)"; unknown dims are ?, a value without a type is :?. */
char *op_list_typed(const xir_network *net);

/* The list must have exactly these lines. */
void check_op_list(const xir_network *net, bool typed, const char *const *lines, size_t n, const char *file, int line);
#define CHECK_OPS(net, ...) \
    check_op_list(net, false, (const char *const[]){ __VA_ARGS__ }, COUNT(((const char *const[]){ __VA_ARGS__ })), \
                  __FILE__, __LINE__)
#define CHECK_TYPED_OPS(net, ...) \
    check_op_list(net, true, (const char *const[]){ __VA_ARGS__ }, COUNT(((const char *const[]){ __VA_ARGS__ })), \
                  __FILE__, __LINE__)

/* Runs a pass that must succeed and leave a sound and valid network, then runs it again, which must change nothing.
 * Returns the number of changes of the first run. */
size_t run_pass(xir_network *net, const char *pass, const char *options, const char *file, int line);
#define PASS(net, pass)                  run_pass(net, pass, NULL, __FILE__, __LINE__)
#define PASS_WITH(net, pass, options)    run_pass(net, pass, options, __FILE__, __LINE__)

/* The beginning and the end of a network: an argument with this name, and the results. */
xir_value *argument(xir_network *net, const char *name, const xir_type *type);
void       results(xir_network *net, xir_values values);
/* Ops at the end of a network, whose output gets a name. Lists are in brackets: slice(net, x, LIST(0, 1), LIST(4,
 * 4), LIST(1, 2), "y"). */
#define LIST(...) \
    ((xir_i64s){ (const int64_t[]){ 0, __VA_ARGS__ } + 1, \
                 sizeof((const int64_t[]){ 0, __VA_ARGS__ }) / sizeof(int64_t) - 1 })
xir_value *relu(xir_network *net, xir_value *x, const char *name);
xir_value *sigmoid(xir_network *net, xir_value *x, const char *name);
xir_value *copy(xir_network *net, xir_value *x, const char *name);
xir_value *add(xir_network *net, xir_value *x, xir_value *y, const char *name);
xir_value *multiply(xir_network *net, xir_value *x, xir_value *y, const char *name);
xir_value *reshape(xir_network *net, xir_value *x, const char *layout, xir_i64s shape, const char *name);
xir_value *squeeze(xir_network *net, xir_value *x, xir_i64s axis, const char *name);
xir_value *transpose(xir_network *net, xir_value *x, const char *layout, xir_i64s dims, const char *name);
xir_value *slice(xir_network *net, xir_value *x, xir_i64s begin, xir_i64s end, xir_i64s stride, const char *name);
xir_value *concat(xir_network *net, xir_values parts, int64_t axis, const char *name);
xir_value *cast(xir_network *net, xir_value *x, const xir_type *type, const char *name);
/* The only output of an op that must have been made; it gets this name. */
xir_value *output_of(xir_op *op, const char *name);

/* Names a value and returns it. */
xir_value *named(xir_value *value, const char *name);
/* The output of a new op of an unregistered class. */
xir_value *foreign(xir_network *net, const char *key, const xir_type *type, xir_values inputs);
/* Params with a name and these bytes. */
xir_value *constant(xir_network *net, const char *name, const xir_type *type, const void *data, size_t size);
/* One-dimensional sint(64), and fp32 of any dims. */
#define INTS(net, name, ...) \
    constant(net, name,                                                                                                \
             XIR_TENSOR(ctx, xir_type_sint(ctx, 64), "*", (int64_t)COUNT(((const int64_t[]){ __VA_ARGS__ }))),         \
             (const int64_t[]){ __VA_ARGS__ }, sizeof((const int64_t[]){ __VA_ARGS__ }))
#define FLOATS(net, name, type, ...) \
    constant(net, name, type, (const float[]){ __VA_ARGS__ }, sizeof((const float[]){ __VA_ARGS__ }))

#endif
