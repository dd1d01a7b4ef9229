/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The ops that Zhuge runs: the table of its code generator, for elements of int8, bf16, fp16 and tf32. What a stride
 * leaves over is dropped, so strides need not divide; ops that normalise take two dims, which are three with tiles. */
#include <inttypes.h>
#include <stdio.h>
#include "targets.h"

/* ---- element types --------------------------------------------------------------------------------------------- */

/* Bits, so that a condition lists the ones that it takes. */
typedef enum element { OTHER = 0, INT8 = 1, UINT8 = 2, BF16 = 4, FP16 = 8, TF32 = 16, FP32 = 32 } element;

static element element_of(const xir_type *type) {
    const xir_type *storage = xir_type_storage(type);
    const xir_float_type *real = storage ? xir_float_type_of(xir_type_object(storage)) : NULL;
    if (real) {
        switch (real->format) {
        case XIR_FLOAT_BF16: return BF16;
        case XIR_FLOAT_FP16: return FP16;
        case XIR_FLOAT_TF32: return TF32;
        case XIR_FLOAT_FP32: return FP32;
        default:             return OTHER;
        }
    }
    const xir_integer_type *integer = storage ? xir_integer_type_of(xir_type_object(storage)) : NULL;
    if (!integer || integer->ibits != 8) return OTHER;
    if (xir_type_is_quantized(xir_type_element(type))) return integer->sign ? INT8 : OTHER;
    return UINT8;
}

static bool is_one_of(xir_infer *at, const xir_type *type, unsigned taken, const char *where, const char *wanted) {
    if (element_of(type) & taken) return true;
    xir_rule_found(at, where, "the elements are not %s", wanted);
    return false;
}

static bool is_class(xir_infer *at, xir_class_fn *cls) {
    return xir_class_find_decl(xir_infer_context(at), cls()) == xir_infer_class(at);
}

/* Maps of an op; Reshape also takes the image as the host gives it. Cast has a rule of its own. */
static bool maps_have_elements(xir_infer *at) {
    const bool moves = is_class(at, xir_reshape_class);
    const unsigned taken = INT8 | BF16 | FP16 | TF32 | (moves ? UINT8 | FP32 : 0);
    if (is_class(at, xir_cast_class)) return true;
    for (size_t i = 0; i < xir_infer_input_count(at); i++) {
        char where[32];
        const xir_type *type = xir_infer_input(at, i);
        if (!type || xir_infer_input_is_params(at, i)) continue;
        snprintf(where, sizeof where, "inputs/%zu", i);
        if (!is_one_of(at, type, taken, where, "int8, bf16, fp16 or tf32")) return false;
    }
    const xir_type *out = xir_infer_output(at, 0);
    return !out || is_one_of(at, out, taken, "outputs/0", "int8, bf16, fp16 or tf32");
}

static bool cast_is_known(xir_infer *at) {
    const element from = element_of(xir_infer_input(at, 0)), to = element_of(xir_infer_output(at, 0));
    const unsigned known = from == UINT8 ? INT8 | BF16 | TF32 : from == INT8 ? BF16 | TF32 : from == BF16 ? INT8 | TF32
                         : from == TF32 ? INT8 | BF16 | FP32 : from == FP32 ? TF32 : 0;
    if (from == to || known & to) return true;
    xir_rule_found(at, "target_dtype", "these two are not cast into each other");
    return false;
}

static bool is_tf32(xir_infer *at) { return is_one_of(at, xir_infer_input(at, 0), TF32, "inputs/0", "tf32"); }

static bool is_int8(xir_infer *at) { return element_of(xir_infer_output(at, 0)) == INT8; }

/* ---- conditions ------------------------------------------------------------------------------------------------ */

static bool pair_fits_int8(xir_infer *at) {
    const xir_type *out = xir_infer_output(at, 0);
    int64_t dims[MOST_AXES], of[MOST_AXES];
    const size_t n = plain_dims(out, of);
    for (size_t i = 0; i < 2 && is_int8(at); i++) {
        const size_t m = plain_dims(xir_infer_input(at, i), dims);
        bool same = m == n;
        for (size_t k = 0; k < n && same; k++) same = dims[k] == of[k];
        if (same || is_channel_vector(xir_infer_input(at, i), out)) continue;
        xir_rule_found(at, i ? "inputs/1" : "inputs/0", "it is repeated along other dims");
        return false;
    }
    return true;
}

static bool reaches_2048(xir_infer *at) {
    const xir_argmax_attrs *a = xir_infer_attrs(at);
    const xir_type *type = xir_infer_input(at, 0);
    int64_t n;
    if (a->dim) n = xir_type_dim(type, a->dim->value, true);
    else if (xir_type_elements(type, &n)) return true;
    if (n <= 2048) return true;
    xir_rule_found(at, "dim", "it has %" PRId64 " elements", n);
    return false;
}

static bool joins_16(xir_infer *at) {
    const size_t n = xir_infer_input_count(at);
    if (n <= 16 || is_int8(at)) return true;
    xir_rule_found(at, "inputs", "there are %zu", n);
    return false;
}

/* Two dims, three with tiles. */
static bool has_rows(xir_infer *at) {
    int64_t dims[MOST_AXES];
    const size_t n = plain_dims(xir_infer_input(at, 0), dims);
    if (n == 2) return true;
    xir_rule_found(at, "inputs/0", "it has %zu", n);
    return false;
}

/* The second operand has a dim more with tiles: both have equal ranks without. */
static bool matmul_has_ranks(xir_infer *at) {
    const xir_type *x = xir_infer_input(at, 0), *k = xir_infer_input(at, 1);
    const size_t a = xir_type_rank(x), b = xir_type_rank(k);
    if (xir_type_is_layouted(x) || xir_type_is_layouted(k) || (a == b && a >= 2)) return true;
    xir_rule_found(at, a < b ? "inputs/0" : "inputs/1", "the ranks are %zu and %zu", a, b);
    return false;
}

static bool reduces_channels(const xir_type *type, const int64_t *axes, size_t n) {
    const size_t rank = xir_type_rank(type);
    bool found = n == 0;
    for (size_t i = 0; i < n && !found; i++) found = from_end(axes[i], rank) == (int64_t)rank - 1;
    return found;
}

static bool mean_keeps_channels(xir_infer *at) {
    const xir_mean_attrs *a = xir_infer_attrs(at);
    return !is_int8(at) || !reduces_channels(xir_infer_input(at, 0), a->dim.data, a->dim.size);
}

static bool sum_keeps_channels(xir_infer *at) {
    const xir_sum_attrs *a = xir_infer_attrs(at);
    return !is_int8(at) || !reduces_channels(xir_infer_input(at, 0), a->dim.data, a->dim.size);
}

static bool norm_is_simple(xir_infer *at) {
    const xir_normalize_attrs *a = xir_infer_attrs(at);
    if (a->p == 1 || a->p == 2) return true;
    xir_rule_found(at, "p", "it is %.9g", a->p);
    return false;
}

static bool norm_has_elements(xir_infer *at) {
    const xir_normalize_attrs *a = xir_infer_attrs(at);
    const xir_type *type = xir_infer_input(at, 0);
    for (size_t i = 0; i < a->axis.size; i++) {
        if (xir_type_dim(type, a->axis.data[i], true) != 1) continue;
        xir_rule_found(at, "axis", "dim %" PRId64 " has one element", a->axis.data[i]);
        return false;
    }
    return true;
}

static bool pads_zeros(xir_infer *at) {
    const xir_pad_attrs *a = xir_infer_attrs(at);
    if (a->mode != XIR_PAD_CONSTANT || !a->value || xir_scalar_as_real(a->value) == 0) return true;
    xir_rule_found(at, "value", "it is %.9g", xir_scalar_as_real(a->value));
    return false;
}

/* Any order of all axes but the last, or the last two change places. */
static bool swaps_channels_with_next(xir_infer *at) {
    const xir_transpose_attrs *a = xir_infer_attrs(at);
    const size_t n = a->dims.size;
    if (xir_type_is_layouted(xir_infer_input(at, 0)) || n < 2) return true;
    const int64_t last = from_end(a->dims.data[n - 1], n), next = from_end(a->dims.data[n - 2], n);
    bool swaps = last == (int64_t)n - 2 && next == (int64_t)n - 1;
    for (size_t i = 0; i + 2 < n && swaps; i++) swaps = from_end(a->dims.data[i], n) == (int64_t)i;
    if (swaps || last == (int64_t)n - 1) return true;
    xir_rule_found(at, "dims", "the last axis moves with others");
    return false;
}

static bool is_one_unit(xir_infer *at) {
    const xir_align_axis_attrs *a = xir_infer_attrs(at);
    if (a->aligned_units.size <= 1) return true;
    xir_rule_found(at, "aligned_units", "there are %zu", a->aligned_units.size);
    return false;
}

static bool is_one_index(xir_infer *at) {
    const xir_prune_axis_attrs *a = xir_infer_attrs(at);
    if (a->index.size <= 1) return true;
    xir_rule_found(at, "index", "there are %zu", a->index.size);
    return false;
}

static bool channels_fit(xir_infer *at, const xir_type *type, const char *where) {
    const size_t rank = xir_type_rank(type);
    const xir_layout *layout = xir_type_layout(type);
    const int64_t unit = rank && layout ? xir_layout_unit(layout, rank - 1) : 0;
    const element e = element_of(type);
    const int64_t most = e == INT8 || e == UINT8 ? 32 : e == BF16 || e == FP16 ? 16 : 8;
    if (unit <= most) return true;
    xir_rule_found(at, where, "the unit is %" PRId64 ", at most %" PRId64 " of these elements fit", unit, most);
    return false;
}

static bool units_fit(xir_infer *at) {
    for (size_t i = 0; i < xir_infer_input_count(at); i++) {
        char where[32];
        const xir_type *type = xir_infer_input(at, i);
        if (!type || !xir_type_is_layouted(type) || xir_infer_input_is_params(at, i)) continue;
        snprintf(where, sizeof where, "inputs/%zu", i);
        if (!channels_fit(at, type, where)) return false;
    }
    const xir_type *out = xir_infer_output(at, 0);
    return !out || !xir_type_is_layouted(out) || channels_fit(at, out, "outputs/0");
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
#define TYPED(id, name_, condition, needs_, source_) \
    { .cls = xir_##id##_class, .holds = condition, .needs = needs_, .name = name_, .source = source_, .flags = XIR_RULE_TYPES }

static const char turns[] = "legalize transposes before and after", steps[] = "legalize makes steps of it",
                  flat[] = "legalize joins the others";

/* By class, in the order of the manual. */
static const xir_target_rule rules[] = {
    { .holds = dims_are_known,     .needs = "dims that are known",    .name = "open-dims",
      .mend = "bind gives them numbers", .source = "sizes of chunks in the real file", .flags = XIR_RULE_NOTE },
    { .holds = maps_have_elements, .needs = "maps of int8, bf16, fp16 or tf32", .name = "elements",
      .source = "quantizer/zhuge, real file", .flags = XIR_RULE_TYPES },
    { .holds = units_fit,          .needs = "units of at most 32 int8, 16 bf16 or 8 tf32", .name = "unit",
      .source = CODE "layouts" },

    { .traits = XIR_TRAIT_ACTIVATION, .holds = one_map, .needs = "one map in, and one of the same shape out",
      .name = "activation", .source = CODE "activations" },

    TYPED(add,     "add-shape",        pair_fits_int8, "operands of one shape, or a vector of channels", CODE "Add"),
    ASKS (align_axis, "align-axes",    is_one_unit,    "one dim",                              NULL,
          CODE "AlignAxis"),
    ASKS (argmax,  "argmax-size",      reaches_2048,   "at most 2048 elements",                NULL,
          CODE "Argmax"),
    TYPED(argmax,  "argmax-elements",  is_tf32,        "elements of tf32",                     CODE "Argmax"),
    ASKS (avg_pool2d, "avg-layout",    is_channels_last,  "channels as the last axis",            turns,
          CODE "layouts"),
    RUNS (batch_norm2d, "BatchNorm2d"),
    TYPED(cast,    "cast-elements",    cast_is_known,  "uint8, int8, bf16, tf32 or fp32 in a listed pair", CODE "Cast"),
    RUNS (clamp_scalar, "ClampScalar"),
    TYPED(concat,  "concat-inputs",    joins_16,       "at most 16 inputs of bf16 or tf32",    CODE "Concat"),
    ASKS (conv2d,  "conv-weights",     weights_are_constant, "weights that are constants",     NULL,
          CODE "Conv2d"),
    ASKS (conv2d,  "conv-padding",     pads_with_zeros, "padding of zeros",                    NULL,
          CODE "Conv2d"),
    ASKS (conv2d,  "conv-layout",      is_channels_last,  "channels as the last axis",            turns,
          CODE "layouts"),
    SUMS(conv2d, "conv-sums", conv_sums_fit),
    ASKS (conv_transpose2d, "transposed-weights", weights_are_constant, "weights that are constants", NULL,
          CODE "ConvTranspose2d"),
    ASKS (conv_transpose2d, "transposed-layout", is_channels_last, "channels as the last axis",   turns,
          CODE "layouts"),
    SUMS(conv_transpose2d, "transposed-sums", conv_sums_fit),
    RUNS (copy, "Copy"),
    ASKS (expand,  "expand-numbers",   numbers_are_known, "sizes that are attributes",         NULL,
          CODE "Expand"),
    ASKS (instance_norm2d, "instance-layout", is_channels_last, "channels as the last axis",      turns,
          CODE "layouts"),
    ASKS (layer_norm, "layer-dims",    has_rows,       "two dims",                             flat,
          CODE "LayerNorm"),
    ASKS (log_softmax, "log-softmax-dims", has_rows,   "two dims",                             flat,
          CODE "LogSoftmax"),
    ASKS (matmul,  "matmul-rank",      matmul_has_ranks, "operands of one rank",
          "legalize reshapes one",   CODE "Matmul"),
    SUMS(matmul, "matmul-sums", matmul_sums_fit),
    ASKS (max_pool2d, "max-layout",    is_channels_last,  "channels as the last axis",            turns,
          CODE "layouts"),
    TYPED(mean,    "mean-channels",    mean_keeps_channels, "channels that stay, in int8",     CODE "Mean"),
    TYPED(multiply, "multiply-shape",  pair_fits_int8, "operands of one shape, or a vector of channels", CODE "Multiply"),
    ASKS (normalize, "normalize-p",    norm_is_simple, "a norm of 1 or 2",                     NULL,
          CODE "Normalize"),
    ASKS (normalize, "normalize-dim",  norm_has_elements, "dims of more than one element",     NULL,
          CODE "Normalize"),
    ASKS (pad,     "pad-mode",         pad_is_constant, "a constant for the new elements",     NULL,
          CODE "Pad"),
    ASKS (pad,     "pad-value",        pads_zeros,     "zeros",                                NULL,
          CODE "Pad"),
    ASKS (pad,     "pad-numbers",      numbers_are_known, "amounts that are attributes",       NULL,
          CODE "Pad"),
    ASKS (prune_axis, "prune-axes",    is_one_index,   "one dim",                              NULL,
          CODE "PruneAxis"),
    ASKS (reshape, "reshape-numbers",  numbers_are_known, "dims that are attributes",          NULL,
          CODE "Reshape"),
    RUNS (roll, "Roll"),
    ASKS (slice,   "slice-numbers",    numbers_are_known, "bounds that are attributes",        NULL,
          CODE "Slice"),
    ASKS (softmax, "softmax-dims",     has_rows,       "two dims",                             flat,
          CODE "Softmax"),
    RUNS (split, "Split"),
    TYPED(sum,     "sum-channels",     sum_keeps_channels, "channels that stay, in int8",      CODE "Sum"),
    RUNS (swap_order, "SwapOrder"),
    ASKS (transpose, "transpose-axes", swaps_channels_with_next, "the last two axes, or the others in any order",
          steps, CODE "Transpose"),
    ASKS (upsample, "upsample-mode",   interpolates_linearly, "NEAREST or BILINEAR",           NULL,
          CODE "Upsample"),
    ASKS (upsample, "upsample-product", factors_are_few, "factors whose product is at most 512", steps,
          CODE "Upsample"),
    ASKS (upsample, "upsample-layout", is_channels_last,  "channels as the last axis",            turns,
          CODE "layouts"),

    /* Not in the manual's list, but made of classes that are. */
    NOT (resize,        "legalize makes it an Upsample"),
    NOT (squeeze,       "legalize makes it a Reshape"),
    NOT (unstack,       "legalize makes it Slices"),
    NOT (pixel_shuffle, "legalize makes it a Transpose"),

    { .cls = xir_hard_op_class, .name = "hard_op", .flags = XIR_RULE_COMPILED, .source = "real file" },
    COMPILED("customop::ImageMake"),
    COMPILED("customop::DetPostZG"),
};

const xir_target_row zhuge_row = {
    .abi = XIR_ABI, .size = sizeof(xir_target_row), XIR_TARGET_RULES(rules), .flags = XIR_TARGET_ADVISES,
};
