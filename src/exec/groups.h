/* Elements of a tensor that belong together, along some of its dims: member m of group g is element starts[g] +
 * members[m]. Groups are in row-major order of the other dims, members in that of these. Reductions make a number of
 * each group, normalisations look at one. */
#ifndef EXEC_GROUPS_H
#define EXEC_GROUPS_H

#include "dims.h"

typedef struct groups {
    size_t  n, size;    /* how many there are, and of how many members */
    size_t *starts, *members;
} groups;

/* Member m of a group, from its start. Only groups_open_lines leaves out the list. */
static inline size_t group_member(const groups *g, size_t m) { return g->members ? g->members[m] : m; }

/* `along[k]` says whether members lie along dim k of the type. False without memory. */
bool groups_open(groups *g, xir_kernel *at, const xir_type *type, const bool *along);
/* The same, without a list of members where they lie one after another. */
bool groups_open_lines(groups *g, xir_kernel *at, const xir_type *type, const bool *along);
/* Marks, one a dim: these axes, all of them if there are none. NULL without memory. */
bool *groups_along(xir_kernel *at, const xir_type *type, const int64_t *axes, size_t n);

/* Fails if an input has elements that are no valid ones: they would have to take no part, and here every element
 * does. */
xir_status refuse_padding(xir_kernel *at, size_t input);

#endif
