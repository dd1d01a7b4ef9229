/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Constants. Elements are raw, as in memory; only texts have a field of their own. */
#include "onnx/write.h"

enum { TENSOR_DIMS = 1, TENSOR_TYPE = 2, TENSOR_STRINGS = 6, TENSOR_NAME = 8, TENSOR_RAW = 9, TENSOR_DOC = 12,
       TENSOR_METADATA = 16, TYPE_STRING = 8, TYPE_INT64 = 7, SPARSE_VALUES = 1, SPARSE_INDICES = 2, SPARSE_DIMS = 3 };

/* The head of a tensor. */
typedef struct tensor {
    uint64_t       element;
    const int64_t *dims;
    size_t         rank;
} tensor;

wire_bytes proto_data(proto_writer *w, const xir_value *v) {
    const blob *data = value_params(v)->data;
    if (data && w->counting && !w->status && (w->status = params_check(v, w->how->why))) w->reported = true;
    return (wire_bytes){ data ? data->bytes : NULL, data ? (size_t)data->size : 0 };
}

static bool no_bytes(proto_writer *w, xir_str name) {
    return proto_refuse(w, XIR_E_MISSING, "the constant '%.*s' has no bytes, and ONNX has them inside", CLIP(name));
}

static bool describe(proto_writer *w, const xir_value *v, tensor *t) {
    const xir_tensor_type *type = xir_type_as_tensor(v->type);
    const xir_str name = xir_value_name(v);
    const blob *data = value_params(v)->data;
    uint64_t size;
    if (!v->type) {
        const xir_str text = proto_tag_text(proto_value_tags(v), "onnx.type");
        if (!proto_read_tensor_text(w, text, &t->element, &t->dims, &t->rank))
            return proto_refuse(w, XIR_E_UNSUPPORTED, "the constant '%.*s' has no type that ONNX knows", CLIP(name));
        return data || no_bytes(w, name);
    }
    if (!proto_has_type(w, v))
        return proto_refuse(w, XIR_E_UNSUPPORTED, "the constant '%.*s' has a type that ONNX does not have", CLIP(name));
    *t = (tensor){ proto_code_of(w, type->element_dtype), type->shape.data, type->shape.size };
    if (xir_type_bytes(v->type, &size))
        return proto_refuse(w, XIR_E_BOUNDS, "the constant '%.*s' has an unknown dim", CLIP(name));
    if (size && !data) return no_bytes(w, name);
    return (data ? data->size : 0) == size ||
           proto_refuse(w, XIR_E_CORRUPT, "the constant '%.*s' has %llu bytes, but its type takes %llu", CLIP(name),
                        (unsigned long long)data->size, (unsigned long long)size);
}

static void put_dims(proto_writer *w, const tensor *t) {
    for (size_t i = 0; i < t->rank; i++) proto_put_number(w, TENSOR_DIMS, (uint64_t)t->dims[i]);
    proto_put_number(w, TENSOR_TYPE, t->element);
}

/* The reader put each text after its length. */
static void put_texts(proto_writer *w, wire_bytes data) {
    wire all = wire_of(data);
    while (all.at < all.end) {
        uint64_t size;
        if (!wire_next_number(&all, WIRE_VARINT, &size) || size > (size_t)(all.end - all.at)) {
            proto_refuse(w, XIR_E_CORRUPT, "a constant of texts is not a list of texts after their lengths");
            return;
        }
        proto_put_bytes(w, TENSOR_STRINGS, all.at, (size_t)size);
        all.at += size;
    }
}

static void put_raw(proto_writer *w, wire_bytes data) {
    proto_put_pair(w, proto_key(TENSOR_RAW, WIRE_BYTES), data.size);
    proto_put_lasting(w, data.at, data.size);
}

void proto_put_tensor(proto_writer *w, uint32_t field, const xir_value *v, xir_str name, bool attribute) {
    const xir_map *tags = proto_value_tags(v);
    tensor t;
    if (proto_failed(w) || !describe(w, v, &t)) return;
    if (attribute && w->counting && !proto_check_name(w, "a tensor in an attribute", name)) return;
    const proto_message m = proto_open(w, field);
    const wire_bytes data = proto_data(w, v);
    put_dims(w, &t);
    if (t.element == TYPE_STRING) put_texts(w, data);
    proto_put_some(w, TENSOR_NAME, name);
    const bool raw = t.element != TYPE_STRING && data.size, external = raw && proto_is_external(w, attribute, data);
    if (raw && !external) put_raw(w, data);
    proto_put_said(w, TENSOR_DOC, tags, "onnx.doc_string");
    if (external) proto_put_external(w, data);
    proto_put_entries(w, TENSOR_METADATA, tags, "onnx.metadata");
    proto_close(w, m);
}

/* ---- sparse ---------------------------------------------------------------------------------------------------- */

static bool is_zero(const uint8_t *at, size_t width) {
    for (size_t i = 0; i < width; i++)
        if (at[i]) return false;
    return true;
}

static void put_indices(proto_writer *w, wire_bytes data, size_t width) {
    for (size_t i = 0; i < data.size / width; i++) {
        uint8_t index[8];
        if (is_zero(data.at + i * width, width)) continue;
        for (int k = 0; k < 8; k++) index[k] = (uint8_t)((uint64_t)i >> 8 * k);
        proto_put(w, index, sizeof index);
    }
}

static void put_values(proto_writer *w, wire_bytes data, size_t width) {
    for (size_t i = 0; i < data.size / width; i++)
        if (!is_zero(data.at + i * width, width)) proto_put(w, data.at + i * width, width);
}

/* Elements whose bytes are all zero are left out; the others have an index into the flat tensor. */
void proto_put_sparse(proto_writer *w, uint32_t field, const xir_value *v, xir_str name) {
    tensor t;
    if (proto_failed(w) || !describe(w, v, &t)) return;
    const size_t width = (size_t)xir_type_storage_bits(v->type) / 8;
    const wire_bytes data = proto_data(w, v);
    int64_t n = 0;
    for (size_t i = 0; i < data.size / width; i++) n += !is_zero(data.at + i * width, width);
    const proto_message m = proto_open(w, field), values = proto_open(w, SPARSE_VALUES);
    put_dims(w, &(tensor){ t.element, &n, 1 });
    proto_put_some(w, TENSOR_NAME, name);
    proto_put_key(w, TENSOR_RAW, WIRE_BYTES);
    proto_put_varint(w, (uint64_t)n * width);
    put_values(w, data, width);
    proto_put_said(w, TENSOR_DOC, proto_value_tags(v), "onnx.doc_string");
    proto_put_entries(w, TENSOR_METADATA, proto_value_tags(v), "onnx.metadata");
    proto_close(w, values);
    const proto_message indices = proto_open(w, SPARSE_INDICES);
    put_dims(w, &(tensor){ TYPE_INT64, &n, 1 });
    proto_put_key(w, TENSOR_RAW, WIRE_BYTES);
    proto_put_varint(w, (uint64_t)n * 8);
    put_indices(w, data, width);
    proto_close(w, indices);
    for (size_t i = 0; i < t.rank; i++) proto_put_number(w, SPARSE_DIMS, (uint64_t)t.dims[i]);
    proto_close(w, m);
}
