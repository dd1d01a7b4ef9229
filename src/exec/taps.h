/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The input cells of one output cell along one axis, and their weights. */
#ifndef EXEC_TAPS_H
#define EXEC_TAPS_H

#include <math.h>
#include "blocks.h"

enum { MOST_TAPS = 4 };

/* A cell of -1 stands for 0. */
typedef struct taps {
    size_t  n;
    int64_t cell[MOST_TAPS];
    double  weight[MOST_TAPS];
} taps;

/* The weights of the four cells around a position at distance t after the second one: cubic convolution, a = -0.75. */
static inline void cubic_weights(double t, double weight[MOST_TAPS]) {
    const double a = -0.75;
    for (int i = 0; i < MOST_TAPS; i++) {
        double d = fabs(t + 1 - i);
        if (d <= 1) weight[i] = ((a + 2) * d - (a + 3)) * d * d + 1;
        else        weight[i] = ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
    }
}

typedef enum between { NEAREST = 1, LINEAR = 2, CUBIC = 4 } between;

/* The cells around position x, which may be outside; `cell` is the one that NEAREST uses. */
static inline taps taps_at(double x, between how, double cell) {
    double low = floor(x), t = x - low;
    taps out = { (size_t)how, { 0 }, { 1 } };
    if (how == NEAREST) out.cell[0] = (int64_t)cell;
    if (how == LINEAR) {
        out.weight[0] = 1 - t;
        out.weight[1] = t;
    }
    if (how == CUBIC) cubic_weights(t, out.weight);
    for (size_t i = 0; how != NEAREST && i < out.n; i++) out.cell[i] = (int64_t)low + (int64_t)i - (how == CUBIC);
    return out;
}

#endif
