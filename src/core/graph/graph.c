/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The basic operations of the graph: records, use lists, the execution order. Nothing is checked here, and no rule of
 * networks is known. The caller has obtained everything needed, so linking never fails. */
#include "provenance.h"
#include "task.h"

const label name_empty = { 0 }, name_spent = { 0 };

const label *net_name(xir_network *net, xir_str text) {
    if (text.size == 0) return &name_empty;
    if (text.size > INT32_MAX) return NULL;   /* sentences may have it whole: "%.*s" takes an int */
    label *n = arena_take(&net->arena, sizeof *n + text.size);
    if (!n) return NULL;
    n->size = (uint32_t)text.size;
    memcpy(n->bytes, text.data, text.size);
    return n;
}

const xir_object *net_intern(xir_network *net, const xir_object *object) {
    return pool_intern(&net->pool, object);
}

/* ---- uses -------------------------------------------------------------------------------------------------- */

void use_link(xir_use *use, xir_op *user, xir_value *value) {
    use->value = value;
    use->user = user;
    if (!value) {
        use->next = NULL;
        use->link = NULL;
        return;
    }
    use->next = value->uses;
    use->link = &value->uses;
    if (use->next) use->next->link = &use->next;
    value->uses = use;
}

void use_unlink(xir_use *use) {
    if (!use->value) return;
    *use->link = use->next;
    if (use->next) use->next->link = use->link;
    use->value = NULL;
    use->next = NULL;
    use->link = NULL;
}

void uses_move(xir_value *from, xir_value *to) {
    xir_use *last = from->uses;
    provenance_replaced(value_net(from), from, to);   /* also for an unused value: `to` now represents it */
    if (!last) return;
    for (xir_use *u = last; u; u = u->next) {
        u->value = to;
        last = u;
    }
    last->next = to->uses;
    if (to->uses) to->uses->link = &last->next;
    to->uses = from->uses;
    to->uses->link = &to->uses;
    from->uses = NULL;
}

/* ---- ops --------------------------------------------------------------------------------------------------- */

/* One member after another: compilers clear the whole record first, if it is a literal, by an instruction that takes
 * long. */
static void begin(xir_op *op, xir_network *net, const xir_class *cls, const void *attrs, size_t n_inputs,
                  size_t n_outputs) {
    (void)task_worked(TASK_PER_OBJECT);    /* a reader that is cancelled ends at its next allocation */
    op->cls = cls;
    op->attrs = attrs;
    op->net = net;
    op->id = net->next_temp_id--;
    op->label = (uintptr_t)&name_empty;
    op->prev = op->next = NULL;
    op->n_inputs = op->room = (uint32_t)n_inputs;
    op->n_outputs = (uint32_t)n_outputs;
    op->slot = net->n_slots++;
    op->position = op->flags = 0;
}

xir_op *op_make(xir_network *net, const xir_class *cls, const void *attrs, size_t n_inputs) {
    if (n_inputs > UINT32_MAX / sizeof(xir_use)) return NULL;
    xir_op *op = arena_take(&net->arena, sizeof *op + n_inputs * sizeof(xir_use));
    if (!op) return NULL;
    begin(op, net, cls, attrs, n_inputs, 0);
    for (size_t i = 0; i < n_inputs; i++) use_link(&op_inputs(op)[i], op, NULL);
    return op;
}

xir_op *op_make_whole(xir_network *net, const xir_class *cls, const void *attrs, xir_value *const *inputs,
                      size_t n_inputs, size_t n_outputs, size_t more, void **rest) {
    if (n_inputs > UINT32_MAX / sizeof(xir_use) || n_outputs > UINT32_MAX / sizeof(xir_value)) return NULL;
    const size_t head = sizeof(xir_op) + n_inputs * sizeof(xir_use) + n_outputs * sizeof(xir_value);
    xir_op *op = more <= SIZE_MAX / 2 ? arena_take(&net->arena, head + more) : NULL;
    if (!op) return NULL;
    xir_use *uses = (xir_use *)(op + 1);
    xir_value *outputs = (xir_value *)(uses + n_inputs);
    begin(op, net, cls, attrs, n_inputs, n_outputs);
    for (size_t i = 0; i < n_inputs; i++) use_link(&uses[i], op, inputs[i]);
    for (size_t i = 0; i < n_outputs; i++) outputs[i] = (xir_value){ .id = net->next_temp_id--, .from = (uintptr_t)op };
    *rest = outputs + n_outputs;
    return op;
}

bool op_make_outputs(xir_op *op, const xir_type *const *types, size_t n) {
    xir_value *values = op_take_outputs(op, n);
    if (!values) return false;
    for (size_t i = 0; i < n; i++)
        values[i] = (xir_value){ .type = types ? types[i] : NULL, .id = op->net->next_temp_id--,
                                 .from = (uintptr_t)op };
    op_put_outputs(op, values, n);
    return true;
}

/* The memory that comes next is usually what follows the op's uses. Otherwise the op needs a record that says where. */
xir_value *op_take_outputs(xir_op *op, size_t n) {
    if (n == 0) return op_outputs_inside(op);
    if (n > UINT32_MAX / sizeof(xir_value)) return NULL;
    xir_value *values = arena_take(&op->net->arena, n * sizeof *values);
    return values && (values == op_outputs_inside(op) || op_need_more(op)) ? values : NULL;
}

void op_put_outputs(xir_op *op, xir_value *values, size_t n) {
    op->flags &= ~(uint32_t)OP_OUTPUTS_APART;
    if (values != op_outputs_inside(op)) {
        op_more_of(op)->outputs = values;
        op->flags |= OP_OUTPUTS_APART;
    }
    op->n_outputs = (uint32_t)n;
}

bool op_set_own_target(xir_op *op, const xir_target *own) {
    xir_network *net = op->net;
    uint32_t i = 0;
    while (i < net->n_targets && net->targets[i] != own) i++;
    if (i == TARGETS) {
        op_more *more = op_need_more(op);
        if (!more) return false;
        more->target = own;
        op->flags |= OP_TARGET_APART;
        return true;
    }
    if (i == net->n_targets) net->targets[net->n_targets++] = own;
    const uint32_t rest = op->flags & ~(uint32_t)OP_TARGET_APART & ((UINT32_C(1) << OP_TARGET_SHIFT) - 1);
    op->flags = rest | i << OP_TARGET_SHIFT;
    return true;
}

void op_link(xir_op *op, xir_op *before) {
    xir_network *net = op->net;
    op->next = before;
    op->prev = before ? before->prev : net->last;
    if (op->prev) op->prev->next = op;
    else net->first = op;
    if (before) before->prev = op;
    else net->last = op;
    net->n_ops++;
    op->flags |= OP_PLACED;
    order_insert(op);
    op_named_all(op);
    /* Appending keeps the index of positions if it has room for one more. */
    bool indexed = atomic_load_explicit(&net->has_index, memory_order_relaxed);
    net_changed(net);
    if (indexed && !before && net->n_ops <= net->by_index_room) {
        net->by_index[net->n_ops - 1] = op;
        atomic_store_explicit(&net->has_index, true, memory_order_relaxed);
    }
}

void op_unlink(xir_op *op) {
    xir_network *net = op->net;
    if (op->prev) op->prev->next = op->next;
    else net->first = op->next;
    if (op->next) op->next->prev = op->prev;
    else net->last = op->prev;
    op->prev = op->next = NULL;
    op->flags &= ~(uint32_t)OP_PLACED;
    net->n_ops--;
    net_changed(net);
}

bool op_each_child(const xir_op *op, bool (*visit)(void *user, xir_op *child), void *user) {
    for (uint32_t i = 0; i < op->cls->n_fields && !op->cls->plain; i++) {
        const xir_field *f = &op->cls->fields[i];
        if (f->kind != XIR_KIND_OPS) continue;
        const xir_ops *children = body_at(op->attrs, f);
        for (size_t j = 0; j < children->size; j++) {
            if (!visit(user, children->data[j])) return false;
        }
    }
    return true;
}

static bool refuse_child(void *user, xir_op *child) {
    (void)user;
    (void)child;
    return false;
}

bool op_finds_child(const xir_op *op) { return !op_each_child(op, refuse_child, NULL); }

static bool drop_uses(void *user, xir_op *op) {
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        while (op_outputs(op)[i].uses) {
            xir_use *u = op_outputs(op)[i].uses;
            xir_op *reader = u->user;
            use_unlink(u);
            use_link(u, reader, NULL);
        }
    }
    return op_each_child(op, drop_uses, user);
}

void op_drop_uses(xir_op *op) { drop_uses(NULL, op); }

bool op_is_in(const xir_op *op) {
    while (op && op->flags & OP_CHILD) op = xir_op_parent(op);
    return op && op->flags & OP_PLACED;
}

op_more *op_need_more(xir_op *op) {
    if (!op_more_of(op)) {
        op_more *more = arena_take(&op->net->arena, sizeof *more);
        if (!more) return NULL;
        *more = (op_more){ 0 };
        op_set_more(op, more);
    }
    return op_more_of(op);
}

void net_changed(xir_network *net) {
    net->epoch++;
    atomic_store_explicit(&net->has_index, false, memory_order_relaxed);
}

/* ---- values ------------------------------------------------------------------------------------------------ */

value_more *value_need_more(xir_value *value) {
    if (!value_more_of(value)) {
        xir_network *net = value_op(value)->net;
        value_more *more = arena_take(&net->arena, sizeof *more);
        if (!more) return NULL;
        *more = (value_more){ .net = net, .name = &name_empty };
        value_set_more(value, more);
    }
    return value_more_of(value);
}

static xir_value *make_loose(xir_network *net, const xir_type *type, size_t extra) {
    struct loose { xir_value value; value_more more; } *v = arena_take(&net->arena, sizeof *v + extra);
    if (!v) return NULL;
    v->more = (value_more){ .net = net, .name = &name_empty };
    v->value = (xir_value){ .type = type, .id = net->next_temp_id--, .from = value_from(&v->more) };
    return &v->value;
}

xir_value *value_make_orphan(xir_network *net, const xir_type *type) {
    return make_loose(net, type, 0);
}

xir_value *params_make(xir_network *net, const xir_type *type) {
    if (net->n_params == UINT32_MAX || !net_reserve_ids(net, 0, 1)) return NULL;
    xir_value *v = make_loose(net, type, sizeof(params));
    if (!v) return NULL;
    params *p = (params *)(value_more_of(v) + 1);
    *p = (params){ .raw_index = UINT32_MAX, .table_index = UINT32_MAX, .number = net->n_params++,
                   .next = net->all_params };
    value_more_of(v)->params = p;
    net->all_params = v;
    return v;
}

/* ---- walks ------------------------------------------------------------------------------------------------- */

typedef bool visit_fn(void *user, xir_value *params);

static bool walk_any(const xir_any *any, visit_fn *visit, void *user) {
    switch (any->kind) {
    case XIR_ANY_PARAMS:
        return visit(user, any->as.params);
    case XIR_ANY_LIST:
        for (size_t i = 0; i < any->as.list.size; i++) {
            if (!walk_any(&any->as.list.items[i], visit, user)) return false;
        }
        return true;
    case XIR_ANY_MAP:
        for (size_t i = 0; i < any->as.map.size; i++) {
            if (!walk_any(&any->as.map.entries[i].value, visit, user)) return false;
        }
        return true;
    default:
        return true;
    }
}

/* A reader's limit bounds the depth of sub ops. */
static bool walk_child(const xir_op *child, visit_fn *visit, void *user) {
    for (uint32_t i = 0; i < child->n_inputs; i++) {
        xir_value *v = op_inputs(child)[i].value;
        if (v && value_is_params(v) && !visit(user, v)) return false;
    }
    return op_walk_attr_params(child, visit, user);
}

static bool walk_field(const xir_field *f, const void *at, bool deep, visit_fn *visit, void *user) {
    switch (f->kind) {
    case XIR_KIND_PARAMS: {
        xir_value *v = *(xir_value *const *)at;
        return !v || visit(user, v);
    }
    case XIR_KIND_PARAMSS: {
        const xir_values *list = at;
        for (size_t i = 0; i < list->size; i++) {
            if (list->data[i] && !visit(user, list->data[i])) return false;
        }
        return true;
    }
    case XIR_KIND_OPS: {
        const xir_ops *list = at;
        for (size_t i = 0; deep && i < list->size; i++) {
            if (!walk_child(list->data[i], visit, user)) return false;
        }
        return true;
    }
    case XIR_KIND_MAP: {
        xir_any map = { .kind = XIR_ANY_MAP, .as.map = *(const xir_map *)at };
        return walk_any(&map, visit, user);
    }
    default:
        return true;
    }
}

static bool walk_attrs(const xir_op *op, bool deep, visit_fn *visit, void *user) {
    if (!op->cls->plain) {
        for (uint32_t i = 0; i < op->cls->n_fields; i++) {
            const xir_field *f = &op->cls->fields[i];
            if (!walk_field(f, body_at(op->attrs, f), deep, visit, user)) return false;
        }
    }
    if (xir_op_extra(op)) {
        xir_any map = { .kind = XIR_ANY_MAP, .as.map = *xir_op_extra(op) };
        return walk_any(&map, visit, user);
    }
    return true;
}

bool op_walk_attr_params(const xir_op *op, visit_fn *visit, void *user) { return walk_attrs(op, true, visit, user); }
bool op_walk_own_params(const xir_op *op, visit_fn *visit, void *user)  { return walk_attrs(op, false, visit, user); }

typedef struct once { uint64_t *seen; uint32_t left; visit_fn *visit; void *user; bool stopped; } once;

static bool visit_once(void *user, xir_value *v) {
    once *o = user;
    if (!value_is_params(v)) return true;
    uint32_t n = value_params(v)->number;
    if (o->seen[n / 64] >> (n % 64) & 1) return true;
    o->seen[n / 64] |= (uint64_t)1 << (n % 64);
    o->stopped = !o->visit(o->user, v);
    return !o->stopped && --o->left > 0;   /* once all Params have been met, the rest of the network has none */
}

/* The walk with repetitions. */
static bool walk_params(const xir_network *net, visit_fn *visit, void *user) {
    bool going = true, attrs = false;   /* whether any op may have Params in its attributes: few networks have any */
    for (const xir_op *op = net->first; going && op; op = op->next) {
        for (uint32_t i = 0; going && i < op->n_inputs; i++) {
            xir_value *v = op_inputs(op)[i].value;
            if (v && value_is_params(v)) going = visit(user, v);
        }
        attrs |= !op->cls->plain || xir_op_extra(op);
    }
    for (const xir_op *op = net->first; going && attrs && op; op = op->next)
        going = op_walk_attr_params(op, visit, user);
    return going;
}

/* If there is no memory for marks, each Params is searched from the beginning: slow, but with the same result. */
typedef struct search {
    const xir_network *net;
    visit_fn *visit;
    void *user;
    const xir_value *wanted;
    size_t at, now;
} search;

static bool not_wanted(void *user, xir_value *v) {
    search *s = user;
    s->now++;
    return v != s->wanted;
}

static bool visit_first(void *user, xir_value *v) {
    search *s = user;
    s->at++;
    s->wanted = v;
    s->now = 0;
    walk_params(s->net, not_wanted, s);
    return s->now != s->at || !value_is_params(v) || s->visit(s->user, v);
}

bool net_walk_params(const xir_network *net, visit_fn *visit, void *user) {
    size_t bytes = ((size_t)net->n_params / 64 + 1) * sizeof(uint64_t);
    if (!net->n_params) return true;
    once o = { mem_new(&net->alloc, bytes), net->n_params, visit, user, false };
    if (!o.seen) return walk_params(net, visit_first, &(search){ .net = net, .visit = visit, .user = user });
    memset(o.seen, 0, bytes);
    walk_params(net, visit_once, &o);
    mem_free(&net->alloc, o.seen, bytes);
    return !o.stopped;
}
