/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A second implementation of moves (Slice, Concat, Reshape, …), slow and obvious: the shapes that they give, and
 * which element of which input is where in an output. And random cases to compare it with the library. */
#ifndef SUPPORT_MOVES_H
#define SUPPORT_MOVES_H

#include "forms.h"
#include "graph.h"

enum { MOST_RANK = 6, MOST_INPUTS = 3, MOST_LIST = 8, MOST_OUTPUTS = 64 };

typedef enum move_kind {
    SLICE, SPLIT, UNSTACK, ROLL, SWAP, PAD, CONCAT, STACK, TRANSPOSE, SQUEEZE, EXPAND, TILE, RESHAPE, SHUFFLE, PIXEL,
    KINDS
} move_kind;
extern const char *const move_names[KINDS];

typedef struct shape { size_t rank; int64_t dim[MOST_RANK]; } shape;
typedef struct list { size_t size; int64_t data[MOST_LIST * 2]; } list;

typedef struct move_case {
    move_kind kind;
    size_t    n_inputs;
    shape     in[MOST_INPUTS];
    list      a, b, c;     /* the attributes that are lists, in the order of the rows */
    int64_t   number;      /* axis, dim, groups, upscale_factor, mode                 */
    bool      null_list;
} move_case;

/* ---- the second implementation ---------------------------------------------------------------------------------- */

int64_t shape_elements(const shape *s);
/* Row-major: the number of an index, and the index of a number. */
int64_t shape_number(const shape *s, const int64_t *index);
void    shape_index(const shape *s, int64_t n, int64_t *index);

/* Counts an axis from the start; false if it is outside. */
bool    move_axis(int64_t *axis, size_t rank);
/* The indices that begin:end:stride selects from n, counted as NumPy does. */
size_t  move_picked(int64_t begin, int64_t end, int64_t stride, int64_t n, int64_t *out);

/* The shapes of the outputs for inputs of these shapes; false if the op is invalid for them. */
bool    move_shapes(const move_case *c, const shape *in, shape *out, size_t *n_out);
/* Finds the element of an input that is at an index of an output; false: a new element, whose index is negative in the
 * padded dims. */
bool    move_source(const move_case *c, const shape *out, size_t part, const int64_t *index, size_t *input,
                    int64_t *from);

/* ---- the library ------------------------------------------------------------------------------------------------ */

/* A context for a group of cases, because types accumulate; the inputs, and the target of the op (NULL: the host). */
extern struct moves {
    xir_context      *ctx;
    xir_network      *net;
    xir_value        *values[MOST_INPUTS];
    const xir_target *target;
    size_t            tiles_at, unit_at;   /* the dims of a tiled axis; 0, 0: no such axis */
} moves;
void moves_begin(void);
void moves_end(void);

/* Runs a case; the types of its outputs are in at->out until infer_end. */
xir_status move_run(const move_case *c, const xir_type *const *types, xir_infer *at);
void move_describe(const move_case *c);
void move_describe_type(const char *what, const xir_type *type);

/* ---- chance ----------------------------------------------------------------------------------------------------- */

static inline int64_t between(int64_t least, int64_t most) {
    return least + (int64_t)chance((uint64_t)(most - least + 1));
}
/* 0 to n - 1 in random order. */
void      move_shuffled(list *l, size_t n);
/* A case that usually has outputs. */
move_case move_by_chance(move_kind kind);

#endif
