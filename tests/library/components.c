/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Contexts with some components of the library: these work as in any context, and the others are findings. */
#include <xir/convert.h>
#include <xir/exec.h>
#include <xir/pass.h>
#include <xir/plugin.h>
#include "support/net.h"
#include "support/scratch.h"

static xir_context *with_components(const xir_component *const *components, size_t n) {
    xir_context *with = xir_context_new_with(NULL, components, n);
    assert_non_null(with);
    return with;
}

/* x -> ReLU. */
static xir_network *a_relu(xir_context *with) {
    xir_network *net = xir_network_new(with, "small", XIR_FRAMEWORK_PYTORCH, "2.1");
    const xir_type *f = xir_type_float(with, XIR_FLOAT_FP32);
    xir_at at = xir_at_end(net);
    xir_value *x = xir_input(at, "x", XIR_TENSOR(with, f, "NC", 1, 4));
    xir_output(at, XIR_VALUES(xir_build_relu(at, x, NULL)));
    assert_int_equal(xir_network_status(net), XIR_OK);
    return net;
}

static bool has_format(xir_context *with, const char *name) {
    xir_format_info f = XIR_INIT(xir_format_info);
    for (size_t i = 0; xir_context_format_at(with, i, &f, NULL) == XIR_OK; i++) {
        if (strcmp(f.name, name) == 0) return true;
    }
    return false;
}

static bool count_bytes(void *user, const void *data, size_t size) {
    (void)data;
    *(size_t *)user += size;
    return true;
}

static void all_components_are_the_usual_context(void **state) {
    (void)state;
    const xir_component *const given[] = {   // in any order, some of them twice
        xir_component_text(), xir_component_targets(), xir_component_dialects(), xir_component_kernels(),
        xir_component_passes(), xir_component_deepx(), xir_component_tsm(), xir_component_c(), xir_component_nnb(),
        xir_component_python(), xir_component_pnnx(), xir_component_onnx(), xir_component_flat(),
        xir_component_msgpack(), xir_component_json(), xir_component_json(), xir_component_text(), NULL,
    };
    xir_context *all = xir_context_new(NULL), *with = with_components(given, COUNT(given));
    xir_format_info a = XIR_INIT(xir_format_info), b = XIR_INIT(xir_format_info);
    size_t n = 0;
    for (; xir_context_format_at(all, n, &a, NULL) == XIR_OK; n++) {
        assert_int_equal(xir_context_format_at(with, n, &b, NULL), XIR_OK);
        assert_string_equal(a.name, b.name);
        assert_int_equal(xir_format_at(n, &b, NULL), XIR_OK);
        assert_string_equal(a.name, b.name);
    }
    assert_int_equal(n, 11);
    assert_int_equal(xir_context_format_at(with, n, &b, NULL), XIR_E_BOUNDS);
    for (size_t i = 0;; i++) {
        const xir_pass_decl *pass = xir_pass_at(all, i);
        assert_ptr_equal(pass, xir_pass_at(with, i));
        if (!pass) break;
    }
    for (size_t i = 0;; i++) {
        const xir_dialect_decl *dialect = xir_dialect_at(all, i);
        assert_ptr_equal(dialect, xir_dialect_at(with, i));
        if (!dialect) break;
    }
    xir_context_free(with);
    xir_context_free(all);
}

static void a_context_has_the_formats_it_was_given(void **state) {
    (void)state;
    xir_context *with = xir_context_new_with(NULL, XIR_COMPONENTS(xir_component_flat()));
    xir_diags *found = xir_diags_new(with);
    xir_network *net = a_relu(with);
    size_t bytes = 0;
    xir_save_options how = XIR_INIT(xir_save_options, .format = "fb");
    assert_true(has_format(with, "fb"));
    assert_int_equal(xir_network_write(net, count_bytes, &bytes, &how, found), XIR_OK);
    assert_true(bytes > 100);
    how.format = "imodel";
    assert_int_equal(xir_network_write(net, count_bytes, &bytes, &how, found), XIR_E_UNKNOWN);
    assert_non_null(strstr(xir_diags_at(found, 0)->message.data, "there is no format 'imodel', expected one of fb"));
    xir_diags_clear(found);
    const char json[] = "{\"name\": \"n\"}";
    assert_null(xir_network_read(with, json, sizeof json - 1, XIR_STR(""), NULL, found));
    assert_int_equal(xir_diags_at(found, 0)->code, XIR_E_UNKNOWN);
    assert_string_equal(xir_format_detect(NULL, json, sizeof json - 1, XIR_NO_BYTE, XIR_STR("")), "json");
    assert_null(xir_format_detect(with, json, sizeof json - 1, XIR_NO_BYTE, XIR_STR("")));
    xir_network_free(net);
    xir_diags_free(found);
    xir_context_free(with);
}

static void a_context_without_components_has_classes_and_inference(void **state) {
    (void)state;
    xir_context *with = with_components(NULL, 0);
    xir_diags *found = xir_diags_new(with);
    xir_network *net = a_relu(with);
    xir_format_info f = XIR_INIT(xir_format_info);
    assert_int_equal(xir_network_validate(net, found), XIR_OK);
    assert_int_equal(xir_context_format_at(with, 0, &f, found), XIR_E_BOUNDS);
    assert_null(xir_pass_at(with, 0));
    assert_null(xir_dialect_at(with, 0));
    xir_network_free(net);
    xir_diags_free(found);
    xir_context_free(with);
}

static xir_status do_nothing(xir_pass *at) { return (void)at, XIR_OK; }
static const xir_pass_decl own = { XIR_PASS_HEAD("own", "does nothing"), .run = do_nothing };

static void passes_need_their_component(void **state) {
    (void)state;
    xir_context *without = with_components(NULL, 0);
    xir_context *with = xir_context_new_with(NULL, XIR_COMPONENTS(xir_component_passes()));
    xir_diags *found = xir_diags_new(without);
    xir_network *net = a_relu(without), *other = a_relu(with);
    size_t changes;
    assert_int_equal(xir_pass_run(net, "dce", NULL, &changes, found), XIR_E_UNKNOWN);
    xir_diags_clear(found);
    assert_int_equal(xir_pass_register(without, &own, found), XIR_E_UNSUPPORTED);
    assert_non_null(strstr(xir_diags_at(found, 0)->message.data, "without the component of the library"));
    assert_int_equal(xir_pass_run(other, "dce", NULL, &changes, found), XIR_OK);
    assert_int_equal(xir_pass_register(with, &own, found), XIR_OK);
    assert_int_equal(xir_pass_run(other, "own", NULL, &changes, found), XIR_OK);
    xir_network_free(net);
    xir_network_free(other);
    xir_diags_free(found);
    xir_context_free(without);
    xir_context_free(with);
}

static void dialects_bring_the_passes(void **state) {
    (void)state;
    xir_context *with = xir_context_new_with(NULL, XIR_COMPONENTS(xir_component_dialects()));
    assert_non_null(xir_pass_find(with, XIR_STR("dce")));
    assert_non_null(xir_pass_find(with, XIR_STR("to-xir")));
    assert_non_null(xir_dialect_at(with, 0));
    assert_false(has_format(with, "onnx"));
    xir_context_free(with);
}

static void ops_run_with_the_kernels(void **state) {
    (void)state;
    xir_context *without = with_components(NULL, 0);
    xir_context *with = xir_context_new_with(NULL, XIR_COMPONENTS(xir_component_kernels()));
    xir_diags *found = xir_diags_new(without);
    xir_network *nets[] = { a_relu(without), a_relu(with) };
    for (size_t i = 0; i < 2; i++) {
        xir_array *in = xir_array_new(i ? with : without,
                                      xir_value_type(xir_op_output(xir_network_first(nets[i]), 0)), found);
        xir_array *out = NULL;
        assert_non_null(in);
        xir_status status = xir_network_run(nets[i], (const xir_array *const[]){ in }, 1, &out, 1, NULL, found);
        assert_int_equal(status, i ? XIR_OK : XIR_E_UNSUPPORTED);
        xir_array_free(in);
        xir_array_free(out);
        xir_network_free(nets[i]);
    }
    xir_diags_free(found);
    xir_context_free(without);
    xir_context_free(with);
}

static void a_plugin_needs_the_components_that_it_adds_to(void **state) {
    (void)state;
    xir_context *without = with_components(NULL, 0);
    xir_diags *found = xir_diags_new(without);
    assert_int_equal(xir_plugin_load(without, XIR_TEST_PLUGINS "/scheme.so", found), XIR_E_UNSUPPORTED);
    xir_diags_free(found);
    xir_context_free(without);
}

static void no_list_makes_no_context(void **state) {
    (void)state;
    assert_null(xir_context_new_with(NULL, NULL, 1));
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_components_are_the_usual_context),
        cmocka_unit_test(a_context_has_the_formats_it_was_given),
        cmocka_unit_test(a_context_without_components_has_classes_and_inference),
        cmocka_unit_test(passes_need_their_component),
        cmocka_unit_test(dialects_bring_the_passes),
        cmocka_unit_test(ops_run_with_the_kernels),
        cmocka_unit_test(a_plugin_needs_the_components_that_it_adds_to),
        cmocka_unit_test(no_list_makes_no_context),
    };
    return RUN_GROUP(tests);
}
