/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The threads of a run. A loop over n items is cut into pieces that threads take in turn; the thread that runs the
 * network takes pieces too. An item must write only what is its own, and must compute the same on any thread: then
 * results have the same bits for any number of threads.
 *
 *     static void square(pool_share *s, size_t from, size_t to, void *user) {
 *         squares *q = user;
 *         for (size_t i = from; i < to; i++) q->y[i] = q->x[i] * q->x[i];
 *     }
 *     if (!pool_for(at, n, STEPS_OF_ONE, square, &q)) return XIR_E_CANCELLED;
 *
 * Threads are made when a loop first needs them and end with the run, so nothing outlives it. If a thread cannot be
 * made, the run goes on with fewer. They block all signals, and start on other processors than the thread that makes
 * them. Only the calling thread calls `cancel`.
 *
 * Waking a thread takes longer than many a loop. So a thread looks for the next loop for some microseconds before it
 * sleeps, unless there are more threads than processors. */
#ifndef EXEC_POOL_H
#define EXEC_POOL_H

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include "kernel.h"

enum { POOL_MOST = 64 };   /* threads of a run, the calling one included */

/* A piece takes some microseconds. A loop that takes less than a few of them is not worth waking threads. */
enum { STEPS_A_PIECE = 1 << 15, STEPS_A_LOOP = 1 << 18 };

typedef struct pool_share pool_share;
/* Computes items [from, to). For the op of the loop it may call no function of exec.h: memory is allocated and inputs
 * are converted before the loop. `from` is 0 or a multiple of 64 if items take few steps, so that neighbours never
 * share a byte. */
typedef void pool_fn(pool_share *share, size_t from, size_t to, void *user);

/* The most threads that compute a loop; and the number of the one that computes a piece, for memory of its own. */
size_t pool_width(const xir_kernel *at);
size_t pool_thread(const pool_share *share);

/* Computes items [0, n). Each takes `steps` element operations or multiply-adds. Loops that are short stay on the
 * calling thread, and so does a loop within a loop. False if the run is cancelled; then not all are computed. */
bool pool_for(xir_kernel *at, size_t n, uint64_t steps, pool_fn *fn, void *user);
/* For items that take long, within one: counts its steps as xir_kernel_stops does. If true, return at once. */
bool pool_stops(pool_share *share, uint64_t steps);

/* ---- for the runner ------------------------------------------------------------------------------------------ */

typedef struct pool_member { struct pool *pool; pthread_t thread; size_t number; } pool_member;

typedef struct pool {
    size_t           most, made;     /* threads: at most, without the calling one so far                     */
    bool             eager;          /* short loops are cut too, into short pieces: for tests                */
    bool             open;
    bool             anywhere;       /* a new thread has to ask for all of `processors`                      */
    cpu_set_t        processors;     /* those of the thread that runs the network                            */
    unsigned         looks;          /* how often a thread looks for a change before it sleeps               */
    pthread_mutex_t  lock;           /* held while the members below are changed                             */
    pthread_cond_t   begun, ended;
    atomic_bool      closing;
    _Atomic uint64_t turn;           /* the number of the loop                                               */
    struct pool_task *task;          /* NULL between loops                                                   */
    atomic_size_t    busy;           /* threads within the loop                                              */
    pool_member      members[POOL_MOST - 1];
} pool;

/* Prepares for `threads`; 0 is one, or what the environment says (XIR_THREADS, docs/executor.md). Cannot fail. */
void pool_open(pool *p, size_t threads);
void pool_close(pool *p);

#endif
