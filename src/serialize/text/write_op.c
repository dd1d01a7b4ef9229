/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* An op is a line. A line that is too wide, or has many labels, is broken inside of its brackets. */
#include "number.h"
#include "text/writer.h"

/* ---- line breaks ----------------------------------------------------------------------------------------------- */

static void pad(buffer *out, size_t blanks) {
    if (!blanks || !buffer_reserve(out, blanks)) return;
    memset(out->data + out->size, ' ', blanks);
    out->size += blanks;
}

/* Writes the line from `begun` on again, broken where it may be. Numbers and digits fill lines. */
static void break_line(text_writer *w, size_t begun, size_t indent) {
    const bool wide = w->out.size - begun > TEXT_COLUMNS;
    bool any = wide;
    for (int i = 0; i < GROUPS; i++) any |= w->forced[i];
    if (!any || w->out.failed || w->sink.status) return;
    const char *text = w->out.data;
    size_t from = begun, start = 0;   /* of the line that is being written */
    size_t items[GROUPS] = { 0 }, first[GROUPS] = { 0 }, last[GROUPS] = { 0 };
    w->line.size = 0;
    for (size_t i = 0; i < w->n_breaks; i++) {
        const text_break *b = &w->breaks[i];
        if (!items[b->group]++) first[b->group] = b->at;
        last[b->group] = b->at;
    }
    const bool wide_attrs = last[GROUP_ATTRS] - first[GROUP_ATTRS] > TEXT_COLUMNS / 2;
    for (size_t i = 0; i < w->n_breaks; i++) {
        const text_break *b = &w->breaks[i];
        const bool may = b->group == GROUP_INPUTS ? items[b->group] > 1 : b->group == GROUP_ATTRS && wide_attrs;
        const bool own = w->forced[b->group] || (wide && may);
        const size_t next = i + 1 < w->n_breaks ? w->breaks[i + 1].at : w->out.size;
        const bool full = wide && b->group == GROUP_FILL && w->line.size - start + (next - from) > TEXT_COLUMNS;
        if (!own && !full) continue;
        buffer_put(&w->line, text + from, b->at - from);
        buffer_char(&w->line, '\n');
        start = w->line.size;
        pad(&w->line, indent + TEXT_INDENT * (b->group == GROUP_FILL ? 2 : 1));
        from = b->at + (b->at < w->out.size && text[b->at] == ' ');
    }
    buffer_put(&w->line, text + from, w->out.size - from);
    w->out.size = begun;
    if (w->line.failed) text_fail(w, XIR_E_MEMORY);
    else buffer_put(&w->out, w->line.data, w->line.size);
}

/* Before item i of a list: a comma, and a place for a line break. */
static void next_item(text_writer *w, size_t i, text_group group) {
    if (i) buffer_char(&w->out, ',');
    text_may_break(w, group);
    if (i) buffer_char(&w->out, ' ');
}

/* ---- parts of the line ----------------------------------------------------------------------------------------- */

static void put_results(text_writer *w, const xir_op *op) {
    const bool many = w->forced[GROUP_RESULTS] = op->n_outputs > TEXT_LABELS;
    if (many) buffer_char(&w->out, '(');
    for (uint32_t i = 0; i < op->n_outputs && !w->sink.status; i++) {
        next_item(w, i, GROUP_RESULTS);
        text_put_result(w, &op_outputs(op)[i]);
    }
    if (op->n_outputs) text_put(w, many ? ") = " : " = ");
}

static void put_inputs(text_writer *w, const xir_op *op) {
    size_t n = op->n_inputs;
    while (n && !op_inputs(op)[n - 1].value) n--;   /* absent ones at the end are left out */
    w->forced[GROUP_INPUTS] = n > TEXT_LABELS;
    buffer_char(&w->out, '(');
    for (size_t i = 0; i < n && !w->sink.status; i++) {
        next_item(w, i, GROUP_INPUTS);
        text_put_input(w, op_inputs(op)[i].value);
    }
    buffer_char(&w->out, ')');
}

static void put_types(text_writer *w, const xir_op *op) {
    const bool many = w->forced[GROUP_TYPES] = op->n_outputs > TEXT_LABELS;
    if (op->n_outputs) text_put(w, many ? " : (" : " : ");
    for (uint32_t i = 0; i < op->n_outputs && !w->sink.status; i++) {
        next_item(w, i, GROUP_TYPES);
        text_put_type(w, op_outputs(op)[i].type);
    }
    if (many) buffer_char(&w->out, ')');
}

/* " {a=1, b=2}": ops often share their attributes, and then the text. */
static void put_attrs(text_writer *w, const xir_op *op, uint64_t absent) {
    const xir_map *extra = xir_op_extra(op);
    const size_t begun = w->out.size, n_breaks = w->n_breaks;
    if (op->attrs == op->cls->defaults && !extra && !text_required(op->cls)) return;
    const bool shared = !absent && !extra && op->cls->plain;
    const size_t slot = ((uintptr_t)op->attrs >> 4 ^ (uintptr_t)op->attrs >> 9) % TEXT_RECENT;
    if (shared && w->recent[slot].attrs == op->attrs && !w->is_part) {
        buffer_put(&w->out, w->recent[slot].text, w->recent[slot].size);
        return;
    }
    text_put(w, " {");
    text_put_members(w, op->cls, op->attrs, extra, absent);
    if (w->out.size == begun + 2) {
        w->out.size = begun;
        w->n_breaks = n_breaks;
        return;
    }
    buffer_char(&w->out, '}');
    /* a short text is never broken: it may come from an earlier op */
    if (!shared || w->out.failed || w->out.size - begun > TEXT_COLUMNS / 2) return;
    w->n_breaks = n_breaks;
    const char *kept = arena_copy(&w->e.arena, w->out.data + begun, w->out.size - begun);
    if (!kept) return;
    w->recent[slot].attrs = op->attrs;
    w->recent[slot].text = kept;
    w->recent[slot].size = w->out.size - begun;
}

static void put_absent(text_writer *w, const xir_class *cls, uint64_t absent) {
    const char *between = " absent(";
    for (; absent; absent &= absent - 1) {
        text_put(w, between);
        text_put_word(w, cls->fields[__builtin_ctzll(absent)].name);
        between = ",";
    }
    if (*between == ',') buffer_char(&w->out, ')');
}

/* " ~" or " "conv"". */
static void put_name(text_writer *w, const xir_op *op) {
    const xir_str name = name_text(op_label(op));
    if (!name.size) return;
    buffer_char(&w->out, ' ');
    if (op->n_outputs && text_is_alike(name, xir_value_name(&op_outputs(op)[0]))) buffer_char(&w->out, '~');
    else text_put_quoted(w, name);
}

static void put_op_id(text_writer *w, const xir_op *op) {
    if (!w->no_ids && (w->is_part || op->id != w->next_op)) {
        text_put(w, " #");
        text_put_int(w, op->id);
    }
    w->next_op = op->id + 1;
}

/* ---- sub ops --------------------------------------------------------------------------------------------------- */

/* The first list of ops of a class has no name. */
static void put_children(text_writer *w, const xir_op *op, uint32_t level) {
    bool first = true, open = false;
    for (uint32_t i = 0; i < op->cls->n_fields && !op->cls->plain; i++) {
        const xir_field *f = &op->cls->fields[i];
        if (f->kind != XIR_KIND_OPS) continue;
        const xir_ops *list = body_at(op->attrs, f);
        if (list->size) {
            if (open) pad(&w->out, (size_t)level * TEXT_INDENT);
            text_put(w, open ? "end do" : " do");
            open = true;
            if (!first) {
                buffer_char(&w->out, ' ');
                text_put_word(w, f->name);
            }
            buffer_char(&w->out, '\n');
            for (size_t k = 0; k < list->size && !w->sink.status; k++) text_put_op(w, list->data[k], level + 1);
        }
        first = false;
    }
    if (!open) return;
    pad(&w->out, (size_t)level * TEXT_INDENT);
    text_put(w, "end");
}

void text_put_op(text_writer *w, const xir_op *op, uint32_t level) {
    if (w->sink.status) return;
    if (level >= w->deepest) {
        text_fail(w, XIR_E_LIMIT);
        return;
    }
    const size_t indent = (size_t)level * TEXT_INDENT, begun = w->out.size;
    const op_more *more = op_more_of(op);
    const uint64_t absent = more && more->absent ? codec_left_out(op->cls, op->attrs, more->absent) : 0;
    const xir_target *target = op_target(op);
    w->n_breaks = 0;
    memset(w->forced, 0, sizeof w->forced);
    pad(&w->out, indent);
    put_results(w, op);
    text_put_class(w, op->cls);
    put_inputs(w, op);
    put_attrs(w, op, absent);
    put_name(w, op);
    put_op_id(w, op);
    if (((const xir_object *)target)->cls != w->ctx->types[CLASS_host_target]) {
        text_put(w, " on ");
        text_put_object(w, (const xir_object *)target, w->ctx->types[CLASS_target]);
    }
    put_types(w, op);
    if (absent) put_absent(w, op->cls, absent);
    if (more && more->tags && more->tags->size) {
        text_put(w, " tags ");
        w->e.plain = true;
        text_put_map(w, more->tags);
        w->e.plain = false;
    }
    break_line(w, begun, indent);
    put_children(w, op, level);
    buffer_char(&w->out, '\n');
    if (w->out.failed) text_fail(w, XIR_E_MEMORY);
}
