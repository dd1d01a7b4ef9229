/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Inputs and outputs as numbers, a block at a time: stored elements become numbers in the processor's caches, and
 * results are stored from there. So no tensor exists as doubles as a whole, and loops over a block are straight ones
 * that compilers vectorise. How a tensor is stored is looked up once a block.
 *
 *     reader x;
 *     writer y;
 *     double room[BLOCK], out[BLOCK];
 *     if (!reader_open(&x, at, 0) || !writer_open(&y, at, 0)) return XIR_E_MEMORY;
 *     for (size_t i = 0, n; (n = next_block(at, i, count)); i += n) {
 *         const double *in = read_reals(&x, i, n, room);
 *         for (size_t k = 0; k < n; k++) out[k] = f(in[k]);
 *         write_reals(&y, i, n, out);
 *     }
 *
 * Opened readers and writers may be used by several threads. Writers of elements that do not take whole bytes need
 * ranges that begin at multiples of 8. */
#ifndef EXEC_BLOCKS_H
#define EXEC_BLOCKS_H

#include "kernel.h"

enum { BLOCK = 1024 };

/* The elements of an input. */
typedef struct reader {
    const tensor_elements *elements;
    const uint8_t *bytes;
    const double  *reals;   /* all of them, if they are stored as doubles or were converted before; else NULL */
    const int64_t *i64s;
} reader;

/* The elements of an output. The kernel writes all. */
typedef struct writer {
    const tensor_elements *elements;
    uint8_t          *bytes;
    const xir_scales *cut;           /* constant factors of reals: one, or one for each index of an axis; NULL: none */
    size_t            n_cuts, inner;
} writer;

/* False after a failure, which has a finding. */
bool reader_open(reader *r, xir_kernel *at, size_t input);
bool writer_open(writer *w, xir_kernel *at, size_t output);

/* Returns the stored elements if they are floats that the processor can read in place; NULL otherwise. */
const float *reader_singles(const reader *r);
float       *writer_singles(const writer *w);

/* Elements [from, from + n): in `room`, which has space for them, or where they are. */
static inline const double *read_reals(const reader *r, size_t from, size_t n, double *room) {
    if (r->reals) return r->reals + from;
    elements_read_reals(r->elements, r->bytes, from, n, room);
    return room;
}
static inline const int64_t *read_i64s(const reader *r, size_t from, size_t n, int64_t *room) {
    if (r->i64s) return r->i64s + from;
    elements_read_i64s(r->elements, r->bytes, from, n, room);
    return room;
}

/* Elements base + places[0], base + places[1], …; 0 where a place is negative. */
static inline void read_reals_at(const reader *r, int64_t base, const int64_t *places, size_t n, double *out) {
    elements_read_reals_at(r->elements, r->bytes, base, places, n, out);
}

/* Stores elements [from, from + n). `numbers` may be changed. */
void write_reals(const writer *w, size_t from, size_t n, double *numbers);
static inline void write_i64s(const writer *w, size_t from, size_t n, const int64_t *numbers) {
    elements_write_i64s(w->elements, w->bytes, from, n, numbers);
}

/* The same for kernels that take both reals and integers. */
typedef union number { double real; int64_t integer; } number;

static inline const number *read_numbers(const reader *r, bool real, size_t from, size_t n, number *room) {
    if (real) return (const number *)(const void *)read_reals(r, from, n, &room->real);
    return (const number *)(const void *)read_i64s(r, from, n, &room->integer);
}
/* Into `out`, so that they may be changed. */
void copy_numbers(const reader *r, bool real, size_t from, size_t n, number *out);
static inline void read_numbers_at(const reader *r, bool real, int64_t base, const int64_t *places, size_t n,
                                   number *out) {
    if (real) elements_read_reals_at(r->elements, r->bytes, base, places, n, &out->real);
    else      elements_read_i64s_at(r->elements, r->bytes, base, places, n, &out->integer);
}
static inline void write_numbers(const writer *w, bool real, size_t from, size_t n, number *numbers) {
    if (real) write_reals(w, from, n, &numbers->real);
    else      write_i64s(w, from, n, &numbers->integer);
}

/* Returns true if elements take whole bytes, so that any ranges may be written at the same time. */
static inline bool writer_has_bytes(const writer *w) { return w->elements->format.bits % 8 == 0; }

/* The size of the block that begins at `from`; 0 at the end, or if the run is cancelled. */
static inline size_t next_block(xir_kernel *at, size_t from, size_t count) {
    const size_t n = count - from < BLOCK ? count - from : BLOCK;
    return n && !xir_kernel_stops(at, n) ? n : 0;
}

#endif
