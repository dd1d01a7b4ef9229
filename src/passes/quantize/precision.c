/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A CSV of the columns op, type, bits, per, saturation, in a file or as it is. The first line names them; columns at
 * the end may be left out, and so may a cell, which says nothing.
 *
 *     op,type,bits,per,saturation
 *     conv1,Conv2d,16,,
 *     *,Softmax,float,,
 *     12,,8,tensor,kld
 *
 * `op` is the name of an op or its id, `*` for all; `type` the last word of its class. `bits` is a number or float. */
#include "precision.h"
#include <stdio.h>
#include <stdlib.h>
#include "file.h"
#include "graph.h"
#include "support/upkeep.h"

enum { COLUMNS = 5, MOST_BYTES = 1 << 26, MOST_STARS = 1000 };   /* a row for all ops looks at each of them */
static const char *const titles[COLUMNS] = { "op", "type", "bits", "per", "saturation" };
enum { OP, TYPE, BITS, PER, SATURATION };   /* ORDER titles */

void precision_init(precision *p, const xir_allocator *alloc) {
    *p = (precision){ .alloc = alloc };
    pointer_table_init(&p->of, alloc);
}

void precision_free(precision *p) {
    pointer_table_free(&p->of);
    mem_free(p->alloc, p->rows, p->room * sizeof *p->rows);
}

const op_precision *precision_of(const precision *p, const xir_op *op) {
    const uint32_t *i = pointer_table_find(&p->of, op);
    return i ? &p->rows[*i] : NULL;
}

/* ---- lines ------------------------------------------------------------------------------------------------------- */

typedef struct reading {
    precision *p;
    xir_pass  *at;
    xir_str    path;
    size_t     line;
    size_t     stars;          /* rows for all ops */
    uint32_t   narrow, wide;
} reading;

static xir_status wrong(const reading *r, xir_status code, const char *what, xir_str found) {
    return xir_pass_fail(r->at, code, NULL, XIR_PRI ":%zu: %s, found '" XIR_PRI "'", XIR_ARG(r->path), r->line, what,
                         XIR_ARG(found));
}

static xir_str trimmed(const char *from, const char *to) {
    while (from < to && (*from == ' ' || *from == '\t')) from++;
    while (to > from && (to[-1] == ' ' || to[-1] == '\t' || to[-1] == '\r')) to--;
    return (xir_str){ from, (size_t)(to - from) };
}

/* The cells of a line, the last ones empty if there are fewer. A name in double quotes may have commas. */
static xir_status split(const reading *r, xir_str line, xir_str cells[COLUMNS]) {
    const char *at = line.data, *end = line.data + line.size;
    for (size_t i = 0; i < COLUMNS; i++) cells[i] = (xir_str){ "", 0 };
    for (size_t i = 0;; i++) {
        if (i == COLUMNS) return wrong(r, XIR_E_SYNTAX, "expected at most 5 cells", line);
        const bool quoted = at < end && *at == '"';
        const char *from = at + quoted;
        for (at = from; at < end && *at != (quoted ? '"' : ','); at++) continue;
        if (quoted && at == end) return wrong(r, XIR_E_SYNTAX, "expected a quotation mark at the end of a name", line);
        cells[i] = quoted ? (xir_str){ from, (size_t)(at - from) } : trimmed(from, at);
        at += quoted;
        if (at >= end) return XIR_OK;
        if (*at++ != ',') return wrong(r, XIR_E_SYNTAX, "expected a comma after a name in quotation marks", line);
    }
}

static xir_status check_titles(const reading *r, xir_str line, const xir_str cells[COLUMNS]) {
    for (size_t i = 0; i < COLUMNS; i++)
        if ((i < 3 || cells[i].size) && !xir_str_equal(cells[i], xir_str_of(titles[i])))
            return wrong(r, XIR_E_SYNTAX, "expected the columns op,type,bits,per,saturation", line);
    return XIR_OK;
}

/* ---- a row ------------------------------------------------------------------------------------------------------- */

static xir_status read_bits(const reading *r, xir_str cell, op_precision *out) {
    char narrow[12], wide[12], sentence[80];
    snprintf(narrow, sizeof narrow, "%u", r->narrow);
    snprintf(wide, sizeof wide, "%u", r->wide);
    out->floats = xir_str_equal(cell, XIR_STR("float"));
    if (!cell.size || out->floats) return XIR_OK;
    if (xir_str_equal(cell, xir_str_of(narrow))) out->bits = r->narrow;
    else if (r->wide && xir_str_equal(cell, xir_str_of(wide))) out->bits = r->wide;
    if (out->bits) return XIR_OK;
    snprintf(sentence, sizeof sentence, "bits: expected %s%s%s or float", narrow, r->wide ? ", " : "",
             r->wide ? wide : "");
    return wrong(r, XIR_E_BOUNDS, sentence, cell);
}

static xir_status read_row(const reading *r, const xir_str cells[COLUMNS], op_precision *out) {
    const xir_str per = cells[PER], method = cells[SATURATION];
    *out = (op_precision){ .per_said = per.size > 0, .method_said = method.size > 0 };
    out->per_tensor = xir_str_equal(per, XIR_STR("tensor"));
    if (per.size && !out->per_tensor && !xir_str_equal(per, XIR_STR("channel")))
        return wrong(r, XIR_E_UNKNOWN, "per: expected tensor or channel", per);
    if (method.size && !xir_range_method_of(method, &out->method))
        return wrong(r, XIR_E_UNKNOWN, "saturation: expected max, average, percentile, mse or kld", method);
    return read_bits(r, cells[BITS], out);
}

/* Returns true if the word is the class, its key without what is before the last "::". */
static bool is_of_type(const xir_op *op, xir_str word) {
    const xir_str key = op->cls->key;
    if (!word.size || xir_str_equal(word, XIR_STR("*")) || xir_str_equal(word, key)) return true;
    return key.size > word.size + 2 && memcmp(key.data + key.size - word.size, word.data, word.size) == 0 &&
           key.data[key.size - word.size - 1] == ':';
}

static bool set(precision *p, const xir_op *op, const op_precision *row) {
    const uint32_t *known = pointer_table_find(&p->of, op);
    if (known) {
        p->rows[*known] = *row;
        return true;
    }
    if (!mem_reserve(p->alloc, (void **)&p->rows, &p->room, p->n + 1, sizeof *p->rows)) return false;
    p->rows[p->n] = *row;
    return pointer_table_add(&p->of, op, (uint32_t)p->n++) != NULL;
}

/* Returns true if the network can look up ops: its tables need memory once. */
static bool has_tables(const xir_network *net) {
    const xir_op *named = net->first;
    while (named && !xir_op_name(named).size) named = named->next;
    return (!net->first || xir_network_op_by_id(net, xir_op_id(net->first))) &&
           (!named || xir_network_op_by_name(net, xir_op_name(named)));
}

/* The op of a name, or of an id; NULL if there is none. */
static const xir_op *op_called(xir_network *net, xir_str name) {
    char text[24], *end;
    const xir_op *op = name.size ? xir_network_op_by_name(net, name) : NULL;
    if (op || !name.size || name.size >= sizeof text) return op;
    memcpy(text, name.data, name.size);
    text[name.size] = '\0';
    const long long id = strtoll(text, &end, 10);
    return *end ? NULL : xir_network_op_by_id(net, id);
}

static xir_status match(reading *r, xir_str line, const xir_str cells[COLUMNS], const op_precision *row) {
    xir_network *net = r->at->net;
    size_t n = 0;
    bool kept = true;
    if (xir_str_equal(cells[OP], XIR_STR("*"))) {
        if (r->stars++ == MOST_STARS) return wrong(r, XIR_E_LIMIT, "expected at most 1000 rows for all ops", line);
        for (const xir_op *op = net->first; op && kept; op = op->next) {
            if (op == xir_network_input_op(net) || op == xir_network_output_op(net) || !is_of_type(op, cells[TYPE]))
                continue;
            kept = set(r->p, op, row);
            n++;
        }
    } else {
        const xir_op *op = op_called(net, cells[OP]);
        if (op && is_of_type(op, cells[TYPE])) {
            kept = set(r->p, op, row);
            n++;
        }
    }
    if (!kept) return XIR_E_MEMORY;
    return n ? XIR_OK : wrong(r, XIR_E_UNKNOWN, "the row matches no op of the network", line);
}

/* ---- the file ---------------------------------------------------------------------------------------------------- */

static xir_status read_text(reading *r, xir_str text) {
    xir_status status = XIR_OK;
    bool titled = false;
    for (size_t from = 0; from < text.size && !status;) {
        const char *begin = text.data + from, *newline = memchr(begin, '\n', text.size - from);
        const xir_str line = trimmed(begin, newline ? newline : text.data + text.size);
        xir_str cells[COLUMNS];
        op_precision row;
        from += newline ? (size_t)(newline - begin) + 1 : text.size - from;
        r->line++;
        if (!line.size || *line.data == '#') continue;
        status = split(r, line, cells);
        if (!status && !titled) status = check_titles(r, line, cells);
        else if (!status) {
            status = read_row(r, cells, &row);
            if (!status) status = match(r, line, cells, &row);
        }
        titled = true;
    }
    return status;
}

xir_status precision_read(precision *p, xir_pass *at, uint32_t narrow, uint32_t wide) {
    reading r = { .p = p, .at = at, .path = xir_pass_text(at, "precision"), .narrow = narrow, .wide = wide };
    file_reader file;
    if (!r.path.size) return XIR_OK;
    if (!has_tables(at->net)) return XIR_E_MEMORY;
    if (memchr(r.path.data, '\n', r.path.size)) {   /* not a path, but the text */
        const xir_str text = r.path;
        r.path = XIR_STR("precision");
        return read_text(&r, text);
    }
    char *path = mem_new(p->alloc, r.path.size + 1);
    if (!path) return XIR_E_MEMORY;
    memcpy(path, r.path.data, r.path.size);
    path[r.path.size] = '\0';
    blob *bytes = file_reader_open(&file, at->net->ctx, path, at->why) ? NULL : file_reader_all(&file, MOST_BYTES);
    xir_status status = file.status;
    if (bytes) status = read_text(&r, (xir_str){ (const char *)bytes->bytes, (size_t)bytes->size });
    file_reader_close(&file);
    blob_release(bytes);
    mem_free(p->alloc, path, r.path.size + 1);
    return status;
}
