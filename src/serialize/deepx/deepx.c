/* DeepX IR as a format: a text with an instruction a line. */
#include "deepx/folder.h"

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

/* Where calls begin, and definitions. */
typedef struct starts { uint64_t *at; size_t n, room; } starts;
typedef struct lines { const xir_allocator *alloc; const char *text; starts calls, defs; } lines;

static bool note_line(void *user, deepx_kind kind, xir_str whole, const deepx_line *line) {
    lines *l = user;
    starts *to = kind == DEEPX_CALL ? &l->calls : &l->defs;
    if (!mem_reserve(l->alloc, (void **)&to->at, &to->room, to->n + 1, sizeof *to->at)) return false;
    (void)whole;
    to->at[to->n++] = (uint64_t)(line->name.data - l->text);
    return true;
}

static bool number_after(xir_str path, const char *word, uint64_t *out) {
    const size_t n = strlen(word);
    const char *p = path.data + n, *end = path.data + path.size;
    *out = 0;
    if (path.size <= n || memcmp(path.data, word, n) != 0) return false;
    for (; p < end && deepx_is_digit(*p) && *out < UINT32_MAX; p++) *out = 10 * *out + (uint64_t)(*p - '0');
    return true;
}

/* "/ops/3/…": op 0 has no line, each other op one. "/defs/0": the first definition. */
static size_t place_of(xir_str path, const lines *l) {
    uint64_t i;
    if (number_after(path, "/ops/", &i)) return i && i <= l->calls.n ? (size_t)l->calls.at[i - 1] : SIZE_MAX;
    return number_after(path, "/defs/", &i) && i < l->defs.n ? (size_t)l->defs.at[i] : SIZE_MAX;
}

static xir_status find_places(xir_context *ctx, xir_str text, xir_format_place *places, size_t n, void *user) {
    deepx_place quiet = { .quiet = true };
    if (!text.size) text.data = "";
    lines l = { .alloc = context_alloc(ctx), .text = text.data };
    (void)user;
    const bool ok = deepx_walk(&quiet, l.alloc, text, false, note_line, &l);
    for (size_t i = 0; i < n && ok; i++) places[i].byte = place_of(places[i].path, &l);
    mem_free(l.alloc, l.calls.at, l.calls.room * sizeof *l.calls.at);
    mem_free(l.alloc, l.defs.at, l.defs.room * sizeof *l.defs.at);
    return ok ? XIR_OK : XIR_E_MEMORY;
}

const format format_deepx = {
    .name = "deepx", .meaning = "DeepX IR", .suffixes = "ir dxir", .traits = XIR_FORMAT_TEXT | XIR_FORMAT_DIALECT,
    .probe = probe, .read = deepx_read, .write = deepx_write, .find_places = find_places,
    .params_found = DEEPX_FOLDER "/", .load_params = deepx_load_params, .read_params = deepx_read_params,
};
