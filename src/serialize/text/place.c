/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The places of parts of a network in a text: /ops/3/inputs/1 is an item in the parentheses of the fourth line of an
 * op. Lines are walked as a reader does, without checking them: the text has been read before. */
#include <stdlib.h>
#include "text/reader.h"
#include "text/text_format.h"
#include "utf8.h"

/* The end of what begins at `p` in a line: of a text in quotes, of brackets, or of one byte. Line ends count only
 * outside of brackets. */
static const char *hop(const char *p, const char *end) {
    size_t open = 0;
    do {
        if (*p == '"') {
            for (p++; p < end && *p != '"'; p++) p += *p == '\\' && end - p > 1;
            p += p < end;
            continue;
        }
        if (*p == '/' && end - p > 1 && p[1] == '/') {
            while (p < end && *p != '\n') p++;
            continue;
        }
        if (*p == '(' || *p == '[' || *p == '{') open++;
        if ((*p == ')' || *p == ']' || *p == '}') && open) open--;
        p++;
    } while (open && p < end);
    return p;
}

/* The items between brackets or up to one of `stops`: *at becomes the beginning of item i. */
static bool item_at(const char *p, const char *end, size_t i, const char **at) {
    for (;;) {
        while (p < end && (*p == ' ' || *p == '\n')) p++;
        if (i == 0) {
            *at = p;
            return p < end && *p != ')' && *p != '}';
        }
        while (p < end && *p != ',' && *p != ')' && *p != '}' && *p != '=' && *p != '\n') p = hop(p, end);
        if (p == end || *p != ',') return false;
        p++;
        i--;
    }
}

typedef struct line { const char *begin, *end, *inputs, *braces; bool has_ops; } line;

static bool is_word(const char *p, const char *end, const char *word) {
    const size_t n = text_name_length(p, end);
    return n == strlen(word) && memcmp(p, word, n) == 0;
}

/* The line at `p`, with the brackets of the inputs and of the attributes. */
static line line_at(const char *p, const char *end) {
    line l = { .begin = p };
    bool class_seen = *p != '%' && *p != '(';
    while (p < end && *p != '\n') {
        if (*p == '=' && !class_seen) class_seen = true;
        if (class_seen && !l.inputs && *p == '(') l.inputs = p;
        else if (l.inputs && !l.braces && *p == '{') l.braces = p;
        else if (l.inputs && !l.braces && (*p == ':' || *p == '#' || *p == '"' || *p == '~'))
            l.braces = end;
        const bool word = text_is(*p, TEXT_NAME);
        l.has_ops = word && is_word(p, end, "do");
        const size_t n = word ? text_name_length(p, end) : 0;
        p = n ? p + n : *p == ' ' ? p + 1 : hop(p, end);
    }
    l.end = p;
    return l;
}

/* "/ops/3/…": the rest of the path of an op, and its number. */
static bool op_of_path(xir_str path, size_t *op, xir_str *rest) {
    if (path.size < 6 || memcmp(path.data, "/ops/", 5) != 0) return false;
    size_t i = 5;
    for (*op = 0; i < path.size && path.data[i] >= '0' && path.data[i] <= '9'; i++)
        *op = *op * 10 + (size_t)(path.data[i] - '0');
    *rest = (xir_str){ path.data + i, path.size - i };
    return i > 5;
}

static bool takes(xir_str *rest, const char *word) {
    const size_t n = strlen(word);
    if (rest->size < n || memcmp(rest->data, word, n) != 0) return false;
    *rest = (xir_str){ rest->data + n, rest->size - n };
    return true;
}

static size_t number_of(xir_str rest) {
    size_t n = 0;
    for (size_t i = 0; i < rest.size && rest.data[i] >= '0' && rest.data[i] <= '9'; i++) n =
        n * 10 + (size_t)(rest.data[i] - '0');
    return n;
}

/* The attribute of this name in braces. */
static const char *attribute_at(const line *l, xir_str name) {
    const char *at;
    for (size_t i = 0; l->braces && l->braces < l->end && item_at(l->braces + 1, l->end, i, &at); i++) {
        const char *word = at + (*at == '"');
        size_t n = 0;
        while (n < name.size && name.data[n] != '/') n++;
        if (l->end - word > (ptrdiff_t)n && memcmp(word, name.data, n) == 0 &&
            (word[n] == '=' || word[n] == '"')) return at;
    }
    return NULL;
}

static const char *place_in(const line *l, xir_str rest) {
    const char *at = NULL;
    if (takes(&rest, "/inputs/")) return l->inputs && item_at(l->inputs + 1, l->end, number_of(rest), &at) ? at :
        l->begin;
    if (takes(&rest, "/outputs/")) return item_at(l->begin + (*l->begin == '('), l->end, number_of(rest), &at) ? at :
        l->begin;
    if (takes(&rest, "/")) at = attribute_at(l, rest);
    return at ? at : l->begin;
}

/* Past the ops inside of a line. */
static const char *past_ops(const char *p, const char *end) {
    for (size_t open = 1; p < end && open;) {
        while (p < end && (*p == ' ' || *p == '\n')) p++;
        if (p == end) break;
        const bool ends = is_word(p, end, "end");
        const line l = line_at(p, end);
        if (ends) open--;
        if (l.has_ops) open++;
        p = l.end;
    }
    return p;
}

/* Paths with their numbers: those of the library are sorted as texts. */
typedef struct wanted { size_t number; xir_str rest; xir_format_place *place; } wanted;

static int by_number(const void *a, const void *b) {
    const wanted *x = a, *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

xir_status text_find_places(xir_context *ctx, xir_str text, xir_format_place *places, size_t n, void *user) {
    const char *p = text.data + utf8_mark(text.data, text.size), *end = text.data + text.size;
    size_t op = 0, n_wanted = 0;
    (void)user;
    wanted *list = mem_new(context_alloc(ctx), (n + 1) * sizeof *list);
    if (!list) return XIR_E_MEMORY;
    for (size_t i = 0; i < n; i++) {
        places[i].byte = 0;
        wanted *w = &list[n_wanted];
        if (op_of_path(places[i].path, &w->number, &w->rest)) list[n_wanted++].place = &places[i];
    }
    qsort(list, n_wanted, sizeof *list, by_number);
    for (size_t i = 0; p < end && i < n_wanted;) {
        if (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t') {
            p++;
        } else if (*p == '.' || *p == '!' || *p == '/' || is_word(p, end, "xir")) {
            p = line_at(p, end).end;
        } else {
            const line l = line_at(p, end);
            for (; i < n_wanted && list[i].number == op; i++)
                list[i].place->byte = (size_t)(place_in(&l, list[i].rest) - text.data);
            p = l.has_ops ? past_ops(l.end, end) : l.end;
            op++;
        }
    }
    mem_free(context_alloc(ctx), list, (n + 1) * sizeof *list);
    return XIR_OK;
}
