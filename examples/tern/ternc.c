/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Compiles a model for the Tern NPU: optimises it, gives the NPU what it runs, plans the memory of each part, prints
 * its commands, makes one op of it, and saves the whole.
 *
 *     ternc MODEL OUT.fb [prove] */
#include <inttypes.h>
#include <xir/xir.h>
#include "tern.h"

enum { SCRATCH = 256 * 1024, ALIGN = 64 };

/* ---- passes and legality ----------------------------------------------------------------------------------------- */

static xir_status optimise(xir_network *net, bool prove, xir_diags *why) {
    xir_optimised done = XIR_INIT(xir_optimised);
    const xir_status status =
        xir_optimise(net, &XIR_INIT(xir_optimise_options, .then = "fuse-to{class=tern::Conv}", .prove = prove), &done,
                     why);
    if (!status && prove) printf("; proven: %zu networks compute the same\n", done.networks);
    return status;
}

static xir_status assign(xir_network *net, xir_diags *why) {
    const xir_target *npu = xir_target_named(xir_network_context(net), XIR_STR("tern"));
    xir_status status = npu ? xir_network_set_ai_target(net, npu) : XIR_E_UNKNOWN;
    XIR_EACH_OP(op, net)
        if (!status && xir_op_try(op, npu, NULL) == XIR_OK) status = xir_op_set_target(op, npu);
    if (!status) status = xir_network_infer(net, why);
    return status ? status : xir_network_validate(net, why);
}

static int kind_of(const xir_op *op, void *user) {
    (void)user;
    return xir_target_row_of(xir_op_target(op))->accelerator ? 0 : -1;
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

/* Gives the values of a part addresses in the scratch memory, or outside of it if they do not fit; prints the peak. */
static xir_status plan_memory(xir_network *net, xir_diags *why) {
    const xir_liveness_options how = XIR_INIT(xir_liveness_options, .views = true, .in_place = true);
    xir_liveness *lives = xir_liveness_new(net, &how, why);
    xir_memory_buffers *buffers =
        lives ? xir_memory_buffers_new(lives, &XIR_INIT(xir_memory_buffers_options, .align = ALIGN), why) : NULL;
    xir_memory_plan *plan = buffers ? xir_memory_buffers_plan(buffers, NULL, why) : NULL;
    xir_memory_peak peak = XIR_INIT(xir_memory_peak);
    xir_status status = plan ? xir_memory_plan_peak(plan, &peak, why) : XIR_E_INVALID;
    const bool fits = peak.bytes <= SCRATCH;
    if (!status)
        status = xir_memory_assign(net, buffers, plan, fits ? XIR_MTYPE_ONCHIP : XIR_MTYPE_EXTERNAL, 0, why);
    if (!status) printf("%" PRIu64 " bytes %s, ", peak.bytes, fits ? "of scratch" : "outside");
    xir_memory_plan_free(plan);
    xir_memory_buffers_free(buffers);
    xir_liveness_free(lives);
    return status;
}

/* ---- code -------------------------------------------------------------------------------------------------------- */

typedef void emit_fn(const xir_op *op);
XIR_FUNCTOR(emit, emit_fn)

static void emit_conv(const xir_op *op) {
    const xir_tern_conv_attrs *a = xir_tern_conv_of(op);
    printf("    CONV s%" PRId64 " p%" PRId64 " g%" PRId64 " max %g", a->stride_height, a->pad_top, a->groups, a->high);
}
static void emit_plain_conv(const xir_op *op) {
    const xir_conv2d_attrs *a = xir_conv2d_of(op);
    printf("    CONV s%" PRId64 " p%" PRId64 " g%" PRId64, a->stride_height, a->pad_top, a->groups);
}
static void emit_pool(const xir_op *op) { printf("    POOL %" PRId64, xir_max_pool2d_of(op)->pool_height); }
static void emit_add(const xir_op *op)  { (void)op; printf("    ADD"); }
static void emit_relu(const xir_op *op) { (void)op; printf("    RELU"); }
static void emit_rest(const xir_op *op) { printf("    ; %.*s", XIR_ARG(xir_class_key(xir_op_class(op)))); }

static xir_status set_emitters(xir_functor *f) {
    if (!f) return XIR_E_MEMORY;
    xir_status status = emit_set(f, xir_tern_conv_class(), emit_conv);
    if (!status) status = emit_set(f, xir_conv2d_class(), emit_plain_conv);
    if (!status) status = emit_set(f, xir_max_pool2d_class(), emit_pool);
    if (!status) status = emit_set(f, xir_add_class(), emit_add);
    if (!status) status = emit_set(f, xir_relu_class(), emit_relu);
    return status ? status : emit_set_rest(f, emit_rest);
}

/* The address of a value, or of weights, which lie one after the other. */
static void put_place(const xir_value *v, uint64_t *weights) {
    uint64_t size = 0;
    if (!v) printf(" -");
    else if (!xir_value_is_params(v))
        printf(" %c:%06" PRIx64, xir_mtype_kind_of(xir_value_mtype(v)) == XIR_MTYPE_ONCHIP ? 's' : 'x',
               xir_mtype_addr(xir_value_mtype(v)));
    else {
        xir_params_data(v, &size);
        printf(" w%" PRIu64 "+%" PRIu64, *weights, size);
        *weights += (size + ALIGN - 1) / ALIGN * ALIGN;
    }
}

static void emit_part(const xir_functor *f, const xir_network *code, uint64_t *weights) {
    XIR_EACH_OP(op, code) {
        emit_of(f, op)(op);
        XIR_EACH_OUTPUT(v, op) put_place(v, weights);
        printf(" <-");
        XIR_EACH_INPUT(v, op) put_place(v, weights);
        printf("   ; %.*s\n", XIR_ARG(xir_op_name(op)));
    }
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

/* Plans and prints a part, which then becomes one op of the network; its values there keep the plan. */
static xir_status compile_part(xir_network *net, xir_ops part, size_t i, const xir_functor *f, uint64_t *weights,
                               xir_diags *why) {
    char name[32];
    xir_cost sum = XIR_INIT(xir_cost);
    xir_network *code = xir_outline_network(net, part.data, part.size);
    xir_status status = code ? xir_network_cost(code, &sum, NULL, why) : xir_network_status(net);
    printf("tern%zu: ; %zu ops, ", i, part.size);
    if (!status) status = plan_memory(code, why);
    if (status) return xir_network_free(code), status;
    printf("%" PRIu64 " MACs\n", sum.multiply_adds);
    emit_part(f, code, weights);
    XIR_EACH_OP(op, code)
        XIR_EACH_OUTPUT(v, op) {
            xir_value *whole = xir_network_value_by_id(net, xir_value_id(v));
            if (whole && op != xir_network_input_op(code) && !status)
                status = xir_value_set_mtype(whole, xir_value_mtype(v));
        }
    snprintf(name, sizeof name, "tern%zu", i);
    const xir_outline_options how = XIR_INIT(xir_outline_options, .name = xir_str_of(name));
    if (!status && !xir_outline(net, part.data, part.size, &how)) status = xir_network_status(net);
    xir_network_free(code);
    return status;
}

static xir_status compile(xir_network *net, xir_diags *why) {
    xir_groups *parts = xir_groups_new(net, kind_of, NULL, why);
    xir_functor *f = xir_functor_new(xir_network_context(net));
    uint64_t weights = 0;
    xir_status status = parts ? set_emitters(f) : XIR_E_INVALID;
    for (size_t i = 0; i < xir_groups_count(parts) && !status; i++)
        status = compile_part(net, xir_groups_at(parts, i), i, f, &weights, why);
    printf("host: ; %zu ops, %" PRIu64 " bytes of weights on the NPU\n", xir_network_op_count(net), weights);
    XIR_EACH_OP(op, net)
        printf("    %.*s ; %.*s\n", XIR_ARG(xir_class_key(xir_op_class(op))), XIR_ARG(xir_op_name(op)));
    xir_groups_free(parts);
    xir_functor_free(f);
    return status;
}

int main(int argc, char **argv) {
    if (argc < 3) return fprintf(stderr, "usage: ternc MODEL OUT.fb [prove]\n"), 2;
    xir_context *ctx = xir_context_new(NULL);
    xir_diags *why = ctx ? xir_diags_new(ctx) : NULL;
    xir_status status = why ? xir_plugin_add(ctx, xir_plugin_entry(), why) : XIR_E_MEMORY;
    xir_network *net = status ? NULL : xir_network_load(ctx, argv[1], NULL, why);
    if (!status && !net) status = XIR_E_IO;
    if (!status) status = optimise(net, argc > 3, why);
    if (!status) status = assign(net, why);
    if (!status) status = compile(net, why);
    if (!status) status = xir_network_save(net, argv[2], NULL, why);
    if (net) xir_network_move_diags(net, why);
    xir_diags_print(why, stderr);
    xir_network_free(net);
    xir_diags_free(why);
    xir_context_free(ctx);
    return status != XIR_OK;
}
