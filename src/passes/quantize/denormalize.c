/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* denormalize: maps that hold x / N become quantised ones with the scale N, and constants lose the ratios. It is the
 * same network for formats and tools that do not know normalised numbers; of floats it is the inverse of normalize.
 *
 *     n:normalized{Nx}sint8 = cast(x)                      n:quantized{Nx}sint8 = cast(x)
 *     y:normalized{Nz}sint8 = matmul(n, w:{s}, b:{t})  ->  y:quantized{Nz}sint8 = matmul(n, w:{s*Nz/Nx}, b:{t*Nz})
 *
 * Stored constants keep their integers, and get other scales. Where the ratios differ within the elements of a scale,
 * they become floats. The plan has the ratios of the types as those that constants contain, and 1 as those that they
 * are to have. */
#include <math.h>
#include <xir/exec.h>
#include <xir/icraft.h>
#include <xir/ops.h>
#include "factors.h"
#include "support/calls.h"
#include "support/upkeep.h"
#include "types.h"

/* ---- the plan ---------------------------------------------------------------------------------------------------- */

static bool has_ratios(const xir_value *v) { return v && xir_type_norm_ratios(xir_type_element(v->type)) != NULL; }

static xir_status add_map(quantizing *q, const xir_value *map) {
    const xir_norm_ratios *ratios = xir_type_norm_ratios(map->type);
    const int64_t rank = (int64_t)xir_type_rank(map->type), axis = xir_norm_ratios_axis(ratios);
    const size_t n = xir_norm_ratios_count(ratios);
    const map_channels *c = ratios_add(&q->plan, map, n, n == 1 ? -1 : axis < 0 ? axis : axis - rank);
    bool even = true;
    if (!c) return XIR_E_MEMORY;
    for (uint32_t i = 0; i < c->n; i++) {
        q->plan.ratio[c->first + i] = 1;
        q->plan.before[c->first + i] = xir_norm_ratios_at(ratios, i);
        even &= q->plan.before[c->first + i] == q->plan.before[c->first];
    }
    if (even) ratios_even(&q->plan, map);
    return XIR_OK;
}

static bool touches_maps(const xir_op *op) {
    bool touches = false;
    for (uint32_t i = 0; i < op->n_inputs; i++) touches |= has_ratios(op_inputs(op)[i].value);
    for (uint32_t i = 0; i < op->n_outputs; i++) touches |= has_ratios(&op_outputs(op)[i]);
    return touches;
}

/* ---- constants --------------------------------------------------------------------------------------------------- */

static bool is_stored_constant(const xir_value *v) {
    return v && value_is_params(v) && xir_type_kind_of(xir_type_element(v->type)) == XIR_TYPE_QUANTIZED;
}

/* The dim of the scales of a constant; -1: it has one. */
static int64_t axis_of(const xir_value *v) {
    const xir_scales *scales = xir_type_scale(v->type);
    const int64_t axis = xir_scales_axis(scales);
    return xir_scales_count(scales) == 1 ? -1 : axis < 0 ? axis + (int64_t)xir_type_rank(v->type) : axis;
}

/* The same integers with other scales; floats where the elements of a scale have different factors. */
static xir_status rescale(quantizing *q, xir_op *op, uint32_t at, const constant *c) {
    const xir_allocator *alloc = &q->net->alloc;
    const xir_type *was = c->value->type, *element = NULL;
    const xir_scales *old = xir_type_scale(was);
    const xir_i64s zeros = xir_type_zero_points(was);
    double *scales = mem_new(alloc, c->n * sizeof *scales);
    if (!scales) return XIR_E_MEMORY;
    const bool even = constant_factors(c, scales);
    for (size_t i = 0; i < c->n; i++) scales[i] *= xir_scales_at(old, i);
    if (even) {
        const xir_scales *now = xir_scales_from(q->net->ctx, scales, c->n, c->n > 1 ? c->axis : -1);
        element = now ? xir_type_quantized(q->net->ctx, now, zeros.data, zeros.size, xir_type_storage(was),
                                           xir_type_expressed(was)) : NULL;
    }
    mem_free(alloc, scales, c->n * sizeof *scales);
    const xir_type *type = element ? xir_type_with_element(q->net->ctx, was, element, q->at->why) : NULL;
    if (even && !type) return XIR_E_MEMORY;
    if (!even) return operand_apply(q, op, at, c);
    size_t size;
    const void *bytes = xir_array_data(c->array, &size);
    xir_array *same = xir_array_copy(q->net->ctx, type, bytes, size, q->at->why);
    xir_value *made = same ? xir_params_from_array(q->net, xir_value_name(c->value), same) : NULL;
    xir_array_free(same);
    return made ? xir_op_set_input(op, at, made) : XIR_E_MEMORY;
}

/* A product of a map and stored constants. */
static xir_status rescale_product(quantizing *q, xir_op *op) {
    constant w = { 0 }, bias = { 0 };
    xir_status status = product_open(q, op, axis_of(xir_op_input(op, 1)), &w, &bias);
    if (!status && bias.value) {
        bias.axis = is_stored_constant(bias.value) ? axis_of(bias.value) : -1;
        bias.n = bias.axis < 0 ? 1 : (size_t)xir_type_dim(bias.value->type, bias.axis, false);
        bias.inner = bias.axis < 0 ? 1 : elements_after_dim(bias.value->type, bias.axis);
    }
    if (!status) status = rescale(q, op, 1, &w);
    if (!status && bias.value)
        status = is_stored_constant(bias.value) ? rescale(q, op, 2, &bias) : operand_apply(q, op, 2, &bias);
    constant_close(q, &w);
    constant_close(q, &bias);
    return status;
}

static xir_status drop_cut(const quantizing *q, xir_op *op) {
    const xir_scales *none = xir_scales_from(q->net->ctx, NULL, 0, -1);
    return none ? xir_op_set(op, XIR_STR("cut_scale"), &(xir_attr){ .kind = XIR_KIND_REF,
                             .as.ref = (const xir_object *)none }) : XIR_E_MEMORY;
}

/* Of sums, a cut_scale is a factor in normalised numbers, and nothing in others. */
static bool has_cut(const xir_op *op) {
    xir_attr cut;
    return xir_class_field(op->cls, XIR_STR("cut_scale")) && !xir_op_get(op, XIR_STR("cut_scale"), &cut) &&
           xir_scales_count(xir_scales_of(cut.as.ref)) > 0;
}

static bool multiplies(const xir_op *op) { return is_product(op) || xir_op_is(op, xir_multiply_class()); }

/* Returns true if the constants of an op can lose the ratios of its maps. */
static bool is_freed(const quantizing *q, const xir_op *op) {
    const xir_value *x = xir_op_input(op, 0), *y = xir_op_input(op, 1), *bias = xir_op_input(op, 2);
    for (uint32_t i = 0; i < op->n_inputs; i++)
        if (has_ratios(op_inputs(op)[i].value) && value_is_params(op_inputs(op)[i].value)) return false;
    if (is_product(op) && has_ratios(x) && is_stored_constant(y))
        return !has_cut(op) && (!bias || is_constant(bias) || is_stored_constant(bias));
    if (multiplies(op) && has_ratios(x) && has_ratios(y)) return !bias;
    return factors_fit(q, op) && !has_cut(op) && !(multiplies(op) && (is_stored_constant(x) || is_stored_constant(y)));
}

static xir_status free_constants(quantizing *q, xir_op *op) {
    const xir_value *x = xir_op_input(op, 0), *y = xir_op_input(op, 1);
    if (is_product(op) && has_ratios(x) && is_stored_constant(y)) return rescale_product(q, op);
    if (multiplies(op) && has_ratios(x) && has_ratios(y)) return drop_cut(q, op);
    return factors_apply(q, op);
}

/* ---- maps -------------------------------------------------------------------------------------------------------- */

static bool are_even(const xir_scales *scales) {
    for (size_t i = 1; i < xir_scales_count(scales); i++)
        if (xir_scales_at(scales, i) != xir_scales_at(scales, 0)) return false;
    return true;
}

/* Scales that differ must lie along the axis of the ratios. */
static bool is_along_one_axis(const xir_type *element) {
    const xir_norm_ratios *ratios = xir_type_norm_ratios(element);
    const xir_scales *scales = xir_type_scale(element);
    if (xir_norm_ratios_count(ratios) <= 1 || !scales || are_even(scales)) return true;
    return xir_scales_count(scales) == xir_norm_ratios_count(ratios) &&
           xir_scales_axis(scales) == xir_norm_ratios_axis(ratios);
}

/* A quantised element with the scales N * S. NULL without memory. */
static const xir_type *quantised_of(const quantizing *q, const xir_type *element) {
    const xir_norm_ratios *ratios = xir_type_norm_ratios(element);
    const xir_scales *scales = xir_type_scale(element);
    const xir_i64s zeros = xir_type_zero_points(element);
    const size_t n_ratios = xir_norm_ratios_count(ratios), n_scales = are_even(scales) ? 1 : xir_scales_count(scales);
    const size_t n = n_scales > n_ratios ? n_scales : n_ratios;
    double *list = mem_new(&q->net->alloc, n * sizeof *list);
    bool even = true;
    if (!list) return NULL;
    for (size_t i = 0; i < n; i++) {
        list[i] = xir_norm_ratios_at(ratios, n_ratios > 1 ? i : 0) * xir_scales_at(scales, n_scales > 1 ? i : 0);
        even &= list[i] == list[0];
    }
    const int64_t axis = n_ratios > 1 ? xir_norm_ratios_axis(ratios) : xir_scales_axis(scales);
    const xir_scales *now = xir_scales_from(q->net->ctx, list, even ? 1 : n, even ? -1 : axis);
    mem_free(&q->net->alloc, list, n * sizeof *list);
    return now ? xir_type_quantized(q->net->ctx, now, zeros.data, zeros.size, xir_type_storage(element),
                                    xir_type_expressed(element)) : NULL;
}

static const xir_type *without_ratios(const quantizing *q, const xir_type *type) {
    const xir_type *was = xir_type_element(type);
    const xir_type *element = xir_type_kind_of(was) == XIR_TYPE_NORMALIZED ? xir_type_expressed(was)
                                                                           : quantised_of(q, was);
    return element ? xir_type_with_element(q->net->ctx, type, element, q->at->why) : NULL;
}

static xir_status free_maps(quantizing *q, xir_op *op) {
    xir_status status = XIR_OK;
    for (uint32_t i = 0; i < op->n_outputs && !status; i++) {
        xir_value *map = &op_outputs(op)[i];
        if (!has_ratios(map)) continue;
        const xir_type *type = without_ratios(q, map->type);
        status = type ? xir_value_set_type(map, type) : XIR_E_MEMORY;
        xir_pass_changed(q->at, 1);
        if (!status && (xir_op_is(op, xir_cast_class()) || xir_op_is(op, xir_quantize_class())))
            status = xir_op_set(op, XIR_STR("target_dtype"), &(xir_attr){ .kind = XIR_KIND_REF,
                                .as.ref = (const xir_object *)type });
    }
    return status;
}

/* ---- the network ------------------------------------------------------------------------------------------------- */

/* Returns true for ops without constants of ratios: the ends of the network, and those whose type says everything. */
static bool is_end(const quantizing *q, const xir_op *op) {
    return op == xir_network_input_op(q->net) || op == xir_network_output_op(q->net) ||
           xir_op_is(op, xir_cast_class()) || xir_op_is(op, xir_quantize_class());
}

/* The first op that cannot lose the ratios; NULL: all can. */
static const xir_op *find_kept(const quantizing *q) {
    for (const xir_op *op = q->net->first; op; op = op->next) {
        for (uint32_t i = 0; i < op->n_outputs; i++) {
            const xir_value *v = &op_outputs(op)[i];
            if (has_ratios(v) && !is_along_one_axis(xir_type_element(v->type))) return op;
        }
        if (!is_end(q, op) && touches_maps(op) && !is_freed(q, op)) return op;
    }
    return NULL;
}

static xir_status free_all(quantizing *q) {
    xir_status status = XIR_OK;
    for (const xir_op *op = q->net->first; op; op = op->next)
        for (uint32_t i = 0; i < op->n_outputs && !status; i++)
            if (has_ratios(&op_outputs(op)[i])) status = add_map(q, &op_outputs(op)[i]);
    for (xir_op *op = q->net->first; op && !status; op = op->next)
        if (!is_end(q, op) && touches_maps(op)) status = free_constants(q, op);
    for (xir_op *op = q->net->first; op && !status; op = op->next) status = free_maps(q, op);
    for (xir_op *op = q->net->first; op && !status; op = op->next)
        if (!is_end(q, op)) status = xir_op_validate(op, q->at->why);
    return status;
}

static bool has_maps(const void *user, const xir_op *call) {
    (void)user;
    return touches_maps(call);
}

/* A call has the types that its body has. */
static xir_status open_calls(xir_pass *at) {
    size_t n;
    const xir_status status = inline_calls_that(at, has_maps, NULL, &n);
    if (!status && n)
        xir_pass_diag(at, XIR_NOTE, NULL, "%zu call%s inlined: maps with ratios enter or leave %s", n,
                      n == 1 ? " is" : "s are", n == 1 ? "it" : "them");
    return status;
}

static xir_status run(xir_pass *at) {
    quantizing q = { .at = at, .net = at->net, .again = true, .real_maps = true };
    q.scheme = (scheme){ .name = "denormalize", .normalised = true };
    bool any = false;
    for (const xir_op *op = at->net->first; op && !any; op = op->next)
        for (uint32_t i = 0; i < op->n_outputs; i++) any |= has_ratios(&op_outputs(op)[i]);
    if (!any) return XIR_OK;
    const xir_status opened = open_calls(at);
    const xir_op *kept = opened ? NULL : find_kept(&q);
    if (opened) return opened;
    if (kept) {
        static const char why[] = "the op cannot lose the ratios of its maps";
        if (xir_pass_bool(at, "strict")) return xir_pass_fail(at, XIR_E_UNSUPPORTED, kept, "%s", why);
        xir_pass_diag(at, XIR_NOTE, kept, "%s: the network stays normalised", why);
        return XIR_OK;
    }
    precision_init(&q.precision, &at->net->alloc);
    ratio_plan_init(&q.plan, &at->net->alloc);
    const xir_status status = free_all(&q);
    ratio_plan_free(&q.plan);
    return status == XIR_E_MEMORY ? pass_no_memory(at) : status;
}

static const xir_pass_option options[] = {
    { "strict", XIR_PASS_BOOL, "false", "an op whose constants cannot lose the ratios is an error" },
};

const xir_pass_decl pass_denormalize = {
    XIR_PASS_HEAD("denormalize", "normalised numbers become quantised ones whose scales are the ratios"),
    .level = XIR_LEVEL_NEEDED, .options = options, .n_options = sizeof options / sizeof *options, .run = run,
};
