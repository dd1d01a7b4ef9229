/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The conversion of each function of DeepX: its tensors, its other parameters by their numbers, and the ops that it
 * becomes. The last input of a call may be what the tensor held that it writes into. */
#include <xir/deepx.h>
#include "deepx/deepx.h"

#define ROW(function, in, numbers, cls, hook) \
    { XIR_CONVERT_HEAD, "deepx::" function, in, "1", "types:s ret0:s ret1:s " numbers, cls, NULL, deepx_##hook }
/* With the classes that become calls of it, alone or with others. */
#define BACK(function, in, numbers, cls, hook, from) \
    { XIR_CONVERT_HEAD, "deepx::" function, in, "1", "types:s ret0:s ret1:s " numbers, cls, NULL, deepx_##hook, from,  \
      deepx_back }
#define STAYS(function, in, out) \
    { XIR_CONVERT_HEAD, "deepx::" function, in, out, "*:aA", NULL, NULL, xir_convert_unsupported }

static const xir_convert_row rows[] = {
    /* tensors and vars */
    ROW("newtensor",       "0-1", "arg0:s!",                 "Expand",               newtensor),
    BACK("copytensor",     "1-2", "",                        "Copy",                 same,         "Copy"),
    ROW("renametensor",    "1-2", "arg0:s!",                 "Copy",                 same),
    ROW("load",            "0-1", "arg0:s! data:t",          "Input or Params",      load),
    ROW("loadtensordata",  "0-2", "arg0:s! data:t",          "Input or Params",      load),
    STAYS("deltensor", "0-", "0-"), STAYS("argset", "0", "0"), STAYS("vecset", "0", "0"), STAYS("argdel", "0", "0"),
    STAYS("print", "1", "0"), STAYS("save", "1", "0"),
    /* numbers */
    ROW("constant",        "0-1", "arg0:s!",                 "Expand",               constant),
    ROW("arange",          "0-1", "arg0:s! arg1:s!",         "Params",               arange),
    ROW("uniform",         "0-1", "arg0:s! arg1:s! arg2:s!", "Params or Input",      uniform),
    ROW("normal",          "0-1", "arg0:s! arg1:s! arg2:s!", "Params or Input",      normal),
    ROW("dropout",         "1-2", "arg0:s! arg1:s!",         "Multiply",             dropout),
    /* elements */
    BACK("todtype",        "1-2", "",                        "Cast",                 cast,
         "Cast Floor Ceil Round"),
    BACK("exp",            "1-2", "",                        "Exp",                  unary,
         "Exp Sigmoid Tanh Sinh Cosh ELU Softmax LogSoftmax Erf GELU"),
    BACK("log",            "1-2", "",                        "Log",                  unary,
         "Log ASinh ACosh ATanh"),
    BACK("sqrt",           "1-2", "",                        "Sqrt",                 unary,        "Sqrt"),
    BACK("sin",            "1-2", "",                        "Sin",                  unary,        "Sin"),
    BACK("cos",            "1-2", "",                        "Cos",                  unary,        "Cos"),
    BACK("tan",            "1-2", "",                        "Tan",                  unary,        "Tan"),
    BACK("invert",         "1-2", "",                        "Not or Add",           invert,       "Not"),
    BACK("add",            "2-3", "",                        "Add",                  pair,         "Add"),
    ROW("sub",             "2-3", "",                        "Add",                  sub),
    BACK("mul",            "2-3", "",                        "Multiply",             pair,         "Multiply"),
    BACK("div",            "2-3", "",                        "Div",                  pair,
         "Div DivideScalar Mod"),
    BACK("pow",            "2-3", "",                        "Pow",                  pair,         "Pow"),
    BACK("max",            "2-3", "",                        "Maximum",              pair,         "Maximum Abs"),
    BACK("min",            "2-3", "",                        "Minimum",              pair,         "Minimum"),
    BACK("less",           "2-3", "",                        "Less",                 pair,         "Less LessEqual"),
    BACK("greater",        "2-3", "",                        "Greater",              pair,
         "Greater GreaterEqual Sign"),
    BACK("equal",          "2-3", "arg2:s!",                 "Equal or LessEqual",   near,         "Equal"),
    BACK("notequal",       "2-3", "arg2:s!",                 "NotEqual or Greater",  near,         "NotEqual Xor"),
    ROW("addscalar",       "1-2", "arg1:s!",                 "Add",                  by_number),
    ROW("subscalar",       "1-2", "arg1:s!",                 "Add",                  by_number),
    BACK("mulscalar",      "1-2", "arg1:s!",                 "Multiply",             by_number,    "Neg"),
    ROW("divscalar",       "1-2", "arg1:s!",                 "Div",                  by_number),
    ROW("powscalar",       "1-2", "arg1:s!",                 "Pow",                  by_number),
    BACK("maxscalar",      "1-2", "arg1:s!",                 "Maximum",              by_number,    "ReLU ClampScalar"),
    ROW("minscalar",       "1-2", "arg1:s!",                 "Minimum",              by_number),
    ROW("lessscalar",      "1-2", "arg1:s!",                 "Less",                 by_number),
    ROW("greaterscalar",   "1-2", "arg1:s!",                 "Greater",              by_number),
    ROW("equalscalar",     "1-2", "arg1:s! arg2:s!",         "Equal or LessEqual",   near_scalar),
    ROW("notequalscalar",  "1-2", "arg1:s! arg2:s!",         "NotEqual or Greater",  near_scalar),
    ROW("rsubscalar",      "1-2", "arg0:s!",                 "Add",                  scalar_first),
    BACK("rdivscalar",     "1-2", "arg0:s!",                 "Div",                  scalar_first, "Reciprocal"),
    ROW("rpowscalar",      "1-2", "arg0:s!",                 "Pow",                  scalar_first),
    BACK("switch",         "2-",  "",                        "Where, or Stack, GatherElements", choose,
         "Where And Or PReLU"),
    /* products and reductions */
    BACK("matmul",         "2-3", "",                        "Matmul",               matmul,
         "Matmul CumSum Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d"),
    BACK("sum",            "1-2", "arg1:s! arg2:s",          "Sum",                  reduce,
         "Sum Mean AvgPool1d AvgPool2d AvgPool3d"),
    BACK("prod",           "1-2", "arg1:s! arg2:s",          "Prod",                 reduce,       "Prod"),
    BACK("reducemax",      "1-2", "arg1:s! arg2:s",          "Max",                  reduce,
         "Max MaxPool1d MaxPool2d MaxPool3d"),
    BACK("reducemin",      "1-2", "arg1:s! arg2:s",          "Min",                  reduce,
         "Min Argmax Argmin"),
    /* moves */
    BACK("reshape",        "1-2", "arg1:s!",                 "Reshape",              reshape,      "Reshape Squeeze"),
    BACK("transpose",      "1-2", "arg1:s!",                 "Transpose",            transpose,    "Transpose"),
    BACK("concat",         "1-",  "arg1:s!",                 "Concat",               concat,       "Concat Stack Pad"),
    BACK("broadcastTo",    "1-2", "arg1:s!",                 "Expand",               broadcast,    "Expand Tile"),
    BACK("indexselect",    "2-3", "arg2:s!",                 "Gather",               indexselect,
         "Gather GatherElements Slice Split Unstack"),
    ROW("repeat",          "1-2", "arg1:s!",                 "Reshape, Expand",      repeat),
};

/* A call of a block that its lines have not replaced, or of a function of which the program has the definition. */
static bool stays(xir_node *at) {
    return xir_node_unsupported(at, "XIR has no known equivalent, and if it calls a block, the lines do not fit or "
                                    "would exceed max_inlined or max_converted");
}

static xir_convert_fn *call_of_block(xir_node *at) {
    const xir_map *tags = xir_network_tags(xir_node_network(at));
    return tags && xir_map_find(tags, XIR_STR("deepx.defs")) ? stays : NULL;
}

/* The options of the way back. */
static const xir_pass_option options[] = {
    XIR_DIALECT_STRICT,
    { "windows", XIR_PASS_BOOL, "true",  "convolutions and pools too, by a constant of places" },
    { "delete",  XIR_PASS_BOOL, "false", "tensors are deleted after their last use, but not results" },
    { "author",  XIR_PASS_TEXT, "cblas", "of `matmul`: cblas or cublas" },
    XIR_DIALECT_NAMES,
};

extern const xir_dialect_decl dialect_deepx;
static const xir_pass_decl pass_xir_to_deepx =
    XIR_DIALECT_PASS_WITH("xir-to-deepx", "converts XIR's ops to calls of DeepX, one by one", &dialect_deepx, options);

const xir_dialect_decl dialect_deepx = {
    XIR_DIALECT_HEAD("deepx::", "DeepX"), .pass = "deepx-to-xir", .rows = rows, .n_rows = COUNT(rows),
    .node = "call", .sources = "line or input", .operators = "list of functions", .is_pure = deepx_is_pure,
    .number = deepx_number_of,
    .prepare = deepx_prepare, .function = call_of_block,
    .spelled = deepx_spelled, .check_file = xir_deepx_check, .check = deepx_back_check,
    .back = &pass_xir_to_deepx, .constant = deepx_back_constant, .begin_back = deepx_begin_back,
    .end_back = deepx_end_back, .value = "tensor",
    .lacks = XIR_LACKS_OP_NAMES | XIR_LACKS_UNUSED_INPUTS | XIR_LACKS_INPUT_TYPES | XIR_LACKS_TENSOR_NAMES,
};
