/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Pipelines as text: any bytes give an error with line and column, or a pipeline whose canonical text is read as the
 * same pipeline, and which runs on a small network or fails with a finding. */
#include <string.h>
#include <xir/xir.h>
#include "fuzz.h"

static xir_context *ctx;

/* in -> conv -> relu, and the same again next to it -> add -> out */
static xir_network *small(void) {
    xir_network *net = xir_network_new(ctx, "small", XIR_FRAMEWORK_ONNX, "v1");
    xir_at at = xir_at_end(net);
    xir_value *x = xir_input(at, "x", XIR_TENSOR(ctx, xir_type_float(ctx, XIR_FLOAT_FP32), "NHWC", 1, 4, 4, 2));
    float bytes[2 * 2] = { 1, -1, 0.5f, 0 };
    xir_value *w = xir_params_copy(net, XIR_STR("w"),
                                   XIR_TENSOR(ctx, xir_type_float(ctx, XIR_FLOAT_FP32), "HWIO", 1, 1, 2, 2), bytes,
                                   sizeof bytes);
    xir_value *a = XIR_RELU(at, XIR_CONV2D(at, .input = x, .weights = w)),
               *b = XIR_RELU(at, XIR_CONV2D(at, .input = x, .weights = w));
    must(xir_output(at, XIR_VALUES(XIR_OP(at, add, .lhs = a, .rhs = b))) != NULL);
    return net;
}

static bool runs_long(xir_str text) {
    size_t n = 0;
    for (size_t i = 0; i < text.size; i++) n += text.data[i] == ',' || text.data[i] == '(';
    return n > 24;
}

static void check_run(const xir_pipeline *p) {
    xir_diags *why = xir_diags_new(ctx);
    xir_pass_report *report = xir_pass_report_new(ctx);
    xir_network *net = small();
    must(net && why && report);
    xir_status status = xir_pipeline_run(p, net, &XIR_INIT(xir_pass_settings, .verify = true), report, why);
    must((status == XIR_OK) == (xir_diags_count_of(why, XIR_ERROR) == 0));
    must(status || xir_network_validate(net, NULL) == XIR_OK);
    xir_network_free(net);
    xir_pass_report_free(report);
    xir_diags_free(why);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (!ctx) ctx = xir_context_new(NULL);
    must(ctx != NULL);
    xir_diags *why = xir_diags_new(ctx);
    xir_pipeline *p = xir_pipeline_parse(ctx, (xir_str){ (const char *)data, size }, why);
    const xir_diag *d = xir_diags_at(why, 0);
    must((p == NULL) == (d != NULL));
    if (d) must(xir_diags_count(why) == 1 && d->line && d->column && d->code && d->code != XIR_E_MEMORY);
    if (p) {
        xir_text_buffer text, again;
        must(xir_pipeline_print(p, &text) == XIR_OK);
        xir_pipeline *q = xir_pipeline_parse(ctx, (xir_str){ text.data, text.size }, NULL);
        must(q && xir_pipeline_print(q, &again) == XIR_OK);
        must(again.size == text.size && (!text.size || memcmp(again.data, text.data, text.size) == 0));
        if (!runs_long((xir_str){ text.data, text.size })) check_run(q);
        xir_text_free(&text);
        xir_text_free(&again);
        xir_pipeline_free(q);
    }
    xir_pipeline_free(p);
    xir_diags_free(why);
    return 0;
}
