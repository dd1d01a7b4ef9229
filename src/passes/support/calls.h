/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Inlining of calls, for the pass inline and for conversions. */
#ifndef PASSES_SUPPORT_CALLS_H
#define PASSES_SUPPORT_CALLS_H

#include "manager/pass.h"

/* Puts the ops in the bodies of calls in the places of the calls, also of calls in a body; those of one name, or all if
 * it is empty. `*n` becomes their number. On failure some calls are inlined. */
xir_status inline_calls(xir_pass *at, xir_str name, size_t *n);
/* The same for calls that `is_meant` returns true for. */
xir_status inline_calls_that(xir_pass *at, bool (*is_meant)(const void *user, const xir_op *call), const void *user,
                             size_t *n);

#endif
