/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Products large enough to be split into blocks with edges at any position: integers of 64 bits are computed by the
 * formula, reals and narrow integers by panels. For small integers both are exact, so the results must be equal; and
 * Einsum, which does not use matrix products for wide integers, must give the same as Matmul. Integers of few bits
 * give what wide ones give, wrapped to the width of the output, on each path and for any number of threads. */
#include <stdio.h>
#include <stdlib.h>
#include <xir/exec.h>
#include "gemm_paths.h"
#include "support/again.h"
#include "support/net.h"
#include "support/often.h"

enum { CASES = OFTEN(60), MOST_RANK = 5 };

static int64_t from_to(int64_t low, int64_t high) { return low + (int64_t)chance((uint64_t)(high - low + 1)); }

static const xir_type *drawn_as;   /* integers: in whose range numbers are drawn; NULL: from -9 to 9 */

static void put_integer(void *out, unsigned bits, size_t i, int64_t v) {
    if (bits % 8 == 0) {   /* the lowest bytes come first, as on all machines of XIR */
        memcpy((uint8_t *)out + i * (bits / 8), &v, bits / 8);
        return;
    }
    for (unsigned k = 0; k < bits; k++) {
        const size_t at = i * bits + k;
        const uint8_t mask = (uint8_t)(1u << at % 8);
        uint8_t *byte = (uint8_t *)out + at / 8;
        *byte = (uint8_t)((uint64_t)v >> k & 1 ? *byte | mask : *byte & ~mask);
    }
}

/* Integers, the same for each type of the same size. */
static xir_array *numbers(const xir_type *type, uint64_t seed) {
    xir_array *array = xir_array_new(ctx, type, why);
    assert_non_null(array);
    const xir_float_type *real = xir_float_type_of((const xir_object *)xir_type_element(type));
    void *out = xir_array_edit(array);
    for (size_t i = 0; i < xir_array_count(array); i++) {
        seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
        int64_t v = (int64_t)(seed >> 33) % 19 - 9;
        if (drawn_as) {
            const unsigned bits = (unsigned)xir_type_storage_bits(drawn_as);
            const bool is_signed = xir_integer_type_of(xir_type_object(drawn_as))->sign;
            v = (int64_t)(seed >> 5 & ((UINT64_C(1) << bits) - 1)) - (is_signed ? INT64_C(1) << (bits - 1) : 0);
        }
        if (real) ((double *)out)[i] = (double)v;
        else put_integer(out, (unsigned)xir_type_storage_bits(xir_type_element(type)), i, v);
    }
    return array;
}

/* Runs an op of this class over numbers of these types, with the element type replaced; NULL: absent. */
static xir_array *run(const xir_class_decl *decl, const void *attrs, const char *const *layouts,
                      int64_t dims[][MOST_RANK], const size_t *ranks, size_t n, const xir_type *element) {
    xir_network *net = new_net();
    const xir_type *types[3];
    xir_array *in[3], *out = NULL;
    for (size_t i = 0; i < n; i++) {
        types[i] = xir_type_tensor_text(ctx, element, layouts[i], dims[i], ranks[i]);
        in[i] = numbers(types[i], i + 1);
    }
    xir_op *input = xir_inputs(XIR_AT(net), "in", types, n);
    xir_value *values[3];
    for (size_t i = 0; i < n; i++) values[i] = xir_op_output(input, (int64_t)i);
    xir_op *op = xir_network_add(net, &XIR_INIT(xir_op_desc, .cls = xir_class_find_decl(ctx, decl), .attrs = attrs,
                                                .inputs = values, .n_inputs = n,
                                                      .id = XIR_NO_ID));
    if (!op) xir_diags_print(xir_network_diags(net), stderr);
    assert_non_null(op);
    if (xir_op_run(op, (const xir_array *const *)in, n, &out, 1, NULL, why)) xir_diags_print(why, stderr);
    assert_non_null(out);
    for (size_t i = 0; i < n; i++) xir_array_free(in[i]);
    xir_network_free(net);
    return out;
}

static void check_same(xir_array *a, xir_array *b, const char *what, int i) {
    xir_difference d;
    assert_int_equal(xir_array_compare(a, b, 0, 0, &d), XIR_OK);
    if (!d.same_shape || d.count) {
        fail_msg("%s %d: %zu elements differ, the first is %zu: %g and %g", what, i, d.count, d.first, d.a, d.b);
    }
    xir_array_free(a);
    xir_array_free(b);
}

static void matrices(void **state) {
    (void)state;
    static const char *const layouts[] = { "**", "**", "*" }, *const batched[] = { "****", "***", "*" };
    for (int i = 0, n_cases = (int)again_cases(CASES); i < n_cases; i++) {
        int64_t rows = from_to(1, 150), depth = from_to(1, i % 3 ? 40 : 700), columns = from_to(1, 40);
        int64_t a = from_to(1, 3), b = from_to(1, 3);
        int64_t plain[][MOST_RANK] = { { rows, depth }, { depth, columns }, { columns } };
        int64_t many[][MOST_RANK] = { { a, 1, rows, depth }, { b, depth, columns }, { columns } };
        const size_t ranks[] = { 2, 2, 1 }, more[] = { 4, 3, 1 };
        const xir_type *f64 = xir_type_float(ctx, XIR_FLOAT_FP64), *i64 = xir_type_sint(ctx, 64);
        const size_t n = i % 2 ? 3 : 2;
        const xir_class_decl *matmul = xir_matmul_class(), *einsum = xir_einsum_class();
        check_same(run(matmul, NULL, layouts, plain, ranks, n, f64), run(matmul, NULL, layouts, plain, ranks, n, i64),
                   "matrix", i);
        check_same(run(matmul, NULL, batched, many, more, n, f64), run(matmul, NULL, batched, many, more, n, i64),
                   "matrices", i);
        if (n == 3) continue;
        const xir_einsum_attrs *sum = XIR_ATTRS(einsum, (equation, XIR_STR("xyij,yjk->xyik")));
        many[0][1] = b;
        check_same(run(matmul, NULL, batched, many, more, 2, f64), run(einsum, sum, batched, many, more, 2, i64),
                   "einsum", i);
    }
}

static void convolutions(void **state) {
    (void)state;
    for (int i = 0, n_cases = (int)again_cases(CASES); i < n_cases; i++) {
        const bool first = i % 2, transposed = i % 5 == 0;
        const char *const layouts[] = { first ? "NCHW" : "NHWC", transposed ? "HWOI" : first ? "OIHW" : "HWIO", "O" };
        int64_t size = from_to(1, 3), groups = from_to(1, 2), in = from_to(1, 40), out = from_to(1, 20);
        int64_t h = from_to(3, 14), w = from_to(3, 14);
        int64_t x = in * groups, o = out * (transposed ? 1 : groups), k = transposed ? x : in;
        int64_t dims[][MOST_RANK] = { { 2, first ? x : h, first ? h : w, first ? w : x }, { size, size, k, o },
                                      { out * groups } };
        if (transposed) dims[1][2] = o, dims[1][3] = k;
        else if (first) dims[1][0] = o, dims[1][1] = k, dims[1][2] = dims[1][3] = size;
        const size_t ranks[] = { 4, 4, 1 };
        xir_conv2d_attrs a = xir_conv2d_attrs_square(from_to(1, 2), from_to(0, 2), 1, groups);
        const xir_conv_transpose2d_attrs *t = XIR_ATTRS(conv_transpose2d, (stride_width, 2), (pad_left, 1),
                                                        (dilation_height, 2), (groups, groups));
        const xir_class_decl *decl = transposed ? xir_conv_transpose2d_class() : xir_conv2d_class();
        const void *attrs = transposed ? (const void *)t : &a;
        check_same(run(decl, attrs, layouts, dims, ranks, 3, xir_type_float(ctx, XIR_FLOAT_FP64)),
                   run(decl, attrs, layouts, dims, ranks, 3, xir_type_sint(ctx, 64)), "convolution", i);
    }
}

/* ---- narrow integers --------------------------------------------------------------------------------------------- */

/* An integer as an element of this type reads it. */
static int64_t wrapped(const xir_type *element, int64_t v) {
    const unsigned bits = (unsigned)xir_type_storage_bits(element);
    if (bits == 64) return v;
    const uint64_t low = (uint64_t)v & ((UINT64_C(1) << bits) - 1);
    const xir_integer_type *type = xir_integer_type_of(xir_type_object(element));
    return (int64_t)(type->sign && low >> (bits - 1) ? low | ~UINT64_C(0) << bits : low);
}

static void check_wrapped(xir_array *wide, xir_array *narrow, const char *what, int i) {
    const xir_type *element = xir_type_element(xir_array_type(narrow));
    assert_int_equal(xir_array_count(wide), xir_array_count(narrow));
    for (size_t k = 0; k < xir_array_count(wide); k++) {
        int64_t a, b;
        assert_int_equal(xir_array_i64s(wide, k, 1, &a), XIR_OK);
        assert_int_equal(xir_array_i64s(narrow, k, 1, &b), XIR_OK);
        if (wrapped(element, a) != b)
            fail_msg("%s %d: element %zu is %lld, expected %lld of %lld", what, i, k, (long long)b,
                     (long long)wrapped(element, a), (long long)a);
    }
    xir_array_free(wide);
    xir_array_free(narrow);
}

static void narrow_integers(void **state) {
    (void)state;
    static const char *const layouts[] = { "***", "***", "*" }, *const threads[] = { "1", "2", "7" };
    const xir_type *i64 = xir_type_sint(ctx, 64),
                   *types[] = { xir_type_sint(ctx, 8), xir_type_uint(ctx, 8), xir_type_sint(ctx, 16),
                                xir_type_uint(ctx, 16), xir_type_sint(ctx, 4), xir_type_sint(ctx, 32) };
    for (int i = 0, n_cases = (int)again_cases(2 * CASES); i < n_cases; i++) {
        const xir_type *type = types[(size_t)i % COUNT(types)];
        const gemm_path *path = gemm_path_at(chance(2));
        const size_t ranks[] = { 3, 3, 1 }, n = i % 4 ? 2 : 3;
        const int64_t a = from_to(1, 3), rows = from_to(1, 40), depth = from_to(0, i % 3 ? 40 : 500),
                      columns = from_to(1, 50);
        int64_t dims[][MOST_RANK] = { { a, rows, depth }, { a, depth, columns }, { columns } };
        const xir_einsum_attrs *sum = XIR_ATTRS(einsum, (equation, XIR_STR("xij,xjk->xki")));
        const bool by_einsum = i % 5 == 0 && n == 2;
        const xir_class_decl *cls = by_einsum ? xir_einsum_class() : xir_matmul_class();
        const void *attrs = by_einsum ? sum : NULL;
        const bool image = i % 2, first = i % 4 == 1, alone = i % 3 == 0;
        const int64_t groups = alone ? from_to(2, 30) : from_to(1, 2), in = alone ? 1 : from_to(1, 20),
                      out = alone ? 1 : from_to(1, 9), h = from_to(3, 9), w = from_to(3, 30), size = from_to(1, 3);
        const char *const maps[] = { first ? "NCHW" : "NHWC", first ? "OIHW" : "HWIO", "O" };
        int64_t images[][MOST_RANK] = { { 2, first ? in * groups : h, first ? h : w, first ? w : in * groups },
                                        { first ? out * groups : size, first ? in : size, first ? size : in,
                                          first ? size : out * groups }, { out * groups } };
        const size_t map_ranks[] = { 4, 4, 1 };
        const xir_conv2d_attrs c = xir_conv2d_attrs_square(from_to(1, 2), from_to(0, 2), 1, groups);
        drawn_as = type;
        xir_array *wide = image ? run(xir_conv2d_class(), &c, maps, images, map_ranks, n, i64)
                                : run(cls, attrs, layouts, dims, ranks, n, i64);
        way_set(path ? path->name : "plain", threads[i % 3]);
        xir_array *narrow = image ? run(xir_conv2d_class(), &c, maps, images, map_ranks, n, type)
                                  : run(cls, attrs, layouts, dims, ranks, n, type);
        way_reset();
        drawn_as = NULL;
        check_wrapped(wide, narrow, image ? "convolution" : "matrix", i);
    }
}

/* The widest integers that are multiplied in double, and the narrowest that are not. */
static void exact_sums(void **state) {
    (void)state;
    static const char *const layouts[] = { "**", "**" };
    const size_t ranks[] = { 2, 2 };
    for (unsigned bits = 20; bits < 33; bits++) {
        int64_t dims[][MOST_RANK] = { { 5, 300 }, { 300, 30 } };
        const xir_type *type = xir_type_uint(ctx, bits), *i64 = xir_type_sint(ctx, 64);
        drawn_as = type;
        xir_array *wide = run(xir_matmul_class(), NULL, layouts, dims, ranks, 2, i64),
                  *narrow = run(xir_matmul_class(), NULL, layouts, dims, ranks, 2, type);
        drawn_as = NULL;
        check_wrapped(wide, narrow, "bits", (int)bits);
    }
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matrices),
        cmocka_unit_test(convolutions),
        cmocka_unit_test(narrow_integers),
        cmocka_unit_test(exact_sums),
    };
    return RUN_GROUP(tests);
}
