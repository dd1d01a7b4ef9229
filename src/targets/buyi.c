/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The ops that Buyi runs: the table of its code generator. Strides divide what windows cover; windows fit a local
 * memory of 2048 cells; ops that normalise do so along the last axis but one; channels, the last axis, are stored in
 * units and not taken apart. */
#include <inttypes.h>
#include <stdio.h>
#include "targets.h"

enum { CELLS = 2048 };   /* LMDEPTH of the manual; the number is that of the pass that splits large kernels */

/* ---- windows --------------------------------------------------------------------------------------------------- */

/* Windows along an axis. Unknown dims are negative. */
typedef struct window {
    const char *stride_name;
    int64_t     in, kernel, dilation, stride, before, after;
} window;

/* Windows along W and H of an op with attributes `a`. */
#define WINDOWS(map, kw, kh, dw, dh)                                                                                 \
    { { "stride_width",  xir_type_axis_dim(map, 'W', false), kw, dw, a->stride_width,  a->pad_left, a->pad_right },  \
      { "stride_height", xir_type_axis_dim(map, 'H', false), kh, dh, a->stride_height, a->pad_top,  a->pad_bottom } }

/* The cells that a kernel spans. */
static int64_t span(const window *w) {
    return w->kernel < 1 || w->dilation > INT32_MAX || w->kernel > INT32_MAX ? w->kernel
                                                                             : w->dilation * (w->kernel - 1) + 1;
}

static bool divides(xir_infer *at, const window both[2]) {
    for (int i = 0; i < 2; i++) {
        const window *w = &both[i];
        const int64_t most = INT32_MAX, spanned = span(w);
        if (w->in < 0 || w->kernel < 0 || w->before > most || w->after > most) continue;
        const int64_t rest = (w->in - spanned + w->before + w->after) % w->stride;
        if (!rest) continue;
        xir_rule_found(at, w->stride_name, "(%" PRId64 " - %" PRId64 " + %" PRId64 " + %" PRId64 ") %% %" PRId64
                       " is %" PRId64, w->in, spanned, w->before, w->after, w->stride, rest);
        return false;
    }
    return true;
}

static bool spans_at_most(xir_infer *at, const window both[2], int64_t most) {
    const int64_t w = span(&both[0]), h = span(&both[1]);
    if (is_at_most(w, h, most)) return true;
    xir_rule_found(at, NULL, "it spans %" PRId64 " x %" PRId64 " cells", w, h);
    return false;
}

#define CONV_WINDOWS(type)                                                                                           \
    const type *a = xir_infer_attrs(at);                                                                             \
    const xir_type *map = xir_infer_input(at, 0), *kernel = xir_infer_input(at, 1);                                  \
    const window both[2] = WINDOWS(map, xir_type_axis_dim(kernel, 'W', false), xir_type_axis_dim(kernel, 'H', false), \
                                   a->dilation_width, a->dilation_height)

static bool conv_divides(xir_infer *at) {
    CONV_WINDOWS(xir_conv2d_attrs);
    return divides(at, both);
}

static bool conv_fits(xir_infer *at) {
    CONV_WINDOWS(xir_conv2d_attrs);
    const bool simple = a->groups == 1 && !a->pad_left && !a->pad_right && !a->pad_top && !a->pad_bottom &&
                        a->dilation_width == 1 && a->dilation_height == 1;
    return simple || spans_at_most(at, both, CELLS);
}

static bool transposed_divides(xir_infer *at) {
    CONV_WINDOWS(xir_conv_transpose2d_attrs);
    return divides(at, both);
}

static bool transposed_fits(xir_infer *at) {
    CONV_WINDOWS(xir_conv_transpose2d_attrs);
    return spans_at_most(at, both, CELLS);
}

static bool is_one_group(xir_infer *at) {
    const xir_conv_transpose2d_attrs *a = xir_infer_attrs(at);
    if (a->groups == 1) return true;
    xir_rule_found(at, "groups", "there are %" PRId64, a->groups);
    return false;
}

static bool is_not_dilated(xir_infer *at) {
    const xir_conv_transpose2d_attrs *a = xir_infer_attrs(at);
    if (a->dilation_width == 1 && a->dilation_height == 1) return true;
    xir_rule_found(at, a->dilation_width == 1 ? "dilation_height" : "dilation_width", "it is dilated");
    return false;
}

#define MAX_WINDOWS                                                                                                  \
    const xir_max_pool2d_attrs *a = xir_infer_attrs(at);                                                             \
    const window both[2] = WINDOWS(xir_infer_input(at, 0), a->pool_width, a->pool_height, a->dilation_width,         \
                                   a->dilation_height)
#define AVG_WINDOWS                                                                                                  \
    const xir_avg_pool2d_attrs *a = xir_infer_attrs(at);                                                             \
    const window both[2] = WINDOWS(xir_infer_input(at, 0), a->pool_width, a->pool_height, 1, 1)

static bool max_divides(xir_infer *at) { MAX_WINDOWS; return divides(at, both); }
static bool avg_divides(xir_infer *at) { AVG_WINDOWS; return divides(at, both); }
static bool max_fits(xir_infer *at)    { MAX_WINDOWS; return spans_at_most(at, both, (int64_t)CELLS * CELLS); }
static bool avg_fits(xir_infer *at)    { AVG_WINDOWS; return spans_at_most(at, both, (int64_t)CELLS * CELLS); }

static bool divisor_fits(xir_infer *at) {
    AVG_WINDOWS;
    if (a->divisor_override < 0) {
        xir_rule_found(at, "divisor_override", "it is %" PRId64, a->divisor_override);
        return false;
    }
    return !a->divisor_override || spans_at_most(at, both, CELLS);
}

static bool counts_no_padding(xir_infer *at) {
    AVG_WINDOWS;
    const bool padded = a->pad_left || a->pad_right || a->pad_top || a->pad_bottom;
    (void)both;
    return !a->count_include_pad || !padded;
}

/* A pool over the whole map. */
static bool is_global(const window both[2]) { return both[0].in == both[0].kernel && both[1].in == both[1].kernel; }

static bool max_is_local(xir_infer *at) { MAX_WINDOWS; return !is_global(both) || spans_at_most(at, both, CELLS); }
static bool avg_is_local(xir_infer *at) { AVG_WINDOWS; return !is_global(both) || spans_at_most(at, both, CELLS); }

/* ---- pairs of maps --------------------------------------------------------------------------------------------- */

static bool has_one_rank(xir_infer *at) {
    const size_t a = xir_type_rank(xir_infer_input(at, 0)), b = xir_type_rank(xir_infer_input(at, 1));
    if (a == b || xir_type_is_layouted(xir_infer_input(at, 0))) return true;
    xir_rule_found(at, a < b ? "inputs/0" : "inputs/1", "the ranks are %zu and %zu", a, b);
    return false;
}

static bool has_one_shape(xir_infer *at) {
    const xir_type *out = xir_infer_output(at, 0);
    int64_t dims[MOST_AXES], of[MOST_AXES];
    const size_t n = plain_dims(out, of);
    for (size_t i = 0; i < 2; i++) {
        const xir_type *type = xir_infer_input(at, i);
        const size_t m = plain_dims(type, dims);
        bool same = m == n;
        for (size_t k = 0; k < n && same; k++) same = dims[k] == of[k];
        if (same || is_channel_vector(type, out)) continue;
        xir_rule_found(at, i ? "inputs/1" : "inputs/0", "it is repeated along other dims");
        return false;
    }
    return true;
}

static bool has_one_constant(xir_infer *at) {
    size_t n = 0;
    for (size_t i = 0; i < xir_infer_input_count(at); i++) n += xir_infer_input_is_params(at, i);
    if (n <= 1) return true;
    xir_rule_found(at, "inputs", "%zu inputs are constants", n);
    return false;
}

/* ---- axes ------------------------------------------------------------------------------------------------------ */

/* Returns true if the only axis is the last one but one. */
static bool is_along_rows(xir_infer *at, const char *where, const int64_t *axes, size_t n) {
    int64_t dims[MOST_AXES];
    const size_t rank = plain_dims(xir_infer_input(at, 0), dims);
    if (xir_type_is_layouted(xir_infer_input(at, 0))) return true;   /* axes count dims of tiles */
    if (n == 1 && rank >= 2 && from_end(axes[0], rank) == (int64_t)rank - 2) return true;
    if (n == 1) xir_rule_found(at, where, "it is axis %" PRId64 " of %zu", from_end(axes[0], rank), rank);
    else xir_rule_found(at, where, "there are %zu axes", n ? n : rank);
    return false;
}

static bool softmax_is_along_rows(xir_infer *at) {
    const xir_softmax_attrs *a = xir_infer_attrs(at);
    return is_along_rows(at, "axis", &a->axis, 1);
}

static bool layer_norm_is_along_rows(xir_infer *at) {
    const xir_layer_norm_attrs *a = xir_infer_attrs(at);
    return is_along_rows(at, "axis", a->axis.data, a->axis.size);
}

static bool normalize_is_along_rows(xir_infer *at) {
    const xir_normalize_attrs *a = xir_infer_attrs(at);
    return is_along_rows(at, "axis", a->axis.data, a->axis.size);
}

static bool layer_norm_is_bare(xir_infer *at) {
    const xir_layer_norm_attrs *a = xir_infer_attrs(at);
    if (!a->gamma && !a->beta) return true;
    xir_rule_found(at, a->gamma ? "gamma" : "beta", "it multiplies or adds");
    return false;
}

/* Two of all axes but the last change places, or the last two do. */
static bool swaps_two(xir_infer *at) {
    const xir_transpose_attrs *a = xir_infer_attrs(at);
    const size_t n = a->dims.size;
    size_t moved = 0;
    if (xir_type_is_layouted(xir_infer_input(at, 0))) return true;
    for (size_t i = 0; i < n; i++) moved += from_end(a->dims.data[i], n) != (int64_t)i;
    const bool keeps_last = !n || from_end(a->dims.data[n - 1], n) == (int64_t)n - 1;
    const bool swaps_last = n >= 2 && from_end(a->dims.data[n - 1], n) == (int64_t)n - 2;
    if (moved <= 2 && (keeps_last || swaps_last)) return true;
    xir_rule_found(at, "dims", moved > 2 ? "%zu axes move" : "the last axis changes places with a distant one", moved);
    return false;
}

static bool expands_one(xir_infer *at) {
    int64_t in[MOST_AXES], out[MOST_AXES];
    const size_t n = plain_dims(xir_infer_input(at, 0), in), m = plain_dims(xir_infer_output(at, 0), out);
    size_t changed = m - n;
    for (size_t i = 0; i < n; i++) changed += in[i] != out[i + m - n];
    if (n == m && changed <= 1) return true;
    if (n < m) xir_rule_found(at, "sizes", "dims are added");
    else xir_rule_found(at, "sizes", "%zu dims are repeated", changed);
    return false;
}

static bool expand_keeps_channels(xir_infer *at) {
    int64_t in[MOST_AXES], out[MOST_AXES];
    const size_t n = plain_dims(xir_infer_input(at, 0), in), m = plain_dims(xir_infer_output(at, 0), out);
    if (!n || !m || in[n - 1] == out[m - 1]) return true;
    xir_rule_found(at, "sizes", "the last dim is repeated");
    return false;
}

static bool pad_keeps_channels(xir_infer *at) {
    const xir_pad_attrs *a = xir_infer_attrs(at);
    const size_t n = a->padding.size;
    if (n < 2 || xir_infer_input(at, 1) || (!a->padding.data[n - 2] && !a->padding.data[n - 1])) return true;
    xir_rule_found(at, "padding", "the last dim gets other elements");
    return false;
}

static bool slice_keeps_channels(xir_infer *at) {
    int64_t in[MOST_AXES], out[MOST_AXES];
    const size_t n = plain_dims(xir_infer_input(at, 0), in), m = plain_dims(xir_infer_output(at, 0), out);
    const xir_slice_attrs *a = xir_infer_attrs(at);
    const bool backwards = a->stride.size && a->stride.data[a->stride.size - 1] < 0;
    if (!n || !m || xir_infer_input(at, 1) || (in[n - 1] == out[m - 1] && !backwards)) return true;
    xir_rule_found(at, "begin", "%" PRId64 " of %" PRId64 " channels are taken", out[m - 1], in[n - 1]);
    return false;
}

static bool slice_divides(xir_infer *at) {
    int64_t dims[MOST_AXES];
    const size_t n = plain_dims(xir_infer_input(at, 0), dims);
    const xir_slice_attrs *a = xir_infer_attrs(at);
    if (xir_infer_input(at, 1)) return true;   /* another rule's */
    for (size_t i = 0; i < n && i < a->begin.size && i < a->end.size && i < a->stride.size; i++) {
        int64_t begin = from_end(a->begin.data[i], (size_t)(dims[i] < 0 ? 0 : dims[i])), step = a->stride.data[i];
        int64_t end = a->end.data[i] < 0 ? a->end.data[i] + dims[i] : a->end.data[i];
        if (end > dims[i]) end = dims[i];
        if (dims[i] < 0 || step == 1 || step == -1 || begin > dims[i] || begin < 0) continue;
        if (step < 0 && end < -1) end = -1;
        if ((end - begin) % step == 0) continue;
        xir_rule_found(at, "stride", "(%" PRId64 " - %" PRId64 ") %% %" PRId64 " is %" PRId64, end, begin, step,
                       (end - begin) % step);
        return false;
    }
    return true;
}

static bool splits_outermost(xir_infer *at) {
    int64_t dims[MOST_AXES];
    const xir_type *type = xir_infer_input(at, 0);
    const xir_split_attrs *a = xir_infer_attrs(at);
    const size_t n = plain_dims(type, dims);
    if (xir_type_is_layouted(type)) return true;
    const int64_t axis = from_end(a->axis, n);
    for (int64_t i = 0; i < axis; i++) {
        if (dims[i] == 1) continue;
        xir_rule_found(at, "axis", "axis %" PRId64 " before it has %" PRId64 " elements", i, dims[i]);
        return false;
    }
    return true;
}

static bool roll_has_dims(xir_infer *at) {
    const xir_roll_attrs *a = xir_infer_attrs(at);
    if (a->dims.size) return true;
    xir_rule_found(at, "dims", "all elements are rotated as one row");
    return false;
}

/* ---- upsampling ------------------------------------------------------------------------------------------------ */

static bool factors_are_whole(xir_infer *at) {
    const xir_upsample_attrs *a = xir_infer_attrs(at);
    const xir_type *in = xir_infer_input(at, 0);
    const int64_t h = xir_type_axis_dim(in, 'H', false), w = xir_type_axis_dim(in, 'W', false);
    if (a->interpolation != XIR_UPSAMPLE_NEAREST || h <= 0 || w <= 0 || (a->height % h == 0 && a->width % w == 0))
        return true;
    const bool is_h = a->height % h != 0;
    xir_rule_found(at, is_h ? "height" : "width", "%" PRId64 " to %" PRId64, is_h ? h : w, is_h ? a->height : a->width);
    return false;
}

static bool factors_are_small(xir_infer *at) {
    const xir_upsample_attrs *a = xir_infer_attrs(at);
    const xir_type *in = xir_infer_input(at, 0);
    const int64_t h = xir_type_axis_dim(in, 'H', false), w = xir_type_axis_dim(in, 'W', false);
    if (h <= 0 || w <= 0 || ((a->height - 1) / 22 < h && (a->width - 1) / 22 < w)) return true;
    const bool is_h = (a->height - 1) / 22 >= h;
    xir_rule_found(at, is_h ? "height" : "width", "%" PRId64 " to %" PRId64, is_h ? h : w, is_h ? a->height : a->width);
    return false;
}

/* ---- dims and element types ------------------------------------------------------------------------------------ */

static bool fits_16_bits(xir_infer *at, const xir_type *type, const char *list, size_t place) {
    const xir_tensor_type *tensor = xir_type_as_tensor(type);
    int64_t bits = 0;
    for (size_t i = 0; tensor && i < tensor->shape.size; i++) bits |= tensor->shape.data[i];
    if (bits >= 0 && bits <= UINT16_MAX) return true;   /* which most are */
    for (size_t i = 0; tensor && i < tensor->shape.size; i++) {
        if (tensor->shape.data[i] <= UINT16_MAX) continue;
        char where[32];
        snprintf(where, sizeof where, "%s/%zu", list, place);
        xir_rule_found(at, where, "dim %zu is %" PRId64, i, tensor->shape.data[i]);
        return false;
    }
    return true;
}

static bool dims_fit(xir_infer *at) {
    for (size_t i = 0; i < xir_infer_input_count(at); i++) {
        if (!fits_16_bits(at, xir_infer_input(at, i), "inputs", i)) return false;
    }
    for (size_t i = 0; xir_infer_output(at, i); i++) {
        if (!fits_16_bits(at, xir_infer_output(at, i), "outputs", i)) return false;
    }
    return true;
}

static bool is_stored_whole(const xir_type *type) {
    const xir_type *storage = xir_type_storage(type);
    const uint64_t bits = xir_type_storage_bits(type);
    const bool integer = xir_type_is_quantized(xir_type_element(type)) &&
                         xir_type_kind_of(storage) == XIR_TYPE_INTEGER;
    return integer && (bits == 8 || bits == 16);
}

static bool maps_are_quantised(xir_infer *at) {
    for (size_t i = 0; i < xir_infer_input_count(at); i++) {
        char where[32];
        const xir_type *type = xir_infer_input(at, i);
        if (!type || xir_infer_input_is_params(at, i) || is_stored_whole(type)) continue;
        snprintf(where, sizeof where, "inputs/%zu", i);
        xir_rule_found(at, where, "the elements are not quantised to 8 or 16 bits");
        return false;
    }
    for (size_t i = 0; xir_infer_output(at, i); i++) {
        if (is_stored_whole(xir_infer_output(at, i))) continue;
        xir_rule_found(at, "outputs/0", "the elements are not quantised to 8 or 16 bits");
        return false;
    }
    return true;
}

/* ---- the table ------------------------------------------------------------------------------------------------- */

#define CODE "code generation, "
#define RUNS(id, class_)         { .cls = xir_##id##_class, .name = #id, .source = CODE class_ }
#define NOT(id, mend_)           { .cls = xir_##id##_class, .mend = mend_, .name = "no-" #id, \
                                   .flags = XIR_RULE_EXCLUDES, .source = CODE "the list of classes" }
#define COMPILED(key_)           { .key = key_, .name = key_, .flags = XIR_RULE_COMPILED, \
                                   .source = "ops of the vendor's demos" }
#define ASKS(id, name_, condition, needs_, mend_, source_) \
    { .cls = xir_##id##_class, .holds = condition, .needs = needs_, .mend = mend_, .name = name_, .source = source_ }
#define HINT(id, name_, condition, needs_, source_) \
    { .cls = xir_##id##_class, .holds = condition, .needs = needs_, .name = name_, .source = source_, .flags = XIR_RULE_NOTE }

#define SCALES(id, name_, condition, needs_) \
    { .cls = xir_##id##_class, .holds = condition, .needs = needs_, .name = name_, .flags = XIR_RULE_TYPES, \
      .source = "quantizer/buyi, scales" }

static const char weights[] = "m * 2^-e with m of 1 to 255, the greatest above 127, one e of b to 2b + 5, and a bias of "
                              "2b bits with the same m and 0 <= e - n <= 5";
static const char hard_weights[] = "m * 2^-e with m of 1 to 255, the greatest above 127, and one e of b to 2b + 5";
static const char cuts[] = "legalize cuts padding or the map", splits[] = "legalize splits the kernel",
                  turns[] = "legalize transposes before and after", steps[] = "legalize makes steps of it";

/* By class, in the order of the manual. */
static const xir_target_rule rules[] = {
    { .holds = dims_fit,           .needs = "dims of at most 65535",  .name = "dims", .source = CODE "registers of 16 bits" },
    { .holds = dims_are_known,     .needs = "dims that are known",    .name = "open-dims",
      .mend = "bind gives them numbers", .source = "addresses of the real file", .flags = XIR_RULE_NOTE },
    { .holds = maps_are_quantised, .needs = "maps of 8 or 16 bits",   .name = "elements",
      .source = "quantizer/buyi, real file", .flags = XIR_RULE_TYPES },
    { .holds = maps_have_scale_one, .needs = "normalised maps of the scale 1", .name = "map-scale",
      .source = "quantizer/buyi, real file", .flags = XIR_RULE_TYPES },

    { .traits = XIR_TRAIT_ACTIVATION, .holds = one_map, .needs = "one map in, and one of the same shape out",
      .name = "activation", .source = CODE "activations" },
    NOT (clamp_scalar, "legalize makes it a Hardtanh"),
    NOT (log, NULL),

    ASKS(add,      "add-rank",         has_one_rank,   "operands of one rank",               "legalize reshapes one",
         CODE "Add"),
    ASKS(add,      "add-shape",        has_one_shape,  "operands of one shape, or a vector of channels",
         "legalize repeats one", CODE "Add"),
    RUNS(align_axis, "AlignAxis"),
    ASKS(avg_pool2d, "avg-window",     avg_fits,       "windows of at most 2048 * 2048 cells", NULL,
         CODE "AvgPool2d"),
    ASKS(avg_pool2d, "avg-stride",     avg_divides,    "strides that divide",                cuts,
         CODE "AvgPool2d"),
    ASKS(avg_pool2d, "avg-divisor",    divisor_fits,
         "a divisor of 0, or a positive one of windows of at most 2048 cells", NULL, CODE "AvgPool2d"),
    ASKS(avg_pool2d, "avg-layout",     is_channels_last,  "channels as the last axis",          turns,
         CODE "layouts"),
    HINT(avg_pool2d, "avg-padding",    counts_no_padding, "count_include_pad = false",
         "code generation; adapt says the opposite"),
    HINT(avg_pool2d, "avg-global",     avg_is_local,
         "a map outside of the chip for a global pool of more than 2048 cells", CODE "AvgPool2d"),
    RUNS(batch_norm2d, "BatchNorm2d"),
    ASKS(concat,   "concat-constants", has_one_constant, "at most one constant",             NULL,
         CODE "Concat"),
    ASKS(conv2d,   "conv-padding",     pads_with_zeros, "padding of zeros",                  NULL,
         CODE "Conv2d"),
    ASKS(conv2d,   "conv-stride",      conv_divides,   "strides that divide",                cuts,
         CODE "Conv2d"),
    ASKS(conv2d,   "conv-kernel",      conv_fits,
         "kernels of at most 2048 cells, or without groups, padding and dilation", splits, CODE "Conv2d"),
    ASKS(conv2d,   "conv-layout",      is_channels_last,  "channels as the last axis",          turns,
         CODE "layouts"),
    SUMS(conv2d, "conv-sums", conv_sums_fit),
    SCALES(conv2d, "conv-scales", conv_scales_fit, weights),
    ASKS(conv_transpose2d, "transposed-weights", weights_are_constant, "weights that are constants", NULL,
         CODE "ConvTranspose2d"),
    ASKS(conv_transpose2d, "transposed-groups", is_one_group, "one group",                   NULL,
         CODE "ConvTranspose2d"),
    ASKS(conv_transpose2d, "transposed-dilation", is_not_dilated, "a kernel without dilation", NULL,
         CODE "ConvTranspose2d"),
    ASKS(conv_transpose2d, "transposed-kernel", transposed_fits, "kernels of at most 2048 cells", NULL,
         CODE "ConvTranspose2d"),
    ASKS(conv_transpose2d, "transposed-stride", transposed_divides, "strides that divide",   NULL,
         CODE "ConvTranspose2d"),
    ASKS(conv_transpose2d, "transposed-layout", is_channels_last, "channels as the last axis",  turns,
         CODE "layouts"),
    SUMS(conv_transpose2d, "transposed-sums", conv_sums_fit),
    SCALES(conv_transpose2d, "transposed-scales", product_scales_fit, weights),
    RUNS(copy, "Copy"),
    ASKS(expand,   "expand-dims",      expands_one,    "one dim to repeat",                  steps,
         CODE "Expand"),
    ASKS(expand,   "expand-channels",  expand_keeps_channels, "channels that stay",          NULL,
         CODE "Expand"),
    ASKS(expand,   "expand-numbers",   numbers_are_known, "sizes that are attributes",       NULL,
         CODE "Expand"),
    ASKS(instance_norm2d, "instance-layout", is_channels_last, "channels as the last axis",     turns,
         CODE "layouts"),
    ASKS(layer_norm, "layer-bare",     layer_norm_is_bare, "neither gamma nor beta",
         "legalize multiplies and adds", "adapt, SplitLayernorm"),
    ASKS(layer_norm, "layer-axis",     layer_norm_is_along_rows, "the last axis but one",    turns,
         CODE "LayerNorm"),
    ASKS(matmul,   "matmul-rank",      has_one_rank,   "operands of one rank",               "legalize reshapes one",
         CODE "Matmul"),
    SUMS(matmul, "matmul-sums", matmul_sums_fit),
    SCALES(matmul, "matmul-scales", product_scales_fit, weights),
    SCALES(matmul, "matmul-cut", matmul_cut_fits, "a cut_scale of m * 2^-e with 0 <= e <= 2b + 5"),
    ASKS(max_pool2d, "max-window",     max_fits,       "windows of at most 2048 * 2048 cells", NULL,
         CODE "MaxPool2d"),
    ASKS(max_pool2d, "max-stride",     max_divides,    "strides that divide",                cuts,
         CODE "MaxPool2d"),
    ASKS(max_pool2d, "max-layout",     is_channels_last,  "channels as the last axis",          turns,
         CODE "layouts"),
    HINT(max_pool2d, "max-global",     max_is_local,
         "a map outside of the chip for a global pool of more than 2048 cells", CODE "MaxPool2d"),
    ASKS(multiply, "multiply-rank",    has_one_rank,   "operands of one rank",               "legalize reshapes one",
         CODE "Multiply"),
    ASKS(multiply, "multiply-shape",   has_one_shape,  "operands of one shape, or a vector of channels",
         "legalize repeats one", CODE "Multiply"),
    SCALES(multiply, "multiply-cut",   multiply_cut_fits, "a cut_scale of m * 2^-e with 0 <= e <= 2b"),
    ASKS(normalize, "normalize-axis",  normalize_is_along_rows, "the last axis but one",     turns,
         CODE "Normalize"),
    ASKS(pad,      "pad-mode",         pad_is_constant, "a constant for the new elements",   NULL,
         CODE "Pad"),
    ASKS(pad,      "pad-channels",     pad_keeps_channels, "channels that stay",             NULL,
         CODE "Pad"),
    ASKS(pad,      "pad-numbers",      numbers_are_known, "amounts that are attributes",     NULL,
         CODE "Pad"),
    RUNS(prune_axis, "PruneAxis"),
    ASKS(reshape,  "reshape-numbers",  numbers_are_known, "dims that are attributes",        NULL,
         CODE "Reshape"),
    ASKS(roll,     "roll-dims",        roll_has_dims,  "dims to rotate",
         "legalize makes it one dim", CODE "Roll"),
    ASKS(slice,    "slice-channels",   slice_keeps_channels, "all channels",                 NULL,
         CODE "Slice"),
    ASKS(slice,    "slice-stride",     slice_divides,  "strides that divide",                "legalize moves the end",
         CODE "Slice"),
    ASKS(slice,    "slice-numbers",    numbers_are_known, "bounds that are attributes",      NULL,
         CODE "Slice"),
    ASKS(softmax,  "softmax-axis",     softmax_is_along_rows, "the last axis but one",       turns,
         CODE "Softmax"),
    ASKS(split,    "split-axis",       splits_outermost, "the outermost dim that is not 1",  "legalize makes Slices",
         CODE "Split"),
    ASKS(transpose, "transpose-axes",  swaps_two,      "the last two axes, or two others",   steps,
         CODE "Transpose"),
    ASKS(upsample, "upsample-mode",    interpolates_linearly, "NEAREST or BILINEAR",         NULL,
         CODE "Upsample"),
    ASKS(upsample, "upsample-whole",   factors_are_whole, "whole factors of NEAREST",        NULL,
         CODE "Upsample"),
    ASKS(upsample, "upsample-product", factors_are_few, "factors whose product is at most 512", steps,
         CODE "Upsample"),
    HINT(upsample, "upsample-factor",  factors_are_small, "factors of at most 22",
         "adapt, SplitUpsample; the manual of code generation has the product alone"),
    ASKS(upsample, "upsample-layout",  is_channels_last,  "channels as the last axis",          turns,
         CODE "layouts"),

    /* Not in the manual's list, but made of classes that are. */
    NOT (mean,          "legalize makes it a pool"),
    NOT (resize,        "legalize makes it an Upsample"),
    NOT (squeeze,       "legalize makes it a Reshape"),
    NOT (unstack,       "legalize makes it Slices"),
    NOT (pixel_shuffle, "legalize makes it a Transpose"),

    { .cls = xir_hard_op_class, .holds = hard_scales_fit, .needs = hard_weights, .name = "hard-scales",
      .source = "real file", .flags = XIR_RULE_TYPES },
    COMPILED("customop::ImageMake"),
    COMPILED("customop::DetPost"),
};

const xir_target_row buyi_row = {
    .abi = XIR_ABI, .size = sizeof(xir_target_row), XIR_TARGET_RULES(rules), .flags = XIR_TARGET_ADVISES,
};
