/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A model: the fields of ModelProto become tags of the network, its graph becomes the network (graph.c). */
#include "onnx/read.h"
#include "utf8.h"

/* ---- for all messages ------------------------------------------------------------------------------------------ */

bool proto_end_slow(proto_reader *r, const wire *w) {
    if (w->fault == WIRE_LENGTH) {
        return PROTO_FAIL(r, w->where, XIR_E_SYNTAX,
                          "a length of %" PRIu64 " bytes reaches beyond the end of its message", w->length);
    }
    return PROTO_FAIL(r, w->where, XIR_E_SYNTAX, "%s", wire_fault_text(w->fault));
}

bool proto_kind_fail(proto_reader *r, const wire_field *f, wire_kind kind, xir_str name) {
    static const char *const words[] = { "a number", "8 bytes", "bytes", "", "", "4 bytes" };
    frame at = proto_enter(r, name);
    r->d.trace.top = &at;
    PROTO_FAIL(r, f->at, XIR_E_TYPE, "%s must be %s (wire type %d), found wire type %d", name.data, words[kind],
               (int)kind, (int)f->kind);
    r->d.trace.top = at.up;
    return false;
}

bool proto_once(proto_reader *r, const wire_field *f, wire_bytes *out, xir_str name) {
    if (f->kind != WIRE_BYTES) return proto_kind_fail(r, f, WIRE_BYTES, name);
    if (out->at)
        return PROTO_FAIL(r, f->at, XIR_E_EXISTS, "%s appears twice: messages are not merged", name.data);
    *out = f->bytes;
    return true;
}

bool proto_is_utf8(wire_bytes b) { return utf8_is_text((const char *)b.at, b.size); }

bool proto_text_fail(proto_reader *r, const wire_field *f, xir_str name) {
    if (f->kind != WIRE_BYTES) return proto_kind_fail(r, f, WIRE_BYTES, name);
    return PROTO_FAIL(r, f->at, XIR_E_SYNTAX, "%s is not UTF-8", name.data);
}

/* ---- entries --------------------------------------------------------------------------------------------------- */

bool proto_add_entry(proto_reader *r, const wire_field *f, dialect_list *entries, xir_str name) {
    if (f->kind != WIRE_BYTES) return proto_kind_fail(r, f, WIRE_BYTES, name);
    frame at[2] = { proto_enter(r, name), { .up = &at[0], .index = entries->size } };
    if (name.size) r->d.trace.top = &at[1];   /* otherwise the caller has pushed the place */
    wire_bytes key = { 0 }, value = { 0 };
    wire_field field;
    wire w = wire_of(f->bytes);
    bool ok = true;
    while (ok && wire_next(&w, &field)) {
        if (field.number == 1) ok = PROTO_TEXT(r, &field, &key, "key");
        else if (field.number == 2) ok = PROTO_TEXT(r, &field, &value, "value");
    }
    ok = ok && proto_end(r, &w);
    r->d.trace.top = at[0].up;
    xir_entry *entry = ok ? dialect_add(&r->d, entries, sizeof *entry) : NULL;
    if (entry) *entry = (xir_entry){ proto_str(key), xir_any_text(proto_str(value)) };
    return entry != NULL;
}

/* ---- ModelProto ------------------------------------------------------------------------------------------------ */

typedef struct model {
    wire_bytes producer, producer_version, domain, doc;
    int64_t    ir_version, version;
    bool       has_ir_version, has_version;
    dialect_list  opsets, metadata, configurations;   /* xir_entry                     */
    dialect_list  functions, training;                /* xir_any: texts in base64      */
    size_t     n_graphs;
} model;

/* Parts that only matter when ONNX is written again are kept unchanged, as text. */
bool proto_keep(proto_reader *r, wire_bytes bytes, dialect_list *list) {
    const size_t size = wire_base64_size(bytes.size);
    char *text = arena_take(&r->d.scratch, size);
    xir_any *any = text ? dialect_add(&r->d, list, sizeof *any) : NULL;
    if (!any) return trace_memory(&r->d.trace);
    wire_put_base64(bytes, text);
    *any = xir_any_text((xir_str){ text, size });
    return true;
}

/* "ai.onnx" is another name of the default domain, "". */
bool proto_read_opset(proto_reader *r, const wire_field *f, dialect_list *opsets) {
    if (!PROTO_WANT(r, f, WIRE_BYTES, "opset_import")) return false;
    PROTO_ENTER_AT(r, at, "opset_import", opsets->size);
    wire_bytes domain = { 0 };
    int64_t version = 0;
    wire_field field;
    wire w = wire_of(f->bytes);
    bool ok = true;
    while (ok && wire_next(&w, &field)) {
        if (field.number == 1) {
            ok = PROTO_TEXT(r, &field, &domain, "domain");
        } else if (field.number == 2 && (ok = PROTO_WANT(r, &field, WIRE_VARINT, "version"))) {
            version = (int64_t)field.value;
        }
    }
    ok = ok && proto_end(r, &w);
    PROTO_LEAVE_AT(r, at);
    if (xir_str_equal(proto_str(domain), XIR_STR("ai.onnx"))) domain.size = 0;
    xir_entry *entry = ok ? dialect_add(&r->d, opsets, sizeof *entry) : NULL;
    if (entry) *entry = (xir_entry){ proto_str(domain), xir_any_int(version) };
    return entry != NULL;
}

static bool read_model_graph(proto_reader *r, const wire_field *f, model *m) {
    if (!PROTO_WANT(r, f, WIRE_BYTES, "graph")) return false;
    PROTO_ENTER(r, at, "graph");
    m->n_graphs++;
    bool ok = proto_scan_graph(r, f->bytes);
    PROTO_LEAVE(r, at);
    return ok;
}

/* An entry that this library writes is not part of the metadata. */
static bool take_symbols(proto_reader *r, model *m) {
    const xir_entry *last = (const xir_entry *)m->metadata.data + m->metadata.size - 1;
    if (!xir_str_equal(last->key, XIR_STR("xir.symbols"))) return true;
    r->symbols = last->value.as.text;
    m->metadata.size--;
    return true;
}

static bool read_model_field(proto_reader *r, const wire_field *f, model *m) {
    switch (f->number) {
    case 1:
        m->ir_version = (int64_t)f->value;
        return m->has_ir_version = PROTO_WANT(r, f, WIRE_VARINT, "ir_version");
    case 5:
        m->version = (int64_t)f->value;
        return m->has_version = PROTO_WANT(r, f, WIRE_VARINT, "model_version");
    case 2:  return PROTO_TEXT(r, f, &m->producer, "producer_name");
    case 3:  return PROTO_TEXT(r, f, &m->producer_version, "producer_version");
    case 4:  return PROTO_TEXT(r, f, &m->domain, "domain");
    case 6:  return PROTO_TEXT(r, f, &m->doc, "doc_string");
    case 7:  return read_model_graph(r, f, m);
    case 8:  return proto_read_opset(r, f, &m->opsets);
    case 14: return proto_add_entry(r, f, &m->metadata, XIR_STR("metadata_props")) && take_symbols(r, m);
    case 20: return PROTO_WANT(r, f, WIRE_BYTES, "training_info") && proto_keep(r, f->bytes, &m->training);
    case 25: return PROTO_WANT(r, f, WIRE_BYTES, "functions") && proto_keep(r, f->bytes, &m->functions);
    case 26: return PROTO_WANT(r, f, WIRE_BYTES, "configuration") && proto_keep(r, f->bytes, &m->configurations);
    default: return true;
    }
}

static bool tag_list(proto_reader *r, const xir_map **tags, const char *key, const dialect_list *list) {
    return !list->size || dialect_tag(&r->d, tags, key, xir_any_list(list->data, list->size));
}

/* The version of the framework is that of the default domain's operators: "opset17". Who wrote the file is a tag. */
static bool set_version(proto_reader *r, const dialect_list *opsets) {
    const xir_entry *list = opsets->data;
    char text[8 + NUMBER_ROOM] = "opset";
    int64_t version = 0;
    for (size_t i = 0; i < opsets->size; i++) {   /* the last one counts */
        if (!list[i].key.size) version = list[i].value.as.integer;
    }
    if (version < 1) return true;
    const size_t n = strlen("opset") + number_put_u64(text + strlen("opset"), (uint64_t)version);
    const xir_str whole = { text, n };
    return !xir_network_set_text(r->d.net, XIR_TEXT_FRAMEWORK_VERSION, whole) || trace_memory(&r->d.trace);
}

static bool tag_model(proto_reader *r, model *m) {
    const xir_map **tags = &r->d.net->tags;
    return set_version(r, &m->opsets) &&
           (!m->has_ir_version || dialect_tag(&r->d, tags, "onnx.ir_version", xir_any_int(m->ir_version))) &&
           (!m->has_version || dialect_tag(&r->d, tags, "onnx.model_version", xir_any_int(m->version))) &&
           dialect_tag_text(&r->d, tags, "onnx.producer_name", proto_str(m->producer)) &&
           dialect_tag_text(&r->d, tags, "onnx.producer_version", proto_str(m->producer_version)) &&
           dialect_tag_text(&r->d, tags, "onnx.domain", proto_str(m->domain)) &&
               dialect_tag_text(&r->d, tags, "onnx.doc_string", proto_str(m->doc)) &&
           dialect_tag_entries(&r->d, tags, "onnx.opset", &m->opsets) &&
           dialect_tag_entries(&r->d, tags, "onnx.metadata", &m->metadata) &&
           tag_list(r, tags, "onnx.functions", &m->functions) &&
               tag_list(r, tags, "onnx.training_info", &m->training) &&
           tag_list(r, tags, "onnx.configuration", &m->configurations);
}

static bool read_model(proto_reader *r, model *m) {
    wire_field f;
    wire w = wire_of((wire_bytes){ r->d.base, (size_t)r->d.whole->size });
    while (wire_next(&w, &f)) {
        if (!read_model_field(r, &f, m)) return false;
    }
    if (!proto_end(r, &w)) return false;
    if (!m->n_graphs) return PROTO_FAIL(r, w.end, XIR_E_MISSING, "the model has no graph");
    r->has_defaults = m->ir_version >= ONNX_DEFAULTS_SINCE;
    if (!tag_model(r, m) || !proto_declare_symbols(r)) return false;
    PROTO_ENTER(r, at, "graph");
    bool ok = proto_read_graph(r);
    PROTO_LEAVE(r, at);
    return ok && proto_keep_unused(r) && proto_spell_dims(r);
}

static void model_free(const dialect *d, model *m) {
    dialect_list_free(d, &m->opsets, sizeof(xir_entry));
    dialect_list_free(d, &m->metadata, sizeof(xir_entry));
    dialect_list_free(d, &m->functions, sizeof(xir_any));
    dialect_list_free(d, &m->training, sizeof(xir_any));
    dialect_list_free(d, &m->configurations, sizeof(xir_any));
}

/* ---- any message ----------------------------------------------------------------------------------------------- */

/* The limit for all dense copies of sparse tensors together: so many times the size of the file, plus a constant. */
enum { DENSE_GROWTH = 64, DENSE_ALWAYS = 64 << 20 };

static const dialect_about about = { "onnx", XIR_FRAMEWORK_ONNX, &element_codes_onnx, false };

bool proto_begin(proto_reader *r, const format_reading *how, blob *whole) {
    *r = (proto_reader){ .n_nodes = 0 };
    if (!dialect_begin(&r->d, &about, how, whole)) return false;
    if (!mul_u64(whole->size, DENSE_GROWTH, &r->dense) || !add_u64(r->dense, DENSE_ALWAYS, &r->dense))
        r->dense = UINT64_MAX;
    return true;
}

xir_network *proto_finish(proto_reader *r, bool ok) {
    const dialect *d = &r->d;
    dialect_list_free(d, &r->kinds, sizeof(xir_entry));
    dialect_list_free(d, &r->order, sizeof(xir_any));
    dialect_list_free(d, &r->devices, sizeof(xir_any));
    dialect_list_free(d, &r->constants, sizeof(proto_constant));
    dialect_list_free(d, &r->other_values, sizeof(xir_any));
    dialect_list_free(d, &r->other_annotations, sizeof(xir_any));
    dialect_list_free(d, &r->runs, sizeof(proto_run));
    dialect_list_free(d, &r->dims, sizeof(int64_t));
    dialect_list_free(d, &r->attributes, sizeof(wire_bytes));
    dialect_list_free(d, &r->entries, sizeof(xir_entry));
    dialect_list_free(d, &r->items, sizeof(xir_any));
    dialect_list_free(d, &r->docs, sizeof(xir_entry));
    return dialect_finish(&r->d, ok);
}

xir_network *proto_read(const format_reading *how, blob *whole) {
    proto_reader r;
    model m = { 0 };
    if (!proto_begin(&r, how, whole)) return NULL;
    const bool ok = read_model(&r, &m);
    model_free(&r.d, &m);
    return proto_finish(&r, ok);
}
