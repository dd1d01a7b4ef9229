/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* sort: puts every op after those whose results it reads.
 *
 *     x = input()            x = input()
 *     d = add(c, b)          c = relu(x)
 *     c = relu(x)      ->    b = sigmoid(x)
 *     output(d)              d = add(c, b)
 *     b = sigmoid(x)         output(d)
 *
 * An op that is in a valid place stays there. An op that comes too early pulls the ops that it waits for in front of
 * itself, in the order of its inputs. Inputs come first, Outputs that nothing reads last. An op also waits for what its
 * sub ops read. A cycle is an error that names its ops, and then nothing is moved. The walk keeps its own stack, so a
 * long chain in the wrong order needs no deep recursion. */
#include <stdio.h>
#include "sort_memory.h"

enum { NOT_SEEN, WAITING, DONE };

/* An op that waits for its operands: `next` is the next input to visit; the operands of its sub ops follow, from
 * extra[from]. */
typedef struct frame { xir_op *op; uint32_t next; bool gathered; size_t from; } frame;

typedef struct sorter {
    xir_pass *at;
    uint8_t  *state;       /* by slot              */
    xir_op  **order;
    size_t    n_order;
    frame    *stack;
    size_t    depth, room;
    xir_op  **extra;       /* of the frames on the stack, from the bottom up */
    size_t    n_extra, extra_room;
} sorter;

/* The placed op that makes a value: its producer, or the op that contains the producer as a sub op. */
static xir_op *producer_of(const xir_value *v) {
    xir_op *op = v ? value_op(v) : NULL;
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
    xir_str key = op->cls->key, text = name_text(op_label(op));
    snprintf(out, size, "%.*s '%.*s'", (int)key.size, key.data, CLIP_TO(text, 60));
    return out;
}

/* Reports the cycle that starts at `from`: each op reads the result of the next, and the last reads the first's. */
static xir_status report_cycle(sorter *s, const xir_op *from) {
    enum { SHOWN = 8 };
    size_t start = s->depth;
    while (s->stack[start - 1].op != from) start--;
    char text[900], word[160];
    size_t size = 0, n = s->depth - start + 1;
    for (size_t i = 0; i < n && i < SHOWN && size < sizeof text; i++) {
        const char *words = words_of(s->stack[start - 1 + i].op, word, sizeof word);
        size += (size_t)snprintf(text + size, sizeof text - size, "%s%s", i ? ", which reads " : "", words);
    }
    return xir_pass_fail(s->at, XIR_E_INVALID, from, "%zu ops form a cycle: %s%s", n, text,
                         n > SHOWN ? ", and so on" : "");
}

static bool gather(void *user, xir_op *child) {
    sorter *s = user;
    xir_network *net = child->net;
    for (uint32_t i = 0; i < child->n_inputs; i++) {
        xir_op *producer = producer_of(op_inputs(child)[i].value);
        if (!producer || s->state[producer->slot] == DONE || producer == s->stack[s->depth - 1].op) continue;
        if (!mem_reserve(&net->alloc, (void **)&s->extra, &s->extra_room, s->n_extra + 1, sizeof *s->extra))
            return false;
        s->extra[s->n_extra++] = producer;
    }
    return op_each_child(child, gather, s);
}

/* The next op that the top of the stack has to wait for, or NULL; false if memory is out. */
static bool next_producer(sorter *s, xir_op **producer) {
    frame *f = &s->stack[s->depth - 1];
    while (f->next < f->op->n_inputs) {
        *producer = producer_of(op_inputs(f->op)[f->next++].value);
        if (*producer && s->state[(*producer)->slot] != DONE) return true;
    }
    if (!f->gathered && !f->op->cls->plain && !op_each_child(f->op, gather, s)) return false;
    f->gathered = true;
    while (s->n_extra > f->from) {
        *producer = s->extra[--s->n_extra];
        if (s->state[(*producer)->slot] != DONE) return true;
    }
    *producer = NULL;
    return true;
}

/* Appends an op to the order, after everything that it waits for. */
static xir_status put(sorter *s, xir_op *op) {
    if (s->state[op->slot] == DONE) return XIR_OK;
    if (!push(s, op)) return pass_no_memory(s->at);
    while (s->depth) {
        xir_op *producer, *top = s->stack[s->depth - 1].op;
        if (!next_producer(s, &producer)) return pass_no_memory(s->at);
        if (!producer) {
            s->state[top->slot] = DONE;
            s->order[s->n_order++] = top;
            s->depth--;
        } else if (s->state[producer->slot] == WAITING) {
            return report_cycle(s, producer);
        } else if (!push(s, producer)) {
            return pass_no_memory(s->at);
        }
    }
    return XIR_OK;
}

/* An Output that is read stands like other ops: its readers would pull it in front of themselves again and again. */
static bool stands_last(const xir_op *op) {
    bool is_read = false;
    for (uint32_t i = 0; i < op->n_outputs; i++) is_read |= op_outputs(op)[i].uses != NULL;
    return op->cls->traits & XIR_TRAIT_SINK && !is_read;
}
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

/* Returns how many ops have another predecessor in the new order. */
static size_t count_moved(const sorter *s) {
    size_t n = 0;
    for (size_t i = 0; i < s->n_order; i++) n += s->order[i]->prev != (i ? s->order[i - 1] : NULL);
    return n;
}

/* ---- the sorted case --------------------------------------------------------------------------------------------- */

static bool reads_backwards(const xir_op *op, uint32_t position) {
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const xir_op *producer = producer_of(op_inputs(op)[i].value);
        if (producer && producer->position > position) return false;
    }
    return true;
}

static bool child_reads_backwards(void *user, xir_op *child) {
    return reads_backwards(child, *(uint32_t *)user) && op_each_child(child, child_reads_backwards, user);
}

/* Nearly every network is sorted: the test visits each edge once and allocates nothing. */
static bool is_sorted(const xir_network *net) {
    bool head = true, tail = false;
    for (const xir_op *op = net->first; op; op = op->next) {
        head = head && stands_first(op);
        tail = tail || stands_last(op);
        uint32_t position = op->position;
        if (stands_first(op) != head || stands_last(op) != tail || !reads_backwards(op, position)) return false;
        for (uint32_t i = 0; i < op->n_inputs; i++) {
            if (xir_value_op(op_inputs(op)[i].value) == op) return false;   /* a cycle of one op */
        }
        if (!op->cls->plain && !op_each_child(op, child_reads_backwards, &position)) return false;
    }
    return true;
}

static xir_status put_into_order(xir_pass *at) {
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

static xir_status run(xir_pass *at) {
    const xir_str order = xir_pass_text(at, "order");
    const bool memory = xir_str_equal(order, XIR_STR("memory"));
    if (!memory && !xir_str_equal(order, XIR_STR("stable"))) {
        return xir_pass_fail(at, XIR_E_BOUNDS, NULL, "order: expected stable or memory, found '%.*s'",
                             CLIP_TO(order, 80));
    }
    const xir_status status = put_into_order(at);
    return status || !memory ? status : sort_for_memory(at);
}

static const xir_pass_option options[] = {
    { "order", XIR_PASS_TEXT, "stable", "stable: ops in order stay; memory: also one in which less memory lives" },
};

const xir_pass_decl pass_sort = {
    XIR_PASS_HEAD("sort", "puts every op after those whose results it reads"),
    .level = XIR_LEVEL_NEEDED,
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .run = run,
};
