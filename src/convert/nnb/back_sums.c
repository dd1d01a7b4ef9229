/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The way back of matrix products, reductions and normalisations. Stored weights of Affine are transposed, while their
 * shape is not. */
#include <math.h>
#include "nnb/nnb.h"
#include "spec/one_axis.h"
#include "spec/reduction.h"

/* ---- products --------------------------------------------------------------------------------------------------- */

/* x W + b, with a constant matrix: its bytes are [out][in], its shape is (in, out). */
static bool affine(xir_node *at, xir_value *x, xir_value *w, xir_value *bias) {
    const xir_ints shape = xir_node_dims(at, w);
    w = make_swapped(at, w);
    w = w ? make_reshaped(at, w, &shape) : NULL;
    const int64_t base = (int64_t)v_rank(x) - 1;
    return nnb_calls(at, "nnb::Affine", INS(x, w, bias), SETS(INT("base_axis", base)));
}

/* Operands with the same dims before the last two; those of one that has none, or other ones, are repeated. */
static bool same_batch(xir_node *at, xir_value **x, xir_value **k) {
    const size_t rank = v_rank(*x) > v_rank(*k) ? v_rank(*x) : v_rank(*k);
    xir_value **const both[] = { x, k };
    xir_ints dims[2];
    for (size_t i = 0; i < 2; i++) {
        const xir_value *v = *both[i];
        dims[i] = xir_node_make_ints(at, rank, 1);
        for (size_t d = 0; d < v_rank(v) && dims[i].v; d++) dims[i].v[rank - v_rank(v) + d] = v_dim(v, d);
    }
    if (xir_node_failed(at)) return false;
    xir_ints to[2] = { xir_node_make_ints(at, rank, 1), xir_node_make_ints(at, rank, 1) };
    bool other[2] = { false, false };
    for (size_t d = 0; d < rank && to[0].v && to[1].v; d++) {
        const int64_t m = dims[0].v[d], n = dims[1].v[d];
        to[0].v[d] = d + 2 >= rank ? m : m == 1 ? n : m;
        to[1].v[d] = d + 2 >= rank ? n : n == 1 ? m : n;
        for (size_t i = 0; i < 2; i++) other[i] |= to[i].v[d] != dims[i].v[d];
    }
    for (size_t i = 0; i < 2 && !xir_node_failed(at); i++) {
        if (v_rank(*both[i]) < rank && !other[i]) *both[i] = make_reshaped(at, *both[i], &dims[i]);
        else if (other[i]) *both[i] = xir_node_make(at, "Expand", INS(*both[i]), SETS(LIST("sizes", &to[i])));
    }
    return !xir_node_failed(at) && *x && *k;
}

/* A matrix that meets all of the batch: the batch dims and the rows are one dim. */
static bool of_rows(xir_node *at, xir_value *x, xir_value *k) {
    const xir_ints dims = xir_node_dims(at, x), to = xir_node_dims(at, xir_op_output(at->op, 0));
    const int64_t rows = product_of(&dims, 0, dims.n - 1);
    if (rows < 0) return xir_node_unsupported(at, "open dims");
    x = make_shaped(at, x, (int64_t[]){ rows, dims.v[dims.n - 1] }, 2);
    xir_value *y = x ? xir_node_make(at, "Matmul", INS(x, k), NO_SETS) : NULL;
    return y && xir_node_result(at, 0, make_reshaped(at, y, &to));
}

/* Rows and columns as matrices. */
static bool of_lists(xir_node *at, xir_value *x, xir_value *k) {
    const xir_ints to = xir_node_dims(at, xir_op_output(at->op, 0));
    if (v_rank(x) == 1) x = make_shaped(at, x, (int64_t[]){ 1, v_dim(x, 0) }, 2);
    if (v_rank(k) == 1) k = make_shaped(at, k, (int64_t[]){ v_dim(k, 0), 1 }, 2);
    xir_value *y = x && k ? xir_node_make(at, "Matmul", INS(x, k), NO_SETS) : NULL;
    return y && xir_node_result(at, 0, make_reshaped(at, y, &to));
}

/* For the runtime, whose BatchMatmul adds the product to what the buffer of its output holds: sums of products. */
static bool by_products(xir_node *at, xir_value *x, xir_value *k) {
    const size_t rows = v_rank(x), columns = v_rank(k);
    xir_ints a = xir_node_make_ints(at, rows + 1, 1), b = xir_node_make_ints(at, columns + 1, 1),
             to = xir_node_dims(at, xir_op_output(at->op, 0));
    if (xir_node_failed(at)) return false;
    for (size_t i = 0; i < rows; i++) a.v[i] = v_dim(x, i);                                /* [m, k, 1] */
    for (size_t i = 0; i < columns; i++) b.v[i + (i + 2 >= columns)] = v_dim(k, i);        /* [1, k, n] */
    const int64_t cells = product_of(&to, 0, to.n), depth = a.v[rows - 1];
    if (cells < 0 || cells > NNB_MOST_LISTED || depth > NNB_MOST_LISTED || cells * depth > NNB_MOST_LISTED)
        return xir_node_unsupported(at, "a large product: NNabla's C runtime adds it to what its buffer holds");
    const xir_ints axis = { (int64_t[]){ (int64_t)to.n - 1 }, 1 };
    x = make_reshaped(at, x, &a), k = make_reshaped(at, k, &b);
    return xir_node_result(at, 0, xir_node_reduced(at, "Sum", xir_node_product(at, x, k), &axis, false));
}

bool nnb_back_matmul(xir_node *at) {
    xir_value *x = xir_node_input(at, 0), *k = xir_node_input(at, 1), *bias = xir_node_optional_input(at, 2);
    if (!xir_node_need_dims(at, x, 0, SIZE_MAX) || !xir_node_need_dims(at, k, 0, SIZE_MAX)) return false;
    const bool matrix = xir_value_is_params(k) && v_rank(k) == 2 && v_rank(x) > 1;
    const bool list = bias && xir_value_is_params(bias) && v_rank(bias) == 1;
    if (matrix && (!bias || (list && v_dim(bias, 0) == v_dim(k, 1)))) return affine(at, x, k, bias);
    if (bias && v_rank(bias) > v_rank(xir_op_output(at->op, 0)))
        return xir_node_unsupported(at, "a bias of more dims than the product");
    if (bias) {
        xir_value *y = xir_node_make(at, "Matmul", INS(x, k), NO_SETS);
        return xir_node_result(at, 0, xir_node_sum(at, y, bias, 1, 1));
    }
    if (v_rank(x) == 1 || v_rank(k) == 1) return of_lists(at, x, k);
    if (v_rank(k) == 2 && v_rank(x) > 2) return of_rows(at, x, k);
    if (nnb_for_runtime(at)) return by_products(at, x, k);
    if (!same_batch(at, &x, &k)) return false;
    return nnb_calls(at, "nnb::BatchMatmul", INS(x, k),
                     SETS(XIR_SETB("transpose_a", false), XIR_SETB("transpose_b", false)));
}

/* ---- reductions ------------------------------------------------------------------------------------------------- */

/* Running sums: a product with a triangular matrix. */
bool nnb_back_cumsum(xir_node *at) {
    enum { MOST = 1024 };
    const one_axis a = one_axis_of(at, "attribute/axis", -1);
    const bool exclusive = xir_node_bool(at, "exclusive", false), reverse = xir_node_bool(at, "reverse", false);
    if (a.n < 1 || a.n > MOST) return xir_node_unsupported(at, "running sums of %lld elements", (long long)a.n);
    if (!v_is_real(a.x)) return xir_node_unsupported(at, "sums of integers");
    return xir_node_result(at, 0, make_running_sum(at, a.x, a.axis, exclusive, reverse));
}

/* A tensor without dims is its own sum. */
static bool reduces_nothing(const xir_value *x) { return v_rank(x) == 0; }

/* For the runtime, which has no Mean. */
static bool by_sum(xir_node *at, xir_value *x, const xir_ints *axes) {
    double n = 1;
    if (!xir_node_need_dims(at, x, 0, SIZE_MAX)) return false;
    for (size_t i = 0; i < axes->n; i++) n *= (double)v_dim(x, (size_t)axes->v[i]);
    if (n < 1) return xir_node_unsupported(at, "no elements");
    xir_value *sum = xir_node_reduced(at, "Sum", x, axes, xir_node_bool(at, "keepdim", false));
    return xir_node_result(at, 0, xir_node_scaled(at, sum, 1 / n));
}

bool nnb_back_reduce(xir_node *at) {
    reduction r;
    xir_value *x = xir_node_input(at, 0);
    if (!reduction_of_op(at, x, &r)) return false;
    if (reduces_nothing(x)) return nnb_calls(at, "nnb::Identity", INS(x), NO_SETS);
    if (xir_op_is(at->op, xir_mean_class()) && nnb_for_runtime(at)) return by_sum(at, x, &r.axes);
    return nnb_calls(at, at->to->row->name, INS(x), SETS(LIST("axes", &r.axes), XIR_SETB("keep_dims", r.keep)));
}

/* For the runtime: the greatest of one dim, or of all, as a pool of the whole height of a column. */
static bool by_pool(xir_node *at, xir_value *x, const xir_ints *axes, bool most) {
    const xir_value *old = xir_op_output(at->op, 0);
    const xir_ints dims = xir_node_dims(at, x), to = xir_node_dims(at, old);
    if (!xir_node_need_dims(at, x, 0, SIZE_MAX)) return false;
    const size_t first = (size_t)axes->v[0], end = first + axes->n;
    const int64_t before = product_of(&dims, 0, first), n = product_of(&dims, first, end),
                  after = product_of(&dims, end, dims.n);
    if (before < 1 || n < 1 || after < 1) return xir_node_unsupported(at, "no elements");
    if (!most) x = xir_node_unary(at, "Neg", x);
    x = x ? make_shaped(at, x, (int64_t[]){ 1, before, n, after }, 4) : NULL;
    const xir_ints flat = { (int64_t[]){ 1, before, 1, after }, 4 }, kernel = { (int64_t[]){ n, 1 }, 2 },
                   none = { (int64_t[]){ 0, 0 }, 2 };
    const xir_set sets[] = { LIST("kernel", &kernel), LIST("stride", &kernel), XIR_SETB("ignore_border", true),
                             LIST("pad", &none), XIR_SETB("channel_last", false) };
    xir_value *y = foreign_tensor(at, "nnb::MaxPooling", INS(x), (xir_sets){ sets, nnb_level(at) >= 4 ? 5 : 4 },
                                  v_element(x), &flat);
    if (y && !most) y = xir_node_unary(at, "Neg", y);
    return y && xir_node_result(at, 0, make_reshaped(at, y, &to));
}

/* Max and Min, and the places of the extremes. */
bool nnb_back_extreme(xir_node *at) {
    reduction r;
    xir_value *x = xir_node_input(at, 0);
    if (!reduction_of_op(at, x, &r)) return false;
    if (r.place && r.axes.n != 1) return xir_node_unsupported(at, "the place in several dims");
    if (r.empty) return xir_node_unsupported(at, "an extreme of no elements");
    if (reduces_nothing(x)) return nnb_calls(at, "nnb::Identity", INS(x), NO_SETS);
    if (nnb_for_runtime(at) && !r.place) return by_pool(at, x, &r.axes, r.most);
    const xir_set sets[] = { LIST("axes", &r.axes), XIR_SETB("keep_dims", r.keep),
                             XIR_SETB("with_index", false), XIR_SETB("only_index", r.place) };
    if (r.place && nnb_level(at) < 2) return xir_node_unsupported(at, "places, which need api level 2");
    return nnb_calls(at, r.most ? "nnb::Max" : "nnb::Min", INS(x), (xir_sets){ sets, nnb_level(at) >= 2 ? 4 : 2 });
}

/* ---- normalisations --------------------------------------------------------------------------------------------- */

/* Softmax, and LogSoftmax: for the runtime x less its greatest, less the logarithm of the sum of its powers of e. */
bool nnb_back_softmax(xir_node *at) {
    const one_axis a = one_axis_of(at, "attribute/axis", -1);
    xir_value *x = a.x;
    const bool log = xir_op_is(at->op, xir_log_softmax_class());
    if (!log || !nnb_for_runtime(at)) return nnb_calls(at, at->to->row->name, INS(x), SETS(AXIS("axis", a)));
    const xir_ints axes = { (int64_t[]){ (int64_t)a.axis }, 1 };
    x = xir_node_sum(at, x, xir_node_reduced(at, "Max", x, &axes, true), 1, -1);
    xir_value *sum = xir_node_reduced(at, "Sum", xir_node_unary(at, "Exp", x), &axes, true);
    return xir_node_result(at, 0, xir_node_sum(at, x, xir_node_unary(at, "Log", sum), 1, -1));
}

bool nnb_back_layer_norm(xir_node *at) {
    normalisation n;
    xir_value *x = xir_node_input(at, 0);
    if (nnb_for_runtime(at)) return xir_node_unsupported(at, "NNabla's C runtime has no LayerNormalization");
    if (!norm_of_op(at, x, &n)) return false;
    const xir_ints batch = nnb_other_axes(at, &n.axes, v_rank(x));
    xir_value *in[3] = { x };
    size_t n_in = 1;
    if (n.beta) in[n_in++] = make_reshaped(at, n.beta, &n.spread);
    if (n.gamma) in[n_in++] = make_reshaped(at, n.gamma, &n.spread);
    return !xir_node_failed(at) &&
           nnb_calls(at, "nnb::LayerNormalization", (xir_values){ in, n_in },
                     SETS(LIST("batch_axis", &batch), REAL("eps", n.eps), XIR_SETB("no_scale", !n.gamma),
                          XIR_SETB("no_bias", !n.beta)));
}
