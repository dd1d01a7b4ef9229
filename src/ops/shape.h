/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Helpers for check and inference functions: dims by axis letter, window arithmetic, broadcasting. A negative dim is
 * not a number: it is unknown or an expression (symbol.h). Rules copy it as it is; where they compute a result from
 * it, they use the functions of expressions, or the result is -1. A function that takes `at` reports its error and
 * returns the status. */
#ifndef OPS_SHAPE_H
#define OPS_SHAPE_H

#include "memory.h"
#include "rules.h"
#include "symbol.h"
#include "types.h"

#define UNKNOWN_DIM XIR_UNKNOWN_DIM

/* ---- inputs ------------------------------------------------------------------------------------------------- */

/* The port name of an input, "weights". Surplus inputs have the name of the last port. */
const char *input_name(xir_infer *at, size_t i);
/* "inputs/1", returned by value. */
typedef struct input_path { char text[32]; } input_path;
input_path path_of_input(size_t i);

/* Returns true if the first `n` inputs are present and have types, so that a check can look at them. */
bool inputs_known(xir_infer *at, size_t n);
/* Returns true if any of them is tiled. That is a layout of a back end, to which rules for the host do not apply. */
bool inputs_tiled(xir_infer *at, size_t n);
/* Fails unless the first `n` inputs are tensors. */
xir_status need_tensors(xir_infer *at, size_t n);
/* Fails unless they are tensors that the host's inference supports: not tiled. */
xir_status need_inputs(xir_infer *at, size_t n);

/* The dims of an input by axis letter: dim[k] is the dim with the letter letters[k] ("NHWC"; L and W are
 * equivalent), at[k] its position. Letters that are not in the layout take its unnamed axes (`*`), in order. A tiled
 * axis has its unit at unit_at[k]; its dim[k] is then the number of elements that are not padding: the valid count
 * of the distribution over both axes, or tiles * unit without one. */
enum { MOST_NAMED = 6 };
typedef struct named_dims {
    size_t  n;
    int64_t dim[MOST_NAMED];
    size_t  at[MOST_NAMED];
    int64_t unit[MOST_NAMED];      /* 0: not tiled */
    size_t  unit_at[MOST_NAMED];
} named_dims;
xir_status read_dims(xir_infer *at, size_t i, const char *letters, named_dims *out);

/* Checks that the element types of two inputs are equal, or that one is quantised: back ends multiply different
 * quantised types. */
xir_status same_elements(xir_infer *at, size_t i, size_t j);
/* The name of an element type for messages, "sint(8)". `room` has at least 40 bytes. */
const char *element_word(const xir_type *element, char *room, size_t size);

/* ---- windows ------------------------------------------------------------------------------------------------ */

/* A window that slides along one axis. */
typedef struct window {
    const char *what;    /* "kernel"                                               */
    const char *things;  /* name of its cells, "column"                            */
    const char *axis;    /* suffix of the attributes stride_…, dilation_…: "width" */
    const char *where;   /* the attribute or input that gives its size             */
    int64_t     input, before, after, size, stride, dilation;
} window;
/* The number of windows: floor((input + before + after - dilation * (size - 1) - 1) / stride) + 1. */
xir_status count_windows(xir_infer *at, const window *w, int64_t *out);

/* ---- dims --------------------------------------------------------------------------------------------------- */

/* Storage for dims of any rank. */
typedef struct dim_list {
    const xir_allocator *alloc;
    int64_t              few[8];
    int64_t             *data;
    size_t               size;
} dim_list;
bool dims_init(xir_infer *at, dim_list *dims, size_t size);   /* false if out of memory, which it reports */
bool dims_copy(xir_infer *at, dim_list *dims, const xir_type *type);
void dims_free(dim_list *dims);

/* Returns true if two dims can never be equal: different numbers, or expressions that differ for all values of their
 * symbols. */
bool dims_differ(xir_infer *at, int64_t a, int64_t b);
/* Returns true if a dim is greater than another for all values of their symbols. */
bool dim_exceeds(xir_infer *at, int64_t dim, int64_t most);
/* Fails, with both, if dim k of an input can never be the expected one, which may be unknown. */
xir_status need_dim(xir_infer *at, size_t input, size_t k, int64_t expected);
/* Two dims that must be equal; the result is the better known one. False if they can never be. */
bool same_dim(xir_infer *at, int64_t a, int64_t b, int64_t *out);
/* Broadcasts dims a and b: a dim of 1 becomes the other one. A number other than 1 and an unknown dim give the number.
 * Of two unknown dims it is the one that provably is not 1, or that provably is the greater one wherever they fit
 * (length and min(length, 32)); otherwise the result is unknown. Two symbols are never assumed to be equal. False if no
 * values fit. */
bool join_dim(xir_infer *at, int64_t a, int64_t b, int64_t *out);
/* Broadcasts two lists of dims from the right; `out` has as many as the longer one. A dim may follow from the others,
 * because all must fit. Returns 0, or k if the dims k from the right never fit. */
size_t join_dims(xir_infer *at, xir_i64s a, xir_i64s b, dim_list *out);
/* A dim for a sentence. */
dim_word dim_words(const xir_infer *at, int64_t dim);
/* The product of two dims that are not both numbers: for those, overflow is an error with a place. */
int64_t times_dim(xir_infer *at, int64_t dim, int64_t by);
/* The shape of both inputs after broadcasting from the right; creates `out`. */
xir_status broadcast(xir_infer *at, const xir_type *lhs, const xir_type *rhs, dim_list *out);

/* Converts an axis that may count from the end to one from the start; -1 if it is outside. */
int64_t from_start(int64_t axis, size_t rank);

/* Sets the result to the type of an input with another element type, dims and distributions. The layout is kept. */
xir_status give_tensor(xir_infer *at, const xir_type *like, const xir_type *element, const dim_list *dims,
                       xir_refs distrs);

/* Out of memory, with the class of the op in the finding. */
xir_status infer_no_memory(xir_infer *at);

#endif
