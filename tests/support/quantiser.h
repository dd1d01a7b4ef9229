/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A small quantiser of the kind that a back end has. It runs a story in floats, gives each map the ratios that its
 * numbers need, stores the constants of each op for normalised numbers, and rounds. It follows the formulas and does
 * not use the library's rules. */
#ifndef SUPPORT_QUANTISER_H
#define SUPPORT_QUANTISER_H

#include "support/story.h"

typedef struct quantised {
    const char  *text;
    xir_network *real, *net;     /* before and after; values keep their names */
    xir_array   *in[4];          /* for `real`, random                        */
    xir_array   *quantised[4];   /* the same for `net`                        */
    size_t       n_in, n_out;
} quantised;

typedef struct quantiser {
    bool    per_channel;      /* a ratio for each index of the last axis; else one for all */
    int64_t bits;             /* of maps: 8 or 16                                          */
    bool    constants;        /* weights are stored as 16-bit integers, not as fp32         */
} quantiser;

quantised quantise_story(const char *text, const quantiser *how);
void      quantised_free(quantised *q);

/* Runs `net` on the quantised inputs. The result of each op must be what the op of `real` computes from the numbers
 * that its inputs stand for, within one step. */
void check_each_op(const quantised *q, const char *what);
/* Runs a network that was made from q->net; its outputs must have exactly the elements that q->net computes. */
void check_same_outputs(const quantised *q, const xir_network *net, const char *what);

#endif
