/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Layouts state what each dim of a tensor means. An axis is one of the letters N H W D C I O L, or `*` for any. A
 * lower-case letter is the unit of a tiled axis, followed by the unit's length: NHWC, NCHWc32, OIHWi32o32, N**Cc4. The
 * rank is the number of letters. Layouts are immutable. */
#ifndef XIR_LAYOUT_H
#define XIR_LAYOUT_H

#include <xir/op.h>

XIR_BEGIN

typedef struct xir_layout xir_layout;

/* Returns the layout that `axes` spells ("NCHWc32", without the "@layout(…)" around it), or NULL with a finding that
 * names the wrong character. The default layout of a rank is that many `*`. */
XIR_API const xir_layout *xir_layout_parse(xir_context *ctx, xir_str axes, xir_diags *why);
XIR_API const xir_layout *xir_layout_default(xir_context *ctx, size_t rank);

/* "NCHWc32". Lives as long as the layout. */
XIR_API xir_str xir_layout_text(const xir_layout *layout);
XIR_API size_t  xir_layout_rank(const xir_layout *layout);

/* The letter of an axis, 0 past the end; the unit that follows a lower-case letter, 0 for other axes. */
XIR_API char    xir_layout_axis(const xir_layout *layout, size_t i);
XIR_API int64_t xir_layout_unit(const xir_layout *layout, size_t i);

/* Returns the first index of a letter (case matters), -1 if the layout does not have it. */
XIR_API int64_t xir_layout_index(const xir_layout *layout, char axis);
XIR_API bool    xir_layout_has(const xir_layout *layout, char axis);
/* True if any axis is tiled, as in layouts of back ends. */
XIR_API bool    xir_layout_is_layouted(const xir_layout *layout);

/* Builds a layout step by step. The original's Init().N().X(2).D().d(32).n(4) is
 *     xir_layout_steps s = xir_layout_start();
 *     xir_layout_put(&s, 'N', 1); xir_layout_put(&s, '*', 2); … xir_layout_put(&s, 'd', 32);
 *     const xir_layout *l = xir_layout_finish(ctx, &s, why);
 * The number says how often an upper-case letter or `*` is repeated; for a lower-case letter it is the unit. Errors are
 * kept until the end. */
typedef struct xir_layout_steps {
    char     text[240];
    uint32_t size;
    bool     failed;
} xir_layout_steps;
XIR_API xir_layout_steps  xir_layout_start(void);
XIR_API void              xir_layout_put(xir_layout_steps *steps, char axis, int64_t number);
XIR_API const xir_layout *xir_layout_finish(xir_context *ctx, const xir_layout_steps *steps, xir_diags *why);

XIR_END

#endif
