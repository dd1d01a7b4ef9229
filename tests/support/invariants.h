/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Invariants of a network, which hold at any time, whichever calls changed it and whether or not they succeeded. */
#ifndef SUPPORT_INVARIANTS_H
#define SUPPORT_INVARIANTS_H

#include <xir/network.h>

/* Looking up an id or an index makes tables, which later edits have to update: a test decides when to do that. */
enum { ASK_NOTHING = 0, ASK_IDS = 1, ASK_INDEX = 2, ASK_ALL = ASK_IDS | ASK_INDEX };

/* Returns NULL, or a message (static) that says what is wrong:
 *   - the order is a doubly linked list of placed ops, of the length that is counted, whose positions increase;
 *   - sub ops belong to their parent, and are not in the order;
 *   - an input is in the use list of its value and in no other; a use list has only inputs; both are in this network;
 *   - ids are unique, below the next one, and found (ASK_IDS), or at least not found wrongly; removed ones are not;
 *   - Params in use have ids, and are counted;
 *   - ops are found at their positions, and positions by their ops (ASK_INDEX). */
const char *broken_invariant(xir_network *net, unsigned ask);

#endif
