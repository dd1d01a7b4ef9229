/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The rows of xir stats: as a table for people, as wide as the terminal, and exactly, as CSV and JSON. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "stats.h"

#define CLASSES  (1u << BY_CLASS)
#define OPS      (1u << BY_OP)
#define SCOPES   (1u << BY_SCOPE)
#define GROUPS   (CLASSES | SCOPES)
#define ALL      (GROUPS | OPS)

enum { LEAST_NAME = 16, MOST_PADDING = 60 };

const stats_column stats_columns[] = {
    /* word             title            figure                  in      rank  text   bytes */
    { "name",            "",              FIGURES,                ALL,    9,    true,  false },
    { "op_id",           "",              FIGURES,                OPS,    0,    false, false },
    { "class",           "class",         FIGURES,                OPS,    4,    true,  false },
    { "type",            "type",          FIGURES,                OPS,    3,    true,  false },
    { "ops",             "ops",           FIGURES,                GROUPS, 8,    false, false },
    { "parameters",      "parameters",    FIGURE_PARAMETERS,      ALL,    7,    false, false },
    { "parameter_bytes", "",              FIGURE_PARAMETER_BYTES, ALL,    0,    false, true  },
    { "multiply_adds",   "multiply-adds", FIGURE_MULTIPLY_ADDS,   ALL,    8,    false, false },
    { "share",           "share",         FIGURES,                ALL,    5,    false, false },
    { "element_ops",     "element ops",   FIGURE_ELEMENT_OPS,     ALL,    1,    false, false },
    { "bytes_read",      "read",          FIGURE_READ,            ALL,    2,    false, true  },
    { "bytes_written",   "written",       FIGURE_WRITTEN,         ALL,    2,    false, true  },
    { "live_bytes",      "alive",         FIGURES,                OPS,    6,    false, true  },
};
const size_t stats_column_count = sizeof stats_columns / sizeof stats_columns[0];

static bool is(const stats_column *c, const char *word) { return strcmp(c->word, word) == 0; }

bool stats_has(const stats *s, const stats_column *c) { return c->in >> s->by & 1; }

/* Rows can be sorted by what a table of them has, or as they are. Types have no order. */
static bool sorts(const stats *s, const stats_column *c) {
    return stats_has(s, c) && !is(c, "type") && !is(c, "op_id") && !is(c, "share");
}

const stats_column *stats_column_named(const stats *s, const char *word) {
    const char *names[sizeof stats_columns / sizeof stats_columns[0] + 1];
    size_t n = 0;
    text list = { 0 };
    char *spelled = join(word, "");
    const stats_column *found = NULL;
    for (char *c = spelled; *c; c++) *c = *c == '-' ? '_' : *c;
    for (size_t i = 0; i < stats_column_count; i++) {
        const stats_column *c = &stats_columns[i];
        if (!sorts(s, c)) continue;
        if (strcmp(c->word, spelled) == 0) found = c;
        names[n++] = c->word;
        text_printf(&list, ", %s", c->word);
    }
    names[n] = NULL;
    const char *meant = found ? NULL : nearest(spelled, names);
    if (!found && meant) complain(MISUSED, "--sort: there is no column '%s'; did you mean '%s'?", word, meant);
    else if (!found) complain(MISUSED, "--sort: there is no column '%s'; it takes order%s", word, list.data);
    text_free(&list);
    free(spelled);
    return found;
}

/* ---- for people: texts -------------------------------------------------------------------------------- */

size_t stats_columns_of(xir_str s) {
    size_t n = 0;
    for (size_t i = 0; i < s.size; i++) n += ((unsigned char)s.data[i] & 0xC0) != 0x80;
    return n;
}

void stats_count(char out[16], uint64_t n, bool bytes) {
    static const char *const units[] = { "", "k", "M", "G", "T", "P", "E" };
    size_t unit = 0;
    double v = (double)n;
    if (n < 10000) {
        snprintf(out, 16, bytes ? "%u B" : "%u", (unsigned)n);
        return;
    }
    while (v >= 999.95 && unit + 1 < sizeof units / sizeof units[0]) v /= 1000, unit++;
    snprintf(out, 16, "%.*f %s%s", v < 9.9995 ? 3 : v < 99.995 ? 2 : 1, v, units[unit], bytes ? "B" : "");
}

/* A figure of ops some of which may not be known: "12.3 k", "12.3 k + ?", "?". */
static void put_figure(text *t, const stats_row *row, figure f, bool bytes) {
    char number[16];
    if (row->known[f] == XIR_COST_UNKNOWN || (row->unknown[f] && row->unknown[f] == row->ops)) {
        text_put(t, "?");
        return;
    }
    stats_count(number, row->known[f], bytes);
    text_put(t, number);
    if (row->unknown[f]) text_put(t, " + ?");
}

/* The share of the known multiply-adds. */
static double share_of(const stats *s, const stats_row *row) {
    const uint64_t all = s->all.known[FIGURE_MULTIPLY_ADDS], mine = row->known[FIGURE_MULTIPLY_ADDS];
    if (!all || all == XIR_COST_UNKNOWN || mine == XIR_COST_UNKNOWN) return -1;
    if (row->unknown[FIGURE_MULTIPLY_ADDS] == row->ops) return -1;
    return (double)mine / (double)all;
}

static void put_types(text *t, const xir_op *op) {
    for (size_t i = 0; i < xir_op_output_count(op); i++) {
        if (i) text_put(t, ", ");
        type_words(t, xir_value_type(xir_op_output(op, (int64_t)i)));
    }
}

void stats_name(text *t, const stats_row *row, size_t most) {
    text whole = { 0 };
    if (!row->name.size && row->op) text_printf(&whole, "(op %" PRId64 ")", xir_op_id(row->op));
    else if (!row->name.size) text_put(&whole, "(none)");
    else text_shown(&whole, row->name);
    size_t n = stats_columns_of(text_of(&whole)), skip = 0;
    if (n > most) {
        text_put(t, "...");
        for (; n + 3 > most || (whole.data[skip] & 0xC0) == 0x80; skip++) n -= (whole.data[skip] & 0xC0) != 0x80;
    }
    text_add(t, whole.data + skip, whole.size - skip);
    text_free(&whole);
}

static void put_cell(text *t, const stats *s, const stats_row *row, const stats_column *c, size_t most) {
    const bool whole = row == &s->others || row == &s->all;
    char number[16];
    if (is(c, "name")) {
        if (row == &s->others) text_printf(t, "%" PRIu64 " other ops", row->ops);
        else if (row == &s->all) text_put(t, "all");
        else stats_name(t, row, most);
    } else if (c->figure < FIGURES) {
        put_figure(t, row, c->figure, c->is_bytes);
    } else if (is(c, "share")) {
        const double share = share_of(s, row);
        if (share >= 0) text_printf(t, "%.1f %%", share * 100);
    } else if (is(c, "ops")) {
        text_printf(t, "%" PRIu64, row->ops);
    } else if (is(c, "class") && !whole) {
        text_shown(t, xir_class_key(row->cls));
    } else if (is(c, "type") && !whole) {
        text types = { 0 };
        put_types(&types, row->op);
        text_shown(t, text_of(&types));
        text_free(&types);
    } else if (is(c, "live_bytes") && !whole && s->live) {
        stats_count(number, row->live, true);
        text_printf(t, "%s%s", number, row->live_unknown ? " + ?" : "");
    }
}

/* ---- for people: the table ------------------------------------------------------------------------------ */

typedef struct table {
    const stats *s;
    size_t wide[sizeof stats_columns / sizeof stats_columns[0]];   /* 0: left out */
    text   cell, line;
} table;

static const stats_row *row_at(const stats *s, size_t i) {
    return i < s->n ? &s->rows[i] : i == s->n && s->others.ops ? &s->others : &s->all;
}
static size_t row_count(const stats *s) { return s->n + (s->others.ops ? 2 : 1); }

static size_t width_of(const table *t) {
    size_t n = 0;
    for (size_t k = 0; k < stats_column_count; k++) n += t->wide[k] ? t->wide[k] + (k ? 2 : 0) : 0;
    return n;
}

static void measure(table *t) {
    for (size_t k = 0; k < stats_column_count; k++) {
        const stats_column *c = &stats_columns[k];
        t->wide[k] = 0;
        if (!stats_has(t->s, c) || !c->rank) continue;
        t->wide[k] = strlen(c->title);
        for (size_t i = 0; i < row_count(t->s); i++) {
            t->cell.size = 0;
            text_put(&t->cell, "");
            put_cell(&t->cell, t->s, row_at(t->s, i), c, SIZE_MAX);
            size_t n = stats_columns_of(text_of(&t->cell));
            if (c->is_text && n > MOST_PADDING) n = MOST_PADDING;   // longer ones push the rest of their line
            if (n > t->wide[k]) t->wide[k] = n;
        }
    }
}

/* Leaves out columns, those of the lowest rank first, and shortens names, until a line fits. */
static void narrow(table *t, size_t width) {
    for (int rank = 1; rank < 8 && width_of(t) > width; rank++) {
        const size_t over = width_of(t) - width;
        if (rank > 4 && t->wide[0] > LEAST_NAME + over) break;
        for (size_t k = stats_column_count; k-- > 0 && width_of(t) > width;) {
            if (stats_columns[k].rank == rank) t->wide[k] = 0;
        }
    }
    const size_t n = width_of(t), over = n > width ? n - width : 0;
    if (t->wide[0] > LEAST_NAME) t->wide[0] = t->wide[0] > LEAST_NAME + over ? t->wide[0] - over : LEAST_NAME;
}

static void pad(text *t, size_t n) {
    for (; n; n--) text_add(t, " ", 1);
}

/* Texts begin where their column begins, numbers end where it ends. */
static void put_padded(table *t, size_t k, const char *cell, size_t size) {
    const size_t n = stats_columns_of((xir_str){ cell, size }), wide = t->wide[k];
    if (t->line.size) text_put(&t->line, "  ");
    if (!stats_columns[k].is_text && n < wide) pad(&t->line, wide - n);
    text_add(&t->line, cell, size);
    if (stats_columns[k].is_text && n < wide) pad(&t->line, wide - n);
}

/* The titles and the sums are bold. */
static void end_line(table *t, bool is_bold) {
    while (t->line.size && t->line.data[t->line.size - 1] == ' ') t->line.size--;
    if (is_bold) paint(stdout, "1");
    fwrite(t->line.data, 1, t->line.size, stdout);
    if (is_bold) paint(stdout, "0");
    putchar('\n');
    t->line.size = 0;
}

static void print_table(const stats *s) {
    static const char *const titles[] = { "class", "op", "scope" };   /* ORDER BY */
    table t = { .s = s };
    const size_t width = terminal_width();
    measure(&t);
    if (width < SIZE_MAX) narrow(&t, width);
    for (size_t k = 0; k < stats_column_count; k++) {
        const char *title = k ? stats_columns[k].title : titles[s->by];
        if (t.wide[k]) put_padded(&t, k, title, strlen(title));
    }
    end_line(&t, true);
    for (size_t i = 0; i < row_count(s); i++) {
        for (size_t k = 0; k < stats_column_count; k++) {
            if (!t.wide[k]) continue;
            t.cell.size = 0;
            text_put(&t.cell, "");
            put_cell(&t.cell, s, row_at(s, i), &stats_columns[k], width < SIZE_MAX ? t.wide[k] : SIZE_MAX);
            put_padded(&t, k, t.cell.data, t.cell.size);
        }
        end_line(&t, row_at(s, i) == &s->all);
    }
    text_free(&t.cell);
    text_free(&t.line);
}

/* ---- for people: sums ----------------------------------------------------------------------------------- */

static void print_unknown(const stats *s) {
    static const char *const names[] = {   /* ORDER FIGURE */
        "parameters", "parameter bytes", "multiply-adds", "element ops", "bytes read", "bytes written",
    };
    bool any = false;
    for (int f = 0; f < FIGURES; f++) {
        if (!s->all.unknown[f]) continue;
        printf(any ? ", %s of %" PRIu64 : "not known      %s of %" PRIu64, names[f], s->all.unknown[f]);
        any = true;
    }
    if (any) printf(" ops\n");
}

/* Nothing is known if no value has known bytes. */
static bool knows_peak(const stats *s) { return s->live && (!s->peak.unknown || s->peak.unknown < s->peak.values); }

static void print_peak(const stats *s) {
    char bytes[16];
    text t = { 0 };
    if (!knows_peak(s)) {
        printf("peak memory    not known\n");
        return;
    }
    stats_count(bytes, s->peak.bytes, true);
    printf("peak memory    %s", bytes);
    if (s->peak.op) {
        text_shown(&t, xir_class_key(xir_op_class(s->peak.op)));
        if (xir_op_name(s->peak.op).size) {
            text_put(&t, " '");
            text_shown(&t, xir_op_name(s->peak.op));
            text_put(&t, "'");
        }
        printf(" while %s runs (op %" PRId64 ", number %" PRId64 " of %zu)", t.data, xir_op_id(s->peak.op),
               s->peak.position + 1, s->n_live);
        text_free(&t);
    }
    if (s->peak.unknown)
        printf("; of %" PRIu64 " of %" PRIu64 " values the bytes are not known", s->peak.unknown, s->peak.values);
    printf("\n");
}

static void print_sum(const char *word, const stats *s, figure f, bool bytes, figure more, const char *words) {
    text t = { 0 };
    text_printf(&t, "%-14s ", word);
    put_figure(&t, &s->all, f, bytes);
    if (more != FIGURES) {
        text_put(&t, words);
        put_figure(&t, &s->all, more, true);
    }
    printf("%s%s\n", t.data, more == FIGURE_WRITTEN ? " written" : "");
    text_free(&t);
}

void stats_print(const stats *s) {
    print_table(s);
    printf("\n%-14s %" PRIu64 "%s%s\n", "ops", s->all.ops, s->converted ? ", converted" : "",
           s->converted && xir_network_is_dialect(s->l->net) ? " in part" : "");
    print_sum("parameters", s, FIGURE_PARAMETERS, false, FIGURE_PARAMETER_BYTES, " in ");
    print_sum("multiply-adds", s, FIGURE_MULTIPLY_ADDS, false, FIGURES, "");
    print_sum("element ops", s, FIGURE_ELEMENT_OPS, false, FIGURES, "");
    print_sum("bytes", s, FIGURE_READ, true, FIGURE_WRITTEN, " read, ");
    print_unknown(s);
    print_peak(s);
}

/* ---- for programs ----------------------------------------------------------------------------------------- */

/* A figure that is not known of all of the row's ops has no number. */
static bool whole_figure(const stats_row *row, const stats_column *c, uint64_t *n) {
    *n = row->known[c->figure];
    return !row->unknown[c->figure] && *n != XIR_COST_UNKNOWN;
}

/* Quoted if it has to be; control characters are escaped as for people. */
static void csv_text(text *t, xir_str s) {
    text shown = { 0 };
    text_shown(&shown, s);
    const bool quoted = shown.size && strpbrk(shown.data, ",\"");
    if (quoted) text_put(t, "\"");
    for (size_t i = 0; i < shown.size; i++) {
        if (shown.data[i] == '"') text_put(t, "\"");
        text_add(t, &shown.data[i], 1);
    }
    if (quoted) text_put(t, "\"");
    text_free(&shown);
}

static void csv_cell(text *t, const stats *s, const stats_row *row, const stats_column *c) {
    uint64_t n;
    text types = { 0 };
    if (is(c, "name")) csv_text(t, row->name);
    else if (is(c, "class")) csv_text(t, xir_class_key(row->cls));
    else if (is(c, "op_id")) text_printf(t, "%" PRId64, xir_op_id(row->op));
    else if (is(c, "ops")) text_printf(t, "%" PRIu64, row->ops);
    else if (is(c, "share") && share_of(s, row) >= 0) text_printf(t, "%.6f", share_of(s, row));
    else if (is(c, "live_bytes") && s->live && !row->live_unknown) text_printf(t, "%" PRIu64, row->live);
    else if (c->figure < FIGURES && whole_figure(row, c, &n)) text_printf(t, "%" PRIu64, n);
    if (!is(c, "type")) return;
    put_types(&types, row->op);
    csv_text(t, text_of(&types));
    text_free(&types);
}

void stats_print_csv(const stats *s) {
    text line = { 0 };
    for (size_t i = 0; i <= s->n; i++) {
        bool more = false;
        for (size_t k = 0; k < stats_column_count; k++) {
            if (!stats_has(s, &stats_columns[k])) continue;
            if (more) text_put(&line, ",");
            more = true;
            if (i) csv_cell(&line, s, &s->rows[i - 1], &stats_columns[k]);
            else text_put(&line, stats_columns[k].word);
        }
        text_put(&line, "\n");
        fwrite(line.data, 1, line.size, stdout);
        line.size = 0;
    }
    text_free(&line);
}

/* The figures of a row: null if one is not known of an op; `known` and `unknown` say more of several ops. */
static void put_figures(json_out *j, const stats_row *row) {
    uint64_t n;
    bool open = false;
    for (size_t k = 0; k < stats_column_count; k++) {
        const stats_column *c = &stats_columns[k];
        if (c->figure == FIGURES) continue;
        if (whole_figure(row, c, &n)) json_uint(j, c->word, n);
        else json_null(j, c->word);
        open |= row->unknown[c->figure] != 0;
    }
    if (!open || row->ops < 2) return;
    json_open(j, "known", '{');
    for (size_t k = 0; k < stats_column_count; k++) {
        const stats_column *c = &stats_columns[k];
        if (c->figure < FIGURES && row->unknown[c->figure]) json_uint(j, c->word, row->known[c->figure]);
    }
    json_close(j, '}');
    json_open(j, "unknown_ops", '{');
    for (size_t k = 0; k < stats_column_count; k++) {
        const stats_column *c = &stats_columns[k];
        if (c->figure < FIGURES && row->unknown[c->figure]) json_uint(j, c->word, row->unknown[c->figure]);
    }
    json_close(j, '}');
}

static void put_op(json_out *j, const stats *s, const stats_row *row) {
    json_str(j, "class", xir_class_key(row->cls));
    json_int(j, "op_id", xir_op_id(row->op));
    json_open(j, "outputs", '[');
    for (size_t i = 0; i < xir_op_output_count(row->op); i++) {
        json_open(j, NULL, '{');
        json_type(j, xir_value_type(xir_op_output(row->op, (int64_t)i)));
        json_close(j, '}');
    }
    json_close(j, ']');
    if (s->live && !row->live_unknown) json_uint(j, "live_bytes", row->live);
    else json_null(j, "live_bytes");
}

static void put_row(json_out *j, const stats *s, const char *member, const stats_row *row) {
    json_open(j, member, '{');
    if (row != &s->all && row != &s->others) json_str(j, "name", row->name);
    if (row == &s->all || row == &s->others || s->by != BY_OP) json_uint(j, "ops", row->ops);
    else put_op(j, s, row);
    put_figures(j, row);
    if (share_of(s, row) >= 0) {
        json_member(j, "share");
        json_real(&j->t, share_of(s, row));
    } else {
        json_null(j, "share");
    }
    json_close(j, '}');
}

static void put_peak(json_out *j, const stats *s) {
    json_open(j, "peak", '{');
    json_uint(j, "bytes", s->peak.bytes);
    json_bool(j, "exact", s->peak.exact);
    json_uint(j, "values", s->peak.values);
    json_uint(j, "unknown_values", s->peak.unknown);
    if (s->peak.op) {
        json_int(j, "position", s->peak.position);
        json_int(j, "op_id", xir_op_id(s->peak.op));
        json_str(j, "name", xir_op_name(s->peak.op));
        json_str(j, "class", xir_class_key(xir_op_class(s->peak.op)));
    }
    json_close(j, '}');
}

void stats_put_json(const stats *s, json_out *j) {
    static const char *const words[] = { "class", "op", "scope" };   /* ORDER BY */
    json_str(j, "format", xir_str_of(s->l->format->name));
    json_str(j, "name", xir_network_name(s->l->net));
    json_bool(j, "converted", s->converted);
    json_str(j, "by", xir_str_of(words[s->by]));
    json_open(j, "rows", '[');
    for (size_t i = 0; i < s->n; i++) put_row(j, s, NULL, &s->rows[i]);
    json_close(j, ']');
    if (s->others.ops) put_row(j, s, "others", &s->others);
    put_row(j, s, "total", &s->all);
    if (knows_peak(s)) put_peak(j, s);
    else json_null(j, "peak");
}
