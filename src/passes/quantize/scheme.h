/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Schemes: what is stored where in a quantised network. A scheme is a row. */
#ifndef QUANTIZE_SCHEME_H
#define QUANTIZE_SCHEME_H

#include <xir/type.h>

typedef enum bias_rule {
    BIAS_PRODUCT,   /* sint(32) with the scale of the products, Sx * Sw     */
    BIAS_FP16,      /* fp16                                                 */
    BIAS_EXP        /* sint(2b) with m * 2^-n; see buyi.c                   */
} bias_rule;

typedef struct scheme {
    const char *name;
    bool        pairs;         /* ops give floats, which Quantize stores; otherwise ops store their results     */
    bool        zero_points;   /* maps are unsigned, with zero points, unless the option says otherwise         */
    bool        full_range;    /* signed numbers begin at -2^(b-1)                                              */
    bool        half_even;     /* ties of maps go to even, otherwise away from 0                                */
    bool        normalised;    /* maps hold x / N, and constants are stored for these numbers                   */
    uint32_t    map_bits;      /* of maps                                                                       */
    uint32_t    wide_bits;     /* of maps, as an option; 0: none                                                */
    uint32_t    weight_bits;   /* of weights; 0: those of maps                                                  */
    bias_rule   bias;
} scheme;

/* The scheme of a name; NULL if there is none. */
const scheme *scheme_of(xir_str name);
/* Their names, "onnx, zhuge or buyi". */
const char *scheme_names(void);

/* A quantiser of maps: q = round(x / scale) + zero. */
typedef struct map_quantum { double scale; int64_t zero; } map_quantum;

#endif
