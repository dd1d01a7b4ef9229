/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The pass `fold-batchnorm`: a factor and an addend for each channel, before or after a convolution or a product with a
 * constant matrix, become part of its weights and bias. Exact except for rounding: weights are computed in double and
 * rounded once. If two transposes that undo each other stand between, as a conversion leaves them, they are removed
 * too.
 *
 * After: output channel c is multiplied by f[c], so all weights of this output are, and the bias becomes bias * f + a.
 * Before: weights that read channel c are multiplied by f[c], and the bias gains the sum of a[c] * weights. That is
 * only correct if each output reads all its weights: so not with zero padding, and not in transposed convolutions. A
 * single number for all channels stays where it is: it is usually the end of an activation, and `fuse` needs the whole
 * activation.
 *
 * Factors and addends apply to floats. The other side of the convolution may be a feature map in normalised numbers,
 * for which its weights are stored. The weights are multiplied all the same, because the op is linear in each
 * operand. */
#include "support/affine.h"
#include "manager/pass.h"
#include "pattern/pattern.h"
#include "types.h"

/* ---- ops with weights ------------------------------------------------------------------------------------------- */

/* An op that sums weights * input for each output channel. Its weights are read as a row-major tensor with an input dim
 * and an output dim. */
typedef struct linear {
    xir_op     *op;
    xir_value  *weights, *bias;       /* bias may be NULL */
    element_format form, bias_form;
    bool        transposed, matmul;
    int64_t     groups, count;        /* count: number of weights */
    int64_t     in_dim, in_step;      /* size and stride, in elements, of the two dims */
    int64_t     out_dim, out_step;
    int64_t     in_channels, out_channels;
} linear;

static bool has_bytes(const xir_value *v, int64_t *count) {
    uint64_t size, need;
    if (!value_is_constant(v) || !xir_type_as_tensor(v->type)) return false;
    return xir_type_elements(v->type, count) == XIR_OK && xir_type_bytes(v->type, &need) == XIR_OK &&
           xir_params_data(v, &size) && size == need;
}

/* Tiled layouts and padded channels belong to a back end. */
static bool is_plain(const xir_type *type) {
    const xir_tensor_type *tensor = xir_type_as_tensor(type);
    return tensor && !tensor->merged_distrs.size && !xir_type_is_layouted(type);
}

static int64_t step_of(const xir_type *type, int64_t dim) {
    int64_t step = 1;
    for (int64_t i = (int64_t)xir_type_rank(type) - 1; i > dim; i--) step *= xir_type_dim(type, i, false);
    return step;
}

/* A bias has one number per output channel. The bias of Matmul may also be one number for all channels, because it
 * broadcasts. */
static bool read_bias(linear *l) {
    int64_t n, rank = l->bias ? (int64_t)xir_type_rank(l->bias->type) : 0;
    if (!l->bias) return true;
    l->bias_form = element_format_of(l->bias->type);
    if (!has_bytes(l->bias, &n) || !is_plain(l->bias->type) || !element_is_float(l->bias_form)) return false;
    if (l->matmul && n == 1) return true;
    return n == l->out_channels && (!l->matmul || xir_type_dim(l->bias->type, rank - 1, false) == n);
}

static bool is_requantised(const xir_op *op) {
    xir_attr scales;
    return xir_op_get(op, XIR_STR("cut_scale"), &scales) == XIR_OK && scales.as.ref &&
           ((const xir_scales *)scales.as.ref)->items.size;
}

static bool linear_of(xir_op *op, linear *l) {
    xir_attr groups = { .as.i64 = 1 };
    *l = (linear){ .op = op, .weights = xir_op_input(op, 1), .bias = xir_op_input(op, 2),
                   .matmul = xir_op_is(op, xir_matmul_class()) };
    if (op->n_outputs != 1 || !is_plain(op_outputs(op)[0].type) || is_requantised(op) ||
        !target_is_host(op_target(op))) return false;
    if (!has_bytes(l->weights, &l->count) || l->count == 0 || !is_plain(l->weights->type)) return false;
    const xir_type *type = l->weights->type;
    if (!element_is_float(l->form = element_format_of(type))) return false;
    int64_t rank = (int64_t)xir_type_rank(type), in = rank - 2, out = rank - 1;
    if (!l->matmul) {
        in = xir_layout_index(xir_type_layout(type), 'I');
        out = xir_layout_index(xir_type_layout(type), 'O');
        if (xir_op_get(op, XIR_STR("groups"), &groups) != XIR_OK || groups.as.i64 < 1) return false;
        l->transposed = xir_class_field(op->cls, XIR_STR("padding_mode")) == NULL;
    }
    if (in < 0 || out < 0 || in >= rank || out >= rank) return false;
    l->groups = groups.as.i64;
    l->in_dim = xir_type_dim(type, in, false);
    l->in_step = step_of(type, in);
    l->out_dim = xir_type_dim(type, out, false);
    l->out_step = step_of(type, out);
    l->in_channels = l->transposed ? l->in_dim : l->in_dim * l->groups;
    l->out_channels = l->transposed ? l->out_dim * l->groups : l->out_dim;
    return (l->transposed ? l->in_dim : l->out_dim) % l->groups == 0 && read_bias(l);
}

static double bias_at(const linear *l, size_t c) {
    int64_t n;
    if (!l->bias) return 0;
    xir_type_elements(l->bias->type, &n);
    return element_real(l->bias_form, xir_params_data(l->bias, NULL), n == 1 ? 0 : c);
}

/* Whether every output reads all its weights: no input element is a zero of the padding. */
static bool reads_all(const linear *l) {
    xir_attr a;
    if (l->matmul) return xir_type_rank(l->weights->type) == 2;
    if (l->transposed) return false;
    if (xir_op_get(l->op, XIR_STR("padding_mode"), &a) == XIR_OK && a.as.enumerator != XIR_PADDING_ZEROS) return true;
    for (uint32_t i = 0; i < l->op->cls->n_fields; i++) {
        const xir_field *f = &l->op->cls->fields[i];
        if (f->kind != XIR_KIND_I64 || f->name.size < 4 || memcmp(f->name.data, "pad_", 4) != 0) continue;
        if (*(const int64_t *)body_at(l->op->attrs, f) > 0) return false;
    }
    return true;
}

/* ---- new constants ---------------------------------------------------------------------------------------------- */

/* A writable copy of Params under their name; if others use them too, the name of the op is appended. */
static xir_value *copy_params(const xir_value *from, const xir_op *op) {
    uint64_t size;
    const void *bytes = xir_params_data(from, &size);
    xir_str name = xir_value_name(from), by = xir_op_name(op);
    char both[200];
    if (from->uses && from->uses->next && name.size && by.size && name.size + by.size + 1 < sizeof both) {
        memcpy(both, name.data, name.size);
        both[name.size] = '/';
        memcpy(both + name.size + 1, by.data, by.size);
        name = (xir_str){ both, name.size + by.size + 1 };
    }
    return xir_params_copy(op->net, name, from->type, bytes, size);
}

/* A bias with one number per output channel, like the existing one if that has as many. */
static xir_value *make_bias(const linear *l) {
    int64_t n = 0;
    if (l->bias) xir_type_elements(l->bias->type, &n);
    if (l->bias && n == l->out_channels) return copy_params(l->bias, l->op);
    xir_network *net = l->op->net;
    xir_str by = xir_op_name(l->op);
    char name[200] = "";
    if (by.size && by.size + 6 < sizeof name) {
        memcpy(name, by.data, by.size);
        memcpy(name + by.size, ".bias", 6);
    }
    const xir_type *element = xir_type_element(l->bias ? l->bias->type : l->weights->type);
    const xir_type *type = xir_type_tensor(net->ctx, element, NULL, &l->out_channels, 1);
    xir_value *bias = type ? xir_params_new(net, xir_str_of(name), type) : NULL;
    uint64_t size;
    if (!bias || xir_type_bytes(type, &size) != XIR_OK) return NULL;
    void *zeros = mem_new(&net->alloc, size);
    if (!zeros) {
        net_no_memory(net);
        return NULL;
    }
    memset(zeros, 0, size);
    xir_status status = xir_params_set_copy(bias, zeros, size);
    mem_free(&net->alloc, zeros, size);
    return status ? NULL : bias;
}

/* A position along one dim of a row-major tensor, moved one element at a time. */
typedef struct counter { int64_t at, dim, left, step; } counter;

static inline void count_on(counter *c) {
    if (--c->left) return;
    c->left = c->step;
    if (++c->at == c->dim) c->at = 0;
}

/* Writes each weight, multiplied by the factor of its output or input channel, to `w` (NULL: does not write). Adds to
 * sums[out] the contribution of the addends. */
static void scale_weights(const linear *l, void *w, bool after, const double *factors, const double *addends,
                          double *sums) {
    counter i = { 0, l->in_dim, l->in_step, l->in_step }, o = { 0, l->out_dim, l->out_step, l->out_step };
    const void *read = xir_params_data(l->weights, NULL);
    int64_t group_size = (l->transposed ? l->in_dim : l->out_dim) / l->groups;
    for (int64_t k = 0; k < l->count; k++, count_on(&i), count_on(&o)) {
        int64_t group = l->groups == 1 ? 0 : (l->transposed ? i.at : o.at) / group_size;
        int64_t in = l->transposed ? i.at : group * l->in_dim + i.at,
                out = l->transposed ? group * l->out_dim + o.at : o.at;
        double x = element_real(l->form, read, (size_t)k);
        if (w) element_put_real(l->form, w, (size_t)k, x * factors[after ? out : in]);
        if (!after) sums[out] += x * addends[in];
    }
}

/* Gives the op its new operands: weights, a bias if one exists or is needed, and the input. On failure the op is
 * unchanged. */
static xir_status refit(const linear *l, const affine *a, bool after, xir_value *input) {
    xir_network *net = l->op->net;
    size_t n = (size_t)(after ? l->out_channels : l->in_channels), n_out = (size_t)l->out_channels;
    bool needs_bias = l->bias || !affine_adds_nothing(a, (int64_t)n), scales = !affine_scales_nothing(a, (int64_t)n);
    xir_value *weights = scales ? copy_params(l->weights, l->op) : l->weights;
    xir_value *bias = weights && needs_bias ? make_bias(l) : NULL;
    void *w = scales && weights ? xir_params_edit(weights) : NULL, *b = bias ? xir_params_edit(bias) : NULL;
    size_t size = (2 * n + n_out) * sizeof(double);
    double *factors = mem_new(&net->alloc, size);
    if ((scales && !w) || (needs_bias && !b) || !factors) {
        mem_free(&net->alloc, factors, size);
        return net_no_memory(net);
    }
    double *addends = factors + n, *sums = addends + n;
    for (size_t c = 0; c < n; c++) {
        factors[c] = affine_factor(a, c);
        addends[c] = affine_addend(a, c);
    }
    for (size_t c = 0; c < n_out; c++) sums[c] = after ? bias_at(l, c) * factors[c] + addends[c] : bias_at(l, c);
    if (!after || scales) scale_weights(l, w, after, factors, addends, sums);
    for (size_t c = 0; c < n_out && needs_bias; c++) element_put_real(element_format_of(bias->type), b, c, sums[c]);
    mem_free(&net->alloc, factors, size);
    xir_value *inputs[3] = { input, weights, bias };
    return xir_op_set_inputs(l->op, inputs, bias ? 3 : 2);
}

/* ---- patterns --------------------------------------------------------------------------------------------------- */

#define LINEAR \
    XIR_ROW_OP(xir_conv1d_class, xir_conv2d_class, xir_conv3d_class, xir_conv_transpose1d_class, \
               xir_conv_transpose2d_class, xir_conv_transpose3d_class, xir_matmul_class)
#define AFFINE \
    XIR_ROW_OP(xir_batch_norm1d_class, xir_batch_norm2d_class, xir_batch_norm3d_class, xir_multiply_class, \
               xir_add_class, xir_div_class, xir_divide_scalar_class)
#define TRANSPOSE XIR_ROW_OP(xir_transpose_class)

/* Both patterns have a row for the first op, whatever it is, so that their row numbers agree. */
enum { X, WEIGHTS, BIAS, CONSTANT, FIRST, THERE, BACK, BETWEEN, LAST };

static const xir_pattern_row after_rows[] = {
    [X]        = { XIR_ROW_ANY },
    [WEIGHTS]  = { XIR_ROW_PARAMS },
    [BIAS]     = { XIR_ROW_PARAMS, .optional = true },
    [CONSTANT] = { XIR_ROW_PARAMS, .optional = true },
    [FIRST]    = { LINEAR, XIR_ROW_INPUTS(X, WEIGHTS, BIAS) },
    [THERE]    = { TRANSPOSE, XIR_ROW_INPUTS(FIRST) },
    [BACK]     = { TRANSPOSE, XIR_ROW_INPUTS(THERE) },
    [BETWEEN]  = { XIR_ROW_EITHER(FIRST, BACK) },
    [LAST]     = { AFFINE, XIR_ROW_INPUTS(BETWEEN, CONSTANT), .commutes = true },
};
static const xir_pattern_row before_rows[] = {
    [X]        = { XIR_ROW_ANY },
    [WEIGHTS]  = { XIR_ROW_PARAMS },
    [BIAS]     = { XIR_ROW_PARAMS, .optional = true },
    [CONSTANT] = { XIR_ROW_PARAMS, .optional = true },
    [FIRST]    = { AFFINE, XIR_ROW_INPUTS(X, CONSTANT), .commutes = true },
    [THERE]    = { TRANSPOSE, XIR_ROW_INPUTS(FIRST) },
    [BACK]     = { TRANSPOSE, XIR_ROW_INPUTS(THERE) },
    [BETWEEN]  = { XIR_ROW_EITHER(FIRST, BACK) },
    [LAST]     = { LINEAR, XIR_ROW_INPUTS(BETWEEN, WEIGHTS, BIAS) },
};

/* Whether the transposes between, if any, undo each other. A transpose to another element type converts. */
static bool comes_back(const xir_match *m) {
    if (!xir_match_op(m, THERE)) return true;
    const xir_type *from = xir_type_element(xir_match_value(m, FIRST)->type),
                    *to = xir_type_element(xir_match_value(m, THERE)->type);
    if (!xir_type_equal(from, to)) return false;
    xir_i64s there = xir_transpose_of(xir_match_op(m, THERE))->dims,
             back = xir_transpose_of(xir_match_op(m, BACK))->dims;
    int64_t rank = (int64_t)there.size;
    for (int64_t i = 0; i < rank && (int64_t)back.size == rank; i++) {
        int64_t at = back.data[i] < 0 ? back.data[i] + rank : back.data[i];
        if (at < 0 || at >= rank || (there.data[at] != i && there.data[at] + rank != i)) return false;
    }
    return back.size == there.size &&
           xir_type_equal(xir_match_value(m, FIRST)->type, xir_match_value(m, BETWEEN)->type);
}

static bool read_after(const xir_match *m, linear *l, affine *a) {
    xir_op *first = xir_match_op(m, FIRST), *last = xir_match_op(m, LAST);
    if (!linear_of(first, l) || !target_is_host(op_target(last)) || !comes_back(m)) return false;
    const xir_type *type = op_outputs(first)[0].type;
    int64_t dim = l->matmul ? (int64_t)xir_type_rank(type) - 1 : channel_dim(type);
    return dim >= 0 && xir_type_dim(type, dim, false) == l->out_channels &&
           affine_of(last, xir_match_value(m, BETWEEN), dim, l->out_channels, a);
}

static bool read_before(const xir_match *m, linear *l, affine *a) {
    xir_op *first = xir_match_op(m, FIRST), *last = xir_match_op(m, LAST);
    const xir_value *x = xir_match_value(m, X);
    if (value_op(x) == first) return false;   /* it reads itself: its readers would still read it */
    if (!linear_of(last, l) || !target_is_host(op_target(first)) || !is_plain(x->type)) return false;
    int64_t dim = l->matmul ? (int64_t)xir_type_rank(x->type) - 1 : channel_dim(x->type);
    return dim >= 0 && comes_back(m) && xir_type_dim(x->type, dim, false) == l->in_channels &&
           affine_of(first, x, dim, l->in_channels, a) && !a->uniform &&
           (affine_adds_nothing(a, l->in_channels) || reads_all(l));
}

static bool may_fold_after(const xir_match *m, void *user) {
    linear l;
    affine a;
    return (void)user, read_after(m, &l, &a);
}

static bool may_fold_before(const xir_match *m, void *user) {
    linear l;
    affine a;
    return (void)user, read_before(m, &l, &a);
}

static const xir_pattern_decl after = {
    XIR_PATTERN_HEAD("batchnorm-after", after_rows), .closed = true, .check = may_fold_after,
};
static const xir_pattern_decl before = {
    XIR_PATTERN_HEAD("batchnorm-before", before_rows), .closed = true, .check = may_fold_before,
};

static xir_verdict fold_after(xir_rewriter *at, const xir_match *m, const void *user) {
    (void)at, (void)user;
    linear l;
    affine a;
    if (!read_after(m, &l, &a)) return XIR_REWRITE_LEFT;
    return refit(&l, &a, true, xir_match_value(m, X)) ? XIR_REWRITE_FAILED
           : xir_match_replace(m, xir_match_value(m, FIRST));
}

static xir_verdict fold_before(xir_rewriter *at, const xir_match *m, const void *user) {
    (void)at, (void)user;
    linear l;
    affine a;
    if (!read_before(m, &l, &a)) return XIR_REWRITE_LEFT;
    return refit(&l, &a, false, xir_match_value(m, X)) ? XIR_REWRITE_FAILED
           : xir_match_replace(m, xir_match_value(m, LAST));
}

/* ---- the pass --------------------------------------------------------------------------------------------------- */

static xir_status run(xir_pass *at) {
    xir_context *ctx = xir_pass_context(at);
    xir_diags *why = xir_pass_diags(at);
    xir_pattern *one = xir_pattern_new(ctx, &after, why), *two = one ? xir_pattern_new(ctx, &before, why) : NULL;
    const xir_rule rules[] = { { one, fold_after, NULL }, { two, fold_before, NULL } };
    size_t changes = 0;
    xir_status status = two ? xir_network_rewrite(xir_pass_network(at), rules, 2, sizeof *rules, 0, &changes,
                                                  why) : XIR_E_MEMORY;
    xir_pattern_free(one);
    xir_pattern_free(two);
    xir_pass_changed(at, changes);
    return status;
}

const xir_pass_decl pass_fold_batchnorm = {
    XIR_PASS_HEAD("fold-batchnorm", "folds BatchNorm and constants per channel into adjacent weights"),
    .level = XIR_LEVEL_FAST,
    .run = run,
};
