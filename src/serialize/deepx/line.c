/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* One instruction: a name, parameters, an arrow, return slots, metadata. Brackets and quotes hold a parameter together,
 * and an arrow, a comma or "//" within them is part of it. */
#include <stdio.h>
#include "deepx/deepx.h"

/* ---- findings -------------------------------------------------------------------------------------------------- */

static void say(deepx_place *w, xir_severity severity, xir_status code, const char *at, const char *sentence,
                va_list args) {
    w->said++;
    if (w->quiet) return;
    diag_failv(w->why, &(xir_diag){
        .severity = severity, .code = code, .file = w->file, .byte = (uint64_t)(at - w->text), .line = w->number,
        .column = (uint32_t)(at - w->line) + 1 }, sentence, args);
}

bool deepx_error(deepx_place *w, const char *at, xir_status code, const char *sentence, ...) {
    va_list args;
    if (!w->status) w->status = code;
    va_start(args, sentence);
    say(w, XIR_ERROR, code, at, sentence, args);
    va_end(args);
    return false;
}

void deepx_warn(deepx_place *w, const char *at, const char *sentence, ...) {
    va_list args;
    va_start(args, sentence);
    say(w, XIR_WARNING, XIR_OK, at, sentence, args);
    va_end(args);
}

/* ---- words ----------------------------------------------------------------------------------------------------- */

xir_str deepx_trim(const char *p, const char *end) {
    p = deepx_skip_blanks(p, end);
    while (end > p && deepx_is_blank(end[-1])) end--;
    return (xir_str){ p, (size_t)(end - p) };
}

static bool begins(const char *p, const char *end, const char *word) {
    const size_t n = strlen(word);
    return (size_t)(end - p) >= n && memcmp(p, word, n) == 0;
}

bool deepx_is_passed_over(xir_str text) {
    const char *end = text.data + text.size, *p = deepx_skip_blanks(text.data, end);
    return p == end || *p == '#' || begins(p, end, "//") || begins(p, end, "```");
}

static bool is_number(xir_str text) {
    const char *p = text.data, *end = p + text.size;
    size_t digits = 0;
    if (p < end && (*p == '-' || *p == '+')) p++;
    if (end - p == 3 && (memcmp(p, "inf", 3) == 0 || memcmp(p, "nan", 3) == 0)) return true;
    for (; p < end && is_digit(*p); p++) digits++;
    if (p < end && *p == '.')
        for (p++; p < end && is_digit(*p); p++) digits++;
    if (!digits) return false;
    if (p < end && (*p == 'e' || *p == 'E')) {
        if (++p < end && (*p == '-' || *p == '+')) p++;
        if (p == end) return false;
        while (p < end && is_digit(*p)) p++;
    }
    return p == end;
}

static bool is_bool(xir_str text) {
    if (text.size == 4) return memcmp(text.data, "true", 4) == 0 || memcmp(text.data, "True", 4) == 0;
    return text.size == 5 && (memcmp(text.data, "false", 5) == 0 || memcmp(text.data, "False", 5) == 0);
}

xir_str deepx_inner(xir_str list) {
    const bool closed = list.size >= 2 && list.data[0] == '[' && list.data[list.size - 1] == ']';
    return closed ? (xir_str){ list.data + 1, list.size - 2 } : list;
}

bool deepx_next_item(xir_str *list, xir_str *item) {
    const char *p = list->data, *end = p + list->size;
    while (p < end && (deepx_is_blank(*p) || *p == ',')) p++;
    const char *start = p;
    while (p < end && !deepx_is_blank(*p) && *p != ',') p++;
    *item = (xir_str){ start, (size_t)(p - start) };
    *list = (xir_str){ p, (size_t)(end - p) };
    return p > start;
}

xir_str deepx_unquoted(xir_str v) {
    const bool quoted = v.size >= 2 && (v.data[0] == '"' || v.data[0] == '\'') && v.data[v.size - 1] == v.data[0];
    return quoted ? (xir_str){ v.data + 1, v.size - 2 } : v;
}

/* A bare name may be all digits, so a number alone is a value only where no tensor is expected. */
bool deepx_is_literal(xir_str value) {
    xir_str items = deepx_inner(value), item;
    if (!value.size) return false;
    if (value.data[0] == '"' || value.data[0] == '\'' || is_bool(value)) return true;
    const bool list = value.data[0] == '[';
    if (list && !deepx_trim(items.data, items.data + items.size).size) return true;
    while (deepx_next_item(&items, &item))
        if (!is_number(item) && !(list && is_bool(item))) return false;
    return true;
}

bool deepx_is_tensor_name(xir_str value) {
    unsigned found = 0;
    for (size_t i = 0; i < value.size; i++) found |= deepx_chars[(unsigned char)value.data[i]];
    return value.size > 0 && !(found & DEEPX_NO_NAME);
}

/* ---- parameters ------------------------------------------------------------------------------------------------ */

void deepx_slots_free(deepx_slots *s) { mem_free(s->alloc, s->data, s->room * sizeof *s->data); }

static deepx_slot *add_slot(deepx_place *w, deepx_slots *s) {
    if (s->n < s->room) return &s->data[s->n++];
    if (mem_reserve(s->alloc, (void **)&s->data, &s->room, s->n + 1, sizeof *s->data)) return &s->data[s->n++];
    if (w->status != XIR_E_MEMORY) diag_memory(w->why);
    w->status = XIR_E_MEMORY;
    return NULL;
}

/* Types that were read before, and are not to be warned of, by their texts. */
static deepx_type_memo *memo_of(deepx_slots *slots, xir_str text) {
    return &slots->types[hash_text(0, text.data, text.size) % DEEPX_TYPE_MEMOS];
}

static bool remembers(const deepx_type_memo *memo, xir_str text) {
    return memo->size == text.size && text.size && memcmp(memo->text, text.data, text.size) == 0;
}

static void remember(deepx_type_memo *memo, xir_str text, deepx_type is) {
    if (text.size > DEEPX_LONGEST_MEMO || is.capital || is.seed) return;
    *memo = (deepx_type_memo){ .size = (uint8_t)text.size, .is = is };
    memcpy(memo->text, text.data, text.size);
}

static bool read_type(deepx_place *w, deepx_slots *slots, xir_str text, deepx_slot *slot) {
    deepx_type_fault fault;
    deepx_type_memo *memo = memo_of(slots, text);
    slot->type = text;
    if (remembers(memo, text)) {
        slot->is = memo->is;
        return true;
    }
    if (!deepx_type_read(text, &slot->is, &fault))
        return deepx_error(w, fault.word.data, XIR_E_SYNTAX, "'%.*s' %s", CLIP(fault.word), fault.what);
    if (slot->is.capital && !slot->named)
        deepx_warn(w, text.data, "the type '%.*s' has a capital letter: the executor takes it as unknown", CLIP(text));
    if (slot->is.seed && !slot->named)
        deepx_warn(w, text.data, "the executor takes the precision of '%.*s' as any", CLIP(text));
    remember(memo, text, slot->is);
    return true;
}

/* Returns the end of the type before a ':'; NULL if the text does not begin with one. */
static const char *type_end(xir_str text) {
    const char *end = text.data + text.size;
    for (const char *p = text.data; p < end; p++) {
        if (*p == ':') return p;
        if (!deepx_is(*p, DEEPX_LETTER | DEEPX_DIGIT | DEEPX_TYPE)) return NULL;
    }
    return NULL;
}

/* Returns the end of a type that a blank and a name follow: its '>', or its only word. */
static const char *named_type_end(xir_str text) {
    const char *end = text.data + text.size, *p = text.data;
    while (p < end && (deepx_is_letter(*p) || *p == '|')) p++;
    if (p == text.data || p == end || *p != '<') return NULL;
    const char *close = memchr(p, '>', (size_t)(end - p));
    return close && close + 1 < end && deepx_is_blank(close[1]) ? close + 1 : NULL;
}

static bool check_value(deepx_place *w, const deepx_slot *slot) {
    const xir_str v = slot->value;
    if (!v.size) return deepx_error(w, v.data, XIR_E_SYNTAX, "the parameter '%.*s' has no value", CLIP(slot->whole));
    if (v.data[0] == '"' || v.data[0] == '\'') return true;
    if (slot->is.category == DEEPX_TENSOR && !deepx_is_tensor_name(v))
        return deepx_error(w, v.data, XIR_E_SYNTAX, "'%.*s' is not the name of a tensor", CLIP(v));
    if (slot->type.size || v.data[0] == '[' || deepx_is_tensor_name(v) || deepx_is_literal(v)) return true;
    return deepx_error(w, v.data, XIR_E_SYNTAX, "'%.*s' is neither a name nor a value", CLIP(v));
}

/* `holds`: the parameter has brackets or quotes, in which a comma may be. */
static bool read_slot(deepx_place *w, deepx_slots *slots, xir_str text, bool holds) {
    deepx_slot *slot = add_slot(w, slots);
    if (!slot) return false;
    *slot = (deepx_slot){ .whole = text, .value = text, .type = { text.data, 0 }, .is = { .precision = DEEPX_ANY } };
    if (!text.size) return deepx_error(w, text.data, XIR_E_SYNTAX, "a parameter is empty");
    const char *end = text.data + text.size, *stop = type_end(text), *at = stop ? stop : named_type_end(text);
    const char *comma = holds ? memchr(text.data, ',', text.size) : NULL;
    if (comma) deepx_warn(w, comma, "the executor splits the parameter at this comma");
    if (at) {
        slot->named = !stop;
        if (!read_type(w, slots, deepx_trim(text.data, at), slot)) return false;
        slot->value = deepx_trim(at + (stop != NULL), end);
    }
    return check_value(w, slot);
}

enum { DEEPEST = 64 };

static bool is_before_value(char c) { return c == ':' || c == ' ' || c == '\t' || c == '[' || c == ',' || c == '('; }

/* The content of a parameter: brackets or quotes, and text that the live parser takes for an arrow or for metadata. */
typedef struct extent { bool holds, odd; } extent;

/* Returns the end of a parameter: at a comma, at `closer`, or without one at an arrow or "//". NULL after an error. */
static const char *parameter_end(deepx_place *w, const char *p, const char *end, char closer, extent *out) {
    char open[DEEPEST];
    const char *where[DEEPEST], *start = p;
    size_t depth = 0;
    for (; p < end; p++) {
        const char c = *p;
        if (!deepx_is(c, DEEPX_ENDS)) continue;
        out->holds |= deepx_is(c, DEEPX_HOLDS) && c != closer;
        if ((c == '"' || c == '\'') && (p == start || is_before_value(p[-1]))) {
            const char *quote = memchr(p + 1, c, (size_t)(end - p) - 1);
            if (!quote) {
                deepx_error(w, p, XIR_E_SYNTAX, "the quote has no end");
                return NULL;
            }
            p = quote;
            out->odd = true;
        } else if (c == '(' || c == '[' || c == '{') {
            if (depth == DEEPEST) {
                deepx_error(w, p, XIR_E_LIMIT, "more than %d brackets are open", DEEPEST);
                return NULL;
            }
            where[depth] = p;
            open[depth++] = c == '(' ? ')' : (char)(c + 2);
        } else if (c == ')' || c == ']' || c == '}') {
            if (!depth && c == closer) return p;
            if (!depth || open[depth - 1] != c) {
                deepx_error(w, p, XIR_E_SYNTAX, "the bracket '%c' was not opened", c);
                return NULL;
            }
            depth--;
        } else if (c == ',') {
            if (!depth) return p;
        } else if (begins(p, end, "->") || begins(p, end, "//")) {
            if (!depth && !closer) return p;
            out->odd = true;
        }
    }
    if (depth) {
        deepx_error(w, where[depth - 1], XIR_E_SYNTAX, "the bracket '%c' is not closed", *where[depth - 1]);
        return NULL;
    }
    return end;
}

/* Reads parameters up to `closer`; without one up to an arrow, "//" or the end. NULL after an error. */
static const char *read_slots(deepx_place *w, deepx_slots *slots, const char *p, const char *end, char closer) {
    const char *open = p - 1, *first = deepx_skip_blanks(p, end);
    const bool none = closer ? first < end && *first == closer
                             : first == end || begins(first, end, "->") || begins(first, end, "//");
    if (none) return first + (closer != 0);
    for (;;) {
        extent has = { false, false };
        const char *stop = parameter_end(w, p, end, closer, &has);
        if (!stop) return NULL;
        if (stop == end && closer) {
            deepx_error(w, open, XIR_E_SYNTAX, "the bracket '(' is not closed");
            return NULL;
        }
        slots->odd |= has.odd;
        if (!read_slot(w, slots, deepx_trim(p, stop), has.holds)) return NULL;
        if (stop == end || *stop != ',') return stop + (closer != 0);
        p = stop + 1;
    }
}

bool deepx_is_value(xir_str text) {
    deepx_place none = { .quiet = true };
    extent ignored = { false, false };
    const char *end = text.data + text.size;
    if (deepx_is_tensor_name(text)) return parameter_end(&none, text.data, end, ')', &ignored) == end;
    bool simple = text.size && !deepx_is_blank(*text.data) && !deepx_is_blank(end[-1]);
    for (size_t i = 0; i < text.size; i++) simple &= (unsigned char)text.data[i] >= ' ' || text.data[i] == '\t';
    return simple && parameter_end(&none, text.data, end, ')', &ignored) == end;
}

/* ---- the line -------------------------------------------------------------------------------------------------- */

static const char *read_name(deepx_place *w, const char *p, const char *end, xir_str *out) {
    const char *start = p;
    while (p < end && (deepx_is_letter(*p) || is_digit(*p) || (*p == '.' && p > start))) p++;
    *out = (xir_str){ start, (size_t)(p - start) };
    if (p < end && *p == '@' && p > start) {
        deepx_error(w, p, XIR_E_UNSUPPORTED, "'%.*s@' is the spelling of February 2025, which is not read: expected "
                    "'%.*s(type<precision>:value, ...)->(...)'", CLIP(*out), CLIP(*out));
        return NULL;
    }
    const bool ends = p == end || deepx_is_blank(*p) || *p == '(' || begins(p, end, "->");
    if (p > start && ends) return p;
    const xir_str rest = { p, (size_t)(end - p) };
    deepx_error(w, p, XIR_E_SYNTAX, "expected %s, found '%.*s'",
                p == start ? "the name of a function" : "a blank or '(' after the name", CLIP_TO(rest, 20));
    return NULL;
}

/* Warns of text that the live parser does not read as it is written. */
static void warn_of_live(deepx_place *w, xir_str text, const char *arrow, xir_str meta) {
    const char *end = text.data + text.size, *slashes = NULL, *first = NULL;
    for (const char *p = text.data; p + 1 < end && (!slashes || !first); p++) {
        if (!slashes && p[0] == '/' && p[1] == '/') slashes = p;
        if (!first && p[0] == '-' && p[1] == '>') first = p;
    }
    if (slashes && slashes + 2 != meta.data) deepx_warn(w, slashes, "the executor ends the line at this '//'");
    if (first && first != arrow) deepx_warn(w, first, "the executor takes this as the arrow");
}

bool deepx_read_line(deepx_place *w, deepx_slots *slots, xir_str text, deepx_line *out) {
    const char *end = text.data + text.size, *p = deepx_skip_blanks(text.data, end);
    *out = (deepx_line){ .name = { p, 0 } };
    slots->n = 0;
    slots->odd = false;
    if (p > text.data) deepx_warn(w, text.data, "the line begins with a blank: the executor takes the name as empty");
    if (!(p = read_name(w, p, end, &out->name))) return false;
    if (p < end && *p == '\t') deepx_warn(w, p, "a tab follows the name: the executor takes it as part of the name");
    p = deepx_skip_blanks(p, end);
    out->parens = p < end && *p == '(';
    if (!(p = read_slots(w, slots, p + out->parens, end, out->parens ? ')' : '\0'))) return false;
    out->n_args = slots->n;
    p = deepx_skip_blanks(p, end);
    if (!begins(p, end, "->")) {
        const xir_str rest = { p, (size_t)(end - p) };
        if (p == end || begins(p, end, "//"))
            return deepx_error(w, p, XIR_E_SYNTAX, "expected '->' after the parameters, found the end of the line");
        return deepx_error(w, p, XIR_E_SYNTAX, "expected '->' after the parameters, found '%.*s'", CLIP_TO(rest, 20));
    }
    const char *arrow = p;
    p = deepx_skip_blanks(p + 2, end);
    const bool parens = p < end && *p == '(';
    if (!(p = read_slots(w, slots, p + parens, end, parens ? ')' : '\0'))) return false;
    out->n_rets = slots->n - out->n_args;
    out->slots = slots->data;
    p = deepx_skip_blanks(p, end);
    if (p < end && !begins(p, end, "//")) {
        const xir_str rest = { p, (size_t)(end - p) };
        return deepx_error(w, p, XIR_E_SYNTAX, "expected the end of the line or '//', found '%.*s'",
                           CLIP_TO(rest, 20));
    }
    if (p < end) out->meta = (xir_str){ p + 2, (size_t)(end - p) - 2 };
    if (slots->odd) warn_of_live(w, text, arrow, out->meta);
    return !out->meta.data || deepx_check_meta(w, out->meta);
}
