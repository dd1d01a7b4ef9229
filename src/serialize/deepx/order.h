/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The order of inputs and results, which a text says in words of its first call: see order.c. */
#ifndef SERIALIZE_DEEPX_ORDER_H
#define SERIALIZE_DEEPX_ORDER_H

#include "deepx/deepx.h"

/* Returns true if a call writes a value and none deletes or renames its tensor. */
bool deepx_stays(const xir_value *v);

/* Sorts `*n` items of `size` bytes each by the words of a network that has been read: those that the words name come
 * first, in that order, then other inputs as they are; other results are left out. XIR_E_MEMORY. */
typedef xir_str deepx_name_of(const void *item);
xir_status deepx_order_names(const xir_network *net, bool inputs, void *items, size_t *n, size_t size,
                             deepx_name_of *name_of);

/* The values that names mean at the end, each name once. */
typedef struct deepx_last { const xir_value *const *of; size_t n; } deepx_last;

/* Appends the words for an order that the text would not have by itself; *differs if there are any. XIR_E_MEMORY. */
xir_status deepx_put_order(const xir_network *net, const deepx_last *last, buffer *out, bool *differs);
/* Appends metadata, with its "//", which has exactly the words `order`: those that it has about another order are left
 * out. `meta` may be NULL. */
void deepx_put_ordered_meta(buffer *out, const xir_str *meta, xir_str order);

#endif
