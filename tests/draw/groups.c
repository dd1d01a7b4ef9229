/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Groups of a picture: by calls, by the names of ops, by tags, by repeats; groups that are cut, joined or left out. */
#include <xir/region.h>
#include "draw/graph.h"

/* "a[1-3 b[2-3]] block x2[4-9 ...]": title, first and last node, then the inner groups. */
static const char *tree(const picture *p) {
    static char text[8192];
    char title[DRAW_TEXT];
    size_t n = 0, depth = 0;
    text[0] = '\0';
    for (uint32_t g = 1; g < p->n_groups; g++) {
        for (; depth >= p->groups[g].depth; depth--) n += (size_t)snprintf(text + n, sizeof text - n, "]");
        draw_group_title(p, g, title);
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%s[%u-%u", n ? " " : "", title, p->groups[g].begin,
                              p->groups[g].end - 1);
        depth = p->groups[g].depth;
    }
    for (; depth > 0; depth--) n += (size_t)snprintf(text + n, sizeof text - n, "]");
    return text;
}

typedef struct row { xir_draw_group how; const char *text, *groups; } row;

static const row rows[] = {
    /* Scopes: the parts of a name but the last. */
    { XIR_DRAW_SCOPE, "in; a/x in; a/y a/x; b a/y", "a[1-2]" },
    { XIR_DRAW_SCOPE, "in; a.x in; a.y a.x; b a.y", "a[1-2]" },
    { XIR_DRAW_SCOPE, "in; /a/x in; //a//y /a/x", "a[1-2]" },
    { XIR_DRAW_SCOPE, "in; a.b/x in; a.b/y a.b/x; a.c/z a.b/y", "a.b[1-2]" },
    { XIR_DRAW_SCOPE, "in; a/b/x in; a/b/y a/b/x; a/c a/b/y", "a[1-3 b[1-2]]" },
    /* Scopes with the same ops are one group, and one op is not a group. */
    { XIR_DRAW_SCOPE, "in; a/b/c/x in; a/b/c/y a/b/c/x", "a/b/c[1-2]" },
    { XIR_DRAW_SCOPE, "in; a/b/x in; c/x a/b/x; c/y c/x", "c[2-3]" },
    { XIR_DRAW_SCOPE, "in; x in; y x", "" },
    /* A group that other ops interrupt is cut: an arrow from it and back into it would be a cycle. */
    { XIR_DRAW_SCOPE, "in; a/x in; a/y a/x; b a/y; a/z b; a/w a/z", "a[1-2] a[4-5]" },
    { XIR_DRAW_SCOPE, "in; s/a/x in; s/a/y s/a/x; s/b s/a/y; s/a/z s/b; s/a/w s/a/z", "s[1-5 a[1-2] a[4-5]]" },
    /* An op without a name is in the scopes that its neighbours share. */
    { XIR_DRAW_SCOPE, "in; a/x in; - a/x; a/y -; b/z a/y; b/w b/z", "a[1-3] b[4-5]" },
    { XIR_DRAW_SCOPE, "in; a/b/x in; a/b/w a/b/x; - a/b/w; a/c/y -; a/c/z a/c/y", "a[1-5 b[1-2] c[4-5]]" },
    { XIR_DRAW_SCOPE, "in; a/x in; a/y a/x; - a/y", "a[1-2]" },
    /* A constant is with its user: c comes later in the file than the op before it. */
    { XIR_DRAW_SCOPE, "in; c; a/x in; a/y a/x c", "a[1-3]" },

    /* Repeats: three ops or more, twice or more. */
    { XIR_DRAW_REPEAT, "in; x in; =y x; =z =y x; x2 =z; =y2 x2; =z2 =y2 x2", "block ×2[1-6 block 1[1-3] block 2[4-6]]" },
    { XIR_DRAW_REPEAT, "in; x in; =y x; =z =y x; x2 =z; =y2 x2; =z2 =y2 =z", "" },   /* wired otherwise */
    { XIR_DRAW_REPEAT, "in; x in; =y x; x2 =y; =y2 x2", "" },
    { XIR_DRAW_REPEAT, "in; x in; y x; z y", "" },
    /* The end of the last block is not in it, if another op comes instead. */
    { XIR_DRAW_REPEAT, "in; x in; =y x; =z =y x; x2 =z; =y2 x2; =z2 =y2 x2; x3 =z2; e x3",
      "block ×2[1-6 block 1[1-3] block 2[4-6]]" },
    { XIR_DRAW_NONE, "in; a/x in; a/y a/x", "" },
    { XIR_DRAW_REPEAT, "in; a/x in; a/y a/x", "" },
    { XIR_DRAW_SCOPE, "in; x in; =y x; =z =y x; x2 =z; =y2 x2; =z2 =y2 x2", "" },

    /* Both: scopes that are alike are the blocks. */
    { XIR_DRAW_BOTH, "in; l/0/x in; l/0/=y l/0/x; l/0/z l/0/=y l/0/x; l/1/x l/0/z; l/1/=y l/1/x; l/1/z l/1/=y l/1/x",
      "l ×2[1-6 0[1-3] 1[4-6]]" },
    { XIR_DRAW_BOTH, "in; l/0/x in; =l/0/y l/0/x; =l/0/z =l/0/y l/0/x; l/1/x =l/0/z; =l/1/y l/1/x; =l/1/z =l/1/y l/1/x",
      "l ×2[1-6 0[1-3] 1[4-6]]" },
};

static void groups_are_found(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        graph g = graph_of(rows[i].text);
        picture p = draw_of(g.net, (xir_draw_options){ .group = rows[i].how, .constants = true });
        if (strcmp(tree(&p), rows[i].groups) != 0)
            fail_msg("%s:\n  found    %s\n  expected %s", rows[i].text, tree(&p), rows[i].groups);
        picture_free(&p);
        xir_network_free(g.net);
    }
}

static xir_op *call_of(graph *g, size_t from, size_t n, const char *name) {
    xir_op *call = xir_outline(g->net, g->ops + from, n, &XIR_INIT(xir_outline_options, .name = xir_str_of(name)));
    assert_non_null(call);
    return call;
}

/* The ops of a body are drawn, and scopes end at the border of the call. */
static void calls_are_groups(void **state) {
    (void)state;
    graph g = graph_of("in; a/w in; a/x a/w; a/y a/x; a/z a/y a/x; b a/z");
    xir_op *inner = call_of(&g, 3, 2, "f");
    assert_non_null(xir_outline(g.net, (xir_op *[]){ g.ops[2], inner }, 2, NULL));
    picture p = draw_of(g.net, (xir_draw_options){ .group = XIR_DRAW_SCOPE });
    assert_string_equal(tree(&p), "Call[2-4 f[3-4 a[3-4]]]");
    static const uint32_t edges[][2] = { { 0, 1 }, { 1, 2 }, { 2, 3 }, { 3, 4 }, { 2, 4 }, { 4, 5 } };
    assert_int_equal(p.n_nodes, 6);
    assert_int_equal(p.n_edges, COUNT(edges));
    for (size_t i = 0; i < COUNT(edges); i++) {
        assert_int_equal(p.edges[i].from, edges[i][0]);
        assert_int_equal(p.edges[i].to, edges[i][1]);
    }
    picture_free(&p);
    p = draw_of(g.net, (xir_draw_options){ .select = g.ops[1], .hops = 1 });   /* around an op, a call is one */
    assert_int_equal(p.n_nodes, 3);
    picture_free(&p);
    xir_network_free(g.net);
}

/* A body without an Input and an Output is that of a broken file. */
static void a_broken_call_is_drawn_as_an_op(void **state) {
    (void)state;
    graph g = graph_of("in; a in; b a; c b");
    xir_op *call = call_of(&g, 1, 2, "f");
    DOES(xir_op_set(call, XIR_STR("body"), &(xir_attr){ .kind = XIR_KIND_OPS }));
    picture p = draw_of(g.net, (xir_draw_options){ .depth = 0 });
    assert_int_equal(p.n_nodes, 3);
    assert_ptr_equal(p.nodes[1].op, call);
    picture_free(&p);
    xir_network_free(g.net);
}

static void tags_make_groups(void **state) {
    (void)state;
    graph g = graph_of("in; a in; b a; c b; d c; e d");
    const xir_any part = xir_any_text(XIR_STR("head")), other = xir_any_text(XIR_STR("tail"));
    for (size_t i = 1; i < 6; i++)
        if (i != 3) DOES(xir_op_set_tag(g.ops[i], XIR_STR("part"), i < 3 ? &part : &other));
    picture p = draw_of(g.net, (xir_draw_options){ .group = XIR_DRAW_TAG, .tag = XIR_STR("part") });
    assert_string_equal(tree(&p), "head[1-2] tail[4-5]");
    picture_free(&p);
    xir_network_free(g.net);
}

/* An op that depends on constants alone belongs to the op that uses it in the end. The Output owns none, and an op
 * without users stays. */
static void constants_are_folded_into_their_users(void **state) {
    (void)state;
    graph g = graph_of("in; c; d c; a/x in; a/y a/x d; e; o e; z");
    xir_output(xir_at_end(g.net), XIR_VALUES(xir_op_output(g.ops[6], 0)));
    picture p = draw_of(g.net, (xir_draw_options){ .group = XIR_DRAW_SCOPE });
    const size_t drawn[] = { 0, 3, 4, 7, 6 };   /* o comes just before the Output */
    for (size_t i = 0; i < COUNT(drawn); i++) assert_ptr_equal(p.nodes[i].op, g.ops[drawn[i]]);
    assert_int_equal(p.n_nodes, 6);   /* and the Output */
    assert_int_equal(p.n_folded, 3);
    const size_t folded[][2] = { { 1, 2 }, { 2, 2 }, { 5, 4 } };
    for (size_t i = 0; i < 3; i++) {
        assert_ptr_equal(p.folded[i].op, g.ops[folded[i][0]]);
        assert_int_equal(p.folded[i].node, folded[i][1]);
    }
    picture_free(&p);
    p = draw_of(g.net, (xir_draw_options){ .constants = true });
    assert_int_equal(p.n_nodes, 9);
    assert_int_equal(p.n_folded, 0);
    picture_free(&p);
    p = draw_of(g.net, (xir_draw_options){ .select = g.ops[1], .hops = 1 });   /* what is selected is drawn */
    assert_int_equal(p.n_nodes, 2);
    picture_free(&p);
    xir_network_free(g.net);
}

/* A constant is in the group of its user, but its name is its own. */
static void a_name_loses_only_what_the_titles_say(void **state) {
    (void)state;
    char text[DRAW_TEXT];
    graph g = graph_of("in; w; b/w; a/x in w b/w; a/y a/x");
    picture p = draw_of(g.net, (xir_draw_options){ .group = XIR_DRAW_SCOPE, .constants = true });
    assert_string_equal(tree(&p), "a[1-4]");
    static const char *const names[] = { "in", "w", "b/w", "x", "y" };
    for (uint32_t i = 0; i < 5; i++) {
        draw_node_text(&p, i, DRAW_LINE_NAME, text);
        assert_string_equal(text, names[i]);
    }
    picture_free(&p);
    xir_network_free(g.net);
}

/* Long blocks first, then what repeats inside them. */
static void repeats_are_nested(void **state) {
    (void)state;
    char text[8192] = "in", last[48] = "in";
    size_t n = 2;
    for (int block = 0; block < 3; block++) {
        for (int k = 0; k < 4; k++) {
            char x[40];
            snprintf(x, sizeof x, "%d_%d", block, k);
            n += (size_t)snprintf(text + n, sizeof text - n, "; x%s %s; =y%s x%s; z%s =y%s x%s", x, last, x, x, x, x,
                                  x);
            snprintf(last, sizeof last, "z%s", x);
        }
        n += (size_t)snprintf(text + n, sizeof text - n, "; =e%d %s ?", block, last);
        snprintf(last, sizeof last, "=e%d", block);
    }
    graph g = graph_of(text);
    picture p = draw_of(g.net, (xir_draw_options){ .group = XIR_DRAW_REPEAT });
    const char *found = tree(&p);
    assert_non_null(strstr(found, "block ×3[1-39"));
    assert_non_null(strstr(found, "block ×4["));
    assert_int_equal(p.n_groups, 1 + 1 + 3 * (1 + 1 + 4));
    picture_free(&p);
    xir_network_free(g.net);
}

/* Ops that differ in an attribute alone are not the same. */
static void attributes_count(void **state) {
    (void)state;
    for (int differ = 0; differ < 2; differ++) {
        xir_network *net = new_net();
        xir_at at = xir_at_end(net);
        xir_value *x = xir_input(at, "in", FP32("*", 4));
        for (int i = 0; i < 3; i++) {
            x = XIR_RELU(at, x);
            x = XIR_RELU(at, x);
            DOES(xir_op_set_real(xir_value_op(x), "alpha", differ ? i + 1.0 : 1.0));
            x = XIR_OP(at, add, .lhs = x, .rhs = x);
        }
        xir_output(at, XIR_VALUES(x));
        DOES(xir_network_status(net));
        picture p = draw_of(net, (xir_draw_options){ .group = XIR_DRAW_REPEAT });
        assert_string_equal(tree(&p), differ ? "" : "block ×3[1-9 block 1[1-3] block 2[4-6] block 3[7-9]]");
        picture_free(&p);
        xir_network_free(net);
    }
}

/* Params that are undeclared attributes, as PNNX has them, are alike if their types are: each op has its own. */
static void params_of_a_type_are_alike(void **state) {
    (void)state;
    for (int differ = 0; differ < 2; differ++) {
        graph g = graph_of("in; a in; b a; c b; d c; e d; f e");
        for (size_t i = 1; i < g.n; i += 3) {
            const xir_type *type = differ && i > 1 ? FP32("*", 8) : FP32("*", 4);
            const xir_any weights = { .kind = XIR_ANY_PARAMS, .as.params = xir_params_new(g.net, XIR_STR("w"), type) };
            DOES(xir_op_set_extra(g.ops[i], XIR_STR("@weight"), &weights));
        }
        picture p = draw_of(g.net, (xir_draw_options){ .group = XIR_DRAW_REPEAT });
        assert_string_equal(tree(&p), differ ? "" : "block ×2[1-6 block 1[1-3] block 2[4-6]]");
        picture_free(&p);
        xir_network_free(g.net);
    }
}

/* Only so many levels of a deep scope are groups. */
static void deep_scopes(void **state) {
    (void)state;
    char name[4096];
    for (size_t i = 0; i < 2000; i++) memcpy(name + 2 * i, "s/", 2);
    xir_network *net = new_net();
    xir_at at = xir_at_end(net);
    xir_value *x = xir_input(at, "in", FP32("*", 4));
    for (size_t depth = 1000; depth > 0; depth -= 100) {
        x = XIR_RELU(at, x);
        DOES(xir_op_set_name(xir_value_op(x), (xir_str){ name, 2 * depth + 1 }));
    }
    xir_output(at, XIR_VALUES(x));
    picture p = draw_of(net, (xir_draw_options){ .group = XIR_DRAW_SCOPE });
    assert_int_equal(p.n_groups, 2);
    picture_free(&p);
    xir_network_free(net);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_are_found),
        cmocka_unit_test(calls_are_groups),
        cmocka_unit_test(a_broken_call_is_drawn_as_an_op),
        cmocka_unit_test(tags_make_groups),
        cmocka_unit_test(constants_are_folded_into_their_users),
        cmocka_unit_test(a_name_loses_only_what_the_titles_say),
        cmocka_unit_test(repeats_are_nested),
        cmocka_unit_test(attributes_count),
        cmocka_unit_test(params_of_a_type_are_alike),
        cmocka_unit_test(deep_scopes),
    };
    return RUN_GROUP(tests);
}
