/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Networks with open dims, as PyTorch's exporters write them (dynamic/make.py), are converted without numbers for the
 * dims, and compute for each choice of dims what the network computes whose dims were given before the conversion.
 * What the models compute is what ONNX Runtime recorded (dynamic/onnxruntime.mjs), for the models as they are and for
 * those that it optimised, at two levels; and a batch is its rows, a masked or cached token is as good as none. As
 * operators of ONNX again, of several versions, they compute the same. */
#include <stdio.h>
#include <string.h>
#include <xir/exec.h>
#include <xir/pass.h>
#include <xir/serialize.h>
#include "support/net.h"

enum { MOST = 4 };   /* inputs and outputs */

static xir_network *load(const char *model) {
    char path[300];
    snprintf(path, sizeof path, XIR_TEST_DATA "/convert/onnx/dynamic/%s.onnx", model);
    xir_network *net = xir_network_load(ctx, path, NULL, why);
    if (!net) xir_diags_print(why, stderr);
    assert_non_null(net);
    return net;
}

/* Converts by the default pipeline, or by to-xir alone; every op must be converted, without a note. */
static void convert(xir_network *net, const char *bind, bool all) {
    char text[200];
    snprintf(text, sizeof text, "to-xir{strict%s%s%s}%s%s", *bind ? ",bind=\"" : "", bind, *bind ? "\"" : "",
             all ? "," : "", all ? xir_default_pipeline() + strlen("bind,to-xir,") : "");
    xir_diags_clear(why);
    xir_pipeline *pipeline = xir_pipeline_parse(ctx, xir_str_of(text), why);
    xir_status status = pipeline ? xir_pipeline_run(pipeline, net, NULL, NULL, why) : XIR_E_SYNTAX;
    if (status || xir_diags_count(why)) xir_diags_print(why, stderr);
    assert_int_equal(status, XIR_OK);
    assert_int_equal(xir_diags_count(why), 0);
    xir_pipeline_free(pipeline);
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) {
        if (xir_class_is_dialect(xir_op_class(op)))
            fail_msg("%.*s is not converted", (int)xir_op_name(op).size, xir_op_name(op).data);
    }
}

/* Returns how many dims are neither a number nor an expression. */
static size_t unknown_dims(const xir_network *net) {
    size_t n = 0;
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) {
        for (size_t i = 0; i < xir_op_output_count(op); i++) {
            const xir_value *v = xir_op_output(op, (int64_t)i);
            char text[8];
            for (size_t k = 0; k < xir_type_rank(xir_value_type(v)); k++) {
                xir_type_dim_text(xir_value_type(v), (int64_t)k, text, sizeof text);
                if (strcmp(text, "?") != 0) continue;
                print_message("dim %zu of %.*s is unknown\n", k, (int)xir_value_name(v).size, xir_value_name(v).data);
                n++;
            }
        }
    }
    return n;
}

/* "batch, length, 8; batch, 8": the dims of the outputs. */
static const char *output_dims(const xir_network *net) {
    static char text[600];
    size_t n = 0;
    const xir_op *op = xir_network_output_op(net);
    for (size_t i = 0; i < xir_op_input_count(op); i++) {
        const xir_type *type = xir_value_type(xir_op_input(op, (int64_t)i));
        n += (size_t)snprintf(text + n, sizeof text - n, i ? "; " : "");
        for (size_t k = 0; k < xir_type_rank(type); k++) {
            n += (size_t)snprintf(text + n, sizeof text - n, k ? ", " : "");
            n += xir_type_dim_text(type, (int64_t)k, text + n, sizeof text - n);
        }
    }
    return text;
}

/* ---- inputs ----------------------------------------------------------------------------------------------------- */

/* Dims of the inputs, "batch=2,length=5". */
static int64_t dim_of(const char *bind, xir_str name) {
    for (const char *p = bind; p && *p; p = strchr(p, ','), p += p ? 1 : 0) {
        if (strncmp(p, name.data, name.size) == 0 && p[name.size] == '=') return strtoll(p + name.size + 1, NULL, 10);
    }
    fail_msg("%.*s is not in %s", (int)name.size, name.data, bind);
    return 0;
}

static const xir_type *type_of_input(const xir_value *v, const char *bind) {
    int64_t dims[8];
    const xir_type *type = xir_value_type(v);
    const xir_map *tags = xir_value_tags(v);
    const xir_any *names = tags ? xir_map_find(tags, XIR_STR("source.dims")) : NULL;
    for (size_t i = 0; i < xir_type_rank(type); i++) {
        dims[i] = xir_type_dim(type, (int64_t)i, false);
        if (dims[i] < 0) dims[i] = dim_of(bind, names->as.list.items[i].as.text);
    }
    return xir_type_tensor(ctx, xir_type_element(type), NULL, dims, xir_type_rank(type));
}

/* The same numbers for an element wherever the array ends: floats in [-1, 1), integers 0 and 1, true for one of 4. */
static xir_array *make_input(const xir_type *type, unsigned seed) {
    xir_array *a = xir_array_new(ctx, type, why);
    assert_non_null(a);
    for (size_t i = 0; i < xir_array_count(a); i++) {
        seed = seed * 1103515245u + 12345u;
        unsigned r = seed >> 16 & 1023;
        if (xir_type_kind_of(xir_type_element(type)) == XIR_TYPE_FLOAT)
            ((float *)xir_array_edit(a))[i] = (float)r / 512 - 1;
        else if (xir_type_kind_of(xir_type_element(type)) == XIR_TYPE_BOOL) ((bool *)xir_array_edit(a))[i] = r < 256;
        else ((int64_t *)xir_array_edit(a))[i] = r & 1;
    }
    return a;
}

typedef struct arrays { xir_array *of[MOST]; size_t n; } arrays;

static arrays inputs_for(const xir_network *net, const char *bind) {
    const xir_op *op = xir_network_input_op(net);
    arrays in = { .n = xir_op_output_count(op) };
    for (size_t i = 0; i < in.n; i++) {
        in.of[i] = make_input(type_of_input(xir_op_output(op, (int64_t)i), bind), (unsigned)i + 1);
    }
    return in;
}

static arrays run(const xir_network *net, const arrays *in) {
    arrays out = { .n = xir_op_input_count(xir_network_output_op(net)) };
    xir_diags_clear(why);
    xir_status status = xir_network_run(net, (const xir_array *const *)in->of, in->n, out.of, out.n, NULL, why);
    if (status) xir_diags_print(why, stderr);
    assert_int_equal(status, XIR_OK);
    return out;
}

static void drop(arrays *a) {
    for (size_t i = 0; i < a->n; i++) xir_array_free(a->of[i]);
}

static void check_same(const xir_array *a, const xir_array *b, const char *what) {
    xir_difference d;
    assert_int_equal(xir_array_compare(a, b, 1e-5, 1e-5, &d), XIR_OK);
    if (!d.same_shape || d.count) {
        fail_msg("%s: same shape %d, %zu elements differ, the first is %zu: %g and %g", what, d.same_shape, d.count,
                 d.first, d.a, d.b);
    }
}

/* ---- each model with three choices of dims ---------------------------------------------------------------------- */

/* No dim of these models depends on data: each is a number or an expression over the names of the inputs. */
static const struct { const char *model, *binds[3], *outputs; } models[] = {
    { "mlp",     { "batch=1", "batch=2", "batch=7" },
      "batch, 3" },
    { "vit",     { "batch=1", "batch=2", "batch=5" },
      "batch, 4" },
    { "yolo",    { "batch=1,height=16,width=16", "batch=2,height=24,width=32", "batch=3,height=8,width=40" },
      "batch, 7, 5*floor((height + 7)/8)*floor((width + 7)/8)" },
    { "tagger",  { "batch=1,length=1", "batch=2,length=5", "batch=4,length=3" },
      "batch, length, 5" },
    { "bert",    { "batch=1,length=1", "batch=2,length=6", "batch=3,length=32" },
      "batch, length, 8; batch, 8" },
    { "gpt",     { "batch=1,length=1,past=0", "batch=2,length=3,past=4", "batch=3,length=1,past=7" },
      "batch, 20; batch, 2, length + past, 4; batch, 2, length + past, 4" },
    { "encoder", { "s0=1,s1=1", "s0=2,s1=6", "s0=3,s1=5" },
      "s0, s1, 8; s0, floor((s1 + min(s1, 1) + 1)/2) - min(s1, 1), 8; s0, s1 - floor(s1/2), 16; s0, 8" },
    { "efficientnet", { "batch=1", "batch=2", "batch=5" },
      "batch, 5" },
    { "convnext", { "batch=1", "batch=2", "batch=5" },
      "batch, 5" },
    { "swin",    { "batch=1", "batch=2", "batch=5" },
      "batch, 5" },
    { "unet",    { "batch=1", "batch=2", "batch=5" },
      "batch, 4, 8, 8" },
    { "distilbert", { "batch=1", "batch=2", "batch=5" },
      "batch, 6, 8" },
};

static void computes_what_the_bound_one_does(void **state) {
    size_t k = *(const size_t *)*state;
    for (int all = 0; all < 2; all++) {
        xir_network *open = load(models[k].model);
        convert(open, "", all);
        assert_int_equal(unknown_dims(open), 0);
        assert_string_equal(output_dims(open), models[k].outputs);
        for (size_t i = 0; i < 3; i++) {
            const char *bind = models[k].binds[i];
            xir_network *bound = load(models[k].model);
            arrays in = inputs_for(bound, bind);
            convert(bound, bind, all);
            arrays a = run(open, &in), b = run(bound, &in);
            for (size_t j = 0; j < a.n; j++) check_same(a.of[j], b.of[j], bind);
            drop(&a);
            drop(&b);
            drop(&in);
            xir_network_free(bound);
        }
        xir_network_free(open);
    }
}

static void its_own_output_does_not_change(void **state) {
    size_t k = *(const size_t *)*state;
    xir_network *net = load(models[k].model);
    convert(net, "", true);
    xir_network *before = xir_network_clone(net);
    convert(net, "", true);
    assert_true(before && xir_network_equal(net, before, true));
    xir_network_free(before);
    xir_network_free(net);
}

/* ---- there and back --------------------------------------------------------------------------------------------- */

static void pass(xir_network *net, const char *name, const char *options) {
    xir_diags_clear(why);
    xir_status status = xir_pass_run(net, name, options, NULL, why);
    if (status) xir_diags_print(why, stderr);
    assert_int_equal(status, XIR_OK);
}

/* With its dims open, a network becomes operators of ONNX, and ops of XIR again, which compute the same. */
static void goes_back_to_onnx(void **state) {
    static const char *const versions[] = { "strict,opset=13", "strict,opset=17", "strict,opset=21" };
    size_t k = *(const size_t *)*state;
    for (int all = 0; all < 2; all++) {
        xir_network *net = load(models[k].model);
        convert(net, "", all);
        for (size_t i = 0; i < COUNT(versions); i++) {
            xir_network *back = xir_network_clone(net);
            pass(back, "xir-to-onnx", versions[i]);
            assert_int_equal(xir_network_validate(back, why), XIR_OK);
            pass(back, "onnx-to-xir", "strict");
            arrays in = inputs_for(net, models[k].binds[1]), a = run(net, &in), b = run(back, &in);
            for (size_t j = 0; j < a.n; j++) check_same(a.of[j], b.of[j], versions[i]);
            drop(&a);
            drop(&b);
            drop(&in);
            xir_network_free(back);
        }
        xir_network_free(net);
    }
}

/* ---- what ONNX Runtime computes ---------------------------------------------------------------------------------- */

/* Reads the numbers of an output of type `type` from the rest of a line. */
static xir_array *numbers(const xir_type *type, const char *text) {
    xir_array *a = xir_array_new(ctx, type, why);
    assert_non_null(a);
    for (size_t i = 0; i < xir_array_count(a); i++) {
        char *end;
        ((float *)xir_array_edit(a))[i] = strtof(text, &end);
        assert_ptr_not_equal(end, text);
        text = end;
    }
    return a;
}

static const xir_type *type_of_text(const char *shape) {
    int64_t dims[8];
    size_t rank = 0;
    for (char *end; rank < 8; shape = end + 1) {
        dims[rank++] = strtoll(shape, &end, 10);
        if (*end != 'x') break;
    }
    return xir_type_tensor(ctx, xir_type_float(ctx, XIR_FLOAT_FP32), NULL, dims, rank);
}

/* A line of recorded.txt is one output; those of one run follow each other, in order. */
static void computes_what_onnx_runtime_does(void **state) {
    const char *model = models[*(const size_t *)*state].model;
    FILE *f = fopen(XIR_TEST_DATA "/convert/onnx/dynamic/recorded.txt", "r");
    assert_non_null(f);
    static char line[1 << 14];
    char of[20], bind[60], last[60] = "", output[40], shape[40], file[60];
    static const char *const folders[] = { "", "optimised/", "extended/" };
    size_t lines = 0, j = 0;
    arrays got[COUNT(folders)] = { 0 };
    while (fgets(line, sizeof line, f)) {
        int skip = 0;
        if (*line == '#') continue;
        assert_int_equal(sscanf(line, "%19s %59s %39s %39[^:]:%n", of, bind, output, shape, &skip), 4);
        if (strcmp(of, model) != 0) continue;
        if (strcmp(bind, last) != 0) {
            for (size_t k = 0; k < COUNT(folders); k++) {
                snprintf(file, sizeof file, "%s%s", folders[k], model);
                xir_network *net = load(file);
                arrays in = inputs_for(net, bind);
                convert(net, "", true);
                drop(&got[k]);
                got[k] = run(net, &in);
                drop(&in);
                xir_network_free(net);
            }
            strcpy(last, bind);
            j = 0;
        }
        xir_array *expected = numbers(type_of_text(shape), line + skip);
        for (size_t k = 0; k < COUNT(folders); k++) {
            assert_true(j < got[k].n);
            check_same(got[k].of[j], expected, output);
        }
        xir_array_free(expected);
        j++, lines++;
    }
    assert_true(lines >= 2 && j == got[0].n);
    for (size_t k = 0; k < COUNT(folders); k++) drop(&got[k]);
    fclose(f);
}

/* ---- what they compute ------------------------------------------------------------------------------------------ */

/* Elements [from, from + n) of the first dim. */
static xir_array *rows_of(const xir_array *a, size_t from, size_t n) {
    const xir_type *type = xir_array_type(a);
    int64_t dims[8];
    size_t size;
    for (size_t i = 0; i < xir_type_rank(type); i++) dims[i] = xir_type_dim(type, (int64_t)i, false);
    const char *bytes = xir_array_data(a, &size);
    size_t row = size / (size_t)dims[0];
    dims[0] = (int64_t)n;
    type = xir_type_tensor(ctx, xir_type_element(type), NULL, dims, xir_type_rank(type));
    xir_array *rows = xir_array_copy(ctx, type, bytes + from * row, n * row, why);
    assert_non_null(rows);
    return rows;
}

static void a_batch_is_its_rows(void **state) {
    static const struct { const char *model, *bind; } cases[] = {
        { "mlp", "batch=3" }, { "vit", "batch=3" }, { "yolo", "batch=3,height=16,width=24" },
        { "tagger", "batch=3,length=4" }, { "bert", "batch=3,length=4" }, { "gpt", "batch=3,length=2,past=3" },
        { "encoder", "s0=3,s1=4" }, { "efficientnet", "batch=3" }, { "convnext", "batch=3" }, { "swin", "batch=3" },
        { "unet", "batch=3" }, { "distilbert", "batch=3" },
    };
    (void)state;
    for (size_t k = 0; k < COUNT(cases); k++) {
        xir_network *net = load(cases[k].model);
        arrays in = inputs_for(net, cases[k].bind);
        convert(net, "", true);
        arrays all = run(net, &in);
        for (size_t row = 0; row < 3; row++) {
            arrays one = { .n = in.n };
            for (size_t i = 0; i < in.n; i++) one.of[i] = rows_of(in.of[i], row, 1);
            arrays out = run(net, &one);
            for (size_t i = 0; i < out.n; i++) {
                xir_array *expected = rows_of(all.of[i], row, 1);
                check_same(out.of[i], expected, cases[k].model);
                xir_array_free(expected);
            }
            drop(&out);
            drop(&one);
        }
        drop(&all);
        drop(&in);
        xir_network_free(net);
    }
}

static xir_array *integers(const int64_t *v, int64_t n) {
    const int64_t dims[] = { 1, n };
    xir_array *a = xir_array_copy(ctx, xir_type_tensor(ctx, xir_type_sint(ctx, 64), NULL, dims, 2), v,
                                  (size_t)n * sizeof *v, why);
    assert_non_null(a);
    return a;
}

static xir_array *no_past(void) {
    xir_array *a = xir_array_new(ctx, xir_type_tensor(ctx, xir_type_float(ctx, XIR_FLOAT_FP32), NULL,
                                                      (const int64_t[]){ 1, 2, 0, 4 }, 4), why);
    assert_non_null(a);
    return a;
}

static void a_cached_token_is_a_token(void **state) {
    static const int64_t ids[] = { 3, 1, 4, 1, 5 };
    (void)state;
    xir_network *net = load("gpt");
    convert(net, "", true);
    arrays whole = { { integers(ids, 5), no_past(), no_past() }, 3 };
    arrays first = { { integers(ids, 3), no_past(), no_past() }, 3 };
    arrays at_once = run(net, &whole), so_far = run(net, &first);
    arrays second = { { integers(ids + 3, 2), xir_array_retain(so_far.of[1]), xir_array_retain(so_far.of[2]) }, 3 };
    arrays rest = run(net, &second);
    for (size_t i = 0; i < 3; i++) check_same(at_once.of[i], rest.of[i], "gpt");
    drop(&whole);
    drop(&first);
    drop(&second);
    drop(&at_once);
    drop(&so_far);
    drop(&rest);
    xir_network_free(net);
}

/* bert has a table of 32 positions: its dims are those of the runs that succeed, and others are refused. */
static void more_tokens_than_positions_are_refused(void **state) {
    (void)state;
    xir_network *net = load("bert");
    convert(net, "", true);
    xir_array *out[2];
    arrays in = inputs_for(net, "batch=1,length=33");
    xir_diags_clear(why);
    assert_int_equal(xir_network_run(net, (const xir_array *const *)in.of, in.n, out, 2, NULL, why), XIR_E_INVALID);
    assert_non_null(strstr(xir_diags_at(why, 0)->message.data, "is 33, that of rhs is 32: expected the same or 1"));
    drop(&in);
    xir_network_free(net);
}

static void a_masked_token_is_none(void **state) {
    static const int64_t ids[] = { 7, 8, 9, 10 }, types[] = { 0, 1, 1, 0 }, mask[] = { 1, 1, 0, 0 };
    (void)state;
    xir_network *net = load("bert");
    convert(net, "", true);
    arrays longer = { { integers(ids, 4), integers(types, 4), integers(mask, 4) }, 3 };
    arrays shorter = { { integers(ids, 2), integers(types, 2), integers(mask, 2) }, 3 };
    arrays a = run(net, &longer), b = run(net, &shorter);
    check_same(a.of[1], b.of[1], "pooler_output");
    drop(&longer);
    drop(&shorter);
    drop(&a);
    drop(&b);
    xir_network_free(net);
}

GROUP {
    struct CMUnitTest tests[4 * COUNT(models) + 4];
    size_t n = 0, index[COUNT(models)];
    for (size_t k = 0; k < COUNT(models); k++) {
        index[k] = k;
        tests[n++] = (struct CMUnitTest){ models[k].model, computes_what_the_bound_one_does, NULL, NULL, &index[k] };
        tests[n++] = (struct CMUnitTest){ models[k].model, its_own_output_does_not_change, NULL, NULL, &index[k] };
        tests[n++] = (struct CMUnitTest){ models[k].model, computes_what_onnx_runtime_does, NULL, NULL, &index[k] };
        tests[n++] = (struct CMUnitTest){ models[k].model, goes_back_to_onnx, NULL, NULL, &index[k] };
    }
    tests[n++] = (struct CMUnitTest)cmocka_unit_test(a_batch_is_its_rows);
    tests[n++] = (struct CMUnitTest)cmocka_unit_test(a_cached_token_is_a_token);
    tests[n++] = (struct CMUnitTest)cmocka_unit_test(a_masked_token_is_none);
    tests[n++] = (struct CMUnitTest)cmocka_unit_test(more_tokens_than_positions_are_refused);
    return _cmocka_run_group_tests("onnx_dynamic", tests, n, group_begin, group_end);
}
