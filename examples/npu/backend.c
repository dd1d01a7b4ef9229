/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The frame of a back end. It loads a model, optimises it for the target of acme.c, proves it, divides it between host
 * and NPU, plans the NPU's memory and prints a program for it. docs/embedding.md walks through it.
 *
 *     cc -iquote . backend.c acme.c $(pkg-config --cflags --libs xir) -lm -o backend && ./backend digits.onnx
 *
 * It writes npu0.json and npu0.raw, the first part for the NPU, into the working directory. */
#include <inttypes.h>
#include <stdlib.h>
#include <xir/xir.h>
#include "acme.h"

/* ---- passes ------------------------------------------------------------------------------------------------------ */

/* Runs the library's passes and to-npu. The network is validated after every pass, and run on the same random inputs
 * after every pass that changed it. Tags say which of the model's ops each op of the result stands for. */
static xir_status optimise(xir_network *net, xir_diags *why) {
    const xir_optimise_options how = XIR_INIT(xir_optimise_options, .then = "to-npu", .prove = true,
                                              .provenance = true);
    xir_optimised done = XIR_INIT(xir_optimised);
    const xir_status status = xir_optimise(net, &how, &done, why);
    if (!status) printf("%zu ops; %zu networks compute the same\n", done.ops_after, done.networks);
    return status;
}

/* ---- legality ---------------------------------------------------------------------------------------------------- */

/* Gives each op that the target runs to it. Inference, checks and the rules of its row decide. */
static xir_status assign(xir_network *net, xir_diags *why) {
    const xir_target *npu = xir_target_named(xir_network_context(net), XIR_STR("npu"));
    xir_status status = npu ? xir_network_set_ai_target(net, npu) : XIR_E_UNKNOWN;
    XIR_EACH_OP(op, net)
        if (!status && xir_op_try(op, npu, NULL) == XIR_OK) status = xir_op_set_target(op, npu);
    if (!status) status = xir_network_infer(net, why);
    return status ? status : xir_network_validate(net, why);
}

/* ---- partition --------------------------------------------------------------------------------------------------- */

/* Ops on the NPU are of one kind, the others of none. */
static int kind_of(const xir_op *op, void *user) {
    (void)user;
    return xir_target_row_of(xir_op_target(op))->accelerator ? 0 : -1;
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

/* Gives every value an address on the chip, which the file keeps, and sets `*bytes` to the memory that they take. */
static xir_status plan(xir_network *net, uint64_t *bytes, xir_diags *why) {
    xir_liveness *lives = xir_liveness_new(net, NULL, why);
    xir_memory_buffers *buffers =
        lives ? xir_memory_buffers_new(lives, &XIR_INIT(xir_memory_buffers_options, .align = 64), why) : NULL;
    xir_memory_plan *plan = buffers ? xir_memory_buffers_plan(buffers, NULL, why) : NULL;
    xir_memory_peak peak = XIR_INIT(xir_memory_peak);
    xir_status status = plan ? xir_memory_plan_peak(plan, &peak, why) : XIR_E_INVALID;
    if (!status) status = xir_memory_assign(net, buffers, plan, XIR_MTYPE_ONCHIP, 0, why);
    *bytes = peak.bytes;
    xir_memory_plan_free(plan);
    xir_memory_buffers_free(buffers);
    xir_liveness_free(lives);
    return status;
}

/* ---- cost -------------------------------------------------------------------------------------------------------- */

/* Prints what a part computes and reads: the basis of a schedule, or of the choice between host and NPU. */
static xir_status estimate(const xir_network *net, xir_diags *why) {
    xir_cost sum = XIR_INIT(xir_cost), open = XIR_INIT(xir_cost);
    xir_status status = xir_network_cost(net, &sum, &open, why);
    if (status) return status;
    printf("    %" PRIu64 " multiply-adds, %" PRIu64 " bytes of weights", sum.multiply_adds, sum.parameter_bytes);
    if (open.multiply_adds) printf("; not known of %" PRIu64 " ops", open.multiply_adds);
    putchar('\n');
    return XIR_OK;
}

/* ---- code -------------------------------------------------------------------------------------------------------- */

/* The ids of the model's ops that an instruction comes from. Ends of a part have none. */
static void emit_sources(const xir_op *op) {
    const xir_map *tags = xir_op_tags(op);
    const xir_any *ids = tags ? xir_map_find(tags, XIR_STR(XIR_PROVENANCE_OPS)) : NULL;
    for (size_t i = 0; ids && i < ids->as.list.size; i++) {
        printf("%s%" PRId64, i ? "," : "  ; ", ids->as.list.items[i].as.integer);
    }
}

static void emit(const xir_network *net) {
    XIR_EACH_OP(op, net) {
        printf("    %-26.*s", XIR_ARG(xir_class_key(xir_op_class(op))));
        XIR_EACH_OUTPUT(out, op) printf(" -> 0x%04" PRIx64, xir_mtype_addr(xir_value_mtype(out)));
        XIR_EACH_INPUT(in, op) {
            uint64_t size = 0;
            if (in && xir_value_is_params(in) && xir_params_data(in, &size)) printf(" weights[%" PRIu64 "]", size);
            else if (in) printf(" 0x%04" PRIx64, xir_mtype_addr(xir_value_mtype(in)));
        }
        emit_sources(op);
        putchar('\n');
    }
}

static xir_status compile(xir_network *net, xir_diags *why) {
    xir_groups *parts = xir_groups_new(net, kind_of, NULL, why);
    const xir_save_options indented = XIR_INIT(xir_save_options, .indent = true);
    xir_status status = parts ? XIR_OK : XIR_E_INVALID;
    for (size_t i = 0; i < xir_groups_count(parts) && !status; i++) {
        const xir_ops part = xir_groups_at(parts, i);
        xir_network *code = xir_outline_network(net, part.data, part.size);
        uint64_t bytes = 0;
        status = code ? plan(code, &bytes, why) : xir_network_status(net);
        if (!status) {
            printf("npu%zu: %zu ops, %" PRIu64 " bytes of memory\n", i, part.size, bytes);
            status = estimate(code, why);
            emit(code);
            if (!status && i == 0) status = xir_network_save(code, "npu0.json", &indented, why);
        }
        xir_network_free(code);
    }
    xir_groups_free(parts);
    return status;
}

int main(int argc, char **argv) {
    xir_context *ctx = xir_context_new(NULL);
    xir_diags *why = ctx ? xir_diags_new(ctx) : NULL;
    xir_status status = why ? xir_plugin_add(ctx, xir_plugin_entry(), why) : XIR_E_MEMORY;
    xir_network *net = status ? NULL : xir_network_load(ctx, argc > 1 ? argv[1] : "digits.onnx", NULL, why);
    if (!status && !net) status = XIR_E_IO;
    if (!status) status = optimise(net, why);
    if (!status) status = assign(net, why);
    if (!status) status = compile(net, why);
    if (net) xir_diags_print(xir_network_diags(net), stderr);
    xir_diags_print(why, stderr);
    xir_network_free(net);
    xir_diags_free(why);
    xir_context_free(ctx);
    return status != XIR_OK;
}
