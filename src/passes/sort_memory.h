/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* An order of the ops in which less memory lives. */
#ifndef PASSES_SORT_MEMORY_H
#define PASSES_SORT_MEMORY_H

#include "support/upkeep.h"

/* Of the ops that have their inputs, the next one is that after which the fewest bytes live. The order is taken only if
 * a plan in it needs fewer bytes than one in the present order; the network must be sorted. Without known bytes of all
 * values nothing changes. */
xir_status sort_for_memory(xir_pass *at);

#endif
