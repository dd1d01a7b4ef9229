/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Plans of random networks, whose ops are in part of an accelerator: a run that keeps of each value only its name, at
 * the value's address, reads the names that it expects. */
#include "support/again.h"
#include "support/story.h"

enum { VALUES = 24, WORDS = 1 << 14 };

typedef struct run {
    const xir_value *at[WORDS];    /* by address / 4: the value in these bytes    */
    bool             accelerated, etm;
} run;

/* Ops of a random shape, each of which reads earlier values: "v3 = Add v1 v2". */
static xir_network *random_net(bool views_of_params, char *text, size_t room) {
    size_t n = (size_t)snprintf(text, room, "w: params 4; v0: fp32 4; v1: fp32 4");
    for (unsigned i = 2; i < VALUES; i++) {
        const unsigned back = 1 + (unsigned)chance(i < 5 ? i : 5), a = i - back, b = (unsigned)chance(i);
        switch (chance(6)) {
        case 0:  n += (size_t)snprintf(text + n, room - n, "; v%u = Add v%u v%u", i, a, b); break;
        case 1:  n += (size_t)snprintf(text + n, room - n, "; v%u = Add v%u w", i, a); break;
        case 2: {
            char of[16] = "w";
            if (!views_of_params || chance(4)) snprintf(of, sizeof of, "v%u", a);
            n += (size_t)snprintf(text + n, room - n, "; v%u = Reshape %s [shape=4 layout=@layout(*)]", i, of);
            break;
        }
        default: n += (size_t)snprintf(text + n, room - n, "; v%u = Sigmoid v%u", i, a); break;
        }
    }
    n += (size_t)snprintf(text + n, room - n, "; last = Add v%u w; out v%u last", VALUES - 1, (unsigned)chance(VALUES));
    return story_net(text);
}

static const xir_mtype *mtype_of(const xir_value *v) { return xir_value_mtype(v); }

static bool has_address(const xir_value *v) { return xir_mtype_kind_of(mtype_of(v)) != XIR_MTYPE_HOST; }

static uint64_t address_of(const xir_value *v) {
    const xir_mtype *mtype = mtype_of(v);
    return xir_mtype_kind_of(mtype) == XIR_MTYPE_CHUNK ? xir_mtype_offset(mtype) : xir_mtype_addr(mtype);
}

static bool is_accelerated(const xir_op *op) { return xir_target_kind_of(xir_op_target(op)) == XIR_TARGET_BUYI; }

/* The value, or the Params, that a chain of views is of: it has the same bytes, wherever they are. */
static const xir_value *root_of(const xir_value *v) {
    while (xir_value_op(v) && xir_op_is(xir_value_op(v), xir_reshape_class())) v = xir_op_input(xir_value_op(v), 0);
    return v;
}

static void put(run *r, const xir_value *v, const xir_value *bytes) {
    const uint64_t at = address_of(v) / 4;
    if (!has_address(v)) return;
    assert_true(at + 4 <= WORDS);
    for (int i = 0; i < 4; i++) r->at[at + (uint64_t)i] = bytes;
}

static bool is_in(const run *r, const xir_value *v, const xir_value *bytes) {
    const uint64_t at = address_of(v) / 4;
    for (int i = 0; i < 4; i++) {
        if (r->at[at + (uint64_t)i] != bytes) return false;
    }
    return true;
}

/* Params have addresses in external memory, and so have their views. */
static bool needs_address(const run *r, const xir_value *v) { return r->etm || xir_value_op(root_of(v)); }

/* Values that planned ops read or make have addresses, and are read from them. */
static void check_op(run *r, const xir_op *op, const char *text) {
    const bool planned = !r->accelerated || is_accelerated(op);
    for (size_t i = 0; i < xir_op_input_count(op); i++) {
        const xir_value *v = xir_op_input(op, (int64_t)i);
        if (planned && needs_address(r, v) && !has_address(v)) fail_msg("an input is not planned: %s", text);
        if (has_address(v) && !is_in(r, v, root_of(v))) fail_msg("an input is overwritten: %s", text);
    }
    for (size_t i = 0; i < xir_op_output_count(op); i++) {
        const xir_value *v = xir_op_output(op, (int64_t)i);
        if (planned && needs_address(r, v) && !has_address(v)) fail_msg("an output is not planned: %s", text);
        put(r, v, root_of(v));
    }
}

static bool is_in_segment(const xir_network *net, const char *name, const xir_value *v) {
    uint64_t from_to[2];
    for (int i = 0; i < 2; i++) {
        char key[64];
        snprintf(key, sizeof key, "%s_segment_%s", name, i ? "bytesize" : "addr");
        from_to[i] = (uint64_t)xir_map_find(xir_network_tags(net), xir_str_of(key))->as.integer;
    }
    return address_of(v) >= from_to[0] && address_of(v) + 16 <= from_to[0] + from_to[1];
}

static bool is_read_by(const xir_network *net, const xir_value *v, bool accelerator) {
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) {
        for (size_t i = 0; i < xir_op_input_count(op); i++) {
            if (xir_op_input(op, (int64_t)i) == v && is_accelerated(op) == accelerator) return true;
        }
    }
    return false;
}

/* Values that host and accelerator exchange are in their segment. */
static void check_segments(const xir_network *net, const char *text) {
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) {
        for (size_t i = 0; i < xir_op_output_count(op); i++) {
            const xir_value *v = xir_op_output(op, (int64_t)i);
            const xir_value *of = root_of(v);
            if (!xir_value_op(of) || !has_address(v)) continue;   // a view of Params
            const bool input = !is_accelerated(op), output = !input && is_read_by(net, v, false);
            if (input && !is_in_segment(net, "input", v)) fail_msg("an input is elsewhere: %s", text);
            if (output && !is_in_segment(net, "output", v)) fail_msg("an output is elsewhere: %s", text);
            if (!input && of == v && is_in_segment(net, "input", v)) fail_msg("an input is written over: %s", text);
        }
    }
}

static void check_plan(const xir_network *net, bool accelerated, bool etm, const char *text) {
    static run r;
    r = (run){ .accelerated = accelerated, .etm = etm };
    put(&r, story_value(net, "w"), story_value(net, "w"));
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) check_op(&r, op, text);
    if (has_address(story_value(net, "w")) && !is_in(&r, story_value(net, "w"), story_value(net, "w")))
        fail_msg("Params are overwritten: %s", text);
}

static void values_are_where_their_readers_expect_them(void **state) {
    static const char *const hows[] = { "memory=etm", "memory=etm,in-place=false,align=16", "", "memory=etm,reuse=false",
                                        "memory=etm,effort=2,align=16", "in-place=false", "memory=etm",
                                        "parts,align=16", "memory=etm,parts,align=16", "memory=ocm,align=16",
                                        "memory=etm,levels=\"ocm=48,etm\",align=16,in-place=false" };
    const xir_target *buyi = xir_target_of_kind(ctx, XIR_TARGET_BUYI, NULL);
    (void)state;
    for (size_t i = 0; i < again_cases(400); i++) {
        char text[4000];
        chance_begin(i);
        const bool views = chance(2);
        const uint64_t part = chance(4);   // of the ops, of four
        xir_network *net = random_net(views, text, sizeof text);
        bool any = false;
        for (xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) {
            const bool inside = xir_op_input_count(op) && xir_op_output_count(op);
            if (!inside || chance(4) >= part) continue;
            DOES(xir_op_set_target(op, buyi));
            any = true;
        }
        for (size_t k = 0; k < sizeof hows / sizeof *hows; k++) {
            DOES(xir_pass_run(net, "plan", hows[k], NULL, why));
            const bool etm = strstr(hows[k], "etm") != NULL;
            check_plan(net, any, etm, text);
            if (any && etm) check_segments(net, text);
            DOES(xir_memory_check(net, NULL, why));
        }
        DOES(xir_pass_run(net, "plan", "clear", NULL, why));
        xir_network_free(net);
    }
}

/* Takes the addresses of some values away. A set of values that share bytes loses all of them or none, since its first
 * value decides. */
static void take_some(xir_network *net) {
    for (xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) {
        for (size_t i = 0; i < xir_op_output_count(op); i++) {
            xir_value *v = xir_op_output(op, (int64_t)i);
            const xir_value *of = root_of(v);
            const bool taken = of == v ? chance(2) != 0 : xir_value_op(of) && !has_address(of);
            if (taken) DOES(xir_value_set_mtype(v, xir_mtype_host(ctx)));
        }
    }
}

static void what_is_kept_stays_and_others_are_around_it(void **state) {
    static const char *const hows[] = { "in-place=false", "memory=etm,in-place=false" };
    (void)state;
    for (size_t i = 0; i < again_cases(400); i++) {
        char text[4000], keep[80];
        uint64_t kept[VALUES + 2];
        chance_begin(i);
        xir_network *net = random_net(false, text, sizeof text);
        const char *how = hows[chance(2)];
        snprintf(keep, sizeof keep, "%s,keep", how);
        DOES(xir_pass_run(net, "plan", how, NULL, why));
        take_some(net);
        size_t n = 0;
        for (xir_op *op = xir_network_first(net); op; op = xir_op_next(op))
            if (xir_op_output_count(op)) kept[n++ % COUNT(kept)] = has_address(xir_op_output(op, 0))
                                                                 ? address_of(xir_op_output(op, 0)) : UINT64_MAX;
        DOES(xir_pass_run(net, "plan", keep, NULL, why));
        n = 0;
        for (xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) {
            if (!xir_op_output_count(op)) continue;
            const uint64_t was = kept[n++ % COUNT(kept)];
            if (was != UINT64_MAX) assert_true(address_of(xir_op_output(op, 0)) == was);
        }
        check_plan(net, false, strstr(how, "etm") != NULL, text);
        DOES(xir_memory_check(net, NULL, why));
        xir_network_free(net);
    }
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_where_their_readers_expect_them),
        cmocka_unit_test(what_is_kept_stays_and_others_are_around_it),
    };
    return RUN_GROUP(tests);
}
