/* Convolutions. The kernel is found by its letters H, W, I, O, the feature map by N, H, W, C; the output has the feature map's
 * layout and element type. */
#include <inttypes.h>
#include "shape.h"

/* Checks everything that the types say, and gives the dims of the output in the order N, H, W, C. */
static xir_status conv2d_shape(xir_infer *at, named_dims *input, int64_t out[4]) {
    const xir_conv2d_attrs *a = xir_infer_attrs(at);
    named_dims kernel;
    xir_status status = read_dims(at, 0, "NHWC", input);
    if (!status) status = read_dims(at, 1, "HWIO", &kernel);
    if (!status) status = same_elements(at, 0, 1);
    if (status) return status;

    const window rows = { .what = "kernel", .things = "row", .axis = "height", .where = "inputs/1",
                          .input = input->dim[1], .before = a->pad_top, .after = a->pad_bottom,
                          .size = kernel.dim[0], .stride = a->stride_height, .dilation = a->dilation_height };
    const window columns = { .what = "kernel", .things = "column", .axis = "width", .where = "inputs/1",
                             .input = input->dim[2], .before = a->pad_left, .after = a->pad_right,
                             .size = kernel.dim[1], .stride = a->stride_width, .dilation = a->dilation_width };
    if ((status = count_windows(at, &rows, &out[1])) || (status = count_windows(at, &columns, &out[2]))) return status;

    int64_t channels = input->dim[3], per_group = kernel.dim[2], filters = kernel.dim[3], expected;
    if (a->groups < 1) {
        return xir_infer_fail(at, XIR_E_BOUNDS, "groups", "%" PRId64 " is below 1, the least groups", a->groups);
    }
    if (channels >= 0 && per_group >= 0 && (!mul_i64(per_group, a->groups, &expected) || expected != channels)) {
        return xir_infer_fail(at, XIR_E_INVALID, "inputs/1", "input has %" PRId64 " channels, a kernel of %" PRId64
                              " in %" PRId64 " group%s expects another number: channels = I * groups", channels, per_group,
                              a->groups, a->groups == 1 ? "" : "s");
    }
    if (filters >= 0 && filters % a->groups) {
        return xir_infer_fail(at, XIR_E_INVALID, "groups", "the kernel has %" PRId64 " output channels, which %" PRId64
                              " groups do not divide", filters, a->groups);
    }
    const xir_type *bias = xir_infer_input(at, 2);
    int64_t length;
    if (bias && filters >= 0 && xir_type_elements(bias, &length) == XIR_OK && length != filters) {
        return xir_infer_fail(at, XIR_E_INVALID, "inputs/2", "bias has %" PRId64 " elements, the kernel %" PRId64
                              " output channels", length, filters);
    }
    out[0] = input->dim[0];
    out[3] = filters;
    return XIR_OK;
}

/* Tiled inputs are judged by their back end; without types there is nothing to judge. */
xir_status conv2d_check(xir_infer *at) {
    size_t n = xir_infer_input(at, 2) ? 3 : 2;
    named_dims input;
    int64_t out[4];
    if (!inputs_known(at, n) || inputs_tiled(at, n)) return XIR_OK;
    return conv2d_shape(at, &input, out);
}

xir_status conv2d_infer(xir_infer *at) {
    named_dims input;
    int64_t out[4], dims[4];
    xir_status status = need_inputs(at, xir_infer_input(at, 2) ? 3 : 2);
    if (!status) status = conv2d_shape(at, &input, out);
    if (status) return status;
    for (size_t k = 0; k < 4; k++) dims[input.at[k]] = out[k] < 0 ? UNKNOWN_DIM : out[k];
    return xir_infer_give_like(at, xir_infer_input(at, 0), dims, 4);
}
