/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Shapes of ONNX files. */
#include "linear/shapes.h"

static void put_varint(bytes *b, uint64_t v) {
    for (; v >= 0x80; v >>= 7) put(b, &(char){ (char)(v | 0x80) }, 1);
    put(b, &(char){ (char)v }, 1);
}

static void put_int(bytes *b, unsigned field, uint64_t v) {
    put_varint(b, field << 3);
    put_varint(b, v);
}

static void put_bytes(bytes *b, unsigned field, const void *data, size_t size) {
    put_varint(b, field << 3 | 2);
    put_varint(b, size);
    put(b, data, size);
}

static void put_name(bytes *b, unsigned field, const char *name) { put_bytes(b, field, name, strlen(name)); }

static void put_numbered(bytes *b, unsigned field, const char *stem, int64_t i) {
    char name[40];
    snprintf(name, sizeof name, "%s%lld", stem, (i64)i);
    put_name(b, field, name);
}

/* Moves the bytes of `in` into a field. */
static void put_message(bytes *b, unsigned field, bytes *in) {
    put_bytes(b, field, in->data ? in->data : "", in->size);
    in->size = 0;
}

/* of a graph */
enum { NODE = 1, GRAPH_NAME = 2, INITIALIZER = 5, INPUT = 11, OUTPUT = 12, VALUE_INFO = 13 };
/* of a node  */
enum { NODE_INPUT = 1, NODE_OUTPUT = 2, NODE_NAME = 3, OP_TYPE = 4, ATTRIBUTE = 5, DOMAIN = 7 };

static void model(bytes *b, bytes *graph) {
    bytes opset = { 0 };
    put_int(b, 1, 8);
    put_int(&opset, 2, 13);
    put_message(b, 8, &opset);
    put_message(b, 7, graph);
    free(opset.data);
    free(graph->data);
}

static void put_node(bytes *graph, const char *op, const char *in, int64_t i, const char *out, int64_t k) {
    bytes node = { 0 };
    put_numbered(&node, NODE_INPUT, in, i);
    put_numbered(&node, NODE_OUTPUT, out, k);
    put_name(&node, OP_TYPE, op);
    put_message(graph, NODE, &node);
    free(node.data);
}

/* name: float tensor of 4 */
static void put_info(bytes *graph, unsigned field, const char *stem, int64_t i) {
    bytes info = { 0 }, type = { 0 }, tensor = { 0 }, dims = { 0 }, dim = { 0 };
    put_int(&dim, 1, 4);
    put_message(&dims, 1, &dim);
    put_int(&tensor, 1, 1);
    put_message(&tensor, 2, &dims);
    put_message(&type, 1, &tensor);
    put_numbered(&info, 1, stem, i);
    put_message(&info, 2, &type);
    put_message(graph, field, &info);
    free(info.data), free(type.data), free(tensor.data), free(dims.data), free(dim.data);
}

static void onnx_chain(bytes *b, int64_t n) {
    bytes graph = { 0 };
    for (i64 i = 0; i < n; i++) put_node(&graph, "Relu", "v", i, "v", i + 1);
    put_info(&graph, INPUT, "v", 0);
    put_info(&graph, OUTPUT, "v", n);
    model(b, &graph);
}

static void onnx_reversed(bytes *b, int64_t n) {
    bytes graph = { 0 };
    for (i64 i = n; i-- > 0;) put_node(&graph, "Relu", "v", i, "v", i + 1);
    put_info(&graph, INPUT, "v", 0);
    put_info(&graph, OUTPUT, "v", n);
    model(b, &graph);
}

static void onnx_empty_nodes(bytes *b, int64_t n) {
    bytes graph = { 0 }, node = { 0 };
    for (i64 i = 0; i < n; i++) put_message(&graph, NODE, &node);
    model(b, &graph);
}

static void onnx_bare_nodes(bytes *b, int64_t n) {
    bytes graph = { 0 }, node = { 0 };
    for (i64 i = 0; i < n; i++) {
        put_name(&node, OP_TYPE, "Relu");
        put_message(&graph, NODE, &node);
    }
    free(node.data);
    model(b, &graph);
}

static void onnx_domains(bytes *b, int64_t n) {
    bytes graph = { 0 }, node = { 0 };
    for (i64 i = 0; i < n; i++) {
        put_numbered(&node, NODE_INPUT, "v", i);
        put_numbered(&node, NODE_OUTPUT, "v", i + 1);
        put_numbered(&node, OP_TYPE, "Op", i);
        put_numbered(&node, DOMAIN, "domain", i);
        put_message(&graph, NODE, &node);
    }
    put_info(&graph, INPUT, "v", 0);
    put_info(&graph, OUTPUT, "v", n);
    free(node.data);
    model(b, &graph);
}

static void onnx_one_result(bytes *b, int64_t n) {
    bytes graph = { 0 };
    for (i64 i = 0; i < n; i++) put_node(&graph, "Relu", "v", 0, "v", 1);
    put_info(&graph, INPUT, "v", 0);
    put_info(&graph, OUTPUT, "v", 1);
    model(b, &graph);
}

static void onnx_inputs_of_a_node(bytes *b, int64_t n) {
    bytes graph = { 0 }, node = { 0 };
    for (i64 i = 0; i < n; i++) put_numbered(&node, NODE_INPUT, "v", i);
    put_numbered(&node, NODE_OUTPUT, "w", 0);
    put_name(&node, OP_TYPE, "Sum");
    put_message(&graph, NODE, &node);
    for (i64 i = 0; i < n; i++) put_info(&graph, INPUT, "v", i);
    put_info(&graph, OUTPUT, "w", 0);
    free(node.data);
    model(b, &graph);
}

static void onnx_outputs_of_a_node(bytes *b, int64_t n) {
    bytes graph = { 0 }, node = { 0 };
    put_numbered(&node, NODE_INPUT, "v", 0);
    for (i64 i = 0; i < n; i++) put_numbered(&node, NODE_OUTPUT, "w", i);
    put_name(&node, OP_TYPE, "Split");
    put_message(&graph, NODE, &node);
    put_info(&graph, INPUT, "v", 0);
    for (i64 i = 0; i < n; i++) put_info(&graph, OUTPUT, "w", i);
    free(node.data);
    model(b, &graph);
}

static void onnx_attributes(bytes *b, int64_t n) {
    bytes graph = { 0 }, node = { 0 }, attribute = { 0 };
    put_numbered(&node, NODE_INPUT, "v", 0);
    put_numbered(&node, NODE_OUTPUT, "w", 0);
    put_name(&node, OP_TYPE, "Relu");
    for (i64 i = 0; i < n; i++) {
        put_numbered(&attribute, 1, "a", i);
        put_int(&attribute, 3, (uint64_t)i);
        put_int(&attribute, 20, 2);
        put_message(&node, ATTRIBUTE, &attribute);
    }
    put_message(&graph, NODE, &node);
    put_info(&graph, INPUT, "v", 0);
    put_info(&graph, OUTPUT, "w", 0);
    free(node.data);
    free(attribute.data);
    model(b, &graph);
}

static void onnx_long_attribute(bytes *b, int64_t n) {
    bytes graph = { 0 }, node = { 0 }, attribute = { 0 };
    put_numbered(&node, NODE_INPUT, "v", 0);
    put_numbered(&node, NODE_OUTPUT, "w", 0);
    put_name(&node, OP_TYPE, "Relu");
    put_name(&attribute, 1, "a");
    for (i64 i = 0; i < 10 * n; i++) put_int(&attribute, 8, 1);
    put_int(&attribute, 20, 7);
    put_message(&node, ATTRIBUTE, &attribute);
    put_message(&graph, NODE, &node);
    put_info(&graph, INPUT, "v", 0);
    put_info(&graph, OUTPUT, "w", 0);
    free(node.data);
    free(attribute.data);
    model(b, &graph);
}

/* Each is added to the previous ones. */
static void put_initializers(bytes *b, int64_t n, bool one_name) {
    static const float zeros[4];
    bytes graph = { 0 }, node = { 0 }, tensor = { 0 };
    for (i64 i = 0; i < n; i++) {
        put_numbered(&node, NODE_INPUT, "v", i);
        put_numbered(&node, NODE_INPUT, "w", one_name ? 0 : i);
        put_numbered(&node, NODE_OUTPUT, "v", i + 1);
        put_name(&node, OP_TYPE, "Add");
        put_message(&graph, NODE, &node);
        put_int(&tensor, 1, 4);
        put_int(&tensor, 2, 1);
        put_numbered(&tensor, 8, "w", one_name ? 0 : i);
        put_bytes(&tensor, 9, zeros, sizeof zeros);
        put_message(&graph, INITIALIZER, &tensor);
    }
    put_info(&graph, INPUT, "v", 0);
    put_info(&graph, OUTPUT, "v", n);
    free(node.data);
    free(tensor.data);
    model(b, &graph);
}

static void onnx_initializers(bytes *b, int64_t n) { put_initializers(b, n, false); }
static void onnx_one_initializer_again(bytes *b, int64_t n) { put_initializers(b, n, true); }

/* The fault of one node is the fault of all nodes. */
static void onnx_faulty_nodes(bytes *b, int64_t n) {
    bytes graph = { 0 };
    for (i64 i = 0; i < n; i++) put_node(&graph, i % 2 ? "Conv" : "Rellu", "v", i, "v", i + 1);
    put_info(&graph, INPUT, "v", 0);
    put_info(&graph, OUTPUT, "v", n);
    model(b, &graph);
}

static void onnx_infos(bytes *b, int64_t n) {
    bytes graph = { 0 };
    for (i64 i = 0; i < n; i++) put_node(&graph, "Relu", "v", i, "v", i + 1);
    put_info(&graph, INPUT, "v", 0);
    put_info(&graph, OUTPUT, "v", n);
    for (i64 i = 1; i < n; i++) put_info(&graph, VALUE_INFO, "v", i);
    model(b, &graph);
}

static void onnx_metadata(bytes *b, int64_t n) {
    bytes graph = { 0 }, entry = { 0 };
    put_node(&graph, "Relu", "v", 0, "v", 1);
    put_info(&graph, INPUT, "v", 0);
    put_info(&graph, OUTPUT, "v", 1);
    for (i64 i = 0; i < n; i++) {
        put_numbered(&entry, 1, "key", i);
        put_numbered(&entry, 2, "value", i);
        put_message(b, 14, &entry);
    }
    for (i64 i = 0; i < n; i++) {
        put_numbered(&entry, 1, "domain", i);
        put_int(&entry, 2, 1);
        put_message(b, 8, &entry);
    }
    free(entry.data);
    model(b, &graph);
}

const file_shape onnx_shapes[] = {
    SHAPE(onnx_chain), SHAPE(onnx_reversed), REFUSED(onnx_empty_nodes), SHAPE(onnx_bare_nodes), SHAPE(onnx_domains), SHAPE(onnx_one_result),
    SHAPE(onnx_inputs_of_a_node), SHAPE(onnx_outputs_of_a_node), SHAPE(onnx_attributes), SHAPE(onnx_long_attribute),
    SHAPE(onnx_initializers), SHAPE(onnx_one_initializer_again), SHAPE(onnx_faulty_nodes), SHAPE(onnx_infos), SHAPE(onnx_metadata),
};
const size_t n_onnx_shapes = sizeof onnx_shapes / sizeof *onnx_shapes;
