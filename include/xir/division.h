/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The parts of a divided network, each a network of its own, in an order in which they can run one after the other. The
 * pass `partition` divides: a group is what has the same number in the tag "xir.group", or a Call for an accelerator
 * (region.h). What is in no group is the host's; it is as few parts as the groups allow.
 *
 * Parts are linked by the ids of values: an input of a part is an input of the whole, or an output of an earlier part,
 * with the same id. So are the outputs of the whole. */
#ifndef XIR_DIVISION_H
#define XIR_DIVISION_H

#include <xir/network.h>

XIR_BEGIN

typedef struct xir_division xir_division;

typedef struct xir_division_part {
    uint32_t           size;     /* XIR_INIT(xir_division_part)                                                     */
    xir_network       *net;      /* ids, names and tags are those of the whole; lives as long as the parts */
    const xir_target  *target;   /* of the first op of a group; NULL: the host's part                      */
    int64_t            group;    /* the number of the group; of a Call without tags the next free one; -1: the host's */
    size_t             ops;      /* how many of the whole, without Input and Output                        */
} xir_division_part;

/* Divides a network, which is unchanged. Bytes of Params are shared. NULL with a finding: XIR_E_INVALID for a group
 * that is not convex, or depends on another one that depends on it; XIR_E_MISSING, XIR_E_MEMORY. Time and memory are
 * those of the whole and its parts together; each part has a copy of the tags of the network, and clears a bit for each
 * op of the whole. */
XIR_API xir_division *xir_division_new(const xir_network *net, xir_diags *why);
XIR_API void       xir_division_free(xir_division *parts);   /* accepts NULL */

/* Returns the number of parts, in the order in which they run; 0 for NULL. */
XIR_API size_t     xir_division_count(const xir_division *parts);
/* Fills `out`. XIR_E_BOUNDS past the last part, XIR_E_ABI. */
XIR_API xir_status xir_division_at(const xir_division *parts, size_t i, xir_division_part *out);
/* The whole, whose values have the ids of the parts' inputs and outputs: a copy in which Calls of groups are inlined.
 * It lives as long as the parts. */
XIR_API const xir_network *xir_division_whole(const xir_division *parts);

XIR_END

#endif
