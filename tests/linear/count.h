/* Counts work: the basic blocks that the library passes through, which the compiler calls a function at
 * (-fsanitize-coverage=trace-pc), a word of each byte that it has moved, compared or searched for it by functions of
 * the C library, and the bytes that it asks its allocator for. The same from run to run, whatever the machine does
 * meanwhile. */
#ifndef LINEAR_COUNT_H
#define LINEAR_COUNT_H

#include <xir/xir.h>

typedef struct effort {
    uint64_t blocks, bytes;
} effort;

extern effort spent;                       /* since the program began */
extern const xir_allocator counting;

/* What each of some calls cost; COST(c, "clone", copy = xir_network_clone(net)) adds one. */
enum { CALLS = 64 };
typedef struct cost {
    const char *call;
    effort      spent;
    double      seconds;   /* for who looks at them by hand: no test does */
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
