/* Memory runs out at every allocation of reading and of writing DeepX IR: see support/scarce_file.h. */
#include "support/scarce_file.h"

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

SCARCE_TEST(reading)
SCARCE_TEST(writing)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reading),
        cmocka_unit_test(test_writing),
    };
    return cmocka_run_group_tests(tests, group_begin, group_end);
}
