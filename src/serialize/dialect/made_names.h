/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Names that a writer makes, for values whose own name is missing or taken. A value has the same name wherever the file
 * mentions it. */
#ifndef SERIALIZE_DIALECT_MADE_NAMES_H
#define SERIALIZE_DIALECT_MADE_NAMES_H

#include "graph.h"
#include "hash.h"

typedef struct made_names {
    pointer_table values;   /* indexes in `names`               */
    xir_str      *names;    /* in the arena; NULL: not made yet */
} made_names;

static inline void made_names_init(made_names *m, const xir_allocator *alloc) {
    pointer_table_init(&m->values, alloc);
    m->names = NULL;
}
static inline void made_names_free(made_names *m) { pointer_table_free(&m->values); }

/* Notes a value that needs a name; false without memory. */
static inline bool made_names_add(made_names *m, const xir_value *v) {
    return pointer_table_add(&m->values, v, (uint32_t)m->values.n);
}
/* Makes the names in the arena, in the order in which the values were added: the stem and a number from 0 on. `taken`
 * has all other names. False without memory. */
bool made_names_make(made_names *m, const text_table *taken, const char *stem, arena *to);

/* The name under which a value is written. */
static inline xir_str made_name_of(const made_names *m, const xir_value *v) {
    const uint32_t *made = m->values.n ? pointer_table_find(&m->values, v) : NULL;
    return made ? m->names[*made] : v ? value_text(v) : (xir_str){ "", 0 };
}

#endif
