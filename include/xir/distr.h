/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A merged-axis distribution states which elements of some dims, merged in order, are valid: as runs [start, end) of
 * valid or invalid elements. Distributions are immutable objects; a builder is mutable. Memory and time are
 * proportional to the runs, never to the elements. */
#ifndef XIR_DISTR_H
#define XIR_DISTR_H

#include <xir/op.h>

XIR_BEGIN

typedef struct xir_distr xir_distr;  /* xir_uvalue and the struct itself are in type.h */

/* Ask a distribution. Counts are in elements. */
XIR_API int64_t xir_distr_total(const xir_distr *distr);
XIR_API int64_t xir_distr_total_valid(const xir_distr *distr);
XIR_API int64_t xir_distr_total_invalid(const xir_distr *distr);
/* True if element i is valid; false outside. Logarithmic. */
XIR_API bool    xir_distr_is_valid(const xir_distr *distr, int64_t i);

/* A builder, owned by the caller. All calls accept a NULL builder and return XIR_E_MEMORY, so it is enough to check the
 * last call. */
typedef struct xir_distr_builder xir_distr_builder;

/* A builder over `axes` with `total` elements, all valid; or one that starts with a copy of a distribution. NULL if
 * memory runs out or `total` is negative. */
XIR_API xir_distr_builder *xir_distr_new(xir_context *ctx, const int64_t *axes, size_t n_axes, int64_t total);
XIR_API xir_distr_builder *xir_distr_edit(xir_context *ctx, const xir_distr *distr);
XIR_API void               xir_distr_free(xir_distr_builder *builder);

/* Mark [start, end). An empty range changes nothing. XIR_E_BOUNDS outside [0, total]. */
XIR_API xir_status xir_distr_set_valid(xir_distr_builder *builder, int64_t start, int64_t end);
XIR_API xir_status xir_distr_set_invalid(xir_distr_builder *builder, int64_t start, int64_t end);

/* Makes an object of the context from the current state. The builder can be used further. NULL if memory runs out. */
XIR_API const xir_distr *xir_distr_build(xir_distr_builder *builder, xir_diags *why);

XIR_END

#endif
