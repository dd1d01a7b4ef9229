/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The walk over a network, in both directions: the order of its nodes, their turns, what replaces them, and what stays.
 * Checking a foreign network is the same walk over a copy: what a hook or XIR's inference rejects becomes a finding
 * about the node. */
#ifndef CONVERT_WALK_H
#define CONVERT_WALK_H

#include "rows/row.h"

/* to_xir.c */
extern const xir_pass_decl pass_to_xir;

void       conversion_begin(conversion *c, xir_network *net, xir_diags *why);
/* Runs the walk. Errors are in c->why; returns the status of the first one. */
xir_status conversion_run(conversion *c);
void       conversion_end(conversion *c);
/* After the walk, if hooks have made quantised values: ops that can take them get them instead of the real numbers or
 * integers that they stand for (quantised.c). */
xir_status conversion_take_quantised(conversion *c);

/* defaults.c: notes which inputs have a default, before the walk; false on out of memory. After it, says which of them
 * have become constants. XIR_E_MEMORY. */
bool       defaults_begin(conversion *c);
xir_status defaults_end(conversion *c);

/* quantised.c: the constant of this name that an op of one output computes from constants. NULL: it is not computed, or
 * memory is out, which c->no_memory says. */
xir_value *conversion_run_constant(conversion *c, const xir_op *op, xir_str name);

/* check_values.c: values without a producer, and duplicate names; order.c: cycles, and a sorted order if there is
 * one. */
xir_status conversion_check_values(conversion *c, bool sorted);
xir_status conversion_order(conversion *c, bool *sorted);   /* *sorted: whether the file was */

/* stayed.c: notes that a node stays; false: out of memory. Then the report: the causes, and how many nodes stay. */
bool       stayed_add(conversion *c, const xir_node *at);
xir_status stayed_report(conversion *c);
/* The nodes noted since there were `from` have been removed. */
void       stayed_forget(conversion *c, size_t from);

/* through.c: looks at an op of XIR's own on the walk. False: out of memory. */
bool conversion_look_through(conversion *c, xir_op *op);

/* Returns true if anything uses an output of an op. */
static inline bool op_is_used(const xir_op *op) {
    for (size_t i = 0; i < xir_op_output_count(op); i++) if (xir_value_uses(xir_op_output(op, (int64_t)i))) return true;
    return false;
}

/* replace.c: whether every used output has a replacement; otherwise the node stays. */
bool node_all_given(xir_node *at);
/* Gives the letters of an output, where XIR's ops ask for them, to its replacement. False after a failure. */
bool node_give_letters(xir_node *at);
/* The replacements take the places of the outputs, and the node is erased. False after a failure. */
bool node_put_in_place(xir_node *at);

/* back.c. Makes the lists of a conversion to c->back.to, and frees them. */
bool       back_begin(conversion *c);
void       back_end(conversion *c);
/* Converts an op of XIR, or leaves it. */
xir_status back_run(conversion *c, xir_op *op);
/* Runs after all nodes. */
xir_status back_finish(conversion *c);

/* to_dialect.c. Returns true if the network has an op of XIR besides its Input and Output. */
bool       convert_has_ops_of_xir(const xir_network *net);
/* For formats whose dims are numbers: XIR_E_INVALID, with the first input that has open dims and this reason. */
xir_status convert_need_static(xir_pass *pass, const char *because);

#endif
