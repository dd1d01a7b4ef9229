/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Shared by the families of `legalize`. A rewrite makes ops before an op that compute its outputs; the driver keeps
 * them only if the target runs all of them, or what further rewrites make of them. */
#ifndef PASSES_LEGALIZE_H
#define PASSES_LEGALIZE_H

#include <xir/ops.h>
#include <xir/sugar.h>
#include "support/upkeep.h"

typedef struct legalizer {
    xir_pass         *at;
    xir_network      *net;
    const xir_target *target;
} legalizer;

/* Makes ops before `op` and puts what stands for output i into out[i], with the type of that output. False if it does
 * not apply: what it has made by then is removed. A building call that fails runs out of memory: whether it would be
 * refused is asked before. */
typedef bool rewrite_fn(const legalizer *l, xir_op *op, xir_value **out);

typedef struct rewrite {
    xir_class_fn *cls;
    rewrite_fn   *run;
    bool          moves;     /* it only moves elements, of any type; others take floats without tiles */
} rewrite;

/* Each list ends with a rewrite without a class. */
extern const rewrite legalize_windows[], legalize_pairs[], legalize_axes[], legalize_moves[];

enum { MOST_DIMS = 16 };

/* Cursors before an op, for its target: for a step on the way, and for the op that gets its name. */
static inline xir_at step_at(const legalizer *l, xir_op *op) {
    return (xir_at){ .net = l->net, .before = op, .target = op_target(op) };
}
static inline xir_at last_at(const legalizer *l, xir_op *op) {
    return (xir_at){ .net = l->net, .before = op, .target = op_target(op), .name = xir_op_name(op) };
}

/* The dims of a value; NULL unless all are known, and at most MOST_DIMS. */
const xir_i64s *known_dims(const xir_value *v);
/* A copy of an op with other inputs and some other attributes. */
xir_value *rebuild(const legalizer *l, xir_op *op, xir_value *const *inputs, size_t n, const xir_named_attr *set,
                   size_t n_set);
/* A part of a value, with the steps of the dims all 1. */
xir_value *slice_of(const legalizer *l, xir_op *op, xir_value *v, const int64_t *begin, const int64_t *end,
                    size_t rank);
/* A Reshape to dims; NULL: the default layout. */
xir_value *reshape_to(xir_at at, xir_value *v, const int64_t *dims, size_t rank, const xir_layout *layout);
/* A Reshape that gives a value the dims and the layout of an output of the op. */
xir_value *reshape_like(const legalizer *l, xir_op *op, xir_value *v, size_t output);

/* Constants: a part of one; one that is repeated along dims of 1 until it has these dims; and one with other dims,
 * which shares its bytes. The first two are NULL if there are no bytes, or elements do not have whole ones. */
xir_value *params_part(xir_network *net, const xir_value *v, const int64_t *begin, const int64_t *dims, size_t rank);
xir_value *params_repeated(xir_network *net, const xir_value *v, const int64_t *dims, size_t rank);
xir_value *params_shaped(xir_network *net, const xir_value *v, const int64_t *dims, size_t rank);

static inline xir_named_attr named_i64(const char *name, int64_t v) {
    return (xir_named_attr){ xir_str_of(name), { .kind = XIR_KIND_I64, .as.i64 = v } };
}

#endif
