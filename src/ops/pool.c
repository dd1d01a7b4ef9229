/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Pooling. Channels and batches are independent, so their distributions are kept. A window may contain only padding;
 * its result is then the lowest value, or 0. The number of windows is the same as for convolutions. */
#include <inttypes.h>
#include "graph.h"
#include "spatial.h"

static window_attrs pool_of(const xir_infer *at) { return window_attrs_of(at->cls->decl, at->attrs); }

static xir_status pool_shape(xir_infer *at, const window_attrs *m, named_dims *out) {
    xir_status status = read_dims(at, 0, map_letters(m->n), out);
    for (size_t k = 0; k < m->n && !status; k++) {
        const axis_words *words = words_of_axis(m->n, k);
        const steps *step = &m->along[k];
        const window w = { .what = "window", .things = words->thing, .axis = words->axis, .where = words->pool,
                           .input = out->dim[1 + k], .before = step->before, .after = step->after, .size = step->size,
                           .stride = step->stride, .dilation = step->dilation };
        status = check_size(at, words->pool, step->size);
        if (!status) status = count_windows(at, &w, &out->dim[1 + k]);
    }
    return status;
}

/* A bit mask of the spatial dims. */
static unsigned spatial_dims(const window_attrs *m) { return ((1u << m->n) - 1) << 1; }

/* ---- MaxPool --------------------------------------------------------------------------------------------------- */

static xir_status give_max(xir_infer *at) {
    named_dims out;
    window_attrs m = pool_of(at);
    xir_status status = pool_shape(at, &m, &out);
    return status ? status : give_named(at, 0, &out, spatial_dims(&m), NULL, NULL);
}

xir_status max_pool_check(xir_infer *at) {
    named_dims out;
    window_attrs m = pool_of(at);
    return inputs_checkable(at, 1) ? pool_shape(at, &m, &out) : XIR_OK;
}

xir_status max_pool_infer(xir_infer *at) {
    xir_status status = need_inputs(at, 1);
    return status ? status : give_max(at);
}

xir_status max_pool_tiled_infer(xir_infer *at) {
    xir_status status = need_tensors(at, 1);
    return status ? status : give_max(at);
}

/* ---- AvgPool --------------------------------------------------------------------------------------------------- */

static xir_status avg_shape(xir_infer *at, const window_attrs *m, named_dims *out) {
    int64_t divisor = m->divisor;
    xir_status status = need_numbers(at, 0);
    if (!status) status = pool_shape(at, m, out);
    if (status || divisor >= 0) return status;
    return xir_infer_fail(at, XIR_E_BOUNDS, "divisor_override",
                          "%" PRId64 " is negative: expected a divisor, or 0 for the number of elements", divisor);
}

/* Returns true if the divisor is too small for the means to lie between the elements. */
static bool exceeds(const window_attrs *m) {
    int64_t cells = 1;
    if (m->divisor == 0) return false;
    for (size_t k = 0; k < m->n; k++) {
        if (!mul_i64(cells, m->along[k].size, &cells)) return true;
    }
    return m->divisor < cells;
}

static xir_status give_mean(xir_infer *at) {
    named_dims out;
    window_attrs m = pool_of(at);
    const xir_type *element = NULL;
    xir_status status = avg_shape(at, &m, &out);
    if (!status && exceeds(&m)) status = computed_element(at, 0, &element);
    return status ? status : give_named(at, 0, &out, spatial_dims(&m), NULL, element);
}

xir_status avg_pool_check(xir_infer *at) {
    named_dims out;
    window_attrs m = pool_of(at);
    return inputs_checkable(at, 1) ? avg_shape(at, &m, &out) : XIR_OK;
}

xir_status avg_pool_infer(xir_infer *at) {
    xir_status status = need_inputs(at, 1);
    return status ? status : give_mean(at);
}

xir_status avg_pool_tiled_infer(xir_infer *at) {
    xir_status status = need_tensors(at, 1);
    return status ? status : give_mean(at);
}
