/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The execution order against a plain array: random insertions, moves and erasures; which op comes first, and at
 * which position. */
#include <stdio.h>
#include "support/net.h"
#include "graph.h"

static const xir_class *relu;
static xir_value *x;

static xir_network *start(void) {
    xir_network *net = new_net();
    relu = xir_class_find_decl(ctx, xir_relu_class());
    x = xir_input(xir_at_end(net), "in", FP32("*", 4));
    assert_non_null(x);
    return net;
}

static xir_op *insert(xir_network *net, xir_op *before) {
    xir_op *op = xir_network_add(net, &XIR_INIT(xir_op_desc, .cls = relu, INPUTS(x), .id = XIR_NO_ID,
                                                .before = before));
    assert_non_null(op);
    return op;
}

/* ---- the model -------------------------------------------------------------------------------------------------- */

enum { MOST = 4000 };
typedef struct model { xir_op *ops[MOST + 1]; size_t n; } model;

static void model_insert(model *m, size_t at, xir_op *op) {
    memmove(&m->ops[at + 1], &m->ops[at], (m->n - at) * sizeof *m->ops);
    m->ops[at] = op;
    m->n++;
}

static xir_op *model_take(model *m, size_t at) {
    xir_op *op = m->ops[at];
    memmove(&m->ops[at], &m->ops[at + 1], (m->n - at - 1) * sizeof *m->ops);
    m->n--;
    return op;
}

static void agree_on_some(const xir_network *net, const model *m) {
    assert_int_equal(xir_network_op_count(net), m->n);
    for (int i = 0; i < 8; i++) {
        size_t a = chance(m->n), b = chance(m->n);
        assert_int_equal(xir_op_before(m->ops[a], m->ops[b]), a < b);
    }
    size_t at = chance(m->n);
    assert_ptr_equal(xir_op_next(m->ops[at]), at + 1 < m->n ? m->ops[at + 1] : NULL);
    assert_ptr_equal(xir_op_prev(m->ops[at]), at ? m->ops[at - 1] : NULL);
    /* A query makes an index that the next edit has to drop or keep: sometimes there is no index. */
    if (chance(4)) return;
    assert_ptr_equal(xir_network_op_at(net, (int64_t)at), m->ops[at]);
    assert_ptr_equal(xir_network_op_at(net, (int64_t)at - (int64_t)m->n), m->ops[at]);
    assert_int_equal(xir_network_index_of(net, m->ops[at]), at);
}

static void agree_on_all(xir_network *net, const model *m) {
    size_t i = 0;
    for (xir_op *op = xir_network_first(net); op; op = xir_op_next(op), i++) assert_ptr_equal(op, m->ops[i]);
    assert_int_equal(i, m->n);
    CHECK_SOUND(net);
}

/* Places anywhere, near the ends, or near the last one. */
static size_t some_place(size_t n, size_t last) {
    switch (chance(4)) {
    case 0:  return 1 + chance(n);
    case 1:  return 1;
    case 2:  return n;
    default: return last >= 1 && last <= n ? last : 1;
    }
}

static void play(size_t steps, size_t most) {
    static model m;
    xir_network *net = start();
    m = (model){ .ops = { xir_network_first(net) }, .n = 1 };
    size_t last = 1;
    for (size_t step = 0; step < steps; step++) {
        size_t what = chance(10);
        if (m.n < 3 || (what < 5 && m.n < most)) {
            size_t at = some_place(m.n, last);
            model_insert(&m, at, insert(net, at < m.n ? m.ops[at] : NULL));
            last = at;
        } else if (what < 8) {
            size_t from = 1 + chance(m.n - 1);
            xir_op *op = model_take(&m, from);
            size_t to = some_place(m.n, last);
            DOES(xir_op_move(op, to < m.n ? m.ops[to] : NULL));
            model_insert(&m, to, op);
            last = to;
        } else {
            DOES(xir_op_erase(model_take(&m, 1 + chance(m.n - 1))));
        }
        agree_on_some(net, &m);
        if (step % 1000 == 0) agree_on_all(net, &m);
    }
    agree_on_all(net, &m);
    xir_network_free(net);
}

static void random_edits_agree_with_an_array(void **state) {
    (void)state;
    for (int i = 0; i < 50; i++) play(300, 12);
    for (int i = 0; i < 5; i++) play(4000, 200);
    play(20000, MOST);
}

/* ---- always at one place ---------------------------------------------------------------------------------------- */

enum { MANY = 100000, MOST_EACH = 64 };

static void check_growing(const xir_network *net, size_t n) {
    size_t count = 0;
    for (const xir_op *op = xir_network_first(net), *next; op; op = next, count++) {
        next = xir_op_next(op);
        if (next && !xir_op_before(op, next)) fail_msg("op %zu is not before the next one", count);
    }
    assert_int_equal(count, n);
}

/* Work is the number of ops that get another position: an insertion or a move spreads a range of ops around its
 * place. The changes are found by searching left and right of it, until a few ops in a row have their old positions. */
enum { A_FEW = 8, MOST_SLOTS = 2 * MANY + 100 };

static uint32_t had[MOST_SLOTS];
static uint64_t respread;

static bool has_moved(const xir_op *op) {
    assert_true(op->slot < MOST_SLOTS);
    bool moved = had[op->slot] != op->position;
    had[op->slot] = op->position;
    return moved;
}

static void note_work(const xir_op *at) {
    size_t still = 0;
    respread += has_moved(at);
    for (const xir_op *op = xir_op_prev(at); op && still < A_FEW; op = xir_op_prev(op)) {
        if (has_moved(op)) respread++, still = 0;
        else still++;
    }
    still = 0;
    for (const xir_op *op = xir_op_next(at); op && still < A_FEW; op = xir_op_next(op)) {
        if (has_moved(op)) respread++, still = 0;
        else still++;
    }
}

static void begin_work(const xir_network *net) {
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) has_moved(op);
    respread = 0;
}

/* The steps are 20 to 31 if ranges are spread well, and half of all ops if they are spread badly. */
static void check_work(uint64_t steps, const char *what) {
    double each = (double)respread / (double)steps;
    if (each > MOST_EACH) fail_msg("%s gives %.1f ops another position each time", what, each);
}

static void always_before_the_same_op(void **state) {
    (void)state;
    xir_network *net = start();
    xir_op *last = insert(net, NULL);
    begin_work(net);
    for (int i = 0; i < MANY; i++) note_work(insert(net, last));
    check_work(MANY, "inserting before one op");
    check_growing(net, MANY + 2);
    xir_network_free(net);
}

static void always_after_the_same_op(void **state) {
    (void)state;
    xir_network *net = start();
    xir_op *before = insert(net, NULL);
    begin_work(net);
    for (int i = 0; i < MANY; i++) note_work(before = insert(net, before));
    check_work(MANY, "inserting after one op");
    check_growing(net, MANY + 2);
    xir_network_free(net);
}

static void always_in_the_middle_of_many(void **state) {
    (void)state;
    xir_network *net = start();
    for (int i = 0; i < MANY; i++) insert(net, NULL);
    xir_op *middle = xir_network_op_at(net, MANY / 2);
    begin_work(net);
    for (int i = 0; i < MANY; i++) note_work(insert(net, middle));
    check_work(MANY, "inserting in the middle");
    check_growing(net, 2 * MANY + 1);
    xir_network_free(net);
}

/* Positions are numbers of 32 bits: appending still works when they are exhausted. */
static void positions_end(void **state) {
    (void)state;
    xir_network *net = start();
    for (int i = 0; i < 100; i++) insert(net, NULL);
    xir_network_last(net)->position = UINT32_MAX - 1000;
    for (int i = 0; i < 10000; i++) insert(net, NULL);
    check_growing(net, 10101);
    CHECK_SOUND(net);
    xir_network_free(net);
}

static void always_the_first_to_the_end(void **state) {
    (void)state;
    xir_network *net = start();
    for (int i = 0; i < 1000; i++) insert(net, NULL);
    begin_work(net);
    for (int i = 0; i < 10 * MANY; i++) {
        xir_op *op = xir_op_next(xir_network_first(net));
        DOES(xir_op_move(op, NULL));
        note_work(op);
    }
    check_work(10 * MANY, "moving to the end");
    check_growing(net, 1001);
    xir_network_free(net);
}

static void always_the_last_to_the_front(void **state) {
    (void)state;
    xir_network *net = start();
    for (int i = 0; i < 1000; i++) insert(net, NULL);
    begin_work(net);
    for (int i = 0; i < MANY; i++) {
        xir_op *op = xir_network_last(net);
        DOES(xir_op_move(op, xir_op_next(xir_network_first(net))));
        note_work(op);
    }
    check_work(MANY, "moving to the front");
    check_growing(net, 1001);
    xir_network_free(net);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_edits_agree_with_an_array),
        cmocka_unit_test(always_before_the_same_op),
        cmocka_unit_test(always_after_the_same_op),
        cmocka_unit_test(always_in_the_middle_of_many),
        cmocka_unit_test(positions_end),
        cmocka_unit_test(always_the_first_to_the_end),
        cmocka_unit_test(always_the_last_to_the_front),
    };
    return RUN_GROUP(tests);
}
