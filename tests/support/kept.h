/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A writer that keeps what it is given: a function for xir_network_write and the like, with a buffer as its user. */
#ifndef SUPPORT_KEPT_H
#define SUPPORT_KEPT_H

#include "memory.h"

static inline bool keep(void *user, const void *data, size_t size) {
    buffer_put(user, data, size);
    return !((buffer *)user)->failed;
}

#endif
