/* The way back of convolutions and pools. Attributes are read by the rows' sets; here is what they don't name: the dims
 * of kernels, and ceil_mode, which XIR has as cells after the end. */
#include <math.h>
#include "convert/pnnx/pnnx.h"

static bool is_module(const xir_node *at) {
    return at->to->n_slots > 1 && at->to->slots[1].is_attribute;
}

/* The names of XIR's attributes for each spatial axis, counted from the last one. */
static const struct axis_words { const char *pool, *stride, *dilation, *before, *after; } axis_words[3] = {
    { "pool_width",  "stride_width",  "dilation_width",  "pad_left",  "pad_right"  },
    { "pool_height", "stride_height", "dilation_height", "pad_top",   "pad_bottom" },
    { "pool_depth",  "stride_depth",  "dilation_depth",  "pad_front", "pad_back"   },
};

/* x with the padding of a convolution that has more on one side than on the other; *padded: it has. */
static xir_value *padded_before(xir_node *at, xir_value *x, bool *padded) {
    const size_t n = v_rank(x) - 2;
    xir_ints pads = xir_node_make_ints(at, 2 * v_rank(x), 0);
    for (size_t k = 0; k < n && n <= 3 && pads.v; k++) {
        pads.v[2 * (k + 2)] = xir_node_int(at, axis_words[n - 1 - k].before, 0);
        pads.v[2 * (k + 2) + 1] = xir_node_int(at, axis_words[n - 1 - k].after, 0);
        *padded |= pads.v[2 * (k + 2)] != pads.v[2 * (k + 2) + 1] || pads.v[2 * (k + 2)] < 0;
    }
    if (!*padded || xir_node_failed(at)) return x;
    if (!xir_node_is(at, "padding_mode", "ZEROS"))
        return xir_node_unsupported(at, "different padding of both sides"), NULL;
    return xir_node_make(at, "Pad", INS(x), SETS(LIST("padding", &pads)));
}

bool pnnx_back_conv(xir_node *at) {
    xir_value *x = row_back_input(at, 0), *kernel = row_back_input(at, 1), *bias = xir_node_optional_input(at, 2);
    if (xir_node_failed(at) || !x || !kernel) return false;
    if (is_module(at) && !xir_value_is_params(kernel)) return xir_node_unsupported(at, "the kernel is computed");
    const bool transposed = at->to->slots[1].order.data[0] == 'I';   /* OI or IO */
    const int64_t groups = xir_node_int(at, "groups", 1), first = v_dim(kernel, 0), second = v_dim(kernel, 1);
    const xir_ints dims = xir_node_dims(at, kernel);
    if (xir_node_failed(at)) return false;
    const xir_ints size = { dims.v + 2, dims.n - 2 }, zeros = xir_node_make_ints(at, dims.n - 2, 0);
    bool padded = false;
    x = transposed ? x : padded_before(at, x, &padded);
    if (!x) return false;
    if (!is_module(at))
        return row_becomes(at, INS(x, kernel, bias),
                           (xir_sets){ (const xir_set[]){ LIST("padding", &zeros) }, padded ? 1 : 0 });
    if (padded)
        return row_becomes(at, INS(x, kernel, bias),
                           SETS(XIR_SETB("bias", bias != NULL), INT("in_channels", second * groups),
                                INT("out_channels", first),
                                LIST("kernel_size", &size), LIST("padding", &zeros)));
    return row_becomes(at, INS(x, kernel, bias),
                       SETS(XIR_SETB("bias", bias != NULL), INT("in_channels", transposed ? first : second * groups),
                            INT("out_channels", transposed ? second * groups : first), LIST("kernel_size", &size)));
}

/* One axis of a pool: how many windows XIR's op has, and PyTorch's with the same padding on both sides. */
typedef struct pool_axis { int64_t input, size, stride, dilation, before, after; } pool_axis;

static pool_axis axis_of(const xir_node *at, const xir_value *x, size_t k, size_t n) {
    const struct axis_words *words = &axis_words[n - 1 - k];
    return (pool_axis){ v_dim(x, 2 + k), xir_node_int(at, words->pool, 1), xir_node_int(at, words->stride, 1),
                        xir_node_int(at, words->dilation, 1), xir_node_int(at, words->before, 0),
                        xir_node_int(at, words->after, 0) };
}

/* Rounded up, the last window begins inside. Negative: the dim is open, or no window fits. */
static int64_t windows_in(const pool_axis *a, int64_t padding, bool up) {
    const int64_t room = a->input < 0 ? -1 : a->input + padding - a->dilation * (a->size - 1) - 1;
    int64_t n = room < 0 ? -1 : (up ? room + a->stride - 1 : room) / a->stride + 1;
    if (up && n > 0 && (n - 1) * a->stride >= a->input + a->before) n--;
    return n;
}

/* Returns true if the pool has the same windows with `before` cells on both sides. What lies in the padding does not
 * matter; if it counts, there must be as much of it. */
static bool is_even(const pool_axis *a, bool up, bool counts) {
    if (a->before < 0 || a->before > a->size / 2) return false;
    if (a->before == a->after && !up) return true;
    return !counts && windows_in(a, a->before + a->after, false) == windows_in(a, 2 * a->before, up) && a->input >= 0;
}

/* The padding of a maximum, or of an average that counts it, as cells of x. */
static xir_value *pool_padded(xir_node *at, xir_value *x, size_t n, bool max) {
    xir_ints pads = xir_node_make_ints(at, 2 * (n + 2), 0);
    for (size_t k = 0; k < n && pads.v; k++) {
        const pool_axis a = axis_of(at, x, k, n);
        pads.v[2 * (2 + k)] = a.before;
        pads.v[2 * (2 + k) + 1] = a.after;
    }
    return pads.v ? xir_node_make(at, "Pad", INS(x), SETS(LIST("padding", &pads), REAL("value", max ? -INFINITY : 0)))
                  : NULL;
}

bool pnnx_back_pool(xir_node *at) {
    xir_value *x = row_back_input(at, 0);
    if (!x) return false;
    const size_t n = v_rank(x) - 2;
    const bool max = xir_node_type(at).data[0] == 'M', counts = !max && xir_node_bool(at, "count_include_pad", false);
    bool down = true, up = true;
    xir_ints pads = xir_node_make_ints(at, n, 0);
    if (!pads.v || n > 3) return false;
    for (size_t k = 0; k < n; k++) {
        const pool_axis a = axis_of(at, x, k, n);
        pads.v[k] = a.before;
        down = down && is_even(&a, false, counts);
        up = up && is_even(&a, true, counts);
    }
    if (!down && !up) {
        if ((max && !v_is_real(x)) || (!max && !counts))
            return xir_node_unsupported(at, "more padding after than before, or beyond half of a window");
        x = pool_padded(at, x, n, max);
        pads = xir_node_make_ints(at, n, 0);
        if (!x || !pads.v) return false;
    }
    const int64_t divisor = xir_node_int(at, "divisor_override", 0);
    const xir_any none = xir_any_null();
    xir_set sets[] = { LIST("padding", &pads), XIR_SETB("ceil_mode", !down && up), XIR_SETB("return_indices", false) };
    if (!max) sets[2] = divisor ? (xir_set)INT("divisor_override", divisor)
                                : (xir_set){ .name = "divisor_override", .kind = XIR_SET_ANY, .p = &none };
    return row_becomes(at, INS(x), (xir_sets){ sets, 3 });
}
