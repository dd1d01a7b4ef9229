/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* NumPy's .npy format: a magic number, a version, the length of the header, the header (a Python dict of literals),
 * and the elements. */
#ifndef EXEC_NPY_H
#define EXEC_NPY_H

#include "array.h"

/* The contents of a header. */
typedef struct npy_header {
    char     kind;         /* 'b' bool, 'i', 'u', 'f'                    */
    unsigned bytes;        /* size of an element: 1, 2, 4 or 8            */
    bool     big_endian, fortran;
    int64_t *dims;         /* room for NPY_MOST_DIMS                     */
    size_t   rank;
    size_t   data;         /* the offset of the elements                 */
} npy_header;
enum { NPY_MOST_DIMS = 64, NPY_MOST_HEADER = 1 << 16 };

/* Why a file is invalid, and where. */
typedef struct npy_fault {
    xir_status status;
    size_t     at;
    char       sentence[160];
} npy_fault;

/* Reads a header; `size` is that of the whole file. On failure returns false and fills in `fault`. */
bool npy_read_header(const uint8_t *bytes, size_t size, npy_header *out, npy_fault *fault);

#endif
