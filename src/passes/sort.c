/* sort: every op behind those whose results it reads.
 *
 *     x = input()            x = input()
 *     d = add(c, b)          c = relu(x)
 *     c = relu(x)      ->    b = sigmoid(x)
 *     output(d)              d = add(c, b)
 *     b = sigmoid(x)         output(d)
 *
 * An op that stands where it may stays: one that is met too early only draws what it waits for to before itself, in
 * the order of its inputs. Inputs come first, Outputs last. What a sub op reads its op waits for. A ring of ops is
 * an error that names them, and nothing is moved then. The walk keeps its own stack, so that a long chain in the
 * wrong order is no deep recursion. */
#include <stdio.h>
#include "support/upkeep.h"

enum { NOT_SEEN, WAITING, DONE };

/* An op that waits for what it reads: `next` is the input to look at, then what its sub ops read, extra[from] and
 * on. */
typedef struct frame { xir_op *op; uint32_t next; bool gathered; size_t from; } frame;

typedef struct sorter {
    xir_pass *at;
    uint8_t  *state;       /* by slot              */
    xir_op  **order;
    size_t    n_order;
    frame    *stack;
    size_t    depth, room;
    xir_op  **extra;       /* of the frames on the stack, each behind those below it */
    size_t    n_extra, extra_room;
} sorter;

/* The op in the order that makes a value: its maker, or the op that has the maker among its sub ops. */
static xir_op *maker_of(const xir_value *v) {
    xir_op *op = v ? v->producer : NULL;
    while (op && op->flags & OP_CHILD) op = xir_op_parent(op);
    return op && op->flags & OP_PLACED ? op : NULL;
}

static bool push(sorter *s, xir_op *op) {
    xir_network *net = s->at->net;
    if (!mem_reserve(&net->alloc, (void **)&s->stack, &s->room, s->depth + 1, sizeof *s->stack)) return false;
    s->stack[s->depth++] = (frame){ .op = op, .from = s->n_extra };
    s->state[op->slot] = WAITING;
    return true;
}

static const char *words_of(const xir_op *op, char *out, size_t size) {
    xir_str key = op->cls->key, text = name_text(op->name);
    snprintf(out, size, "%.*s '%.*s'", (int)key.size, key.data, (int)(text.size < 60 ? text.size : 60), text.data);
    return out;
}

/* The ops from `from` on, each of which reads what the next one makes; the last reads what the first makes. */
static xir_status say_ring(sorter *s, const xir_op *from) {
    enum { SHOWN = 8 };
    size_t start = s->depth;
    while (s->stack[start - 1].op != from) start--;
    char text[900], word[160];
    size_t size = 0, n = s->depth - start + 1;
    for (size_t i = 0; i < n && i < SHOWN && size < sizeof text; i++) {
        const char *words = words_of(s->stack[start - 1 + i].op, word, sizeof word);
        size += (size_t)snprintf(text + size, sizeof text - size, "%s%s", i ? ", which reads " : "", words);
    }
    return xir_pass_fail(s->at, XIR_E_INVALID, from, "%zu ops wait for each other: %s%s", n, text,
                         n > SHOWN ? ", and so on" : "");
}

static bool gather(void *user, xir_op *child) {
    sorter *s = user;
    xir_network *net = child->net;
    for (uint32_t i = 0; i < child->n_inputs; i++) {
        xir_op *maker = maker_of(child->inputs[i].value);
        if (!maker || s->state[maker->slot] == DONE || maker == s->stack[s->depth - 1].op) continue;
        if (!mem_reserve(&net->alloc, (void **)&s->extra, &s->extra_room, s->n_extra + 1, sizeof *s->extra))
            return false;
        s->extra[s->n_extra++] = maker;
    }
    return op_each_child(child, gather, s);
}

/* The next op that the topmost one has to wait for, NULL: none; false without memory. */
static bool next_maker(sorter *s, xir_op **maker) {
    frame *f = &s->stack[s->depth - 1];
    while (f->next < f->op->n_inputs) {
        *maker = maker_of(f->op->inputs[f->next++].value);
        if (*maker && s->state[(*maker)->slot] != DONE) return true;
    }
    if (!f->gathered && !f->op->cls->plain && !op_each_child(f->op, gather, s)) return false;
    f->gathered = true;
    while (s->n_extra > f->from) {
        *maker = s->extra[--s->n_extra];
        if (s->state[(*maker)->slot] != DONE) return true;
    }
    *maker = NULL;
    return true;
}

/* Puts an op into the order, and before it what it waits for. */
static xir_status put(sorter *s, xir_op *op) {
    if (s->state[op->slot] == DONE) return XIR_OK;
    if (!push(s, op)) return pass_no_memory(s->at);
    while (s->depth) {
        xir_op *maker, *top = s->stack[s->depth - 1].op;
        if (!next_maker(s, &maker)) return pass_no_memory(s->at);
        if (!maker) {
            s->state[top->slot] = DONE;
            s->order[s->n_order++] = top;
            s->depth--;
        } else if (s->state[maker->slot] == WAITING) {
            return say_ring(s, maker);
        } else if (!push(s, maker)) {
            return pass_no_memory(s->at);
        }
    }
    return XIR_OK;
}

static bool stands_last(const xir_op *op)  { return op->cls->traits & XIR_TRAIT_SINK; }
static bool stands_first(const xir_op *op) { return op->cls->traits & XIR_TRAIT_SOURCE; }

static xir_status sort(sorter *s) {
    xir_network *net = s->at->net;
    xir_status status = XIR_OK;
    for (xir_op *op = net->first; op && !status; op = op->next) {
        if (stands_first(op)) status = put(s, op);
    }
    for (xir_op *op = net->first; op && !status; op = op->next) {
        if (!stands_last(op)) status = put(s, op);
    }
    for (xir_op *op = net->first; op && !status; op = op->next) {
        if (stands_last(op)) status = put(s, op);
    }
    return status;
}

/* Ops that change places: those that now have another op before them. */
static size_t count_moved(const sorter *s) {
    size_t n = 0;
    for (size_t i = 0; i < s->n_order; i++) n += s->order[i]->prev != (i ? s->order[i - 1] : NULL);
    return n;
}

/* ---- nothing to do ----------------------------------------------------------------------------------------------- */

static bool reads_backwards(const xir_op *op, uint32_t position) {
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const xir_op *maker = maker_of(op->inputs[i].value);
        if (maker && maker->position > position) return false;
    }
    return true;
}

static bool child_reads_backwards(void *user, xir_op *child) {
    return reads_backwards(child, *(uint32_t *)user) && op_each_child(child, child_reads_backwards, user);
}

/* Nearly every network is in order: that costs a look at each edge and no memory. */
static bool is_sorted(const xir_network *net) {
    bool head = true, tail = false;
    for (const xir_op *op = net->first; op; op = op->next) {
        head = head && stands_first(op);
        tail = tail || stands_last(op);
        uint32_t position = op->position;
        if (stands_first(op) != head || stands_last(op) != tail || !reads_backwards(op, position)) return false;
        for (uint32_t i = 0; i < op->n_inputs; i++) {
            if (op->inputs[i].value && op->inputs[i].value->producer == op) return false;   /* a ring of one */
        }
        if (!op->cls->plain && !op_each_child(op, child_reads_backwards, &position)) return false;
    }
    return true;
}

static xir_status run(xir_pass *at) {
    xir_network *net = at->net;
    sorter s = { .at = at };
    if (is_sorted(net)) return XIR_OK;
    s.state = mem_new(&net->alloc, (size_t)net->n_slots + 1);
    s.order = mem_new(&net->alloc, (net->n_ops + 1) * sizeof *s.order);
    xir_status status = XIR_OK;
    if (!s.state || !s.order) {
        status = pass_no_memory(at);
    } else {
        memset(s.state, NOT_SEEN, (size_t)net->n_slots + 1);
        status = sort(&s);
    }
    if (!status) {
        size_t moved = count_moved(&s);
        if (moved) order_set(net, s.order);
        xir_pass_changed(at, moved);
    }
    mem_free(&net->alloc, s.state, (size_t)net->n_slots + 1);
    mem_free(&net->alloc, (void *)s.order, (net->n_ops + 1) * sizeof *s.order);
    mem_free(&net->alloc, s.stack, s.room * sizeof *s.stack);
    mem_free(&net->alloc, (void *)s.extra, s.extra_room * sizeof *s.extra);
    return status;
}

const xir_pass_decl pass_sort = {
    XIR_PASS_HEAD("sort", "puts every op behind those whose results it reads"),
    .level = XIR_LEVEL_NEEDED,
    .run = run,
};
