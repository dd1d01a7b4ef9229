/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* What an op needs besides its inputs and outputs while it runs. */
#ifndef MEMORY_SCRATCH_H
#define MEMORY_SCRATCH_H

#include <xir/op.h>

/* Finds the bytes of a value; a failure has a finding. */
typedef xir_status scratch_bytes_fn(const void *user, const xir_value *v, uint64_t *bytes);

/* Sets *bytes to the peak of the body of an xir::Call: of what its ops make, without the results, which are the outputs
 * of the call; bodies of calls within are counted where they run. 0 for other ops. XIR_E_LIMIT beyond 2^64 - 1 or for
 * more than 32 calls within each other, XIR_E_MEMORY, or what `bytes_of` returns. */
xir_status scratch_of(const xir_op *op, scratch_bytes_fn *bytes_of, const void *user, uint64_t *bytes, xir_diags *why);

#endif
