/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Shared by the files of `partition`: which ops go to the target, and in which group. */
#ifndef PASSES_PARTITION_H
#define PASSES_PARTITION_H

#include <xir/legal.h>
#include <xir/region.h>
#include "support/upkeep.h"

/* The tag of an op with the number of its group. */
#define GROUP_TAG "xir.group"

typedef struct partition {
    xir_pass         *at;
    xir_network      *net;
    const xir_target *target;
    uint8_t          *takes;        /* by slot: the op goes to the target  */
    uint8_t          *asked;        /* by slot: it was asked about         */
    size_t            slots;
    xir_groups       *groups;
} partition;

/* The bytes that a group moves. */
typedef struct group_bytes {
    size_t   ops;
    uint64_t inside;               /* of values that no op outside reads */
} group_bytes;

/* Figures of all groups, as many as there are; and the values that cross borders, each once. */
void partition_measure(const partition *p, group_bytes *of, size_t *borders);

/* Gives the ops of all groups the target, infers them again, and puts a Cast at each side of a border where a type has
 * become another one. */
xir_status partition_place(partition *p);

/* Adds a note for each op that stays on the host, most costly first, and one about the whole. */
xir_status partition_report(const partition *p, size_t borders);

#endif
