/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Reading and writing ONNX while memory is short: every allocation is refused, once and permanently. A failure gives
 * XIR_E_MEMORY and no network, leaks nothing, and the call succeeds when it is repeated. */
#include "support/scarce.h"
#include "support/onnx_text.h"
#include "support/scratch.h"

/* It must equal the network that is read with enough memory. */
static void check_and_free(want *w, xir_network *net, xir_network *expected) {
    IN_PLENTY(w,
        const char *broken = broken_invariant(net, ASK_ALL);
        if (broken) fail_msg("a network that was read: %s", broken);
        assert_non_null(expected);
        assert_true(xir_network_equal(net, expected, true));
        xir_network_free(expected);
        xir_network_free(net));
}

static xir_network *read_in_plenty(want *w, const void *data, size_t size) {
    xir_network *net;
    IN_PLENTY(w, net = xir_network_read(w->ctx, data, size, XIR_STR("m"), NULL, w->why));
    return net;
}

static void reading_everything(want *w) {
    om_bytes all = onnx_everything();
    xir_network *net;
    for (int lazy = 0; lazy < 2; lazy++) {
        TRY_MAKE(w, net, xir_network_read(w->ctx, all.data, all.size, XIR_STR("m"),
                                          &XIR_INIT(xir_load_options, .lazy = lazy),
                                          w->why));
        check_and_free(w, net, read_in_plenty(w, all.data, all.size));
    }
    om_bytes_free(&all);
}

/* More names and operators than the first tables hold, and names that are never used. */
static void reading_many(want *w) {
    om m = om_begin("many");
    char text[4][16];
    for (int i = 0; i < 36; i++) {
        for (int j = 0; j < 4; j++) snprintf(text[j], sizeof text[j], "%c%d", "aopx"[j], i);
        om_floats(&m, text[2], OM_DIMS(1), (const float[]){ 1 }, 1);
        om_value(&m, text[3], ONNX_FLOAT, OM_DIMS(i, -1));
        om_node(&m, text[1], text[0], i % 2 ? text[2] : "x", text[3]);
    }
    size_t size;
    const void *bytes = om_done(&m, &size);
    xir_network *net;
    TRY_MAKE(w, net, xir_network_read(w->ctx, bytes, size, XIR_STR("m"), &XIR_INIT(xir_load_options, .lazy = true),
                                      w->why));
    check_and_free(w, net, read_in_plenty(w, bytes, size));
    om_free(&m);
}

static void reading_external_files(want *w) {
    om m = om_begin("external");
    om_external(&m, "v", ONNX_UINT8, OM_DIMS(2), "v.bin", "1", "2");
    om_external(&m, "w", ONNX_UINT8, OM_DIMS(2), "w.bin", NULL, "2");
    om_node(&m, "Op", "", "v,w", "y");
    size_t size;
    const void *bytes = om_done(&m, &size);
    scratch_put(scratch("m.onnx"), bytes, size);
    scratch_put(scratch("v.bin"), "1234", 4);
    scratch_put(scratch("w.bin"), "12", 2);
    const xir_load_options ways[] = {
        XIR_INIT(xir_load_options, .lazy = false),
        XIR_INIT(xir_load_options, .lazy = true),
        XIR_INIT(xir_load_options, .lazy = true, .verify = XIR_VERIFY_ON_TOUCH),
    };
    for (size_t i = 0; i < COUNT(ways); i++) {
        xir_network *net;
        TRY_MAKE(w, net, xir_network_load(w->ctx, scratch("m.onnx"), &ways[i], w->why));
        xir_network *expected;
        IN_PLENTY(w, expected = xir_network_load(w->ctx, scratch("m.onnx"), NULL, w->why));
        check_and_free(w, net, expected);
    }
    om_free(&m);
}

/* ---- writing --------------------------------------------------------------------------------------------------- */

static bool keep_nothing(void *user, const void *data, size_t size) {
    (void)user;
    (void)data;
    (void)size;
    return true;
}

static void writing_everything(want *w) {
    const xir_save_options options = XIR_INIT(xir_save_options, .format = "onnx", .unchecked = true);
    om_bytes all = onnx_everything();
    w->net = read_in_plenty(w, all.data, all.size);
    TRY(w, xir_network_write(w->net, keep_nothing, NULL, &options, w->why));
    IN_PLENTY(w, xir_network_free(w->net));
    w->net = NULL;
    om_bytes_free(&all);
}

/* Symbols, names that are made, texts in base64 and a file of elements. */
static void saving_two_files(want *w) {
    const xir_save_options options = XIR_INIT(xir_save_options, .flags = XIR_SAVE_EXTERNAL, .unchecked = true);
    om m = om_begin("two");
    size_t mark, size;
    om_bytes part = onnx_bytes_of("2:1 8'unused' 9#00000000", &mark);
    om_input(&m, "x", ONNX_FLOAT, OM_DIMS(-1));
    om_floats(&m, "w", OM_DIMS(300), (const float[300]){ 1 }, 300);
    om_initializer(&m, &part);
    om_node(&m, "Op", "", "x,w", "y");
    om_output(&m, "y", ONNX_FLOAT, OM_DIMS(2));
    om_metadata(&m, "xir.symbols", "0..8 N0");
    const void *bytes = om_done(&m, &size);
    w->net = read_in_plenty(w, bytes, size);
    IN_PLENTY(w, xir_value_set_name(xir_op_output(xir_network_op_at(w->net, 0), 0), XIR_STR("")));
    TRY(w, xir_network_save(w->net, scratch("two.onnx"), &options, w->why));
    IN_PLENTY(w, xir_network_free(w->net));
    w->net = NULL;
    om_free(&m);
}

SCARCE_TEST(writing_everything)
SCARCE_TEST(saving_two_files)
SCARCE_TEST(reading_everything)
SCARCE_TEST(reading_many)
SCARCE_TEST(reading_external_files)

static int begin(void **state) {
    scratch_make();
    return group_begin(state);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_writing_everything),
        cmocka_unit_test(test_saving_two_files),
        cmocka_unit_test(test_reading_everything),
        cmocka_unit_test(test_reading_many),
        cmocka_unit_test(test_reading_external_files),
    };
    return cmocka_run_group_tests(tests, begin, group_end);
}
