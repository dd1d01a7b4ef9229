/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Reductions and norms: see reduction.h. */
#include <math.h>
#include "spec/maps.h"
#include "spec/one_axis.h"
#include "spec/reduction.h"

/* The numbers of the attribute `dim`: a list, or one. */
static bool named_dims(xir_node *at, xir_ints *out) {
    const xir_any *own = xir_node_attr(at, "dim");
    *out = (xir_ints){ NULL, 0 };
    if (own && own->kind == XIR_ANY_INT) *out = xir_node_make_ints(at, 1, own->as.integer);
    else if (own) (void)xir_node_items(at, "dim", out);
    return !xir_node_failed(at);
}

xir_value *op_of_statistics(xir_node *at, xir_value *x, const channel_statistics *s) {
    static const char *const classes[] = { "BatchNorm1d", "BatchNorm1d", "BatchNorm2d", "BatchNorm3d" };
    if (xir_node_failed(at)) return NULL;
    double *factors = node_reals(at, (int64_t)s->n), *addends = node_reals(at, (int64_t)s->n);
    if (!factors || !addends) return NULL;
    for (size_t i = 0; i < s->n; i++) {
        factors[i] = s->gamma[i] / sqrt(s->variance[i] + s->eps);
        addends[i] = s->beta[i] - s->mean[i] * factors[i];
    }
    const size_t rank = v_rank(x);
    xir_value *factor = xir_node_constant(at, v_element(x), NULL, factors, s->n),
              *addend = xir_node_constant(at, v_element(x), NULL, addends, s->n);
    xir_value *y = xir_node_make(at, classes[rank - 2], INS(rank > 2 ? xir_node_channels_last(at, x) : x),
                                 SETS(OBJ("variance", factor), OBJ("mean", addend)));
    return rank > 2 && y ? xir_node_channels_second(at, y) : y;
}

bool reduction_of_op(xir_node *at, const xir_value *x, reduction *out) {
    xir_ints list;
    if (xir_node_failed(at) || !x || !named_dims(at, &list)) return false;
    const xir_class_decl *decl = at->op->cls->decl;
    const size_t rank = v_rank(x);
    const bool argmax = decl == xir_argmax_class();
    *out = (reduction){ .cls = convert_short_name(at->op->cls).data, .all = !list.n,   /* keys of XIR end in a zero */
                        .keep = xir_node_bool(at, "keepdim", false), .most = argmax || decl == xir_max_class(),
                        .place = argmax || decl == xir_argmin_class(),
                        .axes = xir_node_make_ints(at, rank, 0),
                        .marks = axes_marked(at, "attribute/dim", rank, &list) };
    if (xir_node_failed(at)) return false;
    out->axes.n = 0;
    for (size_t i = 0; i < rank; i++) {
        if (out->all) out->marks.v[i] = 1;
        if (!out->marks.v[i]) continue;
        out->axes.v[out->axes.n++] = (int64_t)i;
        out->empty |= v_dim(x, i) == 0;
    }
    return true;
}

/* Returns true if each axis of the value has a letter. */
static bool is_lettered(const xir_value *x) {
    const xir_layout *layout = xir_type_layout(xir_value_type(x));
    for (size_t i = 0; layout && i < v_rank(x); i++) if (xir_layout_axis(layout, i) == '*') return false;
    return layout;
}

xir_value *mean_of_map(xir_node *at) {
    reduction r;
    int64_t axes[8];
    bool same, whole;
    xir_value *x = xir_node_input(at, 0);
    if (!reduction_of_op(at, x, &r)) return NULL;
    at->order = map_order(v_rank(x));
    whole = r.keep && !r.empty && v_is_real(x) && at->order.size && r.axes.n == at->order.size - 2 && is_lettered(x);
    if (!whole || !node_axes_in(at, x, at->order, axes, &same)) return node_declines(at), NULL;
    for (size_t i = 2; i < at->order.size; i++) whole &= r.marks.v[axes[i]] != 0;
    if (whole && !same) x = back_unturned(at->c, x, axes, at->order.size);
    return whole && x ? x : (node_declines(at), NULL);
}

bool norm_of_op(xir_node *at, const xir_value *x, normalisation *out) {
    if (xir_node_failed(at) || !x) return false;
    const size_t rank = v_rank(x);
    *out = (normalisation){ .rms = xir_op_is(at->op, xir_rms_norm_class()), .eps = xir_node_real(at, "eps", 1e-5),
                   .gamma = xir_node_attr_params(at, "gamma"), .beta = xir_node_attr_params(at, "beta"),
                   .ascending = true, .last = true, .spread = xir_node_make_ints(at, rank, 1) };
    if (!xir_node_items(at, "axis", &out->axes)) return xir_node_unsupported(at, "no axes");
    out->dims = xir_node_make_ints(at, out->axes.n, 0);
    for (size_t i = 0; i < out->dims.n; i++) {
        int64_t *axis = &out->axes.v[i];
        if (!xir_node_axis(at, "attribute/axis", *axis, rank, axis)) return false;
        out->dims.v[i] = out->spread.v[*axis] = v_dim(x, (size_t)*axis);
        out->open |= out->dims.v[i] < 0;
        out->ascending &= !i || *axis > axis[-1];
        out->last &= *axis == (int64_t)(rank - out->axes.n + i);
    }
    return !xir_node_failed(at);
}
