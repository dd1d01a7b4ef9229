/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Random weights for networks whose weights are all zeros: without them a proof would compare zeros with zeros. */
#include <xir/prove.h>
#include <math.h>
#include <string.h>
#include "graph.h"

/* Returns true if Params are floating-point numbers of a shape that only weights have: more than one element. */
static bool may_be_weights(const xir_value *weights) {
    const xir_type *type = xir_value_type(weights);
    int64_t n = 0;
    return xir_type_kind_of(xir_type_element(type)) == XIR_TYPE_FLOAT && xir_type_elements(type, &n) == XIR_OK && n > 1;
}

static bool all_zero(const xir_value *weights) {
    uint64_t size = 0;
    const uint8_t *bytes = xir_params_data(weights, &size);
    return bytes && size && bytes[0] == 0 && memcmp(bytes, bytes + 1, (size_t)size - 1) == 0;
}

/* ---- whether they are zeros ------------------------------------------------------------------------------------- */

typedef struct looking { size_t zeros; bool other; } looking;

static bool look(void *user, xir_value *weights) {
    looking *l = user;
    if (!may_be_weights(weights) || xir_type_rank(xir_value_type(weights)) < 2) return true;
    if (all_zero(weights)) l->zeros++;
    else l->other = true;
    return !l->other;
}

bool xir_network_weights_are_zero(const xir_network *net) {
    looking l = { 0 };
    if (net) net_walk_params(net, look, &l);
    return l.zeros && !l.other;
}

/* ---- filling ---------------------------------------------------------------------------------------------------- */

typedef struct filling { xir_context *ctx; uint64_t seed; xir_diags *why; xir_status status; } filling;

/* Returns the bound for the numbers of a kernel or matrix: an output sums as many products as there are elements for
 * each index of the outputs, which are the first dim or the last. Bounded by +-sqrt(3 / n), their variance is 1 /
 * n. */
static double spread(const xir_type *type) {
    int64_t n = 1, first = xir_type_dim(type, 0, false), last = xir_type_dim(type, -1, false);
    (void)xir_type_elements(type, &n);
    return sqrt(3 * (double)(first > last ? first : last) / (double)n);
}

static bool fill(void *user, xir_value *weights) {
    filling *f = user;
    const xir_type *type = xir_value_type(weights);
    const uint64_t seed = f->seed++;
    if (!may_be_weights(weights) || !all_zero(weights)) return true;
    const double far = xir_type_rank(type) > 1 ? spread(type) : 0;
    const xir_numbers within = far > 0 ? xir_numbers_between(-far, far) : xir_numbers_between(0.5, 1.5);
    xir_array *array = xir_array_random_in(f->ctx, type, seed, &within, f->why);
    size_t size = 0;
    const void *bytes = array ? xir_array_data(array, &size) : NULL;
    f->status = bytes ? xir_params_set_copy(weights, bytes, size) : XIR_E_MEMORY;
    if (bytes && f->status) diag_memory(f->why);   /* the other finding is the network's */
    xir_array_free(array);
    return f->status == XIR_OK;
}

xir_status xir_network_fill_weights(xir_network *net, uint64_t seed, xir_diags *why) {
    if (!net) return diag_null(why, "net");
    filling f = { net->ctx, seed, why, XIR_OK };
    net_walk_params(net, fill, &f);
    return f.status;
}
