/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* NNB as a dialect (docs/nnb.md): its api level, which functions only compute, and helpers of its hooks. */
#include <stdio.h>
#include <string.h>
#include "nnb/nnb.h"
#include "spec/one_axis.h"

/* ---- the dialect ------------------------------------------------------------------------------------------------ */

enum { NEWEST = 45, REVISION = 5000 };   /* above it the word is a checksum, of files older than api levels */

int64_t nnb_api_level(const xir_network *net, xir_str domain) {
    const xir_any *level = xir_map_find(xir_network_tags(net), XIR_STR("nnb.api_level"));
    (void)domain;
    if (!level || level->kind != XIR_ANY_INT) return NEWEST;
    return level->as.integer > REVISION ? 1 : level->as.integer;
}

/* Functions that draw numbers, write into their inputs or only mark them. What is not in the table may do anything. */
bool nnb_is_pure(const xir_op *op) {
    static const char *const others[] = { "Rand", "ImageAugmentation", "VATNoise", "Assign", "Sink", "Dropout",
                                          "function_", "MeanSubtraction" };
    const xir_str key = xir_class_key(xir_op_class(op));
    for (size_t i = 0; i < COUNT(others); i++) {
        const size_t n = strlen(others[i]);
        if (key.size >= 5 + n && memcmp(key.data + 5, others[i], n) == 0) return false;
    }
    return true;
}

/* ---- arguments -------------------------------------------------------------------------------------------------- */

bool nnb_out_of_range(xir_node *at, const char *argument, int64_t found) {
    char where[60];
    snprintf(where, sizeof where, "argument/%s", argument);
    return xir_node_invalid(at, XIR_E_BOUNDS, where, "%s is out of range: found %lld", argument, (long long)found);
}

bool nnb_base(xir_node *at, const xir_value *x, size_t *out) {
    *out = 0;
    if (xir_node_failed(at) || !x) return false;
    const int64_t rank = (int64_t)v_rank(x), axis = xir_node_int(at, "base_axis", 1);
    if (axis < -rank || axis > rank) return nnb_out_of_range(at, "base_axis", axis);
    *out = (size_t)(axis < 0 ? axis + rank : axis);
    return true;
}

bool nnb_axes(xir_node *at, const char *name, const xir_value *x, xir_ints *out) {
    char where[60];
    xir_ints list;
    *out = (xir_ints){ NULL, 0 };
    if (xir_node_failed(at) || !x) return false;
    const size_t rank = v_rank(x);
    if (!xir_node_items(at, name, &list)) return xir_node_unsupported(at, "%s is missing", name);
    snprintf(where, sizeof where, "argument/%s", name);
    const xir_ints marks = axes_marked(at, where, rank, &list);
    *out = xir_node_make_ints(at, rank, 0);
    if (xir_node_failed(at)) return false;
    out->n = 0;
    for (size_t i = 0; i < rank; i++) if (marks.v[i]) out->v[out->n++] = (int64_t)i;
    return true;
}

xir_ints nnb_other_axes(xir_node *at, const xir_ints *axes, size_t rank) {
    xir_ints others = xir_node_make_ints(at, rank, 0);
    if (!others.v) return others;
    others.n = 0;
    for (size_t i = 0, k = 0; i < rank; i++) {
        if (k < axes->n && axes->v[k] == (int64_t)i) k++;
        else others.v[others.n++] = (int64_t)i;
    }
    return others;
}

bool nnb_list(xir_node *at, const char *name, size_t n, int64_t least, int64_t otherwise, bool empty, xir_ints *out) {
    char where[60];
    snprintf(where, sizeof where, "argument/%s", name);
    const bool has = xir_node_items(at, name, out);
    if (xir_node_failed(at)) return false;
    if (!has || (empty && !out->n)) {
        *out = xir_node_make_ints(at, n, otherwise);
        return out->v;
    }
    if (out->n != n)
        return xir_node_invalid(at, XIR_E_BOUNDS, where, "%s: expected %zu items, found %zu", name, n, out->n);
    for (size_t i = 0; i < n; i++)
        if (out->v[i] < least || out->v[i] > NNB_MOST_DIM) return nnb_out_of_range(at, name, out->v[i]);
    return true;
}

/* ---- operations ------------------------------------------------------------------------------------------------- */

xir_value *nnb_truth(xir_node *at, xir_value *x) {
    return x ? xir_node_make(at, "NotEqual", INS(x, xir_node_scalar(at, v_element(x), 0)), NO_SETS) : NULL;
}

xir_value *nnb_number(xir_node *at, xir_value *truth, const xir_type *element) {
    return truth ? xir_node_cast(at, truth, element) : NULL;
}

xir_value *nnb_index(xir_node *at, xir_value *x) {
    return x ? xir_node_cast(at, x, xir_type_sint(xir_node_context(at), 64)) : NULL;
}

xir_value *nnb_flattened(xir_node *at, xir_value *x, size_t from) {
    if (xir_node_failed(at) || !x || v_rank(x) == from + 1) return x;
    xir_ints dims = xir_node_dims(at, x);
    if (!dims.v || !xir_node_need_dims(at, x, from, SIZE_MAX)) return NULL;
    const int64_t rest = product_of(&dims, from, dims.n);
    if (rest < 0) return xir_node_unsupported(at, "dims whose product exceeds 63 bits"), NULL;
    xir_ints to = xir_node_make_ints(at, from + 1, rest);
    for (size_t i = 0; i < from && to.v; i++) to.v[i] = dims.v[i];
    return to.v ? make_reshaped(at, x, &to) : NULL;
}

xir_value *nnb_normalised(xir_node *at, xir_value *x, const xir_ints *axes, double eps) {
    if (!axes->n) return xir_node_unsupported(at, "statistics of single elements"), NULL;
    return xir_node_make(at, "LayerNorm", INS(x), SETS(LIST("axis", axes), REAL("eps", eps)));
}
