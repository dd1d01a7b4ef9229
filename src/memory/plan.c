/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Plans: the efforts one after the other, until one reaches the bound. */
#include <xir/memory.h>
#include <inttypes.h>
#include "context_base.h"
#include "packing.h"
#include "overlap.h"
#include "place.h"
#include "sized.h"
#include "task.h"

#define OPTIONS_STRUCT SIZED(xir_memory_options, steps)
#define PEAK_STRUCT    SIZED(xir_memory_peak, steps)

enum { STEPS = 1 << 29 };

struct xir_memory_plan {
    const xir_allocator *alloc;
    uint64_t       *offsets;
    size_t          n;
    xir_memory_peak peak;
};

/* ---- making ------------------------------------------------------------------------------------------------------ */

/* Fixed buffers must not collide. */
static xir_status check_fixed(const packing *p, const xir_buffer *buffers, xir_diags *why) {
    if (!p->fixed) return XIR_OK;
    overlaps list = { .alloc = p->alloc, .buffers = buffers };
    uint32_t *numbers = packing_take(p, p->fixed, sizeof *numbers), n = 0;
    uint64_t *offsets = packing_take(p, p->n_buffers, sizeof *offsets);
    xir_status status = numbers && offsets ? XIR_OK : diag_memory(why);
    for (uint32_t i = 0; i < p->n && !status; i++) {
        const piece *it = &p->pieces[i];
        if (!it->fixed) continue;
        numbers[n++] = it->buffer;
        offsets[it->buffer] = it->offset;
    }
    if (!status) {
        list.offsets = offsets;
        list.numbers = numbers;
        list.n = n;
        status = overlaps_find(&list, "two fixed buffers overlap: ", why);
    }
    packing_drop(p, numbers, p->fixed, sizeof *numbers);
    packing_drop(p, offsets, p->n_buffers, sizeof *offsets);
    return status;
}

static xir_status fail_limit(const packing *p, uint64_t limit, bool proven, xir_diags *why) {
    if (p->bound > limit) {
        return diag_fail(why, XIR_E_LIMIT, XIR_STR(""), "the buffers need at least %" PRIu64 " bytes, of which %" PRIu64
                         " live at moment %" PRId64 "; there are %" PRIu64, p->bound, p->live, p->moment, limit);
    }
    return diag_fail(why, XIR_E_LIMIT, XIR_STR(""), "the best plan takes %" PRIu64 " bytes, there are %" PRIu64
                     "; %" PRIu64 " live at moment %" PRId64 ", so %s", p->peak, limit, p->live, p->moment,
                     proven ? "no moment alone exceeds the limit, but there is no plan within it"
                            : "it is not proven that there is no plan within the limit");
}

/* Makes the best plan. Sets *least if no other is lower. */
static xir_status solve(packing *p, const xir_memory_options *how, bool *least, xir_diags *why) {
    const xir_effort effort = how->effort ? how->effort : XIR_EFFORT_ORDERS;
    const uint64_t limit = how->limit ? how->limit : UINT64_MAX;
    bool ok = true, proven = false;
    if (!p->n) p->peak = 0;
    if (p->bound > limit) return fail_limit(p, limit, true, why);
    if (p->n) ok = task_worked(p->n) && packing_sweep(p, false);    // the caller may cancel
    if (ok && (p->fixed || effort > XIR_EFFORT_SWEEP) && p->peak > p->bound)
        ok = packing_sweep(p, true) && (p->peak == p->bound || packing_orders(p));
    if (ok && effort == XIR_EFFORT_SEARCH && p->peak > p->bound && (p->peak > limit || !how->limit))
        ok = p->peak > FAR || packing_search(p, how->limit, how->steps ? how->steps : STEPS, &proven);
    if (!ok) return diag_memory(why);
    if (p->peak > FAR) return diag_fail(why, XIR_E_LIMIT, XIR_STR(""), "no plan that ends within 2^63 - 1 was found");
    if (p->peak > limit) return fail_limit(p, limit, proven, why);
    *least = p->peak == p->bound || (proven && !how->limit);
    return XIR_OK;
}

static xir_memory_plan *keep(packing *p, bool least) {
    xir_memory_plan *plan = mem_new(p->alloc, sizeof *plan);
    uint64_t *offsets = packing_take(p, p->n_buffers, sizeof *offsets);
    if (!plan || !offsets) {
        mem_free(p->alloc, plan, sizeof *plan);
        packing_drop(p, offsets, p->n_buffers, sizeof *offsets);
        return NULL;
    }
    for (size_t i = 0; i < p->n_buffers; i++) offsets[i] = p->buffers[i].fixed ? p->buffers[i].offset : 0;
    for (uint32_t i = 0; i < p->n; i++) offsets[p->pieces[i].buffer] = p->best[i];
    *plan = (xir_memory_plan){ .alloc = p->alloc, .offsets = offsets, .n = p->n_buffers };
    plan->peak = (xir_memory_peak){ .size = sizeof plan->peak, .least = least, .bytes = p->peak, .bound = p->bound,
                                    .moment = p->moment, .steps = p->steps };
    return plan;
}

xir_memory_plan *xir_memory_plan_new(xir_context *ctx, const xir_buffer *buffers, size_t n,
                                     const xir_memory_options *options, xir_diags *why) {
    xir_memory_options how;
    if (!ctx || (!buffers && n)) {
        diag_null(why, ctx ? "buffers" : "context");
        return NULL;
    }
    if (sized_take(OPTIONS_STRUCT, &how, options, why)) return NULL;
    if ((unsigned)how.effort >= XIR_EFFORT_COUNT) {
        diag_fail(why, XIR_E_BOUNDS, XIR_STR(""), "%d is not an effort", (int)how.effort);
        return NULL;
    }
    packing p;
    bool least = false;
    xir_memory_plan *plan = NULL;
    task t;
    task_begin(&t, how.cancel, NULL, how.user);
    xir_status status = packing_open(&p, context_alloc(ctx), buffers, n, why);
    if (!status) status = check_fixed(&p, buffers, why);
    if (!status) status = solve(&p, &how, &least, why);
    if (!status && !(plan = keep(&p, least))) status = diag_memory(why);
    packing_close(&p);
    if (!task_end(&t, status, why)) return plan;
    xir_memory_plan_free(plan);
    return NULL;
}

void xir_memory_plan_free(xir_memory_plan *plan) {
    if (!plan) return;
    const xir_allocator *alloc = plan->alloc;
    mem_free(alloc, plan->offsets, (plan->n + 1) * sizeof *plan->offsets);
    mem_free(alloc, plan, sizeof *plan);
}

/* ---- asking ------------------------------------------------------------------------------------------------------ */

size_t xir_memory_plan_count(const xir_memory_plan *plan) { return plan ? plan->n : 0; }

const uint64_t *xir_memory_plan_offsets(const xir_memory_plan *plan) { return plan ? plan->offsets : NULL; }

xir_status xir_memory_plan_peak(const xir_memory_plan *plan, xir_memory_peak *out, xir_diags *why) {
    const xir_memory_peak none = XIR_INIT(xir_memory_peak);
    xir_status status = sized_fill(PEAK_STRUCT, out, plan ? &plan->peak : &none, why);
    return status || plan ? status : diag_null(why, "plan");
}
