/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Buffers as lines of numbers. The first line names the columns; the others are read field by field. */
#include <inttypes.h>
#include <stdarg.h>
#include <xir/memory.h>
#include "context_base.h"
#include "diagnose.h"
#include "memory.h"
#include "number.h"

typedef enum column { ID, LOWER, UPPER, END, SIZE, ALIGNMENT, OFFSET, COLUMNS } column;

static const struct { const char *name; column is; } names[] = {
    { "id", ID },       { "buffer", ID },   { "buffer_id", ID }, { "lower", LOWER },         { "start", LOWER },
    { "begin", LOWER }, { "upper", UPPER }, { "end", END },      { "size", SIZE },           { "alignment", ALIGNMENT },
    { "offset", OFFSET },
};

enum { MOST_FIELDS = COLUMNS };

typedef struct reader {
    const xir_allocator *alloc;
    const char *at, *end;
    xir_diags  *why;
    uint32_t    line;
    column      columns[MOST_FIELDS];
    size_t      n_columns;
    bool        has[COLUMNS];
    xir_buffer *buffers;
    uint64_t   *offsets;
    size_t      n, room, offset_room;
} reader;

static xir_status fail_line(const reader *r, xir_status code, const char *format, ...) XIR_PRINTF(3, 4);
static xir_status fail_line(const reader *r, xir_status code, const char *format, ...) {
    const xir_diag at = { .severity = XIR_ERROR, .code = code, .byte = XIR_NO_BYTE, .line = r->line, .column = 1 };
    va_list args;
    va_start(args, format);
    const xir_status status = diag_failv(r->why, &at, format, args);
    va_end(args);
    return status;
}

/* The text up to the next comma or the end of the line; a carriage return before that is not part of it. *more is
 * whether a comma follows. */
static xir_str next_field(reader *r, bool *more) {
    const char *from = r->at;
    while (r->at < r->end && *r->at != ',' && *r->at != '\n') r->at++;
    xir_str field = { from, (size_t)(r->at - from) };
    *more = r->at < r->end && *r->at == ',';
    if (!*more && field.size && field.data[field.size - 1] == '\r') field.size--;
    if (r->at < r->end) r->at++;
    return field;
}

static xir_status read_header(reader *r) {
    for (bool more = true; more;) {
        const xir_str field = next_field(r, &more);
        column is = COLUMNS;
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            if (xir_str_equal(field, xir_str_of(names[i].name))) is = names[i].is;
        }
        if (is == COLUMNS) return fail_line(r, XIR_E_SYNTAX, "'%.*s' is not a column of buffers", CLIP(field));
        if (r->has[is] || r->n_columns == MOST_FIELDS)
            return fail_line(r, XIR_E_SYNTAX, "the column '%.*s' appears twice", CLIP(field));
        r->has[is] = true;
        r->columns[r->n_columns++] = is;
    }
    if (r->has[UPPER] && r->has[END]) return fail_line(r, XIR_E_SYNTAX, "there are both 'upper' and 'end'");
    if (r->has[LOWER] && (r->has[UPPER] || r->has[END]) && r->has[SIZE]) return XIR_OK;
    return fail_line(r, XIR_E_SYNTAX, "the first line needs the columns lower, upper and size");
}

/* Digits, perhaps after a minus. */
static bool is_integer(xir_str field) {
    size_t i = field.size > 0 && field.data[0] == '-';
    if (i == field.size) return false;
    while (i < field.size && is_digit(field.data[i])) i++;
    return i == field.size;
}

static xir_status read_number(const reader *r, xir_str field, uint64_t most, uint64_t *out) {
    if (!is_integer(field)) return fail_line(r, XIR_E_SYNTAX, "expected an integer, found '%.*s'", CLIP(field));
    bool fits = field.data[0] != '-';
    *out = 0;
    for (size_t i = 0; i < field.size && fits; i++)
        fits = mul_u64(*out, 10, out) && add_u64(*out, (uint64_t)(field.data[i] - '0'), out);
    if (fits && *out <= most) return XIR_OK;
    return fail_line(r, XIR_E_BOUNDS, "expected a number from 0 to %" PRIu64 ", found '%.*s'", most, CLIP(field));
}

static xir_status store(reader *r, column is, xir_str field, xir_buffer *b, uint64_t *offset) {
    const uint64_t moments = is == LOWER || is == UPPER || is == END ? (uint64_t)INT64_MAX : UINT64_MAX;
    uint64_t n = 0;
    xir_status status = is == ID ? XIR_OK : read_number(r, field, moments, &n);
    switch (status ? ID : is) {
    case LOWER:     b->from = (int64_t)n; break;
    case UPPER:     b->to = (int64_t)n - 1; break;
    case END:       b->to = (int64_t)n; break;
    case SIZE:      b->size = n; break;
    case ALIGNMENT: b->align = n; break;
    case OFFSET:    *offset = n; break;
    default:        break;
    }
    return status;
}

static xir_status read_line(reader *r) {
    xir_buffer b = { .align = 0 };
    uint64_t offset = 0;
    size_t n = 0;
    for (bool more = true; more; n++) {
        const xir_str field = next_field(r, &more);
        if (n == r->n_columns)
            return fail_line(r, XIR_E_SYNTAX, "the line has more fields than the first one, which has %zu", n);
        xir_status status = store(r, r->columns[n], field, &b, &offset);
        if (status) return status;
    }
    if (n < r->n_columns) {
        return fail_line(r, XIR_E_SYNTAX, "expected %zu fields, as in the first line, found %zu", r->n_columns, n);
    }
    if (!mem_reserve(r->alloc, (void **)&r->buffers, &r->room, r->n + 1, sizeof *r->buffers) ||
        (r->has[OFFSET] && !mem_reserve(r->alloc, (void **)&r->offsets, &r->offset_room, r->n + 1, sizeof *r->offsets)))
        return diag_memory(r->why);
    if (r->has[OFFSET]) r->offsets[r->n] = offset;
    r->buffers[r->n++] = b;
    return XIR_OK;
}

static bool only_empty_lines(const reader *r) {
    for (const char *at = r->at; at < r->end; at++) {
        if (*at != '\n' && *at != '\r') return false;
    }
    return true;
}

/* Arrays are as large as the caller of xir_memory_csv_free says. */
static bool shrink(reader *r) {
    const size_t n = r->n + 1;
    if (!mem_reserve(r->alloc, (void **)&r->buffers, &r->room, n, sizeof *r->buffers)) return false;
    xir_buffer *buffers = mem_grow(r->alloc, r->buffers, r->room * sizeof *buffers, n * sizeof *buffers);
    if (!buffers) return false;
    r->buffers = buffers;
    r->room = n;
    if (!r->has[OFFSET]) return true;
    if (!mem_reserve(r->alloc, (void **)&r->offsets, &r->offset_room, n, sizeof *r->offsets)) return false;
    uint64_t *offsets = mem_grow(r->alloc, r->offsets, r->offset_room * sizeof *offsets, n * sizeof *offsets);
    if (!offsets) return false;
    r->offsets = offsets;
    r->offset_room = n;
    return true;
}

xir_status xir_memory_csv_read(xir_context *ctx, xir_str text, xir_buffer **buffers, uint64_t **offsets, size_t *n,
                               xir_diags *why) {
    if (!ctx || !buffers || !offsets || !n) return diag_null(why, !ctx ? "context" : "result");
    if (!text.data) text = XIR_STR("");
    reader r = { .alloc = context_alloc(ctx), .at = text.data, .end = text.data + text.size, .why = why, .line = 1 };
    xir_status status = read_header(&r);
    while (!status && !only_empty_lines(&r)) {
        r.line++;
        status = read_line(&r);
    }
    if (!status && !shrink(&r)) status = diag_memory(why);
    if (status) {
        mem_free(r.alloc, r.buffers, r.room * sizeof *r.buffers);
        mem_free(r.alloc, r.offsets, r.offset_room * sizeof *r.offsets);
        return status;
    }
    *buffers = r.buffers;
    *offsets = r.offsets;
    *n = r.n;
    return XIR_OK;
}

void xir_memory_csv_free(xir_context *ctx, xir_buffer *buffers, uint64_t *offsets, size_t n) {
    if (!ctx) return;
    mem_free(context_alloc(ctx), buffers, (n + 1) * sizeof *buffers);
    mem_free(context_alloc(ctx), offsets, (n + 1) * sizeof *offsets);
}
