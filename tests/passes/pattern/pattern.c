/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Patterns: what a row matches, which alternative is found, and which tables are refused. */
#include <pthread.h>
#include <string.h>
#include "support/story.h"
#include <xir/pattern.h>

static xir_pattern *make(const xir_pattern_row *rows, size_t n, bool closed) {
    xir_pattern_decl decl = { .abi = XIR_ABI, .size = sizeof decl, .row_size = sizeof *rows, .name = "it", .rows = rows,
                              .n_rows = n, .closed = closed };
    xir_pattern *p = xir_pattern_new(ctx, &decl, why);
    if (!p) xir_diags_print(why, stderr);
    assert_non_null(p);
    return p;
}

/* The roots of all matches by name, "y z". */
static void roots_are(const char *story, const xir_pattern_row *rows, size_t n, bool closed,
                      const char *expected, int line) {
    xir_network *net = story_net(story);
    xir_pattern *p = make(rows, n, closed);
    char found[200] = "";
    xir_match m = { 0 };
    while (xir_pattern_next(p, net, &m)) {
        xir_str name = xir_op_name(m.root);
        size_t at = strlen(found);
        snprintf(found + at, sizeof found - at, "%s%.*s", at ? " " : "", (int)name.size, name.data);
    }
    assert_null(m.root);
    if (strcmp(found, expected) != 0) fail_msg("line %d: found '%s', expected '%s'", line, found, expected);
    xir_pattern_free(p);
    xir_network_free(net);
}
#define ROOTS(story, rows, expected)        roots_are(story, rows, COUNT(rows), false, expected, __LINE__)
#define CLOSED_ROOTS(story, rows, expected) roots_are(story, rows, COUNT(rows), true, expected, __LINE__)

/* The values that the rows of the first match stand for, by name: "x s y"; "." for none. */
static void first_is(const char *story, const xir_pattern_row *rows, size_t n, const char *expected, int line) {
    xir_network *net = story_net(story);
    xir_pattern *p = make(rows, n, false);
    char found[200] = "";
    xir_match m = { 0 };
    if (xir_pattern_next(p, net, &m)) {
        for (size_t i = 0; i < n; i++) {
            xir_str name = m.values[i] ? xir_value_name(m.values[i]) : XIR_STR(".");
            size_t at = strlen(found);
            snprintf(found + at, sizeof found - at, "%s%.*s", at ? " " : "", (int)name.size, name.data);
            if (m.ops[i] && m.values[i]) assert_ptr_equal(m.ops[i], xir_value_op(m.values[i]));
        }
    }
    if (strcmp(found, expected) != 0) fail_msg("line %d: found '%s', expected '%s'", line, found, expected);
    xir_pattern_free(p);
    xir_network_free(net);
}
#define FIRST(story, rows, expected) first_is(story, rows, COUNT(rows), expected, __LINE__)

/* ---- ops -------------------------------------------------------------------------------------------------------- */

#define CHAIN "x: 2 3; a = ReLU x; b = Sigmoid a; c = ReLU b; d = Tanh c; out d"

static void ops_are_found_by_class(void **state) {
    (void)state;
    static const xir_pattern_row relu[] = { { XIR_ROW_OP(xir_relu_class) } };
    static const xir_pattern_row two[] = { { XIR_ROW_OP(xir_tanh_class, xir_sigmoid_class) } };
    static const xir_pattern_row any[] = { { XIR_ROW_ANY_OP } };
    static const xir_pattern_row none[] = { { XIR_ROW_OP(xir_gelu_class) } };
    static const xir_pattern_row activation[] = { { XIR_ROW_ANY_OP, .traits = XIR_TRAIT_ACTIVATION } };
    ROOTS(CHAIN, relu, "a c");
    ROOTS(CHAIN, two, "b d");
    ROOTS(CHAIN, any, "in a b c d ");
    ROOTS(CHAIN, none, "");
    ROOTS(CHAIN, activation, "a b c d");
}

/* A trait with a name is one of the upper bits. */
static void ops_are_found_by_traits_with_names(void **state) {
    (void)state;
    const xir_trait smooth = xir_trait_register(ctx, XIR_STR("test::Smooth"), why);
    const xir_trait steep = xir_trait_register(ctx, XIR_STR("test::Steep"), why);
    assert_int_equal(xir_class_add_trait(ctx, xir_tanh_class(), smooth), XIR_OK);
    assert_int_equal(xir_class_add_trait(ctx, xir_sigmoid_class(), smooth), XIR_OK);
    assert_int_equal(xir_class_add_trait(ctx, xir_tanh_class(), steep), XIR_OK);
    const xir_pattern_row one[] = { { XIR_ROW_ANY_OP, .traits = smooth } };
    const xir_pattern_row both[] = { { XIR_ROW_ANY_OP, .traits = smooth | steep | XIR_TRAIT_ACTIVATION } };
    ROOTS(CHAIN, one, "b d");
    ROOTS(CHAIN, both, "d");
}

static void ops_are_found_by_key(void **state) {
    (void)state;
    static const xir_pattern_row dialect[] = { { .kind = XIR_PATTERN_OP, .keys = "onnx::Relu|onnx::Clip" } };
    /* an old key */
    static const xir_pattern_row both[] = { { XIR_ROW_OP(xir_tanh_class), .keys = "icraft::xir::Relu|onnx::Clip" } };
    ROOTS("x: 2 3; a = onnx::Relu x; b = onnx::Clip a; c = onnx::Elu b; out c", dialect, "a b");
    ROOTS("x: 2 3; a = ReLU x; b = onnx::Clip a; c = onnx::Relu b; d = Tanh c; out d", both, "a b d");
}

static void a_pattern_is_the_whole_cone(void **state) {
    (void)state;
    static const xir_pattern_row rows[] = {
        [0] = { XIR_ROW_OP(xir_relu_class) },
        [1] = { XIR_ROW_OP(xir_sigmoid_class), XIR_ROW_INPUTS(0) },
        [2] = { XIR_ROW_OP(xir_relu_class), XIR_ROW_INPUTS(1) },
    };
    ROOTS(CHAIN, rows, "c");
    FIRST(CHAIN, rows, "a b c");
    ROOTS("x: 2 3; b = Sigmoid x; c = ReLU b; out c", rows, "");
}

static void inputs_are_found_by_position(void **state) {
    (void)state;
    static const xir_pattern_row left[] = {
        [0] = { XIR_ROW_ANY }, [1] = { XIR_ROW_OP(xir_relu_class) },
        [2] = { XIR_ROW_OP(xir_add_class), XIR_ROW_INPUTS(1, 0) },
    };
    static const xir_pattern_row either[] = {
        [0] = { XIR_ROW_ANY }, [1] = { XIR_ROW_OP(xir_relu_class) },
        [2] = { XIR_ROW_OP(xir_add_class), XIR_ROW_INPUTS(1, 0), .commutes = true },
    };
    ROOTS("x: 2 3; r = ReLU x; a = Add r x; b = Add x r; out a b", left, "a");
    ROOTS("x: 2 3; r = ReLU x; a = Add r x; b = Add x r; out a b", either, "a b");
    FIRST("x: 2 3; r = ReLU x; b = Add x r; out b", either, "x r b");
    FIRST("x: 2 3; r = ReLU x; s = ReLU r; b = Add s r; out b", either, "r s b");   /* in the given order first */
}

static void a_shared_row_is_one_value(void **state) {
    (void)state;
    static const xir_pattern_row rows[] = {
        [0] = { XIR_ROW_ANY }, [1] = { XIR_ROW_OP(xir_sigmoid_class), XIR_ROW_INPUTS(0) },
        [2] = { XIR_ROW_OP(xir_multiply_class), XIR_ROW_INPUTS(0, 1) },
    };
    ROOTS("x: 2 3; z: 2 3; s = Sigmoid x; a = Multiply x s; b = Multiply z s; out a b", rows, "a");
    static const xir_pattern_row twice[] = {
        [0] = { XIR_ROW_OP(xir_relu_class) }, [1] = { XIR_ROW_OP(xir_add_class), XIR_ROW_INPUTS(0, 0) },
    };
    ROOTS("x: 2 3; r = ReLU x; s = ReLU x; a = Add r r; b = Add r s; out a b", twice, "a");
}

static void inputs_that_are_not_listed_are_absent(void **state) {
    (void)state;
    static const xir_pattern_row two[] = {
        [0] = { XIR_ROW_ANY }, [1] = { XIR_ROW_PARAMS }, [2] = { XIR_ROW_OP(xir_matmul_class), XIR_ROW_INPUTS(0, 1) },
    };
    static const xir_pattern_row three[] = {
        [0] = { XIR_ROW_ANY }, [1] = { XIR_ROW_PARAMS }, [2] = { XIR_ROW_PARAMS },
        [3] = { XIR_ROW_OP(xir_matmul_class), XIR_ROW_INPUTS(0, 1, 2) },
    };
    static const xir_pattern_row maybe[] = {
        [0] = { XIR_ROW_ANY }, [1] = { XIR_ROW_PARAMS }, [2] = { XIR_ROW_PARAMS, .optional = true },
        [3] = { XIR_ROW_OP(xir_matmul_class), XIR_ROW_INPUTS(0, 1, 2) },
    };
    static const xir_pattern_row whatever[] = { [0] = { XIR_ROW_OP(xir_matmul_class) } };
    const char *net = "x: 2 3; k: params 3 3; b: params 3; y = Matmul x k; z = Matmul y k b; out z";
    ROOTS(net, two, "y");
    ROOTS(net, three, "z");
    ROOTS(net, maybe, "y z");
    ROOTS(net, whatever, "y z");
}

static void any_number_of_inputs(void **state) {
    (void)state;
    static const xir_pattern_row rows[] = {
        [0] = { XIR_ROW_OP(xir_relu_class) }, [1] = { XIR_ROW_REST },
        [2] = { XIR_ROW_OP(xir_concat_class), XIR_ROW_INPUTS(0, 1) },
    };
    const char *net =
        "x: 2 3; r = ReLU x; a = Concat r; b = Concat r x; c = Concat r x r r; d = Concat x r; out a b c d";
    ROOTS(net, rows, "a b c");
    static const xir_pattern_row all[] =
        { [0] = { XIR_ROW_REST }, [1] = { XIR_ROW_OP(xir_concat_class), XIR_ROW_INPUTS(0) } };
    ROOTS(net, all, "a b c d");
}

static void outputs_are_distinguished(void **state) {
    (void)state;
    const char *net =
        "x: 2 4; a, b = Split x [axis=1 sections=2,2]; c = ReLU a; d = ReLU b; e = Add a b; f = Add b a; out c d e f";
    static const xir_pattern_row second[] = {
        [0] = { XIR_ROW_OP(xir_split_class), .output = 1 }, [1] = { XIR_ROW_OP(xir_relu_class), XIR_ROW_INPUTS(0) },
    };
    static const xir_pattern_row both[] = {
        [0] = { XIR_ROW_OP(xir_split_class) }, [1] = { XIR_ROW_OUTPUT(0, 1) },
        [2] = { XIR_ROW_OP(xir_add_class), XIR_ROW_INPUTS(0, 1) },
    };
    ROOTS(net, second, "d");
    ROOTS(net, both, "e");
    FIRST(net, both, "a b e");
    static const xir_pattern_row turned[] = {
        [0] = { XIR_ROW_OP(xir_split_class) }, [1] = { XIR_ROW_OUTPUT(0, 1) },
        [2] = { XIR_ROW_OP(xir_add_class), XIR_ROW_INPUTS(1, 0) },
    };
    ROOTS(net, turned, "f");
    ROOTS("x: 2 4; a, b = Split x [axis=1 sections=2,2]; c, d = Split x [axis=1 sections=2,2]; e = Add a d; out e", both, "");   /* of two different ops */
}

/* ---- conditions ------------------------------------------------------------------------------------------------- */

static bool is_long(const xir_attr *a, void *user) {
    return (void)user, a->kind == XIR_KIND_I64S && a->as.i64s.size > 1;
}
static bool is_called_b(const xir_op *op, void *user) {
    return (void)user, xir_str_equal(xir_op_name(op), XIR_STR("b"));
}
static bool has_two_dims(const xir_value *v, void *user) { return (void)user, xir_type_rank(xir_value_type(v)) == 2; }

static void attributes_are_tested(void **state) {
    (void)state;
    const char *net =
        "x: NHWC 1 4 4 2; w: params HWIO 1 1 2 2; a = Conv2d x w [groups=1 pad_top=2]; b = Conv2d x w "
        "[padding_mode=REFLECT]; "
                      "c = ReLU x [alpha=0.1]; d = Mean x [dim=1,2 keepdim=true]; e = Mean x [dim=1]; f = onnx::Elu x [alpha=0.3]; "
                      "g = onnx::Elu x [times=7]; out a b c d e f g";
#define WITH(test) ((const xir_pattern_row[]){ { XIR_ROW_ANY_OP, XIR_ROW_ATTRS(test) } })
#define ATTRS(expected, ...) roots_are(net, WITH(((xir_pattern_attr)__VA_ARGS__)), 1, false, expected, __LINE__)
    ATTRS("a b", XIR_ATTR_HAS("groups"));
    ATTRS("a", XIR_ATTR_I64("pad_top", 2));
    ATTRS("b", XIR_ATTR_TEXT("padding_mode", "REFLECT"));
    ATTRS("c", XIR_ATTR_REAL("alpha", 0.1));
    ATTRS("f", XIR_ATTR_REAL("alpha", 0.3));
    ATTRS("g", XIR_ATTR_I64("times", 7));
    ATTRS("g", XIR_ATTR_REAL("times", 7));
    ATTRS("d", XIR_ATTR_BOOL("keepdim", true));
    ATTRS("e", XIR_ATTR_BOOL("keepdim", false));
    ATTRS("d", XIR_ATTR_WHERE("dim", is_long));
    ATTRS("b", XIR_ATTR_DEFAULT("pad_top"));
    ATTRS("", XIR_ATTR_DEFAULT("alpha"));
    ATTRS("", XIR_ATTR_DEFAULT("times"));
    ATTRS("", XIR_ATTR_I64("alpha", 0));
    ATTRS("", XIR_ATTR_HAS("nothing"));
    static const xir_pattern_row named[] =
        { { XIR_ROW_OP(xir_conv2d_class), XIR_ROW_ATTRS(XIR_ATTR_I64("pad_top", 2), XIR_ATTR_I64("groups", 1)) } };
    ROOTS(net, named, "a");
    static const xir_pattern_row where[] = { { XIR_ROW_ANY_OP, .where = is_called_b } };
    ROOTS(net, where, "b");
}

static void values_are_tested(void **state) {
    (void)state;
    const char *net = "x: 2 3; y: fp64 2 3; z: 3; a = ReLU x; b = ReLU y; c = ReLU z; d = Add a a; out b c d a";
    static const xir_pattern_row real[] = { { XIR_ROW_OP(xir_relu_class), .element = "@fp(64)" } };
    static const xir_pattern_row plane[] = { { XIR_ROW_OP(xir_relu_class), .where_value = has_two_dims } };
    static const xir_pattern_row thrice[] = { { XIR_ROW_OP(xir_relu_class), .uses = 3 } };
    static const xir_pattern_row once[] =
        { { XIR_ROW_ANY, .uses = 1 }, { XIR_ROW_OP(xir_relu_class), XIR_ROW_INPUTS(0) } };
    ROOTS(net, real, "b");
    ROOTS("x: 2 3; y: 3; a = ReLU x; b = ReLU y; out a b", plane, "a");
    ROOTS("x: 2 3; y: 2 3; a = ReLU x; b = ReLU y; d = Add a a; e = Add b d; out a e", thrice, "a");
    ROOTS("x: 2 3; y: 2 3; a = ReLU x; b = ReLU y; d = Add a x; out b d", once, "b");
    static const xir_pattern_row target[] = { { XIR_ROW_OP(xir_relu_class), .targets = 1u << XIR_TARGET_BUYI } };
    static const xir_pattern_row host[] =
        { { XIR_ROW_OP(xir_relu_class), .targets = 1u << XIR_TARGET_HOST | 1u << XIR_TARGET_BUYI } };
    ROOTS(CHAIN, target, "");
    ROOTS(CHAIN, host, "a c");
}

static void numbers_are_compared(void **state) {
    (void)state;
    static const xir_pattern_row half[] = {
        [0] = { XIR_ROW_ANY }, [1] = { XIR_ROW_NUMBER(0.5) },
        [2] = { XIR_ROW_OP(xir_multiply_class), XIR_ROW_INPUTS(0, 1), .commutes = true },
    };
    ROOTS("x: 2 3; h: 0.5; k: 0.500001; l: params 1 = 0.5; m: params 2 1 = 0.5 0.5; n: params 1 = none; a = Multiply x h; b = Multiply h x; "
          "c = Multiply x k; d = Multiply x l; e = Multiply x m; f = Multiply x n; g = Multiply x x; out a b c d e f g", half, "a b d");
    static const xir_pattern_row rough[] = {
        [0] = { XIR_ROW_ANY }, [1] = { XIR_ROW_NUMBER(0.5), .within = 1e-2 },
        [2] = { XIR_ROW_OP(xir_multiply_class), XIR_ROW_INPUTS(0, 1) },
    };
    ROOTS("x: 2 3; h: 0.504; k: 0.51; a = Multiply x h; b = Multiply x k; out a b", rough, "a");
    static const xir_pattern_row zero[] = {
        [0] = { XIR_ROW_ANY }, [1] = { XIR_ROW_NUMBER(0) },
        [2] = { XIR_ROW_OP(xir_multiply_class), XIR_ROW_INPUTS(0, 1) },
    };
    ROOTS("x: 2 3; h: 0; k: 0.0000001; l: 0.001; a = Multiply x h; b = Multiply x k; c = Multiply x l; out a b c", zero, "a b");
    ROOTS("x: fp64 2 3; h: params fp64 1 = 0.5; a = Multiply x h; out a", half, "a");
}

static void closed_patterns_have_no_outside_uses(void **state) {
    (void)state;
    static const xir_pattern_row rows[] = {
        [0] = { XIR_ROW_ANY }, [1] = { XIR_ROW_OP(xir_relu_class), XIR_ROW_INPUTS(0) },
        [2] = { XIR_ROW_OP(xir_add_class), XIR_ROW_INPUTS(1, 1) },
    };
    const char *net =
        "x: 2 3; r = ReLU x; s = ReLU x; t = ReLU x; a = Add r r; b = Add s s; c = Add t t; d = Tanh s; out a b c d t";
    ROOTS(net, rows, "a b c");
    CLOSED_ROOTS(net, rows, "a");
}

/* ---- choices ---------------------------------------------------------------------------------------------------- */

static void optional_ops(void **state) {
    (void)state;
    static const xir_pattern_row rows[] = {
        [0] = { XIR_ROW_OP(xir_sigmoid_class) },
        [1] = { XIR_ROW_OP(xir_relu_class), XIR_ROW_INPUTS(0), .optional = true },
        [2] = { XIR_ROW_OP(xir_tanh_class), XIR_ROW_INPUTS(1) },
    };
    FIRST("x: 2 3; s = Sigmoid x; r = ReLU s; t = Tanh r; out t", rows, "s r t");
    FIRST("x: 2 3; s = Sigmoid x; t = Tanh s; out t", rows, "s s t");   /* the row stands for the value of its input */
    ROOTS("x: 2 3; s = Sigmoid x; r = ReLU s; q = ReLU r; t = Tanh q; out t", rows, "");
    static const xir_pattern_row any[] = {
        [0] = { XIR_ROW_ANY }, [1] = { XIR_ROW_OP(xir_relu_class), XIR_ROW_INPUTS(0), .optional = true },
        [2] = { XIR_ROW_OP(xir_add_class), XIR_ROW_INPUTS(0, 1) },
    };
    FIRST("x: 2 3; r = ReLU x; a = Add x r; out a", any, "x r a");
    FIRST("x: 2 3; r = ReLU x; a = Add x x; out a", any, "x x a");
    FIRST("x: 2 3; r = ReLU x; a = Add r r; out a r", any, "r r a");   /* matching it would need two different inputs: it is absent */
    FIRST("x: 2 3; z: 2 3; r = ReLU x; a = Add z r; out a", any, "");
}

static void alternatives(void **state) {
    (void)state;
    static const xir_pattern_row rows[] = {
        [0] = { XIR_ROW_ANY }, [1] = { XIR_ROW_OP(xir_relu_class), XIR_ROW_INPUTS(0) },
        [2] = { XIR_ROW_OP(xir_sigmoid_class), XIR_ROW_INPUTS(0) },
        [3] = { XIR_ROW_EITHER(1, 2) }, [4] = { XIR_ROW_OP(xir_multiply_class), XIR_ROW_INPUTS(0, 3) },
    };
    const char *net =
        "x: 2 3; r = ReLU x; s = Sigmoid x; t = Tanh x; a = Multiply x s; b = Multiply x r; c = Multiply x t; out a b c";
    ROOTS(net, rows, "a b");
    FIRST(net, rows, "x . s s a");
    static const xir_pattern_row root[] = {
        [0] = { XIR_ROW_ANY }, [1] = { XIR_ROW_OP(xir_relu_class), XIR_ROW_INPUTS(0) },
        [2] = { XIR_ROW_OP(xir_tanh_class), XIR_ROW_INPUTS(0) },
        [3] = { XIR_ROW_EITHER(2, 1) },
    };
    ROOTS(net, root, "r t");
    FIRST(net, root, "x r . r");
    static const xir_pattern_row value[] = {
        [0] = { XIR_ROW_NUMBER(2) }, [1] = { XIR_ROW_OP(xir_relu_class) }, [2] = { XIR_ROW_EITHER(0, 1) },
        [3] = { XIR_ROW_ANY },
        [4] = { XIR_ROW_OP(xir_multiply_class), XIR_ROW_INPUTS(3, 2), .commutes = true },
    };
    ROOTS("x: 2 3; two: 2; three: 3; r = ReLU x; a = Multiply x two; b = Multiply r x; c = Multiply three x; out a b c", value, "a b");
}

/* A choice that matches at first and fails later is undone together with everything that followed from it. */
static void choices_are_undone(void **state) {
    (void)state;
    static const xir_pattern_row rows[] = {
        [0] = { XIR_ROW_ANY }, [1] = { XIR_ROW_ANY },
        [2] = { XIR_ROW_OP(xir_add_class), XIR_ROW_INPUTS(0, 1), .commutes = true },
        [3] = { XIR_ROW_OP(xir_multiply_class), XIR_ROW_INPUTS(0, 1), .commutes = true },
        [4] = { XIR_ROW_OP(xir_sigmoid_class), XIR_ROW_INPUTS(1) },
        [5] = { XIR_ROW_OP(xir_multiply_class), XIR_ROW_INPUTS(2, 3) },
        [6] = { XIR_ROW_OP(xir_add_class), XIR_ROW_INPUTS(5, 4) },
    };
    FIRST("x: 2 3; y: 2 3; a = Add x y; m = Multiply x y; s = Sigmoid x; n = Multiply a m; z = Add n s; out z", rows, "y x a m s n z");
    FIRST("x: 2 3; y: 2 3; a = Add y x; m = Multiply x y; s = Sigmoid x; n = Multiply a m; z = Add n s; out z", rows, "y x a m s n z");
    FIRST("x: 2 3; y: 2 3; w: 2 3; a = Add x y; m = Multiply x y; s = Sigmoid w; n = Multiply a m; z = Add n s; out z", rows, "");
}

static bool starts_at_y(const xir_match *m, void *user) {
    return (void)user, xir_str_equal(xir_value_name(xir_match_value(m, 0)), XIR_STR("y"));
}

static void the_check_decides_last(void **state) {
    (void)state;
    static const xir_pattern_row rows[] = {
        [0] = { XIR_ROW_ANY }, [1] = { XIR_ROW_ANY },
        [2] = { XIR_ROW_OP(xir_add_class), XIR_ROW_INPUTS(0, 1), .commutes = true },
    };
    xir_pattern_decl decl = { XIR_PATTERN_HEAD("y first", rows), .check = starts_at_y };
    xir_pattern *p = xir_pattern_new(ctx, &decl, why);
    xir_network *net = story_net("x: 2 3; y: 2 3; a = Add x y; b = Add x x; out a b");
    assert_string_equal(xir_pattern_name(p), "y first");
    xir_match m = { 0 };
    assert_true(xir_pattern_next(p, net, &m));
    assert_ptr_equal(m.root, story_op(net, "a"));
    assert_ptr_equal(xir_match_value(&m, 1), story_value(net, "x"));
    assert_true(xir_match_has(&m, m.root));
    assert_false(xir_match_has(&m, story_op(net, "b")));
    xir_user outside[2];
    assert_int_equal(xir_match_outside_users(&m, story_value(net, "x"), outside, 2), 2);
    assert_true(outside[0].op == story_op(net, "b") && outside[1].op == story_op(net, "b"));
    assert_int_equal(xir_match_outside_users(&m, story_value(net, "y"), outside, 2), 0);
    /* the Input makes a value of the match, but is not one of its ops */
    assert_false(xir_match_has(&m, story_op(net, "x")));
    assert_false(xir_pattern_next(p, net, &m));
    assert_false(xir_pattern_match(p, story_op(net, "b"), &m));
    assert_true(xir_pattern_match(p, story_op(net, "a"), &m));
    xir_pattern_free(p);
    xir_network_free(net);
}

/* ---- broken networks and broken tables -------------------------------------------------------------------------- */

static void absent_inputs_and_values_without_a_producer(void **state) {
    (void)state;
    static const xir_pattern_row rows[] = {
        [0] = { XIR_ROW_ANY }, [1] = { XIR_ROW_OP(xir_sigmoid_class), XIR_ROW_INPUTS(0), .element = "@fp(32)" },
        [2] = { XIR_ROW_OP(xir_multiply_class), XIR_ROW_INPUTS(0, 1), .commutes = true },
    };
    xir_network *net = story_net("x: 2 3; s = Sigmoid x; a = Multiply x s; out a");
    xir_pattern *p = make(rows, COUNT(rows), true);
    xir_match m = { 0 };
    assert_true(xir_pattern_match(p, story_op(net, "a"), &m));
    xir_op *a = story_op(net, "a"), *s = story_op(net, "s");
    DOES(xir_value_set_type(xir_op_output(s, 0), NULL));
    assert_false(xir_pattern_match(p, a, &m));
    DOES(xir_op_set_input(a, 0, NULL));
    assert_false(xir_pattern_match(p, a, &m));
    DOES(xir_op_set_input(s, 0, NULL));
    assert_false(xir_pattern_match(p, a, &m));
    DOES(xir_op_set_input(s, 0, xir_op_output(a, 0)));   /* a cycle */
    DOES(xir_op_set_input(a, 0, xir_op_output(a, 0)));
    assert_false(xir_pattern_match(p, a, &m));
    DOES(xir_value_set_type(xir_op_output(s, 0), xir_value_type(xir_op_output(a, 0))));
    (void)xir_pattern_match(p, a, &m);   /* with any result, it terminates */
    xir_op_clear_inputs(a);
    xir_op_clear_inputs(s);
    assert_false(xir_pattern_match(p, a, &m));
    xir_pattern_free(p);
    xir_network_free(net);
}

#define REFUSED(code, part, ...)                                                                        \
    do {                                                                                                \
        static const xir_pattern_row rows_[] = { __VA_ARGS__ };                                         \
        xir_pattern_decl decl_ = { XIR_PATTERN_HEAD("bad", rows_) };                                    \
        if (xir_pattern_new(ctx, &decl_, why)) fail_msg("line %d: it is accepted", __LINE__);              \
        check_finding(code, part);                                                                      \
    } while (0)
#define RELU XIR_ROW_OP(xir_relu_class)

static const xir_class_decl *nobody(void) {
    static const xir_row rows[] = { { .decl = XIR_DECL_OP, .name = "test::Nobody" }, { .decl = XIR_DECL_END } };
    static const xir_class_decl decl = { XIR_ABI, sizeof(xir_class_decl), sizeof(xir_row), rows };
    return &decl;
}

static void invalid_tables_are_refused(void **state) {
    (void)state;
    REFUSED(XIR_E_INVALID, "pattern 'bad', row 0: it names row 0", [0] = { RELU, XIR_ROW_INPUTS(0) });
    REFUSED(XIR_E_INVALID, "row 0: it names row 1", [0] = { RELU, XIR_ROW_INPUTS(1) }, [1] = { RELU });
    REFUSED(XIR_E_INVALID, "row 0: the root does not reach it", [0] = { XIR_ROW_ANY }, [1] = { RELU });
    REFUSED(XIR_E_INVALID, "row 0: the row has no kind", [1] = { RELU, XIR_ROW_INPUTS(0) });
    REFUSED(XIR_E_INVALID, "the root must be an op", [0] = { XIR_ROW_ANY });
    REFUSED(XIR_E_INVALID, "the root must be an op", [0] = { XIR_ROW_ANY }, [1] = { XIR_ROW_EITHER(0) });
    REFUSED(XIR_E_INVALID, "the root must not be optional", [0] = { XIR_ROW_ANY }, [1] = { RELU, XIR_ROW_INPUTS(0), .optional = true });
    REFUSED(XIR_E_INVALID, "row 0: an optional op must have an input", [0] = { RELU, .optional = true }, [1] = { RELU, XIR_ROW_INPUTS(0) });
    REFUSED(XIR_E_INVALID, "expected at least two inputs that commute", [0] = { XIR_ROW_ANY }, [1] = { RELU, XIR_ROW_INPUTS(0), .commutes = true });
    REFUSED(XIR_E_INVALID, "a REST must be the last", [0] = { XIR_ROW_REST }, [1] = { XIR_ROW_ANY }, [2] = { RELU, XIR_ROW_INPUTS(0, 1) });
    REFUSED(XIR_E_INVALID, "a REST must be the last", [0] = { XIR_ROW_REST }, [1] = { XIR_ROW_EITHER(0) }, [2] = { RELU, XIR_ROW_INPUTS(1) });
    REFUSED(XIR_E_INVALID, "expected an output of the row of an op", [0] = { XIR_ROW_ANY }, [1] = { XIR_ROW_OUTPUT(0, 1) }, [2] = { RELU, XIR_ROW_INPUTS(1) });
    REFUSED(XIR_E_INVALID, "it has no alternatives", [0] = { .kind = XIR_PATTERN_EITHER }, [1] = { RELU, XIR_ROW_INPUTS(0) });
    REFUSED(XIR_E_UNKNOWN, "'@fp(31)' is not an element type", [0] = { RELU, .element = "@fp(31)" });
    REFUSED(XIR_E_UNKNOWN, "class test::Nobody is not registered", [0] = { XIR_ROW_OP(nobody) });
    xir_pattern_row many[XIR_PATTERN_ROWS + 1] = { { RELU } };
    for (size_t i = 1; i < COUNT(many); i++) many[i] = (xir_pattern_row){ RELU };
    xir_pattern_decl decl = { XIR_PATTERN_HEAD("large", many) };
    assert_null(xir_pattern_new(ctx, &decl, why));
    check_finding(XIR_E_LIMIT, "expected 1 to 64 rows, found 65");
    for (size_t i = 0; i < 14; i++) {   /* row i has row i - 1 sixteen times */
        many[i] = i ? (xir_pattern_row){ RELU, .n_inputs = 16 } : (xir_pattern_row){ XIR_ROW_ANY };
        memset(many[i].inputs, i ? (int)i - 1 : 0, sizeof many[i].inputs);
    }
    decl.n_rows = 13;
    xir_pattern_free(xir_pattern_new(ctx, &decl, why));   /* the maximum number */
    decl.n_rows = 14;
    assert_null(xir_pattern_new(ctx, &decl, why));
    check_finding(XIR_E_LIMIT, "at most 192 inputs");
    decl.n_rows = 2;
    many[1].n_inputs = 17;
    assert_null(xir_pattern_new(ctx, &decl, why));
    check_finding(XIR_E_LIMIT, "expected at most 16 inputs, found 17");
    many[1].n_inputs = 16;
    decl.abi++;
    assert_null(xir_pattern_new(ctx, &decl, why));
    check_finding(XIR_E_ABI, "another version");
    decl.abi--;
    decl.n_rows = 0;
    assert_null(xir_pattern_new(ctx, &decl, why));
    check_finding(XIR_E_INVALID, "rows, found 0");
    xir_pattern_free(NULL);
}

/* The data that a declaration points to can be freed after the pattern is made, and so can the caller's context. */
static void a_pattern_copies_what_it_needs(void **state) {
    (void)state;
    xir_context *own = xir_context_new(NULL);
    char name[] = "short-lived", attr[] = "alpha";
    xir_pattern_row rows[] = { { XIR_ROW_ANY }, { RELU, XIR_ROW_INPUTS(0), XIR_ROW_ATTRS(XIR_ATTR_REAL(attr, 0)) } };
    xir_pattern_decl decl = { XIR_PATTERN_HEAD(name, rows) };
    xir_pattern *p = xir_pattern_new(own, &decl, NULL);
    memset(name, '?', sizeof name - 1);
    memset(attr, '?', sizeof attr - 1);
    memset(rows, 9, sizeof rows);
    xir_network *net = story_net_in(own, "x: 2 3; a = ReLU x; out a");
    xir_match m = { 0 };
    assert_true(xir_pattern_next(p, net, &m));
    assert_string_equal(xir_pattern_name(p), "short-lived");
    xir_network_free(net);
    xir_context_free(own);
    xir_pattern_free(p);
}

/* Many threads search for one pattern in one network. */
typedef struct looking { const xir_pattern *pattern; xir_network *net; size_t found; } looking;

static void *look(void *user) {
    looking *l = user;
    for (int i = 0; i < 50; i++) {
        xir_match m = { 0 };
        while (xir_pattern_next(l->pattern, l->net, &m)) l->found++;
    }
    return NULL;
}

static void threads_share_a_pattern(void **state) {
    (void)state;
    static const xir_pattern_row rows[] = {
        [0] = { XIR_ROW_ANY }, [1] = { XIR_ROW_NUMBER(0.5) },
        [2] = { XIR_ROW_OP(xir_multiply_class), XIR_ROW_INPUTS(0, 1), .commutes = true },
    };
    xir_network *net = story_net("x: 2 3; h: 0.5; a = Multiply x h; b = Multiply h a; c = Multiply x b; out c");
    xir_pattern *p = make(rows, COUNT(rows), false);
    looking all[4];
    pthread_t threads[4];
    for (size_t i = 0; i < COUNT(all); i++) {
        all[i] = (looking){ p, net, 0 };
        assert_int_equal(pthread_create(&threads[i], NULL, look, &all[i]), 0);
    }
    for (size_t i = 0; i < COUNT(all); i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(all[i].found, 100);
    }
    xir_pattern_free(p);
    xir_network_free(net);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ops_are_found_by_class),
        cmocka_unit_test(ops_are_found_by_traits_with_names),
        cmocka_unit_test(ops_are_found_by_key),
        cmocka_unit_test(a_pattern_is_the_whole_cone),
        cmocka_unit_test(inputs_are_found_by_position),
        cmocka_unit_test(a_shared_row_is_one_value),
        cmocka_unit_test(inputs_that_are_not_listed_are_absent),
        cmocka_unit_test(any_number_of_inputs),
        cmocka_unit_test(outputs_are_distinguished),
        cmocka_unit_test(attributes_are_tested),
        cmocka_unit_test(values_are_tested),
        cmocka_unit_test(numbers_are_compared),
        cmocka_unit_test(closed_patterns_have_no_outside_uses),
        cmocka_unit_test(optional_ops),
        cmocka_unit_test(alternatives),
        cmocka_unit_test(choices_are_undone),
        cmocka_unit_test(the_check_decides_last),
        cmocka_unit_test(absent_inputs_and_values_without_a_producer),
        cmocka_unit_test(invalid_tables_are_refused),
        cmocka_unit_test(a_pattern_copies_what_it_needs),
        cmocka_unit_test(threads_share_a_pattern),
    };
    return RUN_GROUP(tests);
}
