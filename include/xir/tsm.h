/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Single tensors of TensorStack: the files ".t" of its tests. A file is a packed tensor: a count, then that many
 * tensors (docs/tsm.md). Modules are read and written as networks. */
#ifndef XIR_TSM_H
#define XIR_TSM_H

#include <xir/array.h>
#include <xir/serialize.h>

XIR_BEGIN

/* Reads the tensors of such a file. Fills `out` with the first `room` of them, for the caller to free, and *n with how
 * many there are; `out` may be NULL if `room` is 0. `name` is the file's in findings. XIR_E_CORRUPT if the bytes end
 * early or others follow, XIR_E_BOUNDS for a negative dim, XIR_E_LIMIT for too many elements, XIR_E_TYPE for an unknown
 * type, XIR_E_UNSUPPORTED for one whose elements XIR does not have, XIR_E_MEMORY. After a failure `out` has no
 * arrays. */
XIR_API xir_status xir_tsm_tensor_read(xir_context *ctx, const void *data, size_t size, xir_str name, xir_array **out,
                                       size_t room, size_t *n, xir_diags *why);
/* The same of a file. XIR_E_IO. */
XIR_API xir_status xir_tsm_tensor_load(xir_context *ctx, const char *path, xir_array **out, size_t room, size_t *n,
                                       xir_diags *why);
/* Writes arrays as one such file. XIR_E_UNSUPPORTED for elements that TensorStack does not have, XIR_E_LIMIT for a dim
 * that does not fit into 32 bits, both before the first byte; XIR_E_IO if `write` returns false. */
XIR_API xir_status xir_tsm_tensor_write(const xir_array *const *arrays, size_t n, xir_write_fn *write, void *user,
                                        xir_diags *why);

XIR_END

#endif
