/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Checks of operators: numbers of inputs, missing, unknown and wrong parameters, each at its place, all in one run.
 * Widths do not matter, and operators of the user are only noted. */
#include <xir/convert.h>
#include "support/net.h"
#include "support/stored.h"
#include "support/tsm_make.h"

#define IO "inputs 0\noutputs 1\nn <param> x - #dtype=5::10 #shape=5:4:1,3,8,8\n"

static xir_diags *checked(const char *text, xir_status status) {
    tsm_made f;
    tsm_make(&f, text);
    xir_network *net = xir_network_read(ctx, f.bytes, f.size, XIR_STR("x.tsm"),
                                        &XIR_INIT(xir_load_options, .format = "tsm"), why);
    assert_non_null(net);
    xir_diags *found = xir_diags_new(ctx);
    assert_int_equal(xir_dialect_check(net, found), status);
    xir_network_free(net);
    return found;
}

static void a_name_longer_than_the_documents_allow(void **state) {
    (void)state;
    xir_diags *found = checked(IO "n relu a_name_that_has_thirty_two_bytes 0\n", XIR_OK);
    const xir_diag *d = xir_diags_at(found, 0);
    assert_int_equal(xir_diags_count(found), 1);
    assert_true(d->severity == XIR_NOTE);
    assert_non_null(strstr(d->message.data, "its name has 32 bytes: TensorStack's documents allow fewer than 32"));
    xir_diags_free(found);
    found = checked(IO "n relu a_name_that_has_thirty_one_byte 0\n", XIR_OK);
    assert_int_equal(xir_diags_count(found), 0);
    xir_diags_free(found);
}

static void faults_of_operators(void **state) {
    static const struct { const char *node, *path, *sentence; xir_status status; } rows[] = {
        { "n relu y 0,0\n", "/nodes/1", "expected 1 input, found 2", XIR_E_BOUNDS },
        { "n add y 0\n", "/nodes/1", "expected 2 inputs, found 1", XIR_E_BOUNDS },
        { "n gemm y 0\n", "/nodes/1", "expected 2 to 3 inputs, found 1", XIR_E_BOUNDS },
        { "n softmax y 0\n", "/nodes/1/attribute/dim", "the attribute dim is missing: expected an integer", XIR_E_MISSING },
        { "n softmax y 0 dim='one\n", "/nodes/1/attribute/dim", "dim: expected an integer, found a text", XIR_E_TYPE },
        { "n softmax y 0 dim=5:1:1\n", "/nodes/1/attribute/dim", "dim: expected an integer, found a list", XIR_E_TYPE },
        { "n relu y 0 slope=10::1\n", "/nodes/1/attribute/slope", "unknown attribute 'slope'", XIR_E_UNKNOWN },
        { "n flatten y 0 dims=5::1\n", "/nodes/1/attribute/dims", "did you mean 'dim'?", XIR_E_UNKNOWN },
        { "n pooling2d y 0 format='NCHW ksize=5:4:1 stride=5:4:1\n", "/nodes/1/attribute/padding",
          "the attribute padding is missing: expected a list of integers", XIR_E_MISSING },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[400];
        snprintf(text, sizeof text, IO "%s", rows[i].node);
        xir_diags *found = checked(text, rows[i].status);
        const xir_diag *d = xir_diags_at(found, 0);
        const bool right = d && xir_str_equal(d->path, xir_str_of(rows[i].path)) &&
                           memmem(d->message.data, d->message.size, rows[i].sentence, strlen(rows[i].sentence));
        if (!right) {
            xir_diags_print(found, stderr);
            fail_msg("row %zu: expected %s: %s", i, rows[i].path, rows[i].sentence);
        }
        xir_diags_free(found);
    }
}

static void all_in_one_run(void **state) {
    (void)state;
    xir_diags *found = checked("inputs 0\noutputs 3\nn <param> x - #dtype=5::10 #shape=5:2:1,4\nn softmax a 0\n"
                               "n relu b 1,0 q=5::1\nn flatten c 2 dim='x\n", XIR_E_MISSING);
    assert_int_equal(xir_diags_count_of(found, XIR_ERROR), 4);
    xir_diags_free(found);
}

static void widths_do_not_matter(void **state) {
    static const char *const nodes[] = {
        "n softmax y 0 dim=7::1 smooth=2::1\n", "n softmax y 0 dim=2::1 smooth=21::0\n", "n pow y 0 y=11::2.5\n",
        "n pow y 0 y=5::2\n", "n reduce_sum y 0 dims=7:1:1 keep_dims=5::1\n", "n mine y 0 anything=10:2:1\n",
        "n relu y 0 #output_count=5::1 #shape=7:4:1,3,8,8 #dtype=7::10\n",
    };
    (void)state;
    for (size_t i = 0; i < COUNT(nodes); i++) {
        char text[400];
        snprintf(text, sizeof text, IO "%s", nodes[i]);
        xir_diags *found = checked(text, XIR_OK);
        if (xir_diags_count_of(found, XIR_ERROR) + xir_diags_count_of(found, XIR_WARNING)) {
            xir_diags_print(found, stderr);
            fail_msg("%s", nodes[i]);
        }
        xir_diags_free(found);
    }
}

/* The first parameter of a name counts; the others are findings, and stay in the file. */
static void parameters_that_appear_twice(void **state) {
    static const struct { const char *node, *path, *sentence; size_t findings; } rows[] = {
        { "n softmax y 0 dim=5::1 dim='x\n", "/nodes/1/attributes", "softmax 'y' (node 1): dim appears twice",
          1 },
        { "n relu y 0 #op='abs\n", "/nodes/1/attributes", "relu 'y' (node 1): #op appears twice", 1 },
        { "n relu y 0 #name='z #name=5::1 #name=10:2:1,2\n", "/nodes/1/attributes", "#name appears twice", 3 },
        { "n prelu y 0,2 dim=5::1\nn <const> w - value=10:1:1 device='cpu value=0:: value=5:2:1 value=10:1:2+10:1:3\n",
          "/nodes/1/input/1", "input 1 'w': value appears twice", 3 },
        /* of a constant that is a result, too, and of one that nothing uses */
        { "n mine y 0,2 d=5::1\nn <const> w - value=10::1 value=5::1\n", "/nodes/1/input/1", "value appears twice", 1 },
        { "n relu y 0\nn <const> w - value=10::1 value=5::1 device='cpu device='gpu\n", "/",
          "the constant 'w': value appears twice", 2 },
        { "n mine y 0 d=5::1 a=5::1 b=5::1 c=5::1 d=5::1 e=5::1 f=5::1 g=5::1 h=5::1 i=5::1 j=5::1 k=5::1 l=5::1 "
          "m=5::1 n=5::1 o=5::1 p=5::1 q=5::1 d=5::1\n", "/nodes/1/attributes", "d appears twice", 2 },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[600];
        tsm_made f;
        snprintf(text, sizeof text, IO "%s", rows[i].node);
        tsm_make(&f, text);
        xir_network *net = stored_must_read("tsm", f.bytes, f.size);
        stored_must_be(net, "tsm", f.bytes, f.size, rows[i].node);
        xir_network_free(net);
        xir_diags *found = checked(text, XIR_E_EXISTS);
        bool right = false;
        for (size_t k = 0; k < xir_diags_count(found); k++) {
            const xir_diag *d = xir_diags_at(found, k);
            right |= xir_str_equal(d->path, xir_str_of(rows[i].path)) &&
                     memmem(d->message.data, d->message.size, rows[i].sentence, strlen(rows[i].sentence));
        }
        if (!right || xir_diags_count_of(found, XIR_ERROR) != rows[i].findings) {
            xir_diags_print(found, stderr);
            fail_msg("row %zu: expected %zu findings, one at %s: %s", i, rows[i].findings, rows[i].path,
                     rows[i].sentence);
        }
        xir_diags_free(found);
    }
}

static void repeated_parameters_of_results(void **state) {
    (void)state;
    xir_diags *found = checked("inputs 0\noutputs 1,2\nn <param> x - #dtype=5::10 #shape=5:1:4\nn relu y 0\n"
                               "n <const> w - value=10::1 value=5::1\n", XIR_E_EXISTS);
    assert_int_equal(xir_diags_count(found), 1);
    assert_true(xir_str_equal(xir_diags_at(found, 0)->path, XIR_STR("/")));
    xir_diags_free(found);
}

/* The dims and elements that a node declares, where they are not those that follow. */
static void declared_types(void **state) {
    static const struct { const char *node, *sentence; } rows[] = {
        { "n relu y 0 #shape=5:4:1,3,8,8\n", NULL },
        { "n relu y 0 #shape=5:4:-1,3,-1,8\n", NULL },
        { "n relu y 0 #shape=5:4:1,3,8,9\n", "relu 'y' (node 1): output 0 'y' has wrong declared dims: expected "
          "[1, 3, 8, 8], found [1, 3, 8, 9]" },
        { "n relu y 0 #shape=5:2:-1,192\n", "expected [1, 3, 8, 8], found [?, 192]" },
        { "n relu y 0 #dtype=7::10\n", NULL },
        { "n relu y 0 #dtype=5::13\n", NULL },   /* CHAR8, which XIR does not have */
        { "n relu y 0 #dtype=5::11\n", "relu 'y' (node 1): output 0 'y' has wrong declared elements: expected "
          "@fp(32), found @fp(64)" },
        { "n _shape y 0 #dtype=5::7\n", "expected @sint(32), found @sint(64)" },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[300];
        snprintf(text, sizeof text, IO "%s", rows[i].node);
        xir_diags *found = checked(text, rows[i].sentence ? XIR_E_INVALID : XIR_OK);
        const xir_diag *d = xir_diags_at(found, 0);
        const char *sentence = rows[i].sentence;
        const bool right = sentence ? d && xir_str_equal(d->path, XIR_STR("/nodes/1/output/0")) &&
            memmem(d->message.data, d->message.size, sentence, strlen(sentence)) : !d;
        if (!right) {
            xir_diags_print(found, stderr);
            fail_msg("row %zu", i);
        }
        xir_diags_free(found);
    }
}

/* Nodes have the numbers of the file, in which they may be in any order. */
static void numbers_of_nodes(void **state) {
    (void)state;
    xir_diags *found = checked("inputs 3\noutputs 1,0\nn softmax y 3 dim=5::9\nn softmax z 3 dim=5::8\n"
                               "n <const> w - value=5::1\nn <param> x - #dtype=5::10 #shape=5:2:1,4\n", XIR_E_BOUNDS);
    assert_int_equal(xir_diags_count(found), 2);
    assert_true(xir_str_equal(xir_diags_at(found, 0)->path, XIR_STR("/nodes/0/attribute/dim")));
    assert_true(xir_str_equal(xir_diags_at(found, 1)->path, XIR_STR("/nodes/1/attribute/dim")));
    xir_diags_free(found);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_longer_than_the_documents_allow),
        cmocka_unit_test(faults_of_operators),
        cmocka_unit_test(all_in_one_run),
        cmocka_unit_test(widths_do_not_matter),
        cmocka_unit_test(parameters_that_appear_twice),
        cmocka_unit_test(repeated_parameters_of_results),
        cmocka_unit_test(declared_types),
        cmocka_unit_test(numbers_of_nodes),
    };
    return cmocka_run_group_tests(tests, group_begin, group_end);
}
