/* What the wrappers of told.sh ask. They are in every test program, so each call of every test is held against the
 * rule. A breach ends the program: a test that expects the failure would not see that nobody was told. */
#ifndef SUPPORT_TOLD_H
#define SUPPORT_TOLD_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xir/xir.h>

static inline void break_off(const char *call, const char *what) {
    fprintf(stderr, "%s failed, %s\n", call, what);
    abort();
}

/* Whether an error says that memory has run out: by its status, or, as the record that stands for lost ones, by its
 * sentence. */
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

/* The call has returned a failure (`status` is XIR_OK if it returned NULL); the list had `before` errors. What one
 * record for want of memory already stands for gets no second one. */
static inline void check(const char *call, const xir_diags *list, size_t before, xir_status status) {
    if (!list) return;
    size_t after = xir_diags_count_of(list, XIR_ERROR);
    if (!after) break_off(call, "and no error is in its list");
    if (after == before && !blames_memory(list)) break_off(call, "and its list has no more errors than before");
    if (status == XIR_E_MEMORY && !blames_memory(list))
        break_off(call, "for want of memory, and its list blames something else");
}

/* The first error stays in a network: those behind it may be silent. */
static inline void check_network(const char *call, xir_network *net) {
    if (net && !xir_diags_count_of(xir_network_diags(net), XIR_ERROR))
        break_off(call, "and no error is in the network's list");
}

#endif
