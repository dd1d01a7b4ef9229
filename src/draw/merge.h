/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The ops of two networks in one picture: see xir_draw_options.diff. */
#ifndef DRAW_MERGE_H
#define DRAW_MERGE_H

#include "make.h"

/* The op of the other network that matches, if both are in their execution orders; otherwise NULL. */
const xir_op *draw_match(const xir_diff *diff, const xir_op *op);

/* Lists the ops of both networks, each pair of matching ops once: `ops` gets the one of the second network, or the op
 * itself, `was` the one of the first network, or NULL. Both have zeros and room for all ops of both networks. False
 * without memory. */
bool draw_merge(const picture *p, const xir_op **ops, const xir_op **was, size_t *n);

#endif
