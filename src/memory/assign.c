/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Plans of a network's buffers, and the memory types that follow from them. */
#include <inttypes.h>
#include "graph.h"
#include "values.h"

/* ---- plans ------------------------------------------------------------------------------------------------------- */

enum { SHOWN = 8 };

/* The largest buffers that live at a moment, the largest first. Returns their number. Sets *all to that of all that
 * live. */
static size_t largest_at(const xir_memory_buffers *b, int64_t moment, size_t *out, size_t *all) {
    size_t n = 0;
    *all = 0;
    for (size_t i = 0; i < b->n; i++) {
        if (b->data[i].from > moment || b->data[i].to < moment) continue;
        size_t at = n;
        ++*all;
        while (at > 0 && b->data[out[at - 1]].size < b->data[i].size) at--;
        if (at == SHOWN) continue;
        n += n < SHOWN;
        memmove(out + at + 1, out + at, (n - at - 1) * sizeof *out);
        out[at] = i;
    }
    return n;
}

static void note_peak(const xir_memory_buffers *b, int64_t moment, xir_diags *why) {
    size_t largest[SHOWN], size = 0, all;
    char text[SHOWN * 100] = "";
    const size_t n = largest_at(b, moment, largest, &all);
    for (size_t i = 0; i < n; i++) {
        const xir_value *of = b->first[largest[i]];
        const xir_str name = of ? xir_value_name(of) : XIR_STR("(body)");
        size += (size_t)snprintf(text + size, sizeof text - size, "%s'%.*s' %" PRIu64, i ? ", " : "", CLIP(name),
                                 b->data[largest[i]].size);
    }
    const xir_op *op = b->ops[moment];
    const xir_str name = xir_op_name(op);
    char path[32];
    snprintf(path, sizeof path, "/ops/%" PRId64, xir_network_index_of(b->net, op));
    xir_diags_add(why, XIR_NOTE, XIR_OK, xir_str_of(path), "the most bytes live while op '%.*s' runs: %s%s", CLIP(name),
                  text, n < all ? " …" : "");
}

/* The moment at which the most bytes live does not depend on the plan. */
static void note_any_peak(const xir_memory_buffers *b, xir_diags *why) {
    xir_memory_peak peak = XIR_INIT(xir_memory_peak);
    xir_memory_plan *any = xir_memory_plan_new(b->net->ctx, b->data, b->n,
                                               &XIR_INIT(xir_memory_options, .effort = XIR_EFFORT_SWEEP), NULL);
    if (any && b->n && !xir_memory_plan_peak(any, &peak, NULL)) note_peak(b, peak.moment, why);
    xir_memory_plan_free(any);
}

xir_memory_plan *xir_memory_buffers_plan(const xir_memory_buffers *b, const xir_memory_options *options,
                                         xir_diags *why) {
    if (!b) {
        diag_null(why, "buffers");
        return NULL;
    }
    xir_diags *said = xir_diags_new(b->net->ctx);
    if (!said) {
        diag_memory(why);
        return NULL;
    }
    xir_memory_plan *plan = xir_memory_plan_new(b->net->ctx, b->data, b->n, options, said);
    const bool limited = !plan && xir_diags_count(said) && xir_diags_at(said, 0)->code == XIR_E_LIMIT;
    diags_append(why, said);
    if (limited) note_any_peak(b, why);
    xir_diags_free(said);
    return plan;
}

/* ---- memory types ------------------------------------------------------------------------------------------------ */

static xir_status check_plan(const xir_network *net, const xir_memory_buffers *b, const xir_memory_plan *plan,
                             xir_mtype_kind kind, uint64_t at, xir_diags *why) {
    if (!net || !b || !plan) return diag_null(why, !net ? "network" : !b ? "buffers" : "plan");
    if ((int)kind <= XIR_MTYPE_HOST || kind > XIR_MTYPE_CHUNK)
        return diag_fail(why, XIR_E_BOUNDS, XIR_STR(""), "this kind of memory has no addresses");
    if (xir_memory_plan_count(plan) != b->n) {
        return diag_fail(why, XIR_E_INVALID, XIR_STR(""), "the plan has %zu buffers, the network %zu",
                         xir_memory_plan_count(plan), b->n);
    }
    const uint64_t *offsets = xir_memory_plan_offsets(plan), base = kind == XIR_MTYPE_CHUNK ? 0 : at;
    for (size_t i = 0; i < b->n_values; i++) {
        const uint64_t offset = offsets[b->buffer_of[i]];
        if (at > INT64_MAX || offset > INT64_MAX - base || b->offset_of[i] > INT64_MAX - base - offset)
            return diag_fail(why, XIR_E_BOUNDS, XIR_STR(""), "an address exceeds 2^63 - 1");
    }
    for (size_t i = 0; i < b->n_values; i++) {
        const xir_op *op = value_op(b->values[i]);
        while (op && op->flags & OP_CHILD) op = op_more_of(op)->parent;
        if (!op || op->net != net || !(op->flags & OP_PLACED))
            return diag_fail(why, XIR_E_INVALID, XIR_STR(""), "a value of the buffers is not one of the network");
    }
    return XIR_OK;
}

static const xir_mtype *mtype_at(xir_context *ctx, xir_mtype_kind kind, uint64_t at, uint64_t offset) {
    switch (kind) {
    case XIR_MTYPE_ONCHIP:   return xir_mtype_onchip(ctx, at + offset);
    case XIR_MTYPE_EXTERNAL: return xir_mtype_external(ctx, at + offset);
    default:                 return xir_mtype_chunk(ctx, at, offset);
    }
}

xir_status xir_memory_assign(xir_network *net, const xir_memory_buffers *b, const xir_memory_plan *plan,
                             xir_mtype_kind kind, uint64_t at, xir_diags *why) {
    xir_status status = check_plan(net, b, plan, kind, at, why);
    if (status) return status;
    const xir_mtype **before = mem_new(b->alloc, (b->n_values + 1) * sizeof *before);
    if (!before) return diag_memory(why);
    size_t n = 0;
    for (; n < b->n_values && !status; n++) {
        xir_value *v = (xir_value *)(uintptr_t)b->values[n];
        const uint64_t offset = xir_memory_plan_offsets(plan)[b->buffer_of[n]] + b->offset_of[n];
        const xir_mtype *its = mtype_at(net->ctx, kind, at, offset);
        before[n] = xir_value_mtype(v);
        status = its ? xir_value_set_mtype(v, its) : XIR_E_MEMORY;
    }
    if (status) {   /* what the network has had needs no memory */
        while (n-- > 0) (void)!xir_value_set_mtype((xir_value *)(uintptr_t)b->values[n], before[n]);
        diag_memory(why);
    }
    mem_free(b->alloc, (void *)before, (b->n_values + 1) * sizeof *before);
    return status;
}
