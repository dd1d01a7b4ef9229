/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

#include "pool.h"
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* A look takes 10 to 50 ns, waking a thread some 50 us. */
enum { LOOKS = 1024 };

enum { EVEN = 64 };

typedef struct pool_task {
    pool_fn         *fn;
    void            *user;
    size_t           n, piece;
    uint64_t         steps;        /* of an item                             */
    atomic_size_t    next;         /* the first item that nobody has taken   */
    atomic_bool      stopped;
    _Atomic uint64_t done;         /* steps of other threads, not merged yet */
} pool_task;

struct pool_share {
    pool_task  *task;
    xir_kernel *at;                /* NULL on other threads                  */
    size_t      thread;
};

static pool *pool_of(const xir_kernel *at) { return at->within ? at->within->pool : NULL; }

size_t pool_width(const xir_kernel *at)          { return pool_of(at) ? pool_of(at)->most : 1; }
size_t pool_thread(const pool_share *share)      { return share->thread; }

bool pool_stops(pool_share *share, uint64_t steps) {
    pool_task *t = share->task;
    if (!share->at) {
        atomic_fetch_add_explicit(&t->done, steps, memory_order_relaxed);
        return atomic_load_explicit(&t->stopped, memory_order_relaxed);
    }
    if (atomic_load_explicit(&t->done, memory_order_relaxed))
        steps = xir_work_add(steps, atomic_exchange_explicit(&t->done, 0, memory_order_relaxed));
    if (!xir_kernel_stops(share->at, steps)) return false;
    atomic_store_explicit(&t->stopped, true, memory_order_relaxed);
    return true;
}

/* Takes pieces until none is left. */
static void take_pieces(pool_share *share) {
    pool_task *t = share->task;
    for (;;) {
        const size_t from = atomic_fetch_add_explicit(&t->next, t->piece, memory_order_relaxed);
        if (from >= t->n) return;
        const size_t to = t->n - from < t->piece ? t->n : from + t->piece;
        t->fn(share, from, to, t->user);
        if (pool_stops(share, (to - from) * t->steps)) return;
    }
}

/* Lets the processor rest between two looks. */
static inline void rest(void) {
#if defined __x86_64__ || defined __i386__
    __builtin_ia32_pause();
#elif defined __aarch64__
    __asm__ volatile("yield");
#endif
}

static bool is_idle(pool *p, uint64_t seen) {
    return atomic_load_explicit(&p->turn, memory_order_acquire) == seen &&
           !atomic_load_explicit(&p->closing, memory_order_relaxed);
}

static void *work(void *user) {
    const pool_member *m = user;
    pool *p = m->pool;
    uint64_t seen = 0;
    if (p->anywhere) pthread_setaffinity_np(pthread_self(), sizeof p->processors, &p->processors);
    for (;;) {
        for (unsigned i = 0; i < p->looks && is_idle(p, seen); i++) rest();
        pthread_mutex_lock(&p->lock);
        while (is_idle(p, seen)) pthread_cond_wait(&p->begun, &p->lock);
        if (atomic_load(&p->closing)) break;
        seen = atomic_load(&p->turn);
        pool_share share = { .task = p->task, .thread = m->number };
        if (share.task) atomic_fetch_add(&p->busy, 1);
        pthread_mutex_unlock(&p->lock);
        if (!share.task) continue;     /* of a loop that has ended there is nothing left to do */
        take_pieces(&share);
        pthread_mutex_lock(&p->lock);
        if (atomic_fetch_sub(&p->busy, 1) == 1) pthread_cond_signal(&p->ended);
        pthread_mutex_unlock(&p->lock);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

enum { A_WHILE = 1000000 };   /* nanoseconds */

/* Waits for a thread that leaves the loop. With `cancel`, at most a while. */
static void await_one(pool *p, const xir_kernel *at) {
    struct timespec until;
    if (!at->within->cancel || clock_gettime(CLOCK_MONOTONIC, &until)) {
        pthread_cond_wait(&p->ended, &p->lock);
        return;
    }
    until.tv_nsec += A_WHILE;
    if (until.tv_nsec >= 1000000000) until.tv_nsec -= 1000000000, until.tv_sec++;
    pthread_cond_timedwait(&p->ended, &p->lock, &until);
}

/* Waits until no other thread is within the loop. What takes long may be cancelled meanwhile. */
static void await_others(pool *p, pool_share *share) {
    pthread_mutex_lock(&p->lock);
    p->task = NULL;
    pthread_mutex_unlock(&p->lock);
    for (unsigned i = 0; i < p->looks && atomic_load_explicit(&p->busy, memory_order_relaxed); i++) rest();
    pthread_mutex_lock(&p->lock);
    while (atomic_load(&p->busy)) {
        await_one(p, share->at);
        pthread_mutex_unlock(&p->lock);
        pool_stops(share, 0);
        pthread_mutex_lock(&p->lock);
    }
    pthread_mutex_unlock(&p->lock);
}

/* Those that the program may use. They are counted before the first thread is made, because asking the system takes
 * longer than many a run that makes none (docs/performance.md). */
static void find_processors(pool *p) {
    p->anywhere = !pthread_getaffinity_np(pthread_self(), sizeof p->processors, &p->processors);
    const long n = p->anywhere ? CPU_COUNT(&p->processors) : sysconf(_SC_NPROCESSORS_ONLN);
    p->looks = n >= 0 && (size_t)n >= p->most ? LOOKS : 0;
}

/* A system may start a thread on the processor of the thread that makes it, where it waits until that one sleeps: a
 * millisecond or more. So it starts on another one, if there is one, and may then go anywhere. */
static bool start_elsewhere(pool *p, pthread_attr_t *how) {
    if (!p->made) find_processors(p);   /* later, threads may read them */
    const int here = sched_getcpu();
    if (!p->anywhere || here < 0 || here >= CPU_SETSIZE) return false;
    cpu_set_t others = p->processors;
    CPU_CLR(here, &others);
    return CPU_COUNT(&others) && !pthread_attr_setaffinity_np(how, sizeof others, &others);
}

/* Makes threads until there are `wanted`, the calling one included, or the system refuses one. */
static void make_threads(pool *p, size_t wanted) {
    sigset_t all, before;
    if (wanted > p->most) wanted = p->most;
    if (p->made + 1 >= wanted) return;
    sigfillset(&all);
    pthread_attr_t how;
    if (pthread_attr_init(&how)) return;
    if (!pthread_sigmask(SIG_SETMASK, &all, &before)) {
        const bool elsewhere = start_elsewhere(p, &how);
        while (p->made + 1 < wanted) {
            pool_member *m = &p->members[p->made];
            *m = (pool_member){ .pool = p, .number = p->made + 1 };
            const bool made = !pthread_create(&m->thread, elsewhere ? &how : NULL, work, m);
            if (made) p->made++;
            else p->most = wanted = p->made + 1;
        }
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    pthread_attr_destroy(&how);
}

bool pool_for(xir_kernel *at, size_t n, uint64_t steps, pool_fn *fn, void *user) {
    pool *p = pool_of(at);
    const bool eager = p && p->eager;
    pool_task t = { .fn = fn, .user = user, .n = n, .steps = steps };
    uint64_t all, piece = STEPS_A_PIECE / (steps ? steps : 1);
    if (__builtin_mul_overflow((uint64_t)n, steps, &all)) all = UINT64_MAX;
    if (eager && n) piece = n / 16 < piece ? n / 16 : piece;
    t.piece = piece >= EVEN ? (size_t)piece / EVEN * EVEN : steps < STEPS_A_PIECE / EVEN ? EVEN : piece ? piece : 1;
    if (t.piece >= n) t.piece = n ? n : 1;
    const size_t pieces = n / t.piece + (n % t.piece != 0);
    const bool shared = p && p->most > 1 && !p->task && pieces > 1 && (eager || all >= STEPS_A_LOOP);
    if (shared) {
        make_threads(p, pieces);
        pthread_mutex_lock(&p->lock);
        p->task = &t;
        atomic_fetch_add_explicit(&p->turn, 1, memory_order_release);
        pthread_cond_broadcast(&p->begun);
        pthread_mutex_unlock(&p->lock);
    }
    pool_share share = { .task = &t, .at = at };
    take_pieces(&share);
    if (shared) {
        await_others(p, &share);
        pool_stops(&share, 0);     /* merges what others counted */
    }
    return !atomic_load_explicit(&t.stopped, memory_order_relaxed);
}

/* ---- opening and closing ---------------------------------------------------------------------------------------- */

/* A positive number of the environment; 0 if it has none. */
static size_t wanted_by_tests(void) {
    const char *word = getenv("XIR_THREADS");
    const long n = word ? strtol(word, NULL, 10) : 0;
    return n > 0 ? (size_t)n : 0;
}

/* Its waits end by a clock that nobody sets. */
static int init_ended(pool *p) {
    pthread_condattr_t how;
    if (pthread_condattr_init(&how)) return -1;
    int status = pthread_condattr_setclock(&how, CLOCK_MONOTONIC);
    if (!status) status = pthread_cond_init(&p->ended, &how);
    pthread_condattr_destroy(&how);
    return status;
}

void pool_open(pool *p, size_t threads) {
    memset(p, 0, offsetof(pool, members));
    if (!threads) {
        threads = wanted_by_tests();
        p->eager = threads > 0;
    }
    p->most = threads < 1 ? 1 : threads < POOL_MOST ? threads : POOL_MOST;
    if (p->most == 1) return;
    if (pthread_mutex_init(&p->lock, NULL)) p->most = 1;
    else if (pthread_cond_init(&p->begun, NULL)) pthread_mutex_destroy(&p->lock), p->most = 1;
    else if (init_ended(p)) pthread_cond_destroy(&p->begun), pthread_mutex_destroy(&p->lock), p->most = 1;
    else p->open = true;
}

void pool_close(pool *p) {
    if (!p->open) return;
    pthread_mutex_lock(&p->lock);
    atomic_store(&p->closing, true);
    pthread_cond_broadcast(&p->begun);
    pthread_mutex_unlock(&p->lock);
    for (size_t i = 0; i < p->made; i++) pthread_join(p->members[i].thread, NULL);
    pthread_cond_destroy(&p->ended);
    pthread_cond_destroy(&p->begun);
    pthread_mutex_destroy(&p->lock);
}
