/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* An allocator that counts the bytes it holds, and their maximum since `most_held` was last set. */
#ifndef TESTS_WEIGH_H
#define TESTS_WEIGH_H

#include <stddef.h>
#include <stdlib.h>

static size_t held, most_held;

static void *weigh(void *user, void *block, size_t old_size, size_t size) {
    (void)user;
    void *moved = size ? realloc(block, size) : NULL;
    if (!size) free(block);
    if (size && !moved) return NULL;
    held += size - old_size;
    if (held > most_held) most_held = held;
    return moved;
}

#endif
