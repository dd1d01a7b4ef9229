/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Conditions that rules of several targets ask. */
#include <inttypes.h>
#include "targets.h"

size_t plain_dims(const xir_type *type, int64_t *out) {
    const xir_tensor_type *tensor = xir_type_as_tensor(type);
    const xir_layout *layout = xir_type_layout(type);
    size_t n = 0;
    if (tensor && !xir_type_is_layouted(type)) {
        for (; n < tensor->shape.size && n < MOST_AXES; n++) out[n] = tensor->shape.data[n];
        return n;
    }
    for (size_t i = 0; i < xir_type_rank(type) && n < MOST_AXES; i++) {
        if (xir_type_is_layouted(type) && xir_layout_unit(layout, i)) continue;
        out[n++] = xir_type_dim(type, (int64_t)i, true);
    }
    return n;
}

bool is_channel_vector(const xir_type *type, const xir_type *of) {
    int64_t dims[MOST_AXES], others[MOST_AXES];
    const size_t n = plain_dims(type, dims), m = plain_dims(of, others);
    if (!n || !m) return true;
    for (size_t i = 0; i + 1 < n; i++) {
        if (dims[i] != 1) return false;
    }
    return dims[n - 1] == others[m - 1];
}

bool is_at_most(int64_t a, int64_t b, int64_t most) {
    a = a < 1 ? 1 : a;
    b = b < 1 ? 1 : b;
    return a <= most && b <= most / a;
}

bool one_map(xir_infer *at) {
    size_t maps = 0;
    const xir_type *map = NULL, *out = xir_infer_output(at, 0);
    for (size_t i = 0; i < xir_infer_input_count(at); i++) {
        const xir_type *type = xir_infer_input(at, i);
        if (!type || xir_infer_input_is_params(at, i)) continue;
        map = type;
        maps++;
    }
    if (maps != 1) {
        xir_rule_found(at, NULL, "%zu of its inputs are maps", maps);
        return false;
    }
    int64_t dims[MOST_AXES], others[MOST_AXES];
    if (map == out) return true;
    const size_t n = plain_dims(map, dims), m = plain_dims(out, others);
    bool same = n == m;
    for (size_t i = 0; i < n && same; i++) same = dims[i] == others[i];
    if (!same) xir_rule_found(at, NULL, "the output has other dims than the map");
    return same;
}

bool is_channels_last(xir_infer *at) {
    const xir_type *type = xir_infer_input(at, 0);
    const xir_layout *layout = xir_type_layout(type);
    const size_t rank = xir_type_rank(type);
    if (!layout || !rank || xir_type_is_layouted(type)) return true;
    const char last = xir_layout_axis(layout, rank - 1);
    if (last == 'C' || !xir_layout_has(layout, 'C')) return true;
    xir_str text = xir_layout_text(layout);
    xir_rule_found(at, "inputs/0", "the layout is %.*s", XIR_ARG(text));
    return false;
}

bool pads_with_zeros(xir_infer *at) {
    const xir_conv2d_attrs *a = xir_infer_attrs(at);
    if (a->padding_mode == XIR_PADDING_ZEROS) return true;
    xir_rule_found(at, "padding_mode", "the padding holds other numbers");
    return false;
}

bool weights_are_constant(xir_infer *at) {
    if (xir_infer_input_is_params(at, 1)) return true;
    xir_rule_found(at, "inputs/1", "the weights are computed");
    return false;
}

bool pad_is_constant(xir_infer *at) {
    const xir_pad_attrs *a = xir_infer_attrs(at);
    if (a->mode == XIR_PAD_CONSTANT) return true;
    xir_rule_found(at, "mode", "the new elements are those of the map");
    return false;
}

bool numbers_are_known(xir_infer *at) {
    if (xir_infer_input_count(at) < 2 || !xir_infer_input(at, 1)) return true;
    xir_rule_found(at, "inputs/1", "they come from an input");
    return false;
}

bool interpolates_linearly(xir_infer *at) {
    const xir_upsample_attrs *a = xir_infer_attrs(at);
    if (a->interpolation == XIR_UPSAMPLE_NEAREST || a->interpolation == XIR_UPSAMPLE_BILINEAR) return true;
    xir_rule_found(at, "interpolation", "it is BICUBIC");
    return false;
}

bool factors_are_few(xir_infer *at) {
    const xir_upsample_attrs *a = xir_infer_attrs(at);
    const xir_type *in = xir_infer_input(at, 0);
    const int64_t h = xir_type_axis_dim(in, 'H', false), w = xir_type_axis_dim(in, 'W', false);
    if (h <= 0 || w <= 0) return true;
    const double product = (double)a->height / (double)h * ((double)a->width / (double)w);
    if (product <= 512) return true;
    xir_rule_found(at, NULL, "%" PRId64 "/%" PRId64 " * %" PRId64 "/%" PRId64 " is %.10g", a->height, h, a->width, w,
                   product);
    return false;
}

static bool is_known(const xir_type *type) { return !type || !xir_type_has_unknown_dim(type); }

bool dims_are_known(xir_infer *at) {
    for (size_t i = 0; i < xir_infer_input_count(at); i++) {
        if (!is_known(xir_infer_input(at, i))) return false;
    }
    for (size_t i = 0; xir_infer_output(at, i); i++) {
        if (!is_known(xir_infer_output(at, i))) return false;
    }
    return true;
}
