/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The bytes that a conversion makes: ops, names and attributes in the arena of the network, types in its pool, lists of
 * the conversion, the bytes of constants, networks of bodies, and the memory that a node needs for itself. The arenas
 * count what they hand out, so no row has to count what it makes. A row asks before it makes something large, and each
 * op that it makes asks, too; then the node stays.
 *
 * What replaces a node does not count up to what the node has: most nodes become about one op. The memory that a node
 * needs for itself is freed after it. Then a sixteenth of it counts, so that the time is limited too; all of it counts
 * if the node stays, so that many such nodes cannot compute large tables. */
#include "node/node.h"

enum {
    PASSED = 16,
    KEPT   = 8,          /* large things leave an eighth of all bytes to little ones */
    ROUND  = 16 << 10    /* the arena's bytes after which turns are settled, and a node's that need no question */
};

/* Returns the bytes that nodes have made in arenas, apart from the memory of the present one. */
static uint64_t small(const conversion *c) {
    return c->net->arena.taken + c->net->pool.arena.taken + c->scratch.taken + c->bytes.passed;
}

/* The bytes that are left if `free` bytes do not count, apart from `kept` ones. */
static uint64_t left(const conversion *c, uint64_t free, uint64_t kept) {
    const converted_bytes *b = &c->bytes;
    const uint64_t made = small(c) - b->before + c->brief.taken + b->constants + b->bodies;
    const uint64_t counts = (made > free ? made - free : 0) + kept;
    return b->most > counts ? b->most - counts : 0;
}

uint64_t converted_left(const conversion *c) { return left(c, c->bytes.replaced, c->bytes.most / KEPT); }

static void begin_round(conversion *c) {
    converted_bytes *b = &c->bytes;
    b->turn = small(c);
    b->places = 0;
    b->stays = false;
    b->soon = left(c, b->replaced, 0) > 4 * ROUND ? c->net->arena.taken + ROUND : 0;
}

/* On the way back the network is XIR's, so it exists already, and its ops may have no names: a formula of some nodes
 * stands for an op, in proportion to the network. These bytes are not taken from the run. */
static uint64_t more_on_the_way_back(const conversion *c) {
    enum { TIMES = 16 };
    uint64_t more;
    if (!c->back.to) return 0;
    return mul_u64(TIMES, c->net->arena.taken, &more) ? more : UINT64_MAX;
}

void converted_begin(conversion *c) {
    budget *run = c->within;
    if (!run->convertible) run->convertible = net_converted_most(c->net);
    c->bytes = (converted_bytes){ .before = small(c), .begun = run->converted, .more = more_on_the_way_back(c) };
    if (!add_u64(run->convertible - run->converted, c->bytes.more, &c->bytes.most)) c->bytes.most = UINT64_MAX;
    begin_round(c);
}

void converted_end(conversion *c) {
    const converted_bytes *b = &c->bytes;
    if (!b->most) return;   /* nothing was left, or nothing has begun */
    const uint64_t made = b->most - left(c, b->replaced, 0), taken = made > b->more ? made - b->more : 0;
    const uint64_t room = c->within->convertible - b->begun;
    c->within->converted = b->begun + (taken < room ? taken : room);
}

void converted_round(conversion *c) {
    converted_bytes *b = &c->bytes;
    if (!c->in.open) {
        b->passed += b->stays ? c->brief.taken : c->brief.taken / PASSED;
        arena_clear(&c->brief);
    }
    const uint64_t made = small(c) - b->turn;
    b->replaced += made < b->places ? made : b->places;
    begin_round(c);
}

static uint64_t bytes_of(const xir_network *body) { return body->arena.taken + body->pool.arena.taken; }

void converted_body(conversion *c, const xir_network *body) { c->bytes.bodies += bytes_of(body); }

void converted_body_gone(conversion *c, const xir_network *body) {
    const uint64_t bytes = bytes_of(body);
    c->bytes.bodies -= bytes < c->bytes.bodies ? bytes : c->bytes.bodies;
    c->bytes.passed += bytes / PASSED;
}

bool node_affords_slow(xir_node *at, uint64_t bytes) {
    const converted_bytes *b = &at->c->bytes;
    const uint64_t kept = bytes > NODE_LITTLE ? b->most / KEPT : 0;
    if (bytes <= left(at->c, b->replaced, kept)) return !xir_node_failed(at);
    if (bytes <= left(at->c, b->replaced + b->places + converted_place(at->op), kept)) return !xir_node_failed(at);
    xir_node_unsupported(at, "it takes %llu bytes, more than are left of max_converted", (unsigned long long)bytes);
    if (at->c->checking && !at->c->back.to && !at->c->bytes.said) {
        at->c->bytes.said = true;
        node_say(at, XIR_NOTE, XIR_OK, NULL, "not checked, nor are nodes like it: %s", at->reason);
    }
    return false;
}

void converted_params(conversion *c, const xir_value *until) {
    for (const xir_value *v = c->net->all_params; v != until; v = value_params(v)->next)
        if (value_params(v)->data) c->bytes.constants += value_params(v)->data->size;
}
