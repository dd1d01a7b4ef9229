/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Copies of ops in another network, or again in their own: what clone.c and mapping.c share. A copy owns its record,
 * its types and texts; parameter bytes are shared by reference count. An op is copied in two steps: first the op with
 * its outputs, then its inputs, which may be outputs of an op that is copied later. */
#ifndef CORE_COPYING_H
#define CORE_COPYING_H

#include "graph.h"
#include "hash.h"

typedef struct value_pair { const xir_value *from; xir_value *copy; } value_pair;
typedef struct attrs_pair { const void *from, *copy; } attrs_pair;
enum { ATTRS_PAIRS = 16 };

/* Zero but for what is set at first; copying_end frees what it has. */
typedef struct copying {
    xir_network *to;
    bool         failed;   /* without memory, or with a finding in `to`; the copies are of no use then */
    bool         ids;      /* the copies have the ids of their originals, and Params their places in the file */
    /* Of a whole network. */
    xir_op     **ops;      /* copies by slot                */
    xir_value  **params;   /* copies by number              */
    /* Of a part: then these are NULL, and the mapping knows what has been copied. Of one value this is NULL too. */
    struct xir_mapping *map;
    /* Copies that are found by the address of the original. Of a whole network: the values that none of its ops makes.
     * Otherwise: Params that others name in their tags, as long as the outermost is not complete. Most often there is
     * none, and nothing is allocated. */
    value_pair   *made;
    size_t        n_made, made_room;
    pointer_table made_at; /* to places in `made` */
    size_t        depth;   /* Params whose copies are being made, one in a tag of the other */
    attrs_pair    attrs[ATTRS_PAIRS];   /* copied last, of classes without lists; by their address */
} copying;

void           copying_end(copying *c);

/* Copies what a network has besides its ops; false on failure. */
bool           copy_fields(copying *c, const xir_network *from);
/* Gives `to` the type, the name, the tags, the memory type, and, where ids are kept, the id of a value; false on
 * failure. */
bool           copy_value_to(copying *c, const xir_value *v, xir_value *to);
/* The copy of an op, not in the order yet, and without inputs; NULL on failure. */
xir_op        *copy_op(copying *c, const xir_op *op);
/* Gives the copies of an op and of its sub ops their inputs; false on failure. */
bool           copy_inputs(copying *c, const xir_op *op);
/* The copy of Params, made once; NULL on failure, or if the mapping leaves them out. */
xir_value     *copy_params(copying *c, const xir_value *params);

/* ---- what a mapping knows (mapping.c) -------------------------------------------------------------------------- */

xir_op    *mapping_op(const struct xir_mapping *map, const xir_op *op);
/* True if the value is known; then `*out` is what it became, NULL if it is left out. */
bool       mapping_value(const struct xir_mapping *map, const xir_value *v, xir_value **out);
/* False without memory. */
bool       mapping_add_op(struct xir_mapping *map, const xir_op *op, xir_op *copy);
bool       mapping_add_value(struct xir_mapping *map, const xir_value *v, xir_value *copy);
/* Makes room for so many more values, so that adding them cannot fail. */
bool       mapping_reserve_values(struct xir_mapping *map, size_t n);
/* Copies Params that no op uses; NULL on failure. */
xir_value *mapping_copy_params(struct xir_mapping *map, const xir_value *params);
/* Asks the caller's rule for Params. `*own` is NULL without a rule, or if the rule returns NULL: then they are copied.
 * Returns false with a finding if the rule returns something that is not Params of this network. */
bool       mapping_ask_params(struct xir_mapping *map, const xir_value *params, xir_value **own);

#endif
