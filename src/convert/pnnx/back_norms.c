/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The way back of normalisations. */
#include <math.h>
#include "pnnx/pnnx.h"
#include "spec/maps.h"
#include "spec/reduction.h"

/* x * factor + addend: statistics 0 and 1 without eps, so that the factor is the weight. */
bool pnnx_back_batch_norm(xir_node *at) {
    xir_value *x = xir_node_input(at, 0), *factor = xir_node_attr_params(at, "variance"),
              *addend = xir_node_attr_params(at, "mean");
    if (xir_node_failed(at) || !factor || !addend) return false;
    const size_t rank = v_rank(x);
    at->order = rank == 2 ? (xir_str){ NULL, 0 } : at->order;
    if (rank != 2) x = row_back_input(at, 0);
    const xir_ints dims = xir_node_dims(at, factor);
    if (dims.n != 1) return xir_node_unsupported(at, "factors of %zu dims", dims.n);
    xir_value *zero = xir_node_filled(at, v_element(factor), &dims, 0), *one =
        xir_node_filled(at, v_element(factor), &dims, 1);
    return row_becomes(at, INS(x, zero, one, factor, addend),
                       SETS(XIR_SETB("affine", true), REAL("eps", 0), INT("num_features", dims.v ? dims.v[0] : 0)));
}

/* Both weights or none, as PyTorch has them. */
static bool both(xir_node *at, xir_value **gamma, xir_value **beta) {
    *gamma = xir_node_attr_params(at, "gamma");
    *beta = xir_node_attr_params(at, "beta");
    xir_value *given = *gamma ? *gamma : *beta;
    if (xir_node_failed(at) || !given) return !xir_node_failed(at);
    const xir_ints dims = xir_node_dims(at, given);
    if (!*gamma) *gamma = xir_node_filled(at, v_element(given), &dims, 1);
    if (!*beta) *beta = xir_node_filled(at, v_element(given), &dims, 0);
    return !xir_node_failed(at);
}

bool pnnx_back_instance_norm(xir_node *at) {
    xir_value *x = row_back_input(at, 0), *gamma, *beta;
    if (!x || !both(at, &gamma, &beta)) return false;
    return row_becomes(at, INS(x, NULL, NULL, gamma, beta),
                       SETS(XIR_SETB("affine", gamma != NULL), INT("num_features", v_dim(x, 1)),
                            XIR_SETB("track_running_stats", false)));
}

bool pnnx_back_group_norm(xir_node *at) {
    xir_value *x = xir_node_input(at, 0), *gamma, *beta;
    if (!x || !both(at, &gamma, &beta)) return false;
    at->order = map_order(v_rank(x));
    x = node_in_order(at, x, at->order);
    if (!x || !at->order.size) return xir_node_unsupported(at, "other dims than those of feature maps");
    return row_becomes(at, INS(x, gamma, beta), SETS(XIR_SETB("affine", gamma != NULL),
                                                     INT("num_channels", v_dim(x, 1))));
}

/* LayerNorm and RMSNorm: PyTorch's are over the last dims; other dims are put there and back. */
bool pnnx_back_layer_norm(xir_node *at) {
    normalisation n;
    xir_value *x = xir_node_input(at, 0), *gamma = NULL, *beta = NULL;
    if (!norm_of_op(at, x, &n)) return false;
    if (n.rms) gamma = n.gamma;
    else if (!both(at, &gamma, &beta)) return false;
    if (!n.ascending) return xir_node_unsupported(at, "dims in another order");
    if (n.open) return xir_node_unsupported(at, "open dims");
    const size_t rank = v_rank(x);
    xir_ints order = xir_node_make_ints(at, rank, 0), back = xir_node_make_ints(at, rank, 0);
    if (xir_node_failed(at)) return false;
    for (size_t i = 0, others = 0, own = 0; i < rank; i++) {
        const bool normal = own < n.axes.n && n.axes.v[own] == (int64_t)i;
        const size_t to = normal ? rank - n.axes.n + own++ : others++;
        order.v[to] = (int64_t)i;
        back.v[i] = (int64_t)to;
    }
    if (gamma) gamma = make_reshaped(at, gamma, &n.dims);
    if (beta) beta = make_reshaped(at, beta, &n.dims);
    const xir_set sets[] = { XIR_SETB("elementwise_affine", gamma != NULL), REAL("eps", n.eps),
                             LIST("normalized_shape", &n.dims) };
    if (n.last) return xir_node_becomes_foreign(at, INS(x, gamma, beta), (xir_sets){ sets, 3 });
    x = xir_node_transposed(at, x, order.v, rank, NULL);
    const xir_type *type = xir_value_type(x);
    xir_op *op = xir_node_make_foreign(at, at->to->row->name, INS(x, gamma, beta), (xir_sets){ sets, 3 }, &type, 1);
    at->main = op;
    return xir_node_result(at, 0, op ? xir_node_transposed(at, xir_op_output(op, 0), back.v, rank, NULL) : NULL);
}

/* One slope for all, or one for each channel, which is dim 1 there. */
bool pnnx_back_prelu(xir_node *at) {
    xir_value *x = xir_node_input(at, 0), *slope = xir_node_attr_params(at, "alpha");
    const xir_ints flat = { (int64_t[]){ -1 }, 1 };
    slope = make_reshaped(at, slope, &flat);
    const int64_t n = v_dim(slope, 0);
    if (n != 1 && v_rank(x) != 2) {
        at->order = map_order(v_rank(x));
        if (!at->order.size) return xir_node_unsupported(at, "slopes of channels of %zu dims", v_rank(x));
        x = node_in_order(at, x, at->order);
    }
    return row_becomes(at, INS(x, slope), SETS(INT("num_parameters", n)));
}

bool pnnx_back_normalize(xir_node *at) {
    xir_ints axes;
    xir_value *x = xir_node_input(at, 0);
    if (!x || !xir_node_items(at, "axis", &axes)) return false;
    if (!axes.n) axes = xir_node_series(at, 0, v_rank(x));
    const double p = xir_node_real(at, "p", 2), eps = xir_node_real(at, "eps", 1e-12);
    if (!(p >= 0.25 && p <= 16)) return xir_node_unsupported(at, "a norm with p = %g, whose powers lose digits", p);
    if (!isfinite(eps)) return xir_node_unsupported(at, "a norm with eps = %g", eps);
    const double least = node_least_real(v_element(x));   /* elements may not have eps, and then a norm of 0 divides */
    const xir_set divisor = REAL("eps", eps > 0 && eps < least ? least : eps);
    return xir_node_becomes_foreign(at, INS(x), SETS(LIST("dim", &axes), divisor, REAL("p", p)));
}
