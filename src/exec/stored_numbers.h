/* Elements as numbers: how each element type's bytes are read as reals or integers, and how results are stored. Reals are rounded once,
 * to the nearest number of the format, halves to the even one; integers are wrapped to their width; bool is 0 or 1; quantised elements
 * are reals divided by their scale, rounded half away from zero and limited. Real to integer: towards zero, limited to the range, NaN
 * is 0. */
#ifndef EXEC_NUMBERS_H
#define EXEC_NUMBERS_H

#include <xir/type.h>
#include "memory.h"

typedef enum number_kind {
    NUMBER_NONE,     /* a type of a class that is not known here, or wider than 64 bits */
    NUMBER_BOOL,
    NUMBER_SIGNED,
    NUMBER_UNSIGNED,
    NUMBER_FLOAT
} number_kind;

/* One number for each index of a dim, or one for all: element i has items[i / inner % n]. */
typedef struct number_row {
    double *items;
    size_t  n, inner;
} number_row;

/* How the elements of one tensor are stored. */
typedef struct numbers {
    const xir_allocator *alloc;
    number_kind kind;
    unsigned    bits;                /* of one element                                         */
    unsigned    exponent, mantissa;  /* bits of a float's parts                                */
    bool        quantised;
    number_row  scale, ratio, zero;  /* no items: 1, 1 and 0                                   */
} numbers;

/* Looks at the type of a tensor with known dims. XIR_E_UNSUPPORTED for elements that are no numbers, or scales that do not fit the
 * dims; XIR_E_MEMORY. Close what was opened. */
xir_status numbers_open(numbers *e, const xir_allocator *alloc, const xir_type *type, xir_diags *why);
void       numbers_close(numbers *e);

/* Elements [from, from + n) of a tensor whose first byte `bytes` is. */
void numbers_read_reals(const numbers *e, const void *bytes, size_t from, size_t n, double *out);
void numbers_read_i64s(const numbers *e, const void *bytes, size_t from, size_t n, int64_t *out);
void numbers_write_reals(const numbers *e, void *bytes, size_t from, size_t n, const double *in);
void numbers_write_i64s(const numbers *e, void *bytes, size_t from, size_t n, const int64_t *in);

/* A real cut towards zero and limited to int64; NaN is 0. */
int64_t number_cut(double v);

#endif
