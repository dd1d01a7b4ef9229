/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The rule of xir/provenance.h, checked by searching the network as it was: every source of an op lies on a path
 * between the values that its inputs and outputs stand for. */
#ifndef SUPPORT_PATH_RULE_H
#define SUPPORT_PATH_RULE_H

#include <xir/xir.h>

typedef struct path_counts { size_t ops, named; } path_counts;

/* Returns NULL if the placed ops keep the rule, otherwise a sentence in static memory. `was` is a clone of the network
 * from when the recorder was attached. Adds the ops, and how many of them name sources. */
const char *broken_path(const xir_provenance *p, const xir_network *was, path_counts *counts);

#endif
