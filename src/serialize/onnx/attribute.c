/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Attributes, each kept as the file has it: numbers, texts, tensors as Params, lists of these. What XIR has no kind for
 * becomes a map of one key that names it: "onnx.graph" (its bytes, as Params), "onnx.sparse_tensor", "onnx.type",
 * "onnx.ref". Reals that JSON cannot write (inf, nan) become Params of float32, and a text that is not UTF-8 becomes
 * Params of its bytes. */
#include <math.h>
#include "onnx/read.h"

enum { ATTR_F = 2, ATTR_I = 3, ATTR_S = 4, ATTR_T = 5, ATTR_G = 6, ATTR_FLOATS = 7, ATTR_INTS = 8, ATTR_STRINGS = 9,
       ATTR_TENSORS = 10, ATTR_GRAPHS = 11, ATTR_TP = 14, ATTR_TPS = 15, ATTR_SPARSE = 22, ATTR_SPARSES = 23 };

/* The field that has the value, by AttributeType. ORDER ATTRIBUTE TYPE */
static const uint8_t value_fields[] = { 0, ATTR_F, ATTR_I, ATTR_S, ATTR_T, ATTR_G, ATTR_FLOATS, ATTR_INTS, ATTR_STRINGS,
                                        ATTR_TENSORS, ATTR_GRAPHS, ATTR_SPARSE, ATTR_SPARSES, ATTR_TP, ATTR_TPS };
enum { TYPES = sizeof value_fields };

typedef struct attribute {
    wire_bytes whole, name, doc, ref;
    uint64_t   type;
    const uint8_t *type_at;
    uint64_t   i;
    uint32_t   f;
    wire_bytes s, t, g, tp, sparse;
    uint32_t   first;     /* the field of the first value that is present */
} attribute;

static bool scan_value(proto_reader *r, const wire_field *f, attribute *a) {
    switch (f->number) {
    case ATTR_F:
        a->f = (uint32_t)f->value;
        return PROTO_WANT(r, f, WIRE_FIXED32, "f");
    case ATTR_I:
        a->i = f->value;
        return PROTO_WANT(r, f, WIRE_VARINT, "i");
    case ATTR_S:
        a->s = f->bytes;
        return PROTO_WANT(r, f, WIRE_BYTES, "s");
    case ATTR_T:      return PROTO_ONCE(r, f, &a->t, "t");
    case ATTR_G:      return PROTO_ONCE(r, f, &a->g, "g");
    case ATTR_TP:     return PROTO_ONCE(r, f, &a->tp, "tp");
    case ATTR_SPARSE: return PROTO_ONCE(r, f, &a->sparse, "sparse_tensor");
    default:          return true;
    }
}

static bool scan(proto_reader *r, wire_bytes message, attribute *a) {
    *a = (attribute){ .whole = message };
    wire_field f;
    wire w = wire_of(message);
    bool ok = true;
    while (ok && wire_next(&w, &f)) {
        switch (f.number) {
        case 1:  ok = PROTO_TEXT(r, &f, &a->name, "name"); break;
        case 13: ok = PROTO_TEXT(r, &f, &a->doc, "doc_string"); break;
        case 20:
            ok = PROTO_WANT(r, &f, WIRE_VARINT, "type");
            a->type = f.value;
            a->type_at = f.at;
            break;
        case 21: ok = PROTO_TEXT(r, &f, &a->ref, "ref_attr_name"); break;
        default:
            ok = scan_value(r, &f, a);
            if (!a->first && memchr(value_fields + 1, (int)(f.number & 31), TYPES - 1) && f.number < 32)
                a->first = f.number;
            break;
        }
    }
    return ok && proto_end(r, &w);
}

/* ---- values ---------------------------------------------------------------------------------------------------- */

/* A map of one key, in the arena. */
static bool put_map(proto_reader *r, const char *key, xir_any value, xir_any *out) {
    xir_entry *entry = arena_take(&r->d.net->arena, sizeof *entry);
    if (!entry) return trace_memory(&r->d.trace);
    *entry = (xir_entry){ xir_str_of(key), value };
    *out = xir_any_map(entry, 1);
    return true;
}

static double real_of(uint32_t bits) {
    float v;
    memcpy(&v, &bits, sizeof v);
    return (double)v;
}

/* Floats that JSON cannot write, as they are in memory. */
static bool put_floats(proto_reader *r, const xir_any *items, const int64_t *dims, size_t rank, size_t n,
                       xir_any *out) {
    const xir_type *type = dialect_tensor(&r->d, dialect_element(&r->d, 1), dims, rank);
    if (type && r->d.how->no_params)
        return dialect_any_params(&r->d, dialect_params(&r->d, XIR_STR(""), type, NULL), out);
    blob *data = type ? blob_new(r->d.alloc, 4 * (uint64_t)n) : NULL;
    if (!data) return trace_memory(&r->d.trace);
    uint8_t *bytes = (uint8_t *)(uintptr_t)data->bytes;
    for (size_t i = 0; i < n; i++) {
        float v = (float)items[i].as.real;
        uint32_t bits;
        memcpy(&bits, &v, sizeof bits);
        for (size_t j = 0; j < 4; j++) bytes[4 * i + j] = (uint8_t)(bits >> 8 * j);
    }
    return dialect_any_params(&r->d, dialect_params(&r->d, XIR_STR(""), type, data), out);
}

static bool put_text(proto_reader *r, wire_bytes text, xir_any *out) {
    if (!proto_is_text(text)) return dialect_any_params(&r->d, proto_make_bytes(r, XIR_STR(""), text), out);
    *out = xir_any_text(XIR_STR(""));
    return arena_text(&r->d.net->arena, proto_str(text), &out->as.text) || trace_memory(&r->d.trace);
}

static bool put_tensor(proto_reader *r, wire_bytes tensor, xir_any *out) {
    proto_tensor t;
    return proto_scan_tensor(r, tensor, &t) && dialect_any_params(&r->d, proto_make_tensor(r, &t), out);
}

static bool put_graph(proto_reader *r, wire_bytes graph, xir_any *out) {
    xir_any bytes;
    return proto_find_captures(r, graph) &&
           dialect_any_params(&r->d, proto_make_bytes(r, XIR_STR(""), graph), &bytes) &&
           put_map(r, "onnx.graph", bytes, out);
}

static bool put_type(proto_reader *r, wire_bytes type, xir_any *out) {
    xir_str text;
    xir_any bytes;
    if (!proto_describe_type(r, type, &text, &bytes)) return false;
    if (bytes.kind != XIR_ANY_TEXT) return put_map(r, "onnx.type", xir_any_text(text), out);
    xir_entry *entries = arena_take(&r->d.net->arena, 2 * sizeof *entries);
    if (!entries || !arena_text(&r->d.net->arena, bytes.as.text, &bytes.as.text)) return trace_memory(&r->d.trace);
    entries[0] = (xir_entry){ XIR_STR("onnx.type"), xir_any_text(text) };
    entries[1] = (xir_entry){ XIR_STR("onnx.type_proto"), bytes };
    *out = xir_any_map(entries, 2);
    return true;
}

static bool put_sparse(proto_reader *r, wire_bytes sparse, xir_any *out) {
    xir_any parts;
    return proto_sparse_any(r, sparse, &parts) && put_map(r, "onnx.sparse_tensor", parts, out);
}

/* ---- lists ----------------------------------------------------------------------------------------------------- */

typedef bool put_fn(proto_reader *r, wire_bytes bytes, xir_any *out);

/* Numbers, packed or not. */
static bool add_numbers(proto_reader *r, const wire_field *f, wire_kind kind, xir_str name) {
    wire w = wire_of(f->bytes);
    uint64_t v = f->value;
    if (f->kind != kind && f->kind != WIRE_BYTES) return proto_kind_fail(r, f, kind, name);
    for (bool alone = f->kind == kind; alone || wire_next_number(&w, kind, &v); alone = false) {
        xir_any *out = dialect_add(&r->d, &r->items, sizeof *out);
        if (!out) return false;
        *out = kind == WIRE_VARINT ? xir_any_int((int64_t)v) : xir_any_real(real_of((uint32_t)v));
        if (f->kind == kind) break;
    }
    return proto_end(r, &w);
}

static bool add_item(proto_reader *r, const wire_field *f, put_fn *put, xir_str name) {
    if (f->kind != WIRE_BYTES) return proto_kind_fail(r, f, WIRE_BYTES, name);
    frame at[2] = { proto_enter(r, name), { .up = &at[0], .index = r->items.size } };
    r->d.trace.top = &at[1];
    xir_any item, *out = NULL;
    if (put(r, f->bytes, &item) && (out = dialect_add(&r->d, &r->items, sizeof *out))) *out = item;
    r->d.trace.top = at[0].up;
    return out != NULL;
}

static bool add_field(proto_reader *r, const wire_field *f) {
    switch (f->number) {
    case ATTR_FLOATS:  return add_numbers(r, f, WIRE_FIXED32, XIR_STR("floats"));
    case ATTR_INTS:    return add_numbers(r, f, WIRE_VARINT, XIR_STR("ints"));
    case ATTR_STRINGS: return add_item(r, f, put_text, XIR_STR("strings"));
    case ATTR_TENSORS: return add_item(r, f, put_tensor, XIR_STR("tensors"));
    case ATTR_GRAPHS:  return add_item(r, f, put_graph, XIR_STR("graphs"));
    case ATTR_TPS:     return add_item(r, f, put_type, XIR_STR("type_protos"));
    case ATTR_SPARSES: return add_item(r, f, put_sparse, XIR_STR("sparse_tensors"));
    default:           return true;
    }
}

static bool read_list(proto_reader *r, const attribute *a, uint32_t field, xir_any *out) {
    wire_field f;
    r->items.size = 0;
    for (wire w = wire_of(a->whole); wire_next(&w, &f);) {
        if (f.number == field && !add_field(r, &f)) return false;
    }
    const xir_any *items = r->items.data;
    size_t n = r->items.size;
    bool finite = true;
    for (size_t i = 0; i < n && field == ATTR_FLOATS; i++) finite &= isfinite(items[i].as.real) != 0;
    if (!finite) return put_floats(r, items, &(int64_t){ (int64_t)n }, 1, n, out);
    *out = xir_any_list(n ? arena_copy(&r->d.net->arena, items, n * sizeof *items) : NULL, n);
    return !n || out->as.list.items || trace_memory(&r->d.trace);
}

/* ---- one attribute --------------------------------------------------------------------------------------------- */

static bool needs(proto_reader *r, const attribute *a, wire_bytes value, put_fn *put, const char *name, xir_any *out) {
    if (!value.at) {
        return PROTO_FAIL(r, a->whole.at, XIR_E_MISSING, "an attribute of type %" PRIu64 " needs %s", a->type, name);
    }
    frame at = proto_enter(r, xir_str_of(name));
    r->d.trace.top = &at;
    bool ok = put(r, value, out);
    r->d.trace.top = at.up;
    return ok;
}

static bool read_value(proto_reader *r, const attribute *a, uint32_t field, xir_any *out) {
    switch (field) {
    case 0:           *out = xir_any_null(); return true;
    case ATTR_I:      *out = xir_any_int((int64_t)a->i); return true;
    case ATTR_S:      return put_text(r, a->s, out);
    case ATTR_T:      return needs(r, a, a->t, put_tensor, "t", out);
    case ATTR_G:      return needs(r, a, a->g, put_graph, "g", out);
    case ATTR_TP:     return needs(r, a, a->tp, put_type, "tp", out);
    case ATTR_SPARSE: return needs(r, a, a->sparse, put_sparse, "sparse_tensor", out);
    case ATTR_F:
        *out = xir_any_real(real_of(a->f));
        return isfinite(out->as.real) || put_floats(r, &(xir_any){ .as.real = out->as.real }, NULL, 0, 1, out);
    default: return read_list(r, a, field, out);
    }
}

static bool read_any(proto_reader *r, const attribute *a, xir_any *out) {
    if (!a->ref.size) return read_value(r, a, a->type ? value_fields[a->type] : a->first, out);
    xir_any ref;   /* an attribute that the caller of a function passes: only for functions */
    return put_text(r, a->ref, &ref) && put_map(r, "onnx.ref", ref, out);
}

static uint64_t kind_of(const attribute *a) {
    uint64_t kind = a->type;
    while (!a->type && a->first && value_fields[kind] != a->first) kind++;
    return kind;
}

/* Returns true if the form of a value shows its kind: Params may be reals or a text, and an empty list anything. */
static bool shows_kind(const xir_any *v, uint64_t kind, bool reference) {
    enum { FLOAT = 1, STRING = 3, FLOATS = 6, INTS = 7, STRINGS = 8 };
    if (reference) return !kind;
    if (v->kind == XIR_ANY_PARAMS) return kind != FLOAT && kind != STRING && kind != FLOATS;
    if (v->kind != XIR_ANY_LIST) return true;
    bool shown = v->as.list.size ? kind != STRINGS : kind == INTS;
    for (size_t i = 0; i < v->as.list.size && !shown; i++) shown = v->as.list.items[i].kind == XIR_ANY_TEXT;
    return shown;
}

static bool keep_kind(proto_reader *r, const attribute *a, const xir_any *v) {
    const uint64_t kind = kind_of(a);
    if (shows_kind(v, kind, a->ref.size)) return true;
    const xir_entry *entry = (const xir_entry *)r->d.node.attrs.data + r->d.node.attrs.size - 1;
    xir_entry *out = dialect_add(&r->d, &r->kinds, sizeof *out);
    if (out) *out = (xir_entry){ entry->key, xir_any_int((int64_t)kind) };
    return out != NULL;
}

bool proto_read_attribute(proto_reader *r, wire_bytes message) {
    attribute a;
    xir_any value;
    if (!scan(r, message, &a)) return false;
    if (a.type >= TYPES) {
        PROTO_ENTER(r, at, "type");
        PROTO_FAIL(r, a.type_at, XIR_E_UNKNOWN, "there is no attribute type %" PRIu64, a.type);
        PROTO_LEAVE(r, at);
        return false;
    }
    if (!read_any(r, &a, &value) || !dialect_node_attr_kept(&r->d, proto_str(a.name), value)) return false;
    if (!keep_kind(r, &a, &value)) return false;
    if (!a.doc.size) return true;
    const xir_entry *entry = (const xir_entry *)r->d.node.attrs.data + r->d.node.attrs.size - 1;
    xir_entry *doc = dialect_add(&r->d, &r->docs, sizeof *doc);
    if (doc) *doc = (xir_entry){ entry->key, xir_any_text(proto_str(a.doc)) };
    return doc != NULL;
}
