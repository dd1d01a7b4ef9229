/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Scarce memory: an allocator that counts, checks the sizes it is given, and refuses the n-th allocation, or all
 * from the n-th on. Calls are repeated until they succeed, and invariants are checked in between. */
#ifndef SUPPORT_SCARCE_H
#define SUPPORT_SCARCE_H

#include "support/net.h"

typedef struct scarce {
    size_t blocks, bytes;    /* that have not been given back                */
    size_t calls;            /* allocations so far, while it is not plenty   */
    size_t refuse;           /* the one that is refused                      */
    size_t least;            /* smaller ones are neither counted nor refused */
    bool   for_good;         /* and all after it                             */
    bool   plenty;           /* while set, nothing is refused or counted      */
    bool   refused;          /* an allocation was refused                    */
} scarce;

/* The environment of a scenario. */
typedef struct want {
    scarce       memory;
    xir_context *ctx;
    xir_network *net;        /* NULL, or the network that failing calls must not change */
    xir_diags   *why;
    char        *before;
    bool         refused_before;
    int          tries;
    char        *result;     /* the result of the scenario, the same every time; freed by the runner */
} want;

/* Runs a scenario with the n-th allocation refused, once and then for good, for n = 0, 1, … until nothing was
 * refused. At the end all memory must have been freed. Prepares a context; a scenario that makes its own one gets
 * NULL. */
typedef void scenario_fn(want *w);
void run_scarcely(const char *name, scenario_fn *scenario, bool own_context);
/* Returns true if run_scarcely refuses every allocation, not only a sample of them. */
bool scarce_is_complete(void);

/* A scenario begins with this: afterwards the network takes about `room` bytes until it needs another block of memory,
 * and only such blocks are counted and refused. So memory ends at a place inside of a call that no refused allocation
 * of its own finds. Returns false if each piece of memory is a block, and changes nothing. */
bool scarce_leave(want *w, size_t room);
xir_allocator scarce_allocator(scarce *memory);

/* A call that returns a status or a pointer, repeated until it succeeds. After each failure the status (for pointers
 * the network's, if there is one) must be XIR_E_MEMORY, memory must have been refused, and the network must be sound
 * and unchanged. The second attempt meets the same scarcity, the third does not. */
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
/* The same for a call that may change the network and fail, but must succeed when it is repeated. */
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

/* A test, test_<name>, that runs the scenario <name> in a context of its own. */
#define SCARCE_TEST(name)                     \
    static void test_##name(void **state) {   \
        (void)state;                          \
        run_scarcely(#name, name, false);     \
    }

/* Statements that may allocate, but are not what is tested. */
#define IN_PLENTY(w, ...)                     \
    do {                                      \
        bool plenty_ = (w)->memory.plenty;    \
        (w)->memory.plenty = true;            \
        __VA_ARGS__;                          \
        (w)->memory.plenty = plenty_;         \
    } while (0)

#endif
