/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Runs ONNX's own operator tests: each model is read, converted by onnx-to-xir and computed by the executor. The result
 * must be what ONNX recorded, within the tolerances of ONNX's own runner: |a - b| <= 1e-7 + 1e-3 * |b|. So conversion
 * and kernels check each other. The same is repeated after each pass, and after the default pipeline: they must not
 * change the result.
 *
 * Some of ONNX's inputs are attributes of XIR's ops. If a node of a model stays for that reason, the model is tried
 * again with constants for all inputs but the first, and then for all but the last, or for the only one: conditions and
 * numbers of rounds come first.
 *
 * Every model must be readable. Tests that do not reach their result are listed with the reason in operators.txt; a
 * listed test that passes is an error, too. The summary is in docs/onnx.md. Debian's package libonnx-testdata has
 * the tests; XIR_ONNX_TESTS names another folder, XIR_ONNX_ONLY a single test. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <xir/exec.h>
#include <xir/pass.h>
#include <xir/serialize.h>
#include "support/again.h"
#include "support/listed.h"
#include "support/net.h"
#include "support/onnx_data.h"
#include "support/onnx_tests.h"
#include "support/path_rule.h"
#include "support/skips.h"

enum { MOST_REASON = 400 };

/* ---- one test --------------------------------------------------------------------------------------------------- */

static struct {
    size_t tests, sets, passed, bound, by_op, by_test, wrong;
    path_counts paths;   /* ops, and those that name the ops that they were made of */
} total;

/* Why a test does not pass; `op_type` is the type of the node that is not converted, if that is the reason. */
typedef struct verdict {
    bool passes;
    char op_type[64];
    char reason[MOST_REASON];
} verdict;

static verdict because(const char *what, const xir_diags *diags) {
    verdict v = { .passes = false };
    const xir_diag *d = NULL;
    for (size_t i = 0; diags && i < xir_diags_count(diags) && !(d && d->severity == XIR_ERROR); i++)
        d = xir_diags_at(diags, i);
    snprintf(v.reason, sizeof v.reason, "%s%s%.*s", what, d ? ": " : "",
             d ? (int)(d->message.size < 300 ? d->message.size : 300) : 0, d ? d->message.data : "");
    return v;
}

static verdict compare(const xir_op *last, xir_array *const *found, size_t n, const onnx_files *set) {
    verdict v = { .passes = n == set->n_out };
    if (!v.passes) return because("its number of outputs is not the recorded one", NULL);
    for (size_t i = 0; i < n && v.passes; i++) {
        xir_array *recorded = onnx_array(ctx, set->out[i], xir_value_type(xir_op_input(last, (int64_t)i)), v.reason);
        v.passes = recorded && onnx_agrees(found[i], recorded, i, v.reason);
        xir_array_free(recorded);
    }
    return v;
}

static verdict run_set(const xir_network *net, const onnx_files *set) {
    const xir_op *first = xir_network_op_at(net, 0),
                  *last = xir_network_op_at(net, (int64_t)xir_network_op_count(net) - 1);
    const xir_array *in[ONNX_MOST_FILES] = { NULL };
    xir_array *out[ONNX_MOST_FILES] = { NULL };
    size_t n_in = xir_op_output_count(first), n_out = xir_op_input_count(last);
    verdict v = { .passes = true };
    if (n_in != set->n_in || n_out > ONNX_MOST_FILES) {
        return because("its number of inputs is not the recorded one", NULL);
    }
    for (size_t i = 0; i < n_in && v.passes; i++) {
        v.passes = (in[i] = onnx_array(ctx, set->in[i], xir_value_type(xir_op_output(first, (int64_t)i)), v.reason)) !=
            NULL;
    }
    if (v.passes) {
        xir_diags_clear(why);
        xir_status status = xir_network_run(net, in, n_in, out, n_out, NULL, why);
        v = status ? because("it cannot be run", why) : compare(last, out, n_out, set);
    }
    for (size_t i = 0; i < n_in; i++) xir_array_free((xir_array *)(uintptr_t)in[i]);
    for (size_t i = 0; i < n_out; i++) xir_array_free(out[i]);
    return v;
}

/* Returns true if all nodes are converted and have kernels; otherwise the type of the first that is not. */
static bool all_can_run(const xir_network *net, verdict *v) {
    const xir_op *op = xir_network_first_unrunnable(net);
    if (!op) return true;
    xir_str key = xir_class_key(xir_op_class(op));
    *v = because("a node is not converted", NULL);
    bool dialect = key.size > 6 && memcmp(key.data, "onnx::", 6) == 0;
    snprintf(v->op_type, sizeof v->op_type, "%.*s", (int)key.size - 6 * dialect, key.data + 6 * dialect);
    for (size_t i = 0; i < xir_diags_count(why); i++) {
        const xir_diag *d = xir_diags_at(why, i);
        snprintf(v->reason, sizeof v->reason, "%.*s", (int)(d->message.size < 300 ? d->message.size : 300),
                 d->message.data);
    }
    return false;
}

/* The ways in which a model is tried: as it is, or with constants for inputs, because some of ONNX's inputs are
 * attributes of XIR's ops, and some decide which nodes there are. */
typedef enum binding { AS_IT_IS, ALL_BUT_FIRST, ALL_BUT_LAST } binding;
typedef struct taking {
    binding     bound;
    const char *pipeline;
} taking;

/* Every pass is tried alone, so that no pass hides the error of another; the last entry is the default pipeline. */
static const char *const pipelines[] = {
    "onnx-to-xir",
    "onnx-to-xir,infer,fold",
    "onnx-to-xir,identity,merge",
    "onnx-to-xir,fuse",
    "onnx-to-xir,cse,dce",
    "onnx-to-xir,layout",
    "onnx-to-xir,xir-to-onnx,onnx-to-xir",
    "onnx-to-xir,layout{to=nchw},xir-to-onnx{opset=21},onnx-to-xir",
};

static xir_status prepare(xir_network *net, taking how) {
    xir_diags_clear(why);
    const xir_pass_settings settings = XIR_INIT(xir_pass_settings, .level = XIR_LEVEL_MAX, .verify = true);
    xir_pipeline *pipeline = xir_pipeline_parse(ctx, xir_str_of(how.pipeline), why);
    xir_status status = pipeline ? xir_pipeline_run(pipeline, net, &settings, NULL, why) : XIR_E_INVALID;
    xir_pipeline_free(pipeline);
    return status;
}

/* Runs a model on every data set that it has. */
static verdict try_model(const char *folder, const xir_network *model, taking how) {
    verdict v = { .passes = true };
    for (size_t i = 0; v.passes; i++) {
        onnx_files set;
        onnx_read_set(folder, i, &set);
        if (!set.n_out) {
            onnx_free_set(&set);
            return i ? v : because("nothing was recorded", NULL);
        }
        xir_network *net = xir_network_clone(model);
        if (how.bound) onnx_bind_inputs(net, &set, how.bound == ALL_BUT_LAST);
        xir_network *was = xir_network_clone(net);
        xir_provenance *p = xir_provenance_new(net, NULL);
        const bool converted = !prepare(net, how);
        const char *broken = converted ? broken_path(p, was, &total.paths) : NULL;
        xir_provenance_free(p);
        xir_network_free(was);
        if (!converted) v = because("it is not converted", why);
        else if (broken) v = because(broken, NULL);
        else if (all_can_run(net, &v)) v = run_set(net, &set);
        xir_network_free(net);
        onnx_free_set(&set);
        total.sets++;
    }
    return v;
}

static void wrong(const char *test, const char *what, const verdict *v) {
    print_error("%s: %s", test, what);
    if (v) print_error("%s%s%s%s", *what ? ": " : "", v->op_type, *v->op_type ? ": " : "", v->reason);
    print_error("\n");
    total.wrong++;
}

static void try_test(const char *folder, const char *name) {
    char path[600];
    snprintf(path, sizeof path, "%s/model.onnx", folder);
    if (access(path, R_OK)) return;   // models that must be fetched
    total.tests++;
    xir_diags_clear(why);
    xir_network *model = xir_network_load(ctx, path, NULL, why);
    verdict v = because("", why);
    if (!model) {
        wrong(name, "cannot be read", &v);
        return;
    }
    taking how = { .bound = AS_IT_IS, .pipeline = pipelines[0] };
    v = try_model(folder, model, how);
    while (*v.op_type && how.bound < ALL_BUT_LAST) {
        how.bound++;
        v = try_model(folder, model, how);
    }
    listed *entry = find_listed(false, name), *type = *v.op_type ? find_listed(true, v.op_type) : NULL;
    if (entry) entry->seen++;
    if (!entry && type) type->seen++;
    if (v.passes && entry) wrong(name, "is listed but passes", NULL);
    else if (v.passes) total.passed++, total.bound += how.bound != AS_IT_IS;
    else if (entry) total.by_test++;
    else if (type) total.by_op++;
    else wrong(name, "", &v);
    for (size_t i = 1; v.passes && i <= COUNT(pipelines); i++) {
        if (!again_takes()) continue;
        how.pipeline = i < COUNT(pipelines) ? pipelines[i] : xir_default_pipeline();
        v = try_model(folder, model, how);
        if (!v.passes) wrong(name, how.pipeline, &v);
    }
    xir_network_free(model);
}

/* ---- all tests -------------------------------------------------------------------------------------------------- */

/* The summary of the tests in docs/onnx.md. */
static void check_docs(void) {
    char expected[400], line[1000];
    bool found = false;
    snprintf(expected, sizeof expected,
             "%zu models are read; %zu are converted, run, and give what ONNX recorded, before and after the passes, "
             "%zu of them with constants for inputs that are attributes in XIR; %zu have a node of a type that is "
             "not converted, %zu are listed for other reasons.\n", total.tests, total.passed, total.bound, total.by_op,
             total.by_test);
    FILE *f = fopen(XIR_TEST_DATA "/../docs/onnx.md", "r");
    while (f && !found && fgets(line, sizeof line, f)) found = strcmp(line, expected) == 0;
    if (f) fclose(f);
    if (!found) fail_msg("docs/onnx.md should say: %s", expected);
}

static void operators_compute_what_was_recorded(void **state) {
    (void)state;
    read_list("convert/onnx/operators.txt");
    onnx_each_test(try_test);
    if (total.tests == 0) SKIP("no ONNX operator tests in %s (Debian: libonnx-testdata)", onnx_tests_folder());
    print_message(
        "ONNX: %zu models read; %zu pass, %zu of them with constants as inputs; listed: %zu of op types that stay, %zu "
                  "others; %zu runs\n", total.tests, total.passed, total.bound, total.by_op, total.by_test, total.sets);
    print_message("%zu of %zu ops name the ops that they were made of\n", total.paths.named, total.paths.ops);
    bool all = !getenv("XIR_ONNX_TESTS") && !getenv("XIR_ONNX_ONLY");
    for (size_t i = 0; i < n_listed; i++) {
        if (!list[i].seen && all) wrong(list[i].name, "is listed but not among the tests", NULL);
        else if (list[i].seen)
            print_message("  %-10s %3zu  %s\n", list[i].is_op ? "stays" : "differs", list[i].seen, list[i].name);
    }
    assert_int_equal(total.wrong, 0);
    assert_true(total.paths.named * 100 >= total.paths.ops * 99);
    if (all) check_docs();
}

GROUP {
    const struct CMUnitTest tests[] = { cmocka_unit_test(operators_compute_what_was_recorded) };
    return RUN_GROUP(tests);
}
