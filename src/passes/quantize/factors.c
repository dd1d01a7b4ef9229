/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The constants of ops whose maps hold x / N, by the NORMALISED rows (docs/executor.md). Add multiplies each map by
 * alpha * Nx / Nz and adds c / Nz; Multiply has a constant c * Nx / Nz or, of two maps, a cut_scale; the factors of
 * BatchNorm contain Nx / Nz, its addends 1 / Nz; a padding value is divided by N. An op of the kind EVEN has the same
 * ratios on all sides, and so have the parts of a Split. */
#include <xir/ops.h>
#include "class_normalised.h"
#include "factors.h"
#include "support/upkeep.h"

int64_t last_dim(const xir_type *type) {
    const int64_t rank = (int64_t)xir_type_rank(type);
    return rank ? xir_type_dim(type, rank - 1, false) : 1;
}

size_t elements_after_dim(const xir_type *type, int64_t dim) {
    size_t n = 1;
    for (int64_t k = dim + 1; k < (int64_t)xir_type_rank(type); k++) n *= (size_t)xir_type_dim(type, k, false);
    return n;
}

static bool is_batch_norm(const xir_op *op) {
    return xir_op_is(op, xir_batch_norm1d_class()) || xir_op_is(op, xir_batch_norm2d_class()) ||
           xir_op_is(op, xir_batch_norm3d_class());
}

/* ---- factors ----------------------------------------------------------------------------------------------------- */

/* N of channel i by what the constants contain. */
static double factor_at(const quantizing *q, const xir_value *v, size_t i) {
    const map_channels *c = ratios_of(&q->plan, v);
    return c && c->n ? ratio_at(&q->plan, v, i) / q->plan.before[c->first + i % c->n] : 1;
}

bool factors_matter(const quantizing *q, const xir_value *v) {
    const map_channels *c = ratios_of(&q->plan, v);
    for (size_t i = 0; c && i < c->n; i++)
        if (factor_at(q, v, i) != 1) return true;
    return false;
}

/* The factors of a value, *n of them: one if all are equal. The caller frees the memory. NULL without memory. */
static double *factors_of(const quantizing *q, const xir_value *v, size_t *n) {
    const map_channels *c = ratios_of(&q->plan, v);
    *n = c && c->n && !ratios_are_even(&q->plan, v) ? c->n : 1;
    double *out = mem_new(&q->net->alloc, *n * sizeof *out);
    for (size_t i = 0; i < *n && out; i++) out[i] = factor_at(q, v, i);
    return out;
}

xir_status factors_along(const quantizing *q, const xir_value *of, int64_t dim, const xir_value *v,
                         constant_ratios *out) {
    out->of = factors_of(q, v, &out->n);
    if (!out->of) return XIR_E_MEMORY;
    out->rule = (channel_rule){ .inner = 1, .n = 1 };
    if (out->n == 1 || dim < 0) return XIR_OK;
    out->rule = (channel_rule){ .inner = elements_after_dim(of->type, dim),
                                .n = (size_t)xir_type_dim(of->type, dim, false) };
    return XIR_OK;
}

/* ---- may they be applied? ---------------------------------------------------------------------------------------- */

static bool add_fits(const quantizing *q, const xir_op *op) {
    const xir_add_attrs *a = xir_add_of(op);
    const size_t n = (size_t)last_dim(xir_op_output(op, 0)->type);
    if (!q->again && xir_scales_count(a->cut_scale)) return false;
    for (uint32_t i = 0; i < 2; i++)
        if (!is_stored(xir_op_input(op, i)) && !is_constant(xir_op_input(op, i))) return false;
    return (a->alpha.size == 1 || a->alpha.size == n) && (a->beta.size == 1 || a->beta.size == n);
}

static bool multiply_fits(const quantizing *q, const xir_op *op) {
    const xir_value *x = xir_op_input(op, 0), *y = xir_op_input(op, 1);
    if (!q->again && xir_scales_count(xir_multiply_of(op)->cut_scale)) return false;
    return (is_stored(x) && (is_stored(y) || is_constant(y))) || (is_constant(x) && is_stored(y));
}

static bool batch_norm_fits(const xir_op *op) {
    xir_attr variance, mean;
    return xir_op_get(op, XIR_STR("variance"), &variance) == XIR_OK && is_constant(variance.as.params) &&
           xir_op_get(op, XIR_STR("mean"), &mean) == XIR_OK && is_constant(mean.as.params);
}

bool factors_fit(const quantizing *q, const xir_op *op) {
    const class_normalised *row = op->cls->more->normalised;
    if (is_product(op)) return product_factors_fit(q, op);
    if (xir_op_is(op, xir_add_class())) return add_fits(q, op);
    if (xir_op_is(op, xir_multiply_class())) return multiply_fits(q, op);
    if (is_batch_norm(op)) return batch_norm_fits(op);
    if (!row) return false;
    const bool known = xir_op_is(op, xir_relu_class()) || xir_op_is(op, xir_prelu_class()) ||
                       xir_op_is(op, xir_pad_class());
    return row->kind == NORMALISED_REAL || (row->kind == NORMALISED_EVEN && known);
}

/* ---- which channels are joined ----------------------------------------------------------------------------------- */

void even_unless_last(quantizing *q, const xir_value *v, int64_t n) {
    const map_channels *c = ratios_of(&q->plan, v);
    if (c && c->n > 1 && (c->axis != -1 || c->n != n)) ratios_even(&q->plan, v);
}

/* Two operands, broadcast, and a result with channels along its last dim. */
static void join_pair(quantizing *q, const xir_op *op, bool channels_last, bool scales) {
    const xir_value *z = xir_op_output(op, 0);
    const int64_t n = last_dim(z->type);
    bool even = !channels_last;
    for (uint32_t i = 0; i < 2; i++) {
        const xir_value *v = xir_op_input(op, i);
        if (is_stored(v)) even_unless_last(q, v, n);
        else even |= last_dim(v->type) != n;   /* one constant for all channels */
    }
    even |= scales && is_stored(xir_op_input(op, 0)) && is_stored(xir_op_input(op, 1)) && !q->real_maps;
    for (uint32_t i = 0; i < 2 && even; i++) ratios_even(&q->plan, xir_op_input(op, i));
    if (even) ratios_even(&q->plan, z);
    else even_unless_last(q, z, n);
}

/* Returns true if the last dim has the channels: the letter C, O or I of the layout says which, otherwise it is. */
static bool has_channels_last(const xir_type *type, const char *letters) {
    const int64_t rank = (int64_t)xir_type_rank(type);
    for (; *letters; letters++) {
        const int64_t dim = xir_layout_index(xir_type_layout(type), *letters);
        if (dim >= 0 && dim < rank) return dim == rank - 1;
    }
    return true;
}

static bool is_padded_with(const xir_op *op) {
    const xir_pad_attrs *a = xir_pad_of(op);
    return a && a->mode == XIR_PAD_CONSTANT && xir_scalar_as_real(a->value) != 0;
}

void factors_join(quantizing *q, const xir_op *op) {
    const xir_value *x = xir_op_input(op, 0), *z = xir_op_output(op, 0);
    const class_normalised *row = op->cls->more->normalised;
    if (is_product(op)) product_factors_join(q, op);
    else if (xir_op_is(op, xir_add_class())) join_pair(q, op, has_channels_last(z->type, "COI"), false);
    else if (xir_op_is(op, xir_multiply_class())) join_pair(q, op, true, true);
    else if (is_batch_norm(op)) {
        const bool last = has_channels_last(z->type, "C");
        const xir_value *const both[] = { x, z };
        for (size_t i = 0; i < 2; i++) {
            if (last) even_unless_last(q, both[i], last_dim(z->type));
            else ratios_even(&q->plan, both[i]);
        }
    } else if (xir_op_is(op, xir_split_class())) {
        const map_channels *c = ratios_of(&q->plan, x);
        const int64_t rank = (int64_t)xir_type_rank(x->type), axis = xir_split_of(op)->axis;
        if (c && c->axis == (axis < 0 ? axis : axis - rank)) ratios_even(&q->plan, x);   /* all parts have the same */
    } else if (row && row->kind == NORMALISED_EVEN) {
        ratios_join_maps(&q->plan, x, z);
        if (is_padded_with(op)) ratios_even(&q->plan, x);
    }
}

/* ---- new constants ----------------------------------------------------------------------------------------------- */

/* A constant that is added, or multiplied if `map` is given. */
static xir_status apply_operand(quantizing *q, xir_op *op, uint32_t at, const xir_value *map) {
    const xir_value *z = xir_op_output(op, 0);
    constant c = { 0 };
    if (!factors_matter(q, z) && !(map && factors_matter(q, map))) return XIR_OK;
    xir_status status = constant_open(q, op, xir_op_input(op, at), -1, &c);
    const int64_t dim = status ? 0 : (int64_t)xir_type_rank(c.value->type) - 1;
    if (!status) status = factors_along(q, c.value, dim, z, &c.given);
    if (!status && map) status = factors_along(q, c.value, dim, map, &c.read);
    if (!status) status = operand_apply(q, op, at, &c);
    constant_close(q, &c);
    return status;
}

/* alpha or beta of Add: a number for each channel if the ratios differ. */
static xir_status apply_factor(quantizing *q, xir_op *op, const char *name, const xir_value *map, xir_refs was) {
    const xir_value *z = xir_op_output(op, 0);
    const xir_allocator *alloc = &q->net->alloc;
    if (!factors_matter(q, z) && !factors_matter(q, map)) return XIR_OK;
    const bool even = ratios_are_even(&q->plan, map) && ratios_are_even(&q->plan, z);
    const size_t n = even ? was.size : (size_t)last_dim(z->type);
    const xir_object **now = mem_new(alloc, n * sizeof *now);
    xir_status status = now ? XIR_OK : XIR_E_MEMORY;
    for (size_t c = 0; c < n && !status; c++) {
        const double old = xir_scalar_as_real((const xir_scalar *)was.data[was.size == 1 ? 0 : c]);
        now[c] = (const xir_object *)xir_scalar_real(q->net->ctx, old * factor_at(q, map, c) / factor_at(q, z, c));
        if (!now[c]) status = XIR_E_MEMORY;
    }
    if (!status) status = xir_op_set(op, xir_str_of(name),
                                     &(xir_attr){ .kind = XIR_KIND_REFS, .as.refs = { now, n } });
    mem_free(alloc, (void *)now, n * sizeof *now);
    return status;
}

static xir_status apply_add(quantizing *q, xir_op *op) {
    xir_status status = XIR_OK;
    for (uint32_t i = 0; i < 2 && !status; i++) {
        const xir_value *v = xir_op_input(op, i);
        const xir_add_attrs *a = xir_add_of(op);
        status = is_stored(v) ? apply_factor(q, op, i ? "beta" : "alpha", v, i ? a->beta : a->alpha)
                              : apply_operand(q, op, i, NULL);
    }
    return status;
}

static xir_status apply_multiply(quantizing *q, xir_op *op) {
    const xir_value *x = xir_op_input(op, 0), *y = xir_op_input(op, 1);
    if (is_stored(x) && is_stored(y)) return cut_apply(q, op);
    return is_stored(x) ? apply_operand(q, op, 1, x) : apply_operand(q, op, 0, y);
}

static xir_status apply_batch_norm(quantizing *q, xir_op *op) {
    static const char *const names[] = { "variance", "mean" };
    const xir_value *x = xir_op_input(op, 0), *z = xir_op_output(op, 0);
    xir_status status = XIR_OK;
    for (size_t i = 0; i < 2 && !status; i++) {
        constant c = { 0 };
        xir_attr attr;
        status = xir_op_get(op, xir_str_of(names[i]), &attr);
        if (!status) status = constant_open(q, op, attr.as.params, -1, &c);
        if (!status) status = factors_along(q, c.value, 0, z, &c.given);
        if (!status && i == 0) status = factors_along(q, c.value, 0, x, &c.read);
        attr.as.params = status ? NULL : constant_store(q, &c, xir_type_element(c.value->type), NULL, 0);
        if (!status) status = attr.as.params ? xir_op_set(op, xir_str_of(names[i]), &attr) : XIR_E_MEMORY;
        constant_close(q, &c);
    }
    return status;
}

static xir_status apply_padding(quantizing *q, xir_op *op) {
    const double was = xir_scalar_as_real(xir_pad_of(op)->value), now = was / factor_at(q, xir_op_output(op, 0), 0);
    const xir_object *value = (const xir_object *)xir_scalar_real(q->net->ctx, now);
    return value ? xir_op_set(op, XIR_STR("value"), &(xir_attr){ .kind = XIR_KIND_REF, .as.ref = value })
                 : XIR_E_MEMORY;
}

xir_status factors_apply(quantizing *q, xir_op *op) {
    if (is_product(op)) return product_factors_apply(q, op);
    if (xir_op_is(op, xir_add_class())) return apply_add(q, op);
    if (xir_op_is(op, xir_multiply_class())) return apply_multiply(q, op);
    if (is_batch_norm(op)) return apply_batch_norm(q, op);
    return is_padded_with(op) ? apply_padding(q, op) : XIR_OK;
}
