/* Scarce memory: an allocator that counts, checks the sizes it is told, and refuses the n-th allocation, or all from
 * the n-th on; and calls that are repeated until they succeed, with all that must be true in between. */
#ifndef SUPPORT_SCARCE_H
#define SUPPORT_SCARCE_H

#include "support/net.h"

typedef struct scarce {
    size_t blocks, bytes;    /* that have not been given back                */
    size_t calls;            /* allocations so far, while it is not plenty   */
    size_t refuse;           /* the one that is refused                      */
    bool   for_good;         /* and all after it                             */
    bool   plenty;           /* while set, nothing is refused or counted      */
    bool   refused;          /* it has happened                              */
} scarce;

/* What a scenario works with. */
typedef struct want {
    scarce       memory;
    xir_context *ctx;
    xir_network *net;        /* NULL, or the network that calls must leave as it was */
    xir_diags   *why;
    char        *before;
    bool         refused_before;
    int          tries;
    char        *result;     /* what the scenario gives in the end: the same every time; freed by who runs it */
} want;

/* Runs a scenario with the n-th allocation refused, once and then for good, for n = 0, 1, … until nothing was
 * refused. In the end all memory must have been given back. Prepares a context; a scenario that makes its own gets
 * NULL. */
typedef void scenario_fn(want *w);
void run_scarcely(const char *name, scenario_fn *scenario, bool own_context);
xir_allocator scarce_allocator(scarce *memory);

/* A call that gives a status, or a pointer. It is repeated until it succeeds: after each failure the status (the
 * network's, for pointers, where there is one) must be XIR_E_MEMORY, memory must have been refused, the network must
 * be sound and as it was. The second try meets the same scarcity, the third does not. */
#define TRY(w, call)                                                          \
    do {                                                                      \
        xir_status try_status_;                                               \
        try_begin(w);                                                         \
        do try_status_ = (call);                                              \
        while (try_again(w, try_status_, #call, __LINE__));                   \
    } while (0)
#define TRY_MAKE(w, out, call)                                                \
    do {                                                                      \
        __typeof__(out) try_made_;   /* the call may read `out` */            \
        try_begin(w);                                                         \
        do try_made_ = (call);                                                \
        while (try_again_made(w, try_made_ != NULL, #call, __LINE__));        \
        (out) = try_made_;                                                    \
    } while (0)
/* The same for a call that may change the network and fail, but must succeed when repeated. */
#define TRY_LOOSELY(w, call)                                                  \
    do {                                                                      \
        xir_status try_status_;                                               \
        try_begin(w);                                                         \
        free((w)->before);                                                    \
        (w)->before = NULL;                                                   \
        do try_status_ = (call);                                              \
        while (try_again(w, try_status_, #call, __LINE__));                   \
    } while (0)
void try_begin(want *w);
bool try_again(want *w, xir_status status, const char *call, int line);
bool try_again_made(want *w, bool made, const char *call, int line);

/* Statements that may allocate and are not what is tried. */
#define IN_PLENTY(w, ...)                     \
    do {                                      \
        bool plenty_ = (w)->memory.plenty;    \
        (w)->memory.plenty = true;            \
        __VA_ARGS__;                          \
        (w)->memory.plenty = plenty_;         \
    } while (0)

#endif
