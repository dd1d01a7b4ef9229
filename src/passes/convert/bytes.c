/* The bytes that a conversion makes: ops, names and attributes in the arena of the network, types in its pool, lists of
 * the conversion, the bytes of constants, networks of bodies, and the memory that a node needs for itself. The arenas
 * count what they hand out, so no row has to count what it makes. A row asks before it makes something large, and each
 * op that it makes asks, too; then the node stays.
 *
 * What replaces a node does not count up to twice what the node has: most nodes become about one op. The memory that a
 * node needs for itself is freed after it. Then a sixteenth of it counts, so that the time is limited too; all of it
 * counts if the node stays, so that many such nodes cannot compute large tables. */
#include "convert/convert.h"

enum { TIMES = 16, LITTLE = 1 << 12 };

/* What each node makes. */
static uint64_t small(const conversion *c) {
    return c->net->arena.taken + c->net->pool.arena.taken + c->scratch.taken + c->bytes.passed;
}

static uint64_t plus(uint64_t a, uint64_t b) { return a > UINT64_MAX - b ? UINT64_MAX : a + b; }

void converted_begin(conversion *c) {
    const uint64_t own = plus(c->within->params, net_text_bytes(c->net));
    c->bytes = (converted_bytes){ .before = small(c), .turn = small(c) };
    c->bytes.most = plus(c->ctx->limits.max_converted, own > UINT64_MAX / TIMES ? UINT64_MAX : TIMES * own);
}

/* The bytes that are left if `replaced` bytes of nodes do not count. */
static uint64_t left_without(const conversion *c, uint64_t replaced) {
    const converted_bytes *b = &c->bytes;
    const uint64_t made = small(c) - b->before + c->brief.taken + b->constants + b->bodies;
    const uint64_t counts = made > replaced ? made - replaced : 0;
    return b->most > counts ? b->most - counts : 0;
}

uint64_t converted_left(const conversion *c) { return left_without(c, c->bytes.replaced); }

void converted_turn(conversion *c) {
    converted_bytes *b = &c->bytes;
    if (!c->in.open) {
        b->passed += b->stays ? c->brief.taken : c->brief.taken / TIMES;
        arena_clear(&c->brief);
    }
    const uint64_t made = small(c) - b->turn;
    b->replaced += made < b->places ? made : b->places;
    b->turn += made;
    b->places = 0;
    b->stays = false;
}

static uint64_t bytes_of(const xir_network *body) { return body->arena.taken + body->pool.arena.taken; }

void converted_body(conversion *c, const xir_network *body) { c->bytes.bodies += bytes_of(body); }

void converted_body_gone(conversion *c, const xir_network *body) {
    const uint64_t bytes = bytes_of(body);
    c->bytes.bodies -= bytes < c->bytes.bodies ? bytes : c->bytes.bodies;
    c->bytes.passed += bytes / TIMES;
}

/* What may take the place of a node and not count: twice the bytes of its record and names. */
static uint64_t place_of_op(const xir_op *op) {
    uint64_t n = sizeof *op + op->room * sizeof(xir_use) + op->n_outputs * sizeof(xir_value);
    if (op_more_of(op)) n += sizeof(op_more);
    if (op_label(op)->size) n += sizeof(label) + op_label(op)->size;
    for (size_t i = 0; i < op->n_outputs; i++) {
        const value_more *more = value_more_of(&op_outputs(op)[i]);
        if (more) n += sizeof *more + sizeof(label) + more->name->size;
    }
    return 2 * n;
}

void converted_replaced(conversion *c, const xir_op *op) { c->bytes.places += place_of_op(op); }

bool node_affords(xir_node *at, uint64_t bytes) {
    const uint64_t left = converted_left(at->c);
    if (bytes <= left || bytes <= left_without(at->c, at->c->bytes.replaced + place_of_op(at->op)))
        return !xir_node_failed(at);
    xir_node_unsupported(at, "it takes %llu bytes more, and %llu bytes are left of max_converted",
                         (unsigned long long)bytes, (unsigned long long)left);
    if (at->c->checking && !at->c->back.to && !at->c->bytes.said) {
        at->c->bytes.said = true;
        node_say(at, XIR_NOTE, XIR_OK, NULL, "not checked, nor are nodes like it: %s", at->reason);
    }
    return false;
}

void *node_take(xir_node *at, size_t size) {
    if (size > LITTLE && !node_affords(at, size)) return NULL;
    void *made = arena_take(&at->c->brief, size);
    if (!made) (void)node_no_memory(at);
    return made;
}
