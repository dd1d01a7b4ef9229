/* The function that a caller gave to write with. When it stops, the library says so in the caller's list, as it does
 * when a file cannot be written: no failure is without a finding. */
#ifndef SERIALIZE_GIVEN_H
#define SERIALIZE_GIVEN_H

#include <xir/serialize.h>

typedef struct given_writer {
    xir_write_fn *write;
    void         *user;
    xir_diags    *why;
    size_t        errors;    /* that the list had before */
    uint64_t      taken;     /* bytes, until now         */
    bool          stopped;
} given_writer;
given_writer given_begin(xir_write_fn *write, void *user, xir_diags *why);
bool         given_write(void *given, const void *data, size_t size);   /* an xir_write_fn */
/* What writing through it comes to: `status`, or XIR_E_IO if the function stopped, with a finding if nobody has
 * added one. */
xir_status   given_end(const given_writer *g, xir_status status);

#endif
