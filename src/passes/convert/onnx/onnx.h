/* ONNX's rows. */
#ifndef PASSES_CONVERT_ONNX_H
#define PASSES_CONVERT_ONNX_H

#include <xir/convert.h>

extern const xir_convert_row onnx_rows[];
extern const size_t          onnx_row_count;

#endif
