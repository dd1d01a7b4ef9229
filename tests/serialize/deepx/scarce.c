/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Memory runs out at every allocation of reading and of writing DeepX IR, and of its tensors in a folder: see
 * support/scarce_file.h. */
#include "support/scarce_file.h"
#include "support/scratch.h"

static const char text[] =
    "# a note\n"
    "matmul(tensor<float64|float32>:A, tensor<any>:B)->(tensor<any>:C) // author=cblas\n"
    "newtensor (vector<int32>:[3 4]) -> (tensor<float32>:a) //  created_at=1\n"
    "concat(listtensor<any>:[a input], var<int32>:1)->(tensor<float32>:a)\n"
    "reshape  (tensor<float32>:a, vector<int32>:[12]) -> (tensor<float32>:a)\n"
    "renametensor(var<string>:b)->(tensor<float32>:a)\n"
    "deepxir f(x: f32) -> (y: f32) {\n    g(x)->(y)\n}\n"
    "f(b)->(c)";

static const scarce_file file = { "deepx", text, sizeof text - 1, false, NULL };

static void reading(want *w) { scarce_read(w, &file); }
static void writing(want *w) { scarce_write(w, &file); }

static void put_folder(void) {
    static const char shape[] = "dtype: int8\ndim: 1\nshape: [2]\nstride: [1]\nsize: 2\n";
    static const char program[] = "load(var<string>:/a/w)->()\nload(var<string>:/b/w)->()\n"
                                  "newtensor([2])->(tensor<int8>:v)\nloadtensordata(/v)->(tensor<int8>:v)\n";
    assert_int_equal(mkdir(scratch("p.data"), 0777), 0);
    scratch_put(scratch("p.data/w.shape"), shape, sizeof shape - 1);
    scratch_put(scratch("p.data/w.data"), "ab", 2);
    scratch_put(scratch("p.data/v.data"), "cd", 2);
    scratch_put(scratch("p.ir"), program, sizeof program - 1);
}

static void loading(want *w) {
    xir_network *net;
    const char *path = scratch("p.ir");
    TRY_MAKE(w, net, xir_network_load(w->ctx, path, NULL, w->why));
    IN_PLENTY(w,
        assert_int_equal(xir_network_params(net, NULL, 0), 3);
        xir_network_free(net));
}

SCARCE_TEST(loading)
SCARCE_TEST(reading)
SCARCE_TEST(writing)

static int begin(void **state) {
    scratch_make();
    put_folder();
    return group_begin(state);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reading),
        cmocka_unit_test(test_writing),
        cmocka_unit_test(test_loading),
    };
    return cmocka_run_group_tests(tests, begin, group_end);
}
