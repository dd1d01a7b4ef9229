/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* xir diff: the library compares (xir/diff.h), report.c says what it found. xir compare shows attributes with it. */
#ifndef DIFF_H
#define DIFF_H

#include "cli.h"

/* The state of a report. */
typedef struct reporting {
    bool          json;
    size_t        records;
    const xir_op *shown;     /* whose heading was printed last */
} reporting;

/* Prints one difference; they come in the order of xir_diff_at. */
void report(reporting *p, const xir_diff_item *r);

/* An attribute as words; `f` is its row if it is declared, or NULL; `all`: all digits of reals. */
void put_attr(text *t, const xir_field *f, const xir_attr *v, bool all);

#endif
