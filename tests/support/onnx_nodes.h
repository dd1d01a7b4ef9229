/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Networks whose ops are all nodes of the domain icraft.xir, as files may have them: the way back to ONNX without its
 * rows, so that every op becomes a node, as with the option `custom` those do that ONNX has no operators for. */
#ifndef SUPPORT_ONNX_NODES_H
#define SUPPORT_ONNX_NODES_H

#include "onnx/custom.h"

extern const xir_dialect_decl dialect_onnx;

#define ONNX_NODES "xir-to-onnx-nodes"

static inline xir_convert_fn *onnx_as_node(xir_node *at) { return at->depth ? NULL : onnx_become_custom; }

/* The pass, with the options of xir-to-onnx, to be registered. */
static inline const xir_pass_decl *onnx_nodes_pass(void) {
    static xir_dialect_decl nodes;
    static xir_pass_decl pass;
    nodes = dialect_onnx;
    nodes.instead = onnx_as_node;
    pass = *dialect_onnx.back;
    pass.name = ONNX_NODES;
    pass.user = &nodes;
    return &pass;
}

#endif
