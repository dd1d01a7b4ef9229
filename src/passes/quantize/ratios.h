/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A plan of ratios: a number N for each channel of each map. Channels whose ratios must be equal are joined, and have
 * the greatest of these ratios. The channels of a map are the elements of one of its dims, usually of the last. */
#ifndef QUANTIZE_RATIOS_H
#define QUANTIZE_RATIOS_H

#include "hash.h"
#include "graph.h"

/* The channels of a map: n of them from `first` on, along `axis`, which counts from the end. */
typedef struct map_channels { uint32_t first, n; int64_t axis; } map_channels;

/* Zero with an allocator is empty. */
typedef struct ratio_plan {
    const xir_allocator *alloc;
    pointer_table        of;        /* a map: its index in `maps`                                              */
    map_channels        *maps;
    size_t               n_maps, map_room;
    uint32_t            *parent;    /* of a channel: another one that has its ratio, or itself                 */
    double              *ratio;     /* of those that are their own parents                                     */
    double              *before;    /* the ratio that the constants of the network contain; 1 if they have none */
    size_t               n, room;
} ratio_plan;

void ratio_plan_init(ratio_plan *p, const xir_allocator *alloc);
void ratio_plan_free(ratio_plan *p);

/* Adds a map with n channels, of ratio 0. NULL without memory, or for more than 2^29 channels in all. The pointer is
 * valid until another one is added. */
const map_channels *ratios_add(ratio_plan *p, const xir_value *map, size_t n, int64_t axis);
/* NULL: the value has no ratios. */
const map_channels *ratios_of(const ratio_plan *p, const xir_value *map);
/* The ratio of the i-th channel of a map; 1 for another value. Of a map with one channel, i may be any. */
double ratio_at(const ratio_plan *p, const xir_value *map, size_t i);

/* The channel that has the ratio of a channel. */
uint32_t ratios_root(const ratio_plan *p, uint32_t channel);
/* Joins all channels of a map; the channels of two maps, all of them if they do not correspond. */
void ratios_even(ratio_plan *p, const xir_value *map);
void ratios_join_maps(ratio_plan *p, const xir_value *a, const xir_value *b);
/* Returns true if all channels of a value have one ratio and had one before. */
bool ratios_are_even(const ratio_plan *p, const xir_value *map);

/* Joins the channels of the outputs of an op, which moves elements, with those of its inputs that they are from. Adds
 * the outputs. XIR_E_INVALID if inference does not carry one ratio for all; XIR_E_MEMORY. */
xir_status ratios_carry(ratio_plan *p, xir_op *op);
/* The element type of a map of the plan with its ratios. NULL without memory. */
const xir_type *ratios_element(const ratio_plan *p, xir_context *ctx, const xir_value *map);

#endif
