/* What passes over a graph share: which ops may go or be one, and how a value takes another's place while the names
 * that people know stay right. */
#ifndef PASSES_UPKEEP_H
#define PASSES_UPKEEP_H

#include "manager/pass.h"

/* Whether all that an op does is to make its outputs from its inputs and attributes, the same every time: an unused
 * one is useless, two equal ones are one, and one of constants is a constant. Input and Output are not, nor are ops
 * with sub ops, ops whose class says so (XIR_TRAIT_IMPURE), and ops that nobody knows. Of foreign ones their dialect
 * says it. */
bool op_is_pure(const xir_op *op);

/* Whether an Output has the value. */
bool is_result(const xir_value *v);

/* Gives `now` the name of `old`, if that has one, and its tags, if `now` has none. Both may have them: names and
 * tags are immutable. False without memory. */
bool value_take_name(xir_value *now, const xir_value *old);

/* Lets `now`, which has the same type, stand for `old` wherever that is used, and counts the uses that moved. The
 * name of a result goes along, since callers know it: but if `now` is an argument of the network, a result itself or
 * Params that are not `fresh`, it keeps its own name and `old` stays the result. Of other values the better name is
 * kept: any is better than none, and "y" than "y.Conv2d", a step towards it. XIR_E_MEMORY: some may have moved. */
xir_status value_take_place(xir_value *now, xir_value *old, bool fresh, size_t *moved);

/* Whether nothing uses an output of the op. */
bool op_is_unused(const xir_op *op);
/* Takes a placed op out that nothing uses. It cannot fail, costs its inputs and allocates nothing. */
void op_drop(xir_op *op);

/* Whether two values may be exchanged without anybody noticing from their types: the same type, in the same memory. */
bool same_kind(const xir_value *a, const xir_value *b);

/* Whether inference gives the op the types that it has if it had these attributes and inputs. *same is false too if it
 * refuses or knows no answer; XIR_E_MEMORY is the only failure. */
xir_status infers_same(const xir_op *op, const void *attrs, xir_value *const *inputs, size_t n, bool *same);

/* Dims of a value's type; NULL if it is no tensor. */
const xir_i64s *value_dims(const xir_value *v);
/* A position that counts from the end if negative. */
static inline int64_t from_end(int64_t i, int64_t n) { return i < 0 ? i + n : i; }

xir_status pass_no_memory(xir_pass *at);

#endif
