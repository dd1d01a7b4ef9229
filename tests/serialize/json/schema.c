/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The JSON Schema of network files, tested with Python's jsonschema: it accepts what the reader and validation both
 * accept (cases of every operation, goldens, real files, classes of a program), and refuses faults at the right place.
 * Without that package only the library's own part is tested. */
#include <sys/wait.h>
#include "json/json.h"
#include "support/op_case.h"
#include "support/own.h"
#include "support/scarce.h"
#include "support/scratch.h"
#undef FP32   /* here: the text of a type */
#include "support/json_net.h"
#include "support/skips.h"

#define PYTHON "/usr/bin/python3"
enum { SKIPPED = 77 };

static bool collect(void *user, const void *data, size_t size) {
    put_bytes(user, data, size);
    return true;
}

static paper schema_of(xir_context *with) {
    paper p = { 0 };
    assert_int_equal(xir_json_schema(with, collect, &p, why), XIR_OK);
    return p;
}

/* ---- the validator ---------------------------------------------------------------------------------------------- */

/* A line of cases, separated by tabs: a name; the place of the fault ("/" for the whole, "*" for anywhere, empty if
 * there is no fault); a part of the message; the JSON. */

static void put_case(paper *cases, const char *name, const char *pointer, const char *part, const char *json,
                     size_t size) {
    put(cases, "%s\t%s\t%s\t", name, pointer, part);
    put_bytes(cases, json, size);
    put(cases, "\n");
}

/* Checks that the validator agrees with all cases; skips the test if there is no validator. */
static void check_cases(const paper *schema, const paper *cases, size_t n, const char *more_files) {
    scratch_put(scratch("schema.json"), schema->data, schema->size);
    scratch_put(scratch("cases"), cases->data, cases->size);
    char command[3 * PATH_MAX];
    snprintf(command, sizeof command, PYTHON " -W ignore '" XIR_TEST_DATA "/serialize/json/schema.py' '%s' '%s' %zu %s",
             scratch("schema.json"), scratch("cases"), n, more_files);
    fflush(stdout);
    int status = access(PYTHON, X_OK) == 0 ? system(command) : SKIPPED << 8;
    if (WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED) {
        SKIP("no " PYTHON " with python3-jsonschema");
    }
    assert_int_equal(status, 0);
}

/* ---- without the validator -------------------------------------------------------------------------------------- */

static void the_schema_is_json_and_always_the_same(void **state) {
    (void)state;
    paper a = schema_of(ctx), b = schema_of(ctx);
    check_same(a.data, a.size, b.data, b.size);
    arena memory;
    arena_init(&memory, context_alloc(ctx));
    xir_any any;
    assert_int_equal(json_read_any(ctx, &memory, (xir_str){ a.data, a.size }, &any, why), XIR_OK);
    assert_int_equal(any.kind, XIR_ANY_MAP);
    const xir_any *defs = xir_map_find(&any.as.map, XIR_STR("$defs"));
    assert_non_null(defs);
    size_t n = 0;
    const xir_class *cls;
    for (size_t i = 0; (cls = xir_context_class_at(ctx, i)) != NULL; i++) {   /* every class that is written as a map */
        char name[200];
        snprintf(name, sizeof name, "class:%s", xir_class_key(cls).data);
        bool map = xir_class_is_op(cls) || !(cls->more->form || xir_class_traits(cls) & XIR_TRAIT_ABSTRACT);
        assert_true(map == (xir_map_find(&defs->as.map, xir_str_of(name)) != NULL));
        n += map;
    }
    assert_true(n > 135);
    arena_free(&memory);
    free(a.data);
    free(b.data);
}

typedef struct meter { size_t left; } meter;
static bool write_some(void *user, const void *data, size_t size) {
    meter *m = user;
    (void)data;
    if (size > m->left) return false;
    m->left -= size;
    return true;
}

static void a_callback_that_stops_is_an_error(void **state) {
    (void)state;
    meter little = { 1000 };
    assert_int_equal(xir_json_schema(ctx, write_some, &little, why), XIR_E_IO);
    assert_int_equal(xir_diags_count(why), 1);
    xir_diags_clear(why);
}

static void write_scarcely(want *w) {
    paper p = { 0 };
    TRY_LOOSELY(w, (p.size = 0, xir_json_schema(w->ctx, collect, &p, NULL)));
    w->result = p.data;
}

static void without_memory_it_is_an_error(void **state) {
    (void)state;
    run_scarcely("schema", write_scarcely, false);
}

/* ---- accepted ---------------------------------------------------------------------------------------------------- */

/* One of everything that has its own form. */
#define TENSOR(element, layout, distrs,                                                                                \
               shape) "{\"_type_key\":\"icraft::xir::TensorType\",\"element_dtype\":" element ",\"layout\":\"" layout  \
    "\",\"merged_distrs\":[" distrs "],\"shape\":[" shape "]}"
#define QUANT "{\"_type_key\":\"icraft::xir::NormalizedQuantizedType\",\"expressed_dtype\":\"@fp(32)\",\"normratio\":" \
    "\"@norm_ratios([axis=-1]3*1.5)\",\"scale\":\"@exp_scales([axis=-1]3*1/0/1)\",\"storage_dtype\":\"@sint(8)\",\"zero_points\":[]}"
#define QUANT_VALUE "{\"_type_key\":\"icraft::xir::Value\",\"dtype\":" TENSOR(QUANT, "@layout(NHWC)", "", "1,2,2,3") \
    ",\"mtype\":\"@etm(4096)\",\"name\":\"q\",\"tags\":{\"t\":[null,1.5]},\"v_id\":4}"
#define OP(key, id, attrs, inputs,                                                                                     \
           outputs) "{\"_type_key\":\"" key "\"," attrs "\"compile_target\":\"@buyit\",\"inputs\":[" inputs            \
    "],\"name\":\"\",\"op_id\":" id ",\"outputs\":[" outputs "],\"tags\":{}}"
static const char *const each_op[] = {
    INPUT_OP, RELU_OP,
    OP("icraft::xir::Add", "3", "\"alpha\":[1,true,0.5,\"inf\"],\"beta\":[2.0],\"cut_scale\":\"@scales([axis=-1])\",",
       VALUE("1", "1,2,2,3") "," PARAM("2", "1,2,2,3"), VALUE("3", "1,2,2,3")),
    OP("icraft::xir::AlignAxis", "4", "\"aligned_units\":[{\"_type_key\":\"icraft::xir::AlignedUnit\",\"index\":[3],\"unit\":[1]}],",
       VALUE("3", "1,2,2,3"), QUANT_VALUE),
    OP("icraft::xir::Conv2d", "5", "\"dilation_height\":1,\"dilation_width\":1,\"groups\":1,\"pad_bottom\":0,\"pad_left\":0,\"pad_right\":0,"
       "\"pad_top\":0,\"padding_mode\":\"ZEROS\",\"stride_height\":1,\"stride_width\":1,",
       VALUE("1", "1,2,2,3") "," PARAM("6", "1,1,3,4") ",null", VALUE("7", "1,2,2,4")),
    OP("icraft::xir::HardOp", "6", "\"device_info\":{\"a\":18446744073709551615,\"p\":" PARAM("8", "1") "},\"instr\":[" PARAM("9", "1")
       "],\"layer_count\":1,\"origin_ops_id\":[1,2],\"params\":[],\"sub_hard_ops\":["
       OP("icraft::xir::HardOp", "7", "\"instr\":" PARAM("10", "1") ",", "", "") "],", "", VALUE("11", "1")),
    OP("someone::Op", "8", "\"anything\":[{\"x\":" PARAM("12", "1") "}],", "", ""),
    OUTPUT_OP,
};

static paper one_of_each(void) {
    static const char empty[] = NETWORK_OF("3.33.1.0", "");
    const char *ops = strstr(empty, "\"ops\":[") + 7;
    paper p = { 0 };
    put_bytes(&p, empty, (size_t)(ops - empty));
    for (size_t i = 0; i < COUNT(each_op); i++) put(&p, "%s%s", i ? "," : "", each_op[i]);
    put(&p, "%s", ops);
    return p;
}

typedef struct gathering { paper cases; size_t n, valid, invalid; uint8_t seen[1024][2]; } gathering;
static gathering *now;

/* Python takes some milliseconds per case: only the first few of a class. */
static bool is_one_of_the_first(const xir_class *cls, bool bad) {
    enum { FEW = 3 };
    size_t i = 0;
    while (xir_context_class_at(ctx, i) != cls) i++;
    assert_true(i < COUNT(now->seen));
    return now->seen[i][bad]++ < FEW;
}

static void gather_net(const char *name, const char *pointer, xir_network *net) {
    xir_text_buffer text;
    assert_int_equal(xir_json_print(net, 0, &text), XIR_OK);
    put_case(&now->cases, name, pointer, "", text.data, text.size);
    xir_text_free(&text);
    now->n++;
}

/* A good case, or a bad one whose body breaks its rows: a schema cannot express other faults. */
static void gather_case(const char *text, const char *file, int line, op_counts *counts) {
    op_case c;
    if (!op_case_begin(&c, text, file, line, counts)) fail_msg("%s:%d: %s", file, line, c.t.fault);
    char name[200];
    snprintf(name, sizeof name, "%s:%d", file, line);
    bool expressible = c.bad && (c.code == XIR_E_BOUNDS || c.code == XIR_E_MISSING || c.code == XIR_E_TYPE);
    bool broken = expressible && body_check(c.cls, c.body, XIR_STR(""), XIR_STR(""), NULL) != XIR_OK;
    if ((!c.bad || broken) && is_one_of_the_first(c.cls, c.bad)) {
        xir_op *op = broken ? op_case_bring_in(&c, c.body) : op_case_add(&c);
        if (!op) fail_msg("%s is refused", name);
        gather_net(name, broken ? "*" : "", c.net);
        broken ? now->invalid++ : now->valid++;
    }
    op_case_end(&c);
}

static void every_operation_is_checked_as_validation_does(void **state) {
    (void)state;
    gathering g = { 0 };
    op_counts counts = { .out = stderr };
    now = &g;
    char **names = op_tables("ops");
    for (char **name = names; *name; name++) {
        op_cases_each(op_table_path("ops", *name), gather_case, &counts);
        free(*name);
    }
    free(names);
    size_t without = 0;
    const xir_class *cls;
    for (size_t i = 0; (cls = xir_context_class_at(ctx, i)) != NULL; i++) {
        if (xir_class_is_op(cls) && !g.seen[i][false])
            without++, printf("no valid case of %s\n", xir_class_key(cls).data);
    }
    assert_true(without <= 3);   /* Input, Output and the like, which all networks have */
    printf("%zu right, %zu wrong\n", g.valid, g.invalid);
    assert_true(g.valid > 200 && g.invalid > 40);
    paper schema = schema_of(ctx);
    check_cases(&schema, &g.cases, g.n, "");
    free(schema.data);
    free(g.cases.data);
}

/* Networks that a reader accepts and validation passes, whatever made them. */
static void random_networks_that_validate_are_accepted(void **state) {
    (void)state;
    gathering g = { 0 };
    now = &g;
    for (int i = 0; i < 20000 && g.valid < 60; i++) {
        paper p = random_network(3);
        xir_network *net = must_read(p.data, p.size);
        if (xir_network_op_count(net) > 0 && xir_network_validate(net, NULL) == XIR_OK) {
            char name[40];
            snprintf(name, sizeof name, "random %d", i);
            put_case(&g.cases, name, "", "", p.data, p.size);
            g.n++;
            g.valid++;
        }
        xir_network_free(net);
        free(p.data);
    }
    assert_int_equal(g.valid, 60);
    paper schema = schema_of(ctx);
    check_cases(&schema, &g.cases, g.n, "");
    free(schema.data);
    free(g.cases.data);
}

/* ---- random changes --------------------------------------------------------------------------------------------- */

/* The end of the JSON value that begins at `p`. */
static const char *value_end(const char *p) {
    int depth = 0;
    for (;; p++) {
        if (*p == '"') {
            for (p++; *p != '"'; p++) p += *p == '\\';
        } else if (*p == '{' || *p == '[') {
            depth++;
        } else if (*p == '}' || *p == ']' || *p == ',') {
            if (depth == 0) return p;   /* the end of a number or word */
            depth -= *p != ',';
        } else {
            continue;
        }
        if (depth == 0) return p + 1;
    }
}

/* A copy with the value of some key replaced, or with the key removed. */
static paper with_a_change(const char *text, size_t size) {
    static const char *const values[] = { "null", "0", "-1", "1", "2", "7", "1.5", "\"inf\"", "\"\"", "\"ZEROS\"",
                                          "\"@fp(32)\"", "\"@hostm\"",
                                          "[]", "{}", "true", "false", "[0]", "[1,2]", "[null]", "9223372036854775807" };
    paper p = { 0 };
    const char *at;
    do {
        size_t from = chance(size);
        at = memchr(text + from, ':', size - from);
    } while (!at || at[-1] != '"');   /* no colon inside a text follows a quote here */
    const char *value = at + 1, *end = value_end(value), *key = at - 2;
    while (*key != '"') key--;
    if (now_and_then(4) && *end == ',') {
        put_bytes(&p, text, (size_t)(key - text));
        put_bytes(&p, end + 1, size - (size_t)(end + 1 - text));
    } else {
        put_bytes(&p, text, (size_t)(value - text));
        put(&p, "%s", values[chance(COUNT(values))]);
        put_bytes(&p, end, size - (size_t)(end - text));
    }
    return p;
}

/* Returns true if every op validates: a schema does not check graphs. */
static bool ops_are_right(const xir_network *net) {
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) {
        if (xir_op_validate(op, NULL)) return false;
    }
    return true;
}

static void gather_changes(const char *line_text, const char *file, int line, op_counts *counts) {
    enum { TRIES = 16 };
    op_case c;
    if (!op_case_begin(&c, line_text, file, line, counts)) fail_msg("%s:%d: %s", file, line, c.t.fault);
    xir_text_buffer text = { 0 };
    if (!c.bad && is_one_of_the_first(c.cls, false) && op_case_add(&c))
        assert_int_equal(xir_json_print(c.net, 0, &text), XIR_OK);
    for (int i = 0, found = 0; text.size && i < TRIES && !found; i++) {
        paper p = with_a_change(text.data, text.size);
        xir_network *net = read_net(p.data, p.size);
        if (net && ops_are_right(net)) {
            char name[200];
            snprintf(name, sizeof name, "%s:%d changed", file, line);
            put_case(&now->cases, name, "", "", p.data, p.size);
            found = 1;
            now->n++;
        }
        xir_network_free(net);
        xir_diags_clear(why);
        free(p.data);
    }
    xir_text_free(&text);
    op_case_end(&c);
}

static void changed_networks_that_still_validate_are_accepted(void **state) {
    (void)state;
    gathering g = { 0 };
    op_counts counts = { .out = stderr };
    now = &g;
    char **names = op_tables("ops");
    for (char **name = names; *name; name++) {
        op_cases_each(op_table_path("ops", *name), gather_changes, &counts);
        free(*name);
    }
    free(names);
    assert_true(g.n > 250);
    paper schema = schema_of(ctx);
    check_cases(&schema, &g.cases, g.n, "");
    free(schema.data);
    free(g.cases.data);
}

static void files_are_accepted(void **state) {
    (void)state;
    paper cases = { 0 }, files = { 0 };
    paper each = one_of_each();
    xir_network *net = must_read(each.data, each.size);
    xir_network_free(net);
    put_case(&cases, "one of each", "", "", each.data, each.size);
    free(each.data);
    put_case(&cases, "small", "", "", SMALL, strlen(SMALL));
    put(&files, "'" XIR_TEST_DATA "'/golden/json/seed*.json '" XIR_TEST_DATA "'/cli/data/*.json");
    const char *corpus = getenv("XIR_CORPUS");
    if (corpus) put(&files, " '%s'/icraft/*.json", corpus);
    paper schema = schema_of(ctx);
    check_cases(&schema, &cases, 2, files.data);
    free(schema.data);
    free(cases.data);
    free(files.data);
}

/* ---- refused ----------------------------------------------------------------------------------------------------- */

/* One of each, with the first `from` after the first `after` replaced. */
typedef struct wrong { const char *after, *from, *to, *pointer, *part; } wrong;

static const wrong wrongs[] = {
    /* the network */
    { "",        "\"_type_key\":\"icraft::xir::Network\",", "",                    "",                  "'_type_key' is a required" },
    { "",        "icraft::xir::Network",  "icraft::xir::Params",                   "/_type_key",        "expected" },
    { "",        "\"@buyit\"",            "\"@hostm\"",                            "/ai_target",        "does not match" },
    { "",        "\"@buyit\"",            "7",                                     "/ai_target",        "is not of type" },
    { "",        "\"PYTORCH\"",           "1",                                     "/framework_kind",   "is not of type" },
    { "",        "\"3.33.1.0\"",          "[3,33]",                                "/icraft_xir_version", "is not of type" },
    { "",        "\"ops\":",              "\"op\":",                               "",                  "'ops' is a required" },
    { "",        "\"ops\":[",             "\"ops\":[[],",                          "/ops/0",            "is not of type 'object'" },
    { "",        "\"params_bytes\":0",    "\"params_bytes\":-1",                   "/params_bytes",     "less than the minimum" },
    { "",        "\"params_bytes\":0",    "\"params_bytes\":0.5",                  "/params_bytes",     "is not of type" },
    /* ops */
    { "\"ops\"", "\"_type_key\":\"icraft::xir::Input\",", "",                      "/ops/0",            "'_type_key' is a required" },
    { "\"ops\"", "icraft::xir::Input",    "icraft::xir::TensorType",               "/ops/0/_type_key",  "should not be valid" },
    { "\"ops\"", "\"op_id\":0,",          "",                                      "/ops/0",            "'op_id' is a required" },
    { "\"ops\"", "\"op_id\":0",           "\"op_id\":-1",                          "/ops/0/op_id",      "less than the minimum" },
    { "\"ops\"", "\"op_id\":0",           "\"op_id\":9223372036854775807",         "/ops/0/op_id",      "greater than the maximum" },
    { "\"ops\"", "\"op_id\":0",           "\"op_id\":\"0\"",                       "/ops/0/op_id",      "is not of type" },
    { "\"ops\"", "\"name\":\"\",\"op_id\":0", "\"name\":null,\"op_id\":0",         "/ops/0/name",       "is not of type" },
    { "\"ops\"", "\"@hostt\"",            "\"@hosttt\"",                           "/ops/0/compile_target", "does not match" },
    { "\"ops\"", "\"@hostt\"",            "null",                                  "/ops/0/compile_target", "is not of type" },
    { "\"ops\"", "\"@hostt\"",            "{\"_type_key\":\"icraft::xir::HostTarget\"}", "/ops/0/compile_target/_type_key", "is not one of" },
    { "\"ops\"", "\"inputs\":[]",         "\"inputs\":{}",                         "/ops/0/inputs",     "is not of type" },
    { "\"ops\"", "\"inputs\":[]",         "\"inputs\":[" VALUE("0", "1,2,2,3") "]", "/ops/0/inputs/0",  "is not of type 'null'" },
    { "ReLU",    "\"inputs\":[",          "\"inputs\":[null,",                     "/ops/1/inputs/0",   "is not of type 'object'" },
    { "ReLU",    VALUE("0", "1,2,2,3"),   "",                                      "/ops/1/inputs",     "is too short" },
    { "ReLU",    VALUE("1", "1,2,2,3"),   "",                                      "/ops/1/outputs",    "is too short" },
    { "ReLU",    VALUE("1", "1,2,2,3"),   PARAM("1", "1,2,2,3"),                   "/ops/1/outputs/0/_type_key", "expected" },
    { "ReLU",    "\"tags\":{}",           "\"tags\":[]",                           "/ops/1/inputs/0/tags", "is not of type" },
    /* attributes, by kind */
    { "ReLU",    "\"alpha\":0.0",         "\"alpha\":\"zero\"",                    "/ops/1/alpha",      "does not match" },
    { "ReLU",    "\"alpha\":0.0",         "\"alpha\":true",                        "/ops/1/alpha",      "is not of type" },
    { "Add",     "true",                  "\"true\"",                              "/ops/2/alpha/1",    "does not match" },
    { "Add",     "true",                  "null",                                  "/ops/2/alpha/1",    "is not of type" },
    { "Add",     "[2.0]",                 "2.0",                                   "/ops/2/beta",       "is not of type 'array'" },
    { "Add",     "\"@scales([axis=-1])\"", "\"@layout(NC)\"",                      "/ops/2/cut_scale",  "does not match" },
    { "Add",     "\"@scales([axis=-1])\"", "null",                                 "/ops/2/cut_scale",  "is not of type" },
    { "Align",   "icraft::xir::AlignedUnit", "icraft::xir::Unknown",               "/ops/3/aligned_units/0/_type_key", "is not one of" },
    { "Align",   "icraft::xir::AlignedUnit", "someone::Unit",                      "/ops/3/aligned_units/0/_type_key", "is not one of" },
    { "Align",   "\"index\":[3]",         "\"index\":[3.5]",                       "/ops/3/aligned_units/0/index/0", "is not of type" },
    { "Align",   "\"index\":[3]",         "\"index\":[9223372036854775808]",       "/ops/3/aligned_units/0/index/0", "greater than" },
    { "Align",   "\"@norm_ratios([axis=-1]3*1.5)\"", "\"@scales([axis=-1]3*1.5)\"", "/ops/3/outputs/0/dtype/element_dtype/normratio", "does not match" },
    { "Align",   "\"expressed_dtype\":\"@fp(32)\",", "",                           "/ops/3/outputs/0/dtype/element_dtype", "'expressed_dtype' is a required" },
    { "Align",   "\"@etm(4096)\"",        "\"etm(4096)\"",                         "/ops/3/outputs/0/mtype", "does not match" },
    { "Conv2d",  "\"stride_width\":1",    "\"stride_width\":0",                    "/ops/4/stride_width", "less than the minimum of 1" },
    { "Conv2d",  "\"stride_width\":1",    "\"stride_width\":\"1\"",                "/ops/4/stride_width", "is not of type" },
    { "Conv2d",  "\"ZEROS\"",             "\"zeros\"",                             "/ops/4/padding_mode", "is not one of" },
    { "Conv2d",  "\"ZEROS\"",             "0",                                     "/ops/4/padding_mode", "is not one of" },
    { "Conv2d",  ",null]",                ",null," VALUE("1", "1,2,2,3") "]",      "/ops/4/inputs/3",   "is not of type 'null'" },
    { "HardOp",  "\"device_info\":{",     "\"device_info\":[],\"x\":{",            "/ops/5/device_info", "is not of type" },
    { "HardOp",  "\"_allow_no_data\":false,", "\"_allow_no_data\":0,",             "/ops/5/device_info/p/_allow_no_data", "is not of type" },
    { "\"instr\"", "\"v_id\":9",          "\"id\":9",                              "/ops/5/instr/0",    "'v_id' is a required" },
    { "\"instr\"", "icraft::xir::Params", "icraft::xir::Value",                    "/ops/5/instr/0/_type_key", "expected" },
    { "\"sub_hard_ops\"", "\"op_id\":7,", "",                                      "/ops/5/sub_hard_ops/0", "'op_id' is a required" },
    { "\"sub_hard_ops\"", "\"v_id\":10",  "\"v_id\":1.5",                          "/ops/5/sub_hard_ops/0/instr/v_id", "is not of type" },
    { "anything", "\"v_id\":12",          "\"v_id\":-12",                          "/ops/6/anything/0/x/v_id", "less than the minimum" },
    /* values */
    { "\"ops\"", "icraft::xir::Value",    "icraft::xir::Values",                   "/ops/0/outputs/0/_type_key", "expected" },
    { "\"ops\"", "\"_type_key\":\"icraft::xir::Value\",",
      "\"_allow_no_data\":false,\"_type_key\":\"icraft::xir::Value\",",
      "/ops/0/outputs/0/_allow_no_data", "False schema" },
    { "\"ops\"", "\"dtype\":",            "\"type\":",                             "/ops/0/outputs/0",  "'dtype' is a required" },
    { "\"ops\"", "icraft::xir::TensorType", "icraft::xir::DataType",               "/ops/0/outputs/0/dtype/_type_key", "is not one of" },
    { "\"ops\"", "\"@fp(32)\"",           "\"@float32\"",                          "/ops/0/outputs/0/dtype/element_dtype", "does not match" },
    { "\"ops\"", "\"shape\":[1",          "\"shape\":[\"N\"",                      "/ops/0/outputs/0/dtype/shape/0", "is not of type" },
    { "\"ops\"", "\"@layout(NHWC)\"",     "\"NHWC\"",                              "/ops/0/outputs/0/dtype/layout", "does not match" },
};

/* The library refuses everything in the table too, in its reader or by validation. */
static void faults_are_found_at_their_place(void **state) {
    (void)state;
    paper cases = { 0 }, each = one_of_each();
    for (size_t i = 0; i < COUNT(wrongs); i++) {
        const wrong *w = &wrongs[i];
        const char *start = strstr(each.data, w->after), *at = start ? strstr(start, w->from) : NULL;
        if (!at) fail_msg("row %zu: no '%s'", i, w->from);
        paper p = { 0 };
        put_bytes(&p, each.data, (size_t)(at - each.data));
        put(&p, "%s", w->to);
        put_bytes(&p, at + strlen(w->from), strlen(at + strlen(w->from)));
        xir_network *net = read_net(p.data, p.size);
        if (net && xir_network_validate(net, why) == XIR_OK) fail_msg("row %zu: the library lets '%s' pass", i, w->to);
        xir_network_free(net);
        xir_diags_clear(why);
        char name[40];
        snprintf(name, sizeof name, "wrong %zu", i);
        put_case(&cases, name, *w->pointer ? w->pointer : "/", w->part, p.data, p.size);
        free(p.data);
    }
    paper schema = schema_of(ctx);
    check_cases(&schema, &cases, COUNT(wrongs), "");
    free(each.data);
    free(schema.data);
    free(cases.data);
}

/* ---- classes of a program ---------------------------------------------------------------------------------------- */

#define BOX \
    "{\"_type_key\":\"test::Box\",\"label\":\"b\",\"load\":1.0,\"maker\":\"m\",\"marks\":[],\"where\":\"@hostm\"%s}"
#define MIX(more) NETWORK_OF(                                                                                          \
    "3.33.1.0", INPUT_OP ",{\"_type_key\":\"test::Mix\",\"bowl\":" BOX ",\"compile_target\":\"@hostt\",\"inputs\":["   \
    VALUE("0", "1,2,2,3") "],\"name\":\"\",\"op_id\":1,\"outputs\":[" VALUE("1", "1,2,2,3") "],\"tags\":{}" more "}," OUTPUT_OP)

#define YEAR ",\"year\":1900"

static void classes_of_a_program_are_in_it(void **state) {
    (void)state;
    static const struct { const char *in_box, *in_op, *pointer, *part; } rows[] = {
        { YEAR, "", "", "" },
        { ",\"made\":1950", "", "", "" },
        { ",\"made\":1899", "", "/ops/1/bowl/made", "less than the minimum of 1900" },
        { "", "", "/ops/1/bowl", "valid under any of" },
        { YEAR ",\"made\":1950", "", "/ops/1/bowl/year", "False schema" },
        { YEAR ",\"faces\":8", ",\"rounds\":3", "", "" },
        { YEAR ",\"faces\":3", "", "/ops/1/bowl/faces", "less than the minimum of 4" },
        { YEAR ",\"faces\":8,\"sides\":8", "", "/ops/1/bowl/sides", "False schema" },
        { YEAR, ",\"rounds\":3,\"turns\":3", "/ops/1/turns", "False schema" },
        { YEAR, ",\"turns\":11", "/ops/1/turns", "greater than the maximum of 10" },
        { YEAR ",\"volume\":0", "", "/ops/1/bowl/volume", "less than the minimum of 1" },
        { YEAR ",\"tilt\":\"inf\"", "", "/ops/1/bowl/tilt", "is not of type 'number'" },
        { YEAR ",\"mood\":\"ANGRY\",\"locks\":[true],\"names\":[\"\"],\"angles\":[\"nan\",1]", "", "", "" },
        { YEAR ",\"locks\":[1]", "", "/ops/1/bowl/locks/0", "is not of type" },
        { YEAR ",\"names\":[1]", "", "/ops/1/bowl/names/0", "is not of type" },
        { YEAR ",\"lid\":null,\"inside\":[{\"_type_key\":\"test::Grain\"},{\"_type_key\":\"who::Knows\",\"x\":1}]", "", "", "" },
        { YEAR ",\"lid\":{\"_type_key\":\"test::Grain\",\"weight\":\"1\"}", "", "/ops/1/bowl/lid/weight", "is not of type" },
        { YEAR ",\"inside\":[{\"_type_key\":\"test::Thing\"}]", "", "/ops/1/bowl/inside/0/_type_key", "is not one of" },
        { YEAR ",\"inside\":[{}]", "", "/ops/1/bowl/inside/0", "'_type_key' is a required" },
        { YEAR ",\"layers\":[[2,0,0,1.5],[4,1,-3,\"inf\"]]", "", "", "" },
        { YEAR ",\"layers\":[[2,0,0]]", "", "/ops/1/bowl/layers/0", "is too short" },
        { YEAR ",\"layers\":[[2.5,0,0,1]]", "", "/ops/1/bowl/layers/0/0", "is not of type" },
        { YEAR, ",\"recipe\":null,\"pages\":[" PARAM("7", "1,2,2,3") "]", "", "" },
        { YEAR, ",\"recipe\":" VALUE("7", "1,2,2,3"), "/ops/1/recipe/_type_key", "expected" },
        { YEAR, ",\"pages\":" PARAM("7", "1,2,2,3"), "/ops/1/pages", "is not of type 'array'" },
    };
    const xir_class_decl *const own[] = { xir_own_thing_class(), xir_own_grain_class(), xir_own_box_class(),
                                          xir_own_mix_class() };
    xir_context *with = xir_context_new(NULL);
    paper before = schema_of(with);
    for (size_t i = 0; i < COUNT(own); i++) assert_int_equal(xir_class_register(with, own[i], why), XIR_OK);
    paper schema = schema_of(with), cases = { 0 };
    assert_true(schema.size > before.size);
    for (size_t i = 0; i < COUNT(rows); i++) {
        paper p = { 0 };
        put(&p, MIX("%s"), rows[i].in_box, rows[i].in_op);
        xir_diags *found = xir_diags_new(with);
        xir_network *net = xir_json_read(with, (xir_str){ p.data, p.size }, XIR_STR(""), found);
        bool fine = net && xir_network_validate(net, found) == XIR_OK;
        if (fine != !*rows[i].pointer) {
            xir_diags_print(found, stderr);
            fail_msg("row %zu: the library says something else", i);
        }
        xir_network_free(net);
        xir_diags_free(found);
        char name[40];
        snprintf(name, sizeof name, "own %zu", i);
        put_case(&cases, name, rows[i].pointer, rows[i].part, p.data, p.size);
        free(p.data);
    }
    xir_context_free(with);
    check_cases(&schema, &cases, COUNT(rows), "");
    free(before.data);
    free(schema.data);
    free(cases.data);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_schema_is_json_and_always_the_same),
        cmocka_unit_test(a_callback_that_stops_is_an_error),
        cmocka_unit_test(without_memory_it_is_an_error),
        cmocka_unit_test(files_are_accepted),
        cmocka_unit_test(every_operation_is_checked_as_validation_does),
        cmocka_unit_test(random_networks_that_validate_are_accepted),
        cmocka_unit_test(changed_networks_that_still_validate_are_accepted),
        cmocka_unit_test(faults_are_found_at_their_place),
        cmocka_unit_test(classes_of_a_program_are_in_it),
    };
    scratch_make();
    return RUN_GROUP(tests);
}
