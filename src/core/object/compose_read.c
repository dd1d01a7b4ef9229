/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Reads the COMPOSED row of a class, and refuses what cannot mean anything: values that nothing makes or nothing reads,
 * parts that miss something, attributes of another kind. */
#include "compose_reader.h"
#include <stdarg.h>
#include <stdio.h>
#include "class_seal.h"

/* ---- failing ---------------------------------------------------------------------------------------------------- */

bool compose_fail(compose_reader *r, const char *at, xir_status status, const char *format, ...) {
    char sentence[300];
    size_t line = 1, column = 1;
    if (r->status) return false;
    for (const char *p = r->text; p < at; p++, column++)
        if (*p == '\n') line++, column = 0;
    va_list list;
    va_start(list, format);
    text_vprint(sentence, sizeof sentence, format, list);
    va_end(list);
    r->status = diag_fail(r->why, status, XIR_STR(""), "class %.*s: COMPOSED, line %zu, column %zu: %s",
                          CLIP_TO(r->cls->key, 200), line, column, sentence);
    return false;
}

bool compose_no_memory(compose_reader *r) {
    if (!r->status) r->status = diag_memory(r->why);
    return false;
}

bool compose_expected(compose_reader *r, const char *what) {
    compose_skip(r);
    if (r->at == r->end) return compose_fail(r, r->at, XIR_E_SYNTAX, "expected %s, found the end of the text", what);
    size_t n = 1;
    while (r->at + n < r->end && ((unsigned char)r->at[n] & 0xC0) == 0x80) n++;
    return compose_fail(r, r->at, XIR_E_SYNTAX, "expected %s, found '%.*s'", what, (int)n, r->at);
}

void *compose_keep(compose_reader *r, const void *data, size_t size) {
    pthread_mutex_lock(&r->ctx->lock);
    void *kept = arena_take(&r->ctx->arena, size);
    pthread_mutex_unlock(&r->ctx->lock);
    if (!kept) return compose_no_memory(r), NULL;
    if (size && data) memcpy(kept, data, size);
    else if (size) memset(kept, 0, size);
    return kept;
}

/* ---- words ------------------------------------------------------------------------------------------------------ */

void compose_skip(compose_reader *r) {
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\n' || *r->at == '\t' || *r->at == '\r')) r->at++;
}

bool compose_next_is(compose_reader *r, char c) {
    compose_skip(r);
    return r->at < r->end && *r->at == c;
}

bool compose_take(compose_reader *r, char c) {
    if (!compose_next_is(r, c)) return false;
    r->at++;
    return true;
}

bool compose_need(compose_reader *r, char c) {
    const char what[] = { '\'', c, '\'', '\0' };
    return compose_take(r, c) || compose_expected(r, what);
}

static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

xir_str compose_word(compose_reader *r, bool colons) {
    compose_skip(r);
    const char *from = r->at;
    while (r->at < r->end) {
        if (is_word(*r->at)) r->at++;
        else if (colons && r->end - r->at > 2 && r->at[0] == ':' && r->at[1] == ':' && is_word(r->at[2])) r->at += 2;
        else break;
    }
    return (xir_str){ from, (size_t)(r->at - from) };
}

static uint32_t find_value(const compose_reader *r, xir_str label) {
    uint32_t i = 0;
    while (i < r->n_values && !xir_str_equal(r->labels[i], label)) i++;
    return i;
}

bool compose_value(compose_reader *r, uint32_t *out) {
    if (!compose_need(r, '%')) return false;
    const char *at = r->at;
    const xir_str label = compose_word(r, false);
    if (!label.size) return compose_expected(r, "the name of a value");
    *out = find_value(r, label);
    if (*out < r->n_values) {
        r->used[*out] = true;
        return true;
    }
    size_t distance = SIZE_MAX;
    xir_str near = { NULL, 0 };
    for (uint32_t i = 0; i < r->n_values; i++)
        if (xir_str_is_nearer(label, r->labels[i], &distance)) near = r->labels[i];
    return compose_fail(r, at, XIR_E_INVALID, "nothing before makes %%%.*s%s%.*s%s", CLIP(label),
                        near.size ? ": perhaps %" : "", CLIP(near), near.size ? " is meant" : "");
}

/* ---- the class of a part ---------------------------------------------------------------------------------------- */

static const xir_class *find_class(const compose_reader *r, const char *prefix, xir_str word) {
    char key[256];
    const int n = snprintf(key, sizeof key, "%s%.*s", prefix, (int)word.size, word.data);
    if (word.size > 200 || n < 0) return NULL;
    pthread_mutex_lock(&r->ctx->lock);
    const xir_class *cls = stage_find(r->stage, (xir_str){ key, (size_t)n });
    pthread_mutex_unlock(&r->ctx->lock);
    return cls;
}

static bool no_class(compose_reader *r, const char *at, xir_str word) {
    size_t distance = SIZE_MAX;
    xir_str near = { NULL, 0 };
    if (xir_str_equal(word, r->cls->key))
        return compose_fail(r, at, XIR_E_INVALID, "the class is a part of itself");
    for (const xir_class *cls = r->ctx->first_class; cls; cls = cls->more->next)
        if (cls->is_op && xir_str_is_nearer(word, cls->key, &distance)) near = cls->key;
    return compose_fail(r, at, XIR_E_UNKNOWN, "there is no class %.*s: a part is of a class that is registered before"
                        "%s%.*s%s", CLIP_TO(word, 100), near.size ? "; perhaps " : "", CLIP_TO(near, 100),
                        near.size ? " is meant" : "");
}

static bool read_class(compose_reader *r, const xir_class **out) {
    compose_skip(r);
    const char *at = r->at;
    const xir_str word = compose_word(r, true);
    if (!word.size) return compose_expected(r, "the class of a part");
    const bool whole = memchr(word.data, ':', word.size);
    const xir_class *cls = find_class(r, whole ? "" : "icraft::xir::", word);
    if (!cls && !whole) cls = find_class(r, "xir::", word);
    if (!cls) return no_class(r, at, word);
    const uint32_t unfit = XIR_TRAIT_SOURCE | XIR_TRAIT_SINK | XIR_TRAIT_IMPURE | XIR_TRAIT_ABSTRACT;
    if (!cls->is_op || cls->traits & unfit)
        return compose_fail(r, at, XIR_E_INVALID, "%.*s is not an operation that can be a part",
                            CLIP_TO(cls->key, 100));
    for (uint32_t i = 0; i < cls->n_fields; i++)
        if (cls->fields[i].kind == XIR_KIND_OPS)
            return compose_fail(r, at, XIR_E_INVALID, "%.*s has ops inside, so it cannot be a part",
                                CLIP_TO(cls->key, 100));
    *out = cls;
    return true;
}

/* ---- operands --------------------------------------------------------------------------------------------------- */

/* Returns true if the operand may be absent. */
static bool may_lack(const compose_reader *r, const compose_operand *o) {
    if (o->kind == OPERAND_NONE) return true;
    if (o->kind == OPERAND_PARAMS) return o->field->flags & XIR_FIELD_OPTIONAL;
    return o->kind == OPERAND_VALUE && o->value < r->cls->more->n_inputs &&
           r->cls->more->inputs[o->value].decl == XIR_DECL_OPT;
}

static bool read_operand(compose_reader *r, compose_operand *o) {
    const class_more *own = r->cls->more;
    compose_skip(r);
    const char *at = r->at;
    *o = (compose_operand){ .kind = OPERAND_NONE };
    if (compose_next_is(r, '_') && (r->end - r->at < 2 || !is_word(r->at[1]))) return r->at++, true;
    if (compose_next_is(r, '%')) {
        /* "%x[0] * 2" is a number: a value is followed by the end of the operand. */
        const char *p = r->at + 1;
        while (p < r->end && is_word(*p)) p++;
        while (p < r->end && (*p == ' ' || *p == '\n')) p++;
        if (p == r->end || *p == ',' || *p == ')') {
            if (!compose_value(r, &o->value)) return false;
            const bool many = o->value < own->n_inputs && own->inputs[o->value].decl == XIR_DECL_VAR;
            o->kind = many ? OPERAND_REST : OPERAND_VALUE;
            return true;
        }
    }
    const xir_str word = compose_word(r, false);
    const xir_field *f = word.size ? xir_class_field(r->cls, word) : NULL;
    if (f && f->kind == XIR_KIND_PARAMS) {
        o->kind = OPERAND_PARAMS;
        o->field = f;
        return true;
    }
    r->at = at;
    o->kind = OPERAND_NUMBER;
    return compose_read_term(r, &o->number);
}

static bool check_operands(compose_reader *r, const char *at, const compose_part *part, compose_operand *list,
                           uint32_t n) {
    const class_more *more = part->cls->more;
    bool optional = false;
    if (n > more->n_inputs && !part->cls->many_inputs)
        return compose_fail(r, at, XIR_E_INVALID, "%.*s takes %u inputs, found %u", CLIP_TO(part->cls->key, 100),
                            more->n_inputs, n);
    for (uint32_t k = 0; k < n || k < more->n_inputs; k++) {
        const xir_port *port = &more->inputs[k < more->n_inputs ? k : more->n_inputs - 1];
        const compose_operand none = { .kind = OPERAND_NONE }, *o = k < n ? &list[k] : &none;
        const bool needed = port->decl == XIR_DECL_IN || (port->decl == XIR_DECL_VAR && k < n);
        if (o->kind == OPERAND_REST && (port->decl != XIR_DECL_VAR || k + 1 != n))
            return compose_fail(r, at, XIR_E_INVALID, "%%%.*s is any number of values: only the last input of a part "
                                "that takes any number can be that", CLIP(r->labels[o->value]));
        if (!needed) continue;
        if (k < n) list[k].needed = true;
        if (o->kind == OPERAND_NONE)
            return compose_fail(r, at, XIR_E_INVALID, "%.*s needs its input '%.*s'", CLIP_TO(part->cls->key, 100),
                                CLIP(port->name));
        if (!may_lack(r, o)) continue;
        const xir_str name = o->kind == OPERAND_PARAMS ? o->field->name : r->labels[o->value];
        if (!part->optional || k == 0)
            return compose_fail(r, at, XIR_E_INVALID, "'%.*s' may be absent, but %.*s needs its input '%.*s'%s",
                                CLIP(name), CLIP_TO(part->cls->key, 100), CLIP(port->name),
                                k ? ": write ')?' to leave the part out then" : "");
        optional = true;
    }
    return !part->optional || optional ||
           compose_fail(r, at, XIR_E_INVALID, "the part is never left out: none of its inputs may be absent");
}

/* The number has the type of the first value of the part, so there must be one. */
static bool check_numbers(compose_reader *r, const char *at, const compose_operand *list, uint32_t n) {
    bool value = false, number = false;
    for (uint32_t k = 0; k < n; k++) {
        value |= list[k].kind == OPERAND_VALUE || list[k].kind == OPERAND_REST;
        number |= list[k].kind == OPERAND_NUMBER;
    }
    return !number || value ||
           compose_fail(r, at, XIR_E_INVALID, "a part with a number needs a value, whose type the number has");
}

static bool read_operands(compose_reader *r, compose_part *part, const char *at) {
    compose_operand list[COMPOSE_OPERANDS];
    uint32_t n = 0;
    if (!compose_need(r, '(')) return false;
    if (!compose_take(r, ')')) {
        do {
            if (n == COMPOSE_OPERANDS)
                return compose_fail(r, r->at, XIR_E_LIMIT, "a part has more than %d inputs", COMPOSE_OPERANDS);
            if (!read_operand(r, &list[n++])) return false;
        } while (compose_take(r, ','));
        if (!compose_need(r, ')')) return false;
    }
    part->optional = compose_take(r, '?');
    part->n_operands = n;
    if (n > r->most_operands) r->most_operands = n;
    if (part->optional && (!n || list[0].kind != OPERAND_VALUE || part->n_results != 1))
        return compose_fail(r, at, XIR_E_INVALID, "a part that may be left out has one result, and a value as its "
                            "first input, which stands for the result then");
    if (!check_operands(r, at, part, list, n) || !check_numbers(r, at, list, n)) return false;
    part->operands = compose_keep(r, list, n * sizeof *list);
    return part->operands;
}

/* ---- parts ------------------------------------------------------------------------------------------------------ */

static bool add_value(compose_reader *r, const char *at, xir_str label) {
    if (find_value(r, label) < r->n_values)
        return compose_fail(r, at, XIR_E_EXISTS, "%%%.*s is made already", CLIP(label));
    if (r->n_values == r->room)
        return compose_fail(r, at, XIR_E_LIMIT, "there are more than %u values", r->room);
    r->labels[r->n_values++] = label;
    return true;
}

/* The labels are added after the operands are read: a part does not read its own results. */
static bool read_results(compose_reader *r, xir_str *labels, uint32_t *n) {
    do {
        if (!compose_need(r, '%')) return false;
        const xir_str label = compose_word(r, false);
        if (!label.size) return compose_expected(r, "the name of a result");
        if (*n == COMPOSE_OPERANDS)
            return compose_fail(r, label.data, XIR_E_LIMIT, "a part has more than %d results", COMPOSE_OPERANDS);
        labels[(*n)++] = label;
    } while (compose_take(r, ','));
    return compose_need(r, '=');
}

static uint32_t blame_of(const compose_reader *r, const compose_part *p) {
    uint32_t only = UINT32_MAX;
    for (uint32_t k = 0; k < p->n_operands; k++) {
        const compose_operand *o = &p->operands[k];
        if (o->kind != OPERAND_VALUE && o->kind != OPERAND_REST) continue;
        if (r->blame[o->value] == UINT32_MAX) return UINT32_MAX;
        if (only != UINT32_MAX && only != r->blame[o->value]) return UINT32_MAX;
        only = r->blame[o->value];
    }
    return only;
}

static bool check_results(compose_reader *r, const char *at, const compose_part *p) {
    const class_more *more = p->cls->more;
    if (p->cls->many_outputs || p->n_results == more->n_outputs) return true;
    return compose_fail(r, at, XIR_E_INVALID, "%.*s gives %u result%s, found names for %u", CLIP_TO(p->cls->key, 100),
                        more->n_outputs, more->n_outputs == 1 ? "" : "s", p->n_results);
}

static bool sets(const compose_part *p, const xir_field *f) {
    uint32_t i = 0;
    while (i < p->n_settings && p->settings[i].to != f) i++;
    return i < p->n_settings;
}

/* Returns true if the rule of the class for floats holds for the part: a list of factors must fit dims, and where dims
 * change, other operands are asked about. */
static bool any_floats(const compose_part *p) {
    const class_layout *l = p->cls->more->layout;
    bool any = p->cls->more->floats && p->n_results == 1 && p->n_operands && p->operands[0].kind == OPERAND_VALUE;
    const bool alone = p->cls->more->moved || p->cls->more->dims;
    for (uint32_t k = 1; alone && k < p->n_operands; k++) any &= p->operands[k].kind == OPERAND_NONE;
    for (size_t i = 0; any && l && l->form == BY_FACTORS && i < LAYOUT_ATTRS && l->attr[i]; i++) {
        const xir_field *f = l->attr[i];
        any = f->kind == XIR_KIND_REFS && ((const xir_refs *)body_at(p->body, f))->size <= 1 && !sets(p, f);
    }
    return any;
}

/* Returns true if a number is known before the op is: an attribute that is not negative by overflow, or a constant. */
static bool is_known(const compose_term *t) {
    compose_number v;
    if (t->is_constant) return compose_compute(t, NULL, NULL, NULL, &v);
    return t->kind == COMPOSE_ATTR && t->field->kind != XIR_KIND_U64;
}

/* Returns true if the operands after the first are such numbers or, with `same`, the first one again. */
static bool are_numbers(const compose_part *p, bool same) {
    uint32_t k = 1;
    for (; k < p->n_operands; k++) {
        const compose_operand *o = &p->operands[k];
        const bool again = same && o->kind == OPERAND_VALUE && o->value == p->operands[0].value;
        if (!again && !(o->kind == OPERAND_NUMBER && is_known(o->number))) break;
    }
    return k >= p->n_operands;
}

static bool same_settings(const compose_part *a, const compose_part *b) {
    if (a->n_settings != b->n_settings || !body_equal(a->cls, a->body, b->body)) return false;
    for (uint32_t i = 0; i < a->n_settings; i++) {
        const compose_setting *x = &a->settings[i], *y = &b->settings[i];
        if (x->n || y->n || x->kind != y->kind || x->to != y->to || x->from != y->from || x->value != y->value)
            return false;
    }
    return true;
}

static bool is_of_one_value(const compose_part *p) {
    return p->n_operands == 1 && p->operands[0].kind == OPERAND_VALUE && p->n_results == 1 && !p->optional;
}

/* The parts move when all have been read, so the earlier one is known by its place. */
static uint32_t find_like(const compose_reader *r, const compose_part *p) {
    uint32_t i = is_of_one_value(p) ? 0 : r->n_parts;
    while (i + 1 < r->n_parts && !(r->parts[i].cls == p->cls && is_of_one_value(&r->parts[i]) &&
                                   same_settings(&r->parts[i], p))) i++;
    return i + 1 < r->n_parts ? i + 1 : 0;
}

static bool read_part(compose_reader *r) {
    xir_str labels[COMPOSE_OPERANDS];
    compose_skip(r);
    const char *at = r->at;
    if (r->n_parts == COMPOSE_PARTS)
        return compose_fail(r, at, XIR_E_LIMIT, "there are more than %d parts", COMPOSE_PARTS);
    compose_part *p = &r->parts[r->n_parts++];
    *p = (compose_part){ .first = r->n_values };
    if (!read_results(r, labels, &p->n_results)) return false;
    p->label = labels[0];
    if (!read_class(r, &p->cls) || !check_results(r, at, p) || !read_operands(r, p, at)) return false;
    void *body = compose_keep(r, p->cls->defaults, p->cls->body_size);
    if (!body) return false;
    p->body = body;
    if (!compose_read_settings(r, p, body)) return false;
    p->any_floats = any_floats(p);
    p->numbers = are_numbers(p, false);
    p->kept = p->any_floats && !p->n_settings && !p->optional && are_numbers(p, true) &&
              (!p->cls->more->fits || p->cls->more->fits(body));
    p->like = find_like(r, p);
    const uint32_t blame = blame_of(r, p);
    for (uint32_t i = 0; i < p->n_results; i++) {
        if (!add_value(r, labels[i].data, labels[i])) return false;
        r->blame[p->first + i] = blame;
    }
    return true;
}

/* ---- the whole -------------------------------------------------------------------------------------------------- */

/* The outputs of the class are values of their names. */
static const uint32_t *find_outputs(compose_reader *r) {
    const class_more *more = r->cls->more;
    uint32_t *outputs = compose_keep(r, NULL, more->n_outputs * sizeof *outputs);
    for (uint32_t i = 0; i < more->n_outputs && outputs; i++) {
        const xir_str name = more->outputs[i].name;
        outputs[i] = find_value(r, name);
        if (outputs[i] < more->n_inputs || outputs[i] == r->n_values)
            return compose_fail(r, r->end, XIR_E_INVALID, "no part makes the output %%%.*s", CLIP(name)), NULL;
        r->used[outputs[i]] = true;
    }
    return outputs;
}

static bool all_used(compose_reader *r) {
    for (uint32_t i = 0; i < r->n_values; i++) {
        if (r->used[i]) continue;
        /* A part with several results may have some that nobody needs. */
        bool one = false;
        for (uint32_t k = 0; k < r->n_parts && i >= r->cls->more->n_inputs; k++) {
            const compose_part *p = &r->parts[k];
            for (uint32_t m = 0; m < p->n_results && i >= p->first && i < p->first + p->n_results; m++)
                one |= r->used[p->first + m];
        }
        if (one) continue;
        const bool inside = r->labels[i].data >= r->text && r->labels[i].data < r->end;
        return compose_fail(r, inside ? r->labels[i].data : r->end, XIR_E_INVALID, "nothing reads %%%.*s",
                            CLIP(r->labels[i]));
    }
    return true;
}

static bool measure(compose_reader *r, composition *c) {
    c->depth = 1;
    for (uint32_t i = 0; i < c->n_parts; i++) {
        const composition *inner = c->parts[i].cls->more->composed;
        c->total += 1 + (inner ? inner->total : 0);
        if (inner && inner->depth >= c->depth) c->depth = inner->depth + 1;
        if (c->total > COMPOSE_TOTAL || c->depth > COMPOSE_DEPTH)
            return compose_fail(r, c->parts[i].label.data, XIR_E_LIMIT, "with the parts of its parts the class has "
                                "more than %d parts, or they are nested deeper than %d", COMPOSE_TOTAL, COMPOSE_DEPTH);
    }
    return true;
}

static bool read_all(compose_reader *r, double within) {
    const class_more *more = r->cls->more;
    for (uint32_t i = 0; i < more->n_inputs; i++) {
        r->labels[i] = more->inputs[i].name;
        r->blame[i] = i;
    }
    r->n_values = more->n_inputs;
    do {
        compose_skip(r);
        if (r->at < r->end && !read_part(r)) return false;
    } while (compose_take(r, ';'));
    compose_skip(r);
    if (r->at < r->end) return compose_expected(r, "';' or the end of the text");
    if (!r->n_parts) return compose_fail(r, r->at, XIR_E_SYNTAX, "there is no part");
    const uint32_t *outputs = find_outputs(r);
    if (!outputs || !all_used(r)) return false;
    composition made = {
        .text = { r->text, (size_t)(r->end - r->text) }, .within = within, .n_parts = r->n_parts,
        .n_inputs = more->n_inputs, .n_values = r->n_values, .n_outputs = more->n_outputs,
        .most_operands = r->most_operands, .outputs = outputs,
        .parts = compose_keep(r, r->parts, r->n_parts * sizeof *r->parts),
        .blame = compose_keep(r, r->blame, r->n_values * sizeof *r->blame),
        .labels = compose_keep(r, r->labels, r->n_values * sizeof *r->labels),
    };
    if (r->status || !measure(r, &made)) return false;
    r->cls->more->composed = compose_keep(r, &made, sizeof made);
    return r->cls->more->composed;
}

/* The row of the class; refuses what makes no sense before its text is read. */
static xir_status find_row(const xir_class *cls, xir_row *out, xir_diags *why) {
    unsigned n = 0;
    row_walk w;
    for (const xir_row *row = row_first(&w, cls->decl); row->decl != XIR_DECL_END; row = row_next(&w)) {
        if (row->decl != XIR_DECL_COMPOSED) continue;
        if (n++) return row_refuse(cls, "COMPOSED", why, "the class has two of these rows");
        *out = *row;
    }
    if (!n) return XIR_OK;
    if (!cls->is_op) return row_refuse(cls, "COMPOSED", why, "the class is not an operation");
    if (cls->traits & (XIR_TRAIT_SOURCE | XIR_TRAIT_SINK | XIR_TRAIT_ABSTRACT))
        return row_refuse(cls, "COMPOSED", why, "an op of the class does not compute anything");
    if (!cls->more->n_outputs || cls->many_outputs)
        return row_refuse(cls, "COMPOSED", why, "the class needs outputs of a known number");
    if (!out->doc || strlen(out->doc) > COMPOSE_TEXT)
        return row_refuse(cls, "COMPOSED", why, "expected a text of at most %d bytes", COMPOSE_TEXT);
    if (!(out->default_value.r >= 0))
        return row_refuse(cls, "COMPOSED", why, "the tolerance is %g, expected 0 or more", out->default_value.r);
    return XIR_OK;
}

/* Returns true if each part says exactly what it needs. */
static bool needs_exactly(const composition *c) {
    for (uint32_t i = 0; i < c->n_parts; i++)
        if (!c->parts[i].cls->more->needs || c->parts[i].cls->more->needs_wide) return false;
    return true;
}

/* Takes from the composition what the class does not say by itself. */
static void derive(xir_class *cls, const composed_functions *from) {
    class_more *more = cls->more;
    const bool infers = more->infer[XIR_TARGET_HOST] != NULL;
    if (!infers) more->infer[XIR_TARGET_HOST] = from->infer;
    /* Inference checks all that the check does. */
    if (!infers && !more->check) more->alone |= UINT32_C(1) << XIR_TARGET_HOST;
    if (!more->check) more->check = from->check;
    if (!more->work) more->work = from->work;
    if (!more->takes) more->takes = from->takes;
    if (!more->needs) {
        more->needs = from->needs;
        more->needs_wide = !needs_exactly(more->composed);
    }
    if (!more->kernel) more->kernel = from->kernel;
    if (!more->shares.kind) more->shares = compose_shares(more->composed);
}

xir_status class_compose(const class_stage *stage, xir_class *cls, xir_diags *why) {
    xir_context *ctx = stage->ctx;
    xir_row row = { .decl = XIR_DECL_END };
    xir_status status = find_row(cls, &row, why);
    if (status || row.decl == XIR_DECL_END) return status;
    compose_reader r = { .stage = stage, .ctx = ctx, .cls = cls, .text = row.doc, .at = row.doc, .why = why };
    r.end = r.text + strlen(r.text);
    r.room = cls->more->n_inputs + 2 * COMPOSE_PARTS;
    const size_t each = sizeof *r.labels + sizeof *r.blame + sizeof *r.used;
    const size_t size = COMPOSE_PARTS * sizeof *r.parts + r.room * each;
    char *room = mem_new(&ctx->alloc, size);
    if (!room) return diag_memory(why);
    memset(room, 0, size);
    r.parts = (compose_part *)(void *)room;
    r.labels = (xir_str *)(void *)(r.parts + COMPOSE_PARTS);
    r.blame = (uint32_t *)(void *)(r.labels + r.room);
    r.used = (bool *)(void *)(r.blame + r.room);
    if (read_all(&r, row.default_value.r)) derive(cls, &ctx->composed);
    mem_free(&ctx->alloc, room, size);
    return r.status;
}
