/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Threads that start at the same time. cmocka's checks may fail only on its own thread, so the others note the first
 * line where a check fails. */
#ifndef SUPPORT_CREW_H
#define SUPPORT_CREW_H

#include <pthread.h>
#include <stdatomic.h>
#include "support/net.h"

enum { CREW_MOST = 16 };

static atomic_int wrong_line;
#define EXPECT(condition)                                          \
    do {                                                           \
        int none_ = 0;                                             \
        if (!(condition)) atomic_compare_exchange_strong(&wrong_line, &none_, __LINE__); \
    } while (0)

typedef struct crew {
    pthread_barrier_t start;
    void            (*work)(int number, void *user);
    void             *user;
} crew;
typedef struct member { crew *crew; int number; pthread_t thread; } member;

static void *crew_begin(void *user) {
    member *m = user;
    pthread_barrier_wait(&m->crew->start);
    m->crew->work(m->number, m->crew->user);
    return NULL;
}

/* Runs `work` on `n` threads, each with its number, and fails if one of them has noted a line. */
static inline void all_at_once(int n, void (*work)(int number, void *user), void *user) {
    crew c = { .work = work, .user = user };
    member members[CREW_MOST];
    pthread_barrier_init(&c.start, NULL, (unsigned)n);
    for (int i = 0; i < n; i++) {
        members[i] = (member){ .crew = &c, .number = i };
        assert_int_equal(pthread_create(&members[i].thread, NULL, crew_begin, &members[i]), 0);
    }
    for (int i = 0; i < n; i++) pthread_join(members[i].thread, NULL);
    pthread_barrier_destroy(&c.start);
    if (wrong_line) fail_msg("line %d of a thread", wrong_line);
}

#endif
