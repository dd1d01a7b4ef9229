/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A value is stored unless it is a result of the network that may not stay as it is, or moves alone make such a result
 * of it, or an op inside of another op reads it. */
#include <xir/ops.h>
#include "quantize.h"
#include "support/upkeep.h"

bool is_move(const xir_op *op) {
    static const xir_class_decl *(*const moves[])(void) = {
        xir_copy_class, xir_reshape_class, xir_squeeze_class, xir_expand_class, xir_tile_class, xir_transpose_class,
        xir_channel_shuffle_class, xir_pixel_shuffle_class, xir_slice_class, xir_split_class, xir_unstack_class,
        xir_roll_class, xir_swap_order_class, xir_max_pool1d_class, xir_max_pool2d_class, xir_max_pool3d_class,
    };
    for (size_t i = 0; i < sizeof moves / sizeof *moves; i++)
        if (xir_op_is(op, moves[i]())) return true;
    return false;
}

bool is_result(const quantizing *q, const xir_value *value) {
    const xir_op *out = xir_network_output_op(q->net);
    for (const xir_use *u = value->uses; u; u = xir_use_next(u)) {
        const xir_op *reader = xir_use_op(u);
        if (reader != out && !(reader->slot < q->n_tails && q->tails[reader->slot])) return false;
    }
    return value->uses != NULL;
}

xir_status find_tails(quantizing *q) {
    q->n_tails = xir_network_slot_count(q->net);
    q->tails = mem_new(&q->net->alloc, q->n_tails + 1);
    if (!q->tails) return XIR_E_MEMORY;
    memset(q->tails, 0, q->n_tails + 1);
    for (const xir_op *op = xir_network_last(q->net); op; op = op->prev) {
        bool tail = is_move(op);
        for (uint32_t i = 0; i < op->n_outputs && tail; i++) tail = is_result(q, &op_outputs(op)[i]);
        q->tails[op->slot] = tail;
    }
    return XIR_OK;
}

/* The op that alone reads a value; NULL if there is none. */
static const xir_op *only_reader(const xir_value *value) {
    const xir_use *u = value->uses;
    return u && !xir_use_next(u) ? xir_use_op(u) : NULL;
}

/* Returns true if an op clips its input: what it cuts off need not be stored. */
static bool is_clip(const xir_op *op) {
    const xir_relu_attrs *relu = op ? xir_relu_of(op) : NULL;
    if (relu) return relu->alpha == 0 && relu->threshold == 0;
    return op && (xir_op_is(op, xir_clamp_scalar_class()) || xir_op_is(op, xir_hardtanh_class()));
}

const value_range *stored_range(const quantizing *q, const xir_value *value) {
    if (!is_float(value) || !value->uses || (!q->outputs_stay && is_result(q, value))) return NULL;
    const int64_t rank = (int64_t)xir_type_rank(value->type);
    if (q->scheme.normalised && rank && xir_type_dim(value->type, rank - 1, false) < 0) return NULL;   /* how many? */
    for (const xir_use *u = value->uses; u; u = xir_use_next(u))
        if (xir_use_op(u)->flags & OP_CHILD) return NULL;   /* read inside of another op */
    return ranges_find(&q->ranges, value);
}

bool is_before_clip(const quantizing *q, const xir_value *value, const value_range **after) {
    const xir_op *maker = value_op(value), *reader = only_reader(value);
    *after = NULL;
    if (!maker || !is_product(maker) || !is_clip(reader)) return false;
    *after = ranges_find(&q->ranges, xir_op_output(reader, 0));
    return true;
}
