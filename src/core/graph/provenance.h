/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Recording what ops stand for (xir/provenance.h). An *origin* is one state of an op or of Params: the step in which it
 * came to be, and the origins that it was made of, which come before it in one growing list. An op that absorbs another
 * gets a new origin; what was made of it earlier keeps the old one. The calls below are for the few places where ops
 * replace others; they cost one comparison if the network has no recorder, and never fail: a recorder that has lost
 * something says so from then on. */
#ifndef CORE_PROVENANCE_H
#define CORE_PROVENANCE_H

#include <xir/provenance.h>
#include "graph.h"

typedef struct origin {
    uint32_t target;            /* slot of an op, or ORIGIN_PARAMS and the number of Params          */
    uint32_t step;              /* and ORIGIN_SERVES: of an op that a pass inserted for those that use it */
    uint32_t from, n;           /* the origins that it is made of, in `parents`; none: a source      */
} origin;
#define ORIGIN_SERVES 0x80000000u
#define ORIGIN_PARAMS 0x80000000u
#define VALUE_BETWEEN 0x80000000u
#define ORIGIN_NONE   0x7FFFFFFFu   /* a source that is known by its id alone                        */

/* The same for values: both of two others or, if b is 0, a source value: its id, and in a the origin of the op that
 * makes it, 0: none or unknown. */
typedef struct value_origin { uint32_t a, b; int64_t id; } value_origin;

typedef struct u32_list { uint32_t *items; size_t n, room; } u32_list;

/* The successor of a value while a scope is open: an op or Params from before gets what it stands for at the end of
 * the scope. */
typedef struct origin_heir {
    const xir_value *to;
    const xir_op    *from;      /* NULL: Params                                                      */
    uint32_t         target, was;
    bool             is_new;    /* `to` is made for the scope, and is in place of one of its ops     */
} origin_heir;

/* That an op of a scope reads a value. */
typedef struct scope_read { const xir_value *value; uint32_t op; } scope_read;

/* A new op of a scope: which ops of the scope, as bits, depend on what it reads, and on which what it leads to
 * depends. */
typedef uint64_t op_set;
typedef struct new_op { const xir_op *op; op_set below, above; } new_op;

/* While it is open, new ops and Params are made for these ops. */
enum { SCOPE_OPS = 64 };
typedef struct provenance_scope {
    struct provenance_scope *outer;
    xir_provenance          *p;              /* NULL: nobody records                                     */
    uint32_t                 slots, params;  /* from these numbers on they are new                       */
    size_t                   held, heirs, reads;   /* where those of this scope begin                    */
    size_t                   n;
    const xir_op            *ops[SCOPE_OPS];
} provenance_scope;

struct xir_provenance {
    xir_network      *net;
    const xir_allocator *alloc;
    xir_status        status;
    u32_list          of_op, of_params;      /* by slot and by number: the newest origin, 0: none        */
    origin           *origins;               /* from 1 on; those of the sources first                    */
    size_t            n_origins, origin_room;
    u32_list          parents;
    xir_provenance_source *sources;          /* of the origins 1, 2, …                                   */
    size_t            n_sources, source_room;
    pointer_table     value_at;              /* value -> its newest value origin, and VALUE_BETWEEN      */
    value_origin     *values;
    size_t            n_values, value_room;
    xir_str          *steps;
    size_t            n_steps, step_room;
    const xir_op    **ops;                   /* by slot: those seen at the end of a step                 */
    const xir_value **params;                /* by number, the same                                      */
    size_t            op_room, param_room;
    uint32_t          first_slots, first_params;   /* from these numbers on they were made since          */
    uint32_t          seen_params;           /* those below are in `params`                              */
    provenance_scope *scope;
    u32_list          held;                  /* origins of Params that the ops of open scopes read       */
    origin_heir      *heirs;
    size_t            n_heirs, heir_room;
    scope_read       *reads;                 /* of the ops of open scopes                                */
    size_t            n_reads, read_room;
    new_op           *news;                  /* scratch of provenance_new.c                              */
    size_t            n_news, news_room;
};

/* The origin of an op, of Params, and the value origin of a value; 0: none. */
static inline uint32_t origin_at(const u32_list *list, uint32_t i) { return i < list->n ? list->items[i] : 0; }
static inline uint32_t origin_step(const origin *o) { return o->step & ~ORIGIN_SERVES; }
static inline uint32_t origin_of_op(const xir_provenance *p, const xir_op *op) {
    return origin_at(&p->of_op, op->slot);
}
/* Returns true if the op of an origin only serves others: it stands for those that use it. */
static inline bool origin_serves(const xir_provenance *p, uint32_t i) {
    return i > p->n_sources && (!p->origins[i].n || p->origins[i].step & ORIGIN_SERVES);
}
uint32_t origin_of_value(const xir_provenance *p, const xir_value *v);   /* of its op, or of the Params */
uint32_t value_origin_of(const xir_provenance *p, const xir_value *v);
/* Returns true if a value that stands for sources' values is also a value in between: it has taken the place of one
 * that stands for none, or stood for none when it took the place of one. The ops that make and read it have sources
 * of both. That is rare: it holds for 21 of the 258 144 values that random graphs have after each pass. */
bool value_is_between(const xir_provenance *p, const xir_value *v);

/* Notes that memory ran out, if `ok` is false. Returns `ok`. */
bool provenance_keep(xir_provenance *p, bool ok);
/* Makes room for one more item of an array of the recorder; false without memory. */
#define PROVENANCE_ROOM(p, items, n, room) \
    provenance_keep(p, mem_reserve((p)->alloc, (void **)&(p)->items, &(p)->room, (p)->n + 1, sizeof *(p)->items))
static inline bool u32_push(const xir_allocator *alloc, u32_list *list, uint32_t item) {
    if (!mem_reserve(alloc, (void **)&list->items, &list->room, list->n + 1, sizeof item)) return false;
    list->items[list->n++] = item;
    return true;
}
/* Adds an origin whose parents are already in the list, and makes it the newest one of its target. */
bool origin_add(xir_provenance *p, uint32_t target, size_t from, size_t n);
/* The target also stands for these origins from now on. */
void origin_absorb(xir_provenance *p, uint32_t target, const uint32_t *list, size_t n);
uint32_t value_origin_add(xir_provenance *p, value_origin v);            /* 0 without memory            */

/* provenance_new.c: gives new ops of a scope with several ops those that they stand for, one by one, as far as they
 * lead to what they take the place of. */
void scope_give_each(xir_provenance *p, const provenance_scope *s);
bool scope_is_replaced(const provenance_scope *s, const xir_op *op);
size_t scope_place(const provenance_scope *s, const xir_op *op);   /* SCOPE_OPS: it is not one of its ops */
bool origin_add_own(xir_provenance *p, size_t from, const xir_op *op);

/* Visits the sub ops of an op and those of another in pairs, but not their sub ops. Returns false if a visit does, or
 * if the ops differ in class or in how many they have. */
bool ops_each_pair(const xir_op *a, const xir_op *b, bool (*visit)(void *user, const xir_op *a, const xir_op *b),
                   void *user);

void provenance_open(xir_provenance *p, provenance_scope *s);
void provenance_scope_op(provenance_scope *s, const xir_op *op);
void provenance_close(provenance_scope *s);
void provenance_note_changed(xir_provenance *p, const xir_value *v);
void provenance_note_replaced(xir_provenance *p, const xir_value *from, const xir_value *to);
void provenance_note_passed(xir_provenance *p, const xir_value *from, const xir_value *to);
void provenance_note_reordered(xir_provenance *p, const xir_value *from, const xir_value *to);
void provenance_note_reused(xir_provenance *p, const xir_op *op);
void provenance_note_moved(xir_provenance *p, const xir_value *from, const xir_value *to);
void provenance_note_absorbed(xir_provenance *p, const xir_op *op, const xir_op *other);
void provenance_note_outlined(xir_provenance *p, const xir_op *call, xir_op *const *ops, size_t n);
void provenance_note_inlined(xir_provenance *p, const xir_value *from, const xir_value *to);
void provenance_note_copied(xir_provenance *p, const xir_op *copy, const xir_op *op);
void provenance_settle(xir_provenance *p);

/* New ops and Params are made for an op, until provenance_end; scopes nest. provenance_begin_many opens one to which
 * up to SCOPE_OPS ops are added. */
static inline void provenance_begin_many(xir_network *net, provenance_scope *s) {
    s->p = net->provenance;
    if (s->p) provenance_open(s->p, s);
}
static inline void provenance_begin(xir_network *net, provenance_scope *s, const xir_op *op) {
    provenance_begin_many(net, s);
    if (s->p) provenance_scope_op(s, op);
}
static inline void provenance_end(const xir_network *net, provenance_scope *s) {
    if (s->p && net->provenance == s->p) provenance_close(s);   /* unless it was freed meanwhile */
}

/* The value has other elements than before: it stands for none of the sources' values. */
static inline void provenance_changed(const xir_value *v) {
    xir_network *net = value_net(v);
    if (net->provenance) provenance_note_changed(net->provenance, v);
}
/* `to` takes the place of `from`. */
static inline void provenance_replaced(xir_network *net, const xir_value *from, const xir_value *to) {
    if (net->provenance) provenance_note_replaced(net->provenance, from, to);
}
/* Users of `from` now use `to`, from which `from` was computed by ops that are not needed any more. */
static inline void provenance_passed(xir_network *net, const xir_value *from, const xir_value *to) {
    if (net->provenance) provenance_note_passed(net->provenance, from, to);
}
/* An op that used `from` uses `to`, which is the same value in another order of axes. */
static inline void provenance_reordered(xir_network *net, const xir_value *from, const xir_value *to) {
    if (net->provenance) provenance_note_reordered(net->provenance, from, to);
}
/* The op, which a pass had inserted, serves other ops than before: those that use it at the end of the step. */
static inline void provenance_reused(const xir_op *op) {
    if (op->net->provenance) provenance_note_reused(op->net->provenance, op);
}
/* The record of a value has another address. */
static inline void provenance_moved(xir_network *net, const xir_value *from, const xir_value *to) {
    if (net->provenance) provenance_note_moved(net->provenance, from, to);
}
/* `op` does what another op did, too. */
static inline void provenance_absorbed(const xir_op *op, const xir_op *other) {
    if (op->net->provenance) provenance_note_absorbed(op->net->provenance, op, other);
}
/* The new ops of the innermost scope take the place of this op, too. */
static inline void provenance_also(const xir_op *op) {
    if (op->net->provenance && op->net->provenance->scope) provenance_scope_op(op->net->provenance->scope, op);
}
/* `copy` is a copy of an op, with copies of its sub ops. */
static inline void provenance_copied(const xir_op *copy, const xir_op *op) {
    if (op->net->provenance) provenance_note_copied(op->net->provenance, copy, op);
}
/* The ops are in the body of the call, which stands for all of them. */
static inline void provenance_outlined(const xir_op *call, xir_op *const *ops, size_t n) {
    if (call->net->provenance) provenance_note_outlined(call->net->provenance, call, ops, n);
}
/* `to`, a value of a body, is what an output of the call was. */
static inline void provenance_inlined(xir_network *net, const xir_value *from, const xir_value *to) {
    if (net->provenance) provenance_note_inlined(net->provenance, from, to);
}

#endif
