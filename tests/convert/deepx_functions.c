/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Functions of DeepX compute what their formulas give: each function that works by elements on every element type that
 * it is for, and the others on small tensors of every element type with the expected numbers. And what becomes of
 * names, vars, files and drawn numbers. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <xir/convert.h>
#include <xir/exec.h>
#include <xir/pass.h>
#include <xir/serialize.h>
#include "convert/deepx_formulas.h"
#include "support/net.h"
#include "elements.h"


enum { ROOM = 64, MOST_ENDS = 8 };

static xir_network *read_program(const char *text) {
    xir_diags_clear(why);
    xir_network *net = xir_network_read(ctx, text, strlen(text), XIR_STR("p.ir"),
                                        &XIR_INIT(xir_load_options, .format = "deepx"), why);
    if (!net) xir_diags_print(why, stderr);
    assert_non_null(net);
    return net;
}

static xir_network *converted(const char *text, const char *pipeline) {
    xir_network *net = read_program(text);
    xir_pipeline *p = xir_pipeline_parse(ctx, xir_str_of(pipeline), why);
    assert_non_null(p);
    const xir_status status = xir_pipeline_run(p, net, NULL, NULL, why);
    xir_pipeline_free(p);
    if (status) xir_diags_print(why, stderr);
    assert_int_equal(status, XIR_OK);
    assert_int_equal(xir_network_validate(net, why), XIR_OK);
    return net;
}

/* ---- elements --------------------------------------------------------------------------------------------------- */

static const double numbers_a[6] = { 1, 2, 3, 4, 5, 7 }, numbers_b[6] = { 2, 2, 1, 5, 6, 3 };

/* Runs a network whose inputs are a and b, or one of them, or none. */
static size_t run(const xir_network *net, xir_array **out) {
    xir_array *in[MOST_ENDS] = { NULL };
    const xir_op *first = xir_network_input_op(net);
    const size_t n = xir_op_output_count(first), n_out = xir_op_input_count(xir_network_output_op(net));
    assert_true(n <= MOST_ENDS && n_out <= MOST_ENDS);
    for (size_t i = 0; i < n; i++) {
        const xir_value *v = xir_op_output(first, (int64_t)i);
        in[i] = xir_array_new(ctx, xir_value_type(v), why);
        assert_non_null(in[i]);
        assert_int_equal(xir_array_count(in[i]), 6);
        const double *numbers = xir_str_equal(xir_value_name(v), XIR_STR("b")) ? numbers_b : numbers_a;
        assert_true(elements_of_reals(xir_type_element(xir_value_type(v)), numbers, 6, xir_array_edit(in[i])));
    }
    xir_diags_clear(why);
    const xir_status status = xir_network_run(net, (const xir_array *const *)in, n, out, n_out, NULL, why);
    if (status) xir_diags_print(why, stderr);
    assert_int_equal(status, XIR_OK);
    for (size_t i = 0; i < n; i++) xir_array_free(in[i]);
    return n_out;
}

/* A real as an element of this type: an integer has no fraction and wraps. */
static double as_element(size_t e, double v) {
    if (elements[e].real) return v;
    const double range = ldexp(1, elements[e].bits);
    v = trunc(v);
    return v - range * floor((v + range / 2) / range);
}

static void try_element(size_t row, size_t e) {
    char line[200], type[40], text[600], pipeline[200];
    size_t n = 0;
    snprintf(type, sizeof type, "tensor<%s>", elements[e].name);
    for (const char *p = by_elements[row].line; *p; p++)
        n += (size_t)snprintf(line + n, sizeof line - n, *p == 'T' ? "%s" : "%.1s", *p == 'T' ? type : p);
    const bool two = strstr(line, ":b,") || strstr(line, ":b)");
    snprintf(text, sizeof text, "newtensor(vector<int32>:[2 3])->(%s:c)\n%s\n",
             by_elements[row].mask ? "tensor<bool>" : type, line);
    snprintf(pipeline, sizeof pipeline, two ? "deepx-to-xir{input-shape=\"a=2,3:%s;b=2,3:%s\"}"
                                            : "deepx-to-xir{input-shape=\"a=2,3:%s\"}",
             elements[e].word, elements[e].word);
    xir_network *net = converted(text, pipeline);
    xir_array *out[MOST_ENDS];
    assert_int_equal(run(net, out), 1);
    assert_int_equal(xir_array_count(out[0]), 6);
    for (size_t i = 0; i < 6; i++) {
        double expected = by_elements[row].f(numbers_a[i], numbers_b[i]);
        if (!by_elements[row].mask) expected = as_element(e, expected);
        const double found = xir_array_real(out[0], i);
        if (fabs(found - expected) > elements[e].epsilon * (1 + fabs(expected)))
            fail_msg("%s: element %zu is %.9g, expected %.9g", line, i, found, expected);
    }
    xir_array_free(out[0]);
    xir_network_free(net);
}

static void functions_by_elements(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(by_elements); i++) {
        for (size_t e = 0; e < COUNT(elements); e++)
            if (by_elements[i].kinds & (elements[e].real ? REALS : INTS)) try_element(i, e);
    }
}

/* ---- whole programs: the results by name ------------------------------------------------------------------------- */

static void try_program(const program *p, const char *text, double epsilon) {
    xir_network *net = converted(text, "deepx-to-xir");
    xir_array *out[MOST_ENDS];
    const size_t n = run(net, out);
    const xir_op *output = xir_network_output_op(net);
    bool found = false;
    for (size_t k = 0; k < n; k++) {
        if (xir_str_equal(xir_value_name(xir_op_input(output, (int64_t)k)), xir_str_of(p->name))) {
            found = true;
            assert_int_equal(xir_array_count(out[k]), p->n);
            for (size_t e = 0; e < p->n; e++)
                if (fabs(xir_array_real(out[k], e) - p->v[e]) > epsilon * (1 + fabs(p->v[e])))
                    fail_msg("%selement %zu is %.17g, expected %.17g", text, e, xir_array_real(out[k], e), p->v[e]);
        }
        xir_array_free(out[k]);
    }
    if (!found) fail_msg("%sno result is '%s'", text, p->name);
    xir_network_free(net);
}

static void programs_give_their_tensors(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(programs); i++) try_program(&programs[i], programs[i].text, 1e-6);
    for (size_t i = 0; i < COUNT(bools); i++) try_program(&bools[i], bools[i].text, 0);
}

/* The text with this element type wherever a word is. The last two texts are kept. */
static const char *with_type(const char *text, const char *word, const char *type) {
    static char outs[2][2000];
    static size_t turn;
    char *out = outs[turn ^= 1];
    size_t n = 0;
    while (*text) {
        const bool here = strncmp(text, word, strlen(word)) == 0;
        n += (size_t)snprintf(out + n, sizeof *outs - n, here ? "tensor<%s>" : "%.1s", here ? type : text);
        text += here ? strlen(word) : 1;
    }
    return out;
}

/* Programs of small whole numbers give the same in every precision. */
static bool is_whole(const program *p) {
    bool whole = strstr(p->text, "<float32>:a") && !strstr(p->text, "todtype");
    for (size_t k = 0; k < p->n; k++) whole &= fabs(p->v[k]) < 127 && p->v[k] == trunc(p->v[k]);
    return whole;
}

static void programs_of_whole_numbers_in_every_precision(void **state) {
    size_t tried = 0;
    (void)state;
    for (size_t i = 0; i < COUNT(programs); i++)
        for (size_t e = 0; is_whole(&programs[i]) && e < COUNT(elements); e++, tried++)
            try_program(&programs[i], with_type(programs[i].text, "tensor<float32>", elements[e].name), 1e-6);
    assert_true(tried >= 22 * COUNT(elements));
}

static void drawn_numbers_in_every_precision(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(draws); i++) {
        for (size_t e = 0; e < COUNT(elements); e++) {
            program p = draws[i];
            for (size_t k = 0; k < p.n; k++) p.v[k] = as_element(e, p.v[k]);
            try_program(&p, with_type(p.text, "T", elements[e].name), elements[e].real ? elements[e].epsilon : 0);
        }
    }
}

/* todtype from each precision to each other one, and to and from bool. */
static void conversions_between_all_precisions(void **state) {
    static const double numbers[] = { -2.5, -1.25, 0, 1.25, 2.5, 3.75 };
    (void)state;
    for (size_t from = 0; from < COUNT(elements); from++) {
        for (size_t to = 0; to <= COUNT(elements); to++) {
            program p = { NULL, "c", COUNT(numbers), { 0 } };
            const bool bools_come = to == COUNT(elements);
            const char *type = bools_come ? "bool" : elements[to].name;
            for (size_t k = 0; k < p.n; k++) {
                const double v = as_element(from, numbers[k]);
                p.v[k] = bools_come ? v != 0 : as_element(to, v);
            }
            static const char casts[] = "newtensor(vector<int32>:[6])->(A:a)\n"
                                        "arange(var<float32>:-2.5, var<float32>:1.25)->(A:a)\n"
                                        "newtensor(vector<int32>:[6])->(C:c)\ntodtype(A:a)->(C:c)\n";
            if (!elements[from].real) {   /* a step of 1 from -2 on */
                for (size_t k = 0; k < p.n; k++) p.v[k] = bools_come ? k != 2 : as_element(to, (double)k - 2);
            }
            try_program(&p, with_type(with_type(casts, "A", elements[from].name), "C", type), 1e-6);
        }
    }
}

static void bools_become_every_precision(void **state) {
    (void)state;
    for (size_t e = 0; e < COUNT(elements); e++) {
        static const char text[] = MASKS "newtensor(vector<int32>:[2 3])->(C:c)\ntodtype(tensor<bool>:n)->(C:c)\n";
        const program p = { NULL, "c", 6, { 1, 0, 1, 0, 1, 1 } };
        try_program(&p, with_type(text, "C", elements[e].name), 0);
    }
}

/* ---- all of them ------------------------------------------------------------------------------------------------- */

static bool calls(const char *text, const char *function) {
    const size_t n = strlen(function);
    for (const char *at = text; (at = strstr(at, function)); at++)
        if ((at == text || at[-1] == '\n') && at[n] == '(') return true;
    return false;
}

/* Files are read in tests/cli/deepx.sh, and in deepx_back.c in all precisions; argdel is of early documents. */
static void every_function_has_a_formula(void **state) {
    static const char *const others[] = { "loadtensordata", "argdel" };
    const xir_convert_row *row;
    size_t n = 0;
    (void)state;
    for (size_t i = 0; (row = xir_convert_at(ctx, i)); i++) {
        const char *function = row->name + 7;
        bool tried = false;
        if (strncmp(row->name, "deepx::", 7) != 0) continue;
        for (size_t k = 0; k < COUNT(by_elements); k++) tried |= calls(by_elements[k].line, function);
        for (size_t k = 0; k < COUNT(programs); k++) tried |= calls(programs[k].text, function);
        for (size_t k = 0; k < COUNT(draws); k++) tried |= calls(draws[k].text, function);
        for (size_t k = 0; k < COUNT(others); k++) tried |= strcmp(function, others[k]) == 0;
        if (!tried) fail_msg("no formula has '%s'", function);
        n++;
    }
    assert_int_equal(n, 61);
}

/* ---- ends of the network ---------------------------------------------------------------------------------------- */

/* "a b -> c@1 c": the names of inputs and results. */
static const char *ends_of(const xir_network *net) {
    static char text[400];
    size_t n = 0;
    const xir_op *input = xir_network_input_op(net), *output = xir_network_output_op(net);
    for (size_t i = 0; i < xir_op_output_count(input); i++) {
        const xir_str name = xir_value_name(xir_op_output(input, (int64_t)i));
        n += (size_t)snprintf(text + n, sizeof text - n, "%.*s ", (int)name.size, name.data);
    }
    n += (size_t)snprintf(text + n, sizeof text - n, "->");
    for (size_t i = 0; i < xir_op_input_count(output); i++) {
        const xir_str name = xir_value_name(xir_op_input(output, (int64_t)i));
        n += (size_t)snprintf(text + n, sizeof text - n, " %.*s", (int)name.size, name.data);
    }
    return text;
}

#define DRAWN NEW("3", "float32", "u") "uniform(var<int32>:0, var<int32>:1, var<int32>:5)->(tensor<float32>:u)\n"
#define SYSTEM NEW("3", "float32", "n") "normal(var<int32>:0, var<int32>:1, var<int32>:0)->(tensor<float32>:n)\n"
#define DROPS A23 "dropout(var<float32>:0.5, var<int32>:5)->(tensor<float32>:a)\n"
static const struct { const char *text, *pipeline, *ends; } ends[] = {
    { A23, "deepx-to-xir", "-> a" },
    { NEW("3", "float32", "t"), "deepx-to-xir", "->" },                       /* nothing was written to it */
    { A23 "deltensor()->(tensor<float32>:a)\n", "deepx-to-xir", "->" },
    { A23 "print(tensor<float32>:a)->()\ndeltensor()->(tensor<float32>:a)\n", "deepx-to-xir", "-> a" },
    { A23 "print(tensor<float32>:a)->()\nprint(tensor<float32>:a)->()\n", "deepx-to-xir", "-> a" },
    { "load(var<string>:/data/w.x)->()\n", "deepx-to-xir{input-shape=\"w=2,3:fp32\"}", "w -> w" },
    { "load(var<string>:/data/w)->()\nload(var<string>:/data/w)->()\n",
      "deepx-to-xir{input-shape=\"w=2,3:fp32\"}", "w -> w" },
    { NEW("2", "int32", "t") "loadtensordata(var<string>:t)->(tensor<int32>:t)\n", "deepx-to-xir", "t -> t" },
    { DRAWN, "deepx-to-xir", "-> u" },
    { DRAWN, "deepx-to-xir{random=input}", "u -> u" },
    { SYSTEM, "deepx-to-xir", "n -> n" },                                       /* a seed from the system */
    { DROPS, "deepx-to-xir", "-> a" },
    { DROPS, "deepx-to-xir{random=input}", "a.mask -> a" },
    { DROPS, "deepx-to-xir{random=input,inference=true}", "-> a" },
};

static void names_and_choices_decide_about_inputs_and_results(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(ends); i++) {
        xir_network *net = converted(ends[i].text, ends[i].pipeline);
        assert_string_equal(ends_of(net), ends[i].ends);
        assert_null(xir_network_first_unrunnable(net));
        xir_network_free(net);
    }
}

/* ---- what is wrong ---------------------------------------------------------------------------------------------- */

static const struct { const char *text, *path, *words; } faults[] = {
    { A23 NEW("3", "float32", "b") "add(tensor<float32>:a, tensor<float32>:b)->(tensor<float32>:a)\n", "/ops/4/input/1",
      "does not broadcast" },
    { A23 NEW("6", "float32", "b") "exp(tensor<float32>:a)->(tensor<float32>:b)\n", "/ops/4/output/0", "wrong declared type" },
    { A23 "sum(tensor<float32>:a, vector<int32>:[2], var<bool>:false)->(tensor<float32>:a)\n", "/ops/3/attribute/arg1",
      "an axis is out of range" },
    { A23 "transpose(tensor<float32>:a, vector<int32>:[0 0])->(tensor<float32>:a)\n", "/ops/3/attribute/arg1",
      "the number of each dim once" },
    { A23 "repeat(tensor<float32>:a, vector<int32>:[0 1])->(tensor<float32>:a)\n", "/ops/3/attribute/arg1", "from 1 on" },
    { A23 "mulscalar(tensor<float32>:a, var<int32>:two)->(tensor<float32>:a)\n", "/ops/3/attribute/arg1", "a number" },
    { A23 "matmul(tensor<float32>:a, tensor<float32>:a)->(tensor<float32>:a)\n", "/ops/3", "Matmul" },
    { A23 "invert(tensor<float32>:a)->(tensor<float32>:a)\n", "/ops/3", "no definition of 'invert'" },
    { A23 "sgd(tensor<float32>:a)->(tensor<float32>:a)\n", "/ops/3", "no definition is called 'sgd'" },
};

static void a_check_finds_what_does_not_fit(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(faults); i++) {
        xir_network *net = read_program(faults[i].text);
        xir_diags_clear(why);
        assert_int_not_equal(xir_dialect_check(net, why), XIR_OK);
        const xir_diag *d = NULL;
        for (size_t k = 0; k < xir_diags_count(why) && !(d && d->severity == XIR_ERROR); k++) d = xir_diags_at(why, k);
        const size_t n = strlen(faults[i].path);
        const bool there = d && d->path.size >= n && memcmp(d->path.data, faults[i].path, n) == 0;
        if (!there || !strstr(d->message.data, faults[i].words)) {
            xir_diags_print(why, stderr);
            fail_msg("%sexpected %s: %s", faults[i].text, faults[i].path, faults[i].words);
        }
        xir_network_free(net);
    }
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_by_elements),
        cmocka_unit_test(programs_give_their_tensors),
        cmocka_unit_test(programs_of_whole_numbers_in_every_precision),
        cmocka_unit_test(drawn_numbers_in_every_precision),
        cmocka_unit_test(conversions_between_all_precisions),
        cmocka_unit_test(bools_become_every_precision),
        cmocka_unit_test(every_function_has_a_formula),
        cmocka_unit_test(names_and_choices_decide_about_inputs_and_results),
        cmocka_unit_test(a_check_finds_what_does_not_fit),
    };
    return RUN_GROUP(tests);
}
