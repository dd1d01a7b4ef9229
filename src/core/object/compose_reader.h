/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Reading a COMPOSED row: a cursor in its text, and what has been read. The first failure ends the reading. */
#ifndef CORE_COMPOSE_READER_H
#define CORE_COMPOSE_READER_H

#include "compose.h"
#include "context.h"
#include "row_words.h"

typedef struct compose_reader {
    const class_stage *stage;
    xir_context       *ctx;
    xir_class         *cls;        /* whose row it is                          */
    const char        *text, *at, *end;
    compose_part      *parts;      /* room for COMPOSE_PARTS                   */
    xir_str           *labels;     /* of values; room for `room`               */
    uint32_t          *blame;
    bool              *used;       /* something reads the value, or it is an output */
    uint32_t           n_parts, n_values, room, most_operands;
    uint32_t           nested;     /* parentheses of the term that is read     */
    xir_status         status;
    xir_diags         *why;
} compose_reader;

/* Adds "class K: COMPOSED, line 1, column 14: …" for the place `at`, and returns false. */
bool compose_fail(compose_reader *r, const char *at, xir_status status, const char *format, ...) XIR_PRINTF(4, 5);
bool compose_no_memory(compose_reader *r);
/* "expected …, found 'x'" at the cursor. False. */
bool compose_expected(compose_reader *r, const char *what);
/* Memory that lives as long as the class; NULL if there is none, which has been reported. `data` NULL: zeros. */
void *compose_keep(compose_reader *r, const void *data, size_t size);

/* ---- words ------------------------------------------------------------------------------------------------------ */

void compose_skip(compose_reader *r);                        /* blanks and line ends         */
bool compose_next_is(compose_reader *r, char c);
bool compose_take(compose_reader *r, char c);                /* skips it if it is next       */
bool compose_need(compose_reader *r, char c);
/* Letters, digits and '_'; with `colons`, also "::". Empty if none is next. */
xir_str compose_word(compose_reader *r, bool colons);
/* The value of "%name" that is next. */
bool compose_value(compose_reader *r, uint32_t *out);

/* ---- compose_set.c ---------------------------------------------------------------------------------------------- */

/* A term: a sum of products. */
bool compose_read_term(compose_reader *r, const compose_term **out);
/* Reads the braces after a part. `body` is the part's, with its defaults. */
bool compose_read_settings(compose_reader *r, compose_part *part, void *body);

#endif
