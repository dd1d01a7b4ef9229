/* Products large enough to be split into blocks with edges at any position: integers are computed by the formula,
 * reals by panels. For small integers both are exact, so the results must be equal; and Einsum, which does not use
 * matrix products, must give the same as Matmul. */
#include <stdio.h>
#include <xir/exec.h>
#include "support/net.h"
#include "support/often.h"

enum { CASES = OFTEN(60), MOST_RANK = 5 };

static int64_t from_to(int64_t low, int64_t high) { return low + (int64_t)chance((uint64_t)(high - low + 1)); }

/* Integers from -9 to 9, the same for each type of the same size. */
static xir_array *numbers(const xir_type *type, uint64_t seed) {
    xir_array *array = xir_array_new(ctx, type, why);
    assert_non_null(array);
    const xir_float_type *real = xir_float_type_of((const xir_object *)xir_type_element(type));
    void *out = xir_array_edit(array);
    for (size_t i = 0; i < xir_array_count(array); i++) {
        seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
        int64_t v = (int64_t)(seed >> 33) % 19 - 9;
        if (real) ((double *)out)[i] = (double)v;
        else ((int64_t *)out)[i] = v;
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
    if (xir_op_run(op, (const xir_array *const *)in, n, &out, 1, why)) xir_diags_print(why, stderr);
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
    for (int i = 0; i < CASES; i++) {
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
    for (int i = 0; i < CASES; i++) {
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matrices),
        cmocka_unit_test(convolutions),
    };
    return RUN_GROUP(tests);
}
