/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The room that the placed items of a space leave to later ones. Items are placed with offsets that never decrease, so
 * an item to come is above all placed ones that live together with it, and never below the offset of the latest. */
#ifndef MEMORY_GROUND_H
#define MEMORY_GROUND_H

#include "space.h"

/* A number that has changed: that of an item, or of a section + the number of items. */
typedef struct change { uint32_t number; uint64_t was; } change;

typedef struct ground {
    const space *s;
    uint64_t  capacity;
    uint64_t *low;             /* by item: the lowest offset that the placed items allow                     */
    bool     *placed;          /* by item                                                                    */
    uint64_t *floor;           /* by section: items to come are not below                                    */
    uint64_t *total;           /* by section: the bytes of all items to come                                 */
    uint32_t *witness;         /* by section: an item that was found to be at the floor                      */
    uint32_t *crossing;        /* by section: the number of items to come that are also in the next one      */
    change   *changes;
    size_t    n_changes, room;
    uint64_t  steps;           /* that are left                                                              */
} ground;

typedef struct placement {
    uint32_t item;
    uint32_t first, last;      /* the sections that matter: those of the items which are searched together   */
    uint64_t at;
    size_t   changes;          /* their number before                                                        */
    bool     alone;            /* no item to come lives together with it                                     */
} placement;

/* Nothing is placed. False without memory; close it anyway. */
bool ground_open(ground *g, const space *s, uint64_t capacity, uint64_t steps);
void ground_close(ground *g);

/* Makes room for what the next placement changes; false without memory. */
bool ground_reserve(ground *g);
/* Places an item at its lowest offset. False if the items to come do not fit any more. It is taken back in any case. */
bool ground_place(ground *g, placement *it);
void ground_take_back(ground *g, const placement *it);

static inline void ground_spend(ground *g, uint64_t steps) { g->steps -= g->steps > steps ? steps : g->steps; }

#endif
