/* The ops that are drawn, in execution order, and the edges between them. An op that depends on constants alone comes
 * just before its first user, so that it is in the same groups. An input that no drawn op makes has no edge:
 * Params, absent inputs, and in a broken network values without a maker. */
#include "make.h"

enum { MOST = 1 << 28 };

/* ---- which ops --------------------------------------------------------------------------------------------------- */

typedef struct choosing {
    const picture *p;
    uint8_t       *chosen;      /* by slot; NULL: all ops are drawn   */
    const xir_op **queue;
    size_t         n;
} choosing;

static void choose(choosing *c, const xir_op *op) {
    if (!op || !xir_op_is_placed(op) || xir_op_parent(op) || c->chosen[xir_op_slot(op)]) return;
    c->chosen[xir_op_slot(op)] = 1;
    c->queue[c->n++] = op;
}

static void choose_neighbours(choosing *c, const xir_op *op) {
    for (size_t i = 0; i < xir_op_input_count(op); i++) {
        const xir_value *v = xir_op_input(op, (int64_t)i);
        choose(c, v ? xir_value_op(v) : NULL);
    }
    for (size_t i = 0; i < xir_op_output_count(op); i++) {
        const xir_use *use = xir_value_uses(xir_op_output(op, (int64_t)i));
        for (; use; use = xir_use_next(use)) choose(c, xir_use_op(use));
    }
}

/* Walks from the selected op, hop by hop. */
static bool choose_all(choosing *c) {
    const picture *p = c->p;
    if (!p->how.select) return true;
    c->chosen = draw_new(p->alloc, xir_network_slot_count(p->net), sizeof *c->chosen);
    c->queue = draw_new(p->alloc, xir_network_op_count(p->net), sizeof *c->queue);
    if (!c->chosen || !c->queue) return false;
    choose(c, p->how.select);
    size_t done = 0;
    for (uint32_t hop = 0; hop < p->how.hops && done < c->n; hop++) {
        const size_t end = c->n;
        while (done < end) choose_neighbours(c, c->queue[done++]);
    }
    return true;
}

/* ---- nodes and edges --------------------------------------------------------------------------------------------- */

/* The ops in execution order; `index` gets the position of each by its slot, plus one. */
static size_t list_ops(const picture *p, const choosing *c, draw_node *ops, uint32_t *index) {
    size_t n = 0;
    const size_t all = c->chosen ? c->n : xir_network_op_count(p->net);
    for (const xir_op *op = xir_network_first(p->net); op && n < all; op = xir_op_next(op)) {
        if (c->chosen && !c->chosen[xir_op_slot(op)]) continue;
        ops[n++].op = op;
        index[xir_op_slot(op)] = (uint32_t)n;
    }
    return n;
}

/* An op without inputs that other ops make, unless those are constants. An Input is not a constant. */
static bool is_constant(const draw_node *ops, uint32_t i, const uint32_t *index) {
    const xir_op *op = ops[i].op;
    if (xir_class_traits(xir_op_class(op)) & (XIR_TRAIT_SOURCE | XIR_TRAIT_SINK)) return false;
    for (size_t k = 0; k < xir_op_input_count(op); k++) {
        const xir_value *v = xir_op_input(op, (int64_t)k);
        const xir_op *maker = v ? xir_value_op(v) : NULL;
        const uint32_t at = maker ? index[xir_op_slot(maker)] : 0;
        if (maker && !(at && at - 1 < i && ops[at - 1].constant)) return false;
    }
    return true;
}

/* The position before which an op comes: its own, or that of the first user of a constant. Users have theirs. */
static uint32_t find_place(const draw_node *ops, uint32_t i, const uint32_t *index, const uint32_t *places) {
    uint32_t place = UINT32_MAX;
    for (size_t k = 0; ops[i].constant && k < xir_op_output_count(ops[i].op); k++) {
        const xir_use *use = xir_value_uses(xir_op_output(ops[i].op, (int64_t)k));
        for (; use; use = xir_use_next(use)) {
            const xir_op *user = xir_use_op(use);
            const uint32_t at = user ? index[xir_op_slot(user)] : 0;
            if (at > i + 1 && places[at - 1] < place) place = places[at - 1];
        }
    }
    return place == UINT32_MAX ? i : place;
}

/* `index` gets the node of each op by its slot, plus one. */
static bool add_nodes(picture *p, const choosing *c, uint32_t *index) {
    const size_t most = c->chosen ? c->n : xir_network_op_count(p->net);
    draw_node *ops = draw_new(p->alloc, most + 1, sizeof *ops);
    uint32_t *places = draw_new(p->alloc, most, sizeof *places);
    uint32_t *first = draw_new(p->alloc, most + 1, sizeof *first);
    p->nodes = draw_new(p->alloc, most + 1, sizeof *p->nodes);
    const bool ok = ops && places && first && p->nodes;
    const uint32_t n = ok ? (uint32_t)list_ops(p, c, ops, index) : 0;
    for (uint32_t i = 0; i < n; i++) ops[i].constant = is_constant(ops, i, index);
    for (uint32_t i = n; i-- > 0;) {
        places[i] = find_place(ops, i, index, places);
        first[places[i] + 1]++;
    }
    for (uint32_t i = 0; i < n; i++) first[i + 1] += first[i];
    for (uint32_t i = 0; i < n; i++) p->nodes[first[places[i]]++] = ops[i];
    uint64_t values = 0;
    for (uint32_t i = 0; i < n; i++) {
        p->nodes[i].value = (uint32_t)values;
        index[xir_op_slot(p->nodes[i].op)] = i + 1;
        values += xir_op_output_count(p->nodes[i].op);
        if (values > MOST) values = MOST;
    }
    if (ok) p->nodes[n].value = (uint32_t)values;
    p->n_nodes = n;
    draw_free(p->alloc, ops);
    draw_free(p->alloc, places);
    draw_free(p->alloc, first);
    return ok;
}

static size_t edges_of(const picture *p, uint32_t to, const uint32_t *index, draw_edge *out) {
    const xir_op *op = p->nodes[to].op;
    size_t n = 0;
    for (size_t i = 0; i < xir_op_input_count(op); i++) {
        const xir_value *v = xir_op_input(op, (int64_t)i);
        const xir_op *maker = v ? xir_value_op(v) : NULL;
        const uint32_t from = maker ? index[xir_op_slot(maker)] : 0;
        if (!from) continue;
        if (out) {
            out[n] = (draw_edge){ .from = from - 1, .to = to, .input = (uint32_t)i & INT32_MAX, .stub = from - 1 >= to,
                                  .value = p->nodes[from - 1].value + (uint32_t)xir_value_index(v) };
        }
        n++;
    }
    return n;
}

static bool add_edges(picture *p, const uint32_t *index) {
    size_t n = 0;
    for (size_t i = 0; i < p->n_nodes; i++) n += edges_of(p, (uint32_t)i, index, NULL);
    if (n > MOST) return true;   /* picture_make refuses it */
    p->edges = draw_new(p->alloc, n, sizeof *p->edges);
    if (!p->edges) return false;
    for (size_t i = 0; i < p->n_nodes; i++)
        p->n_edges += edges_of(p, (uint32_t)i, index, p->edges + p->n_edges);
    return true;
}

static xir_status too_large(xir_diags *why) {
    return xir_diags_add(why, XIR_ERROR, XIR_E_LIMIT, XIR_STR(""),
                         "the network has more ops or values than a picture can have, %d", MOST);
}

xir_status draw_find_nodes(picture *p, xir_diags *why) {
    if (xir_network_op_count(p->net) >= MOST) return too_large(why);
    choosing c = { .p = p };
    uint32_t *index = draw_new(p->alloc, (size_t)xir_network_slot_count(p->net) + 1, sizeof *index);
    const bool ok = index && choose_all(&c) && add_nodes(p, &c, index) && add_edges(p, index);
    draw_free(p->alloc, index);
    draw_free(p->alloc, c.chosen);
    draw_free(p->alloc, (void *)c.queue);
    if (!ok) return draw_no_memory(why);
    return p->nodes[p->n_nodes].value >= MOST || !p->edges ? too_large(why) : XIR_OK;
}

uint32_t *draw_edges_to(const picture *p) {
    uint32_t *first = draw_new(p->alloc, p->n_nodes + 1, sizeof *first);
    if (!first) return NULL;
    size_t e = 0;
    for (size_t i = 0; i < p->n_nodes; i++) {
        first[i] = (uint32_t)e;
        while (e < p->n_edges && p->edges[e].to == i) e++;
    }
    first[p->n_nodes] = (uint32_t)e;
    return first;
}
