/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Liveness, levels, dominators, walks and regions of networks that contain everything a file may have: cycles, absent
 * inputs, unknown classes and dims, sub ops in sub ops, values that no op makes. Whatever is answered is consistent,
 * and what is refused changes nothing. */
#include <stdlib.h>
#include <xir/region.h>
#include "support/invariants.h"
#include "support/net.h"
#include "support/often.h"
#include "support/random_net.h"

typedef struct totals {
    size_t live, refused, sorted, cycles, sub_ops, unknown;
    size_t regions, unsorted, no_regions, grouped, no_groups, parts, no_parts;
} totals;

static uint64_t bytes_at(const xir_liveness *l, size_t at) { return xir_liveness_bytes_at(l, (int64_t)at); }

/* Values that share take no more than values that do not, and the bytes of a value are there as long as it lives. */
static void look_at_lives(const xir_network *net, totals *t) {
    const xir_liveness_options both = XIR_INIT(xir_liveness_options, .views = true, .in_place = true);
    xir_liveness *plain = xir_liveness_new(net, NULL, why), *shared = xir_liveness_new(net, &both, why);
    assert_int_equal(!plain, !shared);
    plain ? t->live++ : t->refused++;
    if (!plain) {
        assert_true(xir_diags_count(why) > 0);
        xir_diags_clear(why);
        return;
    }
    uint64_t most = 0;
    for (size_t i = 0; i < xir_liveness_op_count(plain); i++) {
        assert_true(bytes_at(shared, i) <= bytes_at(plain, i));
        assert_true(xir_liveness_unknown_at(shared, (int64_t)i) <= xir_liveness_unknown_at(plain, (int64_t)i));
        if (bytes_at(plain, i) > most) most = bytes_at(plain, i);
    }
    xir_live_peak peak = XIR_INIT(xir_live_peak);
    DOES(xir_liveness_peak(plain, &peak, why));
    assert_true(peak.bytes == most);
    t->unknown += peak.unknown > 0;
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) {
        for (size_t i = 0; i < xir_op_output_count(op); i++) {
            const xir_value *v = xir_op_output(op, (int64_t)i);
            xir_life life = XIR_INIT(xir_life), in = XIR_INIT(xir_life);
            assert_true(xir_liveness_of(shared, v, &life));
            assert_true(life.first <= life.last && life.last <= life.end);
            assert_int_equal(life.first, xir_network_index_of(net, op));
            if (!life.in) continue;
            assert_true(xir_liveness_of(shared, life.in, &in));
            assert_true(in.in == life.in && in.first <= life.first && in.end == life.end && in.bytes == life.bytes);
        }
    }
    xir_liveness_free(plain);
    xir_liveness_free(shared);
}

/* A level is above those of what an op reads, a dominator is on a lower level. */
static void look_at_order(const xir_network *net, totals *t) {
    xir_levels *l = xir_levels_new(net, why);
    xir_dominance *d = xir_dominance_new(net, why);
    assert_int_equal(!l, !d);
    l ? t->sorted++ : t->cycles++;
    size_t in_levels = 0;
    for (size_t i = 0; i < xir_levels_count(l); i++) in_levels += xir_levels_ops(l, i, NULL, 0);
    for (const xir_op *op = xir_network_first(net); l && op; op = xir_op_next(op)) {
        const xir_op *above = xir_dominator(d, op);
        assert_true(xir_dominates(d, op, op));
        if (above) assert_true(xir_levels_of(l, above) < xir_levels_of(l, op) && xir_dominates(d, above, op));
        for (size_t i = 0; i < xir_op_input_count(op); i++) {
            const xir_value *v = xir_op_input(op, (int64_t)i);
            const xir_op *maker = v ? xir_value_op(v) : NULL;
            if (maker && xir_levels_of(l, maker) >= 0) assert_true(xir_levels_of(l, maker) < xir_levels_of(l, op));
        }
    }
    assert_true(!l || in_levels == xir_network_op_count(net));
    if (!l) assert_true(xir_diags_count(why) > 0);
    xir_diags_clear(why);
    xir_levels_free(l);
    xir_dominance_free(d);
}

typedef struct seen { size_t ops, values, params; } seen;

static xir_walk_answer see_op(void *user, xir_op *op) {
    (void)op;
    ((seen *)user)->ops++;
    return XIR_WALK_ON;
}
static xir_walk_answer see_value(void *user, xir_value *value) {
    assert_false(xir_value_is_params(value));
    ((seen *)user)->values++;
    return XIR_WALK_ON;
}
static xir_walk_answer see_params(void *user, xir_value *value) {
    assert_true(xir_value_is_params(value));
    ((seen *)user)->params++;
    return XIR_WALK_ON;
}

static void walk(const xir_network *net, totals *t) {
    seen s = { 0 };
    const xir_walker how = XIR_INIT(xir_walker, .user = &s, .op = see_op, .value = see_value, .params = see_params);
    DOES(xir_network_walk(net, &how, why));
    assert_true(s.ops >= xir_network_op_count(net));
    assert_int_equal(s.params, xir_network_params(net, NULL, 0));
    t->sub_ops += s.ops > xir_network_op_count(net);
}

/* ---- regions ----------------------------------------------------------------------------------------------------- */

enum { MOST = 24 };

static void check_same(xir_network *net, const xir_network *before, const char *after, bool exactly) {
    const char *broken = broken_invariant(net, ASK_ALL);
    if (broken) fail_msg("after %s: %s", after, broken);
    assert_int_equal(xir_network_op_count(net), xir_network_op_count(before));
    if (exactly && !xir_network_equal(net, before, true)) fail_msg("%s changes the network", after);
}

/* Some ops that are near each other, perhaps with ends of the network and sub ops among them. */
static size_t some_ops(const xir_network *net, xir_op **ops) {
    const size_t all = xir_network_op_count(net), first = all ? chance(all) : 0, near = 1 + chance(MOST);
    size_t n = 0;
    for (size_t i = first; i < all && i < first + near; i++)
        if (n < MOST && chance(3)) ops[n++] = xir_network_op_at(net, (int64_t)i);
    return n;
}

static int by_slot(const xir_op *op, void *user) {
    (void)user;
    return (int)(xir_op_slot(op) * 7919 / 16 % 3) - 1;
}

/* Returns true if values are made before they are used, those of sub ops too, an Input is at the head alone, and an
 * Output at the end. */
static bool is_sorted(const xir_network *net) {
    xir_groups *groups = xir_groups_new(net, by_slot, NULL, NULL);
    bool sorted = groups != NULL;
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) {
        const uint32_t traits = xir_class_traits(xir_op_class(op));
        if (traits & XIR_TRAIT_SOURCE) sorted &= op == xir_network_first(net);
        if (traits & XIR_TRAIT_SINK) sorted &= !xir_op_next(op);
    }
    xir_groups_free(groups);
    return sorted;
}

/* In a network that is not sorted, a region comes back too, but its ops may be in another order, and a path through ops
 * on either side of it is not seen. */
static void move_a_region(xir_network *net, totals *t) {
    xir_op *ops[MOST], *path[MOST];
    const bool sorted = is_sorted(net);
    const size_t n = some_ops(net, ops);
    xir_network *before = xir_network_clone(net);
    assert_non_null(before);
    const xir_status convex = xir_region_check(net, ops, n, NULL);
    assert_int_equal(xir_region_path(net, ops, n, path, MOST) == 0, convex == XIR_OK);
    xir_op *call = xir_outline(net, ops, n, NULL);
    if (call) {
        assert_true(convex == XIR_OK || !sorted);
        sorted ? t->regions++ : t->unsorted++;
        const char *broken = broken_invariant(net, ASK_ALL);
        if (broken) fail_msg("after outlining: %s", broken);
        if (xir_op_inline(call)) {
            xir_diags_print(xir_network_diags(net), stderr);
            fail_msg("a region does not come back");
        }
    } else {
        t->no_regions++;
        assert_true(xir_network_status(net) && xir_diags_count(xir_network_diags(net)) > 0);
        xir_network_clear_status(net);
    }
    check_same(net, before, call ? "inlining" : "a refusal", sorted || !call);
    xir_network_free(before);
}

static void find_groups(const xir_network *net, totals *t) {
    xir_groups *groups = xir_groups_new(net, by_slot, NULL, why);
    groups ? t->grouped++ : t->no_groups++;
    if (!groups) assert_true(xir_diags_count(why) > 0);
    for (size_t i = 0; i < xir_groups_count(groups); i++) {
        const xir_ops group = xir_groups_at(groups, i);
        DOES(xir_region_check(net, group.data, group.size, why));
    }
    xir_groups_free(groups);
    xir_diags_clear(why);
}

static size_t some_values(const xir_network *net, xir_value **values) {
    size_t n = 0;
    for (size_t most = chance(4), i = 0; i < most; i++) {
        const xir_op *op = xir_network_op_at(net, (int64_t)chance(xir_network_op_count(net)));
        if (xir_op_output_count(op)) values[n++] = xir_op_output(op, (int64_t)chance(xir_op_output_count(op)));
    }
    return n;
}

static void cut_a_part(const xir_network *net, totals *t) {
    xir_value *begin[4], *end[4];
    const size_t n_begin = some_values(net, begin), n_end = some_values(net, end);
    xir_network *part = xir_extract(net, begin, n_begin, end, n_end, why);
    part ? t->parts++ : t->no_parts++;
    if (!part) assert_true(xir_diags_count(why) > 0);
    const char *broken = part ? broken_invariant(part, ASK_ALL) : NULL;
    if (broken) fail_msg("a part: %s", broken);
    xir_diags_clear(why);
    xir_network_free(part);
}

static void look_at_regions(xir_network *net, totals *t) {
    if (!xir_network_op_count(net)) return;
    for (int i = 0; i < 4; i++) {
        move_a_region(net, t);
        cut_a_part(net, t);
    }
    find_groups(net, t);
}

/* ---- any network ------------------------------------------------------------------------------------------------- */

static void any_network_is_answered_for(void **state) {
    (void)state;
    const xir_load_options structure = XIR_INIT(xir_load_options, .format = "json", .no_params = true);
    totals t = { 0 };
    for (uint64_t seed = 1; seed <= OFTEN(1500); seed++) {
        random_net *r = random_net_make(ctx, seed, NULL);
        size_t size;
        char *text = random_net_text(r, NULL, 0, "d41d8cd98f00b204e9800998ecf8427e", &size);
        xir_network *net = xir_network_read(ctx, text, size, XIR_STR("net.json"), &structure, NULL);
        for (int i = 0; net && i < 3; i++) {
            look_at_lives(net, &t);
            look_at_order(net, &t);
            walk(net, &t);
            look_at_regions(net, &t);
            /* In another order, and with ops removed. */
            const size_t n = xir_network_op_count(net);
            xir_op *op = n ? xir_network_op_at(net, (int64_t)chance(n)) : NULL;
            if (op && i) (void)xir_network_remove(net, op);
            else if (op) (void)xir_op_move(op, xir_network_op_at(net, (int64_t)chance(n)));
        }
        free(text);
        xir_network_free(net);
        random_net_free(r);
    }
    print_message("%zu with lives, %zu refused; %zu without cycles, %zu with; %zu with sub ops, %zu with unknown bytes\n",
                  t.live, t.refused, t.sorted, t.cycles, t.sub_ops, t.unknown);
    print_message("%zu regions, %zu in networks that are not sorted, %zu refused; %zu with groups, %zu refused; "
                  "%zu parts, %zu refused\n", t.regions, t.unsorted, t.no_regions, t.grouped, t.no_groups, t.parts,
                  t.no_parts);
    assert_true(t.live && t.refused && t.sorted && t.cycles && t.sub_ops && t.unknown);
    assert_true(t.regions && t.unsorted && t.no_regions && t.grouped && t.no_groups && t.parts && t.no_parts);
}

GROUP {
    const struct CMUnitTest tests[] = { cmocka_unit_test(any_network_is_answered_for) };
    return RUN_GROUP(tests);
}
