#include "onnx_map.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "object.h"

#define TEXT(bytes) (int)(bytes).size, (const char *)((bytes).size ? (bytes).data : (const unsigned char *)"")

/* ---- failing ------------------------------------------------------------------------------------------------------- */

bool map_failed(const onnx_at *at) { return at->out->fate != ONNX_MAPPED; }

static void say(onnx_at *at, onnx_fate fate, const char *format, va_list list) {
    if (map_failed(at)) return;   // the first one counts
    at->out->fate = fate;
    vsnprintf(at->out->sentence, sizeof at->out->sentence, format, list);
}

bool map_no_form(onnx_at *at, const char *format, ...) {
    va_list list;
    va_start(list, format);
    say(at, ONNX_NO_FORM, format, list);
    va_end(list);
    return false;
}

bool map_refused(onnx_at *at, const char *format, ...) {
    va_list list;
    va_start(list, format);
    say(at, ONNX_REFUSED, format, list);
    va_end(list);
    return false;
}

static bool no_row(onnx_at *at, const char *format, ...) XIR_PRINTF(2, 3);
static bool no_row(onnx_at *at, const char *format, ...) {
    va_list list;
    va_start(list, format);
    say(at, ONNX_NO_ROW, format, list);
    va_end(list);
    return false;
}

/* ---- types --------------------------------------------------------------------------------------------------------- */

const xir_type *onnx_element_type(xir_context *ctx, uint64_t element) {
    switch (element) {
    case ONNX_BOOL:     return xir_bool_type_get(ctx);
    case ONNX_INT8:     return xir_sint(ctx, 8);
    case ONNX_INT16:    return xir_sint(ctx, 16);
    case ONNX_INT32:    return xir_sint(ctx, 32);
    case ONNX_INT64:    return xir_sint(ctx, 64);
    case ONNX_UINT8:    return xir_uint(ctx, 8);
    case ONNX_UINT16:   return xir_uint(ctx, 16);
    case ONNX_UINT32:   return xir_uint(ctx, 32);
    case ONNX_UINT64:   return xir_uint(ctx, 64);
    case ONNX_FLOAT16:  return xir_float(ctx, XIR_FLOAT_FP16);
    case ONNX_BFLOAT16: return xir_float(ctx, XIR_FLOAT_BF16);
    case ONNX_FLOAT:    return xir_float(ctx, XIR_FLOAT_FP32);
    case ONNX_DOUBLE:   return xir_float(ctx, XIR_FLOAT_FP64);
    default:            return NULL;
    }
}

static const xir_type *type_of(onnx_at *at, const onnx_tensor *tensor, onnx_dims how) {
    int64_t dims[MOST_ITEMS];
    const xir_type *element = onnx_element_type(at->ctx, tensor->element);
    size_t rank = onnx_tensor_dims(tensor, dims, MOST_ITEMS);
    if (!element || rank > MOST_ITEMS) return NULL;
    for (size_t i = 0; i < rank && i < 32; i++) {
        if (how == ONNX_AS_RECORDED || !(at->which >> i & 1)) continue;
        dims[i] = how == ONNX_UNKNOWN ? -1 : dims[i] * 3;
        at->out->changed = true;
    }
    return xir_tensor(at->ctx, element, NULL, dims, rank);
}

const xir_type *map_fp32(const onnx_at *at) { return xir_float(at->ctx, XIR_FLOAT_FP32); }
const xir_type *map_int64(const onnx_at *at) { return xir_sint(at->ctx, 64); }

size_t map_rank_of(const xir_value *v) { return xir_type_rank(xir_value_type(v)); }
int64_t map_dim_of(const xir_value *v, size_t i) { return xir_type_dim(xir_value_type(v), (int64_t)i, false); }
const xir_type *map_element_of(const xir_value *v) { return xir_type_element(xir_value_type(v)); }

items map_dims_of(const xir_value *v) {
    items dims = { .n = map_rank_of(v) < MOST_ITEMS ? map_rank_of(v) : MOST_ITEMS };
    for (size_t i = 0; i < dims.n; i++) dims.v[i] = map_dim_of(v, i);
    return dims;
}

bool map_is_integer(const xir_value *v) { return xir_type_kind_of(map_element_of(v)) == XIR_TYPE_INTEGER; }

bool map_need_dims(onnx_at *at, const xir_value *v, size_t from, size_t to) {
    if (map_failed(at)) return false;
    for (size_t i = from; i < to && i < map_rank_of(v); i++) {
        if (map_dim_of(v, i) < 0) return map_no_form(at, "needs dims that are not known");
    }
    return true;
}

bool map_to_axis(onnx_at *at, int64_t axis, size_t rank, int64_t *out) {
    *out = axis < 0 ? axis + (int64_t)rank : axis;
    return (*out >= 0 && *out < (int64_t)rank) || map_refused(at, "no axis %lld in %zu dims", (long long)axis, rank);
}

/* ---- values by name ------------------------------------------------------------------------------------------------ */

static mapped_value *value_named(onnx_at *at, pb_bytes name) {
    for (size_t i = at->n_values; i-- > 0;) {
        if (pb_same(at->values[i].name, name)) return &at->values[i];
    }
    return NULL;
}

static mapped_value *new_value(onnx_at *at, pb_bytes name) {
    if (at->n_values == MOST_VALUES) {
        map_no_form(at, "more than %d values", MOST_VALUES);
        return NULL;
    }
    mapped_value *v = &at->values[at->n_values++];
    *v = (mapped_value){ .name = name };
    return v;
}

onnx_number *map_pool_take(onnx_at *at, size_t n) {
    if (n > sizeof at->pool / sizeof at->pool[0] - at->n_pool) return NULL;
    onnx_number *taken = at->pool + at->n_pool;
    at->n_pool += n;
    return taken;
}

static size_t count_of(const onnx_tensor *tensor) {
    int64_t dims[MOST_ITEMS];
    size_t rank = onnx_tensor_dims(tensor, dims, MOST_ITEMS), n = 1;
    for (size_t i = 0; i < rank && i < MOST_ITEMS; i++) {
        if (dims[i] < 0 || dims[i] > 1 << 20 || n > 1 << 20) return SIZE_MAX;
        n *= (size_t)dims[i];
    }
    return n;
}

/* Reads the elements of a constant, when they are asked for. */
static bool know(onnx_at *at, mapped_value *v) {
    if (v->known) return true;
    if (!v->constant) return false;
    size_t n = count_of(&v->tensor);
    onnx_number *numbers = map_pool_take(at, n == 0 ? 1 : n);
    if (!numbers) return false;
    onnx_elements elements = onnx_elements_of(&v->tensor);
    for (size_t i = 0; i < n; i++) {
        if (!onnx_elements_next(&elements, &numbers[i])) return false;
    }
    v->known = numbers;
    v->n_known = n;
    return true;
}

/* ---- inputs -------------------------------------------------------------------------------------------------------- */

bool map_has_in(const onnx_at *at, size_t i) { return i < at->n_in && at->in[i].size > 0; }

static mapped_value *source(onnx_at *at, size_t i) {
    mapped_value *v = map_has_in(at, i) ? value_named(at, at->in[i]) : NULL;
    if (!v) map_refused(at, "input %zu is %s", i, map_has_in(at, i) ? "of no node" : "absent");
    return v;
}

xir_value *map_opt(onnx_at *at, size_t i) { return map_has_in(at, i) ? map_in(at, i) : NULL; }

xir_value *map_in(onnx_at *at, size_t i) {
    mapped_value *v = map_failed(at) ? NULL : source(at, i);
    if (v && !v->value) map_no_form(at, "input %zu is no tensor of numbers", i);
    return v ? v->value : NULL;
}

bool map_in_known(onnx_at *at, size_t i, const onnx_number **out, size_t *n) {
    mapped_value *v = map_failed(at) || !map_has_in(at, i) ? NULL : source(at, i);
    if (!v || !know(at, v)) return false;
    *out = v->known;
    *n = v->n_known;
    return true;
}

bool map_in_items(onnx_at *at, size_t i, items *out) {
    const onnx_number *known;
    if (map_failed(at)) return false;
    bool read = map_in_known(at, i, &known, &out->n) && out->n <= MOST_ITEMS;
    if (!read) return map_no_form(at, "input %zu is no constant list", i);
    for (size_t k = 0; k < out->n; k++) out->v[k] = known[k].real ? (int64_t)known[k].f : known[k].i;
    return true;
}

/* Writes numbers as elements of a type with a whole number of bytes; false for others. */
static bool encode(const xir_type *element, const onnx_number *numbers, size_t n, unsigned char *out) {
    size_t size = (size_t)xir_type_storage_bits(element) / 8;
    const xir_float_type *real = xir_float_type_of(xir_type_object(element));
    for (size_t i = 0; i < n; i++) {
        double f = numbers[i].real ? numbers[i].f : (double)numbers[i].i;
        int64_t v = numbers[i].real ? (int64_t)numbers[i].f : numbers[i].i;
        float single = (float)f;
        uint32_t bits;
        memcpy(&bits, &single, sizeof bits);
        if (!real) memcpy(out + i * size, &v, size);   // little-endian, as everything here
        else if (real->format == XIR_FLOAT_FP64) memcpy(out + i * size, &f, sizeof f);
        else if (real->format == XIR_FLOAT_FP32) memcpy(out + i * size, &bits, sizeof bits);
        else if (real->format == XIR_FLOAT_BF16) memcpy(out + i * size, (char *)&bits + 2, 2);
        else memset(out + i * size, 0, size);   // halves: no row looks at their elements
    }
    return size <= sizeof(int64_t);
}

static xir_value *params_of(onnx_at *at, xir_str name, const xir_type *type, const onnx_number *numbers, size_t n) {
    enum { ROOM = 1 << 16 };
    static unsigned char bytes[ROOM];
    uint64_t size;
    xir_value *made = NULL;
    if (type && xir_type_bytes(type, &size) == XIR_OK && size <= ROOM && encode(xir_type_element(type), numbers, n, bytes)) {
        made = xir_params_copy(at->net, name, type, bytes, (size_t)size);
    }
    if (!made) map_refused(at, "cannot make Params of %zu elements", n);
    return made;
}

static xir_str text_of(pb_bytes bytes) { return (xir_str){ (const char *)bytes.data, bytes.size }; }

/* The Params of a tensor whose elements are there; without them if they are many, since then they do not matter. */
static xir_value *tensor_params(onnx_at *at, mapped_value *v) {
    const xir_type *type = type_of(at, &v->tensor, ONNX_AS_RECORDED);
    if (!type) return NULL;
    if (know(at, v)) return params_of(at, text_of(v->name), type, v->known, v->n_known);
    return xir_params_new(at->net, text_of(v->name), type);
}

xir_value *map_in_params(onnx_at *at, size_t i) {
    mapped_value *v = map_failed(at) ? NULL : source(at, i);
    if (!v) return NULL;
    if (v->value && xir_value_is_params(v->value)) return v->value;
    if (v->constant) {   // an argument of the test whose elements are there
        xir_value *params = tensor_params(at, v);
        if (!params) map_no_form(at, "input %zu is no tensor of numbers", i);
        return params;
    }
    if (v->known && v->value) return params_of(at, text_of(v->name), xir_value_type(v->value), v->known, v->n_known);
    map_no_form(at, "input %zu must be constant", i);
    return NULL;
}

/* ---- attributes ---------------------------------------------------------------------------------------------------- */

bool map_has_attr(const onnx_at *at, const char *name) {
    onnx_attribute a;
    return onnx_find_attribute(&at->node, name, &a);
}

int64_t map_attr_int(const onnx_at *at, const char *name, int64_t otherwise) {
    onnx_attribute a;
    return onnx_find_attribute(&at->node, name, &a) ? a.i : otherwise;
}

double map_attr_real(const onnx_at *at, const char *name, double otherwise) {
    onnx_attribute a;
    return onnx_find_attribute(&at->node, name, &a) ? a.f : otherwise;
}

bool map_attr_is(const onnx_at *at, const char *name, const char *text) {
    onnx_attribute a;
    return onnx_find_attribute(&at->node, name, &a) && pb_is(a.s, text);
}

bool map_attr_items(onnx_at *at, const char *name, items *out) {
    onnx_attribute a;
    uint64_t bits;
    out->n = 0;
    if (map_failed(at) || !onnx_find_attribute(&at->node, name, &a)) return false;
    for (pb_numbers n = pb_numbers_of(a.whole, ONNX_ATTRIBUTE_INTS, PB_VARINT); pb_numbers_next(&n, &bits);) {
        if (out->n == MOST_ITEMS) return map_refused(at, "%s has more than %d items", name, MOST_ITEMS);
        out->v[out->n++] = (int64_t)bits;
    }
    return true;
}

bool map_list(onnx_at *at, const char *name, size_t input, items *out) {
    if (map_attr_items(at, name, out)) return true;
    return map_has_in(at, input) && map_in_items(at, input, out);
}

const char *map_upper(char room[48], const onnx_at *at, const char *name, const char *otherwise) {
    onnx_attribute a;
    bool found = onnx_find_attribute(&at->node, name, &a);
    snprintf(room, 48, "%.*s", found ? (int)a.s.size : (int)strlen(otherwise), found ? (const char *)a.s.data : otherwise);
    for (char *p = room; *p; p++) *p = *p >= 'a' && *p <= 'z' ? (char)(*p - 32) : *p;
    return room;
}

bool map_number(onnx_at *at, size_t input, const char *name, double otherwise, double *out) {
    const onnx_number *known;
    size_t n;
    *out = map_attr_real(at, name, otherwise);
    if (!map_has_in(at, input)) return true;
    if (!map_in_known(at, input, &known, &n) || n != 1) return map_no_form(at, "%s is not constant", name);
    *out = known[0].real ? known[0].f : (double)known[0].i;
    return true;
}

/* ---- making ops ---------------------------------------------------------------------------------------------------- */

const xir_class *map_class_named(onnx_at *at, const char *name) {
    char key[128];
    snprintf(key, sizeof key, "icraft::xir::%s", name);
    const xir_class *cls = xir_class_find(at->ctx, xir_str_of(key));
    if (!cls) cls = xir_class_find(at->ctx, xir_str_of(key + strlen("icraft::")));
    if (!cls) map_refused(at, "there is no class %s", name);
    return cls;
}

const xir_field *map_field_named(onnx_at *at, const char *name, const char *attr) {
    const xir_class *cls = map_class_named(at, name);
    return cls ? xir_class_field(cls, xir_str_of(attr)) : NULL;
}

static void put(void *body, const xir_field *field, const void *value, size_t size) {
    memcpy((char *)body + field->offset, value, size);
}

/* Writes one attribute into a body; lists stay where they are. */
static bool set_field(onnx_at *at, const xir_field *f, void *body, const set *s) {
    const items *list = s->p;
    double real = s->as == SET_REAL ? s->r : (double)s->i;
    bool number = s->as == SET_INT || s->as == SET_REAL;
    if (f->kind == XIR_KIND_I64 && s->as == SET_INT) {
        put(body, f, &s->i, sizeof s->i);
    } else if (f->kind == XIR_KIND_BOOL && s->as == SET_INT) {
        put(body, f, &(bool){ s->i != 0 }, sizeof(bool));
    } else if (f->kind == XIR_KIND_REAL && number) {
        put(body, f, &real, sizeof real);
    } else if (f->kind == XIR_KIND_I64S && s->as == SET_ITEMS) {
        put(body, f, &(xir_i64s){ list->v, list->n }, sizeof(xir_i64s));
    } else if (f->kind == XIR_KIND_TEXT && s->as == SET_WORD) {
        put(body, f, &(xir_str){ s->p, strlen(s->p) }, sizeof(xir_str));
    } else if (f->kind == XIR_KIND_ENUM && s->as == SET_WORD) {
        int word = 0;
        while ((size_t)word < f->members->size && strcmp(f->members->words[word], s->p) != 0) word++;
        if ((size_t)word == f->members->size) return map_refused(at, "%s has no word %s", f->name.data, (const char *)s->p);
        put(body, f, &word, sizeof word);
    } else if (f->kind == XIR_KIND_REF && number) {
        const void *made = s->as == SET_INT ? (const void *)xir_scalar_int(at->ctx, s->i) : xir_scalar_real(at->ctx, s->r);
        put(body, f, &made, sizeof made);
    } else if ((f->kind == XIR_KIND_REF && s->as == SET_OBJECT) || (f->kind == XIR_KIND_PARAMS && s->as == SET_PARAMS)) {
        put(body, f, &s->p, sizeof s->p);
    } else if (f->kind == XIR_KIND_REFS && s->as == SET_OBJECT) {   // of the one object that the caller keeps
        put(body, f, &(xir_refs){ (const xir_object *const *)s->p, 1 }, sizeof(xir_refs));
    } else {
        return map_refused(at, "the attribute %s is of another kind", s->name);
    }
    return true;
}

static bool set_fields(onnx_at *at, const xir_class *cls, void *body, sets attrs) {
    for (size_t i = 0; i < attrs.n; i++) {
        const xir_field *f = xir_class_field(cls, xir_str_of(attrs.data[i].name));
        if (!f) return map_refused(at, "%s has no attribute %s", xir_class_key(cls).data, attrs.data[i].name);
        if (!set_field(at, f, body, &attrs.data[i])) return false;
    }
    return true;
}

xir_op *map_make(onnx_at *at, const char *name, ins inputs, sets attrs) {
    _Alignas(16) unsigned char body[2048];
    const xir_class *cls = map_failed(at) ? NULL : map_class_named(at, name);
    if (!cls) return NULL;
    if (cls->body_size > sizeof body) {
        map_refused(at, "the attributes of %s are too large", name);
        return NULL;
    }
    xir_body_init(cls->decl, body);
    if (!set_fields(at, cls, body, attrs)) return NULL;
    while (inputs.n && !inputs.data[inputs.n - 1]) inputs.n--;
    const xir_op_desc desc = { .cls = cls, .attrs = body, .inputs = inputs.data, .n_inputs = inputs.n,
                               .name = text_of(at->node.name), .id = XIR_NO_ID };
    xir_op *op = xir_network_add(at->net, &desc);
    at->out->n_ops++;
    if (!op) {
        const xir_diag *d = xir_diags_at(xir_network_diags(at->net), 0);
        map_refused(at, "%.*s", d ? (int)d->message.size : 0, d ? d->message.data : "");
        return NULL;
    }
    if (xir_op_validate(op, NULL) != XIR_OK) map_refused(at, "%s was taken but does not validate", name);
    return op;
}

xir_value *map_make1(onnx_at *at, const char *name, ins inputs, sets attrs) {
    xir_op *op = map_make(at, name, inputs, attrs);
    if (op && xir_op_output_count(op) == 0) map_refused(at, "%s has no output", name);
    return op ? xir_op_output(op, 0) : NULL;
}

xir_value *map_filled(onnx_at *at, const xir_type *element, const items *dims, double value) {
    size_t n = 1;
    for (size_t i = 0; i < dims->n; i++) n *= (size_t)dims->v[i];
    onnx_number *numbers = map_failed(at) ? NULL : map_pool_take(at, n == 0 ? 1 : n);
    if (!numbers) {
        if (!map_failed(at)) map_refused(at, "a constant of %zu elements is too large", n);
        return NULL;
    }
    for (size_t i = 0; i < n; i++) numbers[i] = (onnx_number){ .real = true, .f = value };
    return map_constant(at, element, dims, numbers);
}

xir_value *map_constant(onnx_at *at, const xir_type *element, const items *dims, const onnx_number *numbers) {
    size_t n = 1;
    for (size_t i = 0; i < dims->n; i++) n *= (size_t)dims->v[i];
    if (map_failed(at)) return NULL;
    return params_of(at, XIR_STR(""), xir_tensor(at->ctx, element, NULL, dims->v, dims->n), numbers, n);
}

xir_value *map_integers(onnx_at *at, const items *v) {
    onnx_number numbers[MOST_ITEMS];
    const items dims = { 1, { (int64_t)v->n } };
    for (size_t i = 0; i < v->n; i++) numbers[i] = (onnx_number){ .i = v->v[i] };
    return map_constant(at, xir_sint(at->ctx, 64), &dims, numbers);
}

xir_value *map_reshaped(onnx_at *at, xir_value *v, const items *dims) {
    const xir_layout *layout = xir_layout_default(at->ctx, dims->n);
    return map_make1(at, "Reshape", INS(v), SETS(ITEMS("shape", dims), OBJECT("layout", layout)));
}

/* Where the dims are not known, a Cast that leaves the element type renames them. */
xir_value *map_lettered(onnx_at *at, xir_value *v, const char *letters) {
    if (map_failed(at)) return NULL;
    const xir_layout *layout = xir_layout_parse(at->ctx, xir_str_of(letters), NULL);
    const xir_type *type = xir_value_type(v);
    if (!layout || xir_layout_rank(layout) != xir_type_rank(type)) {
        map_refused(at, "%zu dims are no %s", xir_type_rank(type), letters);
        return NULL;
    }
    if (xir_str_equal(xir_layout_text(xir_type_layout(type)), xir_layout_text(layout))) return v;
    items dims = map_dims_of(v);
    if (!xir_type_has_unknown_dim(type)) {
        return map_make1(at, "Reshape", INS(v), SETS(ITEMS("shape", &dims), OBJECT("layout", layout)));
    }
    return map_make1(at, "Cast", INS(v),
                 SETS(OBJECT("target_dtype", xir_tensor(at->ctx, xir_type_element(type), layout, dims.v, dims.n))));
}

xir_value *map_cast_to(onnx_at *at, xir_value *v, const xir_type *element) {
    if (map_failed(at)) return NULL;
    items dims = map_dims_of(v);
    const xir_layout *layout = xir_type_layout(xir_value_type(v));
    return map_make1(at, "Cast", INS(v), SETS(OBJECT("target_dtype", xir_tensor(at->ctx, element, layout, dims.v, dims.n))));
}

/* ---- outputs ------------------------------------------------------------------------------------------------------- */

bool map_give(onnx_at *at, size_t i, xir_value *v) {
    if (map_failed(at)) return false;
    if (!v) return map_refused(at, "output %zu is missing", i);
    if (i >= at->n_out || at->outs[i].size == 0) return true;   // nobody asked
    mapped_value *out = value_named(at, at->outs[i]);
    if (!out) out = new_value(at, at->outs[i]);
    if (out) out->value = v;
    return out;
}

bool map_gives(onnx_at *at, const char *name, ins inputs, sets attrs) {
    return map_give(at, 0, map_make1(at, name, inputs, attrs));
}

bool map_give_constant(onnx_at *at, size_t i, const onnx_tensor *tensor) {
    mapped_value *v = map_failed(at) || i >= at->n_out ? NULL : new_value(at, at->outs[i]);
    if (!v) return false;
    v->constant = true;
    v->tensor = *tensor;
    v->value = tensor_params(at, v);
    return v->value || map_no_form(at, "a constant that is no tensor of numbers");
}

const xir_type *map_output_type(const onnx_at *at, size_t i) {
    for (size_t k = at->n_values; i < at->n_out && k-- > 0;) {
        const mapped_value *v = &at->values[k];
        if (pb_same(v->name, at->outs[i])) return v->value ? xir_value_type(v->value) : NULL;
    }
    return NULL;
}

void map_give_known(onnx_at *at, size_t i, const onnx_number *known, size_t n) {
    mapped_value *out = !map_failed(at) && i < at->n_out ? value_named(at, at->outs[i]) : NULL;
    if (!out || out->known) return;
    out->known = known;
    out->n_known = n;
}

static mapped_value *output_value(onnx_at *at, size_t i) {
    return !map_failed(at) && i < at->n_out ? value_named(at, at->outs[i]) : NULL;
}

void map_by_data(onnx_at *at, size_t i, size_t d) {
    mapped_value *out = output_value(at, i);
    if (out && d < 32) out->by_data |= UINT32_C(1) << d;
}

void map_by_bounds(onnx_at *at, size_t i, size_t d) {
    mapped_value *out = output_value(at, i);
    if (out && d < 32) out->by_bounds |= UINT32_C(1) << d;
}

/* ---- rows ---------------------------------------------------------------------------------------------------------- */

/* "alpha=alpha:0.01" or "beta=0.5", from the text of a row, into `s`; the name is copied to `name`. */
static const char *read_attr(onnx_at *at, const char *text, char name[48], set *s, double *value) {
    char theirs[48] = "";
    int used = 0;
    *s = (set){ .name = name };
    if (sscanf(text, " %47[a-z_0-9]=%47[a-z_]:%lf%n", name, theirs, value, &used) == 3 && used) {
        onnx_attribute a;
        if (onnx_find_attribute(&at->node, theirs, &a)) *value = a.type == ONNX_ATTR_INT ? (double)a.i : a.f;
    } else if (sscanf(text, " %47[a-z_0-9]=%lf%n", name, value, &used) != 2 || !used) {
        return NULL;
    }
    return text + used;
}

static bool run_row(onnx_at *at, const onnx_row *row) {
    if (row->hook) return row->hook(at);
    enum { MOST_SETS = 8 };
    char names[MOST_SETS][48];
    set attrs[MOST_SETS];
    size_t n = 0;
    for (const char *text = row->attrs; text && *text; n++) {
        double value = 0;
        if (n == MOST_SETS || !(text = read_attr(at, text, names[n], &attrs[n], &value))) {
            return map_refused(at, "the row is no good: %s", row->attrs);
        }
        const xir_field *f = map_field_named(at, row->cls, names[n]);
        bool real = f && f->kind == XIR_KIND_REAL;
        attrs[n].as = real ? SET_REAL : SET_INT;
        attrs[n].r = value;
        if (!real) attrs[n].i = (int64_t)value;
    }
    xir_value *inputs[MOST_PORTS];
    for (size_t i = 0; i < at->n_in; i++) inputs[i] = map_opt(at, i);
    xir_op *op = map_make(at, row->cls, (ins){ inputs, at->n_in }, (sets){ attrs, n });
    if (!op) return false;
    size_t n_out = xir_op_output_count(op);
    if (n_out < at->n_out) return map_no_form(at, "%s has no output %zu", row->cls, n_out);
    for (size_t i = 0; i < at->n_out; i++) map_give(at, i, xir_op_output(op, (int64_t)i));
    return !map_failed(at);
}

static const onnx_row *row_of(const onnx_node *node) {
    if (node->domain.size && !pb_is(node->domain, "ai.onnx")) return NULL;
    for (size_t i = 0; i < seed_onnx_row_count; i++) {
        if (pb_is(node->op_type, seed_onnx_rows[i].op_type)) return &seed_onnx_rows[i];
    }
    return NULL;
}

const char *onnx_row_type(size_t i) { return i < seed_onnx_row_count ? seed_onnx_rows[i].op_type : NULL; }

/* ---- graphs -------------------------------------------------------------------------------------------------------- */

static size_t read_names(pb_bytes node, uint32_t number, pb_bytes *out) {
    size_t n = 0;
    pb_field field;
    for (pb_walk walk = pb_begin(node); pb_next_of(&walk, number, &field);) {
        if (n < MOST_PORTS) out[n] = field.bytes;
        n++;
    }
    return n;
}

static bool map_node(onnx_at *at, pb_bytes bytes) {
    at->out->n_nodes++;
    if (!onnx_read_node(bytes, &at->node)) return map_refused(at, "a node is broken");
    snprintf(at->out->op_type, sizeof at->out->op_type, "%.*s", TEXT(at->node.op_type));
    at->n_in = read_names(bytes, ONNX_NODE_INPUT, at->in);
    at->n_out = read_names(bytes, ONNX_NODE_OUTPUT, at->outs);
    const onnx_row *row = row_of(&at->node);
    if (!row) return no_row(at, "%.*s has no counterpart", TEXT(at->node.op_type));
    if (at->n_in > MOST_PORTS || at->n_out > MOST_PORTS) return map_no_form(at, "too many inputs or outputs");
    while (at->n_in && at->in[at->n_in - 1].size == 0) at->n_in--;
    while (at->n_out && at->outs[at->n_out - 1].size == 0) at->n_out--;
    at->out->rows[row - seed_onnx_rows] = true;
    if (run_row(at, row)) onnx_fold(at);
    return !map_failed(at);
}


static void map_inputs(onnx_at *at, pb_bytes graph, const pb_bytes *inputs, size_t n_inputs) {
    const xir_type *types[MOST_PORTS];
    size_t n = 0, n_types = 0, first = at->n_values;
    pb_field field;
    for (pb_walk walk = pb_begin(graph); pb_next_of(&walk, ONNX_GRAPH_INPUT, &field);) {
        onnx_value said;
        if (!onnx_read_value(field.bytes, &said)) { map_refused(at, "an input is broken"); return; }
        if (value_named(at, said.name)) continue;   // an initializer with a default
        mapped_value *v = n_types < MOST_PORTS ? new_value(at, said.name) : NULL;
        if (!v) { map_no_form(at, "too many inputs"); return; }
        size_t i = n++;
        if (!said.is_tensor || i >= n_inputs || !inputs[i].data || !onnx_read_tensor(inputs[i], &v->tensor)) continue;
        bool halves = said.element == ONNX_BFLOAT16 && v->tensor.element == ONNX_UINT16;   // which is how they are recorded
        if (halves) v->tensor.element = ONNX_BFLOAT16;
        v->constant = true;
        const xir_type *type = type_of(at, &v->tensor, at->how);
        if (type) types[n_types++] = type;
        v->by_data = type != NULL;   // for a moment: whether it gets an output
    }
    xir_op *op = xir_inputs(xir_at_end(at->net), "inputs", types, n_types);
    if (!op) { map_refused(at, "the inputs were refused"); return; }
    int64_t taken = 0;
    for (size_t i = first; i < at->n_values; i++) {
        if (at->values[i].by_data) at->values[i].value = xir_op_output(op, taken++);
        at->values[i].by_data = 0;
    }
}

void onnx_map(xir_network *net, pb_bytes model, const pb_bytes *inputs, size_t n_inputs, onnx_dims how, uint32_t which,
              onnx_outcome *out) {
    static onnx_at state;
    onnx_at *at = &state;
    at->ctx = xir_network_context(net);
    at->net = net;
    at->out = out;
    at->how = how;
    at->which = which;
    at->n_values = at->n_pool = 0;
    at->node = (onnx_node){ .whole = { NULL, 0 } };
    *out = (onnx_outcome){ .fate = ONNX_MAPPED };

    onnx_model m;
    pb_field field;
    if (!onnx_read_model(model, &m)) { map_refused(at, "the model is broken"); return; }
    at->opset = onnx_opset(&m, "");
    for (pb_walk walk = pb_begin(m.graph); pb_next_of(&walk, ONNX_GRAPH_INITIALIZER, &field);) {
        onnx_tensor tensor;
        if (!onnx_read_tensor(field.bytes, &tensor)) { map_refused(at, "an initializer is broken"); return; }
        mapped_value *v = new_value(at, tensor.name);
        if (!v) return;
        v->constant = true;
        v->tensor = tensor;
    }
    size_t n_constants = at->n_values;
    map_inputs(at, m.graph, inputs, n_inputs);
    for (size_t i = 0; i < n_constants && !map_failed(at); i++) {
        at->in[0] = at->values[i].name;
        at->n_in = 1;
        at->values[i].value = map_in_params(at, 0);
    }
    for (pb_walk walk = pb_begin(m.graph); !map_failed(at) && pb_next_of(&walk, ONNX_GRAPH_NODE, &field);) {
        map_node(at, field.bytes);
    }
    for (pb_walk walk = pb_begin(m.graph); !map_failed(at) && pb_next_of(&walk, ONNX_GRAPH_OUTPUT, &field);) {
        onnx_value said;
        mapped_value *v = onnx_read_value(field.bytes, &said) ? value_named(at, said.name) : NULL;
        if (out->n_outputs == MOST_PORTS || !v) { map_refused(at, "an output of no node"); return; }
        if (!v->value) { map_no_form(at, "an output that is no tensor of numbers"); return; }
        out->by_data[out->n_outputs] = v->by_data;
        out->by_bounds[out->n_outputs] = v->by_bounds;
        out->values[out->n_outputs] = v->value;
        out->declared[out->n_outputs] = said.element;
        out->outputs[out->n_outputs++] = xir_value_type(v->value);
    }
}
