/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Threads make the calls of the Python package: one context, networks of their own and one that all of them read, and
 * callbacks that take a lock, as Python's do. ThreadSanitizer has no Python, so this is what it sees of it. */
#include <pthread.h>
#include <stdlib.h>
#include "support/net.h"
#include "support/scratch.h"

enum { THREADS = 4, ROUNDS = 6 };

typedef struct shared {
    pthread_mutex_t lock;       /* stands for the lock of the interpreter */
    xir_network    *net;        /* all threads read it                    */
    const char     *path;
    uint64_t        calls;
} shared;

typedef struct worker { pthread_t thread; shared *all; const char *failed; } worker;

static void call(shared *s) {
    pthread_mutex_lock(&s->lock);
    s->calls++;
    pthread_mutex_unlock(&s->lock);
}

static bool cancel(void *user) { return call(user), false; }
static void progress(void *user, uint64_t done, uint64_t total) { (void)done, (void)total, call(user); }
static void memory(void *user, const xir_op *op, const xir_run_memory *now) { (void)op, (void)now, call(user); }
static xir_status before_pass(void *user, const xir_pass_event *event) { return (void)event, call(user), XIR_OK; }

static bool append(void *user, const void *data, size_t size) {
    xir_text_buffer *out = user;
    if (out->size + size > out->room) return false;
    memcpy(out->data + out->size, data, size);
    out->size += size;
    return true;
}

/* Runs a network as Python's `run` does; the input is ones. */
static bool run(shared *s, const xir_network *net) {
    xir_value *in;
    const bool one = xir_network_inputs(net, &in, 1) == 1;
    xir_array *out = NULL, *ones = one ? xir_array_new(ctx, xir_value_type(in), NULL) : NULL;
    if (!ones) return false;
    const xir_run_options how = XIR_INIT(xir_run_options, .cancel = cancel, .memory = memory, .user = s, .threads = 2);
    const xir_array *inputs[] = { ones };
    const xir_status status = xir_network_run(net, inputs, 1, &out, 1, &how, NULL);
    xir_array_free(out);
    xir_array_free(ones);
    return status == XIR_OK;
}

static bool passes(shared *s, xir_network *net) {
    const xir_pass_watch watch = XIR_INIT(xir_pass_watch, .before = before_pass, .user = s);
    const xir_pass_settings how = XIR_INIT(xir_pass_settings, .watches = &watch, .n_watches = 1, .cancel = cancel,
                                           .cancel_user = s, .verify = true);
    xir_pipeline *steps = xir_pipeline_parse(ctx, XIR_STR("infer,fix(identity,dce)"), NULL);
    xir_pass_report *report = xir_pass_report_new(ctx);
    const bool fine = steps && report && xir_pipeline_run(steps, net, &how, report, NULL) == XIR_OK;
    xir_pass_report_free(report);
    xir_pipeline_free(steps);
    return fine;
}

static bool through_bytes(shared *s, xir_network *net) {
    enum { ROOM = 1 << 16 };
    xir_text_buffer file = { .data = malloc(ROOM), .room = ROOM };
    const xir_save_options save = XIR_INIT(xir_save_options, .format = "fb", .cancel = cancel, .progress = progress,
                                           .user = s);
    const xir_load_options load = XIR_INIT(xir_load_options, .format = "fb", .cancel = cancel, .progress = progress,
                                           .user = s);
    bool fine = file.data && xir_network_write(net, append, &file, &save, NULL) == XIR_OK;
    xir_network *again = fine ? xir_network_read(ctx, file.data, file.size, XIR_STR(""), &load, NULL) : NULL;
    fine = again && xir_network_equal(again, net, true);
    xir_network_free(again);
    free(file.data);
    return fine;
}

static const char *round_of(shared *s, bool lazy) {
    const xir_load_options load = XIR_INIT(xir_load_options, .lazy = lazy, .cancel = cancel, .progress = progress,
                                           .user = s);
    xir_network *net = xir_network_load(ctx, s->path, &load, NULL), *clone = net ? xir_network_clone(net) : NULL;
    const char *failed = !clone ? "load" :
                         xir_network_validate(s->net, NULL) ? "check" : !run(s, s->net) ? "run of all" :
                         xir_op_set_i64(op_of(clone, 1), "pad_top", 1) ? "set" : !passes(s, clone) ? "passes" :
                         !run(s, clone) ? "run" : !through_bytes(s, clone) ? "bytes" : NULL;
    xir_network_free(clone);
    xir_network_free(net);
    return failed;
}

static void *work(void *user) {
    worker *w = user;
    for (int i = 0; i < ROUNDS && !w->failed; i++) w->failed = round_of(w->all, i % 2);
    return NULL;
}

static void threads_call_as_python_does(void **state) {
    (void)state;
    shared s = { .lock = PTHREAD_MUTEX_INITIALIZER, .net = small_net(), .path = scratch("shared.fb") };
    uint64_t size = 0;
    xir_value *weights = value_of(s.net, 1);
    DOES(xir_type_bytes(xir_value_type(weights), &size));
    uint8_t *zeros = calloc(1, size);
    DOES(xir_params_set_copy(weights, zeros, size));
    free(zeros);
    DOES(xir_network_save(s.net, s.path, NULL, why));
    worker workers[THREADS];
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (worker){ .all = &s };
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) pthread_join(workers[i].thread, NULL);
    for (int i = 0; i < THREADS; i++) if (workers[i].failed) fail_msg("thread %d: %s", i, workers[i].failed);
    assert_true(s.calls > THREADS * ROUNDS);
    xir_network_free(s.net);
}

GROUP {
    scratch_make();
    const struct CMUnitTest tests[] = { cmocka_unit_test(threads_call_as_python_does) };
    return RUN_GROUP(tests);
}
