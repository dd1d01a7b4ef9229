/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* DOT and SVG of harmless and hostile networks: what is written, that it is the same every time, errors, and scarce
 * memory. tests/cli/view.sh gives the results to xmllint and Graphviz. */
#include "draw/graph.h"
#include "support/kept.h"
#include "support/scarce.h"

/* The picture as text, terminated; the caller frees it. */
static char *drawn(const xir_network *net, xir_draw_format format, xir_draw_options how) {
    buffer out;
    buffer_init(&out, &memory_default);
    how.size = sizeof how;
    DOES(xir_draw(net, format, &how, keep, &out, why));
    buffer_char(&out, '\0');
    assert_false(out.failed);
    char *text = strdup(out.data);
    assert_int_equal(strlen(text) + 1, out.size);
    buffer_free(&out);
    return text;
}

static size_t count_of(const char *text, const char *part) {
    size_t n = 0;
    for (; (text = strstr(text, part)) != NULL; text += strlen(part)) n++;
    return n;
}

/* ---- what is written --------------------------------------------------------------------------------------------- */

static void svg_has_boxes_and_lines(void **state) {
    (void)state;
    graph g = graph_of("in; a/x in; a/y a/x; b a/y in");
    char *all = drawn(g.net, XIR_DRAW_SVG, (xir_draw_options){ 0 });
    assert_int_equal(count_of(all, "<g id=\"n"), 4);
    assert_int_equal(count_of(all, "<rect class=\"o\""), 1);
    assert_int_equal(count_of(all, "marker-end"), 4);   /* x, y, b twice */
    assert_non_null(strstr(all, "<title>Op a/x #1\nin: in fp32 4\nout: fp32 4</title>"));
    assert_null(strstr(all, "<script"));
    char *closed = drawn(g.net, XIR_DRAW_SVG, (xir_draw_options){ .depth = 1 });
    assert_int_equal(count_of(closed, "<g id=\"n"), 2);
    assert_int_equal(count_of(closed, "<rect class=\"c\""), 1);
    assert_non_null(strstr(closed, ">2 ops</text>"));
    free(all);
    free(closed);
    xir_network_free(g.net);
}

static void dot_has_clusters_and_edges(void **state) {
    (void)state;
    graph g = graph_of("in; a/x in; a/y a/x; b a/y in");
    char *all = drawn(g.net, XIR_DRAW_DOT, (xir_draw_options){ .left_to_right = true });
    assert_int_equal(count_of(all, " -> "), 4);
    assert_int_equal(count_of(all, "subgraph cluster_1 {\nlabel=\"a\";"), 1);
    assert_non_null(strstr(all, "rankdir=LR"));
    assert_non_null(strstr(all, "n1 [label=\"Op\\nx\\nfp32 4\""));
    char *closed = drawn(g.net, XIR_DRAW_DOT, (xir_draw_options){ .depth = 1 });
    assert_non_null(strstr(closed, "n0 -> g1 ["));
    assert_non_null(strstr(closed, "g1 -> n3 ["));
    assert_int_equal(count_of(closed, " -> "), 3);
    free(all);
    free(closed);
    xir_network_free(g.net);
}

/* Both ends of an edge that is not drawn as a line name the other end. */
static void stubs_have_notes(void **state) {
    (void)state;
    graph g = graph_of("in; a in; b a; c b");
    DOES(xir_op_add_input(g.ops[1], xir_op_output(g.ops[3], 0)));
    char *svg = drawn(g.net, XIR_DRAW_SVG, (xir_draw_options){ 0 });
    assert_int_equal(count_of(svg, "class=\"s\""), 2);
    assert_non_null(strstr(svg, ">← c</text>"));
    assert_non_null(strstr(svg, ">→ a</text>"));
    char *dot = drawn(g.net, XIR_DRAW_DOT, (xir_draw_options){ 0 });
    assert_int_equal(count_of(dot, "style=dashed, constraint=false"), 1);
    free(svg);
    free(dot);
    xir_network_free(g.net);
}

/* ---- hostile networks -------------------------------------------------------------------------------------------- */

static void check_harmless(const char *text, xir_draw_format format) {
    if (format == XIR_DRAW_SVG) assert_true(!strstr(text, "<script>") && !strstr(text, "<img"));
    assert_null(strstr(text, "\xE2\x80\xAE"));
    for (; *text; text++) assert_true((unsigned char)*text >= 0x20 || *text == '\n');
}

static void names_are_escaped(void **state) {
    static const xir_str names[] = {
        { "</script><script>alert(1)</script>", 34 }, { "<img src=x onerror=alert(1)>", 28 }, { "\"]; x -> y [\"", 13 },
        { "a\xE2\x80\xAE/b", 6 }, { "\\N\\G\\", 5 }, { "a\0b\x1B[31m\x7F\n", 10 }, { "\xFF\xC0\x80\xED\xA0\x80", 6 },
        { "]]>&amp;&#0;", 12 }, { "/", 1 }, { "...", 3 }, { "a/", 2 }, { "", 0 }, { "\xEF\xBF\xBF\xF4\x8F\xBF\xBF", 7 },
        { "--><!--", 7 }, { "\xF3\xA0\x80\x81\xE2\x81\xA6", 7 },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(names); i++) {
        graph g = graph_of("in; x in; y x");
        DOES(xir_op_set_name(g.ops[1], names[i]));
        DOES(xir_op_set_name(g.ops[2], names[i]));
        DOES(xir_value_set_name(xir_op_output(g.ops[1], 0), names[i]));
        DOES(xir_network_set_text(g.net, XIR_TEXT_NAME, names[i]));
        for (int format = XIR_DRAW_DOT; format <= XIR_DRAW_SVG; format++) {
            char *text = drawn(g.net, (xir_draw_format)format, (xir_draw_options){ 0 });
            check_harmless(text, (xir_draw_format)format);
            free(text);
        }
        xir_network_free(g.net);
    }
}

static void long_names_are_cut(void **state) {
    (void)state;
    const size_t size = 1 << 20;
    char *name = malloc(size);
    memset(name, 'x', size);
    for (int scope = 0; scope < 2; scope++) {
        graph g = graph_of("in; x in; y x");
        name[size / 2] = scope ? '/' : 'x';
        DOES(xir_op_set_name(g.ops[1], (xir_str){ name, size }));
        DOES(xir_op_set_name(g.ops[2], (xir_str){ name, size }));
        char *svg = drawn(g.net, XIR_DRAW_SVG, (xir_draw_options){ 0 });
        assert_true(strlen(svg) < 20000);
        free(svg);
        xir_network_free(g.net);
    }
    free(name);
}

/* A value with many uses, an op with many outputs, and one with many inputs. */
static void large_fans_are_drawn(void **state) {
    enum { MANY = 5000 };
    (void)state;
    xir_network *net = new_net();
    const xir_type **types = malloc(MANY * sizeof *types), *type = FP32("*", 4);
    xir_value **values = malloc(MANY * sizeof *values), *in = xir_input(xir_at_end(net), "in", type);
    for (size_t i = 0; i < MANY; i++) types[i] = type;
    const xir_class *cls = xir_class_opaque(ctx, XIR_STR("t::Op"));
    xir_op_desc desc = XIR_INIT(xir_op_desc, .id = XIR_NO_ID, .cls = cls, .inputs = &in, .n_inputs = 1, .types = types,
                                .n_types = MANY);
    xir_op *fan = xir_network_add(net, &desc);
    desc.n_types = 1;
    for (size_t i = 0; i < MANY; i++) {
        values[i] = xir_op_output(fan, (int64_t)i);
        desc.inputs = i % 2 ? &values[i] : &in;
        values[i] = xir_op_output(xir_network_add(net, &desc), 0);
    }
    desc.inputs = values;
    desc.n_inputs = MANY;
    assert_non_null(xir_network_add(net, &desc));
    char *svg = drawn(net, XIR_DRAW_SVG, (xir_draw_options){ 0 });
    char *dot = drawn(net, XIR_DRAW_DOT, (xir_draw_options){ 0 });
    assert_int_equal(count_of(svg, "<g id=\"n"), MANY + 3);
    assert_int_equal(count_of(dot, " -> "), 1 + 2 * MANY);
    free(svg);
    free(dot);
    free((void *)types);
    free(values);
    xir_network_free(net);
}

static void small_networks_are_drawn(void **state) {
    (void)state;
    xir_network *empty = new_net();
    graph one = graph_of("in");
    for (int format = XIR_DRAW_DOT; format <= XIR_DRAW_SVG; format++) {
        char *a = drawn(empty, (xir_draw_format)format, (xir_draw_options){ 0 });
        char *b = drawn(one.net, (xir_draw_format)format, (xir_draw_options){ .select = one.ops[0] });
        assert_non_null(strstr(b, "Input"));
        free(a);
        free(b);
    }
    xir_network_free(empty);
    xir_network_free(one.net);
}

/* ---- the call ---------------------------------------------------------------------------------------------------- */

static void a_part_is_drawn(void **state) {
    static const struct { uint32_t hops; size_t boxes; } rows[] = { { 0, 1 }, { 1, 3 }, { 2, 5 }, { 9, 6 } };
    (void)state;
    graph g = graph_of("in; a in; b a; c b; d c; e d");
    for (size_t i = 0; i < COUNT(rows); i++) {
        char *svg = drawn(g.net, XIR_DRAW_SVG, (xir_draw_options){ .select = g.ops[2], .hops = rows[i].hops });
        assert_int_equal(count_of(svg, "<g id=\"n"), rows[i].boxes);
        free(svg);
    }
    xir_network_free(g.net);
}

static void the_same_bytes(void **state) {
    (void)state;
    graph g = graph_of("in; a/x in; a/y a/x; b/u a/y in; b/v b/u a/x; c b/v a/x in");
    for (int format = XIR_DRAW_DOT; format <= XIR_DRAW_SVG; format++) {
        char *a = drawn(g.net, (xir_draw_format)format, (xir_draw_options){ 0 });
        xir_network *copy = xir_network_clone(g.net);
        char *b = drawn(copy, (xir_draw_format)format, (xir_draw_options){ 0 });
        assert_string_equal(a, b);
        free(a);
        free(b);
        xir_network_free(copy);
    }
    xir_network_free(g.net);
}

static bool deny(void *user, const void *data, size_t size) {
    (void)user, (void)data, (void)size;
    return false;
}

static void faults_are_reported(void **state) {
    (void)state;
    graph g = graph_of("in; a in"), other = graph_of("in");
    xir_draw_options how = XIR_INIT(xir_draw_options, .group = XIR_DRAW_TAG);
    assert_int_equal(xir_draw(NULL, XIR_DRAW_SVG, NULL, deny, NULL, why), XIR_E_MISSING);
    check_finding(XIR_E_MISSING, "a network");
    assert_int_equal(xir_draw(g.net, XIR_DRAW_SVG, NULL, NULL, NULL, why), XIR_E_MISSING);
    check_finding(XIR_E_MISSING, "a writer");
    assert_int_equal(xir_draw(g.net, XIR_DRAW_SVG, &how, deny, NULL, why), XIR_E_MISSING);
    check_finding(XIR_E_MISSING, "the key");
    assert_int_equal(xir_draw(g.net, XIR_DRAW_SVG, NULL, deny, NULL, why), XIR_E_IO);
    check_finding(XIR_E_IO, "written");
    assert_int_equal(xir_draw(g.net, (xir_draw_format)7, NULL, deny, NULL, why), XIR_E_INVALID);
    check_finding(XIR_E_INVALID, "7");
    how = XIR_INIT(xir_draw_options, .group = (xir_draw_group)9);
    assert_int_equal(xir_draw(g.net, XIR_DRAW_SVG, &how, deny, NULL, why), XIR_E_INVALID);
    check_finding(XIR_E_INVALID, "9");
    how = XIR_INIT(xir_draw_options, .select = other.ops[0]);
    assert_int_equal(xir_draw(g.net, XIR_DRAW_DOT, &how, deny, NULL, why), XIR_E_INVALID);
    check_finding(XIR_E_INVALID, "selected");
    xir_network_free(g.net);
    xir_network_free(other.net);
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static xir_network *net_for_memory(xir_context *with) {
    xir_network *net = xir_network_new(with, "n", XIR_FRAMEWORK_ONNX, "1");
    xir_at at = xir_at_end(net);
    xir_value *x = xir_input(at, "in", XIR_TENSOR(with, xir_type_float(with, XIR_FLOAT_FP32), "*", 4)), *first = x;
    for (int i = 0; i < 12; i++) {
        char name[32];
        snprintf(name, sizeof name, "s%d/n%d", i / 3, i);
        x = i % 3 == 2 ? xir_build_add(at, x, first, 1, 1, NULL) : XIR_RELU(at, x);
        xir_op_set_name(xir_value_op(x), xir_str_of(name));
    }
    xir_output(at, XIR_VALUES(x));
    xir_op_add_input(xir_value_op(first) ? xir_op_next(xir_value_op(first)) : NULL, x);   /* leads back: a stub */
    xir_network_clear_status(net);
    return net;
}

static bool ignore(void *user, const void *data, size_t size) {
    (void)user, (void)data, (void)size;
    return true;
}

static void drawing(want *w) {
    IN_PLENTY(w, w->net = net_for_memory(w->ctx));
    const xir_op *select = xir_op_next(xir_network_first(w->net));
    const xir_draw_options part = XIR_INIT(xir_draw_options, .select = select, .hops = 2);
    for (int format = XIR_DRAW_DOT; format <= XIR_DRAW_SVG; format++) {
        TRY(w, xir_draw(w->net, (xir_draw_format)format, NULL, ignore, NULL, w->why));
        TRY(w, xir_draw(w->net, (xir_draw_format)format, &part, ignore, NULL, w->why));
    }
}
SCARCE_TEST(drawing)

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(svg_has_boxes_and_lines),
        cmocka_unit_test(dot_has_clusters_and_edges),
        cmocka_unit_test(stubs_have_notes),
        cmocka_unit_test(names_are_escaped),
        cmocka_unit_test(long_names_are_cut),
        cmocka_unit_test(large_fans_are_drawn),
        cmocka_unit_test(small_networks_are_drawn),
        cmocka_unit_test(a_part_is_drawn),
        cmocka_unit_test(the_same_bytes),
        cmocka_unit_test(faults_are_reported),
        cmocka_unit_test(test_drawing),
    };
    return RUN_GROUP(tests);
}
