/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Modules of TensorStack that are read and written come back byte for byte, whichever writer made them, through every
 * other format too. Networks that were built or changed are written in one form. */
#include <glob.h>
#include "support/kept.h"
#include "support/load_net.h"
#include "support/skips.h"
#include "support/stored.h"
#include "support/tsm_make.h"
#include "graph.h"

#define IO "inputs 0\noutputs 1\n"
#define X  "n <param> x - #dtype=5::10 #shape=5:2:-1,4\n"

static const char *const files[] = {
    /* as the usual writer writes it */
    IO X "n relu y 0\n",
    /* constants, lists, texts, several inputs and outputs, one of them twice */
    "inputs 0,1\noutputs 5,4,5\n" X "n <param> z - #dtype=5::10 #shape=5:1:4\n"
    "n <const> w - value=10:4,4:1,2,3\nn <const> b - device='cpu value=10:4:1\n"
    "n inner_prod p 0,2 transpose=21::1\nn add_bias q 4,3 dim=5::1 format='NCHW\n",
    /* nodes before their inputs, in no order; an output that is an input; one that is a constant */
    "inputs 3\noutputs 0,3,2\nn add y 1,2\nn relu r 3\nn <const> c - value=10::2.5\n" X,
    /* what nothing uses: a constant, an operator, a <param> that is not an input */
    IO X "n relu y 0\nn <const> c - value=5:2:1,2\nn abs dead 0\nn <param> free - #dtype=5::10\nn exp more 4\n",
    /* names: empty, twice, of XIR's keys */
    IO X "n relu y 0\nn relu y 0\nn relu ' 0\nn <const> ' - value=10::1\nn <const> y - value=10::1\n",
    IO X "n a.b y 0 name=5::1 inputs='x tags=5:1:3 tsm.x=5::4 source.dims=5::1 op_id=5::9\n",
    /* widths and ranks that the usual writer would not choose */
    IO X "n conv y 0 f=11::2.5 g=11:2:1,2.5 h=9:2:15360,0 i=7::3 j=2::1 k=1:3:-1,2,3 l=8:1:7 m=3:2,2:1,2,3,4 n=6::9\n",
    IO X "n conv y 0 padding=5:4,2:0,0,0,0,1,1,1,1 crop=5:8:1 stride=5:4,1:1 dim=5:1:1 axes=7:0: e=10:0: z=10:0,4:\n",
    IO X "n conv y 0 a=11::0.1 b=11:2:0.1,1 c=7::4294967296 d=7:2:1,-9223372036854775807 t=13:: u=13:0: v=13:1,2:65\n",
    /* no elements, whatever the other dims are */
    IO X "n conv y 0 a=5:4,2147483647,2147483647,0: b=10:0,2147483647,2147483647,2147483647:\n",
    /* numbers that JSON does not have */
    IO X "n conv y 0 a=10::nan b=10:2:inf,1 c=11::-inf d=10::-0.0 e=8::18446744073709549568 f=21:3:1,2,0 g=21::2\n",
    /* types that XIR does not have; several tensors, and none */
    IO X "n conv y 0 a=0:3: b=14:2: c=15:1: d=16::1 e=20:2:1,2 f=22:1: g=23:1: h=24:1: i=25:4:1,2 j=32::1\n",
    IO X "n conv y 0 none= two=5::1+13:2:65,66+10:2:1,2\n",
    "inputs 0\noutputs 2,3\n" X "n <const> p - value=10:2:1,2+5:1,1:3+13:1:65\nn _field f 1 offset=5::0\n"
    "n _pack g 0,2\n",
    "inputs 0\noutputs 4\n" X "n <const> s - value=13:3:65,66,200\nn <const> u - value=17:2,1:\n"
    "n <const> e - value=10:0,4:\nn many y 0,1,2,3\n",
    /* the order of parameters; those of constants and inputs that a tensor does not say */
    IO X "n conv y 0 zed=5::1 alpha=10::1 mid='text\n",
    IO "n * - - #op='<param> #name='x #shape=7:2:-1,4 #dtype=7::10\nn * * 0 value=5::1 #op='relu #name='y\n",
    "inputs 0,1,2,3\noutputs 4\nn <param> a - #dtype=5::10\nn <param> b - #shape=5:2:-1,4\nn <param> c -\n"
    "n <param> d - #dtype=5::13 #shape=5:1:-7 extra='x more=5::1+5::2 odd=22:1:\n"
    "n add y 0,1,5\nn <const> k - device=5::1 more='x value=10:1:2 zed=10::nan zero=\n",
    IO X "n relu y 0 #output_count=5::1 #shape=5:1:4 #dtype=7::10\n",
    /* empty networks */
    "inputs -\noutputs -\n", "inputs 0\noutputs -\n" X, "inputs 0\noutputs 0\n" X,
};

static xir_network *read_bytes(const void *bytes, size_t size) {
    xir_network *net = stored_must_read("tsm", bytes, size);
    assert_int_equal(xir_diags_count(why), 0);
    return net;
}

static xir_network *read_made(const char *text) {
    tsm_made f;
    tsm_make(&f, text);
    return read_bytes(f.bytes, f.size);
}

static void check_written(xir_network *net, const char *text) {
    tsm_made f;
    tsm_make(&f, text);
    stored_must_be(net, "tsm", f.bytes, f.size, text);
}

static void files_come_back(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(files); i++) {
        xir_network *net = read_made(files[i]);
        assert_true(xir_str_equal(xir_network_text_of(net, XIR_TEXT_FRAMEWORK), XIR_STR("TENSORSTACK")));
        check_written(net, files[i]);
        xir_network_free(net);
    }
}

/* A clone too. */
static void files_come_back_through_other_formats(void **state) {
    xir_format_info other;
    (void)state;
    for (size_t k = 0; written_format_at(k, &other); k++) {
        for (size_t i = 0; i < COUNT(files); i++) {
            const char *between = load_path("between", &other);
            xir_network *net = read_made(files[i]);
            load_save(net, between, &other);
            xir_network *again = xir_network_load(ctx, between, &XIR_INIT(xir_load_options, .lazy = true), why);
            if (!again) xir_diags_print(why, stderr);
            assert_non_null(again);
            xir_network *copy = xir_network_clone(again);
            check_written(copy, files[i]);
            xir_network_free(net);
            xir_network_free(again);
            xir_network_free(copy);
            xir_diags_clear(why);
            remove(between);
            remove(scratch("between.raw"));
        }
    }
}

static void the_header_comes_back(void **state) {
    tsm_made f;
    (void)state;
    tsm_make(&f, files[0]);
    tsm_set_word(&f, 0, 0x19910929);   /* the same number: the second word decides */
    for (size_t i = 8; i < 128; i++) f.bytes[i] = (uint8_t)(i * 7);
    xir_network *net = read_bytes(f.bytes, f.size);
    stored_must_be(net, "tsm", f.bytes, f.size, "a header");
    xir_network_free(net);
}

/* ---- what a network has ------------------------------------------------------------------------------------------ */

static const xir_any *attribute(const xir_op *op, const char *name) {
    return xir_map_find(xir_op_extra(op), xir_str_of(name));
}

static void parameters_are_attributes_by_value(void **state) {
    (void)state;
    xir_network *net = read_made(IO X "n conv2d y 0 a=7::-3 b=2::1 c=21::1 d=10::2.5 e='NCHW f=5:2,2:1,2,3,4 "
                                 "g=9::15360\n");
    const xir_op *op = xir_network_op_at(net, 1);
    assert_true(xir_str_equal(xir_class_key(xir_op_class(op)), XIR_STR("tsm::conv2d")));
    assert_true(xir_str_equal(xir_op_name(op), XIR_STR("y")));
    assert_int_equal(attribute(op, "a")->as.integer, -3);
    assert_int_equal(attribute(op, "b")->as.integer, 1);
    assert_int_equal(attribute(op, "c")->kind, XIR_ANY_BOOL);
    assert_true(attribute(op, "d")->as.real == 2.5);
    assert_true(xir_str_equal(attribute(op, "e")->as.text, XIR_STR("NCHW")));
    assert_int_equal(attribute(op, "f")->as.list.size, 4);
    assert_true(attribute(op, "g")->as.real == 1);
    xir_network_free(net);
}

static void inputs_have_declared_types(void **state) {
    (void)state;
    xir_network *net = read_made(IO "n <param> x - #dtype=7::3 #shape=7:3:2,-1,4\nn relu y 0\n");
    const xir_value *x = xir_op_output(xir_network_input_op(net), 0);
    const xir_type *type = xir_value_type(x);
    assert_int_equal(xir_type_rank(type), 3);
    assert_int_equal(xir_type_as_tensor(type)->shape.data[0], 2);
    assert_true(xir_type_as_tensor(type)->shape.data[1] < 0);
    assert_true(xir_type_equal(xir_type_element(type), xir_type_sint(ctx, 16)));
    xir_network_free(net);
}

/* The order of ops is that of execution, whatever the order of nodes is. */
static void ops_are_in_the_order_of_execution(void **state) {
    (void)state;
    xir_network *net = read_made("inputs 3\noutputs 0\nn add d 1,2\nn abs c 2\nn exp b 3\n" X);
    const char *const names[] = { "b", "c", "d" };
    for (size_t i = 0; i < 3; i++)
        assert_true(xir_str_equal(xir_op_name(xir_network_op_at(net, (int64_t)i + 1)), xir_str_of(names[i])));
    DOES(xir_network_validate(net, why));
    xir_network_free(net);
}

static void weights_stay_where_they_are(void **state) {
    tsm_made f;
    (void)state;
    tsm_make(&f, "inputs 0\noutputs 2\n" X "n <const> w - value=10:4:1,2\nn add y 0,1\n");
    xir_network *net = read_bytes(f.bytes, f.size);
    size_t size;
    const uint8_t *data = xir_params_data(xir_op_input(xir_network_op_at(net, 1), 1), &size);
    const size_t at = f.fields[1][2] + 4 + 1 + 4 + 4;   /* after counts, type and dims */
    assert_int_equal(size, 16);
    assert_memory_equal(data, f.bytes + at, size);
    xir_network_free(net);
}

/* ---- networks that were changed or built ------------------------------------------------------------------------- */

/* Nodes in the order of execution, constants where they are first used; names made unique. */
static void changed_networks_have_one_form(void **state) {
    (void)state;
    xir_network *net = read_made("inputs 3\noutputs 0\nn add y 1,2\nn relu r 3\nn <const> c - value=10::2.5\n" X);
    DOES(xir_network_set_tag(net, XIR_STR("tsm.nodes"), NULL));
    check_written(net, "inputs 0\noutputs 3\n" X "n relu r 0\nn <const> c - value=10::2.5\nn add y 1,2\n");
    DOES(xir_op_set_name(xir_network_op_at(net, 2), XIR_STR("r")));
    check_written(net, "inputs 0\noutputs 3\n" X "n relu r 0\nn <const> c - value=10::2.5\nn add r_3 1,2\n");
    DOES(xir_op_set_name(xir_network_op_at(net, 2), XIR_STR("")));
    DOES(xir_value_set_name(xir_op_output(xir_network_op_at(net, 2), 0), XIR_STR("")));
    check_written(net, "inputs 0\noutputs 3\n" X "n relu r 0\nn <const> c - value=10::2.5\nn add add_3 1,2\n");
    xir_network_free(net);
}

/* The kept properties of a file fit the value, or gives way to the usual form. */
static void changed_values_take_the_usual_width(void **state) {
    (void)state;
    static const struct { xir_any value; const char *becomes; } rows[] = {
        { { .kind = XIR_ANY_INT, .as.integer = 4 },             "a=2::4" },
        { { .kind = XIR_ANY_INT, .as.integer = 300 },           "a=5::300" },
        { { .kind = XIR_ANY_INT, .as.integer = -1 },            "a=5::-1" },
        { { .kind = XIR_ANY_INT, .as.integer = 1LL << 40 },     "a=7::1099511627776" },
        { { .kind = XIR_ANY_REAL, .as.real = 0.5 },             "a=10::0.5" },
        { { .kind = XIR_ANY_REAL, .as.real = 0.1 },             "a=11::0.1" },
        { { .kind = XIR_ANY_BOOL, .as.boolean = true },         "a=21::1" },
        { { .kind = XIR_ANY_TEXT, .as.text = { "hi", 2 } },     "a='hi" },
        { { .kind = XIR_ANY_LIST },                             "a=5:0:" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[200];
        xir_network *net = read_made(IO X "n conv y 0 a=2::3\n");
        DOES(xir_op_set_extra(xir_network_op_at(net, 1), XIR_STR("a"), &rows[i].value));
        snprintf(text, sizeof text, IO X "n conv y 0 %s\n", rows[i].becomes);
        check_written(net, text);
        xir_network_free(net);
    }
}

static void refused(xir_network *net, xir_status status, const char *sentence) {
    buffer out;
    buffer_init(&out, &memory_default);
    assert_int_equal(xir_network_write(net, keep, &out, &XIR_INIT(xir_save_options, .format = "tsm", .unchecked = true),
                                       why), status);
    assert_int_equal(out.size, 0);
    check_finding(status, sentence);
    buffer_free(&out);
    xir_network_free(net);
}

/* A network with one op of a class. */
static xir_network *one_of(const char *key) {
    xir_network *net = read_made(IO X "n relu y 0\n");
    xir_op *relu = xir_network_op_at(net, 1);
    xir_value *x = xir_op_input(relu, 0);
    const xir_type *type = xir_value_type(x);
    assert_non_null(xir_network_add(net, &XIR_INIT(xir_op_desc, .cls = xir_class_opaque(ctx, xir_str_of(key)),
                                                   .id = XIR_NO_ID, .inputs = &x, .n_inputs = 1, .types = &type,
                                                   .n_types = 1, .before = relu)));
    return net;
}

static void what_tsm_cannot_hold_is_refused(void **state) {
    (void)state;
    xir_network *net = read_made(IO X "n relu y 0\n");
    DOES(xir_op_set_extra(xir_network_op_at(net, 1), XIR_STR("m"), &(xir_any){ .kind = XIR_ANY_MAP }));
    refused(net, XIR_E_UNSUPPORTED, "TSM cannot hold the parameter 'm' of 'y'");
    net = read_made("inputs 0\noutputs 2\n" X "n <const> w - value=10:4:1\nn add y 0,1\n");
    value_params(net->all_params)->data = (blob_release(value_params(net->all_params)->data), NULL);
    refused(net, XIR_E_MISSING, "the parameter 'w' has no bytes");
    net = read_made(IO X "n relu y 0\n");
    DOES(xir_op_set_outputs(xir_network_op_at(net, 1), (const xir_type *const[]){ NULL, NULL }, 2));
    refused(net, XIR_E_UNSUPPORTED, "op 2 'y' has 2 outputs");
    refused(load_net(ctx), XIR_E_UNSUPPORTED, "TensorStack has no operator for ");
    net = read_made(IO X "n relu y 0\n");
    DOES(xir_op_set_extra(xir_network_op_at(net, 1), XIR_STR("t"), &(xir_any){ .kind = XIR_ANY_TEXT,
                                                                             .as.text = XIR_STR("\xFF") }));
    refused(net, XIR_E_INVALID, "'y' has a parameter 't' that is not UTF-8");
    net = read_made(IO X "n relu y 0\n");
    DOES(xir_op_set_name(xir_network_op_at(net, 1), XIR_STR("\xFF")));
    refused(net, XIR_E_INVALID, "has a parameter '#name' that is not UTF-8");
    refused(one_of("tsm::<var>"), XIR_E_UNSUPPORTED, "cannot be <var>: variables exist in memory only");
    refused(one_of("tsm::<const>"), XIR_E_UNSUPPORTED, "cannot be <const>: a constant has a value and no inputs");
}

/* One that no output depends on is never loaded. */
static void an_operator_without_inputs(void **state) {
    (void)state;
    for (int dead = 0; dead < 2; dead++) {
        xir_network *net = read_made("inputs 0\noutputs 2\n" X "n abs z 0\nn relu y 0\nn exp dead 1\n");
        DOES(xir_op_set_inputs(xir_network_op_at(net, dead ? 1 : 2), NULL, 0));
        if (!dead) {
            refused(net, XIR_E_UNSUPPORTED, "'y' has no inputs, and an output depends on it");
            continue;
        }
        check_written(net, "inputs 0\noutputs 2\n" X "n abs z -\nn relu y 0\nn exp dead 1\n");
        xir_network_free(net);
    }
}

/* ---- files of the world ------------------------------------------------------------------------------------------ */

static size_t real(const char *pattern) {
    char all[PATH_MAX];
    glob_t found = { 0 };
    size_t n = 0;
    snprintf(all, sizeof all, "%s/tsm/%s", getenv("XIR_CORPUS"), pattern);
    (void)glob(all, 0, NULL, &found);
    for (; n < found.gl_pathc; n++) {
        const char *path = found.gl_pathv[n];
        size_t size;
        uint8_t *bytes = scratch_get(path, &size);
        xir_network *net = load_must(path, &XIR_INIT(xir_load_options, .lazy = n % 2));
        stored_must_be(net, "tsm", bytes, size, path);
        assert_int_equal(xir_diags_count(why), 0);
        free(bytes);
        xir_network_free(net);
    }
    globfree(&found);
    return n;
}

static void real_files(void **state) {
    (void)state;
    (void)CORPUS_OR_SKIP();
    assert_true(real("*.tsm") >= 4);
    assert_true(real("onnxnode/*.tsm") >= 30);
    assert_true(real("values/*.tsm") >= 300);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_come_back),                    cmocka_unit_test(files_come_back_through_other_formats),
        cmocka_unit_test(the_header_comes_back),              cmocka_unit_test(parameters_are_attributes_by_value),
        cmocka_unit_test(inputs_have_declared_types),         cmocka_unit_test(ops_are_in_the_order_of_execution),
        cmocka_unit_test(weights_stay_where_they_are),        cmocka_unit_test(changed_networks_have_one_form),
        cmocka_unit_test(changed_values_take_the_usual_width), cmocka_unit_test(what_tsm_cannot_hold_is_refused),
        cmocka_unit_test(an_operator_without_inputs),
        cmocka_unit_test(real_files),
    };
    scratch_make();
    return cmocka_run_group_tests(tests, group_begin, group_end);
}
