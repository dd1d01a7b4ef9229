/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A calibration: a record for each value, in the order in which they were first counted, and a hash table over their
 * names. */
#ifndef QUANT_CALIBRATION_H
#define QUANT_CALIBRATION_H

#include <xir/calibrate.h>
#include "bins.h"
#include "no_memory.h"

typedef struct record {
    char    *name;
    size_t   name_size;
    uint64_t samples;
    double   min, max;
    double   sums[3];     /* over samples: of the least, of the greatest number, of the greatest |x| */
    bins     bins;
    size_t   channels;    /* of the last dim; 0: not counted              */
    double  *low, *high;  /* of each channel                              */
    bool     uneven;      /* samples had different numbers of channels    */
} record;

struct xir_calibration {
    xir_context           *ctx;
    const xir_allocator   *alloc;
    xir_calibration_scope  scope;
    uint64_t               samples;
    record                *records;
    size_t                 n, room;
    size_t                *table;        /* 1 + index of a record; 0: empty */
    size_t                 table_size;   /* a power of two, or 0            */
    bool                   channels;     /* are counted                     */
    bool                   failed;       /* part of a sample was counted    */
};

enum { COUNT_BITS = 62 };   /* a value counts at most 2^62 numbers */

/* The record of a name; it is made if there is none. NULL without memory. */
record *calibration_record(xir_calibration *c, xir_str name);
/* Gives a record without channels n of them, with 0 as their numbers. False without memory. */
bool channels_make(record *r, const xir_allocator *alloc, size_t n);
void channels_free(record *r, const xir_allocator *alloc);
/* XIR_E_INVALID with a finding if a call has failed. */
xir_status calibration_check(const xir_calibration *c, xir_diags *why);

#endif
