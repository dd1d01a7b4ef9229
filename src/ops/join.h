/* Joining what the types of several inputs say of their elements. */
#ifndef OPS_JOIN_H
#define OPS_JOIN_H

#include "move.h"

typedef struct join {
    const dim_list *dims;    /* of the output                                        */
    size_t          axis;    /* along which the inputs stand, a dim of the output    */
    bool            stack;   /* which the inputs do not have: one element of each    */
} join;

/* Gives the type of the joined inputs. */
xir_status give_join(xir_infer *at, const join *j, const xir_layout *layout);

#endif
