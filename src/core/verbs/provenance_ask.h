/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Helpers for the files about provenance: the sources of an origin, and where tags become origins. */
#ifndef CORE_PROVENANCE_ASK_H
#define CORE_PROVENANCE_ASK_H

#include "provenance.h"

/* The numbers of the sources of an origin, and the ids of those and of the source values of a value origin: ascending,
 * and ids each once. What a walk allocates is used again for the next origin. It begins as zero but for `p`. A result
 * is valid until the next call. */
typedef struct origin_walk {
    const xir_provenance *p;
    pointer_table         seen;
    u32_list              stack, found;
    int64_t              *ids;
    size_t                id_room;
} origin_walk;
void        origin_walk_free(origin_walk *w);
bool        origin_walk_sources(origin_walk *w, uint32_t origin);   /* into w->found; false without memory */
/* Ids, in w->ids; NULL without memory. */
const int64_t *origin_walk_ids(origin_walk *w, uint32_t origin, size_t *n);
const int64_t *value_walk_ids(origin_walk *w, uint32_t value, size_t *n);

/* Compares two ids, for qsort. */
int    ids_compare(const void *a, const void *b);
/* Sorts ids, and returns how many there are without those that are there already. */
size_t ids_in_order(int64_t *ids, size_t n);

/* Parts of making a recorder: a source, whose origin follows; a source value that `all` stands for, too, which is 0 at
 * first. False without memory. */
bool     source_add(xir_provenance *p, xir_provenance_source source);
bool     value_source_join(xir_provenance *p, uint32_t *all, int64_t id);
/* Makes sources of the tags of the network. */
void     tags_to_origins(xir_provenance *p, xir_diags *why);

#endif
