/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The text as a format. */
#include "raw/raw.h"
#include "text/text_format.h"
#include "utf8.h"

/* The first line that is not a comment: "xir 1". */
static const char *first_line(const char *p, const char *end) {
    p += utf8_mark(p, (size_t)(end - p));
    for (;;) {
        while (p < end && (*p == ' ' || *p == '\t' || *p == '\r' || *p == '\n')) p++;
        if (end - p < 2 || p[0] != '/' || p[1] != '/') return p;
        while (p < end && *p != '\n') p++;
    }
}

static xir_probe_grade probe(const xir_probe *file, void *user) {
    const char *head = file->head, *end = head + file->head_size, *p = first_line(head, end);
    (void)user;
    if (end - p >= 5) return memcmp(p, "xir ", 4) == 0 && p[4] >= '0' && p[4] <= '9' ? XIR_PROBE_YES : XIR_PROBE_NO;
    return end - p >= 3 && memcmp(p, "xir ", (size_t)(end - p)) == 0 ? XIR_PROBE_MAYBE : XIR_PROBE_NO;
}

static bool may_begin(const uint8_t *head, size_t size) {
    const char *end = (const char *)head + size, *p = first_line((const char *)head, end);
    const size_t n = end - p < 3 ? (size_t)(end - p) : 3;
    return memcmp(p, "xir", n) == 0;
}

const format format_text = {
    .name = "text", .meaning = "text that people read and write", .suffixes = "xir", .traits = XIR_FORMAT_TEXT,
    .probe = probe, .may_begin = may_begin, .read = text_read, .write = text_write,
    .params_found = RAW_FOUND, .params_written = RAW_WRITTEN, .load_params = raw_load_params,
    .read_params = raw_read_params, .params_may_begin = raw_may_begin, .write_params = raw_write_params,
    .has_inside = text_is_inline, .spells_dims = true, .find_places = text_find_places,
    .read_part = text_read_part, .write_part = text_write_part,
};
