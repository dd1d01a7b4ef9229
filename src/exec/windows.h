/* Feature maps and the windows that move over them, whatever the order of their axes. Maps have one to three spatial
 * axes; here they always have three, those that a tensor has not are one cell long, so that one body of code serves
 * all.
 *
 * Where a window stands is a table of cells for each axis: at place p its k-th cell is input cell stride * p -
 * before + dilation * k, or none. A transposed convolution has the same table with input and output changed about. */
#ifndef EXEC_WINDOWS_H
#define EXEC_WINDOWS_H

#include "kernels.h"
#include "window_attrs.h"

enum { SPATIAL = 3, MOST_AXES = SPATIAL + 2 };

/* Dims by their letters, in the order of these, and how far apart neighbours along them are. */
typedef struct axes {
    int64_t dim[MOST_AXES];
    int64_t step[MOST_AXES];
} axes;
enum { N, D, H, W, C };   /* of a map, as map_axes reads it */

/* Reads the axes that `letters` names; '.' is one that is not there. L and W stand for each other, letters that the
 * layout has not are its `*`, in order. */
void read_axes(const xir_type *type, const char *letters, axes *out);
/* The axes of a map with `n` spatial ones. */
void map_axes(const xir_type *type, size_t n, axes *out);

/* A window and the cells that it meets along each axis, cell[a][p * size + k], -1 for none. */
typedef struct window {
    steps          along[SPATIAL];
    const int64_t *cell[SPATIAL];
    int64_t        size[SPATIAL];     /* of one window along each axis   */
    int64_t        cells;             /* of one window                   */
} window;

/* What attributes give for each of the three axes. */
void window_axes(window *w, const window_attrs *attrs);
/* How many places a window has along an axis: floor((over + before + after - dilation * (size - 1) - 1) / stride) +
 * 1. */
static inline int64_t window_places(const steps *s, int64_t over) {
    return (over + s->before + s->after - s->dilation * (s->size - 1) - 1) / s->stride + 1;
}
/* Makes the table of a window over `over` cells (D, H, W) at so many places; cells outside are what `mode` says. False
 * without memory. */
bool window_make(xir_kernel *at, window *w, const int64_t *over, const int64_t *places, xir_padding mode);

/* The offset of the window's cell k at place p, both row-major over D, H, W, in a map; -1 outside. */
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

/* Goes on to the next index, row-major below `dim`; false after the last one, which is followed by the first. */
static inline bool next_cell(int64_t index[SPATIAL], const int64_t dim[SPATIAL]) {
    for (size_t a = SPATIAL; a-- > 0;) {
        if (++index[a] < dim[a]) return true;
        index[a] = 0;
    }
    return false;
}

#endif
