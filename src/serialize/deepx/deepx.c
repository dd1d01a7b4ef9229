/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* DeepX IR as a format: a text with an instruction a line. */
#include <xir/deepx.h>
#include "context.h"
#include "deepx/folder.h"

void xir_deepx_as_calls(xir_context *ctx, bool as_calls) {
    if (ctx) ctx->as_calls = as_calls;
}

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
    while (name < line.size && (deepx_is_letter(line.data[name]) || is_digit(line.data[name]))) name++;
    if (!name || name == line.size || !strchr(" (\t", line.data[name]) || line.data[name] == '\0') return XIR_PROBE_NO;
    for (size_t i = name; i + 1 < line.size; i++) {
        if (line.data[i] == '\0') return XIR_PROBE_NO;
        if (line.data[i] == '-' && line.data[i + 1] == '>') return XIR_PROBE_LIKELY;
    }
    return XIR_PROBE_NO;
}

const format format_deepx = {
    .name = "deepx", .meaning = "DeepX IR", .suffixes = "ir dxir", .traits = XIR_FORMAT_TEXT | XIR_FORMAT_DIALECT,
    .probe = probe, .read = deepx_read, .write = deepx_write, .find_places = deepx_find_places,
    .params_found = DEEPX_FOLDER "/", .params_written = DEEPX_FOLDER "/", .makes_params = true,
    .load_params = deepx_load_params, .read_params = deepx_read_params, .has_files = deepx_has_files,
    .is_own_file = deepx_is_own_file, .write_folder = deepx_write_folder,
};
