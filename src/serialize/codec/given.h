/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A caller's write callback. If it stops, the library adds a finding to the caller's list, as it does when a file
 * cannot be written: no failure is without a finding. */
#ifndef SERIALIZE_GIVEN_H
#define SERIALIZE_GIVEN_H

#include <xir/serialize.h>

typedef struct given_writer {
    xir_write_fn *write;
    void         *user;
    xir_diags    *why;
    size_t        errors;    /* in the list at the start */
    uint64_t      taken;     /* bytes so far             */
    bool          stopped;
} given_writer;
given_writer given_begin(xir_write_fn *write, void *user, xir_diags *why);
bool         given_write(void *given, const void *data, size_t size);   /* an xir_write_fn */
/* The outcome of writing through it: `status`, or XIR_E_IO if the callback stopped. Adds a finding if there is no
 * new one. */
xir_status   given_end(const given_writer *g, xir_status status);

#endif
