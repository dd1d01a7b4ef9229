/* Graphs inside a file of ONNX: those that nodes have as attributes (the branches of If, the bodies of Loop and Scan),
 * and the bodies of the model's functions. The network of a model keeps them as bytes (docs/onnx.md); these two calls
 * read them, as a model is read. */
#ifndef XIR_ONNX_H
#define XIR_ONNX_H

#include <xir/network.h>

XIR_BEGIN

/* Reads a GraphProto: `graph` is the value of the attribute's key "onnx.graph", Params with its bytes. The network is
 * as that of a model: its Input op has the graph's inputs, its Output op the results. A value that the graph takes from
 * outside is one that no op makes, known by its name. Initializers share the bytes of `graph`. NULL with a finding:
 * XIR_E_TYPE for another value, XIR_E_MISSING if its bytes were not loaded, what the reader of ONNX finds. */
XIR_API xir_network *xir_onnx_read_graph(const xir_value *graph, xir_diags *why);

/* Reads a FunctionProto from its text in base64, an item of the network's tag "onnx.functions". The name of the network
 * is that of the function; its domain, its overload and the versions of its operator sets are the tags "onnx.domain",
 * "onnx.overload" and "onnx.opset". Attributes that have a default are those of an op "onnx::FunctionProto" without
 * inputs and outputs, which there is if any has. NULL with a finding: XIR_E_SYNTAX for a text that is not base64, what
 * the reader of ONNX finds. */
XIR_API xir_network *xir_onnx_read_function(xir_context *ctx, xir_str text, xir_diags *why);

XIR_END

#endif
