/* The ops that are drawn, in execution order, and the edges between them. An input that no drawn op makes has no edge:
 * Params, absent inputs, and in a broken network values without a maker. */
#include "make.h"

enum { MOST = 1 << 28 };

/* ---- which ops ------------------------------------------------------------------------------------------------ */

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

/* ---- nodes and edges -------------------------------------------------------------------------------------------- */

/* `index` gets the node of each op by its slot, plus one. */
static bool add_nodes(picture *p, const choosing *c, uint32_t *index) {
    const size_t n = c->chosen ? c->n : xir_network_op_count(p->net);
    uint64_t values = 0;
    p->nodes = draw_new(p->alloc, n + 1, sizeof *p->nodes);
    if (!p->nodes) return false;
    for (const xir_op *op = xir_network_first(p->net); op && p->n_nodes < n; op = xir_op_next(op)) {
        if (c->chosen && !c->chosen[xir_op_slot(op)]) continue;
        p->nodes[p->n_nodes++] = (draw_node){ .op = op, .value = (uint32_t)values };
        index[xir_op_slot(op)] = (uint32_t)p->n_nodes;
        values += xir_op_output_count(op);
        if (values > MOST) values = MOST;
    }
    p->nodes[p->n_nodes].value = (uint32_t)values;
    return true;
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
