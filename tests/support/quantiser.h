/* A quantiser as a back end has one, small: it runs a story in floats, gives each map the ratios that its numbers
 * need, stores the constants of each op for normalised numbers, and rounds. It is written by the formulas, and knows
 * nothing of the library's rule. */
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
    bool    constants;        /* weights are stored as 16-bit integers too, not as fp32     */
} quantiser;

quantised quantise_story(const char *text, const quantiser *how);
void      quantised_free(quantised *q);

/* Runs `net` on the quantised inputs; each op's result must be what the op of `real` gives for what its inputs stand
 * for, up to one step. */
void check_each_op(const quantised *q, const char *what);
/* Runs a network that has been made of q->net; its outputs must have the very elements that q->net gives. */
void check_same_outputs(const quantised *q, const xir_network *net, const char *what);

#endif
