/* Params are values with bytes: the constants of a network. Their bytes are counted and may be shared, borrowed from
 * the caller or mapped from a file; who writes to them gets a copy of their own first. */
#ifndef XIR_PARAMS_H
#define XIR_PARAMS_H

#include <xir/type.h>

XIR_BEGIN

/* A constant tensor of a network, without bytes so far. NULL without memory. It gets its id when an op that
 * uses it is placed. */
XIR_API xir_value *xir_params_new(xir_network *net, xir_str name, const xir_type *type);

/* The same with bytes: copied, or borrowed until `release(user, data)` is called (NULL: never) when nothing needs them
 * any more. `size` must be what the type takes (xir_type_bytes), otherwise NULL with a finding in the network; a
 * refused borrow does not call `release`. */
XIR_API xir_value *xir_params_copy(xir_network *net, xir_str name, const xir_type *type, const void *data, size_t size);
XIR_API xir_value *xir_params_borrow(xir_network *net, xir_str name, const xir_type *type, const void *data,
                                     size_t size, void (*release)(void *user, const void *data), void *user);

/* Gives bytes to Params that are there, as above. On failure the old bytes stay. */
XIR_API xir_status xir_params_set_copy(xir_value *params, const void *data, size_t size);
XIR_API xir_status xir_params_set_borrow(xir_value *params, const void *data, size_t size,
                                         void (*release)(void *user, const void *data), void *user);

/* Fills all elements: `fill(user, i, out)` writes element i, `element_size` bytes. XIR_E_TYPE unless the type's storage
 * bits are 8 * element_size. fill_f32 is the common case. */
XIR_API xir_status xir_params_fill(xir_value *params, size_t element_size,
                                   void (*fill)(void *user, size_t i, void *out), void *user);
XIR_API xir_status xir_params_fill_f32(xir_value *params, float (*fill)(size_t i));

/* Whether there are bytes, which a type that takes none always has; whether they lie in a mapped file and have not
 * been copied. Bytes of a file that is watched (XIR_VERIFY_ON_TOUCH) and was changed are not there: whoever asks for
 * them first finds out, then everybody knows. The calls below then give NULL or XIR_E_IO. */
XIR_API bool xir_params_has_data(const xir_value *params);
XIR_API bool xir_params_is_lazy(const xir_value *params);

/* The bytes, NULL if there are none or none are needed; `size` may be NULL. Not aligned in general: cast only what
 * xir_params_typed gives, or copy with xir_params_read. Valid until the params are given other bytes. A mapped file
 * that another program shortens while it is mapped raises SIGBUS on access: see docs/formats.md. */
XIR_API const void *xir_params_data(const xir_value *params, uint64_t *size);
/* The same if it is aligned to `alignment` (a power of two), otherwise NULL. */
XIR_API const void *xir_params_typed(const xir_value *params, size_t alignment);
/* Copies bytes out. XIR_E_MISSING without bytes, XIR_E_BOUNDS outside, XIR_E_IO if they were those of a watched
 * file. */
XIR_API xir_status xir_params_read(const xir_value *params, uint64_t offset, void *out, size_t size);
/* Bytes that may be written, of this value alone: copies them first if they are shared, borrowed or mapped. NULL
 * without memory or bytes. Aligned to 16. */
XIR_API void *xir_params_edit(xir_value *params);

/* Copies lazily mapped bytes into memory: XIR_E_MEMORY, or XIR_E_IO of a watched file. Clears: lets the bytes go. */
XIR_API xir_status xir_params_load(xir_value *params);
XIR_API void       xir_params_clear(xir_value *params);

/* The flag `_allow_no_data`: the value may stay without bytes in a saved file. */
XIR_API bool xir_params_allow_no_data(const xir_value *params);
XIR_API void xir_params_set_allow_no_data(xir_value *params, bool allow);

/* Whether two have equal types' sizes and equal bytes. */
XIR_API bool xir_params_equal(const xir_value *a, const xir_value *b);

XIR_END

#endif
