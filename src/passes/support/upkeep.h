/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Helpers shared by graph passes: which ops may be removed or merged, and how a value replaces another while the names
 * that users know are preserved. */
#ifndef PASSES_UPKEEP_H
#define PASSES_UPKEEP_H

#include "manager/pass.h"

/* Returns true if all that an op does is to compute its outputs from its inputs and attributes, with the same result
 * every time: then an unused op can be removed, two equal ones merged, and one of constants computed. Not pure are
 * Input and Output, ops with sub ops, ops whose class says so (XIR_TRAIT_IMPURE), and unknown ops. For a foreign op its
 * dialect decides. */
bool op_is_pure(const xir_op *op);

/* Gives `now` the name of `old`, if `old` has one, and its tags, if `now` has none. Both then share them: names and
 * tags are immutable. False: out of memory. */
bool value_take_name(xir_value *now, const xir_value *old);

/* Replaces `old` by `now`, which has the same type, in every use, and counts the uses that moved. A result of the
 * network keeps its name, because callers know it; but if `now` is an input of the network, a result itself, or
 * Params that are not `fresh`, it keeps its own name and `old` stays the result. For other values the better name is
 * kept: any name is better than none, and "y" is better than "y.Conv2d", a step towards it. On XIR_E_MEMORY some
 * uses may have moved. */
xir_status value_replace(xir_value *now, xir_value *old, bool fresh, size_t *moved);

/* Returns true if an output is an operand of a product whose other operand is Params: then Params cannot stand for it,
 * because a Matmul does not take two. */
bool is_product_operand(const xir_op *op);

/* Returns true if nothing uses an output of the op. */
bool op_is_unused(const xir_op *op);
/* Removes a placed op whose outputs are unused. Cannot fail, takes time linear in its inputs, allocates nothing. */
void op_drop(xir_op *op);

static inline bool is_same_type(const xir_type *a, const xir_type *b) { return a == b || xir_type_equal(a, b); }
/* Returns true if one value can stand for the other as far as types go: they have the same type and lie in the same
 * memory. */
bool same_kind(const xir_value *a, const xir_value *b);

/* Sets *same to true if inference would give the op its present types for these attributes and inputs. It is false if
 * inference refuses or has no answer; XIR_E_MEMORY is the only failure. */
xir_status infers_same(const xir_op *op, const void *attrs, xir_value *const *inputs, size_t n, bool *same);

/* The dims of a value's type; NULL if the type is not a tensor. */
const xir_i64s *value_dims(const xir_value *v);
/* A position; a negative one counts from the end. */
static inline int64_t from_end(int64_t i, int64_t n) { return i < 0 ? i + n : i; }

xir_status pass_no_memory(xir_pass *at);
/* The status of a call that has returned NULL with a finding, which is the latest one; `otherwise` if the caller of the
 * pass keeps no findings. */
xir_status pass_status_of_latest(const xir_pass *at, xir_status otherwise);

#endif
