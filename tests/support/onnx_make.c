/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Field numbers are written where they are used. */
#include "onnx_make.h"
#include <stdlib.h>
#include <string.h>

/* ---- protobuf --------------------------------------------------------------------------------------------------- */

void om_put_raw(om_bytes *to, const void *data, size_t size) {
    if (to->room - to->size < size) {
        to->room = 2 * to->room + size + 64;
        to->data = realloc(to->data, to->room);
        if (!to->data) abort();
    }
    if (size) memcpy(to->data + to->size, data, size);
    to->size += size;
}

void om_put_varint(om_bytes *to, uint64_t value) {
    unsigned char bytes[10];
    size_t n = 0;
    do {
        bytes[n] = (unsigned char)(value & 0x7f);
        value >>= 7;
        if (value) bytes[n] |= 0x80;
        n++;
    } while (value);
    om_put_raw(to, bytes, n);
}

void om_put_key(om_bytes *to, uint32_t field, unsigned wire) { om_put_varint(to, (uint64_t)field << 3 | wire); }

void om_put_int(om_bytes *to, uint32_t field, int64_t value) {
    om_put_key(to, field, PB_VARINT);
    om_put_varint(to, (uint64_t)value);
}

static void put_fixed(om_bytes *to, uint64_t bits, size_t size) {
    unsigned char bytes[8];
    for (size_t i = 0; i < size; i++) bytes[i] = (unsigned char)(bits >> (8 * i));
    om_put_raw(to, bytes, size);
}

static uint32_t float_bits(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

void om_put_float(om_bytes *to, uint32_t field, float value) {
    om_put_key(to, field, PB_FIXED32);
    put_fixed(to, float_bits(value), 4);
}

void om_put_double(om_bytes *to, uint32_t field, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    om_put_key(to, field, PB_FIXED64);
    put_fixed(to, bits, 8);
}

void om_put_bytes(om_bytes *to, uint32_t field, const void *data, size_t size) {
    om_put_key(to, field, PB_BYTES);
    om_put_varint(to, size);
    om_put_raw(to, data, size);
}

void om_put_text(om_bytes *to, uint32_t field, const char *text) { om_put_bytes(to, field, text, strlen(text)); }

void om_put_packed(om_bytes *to, uint32_t field, const int64_t *values, size_t n) {
    om_bytes packed = { 0 };
    for (size_t i = 0; i < n; i++) om_put_varint(&packed, (uint64_t)values[i]);
    om_put_message(to, field, &packed);
}

void om_put_message(om_bytes *to, uint32_t field, om_bytes *message) {
    om_put_bytes(to, field, message->data, message->size);
    om_bytes_free(message);
}

void om_bytes_free(om_bytes *bytes) {
    free(bytes->data);
    *bytes = (om_bytes){ 0 };
}

/* ---- a model ---------------------------------------------------------------------------------------------------- */

om om_begin(const char *graph_name) {
    om m = { 0 };
    om_put_int(&m.model, 1, 8);                   // ir_version
    om_put_text(&m.model, 2, "tests");            // producer_name
    om_put_text(&m.graph, 2, graph_name);
    return m;
}

void om_free(om *m) {
    om_bytes_free(&m->model);
    om_bytes_free(&m->graph);
    om_bytes_free(&m->node);
    om_bytes_free(&m->whole);
}

void om_opset(om *m, const char *domain, int64_t version) {
    om_bytes set = { 0 };
    om_put_text(&set, 1, domain);
    om_put_int(&set, 2, version);
    om_put_message(&m->model, 8, &set);
    m->has_opset = true;
}

static void put_entry(om_bytes *to, uint32_t field, const char *key, const char *value) {
    om_bytes entry = { 0 };
    om_put_text(&entry, 1, key);
    om_put_text(&entry, 2, value);
    om_put_message(to, field, &entry);
}

void om_metadata(om *m, const char *key, const char *value) { put_entry(&m->model, 14, key, value); }

static om_bytes shape_of(om_dims dims) {
    om_bytes shape = { 0 };
    for (size_t i = 0; i < dims.size; i++) {
        om_bytes dim = { 0 };
        char name[4] = { 'N', (char)('0' + i / 10), (char)('0' + i % 10), 0 };
        if (i < 10) memmove(name + 1, name + 2, 2);
        if (dims.data[i] >= 0) om_put_int(&dim, 1, dims.data[i]);
        else if (dims.data[i] != INT64_MIN) om_put_text(&dim, 2, name);
        om_put_message(&shape, 1, &dim);
    }
    return shape;
}

static void put_value(om *m, uint32_t field, const char *name, int element, om_dims dims) {
    om_bytes value = { 0 }, type = { 0 }, tensor = { 0 };
    om_put_int(&tensor, 1, element);
    if (dims.size != SIZE_MAX) {
        om_bytes shape = shape_of(dims);
        om_put_message(&tensor, 2, &shape);
    }
    om_put_message(&type, 1, &tensor);
    om_put_text(&value, 1, name);
    om_put_message(&value, 2, &type);
    om_put_message(&m->graph, field, &value);
}

void om_input(om *m, const char *name, int element, om_dims dims) { put_value(m, 11, name, element, dims); }
void om_output(om *m, const char *name, int element, om_dims dims) { put_value(m, 12, name, element, dims); }
void om_value(om *m, const char *name, int element, om_dims dims) { put_value(m, 13, name, element, dims); }

/* A whole tensor except its elements. */
static om_bytes tensor_head(const char *name, int element, om_dims dims) {
    om_bytes tensor = { 0 };
    if (dims.size) om_put_packed(&tensor, 1, dims.data, dims.size);
    om_put_int(&tensor, 2, element);
    if (name) om_put_text(&tensor, 8, name);
    return tensor;
}

om_bytes om_tensor(const char *name, int element, om_dims dims, const void *data, size_t size) {
    om_bytes tensor = tensor_head(name, element, dims);
    om_put_bytes(&tensor, 9, data, size);
    return tensor;
}

void om_initializer(om *m, om_bytes *tensor) { om_put_message(&m->graph, 5, tensor); }

void om_raw(om *m, const char *name, int element, om_dims dims, const void *data, size_t size) {
    om_bytes tensor = om_tensor(name, element, dims, data, size);
    om_initializer(m, &tensor);
}

void om_floats(om *m, const char *name, om_dims dims, const float *data, size_t n) {
    om_bytes raw = { 0 };
    for (size_t i = 0; i < n; i++) put_fixed(&raw, float_bits(data[i]), 4);
    om_raw(m, name, ONNX_FLOAT, dims, raw.data, raw.size);
    om_bytes_free(&raw);
}

void om_int64s(om *m, const char *name, om_dims dims, const int64_t *data, size_t n) {
    om_bytes raw = { 0 };
    for (size_t i = 0; i < n; i++) put_fixed(&raw, (uint64_t)data[i], 8);
    om_raw(m, name, ONNX_INT64, dims, raw.data, raw.size);
    om_bytes_free(&raw);
}

void om_external(om *m, const char *name, int element, om_dims dims, const char *location, const char *offset,
                 const char *length) {
    om_bytes tensor = tensor_head(name, element, dims);
    if (location) put_entry(&tensor, 13, "location", location);
    if (offset) put_entry(&tensor, 13, "offset", offset);
    if (length) put_entry(&tensor, 13, "length", length);
    om_put_int(&tensor, 14, 1);                   // data_location EXTERNAL
    om_initializer(m, &tensor);
}

/* ---- nodes ------------------------------------------------------------------------------------------------------ */

static void close_node(om *m) {
    if (m->has_node) om_put_message(&m->graph, 1, &m->node);
    m->has_node = false;
}

static void put_names(om_bytes *to, uint32_t field, const char *names) {
    if (!*names) return;
    for (;;) {
        size_t n = strcspn(names, ",");
        om_put_bytes(to, field, names, n);
        if (!names[n]) return;
        names += n + 1;
    }
}

void om_node(om *m, const char *op_type, const char *name, const char *inputs, const char *outputs) {
    close_node(m);
    m->has_node = true;
    put_names(&m->node, 1, inputs);
    put_names(&m->node, 2, outputs);
    if (*name) om_put_text(&m->node, 3, name);
    const char *dot = strrchr(op_type, '.');
    om_put_text(&m->node, 4, dot ? dot + 1 : op_type);
    if (dot) om_put_bytes(&m->node, 7, op_type, (size_t)(dot - op_type));
}

om_bytes om_attribute_of(const char *name, int type) {
    om_bytes attribute = { 0 };
    om_put_text(&attribute, 1, name);
    om_put_int(&attribute, 20, type);
    return attribute;
}

void om_attribute(om *m, om_bytes *attribute) { om_put_message(&m->node, 5, attribute); }

void om_int(om *m, const char *name, int64_t value) {
    om_bytes a = om_attribute_of(name, ONNX_ATTR_INT);
    om_put_int(&a, 3, value);
    om_attribute(m, &a);
}

void om_float(om *m, const char *name, float value) {
    om_bytes a = om_attribute_of(name, ONNX_ATTR_FLOAT);
    om_put_float(&a, 2, value);
    om_attribute(m, &a);
}

void om_text(om *m, const char *name, const char *value) {
    om_bytes a = om_attribute_of(name, ONNX_ATTR_STRING);
    om_put_text(&a, 4, value);
    om_attribute(m, &a);
}

void om_ints(om *m, const char *name, om_dims values) {
    om_bytes a = om_attribute_of(name, ONNX_ATTR_INTS);
    for (size_t i = 0; i < values.size; i++) om_put_int(&a, 8, values.data[i]);
    om_attribute(m, &a);
}

void om_reals(om *m, const char *name, const float *values, size_t n) {
    om_bytes a = om_attribute_of(name, ONNX_ATTR_FLOATS);
    for (size_t i = 0; i < n; i++) om_put_float(&a, 7, values[i]);
    om_attribute(m, &a);
}

void om_texts(om *m, const char *name, const char *const *values, size_t n) {
    om_bytes a = om_attribute_of(name, ONNX_ATTR_STRINGS);
    for (size_t i = 0; i < n; i++) om_put_text(&a, 9, values[i]);
    om_attribute(m, &a);
}

void om_tensor_attr(om *m, const char *name, om_bytes *tensor) {
    om_bytes a = om_attribute_of(name, ONNX_ATTR_TENSOR);
    om_put_message(&a, 5, tensor);
    om_attribute(m, &a);
}

void om_graph_attr(om *m, const char *name, om *graph) {
    om_bytes a = om_attribute_of(name, ONNX_ATTR_GRAPH);
    const om_bytes *bytes = om_graph(graph);
    om_put_bytes(&a, 6, bytes->data, bytes->size);
    om_attribute(m, &a);
    om_free(graph);
}

/* ---- the end ---------------------------------------------------------------------------------------------------- */

const om_bytes *om_graph(om *m) {
    close_node(m);
    return &m->graph;
}

const void *om_done(om *m, size_t *size) {
    if (!m->has_opset) om_opset(m, "", 17);
    const om_bytes *graph = om_graph(m);
    om_bytes_free(&m->whole);
    om_put_raw(&m->whole, m->model.data, m->model.size);
    om_put_bytes(&m->whole, 7, graph->data, graph->size);
    *size = m->whole.size;
    return m->whole.data;
}
