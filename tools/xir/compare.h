/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The comparison that the files of xir compare work on. */
#ifndef COMPARE_H
#define COMPARE_H

#include "cli.h"

/* Orders in which the pairs are printed. */
typedef enum compare_order {
    ORDER_RUN, ORDER_LARGEST, ORDER_RELATIVE, ORDER_COSINE, ORDER_SQNR, ORDER_SATURATED
} compare_order;

/* Two files, or a file and a folder. */
typedef struct compared {
    const char        *name_a, *name_b;
    const xir_compare *c;
    bool               each;
    compare_order      order;
} compared;

/* Prints the pairs, and of the first bad one where it comes from; with --json, `j`, as members of an object. FAULTY
 * with a complaint if a pair is bad. */
int compare_report(const compared *what, json_out *j);

#endif
