/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A factor and an addend on their way into constants. A value is factor * x + addend, and from now on it will be x.
 * Whatever uses it is followed: an op that is linear passes factor and addend on to its outputs, and an op with
 * constants takes them up there. First all is planned; only if every way ends in constants anything is changed. */
#ifndef PASSES_ABSORB_H
#define PASSES_ABSORB_H

#include <xir/ops.h>
#include <xir/pattern.h>
#include "support/linear.h"

/* Limits of one plan: values and their uses, inputs of a Concat, lines of all values together. */
enum { ABSORB_STEPS = 64, ABSORB_INPUTS = 256, ABSORB_LINES = 65536 };

/* A value that was line(x) and will be x. The lines lie along a dim; -1: one line for all elements. */
typedef struct carried {
    xir_value *value;
    int64_t    dim;
    size_t     n, at;     /* count of the lines, and position of the first among those of the plan */
} carried;

typedef enum change_kind {
    CHANGE_WEIGHTS,       /* of a `linear`, for the input                    */
    CHANGE_CONSTANT       /* operand `operand`: elements become e * p + q    */
} change_kind;

/* An op that takes a carried value up. */
typedef struct absorb_change {
    change_kind kind;
    xir_op     *op;
    uint32_t    operand;
    carried     from;     /* its lines are (factor, addend); of a constant (p, q) */
    linear      of;       /* of weights: the op                                   */
} absorb_change;

typedef struct absorption {
    xir_network  *net;
    channel_line *lines;
    size_t        n_lines, room, n_uses, n, n_changes;
    carried       steps[ABSORB_STEPS];
    const label  *names[ABSORB_STEPS];    /* of the values of the steps, before absorb_take */
    absorb_change  changes[ABSORB_STEPS];
    operand_change operands[ABSORB_STEPS]; /* the new constants of each change               */
    uint64_t      before, after;       /* bytes of the constants that change */
    bool          no_memory;
} absorption;

/* Begins a plan for a value with n lines, which the caller fills in; NULL without memory. absorb_end frees what it
 * has. */
channel_line *absorb_begin(absorption *c, xir_value *value, int64_t dim, size_t n);
void          absorb_end(absorption *c);
/* A constant that will not be needed any more, if nothing else uses it. */
void          absorb_frees(absorption *c, const xir_value *constant);

/* Follows the value to the end of every way. Returns false if that is not possible, if nothing takes it up, if a
 * constant would lose precision, or if constants would grow too much; and without memory. */
bool absorb_plan(absorption *c);

/* Makes the new constants of a plan; no op has changed. */
xir_status absorb_make(absorption *c);
/* Gives them to the ops; if that fails, no op has changed. The caller then lets x stand for the value. If it cannot,
 * absorb_give_back undoes what absorb_take did; otherwise absorb_done lets the rewriter and the record of provenance
 * know. Both never fail. */
xir_status absorb_take(absorption *c);
void       absorb_give_back(const absorption *c);
void       absorb_done(const absorption *c, xir_rewriter *at);

/* ---- for ops on the way ----------------------------------------------------------------------------------------- */

static inline channel_line *lines_of(const absorption *c, const carried *v) { return c->lines + v->at; }

/* New lines; the position of the first in *at. False without memory, or if there are too many. */
bool absorb_lines(absorption *c, size_t n, size_t *at);
/* The lines of a carried value go on along dim `dim` of another value. False if it does not fit them. */
bool absorb_on(absorption *c, const carried *in, xir_value *out, int64_t dim);
/* The same with lines of its own. */
bool absorb_new(absorption *c, xir_value *out, int64_t dim, size_t n, size_t at);
/* An operand takes the lines up, or the weights of an op that linear_of has read. */
bool absorb_change_constant(absorption *c, xir_op *op, uint32_t operand, carried from);
bool absorb_change_weights(absorption *c, const linear *l, carried from);

bool lines_add_nothing(const absorption *c, const carried *v);
bool lines_scale_nothing(const absorption *c, const carried *v);

/* Adds to the plan how an op treats a carried value that is its input `at`: it passes the value on, or takes it up.
 * Returns false if it does neither. */
bool absorb_through(absorption *c, const carried *in, xir_op *op, uint32_t at);

/* Returns false if absorb_plan would find nothing for a value, since an op that uses it is of a class that does
 * neither. Takes little. */
bool absorb_may(const xir_value *v);

#endif
