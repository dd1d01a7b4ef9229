/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Shorthands for building networks by hand. The functions take the cursor first and return the op's only output. After
 * a failure they return NULL, and the network keeps the failure: build on, and ask xir_network_status once.
 *
 *     xir_at b = XIR_AT(net);
 *     xir_value *x = xir_input(b, "image", type);
 *     x = XIR_CONV2D(b, .input = x, .weights = w, .pad = 1, .name = "conv1");
 *     x = XIR_RELU(b, x);
 *     x = XIR_OP(b, relu, .input = x, .attrs = XIR_ATTRS(relu, (alpha, 0.2)));
 *     x = XIR_MAX_POOL2D(b, .input = x, .k = 3, .stride = 2, .pad = 1);
 *     xir_output(b, XIR_VALUES(x));
 *     if (xir_network_status(net) != XIR_OK) …
 *
 * The macros are the same in C11 and C++17. C++ requires named arguments in the order of their declaration, except in
 * XIR_ATTRS. A `.name` names the op, and its output if the op has only one. */
#ifndef XIR_SUGAR_H
#define XIR_SUGAR_H

#include <xir/ops.h>

XIR_BEGIN

/* A cursor at the end of a network; the same cursor with the caller's source line. */
XIR_API xir_at xir_at_end(xir_network *net);
XIR_API xir_at xir_at_line(xir_at at, const char *file, int line);
#define XIR_AT(net) xir_at_line(xir_at_end(net), __FILE__, __LINE__)

/* The same cursor for a function that adds several ops: findings have the line of this call instead of lines in the
 * function. If such functions call each other, the outermost line is kept.
 *
 *     x = bottleneck(XIR_HERE(b), x, 64);
 */
XIR_API xir_at xir_at_fixed(xir_at at, const char *file, int line);
#define XIR_HERE(at) xir_at_fixed((at), __FILE__, __LINE__)

/* The same cursor for a part of the network: names get the prefix `scope`, "stem/", after the scope of the cursor. The
 * text is copied into the network. If memory runs out, the cursor is returned unchanged and the network keeps the
 * failure. */
XIR_API xir_at xir_at_scope(xir_at at, const char *scope);

/* The argument list as xir_values. In C++ it is valid until the end of the statement. */
#ifdef __cplusplus
#define XIR_VALUES(...) (xir_value_items_(__VA_ARGS__))
#else
#define XIR_VALUES(...)                                                                     \
    ((xir_values){ (xir_value *const[]){ __VA_ARGS__ },                                     \
                   sizeof((xir_value *const[]){ __VA_ARGS__ }) / sizeof(xir_value *) })
#endif

/* Used by the macros below. XIR_ARGS_ makes an argument struct and gives its address. XIR_INTS_ makes two arguments, a
 * list of integers and its length. */
#ifdef __cplusplus
#define XIR_ARGS_(type, ...) xir_address_of_(__extension__ type{ __VA_ARGS__ })
#define XIR_INTS_(...)       xir_int_items_{ __VA_ARGS__ }.begin(), sizeof(xir_count_(__VA_ARGS__))
#else
#define XIR_ARGS_(type, ...) &(type){ __VA_ARGS__ }
#define XIR_INTS_(...) \
    (const int64_t[]){ __VA_ARGS__ }, sizeof((const int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t)
#endif

/* Adds any op, of the library or of your own list, by the id in its list. The named arguments are its inputs, .attrs
 * and .name. Returns the first output, or NULL after a failure. An input that is left out is absent; without .attrs,
 * all attributes have their defaults. */
#define XIR_OP(at, id, ...) \
    xir_make_##id(xir_at_line((at), __FILE__, __LINE__), XIR_ARGS_(xir_##id##_call, __VA_ARGS__))

/* The address of an attribute struct with the attributes that are named, up to 16, and the defaults of all others. It
 * is valid until the end of the block in C, until the end of the statement in C++, and so are lists in it.
 *
 *     XIR_ATTRS(transpose, (dims, XIR_I64S(0, 2, 1)), (layout, letters)) */
#ifdef __cplusplus
#define XIR_ATTRS(id, ...)                                                                                         \
    ((xir_with_<xir_##id##_attrs>{ xir_##id##_init() } XIR_EACH_(XIR_GIVEN_, id, __VA_ARGS__)).address())
#define XIR_I64S(...)      (xir_i64s{ XIR_INTS_(__VA_ARGS__) })
#else
#define XIR_ATTRS(id, ...)                                                                                            \
    ((const xir_##id##_attrs *)xir_with_((xir_##id##_attrs[]){ xir_##id##_init() },                                   \
                                         &(const xir_##id##_attrs){ XIR_EACH_(XIR_GIVEN_, id, __VA_ARGS__) },         \
                                         (const xir_piece_[]){ XIR_EACH_(XIR_PIECE_, id, __VA_ARGS__) },              \
                                         XIR_COUNT_(__VA_ARGS__)))
#define XIR_I64S(...)      ((xir_i64s){ XIR_INTS_(__VA_ARGS__) })
#endif

/* An Input op with one output, which is returned; or with several, as the outputs of the op, which is returned. */
XIR_API xir_value *xir_input(xir_at at, const char *name, const xir_type *type);
XIR_API xir_op    *xir_inputs(xir_at at, const char *name, const xir_type *const *types, size_t n);
XIR_API xir_op    *xir_output(xir_at at, xir_values values);
/* Params without bytes, see xir_params_new; their name is in the cursor's scope, as those of ops are. */
XIR_API xir_value *xir_build_params(xir_at at, const char *name, const xir_type *type);

/* The original's shorthand constructors, with one number for both axes. A member that is zero or left out has the
 * class's default. */
typedef struct xir_conv2d_args {
    xir_value  *input XIR_ZERO_, *weights XIR_ZERO_, *bias XIR_ZERO_;
    int64_t     stride XIR_ZERO_, pad XIR_ZERO_, dilation XIR_ZERO_, groups XIR_ZERO_;
    const char *name XIR_ZERO_;
} xir_conv2d_args;
XIR_API xir_value *xir_build_conv2d(xir_at at, const xir_conv2d_args *args);
#define XIR_CONV2D(at, ...) \
    xir_build_conv2d(xir_at_line((at), __FILE__, __LINE__), XIR_ARGS_(xir_conv2d_args, __VA_ARGS__))

typedef struct xir_pool2d_args {
    xir_value  *input XIR_ZERO_;
    int64_t     k XIR_ZERO_, stride XIR_ZERO_, pad XIR_ZERO_, dilation XIR_ZERO_;
    const char *name XIR_ZERO_;
} xir_pool2d_args;
/* The maximum of each k x k window. */
XIR_API xir_value *xir_build_max_pool2d(xir_at at, const xir_pool2d_args *args);
#define XIR_MAX_POOL2D(at, ...) \
    xir_build_max_pool2d(xir_at_line((at), __FILE__, __LINE__), XIR_ARGS_(xir_pool2d_args, __VA_ARGS__))

/* The average of each window without its padding. `dilation` is ignored: average pooling has none. */
XIR_API xir_value *xir_build_avg_pool2d(xir_at at, const xir_pool2d_args *args);
#define XIR_AVG_POOL2D(at, ...) \
    xir_build_avg_pool2d(xir_at_line((at), __FILE__, __LINE__), XIR_ARGS_(xir_pool2d_args, __VA_ARGS__))

/* Attribute structs with one number for both axes, for xir_add_conv2d and xir_add_max_pool2d. */
XIR_API xir_conv2d_attrs     xir_conv2d_attrs_square(int64_t stride, int64_t pad, int64_t dilation, int64_t groups);
XIR_API xir_max_pool2d_attrs xir_max_pool2d_attrs_square(int64_t k, int64_t stride, int64_t pad, int64_t dilation);

/* max(x, 0). */
XIR_API xir_value *xir_build_relu(xir_at at, xir_value *input, const char *name);
#define XIR_RELU(at, x) xir_build_relu(xir_at_line((at), __FILE__, __LINE__), (x), NULL)
/* alpha * lhs + beta * rhs, with one factor each. */
XIR_API xir_value *xir_build_add(xir_at at, xir_value *lhs, xir_value *rhs, double alpha, double beta,
                                 const char *name);
XIR_API xir_value *xir_build_cast(xir_at at, xir_value *input, const xir_type *target, const char *name);

/* A reshape to dims, one of which may be -1, with a layout as text, "NC"; and a transposition, whose layout is the
 * input's with its axes in the new order.
 *
 *     x = XIR_TRANSPOSE(b, x, 0, 3, 1, 2);
 *     x = XIR_RESHAPE(b, x, "NC", 1, -1); */
XIR_API xir_value *xir_build_reshape(xir_at at, xir_value *input, const char *layout, const int64_t *dims, size_t rank,
                                     const char *name);
#define XIR_RESHAPE(at, x, layout, ...) \
    xir_build_reshape(xir_at_line((at), __FILE__, __LINE__), (x), (layout), XIR_INTS_(__VA_ARGS__), NULL)
XIR_API xir_value *xir_build_transpose(xir_at at, xir_value *input, const int64_t *dims, size_t rank, const char *name);
#define XIR_TRANSPOSE(at, x, ...) \
    xir_build_transpose(xir_at_line((at), __FILE__, __LINE__), (x), XIR_INTS_(__VA_ARGS__), NULL)

/* Typed tags. They return false if there is no tag of that kind. */
XIR_API bool xir_tag_int(const xir_map *tags, const char *key, int64_t *out);
XIR_API bool xir_tag_real(const xir_map *tags, const char *key, double *out);
XIR_API bool xir_tag_bool(const xir_map *tags, const char *key, bool *out);
XIR_API bool xir_tag_text(const xir_map *tags, const char *key, xir_str *out);

XIR_END

/* ---- what XIR_ATTRS is made of ----------------------------------------------------------------------------------- */

/* XIR_EACH_(f, id, (a, 1), (b, 2)) is f(id, (a, 1)) f(id, (b, 2)). */
#define XIR_COUNT_(...) XIR_17TH_(__VA_ARGS__, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define XIR_17TH_(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, ...) q
#define XIR_JOIN_(a, b)  XIR_JOIN2_(a, b)
#define XIR_JOIN2_(a, b) a##b
#define XIR_EACH_(f, id, ...)       XIR_JOIN_(XIR_EACH_, XIR_COUNT_(__VA_ARGS__))(f, id, __VA_ARGS__)
#define XIR_EACH_1(f, id, a)        f(id, a)
#define XIR_EACH_2(f, id, a, ...)  f(id, a) XIR_EACH_1(f, id, __VA_ARGS__)
#define XIR_EACH_3(f, id, a, ...)  f(id, a) XIR_EACH_2(f, id, __VA_ARGS__)
#define XIR_EACH_4(f, id, a, ...)  f(id, a) XIR_EACH_3(f, id, __VA_ARGS__)
#define XIR_EACH_5(f, id, a, ...)  f(id, a) XIR_EACH_4(f, id, __VA_ARGS__)
#define XIR_EACH_6(f, id, a, ...)  f(id, a) XIR_EACH_5(f, id, __VA_ARGS__)
#define XIR_EACH_7(f, id, a, ...)  f(id, a) XIR_EACH_6(f, id, __VA_ARGS__)
#define XIR_EACH_8(f, id, a, ...)  f(id, a) XIR_EACH_7(f, id, __VA_ARGS__)
#define XIR_EACH_9(f, id, a, ...)  f(id, a) XIR_EACH_8(f, id, __VA_ARGS__)
#define XIR_EACH_10(f, id, a, ...) f(id, a) XIR_EACH_9(f, id, __VA_ARGS__)
#define XIR_EACH_11(f, id, a, ...) f(id, a) XIR_EACH_10(f, id, __VA_ARGS__)
#define XIR_EACH_12(f, id, a, ...) f(id, a) XIR_EACH_11(f, id, __VA_ARGS__)
#define XIR_EACH_13(f, id, a, ...) f(id, a) XIR_EACH_12(f, id, __VA_ARGS__)
#define XIR_EACH_14(f, id, a, ...) f(id, a) XIR_EACH_13(f, id, __VA_ARGS__)
#define XIR_EACH_15(f, id, a, ...) f(id, a) XIR_EACH_14(f, id, __VA_ARGS__)
#define XIR_EACH_16(f, id, a, ...) f(id, a) XIR_EACH_15(f, id, __VA_ARGS__)

#ifndef __cplusplus
#include <string.h>

/* A member of a struct. */
typedef struct xir_piece_ { size_t offset, size; } xir_piece_;
#define XIR_GIVEN_(id, pair)        XIR_GIVEN2_ pair
#define XIR_GIVEN2_(member, ...)    .member = __VA_ARGS__,
#define XIR_PIECE_(id, pair)        XIR_PIECE2_(id, XIR_MEMBER_ pair)
#define XIR_PIECE2_(id, member)     { offsetof(xir_##id##_attrs, member), sizeof((xir_##id##_attrs *)0)->member },
#define XIR_MEMBER_(member, ...)    member

/* Copies the members that are given over the defaults. */
static inline const void *xir_with_(void *defaults, const void *given, const xir_piece_ *pieces, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        memcpy((char *)defaults + pieces[i].offset, (const char *)given + pieces[i].offset, pieces[i].size);
    }
    return defaults;
}
#endif

/* ---- what the macros need in C++, which has no compound literals ---------------------------------------------- */

#ifdef __cplusplus
#include <initializer_list>

using xir_int_items_ = std::initializer_list<int64_t>;
template <class... T> char (&xir_count_(const T &...))[sizeof...(T)];   /* never called; its size is the count */

template <class... V> struct xir_values_of_ {
    xir_value *items[sizeof...(V)];
    operator xir_values() const { return xir_values{ items, sizeof...(V) }; }
};
template <class... V> inline xir_values_of_<V...> xir_value_items_(V *...values) { return { { values... } }; }
template <class T> inline const T *xir_address_of_(const T &args) { return &args; }

#define XIR_GIVEN_(id, pair)     XIR_GIVEN2_(id, XIR_MEMBER_ pair, XIR_VALUE_ pair)
#define XIR_GIVEN2_(id, ...)     XIR_GIVEN3_(id, __VA_ARGS__)
#define XIR_GIVEN3_(id, member, ...) .set(&xir_##id##_attrs::member, __VA_ARGS__)
#define XIR_MEMBER_(member, ...) member
#define XIR_VALUE_(member, ...)  __VA_ARGS__
template <class M> struct xir_same_ { using type = M; };
template <class T> struct xir_with_ {
    T made;
    template <class M> xir_with_ &set(M T::*member, const typename xir_same_<M>::type &value)
    {
        made.*member = value;
        return *this;
    }
    const T *address() const { return &made; }
};

#undef  XIR_TENSOR
#define XIR_TENSOR(ctx, element, layout, ...) xir_type_tensor_text((ctx), (element), (layout), XIR_INTS_(__VA_ARGS__))
#endif

#endif
