/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The pictures of xir stats: a bar for each row, and a curve of the bytes that are alive along the execution order. In
 * block characters, which have eighths, or in ASCII. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "stats.h"

enum { HEIGHT = 10, USUAL_WIDTH = 80, LEAST_WIDTH = 40, MOST_WIDTH = 400, USUAL_BARS = 30, LABEL = 12 };

/* Returns true if the locale is UTF-8, as the environment says. */
static bool has_blocks(void) {
    static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *locale = getenv(names[i]);
        if (locale && *locale) return strcasestr(locale, "utf-8") || strcasestr(locale, "utf8");
    }
    return false;
}

static size_t width(void) {
    const size_t n = terminal_width();
    return n == SIZE_MAX ? USUAL_WIDTH : n < LEAST_WIDTH ? LEAST_WIDTH : n > MOST_WIDTH ? MOST_WIDTH : n;
}

/* So many eighths of a block, filled from the left or from below: U+258F to U+2588, U+2581 to U+2588. In ASCII half a
 * character is a whole one. */
static void put_block(text *t, int eighths, bool from_below) {
    static const char ascii[] = "   .####", bar[] = "    ####";
    if (eighths <= 0) text_put(t, " ");
    else if (has_blocks()) text_printf(t, "\xE2\x96%c", from_below ? 0x80 + eighths : 0x90 - eighths);
    else text_add(t, (from_below ? ascii : bar) + (eighths < 8 ? eighths - 1 : 7), 1);
}

static uint64_t number(const stats_row *row, figure f) {
    return row->known[f] == XIR_COST_UNKNOWN ? 0 : row->known[f];
}

/* ---- bars ------------------------------------------------------------------------------------------------ */

static void print_bars(const stats *s, figure f) {
    const size_t n = s->n < USUAL_BARS ? s->n : USUAL_BARS, all = width();
    const bool bytes = f == FIGURE_PARAMETER_BYTES || f == FIGURE_READ || f == FIGURE_WRITTEN;
    uint64_t most = 0;
    size_t wide = 0;
    for (size_t i = 0; i < n; i++) {
        text name = { 0 };
        stats_name(&name, &s->rows[i], all / 3);
        const size_t columns = stats_columns_of(text_of(&name));
        if (columns > wide) wide = columns;
        if (number(&s->rows[i], f) > most) most = number(&s->rows[i], f);
        text_free(&name);
    }
    const size_t room = all - wide - LABEL - 2;
    for (size_t i = 0; i < n; i++) {
        const stats_row *row = &s->rows[i];
        const double part = most ? (double)number(row, f) / (double)most : 0;
        const size_t eighths = (size_t)(part * (double)room * 8 + 0.5);
        char label[16];
        text line = { 0 };
        stats_name(&line, row, all / 3);
        for (size_t k = stats_columns_of(text_of(&line)); k < wide; k++) text_put(&line, " ");
        stats_count(label, number(row, f), bytes);
        const bool unknown = row->unknown[f] || row->known[f] == XIR_COST_UNKNOWN;
        text_printf(&line, " %*s%s ", LABEL - 3, label, unknown ? "?" : " ");
        for (size_t k = 0; k < room && k * 8 < eighths; k++)
            put_block(&line, eighths - k * 8 < 8 ? (int)(eighths - k * 8) : 8, false);
        while (line.size && line.data[line.size - 1] == ' ') line.size--;
        printf("%.*s\n", (int)line.size, line.data);
        text_free(&line);
    }
    if (s->n > n) printf("and %zu more rows\n", s->n - n);
}

/* ---- the curve ------------------------------------------------------------------------------------------- */

/* Each column is the most of its ops; few ops take several columns each. */
static void print_curve(const stats *s) {
    const size_t room = width() - LABEL - 1, n = s->n_live;
    char top[16];
    double *column = take(room, sizeof *column);
    for (size_t k = 0; k < room; k++) {
        const size_t first = k * n / room, end = (k + 1) * n / room;
        for (size_t i = first; i < n && (i == first || i < end); i++) {
            const double part = s->peak.bytes ? (double)s->live[i] / (double)s->peak.bytes : 0;
            if (part > column[k]) column[k] = part;
        }
    }
    stats_count(top, s->peak.bytes, true);
    for (int row = HEIGHT - 1; row >= 0; row--) {
        text line = { 0 };
        text_printf(&line, "%*s |", LABEL - 1, row == HEIGHT - 1 ? top : row == 0 ? "0 B" : "");
        for (size_t k = 0; k < room; k++) {
            const int eighths = (int)(column[k] * HEIGHT * 8 + 0.5) - row * 8;
            put_block(&line, eighths < 8 ? eighths : 8, true);
        }
        while (line.size && line.data[line.size - 1] == ' ') line.size--;
        printf("%.*s\n", (int)line.size, line.data);
        text_free(&line);
    }
    free(column);
}

void stats_plot(const stats *s, figure f) {
    for (size_t k = 0; k < stats_column_count; k++) {
        const char *title = *stats_columns[k].title ? stats_columns[k].title : "parameter bytes";
        if (stats_columns[k].figure == f) printf("\n%s\n", title);
    }
    print_bars(s, f);
    if (!s->live || !s->n_live) return;
    printf("\nbytes alive, op by op%s\n", s->peak.exact ? "" : " (of some values they are not known)");
    print_curve(s);
}
