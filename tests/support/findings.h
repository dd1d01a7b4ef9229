/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The checks of the wrappers of findings.awk. They are in every test program, so every call of every test must keep
 * the rule. A call that breaks it ends the program, because a test that expects the failure would not notice that
 * its finding is missing. */
#ifndef SUPPORT_FINDINGS_H
#define SUPPORT_FINDINGS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xir/xir.h>

static inline void break_off(const char *call, const char *what) {
    fprintf(stderr, "%s failed, %s\n", call, what);
    abort();
}

/* Returns true if an error says that memory ran out: by its status, or, if it stands for lost findings, by its
 * message. */
static inline bool blames_memory(const xir_diags *list) {
    static const char words[] = "out of memory";
    for (size_t i = 0; i < xir_diags_count(list); i++) {
        const xir_diag *d = xir_diags_at(list, i);
        if (d->severity != XIR_ERROR) continue;
        if (d->code == XIR_E_MEMORY ||
            (d->message.size >= sizeof words - 1 && !memcmp(d->message.data, words, sizeof words - 1))) return true;
    }
    return false;
}

/* Checks a call that has failed; `status` is XIR_OK if it returned NULL. Its list had `before` errors and must have
 * one more, unless it already has the record that memory ran out, which stands for all later errors. */
static inline void check(const char *call, const xir_diags *list, size_t before, xir_status status) {
    if (!list) return;
    size_t after = xir_diags_count_of(list, XIR_ERROR);
    if (!after) break_off(call, "and no error is in its list");
    if (after == before && !blames_memory(list)) break_off(call, "and its list has no more errors than before");
    if (status == XIR_E_MEMORY && !blames_memory(list))
        break_off(call, "for lack of memory, and its list gives another cause");
}

/* Checks a call that has failed to change a network. A network keeps its first error, and later failures may add
 * nothing. */
static inline void check_network(const char *call, xir_network *net) {
    if (net && !xir_diags_count_of(xir_network_diags(net), XIR_ERROR))
        break_off(call, "and no error is in the network's list");
}

#endif
