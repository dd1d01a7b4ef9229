/* The conversion of each function of DeepX: its tensors, its other parameters by their numbers, and the ops that it
 * becomes. The last input of a call may be what the tensor held that it writes into. */
#include <xir/deepx.h>
#include "convert/deepx/deepx.h"

#define ROW(function, in, numbers, cls, hook) \
    { XIR_CONVERT_HEAD, "deepx::" function, in, "1", "types:s ret0:s ret1:s " numbers, cls, NULL, deepx_##hook }
#define STAYS(function, in, out) \
    { XIR_CONVERT_HEAD, "deepx::" function, in, out, "*:aA", NULL, NULL, xir_convert_unsupported }

static const xir_convert_row rows[] = {
    /* tensors and vars */
    ROW("newtensor",      "0-1", "arg0:s!",                  "Expand",              newtensor),
    ROW("copytensor",     "1-2", "",                         "Copy",                same),
    ROW("renametensor",   "1-2", "arg0:s!",                  "Copy",                same),
    ROW("load",           "0-1", "arg0:s! data:t",           "Input or Params",     load),
    ROW("loadtensordata", "0-2", "arg0:s! data:t",           "Input or Params",     load),
    STAYS("deltensor", "0-", "0-"), STAYS("argset", "0", "0"), STAYS("vecset", "0", "0"), STAYS("argdel", "0", "0"),
    STAYS("print", "1", "0"), STAYS("save", "1", "0"),
    /* numbers */
    ROW("constant",       "0-1", "arg0:s!",                  "Expand",              constant),
    ROW("arange",         "0-1", "arg0:s! arg1:s!",          "Params",              arange),
    ROW("uniform",        "0-1", "arg0:s! arg1:s! arg2:s!",  "Params or Input",     uniform),
    ROW("normal",         "0-1", "arg0:s! arg1:s! arg2:s!",  "Params or Input",     normal),
    ROW("dropout",        "1-2", "arg0:s! arg1:s!",          "Multiply",            dropout),
    /* elements */
    ROW("todtype",        "1-2", "",                         "Cast",                cast),
    ROW("exp",            "1-2", "",                         "Exp",                 unary),
    ROW("log",            "1-2", "",                         "Log",                 unary),
    ROW("sqrt",           "1-2", "",                         "Sqrt",                unary),
    ROW("sin",            "1-2", "",                         "Sin",                 unary),
    ROW("cos",            "1-2", "",                         "Cos",                 unary),
    ROW("tan",            "1-2", "",                         "Tan",                 unary),
    ROW("invert",         "1-2", "",                         "Not or Add",          invert),
    ROW("add",            "2-3", "",                         "Add",                 pair),
    ROW("sub",            "2-3", "",                         "Add",                 sub),
    ROW("mul",            "2-3", "",                         "Multiply",            pair),
    ROW("div",            "2-3", "",                         "Div",                 pair),
    ROW("pow",            "2-3", "",                         "Pow",                 pair),
    ROW("max",            "2-3", "",                         "Maximum",             pair),
    ROW("min",            "2-3", "",                         "Minimum",             pair),
    ROW("less",           "2-3", "",                         "Less",                pair),
    ROW("greater",        "2-3", "",                         "Greater",             pair),
    ROW("equal",          "2-3", "arg2:s!",                  "Equal or LessEqual",  near),
    ROW("notequal",       "2-3", "arg2:s!",                  "NotEqual or Greater", near),
    ROW("addscalar",      "1-2", "arg1:s!",                  "Add",                 by_number),
    ROW("subscalar",      "1-2", "arg1:s!",                  "Add",                 by_number),
    ROW("mulscalar",      "1-2", "arg1:s!",                  "Multiply",            by_number),
    ROW("divscalar",      "1-2", "arg1:s!",                  "Div",                 by_number),
    ROW("powscalar",      "1-2", "arg1:s!",                  "Pow",                 by_number),
    ROW("maxscalar",      "1-2", "arg1:s!",                  "Maximum",             by_number),
    ROW("minscalar",      "1-2", "arg1:s!",                  "Minimum",             by_number),
    ROW("lessscalar",     "1-2", "arg1:s!",                  "Less",                by_number),
    ROW("greaterscalar",  "1-2", "arg1:s!",                  "Greater",             by_number),
    ROW("equalscalar",    "1-2", "arg1:s! arg2:s!",          "Equal or LessEqual",  near_scalar),
    ROW("notequalscalar", "1-2", "arg1:s! arg2:s!",          "NotEqual or Greater", near_scalar),
    ROW("rsubscalar",     "1-2", "arg0:s!",                  "Add",                 scalar_first),
    ROW("rdivscalar",     "1-2", "arg0:s!",                  "Div",                 scalar_first),
    ROW("rpowscalar",     "1-2", "arg0:s!",                  "Pow",                 scalar_first),
    ROW("switch",         "2-",  "",                         "Where, or Stack, GatherElements", choose),
    /* products and reductions */
    ROW("matmul",         "2-3", "",                         "Matmul",              matmul),
    ROW("sum",            "1-2", "arg1:s! arg2:s",           "Sum",                 reduce),
    ROW("prod",           "1-2", "arg1:s! arg2:s",           "Prod",                reduce),
    ROW("reducemax",      "1-2", "arg1:s! arg2:s",           "Max",                 reduce),
    ROW("reducemin",      "1-2", "arg1:s! arg2:s",           "Min",                 reduce),
    /* moves */
    ROW("reshape",        "1-2", "arg1:s!",                  "Reshape",             reshape),
    ROW("transpose",      "1-2", "arg1:s!",                  "Transpose",           transpose),
    ROW("concat",         "1-",  "arg1:s!",                  "Concat",              concat),
    ROW("broadcastTo",    "1-2", "arg1:s!",                  "Expand",              broadcast),
    ROW("indexselect",    "2-3", "arg2:s!",                  "Gather",              indexselect),
    ROW("repeat",         "1-2", "arg1:s!",                  "Reshape, Expand",     repeat),
};

extern const xir_dialect_decl dialect_deepx;
const xir_dialect_decl dialect_deepx = {
    XIR_DIALECT_HEAD("deepx::", "DeepX"), .pass = "deepx-to-xir", .rows = rows, .n_rows = COUNT(rows),
    .node = "call", .sources = "line or input", .operators = "list of functions", .is_pure = deepx_is_pure,
    .number = deepx_number_of,
    .prepare = deepx_prepare, .spelled = deepx_spelled, .check_file = xir_deepx_check,
};
