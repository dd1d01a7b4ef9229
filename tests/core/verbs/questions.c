/* Liveness, levels, dominators and walks of networks that contain everything a file may have: cycles, absent inputs,
 * unknown classes and dims, sub ops in sub ops, values that no op makes. Whatever is answered is consistent. */
#include <stdlib.h>
#include "support/net.h"
#include "support/often.h"
#include "support/random_net.h"

typedef struct totals { size_t live, refused, sorted, cycles, sub_ops, unknown; } totals;

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
    assert_true(t.live && t.refused && t.sorted && t.cycles && t.sub_ops && t.unknown);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(any_network_is_answered_for) };
    return RUN_GROUP(tests);
}
