/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* NNB files from a text, a line for each thing, in the order in which the exporter lays it out:
 *
 *     nnb 3 44                     version, api level
 *     inputs 0
 *     outputs 4
 *     buffers 16 8
 *     v f 1,4 b0                   a variable: float, a shape (- for none), buffer 0
 *     v i8:5 4,2 p8                integers of 8 bits, 5 of them fraction bits; a parameter of 8 bytes: 1, 2, 3, …
 *     f 0 0,1>3 i1                 a function: its number (and /implementation), inputs > outputs, arguments:
 *     f 5 3>4 [2,2] [] B0 [0,0]    integers i, floats f (fx: the bits), bytes B, lists
 */
#ifndef SUPPORT_NNB_MAKE_H
#define SUPPORT_NNB_MAKE_H

#include <stddef.h>
#include <stdint.h>

enum { NNB_MADE_SIZE = 16384, NNB_MADE_ITEMS = 64 };

typedef struct nnb_made {
    uint8_t  bytes[NNB_MADE_SIZE];
    size_t   size;
    /* The offsets of records in the file, and their entries of the index. */
    uint32_t variables[NNB_MADE_ITEMS], functions[NNB_MADE_ITEMS];
    uint32_t n_variables, n_functions, n_index, data;   /* data: where the data begins */
} nnb_made;

/* A text that is malformed is a failure of the test. */
void nnb_make(nnb_made *out, const char *text);

static inline uint32_t nnb_word(const nnb_made *f, size_t at) {
    return (uint32_t)f->bytes[at] | (uint32_t)f->bytes[at + 1] << 8 | (uint32_t)f->bytes[at + 2] << 16 |
           (uint32_t)f->bytes[at + 3] << 24;
}
static inline void nnb_set_word(nnb_made *f, size_t at, uint32_t v) {
    for (int i = 0; i < 4; i++) f->bytes[at + (size_t)i] = (uint8_t)(v >> 8 * i);
}
/* Returns the offset in the file to which entry `k` of the index leads. */
static inline size_t nnb_block_at(const nnb_made *f, uint32_t k) { return f->data + nnb_word(f, 56 + 4 * (size_t)k); }

#endif
