/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Answers whether a target runs ops, before anything is changed: for the partition of a network, for a check, or to
 * choose a rewrite. Nothing changes by asking, not even the network's status. Several threads may ask about one
 * network. */
#ifndef XIR_LEGAL_H
#define XIR_LEGAL_H

#include <xir/place.h>

XIR_BEGIN

/* Returns XIR_OK if the op would be legal on the target (NULL: the host): its checks and inference accept the op as it
 * is, and no rule of its row (xir_target_rule) is broken. Types that do not follow from the inputs there, such as
 * quantised ones, are taken as the op has them. Rules about element types are asked if the op has a quantised input or
 * output. Of a call the rules are asked about the ops in its body. Otherwise `why` gets what inference says, or a
 * finding for each broken rule, with its parts (xir_diag_rule) and what would mend it; rules that are notes add notes
 * also if the op is legal. XIR_E_UNSUPPORTED for rules and for classes that the target does not run; what inference and
 * checks return; XIR_E_UNKNOWN for an op of an unknown class or a dialect; XIR_E_INVALID for an erased op;
 * XIR_E_MEMORY. */
XIR_API xir_status xir_op_try(const xir_op *op, const xir_target *target, xir_diags *why);

typedef struct xir_try_options {
    uint32_t size;         /* XIR_INIT(xir_try_options) */
    bool     typed;        /* rules about element types are asked of networks without quantised types, too           */
    bool     all;          /* every op is asked about; otherwise, if ops have the target (its kind), only these      */
    /* Returns true for an op that is asked about; NULL: about each. Called in execution order, also for ops that are
     * left out. */
    bool   (*asks)(void *user, const xir_op *op);
    /* Gets the answer on each op that was asked about; NULL: nobody needs it. */
    void   (*answer)(void *user, const xir_op *op, xir_status status);
    void    *user;
} xir_try_options;

/* The numbers of placed ops that a target runs. Input and Output are in none of the figures. */
typedef struct xir_tried {
    uint32_t size;         /* XIR_INIT(xir_tried) */
    size_t   legal;        /* it runs them                                                                           */
    size_t   refused;      /* it does not: each has a finding                                                        */
    size_t   borders;      /* it does not, but they are Casts of an input, or only for an output: the host's part     */
    size_t   elsewhere;    /* they have another target, while others have this one: they were not asked about         */
} xir_tried;

/* Asks about all ops of a network what xir_op_try asks about one, with the place of each finding,
 * "/ops/17/stride_width" or "/ops/17/body/3/inputs/1". Rules about element types are asked if a value of the network is
 * quantised. The network is valid: what the target infers by the rule of the host, from types without tiles, is not
 * inferred again. `options` and `out` may be NULL. Linear in the network; ops with equal attributes and types are asked
 * about once. Returns the status of the first op that the target does not run; XIR_E_MISSING without a network or
 * target, XIR_E_MEMORY, XIR_E_ABI, XIR_E_UNSUPPORTED for options of a later version. */
XIR_API xir_status xir_network_try(const xir_network *net, const xir_target *target, const xir_try_options *options,
                                   xir_tried *out, xir_diags *why);

XIR_END

#endif
