/* Finds where in a JSON text the values are that JSON pointers name: one walk over the text, which enters only what some pointer
 * leads into and hops over the rest. The pointers are sorted with '/' below every other byte, so that all that lead into one
 * value are neighbours. The text is one that a reader has accepted; should it not be (it may have changed since), the walk
 * ends early. A pointer to what the text does not spell out gets the place of what would hold it. */
#include <stdlib.h>
#include <string.h>
#include "cli.h"

typedef struct wanted {
    xir_str pointer;
    size_t  diag;    /* which finding asks */
    size_t  at;      /* the byte           */
} wanted;

typedef struct walk {
    const char *start, *p, *end;
    wanted     *list;
    text        key;            /* of the member that is looked at, as a pointer spells it */
    int         depth;
} walk;

enum { DEEPEST = 2048 };

/* ---- order --------------------------------------------------------------------------------------- */

static int rank_of(char c) { return c == '/' ? -1 : (unsigned char)c; }

static int compare(xir_str a, xir_str b) {
    for (size_t i = 0; i < a.size && i < b.size; i++) {
        if (a.data[i] != b.data[i]) return rank_of(a.data[i]) - rank_of(b.data[i]);
    }
    return (a.size > b.size) - (a.size < b.size);
}

static int by_pointer(const void *a, const void *b) {
    const wanted *x = a, *y = b;
    int order = compare(x->pointer, y->pointer);
    return order ? order : (x->diag > y->diag) - (x->diag < y->diag);
}

static int by_place(const void *a, const void *b) {
    const wanted *x = a, *y = b;
    if (x->at != y->at) return x->at < y->at ? -1 : 1;
    return (x->diag > y->diag) - (x->diag < y->diag);
}

/* The token that begins at `at` of a pointer. */
static xir_str token(const wanted *w, size_t at) {
    const size_t left = w->pointer.size - at;
    if (!left) return (xir_str){ NULL, 0 };
    const char *start = w->pointer.data + at, *slash = memchr(start, '/', left);
    return (xir_str){ start, slash ? (size_t)(slash - start) : left };
}

/* The pointers in [from, to) whose token at `at` is the key: [*from, *to) becomes their range. */
static bool narrow(const walk *w, size_t at, xir_str key, size_t *from, size_t *to) {
    size_t low = *from, high = *to;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (compare(token(&w->list[middle], at), key) < 0) low = middle + 1;
        else high = middle;
    }
    size_t first = low;
    for (high = *to; low < high;) {
        size_t middle = (low + high) / 2;
        if (compare(token(&w->list[middle], at), key) <= 0) low = middle + 1;
        else high = middle;
    }
    *from = first;
    *to = low;
    return first < low;
}

/* ---- steps over the text ------------------------------------------------------------------------- */

static void blanks(walk *w) {
    while (w->p < w->end && (*w->p == ' ' || *w->p == '\n' || *w->p == '\r' || *w->p == '\t')) w->p++;
}

static bool next_is(walk *w, char c) {
    blanks(w);
    return w->p < w->end && *w->p == c;
}

static bool step(walk *w, char c) {
    if (!next_is(w, c)) return false;
    w->p++;
    return true;
}

static bool hop_text(walk *w) {
    if (!step(w, '"')) return false;
    while (w->p < w->end && *w->p != '"') w->p += *w->p == '\\' ? 2 : 1;
    if (w->p >= w->end) return false;
    w->p++;
    return true;
}

/* Over a whole value, however deep. */
static bool hop(walk *w) {
    size_t open = 0;
    do {
        blanks(w);
        if (w->p >= w->end) return false;
        switch (*w->p) {
        case '"':
            if (!hop_text(w)) return false;
            break;
        case '{': case '[':
            open++;
            w->p++;
            continue;
        case '}': case ']':
            if (!open) return false;
            open--;
            w->p++;
            break;
        case ',': case ':':
            if (!open) return false;
            w->p++;
            continue;
        default:
            while (w->p < w->end && !strchr(",:]}[{\" \n\r\t", *w->p)) w->p++;
        }
    } while (open);
    return true;
}

static void add_utf8(text *t, uint32_t c) {
    char b[4];
    size_t n = 1;
    if (c < 0x80) {
        b[0] = (char)c;
    } else if (c < 0x800) {
        b[0] = (char)(0xC0 | c >> 6);
        b[1] = (char)(0x80 | (c & 0x3F));
        n = 2;
    } else if (c < 0x10000) {
        b[0] = (char)(0xE0 | c >> 12);
        b[1] = (char)(0x80 | (c >> 6 & 0x3F));
        b[2] = (char)(0x80 | (c & 0x3F));
        n = 3;
    } else {
        b[0] = (char)(0xF0 | c >> 18);
        b[1] = (char)(0x80 | (c >> 12 & 0x3F));
        b[2] = (char)(0x80 | (c >> 6 & 0x3F));
        b[3] = (char)(0x80 | (c & 0x3F));
        n = 4;
    }
    text_add(t, b, n);
}

static uint32_t hex4(const char *p, const char *end) {
    uint32_t v = 0;
    for (int i = 0; i < 4; i++) {
        char c = p + i < end ? p[i] : '0';
        v = v * 16 + (uint32_t)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10) % 16;
    }
    return v;
}

/* A key as a pointer spells it: escapes of JSON resolved, '~' and '/' as ~0 and ~1. */
static bool read_key(walk *w) {
    blanks(w);
    const char *p = w->p + 1;
    if (!hop_text(w)) return false;
    const char *end = w->p - 1;
    text *k = &w->key;
    k->size = 0;
    text_add(k, "", 0);
    while (p < end) {
        char c = *p++;
        if (c == '\\' && p < end) {
            c = *p++;
            switch (c) {
            case 'b': c = '\b'; break;
            case 'f': c = '\f'; break;
            case 'n': c = '\n'; break;
            case 'r': c = '\r'; break;
            case 't': c = '\t'; break;
            case 'u': {
                uint32_t code = hex4(p, end);
                p += 4;
                if (code >= 0xD800 && code < 0xDC00 && end - p >= 6) {
                    code = 0x10000 + ((code - 0xD800) << 10) + (hex4(p + 2, end) - 0xDC00);
                    p += 6;
                }
                if (code == '~' || code == '/') text_put(k, code == '~' ? "~0" : "~1");
                else add_utf8(k, code);
                continue;
            }
            default: break;
            }
        }
        if (c == '~') text_put(k, "~0");
        else if (c == '/') text_put(k, "~1");
        else text_add(k, &c, 1);
    }
    return true;
}

/* ---- the walk ------------------------------------------------------------------------------------ */

static bool enter(walk *w, size_t from, size_t to, size_t at);

/* The member or item that comes, whose key is w->key: into it if a pointer leads there. */
static bool member(walk *w, size_t from, size_t to, size_t at) {
    size_t size = w->key.size;
    if (!narrow(w, at + 1, text_of(&w->key), &from, &to)) return hop(w);
    return enter(w, from, to, at + 1 + size);
}

/* The value that comes is where the pointers in [from, to) lead to with their first `at` bytes. */
static bool enter(walk *w, size_t from, size_t to, size_t at) {
    blanks(w);
    for (size_t i = from; i < to; i++) w->list[i].at = (size_t)(w->p - w->start);
    while (from < to && w->list[from].pointer.size <= at) from++;
    if (from == to || w->depth == DEEPEST) return hop(w);
    bool ok = true;
    w->depth++;
    if (step(w, '{')) {
        for (bool first = true; ok && !next_is(w, '}'); first = false) {
            ok = (first || step(w, ',')) && read_key(w) && step(w, ':') && member(w, from, to, at);
        }
        ok = ok && step(w, '}');
    } else if (step(w, '[')) {
        for (size_t i = 0; ok && !next_is(w, ']'); i++) {
            w->key.size = 0;
            text_printf(&w->key, "%zu", i);
            ok = (i == 0 || step(w, ',')) && member(w, from, to, at);
        }
        ok = ok && step(w, ']');
    } else {
        ok = hop(w);
    }
    w->depth--;
    return ok;
}

/* ---- findings ------------------------------------------------------------------------------------ */

void place_findings(const xir_diags *from, const char *file, xir_str json, xir_diags *out) {
    size_t n = xir_diags_count(from), asking = 0;
    wanted *list = take(n, sizeof *list);
    for (size_t i = 0; i < n; i++) {
        const xir_diag *diag = xir_diags_at(from, i);
        bool asks = json.data && !diag->file.size && !diag->line && (!diag->path.size || diag->path.data[0] == '/');
        list[asking] = (wanted){ diag->path, i, SIZE_MAX };
        asking += asks;
    }
    if (asking) qsort(list, asking, sizeof *list, by_pointer);
    walk w = { .start = json.data, .p = json.data, .end = json.data ? json.data + json.size : NULL, .list = list };
    if (asking) enter(&w, 0, asking, 0);
    text_free(&w.key);
    if (asking) qsort(list, asking, sizeof *list, by_place);
    bool *placed = take(n, sizeof *placed);
    uint32_t line = 1;
    size_t at = 0, line_start = 0;
    for (size_t i = 0; i < asking && list[i].at != SIZE_MAX; i++) {
        for (; at < list[i].at; at++) {
            if (json.data[at] != '\n') continue;
            line++;
            line_start = at + 1;
        }
        xir_diag diag = *xir_diags_at(from, list[i].diag);
        diag.file = xir_str_of(file);
        diag.byte = at;
        diag.line = line;
        diag.column = (uint32_t)(at - line_start + 1);
        xir_diags_put(out, &diag);
        placed[list[i].diag] = true;
    }
    for (size_t i = 0; i < n; i++) {
        if (placed[i]) continue;
        xir_diag diag = *xir_diags_at(from, i);
        if (!diag.file.size) diag.file = xir_str_of(file);
        xir_diags_put(out, &diag);
    }
    free(placed);
    free(list);
}
