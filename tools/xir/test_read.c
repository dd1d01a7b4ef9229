/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The files of xir test. A case begins with a comment that says what is done, and ends before the next one:
 *
 *     // opt: fold{limit=1M},dce        or  // check  or  // infer  or  // convert: FORMAT
 *     the network; the line "xir 1" may be left out
 *     // ----
 *     the network that is expected
 *
 * Comments with words of their own: "// exact", "// stable", "// target: NAME", "// bind: batch=4", "// no findings". A
 * finding is expected by "// error: words" or "// warning: words" after the line that it is about, and by "// ^" under
 * its place, from the third column on. "// plugin: FILE" before the first case is about all. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "test.h"

/* ---- lines ----------------------------------------------------------------------------------------------- */

typedef struct line { const char *begin, *end; size_t number; } line;

/* The line at `p`, without its end. */
static line line_at(const char *p, const char *end, size_t number) {
    const char *stop = memchr(p, '\n', (size_t)(end - p));
    return (line){ p, stop ? stop : end, number };
}

/* Returns the text after "// WORD" in a line, without blanks at its ends; data NULL: it is another line. */
static xir_str after(const line *l, const char *word) {
    const size_t n = strlen(word);
    const char *p = l->begin, *end = l->end;
    if (end - p < 3 || memcmp(p, "// ", 3) != 0) return (xir_str){ NULL, 0 };
    for (p += 3; p < end && *p == ' '; p++) {}
    if ((size_t)(end - p) < n || memcmp(p, word, n) != 0) return (xir_str){ NULL, 0 };
    for (p += n; p < end && *p == ' '; p++) {}
    while (end > p && (end[-1] == ' ' || end[-1] == '\r')) end--;
    return (xir_str){ p, (size_t)(end - p) };
}

static bool is_whole(const line *l, const char *word) {
    const xir_str rest = after(l, word);
    return rest.data && rest.size == 0;
}

/* ---- cases ------------------------------------------------------------------------------------------------ */

static bool begins_case(const line *l, test_kind *kind, xir_str *words) {
    static const struct { const char *word; test_kind kind; bool more; } heads[] = {
        { "opt:", TEST_OPT, true }, { "check", TEST_CHECK, false }, { "infer", TEST_INFER, false },
        { "convert:", TEST_CONVERT, true },
    };
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        *words = after(l, heads[i].word);
        *kind = heads[i].kind;
        if (words->data && heads[i].more == (words->size > 0)) return true;
    }
    return false;
}

static test_case *new_case(test_file *f) {
    if (f->n == f->room) {
        f->room = f->room * 2 + 8;
        f->cases = resize(f->cases, f->room * sizeof *f->cases);
    }
    f->cases[f->n] = (test_case){ 0 };
    return &f->cases[f->n++];
}

static void expect(test_case *t, xir_str words, size_t about, bool warning) {
    t->findings = resize(t->findings, (t->n_findings + 1) * sizeof *t->findings);
    t->findings[t->n_findings++] = (test_finding){ words, about, 0, warning };
}

/* A comment of a case. `about`: the last line that is not a comment. */
static void read_comment(test_case *t, const line *l, size_t about) {
    xir_str rest;
    if (is_whole(l, "----") && !t->split) {
        t->split = l->begin;
        t->split_line = l->number;
    }
    if (is_whole(l, "exact")) t->exact = true;
    if (is_whole(l, "stable")) t->stable = true;
    if (is_whole(l, "no findings")) t->none = true;
    if ((rest = after(l, "target:")).data) t->target = rest;
    if ((rest = after(l, "bind:")).data) t->bind = rest;
    if ((rest = after(l, "error:")).data) expect(t, rest, about, false);
    if ((rest = after(l, "warning:")).data) expect(t, rest, about, true);
    rest = after(l, "^");
    if (rest.data && t->n_findings && !t->findings[t->n_findings - 1].column)
        t->findings[t->n_findings - 1].column =
            (size_t)((const char *)memchr(l->begin, '^', (size_t)(l->end - l->begin)) - l->begin) + 1;
}

static bool is_comment(const line *l) { return l->end - l->begin >= 2 && memcmp(l->begin, "//", 2) == 0; }

static void read_lines(test_file *f) {
    const char *end = f->bytes + f->size;
    test_case *t = NULL;
    size_t number = 1, about = 0;
    for (const char *p = f->bytes; p < end; number++) {
        const line l = line_at(p, end, number);
        test_kind kind;
        xir_str words;
        p = l.end + (l.end < end);
        if (begins_case(&l, &kind, &words)) {
            if (t) t->end = l.begin;
            t = new_case(f);
            *t = (test_case){ .kind = kind, .words = words, .line = number, .begin = l.begin, .end = end,
                              .stable = f->stable };
            about = number;
        } else if (is_comment(&l)) {
            const xir_str plugin = t ? (xir_str){ NULL, 0 } : after(&l, "plugin:");
            if (plugin.data) words_add(&f->plugins, strndup(plugin.data, plugin.size));
            if (t) read_comment(t, &l, about);
            else f->stable |= is_whole(&l, "stable");
        } else if (l.end > l.begin) {
            about = number;
        }
    }
}

bool test_read(test_file *f, const char *path) {
    *f = (test_file){ .path = path };
    FILE *in = fopen(path, "rb");
    size_t room = 0, got;
    if (!in) return complain_of(REFUSED, path, "%s", strerror(errno)) == DONE;
    do {
        if (f->size == room) f->bytes = resize(f->bytes, (room = room * 2 + 65536) + 1);
        got = fread(f->bytes + f->size, 1, room - f->size, in);
        f->size += got;
    } while (got);
    const bool failed = ferror(in);
    fclose(in);
    if (failed) return complain_of(REFUSED, path, "it cannot be read") == DONE;
    read_lines(f);
    if (!f->n) text_put(&f->fault, "no case: expected a line // opt: PASSES, // check, // infer or // convert: FORMAT");
    return true;
}

void test_free(test_file *f) {
    for (size_t i = 0; i < f->n; i++) {
        free(f->cases[i].findings);
        text_free(&f->cases[i].why);
        text_free(&f->cases[i].now);
    }
    for (size_t i = 0; i < f->plugins.n; i++) free((void *)(uintptr_t)f->plugins.items[i]);
    free((void *)f->plugins.items);
    free(f->cases);
    free(f->bytes);
    text_free(&f->fault);
}

/* ---- new expectations -------------------------------------------------------------------------------------- */

static int fill(const void *user, FILE *out) {
    const test_file *f = user;
    const char *from = f->bytes;
    for (size_t i = 0; i < f->n; i++) {
        const test_case *t = &f->cases[i];
        if (!t->now.size) continue;
        const char *to = t->n_findings || !t->split ? t->begin : t->split;
        fwrite(from, 1, (size_t)(to - from), out);
        fwrite(t->now.data, 1, t->now.size, out);
        from = t->end;
    }
    fwrite(from, 1, (size_t)(f->bytes + f->size - from), out);
    return DONE;
}

bool test_write(const test_file *f) { return write_whole(f->path, fill, f) == DONE; }
