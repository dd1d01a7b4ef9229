/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A network made of any bytes, for fuzz targets: each byte is a choice. Ops are of all classes of XIR and of operators
 * of ONNX, with the attributes, inputs, names and tags that the bytes choose; what the library refuses is left out. So
 * the operations are valid, and the graph as a whole may still have what no ONNX can hold. */
#ifndef XIR_TESTS_FUZZ_BYTES_NET_H
#define XIR_TESTS_FUZZ_BYTES_NET_H

#include <math.h>
#include <xir/xir.h>
#include "fuzz.h"

enum { BYTES_VALUES = 64, BYTES_OPS = 24, BYTES_FIELDS = 40, BYTES_ROOM = 4096 };

typedef struct bytes_net {
    const uint8_t   *at, *end;
    xir_context     *ctx;
    xir_network     *net;
    const xir_class *classes[512];
    size_t           n_classes;
    xir_value       *values[BYTES_VALUES];
    size_t           n_values;
    int64_t          integers[8];      /* of the list that is set; so are those below */
    double           reals[8];
    bool             bools[8];
    xir_str          texts[8];
    const xir_object *refs[8];
    xir_value       *params[8];
    xir_any          items[4];         /* of an attribute or a tag; so are the next two */
    xir_entry        entry;
    char             message[24];
    bool             foreign;          /* operators of ONNX alone */
} bytes_net;

/* The next choice; 0 when the bytes are used up. */
static inline uint8_t bytes_next(bytes_net *b) { return b->at < b->end ? *b->at++ : 0; }
static inline size_t  bytes_below(bytes_net *b, size_t n) { return bytes_next(b) % n; }

static inline xir_str bytes_text(bytes_net *b) {
    static const char *const texts[] = { "", "x", "y", "a.b", "xir_0", "x.output", "\xC3\xA4", "\xFF", "input", "a:b" };
    const size_t i = bytes_below(b, 24);
    return i == 23 ? (xir_str){ "a\0b", 3 } : xir_str_of(texts[i < sizeof texts / sizeof *texts ? i : 0]);
}

static inline int64_t bytes_integer(bytes_net *b) {
    static const int64_t odd[] = { -1, INT64_MAX, INT64_MIN, INT32_MAX, UINT32_MAX, 1 << 20, -2, 64 };
    const uint8_t i = bytes_next(b);
    return i < 240 ? i % 8 : odd[i % 8];
}

static inline double bytes_real(bytes_net *b) {
    static const double reals[] = { 0, 1, 0.5, -0.0, -3, 0.1f, 1e30f, 0x1p-140, INFINITY, -INFINITY, NAN, 1e-5f };
    return reals[bytes_below(b, sizeof reals / sizeof *reals)];
}

/* ---- types and constants ---------------------------------------------------------------------------------------- */

static inline const xir_type *bytes_element(bytes_net *b) {
    static const xir_float_format floats[] = { XIR_FLOAT_FP32, XIR_FLOAT_FP16, XIR_FLOAT_FP64, XIR_FLOAT_BF16 };
    static const int64_t widths[] = { 8, 64, 32, 16, 4, 2, 1, 3 };
    static const char quantised[] = "{\"_type_key\":\"icraft::xir::QuantizedType\",\"expressed_dtype\":\"@fp(32)\","
        "\"scale\":\"@scales([axis=-1]0.5)\",\"storage_dtype\":\"@sint(8)\",\"zero_points\":[]}";
    const uint8_t i = bytes_next(b);
    if (i < 128) return xir_type_float(b->ctx, floats[i % 8 < 5 ? 0 : i % 4]);
    if (i < 160) return xir_type_sint(b->ctx, widths[i % 8]);
    if (i < 192) return xir_type_uint(b->ctx, widths[i % 8]);
    if (i < 224) return xir_type_bool(b->ctx);
    return (const xir_type *)xir_object_parse(b->ctx, XIR_STR(quantised), NULL);
}

/* A tensor of few elements; NULL without memory. */
static inline const xir_type *bytes_type(bytes_net *b, bool open) {
    static const char *const layouts[] = { "", "C", "NC", "NHC", "NHWC", "NDHWC" }, *const kernels[] = { "", "O", "IO",
        "WIO", "HWIO", "DHWIO" };
    int64_t dims[6];
    const xir_type *element = bytes_element(b);
    const size_t how = bytes_below(b, 4), rank = bytes_below(b, 12) < 7 ? 4 : bytes_below(b, 6);
    for (size_t i = 0; i < rank; i++) {
        const uint8_t d = bytes_next(b);
        dims[i] = open && d > 240 ? -1 : d < 230 ? 1 + d % 4 : d % 2 ? 0 : 8;
    }
    const char *letters = how == 1 ? layouts[rank] : kernels[rank];
    if (!element) return NULL;
    return how % 3 ? xir_type_tensor_text(b->ctx, element, letters, dims, rank)
                   : xir_type_tensor(b->ctx, element, NULL, dims, rank);
}

static inline xir_value *bytes_params(bytes_net *b) {
    uint8_t data[BYTES_ROOM];
    uint64_t size;
    const xir_type *type = bytes_type(b, false);
    const xir_str name = bytes_text(b);
    if (!type || xir_type_bytes(type, &size) || size > sizeof data) return NULL;
    if (bytes_below(b, 32) == 31) return xir_params_new(b->net, name, type);
    for (size_t i = 0; i < size; i++) data[i] = i % 4 == 0 ? bytes_next(b) % 4 : 0;
    return xir_params_copy(b->net, name, type, data, (size_t)size);
}

/* A value that there is, a constant, or an absent input. */
static inline xir_value *bytes_value(bytes_net *b) {
    const uint8_t i = bytes_next(b);
    if (i >= 250) return NULL;
    return i >= 160 || !b->n_values ? bytes_params(b) : b->values[b->n_values - 1 - i % b->n_values];
}

/* ---- attributes ------------------------------------------------------------------------------------------------- */

static inline const xir_object *bytes_object(bytes_net *b) {
    static const char tensor[] = "{\"_type_key\":\"icraft::xir::TensorType\",\"element_dtype\":\"@fp(32)\","
        "\"layout\":\"@layout(**)\",\"merged_distrs\":[],\"shape\":[2,3]}";
    static const char *const texts[] = { "\"@layout(NHWC)\"", "\"@layout(**)\"", "\"@fp(32)\"", "\"@sint(8)\"",
        "\"@bool\"", "1", "0.5", "true", "\"@zhuget(330)\"", "\"@layout(NC)\"", tensor };
    return xir_object_parse(b->ctx, xir_str_of(texts[bytes_below(b, sizeof texts / sizeof *texts)]), NULL);
}

static inline bool bytes_attr(bytes_net *b, const xir_field *f, xir_attr *a) {
    const size_t n = bytes_below(b, 6);
    *a = (xir_attr){ .kind = f->kind };
    switch (f->kind) {
    case XIR_KIND_BOOL:    a->as.boolean = n % 2; break;
    case XIR_KIND_I64:     a->as.i64 = bytes_integer(b); break;
    case XIR_KIND_U64:     a->as.u64 = (uint64_t)bytes_integer(b); break;
    case XIR_KIND_REAL:    a->as.real = bytes_real(b); break;
    case XIR_KIND_TEXT:    a->as.text = bytes_text(b); break;
    case XIR_KIND_ENUM:    a->as.enumerator = (int)bytes_below(b, f->members->size); break;
    case XIR_KIND_REF:     return (a->as.ref = bytes_object(b)) != NULL;
    case XIR_KIND_PARAMS:  return (a->as.params = bytes_params(b)) != NULL;
    case XIR_KIND_BOOLS:   for (size_t i = 0; i < n; i++) b->bools[i] = bytes_next(b) % 2;
                           a->as.bools = (xir_bools){ b->bools, n }; break;
    case XIR_KIND_I64S:    for (size_t i = 0; i < n; i++) b->integers[i] = bytes_integer(b);
                           a->as.i64s = (xir_i64s){ b->integers, n }; break;
    case XIR_KIND_REALS:   for (size_t i = 0; i < n; i++) b->reals[i] = bytes_real(b);
                           a->as.reals = (xir_reals){ b->reals, n }; break;
    case XIR_KIND_TEXTS:   for (size_t i = 0; i < n; i++) b->texts[i] = bytes_text(b);
                           a->as.texts = (xir_texts){ b->texts, n }; break;
    case XIR_KIND_REFS:    for (size_t i = 0; i < n; i++) if (!(b->refs[i] = bytes_object(b))) return false;
                           a->as.refs = (xir_refs){ b->refs, n }; break;
    case XIR_KIND_PARAMSS: for (size_t i = 0; i < n; i++) if (!(b->params[i] = bytes_params(b))) return false;
                           a->as.values = (xir_values){ b->params, n }; break;
    default: return false;
    }
    return true;
}

/* A message as tags have it, in base64. */
static inline xir_str bytes_message(bytes_net *b) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const size_t n = 4 * bytes_below(b, 6);
    for (size_t i = 0; i < n; i++) b->message[i] = digits[bytes_next(b) % 64];
    return (xir_str){ b->message, n };
}

/* Params of uint8, as an attribute has the bytes of a graph. */
static inline xir_any bytes_graph(bytes_net *b) {
    uint8_t data[16];
    const int64_t n = (int64_t)bytes_below(b, sizeof data);
    for (int64_t i = 0; i < n; i++) data[i] = bytes_next(b);
    const xir_type *type = xir_type_tensor(b->ctx, xir_type_uint(b->ctx, 8), NULL, &n, 1);
    xir_value *v = xir_params_copy(b->net, XIR_STR(""), type, data, (size_t)n);
    return v ? (xir_any){ .kind = XIR_ANY_PARAMS, .as.params = v } : xir_any_null();
}

/* An undeclared attribute or a tag. Its parts live until the next call. */
static inline xir_any bytes_any(bytes_net *b) {
    static const char *const types[] = { "seq(tensor(float))", "tensor(string)[2,N,?]", "opaque(a,b)", "seq(", "" };
    const size_t n = bytes_below(b, 4);
    b->entry.key = XIR_STR("x");
    switch (bytes_below(b, 16)) {
    case 0: return xir_any_int(bytes_integer(b));
    case 1: return xir_any_real(bytes_real(b));
    case 2: return xir_any_text(bytes_text(b));
    case 3: return xir_any_bool(n % 2);
    case 4: {
        xir_value *v = bytes_params(b);
        return v ? (xir_any){ .kind = XIR_ANY_PARAMS, .as.params = v } : xir_any_int(1);
    }
    case 5: case 6:
        for (size_t i = 0; i < n; i++) b->items[i] = xir_any_int(bytes_integer(b));
        return xir_any_list(b->items, n);
    case 7:
        for (size_t i = 0; i < n; i++) b->items[i] = i % 2 ? xir_any_real(bytes_real(b)) : xir_any_text(bytes_text(b));
        return xir_any_list(b->items, n);
    case 8: b->entry = (xir_entry){ XIR_STR("onnx.ref"), xir_any_text(bytes_text(b)) }; break;
    case 9: b->entry = (xir_entry){ XIR_STR("onnx.graph"), bytes_graph(b) }; break;
    case 10: b->entry = (xir_entry){ XIR_STR("onnx.type"), xir_any_text(xir_str_of(types[bytes_below(b, 5)])) }; break;
    case 11: b->entry = (xir_entry){ bytes_text(b), xir_any_text(bytes_text(b)) }; break;
    case 12: b->entry = (xir_entry){ bytes_text(b), xir_any_int(bytes_integer(b)) }; break;
    case 13: return xir_any_text(bytes_message(b));
    case 14:
        b->items[0] = xir_any_text(bytes_message(b));
        return xir_any_list(b->items, 1);
    default:
        b->entry = (xir_entry){ n % 2 ? XIR_STR("tensor") : XIR_STR("sparse_tensor"), xir_any_text(bytes_message(b)) };
        b->items[0] = xir_any_map(&b->entry, 1);
        return xir_any_list(b->items, 1);
    }
    return xir_any_map(&b->entry, 1);
}

#define BYTES_ONE_OF(b, list) xir_str_of((list)[bytes_below((b), sizeof (list) / sizeof *(list))])

static inline void bytes_mark(bytes_net *b, xir_op *op) {
    static const char *const names[] = { "axis", "onnx.name", "name", "alpha", "onnx.x", "x", "\xC3\xA4", "inputs" },
        *const tags[] = { "onnx.doc_string", "onnx.op_type", "onnx.metadata", "onnx.attribute_kinds", "onnx.overload",
                          "onnx.attribute_order", "source.captures", "onnx.attribute_docs",
                          "onnx.device_configurations" };
    for (size_t n = bytes_below(b, 4); n; n--) {
        const xir_any any = bytes_any(b);
        (void)xir_op_set_extra(op, BYTES_ONE_OF(b, names), &any);
    }
    if (bytes_below(b, 8) == 7) {
        const xir_any any = bytes_any(b);
        (void)xir_op_set_tag(op, BYTES_ONE_OF(b, tags), &any);
    }
}

/* A tag of a value or of the network. */
static inline void bytes_tag(bytes_net *b) {
    static const char *const ofs[] = { "onnx.type", "onnx.type_proto", "onnx.denotation", "onnx.dim_denotations",
        "onnx.doc_string", "onnx.metadata", "onnx.quantization", "source.dims", "source.duplicate", "onnx.input",
        "onnx.sparse" }, *const nets[] = { "onnx.unused", "onnx.value_info", "onnx.quantization_annotation",
        "onnx.opset", "onnx.functions", "onnx.metadata", "onnx.graph_metadata", "onnx.domain", "onnx.training_info",
        "onnx.ir_version", "onnx.unused_initializers" };
    const xir_any any = bytes_any(b);
    xir_value *v = b->n_values ? b->values[b->n_values - 1 - bytes_below(b, 4) % b->n_values] : NULL;
    if (bytes_below(b, 2)) (void)xir_network_set_tag(b->net, BYTES_ONE_OF(b, nets), &any);
    else if (v) (void)xir_value_set_tag(v, BYTES_ONE_OF(b, ofs), &any);
}

/* ---- ops -------------------------------------------------------------------------------------------------------- */

static inline void bytes_keep(bytes_net *b, xir_op *op) {
    xir_network_clear_status(b->net);
    for (size_t i = 0; op && i < xir_op_output_count(op); i++) {
        xir_value *v = xir_op_output(op, (int64_t)i);
        if (b->n_values == BYTES_VALUES) return;
        (void)xir_value_set_name(v, bytes_text(b));
        b->values[b->n_values++] = v;
    }
}

static inline xir_op *bytes_operator(bytes_net *b) {
    static const char *const keys[] = { "onnx::Relu", "onnx::Add", "onnx::Conv", "onnx::com.microsoft.Gelu",
        "onnx::a.b.c", "onnx::icraft.xir.ReLU", "onnx::If", "onnx::ai.onnx.Abs", "onnx::.", "onnx::a.",
        "onnx::Constant", "onnx::" };
    const xir_type *types[3];
    xir_value *inputs[4];
    const xir_class *cls = xir_class_opaque(b->ctx, xir_str_of(keys[bytes_below(b, sizeof keys / sizeof *keys)]));
    const size_t n = bytes_below(b, 4), n_types = bytes_below(b, 3) + (bytes_next(b) < 250);
    for (size_t i = 0; i < n; i++) inputs[i] = bytes_value(b);
    for (size_t i = 0; i < n_types; i++)
        if (!(types[i] = bytes_type(b, true))) return NULL;
    xir_op *op = xir_network_add(b->net, &XIR_INIT(xir_op_desc, .cls = cls, .id = XIR_NO_ID, .inputs = inputs,
                                                   .n_inputs = n, .types = types, .n_types = n_types,
                                                   .name = bytes_text(b)));
    if (op) bytes_mark(b, op);
    return op;
}

static inline xir_op *bytes_operation(bytes_net *b) {
    const xir_class *cls = b->classes[(bytes_next(b) | (size_t)bytes_next(b) << 8) % b->n_classes];
    const xir_type *types[2];
    const size_t n_types = bytes_below(b, 3);
    xir_value *inputs[8];
    size_t n = 0;
    for (size_t i = 0; i < xir_class_input_count(cls) && n < 6; i++) {
        const xir_port *port = xir_class_input_at(cls, i);
        const size_t times = port->decl == XIR_DECL_VAR ? 1 + bytes_below(b, 2)
                           : port->decl == XIR_DECL_OPT ? bytes_next(b) > 200 : 1;
        if (!times && port->decl == XIR_DECL_OPT) inputs[n++] = NULL;
        for (size_t k = 0; k < times; k++) inputs[n++] = bytes_value(b);
    }
    while (n && !inputs[n - 1]) n--;
    xir_op *op = xir_op_create(b->net, xir_class_key(cls));
    if (op) (void)xir_op_set_inputs(op, inputs, n);
    for (size_t i = 0; op && i < xir_class_field_count(cls); i++) {
        const xir_field *f = xir_class_field_at(cls, i);
        xir_attr a;
        const bool wanted = !f->has_default && !f->default_text.size && !(f->flags & XIR_FIELD_OPTIONAL);
        if ((bytes_next(b) > 190 || wanted) && bytes_attr(b, f, &a)) (void)xir_op_set(op, f->name, &a);
    }
    for (size_t i = 0; op && !xir_op_can_infer(op) && i < n_types; i++) types[i] = bytes_type(b, false);
    if (op && !xir_op_can_infer(op)) (void)xir_op_set_outputs(op, types, n_types);
    if (op && xir_op_place(op, NULL)) {
        (void)xir_op_erase(op);
        op = NULL;
    }
    if (op) (void)xir_op_set_name(op, bytes_text(b));
    return op;
}

/* ---- the network ------------------------------------------------------------------------------------------------ */

static inline void bytes_end(bytes_net *b) {
    xir_value *results[4];
    const size_t n = bytes_below(b, 8) < 7 ? 1 + bytes_below(b, 3) : 0;
    for (size_t i = 0; i < n; i++) results[i] = b->values[b->n_values - 1 - bytes_below(b, 4) % b->n_values];
    if (n) (void)xir_output(xir_at_end(b->net), (xir_values){ results, n });
    xir_network_clear_status(b->net);
}

static inline void bytes_list_classes(bytes_net *b) {
    for (size_t i = 0; xir_context_class_at(b->ctx, i) && b->n_classes < 512; i++) {
        const xir_class *cls = xir_context_class_at(b->ctx, i);
        const uint32_t others = XIR_TRAIT_ABSTRACT | XIR_TRAIT_SOURCE | XIR_TRAIT_SINK;
        if (xir_class_is_op(cls) && !xir_class_is_opaque(cls) && !(xir_class_traits(cls) & others))
            b->classes[b->n_classes++] = cls;
    }
}

/* NULL: the bytes choose no inputs. `b` then says what was made. */
static inline xir_network *bytes_make(bytes_net *b, xir_context *ctx, const uint8_t *data, size_t size) {
    *b = (bytes_net){ .at = data, .end = data + size, .ctx = ctx };
    bytes_list_classes(b);
    const uint8_t how = bytes_next(b);
    const xir_type *types[3];
    const size_t n = 1 + how % 3;
    b->net = xir_network_new(ctx, "any", XIR_FRAMEWORK_ONNX, how % 5 ? "v1" : "opset17");
    b->foreign = how / 16 % 4 == 3;
    must(b->net != NULL);
    for (size_t i = 0; i < n; i++) types[i] = bytes_type(b, how > 200);
    for (size_t i = 0; i < n; i++) must(types[i] != NULL);
    bytes_keep(b, xir_inputs(xir_at_end(b->net), "in", types, n));
    for (size_t i = 0; i < BYTES_OPS && b->at < b->end && b->n_values; i++)
        bytes_keep(b, b->foreign || bytes_next(b) == 255 ? bytes_operator(b) : bytes_operation(b));
    if (how / 64 == 2 || b->foreign)
        for (size_t k = bytes_below(b, 4); k; k--) bytes_tag(b);
    if (b->n_values) bytes_end(b);
    return b->net;
}

#endif
