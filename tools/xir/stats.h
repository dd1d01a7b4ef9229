/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Declarations for the parts of xir stats: rows of figures, and how they are written. */
#ifndef STATS_H
#define STATS_H

#include "cli.h"

/* ORDER FIGURE: the table in stats_table.c. The first six are the members of xir_cost. */
typedef enum figure {
    FIGURE_PARAMETERS, FIGURE_PARAMETER_BYTES, FIGURE_MULTIPLY_ADDS, FIGURE_ELEMENT_OPS, FIGURE_READ, FIGURE_WRITTEN,
    FIGURES
} figure;

typedef enum stats_by { BY_CLASS, BY_OP, BY_SCOPE } stats_by;   /* ORDER BY: the words in stats.c */

/* The ops of a row: one op, the ops of a class or a scope, or all of them. `known` adds up what is known; `unknown`
 * counts the ops of which it is not. */
typedef struct stats_row {
    const xir_op    *op;       /* NULL for several                   */
    const xir_class *cls;      /* of its first op                    */
    xir_str          name;     /* of the op, the class or the scope  */
    size_t           place;    /* of the op in the execution order   */
    uint64_t         ops;
    uint64_t         known[FIGURES], unknown[FIGURES];
    uint64_t         live;     /* bytes alive while the op runs      */
    size_t           live_unknown;
} stats_row;

typedef struct stats {
    const loaded  *l;
    stats_by       by;
    bool           converted;
    bool          *added;          /* by slot: only the conversion adds the op; NULL: none */
    size_t         visited;        /* ops, with the added ones                            */
    uint64_t       owed[2];        /* parameters and their bytes, of added ops: the next one has them */
    stats_row     *rows;
    size_t         n, room;
    stats_row      others, all;    /* others: those that --top leaves out; no ops: none */
    uint64_t      *live;           /* of each op in order; NULL: not known              */
    size_t         n_live;
    xir_live_peak  peak;           /* without an op: not known                          */
    uint64_t       tiles;          /* the bytes that tiles have; 0: they are not asked for */
} stats;

/* Adds the figures of a row to those of another. */
void stats_add(stats_row *to, const stats_row *row);

/* A column of the table. */
typedef struct stats_column {
    const char *word;      /* in --sort, CSV and JSON: "multiply_adds"                     */
    const char *title;
    figure      figure;    /* FIGURES: none                                                */
    unsigned    in;        /* the bits of stats_by that have it                            */
    int         rank;      /* columns of a lower rank are left out first; 0: only for programs */
    bool        is_text, is_bytes;
} stats_column;
extern const stats_column stats_columns[];
extern const size_t       stats_column_count;
bool stats_has(const stats *s, const stats_column *c);
/* The column of a word; NULL after a complaint. */
const stats_column *stats_column_named(const stats *s, const char *word);

/* "1.814 G" and "46.76 MB"; few_bytes: 16. */
void stats_count(char out[16], uint64_t n, bool bytes);
/* Returns how many columns a text takes. */
size_t stats_columns_of(xir_str s);
/* The name of a row for people, without control characters, at most so many columns wide: its end counts most. */
void stats_name(text *t, const stats_row *row, size_t most);

void stats_print(const stats *s);        /* the table and the sums */
void stats_print_csv(const stats *s);
void stats_put_json(const stats *s, json_out *j);
/* The scope of a name: its parts without the last one, at most `depth`. */
xir_str stats_scope(xir_str name, uint64_t depth);
/* Tiles of what is in each scope, as a table or, with `j`, as a member of the object. */
void stats_tiles(const stats *s, uint64_t depth, json_out *j);
/* Bars of a figure, and the bytes that are alive. */
void stats_plot(const stats *s, figure f);

#endif
