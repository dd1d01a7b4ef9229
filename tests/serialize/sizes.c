/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Networks that a format cannot hold are refused from sizes: no byte of a parameter is read before, since reading any
 * would end the process. */
#include <sys/mman.h>
#include "support/load_net.h"
#include "support/onnx_make.h"
#include "support/skips.h"

#define GIB (UINT64_C(1) << 30)

/* Memory that cannot be read. */
static void *unreadable(uint64_t size) {
    void *at = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

static bool swallow(void *user, const void *data, size_t size) {
    (void)data;
    *(size_t *)user += size;
    return true;
}

/* Params of these sizes, whose bytes are unreadable. */
static xir_network *large_net(const int64_t *sizes, size_t n, void *bytes) {
    raw_param wanted[4] = { { 0, 0 } };
    xir_value *values[4];
    for (size_t i = 0; i < n; i++) wanted[i] = (raw_param){ (int64_t)i + 3, sizes[i] };
    xir_network *net = raw_network(ctx, wanted, n, 1, values);
    for (size_t i = 0; i < n && bytes; i++)
        DOES(xir_params_set_borrow(values[i], bytes, (size_t)sizes[i], NULL, NULL));
    return net;
}

static void no_byte_is_read_of_what_is_too_large(void **state) {
    static const struct { const char *format; int64_t sizes[3]; size_t n; const char *message; } rows[] = {
        { "fb", { 1 << 30, 1 << 30 }, 2, "the parameters take 2147483648 bytes, and a file of format fb holds at most "
                                         "2147483647: JSON with a raw file next to it (.json) holds them" },
        { "fb", { INT64_C(5) << 30, 5, 6 }, 3, "the parameters take 5368709131 bytes" },
        /* with the gaps between them */
        { "fb", { (1 << 30) - 1, 1 << 30 }, 2, "the parameters take 2147483647 bytes, which a FlatBuffers file cannot" },
        { "imodel", { 4, INT64_C(4) << 30 }, 2, "the parameter 'p1' (v_id 4) takes 4294967296 bytes, and one in a file of "
                                                "format imodel at most 4294967295: JSON" },
    };
    (void)state;
    void *bytes = unreadable(5 * GIB);
    if (!bytes) SKIP("the address space is too small");
    for (size_t i = 0; i < COUNT(rows); i++) {
        char name[40];
        size_t written = 0;
        snprintf(name, sizeof name, "large.%s", rows[i].format);
        xir_network *net = large_net(rows[i].sizes, rows[i].n, bytes);
        const xir_save_options o = XIR_INIT(xir_save_options, .format = rows[i].format);
        FAILS_TO_SAVE(xir_network_save(net, scratch(name), &o, why), XIR_E_LIMIT, rows[i].message);
        assert_int_equal(access(scratch(name), F_OK), -1);
        FAILS_TO_SAVE(xir_network_write(net, swallow, &written, &o, why), XIR_E_LIMIT, rows[i].message);
        assert_int_equal(written, 0);
        const bool by_gaps = strstr(rows[i].message, "which a FlatBuffers");    /* which the writer alone knows */
        const xir_status status = xir_network_check_sizes(net, rows[i].format, why);
        assert_int_equal(status, by_gaps ? XIR_OK : XIR_E_LIMIT);
        xir_diags_clear(why);
        DOES(xir_network_check_sizes(net, "json", why));
        xir_network_free(net);
        /* A structure that was read alone: its types say what its parameters take. */
        net = large_net(rows[i].sizes, rows[i].n, NULL);
        assert_int_equal(xir_network_check_sizes(net, rows[i].format, why), status);
        xir_diags_clear(why);
        DOES(xir_network_write(net, swallow, &written, &o, why));
        xir_network_free(net);
    }
    munmap(bytes, 5 * GIB);
}

static void what_may_stay_without_bytes_does_not_count(void **state) {
    const int64_t sizes[] = { INT64_C(3) << 30, 8 };
    (void)state;
    xir_network *net = large_net(sizes, 2, NULL);
    FAILS_TO_SAVE(xir_network_check_sizes(net, "fb", why), XIR_E_LIMIT, "the parameters take 3221225480 bytes");
    xir_params_set_allow_no_data(value_of(net, 3), true);
    DOES(xir_network_check_sizes(net, "fb", why));
    FAILS_TO_SAVE(xir_network_check_sizes(net, "none", why), XIR_E_UNKNOWN, "there is no format 'none'");
    FAILS_TO_SAVE(xir_network_check_sizes(NULL, "fb", why), XIR_E_MISSING, "expected a network");
    xir_network_free(net);
}

/* A model of 3 GiB can have its constants in a file next to it, but a callback takes no second file. */
static void a_model_for_a_callback(void **state) {
    (void)state;
    enum { GIBS = 3 };
    size_t size, written = 0;
    om m = om_begin("large");
    static const float few[] = { 1, 2 };
    om_input(&m, "x", ONNX_FLOAT, OM_DIMS(2));
    om_floats(&m, "w", OM_DIMS(2), few, 2);
    om_node(&m, "Add", "op", "x,w", "y");
    om_output(&m, "y", ONNX_FLOAT, OM_DIMS(2));
    const void *bytes = om_done(&m, &size);
    xir_network *net = xir_network_read(ctx, bytes, size, XIR_STR("m"), &XIR_INIT(xir_load_options, .format = "onnx"),
                                        why);
    assert_non_null(net);
    xir_value *w = NULL;
    assert_int_equal(xir_network_params(net, &w, 1), 1);
    void *large = unreadable(GIBS * GIB);
    if (!large) {
        xir_network_free(net);
        om_free(&m);
        SKIP("the address space is too small");
    }
    const int64_t dim = (int64_t)(GIBS * GIB / 4);
    DOES(xir_value_set_type(w, xir_type_tensor_text(ctx, xir_type_float(ctx, XIR_FLOAT_FP32), "*", &dim, 1)));
    DOES(xir_params_set_borrow(w, large, (size_t)(GIBS * GIB), NULL, NULL));
    FAILS_TO_SAVE(xir_network_write(net, swallow, &written, &XIR_INIT(xir_save_options, .format = "onnx"), why),
                  XIR_E_LIMIT, "a message of ONNX less than 2^31: its constants need a file next to it");
    assert_int_equal(written, 0);
    xir_network_free(net);
    om_free(&m);
    munmap(large, GIBS * GIB);
}

/* Of a program and its folder, the program is refused first, and its tensors are not read for that. */
static void a_program_that_deepx_does_not_have(void **state) {
    (void)state;
    static const char shape[] = "dtype: int8\ndim: 1\nshape: [2]\nstride: [1]\nsize: 2\n", text[] =
        "load(var<string>:/w)->()\n";
    assert_int_equal(mkdir(scratch("x.data"), 0777), 0);
    scratch_put(scratch("x.data/w.shape"), shape, sizeof shape - 1);
    scratch_put(scratch("x.data/w.data"), "ab", 2);
    scratch_put(scratch("x.ir"), text, sizeof text - 1);
    xir_network *net = load_must(scratch("x.ir"), NULL);
    const xir_any *data = xir_map_find(xir_op_extra(xir_network_op_at(net, 1)), XIR_STR("data"));
    assert_non_null(data);
    void *bytes = unreadable(4096);
    assert_non_null(bytes);
    DOES(xir_params_set_borrow(data->as.params, bytes, 2, NULL, NULL));
    assert_non_null(xir_build_relu(xir_at_end(net), xir_op_output(xir_network_op_at(net, 1), 0), "r"));
    FAILS_TO_SAVE(xir_network_save(net, scratch("y.ir"), &XIR_INIT(xir_save_options, .unchecked = true), why),
                  XIR_E_UNSUPPORTED, "(icraft::xir::ReLU): DeepX has no function for this class");
    assert_int_equal(access(scratch("y.ir"), F_OK), -1);
    assert_int_equal(access(scratch("y.data"), F_OK), -1);
    xir_network_free(net);
    munmap(bytes, 4096);
}

static int begin(void **state) {
    scratch_make();
    return group_begin(state);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_byte_is_read_of_what_is_too_large),
        cmocka_unit_test(what_may_stay_without_bytes_does_not_count),
        cmocka_unit_test(a_model_for_a_callback),
        cmocka_unit_test(a_program_that_deepx_does_not_have),
    };
    return cmocka_run_group_tests(tests, begin, group_end);
}
