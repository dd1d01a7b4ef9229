/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The finding that memory ran out, for the folders that use the library as a program does. Inside the library it is
 * diag_memory, which also names the limit that was reached. */
#ifndef COMMON_NO_MEMORY_H
#define COMMON_NO_MEMORY_H

#include <xir/diag.h>

static inline xir_status no_memory(xir_diags *diags) {
    return xir_diags_add(diags, XIR_ERROR, XIR_E_MEMORY, XIR_STR(""), "out of memory");
}

#endif
