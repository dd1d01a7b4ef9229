/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Reading ops that are like earlier ones. Whatever a file has in their tables, it is read or refused as if each op were
 * the first of its kind: what the verifier refuses is refused with its finding. */
#include <xir/ops.h>
#include "support/flat_file.h"
#include "support/flat_make.h"

enum { OPS = 8, FIRST = 1 };   /* convolutions and activations in turn, after an Input */

static flat_file chain(void) {
    const xir_type *f32 = xir_type_float(ctx, XIR_FLOAT_FP32);
    xir_network *net = xir_network_new(ctx, "chain", XIR_FRAMEWORK_PYTORCH, "1.9");
    assert_non_null(net);
    xir_at at = xir_at_end(net);
    xir_value *x = xir_input(at, "", XIR_TENSOR(ctx, f32, "NHWC", 1, 8, 8, 4));
    xir_value *w = xir_params_new(net, XIR_STR(""), XIR_TENSOR(ctx, f32, "HWIO", 3, 3, 4, 4));
    for (int i = 0; i < OPS; i++) {
        xir_conv2d_attrs a = xir_conv2d_init();
        a.pad_top = a.pad_bottom = a.pad_left = a.pad_right = 1;
        xir_op *op = i % 2 ? xir_add_relu(at, (xir_relu_in){ .input = x }, NULL)
                           : xir_add_conv2d(at, (xir_conv2d_in){ .input = x, .weights = w }, &a);
        assert_non_null(op);
        x = xir_op_output(op, 0);
    }
    xir_output(at, XIR_VALUES(x));
    assert_int_equal(xir_network_status(net), XIR_OK);
    flat_file f = flat_written_aligned(net, 64);
    xir_network_free(net);
    return f;
}

/* The network of a file; NULL: it is refused, in the words of the verifier if that refuses it too. */
static xir_network *read_as_verified(const flat_file *f) {
    xir_diags *found = xir_diags_new(ctx);
    assert_non_null(found);
    xir_diags_clear(why);
    const xir_status status = xir_flat_verify(ctx, f->data, f->size, XIR_STR(""), found);
    xir_network *net = flat_read_bytes(ctx, f->data, f->size, why);
    if (!status) {
        xir_diags_free(found);
        return net;
    }
    assert_null(net);
    assert_int_equal(xir_diags_count(found), 1);
    assert_int_equal(xir_diags_count(why), 1);
    const xir_diag *wanted = xir_diags_at(found, 0), *got = xir_diags_at(why, 0);
    assert_int_equal(got->code, wanted->code);
    assert_int_equal(got->byte, wanted->byte);
    assert_true(xir_str_equal(got->message, wanted->message));
    assert_true(xir_str_equal(got->path, wanted->path));
    xir_diags_free(found);
    return NULL;
}

/* Each two bytes take other values; `good` files are read. */
static void every_place_is_verified(void **state) {
    (void)state;
    flat_file f = chain();
    size_t good = 0, bad = 0;
    for (size_t i = 0; i + 2 <= f.size; i += 2) {
        const uint8_t was[2] = { f.data[i], f.data[i + 1] };
        const int old = was[0] | was[1] << 8;
        const int values[] = { 0, 4, 0xFFFF, 0xFFFC, old + 2, old + 4, old - 4, old + 8, old ^ 0x8000, old ^ 1 };
        for (size_t k = 0; k < sizeof values / sizeof *values; k++) {
            f.data[i] = (uint8_t)values[k];
            f.data[i + 1] = (uint8_t)(values[k] >> 8);
            xir_network *net = read_as_verified(&f);
            *(net ? &good : &bad) += 1;
            xir_network_free(net);
        }
        memcpy(f.data + i, was, 2);
    }
    assert_true(good > 100);
    assert_true(bad > 1000);
    free(f.data);
}

/* The slot of a field of Conv2d. */
static unsigned conv_slot(const char *name) {
    flat_schema s;
    assert_true(flat_schema_init(&s, ctx));
    const flat_table *t = flat_table_of(&s, xir_class_find(ctx, XIR_STR("icraft::xir::Conv2d")));
    unsigned slot = UINT16_MAX;
    for (uint32_t i = 0; i < t->n_slots; i++) {
        if (xir_str_equal(t->slots[i].name, xir_str_of(name))) slot = t->slots[i].slot;
    }
    flat_schema_free(&s);
    assert_int_not_equal(slot, UINT16_MAX);
    return slot;
}

/* An attribute may lie where the id does: then it differs between ops that are alike otherwise. */
static void fields_may_overlap(void **state) {
    (void)state;
    flat_file f = chain();
    const size_t op = flat_op_at(&f, FIRST), vtable = op - (size_t)(int32_t)flat_number(&f, op, 4);
    const unsigned id = conv_slot("op_id"), pad = conv_slot("pad_left");
    memcpy(f.data + vtable + 4 + 2 * pad, f.data + vtable + 4 + 2 * id, 2);
    xir_network *net = read_as_verified(&f);
    assert_non_null(net);
    for (size_t i = 0; i < OPS; i += 2) {
        const xir_op *it = xir_network_op_at(net, FIRST + i);
        assert_int_equal(xir_conv2d_of(it)->pad_left, xir_op_id(it));
    }
    xir_network_free(net);
    free(f.data);
}

/* An attribute of the third convolution differs, or its id is that of the first. */
static void own_fields_are_read(void **state) {
    (void)state;
    flat_file f = chain();
    const size_t first = flat_op_at(&f, FIRST), third = flat_op_at(&f, FIRST + 4);
    f.data[flat_slot_at(&f, third, conv_slot("pad_left"))] = 7;
    xir_network *net = read_as_verified(&f);
    assert_non_null(net);
    for (size_t i = 0; i < OPS; i += 2)
        assert_int_equal(xir_conv2d_of(xir_network_op_at(net, FIRST + i))->pad_left, i == 4 ? 7 : 1);
    xir_network_free(net);
    f.data[flat_slot_at(&f, third, conv_slot("pad_left"))] = 1;
    const unsigned id = conv_slot("op_id");
    memcpy(f.data + flat_slot_at(&f, third, id), f.data + flat_slot_at(&f, first, id), 8);
    assert_null(read_as_verified(&f));
    check_finding(XIR_E_EXISTS, "is already used by another op");
    free(f.data);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_place_is_verified),
        cmocka_unit_test(fields_may_overlap),
        cmocka_unit_test(own_fields_are_read),
    };
    return RUN_GROUP(tests);
}
