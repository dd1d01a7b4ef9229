/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Joining the inputs of Concat and Stack. */
#ifndef OPS_JOIN_H
#define OPS_JOIN_H

#include "move.h"

typedef struct join {
    const dim_list   *dims;     /* of the output                                                 */
    const xir_layout *layout;
    size_t            axis;     /* the dim of the output along which the inputs lie              */
    int64_t           partner;  /* the unit dim of a tiled axis, `axis` being its tiles; else -1 */
    bool              stack;    /* the inputs lack that dim: each is one element                 */
} join;

static inline bool all_valid(const xir_distr *distr) {   /* NULL: there is no padding */
    return !distr || xir_distr_total_valid(distr) == xir_distr_total(distr);
}

/* Sets the result to the type of the joined inputs (join_type.c). */
xir_status give_join(xir_infer *at, join *j);

#endif
