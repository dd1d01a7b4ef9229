/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Loops that threads share: each item is computed once, whatever the number of threads, and also where the system
 * refuses to make them; `cancel` is called on the calling thread alone and stops all. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>
#include "pool.h"
#include "support/again.h"
#include "support/net.h"
#include "support/story.h"

/* ---- threads that cannot be made -------------------------------------------------------------------------------- */

static atomic_int allowed = 1000, made;   /* how many threads the system still makes; how many it made */
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *), void *user);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *), void *user);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *), void *user) {
    if (atomic_fetch_sub(&allowed, 1) <= 0) return 11;   /* EAGAIN */
    atomic_fetch_add(&made, 1);
    return __real_pthread_create(thread, attr, run, user);
}

static void allow(int n) {
    atomic_store(&allowed, n);
    atomic_store(&made, 0);
}

/* ---- a loop ------------------------------------------------------------------------------------------------------ */

enum { ITEMS = 100000 };

typedef struct counts {
    unsigned char of[ITEMS];
    _Atomic uint64_t threads;   /* a bit for each thread that has computed a piece   */
    atomic_bool   uneven;       /* a piece of short items began within 64 of them   */
    atomic_uint   gathered;     /* threads that wait for the others in a first piece */
    unsigned      await;        /* how many                                          */
} counts;

static void count(pool_share *share, size_t from, size_t to, void *user) {
    counts *c = user;
    if (!(atomic_fetch_or(&c->threads, UINT64_C(1) << pool_thread(share)) >> pool_thread(share) & 1) && c->await) {
        atomic_fetch_add(&c->gathered, 1);
        while (atomic_load(&c->gathered) < c->await && !pool_stops(share, 0)) usleep(100);
    }
    if (from % 64) atomic_store(&c->uneven, true);
    for (size_t i = from; i < to; i++) c->of[i]++;
}

static xir_op op_without_name;

static const size_t widths[] = { 1, 2, 7, 64, 1000 };

static void each_item_is_computed_once(void **state) {
    (void)state;
    static const size_t sizes[] = { 0, 1, 2, 63, 64, 65, 1000, ITEMS };
    static const uint64_t steps[] = { 0, 1, 100, 600, 1 << 20, UINT64_MAX };
    counts *c = malloc(sizeof *c);
    assert_non_null(c);
    for (size_t w = 0; w < COUNT(widths); w++) {
        pool threads;
        pool_open(&threads, widths[w]);
        threads.eager = true;
        budget within = NO_BUDGET;
        within.pool = &threads;
        for (size_t s = 0; s < COUNT(sizes); s++) {
            for (size_t k = 0; k < COUNT(steps); k++) {
                xir_kernel at = { .op = &op_without_name, .within = &within };
                memset(c, 0, sizeof *c);
                assert_true(pool_for(&at, sizes[s], steps[k], count, c));
                for (size_t i = 0; i < ITEMS; i++) assert_int_equal(c->of[i], i < sizes[s]);
                assert_false(steps[k] < 512 && c->uneven);
            }
        }
        assert_true(threads.made < widths[w] && threads.made < POOL_MOST);
        pool_close(&threads);
    }
    free(c);
}

/* All seven are in the loop at the same time. */
static void threads_compute_together(void **state) {
    (void)state;
    counts *c = calloc(1, sizeof *c);
    pool threads;
    assert_non_null(c);
    pool_open(&threads, 7);
    budget within = NO_BUDGET;
    within.pool = &threads;
    c->await = 7;
    xir_kernel at = { .op = &op_without_name, .within = &within };
    assert_true(pool_for(&at, ITEMS, 1000, count, c));
    assert_int_equal(c->threads, 127);
    assert_int_equal(pool_width(&at), 7);
    pool_close(&threads);
    free(c);
}

static void a_short_loop_makes_no_threads(void **state) {
    (void)state;
    counts *c = calloc(1, sizeof *c);
    pool threads;
    assert_non_null(c);
    allow(1000);
    pool_open(&threads, 7);
    budget within = NO_BUDGET;
    within.pool = &threads;
    xir_kernel at = { .op = &op_without_name, .within = &within };
    assert_true(pool_for(&at, 1000, 10, count, c));
    assert_int_equal(atomic_load(&made), 0);
    pool_close(&threads);
    free(c);
}

/* It does not look where it takes the time of the thread that it waits for. How many processors there are is asked when
 * the first thread is made. */
static void a_thread_looks_only_if_there_are_processors(void **state) {
    (void)state;
    counts *c = calloc(1, sizeof *c);
    cpu_set_t all, one;
    pool threads;
    assert_non_null(c);
    assert_int_equal(pthread_getaffinity_np(pthread_self(), sizeof all, &all), 0);
    CPU_ZERO(&one);
    for (int i = 0; i < CPU_SETSIZE && !CPU_COUNT(&one); i++) if (CPU_ISSET(i, &all)) CPU_SET(i, &one);
    for (int alone = 0; alone < 2; alone++) {
        const cpu_set_t *may = alone ? &one : &all;
        assert_int_equal(pthread_setaffinity_np(pthread_self(), sizeof *may, may), 0);
        pool_open(&threads, 2);
        budget within = NO_BUDGET;
        within.pool = &threads;
        xir_kernel at = { .op = &op_without_name, .within = &within };
        assert_int_equal(threads.looks, 0);
        assert_true(pool_for(&at, ITEMS, 1000, count, c));
        assert_int_equal(threads.looks > 0, CPU_COUNT(may) > 1);
        pool_close(&threads);
    }
    assert_int_equal(pthread_setaffinity_np(pthread_self(), sizeof all, &all), 0);
    free(c);
}

static void what_the_system_refuses_is_done_by_fewer(void **state) {
    (void)state;
    counts *c = malloc(sizeof *c);
    assert_non_null(c);
    for (int n = 0; n < 8; n++) {
        pool threads;
        pool_open(&threads, 7);
        budget within = NO_BUDGET;
        within.pool = &threads;
        allow(n);
        for (int again = 0; again < 2; again++) {
            xir_kernel at = { .op = &op_without_name, .within = &within };
            memset(c, 0, sizeof *c);
            assert_true(pool_for(&at, ITEMS, 1000, count, c));
            for (size_t i = 0; i < ITEMS; i++) assert_int_equal(c->of[i], 1);
            assert_int_equal(atomic_load(&made), n < 6 ? n : 6);
            assert_int_equal(pool_width(&at), n < 6 ? n + 1 : 7);
        }
        pool_close(&threads);
    }
    allow(1000);
    free(c);
}

typedef struct asker {
    pthread_t thread;
    size_t    at, asked;
    bool      elsewhere;
} asker;

static bool ask(void *user) {
    asker *a = user;
    a->elsewhere = a->elsewhere || !pthread_equal(pthread_self(), a->thread);
    return ++a->asked == a->at;
}

/* ---- ops and constants by themselves ----------------------------------------------------------------------------- */

enum { WIDE = 300 };

static void an_op_by_itself_has_threads_and_limits(void **state) {
    (void)state;
    xir_network *net = story_net("x: 300 300; w: params 300 300; m = Matmul x w; out m");
    const xir_op *op = story_op(net, "m");
    xir_array *x = xir_array_random(ctx, xir_value_type(xir_op_input(op, 0)), 1, why), *y[2];
    const xir_array *in[] = { x, NULL };
    static const size_t given[] = { 0, 1, 2, 5 };
    way_set(NULL, "");
    for (size_t i = 0; i < COUNT(given); i++) {
        const xir_run_options options = XIR_INIT(xir_run_options, .threads = given[i]);
        allow(1000);
        DOES(xir_op_run(op, in, 2, &y[i > 0], 1, i ? &options : NULL, why));
        assert_int_equal(atomic_load(&made), given[i] ? given[i] - 1 : 0);
        if (!i) continue;
        assert_memory_equal(xir_array_data(y[0], NULL), xir_array_data(y[1], NULL), WIDE * WIDE * 4);
        xir_array_free(y[1]);
    }
    allow(0);   /* the system makes no threads */
    DOES(xir_op_run(op, in, 2, &y[1], 1, &XIR_INIT(xir_run_options, .threads = 5), why));
    assert_memory_equal(xir_array_data(y[0], NULL), xir_array_data(y[1], NULL), WIDE * WIDE * 4);
    xir_array_free(y[1]);
    allow(1000);
    const uint64_t work = (uint64_t)WIDE * WIDE * WIDE;
    assert_int_equal(xir_op_run(op, in, 2, &y[1], 1, &XIR_INIT(xir_run_options, .max_work = work - 1), why),
                     XIR_E_LIMIT);
    assert_null(y[1]);
    xir_diags_clear(why);
    asker a = { pthread_self(), 3, 0, false };
    assert_int_equal(xir_op_run(op, in, 2, &y[1], 1, &XIR_INIT(xir_run_options, .cancel = ask, .user = &a,
                                                               .threads = 3), why), XIR_E_CANCELLED);
    assert_true(!y[1] && a.asked == 3 && !a.elsewhere);
    xir_diags_clear(why);
    way_reset();
    xir_array_free(y[0]);
    xir_array_free(x);
    xir_network_free(net);
}

static void constants_are_computed_by_the_threads_of_the_settings(void **state) {
    (void)state;
    static const size_t given[] = { 0, 1, 2, 7 };
    xir_pipeline *fold = xir_pipeline_parse(ctx, XIR_STR("fold"), why);
    xir_network *nets[COUNT(given)];
    assert_non_null(fold);
    way_set(NULL, "");
    for (size_t i = 0; i < COUNT(given); i++) {
        nets[i] = story_net("w: params 900 900; m = Sigmoid w; out m");
        allow(i == 3 ? 2 : 1000);   /* the last one gets fewer than it asks for */
        DOES(xir_pipeline_run(fold, nets[i], &XIR_INIT(xir_pass_settings, .threads = given[i]), NULL, why));
        assert_int_equal(atomic_load(&made), i == 3 ? 2 : given[i] ? given[i] - 1 : 0);
        const xir_value *m = xir_op_input(xir_network_output_op(nets[i]), 0),
                        *first = xir_op_input(xir_network_output_op(nets[0]), 0);
        assert_true(xir_value_is_params(m) && xir_params_equal(m, first));
    }
    allow(1000);
    way_reset();
    for (size_t i = 0; i < COUNT(given); i++) xir_network_free(nets[i]);
    xir_pipeline_free(fold);
}

/* ---- cancelling -------------------------------------------------------------------------------------------------- */

static void spend(pool_share *share, size_t from, size_t to, void *user) {
    (void)user;
    for (size_t i = from; i < to; i++) {
        for (int k = 0; k < 100; k++) {
            if (pool_stops(share, 2000)) return;
        }
    }
}

static void a_loop_is_cancelled_on_the_calling_thread(void **state) {
    (void)state;
    for (size_t w = 0; w < COUNT(widths); w++) {
        for (size_t n = 1; n < 200; n += 37) {
            pool threads;
            pool_open(&threads, widths[w]);
            asker a = { pthread_self(), n, 0, false };
            budget within = NO_BUDGET;
            within.cancel = ask;
            within.user = &a;
            within.pool = &threads;
            xir_kernel at = { .op = &op_without_name, .within = &within };
            at.status = XIR_OK;
            assert_false(pool_for(&at, SIZE_MAX / 1000, 200000, spend, NULL));   /* would take ages */
            assert_int_equal(at.status, XIR_E_CANCELLED);
            assert_int_equal(a.asked, n);
            assert_false(a.elsewhere);
            assert_false(pool_for(&at, 10, 1 << 20, spend, NULL));
            assert_int_equal(a.asked, n);
            pool_close(&threads);
        }
    }
}

/* ---- a loop within a loop, and signals --------------------------------------------------------------------------- */

typedef struct inner { xir_kernel *at; pthread_t thread; atomic_size_t items; } inner;

static void add(pool_share *share, size_t from, size_t to, void *user) {
    (void)share;
    atomic_fetch_add(&((inner *)user)->items, to - from);
}

static void nest(pool_share *share, size_t from, size_t to, void *user) {
    inner *n = user;
    (void)from, (void)to;
    if (pool_thread(share) == 0) assert_true(pool_for(n->at, 100, 1 << 20, add, n));
    else usleep(100);
}

static void a_loop_within_a_loop_stays_on_its_thread(void **state) {
    (void)state;
    pool threads;
    pool_open(&threads, 3);
    budget within = NO_BUDGET;
    within.pool = &threads;
    xir_kernel at = { .op = &op_without_name, .within = &within };
    inner n = { .at = &at };
    assert_true(pool_for(&at, 50, 1 << 20, nest, &n));
    assert_int_equal(n.items % 100, 0);
    pool_close(&threads);
}

static void mask_of(pool_share *share, size_t from, size_t to, void *user) {
    sigset_t now;
    (void)from, (void)to;
    pthread_sigmask(SIG_SETMASK, NULL, &now);
    if (pool_thread(share) && sigismember(&now, SIGINT) != 1) atomic_store((atomic_bool *)user, true);
    if (pool_thread(share) == 0 && sigismember(&now, SIGINT) != 0) atomic_store((atomic_bool *)user, true);
    usleep(1000);
}

static void signals_are_for_the_calling_thread(void **state) {
    (void)state;
    atomic_bool wrong = false;
    pool threads;
    pool_open(&threads, 3);
    budget within = NO_BUDGET;
    within.pool = &threads;
    xir_kernel at = { .op = &op_without_name, .within = &within };
    assert_true(pool_for(&at, 20, 1 << 20, mask_of, &wrong));
    assert_false(wrong);
    pool_close(&threads);
}

/* The number that tests set counts where the caller leaves it open. */
static void the_environment_is_for_those_who_do_not_say(void **state) {
    (void)state;
    static const struct { const char *word; size_t given, most; } rows[] = {
        { NULL, 0, 1 }, { NULL, 1, 1 }, { NULL, 5, 5 }, { "3", 0, 3 }, { "3", 1, 1 }, { "3", 5, 5 }, { "1", 0, 1 },
        { "0", 0, 1 }, { "-3", 0, 1 }, { "many", 0, 1 }, { "", 0, 1 }, { "99999999999999999999", 0, POOL_MOST },
        { NULL, SIZE_MAX, POOL_MOST },
    };
    const char *now = getenv("XIR_THREADS");
    char *before = now ? strdup(now) : NULL;
    for (size_t i = 0; i < COUNT(rows); i++) {
        pool threads;
        if (rows[i].word) setenv("XIR_THREADS", rows[i].word, 1);
        else unsetenv("XIR_THREADS");
        pool_open(&threads, rows[i].given);
        assert_int_equal(threads.most, rows[i].most);
        pool_close(&threads);
    }
    unsetenv("XIR_THREADS");
    if (before) setenv("XIR_THREADS", before, 1);
    free(before);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_item_is_computed_once),
        cmocka_unit_test(threads_compute_together),
        cmocka_unit_test(a_short_loop_makes_no_threads),
        cmocka_unit_test(a_thread_looks_only_if_there_are_processors),
        cmocka_unit_test(what_the_system_refuses_is_done_by_fewer),
        cmocka_unit_test(an_op_by_itself_has_threads_and_limits),
        cmocka_unit_test(constants_are_computed_by_the_threads_of_the_settings),
        cmocka_unit_test(a_loop_is_cancelled_on_the_calling_thread),
        cmocka_unit_test(a_loop_within_a_loop_stays_on_its_thread),
        cmocka_unit_test(signals_are_for_the_calling_thread),
        cmocka_unit_test(the_environment_is_for_those_who_do_not_say),
    };
    return RUN_GROUP(tests);
}
