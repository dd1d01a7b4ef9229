/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Formulas of XIR's classes in terms of simpler ones (simpler.c), and what hooks of dialects share with them. */
#ifndef CONVERT_SIMPLER_H
#define CONVERT_SIMPLER_H

#include "node/helpers.h"

/* simpler.c: the i-th formula of the op in terms of other ops of XIR, on the way to a dialect; NULL: no more. */
xir_convert_fn *simpler_of(const xir_op *op, const xir_dialect_decl *to, size_t i);

/* simpler_index.c */
xir_convert_fn simpler_gather_nd, simpler_cumsum, simpler_pad, simpler_place, simpler_shape;
/* simpler_norms.c */
xir_convert_fn simpler_layer_norm, simpler_channel_norm, simpler_batch_norm, simpler_normalize, simpler_roll,
               simpler_channel_shuffle, simpler_pixel_shuffle;
/* simpler_curves.c */
xir_convert_fn simpler_softplus, simpler_mish, simpler_elu, simpler_sign, simpler_round;
/* simpler_parts.c */
xir_convert_fn simpler_prod, simpler_log_softmax, simpler_cumsum_steps, simpler_unstack, simpler_gather_elements,
               simpler_matmul;
/* simpler_windows.c. Returns true if XIR's op requantises its result, which no other format does. */
bool op_requantises(const xir_node *at);
xir_convert_fn simpler_line, simpler_volume_pool, simpler_volume_conv;

xir_convert_fn simpler_recurrent, simpler_einsum;   /* files of their own */
/* simpler_images.c */
xir_convert_fn simpler_resize, simpler_unfold;

/* Positions in `n` dims of x from dim `batch` on, [..., n], as positions in these dims as one, with those of the batch
 * dims in front of them: of x as x_flat gives it. Negative positions count from the end. NULL after a failure; all dims
 * that are indexed must be known. */
xir_value *make_positions(xir_node *at, xir_value *x, xir_value *indices, size_t batch, size_t n);
/* x with its first n dims as one. */
xir_value *make_flat(xir_node *at, xir_value *x, size_t n);

/* attention.c: the parts of an attention, and the formula of XIR's Attention. */
xir_convert_fn simpler_attention;

/* A mask as addends: a bool mask is -inf where attention is forbidden: where it is true, or where it is not. */
xir_value *attention_addends(xir_node *at, xir_value *mask, const xir_type *element, bool forbids);
/* 0 where a row of q may look at a row of k, up to its own number; else -inf. */
xir_value *attention_causal(xir_node *at, const xir_value *q, const xir_value *k);
/* Returns true if a mask, of bools or addends, may hide all keys from a query, or its first key: false is certain. */
bool attention_hides(const xir_value *mask, bool first);
/* softmax(cap tanh(q k^T scale / cap) + mask) v over the last two dims; a cap of 0: none. Sets *weights. `hides`: they
 * are 0 for a query from which the mask hides all keys; otherwise they are not numbers. */
xir_value *attention_of(xir_node *at, xir_value *q, xir_value *k, xir_value *v, double scale, double cap,
                        xir_value *mask, bool hides, xir_value **weights);
/* Each head of k or v, in the dim before the last two, for each of the heads that it serves. */
xir_value *attention_repeated(xir_node *at, xir_value *k, int64_t heads);

#endif
