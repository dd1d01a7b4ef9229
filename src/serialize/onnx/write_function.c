/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Writing a FunctionProto (xir_onnx_write_function), in two walks as a model is written. A function has no
 * initializers: constants that its nodes use are nodes of their own. */
#include <xir/onnx.h>
#include "diagnose.h"
#include "onnx/write.h"

enum { FUNCTION_NAME = 1, FUNCTION_INPUT = 4, FUNCTION_OUTPUT = 5, FUNCTION_NODE = 7, FUNCTION_DOC = 8,
       FUNCTION_OPSET = 9, FUNCTION_DOMAIN = 10, FUNCTION_ATTRIBUTE = 11, FUNCTION_VALUE = 12, FUNCTION_OVERLOAD = 13,
       NODE_OUTPUT = 2, NODE_TYPE = 4, NODE_ATTRIBUTE = 5, ATTRIBUTE_NAME = 1, ATTRIBUTE_T = 5, ATTRIBUTE_TYPE = 20,
       TYPE_TENSOR = 4 };

/* The op that has the attributes with a default; NULL: none has. */
static const xir_op *defaults_of(const proto_writer *w) {
    for (const xir_op *op = w->net->first; op; op = op->next)
        if (xir_str_equal(op->cls->key, XIR_STR("onnx::FunctionProto"))) return op;
    return NULL;
}

/* ---- what a function cannot have ------------------------------------------------------------------------------- */

/* An attribute of the call: its name is among those that have a default. */
static bool check_reference(proto_writer *w, const xir_op *defaults, const xir_any *any) {
    const xir_any *to = any->kind == XIR_ANY_MAP ? xir_map_find(&any->as.map, XIR_STR("onnx.ref")) : NULL;
    const xir_map *known = defaults ? xir_op_extra(defaults) : NULL;
    if (!to || to->kind != XIR_ANY_TEXT || (known && xir_map_find(known, to->as.text))) return true;
    return proto_refuse(w, XIR_E_UNSUPPORTED, "it refers to the attribute '%.*s' of the function, which has no default",
                        CLIP(to->as.text));
}

static bool check_op(proto_writer *w, const xir_op *defaults, const xir_op *op) {
    const xir_map *extra = xir_op_extra(op);
    w->at = op;
    for (size_t i = 0; extra && i < extra->size; i++)
        if (!check_reference(w, defaults, &extra->entries[i].value)) return false;
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const xir_value *v = op_inputs(op)[i].value;
        if (!v && op == w->output) return proto_refuse(w, XIR_E_MISSING, "result %u of the function is absent", i);
        if (v && !value_is_params(v) && !value_op(v))
            return proto_refuse(w, XIR_E_INVALID, "it uses '%.*s', which nothing in the function makes",
                                CLIP(xir_value_name(v)));
    }
    return true;
}

/* Inputs are known by their names, also those that nothing uses. */
static bool check_inputs(proto_writer *w) {
    w->at = w->input;
    for (uint32_t i = 0; w->input && i < w->input->n_outputs; i++)
        if (!proto_name(w, &op_outputs(w->input)[i]).size)
            return proto_refuse(w, XIR_E_INVALID, "input %u of the function has no name", i);
    return true;
}

static bool check_all(proto_writer *w, const xir_op *defaults) {
    for (const xir_op *op = w->net->first; op; op = op->next)
        if (!check_op(w, defaults, op)) return false;
    if (!check_inputs(w)) return false;
    w->at = NULL;
    return w->net->text[XIR_TEXT_NAME].size || proto_refuse(w, XIR_E_INVALID, "the function has no name");
}

/* ---- the message ----------------------------------------------------------------------------------------------- */

/* A node that returns a constant. */
static void put_constant(proto_writer *w, const xir_value *v) {
    const proto_message node = proto_open(w, FUNCTION_NODE);
    proto_put_text(w, NODE_OUTPUT, proto_name(w, v));
    proto_put_text(w, NODE_TYPE, XIR_STR("Constant"));
    const proto_message attribute = proto_open(w, NODE_ATTRIBUTE);
    proto_put_text(w, ATTRIBUTE_NAME, XIR_STR("value"));
    proto_put_tensor(w, ATTRIBUTE_T, v, proto_name(w, v), true);
    proto_put_number(w, ATTRIBUTE_TYPE, TYPE_TENSOR);
    proto_close(w, attribute);
    proto_close(w, node);
}

static void put_names(proto_writer *w) {
    for (uint32_t i = 0; w->input && i < w->input->n_outputs; i++)
        proto_put_text(w, FUNCTION_INPUT, proto_name(w, &op_outputs(w->input)[i]));
    for (uint32_t i = 0; w->output && i < w->output->n_inputs; i++)
        proto_put_text(w, FUNCTION_OUTPUT, proto_name(w, op_inputs(w->output)[i].value));
}

static void put_function(proto_writer *w, const xir_op *defaults) {
    const xir_map *tags = w->net->tags;
    w->count = w->n_sizes = 0;
    for (size_t i = 0; i < PROTO_BLOCKS; i++) w->blocks[i].of = NULL;
    proto_put_text(w, FUNCTION_NAME, w->net->text[XIR_TEXT_NAME]);
    put_names(w);
    for (size_t i = 0; i < w->n_constants && !proto_failed(w); i++) put_constant(w, w->constants[i]);
    for (const xir_op *op = w->net->first; op && !proto_failed(w); op = op->next)
        if (op != w->input && op != w->output && op != defaults) proto_put_node(w, FUNCTION_NODE, op);
    w->at = NULL;
    proto_put_said(w, FUNCTION_DOC, tags, "onnx.graph_doc_string");
    proto_put_opsets(w, FUNCTION_OPSET);
    proto_put_said(w, FUNCTION_DOMAIN, tags, "onnx.domain");
    w->at = defaults;
    if (defaults && xir_op_extra(defaults)) proto_put_attributes_in(w, FUNCTION_ATTRIBUTE, defaults);
    for (size_t i = 0; i < w->n_declared && !proto_failed(w); i++)
        proto_put_declaration(w, FUNCTION_VALUE, w->declared[i]);
    w->at = NULL;
    proto_put_said(w, FUNCTION_OVERLOAD, tags, "onnx.overload");
    proto_flush(w);
}

static bool put_bytes(void *user, const void *data, size_t size) {
    buffer *b = user;
    buffer_put(b, data, size);
    return !b->failed;
}

static void write_function(proto_writer *w) {
    const xir_op *defaults = defaults_of(w);
    if (!proto_list_elements(w) || !proto_list(w) || !check_all(w, defaults)) return;
    w->counting = true;
    put_function(w, defaults);
    if (!w->status && w->count > PROTO_MOST)
        proto_refuse(w, XIR_E_LIMIT, "the function takes %llu bytes, and a message of ONNX less than 2^31",
                     (unsigned long long)w->count);
    w->counting = false;
    if (!proto_failed(w)) put_function(w, defaults);
}

/* ---- the text -------------------------------------------------------------------------------------------------- */

static xir_status give_text(xir_network *net, const buffer *bytes, xir_text_buffer *out) {
    const size_t size = wire_base64_size(bytes->size);
    char *text = mem_new(context_alloc(net->ctx), size + 1);
    if (!text) return XIR_E_MEMORY;
    wire_put_base64((wire_bytes){ (const uint8_t *)bytes->data, bytes->size }, text);
    *out = (xir_text_buffer){ .data = text, .size = size, .room = size + 1, .ctx = net->ctx };
    return XIR_OK;
}

xir_status xir_onnx_write_function(xir_network *net, xir_text_buffer *out, xir_diags *why) {
    if (!out) return diag_null(why, "out");
    *out = (xir_text_buffer){ 0 };
    if (!net) return diag_null(why, "net");
    buffer bytes;
    buffer_init(&bytes, context_alloc(net->ctx));
    const format_writing how = { .path = "", .write = put_bytes, .user = &bytes, .why = why };
    proto_writer w = { .net = net, .how = &how, .alloc = &net->ctx->alloc };
    if (proto_begin_writing(&w)) write_function(&w);
    if (w.stopped) proto_no_memory(&w);
    xir_status status = proto_written(&w);
    proto_end_writing(&w);
    if (!status && give_text(net, &bytes, out)) status = diag_memory(why);
    buffer_free(&bytes);
    return status;
}
