/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The statements of a file about one value and about one op. */
#include "nnb/nnb.h"
#include <math.h>

bool nnb_is_input(const xir_op *op)  { return xir_str_equal(op->cls->key, XIR_STR("icraft::xir::Input")); }
bool nnb_is_output(const xir_op *op) { return xir_str_equal(op->cls->key, XIR_STR("icraft::xir::Output")); }

xir_str nnb_type_of(const xir_op *op) {
    const xir_str key = op->cls->key;
    bool own = key.size > 5 && memcmp(key.data, "nnb::", 5) == 0 && xir_class_is_opaque(op->cls);
    return own ? (xir_str){ key.data + 5, key.size - 5 } : (xir_str){ NULL, 0 };
}

xir_list nnb_unused(const xir_network *net) {
    const xir_op *op = net->first;
    const xir_map *extra = op && op_more_of(op) && nnb_is_input(op) ? op_more_of(op)->extra : NULL;
    const xir_any *found = xir_map_find(extra, XIR_STR(NNB_ATTR_UNUSED));
    return found && found->kind == XIR_ANY_LIST ? found->as.list : (xir_list){ NULL, 0 };
}

/* ---- values ---------------------------------------------------------------------------------------------------- */

xir_status nnb_size(const int32_t *dims, size_t rank, uint8_t type, uint64_t *elements, uint64_t *bytes) {
    static const uint8_t widths[NNB_TYPES] = { 32, 16, 8, 1 };
    uint64_t n = 1;
    bool over = false, zero = false;
    for (size_t i = 0; i < rank; i++) {
        if (dims[i] < 0) return XIR_E_BOUNDS;
        zero |= dims[i] == 0;
        over |= !mul_u64(n, (uint64_t)dims[i], &n);
    }
    *elements = zero ? 0 : n;
    *bytes = *elements > INT32_MAX ? UINT64_MAX : (*elements * (type < NNB_TYPES ? widths[type] : 32) + 7) / 8;
    return (over && !zero) || *elements > INT32_MAX ? XIR_E_LIMIT : XIR_OK;
}

static const xir_any *tag_of(const xir_value *v, const char *key, xir_any_kind kind) {
    const xir_any *found = value_more_of(v) ? xir_map_find(value_more_of(v)->tags, xir_str_of(key)) : NULL;
    return found && found->kind == kind ? found : NULL;
}

/* The same, unless the tags are about a value that had no type, as the tag of a type says, and has one now. */
static const xir_any *tag_of_type(const xir_value *v, const char *key, xir_any_kind kind) {
    const bool old = xir_type_as_tensor(v->type) && tag_of(v, NNB_TAG_TYPE, XIR_ANY_INT);
    return old ? NULL : tag_of(v, key, kind);
}

static bool put_dim(nnb_model *m, int64_t dim) {
    int32_t *out = nnb_more(m, &m->ints, 1, sizeof *out);
    if (out) *out = (int32_t)dim;
    return out && ((dim >= INT32_MIN && dim <= INT32_MAX) ||
                   nnb_refuse(m, XIR_E_LIMIT, "the dim %" PRId64 " does not fit into 32 bits", dim));
}

static bool put_shape(nnb_model *m, const xir_value *v, nnb_variable *out) {
    const xir_any *kept = tag_of_type(v, NNB_TAG_SHAPE, XIR_ANY_LIST);
    const size_t rank = kept ? kept->as.list.size : v->type ? xir_type_rank(v->type) : 0;
    out->shape = (uint32_t)m->ints.size;
    out->rank = (uint32_t)rank;
    if (!kept && !xir_type_as_tensor(v->type))
        return nnb_refuse(m, XIR_E_TYPE, "'%.*s' is not a tensor with a known shape", CLIP(xir_value_name(v)));
    for (size_t i = 0; i < rank; i++) {
        const int64_t dim = !kept ? xir_type_as_tensor(v->type)->shape.data[i]
                          : kept->as.list.items[i].kind == XIR_ANY_INT ? kept->as.list.items[i].as.integer : 0;
        if (!kept && dim < 0)
            return nnb_refuse(m, XIR_E_UNSUPPORTED, "dim %zu of '%.*s' is open, but every dim in NNB is a number: "
                              "give the inputs their dims first (xir opt --input-shape)", i, CLIP(xir_value_name(v)));
        if (!put_dim(m, dim)) return false;
    }
    return true;
}

/* Fixed point: a scale of 2^-fp_pos and no zero point. */
static bool put_fixed(nnb_model *m, const xir_type *element, nnb_variable *out) {
    const xir_scales *scales = xir_type_scale(element);
    const xir_i64s zeros = xir_type_zero_points(element);
    const int64_t bits = (int64_t)xir_type_storage_bits(element);
    int exponent = 0;
    bool ok = (bits == 8 || bits == 16) && xir_type_kind_of(element) == XIR_TYPE_QUANTIZED &&
              xir_type_equal(xir_type_storage(element), xir_type_sint(xir_network_context(m->net), bits)) &&
              scales && xir_scales_count(scales) == 1 && frexp(xir_scales_at(scales, 0), &exponent) == 0.5;
    for (size_t i = 0; i < zeros.size; i++) ok &= zeros.data[i] == 0;
    const int fp_pos = 1 - exponent;
    if (!ok || fp_pos < 0 || fp_pos > 15) return false;
    out->type = bits == 8 ? NNB_INT8 : NNB_INT16;
    out->fp_pos = (uint8_t)fp_pos;
    return true;
}

static bool put_type(nnb_model *m, const xir_value *v, nnb_variable *out) {
    const xir_any *type = tag_of_type(v, NNB_TAG_TYPE, XIR_ANY_INT), *fp_pos = tag_of(v, NNB_TAG_FP_POS, XIR_ANY_INT);
    const xir_type *element = v->type ? xir_type_element(v->type) : NULL;
    out->type = out->fp_pos = 0;
    bool ok = true;
    if (type) out->type = (uint8_t)(type->as.integer & 15);
    else if (xir_type_equal(element,
                            xir_type_float(xir_network_context(m->net), XIR_FLOAT_FP32))) out->type = NNB_FLOAT32;
    else if (xir_type_equal(element, xir_type_uint(xir_network_context(m->net), 1))) out->type = NNB_SIGN;
    else ok = element && put_fixed(m, element, out);
    if (fp_pos) out->fp_pos = (uint8_t)(fp_pos->as.integer & 15);
    return ok || nnb_refuse(m, XIR_E_UNSUPPORTED, "NNB does not have the element type of '%.*s': "
                            "expected 32-bit floats, integers of 8 or 16 bits with a scale of 2^0 to 2^-15, "
                            "or signs of one bit", CLIP(xir_value_name(v)));
}

bool nnb_describe_value(nnb_model *m, xir_value *v, nnb_variable *out) {
    *out = (nnb_variable){ .known = true, .buffer = -1, .stored = value_is_params(v) };
    if (!put_shape(m, v, out) || !put_type(m, v, out)) return false;
    const int32_t *dims = out->rank ? (const int32_t *)m->ints.data + out->shape : NULL;
    const xir_status status = nnb_size(dims, out->rank, out->type, &out->elements, &out->bytes);
    if (!out->stored) {
        if (status) out->elements = out->bytes = UINT64_MAX;   /* of a file that is read: a check finds it */
        return true;
    }
    const blob *data = value_params(v)->data;
    uint64_t bytes;
    out->params = v;
    if (params_size(v, &bytes) || (data && data->size != bytes))
        return nnb_refuse(m, XIR_E_INVALID, "the parameter '%.*s' does not have the bytes of its type",
                          CLIP(xir_value_name(v)));
    out->bytes = bytes;
    return true;
}

/* ---- arguments ------------------------------------------------------------------------------------------------- */

static bool wrong(nnb_model *m, const nnb_argument *a, const char *expected) {
    return nnb_refuse(m, XIR_E_TYPE, "the argument %.*s: expected %s", CLIP(a->name), expected);
}

static bool put_int(nnb_model *m, const nnb_argument *a, const xir_any *v, uint8_t *p) {
    int64_t ordinal = v->kind == XIR_ANY_BOOL ? v->as.boolean : v->as.integer;
    if (v->kind == XIR_ANY_TEXT && !nnb_word_number(a, v->as.text, &ordinal))
        return nnb_refuse(m, XIR_E_INVALID, "the argument %.*s: expected one of %.*s, found '%.*s'", CLIP(a->name),
                          CLIP_TO(a->words, 100), CLIP(v->as.text));
    if ((v->kind != XIR_ANY_TEXT && v->kind != XIR_ANY_INT && v->kind != XIR_ANY_BOOL) || ordinal < INT32_MIN ||
        ordinal > INT32_MAX) return wrong(m, a, "an integer of 32 bits");
    little_put32(p, (uint32_t)ordinal);
    return true;
}

static bool put_float(nnb_model *m, const nnb_argument *a, const xir_any *v, uint8_t *p) {
    uint32_t bits;
    float ordinal = v->kind == XIR_ANY_INT ? (float)v->as.integer : v->kind == XIR_ANY_REAL ? (float)v->as.real : 0;
    if (v->kind == XIR_ANY_PARAMS) {
        const blob *data = value_params(v->as.params)->data;
        if (!data || data->size != 4) return wrong(m, a, "a real, or Params of one float");
        memcpy(p, data->bytes, 4);
        return true;
    }
    if (v->kind != XIR_ANY_INT && (v->kind != XIR_ANY_REAL || number_beyond_f32(v->as.real)))
        return wrong(m, a, "a real of 32 bits");
    memcpy(&bits, &ordinal, sizeof bits);
    little_put32(p, bits);
    return true;
}

static bool put_byte(nnb_model *m, const nnb_argument *a, const xir_any *v, uint8_t *p) {
    bool ordinal = v->kind == XIR_ANY_INT && v->as.integer >= 0 && v->as.integer <= 255;
    if (!ordinal && v->kind != XIR_ANY_BOOL) return wrong(m, a, "a bool");
    *p = (uint8_t)(ordinal ? v->as.integer : v->as.boolean);
    return true;
}

static bool put_list(nnb_model *m, const nnb_argument *a, const xir_any *v, uint32_t at, nnb_record *out) {
    if (v->kind != XIR_ANY_LIST) return wrong(m, a, "a list of integers");
    const xir_list list = v->as.list;
    nnb_args_list *to = nnb_more(m, &m->lists, 1, sizeof *to);
    int32_t *items = to ? nnb_more(m, &m->ints, list.size, sizeof *items) : NULL;
    if (!items) return false;
    *to = (nnb_args_list){ { (uint32_t)(m->ints.size - list.size), (uint32_t)list.size }, at };
    out->n_lists++;
    for (size_t i = 0; i < list.size; i++) {
        const xir_any *item = &list.items[i];
        if (item->kind != XIR_ANY_INT || item->as.integer < INT32_MIN || item->as.integer > INT32_MAX)
            return wrong(m, a, "a list of integers of 32 bits");
        items[i] = (int32_t)item->as.integer;
    }
    return true;
}

static bool put_argument(nnb_model *m, const nnb_argument *a, const xir_any *v, nnb_record *out) {
    uint8_t *p = (uint8_t *)m->bytes.data + out->args + (a->at - NNB_RECORD);
    switch (a->kind) {
    case NNB_INT:   return put_int(m, a, v, p);
    case NNB_FLOAT: return put_float(m, a, v, p);
    case NNB_BYTE:  return put_byte(m, a, v, p);
    default:        return put_list(m, a, v, a->at - NNB_RECORD, out);
    }
}

/* ---- functions ------------------------------------------------------------------------------------------------- */

/* A number from a tag; -1 if the op does not have it. */
static int64_t tagged(const xir_op *op, const char *key) {
    const xir_any *found = op_more_of(op) ? xir_map_find(op_more_of(op)->tags, xir_str_of(key)) : NULL;
    return found && found->kind == XIR_ANY_INT && found->as.integer >= 0 && found->as.integer <= UINT16_MAX
         ? found->as.integer : -1;
}

/* Room for all arguments of a function; NULL with a failure. */
static uint8_t *take_arguments(nnb_model *m, uint64_t size, nnb_record *out) {
    if (size > INT32_MAX - m->bytes.size) {
        nnb_refuse(m, XIR_E_LIMIT, "its arguments have %" PRIu64 " bytes: the file would have 2^31 or more", size);
        return NULL;
    }
    if (!buffer_reserve(&m->bytes, (size_t)size)) {
        nnb_model_memory(m);
        return NULL;
    }
    out->args = (uint32_t)m->bytes.size;
    out->args_size = (uint32_t)size;
    m->bytes.size += (size_t)size;
    return (uint8_t *)m->bytes.data + out->args;
}

static bool put_bytes(nnb_model *m, const xir_map *extra, nnb_record *out) {
    const xir_any *bytes = xir_map_find(extra, XIR_STR(NNB_ATTR_BYTES));
    const blob *data = bytes && bytes->kind == XIR_ANY_PARAMS ? value_params(bytes->as.params)->data : NULL;
    if (bytes && !data) return nnb_refuse(m, XIR_E_MISSING, "the bytes of its arguments are missing");
    if (!data || !data->size) return true;
    m->opaque = true;
    uint8_t *to = take_arguments(m, data->size, out);
    if (to) memcpy(to, data->bytes, (size_t)data->size);
    return to;
}

static bool is_unknown(xir_str name, int64_t id) {
    char text[40];
    const int n = snprintf(text, sizeof text, NNB_UNKNOWN "%" PRId64, id);
    return xir_str_equal(name, (xir_str){ text, (size_t)n });
}

static const nnb_signature *signature(nnb_model *m, const xir_op *op, const xir_map *extra, int64_t id) {
    const xir_str name = nnb_type_of(op);
    char why[NNB_WHY];
    bool memory = false;
    const nnb_signature *s;
    if (id >= 0) {
        s = nnb_signature_of(&m->signatures, (uint32_t)id, &memory);
        if (s && !xir_str_equal(s->name, name))
            nnb_refuse(m, XIR_E_INVALID, "the tag " NNB_TAG_ID " is %" PRId64 ", a number of %s", id,
                       s->function->name);
    } else {
        nnb_family *f = nnb_model_family(m, op->cls, name);
        s = f ? nnb_pick(f, extra, m->api, why) : NULL;
        if (f && !s) nnb_refuse(m, XIR_E_UNSUPPORTED, "%.*s cannot be written: %s", CLIP(name), why);
    }
    if (memory) nnb_model_memory(m);
    if (id >= 0 && !s && !m->status && !is_unknown(name, id))
        nnb_refuse(m, XIR_E_INVALID, "the tag " NNB_TAG_ID " is %" PRId64 ", which is not a number of %.*s", id,
                   CLIP(name));
    return s;
}

/* A tagged number may have fewer arguments than its code: the last ones are absent. */
static bool put_arguments(nnb_model *m, const nnb_signature *s, const xir_map *extra, bool tagged_id, nnb_record *out) {
    size_t n = 0;
    while (n < s->n && nnb_argument_at(s, n, extra)) n++;
    for (size_t i = n; i < s->n && !m->status; i++)
        if (nnb_argument_at(s, i, extra)) nnb_refuse(m, XIR_E_MISSING, "the argument %.*s is missing",
                                                     CLIP(s->arguments[n].name));
    if (tagged_id && extra && extra->size > n)
        nnb_refuse(m, XIR_E_UNSUPPORTED, "number %u of the function does not have all of its arguments",
                   (unsigned)s->function->id);
    if (m->status) return false;
    const uint32_t size = n == s->n ? s->end - NNB_RECORD : n
        ? s->arguments[n - 1].at + s->arguments[n - 1].size - NNB_RECORD : 0;
    uint8_t *to = size ? take_arguments(m, size, out) : NULL;
    if (to) memset(to, 0, size);
    else if (size) return false;
    for (size_t i = 0; i < n; i++)
        if (!put_argument(m, &s->arguments[i], nnb_argument_at(s, i, extra), out)) return false;
    return true;
}

bool nnb_describe_arguments(nnb_model *m, const xir_op *op, nnb_record *out) {
    const xir_map *extra = xir_op_extra(op);
    const int64_t id = tagged(op, NNB_TAG_ID), impl = tagged(op, NNB_TAG_IMPL);
    const nnb_signature *s = signature(m, op, extra, id);
    if (m->status) return false;
    out->id = (uint16_t)(s ? s->function->id : id);
    out->impl = (uint16_t)(impl < 0 ? 0 : impl);
    out->args = out->args_size = out->n_lists = 0;
    out->lists = (uint32_t)m->lists.size;
    return s && s->storable ? put_arguments(m, s, extra, id >= 0, out) : put_bytes(m, extra, out);
}
