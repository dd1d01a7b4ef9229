/* Memory runs out at every allocation of a conversion of DeepX, and of a check: see scarce_dialect.h. */
#include "passes/convert/scarce_dialect.h"

/* A program with everything that allocates in its own way: vars, files, printed versions, drawn numbers, inputs, lists
 * and what is not converted. */
static const char text[] =
    "func half(x: tensor<?1xf32>, n: f32) -> (y: tensor<?1xf32>) {\n    newtensor(?1, f32)->(t)\n    mulscalar(x, n)->(t)\n"
    "    copy(t)->(y)\n}\n"
    "func copy(x: tensor<?1xf32>) -> (y: tensor<?1xf32>) {\n    copytensor(x)->(y)\n}\n"
    "newtensor(vector<int32>:[2 3])->(tensor<float32>:a)\n"
    "uniform(var<float32>:0, var<float32>:1, var<int32>:7)->(tensor<float32>:a)\n"
    "print(tensor<float32>:a)->()\n"
    "argset(var<float32>:2.5)->(var<float32>:k)\n"
    "mulscalar(tensor<float32>:a, var<float32>:k)->(tensor<float32>:a)\n"
    "dropout(var<float32>:0.5, var<int32>:0)->(tensor<float32>:a)\n"
    "save(tensor<float32>:a, var<string>:/tmp/w)->()\n"
    "load(var<string>:/tmp/w)->()\n"
    "load(var<string>:/tmp/v)->()\n"
    "newtensor(vector<int32>:[4 6])->(tensor<float32>:r)\n"
    "repeat(tensor<float32>:a, vector<int32>:[2 2])->(tensor<float32>:r)\n"
    "newtensor(vector<int32>:[6 2])->(tensor<float32>:b)\n"
    "arange(var<float32>:0, var<float32>:1)->(tensor<float32>:b)\n"
    "newtensor(vector<int32>:[4 2])->(tensor<float32>:p)\n"
    "matmul(tensor<float32>:r, tensor<float32>:b)->(tensor<float32>:p) // author=cblas\n"
    "newtensor(vector<int32>:[8 2])->(tensor<float32>:c)\n"
    "concat(listtensor<float32>:[p p], var<int32>:0)->(tensor<float32>:c)\n"
    "newtensor(vector<int32>:[8])->(tensor<float32>:s)\n"
    "sum(tensor<float32>:c, vector<int32>:[1], var<bool>:false)->(tensor<float32>:s)\n"
    "half(tensor<float32>:s, var<float32>:0.5)->(tensor<float32>:s)\n"
    "exp(tensor<float32>:v)->(tensor<float32>:v)\n"
    "deltensor()->(tensor<float32>:c)\n";

static const char *pass_name(void) { return "deepx-to-xir"; }

static void prepare(want *w) {
    w->net = xir_network_read(w->ctx, text, sizeof text - 1, XIR_STR("x.ir"),
                              &XIR_INIT(xir_load_options, .format = "deepx"), w->why);
    xir_diags_clear(w->why);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_converting),
        cmocka_unit_test(test_checking),
    };
    return RUN_GROUP(tests);
}
