/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The table of functions (functions.def), and what follows from a row: where each argument is in a record. */
#include "nnb/nnb.h"

#define FUNCTION(id, level, name, code, runtime, inputs, outputs, arguments) \
    { id, level, runtime, #name, code, inputs, outputs, arguments },
static const xir_nnb_function rows[] = {
#include "nnb/functions.def"
};
#undef FUNCTION
enum { ROWS = sizeof rows / sizeof *rows };

const xir_nnb_function *xir_nnb_function_at(size_t i) { return i < ROWS ? &rows[i] : NULL; }

/* Numbers ascend, with few gaps. */
const xir_nnb_function *xir_nnb_function_find(uint32_t id) {
    size_t low = 0, high = ROWS;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (rows[middle].id < id) low = middle + 1;
        else high = middle;
    }
    return low < ROWS && rows[low].id == id ? &rows[low] : NULL;
}

/* ---- arguments ------------------------------------------------------------------------------------------------- */

/* The next word of a list, without the words in braces, which follow in *words. */
static bool next_name(const char **text, xir_str *name, xir_str *words) {
    const char *p = *text;
    while (*p == ' ') p++;
    const size_t n = strcspn(p, " {");
    *name = (xir_str){ p, n };
    *words = (xir_str){ p + n, 0 };
    p += n;
    if (*p == '{') {
        const size_t size = strcspn(p + 1, "}");
        *words = (xir_str){ p + 1, size };
        p += size + 2;
    }
    *text = p;
    return n > 0;
}

static nnb_kind take_kind(const char **code) {
    const char c = *(*code)++;
    const bool list = (c == 'i' && **code == 'I') || (c == 'f' && **code == 'F');
    if (list) ++*code;
    switch (c) {
    case 'i': return list ? NNB_LIST : NNB_INT;
    case 'f': return list ? NNB_OTHER : NNB_FLOAT;
    case 'B': return NNB_BYTE;
    default:  return NNB_OTHER;
    }
}

bool nnb_signature_make(nnb_signature *out, const xir_nnb_function *f) {
    const char *code = f->code, *names = f->arguments;
    uint32_t at = NNB_RECORD;
    *out = (nnb_signature){ .function = f, .name = xir_str_of(f->name), .storable = true };
    while (*code) {
        nnb_argument *a = &out->arguments[out->n++];
        a->kind = take_kind(&code);
        out->storable &= a->kind != NNB_OTHER && next_name(&names, &a->name, &a->words);
        if (a->kind != NNB_BYTE) at = (at + 3) & ~3u;
        a->at = at;
        a->size = a->kind == NNB_BYTE ? 1 : a->kind == NNB_LIST ? 8 : 4;
        at += a->size;
        out->n_lists += a->kind == NNB_LIST;
    }
    out->end = at;
    return out->storable;
}

xir_str nnb_word(const nnb_argument *a, int64_t ordinal) {
    const char *p = a->words.data, *end = p + a->words.size;
    for (int64_t i = 0; p < end; i++) {
        const char *bar = memchr(p, '|', (size_t)(end - p));
        const char *stop = bar ? bar : end;
        if (i == ordinal) return (xir_str){ p, (size_t)(stop - p) };
        p = bar ? bar + 1 : end;
    }
    return (xir_str){ NULL, 0 };
}

bool nnb_word_number(const nnb_argument *a, xir_str word, int64_t *out) {
    for (int64_t i = 0;; i++) {
        const xir_str known = nnb_word(a, i);
        if (!known.size) return false;
        *out = i;
        if (xir_str_equal(known, word)) return true;
    }
}
