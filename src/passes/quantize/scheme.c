/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The rows of the library's schemes, and the rules for registering more. */
#include "scheme.h"
#include <stdio.h>
#include "context.h"
#include "manager/pipeline.h"
#include "sized.h"

enum {
    ALL_TRAITS = 2 * XIR_SCHEME_PER_TENSOR - 1,
    LEAST_BITS = 2, MOST_BITS = 16, LEAST_BIAS = 8, MOST_BIAS = 32, MOST_SHIFT = 16
};

static const xir_scheme_decl onnx = {
    XIR_SCHEME_HEAD("onnx", "pairs of QuantizeLinear and DequantizeLinear"),
    .traits = XIR_SCHEME_PAIRS | XIR_SCHEME_ZERO_POINTS | XIR_SCHEME_FULL_RANGE | XIR_SCHEME_HALF_EVEN,
    .map_bits = 8, .wide_bits = 16, .weight_bits = 8, .bias = XIR_SCHEME_BIAS_PRODUCT, .bias_bits = 32,
};
static const xir_scheme_decl zhuge = {
    XIR_SCHEME_HEAD("zhuge", "integers of 8 bits, and a bias of fp16"),
    .map_bits = 8, .weight_bits = 8, .bias = XIR_SCHEME_BIAS_FLOAT, .bias_format = XIR_FLOAT_FP16,
};
static const xir_scheme_decl buyi = {
    XIR_SCHEME_HEAD("buyi", "normalised numbers, and scales m * 2^-e"),
    .traits = XIR_SCHEME_NORMALISED, .map_bits = 8, .wide_bits = 16, .bias = XIR_SCHEME_BIAS_EXP, .most_m = 255,
    .most_shift = 5,
};
static const xir_scheme_decl *const built_in[] = { &onnx, &zhuge, &buyi };

/* ---- registering ------------------------------------------------------------------------------------------------- */

static bool are_bits(uint32_t bits) { return bits >= LEAST_BITS && bits <= MOST_BITS; }

static xir_status check_bits(const xir_scheme_decl *s, xir_diags *why) {
    const bool exp = s->bias == XIR_SCHEME_BIAS_EXP, product = s->bias == XIR_SCHEME_BIAS_PRODUCT;
    const char *wrong = NULL;
    if (!are_bits(s->map_bits)) wrong = "map_bits of 2 to 16";
    else if (s->wide_bits && (s->wide_bits <= s->map_bits || !are_bits(s->wide_bits)))
        wrong = "wide_bits of 0, or more than map_bits and at most 16";
    else if (s->weight_bits && !are_bits(s->weight_bits)) wrong = "weight_bits of 0, or 2 to 16";
    else if (product ? s->bias_bits < LEAST_BIAS || s->bias_bits > MOST_BIAS : s->bias_bits != 0)
        wrong = "bias_bits of 8 to 32 for a bias of products, otherwise 0";
    else if (exp ? !s->most_m || s->most_m > UINT16_MAX || (s->most_m & (s->most_m + 1)) : s->most_m != 0)
        wrong = "a most_m of 2^k - 1 with k from 1 to 16 for a bias of m * 2^-n, otherwise 0";
    else if (s->most_shift > (exp ? MOST_SHIFT : 0))
        wrong = "a most_shift of 0 to 16 for a bias of m * 2^-n, otherwise 0";
    return wrong ? diag_fail(why, XIR_E_BOUNDS, XIR_STR(""), "the scheme %s: expected %s", s->name, wrong) : XIR_OK;
}

static xir_status check_traits(const xir_scheme_decl *s, xir_diags *why) {
    const bool normalised = s->traits & XIR_SCHEME_NORMALISED, exp = s->bias == XIR_SCHEME_BIAS_EXP;
    const bool floats = s->bias == XIR_SCHEME_BIAS_FLOAT;
    const char *wrong = NULL;
    if ((unsigned)s->bias > XIR_SCHEME_BIAS_EXP) wrong = "a bias that is known";
    else if ((unsigned)s->bias_format > XIR_FLOAT_FPE6M9 || (!floats && s->bias_format))
        wrong = "a bias_format for a bias of floats alone";
    else if (normalised != exp) wrong = "normalised maps and a bias of m * 2^-n, or neither";
    else if (normalised && (s->weight_bits || s->traits != XIR_SCHEME_NORMALISED))
        wrong = "no other trait and no weight_bits for normalised maps";
    return wrong ? diag_fail(why, XIR_E_INVALID, XIR_STR(""), "the scheme %s: expected %s", s->name, wrong) : XIR_OK;
}

static xir_status check_scheme(xir_context *ctx, const void *const *items, size_t i, const char **name,
                               xir_diags *why) {
    const xir_scheme_decl *s = items[i];
    (void)ctx;
    if (s->abi != XIR_ABI || s->size < SIZE_TO(xir_scheme_decl, most_shift))
        return diag_fail(why, XIR_E_ABI, XIR_STR(""),
                         "a scheme was declared for another version of the binary interface");
    if (!s->name || !pipeline_is_name(xir_str_of(s->name)) || !s->doc)
        return diag_fail(why, XIR_E_INVALID, XIR_STR(""), "'%s' is not a scheme: expected a name of lower-case letters, "
                         "digits and dashes, and a description", s->name ? s->name : "");
    *name = s->name;
    if (sized_beyond(s, sizeof *s, s->size) < s->size || s->traits & ~(uint64_t)ALL_TRAITS)
        return diag_fail(why, XIR_E_UNSUPPORTED, XIR_STR(""), "the scheme %s sets what this version does not know",
                         s->name);
    const xir_status status = check_traits(s, why);
    return status ? status : check_bits(s, why);
}

static const registry_rules rules = { .noun = "scheme", .check = check_scheme };

xir_status schemes_define(xir_context *ctx) {
    registry_define(ctx, REGISTRY_SCHEME, &rules);
    return registry_add(ctx, REGISTRY_SCHEME, (const void *const *)built_in, sizeof built_in / sizeof *built_in, NULL);
}

xir_status xir_scheme_register(xir_context *ctx, const xir_scheme_decl *decl, xir_diags *why) {
    const void *item = decl;
    return registry_add(ctx, REGISTRY_SCHEME, &item, 1, why);
}

/* ---- asking ------------------------------------------------------------------------------------------------------ */

const xir_scheme_decl *xir_scheme_find(xir_context *ctx, xir_str name) {
    return registry_find(ctx, REGISTRY_SCHEME, name);
}

const xir_scheme_decl *xir_scheme_at(xir_context *ctx, size_t i) { return registry_at(ctx, REGISTRY_SCHEME, i); }

bool scheme_find(xir_context *ctx, xir_str name, scheme *out) {
    const xir_scheme_decl *found = xir_scheme_find(ctx, name);
    xir_scheme_decl s = { 0 };
    if (!found) return false;
    memcpy(&s, found, found->size < sizeof s ? found->size : sizeof s);
    *out = (scheme){
        .name = s.name, .pairs = s.traits & XIR_SCHEME_PAIRS, .zero_points = s.traits & XIR_SCHEME_ZERO_POINTS,
        .full_range = s.traits & XIR_SCHEME_FULL_RANGE, .half_even = s.traits & XIR_SCHEME_HALF_EVEN,
        .normalised = s.traits & XIR_SCHEME_NORMALISED, .pow2 = s.traits & XIR_SCHEME_POW2,
        .per_tensor = s.traits & XIR_SCHEME_PER_TENSOR, .map_bits = s.map_bits, .wide_bits = s.wide_bits,
        .weight_bits = s.weight_bits, .bias = s.bias, .bias_format = s.bias_format, .bias_bits = s.bias_bits,
        .most_m = s.most_m, .most_shift = s.most_shift,
    };
    return true;
}

void scheme_names(xir_context *ctx, char *out, size_t room) {
    size_t at = 0;
    out[0] = '\0';
    for (size_t i = 0; xir_scheme_at(ctx, i) && at + 1 < room; i++) {
        const char *before = !i ? "" : xir_scheme_at(ctx, i + 1) ? ", " : " or ";
        at += (size_t)snprintf(out + at, room - at, "%s%s", before, xir_scheme_at(ctx, i)->name);
    }
}
