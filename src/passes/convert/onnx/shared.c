/* Helpers shared by the hooks of ONNX's rows. */
#include <stdio.h>
#include "convert/onnx/rows.h"
#include "element_codes.h"

const xir_type *onnx_element(xir_context *ctx, int64_t data_type) {
    return element_code_type(ctx, element_code_at(&element_codes_onnx, (uint64_t)data_type));
}
