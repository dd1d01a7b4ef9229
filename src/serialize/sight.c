/* Formats that XIR detects but cannot read: their files are refused by name, not with the findings of another format's
 * reader. A row is removed when a folder that reads the format is added. */
#include "format.h"

static bool is_line_end(uint8_t c) { return c == '\n' || c == '\r'; }

/* The beginning of the next line; `end` for the last line. */
static const uint8_t *next_line(const uint8_t *p, const uint8_t *end) {
    const uint8_t *feed = memchr(p, '\n', (size_t)(end - p));
    return feed ? feed + 1 : end;
}

/* ncnn has the same magic. An operator of PNNX has a '.' or "::" in its type; one of ncnn does not, nor do the oldest
 * PNNX files. */
static xir_probe_grade probe_pnnx(const xir_probe *file, void *user) {
    static const char magic[] = "7767517";
    enum { MAGIC = sizeof magic - 1 };
    const uint8_t *head = file->head, *end = head + file->head_size;
    (void)user;
    if (file->head_size <= MAGIC || memcmp(head, magic, MAGIC) != 0 || !is_line_end(head[MAGIC])) return XIR_PROBE_NO;
    for (const uint8_t *p = next_line(next_line(head, end), end); p < end && *p != ' '; p++) {
        if (*p == '.' || *p == ':') return XIR_PROBE_YES;
    }
    return XIR_PROBE_LIKELY;
}

/* The magic follows an unused word. */
static xir_probe_grade probe_tsm(const xir_probe *file, void *user) {
    (void)user;
    bool has = file->head_size >= 8 && memcmp((const char *)file->head + 4, "\x29\x09\x91\x19", 4) == 0;
    return has ? XIR_PROBE_YES : XIR_PROBE_NO;
}

const format format_pnnx = {
    .name = "pnnx", .meaning = "PNNX graph", .suffixes = "pnnx.param param", .probe = probe_pnnx,
};
const format format_nnb   = { .name = "nnb",   .meaning = "NNabla binary",      .suffixes = "nnb" };
const format format_tsm   = { .name = "tsm",   .meaning = "TensorStack module", .suffixes = "tsm", .probe = probe_tsm };
const format format_deepx = { .name = "deepx", .meaning = "DeepX IR",           .suffixes = "ir" };
