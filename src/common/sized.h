/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Structs that begin with their size, `uint32_t size`, set by their maker (XIR_INIT). The library accepts them from
 * callers that were built with an older or a newer header: members that the caller does not know are zero, their
 * default; members that the library does not know must be zero. Declarations of plug-ins, which begin with XIR_ABI, and
 * rows of arrays follow the same rule. */
#ifndef COMMON_SIZED_H
#define COMMON_SIZED_H

#include <xir/diag.h>

/* A struct: its name for findings, its size here, and its size when XIR_ABI got its value. */
typedef struct sized { const char *name; uint32_t known, least; } sized;

/* `last` was the last member at that time. It is not changed when members are added after it. Structs end without
 * padding, so that a new member is always beyond the size of older callers. */
#define SIZE_TO(type, last) (offsetof(type, last) + sizeof(((type *)0)->last))
#define SIZED(type, last)   ((sized){ #type, sizeof(type), SIZE_TO(type, last) })

/* Copies a caller's struct; NULL is the struct that is all zero. XIR_E_ABI if it has no size or less than any caller
 * has; XIR_E_UNSUPPORTED if it sets members that this library does not know. Then `out` is all zero. */
xir_status sized_take(sized s, void *out, const void *given, xir_diags *why);

/* Checks the size of a caller's struct that is filled later: XIR_E_ABI as above. */
xir_status sized_check(sized s, const void *out, xir_diags *why);

/* Fills a caller's struct, up to the size that the caller gave, which it keeps. Members that this library does not know
 * become zero. XIR_E_ABI as above; then nothing is written. */
xir_status sized_fill(sized s, void *out, const void *made, xir_diags *why);

/* Item `i` of an array of such structs, whose distance is the size of the first. */
static inline const void *sized_at(const void *items, size_t i) {
    return (const char *)items + i * *(const uint32_t *)items;
}

/* Copies item `i` of an array. Also XIR_E_ABI if its size differs from the first one's. */
xir_status sized_take_at(sized s, void *out, const void *items, size_t i, xir_diags *why);

/* The position of the first nonzero byte in [known, size); `size` if there is none. */
size_t sized_beyond(const void *given, size_t known, size_t size);

#endif
