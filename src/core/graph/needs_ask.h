/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Asks an op which parts of its inputs many parts of its output need: what no question changes is found once. */
#ifndef CORE_NEEDS_ASK_H
#define CORE_NEEDS_ASK_H

#include "graph.h"

/* It stays where it was opened. */
typedef struct needs_asker {
    xir_infer   at;
    object_pool pool;
    xir_box    *inputs;         /* whole                            */
    bool        asks;           /* the class has a NEEDS function   */
} needs_asker;

/* `inputs`: room for a box of each input. On failure there is nothing to close. */
xir_status needs_asker_open(needs_asker *a, const xir_op *op, xir_box *inputs, xir_diags *why);
void       needs_asker_close(needs_asker *a);
/* As op_needs. */
xir_status needs_asker_ask(needs_asker *a, infer_needs_seen *seen, xir_diags *why);

#endif
