/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Normalised networks: each map holds x / N, and the constants contain the ratios. By now the maps have types with a
 * ratio that means nothing, and ops have roles. The plan gets the channels of all maps; those that must have one ratio
 * are joined; what is left is that of the ranges, N = sat / (2^(b-1) - 1), the greatest of those joined. Then types and
 * constants get theirs.
 *
 * A network that was normalised before has ratios in its types and constants. It goes the same way, from these ratios
 * in place of ranges, and its constants are multiplied only where a ratio has changed. */
#include <math.h>
#include <xir/exec.h>
#include <xir/icraft.h>
#include <xir/ops.h>
#include "quantize.h"
#include "rule.h"
#include "support/upkeep.h"

xir_status normalise_takes(const quantizing *q, const xir_op *op, bool *takes) {
    bool normalised;
    *takes = false;
    if (!factors_fit(q, op)) return XIR_OK;
    xir_status status = xir_op_validate(op, NULL);
    if (!status) status = xir_op_is_normalised(op, &normalised, NULL);
    *takes = !status;
    return status == XIR_E_MEMORY ? status : XIR_OK;
}

/* ---- ratios of ranges -------------------------------------------------------------------------------------------- */

static bool is_cast(const xir_op *op) { return op && xir_op_is(op, xir_cast_class()); }

/* The value whose range a map has: what a Cast reads, what a clip gives. */
static const xir_value *measured(const quantizing *q, const xir_value *map) {
    const xir_op *op = value_op(map);
    const value_range *after;
    if (is_cast(op) && !ranges_find(&q->ranges, map)) return xir_op_input(op, 0);
    if (is_before_clip(q, map, &after) && after) return xir_op_output(xir_use_op(map->uses), 0);
    return map;
}

static double ratio_for(double sat, int bits) { return (double)(float)(sat / (ldexp(1, bits - 1) - 1)); }

static int bits_for(const quantizing *q, const xir_value *of, const xir_value *map) {
    if (!q->real_maps) return (int)xir_type_storage_bits(map->type);
    const op_precision *said = value_op(of) ? precision_of(&q->precision, value_op(of)) : NULL;
    return (int)(said && said->bits ? said->bits : q->bits);
}

/* Adds a map that is not carried, with the ratios of its range. */
static xir_status add_measured(quantizing *q, const xir_value *map) {
    const xir_value *of = measured(q, map);
    const value_range *range = ranges_find(&q->ranges, of);
    const int64_t rank = (int64_t)xir_type_rank(map->type), n = rank ? xir_type_dim(map->type, rank - 1, false) : 1;
    const map_channels *c = ratios_add(&q->plan, map, (size_t)n, -1);
    if (!c) return XIR_E_MEMORY;
    const int bits = bits_for(q, of, map);
    const bool by_channel = range && range->n == c->n && !q->even_maps;
    for (uint32_t i = 0; i < c->n && range; i++)
        q->plan.ratio[c->first + i] = ratio_for(by_channel ? q->ranges.sats[range->first + i] : range->sat, bits);
    if (q->even_maps) ratios_even(&q->plan, map);
    return XIR_OK;
}

/* ---- ratios of types --------------------------------------------------------------------------------------------- */

static xir_status add_typed(quantizing *q, const xir_value *map) {
    const xir_norm_ratios *ratios = xir_type_norm_ratios(map->type);
    const int64_t rank = (int64_t)xir_type_rank(map->type), axis = xir_norm_ratios_axis(ratios);
    const size_t n = xir_norm_ratios_count(ratios);
    const size_t last = rank ? (size_t)xir_type_dim(map->type, rank - 1, false) : 1;
    const map_channels *c = ratios_add(&q->plan, map, n > 1 ? n : last, n == 1 ? -1 : axis < 0 ? axis : axis - rank);
    if (!c) return XIR_E_MEMORY;
    for (uint32_t i = 0; i < c->n; i++) q->plan.ratio[c->first + i] = xir_norm_ratios_at(ratios, n > 1 ? i : 0);
    return XIR_OK;
}

/* Notes what the constants contain of a map's ratios. */
static void note_before(quantizing *q, const xir_value *map) {
    const xir_norm_ratios *ratios = xir_type_norm_ratios(map->type);
    const map_channels *c = ratios_of(&q->plan, map);
    const size_t n = xir_norm_ratios_count(ratios);
    for (uint32_t i = 0; c && i < c->n; i++)
        q->plan.before[c->first + i] = xir_norm_ratios_at(ratios, n > 1 ? i % n : 0);
}

/* Returns true if inference gives an op the types that its outputs have. */
static xir_status carries(const xir_op *op, bool *out) {
    xir_infer at;
    infer_start(&at, op->net, op->cls, op->attrs, op_target(op), NULL, 0, xir_op_name(op), NULL);
    at.op = op;
    at.n_inputs = op->n_inputs;
    const xir_status status = infer_run(&at);
    *out = !status && at.n_out == op->n_outputs && op->n_outputs > 0;
    for (size_t i = 0; i < at.n_out && *out; i++)
        *out = is_stored(&op_outputs(op)[i]) && xir_type_equal(at.out[i], op_outputs(op)[i].type);
    infer_end(&at);
    return status == XIR_E_MEMORY ? status : XIR_OK;
}

static bool touches_maps(const xir_op *op) {
    for (uint32_t i = 0; i < op->n_inputs; i++)
        if (is_stored(op_inputs(op)[i].value) && !value_is_params(op_inputs(op)[i].value)) return true;
    for (uint32_t i = 0; i < op->n_outputs; i++)
        if (is_stored(&op_outputs(op)[i])) return true;
    return false;
}

xir_status normalise_again(quantizing *q) {
    const xir_op *in = xir_network_input_op(q->net), *out = xir_network_output_op(q->net);
    for (const xir_op *op = q->net->first; op; op = op->next) {
        bool carried;
        if (op == in || op == out || is_cast(op) || !touches_maps(op)) continue;
        xir_status status = carries(op, &carried);
        if (status) return status;
        if (!carried && !factors_fit(q, op))
            return xir_pass_fail(q->at, XIR_E_UNSUPPORTED, op, "the constants of the op cannot follow its ratios");
        q->roles[op->slot] = carried ? ROLE_CARRIES : ROLE_COMPUTES;
    }
    return XIR_OK;
}

/* ---- the plan ---------------------------------------------------------------------------------------------------- */

static xir_status plan_op(quantizing *q, xir_op *op) {
    const op_role role = role_of(q, op);
    xir_status status = role == ROLE_CARRIES ? ratios_carry(&q->plan, op) : XIR_OK;
    for (uint32_t i = 0; i < op->n_outputs && !status; i++) {
        const xir_value *map = &op_outputs(op)[i];
        if (!is_stored(map)) continue;
        if (role != ROLE_CARRIES) status = q->again ? add_typed(q, map) : add_measured(q, map);
        if (!status && q->again) note_before(q, map);
    }
    if (status == XIR_E_INVALID)
        return xir_pass_fail(q->at, XIR_E_UNSUPPORTED, op, "it is not known how the op carries ratios; keep the op");
    if (!status && role != ROLE_NONE) factors_join(q, op);
    return status;
}

/* A channel that is always 0 has the ratio 1. */
static void settle(ratio_plan *p) {
    for (size_t i = 0; i < p->n; i++)
        if (p->parent[i] == i && !(p->ratio[i] >= 1e-20)) p->ratio[i] = 1;
}

/* ---- what the network gets --------------------------------------------------------------------------------------- */

static xir_status set_map_type(quantizing *q, xir_value *map, uint32_t bits) {
    xir_context *ctx = q->net->ctx;
    xir_op *op = value_op(map);
    const xir_type *type = map->type;
    xir_pass_changed(q->at, 1);
    if (q->again && !q->real_maps) {   /* it becomes an integer */
        const xir_type *element = map_element(q, type, NULL, bits);
        type = element ? xir_type_with_element(ctx, type, element, q->at->why) : NULL;
        const xir_status status = type ? xir_value_set_type(map, type) : XIR_E_MEMORY;
        if (status) return status;
    }
    const xir_type *element = ratios_element(&q->plan, ctx, map);
    type = element ? xir_type_with_element(ctx, map->type, element, q->at->why) : NULL;
    xir_status status = type ? xir_value_set_type(map, type) : XIR_E_MEMORY;
    if (status || !is_cast(op)) return status;
    return xir_op_set(op, XIR_STR("target_dtype"), &(xir_attr){ .kind = XIR_KIND_REF,
                      .as.ref = (const xir_object *)map->type });
}

/* Returns true if a type has the ratios that a map has in the plan. */
static bool has_planned(const quantizing *q, const xir_value *map, const xir_type *type) {
    const xir_norm_ratios *ratios = xir_type_norm_ratios(type);
    const map_channels *c = ratios_of(&q->plan, map);
    if (!c || !ratios || xir_norm_ratios_count(ratios) != c->n) return false;
    for (uint32_t i = 0; i < c->n; i++)
        if (xir_norm_ratios_at(ratios, i) != (double)(float)ratio_at(&q->plan, map, i)) return false;
    return true;
}

/* The maps of an op that carries ratios get the types of inference, if these have the ratios of the plan; new elements
 * of a Pad may have others. */
static xir_status set_carried(quantizing *q, xir_op *op, bool *done) {
    xir_infer at;
    infer_start(&at, op->net, op->cls, op->attrs, op_target(op), NULL, 0, xir_op_name(op), NULL);
    at.op = op;
    at.n_inputs = op->n_inputs;
    xir_status status = infer_run(&at);
    *done = !status && at.n_out == op->n_outputs;
    for (size_t i = 0; i < at.n_out && *done; i++) *done = has_planned(q, &op_outputs(op)[i], at.out[i]);
    for (size_t i = 0; i < at.n_out && *done && !status; i++)
        status = xir_value_set_type(&op_outputs(op)[i], at.out[i]);
    infer_end(&at);
    return *done || status == XIR_E_MEMORY ? status : XIR_OK;
}

static xir_status set_types(quantizing *q) {
    xir_status status = XIR_OK;
    for (xir_op *op = q->net->first; op && !status; op = op->next) {
        bool done = false;
        if (role_of(q, op) == ROLE_CARRIES) status = set_carried(q, op, &done);
        for (uint32_t i = 0; i < op->n_outputs && !status && !done; i++) {
            xir_value *map = &op_outputs(op)[i];
            const op_precision *said = precision_of(&q->precision, op);
            if (ratios_of(&q->plan, map)) status = set_map_type(q, map, said && said->bits ? said->bits : q->bits);
        }
    }
    return status;
}

static xir_status set_constants(quantizing *q) {
    xir_status status = XIR_OK;
    for (xir_op *op = q->net->first; op && !status; op = op->next) {
        bool stored = false;
        if (role_of(q, op) == ROLE_NONE) continue;
        xir_pass_changed(q->at, 1);
        if (!q->real_maps) status = buyi_store(q, op, &stored);
        if (!status && !stored) status = factors_apply(q, op);
        if (status) break;
        status = xir_op_validate(op, NULL);
        if (status && status != XIR_E_MEMORY)
            status = xir_pass_fail(q->at, XIR_E_UNSUPPORTED, op, "the op does not take its normalised maps; keep the "
                                   "op");
    }
    return status;
}

xir_status normalise_network(quantizing *q) {
    xir_status status = XIR_OK;
    for (xir_op *op = q->net->first; op && !status; op = op->next) status = plan_op(q, op);
    if (status) return status;
    settle(&q->plan);
    if (!q->real_maps) status = buyi_fit(q);
    if (!status) status = set_types(q);
    return status ? status : set_constants(q);
}
