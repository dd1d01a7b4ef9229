/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Classes as JSON: everything that reflection knows. */
#include <stdlib.h>
#include "ops.h"

static void put_notes(json_out *j, const char *name, const xir_class *cls, xir_decl_kind word) {
    xir_str note;
    json_open(j, name, '[');
    for (size_t i = 0; (note = xir_class_note(cls, word, i)).size; i++) json_str(j, NULL, note);
    json_close(j, ']');
}

static void put_target(json_out *j, const xir_target_row *row) {
    json_open(j, "target", '{');
    json_str(j, "name", xir_str_of(row->name));
    json_bool(j, "accelerator", row->accelerator);
    json_open(j, "tiles", '[');   /* -1: of any size */
    for (const int64_t *tile = row->tiles; tile && *tile; tile++) json_int(j, NULL, *tile);
    json_close(j, ']');
    if (row->cores) json_str(j, "cores", xir_str_of(row->cores));
    else json_null(j, "cores");
    json_close(j, '}');
}

static void put_ports(json_out *j, const char *name, const xir_class *cls, size_t n,
                      const xir_port *(*at)(const xir_class *, size_t)) {
    json_open(j, name, '[');
    for (size_t i = 0; i < n; i++) {
        const xir_port *port = at(cls, i);
        json_open(j, NULL, '{');
        json_str(j, "name", port->name);
        json_str(j, "doc", port->doc);
        json_bool(j, "optional", port->decl == XIR_DECL_OPT);
        json_bool(j, "variadic", port->decl == XIR_DECL_VAR || port->decl == XIR_DECL_OUTS);
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void put_field(json_out *j, const xir_field *f) {
    text type = { 0 };
    put_type(&type, f);
    json_open(j, NULL, '{');
    json_str(j, "name", f->name);
    json_str(j, "type", text_of(&type));
    json_str(j, "kind", xir_str_of(xir_kind_name(f->kind)));
    json_member(j, "default");
    put_default(&j->t, f);
    json_member(j, "lower");
    put_bound(&j->t, f, f->has_min, f->min);
    json_member(j, "upper");
    put_bound(&j->t, f, f->has_max, f->max);
    json_bool(j, "required", f->flags & XIR_FIELD_REQUIRED);
    json_bool(j, "nullable", f->flags & XIR_FIELD_OPTIONAL);
    if (f->members) {
        json_open(j, "words", '[');
        for (size_t i = 0; i < f->members->size; i++) json_str(j, NULL, xir_str_of(f->members->names[i]));
        json_close(j, ']');
    }
    if (f->of) json_str(j, "class", xir_class_key(f->of));
    json_str(j, "doc", f->doc);
    json_close(j, '}');
    text_free(&type);
}

static void put_c_names(json_out *j, const xir_class *cls) {
    c_names c = c_names_of(cls);
    if (c.declaration.size) {
        json_open(j, "c", '{');
        json_str(j, "constructor", text_of(&c.constructor));
        json_str(j, "struct", text_of(&c.attributes));
        json_str(j, "class", text_of(&c.declaration));
        json_close(j, '}');
    } else {
        json_null(j, "c");
    }
    c_names_free(&c);
}

static void put_class(json_out *j, const xir_class *cls) {
    const xir_class *base = xir_class_base(cls);
    json_open(j, NULL, '{');
    json_str(j, "type_key", xir_class_key(cls));
    json_str(j, "doc", xir_class_doc(cls));
    put_notes(j, "aliases", cls, XIR_DECL_ALIAS);
    if (base) json_str(j, "base", xir_class_key(base));
    else json_null(j, "base");
    json_uint(j, "tag", xir_class_tag(cls));
    put_c_names(j, cls);
    put_ports(j, "inputs", cls, xir_class_input_count(cls), xir_class_input_at);
    put_ports(j, "outputs", cls, xir_class_output_count(cls), xir_class_output_at);
    json_open(j, "traits", '[');
    xir_str trait;
    for (size_t i = 0; (trait = xir_class_trait_at(cls, i)).size; i++) json_str(j, NULL, trait);
    json_close(j, ']');
    json_open(j, "attributes", '[');
    for (size_t i = 0; i < xir_class_field_count(cls); i++) put_field(j, xir_class_field_at(cls, i));
    json_close(j, ']');
    json_open(j, "infers_on", '[');
    for (int i = 0; xir_target_row_at(context, (size_t)i); i++) {
        if (xir_class_infers_on(cls, i)) json_str(j, NULL, xir_str_of(xir_target_row_at(context, (size_t)i)->name));
    }
    json_close(j, ']');
    if (target_of(cls)) put_target(j, target_of(cls));
    put_notes(j, "formula", cls, XIR_DECL_FORMULA);
    put_notes(j, "gives", cls, XIR_DECL_GIVES);
    put_notes(j, "unlike", cls, XIR_DECL_UNLIKE);
    put_notes(j, "layout", cls, XIR_DECL_LAYOUT);
    put_notes(j, "normalised", cls, XIR_DECL_NORMALISED);
    put_notes(j, "shares", cls, XIR_DECL_SHARES);
    if (xir_class_is_composed(cls, NULL)) put_notes(j, "composed", cls, XIR_DECL_COMPOSED);
    if (xir_class_is_op(cls)) json_str(j, "needs", xir_str_of(needs_word(cls)));
    json_close(j, '}');
}

void print_ops_json(const xir_class *one) {
    json_out j = { 0 };
    json_open(&j, NULL, '[');
    if (one) {
        put_class(&j, one);
    } else {
        size_t n;
        const xir_class **ops = sorted_ops(&n);
        for (size_t i = 0; i < n; i++) put_class(&j, ops[i]);
        free((void *)ops);
    }
    json_close(&j, ']');
    json_print(&j);
}
