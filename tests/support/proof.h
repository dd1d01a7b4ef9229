/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Helpers for the tests of proofs. */
#ifndef SUPPORT_PROOF_H
#define SUPPORT_PROOF_H

#include <stdio.h>
#include "support/net.h"

static inline xir_proof_state state_of(const xir_proof *proof) {
    xir_proof_state state = XIR_INIT(xir_proof_state);
    assert_int_equal(xir_proof_state_of(proof, &state, NULL), XIR_OK);
    return state;
}

/* The messages in `why`, a line each, which is empty then. Valid until the next call. */
static inline const char *findings(void) {
    static char all[4000];
    size_t n = 0;
    *all = '\0';
    const xir_diag *d;
    for (size_t i = 0; (d = xir_diags_at(why, i)) && n < sizeof all; i++)
        n += (size_t)snprintf(all + n, sizeof all - n, "%s%.*s", i ? "\n" : "", (int)d->message.size, d->message.data);
    xir_diags_clear(why);
    return all;
}

#endif
