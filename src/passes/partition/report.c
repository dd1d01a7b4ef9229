/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Figures of a partition, and what it says. */
#include <inttypes.h>
#include <stdlib.h>
#include <xir/cost.h>
#include <xir/work.h>
#include "partition/partition.h"

/* ---- what crosses borders --------------------------------------------------------------------------------------- */

static uint64_t bytes_of(const xir_value *v) {
    uint64_t bytes;
    return v->type && xir_type_bytes(v->type, &bytes) == XIR_OK ? bytes : 0;
}

void partition_measure(const partition *p, group_bytes *of, size_t *borders) {
    *borders = 0;
    for (size_t i = 0; i < xir_groups_count(p->groups); i++)
        of[i] = (group_bytes){ .ops = xir_groups_at(p->groups, i).size };
    for (const xir_op *op = p->net->first; op; op = op->next) {
        const int64_t group = xir_groups_of(p->groups, op);
        for (uint32_t i = 0; i < op->n_outputs; i++) {
            const xir_value *v = &op_outputs(op)[i];
            bool crosses = false;
            for (const xir_use *use = xir_value_uses(v); use; use = xir_use_next(use))
                crosses |= xir_groups_of(p->groups, xir_use_op(use)) != group;
            if (!crosses && group >= 0 && v->uses) of[group].inside += bytes_of(v);
            *borders += crosses;
        }
    }
}

/* ---- what is said ----------------------------------------------------------------------------------------------- */

typedef struct left { const xir_op *op; uint64_t steps; size_t place; } left;

static int most_first(const void *a, const void *b) {
    const left *x = a, *y = b;
    if (x->steps != y->steps) return x->steps < y->steps ? 1 : -1;
    return x->place < y->place ? -1 : x->place > y->place;
}

static uint64_t steps_of(const xir_op *op) {
    xir_work work = XIR_INIT(xir_work);
    return xir_op_work(op, &work, NULL) ? 0 : xir_work_steps(&work);
}

/* Says of an op why it stays: the first rule that it breaks. */
static xir_status say_why(const partition *p, const xir_op *op, xir_diags *reasons) {
    xir_diags_clear(reasons);
    const xir_status status = xir_op_try(op, p->target, reasons);
    if (status == XIR_E_MEMORY) return pass_no_memory(p->at);
    for (size_t i = 0; i < xir_diags_count(reasons); i++) {
        xir_diag d = *xir_diags_at(reasons, i);
        if (d.severity == XIR_NOTE) continue;
        d.severity = XIR_NOTE;
        d.code = XIR_OK;
        xir_diags_append(xir_pass_diags(p->at), &d);
        break;
    }
    return XIR_OK;
}

static bool is_left(const partition *p, const xir_op *op) {
    return op->slot < p->slots && p->asked[op->slot] && xir_groups_of(p->groups, op) < 0;
}

static xir_status say_left(const partition *p, left *all) {
    size_t n = 0;
    for (const xir_op *op = p->net->first; op; op = op->next) {
        if (is_left(p, op)) all[n] = (left){ op, steps_of(op), n }, n++;
    }
    qsort(all, n, sizeof *all, most_first);
    xir_diags *reasons = xir_diags_new(p->net->ctx);
    xir_status status = reasons ? XIR_OK : pass_no_memory(p->at);
    for (size_t i = 0; i < n && !status; i++) status = say_why(p, all[i].op, reasons);
    xir_diags_free(reasons);
    return status;
}

/* The whole: ops and multiply-adds of the target. Figures that are not known count for neither. */
static void say_sum(const partition *p, size_t borders) {
    size_t ops = 0, own = 0;
    uint64_t all = 0, products = 0;
    for (const xir_op *op = p->net->first; op; op = op->next) {
        xir_cost cost = XIR_INIT(xir_cost);
        if (op->cls->traits & (XIR_TRAIT_SOURCE | XIR_TRAIT_SINK)) continue;
        const bool is_own = xir_groups_of(p->groups, op) >= 0;
        ops++;
        own += is_own;
        if (xir_op_cost(op, &cost, NULL) || cost.multiply_adds == XIR_COST_UNKNOWN) continue;
        all = xir_cost_add(all, cost.multiply_adds);
        if (is_own) products = xir_cost_add(products, cost.multiply_adds);
    }
    const size_t n = xir_groups_count(p->groups);
    const double share = all ? 100.0 * (double)products / (double)all : 100;
    xir_pass_diag(p->at, XIR_NOTE, NULL, "%s runs %zu of %zu ops in %zu group%s, with %.2f %% of the multiply-adds; %zu "
                  "value%s borders", xir_target_row_of(p->target)->name, own, ops, n, n == 1 ? "" : "s", share,
                  borders, borders == 1 ? " crosses" : "s cross");
}

xir_status partition_report(const partition *p, size_t borders) {
    const xir_allocator *alloc = &p->net->alloc;
    const size_t n = p->net->n_ops + 1;
    left *all = mem_new(alloc, n * sizeof *all);
    if (!all) return pass_no_memory(p->at);
    const xir_status status = say_left(p, all);
    mem_free(alloc, all, n * sizeof *all);
    if (!status) say_sum(p, borders);
    return status;
}
