/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* TensorProto to Params. Elements that the file stores as in memory (raw_data, packed floats) stay in place: the Params
 * keep a part of the file. Others are converted: varints, fields that are not packed, texts.
 *
 * Elements of a type that XIR does not have keep their bytes, without a type: texts as protobuf has them, each after
 * its length. */
#include "onnx/external.h"
#include "onnx/read.h"

enum { TENSOR_DIMS = 1, TENSOR_TYPE = 2, TENSOR_SEGMENT = 3, TENSOR_FLOATS = 4, TENSOR_INT32S = 5, TENSOR_STRINGS = 6,
       TENSOR_INT64S = 7, TENSOR_NAME = 8, TENSOR_RAW = 9, TENSOR_DOUBLES = 10, TENSOR_UINT64S = 11, TENSOR_DOC = 12,
       TENSOR_LOCATION = 14, TENSOR_METADATA = 16 };

static xir_str data_name(uint32_t field) {
    switch (field) {
    case TENSOR_FLOATS:  return XIR_STR("float_data");
    case TENSOR_INT32S:  return XIR_STR("int32_data");
    case TENSOR_STRINGS: return XIR_STR("string_data");
    case TENSOR_INT64S:  return XIR_STR("int64_data");
    case TENSOR_DOUBLES: return XIR_STR("double_data");
    case TENSOR_UINT64S: return XIR_STR("uint64_data");
    default:             return XIR_STR("raw_data");
    }
}

static wire_kind data_kind(uint32_t field) {
    return field == TENSOR_FLOATS ? WIRE_FIXED32 : field == TENSOR_DOUBLES ? WIRE_FIXED64
         : field == TENSOR_STRINGS ? WIRE_BYTES : WIRE_VARINT;
}

/* ---- scanning -------------------------------------------------------------------------------------------------- */

bool proto_int64s(proto_reader *r, const wire_field *f, dialect_list *out, xir_str name) {
    if (f->kind != WIRE_VARINT && f->kind != WIRE_BYTES) return proto_kind_fail(r, f, WIRE_VARINT, name);
    wire w = wire_of(f->kind == WIRE_BYTES ? f->bytes : (wire_bytes){ NULL, 0 });
    uint64_t v = f->value;
    for (bool alone = f->kind == WIRE_VARINT; alone || wire_next_number(&w, WIRE_VARINT, &v); alone = false) {
        int64_t *item = dialect_add(&r->d, out, sizeof *item);
        if (!item) return false;
        *item = (int64_t)v;
    }
    return proto_end(r, &w);
}

static bool add_data(proto_reader *r, const wire_field *f, proto_tensor *t) {
    wire_kind kind = data_kind(f->number);
    xir_str name = data_name(f->number);
    if (f->kind != kind && f->kind != WIRE_BYTES) return proto_kind_fail(r, f, kind, name);
    if (t->data && t->data != f->number) {
        return PROTO_FAIL(r, f->at, XIR_E_EXISTS, "the tensor has elements in %s and in %s", data_name(t->data).data,
                          name.data);
    }
    t->data = f->number;
    t->n_data++;
    t->packed = f->bytes;
    t->is_packed = f->kind == WIRE_BYTES && kind != WIRE_BYTES;
    return true;
}

static bool scan_field(proto_reader *r, const wire_field *f, proto_tensor *t) {
    switch (f->number) {
    case TENSOR_DIMS: return proto_int64s(r, f, &r->dims, XIR_STR("dims"));
    case TENSOR_TYPE:
        t->element = f->value;
        return PROTO_WANT(r, f, WIRE_VARINT, "data_type");
    case TENSOR_SEGMENT:
        return PROTO_FAIL(r, f->at, XIR_E_UNSUPPORTED,
                          "the tensor is one of several segments: only whole tensors can be read");
    case TENSOR_FLOATS: case TENSOR_INT32S: case TENSOR_STRINGS: case TENSOR_INT64S: case TENSOR_DOUBLES:
    case TENSOR_UINT64S:
        return add_data(r, f, t);
    case TENSOR_NAME: return PROTO_TEXT(r, f, &t->name, "name");
    case TENSOR_RAW:
        t->raw = f->bytes;
        return t->has_raw = PROTO_WANT(r, f, WIRE_BYTES, "raw_data");
    case TENSOR_DOC:  return PROTO_TEXT(r, f, &t->doc, "doc_string");
    case TENSOR_LOCATION:
        if (!PROTO_WANT(r, f, WIRE_VARINT, "data_location")) return false;
        if (f->value > 1) return PROTO_FAIL(r, f->at, XIR_E_UNKNOWN, "there is no data_location %" PRIu64, f->value);
        t->external = f->value == 1;
        return true;
    case TENSOR_METADATA: return proto_add_entry(r, f, &r->entries, XIR_STR("metadata_props"));
    default: return true;
    }
}

bool proto_scan_tensor(proto_reader *r, wire_bytes message, proto_tensor *t) {
    *t = (proto_tensor){ .whole = message };
    r->dims.size = r->entries.size = 0;
    wire_field f;
    wire w = wire_of(message);
    while (wire_next(&w, &f)) {
        if (!scan_field(r, &f, t)) return false;
    }
    return proto_end(r, &w);
}

/* ---- Params ---------------------------------------------------------------------------------------------------- */

xir_value *proto_make_bytes(proto_reader *r, xir_str name, wire_bytes bytes) {
    const xir_type *type = dialect_tensor(&r->d, dialect_element(&r->d, 2), &(int64_t){ (int64_t)bytes.size }, 1);
    bool has_bytes = bytes.size && !r->d.how->no_params;
    if (!type) return NULL;
    blob *data = has_bytes ? dialect_part(&r->d, NULL, (uint64_t)(bytes.at - r->d.base), bytes.size) : NULL;
    return data || !has_bytes ? dialect_params(&r->d, name, type, data) : NULL;
}

/* "2x3 of float": for messages. */
typedef struct shape_text { char text[120]; } shape_text;
static shape_text shape_text_of(const proto_reader *r, const proto_tensor *t) {
    shape_text s = { "" };
    const int64_t *dims = r->dims.data;
    const element_code *e = proto_element_of(t->element);
    size_t at = 0;
    for (size_t i = 0; i < r->dims.size && at < 80; i++) {
        int n = snprintf(s.text + at, sizeof s.text - at, "%s%" PRId64, i ? "x" : "", dims[i]);
        if (n > 0) at += (size_t)n;
    }
    snprintf(s.text + at, sizeof s.text - at, "%s%s", at ? " of " : "one ", e ? e->name : "an unknown type");
    return s;
}

#define CALLED(t) CLIP(proto_str((t)->name))

/* ---- converted elements ---------------------------------------------------------------------------------------- */

typedef struct making {
    const proto_tensor  *t;
    const element_code *e;
    uint64_t            n, size;    /* numbers or texts, bytes      */
    uint8_t            *out;        /* NULL: counting only           */
    size_t              width;      /* of one number                */
} making;

static bool put_number(proto_reader *r, const wire *w, making *m, uint64_t v) {
    m->n++;
    m->size += m->width;
    if (!m->out) return true;
    unsigned bits = 8 * (unsigned)m->width;
    int64_t s = (int64_t)v;
    bool narrow = m->t->element != 9 && data_kind(m->t->data) == WIRE_VARINT && bits < 64;
    if (m->t->element == 9) v = v != 0;
    if (narrow && (s >= INT64_C(1) << bits || s < -(INT64_C(1) << (bits - 1)))) {
        return PROTO_FAIL(r, w->at, XIR_E_BOUNDS, "%" PRId64 " does not fit %u bits", s, bits);
    }
    for (size_t i = 0; i < m->width; i++) *m->out++ = (uint8_t)(v >> 8 * i);
    return true;
}

static bool put_string(making *m, wire_bytes text) {
    uint64_t length = text.size;
    m->n++;
    do {
        m->size++;
        if (m->out) *m->out++ = (uint8_t)((length & 0x7f) | (length > 0x7f ? 0x80 : 0));
        length >>= 7;
    } while (length);
    m->size += text.size;
    if (m->out && text.size) memcpy(m->out, text.at, text.size);
    if (m->out) m->out += text.size;
    return true;
}

static bool each_number(proto_reader *r, making *m) {
    wire_kind kind = data_kind(m->t->data);
    wire_field f;
    for (wire all = wire_of(m->t->whole); wire_next(&all, &f);) {
        if (f.number != m->t->data) continue;
        wire w = wire_of(f.bytes);
        uint64_t v = f.value;
        if (kind == WIRE_BYTES) {
            if (!put_string(m, f.bytes)) return false;
        } else if (f.kind == kind) {
            if (!put_number(r, &all, m, v)) return false;
        } else {
            while (wire_next_number(&w, kind, &v)) {
                if (!put_number(r, &w, m, v)) return false;
            }
            if (!proto_end(r, &w)) return false;
        }
    }
    return true;
}

/* Returns how many numbers the elements take: two for each complex one, one for as many as fit a byte. */
static uint64_t numbers_of(const element_code *e, uint64_t elements, uint64_t bytes) {
    return e->bits && e->bits < 8 ? bytes : elements * e->numbers;
}

static blob *make_data(proto_reader *r, const proto_tensor *t, const element_code *e, uint64_t elements,
                       uint64_t bytes) {
    making m = { .t = t, .e = e, .width = e->bits < 8 ? 1 : (size_t)e->bits / 8 / e->numbers };
    if (!each_number(r, &m)) return NULL;
    if (m.n != numbers_of(e, elements, bytes)) {
        PROTO_FAIL(r, t->whole.at, XIR_E_CORRUPT, "tensor '%.*s' has %" PRIu64 " numbers in %s, but %s takes %" PRIu64,
                   CALLED(t), m.n, data_name(t->data).data, shape_text_of(r, t).text, numbers_of(e, elements, bytes));
        return NULL;
    }
    blob *b = blob_new(r->d.alloc, m.size);
    if (!b) {
        trace_memory(&r->d.trace);
        return NULL;
    }
    m.out = (uint8_t *)(uintptr_t)b->bytes;
    m.n = m.size = 0;
    if (each_number(r, &m)) return b;
    blob_release(b);
    return NULL;
}

/* ---- where the elements are ------------------------------------------------------------------------------------ */

static bool wrong_size(proto_reader *r, const proto_tensor *t, const char *where, uint64_t found, uint64_t bytes) {
    PROTO_ENTER(r, at, "raw_data");
    PROTO_FAIL(r, t->raw.at ? t->raw.at : t->whole.at, XIR_E_CORRUPT,
               "tensor '%.*s' has %" PRIu64 " bytes%s, but %s takes %" PRIu64,
              CALLED(t), found, where, shape_text_of(r, t).text, bytes);
    PROTO_LEAVE(r, at);
    return false;
}

/* False after a failure. *out stays NULL if there are no bytes and none are needed. */
static bool find_data(proto_reader *r, const proto_tensor *t, const element_code *e, uint64_t elements, uint64_t bytes,
                      blob **out) {
    bool sized = e && e->bits;      /* otherwise any number of bytes is right */
    bool raw = t->has_raw && (t->raw.size || !t->data);
    if (raw && t->data) {
        return PROTO_FAIL(r, t->raw.at, XIR_E_EXISTS, "tensor '%.*s' has elements in raw_data and in %s", CALLED(t),
                         data_name(t->data).data);
    }
    if (raw && t->element == 8) {
        return PROTO_FAIL(r, t->raw.at, XIR_E_TYPE,
                          "tensor '%.*s' has texts, which cannot be in raw_data", CALLED(t));
    }
    if (raw && sized && t->raw.size != bytes) return wrong_size(r, t, " in raw_data", t->raw.size, bytes);
    if (raw)
        return !t->raw.size ||
        (*out = dialect_part(&r->d, NULL, (uint64_t)(t->raw.at - r->d.base), t->raw.size)) != NULL;
    if (!t->data) {
        return !elements || !e || PROTO_FAIL(r, t->whole.at, XIR_E_MISSING,
                                             "tensor '%.*s' has no elements, but %s takes %" PRIu64,
                                            CALLED(t), shape_text_of(r, t).text, elements);
    }
    if (!e || t->data != proto_data_field(t->element)) {
        return PROTO_FAIL(r, t->whole.at, XIR_E_TYPE,
                          "tensor '%.*s' has its elements in %s, but elements of %s belong in %s", CALLED(t),
                          data_name(t->data).data, e ? e->name : "an unknown type",
                          data_name(proto_data_field(t->element)).data);
    }
    bool in_place = t->is_packed && t->n_data == 1 && data_kind(t->data) != WIRE_VARINT;
    if (in_place && t->packed.size == bytes) {
        return !bytes || (*out = dialect_part(&r->d, NULL, (uint64_t)(t->packed.at - r->d.base), bytes)) != NULL;
    }
    return (*out = make_data(r, t, e, elements, bytes)) != NULL;
}

static bool check_dims(proto_reader *r, const proto_tensor *t, const element_code *e, uint64_t *elements,
                       uint64_t *bytes) {
    xir_status status = dialect_size(r->dims.data, r->dims.size, e ? e->bits : 8, elements, bytes);
    if (status == XIR_OK) return true;
    PROTO_ENTER(r, at, "dims");
    PROTO_FAIL(r, t->whole.at, status, "tensor '%.*s' %s: %s", CALLED(t),
               status == XIR_E_BOUNDS ? "has a negative dim" : "is too large", shape_text_of(r, t).text);
    PROTO_LEAVE(r, at);
    return false;
}

static bool tag_tensor(proto_reader *r, const proto_tensor *t, xir_value *v) {
    const xir_map *tags = NULL;
    if (!dialect_tag_text(&r->d, &tags, "onnx.doc_string", proto_str(t->doc)) ||
        !dialect_tag_entries(&r->d, &tags, "onnx.metadata", &r->entries)) return false;
    if (!v->type) {
        xir_str text;
        if (!proto_describe_tensor(r, t->element, r->dims.data, r->dims.size, &text) ||
            !dialect_tag(&r->d, &tags, "onnx.type", xir_any_text(text))) return false;
    }
    return dialect_value_tags(&r->d, v, tags);
}

xir_value *proto_make_tensor(proto_reader *r, const proto_tensor *t) {
    const element_code *e = proto_element_of(t->element);
    uint64_t elements, bytes;
    blob *data = NULL;
    if (!check_dims(r, t, e, &elements, &bytes)) return NULL;
    const xir_type *element = dialect_element(&r->d, t->element), *type = NULL;
    if (element) type = dialect_tensor(&r->d, element, r->dims.data, r->dims.size);
    if (r->d.trace.status) return NULL;
    if (!r->d.how->no_params) {
        bool found = t->external ? proto_external_data(r, t, e && e->bits ? &bytes : NULL, &data)
                                 : find_data(r, t, e, elements, bytes, &data);
        if (!found) return NULL;
        /* Without a type only this tells that there are no elements. */
        if (!type && !data && !(data = dialect_part(&r->d, NULL, 0, 0))) return NULL;
    }
    xir_value *v = dialect_params(&r->d, proto_str(t->name), type, data);
    return v && tag_tensor(r, t, v) ? v : NULL;
}
