/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Params are values with bytes: the constants of a network. Their bytes are reference counted and may be shared,
 * borrowed from the caller or mapped from a file. Before a write, a value gets its own copy. */
#ifndef XIR_PARAMS_H
#define XIR_PARAMS_H

#include <xir/type.h>

XIR_BEGIN

/* Makes a constant tensor of a network, without bytes. NULL if memory runs out. It gets its id when an op that uses it
 * is placed. */
XIR_API xir_value *xir_params_new(xir_network *net, xir_str name, const xir_type *type);

/* The same without a type, which xir_value_set_type gives later; only then it can get bytes. */
XIR_API xir_value *xir_params_new_untyped(xir_network *net, xir_str name);

/* The same with bytes. They are copied, or borrowed until nothing needs them; then `release(user, data)` is called
 * unless it is NULL. `size` must be what the type takes (xir_type_bytes), otherwise the result is NULL with a
 * finding in the network. A refused borrow does not call `release`. */
XIR_API xir_value *xir_params_copy(xir_network *net, xir_str name, const xir_type *type, const void *data, size_t size);
XIR_API xir_value *xir_params_borrow(xir_network *net, xir_str name, const xir_type *type, const void *data,
                                     size_t size, void (*release)(void *user, const void *data), void *user);

/* Give bytes to existing Params, copied or borrowed as above. On failure the old bytes remain. */
XIR_API xir_status xir_params_set_copy(xir_value *params, const void *data, size_t size);
XIR_API xir_status xir_params_set_borrow(xir_value *params, const void *data, size_t size,
                                         void (*release)(void *user, const void *data), void *user);

/* Fills all elements: `fill(user, i, out)` writes element i, `element_size` bytes. XIR_E_TYPE unless the type's storage
 * bits are 8 * element_size. xir_params_fill_f32 is the common case. */
XIR_API xir_status xir_params_fill(xir_value *params, size_t element_size,
                                   void (*fill)(void *user, size_t i, void *out), void *user);
XIR_API xir_status xir_params_fill_f32(xir_value *params, float (*fill)(size_t i));

/* Makes Params with the elements of `n` others, one after the other along the first dim: (2,4) and (3,4) give (5,4).
 * Bytes are copied; mapped ones are read. NULL with a finding in the network, which is otherwise unchanged: XIR_E_TYPE
 * if the parts are not Params of this network with tensor types, or differ in element type, layout, rank or another
 * dim; XIR_E_MISSING if one has no bytes, XIR_E_IO if its file has changed; XIR_E_UNSUPPORTED for quantised elements,
 * distributions, and elements that do not fill whole bytes; XIR_E_INVALID without parts; XIR_E_LIMIT, XIR_E_MEMORY. */
XIR_API xir_value *xir_params_concat(xir_network *net, xir_str name, xir_value *const *parts, size_t n);

/* Returns true if the Params have bytes (always true if the type needs none), and whether the bytes are in a mapped
 * file and not copied yet. If a watched file (XIR_VERIFY_ON_TOUCH) has changed, its bytes are lost: the next access
 * detects it, and from then on all accesses fail. The calls below then return NULL or XIR_E_IO. */
XIR_API bool xir_params_has_data(const xir_value *params);
XIR_API bool xir_params_is_lazy(const xir_value *params);

/* Returns the bytes, NULL if there are none or the type needs none. `size` may be NULL. The bytes are not aligned in
 * general: cast what xir_params_elements returns, or copy with xir_params_read. Valid until the Params get other
 * bytes. If another program shortens a file while it is mapped, an access raises SIGBUS: see docs/formats.md. */
XIR_API const void *xir_params_data(const xir_value *params, uint64_t *size);
/* Copies bytes to `out`. XIR_E_MISSING without bytes, XIR_E_BOUNDS outside of them, XIR_E_IO if a watched file has
 * changed. */
XIR_API xir_status xir_params_read(const xir_value *params, uint64_t offset, void *out, size_t size);
/* Returns the bytes as elements of `element_size` bytes, to read: wherever they are, they can be cast to a pointer to
 * such numbers. If they are not aligned, as in mapped files, the value gets its own copy first, so one thread at a time
 * may call this. NULL with a finding: XIR_E_TYPE unless the type's storage bits are 8 * element_size, XIR_E_MISSING
 * without bytes, XIR_E_IO, XIR_E_MEMORY. */
XIR_API const void *xir_params_elements(xir_value *params, size_t element_size);
/* Returns bytes for writing that belong to this value alone: copies them first if they are shared, borrowed or mapped.
 * Aligned to 16. NULL if memory runs out or there are no bytes. */
XIR_API void *xir_params_edit(xir_value *params);

/* Loading copies lazily mapped bytes into memory: XIR_E_MEMORY, or XIR_E_IO if a watched file has changed. Clearing
 * releases the bytes. */
XIR_API xir_status xir_params_load(xir_value *params);
XIR_API void       xir_params_clear(xir_value *params);

/* The flag `_allow_no_data`: the value may have no bytes in a saved file. */
XIR_API bool xir_params_allow_no_data(const xir_value *params);
XIR_API void xir_params_set_allow_no_data(xir_value *params, bool allow);

/* An input with a default: Params that the file declares as an input, too (ONNX from IR version 4 on), which have the
 * tag "onnx.input". Passes do not compute with their bytes; conversions that must say so.
 *
 * Fixing makes Params constants like all others: XIR_E_MEMORY is the only failure. Making an input puts a new output of
 * the Input op in their place, the last one: it has their name, type, memory, other tags and uses. It returns the
 * input; NULL with a finding for other Params, for a network without an Input op, or if no op takes the Params as an
 * input. */
XIR_API bool       xir_params_is_default(const xir_value *params);
XIR_API xir_status xir_params_fix_default(xir_value *params);
XIR_API xir_value *xir_params_make_input(xir_value *params);

/* Returns true if both take the same number of bytes and the bytes are equal. */
XIR_API bool xir_params_equal(const xir_value *a, const xir_value *b);

XIR_END

#endif
