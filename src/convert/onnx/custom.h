/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Ops that ONNX has no operators for, as nodes in a domain of the library's own: custom.c makes such nodes, and
 * custom_read.c makes the ops again. The type of a node is the last part of its class's key. Its attributes are those
 * of the op, by their names, in the kinds that ONNX has for them:
 *
 *     bool, integers       INT            real      FLOAT, or a STRING if no float is the same number
 *     lists of them        INTS           reals     FLOATS, or STRINGS
 *     text, word           STRING         Params    TENSOR; NAME.type is their type
 *     texts                STRINGS        others    STRING or STRINGS: the object as JSON
 *
 * Next to them are attributes whose names no class can have: the key of the class, the types of the inputs and outputs,
 * what is absent. */
#ifndef CONVERT_ONNX_CUSTOM_H
#define CONVERT_ONNX_CUSTOM_H

#include "node/node.h"

#define CUSTOM_DOMAIN "icraft.xir"
#define CUSTOM_PREFIX "onnx::" CUSTOM_DOMAIN "."
enum { CUSTOM_VERSION = 1 };

/* The attributes of every such node. */
#define CUSTOM_CLASS   "xir.class"     /* the key of the class                                                       */
#define CUSTOM_INPUTS  "xir.inputs"    /* the type of each input as JSON; "" for an absent one                       */
#define CUSTOM_OUTPUTS "xir.outputs"   /* the type of each output as JSON                                            */
#define CUSTOM_DIMS    "xir.dims"      /* for outputs with symbols: the dims of each, "batch;2*length;8", else ""    */
#define CUSTOM_ABSENT  "xir.absent"    /* attributes that are absent, though they have a default                     */
#define CUSTOM_TARGET  "xir.target"    /* the target as JSON; missing: host                                          */
#define CUSTOM_EXTRA   "xir.extra"     /* undeclared attributes, as JSON                                             */

/* Returns true if an op is such a node. */
bool onnx_is_custom(const xir_op *op);

xir_convert_fn onnx_custom;   /* the node becomes an op of XIR */

xir_convert_fn onnx_become_custom;   /* an op of XIR becomes a node */

/* Converts an op that no row converts on the way back: the ways of quantised numbers (back_pairs.c), and with the
 * option `custom` a node. */
xir_convert_fn *onnx_rest(xir_node *at, size_t i);

#endif
