/* What a target runs, by the rules of its row. */
#ifndef CORE_LEGAL_H
#define CORE_LEGAL_H

#include "graph.h"

/* Whether the target has rules. */
static inline bool has_rules(const xir_target *target) {
    return target && xir_target_row_of(target)->n_rules;
}
/* Whether ops of the class run a body: then the rules are asked about the ops in it instead. */
static inline bool is_call(const xir_class *cls) { return xir_str_equal(cls->key, XIR_STR("xir::Call")); }
/* XIR_E_UNSUPPORTED, with a finding for each rule that the op breaks, if the target does not run it. The question has
 * the types of the outputs. */
xir_status rules_check(xir_infer *at);

#endif
