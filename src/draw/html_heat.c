/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The numbers of ops by which the page colours them: their costs. */
#include <math.h>
#include <xir/cost.h>
#include "html_out.h"

enum { COST_MULTIPLY_ADDS, COST_BYTES, COST_PARAMETERS, COSTS };

static double known(uint64_t figure) { return figure == XIR_COST_UNKNOWN ? NAN : (double)figure; }

/* The costs of an op; NAN is not known. */
static void costs_of(const picture *p, const xir_op *op, double out[COSTS]) {
    xir_cost cost = XIR_INIT(xir_cost);
    if (!p->how.cost) (void)xir_op_cost(op, &cost, NULL);    /* if it fails, nothing is known */
    else if (!p->how.cost(p->how.user, op, &cost))
        cost = XIR_INIT(xir_cost, XIR_COST_UNKNOWN, XIR_COST_UNKNOWN, XIR_COST_UNKNOWN, XIR_COST_UNKNOWN,
                        XIR_COST_UNKNOWN, XIR_COST_UNKNOWN);
    out[COST_MULTIPLY_ADDS] = known(cost.multiply_adds);
    out[COST_BYTES] = known(xir_cost_add(cost.bytes_read, cost.bytes_written));
    out[COST_PARAMETERS] = known(cost.parameters);
}

/* One number of each op; in a group they are added. */
static void put_heat(const picture *p, html_json *j, const char *title, const char *unit, const double *values) {
    html_open(j, NULL, '{');
    html_string(j, "title", xir_str_of(title));
    html_string(j, "unit", xir_str_of(unit));
    html_integer(j, "sum", 1);
    html_open(j, "values", '[');
    for (size_t i = 0; i < p->n_nodes; i++) html_real(j, NULL, values[i * COSTS]);
    html_close(j, ']');
    html_close(j, '}');
}

bool html_heats(const picture *p, html_json *j) {
    double *costs = draw_new(p->alloc, p->n_nodes, COSTS * sizeof *costs);
    if (!costs) return false;
    for (size_t i = 0; i < p->n_nodes; i++) costs_of(p, p->nodes[i].op, costs + i * COSTS);
    for (size_t i = 0; i < p->n_folded; i++) {   /* its parameters are those of its user */
        double folded[COSTS];
        costs_of(p, p->folded[i].op, folded);
        costs[p->folded[i].node * COSTS + COST_PARAMETERS] += folded[COST_PARAMETERS];
    }
    html_open(j, "heats", '[');
    put_heat(p, j, "Multiply-adds", "", costs + COST_MULTIPLY_ADDS);
    put_heat(p, j, "Bytes", "B", costs + COST_BYTES);
    put_heat(p, j, "Parameters", "", costs + COST_PARAMETERS);
    html_close(j, ']');
    draw_free(p->alloc, costs);
    return true;
}
