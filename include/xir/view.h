/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A view is a read-only selection of a network's ops, in execution order, together with the inputs and outputs of that
 * part. It keeps its network alive. An edit of the network makes the view stale: all queries then fail with
 * XIR_E_STALE, until xir_view_renew. xir_view_rewrite (pattern.h) and xir_pipeline_run_view (pass.h) change what lies
 * in a view and renew it. Several threads may ask a view; it is renewed by one, while no other uses it. */
#ifndef XIR_VIEW_H
#define XIR_VIEW_H

#include <xir/network.h>

XIR_BEGIN

typedef struct xir_view xir_view;

/* Make views: of these ops (each once, in any order); of these ids; of the ops that a function picks. They return NULL
 * with a finding in the network if an id or op is unknown. Free with xir_view_free, which accepts NULL. */
XIR_API xir_view *xir_view_ops(xir_network *net, xir_op *const *ops, size_t n);
XIR_API xir_view *xir_view_ids(xir_network *net, const int64_t *op_ids, size_t n);
XIR_API xir_view *xir_view_if(xir_network *net, bool (*pick)(const xir_op *op, void *user), void *user);
XIR_API void      xir_view_free(xir_view *view);

/* Returns true if the network has been edited since the view was made. */
XIR_API bool xir_view_is_stale(const xir_view *view);

/* Makes a view that is stale valid again, after any edits: it has those of its ops that are still in the network's
 * order, in their present order. Ops that have been made since do not join it. An order of outputs that the caller has
 * set is forgotten. Linear in the view if the ops have not been reordered. XIR_E_MEMORY: the view stays stale;
 * XIR_E_IN_USE while xir_view_rewrite or xir_pipeline_run_view runs on it. */
XIR_API xir_status xir_view_renew(xir_view *view);

/* The same queries as for a network. If the view is stale, counts are 0 and pointers NULL. */
XIR_API size_t  xir_view_op_count(const xir_view *view);
XIR_API xir_op *xir_view_op_at(const xir_view *view, int64_t i);
XIR_API int64_t xir_view_index_of(const xir_view *view, const xir_op *op);
XIR_API bool    xir_view_has(const xir_view *view, const xir_op *op);
/* Iteration in execution order: the first op, and the op of the view after one of its ops; NULL at the end and for any
 * other op. Constant time if the two are neighbours in the network, otherwise logarithmic in
 * the view.
 *
 *     for (xir_op *op = xir_view_first(view); op; op = xir_view_next(view, op)) … */
XIR_API xir_op *xir_view_first(const xir_view *view);
XIR_API xir_op *xir_view_next(const xir_view *view, const xir_op *op);
/* The values of a view are those that its ops make, its inputs and its Params. Finds one by id, or the first op of the
 * view with a name, even if an op before it outside of the view has the name too. The cost is that of the same question
 * to the network. */
XIR_API bool       xir_view_has_value(const xir_view *view, const xir_value *value);
XIR_API xir_value *xir_view_value_by_id(const xir_view *view, int64_t v_id);
XIR_API xir_op    *xir_view_op_by_name(const xir_view *view, xir_str name);
/* The inputs are values made outside, or by an Input op inside, in the order of their first use. The outputs are values
 * used outside, by an Output op inside, or nowhere; in execution order, or in the network's own order if they are its
 * outputs. Each value appears once. Params are not inputs. */
XIR_API size_t  xir_view_inputs(const xir_view *view, xir_value **out, size_t room);
XIR_API size_t  xir_view_outputs(const xir_view *view, xir_value **out, size_t room);
XIR_API size_t  xir_view_params(const xir_view *view, xir_value **out, size_t room);

/* Makes a standalone network of the view's ops, with Input and Output ops added if missing. Existing ones are kept and
 * also get the values that enter the view or are used outside. Ids are kept, parameter bytes shared. Linear in the
 * network. Returns NULL with a finding in the network: XIR_E_STALE, XIR_E_MEMORY, or XIR_E_INVALID if the view is not
 * convex. In such a view a path leads from one of its ops through ops outside back to another, so its inputs would
 * depend on its outputs. */
XIR_API xir_network *xir_view_to_network(const xir_view *view);

XIR_END

#endif
