/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Graphs inside a file of ONNX: those that nodes have as attributes (the branches of If, the bodies of Loop and Scan),
 * and the bodies of the model's functions. The network of a model keeps them as bytes (docs/onnx.md); these calls
 * read them, as a model is read, and rename what they take from outside. */
#ifndef XIR_ONNX_H
#define XIR_ONNX_H

#include <xir/network.h>

XIR_BEGIN

/* Reads a GraphProto: `graph` is the value of the attribute's key "onnx.graph", Params with its bytes. The network is
 * as that of a model: its Input op has the graph's inputs, its Output op the results. A value that the graph takes from
 * outside is one that no op makes, known by its name. Initializers share the bytes of `graph`. NULL with a finding:
 * XIR_E_TYPE for another value, XIR_E_MISSING if its bytes were not loaded, what the reader of ONNX finds. */
XIR_API xir_network *xir_onnx_read_graph(const xir_value *graph, xir_diags *why);

/* Renames values that a graph takes from outside: names[2 * i] becomes names[2 * i + 1], for `n` pairs. Returns new
 * Params of the same network with the bytes of the renamed graph; `graph` is unchanged. NULL with a finding:
 * XIR_E_EXISTS if a graph that uses the value defines another one of the new name, XIR_E_TYPE and XIR_E_MISSING as
 * above, XIR_E_SYNTAX for bytes that are not a message, XIR_E_LIMIT for graphs that are nested too deeply,
 * XIR_E_MEMORY. */
XIR_API xir_value *xir_onnx_rename_captures(const xir_value *graph, const xir_str *names, size_t n, xir_diags *why);

/* Reads a FunctionProto from its text in base64, an item of the network's tag "onnx.functions". The name of the network
 * is that of the function; its domain, its overload and the versions of its operator sets are the tags "onnx.domain",
 * "onnx.overload" and "onnx.opset". Attributes that have a default are those of an op "onnx::FunctionProto" without
 * inputs and outputs, which there is if any has. NULL with a finding: XIR_E_SYNTAX for a text that is not base64, what
 * the reader of ONNX finds. */
XIR_API xir_network *xir_onnx_read_function(xir_context *ctx, xir_str text, xir_diags *why);

XIR_END

#endif
