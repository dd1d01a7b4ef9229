/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The state of one run of the pass quantize, and the steps that its files implement. */
#ifndef QUANTIZE_QUANTIZE_H
#define QUANTIZE_QUANTIZE_H

#include "ranges.h"
#include "scheme.h"

typedef struct quantizing {
    xir_pass     *at;
    xir_network  *net;
    const scheme *scheme;
    uint32_t      bits;          /* of maps                                                      */
    bool          symmetric;     /* maps are signed, without zero points                         */
    bool          per_channel;   /* weights have a scale for each output channel                 */
    bool          pow2;          /* scales are powers of two                                     */
    bool          products;      /* only what convolutions and matrix products read              */
    bool          strict;        /* an op that stays in floats is an error                       */
    bool          outputs_stay;  /* outputs of the network keep the types that quantising gives  */
    bool         *tails;         /* by slot: moves whose results only the network's results are made of */
    size_t        n_tails;
    xir_str       keep;          /* names of ops that stay in floats, between ';'                */
    value_ranges  ranges;
    pointer_table casts;         /* a quantised value: the index of its floats in `floats`       */
    xir_value   **floats;
    size_t        n_floats, room;
    size_t        left;          /* ops that stay in floats between Casts */
    const xir_op *first_left;
} quantizing;

static inline bool is_stored(const xir_value *v) {
    const xir_type_kind kind = v ? xir_type_kind_of(xir_type_element(v->type)) : XIR_TYPE_OTHER;
    return kind == XIR_TYPE_QUANTIZED || kind == XIR_TYPE_NORMALIZED_QUANTIZED;
}
static inline bool is_float(const xir_value *v) {
    return v && xir_type_kind_of(xir_type_element(v->type)) == XIR_TYPE_FLOAT;
}

/* ---- maps.c ------------------------------------------------------------------------------------------------------ */

/* The element type of a map of this type with a range. NULL without memory. */
const xir_type *map_element(const quantizing *q, const xir_type *type, const value_range *range);
/* The element type of a map that holds x / ratio in integers, with a ratio for each index of the last dim. */
const xir_type *normalised_element(const quantizing *q, const xir_type *type, double ratio);
/* A scale as the scheme has it: a float32 above 0, with pow2 a power of two that is not less. */
double scale_of(const quantizing *q, double scale);

/* ---- products.c -------------------------------------------------------------------------------------------------- */

/* A convolution or a matrix product. */
bool is_product(const xir_op *op);
/* Returns true if the first two operands can be integers: maps that are stored, or constants with bytes. */
bool product_fits(const xir_op *op);
/* Stores the constants of such an op. XIR_E_MISSING, XIR_E_INVALID for numbers that are not finite. */
xir_status quantize_constants(quantizing *q, xir_op *op);

/* ---- buyi.c ------------------------------------------------------------------------------------------------------ */

/* The ratio of a map; 1 if it has none. */
double ratio_of(const xir_value *v);
/* Stores the constants of an op for the ratios of its maps, which may change that of its result. *fits is false if
 * there is no way to; *changed says whether constants are others. */
xir_status normalise_constants(quantizing *q, xir_op *op, bool *fits, bool *changed);

/* ---- borders.c --------------------------------------------------------------------------------------------------- */

/* Puts a stored value in the place of a float: it is what Quantize makes of it, or a Cast where the scheme has no
 * pairs, before `before`. With q->products only convolutions and products read it. */
xir_status store_value(quantizing *q, xir_value *value, const xir_type *element, xir_op *before);
/* A Cast of a value to another element type, before `before`. NULL without memory. */
xir_value *cast_value(quantizing *q, xir_value *value, const xir_type *element, xir_op *before);
/* Moves the uses of a value to what is made of it; with q->products those by products alone. */
xir_status move_uses(const quantizing *q, xir_value *from, xir_value *to);
/* Makes the stored inputs of an op floats, by one Cast for each value. */
xir_status read_floats(quantizing *q, xir_op *op);
/* Gives the outputs of the network their names back, which are in `names`. */
xir_status name_outputs(quantizing *q, const xir_str *names);

/* ---- floats.c ---------------------------------------------------------------------------------------------------- */

/* Makes fp32 values and constants floats of a type. XIR_E_MISSING, XIR_E_BOUNDS for a constant that it does not hold,
 * and what inference returns. */
xir_status quantize_floats(quantizing *q, const xir_type *element);

#endif
