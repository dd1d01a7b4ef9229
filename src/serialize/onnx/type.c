/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Types. A tensor with elements that XIR has becomes a tensor type with a layout of `*`; an unknown or symbolic dim is
 * -1, and symbols go into a tag. Everything else has no type, but a description in a tag. */
#include "number.h"
#include "onnx/read.h"

uint32_t proto_data_field(uint64_t element) {
    /* By TensorProto.DataType; 0 for undefined elements and unused codes. */
    static const uint8_t fields[] = { 0, 4, 5, 5, 5, 5, 5, 7, 6, 5, 5, 10, 11, 11, 4, 10, 5, 5, 5, 5, 5, 5, 5,
                                      5, 5, 5, 5 };
    return element < sizeof fields ? fields[element] : 0;
}

/* ---- descriptions ---------------------------------------------------------------------------------------------- */

static void print_element(buffer *out, uint64_t which) {
    const element_code *e = proto_element_of(which);
    if (e) buffer_str(out, e->name);
    else if (buffer_reserve(out, NUMBER_ROOM)) out->size += number_put_u64(out->data + out->size, which);
}

static void print_dim(buffer *out, int64_t dim) {
    if (!buffer_reserve(out, NUMBER_ROOM)) return;
    if (dim < 0) out->data[out->size++] = '-';
    out->size += number_put_u64(out->data + out->size, dim < 0 ? 0 - (uint64_t)dim : (uint64_t)dim);
}

static bool keep_text(proto_reader *r, buffer *text, bool ok, xir_str *out) {
    ok = ok && !text->failed && arena_text(&r->d.net->arena, (xir_str){ text->data, text->size }, out);
    buffer_free(text);
    return ok || trace_memory(&r->d.trace);   /* an earlier failure is kept */
}

bool proto_describe_tensor(proto_reader *r, uint64_t element, const int64_t *dims, size_t rank, xir_str *out) {
    buffer text;
    buffer_init(&text, r->d.alloc);
    buffer_str(&text, "tensor(");
    print_element(&text, element);
    buffer_str(&text, ")[");
    for (size_t i = 0; i < rank; i++) {
        if (i) buffer_char(&text, ',');
        print_dim(&text, dims[i]);
    }
    buffer_char(&text, ']');
    return keep_text(r, &text, true, out);
}

typedef struct dim { wire_bytes name, denotation; int64_t value; bool has_value; } dim;

static bool read_dim(proto_reader *r, wire_bytes message, dim *out) {
    *out = (dim){ .value = -1 };
    wire_field f;
    wire w = wire_of(message);
    bool ok = true;
    while (ok && wire_next(&w, &f)) {
        if (f.number == 1) {
            ok = PROTO_WANT(r, &f, WIRE_VARINT, "dim_value");
            out->value = (int64_t)f.value;
            out->has_value = true;
            out->name.size = 0;
        } else if (f.number == 2) {   /* of dim_value and dim_param the last counts */
            ok = PROTO_TEXT(r, &f, &out->name, "dim_param");
            out->value = -1;
            out->has_value = false;
        } else if (f.number == 3) {
            ok = PROTO_TEXT(r, &f, &out->denotation, "denotation");
        }
    }
    return ok && proto_end(r, &w);
}

/* Visits the dims of a TensorShapeProto. */
typedef bool dim_fn(proto_reader *r, const dim *d, size_t i, void *user);
static bool each_dim(proto_reader *r, wire_bytes dims, dim_fn *visit, void *user) {
    frame list = proto_enter(r, XIR_STR("dim")), item = { .up = &list, .index = 0 };
    wire_field f;
    wire w = wire_of(dims);
    bool ok = true;
    while (ok && wire_next(&w, &f)) {
        dim d;
        if (f.number != 1) continue;
        if (f.kind != WIRE_BYTES) return proto_kind_fail(r, &f, WIRE_BYTES, XIR_STR("dim"));
        r->d.trace.top = &item;
        ok = read_dim(r, f.bytes, &d) && visit(r, &d, item.index++, user);
        r->d.trace.top = list.up;
    }
    return ok && proto_end(r, &w);
}

/* Returns true if a description cannot distinguish the name of a dim from other dims. */
static bool is_odd(const dim *d) {
    bool odd = d->denotation.size || (d->name.size == 1 && d->name.at[0] == '?'), digits = d->name.size > 0;
    for (size_t i = 0; i < d->name.size; i++) {
        const uint8_t c = d->name.at[i];
        odd |= c == ',' || c == ']';
        digits &= is_digit(c) || (c == '-' && i == 0);
    }
    return odd || digits;
}

static bool print_dim_of(proto_reader *r, const dim *d, size_t i, void *user) {
    buffer *out = user;
    r->odd_type |= is_odd(d);
    if (i) buffer_char(out, ',');
    if (d->has_value) print_dim(out, d->value);
    else if (d->name.size) buffer_put(out, d->name.at, d->name.size);
    else buffer_char(out, '?');
    return true;
}

/* TypeProto.Tensor and SparseTensor. */
typedef struct tensor_decl { uint64_t element; wire_bytes shape; } tensor_decl;
static bool read_tensor_decl(proto_reader *r, wire_bytes message, tensor_decl *out) {
    *out = (tensor_decl){ 0 };
    wire_field f;
    wire w = wire_of(message);
    bool ok = true;
    while (ok && wire_next(&w, &f)) {
        if (f.number == 1 && (ok = PROTO_WANT(r, &f, WIRE_VARINT, "elem_type"))) out->element = f.value;
        else if (f.number == 2) ok = PROTO_ONCE(r, &f, &out->shape, "shape");
    }
    return ok && proto_end(r, &w);
}

enum { TYPE_TENSOR = 1, TYPE_SEQUENCE = 4, TYPE_MAP = 5, TYPE_DENOTATION = 6, TYPE_OPAQUE = 7, TYPE_SPARSE = 8,
       TYPE_OPTIONAL = 9 };

static xir_str kind_name(uint32_t kind) {
    switch (kind) {
    case TYPE_TENSOR:   return XIR_STR("tensor_type");
    case TYPE_SEQUENCE: return XIR_STR("sequence_type");
    case TYPE_MAP:      return XIR_STR("map_type");
    case TYPE_OPAQUE:   return XIR_STR("opaque_type");
    case TYPE_SPARSE:   return XIR_STR("sparse_tensor_type");
    case TYPE_OPTIONAL: return XIR_STR("optional_type");
    default:            return XIR_STR("");
    }
}

/* The kind of a TypeProto (0: none), and the message with the details. Of several kinds the last counts. */
static bool open_type(proto_reader *r, wire_bytes type, uint32_t *kind, wire_bytes *message, wire_bytes *denotation) {
    *kind = 0;
    wire_field f;
    wire w = wire_of(type);
    bool ok = true;
    while (ok && wire_next(&w, &f)) {
        xir_str name = kind_name(f.number);
        if (f.number == TYPE_DENOTATION) ok = PROTO_TEXT(r, &f, denotation, "denotation");
        if (!name.size) continue;
        if (f.number != *kind) *message = (wire_bytes){ NULL, 0 };
        *kind = f.number;
        ok = proto_once(r, &f, message, name);
    }
    return ok && proto_end(r, &w);
}

static bool print_type(proto_reader *r, wire_bytes type, uint32_t depth, buffer *out);

static bool print_tensor(proto_reader *r, wire_bytes message, const char *what, buffer *out) {
    tensor_decl t;
    if (!read_tensor_decl(r, message, &t)) return false;
    buffer_str(out, what);
    print_element(out, t.element);
    buffer_char(out, ')');
    if (!t.shape.at) return true;
    buffer_char(out, '[');
    PROTO_ENTER(r, at, "shape");
    bool ok = each_dim(r, t.shape, print_dim_of, out);
    PROTO_LEAVE(r, at);
    buffer_char(out, ']');
    return ok;
}

/* Prints the contents of a sequence, an optional or a map. */
static bool print_inner(proto_reader *r, wire_bytes message, uint32_t kind, uint32_t depth, buffer *out) {
    uint32_t field = kind == TYPE_MAP ? 2 : 1;
    wire_bytes inner = { 0 };
    uint64_t key = 0;
    wire_field f;
    wire w = wire_of(message);
    bool ok = true;
    while (ok && wire_next(&w, &f)) {
        if (f.number == field) ok = proto_once(r, &f, &inner, XIR_STR("elem_type"));
        else if (f.number == 1 && (ok = PROTO_WANT(r, &f, WIRE_VARINT, "key_type"))) key = f.value;
    }
    if (!ok || !proto_end(r, &w)) return false;
    buffer_str(out, kind == TYPE_MAP ? "map(" : kind == TYPE_SEQUENCE ? "seq(" : "optional(");
    if (kind == TYPE_MAP) {
        print_element(out, key);
        buffer_char(out, ',');
    }
    frame at = proto_enter(r, kind == TYPE_MAP ? XIR_STR("value_type") : XIR_STR("elem_type"));
    r->d.trace.top = &at;
    ok = !inner.at || print_type(r, inner, depth + 1, out);
    r->d.trace.top = at.up;
    buffer_char(out, ')');
    return ok;
}

static bool print_opaque(proto_reader *r, wire_bytes message, buffer *out) {
    wire_bytes domain = { 0 }, name = { 0 };
    wire_field f;
    wire w = wire_of(message);
    bool ok = true;
    while (ok && wire_next(&w, &f)) {
        if (f.number == 1) ok = PROTO_TEXT(r, &f, &domain, "domain");
        else if (f.number == 2) ok = PROTO_TEXT(r, &f, &name, "name");
    }
    for (size_t i = 0; i < domain.size; i++) r->odd_type |= domain.at[i] == ',';
    for (size_t i = 0; i < name.size; i++) r->odd_type |= name.at[i] == ')';
    buffer_str(out, "opaque(");
    buffer_put(out, domain.at, domain.size);
    buffer_char(out, ',');
    buffer_put(out, name.at, name.size);
    buffer_char(out, ')');
    return ok && proto_end(r, &w);
}

static bool print_type(proto_reader *r, wire_bytes type, uint32_t depth, buffer *out) {
    uint32_t kind, deepest = r->d.ctx->limits.max_depth < CODEC_DEEPEST ? r->d.ctx->limits.max_depth : CODEC_DEEPEST;
    wire_bytes message = { 0 }, denotation = { 0 };
    if (depth >= deepest) return PROTO_FAIL(r, type.at, XIR_E_LIMIT, "types are nested deeper than %" PRIu32, deepest);
    if (!open_type(r, type, &kind, &message, &denotation)) return false;
    r->odd_type |= depth && (!kind || denotation.size);
    xir_str name = kind_name(kind);
    frame at = proto_enter(r, name);
    r->d.trace.top = &at;
    bool ok = true;
    switch (kind) {
    case TYPE_TENSOR:   ok = print_tensor(r, message, "tensor(", out); break;
    case TYPE_SPARSE:   ok = print_tensor(r, message, "sparse_tensor(", out); break;
    case TYPE_SEQUENCE: case TYPE_OPTIONAL: case TYPE_MAP: ok = print_inner(r, message, kind, depth, out); break;
    case TYPE_OPAQUE:   ok = print_opaque(r, message, out); break;
    default:            break;
    }
    r->d.trace.top = at.up;
    return ok;
}

bool proto_describe_type(proto_reader *r, wire_bytes type, xir_str *out, xir_any *bytes) {
    buffer text;
    dialect_list kept = { 0 };
    buffer_init(&text, r->d.alloc);
    *bytes = xir_any_null();
    r->odd_type = false;
    bool ok = print_type(r, type, 0, &text);
    if (!keep_text(r, &text, ok, out)) return false;
    ok = !r->odd_type || proto_keep(r, type, &kept);
    if (kept.size) *bytes = *(xir_any *)kept.data;
    dialect_list_free(&r->d, &kept, sizeof(xir_any));
    return ok;
}

/* ---- declared types -------------------------------------------------------------------------------------------- */

typedef struct shape_reading { dialect_list dims, denotations; bool denoted; } shape_reading;

static bool add_dim(proto_reader *r, const dim *d, size_t i, void *user) {
    (void)i;
    shape_reading *s = user;
    dialect_dim *out = dialect_add(&r->d, &s->dims, sizeof *out);
    xir_any *denotation = out ? dialect_add(&r->d, &s->denotations, sizeof *denotation) : NULL;
    if (!denotation) return false;
    *out = (dialect_dim){ d->value, d->has_value, proto_str(d->name) };
    *denotation = xir_any_text(proto_str(d->denotation));
    s->denoted |= d->denotation.size > 0;
    return true;
}

static bool read_shape(proto_reader *r, const xir_type *element, wire_bytes dims, dialect_declared *out) {
    shape_reading s = { 0 };
    PROTO_ENTER(r, at, "shape");
    bool ok = each_dim(r, dims, add_dim, &s);
    PROTO_LEAVE(r, at);
    ok = ok && dialect_declared_tensor(&r->d, element, s.dims.data, s.dims.size, out) &&
         (!s.denoted || dialect_tag(&r->d, &out->tags, "onnx.dim_denotations",
                                    xir_any_list(s.denotations.data, s.denotations.size)));
    dialect_list_free(&r->d, &s.dims, sizeof(dialect_dim));
    dialect_list_free(&r->d, &s.denotations, sizeof(xir_any));
    return ok;
}

static bool read_tensor_type(proto_reader *r, wire_bytes message, dialect_declared *out, bool *has_type) {
    tensor_decl t;
    PROTO_ENTER(r, at, "tensor_type");
    bool ok = read_tensor_decl(r, message, &t);
    *has_type = ok && t.shape.at && dialect_has_element(&r->d, t.element);
    if (*has_type) {
        const xir_type *element = dialect_element(&r->d, t.element);
        ok = element && read_shape(r, element, t.shape, out);
    }
    PROTO_LEAVE(r, at);
    return ok;
}

static bool read_type(proto_reader *r, wire_bytes type, dialect_declared *out) {
    uint32_t kind;
    wire_bytes message = { 0 }, denotation = { 0 };
    bool has_type = false;
    *out = (dialect_declared){ 0 };
    if (!open_type(r, type, &kind, &message, &denotation)) return false;
    if (kind == TYPE_TENSOR && !read_tensor_type(r, message, out, &has_type)) return false;
    if (kind && !has_type) {
        xir_str text;
        xir_any bytes;
        if (!proto_describe_type(r, type, &text, &bytes) ||
            !dialect_tag(&r->d, &out->tags, "onnx.type", xir_any_text(text)) ||
            (bytes.kind == XIR_ANY_TEXT && !dialect_tag(&r->d, &out->tags, "onnx.type_proto", bytes))) return false;
    }
    return dialect_tag_text(&r->d, &out->tags, "onnx.denotation", proto_str(denotation));
}

/* Many values have the same type, byte for byte. */
bool proto_read_type(proto_reader *r, wire_bytes type, dialect_declared *out) {
    uint64_t hash = dialect_hash(&r->d, proto_str(type));
    proto_type_memo *memo = &r->types[(hash ^ hash >> 32) % PROTO_TYPE_MEMOS];
    if (memo->of.at && memo->of.size == type.size && memcmp(memo->of.at, type.at, type.size) == 0) {
        *out = memo->declared;
        return true;
    }
    if (!read_type(r, type, out)) return false;
    *memo = (proto_type_memo){ type, *out };
    return true;
}
