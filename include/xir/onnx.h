/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Graphs inside a file of ONNX: those that nodes have as attributes (the branches of If, the bodies of Loop and Scan),
 * and the bodies of the model's functions. The network of a model keeps them as bytes (docs/onnx.md); these calls
 * read them, as a model is read, rename what they take from outside, and write functions. */
#ifndef XIR_ONNX_H
#define XIR_ONNX_H

#include <xir/network.h>
#include <xir/serialize.h>

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

/* Writes a network whose ops are all of ONNX as a FunctionProto, the inverse of xir_onnx_read_function: *out is the
 * text in base64, which xir_text_free frees; it is empty after a failure. Constants that nodes use become nodes
 * "Constant", since a function has no initializers. Statuses of writing a model (docs/onnx.md), and: XIR_E_INVALID if
 * the network or one of its inputs has no name, and for a value that nothing in it makes; XIR_E_MISSING for an absent
 * result; XIR_E_UNSUPPORTED for a reference to an attribute without a default. */
XIR_API xir_status xir_onnx_write_function(xir_network *net, xir_text_buffer *out, xir_diags *why);

XIR_END

#endif
