/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Non-maximum suppression: boxes are selected in the order of their scores, of equal scores the first one first, unless
 * they overlap a selected box. */
#include <math.h>
#include <stdlib.h>
#include "blocks.h"
#include "kernels.h"

enum { BOXES, SCORES, MOST, IOU, SCORE };   /* the inputs */

/* A box by its corners, with its score. */
typedef struct box {
    double  top, left, bottom, right, score;
    int64_t index;
} box;

static box read_box(const double *b, bool centre, double score, int64_t index) {
    if (centre) return (box){ b[1] - b[3] / 2, b[0] - b[2] / 2, b[1] + b[3] / 2, b[0] + b[2] / 2, score, index };
    return (box){ fmin(b[0], b[2]), fmin(b[1], b[3]), fmax(b[0], b[2]), fmax(b[1], b[3]), score, index };
}

static double area(const box *b) { return (b->bottom - b->top) * (b->right - b->left); }

static bool overlap(const box *a, const box *b, double threshold) {
    double height = fmin(a->bottom, b->bottom) - fmax(a->top, b->top),
           width = fmin(a->right, b->right) - fmax(a->left, b->left);
    if (!(height > 0) || !(width > 0) || !(area(a) > 0) || !(area(b) > 0)) return false;
    return height * width / (area(a) + area(b) - height * width) > threshold;
}

static int by_score(const void *l, const void *r) {
    const box *a = l, *b = r;
    if (a->score != b->score) return a->score > b->score ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

/* Moves the selected boxes of n to the front and returns their number. */
static int64_t select_boxes(xir_kernel *at, box *all, int64_t n, int64_t most, double threshold) {
    int64_t chosen = 0;
    qsort(all, (size_t)n, sizeof *all, by_score);
    for (int64_t i = 0; i < n && chosen < most && !xir_kernel_stops(at, (uint64_t)chosen + 1); i++) {
        bool free = true;
        for (int64_t k = 0; k < chosen && free; k++) free = !overlap(&all[k], &all[i], threshold);
        if (free) all[chosen++] = all[i];
    }
    return chosen;
}

/* Reads an optional number from the inputs. */
static bool read_real(xir_kernel *at, size_t i, double preset, double *out) {
    reader r;
    *out = preset;
    if (!xir_kernel_input_type(at, i)) return true;
    if (!reader_open(&r, at, i)) return false;
    *out = *read_reals(&r, 0, 1, out);
    return true;
}

/* The boxes of a class in an image whose scores are above `least`: there are n from element `from` of the scores on. */
static int64_t read_boxes(xir_kernel *at, const reader *boxes, const reader *scores, int64_t image, int64_t from,
                          int64_t n, double least, box *all) {
    const xir_non_max_suppression_attrs *a = xir_kernel_attrs(at);
    double room[BLOCK], corners[4];
    int64_t count = 0;
    for (int64_t i = 0, some; i < n; i += some) {
        some = n - i < BLOCK ? n - i : BLOCK;
        const double *score = read_reals(scores, (size_t)(from + i), (size_t)some, room);
        for (int64_t k = 0; k < some; k++) {
            if (!(score[k] > least)) continue;
            const double *b = read_reals(boxes, (size_t)(image * n + i + k) * 4, 4, corners);
            all[count++] = read_box(b, a->center_point_box, score[k], i + k);
        }
    }
    return count;
}

static xir_status non_max_suppression(xir_kernel *at) {
    const xir_type *type = xir_kernel_input_type(at, SCORES);
    const int64_t batches = xir_type_dim(type, 0, false), classes = xir_type_dim(type, 1, false);
    const int64_t n = xir_type_dim(type, 2, false);
    reader boxes, scores;
    writer out;
    double most, iou, least;
    if (!reader_open(&boxes, at, BOXES) || !reader_open(&scores, at, SCORES)) return XIR_E_MEMORY;
    if (!read_real(at, MOST, 0, &most) || !read_real(at, IOU, 0, &iou)) return XIR_E_MEMORY;
    if (!read_real(at, SCORE, -INFINITY, &least)) return XIR_E_MEMORY;
    int64_t limit = most > (double)n ? n : most > 0 ? (int64_t)most : 0, found = 0;
    size_t room;
    box *all = kernel_room(at, (size_t)n + 1, sizeof *all);
    if (!all || __builtin_mul_overflow((size_t)(batches * classes), (size_t)limit, &room)) return XIR_E_MEMORY;
    int64_t *selected = kernel_room(at, room + 1, 3 * sizeof *selected);
    if (!selected) return XIR_E_MEMORY;
    for (int64_t b = 0; b < batches; b++) {
        for (int64_t c = 0; c < classes; c++) {
            int64_t count = read_boxes(at, &boxes, &scores, b, (b * classes + c) * n, n, least, all);
            count = select_boxes(at, all, count, limit, iou);
            for (int64_t i = 0; i < count; i++, found++) {
                selected[3 * found] = b;
                selected[3 * found + 1] = c;
                selected[3 * found + 2] = all[i].index;
            }
        }
    }
    const int64_t dims[2] = { found, 3 };
    xir_status status = xir_kernel_result(at, 0, dims, 2);
    if (status) return status;
    if (!writer_open(&out, at, 0)) return XIR_E_MEMORY;
    write_i64s(&out, 0, (size_t)(3 * found), selected);
    return XIR_OK;
}

kernel_table kernels_detection = {
    { xir_non_max_suppression_class, non_max_suppression, kernel_is_alone },
    { NULL,                          NULL                                 },
};
