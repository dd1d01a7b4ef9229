/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* ONNX as a dialect (docs/onnx.md): the words for its nodes, the parts of its keys, and its pure operators. Each node
 * is converted by itself: a node on feature maps gets transposes to channels last and back around it, which the pass
 * layout then moves and cancels.
 *
 *     onnx::Conv x, w [8, 3, 3, 3]  =>  Transpose x -> NHWC; Conv2d with w as HWIO [3, 3, 3, 8]; Transpose -> NCHW */
#include <string.h>
#include "onnx/onnx.h"

xir_map onnx_operator_sets(const xir_network *net) {
    const xir_any *tag = xir_map_find(xir_network_tags(net), XIR_STR("onnx.opset"));
    return tag && tag->kind == XIR_ANY_MAP ? tag->as.map : (xir_map){ NULL, 0 };
}

int64_t onnx_version(const xir_network *net, xir_str domain) {
    const xir_map sets = onnx_operator_sets(net);
    const xir_any *of = xir_map_find(&sets, domain);
    if (!of && !domain.size) of = xir_map_find(&sets, XIR_STR("ai.onnx"));
    return of && of->kind == XIR_ANY_INT ? of->as.integer : domain.size ? 1 : ONNX_NEWEST;
}

/* The domain is everything before the last dot. */
void onnx_split_key(xir_str key, xir_str *domain, xir_str *type) {
    size_t after = key.size;
    while (after > 0 && key.data[after - 1] != '.') after--;
    *domain = (xir_str){ key.data, after ? after - 1 : 0 };
    *type = (xir_str){ key.data + after, key.size - after };
}

/* Operators of ONNX's own domain are pure, except those that draw random numbers or have subgraphs. */
bool onnx_is_pure(const xir_op *op) {
    static const char *const others[] = { "Bernoulli", "Dropout", "If", "Loop", "Multinomial", "RandomNormal",
                                          "RandomNormalLike",
                                          "RandomUniform", "RandomUniformLike", "Scan", "SequenceMap" };
    xir_str key = xir_class_key(xir_op_class(op));
    const size_t prefix = sizeof "onnx::" - 1;
    const xir_str type = { key.data + prefix, key.size - prefix };
    if (memchr(type.data, ':', type.size) || memchr(type.data, '.', type.size)) return false;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (xir_str_equal(type, xir_str_of(others[i]))) return false;
    }
    return true;
}
