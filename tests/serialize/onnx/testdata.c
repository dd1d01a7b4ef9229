/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Every model of ONNX's own tests and of XIR_CORPUS/onnx is read: it has as many nodes, inputs and weights as
 * another walk over the bytes finds (support/onnx_wire.h), with the same names and elements. Written and read
 * again it is the same network, with the same ids. ONNX's tests are those
 * of Debian's package libonnx-testdata, or in the folder that XIR_ONNX_TESTS names; the corpus is compressed (xz),
 * and missing parts are skipped. */
#include <dirent.h>
#include "support/net.h"
#include "support/onnx_wire.h"
#include "support/round.h"
#include "support/scratch.h"
#include "support/skips.h"

#define ONNX_TESTS "/usr/share/libonnx-testdata/data"

typedef struct counted { size_t models, nodes, weights, values; } counted;
static counted all;

static xir_str text_of(pb_bytes bytes) { return (xir_str){ (const char *)bytes.data, bytes.size }; }
static bool named(const xir_value *v, pb_bytes name) { return xir_str_equal(xir_value_name(v), text_of(name)); }

static bool is_weight(pb_bytes graph, pb_bytes name) {
    pb_field f;
    onnx_tensor t;
    for (pb_walk w = pb_begin(graph); pb_next_of(&w, ONNX_GRAPH_INITIALIZER, &f);) {
        if (onnx_read_tensor(f.bytes, &t) && pb_same(t.name, name)) return true;
    }
    return false;
}

/* Compares the elements of Params with those that the other reader finds. */
static void check_elements(const char *path, const xir_value *v, pb_bytes tensor) {
    onnx_tensor t;
    assert_true(onnx_read_tensor(tensor, &t));
    int64_t dims[16];
    size_t rank = onnx_tensor_dims(&t, dims, COUNT(dims)), width = onnx_element_size(t.element);
    const xir_type *type = xir_value_type(v);
    all.weights++;
    if (!type) return;   /* texts and the like */
    assert_int_equal(xir_type_rank(type), rank);
    for (size_t i = 0; i < rank; i++) assert_int_equal(xir_type_dim(type, (int64_t)i, false), dims[i]);
    uint64_t size;
    const unsigned char *data = xir_params_data(v, &size);
    onnx_elements e = onnx_elements_of(&t);
    onnx_number n;
    size_t i = 0;
    for (; onnx_elements_next(&e, &n); i++) {
        if (i * width >= size) break;
        uint64_t bits = 0, expected = (uint64_t)n.i;
        memcpy(&bits, data + i * width, width);
        if (t.element == ONNX_FLOAT) {
            float f = (float)n.f;
            uint32_t word;
            memcpy(&word, &f, 4);
            expected = word;
        } else if (n.real) {
            continue;   /* halves and doubles: only their size is checked */
        }
        if (width < 8) expected &= (UINT64_C(1) << 8 * width) - 1;
        if (bits != expected) fail_msg("%s: element %zu of %.*s differs", path, i, CLIP_TO(text_of(t.name), 80));
    }
    assert_int_equal(i * width, size);
}

static void check_node(const char *path, const xir_op *op, pb_bytes node, pb_bytes graph) {
    onnx_node n;
    pb_field f;
    assert_true(onnx_read_node(node, &n));
    xir_str key = xir_class_key(xir_op_class(op)), name = xir_op_name(op);
    if (key.size < n.op_type.size || memcmp(key.data + key.size - n.op_type.size, n.op_type.data, n.op_type.size) != 0)
        fail_msg("%s: %.*s", path, (int)key.size, key.data);
    assert_true(xir_str_equal(name, text_of(n.name)));
    size_t i = 0, attributes = pb_count(node, ONNX_NODE_ATTRIBUTE);
    for (pb_walk w = pb_begin(node); pb_next_of(&w, ONNX_NODE_INPUT, &f); i++) {
        const xir_value *v = i < xir_op_input_count(op) ? xir_op_input(op, (int64_t)i) : NULL;
        assert_int_equal(v != NULL, f.bytes.size > 0);
        if (v) assert_true(named(v, f.bytes));
        if (v) assert_int_equal(xir_value_is_params(v), is_weight(graph, f.bytes));
    }
    i = 0;
    for (pb_walk w = pb_begin(node); pb_next_of(&w, ONNX_NODE_OUTPUT, &f); i++) {
        assert_true(named(xir_op_output(op, (int64_t)i), f.bytes));
    }
    assert_int_equal(i, xir_op_output_count(op));
    assert_int_equal(attributes, xir_op_extra(op) ? xir_op_extra(op)->size : 0);
    all.values += i;
    all.nodes++;
}

static const xir_value *find_weight(const xir_network *net, pb_bytes name) {
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) {
        for (size_t i = 0; i < xir_op_input_count(op); i++) {
            const xir_value *v = xir_op_input(op, (int64_t)i);
            if (v && xir_value_is_params(v) && named(v, name)) return v;
        }
    }
    return NULL;
}

static void check_graph(const char *path, const xir_network *net, pb_bytes graph) {
    pb_field f;
    const xir_op *op = xir_network_first(net);
    size_t inputs = 0, outputs = 0;
    onnx_value v;
    onnx_tensor t;
    for (pb_walk w = pb_begin(graph); pb_next_of(&w, ONNX_GRAPH_INPUT, &f);) {
        assert_true(onnx_read_value(f.bytes, &v));
        if (!is_weight(graph, v.name)) assert_true(named(xir_op_output(op, (int64_t)inputs++), v.name));
    }
    assert_int_equal(xir_op_output_count(op), inputs);
    assert_int_equal(xir_network_op_count(net), pb_count(graph, ONNX_GRAPH_NODE) + 2);
    op = xir_op_next(op);
    for (pb_walk w = pb_begin(graph); pb_next_of(&w, ONNX_GRAPH_NODE, &f); op = xir_op_next(op)) {
        check_node(path, op, f.bytes, graph);
    }
    for (pb_walk w = pb_begin(graph); pb_next_of(&w, ONNX_GRAPH_OUTPUT, &f);) {
        assert_true(onnx_read_value(f.bytes, &v));
        assert_true(named(xir_op_input(op, (int64_t)outputs++), v.name));
    }
    assert_int_equal(xir_op_input_count(op), outputs);
    for (pb_walk w = pb_begin(graph); pb_next_of(&w, ONNX_GRAPH_INITIALIZER, &f);) {
        assert_true(onnx_read_tensor(f.bytes, &t));
        const xir_value *weight = find_weight(net, t.name);
        if (weight) check_elements(path, weight, f.bytes);
    }
}

static void check_file(const char *path) {
    size_t size;
    uint8_t *bytes = scratch_get(path, &size);
    onnx_model model;
    assert_non_null(bytes);
    assert_true(onnx_read_model((pb_bytes){ bytes, size }, &model));
    xir_network *net = xir_network_load(ctx, path, &XIR_INIT(xir_load_options, .lazy = all.models % 2), why);
    if (!net) xir_diags_print(why, stderr);
    assert_non_null(net);
    check_graph(path, net, model.graph);
    assert_int_equal(xir_network_validate(net, why), XIR_OK);
    round_all(net, path);
    round_one(net, "onnx", path);
    all.models++;
    xir_network_free(net);
    free(bytes);
}

static void each_model(const char *folder) {
    struct dirent **entries;
    int n = scandir(folder, &entries, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        char path[PATH_MAX + 300];
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        if (strcmp(entries[i]->d_name, "model.onnx") == 0) check_file(path);
        else if (entries[i]->d_name[0] != '.' && entries[i]->d_type == DT_DIR) each_model(path);
        free(entries[i]);
    }
    if (n >= 0) free(entries);
}

static void print_counts(void) {
    print_message("      %zu models, %zu nodes, %zu weights, %zu values\n", all.models, all.nodes, all.weights,
                  all.values);
}

static void onnx_has_tests(void **state) {
    (void)state;
    const char *folder = getenv("XIR_ONNX_TESTS");
    if (!folder) folder = ONNX_TESTS;
    all = (counted){ 0 };
    each_model(folder);
    if (!all.models) SKIP("no ONNX operator tests in %s (Debian: libonnx-testdata)", folder);
    print_counts();
}

static void real_exports(void **state) {
    (void)state;
    const char *corpus = getenv("XIR_CORPUS");
    char folder[PATH_MAX];
    struct dirent **entries;
    int n = -1;
    all = (counted){ 0 };
    if (corpus) {
        snprintf(folder, sizeof folder, "%s/onnx", corpus);
        n = scandir(folder, &entries, NULL, alphasort);
    }
    for (int i = 0; i < n; i++) {
        const char *name = entries[i]->d_name, *end = strstr(name, ".onnx.xz");
        char command[2 * PATH_MAX + 600];
        if (end && !end[8]) {
            snprintf(command, sizeof command, "xz -dc '%s/%s' >'%s'", folder, name, scratch("real.onnx"));
            if (system(command) == 0) check_file(scratch("real.onnx"));
        }
        free(entries[i]);
    }
    if (n >= 0) free(entries);
    if (!all.models) SKIP("XIR_CORPUS/onnx has no packed models, or there is no xz");
    print_counts();
}

static int begin(void **state) {
    scratch_make();
    return group_begin(state);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(onnx_has_tests),
        cmocka_unit_test(real_exports),
    };
    return cmocka_run_group_tests(tests, begin, group_end);
}
