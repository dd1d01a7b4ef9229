/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Resized images. Batch and channels are kept. Results lie between the input's values, except for cubic
 * interpolation. */
#include <inttypes.h>
#include "list.h"
#include "spatial.h"

/* Bits for the dims 1 to n of a map. */
static unsigned spatial_dims(size_t n) { return ((1u << n) - 1) << 1; }

/* ---- Resize ---------------------------------------------------------------------------------------------------- */

/* The number of spatial axes of the input: axes that are not batch, channels or the unit of a tile. */
static size_t count_spatial(xir_infer *at) {
    const xir_type *type = xir_infer_input(at, 0);
    const xir_layout *layout = xir_type_layout(type);
    size_t rank = xir_type_rank(type), units = 0;
    if (rank > MOST_TILED_DIMS) return rank;   // far more than any map has
    for (size_t k = 0; xir_type_is_layouted(type) && k < rank; k++) units += xir_layout_unit(layout, k) != 0;
    return rank - units < 2 ? 0 : rank - units - 2;
}

/* The new sizes: an attribute, or read from the input. */
static xir_status read_sizes(xir_infer *at, size_t n, dim_list *out) {
    const xir_resize_attrs *a = xir_infer_attrs(at);
    if (a->dsize.size != n) {
        return xir_infer_fail(at, XIR_E_INVALID, "dsize", "%zu size%s given, but input has %zu spatial dim%s",
                              a->dsize.size, a->dsize.size == 1 ? "" : "s", n, n == 1 ? "" : "s");
    }
    if (has_list(at)) {
        xir_status status = check_list(at, n);
        if (!status) status = check_open(at, "dsize", a->dsize);
        return status ? status : read_items(at, n, out);
    }
    return copy_items(at, a->dsize, out);
}

/* Dims 1 to *n of the output are spatial. */
static xir_status resize_shape(xir_infer *at, named_dims *out, size_t *n) {
    const xir_resize_attrs *a = xir_infer_attrs(at);
    *n = count_spatial(at);
    if (*n < 1 || *n > MOST_SPATIAL) {
        return xir_infer_fail(at, XIR_E_INVALID, "inputs/0", "input has %zu dims: expected 3 to 5 (NLC, NHWC or NDHWC)",
                              xir_type_rank(xir_infer_input(at, 0)));
    }
    xir_status status = read_dims(at, 0, map_letters(*n), out);
    if (!status && a->interpolation != XIR_RESIZE_INTER_NEAREST) status = need_numbers(at, 0);
    if (status) return status;
    dim_list sizes;
    if ((status = read_sizes(at, *n, &sizes))) return status;   // at most MOST_SPATIAL: without memory of its own
    for (size_t k = 1; k <= *n; k++) {
        size_t place = 0;
        for (size_t other = 1; other <= *n; other++) place += out->at[other] < out->at[k];
        int64_t size = sizes.data[place];
        if (expr_is_number(size) && size < 1) {
            return xir_infer_fail(at, XIR_E_BOUNDS, list_place(at, "dsize"),
                                  "size %zu is %" PRId64 ": expected at least 1", place, size);
        }
        if (out->dim[k] == 0) {
            return xir_infer_fail(at, XIR_E_INVALID, "inputs/0", "input has no %ss: expected at least 1 to resize",
                                  words_of_axis(*n, k - 1)->thing);
        }
        out->dim[k] = dim_of_expr(size);
    }
    return XIR_OK;
}

static xir_status give_resized(xir_infer *at) {
    named_dims out;
    size_t n;
    xir_status status = resize_shape(at, &out, &n);
    return status ? status : give_named(at, 0, &out, spatial_dims(n), NULL, NULL);
}

xir_status resize_check(xir_infer *at) {
    named_dims out;
    size_t n;
    return inputs_checkable(at, 1) && list_checkable(at) ? resize_shape(at, &out, &n) : XIR_OK;
}

xir_status resize_infer(xir_infer *at) {
    xir_status status = need_inputs(at, 1);
    return status ? status : give_resized(at);
}

xir_status resize_tiled_infer(xir_infer *at) {
    xir_status status = need_tensors(at, 1);
    return status ? status : give_resized(at);
}

/* ---- Upsample -------------------------------------------------------------------------------------------------- */

static xir_status upsample_shape(xir_infer *at, named_dims *out) {
    const xir_upsample_attrs *a = xir_infer_attrs(at);
    xir_status status = read_dims(at, 0, map_letters(2), out);
    if (!status && a->interpolation != XIR_UPSAMPLE_NEAREST) status = need_numbers(at, 0);
    if (!status) status = check_size(at, "height", a->height);
    if (!status) status = check_size(at, "width", a->width);
    if (status) return status;
    if (out->dim[1] == 0 || out->dim[2] == 0) {
        return xir_infer_fail(at, XIR_E_INVALID, "inputs/0", "input has no %s: expected at least 1 to resize",
                              out->dim[1] == 0 ? "rows" : "columns");
    }
    out->dim[1] = a->height;
    out->dim[2] = a->width;
    return XIR_OK;
}

/* Cubic interpolation can exceed the range of the input. */
static xir_status give_upsampled(xir_infer *at) {
    const xir_upsample_attrs *a = xir_infer_attrs(at);
    named_dims out;
    const xir_type *element = NULL;
    xir_status status = upsample_shape(at, &out);
    if (!status && a->interpolation == XIR_UPSAMPLE_BICUBIC) status = computed_element(at, 0, &element);
    return status ? status : give_named(at, 0, &out, spatial_dims(2), NULL, element);
}

xir_status upsample_check(xir_infer *at) {
    named_dims out;
    return inputs_checkable(at, 1) ? upsample_shape(at, &out) : XIR_OK;
}

xir_status upsample_infer(xir_infer *at) {
    xir_status status = need_inputs(at, 1);
    return status ? status : give_upsampled(at);
}

xir_status upsample_tiled_infer(xir_infer *at) {
    xir_status status = need_tensors(at, 1);
    return status ? status : give_upsampled(at);
}

/* ---- GridSample ------------------------------------------------------------------------------------------------ */

/* Dims 1 to *n of the output are spatial. */
static xir_status grid_sample_shape(xir_infer *at, named_dims *out, size_t *n) {
    const xir_grid_sample_attrs *a = xir_infer_attrs(at);
    named_dims grid;
    size_t rank = xir_type_rank(xir_infer_input(at, 0));
    if (rank != 4 && rank != 5) {
        return xir_infer_fail(at, XIR_E_INVALID, "inputs/0", "input has %zu dims: expected 4 or 5 (NHWC or NDHWC)",
                              rank);
    }
    *n = rank - 2;
    xir_status status = read_dims(at, 0, map_letters(*n), out);
    if (!status) status = read_dims(at, 1, map_letters(*n), &grid);
    if (!status && a->interpolation != XIR_GRID_NEAREST) status = need_numbers(at, 0);
    if (status) return status;
    const xir_type *places = xir_type_element(xir_infer_input(at, 1));
    if (xir_type_kind_of(xir_type_expressed(places)) != XIR_TYPE_FLOAT) {
        return xir_infer_fail(at, XIR_E_TYPE, "inputs/1",
                              "the elements of grid are not floating-point numbers: expected coordinates");
    }
    int64_t coordinates = grid.dim[*n + 1];
    if (dims_differ(at, coordinates, (int64_t)*n)) {
        return xir_infer_fail(at, XIR_E_INVALID, "inputs/1", "grid has %s coordinates for each sample: expected %zu",
                              dim_words(at, coordinates).text, *n);
    }
    if (dims_differ(at, out->dim[0], grid.dim[0])) {
        return xir_infer_fail(at, XIR_E_INVALID, "inputs/1", "grid has a batch of %s: expected %s, as in input",
                              dim_words(at, grid.dim[0]).text, dim_words(at, out->dim[0]).text);
    }
    for (size_t k = 1; k <= *n; k++) {
        if (out->dim[k] == 0) {
            return xir_infer_fail(at, XIR_E_INVALID, "inputs/0", "input has no %ss: expected at least 1 to sample",
                                  words_of_axis(*n, k - 1)->thing);
        }
        out->dim[k] = grid.dim[k];
    }
    if (out->dim[0] < 0) out->dim[0] = grid.dim[0];
    return XIR_OK;
}

xir_status grid_sample_check(xir_infer *at) {
    named_dims out;
    size_t n;
    return inputs_known(at, 2) && !inputs_tiled(at, 2) ? grid_sample_shape(at, &out, &n) : XIR_OK;
}

xir_status grid_sample_infer(xir_infer *at) {
    const xir_grid_sample_attrs *a = xir_infer_attrs(at);
    named_dims out;
    size_t n;
    const xir_type *element = NULL;
    xir_status status = need_inputs(at, 2);
    if (!status) status = grid_sample_shape(at, &out, &n);
    if (!status && a->interpolation == XIR_GRID_CUBIC) status = computed_element(at, 0, &element);
    if (status) return status;
    /* The batch size may come from the grid. */
    bool unknown = type_dim(xir_infer_input(at, 0), (int64_t)out.at[0]) < 0;
    return give_named(at, 0, &out, spatial_dims(n) | unknown, NULL, element);
}
