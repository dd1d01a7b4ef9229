/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Schemes of quantisation: which numbers a back end stores where. A scheme is a row, which the pass quantize follows;
 * programs and plug-ins register rows of their own. docs/quantize.md has the formulas and an example. */
#ifndef XIR_SCHEME_H
#define XIR_SCHEME_H

#include <xir/type.h>

XIR_BEGIN

/* The ways to store the bias of a convolution or a matrix product. */
typedef enum xir_scheme_bias {
    XIR_SCHEME_BIAS_PRODUCT, /* integers with the scale float(Sx * Sw) of the products                               */
    XIR_SCHEME_BIAS_FLOAT,   /* floats of bias_format                                                                */
    XIR_SCHEME_BIAS_EXP      /* sint(2b) with m * 2^-n, for maps of b bits; goes with XIR_SCHEME_NORMALISED          */
} xir_scheme_bias;

/* Traits of a scheme. */
enum {
    XIR_SCHEME_PAIRS       = 1,    /* ops give floats, which Quantize stores; otherwise ops store their results      */
    XIR_SCHEME_ZERO_POINTS = 2,    /* maps are unsigned with zero points, unless the option `maps` says otherwise    */
    XIR_SCHEME_FULL_RANGE  = 4,    /* signed maps begin at -2^(b-1), otherwise at -(2^(b-1) - 1)                     */
    XIR_SCHEME_HALF_EVEN   = 8,    /* ties go to even, otherwise away from 0                                         */
    XIR_SCHEME_NORMALISED  = 16,   /* maps hold x / N, and weights have scales m * 2^-e                              */
    XIR_SCHEME_POW2        = 32,   /* all scales are powers of two; not with XIR_SCHEME_NORMALISED                   */
    XIR_SCHEME_PER_TENSOR  = 64    /* all weights of an op have one scale; not with XIR_SCHEME_NORMALISED            */
};

/* A scheme. It must be constant and live as long as the context. It may grow at its end. */
typedef struct xir_scheme_decl {
    uint32_t         abi, size;    /* XIR_ABI, sizeof(xir_scheme_decl)                                               */
    const char      *name;         /* lower-case letters, digits and dashes, as in scheme=NAME                       */
    const char      *doc;          /* one line                                                                       */
    uint64_t         traits;       /* XIR_SCHEME_...                                                                 */
    uint32_t         map_bits;     /* of maps, 2 to 16                                                               */
    uint32_t         wide_bits;    /* of maps, as an option, more than map_bits and at most 16; 0: none              */
    uint32_t         weight_bits;  /* of weights, 2 to 16; 0: those of maps, as XIR_SCHEME_NORMALISED has it         */
    xir_scheme_bias  bias;
    /* Of XIR_SCHEME_BIAS_FLOAT; otherwise 0. */
    xir_float_format bias_format;
    /* Of XIR_SCHEME_BIAS_PRODUCT: 8 to 32, otherwise 0. If a bias does not fit, the scales of its weights grow. */
    uint32_t         bias_bits;
    /* Of XIR_SCHEME_BIAS_EXP, otherwise 0: 1 <= m <= most_m, which is 2^k - 1 with k from 1 to 16; and
     * 0 <= e - n <= most_shift, which is at most 16. Where no such numbers reach the constants, Nz grows. */
    uint32_t         most_m, most_shift;
} xir_scheme_decl;

#define XIR_SCHEME_HEAD(name_, doc_) .abi = XIR_ABI, .size = sizeof(xir_scheme_decl), .name = (name_), .doc = (doc_)

/* Registers a scheme. XIR_E_EXISTS if another one has the name, XIR_E_INVALID if the row contradicts itself or is NULL,
 * XIR_E_BOUNDS for a number outside of its bounds, XIR_E_ABI for a row of another version, XIR_E_UNSUPPORTED if it sets
 * what this version does not know, XIR_E_MEMORY. On failure the context is unchanged. */
XIR_API xir_status xir_scheme_register(xir_context *ctx, const xir_scheme_decl *decl, xir_diags *why);
/* The first returns the scheme of a name, or NULL if none has it. The second returns the i-th scheme in the order of
 * registration, those of the library first, or NULL past the end. */
XIR_API const xir_scheme_decl *xir_scheme_find(xir_context *ctx, xir_str name);
XIR_API const xir_scheme_decl *xir_scheme_at(xir_context *ctx, size_t i);

XIR_END

#endif
