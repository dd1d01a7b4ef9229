/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The way back of Attention, which version 23 has an operator for. The standard was corrected after its first edition:
 * a cap comes before the mask, neighbouring heads of queries share a head of keys, and a query that sees no key gets 0,
 * as in XIR. What the operator does not say exactly becomes a formula (formula/attention.c). */
#include <math.h>
#include "onnx/back.h"

enum { SINCE = 23 };

static int64_t length_of(const xir_value *v) { return v_dim(v, v_rank(v) == 4 ? 2 : 1); }

static bool has_elements(const xir_value *v) {
    for (size_t i = 0; v && i < v_rank(v); i++) if (v_dim(v, i) == 0) return false;
    return true;
}

/* Returns true if a factor above 0 is the same as a float, which attributes are: as exactly as the elements of x. */
static bool fits(const xir_value *x, double factor) {
    const float near = (float)factor;
    return near > 0 && isfinite(near) && (xir_type_storage_bits(v_element(x)) <= 32 || (double)near == factor);
}

/* The mask with 2 or 4 dims, the last two being queries and keys: the operator hides keys that a mask does not have,
 * where XIR's broadcasts. NULL for NULL, and after a failure. */
static xir_value *whole_mask(xir_node *at, xir_value *mask, const xir_value *q, const xir_value *k) {
    const int64_t lengths[] = { length_of(q), length_of(k) };
    bool whole = true;
    while (mask && (v_rank(mask) < 2 || v_rank(mask) == 3)) mask = onnx_unsqueezed(at, mask, 0);
    if (!mask) return NULL;
    const size_t first = v_rank(mask) - 2;
    xir_ints sizes = xir_node_make_ints(at, v_rank(mask), -1);
    for (size_t i = 0; i < 2 && sizes.v; i++) {
        const int64_t dim = v_dim(mask, first + i), length = lengths[i];
        if (dim != -1 && dim == length) continue;
        if (dim != 1 || length < 0) return xir_node_unsupported(at, "a mask of an unknown number of %s",
                                                                i ? "keys" : "queries"), NULL;
        sizes.v[first + i] = length;
        whole = false;
    }
    return whole || !sizes.v ? mask : xir_node_make(at, "Expand", INS(mask), SETS(LIST("sizes", &sizes)));
}

bool onnx_back_attention(xir_node *at) {
    if (onnx_target(at) < SINCE) return xir_node_unsupported(at, "Attention, which needs version %d", SINCE);
    xir_value *q = xir_node_input(at, 0), *k = xir_node_input(at, 1), *v = xir_node_input(at, 2),
              *mask = xir_node_optional_input(at, 3);
    if (xir_node_failed(at)) return false;
    if (!has_elements(q) || !has_elements(k) || !has_elements(v) || !has_elements(mask))
        return xir_node_unsupported(at, "no elements");
    const double cap = xir_node_real(at, "softcap", 0), scale = xir_node_real(at, "scale", 1);
    onnx_form f = { .in = { q, k, v, whole_mask(at, mask, q, k) }, .n_in = 4 };
    if (xir_node_bool(at, "is_causal", false)) f.sets[f.n_sets++] = (xir_set)INT("is_causal", 1);
    if (v_rank(q) == 3) {
        f.sets[f.n_sets++] = (xir_set)INT("q_num_heads", xir_node_int(at, "q_num_heads", 0));
        f.sets[f.n_sets++] = (xir_set)INT("kv_num_heads", xir_node_int(at, "kv_num_heads", 0));
    }
    if (cap != 0) {
        if (!fits(q, cap)) return xir_node_unsupported(at, "a cap that is not a float");
        f.sets[f.n_sets++] = (xir_set)REAL("softcap", cap);
    }
    if (xir_node_attr(at, "scale")) {
        if (!fits(q, scale)) return xir_node_unsupported(at, "a scale that is not a float above 0");
        f.sets[f.n_sets++] = (xir_set)REAL("scale", scale);
    }
    return onnx_becomes(at, onnx_inputs(&f), onnx_sets(&f));
}
