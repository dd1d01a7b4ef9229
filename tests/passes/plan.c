/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* plan: addresses in a chunk and in segments of external memory; values that stay on the host; removal of addresses. */
#include "support/scarce.h"
#include "support/story.h"
#include "task.h"

#define STORY "w: params 4; x: fp32 4; a = Sigmoid x; b = Sigmoid a; c = Add a b; d = Add c w; e = Sigmoid d; out e"

static size_t plan(xir_network *net, const char *options) {
    size_t changes = 0;
    DOES(xir_pass_run(net, "plan", options, &changes, why));
    DOES(xir_memory_check(net, &XIR_INIT(xir_memory_check_options, .align = 4), why));
    return changes;
}

/* The memory types of values with these names, one letter each. */
static void check_places(const xir_network *net, const char *names, const char *expected, int line) {
    char found[400] = "";
    size_t n = 0;
    for (const char *name = names; *name; name++) {
        const xir_mtype *it = xir_value_mtype(story_value(net, (const char[]){ *name, 0 }));
        const unsigned long long at = xir_mtype_addr(it), offset = xir_mtype_offset(it);
        static const char *const kinds[] = { "host", "chip", "@", "chunk" };
        const xir_mtype_kind kind = xir_mtype_kind_of(it);
        n += (size_t)snprintf(found + n, sizeof found - n, "%s%c=%s", n ? " " : "", *name, kinds[kind]);
        if (kind != XIR_MTYPE_HOST)
            n += (size_t)snprintf(found + n, sizeof found - n, "%llu", kind == XIR_MTYPE_CHUNK ? offset : at);
    }
    if (strcmp(found, expected)) fail_msg("line %d: expected %s, found %s", line, expected, found);
}
#define CHECK_PLACES(net, names, expected) check_places(net, names, expected, __LINE__)

/* A finding has this text. Forgets all findings. */
static void check_said(const char *part, int line) {
    bool found = false;
    for (size_t i = 0; i < xir_diags_count(why); i++) found |= strstr(xir_diags_at(why, i)->message.data, part) != NULL;
    if (!found) fail_msg("line %d: %.*s", line, (int)xir_diags_at(why, 0)->message.size,
                         xir_diags_at(why, 0)->message.data);
    xir_diags_clear(why);
}
#define CHECK_SAID(part) check_said(part, __LINE__)

static int64_t tag_of(const xir_network *net, const char *key) {
    const xir_map *tags = xir_network_tags(net);
    const xir_any *tag = tags ? xir_map_find(tags, xir_str_of(key)) : NULL;
    return tag ? tag->as.integer : -1;
}

static void a_chunk_has_offsets(void **state) {
    (void)state;
    xir_network *net = story_net(STORY);
    assert_int_equal(plan(net, ""), 6);
    CHECK_PLACES(net, "xabcdew", "x=chunk64 a=chunk0 b=chunk64 c=chunk0 d=chunk0 e=chunk0 w=host");
    assert_int_equal(plan(net, ""), 0);
    assert_true(plan(net, "in-place=false") > 0);
    CHECK_PLACES(net, "abcd", "a=chunk0 b=chunk128 c=chunk64 d=chunk0");
    plan(net, "align=4");
    CHECK_PLACES(net, "xabcde", "x=chunk16 a=chunk0 b=chunk16 c=chunk0 d=chunk0 e=chunk0");
    plan(net, "reuse=false,align=16");
    CHECK_PLACES(net, "xabe", "x=chunk0 a=chunk16 b=chunk32 e=chunk16");
    xir_network_free(net);
}

static void external_memory_has_segments(void **state) {
    (void)state;
    xir_network *net = story_net(STORY);
    assert_true(plan(net, "memory=etm") > 0);
    CHECK_PLACES(net, "wxeab", "w=@4096 x=@4160 e=@4224 a=@4224 b=@4288");
    assert_int_equal(tag_of(net, "params_segment_addr"), 4096);
    assert_int_equal(tag_of(net, "params_segment_bytesize"), 16);
    assert_int_equal(tag_of(net, "input_segment_addr"), 4160);
    assert_int_equal(tag_of(net, "output_segment_addr"), 4224);
    assert_int_equal(tag_of(net, "ftmp_segment_addr"), 4288);
    assert_int_equal(tag_of(net, "ftmp_segment_bytesize"), 64);
    assert_int_equal(plan(net, "memory=etm"), 0);
    plan(net, "memory=etm,base=0");
    CHECK_PLACES(net, "wx", "w=@0 x=@64");
    xir_network_free(net);
}

static void clearing_gives_the_network_back(void **state) {
    (void)state;
    xir_network *net = story_net(STORY), *before = xir_network_clone(net);
    plan(net, "memory=etm");
    assert_false(xir_network_equal(net, before, true));
    assert_true(plan(net, "clear") > 0);
    assert_true(xir_network_equal(net, before, true));
    assert_int_equal(plan(net, "clear"), 0);
    plan(net, "memory=chunk");
    plan(net, "clear");
    assert_true(xir_network_equal(net, before, true));
    xir_network_free(before);
    xir_network_free(net);
}

static void the_host_keeps_what_the_accelerator_does_not_see(void **state) {
    (void)state;
    xir_network *net = story_net("x: fp32 4; a = Sigmoid x; b = Tanh a; c = Tanh b; d = Sigmoid c; out d");
    const xir_target *buyi = xir_target_of_kind(ctx, XIR_TARGET_BUYI, NULL);
    DOES(xir_network_set_ai_target(net, buyi));
    DOES(xir_op_set_target(story_op(net, "b"), buyi));
    DOES(xir_op_set_target(story_op(net, "c"), buyi));
    plan(net, "memory=etm");
    CHECK_PLACES(net, "xabcd", "x=host a=@4096 b=@4160 c=@4160 d=host");
    assert_int_equal(tag_of(net, "input_segment_bytesize"), 16);
    assert_int_equal(tag_of(net, "output_segment_addr"), 4160);
    assert_int_equal(tag_of(net, "output_segment_bytesize"), 16);
    plan(net, "memory=chunk,in-place=false");
    CHECK_PLACES(net, "xd", "x=host d=host");
    xir_network_free(net);
}

/* Ops of Buyi; the others are of the host. */
static xir_network *net_for_buyi(const char *story, const char *ops) {
    xir_network *net = story_net(story);
    const xir_target *buyi = xir_target_of_kind(ctx, XIR_TARGET_BUYI, NULL);
    DOES(xir_network_set_ai_target(net, buyi));
    for (const char *op = ops; *op; op++) DOES(xir_op_set_target(story_op(net, (const char[]){ *op, 0 }), buyi));
    return net;
}

static void inputs_and_outputs_share_no_bytes(void **state) {
    (void)state;
    /* b is a view of an input that the host reads: it is copied. Nothing is written over a, c and e, which the host
       sees; f is written over d. */
    xir_network *net = net_for_buyi("x: fp32 4; a = Sigmoid x; b = Reshape a [shape=2,2 layout=@layout(**)]; "
                                    "c = Sigmoid a; d = Sigmoid c; f = Sigmoid d; e = Sigmoid f; g = Sigmoid e; "
                                    "h = Sigmoid b; i = Sigmoid c; out g h i", "bcdfe");
    plan(net, "memory=etm");
    CHECK_PLACES(net, "xabcdfe", "x=host a=@4096 b=@4160 c=@4224 d=@4288 f=@4288 e=@4288");
    xir_network_free(net);
    net = story_net("x: fp32 4; b = Reshape x [shape=2,2 layout=@layout(**)]; out b");
    plan(net, "memory=etm");
    CHECK_PLACES(net, "xb", "x=@4096 b=@4160");
    xir_network_free(net);
}

static void set_tag(xir_network *net, const char *key, int64_t value) {
    const xir_any it = xir_any_int(value);
    DOES(xir_network_set_tag(net, xir_str_of(key), &it));
}

static void what_the_compiler_has_placed_stays_free(void **state) {
    (void)state;
    xir_network *net = story_net("x: fp32 4; a = Sigmoid x; out a");
    set_tag(net, "params_segment_addr", 4096);
    set_tag(net, "params_segment_bytesize", 1000);
    xir_network *before = xir_network_clone(net);
    plan(net, "memory=etm");
    CHECK_PLACES(net, "xa", "x=@5120 a=@5184");
    assert_int_equal(plan(net, "memory=etm"), 0);
    plan(net, "clear");
    assert_true(xir_network_equal(net, before, true));
    set_tag(net, "instr_segment_addr", 5200);
    set_tag(net, "instr_segment_bytesize", 10);
    assert_int_equal(xir_pass_run(net, "plan", "memory=etm", NULL, why), XIR_E_LIMIT);
    CHECK_SAID("5120 to 5248, would lie over the instructions of the compiler, 5200 to 5210");
    CHECK_PLACES(net, "xa", "x=host a=host");
    plan(net, "memory=etm,base=8192");
    CHECK_PLACES(net, "xa", "x=@8192 a=@8256");
    assert_int_equal(tag_of(net, "params_segment_bytesize"), 1000);
    xir_network_free(before);
    xir_network_free(net);

    net = story_net(STORY);   /* Params of its own are after those of the compiler */
    set_tag(net, "params_segment_addr", 4096);
    set_tag(net, "params_segment_bytesize", 1024);
    before = xir_network_clone(net);
    plan(net, "memory=etm");
    CHECK_PLACES(net, "wx", "w=@5120 x=@5184");
    assert_int_equal(tag_of(net, "params_segment_bytesize"), 1040);
    assert_int_equal(plan(net, "memory=etm"), 0);
    plan(net, "clear");
    assert_true(xir_network_equal(net, before, true));
    xir_network_free(before);
    xir_network_free(net);
}

static void a_new_plan_leaves_nothing_of_the_old(void **state) {
    (void)state;
    xir_network *net = story_net(STORY), *other = story_net(STORY);
    plan(net, "memory=etm");
    plan(net, "memory=chunk");
    plan(other, "memory=chunk");
    assert_true(xir_network_equal(net, other, true));
    xir_network_free(other);
    xir_network_free(net);
    net = story_net("w: params 4; x: fp32 4; a = Sigmoid x; b = Tanh a; c = Add b w; d = Sigmoid c; out d");
    plan(net, "memory=etm");
    const xir_target *buyi = xir_target_of_kind(ctx, XIR_TARGET_BUYI, NULL);
    DOES(xir_network_set_ai_target(net, buyi));
    DOES(xir_op_set_target(story_op(net, "b"), buyi));
    plan(net, "memory=etm");
    CHECK_PLACES(net, "wxabcd", "w=host x=host a=@4096 b=@4160 c=host d=host");
    assert_int_equal(tag_of(net, "params_segment_addr"), -1);
    plan(net, "memory=chunk");
    CHECK_PLACES(net, "wxcd", "w=host x=host c=host d=host");
    xir_network_free(net);
}

static void a_failed_plan_changes_nothing(void **state) {
    (void)state;
    xir_network *net = story_net(STORY), *before = xir_network_clone(net);
    assert_int_equal(xir_pass_run(net, "plan", "memory=etm,limit=4300", NULL, why), XIR_E_LIMIT);
    xir_diags_clear(why);
    assert_true(xir_network_equal(net, before, true));
    xir_network_free(before);
    xir_network_free(net);
}

static void views_of_params_are_where_those_are(void **state) {
    (void)state;
    xir_network *net = story_net("w: params 1 4; x: fp32 4; v = Reshape w [shape=4 layout=@layout(*)]; "
                                 "u = Reshape v [shape=4 layout=@layout(*)]; a = Add x u; out a");
    DOES(xir_pass_run(net, "plan", "memory=etm", NULL, why));
    CHECK_PLACES(net, "wvuxa", "w=@4096 v=@4096 u=@4096 x=@4160 a=@4224");
    DOES(xir_pass_run(net, "plan", "memory=chunk", NULL, why));
    CHECK_PLACES(net, "wvu", "w=host v=host u=host");
    xir_network_free(net);
    /* The accelerator reads w through a view that the host makes; the host alone reads k. */
    net = net_for_buyi("w: params 1 4; k: params 1 4; x: fp32 4; v = Reshape w [shape=4 layout=@layout(*)]; "
                       "j = Reshape k [shape=4 layout=@layout(*)]; a = Add x v; b = Add a j; out b", "a");
    DOES(xir_pass_run(net, "plan", "memory=etm", NULL, why));
    CHECK_PLACES(net, "wvkjxab", "w=@4096 v=@4096 k=host j=host x=@4160 a=@4224 b=host");
    xir_network_free(net);
}

#define REFUSED_SIZE(net, options, part)                                                   \
    do {                                                                                   \
        assert_int_equal(xir_pass_run(net, "plan", options, NULL, why), XIR_E_LIMIT);       \
        CHECK_SAID(part);                                                                  \
    } while (0)

static void each_set_may_have_a_chunk(void **state) {
    (void)state;
    xir_network *net = story_net("x: fp32 2 4; a = CumSum x; b, c = Split a [sections=1,1 axis=0]; d = Add b c; out d");
    plan(net, "chunks=views,parts,align=16");
    CHECK_PLACES(net, "xabc", "x=chunk0 a=chunk0 b=chunk0 c=chunk16");
    assert_int_equal(xir_mtype_addr(xir_value_mtype(story_value(net, "x"))), 0);
    assert_int_equal(xir_mtype_addr(xir_value_mtype(story_value(net, "a"))), 1);
    assert_int_equal(xir_mtype_addr(xir_value_mtype(story_value(net, "c"))), 1);
    assert_int_equal(plan(net, "chunks=views,parts,align=16"), 0);
    DOES(xir_value_set_mtype(story_value(net, "d"), xir_mtype_chunk(ctx, 7, 32)));
    plan(net, "chunks=views,keep");
    CHECK_PLACES(net, "d", "d=chunk32");
    xir_network_free(net);
}

/* In a chunk others are planned around it, in external memory after it. */
static void what_has_an_address_may_keep_it(void **state) {
    (void)state;
    xir_network *net = story_net(STORY);
    DOES(xir_value_set_mtype(story_value(net, "b"), xir_mtype_chunk(ctx, 0, 128)));
    plan(net, "keep");
    CHECK_PLACES(net, "xab", "x=chunk64 a=chunk0 b=chunk128");
    plan(net, "clear");
    DOES(xir_value_set_mtype(story_value(net, "x"), xir_mtype_external(ctx, 8192)));
    DOES(xir_value_set_mtype(story_value(net, "w"), xir_mtype_external(ctx, 8256)));
    plan(net, "keep,memory=etm");
    CHECK_PLACES(net, "xweab", "x=@8192 w=@8256 e=@8320 a=@8320 b=@8384");
    assert_int_equal(plan(net, "keep,memory=etm"), 0);
    DOES(xir_value_set_mtype(story_value(net, "a"), xir_mtype_external(ctx, 8192)));
    DOES(xir_value_set_mtype(story_value(net, "c"), xir_mtype_external(ctx, 8196)));
    assert_int_equal(xir_pass_run(net, "plan", "keep,memory=etm", NULL, why), XIR_E_INVALID);
    CHECK_SAID("overlap");
    xir_network_free(net);
}

/* b is read twice, so it is worth more than a and c, and only one of them has room. */
static void what_is_worth_most_is_on_the_chip(void **state) {
    (void)state;
    xir_network *net = story_net("x: fp32 4; a = CumSum x; b = CumSum a; c = CumSum b; d = Add b c; e = CumSum d; out e");
    plan(net, "memory=etm,levels=\"ocm=16,etm\",align=16");
    CHECK_PLACES(net, "xabcde", "x=@4096 a=@4128 b=chip0 c=@4128 d=chip0 e=@4112");
    plan(net, "memory=etm,levels=\"ocm=32,etm\",align=16");
    CHECK_PLACES(net, "abcd", "a=chip16 b=chip0 c=chip16 d=chip0");
    plan(net, "memory=etm,levels=\"ocm=48,etm\",align=16,keep");
    CHECK_PLACES(net, "abcd", "a=chip16 b=chip0 c=chip16 d=chip0");
    DOES(xir_value_set_mtype(story_value(net, "b"), xir_mtype_host(ctx)));
    plan(net, "memory=etm,levels=\"ocm=48,etm\",align=16,keep");
    CHECK_PLACES(net, "abcd", "a=chip16 b=chip32 c=chip16 d=chip0");
    plan(net, "memory=ocm");
    CHECK_PLACES(net, "xe", "x=@4096 e=@4160");
    DOES(xir_memory_check(net, &XIR_INIT(xir_memory_check_options, .onchip = 2 << 20), why));
    xir_network_free(net);
}

static void inputs_may_have_a_second_copy(void **state) {
    (void)state;
    xir_network *net = story_net("x: fp32 4; y: fp32 4; a = Add x y; out a"), *before = xir_network_clone(net);
    plan(net, "memory=etm,double=\"y,x\"");
    CHECK_PLACES(net, "xya", "x=@4096 y=@4160 a=@4352");
    const xir_any *tag = xir_map_find(xir_value_tags(story_value(net, "y")), XIR_STR("double_addr"));
    assert_non_null(tag);
    assert_int_equal(tag->as.integer, 4224);
    assert_int_equal(plan(net, "memory=etm,double=\"y,x\""), 0);
    plan(net, "memory=etm,double=x");
    assert_true(!xir_value_tags(story_value(net, "y")) ||
                !xir_map_find(xir_value_tags(story_value(net, "y")), XIR_STR("double_addr")));
    plan(net, "clear");
    assert_true(xir_network_equal(net, before, true));
    xir_network_free(before);
    xir_network_free(net);
}

/* ---- what notices a wrong plan ----------------------------------------------------------------------------------- */

static xir_status misplace(xir_pass *at) {
    xir_network *net = xir_pass_network(at);
    xir_pass_changed(at, 1);
    return xir_value_set_mtype(story_value(net, "b"), xir_value_mtype(story_value(net, "a")));
}

/* Plans, then puts b where a is, which is read later. */
static xir_status run_misplaced(xir_network *net, const xir_pass_settings *how) {
    static const xir_pass_decl wrong = { XIR_PASS_HEAD("misplace", "puts a value over another one"), .run = misplace };
    xir_pipeline *p = xir_pipeline_new(ctx, why);
    DOES(xir_pipeline_add(p, xir_pass_find(ctx, XIR_STR("plan")), NULL, why));
    DOES(xir_pipeline_add(p, &wrong, NULL, why));
    const xir_status status = xir_pipeline_run(p, net, how, NULL, why);
    xir_pipeline_free(p);
    return status;
}

static void a_verified_plan_must_stay_sound(void **state) {
    (void)state;
    xir_network *net = story_net(STORY);
    assert_int_equal(run_misplaced(net, &XIR_INIT(xir_pass_settings, .verify = true)), XIR_E_INVALID);
    CHECK_SAID("overlap those of value 'a'");
    xir_network_free(net);
}

/* It is run in its memory. */
static void a_proof_notices_a_wrong_plan(void **state) {
    (void)state;
    xir_network *net = story_net(STORY);
    xir_proof *proof = xir_proof_new(ctx, NULL, why);
    xir_pass_watch watch = XIR_INIT(xir_pass_watch);
    DOES(xir_proof_watch(proof, &watch, why));
    const xir_pass_settings how = XIR_INIT(xir_pass_settings, .watches = &watch, .n_watches = 1);
    assert_int_equal(run_misplaced(net, &how), XIR_E_INVALID);
    CHECK_SAID("the network computes something else");
    xir_proof_free(proof);
    xir_network_free(net);
}

/* The values of a call's body need bytes while it runs. */
static void a_call_needs_the_peak_of_its_body(void **state) {
    (void)state;
    xir_network *net = story_net("x: fp32 4; a = CumSum x; b = CumSum a; c = CumSum b; d = CumSum c; out d");
    xir_op *const ops[] = { story_op(net, "b"), story_op(net, "c") };
    assert_non_null(xir_outline(net, ops, 2, NULL));
    xir_liveness *lives = xir_liveness_new(net, NULL, why);
    xir_memory_buffers *buffers = xir_memory_buffers_new(lives, NULL, why);
    size_t scratch = 0;
    for (size_t i = 0; i < xir_memory_buffers_count(buffers); i++) {
        if (xir_memory_buffers_value(buffers, i)) continue;
        scratch++;
        assert_int_equal(xir_memory_buffers_data(buffers)[i].size, 16);
    }
    assert_int_equal(scratch, 1);
    REFUSED_SIZE(net, "limit=47,align=1", "(body)");
    xir_memory_buffers_free(buffers);
    xir_liveness_free(lives);
    xir_network_free(net);
}

static void check_refused(const char *story, const char *options, xir_status status, const char *part, int line) {
    xir_network *net = story_net(story);
    const xir_status found_ = xir_pass_run(net, "plan", options, NULL, why);
    if (found_ != status) fail_msg("line %d: %s", line, xir_status_name(found_));
    check_said(part, line);
    xir_network_free(net);
}
#define REFUSED(story, options, status, part) check_refused(story, options, status, part, __LINE__)

static void bad_options_are_refused(void **state) {
    (void)state;
    REFUSED(STORY, "memory=disk", XIR_E_BOUNDS, "memory: expected chunk, etm or ocm, found 'disk'");
    REFUSED(STORY, "align=48", XIR_E_BOUNDS, "align: expected a power of two, found 48");
    REFUSED(STORY, "params-align=3", XIR_E_BOUNDS, "params-align: expected a power of two, found 3");
    REFUSED(STORY, "effort=3", XIR_E_BOUNDS, "effort: expected 0, 1 or 2, found 3");
    REFUSED(STORY, "base=-1,memory=etm", XIR_E_BOUNDS, "base: -1 is negative");
    REFUSED(STORY, "base=64", XIR_E_INVALID, "base: it has no effect with memory=chunk");
    REFUSED(STORY, "params-align=64", XIR_E_INVALID, "params-align: it has no effect with memory=chunk");
    REFUSED(STORY, "effort=2,reuse=false", XIR_E_INVALID, "effort: it has no effect with reuse=false");
    REFUSED(STORY, "clear,memory=disk", XIR_E_BOUNDS, "memory: expected chunk, etm or ocm, found 'disk'");
    REFUSED(STORY, "chunks=two", XIR_E_BOUNDS, "chunks: expected one or views, found 'two'");
    REFUSED(STORY, "chunks=views,limit=64", XIR_E_INVALID, "limit: it has no effect with chunks=views");
    REFUSED(STORY, "memory=etm,chunks=views", XIR_E_INVALID, "chunks: it has no effect with segments");
    REFUSED(STORY, "double=x", XIR_E_INVALID, "double: it has no effect with memory=chunk");
    REFUSED(STORY, "memory=etm,double=q", XIR_E_UNKNOWN, "double: no input 'q' is planned");
    REFUSED(STORY, "memory=etm,levels=\"ocm=,etm\"", XIR_E_BOUNDS, "levels: expected ocm=BYTES,etm");
    REFUSED(STORY, "memory=etm,levels=\"ocm=1X,etm\"", XIR_E_BOUNDS, "levels: expected ocm=BYTES,etm");
    REFUSED(STORY, "memory=etm,levels=\"ocm=9999999999G,etm\"", XIR_E_BOUNDS, "levels: expected ocm=BYTES,etm");
    REFUSED(STORY, "clear,align=4", XIR_E_INVALID, "align: it has no effect with clear");
    REFUSED(STORY, "limit=127", XIR_E_LIMIT, "the buffers need at least 128 bytes");
    REFUSED(STORY, "limit=127", XIR_E_LIMIT, "the most bytes live while op 'a' runs: 'x' 16, 'a' 16");
    REFUSED(STORY, "limit=140,reuse=false", XIR_E_LIMIT, "the limit is 140");
    REFUSED(STORY, "limit=4100,memory=etm", XIR_E_LIMIT, "the limit is 4100");
    REFUSED(STORY, "base=9223372036854775700,memory=etm", XIR_E_LIMIT, "exceed 2^63 - 1");
    REFUSED(STORY, "limit=4280,memory=etm", XIR_E_LIMIT, "the other segments end at 4288, the limit is 4280");
    REFUSED("x: -1 4; a = Sigmoid x; out a", "", XIR_E_BOUNDS, "the bytes of value 'x' are unknown");
    REFUSED(STORY, "limit=4300,memory=etm", XIR_E_LIMIT,
            "the maps begin at 4288 and need at least 64 bytes, the limit is 4300");
    REFUSED(STORY, "limit=4300,memory=etm", XIR_E_LIMIT, "the most bytes live while op 'b' runs: 'b' 16");
    xir_network *net = story_net("y: fp32 4; x: fp32 2 1073741824 1073741824; a = Sigmoid x; out a");
    assert_int_equal(xir_pass_run(net, "plan", "", NULL, why), XIR_E_BOUNDS);
    assert_true(xir_str_equal(xir_diags_at(why, 0)->path, XIR_STR("/ops/0/outputs/1")));
    CHECK_SAID("beyond 2^63 - 1");
    xir_network_free(net);
    net = story_net("x: fp32 4; y: fp32 0; a = Sigmoid x; b = Sigmoid y; c = Sigmoid b; out a c");
    plan(net, "limit=4224,memory=etm");   /* b has no bytes */
    CHECK_PLACES(net, "xa", "x=@4096 a=@4160");
    xir_network_free(net);
    net = story_net("x: -1 4; a = Sigmoid x; out a");
    plan(net, "upper=8");
    CHECK_PLACES(net, "xa", "x=chunk0 a=chunk128");
    xir_network_free(net);
}

static bool counts_down(void *user) { return !(*(size_t *)user)--; }

/* The caller is asked before the pass, and then for each plan that it makes. */
static void a_run_is_cancelled_while_it_plans(void **state) {
    (void)state;
    xir_pipeline *p = xir_pipeline_parse(ctx, XIR_STR("plan{memory=etm,effort=2}"), why);
    if (!p) xir_diags_print(why, stderr);
    xir_network *net = story_net(STORY);
    size_t stop = 0, left;
    xir_status status = XIR_E_CANCELLED;
    task_each = 1;
    for (; status == XIR_E_CANCELLED; stop++) {
        left = stop;
        xir_diags_clear(why);
        status = xir_pipeline_run(p, net, &XIR_INIT(xir_pass_settings, .cancel = counts_down, .cancel_user = &left),
                                  NULL, why);
        assert_true(!status || xir_diags_count_of(why, XIR_ERROR) == 1);
    }
    task_each = TASK_EACH;
    DOES(status);
    assert_true(stop > 2);
    xir_network_free(net);
    xir_pipeline_free(p);
}

static void planning(want *w) {
    IN_PLENTY(w, w->net = story_net_in(w->ctx, STORY));
    TRY_LOOSELY(w, xir_pass_run(w->net, "plan", "memory=etm", NULL, w->why));
    TRY_LOOSELY(w, xir_pass_run(w->net, "plan", "clear", NULL, w->why));
    TRY_LOOSELY(w, xir_pass_run(w->net, "plan", "reuse=false", NULL, w->why));
    IN_PLENTY(w, w->result = picture(w->net));
}
SCARCE_TEST(planning)

#define PARTS "w: params 2 4; x: fp32 2 4; c = CumSum x; a, b = Split c [sections=1,1 axis=0]; " \
              "d = Concat b a [axis=0]; e = Add d w; f = CumSum e; out f"

static void planning_more(want *w) {
    IN_PLENTY(w, w->net = story_net_in(w->ctx, PARTS));
    TRY_LOOSELY(w, xir_pass_run(w->net, "sort", "order=memory", NULL, w->why));
    TRY_LOOSELY(w, xir_pass_run(w->net, "plan", "memory=ocm,parts,align=4", NULL, w->why));
    TRY_LOOSELY(w, xir_pass_run(w->net, "plan", "memory=etm,parts,align=4,double=x", NULL, w->why));
    TRY_LOOSELY(w, xir_pass_run(w->net, "plan", "memory=etm,keep", NULL, w->why));
    TRY_LOOSELY(w, xir_pass_run(w->net, "plan", "chunks=views", NULL, w->why));
    IN_PLENTY(w, w->result = picture(w->net));
}
SCARCE_TEST(planning_more)

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chunk_has_offsets),
        cmocka_unit_test(external_memory_has_segments),
        cmocka_unit_test(clearing_gives_the_network_back),
        cmocka_unit_test(the_host_keeps_what_the_accelerator_does_not_see),
        cmocka_unit_test(inputs_and_outputs_share_no_bytes),
        cmocka_unit_test(what_the_compiler_has_placed_stays_free),
        cmocka_unit_test(a_new_plan_leaves_nothing_of_the_old),
        cmocka_unit_test(a_failed_plan_changes_nothing),
        cmocka_unit_test(views_of_params_are_where_those_are),
        cmocka_unit_test(each_set_may_have_a_chunk),
        cmocka_unit_test(what_has_an_address_may_keep_it),
        cmocka_unit_test(what_is_worth_most_is_on_the_chip),
        cmocka_unit_test(inputs_may_have_a_second_copy),
        cmocka_unit_test(a_verified_plan_must_stay_sound),
        cmocka_unit_test(a_proof_notices_a_wrong_plan),
        cmocka_unit_test(a_call_needs_the_peak_of_its_body),
        cmocka_unit_test(bad_options_are_refused),
        cmocka_unit_test(a_run_is_cancelled_while_it_plans),
        cmocka_unit_test(test_planning),
        cmocka_unit_test(test_planning_more),
    };
    return RUN_GROUP(tests);
}
