/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The walk before writing: which names belong to one value, which objects occur more than once, and, if no ids are
 * written, the ids that a reader will give. Then the aliases: objects of more than ALIAS_LEAST bytes that occur twice,
 * named by a hash of their text, so that the name is the same in every file. */
#include <stdio.h>
#include "number.h"
#include "text/writer.h"

enum { ALIAS_LEAST = 40 };

/* ---- counting objects ------------------------------------------------------------------------------------------ */

static void count_object(text_writer *w, const xir_object *object);

static void count_field(text_writer *w, const xir_field *f, const void *body) {
    if (f->kind == XIR_KIND_REF) {
        count_object(w, *(const xir_object *const *)body_at(body, f));
    } else if (f->kind == XIR_KIND_REFS) {
        const xir_refs *list = body_at(body, f);
        for (size_t i = 0; i < list->size; i++) count_object(w, list->data[i]);
    }
}

/* Objects refer only to older ones, and readers limit how deep they are nested. An object comes after those inside. */
static void count_object(text_writer *w, const xir_object *object) {
    /* a layout is a word where a layout is expected, and a form elsewhere: it has no alias */
    if (!object || object->cls == w->ctx->types[CLASS_layout] || w->sink.status) return;
    if (object == w->last_counted) {
        w->counted[w->last_at].uses++;
        return;
    }
    const uint32_t *at = pointer_table_find(&w->counted_at, object);
    if (at) {
        w->last_counted = object;
        w->last_at = *at;
        w->counted[*at].uses++;
        return;
    }
    for (uint32_t i = 0; i < object->cls->n_fields && !object->cls->more->form; i++)
        count_field(w, &object->cls->fields[i], object);
    if (w->n_counted == UINT32_MAX ||
        !mem_reserve(context_alloc(w->ctx), (void **)&w->counted, &w->counted_room, w->n_counted + 1,
                     sizeof *w->counted) ||
        !pointer_table_add(&w->counted_at, object, (uint32_t)w->n_counted)) {
        text_fail(w, XIR_E_MEMORY);
        return;
    }
    w->last_counted = object;
    w->last_at = (uint32_t)w->n_counted;
    w->counted[w->n_counted++] = (text_counted){ object, 1 };
}

/* ---- values ---------------------------------------------------------------------------------------------------- */

static void note_name(text_writer *w, text_table *names, bool *has_twins, xir_str name) {
    const size_t before = names->n;
    uint32_t *times = text_table_add(names, name, 1);
    if (!times) text_fail(w, XIR_E_MEMORY);
    else if (names->n == before) {
        *times = 2;
        *has_twins = true;
    }
}

static void number_value(text_writer *w, const xir_value *v) {
    if (!pointer_table_add(&w->numbers, v, (uint32_t)w->numbered)) text_fail(w, XIR_E_MEMORY);
    w->numbered++;
}

static void see_value(text_writer *w, const xir_value *v) {
    const value_more *more = value_more_of(v);
    count_object(w, (const xir_object *)v->type);
    if (w->no_ids) number_value(w, v);
    if (!more) return;
    count_object(w, (const xir_object *)more->mtype);
    if (!more->name->size) return;
    if (more->params) note_name(w, &w->params_names, &w->has_params_twins, name_text(more->name));
    else note_name(w, &w->names, &w->has_twins, name_text(more->name));
}

static bool see_params(void *user, xir_value *v) {
    text_writer *w = user;
    const uint32_t i = value_params(v)->number;
    if (i / 64 >= w->n_declared) return true;
    uint64_t *word = &w->declared[i / 64], bit = UINT64_C(1) << (i % 64);
    if (!(*word & bit)) see_value(w, v);
    *word |= bit;
    return !w->sink.status;
}

/* A value without a producer is seen where it is used first. */
static void see_orphan(text_writer *w, const xir_value *v) {
    const size_t before = w->met.n;
    if (!pointer_table_add(&w->met, v, 0)) text_fail(w, XIR_E_MEMORY);
    else if (w->met.n > before) see_value(w, v);
}

static void see_input(text_writer *w, xir_value *v) {
    if (!v || !(v->from & 1)) return;
    if (value_is_params(v)) see_params(w, v);
    else if (!value_op(v)) see_orphan(w, v);
}

/* ---- ops ------------------------------------------------------------------------------------------------------- */

typedef struct children { text_writer *w; uint32_t level; } children;
static void see_op(text_writer *w, const xir_op *op, uint32_t level);

static bool see_child(void *user, xir_op *child) {
    const children *c = user;
    see_op(c->w, child, c->level);
    return !c->w->sink.status;
}

static void see_op(text_writer *w, const xir_op *op, uint32_t level) {
    if (level >= w->deepest) {
        text_fail(w, XIR_E_LIMIT);
        return;
    }
    const xir_class *cls = op->cls;
    for (uint32_t i = 0; i < op->n_outputs; i++) see_value(w, &op_outputs(op)[i]);
    for (uint32_t i = 0; i < op->n_inputs && !w->sink.status; i++) see_input(w, op_inputs(op)[i].value);
    if (cls->more->n_refs || (!cls->plain && op->attrs != cls->defaults)) {
        for (uint32_t i = 0; i < cls->n_fields; i++) count_field(w, &cls->fields[i], op->attrs);
    }
    if (cls->more->has_params || !cls->plain || xir_op_extra(op)) op_walk_own_params(op, see_params, w);
    const xir_target *target = op_target(op);
    if (target != w->net->host) count_object(w, (const xir_object *)target);
    if (cls->plain || w->sink.status) return;
    children c = { w, level + 1 };
    op_each_child(op, see_child, &c);
}

void text_survey(text_writer *w) {
    w->n_declared = ((size_t)w->net->n_params + 63) / 64;
    w->declared = mem_new(context_alloc(w->ctx), (w->n_declared + 1) * sizeof *w->declared);
    if (!w->declared) {
        w->n_declared = 0;
        text_fail(w, XIR_E_MEMORY);
        return;
    }
    memset(w->declared, 0, (w->n_declared + 1) * sizeof *w->declared);
    for (const xir_op *op = w->net->first; op && !w->sink.status; op = op->next) see_op(w, op, 0);
    memset(w->declared, 0, (w->n_declared + 1) * sizeof *w->declared);
    pointer_table_free(&w->met);
    pointer_table_init(&w->met, context_alloc(w->ctx));
}

/* ---- aliases --------------------------------------------------------------------------------------------------- */

/* A hash of the text names it: eight digits of it, and all of them if another alias has those. */
static bool name_alias(text_writer *w, const char *text, size_t size, xir_str *out) {
    const unsigned long long hash = hash_bytes(0, text, size);
    char name[24];
    for (int digits = 8; digits <= 16; digits += 8) {
        const int n = snprintf(name, sizeof name, "!t%0*llx", digits, digits == 8 ? hash >> 32 : hash);
        const char *kept = arena_copy(&w->e.arena, name, (size_t)n);
        if (!kept) return false;
        *out = (xir_str){ kept, (size_t)n };
        const size_t before = w->aliases.n;
        if (!text_table_add(&w->aliases, *out, 1)) return false;
        if (w->aliases.n > before) return true;
    }
    return false;   /* two hashes of 64 bits are equal: then the text stays where it is */
}

static void put_alias(text_writer *w, const xir_object *object) {
    const size_t begun = w->out.size;
    xir_str name;
    text_put_object(w, object, w->ctx->types[CLASS_type]);
    const size_t size = w->out.size - begun;
    if (size <= ALIAS_LEAST || w->out.failed || w->sink.status || !name_alias(w, w->out.data + begun, size, &name)) {
        w->out.size = begun;
        return;
    }
    const char *text = arena_copy(&w->e.arena, w->out.data + begun, size);
    known_item *known = (known_item *)(uintptr_t)known_find(&w->known, object, 0);
    w->out.size = begun;
    if (!text || !known) {
        text_fail(w, XIR_E_MEMORY);
        return;
    }
    known->bytes = name.data;
    known->size = name.size;
    w->last_object = NULL;
    text_put_str(w, name);
    text_put(w, " = ");
    buffer_put(&w->out, text, size);
    buffer_char(&w->out, '\n');
}

void text_put_aliases(text_writer *w) {
    for (size_t i = 0; i < w->n_counted && !w->sink.status; i++)
        if (w->counted[i].uses > 1) put_alias(w, w->counted[i].object);
}
