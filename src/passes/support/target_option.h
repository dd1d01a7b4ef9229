/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The option `target` of a pass: "buyi", "zhuge:330", or a key. */
#ifndef PASSES_TARGET_OPTION_H
#define PASSES_TARGET_OPTION_H

#include "manager/pass.h"

#define TARGET_OPTION { "target", XIR_PASS_TEXT, "", "the target, \"buyi\" or \"zhuge:330\"; if not given, that of the network" }

/* The target that the option names (xir_target_parse), or that of the network. XIR_E_UNKNOWN, XIR_E_MISSING. */
xir_status pass_target(xir_pass *at, const xir_target **out);

#endif
