/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Values: as results, which are made here, and as inputs. Params are declared where they are used first. */
#include "number.h"
#include "text/writer.h"

/* ---- labels ---------------------------------------------------------------------------------------------------- */

static bool is_unique(const text_writer *w, const xir_value *v, xir_str name) {
    const bool constant = value_is_params(v);
    if (w->is_part || !(constant ? w->has_params_twins : w->has_twins)) return !w->is_part;
    const uint32_t *times = text_table_find(constant ? &w->params_names : &w->names, name);
    return times && *times == 1;
}

/* The id of a value that stands for it: without ids, the one that a reader gives it. */
static int64_t shown_id(const text_writer *w, const xir_value *v) {
    const uint32_t *known = w->no_ids ? pointer_table_find(&w->numbers, v) : NULL;
    return known ? *known : v->id;
}

/* "%x", "%17" or "%"a b"". *is_id: the label is the id; *is_name: it is the name. */
static void put_label(text_writer *w, const xir_value *v, bool *is_id, bool *is_name) {
    const value_more *more = value_more_of(v);
    const xir_str name = more ? name_text(more->name) : XIR_STR("");
    *is_name = name.size && is_unique(w, v, name);
    *is_id = !*is_name;
    buffer_char(&w->out, value_is_params(v) ? '@' : '%');
    if (*is_name) text_put_word(w, name);
    else text_put_int(w, shown_id(w, v));
}

static void put_id(text_writer *w, int64_t *next, int64_t id, bool is_shown) {
    if (!w->no_ids && !is_shown && (w->is_part || id != *next)) {
        buffer_char(&w->out, '#');
        text_put_int(w, id);
    }
    *next = id + 1;
}

/* The label where a value is made or declared, with all that is not its type. */
static void put_declared(text_writer *w, const xir_value *v) {
    const value_more *more = value_more_of(v);
    bool is_id, is_name;
    put_label(w, v, &is_id, &is_name);
    put_id(w, &w->next_value, v->id, is_id);
    if (!more) return;
    const bool was_plain = w->e.plain;
    if (more->name->size && !is_name) {
        text_put(w, " as ");
        text_put_quoted(w, name_text(more->name));
    }
    if (more->mtype) {
        text_put(w, " in ");
        text_put_object(w, (const xir_object *)more->mtype, w->ctx->types[CLASS_mtype]);
    }
    w->e.plain = true;
    if (more->tags && more->tags->size) {
        buffer_char(&w->out, ' ');
        text_put_map(w, more->tags);
    }
    if (more->extra && more->extra->size) {
        text_put(w, " more ");
        text_put_map(w, more->extra);
    }
    w->e.plain = was_plain;
}

void text_put_result(text_writer *w, const xir_value *v) { put_declared(w, v); }

/* ---- inputs ---------------------------------------------------------------------------------------------------- */

/* Marks Params; returns true if they were marked before. */
static bool was_declared(text_writer *w, const xir_value *v) {
    const uint32_t i = value_params(v)->number;
    if (i / 64 >= w->n_declared) return false;
    uint64_t *word = &w->declared[i / 64], bit = UINT64_C(1) << (i % 64);
    const bool was = *word & bit;
    *word |= bit;
    return was;
}

void text_put_params(text_writer *w, const xir_value *v) {
    bool is_id, is_name;
    if (w->sink.status) return;
    if (!value_is_params(v)) {
        text_fail(w, XIR_E_UNSUPPORTED);
    } else if (!w->is_part && was_declared(w, v)) {
        put_label(w, v, &is_id, &is_name);
    } else {
        put_declared(w, v);
        text_put(w, " : ");
        text_put_type(w, v->type);
        text_put_payload(w, v);
    }
}

/* A value that no op of the text makes is declared, as Params are. */
static bool is_outside(text_writer *w, const xir_value *v) {
    if (w->is_part) return true;
    if (value_op(v)) return false;
    const size_t before = w->met.n;
    if (!pointer_table_add(&w->met, v, 0)) text_fail(w, XIR_E_MEMORY);
    return w->met.n > before;
}

void text_put_input(text_writer *w, const xir_value *v) {
    bool is_id, is_name;
    if (!v) {
        buffer_char(&w->out, '_');
    } else if (value_is_params(v)) {
        text_put_params(w, v);
    } else if (!is_outside(w, v)) {
        put_label(w, v, &is_id, &is_name);
    } else {
        put_declared(w, v);
        text_put(w, " : ");
        text_put_type(w, v->type);
    }
}
