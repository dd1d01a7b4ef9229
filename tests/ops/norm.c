/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Constant attributes of normalisations through files, clones and edits. tests/ops/norm.txt has the accepted and
 * refused types. */
#include <stdio.h>
#include <xir/icraft.h>
#include "support/raw_net.h"
#include "support/op_case.h"

/* in(1 8 8 4) -> BatchNorm2d -> InstanceNorm2d with gamma only -> GroupNorm with the same gamma -> LayerNorm without ->
 * out. */
typedef struct story {
    xir_network *net;
    xir_value   *variance, *mean, *gamma, *beta;
    xir_op      *batch, *instance, *group, *layer;
} story;

static xir_value *reals(xir_network *net, const char *name, float first) {
    const float data[4] = { first, first + 1, first + 2, first + 3 };
    xir_value *p = xir_params_copy(net, xir_str_of(name), FP32("C", 4), data, sizeof data);
    assert_non_null(p);
    return p;
}

static story tell(void) {
    static const int64_t last = -1;
    story s = { .net = new_net() };
    xir_at at = XIR_AT(s.net);
    s.variance = reals(s.net, "variance", 1);
    s.mean = reals(s.net, "mean", 10);
    s.gamma = reals(s.net, "gamma", 100);
    s.beta = reals(s.net, "beta", 1000);
    xir_value *x = xir_input(at, "x", FP32("NHWC", 1, 8, 8, 4));
    xir_batch_norm2d_attrs batch = xir_batch_norm2d_init();
    batch.variance = s.variance;
    batch.mean = s.mean;
    s.batch = xir_add_batch_norm2d(at, (xir_batch_norm2d_in){ .input = x }, &batch);
    xir_instance_norm2d_attrs instance = xir_instance_norm2d_init();
    instance.gamma = s.gamma;
    s.instance = xir_add_instance_norm2d(at, (xir_instance_norm2d_in){ .input = xir_op_output(s.batch, 0) }, &instance);
    xir_group_norm_attrs group = xir_group_norm_init();
    group.groups = 2;
    group.gamma = s.gamma;
    group.beta = s.beta;
    s.group = xir_add_group_norm(at, (xir_group_norm_in){ .input = xir_op_output(s.instance, 0) }, &group);
    xir_layer_norm_attrs layer = xir_layer_norm_init();
    layer.axis = (xir_i64s){ &last, 1 };
    s.layer = xir_add_layer_norm(at, (xir_layer_norm_in){ .input = xir_op_output(s.group, 0) }, &layer);
    if (!s.layer || !xir_output(at, XIR_VALUES(xir_op_output(s.layer, 0)))) {
        fail_msg("%s", op_case_findings(xir_network_diags(s.net)));
    }
    DOES(xir_network_validate(s.net, NULL));
    return s;
}

/* The Params of a network: their ids and first numbers. */
static void check_params(const xir_network *net, const char *expected) {
    xir_value *params[8];
    char found[200] = "";
    size_t n = xir_network_params(net, params, 8), at = 0;
    for (size_t i = 0; i < n && i < 8; i++) {
        float first;
        DOES(xir_params_read(params[i], 0, &first, sizeof first));
        at += (size_t)snprintf(found + at, sizeof found - at, "%s%lld:%g", i ? " " : "",
                               (long long)xir_value_id(params[i]), (double)first);
    }
    assert_string_equal(found, expected);
}

#define ALL "1:1 2:10 4:100 6:1000"

static void they_are_numbered_before_the_outputs_each_once(void **state) {
    (void)state;
    story s = tell();
    check_params(s.net, ALL);
    assert_int_equal(xir_value_id(xir_op_output(s.batch, 0)), 3);
    assert_int_equal(xir_value_id(xir_op_output(s.instance, 0)), 5);
    assert_int_equal(xir_value_id(xir_op_output(s.group, 0)), 7);
    xir_value *own[4];
    assert_int_equal(xir_op_params_attrs(s.batch, own, 4), 2);
    assert_ptr_equal(own[0], s.variance);
    assert_int_equal(xir_op_params_attrs(s.instance, own, 4), 1);
    assert_int_equal(xir_op_params_attrs(s.layer, own, 4), 0);
    CHECK_SOUND(s.net);
    xir_network_free(s.net);
}

static xir_text_buffer json_of(xir_network *net) {
    xir_text_buffer out = { 0 };
    DOES(xir_json_print(net, 0, &out));
    return out;
}

static raw_memory raw_of(xir_network *net) {
    raw_memory out = { 0 };
    DOES(xir_raw_write(net, raw_memory_write, &out, NULL));
    return out;
}

static void files_have_them(void **state) {
    (void)state;
    story s = tell();
    raw_memory raw = raw_of(s.net), raw_again;
    xir_text_buffer json = json_of(s.net), json_again;
    assert_int_equal(raw.size, RAW_HEADER + 4 * RAW_ENTRY + 4 * 16);
    assert_non_null(memmem(json.data, json.size, "\"gamma\":null", 12));
    assert_non_null(memmem(json.data, json.size, "\"variance\":{", 12));

    xir_diags_clear(why);
    xir_network *net = xir_json_read(ctx, (xir_str){ json.data, json.size }, XIR_STR(""), why);
    if (!net) fail_msg("%s", op_case_findings(why));
    DOES(xir_raw_read(net, raw.data, raw.size, 0, why));
    check_params(net, ALL);
    assert_true(xir_network_equal(net, s.net, true));
    DOES(xir_network_validate(net, NULL));
    const xir_instance_norm2d_attrs *instance = xir_instance_norm2d_of(xir_network_op_at(net, 2));
    const xir_group_norm_attrs *group = xir_group_norm_of(xir_network_op_at(net, 3));
    assert_ptr_equal(instance->gamma, group->gamma);   /* one value, not two copies */
    assert_null(instance->beta);
    raw_again = raw_of(net);
    json_again = json_of(net);
    assert_int_equal(raw_again.size, raw.size);
    assert_memory_equal(raw_again.data, raw.data, raw.size);
    assert_int_equal(json_again.size, json.size);
    assert_memory_equal(json_again.data, json.data, json.size);
    CHECK_SOUND(net);
    xir_network_free(net);
    xir_network_free(s.net);
    xir_text_free(&json);
    xir_text_free(&json_again);
    free(raw.data);
    free(raw_again.data);
}

/* Old files have the key of the alias; it is read but not written. */
static void an_old_key_is_the_class(void **state) {
    (void)state;
    static const char old_key[] = "icraft::xir::Batchnorm\"", new_key[] = "icraft::xir::BatchNorm2d\"";
    story s = tell();
    xir_text_buffer json = json_of(s.net);
    char *old = calloc(1, json.size + 1), *key = memmem(json.data, json.size, new_key, strlen(new_key));
    assert_non_null(old);
    assert_non_null(key);
    size_t before = (size_t)(key - json.data), tail = json.size - before - strlen(new_key);
    memcpy(old, json.data, before);
    memcpy(old + before, old_key, strlen(old_key));
    memcpy(old + before + strlen(old_key), key + strlen(new_key), tail);
    xir_network *net = xir_json_read(ctx, xir_str_of(old), XIR_STR(""), why);
    assert_non_null(net);
    assert_non_null(xir_batch_norm2d_of(xir_network_op_at(net, 1)));
    assert_true(xir_network_equal(net, s.net, false));
    xir_network_free(net);
    xir_network_free(s.net);
    xir_text_free(&json);
    free(old);
}

static void clones_share_their_bytes(void **state) {
    (void)state;
    story s = tell();
    xir_network *clone = xir_network_clone(s.net);
    assert_non_null(clone);
    check_params(clone, ALL);
    assert_true(xir_network_equal(clone, s.net, true));
    xir_batch_norm2d_attrs batch = *xir_batch_norm2d_of(xir_network_op_at(clone, 1));
    assert_ptr_not_equal(batch.variance, s.variance);
    assert_ptr_equal(xir_params_data(batch.variance, NULL), xir_params_data(s.variance, NULL));
    float *mine = xir_params_edit(batch.variance);
    *mine = 5;
    check_params(clone, "1:5 2:10 4:100 6:1000");
    check_params(s.net, ALL);

    /* An op's clone has the same operands; its Params are those of the op. */
    xir_op *copy = xir_op_clone(s.group);
    assert_non_null(copy);
    assert_ptr_equal(xir_group_norm_of(copy)->gamma, s.gamma);
    DOES(xir_op_erase(copy));
    CHECK_SOUND(s.net);
    CHECK_SOUND(clone);
    xir_network_free(s.net);
    check_params(clone, "1:5 2:10 4:100 6:1000");
    xir_network_free(clone);
}

static void others_take_their_place(void **state) {
    (void)state;
    story s = tell();
    xir_batch_norm2d_attrs batch = *xir_batch_norm2d_of(s.batch);
    batch.mean = reals(s.net, "other", 20);
    DOES(xir_batch_norm2d_set(s.batch, &batch));
    check_params(s.net, "1:1 9:20 4:100 6:1000");
    xir_attr attr;
    DOES(xir_op_get(s.batch, XIR_STR("mean"), &attr));
    assert_ptr_equal(attr.as.params, batch.mean);
    /* a shared one lives as long as it is used */
    xir_instance_norm2d_attrs instance = xir_instance_norm2d_init();
    DOES(xir_instance_norm2d_set(s.instance, &instance));
    check_params(s.net, "1:1 9:20 4:100 6:1000");
    xir_group_norm_attrs group = *xir_group_norm_of(s.group);
    group.gamma = NULL;
    DOES(xir_group_norm_set(s.group, &group));
    check_params(s.net, "1:1 9:20 6:1000");
    DOES(xir_network_validate(s.net, NULL));
    CHECK_SOUND(s.net);
    xir_network_free(s.net);
}

/* Results that depend on Params are not cached: their types may change while the attributes stay the same. */
static void their_types_are_looked_at_again(void **state) {
    (void)state;
    story s = tell();
    DOES(xir_value_set_type(s.mean, FP32("C", 5)));
    xir_diags_clear(why);
    assert_int_equal(xir_network_validate(s.net, why), XIR_E_INVALID);
    assert_non_null(strstr(op_case_findings(why), "/mean"));
    check_finding(XIR_E_INVALID, "mean has 5 elements, but input has 4 channels");
    xir_network_clear_status(s.net);
    assert_int_equal(xir_op_infer(s.batch, true), XIR_E_INVALID);
    xir_network_clear_status(s.net);
    /* unknown types have no findings */
    DOES(xir_value_set_type(s.mean, NULL));
    DOES(xir_op_infer(s.batch, true));
    DOES(xir_value_set_type(s.mean, FP32("C", -1)));
    DOES(xir_op_infer(s.batch, true));
    DOES(xir_value_set_type(s.mean, xir_type_float(ctx, XIR_FLOAT_FP32)));
    DOES(xir_op_infer(s.batch, true));
    xir_network_free(s.net);
}

/* Params of another network are refused. */
static void strangers_are_refused(void **state) {
    (void)state;
    story s = tell(), other = tell();
    xir_batch_norm2d_attrs batch = *xir_batch_norm2d_of(s.batch);
    batch.mean = other.mean;
    REFUSES(s.net, xir_batch_norm2d_set(s.batch, &batch), XIR_E_INVALID, "another network");
    batch.mean = xir_op_output(s.batch, 0);
    REFUSES(s.net, xir_batch_norm2d_set(s.batch, &batch), XIR_E_TYPE, "expected Params");
    batch.mean = NULL;
    REFUSES(s.net, xir_batch_norm2d_set(s.batch, &batch), XIR_E_MISSING, "is null");
    xir_network_free(s.net);
    xir_network_free(other.net);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(they_are_numbered_before_the_outputs_each_once),
        cmocka_unit_test(files_have_them),
        cmocka_unit_test(an_old_key_is_the_class),
        cmocka_unit_test(clones_share_their_bytes),
        cmocka_unit_test(others_take_their_place),
        cmocka_unit_test(their_types_are_looked_at_again),
        cmocka_unit_test(strangers_are_refused),
    };
    return RUN_GROUP(tests);
}
