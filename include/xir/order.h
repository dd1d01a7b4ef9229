/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Questions about what comes before what: in the execution order, on the longest paths (levels), and on every path
 * (dominators). An op depends on the ops that make its inputs and the inputs of its sub ops. What a sub op makes counts
 * as made by the op of the execution order that it is part of. Params, absent inputs and values that no op makes depend
 * on nothing. */
#ifndef XIR_ORDER_H
#define XIR_ORDER_H

#include <xir/network.h>

XIR_BEGIN

/* Returns true if a value exists before an op runs: it is Params, or an op of the same network makes it that comes
 * before `op` in the execution order. Of sub ops, the op of the execution order counts that they are part of. False for
 * a value that no op makes, for values and ops that are not placed or of two networks, and for NULL. Constant time, but
 * for the depth of sub ops. */
XIR_API bool xir_value_precedes(const xir_value *value, const xir_op *op);

/* ---- levels ------------------------------------------------------------------------------------------------------ */

/* The level of an op is the number of ops on the longest path to it: 0 if it depends on none, otherwise one more than
 * the highest level among those it depends on. Ops of one level do not depend on each other. The execution order need
 * not be sorted. */
typedef struct xir_levels xir_levels;

/* Computes the levels of all ops of the execution order, in time linear in ops and inputs. The network is only read and
 * must outlive the result, which does not follow later changes. Several threads may ask one result. NULL with a
 * finding: XIR_E_INVALID for a cycle, with the place of one of its ops; XIR_E_MISSING if `net` is NULL; XIR_E_MEMORY.
 * xir_levels_free accepts NULL. */
XIR_API xir_levels *xir_levels_new(const xir_network *net, xir_diags *why);
XIR_API void        xir_levels_free(xir_levels *l);

/* The number of levels. The level of an op of the execution order, -1 for any other op. */
XIR_API size_t  xir_levels_count(const xir_levels *l);
XIR_API int64_t xir_levels_of(const xir_levels *l, const xir_op *op);
/* Writes up to `room` of the ops of a level, in execution order, and returns their number; 0 past the last level. */
XIR_API size_t  xir_levels_ops(const xir_levels *l, size_t level, const xir_op **out, size_t room);

/* ---- dominators -------------------------------------------------------------------------------------------------- */

/* An op a dominates an op b if every path to b, from the ops that depend on nothing, goes through a. So everything that
 * b is computed from passes a, except Params. Every op dominates itself. */
typedef struct xir_dominance xir_dominance;

/* Computes the dominators of all ops of the execution order, which need not be sorted. Nearly linear: an op costs the
 * logarithm of the network's depth for each input. Otherwise as xir_levels_new. xir_dominance_free accepts NULL. */
XIR_API xir_dominance *xir_dominance_new(const xir_network *net, xir_diags *why);
XIR_API void           xir_dominance_free(xir_dominance *d);

/* Returns true if a dominates b, in constant time. False for ops that were not in the execution order. */
XIR_API bool          xir_dominates(const xir_dominance *d, const xir_op *a, const xir_op *b);
/* The nearest other op that dominates an op; NULL if there is none. */
XIR_API const xir_op *xir_dominator(const xir_dominance *d, const xir_op *op);
/* The nearest op that dominates both; NULL if there is none. Linear in the depth of the dominators. */
XIR_API const xir_op *xir_common_dominator(const xir_dominance *d, const xir_op *a, const xir_op *b);

XIR_END

#endif
