/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The rules of the library's targets. A file per target has its table, a row for each thing that its code generator
 * asks of an op; docs/targets.md is printed from the tables. They stand on the public headers alone, as a table of a
 * plug-in would (docs/writing-a-target.md). The sources are the vendor's manuals for SDK 3.33, and networks that its
 * compiler has made.
 *
 * The rules speak of ops before their maps are tiled. Feature maps have channels last then; tiles follow from that. */
#ifndef TARGETS_H
#define TARGETS_H

#include <xir/infer.h>
#include <xir/ops.h>
#include <xir/place.h>

/* Rows with only the members about rules. */
extern const xir_target_row buyi_row, zhuge_row;

/* ---- conditions that both have --------------------------------------------------------------------------------- */

bool one_map(xir_infer *at);            /* one input is not a constant, and the output has its dims */
bool is_channels_last(xir_infer *at);      /* a map has C as its last axis, or tiles                  */
bool pads_with_zeros(xir_infer *at);    /* of a Conv2d                                             */
bool weights_are_constant(xir_infer *at);
bool pad_is_constant(xir_infer *at);    /* the mode of a Pad                                       */
bool numbers_are_known(xir_infer *at);  /* its optional input, which stands for attributes, is absent */
bool factors_are_few(xir_infer *at);    /* of an Upsample: their product is at most 512            */
bool interpolates_linearly(xir_infer *at); /* of an Upsample: NEAREST or BILINEAR                   */
bool dims_are_known(xir_infer *at);
bool conv_sums_fit(xir_infer *at);      /* sums of products of stored numbers have at most 32 bits (sums.c) */
bool matmul_sums_fit(xir_infer *at);

/* Buyi's scales are m * 2^-e within bounds (bounds.c). */
bool maps_have_scale_one(xir_infer *at);
bool conv_scales_fit(xir_infer *at);
bool product_scales_fit(xir_infer *at);
bool hard_scales_fit(xir_infer *at);
bool matmul_cut_fits(xir_infer *at);
bool multiply_cut_fits(xir_infer *at);

/* A row of such a condition. */
#define SUMS(id, name_, condition)                                                                                   \
    { .cls = xir_##id##_class, .holds = condition, .needs = "sums of products within 32 bits", .name = name_,        \
      .source = "quantizer, value_range", .flags = XIR_RULE_TYPES | XIR_RULE_NOTE }

/* ---- questions for conditions ---------------------------------------------------------------------------------- */

/* The axes of a type as if it were not tiled: its dims, without units, up to `room`; and their number. */
enum { MOST_AXES = 16 };
size_t plain_dims(const xir_type *type, int64_t *out);
/* Returns true if a type broadcasts over the other as a vector of channels: its last dim is that of the other or 1, and
 * all others are 1. */
bool   is_channel_vector(const xir_type *type, const xir_type *of);
/* A position; a negative one counts from the end. */
static inline int64_t from_end(int64_t i, size_t n) { return i < 0 ? i + (int64_t)n : i; }
/* Returns true if a product is at most `most`; unknown (negative) factors count as 1. */
bool   is_at_most(int64_t a, int64_t b, int64_t most);

#endif
