/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

#include "windows.h"
#include "dims.h"

static bool same_letter(char a, char b) { return a == b || (a == 'L' && b == 'W') || (a == 'W' && b == 'L'); }

/* Cannot fail, because inference has checked that each letter has an axis. */
void read_axes(const xir_type *type, const char *letters, axes *out) {
    const xir_layout *layout = xir_type_layout(type);
    size_t rank = xir_type_rank(type), star = 0;
    int64_t step[MOST_AXES];
    for (size_t i = 0; i < rank; i++) step[i] = elements_between(type, i + 1, rank);
    for (size_t k = 0; letters[k]; k++) {
        size_t i = 0;
        while (i < rank && !same_letter(xir_layout_axis(layout, i), letters[k])) i++;
        if (i == rank && letters[k] != '.') {
            while (star < rank && xir_layout_axis(layout, star) != '*') star++;
            i = star++;
        }
        out->dim[k] = i < rank ? xir_type_dim(type, (int64_t)i, false) : 1;
        out->step[k] = i < rank ? step[i] : 0;
    }
}

void map_axes(const xir_type *type, size_t n, axes *out) {
    static const char *const letters[SPATIAL + 1] = { "N...C", "N..LC", "N.HWC", "NDHWC" };
    read_axes(type, letters[n], out);
}

/* ---- strips ----------------------------------------------------------------------------------------------------- */

size_t strip_axis(const axes *map) {
    size_t best = W;
    for (size_t k = N; k <= C; k++) {
        if (map->step[k] == 1 && (map->step[best] != 1 || map->dim[k] > map->dim[best])) best = k;
    }
    return best;
}

size_t strip_count(const axes *map, size_t axis) {
    size_t count = map->dim[axis] ? 1 : 0;
    for (size_t k = N; k <= C; k++) count *= k == axis ? 1 : (size_t)map->dim[k];
    return count;
}

int64_t strip_place(const axes *map, size_t axis, int64_t i, int64_t place[MOST_AXES]) {
    static const size_t order[MOST_AXES] = { W, H, D, C, N };
    int64_t at = 0;
    place[axis] = 0;
    for (size_t k = 0; k < MOST_AXES; k++) {
        const size_t a = order[k];
        if (a == axis) continue;
        place[a] = i % map->dim[a];
        i /= map->dim[a];
        at += place[a] * map->step[a];
    }
    return at;
}

int64_t *axis_places(xir_kernel *at, const axes *map, size_t axis) {
    int64_t *places = xir_kernel_alloc(at, (size_t)map->dim[axis] + 1, sizeof *places);
    for (int64_t i = 0; places && i < map->dim[axis]; i++) places[i] = i * map->step[axis];
    return places;
}

/* ---- windows ---------------------------------------------------------------------------------------------------- */

void window_axes(window *w, const window_attrs *attrs) {
    size_t none = SPATIAL - attrs->n;
    for (size_t a = 0; a < none; a++) w->along[a] = (steps){ .size = 1, .stride = 1, .dilation = 1 };
    for (size_t a = none; a < SPATIAL; a++) w->along[a] = attrs->along[a - none];
}

/* The input cell that stands for cell i of n, which may be outside. */
static int64_t padded_cell(int64_t i, int64_t n, xir_padding mode) {
    if (i >= 0 && i < n) return i;
    switch (mode) {
    case XIR_PADDING_ZEROS:     break;
    case XIR_PADDING_REFLECT:   return i < 0 ? -i : 2 * (n - 1) - i;
    case XIR_PADDING_REPLICATE: return i < 0 ? 0 : n - 1;
    case XIR_PADDING_CIRCULAR:  return i < 0 ? i + n : i - n;
    }
    return -1;
}

bool window_make(xir_kernel *at, window *w, const int64_t *over, const int64_t *places, xir_padding mode) {
    w->cells = 1;
    for (size_t a = 0; a < SPATIAL; a++) {
        const steps *s = &w->along[a];
        size_t room;
        int64_t *cell = NULL;
        if (__builtin_mul_overflow(w->cells, s->size, &w->cells)) return false;
        if (!__builtin_mul_overflow((size_t)places[a], (size_t)s->size, &room))
            cell = xir_kernel_alloc(at, room, sizeof *cell);
        if (!cell) return false;
        for (int64_t p = 0; p < places[a]; p++) {
            for (int64_t k = 0; k < s->size; k++) {
                cell[p * s->size + k] = padded_cell(s->stride * p - s->before + s->dilation * k, over[a], mode);
            }
        }
        w->cell[a] = cell;
        w->size[a] = s->size;
    }
    return true;
}
