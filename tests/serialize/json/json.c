/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Valid JSON of networks: it is read and written back byte for byte, whatever wrote it and in whatever form; the
 * networks, ops and types of the original's documentation print as they do there. */
#include <math.h>
#include <xir/icraft.h>
#include "json/json.h"
#include "support/json_net.h"
#include "support/json_repeats.h"
#include "support/scratch.h"
#include "support/skips.h"

/* ---- the documentation's network --------------------------------------------------------------------------- */

/* A file of tests/golden/json. */
static char *golden(const char *name, size_t *size) {
    char path[512];
    snprintf(path, sizeof path, XIR_TEST_DATA "/golden/json/%s", name);
    char *text = (char *)scratch_get(path, size);
    assert_non_null(text);
    return text;
}

static void check_golden(xir_network *net, int indent, const char *name) {
    size_t size = 0;
    char *text = golden(name, &size);
    check_prints(net, indent, text, size);
    free(text);
}

typedef struct seed { xir_network *net; xir_value *weights, *pooled; const xir_type *image; } seed;

/* 一 网络构建 */
static seed seed_network(void) {
    seed s = { .net = xir_network_new(ctx, "whatever", XIR_FRAMEWORK_PYTORCH, "v1.9") };
    xir_at b = XIR_AT(s.net);
    const xir_type *fp32 = xir_type_float(ctx, XIR_FLOAT_FP32);
    s.image = XIR_TENSOR(ctx, fp32, "NHWC", 1, 416, 416, 3);
    xir_value *x = xir_input(b, "", s.image);
    s.weights = xir_params_new(s.net, XIR_STR(""), XIR_TENSOR(ctx, fp32, "HWIO", 3, 3, 3, 16));
    x = XIR_CONV2D(b, .input = x, .weights = s.weights, .stride = 1, .pad = 1, .dilation = 1);
    x = XIR_RELU(b, x);
    s.pooled = XIR_MAX_POOL2D(b, .input = x, .k = 3, .stride = 2, .pad = 1, .dilation = 1);
    xir_output(b, XIR_VALUES(s.pooled));
    assert_int_equal(xir_network_status(s.net), XIR_OK);
    return s;
}

static void the_documented_network_prints_as_documented(void **state) {
    (void)state;
    seed s = seed_network();
    check_golden(s.net, 0, "seed_newest.json");
    xir_network_set_text(s.net, XIR_TEXT_ICRAFT_VERSION, XIR_STR("v0.0.0"));
    xir_network_set_text(s.net, XIR_TEXT_XIR_VERSION, XIR_STR("3.6.2.82"));
    check_golden(s.net, 0, "seed.json");
    check_golden(s.net, 4, "seed_indented.json");
    xir_network_free(s.net);
}

static bool collect(void *user, const void *data, size_t size) {
    put_bytes(user, data, size);
    return true;
}

static void writing_in_pieces_is_printing(void **state) {
    (void)state;
    seed s = seed_network();
    for (int indent = 0; indent <= 4; indent += 2) {
        paper p = { 0 };
        assert_int_equal(xir_json_write(s.net, indent, collect, &p, why), XIR_OK);
        check_prints(s.net, indent, p.data, p.size);
        free(p.data);
    }
    xir_network_free(s.net);
}

static void the_documented_network_is_read_from_either_form(void **state) {
    (void)state;
    const char *const names[] = { "seed.json", "seed_indented.json" };
    for (int i = 0; i < 2; i++) {
        size_t size = 0;
        char *text = golden(names[i], &size);
        xir_network *net = must_read(text, size);
        check_golden(net, 0, "seed.json");
        check_golden(net, 4, "seed_indented.json");
        assert_int_equal(xir_network_op_count(net), 5);
        assert_int_equal(xir_network_next_op_id(net), 5);
        assert_int_equal(xir_network_next_value_id(net), 5);
        xir_op *conv = xir_network_op_by_id(net, 1);
        assert_true(xir_op_is(conv, xir_conv2d_class()));
        assert_int_equal(xir_conv2d_of(conv)->pad_top, 1);
        assert_ptr_equal(xir_value_op(xir_op_input(conv, 0)), xir_network_first(net));
        assert_true(xir_value_is_params(xir_op_input_named(conv, XIR_STR("weights"))));
        assert_int_equal(xir_value_use_count(xir_op_output(conv, 0)), 1);
        assert_int_equal(xir_network_validate(net, why), XIR_OK);
        xir_network_free(net);
        free(text);
    }
}

/* 2.1 输出流 */
static void check_text(xir_status status, xir_text_buffer *out, const char *text, size_t size) {
    assert_int_equal(status, XIR_OK);
    check_same(out->data, out->size, text, size);
    xir_text_free(out);
}
#define CHECK_TEXT(call, text) check_text(call, &out, text, strlen(text))

static void single_objects_print_as_documented(void **state) {
    (void)state;
    seed s = seed_network();
    xir_text_buffer out;
    CHECK_TEXT(xir_object_print(ctx, xir_type_object(s.image), 0, &out),
               "{\"_type_key\":\"icraft::xir::TensorType\",\"element_dtype\":\"@fp(32)\",\"layout\":\"@layout(NHWC)\",\"merged_distrs\":[],"
               "\"shape\":[1,416,416,3]}");
    CHECK_TEXT(xir_value_print(s.weights, 0, &out),
               "{\"_allow_no_data\":false,\"_type_key\":\"icraft::xir::Params\",\"dtype\":{\"_type_key\":\"icraft::xir::TensorType\","
               "\"element_dtype\":\"@fp(32)\",\"layout\":\"@layout(HWIO)\",\"merged_distrs\":[],\"shape\":[3,3,3,16]},\"mtype\":\"@hostm\","
               "\"name\":\"\",\"tags\":{},\"v_id\":1}");
    size_t size = 0;
    char *text = golden("max_pool2d_indented.json", &size);
    check_text(xir_op_print(xir_value_op(s.pooled), 4, &out), &out, text, size);
    free(text);
    CHECK_TEXT(xir_object_print(ctx, (const xir_object *)xir_scalar_real(ctx, 0.5), 4, &out), "0.5");
    CHECK_TEXT(xir_object_print(ctx, (const xir_object *)xir_type_sint(ctx, 8), 0, &out), "\"@sint(8)\"");
    CHECK_TEXT(xir_object_print(ctx, NULL, 0, &out), "null");
    xir_network_free(s.net);
}

/* 三 数据类型, 3.2 */
static void documented_types_print_as_documented(void **state) {
    (void)state;
    xir_text_buffer out;
    const xir_type *fp32 = xir_type_float(ctx, XIR_FLOAT_FP32);
    const xir_type *normalized = xir_type_normalized(ctx, xir_norm_ratios_from(ctx, (const double[]){ 1.1, 2.2, 3.3 },
                                                                               3, -1), xir_type_sint(ctx, 16), fp32);
    CHECK_TEXT(xir_object_print(ctx, xir_type_object(XIR_TENSOR(ctx, normalized, "NHWC", 1024)), 4, &out),
               "{\n    \"_type_key\": \"icraft::xir::TensorType\",\n    \"element_dtype\": {\n"
               "        \"_type_key\": \"icraft::xir::NormalizedType\",\n        \"expressed_dtype\": \"@fp(32)\",\n"
               "        \"normratio\": \"@norm_ratios([axis=-1]1.1,2.2,3.3)\",\n        \"storage_dtype\": \"@sint(16)\"\n    },\n"
               "    \"layout\": \"@layout(NHWC)\",\n    \"merged_distrs\": [],\n    \"shape\": [\n        1024\n    ]\n}");
    const xir_scales *scales = xir_exp_scales_from(ctx, (const int64_t[]){ 3, 4 }, (const int64_t[]){ 3, 4 },
                                                   (const double[]){ 0.377, 0.27 }, 2, -1);
    CHECK_TEXT(xir_object_print(ctx, xir_type_object(xir_type_normalized_quantized(ctx, normalized, scales, NULL, 0)), 4, &out),
               "{\n    \"_type_key\": \"icraft::xir::NormalizedQuantizedType\",\n    \"expressed_dtype\": \"@fp(32)\",\n"
               "    \"normratio\": \"@norm_ratios([axis=-1]1.1,2.2,3.3)\",\n    \"scale\": \"@exp_scales([axis=-1]3/3/0.377,4/4/0.27)\",\n"
               "    \"storage_dtype\": \"@sint(16)\",\n    \"zero_points\": []\n}");
}

static void classless_values_print_as_json(void **state) {
    (void)state;
    xir_text_buffer out;
    xir_any items[] = { xir_any_null(), xir_any_bool(true), xir_any_int(-3), xir_any_real(1e-5), xir_any_real(3.0),
                        xir_any_text(XIR_STR("\"\\\b\f\n\r\t\x01\x1F\x7F/\xC3\xA9")), xir_any_list(NULL, 0),
                        xir_any_map(NULL, 0) };
    xir_any list = xir_any_list(items, sizeof items / sizeof items[0]);
    xir_entry entries[] =
        { { XIR_STR("a"), list }, { XIR_STR("b\n"), { .kind = XIR_ANY_UINT, .as.uinteger = UINT64_MAX } } };
    xir_any map = xir_any_map(entries, 2);
    CHECK_TEXT(xir_any_print(ctx, &map, 0, &out),
               "{\"a\":[null,true,-3,1e-05,3.0,\"\\\"\\\\\\b\\f\\n\\r\\t\\u0001\\u001f\x7F/\xC3\xA9\",[],{}],\"b\\n\":18446744073709551615}");
    CHECK_TEXT(xir_any_print(ctx, &map, 2, &out),
               "{\n  \"a\": [\n    null,\n    true,\n    -3,\n    1e-05,\n    3.0,\n"
               "    \"\\\"\\\\\\b\\f\\n\\r\\t\\u0001\\u001f\x7F/\xC3\xA9\",\n    [],\n    {}\n  ],\n  \"b\\n\": 18446744073709551615\n}");
    double special[] = { (double)INFINITY, -(double)INFINITY, (double)NAN };
    const char *words[] = { "\"inf\"", "\"-inf\"", "\"nan\"" };
    for (int i = 0; i < 3; i++) {
        xir_any any = xir_any_real(special[i]);
        CHECK_TEXT(xir_any_print(ctx, &any, 0, &out), words[i]);
    }
}

/* The text of xir_any_print is parsed again; anything after it, and text that is not JSON, has a finding. */
static void values_without_a_class_are_parsed(void **state) {
    static const char *const texts[] = { "null", "[true,-3,1e-05]", "{\"a\":{\"b\":[\"\xC3\xA9\",18446744073709551615]}}" };
    static const char *const bad[] = { "", "{\"a\":1} 2", "[1,", "nul" };
    (void)state;
    xir_text_buffer out;
    xir_network *net = xir_network_new(ctx, "n", XIR_FRAMEWORK_PYTORCH, "");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const xir_any *any = xir_any_parse(net, xir_str_of(texts[i]), why);
        assert_non_null(any);
        CHECK_TEXT(xir_any_print(ctx, any, 0, &out), texts[i]);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        xir_diags_clear(why);
        assert_null(xir_any_parse(net, xir_str_of(bad[i]), why));
        assert_int_equal(xir_diags_at(why, 0)->code, XIR_E_SYNTAX);
    }
    xir_diags_clear(why);
    assert_null(xir_any_parse(NULL, XIR_STR("1"), why));
    assert_int_equal(xir_diags_at(why, 0)->code, XIR_E_MISSING);
    xir_diags_clear(why);
    xir_network_free(net);
}

static void nesting_is_limited_when_writing(void **state) {
    (void)state;
    enum { DEPTH = 130 };
    xir_any lists[DEPTH + 1];
    lists[0] = xir_any_list(NULL, 0);
    for (int i = 1; i <= DEPTH; i++) lists[i] = xir_any_list(&lists[i - 1], 1);
    xir_text_buffer out;
    assert_int_equal(xir_any_print(ctx, &lists[127], 0, &out), XIR_OK);
    assert_int_equal(out.size, 256);
    xir_text_free(&out);
    assert_int_equal(xir_any_print(ctx, &lists[128], 0, &out), XIR_E_LIMIT);
    assert_null(out.data);
}

/* ---- objects and ops from text ----------------------------------------------------------------------------- */

static void check_object(const char *text) {
    char *block = block_of(text, strlen(text));
    const xir_object *object = xir_object_parse(ctx, (xir_str){ block, strlen(text) }, why);
    free(block);
    if (!object) show_findings();
    assert_non_null(object);
    xir_text_buffer out;
    CHECK_TEXT(xir_object_print(ctx, object, 0, &out), text);
}

static void objects_are_read_from_their_text(void **state) {
    (void)state;
    check_object("\"@layout(NCHWc32)\"");
    check_object("true");
    check_object("-7");
    check_object("0.5");
    check_object("\"inf\"");
    check_object(FP32("1,2"));
    check_object("{\"_type_key\":\"someone::Thing\",\"list\":[1,2.5,{\"a\":null}],\"name\":\"x\"}");
    check_object("{\"_type_key\":\"icraft::xir::AlignedUnit\",\"index\":[3],\"note\":\"new\",\"unit\":[1]}");
    check_object("{\"_type_key\":\"icraft::xir::TensorType\",\"element_dtype\":\"@fp(32)\",\"layout\":\"@layout(C)\",\"shape\":[3]}");
    const xir_object *a = xir_object_parse(ctx, XIR_STR(" \n" FP32("1,2") "\t"), why);
    const xir_object *b = xir_object_parse(ctx, XIR_STR(FP32("1,2")), why);
    assert_ptr_equal(a, b);
    assert_null(xir_object_parse(ctx, XIR_STR("\"@layout(C)\" 1"), why));
    check_finding(XIR_E_SYNTAX, "expected the end of the text");
    assert_null(xir_object_parse(ctx, XIR_STR("null"), why));
    check_finding(XIR_E_TYPE, "expected an object, found null");
    assert_null(xir_object_parse(ctx, XIR_STR(""), why));
    check_finding(XIR_E_SYNTAX, "expected a value, found the end of the text");
}

static void ops_are_read_into_an_existing_network(void **state) {
    (void)state;
    xir_network *net = must_read(SMALL, strlen(SMALL));
    xir_value *x = xir_op_output(xir_network_first(net), 0);
    static const char text[] =
        "{\"_type_key\":\"icraft::xir::ReLU\",\"alpha\":0.5,\"compile_target\":\"@hostt\",\"inputs\":["
        VALUE("0", "1,2,2,3") "," PARAM("77", "3") "],\"max_value\":\"inf\",\"name\":\"new\",\"op_id\":9,\"outputs\":[" VALUE("80", "1,2,2,3")
        "],\"tags\":{},\"threshold\":0.0}";
    xir_op *op = xir_op_parse(net, XIR_STR(text), why);
    if (!op) show_findings();
    assert_non_null(op);
    assert_ptr_equal(xir_op_input(op, 0), x);
    assert_false(xir_op_is_placed(op));
    assert_int_equal(xir_network_op_count(net), 3);
    xir_text_buffer out;
    CHECK_TEXT(xir_op_print(op, 0, &out), text);
    assert_int_equal(xir_op_place(op, xir_network_last(net)), XIR_OK);
    assert_int_equal(xir_op_id(op), 9);
    assert_ptr_equal(xir_network_op_by_id(net, 9), op);
    assert_ptr_equal(xir_network_value_by_id(net, 80), xir_op_output(op, 0));
    assert_ptr_equal(xir_network_value_by_id(net, 77), xir_op_input(op, 1));
    CHECK_TEXT(xir_op_print(op, 0, &out), text);
    xir_network_free(net);
}

static void a_refused_op_leaves_the_network_unchanged(void **state) {
    (void)state;
    static const char *const texts[] = {
        /* a used op id, a used value id, a copy that differs, a syntax error after new Params */
        "{\"_type_key\":\"icraft::xir::ReLU\",\"inputs\":[" VALUE("0", "1,2,2,3") "],\"op_id\":1,\"outputs\":[]}",
        "{\"_type_key\":\"icraft::xir::ReLU\",\"inputs\":[" PARAM("50", "3") "],\"op_id\":9,\"outputs\":[" VALUE("1", "1,2,2,3") "]}",
        "{\"_type_key\":\"icraft::xir::ReLU\",\"inputs\":[" PARAM("51", "3") "," VALUE("0", "1") "],\"op_id\":9,\"outputs\":[]}",
        "{\"_type_key\":\"icraft::xir::ReLU\",\"inputs\":[" VALUE("0", "1,2,2,3") "," PARAM("52", "3") "],\"op_id\":9,\"outputs\":[]} x",
        "{\"_type_key\":\"icraft::xir::HardOp\",\"inputs\":[],\"op_id\":9,\"outputs\":[],\"sub_hard_ops\":[{\"_type_key\":\"icraft::xir::HardOp\","
            "\"inputs\":[" VALUE("0", "1,2,2,3") "],\"op_id\":10,\"outputs\":[]},7]}",
    };
    static const xir_status expected[] = { XIR_E_EXISTS, XIR_E_EXISTS, XIR_E_CORRUPT, XIR_E_SYNTAX, XIR_E_TYPE };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        xir_network *net = must_read(SMALL, strlen(SMALL));
        xir_value *x = xir_op_output(xir_network_first(net), 0);
        assert_null(xir_op_parse(net, xir_str_of(texts[i]), why));
        check_finding(expected[i], "");
        assert_int_equal(xir_value_use_count(x), 1);
        assert_int_equal(xir_network_params(net, NULL, 0), 0);
        assert_int_equal(xir_network_next_op_id(net), 3);
        assert_int_equal(xir_network_next_value_id(net), 2);
        for (int64_t id = 50; id < 53; id++) assert_null(xir_network_value_by_id(net, id));
        check_prints(net, 0, SMALL, strlen(SMALL));
        xir_network_free(net);
    }
}

/* ---- there and back ---------------------------------------------------------------------------------------- */

static void small_networks_come_back(void **state) {
    (void)state;
    check_round(SMALL, strlen(SMALL));
    static const char empty[] = NETWORK_OF("3.33.1.0", "");
    check_round(empty, strlen(empty));
    static const char least[] = "{\"_type_key\":\"icraft::xir::Network\",\"ops\":[],\"tags\":{}}";
    check_round(least, strlen(least));
}

static void real_files_come_back(void **state) {
    (void)state;
    static const char *const files[] = { "superpoint_test_softmax_BY.json", "yolov5s_plin_352x640_ZG.json" };
    const char *corpus = CORPUS_OR_SKIP();
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/icraft/%s", corpus, files[i]);
        size_t size = 0;
        char *text = (char *)scratch_get(path, &size);
        assert_non_null(text);
        check_round(text, size);
        xir_network *net = xir_json_load(ctx, path, why), *again;
        assert_non_null(net);
        /* Indented, and back. */
        xir_text_buffer indented;
        assert_int_equal(xir_json_print(net, 4, &indented), XIR_OK);
        again = must_read(indented.data, indented.size);
        check_prints(again, 0, text, size);
        assert_true(xir_network_equal(net, again, false));
        xir_text_free(&indented);
        xir_network_free(again);
        again = xir_network_clone(net);
        check_prints(again, 0, text, size);
        xir_network_free(again);
        xir_network_free(net);
        free(text);
    }
}

static void random_networks_come_back(void **state) {
    (void)state;
    for (int i = 0; i < 400; i++) {
        paper p = random_network(8);
        check_round(p.data, p.size);
        free(p.data);
    }
}

static void cloned_networks_print_alike(void **state) {
    (void)state;
    for (int i = 0; i < 100; i++) {
        paper p = random_network(8);
        xir_network *net = must_read(p.data, p.size), *copy = xir_network_clone(net);
        assert_non_null(copy);
        assert_true(xir_network_equal(net, copy, false));
        xir_network_free(net);
        check_prints(copy, 0, p.data, p.size);
        xir_network_free(copy);
        free(p.data);
    }
}

/* ---- the same in another form ------------------------------------------------------------------------------ */

static void put_blanks(paper *p) {
    static const char *const blanks[] = { "", "", " ", "\n", "\t", "\r\n", "          " };
    put(p, "%s", blanks[chance(7)]);
}

/* A text with some of its characters escaped. */
static void put_escaped(paper *p, xir_str text) {
    put(p, "\"");
    for (size_t i = 0; i < text.size; i++) {
        unsigned char c = (unsigned char)text.data[i];
        if (c < 0x80 && (c < 0x20 || c == '"' || c == '\\' || now_and_then(20))) put(p, "\\u%04X", c);
        else put_bytes(p, &text.data[i], 1);
    }
    put(p, "\"");
}

/* A value with its keys in another order, white space between tokens, and escapes. */
static void put_shuffled(paper *p, const xir_any *any) {
    put_blanks(p);
    if (any->kind == XIR_ANY_MAP) {
        size_t n = any->as.map.size;
        size_t *order = malloc((n + 1) * sizeof *order);
        for (size_t i = 0; i < n; i++) order[i] = i;
        for (size_t i = n; i > 1; i--) {
            size_t j = chance(i), swap = order[i - 1];
            order[i - 1] = order[j];
            order[j] = swap;
        }
        put(p, "{");
        for (size_t i = 0; i < n; i++) {
            const xir_entry *entry = &any->as.map.entries[order[i]];
            if (i) put(p, ",");
            put_blanks(p);
            put_escaped(p, entry->key);
            put_blanks(p);
            put(p, ":");
            put_shuffled(p, &entry->value);
        }
        put_blanks(p);
        put(p, "}");
        free(order);
    } else if (any->kind == XIR_ANY_LIST) {
        put(p, "[");
        for (size_t i = 0; i < any->as.list.size; i++) {
            if (i) put(p, ",");
            put_shuffled(p, &any->as.list.items[i]);
        }
        put_blanks(p);
        put(p, "]");
    } else if (any->kind == XIR_ANY_TEXT) {
        put_escaped(p, any->as.text);
    } else {
        xir_text_buffer out;
        assert_int_equal(xir_any_print(ctx, any, 0, &out), XIR_OK);
        put_bytes(p, out.data, out.size);
        xir_text_free(&out);
    }
    put_blanks(p);
}

static void order_and_white_space_do_not_matter(void **state) {
    (void)state;
    for (int i = 0; i < 300; i++) {
        paper p = random_network(6), shuffled = { 0 };
        arena a;
        arena_init(&a, context_alloc(ctx));
        xir_any any;
        assert_int_equal(json_read_any(ctx, &a, (xir_str){ p.data, p.size }, &any, why), XIR_OK);
        put_shuffled(&shuffled, &any);
        xir_network *net = must_read(shuffled.data, shuffled.size);
        check_prints(net, 0, p.data, p.size);
        xir_network_free(net);
        arena_free(&a);
        free(shuffled.data);
        free(p.data);
    }
}

static void parts_that_repeat_are_read_as_if_they_did_not(void **state) {
    (void)state;
    for (int round = 0; round < 1000; round++) {
        paper written = { 0 }, other = { 0 };
        random_repeats(&written, &other);
        check_round(written.data, written.size);
        xir_network *net = must_read(other.data, other.size);
        check_prints(net, 0, written.data, written.size);
        xir_network_free(net);
        free(written.data);
        free(other.data);
    }
}

static void check_becomes(const char *text, const char *written) {
    xir_network *net = must_read(text, strlen(text));
    check_prints(net, 0, written, strlen(written));
    xir_network_free(net);
}

#define POOL(key, more) "{\"_type_key\":\"icraft::xir::" key "\",\"compile_target\":\"@hostt\",\"inputs\":[],\"name\":\"\",\"op_id\":1," \
                        "\"outputs\":[]" more ",\"tags\":{}}"

static void old_spellings_are_read(void **state) {
    (void)state;
    check_becomes(NETWORK_OF("3.33.1.0", POOL("Maxpool", ",\"pool_height\":2")),
                  NETWORK_OF("3.33.1.0", POOL("MaxPool2d", ",\"pool_height\":2")));
    check_becomes(NETWORK_OF("3.33.1.0", POOL("Relu", "")), NETWORK_OF("3.33.1.0", POOL("ReLU", "")));
    /* Keys with defaults may be missing, and are written afterwards. */
    check_becomes(NETWORK_OF("3.33.1.0", "{\"_type_key\":\"icraft::xir::ReLU\",\"op_id\":1}"),
                  NETWORK_OF("3.33.1.0", POOL("ReLU", "")));
    check_becomes(NETWORK_OF(
        "3.33.1.0",
        "{\"_type_key\":\"icraft::xir::ReLU\",\"inputs\":[{\"_type_key\":\"icraft::xir::Params\",\"dtype\":null,"
                                         "\"v_id\":4}],\"op_id\":1,\"outputs\":[{\"_type_key\":\"icraft::xir::Value\",\"dtype\":null,\"v_id\":5}]}"),
                  NETWORK_OF("3.33.1.0", "{\"_type_key\":\"icraft::xir::ReLU\",\"compile_target\":\"@hostt\",\"inputs\":[{\"_allow_no_data\":false,"
                                         "\"_type_key\":\"icraft::xir::Params\",\"dtype\":null,\"mtype\":\"@hostm\",\"name\":\"\",\"tags\":{},"
                                         "\"v_id\":4}],\"name\":\"\",\"op_id\":1,\"outputs\":[{\"_type_key\":\"icraft::xir::Value\",\"dtype\":null,"
                                         "\"mtype\":\"@hostm\",\"name\":\"\",\"tags\":{},\"v_id\":5}],\"tags\":{}}"));
    /* Trailing absent inputs do not count. */
    check_becomes(NETWORK_OF("3.33.1.0", "{\"_type_key\":\"icraft::xir::ReLU\",\"inputs\":[null,null],\"op_id\":1}"),
                  NETWORK_OF("3.33.1.0", POOL("ReLU", "")));
}

/* ---- the meaning of missing keys --------------------------------------------------------------------------- */

static void absent_rows_stay_absent_until_they_are_set(void **state) {
    (void)state;
    static const char text[] = NETWORK_OF("3.33.1.0", POOL("MaxPool2d", ",\"pool_height\":2,\"pool_width\":2"));
    xir_network *net = must_read(text, strlen(text));
    xir_op *pool = xir_network_first(net);
    assert_int_equal(xir_max_pool2d_of(pool)->stride_width, 1);
    check_prints(net, 0, text, strlen(text));
    assert_int_equal(xir_op_set_i64(pool, "stride_width", 2), XIR_OK);
    static const char set[] = NETWORK_OF("3.33.1.0",
                                         POOL("MaxPool2d", ",\"pool_height\":2,\"pool_width\":2,\"stride_width\":2"));
    check_prints(net, 0, set, strlen(set));
    xir_network_free(net);
}

static bool is_at(const xir_diag *d, const char *path) { return xir_str_equal(d->path, xir_str_of(path)); }

/* Rows that the file lacks are zero or empty; another op may have the same value from its file. */
static void absent_rows_without_a_default_are_findings(void **state) {
    (void)state;
    static const char text[] = NETWORK_OF("3.33.1.0", POOL("MaxPool2d", ",\"pool_width\":-1") ","
        "{\"_type_key\":\"icraft::xir::Squeeze\",\"op_id\":2},"
        "{\"_type_key\":\"icraft::xir::Squeeze\",\"axis\":[],\"op_id\":3}");
    xir_network *net = must_read(text, strlen(text));
    assert_int_equal(xir_op_validate(xir_network_first(net), why), XIR_E_MISSING);
    assert_string_equal(xir_diags_at(why, 0)->message.data,
                        "attribute pool_height of icraft::xir::MaxPool2d has no default and is not set");
    assert_true(is_at(xir_diags_at(why, 0), "/pool_height") && is_at(xir_diags_at(why, 1), "/pool_width"));
    assert_int_equal(xir_diags_at(why, 1)->code, XIR_E_BOUNDS);
    xir_diags_clear(why);
    xir_network *copy = xir_network_clone(net);
    assert_true(xir_network_validate(copy, why) != XIR_OK);
    size_t lacking = 0, having = 0;
    for (size_t i = 0; i < xir_diags_count(why); i++) {
        lacking += is_at(xir_diags_at(why, i), "/ops/1/axis");
        having += is_at(xir_diags_at(why, i), "/ops/2/axis");
    }
    assert_true(lacking == 1 && having == 0);
    assert_int_equal(xir_op_set_i64s(xir_network_op_at(copy, 1), "axis", NULL, 0), XIR_OK);
    xir_diags_clear(why);
    assert_int_equal(xir_op_validate(xir_network_op_at(copy, 1), why), XIR_E_MISSING);
    assert_true(is_at(xir_diags_at(why, 0), "/inputs"));
    xir_diags_clear(why);
    xir_network_free(copy);
    xir_network_free(net);
}

static void the_version_says_when_ai_target_is_written(void **state) {
    (void)state;
    static const char text[] =
        "{\"_type_key\":\"icraft::xir::Network\",\"icraft_xir_version\":\"3.6.2.82\",\"ops\":[],\"tags\":{}}";
    xir_network *net = must_read(text, strlen(text));
    assert_null(xir_network_ai_target(net));
    check_prints(net, 0, text, strlen(text));
    /* A newer version, and a target. */
    xir_network_set_text(net, XIR_TEXT_XIR_VERSION, XIR_STR("3.33.1.0"));
    xir_network_set_ai_target(net, xir_target_of_kind(ctx, XIR_TARGET_ZHUGE, "330"));
    static const char newer[] =
        "{\"_type_key\":\"icraft::xir::Network\",\"ai_target\":\"@zhuget(330)\",\"icraft_xir_version\":\"3.33.1.0\","
                                "\"ops\":[],\"tags\":{}}";
    check_prints(net, 0, newer, strlen(newer));
    xir_network_free(net);
    static const char early[] =
        "{\"_type_key\":\"icraft::xir::Network\",\"ai_target\":\"@hostt\",\"icraft_xir_version\":\"3.6.2.82\",\"ops\":[],"
                                "\"tags\":{}}";
    check_round(early, strlen(early));
}

#define RELU(real) "{\"_type_key\":\"icraft::xir::ReLU\",\"alpha\":" real ",\"compile_target\":\"@hostt\",\"inputs\":[],\"name\":\"\"," \
                   "\"op_id\":1,\"outputs\":[],\"tags\":{}}"

static void the_version_says_how_reals_are_held(void **state) {
    (void)state;
    check_becomes(NETWORK_OF("3.33.1.0", RELU("0.1")), NETWORK_OF("3.33.1.0", RELU("0.10000000149011612")));
    check_becomes(NETWORK_OF("3.30.0.0", RELU("4.8")), NETWORK_OF("3.30.0.0", RELU("4.800000190734863")));
    check_becomes(NETWORK_OF("3.6.2.82", RELU("4.8")), NETWORK_OF("3.6.2.82", RELU("4.8")));
    check_becomes(NETWORK_OF("3.33.1.0", RELU("2")), NETWORK_OF("3.33.1.0", RELU("2.0")));
    check_becomes(NETWORK_OF("3.33.1.0", RELU("\"nan\"")), NETWORK_OF("3.33.1.0", RELU("\"nan\"")));
    /* The version may come after the ops. */
    check_becomes("{\"_type_key\":\"icraft::xir::Network\",\"ops\":[" RELU(
        "4.8") "],\"icraft_xir_version\":\"3.6.2.82\",\"tags\":{}}",
                  "{\"_type_key\":\"icraft::xir::Network\",\"icraft_xir_version\":\"3.6.2.82\",\"ops\":[" RELU("4.8") "],\"tags\":{}}");
    check_becomes("{\"_type_key\":\"icraft::xir::Network\",\"ops\":[" RELU(
        "4.8") "],\"icraft_xir_version\":\"3.33.1.0\",\"tags\":{}}",
                  "{\"_type_key\":\"icraft::xir::Network\",\"icraft_xir_version\":\"3.33.1.0\",\"ops\":[" RELU("4.800000190734863") "],\"tags\":{}}");
}

#define HARD(instr) "{\"_type_key\":\"icraft::xir::HardOp\",\"compile_target\":\"@buyit\",\"inputs\":[],\"instr\":" instr ",\"name\":\"\"," \
                    "\"op_id\":1,\"outputs\":[],\"tags\":{}}"
#define MAYBE(id) "{\"_allow_no_data\":true,\"_type_key\":\"icraft::xir::Params\",\"dtype\":null,\"mtype\":\"@hostm\",\"name\":\"\"," \
                  "\"tags\":{},\"v_id\":" id "}"

static void the_version_says_how_single_instructions_are_written(void **state) {
    (void)state;
    check_becomes(NETWORK_OF("3.33.1.0", HARD(MAYBE("3"))), NETWORK_OF("3.33.1.0", HARD("[" MAYBE("3") "]")));
    check_becomes(NETWORK_OF("3.33.1.0", HARD("[" MAYBE("3") "]")), NETWORK_OF("3.33.1.0", HARD("[" MAYBE("3") "]")));
    static const char old[] =
        "{\"_type_key\":\"icraft::xir::Network\",\"icraft_xir_version\":\"3.30.0.0\",\"ops\":[" HARD(MAYBE("3"))
                              "],\"tags\":{}}";
    check_round(old, strlen(old));
}

/* A file without a version is spelled as the newest one, and so is a copy of its network. */
static void copies_are_spelled_as_their_network(void **state) {
    (void)state;
    static const char text[] =
        "{\"_type_key\":\"icraft::xir::Network\",\"ops\":[" HARD("[" MAYBE("3") "]") "],\"tags\":{}}";
    xir_network *net = must_read(text, strlen(text)), *copy = xir_network_clone(net);
    assert_non_null(copy);
    check_prints(net, 0, text, strlen(text));
    check_prints(copy, 0, text, strlen(text));
    xir_network_free(net);
    xir_network_free(copy);
}

/* ---- edges ------------------------------------------------------------------------------------------------- */

static void values_may_be_used_before_they_are_made(void **state) {
    (void)state;
    static const char text[] = NETWORK_OF("3.33.1.0", OUTPUT_OP "," RELU_OP "," INPUT_OP);
    check_round(text, strlen(text));
    xir_network *net = must_read(text, strlen(text));
    xir_op *out = xir_network_first(net), *relu = xir_op_next(out), *in = xir_op_next(relu);
    assert_ptr_equal(xir_op_input(out, 0), xir_op_output(relu, 0));
    assert_ptr_equal(xir_op_input(relu, 0), xir_op_output(in, 0));
    assert_int_equal(xir_value_use_count(xir_op_output(in, 0)), 1);
    assert_int_equal(xir_network_validate(net, why), XIR_E_INVALID);
    xir_diags_clear(why);
    xir_network_free(net);
    /* Never produced at all. */
    static const char lost[] = NETWORK_OF("3.33.1.0", RELU_OP "," OUTPUT_OP);
    check_round(lost, strlen(lost));
    net = must_read(lost, strlen(lost));
    assert_null(xir_value_op(xir_op_input(xir_network_first(net), 0)));
    xir_network_free(net);
}

static void counters_stand_above_every_id(void **state) {
    (void)state;
    static const char text[] = NETWORK_OF("3.33.1.0",
        "{\"_type_key\":\"icraft::xir::HardOp\",\"compile_target\":\"@buyit\",\"inputs\":[],\"name\":\"\",\"op_id\":5,\"outputs\":[],"
        "\"sub_hard_ops\":[{\"_type_key\":\"icraft::xir::HardOp\",\"compile_target\":\"@buyit\",\"inputs\":[],\"instr\":[" MAYBE("900") "],"
        "\"name\":\"\",\"op_id\":5000000000,\"outputs\":[" VALUE("7000000000", "1") "],\"tags\":{}}],\"tags\":{}},"
        "{\"_type_key\":\"icraft::xir::HardOp\",\"compile_target\":\"@buyit\",\"inputs\":[" VALUE("7000000000", "1") "],\"name\":\"\",\"op_id\":3,"
        "\"outputs\":[],\"tags\":{}}");
    check_round(text, strlen(text));
    xir_network *net = must_read(text, strlen(text));
    assert_int_equal(xir_network_op_count(net), 2);
    assert_int_equal(xir_network_next_op_id(net), INT64_C(5000000001));
    assert_int_equal(xir_network_next_value_id(net), INT64_C(7000000001));
    xir_op *hard = xir_network_first(net), *sub = xir_hard_op_of(hard)->sub_hard_ops.data[0];
    assert_ptr_equal(xir_op_parent(sub), hard);
    assert_false(xir_op_is_placed(sub));
    assert_ptr_equal(xir_op_input(xir_op_next(hard), 0), xir_op_output(sub, 0));
    assert_ptr_equal(xir_network_value_by_id(net, 900), xir_hard_op_of(sub)->instr.data[0]);
    xir_network_free(net);
}

/* Inputs are read before sub ops: the value is used before it is made. */
static void an_op_uses_what_its_sub_op_makes(void **state) {
    (void)state;
    static const char text[] = NETWORK_OF("3.33.1.0",
        "{\"_type_key\":\"icraft::xir::HardOp\",\"compile_target\":\"@buyit\",\"inputs\":[" VALUE("6", "1") "],\"name\":\"\",\"op_id\":5,"
        "\"outputs\":[],\"sub_hard_ops\":[{\"_type_key\":\"icraft::xir::HardOp\",\"compile_target\":\"@buyit\",\"inputs\":[],"
        "\"name\":\"\",\"op_id\":7,\"outputs\":[" VALUE("6", "1") "],\"tags\":{}}],\"tags\":{}}");
    check_round(text, strlen(text));
    xir_network *net = must_read(text, strlen(text));
    xir_op *hard = xir_network_first(net), *sub = xir_hard_op_of(hard)->sub_hard_ops.data[0];
    assert_ptr_equal(xir_op_input(hard, 0), xir_op_output(sub, 0));
    assert_ptr_equal(xir_network_value_by_id(net, 6), xir_op_output(sub, 0));
    assert_int_equal(xir_value_use_count(xir_op_output(sub, 0)), 1);
    xir_network_free(net);
}

static void undeclared_tensors_are_params_of_the_network(void **state) {
    (void)state;
    static const char text[] = NETWORK_OF("3.33.1.0",
        "{\"_type_key\":\"someone::Op\",\"compile_target\":\"@hostt\",\"deep\":[{\"a\":" MAYBE("5") "}],\"inputs\":[" MAYBE("4") "],\"k\":"
        MAYBE("4") ",\"name\":\"\",\"op_id\":1,\"outputs\":[],\"tags\":{\"not\":{\"_type_key\":\"icraft::xir::Params\"}}}");
    check_round(text, strlen(text));
    xir_network *net = must_read(text, strlen(text));
    xir_value *found[4];
    assert_int_equal(xir_network_params(net, found, 4), 2);
    xir_op *op = xir_network_first(net);
    const xir_any *k = xir_map_find(xir_op_extra(op), XIR_STR("k"));
    assert_int_equal(k->kind, XIR_ANY_PARAMS);
    assert_ptr_equal(k->as.params, xir_op_input(op, 0));
    assert_true(xir_class_is_opaque(xir_op_class(op)));
    xir_network_free(net);
}

static void ops_and_objects_of_one_unknown_key_are_distinct(void **state) {
    (void)state;
    static const char *const keys[] = { "someone::Both", "@someone::Both", "\\u00ffsomeone::Both", "@", "" };
    for (size_t i = 0; i < 25; i++) {
        paper p = { 0 };
        put(&p, "{\"_type_key\":\"icraft::xir::Network\",\"ops\":[");
        for (int id = 0; id < 2; id++) {
            put(&p, "%s{\"_type_key\":\"%s\",\"compile_target\":\"@hostt\",\"inputs\":[],\"name\":\"\",\"op_id\":%d,\"outputs\":[{\"_type_key\":"
                    "\"icraft::xir::Value\",\"dtype\":{\"_type_key\":\"%s\",\"x\":%d},\"mtype\":\"@hostm\",\"name\":\"\",\"tags\":{},\"v_id\":%d}],"
                    "\"tags\":{}}", id ? "," : "", i % 5 == 2 ? "\xC3\xBFsomeone::Both" : keys[i % 5], id,
                    i / 5 == 2 ? "\xC3\xBFsomeone::Both" : keys[i / 5], id, id);
        }
        put(&p, "],\"tags\":{}}");
        check_round(p.data, p.size);
        free(p.data);
    }
}

static void equal_types_are_one(void **state) {
    (void)state;
    xir_network *net = must_read(SMALL, strlen(SMALL));
    const xir_op *relu = xir_op_next(xir_network_first(net));
    assert_ptr_equal(xir_value_type(xir_op_input(relu, 0)), xir_value_type(xir_op_output(relu, 0)));
    xir_network_free(net);
}

/* ---- params_bytes and params_md5 --------------------------------------------------------------------------- */

static void the_digest_is_that_of_the_raw_that_would_be_written(void **state) {
    (void)state;
    seed s = seed_network();
    /* Without bytes the fields stay unchanged. */
    xir_network_set_text(s.net, XIR_TEXT_PARAMS_MD5, XIR_STR("as it was"));
    xir_text_buffer out;
    assert_int_equal(xir_json_print(s.net, 0, &out), XIR_OK);
    assert_non_null(memmem(out.data, out.size, "\"params_bytes\":0,\"params_md5\":\"as it was\"", 41));
    xir_text_free(&out);
    float numbers[3 * 3 * 3 * 16] = { 1 };
    assert_int_equal(xir_params_set_copy(s.weights, numbers, sizeof numbers), XIR_OK);
    assert_int_equal(xir_json_print(s.net, 0, &out), XIR_OK);
    assert_non_null(memmem(out.data, out.size, "\"params_bytes\":1756,", 20));
    assert_null(memmem(out.data, out.size, "as it was", 9));
    xir_text_free(&out);
    /* Printing changes nothing. */
    assert_true(xir_str_equal(xir_network_text_of(s.net, XIR_TEXT_PARAMS_MD5), XIR_STR("as it was")));
    xir_network_free(s.net);
}

/* ---- files ------------------------------------------------------------------------------------------------- */

static void files_are_written_and_read(void **state) {
    (void)state;
    const char *path = scratch("net.json");
    seed s = seed_network();
    assert_int_equal(xir_json_save(s.net, path, 0, why), XIR_OK);
    size_t size = 0;
    char *text = (char *)scratch_get(path, &size);
    check_golden(s.net, 0, "seed_newest.json");
    check_prints(s.net, 0, text, size);
    free(text);
    assert_int_equal(xir_json_save(s.net, path, XIR_SAVE_INDENT, why), XIR_OK);
    xir_network *net = xir_json_load(ctx, path, why);
    assert_non_null(net);
    assert_true(xir_network_equal(net, s.net, false));
    xir_network_free(net);
    /* A network that breaks a rule is not saved, and the old file stays; unless unchecked saving is requested. */
    xir_network_remove(s.net, xir_network_last(s.net));
    assert_int_equal(xir_json_save(s.net, path, 0, why), XIR_E_INVALID);
    xir_diags_clear(why);
    net = xir_json_load(ctx, path, why);
    assert_int_equal(xir_network_op_count(net), 5);
    xir_network_free(net);
    assert_int_equal(xir_json_save(s.net, path, XIR_SAVE_UNCHECKED, why), XIR_OK);
    net = xir_json_load(ctx, path, why);
    assert_int_equal(xir_network_op_count(net), 4);
    xir_network_free(net);
    xir_network_free(s.net);
    assert_null(xir_json_load(ctx, scratch("none.json"), why));
    check_finding(XIR_E_IO, "");
}

static bool stop_after(void *user, const void *data, size_t size) {
    (void)data;
    (void)size;
    return (*(int *)user)-- > 0;
}

static void a_callback_that_stops_is_an_error(void **state) {
    (void)state;
    paper p = { 0 };
    put(&p, "%s", "{\"_type_key\":\"icraft::xir::Network\",\"ops\":[");
    for (int i = 0; i < 6000; i++)
        put(&p, "%s{\"_type_key\":\"someone::Op\",\"op_id\":%d,\"note\":\"0123456789012345678901234567890123456789\"}",
            i ? "," : "", i);
    put(&p, "]}");
    xir_network *net = must_read(p.data, p.size);
    int pieces = 0;
    for (;; pieces++) {
        int left = pieces;
        xir_status status = xir_json_write(net, 0, stop_after, &left, why);
        if (status == XIR_OK) break;
        assert_int_equal(status, XIR_E_IO);
    }
    assert_true(pieces > 2);
    xir_diags_clear(why);
    /* A value that is too deep. */
    enum { DEPTH = 130 };
    xir_any lists[DEPTH + 1];
    lists[0] = xir_any_list(NULL, 0);
    for (int i = 1; i <= DEPTH; i++) lists[i] = xir_any_list(&lists[i - 1], 1);
    assert_int_equal(xir_network_set_tag(net, XIR_STR("deep"), &lists[DEPTH]), XIR_OK);
    assert_int_equal(xir_json_write(net, 0, stop_after, &(int){ 1000 }, why), XIR_E_LIMIT);
    check_finding(XIR_E_LIMIT, "values are nested deeper than 128");
    const char *path = scratch("deep.json");
    scratch_put(path, "old", 3);
    assert_int_equal(xir_json_save(net, path, XIR_SAVE_UNCHECKED, why), XIR_E_LIMIT);
    xir_diags_clear(why);
    size_t size = 0;
    char *old = (char *)scratch_get(path, &size);
    assert_string_equal(old, "old");
    free(old);
    xir_network_free(net);
    free(p.data);
}

/* ---- memory ------------------------------------------------------------------------------------------------ */

static paper scarce;

static bool read_and_print(xir_context *with) {
    xir_network *net = xir_json_read(with, (xir_str){ scarce.data, scarce.size }, XIR_STR("x"), NULL);
    if (!net) return false;
    xir_text_buffer out;
    xir_status status = xir_json_print(net, 0, &out);
    if (status) assert_int_equal(status, XIR_E_MEMORY);
    else check_same(out.data, out.size, scarce.data, scarce.size);
    xir_text_free(&out);
    if (!status) {
        status = xir_json_print(net, 3, &out);
        if (status) assert_int_equal(status, XIR_E_MEMORY);
        xir_text_free(&out);
    }
    xir_network_free(net);
    return status == XIR_OK;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    for (int i = 0; i < 6; i++) {
        scarce = random_network(4);
        check_memory(read_and_print);
        free(scarce.data);
    }
}

static bool parse_into(xir_context *with) {
    static const char text[] =
        "{\"_type_key\":\"icraft::xir::HardOp\",\"compile_target\":\"@buyit\",\"device_info\":{\"a\":1},\"inputs\":["
        VALUE("0", "1,2,2,3") "," PARAM("77", "3") "],\"instr\":[],\"layer_count\":0,\"name\":\"new\",\"op_id\":9,\"origin_ops_id\":[1,2],\"outputs\":["
        VALUE("80", "1,2") "],\"params\":[" PARAM("78", "9") "],\"sub_hard_ops\":[],\"tags\":{\"a\":[1]},\"x\":{}}";
    xir_network *net = xir_json_read(with, XIR_STR(SMALL), XIR_STR("x"), NULL);
    if (!net) return false;
    xir_op *op = xir_op_parse(net, XIR_STR(text), NULL);
    assert_int_equal(xir_value_use_count(xir_op_output(xir_network_first(net), 0)), op ? 2 : 1);
    assert_int_equal(xir_network_op_count(net), 3);
    bool ok = false;
    if (op) {
        xir_text_buffer out;
        ok = xir_op_print(op, 0, &out) == XIR_OK;
        if (ok) check_same(out.data, out.size, text, strlen(text));
        xir_text_free(&out);
        ok = ok && xir_op_place(op, NULL) == XIR_OK;
    }
    ok = ok && xir_object_parse(
        with, XIR_STR("{\"_type_key\":\"someone::Thing\",\"a\":[1,{\"b\":\"\\u0041\"}],\"t\":\"@fp(32)\"}"), NULL);
    xir_network_free(net);
    return ok;
}

static void every_allocation_may_fail_when_parts_are_read(void **state) {
    (void)state;
    check_memory(parse_into);
}

static void many_ids_in_any_order(void **state) {
    (void)state;
    enum { N = 5000 };
    paper p = { 0 };
    put(&p, "{\"_type_key\":\"icraft::xir::Network\",\"ops\":[");
    for (int64_t i = 0; i < N; i++) {
        int64_t id = i * 2741 % N * 4096;
        put(&p, "%s{\"_type_key\":\"someone::Op\",\"compile_target\":\"@hostt\",\"inputs\":[", i ? "," : "");
        if (i)
            put(&p, "{\"_type_key\":\"icraft::xir::Value\",\"dtype\":null,\"mtype\":\"@hostm\",\"name\":\"\",\"tags\":{},\"v_id\":%" PRId64 "}",
                (i / 2) * 2741 % N * 4096);
        put(&p, "],\"name\":\"\",\"op_id\":%" PRId64 ",\"outputs\":[{\"_type_key\":\"icraft::xir::Value\",\"dtype\":null,\"mtype\":\"@hostm\","
                "\"name\":\"\",\"tags\":{},\"v_id\":%" PRId64 "}],\"tags\":{}}", id, id);
    }
    put(&p, "],\"tags\":{}}");
    check_round(p.data, p.size);
    free(p.data);
}

GROUP {
    scratch_make();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_documented_network_prints_as_documented),
        cmocka_unit_test(writing_in_pieces_is_printing),
        cmocka_unit_test(the_documented_network_is_read_from_either_form),
        cmocka_unit_test(single_objects_print_as_documented),
        cmocka_unit_test(documented_types_print_as_documented),
        cmocka_unit_test(classless_values_print_as_json),
        cmocka_unit_test(values_without_a_class_are_parsed),
        cmocka_unit_test(nesting_is_limited_when_writing),
        cmocka_unit_test(objects_are_read_from_their_text),
        cmocka_unit_test(ops_are_read_into_an_existing_network),
        cmocka_unit_test(a_refused_op_leaves_the_network_unchanged),
        cmocka_unit_test(small_networks_come_back),
        cmocka_unit_test(real_files_come_back),
        cmocka_unit_test(random_networks_come_back),
        cmocka_unit_test(cloned_networks_print_alike),
        cmocka_unit_test(order_and_white_space_do_not_matter),
        cmocka_unit_test(parts_that_repeat_are_read_as_if_they_did_not),
        cmocka_unit_test(old_spellings_are_read),
        cmocka_unit_test(absent_rows_stay_absent_until_they_are_set),
        cmocka_unit_test(absent_rows_without_a_default_are_findings),
        cmocka_unit_test(the_version_says_when_ai_target_is_written),
        cmocka_unit_test(the_version_says_how_reals_are_held),
        cmocka_unit_test(the_version_says_how_single_instructions_are_written),
        cmocka_unit_test(copies_are_spelled_as_their_network),
        cmocka_unit_test(values_may_be_used_before_they_are_made),
        cmocka_unit_test(counters_stand_above_every_id),
        cmocka_unit_test(an_op_uses_what_its_sub_op_makes),
        cmocka_unit_test(undeclared_tensors_are_params_of_the_network),
        cmocka_unit_test(ops_and_objects_of_one_unknown_key_are_distinct),
        cmocka_unit_test(equal_types_are_one),
        cmocka_unit_test(the_digest_is_that_of_the_raw_that_would_be_written),
        cmocka_unit_test(files_are_written_and_read),
        cmocka_unit_test(a_callback_that_stops_is_an_error),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(every_allocation_may_fail_when_parts_are_read),
        cmocka_unit_test(many_ids_in_any_order),
    };
    return RUN_GROUP(tests);
}
