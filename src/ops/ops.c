/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The functions of all op classes, and their registration. */
#include "context.h"
#include "floats.h"
#include "library.h"
#include "list.h"
#include "rules.h"

#define XIR_DEFS <xir/ops/all.def>
#include <xir/define.h>

static const xir_class_decl *(*const classes[])(void) = {
#include <xir/decl_blank.h>
#undef OP
#undef OBJ
#define OP(id, tag, key, traits, doc)   xir_##id##_class,
#define OBJ(id, key, base, traits, doc) xir_##id##_class,
#include <xir/ops/all.def>
#include <xir/decl_off.h>
};

/* The library's ops without a WORK row take one step for each element of their outputs. Those of others say nothing. */
static void give_work(const xir_class *cls) {
    if (cls->is_op && !cls->more->work) cls->more->work = outputs_work;
}

xir_status ops_register(xir_context *ctx) {
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++) {
        xir_status status = xir_class_register(ctx, classes[i](), NULL);
        if (status) return status;
        const xir_class *cls = xir_class_find_decl(ctx, classes[i]());
        give_work(cls);
        floats_of_class(cls);
    }
    ctx->op_items = list_items;
    ctx->input_class = xir_class_find_decl(ctx, xir_input_class());
    ctx->output_class = xir_class_find_decl(ctx, xir_output_class());
    return XIR_OK;
}
