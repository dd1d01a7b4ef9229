/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The letters of axes in other orders. Convolutions and related ops find axes by letter, or by position if there are no
 * letters: so a value that replaces another must have the same letters. */
#include <xir/quant.h>
#include "layout/layout.h"
#include "types.h"

static const char *const channels_last[] = { "NLC", "NHWC", "NDHWC" };   /* for 3 to 5 dims */

const xir_layout *letters_in_order(plan *l, const xir_layout *letters, axis_order by) {
    char text[MOST_AXES];
    size_t rank = xir_layout_rank(letters), stars = 0;
    if (by == ORDER_SAME) return letters;
    for (size_t i = 0; i < rank; i++) {
        text[i] = xir_layout_axis(letters, order_at(by, i));
        stars += text[i] == '*';
    }
    bool named = stars == rank && rank >= 3 && rank <= 5 && by == order_channels_last(rank);
    return xir_layout_parse(l->net->ctx, named ? xir_str_of(channels_last[rank - 3]) : (xir_str){ text, rank }, NULL);
}

/* Quantised elements whose scales and zero points lie along an axis, after it has moved. */
static const xir_type *element_in_order(plan *l, const xir_type *element, size_t rank, axis_order by) {
    const xir_scales *scales = xir_type_scale(element);
    const size_t n = xir_scales_count(scales);
    if (n < 2 && xir_type_zero_points(element).size < 2) return element;
    const bool from_end = xir_scales_axis(scales) < 0;
    int64_t was = xir_scales_axis(scales) + (from_end ? (int64_t)rank : 0), now = -1;
    for (size_t i = 0; i < rank; i++) if ((int64_t)order_at(by, i) == was) now = (int64_t)i;
    if (now < 0) return element;   // not an axis of the tensor: nothing follows it
    scales = scales_make(&l->net->pool, xir_scales_is_exp(scales), scales->items, from_end ? now - (int64_t)rank : now);
    return scales ? xir_type_with_scale(l->net->ctx, element, scales, NULL) : NULL;
}

const xir_type *type_in_order(plan *l, const xir_type *type, axis_order by) {
    const xir_tensor_type *t = xir_type_as_tensor(type);
    size_t rank = t->shape.size;
    int64_t dims[MOST_AXES];
    const xir_layout *letters = t->layout && xir_layout_rank(t->layout) == rank ? t->layout : NULL;
    if (by == ORDER_SAME) return type;
    for (size_t i = 0; i < rank; i++) dims[i] = t->shape.data[order_at(by, i)];
    if (letters && !(letters = letters_in_order(l, letters, by))) return NULL;
    const xir_type *element = element_in_order(l, t->element_dtype, rank, by);
    if (!element) return NULL;
    return type_tensor(&l->net->pool, element, letters, (xir_i64s){ dims, rank }, (xir_refs){ 0 });
}

/* The axis of each letter in the usual order, or the next axis without a letter. */
static void find_axes(const char *letters, size_t rank, uint8_t *axes) {
    size_t star = 0;
    for (size_t k = 0; k < rank; k++) {
        char letter = channels_last[rank - 3][k], other = letter == 'L' ? 'W' : letter == 'W' ? 'L' : letter;
        size_t i = 0;
        while (i < rank && letters[i] != letter && letters[i] != other) i++;
        if (i == rank) {
            while (star < rank && letters[star] != '*') star++;
            i = star < rank ? star++ : rank;
        }
        axes[k] = (uint8_t)i;
    }
}

static bool compare_letters(const xir_layout *x, axis_order by, const xir_layout *y, size_t rank) {
    char of_a[MOST_AXES], of_x[MOST_AXES], of_y[MOST_AXES];
    uint8_t axes_x[MOST_AXES], axes_y[MOST_AXES];
    if (layout_letters(x, of_a, MOST_AXES) != rank || layout_letters(y, of_y, MOST_AXES) != rank) return true;
    for (size_t i = 0; i < rank; i++) of_x[i] = of_a[order_at(by, i)];
    if (rank < 3 || rank > 5) {
        for (size_t i = 0; i < rank; i++) {
            const char c = xir_layout_axis(x, order_at(by, i)), d = xir_layout_axis(y, i);
            if (c != d && c != '*' && d != '*') return false;
        }
        return true;
    }
    find_axes(of_x, rank, axes_x);
    find_axes(of_y, rank, axes_y);
    return memcmp(axes_x, axes_y, rank) == 0;
}

/* Networks have few pairs of layouts and orders. */
bool letters_agree(plan *l, const xir_type *a, axis_order by, const xir_type *b) {
    const xir_layout *x = xir_type_layout(a), *y = xir_type_layout(b);
    if ((x == y && by == ORDER_SAME) || !x || !y) return true;
    const size_t rank = xir_type_rank(a);
    const uint64_t hash = hash_mix((uintptr_t)x ^ by, (uintptr_t)y ^ 0x9E3779B97F4A7C15u);
    compared_letters *known = &l->compared[hash % (sizeof l->compared / sizeof *l->compared)];
    if (known->x != x || known->y != y || known->by != by || known->rank != rank)
        *known = (compared_letters){ x, y, by, (uint32_t)rank, compare_letters(x, by, y, rank) };
    return known->agree;
}
