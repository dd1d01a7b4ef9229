/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Plug-ins: what loading one registers, what is refused and then leaves the context unchanged; ops of unknown
 * classes that become known. */
#include <elf.h>
#include <math.h>
#include <pthread.h>
#include <xir/icraft.h>
#include "context.h"
#include "support/net.h"
#include "support/own.h"
#include "support/scratch.h"
#include "support/skips.h"
#undef FP32                      /* it is the text of a type here */
#include "support/json_net.h"   /* last: its ctx and why are names in the rows above */

#define MODULE(name) XIR_TEST_PLUGINS "/" name ".so"
#define FLATTEN      MODULE("flatten")

static xir_context *fresh(void) {
    xir_context *with = xir_context_new(NULL);
    assert_non_null(with);
    return with;
}

static void must_load(xir_context *with, const char *path) {
    xir_status status = xir_plugin_load(with, path, why);
    if (status) show_findings();
    assert_int_equal(status, XIR_OK);
    assert_int_equal(xir_diags_count(why), 0);
}

static size_t class_count(xir_context *in) {
    size_t n = 0;
    while (xir_context_class_at(in, n)) n++;
    return n;
}

static size_t plugin_count(xir_context *in) {
    size_t n = 0;
    xir_str name, path;
    while (xir_context_plugin_at(in, n, &name, &path)) n++;
    return n;
}

static const xir_class *flatten_in(xir_context *with) { return xir_class_find(with, XIR_STR("whatever::Flatten")); }

static const xir_type *fp32_in(xir_context *with) { return xir_type_float(with, XIR_FLOAT_FP32); }

/* ---- linked in --------------------------------------------------------------------------------------------------- */

static xir_class_fn *const grains[] = { xir_own_thing_class, xir_own_grain_class };
static const xir_plugin linked = { XIR_PLUGIN_HEAD("linked"), .classes = grains, .n_classes = 2 };

static void a_description_of_the_program_is_added(void **state) {
    (void)state;
    xir_context *with = fresh();
    size_t before = class_count(with);
    DOES(xir_plugin_add(with, &linked, why));
    assert_int_equal(class_count(with), before + 2);
    assert_non_null(xir_class_find(with, XIR_STR("test::Grain")));
    xir_str name, path;
    assert_true(xir_context_plugin_at(with, 0, &name, &path));
    CHECK_STR(name, "linked");
    CHECK_STR(path, "linked");
    DOES(xir_plugin_add(with, &linked, why));   /* which is there already */
    assert_int_equal(plugin_count(with), 1);
    must_load(with, FLATTEN);
    assert_int_equal(plugin_count(with), 2);
    xir_context_free(with);
}

static void a_description_is_refused_as_a_file_is(void **state) {
    (void)state;
    static xir_class_fn *const none[] = { NULL };
    static const struct { xir_plugin said; xir_status status; const char *part; } rows[] = {
        { { .abi = XIR_ABI + 1, .size = sizeof(xir_plugin), .name = "x" }, XIR_E_ABI, "the binary interface" },
        { { .abi = XIR_ABI, .size = 8, .name = "x" }, XIR_E_ABI, "has 8 bytes" },
        { { XIR_PLUGIN_HEAD("") }, XIR_E_INVALID, "has no name" },
        { { XIR_PLUGIN_HEAD("x"), .n_classes = 1 }, XIR_E_INVALID, "list of classes of the plug-in is NULL, but its length is 1" },
        { { XIR_PLUGIN_HEAD("x"), .classes = none, .n_classes = 1 }, XIR_E_INVALID, "class 0 of the plug-in is NULL" },
        { { XIR_PLUGIN_HEAD("x"), .classes = &grains[1], .n_classes = 1 }, XIR_E_UNKNOWN, "test::Thing" },
    };
    xir_context *with = fresh();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(xir_plugin_add(with, &rows[i].said, why), rows[i].status);
        assert_non_null(strstr(xir_diags_at(why, 0)->message.data, rows[i].part));
        xir_diags_clear(why);
    }
    assert_int_equal(xir_plugin_add(with, NULL, why), XIR_E_INVALID);
    xir_diags_clear(why);
    assert_int_equal(plugin_count(with), 0);
    assert_null(xir_class_find(with, XIR_STR("test::Grain")));
    xir_context_free(with);
}

/* ---- loading ---------------------------------------------------------------------------------------------------- */

static void a_plugin_brings_its_classes(void **state) {
    (void)state;
    xir_context *with = fresh();
    size_t before = class_count(with);
    assert_null(flatten_in(with));
    must_load(with, FLATTEN);
    const xir_class *flatten = flatten_in(with);
    assert_non_null(flatten);
    assert_int_equal(class_count(with), before + 1);
    assert_ptr_equal(xir_context_class_at(with, before), flatten);
    const xir_field *start = xir_class_field(flatten, XIR_STR("start"));
    assert_true(start->default_value.i == 1 && start->min.i == 0 && start->max.i == 7);
    CHECK_STR(xir_class_input_at(flatten, 0)->name, "input");
    assert_true(xir_class_infers_on(flatten, XIR_TARGET_BUYI) && !xir_class_infers_on(flatten, XIR_TARGET_ZHUGE));
    CHECK_STR(xir_class_note(flatten, XIR_DECL_UNLIKE, 0), "PyTorch: there is no end_dim, all axes to the last are merged");
    xir_str name, path;
    assert_true(xir_context_plugin_at(with, 0, &name, &path));
    CHECK_STR(name, "whatever");
    CHECK_STR(path, FLATTEN);
    assert_false(xir_context_plugin_at(with, 1, &name, &path));
    xir_context_free(with);
}

static void a_plugin_is_not_loaded_twice(void **state) {
    (void)state;
    xir_context *with = fresh();
    must_load(with, FLATTEN);
    const xir_class *flatten = flatten_in(with);
    size_t classes = class_count(with);
    must_load(with, FLATTEN);
    char *whole = realpath(FLATTEN, NULL);
    assert_non_null(whole);
    assert_int_equal(symlink(whole, scratch("link.so")), 0);
    free(whole);
    must_load(with, scratch("link.so"));
    assert_int_equal(class_count(with), classes);
    assert_int_equal(plugin_count(with), 1);
    assert_ptr_equal(flatten_in(with), flatten);
    /* A copy of the file is another plug-in, whose class exists already. */
    size_t size;
    uint8_t *bytes = scratch_get(FLATTEN, &size);
    scratch_put(scratch("copy.so"), bytes, size);
    free(bytes);
    assert_int_equal(xir_plugin_load(with, scratch("copy.so"), why), XIR_E_EXISTS);
    check_finding(XIR_E_EXISTS, "whatever::Flatten is registered already");
    assert_int_equal(plugin_count(with), 1);
    xir_context_free(with);
}

static void contexts_have_plugins_of_their_own(void **state) {
    (void)state;
    xir_context *a = fresh(), *b = fresh();
    must_load(a, FLATTEN);
    assert_null(flatten_in(b));
    must_load(b, FLATTEN);
    assert_ptr_not_equal(flatten_in(a), flatten_in(b));
    xir_context_free(a);
    CHECK_STR(xir_class_doc(flatten_in(b)), "all axes from 'start' on become one");        /* it is still loaded */
    xir_context_free(b);
}

static void paths_are_used_unchanged(void **state) {
    (void)state;
    char old[4096];
    assert_non_null(getcwd(old, sizeof old));
    assert_int_equal(chdir(XIR_TEST_PLUGINS), 0);
    xir_context *with = fresh();
    must_load(with, "flatten.so");
    must_load(with, "./flatten.so");
    assert_int_equal(plugin_count(with), 1);
    xir_str name, path;
    assert_true(xir_context_plugin_at(with, 0, &name, &path));
    CHECK_STR(path, "flatten.so");
    assert_int_equal(chdir("/"), 0);
    assert_int_equal(xir_plugin_load(with, "libm.so.6", why), XIR_E_IO);   /* the system's folders are not searched */
    check_finding(XIR_E_IO, "No such file");
    assert_int_equal(chdir(old), 0);
    xir_context_free(with);
}

/* ---- building --------------------------------------------------------------------------------------------------- */

/* The example of the specification that XIR implements, §5.3, as far as XIR has its ops: `flatten` with an attribute
 * that it does not declare. */
static xir_network *network_with_flatten(xir_context *with) {
    xir_network *net = xir_network_new(with, "custom", XIR_FRAMEWORK_PYTORCH, "v1.9");
    xir_at at = xir_at_end(net);
    xir_value *input = xir_input(at, NULL, XIR_TENSOR(with, fp32_in(with), "NHWC", 1, 32, 32, 3));
    xir_value *relu = XIR_RELU(at, input);
    xir_op *flatten = xir_op_new(net, &XIR_INIT(xir_op_desc, .cls = flatten_in(with), INPUTS(relu), .id = XIR_NO_ID));
    assert_non_null(flatten);
    const xir_any numbers[] = { xir_any_int(1), xir_any_int(2), xir_any_int(3), xir_any_int(4) };
    const xir_any list = xir_any_list(numbers, 4);
    DOES(xir_op_set_extra(flatten, XIR_STR("unused"), &list));
    DOES(xir_op_place(flatten, NULL));
    assert_true(xir_op_is_activation(xir_value_op(relu)));
    assert_false(xir_op_is_activation(flatten));
    assert_non_null(xir_output(at, XIR_VALUES(xir_op_output(flatten, 0))));
    assert_int_equal(xir_network_status(net), XIR_OK);
    return net;
}

static const char flatten_text[] =
    "{\"_type_key\":\"whatever::Flatten\",\"compile_target\":\"@hostt\",\"inputs\":[{\"_type_key\":\"icraft::xir::Value\",\"dtype\":"
    "{\"_type_key\":\"icraft::xir::TensorType\",\"element_dtype\":\"@fp(32)\",\"layout\":\"@layout(NHWC)\",\"merged_distrs\":[],\"shape\":"
    "[1,32,32,3]},\"mtype\":\"@hostm\",\"name\":\"\",\"tags\":{},\"v_id\":1}],\"name\":\"\",\"op_id\":2,\"outputs\":[{\"_type_key\":"
    "\"icraft::xir::Value\",\"dtype\":{\"_type_key\":\"icraft::xir::TensorType\",\"element_dtype\":\"@fp(32)\",\"layout\":\"@layout(**)\","
    "\"merged_distrs\":[],\"shape\":[1,3072]},\"mtype\":\"@hostm\",\"name\":\"\",\"tags\":{},\"v_id\":2}],\"start\":1,\"tags\":{},"
    "\"unused\":[1,2,3,4]}";

static void a_network_is_built_with_a_class_of_a_plugin(void **state) {
    (void)state;
    xir_context *with = fresh();
    must_load(with, FLATTEN);
    xir_network *net = network_with_flatten(with);
    xir_text_buffer text;
    assert_int_equal(xir_op_print(xir_network_op_at(net, 2), 0, &text), XIR_OK);
    check_same(text.data, text.size, flatten_text, sizeof flatten_text - 1);
    xir_text_free(&text);
    assert_int_equal(xir_network_validate(net, why), XIR_OK);
    xir_op *flatten = xir_network_op_at(net, 2);
    DOES(xir_op_set_i64(flatten, "start", 2));
    DOES(xir_op_infer(flatten, true));
    const xir_type *type = xir_value_type(xir_op_output(flatten, 0));
    assert_true(xir_type_rank(type) == 3 && xir_type_dim(type, 2, false) == 96);
    assert_int_equal(xir_op_set_i64(flatten, "start", 8), XIR_E_BOUNDS);
    xir_network_clear_status(net);
    /* The context lives as long as the network, and the plug-in as long as the context. */
    xir_context_free(with);
    assert_int_equal(xir_network_validate(net, why), XIR_OK);
    xir_network_free(net);
}

/* The type that Flatten infers on a target, or the finding. */
static void check_inferred(xir_context *with, const char *input, int64_t start, xir_target_kind target,
                           const char *expected) {
    const xir_type *type = (const xir_type *)xir_object_parse(with, xir_str_of(input), why);
    assert_non_null(type);
    xir_network *net = xir_network_new(with, "types", XIR_FRAMEWORK_PYTORCH, "v1.9");
    xir_value *x = xir_input(xir_at_end(net), NULL, type);
    const xir_named_attr given = { XIR_STR("start"), { .kind = XIR_KIND_I64, .as.i64 = start } };
    xir_op *op = xir_op_new(net, &XIR_INIT(xir_op_desc, .cls = flatten_in(with), INPUTS(x),
                                           .named = &given, .n_named = 1,
                                           .id = XIR_NO_ID,
                                                 .target = xir_target_of_kind(with, target, "330")));
    if (op) {
        const xir_type *inferred = xir_value_type(xir_op_output(op, 0));
        xir_text_buffer text;
        DOES(xir_object_print(with, xir_type_object(inferred), 0, &text));
        check_same(text.data, text.size, expected, strlen(expected));
        xir_text_free(&text);
    } else {
        const xir_diag *found = xir_diags_at(xir_network_diags(net), 0);
        assert_non_null(found);
        char said[400];
        snprintf(said, sizeof said, "%.*s: %.*s", (int)found->path.size, found->path.data, (int)found->message.size,
                 found->message.data);
        if (!strstr(said, expected)) fail_msg("expected '%s', found '%s'", expected, said);
    }
    xir_network_free(net);
}

#define TENSOR_TEXT(element, layout, distrs, shape) \
    "{\"_type_key\":\"icraft::xir::TensorType\",\"element_dtype\":\"" element "\",\"layout\":\"@layout(" layout ")\",\"merged_distrs\":[" \
    distrs "],\"shape\":" shape "}"
#define FP(layout, shape)       TENSOR_TEXT("@fp(32)", layout, "", shape)
#define VALID(layout, n, shape) TENSOR_TEXT("@tf(32)", layout, "\"@merged_distr([1, 4]^ZERO:{v:[0, " n ")})\"", shape)

static void inference_depends_on_the_target(void **state) {
    (void)state;
    xir_context *with = fresh();
    must_load(with, FLATTEN);
    const xir_target_kind host = XIR_TARGET_HOST, buyi = XIR_TARGET_BUYI, zhuge = XIR_TARGET_ZHUGE;
    check_inferred(with, FP("NHWC", "[1,32,32,3]"), 1, host, FP("**", "[1,3072]"));
    check_inferred(with, FP("NHWC", "[2,32,32,3]"), 0, host, FP("*", "[6144]"));
    check_inferred(with, FP("NHWC", "[1,32,32,3]"), 3, host, FP("****", "[1,32,32,3]"));
    check_inferred(with, FP("NHWC", "[1,-1,32,3]"), 1, host, FP("**", "[1,-1]"));
    check_inferred(with, FP("NHWC", "[-1,4,32,3]"), 1, host, FP("**", "[-1,384]"));
    check_inferred(with, FP("NHWC", "[1,-1,0,3]"),  1, host, FP("**", "[1,0]"));
    check_inferred(with, FP("**", "[3037000500,3037000500]"), 0, host,
                   "/inputs/0: whatever::Flatten: the product of 2 dims exceeds 64 bits");
    check_inferred(with, FP("NHWC", "[1,32,32,3]"), 4, host,
                   "/start: whatever::Flatten: start is 4: expected an axis of input's 4");
    check_inferred(with, FP("NHWC", "[1,32,32,3]"), 8, host, "/start: 8 is above 7");
    check_inferred(with, "\"@fp(32)\"", 0, host, "/inputs/0: whatever::Flatten: input is not a tensor");
    check_inferred(with, VALID("NCHWc32", "64", "[1,2,8,8,32]"), 1, host, "input is tiled (NCHWc32)");
    check_inferred(with, VALID("NCHWc32", "64", "[1,2,8,8,32]"), 1, zhuge, "input is tiled (NCHWc32)");
    check_inferred(with, VALID("NCHWc32", "64", "[1,2,8,8,32]"), 1, buyi,
                   TENSOR_TEXT("@tf(32)", "*Cc32", "", "[1,128,32]"));
    check_inferred(with, VALID("NCHWc32", "64", "[1,2,-1,8,32]"), 2, buyi,
                   TENSOR_TEXT("@tf(32)", "**Cc32", "", "[1,2,-1,32]"));
    check_inferred(with, VALID("NCHWc32", "65", "[1,3,8,8,32]"), 1, buyi, "65 of 96 channels are valid");
    check_inferred(with, VALID("NCHWc32", "64", "[1,2,8,8,32]"), 4, buyi, "axes before its unit");
    check_inferred(with, FP("NHWC", "[1,32,32,3]"), 1, buyi, FP("**", "[1,3072]"));
    xir_context_free(with);
}

/* Files are not checked when they are read, so a rule of a plug-in may be called for anything. */
static void inference_meets_attributes_that_rows_forbid(void **state) {
    (void)state;
    xir_context *with = fresh();
    must_load(with, FLATTEN);
    static const char *const starts[] = { "\"start\":9", "\"start\":-1", "\"start\":9223372036854775807",
                                          "\"start\":-9223372036854775808" };
    for (size_t i = 0; i < COUNT(starts); i++) {
        paper p = { 0 };
        const char *at = strstr(flatten_text, "\"start\":1");
        put(&p, "{\"_type_key\":\"icraft::xir::Network\",\"ops\":[");
        put_bytes(&p, flatten_text, (size_t)(at - flatten_text));
        put(&p, "%s%s]}", starts[i], at + 9);
        xir_network *net = xir_json_read(with, (xir_str){ p.data, p.size }, XIR_STR("x"), why);
        if (!net) show_findings();
        assert_int_equal(xir_op_infer(xir_network_first(net), true), XIR_E_BOUNDS);
        xir_network_free(net);
        free(p.data);
    }
    xir_context_free(with);
}

/* ---- what it refuses -------------------------------------------------------------------------------------------- */

/* Everything that a context lists of classes and plug-ins, and the functions that infer. */
static char *picture_of_context(xir_context *with) {
    paper p = { 0 };
    const xir_class *cls;
    for (size_t i = 0; (cls = xir_context_class_at(with, i)); i++) {
        put(&p, "%s%s", cls->key.data, xir_class_find(with, cls->key) == cls ? "" : " not found");
        for (size_t k = 0; xir_class_note(cls, XIR_DECL_ALIAS, k).size; k++)
            put(&p, " %s", xir_class_note(cls, XIR_DECL_ALIAS, k).data);
        for (unsigned t = 0; t < XIR_TARGET_MAX; t++) {
            xir_infer_fn *fn = class_infer_of(cls, t);
            unsigned char bytes[sizeof fn];
            if (!fn && t >= XIR_TARGET_COUNT) continue;
            memcpy(bytes, &fn, sizeof bytes);
            for (size_t k = 0; k < sizeof bytes; k++) put(&p, "%02x", bytes[k]);
        }
        put(&p, "\n");
    }
    xir_str name, path;
    for (size_t i = 0; xir_pass_at(with, i); i++) put(&p, "%s\n", xir_pass_at(with, i)->name);
    for (size_t i = 0; xir_convert_at(with, i); i++) put(&p, "%s\n", xir_convert_at(with, i)->name);
    for (size_t i = 0; xir_context_plugin_at(with, i, &name, &path); i++)
        put(&p, "%.*s %.*s\n", (int)name.size, name.data, (int)path.size, path.data);
    static const char *const keys[] = { "bad::First", "bad::Erst", "bad::Second", "bad::Alias", "bad::Thing",
                                        "icraft::xir::Relu" };
    for (size_t i = 0; i < COUNT(keys); i++)
        put(&p, "%s: %d\n", keys[i], xir_class_find(with, xir_str_of(keys[i])) != NULL);
    return p.data;
}

static void check_refused(xir_context *with, const char *path, xir_status status, const char *sentence) {
    char *before = picture_of_context(with);
    assert_int_equal(xir_plugin_load(with, path, NULL), status);
    xir_status found = xir_plugin_load(with, path, why);
    if (found != status) {
        show_findings();
        fail_msg("%s: found %s, expected %s", sentence, xir_status_name(found), xir_status_name(status));
    }
    assert_int_equal(xir_diags_count(why), 1);
    const xir_diag *diag = xir_diags_at(why, 0);
    CHECK_STR(diag->file, path);
    if (!memmem(diag->message.data, diag->message.size, sentence, strlen(sentence))) {
        fail_msg("expected '%s', found '%.*s'", sentence, (int)diag->message.size, diag->message.data);
    }
    check_finding(status, sentence);
    char *after = picture_of_context(with);
    assert_string_equal(after, before);
    free(before);
    free(after);
}

static void files_that_are_not_plugins(void **state) {
    (void)state;
    xir_context *with = fresh();
    check_refused(with, scratch("nowhere.so"), XIR_E_IO, "cannot be loaded: No such file");
    check_refused(with, "", XIR_E_IO, "cannot be loaded: No such file");
    check_refused(with, XIR_TEST_PLUGINS, XIR_E_IO, "it is not a regular file");
    check_refused(with, "/dev/null", XIR_E_IO, "it is not a regular file");
    scratch_put(scratch("text.so"), "no shared object\n", 17);
    check_refused(with, scratch("text.so"), XIR_E_UNSUPPORTED, "the system cannot load it: ");
    scratch_put(scratch("empty.so"), "", 0);
    check_refused(with, scratch("empty.so"), XIR_E_UNSUPPORTED, "the system cannot load it: ");
    check_refused(with, MODULE("undefined"), XIR_E_UNSUPPORTED, "undefined symbol: xir_of_the_future");
    check_refused(with, MODULE("no_entry"), XIR_E_MISSING, "there is no xir_plugin_entry in it");
    size_t size;
    uint8_t *bytes = scratch_get(FLATTEN, &size);
    scratch_put(scratch("cut.so"), bytes, 60);
    check_refused(with, scratch("cut.so"), XIR_E_UNSUPPORTED, "the system cannot load it: ");
    const size_t cuts[] = { 64, 200, 4096, 5000, size / 4, size / 2, size - 4096, size - 1 };
    for (size_t i = 0; i < COUNT(cuts); i++) {
        scratch_put(scratch("cut.so"), bytes, cuts[i]);
        check_refused(with, scratch("cut.so"), XIR_E_CORRUPT, "the file is cut off: it has ");
    }
    /* If there is no table of sections, the segments are read. */
    memset(bytes + offsetof(Elf64_Ehdr, e_shoff), 0, sizeof(Elf64_Off));
    scratch_put(scratch("cut.so"), bytes, 5000);
    check_refused(with, scratch("cut.so"), XIR_E_CORRUPT,
                  "the file is cut off: it has 5000 bytes, its headers speak of ");
    /* Headers with sizes and offsets whose sum exceeds 64 bits. */
    memset(bytes + offsetof(Elf64_Ehdr, e_shoff), 0xFF, sizeof(Elf64_Off));
    scratch_put(scratch("cut.so"), bytes, size);
    check_refused(with, scratch("cut.so"), XIR_E_CORRUPT, "its headers speak of 18446744073709551615");
    free(bytes);
    must_load(with, FLATTEN);
    xir_context_free(with);
}

typedef struct bad_plugin {
    const char *way;
    xir_status  status;
    const char *sentence;
} bad_plugin;

static const bad_plugin bad_plugins[] = {
    { "nothing",     XIR_E_INVALID,     "xir_plugin_entry gives NULL" },
    { "abi",         XIR_E_ABI,         "built for version 4 of the binary interface, this library has 3" },
    { "abi 0",       XIR_E_ABI,         "built for version 0 of the binary interface, this library has 3" },
    { "abi 1",       XIR_E_ABI,         "built for version 1 of the binary interface, this library has 3" },
    { "infer size",  XIR_E_ABI,         "the plug-in's inferences have 0 bytes and its kernels 0, at least 24 and 16 were expected" },
    { "kernel size", XIR_E_ABI,         "the plug-in's inferences have 32 bytes and its kernels 0, at least" },
    { "large row",   XIR_E_UNSUPPORTED, "class bad::Large sets a member that this version does not know" },
    { "large infer", XIR_E_UNSUPPORTED, "inference 1 of the plug-in sets a member that this version does not know" },
    { "large kernel", XIR_E_UNSUPPORTED, "kernel 1 of the plug-in sets a member that this version does not know" },
    { "large option", XIR_E_UNSUPPORTED, "the pass bad-large sets a member that this version does not know" },
    { "size",        XIR_E_ABI,         "bytes, at least " },
    { "size 0",      XIR_E_ABI,         "has 0 bytes, at least " },
    { "later and more", XIR_E_UNSUPPORTED, "sets a member that this version does not know" },
    { "no library",  XIR_E_ABI,         "another copy of the library (none)" },
    { "library",     XIR_E_ABI,         "another copy of the library (0.0.1)" },
    { "no name",     XIR_E_INVALID,     "has no name" },
    { "empty name",  XIR_E_INVALID,     "has no name" },
    { "classes",     XIR_E_INVALID,     "list of classes of the plug-in is NULL, but its length is 2" },
    { "class",       XIR_E_INVALID,     "class 2 of the plug-in is NULL" },
    { "no class",    XIR_E_INVALID,     "class 2 of the plug-in is NULL" },
    { "infers",      XIR_E_INVALID,     "list of inferences of the plug-in is NULL, but its length is 1" },
    { "infer",       XIR_E_INVALID,     "inference 0 of the plug-in is NULL" },
    { "infer of",    XIR_E_INVALID,     "inference 0 of the plug-in is NULL" },
    { "target",      XIR_E_INVALID,     "inference 0 of the plug-in is for no known target" },
    { "stranger",    XIR_E_UNKNOWN,     "inference 1 is of bad::Ref, which is not a registered operation" },
    { "object",      XIR_E_UNKNOWN,     "inference 0 is of icraft::xir::AlignedUnit, which is not a registered operation" },
    { "infer twice", XIR_E_EXISTS,      "inference of icraft::xir::ReLU on wolong has been registered already" },
    { "twice",       XIR_E_EXISTS,      "the class bad::First is registered already" },
    { "key",         XIR_E_EXISTS,      "the class icraft::xir::Conv2d is registered already" },
    { "old key",     XIR_E_EXISTS,      "class icraft::xir::Relu: the key is an old one of icraft::xir::ReLU" },
    { "alias",       XIR_E_EXISTS,      "class bad::Alias: the key icraft::xir::Conv2d is taken by icraft::xir::Conv2d" },
    { "own key",     XIR_E_EXISTS,      "the class bad::First is registered already" },
    { "own old key", XIR_E_EXISTS,      "class bad::Erst: the key is an old one of bad::First" },
    { "own alias",   XIR_E_EXISTS,      "class bad::Erster: the key bad::Erst is taken by bad::First" },
    { "builtin",     XIR_E_EXISTS,      "the class icraft::xir::Conv2d is registered already" },
    { "bounds",      XIR_E_INVALID,     "class bad::Bounds: the default of 'count' is outside its bounds" },
    { "order",       XIR_E_UNKNOWN,     "class bad::Ref refers to bad::Thing, which is not registered" },
    { "passes",      XIR_E_INVALID,     "list of passes of the plug-in is NULL, but its length is 1" },
    { "pass",        XIR_E_INVALID,     "pass 1 of the plug-in is NULL" },
    { "pass name",   XIR_E_INVALID,     "'Bad' is not a name for a pass" },
    { "pass order",  XIR_E_INVALID,     "the pass bad-second needs bad-first, which is not registered" },
    { "lost pass",   XIR_E_INVALID,     "the pass bad-lost needs bad-nobody, which is not registered" },
    { "pass twice",  XIR_E_EXISTS,      "there is a pass 'bad-first' already" },
    { "old pass",    XIR_E_EXISTS,      "there is a pass 'dce' already" },
    { "kernels",     XIR_E_INVALID,     "list of kernels of the plug-in is NULL, but its length is 1" },
    { "kernel",      XIR_E_INVALID,     "kernel 0 of the plug-in is NULL" },
    { "kernel of",   XIR_E_UNKNOWN,     "kernel 1 is of bad::Ref, which is not a registered operation" },
    { "kernel twice", XIR_E_EXISTS,     "there are two kernels of icraft::xir::ReLU" },
    { "conversions", XIR_E_INVALID,     "list of conversions of the plug-in is NULL, but its length is 1" },
    { "conversion",  XIR_E_INVALID,     "conversion 1 of the plug-in is NULL" },
    { "old conversion", XIR_E_EXISTS,   "'onnx::Conv' already" },
    { "conversion twice", XIR_E_EXISTS, "there is a conversion row 'onnx::com.example::BadSwish' already" },
    { "dialects",    XIR_E_INVALID,     "list of dialects of the plug-in is NULL, but its length is 1" },
    { "dialect",     XIR_E_INVALID,     "dialect 1 of the plug-in is NULL" },
    { "dialect name", XIR_E_INVALID,    "'Worse' is not a prefix for a dialect: expected lower-case letters" },
    { "dialect abi", XIR_E_ABI,         "a dialect was declared for another version" },
    { "dialect rows", XIR_E_INVALID,    "'worse::Relu' is invalid: its name is not a key of a known dialect" },
    { "many rows",   XIR_E_INVALID,     "the dialect 'many::' has no name, no table, or too many rows" },
    { "old dialect", XIR_E_EXISTS,      "there is a dialect 'onnx::' already" },
    { "dialect twice", XIR_E_EXISTS,    "there is a dialect 'worse::' already" },
    { "dialect pass", XIR_E_EXISTS,     "there is a pass 'dce' already" },
    { "own pass",    XIR_E_EXISTS,      "there is a pass 'bad-first' already" },
    { "no dialect",  XIR_E_INVALID,     "'nobody::Swish' is invalid: its name is not a key of a known dialect" },
    { "formats",     XIR_E_INVALID,     "list of formats of the plug-in is NULL, but its length is 1" },
    { "format",      XIR_E_INVALID,     "format 1 of the plug-in is NULL" },
    { "format name", XIR_E_INVALID,     "'B' is not a format name" },
    { "old format",  XIR_E_EXISTS,      "there is a format 'json' already" },
    { "format twice", XIR_E_EXISTS,     "there is a format 'bad' already" },
    { "schemes",     XIR_E_INVALID,     "list of schemes of the plug-in is NULL, but its length is 1" },
    { "scheme",      XIR_E_INVALID,     "scheme 1 of the plug-in is NULL" },
    { "scheme bits", XIR_E_BOUNDS,      "the scheme none: expected map_bits of 2 to 16" },
    { "old scheme",  XIR_E_EXISTS,      "there is a scheme 'onnx' already" },
    { "scheme twice", XIR_E_EXISTS,     "there is a scheme 'bad' already" },
    { "class abi",   XIR_E_ABI,         "expected a class declaration of version 3, found 7" },
    { "word",        XIR_E_ABI,         "class bad::Word has a row of the word 1000, which this library does not know" },
};

static void bad_plugins_leave_the_context_unchanged(void **state) {
    (void)state;
    xir_context *with = fresh();
    must_load(with, FLATTEN);
    for (size_t i = 0; i < COUNT(bad_plugins); i++) {
        setenv("XIR_BAD", bad_plugins[i].way, 1);
        check_refused(with, MODULE("bad"), bad_plugins[i].status, bad_plugins[i].sentence);
    }
    setenv("XIR_BAD", "fine", 1);
    must_load(with, MODULE("bad"));
    assert_non_null(xir_class_find(with, XIR_STR("bad::Erst")));
    xir_context_free(with);
    unsetenv("XIR_BAD");
}

/* Passes, kernels, conversions and formats are registered together with the classes, or none of them is. */
static void a_plugin_brings_passes_kernels_conversions_and_formats(void **state) {
    (void)state;
    xir_context *with = fresh();
    setenv("XIR_BAD", "lists", 1);
    must_load(with, MODULE("bad"));
    unsetenv("XIR_BAD");
    const xir_pass_decl *second = xir_pass_find(with, XIR_STR("bad-second"));
    assert_true(second && xir_pass_find(with, XIR_STR("bad-first")));
    const xir_convert_row *row = xir_convert_find(with, XIR_STR("onnx::com.example::BadSwish"));
    assert_non_null(row);
    assert_string_equal(row->cls, "SiLU");
    assert_string_equal(xir_format_detect(with, "B", 1, 1, XIR_STR("")), "bad");
    assert_null(xir_network_read(with, "B", 1, XIR_STR(""), NULL, why));
    check_finding(XIR_E_UNSUPPORTED, "files of format bad cannot be read");
    xir_network *net = xir_network_new(with, "kernels", XIR_FRAMEWORK_PYTORCH, "v1.9");
    const xir_type *type = XIR_TENSOR(with, fp32_in(with), "NC", 1, 2);
    const float numbers[] = { 2.5f, -1.5f };
    xir_value *x = xir_params_copy(net, XIR_STR("x"), type, numbers, sizeof numbers);
    xir_op *relu = xir_op_new(net, &XIR_INIT(xir_op_desc, .cls = xir_class_find_decl(with, xir_relu_class()), INPUTS(x),
                                             .id = XIR_NO_ID));
    assert_non_null(relu);
    assert_true(xir_op_can_run(relu));
    xir_array *y = NULL;
    assert_int_equal(xir_op_run(relu, NULL, 0, &y, 1, NULL, why), XIR_OK);
    assert_true(xir_array_real(y, 0) == 2 && xir_array_real(y, 1) == -1);   /* not the library's result */
    xir_array_free(y);
    xir_pass_report *report = xir_pass_report_new(with);
    xir_pipeline *p = xir_pipeline_parse(with, XIR_STR("bad-second"), why);
    assert_int_equal(xir_pipeline_run(p, net, NULL, report, why), XIR_OK);
    assert_string_equal(xir_pass_report_at(report, 0)->pass->name, "bad-first");
    assert_string_equal(xir_pass_report_at(report, 1)->pass->name, "dce");
    xir_pass_report_free(report);
    xir_pipeline_free(p);
    xir_network_free(net);
    xir_context_free(with);
}

static void a_longer_description_is_accepted_if_the_rest_is_zero(void **state) {
    (void)state;
    xir_context *with = fresh();
    setenv("XIR_BAD", "later", 1);
    must_load(with, MODULE("bad"));
    unsetenv("XIR_BAD");
    assert_non_null(xir_class_find(with, XIR_STR("bad::Second")));
    xir_context_free(with);
}

static void rows_and_items_may_be_larger_than_the_library_knows(void **state) {
    (void)state;
    xir_context *with = fresh();
    setenv("XIR_BAD", "large ", 1);
    must_load(with, MODULE("bad"));
    unsetenv("XIR_BAD");
    const xir_class *cls = xir_class_find(with, XIR_STR("bad::Large"));
    assert_non_null(cls);
    assert_int_equal(xir_class_input_count(cls), 1);
    assert_int_equal(xir_class_output_count(cls), 1);
    assert_true(xir_class_infers_on(cls, XIR_TARGET_HOST) && xir_class_infers_on(cls, XIR_TARGET_ZHUGE));
    assert_false(xir_class_infers_on(cls, XIR_TARGET_WOLONG));
    xir_pass_option o;
    assert_true(xir_pass_option_at(xir_pass_find(with, XIR_STR("bad-large")), 1, &o));
    assert_string_equal(o.name, "last");
    xir_pipeline *p = xir_pipeline_parse(with, XIR_STR("bad-large{last=3}"), why);
    assert_non_null(p);
    xir_pipeline_free(p);
    xir_network *net = xir_network_new(with, "large", XIR_FRAMEWORK_PYTORCH, "v1.9");
    const float number = 2.5f;
    xir_value *x = xir_params_copy(net, XIR_STR("x"), XIR_TENSOR(with, fp32_in(with), "NC", 1, 1), &number,
                                   sizeof number);
    xir_op *op = xir_op_new(net, &XIR_INIT(xir_op_desc, .cls = cls, INPUTS(x), .id = XIR_NO_ID));
    assert_non_null(op);
    xir_array *y = NULL;
    assert_int_equal(xir_op_run(op, NULL, 0, &y, 1, NULL, why), XIR_OK);
    assert_true(xir_array_real(y, 0) == 2);
    xir_array_free(y);
    xir_network_free(net);
    xir_context_free(with);
}

static const xir_type *relu_type(xir_context *with, xir_network *net, xir_target_kind target) {
    xir_at at = xir_at_end(net);
    at.target = xir_target_of_kind(with, target, NULL);
    return xir_value_type(XIR_OP(at, relu, .input = xir_network_op_count(net) ? value_of(net, 0) : NULL));
}

static xir_status one_bool(xir_infer *at) { return xir_infer_result(at, xir_type_bool(xir_infer_context(at))); }

static void inference_of_a_builtin_class_is_replaced_once(void **state) {
    (void)state;
    xir_context *with = fresh();
    setenv("XIR_BAD", "fine", 1);
    must_load(with, MODULE("bad"));
    const xir_class *relu = xir_class_find_decl(with, xir_relu_class());
    assert_true(xir_class_infers_on(relu, XIR_TARGET_WOLONG));
    assert_true(xir_class_infers_on(xir_class_find(with, XIR_STR("bad::First")), XIR_TARGET_HOST));
    xir_network *net = xir_network_new(with, "relu", XIR_FRAMEWORK_PYTORCH, "v1.9");
    xir_input(xir_at_end(net), NULL, XIR_TENSOR(with, fp32_in(with), "NC", 1, 3));
    assert_non_null(relu_type(with, net, XIR_TARGET_WOLONG));
    xir_network_free(net);
    /* Another plug-in may not replace it: a copy of the file is one. */
    size_t size;
    uint8_t *bytes = scratch_get(MODULE("bad"), &size);
    scratch_put(scratch("bad2.so"), bytes, size);
    free(bytes);
    setenv("XIR_BAD", "infer twice", 1);
    check_refused(with, scratch("bad2.so"), XIR_E_EXISTS, "bad::First is registered already");
    DOES(xir_infer_register(with, xir_relu_class(), XIR_TARGET_BUYI, one_bool));
    setenv("XIR_BAD", "fine again", 1);
    check_refused(with, scratch("bad2.so"), XIR_E_EXISTS,
                  "inference of icraft::xir::ReLU on buyi has been registered already");
    unsetenv("XIR_BAD");
    xir_context_free(with);
}

/* A type inferred earlier is not remembered as the result of another function. */
static void answers_of_a_replaced_function_are_forgotten(void **state) {
    (void)state;
    xir_context *with = fresh();
    xir_network *net = xir_network_new(with, "relu", XIR_FRAMEWORK_PYTORCH, "v1.9");
    xir_input(xir_at_end(net), NULL, XIR_TENSOR(with, fp32_in(with), "NC", 1, 3));
    assert_int_equal(xir_type_kind_of(relu_type(with, net, XIR_TARGET_BUYI)), XIR_TYPE_TENSOR);
    DOES(xir_infer_register(with, xir_relu_class(), XIR_TARGET_BUYI, one_bool));
    assert_int_equal(xir_type_kind_of(relu_type(with, net, XIR_TARGET_BUYI)), XIR_TYPE_BOOL);
    xir_op *first = xir_network_op_at(net, 1);
    DOES(xir_op_infer(first, true));
    assert_int_equal(xir_type_kind_of(xir_value_type(xir_op_output(first, 0))), XIR_TYPE_BOOL);
    xir_network_free(net);
    xir_context_free(with);
}

/* ---- files ------------------------------------------------------------------------------------------------------ */

static void check_text(xir_network *net, const xir_text_buffer *expected) {
    xir_text_buffer text;
    assert_int_equal(xir_json_print(net, 0, &text), XIR_OK);
    check_same(text.data, text.size, expected->data, expected->size);
    xir_text_free(&text);
}

static xir_network *read_in(xir_context *with, const xir_text_buffer *text) {
    xir_network *net = xir_json_read(with, (xir_str){ text->data, text->size }, XIR_STR("test.json"), why);
    if (!net) show_findings();
    assert_non_null(net);
    return net;
}

static void an_unknown_op_becomes_known_when_its_plugin_is_loaded(void **state) {
    (void)state;
    xir_context *knows = fresh(), *learns = fresh();
    must_load(knows, FLATTEN);
    xir_network *net = network_with_flatten(knows);
    xir_text_buffer text;
    assert_int_equal(xir_json_print(net, 0, &text), XIR_OK);
    xir_network_free(net);
    net = read_in(knows, &text);
    check_text(net, &text);
    xir_network_free(net);

    net = read_in(learns, &text);
    xir_op *op = xir_network_op_at(net, 2);
    DOES(xir_op_set_tag(op, XIR_STR("note"), &(xir_any){ .kind = XIR_ANY_BOOL, .as.boolean = true }));
    DOES(xir_op_set_name(op, XIR_STR("flat")));
    xir_text_free(&text);
    assert_int_equal(xir_json_print(net, 0, &text), XIR_OK);
    const xir_class *was = xir_op_class(op);
    assert_true(xir_class_is_opaque(was));
    assert_int_equal(xir_network_resolve(net, why), XIR_OK);   /* its class is not known yet */
    assert_ptr_equal(xir_op_class(op), was);
    check_text(net, &text);

    must_load(learns, FLATTEN);
    assert_ptr_equal(xir_op_class(op), was);
    xir_value *output = xir_op_output(op, 0);
    assert_int_equal(xir_network_resolve(net, why), XIR_OK);
    assert_int_equal(xir_diags_count(why), 0);
    assert_ptr_equal(xir_op_class(op), flatten_in(learns));
    assert_ptr_equal(xir_network_op_at(net, 2), op);
    assert_ptr_equal(xir_op_output(op, 0), output);
    assert_ptr_equal(xir_op_input(op, 0), xir_op_output(xir_network_op_at(net, 1), 0));
    assert_int_equal(xir_value_use_count(output), 1);
    assert_int_equal(xir_op_id(op), 2);
    CHECK_STR(xir_op_name(op), "flat");
    check_text(net, &text);
    CHECK_SOUND(net);

    xir_attr start;
    DOES(xir_op_get(op, XIR_STR("start"), &start));
    assert_int_equal(start.as.i64, 1);
    assert_int_equal(xir_op_extra(op)->size, 1);
    assert_int_equal(xir_network_validate(net, why), XIR_OK);
    DOES(xir_op_infer(op, true));
    check_text(net, &text);
    assert_int_equal(xir_network_resolve(net, why), XIR_OK);
    check_text(net, &text);
    xir_text_free(&text);
    xir_network_free(net);
    xir_context_free(knows);
    xir_context_free(learns);
}

static void an_op_that_does_not_decode_is_unchanged(void **state) {
    (void)state;
    static const char text[] = NETWORK_OF("3.33.1.0",
        "{\"_type_key\":\"whatever::Flatten\",\"compile_target\":\"@hostt\",\"inputs\":[],\"name\":\"\",\"op_id\":3,\"outputs\":[],\"start\":2,\"tags\":{}},"
        "{\"_type_key\":\"whatever::Flatten\",\"compile_target\":\"@hostt\",\"inputs\":[],\"name\":\"\",\"op_id\":4,\"outputs\":[],\"start\":\"two\",\"tags\":{}},"
        "{\"_type_key\":\"whatever::Other\",\"compile_target\":\"@hostt\",\"inputs\":[],\"name\":\"\",\"op_id\":5,\"outputs\":[],\"start\":1,\"tags\":{}},"
        "{\"_type_key\":\"whatever::Flatten\",\"compile_target\":\"@hostt\",\"inputs\":[],\"name\":\"\",\"op_id\":6,\"outputs\":[],\"start\":[],\"tags\":{}},"
        "{\"_type_key\":\"whatever::Flatten\",\"compile_target\":\"@hostt\",\"inputs\":[],\"name\":\"\",\"op_id\":7,\"outputs\":[],\"tags\":{}}");
    xir_context *with = fresh();
    xir_network *net = xir_json_read(with, XIR_STR(text), XIR_STR("x"), why);
    assert_non_null(net);
    must_load(with, FLATTEN);
    assert_int_equal(xir_network_resolve(net, why), XIR_E_TYPE);
    assert_int_equal(xir_diags_count(why), 2);
    CHECK_STR(xir_diags_at(why, 0)->path, "/ops/1/start");
    CHECK_STR(xir_diags_at(why, 1)->path, "/ops/3/start");
    xir_diags_clear(why);
    for (int64_t i = 0; i < 5; i++) {
        bool real = xir_op_class(xir_network_op_at(net, i)) == flatten_in(with);
        assert_int_equal(real, i == 0 || i == 4);
    }
    check_prints(net, 0, text, sizeof text - 1);
    CHECK_SOUND(net);
    assert_int_equal(xir_network_resolve(net, NULL), XIR_E_TYPE);
    xir_network_free(net);
    xir_context_free(with);
}

/* ---- sub ops and Params of ops that become known ---------------------------------------------------------------- */

static void know_own(xir_context *with) {
    const xir_class_decl *const all[] = { xir_own_thing_class(), xir_own_grain_class(), xir_own_box_class(),
                                          xir_own_mix_class(), xir_own_all_class(), xir_own_tap_class() };
    for (size_t i = 0; i < COUNT(all); i++) DOES(xir_class_register(with, all[i], NULL));
}

/* An op with Params, an object and two sub ops among its attributes; an output of a sub op is used by a later op and
 * by the other sub op. Numbers of v_ids: 0 the input, 1 and 2 Params, then outputs. */
static xir_network *network_with_parts(xir_context *with) {
    xir_network *net = xir_network_new(with, "parts", XIR_FRAMEWORK_PYTORCH, "v1.9");
    xir_at at = xir_at_end(net);
    const xir_type *type = XIR_TENSOR(with, fp32_in(with), "*", 2);
    xir_value *x = xir_input(at, NULL, type);
    xir_op *part = xir_op_new(net, &XIR_INIT(xir_op_desc, .cls = xir_class_find_decl(with, xir_relu_class()), INPUTS(x),
                                             .id = XIR_NO_ID));
    xir_op *other = xir_op_new(net, &XIR_INIT(xir_op_desc, .cls = xir_class_find_decl(with, xir_relu_class()),
                                              INPUTS(xir_op_output(part, 0)), .id = XIR_NO_ID));
    assert_non_null(other);
    const float data[] = { 1.5F, -2.0F };
    xir_value *table = xir_params_new(net, XIR_STR("table"), type), *more = xir_params_new(net, XIR_STR("more"), type);
    DOES(xir_params_set_copy(table, data, sizeof data));
    DOES(xir_params_set_copy(more, data, sizeof data));
    const xir_own_grain grain = xir_own_grain_init();
    const xir_object *thing = (const xir_object *)xir_own_grain_make(with, &grain, NULL);
    xir_own_all_attrs all = xir_own_all_init();
    all.table = table;
    all.tables = (xir_values){ &more, 1 };
    all.parts = (xir_ops){ (xir_op *[]){ part, other }, 2 };
    all.things = (xir_refs){ &thing, 1 };
    xir_op *whole = xir_add_own_all((xir_at){ .net = net, .types = &type, .n_types = 1 },
                                    (xir_own_all_in){ .inputs = { &x, 1 } }, &all);
    assert_non_null(whole);
    xir_value *last = XIR_RELU(at, xir_op_output(part, 0));
    xir_output(at, XIR_VALUES(xir_op_output(whole, 0), last));
    assert_int_equal(xir_network_status(net), XIR_OK);
    return net;
}

static void check_parts(bool ids_first) {
    xir_context *knows = fresh(), *learns = fresh();
    know_own(knows);
    xir_network *original = network_with_parts(knows);
    xir_text_buffer text;
    assert_int_equal(xir_json_print(original, 0, &text), XIR_OK);
    DOES(xir_raw_save(original, scratch("parts.raw"), why));
    xir_network_free(original);
    original = read_in(knows, &text);
    DOES(xir_raw_load(original, scratch("parts.raw"), 0, why));

    xir_network *net = read_in(learns, &text);
    DOES(xir_raw_load(net, scratch("parts.raw"), 0, why));
    if (ids_first) assert_null(xir_network_op_by_id(net, 99));
    xir_value *params[4];
    assert_int_equal(xir_network_params(net, params, 4), 2);
    check_text(net, &text);
    know_own(learns);
    xir_status status = xir_network_resolve(net, why);
    if (status) show_findings();
    assert_int_equal(status, XIR_OK);
    check_text(net, &text);
    CHECK_SOUND(net);
    xir_value *after[4];
    assert_int_equal(xir_network_params(net, after, 4), 2);
    assert_true((after[0] == params[0] && after[1] == params[1]) || (after[0] == params[1] && after[1] == params[0]));
    assert_memory_equal(xir_params_data(after[0], NULL), xir_params_data(params[0], NULL), 8);

    /* Everything exists and is found, as in a network that was read when the class was known. */
    char *want = picture(original), *got = picture(net);
    assert_string_equal(got, want);
    free(want);
    free(got);
    const xir_own_all_attrs *all = NULL;
    for (xir_op *op = xir_network_first(net); op; op = xir_op_next(op))
        all = xir_own_all_of(op) ? xir_own_all_of(op) : all;
    assert_non_null(all);
    xir_value *made = xir_op_output(all->parts.data[0], 0);
    assert_int_equal(xir_value_use_count(made), 2);
    assert_ptr_equal(xir_network_value_by_id(net, xir_value_id(made)), made);
    assert_ptr_equal(xir_network_op_by_id(net, xir_op_id(all->parts.data[1])), all->parts.data[1]);
    assert_ptr_equal(xir_op_parent(all->parts.data[0]), xir_op_parent(all->parts.data[1]));
    assert_int_equal(xir_network_next_op_id(net), xir_network_next_op_id(original));
    assert_int_equal(xir_network_next_value_id(net), xir_network_next_value_id(original));
    assert_non_null(xir_own_grain_of(all->things.data[0]));
    DOES(xir_raw_save(net, scratch("again.raw"), why));
    size_t n, m;
    uint8_t *a = scratch_get(scratch("parts.raw"), &n), *b = scratch_get(scratch("again.raw"), &m);
    assert_int_equal(n, m);
    assert_memory_equal(a, b, n);
    free(a);
    free(b);
    xir_text_free(&text);
    xir_network_free(original);
    xir_network_free(net);
    xir_context_free(knows);
    xir_context_free(learns);
}

static void sub_ops_and_params_are_restored(void **state) {
    (void)state;
    check_parts(false);
    check_parts(true);
}

/* Sub ops are read, and then an attribute does not fit: none of them is left. */
static void sub_ops_of_an_op_that_does_not_decode_are_forgotten(void **state) {
    (void)state;
    static const struct { const char *from, *to; xir_status status; const char *path; } bad[] = {
        { "\"texts\":[]", "\"texts\":{}", XIR_E_TYPE,   "/ops/1/texts" },
        { "\"op_id\":3,", "\"op_id\":-3,", XIR_E_BOUNDS, "/ops/1/parts/1/op_id" },
        { "\"op_id\":3,", "\"op_id\":0,",  XIR_E_EXISTS, "/ops/1/parts/1/op_id" },
        { "\"op_id\":3,", "\"op_id\":2,",  XIR_E_EXISTS, "/ops/1/parts/1/op_id" },
        { "\"v_id\":4}],\"tags\":{},\"threshold\"", "\"v_id\":0}],\"tags\":{},\"threshold\"", XIR_E_EXISTS, "/ops/1/parts/1/outputs/0" },
        { "\"v_id\":4}],\"tags\":{},\"threshold\"", "\"v_id\":3}],\"tags\":{},\"threshold\"", XIR_E_EXISTS, "/ops/1/parts/1/outputs/0" },
    };
    xir_context *knows = fresh();
    know_own(knows);
    xir_network *net = network_with_parts(knows);
    xir_text_buffer text;
    assert_int_equal(xir_json_print(net, 0, &text), XIR_OK);
    xir_network_free(net);
    for (size_t i = 0; i < COUNT(bad); i++) {
        const char *at = memmem(text.data, text.size, bad[i].from, strlen(bad[i].from));
        if (!at) fail_msg("%s is missing", bad[i].from);
        paper p = { 0 };
        put_bytes(&p, text.data, (size_t)(at - text.data));
        put(&p, "%s", bad[i].to);
        at += strlen(bad[i].from);
        put_bytes(&p, at, (size_t)(text.data + text.size - at));
        xir_context *learns = fresh();
        net = read_in(learns, &(xir_text_buffer){ .data = p.data, .size = p.size });
        char *before = picture(net);
        know_own(learns);
        assert_int_equal(xir_network_resolve(net, why), bad[i].status);
        assert_int_equal(xir_diags_count(why), 1);
        CHECK_STR(xir_diags_at(why, 0)->path, bad[i].path);
        xir_diags_clear(why);
        check_prints(net, 0, p.data, p.size);
        char *after = picture(net);
        assert_string_equal(after, before);
        CHECK_SOUND(net);
        free(before);
        free(after);
        free(p.data);
        xir_network_free(net);
        xir_context_free(learns);
    }
    xir_text_free(&text);
    xir_context_free(knows);
}

/* Unknown ops may also be sub ops of known ones. */
static void sub_ops_become_known(void **state) {
    (void)state;
    xir_context *knows = fresh(), *learns = fresh();
    know_own(knows);
    must_load(knows, FLATTEN);
    xir_network *net = xir_network_new(knows, "sub", XIR_FRAMEWORK_PYTORCH, "v1.9");
    xir_value *x = xir_input(xir_at_end(net), NULL, XIR_TENSOR(knows, fp32_in(knows), "NC", 1, 3));
    xir_op *part = xir_op_new(net, &XIR_INIT(xir_op_desc, .cls = flatten_in(knows), INPUTS(x), .id = XIR_NO_ID));
    const xir_type *type = xir_value_type(x);
    xir_own_all_attrs all = xir_own_all_init();
    all.parts = (xir_ops){ &part, 1 };
    assert_non_null(xir_add_own_all((xir_at){ .net = net, .types = &type, .n_types = 1 },
                                    (xir_own_all_in){ .inputs = { &x, 1 } }, &all));
    xir_text_buffer text;
    assert_int_equal(xir_json_print(net, 0, &text), XIR_OK);
    xir_network_free(net);
    know_own(learns);
    net = read_in(learns, &text);
    const xir_own_all_attrs *read = xir_own_all_of(xir_network_last(net));
    assert_true(xir_class_is_opaque(xir_op_class(read->parts.data[0])));
    must_load(learns, FLATTEN);
    assert_int_equal(xir_network_resolve(net, why), XIR_OK);
    assert_ptr_equal(xir_op_class(read->parts.data[0]), flatten_in(learns));
    check_text(net, &text);
    CHECK_SOUND(net);
    xir_text_free(&text);
    xir_network_free(net);
    xir_context_free(knows);
    xir_context_free(learns);
}

/* ---- as if the class had been known ----------------------------------------------------------------------------- */

/* Replaces a random token after `from` by another one: a number, a text, a word, an empty list or map. */
static paper damaged(const char *text, size_t size, size_t from) {
    static const char *const tokens[] = { "0", "-1", "7", "1.5", "9223372036854775807", "18446744073709551615", "null",
                                          "true", "\"\"",
                                          "\"x\"", "[]", "{}", "[1,2]", "[\"a\"]", "[true]", "[[1,0,0,0.5]]", "\"@fp(32)\"", "{\"a\":1}" };
    paper p = { 0 };
    for (;;) {
        size_t at = from + (size_t)chance(size - from), end = at;
        if (!strchr(":[,", text[at])) continue;
        end = ++at;
        if (text[end] == '"') end += 1 + strcspn(text + end + 1, "\"") + 1;
        else if (strncmp(text + end, "[]", 2) == 0 || strncmp(text + end, "{}", 2) == 0) end += 2;
        else end += strcspn(text + end, ",]}[{\"");
        if (end == at || text[end] == ':' || end >= size) continue;
        put_bytes(&p, text, at);
        put(&p, "%s", tokens[chance(COUNT(tokens))]);
        put_bytes(&p, text + end, size - end);
        return p;
    }
}

/* Reading without the class and then resolving is the same as reading with it, whatever the file has. */
static void resolving_equals_reading_with_the_class(void **state) {
    (void)state;
    enum { TRIALS = 3000 };
    xir_context *knows = fresh();
    know_own(knows);
    xir_network *net = network_with_parts(knows);
    xir_text_buffer text;
    assert_int_equal(xir_json_print(net, 0, &text), XIR_OK);
    xir_network_free(net);
    size_t same = 0, refused = 0;
    for (int i = 0; i < TRIALS; i++) {
        char *terminated = calloc(text.size + 1, 1);
        memcpy(terminated, text.data, text.size);
        size_t from = chance(4) ? (size_t)(strstr(terminated, "test::All") - terminated) : 0;
        paper p = damaged(terminated, text.size, from);
        free(terminated);
        for (uint64_t more = chance(4) ? 0 : 1; more; more--) {
            paper q = damaged(p.data, p.size, from);
            free(p.data);
            p = q;
        }
        xir_context *learns = fresh();
        xir_network *read = xir_json_read(knows, (xir_str){ p.data, p.size }, XIR_STR("x"), NULL);
        xir_network *learnt = xir_json_read(learns, (xir_str){ p.data, p.size }, XIR_STR("x"), NULL);
        know_own(learns);
        xir_text_buffer before = { 0 }, after = { 0 }, expected = { 0 };
        if (learnt) assert_int_equal(xir_json_print(learnt, 0, &before), XIR_OK);
        if (learnt && chance(2)) xir_network_op_by_id(learnt, 0);
        bool resolved = learnt && xir_network_resolve(learnt, NULL) == XIR_OK;
        if (resolved != (read != NULL))
            fail_msg("%s without the class, %s with it: %s", resolved ? "resolved" : "not", read ? "read" : "not",
                     p.data);
        if (learnt) {
            const char *broken = broken_invariant(learnt, ASK_ALL);
            if (broken) fail_msg("%s: %s", broken, p.data);
            assert_int_equal(xir_json_print(learnt, 0, &after), XIR_OK);
        }
        if (read) {
            assert_int_equal(xir_json_print(read, 0, &expected), XIR_OK);
            check_same(after.data, after.size, expected.data, expected.size);
            char *want = picture(read), *got = picture(learnt);
            assert_string_equal(got, want);
            free(want);
            free(got);
            xir_text_free(&expected);
            same++;
        } else if (learnt) {
            check_same(after.data, after.size, before.data, before.size);
            refused++;
        }
        if (learnt) {
            xir_text_free(&before);
            xir_text_free(&after);
        }
        xir_network_free(read);
        xir_network_free(learnt);
        xir_context_free(learns);
        free(p.data);
    }
    printf("%zu were resolved, %zu refused\n", same, refused);
    if (same < TRIALS / 20 || refused < TRIALS / 20) fail_msg("%zu were resolved, %zu refused: too few", same, refused);
    xir_text_free(&text);
    xir_context_free(knows);
}

/* ---- the plug-in that is shipped -------------------------------------------------------------------------------- */

#ifdef XIR_PLUGINS
#define CUSTOMOP XIR_PLUGINS "/customop.so"

static void customops_of_real_files(void **state) {
    (void)state;
    /* As in a real file; the second lacks most attributes, the third has undeclared ones. */
    static const char text[] = NETWORK_OF("3.33.1.0",
        "{\"_type_key\":\"customop::DetPostZG\",\"anchor_num\":3,\"chn_1st\":2,\"chn_2nd\":0,\"chn_3rd\":0,\"cmp_chn\":1,\"cmp_en\":1,\"cmp_mask0\":-17,"
        "\"cmp_mask1\":-1,\"compile_target\":\"@fpgat\",\"data_thr\":[-15,-18,-19],\"inputs\":[],\"layer_en\":1,\"name\":\"\",\"op_id\":447,\"outputs\":[],"
        "\"reg_base\":0,\"sleep_time\":0,\"tags\":{\"input_etm\":true,\"output_etm\":false},\"thr_f\":0.10000000149011612,\"valid_chn\":3},"
        "{\"_type_key\":\"customop::DetPost\",\"compile_target\":\"@fpgat\",\"inputs\":[],\"name\":\"\",\"op_id\":448,\"outputs\":[],\"tags\":{},\"thr_f\":0.25},"
        "{\"_type_key\":\"customop::ImageMake\",\"aaa\":1.0,\"compile_target\":\"@fpgat\",\"input_bits\":8,\"inputs\":[],\"name\":\"\",\"no_imkpad\":false,"
        "\"op_id\":449,\"outputs\":[],\"pad_size\":[0,0,0,0],\"pre_mean_data\":[0.0,0.0,0.5],\"pre_nop\":true,\"reg_base\":4295753728,\"tags\":{},\"zzz\":{}}");
    xir_context *with = fresh();
    xir_network *net = xir_json_read(with, XIR_STR(text), XIR_STR("x"), why);
    assert_non_null(net);
    must_load(with, CUSTOMOP);
    assert_int_equal(xir_network_resolve(net, why), XIR_OK);
    for (int64_t i = 0; i < 3; i++) assert_false(xir_class_is_opaque(xir_op_class(xir_network_op_at(net, i))));
    check_prints(net, 0, text, sizeof text - 1);
    xir_attr a;
    DOES(xir_op_get(xir_network_op_at(net, 0), XIR_STR("data_thr"), &a));
    assert_true(a.kind == XIR_KIND_I64S && a.as.i64s.size == 3 && a.as.i64s.data[2] == -19);
    DOES(xir_op_get(xir_network_op_at(net, 1), XIR_STR("anchor_num"), &a));
    assert_int_equal(a.as.i64, 0);
    assert_int_equal(xir_op_extra(xir_network_op_at(net, 2))->size, 2);
    assert_true(xir_class_traits(xir_op_class(xir_network_op_at(net, 2))) & XIR_TRAIT_IMPURE);
    xir_network_free(net);
    net = xir_json_read(with, XIR_STR(text), XIR_STR("x"), why);
    check_prints(net, 0, text, sizeof text - 1);
    xir_network_free(net);
    xir_context_free(with);
}

static void real_files(void **state) {
    (void)state;
    const char *corpus = CORPUS_OR_SKIP();
    char path[600];
    snprintf(path, sizeof path, "%s/icraft/yolov5s_plin_352x640_ZG.json", corpus);
    size_t size;
    uint8_t *bytes = scratch_get(path, &size);
    assert_non_null(bytes);
    xir_context *with = fresh();
    for (int loaded = 0; loaded < 2; loaded++) {
        xir_network *net = xir_json_load(with, path, why);
        assert_non_null(net);
        if (!loaded) must_load(with, CUSTOMOP);
        assert_int_equal(xir_network_resolve(net, why), XIR_OK);
        for (xir_op *op = xir_network_first(net); op; op = xir_op_next(op))
            assert_false(xir_class_is_opaque(xir_op_class(op)));
        check_prints(net, 0, (const char *)bytes, size);
        assert_int_equal(xir_network_validate(net, why), XIR_OK);
        CHECK_SOUND(net);
        xir_network_free(net);
    }
    free(bytes);
    xir_context_free(with);
}
#endif

/* ---- memory and threads ----------------------------------------------------------------------------------------- */

static bool load_and_resolve(xir_context *with) {
    static const char text[] = NETWORK_OF("3.33.1.0",
        "{\"_type_key\":\"bad::First\",\"compile_target\":\"@hostt\",\"inputs\":[],\"name\":\"\",\"op_id\":3,\"outputs\":[],\"scale\":\"@scales([axis=1]0.5)\",\"tags\":{}},"
        "{\"_type_key\":\"bad::Second\",\"compile_target\":\"@hostt\",\"inputs\":[],\"name\":\"\",\"op_id\":4,\"other\":[1,{\"a\":2}],\"outputs\":[],\"tags\":{}}");
    xir_network *net = xir_json_read(with, XIR_STR(text), XIR_STR("x"), NULL);
    if (!net) return false;
    size_t classes = class_count(with);
    xir_diags *found = xir_diags_new(with);
    xir_status status = found ? xir_plugin_load(with, MODULE("bad"), found) : XIR_E_MEMORY;
    assert_true(status == XIR_OK || status == XIR_E_MEMORY);
    if (found) assert_int_equal(xir_diags_count(found), status != XIR_OK);
    bool loaded = status == XIR_OK;
    assert_int_equal(class_count(with), classes + (loaded ? 2 : 0));
    assert_int_equal(plugin_count(with), loaded);
    assert_int_equal(xir_class_find(with, XIR_STR("bad::Erst")) != NULL, loaded);
    assert_int_equal(xir_class_infers_on(xir_class_find_decl(with, xir_relu_class()), XIR_TARGET_WOLONG), loaded);
    if (loaded) status = xir_network_resolve(net, found);
    xir_diags_free(found);
    assert_true(status == XIR_OK || status == XIR_E_MEMORY);
    if (!status) {
        for (int64_t i = 0; i < 2; i++) assert_false(xir_class_is_opaque(xir_op_class(xir_network_op_at(net, i))));
    }
    xir_network_free(net);
    return status == XIR_OK;
}

/* Lists of passes and conversions grow together with the classes or not at all. */
static bool load_lists(xir_context *with) {
    char *before = picture_of_context(with);
    xir_diags *found = xir_diags_new(with);
    xir_status status = found ? xir_plugin_load(with, MODULE("bad"), found) : XIR_E_MEMORY;
    assert_true(status == XIR_OK || status == XIR_E_MEMORY);
    char *after = picture_of_context(with);
    assert_int_equal(strcmp(before, after) != 0, status == XIR_OK);
    assert_int_equal(xir_pass_find(with, XIR_STR("bad-second")) != NULL, status == XIR_OK);
    assert_int_equal(xir_dialect_find(with, XIR_STR("worse::Relu")) != NULL, status == XIR_OK);
    assert_int_equal(xir_convert_find(with, XIR_STR("worse::Exp")) != NULL, status == XIR_OK);
    assert_int_equal(xir_pass_find(with, XIR_STR("worse-to-xir")) != NULL, status == XIR_OK);
    xir_diags_free(found);
    free(before);
    free(after);
    return status == XIR_OK;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    setenv("XIR_BAD", "fine", 1);
    check_memory(load_and_resolve);
    setenv("XIR_BAD", "lists", 1);
    check_memory(load_lists);
    unsetenv("XIR_BAD");
}

static bool resolve_parts(xir_context *with) {
    static xir_text_buffer text;
    if (!text.data) {
        xir_context *knows = fresh();
        know_own(knows);
        xir_network *net = network_with_parts(knows);
        assert_int_equal(xir_json_print(net, 0, &text), XIR_OK);
        char *own = malloc(text.size);   /* outlives its context */
        memcpy(own, text.data, text.size);
        xir_text_buffer copy = { .data = own, .size = text.size };
        xir_text_free(&text);
        text = copy;
        xir_network_free(net);
        xir_context_free(knows);
    }
    xir_network *net = xir_json_read(with, (xir_str){ text.data, text.size }, XIR_STR("x"), NULL);
    bool ok = net && xir_network_op_by_id(net, 0);
    const xir_class_decl *const all[] = { xir_own_thing_class(), xir_own_grain_class(), xir_own_box_class(),
                                          xir_own_all_class() };
    for (size_t i = 0; ok && i < COUNT(all); i++) ok = xir_class_register(with, all[i], NULL) == XIR_OK;
    if (ok) {
        xir_status status = xir_network_resolve(net, NULL);
        assert_true(status == XIR_OK || status == XIR_E_MEMORY);
        const char *broken = broken_invariant(net, ASK_NOTHING);
        if (broken) fail_msg("%s", broken);
        ok = status == XIR_OK;
    }
    xir_network_free(net);
    if (ok) {
        free(text.data);
        text.data = NULL;
    }
    return ok;
}

static void every_allocation_of_sub_ops_may_fail(void **state) {
    (void)state;
    check_memory(resolve_parts);
}

static void *load_both(void *user) {
    xir_context *with = user;
    for (int i = 0; i < 20; i++) {
        if (xir_plugin_load(with, FLATTEN, NULL) || !flatten_in(with)) return user;
        if (xir_plugin_load(with, MODULE("no_entry"), NULL) != XIR_E_MISSING) return user;
        if (xir_plugin_load(with, MODULE("undefined"), NULL) != XIR_E_UNSUPPORTED) return user;
    }
    return NULL;
}

static void threads_may_load_at_once(void **state) {
    (void)state;
    xir_context *with = fresh();
    pthread_t threads[4];
    for (size_t i = 0; i < COUNT(threads); i++) assert_int_equal(pthread_create(&threads[i], NULL, load_both, with), 0);
    for (size_t i = 0; i < COUNT(threads); i++) {
        void *failed;
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
    assert_int_equal(plugin_count(with), 1);
    xir_context_free(with);
}

GROUP {
    scratch_make();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_description_of_the_program_is_added),
        cmocka_unit_test(a_description_is_refused_as_a_file_is),
        cmocka_unit_test(a_plugin_brings_its_classes),
        cmocka_unit_test(a_plugin_is_not_loaded_twice),
        cmocka_unit_test(contexts_have_plugins_of_their_own),
        cmocka_unit_test(paths_are_used_unchanged),
        cmocka_unit_test(a_network_is_built_with_a_class_of_a_plugin),
        cmocka_unit_test(inference_depends_on_the_target),
        cmocka_unit_test(inference_meets_attributes_that_rows_forbid),
        cmocka_unit_test(files_that_are_not_plugins),
        cmocka_unit_test(bad_plugins_leave_the_context_unchanged),
        cmocka_unit_test(a_plugin_brings_passes_kernels_conversions_and_formats),
        cmocka_unit_test(a_longer_description_is_accepted_if_the_rest_is_zero),
        cmocka_unit_test(rows_and_items_may_be_larger_than_the_library_knows),
        cmocka_unit_test(inference_of_a_builtin_class_is_replaced_once),
        cmocka_unit_test(answers_of_a_replaced_function_are_forgotten),
        cmocka_unit_test(an_unknown_op_becomes_known_when_its_plugin_is_loaded),
        cmocka_unit_test(an_op_that_does_not_decode_is_unchanged),
        cmocka_unit_test(sub_ops_and_params_are_restored),
        cmocka_unit_test(sub_ops_of_an_op_that_does_not_decode_are_forgotten),
        cmocka_unit_test(sub_ops_become_known),
        cmocka_unit_test(resolving_equals_reading_with_the_class),
#ifdef XIR_PLUGINS
        cmocka_unit_test(customops_of_real_files),
        cmocka_unit_test(real_files),
#endif
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(every_allocation_of_sub_ops_may_fail),
        cmocka_unit_test(threads_may_load_at_once),
    };
    return RUN_GROUP(tests);
}
