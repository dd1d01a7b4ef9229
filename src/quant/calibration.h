/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A calibration: a record for each value, in the order in which they were first counted, and a hash table over their
 * names. */
#ifndef QUANT_CALIBRATION_H
#define QUANT_CALIBRATION_H

#include <xir/calibrate.h>
#include "bins.h"

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
xir_status calibration_memory(xir_diags *why);
/* A struct that begins with its size: its size here, and in the first version. */
typedef struct known_struct { const char *name; size_t size, least; } known_struct;
#define KNOWN(type, last) ((known_struct){ #type, sizeof(type), offsetof(type, last) + sizeof(((type *)0)->last) })

/* Copies a caller's struct over one of this library, which keeps its size; NULL: it stays as it is. XIR_E_ABI,
 * XIR_E_UNSUPPORTED. */
xir_status calibration_take(known_struct k, void *to, const void *given, xir_diags *why);
/* Fills a caller's struct up to its size, which it keeps; what this library does not know of it is 0. XIR_E_ABI. */
xir_status calibration_fill(known_struct k, void *out, const void *made, xir_diags *why);

#endif
