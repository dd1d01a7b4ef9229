/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Short lists of integers: values of rank 0 or 1, such as the shapes that exporters compute with Shape, Gather, Concat
 * and arithmetic. An item may depend on dims that are open: then it is an expression. */
#ifndef CORE_ITEMS_H
#define CORE_ITEMS_H

#include "graph.h"
#include "symbol.h"

enum { MOST_ITEMS = 64 };

typedef struct item_list {
    size_t n;
    expr   v[MOST_ITEMS];   /* EXPR_UNKNOWN: nothing is known about the item */
} item_list;

/* ctx->op_items gives the items that an op makes from those of its inputs, which it asks for: false if the input is not
 * such a list, or nothing is known about it. */

/* Finds the number of items of a value of this type; false unless it is a list of integers or bools of a known, small
 * size. */
bool items_count(const xir_type *type, size_t *n);
/* The items of Params; false if it is not such a list or has no bytes. */
bool items_of_params(const xir_value *v, item_list *out);
/* The items of a value, computed from what it depends on: up to a number of ops, so the cost is bounded. False if
 * nothing is known. Out of memory leaves items unknown; see expr_no_memory. */
bool items_of_value(object_pool *pool, const xir_value *v, item_list *out);

#endif
