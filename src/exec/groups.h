/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Partitions the elements of a tensor into groups along some dims: member m of group i is element group_start(i) +
 * group_member(m). Groups are in row-major order of the other dims, members in that of the grouped dims. A reduction
 * turns a group into one number, a normalisation processes one group. */
#ifndef EXEC_GROUPS_H
#define EXEC_GROUPS_H

#include "dims.h"

typedef struct groups {
    size_t  n, size;    /* number of groups, and of members in each */
    size_t *starts;     /* NULL if the grouped dims are neighbours: `after` elements follow them   */
    size_t *members;
    size_t  after;      /* at least 1                                                              */
    size_t  line;       /* so many members follow each other in order, again and again; at least 1 */
} groups;

/* The first element of group i. */
static inline size_t group_start(const groups *g, size_t i) {
    return g->starts ? g->starts[i] : g->after == 1 ? i * g->size : i / g->after * g->after * g->size + i % g->after;
}

/* The offset of member m from the start of its group. Only groups_open_lines leaves out the list of members. */
static inline size_t group_member(const groups *g, size_t m) { return g->members ? g->members[m] : m; }

/* Returns how many groups from `first` on, at most n, begin at consecutive elements. */
static inline size_t groups_in_a_row(const groups *g, size_t first, size_t n) {
    size_t run = 1;
    if (!g->starts) {
        const size_t rest = g->size == 1 ? n : g->after - first % g->after;
        return rest < n ? rest : n;
    }
    while (run < n && g->starts[first + run] == g->starts[first] + run) run++;
    return run;
}

/* `along[k]` is true if dim k of the type is grouped. False on out of memory. */
bool groups_open(groups *g, xir_kernel *at, const xir_type *type, const bool *along);
/* The same, without the list if the members are consecutive. */
bool groups_open_lines(groups *g, xir_kernel *at, const xir_type *type, const bool *along);
/* Marks the given axes, or all axes for an empty list. NULL on out of memory. */
bool *groups_along(xir_kernel *at, const xir_type *type, const int64_t *axes, size_t n);

/* Fails if an input declares padding, because groups contain all elements. */
xir_status refuse_padding(xir_kernel *at, size_t input);

#endif
