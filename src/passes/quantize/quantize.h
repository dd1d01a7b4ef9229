/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The state of one run of the pass quantize, and the steps that its files implement. */
#ifndef QUANTIZE_QUANTIZE_H
#define QUANTIZE_QUANTIZE_H

#include "precision.h"
#include "ranges.h"
#include "ratios.h"
#include "scheme.h"

/* The roles of an op. */
typedef enum op_role {
    ROLE_NONE,      /* it reads floats, or it is new                         */
    ROLE_CARRIES,   /* it moves elements, and gives the type of its input    */
    ROLE_COMPUTES   /* it gives stored numbers, or reads them, in its own way */
} op_role;

typedef struct quantizing {
    xir_pass     *at;
    xir_network  *net;
    scheme        scheme;
    uint32_t      bits;          /* of maps                                                      */
    bool          symmetric;     /* maps are signed, without zero points                         */
    bool          per_channel;   /* weights have a scale for each output channel                 */
    bool          pow2;          /* scales are powers of two                                     */
    bool          real_maps;     /* normalised maps are floats, x / N                            */
    bool          even_maps;     /* normalised maps have one ratio each, unless they are joined  */
    bool          again;         /* the network is normalised already                            */
    bool          products;      /* only what convolutions and matrix products read              */
    bool          strict;        /* an op that stays in floats is an error                       */
    bool          outputs_stay;  /* outputs of the network keep the types that quantising gives  */
    bool         *tails;         /* by slot: moves whose results only the network's results are made of */
    size_t        n_tails;
    xir_str       keep;          /* names of ops that stay in floats, between ';'                */
    precision     precision;     /* of single ops                                                */
    value_ranges  ranges;
    uint8_t      *roles;         /* op_role, by slot                                             */
    size_t        n_roles;
    ratio_plan    plan;          /* of normalised maps                                           */
    pointer_table casts;         /* a quantised value: the index of its floats in `floats`       */
    xir_value   **floats;
    size_t        n_floats, room;
    size_t        left;          /* ops that stay in floats between Casts */
    const xir_op *first_left;
} quantizing;

static inline bool is_stored(const xir_value *v) {
    const xir_type_kind kind = v ? xir_type_kind_of(xir_type_element(v->type)) : XIR_TYPE_OTHER;
    return kind >= XIR_TYPE_NORMALIZED && kind <= XIR_TYPE_NORMALIZED_QUANTIZED;
}
static inline op_role role_of(const quantizing *q, const xir_op *op) {
    return op->slot < q->n_roles ? (op_role)q->roles[op->slot] : ROLE_NONE;
}
static inline bool is_float(const xir_value *v) {
    return v && xir_type_kind_of(xir_type_element(v->type)) == XIR_TYPE_FLOAT;
}

/* ---- quantize.c -------------------------------------------------------------------------------------------------- */

/* Makes integers, or normalised floats, of the values that have ranges; with `floats` all values get this type instead.
 * Results of the network keep their names. What `q` needs for it is made and freed. */
xir_status quantize_run(quantizing *q, const xir_type *floats);
/* XIR_E_UNKNOWN if `keep` has a name that no op has. */
xir_status check_kept(quantizing *q);
/* An op that makes stored or normalised numbers: the network is quantised already. NULL: none does. *again is true if
 * all of them are normalised floats, which can become integers. */
const xir_op *find_stored(const xir_network *net, bool *again);
/* The index of a word among two. XIR_E_UNKNOWN. */
xir_status read_choice(xir_pass *at, const char *option, const char *first, const char *second, bool *is_second);

/* ---- values.c ---------------------------------------------------------------------------------------------------- */

/* A class that moves elements, or chooses some: ONNX computes it on the integers. */
bool is_move(const xir_op *op);
/* Finds the moves whose results only results of the network are made of. XIR_E_MEMORY. */
xir_status find_tails(quantizing *q);
/* Returns true if a value only leads to results of the network: the Output op reads it, or moves whose results do. */
bool is_result(const quantizing *q, const xir_value *value);
/* The range that a value is stored with; NULL: it stays a float. */
const value_range *stored_range(const quantizing *q, const xir_value *value);
/* Returns true if the value is a product that a clip alone reads; then *after is the range after the clip, or NULL. */
bool is_before_clip(const quantizing *q, const xir_value *value, const value_range **after);

/* ---- maps.c ------------------------------------------------------------------------------------------------------ */

/* The element type of a map with a range that has so many bits. NULL without memory. Normalised maps have a ratio for
 * each index of the last dim; until the plan is made, all are PROBE. */
const xir_type *map_element(const quantizing *q, const xir_type *type, const value_range *range, uint32_t bits);
enum { PROBE = 2 };
/* A scale as the scheme has it: a float32 above 0, with pow2 a power of two that is not less. */
double scale_of(const quantizing *q, double scale);

/* ---- products.c -------------------------------------------------------------------------------------------------- */

/* A convolution or a matrix product. */
bool is_product(const xir_op *op);
/* Returns true if the first two operands can be integers: maps that are stored, or constants with bytes. */
bool product_fits(const xir_op *op);
/* Stores the constants of such an op. XIR_E_MISSING, XIR_E_INVALID for numbers that are not finite. */
xir_status quantize_constants(quantizing *q, xir_op *op);

/* ---- factors.c, factors_product.c -------------------------------------------------------------------------------- */

/* Returns true if the constants of an op can be made to contain ratios, whatever these are. */
bool factors_fit(const quantizing *q, const xir_op *op);
/* Joins channels in the plan until they can. */
void factors_join(quantizing *q, const xir_op *op);
/* Multiplies the constants of an op by the ratios of the plan. XIR_E_MISSING, XIR_E_INVALID. */
xir_status factors_apply(quantizing *q, xir_op *op);

/* ---- normalise.c ------------------------------------------------------------------------------------------------- */

/* Returns true if an op whose maps are normalised can compute: its class takes them, and its constants fit. */
xir_status normalise_takes(const quantizing *q, const xir_op *op, bool *takes);
/* Chooses the ratios of all maps, and gives the maps and the constants theirs. */
xir_status normalise_network(quantizing *q);
/* The roles of the ops of a network that is normalised already, whose maps become integers. */
xir_status normalise_again(quantizing *q);

/* ---- buyi.c ------------------------------------------------------------------------------------------------------ */

/* Raises ratios until the constants of all products have scales. */
xir_status buyi_fit(quantizing *q);
/* Stores the constants of a product in integers, with the ratios of the plan; *stored is false for other ops. */
xir_status buyi_store(quantizing *q, xir_op *op, bool *stored);
/* Gives the product of two maps its cut_scale, or none if m * 2^-e is not the product of their ratios. */
xir_status buyi_cut(quantizing *q, xir_op *op);

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
