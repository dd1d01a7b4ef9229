/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Sums of products of quantised numbers, as an accumulator of 32 bits has them: the scale of the result is the product
 * of the operands' scales, rounded to float32. They are added as stored numbers minus zero points, without rounding.
 * The product of the scales itself needs 48 bits, so sums above 2^23 would be wrong if they were computed as reals. */
#include <xir/quant.h>
#include "class_normalised.h"
#include "kernel.h"
#include "types.h"

/* The scales of a quantised type without ratios, whose elements are integers; NULL for other types. */
static const xir_scales *scales_of(const xir_type *type) {
    const xir_type *element = xir_type_element(type);
    if (xir_type_kind_of(element) != XIR_TYPE_QUANTIZED) return NULL;
    if (xir_type_kind_of(xir_type_storage(element)) != XIR_TYPE_INTEGER) return NULL;
    const xir_scales *scales = xir_type_scale(element);
    return xir_scales_count(scales) ? scales : NULL;
}

static bool is_centred(const xir_type *type) {
    const xir_i64s zeros = xir_type_zero_points(type);
    for (size_t i = 0; i < zeros.size; i++) if (zeros.data[i]) return false;
    return true;
}

/* The axis that several scales lie along, from the start. */
static int64_t axis_of(const xir_type *type, const xir_scales *scales) {
    const int64_t axis = xir_scales_axis(scales);
    return axis < 0 ? axis + (int64_t)xir_type_rank(type) : axis;
}

/* The axis of an operand's or result's channels: by its letter, or the last one. */
static int64_t channel_axis(const xir_type *type, char letter) {
    const xir_layout *layout = xir_type_layout(type);
    const int64_t last = (int64_t)xir_type_rank(type) - 1;
    if (!layout || xir_layout_rank(layout) != xir_type_rank(type)) return last;
    const int64_t found = xir_layout_index(layout, letter);
    return found < 0 ? last : found;
}

/* Returns true if item i of both arrays is the same, for all items. */
static bool same_scales(const xir_scales *a, const xir_scales *b) {
    if (xir_scales_count(a) != xir_scales_count(b)) return false;
    for (size_t i = 0; i < xir_scales_count(a); i++) if (xir_scales_at(a, i) != xir_scales_at(b, i)) return false;
    return true;
}

bool kernel_sums(const xir_kernel *at) {
    const class_normalised *row = at->op->cls->more->normalised;
    if (!row || row->kind != NORMALISED_PRODUCT || at->numbers.normalised || at->n_outputs != 1 || at->n_inputs < 2)
        return false;
    const xir_type *x = at->inputs[0].type, *w = at->inputs[1].type, *y = at->outputs[0].type;
    const xir_scales *of_x = x ? scales_of(x) : NULL, *of_w = w ? scales_of(w) : NULL, *of_y = y ? scales_of(y) : NULL;
    if (!of_x || !of_w || !of_y || xir_scales_count(of_x) != 1 || !is_centred(y)) return false;
    const size_t n = xir_scales_count(of_w);
    if (xir_type_storage_bits(y) != 32 || xir_scales_count(of_y) != n) return false;
    for (size_t i = 0; i < n; i++) {
        if (xir_scales_at(of_y, i) != (double)(float)(xir_scales_at(of_x, 0) * xir_scales_at(of_w, i))) return false;
    }
    if (n > 1 && (axis_of(w, of_w) != channel_axis(w, 'O') || axis_of(y, of_y) != channel_axis(y, 'C'))) return false;
    if (at->n_inputs < 3 || !at->inputs[2].type) return true;
    const xir_scales *of_bias = scales_of(at->inputs[2].type);
    return of_bias && is_centred(at->inputs[2].type) && same_scales(of_bias, of_y);
}
