/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The current task of a thread. While its caller is asked there is none, and no limit of memory: the caller may load
 * and save other networks. */
#include <string.h>
#include "context_base.h"
#include "diagnose.h"
#include "memory_limit.h"
#include "task.h"

uint64_t task_each = TASK_EACH;

_Thread_local task *task_current __attribute__((tls_model("initial-exec")));

enum { TO_REPORT = 1 << 20 };

void task_begin(task *t, task_cancel_fn *cancel, task_progress_fn *progress, void *user) {
    *t = (task){ .outer = task_current, .cancel = cancel, .progress = progress, .user = user, .to_report = TO_REPORT };
    t->begun = cancel || progress;
    if (t->begun) task_current = t;
}

static void ask(task *t) {
    memory_limit *limit = memory_limit_exchange(NULL);
    task_current = NULL;
    t->work = 0;
    if (t->progress && t->told != t->done + 1) {
        t->told = t->done + 1;    /* 0: it knows nothing */
        t->progress(t->user, t->done, t->total);
    }
    if (t->cancel && !t->final) t->cancelled = t->cancel(t->user);
    task_current = t;
    (void)memory_limit_exchange(limit);
}

bool task_count(task *t, uint64_t work) {
    t->work += work;
    if (t->work >= task_each && !t->cancelled) ask(t);
    return !t->cancelled;
}

/* The finding may be in a list that a reader has dropped. */
static xir_status report(xir_diags *why) {
    for (size_t i = 0; i < xir_diags_count(why); i++)
        if (xir_diags_at(why, i)->code == XIR_E_CANCELLED) return XIR_E_CANCELLED;
    task_current->said = false;
    return task_fail(why);
}

xir_status task_end(task *t, xir_status status, xir_diags *why) {
    if (!t->begun) return status;
    if (!status && !t->cancelled) {
        t->done = t->total;
        ask(t);
    }
    if (t->cancelled) status = report(why);
    task_current = t->outer;
    return status;
}

void task_expect(uint64_t bytes) {
    task *t = task_current;
    if (!t || (t->total && t->total - t->done >= bytes)) return;
    const bool first = !t->total;
    t->total = bytes < UINT64_MAX - t->done ? t->done + bytes : UINT64_MAX;
    if (first && !t->cancelled) ask(t);
}

/* While no total is known, any number may be done. */
static void reach(task *t, uint64_t done) {
    if (done > t->done) t->done = t->total && done > t->total ? t->total : done;
}

bool task_did(uint64_t bytes) {
    task *t = task_current;
    if (!t) return true;
    reach(t, bytes < UINT64_MAX - t->done ? t->done + bytes : UINT64_MAX);
    return task_count(t, bytes);
}

void task_decodes(const void *bytes, uint64_t size) {
    task *t = task_current;
    if (!t) return;
    t->bytes = bytes;
    t->size = bytes ? size : 0;
    t->before = t->done;
    task_expect(t->size);
    if (!t->cancelled) ask(t);
}

bool task_at(const void *at) {
    task *t = task_current;
    if (!t) return true;
    const uint64_t offset = (uint64_t)((uintptr_t)at - (uintptr_t)t->bytes);
    if (t->bytes && offset <= t->size) reach(t, t->before + offset);
    return task_count(t, TASK_PER_OBJECT);
}

void task_decoded(void) {
    task *t = task_current;
    if (!t || !t->bytes) return;
    (void)task_at(t->bytes + t->size);
    t->bytes = NULL;
}

bool task_copy(void *to, const void *from, uint64_t size) {
    bool on = true;
    for (uint64_t at = 0, n; on && at < size; at += n) {
        n = size - at < TASK_EACH ? size - at : TASK_EACH;
        memcpy((char *)to + at, (const char *)from + at, (size_t)n);
        on = task_worked(n);
    }
    return on;
}

xir_status task_final(xir_diags *why) {
    task *t = task_current;
    if (!t) return XIR_OK;
    if (!t->cancelled) ask(t);
    t->final = !t->cancelled;
    return t->cancelled ? task_fail(why) : XIR_OK;
}

bool task_is_cancelled(void) { return task_current && task_current->cancelled; }

xir_status task_fail(xir_diags *why) {
    task *t = task_current;
    if (!why || !t || t->said) return XIR_E_CANCELLED;
    t->said = true;
    return diag_fail(why, XIR_E_CANCELLED, xir_str_of(NULL), "cancelled by the caller");
}

bool task_allows(size_t size) {
    task *t = task_current;
    if (!t || !size) return true;
    t->work += TASK_PER_OBJECT + (uint64_t)size;
    if (!t->cancelled) return true;
    if (!t->said || size > t->to_report) return false;
    t->to_report -= size;
    return true;
}
