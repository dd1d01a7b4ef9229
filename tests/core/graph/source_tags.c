/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Tags of source frameworks: one key for each, and an old key that files may still have. */
#include "source_tags.h"
#include "support/net.h"

static const struct { const char *tags[2]; int64_t expected; /* 0: none */ } finds[] = {
    { { NULL, NULL },                 0 },
    { { "source.dims", NULL },        1 },
    { { "onnx.dims", NULL },          1 },
    { { "onnx.dims", "source.dims" }, 2 },
    { { "source.dims", "onnx.dims" }, 1 },
    { { "onnx.dim_denotations", "dims" }, 0 },
};

static void the_new_key_is_asked_first(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(finds); i++) {
        xir_network *net = small_net();
        for (size_t k = 0; k < 2 && finds[i].tags[k]; k++) {
            xir_any value = xir_any_int((int64_t)k + 1);
            DOES(xir_value_set_tag(value_of(net, 0), xir_str_of(finds[i].tags[k]), &value));
        }
        const xir_any *found = source_tag_find(xir_value_tags(value_of(net, 0)), SOURCE_DIMS);
        assert_int_equal(found ? found->as.integer : 0, finds[i].expected);
        xir_network_free(net);
    }
}

static void setting_leaves_one_key(void **state) {
    (void)state;
    xir_network *net = small_net();
    xir_value *v = value_of(net, 0);
    xir_any one = xir_any_int(1), two = xir_any_int(2);
    DOES(xir_value_set_tag(v, XIR_STR("onnx.dims"), &one));
    DOES(source_tag_set(v, SOURCE_DIMS, &two));
    assert_int_equal(xir_value_tags(v)->size, 1);
    assert_int_equal(xir_map_find(xir_value_tags(v), XIR_STR("source.dims"))->as.integer, 2);
    DOES(xir_value_set_tag(v, XIR_STR("onnx.dims"), &one));
    DOES(source_tag_set(v, SOURCE_DIMS, NULL));
    assert_null(source_tag_find(xir_value_tags(v), SOURCE_DIMS));
    xir_network_free(net);
}

static void keys_are_known_in_both_spellings(void **state) {
    (void)state;
    static const char *const keys[SOURCE_TAG_COUNT][2] = {
        { "source.dims", "onnx.dims" }, { "source.captures", "onnx.captures" }, { "source.duplicate", "onnx.duplicate" },
        { "source.inputs", NULL }, { "source.random_inputs", NULL }, { "source.inference", NULL },
        { "source.repeated", NULL },
        { "source.version", NULL } };
    for (int which = 0; which < SOURCE_TAG_COUNT; which++) {
        for (int other = 0; other < SOURCE_TAG_COUNT; other++) {
            for (int k = 0; k < 2 && keys[other][k]; k++) {
                assert_int_equal(source_tag_is((source_tag)which, xir_str_of(keys[other][k])), which == other);
            }
        }
        CHECK_STR(source_tag_key((source_tag)which), keys[which][0]);
    }
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_new_key_is_asked_first),
        cmocka_unit_test(setting_leaves_one_key),
        cmocka_unit_test(keys_are_known_in_both_spellings),
    };
    return RUN_GROUP(tests);
}
