/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Modules that TensorStack's front end made of ONNX's operator tests: the corpus' folder tsm/onnxnode has them, under
 * the names of these tests. Each is converted and run on the inputs that ONNX recorded; the results are what ONNX
 * recorded, by the rule of ONNX's own runner. The front end casts to 32 bits, so elements are compared as numbers,
 * whatever their type. What differs is listed with the reason in tsm_onnx.txt; a listed test that passes is an error,
 * too. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <xir/exec.h>
#include <xir/pass.h>
#include <xir/serialize.h>
#include "support/listed.h"
#include "support/net.h"
#include "support/onnx_data.h"
#include "support/onnx_tests.h"
#include "support/recorded.h"
#include "support/skips.h"

enum { MOST_ENDS = 8 };

static const char *corpus;
static size_t passed, seen, wrong;

static bool agree(const xir_array *found, const xir_array *expected, char reason[RECORDED_REASON]) {
    if (!recorded_same_shape(found, expected, 0, reason)) return false;
    for (size_t i = 0; i < xir_array_count(found); i++) {
        const double x = xir_array_real(found, i), y = xir_array_real(expected, i);
        if (x == y || (isnan(x) && isnan(y)) || fabs(x - y) <= 1e-7 + 1e-3 * fabs(y)) continue;
        snprintf(reason, RECORDED_REASON, "element %zu is %.9g, recorded is %.9g", i, x, y);
        return false;
    }
    return true;
}

/* Computes a data set; inputs have the type of the recorded array. */
static bool computes(xir_network *net, const onnx_files *set, char reason[RECORDED_REASON]) {
    const xir_op *first = xir_network_input_op(net);
    xir_array *in[MOST_ENDS] = { NULL }, *out = NULL, *expected = onnx_array(ctx, set->out[0], NULL, reason);
    bool same = true;
    assert_true(expected && set->n_out == 1 && set->n_in <= MOST_ENDS);
    assert_int_equal(xir_op_output_count(first), set->n_in);
    for (size_t i = 0; i < set->n_in; i++) {
        in[i] = onnx_array(ctx, set->in[i], NULL, reason);
        assert_non_null(in[i]);
        DOES(xir_value_set_type(xir_op_output(first, (int64_t)i), xir_array_type(in[i])));
    }
    xir_diags_clear(why);
    if (xir_pass_run(net, "tsm-to-xir", "strict", NULL, why)) {
        recorded_error(reason, "it is not converted");
        same = false;
    } else if (xir_network_run(net, (const xir_array *const *)in, set->n_in, &out, 1, NULL, why)) {
        recorded_error(reason, "it cannot be run");
        same = false;
    }
    same = same && agree(out, expected, reason);
    for (size_t i = 0; i < set->n_in; i++) xir_array_free(in[i]);
    xir_array_free(expected);
    xir_array_free(out);
    return same;
}

/* "node/test_abs" is the file node_test_abs, "pytorch-converted/test_ReLU" pytorch-_test_ReLU. */
static void try_test(const char *folder, const char *name) {
    char path[700], reason[RECORDED_REASON] = "";
    onnx_files set;
    const char *test = strchr(name, '/') + 1;
    const bool pytorch = strncmp(name, "pytorch-", 8) == 0;
    snprintf(path, sizeof path, "%s/tsm/onnxnode/%s_%s.tsm", corpus, pytorch ? "pytorch-" : "node", test);
    if ((!pytorch && strncmp(name, "node/", 5) != 0) || access(path, R_OK)) return;
    onnx_read_set(folder, 0, &set);
    xir_network *net = xir_network_load(ctx, path, NULL, why);
    assert_non_null(net);
    listed *entry = find_listed(false, test);
    const bool same = computes(net, &set, reason);
    if (entry) entry->seen++;
    seen++;
    passed += same;
    if (same != !entry) {
        print_error("%s: %s\n", name, same ? "is listed but passes" : reason);
        wrong++;
    }
    onnx_free_set(&set);
    xir_network_free(net);
}

static void modules_compute_what_onnx_recorded(void **state) {
    (void)state;
    corpus = CORPUS_OR_SKIP();
    read_list("convert/tsm_onnx.txt");
    onnx_each_test(try_test);
    if (!seen) SKIP("no ONNX operator tests in %s (Debian: libonnx-testdata)", onnx_tests_folder());
    print_message("TSM: %zu modules of ONNX's tests, %zu give what ONNX recorded\n", seen, passed);
    for (size_t i = 0; i < n_listed && !getenv("XIR_ONNX_ONLY"); i++)
        if (!list[i].seen) print_error("%s is listed but not among the tests\n", list[i].name), wrong++;
    assert_int_equal(wrong, 0);
}

GROUP {
    const struct CMUnitTest tests[] = { cmocka_unit_test(modules_compute_what_onnx_recorded) };
    return RUN_GROUP(tests);
}
