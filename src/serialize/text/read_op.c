/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Ops: a line, and the lines of the ops inside. */
#include <string.h>
#include "text/reader.h"

typedef struct op_line {
    op_in     in;
    gathered  results;   /* uint32_t: labels of outputs */
    gathered  inputs;    /* of inputs                   */
    uint64_t  absent;
    members   m;
    void     *body;
    bool      is_last;   /* the body is the plan's last one */
} op_line;

/* ---- results --------------------------------------------------------------------------------------------------- */

static bool read_result(text_reader *r, source *s, op_line *op) {
    uint32_t *which = gather(&r->d, &op->results, sizeof *which);
    value_in *in = gather(&r->d, &op->in.outputs, sizeof *in);
    return which && in && text_result(r, s, which, in);
}

static bool read_results(text_reader *r, source *s, op_line *op) {
    const bool open = *here(s) == '(';
    if (open && !text_open(s, '(')) return false;
    do {
        if (!read_result(r, s, op)) return false;
    } while (text_take(s, ','));
    return (!open || text_close(s, ')')) && text_need(s, '=');
}

/* ---- the class ------------------------------------------------------------------------------------------------- */

static text_class *class_slot(text_reader *r, const char *word, size_t size) {
    return &r->classes[(hash_word(word + (size < 8 ? 0 : size - 8), size < 8 ? size : 8) * 0x9E3779B97F4A7C15u >> 32) %
                       TEXT_CLASSES];
}

static bool no_class(text_reader *r, source *s, const char *at, xir_str word, xir_str key) {
    if (xir_str_equal(word, XIR_STR("end"))) return source_fail(s, at, XIR_E_SYNTAX, "'end' without 'do'");
    if (text_take(s, '='))
        return source_fail(s, at, XIR_E_SYNTAX, "a result begins with '%%': perhaps %%%.*s is meant", CLIP(word));
    return text_unknown_class(r, s, at, key, true);
}

static bool find_class(text_reader *r, source *s, text_class **out) {
    const char *at = here(s);
    xir_str word;
    const word_kind kind = text_word(s, &word);
    if (kind == WORD_NONE) return r->d.trace.status ? false : text_expected(s, at, "the class of an op");
    text_class *c = word.size ? class_slot(r, word.data, word.size) : &r->classes[0];
    *out = c;
    if (kind == WORD_NAME && c->size == word.size && memcmp(c->word, word.data, word.size) == 0) return true;
    const xir_str key = text_class_key(r, word, kind == WORD_STRING);
    if (!key.data) return trace_memory(&r->d.trace);
    const xir_class *cls = xir_class_find(r->d.ctx, key);
    if (cls && (!cls->is_op || cls->traits & XIR_TRAIT_ABSTRACT))
        return source_fail(s, at, XIR_E_TYPE, "expected an op, found %.*s", CLIP(key));
    if (!cls && kind != WORD_STRING && key.data != word.data) return no_class(r, s, at, word, key);
    if (!cls) cls = class_opaque(r->d.ctx, key, true);
    *c = (text_class){ .word = at, .size = kind == WORD_NAME ? word.size : 0,
                       .plan = cls ? codec_plan_of(&r->d.plans, cls) : NULL };
    return c->plan || trace_memory(&r->d.trace);
}

/* ---- attributes ------------------------------------------------------------------------------------------------ */

/* The text of the last attributes of the class, if these are the same. */
static bool same_braces(source *s, const text_class *c) {
    const char *at = here(s);
    if (!c->braces || (size_t)(end_of(s) - at) <= c->braces_size ||
        memcmp(at, c->braces, c->braces_size) != 0) return false;
    s->at = at + c->braces_size;
    return true;
}

static bool read_attrs(text_reader *r, source *s, text_class *c, op_line *op) {
    const xir_class *cls = op->in.plan->cls;
    const char *at = here(s);
    if (same_braces(s, c)) {
        memcpy(op->body, c->body, cls->body_size);
        op->m.seen[0] = c->seen;
        return true;
    }
    if (!text_members(r, s, cls, op->body, &op->m, true, &op->absent)) return false;
    if (!cls->plain || op->m.extra.size || c->plan != op->in.plan) return true;
    if (!c->body) c->body = arena_take(&r->d.keep, cls->body_size);
    if (!c->body) return trace_memory(&r->d.trace);
    memcpy(c->body, op->body, cls->body_size);
    c->seen = op->m.seen[0];
    c->braces = at;
    c->braces_size = (size_t)(here(s) - at);
    return true;
}

/* ---- inputs, types --------------------------------------------------------------------------------------------- */

static bool read_inputs(text_reader *r, source *s, op_line *op) {
    if (!text_open(s, '(')) return false;
    text_skip(s);
    if (here(s) < end_of(s) && *here(s) != ')') {
        do {
            uint32_t *which = gather(&r->d, &op->inputs, sizeof *which);
            if (!which || !text_input(r, s, which)) return false;
        } while (text_take(s, ','));
    }
    return text_close(s, ')');
}

static bool read_types(text_reader *r, source *s, op_line *op) {
    const char *at = here(s);
    value_in *outputs = op->in.outputs.data;
    const size_t n = op->in.outputs.size;
    if (!text_take(s, ':'))
        return !n || text_expected(s, here(s), n == 1 ? "':' and the type of the result" :
                                   "':' and the types of the results");
    text_skip(s);
    const bool open = here(s) < end_of(s) && *here(s) == '(';
    if (open && !text_open(s, '(')) return false;
    size_t i = 0;
    do {
        const xir_type *type;
        if (!text_type(r, s, &type)) return false;
        if (i < n) outputs[i].type = type;
        i++;
    } while (text_take(s, ','));
    if (open && !text_close(s, ')')) return false;
    if (i != n) return source_fail(s, at, XIR_E_INVALID, "%zu types for %zu results", i, n);
    for (i = 0; i < n; i++) {
        const xir_type **type = gather(&r->d, &op->in.types, sizeof *type);
        if (!type) return false;
        *type = outputs[i].type;
    }
    return true;
}

/* ---- what follows ---------------------------------------------------------------------------------------------- */

/* "conv", or ~: as the first result, see text_alike_of. */
static bool read_name(text_reader *r, source *s, op_line *op) {
    const char *at = here(s);
    const char c = at < end_of(s) ? *at : '\0';
    if (c == '"') return text_word(s, &op->in.name) != WORD_NONE;
    if (c != '~') return true;
    const value_in *first = op->in.outputs.data;
    const xir_str name = op->in.outputs.size ? first->name : (xir_str){ NULL, 0 };
    if (!name.size) return source_fail(s, at, XIR_E_INVALID, "~ is the name of the first result, which has none");
    const text_alike a = text_alike_of(name);
    s->at = at + 1;
    op->in.name = (xir_str){ name.data, a.cut };
    if (a.rest == name.size) return true;
    char *whole = arena_take(&r->d.scratch, name.size);
    if (!whole) return trace_memory(&r->d.trace);
    memcpy(whole, name.data, a.cut);
    memcpy(whole + a.cut, name.data + a.rest, name.size - a.rest);
    op->in.name = (xir_str){ whole, a.cut + name.size - a.rest };
    return true;
}

static bool read_op_id(text_reader *r, source *s, op_line *op) {
    decoder *d = &r->d;
    const char *at = here(s);
    bool taken;
    op->in.id = r->is_part ? -1 : r->next_op;
    if (text_take(s, '#')) {
        at = here(s) - 1;
        if (!text_int(s, &op->in.id)) return false;
    }
    const int64_t id = op->in.id;
    if ((id < 0 && !r->is_part) || id == INT64_MAX)
        return source_fail(s, at, XIR_E_BOUNDS, "the id %" PRId64 " of an op is outside 0 to %" PRId64, id,
                           INT64_MAX - 1);
    op->in.has_id = true;
    r->next_op = id + 1;
    if (id < 0) return true;
    if (!note_op_id(d, id, &taken)) return false;
    return (!taken && !(d->existing && net_find_op(d->net, id))) ||
           source_fail(s, at, XIR_E_EXISTS, "the id %" PRId64 " is already used by another op", id);
}

static bool read_target(text_reader *r, source *s, op_line *op) {
    const xir_object *target;
    text_skip(s);
    if (!text_object(&r->d, s, r->d.ctx->types[CLASS_target], &target)) return false;
    op->in.target = target->cls == r->d.ctx->types[CLASS_host_target] ? NULL : (const xir_target *)target;
    return true;
}

static bool read_absent(text_reader *r, source *s, op_line *op) {
    const char *at = here(s);
    if (!text_takes_word(s, "absent")) return true;
    if (!text_absent(r, s, op->in.plan->cls, &op->absent)) return false;
    return !(op->absent & op->m.seen[0]) ||
           source_fail(s, at, XIR_E_EXISTS, "an attribute that is absent is given, too");
}

static bool at_line_end(const source *s) {
    const char *p = here(s);
    if (p < end_of(s) && *p != '\n') p = text_blanks(s, p);
    return p == end_of(s) || *p == '\n';
}

static bool end_of_line(text_reader *r, source *s) {
    (void)r;
    text_skip(s);
    if (here(s) == end_of(s)) return true;
    if (*here(s) != '\n') return text_expected(s, here(s), "the end of the line");
    s->at = here(s) + 1;
    return true;
}

/* The field of `do NAME`: the first list of ops, if no name follows. */
static bool children_field(text_reader *r, source *s, const xir_class *cls, const xir_field **out) {
    xir_str name = { NULL, 0 };
    const char *at = here(s);
    if (!at_line_end(s) && text_word(s, &name) == WORD_NONE) return r->d.trace.status ? false :
        text_expected(s, here(s), "a name");
    *out = NULL;
    for (uint32_t i = 0; i < cls->n_fields && !*out; i++) {
        const xir_field *f = &cls->fields[i];
        if (f->kind == XIR_KIND_OPS && (!name.data || xir_str_equal(name, f->name))) *out = f;
    }
    return *out || source_fail(s, at, XIR_E_UNKNOWN, "%.*s has no ops inside of this name", CLIP(cls->key));
}

/* The ops up to `end`. */
static bool read_children(text_reader *r, source *s, uint32_t level, op_line *op, const xir_field *f) {
    gathered list = { 0 };
    for (;;) {
        text_skip(s);
        while (here(s) < end_of(s) && *here(s) == '\n') {
            s->at = here(s) + 1;
            text_skip(s);
        }
        if (here(s) == end_of(s)) return text_expected(s, here(s), "an op or 'end'");
        if (text_takes_word(s, "end")) break;
        xir_op *child, **out;
        if (!text_op(r, s, level + 1, &child) || !end_of_line(r, s) ||
            !(out = gather(&r->d, &list, sizeof *out))) return false;
        *out = child;
    }
    *(xir_ops *)body_at(op->body, f) = (xir_ops){ list.data, list.size };
    return true;
}

static bool read_inside(text_reader *r, source *s, uint32_t level, op_line *op) {
    uint64_t had = 0;
    while (text_takes_word(s, "do")) {
        const xir_field *f = NULL;
        const char *at = here(s);
        if (!children_field(r, s, op->in.plan->cls, &f)) return false;
        const uint64_t bit = UINT64_C(1) << ((size_t)(f - op->in.plan->cls->fields) % 64);
        if (had & bit) return source_fail(s, at, XIR_E_EXISTS, "'%.*s' is given twice", CLIP(f->name));
        had |= bit;
        if (!end_of_line(r, s) || !read_children(r, s, level, op, f)) return false;
    }
    return true;
}

/* ---- the op ---------------------------------------------------------------------------------------------------- */

static bool build(text_reader *r, source *s, op_line *op, xir_op **out) {
    decoder *d = &r->d;
    xir_map extra;
    const uint32_t *inputs = op->inputs.data, *results = op->results.data;
    for (size_t i = 0; i < op->inputs.size; i++) {
        xir_value **v = gather(d, &op->in.inputs, sizeof *v);
        if (!v || !text_value_of(r, inputs[i], v)) return false;
    }
    if (!sort_extra(d, s, op->in.at, &op->m.extra, &extra)) return false;
    if (!build_op(d, s, &op->in, op->body, &extra, op->absent, out)) return false;
    for (uint32_t i = 0; i < (*out)->n_outputs; i++) text_made(r, results[i], &op_outputs(*out)[i]);
    return true;
}

static bool read_line(text_reader *r, source *s, uint32_t level, op_line *op) {
    decoder *d = &r->d;
    text_class *c = NULL;
    const char first = *here(s);
    if ((first == '%' || first == '(') && !read_results(r, s, op)) return false;
    text_skip(s);
    if (!find_class(r, s, &c)) return false;
    const xir_class *cls = c->plan->cls;
    op->in.plan = c->plan;
    op->body = arena_take(&d->scratch, cls->body_size);
    if (!op->body) return trace_memory(&d->trace);
    memcpy(op->body, cls->defaults, cls->body_size);
    if (!members_begin(d, s, &op->m, cls) || !read_inputs(r, s, op)) return false;
    text_skip(s);
    if (here(s) < end_of(s) && *here(s) == '{' && !read_attrs(r, s, c, op)) return false;
    op->absent = text_required(cls) & ~op->m.seen[0];
    text_skip(s);
    if (!read_name(r, s, op)) return false;
    if (!read_op_id(r, s, op)) return false;
    if (text_takes_word(s, "on") && !read_target(r, s, op)) return false;
    if (!read_types(r, s, op)) return false;
    if (at_line_end(s)) return true;
    if (!read_absent(r, s, op)) return false;
    if (text_takes_word(s, "tags") && !text_plain_map(r, s, &op->in.tags)) return false;
    return read_inside(r, s, level, op);
}

bool text_op(text_reader *r, source *s, uint32_t level, xir_op **out) {
    enum { FEW = 4 };
    uint32_t results[FEW], labels[FEW];
    xir_value *inputs[FEW];
    value_in outputs[2];
    const xir_type *types[2];
    if (level >= s->deepest || s->depth >= s->deepest)
        return source_fail(s, here(s), XIR_E_LIMIT, "ops are nested deeper than %u", s->deepest);
    op_line op = { .in = { .at = here(s), .id = -1, .inputs = { inputs, 0, FEW }, .outputs = { outputs, 0, 2 },
                           .types = { (void *)types, 0, 2 } },
                   .results = { results, 0, FEW }, .inputs = { labels, 0, FEW } };
    return read_line(r, s, level, &op) && build(r, s, &op, out);
}
