/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The check of a network: every op (validate_op.c), the ids, the order, and the ends. It only reads, and adds every
 * finding. The place of a finding ("/ops/17") is only made if there is a finding. */
#include <inttypes.h>
#include <stdio.h>
#include "task.h"
#include "validate.h"

enum { FEW = 256, MANY = 1024 };   /* sizes of a memo: for a small network and for a large one */

/* ---- ids ---------------------------------------------------------------------------------------------------- */

static void start_ids(id_set *set, const xir_allocator *alloc, int64_t next, uint64_t expected) {
    *set = (id_set){ .highest = -1 };
    if (next < 0 || (uint64_t)next > expected * 64 + 4096) return;
    size_t bytes = ((size_t)next / 64 + 1) * sizeof *set->bits;
    set->bits = mem_new(alloc, bytes);
    if (!set->bits) return;   /* slower, but not wrong */
    memset(set->bits, 0, bytes);
    set->room = ((uint64_t)next / 64 + 1) * 64;
}

static void end_ids(id_set *set, const xir_allocator *alloc) {
    mem_free(alloc, set->bits, (size_t)(set->room / 8));
}

/* Returns true if this id is met for the first time; *known says whether that can be decided. */
static bool first_met(id_set *set, int64_t id, bool *known) {
    *known = true;
    if (id > set->highest) {
        set->highest = id;
        if ((uint64_t)id < set->room) set->bits[id / 64] |= (uint64_t)1 << (id % 64);
        return true;
    }
    if (id < 0 || (uint64_t)id >= set->room) {
        *known = false;
        return false;
    }
    bool met = set->bits[id / 64] >> (id % 64) & 1;
    set->bits[id / 64] |= (uint64_t)1 << (id % 64);
    return !met;
}

/* The position of an op, made into a path only for a finding. */
typedef struct trail { const struct trail *up; const char *field; size_t index; } trail;

static xir_str trail_path(place *p, const trail *at) {
    xir_str path = at->up ? trail_path(p, at->up) : XIR_STR("");
    int n = snprintf(p->text + path.size, sizeof p->text - path.size, "/%s/%zu", at->field, at->index);
    size_t size = n < 0 ? path.size : path.size + (size_t)n;
    return (xir_str){ p->text, size < sizeof p->text ? size : sizeof p->text - 1 };
}

/* Checks the ids of the op and its sub ops. */
static xir_status check_ids(checker *c, const xir_op *op, const trail *at, xir_diags *why) {
    const xir_network *net = c->net;
    xir_status first = XIR_OK;
    bool known;
    place p, q;
    if (op->id < 0) {
        keep_first(&first, diag_fail(why, XIR_E_BOUNDS, place_under(&p, trail_path(&q, at), "/op_id", 0),
                                     "op id %" PRId64 " is below 0", op->id));
    }
    bool alone = first_met(&c->op_ids, op->id, &known);
    if (!known) alone = net_find_op(net, op->id) == op;
    if (!alone) {
        keep_first(&first, diag_fail(why, XIR_E_EXISTS, place_under(&p, trail_path(&q, at), "/op_id", 0),
                                     "op id %" PRId64 " is taken by another op", op->id));
    }
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        const xir_value *v = &op_outputs(op)[i];
        alone = first_met(&c->value_ids, v->id, &known);
        if (!known) alone = net_find_value(net, v->id) == v;
        if (alone) continue;
        keep_first(&first, diag_fail(why, XIR_E_EXISTS, place_under(&p, trail_path(&q, at), "/outputs/%zu/v_id", i),
                                     "value id %" PRId64 " is taken by another value", v->id));
    }
    for (uint32_t i = 0; i < op->cls->n_fields && !op->cls->plain; i++) {
        const xir_field *f = &op->cls->fields[i];
        if (f->kind != XIR_KIND_OPS) continue;
        const xir_ops *children = body_at(op->attrs, f);
        for (size_t j = 0; j < children->size; j++) {
            keep_first(&first, check_ids(c, children->data[j], &(trail){ at, f->name.data, j }, why));
        }
    }
    return first;
}

/* Returns true if an op is the Output of a network that returns nothing: a file of definitions, or a foreign program
 * that only prints. What XIR's own ops compute is returned. */
static bool returns_nothing(const xir_op *op) {
    const xir_op *before = op->prev;
    return op->cls->traits & XIR_TRAIT_SINK &&
           (!before || before->cls->traits & XIR_TRAIT_SOURCE || class_is_foreign(before->cls));
}

/* Checks that depend on the op's position. */
static xir_status check_standing(checker *c, xir_op *op, xir_str path, xir_diags *why) {
    const xir_network *net = c->net;
    xir_status first = XIR_OK;
    place p;
    uint32_t traits = op->cls->traits;
    if (traits & XIR_TRAIT_SOURCE && op != net->first) {
        keep_first(&first, diag_fail(why, XIR_E_INVALID, path, "an Input must be the first op"));
    }
    if (traits & XIR_TRAIT_SINK && op != net->last && net->last->cls->traits & XIR_TRAIT_SINK) {
        keep_first(&first, diag_fail(why, XIR_E_INVALID, path, "a network has one Output, and this is another"));
    }
    if (!op->n_inputs && !(traits & (XIR_TRAIT_SOURCE | XIR_TRAIT_FREE)) && !class_is_foreign(op->cls) &&
        !returns_nothing(op)) {
        keep_first(&first, diag_fail(why, XIR_E_MISSING, place_under(&p, path, "/inputs", 0), "the op has no inputs"));
    }
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const xir_value *v = op_inputs(op)[i].value;
        const xir_op *maker = v ? value_op(v) : NULL;
        if (!maker || (maker->flags & OP_PLACED && maker->position < op->position)) continue;
        if (maker->flags & OP_CHILD) continue;
        keep_first(&first, diag_fail(why, XIR_E_INVALID, place_under(&p, path, "/inputs/%zu", i),
                                     "%s is used before op %" PRId64 " makes it", value_called(v).text, maker->id));
    }
    return first;
}

/* A network of XIR's own ops has an Input at its head and an Output at its end; one of a dialect need not. */
static xir_status check_ends(const xir_network *net, xir_diags *why) {
    xir_status first = XIR_OK;
    if (!net->first)
        return diag_fail(why, XIR_E_MISSING, XIR_STR("/ops"),
                         "the network is empty: expected an Input and an Output");
    if (net->first->cls->opaque) return XIR_OK;
    if (!(net->first->cls->traits & XIR_TRAIT_SOURCE)) {
        keep_first(&first,
                   diag_fail(why, XIR_E_INVALID, XIR_STR("/ops/0"), "the first op must be an Input, found a %.*s",
                             (int)net->first->cls->key.size, net->first->cls->key.data));
    }
    const xir_op *last = net->last;
    if (!(last->cls->traits & XIR_TRAIT_SINK) && !last->cls->opaque) {
        place p;
        keep_first(&first, diag_fail(why, XIR_E_INVALID, place_under(&p, XIR_STR("/ops"), "/%zu", net->n_ops - 1),
                                     "the last op must be an Output, found a %.*s", (int)last->cls->key.size,
                                     last->cls->key.data));
    }
    return first;
}

static xir_status validate(checker *c, xir_diags *why) {
    const xir_network *net = c->net;
    /* Params have ids too. They come first, so that an output with the same id is the one that is reported. */
    xir_status first = XIR_OK;
    c->value_ids.highest = c->value_ids.room ? (int64_t)c->value_ids.room - 1 : INT64_MAX;   /* they are not in order */
    for (const xir_value *v = net->all_params; v; v = value_params(v)->next) {
        bool known, alone = v->id < 0 || first_met(&c->value_ids, v->id, &known);
        if (!alone && !known) alone = net_find_value(net, v->id) == v;
        if (alone) continue;
        keep_first(&first, diag_fail(why, XIR_E_EXISTS, XIR_STR("/ops"),
                                     "value id %" PRId64 " is taken by another value", v->id));
    }
    keep_first(&first, check_ends(net, why));
    size_t i = 0;
    for (xir_op *op = net->first; op; op = op->next, i++) {
        xir_status status = checker_op(c, op, XIR_STR(""), NULL);
        keep_first(&status, check_standing(c, op, XIR_STR(""), NULL));
        if (status) {
            /* Once more, to make the sentences. */
            place p;
            xir_str path = place_under(&p, XIR_STR("/ops"), "/%zu", i);
            status = checker_op(c, op, path, why);
            keep_first(&status, check_standing(c, op, path, why));
        }
        keep_first(&status, check_ids(c, op, &(trail){ NULL, "ops", i }, why));
        keep_first(&first, status);
        if (!task_worked(TASK_PER_OBJECT)) return diag_memory(why);
    }
    return first;
}

/* Allocates the memos, by the size of the network. */
static void start_memo(checker *c, const xir_allocator *alloc, size_t n_ops) {
    c->memo = n_ops < FEW ? FEW : MANY;
    c->good = mem_new(alloc, c->memo * sizeof *c->good);
    c->ruled = mem_new(alloc, c->memo * sizeof *c->ruled);
    if (c->good) memset((void *)c->good, 0, c->memo * sizeof *c->good);
    if (c->ruled) memset((void *)c->ruled, 0, c->memo * sizeof *c->ruled);
}

static void end_memo(checker *c, const xir_allocator *alloc) {
    mem_free(alloc, (void *)c->good, c->memo * sizeof *c->good);
    mem_free(alloc, c->ruled, c->memo * sizeof *c->ruled);
}

xir_status xir_network_validate(const xir_network *net, xir_diags *why) {
    if (!net) return diag_null(why, "network");
    rules_memo rules = { 0 };
    checker c = { .net = net, .rules = &rules };
    pool_init_reader(&c.pool, &net->pool);
    start_memo(&c, &net->alloc, net->n_ops);
    start_ids(&c.op_ids, &net->alloc, net->next_op_id, net->n_ops);
    start_ids(&c.value_ids, &net->alloc, net->next_value_id, net->n_ops + net->n_params);
    bool tables = c.op_ids.room && c.value_ids.room, memory = c.good && c.ruled;
    if (memory && !tables) memory = net_build_ids(net);
    xir_status first = memory ? validate(&c, why) : diag_memory(why);
    end_ids(&c.op_ids, &net->alloc);
    end_ids(&c.value_ids, &net->alloc);
    end_memo(&c, &net->alloc);
    pool_free(&c.pool);
    return first;
}
