/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The costs of ops (xir/cost.h). The figures of each class are in work.txt; this file compares those of convolutions
 * and products with counted index tuples, and tests bytes, parameters, sums, and what is not known or refused. */
#include <stdio.h>
#include "support/story.h"
#include "graph.h"
#include "rules.h"

#define XIR_DEFS "ops/liars.def"
#include <xir/declare.h>
#define XIR_DEFS "ops/liars.def"
#include <xir/define.h>

#define UNKNOWN XIR_COST_UNKNOWN

xir_status liar_infer(xir_infer *at)          { return xir_infer_result(at, xir_infer_input(at, 0)); }
xir_status liar_negative_work(xir_infer *at)  { return xir_work_result(at, (uint64_t)-5, 1); }
xir_status liar_silent_work(xir_infer *at)    { (void)at; return XIR_OK; }
xir_status liar_failing_work(xir_infer *at)   { return xir_infer_fail(at, XIR_E_TYPE, NULL, "no"); }
xir_status liar_huge_work(xir_infer *at)      { return xir_work_result(at, xir_work_times(INT64_MAX, 2), 1); }
xir_status liar_modest_work(xir_infer *at)    { return xir_work_unknown(at); }
xir_status liar_guessing_work(xir_infer *at) {
    (void)xir_work_unknown(at);
    return xir_work_result(at, 50, 7);
}
xir_status liar_bounded_work(xir_infer *at)   { (void)at; return XIR_E_BOUNDS; }
xir_status liar_greedy_work(xir_infer *at) {
    xir_work_reads(at, 0, 100);
    return xir_work_elementwise(at, 1);
}
xir_status liar_repeating_work(xir_infer *at) {
    xir_work_reads(at, 0, 1);
    xir_work_reads(at, 0, 1);
    return xir_work_elementwise(at, 1);
}
xir_status liar_honest_work(xir_infer *at) {
    const uint64_t n = xir_work_outputs(at);
    xir_work_reads(at, 0, n / 2);
    return xir_work_result(at, n, 0);
}

static int begin(void **state) {
    static const xir_class_decl *(*const liars[])(void) = {
        xir_liar_negative_class, xir_liar_silent_class, xir_liar_failing_class, xir_liar_greedy_class,
        xir_liar_repeating_class, xir_liar_huge_class, xir_liar_modest_class, xir_liar_mute_class,
        xir_liar_honest_class, xir_liar_guessing_class, xir_liar_bounded_class,
    };
    if (group_begin(state)) return -1;
    for (size_t i = 0; i < COUNT(liars); i++) {
        if (xir_class_register(ctx, liars[i](), why)) return -1;
    }
    return 0;
}

static xir_cost cost_of(const xir_network *net, const char *name) {
    xir_cost cost = XIR_INIT(xir_cost, .multiply_adds = 7);
    DOES(xir_op_cost(story_op(net, name), &cost, why));
    return cost;
}

/* Multiply-adds, element operations, bytes read and written, parameters and their bytes. */
static void check_cost(const xir_cost *c, uint64_t multiply_adds, uint64_t element_ops, uint64_t bytes_read,
                       uint64_t bytes_written, uint64_t parameters, uint64_t parameter_bytes, int line) {
    const uint64_t found[] = { c->multiply_adds, c->element_ops, c->bytes_read, c->bytes_written, c->parameters,
                               c->parameter_bytes };
    const uint64_t expected[] = { multiply_adds, element_ops, bytes_read, bytes_written, parameters, parameter_bytes };
    for (size_t i = 0; i < COUNT(found); i++) {
        if (found[i] != expected[i])
            fail_msg("line %d: figure %zu is %lld, expected %lld", line, i, (long long)found[i],
                     (long long)expected[i]);
    }
}
#define CHECK_COST(net, name, ...)                              \
    do {                                                        \
        const xir_cost c_ = cost_of(net, name);                 \
        check_cost(&c_, __VA_ARGS__, __LINE__);                 \
    } while (0)

/* ---- index tuples, counted one by one ---------------------------------------------------------------------------- */

typedef struct window { int64_t in, kernel, stride, dilation, before, after; } window;

static int64_t some(int64_t least, int64_t most) { return least + (int64_t)chance((uint64_t)(most - least + 1)); }

static window some_window(void) {
    window w = { .kernel = some(1, 3), .stride = some(1, 3), .dilation = some(1, 2), .before = some(0, 2),
                 .after = some(0, 2) };
    w.in = some(w.dilation * (w.kernel - 1) + 1, 8);
    return w;
}
static int64_t windows_of(window w) {
    return (w.in + w.before + w.after - w.dilation * (w.kernel - 1) - 1) / w.stride + 1;
}

static xir_value *kernel(xir_network *net, const char *layout, const int64_t *dims, size_t rank) {
    return xir_params_new(net, XIR_STR("w"),
                          xir_type_tensor_text(ctx, xir_type_float(ctx, XIR_FLOAT_FP32), layout, dims, rank));
}

static void some_conv(bool transposed) {
    xir_network *net = new_net();
    const int64_t batch = some(1, 2), groups = some(1, 3), from = groups * some(1, 3), to = groups * some(1, 3);
    const window h = some_window(), w = some_window();
    const bool first = chance(2);   // channels first
    const int64_t last_dims[] = { batch, h.in, w.in, from }, first_dims[] = { batch, from, h.in, w.in };
    const xir_type *type = xir_type_tensor_text(ctx, xir_type_float(ctx, XIR_FLOAT_FP32), first ? "NCHW" : "NHWC",
                                                first ? first_dims : last_dims, 4);
    xir_value *x = xir_input(XIR_AT(net), "x", type);
    xir_op *op;
    uint64_t tuples = 0;
    if (transposed) {
        xir_conv_transpose2d_attrs a = xir_conv_transpose2d_init();
        a.groups = groups;
        a.stride_height = h.stride, a.dilation_height = h.dilation;
        a.stride_width = w.stride, a.dilation_width = w.dilation;
        const int64_t dims[] = { h.kernel, w.kernel, to / groups, from };
        op = xir_add_conv_transpose2d(XIR_AT(net), (xir_conv_transpose2d_in){ .input = x,
                                      .weights = kernel(net, "HWOI", dims, 4) }, &a);
    } else {
        xir_conv2d_attrs a = xir_conv2d_init();
        a.groups = groups;
        a.stride_height = h.stride, a.dilation_height = h.dilation, a.pad_top = h.before, a.pad_bottom = h.after;
        a.stride_width = w.stride, a.dilation_width = w.dilation, a.pad_left = w.before, a.pad_right = w.after;
        const int64_t dims[] = { h.kernel, w.kernel, from / groups, to };
        op = xir_add_conv2d(XIR_AT(net), (xir_conv2d_in){ .input = x, .weights = kernel(net, "HWIO", dims, 4) },
                            &a);
    }
    assert_non_null(op);
    const int64_t rows = transposed ? h.in : windows_of(h), columns = transposed ? w.in : windows_of(w);
    for (int64_t n = 0; n < batch; n++)
        for (int64_t y = 0; y < rows; y++)
            for (int64_t z = 0; z < columns; z++)
                for (int64_t k = 0; k < h.kernel * w.kernel; k++)
                    for (int64_t i = 0; i < from; i++)
                        for (int64_t o = 0; o < to; o++) tuples += i / (from / groups) == o / (to / groups);
    xir_cost cost = XIR_INIT(xir_cost);
    DOES(xir_op_cost(op, &cost, why));
    assert_int_equal(cost.multiply_adds, tuples);
    assert_int_equal(cost.parameters, h.kernel * w.kernel * from * to / groups);
    assert_int_equal(cost.bytes_read, 4 * batch * h.in * w.in * from + 4 * (int64_t)cost.parameters);
    xir_network_free(net);
}

static void some_conv1d(void) {
    xir_network *net = new_net();
    const int64_t groups = some(1, 2), from = groups * some(1, 3), to = groups * some(1, 3), batch = some(1, 3);
    const window w = some_window();
    xir_value *x = xir_input(XIR_AT(net), "x", FP32("NLC", batch, w.in, from));
    xir_conv1d_attrs a = xir_conv1d_init();
    a.groups = groups, a.stride_width = w.stride, a.dilation_width = w.dilation;
    a.pad_left = w.before, a.pad_right = w.after;
    const int64_t dims[] = { w.kernel, from / groups, to };
    xir_op *op = xir_add_conv1d(XIR_AT(net), (xir_conv1d_in){ .input = x, .weights = kernel(net, "LIO", dims, 3) },
                                &a);
    uint64_t tuples = 0;
    for (int64_t p = 0; p < batch * windows_of(w); p++)
        for (int64_t k = 0; k < w.kernel; k++)
            for (int64_t i = 0; i < from; i++)
                for (int64_t o = 0; o < to; o++) tuples += i * groups / from == o * groups / to;
    xir_cost cost = XIR_INIT(xir_cost);
    DOES(xir_op_cost(op, &cost, why));
    assert_int_equal(cost.multiply_adds, tuples);
    xir_network_free(net);
}

/* Leading dims broadcast; either side may be a vector. */
static void some_product(void) {
    xir_network *net = new_net();
    const int64_t batch = some(1, 3), n = some(0, 4), m = some(1, 5), p = some(1, 4);
    const bool row = chance(4) == 0, column = chance(4) == 0, wide = chance(2);
    const xir_type *f = xir_type_float(ctx, XIR_FLOAT_FP32);
    const int64_t a[] = { chance(2) ? batch : 1, n, m }, b[] = { batch, m, p };
    const size_t ra = row ? 1 : wide ? 3 : 2, rb = column ? 1 : wide ? 3 : 2;
    xir_value *x = xir_input(XIR_AT(net), "x", xir_type_tensor(ctx, f, NULL, row ? &m : a + 3 - ra, ra));
    xir_value *k = xir_params_new(net, XIR_STR("k"), xir_type_tensor(ctx, f, NULL, column ? &m : b + 3 - rb, rb));
    xir_op *op = xir_add_matmul(XIR_AT(net), (xir_matmul_in){ .x = x, .k = k }, NULL);
    assert_non_null(op);
    int64_t most = 1;   // of the leading dims
    if (ra == 3) most = a[0];
    if (rb == 3) most = batch > most ? batch : most;
    uint64_t tuples = 0;
    for (int64_t l = 0; l < most; l++)
        for (int64_t i = 0; i < (row ? 1 : n); i++)
            for (int64_t j = 0; j < (column ? 1 : p); j++)
                for (int64_t t = 0; t < m; t++) tuples++;
    xir_cost cost = XIR_INIT(xir_cost);
    DOES(xir_op_cost(op, &cost, why));
    assert_int_equal(cost.multiply_adds, tuples);
    xir_network_free(net);
}

/* Every letter runs through its dim. */
static void some_einsum(void) {
    static const char *const equations[] = {
        "ij,jk->ik", "bij,bjk->bik", "bij,bkj->bik", "ij,ij->", "i,j->ij", "ijk,k->ji",
    };
    const char *equation = equations[chance(COUNT(equations))], *c = equation;
    xir_network *net = new_net();
    int64_t dim[26], dims[2][3];
    size_t rank[2] = { 0 }, at = 0;
    xir_value *in[2];
    uint64_t tuples = 1;
    bool seen[26] = { false };
    for (int i = 0; i < 26; i++) dim[i] = some(1, 4);
    for (; *c != '-'; c++) {
        if (*c == ',') {
            at = 1;
            continue;
        }
        if (!seen[*c - 'a']) tuples *= (uint64_t)dim[*c - 'a'];
        seen[*c - 'a'] = true;
        dims[at][rank[at]++] = dim[*c - 'a'];
    }
    const xir_type *f = xir_type_float(ctx, XIR_FLOAT_FP32);
    in[0] = xir_input(XIR_AT(net), "x", xir_type_tensor(ctx, f, NULL, dims[0], rank[0]));
    in[1] = xir_params_new(net, XIR_STR("k"), xir_type_tensor(ctx, f, NULL, dims[1], rank[1]));
    xir_einsum_attrs a = xir_einsum_init();
    a.equation = xir_str_of(equation);
    xir_op *op = xir_add_einsum(XIR_AT(net), (xir_einsum_in){ .inputs = { in, 2 } }, &a);
    xir_cost cost = XIR_INIT(xir_cost);
    DOES(xir_op_cost(op, &cost, why));
    assert_int_equal(cost.multiply_adds, tuples);
    xir_network_free(net);
}

static void multiply_adds_are_the_index_tuples_of_convolutions_and_products(void **state) {
    (void)state;
    for (int i = 0; i < 120; i++) {
        some_conv(false);
        some_conv(true);
        some_conv1d();
        some_product();
        some_einsum();
    }
}

/* ---- every class ------------------------------------------------------------------------------------------------- */

/* Nobody can say what these compute; docs/cost.md lists them too. */
static const char *const unsaid[] = {
    "Unknown", "Unsupport", "HardOp", "Region", "Reorg", "Yolo", "MultiYolo", "SSDOutput", "InnerProduct",
};

static void every_class_of_the_library_answers_or_is_listed(void **state) {
    (void)state;
    size_t n = 0, none = 0, faults = 0;
    for (size_t i = 0; xir_context_class_at(ctx, i); i++) {
        const xir_class *cls = xir_context_class_at(ctx, i);
        if (!xir_class_is_op(cls) || xir_class_is_opaque(cls) || strncmp(cls->key.data, "test::", 6) == 0) continue;
        bool listed = false;
        for (size_t k = 0; k < COUNT(unsaid); k++) listed |= strcmp(strrchr(cls->key.data, ':') + 1, unsaid[k]) == 0;
        n++;
        none += listed;
        if (cls->more->work && (cls->more->work == unknown_work) == listed) continue;
        fprintf(stderr, "%s: %s\n", cls->key.data, listed ? "is listed and has a WORK function" : "does not answer");
        faults++;
    }
    if (faults) fail_msg("%zu classes", faults);
    assert_int_equal(none, COUNT(unsaid));
    assert_true(n >= 144);
}

/* ---- a network whose counts are published ------------------------------------------------------------------------ */

static xir_value *layer(xir_network *net, xir_value *x, int64_t k, int64_t from, int64_t to, int64_t stride) {
    const int64_t dims[] = { k, k, from, to };
    xir_conv2d_attrs a = xir_conv2d_init();
    a.stride_width = a.stride_height = stride;
    a.pad_top = a.pad_bottom = a.pad_left = a.pad_right = k / 2;
    xir_conv2d_in in = { .input = x, .weights = kernel(net, "HWIO", dims, 4) };
    xir_op *conv = xir_add_conv2d(XIR_AT(net), in, &a);
    xir_batch_norm2d_attrs n = xir_batch_norm2d_init();
    n.variance = kernel(net, "C", &to, 1);
    n.mean = kernel(net, "C", &to, 1);
    xir_op *norm = xir_add_batch_norm2d(XIR_AT(net), (xir_batch_norm2d_in){ .input = xir_op_output(conv, 0) }, &n);
    return xir_op_output(norm, 0);
}

static xir_value *relu(xir_network *net, xir_value *x) {
    return xir_op_output(xir_add_relu(XIR_AT(net), (xir_relu_in){ .input = x }, NULL), 0);
}

static xir_value *bottleneck(xir_network *net, xir_value *x, int64_t from, int64_t inner, int64_t stride, bool first) {
    xir_value *y = relu(net, layer(net, x, 1, from, inner, 1));
    y = relu(net, layer(net, y, 3, inner, inner, stride));
    y = layer(net, y, 1, inner, 4 * inner, 1);
    if (first) x = layer(net, x, 1, from, 4 * inner, stride);
    return relu(net, xir_op_output(xir_add_add(XIR_AT(net), (xir_add_in){ y, x }, NULL), 0));
}

/* ResNet-50 as torchvision has it: 25 557 032 parameters, 4.09 G multiply-adds. */
static void resnet50_has_the_published_counts(void **state) {
    (void)state;
    static const struct { int64_t blocks, inner; } stages[] = { { 3, 64 }, { 4, 128 }, { 6, 256 }, { 3, 512 } };
    const int64_t fc[] = { 2048, 1000 };
    xir_network *net = new_net();
    xir_value *x = relu(net, layer(net, xir_input(XIR_AT(net), "x", FP32("NHWC", 1, 224, 224, 3)), 7, 3, 64, 2));
    xir_max_pool2d_attrs pool = xir_max_pool2d_init();
    pool.pool_width = pool.pool_height = 3, pool.stride_width = pool.stride_height = 2;
    pool.pad_top = pool.pad_bottom = pool.pad_left = pool.pad_right = 1;
    x = xir_op_output(xir_add_max_pool2d(XIR_AT(net), (xir_max_pool2d_in){ .input = x }, &pool), 0);
    int64_t from = 64;
    for (size_t i = 0; i < COUNT(stages); i++) {
        for (int64_t k = 0; k < stages[i].blocks; k++) {
            x = bottleneck(net, x, from, stages[i].inner, k == 0 && i ? 2 : 1, k == 0);
            from = 4 * stages[i].inner;
        }
    }
    xir_mean_attrs mean = xir_mean_init();
    mean.dim = (xir_i64s){ (const int64_t[]){ 1, 2 }, 2 };
    x = xir_op_output(xir_add_mean(XIR_AT(net), (xir_mean_in){ x }, &mean), 0);
    const int64_t classes = 1000;
    xir_matmul_in product = { .x = x, .k = kernel(net, "**", fc, 2), .b = kernel(net, "*", &classes, 1) };
    x = xir_op_output(xir_add_matmul(XIR_AT(net), product, NULL), 0);
    xir_output(XIR_AT(net), XIR_VALUES(x));
    DOES(xir_network_status(net));
    xir_cost known = XIR_INIT(xir_cost), open = XIR_INIT(xir_cost);
    DOES(xir_network_cost(net, &known, &open, why));
    check_cost(&open, 0, 0, 0, 0, 0, 0, __LINE__);
    assert_int_equal(known.parameters, 25557032);
    assert_int_equal(known.parameter_bytes, 4 * 25557032);
    assert_true(known.multiply_adds > 4089000000 / 100 * 99 && known.multiply_adds < 4089000000 / 100 * 101);
    xir_network_free(net);
}

/* ---- bytes and parameters ---------------------------------------------------------------------------------------- */

static void bytes_are_those_of_inputs_and_outputs(void **state) {
    (void)state;
    xir_network *net = story_net(
        "x: 2 3; h: fp16 2 3; i: sint64 2; b: bool 9; w: params 3 4; table: params 1000 6; c = Matmul x w; "
        "a = Add x x; g = Gather table i [axis=0]; e = Shape h; s = Slice x [begin=0,0 end=2,1 stride=1,1]; n = Not b; "
        "out c a g e s n");
    CHECK_COST(net, "c", 24, 8, 24 + 48, 32, 12, 48);
    CHECK_COST(net, "a", 0, 6, 48, 24, 0, 0);          // a value that is two inputs is read twice
    CHECK_COST(net, "g", 0, 12, 48 + 16, 48, 6000, 24000);   // of the table two lines
    CHECK_COST(net, "e", 0, 2, 0, 16, 0, 0);
    CHECK_COST(net, "s", 0, 2, 8, 8, 0, 0);
    CHECK_COST(net, "n", 0, 9, 9, 9, 0, 0);
    xir_network_free(net);
}

static void params_of_attributes_are_parameters(void **state) {
    (void)state;
    xir_network *net = story_net("x: NHWC 1 2 2 3; v: params 3; m: params 3; "
                                 "y = BatchNorm2d x [variance=v mean=m]; out y");
    CHECK_COST(net, "y", 12, 12, 48 + 24, 48, 6, 24);
    xir_network_free(net);
}

/* The first op that has them counts them. */
static void params_of_several_ops_count_once_in_a_network(void **state) {
    (void)state;
    xir_network *net = story_net("x: 2 3; w: params 3; a = Add x w; b = Multiply a w; "
                                 "c = Maximum w w; out b c");
    CHECK_COST(net, "a", 0, 6, 36, 24, 3, 12);
    CHECK_COST(net, "b", 0, 6, 36, 24, 3, 12);
    CHECK_COST(net, "c", 0, 3, 24, 12, 3, 12);
    xir_cost known = XIR_INIT(xir_cost), open = XIR_INIT(xir_cost, .element_ops = 9);
    DOES(xir_network_cost(net, &known, &open, why));
    check_cost(&known, 0, 15, 96, 60, 3, 12, __LINE__);
    check_cost(&open, 0, 0, 0, 0, 0, 0, __LINE__);
    xir_network_free(net);
}

static void many_params_of_one_op_count_once(void **state) {
    (void)state;
    enum { MANY = 100 };
    xir_network *net = story_net("x: 1 3; out x");
    xir_value *in[2 * MANY + 1] = { story_value(net, "x") };
    for (size_t i = 0; i < MANY; i++)
        in[1 + i] = in[2 * MANY - i] = xir_params_new(net, XIR_STR(""), FP32(NULL, 1, 3));
    xir_op *op = xir_add_concat(XIR_AT(net), (xir_concat_in){ .inputs = { in, COUNT(in) } }, NULL);
    assert_non_null(op);
    xir_cost cost = XIR_INIT(xir_cost);
    DOES(xir_op_cost(op, &cost, why));
    check_cost(&cost, 0, 3 * COUNT(in), 12 * COUNT(in), 12 * COUNT(in), 3 * MANY, 12 * MANY, __LINE__);
    xir_network_free(net);
}

/* ---- what is not known ------------------------------------------------------------------------------------------- */

static void of_open_dims_some_is_known(void **state) {
    (void)state;
    xir_network *net = story_net("x: NC -1 3; i: sint64 2; w: params 3 4; y = Matmul x w; r = ReLU x; e = Shape x; "
                                 "g = Gather x i [axis=0]; out y r e g");
    CHECK_COST(net, "y", UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, 12, 48);
    CHECK_COST(net, "r", 0, UNKNOWN, UNKNOWN, UNKNOWN, 0, 0);
    CHECK_COST(net, "e", 0, 2, 0, 16, 0, 0);
    CHECK_COST(net, "g", 0, 6, 24 + 16, 24, 0, 0);
    xir_cost known = XIR_INIT(xir_cost), open = XIR_INIT(xir_cost);
    DOES(xir_network_cost(net, &known, &open, why));
    check_cost(&known, 0, 8, 40, 40, 12, 48, __LINE__);
    check_cost(&open, 1, 2, 2, 2, 0, 0, __LINE__);
    xir_network_free(net);
}

static void of_classes_that_say_nothing_the_types_are_known(void **state) {
    (void)state;
    xir_network *net = story_net("x: 2 3; w: params 2; y = whatever::Thing x w; z = Mute y; m = Modest z; out m");
    CHECK_COST(net, "y", UNKNOWN, UNKNOWN, UNKNOWN, 24, 2, 8);
    CHECK_COST(net, "z", UNKNOWN, UNKNOWN, UNKNOWN, 24, 0, 0);
    CHECK_COST(net, "m", UNKNOWN, UNKNOWN, UNKNOWN, 24, 0, 0);
    xir_cost known = XIR_INIT(xir_cost), open = XIR_INIT(xir_cost);
    DOES(xir_network_cost(net, &known, &open, why));
    check_cost(&known, 0, 0, 0, 72, 2, 8, __LINE__);
    check_cost(&open, 3, 3, 3, 0, 0, 0, __LINE__);
    xir_work work = XIR_INIT(xir_work);   // a limit still has its number
    DOES(xir_op_work(story_op(net, "m"), &work, why));
    assert_int_equal(work.element_ops, 6);
    xir_network_free(net);
    net = story_net("x: 2 3; g = Guessing x; b = Bounded g; out b");
    CHECK_COST(net, "g", UNKNOWN, UNKNOWN, UNKNOWN, 24, 0, 0);
    CHECK_COST(net, "b", UNKNOWN, UNKNOWN, 24, 24, 0, 0);
    DOES(xir_op_work(story_op(net, "g"), &work, why));
    assert_int_equal(work.multiply_adds, 50);
    xir_network_free(net);
}

static void a_network_that_lacks_values_and_turns_in_circles_has_costs(void **state) {
    (void)state;
    xir_network *net = story_net("x: 2 3; a = Add x x; b = Add a x; out b");
    DOES(xir_op_set_input(story_op(net, "a"), 1, story_value(net, "b")));
    CHECK_COST(net, "a", 0, 6, 48, 24, 0, 0);
    DOES(xir_op_set_input(story_op(net, "b"), 0, NULL));
    CHECK_COST(net, "b", 0, 6, 24, 24, 0, 0);
    DOES(xir_op_set_outputs(story_op(net, "b"), (const xir_type *const[]){ NULL }, 1));
    CHECK_COST(net, "b", 0, UNKNOWN, 24, UNKNOWN, 0, 0);
    xir_network_free(net);
}

static void sums_that_are_too_large_are_not_known(void **state) {
    (void)state;
    xir_network *net = story_net("x: 3000000000 2000000000; a = Abs x; b = Abs a; h = Huge b; out h");
    CHECK_COST(net, "a", 0, UINT64_C(6000000000000000000), UNKNOWN, UNKNOWN, 0, 0);
    CHECK_COST(net, "h", UNKNOWN, 1, UNKNOWN, UNKNOWN, 0, 0);
    xir_cost known = XIR_INIT(xir_cost), open = XIR_INIT(xir_cost);
    DOES(xir_network_cost(net, &known, &open, why));
    check_cost(&known, 0, UNKNOWN, 0, 0, 0, 0, __LINE__);
    check_cost(&open, 1, 0, 3, 3, 0, 0, __LINE__);
    assert_true(xir_cost_add(INT64_MAX, 1) == UNKNOWN && xir_cost_add(UNKNOWN, 0) == UNKNOWN &&
                xir_cost_add(0, UNKNOWN) == UNKNOWN && xir_cost_add(INT64_MAX - 1, 1) == INT64_MAX);
    xir_network_free(net);
}

static void classes_of_a_plug_in_say_what_they_cost_or_it_is_not_known(void **state) {
    (void)state;
    xir_context *with = xir_context_new(NULL);
    assert_int_equal(xir_plugin_load(with, XIR_TEST_PLUGINS "/npu.so", why), XIR_OK);
    xir_network *net = story_net_in(with, "x: 2 3; g = acme::Grow x [by=4]; t = acme::Twice x; out g t");
    CHECK_COST(net, "g", 24, 6, 24, 24, 0, 0);
    CHECK_COST(net, "t", UNKNOWN, UNKNOWN, UNKNOWN, 24, 0, 0);
    xir_network_free(net);
    xir_context_free(with);
}

/* ---- what is refused --------------------------------------------------------------------------------------------- */

static void check_refused(const char *class_name, xir_status status, const char *message) {
    char text[100];
    snprintf(text, sizeof text, "x: 2 3; r = ReLU x; y = %s r; z = Honest y; out z", class_name);
    xir_network *net = story_net(text);
    xir_cost cost = XIR_INIT(xir_cost), open = XIR_INIT(xir_cost);
    xir_diags_clear(why);
    assert_int_equal(xir_op_cost(story_op(net, "y"), &cost, why), status);
    check_cost(&cost, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, __LINE__);
    CHECK_STR(xir_diags_at(why, 0)->path, "/ops/2");
    CHECK_STR(xir_diags_at(why, 0)->message, message);
    xir_diags_clear(why);
    assert_int_equal(xir_network_cost(net, &cost, &open, why), status);
    check_cost(&cost, 6, 6, 24 + 12, 48, 0, 0, __LINE__);   // of the others
    check_cost(&open, 1, 1, 1, 1, 1, 1, __LINE__);
    assert_int_equal(xir_diags_count(why), 1);
    CHECK_STR(xir_diags_at(why, 0)->path, "/ops/2");
    xir_diags_clear(why);
    xir_network_free(net);
}

static void counts_that_cannot_be_true_are_refused(void **state) {
    (void)state;
    check_refused("Negative", XIR_E_INVALID, "test::Negative: its WORK function gives -5 multiply-adds");
    check_refused("Silent", XIR_E_INVALID, "test::Silent: its WORK function gives no result");
    check_refused("Failing", XIR_E_TYPE, "test::Failing: its WORK function fails (type)");
    check_refused("Greedy", XIR_E_INVALID,
                  "test::Greedy: its WORK function reads more of input 0 than there is, or says it twice");
    check_refused("Repeating", XIR_E_INVALID,
                  "test::Repeating: its WORK function reads more of input 0 than there is, or says it twice");
}

static bool first_only(void *user, const xir_op *op, const xir_cost *cost) {
    (void)op, (void)cost;
    return ++*(int *)user < 2;
}

static void calls_that_make_no_sense_are_refused(void **state) {
    (void)state;
    xir_network *net = story_net("x: 2 3; y = ReLU x; z = ReLU y; out z");
    xir_cost cost = XIR_INIT(xir_cost), small = { .size = 4 };
    int n = 0;
    assert_int_equal(xir_op_cost(NULL, &cost, why), XIR_E_MISSING);
    check_cost(&cost, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, __LINE__);
    assert_int_equal(xir_op_cost(story_op(net, "y"), &small, why), XIR_E_ABI);
    assert_int_equal(xir_network_cost(net, &small, NULL, why), XIR_E_ABI);
    assert_int_equal(xir_network_cost(NULL, &cost, NULL, why), XIR_E_MISSING);
    check_cost(&cost, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, __LINE__);
    assert_int_equal(xir_network_costs(net, NULL, NULL, why), XIR_E_MISSING);
    DOES(xir_network_cost(net, NULL, NULL, why));
    DOES(xir_network_costs(net, first_only, &n, why));
    assert_int_equal(n, 2);
    xir_diags_clear(why);
    xir_network_free(net);
}

/* Without memory there are no figures, and with memory again they are all there. */
static bool count_everything(xir_context *with) {
    xir_network *net = story_net_in(with, "x: 2 3; w: params 3; a = Add x w; "
                                    "g = Einsum a w [equation=ij,j->i]; out g");
    xir_cost cost = XIR_INIT(xir_cost);
    if (!net) return false;
    xir_status status = xir_network_cost(net, &cost, NULL, NULL);
    if (!status) check_cost(&cost, 6, 8, 36 + 36, 24 + 8, 3, 12, __LINE__);
    else assert_int_equal(status, XIR_E_MEMORY);
    xir_network_free(net);
    return !status;
}

static void without_memory_nothing_is_counted(void **state) {
    (void)state;
    check_memory(count_everything);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(multiply_adds_are_the_index_tuples_of_convolutions_and_products),
        cmocka_unit_test(every_class_of_the_library_answers_or_is_listed),
        cmocka_unit_test(resnet50_has_the_published_counts),
        cmocka_unit_test(bytes_are_those_of_inputs_and_outputs),
        cmocka_unit_test(params_of_attributes_are_parameters),
        cmocka_unit_test(params_of_several_ops_count_once_in_a_network),
        cmocka_unit_test(many_params_of_one_op_count_once),
        cmocka_unit_test(of_open_dims_some_is_known),
        cmocka_unit_test(of_classes_that_say_nothing_the_types_are_known),
        cmocka_unit_test(classes_of_a_plug_in_say_what_they_cost_or_it_is_not_known),
        cmocka_unit_test(a_network_that_lacks_values_and_turns_in_circles_has_costs),
        cmocka_unit_test(sums_that_are_too_large_are_not_known),
        cmocka_unit_test(counts_that_cannot_be_true_are_refused),
        cmocka_unit_test(calls_that_make_no_sense_are_refused),
        cmocka_unit_test(without_memory_nothing_is_counted),
    };
    return cmocka_run_group_tests(tests, begin, group_end);
}
