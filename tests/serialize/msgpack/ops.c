/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* MessagePack of ops of every class, with bodies of any kind. */
#include "support/hostile.h"
#undef FP32   /* json_net.h defines another one */
#include "support/msgpack_net.h"

/* Ops of every class, with bodies of any kind, some of which no program would make: they come back whenever they do in
 * JSON. */
/* An op as a reader makes it, without checking the rules of its class. */
static xir_op *add_op(pool *p, const xir_class *cls, const void *body) {
    xir_network *net = p->net;
    const xir_type *types[2] = { xir_value_type(p->values[chance(POOL_VALUES)]),
                                 xir_value_type(p->values[chance(POOL_VALUES)]) };
    size_t n = chance(4);
    const void *attrs = net_attrs(net, cls, body);
    xir_op *op = attrs ? op_make(net, cls, attrs, n) : NULL;
    assert_true(op && op_make_outputs(op, types, chance(3)));
    for (size_t i = 0; i < n; i++) use_link(&op_inputs(op)[i], op, pool_value(p, &(bool){ true }));
    assert_int_equal(op_adopt_children(op, attrs), XIR_OK);
    assert_int_equal(place_before(op, NULL), XIR_OK);
    return op;
}

/* The pool has types that no file can have. */
static void make_readable(xir_value *v) {
    xir_text_buffer text;
    assert_int_equal(xir_object_print(ctx, xir_type_object(v->type), 0, &text), XIR_OK);
    if (v->type && !xir_object_parse(ctx, (xir_str){ text.data, text.size }, NULL))
        v->type = xir_type_float(ctx, XIR_FLOAT_FP32);
    xir_text_free(&text);
}

static void ops_of_every_class_come_back(void **state) {
    (void)state;
    pool p;
    pool_begin(&p);
    for (size_t i = 0; i < POOL_VALUES; i++) make_readable(p.values[i]);
    for (size_t i = 0; i < POOL_PARAMS; i++) {   /* a few have none: only the structure matters here */
        make_readable(p.params[i]);
        params *has = value_params(p.params[i]);
        blob_release(has->data);
        has->data = NULL;
    }
    size_t classes = 0, same = 0, refused = 0;
    for (size_t i = 0; xir_context_class_at(ctx, i); i++) {
        const xir_class *cls = xir_context_class_at(ctx, i);
        if (!xir_class_is_op(cls) || xir_class_is_opaque(cls) || xir_class_traits(cls) & XIR_TRAIT_ABSTRACT) continue;
        size_t before = same;
        for (int trial = 0; trial < 8; trial++) {
            xir_op *op = add_op(&p, cls, pool_body(&p, cls, trial == 7));
            xir_text_buffer text;
            const xir_status printed = xir_json_print(p.net, 0, &text);
            if (printed) {   /* a text of the pool is not UTF-8 */
                paper none = { 0 };
                assert_int_equal(printed, XIR_E_INVALID);
                assert_int_equal(try_pack(p.net, &none), printed);
                xir_diags_clear(why);
                free(none.data);
                refused++;
                assert_int_equal(xir_op_erase(op), XIR_OK);
                continue;
            }
            xir_network *from_json = read_net(text.data, text.size);
            xir_diags_clear(why);
            paper file = pack_net(p.net);
            xir_network *net = try_unpack(file.data, file.size);
            if (!net != !from_json) fprintf(stderr, "%s:\n", cls->key.data), show_findings();
            assert_int_equal(!net, !from_json);
            refused += !net;
            if (net) {   /* doubles have become float32, as in JSON */
                xir_text_buffer read;
                assert_int_equal(xir_json_print(from_json, 0, &read), XIR_OK);
                check_prints(net, 0, read.data, read.size);
                xir_text_free(&read);
                same++;
            }
            xir_diags_clear(why);
            xir_network_free(net);
            xir_network_free(from_json);
            free(file.data);
            xir_text_free(&text);
            assert_int_equal(xir_op_erase(op), XIR_OK);
        }
        if (same == before) fprintf(stderr, "%s is never read\n", cls->key.data);
        assert_true(same > before);
        classes++;
    }
    assert_true(classes >= 135);
    assert_true(refused < same / 4);
    pool_end(&p);
}

GROUP {
    const struct CMUnitTest tests[] = { cmocka_unit_test(ops_of_every_class_come_back) };
    return RUN_GROUP(tests);
}
