/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The page: what is written of a network, that nothing in it ends the data, statistics of Params, errors, and scarce
 * memory. tests/cli/view_layout.sh and view_page.sh run the page itself. */
#include <float.h>
#include <math.h>
#include "draw/graph.h"
#include "html_out.h"
#include "support/kept.h"
#include "support/scarce.h"

/* The page as text, terminated; the caller frees it. */
static char *page_of(const xir_network *net, xir_draw_options how) {
    buffer out;
    buffer_init(&out, &memory_default);
    how.size = sizeof how;
    DOES(xir_draw(net, XIR_DRAW_HTML, &how, keep, &out, why));
    buffer_char(&out, '\0');
    assert_false(out.failed);
    char *text = strdup(out.data);
    assert_int_equal(strlen(text) + 1, out.size);
    buffer_free(&out);
    return text;
}

/* The data alone, which takes the place of the page. */
static char *data_of(const xir_network *net, xir_draw_options how) {
    static const char begin[] = "id=\"data\">";
    char *page = page_of(net, how), *data = strstr(page, begin);
    assert_non_null(data);
    data += sizeof begin - 1;
    char *end = strchr(data, '<');     /* the data has none */
    assert_non_null(end);
    assert_memory_equal(end, "</script>", 9);
    memmove(page, data, (size_t)(end - data));
    page[end - data] = '\0';
    return page;
}

static void assert_has(const char *text, const char *part) {
    if (!strstr(text, part)) fail_msg("'%s' is not in %.2000s", part, text);
}

static void columns_name_strings(void **state) {
    (void)state;
    graph g = graph_of("in; a/x in; a/y a/x; b a/y in");
    char *data = data_of(g.net, (xir_draw_options){ .depth = 2, .left_to_right = true });
    assert_has(data, "\"format\":1,");
    assert_has(data, "\"depth\":2,\"sideways\":1,");
    assert_has(data, "\"ops\":{\"id\":[0,1,1,1],");                      /* 0 1 2 3, as differences               */
    assert_has(data, "\"ins\":[0,1,0,1],\"in\":[1,1,1,-2],");              /* values plus one: 1; 2; 3, 1            */
    assert_has(data, "\"parent\":[-1,1],");
    assert_has(data, "\"begin\":[0,1],\"end\":[4,-1],");
    assert_has(data, "\"a/x\",\"a/y\",\"b\"");
    free(data);
    xir_network_free(g.net);
}

static void hostile_names_do_not_end_the_data(void **state) {
    (void)state;
    graph g = graph_of("in; a in; b a");
    DOES(xir_op_set_name(g.ops[1], XIR_STR("</script><script>alert(1)</script>")));
    DOES(xir_op_set_name(g.ops[2], XIR_STR("\"&'\\\xe2\x80\xae\x01\xff<!--")));
    const xir_any tag = xir_any_text(XIR_STR("</script>"));
    DOES(xir_op_set_tag(g.ops[1], XIR_STR("<key>"), &tag));
    const xir_str file = XIR_STR("{\"title\": \"</script>\",\n\"values\": {}}");
    char *data = data_of(g.net, (xir_draw_options){ .data = &file, .n_data = 1 });
    assert_has(data, "\"\\u003c/script\\u003e\\u003cscript\\u003ealert(1)\\u003c/script\\u003e\"");
    assert_has(data, "\"\\u0022\\u0026\\u0027\\u005c\\u005cu202E");
    assert_has(data, "\"\\u003ckey\\u003e\"");
    assert_has(data, "\"data\":[\"{\\u0022title\\u0022: \\u0022\\u003c/script\\u003e\\u0022,\\u000a");
    free(data);
    xir_network_free(g.net);
}

static void the_page_is_small_and_always_the_same(void **state) {
    (void)state;
    xir_network *empty = new_net();
    char *small = page_of(empty, (xir_draw_options){ 0 });
    assert_true(strlen(small) < 84 * 1024);     /* 82 KiB, and the data */
    assert_has(small, "content=\"default-src 'none'; script-src 'sha256-");
    graph g = graph_of("in; a/x in; a/y a/x; b/u a/y in; b/v b/u a/x; c b/v a/x in");
    char *a = page_of(g.net, (xir_draw_options){ 0 });
    xir_network *copy = xir_network_clone(g.net);
    char *b = page_of(copy, (xir_draw_options){ 0 });
    assert_string_equal(a, b);
    free(small);
    free(a);
    free(b);
    xir_network_free(copy);
    xir_network_free(g.net);
    xir_network_free(empty);
}

/* Ops that depend on constants alone are in one of two pictures; the page shows one of them at first. */
static void the_page_has_constants_and_leaves_them_out(void **state) {
    (void)state;
    graph g = graph_of("in; c; d c; a in d"), plain = graph_of("in; a in; z");   /* z has no user: it is drawn */
    char *without = data_of(g.net, (xir_draw_options){ 0 });
    assert_has(without, "\"ops\":{\"id\":[0,3],");
    assert_has(without, "\"constants\":0,\"twin\":{\"ops\":{\"id\":[0,1,1,1],");
    char *with = data_of(g.net, (xir_draw_options){ .constants = true });
    assert_has(with, "\"ops\":{\"id\":[0,1,1,1],");
    assert_has(with, "\"constants\":1,\"twin\":{\"ops\":{\"id\":[0,3],");
    char *one = data_of(plain.net, (xir_draw_options){ 0 });
    char *same = data_of(plain.net, (xir_draw_options){ .constants = true });
    assert_null(strstr(one, "\"twin\""));
    assert_string_equal(one, same);
    free(without);
    free(with);
    free(one);
    free(same);
    xir_network_free(plain.net);
    xir_network_free(g.net);
}

static void params_have_statistics(void **state) {
    static const float numbers[] = { 1, -1, 0, 0, 3, NAN, INFINITY, 1 };
    (void)state;
    xir_network *net = new_net();
    const xir_type *type = XIR_TENSOR(ctx, xir_type_float(ctx, XIR_FLOAT_FP32), "*", COUNT(numbers));
    html_stats s;
    DOES(html_statistics(xir_params_copy(net, XIR_STR("w"), type, numbers, sizeof numbers), &s));
    assert_true(s.min == -1 && s.max == 3);
    assert_true(fabs(s.mean - 4.0 / 6) < 1e-12);
    assert_true(fabs(s.deviation - sqrt(12.0 / 6 - 16.0 / 36)) < 1e-12);
    assert_true(s.zeros == 2 && s.nans == 1 && s.infinities == 1);
    uint64_t all = 0;
    for (int i = 0; i < HTML_BINS; i++) all += s.bins[i];
    assert_true(all == 6 && s.bins[0] == 1 && s.bins[8] == 2 && s.bins[16] == 2 && s.bins[31] == 1);

    static const float nothing[] = { NAN, NAN }, most[] = { -FLT_MAX, FLT_MAX };
    type = XIR_TENSOR(ctx, xir_type_float(ctx, XIR_FLOAT_FP32), "*", 2);
    DOES(html_statistics(xir_params_copy(net, XIR_STR("n"), type, nothing, sizeof nothing), &s));
    assert_true(isnan(s.min) && isnan(s.mean) && s.nans == 2);
    DOES(html_statistics(xir_params_copy(net, XIR_STR("m"), type, most, sizeof most), &s));
    assert_true(s.bins[0] == 1 && s.bins[31] == 1);
    assert_int_equal(html_statistics(xir_params_new(net, XIR_STR("absent"), type), &s), XIR_E_MISSING);
    xir_network_free(net);
}

static bool deny(void *user, const void *data, size_t size) {
    (void)user, (void)data, (void)size;
    return false;
}

static void a_refused_write_is_reported(void **state) {
    (void)state;
    graph g = graph_of("in; a in");
    assert_int_equal(xir_draw(g.net, XIR_DRAW_HTML, NULL, deny, NULL, why), XIR_E_IO);
    check_finding(XIR_E_IO, "written");
    xir_network_free(g.net);
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static xir_network *net_for_memory(xir_context *with) {
    static const float four[] = { 1, 2, 3, 4 };
    xir_network *net = xir_network_new(with, "n", XIR_FRAMEWORK_ONNX, "1");
    xir_at at = xir_at_end(net);
    const xir_type *type = XIR_TENSOR(with, xir_type_float(with, XIR_FLOAT_FP32), "*", 4);
    xir_value *x = xir_input(at, "in", type), *c = xir_params_copy(net, XIR_STR("c"), type, four, sizeof four);
    x = xir_build_add(at, x, XIR_RELU(at, c), 1, 1, NULL);
    for (int i = 0; i < 6; i++) {
        const xir_any tag = xir_any_int(i);
        x = XIR_RELU(at, xir_build_add(at, x, xir_params_copy(net, XIR_STR("w"), type, four, sizeof four), 1, 1, NULL));
        xir_op_set_tag(xir_value_op(x), XIR_STR("step"), &tag);
    }
    xir_output(at, XIR_VALUES(x));
    return net;
}

static bool ignore(void *user, const void *data, size_t size) {
    (void)user, (void)data, (void)size;
    return true;
}

static void writing(want *w) {
    IN_PLENTY(w, w->net = net_for_memory(w->ctx));
    TRY(w, xir_draw(w->net, XIR_DRAW_HTML, NULL, ignore, NULL, w->why));
}
SCARCE_TEST(writing)

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_name_strings),
        cmocka_unit_test(hostile_names_do_not_end_the_data),
        cmocka_unit_test(the_page_is_small_and_always_the_same),
        cmocka_unit_test(the_page_has_constants_and_leaves_them_out),
        cmocka_unit_test(params_have_statistics),
        cmocka_unit_test(a_refused_write_is_reported),
        cmocka_unit_test(test_writing),
    };
    return RUN_GROUP(tests);
}
