/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Formats of the context, as options and sentences name them. */
#include <stdlib.h>
#include <string.h>
#include "cli.h"

/* ---- all of them --------------------------------------------------------------------------------- */

enum { MOST = 64 };

static file_format all[MOST];
static size_t      n_all;
static text        words;

/* On the first question: plug-ins are loaded by then. */
static void fill(void) {
    if (n_all) return;
    for (; n_all < MOST; n_all++) {
        all[n_all] = XIR_INIT(file_format);
        if (xir_context_format_at(context, n_all, &all[n_all], NULL) != XIR_OK) break;
    }
    for (size_t i = 0; i < n_all; i++) text_printf(&words, "%s%s", i ? " " : "", all[i].name);
}

const char *format_words(void) {
    fill();
    return words.data;
}

const char *formats_that(bool (*is)(const file_format *f)) {
    static text list;
    fill();
    list.size = 0;
    text_put(&list, "");
    for (size_t i = 0; i < n_all; i++)
        if (is(&all[i])) text_printf(&list, "%s%s", list.size ? ", " : "", all[i].name);
    return list.data;
}

bool format_is_pair(const file_format *f) { return f->pair; }

/* ---- finding one --------------------------------------------------------------------------------- */

static const file_format *find(const char *word) {
    fill();
    for (size_t i = 0; i < n_all; i++) {
        if (strcmp(all[i].name, word) == 0) return &all[i];
    }
    return NULL;
}

const file_format *format_named(const char *word) {
    const file_format *f = find(word);
    if (f) return f;
    const char *near[MOST + 1] = { NULL };
    for (size_t i = 0; i < n_all; i++) near[i] = all[i].name;
    const char *meant = nearest(word, near);
    if (meant) complain(MISUSED, "there is no format '%s'; did you mean '%s'?", word, meant);
    else complain(MISUSED, "there is no format '%s'; the formats are %s", word, format_words());
    return NULL;
}

const file_format *format_of(const void *head, size_t size, uint64_t total, const char *path) {
    const char *word = xir_format_detect(context, head, size, total, xir_str_of(path));
    return word ? find(word) : NULL;
}

const char *suffix_of(const char *path) {
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
    return dot && dot != name ? dot + 1 : name + strlen(name);
}
