/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A text in memory that xir_mix_write writes to. */
#ifndef TESTS_QUANT_WRITTEN_H
#define TESTS_QUANT_WRITTEN_H

#include <stdbool.h>
#include <string.h>

typedef struct written { char data[4096]; size_t size; } written;

static inline bool keep(void *user, const void *data, size_t size) {
    written *w = user;
    if (size >= sizeof w->data - w->size) return false;
    memcpy(w->data + w->size, data, size);
    w->data[w->size += size] = '\0';
    return true;
}

#endif
