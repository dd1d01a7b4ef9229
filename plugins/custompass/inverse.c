/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* inverse: a division by constants becomes a multiplication by their inverses.
 *
 *     y = Div(x, [2, 4])      ->      y = Multiply(x, [0.5, 0.25])
 *
 * For a power of two the product equals the quotient exactly; for other numbers the last digit may change. */
#include <math.h>
#include <stdlib.h>
#include <xir/xir.h>
#include "inverse.h"

/* Returns true if x * (1 / v) may replace x / v; sets *out to 1 / v. */
static bool invert(float v, bool exact, float *out) {
    int exponent;
    *out = 1 / v;
    if (!isfinite(v) || !isnormal(*out)) return false;
    return !exact || fabsf(frexpf(v, &exponent)) == 0.5f;
}

/* Params of the inverses. NULL if a number has no usable inverse, or if a call failed; then *status is set. */
static xir_value *inverses_of(xir_pass *at, const xir_value *divisor, xir_status *status) {
    xir_array *was = xir_array_from_params(divisor, xir_pass_diags(at));
    xir_array *now = was ? xir_array_new(xir_pass_context(at), xir_value_type(divisor), xir_pass_diags(at)) : NULL;
    xir_value *made = NULL;
    if (!now) *status = XIR_E_MEMORY;
    float *out = now ? xir_array_edit(now) : NULL;
    size_t n = now ? xir_array_count(now) : 0, i = 0;
    while (i < n && invert((float)xir_array_real(was, i), xir_pass_bool(at, "exact"), &out[i])) i++;
    if (now && i == n) {
        made = xir_params_from_array(xir_pass_network(at), xir_value_name(divisor), now);
        if (!made) *status = xir_network_status(xir_pass_network(at));
    }
    xir_array_free(was);
    xir_array_free(now);
    return made;
}

/* An exact quotient of floats by constants whose bytes are present. */
static bool is_candidate(const xir_pass *at, const xir_op *op) {
    const xir_value *divisor = xir_op_input(op, 1);
    const xir_type *fp32 = xir_type_float(xir_pass_context(at), XIR_FLOAT_FP32);
    return xir_div_of(op)->rounding_mode == XIR_ROUNDING_NONE && divisor && xir_value_is_params(divisor) &&
           xir_params_has_data(divisor) && xir_type_equal(xir_type_element(xir_value_type(divisor)), fp32);
}

/* Replaces the quotient by a product, whose output takes over the name and the uses. */
static xir_status replace(xir_pass *at, xir_op *div) {
    xir_network *net = xir_pass_network(at);
    xir_status status = XIR_OK;
    xir_value *inverses = inverses_of(at, xir_op_input(div, 1), &status);
    if (!inverses) return status;
    xir_at before = { .net = net, .before = div, .name = xir_op_name(div), .target = xir_op_target(div) };
    xir_value *now = XIR_OP(before, multiply, .lhs = xir_op_input(div, 0), .rhs = inverses);
    xir_value *was = xir_op_output(div, 0);
    if (!now) return xir_network_status(net);
    status = xir_value_set_name(now, xir_value_name(was));
    if (!status) status = xir_value_replace(was, now);
    if (!status) status = xir_op_erase(div);
    if (!status) xir_pass_changed(at, 1);
    return status;
}

static xir_status run(xir_pass *at) {
    xir_network *net = xir_pass_network(at);
    xir_status status = XIR_OK;
    for (xir_op *op = xir_network_next_of_class(net, NULL, xir_div_class()), *next; op && !status; op = next) {
        next = xir_network_next_of_class(net, op, xir_div_class()); /* before it goes */
        if (is_candidate(at, op)) status = replace(at, op);
    }
    return status;
}

static const xir_pass_option options[] = {
    { "exact", XIR_PASS_BOOL, "false", "only numbers whose inverse changes no digit: powers of two" },
};

static const char *const needs[] = { "infer", NULL };   /* types of constants */

const xir_pass_decl inverse_pass = {
    XIR_PASS_HEAD("inverse", "a division by constants becomes a multiplication by their inverses"),
    .level = XIR_LEVEL_FAST, .needs = needs, .options = options, .n_options = sizeof options / sizeof *options,
    .run = run,
};
