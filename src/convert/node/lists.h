/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Lists of integers that a foreign op reads from an input and XIR's op from an attribute: shapes, sizes, counts,
 * bounds. What is known while converting becomes the attribute. Otherwise XIR's op takes the list from its last
 * input. */
#ifndef CONVERT_LISTS_H
#define CONVERT_LISTS_H

#include "node/helpers.h"

/* An item: what is known of it, and where a run takes it from: the number, dim `axis` of `of`, or item `axis` of `of`,
 * a value of rank 0 or 1. */
typedef enum item_origin { FROM_NUMBER, FROM_DIM, FROM_ITEM } item_origin;
typedef struct list_item {
    expr        v;        /* EXPR_UNKNOWN: nothing is known          */
    item_origin origin;
    xir_value  *of;       /* of FROM_DIM and FROM_ITEM               */
    int64_t     axis;
} list_item;
typedef struct list_items { list_item *v; size_t n; } list_items;

static inline list_item item_number(int64_t v) { return (list_item){ .v = v, .origin = FROM_NUMBER }; }
list_item item_dim(xir_value *of, size_t axis);
/* The same; FROM_NUMBER if the dim is known. */
list_item item_known_dim(xir_value *of, size_t axis);

/* A list in memory of the conversion, whose items are all the number `fill`. */
list_items make_items(xir_node *at, size_t n, int64_t fill);
/* Reads a list from the attribute `name` (NULL: none), or else from an input. False after a failure, or if the node has
 * neither. If not even the number of items is known, the node is kept. */
bool read_items_of(xir_node *at, const char *name, size_t input, list_items *out);
/* Returns true if all items are numbers, and counts those that are not. */
bool   items_known(const list_items *list);
size_t items_open(const list_items *list);

/* The list as a value: 64-bit integers in one dim. */
xir_value *make_list(xir_node *at, const list_items *list);
/* Makes the op `cls` of x with a list: `sets` has an attribute for each part of it, which is all -1. */
xir_value *make_listed(xir_node *at, const char *cls, xir_value *x, const list_items *list, xir_sets sets);
/* As xir_node_reshaped, with any number of open dims. Without -1, `dims` has the elements of x. */
xir_value *make_reshaped_to(xir_node *at, xir_value *x, const list_items *dims);

#endif
