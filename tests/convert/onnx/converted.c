/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A conversion has a limit of bytes (max_converted): a node that would take more bytes than are left stays, with a
 * note, and smaller ones after it are converted. */
#include <xir/convert.h>
#include <xir/pass.h>
#include "cases.h"
#include "support/weigh.h"

static xir_network *net;

#define MODEL(...) (net = CASE_MODEL(__VA_ARGS__))

/* Runs passes with a limit of so many bytes. Returns how many nodes of a dialect there are then. */
static size_t run_limited(uint64_t most, const char *passes, xir_status expected) {
    xir_limits before = XIR_INIT(xir_limits);
    DOES(xir_context_limits(ctx, &before, why));
    DOES(xir_context_set_limits(ctx, &XIR_INIT(xir_limits, .max_converted = most), why));
    xir_diags_clear(why);
    xir_pipeline *p = xir_pipeline_parse(ctx, xir_str_of(passes), why);
    assert_non_null(p);
    assert_int_equal(xir_pipeline_run(p, net, NULL, NULL, why), expected);
    xir_pipeline_free(p);
    DOES(xir_network_validate(net, why));
    DOES(xir_context_set_limits(ctx, &before, why));
    size_t n = 0;
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op))
        n += xir_class_is_dialect(xir_op_class(op));
    return n;
}

static size_t stays(uint64_t most) { return run_limited(most, "to-xir", XIR_OK); }

static void ends(void) {
    xir_network_free(net);
    net = NULL;
}

/* The first finding has this text. */
static void said(const char *text, xir_severity severity) {
    const xir_diag *d = xir_diags_at(why, 0);
    assert_non_null(d);
    if (!strstr(d->message.data, text)) fail_msg("not '%s' but '%s'", text, d->message.data);
    assert_int_equal(d->severity, severity);
}

#define LEFT " are left of max_converted"

/* ---- constants -------------------------------------------------------------------------------------------------- */

/* The constant of each node has over 30 KB, its table over 60 KB. All of them are much longer than the file. */
static const char *const makers[] = {
    "hann | opset=19 | *n=i64[]{9001} *m=i64[]{9002} *k=i64[]{9003} | HannWindow n a; HannWindow m b; HannWindow k c | a b c",
    "hamming | opset=19 | *n=i64[]{9001} *m=i64[]{9002} *k=i64[]{9003} | HammingWindow n a; HammingWindow m b; "
    "BlackmanWindow k c | a b c",
    "mel | opset=19 | *n=i64[]{80} *l=i64[]{400} *r=i64[]{16000} *f=f32[]{0} *g=f32[]{8000} | MelWeightMatrix n,l,r,f,g a;"
    "MelWeightMatrix n,l,r,f,g b; MelWeightMatrix n,l,r,f,g c | a b c",
    "eye | | x=f32[90,91] y=f32[90,92] z=f32[90,93] | EyeLike x a; EyeLike y b; EyeLike z c | a b c",
    "dft | opset=19 | x=f32[1,90,1] y=f32[1,91,1] z=f32[1,92,1] | DFT x a; DFT y b; DFT z c | a b c",
    "pool | | x=f32[1,1,90,90] y=f32[1,1,91,90] z=f32[1,1,92,90] | MaxPool x a,i kernel_shape=[2,2]; MaxPool y b,j "
    "kernel_shape=[2,2]; MaxPool z c,k kernel_shape=[2,2] | i j k",
    "deform | opset=19 | x=f32[1,1,40,40] *w=f32[1,1,2,2] o=f32[1,8,39,39] | DeformConv x,w,o a; DeformConv x,w,o b; "
    "DeformConv x,w,o c | a b c",
    "grid | opset=20 | x=f32[1,2,3] *s=i64[4]{1,1,70,70} | AffineGrid x,s a; AffineGrid x,s b; AffineGrid x,s c | a b c",
    "elements | | x=f32[90,90] *i=i64[1,1]{0} d=i64[90,90] | ScatterElements x,d,x a axis=0; ScatterElements x,d,a b "
    "axis=1; ScatterElements x,d,b c axis=0 | c",
};

static void tables_and_constants_are_counted(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(makers); i++) {
        MODEL(makers[i]);
        if (stays(50 << 20)) fail_msg("%s: stays", makers[i]);
        assert_int_equal(xir_diags_count(why), 0);
        ends();
        MODEL(makers[i]);
        const size_t n = stays(105000);
        if (n < 1 || n > 3) fail_msg("%s: %zu nodes stay", makers[i], n);
        said(LEFT, XIR_NOTE);
        ends();
    }
}

static void a_strict_conversion_fails(void **state) {
    (void)state;
    MODEL(makers[0]);
    assert_true(run_limited(1000, "to-xir{strict}", XIR_E_UNKNOWN) > 0);
    said(LEFT, XIR_ERROR);
    ends();
}

/* The next node needs as many bytes as the one before, and small nodes do not need more than is left. */
static void memory_of_a_node_is_used_again(void **state) {
    (void)state;
    MODEL("many | opset=19 | *n=i64[]{900} *m=i64[]{20000} | HannWindow n a; HannWindow n b; HannWindow n c; HannWindow n d; "
          "HannWindow n e; HannWindow m big; HannWindow n f; HannWindow n g | a b c d e big f g");
    assert_int_equal(stays(45000), 1);
    said("HannWindow 'n5' (node 5): not converted: it takes 160008 bytes, more than" LEFT, XIR_NOTE);
    ends();
}

static void a_check_says_what_it_has_not_checked(void **state) {
    (void)state;
    xir_limits before = XIR_INIT(xir_limits);
    DOES(xir_context_limits(ctx, &before, why));
    DOES(xir_context_set_limits(ctx, &XIR_INIT(xir_limits, .max_converted = 1000), why));
    MODEL(makers[0]);
    xir_diags_clear(why);
    DOES(xir_dialect_check(net, why));
    assert_int_equal(xir_diags_count(why), 1);
    said("HannWindow 'n0' (node 0): not checked, nor are nodes like it: it takes 72016 bytes, more "
         "than" LEFT, XIR_NOTE);
    DOES(xir_context_set_limits(ctx, &before, why));
    ends();
}

/* The other direction has the limit, too, and 16 times the network's ops: running sums are a product with a matrix. */
static void the_way_back_has_the_limit(void **state) {
    (void)state;
    static const struct { uint64_t most; bool stays; } rows[] = { { 50 << 20, false }, { 5000, true } };
    for (size_t i = 0; i < COUNT(rows); i++) {
        MODEL("sums | | x=f32[600] *d=i64[]{0} | CumSum x,d a; Neg a b; CumSum b,d c | c");
        assert_int_equal(stays(50 << 20), 0);
        const size_t made = run_limited(rows[i].most, "xir-to-nnb", XIR_OK);
        const size_t left = xir_network_op_count(net) - 2 - made;
        if (left != (rows[i].stays ? 2 : 0)) fail_msg("row %zu: %zu ops of XIR are left", i, left);
        if (left) said(LEFT, XIR_NOTE);
        ends();
    }
}

/* ---- bodies ----------------------------------------------------------------------------------------------------- */

/* Each function calls the next one twice; a tensor inside has a name of so many bytes. */
static void chain(size_t n, int name) {
    static onnx_case c;
    static char line[1000];
    case_all_bodies()->n = 0;
    for (size_t i = 0; i < n; i++) {
        char type[30] = "Neg";
        if (i + 1 < n) snprintf(type, sizeof type, "h.F%zu", i + 1);
        snprintf(line, sizeof line, "@h.F%zu | x | | %s x a%0*d; %s a%0*d y | y", i, type, name, 0, type, name, 0);
        assert_false(case_read(&c, line));
    }
    assert_true(case_read(&c, "chain | | x=f32[2] | h.F0 x y | y"));
    net = case_network(&c);
}

/* Names have a part for each level, so they grow with the depth: 2046 ops with names of up to 10 * 60 bytes. */
static void ops_and_names_of_bodies_are_counted(void **state) {
    (void)state;
    static const struct { size_t levels; int name; uint64_t most; bool stays; } rows[] = {
        { 10, 1, 1800000, false }, { 10, 60, 1800000, true }, { 10, 1, 700000, true },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        chain(rows[i].levels, rows[i].name);
        const size_t n = stays(rows[i].most);
        if ((n > 0) != rows[i].stays) fail_msg("row %zu: %zu nodes stay", i, n);
        if (n) said(LEFT, XIR_NOTE);
        ends();
    }
}

/* The ops of a function's body that refer to an attribute share what the caller gives. It counts for each of them. */
static void references_share_a_value(void **state) {
    (void)state;
    char call[400] = "call | | x=f32[2] | h.F x y k=[1";
    for (size_t n = strlen(call); n < 44; n += 2) strcat(call, ",2");
    strcat(call, "] | y");
    static const char body[] = "@h.F | x | k | Foo x a v=$k:I; Foo a b v=$k:I; Foo b c v=$k:I; Foo c y v=$k:I | y";
    MODEL(body, call);
    assert_int_equal(stays(50 << 20), 4);
    const xir_any *last = NULL;
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) {
        const xir_any *v = xir_op_extra(op) ? xir_map_find(xir_op_extra(op), XIR_STR("v")) : NULL;
        if (!v) continue;
        assert_int_equal(v->kind, XIR_ANY_LIST);
        if (last) assert_ptr_equal(v->as.list.items, last->as.list.items);
        last = v;
    }
    assert_non_null(last);
    ends();
    static const char *const defaults = "@h.F | x | k=2.0 | Elu x a alpha=$k:f; Elu a y alpha=$k:f | y";
    MODEL(defaults, "call | | x=f32[2] | h.F x a; h.F a y k=3.0 | y");
    assert_int_equal(stays(50 << 20), 0);
    ends();
}

/* ---- lists ------------------------------------------------------------------------------------------------------ */

/* A list with one member more each time, at its end, in front or in the middle, takes memory in proportion. */
static void lists_share_their_members(void **state) {
    (void)state;
    enum { NODES = 3000, MOST = 10 << 20 };
    static const int64_t zero = 0;
    for (int way = 0; way < 3; way++) {
        const xir_allocator alloc = { weigh, NULL };
        char in[60], out[20];
        size_t size;
        om m = om_begin("net");
        om_input(&m, "x", ONNX_FLOAT, OM_DIMS(2));
        om_int64s(&m, "p", OM_SCALAR, &zero, 1);
        om_node(&m, "SequenceConstruct", "", "x", "l0");
        for (int i = 0; i < NODES; i++) {
            snprintf(in, sizeof in, way == 1 ? "l%d,x,p" : "l%d,x", i);
            snprintf(out, sizeof out, "l%d", i + 1);
            om_node(&m, "SequenceInsert", "", in, out);
        }
        snprintf(in, sizeof in, way == 2 ? "l%d,p" : "l%d", NODES);
        om_node(&m, way == 2 ? "SequenceErase" : "Identity", "", in, "e");
        om_node(&m, "SequenceLength", "", "e", "n");
        om_output(&m, "n", ONNX_INT64, OM_SCALAR);
        const void *bytes = om_done(&m, &size);
        xir_context *own = xir_context_new(&alloc);
        xir_diags *found = xir_diags_new(own);
        xir_network *list = xir_network_read(own, bytes, size, XIR_STR("m.onnx"), NULL, found);
        assert_non_null(list);
        const size_t before = most_held = held;
        DOES(xir_pass_run(list, "to-xir", NULL, NULL, found));
        if (most_held - before > MOST) fail_msg("way %d: %zu bytes", way, most_held - before);
        const xir_value *n = xir_op_input(xir_network_output_op(list), 0);
        int64_t length = 0;
        assert_int_equal(xir_params_read(n, 0, &length, sizeof length), XIR_OK);
        assert_int_equal(length, NODES + (way != 2));
        om_free(&m);
        xir_network_free(list);
        xir_diags_free(found);
        xir_context_free(own);
    }
}

/* On the way back, formulas stand for ops in proportion to the network, which may have no texts. */
static void ops_without_names_go_back_however_many_there_are(void **state) {
    (void)state;
    net = new_net();
    xir_at at = xir_at_end(net);
    xir_value *x = xir_input(at, "x", FP32("*", 4));
    for (int i = 0; i < 2000; i++) x = XIR_OP(at, sigmoid, .input = x);
    xir_output(at, XIR_VALUES(x));
    assert_true(run_limited(1, "xir-to-deepx", XIR_OK) >= 2000);
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op))
        assert_false(xir_op_is(op, xir_sigmoid_class()));
    ends();
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ops_without_names_go_back_however_many_there_are),
        cmocka_unit_test(tables_and_constants_are_counted),
        cmocka_unit_test(a_strict_conversion_fails),
        cmocka_unit_test(memory_of_a_node_is_used_again),
        cmocka_unit_test(a_check_says_what_it_has_not_checked),
        cmocka_unit_test(the_way_back_has_the_limit),
        cmocka_unit_test(ops_and_names_of_bodies_are_counted),
        cmocka_unit_test(references_share_a_value),
        cmocka_unit_test(lists_share_their_members),
    };
    return RUN_GROUP(tests);
}
