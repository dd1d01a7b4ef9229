/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* An RNN, LSTM or GRU of XIR as most formats and libraries know them: the usual activations, without lengths, peepholes
 * and other extras. Other variants are refused. */
#ifndef CONVERT_RECURRENT_H
#define CONVERT_RECURRENT_H

#include "node/helpers.h"

enum { RECURRENT_X, RECURRENT_W, RECURRENT_R, RECURRENT_B, RECURRENT_LENGTHS, RECURRENT_H, RECURRENT_C,
       RECURRENT_PEEPHOLES };

/* The three classes; a row's variant is one of them. */
typedef enum recurrent_word { RECURRENT_RNN, RECURRENT_GRU, RECURRENT_LSTM } recurrent_word;
typedef struct recurrent_kind {
    const char *cls;
    size_t      states;             /* h, and c of LSTM                                                 */
    int64_t     gates, order[4];    /* of XIR's gates i o f g, z r n, the places in i f g o, r z n      */
} recurrent_kind;
extern const recurrent_kind recurrent_kinds[];

typedef struct recurrent {
    size_t  states;
    int64_t gates, order[4];
    int64_t steps, batch, features, hidden, directions;   /* known and positive                         */
    bool    relu;                   /* of RNN: instead of tanh                                          */
    bool    backward, batch_first;  /* backward: only that                                              */
} recurrent;

/* ---- to XIR's op ------------------------------------------------------------------------------------------------ */

/* The op of a kind on its inputs, which have the steps first; relu: of RNN, instead of tanh. NULL after a failure. */
xir_op *op_of_recurrent(xir_node *at, const recurrent_kind *kind, int64_t hidden, size_t directions, bool relu,
                        xir_values in);
/* Y, [steps, directions, batch, hidden], as [steps, batch, directions * hidden]. */
xir_value *recurrent_joined(xir_node *at, xir_value *y);

/* ---- from XIR's op ---------------------------------------------------------------------------------------------- */

/* Reads the form of the node's op, all but the dims of X; and the dims, too. False after the node has been refused. */
bool recurrent_read_form(xir_node *at, recurrent *c);
bool recurrent_read(xir_node *at, recurrent *c);
/* The elements of a constant input, which has `n`; NULL after a failure. */
const double *recurrent_numbers(xir_node *at, size_t input, int64_t n);
/* X with the batch second; an absent state, or one with its batch second, [directions, batch, hidden]. */
xir_value *recurrent_input(xir_node *at, const recurrent *c);
xir_value *recurrent_state(xir_node *at, const recurrent *c, size_t input);
/* Gives Y of [steps, directions, batch, hidden], and a state of [directions, batch, hidden], to the node. */
bool recurrent_give(xir_node *at, const recurrent *c, xir_value *y, xir_value *const states[2]);

#endif
