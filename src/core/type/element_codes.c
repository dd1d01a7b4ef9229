/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* See element_codes.h. */
#include "element_codes.h"

#define OTHER ELEMENT_NONE, 0
#define UINT  ELEMENT_UNSIGNED, 0
#define SINT  ELEMENT_SIGNED, 0
#define FLOAT(format) ELEMENT_FLOAT, XIR_FLOAT_##format

static const element_code onnx_rows[] = {
    [0]  = { "undefined",        0, OTHER,           1 },
    [1]  = { "float",           32, FLOAT(FP32),     1 },
    [2]  = { "uint8",            8, UINT,            1 },
    [3]  = { "int8",             8, SINT,            1 },
    [4]  = { "uint16",          16, UINT,            1 },
    [5]  = { "int16",           16, SINT,            1 },
    [6]  = { "int32",           32, SINT,            1 },
    [7]  = { "int64",           64, SINT,            1 },
    [8]  = { "string",           0, OTHER,           1 },
    [9]  = { "bool",             8, ELEMENT_BOOL, 0, 1 },
    [10] = { "float16",         16, FLOAT(FP16),     1 },
    [11] = { "double",          64, FLOAT(FP64),     1 },
    [12] = { "uint32",          32, UINT,            1 },
    [13] = { "uint64",          64, UINT,            1 },
    [14] = { "complex64",       64, OTHER,           2 },
    [15] = { "complex128",     128, OTHER,           2 },
    [16] = { "bfloat16",        16, FLOAT(BF16),     1 },
    [17] = { "float8e4m3fn",     8, OTHER,           1 },
    [18] = { "float8e4m3fnuz",   8, OTHER,           1 },
    [19] = { "float8e5m2",       8, OTHER,           1 },
    [20] = { "float8e5m2fnuz",   8, OTHER,           1 },
    [21] = { "uint4",            4, UINT,            1 },
    [22] = { "int4",             4, SINT,            1 },
    [23] = { "float4e2m1",       4, OTHER,           1 },
    [24] = { "float8e8m0",       8, OTHER,           1 },
    [25] = { "uint2",            2, UINT,            1 },
    [26] = { "int2",             2, SINT,            1 },
};
const element_codes element_codes_onnx = { onnx_rows, sizeof onnx_rows / sizeof onnx_rows[0] };

static const element_code pnnx_rows[] = {
    [0]  = { "null",   0, OTHER,           1 },
    [1]  = { "f32",   32, FLOAT(FP32),     1 },
    [2]  = { "f64",   64, FLOAT(FP64),     1 },
    [3]  = { "f16",   16, FLOAT(FP16),     1 },
    [4]  = { "i32",   32, SINT,            1 },
    [5]  = { "i64",   64, SINT,            1 },
    [6]  = { "i16",   16, SINT,            1 },
    [7]  = { "i8",     8, SINT,            1 },
    [8]  = { "u8",     8, UINT,            1 },
    [9]  = { "bool",   8, ELEMENT_BOOL, 0, 1 },
    [10] = { "c64",   64, OTHER,           2 },
    [11] = { "c128", 128, OTHER,           2 },
    [12] = { "c32",   32, OTHER,           2 },
    [13] = { "bf16",  16, FLOAT(BF16),     1 },
};
const element_codes element_codes_pnnx = { pnnx_rows, sizeof pnnx_rows / sizeof pnnx_rows[0] };

/* Each TSM type is stored whole: texts and user-defined types have a width, but no element type. VOID has no bytes, and
 * a pointer no width that a file could keep: both are 0. */
static const element_code tsm_rows[] = {
    [0]  = { "VOID",         0, OTHER,           1 },
    [1]  = { "INT8",         8, SINT,            1 },
    [2]  = { "UINT8",        8, UINT,            1 },
    [3]  = { "INT16",       16, SINT,            1 },
    [4]  = { "UINT16",      16, UINT,            1 },
    [5]  = { "INT32",       32, SINT,            1 },
    [6]  = { "UINT32",      32, UINT,            1 },
    [7]  = { "INT64",       64, SINT,            1 },
    [8]  = { "UINT64",      64, UINT,            1 },
    [9]  = { "FLOAT16",     16, FLOAT(FP16),     1 },
    [10] = { "FLOAT32",     32, FLOAT(FP32),     1 },
    [11] = { "FLOAT64",     64, FLOAT(FP64),     1 },
    [12] = { "PTR",          0, OTHER,           1 },
    [13] = { "CHAR8",        8, OTHER,           1 },
    [14] = { "CHAR16",      16, OTHER,           1 },
    [15] = { "CHAR32",      32, OTHER,           1 },
    [16] = { "UNKNOWN8",     8, OTHER,           1 },
    [17] = { "UNKNOWN16",   16, OTHER,           1 },
    [18] = { "UNKNOWN32",   32, OTHER,           1 },
    [19] = { "UNKNOWN64",   64, OTHER,           1 },
    [20] = { "UNKNOWN128", 128, OTHER,           1 },
    [21] = { "BOOLEAN",      8, ELEMENT_BOOL, 0, 1 },
    [22] = { "COMPLEX32",   32, OTHER,           2 },
    [23] = { "COMPLEX64",   64, OTHER,           2 },
    [24] = { "COMPLEX128", 128, OTHER,           2 },
    [25] = { "SINK8Q0",      8, OTHER,           1 },
    [26] = { "SINK8Q1",      8, OTHER,           1 },
    [27] = { "SINK8Q2",      8, OTHER,           1 },
    [28] = { "SINK8Q3",      8, OTHER,           1 },
    [29] = { "SINK8Q4",      8, OTHER,           1 },
    [30] = { "SINK8Q5",      8, OTHER,           1 },
    [31] = { "SINK8Q6",      8, OTHER,           1 },
    [32] = { "SINK8Q7",      8, OTHER,           1 },
};
const element_codes element_codes_tsm = { tsm_rows, sizeof tsm_rows / sizeof tsm_rows[0] };

const xir_type *element_code_type(xir_context *ctx, const element_code *e) {
    switch (e ? e->kind : ELEMENT_NONE) {
    case ELEMENT_BOOL:     return xir_type_bool(ctx);
    case ELEMENT_UNSIGNED: return xir_type_uint(ctx, e->bits);
    case ELEMENT_SIGNED:   return xir_type_sint(ctx, e->bits);
    case ELEMENT_FLOAT:    return xir_type_float(ctx, (xir_float_format)e->format);
    default:               return NULL;
    }
}
