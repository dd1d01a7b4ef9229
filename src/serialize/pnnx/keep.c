/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Differences of a file from the usual way of writing become tags, so that it comes back unchanged: the items of an
 * op, the lines of inputs and outputs, wrong counts. A tag has the text, and a checksum of what would be written
 * instead; once the op changes, that differs, and the tag no longer counts. Files of today's converter need no tags,
 * so the text is walked again only if something differed. */
#include "pnnx/pnnx.h"

/* ---- items ----------------------------------------------------------------------------------------------------- */

/* Returns true if the words of a line are those that were printed, which one blank precedes each. If not, *out has
 * them. */
static bool same_words(pnnx_reader *r, pnnx_text words, const buffer *printed, xir_str *out) {
    const size_t room = (size_t)(words.end - words.p) + 1;
    char *text = arena_take(&r->d.scratch, room), *p = text;
    xir_str word;
    if (!text) return trace_memory(&r->d.trace);
    while (pnnx_next_word(&words, &word)) {
        *p++ = ' ';
        memcpy(p, word.data, word.size);
        p += word.size;
    }
    *out = (xir_str){ text, (size_t)(p - text) };
    return out->size == printed->size && (!out->size || memcmp(text, printed->data, out->size) == 0);
}

/* The text and the sum, as entries of a tag. */
static size_t item_entries(xir_str text, const pnnx_printer *p, xir_entry *out) {
    if (text.size) text = (xir_str){ text.data + 1, text.size - 1 };   /* without the first blank */
    out[0] = (xir_entry){ XIR_STR("for"), pnnx_sum((xir_str){ p->out.data, p->out.size }) };
    out[1] = (xir_entry){ XIR_STR("text"), xir_any_text(text) };
    return 2;
}

static bool printed(pnnx_reader *r, pnnx_printer *p, bool ok) {
    return ok || p->status != XIR_E_MEMORY || trace_memory(&r->d.trace);
}

static bool keep_items(pnnx_reader *r, pnnx_printer *p, xir_op *op, pnnx_text words) {
    xir_entry entries[2];
    xir_str text;
    p->out.size = 0;
    if (!printed(r, p, pnnx_print_items(p, op))) return false;
    if (same_words(r, words, &p->out, &text)) return true;
    if (dialect_failed(&r->d)) return false;
    op_more *more = op_need_more(op);
    return more ? dialect_tag(&r->d, &more->tags, PNNX_TAG_ITEMS, xir_any_map(entries, item_entries(text, p, entries)))
                : trace_memory(&r->d.trace);
}

static bool keep_all_items(pnnx_reader *r, pnnx_printer *p) {
    pnnx_text text = { r->text.data, r->text.data + r->text.size };
    pnnx_head head;
    xir_str line, word;
    xir_op *op = r->d.net->first->next;   /* after the op of the inputs */
    for (int i = 0; i < 2; i++) (void)pnnx_next_line(&text, &line);
    while (pnnx_next_line(&text, &line)) {
        if (!pnnx_read_head(r, line, &head)) return false;
        if (head.end != PNNX_OP) continue;
        for (uint64_t i = (uint64_t)head.n_in + head.n_out; i > 0; i--) (void)pnnx_next_word(&head.rest, &word);
        if (!keep_items(r, p, op, head.rest)) return false;
        op = op->next;
    }
    return true;
}

/* ---- inputs and outputs ---------------------------------------------------------------------------------------- */

static bool is_usual_name(xir_str name, const char *prefix, size_t i) {
    char usual[40];
    int n = snprintf(usual, sizeof usual, "%s%zu", prefix, i);
    return xir_str_equal(name, (xir_str){ usual, (size_t)n });
}

/* Ends the map of the differences of a line; null: there are none. */
static bool end_map(pnnx_reader *r, pnnx_printer *p, const pnnx_end_line *line, const xir_value *v, bool input,
                    size_t i, xir_any *out) {
    xir_entry entries[5];
    xir_str text;
    size_t n = 0;
    const uint64_t usual = input ? i : r->n_ops - r->ends[1].size + i;
    *out = xir_any_null();
    p->out.size = 0;
    if (!printed(r, p, pnnx_print_shape(p, v))) return false;
    bool same = same_words(r, (pnnx_text){ line->items.data, line->items.data + line->items.size }, &p->out, &text);
    if (dialect_failed(&r->d)) return false;
    if (line->at != usual) entries[n++] = (xir_entry){ XIR_STR("at"), xir_any_int((int64_t)line->at) };
    if (!same) n += item_entries(text, p, entries + n);
    if (!is_usual_name(line->name, input ? "pnnx_input_" : "pnnx_output_", i))
        entries[n++] = (xir_entry){ XIR_STR("name"), xir_any_text(line->name) };
    if (!memchr(line->type.data, '.', line->type.size))
        entries[n++] = (xir_entry){ XIR_STR("type"), xir_any_text(line->type) };
    if (!n) return true;
    xir_any map = xir_any_map(entries, n);
    return (entries_sort(&r->d.scratch, entries, n) && any_copy(&r->d.scratch, &map, out)) ||
           trace_memory(&r->d.trace);
}

static bool keep_ends(pnnx_reader *r, pnnx_printer *p, bool input) {
    const dialect_list *list = &r->ends[input ? 0 : 1];
    const pnnx_end_line *lines = list->data;
    xir_op *op = input ? r->d.net->first : r->d.net->last;
    bool any = false;
    xir_any *maps = arena_take(&r->d.scratch, (list->size + 1) * sizeof *maps);
    if (!maps) return trace_memory(&r->d.trace);
    for (size_t i = 0; i < list->size; i++) {
        const xir_value *v = input ? &op_outputs(op)[i] : op_inputs(op)[i].value;
        if (!end_map(r, p, &lines[i], v, input, i, &maps[i])) return false;
        any |= maps[i].kind == XIR_ANY_MAP;
    }
    op_more *more = any ? op_need_more(op) : NULL;
    if (any && !more) return trace_memory(&r->d.trace);
    return !any || dialect_tag(&r->d, &more->tags, PNNX_TAG_LINES, xir_any_list(maps, list->size));
}

/* ---- counts ---------------------------------------------------------------------------------------------------- */

/* Wrong counts are kept with the true ones. */
static bool keep_counts(pnnx_reader *r) {
    const uint64_t operands = r->n_values;
    if ((uint64_t)r->declared_ops == r->n_ops && (uint64_t)r->declared_operands == operands) return true;
    const xir_any counts[] = { xir_any_int(r->declared_ops), xir_any_int(r->declared_operands),
                               xir_any_int((int64_t)r->n_ops), xir_any_int((int64_t)operands) };
    if ((uint64_t)r->declared_ops != r->n_ops) {
        char text[100];
        snprintf(text, sizeof text, "the second line says that there are %" PRId64 " operators, found %" PRIu64,
                 r->declared_ops, r->n_ops);
        xir_diags_append(r->d.how->why, &(xir_diag){ .severity = XIR_WARNING, .file = r->d.how->name, .line = 2,
                                                     .byte = XIR_NO_BYTE, .message = xir_str_of(text) });
    }
    return dialect_tag(&r->d, &r->d.net->tags, PNNX_TAG_COUNTS, xir_any_list(counts, 4));
}

bool pnnx_keep(pnnx_reader *r) {
    pnnx_printer p;
    if (!dialect_make_outputs(&r->d)) return false;
    pnnx_printer_init(&p, r->d.alloc);
    bool differs = r->differs || r->has_bare;   /* an operand without a shape here may have one in another line */
    bool ok = keep_counts(r) && keep_ends(r, &p, true) && keep_ends(r, &p, false) &&
              (!differs || keep_all_items(r, &p));
    pnnx_printer_free(&p);
    return ok;
}
