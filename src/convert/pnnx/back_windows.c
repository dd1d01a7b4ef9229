/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The way back of convolutions and pools. Most attributes are read by the rows' sets; here is what they don't name: the
 * dims of kernels, padding, and ceil_mode, which XIR has as cells after the end. */
#include <math.h>
#include "pnnx/pnnx.h"
#include "spec/reduction.h"
#include "spec/windows.h"

static bool is_module(const xir_node *at) {
    return at->to->n_slots > 1 && at->to->slots[1].is_attribute;
}

bool pnnx_back_conv(xir_node *at) {
    windows w;
    xir_value *x = row_back_input(at, 0), *kernel = row_back_input(at, 1), *bias = xir_node_optional_input(at, 2);
    if (xir_node_failed(at) || !x || !kernel) return false;
    if (is_module(at) && !xir_value_is_params(kernel)) return xir_node_unsupported(at, "the kernel is computed");
    if (!windows_of_op(at, x, 2, kernel, &w)) return false;
    const int64_t groups = w.groups, first = v_dim(kernel, 0), second = v_dim(kernel, 1);
    const bool transposed = w.transposed, padded = !transposed && !window_is_even(&w);
    if (padded && w.mode != XIR_PADDING_ZEROS)
        return xir_node_unsupported(at, "different padding of both sides");
    if (padded) x = window_padded(at, x, &w, XIR_PAD_CONSTANT, 0);
    const xir_ints size = window_list(&w, w.size), pads = window_list(&w, w.before);
    const xir_set sets[] = { LIST("padding", &pads), XIR_SETB("bias", bias != NULL),
                             INT("in_channels", transposed ? first : second * groups),
                             INT("out_channels", transposed ? second * groups : first), LIST("kernel_size", &size) };
    return row_becomes(at, INS(x, kernel, bias),
                       (xir_sets){ sets + transposed, (is_module(at) ? COUNT(sets) : 1) - transposed });
}

/* Returns the number of windows of a pool along an axis with that much padding. Rounded up, the last window begins
 * inside. Negative: the dim is open, or no window fits. */
static int64_t windows_in(const windows *w, size_t k, int64_t padding, bool up) {
    const int64_t room = w->input[k] < 0 ? -1 : w->input[k] + padding - w->dilation[k] * (w->size[k] - 1) - 1;
    int64_t n = room < 0 ? -1 : (up ? room + w->stride[k] - 1 : room) / w->stride[k] + 1;
    if (up && n > 0 && (n - 1) * w->stride[k] >= w->input[k] + w->before[k]) n--;
    return n;
}

/* Returns true if the pool has the same windows with `before` cells on both sides. What lies in the padding does not
 * matter; if it counts, there must be as much of it. */
static bool is_even(const windows *w, size_t k, bool up, bool counts) {
    const int64_t before = w->before[k], after = w->after[k];
    if (before < 0 || before > w->size[k] / 2) return false;
    if (before == after && !up) return true;
    return !counts && windows_in(w, k, before + after, false) == windows_in(w, k, 2 * before, up) && w->input[k] >= 0;
}

bool pnnx_back_pool(xir_node *at) {
    windows w;
    xir_value *x = row_back_input(at, 0);
    bool down = true, up = true;
    if (!windows_of_op(at, x, 2, NULL, &w)) return false;
    const bool max = w.max, counts = w.counts;
    for (size_t k = 0; k < w.n; k++) {
        down = down && is_even(&w, k, false, counts);
        up = up && is_even(&w, k, true, counts);
    }
    if (!down && !up) {
        if ((max && !v_is_real(x)) || (!max && !counts))
            return xir_node_unsupported(at, "more padding after than before, or beyond half of a window");
        x = window_padded(at, x, &w, XIR_PAD_CONSTANT, max ? -INFINITY : 0);   // what a maximum or a mean counts
        if (!x) return false;
    }
    const xir_ints pads = window_list(&w, w.before);
    const xir_any none = xir_any_null();
    xir_set sets[] = { LIST("padding", &pads), XIR_SETB("ceil_mode", !down && up), XIR_SETB("return_indices", false) };
    if (!max) sets[2] = w.divisor ? (xir_set)INT("divisor_override", w.divisor)
                                  : (xir_set){ .name = "divisor_override", .kind = XIR_SET_ANY, .p = &none };
    return row_becomes(at, INS(x), (xir_sets){ sets, 3 });
}

/* The row has as many spatial axes as its variant says; another mean is torch.mean. */
bool pnnx_back_global_average(xir_node *at) {
    const size_t n = (size_t)xir_node_variant(at);
    xir_value *x = v_rank(xir_node_input(at, 0)) == n + 2 ? mean_of_map(at) : (node_declines(at), NULL);
    const xir_ints ones = xir_node_make_ints(at, n, 1);
    return x && row_becomes(at, INS(x), SETS(LIST("output_size", &ones)));
}
