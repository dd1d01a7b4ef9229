/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The results of functions of DeepX, as NumPy computes them: formulas of those that work by elements, and small
 * programs of all others with the numbers of a tensor. Tests run both in the precisions that a function has. */
#ifndef TEST_CONVERT_DEEPX_FORMULAS_H
#define TEST_CONVERT_DEEPX_FORMULAS_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

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

/* ---- whole programs: the results by name ------------------------------------------------------------------------- */

#define NEW(dims, type, name) "newtensor(vector<int32>:[" dims "])->(tensor<" type ">:" name ")\n"
#define SERIES(name, first, step) "arange(var<float32>:" first ", var<float32>:" step ")->(tensor<any>:" name ")\n"
#define A23 NEW("2 3", "float32", "a") SERIES("a", "1", "1")

typedef struct program { const char *text, *name; size_t n; double v[12]; } program;

static const program programs[] = {
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
    { A23 "argset(var<float64>:-2)->(var<float64>:k)\nvecset(vector<int32>:2 6)->(vector<int32>:v)\n"
      "maxscalar(tensor<float32>:a, var<float64>:3)->(tensor<float32>:a)\n"
      "addscalar(tensor<float32>:a, var<float64>:k)->(tensor<float32>:a)\n", "a", 6, { 1, 1, 1, 2, 3, 4 } },
    { "newtensor(var<string>:2 2)->(tensor<float32>:a)\nconstant(var<int32>:7)->(tensor<float32>:a)\n", "a", 4,
      { 7, 7, 7, 7 } },
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

/* The same for bools: the mask m is 0 1 0 / 1 0 0, and n its inverse. */
#define MASKS \
    NEW("2 3", "float32", "a") SERIES("a", "1", "1") NEW("2 3", "bool", "m") NEW("2 3", "bool", "n") \
    "notequalscalar(tensor<float32>:a, var<float32>:3, var<float32>:1)->(tensor<bool>:n)\n" \
    "equalscalar(tensor<float32>:a, var<float32>:3, var<float32>:0)->(tensor<bool>:m)\n" \
    "equal(tensor<bool>:m, tensor<bool>:n, var<float32>:0)->(tensor<bool>:m)\n" \
    "invert(tensor<bool>:m)->(tensor<bool>:n)\n"
static const program bools[] = {
    { MASKS, "m", 6, { 0, 1, 0, 1, 0, 0 } },
    { MASKS, "n", 6, { 1, 0, 1, 0, 1, 1 } },
    { MASKS "notequal(tensor<bool>:m, tensor<bool>:n, var<float32>:0)->(tensor<bool>:m)\n", "m", 6,
      { 1, 1, 1, 1, 1, 1 } },
    { MASKS NEW("2 3", "bool", "c") "copytensor(tensor<bool>:n)->(tensor<bool>:c)\n", "c", 6, { 1, 0, 1, 0, 1, 1 } },
    { MASKS "reshape(tensor<bool>:n, vector<int32>:[3 2])->(tensor<bool>:n)\n", "n", 6, { 1, 0, 1, 0, 1, 1 } },
    { MASKS NEW("3 2", "bool", "t") "transpose(tensor<bool>:n, vector<int32>:[1 0])->(tensor<bool>:t)\n", "t", 6,
      { 1, 0, 0, 1, 1, 1 } },
    { MASKS NEW("2 6", "bool", "t") "concat(listtensor<bool>:[m n], var<int32>:1)->(tensor<bool>:t)\n", "t", 12,
      { 0, 1, 0, 1, 0, 1, 1, 0, 0, 0, 1, 1 } },
    { MASKS NEW("2 2 3", "bool", "t") "broadcastTo(tensor<bool>:n, vector<int32>:[2 2 3])->(tensor<bool>:t)\n", "t", 12,
      { 1, 0, 1, 0, 1, 1, 1, 0, 1, 0, 1, 1 } },
    { MASKS NEW("2", "int64", "i") "arange(var<int32>:2, var<int32>:-1)->(tensor<int64>:i)\n" NEW("2 2", "bool", "t")
      "indexselect(tensor<bool>:n, tensor<int64>:i, var<int32>:1)->(tensor<bool>:t)\n", "t", 4, { 1, 0, 1, 1 } },
    { MASKS NEW("2 6", "bool", "t") "repeat(tensor<bool>:n, vector<int32>:[1 2])->(tensor<bool>:t)\n", "t", 12,
      { 1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 1, 1 } },
    { MASKS NEW("2 3", "bool", "t") "lessscalar(tensor<float32>:a, var<float32>:5)->(tensor<bool>:t)\n"
      "switch(listtensor<bool>:[n m], tensor<bool>:t)->(tensor<bool>:t)\n", "t", 6, { 0, 1, 0, 1, 1, 1 } },
    { MASKS "renametensor(var<string>:z)->(tensor<bool>:n)\n", "z", 6, { 1, 0, 1, 0, 1, 1 } },
};

/* Drawn numbers in float64: of every precision they are these, rounded, or without their fractions. T is the type. */
static const program draws[] = {
    { "newtensor(vector<int32>:[3])->(T:u)\nuniform(var<float32>:-3, var<float32>:9, var<int32>:7)->(T:u)\n", "u", 3,
      { 8.049174203583508, -0.47338892122541143, 3.3925716530241035 } },
    { "newtensor(vector<int32>:[3])->(T:u)\nnormal(var<float32>:1, var<float32>:2, var<int32>:11)->(T:u)\n", "u", 3,
      { -0.17778315585672266, 0.8625436298829856, -0.7145038752190136 } },
    { "newtensor(vector<int32>:[2])->(T:u)\nuniform(var<int32>:100, var<int32>:100, var<int32>:1)->(T:u)\n", "u", 2,
      { 100, 100 } },
};

#endif
