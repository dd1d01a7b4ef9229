/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Patterns composed from parts: they match as tables do, parts are used again and again, and what cannot be composed is
 * refused with the first failure. */
#include <pthread.h>
#include <string.h>
#include "support/scarce.h"
#include "support/story.h"
#include <xir/pattern_build.h>

static xir_parts *of;

static int begin_test(void **state) {
    (void)state;
    of = xir_parts_new(ctx);
    return of ? 0 : -1;
}

static int end_test(void **state) {
    (void)state;
    xir_parts_free(of);
    xir_diags_clear(why);
    return 0;
}

static const xir_pattern_decl plain = { XIR_PATTERN_HEAD_OF("it") };

static xir_pattern *pattern(const xir_part *root, const xir_pattern_decl *decl) {
    xir_pattern *p = xir_parts_pattern(of, root, decl, why);
    if (!p) xir_diags_print(why, stderr);
    assert_non_null(p);
    return p;
}

/* The roots of all matches by name, "y z"; frees the pattern. */
static void roots_are(const char *story, xir_pattern *p, const char *expected, int line) {
    xir_network *net = story_net(story);
    char found[200] = "";
    xir_match m = { 0 };
    while (xir_pattern_next(p, net, &m)) {
        xir_str name = xir_op_name(m.root);
        snprintf(found + strlen(found), 20, "%s%.*s", *found ? " " : "", (int)name.size, name.data);
    }
    if (strcmp(found, expected) != 0) fail_msg("line %d: found '%s', expected '%s'", line, found, expected);
    xir_pattern_free(p);
    xir_network_free(net);
}
#define ROOTS(story, root, expected) roots_are(story, pattern(root, &plain), expected, __LINE__)

#define RELU    XIR_ROW_OP(xir_relu_class)
#define SIGMOID XIR_ROW_OP(xir_sigmoid_class)
#define ADD     XIR_ROW_OP(xir_add_class)
#define MUL     XIR_ROW_OP(xir_multiply_class)

/* ---- what parts match ------------------------------------------------------------------------------------------- */

static void parts_match_as_rows_do(void **state) {
    (void)state;
    xir_part *x = xir_part_any(of), *gate = XIR_PART(of, XIR_WITH(x), SIGMOID);
    xir_part *out = XIR_PART(of, XIR_WITH(x, gate), MUL, .commutes = true);
    ROOTS("x: 2 3; s = Sigmoid x; y = Multiply s x; z = Multiply y s; out z", out, "y");
    /* the same by keys, without macros of C */
    xir_part *s = xir_part_op(of, "icraft::xir::Sigmoid|icraft::xir::Tanh", &x, 1);
    xir_part *const both[] = { s, x };
    ROOTS("x: 2 3; s = Tanh x; y = Multiply s x; out y", xir_part_op(of, "icraft::xir::Multiply", both, 2), "y");
    ROOTS("x: 2 3; s = Sigmoid x; y = Multiply s x; out y", xir_part_op(of, NULL, NULL, 0), "in s y ");
}

static void every_kind_of_part(void **state) {
    (void)state;
    xir_part *x = xir_part_any(of), *w = xir_part_params(of), *rest = xir_part_rest(of);
    xir_part *half = XIR_PART(of, XIR_WITH_ANY, XIR_ROW_NUMBER(0.5));
    ROOTS("x: 2 3; w: params 2 3; a = Add x w; b = Add x x; out a b", XIR_PART(of, XIR_WITH(x, w), ADD), "a");
    ROOTS("x: 2 3; h: 0.5; w: params 2 3; a = Add x w; b = Multiply x h; out a b", XIR_PART(of, XIR_WITH(x, half), MUL), "b");
    ROOTS("x: 2 3; a = Concat x x x [axis=0]; b = Concat x [axis=0]; out a b",
          XIR_PART(of, XIR_WITH(x, rest), XIR_ROW_OP(xir_concat_class)), "a b");
    xir_part *choices[] = { XIR_PART(of, XIR_WITH(x), RELU), XIR_PART(of, XIR_WITH(x), SIGMOID) };
    xir_part *either = xir_part_either(of, choices, 2);
    ROOTS("x: 2 3; r = ReLU x; s = Sigmoid x; t = Tanh x; a = Add r x; b = Add s x; c = Add t x; out a b c",
          XIR_PART(of, XIR_WITH(either, x), ADD), "a b");
    xir_part *perhaps = XIR_PART(of, XIR_WITH(x), RELU, .optional = true);
    ROOTS("x: 2 3; r = ReLU x; s = Sigmoid r; t = Sigmoid x; out s t", XIR_PART(of, XIR_WITH(perhaps), SIGMOID), "s t");
    xir_part *two = XIR_PART(of, XIR_WITH(x), XIR_ROW_OP(xir_split_class));
    xir_part *second = xir_part_output(of, two, 1);
    ROOTS("x: * 4; p, q = Split x [sections=2,2]; a = Concat p q [axis=0]; b = Concat q p [axis=0]; out a b",
          XIR_PART(of, XIR_WITH(second, two), XIR_ROW_OP(xir_concat_class)), "b");
}

static bool is_named_r(const xir_op *op, void *user) { return xir_str_equal(xir_op_name(op), xir_str_of(user)); }
static bool has_type(const xir_match *m, void *user) { return ++*(int *)user, m->root; }

static void conditions_of_ops_and_values(void **state) {
    (void)state;
    xir_part *x = xir_part_any(of);
    ROOTS("x: 2 3; a = ReLU x [alpha=0.5]; b = ReLU x; out a b",
          XIR_PART(of, XIR_WITH(x), RELU, XIR_ROW_ATTRS(XIR_ATTR_REAL("alpha", 0.5))), "a");
    ROOTS("x: 2 3; a = ReLU x; b = ReLU a; c = ReLU a; out b c", XIR_PART(of, XIR_WITH(x), RELU, .uses = 2), "a");
    ROOTS("x: 2 3; h: fp16 2 3; a = ReLU x; b = ReLU h; out a b", XIR_PART(of, XIR_WITH(x), RELU, .element = "@fp(16)"), "b");
    /* whole types: dims and layout count */
    const xir_type *type = FP32("**", 2, 3);
    ROOTS("x: 2 3; y: 3 2; z: NC 2 3; a = ReLU x; b = ReLU y; c = ReLU z; out a b c",
          XIR_PART(of, XIR_WITH(x), RELU, .type = type), "a");
    /* predicates, each with data of its own */
    xir_part *r = XIR_PART(of, XIR_WITH(x), RELU, .where = is_named_r, .user = (void *)(uintptr_t)"r");
    xir_part *s = XIR_PART(of, XIR_WITH(r), RELU, .where = is_named_r, .user = (void *)(uintptr_t)"s");
    ROOTS("x: 2 3; r = ReLU x; s = ReLU r; t = ReLU r; out s t", s, "s");
    int asked = 0;
    const xir_pattern_decl decl = { XIR_PATTERN_HEAD_OF("it"), .check = has_type, .user = &asked };
    roots_are("x: 2 3; r = ReLU x; s = ReLU r; t = ReLU r; out s t", pattern(s, &decl), "s", __LINE__);
    assert_int_equal(asked, 1);
}

/* A type of a network lives on in the pattern. */
static void a_type_is_kept_when_its_network_is_freed(void **state) {
    (void)state;
    xir_network *net = story_net("x: NHWC 1 2 3 4; a = ReLU x; out a");
    xir_part *x = XIR_PART(of, XIR_WITH_ANY, XIR_ROW_ANY, .type = xir_value_type(story_value(net, "a")));
    xir_part *root = XIR_PART(of, XIR_WITH(x), RELU);
    xir_network_free(net);
    ROOTS("x: NHWC 1 2 3 4; y: NHWC 1 2 3 5; a = ReLU x; b = ReLU y; out a b", root, "a");
    static const xir_pattern_row rows[] = { { RELU, .type = NULL } };
    xir_pattern_row typed[] = { rows[0] };
    typed[0].type = FP32("**", 2, 3);
    const xir_pattern_decl table = { XIR_PATTERN_HEAD("table", typed) };
    roots_are("x: 2 3; y: 3 2; a = ReLU x; b = ReLU y; out a b", xir_pattern_new(ctx, &table, why), "a", __LINE__);
}

/* ---- reuse ------------------------------------------------------------------------------------------------------ */

static void a_part_is_one_value_in_a_pattern_and_serves_in_many(void **state) {
    (void)state;
    xir_part *x = xir_part_any(of), *r = XIR_PART(of, XIR_WITH(x), RELU);
    xir_part *sum = XIR_PART(of, XIR_WITH(r, r), ADD), *product = XIR_PART(of, XIR_WITH(r, x), MUL);
    const char *story = "x: 2 3; r = ReLU x; s = ReLU x; a = Add r r; b = Add r s; c = Multiply s x; out a b c";
    ROOTS(story, sum, "a");
    ROOTS(story, product, "c");
    ROOTS(story, r, "r s");
    /* as deep as the limit allows: every level uses the one below it twice */
    xir_part *level = x;
    for (int i = 0; i < XIR_PATTERN_ROWS - 1; i++) level = XIR_PART(of, XIR_WITH(level, level), ADD);
    xir_pattern_free(pattern(level, &plain));
}

static void matches_are_asked_by_part(void **state) {
    (void)state;
    xir_part *unused = xir_part_any(of), *x = xir_part_any(of), *gate = XIR_PART(of, XIR_WITH(x), SIGMOID);
    xir_part *out = XIR_PART(of, XIR_WITH(x, gate), MUL);
    xir_pattern *p = pattern(out, &plain);
    xir_parts *other = xir_parts_new(ctx);
    xir_part *strange = xir_part_any(other);
    xir_parts_free(of);   /* the pattern keeps the parts */
    of = NULL;
    xir_network *net = story_net("x: 2 3; s = Sigmoid x; y = Multiply x s; out y");
    xir_match m = { 0 };
    assert_null(xir_match_part_op(&m, out));
    assert_true(xir_pattern_next(p, net, &m));
    assert_ptr_equal(xir_match_part_value(&m, x), story_value(net, "x"));
    assert_ptr_equal(xir_match_part_op(&m, gate), story_op(net, "s"));
    assert_ptr_equal(xir_match_part_op(&m, out), m.root);
    assert_null(xir_match_part_value(&m, unused));
    assert_null(xir_match_part_value(&m, strange));
    assert_null(xir_match_part_op(&m, NULL));
    assert_null(xir_match_part_op(NULL, out));
    xir_network_free(net);
    xir_pattern_free(p);
    xir_parts_free(other);
}

static xir_verdict to_silu(xir_rewriter *at, const xir_match *m, const void *user) {
    (void)at;
    const xir_part *x = user;
    return xir_match_replace(m, XIR_OP(xir_match_at(m), silu, .input = xir_match_part_value(m, x)));
}

static void composed_patterns_rewrite(void **state) {
    (void)state;
    xir_part *x = xir_part_any(of), *gate = XIR_PART(of, XIR_WITH(x), SIGMOID);
    const xir_pattern_decl closed = { XIR_PATTERN_HEAD_OF("silu"), .closed = true };
    xir_pattern *p = pattern(XIR_PART(of, XIR_WITH(x, gate), MUL, .commutes = true), &closed);
    xir_network *net = story_net("x: 2 3; s = Sigmoid x; y = Multiply s x; t = Sigmoid y; z = Multiply y t; out z");
    const xir_rule rule = { p, to_silu, x };
    size_t n;
    DOES(xir_network_rewrite(net, &rule, 1, sizeof rule, 0, &n, why));
    assert_int_equal(n, 2);
    CHECK_STORY(net, "y = SiLU x; z = SiLU y; out z");
    xir_pattern_free(p);
    xir_network_free(net);
}

/* Texts are copied when a part is made. */
static void what_a_row_points_to_may_go(void **state) {
    (void)state;
    char keys[] = "icraft::xir::ReLU", name[] = "alpha", element[] = "@fp(32)";
    xir_pattern_row row = { .kind = XIR_PATTERN_OP, .keys = keys, .element = element,
                            XIR_ROW_ATTRS(XIR_ATTR_REAL(name, 0.5)) };
    xir_part *part = xir_part_new(of, &row, sizeof row, NULL, 0);
    memset(keys, '#', sizeof keys - 1);
    memset(name, '#', sizeof name - 1);
    memset(element, '#', sizeof element - 1);
    memset(&row, 0, sizeof row);
    ROOTS("x: 2 3; a = ReLU x [alpha=0.5]; b = ReLU x; out a b", part, "a");
}

/* ---- refusals --------------------------------------------------------------------------------------------------- */

static void refused(const xir_part *root, const xir_pattern_decl *decl, xir_status code, const char *sentence) {
    assert_null(xir_parts_pattern(of, root, decl, why));
    check_finding(code, sentence);
}

static void the_first_failure_sticks(void **state) {
    (void)state;
    xir_parts *other = xir_parts_new(ctx);
    xir_part *strange = xir_part_any(other), *x = xir_part_any(of);
    assert_int_equal(xir_parts_status(of), XIR_OK);
    xir_part *wrong = XIR_PART(of, XIR_WITH(x, strange), ADD), *above = XIR_PART(of, XIR_WITH(wrong), RELU);
    assert_null(wrong);
    assert_null(above);   /* NULL is a consequence, not a second failure */
    assert_int_equal(xir_parts_status(of), XIR_E_INVALID);
    refused(above, &plain, XIR_E_INVALID, "pattern 'it': part 1: input 1 is of another builder");
    refused(x, &plain, XIR_E_INVALID, "of another builder");
    xir_parts_free(other);
}

/* Each in a builder of its own. */
static void refuses_part(const xir_pattern_row *row, size_t size, xir_part *const *inputs, size_t n, xir_status code,
                         const char *sentence) {
    xir_parts *mine = of;
    of = xir_parts_new(ctx);
    assert_null(xir_part_new(of, row, size, inputs, n));
    assert_int_equal(xir_parts_status(of), code);
    refused(NULL, &plain, code, sentence);
    xir_parts_free(of);
    of = mine;
}

static void parts_that_cannot_be_are_refused(void **state) {
    (void)state;
    const size_t size = sizeof(xir_pattern_row);
    const xir_pattern_row relu = { RELU }, none = { .kind = XIR_PATTERN_NONE }, strange = { .kind = 99 },
                          own = { RELU, XIR_ROW_INPUTS(0) };
    struct { xir_pattern_row row; uint64_t more; } wide = { { RELU }, 1 };
    xir_part *many[XIR_ROW_MAX_INPUTS + 1] = { NULL };
    refuses_part(NULL, size, NULL, 0, XIR_E_MISSING, "the row of part 0 is NULL");
    refuses_part(&none, size, NULL, 0, XIR_E_INVALID, "part 0 has no kind");
    refuses_part(&strange, size, NULL, 0, XIR_E_INVALID, "part 0 has no kind");
    refuses_part(&own, size, NULL, 0, XIR_E_INVALID, "has inputs of its own");
    refuses_part(&relu, 8, NULL, 0, XIR_E_ABI, "expected a row of sizeof(xir_pattern_row) bytes, found 8");
    refuses_part(&wide.row, sizeof wide, NULL, 0, XIR_E_UNSUPPORTED, "sets a member that this version does not know");
    refuses_part(&relu, size, many, COUNT(many), XIR_E_LIMIT, "expected at most 16 inputs, found 17");
    refuses_part(&relu, size, many, 1, XIR_E_MISSING, "part 0: input 0 is NULL");
    refuses_part(&relu, size, NULL, 1, XIR_E_MISSING, "its inputs are NULL");
    assert_null(xir_part_any(NULL));
    assert_int_equal(xir_parts_status(NULL), XIR_E_MISSING);
}

static const xir_class_decl *unknown_class(void) {
    static const xir_row rows[] = { { .decl = XIR_DECL_OP, .name = "test::Nobody" }, { .decl = XIR_DECL_END } };
    static const xir_class_decl decl = { .rows = rows };
    return &decl;
}

static void patterns_that_cannot_be_are_refused(void **state) {
    (void)state;
    xir_part *x = xir_part_any(of), *r = XIR_PART(of, XIR_WITH(x), RELU);
    xir_parts *other = xir_parts_new(ctx);
    const xir_pattern_row rows[] = { { RELU } };
    const xir_pattern_decl with_rows = { XIR_PATTERN_HEAD("it", rows) }, nameless = { XIR_PATTERN_HEAD_OF(NULL) };
    xir_pattern_decl old = plain, wide[2] = { plain, plain };
    old.abi++;
    wide[0].size = sizeof wide;
    refused(NULL, &plain, XIR_E_MISSING, "its root is NULL");
    refused(x, &plain, XIR_E_INVALID, "the root must be an op");
    refused(xir_part_any(other), &plain, XIR_E_INVALID, "its root is of another builder");
    refused(r, &with_rows, XIR_E_INVALID, "of parts has rows too");
    refused(r, &nameless, XIR_E_INVALID, "expected 1 to 64 rows");
    refused(r, &old, XIR_E_ABI, "another version of the binary interface");
    refused(r, &wide[0], XIR_E_UNSUPPORTED, "the pattern sets a member that this version does not know");
    refused(r, NULL, XIR_E_MISSING, "declaration");
    refused(XIR_PART(of, XIR_WITH(x), RELU, .element = "@what"), &plain, XIR_E_UNKNOWN, "row 1: '@what' is not an");
    refused(XIR_PART(of, XIR_WITH(x), XIR_ROW_OP(unknown_class)), &plain, XIR_E_UNKNOWN,
            "test::Nobody is not registered");
    refused(XIR_PART(of, XIR_WITH(xir_part_rest(of), x), ADD), &plain, XIR_E_INVALID, "REST must be the last");
    refused(xir_part_output(of, x, 1), &plain, XIR_E_INVALID, "expected an output of the row of an op");
    xir_part *level = x;
    for (int i = 0; i < XIR_PATTERN_ROWS; i++) level = XIR_PART(of, XIR_WITH(level), RELU);
    refused(level, &plain, XIR_E_LIMIT, "expected at most 64 parts, found more");
    xir_part *wide_sum = r;
    for (int i = 0; i < 30; i++)
        wide_sum = XIR_PART(of, XIR_WITH(r, r, r, r, r, r, r, wide_sum), XIR_ROW_OP(xir_concat_class));
    refused(wide_sum, &plain, XIR_E_LIMIT, "expected at most 192 inputs in all rows together");
    assert_null(xir_parts_pattern(NULL, r, &plain, why));
    check_finding(XIR_E_MISSING, "builder");
    xir_pattern_free(pattern(r, &plain));   /* failures of patterns do not stick */
    xir_parts_free(other);
}

/* A builder with many parts costs a pattern only its own. */
static void other_parts_cost_nothing(void **state) {
    (void)state;
    xir_part *x = xir_part_any(of), *last = NULL;
    for (int i = 0; i < 100000; i++) last = XIR_PART(of, XIR_WITH(x), RELU);
    for (int i = 0; i < 1000; i++) xir_pattern_free(pattern(last, &plain));
    ROOTS("x: 2 3; a = ReLU x; out a", last, "a");
}

/* ---- random ----------------------------------------------------------------------------------------------------- */

/* The same rows as a table and as parts, which the parts name in the same order. */
static void parts_and_tables_find_the_same(void **state) {
    (void)state;
    size_t matches = 0;
    for (int i = 0; i < 3000; i++) {
        xir_pattern_row rows[8];
        xir_part *parts[8];
        xir_parts *own = xir_parts_new(ctx);
        const size_t n = 2 + chance(6);
        for (size_t k = 0; k < n; k++) {
            xir_pattern_row row = { XIR_ROW_ANY };
            xir_part *inputs[2] = { NULL };
            size_t n_in = 0;
            if (k) {
                row = chance(2) ? (xir_pattern_row){ RELU } : (xir_pattern_row){ ADD, .commutes = true };
                n_in = row.commutes ? 2 : 1;
                row.optional = k + 1 < n && chance(4) == 0;
            }
            rows[k] = row;
            rows[k].n_inputs = n_in;
            for (size_t j = 0; j < n_in; j++) {   /* the row before it, so that the root reaches all */
                rows[k].inputs[j] = (uint8_t)(j ? chance(k) : k - 1);
                inputs[j] = parts[rows[k].inputs[j]];
            }
            parts[k] = xir_part_new(own, &row, sizeof row, inputs, n_in);
        }
        xir_pattern_decl table = { XIR_PATTERN_HEAD("table", rows), .closed = i % 2 }, composed = plain;
        table.n_rows = n;
        composed.closed = i % 2;
        xir_pattern *a = xir_pattern_new(ctx, &table, why), *b = xir_parts_pattern(own, parts[n - 1], &composed, why);
        assert_non_null(a);
        assert_non_null(b);
        xir_network *net = new_net();
        xir_at at = xir_at_end(net);
        xir_value *v[12] = { xir_input(at, "x", FP32("*", 4)) };
        for (size_t k = 1; k < COUNT(v); k++) {
            xir_value *one = v[k - 1 - chance(k < 3 ? k : 3)], *two = v[chance(k)];
            v[k] = chance(2) ? xir_build_relu(at, one, "r") : xir_build_add(at, one, two, 1, 1, "a");
        }
        xir_match m = { 0 }, found = { 0 };
        bool more = true;
        while (more) {
            more = xir_pattern_next(a, net, &m);
            assert_int_equal(xir_pattern_next(b, net, &found), more);
            assert_ptr_equal(m.root, found.root);
            for (size_t k = 0; k < n && more; k++) {
                assert_ptr_equal(xir_match_part_op(&found, parts[k]), xir_match_op(&m, (unsigned)k));
                assert_ptr_equal(xir_match_part_value(&found, parts[k]), xir_match_value(&m, (unsigned)k));
            }
            matches += more;
        }
        xir_network_free(net);
        xir_pattern_free(a);
        xir_pattern_free(b);
        xir_parts_free(own);
    }
    if (matches < 1000) fail_msg("%zu matches: too few for a conclusion", matches);
}

/* ---- threads and memory ----------------------------------------------------------------------------------------- */

static xir_context *shared;   /* the group's allocator is for one thread */

static void *search(void *user) {
    xir_network *net = xir_network_new(shared, "net", XIR_FRAMEWORK_PYTORCH, "");
    const xir_type *fp32 = xir_type_float(shared, XIR_FLOAT_FP32);
    xir_value *x = xir_input(xir_at_end(net), "x", XIR_TENSOR(shared, fp32, "*", 4));
    for (int i = 0; i < 100; i++) x = XIR_RELU(xir_at_end(net), x);
    xir_match m = { 0 };
    size_t n = 0;
    while (xir_pattern_next(user, net, &m)) n++;
    xir_pattern_free(user);
    xir_network_free(net);
    return (void *)(uintptr_t)n;
}

/* Patterns of one builder end in several threads. */
static void threads_share_parts(void **state) {
    (void)state;
    pthread_t threads[4];
    shared = xir_context_new(NULL);
    xir_parts *parts = xir_parts_new(shared);
    xir_part *root = XIR_PART(parts, XIR_WITH(xir_part_any(parts)), RELU);
    for (size_t i = 0; i < COUNT(threads); i++) {
        xir_pattern *p = xir_parts_pattern(parts, root, &plain, why);
        assert_int_equal(pthread_create(&threads[i], NULL, search, p), 0);
    }
    xir_parts_free(parts);
    for (size_t i = 0; i < COUNT(threads); i++) {
        void *n;
        pthread_join(threads[i], &n);
        assert_int_equal((uintptr_t)n, 100);
    }
    xir_context_free(shared);
}

/* A part that could not be made for lack of memory fails the pattern; then all is made again. */
static xir_pattern *compose(want *w) {
    xir_parts *own = xir_parts_new(w->ctx);
    xir_diags *found = w->why;
    if (!own) return xir_diags_add(found, XIR_ERROR, XIR_E_MEMORY, XIR_STR(""), "out of memory"), NULL;
    const xir_type *type = XIR_TENSOR(w->ctx, xir_type_float(w->ctx, XIR_FLOAT_FP32), "*", 4);
    xir_part *x = XIR_PART(own, XIR_WITH_ANY, XIR_ROW_ANY, .type = type);
    xir_part *r = xir_part_op(own, "icraft::xir::ReLU|test::Relu", &x, 1);
    xir_part *s = XIR_PART(own, XIR_WITH(r), XIR_ROW_OP(xir_relu_class), XIR_ROW_ATTRS(XIR_ATTR_TEXT("alpha", "1")));
    xir_pattern *p = xir_parts_pattern(own, XIR_PART(own, XIR_WITH(r, s), ADD), &plain, found);
    xir_parts_free(own);
    return p;
}

static void composing(want *w) {
    xir_pattern *p;
    TRY_MAKE(w, p, compose(w));
    xir_pattern_free(p);
}

static void failing_allocations_leak_nothing(void **state) {
    (void)state;
    run_scarcely("composing", composing, false);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin_test, end_test)

GROUP {
    const struct CMUnitTest tests[] = {
        TEST(parts_match_as_rows_do),
        TEST(every_kind_of_part),
        TEST(conditions_of_ops_and_values),
        TEST(a_type_is_kept_when_its_network_is_freed),
        TEST(a_part_is_one_value_in_a_pattern_and_serves_in_many),
        TEST(matches_are_asked_by_part),
        TEST(composed_patterns_rewrite),
        TEST(what_a_row_points_to_may_go),
        TEST(the_first_failure_sticks),
        TEST(parts_that_cannot_be_are_refused),
        TEST(patterns_that_cannot_be_are_refused),
        TEST(other_parts_cost_nothing),
        TEST(parts_and_tables_find_the_same),
        TEST(threads_share_parts),
        cmocka_unit_test(failing_allocations_leak_nothing),
    };
    return RUN_GROUP(tests);
}
