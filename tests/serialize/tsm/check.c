/* Checks of operators: numbers of inputs, missing, unknown and wrong parameters, each at its place, all in one run.
 * Widths do not matter, and operators of the user are only noted. */
#include <xir/convert.h>
#include "support/net.h"
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

static void faults_of_operators(void **state) {
    static const struct { const char *node, *path, *sentence; xir_status status; } rows[] = {
        { "n relu y 0,0\n", "/ops/0", "expected 1 input, found 2", XIR_E_BOUNDS },
        { "n add y 0\n", "/ops/0", "expected 2 inputs, found 1", XIR_E_BOUNDS },
        { "n gemm y 0\n", "/ops/0", "expected 2 to 3 inputs, found 1", XIR_E_BOUNDS },
        { "n softmax y 0\n", "/ops/0/attribute/dim", "the attribute dim is missing: expected an integer", XIR_E_MISSING },
        { "n softmax y 0 dim='one\n", "/ops/0/attribute/dim", "dim: expected an integer, found a text", XIR_E_TYPE },
        { "n softmax y 0 dim=5:1:1\n", "/ops/0/attribute/dim", "dim: expected an integer, found a list", XIR_E_TYPE },
        { "n relu y 0 slope=10::1\n", "/ops/0/attribute/slope", "unknown attribute 'slope'", XIR_E_UNKNOWN },
        { "n flatten y 0 dims=5::1\n", "/ops/0/attribute/dims", "did you mean 'dim'?", XIR_E_UNKNOWN },
        { "n pooling2d y 0 format='NCHW ksize=5:4:1 stride=5:4:1\n", "/ops/0/attribute/padding",
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(faults_of_operators), cmocka_unit_test(all_in_one_run), cmocka_unit_test(widths_do_not_matter),
    };
    return cmocka_run_group_tests(tests, group_begin, group_end);
}
