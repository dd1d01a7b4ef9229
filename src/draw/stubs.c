/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The notes at the ends of edges that are not drawn as lines. */
#include "make.h"
#include "stubs.h"

static size_t box_of(const picture *p, uint32_t node) {
    uint32_t group;
    return draw_is_shown(p, node, &group) ? node : p->n_nodes + group;
}

static void count(draw_stub *stub, uint32_t other) {
    if (!stub->n++) stub->other = other;
}

bool draw_find_note_ends(draw_stubs *s, const picture *p) {
    size_t first = 0;
    while (first < p->n_edges && !p->edges[first].stub) first++;
    *s = (draw_stubs){ 0 };
    if (first == p->n_edges) return true;
    s->in = draw_new(p->alloc, p->n_nodes + p->n_groups, sizeof *s->in);
    s->out = draw_new(p->alloc, p->n_nodes + p->n_groups, sizeof *s->out);
    if (!s->in || !s->out) return false;
    for (size_t i = first; i < p->n_edges; i++) {
        const draw_edge *e = &p->edges[i];
        const size_t from = box_of(p, e->from), to = box_of(p, e->to);
        if (!e->stub || (from == to && e->from != e->to)) continue;
        count(&s->in[to], e->from);
        count(&s->out[from], e->to);
    }
    return true;
}

void draw_stubs_free(draw_stubs *s, const picture *p) {
    draw_free(p->alloc, s->in);
    draw_free(p->alloc, s->out);
}

void draw_stub_words(draw_out *o, const picture *p, const draw_stub *stub, bool in) {
    draw_text(o, in ? "← " : "→ ");
    draw_node_label(o, p, stub->other, draw_xml);
    if (stub->n > 1) draw_print(o, " +%u", stub->n - 1);
}
