/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* partition: gives the target what it runs, in convex groups that are as large as they can be.
 *
 *     a = conv(x)                   a = conv(x)        buyi, group 0
 *     b = relu(a)                   b = relu(a)        buyi, group 0
 *     c = erf(b)               ->   c = erf(b)         host
 *     d = conv(c)                   d = conv(c)        buyi, group 1
 *     output(d)                     output(d)
 *
 * What is legal is asked of the target's rules (legal.h). Groups that are too small, or keep too few bytes inside, go
 * back to the host. A group is the tag "xir.group" of its ops, or becomes a Call. */
#include <xir/ops.h>
#include "context.h"
#include "partition/partition.h"
#include "support/target_option.h"

/* ---- what is legal ---------------------------------------------------------------------------------------------- */

/* Ops of another target stay what they are, and of a former partition nothing is left but Calls. */
static bool is_free(void *user, const xir_op *op) {
    const partition *p = user;
    const xir_target_kind kind = xir_target_kind_of(op_target(op));
    return kind == XIR_TARGET_HOST || kind == xir_target_kind_of(p->target);
}

static void note_answer(void *user, const xir_op *op, xir_status status) {
    partition *p = user;
    p->takes[op->slot] = !status;
    p->asked[op->slot] = 1;
}

static xir_status find_legal(partition *p) {
    const xir_status status = xir_network_try(p->net, p->target, &XIR_INIT(xir_try_options, .all = true,
                                              .asks = is_free, .answer = note_answer, .user = p), NULL, NULL);
    return status == XIR_E_MEMORY ? pass_no_memory(p->at) : XIR_OK;
}

/* The ops of an accelerator belong in networks for it, which have no ops of another one. */
static xir_status check_others(const partition *p) {
    const xir_target_row *row = xir_target_row_of(p->target);
    for (const xir_op *op = p->net->first; op && row->accelerator; op = op->next) {
        const xir_target_row *of = xir_target_row_of(op_target(op));
        if (!of->accelerator || of == row) continue;
        return xir_pass_fail(p->at, XIR_E_INVALID, op, "the op is for %s: a network has ops of one accelerator",
                             of->name);
    }
    return XIR_OK;
}

/* ---- groups ----------------------------------------------------------------------------------------------------- */

static int kind_of(const xir_op *op, void *user) {
    const partition *p = user;
    return p->takes[op->slot] ? 0 : -1;
}

static xir_status make_groups(partition *p) {
    xir_groups_free(p->groups);
    p->groups = xir_groups_new(p->net, kind_of, p, xir_pass_diags(p->at));
    return p->groups ? XIR_OK : pass_status_of_latest(p->at, XIR_E_MEMORY);
}

static void drop_group(partition *p, size_t i, const char *what, uint64_t has, int64_t least) {
    const xir_ops ops = xir_groups_at(p->groups, i);
    for (size_t k = 0; k < ops.size; k++) p->takes[ops.data[k]->slot] = 0;
    xir_pass_diag(p->at, XIR_NOTE, ops.data[0], "%zu op%s from here on stay%s on the host: %llu %s, below %lld",
                  ops.size, ops.size == 1 ? "" : "s", ops.size == 1 ? "s" : "", (unsigned long long)has, what,
                  (long long)least);
}

/* Takes the groups away that are not worth it, and gathers the others again. */
static xir_status keep_worthy(partition *p, size_t *borders) {
    const int64_t min = xir_pass_int(p->at, "min"), gain = xir_pass_int(p->at, "gain");
    const xir_allocator *alloc = &p->net->alloc;
    const size_t n = xir_groups_count(p->groups);
    group_bytes *of = mem_new(alloc, (n + 1) * sizeof *of);
    xir_status status = of ? XIR_OK : pass_no_memory(p->at);
    bool dropped = false;
    if (of) partition_measure(p, of, borders);
    for (size_t i = 0; i < n && !status; i++) {
        const bool few = min > 0 && of[i].ops < (uint64_t)min, poor = gain > 0 && of[i].inside < (uint64_t)gain;
        if (few) drop_group(p, i, of[i].ops == 1 ? "op" : "ops", of[i].ops, min);
        else if (poor) drop_group(p, i, "bytes stay inside", of[i].inside, gain);
        dropped |= few || poor;
    }
    if (dropped && !status) status = make_groups(p);
    if (dropped && !status) partition_measure(p, of, borders);   /* there are not more than before */
    mem_free(alloc, of, (n + 1) * sizeof *of);
    return status;
}

/* ---- marks ------------------------------------------------------------------------------------------------------ */

/* Gives an op the number of its group, or removes it (-1). */
static xir_status mark(partition *p, xir_op *op, int64_t group) {
    const xir_any *old = xir_map_find(xir_op_tags(op), XIR_STR(GROUP_TAG));
    const bool same = group < 0 ? !old : old && old->kind == XIR_ANY_INT && old->as.integer == group;
    if (same) return XIR_OK;
    const xir_any number = xir_any_int(group);
    const xir_status status = xir_op_set_tag(op, XIR_STR(GROUP_TAG), group < 0 ? NULL : &number);
    if (status) return pass_no_memory(p->at);
    xir_pass_changed(p->at, 1);
    return XIR_OK;
}

static xir_status mark_all(partition *p, bool outline) {
    xir_status status = XIR_OK;
    for (xir_op *op = p->net->first; op && !status; op = op->next)
        status = mark(p, op, outline ? -1 : xir_groups_of(p->groups, op));
    return status;
}

/* A group that is a Call already stays one. */
static bool is_a_call(xir_ops ops) { return ops.size == 1 && xir_op_is(ops.data[0], xir_call_op_class()); }

static xir_status outline_all(partition *p) {
    const xir_target_row *row = xir_target_row_of(p->target);
    for (size_t i = 0; i < xir_groups_count(p->groups); i++) {
        const xir_ops ops = xir_groups_at(p->groups, i);
        char name[64];
        if (is_a_call(ops)) continue;
        snprintf(name, sizeof name, "%s%zu", row->name, i);
        const xir_outline_options how = XIR_INIT(xir_outline_options, .name = xir_str_of(name), .target = p->target);
        if (!xir_outline(p->net, ops.data, ops.size, &how)) return xir_network_status(p->net);
        xir_pass_changed(p->at, 1);
    }
    return XIR_OK;
}

/* ---- the pass --------------------------------------------------------------------------------------------------- */

static xir_status set_network_target(partition *p) {
    const bool accelerates = xir_target_row_of(p->target)->accelerator && xir_groups_count(p->groups);
    if (!accelerates) return XIR_OK;
    const xir_object *now = (const xir_object *)xir_network_ai_target(p->net);
    if (xir_network_has_ai_target(p->net) && xir_object_equal(now, (const xir_object *)p->target)) return XIR_OK;
    if (xir_network_set_ai_target(p->net, p->target)) return pass_no_memory(p->at);
    xir_pass_changed(p->at, 1);
    return XIR_OK;
}

static xir_status run(xir_pass *at) {
    partition p = { .at = at, .net = at->net, .slots = xir_network_slot_count(at->net) };
    const xir_allocator *alloc = &at->net->alloc;
    const bool outline = xir_pass_bool(at, "outline");
    size_t borders = 0;
    xir_status status = pass_target(at, &p.target);
    if (status) return status;
    p.takes = mem_new(alloc, 2 * p.slots + 1);
    if (!p.takes) return pass_no_memory(at);
    memset(p.takes, 0, 2 * p.slots + 1);
    p.asked = p.takes + p.slots;
    const bool host = xir_target_kind_of(p.target) == XIR_TARGET_HOST;
    status = host ? xir_pass_fail(at, XIR_E_INVALID, NULL, "option target: the host has what no other target runs")
                  : check_others(&p);
    if (!status) status = find_legal(&p);
    if (!status) status = make_groups(&p);
    if (!status) status = keep_worthy(&p, &borders);
    if (!status) status = set_network_target(&p);
    if (!status) status = partition_place(&p);
    if (!status) status = mark_all(&p, outline);
    if (!status) status = partition_report(&p, borders);
    if (!status && outline) status = outline_all(&p);
    xir_groups_free(p.groups);
    mem_free(alloc, p.takes, 2 * p.slots + 1);
    return status;
}

static const xir_pass_option options[] = {
    TARGET_OPTION,
    { "min",     XIR_PASS_INT,  "1",     "the fewest ops of a group"                                              },
    { "gain",    XIR_PASS_INT,  "0",     "the fewest bytes of values that stay inside a group"                    },
    { "outline", XIR_PASS_BOOL, "false", "each group becomes a Call; otherwise its ops have the tag xir.group"    },
};

const xir_pass_decl pass_partition = {
    XIR_PASS_HEAD("partition", "gives ops to the target that runs them, in convex groups, and says why others stay"),
    .level = XIR_LEVEL_NEEDED,
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .run = run,
};
