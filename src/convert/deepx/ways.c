/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The way back: which hook makes calls of an op, by its class. */
#include "deepx/deepx.h"

typedef struct way { const char *classes; xir_convert_fn *hook; } way;
static const way ways[] = {
    { "Exp Log Sqrt Sin Cos Tan",           deepx_back_unary },
    { "Add",                                deepx_back_add },
    { "Multiply Neg",                       deepx_back_multiply },
    { "Div DivideScalar Reciprocal Mod",    deepx_back_div },
    { "Pow",                                deepx_back_pow },
    { "Maximum Minimum",                    deepx_back_extreme2 },
    { "ReLU",                               deepx_back_relu },
    { "ClampScalar",                        deepx_back_clamp },
    { "Less Greater Equal NotEqual",        deepx_back_compare },
    { "LessEqual GreaterEqual",             deepx_back_at_most },
    { "And Or Xor",                         deepx_back_logic },
    { "Not",                                deepx_back_not },
    { "Where",                              deepx_back_where },
    { "Cast",                               deepx_back_cast },
    { "Copy",                               deepx_back_copy },
    { "Floor Ceil Round",                   deepx_back_round },
    { "Sign Abs",                           deepx_back_sign },
    { "Sigmoid Tanh",                       deepx_back_sigmoid },
    { "Sinh Cosh",                          deepx_back_hyperbolic },
    { "ASinh ACosh ATanh",                  deepx_back_area },
    { "ELU",                                deepx_back_elu },
    { "Erf GELU",                           deepx_back_erf },
    { "Softmax LogSoftmax",                 deepx_back_softmax },
    { "PReLU",                              deepx_back_prelu },
    { "Reshape Squeeze",                    deepx_back_reshape },
    { "Transpose",                          deepx_back_transpose },
    { "Expand",                             deepx_back_expand },
    { "Tile",                               deepx_back_tile },
    { "Concat",                             deepx_back_concat },
    { "Stack",                              deepx_back_stack },
    { "Slice",                              deepx_back_slice },
    { "Split Unstack",                      deepx_back_split },
    { "Pad",                                deepx_back_pad },
    { "Gather",                             deepx_back_gather },
    { "GatherElements",                     deepx_back_gather_elements },
    { "Sum Prod Max Min",                   deepx_back_reduce },
    { "Mean",                               deepx_back_mean },
    { "Argmax Argmin",                      deepx_back_place },
    { "CumSum",                             deepx_back_cumsum },
    { "Matmul",                             deepx_back_matmul },
    { "Conv1d Conv2d Conv3d",               deepx_back_conv },
    { "ConvTranspose1d ConvTranspose2d ConvTranspose3d", deepx_back_conv },
    { "MaxPool1d MaxPool2d MaxPool3d",      deepx_back_max_pool },
    { "AvgPool1d AvgPool2d AvgPool3d",      deepx_back_average_pool },
};

/* NULL: DeepX has no function for the class. */
static const way *way_of(xir_str type) {
    for (size_t i = 0; i < COUNT(ways); i++) {
        const char *classes = ways[i].classes;
        for (char name[64]; convert_next_class(&classes, name);)
            if (xir_str_equal(type, xir_str_of(name))) return &ways[i];
    }
    return NULL;
}

/* The texts of the table are read once for each class. */
bool deepx_back(xir_node *at) {
    static const way none = { "", NULL };
    const void **facts = at->cls->facts;
    if (!*facts) *facts = way_of(xir_node_type(at));
    if (!*facts) *facts = &none;
    const way *w = *facts;
    return w->hook ? w->hook(at) : xir_node_unsupported(at, "DeepX has no function for it");
}
