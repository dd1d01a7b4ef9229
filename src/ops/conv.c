/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Convolutions. The axes of the kernel are found by the letters H, W, I, O, those of the feature map by N, H, W, C. The
 * output has the layout and the element type of the map. If the map is tiled, the unit of the output channels is that
 * of O in the kernel. */
#include <inttypes.h>
#include "graph.h"
#include "spatial.h"
#include "types.h"

/* The kernel sizes are filled in once its type has been read. */
static window_attrs conv_of(const xir_infer *at) { return window_attrs_of(at->cls->decl, at->attrs); }

static const char *plural(int64_t n) { return n == 1 ? "" : "s"; }

/* ---- one axis -------------------------------------------------------------------------------------------------- */

/* Mirrored and repeated cells must exist; only ZEROS padding may be negative. */
static xir_status check_padding(xir_infer *at, xir_padding mode, int64_t pad, int64_t dim, const char *where,
                                const axis_words *words) {
    if (pad == 0) return XIR_OK;
    const xir_enum *modes = xir_padding_enum();
    if ((size_t)mode >= modes->size) return XIR_OK;   // the rows report it
    if (pad < 0) {
        return xir_infer_fail(at, XIR_E_INVALID, where, "%" PRId64 " is negative: only ZEROS padding may be", pad);
    }
    if (dim < 0) return XIR_OK;
    int64_t most = mode == XIR_PADDING_REFLECT ? dim - 1 : mode == XIR_PADDING_CIRCULAR ? dim : dim > 0 ? INT64_MAX : 0;
    if (pad <= most) return XIR_OK;
    return xir_infer_fail(at, XIR_E_INVALID, where,
                          "%s padding of %" PRId64 " on %" PRId64 " %s%s: expected at most %" PRId64,
                          modes->names[mode], pad, dim, words->thing, plural(dim), most < 0 ? 0 : most);
}

/* The output size along axis k for a kernel of size m->size. */
static xir_status gather_length(xir_infer *at, const window_attrs *c, size_t k, int64_t input, int64_t *out) {
    const steps *m = &c->along[k];
    const axis_words *words = words_of_axis(c->n, k);
    const window w = { .what = "kernel", .things = words->thing, .axis = words->axis, .where = "inputs/1",
                       .input = input, .before = m->before, .after = m->after, .size = m->size, .stride = m->stride,
                       .dilation = m->dilation };
    if (c->mode == XIR_PADDING_ZEROS) return count_windows(at, &w, out);
    xir_status status = check_padding(at, c->mode, m->before, input, words->before, words);
    if (!status) status = check_padding(at, c->mode, m->after, input, words->after, words);
    return status ? status : count_windows(at, &w, out);
}

/* The formula of spread_length for an input whose size is an expression. */
static int64_t symbolic_spread(object_pool *pool, const steps *m, int64_t input) {
    expr written = expr_mul(pool, expr_sub(pool, input, 1), m->stride);
    expr reach = expr_add(pool, expr_mul(pool, m->dilation, m->size - 1), 1);
    expr padding = expr_sub(pool, expr_add(pool, m->before, m->after), m->extra);
    return dim_of_expr(expr_sub(pool, expr_add(pool, written, reach), padding));
}

/* The output size of a transposed convolution: (input - 1) * stride - before - after + dilation * (size - 1) + extra
 * + 1. */
static xir_status spread_length(xir_infer *at, const window_attrs *c, size_t k, int64_t input, int64_t *out) {
    const steps *m = &c->along[k];
    const axis_words *words = words_of_axis(c->n, k);
    xir_status status = check_steps(at, m, words);
    if (status) return status;
    if (m->extra < 0) {
        return xir_infer_fail(at, XIR_E_BOUNDS, words->extra, "%" PRId64 " is negative: expected at least 0", m->extra);
    }
    if (m->extra >= m->stride && m->extra >= m->dilation) {
        return xir_infer_fail(at, XIR_E_INVALID, words->extra, "%" PRId64 " is too large: expected less than the "
                              "stride, %" PRId64 ", or less than the dilation, %" PRId64, m->extra, m->stride,
                              m->dilation);
    }
    if (input == 0) {
        return xir_infer_fail(at, XIR_E_INVALID, "inputs/0", "input has no %ss: expected at least 1", words->thing);
    }
    if (m->size == 0) {
        return xir_infer_fail(at, XIR_E_INVALID, "inputs/1",
                              "the kernel has no %ss: expected at least 1", words->thing);
    }
    *out = UNKNOWN_DIM;
    if (m->size >= 0 && dim_is_symbolic(input)) *out = symbolic_spread(at->pool, m, input);
    if (input < 0 || m->size < 0) return XIR_OK;

    int64_t written, reach, length;
    if (!mul_i64(input - 1, m->stride, &written) || !mul_i64(m->dilation, m->size - 1, &reach) ||
        !add_i64(written, reach, &length) || !sub_i64(length, m->before, &length) ||
        !sub_i64(length, m->after, &length) || !add_i64(length, m->extra, &length) || !add_i64(length, 1, &length)) {
        return xir_infer_fail(at, XIR_E_LIMIT, "inputs/1", "the output size for a kernel of %" PRId64 " %s%s with "
                              "stride %" PRId64 " on an input of %" PRId64 " exceeds 64 bits", m->size, words->thing,
                              plural(m->size), m->stride, input);
    }
    if (length < 1) {
        return xir_infer_fail(at, XIR_E_INVALID, "inputs/1", "a kernel of %" PRId64 " %s%s with stride %" PRId64 " and "
                              "dilation %" PRId64 " on an input of %" PRId64 ", less padding %" PRId64 " and "
                              "%" PRId64 ", gives %" PRId64 " %ss: expected at least 1", m->size, words->thing,
                              plural(m->size), m->stride, m->dilation, input, m->before, m->after, length,
                              words->thing);
    }
    *out = length;
    return XIR_OK;
}

/* ---- channels ---------------------------------------------------------------------------------------------------- */

/* `in` and `out` are the indices of I and O in the kernel. */
static xir_status check_channels(xir_infer *at, const window_attrs *c, const named_dims *kernel, size_t in, size_t out,
                                 int64_t channels) {
    int64_t per_group = kernel->dim[in], filters = kernel->dim[out], g = c->groups;
    if (g < 1) return xir_infer_fail(at, XIR_E_BOUNDS, "groups", "%" PRId64 " groups: expected at least 1", g);
    if (c->transposed) {
        if (!dim_may_be(at, 1, kernel, in, channels)) {
            return xir_infer_fail(at, XIR_E_INVALID, "inputs/1",
                                  "input has %" PRId64 " channels: expected %" PRId64 ", the I of the kernel", channels,
                                  per_group);
        }
        if (channels < 0) channels = kernel->unit[in] ? UNKNOWN_DIM : per_group;
        if (channels < 0 || channels % g == 0) return XIR_OK;
        return xir_infer_fail(at, XIR_E_INVALID, "groups",
                              "input has %" PRId64 " channels: expected a multiple of %" PRId64 " groups", channels, g);
    }
    if (channels >= 0 && (channels % g || !dim_may_be(at, 1, kernel, in, channels / g))) {
        return xir_infer_fail(at, XIR_E_INVALID, "inputs/1", "input has %" PRId64 " channels, the kernel takes "
                              "%" PRId64 " in each of %" PRId64 " group%s: expected channels = I * groups", channels,
                              per_group, g, plural(g));
    }
    /* If the amount of padding is unknown, any number of groups may fit. */
    bool padded = kernel->unit[out] && !valid_of_dim(at, 1, kernel, out);
    if (filters >= 0 && filters % g && !padded) {
        return xir_infer_fail(at, XIR_E_INVALID, "groups",
                              "the kernel has %" PRId64 " output channels: expected a multiple of %" PRId64 " groups",
                              filters, g);
    }
    return XIR_OK;
}

/* A bias has one element for each output channel, in any shape. A tiled bias may have undeclared padding. */
static xir_status check_bias(xir_infer *at, const window_attrs *c, int64_t channels) {
    const xir_type *bias = xir_infer_input(at, 2);
    int64_t length;
    if (!bias || channels < 0 || xir_type_elements(bias, &length) != XIR_OK || length == channels) return XIR_OK;
    if (xir_type_is_layouted(bias)) {
        named_dims dims;
        xir_status status = read_dims(at, 2, "O", &dims);
        if (status) return status;
        if (dim_may_be(at, 2, &dims, 0, channels)) return XIR_OK;
        length = dims.dim[0];
    }
    if (!c->transposed) {
        return xir_infer_fail(at, XIR_E_INVALID, "inputs/2",
                              "bias has %" PRId64 " elements: expected %" PRId64 ", the output channels of the kernel",
                              length, channels);
    }
    return xir_infer_fail(at, XIR_E_INVALID, "inputs/2", "bias has %" PRId64 " elements: expected %" PRId64 ", the "
                          "channels of the output (O * groups)", length, channels);
}

/* ---- inference -------------------------------------------------------------------------------------------------- */

/* The output: the dims of the input with new sizes, and which of its channels are valid. */
typedef struct conv_output {
    named_dims       dims;
    const xir_distr *valid[MOST_NAMED];
} conv_output;

/* Checks all inputs and computes the output. */
static xir_status conv_shape(xir_infer *at, conv_output *out) {
    static const char *const kernels[2][MOST_SPATIAL + 1] = {
        { "", "LIO", "HWIO", "DHWIO" },
        { "", "LOI", "HWOI", "DHWOI" },
    };
    window_attrs c = conv_of(at);
    size_t n = c.n, channels_at = n + 1, in = n + c.transposed, filters_at = n + !c.transposed;
    named_dims kernel, *dims = &out->dims;
    xir_status status = read_dims(at, 0, map_letters(n), dims);
    if (!status) status = read_dims(at, 1, kernels[c.transposed][n], &kernel);
    if (!status) status = same_elements(at, 0, 1);
    if (!status) status = need_numbers(at, 0);
    for (size_t k = 0; k < n && !status; k++) {
        int64_t input = dims->dim[1 + k], *length = &dims->dim[1 + k];
        c.along[k].size = kernel.dim[k];
        status = c.transposed ? spread_length(at, &c, k, input, length) : gather_length(at, &c, k, input, length);
    }
    if (!status) status = check_channels(at, &c, &kernel, in, filters_at, dims->dim[channels_at]);
    if (status) return status;

    int64_t filters = kernel.dim[filters_at], *channels = &dims->dim[channels_at];
    *channels = c.transposed && filters < 0 ? times_dim(at, filters, c.groups) : filters;
    if (c.transposed && filters >= 0 && !mul_i64(filters, c.groups, channels)) {
        return xir_infer_fail(at, XIR_E_LIMIT, "groups",
                              "%" PRId64 " output channels in %" PRId64 " groups exceed 64 bits", filters, c.groups);
    }
    for (size_t k = 0; k < MOST_NAMED; k++) out->valid[k] = NULL;
    const xir_distr *valid = out->valid[channels_at] = valid_of_dim(at, 1, &kernel, filters_at);
    if (valid && c.transposed && c.groups > 1) {
        return xir_infer_fail(at, XIR_E_UNSUPPORTED, "inputs/1", "the kernel has padding in its output channels: its "
                              "place in %" PRId64 " groups cannot be determined", c.groups);
    }
    if (dims->unit[channels_at] && kernel.unit[filters_at]) dims->unit[channels_at] = kernel.unit[filters_at];
    return check_bias(at, &c, *channels);
}

static size_t given_inputs(xir_infer *at) { return xir_infer_input(at, 2) ? 3 : 2; }

/* Distributions over the batch are kept. */
static xir_status give_conv(xir_infer *at) {
    conv_output out;
    const xir_type *element;
    xir_status status = conv_shape(at, &out);
    if (!status) status = computed_element(at, 0, &element);
    return status ? status : give_named(at, 0, &out.dims, ~1u, out.valid, element);
}

xir_status conv_check(xir_infer *at) {
    conv_output out;
    return inputs_checkable(at, given_inputs(at)) ? conv_shape(at, &out) : XIR_OK;
}

xir_status conv_infer(xir_infer *at) {
    xir_status status = need_inputs(at, given_inputs(at));
    return status ? status : give_conv(at);
}

xir_status conv_tiled_infer(xir_infer *at) {
    xir_status status = need_tensors(at, given_inputs(at));
    return status ? status : give_conv(at);
}

/* ---- Unfold ----------------------------------------------------------------------------------------------------- */

/* The order of the three output dims, which follows the input: N, L for H and W, C. */
enum { UNFOLD_N, UNFOLD_L, UNFOLD_C, UNFOLD_RANK };

typedef struct unfolded {
    named_dims input;
    int64_t    dim[UNFOLD_RANK];
    size_t     at[UNFOLD_RANK];
    int64_t    cells;   /* in one window */
} unfolded;

static xir_status unfold_shape(xir_infer *at, unfolded *out) {
    const xir_unfold_attrs *a = xir_infer_attrs(at);
    const window_attrs attrs = unfold_windows(a);
    int64_t windows[2];
    named_dims *input = &out->input;
    xir_status status = read_dims(at, 0, map_letters(2), input);
    for (size_t k = 0; k < 2 && !status; k++) {
        const axis_words *words = words_of_axis(2, k);
        const steps *m = &attrs.along[k];
        const window w = { .what = "window", .things = words->thing, .axis = words->axis, .where = words->kernel,
                           .input = input->dim[1 + k], .before = m->before, .after = m->after, .size = m->size,
                           .stride = m->stride, .dilation = m->dilation };
        status = check_size(at, words->kernel, m->size);
        if (!status) status = count_windows(at, &w, &windows[k]);
    }
    if (status) return status;
    out->dim[UNFOLD_N] = input->dim[0];
    out->dim[UNFOLD_L] = out->dim[UNFOLD_C] = UNKNOWN_DIM;
    bool fits = mul_i64(a->kernel_height, a->kernel_width, &out->cells);
    if (fits && windows[0] >= 0 && windows[1] >= 0) fits = mul_i64(windows[0], windows[1], &out->dim[UNFOLD_L]);
    else if (fits) out->dim[UNFOLD_L] = times_dim(at, windows[0], windows[1]);
    if (fits && input->dim[3] >= 0) fits = mul_i64(input->dim[3], out->cells, &out->dim[UNFOLD_C]);
    else if (fits) out->dim[UNFOLD_C] = times_dim(at, input->dim[3], out->cells);
    if (!fits) return xir_infer_fail(at, XIR_E_LIMIT, NULL, "the number of windows or of their cells exceeds 64 bits");

    size_t l = input->at[1] < input->at[2] ? input->at[1] : input->at[2];
    out->at[UNFOLD_N] = (size_t)(input->at[0] > l) + (input->at[0] > input->at[3]);
    out->at[UNFOLD_L] = (size_t)(l > input->at[0]) + (l > input->at[3]);
    out->at[UNFOLD_C] = (size_t)(input->at[3] > input->at[0]) + (input->at[3] > l);
    return XIR_OK;
}

/* The input's axis letters, with L for H and W. */
static const xir_layout *unfold_layout(xir_infer *at, const unfolded *u) {
    const xir_layout *layout = xir_type_layout(xir_infer_input(at, 0));
    const named_dims *in = &u->input;
    char text[UNFOLD_RANK];
    bool named = xir_layout_axis(layout, in->at[1]) != '*' && xir_layout_axis(layout, in->at[2]) != '*';
    text[u->at[UNFOLD_N]] = xir_layout_axis(layout, in->at[0]);
    text[u->at[UNFOLD_L]] = named ? 'L' : '*';
    text[u->at[UNFOLD_C]] = xir_layout_axis(layout, in->at[3]);
    return layout_make(at->pool, (xir_str){ text, sizeof text }, 0, NULL);
}

/* Maps a distribution to the output: over N it is kept, over C it holds for all cells of a channel, over H or W it does
 * not apply to windows, and *out is NULL. */
static xir_status unfold_distr(xir_infer *at, const unfolded *u, const xir_distr *distr, const xir_object **out) {
    *out = NULL;
    if (distr->merged_axis.size != 1) return XIR_OK;
    int64_t axis = from_start(distr->merged_axis.data[0], u->input.n);
    bool batches = axis == (int64_t)u->input.at[0];
    if (!batches && axis != (int64_t)u->input.at[3]) return XIR_OK;
    const int64_t place = (int64_t)u->at[batches ? UNFOLD_N : UNFOLD_C], each = batches ? 1 : u->cells;
    run_list runs;
    run_list_init(&runs, context_alloc(at->ctx));
    xir_status status = XIR_OK;
    int64_t start = 0, count;
    for (size_t i = 0; i < distr->sections.size && !status; i++) {
        const xir_run *run = &distr->sections.data[i];
        status = mul_i64(run->end - start, each, &count) ? run_list_add(&runs, count, run->m, 0, 0) : XIR_E_LIMIT;
        start = run->end;
    }
    if (!status)
        *out = (const xir_object *)distr_make(at->pool, (xir_i64s){ &place, 1 }, run_list_runs(&runs), distr->uvalue,
                                              distr->legacy);
    run_list_free(&runs);
    if (*out) return XIR_OK;
    if (status != XIR_E_LIMIT) return infer_no_memory(at);
    return xir_infer_fail(at, status, "inputs/0",
                          "the number of cells of the channels in the distribution exceeds 64 bits");
}

xir_status unfold_check(xir_infer *at) {
    unfolded u;
    return inputs_known(at, 1) && !inputs_tiled(at, 1) ? unfold_shape(at, &u) : XIR_OK;
}

xir_status unfold_infer(xir_infer *at) {
    unfolded u;
    xir_status status = need_inputs(at, 1);
    if (!status) status = unfold_shape(at, &u);
    if (status) return status;

    dim_list dims;
    if (!dims_init(at, &dims, UNFOLD_RANK)) return XIR_E_MEMORY;
    for (size_t k = 0; k < UNFOLD_RANK; k++) dims.data[u.at[k]] = u.dim[k];
    int64_t to[4] = { -1, -1, -1, -1 };
    to[u.input.at[0]] = (int64_t)u.at[UNFOLD_N];
    const xir_type *element = xir_type_element(xir_infer_input(at, 0));
    if (xir_type_is_quantized(element)) status = moved_element(at, 0, to, &dims, &element);
    const xir_layout *layout = status ? NULL : unfold_layout(at, &u);
    if (!status && !layout) status = infer_no_memory(at);

    const xir_object *few[2];   // over N and over C: a dim has at most one distribution
    size_t n = 0;
    xir_refs old = xir_type_as_tensor(xir_infer_input(at, 0))->merged_distrs;
    for (size_t i = 0; i < old.size && n < 2 && !status; i++) {
        status = unfold_distr(at, &u, (const xir_distr *)old.data[i], &few[n]);
        n += !status && few[n];
    }
    if (!status) {
        const xir_type *type = type_tensor(at->pool, element, layout, (xir_i64s){ dims.data, dims.size },
                                           (xir_refs){ few, n });
        status = type ? xir_infer_result(at, type) : infer_no_memory(at);
    }
    dims_free(&dims);
    return status;
}
