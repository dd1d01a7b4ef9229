/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A pass under failing allocations: after each run, whether it failed or not, the network computes what it did before.
 * A pass that gave only some ops their new constants would change the numbers, and a next run would change them again.
 * The includer defines TESTED, the name of the pass. */
#ifndef TEST_SCARCE_NUMBERS_H
#define TEST_SCARCE_NUMBERS_H

#include "passes/before_after.h"
#include "support/scarce.h"

static const char *scarce_story;
static size_t scarce_room;      /* bytes that the network has, see scarce_leave; 0: each allocation is refused */
static size_t scarce_blocks;    /* that a run asked for, in which none was refused                              */
static const xir_network *scarce_before;

static inline xir_status run_and_compare(want *w) {
    const xir_status status = xir_pass_run(w->net, TESTED, NULL, NULL, w->why);
    IN_PLENTY(w, check_same_numbers(scarce_before, w->net, __FILE__, __LINE__));
    return status;
}

static inline void numbers_stay(want *w) {
    xir_network *before;
    IN_PLENTY(w, w->net = story_net_in(w->ctx, scarce_story); before = xir_network_clone(w->net));
    scarce_before = before;
    if (!scarce_room || scarce_leave(w, scarce_room)) TRY_LOOSELY(w, run_and_compare(w));
    if (!w->memory.refused) scarce_blocks = w->memory.calls;
    IN_PLENTY(w, xir_network_free(before));
    IN_PLENTY(w, assert_int_equal(xir_pass_run(w->net, "dce", NULL, NULL, w->why), XIR_OK));   /* left by failures */
    w->result = story_text(w->net);
}

static inline void numbers_survive(const char *const *stories, size_t n) {
    enum { ENOUGH = 3000, STEP = 24 };   /* an op and a constant take more than a step */
    for (size_t i = 0; i < n; i++) {
        scarce_story = stories[i];
        scarce_room = 0;
        run_scarcely(scarce_story, numbers_stay, false);
        scarce_room = ENOUGH;
        run_scarcely(scarce_story, numbers_stay, false);
        const size_t least = scarce_blocks;
        scarce_blocks = SIZE_MAX;
        for (scarce_room = 8; scarce_room < ENOUGH && scarce_blocks > least; scarce_room += STEP)
            run_scarcely(scarce_story, numbers_stay, false);
    }
}

#endif
