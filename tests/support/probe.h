/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The result of a format's probe of the first bytes of a file. */
#ifndef SUPPORT_PROBE_H
#define SUPPORT_PROBE_H

#include "format.h"

static inline xir_probe_grade probe_head(const format *f, const void *head, size_t size) {
    const xir_probe file = {
        .size = sizeof file, .head = head, .head_size = size < XIR_PROBE_HEAD ? (uint32_t)size : XIR_PROBE_HEAD,
        .total = XIR_NO_BYTE };
    return size && f->probe ? f->probe(&file, f->decl ? f->decl->user : NULL) : XIR_PROBE_NO;
}

#endif
