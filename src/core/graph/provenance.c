/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Recording. A call that cannot note everything leaves a status that says so; nothing is undone. An origin follows
 * those that it is made of, so a walk over the list meets parents first. Ops that are made for nobody in particular get
 * their origin at the end of the step, from the ops that they serve. */
#include "provenance.h"

bool provenance_keep(xir_provenance *p, bool ok) {
    if (!ok && !p->status) p->status = XIR_E_MEMORY;
    return ok;
}

/* ---- lists ------------------------------------------------------------------------------------------------------ */

static bool add_u32(xir_provenance *p, u32_list *list, uint32_t item) {
    return provenance_keep(p, u32_push(p->alloc, list, item));
}

/* Sets item `i`; items before it that are missing are 0. */
static bool set_u32(xir_provenance *p, u32_list *list, uint32_t i, uint32_t item) {
    if (i >= list->n) {
        if (!provenance_keep(p, mem_reserve(p->alloc, (void **)&list->items, &list->room, (size_t)i + 1, sizeof item)))
            return false;
        memset(list->items + list->n, 0, (i + 1 - list->n) * sizeof item);
        list->n = (size_t)i + 1;
    }
    list->items[i] = item;
    return true;
}

/* ---- origins ---------------------------------------------------------------------------------------------------- */

static uint32_t target_of_params(const xir_value *v) { return ORIGIN_PARAMS | value_params(v)->number; }

static uint32_t origin_of_target(const xir_provenance *p, uint32_t target) {
    return target & ORIGIN_PARAMS ? origin_at(&p->of_params, target & ~ORIGIN_PARAMS) : origin_at(&p->of_op, target);
}

uint32_t origin_of_value(const xir_provenance *p, const xir_value *v) {
    if (value_op(v)) return origin_of_op(p, value_op(v));
    return value_is_params(v) ? origin_at(&p->of_params, value_params(v)->number) : 0;
}

bool origin_add(xir_provenance *p, uint32_t target, size_t from, size_t n) {
    if (p->n_origins >= INT32_MAX || from > UINT32_MAX || n > UINT32_MAX - from) {
        if (!p->status) p->status = XIR_E_LIMIT;
        return false;
    }
    if (!PROVENANCE_ROOM(p, origins, n_origins, origin_room)) return false;
    p->origins[p->n_origins] = (origin){ target, (uint32_t)p->n_steps - 1, (uint32_t)from, (uint32_t)n };
    u32_list *list = target & ORIGIN_PARAMS ? &p->of_params : &p->of_op;
    if (target != ORIGIN_NONE && !set_u32(p, list, target & ~ORIGIN_PARAMS, (uint32_t)p->n_origins)) return false;
    p->n_origins++;
    return true;
}

/* Adds an item to the parents that are being gathered from `from` on, unless it is the last one already. */
static bool origin_add_parent(xir_provenance *p, size_t from, uint32_t item) {
    if (!item || (p->parents.n > from && p->parents.items[p->parents.n - 1] == item)) return true;
    return add_u32(p, &p->parents, item);
}

/* Adds what an op stands for itself: what only serves others leaves nothing to what takes its place. */
bool origin_add_own(xir_provenance *p, size_t from, const xir_op *op) {
    const uint32_t of = origin_of_op(p, op);
    return origin_serves(p, of) || origin_add_parent(p, from, of);
}

/* Returns true if an origin is the other one or made directly of it. */
static bool has_parent(const xir_provenance *p, uint32_t i, uint32_t parent) {
    enum { LOOKED_AT = 8 };
    const origin *o = &p->origins[i];
    bool has = i == parent;
    for (uint32_t k = 0; k < o->n && k < LOOKED_AT && !has; k++) has = p->parents.items[o->from + k] == parent;
    return has;
}

/* An op that has served others stands for what it absorbs from now on. It does not absorb what serves others. */
void origin_absorb(xir_provenance *p, uint32_t target, const uint32_t *list, size_t n) {
    const size_t from = p->parents.n;
    const uint32_t at = origin_of_target(p, target), own = origin_serves(p, at) ? 0 : at;
    bool ok = origin_add_parent(p, from, own), news = false;
    for (size_t i = 0; i < n && ok; i++) {
        if (!list[i] || origin_serves(p, list[i]) || (own && has_parent(p, own, list[i]))) continue;
        ok = origin_add_parent(p, from, list[i]);
        news = true;
    }
    if (ok && news) origin_add(p, target, from, p->parents.n - from);
    else p->parents.n = from;
}

/* ---- values ----------------------------------------------------------------------------------------------------- */

uint32_t value_origin_of(const xir_provenance *p, const xir_value *v) {
    const uint32_t *at = pointer_table_find(&p->value_at, v);
    return at ? *at & ~VALUE_BETWEEN : 0;
}

bool value_is_between(const xir_provenance *p, const xir_value *v) {
    const uint32_t *at = pointer_table_find(&p->value_at, v);
    return at && *at & VALUE_BETWEEN;
}

uint32_t value_origin_add(xir_provenance *p, value_origin v) {
    const bool fits = p->n_values < INT32_MAX;
    if (!fits && !p->status) p->status = XIR_E_LIMIT;
    if (!fits || !PROVENANCE_ROOM(p, values, n_values, value_room)) return 0;
    p->values[p->n_values] = v;
    return (uint32_t)p->n_values++;
}

static void set_value_origin(xir_provenance *p, const xir_value *v, uint32_t i) {
    uint32_t *at = pointer_table_add(&p->value_at, v, i);
    if (provenance_keep(p, at)) *at = i | (*at & VALUE_BETWEEN);
}

static void set_between(const xir_provenance *p, const xir_value *v) {
    uint32_t *at = pointer_table_find(&p->value_at, v);
    if (at) *at |= VALUE_BETWEEN;
}

void provenance_note_moved(xir_provenance *p, const xir_value *from, const xir_value *to) {
    const uint32_t i = value_origin_of(p, from);
    if (!i) return;
    set_value_origin(p, to, i);
    if (value_is_between(p, from)) set_between(p, to);
}

static void join_values(xir_provenance *p, const xir_value *from, const xir_value *to) {
    const uint32_t a = value_origin_of(p, to), b = value_origin_of(p, from);
    if (!b || a == b) return;
    const uint32_t both = a ? value_origin_add(p, (value_origin){ .a = a, .b = b }) : b;
    if (both) set_value_origin(p, to, both);
    if (value_is_between(p, from)) set_between(p, to);
}

/* ---- scopes ----------------------------------------------------------------------------------------------------- */

void provenance_open(xir_provenance *p, provenance_scope *s) {
    s->outer = p->scope;
    s->slots = p->net->n_slots;
    s->params = p->net->n_params;
    s->held = p->held.n;
    s->heirs = p->n_heirs;
    s->reads = p->n_reads;
    s->n = 0;
    p->scope = s;
}

void provenance_scope_op(provenance_scope *s, const xir_op *op) {
    xir_provenance *p = s->p;
    if (s->n == SCOPE_OPS || p->scope != s) return;
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const xir_value *v = op_inputs(op)[i].value;
        const uint32_t of = v && value_is_params(v) ? origin_of_value(p, v) : 0;
        if (of) add_u32(p, &p->held, of);
        if (v && PROVENANCE_ROOM(p, reads, n_reads, read_room))
            p->reads[p->n_reads++] = (scope_read){ v, (uint32_t)s->n };
    }
    s->ops[s->n++] = op;
}

/* Returns true if a new op reads what an op makes. The newest uses are the first of the list. */
static bool is_read_by_new(const xir_op *op, uint32_t slots) {
    enum { LOOKED_AT = 64 };
    for (uint32_t i = 0; i < op->n_outputs && i < LOOKED_AT; i++) {
        size_t n = 0;
        for (const xir_use *u = op_outputs(op)[i].uses; u && n < LOOKED_AT; u = u->next, n++)
            if (u->user->slot >= slots) return true;
    }
    return false;
}

size_t scope_place(const provenance_scope *s, const xir_op *op) {
    size_t i = 0;
    while (i < s->n && s->ops[i] != op) i++;
    return i < s->n ? i : SCOPE_OPS;
}

bool scope_is_replaced(const provenance_scope *s, const xir_op *op) {
    return op->flags & OP_ERASED || !is_read_by_new(op, s->slots);
}

/* Gathers the origins of the scope's ops that were replaced: those that are erased, and others unless what was made
 * reads them. If none was, they are all of them. Those that only served others do not count. */
static bool gather_replaced(xir_provenance *p, const provenance_scope *s, size_t from) {
    bool ok = true, any = false;
    for (size_t i = 0; i < s->n && ok; i++) {
        const xir_op *op = s->ops[i];
        if (!scope_is_replaced(s, op)) continue;
        ok = origin_add_own(p, from, op);
        any = true;
    }
    for (size_t i = 0; i < s->n && ok && !any; i++) ok = origin_add_own(p, from, s->ops[i]);
    return ok;
}

/* New ops get the parents; new Params also what the ops read. */
static void give_new(xir_provenance *p, const provenance_scope *s) {
    const size_t from = p->parents.n;
    const uint32_t slots = p->net->n_slots, numbers = p->net->n_params;
    if (slots == s->slots && numbers == s->params) return;
    bool ok = gather_replaced(p, s, from);
    const size_t n = p->parents.n - from;
    for (uint32_t i = s->slots; i < slots && ok && n; i++)
        if (!origin_at(&p->of_op, i)) ok = origin_add(p, i, from, n);
    if (numbers == s->params) return;
    for (size_t i = s->held; i < p->held.n && ok; i++) ok = origin_add_parent(p, from, p->held.items[i]);
    const size_t all = p->parents.n - from;
    for (uint32_t i = s->params; i < numbers && ok && all; i++)
        if (!origin_at(&p->of_params, i)) ok = origin_add(p, ORIGIN_PARAMS | i, from, all);
}

/* An older op that took the place of an erased one also stands for it, and for the erased ops around it. */
static void give_heirs(xir_provenance *p, const provenance_scope *s) {
    uint32_t list[SCOPE_OPS + 1];
    for (size_t i = s->heirs; i < p->n_heirs; i++) {
        const origin_heir heir = p->heirs[i];
        size_t n = 0;
        if (heir.is_new) continue;
        list[n++] = heir.was;
        for (size_t k = 0; k < s->n; k++) {
            const xir_op *op = s->ops[k];
            if (op->flags & OP_ERASED && op->slot != heir.target) list[n++] = origin_of_op(p, op);
        }
        origin_absorb(p, heir.target, list, n);
    }
    p->n_heirs = s->heirs;
}

void provenance_close(provenance_scope *s) {
    xir_provenance *p = s->p;
    if (p->scope != s) return;
    p->scope = s->outer;
    if (s->n > 1) scope_give_each(p, s);
    give_new(p, s);
    give_heirs(p, s);
    p->held.n = s->held;
    p->n_reads = s->reads;
}

/* ---- replacement ------------------------------------------------------------------------------------------------ */

static bool is_of_scope(const provenance_scope *s, const xir_op *op) { return s && scope_place(s, op) < SCOPE_OPS; }

static void add_heir(xir_provenance *p, origin_heir heir) {
    if (PROVENANCE_ROOM(p, heirs, n_heirs, heir_room)) p->heirs[p->n_heirs++] = heir;
}

/* Params that are computed from other Params stand for what those stood for, too. */
static void absorb_computed(xir_provenance *p, uint32_t target, const xir_op *from) {
    enum { MOST = 32 };
    uint32_t list[MOST + 1];
    size_t n = 0;
    list[n++] = origin_of_op(p, from);
    for (uint32_t i = 0; i < from->n_inputs; i++) {
        const xir_value *v = op_inputs(from)[i].value;
        if (!v || !value_is_params(v)) continue;
        list[n++] = origin_of_value(p, v);
        if (n <= MOST) continue;
        origin_absorb(p, target, list, n);
        n = 0;
    }
    origin_absorb(p, target, list, n);
}

static bool reads(const xir_op *op, const xir_value *v) {
    for (uint32_t i = 0; op && i < op->n_inputs; i++) {
        if (op_inputs(op)[i].value == v) return true;
    }
    return false;
}

/* Returns true if only ops of the scope use a value. Then a rule that makes it the result may have changed what it
 * holds. */
static bool is_inside(const provenance_scope *s, const xir_value *v) {
    enum { LOOKED_AT = 16 };
    size_t n = 0;
    for (const xir_use *u = v->uses; u; u = u->next) {
        if (++n > LOOKED_AT || !is_of_scope(s, u->user)) return false;
    }
    return true;
}

/* Returns true if an op of the scope that uses `to` makes something else than `from` for ops outside: it will stay. */
static bool feeds_outside(const provenance_scope *s, const xir_value *to, const xir_value *from) {
    enum { LOOKED_AT = 64 };
    size_t n = 0;
    for (const xir_use *u = to->uses; u && n < LOOKED_AT; u = u->next) {
        for (uint32_t i = 0; i < u->user->n_outputs; i++) {
            const xir_value *v = &op_outputs(u->user)[i];
            for (const xir_use *w = v == from ? NULL : v->uses; w && n < LOOKED_AT; w = w->next, n++) {
                if (!is_of_scope(s, w->user)) return true;
            }
        }
    }
    return false;
}

/* A value that goes through (`to` is what `from` was computed from) takes the ops in between along only if they end
 * in a value of the source. Otherwise they were a step towards an op that stays: a Transpose for a convolution that
 * does without it. */
void provenance_note_replaced(xir_provenance *p, const xir_value *from, const xir_value *to) {
    const provenance_scope *s = p->scope;
    const xir_op *maker = value_op(to), *old = value_op(from);
    const uint32_t stands_for = value_origin_of(p, from), was = origin_of_value(p, from);
    const bool was_between = !value_origin_of(p, to) && to->uses && (!s || feeds_outside(s, to, from));
    const bool of_scope = s && maker && is_of_scope(s, maker);
    if (of_scope && is_inside(s, to)) set_value_origin(p, to, stands_for);
    else join_values(p, from, to);
    if (was_between) set_between(p, to);
    if ((!maker && !value_is_params(to)) || (maker && maker == old)) return;
    const uint32_t target = maker ? maker->slot : target_of_params(to);
    const bool is_new = s && (target & ~ORIGIN_PARAMS) >= (maker ? s->slots : s->params);
    const bool through = !is_new && !of_scope && (s ? old && is_of_scope(s, old) : reads(old, to));
    if (through && !stands_for) return;
    if (s) add_heir(p, (origin_heir){ to, old, target, was, is_new && old && is_of_scope(s, old) });
    else if (!maker && old) absorb_computed(p, target, old);
    else origin_absorb(p, target, &was, 1);
    if (!stands_for && (!s || of_scope)) set_between(p, to);
}

void provenance_note_passed(xir_provenance *p, const xir_value *from, const xir_value *to) {
    const uint32_t was = origin_of_value(p, from);
    if (!value_origin_of(p, from)) return;
    const xir_use *use = to->uses;
    const bool was_between = !value_origin_of(p, to) && use && (use->next || use->user != value_op(from));
    join_values(p, from, to);
    if (was_between) set_between(p, to);
    if (value_op(to)) origin_absorb(p, value_op(to)->slot, &was, 1);
}

void provenance_note_changed(xir_provenance *p, const xir_value *v) {
    if (value_origin_of(p, v)) set_value_origin(p, v, 0);
}

void provenance_note_reordered(xir_provenance *p, const xir_value *from, const xir_value *to) {
    if (value_origin_of(p, to)) join_values(p, from, to);   /* otherwise an inserted op makes it */
}

void provenance_note_reused(xir_provenance *p, const xir_op *op) {
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        if (value_origin_of(p, &op_outputs(op)[i])) return;
    }
    origin_add(p, op->slot, 0, 0);
}

void provenance_note_absorbed(xir_provenance *p, const xir_op *op, const xir_op *other) {
    const uint32_t was = origin_of_op(p, other);
    origin_absorb(p, op->slot, &was, 1);
}

void provenance_note_outlined(xir_provenance *p, const xir_op *call, xir_op *const *ops, size_t n) {
    const size_t from = p->parents.n;
    bool ok = true;
    for (size_t i = 0; i < n && ok; i++) ok = origin_add_parent(p, from, origin_of_op(p, ops[i]));
    if (ok && p->parents.n > from) origin_add(p, call->slot, from, p->parents.n - from);
    else p->parents.n = from;
}

void provenance_note_inlined(xir_provenance *p, const xir_value *from, const xir_value *to) {
    join_values(p, from, to);
}

bool ops_each_pair(const xir_op *a, const xir_op *b, bool (*visit)(void *user, const xir_op *a, const xir_op *b),
                   void *user) {
    if (a->cls != b->cls) return false;
    for (uint32_t i = 0; i < a->cls->n_fields && !a->cls->plain; i++) {
        const xir_field *f = &a->cls->fields[i];
        if (f->kind != XIR_KIND_OPS) continue;
        const xir_ops *of_a = body_at(a->attrs, f), *of_b = body_at(b->attrs, f);
        if (of_a->size != of_b->size) return false;
        for (size_t k = 0; k < of_a->size; k++)
            if (!visit(user, of_a->data[k], of_b->data[k])) return false;
    }
    return true;
}

static bool copied_child(void *user, const xir_op *op, const xir_op *copy) {
    provenance_note_copied(user, copy, op);
    return true;
}

void provenance_note_copied(xir_provenance *p, const xir_op *copy, const xir_op *op) {
    provenance_note_absorbed(p, copy, op);
    (void)ops_each_pair(op, copy, copied_child, p);
}

/* ---- the end of a step ------------------------------------------------------------------------------------------ */

/* Returns true if a pass has inserted an op without saying what for: then it serves those that use it, which may be
 * others after each step. So does an op that has been reused. */
static bool serves(const xir_provenance *p, const xir_op *op) {
    const uint32_t of = origin_of_op(p, op);
    return of ? origin_serves(p, of) : op->slot >= p->first_slots;
}

/* Returns true if a sub op without an origin was made since the recorder was attached. */
static bool is_unsettled(const xir_provenance *p, const xir_op *op) {
    return op->slot >= p->first_slots && !origin_of_op(p, op);
}

/* The op that runs: for a sub op, the one that contains it. */
static const xir_op *outermost(const xir_op *op) {
    while (op->flags & OP_CHILD) op = xir_op_parent(op);
    return op;
}

/* The origin of an op or Params that serves others is made of the parents from `from` on. It stays if it is already. */
static void serve(xir_provenance *p, uint32_t target, size_t from) {
    const size_t n = p->parents.n - from, before = p->n_origins;
    const origin *was = &p->origins[origin_of_target(p, target)];
    if (was->n == n && memcmp(p->parents.items + was->from, p->parents.items + from, n * sizeof(uint32_t)) == 0) {
        p->parents.n = from;
        return;
    }
    if (origin_add(p, target, from, n)) p->origins[before].step |= ORIGIN_SERVES;
}

/* By those that use some values; false if only Outputs do. */
static bool settle_by_users(xir_provenance *p, uint32_t target, const xir_value *values, uint32_t n) {
    const size_t from = p->parents.n;
    bool ok = true;
    for (uint32_t i = 0; i < n; i++) {
        for (const xir_use *u = values[i].uses; u && ok; u = u->next) {
            const xir_op *user = outermost(u->user);
            if (!(user->cls->traits & XIR_TRAIT_SINK)) ok = origin_add_parent(p, from, origin_of_op(p, user));
        }
    }
    if (p->parents.n == from) return false;
    if (ok) serve(p, target, from);
    else p->parents.n = from;
    return true;
}

/* Puts a value origin on the stack the first time that it is met. */
static bool push_once(xir_provenance *p, pointer_table *seen, uint32_t i) {
    const size_t before = seen->n;
    if (!provenance_keep(p, pointer_table_add(seen, (const void *)(uintptr_t)i, 0))) return false;
    return seen->n == before || add_u32(p, &p->held, i);
}

/* Adds the ops that made the source values that a value stands for. Value origins share parts: each is met once. */
static bool add_makers(xir_provenance *p, size_t from, uint32_t i) {
    const size_t bottom = p->held.n;   /* of a stack */
    pointer_table seen;
    pointer_table_init(&seen, p->alloc);
    bool ok = !i || push_once(p, &seen, i);
    while (ok && p->held.n > bottom) {
        const value_origin v = p->values[p->held.items[--p->held.n]];
        if (v.b) ok = push_once(p, &seen, v.a) && push_once(p, &seen, v.b);
        else ok = origin_add_parent(p, from, v.a);
    }
    p->held.n = bottom;
    pointer_table_free(&seen);
    return ok;
}

/* Returns true if anything but an Output uses the op. */
static bool has_users(const xir_provenance *p, const xir_op *op) {
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        for (const xir_use *u = op_outputs(op)[i].uses; u; u = u->next) {
            const xir_op *user = outermost(u->user);
            if (!(user->cls->traits & XIR_TRAIT_SINK) && origin_of_op(p, user)) return true;
        }
    }
    return false;
}

static void settle_by_inputs(xir_provenance *p, const xir_op *op) {
    const size_t from = p->parents.n;
    bool ok = true;
    for (uint32_t i = 0; i < op->n_inputs && ok; i++)
        if (op_inputs(op)[i].value) ok = add_makers(p, from, value_origin_of(p, op_inputs(op)[i].value));
    for (uint32_t i = 0; i < op->n_inputs && ok && p->parents.n == from; i++) {
        const xir_value *v = op_inputs(op)[i].value;
        if (v && value_op(v)) ok = origin_add_parent(p, from, origin_of_op(p, outermost(value_op(v))));
    }
    if (ok && p->parents.n > from) serve(p, op->slot, from);
    else p->parents.n = from;
}

/* A sub op without an origin has that of the op which contains it. Remembers all sub ops. */
static bool settle_child(void *user, xir_op *child) {
    xir_provenance *p = user;
    const uint32_t of = origin_of_op(p, op_more_of(child)->parent);
    if (of && is_unsettled(p, child)) origin_absorb(p, child->slot, &of, 1);
    p->ops[child->slot] = child;
    return op_each_child(child, settle_child, user);
}

static bool reserve_records(xir_provenance *p) {
    const xir_network *net = p->net;
    const size_t ops = p->op_room, numbers = p->param_room;
    if (!provenance_keep(p, mem_reserve(p->alloc, (void **)&p->ops, &p->op_room, net->n_slots, sizeof *p->ops) &&
                         mem_reserve(p->alloc, (void **)&p->params, &p->param_room, net->n_params, sizeof *p->params)))
        return false;
    if (p->op_room > ops) memset((void *)(p->ops + ops), 0, (p->op_room - ops) * sizeof *p->ops);
    if (p->param_room > numbers)
        memset((void *)(p->params + numbers), 0, (p->param_room - numbers) * sizeof *p->params);
    return true;
}

/* Users come before what they use in a walk from the end. What only Outputs use follows in a walk from the start. */
void provenance_settle(xir_provenance *p) {
    const xir_network *net = p->net;
    if (p->status || p->scope || !reserve_records(p)) return;   /* what a scope makes is given at its end */
    for (const xir_op *op = net->last; op; op = op->prev)
        if (serves(p, op)) (void)settle_by_users(p, op->slot, op_outputs(op), op->n_outputs);
    for (const xir_op *op = net->first; op; op = op->next) {
        if (serves(p, op) && !has_users(p, op)) settle_by_inputs(p, op);
        p->ops[op->slot] = op;
        if (!op->cls->plain) op_each_child(op, settle_child, p);
    }
    for (const xir_value *v = net->all_params; v; v = value_params(v)->next) {
        const uint32_t number = value_params(v)->number;
        if (number < p->seen_params) break;
        if (number >= p->first_params && !origin_at(&p->of_params, number))
            (void)settle_by_users(p, ORIGIN_PARAMS | number, v, 1);
        p->params[number] = v;
    }
    p->seen_params = net->n_params;
}
