/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* infer: infers every type again, from the inputs on.
 *
 *     x:fp32[1,224,224,3] = input()            x:fp32[1,224,224,3] = input()
 *     c:fp32[?,?,?,16] = conv(x, w)      ->    c:fp32[1,112,112,16] = conv(x, w)
 *     y:? = onnx::Foo(c)                       y:? = onnx::Foo(c)
 *     z:fp32[5] = relu(y)                      z:fp32[5] = relu(y)
 *
 * Like xir_network_infer, with changes counted. Two differences, because a half-converted network is still valid: an op
 * that has an input without a type keeps its types, and a refused op does not stop the pass: each one is a finding. */
#include "support/upkeep.h"

static bool is_typed(const xir_value *v) { return v->type != NULL; }

static bool has_types(const xir_op *op) {
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        if (!is_typed(&op_outputs(op)[i])) return false;
    }
    return op->n_outputs > 0;
}

static bool is_ready(const xir_op *op) {
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        if (op_inputs(op)[i].value && !is_typed(op_inputs(op)[i].value)) return false;
    }
    return xir_op_can_infer(op);
}

static xir_status run(xir_pass *at) {
    xir_network *net = at->net;
    xir_status first = XIR_OK;
    size_t place = 0;
    for (xir_op *op = net->first; op; op = op->next) {
        place++;
        if (!is_ready(op)) continue;
        uint64_t epoch = net->epoch;   /* grows if a type is replaced */
        xir_status status = op_infer(op, INFER_CONVERSIONS_STAY, 0, NULL);
        xir_pass_changed(at, net->epoch != epoch);
        if (status == XIR_E_MEMORY) return pass_no_memory(at);
        if (!status || (status == XIR_E_UNSUPPORTED && has_types(op))) continue;
        status = op_infer(op, INFER_CONVERSIONS_STAY, place, at->why);   /* again, to report why */
        if (!first) first = status;
    }
    return first;
}

const xir_pass_decl pass_infer = {
    XIR_PASS_HEAD("infer", "infers every type again, from the inputs on"),
    .level = XIR_LEVEL_NEEDED,
    .run = run,
};
