/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The layout of pictures: properties that every picture has, on networks of many shapes and random ones. Every edge is
 * a chain of segments or a stub, segments lead to the next rank, boxes do not overlap, and what is in a group lies in
 * its box. */
#include "draw/graph.h"
#include "place.h"
#include "support/often.h"

/* ---- what every picture has -------------------------------------------------------------------------------------- */

static void check_groups(const picture *p) {
    for (uint32_t g = 1; g < p->n_groups; g++) {
        const draw_group *x = &p->groups[g], *up = &p->groups[x->parent];
        assert_true(x->parent < g && up->begin <= x->begin && x->end <= up->end && x->begin + 1 < x->end);
        assert_true(x->depth == up->depth + 1 && x->next > g && x->next <= up->next);
        const draw_vertex *v = &p->vertices[up->vertices + x->vertex];
        assert_true(v->kind == DRAW_GROUP && v->ref == g);
    }
    for (uint32_t i = 0; i < p->n_nodes; i++) {
        const draw_group *g = &p->groups[p->nodes[i].group];
        const draw_vertex *v = &p->vertices[g->vertices + p->nodes[i].vertex];
        assert_true(v->kind == DRAW_NODE && v->ref == i && g->begin <= i && i < g->end);
    }
}

static void check_interior(const picture *p, const draw_group *g) {
    const uint32_t *ranks = p->ranks + g->ranks;
    const draw_vertex *v = p->vertices + g->vertices;
    assert_int_equal(ranks[g->n_ranks], g->n_vertices);
    for (uint32_t r = 0; r < g->n_ranks; r++) {
        assert_true(ranks[r] < ranks[r + 1]);
        for (uint32_t i = ranks[r]; i < ranks[r + 1]; i++) {
            assert_int_equal(v[i].rank, r);
            assert_true((v[i].kind == DRAW_ENTRY) == (i < g->entries));
            assert_true((v[i].kind == DRAW_EXIT) == (i >= g->n_vertices - g->exits));
        }
    }
    for (uint32_t i = 0; i < g->n_segments; i++) {
        const draw_segment *s = &p->segments[g->segments + i];
        assert_int_equal(v[s->to].rank, v[s->from].rank + 1);
        assert_true(i == 0 || s[-1].from < s->from || (s[-1].from == s->from && s[-1].to <= s->to));
    }
}

/* Follows the segments of a value from a vertex down to another one, in one group. */
static bool leads(const picture *p, const draw_group *g, uint32_t from, uint32_t to, uint32_t value) {
    const draw_segment *s = p->segments + g->segments;
    const draw_vertex *v = p->vertices + g->vertices;
    bool *reached = calloc(g->n_vertices, sizeof *reached);
    reached[from] = true;
    for (uint32_t i = 0; i < g->n_segments; i++) {   /* sorted by `from`, so by rank */
        const bool inner = s[i].from == from || v[s[i].from].kind == DRAW_LINE;
        if (s[i].value == value && reached[s[i].from] && inner) reached[s[i].to] = true;
    }
    const bool found = reached[to];
    free(reached);
    return found;
}

static uint32_t port(const picture *p, const draw_group *g, draw_kind kind, uint32_t value) {
    for (uint32_t i = 0; i < g->n_vertices; i++) {
        const draw_vertex *v = &p->vertices[g->vertices + i];
        if (v->kind == (unsigned)kind && v->ref == value) return i;
    }
    fail_msg("a group has no port of value %u", value);
    return 0;
}

static void check_edge(const picture *p, const draw_edge *e) {
    const draw_group *g = &p->groups[p->nodes[e->from].group];
    uint32_t from = p->nodes[e->from].vertex, to = p->nodes[e->to].vertex;
    while (e->to < g->begin || e->to >= g->end) {
        assert_true(leads(p, g, from, port(p, g, DRAW_EXIT, e->value), e->value));
        from = g->vertex;
        g = &p->groups[g->parent];
    }
    const draw_group *down = &p->groups[p->nodes[e->to].group];
    while (down != g) {
        assert_true(leads(p, down, port(p, down, DRAW_ENTRY, e->value), to, e->value));
        to = down->vertex;
        down = &p->groups[down->parent];
    }
    assert_true(leads(p, g, from, to, e->value));
}

/* Boxes of a rank are apart, lines too; a box is in its rank, an inner group in the outer one. */
static void check_places(const picture *p, const draw_places *at, uint32_t group) {
    const draw_group *g = &p->groups[group];
    const draw_box *b = &at->boxes[group];
    const uint32_t *ranks = p->ranks + g->ranks;
    for (uint32_t r = 0; r < g->n_ranks; r++) {
        int64_t end = 0, top = at->top[g->ranks + r], thick = at->thick[g->ranks + r];
        if (r) assert_true(top >= at->top[g->ranks + r - 1] + at->thick[g->ranks + r - 1] + DRAW_GAP_PORT);
        for (uint32_t i = ranks[r]; i < ranks[r + 1]; i++) {
            int64_t across, along;
            draw_vertex_size(at, &p->vertices[g->vertices + i], &across, &along);
            const int64_t c = at->centre[g->vertices + i];
            assert_true(along <= thick && c - across / 2 >= end);
            end = c + across / 2 + DRAW_GAP_LINE;
        }
        assert_true(end <= b->across + DRAW_GAP_LINE && top + thick <= b->along);
    }
    if (!group) return;
    const draw_box *up = &at->boxes[g->parent];
    assert_true(b->x >= up->inside_x && b->y >= up->inside_y);
    assert_true(b->x + b->width <= up->x + up->width && b->y + b->height <= up->y + up->height);
}

static void check_picture(const xir_network *net, xir_draw_options how) {
    picture p = draw_of(net, how);
    check_groups(&p);
    for (uint32_t g = 0; g < p.n_groups; g++) check_interior(&p, &p.groups[g]);
    for (size_t i = 0; i < p.n_edges; i++) {
        assert_true(p.edges[i].stub || p.edges[i].from < p.edges[i].to);
        if (!p.edges[i].stub) check_edge(&p, &p.edges[i]);
    }
    draw_places at;
    assert_true(draw_place(&at, &p));
    for (uint32_t g = 0; g < p.n_groups; g++)
        if (at.boxes[g].open) check_places(&p, &at, g);
    draw_unplace(&at);
    picture_free(&p);
}

/* ---- on networks of all shapes ----------------------------------------------------------------------------------- */

static void shapes_are_drawn(void **state) {
    static const char *const shapes[] = {
        "in",
        "in; a in",
        "in; a; b; c",
        "in; a in in in; b a a",
        "in; a:3 in; b a:2 a:0 a:2; c a:1",
        "in; a/x in; a/y a/x; b/x a/y a/x; b/y b/x a/x in; a/z b/y; a/w a/z a/x",
        "in; a/b/c/x in; a/b/c/y a/b/c/x; a/b/z a/b/c/y in; a/d/x a/b/c/x; a/d/y a/d/x a/b/c/y; e a/d/y a/b/c/x",
        "in; x in; =y x; =z =y x; x2 =z; =y2 x2; =z2 =y2 x2; out =z2 in =z",
    };
    (void)state;
    for (size_t i = 0; i < COUNT(shapes); i++) {
        graph g = graph_of(shapes[i]);
        for (int turned = 0; turned < 2; turned++)
            for (uint32_t depth = 0; depth < 4; depth++)
                check_picture(g.net, (xir_draw_options){ .left_to_right = turned, .depth = depth });
        xir_network_free(g.net);
    }
}

static uint32_t random_below(uint64_t *seed, uint32_t n) {
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*seed >> 33) % n;
}

/* Ops in random scopes, with inputs from near and from far. */
static graph random_graph(uint64_t seed, size_t n) {
    static char text[1 << 16];
    static const char *const scopes[] = { "", "a/", "a/b/", "a/b/c/", "a/d/", "e/", "e/f/" };
    size_t at = (size_t)snprintf(text, sizeof text, "in");
    char names[GRAPH_MOST][40];
    snprintf(names[0], sizeof names[0], "in");
    for (uint32_t i = 1; i < n; i++) {
        const uint32_t scope = random_below(&seed, 3) ? i / 9 % COUNT(scopes) : random_below(&seed, COUNT(scopes));
        snprintf(names[i], sizeof names[0], "%sn%u", scopes[scope], i);
        at += (size_t)snprintf(text + at, sizeof text - at, "; %s", names[i]);
        for (uint32_t k = random_below(&seed, 4); k-- > 0;) {
            const uint32_t far = random_below(&seed, 8) ? 4 : i;
            const char *maker = names[i - 1 - random_below(&seed, far < i ? far : i)];
            at += (size_t)snprintf(text + at, sizeof text - at, " %s", maker);
        }
    }
    return graph_of(text);
}

static void random_networks_are_drawn(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= OFTEN(60); seed++) {
        graph g = random_graph(seed, 5 + seed * 7 % 200);
        check_picture(g.net, (xir_draw_options){ .group = (xir_draw_group)(seed % 3), .depth = seed % 4 });
        check_picture(g.net, (xir_draw_options){ .group = XIR_DRAW_NONE });
        check_picture(g.net, (xir_draw_options){ .select = g.ops[seed % g.n], .hops = seed % 5 });
        xir_network_free(g.net);
    }
}

/* ---- stubs and order --------------------------------------------------------------------------------------------- */

/* A line over 32 ranks is drawn, over 33 it is a stub. */
static void long_lines_are_stubs(void **state) {
    (void)state;
    for (size_t length = DRAW_FAR; length <= DRAW_FAR + 1; length++) {
        char text[4096];
        size_t n = (size_t)snprintf(text, sizeof text, "in");
        for (size_t i = 1; i < length; i++)
            n += (size_t)snprintf(text + n, sizeof text - n, i == 1 ? "; n1 in" : "; n%zu n%zu", i, i - 1);
        snprintf(text + n, sizeof text - n, "; end n%zu in", length - 1);
        graph g = graph_of(text);
        picture p = draw_of(g.net, (xir_draw_options){ .group = XIR_DRAW_NONE });
        assert_int_equal(p.edges[p.n_edges - 1].stub, length > DRAW_FAR);
        picture_free(&p);
        xir_network_free(g.net);
    }
}

/* A value with many uses far away has notes instead of lines; its near uses are lines. */
static void many_uses_are_stubs(void **state) {
    (void)state;
    char text[8192];
    size_t n = (size_t)snprintf(text, sizeof text, "in; n0 in"), stubs = 0;
    for (size_t i = 1; i < 28; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "; n%zu n%zu in", i, i - 1);
    graph g = graph_of(text);
    picture p = draw_of(g.net, (xir_draw_options){ .group = XIR_DRAW_NONE });
    for (size_t i = 0; i < p.n_edges; i++) stubs += p.edges[i].stub;
    assert_int_equal(stubs, 28 - DRAW_DISTANT);
    check_picture(g.net, (xir_draw_options){ .group = XIR_DRAW_NONE });
    picture_free(&p);
    xir_network_free(g.net);
}

/* An op whose input comes later: the network is broken, and it is drawn with a note. */
static void a_cycle_is_a_stub(void **state) {
    (void)state;
    graph g = graph_of("in; a in; b a; c b");
    DOES(xir_op_add_input(g.ops[1], xir_op_output(g.ops[3], 0)));
    DOES(xir_op_add_input(g.ops[2], xir_op_output(g.ops[2], 0)));
    picture p = draw_of(g.net, (xir_draw_options){ .group = XIR_DRAW_NONE });
    assert_int_equal(p.n_edges, 5);
    assert_true(p.edges[1].stub && p.edges[3].stub && !p.edges[0].stub && !p.edges[2].stub && !p.edges[4].stub);
    check_picture(g.net, (xir_draw_options){ .group = XIR_DRAW_NONE });
    picture_free(&p);
    xir_network_free(g.net);
}

/* Lines that need not cross do not. */
static void lines_do_not_cross(void **state) {
    (void)state;
    graph g = graph_of("in; a:4 in; p0 a:0; p1 a:1; p2 a:2; p3 a:3; q3 p3; q2 p2; q0 p0; q1 p1; r2 q2; r0 q0; r3 q3; "
                       "r1 q1; e r0 r1 r2 r3");
    picture p = draw_of(g.net, (xir_draw_options){ .group = XIR_DRAW_NONE });
    for (uint32_t i = 0; i < p.n_segments; i++)
        for (uint32_t k = 0; k < i; k++)
            assert_false(p.segments[k].from < p.segments[i].from && p.segments[k].to > p.segments[i].to &&
                         p.vertices[p.segments[k].from].rank == p.vertices[p.segments[i].from].rank);
    picture_free(&p);
    xir_network_free(g.net);
}

/* A chain is straight, also through groups, and a line next to it does not bend it. */
static void chains_are_straight(void **state) {
    (void)state;
    graph g = graph_of("in; a/x in; a/y a/x; a/b/u a/y; a/b/v a/b/u a/y; long_name_of_an_op a/b/v; z long_name_of_an_op");
    picture p = draw_of(g.net, (xir_draw_options){ .group = XIR_DRAW_SCOPE });
    draw_places at;
    assert_true(draw_place(&at, &p));
    int64_t x = INT64_MIN;
    for (uint32_t i = 0; i < p.n_nodes; i++) {
        const uint32_t group = p.nodes[i].group;
        const int64_t c = at.boxes[group].inside_x + at.centre[p.groups[group].vertices + p.nodes[i].vertex];
        if (i) assert_int_equal(c, x);
        x = c;
    }
    draw_unplace(&at);
    picture_free(&p);
    xir_network_free(g.net);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_are_drawn),
        cmocka_unit_test(random_networks_are_drawn),
        cmocka_unit_test(long_lines_are_stubs),
        cmocka_unit_test(many_uses_are_stubs),
        cmocka_unit_test(a_cycle_is_a_stub),
        cmocka_unit_test(lines_do_not_cross),
        cmocka_unit_test(chains_are_straight),
    };
    return RUN_GROUP(tests);
}
