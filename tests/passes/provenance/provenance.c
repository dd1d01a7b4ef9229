/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The sources of ops after passes, edits and copies; tags, and files whose tags make no sense; the end of memory. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <xir/mapping.h>
#include <xir/pass.h>
#include <xir/region.h>
#include <xir/icraft.h>
#include "support/crew.h"
#include "support/path_rule.h"
#include "support/scarce.h"
#include "support/story.h"

/* ---- answers as text -------------------------------------------------------------------------------------------- */

typedef struct words { char text[4000]; size_t n; } words;

static void put(words *w, const char *format, ...) {
    va_list args;
    va_start(args, format);
    w->n += (size_t)vsnprintf(w->text + w->n, sizeof w->text - w->n, format, args);
    va_end(args);
    assert_true(w->n < sizeof w->text);
}

static void put_name(words *w, xir_str name, const xir_class *cls) {
    const xir_str key = name.size || !cls ? name : xir_class_key(cls);
    put(w, "%.*s", (int)key.size, key.data);
}

static const xir_provenance_source *source_of(const xir_provenance *p, int64_t id) {
    const xir_provenance_source *s;
    for (size_t i = 0; (s = xir_provenance_source_at(p, i)); i++)
        if (s->id == id) return s;
    fail_msg("no source has the id %d", (int)id);
    return NULL;
}

static void put_sources(words *w, const xir_provenance *p, const int64_t *ids, size_t n) {
    for (size_t i = 0; i < n; i++) {
        const xir_provenance_source *s = source_of(p, ids[i]);
        put(w, "%s", i ? "+" : "");
        if (s->cls) put_name(w, s->name, s->cls);
        else put(w, "%" PRId64, s->id);
    }
}

/* "y: s+y; out: out": each op with its sources, without the ends of the network; then Params that have some. */
static const char *answers(const xir_provenance *p) {
    static words w;
    int64_t ids[32];
    size_t n;
    const xir_network *net = xir_provenance_network(p);
    w = (words){ .n = 0 };
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) {
        if (xir_op_is(op, xir_output_class())) continue;
        assert_int_equal(xir_provenance_of_op(p, op, ids, COUNT(ids), &n), XIR_OK);
        if (xir_op_is(op, xir_input_class()) && n == 1) continue;
        put(&w, "%s", w.n ? "; " : "");
        put_name(&w, xir_op_name(op), xir_op_class(op));
        put(&w, ": ");
        put_sources(&w, p, ids, n);
    }
    xir_value *constants[16];
    const size_t all = xir_network_params(net, constants, COUNT(constants));
    for (size_t i = 0; i < all; i++) {
        assert_int_equal(xir_provenance_of_value(p, constants[i], ids, COUNT(ids), &n), XIR_OK);
        if (!n) continue;
        put(&w, "%s", w.n ? "; " : "");
        put_name(&w, xir_value_name(constants[i]), NULL);
        put(&w, " = ");
        put_sources(&w, p, ids, n);
    }
    return w.text;
}

static xir_provenance *record(xir_network *net) {
    xir_provenance *p = xir_provenance_new(net, why);
    assert_non_null(p);
    return p;
}

static void check_answers(const xir_provenance *p, const char *expected, int line) {
    const char *found = answers(p);
    if (strcmp(found, expected) != 0) fail_msg("line %d: expected '%s', found '%s'", line, expected, found);
}

/* Runs passes on a story with a recorder. */
static void stands_for(const char *story, const char *passes, const char *expected, int line) {
    xir_network *net = story_net(story), *was = xir_network_clone(net);
    xir_provenance *p = record(net);
    xir_pipeline *pipeline = xir_pipeline_parse(ctx, xir_str_of(passes), why);
    path_counts counts = { 0 };
    assert_non_null(pipeline);
    if (xir_pipeline_run(pipeline, net, &XIR_INIT(xir_pass_settings, .verify = true), NULL, why)) fail_msg("%d", line);
    check_answers(p, expected, line);
    const char *broken = broken_path(p, was, &counts);
    if (broken) fail_msg("line %d: %s", line, broken);
    xir_pipeline_free(pipeline);
    xir_provenance_free(p);
    xir_network_free(was);
    xir_network_free(net);
}
#define STANDS_FOR(story, passes, expected) stands_for(story, passes, expected, __LINE__)

/* ---- passes ----------------------------------------------------------------------------------------------------- */

static void ops_that_stay_stand_for_themselves(void **state) {
    (void)state;
    STANDS_FOR("x: 2 3; a = ReLU x; b = Neg a; out b", "infer,sort", "a: a; b: b");
}

static void what_a_removed_op_read_stands_for_it(void **state) {
    (void)state;
    STANDS_FOR("x: 2 3; r = ReLU x; a = Copy r; b = Neg a; out b", "identity", "r: r+a; b: b");
    STANDS_FOR("x: 2 3; a = Copy x; b = Neg a; out b", "identity", "in: in+a; b: b");
}

static void equal_ops_are_one(void **state) {
    (void)state;
    STANDS_FOR("x: 2 3; a = ReLU x; b = ReLU x; c = Neg b; y = Add a c; out y", "cse", "a: a+b; c: c; y: y");
    STANDS_FOR("x: 2 3; a = ReLU x; b = ReLU x; c = Neg a; d = Neg b; out c d", "cse", "a: a+b; c: c; d: d");
}

static void a_fused_op_stands_for_all_its_parts(void **state) {
    (void)state;
    STANDS_FOR("x: 2 3; s = Sigmoid x; y = Multiply s x; z = Neg y; out z", "fuse", "y: s+y; z: z");
}

static void constants_stand_for_the_ops_that_computed_them(void **state) {
    (void)state;
    STANDS_FOR("x: 2 3; p: params 2 3 = 1 2 3 4 5 6; c = Add p p; d = Neg c; y = Add x d; out y", "fold",
               "y: y; d = c+d");
}

static void merged_moves_are_all_of_them(void **state) {
    (void)state;
    STANDS_FOR("x: 2 3 4; a = Reshape x [shape=6,4] [layout=@layout(**)]; b = Reshape a [shape=24] [layout=@layout(*)];"
               " out b", "merge", "b: a+b");
    STANDS_FOR("x: 2 3; a = Concat x x [axis=0]; b = Concat a x [axis=0]; out b", "merge", "b: a+b");
}

static void removed_ops_are_nothing(void **state) {
    (void)state;
    xir_network *net = story_net("x: 2 3; a = ReLU x; b = Neg x; out b");
    const int64_t id = xir_op_id(story_op(net, "a"));
    xir_provenance *p = record(net);
    xir_op *found;
    size_t n;
    DOES(xir_provenance_became(p, id, &found, 1, &n));
    assert_int_equal(n, 1);
    DOES(xir_pass_run(net, "dce", NULL, NULL, why));
    DOES(xir_provenance_became(p, id, NULL, 0, &n));
    assert_int_equal(n, 0);
    DOES(xir_provenance_became_params(p, id, NULL, 0, &n));
    assert_int_equal(n, 0);
    DOES(xir_provenance_became(p, 12345, NULL, 0, &n));   /* there is no such source */
    assert_int_equal(n, 0);
    xir_provenance_free(p);
    xir_network_free(net);
}

static const char everything[] =
    "x: NHWC 1 2 3 4; p: params 24; q: params 24; c = Add p q; d = Neg c; e = Reshape d [shape=1,2,3,4] "
    "[layout=@layout(NHWC)]; y = Add x e; a = Copy y; b = Reshape a [shape=1,6,4] [layout=@layout(**C)]; "
    "f = Reshape b [shape=6,4] [layout=@layout(*C)]; g = Transpose f [dims=1,0] [layout=@layout(C*)]; "
    "h = Transpose g [dims=1,0] [layout=@layout(*C)]; s = Sigmoid h; t = Multiply s h; u = Sigmoid h; "
    "v = Multiply u h; w = Add t v; dead = ReLU w; out w y";

static void all_passes_together(void **state) {
    (void)state;
    STANDS_FOR(everything, "fold,fix(fold,identity,merge,fuse,cse,dce),infer",
               "y: y+a; h: b+f+g+h; t: s+t+u+v; w: w; e = c+d+e");
}

/* ---- history ---------------------------------------------------------------------------------------------------- */

static void an_op_knows_its_history(void **state) {
    (void)state;
    xir_network *net = story_net("x: 2 3; a = Copy x; s = Sigmoid a; y = Multiply s x; out y");
    xir_provenance *p = record(net);
    DOES(xir_pass_run(net, "identity", NULL, NULL, why));
    DOES(xir_pass_run(net, "fuse", NULL, NULL, why));
    xir_provenance_item items[8];
    size_t n;
    assert_int_equal(xir_provenance_step_count(p), 3);
    CHECK_STR(xir_provenance_step_name(p, 2), "fuse");
    CHECK_STR(xir_provenance_step_name(p, 3), "");
    DOES(xir_provenance_history(p, story_op(net, "y"), items, COUNT(items), &n));
    assert_int_equal(n, 2);
    CHECK_STR(items[0].name, "s");
    CHECK_STR(items[1].name, "y");
    assert_true(items[0].step == 2 && items[1].step == 2 && !items[0].params);
    DOES(xir_provenance_history(p, xir_network_first(net), items, 1, &n));   /* Input took over a: two, one fits */
    assert_int_equal(n, 2);
    DOES(xir_provenance_history(p, xir_network_last(net), items, 1, &n));
    assert_int_equal(n, 0);
    xir_provenance_free(p);
    xir_network_free(net);
}

static void values_stand_for_values(void **state) {
    (void)state;
    xir_network *net = story_net("x: 2 3; r = ReLU x; a = Copy r; b = Neg a; out b");
    const int64_t r = xir_value_id(story_value(net, "r")), a = xir_value_id(story_value(net, "a"));
    xir_provenance *p = record(net);
    int64_t ids[4];
    size_t n;
    DOES(xir_pass_run(net, "identity", NULL, NULL, why));
    DOES(xir_provenance_values_of(p, xir_op_output(story_op(net, "r"), 0), ids, COUNT(ids), &n));
    assert_true(n == 2 && ids[0] == r && ids[1] == a);
    DOES(xir_provenance_of_value(p, story_value(net, "b"), ids, COUNT(ids), &n));
    assert_true(n == 1 && ids[0] == xir_op_id(story_op(net, "b")));
    xir_provenance_free(p);
    xir_network_free(net);
}

static void check_one_value(const xir_provenance *p, const xir_value *v, int64_t expected) {
    int64_t id;
    size_t n;
    DOES(xir_provenance_values_of(p, v, &id, 1, &n));
    assert_int_equal(n, 1);
    assert_int_equal(id, expected);
}

/* ---- edits by a program ----------------------------------------------------------------------------------------- */

static void edits_outside_of_passes(void **state) {
    (void)state;
    xir_network *net = story_net("x: 2 3; r = ReLU x; a = Copy r; b = Neg a; out b");
    xir_provenance *p = record(net);
    xir_op *copy = xir_op_clone(story_op(net, "r"));
    assert_non_null(copy);
    DOES(xir_op_set_name(copy, XIR_STR("copy")));
    DOES(xir_op_place(copy, story_op(net, "a")));
    DOES(xir_op_set_input(story_op(net, "a"), 0, xir_op_output(copy, 0)));
    xir_at at = xir_at_end(net);
    at.before = story_op(net, "b");
    xir_value *cast = XIR_OP(at, copy, .input = xir_op_output(story_op(net, "a"), 0), .name = "inserted");
    DOES(xir_op_set_input(story_op(net, "b"), 0, cast));
    check_answers(p, "r: r; copy: r; a: a; inserted: ; b: b", __LINE__);
    DOES(xir_provenance_step(p, XIR_STR("by hand")));
    check_answers(p, "r: r; copy: r; a: a; inserted: b; b: b", __LINE__);

    xir_op *now = xir_op_new(net, &(xir_op_desc)DESC(sigmoid, INPUTS(story_value(net, "x")), .name = XIR_STR("now")));
    assert_non_null(now);
    DOES(xir_network_replace_keep_uses(net, copy, now));
    check_answers(p, "r: r; now: r; a: a; inserted: b; b: b", __LINE__);
    size_t n;
    int64_t id;
    DOES(xir_provenance_of_op(p, copy, &id, 1, &n));   /* it is erased */
    assert_int_equal(n, 1);
    assert_int_equal(id, xir_op_id(story_op(net, "r")));
    xir_op *const gone = story_op(net, "inserted");
    DOES(xir_network_bypass(net, &gone, 1));
    check_answers(p, "r: r; now: r; a: a; b: b", __LINE__);
    DOES(xir_network_remove(net, story_op(net, "r")));
    check_answers(p, "now: r; a: a; b: b", __LINE__);
    xir_provenance_free(p);
    assert_null(xir_provenance_of(net));
    xir_network_free(net);
}

/* An op serves the one that it was inserted for, until it takes its place; then its users are others. */
static void an_inserted_op_takes_the_place_of_another(void **state) {
    (void)state;
    xir_network *net = story_net("x: 2 3; a = Copy x; b = Neg a; out b");
    xir_provenance *p = record(net);
    xir_at at = xir_at_end(net);
    at.before = story_op(net, "a");
    xir_value *inserted = XIR_OP(at, copy, .input = story_value(net, "x"), .name = "inserted");
    DOES(xir_op_set_input(story_op(net, "a"), 0, inserted));
    DOES(xir_provenance_step(p, XIR_STR("insert")));
    check_answers(p, "inserted: a; a: a; b: b", __LINE__);
    DOES(xir_value_replace(story_value(net, "a"), inserted));
    DOES(xir_op_erase(story_op(net, "a")));
    DOES(xir_provenance_step(p, XIR_STR("replace")));
    check_answers(p, "inserted: a; b: b", __LINE__);
    xir_provenance_free(p);
    xir_network_free(net);
}

/* An op that takes the place of one that only serves others serves those that use it at the end of each step. */
static void what_takes_the_place_of_an_inserted_op_serves(void **state) {
    (void)state;
    xir_network *net = story_net("x: 2 3; a = Copy x; b = Neg a; c = ReLU a; out b");
    xir_provenance *p = record(net);
    xir_at at = xir_at_end(net);
    at.before = story_op(net, "b");
    xir_value *inserted = XIR_OP(at, copy, .input = story_value(net, "a"), .name = "inserted");
    DOES(xir_op_set_input(story_op(net, "b"), 0, inserted));
    DOES(xir_op_set_input(story_op(net, "c"), 0, inserted));
    DOES(xir_provenance_step(p, XIR_STR("insert")));
    check_answers(p, "a: a; inserted: b+c; b: b; c: c", __LINE__);
    xir_op *now = xir_op_new(net, &(xir_op_desc)DESC(neg, INPUTS(story_value(net, "a")), .name = XIR_STR("now")));
    assert_non_null(now);
    DOES(xir_network_replace_keep_uses(net, xir_value_op(inserted), now));
    DOES(xir_op_erase(story_op(net, "c")));
    DOES(xir_provenance_step(p, XIR_STR("replace")));
    check_answers(p, "a: a; now: b; b: b", __LINE__);
    xir_provenance_free(p);
    xir_network_free(net);
}

/* `moves` leaves a shorter run in place of a longer one, also where nothing uses the result. If the result stood for no
 * value, a Transpose that `layout` inserts for the run would lead to no value that the sources of the run make. */
static void what_takes_the_place_of_an_unused_value_stands_for_it(void **state) {
    (void)state;
    xir_network *net = story_net("x: 2 3; a = Neg x; b = Neg x; c = Neg x; out c");
    const int64_t a = xir_value_id(story_value(net, "a")), b = xir_value_id(story_value(net, "b"));
    xir_provenance *p = record(net);
    xir_at at = xir_at_end(net);
    at.before = story_op(net, "c");
    xir_value *inserted = XIR_OP(at, relu, .input = story_value(net, "x"), .name = "inserted");
    DOES(xir_value_replace(story_value(net, "a"), inserted));
    check_one_value(p, inserted, a);
    xir_op *now = xir_op_new(net, &(xir_op_desc)DESC(sigmoid, INPUTS(story_value(net, "x"))));
    assert_non_null(now);
    DOES(xir_network_replace_keep_uses(net, story_op(net, "b"), now));
    check_one_value(p, xir_op_output(now, 0), b);
    xir_provenance_free(p);
    xir_network_free(net);
}

static void a_mapping_gives_copies_what_their_originals_have(void **state) {
    (void)state;
    xir_network *net = story_net("x: 2 3; r = ReLU x; b = Neg r; out b");
    xir_provenance *p = record(net);
    xir_mapping *map = xir_mapping_new(net, net);
    DOES(xir_mapping_set(map, story_value(net, "x"), story_value(net, "b")));
    xir_op *copy = xir_mapping_clone(map, story_op(net, "r"), xir_network_last(net));
    assert_non_null(copy);
    DOES(xir_op_set_name(copy, XIR_STR("again")));
    check_answers(p, "r: r; b: b; again: r", __LINE__);
    xir_mapping_free(map);
    xir_provenance_free(p);
    xir_network_free(net);
}

/* ---- calls ------------------------------------------------------------------------------------------------------ */

static xir_op *outlined(xir_network *net, const char *first, const char *second) {
    xir_op *ops[] = { story_op(net, first), story_op(net, second) };
    const xir_outline_options how = XIR_INIT(xir_outline_options, .name = XIR_STR("call"));
    xir_op *call = xir_outline(net, ops, 2, &how);
    assert_non_null(call);
    return call;
}

static void a_call_stands_for_its_ops_until_they_come_back(void **state) {
    (void)state;
    for (int steps = 0; steps < 2; steps++) {
        xir_network *net = story_net("x: 2 3; a = ReLU x; b = Neg a; c = Sigmoid b; d = ReLU c; out d");
        xir_provenance *p = record(net);
        const int64_t a = xir_value_id(story_value(net, "a")), c = xir_value_id(story_value(net, "c"));
        xir_op *call = outlined(net, "b", "c");
        if (steps) DOES(xir_provenance_step(p, XIR_STR("outlined")));
        check_answers(p, "a: a; call: b+c; d: d", __LINE__);
        check_one_value(p, xir_op_output(call, 0), c);
        DOES(xir_op_inline(call));
        if (steps) DOES(xir_provenance_step(p, XIR_STR("inlined")));
        check_answers(p, "a: a; b: b; c: c; d: d", __LINE__);
        check_one_value(p, story_value(net, "a"), a);
        check_one_value(p, story_value(net, "c"), c);
        xir_provenance_free(p);
        xir_network_free(net);
    }
}

/* Each sub op of `copy` stands for the one of `call` in its place, and for nothing else. */
static void check_bodies(const xir_provenance *p, const xir_op *call, const xir_op *copy) {
    xir_attr was, now;
    DOES(xir_op_get(call, XIR_STR("body"), &was));
    DOES(xir_op_get(copy, XIR_STR("body"), &now));
    assert_int_equal(was.as.ops.size, 4);
    for (size_t i = 0; i < 4; i++) {
        int64_t id;
        size_t n;
        DOES(xir_provenance_of_op(p, now.as.ops.data[i], &id, 1, &n));
        assert_int_equal(n, 1);
        assert_int_equal(id, xir_op_id(was.as.ops.data[i]));
    }
}

static void copies_of_a_call_have_bodies_that_stand_for_its_body(void **state) {
    (void)state;
    xir_network *net = story_net("x: 2 3; k = Copy x; b = Neg k; c = Sigmoid b; d = ReLU c; out d");
    xir_op *call = outlined(net, "b", "c"), *gone = call;
    xir_provenance *p = record(net);
    xir_op *clone = xir_op_clone(call);
    DOES(xir_op_place(clone, xir_network_last(net)));
    xir_mapping *map = xir_mapping_new(net, net);
    xir_op *copy = xir_mapping_clone(map, call, xir_network_last(net));
    DOES(xir_provenance_step(p, XIR_STR("copied")));
    check_bodies(p, call, clone);
    check_bodies(p, call, copy);
    xir_mapping_free(map);
    DOES(xir_network_remove(net, copy));
    DOES(xir_network_remove(net, clone));

    xir_op *ops[] = { story_op(net, "k"), call };
    xir_view *view = xir_view_ops(net, ops, 2);
    xir_pipeline *pipeline = xir_pipeline_parse(ctx, XIR_STR("identity"), why);
    DOES(xir_pipeline_run_view(pipeline, view, NULL, NULL, why));
    DOES(xir_provenance_step(p, XIR_STR("run")));
    call = xir_op_next(xir_network_first(net));
    CHECK_STR(xir_op_name(call), "call");
    assert_ptr_not_equal(call, gone);
    check_bodies(p, gone, call);
    xir_pipeline_free(pipeline);
    xir_view_free(view);
    xir_provenance_free(p);
    xir_network_free(net);
}

/* ---- views ------------------------------------------------------------------------------------------------------ */

static void passes_on_a_view(void **state) {
    (void)state;
    xir_network *net = story_net("x: 2 3; a = Copy x; s = Sigmoid a; y = Multiply s a; z = Neg y; out z");
    xir_provenance *p = record(net);
    xir_view *view = xir_view_id_range(net, xir_op_id(story_op(net, "s")), xir_op_id(story_op(net, "y")));
    xir_pipeline *pipeline = xir_pipeline_parse(ctx, XIR_STR("fuse"), why);
    DOES(xir_pipeline_run_view(pipeline, view, NULL, NULL, why));
    check_answers(p, "a: a; y: s+y; z: z", __LINE__);
    xir_pipeline_free(pipeline);
    xir_view_free(view);
    xir_provenance_free(p);
    xir_network_free(net);
}

static void names_outlive_the_first_network(void **state) {
    (void)state;
    xir_network *net = story_net("x: 2 3; r = ReLU x; out r");
    char name[300];
    memset(name, 'n', sizeof name);
    DOES(xir_op_set_name(story_op(net, "r"), (xir_str){ name, sizeof name }));
    xir_provenance *p = record(net);
    xir_network *copy = xir_network_clone(net);
    xir_provenance *q = xir_provenance_clone(p, copy, why);
    assert_non_null(q);
    const xir_str was = xir_provenance_source_at(p, 1)->name, now = xir_provenance_source_at(q, 1)->name;
    assert_ptr_not_equal(was.data, now.data);
    xir_provenance_free(p);
    xir_network_free(net);
    assert_true(xir_str_equal(xir_provenance_source_at(q, 1)->name, (xir_str){ name, sizeof name }));
    xir_provenance_free(q);
    xir_network_free(copy);
}

static void a_copy_of_the_network_goes_on(void **state) {
    (void)state;
    xir_network *net = story_net("x: 2 3; r = ReLU x; a = Copy r; s = Sigmoid a; y = Multiply s a; out y");
    xir_provenance *p = record(net);
    DOES(xir_pass_run(net, "identity", NULL, NULL, why));
    xir_network *copy = xir_network_clone(net);
    assert_null(xir_provenance_of(copy));
    xir_provenance *q = xir_provenance_clone(p, copy, why);
    assert_non_null(q);
    xir_network_free(net);   /* the recorder keeps it */
    xir_provenance_free(p);
    check_answers(q, "r: r+a; s: s; y: y", __LINE__);
    DOES(xir_pass_run(copy, "fuse", NULL, NULL, why));
    check_answers(q, "r: r+a; y: s+y", __LINE__);
    int64_t ids[4];
    size_t n;
    DOES(xir_provenance_values_of(q, xir_op_output(story_op(copy, "r"), 0), ids, COUNT(ids), &n));
    assert_int_equal(n, 2);
    xir_network *other = story_net("x: 2 3; r = Neg x; out r");
    assert_null(xir_provenance_clone(q, other, why));
    assert_int_equal(xir_diags_at(why, 0)->code, XIR_E_INVALID);
    assert_null(xir_provenance_of(other));
    xir_diags_clear(why);
    xir_network_free(other);
    xir_provenance_free(q);
    xir_network_free(copy);
}

/* ---- refusals --------------------------------------------------------------------------------------------------- */

static void what_is_refused(void **state) {
    (void)state;
    xir_network *net = small_net(), *other = small_net();
    xir_provenance *p = record(net);
    size_t n = 7;
    assert_ptr_equal(xir_provenance_of(net), p);
    assert_null(xir_provenance_new(net, why));
    assert_int_equal(xir_diags_at(why, 0)->code, XIR_E_IN_USE);
    assert_null(xir_provenance_from_tags(net, NULL));
    assert_null(xir_provenance_new(NULL, NULL));
    assert_int_equal(xir_provenance_of_op(p, op_of(other, 1), NULL, 0, &n), XIR_E_INVALID);
    assert_int_equal(n, 0);
    assert_int_equal(xir_provenance_of_value(p, value_of(other, 1), NULL, 0, &n), XIR_E_INVALID);
    assert_int_equal(xir_provenance_values_of(p, NULL, NULL, 0, &n), XIR_E_MISSING);
    assert_int_equal(xir_provenance_history(NULL, op_of(net, 1), NULL, 0, &n), XIR_E_MISSING);
    assert_int_equal(xir_provenance_became(p, 1, NULL, 0, NULL), XIR_E_MISSING);
    xir_diags_clear(why);
    xir_provenance_free(p);
    xir_network_free(net);
    xir_network_free(other);
}

static xir_status fail_late(xir_pass *at) {
    xir_network *net = xir_pass_network(at);
    xir_value *a = xir_network_value_by_name(net, XIR_STR("a"));
    if (!a) return XIR_OK;
    DOES(xir_value_replace(a, xir_op_input(xir_value_op(a), 0)));
    return xir_pass_fail(at, XIR_E_INVALID, NULL, "it fails in the middle");
}

static void a_pipeline_that_fails(void **state) {
    (void)state;
    static const xir_pass_decl pass = { XIR_PASS_HEAD("late", "fails"), .level = XIR_LEVEL_EXACT, .run = fail_late };
    xir_network *net = story_net("x: 2 3; r = ReLU x; a = Copy r; s = Sigmoid a; y = Multiply s a; out y");
    xir_provenance *p = record(net);
    xir_pipeline *pipeline = xir_pipeline_parse(ctx, XIR_STR("fuse"), why);
    DOES(xir_pipeline_add(pipeline, &pass, NULL, why));
    assert_int_equal(xir_pipeline_run(pipeline, net, NULL, NULL, why), XIR_E_INVALID);
    xir_diags_clear(why);
    check_answers(p, "r: r+a; a: a; y: s+y", __LINE__);   /* as far as it got */
    xir_pipeline_free(pipeline);
    xir_provenance_free(p);
    xir_network_free(net);
}

/* ---- tags ------------------------------------------------------------------------------------------------------- */

static void tags_say_the_same(void **state) {
    (void)state;
    xir_network *net = story_net("x: 2 3; p: params 2 3; c = Neg p; r = ReLU x; a = Copy r; s = Sigmoid a; "
                                 "y = Multiply s a; z = Add y c; out z");
    const int64_t c = xir_op_id(story_op(net, "c")), s = xir_op_id(story_op(net, "s")),
                  y = xir_op_id(story_op(net, "y"));
    xir_provenance *p = record(net);
    assert_false(xir_provenance_has_tags(net));
    DOES(xir_pass_run(net, "identity", NULL, NULL, why));
    DOES(xir_pass_run(net, "fuse", NULL, NULL, why));
    DOES(xir_pass_run(net, "fold", NULL, NULL, why));
    DOES(xir_provenance_write_tags(p));
    xir_provenance_free(p);
    assert_true(xir_provenance_has_tags(net));

    xir_text_buffer text = { 0 };
    DOES(xir_json_print(net, 0, &text));
    xir_network *again = xir_network_read(ctx, text.data, text.size, XIR_STR("n.json"),
                                          &XIR_INIT(xir_load_options, .no_params = true), why);
    assert_non_null(again);
    xir_text_free(&text);
    xir_provenance *q = xir_provenance_from_tags(again, why);
    assert_non_null(q);
    assert_int_equal(xir_diags_count(why), 0);
    int64_t ids[4];
    size_t n;
    DOES(xir_provenance_of_op(q, story_op(again, "y"), ids, COUNT(ids), &n));
    assert_true(n == 2 && ids[0] == s && ids[1] == y);
    DOES(xir_provenance_of_value(q, xir_op_input(story_op(again, "z"), 1), ids, COUNT(ids), &n));
    assert_true(n == 1 && ids[0] == c);
    DOES(xir_provenance_values_of(q, xir_op_output(story_op(again, "r"), 0), ids, COUNT(ids), &n));
    assert_int_equal(n, 2);
    xir_op *copy = xir_op_clone(story_op(again, "y"));   /* it goes on from there */
    DOES(xir_provenance_of_op(q, copy, ids, COUNT(ids), &n));
    assert_int_equal(n, 2);
    xir_provenance_free(q);
    DOES(xir_provenance_remove_tags(again));
    assert_false(xir_provenance_has_tags(again));
    assert_null(xir_value_tags(xir_op_output(story_op(again, "r"), 0)));
    xir_network_free(again);
    xir_network_free(net);
}

/* The tag of one op; how many sources it then has, and how many findings there are. */
static void tag_gives(xir_any tag, size_t sources, size_t findings) {
    xir_network *net = story_net("x: 2 3; a = ReLU x; b = Neg a; out b");
    const xir_any one = xir_any_int(3), list = xir_any_list(&one, 1);
    DOES(xir_op_set_tag(story_op(net, "a"), XIR_STR(XIR_PROVENANCE_OPS), &tag));
    DOES(xir_op_set_tag(story_op(net, "b"), XIR_STR(XIR_PROVENANCE_OPS), &list));
    DOES(xir_value_set_tag(story_value(net, "a"), XIR_STR(XIR_PROVENANCE_VALUES), &tag));
    xir_provenance *p = xir_provenance_from_tags(net, why);
    size_t n;
    assert_non_null(p);
    assert_int_equal(xir_diags_count(why), 2 * findings);   /* of the op and of its value */
    DOES(xir_provenance_of_op(p, story_op(net, "a"), NULL, 0, &n));
    assert_int_equal(n, sources);
    DOES(xir_provenance_values_of(p, story_value(net, "a"), NULL, 0, &n));
    assert_int_equal(n, sources);
    DOES(xir_provenance_of_op(p, story_op(net, "b"), NULL, 0, &n));
    assert_int_equal(n, 1);
    DOES(xir_pass_run(net, "identity", NULL, NULL, why));
    DOES(xir_provenance_write_tags(p));
    xir_diags_clear(why);
    xir_provenance_free(p);
    xir_network_free(net);
}

static void tags_that_make_no_sense(void **state) {
    (void)state;
    enum { MANY = 1000000 };
    const xir_any odd[] = { xir_any_int(1), xir_any_text(XIR_STR("x")) };
    const xir_any negative = xir_any_int(-1), twice[] = { xir_any_int(5), xir_any_int(5) };
    const xir_any huge = { .kind = XIR_ANY_UINT, .as.uinteger = UINT64_MAX }, most = xir_any_int(INT64_MAX);
    const xir_any nested = xir_any_list(odd, 1);
    tag_gives(xir_any_null(), 0, 1);
    tag_gives(xir_any_text(XIR_STR("1")), 0, 1);
    tag_gives(xir_any_real(1), 0, 1);
    tag_gives(xir_any_list(odd, 2), 0, 1);
    tag_gives(xir_any_list(&negative, 1), 0, 1);
    tag_gives(xir_any_list(&huge, 1), 0, 1);
    tag_gives(xir_any_list(&nested, 1), 0, 1);
    tag_gives(xir_any_list(NULL, 0), 0, 0);
    tag_gives(xir_any_list(twice, 2), 1, 0);
    tag_gives(xir_any_list(&most, 1), 1, 0);
    xir_any *many = calloc(MANY, sizeof *many);
    assert_non_null(many);
    for (size_t i = 0; i < MANY; i++) many[i] = xir_any_int((int64_t)((i * 7919) % MANY));
    tag_gives(xir_any_list(many, MANY), MANY, 0);
    free(many);
}

/* ---- size ------------------------------------------------------------------------------------------------------- */

/* A long chain that becomes one op: neither the stack nor the time grows with it. */
static void a_long_chain_of_removed_ops(void **state) {
    (void)state;
    enum { LONG = 100000 };
    xir_network *net = new_net();
    xir_at at = xir_at_end(net);
    xir_value *x = xir_input(at, "x", FP32("**", 2, 3));
    x = XIR_RELU(at, x);
    for (int i = 0; i < LONG; i++) x = XIR_OP(at, copy, .input = x);
    xir_output(at, XIR_VALUES(x));
    xir_provenance *p = record(net);
    DOES(xir_pass_run(net, "identity", NULL, NULL, why));
    assert_int_equal(xir_network_op_count(net), 3);
    size_t n;
    DOES(xir_provenance_of_op(p, xir_network_op_at(net, 1), NULL, 0, &n));
    assert_int_equal(n, LONG + 1);
    DOES(xir_provenance_values_of(p, xir_op_output(xir_network_op_at(net, 1), 0), NULL, 0, &n));
    assert_int_equal(n, LONG + 1);
    DOES(xir_provenance_history(p, xir_network_op_at(net, 1), NULL, 0, &n));
    assert_int_equal(n, LONG + 1);
    xir_provenance_free(p);
    xir_network_free(net);
}

/* ---- threads ---------------------------------------------------------------------------------------------------- */

static xir_context *common;    /* of all threads: the group's counts its blocks without a lock */

static void run_own(int number, void *user) {
    (void)number;
    const xir_pipeline *pipeline = user;
    xir_network *net = story_net_in(common, everything);
    xir_provenance *p = xir_provenance_new(net, NULL);
    size_t n = 0;
    EXPECT(xir_pipeline_run(pipeline, net, NULL, NULL, NULL) == XIR_OK);
    EXPECT(xir_provenance_of_op(p, xir_network_op_by_name(net, XIR_STR("t")), NULL, 0, &n) == XIR_OK);
    EXPECT(n == 4);
    xir_provenance_free(p);
    xir_network_free(net);
}

static void ask(int number, void *user) {
    (void)number;
    const xir_provenance *p = user;
    size_t n;
    for (const xir_op *op = xir_network_first(xir_provenance_network(p)); op; op = xir_op_next(op)) {
        EXPECT(xir_provenance_of_op(p, op, NULL, 0, &n) == XIR_OK && n > 0);
        EXPECT(xir_provenance_history(p, op, NULL, 0, &n) == XIR_OK);
        EXPECT(xir_provenance_became(p, xir_op_id(op), NULL, 0, &n) == XIR_OK);
    }
}

/* Two values that replace each other by turns: what they stand for shares its parts, of which there are few. A walk
 * along all ways through them would not end. */
static void values_that_share_parts(void **state) {
    (void)state;
    xir_network *net = story_net("x: 2 3; a = ReLU x; b = ReLU x; e = ReLU a; out e");
    xir_provenance *p = record(net);
    xir_value *a = story_value(net, "a"), *b = story_value(net, "b");
    for (int i = 0; i < 200; i++) DOES(i % 2 ? xir_value_replace(b, a) : xir_value_replace(a, b));
    xir_at at = xir_at_end(net);
    at.before = xir_network_output_op(net);
    xir_value *late = XIR_OP(at, relu, .input = a, .name = "late");   /* made for nobody: stands for what it reads */
    DOES(xir_op_set_input(xir_network_output_op(net), 0, late));
    DOES(xir_provenance_step(p, XIR_STR("by turns")));
    int64_t ids[4];
    size_t n;
    DOES(xir_provenance_of_op(p, xir_value_op(late), ids, COUNT(ids), &n));
    assert_int_equal(n, 2);
    xir_provenance_free(p);
    xir_network_free(net);
}

static void threads(void **state) {
    (void)state;
    common = xir_context_new(NULL);
    xir_pipeline *pipeline = xir_pipeline_parse(common, XIR_STR("fold,fix(fold,identity,merge,fuse,cse,dce)"), why);
    xir_network *net = story_net_in(common, everything);
    xir_provenance *p = record(net);
    DOES(xir_pipeline_run(pipeline, net, NULL, NULL, why));
    all_at_once(4, ask, p);
    all_at_once(4, run_own, pipeline);
    xir_pipeline_free(pipeline);
    xir_provenance_free(p);
    xir_network_free(net);
    xir_context_free(common);
}

/* ---- the end of memory ------------------------------------------------------------------------------------------ */

static const char scarce_passes[] = "fold,fix(fold,identity,merge,fuse,cse,dce),layout,infer";

/* An attempt: true if everything succeeded; otherwise each failure was XIR_E_MEMORY. A recorder never answers with less
 * than it should. */
static bool attempt(want *w, xir_network *net, words *out) {
    static char expected[4000];
    xir_pipeline *pipeline = NULL;
    IN_PLENTY(w, pipeline = xir_pipeline_parse(w->ctx, xir_str_of(scarce_passes), NULL));
    xir_provenance *p = xir_provenance_new(net, w->why);
    xir_status status = p ? xir_pipeline_run(pipeline, net, NULL, NULL, w->why) : XIR_E_MEMORY;
    if (!status) status = xir_provenance_write_tags(p);
    if (!status) {
        IN_PLENTY(w, snprintf(out->text, sizeof out->text, "%s", answers(p)));
        if (!*expected) snprintf(expected, sizeof expected, "%s", out->text);
        assert_string_equal(out->text, expected);
    }
    size_t n;
    xir_status asked = p ? xir_provenance_of_op(p, xir_network_first(net), NULL, 0, &n) : XIR_OK;
    if (!asked && p) asked = xir_provenance_history(p, xir_network_first(net), NULL, 0, &n);
    if (!asked && p) asked = xir_provenance_became(p, 0, NULL, 0, &n);
    xir_network *copy = NULL;
    IN_PLENTY(w, copy = xir_network_clone(net));
    xir_provenance *q = p && !xir_provenance_status(p) ? xir_provenance_clone(p, copy, w->why) : NULL;
    if (q && !status) IN_PLENTY(w, assert_string_equal(answers(q), expected));
    xir_provenance_free(q);
    q = xir_provenance_from_tags(copy, w->why);
    xir_provenance_free(q);
    xir_network_free(copy);
    assert_true(status == XIR_OK || status == XIR_E_MEMORY);
    assert_true(asked == XIR_OK || asked == XIR_E_MEMORY);
    if (status || asked || !q) assert_true(w->memory.refused);
    xir_provenance_free(p);
    xir_pipeline_free(pipeline);
    return !status;
}

static void recording(want *w) {
    static words out;
    for (int i = 0; i < 2; i++) {
        xir_network *net = NULL;
        IN_PLENTY(w, net = story_net_in(w->ctx, everything));
        xir_network_clear_status(net);
        const bool done = attempt(w, net, &out);
        xir_network_free(net);
        if (done) break;
        w->memory.plenty = true;
    }
    w->result = strdup(out.text);
}
SCARCE_TEST(recording)

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ops_that_stay_stand_for_themselves),
        cmocka_unit_test(what_a_removed_op_read_stands_for_it),
        cmocka_unit_test(equal_ops_are_one),
        cmocka_unit_test(a_fused_op_stands_for_all_its_parts),
        cmocka_unit_test(constants_stand_for_the_ops_that_computed_them),
        cmocka_unit_test(merged_moves_are_all_of_them),
        cmocka_unit_test(removed_ops_are_nothing),
        cmocka_unit_test(all_passes_together),
        cmocka_unit_test(an_op_knows_its_history),
        cmocka_unit_test(values_stand_for_values),
        cmocka_unit_test(edits_outside_of_passes),
        cmocka_unit_test(an_inserted_op_takes_the_place_of_another),
        cmocka_unit_test(what_takes_the_place_of_an_inserted_op_serves),
        cmocka_unit_test(what_takes_the_place_of_an_unused_value_stands_for_it),
        cmocka_unit_test(a_mapping_gives_copies_what_their_originals_have),
        cmocka_unit_test(a_call_stands_for_its_ops_until_they_come_back),
        cmocka_unit_test(copies_of_a_call_have_bodies_that_stand_for_its_body),
        cmocka_unit_test(passes_on_a_view),
        cmocka_unit_test(a_copy_of_the_network_goes_on),
        cmocka_unit_test(names_outlive_the_first_network),
        cmocka_unit_test(what_is_refused),
        cmocka_unit_test(a_pipeline_that_fails),
        cmocka_unit_test(tags_say_the_same),
        cmocka_unit_test(tags_that_make_no_sense),
        cmocka_unit_test(a_long_chain_of_removed_ops),
        cmocka_unit_test(values_that_share_parts),
        cmocka_unit_test(threads),
        cmocka_unit_test(test_recording),
    };
    return RUN_GROUP(tests);
}
