/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The table of rows in the page of a format: all types that the rows convert, with what they become and what comes back
 * as them, and all that they do not convert. Types of the same operation are in one line. */
#ifndef TEST_CONVERT_ROW_TABLE_H
#define TEST_CONVERT_ROW_TABLE_H

#include <stdio.h>
#include <stdlib.h>
#include <xir/convert.h>
#include "support/net.h"

typedef struct row_page {
    const char *prefix;    /* "pnnx::"                                  */
    const char *heading;   /* "PNNX"                                    */
    const char *types;     /* what the format calls them: "functions"   */
    const char *file;      /* "pnnx.md"                                 */
    bool        back;      /* rows are read in both directions          */
} row_page;

static inline bool row_is_of(const xir_convert_row *row, const row_page *page) {
    return strncmp(row->name, page->prefix, strlen(page->prefix)) == 0;
}

/* The classes that a row stands for on the way back. */
static inline const char *row_from(const xir_convert_row *row) {
    return row->from ? row->from : row->hook ? "" : row->cls;
}

static inline bool row_same_line(const xir_convert_row *a, const xir_convert_row *b, bool back) {
    return strcmp(a->cls, b->cls) == 0 && (!back || strcmp(row_from(a), row_from(b)) == 0);
}

static inline void row_end_line(FILE *out, const xir_convert_row *row, bool back) {
    if (back) fprintf(out, " | %s | %s |\n", row->cls, row_from(row));
    else fprintf(out, " | %s |\n", row->cls);
}

static inline char *row_table(const row_page *page) {
    char *text = NULL;
    const size_t skip = strlen(page->prefix);
    size_t size, converted = 0, kept = 0;
    FILE *out = open_memstream(&text, &size);
    const xir_convert_row *row, *before = NULL;
    assert_non_null(out);
    for (size_t i = 0; (row = xir_convert_at(ctx, i)); i++) {
        converted += row_is_of(row, page) && row->cls;
        kept += row_is_of(row, page) && !row->cls;
    }
    fprintf(out, "<!-- rows -->\n%zu %s are converted, %zu are not:\n\n| %s | becomes |%s\n|---|---|%s\n", converted,
            page->types, kept, page->heading, page->back ? " comes from |" : "", page->back ? "---|" : "");
    for (size_t i = 0; (row = xir_convert_at(ctx, i)); i++) {
        if (!row->cls || !row_is_of(row, page)) continue;
        const bool joins = before && row_same_line(before, row, page->back);
        if (before && !joins) row_end_line(out, before, page->back);
        fprintf(out, "%s%s", joins ? ", " : "| ", row->name + skip);
        before = row;
    }
    if (before) row_end_line(out, before, page->back);
    kept = 0;
    for (size_t i = 0; (row = xir_convert_at(ctx, i)); i++)
        if (!row->cls && row_is_of(row, page)) fprintf(out, "%s%s", kept++ ? ", " : "| ", row->name + skip);
    fprintf(out, " | not converted |%s\n<!-- end of rows -->\n", page->back ? " |" : "");
    fclose(out);
    return text;
}

/* Returns true if a page of docs/ has a text; if not, it is printed. */
static inline bool docs_have(const char *file, const char *expected) {
    enum { ROOM = 1 << 20 };
    char path[300], *found = malloc(ROOM + 1);
    snprintf(path, sizeof path, XIR_TEST_DATA "/../docs/%s", file);
    FILE *f = fopen(path, "r");
    assert_true(f && found);
    found[fread(found, 1, ROOM, f)] = '\0';
    fclose(f);
    const bool there = strstr(found, expected);
    if (!there) fprintf(stderr, "docs/%s should have:\n%s", file, expected);
    free(found);
    return there;
}

static inline void row_table_is_in_docs(const row_page *page) {
    char *expected = row_table(page);
    const bool there = docs_have(page->file, expected);
    free(expected);
    assert_true(there);
}

#endif
