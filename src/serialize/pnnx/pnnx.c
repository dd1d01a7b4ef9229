/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* PNNX as a format: a text, and an archive of weights next to it. */
#include "number.h"
#include "pnnx/pnnx.h"
#include "utf8.h"

static bool is_line_end(uint8_t c) { return c == '\n' || c == '\r'; }

/* The beginning of the next line; `end` for the last line. */
static const uint8_t *next_line(const uint8_t *p, const uint8_t *end) {
    const uint8_t *feed = memchr(p, '\n', (size_t)(end - p));
    return feed ? feed + 1 : end;
}

/* ncnn has the same magic. An operator of PNNX has a '.' or "::" in its type; one of ncnn does not, nor do the oldest
 * PNNX files. */
static xir_probe_grade probe(const xir_probe *file, void *user) {
    enum { MAGIC = sizeof PNNX_MAGIC - 1 };
    const uint8_t *head = file->head, *end = head + file->head_size;
    (void)user;
    head += utf8_mark(file->head, file->head_size);
    bool begins = end - head > MAGIC && memcmp(head, PNNX_MAGIC, MAGIC) == 0 && is_line_end(head[MAGIC]);
    if (!begins) return XIR_PROBE_NO;
    for (const uint8_t *p = next_line(next_line(head, end), end); p < end && *p != ' '; p++) {
        if (*p == '.' || *p == ':') return XIR_PROBE_YES;
    }
    return XIR_PROBE_LIKELY;
}

static bool may_begin(const uint8_t *head, size_t size) {
    size_t i = utf8_mark((const char *)head, size);
    while (i < size && (pnnx_is_blank((char)head[i]) || head[i] == '\n')) i++;
    const size_t n = size - i < sizeof PNNX_MAGIC - 1 ? size - i : sizeof PNNX_MAGIC - 1;
    return memcmp(head + i, PNNX_MAGIC, n) == 0;
}

/* ---- places ---------------------------------------------------------------------------------------------------- */

typedef struct lines { uint64_t *at; size_t n, room; } lines;

static bool add_line(const xir_allocator *alloc, lines *l, uint64_t at) {
    if (!mem_reserve(alloc, (void **)&l->at, &l->room, l->n + 1, sizeof *l->at)) return false;
    l->at[l->n++] = at;
    return true;
}

/* The next number of a path; false if there is none. */
static bool take_number(const char **p, const char *end, const char *key, uint64_t *out) {
    const size_t n = strlen(key);
    if ((size_t)(end - *p) <= n || memcmp(*p, key, n) != 0) return false;
    *p += n;
    *out = 0;
    const char *first = *p;
    for (; *p < end && is_digit(**p) && *out < UINT32_MAX; ++*p) *out = 10 * *out + (uint64_t)(**p - '0');
    return *p > first;
}

/* "/ops/3/…": op 0 has the lines of all inputs, the last one those of all outputs, each other op one line. "/outputs/1"
 * is the line of an output. */
static uint64_t place_of(xir_str path, const lines kinds[3]) {
    const char *p = path.data, *end = p + path.size;
    uint64_t op, i = 0;
    if (path.size && take_number(&p, end, "/outputs/", &i)) {
        return i < kinds[PNNX_OUTPUT].n ? kinds[PNNX_OUTPUT].at[i] : SIZE_MAX;
    }
    if (!path.size || !take_number(&p, end, "/ops/", &op)) return SIZE_MAX;
    const lines *l = op == 0 ? &kinds[PNNX_INPUT] : op <= kinds[PNNX_OP].n ? &kinds[PNNX_OP] : &kinds[PNNX_OUTPUT];
    if (l == &kinds[PNNX_OP]) i = op - 1;
    else if (!take_number(&p, end, op == 0 ? "/outputs/" : "/inputs/", &i)) i = 0;
    return i < l->n ? l->at[i] : SIZE_MAX;
}

static bool find_lines(const xir_allocator *alloc, xir_str text, lines *kinds) {
    pnnx_reader quiet = { .text = text };
    pnnx_text left = { text.data, text.data + text.size };
    pnnx_head head;
    xir_str line;
    for (int i = 0; i < 2; i++) (void)pnnx_next_line(&left, &line);
    while (pnnx_next_line(&left, &line)) {
        if (!pnnx_read_head(&quiet, line, &head)) return true;   /* not the text that was read */
        if (!add_line(alloc, &kinds[head.end], (uint64_t)(head.type.data - text.data))) return false;
    }
    return true;
}

static xir_status find_places(xir_context *ctx, xir_str text, xir_format_place *places, size_t n, void *user) {
    lines kinds[3] = { { NULL, 0, 0 } };
    (void)user;
    if (!text.size) text.data = "";
    bool ok = find_lines(context_alloc(ctx), text, kinds);
    for (size_t i = 0; i < n && ok; i++) places[i].byte = place_of(places[i].path, kinds);
    for (int i = 0; i < 3; i++) mem_free(context_alloc(ctx), kinds[i].at, kinds[i].room * sizeof *kinds[i].at);
    return ok ? XIR_OK : XIR_E_MEMORY;
}

const format format_pnnx = {
    .name = "pnnx", .meaning = "PNNX graph with an archive of weights", .suffixes = "pnnx.param param",
    .traits = XIR_FORMAT_TEXT | XIR_FORMAT_DIALECT, .probe = probe, .may_begin = may_begin, .read = pnnx_read,
    .write = pnnx_write, .params_found = "pnnx.bin bin", .params_written = "pnnx.bin bin",
    .params_always = true, .load_params = pnnx_load_params, .read_params = pnnx_read_params,
    .params_may_begin = pnnx_params_may_begin, .write_params = pnnx_write_params, .find_places = find_places,
};
