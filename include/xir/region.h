/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Regions: parts of a network that are treated as one. This header asks whether a set of ops is convex, finds the
 * largest convex groups, and moves a region into one op (outline), back (inline), or into a network of its own
 * (xir_outline_network, xir_extract). A view of the same ops (view.h) tells the border of a region: the values that
 * enter it, those that leave it, and its Params.
 *
 * What happens to ids, names and tags:
 *   - An op that goes into a body or comes back is the same record: address, slot, id, name, target, tags, undeclared
 *     attributes and outputs are kept.
 *   - The call, its outputs, the Input and the Output of its body and the outputs of that Input have new ids. An output
 *     of a call has the name and the memory type of the value that it stands for, and no tags. An output of the
 *     body's Input has the memory type of the value that it stands for, and the name of its port.
 *   - When a body comes back, each result has the name and the memory type of the output of the call, if that has some,
 *     and its tags besides its own: what a pass did to the output stays. Of outputs that are the same value the first
 *     that has a name, a memory type or tags decides. A value that the body only passes through stays as it is outside.
 *   - In a network of its own, what was in the region has the ids, names and tags that it had. It has no recorder
 *     (provenance.h): write the tags of the whole first (xir_provenance_write_tags), and they come along. */
#ifndef XIR_REGION_H
#define XIR_REGION_H

#include <xir/view.h>

XIR_BEGIN

/* ---- convex sets --------------------------------------------------------------------------------------------- */

/* A set of ops is convex if no path of data leaves it and comes back: the set can then run as one op. Sub ops belong to
 * the op that contains them. The ops are placed ops of the network, each once, in any order: otherwise XIR_E_INVALID.
 * A set that is not convex is XIR_E_INVALID too, with a finding that names the ops of a shortest path out of the set
 * and back. XIR_E_MEMORY. Linear in the ops and uses of the network. */
XIR_API xir_status xir_region_check(const xir_network *net, xir_op *const *ops, size_t n, xir_diags *why);

/* The ops of such a path: the first and the last are in the set, the others outside. Writes up to `room`, returns their
 * number; 0 if the set is convex, if it is not a set of placed ops of the network, or if memory runs out. */
XIR_API size_t xir_region_path(const xir_network *net, xir_op *const *ops, size_t n, xir_op **out, size_t room);

/* ---- groups -------------------------------------------------------------------------------------------------- */

/* A partition of ops into convex groups. It lives until it is freed, and does not notice edits of the network. */
typedef struct xir_groups xir_groups;

/* Gathers the ops of each kind into groups, greedily along data edges. `kind` is asked about each op once, in execution
 * order; a negative kind keeps the op out of all groups. Sources and sinks (the traits XIR_TRAIT_SOURCE and
 * XIR_TRAIT_SINK: Input, Output, and others like them) are in no group, and `kind` is not asked about them. Each other
 * op is in exactly one group. All ops of a group have one kind and are connected through data; each group is
 * convex, and no path leads from a group through other groups back to it: so all groups can be outlined, in any order,
 * unless an op uses what a sub op of another one makes. A group may be one op. Of groups that can be joined, those are
 * joined first between which values take the most bytes. Groups are large, but not always as large as possible, which
 * no linear method finds.
 *
 * Linear in ops and uses. NULL with a finding: XIR_E_INVALID if an op is used before it is made (also in a cycle),
 * XIR_E_MISSING if an argument is NULL, XIR_E_MEMORY. */
XIR_API xir_groups *xir_groups_new(const xir_network *net, int (*kind)(const xir_op *op, void *user), void *user,
                                   xir_diags *why);
XIR_API void        xir_groups_free(xir_groups *groups);   /* accepts NULL */

/* The number of groups; the ops of one, in execution order, an empty list past the last group; and the number of the
 * group that has an op, -1 if none has. Groups are in the order of their first ops. */
XIR_API size_t      xir_groups_count(const xir_groups *groups);
XIR_API xir_ops     xir_groups_at(const xir_groups *groups, size_t i);
XIR_API int64_t     xir_groups_of(const xir_groups *groups, const xir_op *op);

/* ---- outline and inline -------------------------------------------------------------------------------------- */

typedef struct xir_outline_options {
    uint32_t          size;     /* XIR_INIT(xir_outline_options) */
    xir_str           name;     /* of the call; empty: none */
    const xir_target *target;   /* of the call; NULL: that of all its ops if they have one, otherwise the host */
} xir_outline_options;

/* Moves a convex set of ops into the body of one new op of the class xir::Call and returns it. `options` may be NULL.
 *   - The inputs of the call are the values that enter the region, in the order of their first use, each once; Params
 *     stay inputs of the ops that use them. Its outputs are the values that ops outside use, in execution order.
 *   - The body is closed: an Input whose outputs stand for the inputs of the call, the ops of the region in their
 *     order, and an Output for the outputs of the call. The attributes `takes` and `gives` have the names of the ports,
 *     unique and not empty: those of the values, with a number if that is needed.
 *   - The call stands where the last op of the region stood. Ops between the first and the last that depend on the
 *     region move to follow it. The attribute `places` notes what xir_op_inline needs to restore the order.
 *
 * For a recorder (provenance.h) the call stands for the ops of the region, and its outputs for their values, until they
 * come back.
 *
 * Returns NULL with a finding in the network, which is otherwise unchanged: XIR_E_INVALID for what xir_region_check
 * refuses, for an empty set, for a set with an Input or Output op, for an op that is used before it is made, and if an
 * op of the order uses what a sub op of the region makes; XIR_E_LIMIT for sub ops that are nested deeper than max_depth
 * of xir_limits; XIR_E_MEMORY. Linear in the ops from the first to the last of the region and their uses; so in a
 * network that is not sorted, a path through ops before or after these is not seen. */
XIR_API xir_op *xir_outline(xir_network *net, xir_op *const *ops, size_t n, const xir_outline_options *options);

/* Instead of a call, makes a network of its own of a convex set of ops and leaves this network unchanged: what
 * xir_view_to_network makes of a view of these ops. NULL as above. */
XIR_API xir_network *xir_outline_network(xir_network *net, xir_op *const *ops, size_t n);

/* Puts the ops of a call's body in its place and erases the call: the exact inverse of xir_outline. Ops return to the
 * neighbours that `places` names, where these still exist and the order of data allows it; otherwise they stand where
 * the call stood. If the inputs of the call have other types than the body was made for, the types of its ops are
 * inferred again. XIR_E_TYPE for an op of another class; XIR_E_INVALID for an op that is not placed, or whose
 * body is not what the class demands; what inference refuses; XIR_E_MEMORY. Then nothing changes. */
XIR_API xir_status xir_op_inline(xir_op *call);

/* ---- extract ------------------------------------------------------------------------------------------------- */

/* Returns a network of its own that computes the `end` values from the `begin` values: the ops that the end values
 * need, back to the begin values, and the Params that these ops use, with shared bytes. Ids, names, tags and the fields
 * of the network are kept.
 *   - Its inputs are the begin values, in this order, then the inputs of the network that are also needed. Its outputs
 *     are the end values, in this order.
 *   - Without begin values, it begins at the inputs of the network. Without end values, it ends at all outputs of the
 *     network that depend on a begin value; without both, at all of its outputs. An output that the network has several
 *     times counts once, in its first place, and Params among the outputs are left out.
 *   - Begin and end values are made by placed ops of the network. A value may be both: it is passed through. If the op
 *     that makes a begin value is needed for something else, its output is kept as a value that nothing uses, with a
 *     new id.
 *
 * NULL with a finding: XIR_E_INVALID for Params, values of another network, of erased ops or of sub ops, a value that
 * is given twice in one list, a begin value that no end value needs, and an output of the network that no placed op
 * makes, if the part were to end there; XIR_E_MISSING for a NULL; XIR_E_MEMORY. */
XIR_API xir_network *xir_extract(const xir_network *net, xir_value *const *begin, size_t n_begin,
                                 xir_value *const *end, size_t n_end, xir_diags *why);

XIR_END

#endif
