/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The colours of boxes, by what an operation does. Formats have their own names for it, so the words are searched for
 * in the name of the class. */
#include <ctype.h>
#include <string.h>
#include "make.h"

typedef struct word { const char *part; draw_colour colour; } word;

/* The first part that occurs in the name, in lower case, decides. */
static const word words[] = {
    { "quant", DRAW_QUANTISATION }, { "cast", DRAW_QUANTISATION }, { "requant", DRAW_QUANTISATION },
    { "pool", DRAW_POOL }, { "upsample", DRAW_POOL }, { "resize", DRAW_POOL }, { "interpolate", DRAW_POOL },
    { "norm", DRAW_NORM }, { "softmax", DRAW_ACTIVATION },
    { "conv", DRAW_LINEAR }, { "matmul", DRAW_LINEAR }, { "gemm", DRAW_LINEAR }, { "linear", DRAW_LINEAR },
    { "dense", DRAW_LINEAR }, { "einsum", DRAW_LINEAR }, { "attention", DRAW_LINEAR }, { "lstm", DRAW_LINEAR },
    { "gru", DRAW_LINEAR }, { "rnn", DRAW_LINEAR }, { "embedding", DRAW_LINEAR }, { "fullyconnected", DRAW_LINEAR },
    { "relu", DRAW_ACTIVATION }, { "sigmoid", DRAW_ACTIVATION }, { "tanh", DRAW_ACTIVATION },
    { "swish", DRAW_ACTIVATION }, { "gelu", DRAW_ACTIVATION }, { "silu", DRAW_ACTIVATION },
    { "elu", DRAW_ACTIVATION }, { "mish", DRAW_ACTIVATION }, { "clip", DRAW_ACTIVATION }, { "erf", DRAW_ACTIVATION },
    { "softplus", DRAW_ACTIVATION },
    { "reduce", DRAW_REDUCTION }, { "mean", DRAW_REDUCTION }, { "argmax", DRAW_REDUCTION },
    { "argmin", DRAW_REDUCTION }, { "topk", DRAW_REDUCTION }, { "cumsum", DRAW_REDUCTION }, { "sum", DRAW_REDUCTION },
    { "reshape", DRAW_SHAPE }, { "flatten", DRAW_SHAPE }, { "transpose", DRAW_SHAPE }, { "permute", DRAW_SHAPE },
    { "squeeze", DRAW_SHAPE }, { "concat", DRAW_SHAPE }, { "split", DRAW_SHAPE }, { "slice", DRAW_SHAPE },
    { "gather", DRAW_SHAPE }, { "scatter", DRAW_SHAPE }, { "pad", DRAW_SHAPE }, { "expand", DRAW_SHAPE },
    { "tile", DRAW_SHAPE }, { "shape", DRAW_SHAPE }, { "view", DRAW_SHAPE }, { "align", DRAW_SHAPE },
    { "copy", DRAW_SHAPE }, { "cat", DRAW_SHAPE }, { "stack", DRAW_SHAPE }, { "range", DRAW_SHAPE },
    { "add", DRAW_ELEMENTWISE }, { "sub", DRAW_ELEMENTWISE }, { "mul", DRAW_ELEMENTWISE }, { "div", DRAW_ELEMENTWISE },
    { "pow", DRAW_ELEMENTWISE }, { "sqrt", DRAW_ELEMENTWISE }, { "exp", DRAW_ELEMENTWISE },
    { "max", DRAW_ELEMENTWISE }, { "min", DRAW_ELEMENTWISE }, { "abs", DRAW_ELEMENTWISE },
    { "neg", DRAW_ELEMENTWISE }, { "where", DRAW_ELEMENTWISE }, { "equal", DRAW_ELEMENTWISE },
    { "less", DRAW_ELEMENTWISE }, { "greater", DRAW_ELEMENTWISE }, { "log", DRAW_ELEMENTWISE },
    { "elementwise", DRAW_ELEMENTWISE },
};

draw_colour draw_colour_of(const xir_op *op) {
    const xir_class *cls = xir_op_class(op);
    if (xir_class_traits(cls) & (XIR_TRAIT_SOURCE | XIR_TRAIT_SINK)) return DRAW_PORT;
    const xir_str key = draw_class_word(op);
    char lower[48];
    size_t n = 0;
    for (; n < key.size && n + 1 < sizeof lower; n++) lower[n] = (char)tolower((unsigned char)key.data[n]);
    lower[n] = '\0';
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(lower, words[i].part)) return words[i].colour;
    return xir_op_is_activation(op) ? DRAW_ACTIVATION : DRAW_OTHER;
}

static const char *colour_text(draw_colour colour) {
    static const char *const colours[DRAW_COLOURS] = {
        [DRAW_OTHER]       = "#55606e", [DRAW_PORT]      = "#22303f", [DRAW_LINEAR]       = "#2459b8",
        [DRAW_ACTIVATION]  = "#b0344d", [DRAW_NORM]      = "#2b7350", [DRAW_POOL]         = "#6c48b0",
        [DRAW_ELEMENTWISE] = "#0f6f78", [DRAW_SHAPE]     = "#8a5a1c", [DRAW_REDUCTION]    = "#96409c",
        [DRAW_QUANTISATION] = "#75600e",
    };
    return colours[(unsigned)colour < DRAW_COLOURS ? colour : DRAW_OTHER];
}

const char *draw_change_colour(draw_change change) {
    return change == DRAW_GONE ? "#b3342b" : change == DRAW_NEW ? "#1c7a3c" : "#6b7480";
}

const char *draw_head_colour(const picture *p, uint32_t node) {
    const unsigned changes = draw_changes(p, node);
    if (!p->changes) return colour_text(draw_colour_of(p->nodes[node].op));
    if (changes & XIR_DIFF_REMOVED) return draw_change_colour(DRAW_GONE);
    if (changes & XIR_DIFF_ADDED) return draw_change_colour(DRAW_NEW);
    if (changes & XIR_DIFF_CHANGED) return "#8a5500";
    return changes ? "#6c48b0" : draw_change_colour(DRAW_SAME);
}
