/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Objects: types in words, one-string forms, aliases, classes with members. What is expected says what a bare word
 * means: a layout, a type, or the name of a class before its braces. */
#include <stdio.h>
#include "codec/any_io.h"
#include "symbol.h"
#include "text/reader.h"
#include "types.h"

/* ---- classes --------------------------------------------------------------------------------------------------- */

xir_str text_class_key(text_reader *r, xir_str word, bool quoted) {
    for (size_t i = 0; !quoted && i + 1 < word.size; i++)
        if (word.data[i] == ':' && word.data[i + 1] == ':') quoted = true;
    if (quoted) return word;
    char *key = arena_take(&r->d.scratch, text_own.size + word.size);
    if (!key) return (xir_str){ NULL, 0 };
    memcpy(key, text_own.data, text_own.size);
    memcpy(key + text_own.size, word.data, word.size);
    return (xir_str){ key, text_own.size + word.size };
}

/* Returns the part of a key after its last "::". */
static xir_str last_part(xir_str key) {
    size_t at = key.size;
    while (at && key.data[at - 1] != ':') at--;
    return (xir_str){ key.data + at, key.size - at };
}

/* ", perhaps Conv2d": the class of this kind whose name is nearest. */
static void say_near_class(text_reader *r, xir_str key, bool ops, char *out, size_t room) {
    size_t distance = SIZE_MAX;
    xir_str meant = { NULL, 0 };
    for (const xir_class *cls = r->d.ctx->first_class; cls; cls = cls->more->next) {
        if (cls->is_op == ops && xir_str_is_nearer(last_part(key), last_part(cls->key), &distance)) meant = cls->key;
    }
    const xir_str word = text_class_word(meant);
    *out = '\0';
    if (word.size) snprintf(out, room, ": perhaps %.*s is meant", CLIP(word));
}

bool text_unknown_class(text_reader *r, source *s, const char *at, xir_str key, bool ops) {
    char near[100];
    say_near_class(r, key, ops, near, sizeof near);
    return source_fail(s, at, XIR_E_UNKNOWN, "there is no class %.*s%s", CLIP(key), near);
}

/* ---- members --------------------------------------------------------------------------------------------------- */

static bool no_such_member(source *s, const char *at, const xir_class *cls, xir_str name) {
    const xir_str near = cls->opaque ? (xir_str){ NULL, 0 } : class_suggest(cls, name);
    if (cls->opaque)
        return source_fail(s, at, XIR_E_UNKNOWN,
                           "nobody has declared %.*s, so '%.*s' needs quotes; or load the plug-in "
                           "that declares it", CLIP(cls->key), CLIP(name));
    if (near.size)
        return source_fail(s, at, XIR_E_UNKNOWN, "%.*s has no attribute '%.*s': perhaps '%.*s' is meant",
                           CLIP(cls->key),
                           CLIP(name), CLIP(near));
    return source_fail(s, at, XIR_E_UNKNOWN, "%.*s has no attribute '%.*s'; one that is not declared needs quotes",
                       CLIP(cls->key), CLIP(name));
}

bool text_absent(text_reader *r, source *s, const xir_class *cls, uint64_t *absent) {
    if (!text_open(s, '(')) return false;
    do {
        xir_str name;
        text_skip(s);
        const char *at = here(s);
        const word_kind kind = text_word(s, &name);
        if (kind == WORD_NONE) return r->d.trace.status ? false : text_expected(s, at, "the name of an attribute");
        const class_key *key = class_find_key(cls, name, 0);
        if (!key || key->field < 0) return no_such_member(s, at, cls, name);
        if (key->field >= 64) return source_fail(s, at, XIR_E_UNSUPPORTED,
                                                 "only the first 64 attributes may be absent");
        *absent |= UINT64_C(1) << key->field;
    } while (text_take(s, ','));
    return text_close(s, ')');
}

/* "absent(a,b)" ends the members of an object. */
static bool is_absent(const source *s) {
    const char *p = here(s), *end = end_of(s);
    return end - p > 7 && memcmp(p, "absent(", 7) == 0;
}

static bool read_member(text_reader *r, source *s, const xir_class *cls, void *body, members *m, bool of_op,
                        const char *at,
                        xir_str name, bool quoted) {
    const class_key *key = class_find_key(cls, name, 0);
    if (!key || key->field < 0) {
        if (!quoted || key) return no_such_member(s, at, cls, name);
        return add_extra(&r->d, s, &m->extra, name, of_op);
    }
    const xir_field *f = &cls->fields[key->field];
    if (f->kind == XIR_KIND_OPS)
        return source_fail(s, at, XIR_E_TYPE, "'%.*s' has ops, which stand after the line, in do … end", CLIP(name));
    const uint32_t bit = member_bit(cls, key->field);
    if (m->seen[bit / 64] >> (bit % 64) & 1)
        return source_fail(s, at, XIR_E_EXISTS, "'%.*s' is given twice", CLIP(name));
    m->seen[bit / 64] |= UINT64_C(1) << (bit % 64);
    return of_op ? decode_op_field(&r->d, s, f, body) : decode_field(&r->d, s, f, body);
}

bool text_members(text_reader *r, source *s, const xir_class *cls, void *body, members *m, bool of_op,
                  uint64_t *absent) {
    if (!text_open(s, '{')) return false;
    for (bool first = true;; first = false) {
        xir_str name;
        bool quoted;
        text_skip(s);
        if (!first && !text_take(s, ',')) return text_close(s, '}');
        text_skip(s);
        const char *at = here(s);
        if (first && at < end_of(s) && *at == '}') return text_close(s, '}');
        if (!of_op && is_absent(s)) {
            s->at = at + 6;
            return text_absent(r, s, cls, absent) && text_close(s, '}');
        }
        const word_kind kind = text_word(s, &name);
        quoted = kind == WORD_STRING;
        if (kind == WORD_NONE || kind == WORD_INT)
            return r->d.trace.status ? false : text_expected(s, at, "the name of an attribute");
        if (!text_need(s, '=')) return false;
        text_skip(s);
        if (!read_member(r, s, cls, body, m, of_op, at, name, quoted)) return false;
    }
}

/* "Class{a=1}", at its brace. */
static bool read_braces(text_reader *r, source *s, const char *at, const xir_class *cls, void *given,
                        const xir_object **out) {
    decoder *d = &r->d;
    uint64_t absent = 0;
    members m;
    xir_map extra;
    xir_object *body = given ? given : arena_take(&d->scratch, cls->body_size);
    if (!body) return trace_memory(&d->trace);
    if (!given) {
        memcpy(body, cls->defaults, cls->body_size);
        *body = (xir_object){ .cls = cls };
    }
    if (!members_begin(d, s, &m, cls) || !text_members(r, s, cls, body, &m, false, &absent)) return false;
    if (absent & m.seen[0]) return source_fail(s, at, XIR_E_EXISTS, "an attribute that is absent is given, too");
    if (!sort_extra(d, s, at, &m.extra, &extra)) return false;
    if (!object_complete(d, cls, body, s->ops->offset(s, at))) return false;
    body->extra = extra.size ? &extra : NULL;
    body->absent = (uint32_t)absent;
    return object_made(d, body, out);
}

static bool read_class(text_reader *r, source *s, const char *at, xir_str word, bool quoted, const xir_class *of,
                       const xir_object **out) {
    const xir_str key = text_class_key(r, word, quoted);
    if (!key.data) return trace_memory(&r->d.trace);
    const xir_class *cls = xir_class_find(r->d.ctx, key);
    if (!cls) {
        if (of && !(of->traits & XIR_TRAIT_ABSTRACT)) return text_unknown_class(r, s, at, key, false);
        cls = class_opaque(r->d.ctx, key, false);
        if (!cls) return trace_memory(&r->d.trace);
    } else if (cls->is_op || cls->more->form || cls->traits & XIR_TRAIT_ABSTRACT) {
        return source_fail(s, at, XIR_E_TYPE, "%.*s has no members in braces", CLIP(key));
    }
    return read_braces(r, s, at, cls, NULL, out);
}

/* ---- forms ----------------------------------------------------------------------------------------------------- */

static bool read_form(text_reader *r, source *s, const xir_object **out) {
    const char *at = here(s);
    form_error e = { 0 };
    xir_str text = { at, text_form_length(at, end_of(s)) };
    if (text.size == 1 && end_of(s) - at > 1 && at[1] == '"') {   /* @"…": what no reader would find the end of */
        xir_str rest;
        s->at = at + 1;
        if (text_word(s, &rest) != WORD_STRING) return false;
        char *whole = arena_take(&r->d.scratch, rest.size + 1);
        if (!whole) return trace_memory(&r->d.trace);
        *whole = '@';
        memcpy(whole + 1, rest.data, rest.size);
        text = (xir_str){ whole, rest.size + 1 };
    } else {
        s->at = at + text.size;
    }
    if (!utf8_is_text(text.data, text.size)) return source_fail(s, at, XIR_E_SYNTAX,
                                                                "the text of an object is not UTF-8");
    *out = form_parse(r->d.pool, text, &e);
    if (*out) return true;
    if (e.status == XIR_E_MEMORY) return trace_memory(&r->d.trace);
    return source_fail(s, text.data == at ? at + e.at : at, e.status ? e.status : XIR_E_SYNTAX, "%s", e.message);
}

static bool read_alias(text_reader *r, source *s, const xir_object **out) {
    const char *at = here(s);
    const size_t n = text_name_length(at + 1, end_of(s));
    const xir_str name = { at, n + 1 };
    const uint32_t *which = text_table_find(&r->aliases, name);
    s->at = at + name.size;
    if (which) {
        *out = r->objects[*which];
        return true;
    }
    size_t distance = SIZE_MAX;
    xir_str meant = { NULL, 0 };
    for (size_t i = 0; i < r->aliases.n && i < 1000; i++) {
        const xir_str known = { r->aliases.items[i].text, r->aliases.items[i].size };
        if (xir_str_is_nearer(name, known, &distance)) meant = known;
    }
    if (meant.size)
        return source_fail(s, at, XIR_E_UNKNOWN, "nothing is called %.*s yet: perhaps %.*s is meant", CLIP(name),
                           CLIP(meant));
    return source_fail(s, at, XIR_E_UNKNOWN, "nothing is called %.*s yet", CLIP(name));
}

/* ---- types ----------------------------------------------------------------------------------------------------- */

/* Returns true if dims come next, after a layout or without one. */
static bool dims_follow(const source *s) {
    const char *p = text_blanks(s, here(s)), *end = end_of(s);
    if (p < end && *p == '"') return end - p > 1 && p[1] == '"';
    while (p < end && text_is(*p, TEXT_LAYOUT)) p++;
    p = text_blanks(s, p);
    return p < end && *p == '[';
}

static bool read_dim(text_reader *r, source *s, int64_t *out) {
    decoder *d = &r->d;
    text_skip(s);
    const char *at = here(s), *p = at, *end = end_of(s);
    int64_t v = 0;
    bool fits = true;
    for (; p < end && text_is(*p, TEXT_DIGIT); p++) fits = fits && mul_i64(v, 10, &v) && add_i64(v, *p - '0', &v);
    if (p > at && p < end && (*p == ',' || *p == ']')) {
        *out = v;
        s->at = p;
        return fits || source_fail(s, at, XIR_E_BOUNDS, "the dim %.*s does not fit 64 bits",
                                   CLIP(((xir_str){ at, (size_t)(p - at) })));
    }
    int open = 0;
    bool quote = false;
    for (p = at; p < end && *p != '\n'; p++) {
        if (*p == '\'') quote = !quote;
        if (quote) continue;
        if (*p == '(') open++;
        if (*p == ')') open--;
        if (open <= 0 && (*p == ',' || *p == ']')) break;
    }
    xir_str text = { at, (size_t)(p - at) };
    while (text.size && text.data[text.size - 1] == ' ') text.size--;
    if (!text.size) return text_expected(s, at, "a dim");
    s->at = p;
    if (xir_str_equal(text, XIR_STR("?"))) {
        *out = XIR_UNKNOWN_DIM;
        return true;
    }
    if (!d->net) return source_fail(s, at, XIR_E_TYPE, "a type of no network has numbers and ? as dims");
    if (!utf8_is_text(text.data, text.size)) return source_fail(s, at, XIR_E_SYNTAX, "a dim is not UTF-8");
    expr e;
    form_error why = { 0 };
    if (!expr_parse(&d->net->pool, text, &e, &why)) {
        if (why.status == XIR_E_MEMORY) return trace_memory(&d->trace);
        return source_fail(s, at + why.at, why.status ? why.status : XIR_E_SYNTAX, "%s", why.message);
    }
    if (expr_is_number(e) && e < 0) return source_fail(s, at, XIR_E_BOUNDS, "a dim is below 0: ? is an unknown one");
    r->has_ops = true;
    *out = dim_of_expr(e);
    return true;
}

static bool read_layout(text_reader *r, source *s, xir_str axes, const char *at, const xir_layout **out) {
    form_error e = { 0 };
    *out = layout_make(r->d.pool, axes, 0, &e);
    if (*out) return true;
    if (e.status == XIR_E_MEMORY) return trace_memory(&r->d.trace);
    return source_fail(s, at + e.at, e.status ? e.status : XIR_E_SYNTAX, "%s", e.message);
}

/* After the element: a layout, dims, and what else the type has, in braces. */
static bool read_tensor(text_reader *r, source *s, const char *at, const xir_object *element, const xir_object **out) {
    enum { FEW = 16 };
    decoder *d = &r->d;
    int64_t few[FEW];
    gathered dims = { few, 0, FEW };
    xir_tensor_type *body = arena_take(&d->scratch, sizeof *body);
    if (!body) return trace_memory(&d->trace);
    memcpy(body, d->ctx->tensor_class->defaults, sizeof *body);
    body->head = (xir_object){ .cls = d->ctx->tensor_class };
    body->element_dtype = (const xir_type *)element;
    text_skip(s);
    const char *axes_at = here(s);
    xir_str axes = { axes_at, 0 };
    const bool has_layout = *axes_at != '[';
    if (*axes_at == '"') {
        s->at = axes_at + 2;
    } else {
        while (text_is(axes.data[axes.size], TEXT_LAYOUT)) axes.size++;
        s->at = axes_at + axes.size;
    }
    if (!text_open(s, '[')) return false;
    text_skip(s);
    if (here(s) < end_of(s) && *here(s) != ']') {
        do {
            int64_t *dim = gather(d, &dims, sizeof *dim);
            if (!dim || !read_dim(r, s, dim)) return false;
        } while (text_take(s, ','));
    }
    if (!text_close(s, ']')) return false;
    body->shape = (xir_i64s){ dims.data, dims.size };
    if (has_layout && !read_layout(r, s, axes, axes_at, &body->layout)) return false;
    if (!has_layout && !(body->layout = layout_default(d->pool, dims.size))) return trace_memory(&d->trace);
    const char *next = text_blanks(s, here(s));
    if (next < end_of(s) && *next == '{') return read_braces(r, s, at, d->ctx->tensor_class, body, out);
    return object_made(d, &body->head, out);
}

static bool read_type_word(text_reader *r, source *s, const char *at, const xir_object **out) {
    bool failed;
    xir_str word = { at, text_name_length(at, end_of(s)) };
    const char *p = at + word.size;
    if (p < end_of(s) && *p == '(') {   /* fp(32), as one-string forms have it */
        while (p < end_of(s) && *p != ')' && *p != '\n') p++;
        if (p < end_of(s) && *p == ')') word.size = (size_t)(p + 1 - at);
    }
    if (!word.size) return text_expected(s, at, "a type");
    *out = (const xir_object *)text_element_of(r->d.pool, word, &failed);
    if (failed) return trace_memory(&r->d.trace);
    if (!*out)
        return source_fail(s, at, XIR_E_UNKNOWN, "expected a type (fp32, int8, bool, ...), found '%.*s'", CLIP(word));
    s->at = at + word.size;
    return true;
}

/* ---- any object ------------------------------------------------------------------------------------------------ */

static bool is_scalar(source *s) {
    const char c = *here(s);
    const xir_str word = { here(s), text_name_length(here(s), end_of(s)) };
    return text_is(c, TEXT_DIGIT) || c == '-' || xir_str_equal(word, XIR_STR("true")) ||
           xir_str_equal(word, XIR_STR("false")) || xir_str_equal(word, XIR_STR("inf")) ||
           xir_str_equal(word, XIR_STR("nan"));
}

static bool read_scalar(text_reader *r, source *s, const xir_object **out) {
    decoder *d = &r->d;
    const char *at = here(s);
    if (s->ops->shape(s) == SHAPE_BOOL) {
        xir_bool_imm body = { .head.cls = d->ctx->types[CLASS_bool_imm] };
        return s->ops->boolean(s, &body.value) && object_made(d, &body.head, out);
    }
    number n;
    if (!s->ops->number(s, &n)) return false;
    if (n.kind == NUMBER_U64) return source_fail(s, at, XIR_E_BOUNDS, "%" PRIu64 " does not fit 64 bits with a sign",
                                                 n.u64);
    if (n.kind == NUMBER_I64) {
        xir_int_imm body = { .head.cls = d->ctx->types[CLASS_int_imm], .value = n.i64 };
        return object_made(d, &body.head, out);
    }
    xir_float_imm body = { .head.cls = d->ctx->types[CLASS_float_imm] };
    return fit_real(d, s, at, n.real, &body.value) && object_made(d, &body.head, out);
}

static bool read_plain(text_reader *r, source *s, const xir_class *of, const xir_object **out) {
    const char *at = here(s), *end = end_of(s);
    if (at == end) return text_expected(s, at, "an object");
    if (*at == '!') return read_alias(r, s, out);
    if (*at == '@') return read_form(r, s, out);
    if (is_scalar(s)) return read_scalar(r, s, out);
    source before = *s;
    xir_str word;
    const bool quoted = *at == '"';
    if (text_name_length(at, end) || quoted) {
        if (text_word(s, &word) == WORD_NONE) return false;
        const char *p = text_blanks(s, here(s));
        if (p < end && *p == '{') return read_class(r, s, at, word, quoted, of, out);
        *s = before;
    }
    if (of == r->d.ctx->types[CLASS_layout]) {
        xir_str axes = { at, 0 };
        while (at + axes.size < end && text_is(at[axes.size], TEXT_LAYOUT)) axes.size++;
        if (!axes.size) return text_expected(s, at, "a layout");
        s->at = at + axes.size;
        const xir_layout *layout;
        if (!read_layout(r, s, axes, at, &layout)) return false;
        *out = (const xir_object *)layout;
        return true;
    }
    if (of && !xir_class_is_a(of, r->d.ctx->types[CLASS_type])) return text_expected(s, at, "%.*s", CLIP(of->key));
    return read_type_word(r, s, at, out);
}

bool text_object(decoder *d, source *s, const xir_class *of, const xir_object **out) {
    text_reader *r = reader_of(s);
    const char *at = here(s);
    const uint32_t depth = s->depth;
    if (s->depth >= s->deepest) return source_fail(s, at, XIR_E_LIMIT, "values are nested deeper than %u", s->deepest);
    s->depth++;
    const bool as_type = !of || xir_class_is_a(of, d->ctx->types[CLASS_type]);
    if (!read_plain(r, s, of && as_type ? d->ctx->types[CLASS_type] : of, out)) return false;   /* perhaps an element */
    const bool of_type = xir_class_is_a((*out)->cls, d->ctx->types[CLASS_type]) || (*out)->cls->opaque;
    if (as_type && of_type && dims_follow(s)) {
        const xir_object *element = *out;
        if (!read_tensor(r, s, at, element, out)) return false;
    }
    s->depth = depth;
    return object_fits((*out)->cls, of) ||
           source_fail(s, at, XIR_E_TYPE, "expected %.*s, found %.*s", CLIP(of->key), CLIP((*out)->cls->key));
}

/* Values of one type follow each other. A type that is written as before, byte for byte, is the same. */
bool text_type(text_reader *r, source *s, const xir_type **out) {
    text_skip(s);
    const char *at = here(s), *end = end_of(s);
    for (size_t i = 0; i < TEXT_MEMOS; i++) {
        const text_memo *memo = &r->types[(r->next_type - 1 - i) % TEXT_MEMOS];
        if (!memo->size || (size_t)(end - at) < memo->size + 1 || memcmp(at, memo->at, memo->size) != 0) continue;
        const char next = at[memo->size];
        if ((next != '\n' || s->left) && next != ',' && next != ')') continue;
        *out = memo->type;
        s->at = at + memo->size;
        return true;
    }
    if (text_takes_word(s, "none")) {
        *out = NULL;
        return true;
    }
    const xir_object *type;
    if (!text_object(&r->d, s, r->d.ctx->types[CLASS_type], &type)) return false;
    *out = (const xir_type *)type;
    r->types[r->next_type++ % TEXT_MEMOS] = (text_memo){ at, (size_t)(here(s) - at), *out };
    return true;
}
