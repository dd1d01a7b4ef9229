/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Passes over broken networks: inputs, types, bytes, outputs and whole ops are missing, and edges form cycles. A
 * pass may fail or change nothing; but it terminates, and the network stays consistent. */
#include "support/often.h"
#include "support/story.h"
#include <xir/pass.h>

static const char *const stories[] = {
    "x: 2 4; k: params 4 4; b: params 4; m = Matmul x k; n = Add m b; s = Sigmoid n; u = Multiply s n; y = Matmul u k; z = Add b y; out z u",
    "x: 2 4; two: 2; eps: 1e-5; g: params 4; m = Mean x [dim=-1 keepdim=true]; d = Add x m [beta=-1]; p = Pow d two; "
    "v = Mean p [dim=-1 keepdim=true]; a = Add v eps; r = Sqrt a; q = Div d r; h = Multiply q g; i = Add h g; out i",
    "x: 2 4; three: 3; six: 6; t = Add x three; c = ReLU t [max_value=6]; i = Div c six; j = Multiply x i; out j",
    "x: 2 4; root: 1.4142135; half: 0.5; one: 1; e = Div x root; f = Erf e; l = Add f one; w = Multiply x l; y = Multiply w half; out y",
    "x: NHWC 1 5 6 4; w: params HWIO 3 3 4 4; z: params HWIO 1 1 4 2; b: params 2; v: params 4; m: params 4; "
    "a = BatchNorm2d x [variance=v mean=m]; c = Conv2d a w; n = BatchNorm2d c [variance=m mean=v]; d = Conv2d n z b; "
    "e = Add d b; y = ReLU e; out y",
    "x: NHWC 1 5 6 4; w: params HWIO 3 3 4 4; v: params 4; m: params 4; c = Conv2d x w; "
    "d = Transpose c [dims=0,3,1,2 layout=@layout(NCHW)]; e = Transpose d [dims=0,2,3,1 layout=@layout(NHWC)]; "
    "n = BatchNorm2d e [variance=v mean=m]; out n",
    "x: NHWC 1 5 6 4; w: params HWOI 3 3 6 4; v: params 6; m: params 6; c = ConvTranspose2d x w; n = BatchNorm2d c [variance=v mean=m]; out n",
};

static xir_op *some_op(const xir_network *net) {
    return xir_network_op_at(net, (int64_t)chance(xir_network_op_count(net)));
}

static xir_value *some_value(const xir_network *net) {
    for (int i = 0; i < 20; i++) {
        xir_op *op = some_op(net);
        size_t n = xir_op_input_count(op) + xir_op_output_count(op), at = n ? chance(n) : 0;
        xir_value *v = at < xir_op_input_count(op) ? xir_op_input(op, (int64_t)at)
                                                   : xir_op_output(op, (int64_t)(at - xir_op_input_count(op)));
        if (v) return v;
    }
    return NULL;
}

static void hurt(xir_network *net) {
    xir_op *op = some_op(net);
    xir_value *v = some_value(net);
    switch (chance(11)) {
    case 0: xir_op_set_input(op, (size_t)chance(xir_op_input_count(op) + 1), NULL); break;
    case 1: if (v) xir_value_set_type(v, NULL); break;
    case 2: if (v) xir_value_set_type(v, FP32("*", (int64_t)chance(5))); break;
    case 3: if (v) xir_value_set_type(v, FP32("****", -1, -1, 2, (int64_t)chance(7))); break;
    case 4: if (v && xir_value_is_params(v)) xir_params_clear(v); break;
    case 5: if (xir_op_prev(op)) xir_network_remove(net, op); break;
    case 6: if (v) xir_op_set_input(op, (size_t)chance(xir_op_input_count(op) + 1), v); break;   /* maybe its own */
    case 7: xir_op_clear_inputs(op); break;
    case 8: xir_op_set_outputs(op, NULL, 0); break;   /* refused while they are used */
    /* more elements, or wider ones, than there are bytes */
    case 9: if (v) xir_value_set_type(v, FP32(chance(2) ? "HWIO" : "NHWC", 3, 3, 4, 4 + (int64_t)chance(40))); break;
    case 10: if (v) xir_value_set_type(v, XIR_TENSOR(ctx, xir_type_sint(ctx, 64), "*", 2 + (int64_t)chance(8))); break;
    default: break;
    }
    if (chance(4) == 0 && v) xir_value_set_type(v, xir_type_sint(ctx, 8)); /* not a tensor */
    xir_network_clear_status(net);
}

static void broken_networks_stay_consistent(void **state) {
    (void)state;
    static const char *const passes[] = { "fuse", "fold-batchnorm", "fold-products", "moves", "identity", "layout" };
    size_t changed = 0;
    for (int i = 0; i < OFTEN(20000); i++) {
        xir_network *net = story_net(stories[chance(COUNT(stories))]);
        for (uint64_t n = 1 + chance(3); n; n--) hurt(net);
        for (size_t k = 0; k < COUNT(passes); k++) {
            size_t changes = 0;
            xir_diags_clear(why);
            xir_status status = xir_pass_run(net, passes[k], NULL, &changes, why);
            if (status == XIR_OK && xir_diags_count(why))
                fail_msg("case %d: %s has findings but no failure", i, passes[k]);
            if (status && !xir_diags_count(why)) fail_msg("case %d: %s fails without a finding", i, passes[k]);
            if (status == XIR_E_LIMIT) fail_msg("case %d: %s does not terminate", i, passes[k]);
            CHECK_SOUND(net);
            changed += changes;
        }
        xir_network_free(net);
    }
    if (changed < OFTEN(1000)) fail_msg("%zu changes: too few for a conclusion", changed);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(broken_networks_stay_consistent),
    };
    return RUN_GROUP(tests);
}
