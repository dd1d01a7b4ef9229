/* Formats that are known by sight: their files are refused by name, not with the complaints of a reader for another
 * format. Each row gives way to that of the folder which reads the format. */
#include "format.h"

static bool is_line_end(uint8_t c) { return c == '\n' || c == '\r'; }

/* To the line after the next; `end` if there is none. */
static const uint8_t *next_line(const uint8_t *p, const uint8_t *end) {
    const uint8_t *feed = memchr(p, '\n', (size_t)(end - p));
    return feed ? feed + 1 : end;
}

/* The magic is that of ncnn too. An operator of PNNX has a '.' or "::" in its type, one of ncnn has not, and neither
 * have PNNX's oldest files. */
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

/* The magic comes after a word that is not used. */
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
