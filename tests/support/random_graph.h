/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Random networks that run: moves, sums, convolutions, norms and comparisons of a few small maps. Numbers are small
 * integers, so that sums and products are exact in any order, and casts to integers keep them. */
#ifndef SUPPORT_RANDOM_GRAPH_H
#define SUPPORT_RANDOM_GRAPH_H

#include <xir/network.h>

enum { RANDOM_RESULTS = 5 };

/* A valid network with two inputs and RANDOM_RESULTS results. The same seed always gives the same network; `chance`
 * goes on from there. */
xir_network *random_graph(uint64_t seed);

#endif
