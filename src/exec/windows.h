/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Feature maps and windows that slide over them, for any order of axes. A map has one to three spatial axes. Here it
 * always has three, and missing ones have size 1, so that one implementation handles all.
 *
 * The positions of a window are tables of cells, one for each axis: at position p its k-th cell is input cell stride *
 * p
 * - before + dilation * k, or none. A transposed convolution uses the same table with input and output exchanged. */
#ifndef EXEC_WINDOWS_H
#define EXEC_WINDOWS_H

#include "blocks.h"
#include "kernels.h"
#include "window_attrs.h"

enum { SPATIAL = 3, MOST_AXES = SPATIAL + 2 };

/* Dims and strides by axis letter, in the order of the letters. */
typedef struct axes {
    int64_t dim[MOST_AXES];
    int64_t step[MOST_AXES];
} axes;
enum { N, D, H, W, C };   /* axes of a map, as read by map_axes */

/* Reads the axes that `letters` names; '.' is a missing axis. L and W are equivalent. Letters that the layout lacks are
 * its `*`, in order. */
void read_axes(const xir_type *type, const char *letters, axes *out);
/* Reads the axes of a map with `n` spatial axes. */
void map_axes(const xir_type *type, size_t n, axes *out);

/* Strips: elements of a map that lie next to each other along one axis. strip_axis returns the longest such axis,
 * strip_count how many strips the map has; strip_place sets the place of strip i, row-major over N, C, D, H and W
 * without that axis, and returns its first element. */
size_t  strip_axis(const axes *map);
size_t  strip_count(const axes *map, size_t axis);
int64_t strip_place(const axes *map, size_t axis, int64_t i, int64_t place[MOST_AXES]);
/* The offsets of the cells of a map along an axis. NULL on out of memory. */
int64_t *axis_places(xir_kernel *at, const axes *map, size_t axis);

/* Row `from` of a map, whose n cells are next to each other, or at places from there on. */
static inline const number *read_row_numbers(const reader *r, bool real, int64_t from, const int64_t *places, size_t n,
                                             number *room) {
    if (!places) return read_numbers(r, real, (size_t)from, n, room);
    read_numbers_at(r, real, from, places, n, room);
    return room;
}
static inline const double *read_row(const reader *r, int64_t from, const int64_t *places, size_t n, double *room) {
    return &read_row_numbers(r, true, from, places, n, (number *)(void *)room)->real;
}

/* A window and its cells along each axis: cell[a][p * size + k], -1 for none. */
typedef struct window {
    steps          along[SPATIAL];
    const int64_t *cell[SPATIAL];
    int64_t        size[SPATIAL];     /* cells of a window along each axis*/
    int64_t        cells;             /* all cells of a window           */
} window;

/* Reads the attributes for the three axes. */
void window_axes(window *w, const window_attrs *attrs);
/* The number of window positions along an axis: floor((over + before + after - dilation * (size - 1) - 1) / stride) +
 * 1. */
static inline int64_t window_places(const steps *s, int64_t over) {
    return (over + s->before + s->after - s->dilation * (s->size - 1) - 1) / s->stride + 1;
}
/* Creates the tables of a window over `over` cells (D, H, W) for so many positions; `mode` selects the cells outside.
 * False on out of memory. */
bool window_make(xir_kernel *at, window *w, const int64_t *over, const int64_t *places, xir_padding mode);

/* The offset in a map of the window's cell k at position p, both row-major over D, H, W; -1 outside. */
static inline int64_t window_cell(const window *w, const axes *map, const int64_t p[SPATIAL],
                                  const int64_t k[SPATIAL]) {
    int64_t offset = 0;
    for (size_t a = 0; a < SPATIAL; a++) {
        int64_t cell = w->cell[a][p[a] * w->along[a].size + k[a]];
        if (cell < 0) return -1;
        offset += cell * map->step[D + a];
    }
    return offset;
}

/* Advances to the next index, row-major below `dim`. After the last one it returns false and starts over. */
static inline bool next_cell(int64_t index[SPATIAL], const int64_t dim[SPATIAL]) {
    for (size_t a = SPATIAL; a-- > 0;) {
        if (++index[a] < dim[a]) return true;
        index[a] = 0;
    }
    return false;
}

#endif
