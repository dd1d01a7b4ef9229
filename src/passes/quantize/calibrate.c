/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* calibrate: floating-point values get types that say which numbers they take. Nothing computes otherwise: the elements
 * of a calibrated type are the stored numbers.
 *
 *     x:fp32[1,8] = input()        x:calibrated{min=-1,max=3,sat=3}[1,8] = input()
 *     y:fp32[1,8] = relu(x)   ->   y:calibrated{min=0,max=3,sat=3}[1,8] = relu(x)
 *
 * An op whose class takes no such elements keeps floats on all sides. */
#include "ranges.h"
#include <xir/icraft.h>
#include "support/upkeep.h"
#include "types.h"

static const xir_pass_option options[] = { RANGE_OPTIONS };

static xir_status set_element(xir_pass *at, xir_value *value, const xir_type *element) {
    const xir_type *type = element ? xir_type_with_element(at->net->ctx, value->type, element, at->why) : NULL;
    return type ? xir_value_set_type(value, type) : XIR_E_MEMORY;
}

static xir_status calibrate_value(xir_pass *at, const value_ranges *r, xir_value *value) {
    const value_range *range = ranges_find(r, value);
    const xir_type *was = xir_type_element(value->type);
    if (!range || xir_type_kind_of(was) != XIR_TYPE_FLOAT) return XIR_OK;
    xir_pass_changed(at, 1);
    return set_element(at, value, xir_type_calibrated(at->net->ctx, range->low, range->high, range->sat, was, was));
}

static xir_status make_float(xir_pass *at, xir_value *value) {
    if (!value || value_is_params(value) || xir_type_kind_of(xir_type_element(value->type)) != XIR_TYPE_CALIBRATED)
        return XIR_OK;
    return set_element(at, value, xir_type_expressed(value->type));
}

/* The floats of an op that does not take calibrated ones. */
static xir_status make_all_float(xir_pass *at, xir_op *op) {
    xir_status status = XIR_OK;
    for (uint32_t i = 0; i < op->n_inputs && !status; i++) status = make_float(at, op_inputs(op)[i].value);
    for (uint32_t i = 0; i < op->n_outputs && !status; i++) status = make_float(at, &op_outputs(op)[i]);
    return status;
}

static xir_status settle(xir_pass *at, xir_op *op) {
    const xir_status valid = xir_op_validate(op, NULL);
    return valid && valid != XIR_E_MEMORY ? make_all_float(at, op) : valid;
}

static xir_status run(xir_pass *at) {
    value_ranges r = { .alloc = &at->net->alloc };
    xir_status status = ranges_measure(at, 8, NULL, &r);
    for (xir_op *op = at->net->first; op && !status; op = op->next)
        for (uint32_t i = 0; i < op->n_outputs && !status; i++) status = calibrate_value(at, &r, &op_outputs(op)[i]);
    for (xir_op *op = at->net->first; op && !status; op = op->next)
        status = settle(at, op);
    ranges_free(&r);
    return status == XIR_E_MEMORY ? pass_no_memory(at) : status;
}

const xir_pass_decl pass_calibrate = {
    XIR_PASS_HEAD("calibrate", "gives values the ranges that a calibration has measured"),
    .level = XIR_LEVEL_NEEDED, .options = options, .n_options = sizeof options / sizeof *options,
    .run = run,
};
