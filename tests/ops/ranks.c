/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Types with more dims than any network has, as in a hostile file. Rules that would walk a tiled layout once for
 * each dim refuse them; everything else takes linear time. */
#include "support/net.h"

enum { MOST = 64, MANY = 50000 };

/* fp32 with `rank` dims of 1; tiled: the layout is C*…*c1. */
static const xir_type *wide(size_t rank, bool tiled) {
    char *text = malloc(rank + 1);
    int64_t *dims = malloc(rank * sizeof *dims);
    assert_true(text && dims);
    memset(text, '*', rank);
    for (size_t i = 0; i < rank; i++) dims[i] = 1;
    if (tiled) {
        text[0] = 'C';
        memcpy(text + rank - 1, "c1", 2);
    }
    const xir_layout *layout = xir_layout_parse(ctx, (xir_str){ text, rank + tiled }, why);
    const xir_type *type = xir_type_tensor(ctx, xir_type_float(ctx, XIR_FLOAT_FP32), layout, dims, rank);
    assert_true(layout && type);
    free(text);
    free(dims);
    return type;
}

/* Lists with one number for each dim. */
static xir_i64s all(size_t rank, int64_t v) {
    static int64_t lists[4][2 * MANY];
    static size_t  next;
    int64_t *list = lists[next++ % 4];
    for (size_t i = 0; i < rank; i++) list[i] = v;
    return (xir_i64s){ list, rank };
}
static xir_i64s upwards(size_t rank) {
    xir_i64s list = all(rank, 0);
    for (size_t i = 0; i < rank; i++) ((int64_t *)(uintptr_t)list.data)[i] = (int64_t)i;
    return list;
}

typedef union any_attrs {
    xir_slice_attrs slice; xir_split_attrs split; xir_roll_attrs roll; xir_swap_order_attrs swap; xir_pad_attrs pad;
    xir_concat_attrs concat; xir_transpose_attrs transpose; xir_reshape_attrs reshape;
} any_attrs;

/* Attributes with which each move leaves the type unchanged. */
static const xir_class_decl *move_of(size_t i, const xir_type *type, any_attrs *a) {
    static const int64_t one = 1, zero = 0;
    size_t rank = xir_type_rank(type);
    const xir_layout *layout = xir_type_layout(type);
#define IS(id, member, ...) a->member = *XIR_ATTRS(id, __VA_ARGS__); return xir_##id##_class()
    switch (i) {
    case 0: IS(slice,      slice,     (begin, all(rank, 0)), (end, all(rank, 1)), (stride, all(rank, 1)));
    case 1: IS(split,      split,     (sections, { &one, 1 }), (axis, 1));
    case 2: IS(roll,       roll,      (shifts, all(rank, 0)), (dims, upwards(rank)));
    case 3: IS(swap_order, swap,      (order, { &zero, 1 }), (axis, 1));
    case 4: IS(pad,        pad,       (padding, all(2 * rank, 0)), (value, xir_scalar_int(ctx, 0)));
    case 5: IS(concat,     concat,    (axis, 1));
    case 6: IS(transpose,  transpose, (dims, upwards(rank)), (layout, layout));
    case 7: IS(reshape,    reshape,   (shape, all(rank, 1)), (layout, layout));
    default: return NULL;
    }
#undef IS
}

static xir_status try_move(size_t i, const xir_type *type, const xir_target *target, const xir_type *expected) {
    any_attrs a;
    const xir_class_decl *decl = move_of(i, type, &a);
    if (!decl) return XIR_E_UNKNOWN;
    xir_network *net = new_net();
    xir_value *x = xir_input(XIR_AT(net), "x", type);
    xir_op *op = xir_network_add(net,
                                 &XIR_INIT(xir_op_desc, .cls = xir_class_find_decl(ctx, decl), .attrs = &a, INPUTS(x),
                                           .target = target,
                                                      .name = XIR_STR("op"), .id = XIR_NO_ID));
    xir_status status = xir_network_status(net);
    if (op && expected) assert_true(xir_type_equal(xir_value_type(xir_op_output(op, 0)), expected));
    xir_network_free(net);
    return status;
}

static void few_tiled_dims_move(void **state) {
    (void)state;
    const xir_type *type = wide(MOST, true);
    for (size_t i = 0; i < 8; i++) {
        /* A roll of every dim would roll the tiles. */
        assert_int_equal(try_move(i, type, xir_target_of_kind(ctx, XIR_TARGET_BUYI, NULL), NULL),
                         i == 2 ? XIR_E_UNSUPPORTED : XIR_OK);
    }
}

static void many_tiled_dims_are_refused(void **state) {
    (void)state;
    for (size_t k = 0; k < 2; k++) {
        const xir_type *type = wide(k ? MANY : MOST + 1, true);
        for (size_t i = 0; i < 8; i++)
            assert_int_equal(try_move(i, type, xir_target_of_kind(ctx, XIR_TARGET_BUYI, NULL), NULL), XIR_E_LIMIT);
    }
}

static void many_plain_dims_move(void **state) {
    (void)state;
    const xir_type *type = wide(MANY, false);
    for (size_t i = 0; i < 8; i++) assert_int_equal(try_move(i, type, NULL, type), XIR_OK);
    assert_int_equal(try_move(8, type, NULL, type), XIR_E_UNKNOWN);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_tiled_dims_move),
        cmocka_unit_test(many_tiled_dims_are_refused),
        cmocka_unit_test(many_plain_dims_move),
    };
    return RUN_GROUP(tests);
}
