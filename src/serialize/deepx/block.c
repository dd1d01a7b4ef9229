/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The documented blocks: a definition with a body, over several lines.
 *
 *     deepxir mean(A: tensor<?1x?2xf32>, axis: list<i32>) -> (m: tensor<?1xf32>) {
 *         sum(A, axis, false) -> (m)
 *     }
 */
#include "deepx/blocks.h"

typedef struct block {
    deepx_place *w;
    const char  *p, *end;
    xir_str      name;
    deepx_block *out;       /* NULL: the block is only checked */
    const xir_allocator *alloc;
} block;

static bool is_word(char c) { return deepx_is_letter(c) || is_digit(c); }

static xir_str take_word(block *b) {
    const char *start = b->p;
    while (b->p < b->end && (is_word(*b->p) || (*b->p == '.' && b->p > start))) b->p++;
    return (xir_str){ start, (size_t)(b->p - start) };
}

/* Blanks, line ends and comments. */
static void skip(block *b) {
    for (;;) {
        while (b->p < b->end && (deepx_is_blank(*b->p) || *b->p == '\r')) b->p++;
        if (b->end - b->p >= 2 && b->p[0] == '/' && b->p[1] == '/') {
            while (b->p < b->end && *b->p != '\n') b->p++;
        }
        if (b->p == b->end || *b->p != '\n') return;
        b->w->line = ++b->p;
        b->w->number++;
    }
}

static xir_str rest(const block *b) {
    const char *feed = b->p < b->end ? memchr(b->p, '\n', (size_t)(b->end - b->p)) : NULL;
    return (xir_str){ b->p, (size_t)((feed ? feed : b->end) - b->p) };
}

static bool expect(block *b, const char *word) {
    const size_t n = strlen(word);
    skip(b);
    if ((size_t)(b->end - b->p) >= n && memcmp(b->p, word, n) == 0) {
        b->p += n;
        return true;
    }
    if (b->p == b->end)
        return deepx_error(b->w, b->p, XIR_E_SYNTAX, "expected '%s', found the end of the text", word);
    return deepx_error(b->w, b->p, XIR_E_SYNTAX, "expected '%s', found '%.*s'", word, CLIP_TO(rest(b), 20));
}

bool deepx_is_block(xir_str text) {
    static const struct { const char *word; size_t size; } words[] = {
        { "deepxir", 7 }, { "function", 8 }, { "func", 4 },
    };
    const char *end = text.data + text.size, *p = deepx_skip_blanks(text.data, end);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const size_t n = words[i].size;
        const bool begins = (size_t)(end - p) > n + 1 && deepx_is_blank(p[n]) && memcmp(p, words[i].word, n) == 0;
        const char *name = begins ? deepx_skip_blanks(p + n, end) : end, *after = name;
        while (after < end && (is_word(*after) || *after == '.')) after++;
        if (after > name && deepx_skip_blanks(after, end) < end && *deepx_skip_blanks(after, end) == '(') return true;
    }
    return false;
}

/* ---- types ----------------------------------------------------------------------------------------------------- */

static bool is_element(xir_str word) {
    static const char *const words[] = { "f16", "f32", "f64", "bf16", "bf8", "i8", "i16", "i32", "i64", "u8", "bool" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (xir_str_equal(word, xir_str_of(words[i]))) return true;
    return false;
}

/* "?1x3xf32": dims, then an element. */
static bool read_shape(block *b) {
    for (;;) {
        const char *start = b->p;
        if (b->p < b->end && *b->p == '?') b->p++;
        while (b->p < b->end && is_digit(*b->p)) b->p++;
        if (b->p == start) break;
        if (b->p == b->end || *b->p != 'x')
            return deepx_error(b->w, b->p, XIR_E_SYNTAX, "expected 'x' after a dim, found '%.*s'",
                               CLIP_TO(rest(b), 20));
        b->p++;
    }
    const char *start = b->p;
    const xir_str word = take_word(b);
    if (is_element(word)) return true;
    return deepx_error(b->w, start, XIR_E_SYNTAX, "'%.*s' is not an element type", CLIP(word));
}

static bool read_type(block *b, unsigned depth) {
    enum { DEEPEST = 32 };
    do {
        skip(b);
        const char *start = b->p;
        const xir_str word = take_word(b);
        const bool list = xir_str_equal(word, XIR_STR("list")), tensor = xir_str_equal(word, XIR_STR("tensor"));
        if (depth == DEEPEST) return deepx_error(b->w, start, XIR_E_LIMIT, "more than %d types in each other", DEEPEST);
        if (!list && !tensor && !is_element(word))
            return deepx_error(b->w, start, XIR_E_SYNTAX, "'%.*s' is not a type",
                               CLIP_TO(word.size ? word : rest(b), 20));
        if (list && !(expect(b, "<") && read_type(b, depth + 1) && expect(b, ">"))) return false;
        if (!tensor || b->p == b->end || *b->p != '<') continue;
        b->p++;
        if (!read_shape(b) || !expect(b, ">")) return false;
    } while (b->p < b->end && *b->p == '|' && b->p++);
    return true;
}

/* ---- the head -------------------------------------------------------------------------------------------------- */

static bool keep_formal(block *b, xir_str name, xir_str type) {
    deepx_block *o = b->out;
    if (!o) return true;
    if (!mem_reserve(b->alloc, (void **)&o->formals, &o->formal_room, o->n_formals + 1, sizeof *o->formals))
        return deepx_no_memory(b->w);
    o->formals[o->n_formals++] = (deepx_formal){ name, type };
    return true;
}

static bool keep_line(block *b, xir_str text) {
    deepx_block *o = b->out;
    if (!o) return true;
    if (!mem_reserve(b->alloc, (void **)&o->lines, &o->line_room, o->n_lines + 1, sizeof *o->lines))
        return deepx_no_memory(b->w);
    o->lines[o->n_lines++] = (deepx_block_line){ .text = text };
    return true;
}

static bool again(block *b, text_table *names, xir_str name) {
    uint32_t *known = text_table_add(names, name, 0);
    if (!known) return !deepx_no_memory(b->w);
    if (!(*known)++) return false;
    deepx_error(b->w, name.data, XIR_E_EXISTS, "the parameter '%.*s' appears twice", CLIP(name));
    return true;
}

/* "(A: type, …)" */
static bool read_parameters(block *b, text_table *names) {
    if (!expect(b, "(")) return false;
    skip(b);
    if (b->p < b->end && *b->p == ')') return ++b->p;
    for (;;) {
        skip(b);
        const xir_str name = take_word(b);
        if (!name.size)
            return deepx_error(b->w, b->p, XIR_E_SYNTAX, "expected the name of a parameter, found '%.*s'",
                               CLIP_TO(rest(b), 20));
        if (again(b, names, name) || !expect(b, ":")) return false;
        skip(b);
        const char *type = b->p;
        if (!read_type(b, 0) || !keep_formal(b, name, deepx_trim(type, b->p))) return false;
        skip(b);
        if (b->p < b->end && *b->p == ',') {
            b->p++;
            continue;
        }
        return expect(b, ")");
    }
}

static bool read_head(block *b, const xir_allocator *alloc) {
    text_table names;
    (void)take_word(b);
    skip(b);
    b->name = take_word(b);
    text_table_init(&names, alloc);
    bool ok = read_parameters(b, &names);
    if (ok && b->out) b->out->n_params = b->out->n_formals;
    ok = ok && expect(b, "->") && read_parameters(b, &names) && expect(b, "{");
    if (b->out) b->out->name = b->name;
    text_table_free(&names);
    return ok;
}

/* ---- the body -------------------------------------------------------------------------------------------------- */

/* Returns true if a "//" begins a comment, and not metadata: its first word is not key=value. */
static bool is_comment(const char *p, const char *end) {
    if (end - p < 2 || p[0] != '/' || p[1] != '/') return false;
    for (p = deepx_skip_blanks(p + 2, end); p < end && *p != '\n' && !deepx_is_blank(*p); p++)
        if (*p == '=') return false;
    return true;
}

/* Returns an instruction of the body, to its end: at the end of its line, before a comment, or at '}'. */
static xir_str statement(const block *b) {
    const char *p = b->p;
    size_t depth = 0;
    for (; p < b->end && *p != '\n' && *p != '\r'; p++) {
        if (strchr("([{", *p)) depth++;
        else if (strchr(")]}", *p) && depth) depth--;
        else if (*p == '}' || (!depth && is_comment(p, b->end))) break;
    }
    return deepx_trim(b->p, p);
}

static bool read_body(block *b, deepx_slots *slots) {
    deepx_line line;
    bool ok = true;
    for (;;) {
        skip(b);
        if (b->p == b->end)
            return deepx_error(b->w, b->p, XIR_E_SYNTAX, "the block '%.*s' is not closed", CLIP(b->name));
        if (*b->p == '}') return ++b->p && ok;
        const xir_str text = statement(b);
        if (deepx_is_passed_over(text)) {
            b->p = text.data + (text.size ? text.size : 1);
            continue;
        }
        b->p = text.data + text.size;
        if (!deepx_read_line(b->w, slots, text, &line)) {
            ok = false;
            if (b->w->status == XIR_E_MEMORY) return false;
        } else if (xir_str_equal(line.name, b->name)) {
            ok = deepx_error(b->w, text.data, XIR_E_UNSUPPORTED, "the block '%.*s' calls itself", CLIP(b->name));
        } else if (!keep_line(b, text)) {
            return false;
        }
    }
}

bool deepx_read_block(deepx_place *w, deepx_slots *slots, const char *p, const char **end, const char *stop,
                      deepx_block *out) {
    block b = { .w = w, .p = deepx_skip_blanks(p, stop), .end = stop, .out = out, .alloc = slots->alloc };
    const bool ok = read_head(&b, slots->alloc) && read_body(&b, slots);
    *end = b.p;
    return ok;
}
