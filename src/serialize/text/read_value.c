/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Values by their labels. A label may be used before the line that makes it: until then a value without a producer
 * stands for it. Params are declared where they are used first, and so are values that no op makes. */
#include <stdio.h>
#include "text/reader.h"

/* ---- labels ---------------------------------------------------------------------------------------------------- */

static uint32_t new_label(text_reader *r, const char *at) {
    if (r->n_labels == NO_LABEL - 1 ||
        !mem_reserve(context_alloc(r->d.ctx), (void **)&r->labels, &r->label_room, r->n_labels + 1,
                     sizeof *r->labels)) {
        trace_memory(&r->d.trace);
        return NO_LABEL;
    }
    r->labels[r->n_labels] = (text_label){ .at = at };
    return (uint32_t)r->n_labels++;
}

/* A label as it is written, without quotes. */
static xir_str word_of(const text_reader *r, const text_label *l) {
    const char *p = l->at + 1, *end = end_of(&r->s);
    if (*p != '"') return (xir_str){ p, text_name_length(p, end) };
    const char *from = ++p;
    while (p < end && *p != '"') p += *p == '\\' && end - p > 1 ? 2 : 1;
    return (xir_str){ from, (size_t)(p - from) };
}

/* The key of an id in the table of ids: never NULL. */
static const void *key_of_id(int64_t id) { return (const void *)(uintptr_t)((uint64_t)id << 1 | 1); }

/* Finds the place of an id's label: in the array for ids that are dense, otherwise in the hash table. NULL without
 * memory. */
static uint32_t *slot_of_id(text_reader *r, text_labels *labels, int64_t id) {
    enum { FIRST = 1024, TIMES = 2 };
    if ((uint64_t)id < labels->n_dense) return &labels->dense[id];
    uint32_t *found = pointer_table_find(&labels->ids, key_of_id(id));
    if (found || id < 0 || (uint64_t)id >= FIRST + TIMES * (uint64_t)labels->n)
        return found ? found : pointer_table_add(&labels->ids, key_of_id(id), NO_LABEL);
    const size_t need = FIRST + TIMES * labels->n;
    if (!mem_reserve(context_alloc(r->d.ctx), (void **)&labels->dense, &labels->room, need, sizeof *labels->dense))
        return NULL;
    for (size_t i = labels->n_dense; i < need; i++) {
        const uint32_t *other = labels->ids.n ? pointer_table_find(&labels->ids, key_of_id((int64_t)i)) : NULL;
        labels->dense[i] = other ? *other : NO_LABEL;
    }
    labels->n_dense = need;
    return &labels->dense[id];
}

/* A label of this name or id; a new one if there is none. A name with escapes lives in the reader's arena. */
static bool find_label(text_reader *r, source *s, text_labels *labels, const char *at, word_kind kind, xir_str word,
                       int64_t id, uint32_t *out) {
    const bool in_text = word.data >= (const char *)s->start && word.data < end_of(s);
    uint32_t *found;
    if (kind == WORD_INT) {
        found = slot_of_id(r, labels, id);
    } else {
        found = text_table_find(&labels->names, word);
        if (!found && !in_text && !arena_text(&r->d.keep, word, &word)) return trace_memory(&r->d.trace);
        if (!found) found = text_table_add(&labels->names, word, NO_LABEL);
    }
    if (!found) return trace_memory(&r->d.trace);
    if (*found == NO_LABEL) {
        *found = new_label(r, at);
        labels->n++;
    }
    *out = *found;
    return *out != NO_LABEL;
}

/* Reads digits that surely fit an id, if nothing that belongs to a name follows. */
static bool few_digits(source *s, xir_str *word, int64_t *id) {
    enum { MOST = 18 };
    const char *from = here(s), *p = from, *end = end_of(s);
    int64_t v = 0;
    for (; p < end && text_is(*p, TEXT_DIGIT); p++) {
        if (p - from == MOST) return false;
        v = v * 10 + (*p - '0');
    }
    if (p < end && text_is(*p, TEXT_NAME)) return false;
    *word = (xir_str){ from, (size_t)(p - from) };
    *id = v;
    s->at = p;
    return true;
}

/* "%x", "@w", "%17" after the sign at `at`. */
static bool read_label(text_reader *r, source *s, const char *at, text_labels *labels, word_kind *kind, xir_str *word,
                       int64_t *id, uint32_t *out) {
    s->at = at + 1;
    const char c = here(s) < end_of(s) ? *here(s) : '\0';
    if (text_is(c, TEXT_DIGIT) && few_digits(s, word, id)) {
        *kind = WORD_INT;
        return find_label(r, s, labels, at, *kind, *word, *id, out);
    }
    if (c != '"' && !text_is(c, TEXT_NAME)) return text_expected(s, here(s),
                                                                 "a label: a name, an id or a text in quotes");
    *kind = text_word(s, word);
    if (*kind == WORD_NONE) return r->d.trace.status ? false : text_expected(s, at + 1, "a label");
    if (*kind == WORD_INT) {
        source digits = *s;
        digits.at = word->data;
        if (!text_int(&digits, id)) return false;
        if ((*id < 0 && !r->is_part) || *id == INT64_MAX)
            return source_fail(s, at, XIR_E_BOUNDS, "the id %" PRId64 " is outside 0 to %" PRId64, *id, INT64_MAX - 1);
    }
    return find_label(r, s, labels, at, *kind, *word, *id, out);
}

/* "#3": an id. */
static bool read_number_sign(text_reader *r, source *s, int64_t *out) {
    const char *at = here(s);
    if (!text_int(s, out)) return false;
    if ((*out < 0 && !r->is_part) || *out == INT64_MAX)
        return source_fail(s, at, XIR_E_BOUNDS, "the id %" PRId64 " is outside 0 to %" PRId64, *out, INT64_MAX - 1);
    return true;
}

/* Reads the rest after the label of a value that is made or declared: #3 as "y" in @hostm {…} more {…}. */
static bool read_declared(text_reader *r, source *s, word_kind kind, xir_str word, int64_t id, value_in *in) {
    decoder *d = &r->d;
    in->id = kind == WORD_INT ? id : r->is_part ? -1 : r->next_value;
    in->name = kind == WORD_INT ? XIR_STR("") : word;
    if (here(s) < end_of(s) && *here(s) == '#') {
        s->at = here(s) + 1;
        if (!read_number_sign(r, s, &in->id)) return false;
    }
    r->next_value = in->id + 1;
    text_skip(s);
    const char c = here(s) < end_of(s) ? *here(s) : '\0';
    if (c == ',' || c == '=' || c == ':' || c == ')') return true;   /* most have nothing else */
    if (text_takes_word(s, "as")) {
        text_skip(s);
        if (!s->ops->text(s, &in->name)) return false;
    }
    if (text_takes_word(s, "in")) {
        const xir_object *mtype;
        text_skip(s);
        if (!text_object(d, s, d->ctx->types[CLASS_mtype], &mtype)) return false;
        in->mtype = mtype->cls == d->ctx->types[CLASS_host_mem] ? NULL : (const xir_mtype *)mtype;
    }
    text_skip(s);
    if (here(s) < end_of(s) && *here(s) == '{' && !text_plain_map(r, s, &in->tags)) return false;
    return !text_takes_word(s, "more") || text_plain_map(r, s, &in->extra);
}

/* ---- results --------------------------------------------------------------------------------------------------- */

static bool made_twice(text_reader *r, source *s, const char *at, const text_label *l) {
    uint32_t line = 1;
    for (const char *p = s->start; (p = memchr(p, '\n', (size_t)(l->at - p))) != NULL; p++) line++;
    return source_fail(s, at, XIR_E_EXISTS, "%.*s is made in line %u already", CLIP(word_of(r, l)), line);
}

bool text_result(text_reader *r, source *s, uint32_t *out, value_in *in) {
    word_kind kind;
    xir_str word;
    int64_t id = 0;
    text_skip(s);
    const char *at = here(s);
    *in = (value_in){ .at = at };
    if (at == end_of(s) || *at != '%') return text_expected(s, at, "'%%' and the label of a result");
    if (!read_label(r, s, at, &r->values, &kind, &word, &id, out)) return false;
    text_label *l = &r->labels[*out];
    if (l->made && !r->is_part) return made_twice(r, s, at, l);
    l->made = true;
    l->at = at;
    return read_declared(r, s, kind, word, id, in);
}

void text_made(text_reader *r, uint32_t which, xir_value *v) {
    text_label *l = &r->labels[which];
    if (l->value && !r->is_part) value_adopt(l->value, v);   /* in a part, ids have found it */
    l->value = v;
}

bool text_value_of(text_reader *r, uint32_t which, xir_value **out) {
    *out = NULL;
    if (which == NO_LABEL) return true;
    text_label *l = &r->labels[which];
    if (!l->value && r->is_part && text_is_int((xir_str){ l->at + 1, text_name_length(l->at + 1, end_of(&r->s)) })) {
        source number_at = r->s;
        int64_t id;
        number_at.at = l->at + 1;
        l->made = text_int(&number_at, &id) && (l->value = net_find_value(r->d.net, id)) != NULL;
    }
    if (!l->value) l->value = value_make_orphan(r->d.net, NULL);
    *out = l->value;
    return *out || trace_memory(&r->d.trace);
}

/* ---- inputs ---------------------------------------------------------------------------------------------------- */

/* Returns true if a label is followed by more than the end of the item. */
static bool is_declared_here(const source *s) {
    const char *p = here(s);
    if (p < end_of(s) && (*p == ',' || *p == ')')) return false;   /* nearly always */
    p = text_blanks(s, p);
    return p < end_of(s) && (*p == ':' || *p == '#');
}

/* Of a value or Params that is declared: its type, and for Params what it has. */
static bool read_outside(text_reader *r, source *s, word_kind kind, xir_str word, int64_t id, uint32_t which,
                         value_in *in) {
    r->labels[which].made = true;
    if (!read_declared(r, s, kind, word, id, in) || !text_need(s, ':') || !text_type(r, s, &in->type)) return false;
    const bool has_payload = in->params && text_take(s, '=');
    in->allow = has_payload && text_takes_word(s, "optional");
    xir_value *v;
    if (!use_value(&r->d, s, in, &v)) return false;
    text_label *l = &r->labels[which];
    if (l->value && l->value != v && !value_op(l->value) && !value_is_params(l->value))
        value_adopt(l->value, v);
    l->value = v;
    return !has_payload || text_payload_of(r, s, v);
}

/* "@w" or "@w : type = payload". */
static bool read_params(text_reader *r, source *s, uint32_t *out) {
    word_kind kind = WORD_NONE;
    xir_str word;
    int64_t id = 0;
    const char *at = here(s);
    value_in in = { .at = at, .params = true };
    if (!read_label(r, s, at, &r->params, &kind, &word, &id, out)) return false;
    if (r->labels[*out].made) {
        const bool again = is_declared_here(s);
        if (!again) return true;
        if (!r->is_part) return made_twice(r, s, at, &r->labels[*out]);
    }
    return read_outside(r, s, kind, word, id, *out, &in);
}

bool text_params(text_reader *r, source *s, xir_value **out) {
    uint32_t which;
    if (!r->d.net) return source_fail(s, here(s), XIR_E_TYPE, "Params can only be part of a network");
    if (!read_params(r, s, &which)) return false;
    if (!r->labels[which].value) r->labels[which].value = params_make(r->d.net, NULL);   /* of a line that is wrong */
    *out = r->labels[which].value;
    return *out || trace_memory(&r->d.trace);
}

/* Returns true if a word comes that tells more of a value. */
static bool is_about(const source *s) {
    const size_t n = text_name_length(here(s), end_of(s));
    const xir_str word = { here(s), n };
    return xir_str_equal(word, XIR_STR("as")) || xir_str_equal(word, XIR_STR("in")) ||
        xir_str_equal(word, XIR_STR("more"));
}

static bool read_value_use(text_reader *r, source *s, uint32_t *out) {
    word_kind kind;
    xir_str word;
    int64_t id = 0;
    const char *at = here(s);
    if (!read_label(r, s, at, &r->values, &kind, &word, &id, out)) return false;
    const char c = here(s) < end_of(s) ? *here(s) : '\0';
    if (c == ',' || c == ')') return true;
    text_skip(s);
    const char next = here(s) < end_of(s) ? *here(s) : '\0';
    if (next == ',' || next == ')') return true;
    if (c != '#' && next != ':' && next != '{' && !is_about(s)) return text_expected(s, here(s), "',' or ')'");
    if (r->labels[*out].made && !r->is_part) return made_twice(r, s, at, &r->labels[*out]);
    value_in in = { .at = at };
    return read_outside(r, s, kind, word, id, *out, &in);
}

bool text_input(text_reader *r, source *s, uint32_t *out) {
    text_skip(s);
    const char c = here(s) < end_of(s) ? *here(s) : '\0';
    if (c == '%') return read_value_use(r, s, out);
    if (c == '@') return read_params(r, s, out);
    *out = NO_LABEL;
    if (c == '_') {
        s->at = here(s) + 1;
        return true;
    }
    return text_expected(s, here(s), "an input: '%%' or '@' and a label, or _");
}

/* ---- the end --------------------------------------------------------------------------------------------------- */

/* Names are compared with the other labels only for the first findings: a text may have very many. */
static void say_missing(text_reader *r, const text_label *l, bool compare) {
    size_t distance = SIZE_MAX;
    const xir_str word = word_of(r, l);
    xir_str meant = { NULL, 0 };
    for (size_t i = 0; compare && i < r->values.names.n; i++) {
        const text_item *item = &r->values.names.items[i];
        const xir_str name = { item->text, item->size };
        if (!r->labels[item->value].made || !xir_str_is_nearer(word, name, &distance)) continue;
        meant = name;
    }
    if (meant.size)
        source_fail(&r->s, l->at, XIR_E_MISSING, "no op makes %%%.*s: perhaps %%%.*s is meant", CLIP(word),
                    CLIP(meant));
    else source_fail(&r->s, l->at, XIR_E_MISSING, "no op makes %%%.*s", CLIP(word));
}

void text_labels_end(text_reader *r) {
    enum { COMPARED = 8 };
    size_t n = 0;
    for (size_t i = 0; i < r->n_labels && r->n_failed < TEXT_MOST_FAILURES; i++) {
        const text_label *l = &r->labels[i];
        if (l->made || !l->value || value_is_params(l->value)) continue;
        say_missing(r, l, n++ < COMPARED && r->values.names.n < 100000);
        if (!text_report(r)) return;
    }
}
