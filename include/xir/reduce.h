/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The smallest network that still shows a fault. A caller says of a network whether it is *interesting*: whether it
 * shows the fault. Starting from a network that is, smaller ones are tried, and the smallest that is interesting is
 * kept.
 *
 *     xir_reduce_options how = XIR_INIT(xir_reduce_options, .ask = crashes, .user = &my);
 *     xir_network *small = xir_reduce(net, &how, NULL, why);
 *
 * What is tried, in this order, and again while it helps:
 *   1. ends are cut: the network ends earlier, then begins later; by bisection
 *   2. runs of ops are removed, long ones first, single ops last: what they made becomes an input, or what they read
 *      takes its place; and outputs of the network are left out
 *   3. dims are halved, in all inputs and Params that have the number
 *   4. attributes get their defaults
 *   5. Params become zeros, or all elements the first one
 *   6. tags, undeclared attributes and names are dropped
 * In a network of a dialect the types follow from the conversion of a copy, and a smaller dim may be one in attributes
 * and lists, too. A default is an absent attribute, in formats that have these. Params that are a list or a single
 * number keep what they have, and so do the attributes and types of an op that no rule converts. Values without a type
 * get one.
 *
 * A network that is tried has no more errors (xir_network_validate) than the first one, and its types are inferred. In
 * a dialect, 3 and 4 do not add errors of xir_dialect_check either. The order depends on the networks and the answers
 * alone: the same answers give the same result. */
#ifndef XIR_REDUCE_H
#define XIR_REDUCE_H

#include <xir/network.h>

XIR_BEGIN

typedef enum xir_reduce_answer {
    XIR_REDUCE_NO,         /* the network does not show the fault                 */
    XIR_REDUCE_YES,
    XIR_REDUCE_UNKNOWN,    /* nobody can say: it counts as NO                     */
    XIR_REDUCE_STOP        /* ask no more: the result is the best network so far  */
} xir_reduce_answer;

typedef struct xir_reduce_options {
    uint32_t size;         /* XIR_INIT(xir_reduce_options) */
    /* Answers for `n` networks, at most `jobs`, which belong to the library. Required. Only the first YES counts, and a
     * STOP before it. */
    void   (*ask)(void *user, xir_network *const *candidates, size_t n, xir_reduce_answer *answers);
    /* Called with each network that is the best so far, after the first one, unless NULL. False stops the reduction. */
    bool   (*better)(void *user, xir_network *best);
    void    *user;
    size_t   jobs;         /* how many networks are asked about at once; 0: 1. The result does not depend on it */
    size_t   max_runs;     /* how many networks are asked about at most; 0: no limit                            */
    bool     parts;        /* only parts are tried, whose ops, values and names are those of the first network: 1, and
                              of 2 what makes inputs. For faults that a comparison with something else shows */
} xir_reduce_options;

typedef struct xir_reduce_state {
    uint32_t size;         /* XIR_INIT(xir_reduce_state)                                      */
    size_t   runs;         /* how many networks were asked about; those after the first YES of a call do not count */
    size_t   kept;         /* how many were better than the best before                       */
    bool     stopped;      /* by an answer, by `better` or by max_runs: smaller ones may exist */
} xir_reduce_state;

/* Returns the smallest network that was found, for the caller to free; `net` is not changed, and Params share its
 * bytes. Fills `state` unless it is NULL. NULL with a finding:
 *   XIR_E_MISSING   `net`, the options or `ask` is NULL
 *   XIR_E_INVALID   `net` itself is not interesting; or it has no ops
 *   XIR_E_CANCELLED the first answer is STOP
 *   XIR_E_ABI, XIR_E_UNSUPPORTED, XIR_E_MEMORY */
XIR_API xir_network *xir_reduce(const xir_network *net, const xir_reduce_options *options, xir_reduce_state *state,
                                xir_diags *why);

XIR_END

#endif
