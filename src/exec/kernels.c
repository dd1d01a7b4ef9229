/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The list of all kernel tables, and their registration. */
#include "kernels.h"
#include "actual.h"
#include "context.h"
#include "library.h"

#define TABLE(name) extern kernel_table name;
#include "kernels.def"
#undef TABLE

static const kernel_row *const tables[] = {
#define TABLE(name) name,
#include "kernels.def"
#undef TABLE
    NULL,
};

bool kernel_is_alone(const xir_op *op) {
    (void)op;
    return true;
}

xir_status exec_register(xir_context *ctx) {
    ctx->run_op = exec_constant;
    ctx->composed.kernel = kernel_composed;
    for (size_t t = 0; tables[t]; t++) {
        for (const kernel_row *row = tables[t]; row->cls; row++) {
            xir_status status = xir_kernel_register(ctx, row->cls(), row->run);
            if (status) return status;
            xir_class_find_decl(ctx, row->cls())->more->own_kernel = row;
        }
    }
    return XIR_OK;
}
