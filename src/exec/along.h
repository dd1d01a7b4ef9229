/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Lines of a tensor along some neighbouring dims: element k of line i is element along_start(i) + k * after. Lines that
 * begin at consecutive elements are read side by side, so that memory is read in order. */
#ifndef EXEC_ALONG_H
#define EXEC_ALONG_H

#include "dims.h"
#include "spread.h"

enum { ABREAST = 256 };   /* lines, at most */

typedef struct along {
    int64_t before, n, after;   /* elements of the dims before, of a line, and of the dims after */
    bool    real;
    reader  x;                  /* of input 0 */
} along;

/* Lines along dims [axis, end) of input 0. False after a failure. */
static inline bool along_open(along *l, xir_kernel *at, size_t axis, size_t end) {
    const xir_type *type = xir_kernel_input_type(at, 0);
    *l = (along){ .before = elements_between(type, 0, axis), .n = elements_between(type, axis, end),
                  .after = elements_between(type, end, xir_type_rank(type)), .real = xir_kernel_is_real(type) };
    return reader_open(&l->x, at, 0);
}

static inline int64_t along_start(const along *l, int64_t i) { return i / l->after * l->n * l->after + i % l->after; }

/* Returns how many lines from i on, at most n, begin at consecutive elements. */
static inline int64_t along_abreast(const along *l, int64_t i, int64_t n) {
    const int64_t rest = l->after - i % l->after;
    return n < rest ? n : rest;
}

/* Elements [k, k + n) of the line that begins at `start`; or element k of n lines, the first of which begins there. */
static inline const number *along_line(const along *l, int64_t start, int64_t k, int64_t n, number *room) {
    return read_numbers(&l->x, l->real, (size_t)(start + k), (size_t)n, room);
}
static inline const number *along_lines(const along *l, int64_t start, int64_t k, int64_t n, number *room) {
    return read_numbers(&l->x, l->real, (size_t)(start + k * l->after), (size_t)n, room);
}

/* Returns the number of lines that are computed at once. Short lines fill a block together. */
static inline size_t along_at_once(const along *l) {
    const size_t size = l->n > 1 ? (size_t)l->n : 1, few = BLOCK / size ? BLOCK / size : 1;
    return l->after > 1 || few > ABREAST ? ABREAST : few;
}

/* Two loops from one text: the compiler sees a constant. */
#define INLINED static inline __attribute__((always_inline))

#endif
