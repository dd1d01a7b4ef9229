/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* GraphProto: ops are nodes, in their order; the op of all inputs and the op of all outputs are lists of values. */
#include "onnx/write.h"
#include "task.h"

enum { GRAPH_NODE = 1, GRAPH_NAME = 2, GRAPH_INITIALIZER = 5, GRAPH_DOC = 10, GRAPH_INPUT = 11, GRAPH_OUTPUT = 12,
       GRAPH_VALUE = 13, GRAPH_ANNOTATION = 14, GRAPH_SPARSE = 15, GRAPH_METADATA = 16,
       NODE_INPUT = 1, NODE_OUTPUT = 2, NODE_NAME = 3, NODE_TYPE = 4, NODE_DOC = 6, NODE_DOMAIN = 7,
       NODE_OVERLOAD = 8, NODE_METADATA = 9, NODE_DEVICES = 10,
       INFO_NAME = 1, INFO_TYPE = 2, INFO_DOC = 3, INFO_METADATA = 4, ANNOTATION_NAME = 1, ANNOTATION_NAMES = 2 };

/* ---- nodes ----------------------------------------------------------------------------------------------------- */

/* "onnx::com.microsoft.Gelu" is Gelu of com.microsoft, "onnx::ai.onnx.Abs" of the default domain. An op type with a dot
 * is in a tag: the class is that text, or ends with it after a dot. */
static void put_op_type(proto_writer *w, const xir_op *op, const xir_map *tags, xir_str *domain) {
    enum { PREFIX = 6 };
    const xir_str key = op->cls->key, said = tags ? proto_tag_text(tags, "onnx.op_type") : (xir_str){ NULL, 0 };
    xir_str name = { key.data + PREFIX, key.size - PREFIX };
    size_t n = name.size;
    while (n > 0 && name.data[n - 1] != '.') n--;
    if (said.size) {
        n = said.size <= name.size ? name.size - said.size : 0;
        if (!xir_str_equal((xir_str){ name.data + n, name.size - n }, said) || (n && name.data[n - 1] != '.'))
            proto_refuse(w, XIR_E_INVALID, "the tag onnx.op_type says '%.*s', but its class is '%.*s'", CLIP(said),
                         CLIP(key));
    }
    *domain = proto_domain((xir_str){ name.data, n ? n - 1 : 0 });
    name = (xir_str){ name.data + n, name.size - n };
    if (!name.size) proto_refuse(w, XIR_E_UNSUPPORTED, "its class names no operator");
    proto_put_text(w, NODE_TYPE, name);
}

void proto_put_node(proto_writer *w, uint32_t field, const xir_op *op) {
    const xir_map *tags = op_tags(op);
    const uint32_t n = tags ? proto_own_inputs(op) : op->n_inputs;
    xir_str domain;
    w->at = op;
    const proto_message m = proto_open(w, field);
    for (uint32_t i = 0; i < n; i++) {
        const xir_value *v = op_inputs(op)[i].value;
        proto_put_text(w, NODE_INPUT, v ? proto_name(w, v) : XIR_STR(""));
    }
    for (uint32_t i = 0; i < op->n_outputs; i++) proto_put_text(w, NODE_OUTPUT, proto_name(w, &op_outputs(op)[i]));
    proto_put_some(w, NODE_NAME, name_text(op_label(op)));
    put_op_type(w, op, tags, &domain);
    if (op_more_of(op)) proto_put_attributes(w, op);
    if (tags) proto_put_said(w, NODE_DOC, tags, "onnx.doc_string");
    proto_put_some(w, NODE_DOMAIN, domain);
    if (tags) {
        proto_put_said(w, NODE_OVERLOAD, tags, "onnx.overload");
        proto_put_entries(w, NODE_METADATA, tags, "onnx.metadata");
        proto_put_kept(w, NODE_DEVICES, tags, "onnx.device_configurations");
    }
    proto_close(w, m);
}

/* ---- values ---------------------------------------------------------------------------------------------------- */

/* Tags of constants belong to their tensors. */
static void put_info(proto_writer *w, uint32_t field, const xir_value *v, xir_str name) {
    const xir_map *tags = value_is_params(v) ? NULL : proto_value_tags(v);
    const proto_message m = proto_open(w, field);
    proto_put_text(w, INFO_NAME, name);
    proto_put_type(w, INFO_TYPE, v);
    proto_put_said(w, INFO_DOC, tags, "onnx.doc_string");
    proto_put_entries(w, INFO_METADATA, tags, "onnx.metadata");
    proto_close(w, m);
}

/* An input or output of the network. */
static void put_end(proto_writer *w, uint32_t field, const xir_value *v) {
    const char *what = field == GRAPH_INPUT ? "input" : "output";
    const xir_str name = proto_name(w, v);
    if (v->type && !proto_has_type(w, v))
        proto_refuse(w, XIR_E_UNSUPPORTED, "the %s '%.*s' has a type that ONNX does not have", what, CLIP(name));
    else if (!v->type && !proto_tag_text(proto_value_tags(v), "onnx.type").size)
        proto_refuse(w, XIR_E_TYPE, "the %s '%.*s' has no type, and ONNX needs one: set it%s", what, CLIP(name),
                     field == GRAPH_INPUT ? "" : ", or convert the network to XIR and back, which infers it");
    else put_info(w, field, v, name);
}

static bool is_output(const proto_writer *w, const xir_value *v) {
    for (const xir_use *use = v->uses; use; use = use->next)
        if (use->user == w->output) return true;
    return false;
}

void proto_put_declaration(proto_writer *w, uint32_t field, const xir_value *v) {
    const xir_map *tags = proto_value_tags(v);
    const bool tagged = tags && (proto_tag_text(tags, "onnx.type").size ||
                                 proto_tag_text(tags, "onnx.denotation").size ||
                                 proto_tag_text(tags, "onnx.doc_string").size ||
                                 proto_tag(tags, "onnx.metadata", XIR_ANY_MAP));
    const xir_str name = proto_name(w, v);
    if ((tagged || proto_has_type(w, v)) && name.size) put_info(w, field, v, name);
}

static void put_annotation(proto_writer *w, const xir_value *v) {
    const xir_map *tags = proto_value_tags(v);
    if (!proto_tag(tags, "onnx.quantization", XIR_ANY_MAP)) return;
    const proto_message m = proto_open(w, GRAPH_ANNOTATION);
    proto_put_text(w, ANNOTATION_NAME, proto_name(w, v));
    proto_put_entries(w, ANNOTATION_NAMES, tags, "onnx.quantization");
    proto_close(w, m);
}

/* ---- constants ------------------------------------------------------------------------------------------------- */

static bool is_sparse(const xir_value *v) {
    const xir_any *tag = proto_tag(proto_value_tags(v), "onnx.sparse", XIR_ANY_BOOL);
    return tag && tag->as.boolean && v->type && xir_type_storage_bits(v->type) % 8 == 0 &&
           xir_type_storage_bits(v->type) > 0;
}

static void put_constants(proto_writer *w, uint32_t field) {
    for (size_t i = 0; i < w->n_constants && !proto_failed(w); i++) {
        const xir_value *v = w->constants[i];
        if (is_sparse(v) != (field == GRAPH_SPARSE)) continue;
        if (field == GRAPH_SPARSE) proto_put_sparse(w, field, v, proto_name(w, v));
        else proto_put_tensor(w, field, v, proto_name(w, v), false);
    }
}

/* ---- inputs ---------------------------------------------------------------------------------------------------- */

/* Returns the position at which the file declares a constant as an input, too. */
static size_t place_of(const xir_map *tags, const char *key, size_t n) {
    const xir_any *tag = proto_tag(tags, key, XIR_ANY_INT);
    return tag && tag->as.integer >= 0 && (uint64_t)tag->as.integer < n ? (size_t)tag->as.integer : SIZE_MAX;
}

/* An input of the graph, by its number: a constant, an initializer that nothing uses, or an input of the network. */
typedef struct graph_input { const xir_value *constant; size_t unused; } graph_input;

static void place_constants(proto_writer *w, graph_input *at, size_t n) {
    const xir_any *unused = proto_tag(w->net->tags, "onnx.unused", XIR_ANY_LIST);
    for (size_t i = 0; i < w->n_constants; i++) {
        const xir_map *tags = proto_value_tags(w->constants[i]);
        size_t place = place_of(tags, "onnx.input", n);
        if (place == SIZE_MAX && !w->has_defaults) place = place_of(tags, "onnx.listed_input", n);
        if (place != SIZE_MAX && !at[place].constant) at[place].constant = w->constants[i];
    }
    for (size_t i = 0; unused && i < unused->as.list.size; i++) {
        const xir_any *item = &unused->as.list.items[i];
        const size_t place = item->kind == XIR_ANY_MAP ? place_of(&item->as.map, "input", n) : SIZE_MAX;
        if (place != SIZE_MAX && !at[place].constant) at[place].unused = i;
    }
}

static void put_inputs(proto_writer *w) {
    const xir_any *unused = proto_tag(w->net->tags, "onnx.unused", XIR_ANY_LIST);
    const size_t n_own = w->input ? w->input->n_outputs : 0, n_unused = unused ? unused->as.list.size : 0;
    const size_t n = n_own + w->n_constants + n_unused;
    graph_input *at = arena_take(&w->scratch, n * sizeof *at);
    size_t own = 0;
    if (!at) {
        proto_no_memory(w);
        return;
    }
    for (size_t i = 0; i < n; i++) at[i] = (graph_input){ NULL, SIZE_MAX };
    place_constants(w, at, n);
    for (size_t i = 0; i < n && !proto_failed(w); i++) {
        if (at[i].constant) put_info(w, GRAPH_INPUT, at[i].constant, proto_name(w, at[i].constant));
        else if (at[i].unused != SIZE_MAX) proto_put_unused_input(w, GRAPH_INPUT, at[i].unused);
        else if (own < n_own) put_end(w, GRAPH_INPUT, &op_outputs(w->input)[own++]);
    }
}

static void put_outputs(proto_writer *w) {
    for (uint32_t i = 0; w->output && i < w->output->n_inputs && !proto_failed(w); i++) {
        const xir_value *v = op_inputs(w->output)[i].value;
        if (v) put_end(w, GRAPH_OUTPUT, v);
        else proto_close(w, proto_open(w, GRAPH_OUTPUT));
    }
}

/* ---- the graph ------------------------------------------------------------------------------------------------- */

static void put_declarations(proto_writer *w) {
    for (size_t i = 0; i < w->n_declared && !proto_failed(w); i++) {
        w->at = value_op(w->declared[i]);
        if (w->at != w->input && !is_output(w, w->declared[i])) proto_put_declaration(w, GRAPH_VALUE, w->declared[i]);
    }
    for (size_t i = 0; i < w->n_open; i++)
        if (!is_output(w, w->open_values[i])) proto_put_declaration(w, GRAPH_VALUE, w->open_values[i]);
}

static void put_annotations(proto_writer *w) {
    for (size_t i = 0; i < w->n_constants; i++) put_annotation(w, w->constants[i]);
    for (size_t i = 0; i < w->n_declared; i++) put_annotation(w, w->declared[i]);
    for (size_t i = 0; i < w->n_open; i++) put_annotation(w, w->open_values[i]);
}

void proto_put_graph(proto_writer *w, uint32_t field) {
    const xir_map *tags = w->net->tags;
    const proto_message m = proto_open(w, field);
    for (const xir_op *op = w->net->first; op && !proto_failed(w); op = op->next)
        if (!task_worked(TASK_PER_OBJECT)) proto_no_memory(w);
        else if (op != w->input && op != w->output) proto_put_node(w, GRAPH_NODE, op);
    w->at = NULL;
    proto_put_some(w, GRAPH_NAME, w->net->text[XIR_TEXT_NAME]);
    put_constants(w, GRAPH_INITIALIZER);
    proto_put_unused(w, GRAPH_INITIALIZER, "tensor");
    proto_put_said(w, GRAPH_DOC, tags, "onnx.graph_doc_string");
    w->at = w->input;
    put_inputs(w);
    w->at = w->output;
    put_outputs(w);
    put_declarations(w);
    w->at = NULL;
    proto_put_others(w, GRAPH_VALUE, "onnx.value_info");
    put_annotations(w);
    proto_put_others(w, GRAPH_ANNOTATION, "onnx.quantization_annotation");
    put_constants(w, GRAPH_SPARSE);
    proto_put_unused(w, GRAPH_SPARSE, "sparse_tensor");
    proto_put_entries(w, GRAPH_METADATA, tags, "onnx.graph_metadata");
    proto_close(w, m);
}
