/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Moves a convex region into the body of one op. The ops themselves move, so that whatever refers to them stays valid.
 * Everything that can fail comes first, while the order is still the old one; then only links change. */
#include <inttypes.h>
#include "number.h"
#include "provenance.h"
#include "region.h"
#include "sized.h"
#include "view.h"

#define OPTIONS_STRUCT SIZED(xir_outline_options, target)

typedef struct values { xir_value **items; size_t n, room; } values;
typedef struct numbers { int64_t *items; size_t n, room; } numbers;
typedef struct names { xir_str *items; char *bytes; size_t n, size; } names;

typedef struct outlining {
    xir_network         *net;
    const xir_allocator *alloc;
    xir_outline_options  how;
    const xir_class     *cls;
    xir_op             **ops;       /* in execution order                                         */
    size_t               n;
    size_t               between;   /* ops from the first to the last that are not in the region  */
    size_t               later;     /* those of them that depend on it: they move after the call  */
    values               in, out;   /* what enters and what leaves                                */
    pointer_table        entered;   /* the position of each value that enters                     */
    numbers              places;
    names                takes, gives;
    xir_op             **body;      /* Input, the ops, Output                                     */
    xir_op             **next;      /* of each op, what followed it                               */
    xir_op              *call;
    xir_status           status;
} outlining;

static bool no_memory(outlining *o) {
    o->status = net_no_memory(o->net);
    return false;
}

static bool add_value(outlining *o, values *list, xir_value *v) {
    if (!mem_reserve(o->alloc, (void **)&list->items, &list->room, list->n + 1, sizeof *list->items)) return false;
    list->items[list->n++] = v;
    return true;
}

/* ---- uses, also those by sub ops -------------------------------------------------------------------------------- */

typedef struct visitor {
    outlining *o;
    bool     (*use)(outlining *o, xir_op *placed, xir_use *use);
    xir_op    *placed;
} visitor;

static bool visit_uses(void *user, xir_op *op) {
    const visitor *w = user;
    for (uint32_t i = 0; i < op->n_inputs; i++)
        if (op_inputs(op)[i].value && !w->use(w->o, w->placed, &op_inputs(op)[i])) return false;
    return op->cls->plain || op_each_child(op, visit_uses, user);
}

static bool each_use(outlining *o, xir_op *op, bool (*use)(outlining *o, xir_op *placed, xir_use *use)) {
    return visit_uses(&(visitor){ o, use, op }, op);
}

/* The op of the order that has this one; NULL if it is not in the order. */
static const xir_op *top_of(const xir_op *op) {
    while (op && op->flags & OP_CHILD) op = op_more_of(op)->parent;
    return op;
}

static bool is_inside(const xir_op *op) {
    op = top_of(op);
    return op && op->flags & OP_MARKED;
}

/* ---- the region ------------------------------------------------------------------------------------------------- */

/* Checks the ops, and lists them in execution order: marks them, and walks from the first one. */
static bool gather(outlining *o, xir_op *const *ops, size_t n) {
    xir_op *first = ops[0];
    bool sorted = true;
    o->ops = mem_new(o->alloc, (n + 1) * sizeof *o->ops);
    o->next = mem_new(o->alloc, (n + 1) * sizeof *o->next);
    o->body = mem_new(o->alloc, (n + 2) * sizeof *o->body);
    if (!o->ops || !o->next || !o->body) return no_memory(o);
    for (size_t i = 0; i < n; i++) {
        o->status = region_op_check(o->net, ops[i], i, o->net->diags);
        if (!o->status && ops[i]->flags & OP_MARKED)
            o->status = net_fail(o->net, XIR_E_INVALID, "op %" PRId64 " is in the region twice", ops[i]->id);
        if (!o->status && ops[i]->cls->traits & (XIR_TRAIT_SOURCE | XIR_TRAIT_SINK))
            o->status = net_fail(o->net, XIR_E_INVALID, "op %" PRId64 " is an end of the network: it stays outside",
                                 ops[i]->id);
        if (o->status) {
            if (!o->net->status) o->net->status = o->status;
            return false;
        }
        ops[i]->flags |= OP_MARKED;
        o->ops[o->n++] = ops[i];
        sorted &= i == 0 || ops[i - 1]->position < ops[i]->position;
        if (ops[i]->position < first->position) first = ops[i];
    }
    for (size_t found = 0; !sorted && found < n; first = first->next)
        if (first->flags & OP_MARKED) o->ops[found++] = first;
    return true;
}

/* Returns true if an op between the first and the last of the region reads a use. */
static bool reads(outlining *o, xir_op *op, xir_use *use) {
    const xir_op *maker = placed_maker(use->value);
    if (!maker || maker->position < o->ops[0]->position) return true;
    if (maker == op && value_op(use->value) != op) return true;   /* a sub op of it makes the value */
    if (maker->position >= op->position) {
        o->status = net_fail(o->net, XIR_E_INVALID, "op %" PRId64 " is used by op %" PRId64 " before it is run",
                             maker->id, op->id);
        return false;
    }
    if (op->flags & OP_MARKED) {
        if (maker->flags & OP_REACHED) o->status = XIR_E_INVALID;   /* the caller finds the path */
        return !o->status;
    }
    if (maker->flags & (OP_MARKED | OP_REACHED)) op->flags |= OP_REACHED;
    return true;
}

/* Finds the ops in between that depend on the region, in one walk: makers come first. */
static bool look_between(outlining *o, xir_op *const *given, size_t n) {
    const xir_op *last = o->ops[o->n - 1];
    const size_t before = xir_diags_count(o->net->diags);
    for (xir_op *op = o->ops[0]; ; op = op->next) {
        if (!each_use(o, op, reads)) break;
        o->between += !(op->flags & OP_MARKED);
        o->later += op->flags & OP_REACHED ? 1 : 0;
        if (op == last) break;
    }
    if (!o->status) return true;
    if (xir_diags_count(o->net->diags) == before) {
        o->status = xir_region_check(o->net, given, n, o->net->diags);
        if (!o->status) o->status = XIR_E_INVALID;
        if (!o->net->status) o->net->status = o->status;
    }
    return false;
}

static void clear_flags(outlining *o) {
    for (size_t i = 0; i < o->n; i++) o->ops[i]->flags &= ~(uint32_t)OP_MARKED;
}

/* Clears what look_between has set; the region is still in its place. */
static void clear_reached(outlining *o) {
    for (xir_op *op = o->n ? o->ops[0] : NULL; op; op = op == o->ops[o->n - 1] ? NULL : op->next)
        op->flags &= ~(uint32_t)OP_REACHED;
}

/* ---- the border ------------------------------------------------------------------------------------------------- */

static bool enters(outlining *o, xir_op *op, xir_use *use) {
    xir_value *v = use->value;
    (void)op;
    if (value_is_params(v) || is_inside(value_op(v))) return true;
    const uint32_t *place = pointer_table_add(&o->entered, v, (uint32_t)o->in.n);
    if (!place) return no_memory(o);
    if (*place == o->in.n && !add_value(o, &o->in, v)) return no_memory(o);
    return true;
}

/* Notes an output of an op of the region that ops outside use; they come after the op. */
static bool leaves(outlining *o, const xir_op *op, xir_value *v) {
    bool outside = false;
    for (const xir_use *u = v->uses; u; u = u->next) {
        const xir_op *user = top_of(u->user);
        if (user->flags & OP_MARKED) continue;
        outside = true;
        if (!(user->flags & OP_PLACED) || user->position > op->position) continue;
        o->status = net_fail(o->net, XIR_E_INVALID, "op %" PRId64 " is used by op %" PRId64 " before it is run",
                             op->id, user->id);
        return false;
    }
    return !outside || add_value(o, &o->out, v) || no_memory(o);
}

/* A value that a sub op makes may be used by other sub ops of the same op, and by nothing else: the class of the call
 * demands it. */
typedef struct staying { outlining *o; const xir_op *op; } staying;

static bool stays_inside(void *user, xir_op *child) {
    const staying *s = user;
    for (uint32_t i = 0; i < child->n_outputs; i++) {
        for (const xir_use *u = op_outputs(child)[i].uses; u; u = u->next) {
            const xir_op *other = top_of(u->user);
            if (other == s->op && u->user != s->op) continue;
            s->o->status = net_fail(s->o->net, XIR_E_INVALID, "op %" PRId64 " uses an output of sub op %" PRId64
                                    " of op %" PRId64, other->id, child->id, s->op->id);
            return false;
        }
    }
    return op_each_child(child, stays_inside, user);
}

static bool find_border(outlining *o) {
    for (size_t i = 0; i < o->n; i++) {
        if (!each_use(o, o->ops[i], enters)) return false;
        for (uint32_t k = 0; k < o->ops[i]->n_outputs; k++)
            if (!leaves(o, o->ops[i], &op_outputs(o->ops[i])[k])) return false;
        if (!op_each_child(o->ops[i], stays_inside, &(staying){ o, o->ops[i] })) return false;
    }
    return true;
}

/* ---- depth ------------------------------------------------------------------------------------------------------ */

/* A file needs two levels for each nested list of ops, and a few for what is inside of the innermost op. */
enum { LEVELS_EACH = 2, LEVELS_INSIDE = 16 };

typedef struct depth { uint32_t now, most, limit; } depth;

static bool measure(void *user, xir_op *child) {
    depth *d = user;
    d->now++;
    d->most = d->now > d->most ? d->now : d->most;
    const bool fits = d->now <= d->limit && op_each_child(child, measure, user);
    d->now--;
    return fits;
}

static bool check_depth(outlining *o) {
    const uint32_t most = o->net->ctx->limits.max_depth;
    depth d = { 0, 0, most > LEVELS_INSIDE ? (most - LEVELS_INSIDE) / LEVELS_EACH : 1 };
    for (size_t i = 0; i < o->n; i++) {
        d.now = 1;
        if (op_each_child(o->ops[i], measure, &d)) continue;
        o->status = net_fail(o->net, XIR_E_LIMIT, "op %" PRId64 " has sub ops nested %" PRIu32 " deep: a body around "
                             "them would be too deep for a file (max_depth is %" PRIu32 ")", o->ops[i]->id, d.most,
                             most);
        return false;
    }
    return true;
}

/* ---- names ------------------------------------------------------------------------------------------------------ */

/* Names the ports after their values: "x", "x_2" if that is taken, "in0" for a value without a name. */
static bool name_ports(outlining *o, const values *of, const char *word, names *out) {
    size_t room = 1;
    text_table taken;
    for (size_t i = 0; i < of->n; i++) room += xir_value_name(of->items[i]).size + 32;
    out->n = of->n;
    out->size = room;
    out->items = mem_new(o->alloc, (of->n + 1) * sizeof *out->items);
    out->bytes = mem_new(o->alloc, room);
    if (!out->items || !out->bytes) return no_memory(o);
    text_table_init(&taken, o->alloc);
    char *at = out->bytes;
    bool good = true;
    /* Names that values have come first: a value that has none alone must not take one. */
    for (size_t i = 0; i < of->n && good; i++) {
        out->items[i] = xir_value_name(of->items[i]);
        const uint32_t *first = out->items[i].size ? text_table_add(&taken, out->items[i], (uint32_t)i) : NULL;
        good = first || !out->items[i].size;
        if (first && *first != i) out->items[i].size = 0;
    }
    uint32_t next = 2;   /* of a name that is taken; it only grows, so that many equal names stay linear */
    for (size_t i = 0; i < of->n && good; i++) {
        if (out->items[i].size) continue;
        const xir_str name = xir_value_name(of->items[i]), first = name.size ? name : xir_str_of(word);
        memcpy(at, first.data, first.size);
        char *end = at + first.size;
        if (!name.size) end += number_put_u64(end, i);
        for (const uint32_t *place = NULL; good && (!place || *place != i);) {
            char *last = end;
            if (name.size || place) {
                *last++ = '_';
                last += number_put_u64(last, next++);
            }
            out->items[i] = (xir_str){ at, (size_t)(last - at) };
            place = text_table_add(&taken, out->items[i], (uint32_t)i);
            good = place;
        }
        at += out->items[i].size;
    }
    text_table_free(&taken);
    return good || no_memory(o);
}

/* ---- places ----------------------------------------------------------------------------------------------------- */

static bool add_place(outlining *o, const xir_op *op) {
    if (!mem_reserve(o->alloc, (void **)&o->places.items, &o->places.room, o->places.n + 2, sizeof *o->places.items))
        return no_memory(o);
    o->places.items[o->places.n++] = op->id;
    o->places.items[o->places.n++] = op->prev ? op->prev->id : -1;
    return true;
}

/* The ops that depend on the region follow the call. When the body returns to the place of the call, the order is: what
 * stayed, the region, what depends on it. From this, taking the ops in their original order, each op of the region that
 * has some of what stayed after it must move to follow the op that it came after, and so must each op that depends on
 * the region. The others are then in place. */
static bool note_places(outlining *o) {
    size_t stayed = o->between - o->later;   /* those that are still to come */
    for (const xir_op *op = o->ops[0]; o->between; op = op->next) {
        if (!(op->flags & (OP_MARKED | OP_REACHED))) stayed--;
        else if ((stayed || op->flags & OP_REACHED) && !add_place(o, op)) return false;
        if (op == o->ops[o->n - 1]) break;
    }
    return true;
}

/* ---- making the call -------------------------------------------------------------------------------------------- */

/* Gives `to` the memory type of `from`, and a name. */
static bool describe(xir_value *to, const xir_value *from, xir_str name) {
    if (!name.size && !(value_more_of(from) && value_more_of(from)->mtype)) return true;
    value_more *more = value_need_more(to);
    if (!more) return false;
    more->mtype = value_more_of(from) ? value_more_of(from)->mtype : NULL;
    const label *text = net_name(value_op(to)->net, name);
    if (text) more->name = text;
    return text;
}

static xir_op *make_end(outlining *o, const xir_class *cls, size_t n_inputs, const xir_type *const *types, size_t n) {
    xir_op *op = op_make(o->net, cls, cls->defaults, n_inputs);
    return op && op_make_outputs(op, types, n) ? op : NULL;
}

static const xir_target *target_of(const outlining *o) {
    if (o->how.target) return o->how.target;
    const xir_target *first = op_target(o->ops[0]);
    for (size_t i = 1; i < o->n; i++)
        if (!xir_object_equal((const xir_object *)op_target(o->ops[i]), (const xir_object *)first)) return NULL;
    return first;
}

static bool make_call(outlining *o, const xir_type **types) {
    xir_network *net = o->net;
    for (size_t i = 0; i < o->in.n; i++) types[i] = o->in.items[i]->type;
    xir_op *input = make_end(o, net->ctx->input_class, 0, types, o->in.n);
    xir_op *output = make_end(o, net->ctx->output_class, o->out.n, NULL, 0);
    o->body[0] = input;
    o->body[o->n + 1] = output;
    if (!input || !output) return no_memory(o);
    for (size_t i = 0; i < o->in.n; i++)
        if (!describe(&op_outputs(input)[i], o->in.items[i], o->takes.items[i])) return no_memory(o);
    memcpy(o->body + 1, o->ops, o->n * sizeof *o->body);
    for (size_t i = 0; i < o->out.n; i++) types[i] = o->out.items[i]->type;
    const xir_named_attr named[] = {
        { XIR_STR("body"),   { .kind = XIR_KIND_OPS,   .as.ops   = { o->body, o->n + 2 } } },
        { XIR_STR("takes"),  { .kind = XIR_KIND_TEXTS, .as.texts = { o->takes.items, o->takes.n } } },
        { XIR_STR("gives"),  { .kind = XIR_KIND_TEXTS, .as.texts = { o->gives.items, o->gives.n } } },
        { XIR_STR("places"), { .kind = XIR_KIND_I64S,  .as.i64s  = { o->places.items, o->places.n } } },
    };
    const xir_op_desc desc = XIR_INIT(xir_op_desc, .cls = o->cls, .inputs = o->in.items, .n_inputs = o->in.n,
                                      .types = types, .n_types = o->out.n, .target = target_of(o), .name = o->how.name,
                                      .id = XIR_NO_ID, .named = named, .n_named = sizeof named / sizeof *named);
    o->call = xir_op_new(net, &desc);
    for (size_t i = 0; i < o->out.n && o->call; i++) {
        if (describe(&op_outputs(o->call)[i], o->out.items[i], xir_value_name(o->out.items[i]))) continue;
        return no_memory(o);
    }
    if (o->call) return true;
    o->status = net->status ? net->status : XIR_E_MEMORY;
    return false;
}

/* Takes back a call that was not placed; the ops return to their places. */
static bool disown(void *user, xir_op *child) {
    (void)user;
    child->flags &= ~(uint32_t)OP_CHILD;
    return true;
}

static void give_up(outlining *o) {
    if (o->call) {
        (void)op_each_child(o->call, disown, NULL);
        o->call->attrs = o->cls->defaults;
        op_forget(o->call);
    }
    if (o->body[0]) op_forget(o->body[0]);
    if (o->body[o->n + 1]) op_forget(o->body[o->n + 1]);
    for (size_t i = o->n; i-- > 0;) op_link(o->ops[i], o->next[i]);
    ids_free(o->net);   /* tables that are built again when somebody asks: the attempt may have left out some ids */
}

/* ---- linking: nothing fails ------------------------------------------------------------------------------------- */

static bool use_inside(outlining *o, xir_op *op, xir_use *use) {
    const uint32_t *place = pointer_table_find(&o->entered, use->value);
    (void)op;
    if (!place) return true;
    xir_op *user = use->user;
    use_unlink(use);
    use_link(use, user, &op_outputs(o->body[0])[*place]);
    return true;
}

static void use_outside(outlining *o, size_t i) {
    xir_value *v = o->out.items[i];
    for (xir_use *u = v->uses, *next; u; u = next) {
        next = u->next;
        if (is_inside(u->user)) continue;
        xir_op *user = u->user;
        use_unlink(u);
        use_link(u, user, &op_outputs(o->call)[i]);
    }
}

static void link_ends(outlining *o) {
    xir_op *output = o->body[o->n + 1];
    for (size_t i = 0; i < o->n; i++) (void)each_use(o, o->ops[i], use_inside);
    for (size_t i = 0; i < o->out.n; i++) {
        use_outside(o, i);
        use_link(&op_inputs(output)[i], output, o->out.items[i]);
        provenance_moved(o->net, o->out.items[i], &op_outputs(o->call)[i]);
    }
    provenance_outlined(o->call, o->ops, o->n);
}

/* Moves what depends on the region to follow the call. `op` is the first op that stayed in the order from where the
 * region began. */
static void move_after(outlining *o, xir_op *op) {
    xir_op *anchor = o->call->next;
    while (op && op != o->call) {
        xir_op *next = op->next;
        if (op->flags & OP_REACHED) {
            op->flags &= ~(uint32_t)OP_REACHED;
            op_unlink(op);
            op_link(op, anchor);
        }
        op = next;
    }
}

/* `before` is the op that stood before the region, NULL if it began the order. */
static bool move(outlining *o, const xir_type **types) {
    xir_op *before = o->ops[0]->prev, *after = o->ops[o->n - 1]->next;
    for (size_t i = 0; i < o->n; i++) {
        o->next[i] = o->ops[i]->next;
        op_unlink(o->ops[i]);
    }
    bool made = make_call(o, types);
    if (made && (o->status = place_before(o->call, after))) made = false;
    if (!made) {
        give_up(o);
        return false;
    }
    o->call->flags |= OP_MARKED;   /* the ops are inside of it now */
    link_ends(o);
    o->call->flags &= ~(uint32_t)OP_MARKED;
    move_after(o, before ? before->next : o->net->first);
    net_changed(o->net);
    return true;
}

/* ---- all of it -------------------------------------------------------------------------------------------------- */

static bool outline(outlining *o, xir_op *const *ops, size_t n) {
    if (!gather(o, ops, n)) return false;
    bool good = look_between(o, ops, n) && check_depth(o) && find_border(o) &&
                name_ports(o, &o->in, "in", &o->takes) && name_ports(o, &o->out, "out", &o->gives) && note_places(o);
    const size_t most = o->in.n > o->out.n ? o->in.n : o->out.n;
    const xir_type **types = good ? mem_new(o->alloc, (most + 1) * sizeof *types) : NULL;
    if (good && !types) good = no_memory(o);
    good = good && move(o, types);
    mem_free(o->alloc, (void *)types, (most + 1) * sizeof *types);
    if (!good) clear_reached(o);
    return good;
}

static void close(outlining *o, size_t n) {
    clear_flags(o);
    mem_free(o->alloc, o->ops, (n + 1) * sizeof *o->ops);
    mem_free(o->alloc, o->next, (n + 1) * sizeof *o->next);
    mem_free(o->alloc, o->body, (n + 2) * sizeof *o->body);
    mem_free(o->alloc, o->in.items, o->in.room * sizeof *o->in.items);
    mem_free(o->alloc, o->out.items, o->out.room * sizeof *o->out.items);
    mem_free(o->alloc, o->places.items, o->places.room * sizeof *o->places.items);
    for (int i = 0; i < 2; i++) {
        names *list = i ? &o->gives : &o->takes;
        mem_free(o->alloc, list->items, (list->n + 1) * sizeof *list->items);
        mem_free(o->alloc, list->bytes, list->size);
    }
    pointer_table_free(&o->entered);
}

xir_op *xir_outline(xir_network *net, xir_op *const *ops, size_t n, const xir_outline_options *options) {
    if (!net) return NULL;
    outlining o = { .net = net, .alloc = &net->alloc };
    xir_status status = options ? sized_take(OPTIONS_STRUCT, &o.how, options, net->diags) : XIR_OK;
    if (!status && !ops && n) status = net_null(net, "list of ops");
    if (!status && !n) status = net_fail(net, XIR_E_INVALID, "the region is empty");
    if (!status && n >= UINT32_MAX - 2) status = net_fail(net, XIR_E_LIMIT, "the region has too many ops");
    if (status) {
        if (!net->status) net->status = status;
        return NULL;
    }
    o.cls = xir_class_find(net->ctx, XIR_STR("xir::Call"));
    pointer_table_init(&o.entered, o.alloc);
    const bool done = outline(&o, ops, n);
    close(&o, n);
    return done ? o.call : NULL;
}

xir_network *xir_outline_network(xir_network *net, xir_op *const *ops, size_t n) {
    if (!net) return NULL;
    xir_status status = !ops && n ? net_null(net, "list of ops") : XIR_OK;
    if (!status && !n) status = net_fail(net, XIR_E_INVALID, "the region is empty");
    if (!status) status = xir_region_check(net, ops, n, net->diags);
    if (status) {
        if (!net->status) net->status = status;
        return NULL;
    }
    xir_view *view = xir_view_ops(net, ops, n);
    xir_network *own = view ? view_network(view) : NULL;
    xir_view_free(view);
    return own;
}
