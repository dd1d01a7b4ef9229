/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A pass on networks as text: what they become, and networks that it must not change. The includer defines TESTED, the
 * name of the pass. */
#ifndef TEST_BEFORE_AFTER_H
#define TEST_BEFORE_AFTER_H

#include <stdlib.h>
#include <xir/pass.h>
#include "support/story.h"

static size_t changes;

static inline xir_network *passed(const char *before) {
    xir_network *net = story_net(before);
    xir_diags_clear(why);
    if (xir_pass_run(net, TESTED, NULL, &changes, why) != XIR_OK) {
        xir_diags_print(why, stderr);
        fail();
    }
    CHECK_SOUND(net);
    assert_int_equal(xir_network_validate(net, why), XIR_OK);
    return net;
}

/* Also checks that the numbers are the same. */
static inline void becomes(const char *before, const char *after, int line) {
    xir_network *net = passed(before), *old = story_net(before);
    check_story(net, after, __FILE__, line);
    check_same_numbers(old, net, __FILE__, line);
    xir_network_free(old);
    size_t first = changes;
    assert_int_equal(xir_pass_run(net, TESTED, NULL, &changes, why), XIR_OK);
    if (changes) fail_msg("line %d: a second run makes %zu changes", line, changes);
    if (!first) fail_msg("line %d: no changes", line);
    xir_network_free(net);
}
#define BECOMES(before, after) becomes(before, after, __LINE__)

static inline void stays(const char *before, int line) {
    xir_network *net = story_net(before);
    char *text = story_text(net);
    xir_network_free(net);
    net = passed(before);
    check_story(net, text, __FILE__, line);
    if (changes) fail_msg("line %d: %zu changes", line, changes);
    free(text);
    xir_network_free(net);
}
#define STAYS(before) stays(before, __LINE__)

#endif
