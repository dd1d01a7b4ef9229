/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Single objects, ops and values in every format: what is read prints like what was written. */
#include "support/net.h"
#include "support/alike_net.h"
#include "support/scarce.h"
#include "support/scratch.h"
#include "object.h"

static const char *const words[] = { "json", "imodel", "fb" };

static bool take_bytes(void *user, const void *data, size_t size) {
    buffer_put(user, data, size);
    return true;
}

static buffer fresh(void) {
    buffer b;
    buffer_init(&b, &memory_default);
    return b;
}

static void check_same(xir_text_buffer *a, xir_text_buffer *b, const char *word) {
    if (a->size != b->size || memcmp(a->data, b->data, a->size) != 0)
        fail_msg("%s: %.*s\ncame back as %.*s", word, (int)a->size, a->data, (int)b->size, b->data);
    xir_text_free(a);
    xir_text_free(b);
}

/* ---- objects ------------------------------------------------------------------------------------------------ */

static void check_object(const xir_object *object) {
    for (size_t i = 0; i < COUNT(words); i++) {
        buffer file = fresh();
        DOES(xir_object_write(ctx, object, words[i], take_bytes, &file, why));
        const xir_object *back = xir_object_read(ctx, file.data, file.size, words[i], why);
        if (!back) fail_msg("%s: %s", words[i], xir_diags_at(why, 0)->message.data);
        xir_text_buffer a, b;
        DOES(xir_object_print(ctx, object, 0, &a));
        DOES(xir_object_print(ctx, back, 0, &b));
        check_same(&a, &b, words[i]);
        assert_true(xir_object_equal(object, back));
        buffer_free(&file);
    }
}

static void objects_come_back(void **state) {
    (void)state;
    static const char *const texts[] = {
        "\"@hostt\"", "\"@zhuget(340)\"", "\"@hostm\"", "\"@chunk(1234@100)\"", "\"@layout(NCHWc32)\"", "\"@layout()\"", "\"@fp(32)\"", "\"@bf(16)\"",
        "\"@uint(12)\"", "\"@bool\"", "\"@scales([axis=-1]0.5,0.25)\"", "\"@exp_scales([axis=1]3/3/0.375)\"", "\"@norm_ratios([axis=-1]1.1)\"",
        "\"@merged_distr([1, 4]^ZERO:{v:[0, 65), u:[65, 96)})\"", "7", "0.1", "true",
        "{\"_type_key\":\"icraft::xir::TensorType\",\"element_dtype\":\"@fp(32)\",\"layout\":\"@layout(NC)\",\"merged_distrs\":[],\"shape\":[2,-1]}",
        ("{\"_type_key\":\"icraft::xir::QuantizedType\",\"expressed_dtype\":\"@fp(32)\",\"scale\":\"@scales([axis=-1]0.5)\",\"storage_dtype\":\"@sint(8)\","
         "\"zero_points\":[3],\"more\":{\"x\":[1,2.5,null]}}"),
        "{\"_type_key\":\"icraft::xir::CalibratedType\",\"max\":[1.5],\"storage_dtype\":\"@sint(8)\",\"expressed_dtype\":\"@fp(32)\"}",
        "{\"_type_key\":\"icraft::xir::AlignedUnit\",\"index\":[3],\"unit\":[8]}",
        "{\"_type_key\":\"nobody::Knows\",\"deep\":[{\"a\":18446744073709551615}]}",
    };
    for (size_t i = 0; i < COUNT(texts); i++) {
        const xir_object *object = xir_object_parse(ctx, xir_str_of(texts[i]), why);
        if (!object) fail_msg("%s: %s", texts[i], xir_diags_at(why, 0)->message.data);
        check_object(object);
    }
}

/* ---- ops and values ------------------------------------------------------------------------------------------ */

static void check_op(const xir_op *op) {
    for (size_t i = 0; i < COUNT(words); i++) {
        buffer file = fresh();
        DOES(xir_op_write(op, words[i], take_bytes, &file, why));
        xir_network *other = new_net();
        xir_op *back = xir_op_read(other, file.data, file.size, words[i], why);
        if (!back) fail_msg("%s: %s", words[i], xir_diags_at(why, 0)->message.data);
        xir_text_buffer a, b;
        DOES(xir_op_print(op, 0, &a));
        DOES(xir_op_print(back, 0, &b));
        check_same(&a, &b, words[i]);
        buffer_free(&file);
        xir_network_free(other);
    }
}

static void check_value(const xir_value *v) {
    for (size_t i = 0; i < COUNT(words); i++) {
        buffer file = fresh();
        DOES(xir_value_write(v, words[i], take_bytes, &file, why));
        xir_network *other = new_net();
        const xir_value *back = xir_value_read(other, file.data, file.size, words[i], why);
        if (!back) fail_msg("%s: %s", words[i], xir_diags_at(why, 0)->message.data);
        xir_text_buffer a, b;
        DOES(xir_value_print(v, 0, &a));
        DOES(xir_value_print(back, 0, &b));
        check_same(&a, &b, words[i]);
        /* In its own network it is found. */
        assert_ptr_equal(xir_value_read((xir_network *)(uintptr_t)xir_value_network(v), file.data, file.size,
                                        words[i], why), v);
        buffer_free(&file);
        xir_network_free(other);
    }
}

static void ops_and_values_come_back(void **state) {
    (void)state;
    xir_network *net = small_net();
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) {
        check_op(op);
        for (size_t i = 0; i < xir_op_output_count(op); i++) check_value(xir_op_output(op, i));
        for (size_t i = 0; i < xir_op_input_count(op); i++) check_value(xir_op_input(op, i));
    }
    xir_network_free(net);
}

/* In the list of ops, what was written before is copied; an op alone is written from the beginning. */
static void ops_have_the_bytes_they_have_alone(void **state) {
    (void)state;
    xir_network *net = alike_net(1000);
    for (size_t i = 0; i < 2; i++) {   /* json, imodel */
        buffer all = fresh(), one = fresh();
        const xir_save_options how = XIR_INIT(xir_save_options, .format = words[i], .unchecked = true);
        DOES(xir_network_write(net, take_bytes, &all, &how, why));
        const char *at = all.data, *end = all.data + all.size;
        for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) {
            one.size = 0;
            DOES(xir_op_write(op, words[i], take_bytes, &one, why));
            const char *found = memmem(at, (size_t)(end - at), one.data, one.size);
            if (!found || found - at > 2000) fail_msg("%s: op %d is written differently", words[i], (int)xir_op_id(op));
            at = found + one.size;
        }
        buffer_free(&all);
        buffer_free(&one);
    }
    xir_network_free(net);
}

/* A tensor of the context, whose elements have so many scales. */
static const xir_type *scaled(xir_context *with, size_t n) {
    double scales[4000];
    assert_true(n <= COUNT(scales));
    for (size_t i = 0; i < n; i++) scales[i] = 1.0 + (double)i / 1000;
    const xir_type *element = xir_type_quantized(with, xir_scales_from(with, scales, n, -1), NULL, 0,
                                                 xir_type_sint(with, 8), xir_type_float(with, XIR_FLOAT_FP32));
    return XIR_TENSOR(with, element, "NC", 1, (int64_t)n);
}

/* Three equal casts to a long type, written without allocation `refuse`. Returns false if there are not so many. */
static bool write_without(const char *format, size_t refuse, buffer *out) {
    enum { SCALES = 2400 };   /* the bytes of the type are a block of their own */
    scarce memory = { .plenty = true };
    const xir_allocator alloc = scarce_allocator(&memory);
    xir_context *with = xir_context_new(&alloc);
    xir_network *net = xir_network_new(with, "n", XIR_FRAMEWORK_PYTORCH, "v1.9");
    const xir_type *fp32 = xir_type_float(with, XIR_FLOAT_FP32);
    xir_value *x = xir_input(XIR_AT(net), "x", XIR_TENSOR(with, fp32, "NC", 1, SCALES));
    xir_cast_attrs attrs = xir_cast_init();
    attrs.target_dtype = xir_type_as_tensor(scaled(with, SCALES));
    for (int i = 0; i < 3; i++) assert_non_null(XIR_OP(XIR_AT(net), cast, .input = x, .attrs = &attrs));
    const xir_save_options how = XIR_INIT(xir_save_options, .format = format, .unchecked = true, .no_params = true);
    memory = (scarce){ .blocks = memory.blocks, .bytes = memory.bytes, .refuse = refuse };
    out->size = 0;
    const xir_status status = xir_network_write(net, take_bytes, out, &how, NULL);
    const bool refused = memory.refused;
    if (status) assert_int_equal(status, XIR_E_MEMORY);
    if (status) out->size = 0;
    memory.plenty = true;
    xir_network_free(net);
    xir_context_free(with);
    return refused;
}

/* Memory may end while bytes are kept for later ops: then the file is as it would be, or there is none. */
static void what_is_not_kept_is_written_again(void **state) {
    (void)state;
    for (size_t i = 0; i < 2; i++) {   /* json, imodel */
        buffer whole = fresh(), file = fresh();
        size_t n = 0, written = 0;
        assert_false(write_without(words[i], SIZE_MAX, &whole));
        assert_true(whole.size);
        for (; write_without(words[i], n, &file); n++) {
            if (!file.size) continue;
            if (file.size != whole.size || memcmp(file.data, whole.data, file.size) != 0)
                fail_msg("%s: without allocation %zu another file is written", words[i], n);
            written++;
        }
        assert_true(n > 5 && written);
        buffer_free(&whole);
        buffer_free(&file);
    }
}

/* Long members are written in full each time. */
static void long_types_are_not_kept(void **state) {
    (void)state;
    xir_network *net = new_net();
    xir_value *x = xir_input(XIR_AT(net), "x", scaled(ctx, 4000));
    for (int i = 0; i < 3; i++) x = XIR_RELU(XIR_AT(net), x);
    assert_non_null(x);
    for (size_t i = 0; i < 2; i++) {
        buffer file = fresh();
        const xir_save_options how = XIR_INIT(xir_save_options, .format = words[i], .unchecked = true);
        const xir_load_options structure = XIR_INIT(xir_load_options, .format = words[i], .no_params = true);
        DOES(xir_network_write(net, take_bytes, &file, &how, why));
        xir_network *again = xir_network_read(ctx, file.data, file.size, XIR_STR("x"), &structure, why);
        assert_non_null(again);
        assert_true(xir_network_equal(net, again, false));
        xir_network_free(again);
        buffer_free(&file);
    }
    xir_network_free(net);
}

static void ops_of_no_class_come_back(void **state) {
    (void)state;
    static const char text[] =
        "{\"_type_key\":\"nobody::Knows\",\"compile_target\":\"@buyit\",\"inputs\":[],\"name\":\"n\",\"op_id\":3,\"outputs\":[],\"tags\":{\"a\":1},"
        "\"thing\":{\"_allow_no_data\":true,\"_type_key\":\"icraft::xir::Params\",\"dtype\":\"@sint(8)\",\"mtype\":\"@hostm\",\"name\":\"\","
        "\"tags\":{},\"v_id\":9}}";
    xir_network *net = new_net();
    xir_op *op = xir_op_parse(net, XIR_STR(text), why);
    assert_non_null(op);
    check_op(op);
    xir_network_free(net);
}

/* ---- what is wrong -------------------------------------------------------------------------------------------- */

static void other_parts_are_refused(void **state) {
    (void)state;
    xir_network *net = small_net();
    for (size_t i = 0; i < COUNT(words); i++) {
        buffer op = fresh(), object = fresh();
        DOES(xir_op_write(op_of(net, 1), words[i], take_bytes, &op, why));
        DOES(xir_object_write(ctx, xir_object_parse(ctx, XIR_STR("\"@fp(32)\""), why), words[i], take_bytes, &object, why));
        xir_diags_clear(why);
        size_t ops = xir_network_op_count(net);
        assert_null(xir_object_read(ctx, op.data, op.size, words[i], why));
        assert_null(xir_op_read(net, object.data, object.size, words[i], why));
        assert_null(xir_value_read(net, op.data, op.size, words[i], why));
        assert_null(xir_value_read(net, object.data, object.size, words[i], why));
        assert_int_equal(xir_diags_count(why), 4);
        xir_diags_clear(why);
        assert_null(xir_op_read(net, op.data, op.size, words[i], why));   /* its outputs exist already */
        assert_int_equal(xir_diags_at(why, 0)->code, XIR_E_EXISTS);
        for (size_t size = 0; size < op.size; size++) assert_null(xir_op_read(net, op.data, size, words[i], NULL));
        assert_int_equal(xir_network_op_count(net), ops);
        xir_diags_clear(why);
        buffer_free(&op);
        buffer_free(&object);
    }
    buffer b = fresh();
    assert_int_equal(xir_op_write(op_of(net, 1), "tree", take_bytes, &b, why), XIR_E_UNSUPPORTED);
    assert_null(xir_object_read(ctx, "7", 1, "tree", why));
    assert_int_equal(xir_diags_count(why), 2);
    xir_diags_clear(why);
    xir_network_free(net);
}

static void writes(want *w) {
    for (size_t i = 0; i < COUNT(words); i++) {
        xir_network *from;
        buffer file = fresh();
        const xir_op *op;
        IN_PLENTY(w, from = small_net_in(w->ctx); op = op_of(from, 4));
        TRY(w, (file.size = 0, xir_op_write(op, words[i], take_bytes, &file, w->why)));
        buffer_free(&file);
        xir_network_free(from);
    }
}

static void reads(want *w) {
    for (size_t i = 0; i < COUNT(words); i++) {
        xir_network *from;
        buffer file = fresh();
        xir_op *op;
        IN_PLENTY(w, from = small_net_in(w->ctx); DOES(xir_op_write(op_of(from, 1), words[i], take_bytes, &file, NULL)));
        IN_PLENTY(w, w->net = xir_network_new(w->ctx, "empty", XIR_FRAMEWORK_PYTORCH, "v1.9"));
        TRY_MAKE(w, op, xir_op_read(w->net, file.data, file.size, words[i], w->why));
        assert_non_null(op);
        buffer_free(&file);
        IN_PLENTY(w, xir_network_free(from); xir_network_free(w->net); w->net = NULL);
    }
}

static void memory_may_run_out_anywhere(void **state) {
    (void)state;
    run_scarcely("writing", writes, false);
    run_scarcely("reading", reads, false);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(objects_come_back),
        cmocka_unit_test(ops_and_values_come_back),
        cmocka_unit_test(ops_have_the_bytes_they_have_alone),
        cmocka_unit_test(what_is_not_kept_is_written_again),
        cmocka_unit_test(long_types_are_not_kept),
        cmocka_unit_test(ops_of_no_class_come_back),
        cmocka_unit_test(other_parts_are_refused),
        cmocka_unit_test(memory_may_run_out_anywhere),
    };
    return RUN_GROUP(tests);
}
