/* What inference and check functions of several families share: reading the dims of an input by their meaning,
 * arithmetic of windows, broadcasting. A negative dim is unknown; what depends on it is -1. Each function that takes
 * `at` says what is wrong and returns the status. */
#ifndef OPS_SHAPE_H
#define OPS_SHAPE_H

#include "memory.h"
#include "rules.h"

#define UNKNOWN_DIM XIR_UNKNOWN_DIM

/* ---- inputs ------------------------------------------------------------------------------------------------- */

/* The port's name of an input, "weights"; of the last port for more. */
const char *input_name(xir_infer *at, size_t i);
/* "inputs/1", in a buffer that the caller has. */
typedef struct input_path { char text[32]; } input_path;
input_path path_of_input(size_t i);

/* Whether the first `n` inputs are there and have types: what a check can look at. */
bool inputs_known(xir_infer *at, size_t n);
/* Whether any of them is tiled: the layout of a back end, which rules for the host say nothing about. */
bool inputs_tiled(xir_infer *at, size_t n);
/* Fails unless the first `n` inputs are tensors. */
xir_status need_tensors(xir_infer *at, size_t n);
/* Fails unless they are tensors that the host's inference understands: not tiled. */
xir_status need_inputs(xir_infer *at, size_t n);

/* The dims of an input by their meaning: dim[k] is the dim whose letter is letters[k] ("NHWC"; L and W stand for
 * each other), at[k] where it stands. Letters that the layout does not have are the axes it does not name (`*`), in
 * order. A tiled axis has its unit at unit_at[k]; its dim is then the number of elements that are no padding: what
 * the distribution over the two axes says, otherwise tiles * unit. */
enum { MOST_NAMED = 6 };
typedef struct named_dims {
    size_t  n;
    int64_t dim[MOST_NAMED];
    size_t  at[MOST_NAMED];
    int64_t unit[MOST_NAMED];      /* 0: not tiled */
    size_t  unit_at[MOST_NAMED];
} named_dims;
xir_status read_dims(xir_infer *at, size_t i, const char *letters, named_dims *out);

/* Element types of two inputs are the same, or one of them is quantised: back ends multiply different quantised
 * types. */
xir_status same_elements(xir_infer *at, size_t i, size_t j);
/* What an element type is called in a sentence, "sint(8)"; `room` has 40 bytes or more. */
const char *element_word(const xir_type *element, char *room, size_t size);

/* ---- windows ------------------------------------------------------------------------------------------------ */

/* A window that moves along one axis. */
typedef struct window {
    const char *what;    /* "kernel"                                               */
    const char *things;  /* what is counted, "column"                              */
    const char *axis;    /* of stride_…, dilation_…: "width"                       */
    const char *where;   /* the attribute or input that says how large it is       */
    int64_t     input, before, after, size, stride, dilation;
} window;
/* How many places it has: floor((input + before + after - dilation * (size - 1) - 1) / stride) + 1. */
xir_status count_windows(xir_infer *at, const window *w, int64_t *out);

/* ---- dims --------------------------------------------------------------------------------------------------- */

/* Room for dims of any rank. */
typedef struct dim_list {
    const xir_allocator *alloc;
    int64_t              few[8];
    int64_t             *data;
    size_t               size;
} dim_list;
bool dims_init(xir_infer *at, dim_list *dims, size_t size);   /* false without memory, which has been said */
bool dims_copy(xir_infer *at, dim_list *dims, const xir_type *type);
void dims_free(dim_list *dims);

/* What dims a and b of two shapes become when they are broadcast: 1 is the other one, an unknown dim must be 1 or
 * the other one. False if both are known, and different. */
bool join_dim(int64_t a, int64_t b, int64_t *out);
/* The shape of both inputs after broadcasting from the right; `out` is made. */
xir_status broadcast(xir_infer *at, const xir_type *lhs, const xir_type *rhs, dim_list *out);

/* An axis that may be counted from the end, from the start; -1 outside. */
int64_t from_start(int64_t axis, size_t rank);

/* Gives the type of an input with another element type, dims and distributions; the layout stays. */
xir_status give_tensor(xir_infer *at, const xir_type *like, const xir_type *element, const dim_list *dims,
                       xir_refs distrs);

xir_status no_memory(xir_infer *at);

#endif
