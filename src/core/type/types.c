/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The class functions of types.def, and what every context has from the start: its classes, the host and its memory,
 * @fp(32) and the empty array of scales. */
#include "library.h"
#include "types.h"

#define XIR_DEFS <xir/types.def>
#include <xir/define.h>

#include <xir/decl_blank.h>
#undef OBJ
#define OBJ(id, key, base, traits, doc) xir_##id##_class,

/* By class number; a class comes after its base. */
static const xir_class_decl *(*const decls[CLASS_COUNT])(void) = {
#include <xir/types.def>
};
#include <xir/decl_off.h>

/* ORDER MTYPE, XIR_TYPE_: xir_class.what, see types.h. */
static const uint8_t whats[CLASS_COUNT] = {
#define TARGET(id, KIND, ...)      [CLASS_##id##_target] = 1 + XIR_TARGET_##KIND,
#define CORE_TARGET(id, KIND, ...) [CLASS_##id##_target] = 1 + XIR_TARGET_##KIND,
#include <xir/targets.def>
#undef TARGET
#undef CORE_TARGET
    [CLASS_host_mem]        = 1 + XIR_MTYPE_HOST,
    [CLASS_onchip_mem]      = 1 + XIR_MTYPE_ONCHIP,
    [CLASS_external_mem]    = 1 + XIR_MTYPE_EXTERNAL,
    [CLASS_chunk_mem]       = 1 + XIR_MTYPE_CHUNK,
    [CLASS_scales]          = WHAT_PLAIN,
    [CLASS_exp_scales]      = WHAT_EXP,
    [CLASS_scale]           = WHAT_PLAIN,
    [CLASS_exp_scale]       = WHAT_EXP,
    [CLASS_bool_type]       = 1 + XIR_TYPE_BOOL,
    [CLASS_integer_type]    = 1 + XIR_TYPE_INTEGER,
    [CLASS_float_type]      = 1 + XIR_TYPE_FLOAT,
    [CLASS_calibrated_type] = 1 + XIR_TYPE_CALIBRATED,
    [CLASS_normalized_type] = 1 + XIR_TYPE_NORMALIZED,
    [CLASS_quantized_type]  = 1 + XIR_TYPE_QUANTIZED,
    [CLASS_normalized_quantized_type] = 1 + XIR_TYPE_NORMALIZED_QUANTIZED,
    [CLASS_tensor_type]     = 1 + XIR_TYPE_TENSOR,
    [CLASS_bool_imm]        = WHAT_BOOL,
    [CLASS_int_imm]         = WHAT_INT,
    [CLASS_float_imm]       = WHAT_REAL,
};

xir_status types_register(xir_context *ctx) {
    for (size_t i = 0; i < CLASS_COUNT; i++) {
        xir_status status = xir_class_register(ctx, decls[i](), NULL);
        if (status) return status;
        ctx->types[i] = xir_class_find_decl(ctx, decls[i]());
        ((xir_class *)(uintptr_t)ctx->types[i])->what = whats[i];
    }
    targets_builtin(ctx);
    object_pool *pool = context_pool(ctx);
    ctx->host = target_make(pool, XIR_TARGET_HOST, XIR_STR(""));
    ctx->host_mem = mtype_make(pool, XIR_MTYPE_HOST, 0, 0);
    ctx->no_scales = scales_make(pool, false, (xir_runs){ 0 }, -1);
    ctx->fp32 = type_float(pool, XIR_FLOAT_FP32);
    ctx->truth = type_bool(pool);
    ctx->tensor_class = ctx->types[CLASS_tensor_type];
    return ctx->host && ctx->host_mem && ctx->no_scales && ctx->fp32 && ctx->truth ? XIR_OK : XIR_E_MEMORY;
}
