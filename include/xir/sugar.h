/* Shorthands for building networks by hand. The functions take the cursor first and give the op's only output, or NULL
 * after a failure, which the network keeps: build straight on and ask xir_network_status once.
 *
 *     xir_at b = XIR_AT(net);
 *     xir_value *x = xir_input(b, "image", type);
 *     x = XIR_CONV2D(b, .input = x, .weights = w, .pad = 1, .name = "conv1");
 *     x = XIR_RELU(b, x);
 *     x = XIR_MAX_POOL2D(b, .input = x, .k = 3, .stride = 2, .pad = 1);
 *     xir_output(b, XIR_VALUES(x));
 *     if (xir_network_status(net) != XIR_OK) … */
#ifndef XIR_SUGAR_H
#define XIR_SUGAR_H

#include <xir/ops.h>

XIR_BEGIN

/* A cursor at the end of a network, and a cursor with the caller's place. */
XIR_API xir_at xir_at_end(xir_network *net);
XIR_API xir_at xir_at_line(xir_at at, const char *file, int line);
#define XIR_AT(net) xir_at_line(xir_at_end(net), __FILE__, __LINE__)

/* The values of an argument list. */
#define XIR_VALUES(...)                                                                     \
    ((xir_values){ (xir_value *const[]){ __VA_ARGS__ },                                     \
                   sizeof((xir_value *const[]){ __VA_ARGS__ }) / sizeof(xir_value *) })

/* An Input op with one argument, or with several: the op then, whose outputs they are. */
XIR_API xir_value *xir_input(xir_at at, const char *name, const xir_type *type);
XIR_API xir_op    *xir_inputs(xir_at at, const char *name, const xir_type *const *types, size_t n);
XIR_API xir_op    *xir_output(xir_at at, xir_values values);

/* The shorthand constructors of the original: one number for both axes. Zero, or left out, means the class's default. */
typedef struct xir_conv2d_args {
    xir_value  *input, *weights, *bias;
    int64_t     stride, pad, dilation, groups;
    const char *name;
} xir_conv2d_args;
XIR_API xir_value *xir_conv2d_short(xir_at at, const xir_conv2d_args *args);
#define XIR_CONV2D(at, ...) \
    xir_conv2d_short(xir_at_line((at), __FILE__, __LINE__), &(xir_conv2d_args){ __VA_ARGS__ })

typedef struct xir_pool2d_args {
    xir_value  *input;
    int64_t     k, stride, pad, dilation;
    const char *name;
} xir_pool2d_args;
/* The greatest of each k x k window. */
XIR_API xir_value *xir_max_pool2d_short(xir_at at, const xir_pool2d_args *args);
#define XIR_MAX_POOL2D(at, ...) \
    xir_max_pool2d_short(xir_at_line((at), __FILE__, __LINE__), &(xir_pool2d_args){ __VA_ARGS__ })

/* The average of the cells that are no padding. Its dilation is not looked at: there is none. */
XIR_API xir_value *xir_avg_pool2d_short(xir_at at, const xir_pool2d_args *args);
#define XIR_AVG_POOL2D(at, ...) \
    xir_avg_pool2d_short(xir_at_line((at), __FILE__, __LINE__), &(xir_pool2d_args){ __VA_ARGS__ })

/* Attribute structs with one number for both axes, for xir_add_conv2d and the like. */
XIR_API xir_conv2d_attrs     xir_conv2d_square(int64_t stride, int64_t pad, int64_t dilation, int64_t groups);
XIR_API xir_max_pool2d_attrs xir_max_pool2d_square(int64_t k, int64_t stride, int64_t pad, int64_t dilation);

/* max(x, 0). */
XIR_API xir_value *xir_relu_short(xir_at at, xir_value *input, const char *name);
#define XIR_RELU(at, x) xir_relu_short(xir_at_line((at), __FILE__, __LINE__), (x), NULL)
/* alpha * lhs + beta * rhs with one factor each. */
XIR_API xir_value *xir_add_short(xir_at at, xir_value *lhs, xir_value *rhs, double alpha, double beta, const char *name);
XIR_API xir_value *xir_cast_short(xir_at at, xir_value *input, const xir_type *target, const char *name);
/* To the power of one number, which becomes Params of one element: fp64 for an fp64 input, fp32 for fp32 and quantised ones.
 * XIR_E_UNSUPPORTED for others: their Params are the caller's to make. */
XIR_API xir_value *xir_pow_short(xir_at at, xir_value *input, double exponent, const char *name);

/* A reshape to a layout by its text, "NC", and dims, one of which may be -1; a transposition whose layout is the input's with its
 * axes in the new order.
 *
 *     x = XIR_TRANSPOSE(b, x, 0, 3, 1, 2);
 *     x = XIR_RESHAPE(b, x, "NC", 1, -1); */
XIR_API xir_value *xir_reshape_short(xir_at at, xir_value *input, const char *layout, const int64_t *dims, size_t rank,
                                     const char *name);
#define XIR_RESHAPE(at, x, layout, ...)                                                                          \
    xir_reshape_short(xir_at_line((at), __FILE__, __LINE__), (x), (layout), (const int64_t[]){ __VA_ARGS__ },     \
                      sizeof((const int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t), NULL)
XIR_API xir_value *xir_transpose_short(xir_at at, xir_value *input, const int64_t *dims, size_t rank, const char *name);
#define XIR_TRANSPOSE(at, x, ...)                                                                                \
    xir_transpose_short(xir_at_line((at), __FILE__, __LINE__), (x), (const int64_t[]){ __VA_ARGS__ },             \
                        sizeof((const int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t), NULL)

/* Typed tags: false if there is none of that kind. */
XIR_API bool xir_tag_int(const xir_map *tags, const char *key, int64_t *out);
XIR_API bool xir_tag_real(const xir_map *tags, const char *key, double *out);
XIR_API bool xir_tag_bool(const xir_map *tags, const char *key, bool *out);
XIR_API bool xir_tag_text(const xir_map *tags, const char *key, xir_str *out);

XIR_END

#endif
