/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Groups while they are gathered. Each op is a member, at its position in the order; a group is a tree of members. */
#ifndef CORE_REGION_GROUPS_H
#define CORE_REGION_GROUPS_H

#include "region.h"

enum { NO_KIND = -1 };

typedef struct member {
    xir_op  *op;
    int32_t  kind, level;   /* of a root: that of its group */
    uint32_t up;       /* towards the root of its group; a root is its own */
    bool     follows;  /* reads what another group of its kind makes, before groups rise. Of a root: some op does */
} member;

typedef struct gathering {
    const xir_network *net;
    xir_groups        *groups;
    member            *of;        /* by position                                          */
    uint32_t          *place;     /* by slot: the position                                */
    uint32_t          *next;      /* lists of positions: see sort_ops                     */
    size_t             n;
    const xir_allocator *alloc;
    xir_diags         *why;
    xir_status         status;
} gathering;

static const uint32_t NOWHERE = UINT32_MAX;

static inline uint32_t member_root(member *of, uint32_t i) {
    while (of[i].up != i) {
        of[i].up = of[of[i].up].up;
        i = of[i].up;
    }
    return i;
}

/* region_join.c: joins groups of one kind along data edges, those first whose edges carry the most bytes, as long as
 * the groups form no cycle. The work is bounded: linear in ops and uses. False: out of memory. */
bool groups_join(gathering *g);

#endif
