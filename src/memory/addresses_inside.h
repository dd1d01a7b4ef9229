/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The addresses in the body of a call. Its ports are where the values outside are; what its ops make shares no bytes
 * with what lives at the same time in the body, nor with what lives outside while the call runs. */
#ifndef MEMORY_ADDRESSES_INSIDE_H
#define MEMORY_ADDRESSES_INSIDE_H

#include <xir/memory.h>
#include "places.h"

typedef struct inside_check {
    xir_context   *ctx;
    const xir_memory_check_options *how;
    xir_diags     *why;
    xir_status     status;       /* of the first finding */
    /* The value outside that lives now and has some of these bytes; NULL: none has. */
    const xir_value *(*living)(void *user, const place *it);
    void          *user;
} inside_check;

/* Checks the body of a call of the network's order, which has this number there, with the bodies in it. XIR_E_MEMORY,
 * with its finding; other findings are in the status of the check. */
xir_status inside_check_call(inside_check *c, const xir_op *call, int64_t number);

#endif
