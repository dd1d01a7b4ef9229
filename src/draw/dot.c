/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* DOT: a graph that Graphviz lays out. Open groups are clusters, closed ones are nodes. An edge of several uses between
 * the same boxes is one. */
#include "make.h"
#include "out.h"

typedef struct dot {
    draw_out       out;
    const picture *p;
    uint32_t      *drawn;   /* by box, a node or a group: the last target of an edge from it, plus one */
} dot;

static void put_id(dot *d, size_t box) {
    const picture *p = d->p;
    if (box < p->n_nodes) draw_print(&d->out, "%s%lld", draw_id_prefix(p, box), (long long)xir_op_id(p->nodes[box].op));
    else draw_print(&d->out, "g%zu", box - p->n_nodes);
}

static void put_node(dot *d, uint32_t i) {
    char text[DRAW_TEXT];
    put_id(d, i);
    draw_text(&d->out, " [label=\"");
    for (int line = 0; line < DRAW_LINES; line++) {
        const size_t n = draw_node_text(d->p, i, line, text);
        if (line && n) draw_text(&d->out, "\\n");
        draw_quoted(&d->out, (xir_str){ text, n }, DRAW_TEXT);
    }
    draw_text(&d->out, draw_changes(d->p, i) & XIR_DIFF_REMOVED ? "\", style=\"filled,dashed\"" : "\"");
    draw_print(&d->out, ", fillcolor=\"%s\", tooltip=\"", draw_head_colour(d->p, i));
    draw_detail(&d->out, d->p->nodes[i].op, draw_quoted, "\\n");
    draw_text(&d->out, "\"];\n");
}

static void put_title(dot *d, uint32_t g) {
    char text[DRAW_TEXT];
    draw_quoted(&d->out, (xir_str){ text, draw_group_title(d->p, g, text) }, DRAW_TEXT);
}

static void put_closed(dot *d, uint32_t g) {
    char text[DRAW_TEXT];
    put_id(d, d->p->n_nodes + g);
    draw_text(&d->out, " [label=\"");
    put_title(d, g);
    draw_text(&d->out, "\\n");
    draw_quoted(&d->out, (xir_str){ text, draw_group_count(d->p, g, text) }, DRAW_TEXT);
    draw_text(&d->out, "\", shape=box3d, style=filled, fillcolor=\"#e9f0f9\", fontcolor=\"#2b4366\"];\n");
}

/* Groups begin and end along the nodes: `last` is the innermost one that is open. */
static void put_boxes(dot *d) {
    const picture *p = d->p;
    uint32_t last = 0, next = 1;
    for (uint32_t i = 0; i < p->n_nodes && !d->out.failed;) {
        for (; last && p->groups[last].end <= i; last = p->groups[last].parent) draw_text(&d->out, "}\n");
        if (next < p->n_groups && p->groups[next].begin == i) {
            const draw_group *g = &p->groups[next];
            if (p->how.depth && g->depth >= p->how.depth) {
                put_closed(d, next);
                i = g->end;
                next = g->next;
                continue;
            }
            draw_print(&d->out, "subgraph cluster_%u {\nlabel=\"", next);
            put_title(d, next);
            draw_text(&d->out, "\";\n");
            last = next++;
            continue;
        }
        put_node(d, i++);
    }
    for (; last; last = p->groups[last].parent) draw_text(&d->out, "}\n");
}

static size_t box_of(const picture *p, uint32_t node) {
    uint32_t group;
    return draw_is_shown(p, node, &group) ? node : p->n_nodes + group;
}

static void put_edges(dot *d) {
    const picture *p = d->p;
    for (size_t i = 0; i < p->n_edges && !d->out.failed; i++) {
        const draw_edge *e = &p->edges[i];
        const size_t from = box_of(p, e->from), to = box_of(p, e->to);
        uint32_t node;
        if (d->drawn[from] == to + 1 || (from == to && e->from != e->to)) continue;
        d->drawn[from] = (uint32_t)to + 1;
        put_id(d, from);
        draw_text(&d->out, " -> ");
        put_id(d, to);
        draw_text(&d->out, " [tooltip=\"");
        const xir_value *v = draw_value_of(p, e->value, &node);
        if (v) draw_value_detail(&d->out, v, draw_quoted);
        draw_text(&d->out, "\"");
        if (e->change) draw_print(&d->out, ", color=\"%s\"", draw_change_colour(e->change));
        draw_text(&d->out, e->from >= e->to ? ", style=dashed, constraint=false];\n"
                           : e->stub || e->change == DRAW_GONE ? ", style=dashed];\n" : "];\n");
    }
}

static void put_all(dot *d) {
    draw_text(&d->out, "digraph \"");
    draw_quoted(&d->out, xir_network_name(d->p->net), DRAW_TEXT);
    draw_text(&d->out, "\" {\n");
    draw_print(&d->out, "rankdir=%s;\n", d->p->how.left_to_right ? "LR" : "TB");
    draw_text(&d->out, "fontname=\"Helvetica\"; fontsize=11; fontcolor=\"#3a5273\"; color=\"#a9b8cc\"; labeljust=l;\n"
              "node [shape=box, style=\"rounded,filled\", color=\"#aeb8c4\", fontname=\"Helvetica\", fontsize=11, "
              "fontcolor=white];\nedge [color=\"#8893a1\", arrowsize=0.7];\n");
    put_boxes(d);
    put_edges(d);
    draw_text(&d->out, "}\n");
}

xir_status draw_dot(const picture *p, xir_write_fn *write, void *user, xir_diags *why) {
    dot *d = draw_new(p->alloc, 1, sizeof *d);
    uint32_t *drawn = draw_new(p->alloc, p->n_nodes + p->n_groups, sizeof *drawn);
    xir_status status;
    if (d && drawn) {
        d->out.write = write;
        d->out.user = user;
        d->p = p;
        d->drawn = drawn;
        put_all(d);
        status = draw_end(&d->out, why);
    } else {
        status = no_memory(why);
    }
    draw_free(p->alloc, drawn);
    draw_free(p->alloc, d);
    return status;
}
