/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Counts work: the basic blocks that the library executes, at which the compiler calls a function
 * (-fsanitize-coverage=trace-pc); the words that functions of the C library move, compare or search for it; and the
 * bytes that it requests from its allocator. The counts are the same in every run, whatever else the machine does. */
#ifndef LINEAR_COUNT_H
#define LINEAR_COUNT_H

#include <xir/xir.h>

typedef struct effort {
    uint64_t blocks, bytes;
} effort;

extern effort spent;                       /* since the program began */
extern const xir_allocator counting;

/* The costs of some calls; COST(c, "clone", copy = xir_network_clone(net)) adds one. */
enum { CALLS = 80 };
typedef struct cost {
    const char *call;
    effort      spent;
    double      seconds;   /* for people; no test uses it */
} cost;
typedef struct costs {
    cost   all[CALLS];
    size_t n;
} costs;

typedef struct timing { effort spent; double seconds; } timing;
timing start(void);
void   stop(costs *c, const char *call, timing from);
#define COST(c, name, ...)            \
    do {                              \
        const timing from_ = start(); \
        __VA_ARGS__;                  \
        stop(c, name, from_);         \
    } while (0)

#endif
