/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The ONNX dialect: onnx.c has its keys and words, rows.c its conversions. */
#ifndef CONVERT_ONNX_H
#define CONVERT_ONNX_H

#include <xir/convert.h>

extern const xir_dialect_decl dialect_onnx;

enum { ONNX_NEWEST = 24 };   /* the newest version of the operator set that rows know */

void    onnx_split_key(xir_str key, xir_str *domain, xir_str *type);
int64_t onnx_version(const xir_network *net, xir_str domain);
bool    onnx_is_pure(const xir_op *op);
/* The operator sets of a network, by domain, in the order of the bytes of their names; without any if it has none. */
xir_map onnx_operator_sets(const xir_network *net);
/* Adds operator sets of domains that it does not have (back_function_texts.c). */
xir_status onnx_import(xir_network *net, const xir_entry *more, size_t n);
/* The hook that converts a node by a function of the model; NULL: it calls none, or after a failure. */
xir_convert_fn *onnx_function(xir_node *at);

/* types.c: what the operators' own rules say about types. */
bool            onnx_check(xir_node *at);
void            onnx_types(xir_node *at);
const xir_type *onnx_declared_element(const xir_value *v);

#endif
