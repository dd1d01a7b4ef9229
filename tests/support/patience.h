/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A caller that cancels: at its call `at`. It counts the calls. */
#ifndef SUPPORT_PATIENCE_H
#define SUPPORT_PATIENCE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct patience { size_t at, asked; } patience;

static inline bool impatient(void *user) {
    patience *p = user;
    return ++p->asked == p->at;
}

#endif
