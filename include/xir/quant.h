/* Quantised element types and their arrays of scales and ratios. Arrays are stored as runs of equal items, so a million
 * equal scales cost as much as one. All are immutable. */
#ifndef XIR_QUANT_H
#define XIR_QUANT_H

#include <xir/type.h>

XIR_BEGIN

/* Make arrays. `axis` is the axis that the items lie along, from the end if negative. Reals are rounded to float32.
 * They return NULL if memory runs out. */
XIR_API const xir_scales      *xir_scales_from(xir_context *ctx, const double *scale, size_t n, int64_t axis);
/* Scales m * 2^-exp that stand for `origin`. */
XIR_API const xir_scales      *xir_exp_scales_from(xir_context *ctx, const int64_t *m, const int64_t *exp,
                                                   const double *origin, size_t n, int64_t axis);
XIR_API const xir_norm_ratios *xir_norm_ratios_from(xir_context *ctx, const double *ratio, size_t n, int64_t axis);

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

/* One scale as an object, for attributes that have a single one: a plain scale, m * 2^-exp that stands for `origin`,
 * the i-th item of an array (of either class: xir_scale_of and xir_exp_scale_of tell). Reals are rounded to float32.
 * They return NULL if memory runs out, the last one also past the end. */
XIR_API const xir_scale     *xir_scale_from(xir_context *ctx, double scale);
XIR_API const xir_exp_scale *xir_exp_scale_from(xir_context *ctx, int64_t m, int64_t exp, double origin);
XIR_API const xir_object    *xir_scales_item(xir_context *ctx, const xir_scales *scales, size_t i);
/* Returns m * 2^-exp, 0 for NULL. The scale of a plain one is its attribute `origin_scale`. */
XIR_API double               xir_exp_scale_value(const xir_exp_scale *scale);

/* Make arrays from arrays: two concatenated (of the same axis and form), one repeated, the items [start, end). They
 * return NULL with a finding. */
XIR_API const xir_scales *xir_scales_concat(xir_context *ctx, const xir_scales *a, const xir_scales *b, xir_diags *why);
XIR_API const xir_scales *xir_scales_repeat(xir_context *ctx, const xir_scales *scales, size_t times, xir_diags *why);
XIR_API const xir_scales *xir_scales_slice(xir_context *ctx, const xir_scales *scales, size_t start, size_t end,
                                           xir_diags *why);
XIR_API const xir_norm_ratios *xir_norm_ratios_concat(xir_context *ctx, const xir_norm_ratios *a,
                                                      const xir_norm_ratios *b, xir_diags *why);
XIR_API const xir_norm_ratios *xir_norm_ratios_repeat(xir_context *ctx, const xir_norm_ratios *ratios, size_t times,
                                                      xir_diags *why);
XIR_API const xir_norm_ratios *xir_norm_ratios_slice(xir_context *ctx, const xir_norm_ratios *ratios, size_t start,
                                                     size_t end, xir_diags *why);

/* Make quantised types over a storage type. A NULL `expressed` is @fp(32). They return NULL with a finding. */
XIR_API const xir_type *xir_type_calibrated(xir_context *ctx, double min, double max, double sat,
                                            const xir_type *storage, const xir_type *expressed);
XIR_API const xir_type *xir_type_normalized(xir_context *ctx, const xir_norm_ratios *ratios, const xir_type *storage,
                                            const xir_type *expressed);
XIR_API const xir_type *xir_type_quantized(xir_context *ctx, const xir_scales *scale,
                                           const int64_t *zero_points, size_t n,
                                           const xir_type *storage, const xir_type *expressed);
XIR_API const xir_type *xir_type_normalized_quantized(xir_context *ctx, const xir_type *normalized,
                                                      const xir_scales *scale, const int64_t *zero_points, size_t n);

/* The parts of a quantised type or of a tensor of one; NULL (or 0) if the type does not have the part. */
XIR_API const xir_scales      *xir_type_scale(const xir_type *type);
XIR_API const xir_norm_ratios *xir_type_norm_ratios(const xir_type *type);
XIR_API xir_i64s               xir_type_zero_points(const xir_type *type);

/* Variants with one part changed; of a tensor, the element type changes. They return NULL with a finding, XIR_E_TYPE if
 * the type does not have the part. */
XIR_API const xir_type *xir_type_with_scale(xir_context *ctx, const xir_type *type, const xir_scales *scale,
                                            xir_diags *why);
XIR_API const xir_type *xir_type_with_norm_ratios(xir_context *ctx, const xir_type *type, const xir_norm_ratios *ratios,
                                                  xir_diags *why);
XIR_API const xir_type *xir_type_with_zero_points(xir_context *ctx, const xir_type *type, const int64_t *zero, size_t n,
                                                  xir_diags *why);
XIR_API const xir_type *xir_type_with_storage(xir_context *ctx, const xir_type *type, const xir_type *storage,
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
