/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A row for each class that a carried value may meet. Its function passes the value on to the outputs, where the lines
 * may lie along another dim, or lets the op's constants take it up. */
#include "fuse/fuse.h"
#include "normalised.h"
#include "products/absorb.h"
#include "support/affine.h"
#include "support/upkeep.h"

enum { MOST_DIMS = 32 };

typedef bool through_fn(absorption *c, const carried *in, xir_op *op, uint32_t at);

static size_t rank_of(const xir_value *v)            { return xir_type_rank(v->type); }
static int64_t dim_of(const xir_value *v, int64_t i) { return xir_type_dim(v->type, i, false); }
static bool is_alone(const xir_op *op)               { return op->n_inputs == 1 && op->n_outputs == 1; }

/* Along the same dim counted from the last one: the op broadcasts to further dims in front. */
static bool aligned(absorption *c, const carried *in, xir_op *op) {
    xir_value *out = xir_op_output(op, 0);
    return absorb_on(c, in, out, in->dim < 0 ? -1 : in->dim + (int64_t)rank_of(out) - (int64_t)rank_of(in->value));
}

/* ---- ops with constants ----------------------------------------------------------------------------------------- */

static bool weights(absorption *c, const carried *in, xir_op *op, uint32_t at) {
    linear l;
    if (at == 0 && linear_of(op, &l)) {
        const bool along = in->dim == linear_dim(&l, in->value->type) && (int64_t)in->n == l.in_channels;
        if (in->dim >= 0 && !along) return false;
        return (lines_add_nothing(c, in) || linear_reads_all(&l)) && absorb_change_weights(c, &l, *in);
    }
    /* A product of two computed matrices is linear in each. */
    return xir_matmul_of(op) && at < 2 && op->n_inputs == 2 && in->dim < 0 && lines_add_nothing(c, in) &&
           xir_matmul_of(op)->cut_scale && !xir_matmul_of(op)->cut_scale->items.size &&
           absorb_on(c, in, xir_op_output(op, 0), -1);
}

/* The lines of a constant that takes up the factors: p = f, or 1 / f of a divisor. */
static bool take_factors(absorption *c, const carried *in, xir_op *op, uint32_t operand, bool divides) {
    carried from = *in;
    if (!absorb_lines(c, in->n, &from.at)) return false;
    for (size_t i = 0; i < in->n; i++) {
        const double f = lines_of(c, in)[i].factor;
        lines_of(c, &from)[i] = (channel_line){ divides ? 1 / f : f, 0 };
    }
    return absorb_change_constant(c, op, operand, from);
}

static bool has_type_of(const xir_op *op, const xir_value *v) {
    return xir_type_equal(xir_op_output(op, 0)->type, v->type);
}

static bool product(absorption *c, const carried *in, xir_op *op, uint32_t at) {
    const xir_value *other = xir_op_input(op, 1 - (int64_t)at);
    if (!fuse_plain_product(op, NULL) || !other || !lines_add_nothing(c, in)) return false;
    if (xir_value_is_params(other)) return has_type_of(op, in->value) && take_factors(c, in, op, 1 - at, false);
    return aligned(c, in, op);
}

static bool quotient(absorption *c, const carried *in, xir_op *op, uint32_t at) {
    const xir_value *other = xir_op_input(op, 1);
    if (at != 0 || !other || xir_div_of(op)->rounding_mode != XIR_ROUNDING_NONE || !lines_add_nothing(c, in))
        return false;
    if (xir_value_is_params(other)) return has_type_of(op, in->value) && take_factors(c, in, op, 1, true);
    return aligned(c, in, op);
}

static bool one_number(xir_refs list, double *out) {
    if (list.size != 1 || !list.data[0]) return false;
    *out = xir_scalar_as_real((const xir_scalar *)list.data[0]);
    return true;
}

/* alpha * (f * x + a) + beta * t = f * (alpha * x + beta * t') with t' = t / f + alpha * a / (beta * f): the sum takes
 * up the addend, and passes the factor on. */
static bool sum(absorption *c, const carried *in, xir_op *op, uint32_t at) {
    const xir_add_attrs *a = xir_add_of(op);
    double mine, others;
    if (!one_number(at ? a->beta : a->alpha, &mine) || !one_number(at ? a->alpha : a->beta, &others)) return false;
    if (!a->cut_scale || a->cut_scale->items.size || others == 0 || !has_type_of(op, in->value)) return false;
    carried constant = *in, rest = *in;
    if (!absorb_lines(c, in->n, &constant.at) || !absorb_lines(c, in->n, &rest.at)) return false;
    for (size_t i = 0; i < in->n; i++) {
        const channel_line line = lines_of(c, in)[i];
        lines_of(c, &constant)[i] = (channel_line){ 1 / line.factor, mine * line.addend / (others * line.factor) };
        lines_of(c, &rest)[i] = (channel_line){ line.factor, 0 };
    }
    if (!absorb_change_constant(c, op, 1 - at, constant)) return false;
    return lines_scale_nothing(c, &rest) || absorb_on(c, &rest, xir_op_output(op, 0), in->dim);
}

/* ---- other arithmetic ------------------------------------------------------------------------------------------- */

static bool factor(absorption *c, const carried *in, xir_op *op, uint32_t at) {
    (void)at;
    const xir_divide_scalar_attrs *by = xir_divide_scalar_of(op);
    return (!by || by->rounding_mode == XIR_ROUNDING_NONE) && lines_add_nothing(c, in) && aligned(c, in, op);
}

static bool reduced(absorption *c, const carried *in, xir_op *op, uint32_t at) {
    const xir_mean_attrs *mean = xir_mean_of(op);
    const xir_sum_attrs *sums = xir_sum_of(op);
    const xir_i64s list = mean ? mean->dim : sums->dim;
    const int64_t rank = (int64_t)rank_of(in->value);
    int64_t before = 0;
    (void)at;
    if (!mean && !lines_add_nothing(c, in)) return false;
    if (in->dim < 0) return absorb_on(c, in, xir_op_output(op, 0), -1);
    if (!list.size) return false;
    for (size_t i = 0; i < list.size; i++) {
        const int64_t dim = from_end(list.data[i], rank);
        if (dim == in->dim) return false;
        before += dim < in->dim;
    }
    return absorb_on(c, in, xir_op_output(op, 0), (mean ? mean->keepdim : sums->keepdim) ? in->dim : in->dim - before);
}

/* Ops on images keep the channels. */
static bool image(absorption *c, const carried *in, xir_op *op, uint32_t at) {
    (void)at;
    if (op->n_inputs != 1 || (in->dim >= 0 && in->dim != channel_dim(in->value->type))) return false;
    return absorb_on(c, in, xir_op_output(op, 0), in->dim);
}

static bool pads_nothing(const xir_op *op) {
    for (uint32_t i = 0; i < op->cls->n_fields; i++) {
        const xir_field *f = &op->cls->fields[i];
        if (f->kind == XIR_KIND_I64 && f->name.size > 4 && memcmp(f->name.data, "pad_", 4) == 0 &&
            *(const int64_t *)body_at(op->attrs, f) != 0) return false;
    }
    return true;
}

/* The mean of a window with addend is the mean plus the addend, unless padding takes part. */
static bool pool(absorption *c, const carried *in, xir_op *op, uint32_t at) {
    int64_t divisor = 0;
    if (!lines_add_nothing(c, in) && (!pads_nothing(op) || xir_op_get_i64(op, "divisor_override", &divisor) != XIR_OK ||
                                      divisor != 0)) return false;
    return image(c, in, op, at);
}

static bool padded(absorption *c, const carried *in, xir_op *op, uint32_t at) {
    const xir_pad_attrs *a = xir_pad_of(op);
    (void)at;
    if (!is_alone(op) || a->padding.size != 2 * rank_of(in->value)) return false;
    if (a->mode == XIR_PAD_CONSTANT && (!lines_add_nothing(c, in) || !a->value || xir_scalar_as_real(a->value) != 0))
        return false;
    if (in->dim >= 0 && (a->padding.data[2 * in->dim] || a->padding.data[2 * in->dim + 1])) return false;
    return absorb_on(c, in, xir_op_output(op, 0), in->dim);
}

/* ---- moves ------------------------------------------------------------------------------------------------------ */

/* The product of dims [from, to); -1 if it is not known. */
static int64_t between(const xir_value *v, int64_t from, int64_t to) {
    int64_t n = 1;
    for (int64_t i = from; i < to; i++) {
        if (dim_of(v, i) < 0 || !mul_i64(n, dim_of(v, i), &n)) return -1;
    }
    return n;
}

/* The dim of the result in which the lines are: as long, and with as many elements after or before it. */
static bool reshaped(absorption *c, const carried *in, xir_op *op, uint32_t at) {
    xir_value *out = xir_op_output(op, 0);
    const int64_t rank = (int64_t)rank_of(in->value), to = (int64_t)rank_of(out);
    (void)at;
    if (!is_alone(op)) return false;
    if (in->dim < 0) return absorb_on(c, in, out, -1);
    const int64_t before = between(in->value, 0, in->dim), after = between(in->value, in->dim + 1, rank);
    for (int64_t i = 0; i < to; i++) {
        if (dim_of(out, i) != (int64_t)in->n) continue;
        if ((after > 0 && between(out, i + 1, to) == after) || (before > 0 && between(out, 0, i) == before))
            return absorb_on(c, in, out, i);
    }
    return false;
}

static bool transposed(absorption *c, const carried *in, xir_op *op, uint32_t at) {
    const xir_i64s dims = xir_transpose_of(op)->dims;
    (void)at;
    if (in->dim < 0) return absorb_on(c, in, xir_op_output(op, 0), -1);
    for (size_t i = 0; i < dims.size; i++) {
        if (from_end(dims.data[i], (int64_t)dims.size) == in->dim)
            return absorb_on(c, in, xir_op_output(op, 0), (int64_t)i);
    }
    return false;
}

static bool sliced(absorption *c, const carried *in, xir_op *op, uint32_t at) {
    const xir_i64s strides = xir_slice_of(op)->stride;
    (void)at;
    if (!is_alone(op) || strides.size != rank_of(in->value)) return false;
    return (in->dim < 0 || strides.data[in->dim] == 1) && absorb_on(c, in, xir_op_output(op, 0), in->dim);
}

static bool split(absorption *c, const carried *in, xir_op *op, uint32_t at) {
    const xir_split_attrs *a = xir_split_of(op);
    const bool along = in->dim >= 0 && from_end(a->axis, (int64_t)rank_of(in->value)) == in->dim;
    size_t from = in->at;
    (void)at;
    if (op->n_outputs > ABSORB_STEPS || a->sections.size != op->n_outputs) return false;
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        const size_t n = along ? (size_t)a->sections.data[i] : in->n;
        if (along && (a->sections.data[i] < 1 || from + n > in->at + in->n)) return false;
        if (!absorb_new(c, xir_op_output(op, i), in->dim, n, from)) return false;
        from += along ? n : 0;
    }
    return true;
}

static bool unstacked(absorption *c, const carried *in, xir_op *op, uint32_t at) {
    const int64_t dim = from_end(xir_unstack_of(op)->dim, (int64_t)rank_of(in->value));
    (void)at;
    if (op->n_outputs > ABSORB_STEPS || in->dim == dim) return false;
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        if (!absorb_on(c, in, xir_op_output(op, i), in->dim - (in->dim > dim))) return false;
    }
    return true;
}

/* The parts of the other inputs are multiplied by 1. */
static bool joined(absorption *c, const carried *in, xir_op *op, uint32_t at) {
    xir_value *out = xir_op_output(op, 0);
    const int64_t axis = from_end(xir_concat_of(op)->axis, (int64_t)rank_of(out)), n = dim_of(out, axis);
    int64_t before = 0;
    size_t lines;
    if (op->n_inputs > ABSORB_INPUTS || n < 1 || n > ABSORB_LINES || (in->dim >= 0 && in->dim != axis)) return false;
    for (uint32_t i = 0; i < at; i++) {
        const xir_value *part = xir_op_input(op, i);
        if (!part || dim_of(part, axis) < 0) return false;
        before += dim_of(part, axis);
    }
    const int64_t own = dim_of(in->value, axis);
    if (own < 1 || before > n - own || !absorb_lines(c, (size_t)n, &lines)) return false;
    for (int64_t i = 0; i < n; i++) {
        const bool inside = i >= before && i < before + own;
        c->lines[lines + (size_t)i] = inside ? lines_of(c, in)[in->n == 1 ? 0 : i - before] : (channel_line){ 1, 0 };
    }
    return absorb_new(c, out, axis, (size_t)n, lines);
}

static bool gathered(absorption *c, const carried *in, xir_op *op, uint32_t at) {
    const xir_value *indices = xir_op_input(op, 1);
    const int64_t axis = from_end(xir_gather_of(op)->axis, (int64_t)rank_of(in->value));
    if (at != 0 || !indices || in->dim == axis) return false;
    return absorb_on(c, in, xir_op_output(op, 0), in->dim < axis ? in->dim : in->dim - 1 + (int64_t)rank_of(indices));
}

static bool repeated(absorption *c, const carried *in, xir_op *op, uint32_t at) {
    (void)at;
    return is_alone(op) && aligned(c, in, op);
}

/* Moves within dims: not along that of the lines. */
static bool swapped(absorption *c, const carried *in, xir_op *op, uint32_t at) {
    (void)at;
    const int64_t axis = from_end(xir_swap_order_of(op)->axis, (int64_t)rank_of(in->value));
    return in->dim != axis && absorb_on(c, in, xir_op_output(op, 0), in->dim);
}

static bool rolled(absorption *c, const carried *in, xir_op *op, uint32_t at) {
    const xir_i64s dims = xir_roll_of(op)->dims;
    (void)at;
    for (size_t i = 0; i < dims.size && in->dim >= 0; i++) {
        if (from_end(dims.data[i], (int64_t)rank_of(in->value)) == in->dim) return false;
    }
    return (in->dim < 0 || dims.size) && absorb_on(c, in, xir_op_output(op, 0), in->dim);
}

static bool shuffled(absorption *c, const carried *in, xir_op *op, uint32_t at) {
    (void)at;
    return in->dim < 0 && absorb_on(c, in, xir_op_output(op, 0), -1);
}

/* ---- the table -------------------------------------------------------------------------------------------------- */

static const struct { xir_pattern_class *of; through_fn *through; } rows[] = {
    { xir_conv2d_class,           weights    },
    { xir_multiply_class,         product    },
    { xir_add_class,              sum        },
    { xir_matmul_class,           weights    },
    { xir_conv1d_class,           weights    },
    { xir_conv3d_class,           weights    },
    { xir_conv_transpose1d_class, weights    },
    { xir_conv_transpose2d_class, weights    },
    { xir_conv_transpose3d_class, weights    },
    { xir_div_class,              quotient   },
    { xir_divide_scalar_class,    factor     },
    { xir_neg_class,              factor     },
    { xir_copy_class,             repeated   },
    { xir_mean_class,             reduced    },
    { xir_sum_class,              reduced    },
    { xir_avg_pool1d_class,       pool       },
    { xir_avg_pool2d_class,       pool       },
    { xir_avg_pool3d_class,       pool       },
    { xir_resize_class,           image      },
    { xir_upsample_class,         image      },
    { xir_pad_class,              padded     },
    { xir_reshape_class,          reshaped   },
    { xir_squeeze_class,          reshaped   },
    { xir_transpose_class,        transposed },
    { xir_slice_class,            sliced     },
    { xir_split_class,            split      },
    { xir_unstack_class,          unstacked  },
    { xir_concat_class,           joined     },
    { xir_gather_class,           gathered   },
    { xir_expand_class,           repeated   },
    { xir_tile_class,             repeated   },
    { xir_swap_order_class,       swapped    },
    { xir_roll_class,             rolled     },
    { xir_channel_shuffle_class,  shuffled   },
    { xir_pixel_shuffle_class,    shuffled   },
};

/* NULL: the class has no row. */
static through_fn *through_of(const xir_op *op) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (op->cls->decl == rows[i].of()) return rows[i].through;
    }
    return NULL;
}

bool absorb_through(absorption *c, const carried *in, xir_op *op, uint32_t at) {
    through_fn *through = through_of(op);
    return through && op->n_outputs && (through == weights || !op_has_normalised(op)) && through(c, in, op, at);
}

bool absorb_may(const xir_value *v) {
    size_t n = 0;
    if (!v) return false;    // the op has lost its output
    for (const xir_use *u = v->uses; u && n <= ABSORB_STEPS; u = u->next, n++) {
        if (!through_of(u->user)) return false;
    }
    return n && n <= ABSORB_STEPS;
}
