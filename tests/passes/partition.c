/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* partition: what a target runs goes to it, in convex groups; types, borders and reasons; and the parts of a divided
 * network, which give what the whole gives. */
#include <stdlib.h>
#include <xir/division.h>
#include <xir/exec.h>
#include <xir/legal.h>
#include "support/often.h"
#include "support/region_net.h"
#include "support/story.h"

static void run_pass(xir_network *net, const char *text) {
    xir_pipeline *pipeline = xir_pipeline_parse(xir_network_context(net), xir_str_of(text), why);
    assert_non_null(pipeline);
    xir_diags_clear(why);
    if (xir_pipeline_run(pipeline, net, &XIR_INIT(xir_pass_settings, .verify = true), NULL, why)) {
        xir_diags_print(why, stderr);
        fail();
    }
    xir_pipeline_free(pipeline);
}

static void refuse_pass(xir_network *net, const char *text, xir_status code, const char *part) {
    xir_pipeline *pipeline = xir_pipeline_parse(xir_network_context(net), xir_str_of(text), why);
    assert_non_null(pipeline);
    xir_diags_clear(why);
    assert_int_equal(xir_pipeline_run(pipeline, net, NULL, NULL, why), code);
    if (!strstr(xir_diags_at(why, 0)->message.data, part)) fail_msg("%s", xir_diags_at(why, 0)->message.data);
    xir_pipeline_free(pipeline);
}

static int64_t group_of(const xir_op *op) {
    int64_t group = -1;
    return xir_op_tags(op) && xir_tag_int(xir_op_tags(op), "xir.group", &group) ? group : -1;
}

/* "0 - 1": the groups of the ops between the ends, in order. */
static void check_groups(const xir_network *net, const char *expected) {
    char text[200] = "";
    XIR_EACH_OP(op, net) {
        const int64_t group = group_of(op);
        if (xir_op_has_trait(op, XIR_TRAIT_SOURCE) || xir_op_has_trait(op, XIR_TRAIT_SINK)) continue;
        const bool own = xir_target_row_of(xir_op_target(op))->accelerator;
        assert_int_equal(own, group >= 0);
        snprintf(text + strlen(text), sizeof text - strlen(text), group < 0 ? "- " : "%d ", (int)group);
    }
    if (*text) text[strlen(text) - 1] = '\0';
    assert_string_equal(text, expected);
}

/* A sentence of the last run. */
static const xir_diag *finding(const char *part) {
    for (size_t i = 0; i < xir_diags_count(why); i++) {
        if (strstr(xir_diags_at(why, i)->message.data, part)) return xir_diags_at(why, i);
    }
    xir_diags_print(why, stderr);
    fail_msg("no finding says '%s'", part);
    return NULL;
}

#define CHAIN "x: NHWC 1 8 8 4; w: params HWIO 3 3 4 4; a = Conv2d x w; b = ReLU a; e = Erf b; c = Conv2d e w; out c"

/* ---- groups ----------------------------------------------------------------------------------------------------- */

static void ops_that_are_run_are_in_groups(void **state) {
    (void)state;
    xir_network *net = story_net(CHAIN), *before = xir_network_clone(net);
    run_pass(net, "partition{target=buyi}");
    check_groups(net, "0 0 - 1");
    assert_int_equal(xir_target_kind_of(xir_network_ai_target(net)), XIR_TARGET_BUYI);
    const xir_diag *left = finding("Erf 'e': buyi does not run this class");
    assert_int_equal(left->severity, XIR_NOTE);
    CHECK_STR(left->path, "/ops/3");
    assert_non_null(left->rule);
    finding("buyi runs 3 of 4 ops in 2 groups, with 100.00 % of the multiply-adds; 4 values cross borders");
    CHECK_SAME_NUMBERS(before, net);
    /* Again: there is nothing to do. */
    char *once = picture(net);
    run_pass(net, "partition{target=buyi}");
    char *twice = picture(net);
    assert_string_equal(once, twice);
    free(once);
    free(twice);
    xir_network_free(net);
    /* Another core takes the ops over. */
    net = before;
    run_pass(net, "partition{target=zhuge:330}");
    run_pass(net, "partition{target=zhuge:340}");
    check_groups(net, "0 0 - 1");
    CHECK_STR(xir_target_core(xir_op_target(xir_network_op_at(net, 1))), "340");
    refuse_pass(net, "partition{target=buyi}", XIR_E_INVALID, "the op is for zhuge");
    xir_network_free(net);
}

static void small_groups_stay_on_the_host(void **state) {
    (void)state;
    xir_network *net = story_net(CHAIN);
    run_pass(net, "partition{target=buyi,min=2}");
    check_groups(net, "0 0 - -");
    finding("1 op from here on stays on the host: 1 op, below 2");
    run_pass(net, "partition{target=buyi,gain=1}");
    check_groups(net, "0 0 - -");
    finding("1 op from here on stays on the host: 0 bytes stay inside, below 1");
    run_pass(net, "partition{target=buyi,min=3}");
    check_groups(net, "- - - -");
    run_pass(net, "partition{target=buyi}");
    check_groups(net, "0 0 - 1");
    xir_network_free(net);
}

static void groups_become_calls(void **state) {
    (void)state;
    xir_network *net = story_net(CHAIN), *before = xir_network_clone(net);
    run_pass(net, "partition{target=buyi,outline}");
    assert_int_equal(xir_network_op_count(net), 5);
    const xir_op *call = xir_network_op_at(net, 1);
    assert_true(xir_op_is(call, xir_call_op_class()));
    CHECK_STR(xir_op_name(call), "buyi0");
    CHECK_SAME_NUMBERS(before, net);
    DOES(xir_network_try(net, xir_op_target(call), NULL, NULL, NULL));
    run_pass(net, "partition{target=buyi,outline}");
    assert_int_equal(xir_network_op_count(net), 5);
    xir_network_free(before);
    xir_network_free(net);
}

static void what_makes_no_sense_is_refused(void **state) {
    (void)state;
    xir_network *net = story_net(CHAIN);
    refuse_pass(net, "partition", XIR_E_MISSING, "name one");
    refuse_pass(net, "partition{target=buyy}", XIR_E_UNKNOWN, "there is no target 'buyy'");
    refuse_pass(net, "partition{target=buyi:3}", XIR_E_UNKNOWN, "there is no target 'buyi:3'");
    refuse_pass(net, "partition{target=zhuge:}", XIR_E_UNKNOWN, "there is no target 'zhuge:'");
    refuse_pass(net, "partition{target=host}", XIR_E_INVALID, "the host has what no other target runs");
    DOES(xir_op_set_target(xir_network_op_at(net, 3), xir_target_of_kind(ctx, XIR_TARGET_WOLONG, NULL)));
    refuse_pass(net, "partition{target=buyi}", XIR_E_INVALID, "the op is for wolong");
    xir_network_free(net);
}

/* ---- types that the target changes ------------------------------------------------------------------------------- */

static xir_status halve(xir_infer *at) {
    xir_context *in = xir_infer_context(at);
    xir_status status = xir_infer_as_host(at);
    const xir_type *half = xir_type_float(in, XIR_FLOAT_FP16);
    return status ? status : xir_infer_change(at, 0, xir_type_with_element(in, xir_infer_output(at, 0), half, NULL));
}

static const xir_target_rule half_rules[] = { { .cls = xir_relu_class }, { .cls = xir_add_class } };
static const xir_target_row halves = { XIR_TARGET_HEAD("own::Halves", "halves2", "fp16"), .accelerator = true,
                                       XIR_TARGET_RULES(half_rules) };

/* A value is cast once for a border, back where it leaves, and there where another operand has changed. */
static void values_are_cast_at_borders(void **state) {
    (void)state;
    xir_context *with = xir_context_new(NULL);
    const xir_target_row *const rows[] = { &halves };
    DOES(xir_target_register(with, rows, 1, why));
    const int kind = xir_target_find(with, XIR_STR("halves2"));
    DOES(xir_infer_register(with, xir_relu_class(), kind, halve));
    DOES(xir_infer_register(with, xir_add_class(), kind, halve));
    xir_network *net = story_net_in(with, "x: 1 4; z: 1 4; a = ReLU x; b = Add a z; c = Add b z; e = Erf c; f = Sigmoid c; out e f b");
    run_pass(net, "partition{target=halves2}");
    char *text = story_text(net);
    assert_int_equal(xir_network_op_count(net), 2 + 5 + 3);
    size_t casts = 0;
    XIR_EACH_OP(op, net) casts += xir_op_is(op, xir_cast_class());
    if (casts != 3) fail_msg("%zu casts in %s", casts, text);
    free(text);
    const xir_type *fp32 = xir_type_float(with, XIR_FLOAT_FP32);
    xir_value *out[3];
    assert_int_equal(xir_network_outputs(net, out, 3), 3);
    for (int i = 0; i < 3; i++) assert_true(xir_type_equal(xir_type_element(xir_value_type(out[i])), fp32));
    xir_network_free(net);
    xir_context_free(with);
}

/* ---- brute force ------------------------------------------------------------------------------------------------ */

/* The classes that a random target runs. */
static bool runs_relu, runs_add, runs_constant_add, runs_split, runs_concat;
static bool holds_relu(xir_infer *at)   { (void)at; return runs_relu; }
static bool holds_add(xir_infer *at)    { return xir_infer_input_is_params(at, 1) ? runs_constant_add : runs_add; }
static bool holds_split(xir_infer *at)  { (void)at; return runs_split; }
static bool holds_concat(xir_infer *at) { (void)at; return runs_concat; }
static const xir_target_rule random_rules[] = {
    { xir_relu_class, holds_relu, "luck" }, { xir_add_class, holds_add, "luck" },
    { xir_split_class, holds_split, "luck" }, { xir_concat_class, holds_concat, "luck" },
};
static const xir_target_row lucky = { XIR_TARGET_HEAD("own::Lucky", "lucky", "runs what it likes"), .accelerator = true,
                                      XIR_TARGET_RULES(random_rules) };

static const xir_target *lucky_target(void) {
    const xir_target_row *const rows[] = { &lucky };
    if (xir_target_find(ctx, XIR_STR("lucky")) < 0) DOES(xir_target_register(ctx, rows, 1, why));
    return xir_target_named(ctx, XIR_STR("lucky"));
}

static void any_network_for_luck(void) {
    runs_relu = rand() & 1;
    runs_add = rand() & 1;
    runs_constant_add = rand() & 1;
    runs_split = rand() & 1;
    runs_concat = rand() & 1;
}

/* Every op that is legal is in a group, and no other; groups are convex, and no two depend on each other. */
static void check_partition(const xir_network *net, const xir_target *target) {
    reach r;
    reach_of(net, &r);
    int64_t groups = 0;
    bool before[REGION_MOST_OPS][REGION_MOST_OPS] = { { false } };
    for (size_t i = 0; i < r.n; i++) {
        const bool end = xir_op_has_trait(r.ops[i], XIR_TRAIT_SOURCE) || xir_op_has_trait(r.ops[i], XIR_TRAIT_SINK);
        const int64_t group = group_of(r.ops[i]);
        assert_int_equal(group >= 0, !end && xir_op_try(r.ops[i], target, NULL) == XIR_OK);
        if (group >= groups) groups = group + 1;
    }
    assert_true(groups < REGION_MOST_OPS);
    for (int64_t g = 0; g < groups; g++) {
        xir_op *ops[REGION_MOST_OPS];
        size_t n = 0;
        for (size_t i = 0; i < r.n; i++) {
            if (group_of(r.ops[i]) == g) ops[n++] = r.ops[i];
        }
        assert_true(n && reach_is_convex(&r, ops, n));
    }
    for (size_t i = 0; i < r.n; i++) {
        for (size_t j = 0; j < r.n; j++) {
            const int64_t a = group_of(r.ops[i]), b = group_of(r.ops[j]);
            if (a >= 0 && b >= 0 && a != b && r.to[i][j]) before[a][b] = true;
        }
    }
    for (int64_t a = 0; a < groups; a++) {
        for (int64_t b = 0; b < groups; b++) assert_false(before[a][b] && before[b][a]);
    }
}

/* Two groups, one reading from the other, are kept apart by another path between them: a path through ops, or through
 * groups as if each were one op. */
static void check_joined(const xir_network *net) {
    static bool to[REGION_MOST_OPS][REGION_MOST_OPS], reads[REGION_MOST_OPS][REGION_MOST_OPS];
    size_t node[REGION_MOST_OPS];
    reach r;
    reach_of(net, &r);
    memset(to, 0, sizeof to);
    memset(reads, 0, sizeof reads);
    for (size_t i = 0; i < r.n; i++) {   /* a group is known by its first op */
        node[i] = i;
        for (size_t k = i; k-- > 0;)
            if (group_of(r.ops[i]) >= 0 && group_of(r.ops[k]) == group_of(r.ops[i])) node[i] = node[k];
    }
    for (size_t i = 0; i < r.n; i++) {
        for (size_t k = 0; k < r.n; k++) if (r.to[i][k] && node[i] != node[k]) to[node[i]][node[k]] = true;
        for (size_t k = 0; k < xir_op_input_count(r.ops[i]); k++) {
            const xir_value *v = xir_op_input(r.ops[i], (int64_t)k);
            if (v && xir_value_op(v)) reads[node[i]][node[reach_place(&r, xir_value_op(v))]] = true;
        }
    }
    for (size_t k = 0; k < r.n; k++)
        for (size_t i = 0; i < r.n; i++)
            for (size_t j = 0; j < r.n; j++) to[i][j] |= to[i][k] && to[k][j];
    for (size_t a = 0; a < r.n; a++) {
        for (size_t b = 0; b < r.n; b++) {
            bool apart = a == b || !reads[b][a] || group_of(r.ops[a]) < 0 || group_of(r.ops[b]) < 0;
            for (size_t z = 0; z < r.n; z++) apart |= z != a && z != b && to[a][z] && to[z][b];
            if (!apart) fail_msg("groups %d and %d could be one", (int)group_of(r.ops[a]), (int)group_of(r.ops[b]));
        }
    }
}

/* Some ops are in the body of a call, of which the rules are asked about what is in it. */
static void outline_any(xir_network *net) {
    xir_op *ops[REGION_MOST_OPS];
    reach r;
    reach_of(net, &r);
    const size_t n = random_convex(&r, ops);
    if (!xir_outline(net, ops, n, NULL)) xir_network_clear_status(net);
}

static void any_partition_is_convex(void **state) {
    (void)state;
    const xir_target *target = lucky_target();
    srand(50);
    for (int i = 0; i < OFTEN(10000); i++) {
        xir_network *net = region_net(24);
        any_network_for_luck();
        if (i % 4 == 0) outline_any(net);
        assert_int_equal(xir_pass_run(net, "partition", "target=lucky", NULL, NULL), XIR_OK);
        check_partition(net, target);
        check_joined(net);
        xir_network_free(net);
    }
}

static bool holds_now_and_then(xir_infer *at) { (void)at; return rand() & 1; }
static bool asks_for_all(xir_infer *at) {
    for (size_t i = 0; i < 4; i++) {
        (void)xir_type_rank(xir_infer_input(at, i));
        (void)xir_type_dim(xir_infer_output(at, i), 0, false);
        (void)xir_infer_input_value(at, i);
    }
    return true;
}
static const xir_target_rule lies[] = {
    { xir_relu_class, holds_now_and_then, "luck" }, { xir_add_class, holds_now_and_then, "luck" },
    { xir_split_class, asks_for_all, "luck" },      { NULL, asks_for_all, "luck" },
};
static const xir_target_row liar = { XIR_TARGET_HEAD("own::Liar", "liar", "says one thing and another"),
                                     .accelerator = true, .flags = XIR_TARGET_ADVISES, XIR_TARGET_RULES(lies) };

/* Rules that answer one question in two ways, or ask for what does not exist, still give a valid network. */
static void rules_may_lie(void **state) {
    (void)state;
    const xir_target_row *const rows[] = { &liar };
    xir_context *with = xir_context_new(NULL);
    DOES(xir_target_register(with, rows, 1, why));
    srand(51);
    for (int i = 0; i < 300; i++) {
        char text[600] = "v0: fp32 4; v1: fp32 4; ";
        size_t size = strlen(text);
        const unsigned n = 3 + (unsigned)rand() % 14;
        for (unsigned k = 2; k < n; k++) {
            const unsigned a = (unsigned)rand() % k, b = (unsigned)rand() % k;
            size += rand() & 1 ? (size_t)snprintf(text + size, sizeof text - size, "v%u = Add v%u v%u; ", k, a, b)
                               : (size_t)snprintf(text + size, sizeof text - size, "v%u = ReLU v%u; ", k, a);
        }
        snprintf(text + size, sizeof text - size, "out v%u", n - 1);
        xir_network *net = story_net_in(with, text);
        DOES(xir_pass_run(net, "partition", i % 2 ? "target=liar,outline" : "target=liar", NULL, NULL));
        DOES(xir_network_validate(net, why));
        xir_network_free(net);
    }
    xir_context_free(with);
}

/* ---- parts ------------------------------------------------------------------------------------------------------ */

enum { MOST_VALUES = 256, MOST_PORTS = 32 };

/* Arrays by the ids of their values. */
typedef struct known { int64_t id[MOST_VALUES]; xir_array *array[MOST_VALUES]; size_t n; } known;

static xir_array *array_of(const known *k, int64_t id) {
    for (size_t i = 0; i < k->n; i++) {
        if (k->id[i] == id) return k->array[i];
    }
    fail_msg("no part has made value %d", (int)id);
    return NULL;
}

static void run_part(const xir_network *net, known *k) {
    xir_value *in[MOST_PORTS], *out[MOST_PORTS];
    const xir_array *given[MOST_PORTS];
    xir_array *made[MOST_PORTS];
    const size_t n = xir_network_inputs(net, in, MOST_PORTS), m = xir_network_outputs(net, out, MOST_PORTS);
    assert_true(n <= MOST_PORTS && m <= MOST_PORTS && k->n + m <= MOST_VALUES);
    for (size_t i = 0; i < n; i++) given[i] = array_of(k, xir_value_id(in[i]));
    DOES(xir_network_run(net, given, n, made, m, NULL, why));
    for (size_t i = 0; i < m; i++) {
        k->id[k->n] = xir_value_id(out[i]);
        k->array[k->n++] = made[i];
    }
}

/* The parts of a network, run one after the other, give its outputs to the bit. */
static void check_parts(const xir_network *net) {
    xir_division *parts = xir_division_new(net, why);
    if (!parts) xir_diags_print(why, stderr);
    assert_non_null(parts);
    const xir_network *whole = xir_division_whole(parts);
    known k = { .n = 0 };
    xir_value *in[MOST_PORTS], *out[MOST_PORTS];
    const xir_array *given[MOST_PORTS];
    xir_array *expected[MOST_PORTS];
    const size_t n = xir_network_inputs(whole, in, MOST_PORTS), m = xir_network_outputs(whole, out, MOST_PORTS);
    for (size_t i = 0; i < n; i++) {
        k.id[i] = xir_value_id(in[i]);
        k.array[i] = xir_array_new(ctx, xir_value_type(in[i]), why);
        float *numbers = xir_array_edit(k.array[i]);
        for (size_t j = 0; j < xir_array_count(k.array[i]); j++)
            numbers[j] = (float)((int)((i * 7 + j * 5) % 11) - 5) / 3;
        given[i] = k.array[i];
    }
    k.n = n;
    DOES(xir_network_run(net, given, n, expected, m, NULL, why));
    xir_division_part part = XIR_INIT(xir_division_part);
    size_t ops = 0;
    for (size_t i = 0; xir_division_at(parts, i, &part) == XIR_OK; i++) {
        run_part(part.net, &k);
        ops += part.ops;
    }
    assert_int_equal(ops + 2, xir_network_op_count(whole));
    for (size_t i = 0; i < m; i++) {
        size_t size, other;
        const xir_array *made = array_of(&k, xir_value_id(out[i]));
        const void *a = xir_array_data(expected[i], &size), *b = xir_array_data(made, &other);
        assert_int_equal(size, other);
        assert_memory_equal(a, b, size);
        xir_array_free(expected[i]);
    }
    for (size_t i = 0; i < k.n; i++) xir_array_free(k.array[i]);
    xir_division_free(parts);
}

static void parts_give_what_the_whole_gives(void **state) {
    (void)state;
    lucky_target();
    srand(51);
    for (int i = 0; i < OFTEN(1000); i++) {
        xir_network *net = region_net(24);
        any_network_for_luck();
        check_parts(net);   /* one part: the host's */
        assert_int_equal(xir_pass_run(net, "partition", "target=lucky", NULL, NULL), XIR_OK);
        check_parts(net);
        assert_int_equal(xir_pass_run(net, "partition", "target=lucky,outline", NULL, NULL), XIR_OK);
        check_parts(net);
        xir_network_free(net);
    }
}

static void groups_that_are_not_convex_make_no_parts(void **state) {
    (void)state;
    xir_network *net = ladder_net();
    const xir_any zero = xir_any_int(0);
    DOES(xir_op_set_tag(named_op(net, "b"), XIR_STR("xir.group"), &zero));
    DOES(xir_op_set_tag(named_op(net, "d"), XIR_STR("xir.group"), &zero));
    xir_diags_clear(why);
    assert_null(xir_division_new(net, why));
    finding("group 0: ");
    assert_null(xir_division_new(NULL, why));
    assert_int_equal(xir_division_count(NULL), 0);
    assert_int_equal(xir_division_at(NULL, 0, NULL), XIR_E_BOUNDS);
    assert_null(xir_division_whole(NULL));
    xir_division_free(NULL);
    xir_network_free(net);
}

/* ---- little memory ---------------------------------------------------------------------------------------------- */

static bool divide(xir_context *with) {
    xir_network *net = story_net_in(with, CHAIN);
    bool done = net && xir_pass_run(net, "legalize", "target=buyi", NULL, NULL) == XIR_OK &&
                xir_pass_run(net, "partition", "target=buyi,outline", NULL, NULL) == XIR_OK;
    xir_division *parts = done ? xir_division_new(net, NULL) : NULL;
    done = parts != NULL;
    xir_division_free(parts);
    xir_network_free(net);
    return done;
}

static const char *drawn;
static bool divide_drawn(xir_context *with) {
    xir_network *net = story_net_in(with, drawn);
    const bool done = net && xir_pass_run(net, "partition", "target=buyi,outline", NULL, NULL) == XIR_OK;
    xir_network_free(net);
    return done;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    check_memory(divide);
    srand(52);
    for (int i = 0; i < OFTEN(10); i++) {
        static const char *const classes[] = { "ReLU", "Erf", "Sigmoid", "Exp" };
        char text[400] = "v0: 1 8; ";
        size_t size = strlen(text);
        for (unsigned k = 1; k < 9; k++) {
            const unsigned a = (unsigned)rand() % k, b = (unsigned)rand() % k, c = (unsigned)rand() % 4;
            size += rand() % 3 ? (size_t)snprintf(text + size, sizeof text - size, "v%u = %s v%u; ", k, classes[c], a)
                               : (size_t)snprintf(text + size, sizeof text - size, "v%u = Add v%u v%u; ", k, a, b);
        }
        snprintf(text + size, sizeof text - size, "out v8");
        drawn = text;
        check_memory(divide_drawn);
    }
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ops_that_are_run_are_in_groups),
        cmocka_unit_test(small_groups_stay_on_the_host),
        cmocka_unit_test(groups_become_calls),
        cmocka_unit_test(what_makes_no_sense_is_refused),
        cmocka_unit_test(values_are_cast_at_borders),
        cmocka_unit_test(any_partition_is_convex),
        cmocka_unit_test(rules_may_lie),
        cmocka_unit_test(parts_give_what_the_whole_gives),
        cmocka_unit_test(groups_that_are_not_convex_make_no_parts),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return RUN_GROUP(tests);
}
