/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Networks for tests of regions: of any shape, of fp32 [4], whose ops have ids in no order, names that repeat or are
 * missing, and tags; and random convex sets of their ops. Reachability is computed by brute force. */
#ifndef SUPPORT_REGION_NET_H
#define SUPPORT_REGION_NET_H

#include <xir/region.h>
#include "support/net.h"

enum { REGION_MOST_OPS = 64 };

/* ReLU, Add of values or of Params, and Split with Concat, between an Input of two values and an Output. */
xir_network *region_net(size_t most_ops);

/* x -> a -> b -> c -> d -> out, b -> e -> d, and x -> f next to them: a chain with a branch. */
xir_network *ladder_net(void);
/* The op of a name; it must exist. */
xir_op *named_op(const xir_network *net, const char *name);

/* Writes a network in a format, to a new file whose path begins with `begin`, and reads it again; NULL if it is nested
 * too deeply for MessagePack. */
xir_network *region_through(xir_network *net, const char *format, const char *begin);

/* The ops of a network and which of them reach which, by positions in the order. At most REGION_MOST_OPS. */
typedef struct reach {
    size_t  n;
    xir_op *ops[REGION_MOST_OPS];
    bool    to[REGION_MOST_OPS][REGION_MOST_OPS];
} reach;
void reach_of(const xir_network *net, reach *out);
size_t reach_place(const reach *r, const xir_op *op);
/* Returns true if no op outside of a set is both reached from it and reaches it. */
bool reach_is_convex(const reach *r, xir_op *const *ops, size_t n);

/* A random set of ops between the ends, not empty, in a random order, closed so that it is convex. Returns how many. */
size_t random_convex(const reach *r, xir_op **out);

#endif
