/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Long chains of random edits. After each step every invariant holds, the number of ops is the one that the results
 * imply, and a refused call has changed nothing. */
#include <inttypes.h>
#include <stdio.h>
#include <xir/icraft.h>
#include "support/net.h"

enum { MOST_OPS = 120, MOST_LATE = 8, STEPS = 10000 };

typedef struct play {
    xir_network    *net;
    const xir_type *types[3];
    xir_op         *late[MOST_LATE];   /* made but not placed */
    size_t          n_late;
    xir_value      *recent[16];        /* Params that several ops use */
    size_t          n_recent;
    size_t          n_ops;             /* as the results imply */
    const char     *step;
} play;

/* ---- chance ----------------------------------------------------------------------------------------------------- */

static bool once_in(uint64_t n) { return chance(n) == 0; }

static xir_op *any_placed(const play *p) {
    size_t i = chance(p->n_ops);
    if (once_in(4)) return xir_network_op_at(p->net, (int64_t)i);
    xir_op *op = xir_network_first(p->net);
    while (i--) op = xir_op_next(op);
    return op;
}

static xir_op *any_op(const play *p) {
    if (p->n_late && once_in(6)) return p->late[chance(p->n_late)];
    xir_op *op = any_placed(p);
    const xir_hard_op_attrs *hard = xir_hard_op_of(op);
    if (hard && hard->sub_hard_ops.size && once_in(2)) return hard->sub_hard_ops.data[chance(hard->sub_hard_ops.size)];
    return op;
}

static xir_value *some_params(play *p) {
    size_t at = chance(COUNT(p->recent));
    if (at < p->n_recent && !once_in(4)) return p->recent[at];
    xir_value *v = xir_params_new(p->net, XIR_STR("p"), p->types[chance(3)]);
    assert_non_null(v);
    if (p->n_recent < COUNT(p->recent)) p->recent[p->n_recent++] = v;
    else p->recent[at] = v;
    return v;
}

static xir_value *any_value(const play *p) {
    for (int i = 0; i < 10; i++) {
        const xir_op *op = any_op(p);
        if (xir_op_output_count(op)) return xir_op_output(op, (int64_t)chance(xir_op_output_count(op)));
    }
    return xir_op_output(xir_network_first(p->net), 0);
}

static xir_value *any_input(play *p) {
    switch (chance(12)) {
    case 0:  return NULL;
    case 1:
    case 2:  return some_params(p);
    default: return any_value(p);
    }
}

/* A position of the op's inputs, sometimes past the end. */
static size_t any_position(const xir_op *op) { return chance(xir_op_input_count(op) + 1 + once_in(8)); }

static void forget_late(play *p, const xir_op *op) {
    for (size_t i = 0; i < p->n_late; i++) {
        if (p->late[i] == op) p->late[i--] = p->late[--p->n_late];
    }
}

/* ---- making ----------------------------------------------------------------------------------------------------- */

static xir_hard_op_attrs any_attrs(play *p, xir_value **room, xir_op **parts) {
    xir_hard_op_attrs a = xir_hard_op_init();
    size_t n = chance(3);
    for (size_t i = 0; i < n; i++) room[i] = some_params(p);
    a.instr = (xir_values){ room, n };
    a.layer_count = (int64_t)chance(3);
    if (p->n_late && once_in(4)) {
        parts[0] = p->late[chance(p->n_late)];
        a.sub_hard_ops = (xir_ops){ parts, 1 };
    }
    return a;
}

static xir_op *make(play *p, bool place) {
    xir_value *inputs[6], *params_room[3];
    xir_op *parts[1], *op;
    xir_hard_op_attrs attrs = any_attrs(p, params_room, parts);
    xir_op_desc desc = XIR_INIT(xir_op_desc, .inputs = inputs, .id = XIR_NO_ID, .name = XIR_STR("op"),
                                .types = p->types);
    if (place && once_in(2)) desc.before = any_placed(p);
    if (place && once_in(8)) desc.id = (int64_t)chance(400) - 2;
    if (once_in(3)) {   /* types are inferred */
        desc.cls = xir_class_find_decl(ctx, xir_relu_class());
        inputs[0] = any_value(p);
        desc.n_inputs = 1;
        if (xir_value_type(inputs[0])) desc.types = NULL;
        else desc.n_types = 1;
        op = place ? xir_network_add(p->net, &desc) : xir_op_new(p->net, &desc);
    } else {
        desc.cls = xir_class_find_decl(ctx, xir_hard_op_class());
        desc.attrs = &attrs;
        desc.n_inputs = chance(6);
        desc.n_types = chance(4);
        for (size_t i = 0; i < desc.n_inputs; i++) inputs[i] = any_input(p);
        op = place ? xir_network_add(p->net, &desc) : xir_op_new(p->net, &desc);
        if (op && attrs.sub_hard_ops.size) forget_late(p, parts[0]);
    }
    if (op && place) p->n_ops++;
    return op;
}

static xir_status status_of(const play *p, const void *made) { return made ? XIR_OK : xir_network_status(p->net); }

/* ---- steps ------------------------------------------------------------------------------------------------------ */

typedef xir_status step_fn(play *p);

static xir_status step_add(play *p) {
    if (p->n_ops >= MOST_OPS) return XIR_OK;
    return status_of(p, make(p, true));
}

static xir_status step_make(play *p) {
    if (p->n_late == MOST_LATE) return XIR_OK;
    xir_op *op = make(p, false);
    if (op) p->late[p->n_late++] = op;
    return status_of(p, op);
}

static xir_status step_place(play *p) {
    if (!p->n_late || p->n_ops >= MOST_OPS) return XIR_OK;
    xir_op *op = p->late[chance(p->n_late)];
    if (once_in(4)) xir_op_set_id(op, (int64_t)chance(400));
    if (once_in(4) && xir_op_output_count(op)) xir_value_set_id(xir_op_output(op, 0), (int64_t)chance(800));
    xir_network_clear_status(p->net);
    xir_op *before = once_in(2) ? any_placed(p) : NULL;
    char *picture_before = picture(p->net);
    xir_status status = xir_op_place(op, before);
    if (!status) {
        forget_late(p, op);
        p->n_ops++;
    } else {
        char *after = picture(p->net);
        assert_string_equal(picture_before, after);
        free(after);
    }
    free(picture_before);
    return status;
}

static xir_status step_erase(play *p) {
    if (p->n_late && once_in(4)) {
        xir_op *op = p->late[chance(p->n_late)];
        xir_status status = xir_op_erase(op);
        if (!status) forget_late(p, op);
        return status;
    }
    if (p->n_ops < 2) return XIR_OK;
    xir_op *op = any_placed(p);
    if (op == xir_network_first(p->net)) return XIR_OK;
    xir_status status = xir_op_erase(op);
    if (!status) p->n_ops--;
    return status;
}

static xir_status step_remove(play *p) {
    xir_op *op = any_placed(p);
    if (p->n_ops < MOST_OPS / 2 || op == xir_network_first(p->net)) return XIR_OK;
    xir_status status = xir_network_remove(p->net, op);
    if (!status) p->n_ops--;
    return status;
}

static bool pick_some(const xir_op *op, void *user) {
    (void)user;
    return xir_op_prev(op) && once_in(10);
}

static xir_status step_remove_some(play *p) {
    if (p->n_ops < MOST_OPS / 2 || !once_in(20)) return XIR_OK;
    size_t removed;
    xir_status status = xir_network_remove_if(p->net, pick_some, NULL, &removed);
    p->n_ops -= removed;
    return status;
}

static xir_status step_bypass(play *p) {
    xir_op *ops[3];
    size_t n = 1 + chance(3);
    for (size_t i = 0; i < n; i++) {
        ops[i] = any_placed(p);
        if (ops[i] == xir_network_first(p->net)) return XIR_OK;
    }
    if (p->n_ops < MOST_OPS / 3) return XIR_OK;
    xir_status status = xir_network_bypass(p->net, ops, n);
    if (!status) p->n_ops -= n;
    return status;
}

static xir_status step_replace(play *p) {
    if (!p->n_late) return XIR_OK;
    xir_op *old = any_placed(p), *now = p->late[chance(p->n_late)];
    xir_status status = once_in(2) ? xir_network_replace(p->net, old, now)
        : xir_network_replace_keep_uses(p->net, old, now);
    if (!status) forget_late(p, now);
    return status;
}

static xir_status step_move(play *p)         { return xir_op_move(any_placed(p), once_in(4) ? NULL : any_placed(p)); }
static xir_status step_set_input(play *p) {
    xir_op *op = any_op(p);
    return xir_op_set_input(op, any_position(op), any_input(p));
}
static xir_status step_insert_input(play *p) {
    xir_op *op = any_op(p);
    return xir_op_input_count(op) > 12 ? XIR_OK : xir_op_insert_input(op, any_position(op), any_input(p));
}
static xir_status step_remove_input(play *p) {
    xir_op *op = any_op(p);
    return xir_op_remove_input(op, any_position(op));
}
static xir_status step_remove_by_id(play *p) {
    xir_op *op = any_op(p);
    const xir_value *v = xir_op_input(op, (int64_t)any_position(op));
    return xir_op_remove_input_id(op, v ? xir_value_id(v) : 12345);
}
static xir_status step_replace_input(play *p) {
    xir_op *op = any_op(p);
    return xir_op_replace_input(op, xir_op_input(op, (int64_t)any_position(op)), any_input(p));
}
static xir_status step_set_inputs(play *p) {
    xir_value *list[8];
    size_t n = chance(8);
    for (size_t i = 0; i < n; i++) list[i] = any_input(p);
    xir_op *op = any_op(p);
    if (n || !once_in(3)) return xir_op_set_inputs(op, list, n);
    xir_op_clear_inputs(op);
    return XIR_OK;
}
static xir_status step_connect(play *p) {
    xir_op *op = any_op(p);
    return xir_network_connect(p->net, any_value(p), op, (int64_t)chance(3) - 1);
}
static xir_status step_replace_value(play *p) {
    xir_value *now = any_input(p);
    return now ? xir_value_replace(any_value(p), now) : XIR_OK;
}
static xir_status step_outputs(play *p) {
    xir_op *op = any_op(p);
    return xir_op_set_outputs(op, p->types, op == xir_network_first(p->net) ? 1 + chance(3) : chance(4));
}
static xir_status step_op_id(play *p)        { return xir_op_set_id(any_op(p), (int64_t)chance(400) - 2); }
static xir_status step_value_id(play *p)     { return xir_value_set_id(any_value(p), (int64_t)chance(800) - 2); }
static xir_status step_body(play *p) {
    xir_value *room[3];
    xir_op *parts[2], *op = any_op(p);
    xir_hard_op_attrs attrs = any_attrs(p, room, parts);
    const xir_hard_op_attrs *now = xir_hard_op_of(op);
    if (now && now->sub_hard_ops.size && once_in(2)) attrs.sub_hard_ops = now->sub_hard_ops;
    xir_status status = xir_hard_op_set(op, &attrs);
    if (!status && attrs.sub_hard_ops.size) forget_late(p, attrs.sub_hard_ops.data[0]);
    return status;
}
static xir_status step_extra(play *p) {
    const xir_any params_any = { .kind = XIR_ANY_PARAMS, .as.params = once_in(6) ? any_value(p) : some_params(p) };
    const xir_any value = once_in(2) ? xir_any_int(3) : params_any;
    const char key[] = { (char)('a' + chance(3)), '\0' };
    return xir_op_set_extra(any_op(p), xir_str_of(key), once_in(3) ? NULL : &value);
}
static xir_str some_name(void) {
    static const char *const names[] = { "name", "other", "third", "" };
    return xir_str_of(names[chance(COUNT(names))]);
}
static xir_status step_words(play *p) {
    const xir_any value = xir_any_int((int64_t)chance(3));
    xir_status status = xir_op_set_tag(any_op(p), XIR_STR("t"), once_in(2) ? NULL : &value);
    if (!status) status = xir_value_set_tag(any_value(p), XIR_STR("t"), once_in(2) ? NULL : &value);
    if (!status) status = xir_op_set_name(any_op(p), some_name());
    return status ? status : xir_value_set_name(any_value(p), some_name());
}
static xir_status step_type(play *p) {
    return xir_value_set_type(any_value(p), once_in(5) ? NULL : p->types[chance(3)]);
}
static xir_status step_infer(play *p)        { return xir_op_infer(any_op(p), once_in(2)); }
static xir_status step_clone_op(play *p) {
    if (p->n_late == MOST_LATE) return XIR_OK;
    xir_op *copy = xir_op_clone(any_op(p));
    if (copy) p->late[p->n_late++] = copy;
    return status_of(p, copy);
}

/* Continues with the clone. */
static xir_status step_clone(play *p) {
    if (!once_in(3)) return XIR_OK;
    while (p->n_late && once_in(2) && xir_op_erase(p->late[p->n_late - 1]) == XIR_OK) p->n_late--;
    xir_network_clear_status(p->net);
    xir_network *copy = xir_network_clone(p->net);
    assert_non_null(copy);
    if (!p->n_late) {   /* ops that are not placed are not cloned, but they count as users and may be read */
        char *a = picture(p->net), *b = picture(copy);
        assert_true(xir_network_equal(p->net, copy, true));
        assert_string_equal(a, b);
        free(a);
        free(b);
    }
    xir_network_free(p->net);
    p->net = copy;
    p->n_late = p->n_recent = 0;
    return XIR_OK;
}

/* Finds the first op in a walk of the order. */
static xir_op *walk_to_op(const xir_network *net, xir_str name) {
    for (xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) {
        if (xir_str_equal(xir_op_name(op), name)) return op;
    }
    return NULL;
}

static xir_value *walk_to_value(const xir_network *net, xir_str name) {
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) {
        for (int64_t i = 0; i < (int64_t)xir_op_input_count(op); i++) {
            xir_value *v = xir_op_input(op, i);
            if (v && !xir_value_op(v) && xir_str_equal(xir_value_name(v), name)) return v;
        }
        for (int64_t i = 0; i < (int64_t)xir_op_output_count(op); i++) {
            if (xir_str_equal(xir_value_name(xir_op_output(op, i)), name)) return xir_op_output(op, i);
        }
    }
    return NULL;
}

static xir_status step_ask(play *p) {
    const xir_op *op = any_placed(p);
    xir_str name = some_name();
    assert_ptr_equal(xir_network_op_by_name(p->net, name), name.size ? walk_to_op(p->net, name) : NULL);
    assert_ptr_equal(xir_network_value_by_name(p->net, name), name.size ? walk_to_value(p->net, name) : NULL);
    assert_ptr_equal(xir_network_op_by_id(p->net, xir_op_id(op)), op);
    assert_true(xir_network_index_of(p->net, op) >= 0);
    assert_null(xir_network_op_by_id(p->net, 1000000));
    xir_network_validate(p->net, NULL);
    return XIR_OK;
}

static const struct { const char *name; step_fn *take; unsigned weight; } steps[] = {
#define STEP(f, weight) { #f, f, weight }
    STEP(step_add, 24), STEP(step_make, 12), STEP(step_place, 8), STEP(step_erase, 12), STEP(step_remove, 3), STEP(step_remove_some, 1),
    STEP(step_bypass, 3), STEP(step_replace, 6), STEP(step_move, 8), STEP(step_set_input, 8), STEP(step_insert_input, 8),
    STEP(step_remove_input, 8), STEP(step_remove_by_id, 3), STEP(step_replace_input, 5), STEP(step_set_inputs, 4),
    STEP(step_connect, 4), STEP(step_replace_value, 3), STEP(step_outputs, 6), STEP(step_op_id, 5), STEP(step_value_id, 5),
    STEP(step_body, 6), STEP(step_extra, 4), STEP(step_words, 2), STEP(step_type, 3), STEP(step_infer, 3), STEP(step_clone_op, 3),
    STEP(step_clone, 1), STEP(step_ask, 4),
};

static size_t any_step(void) {
    unsigned all = 0;
    for (size_t i = 0; i < COUNT(steps); i++) all += steps[i].weight;
    unsigned at = (unsigned)chance(all);
    size_t i = 0;
    while (at >= steps[i].weight) at -= steps[i++].weight;
    return i;
}

/* ---- the plays -------------------------------------------------------------------------------------------------- */

static void check(play *p, size_t n, xir_status status) {
    const char *broken = broken_invariant(p->net, once_in(8) ? ASK_ALL : once_in(8) ? ASK_IDS : ASK_NOTHING);
    if (!broken && xir_network_op_count(p->net) != p->n_ops) broken = "the ops are not as many as the answers said";
    if (!broken && status != xir_network_status(p->net)) broken = "the network's status is not the answer";
    if (!broken && (status != XIR_OK) != (xir_diags_count(xir_network_diags(p->net)) > 0))
        broken = "a finding and no failure, or the contrary";
    if (broken) fail_msg("step %zu, %s (%s): %s", n, p->step, xir_status_name(status), broken);
}

static void one_play(int number) {
    play p = { .net = new_net(),
               .types = { FP32("*", 4), FP32("NHWC", 1, 2, 3, 4), XIR_TENSOR(ctx, xir_type_sint(ctx, 8), "*", 7) },
               .n_ops = 1 };
    assert_non_null(xir_input(xir_at_end(p.net), "in", p.types[0]));
    size_t failures = 0;
    for (size_t n = 0; n < STEPS; n++) {
        size_t which = any_step();
        p.step = steps[which].name;
        xir_network_clear_status(p.net);
        xir_network *net = p.net;
        /* Steps that first make something (Params without a user) are not visible in pictures. */
        char *before = once_in(16) ? picture(p.net) : NULL;
        xir_status status = steps[which].take(&p);
        if (before && status && p.net == net) {
            char *after = picture(p.net);
            if (steps[which].take != step_place && steps[which].take != step_words && strcmp(before, after) != 0) {
                fail_msg("play %d, step %zu, %s was refused (%s) and changed\n%s\nto\n%s", number, n, p.step,
                         xir_status_name(status), before, after);
            }
            free(after);
        }
        free(before);
        failures += status != XIR_OK;
        check(&p, n, status);
    }
    assert_true(failures > STEPS / 100);   /* refusals have occurred too */
    assert_true(failures < STEPS / 2);
    xir_network_free(p.net);
}

static void invariants_hold_after_every_edit(void **state) {
    (void)state;
    for (int i = 0; i < 3; i++) one_play(i);
}

GROUP {
    const struct CMUnitTest tests[] = { cmocka_unit_test(invariants_hold_after_every_edit) };
    return RUN_GROUP(tests);
}
