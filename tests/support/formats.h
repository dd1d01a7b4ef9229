/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The formats that hold any network: for (size_t i = 0; written_format_at(i, &f); i++). */
#ifndef SUPPORT_FORMATS_H
#define SUPPORT_FORMATS_H

#include <xir/serialize.h>

static inline bool written_format_at(size_t i, xir_format_info *out) {
    *out = XIR_INIT(xir_format_info);
    for (size_t j = 0; xir_format_at(j, out, NULL) == XIR_OK; j++) {
        if (out->writes && !out->dialect && i-- == 0) return true;
    }
    return false;
}

#endif
