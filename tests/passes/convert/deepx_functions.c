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
#include "support/net.h"

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

static const struct { const char *name, *word; bool real; int bits; double epsilon; } elements[] = {
    { "float64", "fp64", true, 0, 1e-12 }, { "float32", "fp32", true, 0, 1e-6 }, { "float16", "fp16", true, 0, 1e-3 },
    { "bfloat16", "bf16", true, 0, 8e-3 }, { "int64", "i64", false, 64, 0 }, { "int32", "i32", false, 32, 0 },
    { "int16", "i16", false, 16, 0 }, { "int8", "i8", false, 8, 0 },
};
enum { REALS = 1, INTS = 2, ALL = 3 };

typedef double formula(double a, double b);
#define OF(name, v) static double name(double a, double b) { (void)a; (void)b; return (v); }
OF(exp_, exp(a))  OF(log_, log(a))  OF(sqrt_, sqrt(a))  OF(sin_, sin(a))  OF(cos_, cos(a))  OF(tan_, tan(a))
OF(not_, -a - 1)  OF(same_, a)  OF(add_, a + b)  OF(sub_, a - b)  OF(mul_, a * b)  OF(div_, a / b)  OF(pow_, pow(a, b))
OF(max_, a > b ? a : b)  OF(min_, a < b ? a : b)  OF(less_, a < b)  OF(greater_, a > b)  OF(equal_, a == b)
OF(unlike_, a != b)  OF(near_, fabs(a - b) <= 1.5)  OF(far_, fabs(a - b) > 1.5)
OF(add3, a + 3)  OF(sub3, a - 3)  OF(mul3, a * 3)  OF(div3, a / 3)  OF(pow3, pow(a, 3))  OF(max3, a > 3 ? a : 3)
OF(min3, a < 3 ? a : 3)  OF(less3, a < 3)  OF(greater3, a > 3)  OF(equal3, a == 3)  OF(unlike3, a != 3)
OF(near3, fabs(a - 3) <= 1.5)  OF(far3, fabs(a - 3) > 1.5)  OF(rsub3, 3 - a)  OF(rdiv3, 3 / a)  OF(rpow3, pow(3, a))

/* T is the element type; the result of a comparison is bool. */
static const struct { const char *line; formula *f; int kinds; bool mask; } by_elements[] = {
    { "exp(T:a)->(T:c)", exp_, REALS, false },
    { "log(T:a)->(T:c)", log_, REALS, false },
    { "sqrt(T:a)->(T:c)", sqrt_, REALS, false },
    { "sin(T:a)->(T:c)", sin_, REALS, false },
    { "cos(T:a)->(T:c)", cos_, REALS, false },
    { "tan(T:a)->(T:c)", tan_, REALS, false },
    { "invert(T:a)->(T:c)", not_, INTS, false },
    { "copytensor(T:a)->(T:c)", same_, ALL, false },
    { "todtype(T:a)->(T:c)", same_, ALL, false },
    { "add(T:a, T:b)->(T:c)", add_, ALL, false },
    { "sub(T:a, T:b)->(T:c)", sub_, ALL, false },
    { "mul(T:a, T:b)->(T:c)", mul_, ALL, false },
    { "div(T:a, T:b)->(T:c)", div_, ALL, false },
    { "pow(T:a, T:b)->(T:c)", pow_, REALS, false },
    { "max(T:a, T:b)->(T:c)", max_, ALL, false },
    { "min(T:a, T:b)->(T:c)", min_, ALL, false },
    { "less(T:a, T:b)->(tensor<bool>:c)", less_, ALL, true },
    { "greater(T:a, T:b)->(tensor<bool>:c)", greater_, ALL, true },
    { "equal(T:a, T:b, var<float32>:0)->(tensor<bool>:c)", equal_, ALL, true },
    { "notequal(T:a, T:b, var<float32>:0)->(tensor<bool>:c)", unlike_, ALL, true },
    { "equal(T:a, T:b, var<float32>:1.5)->(tensor<bool>:c)", near_, ALL, true },
    { "notequal(T:a, T:b, var<float32>:1.5)->(tensor<bool>:c)", far_, ALL, true },
    { "addscalar(T:a, var<int32>:3)->(T:c)", add3, ALL, false },
    { "subscalar(T:a, var<int32>:3)->(T:c)", sub3, ALL, false },
    { "mulscalar(T:a, var<int32>:3)->(T:c)", mul3, ALL, false },
    { "divscalar(T:a, var<int32>:3)->(T:c)", div3, ALL, false },
    { "powscalar(T:a, var<int32>:3)->(T:c)", pow3, ALL, false },
    { "maxscalar(T:a, var<int32>:3)->(T:c)", max3, ALL, false },
    { "minscalar(T:a, var<int32>:3)->(T:c)", min3, ALL, false },
    { "lessscalar(T:a, var<int32>:3)->(tensor<bool>:c)", less3, ALL, true },
    { "greaterscalar(T:a, var<int32>:3)->(tensor<bool>:c)", greater3, ALL, true },
    { "equalscalar(T:a, var<int32>:3, var<float32>:0)->(tensor<bool>:c)", equal3, ALL, true },
    { "notequalscalar(T:a, var<int32>:3, var<float32>:0)->(tensor<bool>:c)", unlike3, ALL, true },
    { "equalscalar(T:a, var<int32>:3, var<float32>:1.5)->(tensor<bool>:c)", near3, ALL, true },
    { "notequalscalar(T:a, var<int32>:3, var<float32>:1.5)->(tensor<bool>:c)", far3, ALL, true },
    { "rsubscalar(var<int32>:3, T:a)->(T:c)", rsub3, ALL, false },
    { "rdivscalar(var<int32>:3, T:a)->(T:c)", rdiv3, ALL, false },
    { "rpowscalar(var<float32>:3, T:a)->(T:c)", rpow3, REALS, false },
    { "add_scalar(T:a, var<int32>:3)->(T:c)", add3, ALL, false },   /* older names */
    { "max_scalar(T:a, var<int32>:3)->(T:c)", max3, ALL, false },
    { "rdiv_scalar(var<int32>:3, T:a)->(T:c)", rdiv3, ALL, false },
};

static const double numbers_a[6] = { 1, 2, 3, 4, 5, 7 }, numbers_b[6] = { 2, 2, 1, 5, 6, 3 };

/* A positive number of a few bits as float16 or bfloat16. */
static uint16_t half_of(double v, bool brain) {
    int exponent;
    const double fraction = 2 * frexp(v, &exponent) - 1;
    return brain ? (uint16_t)((exponent + 126) << 7 | (int)(fraction * 128))
                 : (uint16_t)((exponent + 14) << 10 | (int)(fraction * 1024));
}

static void put_numbers(xir_array *to, const double *v) {
    const xir_type *element = xir_type_element(xir_array_type(to));
    const bool real = xir_type_kind_of(element) == XIR_TYPE_FLOAT;
    const bool brain = xir_type_equal(element, xir_type_float(ctx, XIR_FLOAT_BF16));
    const int64_t bits = xir_type_storage_bits(element);
    void *p = xir_array_edit(to);
    for (size_t i = 0; i < xir_array_count(to); i++) {
        if (real && bits == 16) ((uint16_t *)p)[i] = half_of(v[i], brain);
        else if (real && bits == 32) ((float *)p)[i] = (float)v[i];
        else if (real) ((double *)p)[i] = v[i];
        else if (bits == 8) ((int8_t *)p)[i] = (int8_t)v[i];
        else if (bits == 16) ((int16_t *)p)[i] = (int16_t)v[i];
        else if (bits == 32) ((int32_t *)p)[i] = (int32_t)v[i];
        else ((int64_t *)p)[i] = (int64_t)v[i];
    }
}

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
        put_numbers(in[i], xir_str_equal(xir_value_name(v), XIR_STR("b")) ? numbers_b : numbers_a);
    }
    xir_diags_clear(why);
    const xir_status status = xir_network_run(net, (const xir_array *const *)in, n, out, n_out, NULL, why);
    if (status) xir_diags_print(why, stderr);
    assert_int_equal(status, XIR_OK);
    for (size_t i = 0; i < n; i++) xir_array_free(in[i]);
    return n_out;
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
        if (!elements[e].real && !by_elements[row].mask) {   /* the fraction is lost, and the number wraps */
            const double range = ldexp(1, elements[e].bits);
            expected = trunc(expected);
            expected -= range * floor((expected + range / 2) / range);
        }
        const double found = xir_array_real(out[0], i);
        if (fabs(found - expected) > elements[e].epsilon * (1 + fabs(expected)))
            fail_msg("%s: element %zu is %.9g, expected %.9g", line, i, found, expected);
    }
    xir_array_free(out[0]);
    xir_network_free(net);
}

static void functions_by_elements(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof by_elements / sizeof *by_elements; i++) {
        for (size_t e = 0; e < sizeof elements / sizeof *elements; e++)
            if (by_elements[i].kinds & (elements[e].real ? REALS : INTS)) try_element(i, e);
    }
}

/* ---- whole programs: the results by name ------------------------------------------------------------------------- */

#define NEW(dims, type, name) "newtensor(vector<int32>:[" dims "])->(tensor<" type ">:" name ")\n"
#define SERIES(name, first, step) "arange(var<float32>:" first ", var<float32>:" step ")->(tensor<any>:" name ")\n"
#define A23 NEW("2 3", "float32", "a") SERIES("a", "1", "1")

static const struct { const char *text, *name; size_t n; double v[12]; } programs[] = {
    { NEW("2 2", "float32", "t") "constant(var<float32>:0.5)->(tensor<float32>:t)\n", "t", 4, { .5, .5, .5, .5 } },
    { NEW("2 2", "int8", "t") "arange(var<int32>:126, var<int32>:1)->(tensor<int8>:t)\n", "t", 4,
      { 126, 127, -128, -127 } },
    { A23 NEW("3", "float32", "s") "sum(tensor<float32>:a, vector<int32>:[0], var<bool>:false)->(tensor<float32>:s)\n",
      "s", 3, { 5, 7, 9 } },
    { A23 NEW("2 1", "float32", "s") "sum(tensor<float32>:a, vector<int32>:[-1 1], var<bool>:True)->(tensor<float32>:s)\n",
      "s", 2, { 6, 15 } },
    { A23 NEW("1", "float32", "s") "sum(tensor<float32>:a, vector<int32>:[], var<bool>:false)->(tensor<float32>:s)\n",
      "s", 1, { 21 } },
    { A23 NEW("2", "float32", "s") "prod(tensor<float32>:a, vector<int32>:[1], var<bool>:false)->(tensor<float32>:s)\n",
      "s", 2, { 6, 120 } },
    { A23 NEW("2", "float32", "s")
      "reducemax(tensor<float32>:a, vector<int32>:[1], var<bool>:false)->(tensor<float32>:s)\n", "s", 2, { 3, 6 } },
    { A23 NEW("3", "float32", "s")
      "reducemin(tensor<float32>:a, vector<int32>:[0], var<bool>:false)->(tensor<float32>:s)\n", "s", 3, { 1, 2, 3 } },
    { A23 NEW("3 2", "float32", "t") "transpose(tensor<float32>:a, vector<int32>:[1 0])->(tensor<float32>:t)\n", "t", 6,
      { 1, 4, 2, 5, 3, 6 } },
    { A23 "reshape(tensor<float32>:a, vector<int32>:[6])->(tensor<float32>:a)\n", "a", 6, { 1, 2, 3, 4, 5, 6 } },
    { A23 NEW("4 3", "float32", "t") "concat(listtensor<float32>:[a a], var<int32>:0)->(tensor<float32>:t)\n", "t", 12,
      { 1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6 } },
    { A23 NEW("2 2 3", "float32", "t") "broadcastTo(tensor<float32>:a, vector<int32>:[2 2 3])->(tensor<float32>:t)\n", "t",
      12, { 1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6 } },
    { A23 NEW("2", "int32", "i") "arange(var<int32>:2, var<int32>:-2)->(tensor<int32>:i)\n" NEW("2 2", "float32", "t")
      "indexselect(tensor<float32>:a, tensor<int32>:i, var<int32>:1)->(tensor<float32>:t)\n", "t", 4, { 3, 1, 6, 4 } },
    { A23 NEW("2 6", "float32", "t") "repeat(tensor<float32>:a, vector<int32>:[1 2])->(tensor<float32>:t)\n", "t", 12,
      { 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6 } },
    { A23 NEW("2 2", "float32", "t") NEW("3 2", "float32", "b") SERIES("b", "0", "1")
      "matmul(tensor<float32>:a, tensor<float32>:b)->(tensor<float32>:t) // author=cblas\n", "t", 4, { 16, 22, 34, 49 } },
    { A23 NEW("2 3", "bool", "m") "greaterscalar(tensor<float32>:a, var<float32>:3)->(tensor<bool>:m)\n"
      NEW("2 3", "float32", "b") "mulscalar(tensor<float32>:a, var<int32>:10)->(tensor<float32>:b)\n"
      NEW("2 3", "float32", "t") "switch(listtensor<float32>:[a b], tensor<bool>:m)->(tensor<float32>:t)\n", "t", 6,
      { 1, 2, 3, 40, 50, 60 } },
    { A23 NEW("2 3", "int32", "m") "constant(var<int32>:1)->(tensor<int32>:m)\n"
      NEW("2 3", "float32", "b") "mulscalar(tensor<float32>:a, var<int32>:10)->(tensor<float32>:b)\n"
      NEW("2 3", "float32", "t") "switch(listtensor<float32>:[a b a], tensor<int32>:m)->(tensor<float32>:t)\n", "t", 6,
      { 10, 20, 30, 40, 50, 60 } },
    { A23 NEW("2 3", "int32", "t") "divscalar(tensor<float32>:a, var<float32>:-2)->(tensor<float32>:a)\n"
      "todtype(tensor<float32>:a)->(tensor<int32>:t)\n", "t", 6, { 0, -1, -1, -2, -2, -3 } },
    { A23 NEW("2 3", "bool", "m") "greaterscalar(tensor<float32>:a, var<float32>:3)->(tensor<bool>:m)\n"
      "invert(tensor<bool>:m)->(tensor<bool>:m)\n", "m", 6, { 1, 1, 1, 0, 0, 0 } },
    /* names */
    { A23 "renametensor(var<string>:z)->(tensor<float32>:a)\n", "z", 6, { 1, 2, 3, 4, 5, 6 } },
    { A23 "deltensor()->(tensor<float32>:a)\n" NEW("2", "int32", "a") "constant(var<int32>:7)->(tensor<int32>:a)\n", "a", 2,
      { 7, 7 } },
    { A23 "argset(var<float32>:2.5)->(var<float32>:k)\nmulscalar(tensor<float32>:a, var<float32>:k)->(tensor<float32>:a)\n",
      "a", 6, { 2.5, 5, 7.5, 10, 12.5, 15 } },
    { A23 "print(tensor<float32>:a)->()\nmulscalar(tensor<float32>:a, var<int32>:2)->(tensor<float32>:a)\n", "a@1", 6,
      { 1, 2, 3, 4, 5, 6 } },
    { A23 "save(tensor<float32>:a, var<string>:/tmp/w.1)->()\ndeltensor()->(tensor<float32>:a)\n"
      "load(var<string>:/tmp/w.1)->()\n", "w", 6, { 1, 2, 3, 4, 5, 6 } },
    /* drawn numbers, as libstdc++ gives them */
    { NEW("3", "float64", "u") "uniform(var<float32>:-3, var<float32>:9, var<int32>:7)->(tensor<float64>:u)\n", "u", 3,
      { 8.049174203583508, -0.47338892122541143, 3.3925716530241035 } },
    { NEW("3", "float64", "u") "normal(var<float32>:1, var<float32>:2, var<int32>:11)->(tensor<float64>:u)\n", "u", 3,
      { -0.17778315585672266, 0.8625436298829856, -0.7145038752190136 } },
    { NEW("3", "int8", "u") "uniform(var<int32>:-3, var<int32>:9, var<int32>:7)->(tensor<int8>:u)\n", "u", 3, { 8, 0, 3 } },
    { A23 "dropout(var<float32>:0, var<int32>:3)->(tensor<float32>:a)\n", "a", 6, { 1, 2, 3, 4, 5, 6 } },
    { A23 "dropout(var<float32>:1, var<int32>:3)->(tensor<float32>:a)\n", "a", 6, { 0, 0, 0, 0, 0, 0 } },
    { A23 "dropout(var<float32>:0.5, var<int32>:7)->(tensor<float32>:a)\n", "a", 6, { 1, 0, 3, 4, 5, 6 } },
};

static void try_program(size_t i, const char *text) {
    xir_network *net = converted(text, "deepx-to-xir");
    xir_array *out[MOST_ENDS];
    const size_t n = run(net, out);
    const xir_op *output = xir_network_output_op(net);
    bool found = false;
    for (size_t k = 0; k < n; k++) {
        if (xir_str_equal(xir_value_name(xir_op_input(output, (int64_t)k)), xir_str_of(programs[i].name))) {
            found = true;
            assert_int_equal(xir_array_count(out[k]), programs[i].n);
            for (size_t e = 0; e < programs[i].n; e++)
                if (fabs(xir_array_real(out[k], e) - programs[i].v[e]) > 1e-6)
                    fail_msg("%selement %zu is %.17g, expected %.17g", text, e, xir_array_real(out[k], e),
                             programs[i].v[e]);
        }
        xir_array_free(out[k]);
    }
    if (!found) fail_msg("%sno result is '%s'", text, programs[i].name);
    xir_network_free(net);
}

static void programs_give_their_tensors(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) try_program(i, programs[i].text);
}

/* Programs of small whole numbers give the same in every precision. */
static bool is_whole(size_t i) {
    static const char *const others[] = { "todtype", "uniform", "normal", "var<float32>:0.5", "var<float32>:2.5" };
    bool whole = strstr(programs[i].text, "<float32>:a");
    for (size_t k = 0; k < sizeof others / sizeof *others; k++) whole &= !strstr(programs[i].text, others[k]);
    for (size_t k = 0; k < programs[i].n; k++)
        whole &= fabs(programs[i].v[k]) < 127 && programs[i].v[k] == trunc(programs[i].v[k]);
    return whole;
}

static void programs_of_whole_numbers_in_every_precision(void **state) {
    size_t tried = 0;
    (void)state;
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        for (size_t e = 0; is_whole(i) && e < sizeof elements / sizeof *elements; e++, tried++) {
            char text[1000];
            size_t n = 0;
            for (const char *p = programs[i].text; *p;) {
                const bool type = strncmp(p, "tensor<float32>", 15) == 0;
                n += (size_t)snprintf(text + n, sizeof text - n, type ? "tensor<%s>" : "%.1s",
                                      type ? elements[e].name : p);
                p += type ? 15 : 1;
            }
            try_program(i, text);
        }
    }
    assert_true(tried >= 20 * sizeof elements / sizeof *elements);
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
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
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
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_by_elements),
        cmocka_unit_test(programs_give_their_tensors),
        cmocka_unit_test(programs_of_whole_numbers_in_every_precision),
        cmocka_unit_test(names_and_choices_decide_about_inputs_and_results),
        cmocka_unit_test(a_check_finds_what_does_not_fit),
    };
    return RUN_GROUP(tests);
}
