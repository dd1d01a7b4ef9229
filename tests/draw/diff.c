/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Two networks in one picture: which ops and edges it has, in which order, and how they differ; that it has all edges
 * of both; what DOT, SVG and the page say of it; errors, and scarce memory. */
#include <xir/diff.h>
#include "draw/graph.h"
#include "support/kept.h"
#include "support/often.h"
#include "support/scarce.h"

static char *drawn(const xir_network *net, xir_draw_format format, xir_draw_options how) {
    buffer out;
    buffer_init(&out, &memory_default);
    how.size = sizeof how;
    DOES(xir_draw(net, format, &how, keep, &out, why));
    buffer_char(&out, '\0');
    assert_false(out.failed);
    char *text = strdup(out.data);
    buffer_free(&out);
    return text;
}

static xir_diff *diff_of(const graph *a, const graph *b) {
    xir_diff *d = xir_diff_new(a->net, b->net, NULL, why);
    assert_non_null(d);
    return d;
}

/* ---- what is in the picture -------------------------------------------------------------------------------------- */

static size_t put_name(char *text, size_t room, const picture *p, uint32_t node) {
    const xir_str name = xir_op_name(p->nodes[node].op);
    return (size_t)snprintf(text, room, "%.*s", (int)name.size, name.data);
}

/* "in a ~b +c; in>a a>b +b>c": the nodes, then the edges, both with their signs; a stub is `»`. */
static void describe(const picture *p, char *text, size_t room) {
    static const char *const signs[] = { "", "-", "+" };
    size_t n = 0;
    for (uint32_t i = 0; i < p->n_nodes; i++) {
        char line[DRAW_TEXT];
        draw_node_text(p, i, DRAW_LINE_CLASS, line);   /* "+ Conv2d", or "Conv2d" */
        const char *blank = strchr(line, ' ');
        n += (size_t)snprintf(text + n, room - n, "%s%.*s", i ? " " : "", blank ? (int)(blank - line) : 0,
                              *line == '\xE2' ? "-" : line);
        n += put_name(text + n, room - n, p, i);
    }
    n += (size_t)snprintf(text + n, room - n, ";");
    for (size_t i = 0; i < p->n_edges; i++) {
        const draw_edge *e = &p->edges[i];
        n += (size_t)snprintf(text + n, room - n, " %s", signs[e->change]);
        n += put_name(text + n, room - n, p, e->from);
        n += (size_t)snprintf(text + n, room - n, e->stub ? "»" : ">");
        n += put_name(text + n, room - n, p, e->to);
    }
}

static void two_networks_are_one(void **state) {
    static const struct { const char *a, *b, *merged; } rows[] = {
        { "in; a in; b a", "in; a in; b a", "in a b; in>a a>b" },
        { "in; a in; b a", "in; a in; b a; c b", "in a b +c; in>a a>b +b>c" },
        { "in; a in; b a; c b", "in; a in; c a", "in a -b ~c; in>a -a>b +a>c -b>c" },
        { "in; a in; c a", "in; a in; b a; c b", "in a +b ~c; in>a +a>b +b>c -a>c" },
        /* what was removed comes before what was added, and after what precedes it */
        { "in; x in; y x; z y", "in; x in; =u x; z =u", "in x -y +u ~z; in>x -x>y +x>u +u>z -y>z" },
        { "in; a in; b in; c a b", "in; b in; a in; c a b", "in b >a c; in>b in>a a>c b>c" },
        /* an input twice, then once more; an input that is lost twice is one edge */
        { "in; a in; b a a", "in; a in; b a in", "in a ~b; in>a a>b +in>b" },
        { "in; a in; b in in a", "in; a in; b a", "in a ~b; in>a a>b -in>b" },
        /* outputs that only the first network has */
        { "in; a:2 in; b a:1", "in; a in; b a", "in ~a ~b; in>a +a>b -a>b" },
        { "in; a in; b a", "in", "in -a -b; -in>a -a>b" },
        { "in; a in; b a ?", "in; a in; b ? a", "in a ~b; in>a a>b" },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        graph a = graph_of(rows[i].a), b = graph_of(rows[i].b);
        xir_diff *d = diff_of(&a, &b);
        picture p = draw_of(a.net, (xir_draw_options){ .diff = d });
        char text[1024];
        describe(&p, text, sizeof text);
        if (strcmp(text, rows[i].merged) != 0)
            fail_msg("%s | %s: %s, not %s", rows[i].a, rows[i].b, text, rows[i].merged);
        picture_free(&p);
        xir_diff_free(d);
        xir_network_free(a.net);
        xir_network_free(b.net);
    }
}

/* If the networks disagree about the order of two ops, one arrow would lead back: it is a stub. */
static void a_contradiction_is_a_stub(void **state) {
    (void)state;
    graph a = graph_of("in; a in; b a; c b; d c; e d"), b = graph_of("in; e in; a e; b a; c b; d c");
    xir_diff *d = diff_of(&a, &b);
    picture p = draw_of(a.net, (xir_draw_options){ .diff = d, .group = XIR_DRAW_NONE });
    char text[1024];
    describe(&p, text, sizeof text);
    assert_string_equal(text, "in >~e ~a b c d; +in>e -d»e +e>a -in>a a>b b>c c>d");
    picture_free(&p);
    xir_diff_free(d);
    xir_network_free(a.net);
    xir_network_free(b.net);
}

static void a_part_of_both_is_drawn(void **state) {
    static const struct { bool second; size_t op; uint32_t hops; const char *merged; } rows[] = {
        { false, 2, 0, "-b;" },
        { false, 2, 1, "a -b ~d; -a>b -b>d" },
        { true, 2, 1, "a +c ~d; +a>c +c>d" },
        { false, 3, 1, "-b +c ~d; +c>d -b>d" },
    };
    (void)state;
    graph a = graph_of("in; a in; b a; d b"), b = graph_of("in; a in; =c a; d =c");
    xir_diff *d = diff_of(&a, &b);
    for (size_t i = 0; i < COUNT(rows); i++) {
        const xir_op *op = (rows[i].second ? &b : &a)->ops[rows[i].op];
        picture p = draw_of(a.net, (xir_draw_options){ .diff = d, .select = op, .hops = rows[i].hops });
        char text[256];
        describe(&p, text, sizeof text);
        assert_string_equal(text, rows[i].merged);
        picture_free(&p);
    }
    xir_diff_free(d);
    xir_network_free(a.net);
    xir_network_free(b.net);
}

/* ---- all edges of both networks ---------------------------------------------------------------------------------- */

static uint32_t node_of(const picture *p, const xir_op *op) {
    for (uint32_t i = 0; i < p->n_nodes; i++)
        if (p->nodes[i].op == op || p->was[i] == op) return i;
    fail_msg("an op is not in the picture");
    return 0;
}

/* Every use in the network has an edge that is not of the other one alone. */
static void check_edges_of(const picture *p, const xir_network *net, draw_change other) {
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) {
        const uint32_t to = node_of(p, op);
        for (size_t k = 0; k < xir_op_input_count(op); k++) {
            const xir_value *v = xir_op_input(op, (int64_t)k);
            if (!v || !xir_value_op(v)) continue;
            const uint32_t from = node_of(p, xir_value_op(v));
            const uint32_t value = p->nodes[from].value + (uint32_t)xir_value_index(v);
            bool found = false;
            for (size_t e = 0; e < p->n_edges && !found; e++) {
                const draw_edge *x = &p->edges[e];
                found = x->from == from && x->to == to && x->value == value && x->change != (unsigned)other;
            }
            assert_true(found);
        }
    }
}

static uint32_t random_below(uint64_t *seed, uint32_t n) {
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*seed >> 33) % n;
}

/* Ops s0/n0, s0/n1, …, each with up to three inputs from before; some are left out, and some are there again. */
static graph random_graph(uint64_t seed, uint64_t variant) {
    char text[8192], names[64][24];
    size_t at = (size_t)snprintf(text, sizeof text, "in");
    uint32_t n = 1;
    snprintf(names[0], sizeof names[0], "in");
    for (uint32_t i = 0; i < 50; i++) {
        uint64_t own = seed * 1000 + i;
        if (variant && random_below(&variant, 6) == 0) continue;
        if (variant && random_below(&variant, 9) == 0) own += variant;
        const bool renamed = variant && random_below(&variant, 20) == 0;
        snprintf(names[n], sizeof names[0], "s%u/%sn%u", i / 8, renamed ? "x" : "", i);
        at += (size_t)snprintf(text + at, sizeof text - at, "; %s", names[n]);
        for (uint32_t k = random_below(&own, 4); k-- > 0;) {
            const uint32_t far = random_below(&own, 8) ? 4 : n;
            const char *maker = names[n - 1 - random_below(&own, far < n ? far : n)];
            at += (size_t)snprintf(text + at, sizeof text - at, " %s", maker);
        }
        n++;
    }
    return graph_of(text);
}

static void all_edges_of_both(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= OFTEN(40); seed++) {
        graph a = random_graph(seed, seed % 3 ? 0 : seed), b = random_graph(seed, seed + 7);
        xir_diff *d = diff_of(&a, &b);
        picture p = draw_of(a.net, (xir_draw_options){ .diff = d, .depth = seed % 3 });
        check_edges_of(&p, a.net, DRAW_NEW);
        check_edges_of(&p, b.net, DRAW_GONE);
        for (size_t i = 0; i < p.n_edges; i++) assert_true(p.edges[i].stub || p.edges[i].from < p.edges[i].to);
        picture_free(&p);
        xir_diff_free(d);
        xir_network_free(a.net);
        xir_network_free(b.net);
    }
}

/* A segment is of one network alone only if all edges that share it are. */
static void shared_lines_are_neutral(void **state) {
    (void)state;
    graph a = graph_of("in; x in; y x; z y; u z x; v z x"), b = graph_of("in; x in; y x; z y; u z x; v z");
    xir_diff *d = diff_of(&a, &b);
    picture p = draw_of(a.net, (xir_draw_options){ .diff = d, .group = XIR_DRAW_NONE });
    size_t n[3] = { 0 };
    for (size_t i = 0; i < p.n_segments; i++) n[p.segments[i].change]++;
    assert_int_equal(n[DRAW_GONE], 1);      /* the last one, into v */
    assert_int_equal(n[DRAW_NEW], 0);
    picture_free(&p);
    xir_diff_free(d);
    xir_network_free(a.net);
    xir_network_free(b.net);
}

/* ---- what is written --------------------------------------------------------------------------------------------- */

static void assert_has(const char *text, const char *part) {
    if (!strstr(text, part)) fail_msg("'%s' is not in %.3000s", part, text);
}

static void signs_and_colours_are_written(void **state) {
    (void)state;
    graph a = graph_of("in; a in; b a; c b"), b = graph_of("in; a in; =d a; c =d");
    DOES(xir_network_set_text(b.net, XIR_TEXT_NAME, XIR_STR("later</script>")));
    xir_diff *d = diff_of(&a, &b);
    char *svg = drawn(a.net, XIR_DRAW_SVG, (xir_draw_options){ .diff = d });
    char *dot = drawn(a.net, XIR_DRAW_DOT, (xir_draw_options){ .diff = d });
    char *page = drawn(a.net, XIR_DRAW_HTML, (xir_draw_options){ .diff = d });
    assert_has(svg, ">− Op</text>");
    assert_has(svg, ">+ Eq</text>");
    assert_has(svg, ">~ Op</text>");
    assert_has(svg, "<g id=\"r2\"><title>Op b #2");   /* both networks have an op 2 */
    assert_has(svg, "<g id=\"n2\"><title>Eq d #2");
    assert_has(svg, "class=\"e er\"");
    assert_has(svg, "class=\"e ea\"");
    assert_has(dot, "n1 -> r2 [tooltip=\"fp32 4\", color=\"#b3342b\", style=dashed];");
    assert_has(dot, "n1 -> n2 [tooltip=\"fp32 4\", color=\"#1c7a3c\"];");
    assert_has(page, "\"diff\":{\"change\":[0,0,1,1,6],\"lost\":[0,0,0,0,1],");
    assert_has(page, "inputs/0");
    assert_has(page, "output 0 of Op b");
    assert_has(page, "output 0 of Eq d");
    assert_null(strstr(page, "later</script>"));
    free(svg);
    free(dot);
    free(page);
    char *closed = drawn(a.net, XIR_DRAW_SVG, (xir_draw_options){ .diff = d, .depth = 1 });
    free(closed);
    xir_diff_free(d);
    xir_network_free(a.net);
    xir_network_free(b.net);
}

static void closed_groups_count_differences(void **state) {
    (void)state;
    graph a = graph_of("in; s/a in; s/b s/a; t/a s/b; t/b t/a"), b = graph_of("in; s/a in; s/b s/a; t/a s/b");
    xir_diff *d = diff_of(&a, &b);
    char *svg = drawn(a.net, XIR_DRAW_SVG, (xir_draw_options){ .diff = d, .depth = 1 });
    assert_has(svg, ">2 ops</text>");
    assert_has(svg, ">2 ops, 1 differs</text>");
    free(svg);
    xir_diff_free(d);
    xir_network_free(a.net);
    xir_network_free(b.net);
}

static void another_network_is_refused(void **state) {
    (void)state;
    graph a = graph_of("in; a in"), b = graph_of("in"), c = graph_of("in");
    xir_diff *d = diff_of(&a, &b);
    buffer out;
    buffer_init(&out, &memory_default);
    xir_draw_options how = XIR_INIT(xir_draw_options, .diff = d);
    assert_int_equal(xir_draw(b.net, XIR_DRAW_SVG, &how, keep, &out, why), XIR_E_INVALID);
    check_finding(XIR_E_INVALID, "first network");
    how.select = c.ops[0];
    assert_int_equal(xir_draw(a.net, XIR_DRAW_SVG, &how, keep, &out, why), XIR_E_INVALID);
    check_finding(XIR_E_INVALID, "selected");
    buffer_free(&out);
    xir_diff_free(d);
    xir_network_free(a.net);
    xir_network_free(b.net);
    xir_network_free(c.net);
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static bool ignore(void *user, const void *data, size_t size) {
    (void)user, (void)data, (void)size;
    return true;
}

static xir_network *net_for_memory(xir_context *with, int skip) {
    xir_network *net = xir_network_new(with, "n", XIR_FRAMEWORK_ONNX, "1");
    xir_at at = xir_at_end(net);
    xir_value *x = xir_input(at, "in", XIR_TENSOR(with, xir_type_float(with, XIR_FLOAT_FP32), "*", 4)), *first = x;
    for (int i = 0; i < 8; i++) {
        char name[32];
        if (i == skip) continue;
        snprintf(name, sizeof name, "s%d/n%d", i / 3, i);
        x = i % 3 == 2 ? xir_build_add(at, x, first, 1, 1, NULL) : XIR_RELU(at, x);
        xir_op_set_name(xir_value_op(x), xir_str_of(name));
    }
    xir_output(at, XIR_VALUES(x));
    return net;
}

static void drawing(want *w) {
    xir_network *other = NULL;
    xir_diff *d = NULL;
    IN_PLENTY(w, w->net = net_for_memory(w->ctx, 4); other = net_for_memory(w->ctx, 2);
              d = xir_diff_new(w->net, other, NULL, NULL));
    const xir_draw_options how = XIR_INIT(xir_draw_options, .diff = d);
    for (int format = XIR_DRAW_DOT; format <= XIR_DRAW_HTML; format++)
        TRY(w, xir_draw(w->net, (xir_draw_format)format, &how, ignore, NULL, w->why));
    xir_diff_free(d);
    xir_network_free(other);
}
SCARCE_TEST(drawing)

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_networks_are_one),
        cmocka_unit_test(a_contradiction_is_a_stub),
        cmocka_unit_test(a_part_of_both_is_drawn),
        cmocka_unit_test(all_edges_of_both),
        cmocka_unit_test(shared_lines_are_neutral),
        cmocka_unit_test(signs_and_colours_are_written),
        cmocka_unit_test(closed_groups_count_differences),
        cmocka_unit_test(another_network_is_refused),
        cmocka_unit_test(test_drawing),
    };
    return RUN_GROUP(tests);
}
