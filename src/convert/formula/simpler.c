/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Classes of XIR in terms of simpler ones, for formats that have no operation of their own: shared by all dialects. A
 * formula makes only classes that are simpler, so a chain of them ends. */
#include <math.h>
#include <string.h>
#include "formula/simpler.h"
#include "formula/text.h"

/* alpha * lhs + beta * rhs, with products for factors of channels or factors other than 1. */
static bool sum(xir_node *at) {
    const double *alpha, *beta;
    size_t n, m;
    xir_value *x = xir_node_input(at, 0), *y = xir_node_input(at, 1);
    if (!xir_node_real_items(at, "alpha", &alpha, &n) || !xir_node_real_items(at, "beta", &beta, &m) || n != 1 ||
        m != 1)
        return xir_node_unsupported(at, "a factor for each channel");
    if (alpha[0] == 1 && beta[0] == 1) return xir_node_unsupported(at, "a sum");
    if (!element_has(v_element(x), alpha[0]) || !element_has(v_element(x), beta[0]))
        return xir_node_unsupported(at, "a factor that is not one of the integers");
    if (alpha[0] != 1) x = xir_node_product(at, x, xir_node_scalar(at, v_element(x), alpha[0]));
    if (beta[0] != 1) y = xir_node_product(at, y, xir_node_scalar(at, v_element(y), beta[0]));
    return xir_node_result(at, 0, xir_node_sum(at, x, y, 1, 1));
}

/* Elements of a dim in another order. */
static bool swapped(xir_node *at) {
    xir_ints order;
    if (!xir_node_items(at, "order", &order)) return false;
    return xir_node_becomes(at, "Gather", INS(xir_node_input(at, 0), xir_node_integers(at, &order)),
                            SETS(INT("axis", xir_node_int(at, "axis", -1))));
}

/* ReLU with a greatest value, which does not bound what is below 0, and a slope or none. */
static bool relu(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    const double slope = xir_node_real(at, "alpha", 0), most = xir_node_real(at, "max_value", INFINITY);
    if (xir_node_real(at, "threshold", 0) != 0) return xir_node_unsupported(at, "a threshold");
    if (most == INFINITY) return xir_node_unsupported(at, "a slope");
    if (slope < 0 || most < 0) return xir_node_unsupported(at, "a slope or a greatest value below 0");
    if (slope == 0) return xir_node_becomes(at, "ClampScalar", INS(x), SETS(REAL("min", 0), REAL("max", most)));
    xir_value *y = xir_node_make(at, "ReLU", INS(x), SETS(REAL("alpha", slope)));
    return xir_node_becomes(at, "ClampScalar", INS(y), SETS(REAL("max", most)));
}

/* A Cast that also moves elements, as the letters of its type say: a Transpose, and a Cast that does not. */
static bool moving_cast(xir_node *at) {
    int64_t axes[8];
    char letters[9] = "";
    bool same = true;
    xir_value *x = xir_node_input(at, 0), *y = xir_op_output(at->op, 0);
    if (!x) return false;
    const xir_layout *layout = xir_type_layout(xir_value_type(y));
    const bool tiled = xir_type_is_layouted(xir_value_type(x)) || xir_type_is_layouted(xir_value_type(y));
    if (tiled || !layout || !node_cast_axes(x, y, axes)) return xir_node_unsupported(at, "another number of dims");
    for (size_t i = 0; i < v_rank(x); i++) {
        letters[i] = xir_layout_axis(layout, i);
        same &= axes[i] == (int64_t)i;
    }
    if (same) return xir_node_unsupported(at, "elements in their places");
    x = xir_node_transposed(at, x, axes, v_rank(x), letters);
    return xir_node_result(at, 0, xir_node_cast(at, x, v_element(y)));
}

static xir_convert_fn by_text;

/* `few`: for formats with few operations only. Others have their own for most of these classes. */
typedef struct formula { const char *cls; xir_convert_fn *make; bool few; const char *text; } formula;
#define TEXT(cls, text) { cls, by_text, false, text }
#define FEW(cls, text)  { cls, by_text, true, text }
static const formula formulas[] = {
    TEXT("SiLU", "x * Sigmoid(x)"),
    { "Cast", moving_cast },
    { "Add",  sum },
    { "SwapOrder", swapped },
    TEXT("Hardsigmoid", "ClampScalar(x * alpha + beta, min=0, max=1)"),
    { "ReLU", relu },
    { "GatherND", simpler_gather_nd },
    { "CumSum", simpler_cumsum },
    { "Pad", simpler_pad },
    TEXT("Hardtanh", "ClampScalar(x, min=min_val, max=max_val)"),
    TEXT("Hardswish", "x * ClampScalar(x + 3, min=0, max=6) * (1 / 6)"),
    TEXT("Softsign", "x / (Abs(x) + 1)"),
    TEXT("Tanhshrink", "x - Tanh(x)"),
    TEXT("Softshrink", "x - ClampScalar(x, min=-lambda, max=lambda)"),
    TEXT("Hardshrink", "Abs(x) > lambda ? x : 0"),
    { "Softplus", simpler_softplus },
    { "Mish", simpler_mish },
    TEXT("LogSigmoid", "r = Log(Exp(-Abs(x)) + 1); ClampScalar(x, min=-inf, max=0) - r"),
    { "LayerNorm", simpler_layer_norm },
    { "RMSNorm", simpler_layer_norm },
    { "GroupNorm", simpler_channel_norm },
    { "InstanceNorm1d", simpler_channel_norm },
    { "InstanceNorm2d", simpler_channel_norm },
    { "InstanceNorm3d", simpler_channel_norm },
    { "BatchNorm1d", simpler_batch_norm },
    { "BatchNorm2d", simpler_batch_norm },
    { "BatchNorm3d", simpler_batch_norm },
    { "Normalize", simpler_normalize },
    { "Roll", simpler_roll },
    { "ChannelShuffle", simpler_channel_shuffle },
    { "PixelShuffle", simpler_pixel_shuffle },
    { "Argmax", simpler_place },
    { "Argmin", simpler_place },
    { "Prod", simpler_prod },
    { "Shape", simpler_shape },
    { "Resize", simpler_resize },
    { "Upsample", simpler_resize },
    { "Unfold", simpler_unfold },
    { "Einsum", simpler_einsum },
    { "RNN", simpler_recurrent },
    { "LSTM", simpler_recurrent },
    { "GRU", simpler_recurrent },
    { "Attention", simpler_attention },
    /* for formats with few operations */
    { "CumSum", simpler_cumsum_steps, true },
    { "ELU", simpler_elu, true },
    FEW("GELU", "x * ((Erf(x * 0.70710678118654752440) + 1) * 0.5)"),
    FEW("Cosh", "(Exp(x) + Exp(x * -1)) * 0.5"),
    FEW("Sinh", "h = (Exp(x) + Exp(x * -1)) * 0.5; Tanh(x) * h"),   /* exact near 0 */
    { "Sign", simpler_sign, true },
    { "Round", simpler_round, true },
    { "LogSoftmax", simpler_log_softmax, true },
    { "Unstack", simpler_unstack, true },
    { "GatherElements", simpler_gather_elements, true },
    { "Conv1d", simpler_line, true },
    { "ConvTranspose1d", simpler_line, true },
    { "MaxPool1d", simpler_line, true },
    { "AvgPool1d", simpler_line, true },
    { "Conv3d", simpler_volume_conv, true },
    { "MaxPool3d", simpler_volume_pool, true },
    { "AvgPool3d", simpler_volume_pool, true },
};

/* The class has one formula that is a text. */
static bool by_text(xir_node *at) {
    const formula *f = formulas;
    while (!f->text || !node_is_class(at, f->cls)) f++;
    return formula_gives(at, f->text, NULL);
}

static bool has_few(const xir_dialect_decl *dialect) { return strcmp(dialect->prefix, "tsm::") == 0; }

/* A class of XIR: others may end in the same name. */
static bool is_own(xir_str key) {
    return (key.size > 5 && memcmp(key.data, "xir::", 5) == 0) ||
           (key.size > 13 && memcmp(key.data, "icraft::xir::", 13) == 0);
}

xir_convert_fn *simpler_of(const xir_op *op, const xir_dialect_decl *to, size_t i) {
    const xir_str name = convert_short_name(xir_op_class(op));
    if (!is_own(xir_class_key(xir_op_class(op)))) return NULL;
    for (const formula *f = formulas; f < formulas + COUNT(formulas); f++) {
        const bool fits = xir_str_equal(name, xir_str_of(f->cls)) && (!f->few || has_few(to));
        if (fits && i-- == 0) return f->make;
    }
    return NULL;
}
