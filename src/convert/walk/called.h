/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Functions that become calls (option `functions` of to-xir): a node is converted as its function's nodes, and what
 * these have become is moved into the body of an xir::Call at the end. Until then only the ops are noted, since ops
 * outside may still use what some of them make. */
#ifndef CONVERT_CALLED_H
#define CONVERT_CALLED_H

#include "node/node.h"

/* Notes the ops that were made for an open node: those of the call that it becomes, which gets these tags. `tags` and
 * their texts are copied. False: out of memory. */
bool       called_note(xir_node *at, const xir_entry *tags, size_t n);
/* After the walk: moves the ops of each call into its body, inner calls first. XIR_E_MEMORY. */
xir_status called_outline(conversion *c);
void       called_end(conversion *c);

#endif
