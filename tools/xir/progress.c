/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Work that takes long reports itself: a line on stderr, if that is a terminal, from 300 ms on; rewritten, and
 * removed at the end. A thread sleeps, and prints what is being done, the pass, sample or op that is worked on, and for
 * how long. Code that prints ends it first, so the two never mix. */
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>
#include "cli.h"

enum { PATIENCE_MS = 300, EACH_MS = 200, NARROW = 80 };

static pthread_t       thread;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t  ended;
static bool            running, ending;
static text            words;       /* "reading big.json" */
static char            step[64];    /* ": fold"; empty at first */
static int             percent;     /* that the step shows; -1: none */

static bool on_terminal(void) {
    static int known = -1;
    if (known < 0) {
        const char *terminal = getenv("TERM");
        known = isatty(STDERR_FILENO) && !(terminal && strcmp(terminal, "dumb") == 0);
    }
    return known;
}

static struct timespec now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t;
}

static struct timespec later(struct timespec t, long ms) {
    t.tv_nsec += ms * 1000000;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

static void put(const char *line, size_t size) {
    ssize_t n = write(STDERR_FILENO, line, size);
    (void)n;   /* a closed terminal misses nothing */
}

/* A line that wraps could not be removed: it is as short as the terminal is narrow. */
static void show(long seconds) {
    char line[NARROW + 16];
    struct winsize w = { 0 };
    size_t width = ioctl(STDERR_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col ? w.ws_col : NARROW;
    if (width > NARROW) width = NARROW;
    int n = snprintf(line, sizeof line, "\r\033[K%.*s%s", (int)(width - 1), words.data, step);
    if (n > (int)(width - 1 + 4)) n = (int)(width - 1 + 4);   /* a step that has no room is cut */
    size_t size = (size_t)n, room = width - 1 + 4;   /* 4: of the escape */
    char tail[32];
    int m = snprintf(tail, sizeof tail, ", %ld s", seconds);
    if (size + (size_t)m <= room) {
        memcpy(line + size, tail, (size_t)m);
        size += (size_t)m;
    }
    put(line, size);
}

static void *watch(void *user) {
    (void)user;
    struct timespec begun = now(), next = later(begun, PATIENCE_MS);
    bool shown = false;
    pthread_mutex_lock(&lock);
    while (!ending) {
        if (pthread_cond_timedwait(&ended, &lock, &next) == 0 || ending) continue;
        shown = true;
        show(now().tv_sec - begun.tv_sec);
        next = later(now(), EACH_MS);
    }
    pthread_mutex_unlock(&lock);
    if (shown) put("\r\033[K", 4);
    return NULL;
}

/* The name of a file as a terminal may see it. */
static void set_words(const char *verb, const char *name) {
    char *shown = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&shown, &size);
    if (f) {
        print_clipped(f, xir_str_of(name), 48);
        fclose(f);
    }
    words.size = 0;
    text_printf(&words, "xir: %s %s", verb, shown ? shown : "");
    free(shown);
}

void progress_begin(const char *verb, const char *name) {
    progress_end();
    if (!on_terminal()) return;
    set_words(verb, name);
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&ended, &attr);
    pthread_condattr_destroy(&attr);
    ending = false;
    step[0] = '\0';
    percent = -1;
    sigset_t all, before;   /* signals are the main thread's */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    running = pthread_create(&thread, NULL, watch, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void progress_step(const char *format, ...) {
    char now_at[sizeof step];
    if (!running) return;
    va_list args;
    va_start(args, format);
    vsnprintf(now_at, sizeof now_at, format, args);
    va_end(args);
    for (char *c = now_at; *c; c++) *c = *c >= ' ' && *c <= '~' ? *c : '?';   /* nothing that drives a terminal */
    pthread_mutex_lock(&lock);
    memcpy(step, now_at, sizeof step);
    pthread_mutex_unlock(&lock);
}

void progress_end(void) {
    if (!running) return;
    pthread_mutex_lock(&lock);
    ending = true;
    pthread_cond_signal(&ended);
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    pthread_cond_destroy(&ended);
    running = false;
}

void progress_writing(const char *out) {
    bool standard = strcmp(out, "-") == 0;
    if (!standard || !isatty(STDOUT_FILENO)) progress_begin("writing", standard ? "<stdout>" : out);
}

xir_status progress_pass(void *user, const xir_pass_event *event) {
    (void)user;
    progress_step(": %s", event->pass ? event->pass->name : "");
    return XIR_OK;
}

bool progress_op(void *user) {
    static const xir_op *shown;
    (void)user;
    const xir_op *op = running ? xir_run_current_op() : NULL;
    if (op == shown) return false;
    shown = op;
    const xir_network *net = op ? xir_op_network(op) : NULL;
    const int64_t at = net ? xir_network_index_of(net, op) : -1;    /* -1 of an op in a body */
    if (at >= 0) progress_step(", op %lld of %zu", (long long)at + 1, xir_network_op_count(net));
    return false;
}

void progress_bytes(void *user, uint64_t done, uint64_t total) {
    (void)user;
    if (!running || !total) return;
    const int now_at = (int)((double)done * 100 / (double)total);
    if (now_at == percent) return;
    percent = now_at;
    progress_step(", %d %%", percent);
}
