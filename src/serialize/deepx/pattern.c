/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* See pattern.h. */
#include "deepx/pattern.h"

/* The kinds of text that a hole matches. Holes match greedily and never match nothing. */
typedef enum hole_kind {
    HOLE_PLAIN,     /* the name of a tensor, a number or a word                */
    HOLE_LIST,      /* such texts apart by blanks, in []                       */
    HOLE_INTEGER,   /* of metadata: so few digits that it fits into 32 bits     */
    HOLE_TIME,      /* of metadata: digits, with or without a point            */
    HOLE_WORD       /* of metadata: the value of a key that is not known       */
} hole_kind;

enum { MOST_PATTERNS = 256, LONGEST_LIST = 8, MOST_DIGITS = 9, MOST_MISSES = 1000, BEGIN = sizeof(uint64_t) };

void deepx_patterns_free(deepx_patterns *p) { mem_free(p->alloc, p->all, p->room * sizeof *p->all); }

/* ---- a line that fits ------------------------------------------------------------------------------------------ */

static const char *plain_end(const char *p, const char *end) {
    while (p < end && !deepx_is(*p, DEEPX_NO_NAME | DEEPX_NO_HOLE)) p++;
    return p;
}

static const char *list_end(const char *p, const char *end) {
    const char *start = p;
    if (p == end || *p != '[') return start;
    for (p++; p < end && (*p == ' ' || !deepx_is(*p, DEEPX_NO_NAME | DEEPX_NO_HOLE)); p++) continue;
    return p < end && *p == ']' ? p + 1 : start;
}

static const char *digits_end(const char *p, const char *end) {
    while (p < end && is_digit(*p)) p++;
    return p;
}

static const char *time_end(const char *p, const char *end) {
    const char *stop = digits_end(p, end);
    return stop > p && stop < end && *stop == '.' ? digits_end(stop + 1, end) : stop;
}

static const char *word_end(const char *p, const char *end) {
    while (p < end && !deepx_is_space(*p)) p++;
    return p;
}

static const char *hole_end(unsigned kind, const char *p, const char *end) {
    switch ((hole_kind)kind) {
    case HOLE_PLAIN:   return plain_end(p, end);
    case HOLE_LIST:    return list_end(p, end);
    case HOLE_INTEGER: return digits_end(p, end - p > MOST_DIGITS ? p + MOST_DIGITS : end);
    case HOLE_TIME:    return time_end(p, end);
    case HOLE_WORD:    return word_end(p, end);
    }
    return p;
}

/* The type precedes the value by the same offset as in the pattern's line. */
static void fill_slot(deepx_slot *slot, const char *value, size_t size) {
    const size_t before = slot->whole.size - slot->value.size;
    slot->type.data = slot->whole.data = value - before;
    slot->whole.size = before + size;
    slot->value = (xir_str){ value, size };
}

static bool fits(deepx_pattern *m, xir_str line) {
    const char *p = line.data, *end = p + line.size, *text = m->text;
    const size_t n_slots = (size_t)m->n_args + m->n_rets;
    for (size_t i = 0; i < m->n_holes; i++) {
        const deepx_hole hole = m->holes[i];
        if ((size_t)(end - p) < hole.before || memcmp(p, text, hole.before) != 0) return false;
        p += hole.before;
        text += hole.before;
        const char *stop = hole_end(hole.kind, p, end);
        if (stop == p) return false;
        if (i < n_slots) fill_slot(&m->slots[i], p, (size_t)(stop - p));
        p = stop;
    }
    return (size_t)(end - p) == m->last && memcmp(p, text, m->last) == 0;
}

static const char *after_slots(const char *line, const deepx_slot *slots, size_t n) {
    return n ? slots[n - 1].value.data + slots[n - 1].value.size : line;
}

static void make_line(deepx_pattern *m, xir_str text, size_t i, deepx_line *out) {
    *out = (deepx_line){ .name = { text.data, m->name }, .slots = m->slots, .n_args = m->n_args, .n_rets = m->n_rets,
                         .parens = m->parens, .pattern = i };
    if (!m->to_meta) return;
    const char *meta = after_slots(text.data, m->slots, out->n_args + out->n_rets) + m->to_meta;
    out->meta = (xir_str){ meta, (size_t)(text.data + text.size - meta) };
}

/* The list of the patterns that may begin so. */
static size_t *head_of(deepx_patterns *p, uint64_t begin) {
    return &p->heads[hash_mix(begin, UINT64_C(0x9E3779B97F4A7C15)) % DEEPX_PATTERN_HEADS];
}

/* Comparing costs more than it saves in a text whose lines seldom fit: then all are read by the grammar. */
static bool is_of_use(const deepx_patterns *p) { return p->misses <= MOST_MISSES + p->hits; }

bool deepx_read_alike(deepx_patterns *p, xir_str text, deepx_line *out) {
    if (text.size < BEGIN || !is_of_use(p)) return false;
    const uint64_t begin = load8(text.data);
    size_t *head = head_of(p, begin), *link = head;
    for (size_t i; (i = *link); link = &p->all[i - 1].next) {
        deepx_pattern *m = &p->all[i - 1];
        if (m->begin != begin || !fits(m, text)) continue;
        *link = m->next;   /* the next line of this head is likely to fit it too: it becomes the first of its list */
        m->next = *head;
        *head = i;
        make_line(m, text, i, out);
        p->hits++;
        return true;
    }
    p->misses += *head != 0;
    return false;
}

/* ---- a line that becomes a pattern ------------------------------------------------------------------------------ */

/* A pattern that is being made. `at`: the end of the text copied so far. */
typedef struct making { deepx_pattern *m; const char *at, *end; size_t size; } making;

static bool add_text(making *k, const char *to, uint8_t *size) {
    const size_t n = (size_t)(to - k->at);
    if (n > DEEPX_PATTERN_TEXT - k->size) return false;
    memcpy(k->m->text + k->size, k->at, n);
    *size = (uint8_t)n;
    k->size += n;
    k->at = to;
    return true;
}

static bool add_hole(making *k, xir_str value, hole_kind kind) {
    deepx_pattern *m = k->m;
    const char *stop = value.data + value.size;
    if (m->n_holes == DEEPX_PATTERN_HOLES || !value.size || hole_end(kind, value.data, k->end) != stop) return false;
    deepx_hole *hole = &m->holes[m->n_holes++];
    hole->kind = (uint8_t)kind;
    if (!add_text(k, value.data, &hole->before)) return false;
    k->at = stop;
    return true;
}

/* A type of one category says what the slot is, whatever its value. */
static bool says_what_it_is(const deepx_slot *slot) {
    const unsigned category = slot->is.category;
    return slot->type.size && !slot->named && !(category & (category - 1));
}

static bool can_be_pattern(xir_str text, const deepx_line *line) {
    const size_t n = line->n_args + line->n_rets;
    bool can = text.size >= BEGIN && n <= DEEPX_PATTERN_SLOTS && line->name.size <= DEEPX_PATTERN_TEXT;
    for (size_t i = 0; can && i < n; i++) can = says_what_it_is(&line->slots[i]);
    return can;
}

static bool add_slot(making *k, const deepx_slot *slot) {
    return add_hole(k, slot->value, *slot->value.data == '[' ? HOLE_LIST : HOLE_PLAIN);
}

static bool add_meta(making *k, xir_str meta) {
    static const hole_kind kinds[] = {
        [DEEPX_META_INTEGER] = HOLE_INTEGER, [DEEPX_META_TIME] = HOLE_TIME, [DEEPX_META_UNKNOWN] = HOLE_WORD,
    };
    deepx_meta_kind kind;
    xir_str value;
    while (meta.size && deepx_next_meta(&meta, &value, &kind))
        if (kind != DEEPX_META_TEXT && !add_hole(k, value, kinds[kind])) return false;
    return true;
}

static bool make_pattern(deepx_pattern *m, xir_str text, const deepx_line *line) {
    const size_t n = line->n_args + line->n_rets;
    making k = { .m = m, .at = text.data, .end = text.data + text.size };
    *m = (deepx_pattern){ .begin = load8(text.data), .n_args = (uint8_t)line->n_args, .n_rets = (uint8_t)line->n_rets,
                          .name = (uint8_t)line->name.size, .parens = line->parens };
    for (size_t i = 0; i < n; i++) {
        if (!add_slot(&k, &line->slots[i])) return false;
        m->slots[i] = line->slots[i];
    }
    const size_t to_meta = line->meta.data ? (size_t)(line->meta.data - k.at) : 0;
    m->to_meta = (uint8_t)to_meta;
    return to_meta <= UINT8_MAX && add_meta(&k, line->meta) && add_text(&k, k.end, &m->last) &&
           (m->n_holes ? m->holes[0].before : m->last) >= BEGIN;
}

static size_t list_length(const deepx_patterns *p, size_t head) {
    size_t n = 0;
    for (; head; head = p->all[head - 1].next) n++;
    return n;
}

bool deepx_remember_line(deepx_patterns *p, xir_str text, deepx_line *line) {
    deepx_pattern made;
    if (p->n == MOST_PATTERNS || !is_of_use(p) || !can_be_pattern(text, line)) return true;
    size_t *head = head_of(p, load8(text.data));
    if (list_length(p, *head) == LONGEST_LIST || !make_pattern(&made, text, line)) return true;
    if (!mem_reserve(p->alloc, (void **)&p->all, &p->room, p->n + 1, sizeof *p->all)) return false;
    made.next = *head;
    p->all[p->n++] = made;
    *head = line->pattern = p->n;
    return true;
}
