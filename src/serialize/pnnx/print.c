/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Operators as they are written: the order of items and the spelling of values are those of PNNX's own code. */
#include <stdio.h>
#include "pnnx/pnnx.h"

void pnnx_printer_init(pnnx_printer *p, const xir_allocator *alloc) {
    *p = (pnnx_printer){ .status = XIR_OK };
    buffer_init(&p->out, alloc);
    arena_init(&p->scratch, alloc);
    made_names_init(&p->names, alloc);
}

void pnnx_printer_free(pnnx_printer *p) {
    made_names_free(&p->names);
    arena_free(&p->scratch);
    buffer_free(&p->out);
}

bool pnnx_refuse(pnnx_printer *p, xir_status status, const char *sentence, ...) {
    va_list args;
    if (p->status) return false;
    va_start(args, sentence);
    text_vprint(p->fault, sizeof p->fault, sentence, args);
    va_end(args);
    p->status = status;
    return false;
}

static bool no_memory(pnnx_printer *p) {
    if (!p->status) p->status = XIR_E_MEMORY;
    return false;
}

static bool printed(pnnx_printer *p) { return !p->out.failed || no_memory(p); }
static void put(pnnx_printer *p, xir_str text) { buffer_put(&p->out, text.data, text.size); }

bool pnnx_is_word(xir_str text) {
    for (size_t i = 0; i < text.size; i++)
        if (pnnx_is_blank(text.data[i]) || text.data[i] == '\n' || !text.data[i]) return false;
    return text.size && utf8_is_text(text.data, text.size);
}

xir_str pnnx_type_of(const xir_op *op) {
    static const char prefix[] = "pnnx::";
    enum { PREFIX = sizeof prefix - 1 };
    const xir_str key = op->cls->key;
    bool own = key.size > PREFIX && memcmp(key.data, prefix, PREFIX) == 0;
    return own ? (xir_str){ key.data + PREFIX, key.size - PREFIX } : (xir_str){ NULL, 0 };
}

/* ---- values ---------------------------------------------------------------------------------------------------- */

static bool print_scalar(pnnx_printer *p, const xir_any *v, xir_str key) {
    char digits[PNNX_FLOAT_ROOM];
    switch (v->kind) {
    case XIR_ANY_NULL: buffer_str(&p->out, "None"); return true;
    case XIR_ANY_BOOL: buffer_str(&p->out, v->as.boolean ? "True" : "False"); return true;
    case XIR_ANY_INT:
        if (v->as.integer != (int32_t)v->as.integer)
            return pnnx_refuse(p, XIR_E_BOUNDS, "the parameter '%.*s' is %" PRId64 ", which does not fit into 32 bits",
                               CLIP(key), v->as.integer);
        buffer_put(&p->out, digits, number_put_i64(digits, v->as.integer));
        return true;
    case XIR_ANY_REAL:
        if (number_beyond_f32(v->as.real))
            return pnnx_refuse(p, XIR_E_BOUNDS, "the parameter '%.*s' is %g, which is too large for a float", CLIP(key),
                               v->as.real);
        buffer_put(&p->out, digits, pnnx_put_float(digits, (float)number_to_f32(v->as.real)));
        return true;
    case XIR_ANY_TEXT:
        if (v->as.text.size && !pnnx_is_word(v->as.text))
            return pnnx_refuse(p, XIR_E_UNSUPPORTED, "the parameter '%.*s' is a text with a blank, or not UTF-8",
                               CLIP(key));
        put(p, v->as.text);
        return true;
    default:
        return pnnx_refuse(p, XIR_E_UNSUPPORTED, "the parameter '%.*s' is neither a number, a text nor a list of them",
                           CLIP(key));
    }
}

static bool print_value(pnnx_printer *p, const xir_any *v, xir_str key) {
    if (v->kind != XIR_ANY_LIST) return print_scalar(p, v, key);
    buffer_char(&p->out, '(');
    for (size_t i = 0; i < v->as.list.size; i++) {
        if (i) buffer_char(&p->out, ',');
        if (!print_scalar(p, &v->as.list.items[i], key)) return false;
    }
    buffer_char(&p->out, ')');
    return true;
}

/* ---- shapes ---------------------------------------------------------------------------------------------------- */

/* The exponents of the floats that PNNX has; others of their widths are other types. */
static int exponent_bits(xir_float_format of) {
    return of == XIR_FLOAT_FP16 ? 5 : of == XIR_FLOAT_FP64 ? 11 : 8;
}

static const char *element_name(const xir_type *element) {
    const element_format f = element_format_of(element);
    for (size_t i = 0; i < element_codes_pnnx.n && f.kind != ELEMENT_NONE; i++) {
        const element_code *code = &element_codes_pnnx.rows[i];
        if (code->kind != f.kind || code->bits != f.bits) continue;
        bool same = f.kind != ELEMENT_FLOAT || (f.exponent == exponent_bits((xir_float_format)code->format) &&
                                                f.exponent + f.mantissa + 1 == f.bits);
        if (same) return code->name;
    }
    return NULL;
}

static const xir_str *type_tag(const xir_value *v) {
    const xir_any *tag = value_more_of(v) ? xir_map_find(value_more_of(v)->tags, XIR_STR(PNNX_TAG_TYPE)) : NULL;
    const bool fits = tag && tag->kind == XIR_ANY_TEXT && pnnx_is_word(tag->as.text) &&
                      pnnx_is_shape(tag->as.text, value_is_params(v));
    return fits ? &tag->as.text : NULL;
}

/* PNNX writes no shape for a scalar. */
bool pnnx_has_shape(const xir_value *v) {
    const xir_tensor_type *t = v->type ? xir_type_as_tensor(v->type) : NULL;
    return t ? t->shape.size > 0 : v->type || type_tag(v);
}

bool pnnx_print_type(pnnx_printer *p, const xir_value *v) {
    char digits[NUMBER_ROOM];
    if (!v->type) {
        put(p, *type_tag(v));
        return true;
    }
    const xir_tensor_type *t = xir_type_as_tensor(v->type);
    const char *name = t ? element_name(t->element_dtype) : NULL;
    if (!name)
        return pnnx_refuse(p, XIR_E_UNSUPPORTED, "'%.*s' has a type that PNNX does not have",
                           CLIP(made_name_of(&p->names, v)));
    for (size_t i = 0; i < t->shape.size; i++) {
        const int64_t dim = t->shape.data[i];
        buffer_char(&p->out, i ? ',' : '(');
        if (dim > INT32_MAX)
            return pnnx_refuse(p, XIR_E_BOUNDS, "a dim of '%.*s' is %" PRId64 ", which does not fit into 32 bits",
                               CLIP(made_name_of(&p->names, v)), dim);
        if (dim < 0) buffer_char(&p->out, '?');
        else buffer_put(&p->out, digits, number_put_i64(digits, dim));
    }
    buffer_char(&p->out, ')');
    buffer_str(&p->out, name);
    return true;
}

bool pnnx_print_shape(pnnx_printer *p, const xir_value *v) {
    if (!pnnx_has_shape(v)) return true;
    buffer_str(&p->out, " #");
    put(p, made_name_of(&p->names, v));
    buffer_char(&p->out, '=');
    return pnnx_print_type(p, v) && printed(p);
}

/* ---- items ----------------------------------------------------------------------------------------------------- */

static bool has_prefix(xir_str key) { return key.size > 5 && memcmp(key.data, "pnnx.", 5) == 0; }

/* A parameter with a key that every op has was read under a prefix. */
static xir_str plain_key(const xir_op *op, xir_str key) {
    const xir_str rest = { key.data + 5, key.size - 5 };
    return has_prefix(key) && (has_prefix(rest) || class_find_key(op->cls, rest, 0)) ? rest : key;
}

static bool print_param(pnnx_printer *p, const xir_entry *e) {
    bool fits = !e->key.size || (pnnx_is_word(e->key) && !memchr(e->key.data, '=', e->key.size) &&
                                 !memchr("@$#", e->key.data[0], 3));
    if (!fits)
        return pnnx_refuse(p, XIR_E_UNSUPPORTED, "the parameter '%.*s' has a name that PNNX does not allow",
                           CLIP(e->key));
    buffer_char(&p->out, ' ');
    put(p, e->key);
    buffer_char(&p->out, '=');
    return print_value(p, &e->value, e->key);
}

/* In the order of their keys as they are written. */
static bool print_params(pnnx_printer *p, const xir_op *op, const xir_map *extra) {
    xir_entry *sorted = NULL;
    bool moved = false;
    for (size_t i = 0; i < extra->size; i++) moved |= has_prefix(extra->entries[i].key);
    if (moved) {
        if (!(sorted = arena_copy(&p->scratch, extra->entries, extra->size * sizeof *sorted))) return no_memory(p);
        for (size_t i = 0; i < extra->size; i++) sorted[i].key = plain_key(op, sorted[i].key);
        if (!entries_sort(&p->scratch, sorted, extra->size)) return no_memory(p);
    }
    const xir_entry *entries = moved ? sorted : extra->entries;
    for (size_t i = 0; i < extra->size; i++)
        if (!pnnx_is_weight(&entries[i]) && !print_param(p, &entries[i])) return false;
    return true;
}

static bool print_weights(pnnx_printer *p, const xir_map *extra) {
    for (size_t i = 0; i < extra->size; i++) {
        const xir_entry *e = &extra->entries[i];
        if (!pnnx_is_weight(e)) continue;
        const xir_value *v = e->value.kind == XIR_ANY_PARAMS ? e->value.as.params : NULL;
        if (!v || !pnnx_has_shape(v) || !pnnx_is_word(e->key) || memchr(e->key.data, '=', e->key.size))
            return pnnx_refuse(p, XIR_E_UNSUPPORTED, "the attribute '%.*s' is not a weight with a name and a type",
                               CLIP(e->key));
        if (v->type && xir_type_has_unknown_dim(v->type))
            return pnnx_refuse(p, XIR_E_UNSUPPORTED, "the weight '%.*s' has an open dim", CLIP(e->key));
        buffer_char(&p->out, ' ');
        put(p, e->key);
        buffer_char(&p->out, '=');
        const size_t begin = p->out.size;
        if (!pnnx_print_type(p, v)) return false;
        /* Its file gave no type of elements. */
        bool assumed = value_more_of(v) && xir_map_find(value_more_of(v)->tags, XIR_STR(PNNX_TAG_ASSUMED));
        while (assumed && p->out.size > begin && p->out.data[p->out.size - 1] != ')') p->out.size--;
    }
    return true;
}

static bool print_slots(pnnx_printer *p, const xir_op *op) {
    const xir_any *tag = op_more_of(op) ? source_tag_find(op_more_of(op)->tags, SOURCE_INPUTS) : NULL;
    const xir_list names = tag && tag->kind == XIR_ANY_LIST ? tag->as.list : (xir_list){ NULL, 0 };
    for (size_t i = 0; i < names.size && i < op->n_inputs; i++) {
        if (names.items[i].kind != XIR_ANY_TEXT) continue;
        const xir_str name = names.items[i].as.text;
        if (!pnnx_is_word(name) || memchr(name.data, '=', name.size))
            return pnnx_refuse(p, XIR_E_UNSUPPORTED, "the input '%.*s' has a name that PNNX does not allow",
                               CLIP(name));
        buffer_str(&p->out, " $");
        put(p, name);
        buffer_char(&p->out, '=');
        put(p, made_name_of(&p->names, op_inputs(op)[i].value));
    }
    return true;
}

bool pnnx_print_items(pnnx_printer *p, const xir_op *op) {
    const xir_map *extra = xir_op_extra(op);
    if (extra && !(print_params(p, op, extra) && print_weights(p, extra))) return false;
    if (!print_slots(p, op)) return false;
    for (uint32_t i = 0; i < op->n_inputs; i++)
        if (!pnnx_print_shape(p, op_inputs(op)[i].value)) return false;
    for (uint32_t i = 0; i < op->n_outputs; i++)
        if (!pnnx_print_shape(p, &op_outputs(op)[i])) return false;
    return printed(p);
}
