/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

#include "ahead.h"
#include <xir/work.h>
#include "actual.h"
#include "kernels.h"

enum {
    MOST_INPUTS  = 8,                  /* of an op                                                              */
    MOST_OUTPUTS = 4,
    WINDOW       = 256,                /* ops after the current one that are looked at: their results wait      */
    MOST_PATHS   = 32,                 /* that are computed at the same time                                    */
    MOST_OPS     = 256,                /* of all of them                                                        */
    STEPS_A_PATH = 8 * STEPS_A_LOOP,   /* a longer one ends: nothing is shared while the last path is computed  */
    STEPS_A_RUN  = 128 * STEPS_A_LOOP, /* of all of them in a network: fewer are not worth making a thread      */
    STEPS_A_HEAD = STEPS_A_PIECE / 4,  /* the least of the first op: gathering paths must take less than the op */
    STEPS_AN_ELEMENT = 4,              /* of a loop (spread.h)                                                  */
};

typedef struct ahead_turn {
    uint32_t place;     /* in the execution order                               */
    uint32_t ready;     /* the place from which on all its inputs exist         */
    uint64_t steps;     /* of its loops; 0: it is computed in its turn          */
    uint64_t work;      /* what it would take of a limit, if its results wait   */
    size_t   path;      /* the number of the path that it was last added to     */
    bool     waits;     /* its results do                                       */
} ahead_turn;

/* ---- which ops --------------------------------------------------------------------------------------------------- */

/* Returns how many steps the loops of an op take if all of them stay on one thread; 0 if threads share one. */
static uint64_t steps_alone(const xir_op *op, bool eager) {
    const kernel_row *own = op->cls->more->own_kernel;
    xir_work work = XIR_INIT(xir_work);
    if (!own || class_kernel(op->cls) != own->run || own->run == kernel_call || op_has_children(op)) return 0;
    if (op->n_inputs > MOST_INPUTS || op->n_outputs > MOST_OUTPUTS) return 0;
    const bool alone = own->alone && own->alone(op);
    if (xir_op_work(op, &work, NULL)) return alone ? STEPS_A_LOOP : eager;
    const uint64_t steps = xir_work_add(work.multiply_adds, xir_work_times(work.element_ops, STEPS_AN_ELEMENT));
    return eager || alone || steps < STEPS_A_LOOP ? steps + !steps : 0;
}

/* The place from which on the inputs of an op exist; UINT32_MAX if an input is not computed by the network. */
static uint32_t ready_from(const ahead *a, const xir_op *op) {
    uint32_t ready = 0;
    for (size_t i = 0; i < op->n_inputs; i++) {
        const xir_value *v = op_inputs(op)[i].value;
        if (!v || value_is_params(v)) continue;
        const xir_op *from = value_op(v);
        if (!from || from->net != op->net || !(from->flags & OP_PLACED)) return UINT32_MAX;
        const uint32_t after = a->turns[from->slot].place + 1;
        if (after > ready) ready = after;
    }
    return ready;
}

/* Returns true if a path may begin with an op. */
static bool may_begin(const ahead *a, const ahead_turn *t) {
    return a->within->pool->eager ? t->steps != 0 : t->steps >= STEPS_A_HEAD;
}

static void free_all(ahead *a) {
    mem_free(a->alloc, a->turns, a->slots * sizeof *a->turns);
    mem_free(a->alloc, (void *)a->early, (a->n_ops + 1) * sizeof *a->early);
    mem_free(a->alloc, (void *)a->arrays, (a->n_arrays + 1) * sizeof *a->arrays);
    a->turns = NULL;
}

void ahead_open(ahead *a, const xir_network *net, const unsigned char *left_out, const size_t *first, size_t n_arrays,
                budget *within, ahead_array_fn *array_of, const void *user) {
    *a = (ahead){ .within = within, .first = first, .array_of = array_of, .user = user, .alloc = &net->ctx->alloc,
                  .slots = net->n_slots + (size_t)1, .n_ops = net->n_ops, .n_arrays = n_arrays };
    const xir_op *in = xir_network_input_op(net), *out = xir_network_output_op(net);
    if (within->pool->most < 2) return;
    a->turns = mem_new(a->alloc, a->slots * sizeof *a->turns);
    a->early = mem_new(a->alloc, (a->n_ops + 1) * sizeof *a->early);
    a->arrays = mem_new(a->alloc, (n_arrays + 1) * sizeof *a->arrays);
    if (a->turns) memset(a->turns, 0, a->slots * sizeof *a->turns);   /* an op may use a later one, which fails */
    if (a->arrays) memset((void *)a->arrays, 0, (n_arrays + 1) * sizeof *a->arrays);
    uint32_t place = 0;
    uint64_t steps = 0;
    for (const xir_op *op = a->turns && a->early ? net->first : NULL; op; op = op->next) {
        ahead_turn *t = &a->turns[op->slot];
        *t = (ahead_turn){ .place = place++ };
        t->ready = ready_from(a, op);
        if (op == in || op == out || t->ready == UINT32_MAX || (left_out && left_out[op->slot])) continue;
        t->steps = steps_alone(op, within->pool->eager);
        steps = xir_work_add(steps, t->steps);
        if (may_begin(a, t) && t->ready < t->place) a->early[a->n_early++] = op;
    }
    const bool is_worth_it = a->n_early && (within->pool->eager || steps >= STEPS_A_RUN);
    if (!is_worth_it || !a->arrays) free_all(a);
}

/* ---- gathering --------------------------------------------------------------------------------------------------- */

/* Paths of ops, each the user of the one before it. */
typedef struct group {
    ahead        *a;
    const xir_op *ops[MOST_OPS];
    size_t        ends[MOST_PATHS];   /* the index after the last op of each path */
    size_t        n, n_ops;
} group;

static xir_array **waiting(const ahead *a, const xir_value *v) {
    const xir_op *op = value_op(v);
    return &a->arrays[a->first[op->slot] + (size_t)(v - op_outputs(op))];
}

static const xir_array *find(const ahead *a, const xir_value *v) {
    const xir_array *array = *waiting(a, v);
    return array ? array : a->array_of(a->user, v);
}

/* Returns true if the inputs of an op exist, or are computed by the path before it. */
static bool has_inputs(const ahead *a, const xir_op *op, size_t path) {
    for (size_t i = 0; i < op->n_inputs; i++) {
        const xir_value *v = op_inputs(op)[i].value;
        if (!v || value_is_params(v)) continue;
        if (!(path && a->turns[value_op(v)->slot].path == path) && !find(a, v)) return false;
    }
    return true;
}

/* The only op that uses the first output of an op; NULL: none, or several. */
static const xir_op *only_user(const xir_op *op) {
    const xir_use *use = op->n_outputs ? op_outputs(op)[0].uses : NULL;
    if (!use) return NULL;
    for (const xir_use *other = use->next; other; other = other->next)
        if (other->user != use->user) return NULL;
    return use->user;
}

/* Adds the path from an op on. Returns its steps. */
static uint64_t add_path(ahead *a, const xir_op *op, uint32_t end, size_t path, group *g) {
    uint64_t steps = 0;
    while (op && op->flags & OP_PLACED && g->n_ops < MOST_OPS && steps < STEPS_A_PATH) {
        ahead_turn *t = &a->turns[op->slot];
        if (!t->steps || t->waits || t->path || t->place >= end || !has_inputs(a, op, path)) break;
        t->path = path;
        g->ops[g->n_ops++] = op;
        steps = xir_work_add(steps, t->steps);
        op = only_user(op);
    }
    if (steps) g->ends[g->n++] = g->n_ops;
    return steps;
}

/* The next of the early ops whose turn is before `end` and that can be computed now, from index i on; n_early: none. */
static size_t next_ready(const ahead *a, size_t i, uint32_t now, uint32_t end) {
    for (; i < a->n_early; i++) {
        const ahead_turn *t = &a->turns[a->early[i]->slot];
        if (t->place >= end) return a->n_early;
        if (t->ready <= now && t->steps && !t->waits) return i;
    }
    return i;
}

/* Gathers paths to compute at the turn of an op, which begins the first of them. Returns the steps of all. */
static uint64_t gather(ahead *a, const xir_op *op, group *g) {
    const uint32_t now = a->turns[op->slot].place, end = now + WINDOW;
    const size_t most = 4 * a->within->pool->most < MOST_PATHS ? 4 * a->within->pool->most : MOST_PATHS;
    while (a->passed < a->n_early && a->turns[a->early[a->passed]->slot].place <= now) a->passed++;
    size_t i = next_ready(a, a->passed, now, end);
    uint64_t steps = i < a->n_early ? add_path(a, op, end, 1, g) : 0;
    for (; i < a->n_early && g->n && g->n < most; i = next_ready(a, i + 1, now, end))
        steps = xir_work_add(steps, add_path(a, a->early[i], end, g->n + 1, g));
    for (size_t k = 0; k < g->n_ops; k++) a->turns[g->ops[k]->slot].path = 0;
    return steps;
}

/* ---- computing --------------------------------------------------------------------------------------------------- */

static bool is_stopped(void *user) { return pool_stops(user, STEPS_A_QUESTION); }

/* The threads of the run are busy with this loop, so the loops of an op stay on its thread. */
static bool compute_one(ahead *a, pool_share *share, const xir_op *op) {
    const xir_array *inputs[MOST_INPUTS];
    xir_array *outputs[MOST_OUTPUTS] = { NULL };
    ahead_turn *t = &a->turns[op->slot];
    budget own = { .op_work = a->within->op_work, .work = a->within->work, .elements = a->within->elements,
                   .rooms = a->within->rooms, .cancel = a->within->cancel ? is_stopped : NULL, .user = share };
    for (size_t i = 0; i < op->n_inputs; i++) {
        const xir_value *v = op_inputs(op)[i].value;
        inputs[i] = v && !value_is_params(v) ? find(a, v) : NULL;
    }
    t->waits = exec_op(op, inputs, outputs, &own, NULL) == XIR_OK;
    if (!t->waits) {
        t->steps = 0;
        return false;
    }
    t->work = a->within->work - own.work;
    for (size_t i = 0; i < op->n_outputs; i++) *waiting(a, &op_outputs(op)[i]) = outputs[i];
    return true;
}

/* An item is a path. */
static void compute(pool_share *share, size_t from, size_t to, void *user) {
    const group *g = user;
    for (size_t i = from; i < to; i++) {
        size_t k = i ? g->ends[i - 1] : 0;
        while (k < g->ends[i] && compute_one(g->a, share, g->ops[k])) k++;
    }
}

xir_status ahead_compute(ahead *a, const xir_op *op, xir_diags *why) {
    if (!a->turns || !may_begin(a, &a->turns[op->slot]) || a->turns[op->slot].waits) return XIR_OK;
    group g;
    g.a = a;
    g.n = g.n_ops = 0;
    const uint64_t steps = gather(a, op, &g);
    if (g.n < 2 || (steps < STEPS_A_LOOP && !a->within->pool->eager)) return XIR_OK;
    xir_kernel at = { .op = op, .ctx = op->net->ctx, .within = a->within, .why = why };
    (void)pool_for(&at, g.n, STEPS_A_LOOP, compute, &g);
    return at.status;
}

/* ---- results ----------------------------------------------------------------------------------------------------- */

/* The arrays of an op that waits, which it does no more. */
static xir_array **results(ahead *a, const xir_op *op) {
    ahead_turn *t = a->turns ? &a->turns[op->slot] : NULL;
    if (!t || !t->waits) return NULL;
    t->waits = false;
    return &a->arrays[a->first[op->slot]];
}

bool ahead_take(ahead *a, const xir_op *op, xir_array **outputs) {
    if (!a->turns || !a->turns[op->slot].waits) return false;
    const uint64_t work = a->turns[op->slot].work;
    if (work > a->within->work) {   /* its turn says so, with a finding */
        ahead_drop(a, op);
        return false;
    }
    if (a->within->work != UINT64_MAX) a->within->work -= work;
    xir_array **arrays = results(a, op);
    memcpy((void *)outputs, (void *)arrays, op->n_outputs * sizeof *arrays);
    memset((void *)arrays, 0, op->n_outputs * sizeof *arrays);
    return true;
}

/* Results are at most WINDOW places from the current one, so this is not called more deeply. */
void ahead_drop(ahead *a, const xir_op *op) {
    xir_array **arrays = results(a, op);
    for (size_t i = 0; arrays && i < op->n_outputs; i++) {
        array_give_back(arrays[i], a->within->rooms);
        arrays[i] = NULL;
        for (const xir_use *use = op_outputs(op)[i].uses; use; use = use->next)
            if (use->user->flags & OP_PLACED) ahead_drop(a, use->user);
    }
}

void ahead_close(ahead *a) {
    if (!a->turns) return;
    for (size_t i = 0; i < a->n_arrays; i++) xir_array_free(a->arrays[i]);
    free_all(a);
}
