/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A whole text, line by line. A line is a call or a definition: a definition names its parameters, and says of which
 * types they may be. What fits both is taken as the lines before it are. */
#include "deepx/pattern.h"
#include "task.h"
#include "utf8.h"

typedef enum likeness { LIKE_CALL, LIKE_DEFINITION, LIKE_BOTH } likeness;

static bool is_formal(xir_str value) {
    if (!value.size || is_digit(value.data[0])) return false;
    for (size_t i = 0; i < value.size; i++)
        if (!deepx_is(value.data[i], DEEPX_LETTER | DEEPX_DIGIT)) return false;
    return !deepx_is_literal(value);
}

static likeness likeness_of(const deepx_line *line) {
    const size_t n = line->n_args + line->n_rets;
    bool typed = false, named = false, alternatives = false;
    for (size_t i = 0; i < n; i++) {
        const deepx_slot *slot = &line->slots[i];
        if (!is_formal(slot->value)) return LIKE_CALL;
        typed |= slot->type.size != 0;
        named |= slot->named;
        alternatives |= slot->is.alternatives;
    }
    return !typed ? LIKE_CALL : named || alternatives ? LIKE_DEFINITION : LIKE_BOTH;
}

/* The next line: *whole is without its end, *text also without a carriage return. */
static bool next_line(const char **p, const char *end, xir_str *whole, xir_str *text) {
    if (*p == end) return false;
    const char *feed = memchr(*p, '\n', (size_t)(end - *p)), *stop = feed ? feed : end;
    *whole = (xir_str){ *p, (size_t)(stop - *p) };
    *text = *whole;
    if (text->size && text->data[text->size - 1] == '\r') text->size--;
    *p = feed ? feed + 1 : end;
    return true;
}

/* Finds the kind of the first line that fits only one of both. */
static bool begins_with_definitions(deepx_place *w, const xir_allocator *alloc, xir_str all) {
    deepx_place quiet = { .why = w->why, .text = all.data, .line = all.data, .quiet = true };
    deepx_slots slots = { .alloc = alloc };
    const char *p = all.data, *end = p + all.size;
    bool found = false, result = false, any = false, has_any = false;
    xir_str whole, text;
    deepx_line line;
    while (!found && quiet.status != XIR_E_MEMORY && next_line(&p, end, &whole, &text)) {
        const bool skipped = deepx_is_passed_over(text) || deepx_is_block(text);
        if (skipped || !deepx_read_line(&quiet, &slots, text, &line)) continue;
        const likeness like = likeness_of(&line);
        found = like != LIKE_BOTH;
        result = like == LIKE_DEFINITION;
        for (size_t i = 0; !has_any && i < line.n_args + line.n_rets; i++) any |= line.slots[i].is.set;
        has_any = true;
    }
    deepx_slots_free(&slots);
    if (quiet.status == XIR_E_MEMORY) w->status = XIR_E_MEMORY;
    return found ? result : any;
}

enum { BLOCK = 64 };

/* Passes over blocks of bytes that are all printable ASCII or line feeds. A block is tested without a branch, which a
 * compiler does with a few wide instructions. */
static const char *skip_plain(const char *p, const char *end) {
    for (; end - p >= BLOCK; p += BLOCK) {
        uint8_t odd = 0;
        for (size_t i = 0; i < BLOCK; i++) odd |= (uint8_t)(((signed char)p[i] < ' ') & (p[i] != '\n'));
        if (odd) break;
    }
    return p;
}

/* Length of the character at p; 0 if it is not allowed in a line. */
static size_t character_size(const char *p, const char *end) {
    const unsigned char c = (unsigned char)*p;
    if (c >= 0x80) return utf8_length(p, end);
    return c >= ' ' || c == '\t' || c == '\n' || (c == '\r' && (p + 1 == end || p[1] == '\n'));
}

/* The first byte that a line must not contain: invalid UTF-8 or a control character. NULL if the line is valid. */
static const char *wrong_byte(xir_str text) {
    const char *p = text.data, *end = p + text.size, *asked = p;
    while ((p = skip_plain(p, end - p > TASK_EACH ? p + TASK_EACH : end)) < end) {
        if (p - asked >= TASK_EACH) {
            asked = p;
            if (!task_worked(TASK_EACH)) return NULL;    /* the first line ends the walk */
        }
        const char *stop = end - p > BLOCK ? p + BLOCK : end;
        while (p < stop) {
            const size_t n = character_size(p, end);
            if (!n) return p;
            p += n;
        }
    }
    return NULL;
}

static bool check_bytes(deepx_place *w, xir_str text) {
    const char *wrong = wrong_byte(text);
    if (!wrong) return true;
    if (!*wrong) return deepx_error(w, wrong, XIR_E_SYNTAX, "the text has a byte 0");
    return deepx_error(w, wrong, XIR_E_SYNTAX, *wrong < ' ' && *wrong > 0 ? "the line has a control character"
                                                                          : "the text is not UTF-8");
}

typedef struct walk {
    deepx_place   *w;
    deepx_slots    slots;
    deepx_patterns patterns;
    const char    *p, *end;
    deepx_visit   *visit;
    void          *user;
    bool           sound, defining, as_calls, carriage;
} walk;

static bool visit_block(walk *k, xir_str whole) {
    const char *after;
    deepx_line line = { .name = whole };
    if (!deepx_read_block(k->w, &k->slots, whole.data, &after, k->end, NULL)) {
        const char *close = after < k->end ? memchr(after, '}', (size_t)(k->end - after)) : NULL;
        after = close ? close : k->end;
        line.name.size = 0;
    }
    if (!k->sound && !check_bytes(k->w, (xir_str){ whole.data, (size_t)(after - whole.data) })) line.name.size = 0;
    const char *feed = after < k->end ? memchr(after, '\n', (size_t)(k->end - after)) : NULL;
    const char *stop = feed ? feed : k->end;
    const xir_str rest = deepx_trim(after, stop);
    bool clean = !rest.size || deepx_is_passed_over(rest) || *rest.data == '\r' || !line.name.size;
    if (!clean)
        deepx_error(k->w, rest.data, XIR_E_SYNTAX, "expected the end of the line after '}', found '%.*s'", CLIP(rest));
    for (const char *c = whole.data + whole.size; c < k->end && c < (feed ? feed : k->end); c++) {
        if (*c != '\n' || c + 1 <= k->w->line) continue;
        k->w->number++;
        k->w->line = c + 1;
    }
    k->p = feed ? feed + 1 : k->end;
    if (!clean || !line.name.size) return k->w->status != XIR_E_MEMORY;
    return k->visit(k->user, DEEPX_BLOCK, (xir_str){ whole.data, (size_t)(after - whole.data) }, &line);
}

bool deepx_no_memory(deepx_place *w) {
    if (w->status != XIR_E_MEMORY) diag_memory(w->why);
    w->status = XIR_E_MEMORY;
    return false;
}

/* Reads a line that fits no pattern. */
static bool read_new(walk *k, xir_str text, deepx_line *out) {
    const uint64_t said = k->w->said;
    if (!deepx_read_line(k->w, &k->slots, text, out)) return false;
    return k->w->said > said || deepx_remember_line(&k->patterns, text, out) || deepx_no_memory(k->w);
}

static bool visit_line(walk *k, xir_str whole, xir_str text) {
    deepx_line line;
    if (!k->sound && !check_bytes(k->w, whole)) return true;
    const bool alike = deepx_read_alike(&k->patterns, text, &line);
    if (!alike && deepx_is_passed_over(text)) return true;
    if (!alike && deepx_is_block(text)) return visit_block(k, whole);
    if (whole.size > text.size && !k->carriage) {
        k->carriage = true;
        deepx_warn(k->w, text.data + text.size, "the line ends with a carriage return: the executor takes it as part "
                   "of the last word");
    }
    if (!alike && !read_new(k, text, &line)) return k->w->status != XIR_E_MEMORY;
    const likeness like = likeness_of(&line);
    if (like != LIKE_BOTH) k->defining = like == LIKE_DEFINITION;
    return k->visit(k->user, k->defining && !k->as_calls ? DEEPX_DEFINITION : DEEPX_CALL, whole, &line);
}

bool deepx_walk(deepx_place *w, const xir_allocator *alloc, xir_str text, bool as_calls, deepx_visit *visit,
                void *user) {
    walk k = { .w = w, .slots = { .alloc = alloc }, .patterns = { .alloc = alloc }, .p = text.data,
               .end = text.data + text.size, .visit = visit, .user = user, .as_calls = as_calls };
    xir_str whole, line;
    bool ok = true;
    w->text = w->line = text.data;
    w->number = 0;
    k.sound = !wrong_byte(text);
    if (utf8_mark(text.data, text.size)) {
        w->number = 1;
        deepx_error(w, text.data, XIR_E_SYNTAX, "the text begins with a byte order mark");
        w->number = 0;
        k.p += 3;
    }
    k.defining = begins_with_definitions(w, alloc, text);
    while (ok && w->status != XIR_E_MEMORY && next_line(&k.p, k.end, &whole, &line)) {
        w->line = whole.data;
        w->number++;
        ok = visit_line(&k, whole, line) && (task_at(k.p) || deepx_no_memory(w));
    }
    deepx_slots_free(&k.slots);
    deepx_patterns_free(&k.patterns);
    return ok && w->status != XIR_E_MEMORY;
}
