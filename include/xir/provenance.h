/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Provenance: which ops of a network its ops stand for after conversions, passes and rewrites. A recorder is made for
 * a network before it is changed. From then on the library notes by slot what is made from what: where a conversion
 * makes ops for a node, where rules put ops in the place of a match, where one value replaces another. A network
 * without a recorder pays a test of a pointer in each of these places, and nothing when ops are made.
 *
 *     xir_provenance *p = xir_provenance_new(net, why);
 *     xir_status status = xir_pipeline_run(pipeline, net, NULL, NULL, why);
 *     if (!status) status = xir_provenance_of_op(p, op, ids, room, &n);
 *     xir_provenance_free(p);
 *
 * What an op stands for:
 *   - an op that stays is the same op, whatever becomes of its attributes, inputs and types;
 *   - ops and Params that a conversion makes for a node stand for the node;
 *   - what a rewriting makes stands for the ops of the match that it replaces, and of those for the ones that depend on
 *     what it reads and lead to what it makes;
 *   - an op whose output takes the place of another value also stands for the op that made that value: so does the
 *     first of several equal ops, and what a removed identity read;
 *   - Params that a computed op leaves stand for the op, and for what its constant operands stood for;
 *   - a copy stands for what its original stands for;
 *   - any other op that a pass inserts, a Transpose or a Cast, stands for the ops that it serves: those that use it,
 *     or, if only an Output does, the one that it reads.
 * So every source of an op lies on a path between the values that the op's inputs and outputs stand for. A path
 * begins with the op that makes its first value, and where it meets a value that was found to be equal to another
 * one, it may go on at that. For an op that reads constants alone, only the end of the path counts. If a value in
 * between, which stands for none, and one that stands for some became one value, a path may go on at it: up to what
 * earlier ops stand for, and down to what later ones do. A path to a value whose elements a rule has changed, and that
 * nothing uses, has no end: only its beginning counts. */
#ifndef XIR_PROVENANCE_H
#define XIR_PROVENANCE_H

#include <xir/network.h>

XIR_BEGIN

typedef struct xir_provenance xir_provenance;

/* Attach a recorder to a network. The first makes each op of it a source (sub ops too), and each value; an op that is
 * not placed is not a source. The second goes on from the tags of the network (see below): its ops stand for what
 * their tags say, and an op without a tag for nothing; a tag that is malformed counts as missing, and is a warning
 * with its place. The recorder keeps the network alive. Records are made by the thread that changes the network;
 * questions may be asked by any number of threads while none does. Linear.
 *
 * NULL with a finding: XIR_E_IN_USE if the network has a recorder, XIR_E_MISSING for NULL, XIR_E_LIMIT,
 * XIR_E_MEMORY. */
XIR_API xir_provenance *xir_provenance_new(xir_network *net, xir_diags *why);
XIR_API xir_provenance *xir_provenance_from_tags(xir_network *net, xir_diags *why);
/* Detaches the recorder: nothing is noted any more. Accepts NULL. */
XIR_API void            xir_provenance_free(xir_provenance *p);
/* The recorder of a network; NULL if it has none. A clone of a network has none, and neither has the copy that
 * xir_pipeline_run_copy makes. */
XIR_API xir_provenance *xir_provenance_of(const xir_network *net);
/* Attaches a recorder to a copy of the network that xir_network_clone has made since the network was last changed: its
 * ops and values stand for the same sources. Statuses as for xir_provenance_new; XIR_E_INVALID if the two networks do
 * not have the same ops in the same order. */
XIR_API xir_provenance *xir_provenance_clone(const xir_provenance *p, xir_network *copy, xir_diags *why);

/* The network that the recorder is attached to; NULL for NULL. */
XIR_API xir_network *xir_provenance_network(const xir_provenance *p);
/* XIR_OK; or why something could not be noted: XIR_E_MEMORY, XIR_E_LIMIT (more than 2^31 notes). This remains, and
 * all questions below then return it: an answer is complete or it is an error. A pipeline fails with it after the
 * pass. */
XIR_API xir_status   xir_provenance_status(const xir_provenance *p);

/* ---- steps ----------------------------------------------------------------------------------------------------- */

/* Begins a new step of this name (copied), to which all later changes belong. A pipeline begins one before every pass.
 * It ends the step before: ops that were inserted without saying what for get their sources now. A program that
 * changes the network itself calls it before and after. Returns the status of the recorder. */
XIR_API xir_status xir_provenance_step(xir_provenance *p, xir_str name);
/* The number of steps so far, and their names: step 0 is the network that the recorder was attached to. Empty past the
 * end. */
XIR_API size_t     xir_provenance_step_count(const xir_provenance *p);
XIR_API xir_str    xir_provenance_step_name(const xir_provenance *p, size_t step);

/* ---- questions ------------------------------------------------------------------------------------------------- */

/* An op of the network as it was when the recorder was attached. After xir_provenance_from_tags only the id is
 * known. */
typedef struct xir_provenance_source {
    int64_t          id;
    xir_str          name;      /* lives as long as the recorder                                            */
    const xir_class *cls;       /* NULL: unknown                                                            */
} xir_provenance_source;

/* The sources, sub ops after their op, otherwise in the order that they had; by id after
 * xir_provenance_from_tags. NULL past the end. */
XIR_API size_t                       xir_provenance_source_count(const xir_provenance *p);
XIR_API const xir_provenance_source *xir_provenance_source_at(const xir_provenance *p, size_t i);

/* The questions below write up to `room` items, and set *n to how many there are, which may be more. They return the
 * status of the recorder; XIR_E_INVALID for something of another network, XIR_E_MISSING for NULL, XIR_E_MEMORY. On
 * failure *n is 0. Erased ops may be asked about. */

/* The ids of the sources that an op stands for, ascending. None: nothing is known, such as for an op that was made
 * outside of passes and since the last step began. */
XIR_API xir_status xir_provenance_of_op(const xir_provenance *p, const xir_op *op, int64_t *ids, size_t room,
                                        size_t *n);
/* The same for a value: the sources of the op that makes it; for Params, the sources that they were computed from or
 * made for, none if they are the network's own. */
XIR_API xir_status xir_provenance_of_value(const xir_provenance *p, const xir_value *value, int64_t *ids, size_t room,
                                           size_t *n);
/* The ids of the values of the network as it was that a value stands for, because it is still there or has taken their
 * place, perhaps in another order of axes; ascending. None: it is a value in between. */
XIR_API xir_status xir_provenance_values_of(const xir_provenance *p, const xir_value *value, int64_t *ids, size_t room,
                                            size_t *n);

/* The outcome of a source: the placed ops and their sub ops that stand for it now, in execution order, and the Params.
 * No ops and no Params: it was removed. Linear in the network and the notes. */
XIR_API xir_status xir_provenance_became(const xir_provenance *p, int64_t source, xir_op **ops, size_t room,
                                         size_t *n);
XIR_API xir_status xir_provenance_became_params(const xir_provenance *p, int64_t source, xir_value **params,
                                                size_t room, size_t *n);

/* The history of an op, step by step: for each step that made it or merged something into it or into what it was made
 * of, the last one first, the ops and Params that stood there before the step. */
typedef struct xir_provenance_item {
    size_t           step;      /* the items of one step follow each other                                  */
    bool             params;    /* Params; else an op                                                       */
    int64_t          id;        /* -1: an op that was never placed                                          */
    xir_str          name;      /* lives as long as the recorder                                            */
    const xir_class *cls;       /* NULL: Params, or unknown                                                 */
} xir_provenance_item;
XIR_API xir_status xir_provenance_history(const xir_provenance *p, const xir_op *op, xir_provenance_item *items,
                                          size_t room, size_t *n);

/* ---- tags ------------------------------------------------------------------------------------------------------ */

/* Tags that say the same in a file: a list of the ids of sources for each op and for Params, and of the values that a
 * value stands for. */
#define XIR_PROVENANCE_OPS    "source.ops"
#define XIR_PROVENANCE_VALUES "source.values"

/* Writes the tags of all placed ops, their sub ops, their outputs and the Params of the network, and removes older
 * ones. Returns the status of the recorder; XIR_E_MEMORY: then some have been written. */
XIR_API xir_status xir_provenance_write_tags(const xir_provenance *p);
/* Removes them. XIR_E_MEMORY. */
XIR_API xir_status xir_provenance_remove_tags(xir_network *net);
/* Returns true if some placed op of the network has such a tag. Linear. */
XIR_API bool       xir_provenance_has_tags(const xir_network *net);

XIR_END

#endif
