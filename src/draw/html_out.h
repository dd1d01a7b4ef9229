/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Helpers for the files of the page: JSON, and tables in which equal texts are one. Failures are kept: after the first
 * one nothing happens any more, and the status is asked once, in the end. */
#ifndef DRAW_HTML_OUT_H
#define DRAW_HTML_OUT_H

#include "make.h"
#include "out.h"

/* Texts, each once, in the order in which they came. */
typedef struct html_table {
    const xir_allocator *alloc;
    xir_str             *items;
    size_t               n;
    uint32_t            *slots;      /* items by their hash, plus one */
    size_t               n_slots;
    char                *room;       /* memory for copies; it begins with a pointer to the piece before */
    size_t               used, left;
    bool                 failed;
} html_table;

/* Returns the number of a text, which is copied if it does not live as long as the network. */
uint32_t html_number(html_table *t, xir_str s, bool copy);
void     html_table_free(html_table *t);

/* JSON in HTML, piece by piece: no byte of a string ends the element or begins another one. `name` is NULL in lists. */
typedef struct html_json {
    draw_out out;
    bool     next;                   /* a comma comes before the next item */
    int64_t  last;                   /* what the column had before         */
} html_json;

void html_open(html_json *j, const char *name, char bracket);
void html_close(html_json *j, char bracket);
void html_string(html_json *j, const char *name, xir_str s);
/* The same with the characters of `s` as they are: control characters are not spelled out. */
void html_verbatim(html_json *j, const char *name, xir_str s);
void html_integer(html_json *j, const char *name, int64_t v);
void html_real(html_json *j, const char *name, double v);     /* null if it is not finite */
/* A column of integers, each written as its difference to the one before. */
void html_column(html_json *j, const char *name);
void html_cell(html_json *j, int64_t v);

/* ---- html_text.c: attributes, tags and types as text ------------------------------------------------------------- */

/* Sets of attributes and of tags, each once: three numbers for each row, that of its key, that of its text, and 1 if it
 * is a default. */
enum { HTML_ROW = 3, HTML_ROWS_KEPT = 256 };
typedef struct html_sets {
    html_table *strings;
    html_table  sets;                /* the rows as bytes           */
    uint32_t   *rows;                /* of the set that is made now */
    size_t      n;
    /* The latest rows of attributes, by their fields: most ops have the values of earlier ones. */
    struct html_kept {
        const xir_field *field;      /* NULL: none                  */
        xir_attr         value;
        uint32_t         row[HTML_ROW];
    } kept[HTML_ROWS_KEPT];
    struct html_extra {              /* the same of undeclared ones, by their keys */
        xir_str        key;
        const xir_any *value;        /* NULL: none                  */
        uint32_t       row[HTML_ROW];
    } extras[HTML_ROWS_KEPT];
} html_sets;

uint32_t html_attributes(html_sets *s, const xir_op *op);
uint32_t html_map(html_sets *s, xir_context *ctx, const xir_map *map);
void     html_sets_free(html_sets *s);
uint32_t html_type(html_table *strings, const xir_type *type);

/* ---- html_diff.c ------------------------------------------------------------------------------------------------- */

/* Writes the member "diff" of the document, if the picture has one. False without memory. */
bool html_diff(const picture *p, html_json *j, html_table *strings);

/* ---- html_heat.c ------------------------------------------------------------------------------------------------- */

/* Writes the member "heats" of the document. False without memory. */
bool html_heats(const picture *p, html_json *j);

/* ---- html_stats.c ------------------------------------------------------------------------------------------------ */

enum { HTML_BINS = 32 };

typedef struct html_stats {
    double   min, max, mean, deviation;      /* of the finite elements; NAN if there are none */
    uint64_t zeros, nans, infinities;
    uint64_t bins[HTML_BINS];                /* equal parts of [min, max]                     */
} html_stats;

/* Reads the elements of Params. XIR_E_MISSING: there are no bytes; others: they are not numbers, or cannot be read. */
xir_status html_statistics(const xir_value *params, html_stats *out);

#endif
