/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Types. A tensor type of XIR is a tensor of its elements and dims; the letters of its layout are left out. What XIR
 * has no type for is in the tag onnx.type, as text: "seq(tensor(float))", "tensor(string)[2,N,?]". */
#include "codec/codec.h"
#include "onnx/write.h"

enum { TYPE_TENSOR = 1, TYPE_SEQUENCE = 4, TYPE_MAP = 5, TYPE_DENOTATION = 6, TYPE_OPAQUE = 7, TYPE_SPARSE = 8,
       TYPE_OPTIONAL = 9, TENSOR_ELEMENT = 1, TENSOR_SHAPE = 2, SHAPE_DIM = 1, DIM_VALUE = 1, DIM_PARAM = 2,
       DIM_DENOTATION = 3 };

/* ---- types of XIR ---------------------------------------------------------------------------------------------- */

bool proto_list_elements(proto_writer *w) {
    for (uint64_t i = 0; i < element_codes_onnx.n; i++) {
        const element_code *e = element_code_at(&element_codes_onnx, i);
        w->elements[i] = element_code_type(w->net->ctx, e);
        if (!w->elements[i] && e->kind != ELEMENT_NONE) return proto_no_memory(w);
    }
    return true;
}

uint64_t proto_code_of(proto_writer *w, const xir_type *element) {
    if (element == w->last_element) return w->last_code;
    w->last_element = element;
    for (w->last_code = 1; w->last_code < element_codes_onnx.n; w->last_code++)
        if (w->elements[w->last_code] && xir_type_equal(w->elements[w->last_code], element)) return w->last_code;
    return w->last_code = 0;
}

bool proto_has_type(proto_writer *w, const xir_value *v) {
    if (v->type == w->last_type) return w->last_is_known;
    const xir_tensor_type *tensor = xir_type_as_tensor(v->type);
    w->last_type = v->type;
    w->last_is_known = tensor && !xir_type_is_layouted(v->type) && proto_code_of(w, tensor->element_dtype);
    return w->last_is_known;
}

static void put_dim(proto_writer *w, const proto_dim *dim, xir_str denotation) {
    if (!proto_check_text(w, "the name of a dim", dim->name)) return;
    if (!proto_check_text(w, "an item of the tag onnx.dim_denotations", denotation)) return;
    const proto_message m = proto_open(w, SHAPE_DIM);
    if (dim->has_value) proto_put_number(w, DIM_VALUE, (uint64_t)dim->value);
    proto_put_some(w, DIM_PARAM, dim->name);
    proto_put_some(w, DIM_DENOTATION, denotation);
    proto_close(w, m);
}

static void put_tensor(proto_writer *w, const xir_value *v) {
    const xir_tensor_type *tensor = xir_type_as_tensor(v->type);
    const xir_any *says = proto_tag(proto_value_tags(v), "onnx.dim_denotations", XIR_ANY_LIST);
    const proto_message m = proto_open(w, TYPE_TENSOR);
    proto_put_number(w, TENSOR_ELEMENT, proto_code_of(w, tensor->element_dtype));
    const proto_message dims = proto_open(w, TENSOR_SHAPE);
    for (size_t i = 0; i < tensor->shape.size; i++) {
        const xir_any *item = says && i < says->as.list.size ? &says->as.list.items[i] : NULL;
        const proto_dim dim = proto_dim_of(w, v, i);
        put_dim(w, &dim, item && item->kind == XIR_ANY_TEXT ? item->as.text : XIR_STR(""));
    }
    proto_close(w, dims);
    proto_close(w, m);
}

/* ---- descriptions ---------------------------------------------------------------------------------------------- */

typedef struct description { const char *at, *end; uint32_t depth; } description;

static bool take(description *s, const char *word) {
    const size_t n = strlen(word);
    if ((size_t)(s->end - s->at) < n || memcmp(s->at, word, n) != 0) return false;
    s->at += n;
    return true;
}

/* The text up to one of the characters, which stays. */
static xir_str take_until(description *s, const char *stops) {
    const char *begin = s->at;
    while (s->at < s->end && !strchr(stops, *s->at)) s->at++;
    return (xir_str){ begin, (size_t)(s->at - begin) };
}

static bool take_number(xir_str text, int64_t *out) {
    const bool negative = text.size && text.data[0] == '-';
    uint64_t v = 0;
    if (text.size == (size_t)negative) return false;
    for (size_t i = negative; i < text.size; i++) {
        const char c = text.data[i];
        if (c < '0' || c > '9' || !mul_u64(v, 10, &v) || !add_u64(v, (uint64_t)(c - '0'), &v)) return false;
    }
    if (v > (uint64_t)INT64_MAX + negative) return false;
    *out = negative ? (int64_t)(0 - v) : (int64_t)v;
    return true;
}

/* The code of an element by its name, or the number itself. */
static bool take_element(description *s, const char *stops, uint64_t *out) {
    const xir_str text = take_until(s, stops);
    int64_t code;
    for (*out = 0; *out < element_codes_onnx.n; ++*out)
        if (xir_str_equal(text, xir_str_of(element_code_at(&element_codes_onnx, *out)->name))) return true;
    if (!take_number(text, &code) || code < 0) return false;
    *out = (uint64_t)code;
    return true;
}

static bool put_said(proto_writer *w, description *s);

static bool put_said_shape(proto_writer *w, description *s) {
    if (!take(s, "[")) return true;
    const proto_message m = proto_open(w, TENSOR_SHAPE);
    bool ok = true;
    for (bool more = !take(s, "]"); more && ok; more = take(s, ",")) {
        const xir_str text = take_until(s, ",]");
        proto_dim dim = { .name = text };
        dim.has_value = take_number(text, &dim.value);
        if (dim.has_value || xir_str_equal(text, XIR_STR("?"))) dim.name = XIR_STR("");
        put_dim(w, &dim, XIR_STR(""));
        if (s->at < s->end && *s->at == ']') {
            s->at++;
            break;
        }
        ok = s->at < s->end;
    }
    proto_close(w, m);
    return ok;
}

static bool put_said_tensor(proto_writer *w, description *s, uint32_t kind) {
    uint64_t element;
    if (!take_element(s, ")", &element) || !take(s, ")")) return false;
    const proto_message m = proto_open(w, kind);
    if (element) proto_put_number(w, TENSOR_ELEMENT, element);
    const bool ok = put_said_shape(w, s);
    proto_close(w, m);
    return ok;
}

/* Writes the type inside a sequence, an optional or a map; nothing if the file did not say it. */
static bool put_inner(proto_writer *w, description *s, uint32_t kind) {
    uint64_t key = 0;
    const bool map = kind == TYPE_MAP;
    if (map && !(take_element(s, ",", &key) && take(s, ","))) return false;
    const proto_message m = proto_open(w, kind);
    if (key) proto_put_number(w, 1, key);
    bool ok = true;
    if (s->at < s->end && *s->at != ')') {
        const proto_message inner = proto_open(w, map ? 2 : 1);
        ok = put_said(w, s);
        proto_close(w, inner);
    }
    proto_close(w, m);
    return ok && take(s, ")");
}

static bool put_opaque(proto_writer *w, description *s) {
    const proto_message m = proto_open(w, TYPE_OPAQUE);
    proto_put_some(w, 1, take_until(s, ","));
    const bool ok = take(s, ",");
    proto_put_some(w, 2, take_until(s, ")"));
    proto_close(w, m);
    return ok && take(s, ")");
}

static bool put_said(proto_writer *w, description *s) {
    bool ok = s->depth++ < CODEC_DEEPEST;
    if (ok) ok = take(s, "tensor(")        ? put_said_tensor(w, s, TYPE_TENSOR)
               : take(s, "sparse_tensor(") ? put_said_tensor(w, s, TYPE_SPARSE)
               : take(s, "seq(")           ? put_inner(w, s, TYPE_SEQUENCE)
               : take(s, "optional(")      ? put_inner(w, s, TYPE_OPTIONAL)
               : take(s, "map(")           ? put_inner(w, s, TYPE_MAP)
               :                             take(s, "opaque(") && put_opaque(w, s);
    s->depth--;
    return ok;
}

static void put_said_type(proto_writer *w, xir_str text) {
    description s = { text.data, text.data + text.size, 0 };
    if (proto_check_text(w, "the tag onnx.type", text) && text.size && !(put_said(w, &s) && s.at == s.end))
        proto_refuse(w, XIR_E_SYNTAX, "the tag onnx.type says '%.*s', which is not a type of ONNX", CLIP(text));
}

/* The message that the reader kept because its description does not say all of it. */
static bool put_kept(proto_writer *w, uint32_t field, const xir_map *tags) {
    const xir_str text = proto_tag_text(tags, "onnx.type_proto");
    wire_bytes bytes;
    if (!text.size) return false;
    if (!proto_take_base64(w, text, &bytes))
        proto_refuse(w, XIR_E_SYNTAX, "the tag onnx.type_proto is not in base64");
    else if (proto_check_message(w, PROTO_TYPE, "the tag onnx.type_proto", bytes))
        proto_put_bytes(w, field, bytes.at, bytes.size);
    return true;
}

void proto_put_type_map(proto_writer *w, uint32_t field, const xir_map *map) {
    if (put_kept(w, field, map)) return;
    const proto_message m = proto_open(w, field);
    put_said_type(w, proto_tag_text(map, "onnx.type"));
    proto_close(w, m);
}

bool proto_read_tensor_text(proto_writer *w, xir_str text, uint64_t *element, const int64_t **dims, size_t *rank) {
    description s = { text.data, text.data + text.size, 0 };
    int64_t *out = arena_take(&w->scratch, (text.size / 2 + 1) * sizeof *out);
    if (!out) return proto_no_memory(w);
    *dims = out;
    *rank = 0;
    if (!text.size || !take(&s, "tensor(") || !take_element(&s, ")", element) || !take(&s, ")[")) return false;
    while (s.at < s.end && *s.at != ']') {
        if (!take_number(take_until(&s, ",]"), &out[(*rank)++]) || out[*rank - 1] < 0) return false;
        if (!take(&s, ",")) break;
    }
    return take(&s, "]") && s.at == s.end;
}

/* ---- either ---------------------------------------------------------------------------------------------------- */

void proto_put_type(proto_writer *w, uint32_t field, const xir_value *v) {
    const xir_map *tags = proto_value_tags(v);
    const xir_str denotation = value_is_params(v) ? XIR_STR("") : proto_tag_text(tags, "onnx.denotation");
    const bool typed = proto_has_type(w, v);
    const xir_str said = v->type ? XIR_STR("") : proto_tag_text(tags, "onnx.type");
    proto_again a;
    if (!typed && !said.size && !denotation.size) return;
    if (said.size && put_kept(w, field, tags)) return;
    if (typed && !tags && proto_put_again(w, v->type, NULL, &a)) return;
    const proto_message m = proto_open(w, field);
    if (typed) put_tensor(w, v);
    else put_said_type(w, said);
    if (proto_check_text(w, "the tag onnx.denotation", denotation)) proto_put_some(w, TYPE_DENOTATION, denotation);
    proto_close(w, m);
    if (typed && !tags) proto_remember(w, &a);
}
