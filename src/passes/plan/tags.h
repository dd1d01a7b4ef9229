/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The tags of a network that tell where its segments are: "ftmp_segment_addr", "ftmp_segment_bytesize". */
#ifndef PASSES_PLAN_TAGS_H
#define PASSES_PLAN_TAGS_H

#include "parts.h"

typedef struct range { uint64_t from, to; } range;

/* The Params that the network's compiler has placed, and its instructions; empty if there are none. Params with an
 * address are not the compiler's but a plan's: what the tags say beyond those is not. */
range tags_foreign_params(const xir_network *net);
range tags_instructions(const xir_network *net);

/* Sets the tags of a segment, or removes them, if `its` is NULL. */
xir_status tags_set(xir_pass *at, segment s, const range *its);
/* Removes the tags of all segments, but leaves those of the compiler's Params. */
xir_status tags_clear(xir_pass *at);

#endif
