/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The members of a list: a balanced tree that does not change. A list with one member more or less shares all but a
 * path of it, so a loop that collects its results in a list takes n log n steps. */
#ifndef CONVERT_MEMBERS_H
#define CONVERT_MEMBERS_H

#include "node/node.h"

typedef struct member_tree member_tree;   /* NULL: an empty list */

size_t     members_count(const member_tree *m);
xir_value *members_at(const member_tree *m, size_t i);
/* Lists in memory of the conversion. If memory runs out, c->no_memory is set, and the list lacks members. */
const member_tree *members_of(conversion *c, xir_value *const *v, size_t n);
const member_tree *members_insert(conversion *c, const member_tree *m, size_t i, xir_value *v);
const member_tree *members_erase(conversion *c, const member_tree *m, size_t i);
/* All of them, in memory of the node; NULL after a failure. */
xir_value **members_all(xir_node *at, const member_tree *m);

#endif
