/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Gives the targets of a new context their rules. */
#include "library.h"
#include "targets.h"

xir_status targets_register(xir_context *ctx) {
    xir_status status = xir_target_set_rules(ctx, XIR_TARGET_BUYI, &buyi_row, NULL);
    return status ? status : xir_target_set_rules(ctx, XIR_TARGET_ZHUGE, &zhuge_row, NULL);
}
