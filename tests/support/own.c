/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

#include "support/own.h"

#define XIR_DEFS "support/own.def"
#include <xir/define.h>
#define XIR_DEFS "support/wide.def"
#include <xir/define.h>

xir_status own_box_check(xir_infer *at) {
    const xir_own_box *box = xir_infer_attrs(at);
    if (box->sides % 2 == 0) return XIR_OK;
    return xir_infer_fail(at, XIR_E_INVALID, "sides", "an even number of sides was expected, %d were found",
                          (int)box->sides);
}

xir_status own_mix_check(xir_infer *at) {
    const xir_own_mix_attrs *mix = xir_infer_attrs(at);
    if (mix->turns != 7) return XIR_OK;
    return xir_infer_fail(at, XIR_E_INVALID, "turns", "7 turns bring bad luck");
}

xir_status own_mix_infer(xir_infer *at) { return xir_infer_result(at, xir_infer_input(at, 0)); }

xir_status own_mix_infer_buyi(xir_infer *at) {
    if (xir_target_kind_of(xir_infer_target(at)) != XIR_TARGET_BUYI)
        return xir_infer_fail(at, XIR_E_INVALID, NULL, "another target");
    return xir_infer_result(at, xir_type_sint(xir_infer_context(at), 8));
}

/* It has `count` outputs; the number of elements of the last one is the first byte of the first input. */
xir_status own_all_infer(xir_infer *at) {
    const xir_own_all_attrs *all = xir_infer_attrs(at);
    const xir_type *byte = xir_type_sint(xir_infer_context(at), 8);
    for (uint64_t i = 0; i + 1 < all->count; i++) {
        if (xir_infer_result(at, byte)) return XIR_E_MEMORY;
    }
    uint8_t first = 0;
    const xir_value *v = xir_infer_input_count(at) ? xir_infer_input_value(at, 0) : NULL;
    if (v) xir_params_read(v, 0, &first, 1);
    return xir_infer_result_tensor(at, byte, NULL, (const int64_t[]){ first }, 1);
}
