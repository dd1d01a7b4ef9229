/* Pooling. Padding holds the lowest value, so a window of padding alone would be no result: none is made, as the formula is
 * that of convolutions. */
#include "shape.h"

static xir_status max_pool2d_shape(xir_infer *at, named_dims *input, int64_t *height, int64_t *width) {
    const xir_max_pool2d_attrs *a = xir_infer_attrs(at);
    xir_status status = read_dims(at, 0, "NHWC", input);
    if (status) return status;
    const window rows = { .what = "window", .things = "row", .axis = "height", .where = "pool_height",
                          .input = input->dim[1], .before = a->pad_top, .after = a->pad_bottom,
                          .size = a->pool_height, .stride = a->stride_height, .dilation = a->dilation_height };
    const window columns = { .what = "window", .things = "column", .axis = "width", .where = "pool_width",
                             .input = input->dim[2], .before = a->pad_left, .after = a->pad_right,
                             .size = a->pool_width, .stride = a->stride_width, .dilation = a->dilation_width };
    status = count_windows(at, &rows, height);
    return status ? status : count_windows(at, &columns, width);
}

xir_status max_pool2d_check(xir_infer *at) {
    named_dims input;
    int64_t height, width;
    if (!inputs_known(at, 1) || inputs_tiled(at, 1)) return XIR_OK;
    return max_pool2d_shape(at, &input, &height, &width);
}

/* Whether a distribution says nothing about the dims that windows move along. */
static bool stays(const xir_distr *distr, const named_dims *input) {
    for (size_t i = 0; i < distr->merged_axis.size; i++) {
        int64_t axis = from_start(distr->merged_axis.data[i], 4);
        if (axis < 0 || axis == (int64_t)input->at[1] || axis == (int64_t)input->at[2]) return false;
    }
    return true;
}

/* Channels are pooled apart: which of them are valid stays. */
xir_status max_pool2d_infer(xir_infer *at) {
    named_dims input;
    int64_t height, width;
    xir_status status = need_inputs(at, 1);
    if (!status) status = max_pool2d_shape(at, &input, &height, &width);
    if (status) return status;

    const xir_type *type = xir_infer_input(at, 0);
    xir_refs distrs = xir_type_tensor(type)->merged_distrs;
    for (size_t i = 0; i < distrs.size; i++) {
        if (!stays((const xir_distr *)distrs.data[i], &input)) distrs.size = 0;
    }
    dim_list dims;
    if (!dims_copy(at, &dims, type)) return XIR_E_MEMORY;
    dims.data[input.at[1]] = height;
    dims.data[input.at[2]] = width;
    status = give_tensor(at, type, xir_type_element(type), &dims, distrs);
    dims_free(&dims);
    return status;
}
