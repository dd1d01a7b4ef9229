/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The fixture of tests with a dialect of their own: a context that has it, what is found, and a network, which a test
 * writes as in support/story.h. */
#ifndef TEST_CONVERT_OWN_DIALECT_H
#define TEST_CONVERT_OWN_DIALECT_H

#include <xir/convert.h>
#include "support/story.h"

static xir_context *with;
static xir_diags   *found;
static xir_network *net;

static inline int begin_with(const xir_dialect_decl *dialect) {
    with = xir_context_new(NULL);
    found = xir_diags_new(with);
    net = NULL;
    assert_int_equal(xir_dialect_register(with, dialect, found), XIR_OK);
    return 0;
}

static inline int end(void **state) {
    (void)state;
    xir_network_free(net);
    xir_diags_free(found);
    xir_context_free(with);
    return 0;
}

/* Makes the network, in place of the one before. */
static inline void given(const char *text) {
    xir_network_free(net);
    net = story_net_in(with, text);
    xir_diags_clear(found);
}

#endif
