/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The text of a journal. Names are preceded by their lengths, since a name may contain any byte but '/' and 0.
 *
 *     xir unfinished save 1
 *     file 6028 1764370800 123456789 30 7 11          kind, bytes, seconds, nanoseconds, lengths of the three lines
 *     .xir-0123456789abcdef-0.tmp                     the temporary name
 *     net.raw                                         the name in its folder
 *     out/net.raw                                     the path in the save, for people
 *     file …                                          the same for the structure
 *     end
 */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include "journal.h"
#include "number.h"

static const char head[] = "xir unfinished save 1\n", tail[] = "end\n";
static const char *const kinds[] = { "file ", "folder " };

/* ---- printing --------------------------------------------------------------------------------------------------- */

static bool put_line(file_writer *to, const char *text) {
    return file_write(to, text, strlen(text)) && file_write(to, "\n", 1);
}

bool journal_print(const journal_item items[JOURNAL_ITEMS], file_writer *to) {
    bool ok = file_write(to, head, sizeof head - 1);
    for (size_t i = 0; i < JOURNAL_ITEMS && ok; i++) {
        const journal_item *it = &items[i];
        const char *temp = it->temp + file_folder_size(it->temp), *name = it->target + file_folder_size(it->target);
        char line[160];
        snprintf(line, sizeof line, "%s%" PRIu64 " %" PRIu64 " %" PRIu64 " %zu %zu %zu", kinds[it->is_own != NULL],
                 it->size, (uint64_t)it->changed, (uint64_t)it->changed_ns, strlen(temp), strlen(name),
                 strlen(it->named));
        ok = put_line(to, line) && put_line(to, temp) && put_line(to, name) && put_line(to, it->named);
    }
    return ok && file_write(to, tail, sizeof tail - 1);
}

/* ---- reading ---------------------------------------------------------------------------------------------------- */

typedef struct cursor { const char *p, *end; } cursor;

static bool take_word(cursor *c, const char *word) {
    const size_t n = strlen(word);
    if ((size_t)(c->end - c->p) < n || memcmp(c->p, word, n) != 0) return false;
    c->p += n;
    return true;
}

/* A number of at most `most`, and the byte after it. */
static bool take_number(cursor *c, uint64_t most, char after, uint64_t *out) {
    const char *first = c->p;
    uint64_t v = 0;
    for (; c->p < c->end && is_digit(*c->p); c->p++)
        if (!mul_u64(v, 10, &v) || !add_u64(v, (uint64_t)(*c->p - '0'), &v)) return false;
    if (c->p == first || c->p == c->end || *c->p != after || v > most) return false;
    c->p++;
    *out = v;
    return true;
}

static bool take_line(cursor *c, uint64_t size, xir_str *out) {
    if ((uint64_t)(c->end - c->p) <= size || c->p[size] != '\n') return false;
    *out = (xir_str){ c->p, (size_t)size };
    c->p += size + 1;
    return !memchr(out->data, '\0', out->size);
}

/* A name without a folder. */
static bool take_name(cursor *c, uint64_t size, xir_str *out) {
    return size && take_line(c, size, out) && !memchr(out->data, '/', out->size);
}

static bool take_entry(cursor *c, journal_entry *e) {
    uint64_t changed, ns, temp, name, named;
    *e = (journal_entry){ .folder = take_word(c, kinds[1]) };
    if (!e->folder && !take_word(c, kinds[0])) return false;
    if (!take_number(c, UINT64_MAX, ' ', &e->size) || !take_number(c, UINT64_MAX, ' ', &changed)) return false;
    if (!take_number(c, 999999999, ' ', &ns) || !take_number(c, 2 * NAME_MAX, ' ', &temp)) return false;
    if (!take_number(c, NAME_MAX, ' ', &name) || !take_number(c, PATH_MAX, '\n', &named)) return false;
    e->changed = (int64_t)changed;
    e->changed_ns = (int64_t)ns;
    return take_name(c, temp, &e->temp) && take_name(c, name, &e->name) && take_line(c, named, &e->named);
}

bool journal_parse(journal_found *f) {
    cursor c = { f->text, f->text + f->size };
    bool ok = take_word(&c, head);
    for (size_t i = 0; i < JOURNAL_ITEMS && ok; i++) ok = take_entry(&c, &f->entries[i]);
    return ok && take_word(&c, tail) && c.p == c.end;
}
