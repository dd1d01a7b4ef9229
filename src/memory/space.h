/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A part of a packing that is searched by itself: the pieces of a range of sections that no piece leaves, as items. The
 * number of an item is its rank: of items that could go to the same offset, the search tries the first one first. */
#ifndef MEMORY_SPACE_H
#define MEMORY_SPACE_H

#include "packing.h"

/* By what items are ranked, the most important first: W is the life in moments and w in sections, A and a are the size
 * times that life, T is the greatest sum of bytes in a section of the item. The largest comes first. Which ranking
 * leads to a plan soon differs from packing to packing, so the search takes several in turn. */
#define SPACE_RANKINGS { "waT", "Taw", "Twa", "WAT", "TAW", "TWA" }
enum { RANKINGS = 6 };

#define NOT_FIXED UINT64_MAX

typedef struct item {
    uint64_t size;
    uint64_t fixed;           /* its offset, or NOT_FIXED                                                    */
    uint32_t first, last;     /* sections of the space                                                       */
    uint32_t twin;            /* an item of less number that is equal to it, or NONE                         */
    uint32_t piece;
    uint8_t  align;
} item;

typedef struct space {
    const packing *p;
    uint32_t  from, n;                /* pieces                                                              */
    uint32_t  section, sections;      /* of the packing                                                      */
    item     *items;
    uint32_t *rival_at, *rivals;      /* by item: those that live together with it; one more                 */
    uint32_t *member_at, *members;    /* by section: its items; one more                                     */
    size_t    n_rivals, n_members;
    uint64_t  bound, peak;            /* within it                                                           */
} space;

/* Numbers the items by a ranking. False without memory; close it anyway. */
bool space_open(space *s, const packing *p, uint32_t from, uint32_t n, const char *ranking);
void space_close(space *s);

#endif
