/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The definitions that calls are checked against, found by the name of their function. */
#ifndef SERIALIZE_DEEPX_REGISTRY_H
#define SERIALIZE_DEEPX_REGISTRY_H

#include "deepx/deepx.h"

typedef struct deepx_definition {
    xir_str           name, author, text;   /* the text without the metadata               */
    const deepx_type *slots;            /* parameters, then return slots                    */
    uint32_t          n_args, n_rets;
    uint32_t          next;             /* of the same name: index + 1; 0: the last         */
    uint32_t          last;             /* of the first of a name: index + 1 of its last    */
    uint32_t          number;           /* in the tag of the network                        */
} deepx_definition;

typedef struct deepx_registry {
    const xir_allocator *alloc;
    arena                arena;
    deepx_definition    *list;
    size_t               n, room;
    text_table           names;         /* name -> index + 1 of its first definition        */
    bool                 is_own;        /* the network has definitions: not the executor's  */
} deepx_registry;

/* Takes the definitions of a network's tag; without any but blocks, those of the executor. False: out of memory. */
bool deepx_registry_begin(deepx_registry *r, const xir_network *net);
void deepx_registry_end(deepx_registry *r);
/* The first definition of a name; NULL if there is none. And the next one of the same name. */
const deepx_definition *deepx_registry_find(const deepx_registry *r, xir_str name);
static inline const deepx_definition *deepx_registry_next(const deepx_registry *r, const deepx_definition *d) {
    return d->next ? &r->list[d->next - 1] : NULL;
}

#endif
