/* A merged-axis distribution says which elements of some dims, merged in order, are valid: runs [start, end) that are
 * valid or not. Objects are immutable; a builder changes. Memory and time are proportional to the runs, never to the
 * elements. */
#ifndef XIR_DISTR_H
#define XIR_DISTR_H

#include <xir/op.h>

XIR_BEGIN

typedef struct xir_distr xir_distr;  /* xir_uvalue and the struct itself are in type.h */

typedef struct xir_section {
    int64_t start, end;   /* [start, end) */
    bool    valid;
} xir_section;

/* What a distribution says. Counts are of elements. Sections are written up to `room` in order; the number that there
 * are is returned. */
XIR_API size_t  xir_distr_all_sections(const xir_distr *distr, xir_section *out, size_t room);
XIR_API size_t  xir_distr_valid_sections(const xir_distr *distr, xir_section *out, size_t room);
XIR_API size_t  xir_distr_invalid_sections(const xir_distr *distr, xir_section *out, size_t room);
XIR_API int64_t xir_distr_total(const xir_distr *distr);
XIR_API int64_t xir_distr_total_valid(const xir_distr *distr);
XIR_API int64_t xir_distr_total_invalid(const xir_distr *distr);
/* Whether element i is valid; false outside. Logarithmic. */
XIR_API bool    xir_distr_is_valid(const xir_distr *distr, int64_t i);

/* A builder, owned by the caller. NULL in its place is XIR_E_MEMORY, so that only the last call need be looked at. */
typedef struct xir_distr_builder xir_distr_builder;

/* A builder over `axes` with `total` elements, all valid; or a copy of a distribution. NULL without memory or if
 * `total` is negative. */
XIR_API xir_distr_builder *xir_distr_new(xir_context *ctx, const int64_t *axes, size_t n_axes, int64_t total);
XIR_API xir_distr_builder *xir_distr_edit(xir_context *ctx, const xir_distr *distr);
XIR_API void               xir_distr_free(xir_distr_builder *builder);

/* Marks [start, end); an empty range changes nothing; XIR_E_BOUNDS outside [0, total]. */
XIR_API xir_status xir_distr_set_valid(xir_distr_builder *builder, int64_t start, int64_t end);
XIR_API xir_status xir_distr_set_invalid(xir_distr_builder *builder, int64_t start, int64_t end);
/* Adds elements at the end: `count` alike, or a mask. XIR_E_BOUNDS if `count` is negative, XIR_E_LIMIT beyond 2^63 -
 * 1. */
XIR_API xir_status xir_distr_append(xir_distr_builder *builder, int64_t count, bool valid);
XIR_API xir_status xir_distr_append_mask(xir_distr_builder *builder, const bool *mask, size_t n);
/* Whether invalid elements are held as zero (true, the default) or do not exist. */
XIR_API void       xir_distr_set_zero(xir_distr_builder *builder, bool zero);

/* Freezes the state into an object of the context; the builder may go on. NULL without memory. */
XIR_API const xir_distr *xir_distr_build(xir_distr_builder *builder, xir_diags *why);

XIR_END

#endif
