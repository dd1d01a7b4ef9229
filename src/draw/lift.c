/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The content of each group. An edge from one group to another is an arrow between two children of the innermost group
 * that has both, and leaves and enters all groups on the way: there it is a link from a child to an EXIT, or from an
 * ENTRY to a child. Links of one value that would be the same are one.
 *
 * Ranks come from all edges that lead forward: a child is below everything that an arrow to it comes from. Since the
 * children of a group are ranges of the execution order, one pass over the edges in the order of their targets finds
 * them. */
#include "make.h"

/* ---- children and ranks ------------------------------------------------------------------------------------------ */

/* A child of a group: a node, or a group. */
typedef struct child { uint32_t ref; bool is_group; } child;

/* The innermost group that has both ends of an edge, and its children that have one each. */
typedef struct crossing { uint32_t group; child from, to; } crossing;

static crossing cross(const picture *p, const draw_edge *e) {
    uint32_t a = p->nodes[e->from].group, b = p->nodes[e->to].group;
    child from = { e->from, false }, to = { e->to, false };
    while (a != b) {
        if (p->groups[a].depth >= p->groups[b].depth) {
            from = (child){ a, true };
            a = p->groups[a].parent;
        } else {
            to = (child){ b, true };
            b = p->groups[b].parent;
        }
    }
    return (crossing){ a, from, to };
}

static uint32_t *rank_of(const draw_interiors *in, child c) {
    return c.is_group ? &in->group_rank[c.ref] : &in->node_rank[c.ref];
}

static uint32_t vertex_of(const picture *p, child c) {
    return c.is_group ? p->groups[c.ref].vertex : p->nodes[c.ref].vertex;
}

/* Numbers the children of each group in the order of their nodes. */
static void number_children(picture *p, draw_interiors *in) {
    size_t next = 1;
    for (uint32_t i = 0; i < p->n_nodes; i++) {
        for (; next < p->n_groups && p->groups[next].begin == i; next++)
            p->groups[next].vertex = in->children[p->groups[next].parent]++;
        p->nodes[i].vertex = in->children[p->nodes[i].group]++;
    }
}

enum { HAS_MAKER = 1, HAS_USER = 2 };

/* A child without makers in its group is just above its first user, not at the top. `above` is by node, then by group:
 * the least rank of a user plus one; `linked`: bits of HAS_…. */
static bool find_ranks(picture *p, draw_interiors *in) {
    uint32_t *above = draw_new(p->alloc, p->n_nodes + p->n_groups, sizeof *above);
    uint8_t *linked = draw_new(p->alloc, p->n_nodes + p->n_groups, sizeof *linked);
    if (!above || !linked) {
        draw_free(p->alloc, above);
        draw_free(p->alloc, linked);
        return false;
    }
    for (size_t i = 0; i < p->n_edges; i++) {
        if (p->edges[i].stub) continue;
        const crossing x = cross(p, &p->edges[i]);
        uint32_t *to = rank_of(in, x.to);
        const uint32_t least = *rank_of(in, x.from) + 1;
        if (*to < least) *to = least;
        linked[x.to.is_group ? p->n_nodes + x.to.ref : x.to.ref] |= HAS_MAKER;
    }
    for (size_t i = 0; i < p->n_edges; i++) {
        if (p->edges[i].stub) continue;
        const crossing x = cross(p, &p->edges[i]);
        const size_t from = x.from.is_group ? p->n_nodes + x.from.ref : x.from.ref;
        const uint32_t user = *rank_of(in, x.to) + 1;
        if (linked[from] & HAS_MAKER) continue;
        if (!(linked[from] & HAS_USER) || user < above[from]) above[from] = user;
        linked[from] |= HAS_USER;
    }
    for (size_t i = 0; i < p->n_nodes; i++)
        if (linked[i] == HAS_USER) in->node_rank[i] = above[i] - 2;
    for (size_t g = 1; g < p->n_groups; g++)
        if (linked[p->n_nodes + g] == HAS_USER) in->group_rank[g] = above[p->n_nodes + g] - 2;
    for (size_t i = 0; i < p->n_nodes; i++) {
        uint32_t *last = &in->last_rank[p->nodes[i].group];
        if (in->node_rank[i] > *last) *last = in->node_rank[i];
    }
    for (size_t g = 1; g < p->n_groups; g++) {
        uint32_t *last = &in->last_rank[p->groups[g].parent];
        if (in->group_rank[g] > *last) *last = in->group_rank[g];
    }
    draw_free(p->alloc, above);
    draw_free(p->alloc, linked);
    return true;
}

/* ---- stubs ------------------------------------------------------------------------------------------------------- */

/* The line of an edge is too long in one of the groups that it passes. */
static bool is_far(const picture *p, const draw_interiors *in, const draw_edge *e, const crossing *x) {
    if (*rank_of(in, x->to) - *rank_of(in, x->from) > DRAW_FAR) return true;
    child c = { e->from, false };
    for (uint32_t g = p->nodes[e->from].group; g != x->group; g = p->groups[g].parent) {
        if (in->last_rank[g] - *rank_of(in, c) >= DRAW_FAR) return true;
        c = (child){ g, true };
    }
    c = (child){ e->to, false };
    for (uint32_t g = p->nodes[e->to].group; g != x->group; g = p->groups[g].parent) {
        if (*rank_of(in, c) >= DRAW_FAR) return true;
        c = (child){ g, true };
    }
    return false;
}

static bool is_distant(const draw_interiors *in, const crossing *x) {
    return *rank_of(in, x->to) - *rank_of(in, x->from) > DRAW_DISTANT;
}

static bool find_stubs(picture *p, const draw_interiors *in) {
    uint32_t *distant = draw_new(p->alloc, (size_t)p->nodes[p->n_nodes].value + 1, sizeof *distant);
    if (!distant) return false;
    for (size_t i = 0; i < p->n_edges; i++) {
        draw_edge *e = &p->edges[i];
        if (e->stub) continue;
        const crossing x = cross(p, e);
        if (is_distant(in, &x)) distant[e->value]++;
        e->stub = is_far(p, in, e, &x);
    }
    for (size_t i = 0; i < p->n_edges; i++) {
        draw_edge *e = &p->edges[i];
        if (e->stub || distant[e->value] <= DRAW_MOST_USES) continue;
        const crossing x = cross(p, e);
        e->stub = is_distant(in, &x);
    }
    draw_free(p->alloc, distant);
    return true;
}

/* ---- links ------------------------------------------------------------------------------------------------------- */

typedef struct lifting {
    picture        *p;
    draw_interiors *in;
    uint32_t       *entry_of, *exit_of;   /* by group: the last value that got an ENTRY or EXIT, plus one   */
    uint32_t       *used_by, *of;         /* by group: the last target of a link, and the value of it plus one */
    size_t         *link, *exit_link;     /* by group: this link, and the one to the last EXIT                */
    uint32_t       *n_entries, *n_exits;  /* by group                                                         */
    bool            failed;
} lifting;

/* While links are made, the vertices of a group are its children, then ENTRYs from here, EXITs from there. */
enum { ENTRY_BASE = 1 << 30, EXIT_BASE = INT32_MIN, VALUES = (1 << 30) - 1 };

static void add_link(lifting *l, const draw_edge *e, uint32_t group, uint32_t from, uint32_t to) {
    draw_interiors *in = l->in;
    draw_link *links = l->failed ? NULL : draw_room(l->p->alloc, in->links, in->n_links + 1, sizeof *links);
    if (!links) {
        l->failed = true;
        return;
    }
    in->links = links;
    links[in->n_links++] = (draw_link){ .group = group, .from = from, .to = to, .value = e->value & VALUES,
                                        .change = e->change };
}

/* Another edge has the same link. */
static void share_link(lifting *l, const draw_edge *e, size_t link) {
    if (!l->failed && l->in->links[link].change != e->change) l->in->links[link].change = DRAW_SAME;
}

static void add_port(lifting *l, draw_port **ports, size_t *n, draw_port port) {
    draw_port *now = l->failed ? NULL : draw_room(l->p->alloc, *ports, *n + 1, sizeof *now);
    if (!now) {
        l->failed = true;
        return;
    }
    *ports = now;
    now[(*n)++] = port;
}

/* A link in a group, once for each target: the uses of a value come in the order of their nodes, so those of one target
 * follow each other. */
static void link_once(lifting *l, const draw_edge *e, uint32_t group, uint32_t from, uint32_t to) {
    if (l->of[group] == e->value + 1 && l->used_by[group] == to) {
        share_link(l, e, l->link[group]);
        return;
    }
    l->of[group] = e->value + 1;
    l->used_by[group] = to;
    l->link[group] = l->in->n_links;
    add_link(l, e, group, from, to);
}

static void leave(lifting *l, const draw_edge *e, uint32_t group, uint32_t from) {
    if (l->exit_of[group] == e->value + 1) {
        share_link(l, e, l->exit_link[group]);
        return;
    }
    l->exit_of[group] = e->value + 1;
    l->exit_link[group] = l->in->n_links;
    add_link(l, e, group, from, (uint32_t)EXIT_BASE + l->n_exits[group]++);
    add_port(l, &l->in->exits, &l->in->n_exits, (draw_port){ group, e->value });
}

static void come(lifting *l, const draw_edge *e, uint32_t group, uint32_t to) {
    if (l->entry_of[group] != e->value + 1) {
        l->entry_of[group] = e->value + 1;
        l->n_entries[group]++;
        add_port(l, &l->in->entries, &l->in->n_entries, (draw_port){ group, e->value });
    }
    link_once(l, e, group, ENTRY_BASE + l->n_entries[group] - 1, to);
}

static void lift_edge(lifting *l, const draw_edge *e) {
    const picture *p = l->p;
    const crossing x = cross(p, e);
    child c = { e->from, false };
    for (uint32_t g = p->nodes[e->from].group; g != x.group; g = p->groups[g].parent) {
        leave(l, e, g, vertex_of(p, c));
        c = (child){ g, true };
    }
    link_once(l, e, x.group, vertex_of(p, x.from), vertex_of(p, x.to));
    c = (child){ e->to, false };
    for (uint32_t g = p->nodes[e->to].group; g != x.group; g = p->groups[g].parent) {
        come(l, e, g, vertex_of(p, c));
        c = (child){ g, true };
    }
}

/* The edges that are lines, by value and then by their targets. NULL without memory. */
static uint32_t *edges_by_value(const picture *p, size_t *n) {
    const size_t values = p->nodes[p->n_nodes].value;
    uint32_t *first = draw_new(p->alloc, values + 1, sizeof *first);
    uint32_t *sorted = draw_new(p->alloc, p->n_edges, sizeof *sorted);
    *n = 0;
    for (size_t i = 0; first && sorted && i < p->n_edges; i++)
        if (!p->edges[i].stub) first[p->edges[i].value + 1]++;
    for (size_t v = 0; first && v < values; v++) first[v + 1] += first[v];
    for (size_t i = 0; first && sorted && i < p->n_edges; i++) {
        if (p->edges[i].stub) continue;
        sorted[first[p->edges[i].value]++] = (uint32_t)i;
        ++*n;
    }
    if (!first) {
        draw_free(p->alloc, sorted);
        sorted = NULL;
    }
    draw_free(p->alloc, first);
    return sorted;
}

/* Sorts links by group; in a group, they keep their order by value. Gives ENTRYs and EXITs their final numbers. */
static bool sort_links(lifting *l) {
    const picture *p = l->p;
    draw_interiors *in = l->in;
    uint32_t *first = draw_new(p->alloc, p->n_groups + 1, sizeof *first);
    draw_link *sorted = draw_new(p->alloc, in->n_links, sizeof *sorted);
    const bool ok = first && sorted;
    for (size_t i = 0; ok && i < in->n_links; i++) first[in->links[i].group + 1]++;
    for (size_t g = 0; ok && g < p->n_groups; g++) first[g + 1] += first[g];
    for (size_t i = 0; ok && i < in->n_links; i++) {
        draw_link x = in->links[i];
        const uint32_t children = in->children[x.group];
        if (x.from >= ENTRY_BASE) x.from += children - ENTRY_BASE;
        if (x.to >= (uint32_t)EXIT_BASE) x.to += children + l->n_entries[x.group] - (uint32_t)EXIT_BASE;
        sorted[first[x.group]++] = x;
    }
    draw_free(p->alloc, first);
    draw_free(p->alloc, in->links);
    in->links = sorted;
    if (!ok) in->n_links = 0;
    return ok;
}

/* Sorts ENTRYs or EXITs by group. */
static bool sort_ports(const picture *p, draw_port **ports, size_t n) {
    uint32_t *first = draw_new(p->alloc, p->n_groups + 1, sizeof *first);
    draw_port *sorted = draw_new(p->alloc, n, sizeof *sorted);
    const bool ok = first && sorted;
    for (size_t i = 0; ok && i < n; i++) first[(*ports)[i].group + 1]++;
    for (size_t g = 0; ok && g < p->n_groups; g++) first[g + 1] += first[g];
    for (size_t i = 0; ok && i < n; i++) sorted[first[(*ports)[i].group]++] = (*ports)[i];
    draw_free(p->alloc, first);
    draw_free(p->alloc, *ports);
    *ports = sorted;
    return ok;
}

static bool make_links(picture *p, draw_interiors *in) {
    lifting l = { .p = p, .in = in };
    uint32_t **const arrays[] = { &l.entry_of, &l.exit_of, &l.used_by, &l.of, &l.n_entries, &l.n_exits };
    bool ok = true;
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        *arrays[i] = draw_new(p->alloc, p->n_groups, sizeof **arrays[i]);
        ok = ok && *arrays[i];
    }
    l.link = draw_new(p->alloc, p->n_groups, sizeof *l.link);
    l.exit_link = draw_new(p->alloc, p->n_groups, sizeof *l.exit_link);
    ok = ok && l.link && l.exit_link;
    size_t n = 0;
    uint32_t *sorted = ok ? edges_by_value(p, &n) : NULL;
    ok = ok && sorted;
    for (size_t i = 0; ok && i < n && !l.failed; i++) lift_edge(&l, &p->edges[sorted[i]]);
    draw_free(p->alloc, sorted);
    ok = ok && !l.failed && sort_links(&l) && sort_ports(p, &in->entries, in->n_entries) &&
         sort_ports(p, &in->exits, in->n_exits);
    for (size_t g = 0; ok && g < p->n_groups; g++) {
        p->groups[g].entries = l.n_entries[g];
        p->groups[g].exits = l.n_exits[g];
    }
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) draw_free(p->alloc, *arrays[i]);
    draw_free(p->alloc, l.link);
    draw_free(p->alloc, l.exit_link);
    return ok;
}

bool draw_lift(picture *p, draw_interiors *in) {
    in->node_rank = draw_new(p->alloc, p->n_nodes + 1, sizeof *in->node_rank);
    in->group_rank = draw_new(p->alloc, p->n_groups, sizeof *in->group_rank);
    in->children = draw_new(p->alloc, p->n_groups, sizeof *in->children);
    in->last_rank = draw_new(p->alloc, p->n_groups, sizeof *in->last_rank);
    if (!in->node_rank || !in->group_rank || !in->children || !in->last_rank) return false;
    number_children(p, in);
    return find_ranks(p, in) && find_stubs(p, in) && make_links(p, in);
}

void draw_interiors_free(const picture *p, draw_interiors *in) {
    draw_free(p->alloc, in->node_rank);
    draw_free(p->alloc, in->group_rank);
    draw_free(p->alloc, in->children);
    draw_free(p->alloc, in->last_rank);
    draw_free(p->alloc, in->entries);
    draw_free(p->alloc, in->exits);
    draw_free(p->alloc, in->links);
    *in = (draw_interiors){ 0 };
}
