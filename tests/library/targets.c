/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Targets as rows: those of the library, of programs, and of a plug-in with inference of its own for each, in every
 * format, with and without the plug-in. */
#include <pthread.h>
#include "context.h"
#include "support/net.h"
#include "support/scratch.h"
#undef FP32                      /* it is the text of a type here */
#include "support/json_net.h"   /* last: its ctx and why are names in the rows above */

#define NPU XIR_TEST_PLUGINS "/npu.so"

static xir_context *fresh(void) {
    xir_context *with = xir_context_new(NULL);
    assert_non_null(with);
    return with;
}

static void must_load(xir_context *with) {
    xir_status status = xir_plugin_load(with, NPU, why);
    if (status) show_findings();
    assert_int_equal(status, XIR_OK);
}

static int kind_in(xir_context *with, const char *word) { return xir_target_find(with, xir_str_of(word)); }

static const xir_target *target_in(xir_context *with, const char *word, const char *core) {
    return xir_target_of_kind(with, (xir_target_kind)kind_in(with, word), core);
}

/* ---- rows ------------------------------------------------------------------------------------------------------- */

static void the_library_has_six(void **state) {
    (void)state;
    static const struct {
        xir_target_kind kind;
        const char *key, *name;
        bool accelerator, tiled, cores;
    } rows[] = {
        { XIR_TARGET_HOST,   "icraft::xir::HostTarget",   "host",   false, false, false },
        { XIR_TARGET_FPGA,   "icraft::xir::FPGATarget",   "fpga",   false, false, false },
        { XIR_TARGET_CUSTOM, "icraft::xir::CustomTarget", "custom", false, false, false },
        { XIR_TARGET_BUYI,   "icraft::xir::BuyiTarget",   "buyi",   true,  true,  false },
        { XIR_TARGET_ZHUGE,  "icraft::xir::ZhugeTarget",  "zhuge",  true,  true,  true  },
        { XIR_TARGET_WOLONG, "icraft::xir::WolongTarget", "wolong", true,  false, false },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const xir_target_row *row = xir_target_row_at(ctx, i);
        assert_int_equal(rows[i].kind, i);
        assert_string_equal(row->key, rows[i].key);
        assert_string_equal(row->name, rows[i].name);
        assert_int_equal(row->accelerator, rows[i].accelerator);
        assert_int_equal(row->tiles != NULL, rows[i].tiled);
        assert_int_equal(row->cores != NULL, rows[i].cores);
        assert_int_equal(kind_in(ctx, row->key), i);
        assert_int_equal(kind_in(ctx, row->name), i);
        const xir_target *target = xir_target_of_kind(ctx, rows[i].kind, "330");
        assert_ptr_equal(xir_target_row_of(target), row);
        assert_int_equal(xir_target_kind_of(target), i);
        CHECK_STR(xir_target_core(target), row->cores ? "330" : "");
    }
    assert_null(xir_target_row_at(ctx, COUNT(rows)));
    assert_null(xir_target_of_kind(ctx, (xir_target_kind)COUNT(rows), ""));
    assert_null(xir_target_of_kind(ctx, XIR_TARGET_ZHUGE, NULL));
    assert_ptr_equal(xir_target_row_of(NULL), xir_target_row_at(ctx, XIR_TARGET_HOST));
    assert_int_equal(kind_in(ctx, "npu"), -1);
    assert_int_equal(kind_in(ctx, ""), -1);
}

static const int64_t of_16[] = { 16, 0 }, no_sizes[] = { 0 }, below[] = { 16, -2, 0 };
static const xir_target_row plain = { XIR_TARGET_HEAD("own::Plain", "plain", "a target"), .accelerator = true },
                            cored = { XIR_TARGET_HEAD("own::Cored", "cored-2", "a target"), .cores = "a b.2" };

static void a_program_adds_its_own(void **state) {
    (void)state;
    xir_context *with = fresh();
    const xir_target_row *const rows[] = { &plain, &cored };
    assert_int_equal(xir_target_register(with, rows, 2, why), XIR_OK);
    assert_int_equal(kind_in(with, "plain"), XIR_TARGET_COUNT);
    assert_int_equal(kind_in(with, "own::Cored"), XIR_TARGET_COUNT + 1);
    const xir_class *cls = xir_class_find(with, XIR_STR("own::Plain"));
    assert_true(xir_class_is_a(cls, xir_class_find_decl(with, xir_target_class())));
    CHECK_STR(xir_class_doc(cls), "a target");
    assert_null(target_in(with, "cored-2", NULL));
    const xir_target *target = target_in(with, "cored-2", "b.2");
    CHECK_STR(xir_target_core(target), "b.2");
    assert_string_equal(xir_target_row_of(target)->cores, "a b.2");
    assert_false(xir_class_infers_on(xir_class_find_decl(with, xir_relu_class()), kind_in(with, "plain")));
    assert_int_equal(xir_target_register(with, NULL, 0, why), XIR_OK);
    assert_int_equal(xir_infer_register(with, xir_relu_class(), XIR_TARGET_COUNT + 2, NULL), XIR_E_BOUNDS);
    xir_context_free(with);
}

static bool always(xir_infer *at) { (void)at; return true; }
static const xir_target_rule hollow[] = { { 0 } }, silent[] = { { .holds = always, .needs = "" } },
                             unasked[] = { { .cls = xir_relu_class, .needs = "a reason" } };

#define ROW(key, name, ...) { XIR_TARGET_HEAD(key, name, "a target"), __VA_ARGS__ }
static const struct { const char *what; xir_target_row row; xir_status status; const char *sentence; } bad_rows[] = {
    { "abi 0",     { .abi = 0 },                                     XIR_E_ABI,     "target 1 is a row of version 0" },
    { "abi",       { .abi = XIR_ABI + 1, .size = sizeof(xir_target_row) }, XIR_E_ABI, "is a row of version" },
    { "size 0",    { .abi = XIR_ABI },                               XIR_E_ABI,     "and 0 bytes" },
    { "no key",    ROW(NULL, "x", .tiles = NULL),                    XIR_E_INVALID, "target 1: a key of letters" },
    { "key",       ROW("own::\"", "x", .tiles = NULL),               XIR_E_INVALID, "'own::\"' was found" },
    { "empty key", ROW("", "x", .tiles = NULL),                      XIR_E_INVALID, "a key of letters" },
    { "no name",   ROW("own::X", NULL, .tiles = NULL),               XIR_E_INVALID, "target own::X: a name of up to 31" },
    { "name",      ROW("own::X", "Npu", .tiles = NULL),              XIR_E_INVALID, "'Npu' was found" },
    { "long name", ROW("own::X", "abcdefghijabcdefghijabcdefghijab", .tiles = NULL), XIR_E_INVALID, "up to 31" },
    { "describe",  { XIR_TARGET_HEAD("own::X", "x", "") },           XIR_E_INVALID, "own::X is not described" },
    { "no tiles",  ROW("own::X", "x", .tiles = no_sizes),            XIR_E_INVALID, "sizes of tiles and a 0" },
    { "tiles",     ROW("own::X", "x", .tiles = below),               XIR_E_INVALID, "sizes of tiles and a 0" },
    { "cores",     ROW("own::X", "x", .cores = "a,b"),               XIR_E_INVALID, "names of cores" },
    { "no cores",  ROW("own::X", "x", .cores = ""),                  XIR_E_INVALID, "names of cores" },
    { "NULL rules", ROW("own::X", "x", .n_rules = 1),                XIR_E_INVALID, "target own::X: the list of rules is NULL, but its length is 1" },
    { "rule size", ROW("own::X", "x", .rules = hollow, .n_rules = 1), XIR_E_INVALID, "1 rules of another size" },
    { "no rule",   ROW("own::X", "x", XIR_TARGET_RULES(hollow)),     XIR_E_INVALID, "rule 0 of target own::X is about n" },
    { "no needs",  ROW("own::X", "x", XIR_TARGET_RULES(silent)),     XIR_E_INVALID, "does not tell what it needs" },
    { "no holds",  ROW("own::X", "x", XIR_TARGET_RULES(unasked)),    XIR_E_INVALID, "cannot be asked" },
    { "old key",   ROW("icraft::xir::BuyiTarget", "x", .tiles = NULL), XIR_E_EXISTS, "is taken by icraft::xir::BuyiTarget" },
    { "old name",  ROW("own::X", "buyi", .tiles = NULL),             XIR_E_EXISTS,  "is taken by icraft::xir::BuyiTarget" },
    { "own key",   ROW("own::Plain", "x", .tiles = NULL),            XIR_E_EXISTS,  "is taken by own::Plain" },
    { "own name",  ROW("own::X", "plain", .tiles = NULL),            XIR_E_EXISTS,  "is taken by own::Plain" },
    { "a class",   ROW("icraft::xir::Conv2d", "x", .tiles = NULL),   XIR_E_EXISTS,  "icraft::xir::Conv2d is registered" },
};

static size_t class_count(xir_context *in) {
    size_t n = 0;
    while (xir_context_class_at(in, n)) n++;
    return n;
}

static void check_refused(xir_context *with, const xir_target_row *row, xir_status status, const char *sentence) {
    const xir_target_row *const rows[] = { &plain, row };
    size_t classes = class_count(with);
    assert_int_equal(xir_target_register(with, rows, 2, NULL), status);
    xir_diags_clear(why);
    assert_int_equal(xir_target_register(with, rows, 2, why), status);
    check_finding(status, sentence);
    assert_int_equal(class_count(with), classes);
    assert_null(xir_target_row_at(with, XIR_TARGET_COUNT));
    assert_int_equal(kind_in(with, "plain"), -1);
}

static void rows_are_checked(void **state) {
    (void)state;
    xir_context *with = fresh();
    for (size_t i = 0; i < COUNT(bad_rows); i++) {
        check_refused(with, &bad_rows[i].row, bad_rows[i].status, bad_rows[i].sentence);
    }
    check_refused(with, NULL, XIR_E_INVALID, "target 1 is NULL");
    assert_int_equal(xir_target_register(with, NULL, 1, why), XIR_E_INVALID);
    static const struct { xir_target_row row; uint64_t later[2]; } longer = {
        { .abi = XIR_ABI, .size = sizeof longer, .key = "own::X", .name = "x", .doc = "x" }, { 0, 1 } };
    check_refused(with, &longer.row, XIR_E_UNSUPPORTED, "sets a member that this version does not know");
    const xir_target_row *const fine[] = { &plain };
    assert_int_equal(xir_target_register(with, fine, 1, why), XIR_OK);
    assert_int_equal(xir_target_register(with, fine, 1, why), XIR_E_EXISTS);
    xir_context_free(with);
}

static void there_are_no_more_than_32(void **state) {
    (void)state;
    xir_context *with = fresh();
    char keys[XIR_TARGET_MAX][16], names[XIR_TARGET_MAX][16];
    for (size_t i = XIR_TARGET_COUNT; i <= XIR_TARGET_MAX; i++) {
        size_t at = i - XIR_TARGET_COUNT;
        snprintf(keys[at], sizeof keys[at], "own::T%zu", i);
        snprintf(names[at], sizeof names[at], "t%zu", i);
        const xir_target_row row = { XIR_TARGET_HEAD(keys[at], names[at], "x"), .tiles = of_16 };
        const xir_target_row *const rows[] = { &row };
        assert_int_equal(xir_target_register(with, rows, 1, why), i < XIR_TARGET_MAX ? XIR_OK : XIR_E_LIMIT);
    }
    check_finding(XIR_E_LIMIT, "own::T32 would be one of more than 32");
    xir_infer_fn *relu = xir_class_find_decl(with, xir_relu_class())->more->infer[XIR_TARGET_HOST];
    assert_int_equal(xir_infer_register(with, xir_relu_class(), XIR_TARGET_MAX - 1, relu), XIR_OK);
    assert_true(xir_class_infers_on(xir_class_find_decl(with, xir_relu_class()), XIR_TARGET_MAX - 1));
    assert_false(xir_class_infers_on(xir_class_find_decl(with, xir_relu_class()), XIR_TARGET_MAX - 2));
    xir_context_free(with);
}

/* ---- inference -------------------------------------------------------------------------------------------------- */

/* The element type of the result of one op on a target, or the finding. */
static void check_inferred(xir_context *with, const char *key, const char *layout, const xir_target *target,
                           const char *expected) {
    xir_network *net = xir_network_new(with, "types", XIR_FRAMEWORK_PYTORCH, "v1.9");
    const xir_layout *axes = xir_layout_parse(with, xir_str_of(layout), why);
    const int64_t dims[] = { 1, 2, 8, 8, 16 };
    const xir_type *type = xir_type_tensor(with, xir_type_float(with, XIR_FLOAT_FP32), axes, dims,
                                           xir_layout_rank(axes));
    xir_value *x = xir_input(xir_at_end(net), NULL, type);
    const xir_class *cls = xir_class_find(with, xir_str_of(key));
    xir_op *op = xir_op_new(net, &XIR_INIT(xir_op_desc, .cls = cls, .inputs = (xir_value *const[]){ x, x },
                                                 .n_inputs = xir_class_input_count(cls), .id = XIR_NO_ID,
                                                 .target = target));
    char said[400] = "";
    if (op) {
        xir_text_buffer text;
        const xir_object *element = xir_type_object(xir_type_element(xir_value_type(xir_op_output(op, 0))));
        assert_int_equal(xir_object_print(with, element, 0, &text), XIR_OK);
        snprintf(said, sizeof said, "%.*s", (int)text.size, text.data);
        xir_text_free(&text);
    } else {
        const xir_diag *found = xir_diags_at(xir_network_diags(net), 0);
        snprintf(said, sizeof said, "%.*s: %.*s", (int)found->path.size, found->path.data, (int)found->message.size,
                 found->message.data);
    }
    if (!strstr(said, expected)) fail_msg("%s on %s: expected '%s', found '%s'", key, layout, expected, said);
    xir_network_free(net);
}

static void each_target_infers_in_its_own_way(void **state) {
    (void)state;
    xir_context *with = fresh();
    must_load(with);
    const xir_target *npu = target_in(with, "npu", NULL), *dsp = target_in(with, "dsp", "v1"),
                     *custom = target_in(with, "custom", NULL);
    check_inferred(with, "acme::Twice",       "NCHW",    NULL,   "@fp(32)");
    check_inferred(with, "acme::Twice",       "NCHW",    npu,    "@fp(16)");
    check_inferred(with, "acme::Twice",       "NCHW",    dsp,    "@fp(64)");
    check_inferred(with, "acme::Twice",       "NCHW",    custom, "@fp(32)");
    check_inferred(with, "icraft::xir::ReLU", "NCHW",    NULL,   "@fp(32)");
    check_inferred(with, "icraft::xir::ReLU", "NCHW",    npu,    "@fp(16)");
    check_inferred(with, "icraft::xir::ReLU", "NCHW",    dsp,    "@fp(64)");
    check_inferred(with, "icraft::xir::Tanh", "NCHW",    npu,    "@fp(32)");
    const xir_class *relu = xir_class_find_decl(with, xir_relu_class());
    assert_true(xir_class_infers_on(relu, kind_in(with, "npu")) && xir_class_infers_on(relu, kind_in(with, "dsp")));
    assert_false(xir_class_infers_on(relu, XIR_TARGET_CUSTOM));
    xir_context_free(with);
}

/* ---- what a target runs ---------------------------------------------------------------------------------------- */

static bool rank_is_4(xir_infer *at)     { return xir_type_rank(xir_infer_output(at, 0)) == 4; }
static bool alpha_is_0(xir_infer *at)    { return ((const xir_relu_attrs *)xir_infer_attrs(at))->alpha == 0; }
static bool kernel_is_here(xir_infer *at) { return xir_infer_input_is_params(at, 1); }

/* As the host does, then in halves. */
static xir_status halve(xir_infer *at) {
    xir_context *in = xir_infer_context(at);
    xir_status status = xir_infer_as_host(at);
    if (status) return status;
    return xir_infer_change(at, 0, xir_type_with_element(in, xir_infer_output(at, 0),
                                                         xir_type_float(in, XIR_FLOAT_FP16), NULL));
}
static xir_status itself(xir_infer *at)  { return xir_infer_as_host(at); }
static xir_status too_far(xir_infer *at) { return xir_infer_change(at, 0, NULL); }

static const xir_target_rule some[] = {
    { NULL,             rank_is_4,      "results of 4 dims",           "reshape it"   },
    { xir_relu_class,   alpha_is_0,     "no slope",                    NULL           },
    { xir_conv2d_class, kernel_is_here, "a kernel that is a constant", NULL           },
}, only_common[] = { { NULL, rank_is_4, "results of 4 dims", NULL } };
static const xir_target_row picky  = { XIR_TARGET_HEAD("own::Picky", "picky", "a target"), XIR_TARGET_RULES(some) },
                            lenient = { XIR_TARGET_HEAD("own::Lenient", "lenient", "a target"),
                                        XIR_TARGET_RULES(only_common) };

static xir_context *with_rules(void) {
    xir_context *with = fresh();
    const xir_target_row *const rows[] = { &picky, &lenient };
    assert_int_equal(xir_target_register(with, rows, 2, why), XIR_OK);
    assert_int_equal(xir_infer_register(with, xir_relu_class(), kind_in(with, "picky"), halve), XIR_OK);
    return with;
}

/* The question, and that it changes nothing. */
static void check_try(xir_op *op, const xir_target *target, xir_status status, const char *sentence) {
    xir_network *net = xir_op_network(op);
    char *before = picture(net);
    xir_diags_clear(why);
    if (xir_op_try(op, target, why) != status) show_findings();
    assert_int_equal(xir_op_try(op, target, NULL), status);
    if (status) check_finding(status, sentence);
    else assert_int_equal(xir_diags_count(why), 0);
    char *after = picture(net);
    assert_string_equal(before, after);
    assert_int_equal(xir_network_status(net), XIR_OK);
    assert_int_equal(xir_diags_count(xir_network_diags(net)), 0);
    free(before);
    free(after);
    xir_diags_clear(why);
}

static void a_target_says_what_it_runs(void **state) {
    (void)state;
    xir_context *with = with_rules();
    xir_network *net = small_net_in(with);
    const xir_target *strict = target_in(with, "picky", NULL), *any = target_in(with, "lenient", NULL);
    check_try(op_of(net, 1), strict, XIR_OK, "");
    check_try(op_of(net, 2), strict, XIR_OK, "");
    check_try(op_of(net, 3), strict, XIR_E_UNSUPPORTED, "picky does not run this class");
    check_try(op_of(net, 3), any, XIR_OK, "");    /* its rules name no class */
    check_try(op_of(net, 3), NULL, XIR_OK, "");
    assert_int_equal(xir_op_set_real(op_of(net, 2), "alpha", 0.5), XIR_OK);
    check_try(op_of(net, 2), strict, XIR_E_UNSUPPORTED, "icraft::xir::ReLU 'relu': picky needs no slope");
    xir_value *computed = xir_build_relu((xir_at){ .net = net, .before = op_of(net, 1) }, value_of(net, 1), NULL);
    assert_int_equal(xir_op_set_input(op_of(net, 1), 1, computed), XIR_OK);
    check_try(op_of(net, 1), strict, XIR_E_UNSUPPORTED, "a kernel that is a constant");
    xir_network_free(net);
    xir_context_free(with);
}

/* Also the rules that are not about the class; and what mends it. */
static void every_broken_rule_is_a_finding(void **state) {
    (void)state;
    xir_context *with = with_rules();
    xir_network *net = xir_network_new(with, "flat", XIR_FRAMEWORK_PYTORCH, "v1.9");
    const xir_type *type = XIR_TENSOR(with, xir_type_float(with, XIR_FLOAT_FP32), "*", 3);
    xir_value *y = xir_build_relu(xir_at_end(net), xir_input(xir_at_end(net), "x", type), NULL);
    assert_int_equal(xir_op_set_real(xir_value_op(y), "alpha", 1), XIR_OK);
    const xir_target *strict = target_in(with, "picky", NULL);
    xir_diags_clear(why);
    assert_int_equal(xir_op_try(xir_value_op(y), strict, why), XIR_E_UNSUPPORTED);
    assert_int_equal(xir_diags_count(why), 2);
    check_finding(XIR_E_UNSUPPORTED, "picky needs no slope");   /* the last one */
    /* Validation asks the same about ops of the target. */
    assert_int_equal(xir_op_set_target(xir_value_op(y), strict), XIR_OK);
    xir_diags_clear(why);
    assert_int_equal(xir_op_validate(xir_value_op(y), why), XIR_E_UNSUPPORTED);
    CHECK_STR(xir_diags_at(why, 0)->message, "icraft::xir::ReLU: picky needs results of 4 dims; reshape it");
    xir_network_free(net);
    xir_context_free(with);
}

static void what_inference_refuses_is_not_legal(void **state) {
    (void)state;
    xir_context *with = with_rules();
    xir_network *net = small_net_in(with);
    xir_op *pool = op_of(net, 3), *dead = xir_op_clone(pool);
    assert_int_equal(xir_op_set_input(pool, 0, NULL), XIR_OK);
    check_try(pool, NULL, XIR_E_MISSING, "input is absent or has no type");
    assert_int_equal(xir_op_erase(dead), XIR_OK);
    assert_int_equal(xir_op_try(dead, NULL, why), XIR_E_INVALID);
    xir_op *unknown = xir_network_add(net, &XIR_INIT(xir_op_desc, .cls = xir_class_opaque(with, XIR_STR("who::Knows")),
                                                     INPUTS(value_of(net, 3)), TYPES(NULL), .id = XIR_NO_ID));
    check_try(unknown, NULL, XIR_E_UNKNOWN, "who::Knows is not known here");
    xir_network_free(net);
    xir_context_free(with);
}

/* Tiles that a target does not take are refused before the rules; types that inference cannot know are the op's. */
static void tiles_are_refused_and_given_types_stay(void **state) {
    (void)state;
    xir_context *with = with_rules();
    must_load(with);
    xir_network *net = small_net_in(with);
    xir_op *relu = op_of(net, 2);
    const xir_type *tiled = XIR_TENSOR(with, xir_type_float(with, XIR_FLOAT_FP32), "NCHWc32", 1, 1, 8, 8, 32);
    assert_int_equal(xir_value_set_type(value_of(net, 2), tiled), XIR_OK);
    check_try(relu, target_in(with, "npu", NULL), XIR_E_UNSUPPORTED, "which npu does not take");
    assert_int_equal(xir_value_set_type(value_of(net, 3), tiled), XIR_OK);
    assert_int_equal(xir_op_infer(op_of(net, 3), true), XIR_E_UNSUPPORTED);
    xir_network_clear_status(net);
    check_try(op_of(net, 3), NULL, XIR_OK, "");
    xir_network_free(net);
    xir_context_free(with);
}

static void inference_follows_the_host(void **state) {
    (void)state;
    xir_context *with = with_rules();
    check_inferred(with, "icraft::xir::ReLU", "NCHW", target_in(with, "picky", NULL), "@fp(16)");
    check_inferred(with, "icraft::xir::ReLU", "NCHW", NULL, "@fp(32)");
    assert_int_equal(xir_infer_register(with, xir_tanh_class(), XIR_TARGET_HOST, itself), XIR_OK);
    check_inferred(with, "icraft::xir::Tanh", "NCHW", NULL, "the host's rule asks for itself");
    assert_int_equal(xir_infer_register(with, xir_abs_class(), kind_in(with, "picky"), too_far), XIR_OK);
    check_inferred(with, "icraft::xir::Abs", "NCHW", target_in(with, "picky", NULL), "output 0 is changed, but 0 are");
    xir_context_free(with);
}

/* A target that takes tiles uses the rules that classes have for tiles, with the tile sizes that it takes. */
static void tiles_follow_the_row(void **state) {
    (void)state;
    xir_context *with = fresh();
    must_load(with);
    const xir_target *npu = target_in(with, "npu", NULL);
    const char *key = "icraft::xir::Add";
    const xir_class *add = xir_class_find(with, xir_str_of(key));
    assert_true(xir_class_infers_on(add, kind_in(with, "npu")) && xir_class_infers_on(add, XIR_TARGET_BUYI));
    assert_false(xir_class_infers_on(add, kind_in(with, "dsp")));
    check_inferred(with, key, "NCHWc16", npu, "@fp(32)");
    check_inferred(with, key, "NCHWc32", npu,
                   "/inputs/0: icraft::xir::Add: lhs has tiles of 32 elements, which npu does not");
    check_inferred(with, key, "NCHWc32", target_in(with, "buyi", NULL), "@fp(32)");
    check_inferred(with, "acme::Twice", "NCHWc32", npu, "which npu does not take");
    check_inferred(with, "acme::Twice", "NCHWc16", npu, "@fp(16)");
    xir_context_free(with);
}

static void ops_of_an_accelerator_belong_in_its_networks(void **state) {
    (void)state;
    xir_context *with = fresh();
    must_load(with);
    xir_network *net = xir_network_new(with, "n", XIR_FRAMEWORK_PYTORCH, "v1.9");
    xir_value *x = xir_input(xir_at_end(net), NULL, XIR_TENSOR(with, xir_type_float(with, XIR_FLOAT_FP32), "NC", 1, 2));
    xir_at at = xir_at_end(net);
    at.target = target_in(with, "npu", NULL);
    xir_value *y = XIR_RELU(at, x);
    assert_non_null(xir_output(xir_at_end(net), XIR_VALUES(y)));
    assert_int_equal(xir_network_validate(net, why), XIR_E_INVALID);
    check_finding(XIR_E_INVALID,
                  "the op targets acme::NpuTarget, but the network has no ai_target: expected the same");
    assert_false(xir_network_has_ai_target(net));
    DOES(xir_network_set_ai_target(net, xir_network_ai_target(net)));   /* the one of new networks, now on purpose */
    assert_true(xir_network_has_ai_target(net));
    assert_int_equal(xir_network_validate(net, why), XIR_E_INVALID);
    check_finding(XIR_E_INVALID, "the op targets acme::NpuTarget, but its network targets icraft::xir::BuyiTarget");
    DOES(xir_network_set_ai_target(net, at.target));
    xir_diags_clear(why);
    assert_int_equal(xir_network_validate(net, why), XIR_OK);
    DOES(xir_op_set_target(xir_value_op(y), target_in(with, "dsp", "v2")));   /* not an accelerator: any network may have it */
    assert_int_equal(xir_network_validate(net, why), XIR_OK);
    xir_network_free(net);
    xir_context_free(with);
}

/* ---- formats ---------------------------------------------------------------------------------------------------- */

static const char *const formats[] = { "json", "imodel", "fb" };

/* A network for one target with ops for both, one of them of a class that no schema has. */
static xir_network *network_in(xir_context *with) {
    xir_network *net = xir_network_new(with, "n", XIR_FRAMEWORK_PYTORCH, "v1.9");
    xir_value *x = xir_input(xir_at_end(net), NULL, XIR_TENSOR(with, xir_type_float(with, XIR_FLOAT_FP32), "NC", 1, 2));
    xir_at npu = xir_at_end(net), dsp = xir_at_end(net);
    npu.target = target_in(with, "npu", NULL);
    dsp.target = target_in(with, "dsp", "v2");
    xir_value *y = XIR_RELU(dsp, XIR_RELU(npu, x));
    xir_op *twice =
        xir_op_new(net, &XIR_INIT(xir_op_desc, .cls = xir_class_find(with, XIR_STR("acme::Twice")), INPUTS(y),
                                                    .id = XIR_NO_ID, .target = npu.target));
    assert_non_null(twice);
    DOES(xir_op_place(twice, NULL));
    assert_non_null(xir_output(xir_at_end(net), XIR_VALUES(xir_op_output(twice, 0))));
    DOES(xir_network_set_ai_target(net, npu.target));
    return net;
}

static bool put_in(void *user, const void *data, size_t size) {
    put_bytes(user, data, size);
    return true;
}

static paper written(xir_network *net, const char *format) {
    paper bytes = { 0 };
    xir_status status = xir_network_write(net, put_in, &bytes, &XIR_INIT(xir_save_options, .format = format), why);
    if (status) show_findings();
    assert_int_equal(status, XIR_OK);
    return bytes;
}

static xir_network *read_in(xir_context *with, const paper *bytes) {
    xir_network *net = xir_network_read(with, bytes->data, bytes->size, XIR_STR("x"), NULL, why);
    if (!net) show_findings();
    assert_non_null(net);
    return net;
}

static void check_written(xir_network *net, const char *format, const paper *expected) {
    paper bytes = written(net, format);
    check_same(bytes.data, bytes.size, expected->data, expected->size);
    free(bytes.data);
}

static void every_format_keeps_them_with_and_without_the_plugin(void **state) {
    (void)state;
    xir_context *knows = fresh(), *never = fresh();
    must_load(knows);
    xir_network *net = network_in(knows);
    paper bytes[COUNT(formats)];
    for (size_t i = 0; i < COUNT(formats); i++) bytes[i] = written(net, formats[i]);
    assert_non_null(strstr(bytes[0].data, "\"ai_target\":{\"_type_key\":\"acme::NpuTarget\"}"));
    assert_non_null(strstr(bytes[0].data, "\"compile_target\":{\"_type_key\":\"acme::DspTarget\",\"core\":\"v2\"}"));
    assert_non_null(memmem(bytes[2].data, bytes[2].size, "{\"_type_key\":\"acme::DspTarget\",\"core\":\"v2\"}", 43));
    assert_null(memmem(bytes[2].data, bytes[2].size, "compile_target", 14));
    xir_network_free(net);
    for (size_t i = 0; i < COUNT(formats); i++) {
        xir_network *with = read_in(knows, &bytes[i]), *without = read_in(never, &bytes[i]);
        const xir_target *a = xir_op_target(xir_network_op_at(with, 2)),
                          *b = xir_op_target(xir_network_op_at(without, 2));
        assert_int_equal(xir_target_kind_of(a), kind_in(knows, "dsp"));
        CHECK_STR(xir_target_core(a), "v2");
        assert_int_equal(xir_target_kind_of(b), XIR_TARGET_CUSTOM);
        assert_string_equal(xir_target_row_of(b)->name, "custom");
        CHECK_STR(xir_target_core(b), "");
        CHECK_STR(xir_class_key(xir_object_class((const xir_object *)b)), "acme::DspTarget");
        for (size_t k = 0; k < COUNT(formats); k++) {
            check_written(with, formats[k], &bytes[k]);
            check_written(without, formats[k], &bytes[k]);
        }
        xir_network_free(with);
        xir_network_free(without);
    }
    for (size_t i = 0; i < COUNT(formats); i++) free(bytes[i].data);
    xir_context_free(knows);
    xir_context_free(never);
}

static void targets_become_known_when_their_plugin_is_loaded(void **state) {
    (void)state;
    xir_context *knows = fresh();
    must_load(knows);
    xir_network *net = network_in(knows);
    for (size_t i = 0; i < COUNT(formats); i++) {
        xir_context *learns = fresh();
        paper bytes = written(net, formats[i]);
        xir_network *other = read_in(learns, &bytes);
        assert_int_equal(xir_network_resolve(other, why), XIR_OK);   /* nothing is known yet */
        assert_int_equal(xir_target_kind_of(xir_network_ai_target(other)), XIR_TARGET_CUSTOM);
        must_load(learns);
        assert_int_equal(xir_network_resolve(other, why), XIR_OK);
        assert_int_equal(xir_target_kind_of(xir_network_ai_target(other)), kind_in(learns, "npu"));
        assert_int_equal(xir_target_kind_of(xir_op_target(xir_network_op_at(other, 1))), kind_in(learns, "npu"));
        assert_int_equal(xir_target_kind_of(xir_op_target(xir_network_op_at(other, 2))), kind_in(learns, "dsp"));
        CHECK_STR(xir_target_core(xir_op_target(xir_network_op_at(other, 2))), "v2");
        check_written(other, formats[i], &bytes);
        assert_int_equal(xir_network_validate(other, why), XIR_OK);
        xir_network_free(other);
        free(bytes.data);
        xir_context_free(learns);
    }
    xir_network_free(net);
    xir_context_free(knows);
}

/* An attribute of a file that the class does not accept is unchanged. */
static void a_target_that_does_not_decode_is_unchanged(void **state) {
    (void)state;
    static const char text[] = NETWORK_OF("3.33.1.0",
        "{\"_type_key\":\"icraft::xir::Input\",\"compile_target\":{\"_type_key\":\"acme::DspTarget\",\"core\":2},\"inputs\":[],"
        "\"name\":\"\",\"op_id\":0,\"outputs\":[],\"tags\":{}}");
    xir_context *with = fresh();
    xir_network *net = xir_json_read(with, (xir_str){ text, sizeof text - 1 }, XIR_STR("x"), why);
    assert_non_null(net);
    must_load(with);
    xir_diags_clear(why);
    assert_int_equal(xir_network_resolve(net, why), XIR_E_TYPE);
    const xir_diag *found = xir_diags_at(why, 0);
    CHECK_STR(found->path, "/ops/0/compile_target/core");
    assert_int_equal(xir_target_kind_of(xir_op_target(xir_network_op_at(net, 0))), XIR_TARGET_CUSTOM);
    xir_network_free(net);
    xir_context_free(with);
}

/* ---- plug-ins --------------------------------------------------------------------------------------------------- */

static void bad_plugins_leave_no_target(void **state) {
    (void)state;
    static const struct { const char *way; xir_status status; const char *sentence; } ways[] = {
        { "no targets", XIR_E_UNKNOWN, "class acme::Twice infers on acme::NpuTarget, which is not a registered target" },
        { "NULL",       XIR_E_INVALID, "the list of targets of the plug-in is NULL, but its length is 2" },
        { "a NULL",     XIR_E_INVALID, "target 1 is NULL" },
        { "twice",      XIR_E_EXISTS,  "is taken by acme::NpuTarget" },
        { "again",      XIR_E_EXISTS,  "inference of acme::Twice on npu has been registered already" },
        { "lost",       XIR_E_UNKNOWN, "inference 0 is on acme::NoTarget, which is not a registered target" },
        { "no target",  XIR_E_UNKNOWN, "inference 0 is on icraft::xir::HostMem, which is not a registered target" },
    };
    xir_context *with = fresh();
    for (size_t i = 0; i < COUNT(ways); i++) {
        setenv("XIR_NPU", ways[i].way, 1);
        xir_diags_clear(why);
        assert_int_equal(xir_plugin_load(with, NPU, NULL), ways[i].status);
        assert_int_equal(xir_plugin_load(with, NPU, why), ways[i].status);
        check_finding(ways[i].status, ways[i].sentence);
        assert_null(xir_target_row_at(with, XIR_TARGET_COUNT));
        assert_null(xir_class_find(with, XIR_STR("acme::NpuTarget")));
    }
    unsetenv("XIR_NPU");
    must_load(with);
    xir_context_free(with);
}

/* A program does not have the struct of attributes of a plug-in's class. */
static void an_op_that_needs_an_attribute_is_made_by_names(void **state) {
    (void)state;
    xir_context *with = fresh();
    must_load(with);
    xir_network *net = xir_network_new(with, "n", XIR_FRAMEWORK_PYTORCH, "v1.9");
    xir_value *x = xir_input(xir_at_end(net), NULL, XIR_TENSOR(with, xir_type_float(with, XIR_FLOAT_FP32), "NC", 1, 2));
    const xir_class *grow = xir_class_find(with, XIR_STR("acme::Grow"));
    const xir_named_attr by = { XIR_STR("by"), { .kind = XIR_KIND_I64, .as.i64 = 2 } },
                         much = { XIR_STR("by"), { .kind = XIR_KIND_I64, .as.i64 = 5 } },
                         text = { XIR_STR("by"), { .kind = XIR_KIND_TEXT, .as.text = XIR_STR("2") } },
                         other = { XIR_STR("bye"), { .kind = XIR_KIND_I64, .as.i64 = 2 } };
#define GROW(...) xir_network_add(net, &XIR_INIT(xir_op_desc, .cls = grow, INPUTS(x), .id = XIR_NO_ID, __VA_ARGS__))
    REFUSES_NULL(net, GROW(.n_named = 0), XIR_E_MISSING, "attribute by of acme::Grow has no default and is not set");
    REFUSES_NULL(net, GROW(.named = &much, .n_named = 1), XIR_E_BOUNDS, "5 is above 4");
    REFUSES_NULL(net, GROW(.named = &text, .n_named = 1), XIR_E_TYPE, "expected a value of kind int64, found string");
    REFUSES_NULL(net, GROW(.named = &other, .n_named = 1), XIR_E_UNKNOWN, "has no attribute 'bye'; did you mean 'by'?");
    xir_op *op = GROW(.named = &by, .n_named = 1);
    assert_non_null(op);
    xir_attr now;
    DOES(xir_op_get(op, XIR_STR("by"), &now));
    assert_int_equal(now.as.i64, 2);
    assert_int_equal(xir_type_rank(xir_value_type(xir_op_output(op, 0))), 4);
    /* For a struct: here the same one with another number. */
    const struct { int64_t by; uint32_t made; } gap = { 1, 0 }, over = { 1, XIR_MADE_ };
    REFUSES_NULL(net, GROW(.attrs = &gap, .named = &by, .n_named = 1), XIR_E_INVALID,
                 "expected a struct from xir_npu_grow_init()");
    op = GROW(.attrs = &over, .named = &by, .n_named = 1);
    DOES(xir_op_get(op, XIR_STR("by"), &now));
    assert_int_equal(now.as.i64, 2);
    xir_network_free(net);
    xir_context_free(with);
}

static bool load_and_make(xir_context *with) {
    xir_status status = xir_plugin_load(with, NPU, NULL);
    assert_true(status == XIR_OK || status == XIR_E_MEMORY);
    assert_int_equal(kind_in(with, "npu") >= 0, status == XIR_OK);
    assert_int_equal(xir_class_find(with, XIR_STR("acme::NpuTarget")) != NULL, status == XIR_OK);
    return status == XIR_OK && target_in(with, "dsp", "v1");
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    check_memory(load_and_make);
}

static void *add_some(void *user) {
    xir_context *with = user;
    const xir_target_row *const rows[] = { &plain, &cored };
    for (int i = 0; i < 20; i++) {
        xir_status status = xir_target_register(with, rows, 2, NULL);
        if (status && status != XIR_E_EXISTS) return user;
        if (kind_in(with, "cored-2") != XIR_TARGET_COUNT + 1 || !target_in(with, "cored-2", "a")) return user;
    }
    return NULL;
}

static void threads_may_register_at_once(void **state) {
    (void)state;
    xir_context *with = fresh();
    pthread_t threads[4];
    for (size_t i = 0; i < COUNT(threads); i++) assert_int_equal(pthread_create(&threads[i], NULL, add_some, with), 0);
    for (size_t i = 0; i < COUNT(threads); i++) {
        void *failed;
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
    assert_null(xir_target_row_at(with, XIR_TARGET_COUNT + 2));
    xir_context_free(with);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_library_has_six),
        cmocka_unit_test(a_program_adds_its_own),
        cmocka_unit_test(rows_are_checked),
        cmocka_unit_test(there_are_no_more_than_32),
        cmocka_unit_test(each_target_infers_in_its_own_way),
        cmocka_unit_test(a_target_says_what_it_runs),
        cmocka_unit_test(every_broken_rule_is_a_finding),
        cmocka_unit_test(what_inference_refuses_is_not_legal),
        cmocka_unit_test(tiles_are_refused_and_given_types_stay),
        cmocka_unit_test(inference_follows_the_host),
        cmocka_unit_test(tiles_follow_the_row),
        cmocka_unit_test(ops_of_an_accelerator_belong_in_its_networks),
        cmocka_unit_test(every_format_keeps_them_with_and_without_the_plugin),
        cmocka_unit_test(targets_become_known_when_their_plugin_is_loaded),
        cmocka_unit_test(a_target_that_does_not_decode_is_unchanged),
        cmocka_unit_test(bad_plugins_leave_no_target),
        cmocka_unit_test(an_op_that_needs_an_attribute_is_made_by_names),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(threads_may_register_at_once),
    };
    return RUN_GROUP(tests);
}
