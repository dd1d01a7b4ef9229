/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Quantised element types and their arrays of scales and ratios. Arrays are stored as runs of equal items, so a million
 * equal scales cost as much as one. All are immutable. */
#ifndef XIR_QUANT_H
#define XIR_QUANT_H

#include <xir/type.h>

XIR_BEGIN

/* Makes an array. `axis` is the axis that the items lie along, from the end if negative. Reals are rounded to float32.
 * NULL if memory runs out. */
XIR_API const xir_scales *xir_scales_from(xir_context *ctx, const double *scale, size_t n, int64_t axis);

/* Ask arrays. _at gives the i-th item in logarithmic time, 0 past the end. The value of an exponent scale is
 * m * 2^-exp, never the origin. */
XIR_API size_t  xir_scales_count(const xir_scales *scales);
XIR_API int64_t xir_scales_axis(const xir_scales *scales);
XIR_API bool    xir_scales_is_exp(const xir_scales *scales);
XIR_API double  xir_scales_at(const xir_scales *scales, size_t i);
/* m, exp and origin of the i-th exponent scale; false for plain scales and past the end. */
XIR_API bool    xir_scales_exp_at(const xir_scales *scales, size_t i, int64_t *m, int64_t *exp, double *origin);
XIR_API size_t  xir_norm_ratios_count(const xir_norm_ratios *ratios);
XIR_API int64_t xir_norm_ratios_axis(const xir_norm_ratios *ratios);
XIR_API double  xir_norm_ratios_at(const xir_norm_ratios *ratios, size_t i);

/* Makes a quantised type over a storage type. A NULL `expressed` is @fp(32). NULL with a finding. */
XIR_API const xir_type *xir_type_quantized(xir_context *ctx, const xir_scales *scale,
                                           const int64_t *zero_points, size_t n,
                                           const xir_type *storage, const xir_type *expressed);

/* The parts of a quantised type or of a tensor of one; NULL (or 0) if the type does not have the part. */
XIR_API const xir_scales      *xir_type_scale(const xir_type *type);
XIR_API const xir_norm_ratios *xir_type_norm_ratios(const xir_type *type);
XIR_API xir_i64s               xir_type_zero_points(const xir_type *type);

/* The type with another scale; of a tensor, the element type changes. NULL with a finding, XIR_E_TYPE if the type does
 * not have the part. */
XIR_API const xir_type *xir_type_with_scale(xir_context *ctx, const xir_type *type, const xir_scales *scale,
                                            xir_diags *why);

/* Scalars: single numbers as objects. */
XIR_API const xir_scalar *xir_scalar_bool(xir_context *ctx, bool v);
XIR_API const xir_scalar *xir_scalar_int(xir_context *ctx, int64_t v);
XIR_API const xir_scalar *xir_scalar_real(xir_context *ctx, double v);
/* The number as a real or as a (truncated) integer, however it is stored. */
XIR_API double  xir_scalar_as_real(const xir_scalar *scalar);
XIR_API int64_t xir_scalar_as_int(const xir_scalar *scalar);

XIR_END

#endif
