/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Lists of integers that an op takes from its last input instead of an attribute, because they are computed: the shape
 * of a Reshape, the sizes of an Expand, the counts of a Tile, the bounds of a Slice, the amounts of a Pad, the size of
 * a Resize. The input is the port after the first. If it is present, every item of the attribute is -1. */
#ifndef OPS_LIST_H
#define OPS_LIST_H

#include "items.h"
#include "tiled.h"

/* An item about which nothing is known. Numbers are larger: no dim, count or position is below -2^62, so smaller ones
 * are read as that. */
#define UNKNOWN_ITEM EXPR_UNKNOWN

/* Returns true if the op has the input. */
bool has_list(const xir_infer *at);
/* The place of the list in findings: the input, or `attribute`. */
const char *list_place(const xir_infer *at, const char *attribute);
/* Returns true if a check can look at the list: it is an attribute, or the type of the input is known. */
bool list_checkable(const xir_infer *at);

/* Checks the input: `size` integers of 32 or 64 bits in one dim; no tiled tensor is changed by it. */
xir_status check_list(xir_infer *at, size_t size);
/* Checks that every item of the attribute that the input replaces is -1. */
xir_status check_open(xir_infer *at, const char *attribute, xir_i64s items);
/* Copies items of an attribute; creates `out`. */
xir_status copy_items(xir_infer *at, xir_i64s items, dim_list *out);
/* Reads the input, after both checks, and creates `out`: each item is an expression (symbol.h), UNKNOWN_ITEM among
 * them. */
xir_status read_items(xir_infer *at, size_t size, dim_list *out);

/* The rules of ops for lists of integers: ctx->op_items. */
op_items_fn list_items;

#endif
