/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Nodes. A node becomes one op of an opaque class: its type, its inputs and outputs, and its attributes unchanged. */
#include "onnx/read.h"

typedef struct node {
    wire_bytes name, op_type, domain, doc, overload;
    wire_bytes attributes;    /* all their bytes, if they are contiguous */
    bool       apart;
} node;

/* ---- the message ----------------------------------------------------------------------------------------------- */

static bool add_attribute(proto_reader *r, const wire_field *f, const uint8_t *end, node *n) {
    if (!PROTO_WANT(r, f, WIRE_BYTES, "attribute")) return false;
    if (!n->attributes.at) n->attributes.at = f->at;
    else if (n->attributes.at + n->attributes.size != f->at) n->apart = true;
    n->attributes.size = (size_t)(end - n->attributes.at);
    wire_bytes *out = dialect_add(&r->d, &r->attributes, sizeof *out);
    if (out) *out = f->bytes;
    return out != NULL;
}

static bool scan_node(proto_reader *r, wire_bytes message, node *n) {
    *n = (node){ 0 };
    r->attributes.size = r->entries.size = r->devices.size = 0;
    dialect_node_begin(&r->d);
    wire_field f;
    wire_bytes text;
    wire w = wire_of(message);
    bool ok = true;
    while (ok && wire_next(&w, &f)) {
        switch (f.number) {
        case 1: ok = PROTO_TEXT(r, &f, &text, "input") && dialect_node_in(&r->d, proto_str(text)); break;
        case 2: ok = PROTO_TEXT(r, &f, &text, "output") && dialect_node_out(&r->d, proto_str(text)); break;
        case 3: ok = PROTO_TEXT(r, &f, &n->name, "name"); break;
        case 4: ok = PROTO_TEXT(r, &f, &n->op_type, "op_type"); break;
        case 5: ok = add_attribute(r, &f, w.at, n); break;
        case 6: ok = PROTO_TEXT(r, &f, &n->doc, "doc_string"); break;
        case 7: ok = PROTO_TEXT(r, &f, &n->domain, "domain"); break;
        case 8: ok = PROTO_TEXT(r, &f, &n->overload, "overload"); break;
        case 9: ok = proto_add_entry(r, &f, &r->entries, XIR_STR("metadata_props")); break;
        case 10:
            ok = PROTO_WANT(r, &f, WIRE_BYTES, "device_configurations") && proto_keep(r, f.bytes, &r->devices);
            break;
        default: break;
        }
    }
    if (!ok || !proto_end(r, &w)) return false;
    return n->op_type.size || PROTO_FAIL(r, message.at, XIR_E_MISSING, "the node has no op_type");
}

/* ---- the op ---------------------------------------------------------------------------------------------------- */

/* The order of attributes is that of graphs and tensors too, and so of the captures and ids that follow from them. */
static bool tag_order(proto_reader *r) {
    const dialect_node *n = &r->d.node;
    const xir_entry *entries = n->attrs.data;
    r->order.size = 0;
    if (n->n_sorted == n->attrs.size || r->d.net->n_params == n->n_params) return true;
    for (size_t i = 0; i < n->attrs.size; i++) {
        xir_any *name = dialect_add(&r->d, &r->order, sizeof *name);
        if (!name) return false;
        *name = xir_any_text(entries[i].key);
    }
    return dialect_tag(&r->d, &r->d.node.tags, "onnx.attribute_order", xir_any_list(r->order.data, r->order.size));
}

static bool read_attributes(proto_reader *r) {
    const wire_bytes *attributes = r->attributes.data;
    r->docs.size = r->kinds.size = 0;
    for (size_t i = 0; i < r->attributes.size; i++) {
        PROTO_ENTER_AT(r, at, "attribute", i);
        if (!proto_read_attribute(r, attributes[i])) return false;
        PROTO_LEAVE_AT(r, at);
    }
    if (!dialect_tag_entries(&r->d, &r->d.node.tags, "onnx.attribute_docs", &r->docs) ||
        !dialect_tag_entries(&r->d, &r->d.node.tags, "onnx.attribute_kinds", &r->kinds) || !tag_order(r)) return false;
    PROTO_ENTER(r, at, "attribute");
    bool ok = dialect_node_attrs_done(&r->d);
    PROTO_LEAVE(r, at);
    return ok;
}

static bool tag_node(proto_reader *r, const node *n) {
    const xir_map **tags = &r->d.node.tags;
    if (n->doc.size && !dialect_tag_text(&r->d, tags, "onnx.doc_string", proto_str(n->doc))) return false;
    if (n->overload.size && !dialect_tag_text(&r->d, tags, "onnx.overload", proto_str(n->overload))) return false;
    if (r->devices.size && !dialect_tag(&r->d, tags, "onnx.device_configurations",
                                        xir_any_list(r->devices.data, r->devices.size))) return false;
    if (n->op_type.size && memchr(n->op_type.at, '.', n->op_type.size) &&
        !dialect_tag_text(&r->d, tags, "onnx.op_type", proto_str(n->op_type))) return false;
    return dialect_tag_entries(&r->d, tags, "onnx.metadata", &r->entries);
}

/* "ai.onnx" is another name of the default domain, "". */
bool proto_read_node(proto_reader *r, wire_bytes message) {
    node n;
    if (!scan_node(r, message, &n) || !tag_node(r, &n)) return false;
    if (xir_str_equal(proto_str(n.domain), XIR_STR("ai.onnx"))) n.domain = (wire_bytes){ NULL, 0 };
    xir_str bytes = n.apart ? (xir_str){ NULL, 0 } : proto_str(n.attributes);
    if (!dialect_node_type(&r->d, proto_str(n.domain), proto_str(n.op_type))) return false;
    if (!n.domain.size) proto_know_type(r, proto_str(n.op_type));
    if (r->attributes.size && !dialect_node_attrs_again(&r->d, bytes) && !read_attributes(r)) return false;
    return dialect_node_end(&r->d, proto_str(n.name)) != NULL;
}
