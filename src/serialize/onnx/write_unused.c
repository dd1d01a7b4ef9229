/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Initializers that nothing uses, and what is said about values that do not exist: tags have the messages. They are
 * written as long as no value has got such a name. */
#include <stdio.h>
#include "onnx/write.h"

enum { TENSOR_DIMS = 1, TENSOR_TYPE = 2, TENSOR_NAME = 8, SPARSE_VALUES = 1, SPARSE_DIMS = 3, INFO_NAME = 1,
       INFO_TYPE = 2 };

static wire_bytes find_field(wire_bytes message, uint32_t field) {
    wire_bytes found = { NULL, 0 };
    wire_field f;
    for (wire w = wire_of(message); wire_next(&w, &f);)
        if (f.number == field && f.kind == WIRE_BYTES) found = f.bytes;
    return found;
}

/* The value that has the name may be its duplicate. */
static bool is_taken(const proto_writer *w, wire_bytes name) {
    const uint32_t *known = text_table_find(&w->names, (xir_str){ (const char *)name.at, name.size });
    return known && !(*known & 1);
}

/* The message of an item under one of its kinds; false if it is of the other. */
static bool take_message(proto_writer *w, size_t i, const char *kind, wire_bytes *out) {
    const xir_any *list = proto_tag(w->net->tags, "onnx.unused", XIR_ANY_LIST), *item = &list->as.list.items[i];
    const xir_any *text = item->kind == XIR_ANY_MAP ? xir_map_find(&item->as.map, xir_str_of(kind)) : NULL;
    if (!text) return false;
    if (text->kind != XIR_ANY_TEXT || !proto_take_base64(w, text->as.text, out))
        return proto_refuse(w, XIR_E_SYNTAX, "item %zu of the tag onnx.unused is not in base64", i);
    const bool sparse = strcmp(kind, "sparse_tensor") == 0;
    const proto_place place = sparse ? PROTO_SPARSE : PROTO_TENSOR;
    if (!proto_check_message(w, place, "an item of the tag onnx.unused", *out)) return false;
    return !is_taken(w, find_field(sparse ? find_field(*out, SPARSE_VALUES) : *out, TENSOR_NAME));
}

void proto_put_others(proto_writer *w, uint32_t field, const char *key) {
    const xir_any *list = proto_tag(w->net->tags, key, XIR_ANY_LIST);
    for (size_t i = 0; list && i < list->as.list.size; i++) {
        const xir_any *item = &list->as.list.items[i];
        wire_bytes message;
        if (item->kind != XIR_ANY_TEXT || !proto_take_base64(w, item->as.text, &message)) {
            proto_refuse(w, XIR_E_SYNTAX, "item %zu of the tag %s is not in base64", i, key);
            return;
        }
        if (is_taken(w, find_field(message, INFO_NAME))) continue;
        char what[64];
        snprintf(what, sizeof what, "item %zu of the tag %s", i, key);
        if (!proto_check_message(w, strcmp(key, "onnx.value_info") == 0 ? PROTO_INFO : PROTO_ANNOTATION, what, message))
            return;
        proto_put_bytes(w, field, message.at, message.size);
    }
}

void proto_put_unused(proto_writer *w, uint32_t field, const char *kind) {
    const xir_any *list = proto_tag(w->net->tags, "onnx.unused", XIR_ANY_LIST);
    wire_bytes message;
    for (size_t i = 0; list && i < list->as.list.size; i++)
        if (take_message(w, i, kind, &message)) proto_put_bytes(w, field, message.at, message.size);
}

/* ---- declared as inputs ---------------------------------------------------------------------------------------- */

static uint64_t find_element(wire_bytes tensor) {
    uint64_t element = 0;
    wire_field f;
    for (wire w = wire_of(tensor); wire_next(&w, &f);)
        if (f.number == TENSOR_TYPE) element = f.value;
    return element;
}

static void put_dim(proto_writer *w, uint64_t v) {
    const proto_message m = proto_open(w, 1);
    proto_put_number(w, 1, v);
    proto_close(w, m);
}

static void put_dims(proto_writer *w, wire_bytes message, uint32_t field) {
    const proto_message m = proto_open(w, 2);
    wire_field f;
    for (wire all = wire_of(message); wire_next(&all, &f);) {
        if (f.number != field) continue;
        uint64_t v;
        wire packed = wire_of(f.kind == WIRE_BYTES ? f.bytes : (wire_bytes){ NULL, 0 });
        if (f.kind == WIRE_VARINT) put_dim(w, f.value);
        while (wire_next_number(&packed, WIRE_VARINT, &v)) put_dim(w, v);
    }
    proto_close(w, m);
}

void proto_put_unused_input(proto_writer *w, uint32_t field, size_t i) {
    wire_bytes message;
    const bool dense = take_message(w, i, "tensor", &message);
    if (!dense && !take_message(w, i, "sparse_tensor", &message)) return;
    const wire_bytes values = dense ? message : find_field(message, SPARSE_VALUES);
    const wire_bytes name = find_field(values, TENSOR_NAME);
    const proto_message info = proto_open(w, field);
    proto_put_bytes(w, INFO_NAME, name.at, name.size);
    const proto_message type = proto_open(w, INFO_TYPE), tensor = proto_open(w, 1);
    proto_put_number(w, 1, find_element(values));
    put_dims(w, message, dense ? TENSOR_DIMS : SPARSE_DIMS);
    proto_close(w, tensor);
    proto_close(w, type);
    proto_close(w, info);
}
