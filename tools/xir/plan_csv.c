/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* xir plan --from-csv: plans the buffers of a file of numbers. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "plan.h"

const char *plan_limit, *plan_effort;

/* ---- reading ------------------------------------------------------------------------------------- */

static bool read_whole(const char *path, text *t) {
    char block[1 << 16];
    FILE *in = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
    if (!in) return false;
    for (size_t n; (n = fread(block, 1, sizeof block, in)) > 0;) text_add(t, block, n);
    const bool ok = !ferror(in);
    if (in != stdin) fclose(in);
    return ok;
}

static bool read_word(const char *word, uint64_t most, uint64_t *out) {
    char *end;
    if (!word) return true;
    errno = 0;
    *out = strtoull(word, &end, 10);
    return *word >= '0' && *word <= '9' && !*end && !errno && *out <= most;
}

/* ---- the names of buffers ------------------------------------------------------------------------ */

/* The lines of a file that has been read: all have as many fields. */
typedef struct lines {
    xir_str left;
    size_t  id;      /* the number of the column of names; SIZE_MAX: there is none */
} lines;

static xir_str next_line(xir_str *left) {
    const char *end = memchr(left->data, '\n', left->size);
    xir_str line = { left->data, end ? (size_t)(end - left->data) : left->size };
    left->data += line.size + (end != NULL);
    left->size -= line.size + (end != NULL);
    if (line.size && line.data[line.size - 1] == '\r') line.size--;
    return line;
}

/* A field of a line, counted from 0; false past the end. */
static bool field_at(xir_str line, size_t i, xir_str *field) {
    for (;; i--) {
        const char *comma = line.size ? memchr(line.data, ',', line.size) : NULL;
        *field = (xir_str){ line.data, comma ? (size_t)(comma - line.data) : line.size };
        if (!i || !comma) return !i;
        line.size -= field->size + 1;
        line.data = comma + 1;
    }
}

static lines lines_of(xir_str whole) {
    static const char *const names[] = { "id", "buffer", "buffer_id" };
    lines l = { whole, SIZE_MAX };
    const xir_str header = next_line(&l.left);
    xir_str field;
    for (size_t i = 0; field_at(header, i, &field); i++) {
        for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
            if (xir_str_equal(field, xir_str_of(names[k]))) l.id = i;
        }
    }
    return l;
}

static void print_plan(const xir_buffer *b, const uint64_t *offsets, size_t n, xir_str whole) {
    lines l = lines_of(whole);
    puts("id,lower,upper,size,alignment,offset");
    for (size_t i = 0; i < n; i++) {
        xir_str id;
        const xir_str line = next_line(&l.left);
        if (l.id != SIZE_MAX && field_at(line, l.id, &id)) print_text(stdout, id);
        else printf("%zu", i);
        printf(",%" PRId64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n", b[i].from, (uint64_t)b[i].to + 1,
               b[i].size, b[i].align ? b[i].align : 1, offsets[i]);
    }
}

/* ---- the whole ----------------------------------------------------------------------------------- */

static int plan_buffers(const xir_buffer *buffers, size_t n, uint64_t effort, uint64_t limit, xir_str whole,
                        xir_diags *why) {
    const xir_memory_options with =
        XIR_INIT(xir_memory_options, .effort = (xir_effort)(XIR_EFFORT_SWEEP + effort), .limit = limit);
    xir_memory_plan *plan = xir_memory_plan_new(context, buffers, n, &with, why);
    if (plan) print_plan(buffers, xir_memory_plan_offsets(plan), n, whole);
    const int code = plan ? DONE : code_of(why);
    xir_memory_plan_free(plan);
    return code;
}

int plan_csv(const char *path) {
    uint64_t limit = 0, effort = 1, *offsets;
    xir_buffer *buffers;
    size_t n;
    text t = { 0 };
    if (!read_word(plan_limit, UINT64_MAX, &limit)) return complain(MISUSED, "--limit takes a number of bytes");
    if (!read_word(plan_effort, 2, &effort)) return complain(MISUSED, "--effort takes 0, 1 or 2");
    if (!read_whole(path, &t)) {
        const int why = errno;
        text_free(&t);
        return complain_of(REFUSED, path, "%s", strerror(why));
    }
    xir_diags *why = new_diags();
    int code = exit_of(xir_memory_csv_read(context, text_of(&t), &buffers, &offsets, &n, why));
    if (!code) {
        if (offsets) code = exit_of(xir_memory_plan_check(context, buffers, offsets, n, 0, why));
        if (!code) code = plan_buffers(buffers, n, effort, limit, text_of(&t), why);
        xir_memory_csv_free(context, buffers, offsets, n);
    }
    say(why);
    xir_diags_free(why);
    text_free(&t);
    return code;
}
