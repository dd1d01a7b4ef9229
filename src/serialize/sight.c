/* Formats that XIR detects but cannot read: their files are refused by name, not with the findings of another format's
 * reader. A row is removed when a folder that reads the format is added. */
#include "format.h"

/* The magic follows an unused word. */
static xir_probe_grade probe_tsm(const xir_probe *file, void *user) {
    (void)user;
    bool has = file->head_size >= 8 && memcmp((const char *)file->head + 4, "\x29\x09\x91\x19", 4) == 0;
    return has ? XIR_PROBE_YES : XIR_PROBE_NO;
}

const format format_tsm   = { .name = "tsm",   .meaning = "TensorStack module", .suffixes = "tsm", .probe = probe_tsm };
const format format_deepx = { .name = "deepx", .meaning = "DeepX IR",           .suffixes = "ir" };
