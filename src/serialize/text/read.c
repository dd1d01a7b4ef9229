/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Reading a network line by line, and parts. A wrong line is reported; reading goes on at the next line that begins at
 * the margin, or at that of the op which a bracket that is not closed has swallowed. What such a line would have made
 * counts as made, so that no other line is blamed for it. */
#include "raw/payload.h"
#include "task.h"
#include "text/reader.h"
#include "text/text_format.h"
#include "utf8.h"

/* ---- the reader ------------------------------------------------------------------------------------------------ */

static void text_labels_init(text_labels *l, const xir_allocator *alloc) {
    text_table_init(&l->names, alloc);
    pointer_table_init(&l->ids, alloc);
}

static void text_labels_free(text_labels *l, const xir_allocator *alloc) {
    mem_free(alloc, l->dense, l->room * sizeof *l->dense);
    text_table_free(&l->names);
    pointer_table_free(&l->ids);
}

static bool reader_init(text_reader *r, xir_context *ctx, xir_network *net, xir_str text, xir_str name,
                        xir_diags *why) {
    static const char nothing[1];
    const xir_allocator *alloc = context_alloc(ctx);
    if (!text.data) text.data = nothing;
    memset((void *)r, 0, sizeof *r);
    r->why = why;
    r->found = why ? xir_diags_new(ctx) : NULL;
    decoder_init(&r->d, ctx, net, &text_source, name, text, r->found);
    decoder_source(&r->d, &r->s, &text_source, text.data, text.size);
    r->d.trace.text = (xir_str){ NULL, 0 };   /* lines are counted here, once for all findings */
    r->s.state = r;
    r->counted = r->line_start = text.data;
    r->line = 1;
    text_labels_init(&r->values, alloc);
    text_labels_init(&r->params, alloc);
    text_table_init(&r->aliases, alloc);
    buffer_init(&r->bytes, alloc);
    return !why || r->found || trace_memory(&r->d.trace);
}

static void reader_free(text_reader *r) {
    const xir_allocator *alloc = context_alloc(r->d.ctx);
    mem_free(alloc, r->labels, r->label_room * sizeof *r->labels);
    mem_free(alloc, (void *)r->objects, r->object_room * sizeof *r->objects);
    mem_free(alloc, r->payloads, r->payload_room * sizeof *r->payloads);
    buffer_free(&r->bytes);
    text_table_free(&r->aliases);
    text_labels_free(&r->params, alloc);
    text_labels_free(&r->values, alloc);
    decoder_free(&r->d);
    xir_diags_free(r->found);
}

/* ---- failures -------------------------------------------------------------------------------------------------- */

/* Counts lines up to a byte. Findings usually come in order; for one that does not, counting starts again. */
static void place(text_reader *r, xir_diag *d) {
    const char *start = (const char *)r->s.start;
    if (d->byte == XIR_NO_BYTE) return;
    const char *at = d->byte < (uint64_t)(end_of(&r->s) - start) ? start + d->byte : end_of(&r->s);
    if (at < r->line_start) {
        r->counted = r->line_start = r->s.start;
        r->line = 1;
    }
    for (const char *p; r->counted < at && (p = memchr(r->counted, '\n', (size_t)(at - r->counted))) != NULL;) {
        r->counted = r->line_start = p + 1;
        if (r->line < UINT32_MAX) r->line++;
    }
    if (r->counted < at) r->counted = at;
    d->line = r->line;
    d->column = (uint32_t)(at - r->line_start) + 1;
}

bool text_report(text_reader *r) {
    const xir_status status = r->d.trace.status;
    for (size_t i = 0; i < xir_diags_count(r->found); i++) {
        xir_diag d = *xir_diags_at(r->found, i);
        place(r, &d);
        d.path = (xir_str){ NULL, 0 };
        xir_diags_append(r->why, &d);
    }
    if (r->found) xir_diags_clear(r->found);
    else if (r->why) diag_memory(r->why);   /* there was no memory for the list */
    r->failed = true;
    r->n_failed++;
    r->d.trace.status = XIR_OK;
    r->d.trace.top = NULL;
    return status != XIR_E_MEMORY && status != XIR_E_LIMIT && r->n_failed < TEXT_MOST_FAILURES;
}

/* The next line that begins at the margin. */
static const char *next_line(const source *s, const char *p) {
    const char *end = end_of(s);
    while (p < end && (p = memchr(p, '\n', (size_t)(end - p))) != NULL) {
        p++;
        if (p == end || !(*p == ' ' || *p == '\t' || *p == ')' || *p == ']' || *p == '}')) return p;
    }
    return end;
}

/* The line of an op whose "=" has been read as a part of the line before, a bracket of which is open; NULL: `from` is
 * no such place. */
static const char *next_op(const source *s, const char *line, const char *from) {
    if (from >= end_of(s) || *from != '=') return NULL;
    while (from > line && from[-1] != '\n') from--;
    return from > line && *from == '%' ? from : NULL;
}

static bool resume(text_reader *r, const char *line) {
    const bool on = text_report(r);
    decoder_rewind(&r->d);
    const char *from = here(&r->s) > line ? here(&r->s) : line;
    const char *op = next_op(&r->s, line, from);
    r->s.at = op ? op : from > line && from[-1] == '\n' ? from : next_line(&r->s, from);
    r->s.depth = r->s.left = 0;
    return on;
}

/* ---- lines ----------------------------------------------------------------------------------------------------- */

static bool read_version(source *s) {
    int64_t version;
    const char *at = here(s);
    if (!text_takes_word(s, "xir")) return text_expected(s, at, "'xir 1'");
    text_skip(s);
    at = here(s);
    if (!text_int(s, &version)) return false;
    return version == 1 || source_fail(s, at, XIR_E_UNSUPPORTED, "version %" PRId64 " of the text is not known, only 1",
                                       version);
}

/* "!name = object" */
static bool read_alias(text_reader *r, source *s) {
    const char *at = here(s);
    const xir_str name = { at, text_name_length(at + 1, end_of(s)) + 1 };
    const xir_object *object;
    r->has_ops = true;
    if (name.size == 1) return text_expected(s, at + 1, "the name of an alias");
    if (text_table_find(&r->aliases, name)) return source_fail(s, at, XIR_E_EXISTS, "%.*s is defined already",
                                                               CLIP(name));
    s->at = at + name.size;
    if (!text_need(s, '=')) return false;
    text_skip(s);
    if (!text_object(&r->d, s, NULL, &object)) return false;
    const size_t n = r->aliases.n;
    if (!mem_reserve(context_alloc(r->d.ctx), (void **)&r->objects, &r->object_room, n + 1, sizeof *r->objects) ||
        !text_table_add(&r->aliases, name, (uint32_t)n)) return trace_memory(&r->d.trace);
    r->objects[n] = object;
    return true;
}

static bool line_end(source *s) {
    text_skip(s);
    if (here(s) == end_of(s)) return true;
    if (*here(s) != '\n') return text_expected(s, here(s), "the end of the line");
    s->at = here(s) + 1;
    return true;
}

static bool read_line(text_reader *r, source *s) {
    xir_op *op;
    switch (*here(s)) {
    case '.': return text_header(r, s) && line_end(s);
    case '!': return read_alias(r, s) && line_end(s);
    default:
        r->has_ops = true;
        if (!text_op(r, s, 0, &op) || !line_end(s)) return false;
        op_link(op, NULL);
        return true;
    }
}

/* After blanks and empty lines. False at the end. */
static bool to_line(source *s) {
    for (;;) {
        text_skip(s);
        if (here(s) == end_of(s)) return false;
        if (*here(s) != '\n') return true;
        s->at = here(s) + 1;
    }
}

/* To the line of the version. */
static bool to_version(source *s) {
    const size_t size = (size_t)(end_of(s) - here(s));
    const char *other = utf8_other_mark(here(s), size);
    if (other)
        return source_fail(s, here(s), XIR_E_SYNTAX, "expected 'xir 1' in UTF-8, found a byte order mark of %s", other);
    s->at = here(s) + utf8_mark(here(s), size);
    return to_line(s) || text_expected(s, here(s), "'xir 1'");
}

static void read_lines(text_reader *r) {
    source *s = &r->s;
    if (!to_version(s)) {
        (void)text_report(r);
        return;
    }
    const char *line = here(s);
    if ((!read_version(s) || !line_end(s)) && !resume(r, line)) return;
    while (to_line(s)) {
        line = here(s);
        if (!read_line(r, s) && !resume(r, line)) return;
        decoder_rewind(&r->d);
        if (!task_at(here(s))) {
            (void)trace_memory(&r->d.trace);
            (void)text_report(r);
            return;
        }
    }
    text_labels_end(r);
}

static bool finish(text_reader *r) {
    return text_header_end(r) && text_attach(r);
}

/* ---- the network ----------------------------------------------------------------------------------------------- */

static bool release_one(void *user, xir_value *v) {
    (void)user;
    blob_release(value_params(v)->data);
    value_params(v)->data = NULL;
    return true;
}

/* The structure alone says of its parameters what a file with them would: then they go. */
static bool keep_claims(text_reader *r, xir_network *net) {
    uint64_t bytes = 0;
    xir_str sum;
    char hex[MD5_DIGITS + 1];
    if (!r->n_payloads) return true;
    const xir_status status = payload_digest(net, &bytes, &sum, hex, r->found);
    if (status == XIR_E_MEMORY) return trace_memory(&r->d.trace);
    if (!status) {
        net->params_bytes = bytes;
        if (xir_network_set_text(net, XIR_TEXT_PARAMS_MD5, sum)) return trace_memory(&r->d.trace);
    }
    return net_walk_params(net, release_one, NULL) || trace_memory(&r->d.trace);
}

xir_network *text_read(const format_reading *how, blob *whole) {
    text_reader *r = mem_new(context_alloc(how->ctx), sizeof *r);
    xir_network *net = r ? network_new(how->ctx) : NULL;
    if (!net) {
        mem_free(context_alloc(how->ctx), r, sizeof *r);
        diag_memory(how->why);
        return NULL;
    }
    memcpy(net->version, (const uint32_t[4]){ 3, 33, 1, 0 }, sizeof net->version);
    const bool ready = reader_init(r, how->ctx, net, (xir_str){ (const char *)whole->bytes, (size_t)whole->size },
                                   how->name,
                                   how->why);
    r->how = how;
    if (ready) read_lines(r);
    bool ok = ready && !r->failed && finish(r) && (!how->no_params || keep_claims(r, net));
    if (!ok && r->d.trace.status) text_report(r);
    reader_free(r);
    mem_free(context_alloc(how->ctx), r, sizeof *r);
    if (ok) return net;
    xir_network_free(net);
    return NULL;
}

/* ---- parts ----------------------------------------------------------------------------------------------------- */

static bool at_end(source *s) {
    s->left = 1;   /* line ends are blanks */
    text_skip(s);
    return here(s) == end_of(s) || text_expected(s, here(s), "the end of the text");
}

static bool read_value_alone(text_reader *r, source *s, const void **out) {
    uint32_t which;
    xir_value *v;
    if (here(s) == end_of(s) || *here(s) == '_') return text_expected(s, here(s), "'%%' or '@' and a label");
    if (!text_input(r, s, &which) || !text_value_of(r, which, &v)) return false;
    *out = v;
    return true;
}

static bool read_alone(text_reader *r, source *s, format_part *part) {
    const xir_object *object;
    xir_op *op;
    bool ok = false;
    if (!to_line(s)) return text_expected(s, here(s), "an object, an op or a value");
    switch (part->kind) {
    case PART_OBJECT: ok = text_object(&r->d, s, NULL, &object); part->it = object; break;
    case PART_OP:     ok = text_op(r, s, 0, &op); part->it = op; break;
    case PART_VALUE:  ok = read_value_alone(r, s, &part->it); break;
    }
    if (!ok || !at_end(s)) return false;
    text_labels_end(r);
    return !r->failed;
}

bool text_read_part(format_part *part, const void *data, size_t size, xir_diags *why) {
    text_reader *r = mem_new(context_alloc(part->ctx), sizeof *r);
    if (!r) return diag_memory(why) == XIR_OK;
    bool ok = reader_init(r, part->ctx, part->net, (xir_str){ data, size }, XIR_STR(""), why);
    r->is_part = true;
    if (part->net) decoder_join(&r->d, &r->s);
    ok = ok && read_alone(r, &r->s, part);
    if (!ok && part->net) decoder_undo(&r->d);
    if (!ok && r->d.trace.status) text_report(r);
    if (!ok) part->it = NULL;
    reader_free(r);
    mem_free(context_alloc(part->ctx), r, sizeof *r);
    return ok;
}
