/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Results that depend on the bytes of constants: how numbers are read, and that results are not cached for other
 * bytes. */
#include <inttypes.h>
#include <stdio.h>
#include <xir/icraft.h>
#include "support/net.h"
#include "support/scratch.h"

/* A network whose Input does not matter. */
static xir_network *net;

static int begin_net(void **state) {
    (void)state;
    net = new_net();
    return xir_input(XIR_AT(net), "in", FP32("C", 1)) ? 0 : -1;
}

static int end_net(void **state) {
    (void)state;
    xir_network_free(net);
    return 0;
}

/* Elements of `width` bytes each, the low bytes of the numbers. */
static xir_value *constant(const xir_type *element, const int64_t *dims, size_t rank, size_t width,
                           const uint64_t *bits, size_t n) {
    uint8_t bytes[8 * 300];
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < width; k++) bytes[i * width + k] = (uint8_t)(bits[i] >> (8 * k));
    }
    xir_value *v = xir_params_copy(net, XIR_STR("c"), xir_type_tensor(ctx, element, NULL, dims, rank),
                                   bytes, n * width);
    assert_non_null(v);
    return v;
}

static xir_value *one(const xir_type *element, size_t width, uint64_t bits) {
    return constant(element, NULL, 0, width, &bits, 1);
}

static xir_value *list(const xir_type *element, size_t width, const uint64_t *bits, size_t n) {
    return constant(element, &(int64_t){ (int64_t)n }, 1, width, bits, n);
}

/* ---- reals: the number of steps from 0 to a limit ---------------------------------------------------------------- */

enum { REFUSED = -2, UNKNOWN = -1 };

static int64_t count_to(xir_float_format format, size_t width, uint64_t limit, uint64_t unit) {
    const xir_type *element = xir_type_float(ctx, format);
    const xir_op *op = xir_add_range(XIR_AT(net), (xir_range_in){ one(element, width, 0), one(element, width, limit),
                                                                  one(element, width, unit), 0 }, NULL);
    xir_network_clear_status(net);
    if (!op) return REFUSED;
    int64_t dim = xir_type_dim(xir_value_type(xir_op_output(op, 0)), 0, false);
    return dim < 0 ? UNKNOWN : dim;
}

static void floats_of_every_format(void **state) {
    (void)state;
    static const struct { xir_float_format format; size_t width; uint64_t unit, limit; int64_t count; } rows[] = {
        { XIR_FLOAT_FP16, 2, 0x3C00, 0x4000, 2 },                 /* 2                                      */
        { XIR_FLOAT_FP16, 2, 0x3C00, 0x3C01, 2 },                 /* a bit more than 1                      */
        { XIR_FLOAT_FP16, 2, 0x3C00, 0x3BFF, 1 },                 /* a bit less                             */
        { XIR_FLOAT_FP16, 2, 0x3C00, 0x7BFF, 65504 },             /* the greatest                           */
        { XIR_FLOAT_FP16, 2, 0x3C00, 0x0001, 1 },                 /* the least above 0                      */
        { XIR_FLOAT_FP16, 2, 0x0001, 0x03FF, 1023 },              /* subnormal ones                         */
        { XIR_FLOAT_FP16, 2, 0x0001, 0x0400, 1024 },              /* the first normal one                   */
        { XIR_FLOAT_FP16, 2, 0x3C00, 0x8000, 0 },                 /* -0                                     */
        { XIR_FLOAT_FP16, 2, 0x3C00, 0xC000, 0 },                 /* -2                                     */
        { XIR_FLOAT_FP16, 2, 0xBC00, 0xC000, 2 },                 /* -2 by -1                               */
        { XIR_FLOAT_FP16, 2, 0x3C00, 0xFC00, 0 },                 /* -inf                                   */
        { XIR_FLOAT_FP16, 2, 0x3C00, 0x7C00, REFUSED },           /* inf                                    */
        { XIR_FLOAT_FP16, 2, 0x3C00, 0x7E00, REFUSED },           /* nan                                    */
        { XIR_FLOAT_FP16, 2, 0x8000, 0x4000, REFUSED },           /* by -0                                  */
        { XIR_FLOAT_BF16, 2, 0x3F80, 0x4040, 3 },                 /* 3                                      */
        { XIR_FLOAT_BF16, 2, 0x3F80, 0x3F81, 2 },                 /* a bit more than 1                      */
        { XIR_FLOAT_BF16, 2, 0x3F80, 0x7FC0, REFUSED },           /* nan                                    */
        { XIR_FLOAT_TF32, 4, 0x3F800000, 0x40400000, 3 },         /* 3                                      */
        { XIR_FLOAT_FP32, 4, 0x3F800000, 0x3F800001, 2 },         /* a bit more than 1                      */
        { XIR_FLOAT_FP32, 4, 0x3F800000, 0x5EFFFFFF, INT64_C(9223371487098961920) },   /* the last below 2^63 */
        { XIR_FLOAT_FP32, 4, 0x3F800000, 0x5F000000, REFUSED },   /* 2^63                                   */
        { XIR_FLOAT_FP64, 8, 0x3FF0000000000000, 0x4008000000000000, 3 },              /* 3                  */
        { XIR_FLOAT_FP64, 8, 0x3FF0000000000000, 0x3FF0000000000001, 2 },              /* a bit more than 1  */
        { XIR_FLOAT_FP64, 8, 0x0000000000000001, 0x3FF0000000000000, REFUSED },        /* more than int64    */
        { XIR_FLOAT_FPE7M8, 2, 0x3F00, 0x4000, 2 },
        { XIR_FLOAT_FPE6M9, 2, 0x3E00, 0x4000, 2 },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        int64_t found = count_to(rows[i].format, rows[i].width, rows[i].limit, rows[i].unit);
        if (found != rows[i].count)
            fail_msg("row %zu: %" PRId64 " was expected, found %" PRId64, i, rows[i].count, found);
    }
}

/* ---- integers: a tensor of that shape ---------------------------------------------------------------------------- */

static xir_op *filled(xir_value *shape) {
    return xir_add_constant_of_shape(XIR_AT(net), (xir_constant_of_shape_in){ shape, 0 }, NULL);
}

static const int64_t *dims_of(const xir_op *op) {
    assert_non_null(op);
    return xir_type_as_tensor(xir_value_type(xir_op_output(op, 0)))->shape.data;
}

static void integers_of_every_width(void **state) {
    (void)state;
    static const uint8_t zeros[18];
    for (int64_t bits = 1; bits <= 72; bits++) {
        bool whole = bits % 8 == 0 && bits <= 64, read = bits <= 64;
        for (int sign = 0; sign < 2; sign++) {
            const xir_type *element = sign ? xir_type_sint(ctx, bits) : xir_type_uint(ctx, bits);
            const xir_type *type = xir_type_tensor(ctx, element, NULL, (const int64_t[]){ 2 }, 1);
            xir_value *shape = whole ? list(element, (size_t)bits / 8, (const uint64_t[]){ 5, 100 }, 2)
                                     : xir_params_copy(net, XIR_STR("c"), type, zeros, (size_t)(2 * bits + 7) / 8);
            assert_non_null(shape);
            const int64_t *dims = dims_of(filled(shape));
            assert_int_equal(dims[0], whole ? 5 : read ? 0 : -1);
            assert_int_equal(dims[1], whole ? 100 : read ? 0 : -1);
        }
    }
}

static void signs_are_extended(void **state) {
    (void)state;
    for (int64_t bits = 8; bits <= 64; bits += 8) {
        const uint64_t top = UINT64_C(1) << (bits - 1), minus_one = top | (top - 1);
        xir_value *negative = list(xir_type_sint(ctx, bits), (size_t)bits / 8, &minus_one, 1);
        char part[60];
        REFUSES_NULL(net, filled(negative), XIR_E_INVALID, "dim 0 is -1: expected at least 0");
        snprintf(part, sizeof part, "dim 0 is %" PRId64, bits == 64 ? INT64_MIN : -(int64_t)top);
        REFUSES_NULL(net, filled(list(xir_type_sint(ctx, bits), (size_t)bits / 8, &top, 1)), XIR_E_INVALID, part);
        if (bits == 64)
            REFUSES_NULL(net, filled(list(xir_type_uint(ctx, bits), 8, &top, 1)), XIR_E_LIMIT, "exceeds int64");
        else assert_int_equal(dims_of(filled(list(xir_type_uint(ctx, bits), (size_t)bits / 8, &top, 1)))[0], top);
    }
}

static void as_many_as_are_read(void **state) {
    (void)state;
    uint64_t ones[257];
    for (size_t i = 0; i < COUNT(ones); i++) ones[i] = 1 + i % 2;
    const xir_op *op = filled(list(xir_type_sint(ctx, 64), 8, ones, 256));
    assert_int_equal(xir_type_rank(xir_value_type(xir_op_output(op, 0))), 256);
    assert_int_equal(dims_of(op)[255], 2);
    REFUSES_NULL(net, filled(list(xir_type_sint(ctx, 64), 8, ones, 257)), XIR_E_LIMIT, "257 dims");
    /* Constants of more than 256 indices are not checked. */
    uint64_t far[257] = { 1000 };
    xir_value *data = xir_params_new(net, XIR_STR("d"), FP32("NC", 5, 4));
    xir_gather_in checked = { data, list(xir_type_sint(ctx, 64), 8, far, 256), 0 };
    REFUSES_NULL(net, xir_add_gather(XIR_AT(net), checked, NULL), XIR_E_BOUNDS,
                 "index 1000 is outside an axis of 5 elements");
    xir_gather_in unchecked = { data, list(xir_type_sint(ctx, 64), 8, far, 257), 0 };
    assert_non_null(xir_add_gather(XIR_AT(net), unchecked, NULL));
}

/* ---- other bytes give other results ------------------------------------------------------------------------------ */

static void answers_are_not_reused_for_other_bytes(void **state) {
    (void)state;
    const xir_type *i64 = xir_type_sint(ctx, 64), *type = xir_type_tensor(ctx, i64, NULL, (const int64_t[]){ 2 }, 1);
    xir_value *none = xir_params_new(net, XIR_STR("none"), type);
    xir_value *a = list(i64, 8, (const uint64_t[]){ 1, 2 }, 2), *b = list(i64, 8, (const uint64_t[]){ 3, 4 }, 2);
    xir_op *ops[] = { filled(none), filled(a), filled(b), filled(none), filled(a) };
    static const int64_t expected[] = { -1, 1, 3, -1, 1 };
    for (size_t i = 0; i < COUNT(ops); i++) assert_int_equal(dims_of(ops[i])[0], expected[i]);

    DOES(xir_params_set_copy(a, (const int64_t[]){ 7, 8 }, 16));
    DOES(xir_op_infer(ops[1], true));
    assert_int_equal(dims_of(ops[1])[1], 8);
    xir_params_clear(a);
    DOES(xir_op_infer(ops[1], true));
    assert_int_equal(dims_of(ops[1])[1], -1);

    /* The same holds for validation: it depends on the bytes. */
    DOES(xir_params_set_copy(b, (const int64_t[]){ 7, -8 }, 16));
    xir_diags_clear(why);
    assert_int_equal(xir_op_validate(ops[0], why), XIR_OK);
    assert_int_equal(xir_op_validate(ops[2], why), XIR_E_INVALID);
    check_finding(XIR_E_INVALID, "dim 1 is -8");
    assert_int_equal(xir_network_validate(net, why), XIR_E_INVALID);
}

static void mapped_bytes_are_read(void **state) {
    (void)state;
    const xir_type *i64 = xir_type_sint(ctx, 64);
    xir_op *op = filled(list(i64, 8, (const uint64_t[]){ 6, 7 }, 2));
    xir_output(XIR_AT(net), XIR_VALUES(xir_op_output(op, 0)));
    DOES(xir_json_raw_save(net, scratch("shape.json"), NULL, 0, why));
    xir_network *back = xir_json_load(ctx, scratch("shape.json"), why);
    assert_non_null(back);
    xir_op *same = xir_network_next_of_class(back, NULL, xir_constant_of_shape_class());
    DOES(xir_op_infer(same, true));
    assert_int_equal(dims_of(same)[1], -1);
    DOES(xir_raw_load(back, scratch("shape.raw"), XIR_LOAD_LAZY, why));
    assert_true(xir_params_is_lazy(xir_op_input(same, 0)));
    DOES(xir_op_infer(same, true));
    assert_int_equal(dims_of(same)[1], 7);
    assert_true(xir_params_is_lazy(xir_op_input(same, 0)));
    assert_true(xir_network_equal(net, back, true));
    xir_network_free(back);
}

GROUP {
    scratch_make();
#define TEST(f) cmocka_unit_test_setup_teardown(f, begin_net, end_net)
    const struct CMUnitTest tests[] = {
        TEST(floats_of_every_format), TEST(integers_of_every_width), TEST(signs_are_extended), TEST(as_many_as_are_read),
        TEST(answers_are_not_reused_for_other_bytes), TEST(mapped_bytes_are_read),
    };
    return RUN_GROUP(tests);
}
