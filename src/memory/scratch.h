/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Besides its inputs and outputs, a call needs a buffer while it runs: it holds the values that its body makes. */
#ifndef MEMORY_SCRATCH_H
#define MEMORY_SCRATCH_H

#include <xir/op.h>

/* Finds the bytes of a value; a failure has a finding. 0 bytes, and *takes false, if the value needs no place. */
typedef xir_status scratch_bytes_fn(const void *user, const xir_value *v, uint64_t *bytes, bool *takes);

/* Values of bodies, each with the byte of the place at which it begins. */
typedef struct scratch_value  { const xir_value *value; uint64_t offset; } scratch_value;
typedef struct scratch_values { scratch_value *of; size_t n, room; } scratch_values;

/* Plans the body of an xir::Call: adds what its ops make to `out`, without the results, which are the outputs of the
 * call, and sets *bytes to what all of it needs. Bodies of calls within have their place while they run. The plan
 * depends on the body and the alignment (0 is 1) alone. 0 bytes for other ops. XIR_E_LIMIT beyond 2^63 - 1 or for more
 * than 32 calls within each other, XIR_E_MEMORY, or what `bytes_of` returns. */
xir_status scratch_of(const xir_op *op, uint64_t align, scratch_bytes_fn *bytes_of, const void *user,
                      scratch_values *out, uint64_t *bytes, xir_diags *why);
void       scratch_free(const xir_allocator *alloc, scratch_values *values);

#endif
