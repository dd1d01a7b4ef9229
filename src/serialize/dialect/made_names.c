/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* See made_names.h. */
#include "dialect/made_names.h"
#include "number.h"

bool made_names_make(made_names *m, const text_table *taken, const char *stem, arena *to) {
    const size_t size = strlen(stem);
    uint64_t next = 0;
    m->names = arena_take(to, m->values.n * sizeof *m->names);
    for (size_t i = 0; m->names && i < m->values.n; i++) {
        char *text = arena_take(to, size + NUMBER_ROOM);
        if (!text) return false;
        memcpy(text, stem, size);
        m->names[i] = text_table_unused(taken, text, size, &next);
    }
    return m->names;
}
