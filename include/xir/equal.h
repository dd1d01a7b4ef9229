/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Equality by rules of the caller. xir_network_equal compares everything; xir/diff.h says where two networks differ. */
#ifndef XIR_EQUAL_H
#define XIR_EQUAL_H

#include <xir/network.h>

XIR_BEGIN

/* Differences that do not count. */
enum {
    XIR_EQUAL_NO_IDS     = 1,    /* then an operand is the output of the op in the same place of the order */
    XIR_EQUAL_NO_NAMES   = 2,    /* of ops and values                                                      */
    XIR_EQUAL_NO_TAGS    = 4,    /* of ops, values and networks; also keys that a class does not declare   */
    XIR_EQUAL_NO_TARGETS = 8,    /* of ops; also memory types                                              */
    XIR_EQUAL_NO_BYTES   = 16,   /* of Params                                                              */
    XIR_EQUAL_NO_FIELDS  = 32    /* a network's name, framework, versions and accelerator                  */
};

typedef enum xir_sameness {
    XIR_SAME_IF_USUAL,   /* compare as without the rule */
    XIR_SAME_ALWAYS,     /* whatever is in it           */
    XIR_SAME_NEVER
} xir_sameness;

/* The rules; each function may be NULL. It is asked about each pair before the pair is compared: ops in the same place,
 * sub ops too; operands and outputs in the same place if both exist. */
typedef struct xir_equal_rules {
    uint32_t size;
    unsigned flags;      /* XIR_EQUAL_… */
    void    *user;
    xir_sameness (*op)(void *user, const xir_op *a, const xir_op *b);
    xir_sameness (*value)(void *user, const xir_value *a, const xir_value *b);
} xir_equal_rules;

/* Tells in `equal` whether two networks are equal by the rules; NULL: everything counts. Linear; changes nothing.
 * XIR_E_MISSING for a network that is NULL, XIR_E_ABI for rules without their size (use XIR_INIT), XIR_E_UNSUPPORTED
 * for unknown flags, XIR_E_MEMORY; then `equal` is not written. */
XIR_API xir_status xir_network_equal_by(const xir_network *a, const xir_network *b, const xir_equal_rules *rules,
                                        bool *equal);

XIR_END

#endif
