/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

#include "support/scarce.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include "support/often.h"

enum { HEAD = 16 };

/* Not cmocka's fail: this runs inside the library, which holds locks. */
static void stop(const char *what) {
    fprintf(stderr, "allocator: %s\n", what);
    abort();
}

static bool refuses(scarce *m, size_t size) {
    if (m->plenty || size < m->least) return false;
    size_t n = m->calls++;
    bool refused = n == m->refuse || (m->for_good && n > m->refuse);
    m->refused |= refused;
    return refused;
}

static void *resize_alone(void *user, void *block, size_t old_size, size_t size) {
    scarce *m = user;
    char *raw = block ? (char *)block - HEAD : NULL;
    size_t known = 0;
    if (raw) memcpy(&known, raw, sizeof known);
    if (known != old_size) stop("an old size that was never asked for");
    if (size == 0) {
        if (raw) m->blocks--, m->bytes -= known, memset(raw, 0xDD, HEAD + known);
        free(raw);
        return NULL;
    }
    if (refuses(m, size)) return NULL;
    /* Always returns another block, so that code that keeps the old one is detected. */
    char *now = malloc(HEAD + size);
    if (!now) stop("no memory at all");
    memcpy(now, &size, sizeof size);
    if (size > known) memset(now + HEAD + known, 0xAA, size - known);
    if (raw) {
        memcpy(now + HEAD, block, known < size ? known : size);
        free(raw);
    }
    m->blocks += !raw;
    m->bytes += size - known;
    return now + HEAD;
}

/* The threads of a run allocate at the same time. */
static void *resize(void *user, void *block, size_t old_size, size_t size) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    void *now = resize_alone(user, block, old_size, size);
    pthread_mutex_unlock(&lock);
    return now;
}

xir_allocator scarce_allocator(scarce *memory) { return (xir_allocator){ resize, memory }; }

/* ---- trying ----------------------------------------------------------------------------------------------------- */

/* Pictures are taken only when memory is about to run out: calls that change a network allocate less than this. */
enum { NEAR = 100 };

void try_begin(want *w) {
    scarce *m = &w->memory;
    w->tries = 0;
    w->refused_before = m->refused;
    free(w->before);
    w->before = NULL;
    bool soon = !m->refused && m->calls + NEAR > m->refuse;
    if (w->net && soon) IN_PLENTY(w, w->before = picture(w->net));
}

static void give_up(want *w, const char *call, int line, const char *what) {
    print_error("line %d: %s: %s (allocation %zu refused%s)\n", line, call, what, w->memory.refuse,
                w->memory.for_good ? " for good" : "");
    if (w->net) xir_diags_print(xir_network_diags(w->net), stderr);
    xir_diags_print(w->why, stderr);
    fail();
}

/* The network is sound and unchanged, and has a finding. */
static void check_net(want *w, const char *call, int line) {
    if (!w->net) return;
    const char *broken = broken_invariant(w->net, ASK_NOTHING);
    if (broken) give_up(w, call, line, broken);
    if (w->before) {
        char *after = picture(w->net);
        if (strcmp(w->before, after) != 0) {
            print_error("before: %s\nafter: %s\n", w->before, after);
            give_up(w, call, line, "the network has changed");
        }
        free(after);
    }
    xir_network_clear_status(w->net);
}

static bool tried(want *w, bool done, xir_status status, const char *call, int line) {
    if (done) {
        if (w->net && w->memory.refused && !w->refused_before) {   /* it succeeded without some memory */
            const char *broken;
            IN_PLENTY(w, broken = broken_invariant(w->net, ASK_NOTHING));
            if (broken) give_up(w, call, line, broken);
        }
        w->refused_before = w->memory.refused;
        free(w->before);
        w->before = NULL;
        if (w->why) xir_diags_clear(w->why);
        return false;
    }
    if (!w->memory.refused || (w->refused_before && !w->memory.for_good))
        give_up(w, call, line, "failed, though nothing was refused");
    if (status != XIR_E_MEMORY) give_up(w, call, line, xir_status_name(status));
    IN_PLENTY(w, check_net(w, call, line));
    if (w->why) xir_diags_clear(w->why);
    if (++w->tries == 2) w->memory.plenty = true;
    if (w->tries > 3) give_up(w, call, line, "fails again and again");
    return true;
}

bool try_again(want *w, xir_status status, const char *call, int line) {
    return tried(w, status == XIR_OK, status, call, line);
}

bool try_again_made(want *w, bool made, const char *call, int line) {
    size_t n = xir_diags_count(w->why);
    xir_status status = w->net && xir_network_status(w->net) ? xir_network_status(w->net)
                      : n ? xir_diags_at(w->why, n - 1)->code : XIR_E_MEMORY;
    return tried(w, made, status, call, line);
}

/* ---- the end of a block ------------------------------------------------------------------------------------------ */

static void name_first(want *w, size_t size) {
    char *name = malloc(size + 1);
    memset(name, 'x', size + 1);
    assert_int_equal(xir_value_set_name(xir_op_output(xir_network_first(w->net), 0), (xir_str){ name, size }), XIR_OK);
    free(name);
}

bool scarce_leave(want *w, size_t room) {
    enum { BLOCK = 4096, ABOUT = 64 };
    scarce *m = &w->memory;
    const bool plenty = m->plenty;
    const size_t blocks = m->blocks;
    size_t bytes;
    m->plenty = true;
    do {
        bytes = m->bytes;
        name_first(w, 1);
    } while (m->blocks == blocks);
    const size_t block = m->bytes - bytes;
    if (block >= BLOCK && room + ABOUT < block) name_first(w, block - room - ABOUT);
    name_first(w, 1);
    m->plenty = plenty;
    if (block >= BLOCK) m->least = BLOCK;
    return block >= BLOCK;
}

/* ---- running ---------------------------------------------------------------------------------------------------- */

/* True if memory was refused. */
static bool run_once(const char *name, scenario_fn *scenario, bool own_context, size_t refuse, bool for_good,
                     char **result) {
    want w = { .memory = { .refuse = SIZE_MAX } };
    xir_allocator alloc = scarce_allocator(&w.memory);
    if (!own_context) {
        w.ctx = xir_context_new(&alloc);
        w.why = xir_diags_new(w.ctx);
        assert_non_null(w.why);
    }
    w.memory.calls = 0;
    w.memory.refuse = refuse;
    w.memory.for_good = for_good;
    scenario(&w);
    w.memory.plenty = true;
    if (w.net) {
        const char *broken = broken_invariant(w.net, ASK_ALL);
        if (broken) fail_msg("%s, allocation %zu: %s", name, refuse, broken);
        if (!w.result) w.result = picture(w.net);
    }
    xir_network_free(w.net);
    xir_diags_free(w.why);
    xir_context_free(w.ctx);
    free(w.before);
    if (w.memory.blocks || w.memory.bytes) {
        fail_msg("%s, allocation %zu%s: %zu blocks of %zu bytes are left", name, refuse,
                 for_good ? " and all after" : "", w.memory.blocks, w.memory.bytes);
    }
    if (!*result) {
        *result = w.result;
    } else {
        if (strcmp(*result, w.result ? w.result : "") != 0) {
            fail_msg("%s, allocation %zu%s: the result is\n%s\n\n%s\nwas expected", name, refuse,
                     for_good ? " and all after" : "", w.result ? w.result : "", *result);
        }
        free(w.result);
    }
    return w.memory.refused;
}

/* Under a sanitizer a context alone takes 20 ms: each of the first allocations is refused, then a sample of them, once
 * and for good in turn. With XIR_SCARCE in the environment, all of them both ways. */
enum { EACH = 16, SAMPLE = 8 };

bool scarce_is_complete(void) { return !IS_SANITIZED || getenv("XIR_SCARCE"); }

void run_scarcely(const char *name, scenario_fn *scenario, bool own_context) {
    char *result = NULL;
    run_once(name, scenario, own_context, SIZE_MAX, false, &result);
    const bool all = scarce_is_complete();
    size_t points = 0;
    bool refused = true, once = true, for_good = all;
    for (size_t n = 0; refused; n += all || n < EACH ? 1 : SAMPLE) {
        refused = false;
        if (once)     refused |= run_once(name, scenario, own_context, n, false, &result);
        if (for_good) refused |= run_once(name, scenario, own_context, n, true, &result);
        if (!all) once = !once, for_good = !once;
        points++;
    }
    free(result);
    if (getenv("XIR_TEST_TALK")) print_message("%s: %zu points\n", name, points);
}
