/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Queries of a sealed class. Nothing here fails or allocates. */
#include "compose.h"
#include "context.h"

const class_key *class_find_key(const xir_class *cls, xir_str name, uint32_t hint) {
    if (hint < cls->more->n_keys && xir_str_equal(cls->more->keys[hint].name, name)) return &cls->more->keys[hint];
    uint32_t low = 0, high = cls->more->n_keys;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        int order = str_order(cls->more->keys[middle].name, name);
        if (order == 0) return &cls->more->keys[middle];
        if (order < 0) low = middle + 1;
        else high = middle;
    }
    return NULL;
}

/* A loop over the fields asks for each by its own name, whose address is enough to find it. */
const xir_field *xir_class_field(const xir_class *cls, xir_str name) {
    for (const xir_field *f = cls->fields, *end = f + cls->n_fields; f < end; f++)
        if (f->name.data == name.data && f->name.size == name.size) return f;
    const class_key *key = class_find_key(cls, name, UINT32_MAX);
    return key && key->field >= 0 ? &cls->fields[key->field] : NULL;
}

bool xir_class_is_a(const xir_class *cls, const xir_class *base) {
    while (cls && cls != base) cls = cls->more->base;
    return cls && base;
}

xir_str          xir_class_key(const xir_class *cls)       { return cls->key; }
xir_str          xir_class_doc(const xir_class *cls)       { return cls->more->doc; }
xir_str          xir_class_id(const xir_class *cls)        { return xir_str_of(cls->decl ? cls->decl->rows->default_text
                                                                                         : NULL); }
const xir_class *xir_class_base(const xir_class *cls)      { return cls->more->base; }
uint32_t         xir_class_traits(const xir_class *cls)    { return cls->traits; }
uint32_t         xir_class_number(const xir_class *cls)    { return cls->number; }
uint32_t         xir_class_tag(const xir_class *cls)       { return cls->more->tag; }
bool             xir_class_is_op(const xir_class *cls)     { return cls->is_op; }
bool             xir_class_is_opaque(const xir_class *cls) { return cls->opaque; }
size_t           xir_class_field_count(const xir_class *cls)  { return cls->n_fields; }
size_t           xir_class_input_count(const xir_class *cls)  { return cls->more->n_inputs; }
size_t           xir_class_output_count(const xir_class *cls) { return cls->more->n_outputs; }

const xir_field *xir_class_field_at(const xir_class *cls, size_t i) {
    return i < cls->n_fields ? &cls->fields[i] : NULL;
}
const xir_port  *xir_class_input_at(const xir_class *cls, size_t i) {
    return i < cls->more->n_inputs ? &cls->more->inputs[i] : NULL;
}
const xir_port  *xir_class_output_at(const xir_class *cls, size_t i) {
    return i < cls->more->n_outputs ? &cls->more->outputs[i] : NULL;
}

xir_str xir_class_note(const xir_class *cls, xir_decl_kind word, size_t i) {
    bool is_note = word == XIR_DECL_ALIAS || word == XIR_DECL_FORMULA || word == XIR_DECL_GIVES ||
                   word == XIR_DECL_UNLIKE || word == XIR_DECL_LAYOUT || word == XIR_DECL_NORMALISED ||
                   word == XIR_DECL_SHARES || word == XIR_DECL_COMPOSED;
    if (!cls->decl || !is_note) return XIR_STR("");
    row_walk w;
    for (const xir_row *row = row_first(&w, cls->decl); row->decl != XIR_DECL_END; row = row_next(&w)) {
        if (row->decl == word && i-- == 0) return xir_str_of(word == XIR_DECL_ALIAS ? row->name : row->doc);
    }
    return XIR_STR("");
}

bool xir_class_is_composed(const xir_class *cls, double *within) {
    const composition *c = cls ? cls->more->composed : NULL;
    if (within) *within = c ? c->within : 0;
    return c != NULL;
}

bool xir_class_infers_on(const xir_class *cls, int target) {
    return target >= 0 && target < XIR_TARGET_MAX && class_infer_on(cls, (unsigned)target) != NULL;
}

static void append(char *out, size_t size, size_t *at, xir_str text) {
    for (size_t i = 0; i < text.size; i++, (*at)++) {
        if (*at + 1 < size) out[*at] = text.data[i];
    }
}

/* The name of a class in a reference: Layout for "icraft::xir::Layout". */
static xir_str short_key(const xir_class *cls) {
    xir_str key = cls->key;
    for (size_t i = key.size; i > 0; i--) {
        if (key.data[i - 1] == ':') return (xir_str){ key.data + i, key.size - i };
    }
    return key;
}

size_t xir_field_type_text(const xir_field *f, char *out, size_t size) {
    size_t at = 0;
    bool list = f->kind == XIR_KIND_REFS;
    if (f->kind == XIR_KIND_ENUM) {
        append(out, size, &at, XIR_STR("enum "));
        for (size_t i = 0; i < f->members->size; i++) {
            if (i) append(out, size, &at, XIR_STR("|"));
            append(out, size, &at, xir_str_of(f->members->names[i]));
        }
    } else if ((f->kind == XIR_KIND_REF || list) && f->of) {
        append(out, size, &at, list ? XIR_STR("list<ref<") : XIR_STR("ref<"));
        append(out, size, &at, short_key(f->of));
        append(out, size, &at, list ? XIR_STR(">>") : XIR_STR(">"));
    } else {
        append(out, size, &at, xir_str_of(xir_kind_name(f->kind)));
    }
    if (f->flags & XIR_FIELD_OPTIONAL) append(out, size, &at, XIR_STR("?"));
    if (size) out[at < size ? at : size - 1] = '\0';
    return at;
}
