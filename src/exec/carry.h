/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Elements that are copied from one input to one output: as bytes if both have the same element type with whole bytes,
 * otherwise as numbers, a block at a time. */
#ifndef EXEC_CARRY_H
#define EXEC_CARRY_H

#include <string.h>
#include "kernels.h"
#include "spread.h"

enum { NEW = -1 };   /* a place of an element that is not in the input */

/* The steps of an element that is copied as bytes. A run of elements takes as long as STEPS_A_RUN of them more. */
enum { STEPS_A_COPY = 2, STEPS_A_RUN = 16 };

typedef struct carrier {
    bool        as_bytes, real;
    size_t      size;    /* bytes of an element, or of a number */
    const char *from;    /* as bytes                            */
    char       *to;
    reader      x;       /* as numbers                          */
    writer      y;
} carrier;

/* As bytes if they mean the same, else as numbers. The kernel writes all elements. False after a failure. */
bool carry_begin(xir_kernel *at, carrier *m, size_t output, size_t input);
/* The same for a kernel that also sets elements to zero: as numbers where the integer 0 stands for another one. */
bool carry_begin_zeros(xir_kernel *at, carrier *m, size_t output, size_t input);
/* As numbers, for any element type. */
bool carry_begin_numbers(xir_kernel *at, carrier *m, size_t output, size_t input, bool real);
/* The same way for elements of all inputs, which become parts of an output: begins with input 0. */
bool carry_begin_all(xir_kernel *at, carrier *m, size_t output);
/* Copies from another input, in the way that was chosen. False after a failure. */
bool carry_from(xir_kernel *at, carrier *m, size_t input);

/* Sets elements [to, to + n) of the output to zero. */
void carry_zeros(const carrier *m, int64_t to, int64_t n);
/* Copies elements base + places[0], base + places[1], … to [to, to + n). Where a place is NEW, the
 * element is `new_element`, a number or bytes of the carrier's size; it may be NULL if no place is. */
void carry_at(const carrier *m, int64_t to, int64_t base, const int64_t *places, int64_t n, const void *new_element);
/* As numbers, of any count. */
void carry_numbers(const carrier *m, int64_t to, int64_t from, int64_t n);

/* Copies n consecutive elements. */
static inline void carry(const carrier *m, int64_t to, int64_t from, int64_t n) {
    if (m->as_bytes) memcpy(m->to + (size_t)to * m->size, m->from + (size_t)from * m->size, (size_t)n * m->size);
    else             carry_numbers(m, to, from, n);
}
/* All elements, in the same order, by the threads of the run. */
xir_status carry_all(xir_kernel *at, const carrier *m, int64_t n);

/* A loop over elements of `size` bytes. For a constant size the compiler emits single moves. */
#define EACH_SIZE(size, loop)                        \
    switch (size) {                                  \
    case 1:  { enum { SIZE = 1 }; loop; } break;     \
    case 2:  { enum { SIZE = 2 }; loop; } break;     \
    case 4:  { enum { SIZE = 4 }; loop; } break;     \
    case 8:  { enum { SIZE = 8 }; loop; } break;     \
    default: { const size_t SIZE = size; loop; }     \
    }

#endif
