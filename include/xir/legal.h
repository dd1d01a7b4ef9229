/* Whether a target runs an op, before anything is changed: for the partition of a network, or to choose a rewrite. */
#ifndef XIR_LEGAL_H
#define XIR_LEGAL_H

#include <xir/place.h>

XIR_BEGIN

/* Returns XIR_OK if the op would be legal on the target (NULL: the host): its checks and inference accept the op as it
 * is, and no rule of its row (xir_target_rule) is broken. Types that do not follow from the inputs there, such as
 * quantised ones, are taken as the op has them. Otherwise `why` gets what inference says, or a finding for each broken
 * rule with what would mend it. XIR_E_UNSUPPORTED for rules and for classes that the target does not run; what
 * inference and checks return; XIR_E_UNKNOWN for an op of an unknown class or a dialect; XIR_E_INVALID for an erased
 * op; XIR_E_MEMORY.
 *
 * Nothing changes, not even the network's status. Several threads may ask about one network. */
XIR_API xir_status xir_op_try(const xir_op *op, const xir_target *target, xir_diags *why);

XIR_END

#endif
