/* A model: what ModelProto says of itself becomes tags of the network; its graph, the network (graph.c). */
#include "onnx/external.h"
#include "onnx/read.h"
#include "utf8.h"

/* ---- what all messages need ------------------------------------------------------------------------------------ */

void *proto_list_slow(proto_reader *r, proto_list *list, size_t item) {
    if (!mem_reserve(r->alloc, &list->data, &list->room, list->size + 1, item)) {
        trace_memory(&r->trace);
        return NULL;
    }
    return (char *)list->data + item * list->size++;
}

bool proto_end_slow(proto_reader *r, const wire *w) {
    if (w->fault == WIRE_LENGTH) {
        return PROTO_FAIL(r, w->where, XIR_E_SYNTAX,
                          "a length of %" PRIu64 " bytes reaches beyond the end of its message", w->length);
    }
    return PROTO_FAIL(r, w->where, XIR_E_SYNTAX, "%s", wire_fault_words(w->fault));
}

bool proto_kind_fail(proto_reader *r, const wire_field *f, wire_kind kind, xir_str name) {
    static const char *const words[] = { "a number", "8 bytes", "bytes", "", "", "4 bytes" };
    frame at = proto_enter(r, name);
    r->trace.top = &at;
    PROTO_FAIL(r, f->at, XIR_E_TYPE, "%s must be %s (wire type %d), wire type %d was found", name.data, words[kind],
               (int)kind, (int)f->kind);
    r->trace.top = at.up;
    return false;
}

bool proto_once(proto_reader *r, const wire_field *f, wire_bytes *out, xir_str name) {
    if (f->kind != WIRE_BYTES) return proto_kind_fail(r, f, WIRE_BYTES, name);
    if (out->at) return PROTO_FAIL(r, f->at, XIR_E_EXISTS, "%s is there twice: messages are not put together", name.data);
    *out = f->bytes;
    return true;
}

bool proto_is_utf8(wire_bytes b) {
    const char *at = (const char *)b.at, *end = at + b.size;
    while (at < end) {
        size_t n = (unsigned char)*at < 0x80 ? 1 : utf8_length(at, end);
        if (!n) return false;
        at += n;
    }
    return true;
}

bool proto_text_fail(proto_reader *r, const wire_field *f, xir_str name) {
    if (f->kind != WIRE_BYTES) return proto_kind_fail(r, f, WIRE_BYTES, name);
    return PROTO_FAIL(r, f->at, XIR_E_SYNTAX, "%s is not UTF-8", name.data);
}

/* ---- tags ------------------------------------------------------------------------------------------------------ */

bool proto_tag(proto_reader *r, const xir_map **tags, const char *key, xir_any value) {
    return map_with(&r->net->arena, *tags, xir_str_of(key), &value, tags) || trace_memory(&r->trace);
}

bool proto_tag_text(proto_reader *r, const xir_map **tags, const char *key, wire_bytes text) {
    return !text.size || proto_tag(r, tags, key, xir_any_text(proto_str(text)));
}

bool proto_add_entry(proto_reader *r, const wire_field *f, proto_list *entries, xir_str name) {
    if (f->kind != WIRE_BYTES) return proto_kind_fail(r, f, WIRE_BYTES, name);
    frame at[2] = { proto_enter(r, name), { .up = &at[0], .index = entries->size } };
    if (name.size) r->trace.top = &at[1];   /* otherwise who calls has said where */
    wire_bytes key = { 0 }, value = { 0 };
    wire_field field;
    wire w = wire_of(f->bytes);
    bool ok = true;
    while (ok && wire_next(&w, &field)) {
        if (field.number == 1) ok = PROTO_TEXT(r, &field, &key, "key");
        else if (field.number == 2) ok = PROTO_TEXT(r, &field, &value, "value");
    }
    ok = ok && proto_end(r, &w);
    r->trace.top = at[0].up;
    xir_entry *entry = ok ? proto_list_add(r, entries, sizeof *entry) : NULL;
    if (entry) *entry = (xir_entry){ proto_str(key), xir_any_text(proto_str(value)) };
    return entry != NULL;
}

bool proto_tag_entries(proto_reader *r, const xir_map **tags, const char *key, proto_list *entries) {
    if (!entries->size) return true;
    xir_entry *sorted = entries->data;
    size_t n = 0;
    if (!entries_sort(&r->scratch, sorted, entries->size)) return trace_memory(&r->trace);
    for (size_t i = 0; i < entries->size; i++) {
        if (i + 1 == entries->size || !xir_str_equal(sorted[i].key, sorted[i + 1].key)) sorted[n++] = sorted[i];
    }
    entries->size = 0;
    return proto_tag(r, tags, key, xir_any_map(sorted, n));
}

bool proto_value_tags(proto_reader *r, xir_value *v, const xir_map *tags) {
    if (!tags) return true;
    value_more *more = value_need_more(v);
    if (!more) return trace_memory(&r->trace);
    if (!more->tags) more->tags = tags;
    for (size_t i = 0; more->tags != tags && i < tags->size; i++) {
        if (!map_with(&r->net->arena, more->tags, tags->entries[i].key, &tags->entries[i].value, &more->tags)) {
            return trace_memory(&r->trace);
        }
    }
    return true;
}

/* The label of a value that had nothing more so far lies behind what it has now. */
bool proto_name_value(proto_reader *r, xir_value *v, xir_str text) {
    if (!text.size) return true;
    if (v->more) {
        const label *name = net_name(r->net, text);
        if (name) v->more->name = name;
        return name || trace_memory(&r->trace);
    }
    value_more *more = text.size <= UINT32_MAX ? arena_take(&r->net->arena, sizeof *more + sizeof(label) + text.size) : NULL;
    if (!more) return trace_memory(&r->trace);
    label *name = (label *)(void *)(more + 1);
    name->size = (uint32_t)text.size;
    memcpy(name->bytes, text.data, text.size);
    *more = (value_more){ .net = r->net, .name = name };
    v->more = more;
    return true;
}

/* ---- ModelProto ------------------------------------------------------------------------------------------------ */

typedef struct model {
    wire_bytes producer, producer_version, domain, doc;
    int64_t    ir_version, version;
    bool       has_ir_version, has_version;
    proto_list  opsets, metadata, configurations;   /* xir_entry                     */
    proto_list  functions, training;                /* xir_any: texts in base64      */
    size_t     n_graphs;
} model;

/* What has a meaning only for who reads ONNX again is kept as it is, as text. */
static bool add_base64(proto_reader *r, wire_bytes bytes, proto_list *list) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t size = (bytes.size + 2) / 3 * 4;
    char *text = arena_take(&r->scratch, size);
    xir_any *any = text ? proto_list_add(r, list, sizeof *any) : NULL;
    if (!any) return trace_memory(&r->trace);
    char *out = text;
    for (size_t i = 0; i < bytes.size; i += 3) {
        size_t left = bytes.size - i;
        uint32_t v = (uint32_t)bytes.at[i] << 16;
        if (left > 1) v |= (uint32_t)bytes.at[i + 1] << 8;
        if (left > 2) v |= bytes.at[i + 2];
        *out++ = digits[v >> 18];
        *out++ = digits[v >> 12 & 63];
        *out++ = left > 1 ? digits[v >> 6 & 63] : '=';
        *out++ = left > 2 ? digits[v & 63] : '=';
    }
    *any = xir_any_text((xir_str){ text, size });
    return true;
}

/* "ai.onnx" is another name of the default domain, "". */
static bool read_opset(proto_reader *r, const wire_field *f, proto_list *opsets) {
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
    xir_entry *entry = ok ? proto_list_add(r, opsets, sizeof *entry) : NULL;
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
    case 8:  return read_opset(r, f, &m->opsets);
    case 14: return proto_add_entry(r, f, &m->metadata, XIR_STR("metadata_props"));
    case 20: return PROTO_WANT(r, f, WIRE_BYTES, "training_info") && add_base64(r, f->bytes, &m->training);
    case 25: return PROTO_WANT(r, f, WIRE_BYTES, "functions") && add_base64(r, f->bytes, &m->functions);
    case 26: return PROTO_WANT(r, f, WIRE_BYTES, "configuration") && add_base64(r, f->bytes, &m->configurations);
    default: return true;
    }
}

static bool tag_list(proto_reader *r, const xir_map **tags, const char *key, const proto_list *list) {
    return !list->size || proto_tag(r, tags, key, xir_any_list(list->data, list->size));
}

static bool tag_model(proto_reader *r, model *m) {
    const xir_map **tags = &r->net->tags;
    return (!m->has_ir_version || proto_tag(r, tags, "onnx.ir_version", xir_any_int(m->ir_version))) &&
           (!m->has_version || proto_tag(r, tags, "onnx.model_version", xir_any_int(m->version))) &&
           proto_tag_text(r, tags, "onnx.producer_name", m->producer) &&
           proto_tag_text(r, tags, "onnx.producer_version", m->producer_version) &&
           proto_tag_text(r, tags, "onnx.domain", m->domain) && proto_tag_text(r, tags, "onnx.doc_string", m->doc) &&
           proto_tag_entries(r, tags, "onnx.opset", &m->opsets) &&
           proto_tag_entries(r, tags, "onnx.metadata", &m->metadata) &&
           tag_list(r, tags, "onnx.functions", &m->functions) && tag_list(r, tags, "onnx.training_info", &m->training) &&
           tag_list(r, tags, "onnx.configuration", &m->configurations);
}

static bool read_model(proto_reader *r, model *m) {
    wire_field f;
    wire w = wire_of((wire_bytes){ r->base, (size_t)r->whole->size });
    while (wire_next(&w, &f)) {
        if (!read_model_field(r, &f, m)) return false;
    }
    if (!proto_end(r, &w)) return false;
    if (!m->n_graphs) return PROTO_FAIL(r, w.end, XIR_E_MISSING, "the model has no graph");
    if (!tag_model(r, m)) return false;
    PROTO_ENTER(r, at, "graph");
    bool ok = proto_read_graph(r);
    PROTO_LEAVE(r, at);
    return ok;
}

static void free_list(proto_reader *r, proto_list *list, size_t item) { mem_free(r->alloc, list->data, list->room * item); }

static void reader_free(proto_reader *r, model *m) {
    free_list(r, &m->opsets, sizeof(xir_entry));
    free_list(r, &m->metadata, sizeof(xir_entry));
    free_list(r, &m->functions, sizeof(xir_any));
    free_list(r, &m->training, sizeof(xir_any));
    free_list(r, &m->configurations, sizeof(xir_any));
    free_list(r, &r->runs, sizeof(proto_run));
    free_list(r, &r->dims, sizeof(int64_t));
    free_list(r, &r->inputs, sizeof(proto_name));
    free_list(r, &r->outputs, sizeof(proto_name));
    free_list(r, &r->attributes, sizeof(wire_bytes));
    free_list(r, &r->values, sizeof(xir_value *));
    free_list(r, &r->captures, sizeof(xir_str));
    free_list(r, &r->entries, sizeof(xir_entry));
    free_list(r, &r->items, sizeof(xir_any));
    free_list(r, &r->docs, sizeof(xir_entry));
    mem_free(r->alloc, r->operators, r->operator_room * sizeof *r->operators);
    mem_free(r->alloc, r->operator_slots, r->operator_slot_room * sizeof *r->operator_slots);
    name_table_free(&r->names);
    proto_parts_free(&r->parts);
    proto_external_free(r->external);
    arena_free(&r->scratch);
}

/* How large sparse tensors may become together, beside as many times the file. */
enum { DENSE_GROWTH = 64, DENSE_ALWAYS = 64 << 20 };

xir_network *proto_read(const format_reading *how, blob *whole) {
    xir_network *net = xir_network_new(how->ctx, "", XIR_FRAMEWORK_ONNX, "");
    if (!net) {
        diag_memory(how->why);
        return NULL;
    }
    proto_reader r = { .ctx = how->ctx, .net = net, .how = how, .base = whole->bytes, .whole = whole,
                      .alloc = context_alloc(how->ctx), .parts = { .whole = whole } };
    if (!mul_u64(whole->size, DENSE_GROWTH, &r.dense) || !add_u64(r.dense, DENSE_ALWAYS, &r.dense)) r.dense = UINT64_MAX;
    r.trace = (trace){ .ctx = how->ctx, .why = how->why, .file = how->name };
    name_table_init(&r.names, r.alloc);
    arena_init(&r.scratch, r.alloc);
    model m = { 0 };
    bool ok = read_model(&r, &m) && !r.trace.status;
    reader_free(&r, &m);
    if (ok) return net;
    xir_network_free(net);
    return NULL;
}
