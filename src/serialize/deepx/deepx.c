/* DeepX IR as a format: a text with an instruction a line. */
#include "deepx/deepx.h"

/* The first line that is not passed over; false if the head ends before. */
static bool first_line(const xir_probe *file, xir_str *out) {
    const char *p = file->head, *end = p + file->head_size;
    while (p < end) {
        const char *feed = memchr(p, '\n', (size_t)(end - p));
        *out = (xir_str){ p, (size_t)((feed ? feed : end) - p) };
        if (!deepx_is_passed_over(*out)) return true;
        p = feed ? feed + 1 : end;
    }
    return false;
}

/* An arrow after a name, or the word of a block; blocks and arrows are in many texts. */
static xir_probe_grade probe(const xir_probe *file, void *user) {
    xir_str line;
    size_t name = 0;
    (void)user;
    if (!first_line(file, &line)) return XIR_PROBE_NO;
    if (deepx_is_block(line) && memcmp(deepx_skip_blanks(line.data, line.data + line.size), "deepxir", 7) == 0)
        return XIR_PROBE_YES;
    while (name < line.size && (deepx_is_letter(line.data[name]) || deepx_is_digit(line.data[name]))) name++;
    if (!name || name == line.size || !strchr(" (\t", line.data[name]) || line.data[name] == '\0') return XIR_PROBE_NO;
    for (size_t i = name; i + 1 < line.size; i++) {
        if (line.data[i] == '\0') return XIR_PROBE_NO;
        if (line.data[i] == '-' && line.data[i + 1] == '>') return XIR_PROBE_LIKELY;
    }
    return XIR_PROBE_NO;
}

/* ---- places ---------------------------------------------------------------------------------------------------- */

typedef struct lines { const xir_allocator *alloc; const char *text; uint64_t *at; size_t n, room; } lines;

static bool note_line(void *user, deepx_kind kind, xir_str whole, const deepx_line *line) {
    lines *l = user;
    if (kind != DEEPX_CALL) return true;
    if (!mem_reserve(l->alloc, (void **)&l->at, &l->room, l->n + 1, sizeof *l->at)) return false;
    (void)whole;
    l->at[l->n++] = (uint64_t)(line->name.data - l->text);
    return true;
}

/* "/ops/3/…": op 0 has no line, each other op one. */
static size_t place_of(xir_str path, const lines *l) {
    const char *p = path.data, *end = p + path.size;
    uint64_t op = 0;
    if (path.size <= 5 || memcmp(p, "/ops/", 5) != 0) return SIZE_MAX;
    for (p += 5; p < end && deepx_is_digit(*p) && op < UINT32_MAX; p++) op = 10 * op + (uint64_t)(*p - '0');
    return op && op <= l->n ? (size_t)l->at[op - 1] : SIZE_MAX;
}

static xir_status find_places(xir_context *ctx, xir_str text, xir_format_place *places, size_t n, void *user) {
    deepx_place quiet = { .quiet = true };
    if (!text.size) text.data = "";
    lines l = { context_alloc(ctx), text.data, NULL, 0, 0 };
    (void)user;
    const bool ok = deepx_walk(&quiet, l.alloc, text, false, note_line, &l);
    for (size_t i = 0; i < n && ok; i++) places[i].byte = place_of(places[i].path, &l);
    mem_free(l.alloc, l.at, l.room * sizeof *l.at);
    return ok ? XIR_OK : XIR_E_MEMORY;
}

const format format_deepx = {
    .name = "deepx", .meaning = "DeepX IR", .suffixes = "ir dxir", .traits = XIR_FORMAT_TEXT | XIR_FORMAT_DIALECT,
    .probe = probe, .read = deepx_read, .write = deepx_write, .find_places = find_places,
};
