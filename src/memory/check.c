/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The checker: first each buffer alone, then those that live at the same time. */
#include <xir/memory.h>
#include <inttypes.h>
#include "context_base.h"
#include "overlap.h"
#include "place.h"

static xir_status check_buffer(const xir_buffer *b, uint64_t offset, size_t i, xir_diags *why) {
    if (b->to < b->from) return FAIL_BUFFER(why, XIR_E_INVALID, i, "the life ends before it begins");
    if (b->align & (b->align - 1))    // 0 is 1
        return FAIL_BUFFER(why, XIR_E_INVALID, i, "the alignment %" PRIu64 " is not a power of two", b->align);
    if (offset > UINT64_MAX - b->size)
        return FAIL_BUFFER(why, XIR_E_LIMIT, i, "%" PRIu64 " bytes end beyond 2^64 - 1", b->size);
    return XIR_OK;
}

static xir_status check_offset(const xir_buffer *b, uint64_t offset, uint64_t limit, size_t i, xir_diags *why) {
    xir_status status = XIR_OK;
    if (b->fixed && offset != b->offset) {
        status = FAIL_BUFFER(why, XIR_E_INVALID, i, "the offset is fixed to %" PRIu64 ", but is %" PRIu64, b->offset,
                             offset);
    }
    if (b->align && offset % b->align) {
        xir_status off = FAIL_BUFFER(why, XIR_E_INVALID, i, "the offset %" PRIu64 " is not a multiple of %" PRIu64,
                                     offset, b->align);
        if (!status) status = off;
    }
    if (limit && b->size && (offset > limit || b->size > limit - offset)) {
        xir_status beyond = FAIL_BUFFER(why, XIR_E_LIMIT, i, "%" PRIu64 " bytes at %" PRIu64 " end beyond the limit, %"
                                        PRIu64, b->size, offset, limit);
        if (!status) status = beyond;
    }
    return status;
}

xir_status xir_memory_plan_check(xir_context *ctx, const xir_buffer *buffers, const uint64_t *offsets, size_t n,
                                 uint64_t limit, xir_diags *why) {
    if (!ctx) return diag_null(why, "context");
    if (n && (!buffers || !offsets)) return diag_null(why, buffers ? "offsets" : "buffers");
    if (n >= UINT32_MAX) return diag_fail(why, XIR_E_LIMIT, XIR_STR(""), "there are more than 2^32 - 2 buffers");
    xir_status first = XIR_OK;
    bool malformed = false;
    for (size_t i = 0; i < n; i++) {
        xir_status status = check_buffer(&buffers[i], offsets[i], i, why);
        malformed |= status != XIR_OK;
        if (!status) status = check_offset(&buffers[i], offsets[i], limit, i, why);
        if (!first) first = status;
    }
    if (malformed) return first;   // buffers cannot be compared
    const overlaps all = { .alloc = context_alloc(ctx), .buffers = buffers, .offsets = offsets, .n = (uint32_t)n };
    xir_status status = overlaps_find(&all, "", why);
    return first ? first : status;
}
