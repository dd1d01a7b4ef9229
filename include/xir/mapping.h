/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A mapping says what the values and ops of one network have become in another, or in a second place of the same one.
 * It copies ops, parts and whole networks into networks that exist: to inline a body, to unroll, to gather what belongs
 * together. xir_network_clone makes a new network, and xir_op_clone copies an op in its place. */
#ifndef XIR_MAPPING_H
#define XIR_MAPPING_H

#include <xir/view.h>

XIR_BEGIN

typedef struct xir_mapping xir_mapping;

/* Returns an empty mapping from one network to another of the same context; both live until the mapping is freed. NULL
 * with a finding in `to`: XIR_E_INVALID if they are of two contexts, XIR_E_MEMORY. xir_mapping_free accepts NULL. A
 * mapping is used by one thread at a time, and while no other changes either network. */
XIR_API xir_mapping *xir_mapping_new(xir_network *from, xir_network *to);
XIR_API void         xir_mapping_free(xir_mapping *map);

/* Says what a value becomes; NULL: copies get an absent input in its place. The last answer counts. XIR_E_INVALID for a
 * value of another network or of an erased op. Both values are remembered by address: if xir_op_set_outputs moves one,
 * it must be said again. */
XIR_API xir_status xir_mapping_set(xir_mapping *map, const xir_value *from, xir_value *to);

/* Returns the value that stands for one in `to`; NULL if nothing is known or the copy is erased. Without another
 * answer, the outputs of a copied op are those of its newest copy, and a value of the same network is itself. */
XIR_API xir_value *xir_mapping_value(const xir_mapping *map, const xir_value *from);

/* Copies an op into `to`, before an op of its order (NULL: at the end): class, attributes with their sub ops, target,
 * name, tags and the types of its outputs; nothing is inferred. Ids are new. Inputs are what the mapping says. Params
 * that it does not know are copied on the way, once each, and share their bytes until they are written. Returns the
 * copy; NULL with a finding in `to`, whose order is unchanged: XIR_E_MISSING, naming the value, for an input that is
 * not mapped; XIR_E_INVALID for an erased op or one of another network; what xir_op_place refuses; XIR_E_MEMORY. */
XIR_API xir_op *xir_mapping_clone(xir_mapping *map, const xir_op *op, xir_op *before);

/* Copies all ops of a view in their order, all or none. Left out are those for which `to` has no place: an Input
 * op whose outputs are all mapped, and an Output op if `to` has ops already. xir_mapping_value tells what the outputs
 * have become. Linear in the view. XIR_E_STALE for a view that is stale; XIR_E_INVALID if it is of another network;
 * otherwise as above. To copy a whole network, give a view of all its ops. */
XIR_API xir_status xir_mapping_clone_view(xir_mapping *map, const xir_view *view, xir_op *before);

XIR_END

#endif
