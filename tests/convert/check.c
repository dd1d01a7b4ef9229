/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Checks of broken ONNX models. Each model has one fault or several; the findings are these faults and nothing else,
 * each with the node's place, what was expected and what was found. Reading the file itself gives no finding. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include "model.h"

static xir_network *read_model(void) {
    size_t size;
    const void *bytes = om_done(&m, &size);
    xir_diags_clear(why);
    xir_network *net = xir_network_read(ctx, bytes, size, XIR_STR("model.onnx"), NULL, why);
    if (!net) xir_diags_print(why, stderr);
    assert_non_null(net);
    return net;
}

/* Compares all findings, one per line. */
static void check_findings(const char *expected, const char *file, int line) {
    static char text[4000];
    xir_network *net = read_model();
    assert_int_equal(xir_diags_count(why), 0);
    char *before = picture(net);
    xir_status status = xir_dialect_check(net, why);
    char *after = picture(net);
    assert_string_equal(before, after);
    free(before);
    free(after);
    size_t n = 0, errors = 0;
    xir_status first = XIR_OK;
    for (size_t i = 0; i < xir_diags_count(why); i++) {
        const xir_diag *d = xir_diags_at(why, i);
        static const char *const words[] = { "", "warning: ", "note: " };
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%s%.*s: %.*s", n ? "\n" : "", words[d->severity],
                              (int)d->path.size,
                              d->path.size ? d->path.data : "", (int)d->message.size, d->message.data);
        if (d->severity == XIR_ERROR && !errors++) first = d->code;
    }
    text[n] = '\0';
    if (strcmp(text, expected) != 0) print_error("%s:%d:\nfound:    %s\nexpected: %s\n", file, line, text, expected);
    assert_string_equal(text, expected);
    assert_int_equal(status, first);
    xir_network_free(net);
}
#define FINDS(expected) check_findings(expected, __FILE__, __LINE__)

static float ones[4096];

static void image(const char *name, int64_t c, int64_t h, int64_t w) {
    for (size_t i = 0; i < COUNT(ones); i++) ones[i] = 1;
    om_input(&m, name, ONNX_FLOAT, OM_DIMS(1, c, h, w));
}

static void output(const char *name, int64_t n, int64_t c, int64_t h,
                   int64_t w) { om_output(&m, name, ONNX_FLOAT, OM_DIMS(n, c, h, w)); }

/* x [1, 3, 8, 8] and a convolution with four 3 x 3 filters; the caller adds its attributes. */
static void conv_begin(void) {
    image("x", 3, 8, 8);
    om_floats(&m, "w", OM_DIMS(4, 3, 3, 3), ones, 108);
    om_node(&m, "Conv", "conv1", "x,w", "y");
}

/* ---- single faults ----------------------------------------------------------------------------------------------- */

static void a_valid_model_has_no_findings(void **state) {
    (void)state;
    conv_begin();
    om_ints(&m, "pads", OM_DIMS(1, 1, 1, 1));
    output("y", 1, 4, 8, 8);
    FINDS("");
}

static void channels_that_disagree(void **state) {
    (void)state;
    image("x", 3, 8, 8);
    om_floats(&m, "w", OM_DIMS(4, 5, 3, 3), ones, 180);
    om_node(&m, "Conv", "conv1", "x,w", "y");
    output("y", 1, 4, 6, 6);
    FINDS("/graph/node/0/input/1: Conv 'conv1' (node 0): input 0: expected 5 channels, like the kernel with 1 group, found 3");
}

static void an_unknown_attribute(void **state) {
    (void)state;
    conv_begin();
    om_ints(&m, "stride", OM_DIMS(1, 1));
    output("y", 1, 4, 6, 6);
    FINDS("/graph/node/0/attribute/stride: Conv 'conv1' (node 0): unknown attribute 'stride'; did you mean 'strides'?");
}

static void an_attribute_of_another_type(void **state) {
    (void)state;
    conv_begin();
    om_int(&m, "strides", 1);
    output("y", 1, 4, 6, 6);
    FINDS("/graph/node/0/attribute/strides: Conv 'conv1' (node 0): strides: expected a list of integers, found an integer");
}

static void pads_of_the_wrong_length(void **state) {
    (void)state;
    conv_begin();
    om_ints(&m, "pads", OM_DIMS(1, 1, 1));
    output("y", 1, 4, 8, 8);
    FINDS("/graph/node/0/attribute/pads: Conv 'conv1' (node 0): pads: expected 4 items, found 3");
}

static void an_undefined_input(void **state) {
    (void)state;
    image("x", 3, 8, 8);
    om_node(&m, "Add", "add1", "x,ghost", "y");
    output("y", 1, 3, 8, 8);
    FINDS("/graph/node/0/input/1: Add 'add1' (node 0): input 1 'ghost' is undefined: expected node output, graph input or "
          "initializer");
}

static void an_unknown_op(void **state) {
    (void)state;
    image("x", 3, 8, 8);
    om_node(&m, "Rellu", "act", "x", "y");
    output("y", 1, 3, 8, 8);
    FINDS("/graph/node/0: Rellu 'act' (node 0): the operator set of ONNX has no Rellu; did you mean 'Relu'?");
}

static void an_op_of_another_domain_is_a_note(void **state) {
    (void)state;
    image("x", 3, 8, 8);
    om_opset(&m, "", 17);
    om_opset(&m, "com.example", 1);
    om_node(&m, "com.example.Swish", "act", "x", "y");
    output("y", 1, 3, 8, 8);
    FINDS("note: /graph/node/0: Swish 'act' (node 0): com.example.Swish is unknown: it was not checked");
}

static void dims_that_do_not_broadcast(void **state) {
    (void)state;
    image("x", 3, 8, 8);
    om_floats(&m, "b", OM_DIMS(1, 4, 1, 1), ones, 4);
    om_node(&m, "Add", "add1", "x,b", "y");
    output("y", 1, 3, 8, 8);
    FINDS("/graph/node/0/input/1: Add 'add1' (node 0): input 1 has the dims [1, 4, 1, 1], which do not broadcast with the "
          "[1, 3, 8, 8] of input 0: expected 3 or 1, found 4");
}

static void a_stride_of_zero(void **state) {
    (void)state;
    conv_begin();
    om_ints(&m, "strides", OM_DIMS(0, 1));
    output("y", 1, 4, 6, 6);
    FINDS("/graph/node/0/attribute/strides: Conv 'conv1' (node 0): strides[0]: expected at least 1, found 0");
}

static void a_negative_stride(void **state) {
    (void)state;
    conv_begin();
    om_ints(&m, "strides", OM_DIMS(1, -1));
    output("y", 1, 4, 6, 6);
    FINDS("/graph/node/0/attribute/strides: Conv 'conv1' (node 0): strides[1]: expected at least 1, found -1");
}

static void a_declared_shape_that_is_wrong(void **state) {
    (void)state;
    conv_begin();
    output("y", 1, 4, 7, 6);
    FINDS("/graph/node/0/output/0: Conv 'conv1' (node 0): output 0 'y' has a wrong declared type: expected @fp(32) "
          "[1, 4, 6, 6], found @fp(32) [1, 4, 7, 6]");
}

/* Exporters before onnx 1.16 declare a last window that begins in the padding: [1, 3, 2, 2] is right. What follows may
 * be wrong for the same reason. */
static void a_pool_with_a_window_too_many(void **state) {
    (void)state;
    image("x", 3, 6, 6);
    om_node(&m, "MaxPool", "pool", "x", "p");
    om_ints(&m, "kernel_shape", OM_DIMS(1, 1));
    om_ints(&m, "strides", OM_DIMS(4, 4));
    om_int(&m, "ceil_mode", 1);
    om_node(&m, "Relu", "relu", "p", "y");
    om_value(&m, "p", ONNX_FLOAT, OM_DIMS(1, 3, 3, 3));
    output("y", 1, 3, 3, 3);
    FINDS("warning: /graph/node/0/output/0: MaxPool 'pool' (node 0): output 0 'p' has a wrong declared type: expected "
          "@fp(32) [1, 3, 2, 2], found @fp(32) [1, 3, 3, 3]\n"
          "warning: /graph/node/1/output/0: Relu 'relu' (node 1): output 0 'y' has a wrong declared type: expected "
          "@fp(32) [1, 3, 2, 2], found @fp(32) [1, 3, 3, 3]");
}

/* x [N0, 3] with a row before it. */
static void padded(const char *out, int64_t rows, int64_t columns) {
    static const int64_t one_before[] = { 1, 0, 0, 0 };
    om_input(&m, "x", ONNX_FLOAT, OM_DIMS(-1, 3));
    om_int64s(&m, "pads", OM_DIMS(4), one_before, 4);
    om_node(&m, "Pad", "pad", "x,pads", out);
    om_output(&m, out, ONNX_FLOAT, OM_DIMS(rows, columns));
}

static void a_declared_name_that_is_never_right(void **state) {
    (void)state;
    padded("y", -1, 3);
    FINDS("/graph/node/0/output/0: Pad 'pad' (node 0): output 0 'y' has a wrong declared type: expected @fp(32) "
          "[N0 + 1, 3], found @fp(32) [N0, 3]");
}

static void a_declared_number_that_is_never_right(void **state) {
    (void)state;
    padded("y", 0, 3);
    FINDS("/graph/node/0/output/0: Pad 'pad' (node 0): output 0 'y' has a wrong declared type: expected @fp(32) "
          "[N0 + 1, 3], found @fp(32) [0, 3]");
}

/* 4 rows are right for one N0; no input has the name N1. */
static void declared_dims_that_may_be_right(void **state) {
    (void)state;
    padded("p", 4, -1);
    FINDS("");
}

static void a_kernel_larger_than_its_input(void **state) {
    (void)state;
    image("x", 3, 2, 8);
    om_floats(&m, "w", OM_DIMS(4, 3, 3, 3), ones, 108);
    om_node(&m, "Conv", "conv1", "x,w", "y");
    output("y", 1, 4, 1, 6);
    FINDS("/graph/node/0/input/0: Conv 'conv1' (node 0): dim 2: expected at least 3 elements, like the kernel, found 2 and "
          "0 of padding");
}

static void a_cycle(void **state) {
    (void)state;
    image("x", 3, 8, 8);
    om_node(&m, "Add", "a", "x,q", "p");
    om_node(&m, "Relu", "b", "p", "q");
    om_node(&m, "Relu", "c", "q", "y");
    output("y", 1, 3, 8, 8);
    FINDS("/graph/node/0: the graph has a cycle: 'a' (node 0) needs 'b' (node 1) needs 'a' (node "
          "0)");
}

static void a_duplicate_name(void **state) {
    (void)state;
    image("x", 3, 8, 8);
    om_node(&m, "Relu", "a", "x", "y");
    om_node(&m, "Sigmoid", "b", "x", "y");
    output("y", 1, 3, 8, 8);
    FINDS("/graph/node/1/output/0: Sigmoid 'b' (node 1): output 0: duplicate name 'y'; expected a unique name");
}

static void a_reshape_with_the_wrong_count(void **state) {
    (void)state;
    static const int64_t shape[] = { 1, 190 };
    image("x", 3, 8, 8);
    om_int64s(&m, "shape", OM_DIMS(2), shape, 2);
    om_node(&m, "Reshape", "flat", "x,shape", "y");
    om_output(&m, "y", ONNX_FLOAT, OM_DIMS(1, 190));
    FINDS("/graph/node/0/input/1: Reshape 'flat' (node 0): expected a shape for the 192 elements of input 0, found one for 190");
}

static void a_concat_axis_out_of_range(void **state) {
    (void)state;
    image("x", 3, 8, 8);
    om_node(&m, "Concat", "cat", "x,x", "y");
    om_int(&m, "axis", 4);
    output("y", 1, 6, 8, 8);
    FINDS("/graph/node/0/attribute/axis: Concat 'cat' (node 0): expected an axis from -4 to 3 of a tensor with 4 dims, "
          "found 4");
}

static void a_matmul_whose_k_differs(void **state) {
    (void)state;
    om_input(&m, "x", ONNX_FLOAT, OM_DIMS(2, 5));
    om_floats(&m, "w", OM_DIMS(4, 3), ones, 12);
    om_node(&m, "MatMul", "mm", "x,w", "y");
    om_output(&m, "y", ONNX_FLOAT, OM_DIMS(2, 3));
    FINDS("/graph/node/0/input/1: MatMul 'mm' (node 0): input 1: expected 5 rows, as many as input 0 has columns, found 4");
}

static void elements_that_differ(void **state) {
    (void)state;
    image("x", 3, 8, 8);
    om_input(&m, "i", ONNX_INT64, OM_DIMS(1, 3, 8, 8));
    om_node(&m, "Add", "add1", "x,i", "p");
    om_node(&m, "Pow", "pow1", "x,i", "y");            // may be of another type
    output("y", 1, 3, 8, 8);
    FINDS("/graph/node/0/input/1: Add 'add1' (node 0): input 1: expected float, like input 0, found int64");
}

static void other_faults_of_windows_and_dims(void **state) {
    (void)state;
    static const int64_t axes[] = { 0, 7 };
    image("x", 3, 8, 8);
    om_int64s(&m, "axes", OM_DIMS(2), axes, 2);
    om_floats(&m, "w", OM_DIMS(4, 3, 3), ones, 36);
    om_node(&m, "Conv", "a", "x,w", "p");
    om_node(&m, "MaxPool", "b", "x", "q");
    om_node(&m, "Transpose", "c", "x", "r");
    om_ints(&m, "perm", OM_DIMS(0, 1, 1, 2));
    om_node(&m, "Unsqueeze", "d", "x,axes", "s");
    om_node(&m, "Resize", "e", "x,,s", "t");
    om_text(&m, "mode", "lanczos");
    om_node(&m, "Cast", "f", "x", "y");
    om_int(&m, "to", 0);
    output("y", 1, 3, 8, 8);
    FINDS("/graph/node/0/input/1: Conv 'a' (node 0): the kernel: expected 4 dims, like input 0, found 3\n"
          "/graph/node/1/attribute/kernel_shape: MaxPool 'b' (node 1): the attribute kernel_shape is missing: expected a list "
              "of integers\n"
          "/graph/node/2/attribute/perm: Transpose 'c' (node 2): perm: expected each dim once, found 1 twice\n"
          "/graph/node/3/input/1: Unsqueeze 'd' (node 3): expected an axis from -6 to 5 of a tensor with 6 dims, found 7\n"
          "/graph/node/4/attribute/mode: Resize 'e' (node 4): mode: expected one of nearest|linear|bilinear|cubic, found "
              "'lanczos'\n"
          "/graph/node/5/attribute/to: Cast 'f' (node 5): to: expected an element type, such as 1 for float, found 0");
}

/* Later versions have some attributes as inputs: a finding names the place that the version has. */
static void findings_name_the_place_of_the_version(void **state) {
    (void)state;
    static const struct { int version; const char *type, *place,
                          *message; const char *attributes[3]; size_t items[3]; } cases[] = {
        { 1,  "Pad",       "attribute/paddings", "paddings: expected 8 items, before and after 4 dims, found 3", { "paddings" }, { 3 } },
        { 1,  "Pad",       "attribute/paddings", "paddings is missing",                                          { NULL },       { 0 } },
        { 2,  "Pad",       "attribute/pads",     "pads: expected 8 items, before and after 4 dims, found 3",     { "pads" },     { 3 } },
        { 10, "Pad",       "attribute/pads",     "pads is missing",                                              { NULL },       { 0 } },
        { 11, "Pad",       "input/1",            "pads is missing",                                              { NULL },       { 0 } },
        { 9,  "Slice",     "attribute/starts",   "starts is missing",                                            { NULL },       { 0 } },
        { 9,  "Slice",     "attribute/ends",     "ends is missing",                                              { "starts" },   { 1 } },
        { 10, "Slice",     "input/1",            "starts is missing",                                            { NULL },       { 0 } },
        { 11, "Unsqueeze", "attribute/axes",     "axes is missing",                                              { NULL },       { 0 } },
        { 13, "Unsqueeze", "input/1",            "axes is missing",                                              { NULL },       { 0 } },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        static int64_t zeros[8];
        char expected[300];
        om_free(&m);
        m = om_begin("net");
        om_opset(&m, "", cases[i].version);
        image("x", 3, 8, 8);
        om_node(&m, cases[i].type, "n", "x", "y");
        for (size_t k = 0; k < 3 && cases[i].attributes[k]; k++) {
            om_ints(&m, cases[i].attributes[k], (om_dims){ zeros, cases[i].items[k] });
        }
        om_output(&m, "y", ONNX_FLOAT, OM_NO_RANK);
        snprintf(expected, sizeof expected, "/graph/node/0/%s: %s 'n' (node 0): %s", cases[i].place, cases[i].type,
                 cases[i].message);
        FINDS(expected);
    }
}

/* ---- several faults --------------------------------------------------------------------------------------------- */

static void one_run_finds_all_faults_and_none_that_follows_from_another(void **state) {
    (void)state;
    image("x", 3, 8, 8);
    om_floats(&m, "w", OM_DIMS(4, 3, 3, 3), ones, 108);
    om_node(&m, "Conv", "conv1", "x,w", "a");
    om_ints(&m, "strides", OM_DIMS(1));
    om_ints(&m, "padz", OM_DIMS(1, 1, 1, 1));
    om_node(&m, "Relu", "act1", "a", "b");            // its input has no type: no finding
    om_node(&m, "Conv", "conv2", "b,w", "c");
    om_value(&m, "c", ONNX_FLOAT, OM_DIMS(1, 4, 4, 4));
    om_ints(&m, "dilations", OM_DIMS(1, 0));           // nor here: its input has no type, either
    om_node(&m, "Concat", "cat", "c,x", "d");          // c has its declared type
    om_node(&m, "Softmax", "soft", "c", "e");
    om_float(&m, "axis", 1);
    om_node(&m, "Relu", "act2", "c,c", "f");
    output("f", 1, 4, 4, 4);
    FINDS("/graph/node/0/attribute/padz: Conv 'conv1' (node 0): unknown attribute 'padz'; did you mean 'pads'?\n"
          "/graph/node/3/attribute/axis: Concat 'cat' (node 3): the attribute axis is missing: expected an integer\n"
          "/graph/node/4/attribute/axis: Softmax 'soft' (node 4): axis: expected an integer, found a real\n"
          "/graph/node/5: Relu 'act2' (node 5): expected 1 input, found 2");
}

static void missing_inputs_and_attributes(void **state) {
    (void)state;
    image("x", 3, 8, 8);
    om_node(&m, "Conv", "a", "x", "p");
    om_node(&m, "Add", "b", "x,", "q");
    om_node(&m, "Cast", "c", "x", "r");
    om_node(&m, "Einsum", "d", "", "s");
    om_text(&m, "equation", "i->i");
    om_node(&m, "Relu", "e", "x", "y");
    output("y", 1, 3, 8, 8);
    FINDS("/graph/node/0: Conv 'a' (node 0): expected 2 to 3 inputs, found 1\n"
          "/graph/node/1: Add 'b' (node 1): expected 2 inputs, found 1\n"
          "/graph/node/2/attribute/to: Cast 'c' (node 2): the attribute to is missing: expected an integer\n"
          "/graph/node/3: Einsum 'd' (node 3): expected at least 1 input, found 0");
}

static void a_value_that_is_used_before_it_is_made(void **state) {
    (void)state;
    image("x", 3, 8, 8);
    om_node(&m, "Relu", "late", "p", "y");
    om_node(&m, "Sigmoid", "early", "x", "p");
    output("y", 1, 3, 8, 9);
    FINDS("/graph/node/0/input/0: Relu 'late' (node 0): input 0 'p' is used before it is made: expected 'early' (node 1) "
          "earlier\n"
          "/graph/node/0/output/0: Relu 'late' (node 0): output 0 'y' has a wrong declared type: expected @fp(32) "
              "[1, 3, 8, 8], found @fp(32) [1, 3, 8, 9]");
}

static void attributes_of_other_versions_are_errors(void **state) {
    (void)state;
    image("x", 3, 8, 8);
    om_opset(&m, "", 13);
    om_node(&m, "Clip", "clip", "x", "y");
    om_float(&m, "min", 0);
    output("y", 1, 3, 8, 8);
    FINDS("/graph/node/0/attribute/min: Clip 'clip' (node 0): the attribute min exists until version 10 of the "
          "operator set; this graph has version 13");
}

/* ---- what contradicts itself ------------------------------------------------------------------------------------ */

static void elements_that_are_declared_without_a_shape(void **state) {
    (void)state;
    image("x", 3, 8, 8);
    om_node(&m, "Relu", "act", "x", "p");
    om_value(&m, "p", ONNX_INT64, OM_NO_RANK);
    om_node(&m, "Det", "det", "p", "q");               // is not converted
    om_value(&m, "q", ONNX_FLOAT, OM_NO_RANK);
    om_node(&m, "NonZero", "places", "q", "r");
    om_value(&m, "r", ONNX_FLOAT, OM_NO_RANK);
    om_node(&m, "Cast", "c", "q", "y");
    om_int(&m, "to", ONNX_DOUBLE);
    om_output(&m, "y", ONNX_DOUBLE, OM_DIMS(1, 3));
    FINDS("/graph/node/0/output/0: Relu 'act' (node 0): output 0 'p' has wrong declared elements: expected @fp(32), found "
          "@sint(64)\n"
          "/graph/node/2/output/0: NonZero 'places' (node 2): output 0 'r' has wrong declared elements: expected @sint(64), "
          "found @fp(32)");
}

static void a_wrong_type_of_a_node_that_is_not_converted(void **state) {
    (void)state;
    image("x", 3, 8, 8);
    om_node(&m, "Det", "det", "x", "y");
    om_output(&m, "y", ONNX_FLOAT, OM_DIMS(1, 4));
    FINDS("/graph/node/0/output/0: Det 'det' (node 0): output 0 'y' has a wrong declared type: expected @fp(32) [1, 3], "
          "found @fp(32) [1, 4]");
}

static void conditions_and_indices_of_other_elements(void **state) {
    (void)state;
    image("x", 3, 8, 8);
    om_input(&m, "i", ONNX_INT64, OM_DIMS(3));
    om_input(&m, "s", ONNX_INT32, OM_DIMS(4));
    om_input(&m, "b", ONNX_BOOL, OM_DIMS(1));
    om_input(&m, "n", ONNX_INT32, OM_DIMS(3));
    om_node(&m, "Where", "where", "x,x,x", "a");
    om_node(&m, "Gather", "gather", "x,x", "c");
    om_node(&m, "Gather", "gather32", "x,n", "d");     // may have either
    om_node(&m, "GatherND", "nd", "x,n", "e");
    om_node(&m, "Reshape", "reshape", "x,s", "f");
    om_node(&m, "Compress", "compress", "x,i", "g");
    om_node(&m, "Not", "not", "i", "h");
    om_node(&m, "And", "and", "b,i", "j");
    om_node(&m, "LSTM", "lstm", "x,x,x,x,i", "k");
    om_node(&m, "Relu", "act", "x", "y");
    output("y", 1, 3, 8, 8);
    FINDS("/graph/node/0/input/0: Where 'where' (node 0): input 0: expected bool, found float\n"
          "/graph/node/1/input/1: Gather 'gather' (node 1): input 1: expected int32 or int64, found float\n"
          "/graph/node/3/input/1: GatherND 'nd' (node 3): input 1: expected int64, found int32\n"
          "/graph/node/4/input/1: Reshape 'reshape' (node 4): input 1: expected int64, found int32\n"
          "/graph/node/5/input/1: Compress 'compress' (node 5): input 1: expected bool, found int64\n"
          "/graph/node/6/input/0: Not 'not' (node 6): input 0: expected bool, found int64\n"
          "/graph/node/7/input/1: And 'and' (node 7): input 1: expected bool, found int64\n"
          "/graph/node/8/input/4: LSTM 'lstm' (node 8): input 4: expected int32, found int64");
}

static void operators_of_other_versions(void **state) {
    (void)state;
    image("x", 3, 8, 8);
    om_opset(&m, "", 11);
    om_node(&m, "Gelu", "gelu", "x", "a");
    om_node(&m, "HardSwish", "swish", "x", "b");
    om_floats(&m, "by", OM_DIMS(4), ones, 4);
    om_node(&m, "Upsample", "up", "x,by", "c");
    om_text(&m, "mode", "nearest");
    om_node(&m, "Round", "round", "x", "y");           // is as old as the graph
    output("y", 1, 3, 8, 8);
    FINDS("/graph/node/0: Gelu 'gelu' (node 0): the operator set has Gelu from version 20; this graph has version 11\n"
          "/graph/node/1: HardSwish 'swish' (node 1): the operator set has HardSwish from version 14; this graph has version "
              "11\n"
          "warning: /graph/node/2: Upsample 'up' (node 2): the operator set has Upsample until version 9; this graph has "
              "version 11");
}

static void attributes_that_became_inputs(void **state) {
    (void)state;
    image("x", 3, 8, 8);
    om_opset(&m, "", 18);
    om_node(&m, "ReduceSum", "sum", "x", "a");
    om_ints(&m, "axes", OM_DIMS(1));
    om_node(&m, "ReduceMax", "max", "x", "y");
    om_ints(&m, "axes", OM_DIMS(1));
    output("y", 1, 1, 8, 8);
    FINDS("/graph/node/0/attribute/axes: ReduceSum 'sum' (node 0): the attribute axes exists until version 12 of "
          "the operator set; this graph has version 18\n"
          "/graph/node/1/attribute/axes: ReduceMax 'max' (node 1): the attribute axes exists until version 17 of "
          "the operator set; this graph has version 18");
}

static void auto_pad_together_with_pads(void **state) {
    (void)state;
    conv_begin();
    om_text(&m, "auto_pad", "SAME_UPPER");
    om_ints(&m, "pads", OM_DIMS(0, 0, 0, 0));          // say nothing
    om_node(&m, "MaxPool", "pool", "y", "z");
    om_ints(&m, "kernel_shape", OM_DIMS(3, 3));
    om_text(&m, "auto_pad", "VALID");
    om_ints(&m, "pads", OM_DIMS(0, 1, 0, 1));
    output("z", 1, 4, 6, 6);
    FINDS("/graph/node/1/attribute/pads: MaxPool 'pool' (node 1): pads[1]: expected 0 or no pads with the auto_pad VALID, "
          "found 1");
}

static void pads_of_a_pool_that_hold_a_whole_window(void **state) {
    (void)state;
    image("x", 3, 8, 8);
    om_node(&m, "AveragePool", "wide", "x", "p");
    om_ints(&m, "kernel_shape", OM_DIMS(3, 3));
    om_ints(&m, "pads", OM_DIMS(2, 2, 2, 2));          // each window has an element
    om_node(&m, "MaxPool", "pool", "x", "y");
    om_ints(&m, "kernel_shape", OM_DIMS(2, 2));
    om_ints(&m, "pads", OM_DIMS(0, 0, 0, 2));
    output("y", 1, 3, 7, 9);
    FINDS("/graph/node/1/attribute/pads: MaxPool 'pool' (node 1): pads[3]: expected less than the kernel's 2 elements, "
          "found 2");
}

static void two_nodes_of_one_name(void **state) {
    (void)state;
    image("x", 3, 8, 8);
    om_node(&m, "Relu", "act", "x", "p");
    om_node(&m, "Relu", "", "p", "q");                 // names may be missing
    om_node(&m, "Relu", "", "q", "r");
    om_node(&m, "Tanh", "act", "r", "y");
    output("y", 1, 3, 8, 8);
    FINDS("warning: /graph/node/3/name: Tanh 'act' (node 3): duplicate name; expected a unique one, found that of node 0");
}

static void a_suggestion_is_near(void **state) {
    (void)state;
    image("x", 3, 8, 8);
    om_node(&m, "Swash", "a", "x", "p");               // one letter from Swish
    om_node(&m, "Foo", "b", "x", "q");
    om_node(&m, "Relu6", "c", "x", "y");
    output("y", 1, 3, 8, 8);
    FINDS("/graph/node/0: Swash 'a' (node 0): the operator set of ONNX has no Swash; did you mean 'Swish'?\n"
          "/graph/node/1: Foo 'b' (node 1): the operator set of ONNX has no Foo\n"
          "/graph/node/2: Relu6 'c' (node 2): the operator set of ONNX has no Relu6; did you mean 'Relu'?");
}

/* ---- weights ---------------------------------------------------------------------------------------------------- */

/* Pages that nothing may read stand for the weights; the list that says how to reshape is small, and is read. */
static void weights_are_not_read(void **state) {
    (void)state;
    static float weights[128 * 128];
    static const int64_t shape[] = { 1, 128 };
    image("x", 128, 3, 3);
    om_floats(&m, "w", OM_DIMS(128, 14, 3, 3), weights, 128 * 14 * 9);
    om_floats(&m, "fc", OM_DIMS(128, 128), weights, 128 * 128);
    om_int64s(&m, "shape", OM_DIMS(2), shape, 2);
    om_node(&m, "Conv", "conv", "x,w", "p");           // 14 is not a divisor of 128
    om_node(&m, "AveragePool", "pool", "x", "q");
    om_ints(&m, "kernel_shape", OM_DIMS(3, 3));
    om_node(&m, "Reshape", "flat", "q,shape", "r");
    om_node(&m, "Gemm", "fc", "r,fc", "y");
    om_int(&m, "transB", 1);
    om_output(&m, "y", ONNX_FLOAT, OM_DIMS(1, 127));
    const size_t size = sizeof weights;
    void *pages = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(pages != MAP_FAILED);
    xir_network *net = read_model();
    xir_value *conv = xir_op_input(xir_network_op_by_name(net, XIR_STR("conv")), 1);
    xir_value *fc = xir_op_input(xir_network_op_by_name(net, XIR_STR("fc")), 1);
    DOES(xir_params_set_borrow(conv, pages, 128 * 14 * 9 * sizeof(float), NULL, NULL));
    DOES(xir_params_set_borrow(fc, pages, size, NULL, NULL));
    xir_diags_clear(why);
    assert_int_equal(xir_dialect_check(net, why), XIR_E_INVALID);
    assert_int_equal(xir_diags_count(why), 2);
    CHECK_STR(xir_diags_at(why, 0)->path, "/graph/node/0/input/1");
    CHECK_STR(xir_diags_at(why, 1)->path, "/graph/node/3/output/0");
    xir_network_free(net);
    munmap(pages, size);
}

/* ---- networks without a dialect --------------------------------------------------------------------------------- */

static void other_networks_are_left_alone(void **state) {
    (void)state;
    xir_network *net = small_net();
    xir_diags_clear(why);
    assert_false(xir_network_is_dialect(net));
    assert_int_equal(xir_dialect_check(net, why), XIR_OK);
    assert_int_equal(xir_diags_count(why), 0);
    xir_network_free(net);
}


GROUP {
    const struct CMUnitTest tests[] = {
        MODEL_TEST(a_valid_model_has_no_findings),
        MODEL_TEST(channels_that_disagree),
        MODEL_TEST(an_unknown_attribute),
        MODEL_TEST(an_attribute_of_another_type),
        MODEL_TEST(pads_of_the_wrong_length),
        MODEL_TEST(an_undefined_input),
        MODEL_TEST(an_unknown_op),
        MODEL_TEST(an_op_of_another_domain_is_a_note),
        MODEL_TEST(dims_that_do_not_broadcast),
        MODEL_TEST(a_stride_of_zero),
        MODEL_TEST(a_negative_stride),
        MODEL_TEST(a_declared_shape_that_is_wrong),
        MODEL_TEST(a_pool_with_a_window_too_many),
        MODEL_TEST(a_declared_name_that_is_never_right),
        MODEL_TEST(a_declared_number_that_is_never_right),
        MODEL_TEST(declared_dims_that_may_be_right),
        MODEL_TEST(a_kernel_larger_than_its_input),
        MODEL_TEST(a_cycle),
        MODEL_TEST(a_duplicate_name),
        MODEL_TEST(a_reshape_with_the_wrong_count),
        MODEL_TEST(a_concat_axis_out_of_range),
        MODEL_TEST(a_matmul_whose_k_differs),
        MODEL_TEST(elements_that_differ),
        MODEL_TEST(other_faults_of_windows_and_dims),
        MODEL_TEST(findings_name_the_place_of_the_version),
        MODEL_TEST(one_run_finds_all_faults_and_none_that_follows_from_another),
        MODEL_TEST(missing_inputs_and_attributes),
        MODEL_TEST(a_value_that_is_used_before_it_is_made),
        MODEL_TEST(attributes_of_other_versions_are_errors),
        MODEL_TEST(elements_that_are_declared_without_a_shape),
        MODEL_TEST(a_wrong_type_of_a_node_that_is_not_converted),
        MODEL_TEST(conditions_and_indices_of_other_elements),
        MODEL_TEST(operators_of_other_versions),
        MODEL_TEST(attributes_that_became_inputs),
        MODEL_TEST(auto_pad_together_with_pads),
        MODEL_TEST(pads_of_a_pool_that_hold_a_whole_window),
        MODEL_TEST(two_nodes_of_one_name),
        MODEL_TEST(a_suggestion_is_near),
        MODEL_TEST(weights_are_not_read),
        cmocka_unit_test(other_networks_are_left_alone),
    };
    return RUN_GROUP(tests);
}
