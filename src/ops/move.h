/* Moves: ops whose output has an input's elements in other places. A move says for each dim where it goes and, if it
 * is not taken whole, which of its elements are taken in which order. What a type says of the elements of a dim
 * (scales, ratios, zero points, which are valid) moves along with them; that costs what the runs cost, whatever the
 * number of elements. */
#ifndef OPS_MOVE_H
#define OPS_MOVE_H

#include "tiled.h"
#include "types.h"

/* ---- inputs ------------------------------------------------------------------------------------------------- */

/* As need_inputs, but tiled inputs are fine on the back ends that have tiles, where a tiled axis is two dims that
 * move one by one. The check to it is inputs_judged. */
xir_status need_movable(xir_infer *at, size_t n);

/* The other dim of a tiled axis: of C the c, of c the C; -1 if dim k is not tiled. */
int64_t    tile_partner(const xir_layout *layout, size_t k);
/* Refuses to cut or reorder dim k of input 0 if it is part of a tiled axis; `what` is the attribute that asks for
 * it. */
xir_status need_untiled(xir_infer *at, const char *what, size_t k);

/* The dims of input 0, unknown ones being UNKNOWN_DIM; false without memory, which has been said. */
bool       copy_dims(xir_infer *at, dim_list *out);

/* An axis of `rank` dims from an attribute, from the end if negative; fails outside. */
xir_status read_axis(xir_infer *at, const char *what, int64_t axis, size_t rank, size_t *out);

/* The axes `from[i]` of a layout (NULL or of another rank: none) in this order, `*` where that is -1. */
xir_status layout_of_axes(xir_infer *at, const xir_type *like, const int64_t *from, size_t n, const xir_layout **out);

/* The layout, NULL if it is none of so many dims: an input's need not fit it. */
const xir_layout *fitting_layout(const xir_layout *layout, const dim_list *dims);

/* ---- moves -------------------------------------------------------------------------------------------------- */

/* Elements of a dim in order: `count` of them, the first at `start`, `step` apart; step 0: the same one again. */
enum { NEW_ELEMENTS = -1 };   /* as `start`: elements that the input does not have */
typedef struct stretch { int64_t start, count, step; } stretch;
typedef struct stretch_list {
    xir_infer *at;
    bool       whole;         /* nothing was added: the dim is taken as it is */
    stretch   *data;
    size_t     size, room;
    stretch    few[4];
} stretch_list;
/* Appends; one that goes on as the last one does becomes part of it. Fails without memory and above a million. */
xir_status add_stretch(stretch_list *list, int64_t start, int64_t count, int64_t step);

/* Refuses what `cut` can't say because dim k is unknown. */
xir_status unknown_cut(xir_infer *at, size_t k);

struct move;
typedef xir_status cut_fn(const struct move *m, xir_infer *at, size_t k, stretch_list *out);

typedef struct move {
    const int64_t    *to;      /* the dim of the output for each of the input, -1: gone; NULL: the same ones         */
    const dim_list   *dims;    /* of the output                                                                     */
    const xir_layout *layout;  /* of the output                                                                     */
    /* Adds the elements of dim k of the input that are taken, in order, nothing if all are; NULL: all are, of every
     * dim. A dim that is gone leaves one element, or can't be followed. */
    cut_fn           *cut;
    bool              ordered; /* the elements stay in row-major order: dims that are gone were merged or split      */
    size_t            part;    /* for `cut`                                                                         */
    /* new elements are invalid and have scale 1; otherwise they are valid, like equal others */
    bool              padding;
} move;

/* Gives the type of input 0, moved. */
xir_status give_moved(xir_infer *at, const move *m);

/* The element type of input i, moved. */
xir_status move_element(xir_infer *at, size_t i, const move *m, const xir_type **out);

/* ---- arrays of quantised types ------------------------------------------------------------------------------ */

/* Makes what becomes of an array of an element type: `out` has no items, `fill` is the item of an element that
 * stands for nothing. Zero points have their axis from the scales, and may be none. */
typedef enum array_kind { ARRAY_SCALES, ARRAY_RATIOS, ARRAY_ZEROS } array_kind;
typedef xir_status array_fn(void *user, xir_infer *at, array_kind kind, xir_runs items, xir_run fill, int64_t *axis,
                            run_list *out);
/* The element type of input i with all its arrays changed. */
xir_status change_arrays(xir_infer *at, size_t i, array_fn *change, void *user, const xir_type **out);

/* Says that items which differ along an axis can't be said of the output. */
xir_status cannot_follow(xir_infer *at, size_t i, array_kind kind, int64_t axis);
/* Zero points as the m of runs; `out` has no items. */
xir_status zeros_as_runs(xir_infer *at, xir_i64s zeros, run_list *out);

/* The dims that items along an axis count, at most two: a tiled axis is its tiles and its unit. 0 for an axis
 * outside. */
size_t     axes_along(const xir_type *type, int64_t axis, int64_t axes[2]);
/* How many elements merged dims have; -1 if one is unknown or they exceed 64 bits. */
int64_t    extent(xir_i64s dims, const int64_t *axes, size_t n);
/* An axis of an input in the output, from the end if it was; what it is the new index of must not be gone. */
int64_t    moved_axis(const move *m, int64_t axis, size_t rank);
/* Moves the items that lie along merged dims of input i, in row-major order; `fill` is what new elements have. */
xir_status move_items(xir_infer *at, size_t i, const move *m, const int64_t *axes, size_t n, xir_runs items,
                      xir_run fill, run_list *out);

#endif
