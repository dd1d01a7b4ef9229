/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Findings about one buffer: their path is its number. */
#ifndef MEMORY_PLACE_H
#define MEMORY_PLACE_H

#include <stdio.h>
#include "diagnose.h"

enum { PLACE_ROOM = 24 };

static inline xir_str buffer_path(char *room, size_t i) {
    const int n = snprintf(room, PLACE_ROOM, "/%zu", i);
    return (xir_str){ room, (size_t)n };
}

#define FAIL_BUFFER(why, code, i, ...) diag_fail(why, code, buffer_path((char[PLACE_ROOM]){ 0 }, i), __VA_ARGS__)

#endif
