/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A reduction or a norm of XIR over some dims of its input. */
#ifndef CONVERT_REDUCTION_H
#define CONVERT_REDUCTION_H

#include "node/helpers.h"

/* ---- to XIR's op ------------------------------------------------------------------------------------------------ */

/* Constant statistics of n channels. */
typedef struct channel_statistics {
    size_t        n;
    double        eps;
    const double *gamma, *beta, *mean, *variance;
} channel_statistics;
/* The BatchNorm of x, of 2 to 5 dims, whose channels come second: (x - mean) / sqrt(variance + eps) * gamma + beta.
 * NULL after a failure. */
xir_value *op_of_statistics(xir_node *at, xir_value *x, const channel_statistics *s);

/* ---- from XIR's op ---------------------------------------------------------------------------------------------- */

/* Sum, Prod, Mean, Max, Min, Argmax, Argmin. */
typedef struct reduction {
    const char *cls;       /* its class, for xir_node_reduced                              */
    xir_ints    axes;      /* ascending, each once; all dims if the op names none          */
    xir_ints    marks;     /* for each dim 1 if it is reduced                              */
    bool        all;       /* the op names no dims                                         */
    bool        keep;      /* a reduced dim remains, as 1                                  */
    bool        empty;     /* a reduced dim is known to have no elements                   */
    bool        most;      /* Max, Argmax                                                  */
    bool        place;     /* Argmax, Argmin                                               */
} reduction;
/* False after the node has been refused. */
bool reduction_of_op(xir_node *at, const xir_value *x, reduction *out);

/* The map, channels second, which at->order says then, if the node's op is the mean of reals over all cells of each
 * channel, not of none, and these dims remain as 1. NULL if it is another mean, or if the map would have to be
 * transposed for it: the node stays without a reason, since another row has all reductions. NULL, too, after a
 * failure. */
xir_value *mean_of_map(xir_node *at);

/* LayerNorm and RMSNorm. */
typedef struct normalisation {
    xir_ints   axes, dims;    /* as the op lists them, and the dims of x there             */
    xir_ints   spread;        /* the dims of x where they are listed, else 1               */
    bool       rms;
    bool       ascending;     /* each axis once, in order                                  */
    bool       last;          /* ascending, and the last dims of x                         */
    bool       open;          /* some of the dims are unknown                              */
    double     eps;
    xir_value *gamma, *beta;  /* as stored; NULL: none                                     */
} normalisation;
bool norm_of_op(xir_node *at, const xir_value *x, normalisation *out);

#endif
