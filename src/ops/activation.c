/* Element by element: the output is what the input is, tiled or not, valid elements included. */
#include "shape.h"

xir_status same_infer(xir_infer *at) {
    const xir_type *input = xir_infer_input(at, 0);
    if (!input) return xir_infer_fail(at, XIR_E_MISSING, "inputs/0", "%s is absent or has no type", input_name(at, 0));
    return xir_infer_give(at, input);
}
