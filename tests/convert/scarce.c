/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Memory runs out at every allocation of a conversion of ONNX, and of a check. */
#include "scarce_dialect.h"
#include "support/onnx_make.h"

static float numbers[512];
static om m;

static void integers(const char *name, om_dims dims, int64_t a, int64_t b, int64_t c, int64_t d) {
    const int64_t all[] = { a, b, c, d };
    size_t n = 1;
    for (size_t i = 0; i < dims.size; i++) n *= (size_t)dims.data[i];
    om_int64s(&m, name, dims, all, n);
}

/* A model with everything that allocates in its own way. */
static const void *model(size_t *size) {
    m = om_begin("net");
    om_input(&m, "x", ONNX_FLOAT, OM_DIMS(1, 2, 6, 6));
    om_floats(&m, "w", OM_DIMS(2, 2, 3, 3), numbers, 36);
    om_floats(&m, "s", OM_DIMS(2), numbers + 1, 2);
    om_floats(&m, "fc", OM_DIMS(5, 72), numbers, 360);
    integers("zero", OM_DIMS(1), 0, 0, 0, 0);
    integers("rest", OM_DIMS(1), -1, 0, 0, 0);
    integers("two", OM_DIMS(1), 2, 0, 0, 0);
    om_node(&m, "Conv", "conv", "x,w,s", "a");
    om_ints(&m, "pads", OM_DIMS(1, 1, 1, 1));
    om_node(&m, "BatchNormalization", "bn", "a,s,s,s,s", "b");
    om_node(&m, "Conv", "again", "b,w", "c");
    om_ints(&m, "pads", OM_DIMS(1, 1, 1, 1));
    om_node(&m, "Add", "sum", "a,c", "d");
    om_node(&m, "Shape", "shape", "d", "e");
    om_node(&m, "Gather", "batch", "e,zero", "f");
    om_node(&m, "Concat", "sizes", "f,rest", "g");
    om_int(&m, "axis", 0);
    om_node(&m, "Reshape", "flat", "d,g", "h");
    om_node(&m, "Gemm", "gemm", "h,fc", "i");
    om_int(&m, "transB", 1);
    om_node(&m, "Split", "split", "i,", "j,k");
    om_node(&m, "TopK", "top", "i,two", "l,n");
    om_node(&m, "Det", "stays", "d", "q");
    om_node(&m, "Softmax", "soft", "h", "r");
    om_int(&m, "axis", 0);
    om_node(&m, "ReduceLogSumExp", "lse", "d", "t");
    om_node(&m, "com.example.Op", "other", "t,t", "y");
    om_node(&m, "Identity", "same", "fc", "u");
    om_output(&m, "y", ONNX_FLOAT, OM_NO_RANK);
    om_output(&m, "l", ONNX_FLOAT, OM_NO_RANK);
    om_output(&m, "u", ONNX_FLOAT, OM_DIMS(5, 72));
    return om_done(&m, size);
}

static const char *pass_name(void) { return "onnx-to-xir"; }

static void prepare(want *w) {
    size_t size;
    const void *bytes = model(&size);
    w->net = xir_network_read(w->ctx, bytes, size, XIR_STR("model"), NULL, w->why);
    om_free(&m);
    xir_diags_clear(w->why);
}

GROUP {
    for (size_t i = 0; i < COUNT(numbers); i++) numbers[i] = (float)(i % 7);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_converting),
        cmocka_unit_test(test_checking),
    };
    return RUN_GROUP(tests);
}
