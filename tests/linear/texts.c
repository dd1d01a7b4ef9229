/* Shapes of files: JSON, MessagePack and ONNX. Calls cannot build many of these networks. */
#include "linear/shapes.h"
#include <stdarg.h>

void put(bytes *b, const void *data, size_t size) {
    if (b->size + size > b->room) {
        b->room = 2 * (b->size + size);
        b->data = realloc(b->data, b->room);
        if (!b->data) abort();
    }
    memcpy(b->data + b->size, data, size);
    b->size += size;
}

void putf(bytes *b, const char *format, ...) {
    char text[400];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (n < 0 || (size_t)n >= sizeof text) abort();
    put(b, text, (size_t)n);
}

typedef long long i64;

/* Items with commas between them. */
#define ITEMS(b, n, ...)                       \
    for (i64 i = 0; i < (i64)(n); i++) {       \
        if (i) put_text(b, ",");               \
        putf(b, __VA_ARGS__);                  \
    }

/* ---- JSON ------------------------------------------------------------------------------------------------------- */

#define TYPE \
    "{\"_type_key\":\"icraft::xir::TensorType\",\"element_dtype\":\"@fp(32)\",\"layout\":\"@layout(*)\",\"merged_distrs\":[],\"shape\":[4]}"
#define VALUE \
    "{\"_type_key\":\"icraft::xir::Value\",\"dtype\":" TYPE ",\"mtype\":\"@hostm\",\"name\":\"\",\"tags\":{},\"v_id\":%lld}"

static void head(bytes *b) { put_text(b, "{\"_type_key\":\"icraft::xir::Network\",\"name\":\"shape\","); }

/* An op of an unknown class, with more members. */
#define OP "{\"_type_key\":\"t::Op\",%s\"inputs\":[%s],\"name\":\"\",\"op_id\":%lld,\"outputs\":[%s],\"tags\":{}}"

static void one_op(bytes *b, const char *before) {
    head(b);
    putf(b, "\"ops\":[{\"_type_key\":\"t::Op\",%s", before);
}
static void end_op(bytes *b) { put_text(b, "\"inputs\":[],\"name\":\"\",\"op_id\":0,\"outputs\":[],\"tags\":{}}]}"); }

static void tags_of_network(bytes *b, int64_t n) {
    head(b);
    put_text(b, "\"tags\":{");
    ITEMS(b, n, "\"k%lld\":%lld", i, i)
    put_text(b, "},\"ops\":[]}");
}

static void tags_of_one_op(bytes *b, int64_t n) {
    head(b);
    put_text(b, "\"ops\":[{\"_type_key\":\"t::Op\",\"inputs\":[],\"name\":\"\",\"op_id\":0,\"outputs\":[],\"tags\":{");
    ITEMS(b, n, "\"k%lld\":\"v\"", (n - i) * 7919 % 1000003)
    put_text(b, "}}]}");
}

static void tags_of_values(bytes *b, int64_t n) {
    head(b);
    put_text(b, "\"ops\":[");
    for (i64 i = 0; i < n; i++) {
        putf(b, "%s{\"_type_key\":\"t::Op\",\"inputs\":[],\"name\":\"\",\"op_id\":%lld,", i ? "," : "", i);
        put_text(b, "\"outputs\":[{\"_type_key\":\"icraft::xir::Value\",\"dtype\":" TYPE ",\"mtype\":\"@hostm\",\"name\":\"\",");
        putf(b, "\"tags\":{\"a\":%lld},\"v_id\":%lld}],\"tags\":{}}", i, i);
    }
    put_text(b, "]}");
}

static void keys_of_network(bytes *b, int64_t n) {
    head(b);
    for (i64 i = 0; i < n; i++) putf(b, "\"z%lld\":null,", i);
    put_text(b, "\"ops\":[]}");
}

static void attributes(bytes *b, int64_t n) {
    one_op(b, "");
    for (i64 i = 0; i < n; i++) putf(b, "\"attr%lld\":[%lld],", i, i);
    end_op(b);
}

static void one_long_list(bytes *b, int64_t n) {
    one_op(b, "\"a\":[");
    ITEMS(b, n, "%lld", i)
    put_text(b, "],");
    end_op(b);
}

static void list_of_lists(bytes *b, int64_t n) {
    one_op(b, "\"a\":[");
    ITEMS(b, n, "[[%lld]]", i)
    put_text(b, "],");
    end_op(b);
}

static void small_maps(bytes *b, int64_t n) {
    one_op(b, "\"a\":[");
    ITEMS(b, n, "{\"k\":%lld}", i)
    put_text(b, "],");
    end_op(b);
}

static void deep_values(bytes *b, int64_t n) {
    one_op(b, "\"a\":[");
    for (i64 i = 0; i < n / 16; i++) {
        if (i) put_text(b, ",");
        for (int k = 0; k < 16; k++) put_text(b, "[");
        for (int k = 0; k < 16; k++) put_text(b, "]");
    }
    put_text(b, "],");
    end_op(b);
}

static void one_key_again(bytes *b, int64_t n) {
    one_op(b, "\"a\":{");
    ITEMS(b, n, "\"k\":%lld", i)
    put_text(b, "},");
    end_op(b);
}

static void long_text(bytes *b, int64_t n) {
    one_op(b, "\"a\":\"");
    for (i64 i = 0; i < n; i++) put_text(b, "\\u0041\\n\xC3\xA9 text ");
    put_text(b, "\",");
    end_op(b);
}

static void long_number(bytes *b, int64_t n) {
    one_op(b, "\"a\":0.");
    for (i64 i = 0; i < 10 * n; i++) put_text(b, "7");
    put_text(b, ",");
    end_op(b);
}

static void blanks(bytes *b, int64_t n) {
    head(b);
    for (i64 i = 0; i < n; i++) put_text(b, "\n          \t");
    put_text(b, "\"ops\":[]}");
}

static void uses_before_makers(bytes *b, int64_t n) {
    head(b);
    put_text(b, "\"ops\":[");
    for (i64 i = 0; i < n; i++) {
        putf(b, "%s{\"_type_key\":\"t::Op\",\"inputs\":[", i ? "," : "");
        putf(b, VALUE, n - i - 1);
        putf(b, "],\"name\":\"\",\"op_id\":%lld,\"outputs\":[", i);
        putf(b, VALUE, n - i);
        put_text(b, "],\"tags\":{}}");
    }
    put_text(b, "]}");
}

static void values_without_makers(bytes *b, int64_t n) {
    head(b);
    put_text(b, "\"ops\":[");
    for (i64 i = 0; i < n; i++) {
        putf(b, "%s{\"_type_key\":\"t::Op\",\"inputs\":[", i ? "," : "");
        putf(b, VALUE, 2 * i);
        putf(b, "],\"name\":\"\",\"op_id\":%lld,\"outputs\":[],\"tags\":{}}", i);
    }
    put_text(b, "]}");
}

static void faulty_ops(bytes *b, int64_t n) {
    head(b);
    put_text(b, "\"ops\":[");
    ITEMS(b, n, "{\"_type_key\":\"icraft::xir::ReLU\",\"inputs\":[],\"name\":\"\",\"op_id\":%lld,\"outputs\":[],\"tags\":{}}", i)
    put_text(b, "]}");
}

static void empty_ops(bytes *b, int64_t n) {
    head(b);
    put_text(b, "\"ops\":[");
    ITEMS(b, n, "{\"_type_key\":\"t::Op\",\"inputs\":[],\"name\":\"\",\"op_id\":%lld,\"outputs\":[],\"tags\":{}}", i)
    put_text(b, "]}");
}

static void cut_off(bytes *b, int64_t n) {
    head(b);
    put_text(b, "\"ops\":[");
    for (i64 i = 0; i < n; i++)
        putf(b, "{\"_type_key\":\"t::Op\",\n\"inputs\":[],\"name\":\"\",\"op_id\":%lld,\"outputs\":[],\"tags\":{}},\n",
             i);
}

static void only_brackets(bytes *b, int64_t n) {
    for (i64 i = 0; i < n; i++) put_text(b, "[{\"a\":");
}

#define SHAPE(make) { #make, make, false }
#define REFUSED(make) { #make, make, true }

const file_shape json_shapes[] = {
    SHAPE(tags_of_network), SHAPE(tags_of_one_op), SHAPE(tags_of_values), SHAPE(keys_of_network), SHAPE(attributes), SHAPE(one_long_list),
    SHAPE(list_of_lists), SHAPE(small_maps), SHAPE(deep_values), SHAPE(one_key_again), SHAPE(long_text), SHAPE(long_number), SHAPE(blanks),
    SHAPE(uses_before_makers), SHAPE(values_without_makers), SHAPE(faulty_ops), SHAPE(empty_ops), REFUSED(cut_off), REFUSED(only_brackets),
};
const size_t n_json_shapes = sizeof json_shapes / sizeof *json_shapes;

/* ---- MessagePack ------------------------------------------------------------------------------------------------ */

static void put_count(bytes *b, char kind, int64_t n) {
    const char count[] = { kind, (char)(n >> 24), (char)(n >> 16), (char)(n >> 8), (char)n };
    put(b, count, sizeof count);
}

static void packed_head(bytes *b, int64_t n) {
    put_text(b, "\x83\xA9_type_key\xB4icraft::xir::Network\xA3ops\x90\xA4tags\x81\xA1" "a");
    put_count(b, '\xDD', n);
}

static void packed_nils(bytes *b, int64_t n) {
    packed_head(b, 40 * n);
    for (i64 i = 0; i < 40 * n; i++) put_text(b, "\xC0");
}

static void packed_maps(bytes *b, int64_t n) {
    packed_head(b, 10 * n);
    for (i64 i = 0; i < 10 * n; i++) put_text(b, "\x81\xA0\xC0");
}

static void packed_keys(bytes *b, int64_t n) {
    packed_head(b, 1);
    put_count(b, '\xDF', n);
    for (i64 i = 0; i < n; i++) putf(b, "\xA8%08llx\xC0", i * 7919 % 1000003);
}

static void packed_promises(bytes *b, int64_t n) {
    packed_head(b, n);
    for (i64 i = 0; i < n; i++) put_count(b, '\xDD', 100);
}

const file_shape packed_shapes[] = { SHAPE(packed_nils), SHAPE(packed_maps), SHAPE(packed_keys),
                                     REFUSED(packed_promises) };
const size_t n_packed_shapes = sizeof packed_shapes / sizeof *packed_shapes;

/* ---- ONNX ------------------------------------------------------------------------------------------------------- */

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
