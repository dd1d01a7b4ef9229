/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A task is a call that reads or writes a network, and whose caller may watch and cancel it. It belongs to a thread.
 * Code that works on many bytes reports them, every allocation and every new op counts as work, and after TASK_EACH
 * units of work the next report asks the caller. The caller may do anything then, such as wait for another of its
 * threads: so no code reports while it holds a lock, and allocations do not ask. From the moment that the caller
 * cancels, all memory is refused: so every reader and writer, that of a plug-in too, ends as it does when memory runs
 * out, and undoes what it has done. diag_memory then reports the cancelling instead. */
#ifndef CORE_TASK_H
#define CORE_TASK_H

#include <stdint.h>
#include <xir/diag.h>

typedef bool task_cancel_fn(void *user);
typedef void task_progress_fn(void *user, uint64_t done, uint64_t total);

typedef struct task {
    struct task      *outer;      /* of this thread, until this one ends                               */
    task_cancel_fn   *cancel;
    task_progress_fn *progress;
    void             *user;
    uint64_t          done, total, told;   /* bytes; `told` is what the caller knows                   */
    uint64_t          work;       /* since the caller was asked                                        */
    const char       *bytes;      /* that are decoded, or NULL                                         */
    uint64_t          size, before;        /* of them, and the bytes that were done before them        */
    uint64_t          to_report;  /* the bytes that the finding may still take                         */
    bool              begun, cancelled, said, final;
} task;

/* A unit of work takes about as long as a byte that is read. Tests make the distance smaller. */
enum { TASK_EACH = 256 << 10, TASK_PER_OBJECT = 256 };
extern uint64_t task_each;

/* Begins a task of this thread. Without functions the work belongs to the task before, if there is one. */
void task_begin(task *t, task_cancel_fn *cancel, task_progress_fn *progress, void *user);
/* Ends it. Returns `status`, the outcome; XIR_E_CANCELLED, with a finding, if the caller has cancelled it, whatever the
 * outcome is. After XIR_OK the caller has seen that everything is done. */
xir_status task_end(task *t, xir_status status, xir_diags *why);

/* At least so many bytes are still to be done: the total grows if it has to. */
void task_expect(uint64_t bytes);
/* So many bytes of these are done. Returns false if the task is cancelled. */
bool task_did(uint64_t bytes);
/* The bytes from `bytes` on are decoded next, until task_decoded; `at` is where decoding has come to. The caller is
 * asked before. */
void task_decodes(const void *bytes, uint64_t size);
bool task_at(const void *at);
void task_decoded(void);
/* The current task of the thread, or NULL. In the block of static thread-local storage: it is read at every allocation
 * and for every op. */
extern _Thread_local task *task_current __attribute__((tls_model("initial-exec")));
/* Counts work of a task. Returns false if the task is cancelled. */
bool task_count(task *t, uint64_t work);
/* Counts other work than these bytes. Returns false if the task is cancelled. */
static inline bool task_worked(uint64_t work) { return !task_current || task_count(task_current, work); }
/* Copies bytes, and counts that as work. Returns false if the task is cancelled. */
bool task_copy(void *to, const void *from, uint64_t size);

/* Asks the caller for the last time: from now on the task cannot be cancelled. XIR_OK, or XIR_E_CANCELLED with a
 * finding. */
xir_status task_final(xir_diags *why);
/* Returns true if the task is cancelled. */
bool       task_is_cancelled(void);
/* XIR_E_CANCELLED, with a finding if there is none of the task yet. Only for a cancelled task. */
xir_status task_fail(xir_diags *why);
/* Counts the allocation of a block. Returns false if the task refuses it. */
bool       task_allows(size_t size);

#endif
