/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Checks of programs of DeepX: which definition a call gets, as the executor chooses, and what calls do to tensors. All
 * findings of a text are in one run, in the order of the lines; a text without any has none. */
#include <xir/deepx.h>
#include "support/load_net.h"

#define NEW(dims, type, name) "newtensor(vector<int32>:[" dims "])->(tensor<" type ">:" name ")\n"

static const struct { const char *text, *findings; } table[] = {
    { NEW("2", "float32", "a") "exp(tensor<float32>:a)->(tensor<float32>:a) // author=miaobyte\n", "" },
    { NEW("2", "float32", "a") "exp(tensor<float32>:a)->(tensor<float32>:a)\n", "" },
    { "exp(a)->(b)\n",
      "/ops/1/input/0: note: no line makes 'a': it is an input, whose type --input-shape gives\n"
      "/ops/1/input/1: note: no line makes 'b': it is an input, whose type --input-shape gives\n" },
    /* definitions */
    { "frob(var<int32>:1)->()\n", "/ops/1: error: no definition is called 'frob'\n" },
    { NEW("2", "float32", "a") "exp(tensor<float32>:a)->(tensor<float32>:a) // author=me\n",
      "/ops/2: error: 'exp' has no definition by the author 'me'\n"
      "/ops/2: note: 'exp(tensor<any>:A)->(tensor<any>:C)' by 'miaobyte' fits\n" },
    { NEW("2", "int32", "a") "add(tensor<int32>:a, tensor<int32>:a)->(tensor<int32>:a)\n",
      "/ops/2: error: no definition of 'add' by 'cblas' fits the call\n"
      "/ops/2/attribute/arg0: note: 'add(tensor<float64|float32>:a, tensor<float64|float32>:b)->(tensor<float64|float32>:c)': "
      "parameter 0: expected tensor<float64|float32>, found tensor<int32>\n" },
    { NEW("2", "int32", "a") "add(tensor<int32>:a, tensor<int32>:a)->(tensor<int32>:a) // author=miaobyte\n", "" },
    { NEW("2 2", "float32", "a") "add(tensor<float32>:a, tensor<float32>:a)->(tensor<float32>:a) // author=cublas\n", "" },
    { NEW("2", "float32", "a") "exp(tensor<float32>:a, tensor<float32>:a)->(tensor<float32>:a)\n",
      "/ops/2: error: no definition of 'exp' by 'miaobyte' fits the call\n"
      "/ops/2: note: 'exp(tensor<any>:A)->(tensor<any>:C)': expected 1 parameters and 1 return slots, found 2 and 1\n" },
    { NEW("2", "float32", "a") "rpowscalar(var<int32>:2, tensor<float32>:a)->(tensor<float32>:a)\n",
      "/ops/2: error: no definition of 'rpowscalar' by 'miaobyte' fits the call\n"
      "/ops/2/attribute/arg0: note: 'rpowscalar(var<float32>:scalar, tensor<any>:A)->(tensor<any>:C)': parameter 0: expected "
      "var<float32>, found var<int32>\n" },
    { NEW("2", "bool", "m") NEW("2", "float32", "a") "lessscalar(tensor<float32>:a, var<int32>:2)->(tensor<float32>:a)\n",
      "/ops/1: note: 'm' is never used\n"
      "/ops/3: error: no definition of 'lessscalar' by 'miaobyte' fits the call\n"
      "/ops/3/attribute/ret0: note: 'lessscalar(tensor<any>:A, var<any>:scalar)->(tensor<bool>:mask)': return slot 0: expected "
      "tensor<bool>, found tensor<float32>\n" },
    { NEW("2 2", "float32", "a") "matmul(tensor<float32>:a, tensor<float32>:a)->(tensor<float32>:a) // author=miaobyte\n",
      "/ops/2: warning: the executor's matmul by 'miaobyte' adds where it should multiply: expected the author 'cblas' or "
      "'cublas'\n" },
    { "exp(tensor<any>:A)->(tensor<any>:C)\nf(tensor<float32|float64>:A)->(tensor<any>:C) // author=me\n"
      "newtensor(vector<int32>:[2])->(tensor<float32>:a.a)\nf(tensor<float32>:a.a)->(tensor<float32>:a.a) // author=me\n",
      "/ops/1: error: no definition is called 'newtensor'\n" },
    { "f(tensor<any>:A)->(tensor<float32|float64>:C)\nf(tensor<any>:B)->(tensor<float64|float32>:D)\n"
      "f(tensor<any>:A)->(tensor<float32>:C)\n",
      "/defs/1: error: 'f' is defined twice with the same types\n"
      "/defs/2: warning: this definition of 'f' is unreachable: an earlier one accepts every call that it would\n" },
    { "deepxir f(x: tensor) -> (y: tensor) {\n    exp(x)->(y)\n}\n" NEW("2", "float32", "a") "f(a)->(a)\n", "" },
    /* numbers */
    { NEW("2", "float32", "a") "uniform(var<int32>:0, var<int32>:1, var<int32>:4207496328)->(tensor<float32>:a)\n",
      "/ops/2/attribute/arg2: warning: 4207496328 does not fit into int32: the executor reads it as a float\n" },
    /* tensors */
    { "exp(tensor<float32>:a)->(tensor<float32>:a)\n" NEW("2", "float32", "a"),
      "/ops/1/input/0: error: 'a' is used before a line makes it\n"
      "/ops/1/input/1: error: 'a' is used before a line makes it\n"
      "/ops/2/input/0: warning: 'a' exists already: call 1 has made its elements\n"
      "/ops/2: note: 'a' is never used\n" },
    { NEW("2", "float32", "a") "constant(var<int32>:1)->(tensor<float32>:a)\n" NEW("3", "float32", "a"),
      "/ops/3/input/0: warning: 'a' exists already: call 2 has made its elements\n"
      "/ops/3: note: 'a' is never used\n" },
    { NEW("2", "float32", "a") "deltensor()->(tensor<float32>:a)\nexp(tensor<float32>:a)->(tensor<float32>:a)\n",
      "/ops/1: note: 'a' is never used\n"
      "/ops/3/input/0: error: 'a' was deleted by call 2\n/ops/3/input/1: error: 'a' was deleted by call 2\n" },
    { NEW("2", "float32", "a") "deltensor()->(tensor<float32>:a)\ndeltensor()->(tensor<float32>:a)\n",
      "/ops/1: note: 'a' is never used\n/ops/3/input/0: error: 'a' was deleted by call 2\n" },
    { NEW("2", "float32", "a") "constant(var<int32>:1)->(tensor<float32>:a)\ndeltensor()->(tensor<float32>:a)\n"
      NEW("3", "int32", "a") "constant(var<int32>:1)->(tensor<int32>:a)\n", "" },
};

static void programs_and_their_findings(void **state) {
    (void)state;
    static const char *const severities[] = { "error", "warning", "note" };   /* ORDER SEVERITY */
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        char found[4000] = "";
        size_t n = 0;
        xir_diags_clear(why);
        xir_network *net = xir_network_read(ctx, table[i].text, strlen(table[i].text), XIR_STR("p.ir"),
                                            &XIR_INIT(xir_load_options, .format = "deepx"), why);
        assert_non_null(net);
        xir_diags_clear(why);
        const xir_status status = xir_deepx_check(net, why);
        assert_true((status != XIR_OK) == (xir_diags_count_of(why, XIR_ERROR) > 0));
        for (size_t k = 0; k < xir_diags_count(why); k++) {
            const xir_diag *d = xir_diags_at(why, k);
            n += (size_t)snprintf(found + n, sizeof found - n, "%.*s: %s: %.*s\n", (int)d->path.size, d->path.data,
                                  severities[d->severity], (int)d->message.size, d->message.data);
        }
        if (strcmp(found, table[i].findings) != 0)
            fail_msg("%sexpected:\n%sfound:\n%s", table[i].text, table[i].findings, found);
        xir_network_free(net);
    }
}

GROUP {
    const struct CMUnitTest tests[] = { cmocka_unit_test(programs_and_their_findings) };
    return cmocka_run_group_tests(tests, group_begin, group_end);
}
