/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Params without a type, as dialects have them. They have as many bytes as they were given, are kept by every
 * format, share an offset if they have no bytes, and a program cannot make them, fill them, or give them other
 * bytes. */
#include "graph.h"
#include <xir/icraft.h>
#include "support/net.h"
#include "support/round.h"

/* An op of a dialect that reads Params with these numbers of bytes, and typed ones (uint8) between them. */
static xir_network *make_network(const int *sizes, const bool *typed, size_t n) {
    xir_network *net = xir_network_new(ctx, "untyped", XIR_FRAMEWORK_ONNX, "");
    const xir_class *cls = class_opaque(ctx, XIR_STR("some::Op"), true);
    xir_op *op = op_make(net, cls, net_attrs(net, cls, cls->defaults), n);
    assert_true(op_make_outputs(op, NULL, 0));
    for (size_t i = 0; i < n; i++) {
        const xir_type *type = typed[i] ? net_type(net, XIR_TENSOR(ctx, xir_type_uint(ctx, 8), "*", sizes[i])) : NULL;
        xir_value *v = params_make(net, type);
        blob *data = blob_new(&net->alloc, (uint64_t)sizes[i]);
        for (int j = 0; j < sizes[i]; j++) ((uint8_t *)(uintptr_t)data->bytes)[j] = (uint8_t)(16 * i + (size_t)j);
        value_params(v)->data = data;
        v->id = net->next_value_id++;
        use_link(&op_inputs(op)[i], op, v);
    }
    op_link(op, NULL);
    op_set_id(op, 0);
    return net;
}

static void they_go_through_every_format(void **state) {
    (void)state;
    static const struct { int sizes[4]; bool typed[4]; } cases[] = {
        { { 3, 5, 2, 7 }, { 0, 0, 0, 0 } }, { { 3, 5, 2, 7 }, { 0, 1, 0, 1 } }, { { 3, 5, 2, 7 }, { 1, 0, 1, 0 } },
        { { 0, 5, 0, 7 }, { 0, 1, 0, 0 } }, { { 3, 0, 0, 0 }, { 1, 0, 0, 1 } }, { { 0, 0, 0, 0 }, { 0, 0, 0, 0 } },
        { { 0, 0, 4, 0 }, { 1, 0, 1, 0 } }, { { 4, 0, 4, 0 }, { 1, 1, 1, 0 } },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        xir_network *net = make_network(cases[i].sizes, cases[i].typed, 4);
        char what[20];
        snprintf(what, sizeof what, "case %zu", i);
        round_all(net, what);
        xir_network *copy = xir_network_clone(net);
        assert_true(xir_network_equal(net, copy, true));
        xir_network_free(copy);
        xir_network_free(net);
    }
}

/* If they have no bytes, their size is unknown. */
static void without_bytes_they_are_not_written(void **state) {
    (void)state;
    xir_network *net = make_network((const int[]){ 3, 5 }, (const bool[]){ true, false }, 2);
    xir_value *v = xir_op_input(xir_network_first(net), 1);
    xir_params_clear(v);
    assert_false(xir_params_has_data(v));
    round_memory file = { 0 };
    assert_int_equal(xir_raw_write(net, round_keep, &file, why), XIR_E_TYPE);
    check_finding(XIR_E_TYPE, "has no type");
    free(file.data);
    xir_network_free(net);
}

static void programs_cannot_give_them_bytes(void **state) {
    (void)state;
    xir_network *net = make_network((const int[]){ 3 }, (const bool[]){ false }, 1);
    xir_value *v = xir_op_input(xir_network_first(net), 0);
    assert_int_equal(xir_params_set_copy(v, "abc", 3), XIR_E_TYPE);
    assert_int_equal(xir_params_set_borrow(v, "abc", 3, NULL, NULL), XIR_E_TYPE);
    uint64_t size;
    assert_memory_equal(xir_params_data(v, &size), "\0\1\2", 3);
    assert_int_equal(size, 3);
    assert_null(xir_params_new(net, XIR_STR("w"), NULL));
    assert_null(xir_params_copy(net, XIR_STR("w"), NULL, "abc", 3));
    xir_network_free(net);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(they_go_through_every_format),
        cmocka_unit_test(without_bytes_they_are_not_written),
        cmocka_unit_test(programs_cannot_give_them_bytes),
    };
    return RUN_GROUP(tests);
}
