/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The plug-in that docs/writing-an-op.md walks through: one operation with a rule and inference of its own, on the
 * host and on Buyi, whose feature maps are tiled. */
#include <inttypes.h>
#include <xir/plugin.h>

#define XIR_DEFS "flatten.def"
#include <xir/declare.h>
#define XIR_DEFS "flatten.def"
#include <xir/define.h>

enum { MOST = 7 };   /* of `start`, as its row says */

/* Checks what rows cannot express. It also gets ops of unchecked files, so it repeats the checks that memory safety
 * depends on. Unknown inputs are accepted. */
xir_status flatten_check(xir_infer *at) {
    const xir_flatten_attrs *flatten = xir_infer_attrs(at);
    const xir_type *input = xir_infer_input(at, 0);
    int64_t rank = xir_type_as_tensor(input) ? (int64_t)xir_type_rank(input) : MOST + 1;
    if (flatten->start >= 0 && flatten->start <= MOST && flatten->start < rank) return XIR_OK;
    return xir_infer_fail(at, XIR_E_BOUNDS, "start",
                          "start is %" PRId64 ": expected an axis of input's %" PRId64 ", at most %d", flatten->start,
                          rank, MOST);
}

/* Sets the result to the first `start` dims, the product of those up to `end`, and the dims after it. */
static xir_status give_merged(xir_infer *at, const xir_layout *layout, size_t end) {
    const xir_flatten_attrs *flatten = xir_infer_attrs(at);
    const xir_tensor_type *input = xir_type_as_tensor(xir_infer_input(at, 0));
    size_t start = (size_t)flatten->start, n = 0;
    int64_t dims[MOST + 2];   /* one is merged, and one may follow `end` */
    while (n < start) {
        dims[n] = input->shape.data[n];
        n++;
    }
    xir_status status = xir_infer_product(at, "inputs/0", input->shape.data + start, end - start, &dims[n++]);
    if (status) return status;
    if (end < input->shape.size) dims[n++] = input->shape.data[end];
    return xir_infer_result_tensor(at, input->element_dtype, layout, dims, n);
}

xir_status flatten_infer(xir_infer *at) {
    xir_status status = xir_infer_need_tensors(at, 1);
    if (status) return status;
    const xir_type *input = xir_infer_input(at, 0);
    if (xir_type_is_quantized(xir_type_element(input))) {
        return xir_infer_fail(at, XIR_E_UNSUPPORTED, "inputs/0",
                              "input is quantised: scales cannot be carried over to a merged axis");
    }
    return give_merged(at, NULL, xir_type_rank(input));
}

/* A tiled map keeps its unit, the last axis: NCHWc32 becomes *Cc32 if no channel is padding. */
xir_status flatten_infer_buyi(xir_infer *at) {
    const xir_flatten_attrs *flatten = xir_infer_attrs(at);
    const xir_type *input = xir_infer_input(at, 0);
    const xir_layout *layout = xir_type_layout(input);
    size_t rank = xir_type_rank(input);
    if (!xir_type_is_layouted(input) || xir_layout_rank(layout) != rank) return flatten_infer(at);
    if (xir_layout_axis(layout, rank - 1) != 'c' || flatten->start > (int64_t)rank - 2) {
        return xir_infer_fail(at, XIR_E_UNSUPPORTED, "inputs/0",
                              "expected a map tiled by its channels, with axes before its unit to merge");
    }
    const int64_t channels[] = { xir_layout_index(layout, 'C'), (int64_t)rank - 1 };
    const xir_distr *distr = xir_type_distr(input, channels, 2);
    if (distr && xir_distr_total_valid(distr) != xir_type_channels(input)) {
        return xir_infer_fail(at, XIR_E_UNSUPPORTED, "inputs/0",
                              "%" PRId64 " of %" PRId64 " channels are valid: expected all",
                              xir_distr_total_valid(distr), xir_type_channels(input));
    }
    xir_layout_steps merged = xir_layout_start();
    if (flatten->start) xir_layout_put(&merged, '*', flatten->start);
    xir_layout_put(&merged, 'C', 1);
    xir_layout_put(&merged, 'c', xir_layout_unit(layout, rank - 1));
    layout = xir_layout_finish(xir_infer_context(at), &merged, NULL);
    return layout ? give_merged(at, layout, rank - 1) : XIR_E_MEMORY;
}

const xir_plugin *xir_plugin_entry(void) {
    static xir_class_fn *const classes[] = { xir_flatten_class };
    static const xir_plugin plugin = { XIR_PLUGIN_HEAD("whatever"), .classes = classes, .n_classes = 1 };
    return &plugin;
}
