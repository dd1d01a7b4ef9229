/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Declarations for the parts of xir plan. */
#ifndef CLI_PLAN_H
#define CLI_PLAN_H

#include "cli.h"

/* --limit and --effort. */
extern const char *plan_limit, *plan_effort;

/* The options of the pass. */
typedef struct plan_asked {
    bool    in_place, parts, etm;
    int64_t upper, align;
} plan_asked;

/* A value with an address. */
typedef struct plan_row {
    const xir_value *v;
    xir_life         life;
    uint64_t         at, bytes;
    uint64_t         base;       /* the address of the bytes that it is in   */
    size_t           set;        /* of values that may share bytes           */
    size_t           buffer;     /* that it is in                            */
} plan_row;

typedef struct plan_table {
    plan_asked          asked;
    bool                accelerated; /* some ops run on an accelerator       */
    plan_row           *rows;
    size_t              n, on_host;
    xir_liveness       *lives;
    xir_memory_buffers *sets;
    xir_buffer         *buffers;     /* values of one set at one address     */
    size_t             *first;       /* by buffer: its first row             */
    size_t              n_buffers;
    xir_memory_peak     peak;        /* its bound and moment                 */
} plan_table;

/* Prints a picture of the table to standard output (plan_svg.c). */
void plan_svg(const plan_table *t);

/* Plans the buffers of a file, "-" for standard input, and prints them with their offsets. */
int plan_csv(const char *path);

#endif
