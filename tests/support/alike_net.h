/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A chain of activations, most of them alike; each of the others differs in one thing, which no later op may inherit.
 * Writers copy what they have written before. */
#ifndef SUPPORT_ALIKE_NET_H
#define SUPPORT_ALIKE_NET_H

#include <xir/xir.h>
#include "support/forms.h"
#include "support/group.h"

static inline xir_network *alike_net(size_t ops) {
    enum { THINGS = 10 };
    const xir_any one = xir_any_int(1);
    const xir_type *types[] = { XIR_TENSOR(ctx, xir_type_float(ctx, XIR_FLOAT_FP32), "NC", 1, 8),
                                XIR_TENSOR(ctx, xir_type_float(ctx, XIR_FLOAT_FP16), "NC", 1, 8) };
    xir_network *net = xir_network_new(ctx, "n", XIR_FRAMEWORK_PYTORCH, "v1.9");
    xir_value *last = xir_input(XIR_AT(net), "", types[0]);
    for (size_t i = 0; i < ops; i++) {
        last = XIR_RELU(XIR_AT(net), last);
        xir_op *op = xir_value_op(last);
        assert_non_null(op);
        xir_status status = XIR_OK;
        switch (chance(2) ? THINGS : chance(THINGS)) {
        case 0: status = xir_op_set_real(op, "alpha", 0.5); break;
        case 1: status = xir_op_set_name(op, XIR_STR("a name")); break;
        case 2: status = xir_op_set_target(op, xir_target_of_kind(ctx, XIR_TARGET_ZHUGE, "")); break;
        case 3: status = xir_op_set_tag(op, XIR_STR("tag"), &one); break;
        case 4: status = xir_op_set_extra(op, XIR_STR("undeclared"), &one); break;
        case 5: status = xir_value_set_name(last, XIR_STR("its name")); break;
        case 6: status = xir_value_set_tag(last, XIR_STR("tag"), &one); break;
        case 7: status = xir_value_set_mtype(last, xir_mtype_onchip(ctx, 64)); break;
        case 8: status = xir_value_set_type(last, types[1]); break;
        case 9: status = xir_op_set_real(op, "max_value", 6); break;
        default: break;
        }
        assert_int_equal(status, XIR_OK);
    }
    return net;
}

#endif
