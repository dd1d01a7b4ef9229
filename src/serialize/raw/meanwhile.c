/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* One thread adds pieces to a ring, the other one hashes them in order. Small pieces are published together, so that
 * a million of them do not wake the thread a million times. The thread has no task: the adding one counts its work. */
#include <signal.h>
#include "object.h"
#include "raw/meanwhile.h"
#include "task.h"

enum { RING = 4096, BATCH = 1024, BATCH_BYTES = 256 << 10 };

uint64_t meanwhile_least = 1 << 20;
bool     meanwhile_refused;

typedef struct piece { const void *data; size_t size; } piece;

typedef struct meanwhile_thread {
    md5            *sum;          /* of the hashing thread until it has ended */
    pthread_t       thread;
    pthread_mutex_t lock;
    pthread_cond_t  more, less;
    size_t          head, tail;   /* pieces before these numbers are hashed, published */
    uint64_t        waiting;      /* bytes between them */
    bool            ends, stops;
    size_t          next;         /* of the adding thread: pieces added, */
    uint64_t        unpublished;  /* and the bytes of those that are not published */
    piece           ring[RING];
} meanwhile_thread;

bool meanwhile_make_thread(pthread_t *thread, void *(*work)(void *user), void *user) {
    static const int faults[] = { SIGBUS, SIGSEGV, SIGFPE, SIGILL };
    sigset_t blocked, before;
    if (meanwhile_refused) return false;
    sigfillset(&blocked);
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) sigdelset(&blocked, faults[i]);
    if (pthread_sigmask(SIG_BLOCK, &blocked, &before)) return false;
    const bool made = pthread_create(thread, NULL, work, user) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return made;
}

/* ---- the hashing thread ------------------------------------------------------------------------------------------ */

/* Hashes published pieces. Returns false if it is to stop. The lock is held at both ends. */
static bool hash_some(meanwhile_thread *t) {
    const size_t to = t->tail;
    size_t at = t->head;
    while (at < to && !t->stops) {
        uint64_t done = 0;
        pthread_mutex_unlock(&t->lock);
        while (at < to && done < BATCH_BYTES) {
            const piece *p = &t->ring[at++ % RING];
            md5_add(t->sum, p->data, p->size);
            done += p->size;
        }
        pthread_mutex_lock(&t->lock);
        t->head = at;
        t->waiting -= done;
        pthread_cond_signal(&t->less);
    }
    return !t->stops;
}

static void *work(void *user) {
    meanwhile_thread *t = user;
    pthread_mutex_lock(&t->lock);
    for (bool on = true; on;) {
        while (t->head == t->tail && !t->ends && !t->stops) pthread_cond_wait(&t->more, &t->lock);
        on = t->head != t->tail && hash_some(t);
    }
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

static void start(md5_meanwhile *b) {
    b->asks = false;
    meanwhile_thread *t = mem_new(b->alloc, sizeof *t);
    if (!t) return;
    memset((void *)t, 0, sizeof *t);
    t->sum = &b->sum;
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->more, NULL);
    pthread_cond_init(&t->less, NULL);
    if (meanwhile_make_thread(&t->thread, work, t)) b->thread = t;
    else mem_free(b->alloc, t, sizeof *t);
}

/* ---- the adding thread ------------------------------------------------------------------------------------------- */

/* Publishes what was added, once there is room for it, and waits until there is room for as many pieces again. */
static void publish(meanwhile_thread *t) {
    pthread_mutex_lock(&t->lock);
    while (t->waiting && t->waiting + t->unpublished > MEANWHILE_MOST) pthread_cond_wait(&t->less, &t->lock);
    t->waiting += t->unpublished;
    t->unpublished = 0;
    t->tail = t->next;
    pthread_cond_signal(&t->more);
    while (t->tail - t->head > RING - BATCH) pthread_cond_wait(&t->less, &t->lock);
    pthread_mutex_unlock(&t->lock);
}

xir_status meanwhile_begin(md5_meanwhile *b, const xir_allocator *alloc, uint64_t bytes, xir_diags *why) {
    *b = (md5_meanwhile){ .alloc = alloc, .asks = bytes >= meanwhile_least };
    return md5_begin(&b->sum, why);
}

void meanwhile_begin_with(md5_meanwhile *b, const void *data, size_t size) { md5_add(&b->sum, data, size); }

bool meanwhile_add(md5_meanwhile *b, const void *data, size_t size) {
    if (b->asks) start(b);
    meanwhile_thread *t = b->thread;
    if (!t) {
        md5_add(&b->sum, data, size);
        b->stopped = b->sum.failed;
        return !b->stopped;
    }
    if (!size) return true;
    t->ring[t->next++ % RING] = (piece){ data, size };
    t->unpublished += size;
    if (t->unpublished >= BATCH_BYTES || t->next - t->tail == BATCH) publish(t);
    b->stopped = !task_did(size);
    return !b->stopped;
}

xir_status meanwhile_end(md5_meanwhile *b, char hex[MD5_DIGITS + 1], xir_diags *why) {
    meanwhile_thread *t = b->thread;
    if (t) {
        if (hex && t->next != t->tail) publish(t);
        pthread_mutex_lock(&t->lock);
        t->ends = true;
        t->stops = !hex;
        pthread_cond_signal(&t->more);
        pthread_mutex_unlock(&t->lock);
        pthread_join(t->thread, NULL);
        pthread_cond_destroy(&t->more);
        pthread_cond_destroy(&t->less);
        pthread_mutex_destroy(&t->lock);
        mem_free(b->alloc, t, sizeof *t);
        b->thread = NULL;
    }
    return md5_end(&b->sum, hex, why);
}
