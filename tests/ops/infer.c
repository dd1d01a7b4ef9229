/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Type inference and checks of the built-in operations: tables of inputs and expected outputs. */
#include <stdio.h>
#include <string.h>
#include "support/forms.h"
#include "support/skips.h"
#include "graph.h"
#include <xir/xir.h>
#include <xir/icraft.h>

/* ---- a network for one op --------------------------------------------------------------------------------------- */

enum { U = -1 };   /* an unknown dim */

static const xir_type *fp32(void) { return xir_type_float(ctx, XIR_FLOAT_FP32); }

/* A tensor from text: "fp32 NHWC 1x?x416x3", dims may be "-" for rank 0; the element type fp32, fp16, i8 or i32. */
static const xir_type *tensor(const char *text) {
    char element[8], layout[64], shape[128];
    int64_t dims[16];
    size_t rank = 0;
    assert_int_equal(sscanf(text, "%7s %63s %127s", element, layout, shape), 3);
    for (char *p = strcmp(shape, "-") == 0 ? NULL : strtok(shape, "x"); p; p = strtok(NULL, "x")) {
        dims[rank++] = *p == '?' ? U : strtoll(p, NULL, 10);
    }
    const xir_type *type = strcmp(element, "fp32") == 0 ? fp32()
                         : strcmp(element, "fp16") == 0 ? xir_type_float(ctx, XIR_FLOAT_FP16)
                         : strcmp(element, "bool") == 0 ? xir_type_bool(ctx)
                                                        : xir_type_sint(ctx, strtoll(element + 1, NULL, 10));
    return xir_type_tensor_text(ctx, type, strcmp(layout, "-") == 0 ? "" : layout, dims, rank);
}

/* Compares the texts of two tensor types. */
static const char *words(const xir_type *type) {
    static char out[256];
    const char *element = spelled(xir_type_element(type));
    const char *word = strcmp(element, "@fp(32)") == 0 ? "fp32" : strcmp(element, "@fp(16)") == 0 ? "fp16"
                     : strcmp(element, "@sint(8)") == 0 ? "i8" : "i32";
    xir_str layout = xir_layout_text(xir_type_layout(type));
    int n = snprintf(out, sizeof out, "%s %.*s ", word, layout.size ? (int)layout.size : 1,
                     layout.size ? layout.data : "-");
    for (size_t i = 0; i < xir_type_rank(type); i++) {
        int64_t dim = xir_type_dim(type, (int64_t)i, false);
        n += dim < 0 ? snprintf(out + n, sizeof out - (size_t)n, "%s?", i ? "x" : "")
                     : snprintf(out + n, sizeof out - (size_t)n, "%s%lld", i ? "x" : "", (long long)dim);
    }
    if (xir_type_rank(type) == 0) snprintf(out + n, sizeof out - (size_t)n, "-");
    return out;
}

static xir_network *new_net(void) {
    xir_network *net = xir_network_new(ctx, "net", XIR_FRAMEWORK_PYTORCH, "v1.9");
    assert_non_null(net);
    return net;
}

/* Creates an op over arguments of these types (NULL: absent) in its own network. */
typedef struct trial {
    xir_network *net;
    xir_op      *op;
} trial;

static trial try_op(const xir_class_decl *decl, const void *attrs, const xir_type *const *types, size_t n) {
    trial t = { new_net(), NULL };
    const xir_type *given[4];
    xir_value *inputs[4] = { NULL };
    size_t n_given = 0;
    for (size_t i = 0; i < n; i++) {
        if (types[i]) given[n_given++] = types[i];
    }
    xir_op *input = xir_inputs(XIR_AT(t.net), "in", given, n_given);
    assert_non_null(input);
    n_given = 0;
    for (size_t i = 0; i < n; i++) inputs[i] = types[i] ? xir_op_output(input, (int64_t)n_given++) : NULL;
    t.op = xir_network_add(t.net, &XIR_INIT(xir_op_desc, .cls = xir_class_find_decl(ctx, decl), .attrs = attrs,
                                            .inputs = inputs,
                                                  .n_inputs = n, .name = XIR_STR("op"), .id = XIR_NO_ID));
    return t;
}

/* The op has this output type, it validates, and a second inference changes nothing. */
static const xir_type *given(trial t) {
    if (!t.op) xir_diags_print(xir_network_diags(t.net), stderr);
    assert_non_null(t.op);
    assert_int_equal(xir_op_output_count(t.op), 1);
    assert_int_equal(xir_op_validate(t.op, NULL), XIR_OK);
    const xir_type *type = xir_value_type(xir_op_output(t.op, 0));
    assert_int_equal(xir_op_infer(t.op, true), XIR_OK);
    assert_true(xir_type_equal(type, xir_value_type(xir_op_output(t.op, 0))));
    return type;
}

/* The op was refused with this status, a path that ends like this, and a message with these words. */
static void check_refused(trial t, xir_status status, const char *path, const char *part) {
    const xir_diag *diag = xir_diags_at(xir_network_diags(t.net), 0);
    bool right = !t.op && diag && diag->code == status && xir_network_status(t.net) == status;
    char sentence[512] = "", where[256] = "";
    if (diag) {
        snprintf(sentence, sizeof sentence, "%.*s", (int)diag->message.size, diag->message.data);
        snprintf(where, sizeof where, "%.*s", (int)diag->path.size, diag->path.data);
    }
    size_t tail = strlen(path);
    right = right && strstr(sentence, part) && strlen(where) >= tail && strcmp(where + strlen(where) - tail, path) == 0;
    if (!right) {
        print_error("expected: %s %s: %s\nfound:    %s %s: %s\n", xir_status_name(status), path, part,
                    diag ? xir_status_name(diag->code) : "nothing", where, sentence);
        fail();
    }
}

/* ---- convolutions ----------------------------------------------------------------------------------------------- */

typedef struct conv_case {
    const char *input, *weights, *bias;
    int64_t     stride[2], pad[4], dilation[2], groups;   /* rows, columns; top, bottom, left, right; 0: 1 */
    const char *output;
    xir_status  status;                                   /* with: */
    const char *path, *part;
} conv_case;

static int64_t or_one(int64_t v) { return v ? v : 1; }

static trial try_conv(const conv_case *c) {
    xir_conv2d_attrs a = xir_conv2d_init();
    a.stride_height = or_one(c->stride[0]);
    a.stride_width = or_one(c->stride[1]);
    a.pad_top = c->pad[0];
    a.pad_bottom = c->pad[1];
    a.pad_left = c->pad[2];
    a.pad_right = c->pad[3];
    a.dilation_height = or_one(c->dilation[0]);
    a.dilation_width = or_one(c->dilation[1]);
    a.groups = or_one(c->groups);
    const xir_type *types[] = { tensor(c->input), tensor(c->weights), c->bias ? tensor(c->bias) : NULL };
    return try_op(xir_conv2d_class(), &a, types, 3);
}

static void convolutions_give(void **state) {
    (void)state;
    static const conv_case rows[] = {
        /* the sample of the original */
        { "fp32 NHWC 1x416x416x3", "fp32 HWIO 3x3x3x16", .pad = { 1, 1, 1, 1 }, .output = "fp32 NHWC 1x416x416x16" },
        { "fp32 NHWC 1x416x416x3", "fp32 HWIO 3x3x3x16",                        .output = "fp32 NHWC 1x414x414x16" },
        { "fp32 NHWC 1x416x416x3", "fp32 HWIO 3x3x3x16", "fp32 O 16",           .output = "fp32 NHWC 1x414x414x16" },
        { "fp32 NHWC 2x5x7x3",     "fp32 HWIO 1x1x3x4",                         .output = "fp32 NHWC 2x5x7x4" },
        /* rows and columns apart */
        { "fp32 NHWC 1x10x20x3",   "fp32 HWIO 2x5x3x4",                         .output = "fp32 NHWC 1x9x16x4" },
        { "fp32 NHWC 1x10x20x3",   "fp32 HWIO 3x3x3x4", .stride = { 2, 3 },     .output = "fp32 NHWC 1x4x6x4" },
        { "fp32 NHWC 1x10x20x3",   "fp32 HWIO 3x3x3x4", .pad = { 1, 2, 3, 4 },  .output = "fp32 NHWC 1x11x25x4" },
        { "fp32 NHWC 1x10x20x3",   "fp32 HWIO 3x3x3x4", .dilation = { 2, 4 },   .output = "fp32 NHWC 1x6x12x4" },
        /* the floor, and a window that just fits */
        { "fp32 NHWC 1x6x6x1",     "fp32 HWIO 3x3x1x1", .stride = { 2, 2 },     .output = "fp32 NHWC 1x2x2x1" },
        { "fp32 NHWC 1x7x7x1",     "fp32 HWIO 3x3x1x1", .stride = { 2, 2 },     .output = "fp32 NHWC 1x3x3x1" },
        { "fp32 NHWC 1x3x3x1",     "fp32 HWIO 3x3x1x1", .stride = { 9, 9 },     .output = "fp32 NHWC 1x1x1x1" },
        { "fp32 NHWC 1x5x5x1",     "fp32 HWIO 5x5x1x1", .pad = { -1, 1, 1, -1 }, .output = "fp32 NHWC 1x1x1x1" },
        /* groups */
        { "fp32 NHWC 1x8x8x8",     "fp32 HWIO 3x3x1x8", .groups = 8,            .output = "fp32 NHWC 1x6x6x8" },
        { "fp32 NHWC 1x8x8x8",     "fp32 HWIO 3x3x4x6", .groups = 2,            .output = "fp32 NHWC 1x6x6x6" },
        /* letters name the dims; unnamed ones are taken by position */
        { "fp32 NCHW 1x3x10x20",   "fp32 HWIO 3x3x3x4",                         .output = "fp32 NCHW 1x4x8x18" },
        { "fp32 CHWN 3x10x20x1",   "fp32 OIHW 4x3x3x3",                         .output = "fp32 CHWN 4x8x18x1" },
        { "fp32 **** 1x10x20x3",   "fp32 **** 3x3x3x4",                         .output = "fp32 **** 1x8x18x4" },
        { "fp32 ***C 1x10x20x3",   "fp32 ***O 3x3x3x4",                         .output = "fp32 ***C 1x8x18x4" },
        { "fp16 NHWC 1x10x20x3",   "fp16 HWIO 3x3x3x4",                         .output = "fp16 NHWC 1x8x18x4" },
        { "i8 NHWC 1x10x20x3",     "i8 HWIO 3x3x3x4", "i32 O 4",                .output = "i8 NHWC 1x8x18x4" },
        { "fp32 NHWC 1x3x3x3",     "fp32 HWIO 3x3x3x4", "fp32 **** 1x1x1x4",    .output = "fp32 NHWC 1x1x1x4" },
        /* exactly the dims that depend on unknown ones are unknown */
        { "fp32 NHWC ?x10x20x3",   "fp32 HWIO 3x3x3x4",                         .output = "fp32 NHWC ?x8x18x4" },
        { "fp32 NHWC 1x?x20x3",    "fp32 HWIO 3x3x3x4",                         .output = "fp32 NHWC 1x?x18x4" },
        { "fp32 NHWC 1x10x20x?",   "fp32 HWIO 3x3x3x4",                         .output = "fp32 NHWC 1x8x18x4" },
        { "fp32 NHWC 1x10x20x3",   "fp32 HWIO ?x3x?x4",                         .output = "fp32 NHWC 1x?x18x4" },
        { "fp32 NHWC 1x10x20x3",   "fp32 HWIO 3x3x3x?", "fp32 O 4",             .output = "fp32 NHWC 1x8x18x?" },
        { "fp32 NHWC 1x10x20x3",   "fp32 HWIO 3x3x3x4", "fp32 O ?",             .output = "fp32 NHWC 1x8x18x4" },
        /* no images, no channels out */
        { "fp32 NHWC 0x10x20x3",   "fp32 HWIO 3x3x3x0",                         .output = "fp32 NHWC 0x8x18x0" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        trial t = try_conv(&rows[i]);
        assert_string_equal(words(given(t)), rows[i].output);
        xir_network_free(t.net);
    }
}

static void convolutions_refuse(void **state) {
    (void)state;
    static const conv_case rows[] = {
        { "fp32 NHWC 1x3x9x3", "fp32 HWIO 3x5x3x4", .stride = { 1, 1 }, .dilation = { 1, 3 }, .status = XIR_E_INVALID,
          .path = "inputs/1", .part = "a kernel of 5 columns with dilation 3 does not fit into 9 columns with padding of 0" },
        { "fp32 NHWC 1x3x3x3", "fp32 HWIO 3x5x3x4", .status = XIR_E_INVALID,
          .path = "inputs/1", .part = "a kernel of 5 columns with dilation 1 does not fit into 3 columns with padding of 0" },
        { "fp32 NHWC 1x1x3x3", "fp32 HWIO 5x1x3x4", .pad = { 1, 2 }, .status = XIR_E_INVALID,
          .path = "inputs/1", .part = "a kernel of 5 rows with dilation 1 does not fit into 1 row with padding of 3" },
        /* the float division of the original would give one window here */
        { "fp32 NHWC 1x2x2x1", "fp32 HWIO 3x3x1x1", .stride = { 4, 4 }, .status = XIR_E_INVALID,
          .path = "inputs/1", .part = "a kernel of 3 rows with dilation 1 does not fit into 2 rows" },
        { "fp32 NHWC 1x0x4x1", "fp32 HWIO 1x1x1x1", .status = XIR_E_INVALID, .path = "inputs/1", .part = "does not fit into 0 rows" },
        { "fp32 NHWC 1x4x4x1", "fp32 HWIO 1x0x1x1", .status = XIR_E_INVALID, .path = "inputs/1", .part = "the kernel has no columns" },
        { "fp32 NHWC 1x9x9x3", "fp32 HWIO 3x3x4x16", .status = XIR_E_INVALID,
          .path = "inputs/1", .part = "input has 3 channels, the kernel takes 4 in each of 1 group: expected channels = I * groups" },
        { "fp32 NHWC 1x9x9x8", "fp32 HWIO 3x3x4x16", .groups = 3, .status = XIR_E_INVALID,
          .path = "inputs/1", .part = "input has 8 channels, the kernel takes 4 in each of 3 groups" },
        { "fp32 NHWC 1x9x9x8", "fp32 HWIO 3x3x4x5", .groups = 2, .status = XIR_E_INVALID,
          .path = "groups", .part = "the kernel has 5 output channels: expected a multiple of 2 groups" },
        { "fp32 NHWC 1x9x9x3", "fp32 HWIO 3x3x3x16", "fp32 O 15", .status = XIR_E_INVALID,
          .path = "inputs/2", .part = "bias has 15 elements: expected 16, the output channels of the kernel" },
        { "fp32 NHWC 1x9x9x3", "fp16 HWIO 3x3x3x16", .status = XIR_E_TYPE,
          .path = "inputs/1", .part = "the elements of input are FP32, those of weights are FP16" },
        { "bool NHWC 1x9x9x3", "i8 HWIO 3x3x3x16", .status = XIR_E_TYPE,
          .path = "inputs/1", .part = "the elements of input are bool, those of weights are sint(8)" },
        { "i8 NHWC 1x9x9x3", "i32 HWIO 3x3x3x16", .status = XIR_E_TYPE,
          .path = "inputs/1", .part = "the elements of input are sint(8), those of weights are sint(32)" },
        { "fp32 NHC 1x9x3", "fp32 HWIO 3x3x3x16", .status = XIR_E_INVALID,
          .path = "inputs/0", .part = "input has 3 dims: expected 4 (NHWC)" },
        { "fp32 NHWC 1x9x9x3", "fp32 HWDIO 3x3x1x3x16", .status = XIR_E_INVALID,
          .path = "inputs/1", .part = "weights has 5 dims: expected 4 (HWIO)" },
        { "fp32 NHWC 1x9x9x3", "fp32 NHWC 3x3x3x16", .status = XIR_E_INVALID,
          .path = "inputs/1", .part = "the layout NHWC of weights has no axis I: expected the axes HWIO in some order" },
        { "fp32 NDWC 1x9x9x3", "fp32 HWIO 3x3x3x16", .status = XIR_E_INVALID,
          .path = "inputs/0", .part = "the layout NDWC of input has no axis H" },
        { "fp32 NHC 1x9x9x3", "fp32 HWIO 3x3x3x16", .status = XIR_E_INVALID,
          .path = "inputs/0", .part = "the layout NHC has 3 axes, but input has 4 dims" },
        { "fp32 NCHWc32 1x2x9x9x32", "fp32 HWIO 3x3x64x16", .status = XIR_E_UNSUPPORTED,
          .path = "inputs/0", .part = "input is tiled (NCHWc32): layouted inputs need the back end's inference" },
        { "fp32 NHWC 1x9x9x64", "fp32 OIHWi32 16x2x3x3x32", .status = XIR_E_UNSUPPORTED,
          .path = "inputs/1", .part = "weights is tiled (OIHWi32)" },
        /* arithmetic that does not fit */
        { "fp32 NHWC 1x9223372036854775807x9x3", "fp32 HWIO 3x3x3x16", .pad = { 1 }, .status = XIR_E_LIMIT,
          .path = "inputs/1", .part = "exceeds 64 bits" },
        { "fp32 NHWC 1x9x9x3", "fp32 HWIO 4611686018427387905x3x3x16", .dilation = { 4, 1 }, .status = XIR_E_LIMIT,
          .path = "inputs/1", .part = "exceeds 64 bits" },
        { "fp32 NHWC 1x9x9x4", "fp32 HWIO 3x3x4611686018427387905x4", .groups = 4, .status = XIR_E_INVALID,
          .path = "inputs/1", .part = "input has 4 channels" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        trial t = try_conv(&rows[i]);
        check_refused(t, rows[i].status, rows[i].path, rows[i].part);
        xir_network_free(t.net);
    }
}

/* Checks every small case against the formula, computed separately. */
static void windows_are_counted(void **state) {
    (void)state;
    for (int64_t input = 1; input <= 9; input++)
    for (int64_t size = 1; size <= 4; size++)
    for (int64_t stride = 1; stride <= 3; stride++)
    for (int64_t dilation = 1; dilation <= 3; dilation++)
    for (int64_t pad = 0; pad <= 2; pad++) {
        int64_t places = 0;
        for (int64_t at = -pad; at + dilation * (size - 1) < input + pad; at += stride) places++;
        xir_max_pool2d_attrs a = xir_max_pool2d_init();
        a.pool_height = 1;
        a.pool_width = size;
        a.stride_width = stride;
        a.dilation_width = dilation;
        a.pad_left = a.pad_right = pad;
        const xir_type *type = XIR_TENSOR(ctx, fp32(), "NHWC", 1, 1, input, 1);
        trial t = try_op(xir_max_pool2d_class(), &a, &type, 1);
        if (places) assert_int_equal(xir_type_dim(given(t), 2, false), places);
        else check_refused(t, XIR_E_INVALID, "pool_width", "does not fit");
        xir_network_free(t.net);
    }
}

/* Quantised kernels and inputs of a back end may have different types; only plain types must agree. The type of a
 * quantised sum is not inferred but set. */
static void quantised_elements_may_differ(void **state) {
    (void)state;
    const double scale = 0.5;
    const xir_type *q8 = xir_type_quantized(ctx, xir_scales_from(ctx, &scale, 1, -1), NULL, 0,
                                            xir_type_sint(ctx, 8), NULL);
    const xir_type *types[] = { XIR_TENSOR(ctx, fp32(), "NHWC", 1, 4, 4, 2), XIR_TENSOR(ctx, q8, "HWIO", 3, 3, 2, 2) };
    trial t = try_op(xir_conv2d_class(), NULL, types, 2);
    assert_string_equal(words(given(t)), "fp32 NHWC 1x2x2x2");
    xir_network_free(t.net);

    types[0] = XIR_TENSOR(ctx, q8, "NHWC", 1, 4, 4, 2);
    t = try_op(xir_conv2d_class(), NULL, types, 2);
    check_refused(t, XIR_E_UNSUPPORTED, "inputs/0", "input is quantised");
    xir_network_free(t.net);

    xir_network *net = new_net();
    xir_op *input = xir_inputs(XIR_AT(net), "in", types, 2);
    xir_value *values[] = { xir_op_output(input, 0), xir_op_output(input, 1) };
    const xir_type *out = XIR_TENSOR(ctx, q8, "NHWC", 1, 2, 2, 2);
    xir_op *op = xir_network_add(net, &XIR_INIT(xir_op_desc, .cls = xir_class_find_decl(ctx, xir_conv2d_class()),
                                                .inputs = values,
                                                      .n_inputs = 2, .id = XIR_NO_ID, .types = &out, .n_types = 1));
    assert_non_null(op);
    assert_int_equal(xir_op_validate(op, NULL), XIR_OK);
    xir_network_free(net);
}

/* Attributes from a file are unchecked when they are inferred: nothing divides by zero. */
static void unchecked_attributes_are_refused(void **state) {
    (void)state;
    static const struct { int64_t stride, dilation, groups; const char *part; } rows[] = {
        { 0, 1, 1,         "stride_height: is 0: expected at least 1" },  { -1, 1, 1, "stride_height: is -1: expected at least 1" },
        { 1, 0, 1,         "dilation_height: is 0: expected at least 1" }, { 1, INT64_MIN, 1, "dilation_height" },
        { 1, 1, 0,         "groups: 0 groups: expected at least 1" }, { 1, 1, -3, "groups: -3 groups: expected at least 1" },
        { INT64_MIN, 1, 1, "stride_height" },
    };
    xir_network *net = new_net();
    const xir_type *types[] = { tensor("fp32 NHWC 1x9x9x3"), tensor("fp32 HWIO 3x3x3x4") };
    xir_op *input = xir_inputs(XIR_AT(net), "in", types, 2);
    xir_value *values[] = { xir_op_output(input, 0), xir_op_output(input, 1) };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        xir_conv2d_attrs a = xir_conv2d_init();
        a.stride_height = rows[i].stride;
        a.dilation_height = rows[i].dilation;
        a.groups = rows[i].groups;
        xir_diags_clear(why);
        xir_infer at;
        infer_start(&at, net, xir_class_find_decl(ctx, xir_conv2d_class()), &a, NULL, values, 2, XIR_STR(""), why);
        assert_int_equal(infer_run(&at), XIR_E_BOUNDS);
        infer_end(&at);
        char line[300];
        const xir_diag *d = xir_diags_at(why, 0);
        snprintf(line, sizeof line, "%.*s: %.*s", (int)d->path.size, d->path.data, (int)d->message.size,
                 d->message.data);
        const char *name_end = strchr(rows[i].part, ':');
        size_t n = name_end ? (size_t)(name_end - rows[i].part) : strlen(rows[i].part);
        assert_true(strncmp(line + 1, rows[i].part, n) == 0);
        if (name_end) assert_non_null(strstr(line, name_end + 2));
    }
    xir_diags_clear(why);
    xir_network_free(net);
}

/* ---- pooling ---------------------------------------------------------------------------------------------------- */

static void pools_give(void **state) {
    (void)state;
    static const struct { const char *input; int64_t k, stride, pad, dilation; const char *output; } rows[] = {
        { "fp32 NHWC 1x416x416x16", 3, 2, 1, 1, "fp32 NHWC 1x208x208x16" },   /* the sample of the original */
        { "fp32 NHWC 1x13x13x512",  2, 1, 0, 1, "fp32 NHWC 1x12x12x512" },
        { "fp32 NCHW 1x16x12x10",   2, 2, 0, 1, "fp32 NCHW 1x16x6x5" },
        { "fp32 **** 1x12x10x16",   2, 2, 0, 1, "fp32 **** 1x6x5x16" },
        { "fp32 NHWC 1x9x9x4",      3, 1, 0, 3, "fp32 NHWC 1x3x3x4" },
        { "fp32 NHWC ?x?x9x?",      3, 3, 0, 1, "fp32 NHWC ?x?x3x?" },
        { "i8 NHWC 1x9x9x4",        1, 1, 0, 1, "i8 NHWC 1x9x9x4" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        xir_max_pool2d_attrs a = xir_max_pool2d_attrs_square(rows[i].k, rows[i].stride, rows[i].pad, rows[i].dilation);
        const xir_type *type = tensor(rows[i].input);
        trial t = try_op(xir_max_pool2d_class(), &a, &type, 1);
        assert_string_equal(words(given(t)), rows[i].output);
        xir_network_free(t.net);
    }
}

static void pools_refuse(void **state) {
    (void)state;
    xir_max_pool2d_attrs a = xir_max_pool2d_attrs_square(4, 1, 0, 2);
    const xir_type *small = tensor("fp32 NHWC 1x6x9x1"), *flat = tensor("fp32 HWC 6x9x1"),
                    *tiled = tensor("fp32 NCHWc4 1x1x9x9x4");
    trial t = try_op(xir_max_pool2d_class(), &a, &small, 1);
    check_refused(t, XIR_E_INVALID, "pool_height",
                  "a window of 4 rows with dilation 2 does not fit into 6 rows with padding of 0");
    xir_network_free(t.net);
    t = try_op(xir_max_pool2d_class(), &a, &flat, 1);
    check_refused(t, XIR_E_INVALID, "inputs/0", "input has 3 dims: expected 4");
    xir_network_free(t.net);
    t = try_op(xir_max_pool2d_class(), &a, &tiled, 1);
    check_refused(t, XIR_E_UNSUPPORTED, "inputs/0", "input is tiled (NCHWc4)");
    xir_network_free(t.net);
}

static const xir_type *with_distr(const xir_type *type, const char *distr) {
    const xir_type *with = xir_type_add_distr(ctx, type, ((const xir_distr *)read_text(distr))->merged_axis.data,
                                              ((const xir_distr *)read_text(distr))->merged_axis.size, why);
    assert_non_null(with);
    with = xir_type_set_distr(ctx, with, read_text(distr), why);
    assert_non_null(with);
    return with;
}

static size_t n_distrs(const xir_type *type) { return xir_type_as_tensor(type)->merged_distrs.size; }
static const char *distr(const xir_type *type, size_t i) {
    return spelled(xir_type_as_tensor(type)->merged_distrs.data[i]);
}

/* Padding of channels is the same after pooling; padding of rows is not. */
static void pools_keep_the_channels_padding(void **state) {
    (void)state;
    xir_max_pool2d_attrs a = xir_max_pool2d_attrs_square(2, 2, 0, 1);
    const char *channels = "@merged_distr([3]^ZERO:{v:[0, 3), u:[3, 4)})";
    const xir_type *type = with_distr(tensor("fp32 NHWC 1x8x8x4"), channels);
    trial t = try_op(xir_max_pool2d_class(), &a, &type, 1);
    const xir_type *out = given(t);
    assert_string_equal(words(out), "fp32 NHWC 1x4x4x4");
    assert_int_equal(n_distrs(out), 1);
    assert_string_equal(distr(out, 0), channels);
    xir_network_free(t.net);

    type = with_distr(tensor("fp32 NHWC 1x8x8x4"), "@merged_distr([1]^ZERO:{v:[0, 7), u:[7, 8)})");
    t = try_op(xir_max_pool2d_class(), &a, &type, 1);
    assert_int_equal(n_distrs(given(t)), 0);
    xir_network_free(t.net);
}

/* ---- element-wise ops -------------------------------------------------------------------------------------------- */

static void activations_change_nothing(void **state) {
    (void)state;
    const xir_type *types[] = {
        tensor("fp32 NHWC 1x8x8x4"), tensor("fp32 - -"), tensor("fp32 ** ?x3"), tensor("i8 NCHWc32 1x2x9x9x32"),
        with_distr(tensor("fp32 NHWC 1x8x8x4"), "@merged_distr([3]^ZERO:{v:[0, 3), u:[3, 4)})"),
    };
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        trial t = try_op(xir_relu_class(), NULL, &types[i], 1);
        assert_true(xir_type_equal(given(t), types[i]));
        xir_network_free(t.net);
    }
}

static void old_names_of_activations_are_read(void **state) {
    (void)state;
    static const struct { const char *old; const xir_class_decl *(*now)(void); } rows[] = {
        { "icraft::xir::Clamp", xir_hardtanh_class }, { "icraft::xir::Elu",  xir_elu_class },  { "icraft::xir::Gelu", xir_gelu_class },
        { "icraft::xir::Prelu", xir_prelu_class },    { "icraft::xir::Relu", xir_relu_class }, { "icraft::xir::Silu", xir_silu_class },
        { "icraft::xir::Swish", xir_silu_class },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_ptr_equal(xir_class_find(ctx, xir_str_of(rows[i].old)), xir_class_find_decl(ctx, rows[i].now()));
    }
}

/* The calibrated range of numbers does not hold for their negatives. */
static void measured_ranges_are_not_mirrored(void **state) {
    (void)state;
    const xir_type *measured = xir_type_calibrated(ctx, -1, 3, 3, fp32(), NULL);
    const xir_type *type = XIR_TENSOR(ctx, measured, "NHWC", 1, 4, 4, 2);
    trial t = try_op(xir_relu_class(), NULL, &type, 1);
    assert_true(xir_type_equal(given(t), type));
    xir_network_free(t.net);
    t = try_op(xir_neg_class(), NULL, &type, 1);
    check_refused(t, XIR_E_UNSUPPORTED, "inputs/0", "input is quantised");
    xir_network_free(t.net);
    t = try_op(xir_abs_class(), NULL, &type, 1);
    check_refused(t, XIR_E_UNSUPPORTED, "inputs/0", "input is quantised");
    xir_network_free(t.net);
}

/* Types are the same for constant operands and others, but a result for other operands is not reused. */
static void constant_products_are_refused_each_time(void **state) {
    (void)state;
    xir_network *net = new_net();
    const xir_type *type = tensor("fp32 ** 2x2");
    xir_value *x = xir_input(XIR_AT(net), "x", type);
    xir_value *a = xir_params_new(net, XIR_STR("a"), type), *b = xir_params_new(net, XIR_STR("b"), type);
    const xir_matmul_attrs attrs = xir_matmul_init();
    for (int i = 0; i < 3; i++) {
        assert_non_null(xir_add_matmul(XIR_AT(net), (xir_matmul_in){ .x = x, .k = a }, &attrs));
        assert_null(xir_add_matmul(XIR_AT(net), (xir_matmul_in){ .x = a, .k = b }, &attrs));
        assert_int_equal(xir_network_status(net), XIR_E_INVALID);
        xir_network_clear_status(net);
    }
    xir_network_free(net);
}

static trial try_add(const char *lhs, const char *rhs, size_t n_alpha, size_t n_beta) {
    const xir_object *factors[64];
    for (size_t i = 0; i < 64; i++) factors[i] = (const xir_object *)xir_scalar_real(ctx, (double)i);
    xir_add_attrs a = xir_add_init();
    a.alpha = (xir_refs){ factors, n_alpha };
    a.beta = (xir_refs){ factors, n_beta };
    const xir_type *types[] = { tensor(lhs), tensor(rhs) };
    return try_op(xir_add_class(), &a, types, 2);
}

static void sums_broadcast(void **state) {
    (void)state;
    static const char *const rows[][3] = {
        { "fp32 NHWC 1x480x640x1", "fp32 O 1",            "fp32 NHWC 1x480x640x1" },   /* from a real file */
        { "fp32 NHWC 1x8x9x4",     "fp32 NHWC 1x8x9x4",   "fp32 NHWC 1x8x9x4" },
        { "fp32 NHWC 1x8x9x4",     "fp32 *C** 1x8x9x4",   "fp32 NHWC 1x8x9x4" },       /* the left one's layout */
        { "fp32 NHWC 1x8x9x4",     "fp32 NHWC 2x1x9x1",   "fp32 NHWC 2x8x9x4" },
        { "fp32 NHWC 1x1x1x4",     "fp32 NHWC 7x8x9x1",   "fp32 NHWC 7x8x9x4" },
        { "fp32 C 4",              "fp32 NHWC 7x8x9x4",   "fp32 NHWC 7x8x9x4" },       /* the layout of more dims */
        { "fp32 - -",              "fp32 NHWC 7x8x9x4",   "fp32 NHWC 7x8x9x4" },
        { "fp32 - -",              "fp32 - -",            "fp32 - -" },
        { "fp32 * 0",              "fp32 * 1",            "fp32 * 0" },
        { "fp32 NHWC ?x8x9x4",     "fp32 NHWC 1x8x9x4",   "fp32 NHWC ?x8x9x4" },
        { "fp32 NHWC ?x8x9x4",     "fp32 NHWC 2x8x9x4",   "fp32 NHWC 2x8x9x4" },       /* 1 or 2: the sum has 2 */
        { "fp32 NHWC ?x8x9x4",     "fp32 NHWC ?x8x9x4",   "fp32 NHWC ?x8x9x4" },
        { "i8 NCHWc4 1x2x9x9x4",   "i8 NCHWc4 1x2x9x9x4", "i8 NCHWc4 1x2x9x9x4" },     /* tiled alike */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        trial t = try_add(rows[i][0], rows[i][1], 1, 1);
        assert_string_equal(words(given(t)), rows[i][2]);
        xir_network_free(t.net);
    }
}

static void sums_refuse(void **state) {
    (void)state;
    static const struct { const char *lhs, *rhs; size_t n_alpha, n_beta; xir_status status; const char *path,
                          *part; } rows[] = {
        { "fp32 NHWC 1x8x9x4", "fp32 NHWC 1x8x9x3", 1, 1, XIR_E_INVALID, "inputs/1", "dim -1 of lhs is 4, that of rhs is 3" },
        { "fp32 NHWC 1x8x9x4", "fp32 HWC 7x9x4",    1, 1, XIR_E_INVALID, "inputs/1", "dim -3 of lhs is 8, that of rhs is 7" },
        { "fp32 NHWC 1x8x9x4", "fp32 HWC 0x9x4",    1, 1, XIR_E_INVALID, "inputs/1", "dim -3 of lhs is 8, that of rhs is 0" },
        { "fp32 NHWC 1x8x9x4", "fp16 NHWC 1x8x9x4", 1, 1, XIR_E_TYPE, "inputs/1", "the elements of lhs are FP32, those of rhs are FP16" },
        { "fp32 NHWC 1x8x9x4", "fp32 O 4",          3, 1, XIR_E_INVALID, "alpha", "3 factors are given: expected 1, or 1 for each of 4 channels" },
        { "fp32 NHWC 1x8x9x4", "fp32 O 4",          4, 5, XIR_E_INVALID, "beta", "5 factors are given: expected 1, or 1 for each of 4 channels" },
        { "fp32 NCHW 1x8x9x4", "fp32 * 4",          4, 1, XIR_E_INVALID, "alpha", "4 factors are given: expected 1, or 1 for each of 8 channels" },
        { "fp32 NCHWc4 1x2x9x9x4", "fp32 O 4",      1, 1, XIR_E_UNSUPPORTED, "inputs/0", "lhs is tiled" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        trial t = try_add(rows[i].lhs, rows[i].rhs, rows[i].n_alpha, rows[i].n_beta);
        check_refused(t, rows[i].status, rows[i].path, rows[i].part);
        xir_network_free(t.net);
    }
}

static void sums_take_one_factor_or_one_a_channel(void **state) {
    (void)state;
    static const struct { const char *lhs, *rhs; size_t n_alpha, n_beta; } rows[] = {
        { "fp32 NHWC 1x8x9x4", "fp32 O 4", 1, 4 }, { "fp32 NHWC 1x8x9x4", "fp32 O 1", 4, 1 },
        { "fp32 NCHW 1x8x9x4", "fp32 * 4", 8, 8 }, { "fp32 **** 1x8x9x4", "fp32 * 4", 4, 1 },
        { "fp32 NHWC 1x8x9x?", "fp32 O 1", 9, 7 }, { "fp32 - -", "fp32 - -", 1, 1 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        trial t = try_add(rows[i].lhs, rows[i].rhs, rows[i].n_alpha, rows[i].n_beta);
        given(t);
        xir_network_free(t.net);
    }
}

/* ---- casts ------------------------------------------------------------------------------------------------------ */

static trial try_cast(const xir_type *input, const xir_type *target) {
    xir_cast_attrs a = xir_cast_init();
    a.target_dtype = xir_type_as_tensor(target);
    return try_op(xir_cast_class(), &a, &input, 1);
}

static void casts_give_the_target(void **state) {
    (void)state;
    const xir_type *tiled = with_distr(tensor("i8 NCHWc32 1x3x60x65x32"),
                                       "@merged_distr([1, 4]^ZERO:{v:[0, 80), u:[80, 96)})");
    const xir_type *padded = with_distr(tensor("fp32 ***C 1x60x65x96"),
                                        "@merged_distr([3]^ZERO:{v:[0, 80), u:[80, 96)})");
    const xir_type *rows[][2] = {
        { tensor("fp32 NHWC 1x8x8x4"), tensor("i8 NHWC 1x8x8x4") },
        { tensor("fp32 NHWC 1x8x8x4"), tensor("i8 NCHW 1x4x8x8") },
        { tensor("fp32 NHWC 1x8x8x4"), tensor("fp32 * 256") },
        { tiled, padded }, { padded, tiled },
        { tensor("fp32 NHWC 1x60x65x80"), tiled },
        { tensor("fp32 NHWC 1x60x65x80"), tensor("i8 NCHWc32 1x3x60x65x32") },   /* does not declare its padding */
        { tensor("fp32 NHWC ?x60x65x80"), tensor("fp32 NHWC 4x60x65x80") },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        trial t = try_cast(rows[i][0], rows[i][1]);
        assert_true(xir_type_equal(given(t), rows[i][1]));
        xir_network_free(t.net);
    }
    trial t = try_cast(tensor("fp32 NHWC 1x8x8x4"), tensor("fp32 NHWC 1x8x8x3"));
    check_refused(t, XIR_E_INVALID, "target_dtype", "the target has 192 valid elements: expected 256, as in the input");
    xir_network_free(t.net);
    t = try_cast(padded, tensor("fp32 NHWC 1x60x65x96"));
    check_refused(t, XIR_E_INVALID, "target_dtype", "the target has 374400 valid elements: expected 312000, as in the input");
    xir_network_free(t.net);
    t = try_cast(padded, NULL);
    assert_null(t.op);
    assert_int_equal(xir_network_status(t.net), XIR_E_MISSING);
    xir_network_free(t.net);
}

/* ---- aligning and pruning --------------------------------------------------------------------------------------- */

enum { MOST_UNITS = 4 };
typedef struct unit { int64_t index[3], unit[3]; size_t n; } unit;

static trial try_align(const xir_type *type, const unit *units, size_t n) {
    const xir_object *objects[MOST_UNITS];
    for (size_t i = 0; i < n; i++) {
        xir_aligned_unit body = xir_aligned_unit_init();
        body.index = (xir_i64s){ units[i].index, units[i].n };
        body.unit = (xir_i64s){ units[i].unit, units[i].n };
        objects[i] = (const xir_object *)xir_aligned_unit_make(ctx, &body, why);
        assert_non_null(objects[i]);
    }
    xir_align_axis_attrs a = xir_align_axis_init();
    a.aligned_units = (xir_refs){ objects, n };
    return try_op(xir_align_axis_class(), &a, &type, 1);
}

static trial try_prune(const xir_type *type, const int64_t *index, size_t n) {
    xir_prune_axis_attrs a = xir_prune_axis_init();
    a.index = (xir_i64s){ index, n };
    return try_op(xir_prune_axis_class(), &a, &type, 1);
}

static void aligning_adds_what_pruning_takes_out(void **state) {
    (void)state;
    static const struct { const char *input; unit units[MOST_UNITS]; size_t n; const char *output,
                          *distrs[2]; } rows[] = {
        /* from a real file: a unit of 1 declares all elements valid */
        { "fp32 NHWC 1x480x640x1", { { { 3 }, { 1 }, 1 } }, 1, "fp32 NHWC 1x480x640x1", { "@merged_distr([3]^ZERO:{v:[0, 1)})" } },
        { "fp32 ***C 1x65x60x80", { { { 3 }, { 32 }, 1 } }, 1, "fp32 ***C 1x65x60x96", { "@merged_distr([3]^ZERO:{v:[0, 80), u:[80, 96)})" } },
        { "fp32 NHWC 1x8x8x64",   { { { -1 }, { 32 }, 1 } }, 1, "fp32 NHWC 1x8x8x64", { "@merged_distr([3]^ZERO:{v:[0, 64)})" } },
        { "fp32 NHWC ?x8x8x3",    { { { 3 }, { 4 }, 1 } }, 1, "fp32 NHWC ?x8x8x4", { "@merged_distr([3]^ZERO:{v:[0, 3), u:[3, 4)})" } },
        /* two units, and one unit of two dims */
        { "fp32 NHWC 1x7x8x3", { { { 3 }, { 4 }, 1 }, { { 1 }, { 8 }, 1 } }, 2, "fp32 NHWC 1x8x8x4",
          { "@merged_distr([3]^ZERO:{v:[0, 3), u:[3, 4)})", "@merged_distr([1]^ZERO:{v:[0, 7), u:[7, 8)})" } },
        { "fp32 NHWC 1x2x8x3", { { { 1, 3 }, { 3, 4 }, 2 } }, 1, "fp32 NHWC 1x3x8x4",
          { "@merged_distr([1, 3]^ZERO:{v:[0, 3), u:[3, 4), v:[4, 7), u:[7, 12)})" } },
        { "fp32 NHWC 1x2x8x4", { { { 1, 3 }, { 3, 4 }, 2 } }, 1, "fp32 NHWC 1x3x8x4", { "@merged_distr([1, 3]^ZERO:{v:[0, 8), u:[8, 12)})" } },
        { "fp32 NHWC 1x3x8x3", { { { 1, 3 }, { 3, 4 }, 2 } }, 1, "fp32 NHWC 1x3x8x4",
          { "@merged_distr([1, 3]^ZERO:{v:[0, 3), u:[3, 4), v:[4, 7), u:[7, 8), v:[8, 11), u:[11, 12)})" } },
        { "fp32 *** 2x1x3", { { { 0, 1, 2 }, { 2, 2, 2 }, 3 } }, 1, "fp32 *** 2x2x4",
          { "@merged_distr([0, 1, 2]^ZERO:{v:[0, 3), u:[3, 8), v:[8, 11), u:[11, 16)})" } },
        { "fp32 * 0", { { { 0 }, { 8 }, 1 } }, 1, "fp32 * 0", { "@merged_distr([0]^ZERO:{v:[0, 0)})" } },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const xir_type *type = tensor(rows[i].input);
        trial t = try_align(type, rows[i].units, rows[i].n);
        const xir_type *out = given(t);
        assert_string_equal(words(out), rows[i].output);
        assert_int_equal(n_distrs(out), rows[i].n);
        for (size_t k = 0; k < rows[i].n &&
             xir_distr_total((const xir_distr *)xir_type_as_tensor(out)->merged_distrs.data[k]); k++) {
            assert_string_equal(distr(out, k), rows[i].distrs[k]);
        }
        static const int64_t forwards[] = { 0, 1 }, backwards[] = { -1, -2 };
        for (int way = 0; way < 2; way++) {
            trial back = try_prune(out, way ? backwards : forwards, rows[i].n);
            assert_true(xir_type_equal(given(back), type));
            xir_network_free(back.net);
        }
        xir_network_free(t.net);
    }
}

static void aligning_refuses(void **state) {
    (void)state;
    const xir_type *type = tensor("fp32 NHWC 1x8x8x3");
    const xir_type *valid = with_distr(type, "@merged_distr([3]^ZERO:{v:[0, 2), u:[2, 3)})");
    const struct { const xir_type *type; unit units[2]; size_t n; xir_status status; const char *path,
                   *part; } rows[] = {
        { type, { { { 4 }, { 4 }, 1 } }, 1, XIR_E_BOUNDS, "aligned_units", "dim 4 of unit 0 is outside the 4 dims of input" },
        { type, { { { -5 }, { 4 }, 1 } }, 1, XIR_E_BOUNDS, "aligned_units", "dim -5 of unit 0" },
        { type, { { { 3 }, { 0 }, 1 } }, 1, XIR_E_BOUNDS, "aligned_units", "dim 3 is aligned to a multiple of 0: expected at least 1" },
        { type, { { { 3, -1 }, { 2, 2 }, 2 } }, 1, XIR_E_INVALID, "aligned_units", "unit 0 lists dim 3 twice" },
        { type, { { { 3 }, { 4 }, 1 }, { { 3 }, { 8 }, 1 } }, 2, XIR_E_INVALID, "aligned_units", "dim 3 is in unit 0 and in unit 1" },
        { type, { { { 3 }, { 4 }, 0 } }, 1, XIR_E_INVALID, "aligned_units", "unit 0 has 0 dims and 0 units" },
        { valid, { { { 3 }, { 4 }, 1 } }, 1, XIR_E_EXISTS, "aligned_units", "dim 3 of input already has a distribution" },
        { tensor("fp32 NHWC 1x8x8x?"), { { { 3 }, { 4 }, 1 } }, 1, XIR_E_UNSUPPORTED, "inputs/0", "dim 3 is unknown" },
        { tensor("fp32 * 9223372036854775807"), { { { 0 }, { 2 }, 1 } }, 1, XIR_E_LIMIT, "aligned_units", "exceeds 64 bits" },
        { tensor("fp32 ** 4611686018427387904x3"), { { { 0, 1 }, { 1, 1 }, 2 } }, 1, XIR_E_LIMIT, "aligned_units", "the number of elements in the dims of unit 0 exceeds 64 bits" },
        { tensor("fp32 ** 2000000x3"), { { { 0, 1 }, { 1, 4 }, 2 } }, 1, XIR_E_LIMIT, "aligned_units", "more than 1048576 runs" },
        { tensor("fp32 NCHWc30 1x2x9x9x30"), { { { 4 }, { 4 }, 1 } }, 1, XIR_E_UNSUPPORTED, "inputs/0", "dim 4 of a tiled input (NCHWc30) cannot be resized to 32 from 30" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        trial t = try_align(rows[i].type, rows[i].units, rows[i].n);
        check_refused(t, rows[i].status, rows[i].path, rows[i].part);
        xir_network_free(t.net);
    }
    /* as many dims as units */
    const int64_t index[] = { 1, 3 }, sizes[] = { 4 };
    xir_aligned_unit body = xir_aligned_unit_init();
    body.index = (xir_i64s){ index, 2 };
    body.unit = (xir_i64s){ sizes, 1 };
    const xir_object *object = (const xir_object *)xir_aligned_unit_make(ctx, &body, why);
    xir_align_axis_attrs a = xir_align_axis_init();
    a.aligned_units = (xir_refs){ &object, 1 };
    trial t = try_op(xir_align_axis_class(), &a, &type, 1);
    check_refused(t, XIR_E_INVALID, "aligned_units", "unit 0 has 2 dims and 1 units");
    xir_network_free(t.net);
}

static void pruning_gives(void **state) {
    (void)state;
    /* Any elements of one dim are removed; the other distributions stay, in order. */
    const xir_type *type = with_distr(tensor("fp32 NHWC 1x8x8x6"),
                                      "@merged_distr([3]^ZERO:{u:[0, 1), v:[1, 3), u:[3, 4), v:[4, 6)})");
    type = with_distr(type, "@merged_distr([1]^NONE:{v:[0, 5), u:[5, 8)})");
    type = with_distr(type, "@merged_distr([2]^ZERO:{v:[0, 8)})");
    const int64_t first = 0, middle = -2, all[] = { 2, 0, 1 };
    trial t = try_prune(type, &first, 1);
    const xir_type *out = given(t);
    assert_string_equal(words(out), "fp32 NHWC 1x8x8x4");
    assert_int_equal(n_distrs(out), 2);
    assert_string_equal(distr(out, 0), "@merged_distr([1]^NONE:{v:[0, 5), u:[5, 8)})");
    assert_string_equal(distr(out, 1), "@merged_distr([2]^ZERO:{v:[0, 8)})");
    xir_network_free(t.net);
    t = try_prune(type, &middle, 1);
    assert_string_equal(words(given(t)), "fp32 NHWC 1x5x8x6");
    xir_network_free(t.net);
    t = try_prune(type, all, 3);
    assert_string_equal(words(given(t)), "fp32 NHWC 1x5x8x4");
    assert_int_equal(n_distrs(given(t)), 0);
    xir_network_free(t.net);
    t = try_prune(type, NULL, 0);
    assert_true(xir_type_equal(given(t), type));
    xir_network_free(t.net);

    /* Merged dims whose elements are all valid are unchanged. */
    type = with_distr(tensor("fp32 *C**c32 1x3x8x8x32"), "@merged_distr([1, 4]^ZERO:{v:[0, 96)})");
    t = try_prune(type, &first, 1);
    assert_true(xir_type_equal(given(t), tensor("fp32 *C**c32 1x3x8x8x32")));
    xir_network_free(t.net);
}

static void pruning_refuses(void **state) {
    (void)state;
    const xir_type *one = with_distr(tensor("fp32 NHWC 1x8x8x6"), "@merged_distr([3]^ZERO:{v:[0, 5), u:[5, 6)})");
    const xir_type *tail = with_distr(tensor("fp32 *C*** 1x3x8x8x32"),
                                      "@merged_distr([1, 4]^ZERO:{v:[0, 80), u:[80, 96)})");
    const xir_type *none = with_distr(tensor("fp32 *C*** 1x3x8x8x32"), "@merged_distr([1, 4]^ZERO:{u:[0, 96)})");
    const struct { const xir_type *type; int64_t index[2]; size_t n; xir_status status; const char *path,
                   *part; } rows[] = {
        { one, { 1 }, 1, XIR_E_BOUNDS, "index", "1 is outside the 1 distribution of input" },
        { one, { -2 }, 1, XIR_E_BOUNDS, "index", "-2 is outside the 1 distribution" },
        { one, { 0, -1 }, 2, XIR_E_INVALID, "index", "distribution 0 is listed twice" },
        { tensor("fp32 NHWC 1x8x8x6"), { 0 }, 1, XIR_E_BOUNDS, "index", "0 is outside the 0 distributions of input" },
        { tail, { 0 }, 1, XIR_E_INVALID, "index", "cannot be pruned" },
        { none, { 0 }, 1, XIR_E_INVALID, "index", "cannot be pruned" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        trial t = try_prune(rows[i].type, rows[i].index, rows[i].n);
        check_refused(t, rows[i].status, rows[i].path, rows[i].part);
        xir_network_free(t.net);
    }
}

/* Types as in an unchecked file. */
static void broken_distributions_are_refused(void **state) {
    (void)state;
    static const struct { const char *shape, *distrs[2]; int64_t dim; xir_status status; const char *part; } rows[] = {
        { "fp32 NHWC 1x8x8x6", { "@merged_distr([4]^ZERO:{v:[0, 6)})" }, 0, XIR_E_INVALID, "distribution 0 is over dim 4, but input has 4 dims" },
        { "fp32 NHWC 1x8x8x6", { "@merged_distr([3]^ZERO:{v:[0, 7)})" }, 0, XIR_E_INVALID, "distribution 0 counts 7 elements: expected 6, the product of its dims" },
        { "fp32 NHWC 1x8x8x6", { "@merged_distr([1, 3]^ZERO:{v:[0, 47)})" }, 0, XIR_E_INVALID, "counts 47 elements: expected 48, the product of its dims" },
        { "fp32 NHWC 1x?x8x6", { "@merged_distr([1, 3]^ZERO:{v:[0, 48)})" }, 0, XIR_E_UNSUPPORTED, "dim 1 is unknown and merged with others" },
        { "fp32 NHWC 1x8x8x6", { "@merged_distr([3]^ZERO:{v:[0, 6)})", "@merged_distr([1, 3]^ZERO:{v:[0, 48)})" }, 0,
          XIR_E_INVALID, "distributions 0 and 1 are both over dim 3" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const xir_object *distrs[2];
        size_t n = 0;
        while (n < 2 && rows[i].distrs[n]) {
            distrs[n] = read_text(rows[i].distrs[n]);
            n++;
        }
        const xir_type *plain = tensor(rows[i].shape),
                        *type = type_tensor(context_pool(ctx), fp32(), xir_type_layout(plain),
            xir_type_as_tensor(plain)->shape, (xir_refs){ distrs, n });
        const int64_t first = 0;
        trial t = try_prune(type, &first, 1);
        check_refused(t, rows[i].status, "inputs/0", rows[i].part);
        xir_network_free(t.net);
    }
    /* The distribution of a single dim gives its size. */
    const xir_object *known = read_text("@merged_distr([3]^ZERO:{v:[0, 5), u:[5, 6)})");
    const xir_type *plain = tensor("fp32 NHWC 1x8x8x?");
    const xir_type *type = type_tensor(context_pool(ctx), fp32(), xir_type_layout(plain),
                                       xir_type_as_tensor(plain)->shape, (xir_refs){ &known, 1 });
    const int64_t last = -1;
    trial t = try_prune(type, &last, 1);
    assert_string_equal(words(given(t)), "fp32 NHWC 1x8x8x5");
    xir_network_free(t.net);
}

/* A value may have no type: then nothing can be inferred from it, and the op has no error. */
static void values_without_a_type_are_reported(void **state) {
    (void)state;
    static const struct { const xir_class_decl *(*cls)(void); size_t n; } rows[] = {
        { xir_conv2d_class, 2 }, { xir_max_pool2d_class, 1 }, { xir_relu_class, 1 }, { xir_add_class, 2 },
        { xir_align_axis_class, 1 }, { xir_prune_axis_class, 1 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (int scalar = 0; scalar < 2; scalar++) {
            if (scalar && rows[i].cls == xir_relu_class) continue;   /* a type that is not a tensor is kept */
            xir_network *net = new_net();
            const xir_type *none[] = { scalar ? fp32() : NULL };
            xir_at at = XIR_AT(net);
            at.types = none;
            at.n_types = 1;
            xir_value *no_type = xir_make_input(at, &(xir_input_call){ .name = NULL });
            assert_non_null(no_type);
            xir_value *inputs[] = { no_type, no_type };
            /* These attributes have no default. */
            xir_max_pool2d_attrs pool = xir_max_pool2d_attrs_square(1, 1, 0, 1);
            const xir_prune_axis_attrs prune = xir_prune_axis_init();
            const void *attrs = rows[i].cls == xir_max_pool2d_class   ? (const void *)&pool
                                : rows[i].cls == xir_prune_axis_class ? (const void *)&prune : NULL;
            const xir_op_desc desc = XIR_INIT(xir_op_desc, .cls = xir_class_find_decl(ctx, rows[i].cls()),
                                              .inputs = inputs, .n_inputs = rows[i].n, .attrs = attrs,
                                              .id = XIR_NO_ID);
            trial t = { net, xir_network_add(net, &desc) };
            if (!scalar) check_refused(t, XIR_E_MISSING, "inputs/0", "is absent or has no type");
            else check_refused(t, XIR_E_TYPE, "inputs/0", "tensor");
            xir_network_free(net);
        }
    }
}

/* Boxes of all sizes in merged dims are found again; anything else in the same dims is refused. */
static void only_boxes_are_pruned(void **state) {
    (void)state;
    static const int64_t axes[] = { 0, 1 }, index = 0;
    for (int pattern = 0; pattern < 1 << 6; pattern++) {   /* which of 2 x 3 elements are valid */
        xir_distr_builder *b = xir_distr_new(ctx, axes, 2, 6);
        for (int i = 0; i < 6; i++) {
            if (!(pattern >> i & 1)) assert_int_equal(xir_distr_set_invalid(b, i, i + 1), XIR_OK);
        }
        const xir_distr *made = xir_distr_build(b, why);
        xir_distr_free(b);
        const xir_type *type = xir_type_add_distr(ctx, tensor("fp32 ** 2x3"), axes, 2, why);
        type = xir_type_set_distr(ctx, type, made, why);
        int64_t rows = 0, columns = 0;
        for (int64_t r = 1; r <= 2; r++) for (int64_t c = 1; c <= 3; c++) {
            int box = 0;
            for (int i = 0; i < 6; i++) if (i / 3 < r && i % 3 < c) box |= 1 << i;
            if (box == pattern) { rows = r; columns = c; }
        }
        trial t = try_prune(type, &index, 1);
        if (rows) assert_true(xir_type_equal(given(t), XIR_TENSOR(ctx, fp32(), "**", rows, columns)));
        else check_refused(t, XIR_E_INVALID, "index", "cannot be pruned");
        xir_network_free(t.net);
    }
}

/* The array items of a quantised type grow and shrink with their dim. */
static void arrays_follow_their_dim(void **state) {
    (void)state;
    static const double three[] = { 0.5, 0.5, 0.25 }, ratios[] = { 3, 4, 5 };
    static const int64_t m[] = { 1, 3, 5 }, exp[] = { 1, 2, 3 }, zeros[] = { 7, 8, 9 }, index = 0;
    const xir_scales *scales = xir_scales_from(ctx, three, 3, -1),
                      *exp_scales = xir_exp_scales_from(ctx, m, exp, three, 3, 3);
    const xir_type *sint = xir_type_sint(ctx, 8);
    const xir_type *normalized = xir_type_normalized(ctx, xir_norm_ratios_from(ctx, ratios, 3, -1), sint, NULL);
    const xir_type *elements[] = {
        xir_type_quantized(ctx, scales, zeros, 3, sint, NULL),
        normalized,
        xir_type_normalized_quantized(ctx, normalized, exp_scales, NULL, 0),
    };
    const unit units[] = { { { 3 }, { 5 }, 1 } };
    for (size_t i = 0; i < 3; i++) {
        const xir_type *type = XIR_TENSOR(ctx, elements[i], "NHWC", 1, 2, 2, 3);
        trial t = try_align(type, units, 1);
        const xir_type *out = given(t);
        assert_int_equal(xir_type_dim(out, 3, false), 5);
        if (i == 0) {
            assert_string_equal(spelled(xir_type_scale(out)), "@scales([axis=-1]2*0.5,0.25,2*1)");
            xir_i64s z = xir_type_zero_points(out);
            assert_int_equal(z.size, 5);
            assert_true(z.data[2] == 9 && z.data[3] == 0 && z.data[4] == 0);
        } else {
            assert_string_equal(spelled(xir_type_norm_ratios(out)), "@norm_ratios([axis=-1]3,4,5,2*1)");
        }
        if (i == 2)
            assert_string_equal(spelled(xir_type_scale(out)), "@exp_scales([axis=3]1/1/0.5,3/2/0.5,5/3/0.25,2*1/0/1)");
        trial back = try_prune(out, &index, 1);
        assert_true(xir_type_equal(given(back), type));
        xir_network_free(back.net);
        xir_network_free(t.net);
    }
    /* A file cannot force a list of any length. */
    trial long_one = try_align(XIR_TENSOR(ctx, elements[0], "NHWC", 1, 2, 2, 3),
                               (const unit[]){ { { 3 }, { INT64_C(1) << 40 }, 1 } }, 1);
    check_refused(long_one, XIR_E_LIMIT, "inputs/0", "the output needs more than 1048576 additional zero points");
    xir_network_free(long_one.net);
    /* Array items follow elements in the middle of a dim. */
    const xir_type *type = with_distr(XIR_TENSOR(ctx, elements[0], "NHWC", 1, 2, 2, 3),
                                      "@merged_distr([3]^ZERO:{v:[0, 1), u:[1, 2), v:[2, 3)})");
    trial t = try_prune(type, &index, 1);
    const xir_type *out = given(t);
    assert_string_equal(spelled(xir_type_scale(out)), "@scales([axis=-1]0.5,0.25)");
    assert_int_equal(xir_type_zero_points(out).size, 2);
    assert_int_equal(xir_type_zero_points(out).data[1], 9);
    xir_network_free(t.net);
    /* A single scale stays single; scales along another axis are unchanged. */
    const xir_type *single = xir_type_quantized(ctx, xir_scales_from(ctx, three, 1, -1), NULL, 0, sint, NULL);
    t = try_align(XIR_TENSOR(ctx, single, "NHWC", 1, 2, 2, 3), units, 1);
    assert_true(xir_type_equal(xir_type_element(given(t)), single));
    xir_network_free(t.net);
    t = try_align(XIR_TENSOR(ctx, elements[0], "NHWC", 1, 2, 2, 3), (const unit[]){ { { 1 }, { 4 }, 1 } }, 1);
    assert_true(xir_type_equal(xir_type_element(given(t)), elements[0]));
    xir_network_free(t.net);
}

/* ---- out of memory ----------------------------------------------------------------------------------------------- */

/* Ranks and runs that need separate allocations. */
static bool align_and_add(xir_context *with) {
    bool done = false;
    xir_network *net = xir_network_new(with, "n", XIR_FRAMEWORK_PYTORCH, "v1.9");
    if (!net) return false;
    const int64_t dims[] = { 2, 2, 2, 2, 2, 2, 2, 2, 3, 3 }, index[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 };
    const int64_t sizes[] = { 3, 3, 3, 3, 3, 3, 3, 3, 4, 4 };
    xir_aligned_unit body = xir_aligned_unit_init();
    body.index = (xir_i64s){ index, 10 };
    body.unit = (xir_i64s){ sizes, 10 };
    const xir_object *object = (const xir_object *)xir_aligned_unit_make(with, &body, NULL);
    const xir_type *type = xir_type_tensor_text(with, xir_type_float(with, XIR_FLOAT_FP32), "**********", dims, 10);
    xir_at at = XIR_AT(net);
    xir_value *x = object && type ? xir_input(at, "x", type) : NULL;
    xir_align_axis_attrs a = xir_align_axis_init();
    a.aligned_units = (xir_refs){ &object, 1 };
    xir_op *align = x ? xir_add_align_axis(at, (xir_align_axis_in){ .input = x }, &a) : NULL;
    const int64_t first = 0;
    xir_prune_axis_attrs p = xir_prune_axis_init();
    p.index = (xir_i64s){ &first, 1 };
    xir_op *prune = align ? xir_add_prune_axis(at, (xir_prune_axis_in){ .input = xir_op_output(align, 0) }, &p) : NULL;
    xir_value *sum = prune ? xir_build_add(at, xir_op_output(prune, 0), x, 1, 1, "sum") : NULL;
    done = sum && xir_output(at, XIR_VALUES(sum)) && xir_type_equal(xir_value_type(sum), type);
    if (!done && object && type) assert_int_equal(xir_network_status(net), XIR_E_MEMORY);
    xir_network_free(net);
    return done;
}

static void failing_allocations_lose_nothing(void **state) {
    (void)state;
    check_memory(align_and_add);
}

/* ---- real files ------------------------------------------------------------------------------------------------- */

/* Inferring the ops of real files again gives the types in the files. XIR_CORPUS names the folder of files. */
static void real_files_say_the_same(void **state) {
    (void)state;
    const char *corpus = CORPUS_OR_SKIP();
    static const char *const files[] = { "superpoint_test_softmax_BY", "yolov5s_plin_352x640_ZG" };
    size_t inferred = 0;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char path[1024];
        snprintf(path, sizeof path, "%s/icraft/%s.json", corpus, files[i]);
        xir_network *net = xir_json_load(ctx, path, why);
        if (!net) xir_diags_print(why, stderr);
        assert_non_null(net);
        for (xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) {
            if (!xir_op_class(op)->more->infer[XIR_TARGET_HOST] || xir_op_output_count(op) == 0) continue;
            const xir_type *said = xir_value_type(xir_op_output(op, 0));
            assert_int_equal(xir_op_infer(op, true), XIR_OK);
            assert_true(xir_type_equal(said, xir_value_type(xir_op_output(op, 0))));
            inferred++;
        }
        assert_int_equal(xir_network_status(net), XIR_OK);
        xir_network_free(net);
    }
    assert_int_equal(inferred, 7);   /* Add, AlignAxis, three Casts, two PruneAxis */
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(convolutions_give),
        cmocka_unit_test(convolutions_refuse),
        cmocka_unit_test(windows_are_counted),
        cmocka_unit_test(quantised_elements_may_differ),
        cmocka_unit_test(unchecked_attributes_are_refused),
        cmocka_unit_test(pools_give),
        cmocka_unit_test(pools_refuse),
        cmocka_unit_test(pools_keep_the_channels_padding),
        cmocka_unit_test(activations_change_nothing),
        cmocka_unit_test(old_names_of_activations_are_read),
        cmocka_unit_test(measured_ranges_are_not_mirrored),
        cmocka_unit_test(constant_products_are_refused_each_time),
        cmocka_unit_test(sums_broadcast),
        cmocka_unit_test(sums_refuse),
        cmocka_unit_test(sums_take_one_factor_or_one_a_channel),
        cmocka_unit_test(casts_give_the_target),
        cmocka_unit_test(aligning_adds_what_pruning_takes_out),
        cmocka_unit_test(aligning_refuses),
        cmocka_unit_test(pruning_gives),
        cmocka_unit_test(pruning_refuses),
        cmocka_unit_test(broken_distributions_are_refused),
        cmocka_unit_test(values_without_a_type_are_reported),
        cmocka_unit_test(only_boxes_are_pruned),
        cmocka_unit_test(arrays_follow_their_dim),
        cmocka_unit_test(failing_allocations_lose_nothing),
        cmocka_unit_test(real_files_say_the_same),
    };
    return RUN_GROUP(tests);
}
