/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Functions of the model: a node that names one becomes the nodes of its body. */
#include <stdio.h>
#include <xir/onnx.h>
#include "onnx/control.h"
#include "onnx/custom.h"
#include "onnx/onnx.h"
#include "walk/called.h"

/* ---- the functions of the model --------------------------------------------------------------------------------- */

static xir_str tag_text(const xir_network *net, const char *key) {
    const xir_any *tag = xir_map_find(xir_network_tags(net), xir_str_of(key));
    return tag && tag->kind == XIR_ANY_TEXT ? tag->as.text : (xir_str){ NULL, 0 };
}

/* "domain.name:overload" */
static bool make_key(xir_node *at, arena *memory, xir_str domain, xir_str name, xir_str overload, xir_str *out) {
    char *text = arena_take(memory, domain.size + name.size + overload.size + 2);
    if (!text) return node_no_memory(at);
    const xir_str parts[] = { domain, XIR_STR("."), name, XIR_STR(":"), overload };
    *out = (xir_str){ text, 0 };
    for (size_t i = 0; i < COUNT(parts); i++) {
        if (parts[i].size) memcpy(text + out->size, parts[i].data, parts[i].size);
        out->size += parts[i].size;
    }
    return true;
}

static bool read_function(xir_node *at, xir_str text, body_function *out) {
    conversion *c = at->c;
    char path[60];
    xir_diags *why = xir_diags_new(c->ctx);
    xir_network *net = why ? xir_onnx_read_function(c->ctx, text, why) : NULL;
    const xir_diag *d = why ? xir_diags_at(why, 0) : NULL;
    const bool no_memory = !why || (!net && (!d || d->code == XIR_E_MEMORY));
    if (!net && !no_memory) {
        snprintf(path, sizeof path, "/functions/%zu", out->number);
        if (!c->status) c->status = d->code;
        xir_diags_add(c->why, XIR_ERROR, d->code, xir_str_of(path), "%s%.*s", c->prefix, CLIP_TO(d->message, 300));
    }
    xir_diags_free(why);
    if (no_memory) return node_no_memory(at);
    if (!net) return true;
    converted_body(c, net);
    out->net = net;
    out->name = xir_network_text_of(net, XIR_TEXT_NAME);
    const xir_any *opset = xir_map_find(xir_network_tags(net), XIR_STR("onnx.opset"));
    if (opset && opset->kind == XIR_ANY_MAP) out->versions = &opset->as.map;
    const xir_op *first = xir_op_next(xir_network_first(net));
    const bool defaults = first && xir_str_equal(xir_class_key(xir_op_class(first)), XIR_STR("onnx::FunctionProto"));
    out->defaults = defaults ? first : NULL;
    xir_str domain = tag_text(net, "onnx.domain"), key;
    if (xir_str_equal(domain, XIR_STR("ai.onnx"))) domain.size = 0;
    if (!make_key(at, &c->scratch, domain, out->name, tag_text(net, "onnx.overload"), &key)) return false;
    const uint32_t i = (uint32_t)(out - c->in.functions);
    return text_table_find(&c->in.function_of, key) || text_table_add(&c->in.function_of, key, i) ||
           node_no_memory(at);
}

/* Reads all of them, when the first node is met that may be a call. */
static bool read_functions(xir_node *at) {
    inlining *in = &at->c->in;
    const xir_any *list = xir_map_find(xir_network_tags(at->c->net), XIR_STR("onnx.functions"));
    const size_t n = list && list->kind == XIR_ANY_LIST ? list->as.list.size : 0;
    if (in->has_functions) return true;
    in->functions = n ? arena_take(&at->c->scratch, n * sizeof *in->functions) : NULL;
    if (n && !in->functions) return node_no_memory(at);
    for (size_t i = 0; i < n; i++) {
        const xir_any *text = &list->as.list.items[i];
        body_function *f = &in->functions[in->n_functions];
        *f = (body_function){ .number = i };
        if (text->kind != XIR_ANY_TEXT) continue;
        in->n_functions++;
        if (!read_function(at, text->as.text, f)) return false;
    }
    in->has_functions = true;
    return true;
}

/* The function that the node calls; NULL if it calls none, or after a failure. */
static body_function *function_of(xir_node *at) {
    xir_str domain, type;
    const xir_any *tag = xir_map_find(xir_op_tags(at->op), XIR_STR("onnx.overload"));
    const xir_str overload = tag && tag->kind == XIR_ANY_TEXT ? tag->as.text : (xir_str){ NULL, 0 };
    xir_str key;
    if (!read_functions(at) || !at->c->in.n_functions) return NULL;
    convert_split_key(at->cls->dialect, xir_class_key(xir_op_class(at->op)), &domain, &type);
    if (!make_key(at, &at->c->brief, domain, type, overload, &key)) return NULL;
    const uint32_t *i = text_table_find(&at->c->in.function_of, key);
    return i ? &at->c->in.functions[*i] : NULL;
}

/* ---- a call ----------------------------------------------------------------------------------------------------- */

/* With the option functions=keep, what the node has become is a call at the end. */
static bool note_call(xir_node *at) {
    const size_t prefix = sizeof "onnx::" - 1;
    const xir_str key = xir_class_key(xir_op_class(at->op));
    const xir_any *overload = xir_map_find(xir_op_tags(at->op), XIR_STR("onnx.overload"));
    const bool has = overload && overload->kind == XIR_ANY_TEXT;
    const xir_entry own[] = {
        { XIR_STR(ONNX_FUNCTION_TAG), xir_any_text((xir_str){ key.data + prefix, key.size - prefix }) },
        { XIR_STR("onnx.overload"), has ? *overload : xir_any_text(XIR_STR("")) },
    };
    return called_note(at, own, COUNT(own));
}

static bool resume_call(xir_node *at) {
    for (size_t i = 0; i < at->n_out; i++) onnx_give(at, i, node_result_of_body(at, i));
    if (at->c->in.keeps_functions && !xir_node_failed(at)) note_call(at);
    return !xir_node_failed(at);
}

/* "b calls c, which calls b" */
static bool in_a_circle(xir_node *at, const body_function *f) {
    char text[300] = "";
    const body_frame *frame = node_frame(at);
    size_t n = 0;
    while (frame && frame->function != f) frame = frame->up;
    if (!frame) return false;
    for (const body_frame *k = node_frame(at); n < 200; k = k->up) {
        if (!k->function) continue;
        n += (size_t)snprintf(text + n, sizeof text - n, "%s'%.*s'", n ? ", which is called by " : "",
                              CLIP_TO(k->name, 60));
        if (k == frame) break;
    }
    xir_node_invalid(at, XIR_E_INVALID, NULL, "functions call each other in a circle: '%.*s' is called by %s",
                     CLIP_TO(f->name, 60), text);
    return true;
}

/* Copies the texts and lists of the defaults once; Params stay those of the function. */
static bool take_defaults(xir_node *at, body_function *f) {
    const xir_map *extra = f->defaults && !f->own_defaults ? xir_op_extra(f->defaults) : NULL;
    if (!extra) return true;
    const xir_any map = { .kind = XIR_ANY_MAP, .as.map = *extra };
    xir_any copy;
    xir_map *own = arena_take(&at->c->net->arena, sizeof *own);
    if (!own || !any_copy(&at->c->net->arena, &map, &copy)) return node_no_memory(at);
    *own = copy.as.map;
    f->own_defaults = own;
    return true;
}

static bool call(xir_node *at) {
    body_function *f = xir_node_failed(at) ? NULL : function_of(at);
    const size_t n_in = xir_op_input_count(at->op);
    xir_value **results;
    size_t n;
    if (!f || in_a_circle(at, f)) return false;
    const xir_op *input = xir_network_input_op(f->net), *output = xir_network_output_op(f->net);
    const size_t most = xir_op_output_count(input), returned = output ? xir_op_input_count(output) : 0;
    if (at->n_in > most || at->n_out > returned) {
        return xir_node_invalid(at, XIR_E_BOUNDS, NULL,
                                "the function has %zu inputs and %zu outputs, the node has %zu and %zu", most,
                                returned, at->n_in, at->n_out);
    }
    char *place = arena_take(&at->c->scratch, 60);
    xir_value **args = node_take(at, (most + 1) * sizeof *args);
    if (!place || !args) return node_no_memory(at);
    snprintf(place, 60, "/functions/%zu/node/", f->number);
    for (size_t i = 0; i < most; i++) args[i] = i < n_in ? xir_op_input(at->op, (int64_t)i) : NULL;
    opened_node *o = take_defaults(at, f) ? node_open(at, f->net, false, place, resume_call) : NULL;
    if (!o) return false;
    o->frame.function = f;
    o->frame.name = f->name;
    o->frame.given = xir_op_extra(at->op);
    o->frame.defaults = f->own_defaults;
    o->frame.versions = f->versions;
    o->skipped = f->defaults;
    if (!node_copy_body(at, args, most, SIZE_MAX, &results, &n)) return false;
    for (size_t i = 0; i < n; i++) node_set_result_of_body(at, i, results[i]);
    return node_go_back(at);
}

xir_convert_fn *onnx_function(xir_node *at) {
    if (function_of(at)) return call;
    return !xir_node_failed(at) && onnx_is_custom(at->op) ? onnx_custom : NULL;
}
