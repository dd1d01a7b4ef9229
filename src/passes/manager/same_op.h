/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Finds ops of two networks that compute the same: if their classes, attributes, targets, declared types and
 * undeclared attributes are equal, and their inputs have the same contents. Contents have numbers, which the caller
 * gives. Params among the attributes count by their bytes, and sub ops are compared in the same way, one after the
 * other: a value that one of them makes is the one in the same place of the other body, and what they read from
 * outside has a number. Names do not count. */
#ifndef MANAGER_SAME_OP_H
#define MANAGER_SAME_OP_H

#include "graph.h"

/* Of one network: two values have the same number only if their arrays have the same type and bytes. 0: unknown. Never
 * called with NULL: that is the number ABSENT. */
typedef struct contents {
    uint32_t (*number)(void *user, const xir_value *v);
    void      *user;
} contents;

static const uint32_t ABSENT = UINT32_MAX;

static inline uint32_t contents_number(const contents *c, const xir_value *v) {
    return v ? c->number(c->user, v) : ABSENT;
}

/* A hash that is equal for ops that compute the same. False if an input has no number: the op is like no other then. */
bool op_hash_contents(const contents *c, const xir_op *op, uint64_t *hash);
/* Both ops have outputs and are complete. False also without memory. */
bool op_computes_same(const contents *a_contents, const xir_op *a, const contents *b_contents, const xir_op *b);

#endif
