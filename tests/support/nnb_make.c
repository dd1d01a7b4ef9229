/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

#include "support/nnb_make.h"
#include <stdlib.h>
#include <string.h>
#include "support/story.h"

enum { BLOCKS = 512 };

typedef struct making {
    uint8_t  data[NNB_MADE_SIZE];
    uint32_t index[BLOCKS], n, size;
    uint32_t head[14];
    uint32_t variables[NNB_MADE_ITEMS], functions[NNB_MADE_ITEMS];   /* entries */
} making;

static uint32_t add(making *m, const void *data, size_t size) {
    assert_true(m->n < BLOCKS && m->size + size + 4 < NNB_MADE_SIZE);
    m->index[m->n] = m->size;
    if (size) memcpy(m->data + m->size, data, size);
    m->size += (uint32_t)((size + 3) & ~(size_t)3);
    return m->n++;
}

/* Numbers between commas; returns how many. */
static uint32_t numbers(const char *text, int32_t *out) {
    uint32_t n = 0;
    while (*text && *text != ']') {
        char *end;
        out[n++] = (int32_t)strtoll(text, &end, 10);
        assert_true(end != text && n < 64);
        text = *end == ',' ? end + 1 : end;
    }
    return n;
}

static uint32_t add_numbers(making *m, const char *text, uint32_t *n) {
    int32_t list[64];
    *n = numbers(strcmp(text, "-") == 0 ? "" : text, list);
    return add(m, list, 4 * (size_t)*n);
}

static void add_variable(making *m, uint32_t number, char **words) {
    static const char *const types[] = { "f", "i16", "i8", "sign" };
    uint32_t record[5] = { number };
    char *fp = strchr(words[1], ':');
    uint32_t type = 0;
    if (fp) *fp++ = '\0';
    while (type < 4 && strcmp(words[1], types[type]) != 0) type++;
    record[2] = add_numbers(m, words[2], &record[1]);
    record[3] = (type < 4 ? type : (uint32_t)atoi(words[1])) | (fp ? (uint32_t)atoi(fp) << 4 : 0);
    const int n = atoi(words[3] + 1);
    uint8_t bytes[4096];
    for (int i = 0; i < n && i < 4096; i++) bytes[i] = (uint8_t)(i + 1);
    record[4] = words[3][0] == 'p' ? add(m, bytes, (size_t)n) : (uint32_t)(-1 - n);
    m->variables[number] = add(m, record, sizeof record);
}

static void add_function(making *m, uint32_t number, char **words, size_t n) {
    uint8_t record[512] = { 0 };
    uint32_t head[5] = { (uint32_t)atoi(words[1]) };
    size_t at = 20;
    char *slash = strchr(words[1], '/'), *out = strchr(words[2], '>');
    if (slash) head[0] |= (uint32_t)atoi(slash + 1) << 16;
    assert_non_null(out);
    *out++ = '\0';
    head[2] = add_numbers(m, words[2], &head[1]);
    head[4] = add_numbers(m, out, &head[3]);
    for (size_t i = 3; i < n; i++) {
        const char *w = words[i];
        uint32_t v[2] = { (uint32_t)strtoll(w + 1, NULL, 0) };
        float real = strtof(w + 1, NULL);
        if (w[0] == 'f' && w[1] != 'x') memcpy(v, &real, 4);
        if (w[0] == 'f' && w[1] == 'x') v[0] = (uint32_t)strtoul(w + 2, NULL, 16);
        if (w[0] == '[') v[1] = add_numbers(m, w + 1, &v[0]);
        if (w[0] == 'B') {
            record[at++] = (uint8_t)v[0];
            continue;
        }
        at = (at + 3) & ~(size_t)3;
        memcpy(record + at, v, w[0] == '[' ? 8 : 4);
        at += w[0] == '[' ? 8 : 4;
    }
    memcpy(record, head, sizeof head);
    m->functions[number] = add(m, record, at);
}

/* Lists of the header, in the order of their words: buffers, variables, functions, inputs, outputs. */
static void set_list(making *m, size_t which, uint32_t n, uint32_t k) {
    m->head[2 + 2 * which] = n;
    m->head[3 + 2 * which] = k;
}

static void add_line(making *m, nnb_made *out, char **words, size_t n) {
    int32_t list[64];
    const bool ends = strcmp(words[0], "inputs") == 0 || strcmp(words[0], "outputs") == 0;
    if (strcmp(words[0], "nnb") == 0) {
        m->head[0] = (uint32_t)atoi(words[1]);
        m->head[1] = (uint32_t)strtoul(words[2], NULL, 0);
    } else if (ends || strcmp(words[0], "buffers") == 0) {
        for (size_t i = 1; i < n; i++) list[i - 1] = atoi(words[i]);
        set_list(m, !ends ? 0 : words[0][0] == 'i' ? 3 : 4, (uint32_t)n - 1, add(m, list, 4 * (n - 1)));
    } else if (words[0][0] == 'v') {
        add_variable(m, out->n_variables++, words);
    } else {
        if (!out->n_functions) set_list(m, 1, out->n_variables, add(m, m->variables, 4 * (size_t)out->n_variables));
        add_function(m, out->n_functions++, words, n);
    }
}

void nnb_make(nnb_made *out, const char *text) {
    static making m;
    char copy[4096], *save_line, *save_word;
    memset(&m, 0, sizeof m);
    memset(out, 0, sizeof *out);
    assert_true(strlen(text) < sizeof copy);
    strcpy(copy, text);
    for (char *line = strtok_r(copy, "\n", &save_line); line; line = strtok_r(NULL, "\n", &save_line)) {
        char *words[32];
        size_t n = 0;
        for (char *w = strtok_r(line, " ", &save_word); w &&
             n < 32; w = strtok_r(NULL, " ", &save_word)) words[n++] = w;
        if (n) add_line(&m, out, words, n);
    }
    if (!out->n_functions) set_list(&m, 1, out->n_variables, add(&m, m.variables, 4 * (size_t)out->n_variables));
    set_list(&m, 2, out->n_functions, add(&m, m.functions, 4 * (size_t)out->n_functions));
    m.head[12] = m.n;
    m.head[13] = m.size;
    out->n_index = m.n;
    out->data = 56 + 4 * m.n;
    out->size = out->data + m.size;
    assert_true(out->size <= NNB_MADE_SIZE);
    memcpy(out->bytes, m.head, 56);
    memcpy(out->bytes + 56, m.index, 4 * (size_t)m.n);
    memcpy(out->bytes + out->data, m.data, m.size);
    for (uint32_t i = 0; i < out->n_variables; i++) out->variables[i] = out->data + m.index[m.variables[i]];
    for (uint32_t i = 0; i < out->n_functions; i++) out->functions[i] = out->data + m.index[m.functions[i]];
}
