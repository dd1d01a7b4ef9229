/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Nodes that are like earlier ones are read by a shorter way. Each model here is read twice: as it is, and with a field
 * that nobody knows at the beginning of each node, which the shorter way leaves to the ordinary one. Both give the same
 * network, or the same finding at the same node: for random nodes, and for each byte of repeated nodes that is changed
 * or missing. */
#include "support/net.h"
#include "support/onnx_make.h"

enum { MOST_NODES = 400 };
static om_bytes nodes[MOST_NODES];
static size_t n_nodes;

static void free_nodes(void) {
    for (size_t i = 0; i < n_nodes; i++) om_bytes_free(&nodes[i]);
    n_nodes = 0;
}

static om_bytes *add_node(void) {
    assert_true(n_nodes < MOST_NODES);
    nodes[n_nodes] = (om_bytes){ 0 };
    return &nodes[n_nodes++];
}

/* ---- reading both ways ------------------------------------------------------------------------------------------ */

/* `size` bytes of node `k` count. */
static xir_network *read_model(bool plainly, size_t k, size_t size, xir_diags *to) {
    static const float two[2];
    om m = om_begin("again");
    om_input(&m, "x", ONNX_FLOAT, OM_DIMS(2));
    for (size_t i = 0; i < n_nodes; i++) {
        om_bytes node = { 0 };
        if (plainly) om_put_int(&node, 100, 1);
        om_put_raw(&node, nodes[i].data, i == k ? size : nodes[i].size);
        om_put_message(&m.graph, 1, &node);
    }
    om_floats(&m, "w", OM_DIMS(2), two, 2);
    om_floats(&m, "unused", OM_DIMS(2), two, 2);
    om_output(&m, "y", ONNX_FLOAT, OM_DIMS(2));
    size_t bytes;
    const void *data = om_done(&m, &bytes);
    xir_network *net = xir_network_read(ctx, data, bytes, XIR_STR("m"),
                                        &XIR_INIT(xir_load_options, .format = "onnx"), to);
    om_free(&m);
    return net;
}

/* Returns whether it is a network. */
static bool same_both_ways(size_t k, size_t size, const char *what, size_t at) {
    xir_diags *other = xir_diags_new(ctx);
    xir_diags_clear(why);
    xir_network *net = read_model(false, k, size, why), *plain = read_model(true, k, size, other);
    if (!net != !plain) fail_msg("%s, byte %zu of node %zu: only one way refuses it", what, at, k);
    if (net && !xir_network_equal(net, plain, true))
        fail_msg("%s, byte %zu of node %zu: the ways give different networks", what, at, k);
    if (!net) {
        const xir_diag *a = xir_diags_at(why, 0), *b = xir_diags_at(other, 0);
        assert_int_equal(xir_diags_count(why), 1);
        assert_int_equal(xir_diags_count(other), 1);
        if (a->code != b->code || !xir_str_equal(a->path, b->path) || !xir_str_equal(a->message, b->message)) {
            xir_diags_print(why, stderr);
            xir_diags_print(other, stderr);
            fail_msg("%s, byte %zu of node %zu: the ways give different findings", what, at, k);
        }
    }
    const bool good = net != NULL;
    xir_network_free(net);
    xir_network_free(plain);
    xir_diags_free(other);
    return good;
}

/* ---- random nodes ----------------------------------------------------------------------------------------------- */

static uint32_t state_of_random = 1;
static uint32_t any(uint32_t n) {
    state_of_random = state_of_random * 1664525u + 1013904223u;
    return (state_of_random >> 8) % n;
}

/* Names of earlier nodes, of later ones, of constants; empty, long, not ASCII, twice the same. */
static const char *any_name(void) {
    static char text[300];
    switch (any(24)) {
    case 0: return "";
    case 1: return "x";
    case 2: return "w";
    case 3: return "unused";
    case 4: return "\xc3\xa9t\xc3\xa9";
    case 5: return "nobody";
    case 6:
        memset(text, 'a', sizeof text - 1);
        text[100 + any(190)] = '\0';
        return text;
    default:
        snprintf(text, sizeof text, "v%u_output_of_a_layer", any(150));
        if (any(2)) text[4 + any(16)] = '\0';
        return text;
    }
}

static void put_attributes(om_bytes *node) {
    static const char *const names[] = { "axis", "alpha", "kernel_shape" };
    for (uint32_t i = any(4), k = any(2); i < 3; i++) {
        om_bytes a = { 0 };
        om_put_text(&a, 1, names[i]);
        om_put_int(&a, 3, k ? 1 : any(3));
        om_put_int(&a, 20, 2);
        om_put_message(node, 5, &a);
    }
}

static void put_random_node(void) {
    static const char *const types[] = { "Conv", "Relu", "Add", "BatchNormalization", "InstanceNormalization", "a.b",
                                         "Convo", "Con", "GlobalAveragePool", "GlobalAveragePooL" };
    om_bytes *node = add_node();
    for (uint32_t i = any(20) ? any(4) : any(12); i > 0; i--) om_put_text(node, 1, any_name());
    for (uint32_t i = any(20) ? 1 : any(7); i > 0; i--) om_put_text(node, 2, any_name());
    if (any(3)) om_put_text(node, 3, any(9) ? any_name() : "");
    const bool before = !any(20);
    if (before) put_attributes(node);
    om_put_text(node, 4, types[any(10)]);
    if (!before && any(2)) put_attributes(node);
    if (!any(12)) om_put_text(node, 7, any(2) ? "" : any(2) ? "ai.onnx" : "com.example");
    if (!any(30)) om_put_text(node, 6, "a text");
    if (!any(30)) om_put_text(node, 2, any_name());   /* after the others */
    if (!any(30)) om_put_text(node, 4, types[any(10)]);
}

static void random_nodes(void **state) {
    size_t good = 0;
    (void)state;
    for (uint32_t seed = 1; seed <= 60; seed++) {
        state_of_random = seed;
        for (size_t i = 0; i < MOST_NODES; i++) put_random_node();
        good += same_both_ways(0, nodes[0].size, "random nodes", seed);
        free_nodes();
    }
    assert_int_equal(good, 60);
}

/* ---- changed bytes ---------------------------------------------------------------------------------------------- */

/* Two kinds in turn, with the same attributes, so that the later ones are read by the shorter way. The last one of the
 * first kind has all its attributes `times` times. */
static void put_repeated_nodes(int times) {
    static const char *const inputs[][3] = { { "x", "w", "" }, { "v0" }, { "v1", "w", "x" }, { "v2" }, { "v3", "w" },
                                             { "v4" } };
    for (size_t i = 0; i < COUNT(inputs); i++) {
        om_bytes *node = add_node();
        char text[40];
        for (size_t k = 0; k < 3 && inputs[i][k]; k++) om_put_text(node, 1, inputs[i][k]);
        snprintf(text, sizeof text, i == 5 ? "y" : "v%zu", i);
        om_put_text(node, 2, text);
        snprintf(text, sizeof text, "layer_of_a_network_%zu", i);
        om_put_text(node, 3, text);
        om_put_text(node, 4, i % 2 ? "Relu" : "Convolution");
        for (int k = 0; k < (i == 4 ? 2 * times : 2) && i % 2 == 0; k++) {
            om_bytes a = { 0 };
            om_put_text(&a, 1, k % 2 ? "pads" : "group");
            for (int j = 0; j < 3 * (k % 2); j++) om_put_int(&a, 8, 1);
            if (k % 2 == 0) om_put_int(&a, 3, 1);
            om_put_int(&a, 20, k % 2 ? 7 : 2);
            om_put_message(node, 5, &a);
        }
    }
}

static void each_byte_changed_or_missing(void **state) {
    size_t good = 0, bad = 0;
    (void)state;
    put_repeated_nodes(1);
    assert_true(same_both_ways(0, nodes[0].size, "as it is", 0));
    for (size_t k = 2; k < n_nodes; k++) {
        for (size_t i = 0; i < nodes[k].size; i++) {
            const uint8_t was = nodes[k].data[i];
            for (int bit = 0; bit < 8; bit++) {
                nodes[k].data[i] = (uint8_t)(was ^ 1u << bit);
                *(same_both_ways(k, nodes[k].size, "changed", i) ? &good : &bad) += 1;
            }
            nodes[k].data[i] = was;
            *(same_both_ways(k, i, "cut", i) ? &good : &bad) += 1;
        }
    }
    assert_true(good > 1000 && bad > 500);
    free_nodes();
}

static void all_attributes_twice(void **state) {
    (void)state;
    put_repeated_nodes(2);
    assert_false(same_both_ways(0, nodes[0].size, "attributes", 0));
    CHECK_STR(xir_diags_at(why, 0)->path, "/graph/node/4/attribute");
    free_nodes();
}

/* Nodes of one type with three sets of attributes in turn: a node has those of the third node before it. */
static void attributes_in_turn_are_read_once(void **state) {
    (void)state;
    for (size_t i = 0; i < 12; i++) {
        om_bytes *node = add_node(), a = { 0 };
        char text[40];
        om_put_text(node, 1, "x");
        snprintf(text, sizeof text, i == 11 ? "y" : "v%zu", i);
        om_put_text(node, 2, text);
        om_put_text(node, 4, "Turn");
        om_put_text(&a, 1, "axis");
        om_put_int(&a, 3, (int64_t)(i % 3));
        om_put_int(&a, 20, 2);
        om_put_message(node, 5, &a);
    }
    assert_true(same_both_ways(0, nodes[0].size, "in turn", 0));
    xir_network *read = read_model(false, 0, nodes[0].size, why);
    const xir_map *seen[12];
    size_t n = 0;
    for (const xir_op *op = xir_op_next(xir_network_first(read)); n < 12; op = xir_op_next(op), n++) {
        seen[n] = xir_op_extra(op);
        assert_int_equal(xir_map_find(seen[n], XIR_STR("axis"))->as.integer, n % 3);
        if (n >= 3) assert_ptr_equal(seen[n], seen[n - 3]);
    }
    xir_network_free(read);
    free_nodes();
}

/* The finding is about the node that is one too many, though others have been read before its op is made. */
static void the_limit_is_at_its_node(void **state) {
    xir_limits old = XIR_INIT(xir_limits);
    (void)state;
    DOES(xir_context_limits(ctx, &old, why));
    for (uint64_t most = 1; most < 7; most++) {
        put_repeated_nodes(1);
        DOES(xir_context_set_limits(ctx, &XIR_INIT(xir_limits, .max_ops = most), why));
        assert_int_equal(same_both_ways(0, nodes[0].size, "a limit", 0), most == 6);
        char path[40];
        snprintf(path, sizeof path, "/graph/node/%d", (int)most);
        if (most < 6) CHECK_STR(xir_diags_at(why, 0)->path, path);
        free_nodes();
    }
    DOES(xir_context_set_limits(ctx, &old, why));
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_nodes),
        cmocka_unit_test(each_byte_changed_or_missing),
        cmocka_unit_test(all_attributes_twice),
        cmocka_unit_test(attributes_in_turn_are_read_once),
        cmocka_unit_test(the_limit_is_at_its_node),
    };
    return cmocka_run_group_tests(tests, group_begin, group_end);
}
