/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Moves: ops whose output consists of an input's elements in other places. A move gives for each input dim the
 * output dim and, if the dim is not taken whole, which elements are taken in which order. Scales, ratios, zero
 * points and distributions move with the elements. The cost depends on the number of runs, not on the number of
 * elements. */
#ifndef OPS_MOVE_H
#define OPS_MOVE_H

#include "tiled.h"
#include "types.h"

/* ---- inputs ------------------------------------------------------------------------------------------------- */

/* Like need_inputs, but allows tiled inputs on back ends that have tiles; a tiled axis then counts as two dims that
 * move separately. The matching check is inputs_checkable. */
xir_status need_movable(xir_infer *at, size_t n);

/* The other dim of a tiled axis: for C its unit c, for c its tiles C; -1 if dim k is not tiled. */
int64_t    tile_partner(const xir_layout *layout, size_t k);
/* Fails if dim k of input 0, which is sliced or reordered, is part of a tiled axis. `what` is the attribute to
 * report. */
xir_status need_untiled(xir_infer *at, const char *what, size_t k);

/* The dims of input 0, with UNKNOWN_DIM for unknown ones. On out of memory it reports that and returns false. */
bool       copy_dims(xir_infer *at, dim_list *out);

/* Reads an axis attribute for `rank` dims; a negative one counts from the end. Fails if it is outside. */
xir_status read_axis(xir_infer *at, const char *what, int64_t axis, size_t rank, size_t *out);

/* A layout with the axes `from[i]` of another one (NULL or one of another rank: none) in this order; `*` for -1. */
xir_status layout_of_axes(xir_infer *at, const xir_type *like, const int64_t *from, size_t n, const xir_layout **out);

/* The layout, or NULL if its rank differs from that of dims: the layout of an input may not fit it. */
const xir_layout *fitting_layout(const xir_layout *layout, const dim_list *dims);

/* ---- moves -------------------------------------------------------------------------------------------------- */

/* `count` elements of a dim in order: the first at `start`, then `step` apart. A step of 0 repeats one element. */
enum { NEW_ELEMENTS = -1 };   /* value of `start` for elements that are not in the input */
typedef struct stretch { int64_t start, count, step; } stretch;
typedef struct stretch_list {
    xir_infer *at;
    bool       whole;         /* no stretch was added: the dim is taken whole */
    stretch   *data;
    size_t     size, room;
    stretch    few[4];
} stretch_list;
/* Appends a stretch, or extends the last one if it continues it. Fails without memory and above a million stretches. */
xir_status add_stretch(stretch_list *list, int64_t start, int64_t count, int64_t step);

/* Reports that dim k cannot be sliced because it is unknown. */
xir_status refuse_unknown(xir_infer *at, size_t k);

struct move;
typedef xir_status take_fn(const struct move *m, xir_infer *at, size_t k, stretch_list *out);

typedef struct move {
    const int64_t    *to;      /* the output dim of each input dim, -1: removed; NULL: unchanged                    */
    const dim_list   *dims;    /* dims of the output                                                                */
    const xir_layout *layout;  /* layout of the output                                                              */
    /* Adds the elements of dim k of the input that are taken, in order, or nothing if all are. NULL: all dims are taken
     * whole. A removed dim keeps one element; otherwise its arrays cannot be moved. */
    take_fn          *take;
    bool              ordered; /* the row-major order is kept: removed dims were merged or split                     */
    size_t            part;    /* used by `take`                                                                     */
    /* New elements are invalid and have scale 1. If false, they are valid, like the other elements. */
    bool              padding;
} move;

/* Sets the result to the type of input 0, moved. */
xir_status give_moved(xir_infer *at, const move *m);

/* The element type of input i, moved. */
xir_status move_element(xir_infer *at, size_t i, const move *m, const xir_type **out);

/* ---- arrays of quantised types ------------------------------------------------------------------------------ */

/* Maps one array of an element type. `out` starts empty; `fill` is the item of padding elements. Zero points share the
 * axis of the scales, and may be absent. */
typedef enum array_kind { ARRAY_SCALES, ARRAY_RATIOS, ARRAY_ZEROS } array_kind;
typedef xir_status array_fn(void *user, xir_infer *at, array_kind kind, xir_runs items, xir_run fill, int64_t *axis,
                            run_list *out);
/* The element type of input i, with all its arrays mapped by `change`. */
xir_status change_arrays(xir_infer *at, size_t i, array_fn *change, void *user, const xir_type **out);

/* Reports that items which differ along an axis cannot be carried over to the output. */
xir_status cannot_follow(xir_infer *at, size_t i, array_kind kind, int64_t axis);
/* Zero points as runs, in their field m. `out` starts empty. */
xir_status zeros_as_runs(xir_infer *at, xir_i64s zeros, run_list *out);

/* The dims that items along an axis count, at most two: a tiled axis has its tiles and its unit. Returns 0 if the axis
 * is outside the dims. */
size_t     axes_along(const xir_type *type, int64_t axis, int64_t axes[2]);
/* The number of elements in merged dims; -1 if a dim is unknown or they exceed 64 bits. */
int64_t    extent(xir_i64s dims, const int64_t *axes, size_t n);
/* Maps an input axis, whose dim must not be removed, to the output; a negative axis stays negative. */
int64_t    moved_axis(const move *m, int64_t axis, size_t rank);
/* Moves the items that lie along merged dims of input i, in row-major order; `fill` is the item of new elements. */
xir_status move_items(xir_infer *at, size_t i, const move *m, const int64_t *axes, size_t n, xir_runs items,
                      xir_run fill, run_list *out);

#endif
