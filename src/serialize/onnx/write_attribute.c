/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Attributes, in the order of their names, or of the file where that matters. The kind of each follows from its value;
 * where it does not, the tag onnx.attribute_kinds has it. */
#include "number.h"
#include "onnx/write.h"

enum { ATTR_NAME = 1, ATTR_F = 2, ATTR_I = 3, ATTR_S = 4, ATTR_T = 5, ATTR_G = 6, ATTR_FLOATS = 7, ATTR_INTS = 8,
       ATTR_STRINGS = 9, ATTR_TENSORS = 10, ATTR_GRAPHS = 11, ATTR_DOC = 13, ATTR_TP = 14, ATTR_TPS = 15,
       ATTR_TYPE = 20, ATTR_REF = 21, ATTR_SPARSE = 22, ATTR_SPARSES = 23, NODE_ATTRIBUTE = 5 };

/* By AttributeType: the field of the value, and the field of a list of such values. */
typedef enum attr_type { TYPE_NONE, TYPE_FLOAT, TYPE_INT, TYPE_STRING, TYPE_TENSOR, TYPE_GRAPH, TYPE_FLOATS, TYPE_INTS,
                         TYPE_STRINGS, TYPE_TENSORS, TYPE_GRAPHS, TYPE_SPARSE, TYPE_SPARSES, TYPE_TP, TYPE_TPS,
                         TYPE_COUNT, TYPE_REF } attr_type;

static bool refuse(proto_writer *w, xir_str key, const char *why) {
    return proto_refuse(w, XIR_E_UNSUPPORTED, "its attribute %.*s %s", CLIP(key), why);
}

static const uint8_t fields[TYPE_COUNT] = { 0, ATTR_F, ATTR_I, ATTR_S, ATTR_T, ATTR_G, ATTR_FLOATS, ATTR_INTS,
                                            ATTR_STRINGS, ATTR_TENSORS, ATTR_GRAPHS, ATTR_SPARSE, ATTR_SPARSES, ATTR_TP,
                                            ATTR_TPS };
static const uint8_t item_types[TYPE_COUNT] = { [TYPE_FLOATS] = TYPE_FLOAT, [TYPE_INTS] = TYPE_INT,
                                                [TYPE_STRINGS] = TYPE_STRING, [TYPE_TENSORS] = TYPE_TENSOR,
                                                [TYPE_GRAPHS] = TYPE_GRAPH, [TYPE_SPARSES] = TYPE_SPARSE,
                                                [TYPE_TPS] = TYPE_TP };

/* ---- kinds ----------------------------------------------------------------------------------------------------- */

static const xir_any *map_item(const xir_any *any, const char *key) {
    return any->kind == XIR_ANY_MAP ? xir_map_find(&any->as.map, xir_str_of(key)) : NULL;
}

static attr_type type_of_map(const xir_any *any) {
    return map_item(any, "onnx.graph") ? TYPE_GRAPH : map_item(any, "onnx.sparse_tensor") ? TYPE_SPARSE
         : map_item(any, "onnx.type") ? TYPE_TP : map_item(any, "onnx.ref") ? TYPE_REF : TYPE_COUNT;
}

/* TYPE_COUNT: ONNX has no such attributes. */
static attr_type type_of(const xir_any *any) {
    switch (any->kind) {
    case XIR_ANY_NULL:   return TYPE_NONE;
    case XIR_ANY_BOOL: case XIR_ANY_INT: return TYPE_INT;
    case XIR_ANY_REAL:   return TYPE_FLOAT;
    case XIR_ANY_TEXT:   return TYPE_STRING;
    case XIR_ANY_PARAMS: return TYPE_TENSOR;
    case XIR_ANY_MAP:    return type_of_map(any);
    default:             return TYPE_COUNT;
    }
}

static attr_type list_of(attr_type type) {
    switch (type) {
    case TYPE_FLOAT:  return TYPE_FLOATS;
    case TYPE_INT:    return TYPE_INTS;
    case TYPE_STRING: return TYPE_STRINGS;
    case TYPE_TENSOR: return TYPE_TENSORS;
    case TYPE_GRAPH:  return TYPE_GRAPHS;
    case TYPE_SPARSE: return TYPE_SPARSES;
    case TYPE_TP:     return TYPE_TPS;
    default:          return TYPE_COUNT;
    }
}

/* All items are of one kind; among texts, Params are the bytes of others. */
static attr_type type_of_list(const xir_list *list) {
    attr_type type = list->size ? type_of(&list->items[0]) : TYPE_INT;
    for (size_t i = 1; i < list->size; i++) {
        const attr_type item = type_of(&list->items[i]);
        const bool texts = (item == TYPE_STRING && type == TYPE_TENSOR) || (item == TYPE_TENSOR && type == TYPE_STRING);
        if (texts) type = TYPE_STRING;
        else if (item != type) return TYPE_COUNT;
    }
    return list_of(type);
}

/* ---- values ---------------------------------------------------------------------------------------------------- */

static void put_real(proto_writer *w, uint32_t field, xir_str key, double real) {
    const float f = (float)real;
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    if (number_beyond_f32(real)) refuse(w, key, "is too large for a float");
    else proto_put_float(w, field, bits);
}

/* Returns true if Params have elements of a type, and their bytes. */
static bool has_bytes(proto_writer *w, xir_str key, const xir_value *v, uint64_t element) {
    const xir_tensor_type *type = xir_type_as_tensor(v->type);
    uint64_t size;
    const bool fits = type && proto_code_of(w, type->element_dtype) == element &&
                      xir_type_bytes(v->type, &size) == XIR_OK;
    if (!fits) refuse(w, key, "is kept as Params of another type");
    else if (size != proto_data(w, v).size) refuse(w, key, "has no bytes, and ONNX has them inside");
    return !proto_failed(w);
}

/* Reals that are not finite, as float32 in memory. */
static void put_floats(proto_writer *w, uint32_t field, xir_str key, const xir_value *v) {
    if (!has_bytes(w, key, v, 1)) return;
    const wire_bytes data = proto_data(w, v);
    for (size_t i = 0; i + 4 <= data.size; i += 4) proto_put_float(w, field, (uint32_t)little_u32(data.at + i));
}

/* The bytes of a graph or of a text that is not UTF-8. */
static void put_bytes_of(proto_writer *w, uint32_t field, xir_str key, const xir_value *v) {
    if (!has_bytes(w, key, v, 2)) return;
    const wire_bytes data = proto_data(w, v);
    proto_put_bytes(w, field, data.at, data.size);
}

static void put_sparse(proto_writer *w, uint32_t field, xir_str key, const xir_any *any) {
    enum { VALUES = 1, INDICES = 2, DIMS = 3 };
    const xir_any *parts = map_item(any, "onnx.sparse_tensor"), *dims = map_item(parts, "dims");
    const xir_any *indices = map_item(parts, "indices"), *values = map_item(parts, "values");
    if (!dims || dims->kind != XIR_ANY_LIST || !indices || indices->kind != XIR_ANY_PARAMS || !values ||
        values->kind != XIR_ANY_PARAMS) {
        refuse(w, key, "lacks dims, indices or values of a sparse tensor");
        return;
    }
    const proto_message m = proto_open(w, field);
    proto_put_tensor(w, VALUES, values->as.params, xir_value_name(values->as.params), true);
    proto_put_tensor(w, INDICES, indices->as.params, xir_value_name(indices->as.params), true);
    for (size_t i = 0; i < dims->as.list.size; i++) {
        if (dims->as.list.items[i].kind != XIR_ANY_INT) refuse(w, key, "has dims that are not integers");
        proto_put_number(w, DIMS, (uint64_t)dims->as.list.items[i].as.integer);
    }
    proto_close(w, m);
}

static void put_item(proto_writer *w, uint32_t field, xir_str key, const xir_any *any, attr_type type) {
    const xir_any *inner;
    switch (type) {
    case TYPE_FLOAT:
        if (any->kind == XIR_ANY_PARAMS) put_floats(w, field, key, any->as.params);
        else put_real(w, field, key, any->as.real);
        break;
    case TYPE_INT:
        proto_put_number(w, field, any->kind == XIR_ANY_BOOL ? any->as.boolean : (uint64_t)any->as.integer);
        break;
    case TYPE_STRING:
        if (any->kind == XIR_ANY_PARAMS) put_bytes_of(w, field, key, any->as.params);
        else proto_put_text(w, field, any->as.text);
        break;
    case TYPE_TENSOR: proto_put_tensor(w, field, any->as.params, xir_value_name(any->as.params), true); break;
    case TYPE_GRAPH:
        inner = map_item(any, "onnx.graph");
        if (inner->kind != XIR_ANY_PARAMS) refuse(w, key, "has a graph without bytes");
        else if (has_bytes(w, key, inner->as.params, 2) &&
                 proto_check_message(w, PROTO_GRAPH, "a graph in an attribute", proto_data(w, inner->as.params)))
            put_bytes_of(w, field, key, inner->as.params);
        break;
    case TYPE_SPARSE: put_sparse(w, field, key, any); break;
    case TYPE_TP:
        inner = map_item(any, "onnx.type");
        if (inner->kind == XIR_ANY_TEXT) proto_put_type_map(w, field, &any->as.map);
        else refuse(w, key, "has a type that is not a text");
        break;
    default: break;
    }
}

/* ---- one attribute --------------------------------------------------------------------------------------------- */

/* Returns true if a value may be of a kind that its own form does not say. */
static bool may_be(const xir_any *any, attr_type usual, attr_type said) {
    if (any->kind == XIR_ANY_PARAMS) return said == TYPE_FLOAT || said == TYPE_FLOATS || said == TYPE_STRING;
    if (any->kind != XIR_ANY_LIST) return usual == TYPE_REF;
    return said == TYPE_STRINGS ? usual == TYPE_TENSORS || !any->as.list.size
                                : !any->as.list.size && item_types[said];
}

/* The kind that the tag has for an attribute. */
static attr_type said_type(const xir_op *op, const xir_entry *e, attr_type usual) {
    const xir_any *types = op_more_of(op) ? proto_tag(op_more_of(op)->tags, "onnx.attribute_kinds", XIR_ANY_MAP) : NULL;
    const xir_any *said = types ? xir_map_find(&types->as.map, e->key) : NULL;
    if (!said || said->kind != XIR_ANY_INT || said->as.integer <= 0 || said->as.integer >= TYPE_COUNT) return usual;
    const attr_type type = (attr_type)said->as.integer;
    return may_be(&e->value, usual, type) ? type : usual;
}

static void put_value(proto_writer *w, xir_str key, const xir_any *any, attr_type type) {
    const uint32_t field = fields[type];
    if (any->kind == XIR_ANY_PARAMS && type == TYPE_FLOATS) {
        put_floats(w, field, key, any->as.params);
    } else if (any->kind == XIR_ANY_LIST) {
        for (size_t i = 0; i < any->as.list.size; i++)
            put_item(w, field, key, &any->as.list.items[i], (attr_type)item_types[type]);
    } else {
        put_item(w, field, key, any, type);
    }
}

static void put_reference(proto_writer *w, xir_str key, const xir_any *any) {
    const xir_any *to = map_item(any, "onnx.ref");
    if (to->kind != XIR_ANY_TEXT || !to->as.text.size) refuse(w, key, "is a reference without a name");
    else if (proto_check_text(w, "the name of a reference", to->as.text)) proto_put_text(w, ATTR_REF, to->as.text);
}

/* A key that a file of XIR reserves has a prefix. */
static xir_str name_of(xir_str key) {
    enum { PREFIX = 5 };
    const bool prefixed = key.size >= PREFIX && memcmp(key.data, "onnx.", PREFIX) == 0;
    return prefixed ? (xir_str){ key.data + PREFIX, key.size - PREFIX } : key;
}

/* Returns true if a key is another one with the prefix, so that both would have one name. */
static bool is_taken(const xir_op *op, xir_str key, xir_str name) {
    return name.size != key.size ? xir_map_find(op_more_of(op)->extra, name) : NULL;
}

static void put_attribute(proto_writer *w, uint32_t field, const xir_op *op, const xir_entry *e) {
    const xir_any *docs = op_more_of(op) ? proto_tag(op_more_of(op)->tags, "onnx.attribute_docs", XIR_ANY_MAP) : NULL;
    const xir_any *doc = docs ? xir_map_find(&docs->as.map, e->key) : NULL;
    const attr_type usual = e->value.kind == XIR_ANY_LIST ? type_of_list(&e->value.as.list) : type_of(&e->value);
    const attr_type type = said_type(op, e, usual);
    if (type == TYPE_COUNT) {
        refuse(w, e->key, "is of a kind that ONNX does not have");
        return;
    }
    const xir_str name = name_of(e->key);
    if (is_taken(op, e->key, name)) refuse(w, e->key, "has the name of another one");
    if (w->counting && !proto_check_name(w, "an attribute", name)) return;
    const proto_message m = proto_open(w, field);
    proto_put_text(w, ATTR_NAME, name);
    if (type != TYPE_NONE && usual != TYPE_REF) put_value(w, e->key, &e->value, type);
    if (doc && doc->kind == XIR_ANY_TEXT && proto_check_text(w, "a text of the tag onnx.attribute_docs", doc->as.text))
        proto_put_some(w, ATTR_DOC, doc->as.text);
    if (type != TYPE_NONE && type != TYPE_REF) proto_put_number(w, ATTR_TYPE, type);
    if (usual == TYPE_REF) put_reference(w, e->key, &e->value);
    proto_close(w, m);
}

/* The order of the file, if it still has every attribute once. */
static bool put_in_order(proto_writer *w, uint32_t field, const xir_op *op, const xir_list *order) {
    const xir_map *extra = op_more_of(op)->extra;
    const xir_entry **in_order = arena_take(&w->scratch, extra->size * sizeof *in_order);
    uint8_t *seen = arena_take(&w->scratch, extra->size);
    if (!in_order || !seen) return !proto_no_memory(w);
    if (order->size != extra->size) return false;
    memset(seen, 0, extra->size);
    for (size_t i = 0; i < order->size; i++) {
        const xir_any *name = &order->items[i];
        const xir_any *value = name->kind == XIR_ANY_TEXT ? xir_map_find(extra, name->as.text) : NULL;
        const size_t at = value ? (size_t)((const char *)value - (const char *)&extra->entries->value) /
                                  sizeof *extra->entries : 0;
        if (!value || seen[at]++) return false;
        in_order[i] = &extra->entries[at];
    }
    for (size_t i = 0; i < order->size && !proto_failed(w); i++) put_attribute(w, field, op, in_order[i]);
    return true;
}

void proto_put_attributes_in(proto_writer *w, uint32_t field, const xir_op *op) {
    const xir_map *extra = op_more_of(op)->extra;
    const xir_any *order = proto_tag(op_more_of(op)->tags, "onnx.attribute_order", XIR_ANY_LIST);
    if (order && put_in_order(w, field, op, &order->as.list)) return;
    for (size_t i = 0; i < extra->size && !proto_failed(w); i++) put_attribute(w, field, op, &extra->entries[i]);
}

/* Ops with the same attributes often have one map, so their bytes are made once. */
void proto_put_attributes(proto_writer *w, const xir_op *op) {
    const xir_map *extra = op_more_of(op)->extra;
    proto_again a;
    if (!extra || proto_put_again(w, extra, op_more_of(op)->tags, &a)) return;
    proto_put_attributes_in(w, NODE_ATTRIBUTE, op);
    proto_remember(w, &a);
}
