/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Regions: convex groups of the ops of a kind, and parts that become one op and come back. The network has two branches
 * that meet; every eighth op is of no kind. */
#include "bench.h"

#include <xir/region.h>
#include <xir/xir.h>

#include <stdio.h>
#include <stdlib.h>

typedef struct parting {
    xir_context *ctx;
    xir_network *net, *before;
    xir_diags   *why;
    xir_groups  *groups;
    xir_op     **part;      /* all ops but the ends */
    size_t       n;
} parting;

static int kind_of(const xir_op *op, void *user)
{
    (void)user;
    return xir_op_is(op, xir_sigmoid_class()) ? -1 : 0;
}

static void *setup(const bench_input *in)
{
    parting *p = calloc(1, sizeof *p);
    if (!p || !(p->ctx = xir_context_new(NULL)) || !(p->why = xir_diags_new(p->ctx)) ||
        !(p->part = calloc(in->ops, sizeof *p->part)))
        return NULL;
    const xir_type *type = XIR_TENSOR(p->ctx, xir_type_float(p->ctx, XIR_FLOAT_FP32), "**", 4, 16);
    p->net = xir_network_new(p->ctx, "bench", XIR_FRAMEWORK_PYTORCH, "1.9");
    xir_at at = xir_at_end(p->net);
    xir_value *x = xir_input(at, "x", type), *side = x;
    for (p->n = 0; p->n < in->ops; p->n++) {
        xir_op *op;
        if (p->n % 8 == 7)
            op = xir_add_sigmoid(at, (xir_sigmoid_in){ .input = side }, NULL);
        else if (p->n % 4 == 3)
            op = xir_add_add(at, (xir_add_in){ .lhs = x, .rhs = side }, NULL);
        else
            op = xir_add_relu(at, (xir_relu_in){ .input = p->n % 2 ? side : x }, NULL);
        p->part[p->n] = op;
        *(p->n % 2 ? &side : &x) = xir_op_output(op, 0);
    }
    xir_output(at, XIR_VALUES(x, side));
    if (xir_network_status(p->net) == XIR_OK)
        return p;
    xir_diags_print(xir_network_diags(p->net), stderr);
    return NULL;
}

static bool groups_run(void *state, bench_result *out)
{
    parting *p = state;
    p->groups = xir_groups_new(p->net, kind_of, NULL, p->why);
    out->count = xir_groups_count(p->groups);
    return p->groups != NULL;
}

static bool groups_check(void *state)
{
    parting *p = state;
    for (size_t i = 0; i < xir_groups_count(p->groups) && i < 100; i++) {
        const xir_ops group = xir_groups_at(p->groups, i);
        if (xir_region_check(p->net, group.data, group.size, p->why) != XIR_OK)
            return false;
    }
    return xir_groups_count(p->groups) > 0;
}

static void *grouped_setup(const bench_input *in)
{
    parting *p = setup(in);
    bench_result none;
    return p && groups_run(p, &none) ? p : NULL;
}

static bool outline_run(void *state, bench_result *out)
{
    parting *p = state;
    out->count = xir_groups_count(p->groups);
    for (size_t i = 0; i < xir_groups_count(p->groups); i++) {
        const xir_ops group = xir_groups_at(p->groups, i);
        if (!xir_outline(p->net, group.data, group.size, NULL))
            return false;
    }
    return true;
}

static bool valid_check(void *state)
{
    parting *p = state;
    return xir_network_validate(p->net, p->why) == XIR_OK;
}

static void *kept_setup(const bench_input *in)
{
    parting *p = setup(in);
    return p && (p->before = xir_network_clone(p->net)) ? p : NULL;
}

static bool whole_run(void *state, bench_result *out)
{
    parting *p = state;
    xir_op *call = xir_outline(p->net, p->part, p->n, NULL);
    out->count = 1;
    return call && xir_op_inline(call) == XIR_OK;
}

static bool whole_check(void *state)
{
    parting *p = state;
    return xir_network_equal(p->net, p->before, true);
}

const bench_case regions_cases[] = {
    { "convex-groups", NULL, 0, setup, groups_run, groups_check,
      "convex groups of a network with two branches, every eighth op of no kind" },
    { "outline", NULL, 0, grouped_setup, outline_run, valid_check,
      "each of these groups becomes one op; time per op of the network before" },
    { "outline-inline", NULL, 0, kept_setup, whole_run, whole_check,
      "all ops become one op and come back" },
    { 0 },
};
