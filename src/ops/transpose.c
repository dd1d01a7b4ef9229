/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Permutations of axes and of channels, and channels rearranged to rows and columns. */
#include <inttypes.h>
#include "graph.h"
#include "move.h"

/* ---- Transpose ------------------------------------------------------------------------------------------------ */

/* An explicit layout must tile the same dims as the layout of the input, with the same units. */
static xir_status check_tiles(xir_infer *at, const int64_t *to) {
    const xir_layout *now = ((const xir_transpose_attrs *)xir_infer_attrs(at))->layout;
    const xir_layout *was = xir_type_layout(xir_infer_input(at, 0));
    size_t rank = xir_type_rank(xir_infer_input(at, 0));
    if (!xir_layout_is_layouted(now) && !xir_layout_is_layouted(was)) return XIR_OK;
    for (size_t k = 0; k < rank; k++) {
        int64_t unit = xir_layout_unit(was, k), partner = unit ? tile_partner(was, k) : -1;
        if (xir_layout_unit(now, (size_t)to[k]) == unit &&
            (partner < 0 || (size_t)partner >= rank || tile_partner(now, (size_t)to[k]) == to[partner])) continue;
        xir_str text = xir_layout_text(now);
        return xir_infer_fail(at, XIR_E_INVALID, "layout",
                              "%.*s does not tile dim %" PRId64 " of the output like dim %zu of input", (int)text.size,
                              text.data, to[k], k);
    }
    return XIR_OK;
}

/* Maps input dims to output dims (`to`) and back (`from`); both have room for the rank. */
static xir_status read_order(xir_infer *at, int64_t *to, int64_t *from) {
    const xir_transpose_attrs *a = xir_infer_attrs(at);
    size_t rank = xir_type_rank(xir_infer_input(at, 0)), axis;
    if (a->dims.size != rank) {
        return xir_infer_fail(at, XIR_E_INVALID, "dims", "%zu dims are listed, input has %zu: expected each once",
                              a->dims.size, rank);
    }
    for (size_t k = 0; k < rank; k++) to[k] = -1;
    for (size_t i = 0; i < rank; i++) {
        xir_status status = read_axis(at, "dims", a->dims.data[i], rank, &axis);
        if (status) return status;
        if (to[axis] >= 0) {
            return xir_infer_fail(at, XIR_E_INVALID, "dims", "dim %zu is listed twice: expected each once", axis);
        }
        to[axis] = (int64_t)i;
        from[i] = (int64_t)axis;
    }
    if (a->layout && xir_layout_rank(a->layout) != rank) {
        xir_str text = xir_layout_text(a->layout);
        return xir_infer_fail(at, XIR_E_INVALID, "layout", "%.*s has %zu axes, but the output has %zu dims",
                              (int)text.size, text.data, xir_layout_rank(a->layout), rank);
    }
    return a->layout ? check_tiles(at, to) : XIR_OK;
}

static bool make_order(xir_infer *at, dim_list *to, dim_list *from) {
    size_t rank = xir_type_rank(xir_infer_input(at, 0));
    if (!dims_init(at, to, rank)) return false;
    if (dims_init(at, from, rank)) return true;
    dims_free(to);
    return false;
}

xir_status transpose_check(xir_infer *at) {
    dim_list to, from;
    if (!inputs_checkable(at, 1)) return XIR_OK;
    xir_status status = need_few_dims(at, 1);
    if (status) return status;
    if (!make_order(at, &to, &from)) return XIR_E_MEMORY;
    status = read_order(at, to.data, from.data);
    dims_free(&from);
    dims_free(&to);
    return status;
}

xir_status transpose_infer(xir_infer *at) {
    const xir_transpose_attrs *a = xir_infer_attrs(at);
    const xir_type *input = xir_infer_input(at, 0);
    const xir_layout *layout = a->layout;
    dim_list to, from, dims;
    xir_status status = need_movable(at, 1);
    if (!status) status = need_few_dims(at, 1);
    if (status) return status;
    if (!make_order(at, &to, &from)) return XIR_E_MEMORY;
    status = read_order(at, to.data, from.data);
    if (!status && !layout) status = layout_of_axes(at, input, from.data, from.size, &layout);
    if (!status && !dims_init(at, &dims, from.size)) status = XIR_E_MEMORY;
    if (!status) {
        for (size_t i = 0; i < dims.size; i++) {
            int64_t dim = type_dim(input, from.data[i]);
            dims.data[i] = dim;
        }
        status = give_moved(at, &(move){ .to = to.data, .dims = &dims, .layout = layout });
        dims_free(&dims);
    }
    dims_free(&from);
    dims_free(&to);
    return status;
}

/* ---- ChannelShuffle ------------------------------------------------------------------------------------------- */

/* The axis C, or the last one. */
static xir_status channel_axis(xir_infer *at, size_t *out) {
    const xir_type *input = xir_infer_input(at, 0);
    const xir_layout *layout = xir_type_layout(input);
    size_t rank = xir_type_rank(input);
    int64_t found = xir_layout_rank(layout) == rank ? xir_layout_index(layout, 'C') : -1;
    *out = found >= 0 ? (size_t)found : rank - 1;
    if (rank) return XIR_OK;
    return xir_infer_fail(at, XIR_E_INVALID, "inputs/0", "input has no dims: expected at least one, the channels");
}

static xir_status shuffled(xir_infer *at, size_t *axis) {
    const xir_channel_shuffle_attrs *a = xir_infer_attrs(at);
    xir_status status = channel_axis(at, axis);
    if (status) return status;
    int64_t channels = type_dim(xir_infer_input(at, 0), (int64_t)*axis);
    if (a->groups < 1) {
        return xir_infer_fail(at, XIR_E_BOUNDS, "groups", "%" PRId64 " groups: expected at least 1", a->groups);
    }
    if (channels >= 0 && channels % a->groups) {
        return xir_infer_fail(at, XIR_E_INVALID, "groups",
                              "input has %" PRId64 " channels: expected a multiple of %" PRId64 " groups", channels,
                              a->groups);
    }
    return XIR_OK;
}

xir_status channel_shuffle_check(xir_infer *at) {
    size_t axis;
    return inputs_known(at, 1) && !inputs_tiled(at, 1) ? shuffled(at, &axis) : XIR_OK;
}

static xir_status shuffle_take(const move *m, xir_infer *at, size_t k, stretch_list *out) {
    const xir_channel_shuffle_attrs *a = xir_infer_attrs(at);
    int64_t each = m->dims->data[k] / a->groups;
    if (k != m->part || a->groups == 1) return XIR_OK;
    if (m->dims->data[k] < 0) return refuse_unknown(at, k);
    if (each <= 1) return XIR_OK;
    xir_status status = XIR_OK;
    for (int64_t i = 0; i < each && !status; i++) status = add_stretch(out, i, a->groups, each);
    return status;
}

xir_status channel_shuffle_infer(xir_infer *at) {
    size_t axis;
    dim_list dims;
    xir_status status = need_inputs(at, 1);
    if (!status) status = shuffled(at, &axis);
    if (status) return status;
    if (!copy_dims(at, &dims)) return XIR_E_MEMORY;
    status = give_moved(at, &(move){ .dims = &dims, .take = shuffle_take, .part = axis,
                                     .layout = xir_type_layout(xir_infer_input(at, 0)) });
    dims_free(&dims);
    return status;
}

/* ---- PixelShuffle --------------------------------------------------------------------------------------------- */

static xir_status pixel_shape(xir_infer *at, named_dims *d, int64_t out[4]) {
    const xir_pixel_shuffle_attrs *a = xir_infer_attrs(at);
    int64_t r = a->upscale_factor, area;
    xir_status status = read_dims(at, 0, "NHWC", d);
    if (status) return status;
    if (r < 1) {
        return xir_infer_fail(at, XIR_E_BOUNDS, "upscale_factor", "upscale_factor is %" PRId64 ": expected at least 1",
                              r);
    }
    for (size_t k = 0; k < 4; k++) out[k] = d->dim[k];
    if (!mul_i64(r, r, &area)) area = 0;
    if (d->dim[3] >= 0 && (area == 0 ? d->dim[3] > 0 : d->dim[3] % area != 0)) {
        return xir_infer_fail(at, XIR_E_INVALID, "upscale_factor",
                              "input has %" PRId64 " channels: expected a multiple of %" PRId64 " x %" PRId64,
                              d->dim[3], r, r);
    }
    if (out[3] > 0) out[3] /= area;
    if (out[3] < 0) out[3] = area ? dim_of_expr(expr_floor_div(at->pool, expr_of_dim(out[3]), area)) : UNKNOWN_DIM;
    for (size_t k = 1; k < 3; k++) {
        if (out[k] < 0) out[k] = times_dim(at, out[k], r);
        else if (!mul_i64(out[k], r, &out[k])) {
            return xir_infer_fail(at, XIR_E_LIMIT, "upscale_factor", "%" PRId64 " %s times %" PRId64 " exceed 64 bits",
                                  d->dim[k], k == 1 ? "rows" : "columns", r);
        }
    }
    return XIR_OK;
}

xir_status pixel_shuffle_check(xir_infer *at) {
    named_dims d;
    int64_t out[4];
    return inputs_known(at, 1) && !inputs_tiled(at, 1) ? pixel_shape(at, &d, out) : XIR_OK;
}

xir_status pixel_shuffle_infer(xir_infer *at) {
    const xir_pixel_shuffle_attrs *a = xir_infer_attrs(at);
    named_dims d;
    int64_t out[4], to[4];
    xir_status status = need_inputs(at, 1);
    if (!status) status = pixel_shape(at, &d, out);
    if (status) return status;
    dim_list dims;
    if (!dims_init(at, &dims, 4)) return XIR_E_MEMORY;
    for (size_t k = 0; k < 4; k++) {
        dims.data[d.at[k]] = out[k];
        to[d.at[k]] = k == 0 || a->upscale_factor == 1 ? (int64_t)d.at[k] : -1;
    }
    return give_moved(at, &(move){ .to = to, .dims = &dims, .layout = xir_type_layout(xir_infer_input(at, 0)) });
}
