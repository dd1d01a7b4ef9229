/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Ops that are computed ahead of their turn: two threads compute two of them at the same time, and nobody notices
 * anything else. Values, their order, findings, limits and answers are those of one thread. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <xir/exec.h>
#include "context.h"
#include "kernels.h"
#include "support/often.h"
#include "support/scarce.h"
#include "support/story.h"

/* Threads that share short loops too, and compute all ops ahead that can be. */
static void let_threads_be(const char *n) {
    if (n) setenv("XIR_THREADS", n, 1);
    else unsetenv("XIR_THREADS");
}

/* Three branches of an input; two of them meet before the end. */
static const char branches[] =
    "x: fp32 4; a = Neg x; b = Sigmoid a; c = Tanh b; d = Exp x; e = Neg d; f = Sigmoid x; g = Add c e; h = Neg f; "
    "i = Multiply g h; out i g";

/* ---- what the caller sees ---------------------------------------------------------------------------------------- */

/* A record of a run: each value that `watch` sees with its first number, and how the run ended. */
typedef struct record {
    char        text[2000];
    size_t      n, asked, cancel_at;
    const char *late;              /* the value that is known when its turn comes */
    xir_array  *given;
    size_t      questions;         /* about it                                    */
} record;

static void add(record *r, const char *text) {
    r->n += (size_t)snprintf(r->text + r->n, sizeof r->text - r->n, "%s\n", text);
    assert_true(r->n < sizeof r->text);
}

static bool note(void *user, const xir_value *value, const xir_array *array) {
    char line[60];
    snprintf(line, sizeof line, "%.*s %a", (int)xir_value_name(value).size, xir_value_name(value).data,
             xir_array_count(array) ? xir_array_real(array, 0) : 0);
    add(user, line);
    return true;
}

static const xir_array *know(void *user, const xir_value *value) {
    record *r = user;
    return xir_str_equal(xir_value_name(value), xir_str_of(r->late)) && ++r->questions > 1 ? r->given : NULL;
}

static xir_array *twos(void) {
    const float two[4] = { 2, 2, 2, 2 };
    const int64_t n = 4;
    return xir_array_copy(ctx, xir_type_tensor(ctx, xir_type_float(ctx, XIR_FLOAT_FP32), NULL, &n, 1), two,
                          sizeof two, why);
}

/* Runs a story on twos. */
static xir_status run(const char *story, const char *threads, uint64_t max_work, record *r) {
    xir_network *net = story_net(story);
    xir_array *x = twos(), *out[4] = { NULL };
    const size_t n = xir_network_outputs(net, NULL, 0);
    r->given = x;
    let_threads_be(threads);
    const xir_run_options how = XIR_INIT(xir_run_options, .watch = note, .user = r, .max_work = max_work,
                                         .known = r->late ? know : NULL);
    xir_status status = xir_network_run(net, (const xir_array *const[]){ x }, 1, out, n, &how, why);
    let_threads_be(NULL);
    for (size_t i = 0; i < xir_diags_count(why); i++) add(r, xir_diags_at(why, i)->message.data);
    for (size_t i = 0; i < n; i++) {
        if (out[i]) note(r, xir_op_input(xir_network_output_op(net), (int64_t)i), out[i]);
        xir_array_free(out[i]);
    }
    xir_diags_clear(why);
    xir_array_free(x);
    xir_network_free(net);
    return status;
}

static void check_same(const char *story, uint64_t max_work, const char *late) {
    record one = { .late = late };
    const xir_status status = run(story, "1", max_work, &one);
    static const char *const threads[] = { "2", "7" };
    for (size_t i = 0; i < COUNT(threads); i++) {
        record many = { .late = late };
        assert_int_equal(run(story, threads[i], max_work, &many), status);
        if (strcmp(one.text, many.text))
            fail_msg("%s\nwith one thread:\n%s\nwith %s:\n%s", story, one.text, threads[i], many.text);
    }
}

static void values_come_in_the_order_of_execution(void **state) {
    (void)state;
    record r = { .n = 0 };
    DOES(run(branches, "7", 0, &r));
    char order[40] = "";
    size_t n = 0;
    for (const char *line = r.text; *line && n < sizeof order - 1; line = strchr(line, '\n') + 1) order[n++] = *line;
    assert_string_equal(order, "abcdefghiig");
    check_same(branches, 0, NULL);
}

/* Results of 4 KiB and more are in memory that the run uses again (src/exec/rooms.h), which threads share. */
static void large_results_share_memory(void **state) {
    (void)state;
    for (int i = 0; i < 20; i++) {   /* threads rarely meet */
        check_same("x: fp32 4; a = Tile x [dims=600]; b = Neg a; c = Exp b; d = Neg a; e = Exp d; f = Neg a; "
                   "g = Exp f; h = Add c e; i = Add e g; j = Neg h; k = Neg i; l = Multiply j k; out l", 0, NULL);
    }
}

/* Gather fails: its index is 9, and x has 4 elements. That is found in its turn, after what comes before it. */
static void a_failure_waits_for_its_turn(void **state) {
    (void)state;
    static const char *const stories[] = {
        "x: fp32 4; i: params sint64 1 = -9; n = Neg i; a = Neg x; b = Neg a; d = Gather x n; e = Neg d; f = Neg b; "
        "out e f",
        "x: fp32 4; i: params sint64 1 = -9; n = Neg i; a = Neg x; d = Gather a n; e = Gather x n; f = Neg x; "
        "out d e f",
        "x: fp32 4; i: params sint64 1 = -9; a = Neg x; n = Neg i; f = Neg x; g = Neg f; e = Gather g n; out a e",
    };
    for (size_t i = 0; i < COUNT(stories); i++) {
        record r = { .n = 0 };
        assert_int_equal(run(stories[i], "7", 0, &r), XIR_E_BOUNDS);
        check_same(stories[i], 0, NULL);
    }
}

static void limits_hold_op_by_op(void **state) {
    (void)state;
    record r = { .n = 0 };
    uint64_t all = 1;
    for (; run(branches, "1", all, &r) == XIR_E_LIMIT; all++) r.n = 0;
    assert_true(all > 100);
    for (uint64_t work = 1; work <= all + 1; work++) check_same(branches, work, NULL);
}

/* An answer that is given in its turn replaces a result that was computed ahead, for all ops after it. */
static void answers_in_turn_count(void **state) {
    (void)state;
    static const char *const late[] = { "a", "b", "c", "d", "e", "f", "g", "h", "i" };
    for (size_t i = 0; i < COUNT(late); i++) check_same(branches, 0, late[i]);
}

/* ---- at the same time -------------------------------------------------------------------------------------------- */

static const kernel_row *before;
static pthread_t caller;
static atomic_int inside, elsewhere;

static void give(xir_kernel *at) {
    double *y = xir_kernel_real_out(at, 0);
    if (y) y[0] = 1;
}

/* Returns when two threads are in it. */
static xir_status meet(xir_kernel *at) {
    atomic_fetch_add(&inside, 1);
    for (int i = 0; atomic_load(&inside) < 2; i++) {
        if (i == 20000) return xir_kernel_fail(at, XIR_E_INVALID, NULL, "nobody else came");
        usleep(1000);
    }
    give(at);
    return XIR_OK;
}

/* On another thread, it goes on until the run is cancelled; on the calling one, until that has begun. */
static xir_status linger(xir_kernel *at) {
    if (pthread_equal(pthread_self(), caller)) {
        for (int i = 0; i < 20000 && !atomic_load(&elsewhere); i++) usleep(1000);
    } else {
        atomic_fetch_add(&elsewhere, 1);
        for (int i = 0; i < 20000 && !xir_kernel_stops(at, 2000); i++) usleep(1000);
    }
    give(at);
    return XIR_OK;
}

static xir_status look(xir_kernel *at) {
    atomic_fetch_add(&elsewhere, !pthread_equal(pthread_self(), caller));
    usleep(1000);
    give(at);
    return XIR_OK;
}

/* Makes `fn` the kernel of Sigmoid, as one of the library or of the program. */
static void let_sigmoid_be(xir_kernel_fn *fn, bool of_library) {
    static kernel_row row;
    const class_more *more = xir_class_find_decl(ctx, xir_sigmoid_class())->more;
    if (more->own_kernel != &row && more->own_kernel) before = more->own_kernel;
    row = (kernel_row){ xir_sigmoid_class, fn, NULL };
    DOES(xir_kernel_register(ctx, xir_sigmoid_class(), fn));
    xir_class_find_decl(ctx, xir_sigmoid_class())->more->own_kernel = of_library ? &row : NULL;
    caller = pthread_self();
    atomic_store(&inside, 0);
    atomic_store(&elsewhere, 0);
}

static void leave_sigmoid(void) {
    xir_class_find_decl(ctx, xir_sigmoid_class())->more->own_kernel = before;
    DOES(xir_kernel_register(ctx, xir_sigmoid_class(), before->run));
}

static void two_ops_are_computed_at_the_same_time(void **state) {
    (void)state;
    record r = { .n = 0 };
    let_sigmoid_be(meet, true);
    DOES(run("x: fp32 4; a = Sigmoid x; b = Neg a; c = Neg x; d = Sigmoid c; out b d", "2", 0, &r));
    leave_sigmoid();
}

static void kernels_of_programs_stay_on_the_calling_thread(void **state) {
    (void)state;
    record r = { .n = 0 };
    static const char story[] = "x: fp32 4; a = Sigmoid x; b = Sigmoid x; c = Sigmoid x; d = Neg x; out a b c d";
    let_sigmoid_be(look, false);
    for (int i = 0; i < 20; i++) DOES(run(story, "7", r.n = 0, &r));
    assert_int_equal(atomic_load(&elsewhere), 0);
    let_sigmoid_be(look, true);
    for (int i = 0; i < 1000 && !atomic_load(&elsewhere); i++) DOES(run(story, "7", r.n = 0, &r));
    assert_int_not_equal(atomic_load(&elsewhere), 0);
    leave_sigmoid();
}

static bool cancel(void *user) {
    record *r = user;
    assert_true(pthread_equal(pthread_self(), caller));
    return ++r->asked >= r->cancel_at && atomic_load(&elsewhere);
}

/* The calling thread has nothing to do but wait, and `cancel` is called meanwhile. */
static void what_takes_long_elsewhere_is_cancelled(void **state) {
    (void)state;
    xir_network *net = story_net("x: fp32 4; a = Sigmoid x; b = Sigmoid x; c = Sigmoid x; d = Sigmoid x; out a b c d");
    for (size_t at = 1; at < 40; at += 13) {
        record r = { .cancel_at = at };
        xir_array *x = twos(), *out[4];
        let_sigmoid_be(linger, true);
        let_threads_be("2");
        assert_int_equal(xir_network_run(net, (const xir_array *const[]){ x }, 1, out, 4,
                                         &XIR_INIT(xir_run_options, .cancel = cancel, .user = &r), why),
                         XIR_E_CANCELLED);
        let_threads_be(NULL);
        assert_int_equal(xir_diags_count(why), 1);
        xir_diags_clear(why);
        xir_array_free(x);
        leave_sigmoid();
    }
    xir_network_free(net);
}

/* ---- random networks --------------------------------------------------------------------------------------------- */

/* Adds an op of one or two values before it. */
static size_t add_op(char *story, size_t n, size_t room, size_t i) {
    static const char *const one[] = { "Neg", "Sigmoid", "Tanh", "Exp", "Softmax" };
    static const char *const two[] = { "Add", "Multiply", "Maximum" };
    const size_t a = chance(i + 1), b = chance(i + 1);
    if (chance(3) == 0)
        return (size_t)snprintf(story + n, room - n, "v%zu = %s v%zu v%zu; ", i + 1, two[chance(3)], a, b);
    return (size_t)snprintf(story + n, room - n, "v%zu = %s v%zu; ", i + 1, one[chance(5)], chance(4) ? a : i);
}

static void random_networks_compute_the_same(void **state) {
    (void)state;
    for (int net = 0; net < OFTEN(60); net++) {
        char story[2000];
        const size_t ops = 2 + chance(40);
        size_t n = (size_t)snprintf(story, sizeof story, "v0: fp32 4; ");
        for (size_t i = 0; i < ops; i++) n += add_op(story, n, sizeof story, i);
        snprintf(story + n, sizeof story - n, "out v%zu v%zu", chance(ops + 1), ops);
        char late[8];
        snprintf(late, sizeof late, "v%zu", 1 + chance(ops));
        check_same(story, chance(2) ? 0 : 1 + chance(40 * ops), chance(2) ? late : NULL);
    }
}

/* ---- scarce memory ----------------------------------------------------------------------------------------------- */

static void runs_branches(want *w) {
    xir_array *x = NULL, *out[2] = { NULL };
    const int64_t n = 4;
    IN_PLENTY(w, w->net = story_net_in(w->ctx, branches);
                 x = xir_array_random(w->ctx, xir_type_tensor(w->ctx, xir_type_float(w->ctx, XIR_FLOAT_FP32), NULL, &n,
                                                              1), 1, w->why));
    let_threads_be("7");
    TRY(w, xir_network_run(w->net, (const xir_array *const[]){ x }, 1, out, 2, NULL, w->why));
    let_threads_be(NULL);
    xir_array_free(x);
    xir_array_free(out[0]);
    xir_array_free(out[1]);
}
SCARCE_TEST(runs_branches)

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_come_in_the_order_of_execution),
        cmocka_unit_test(large_results_share_memory),
        cmocka_unit_test(a_failure_waits_for_its_turn),
        cmocka_unit_test(limits_hold_op_by_op),
        cmocka_unit_test(answers_in_turn_count),
        cmocka_unit_test(two_ops_are_computed_at_the_same_time),
        cmocka_unit_test(kernels_of_programs_stay_on_the_calling_thread),
        cmocka_unit_test(what_takes_long_elsewhere_is_cancelled),
        cmocka_unit_test(random_networks_compute_the_same),
        cmocka_unit_test(test_runs_branches),
    };
    return RUN_GROUP(tests);
}
