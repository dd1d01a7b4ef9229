/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The first description of DeepX IR: each of its examples is read, checked, written in the live spelling and in its
 * own, and comes back; its programs compute what they say. */
#include <stdio.h>
#include <string.h>
#include <xir/deepx.h>
#include <xir/exec.h>
#include <xir/pass.h>
#include <xir/serialize.h>
#include "support/kept.h"
#include "support/net.h"

static xir_network *read_seed(const char *text, size_t size) {
    xir_diags_clear(why);
    xir_network *net = xir_network_read(ctx, text, size, XIR_STR("p.ir"),
                                        &XIR_INIT(xir_load_options, .format = "deepx"), why);
    if (!net) xir_diags_print(why, stderr);
    assert_non_null(net);
    return net;
}

/* Each example, and how it is written in the live spelling; a definition has its types in the live order. */
static const struct { const char *seed, *live; bool definition; const char *fault; } examples[] = {
    { "matmul A,B -> C", "matmul(A, B)->(C)", false, NULL },
    { "sum(A,[1 2 3]) -> B", "sum(A, [1 2 3])->(B)", false, "expected 3 parameters and 1 return slots, found 2 and 1" },
    { "newtensor 3 4 5 -> T1", "newtensor(3 4 5)->(T1)", false, NULL },
    { "matmul(A,B)->C //id=1 created_at=123456789 sent_at=123456790",
      "matmul(A, B)->(C) //id=1 created_at=123456789 sent_at=123456790", false, NULL },
    { "matmul(A,B)->C //author=cblas", "matmul(A, B)->(C) //author=cblas", false, NULL },
    { "sum(T1,[0 1],true) -> T2", "sum(T1, [0 1], true)->(T2)", false, NULL },
    { "matmul(Tensor<float32|float64> A, Tensor<float32|float64> B) -> Tensor<float32|float64> C",
      "matmul(tensor<float64|float32>:A, tensor<float64|float32>:B)->(tensor<float64|float32>:C)", true, NULL },
    { "sum(Tensor<any> A, vector<int32> dim) -> Tensor<any> B",
      "sum(tensor<any>:A, vector<int32>:dim)->(tensor<any>:B)", true, NULL },
    { "newtensor(vector<int32> shape) -> Tensor<float32> T1",
      "newtensor(vector<int32>:shape)->(tensor<float32>:T1)", true, NULL },
    { "sum(Tensor<any> input, vector<int32> dims,var<bool> keepdim) -> Tensor<any> output",
      "sum(tensor<any>:input, vector<int32>:dims, var<bool>:keepdim)->(tensor<any>:output)", true, NULL },
    { "newtensor(vector<int32> shape) -> Tensor<float32> output",
      "newtensor(vector<int32>:shape)->(tensor<float32>:output)", true, NULL },
};

static buffer written(xir_network *net) {
    buffer out;
    buffer_init(&out, &memory_default);
    const xir_save_options options = XIR_INIT(xir_save_options, .format = "deepx", .unchecked = true);
    assert_int_equal(xir_network_write(net, keep, &out, &options, why), XIR_OK);
    return out;
}

/* Without its spelling and its lines a network is written as the executor writes. */
static void make_live(xir_network *net) {
    const xir_any live = xir_any_text(XIR_STR("live"));
    assert_int_equal(xir_network_set_tag(net, XIR_STR("deepx.spelling"), &live), XIR_OK);
    assert_int_equal(xir_network_set_tag(net, XIR_STR("deepx.file"), NULL), XIR_OK);
    for (xir_op *op = xir_network_first(net); op; op = xir_op_next(op))
        assert_int_equal(xir_op_set_tag(op, XIR_STR("deepx.line"), NULL), XIR_OK);
}

static void each_example_comes_back(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(examples); i++) {
        const char *seed = examples[i].seed;
        xir_network *net = read_seed(seed, strlen(seed));
        buffer same = written(net);
        assert_int_equal(same.size, strlen(seed));
        assert_memory_equal(same.data, seed, same.size);
        const xir_any *defs = xir_map_find(xir_network_tags(net), XIR_STR("deepx.defs"));
        assert_int_equal(defs != NULL, examples[i].definition);
        xir_diags_clear(why);
        (void)xir_deepx_check(net, why);
        assert_int_equal(xir_diags_count_of(why, XIR_ERROR) != 0, examples[i].fault != NULL);
        bool found = !examples[i].fault;
        for (size_t k = 0; !found && k < xir_diags_count(why); k++)
            found = strstr(xir_diags_at(why, k)->message.data, examples[i].fault);
        assert_true(found);
        make_live(net);
        buffer live = written(net);
        xir_network *again = read_seed(live.data, live.size);
        buffer twice = written(again);
        const size_t n = strlen(examples[i].live);
        if (live.size < n || memcmp(live.data, examples[i].live, n) != 0)
            fail_msg("%s: expected %s, found %.*s", seed, examples[i].live, (int)live.size, live.data);
        assert_int_equal(twice.size, live.size);
        assert_memory_equal(twice.data, live.data, live.size);
        buffer_free(&same);
        buffer_free(&live);
        buffer_free(&twice);
        xir_network_free(again);
        xir_network_free(net);
    }
}

/* ---- programs --------------------------------------------------------------------------------------------------- */

#define DEFS "# funcdef\nnewtensor(vector<int32> shape) -> Tensor<float32> output\n" \
             "matmul(Tensor<float32|float64> A, Tensor<float32|float64> B) -> Tensor<float32|float64> C\n" \
             "sum(Tensor<any> input, vector<int32> dims,var<bool> keepdim) -> Tensor<any> output\n\n# funccall\n"

static const struct { const char *text, *result; double numbers[8]; size_t n; } programs[] = {
    { DEFS "newtensor 2 3 -> A\nnewtensor 3 2 -> B\nnewtensor 2 2 -> C\narange 1,1 -> A\narange 1,1 -> B\n"
      "matmul A,B -> C\n// parsed by the other side\n", "C", { 22, 28, 49, 64 }, 4 },
    { DEFS "newtensor 2 3 2 -> T1\nnewtensor 1 1 2 -> T2\narange 0,1 -> T1\nsum(T1,[0 1],true) -> T2\n", "T2",
      { 30, 36 }, 2 },
    { DEFS "newtensor 3 4 5 -> T1\nconstant 0.5 -> T1\nnewtensor 5 -> T2\nsum T1,[0 1],false -> T2\n", "T2",
      { 6, 6, 6, 6, 6 }, 5 },
};

static void its_programs_compute(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(programs); i++) {
        xir_network *net = read_seed(programs[i].text, strlen(programs[i].text));
        if (xir_pass_run(net, "deepx-to-xir", NULL, NULL, why)) xir_diags_print(why, stderr);
        if (xir_network_is_dialect(net)) xir_diags_print(why, stderr);
        assert_false(xir_network_is_dialect(net));
        xir_array *out[8] = { NULL };
        const xir_op *output = xir_network_output_op(net);
        const size_t n = xir_op_input_count(output);
        size_t found = 0;
        assert_true(n <= COUNT(out) && xir_op_output_count(xir_network_input_op(net)) == 0);
        DOES(xir_network_run(net, NULL, 0, out, n, NULL, why));
        for (size_t k = 0; k < n; k++) {
            const xir_str name = xir_value_name(xir_op_input(output, (int64_t)k));
            for (size_t e = 0; xir_str_equal(name, xir_str_of(programs[i].result)) && e < programs[i].n; e++, found++)
                assert_float_equal(xir_array_real(out[k], e), programs[i].numbers[e], 0);
            xir_array_free(out[k]);
        }
        assert_int_equal(found, programs[i].n);
        xir_network_free(net);
    }
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_example_comes_back),
        cmocka_unit_test(its_programs_compute),
    };
    return RUN_GROUP(tests);
}
