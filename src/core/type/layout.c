/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A layout is its text: letters of N L H W D C I O or '*'. A lower-case letter is followed by its unit, a decimal
 * number from 1 without leading zeros. The functions here walk that text; layouts have few axes. A malformed text is
 * never made into a layout. If a program fills a body with one by hand, the layout ends at the first byte that is
 * not an axis. */
#include "forms.h"
#include "number.h"
#include "types.h"

/* ---- walking ----------------------------------------------------------------------------------------------- */

/* The kind of each byte: every inference walks layouts, so this must be fast. */
enum { UPPER = 1, LOWER = 2 };
static const uint8_t letter_kind[256] = {
    ['N'] = UPPER, ['L'] = UPPER, ['H'] = UPPER, ['W'] = UPPER, ['D'] = UPPER, ['C'] = UPPER, ['I'] = UPPER,
    ['O'] = UPPER,
    ['n'] = LOWER, ['l'] = LOWER, ['h'] = LOWER, ['w'] = LOWER, ['d'] = LOWER, ['c'] = LOWER, ['i'] = LOWER,
    ['o'] = LOWER,
    ['*'] = UPPER,
};
bool layout_is_upper(int c) { return c >= 0 && letter_kind[(uint8_t)c] == UPPER; }
bool layout_is_lower(int c) { return c >= 0 && letter_kind[(uint8_t)c] == LOWER; }
bool layout_is_plain(const xir_layout *layout, size_t rank) {
    if (!layout || layout->axes.size != rank) return false;
    size_t i = 0;
    while (i < rank && letter_kind[(uint8_t)layout->axes.data[i]] == UPPER) i++;
    return i == rank;
}
static char other_case(char c) { return c == '*' ? c : (char)(c ^ 0x20); }

/* Reads the next axis of a text. False at the end, and, with the error set, at anything else. */
bool layout_next(form_text *t, layout_axis *out) {
    int c = form_next(t);
    *out = (layout_axis){ .letter = (char)c, .start = t->at };
    if (c < 0) return false;
    if (layout_is_upper(c)) {
        t->at++;
    } else if (layout_is_lower(c)) {
        size_t digits = ++t->at;
        uint64_t unit;
        if (!form_u64(t, "the unit of a lower-case axis", &unit)) return false;
        if (unit < 1 || unit > INT64_MAX) {
            return form_expected(t, XIR_E_BOUNDS, digits, "a unit from 1 to 2^63 - 1");
        }
        out->unit = (int64_t)unit;
    } else {
        return form_expected(t, XIR_E_SYNTAX, t->at, AXIS_LETTER);
    }
    out->size = t->at - out->start;
    return true;
}

form_text layout_walk(const xir_layout *layout) {
    form_text t;
    form_begin(&t, layout ? layout->axes : XIR_STR(""), NULL);
    return t;
}

bool layout_find(const xir_layout *layout, size_t i, layout_axis *out) {
    form_text t = layout_walk(layout);
    while (layout_next(&t, out)) {
        if (i-- == 0) return true;
    }
    return false;
}

/* ---- making ------------------------------------------------------------------------------------------------ */

static const xir_layout *made(object_pool *pool, xir_str axes, form_error *why) {
    xir_layout layout = { .head.cls = pool->ctx->types[CLASS_layout], .axes = axes };
    return (const xir_layout *)form_made(pool, &layout.head, why);
}

const xir_layout *layout_make(object_pool *pool, xir_str axes, size_t base, form_error *why) {
    form_text t;
    layout_axis a;
    form_begin(&t, axes, why);
    while (layout_next(&t, &a)) {}
    if (t.at == axes.size && a.size == 0 && a.start == t.at) return made(pool, axes, why);
    if (why) why->at += base;
    return NULL;
}

const xir_layout *xir_layout_parse(xir_context *ctx, xir_str axes, xir_diags *why) {
    form_error e = { 0 };
    const xir_layout *layout = layout_make(context_pool(ctx), axes, 0, &e);
    if (layout) return layout;
    if (e.status == XIR_E_MEMORY) return out_of_memory(why);
    return refuse(why, e.status, "", LAYOUT_REFUSED, CLIP_TO(axes, 80), e.message, e.at + 1);
}

const xir_layout *layout_default(object_pool *pool, size_t rank) {
    static const char stars[] = "****************";
    if (rank < sizeof stars) return made(pool, (xir_str){ stars, rank }, NULL);
    const xir_allocator *alloc = context_alloc(pool->ctx);
    char *text = mem_new(alloc, rank);
    if (!text) return NULL;
    memset(text, '*', rank);
    const xir_layout *layout = made(pool, (xir_str){ text, rank }, NULL);
    mem_free(alloc, text, rank);
    return layout;
}

const xir_layout *xir_layout_default(xir_context *ctx, size_t rank) {
    return layout_default(context_pool(ctx), rank);
}

static const xir_object *parse(object_pool *pool, const xir_class *cls, xir_str text, form_error *e) {
    form_text t;
    layout_axis a;
    (void)cls;
    if (!form_open(&t, text, "layout", e)) return NULL;
    size_t start = t.at;
    while (form_next(&t) >= 0 && form_next(&t) != ')') {
        if (!layout_next(&t, &a)) return NULL;
    }
    xir_str axes = { text.data + start, t.at - start };
    if (!form_close(&t)) return NULL;
    return (const xir_object *)made(pool, axes, e);
}

static void print(const xir_object *object, buffer *out) {
    xir_str axes = ((const xir_layout *)object)->axes;
    buffer_str(out, "@layout(");
    buffer_put(out, axes.data, axes.size);
    buffer_char(out, ')');
}

const xir_form xir_layout_form = { "layout", print, parse };

/* ---- asking ------------------------------------------------------------------------------------------------ */

xir_str xir_layout_text(const xir_layout *layout) { return layout ? layout->axes : XIR_STR(""); }

/* Letters without their units: every inference needs them, so this walk does nothing else. */
typedef struct letters { const char *at, *end; } letters;

static letters walk_letters(const xir_layout *layout) {
    if (!layout || !layout->axes.size) return (letters){ NULL, NULL };
    return (letters){ layout->axes.data, layout->axes.data + layout->axes.size };
}

static bool next_letter(letters *l, char *out) {
    if (l->at == l->end) return false;
    uint8_t kind = letter_kind[(uint8_t)*l->at];
    if (!kind) return false;
    *out = *l->at++;
    if (kind == UPPER) return true;
    const char *digits = l->at;
    while (l->at < l->end && is_digit(*l->at)) l->at++;
    return l->at > digits;
}

size_t layout_letters(const xir_layout *layout, char *out, size_t room) {
    letters l = walk_letters(layout);
    size_t rank = 0;
    for (char c; next_letter(&l, &c); rank++) {
        if (rank < room) out[rank] = c;
    }
    return rank;
}

size_t xir_layout_rank(const xir_layout *layout) {
    const xir_str text = xir_layout_text(layout);
    size_t rank = 0;
    while (rank < text.size && layout_is_upper(text.data[rank])) rank++;
    return rank == text.size ? rank : layout_letters(layout, NULL, 0);   // tiles have units
}

char xir_layout_axis(const xir_layout *layout, size_t i) {
    letters l = walk_letters(layout);
    for (char c; next_letter(&l, &c);) {
        if (i-- == 0) return c;
    }
    return '\0';
}

int64_t xir_layout_unit(const xir_layout *layout, size_t i) {
    layout_axis a;
    return layout_find(layout, i, &a) ? a.unit : 0;
}

int64_t xir_layout_index(const xir_layout *layout, char letter) {
    /* Up to the first number of elements, which tiles have, axes are bytes. */
    const xir_str text = xir_layout_text(layout);
    for (size_t at = 0; at < text.size && (text.data[at] == '*' || text.data[at] >= 'A'); at++) {
        if (text.data[at] == letter) return (int64_t)at;
        if (at + 1 == text.size) return -1;
    }
    letters l = walk_letters(layout);
    int64_t i = 0;
    for (char c; next_letter(&l, &c); i++) {
        if (c == letter) return i;
    }
    return -1;
}

bool xir_layout_has(const xir_layout *layout, char letter) { return xir_layout_index(layout, letter) >= 0; }

/* Lower-case letters are the only bytes of a layout that have both of these bits. Four bytes are seen at once, since
 * every inference asks this. */
bool xir_layout_is_layouted(const xir_layout *layout) {
    xir_str text = xir_layout_text(layout);
    uint32_t found = 0, word;
    for (; text.size >= sizeof word; text.size -= sizeof word, text.data += sizeof word) {
        memcpy(&word, text.data, sizeof word);
        found |= word & word << 1 & 0x40404040u;
    }
    for (size_t i = 0; i < text.size; i++) found |= (text.data[i] & 0x60) == 0x60;
    return found;
}

/* ---- rules ------------------------------------------------------------------------------------------------- */

/* Returns true if no letter occurs twice and every unit has its axis. Each letter has a bit: all of them differ in
 * their last five bits. */
static bool is_faultless(const xir_layout *layout) {
    letters l = walk_letters(layout);
    uint32_t upper = 0, lower = 0;
    for (char c; next_letter(&l, &c);) {
        if (c == '*') continue;
        uint32_t bit = UINT32_C(1) << (c & 0x1f), *seen = letter_kind[(uint8_t)c] == LOWER ? &lower : &upper;
        if (*seen & bit) return false;
        *seen |= bit;
    }
    return !(lower & ~upper);
}

void layout_faults(const xir_layout *layout, fault_sink *sink) {
    if (is_faultless(layout)) return;
    form_text t = layout_walk(layout);
    layout_axis a;
    size_t seen[128] = { 0 };   /* 1 + the first index of a letter */
    for (size_t i = 0; layout_next(&t, &a); i++) {
        size_t *first = &seen[a.letter & 0x7f];
        if (*first && a.letter != '*') {
            fault(sink, "layout", "axes %zu and %zu are both %c, expected each letter once", *first - 1, i,
                  a.letter);
        }
        if (!*first) *first = i + 1;
    }
    t = layout_walk(layout);
    for (size_t i = 0; layout_next(&t, &a); i++) {
        if (a.unit && !seen[other_case(a.letter) & 0x7f]) {
            fault(sink, "layout", "axis %zu is the unit %c%lld, expected an axis %c with it, found none", i,
                  a.letter, (long long)a.unit, other_case(a.letter));
        }
    }
}

xir_status xir_layout_object_check(xir_infer *at) {
    const xir_layout *layout = xir_infer_attrs(at);
    form_error e = { 0 };
    form_text t;
    layout_axis a;
    form_begin(&t, layout->axes, &e);
    while (layout_next(&t, &a)) {}
    if (!e.status) return XIR_OK;
    return xir_infer_fail(at, e.status, "axes", "%s, at character %zu", e.message, e.at + 1);
}

/* ---- step by step ------------------------------------------------------------------------------------------ */

xir_layout_steps xir_layout_start(void) { return (xir_layout_steps){ .size = 0 }; }

void xir_layout_put(xir_layout_steps *steps, char letter, int64_t count) {
    char piece[sizeof steps->text];
    size_t room = sizeof steps->text - steps->size, size = 0;
    if (steps->failed || count < 1 || !(layout_is_upper(letter) || layout_is_lower(letter))) {
        steps->failed = true;
        return;
    }
    if (layout_is_upper(letter)) {
        if ((uint64_t)count <= room) memset(piece, letter, size = (size_t)count);
    } else if (room >= 20) {   /* enough for a letter and the longest number */
        piece[0] = letter;
        size = 1 + number_put_i64(piece + 1, count);
    }
    if (size == 0) {
        steps->failed = true;
        return;
    }
    memcpy(steps->text + steps->size, piece, size);
    steps->size += (uint32_t)size;
}

const xir_layout *xir_layout_finish(xir_context *ctx, const xir_layout_steps *steps, xir_diags *why) {
    if (!steps->failed) return xir_layout_parse(ctx, (xir_str){ steps->text, steps->size }, why);
    xir_str good = { steps->text, steps->size };
    return refuse(why, XIR_E_INVALID, "", "layout steps: expected axis letters with numbers of at least 1, up to %zu "
                  "characters in all, found others after '%.*s'", sizeof steps->text, CLIP_TO(good, 80));
}
