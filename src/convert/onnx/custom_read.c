/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Nodes of the library's own domain become ops of XIR again. The file may be anybody's: every attribute is checked
 * against what the class declares. The declared types count as long as the inputs have the dims that they had, and must
 * agree with what follows from the inputs; else types are inferred. */
#include <xir/place.h>
#include <xir/symbols.h>
#include "onnx/custom_read.h"
#include "onnx/quantised.h"

/* ---- inputs and outputs ----------------------------------------------------------------------------------------- */

static bool same_letters(const xir_type *a, const xir_type *b) {
    const xir_layout *x = xir_type_layout(a), *y = xir_type_layout(b);
    return x && y && xir_str_equal(xir_layout_text(x), xir_layout_text(y));
}

/* v with other elements that store the same. */
static xir_value *with_bits(custom_reading *r, xir_value *v, const xir_type *element) {
    r->at->c->quantised++;
    return onnx_bits_as(r->at, v, element);
}

/* The letters that axes had. */
static xir_value *with_letters(custom_reading *r, xir_value *v, const xir_type *type) {
    const xir_str letters = xir_layout_text(xir_type_layout(type));
    char text[32] = "";
    if (xir_type_is_layouted(type) || letters.size >= sizeof text || letters.size != v_rank(v)) return v;
    memcpy(text, letters.data, letters.size);
    if (strspn(text, "*") == letters.size) return v;
    const xir_ints same = xir_node_series(r->at, 0, letters.size);
    return same.v || !letters.size ? xir_node_transposed(r->at, v, same.v, same.n, text) : NULL;
}

/* An input as the op had it. */
static bool read_input(custom_reading *r, size_t i, const xir_any *said) {
    const xir_type *type = NULL;
    xir_value *v = xir_op_input(r->at->op, (int64_t)i);
    const xir_str name = XIR_STR(CUSTOM_INPUTS);
    r->in[i] = NULL;
    if (said && !custom_parse_type(r, name, said, &type)) return false;
    if (!v) return true;
    v = xir_node_input(r->at, i);
    if (!v) return false;
    r->in[i] = v;
    if (!type || xir_type_equal(type, xir_value_type(v))) return true;
    if (xir_value_is_params(v)) return custom_as_typed(r, name, &r->in[i], type);
    r->moved |= !type_same_dims(type, xir_value_type(v));
    const xir_type *element = xir_type_element(type);
    if (!xir_type_equal(element, v_element(v))) {
        if (!custom_store_the_same(element, v_element(v)))
            return xir_node_unsupported(r->at, "input %zu has other elements than the op had", i);
        v = with_bits(r, v, element);
    }
    if (v && !same_letters(type, xir_value_type(v))) v = with_letters(r, v, type);
    r->in[i] = v;
    return v;
}

static const xir_list *list_of(custom_reading *r, const char *name, size_t most, bool *ok) {
    const xir_any *any = custom_find(r, name);
    *ok = true;
    if (!any) return NULL;
    *ok = any->kind == XIR_ANY_LIST && any->as.list.size <= most;
    if (!*ok)
        custom_wrong(r, XIR_E_TYPE, xir_str_of(name),
                     "expected a list of texts, one for each input or output of the node");
    return *ok ? &any->as.list : NULL;
}

static bool read_inputs(custom_reading *r) {
    bool ok;
    size_t n = xir_op_input_count(r->at->op);
    const xir_any *any = custom_find(r, CUSTOM_INPUTS);   /* a file does not have absent inputs at the end */
    const size_t said = any && any->kind == XIR_ANY_LIST ? any->as.list.size : 0;
    if (said > n && said <= 1 << 20) n = said;
    const xir_list *types = list_of(r, CUSTOM_INPUTS, n, &ok);
    r->in = ok ? node_take(r->at, (n + 1) * sizeof *r->in) : NULL;
    if (!r->in) return ok ? node_no_memory(r->at) : false;
    r->n_in = n;
    for (size_t i = 0; i < n; i++)
        if (!read_input(r, i, types && i < types->size ? &types->items[i] : NULL)) return false;
    return true;
}

/* A type with the dims of a text, "batch;2*length;8". */
static bool with_dims(custom_reading *r, const xir_any *any, const xir_type **type) {
    enum { MOST = 64 };
    xir_str dims[MOST];
    size_t n = 0;
    const xir_str text = any && any->kind == XIR_ANY_TEXT ? any->as.text : XIR_STR("");
    if (!text.size) return true;
    for (size_t i = 0, from = 0; i <= text.size; i++) {
        if (i < text.size && text.data[i] != ';') continue;
        if (n == MOST) return custom_wrong(r, XIR_E_LIMIT, XIR_STR(CUSTOM_DIMS), "too many dims");
        dims[n++] = (xir_str){ text.data + from, i - from };
        from = i + 1;
    }
    if (n != xir_type_rank(*type))
        return custom_wrong(r, XIR_E_BOUNDS, XIR_STR(CUSTOM_DIMS), "the type has another number of dims");
    xir_diags *why = xir_diags_new(r->at->c->ctx);
    const xir_type *made = why ? xir_network_type_with_dims(r->at->c->net, *type, dims, n, why) : NULL;
    const xir_diag *d = why ? xir_diags_at(why, 0) : NULL;
    const bool no_memory = !made && (!d || d->code == XIR_E_MEMORY);
    const xir_status code = d ? d->code : XIR_E_MEMORY;
    xir_diags_free(why);
    if (no_memory) return node_no_memory(r->at);
    if (!made) return custom_wrong(r, code, XIR_STR(CUSTOM_DIMS), "it is not a list of the dims");
    for (size_t i = 0; i < n; i++) {
        const int64_t known = xir_type_dim(*type, (int64_t)i, false);
        if (known >= 0 && known != xir_type_dim(made, (int64_t)i, false))
            return custom_wrong(r, XIR_E_INVALID, XIR_STR(CUSTOM_DIMS), "a dim that the type knows is another one");
    }
    *type = made;
    return true;
}

static bool read_outputs(custom_reading *r) {
    bool ok, also;
    const size_t n = xir_op_output_count(r->at->op);
    const xir_list *types = list_of(r, CUSTOM_OUTPUTS, n, &ok), *dims = ok ? list_of(r, CUSTOM_DIMS, n, &also) : NULL;
    if (!ok || !also) return false;
    r->n_out = n;
    if (!types && n) return true;
    if (types && types->size != n)
        return custom_wrong(r, XIR_E_BOUNDS, XIR_STR(CUSTOM_OUTPUTS), "it has another number of outputs");
    r->out = node_take(r->at, (n + 1) * sizeof *r->out);
    if (!r->out) return node_no_memory(r->at);
    for (size_t i = 0; i < n; i++) {
        if (!custom_parse_type(r, XIR_STR(CUSTOM_OUTPUTS), &types->items[i], &r->out[i])) return false;
        if (!r->out[i]) { r->out = NULL; return true; }
        if (dims && i < dims->size && !with_dims(r, &dims->items[i], &r->out[i])) return false;
    }
    return true;
}

/* ---- the op ----------------------------------------------------------------------------------------------------- */

static bool find_class_of(custom_reading *r) {
    const xir_any *any = custom_find(r, CUSTOM_CLASS);
    if (!any) return custom_wrong(r, XIR_E_MISSING, XIR_STR(CUSTOM_CLASS), "it is missing");
    if (any->kind != XIR_ANY_TEXT) return custom_wrong(r, XIR_E_TYPE, XIR_STR(CUSTOM_CLASS), "expected a text");
    const xir_str key = any->as.text;
    r->cls = key.size ? xir_class_find(r->at->c->ctx, key) : NULL;
    const int n = text_clip(key, 100);
    if (!r->cls) {
        return xir_node_unsupported(r->at, "no class has the key '%.*s': its plug-in may not be loaded", n,
                                    n ? key.data : "");
    }
    const bool ends = r->cls->traits & (XIR_TRAIT_ABSTRACT | XIR_TRAIT_SOURCE | XIR_TRAIT_SINK);
    if (xir_class_is_opaque(r->cls) || !xir_class_is_op(r->cls) || ends)
        return custom_wrong(r, XIR_E_TYPE, XIR_STR(CUSTOM_CLASS), "expected the key of a class of operations");
    return true;
}

static bool read_target(custom_reading *r) {
    const xir_any *any = custom_find(r, CUSTOM_TARGET);
    r->target = xir_op_target(r->at->op);
    if (!any) return true;
    if (any->kind != XIR_ANY_TEXT) return custom_wrong(r, XIR_E_TYPE, XIR_STR(CUSTOM_TARGET), "expected a text");
    const xir_object *object = custom_parse(r, XIR_STR(CUSTOM_TARGET), any->as.text);
    if (!object) return false;
    if (!xir_object_body(object, xir_target_class()))
        return custom_wrong(r, XIR_E_TYPE, XIR_STR(CUSTOM_TARGET), "expected a target");
    r->target = (const xir_target *)object;
    return true;
}

static bool set_extra(custom_reading *r, xir_op *op) {
    const xir_any *any = custom_find(r, CUSTOM_EXTRA);
    xir_map map;
    if (!any) return true;
    if (any->kind != XIR_ANY_TEXT)
        return custom_wrong(r, XIR_E_TYPE, XIR_STR(CUSTOM_EXTRA), "expected the text of a map");
    if (!custom_parse_map(r, XIR_STR(CUSTOM_EXTRA), any->as.text, &map)) return false;
    for (size_t i = 0; i < map.size; i++) {
        const xir_status status = xir_op_set_extra(op, map.entries[i].key, &map.entries[i].value);
        if (status == XIR_E_MEMORY) return node_no_memory(r->at);
        if (status) return custom_wrong(r, status, XIR_STR(CUSTOM_EXTRA), "the op cannot have these attributes");
    }
    return true;
}

/* Checks the op as the library checks one of a file. */
static bool is_valid(custom_reading *r, const xir_op *op) {
    xir_diags *why = xir_diags_new(r->at->c->ctx);
    const xir_status status = why ? xir_op_validate(op, why) : XIR_E_MEMORY;
    const xir_diag *d = why ? xir_diags_at(why, 0) : NULL;
    const int n = d ? text_clip(d->message, 250) : 0;
    if (status == XIR_E_MEMORY) node_no_memory(r->at);
    else if (status) xir_node_unsupported(r->at, "%.*s", n, n ? d->message.data : "");
    xir_diags_free(why);
    return !status;
}

static xir_op *make(custom_reading *r, bool declared) {
    conversion *c = r->at->c;
    size_t n = r->n_in;
    while (n && !r->in[n - 1]) n--;
    const xir_op_desc desc = XIR_INIT(xir_op_desc, .cls = r->cls, .inputs = r->in, .n_inputs = n,
        .types = declared ? r->out : NULL, .n_types = declared ? r->n_out : 0, .target = r->target,
        .name = xir_op_name(r->at->op), .id = XIR_NO_ID, .before = r->at->op, .named = r->named, .n_named = r->n_named);
    const xir_status status = xir_network_status(c->net);
    const size_t before = xir_diags_count(xir_network_diags(c->net));
    xir_op *op = xir_network_add(c->net, &desc);
    if (op) return op;
    node_report_refusal(r->at, before);
    if (!status) xir_network_clear_status(c->net);
    return NULL;
}

/* ---- what is declared, and what follows ------------------------------------------------------------------------- */

/* Returns true if elements may be declared instead of those that follow: quantising and dequantising are conversions
 * that inference does not know. */
static bool may_be(const xir_type *declared, const xir_type *inferred) {
    return xir_type_equal(declared, inferred) || xir_type_is_quantized(declared) || xir_type_is_quantized(inferred);
}

/* The declared type with the dims that only inference knows. */
static bool fill_dims(custom_reading *r, xir_value *y, const xir_type *inferred) {
    enum { MOST = 64 };
    char room[MOST][24];
    xir_str dims[MOST];
    const xir_type *own = xir_value_type(y);
    const size_t rank = xir_type_rank(own);
    bool more = false;
    for (size_t i = 0; i < rank && i < MOST; i++) {
        const int64_t known = xir_type_dim(inferred, (int64_t)i, false);
        more |= known >= 0 && xir_type_dim(own, (int64_t)i, false) < 0;
    }
    if (!more || rank > MOST) return true;
    for (size_t i = 0; i < rank; i++) {
        const int64_t known = xir_type_dim(inferred, (int64_t)i, false);
        const size_t size = xir_type_dim_text(own, (int64_t)i, NULL, 0) + 1;
        char *text = known < 0 ? node_take(r->at, size) : room[i];
        if (!text) return node_no_memory(r->at);
        dims[i] = (xir_str){ text, known < 0 ? xir_type_dim_text(own, (int64_t)i, text, size)
                                             : (size_t)snprintf(text, sizeof room[i], "%lld", (long long)known) };
    }
    const xir_type *type = xir_network_type_with_dims(r->at->c->net, own, dims, rank, NULL);
    return (type && !xir_value_set_type(y, type)) || node_no_memory(r->at);
}

/* Returns true if the declared types agree with those that follow from the inputs, as far as any do. */
static bool agree_with_inferred(custom_reading *r, const xir_op *op) {
    const xir_str name = XIR_STR(CUSTOM_OUTPUTS);
    const xir_type **types;
    const xir_status status = onnx_inferred(r->at, op, &types);
    if (status == XIR_E_BOUNDS) return custom_wrong(r, XIR_E_BOUNDS, name, "the op has another number of outputs");
    if (status) return status != XIR_E_MEMORY;   /* nothing follows; the check of the op finds faults */
    for (size_t i = 0; i < xir_op_output_count(op); i++) {
        xir_value *y = xir_op_output(op, (int64_t)i);
        const xir_type *own = xir_value_type(y), *other = types[i];
        if (!xir_type_as_tensor(own) || !xir_type_as_tensor(other)) continue;
        bool same = xir_type_rank(own) == xir_type_rank(other);
        for (size_t k = 0; same && k < xir_type_rank(own); k++) {
            const int64_t a = xir_type_dim(own, (int64_t)k, false), b = xir_type_dim(other, (int64_t)k, false);
            same = a < 0 || b < 0 || a == b;
        }
        if (!same) return custom_wrong(r, XIR_E_INVALID, name, "it has other dims than follow from the inputs");
        if (!may_be(xir_type_element(own), xir_type_element(other)))
            return custom_wrong(r, XIR_E_TYPE, name, "it has other elements than follow from the inputs");
        if (!fill_dims(r, y, other)) return false;
    }
    return true;
}

/* An output as the node's declared type has it: integers that are the stored numbers of a quantised type. */
static xir_value *as_declared(custom_reading *r, xir_value *y, const xir_value *old) {
    const xir_type *had = xir_value_type(old);
    const xir_type *own = xir_type_as_tensor(xir_value_type(y)) ? v_element(y) : NULL;
    if (!own || !xir_type_as_tensor(had) || !xir_type_is_quantized(own)) return y;
    return xir_type_equal(xir_type_storage(own), xir_type_element(had)) ? with_bits(r, y, xir_type_element(had)) : y;
}

bool onnx_custom(xir_node *at) {
    static const xir_map nothing;
    const xir_map *given = xir_op_extra(at->op);
    custom_reading r = { .at = at, .given = given ? given : &nothing };
    if (xir_node_failed(at) || !find_class_of(&r) || !custom_are_known(&r)) return false;
    if (!custom_read_attributes(&r) || !read_target(&r)) return false;
    if (!read_inputs(&r) || !read_outputs(&r)) return false;
    const bool declared = r.out && !r.moved;
    xir_op *op = make(&r, declared);
    if (!op || (declared && !agree_with_inferred(&r, op)) || !set_extra(&r, op) || !is_valid(&r, op)) return false;
    if (xir_op_output_count(op) < at->n_out)
        return xir_node_invalid(at, XIR_E_BOUNDS, NULL, "the op has %zu outputs, the node has %zu",
                                xir_op_output_count(op), at->n_out);
    at->main = op;
    for (size_t i = 0; i < at->n_out; i++) {
        xir_value *y = as_declared(&r, xir_op_output(op, (int64_t)i), xir_op_output(at->op, (int64_t)i));
        if (!y || !xir_node_result(at, i, y)) return false;
    }
    return !xir_node_failed(at);
}
