/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* GraphProto: first its fields are located, in any order, and initializers are read. The others are read in the order
 * that needs least: inputs, nodes in file order, outputs, declared types. Values are found by name. A name that is used
 * before its definition becomes a value without a producer. The definition replaces it; without one it stays. */
#include "codec/read.h"
#include "onnx/read.h"
#include "source_tags.h"
#include "task.h"

enum { GRAPH_NODE = 1, GRAPH_NAME = 2, GRAPH_INITIALIZER = 5, GRAPH_DOC = 10, GRAPH_INPUT = 11, GRAPH_OUTPUT = 12,
       GRAPH_VALUE = 13, GRAPH_ANNOTATION = 14, GRAPH_SPARSE = 15, GRAPH_METADATA = 16 };

static xir_value *find_named(proto_reader *r, wire_bytes text) {
    return text.size ? dialect_find(&r->d, dialect_name(&r->d, proto_str(text))) : NULL;
}

/* ---- constants ------------------------------------------------------------------------------------------------- */

static bool note_constant(proto_reader *r, wire_bytes message, xir_value *v, bool sparse) {
    proto_constant *out = v ? dialect_add(&r->d, &r->constants, sizeof *out) : NULL;
    if (out) *out = (proto_constant){ message, v, sparse };
    return out != NULL;
}

static bool read_initializer(proto_reader *r, wire_bytes message) {
    proto_tensor t;
    if (!proto_scan_tensor(r, message, &t)) return false;
    dialect_ref name = dialect_name(&r->d, proto_str(t.name));
    xir_value *v = proto_make_tensor(r, &t);
    return dialect_constant_ref(&r->d, v, name) && note_constant(r, message, v, false);
}

static bool read_sparse_initializer(proto_reader *r, wire_bytes message) {
    wire_bytes name;
    xir_value *v = proto_read_sparse(r, message, &name);
    return dialect_constant(&r->d, v) && note_constant(r, message, v, true);
}

/* Constants are read as soon as they are met: each may lie on a page of its own, which is then touched only once. */
static bool read_constant(proto_reader *r, const wire_field *f, xir_str name) {
    bool sparse = f->number == GRAPH_SPARSE;
    frame at[2] = { proto_enter(r, name), { .up = &at[0], .index = sparse ? r->n_sparse++ : r->n_initializers++ } };
    r->d.trace.top = &at[1];
    bool room = r->d.names.n || dialect_expect_names(&r->d, r->n_nodes + 16);
    bool ok = room && (sparse ? read_sparse_initializer(r, f->bytes) : read_initializer(r, f->bytes));
    r->d.trace.top = at[0].up;
    return ok;
}

/* ---- finding fields -------------------------------------------------------------------------------------------- */

static bool note_field(proto_reader *r, const wire_field *f, const uint8_t *end) {
    proto_run *last = r->runs.size ? (proto_run *)r->runs.data + r->runs.size - 1 : NULL;
    if (last && last->field == f->number && last->fields.at + last->fields.size == f->at) {
        last->fields.size = (size_t)(end - last->fields.at);
        return true;
    }
    proto_run *run = dialect_add(&r->d, &r->runs, sizeof *run);
    if (run) *run = (proto_run){ f->number, { f->at, (size_t)(end - f->at) } };
    return run != NULL;
}

static bool set_name(proto_reader *r, const wire_field *f) {
    wire_bytes name;
    if (!PROTO_TEXT(r, f, &name, "name")) return false;
    return xir_network_set_text(r->d.net, XIR_TEXT_NAME, proto_str(name)) == XIR_OK || trace_memory(&r->d.trace);
}

static bool set_doc(proto_reader *r, const wire_field *f) {
    wire_bytes doc;
    return PROTO_TEXT(r, f, &doc, "doc_string") &&
           dialect_tag_text(&r->d, &r->d.net->tags, "onnx.graph_doc_string", proto_str(doc));
}

static xir_str repeated_name(uint32_t field) {
    switch (field) {
    case GRAPH_NODE:        return XIR_STR("node");
    case GRAPH_INITIALIZER: return XIR_STR("initializer");
    case GRAPH_INPUT:       return XIR_STR("input");
    case GRAPH_OUTPUT:      return XIR_STR("output");
    case GRAPH_VALUE:       return XIR_STR("value_info");
    case GRAPH_ANNOTATION:  return XIR_STR("quantization_annotation");
    case GRAPH_SPARSE:      return XIR_STR("sparse_initializer");
    case GRAPH_METADATA:    return XIR_STR("metadata_props");
    default:                return XIR_STR("");
    }
}

/* Steps over the nodes that follow, up to a fault, and returns their number. */
static size_t pass_nodes(wire *w) {
    wire next = *w;
    wire_field f;
    size_t n = 0;
    for (; next.at < next.end && *next.at == (GRAPH_NODE << 3 | WIRE_BYTES) && wire_next(&next, &f); n++) {
        proto_prefetch(next.at);
        *w = next;
    }
    return n;
}

bool proto_scan_graph(proto_reader *r, wire_bytes graph) {
    wire_field f;
    wire w = wire_of(graph);
    while (wire_next(&w, &f)) {
        if (f.number == GRAPH_NAME || f.number == GRAPH_DOC) {
            if (!(f.number == GRAPH_NAME ? set_name(r, &f) : set_doc(r, &f))) return false;
            continue;
        }
        xir_str name = repeated_name(f.number);
        if (!name.size) continue;
        if (f.kind != WIRE_BYTES) return proto_kind_fail(r, &f, WIRE_BYTES, name);
        if (f.number == GRAPH_NODE) r->n_nodes += 1 + pass_nodes(&w);
        bool constant = f.number == GRAPH_INITIALIZER || f.number == GRAPH_SPARSE;
        if (!(constant ? read_constant(r, &f, name) : note_field(r, &f, w.at))) return false;
    }
    return proto_end(r, &w);
}

/* Visits all fields of one number, with their index. Ends when visit returns false. */
typedef bool visit_fn(proto_reader *r, const wire_field *f, size_t i);
static bool each(proto_reader *r, uint32_t field, visit_fn *visit) {
    frame list = proto_enter(r, repeated_name(field)), item = { .up = &list, .index = 0 };
    r->d.trace.top = &item;
    bool ok = true;
    for (size_t i = 0; ok && i < r->runs.size; i++) {
        const proto_run *run = (const proto_run *)r->runs.data + i;
        if (run->field != field) continue;
        wire_field f;
        for (wire w = wire_of(run->fields); ok && wire_next(&w, &f); item.index++)
            ok = visit(r, &f, item.index) && (task_at(w.at) || trace_memory(&r->d.trace));
    }
    ok = ok && proto_make_waiting(r);
    r->d.trace.top = list.up;
    return ok;
}

/* ---- ValueInfoProto -------------------------------------------------------------------------------------------- */

typedef struct value_info { wire_bytes name; dialect_declared declared; } value_info;

static bool read_value_info(proto_reader *r, const wire_field *f, value_info *out) {
    wire_bytes type = { 0 }, doc = { 0 };
    wire_field field;
    *out = (value_info){ 0 };
    wire w = wire_of(f->bytes);
    bool ok = true;
    r->entries.size = 0;
    while (ok && wire_next(&w, &field)) {
        switch (field.number) {
        case 1: ok = PROTO_TEXT(r, &field, &out->name, "name"); break;
        case 2: ok = PROTO_ONCE(r, &field, &type, "type"); break;
        case 3: ok = PROTO_TEXT(r, &field, &doc, "doc_string"); break;
        case 4: ok = proto_add_entry(r, &field, &r->entries, XIR_STR("metadata_props")); break;
        default: break;
        }
    }
    if (!ok || !proto_end(r, &w)) return false;
    if (type.at) {
        PROTO_ENTER(r, at, "type");
        ok = proto_read_type(r, type, &out->declared);
        PROTO_LEAVE(r, at);
    }
    return ok && dialect_tag_text(&r->d, &out->declared.tags, "onnx.doc_string", proto_str(doc)) &&
           dialect_tag_entries(&r->d, &out->declared.tags, "onnx.metadata", &r->entries);
}

/* ---- ends ------------------------------------------------------------------------------------------------------ */

/* Inputs that are declared for initializers are not inputs of the network, but constants or the defaults of inputs. */
static bool is_constant_input(proto_reader *r, const value_info *info, size_t i) {
    xir_value *known = find_named(r, info->name);
    const xir_map *tags = NULL;
    if (!known || !value_is_params(known)) return false;
    const char *key = r->has_defaults ? "onnx.input" : "onnx.listed_input";
    if (dialect_tag(&r->d, &tags, key, xir_any_int((int64_t)i))) dialect_value_tags(&r->d, known, tags);
    return true;
}

static bool read_input(proto_reader *r, const wire_field *f, size_t i) {
    value_info info;
    if (!read_value_info(r, f, &info)) return false;
    if (is_constant_input(r, &info, i)) return !dialect_failed(&r->d);
    return dialect_input(&r->d, dialect_name(&r->d, proto_str(info.name)), &info.declared);
}

static bool read_output(proto_reader *r, const wire_field *f, size_t i) {
    (void)i;
    value_info info;
    return read_value_info(r, f, &info) &&
           dialect_output(&r->d, dialect_name(&r->d, proto_str(info.name)), &info.declared);
}

/* ---- the rest -------------------------------------------------------------------------------------------------- */

static bool read_node(proto_reader *r, const wire_field *f, size_t i) {
    return proto_read_again(r, f->bytes, i) || (proto_make_waiting(r) && proto_read_node(r, f->bytes));
}

static bool read_declaration(proto_reader *r, const wire_field *f, size_t i) {
    (void)i;
    value_info info;
    if (!read_value_info(r, f, &info)) return false;
    xir_value *known = find_named(r, info.name);
    return known ? dialect_declare(&r->d, known, &info.declared) : proto_keep(r, f->bytes, &r->other_values);
}

/* TensorAnnotation: names the tensors with this tensor's scale and zero point. */
static bool read_annotation(proto_reader *r, const wire_field *f, size_t i) {
    (void)i;
    wire_bytes name = { 0 };
    const xir_map *tags = NULL;
    wire_field field;
    wire w = wire_of(f->bytes);
    r->entries.size = 0;
    bool ok = true;
    while (ok && wire_next(&w, &field)) {
        if (field.number == 1) ok = PROTO_TEXT(r, &field, &name, "tensor_name");
        else if (field.number == 2)
            ok = proto_add_entry(r, &field, &r->entries, XIR_STR("quant_parameter_tensor_names"));
    }
    if (!ok || !proto_end(r, &w) || !dialect_tag_entries(&r->d, &tags, "onnx.quantization", &r->entries)) return false;
    xir_value *known = find_named(r, name);
    return known ? dialect_value_tags(&r->d, known, tags) : proto_keep(r, f->bytes, &r->other_annotations);
}

static bool read_metadata(proto_reader *r, const wire_field *f, size_t i) {
    (void)i;
    return proto_add_entry(r, f, &r->entries, XIR_STR(""));
}

bool proto_read_graph(proto_reader *r) {
    dialect *d = &r->d;
    if (!dialect_expect_names(d, d->names.n + r->n_nodes + 16)) return false;
    if (!each(r, GRAPH_INPUT, read_input) || !dialect_make_inputs(d) || !each(r, GRAPH_NODE, read_node) ||
        !each(r, GRAPH_OUTPUT, read_output) || !dialect_make_outputs(d) || !each(r, GRAPH_VALUE, read_declaration) ||
        !each(r, GRAPH_ANNOTATION, read_annotation) ||
        !dialect_drop_unused(d, "onnx.unused_initializers")) return false;
    r->entries.size = 0;
    return each(r, GRAPH_METADATA, read_metadata) &&
           dialect_tag_entries(d, &d->net->tags, "onnx.graph_metadata", &r->entries);
}

/* ---- FunctionProto --------------------------------------------------------------------------------------------- */

enum { FUNCTION_NAME = 1, FUNCTION_INPUT = 4, FUNCTION_OUTPUT = 5, FUNCTION_NODE = 7, FUNCTION_DOC = 8,
       FUNCTION_OPSET = 9, FUNCTION_DOMAIN = 10, FUNCTION_ATTRIBUTE = 11, FUNCTION_VALUE = 12,
       FUNCTION_OVERLOAD = 13 };

static bool set_text(proto_reader *r, const wire_field *f, const char *key) {
    wire_bytes text;
    return PROTO_TEXT(r, f, &text, "text") && dialect_tag_text(&r->d, &r->d.net->tags, key, proto_str(text));
}

/* Inputs, outputs, nodes and types are recorded as those of a graph. An attribute with a default has a number that no
 * field of a graph has. */
static bool scan_function_field(proto_reader *r, wire_field f, const uint8_t *end, dialect_list *opsets) {
    switch (f.number) {
    case FUNCTION_NAME:     return set_name(r, &f);
    case FUNCTION_DOC:      return set_doc(r, &f);
    case FUNCTION_DOMAIN:   return set_text(r, &f, "onnx.domain");
    case FUNCTION_OVERLOAD: return set_text(r, &f, "onnx.overload");
    case FUNCTION_OPSET:    return proto_read_opset(r, &f, opsets);
    case FUNCTION_INPUT:    f.number = GRAPH_INPUT; break;
    case FUNCTION_OUTPUT:   f.number = GRAPH_OUTPUT; break;
    case FUNCTION_NODE:     f.number = GRAPH_NODE; break;
    case FUNCTION_VALUE:    f.number = GRAPH_VALUE; break;
    case FUNCTION_ATTRIBUTE: f.number = 0; break;
    default: return true;
    }
    if (f.kind != WIRE_BYTES) return proto_kind_fail(r, &f, WIRE_BYTES, XIR_STR("field"));
    r->n_nodes += f.number == GRAPH_NODE;
    return note_field(r, &f, end);
}

bool proto_scan_function(proto_reader *r, wire_bytes function) {
    dialect_list opsets = { 0 };
    wire_field f;
    wire w = wire_of(function);
    bool ok = true;
    while (ok && wire_next(&w, &f)) ok = scan_function_field(r, f, w.at, &opsets);
    ok = ok && proto_end(r, &w) && dialect_tag_entries(&r->d, &r->d.net->tags, "onnx.opset", &opsets);
    dialect_list_free(&r->d, &opsets, sizeof(xir_entry));
    return ok;
}

static bool read_function_input(proto_reader *r, const wire_field *f, size_t i) {
    (void)i;
    return proto_is_text(f->bytes) ? dialect_input(&r->d, dialect_name(&r->d, proto_str(f->bytes)), NULL)
                                   : proto_text_fail(r, f, XIR_STR("input"));
}

static bool read_function_output(proto_reader *r, const wire_field *f, size_t i) {
    (void)i;
    return proto_is_text(f->bytes) ? dialect_output(&r->d, dialect_name(&r->d, proto_str(f->bytes)), NULL)
                                   : proto_text_fail(r, f, XIR_STR("output"));
}

static bool read_default(proto_reader *r, const wire_field *f, size_t i) {
    if (!i) {
        dialect_node_begin(&r->d);
        if (!dialect_node_type(&r->d, XIR_STR(""), XIR_STR("FunctionProto"))) return false;
        r->docs.size = 0;
    }
    return proto_read_attribute(r, f->bytes);
}

static bool read_defaults(proto_reader *r) {
    bool any = false;
    for (size_t i = 0; i < r->runs.size; i++) any |= ((const proto_run *)r->runs.data)[i].field == 0;
    return !any || (each(r, 0, read_default) && dialect_node_end(&r->d, XIR_STR("")));
}

bool proto_read_function(proto_reader *r) {
    dialect *d = &r->d;
    return dialect_expect_names(d, r->n_nodes + 16) && each(r, GRAPH_INPUT, read_function_input) &&
           dialect_make_inputs(d) && read_defaults(r) && each(r, GRAPH_NODE, read_node) &&
           each(r, GRAPH_OUTPUT, read_function_output) && dialect_make_outputs(d) &&
           each(r, GRAPH_VALUE, read_declaration);
}
