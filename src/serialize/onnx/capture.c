/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The values that a subgraph takes from outside: captures of the node that contains it. */
#include "onnx/read.h"

typedef struct scope { proto_reader *r; dialect_scopes names; } scope;

static bool define(scope *s, wire_bytes text) { return dialect_scope_define(&s->names, proto_str(text)); }
static bool use(scope *s, wire_bytes text)    { return dialect_scope_use(&s->names, proto_str(text)); }

/* ---- walking --------------------------------------------------------------------------------------------------- */

/* Visits the texts of a field in a message. */
typedef bool text_fn(scope *s, wire_bytes text);
static bool each_text(scope *s, wire_bytes message, uint32_t field, text_fn *visit) {
    wire_field f;
    wire w = wire_of(message);
    while (wire_next(&w, &f)) {
        wire_bytes text;
        if (f.number != field) continue;
        if (!PROTO_TEXT(s->r, &f, &text, "name") || !visit(s, text)) return false;
    }
    return proto_end(s->r, &w);
}

enum { GRAPH_NODE = 1, GRAPH_INITIALIZER = 5, GRAPH_INPUT = 11, GRAPH_OUTPUT = 12, GRAPH_SPARSE = 15,
       NODE_INPUT = 1, NODE_OUTPUT = 2, NODE_ATTRIBUTE = 5, ATTRIBUTE_G = 6, ATTRIBUTE_GRAPHS = 11, INFO_NAME = 1,
       TENSOR_NAME = 8, SPARSE_VALUES = 1 };

static bool define_sparse(scope *s, wire_bytes sparse) {
    wire_field f;
    wire w = wire_of(sparse);
    while (wire_next(&w, &f)) {
        if (f.number == SPARSE_VALUES && f.kind == WIRE_BYTES && !each_text(s, f.bytes, TENSOR_NAME, define))
            return false;
    }
    return proto_end(s->r, &w);
}

static bool define_all(scope *s, wire_bytes graph) {
    wire_field f;
    wire w = wire_of(graph);
    bool ok = true;
    while (ok && wire_next(&w, &f)) {
        if (f.kind != WIRE_BYTES) continue;
        switch (f.number) {
        case GRAPH_NODE:        ok = each_text(s, f.bytes, NODE_OUTPUT, define); break;
        case GRAPH_INITIALIZER: ok = each_text(s, f.bytes, TENSOR_NAME, define); break;
        case GRAPH_INPUT:       ok = each_text(s, f.bytes, INFO_NAME, define); break;
        case GRAPH_SPARSE:      ok = define_sparse(s, f.bytes); break;
        default:                break;
        }
    }
    return ok && proto_end(s->r, &w);
}

static bool walk_graph(scope *s, wire_bytes graph);

static bool walk_node(scope *s, wire_bytes node) {
    wire_field f, inner;
    if (!each_text(s, node, NODE_INPUT, use)) return false;
    for (wire w = wire_of(node); wire_next(&w, &f);) {
        if (f.number != NODE_ATTRIBUTE || f.kind != WIRE_BYTES) continue;
        wire a = wire_of(f.bytes);
        while (wire_next(&a, &inner)) {
            bool is_graph = (inner.number == ATTRIBUTE_G || inner.number == ATTRIBUTE_GRAPHS) &&
                inner.kind == WIRE_BYTES;
            if (is_graph && !walk_graph(s, inner.bytes)) return false;
        }
        if (!proto_end(s->r, &a)) return false;
    }
    return true;
}

/* Walks nodes, and results that come straight from outside. */
static bool walk_graph(scope *s, wire_bytes graph) {
    size_t outside;
    if (!dialect_scope_enter(&s->names, proto_byte(s->r, graph.at), &outside)) return false;
    bool ok = define_all(s, graph);
    wire_field f;
    for (wire w = wire_of(graph); ok && wire_next(&w, &f);) {
        if (f.kind != WIRE_BYTES) continue;
        if (f.number == GRAPH_NODE) ok = walk_node(s, f.bytes);
        else if (f.number == GRAPH_OUTPUT) ok = each_text(s, f.bytes, INFO_NAME, use);
    }
    dialect_scope_leave(&s->names, outside);
    return ok;
}

bool proto_find_captures(proto_reader *r, wire_bytes graph) {
    scope s = { .r = r };
    dialect_scopes_begin(&s.names, &r->d);
    bool ok = walk_graph(&s, graph);
    dialect_scopes_end(&s.names);
    return ok;
}
