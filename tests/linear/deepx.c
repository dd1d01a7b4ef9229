/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Shapes of texts of DeepX. */
#include "linear/shapes.h"

#define NEW(name) "newtensor(vector<int32>:[2 3])->(tensor<float32>:" name ")\n"

static void deepx_chain(bytes *b, int64_t n) {
    for (i64 i = 0; i < n; i++) putf(b, NEW("t%lld") "constant(var<int32>:1)->(tensor<float32>:t%lld)\n", i, i);
}

/* One name; every line makes another version of it. */
static void deepx_versions(bytes *b, int64_t n) {
    put_text(b, NEW("t") "constant(var<int32>:1)->(tensor<float32>:t)\n");
    for (i64 i = 0; i < n; i++) put_text(b, "mulscalar(tensor<float32>:t, var<int32>:2)->(tensor<float32>:t)\n");
}

static void deepx_one_tensor(bytes *b, int64_t n) {
    put_text(b, NEW("t") "constant(var<int32>:1)->(tensor<float32>:t)\n");
    for (i64 i = 0; i < n; i++) putf(b, NEW("t%lld") "exp(tensor<float32>:t)->(tensor<float32>:t%lld)\n", i, i);
}

static void deepx_prints(bytes *b, int64_t n) {
    deepx_versions(b, 1);
    for (i64 i = 0; i < n; i++) put_text(b, "print(tensor<float32>:t)->()\n");
}

static void deepx_printed_versions(bytes *b, int64_t n) {
    deepx_versions(b, 1);
    for (i64 i = 0; i < n; i++)
        put_text(b, "print(tensor<float32>:t)->()\nmulscalar(tensor<float32>:t, var<int32>:2)->(tensor<float32>:t)\n");
}

static void deepx_made_and_deleted(bytes *b, int64_t n) {
    for (i64 i = 0; i < n; i++) put_text(b, NEW("t") "deltensor()->(tensor<float32>:t)\n");
}

static void deepx_inputs(bytes *b, int64_t n) {
    for (i64 i = 0; i < n; i++) putf(b, "exp(tensor<float32>:a%lld)->(tensor<float32>:a%lld)\n", i, i);
}

/* A list that a call returns, and another writes again. */
static void deepx_returned_list(bytes *b, int64_t n) {
    for (int call = 0; call < 2; call++) {
        put_text(b, "split(tensor<float32>:x, var<int32>:0)->(listtensor<float32>:[");
        for (i64 i = 0; i < n / 4; i++) putf(b, "%sa%lld", i ? " " : "", i);
        put_text(b, "])\n");
    }
}

static void deepx_loads(bytes *b, int64_t n) {
    for (i64 i = 0; i < n; i++) putf(b, "load(var<string>:/tmp/w%lld)->()\n", i);
}

static void deepx_one_file(bytes *b, int64_t n) {
    deepx_versions(b, 1);
    for (i64 i = 0; i < n; i++)
        put_text(b, "save(tensor<float32>:t, var<string>:w)->()\nload(var<string>:w)->()\n");
}

static void deepx_drawn_by_the_system(bytes *b, int64_t n) {
    for (i64 i = 0; i < n; i++)
        putf(b, NEW("t%lld") "uniform(var<int32>:0, var<int32>:1, var<int32>:0)->(tensor<float32>:t%lld)\n"
             "dropout(var<float32>:0.5, var<int32>:0)->(tensor<float32>:t%lld)\n", i, i, i);
}

static void deepx_vars(bytes *b, int64_t n) {
    deepx_versions(b, 1);
    for (i64 i = 0; i < n; i++)
        putf(b, "argset(var<int32>:%lld)->(var<int32>:k%lld)\n"
             "mulscalar(tensor<float32>:t, var<int32>:k%lld)->(tensor<float32>:t)\n", i, i, i);
}

static void deepx_list(bytes *b, int64_t n) {
    put_text(b, NEW("c") "concat(listtensor<float32>:[");
    for (i64 i = 0; i < n; i++) put_text(b, "t ");
    put_text(b, "t], var<int32>:0)->(tensor<float32>:c)\n");
}

static void deepx_definitions(bytes *b, int64_t n) {
    for (i64 i = 0; i < n; i++) putf(b, "f%lld(tensor<float32|float64>:A)->(tensor<any>:C)\n", i);
}

static void deepx_one_function(bytes *b, int64_t n) {
    for (i64 i = 0; i < n; i++) putf(b, "f(tensor<float32|float64>:A)->(tensor<any>:C) // author=a%lld\n", i);
}

static void deepx_functions(bytes *b, int64_t n) {
    for (i64 i = 0; i < n; i++) putf(b, "f%lld(tensor<float32>:a)->(tensor<float32>:b)\n", i);
}

static void deepx_faults(bytes *b, int64_t n) {
    for (i64 i = 0; i < n; i++) put_text(b, "exp(tensor<int32>:a, 1)->(tensor<float32>:b)\nadd(a)->(tensor<bool>:m)\n");
}

static void deepx_metadata(bytes *b, int64_t n) {
    put_text(b, "f(a)->(b) //");
    for (i64 i = 0; i < n; i++) putf(b, " k%lld=v", i);
}

static void deepx_blocks(bytes *b, int64_t n) {
    for (i64 i = 0; i < n; i++) putf(b, "deepxir f%lld(x: f32) -> (y: f32) {\n    exp(x)->(y)\n}\n", i);
}

static const char *const half = "func half(x: tensor<?1x?2xf32>, n: f32) -> (y: tensor) {\n    mulscalar(x, n)->(y)\n}\n";

static void deepx_calls_of_a_block(bytes *b, int64_t n) {
    put_text(b, half);
    deepx_versions(b, 1);
    for (i64 i = 0; i < n; i++) put_text(b, "half(t, 0.5)->(t)\n");
}

static void deepx_a_long_block(bytes *b, int64_t n) {
    put_text(b, "func f(x: tensor) -> (y: tensor) {\n    exp(x)->(y)\n");
    for (i64 i = 0; i < n; i++) putf(b, "    newtensor([2 3], f32)->(t%lld)\n    exp(x)->(t%lld)\n", i, i);
    put_text(b, "}\n");
    deepx_versions(b, 1);
    put_text(b, "f(t)->(t)\n");
}

/* Each block calls the one before it. */
static void deepx_blocks_in_blocks(bytes *b, int64_t n) {
    put_text(b, "func f0(x: tensor) -> (y: tensor) {\n    exp(x)->(y)\n}\n");
    for (i64 i = 1; i < n; i++)
        putf(b, "func f%lld(x: tensor) -> (y: tensor) {\n    f%lld(x)->(y)\n}\n", i, i - 1);
    deepx_versions(b, 1);
    putf(b, "f%lld(t)->(t)\n", (i64)n - 1);
}

static void deepx_a_wide_block(bytes *b, int64_t n) {
    put_text(b, "func f(x: tensor");
    for (i64 i = 0; i < n; i++) putf(b, ", n%lld: i32", i);
    put_text(b, ") -> (y: tensor) {\n    g(x");
    for (i64 i = 0; i < n; i++) putf(b, ", n%lld", i);
    put_text(b, ")->(y)\n}\n");
    deepx_versions(b, 1);
    put_text(b, "f(t");
    for (i64 i = 0; i < n; i++) put_text(b, ", 3");
    put_text(b, ")->(t)\n");
}

static void deepx_malformed(bytes *b, int64_t n) {
    for (i64 i = 0; i < n; i++) put_text(b, "add(a,,b)->(c)\n");
}

const file_shape deepx_shapes[] = {
    SHAPE(deepx_chain), SHAPE(deepx_versions), SHAPE(deepx_one_tensor), SHAPE(deepx_prints),
    SHAPE(deepx_printed_versions), SHAPE(deepx_made_and_deleted), SHAPE(deepx_inputs), SHAPE(deepx_loads),
    SHAPE(deepx_returned_list),
    SHAPE(deepx_one_file), SHAPE(deepx_drawn_by_the_system), SHAPE(deepx_vars), SHAPE(deepx_list),
    SHAPE(deepx_definitions), SHAPE(deepx_one_function), SHAPE(deepx_functions), SHAPE(deepx_faults),
    SHAPE(deepx_metadata), SHAPE(deepx_blocks), SHAPE(deepx_calls_of_a_block), SHAPE(deepx_a_long_block),
    SHAPE(deepx_blocks_in_blocks), SHAPE(deepx_a_wide_block), REFUSED(deepx_malformed),
};
const size_t n_deepx_shapes = sizeof deepx_shapes / sizeof *deepx_shapes;
