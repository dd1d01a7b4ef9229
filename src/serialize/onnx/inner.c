/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Graphs and functions that the network of a model keeps as bytes (xir/onnx.h): each is read as a model of its own. */
#include <xir/onnx.h>
#include "number.h"
#include "onnx/read.h"

/* Reads one message with nothing around it: it has no folder, so external data is refused. */
static xir_network *read_alone(xir_context *ctx, blob *whole, bool function, xir_diags *why) {
    const format_reading how = { .ctx = ctx, .format = &format_onnx, .why = why };
    const wire_bytes bytes = { whole->bytes, (size_t)whole->size };
    proto_reader r;
    if (!proto_begin(&r, &how, whole)) return NULL;
    PROTO_ENTER(&r, at, "graph");
    const bool ok = function ? proto_scan_function(&r, bytes) && proto_read_function(&r)
                             : proto_scan_graph(&r, bytes) && proto_read_graph(&r);
    PROTO_LEAVE(&r, at);
    return proto_finish(&r, ok);
}

xir_network *xir_onnx_read_graph(const xir_value *graph, xir_diags *why) {
    if (!graph) return diag_null(why, "graph"), NULL;
    if (!xir_value_is_params(graph))
        return diag_fail(why, XIR_E_TYPE, XIR_STR(""), "the bytes of a graph are Params"), NULL;
    blob *data = value_params(graph)->data;
    const bool empty = data ? !data->size : xir_params_has_data(graph);   /* Params of 0 bytes need no blob */
    if (!empty && !xir_params_data(graph, NULL))
        return diag_fail(why, XIR_E_MISSING, XIR_STR(""), "the bytes of the graph were not loaded"), NULL;
    xir_context *ctx = xir_network_context(xir_value_network(graph));
    if (!empty) return read_alone(ctx, data, false, why);
    blob *none = blob_new(context_alloc(ctx), 0);
    if (!none) return diag_memory(why), NULL;
    xir_network *net = read_alone(ctx, none, false, why);
    blob_release(none);
    return net;
}

/* The value of a digit; 64 for another character. */
static unsigned digit_of(char c) {
    if (c >= 'A' && c <= 'Z') return (unsigned)(c - 'A');
    if (c >= 'a' && c <= 'z') return (unsigned)(c - 'a') + 26;
    if (is_digit(c)) return (unsigned)(c - '0') + 52;
    return c == '+' ? 62 : c == '/' ? 63 : 64;
}

static bool decode(xir_str text, size_t size, uint8_t *out) {
    size_t n = 0;
    for (size_t i = 0; i < text.size; i += 4) {
        uint32_t v = 0;
        for (size_t k = 0; k < 4; k++) {
            const bool pad = text.data[i + k] == '=' && n + k > size;
            const unsigned digit = pad ? 0 : digit_of(text.data[i + k]);
            if (digit > 63) return false;
            v = v << 6 | digit;
        }
        for (size_t k = 0; k < 3 && n < size; k++) out[n++] = (uint8_t)(v >> (16 - 8 * k));
    }
    return true;
}

xir_network *xir_onnx_read_function(xir_context *ctx, xir_str text, xir_diags *why) {
    size_t size = text.size / 4 * 3;
    if (!ctx) return diag_null(why, "context"), NULL;
    if (text.size && text.data[text.size - 1] == '=') size -= text.size > 1 && text.data[text.size - 2] == '=' ? 2 : 1;
    blob *whole = text.size % 4 ? NULL : blob_new(context_alloc(ctx), size);
    if (!whole && text.size % 4 == 0) return diag_memory(why), NULL;
    if (!whole || !decode(text, size, (uint8_t *)(uintptr_t)whole->bytes)) {
        blob_release(whole);
        return diag_fail(why, XIR_E_SYNTAX, XIR_STR(""), "the text of a function is not base64"), NULL;
    }
    xir_network *net = read_alone(ctx, whole, true, why);
    blob_release(whole);
    return net;
}
