/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Operators, one at a time, against an implementation that is not XIR's: each line of cases/cases.txt is a model, and
 * cases/recorded.txt has what ONNX Runtime computes with it, all optimisations off (cases/onnxruntime.mjs made it).
 * Each is converted strictly, checked without a finding, and run, after the conversion alone, with quantised types and
 * without, and after the default pipeline; integers must be the same, reals within 1e-5. Lines of cases/same.txt are
 * models that ONNX Runtime has no kernels for, with nodes of older operators that compute the same. Lines of
 * cases/bad.txt are models that are wrong, or that XIR has no operations for, with the place and a part of the finding.
 * XIR_ONNX_ONLY names a single case. */
#include <math.h>
#include <xir/convert.h>
#include <xir/pass.h>
#include "cases.h"

#define FOLDER XIR_TEST_DATA "/convert/onnx/cases/"

static char line[1 << 16], recorded[1 << 16];

/* ---- what was recorded ------------------------------------------------------------------------------------------ */

/* "gelu y 2x3: 1 2 3": finds the line of an output. */
static const char *numbers_of(const char *name, const char *output, char shape[60]) {
    FILE *f = fopen(FOLDER "recorded.txt", "r");
    char of[80], out[80];
    int skip = 0;
    assert_non_null(f);
    while (fgets(recorded, sizeof recorded, f)) {
        if (*recorded == '#' || sscanf(recorded, "%79s %79s %59[^:]:%n", of, out, shape, &skip) != 3) continue;
        if (strcmp(of, name) == 0 && strcmp(out, output) == 0) break;
        skip = 0;
    }
    fclose(f);
    if (!skip) fail_msg("%s: nothing is recorded for %s", name, output);
    return recorded + skip;
}

static double element_at(const xir_array *a, size_t i) {
    size_t size;
    const void *data = xir_array_data(a, &size);
    const xir_type *e = xir_type_element(xir_array_type(a));
    const uint64_t bits = xir_type_storage_bits(e);
    if (xir_type_kind_of(e) == XIR_TYPE_FLOAT)
        return bits == 64 ? ((const double *)data)[i] : (double)((const float *)data)[i];
    int64_t whole = 0;
    memcpy(&whole, (const char *)data + i * (bits / 8), bits / 8);
    const bool wraps = bits < 64 && xir_type_kind_of(e) == XIR_TYPE_INTEGER &&
                       xir_type_equal(e, xir_type_sint(ctx, (int)bits));
    return (double)(wraps && whole >> (bits - 1) ? whole - ((int64_t)1 << bits) : whole);
}

static void check_output(const onnx_case *c, const xir_array *a, const char *output, const char *how) {
    char shape[60], found[60] = "";
    size_t at = 0, n = xir_array_count(a);
    const char *p = numbers_of(c->part[0], output, shape);
    const xir_type *type = xir_array_type(a);
    for (size_t i = 0; i < xir_type_rank(type); i++)
        at += (size_t)snprintf(found + at, sizeof found - at, "%s%lld", i ? "x" : "",
                               (long long)xir_type_dim(type, (int64_t)i, false));
    if (!*found) strcpy(found, "1");
    if (strcmp(found, shape) != 0) fail_msg("%s, %s: %s is %s, not %s", c->part[0], how, output, found, shape);
    const bool real = xir_type_kind_of(xir_type_element(type)) == XIR_TYPE_FLOAT;
    for (size_t i = 0; i < n; i++) {
        char *end;
        const double expected = strtod(p, &end), is = element_at(a, i);
        assert_true(end != p);
        p = end;
        const bool same = real ? fabs(is - expected) <= 1e-5 + 1e-5 * fabs(expected) : is == expected;
        if (!same && !(isnan(is) && isnan(expected)) && is != expected)
            fail_msg("%s, %s: %s[%zu] is %.9g, not %.9g", c->part[0], how, output, i, is, expected);
    }
}

/* ---- converting and running ------------------------------------------------------------------------------------- */

static void convert(const onnx_case *c, xir_network *net, const char *passes) {
    xir_diags_clear(why);
    xir_pipeline *pipeline = xir_pipeline_parse(ctx, xir_str_of(passes), why);
    const xir_status status = pipeline ? xir_pipeline_run(pipeline, net, NULL, NULL, why) : XIR_E_SYNTAX;
    xir_pipeline_free(pipeline);
    if (!status && !xir_diags_count(why)) return;
    xir_diags_print(why, stderr);
    fail_msg("%s: not converted", c->part[0]);
}

static void run_case(const onnx_case *c, xir_network *net, xir_array **out, size_t *n_out) {
    xir_array *in[CASE_VALUES];
    size_t n_in = 0;
    for (size_t i = 0; i < c->n; i++) if (!c->values[i].constant) in[n_in++] = case_array(&c->values[i]);
    *n_out = xir_op_input_count(xir_network_output_op(net));
    xir_diags_clear(why);
    if (xir_network_run(net, (const xir_array *const *)in, n_in, out, *n_out, NULL, why)) {
        xir_diags_print(why, stderr);
        fail_msg("%s: cannot be run", c->part[0]);
    }
    for (size_t i = 0; i < n_in; i++) xir_array_free(in[i]);
}

static void check_case(const onnx_case *c, const char *passes) {
    xir_network *net = case_network(c);
    xir_array *out[CASE_VALUES];
    char names[200], *rest;
    size_t n_out;
    xir_diags_clear(why);
    if (xir_dialect_check(net, why) || xir_diags_count(why)) {
        xir_diags_print(why, stderr);
        fail_msg("%s: the check finds faults", c->part[0]);
    }
    convert(c, net, passes);
    run_case(c, net, out, &n_out);
    n_out = 0;
    snprintf(names, sizeof names, "%s", c->part[4]);
    for (char *w = strtok_r(names, " ", &rest); w; w = strtok_r(NULL, " ", &rest))
        check_output(c, out[n_out++], w, passes);
    for (size_t i = 0; i < n_out; i++) xir_array_free(out[i]);
    xir_network_free(net);
}

static void computes_what_onnx_runtime_does(void **state) {
    (void)state;
    static onnx_case c;
    const char *only = getenv("XIR_ONNX_ONLY");
    char pipeline[1000];
    size_t n = 0;
    snprintf(pipeline, sizeof pipeline, "to-xir{strict},%s", xir_default_pipeline() + strlen("bind,to-xir,"));
    FILE *f = fopen(FOLDER "cases.txt", "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f)) {
        if (!case_read(&c, line) || (only && strcmp(only, c.part[0]) != 0)) continue;
        check_case(&c, "to-xir{strict}");
        check_case(&c, pipeline);
        check_case(&c, "to-xir{strict,quantized=arithmetic}");
        n++;
    }
    fclose(f);
    assert_true(only || n >= 1);
    print_message("%zu models\n", n);
}

/* ---- what older operators compute ------------------------------------------------------------------------------- */

static void computes_what_older_operators_do(void **state) {
    (void)state;
    static onnx_case c;
    const char *only = getenv("XIR_ONNX_ONLY");
    FILE *f = fopen(FOLDER "same.txt", "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f)) {
        xir_array *out[2][CASE_VALUES];
        size_t n[2];
        if (!case_read(&c, line) || (only && strcmp(only, c.part[0]) != 0)) continue;
        assert_int_equal(c.parts, 7);
        for (int k = 0; k < 2; k++) {
            if (k) c.part[1] = c.part[6], c.part[3] = c.part[5];
            xir_network *net = case_network(&c);
            convert(&c, net, "to-xir{strict}");
            run_case(&c, net, out[k], &n[k]);
            xir_network_free(net);
        }
        assert_int_equal(n[0], n[1]);
        for (size_t i = 0; i < n[0]; i++) {
            xir_difference d;
            assert_int_equal(xir_array_compare(out[0][i], out[1][i], 1e-5, 1e-5, &d), XIR_OK);
            if (!d.same_shape || d.count) fail_msg("%s: output %zu[%zu] is %g, not %g", c.part[0], i, d.first, d.a,
                                                   d.b);
            xir_array_free(out[0][i]);
            xir_array_free(out[1][i]);
        }
    }
    fclose(f);
}

/* ---- what is refused -------------------------------------------------------------------------------------------- */

/* The parts after the outputs: the severity, the status and place of the finding of a check ("error E_UNKNOWN
 * /graph/node/0/attribute/alpha"), and a part of its text; or "kept", and a part of the reason why a conversion keeps
 * the node. */
static void check_bad_case(const onnx_case *c) {
    xir_network *net = case_network(c);
    assert_int_equal(c->parts, 7);
    const bool kept = strcmp(c->part[5], "kept") == 0;
    char found[400] = "";
    xir_diags_clear(why);
    const xir_status status = kept ? xir_pass_run(net, "to-xir", NULL, NULL, why) : xir_dialect_check(net, why);
    const xir_diag *d = xir_diags_at(why, 0);
    if (d && kept) snprintf(found, sizeof found, "kept");
    else if (d)
        snprintf(found, sizeof found, "%s %s %.*s", d->severity == XIR_ERROR ? "error" : d->severity == XIR_NOTE
                 ? "note" : "warning", xir_status_name(d->code), (int)d->path.size, d->path.data);
    if (kept && status) fail_msg("%s: %s", c->part[0], xir_status_name(status));
    if (!d || strcmp(found, c->part[5]) != 0 || !strstr(d->message.data, c->part[6])) {
        xir_diags_print(why, stderr);
        fail_msg("%s: found '%s', not '%s' '%s'", c->part[0], found, c->part[5], c->part[6]);
    }
    xir_network_free(net);
}

static void bad_nodes_are_found(void **state) {
    (void)state;
    static onnx_case c;
    size_t n = 0;
    const char *only = getenv("XIR_ONNX_ONLY");
    FILE *f = fopen(FOLDER "bad.txt", "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f)) {
        if (!case_read(&c, line) || (only && strcmp(only, c.part[0]) != 0)) continue;
        check_bad_case(&c);
        n++;
    }
    fclose(f);
    assert_true(only || n >= 1);
}

/* ---- other dims ------------------------------------------------------------------------------------------------- */

/* One value has other dims: none, one less, one more, 0 elements, one more element, or, of an input, only open ones. */
enum { VARIANTS = 6 };
static bool deform(case_value *v, int variant) {
    if (variant == 0) v->rank = 0;
    else if (variant == 2 && v->rank < CASE_RANK) {
        memmove(v->dims + 1, v->dims, v->rank++ * sizeof *v->dims);
        v->dims[0] = 1;
    } else if (!v->rank || variant == 2) return false;
    else if (variant == 1) memmove(v->dims, v->dims + 1, --v->rank * sizeof *v->dims);
    else if (variant == 3) v->dims[0] = 0;
    else if (variant == 4) v->dims[v->rank - 1]++;
    else if (v->constant) return false;
    v->n = 1;
    for (size_t i = 0; i < v->rank; i++) {
        v->n *= (size_t)v->dims[i];
        v->declared[i] = variant == 5 ? -1 : v->dims[i];
    }
    return v->n <= CASE_NUMBERS;
}

/* Whatever the dims are, a check and a conversion end, and the network stays valid. */
static void other_dims_are_no_surprise(void **state) {
    (void)state;
    static onnx_case c;
    static case_value as_it_was;
    size_t n = 0, faults = 0;
    const char *only = getenv("XIR_ONNX_ONLY");
    FILE *f = fopen(FOLDER "cases.txt", "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f)) {
        if (!case_read(&c, line) || (only && strcmp(only, c.part[0]) != 0)) continue;
        for (size_t i = 0; i < c.n * VARIANTS; i++) {
            case_value *v = &c.values[i / VARIANTS];
            as_it_was = *v;
            if (deform(v, (int)(i % VARIANTS))) {
                xir_network *net = case_network(&c);
                xir_diags_clear(why);
                faults += xir_dialect_check(net, why) != XIR_OK;
                xir_diags_clear(why);
                (void)xir_pass_run(net, "to-xir", NULL, NULL, why);
                xir_diags_clear(why);
                if (xir_network_validate(net, why)) {
                    xir_diags_print(why, stderr);
                    fail_msg("%s, value %zu, variant %zu: the network is not valid", c.part[0], i / VARIANTS,
                             i % VARIANTS);
                }
                xir_network_free(net);
                n++;
            }
            *v = as_it_was;
        }
    }
    fclose(f);
    assert_true(only || (n > 1000 && faults > 500 && faults < n));
    print_message("%zu models with other dims, %zu with faults\n", n, faults);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(computes_what_onnx_runtime_does), cmocka_unit_test(computes_what_older_operators_do),
        cmocka_unit_test(bad_nodes_are_found), cmocka_unit_test(other_dims_are_no_surprise),
    };
    return RUN_GROUP(tests);
}
