/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Control flow of ONNX: nodes with subgraphs, calls of the model's functions, and lists. */
#ifndef CONVERT_ONNX_CONTROL_H
#define CONVERT_ONNX_CONTROL_H

#include "onnx/rows.h"
#include "walk/opened.h"

/* The tag of a call that was a node of a function of the file: "domain.name" of the function. */
#define ONNX_FUNCTION_TAG "onnx.function"

/* Returns how many values the subgraphs of the node capture: its last inputs. */
size_t onnx_captured(const xir_node *at);
/* The node's own inputs, without captured ones and results of bodies. */
size_t onnx_own_inputs(const xir_node *at);
/* The declared type of output `i` of a subgraph; NULL: none. */
const xir_type *onnx_body_type(xir_node *at, const char *graph, size_t i);
/* Types that the outputs of a node that is kept have by its subgraphs. */
void onnx_type_if(xir_node *at);
void onnx_type_loop(xir_node *at);
void onnx_type_scan(xir_node *at);

/* Makes a node that is kept as it was before, with the types that `type` gives it. Returns false. */
bool onnx_keep(xir_node *at, void (*type)(xir_node *at));
/* both_branches.c: converts an If whose condition is not known. */
bool onnx_both_branches(xir_node *at);
/* Opens the node with the subgraph of an attribute. NULL after a failure. */
opened_node *onnx_open(xir_node *at, const char *attribute, bool unrolled, xir_convert_fn *resume);
/* Gives output `i` a value that may be anywhere in the network, or a list. */
bool onnx_give(xir_node *at, size_t i, xir_value *v);
/* The number of a value of one element, if it is known. */
bool onnx_known(xir_node *at, const xir_value *v, int64_t *out);
/* Values side by side on a new axis. NULL after a failure; a finding about the axis is at `where`. */
xir_value *onnx_stacked(xir_node *at, xir_value *const *v, size_t n, int64_t axis, const char *where);
/* Element `i` along an axis, which is removed. */
xir_value *onnx_element_at(xir_node *at, xir_value *x, size_t axis, int64_t i);
/* One 64-bit integer: of rank 0, or as the only element of a list. */
xir_value *onnx_integer(xir_node *at, int64_t v, bool listed);

#endif
