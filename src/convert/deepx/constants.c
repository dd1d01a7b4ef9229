/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Calls that fill a tensor: with one number, with a series, or with numbers drawn as the executor draws them. */
#include <math.h>
#include <string.h>
#include "deepx/deepx.h"
#include "source_tags.h"

enum { MOST_DRAWN = 1 << 24 };

/* ---- one number, a series --------------------------------------------------------------------------------------- */

static bool fill(xir_node *at, double v) {
    const xir_type *type = deepx_known_target(at);
    const xir_ints dims = node_dims_of(at, type);
    return xir_node_becomes(at, "Expand", INS(deepx_scalar(at, xir_type_element(type), v)),
                            SETS(LIST("sizes", &dims)));
}

/* A tensor that is read before anything is written to it. The executor leaves its elements as they are in memory. */
bool deepx_newtensor(xir_node *at) { return fill(at, 0); }

bool deepx_constant(xir_node *at) {
    double v;
    return deepx_number(at, 0, &v) && fill(at, v);
}

/* The numbers of a new constant of the target's type; NULL after a failure. */
static double *begin_numbers(xir_node *at, const xir_type **type, size_t *n) {
    int64_t count = 0;
    *type = deepx_known_target(at);
    if (!*type) return NULL;
    if (xir_type_elements(*type, &count) || count > MOST_DRAWN)
        return xir_node_unsupported(at, "a constant of more than %d elements", MOST_DRAWN), NULL;
    *n = (size_t)count;
    return node_take(at, (*n + 1) * sizeof(double));
}

static xir_value *end_numbers(xir_node *at, const xir_type *type, const double *v, size_t n) {
    const xir_ints dims = node_dims_of(at, type);
    return dims.v ? xir_node_constant(at, xir_type_element(type), &dims, v, n) : NULL;
}

/* start + i * step; of integers, both without their fractions, and the sum wraps. */
bool deepx_arange(xir_node *at) {
    const xir_type *type;
    double start, step;
    size_t n;
    if (!deepx_number(at, 0, &start) || !deepx_number(at, 1, &step)) return false;
    double *v = begin_numbers(at, &type, &n);
    if (!v) return false;
    const xir_type *element = xir_type_element(type);
    const bool real = xir_type_kind_of(element) == XIR_TYPE_FLOAT;
    const int bits = (int)xir_type_storage_bits(element);
    if (!real) start = trunc(start), step = trunc(step);
    for (size_t i = 0; i < n; i++) {
        v[i] = start + (double)i * step;
        if (real || bits >= 64) continue;
        const double range = ldexp(1, bits), half = range / 2;
        v[i] -= range * floor((v[i] + half) / range);
    }
    return xir_node_result(at, 0, end_numbers(at, type, v, n));
}

/* ---- drawn numbers: C++'s minstd_rand0 as libstdc++ uses it ----------------------------------------------------- */

typedef struct engine { uint64_t state; } engine;

static const uint64_t modulus = 2147483647;

static engine seeded(uint32_t seed) {
    const uint64_t state = seed % modulus;
    return (engine){ state ? state : 1 };
}

/* From two draws a number from 0 to below 1. */
static double next_unit(engine *e) {
    const double range = (double)(modulus - 1);
    e->state = e->state * 16807 % modulus;
    const double low = (double)(e->state - 1);
    e->state = e->state * 16807 % modulus;
    const double v = (low + (double)(e->state - 1) * range) / (range * range);
    return v < 1 ? v : nextafter(1, 0);
}

/* A seed is read as a float, and then as an integer: from 2^31 on it is 2^31. */
static bool seed_of(xir_node *at, size_t i, engine *out) {
    double v;
    if (!deepx_number(at, i, &v)) return false;
    if (!(fabs(v) < 2147483648.0)) v = -2147483648.0;
    *out = seeded((uint32_t)(int32_t)v);
    return true;
}

/* The seed of dropout is read as a float, and then as an unsigned integer, whose low 32 bits count. */
static bool mask_seed_of(xir_node *at, size_t i, engine *out) {
    double v;
    if (!deepx_number(at, i, &v)) return false;
    *out = seeded(fabs(v) < 9e18 ? (uint32_t)(int64_t)v : 0);
    return true;
}

bool deepx_uniform(xir_node *at) {
    const xir_type *type;
    engine e = { 1 };
    double low, high;
    size_t n;
    if (!deepx_number(at, 0, &low) || !deepx_number(at, 1, &high) || !seed_of(at, 2, &e)) return false;
    double *v = begin_numbers(at, &type, &n);
    if (!v) return false;
    for (size_t i = 0; i < n; i++) v[i] = next_unit(&e) * (high - low) + low;
    return xir_node_result(at, 0, end_numbers(at, type, v, n));
}

/* Marsaglia's polar method gives two numbers at a time, the second one first. */
bool deepx_normal(xir_node *at) {
    const xir_type *type;
    engine e = { 1 };
    double mean, deviation;
    size_t n;
    if (!deepx_number(at, 0, &mean) || !deepx_number(at, 1, &deviation) || !seed_of(at, 2, &e)) return false;
    double *v = begin_numbers(at, &type, &n);
    if (!v) return false;
    for (size_t i = 0; i < n; i += 2) {
        double x, y, r;
        do {
            x = 2 * next_unit(&e) - 1;
            y = 2 * next_unit(&e) - 1;
            r = x * x + y * y;
        } while (r > 1 || r == 0);
        const double length = sqrt(-2 * log(r) / r);
        v[i] = y * length * deviation + mean;
        if (i + 1 < n) v[i + 1] = x * length * deviation + mean;
    }
    return xir_node_result(at, 0, end_numbers(at, type, v, n));
}

/* Elements become 0 with probability p: a product with a mask, which is an input of the network after the former
 * tensor, or drawn. */
bool deepx_dropout(xir_node *at) {
    const xir_type *type;
    engine e = { 1 };
    double p;
    size_t n;
    xir_value *x = xir_node_input(at, 0);
    if (!x || !deepx_number(at, 0, &p)) return false;
    if (at->n_in > 1) return xir_node_result(at, 0, xir_node_product(at, x, xir_node_input(at, 1)));
    if (source_tag_find(xir_network_tags(at->c->net), SOURCE_INFERENCE)) return xir_convert_copy(at);
    if (!mask_seed_of(at, 1, &e)) return false;
    double *v = begin_numbers(at, &type, &n);
    if (!v) return false;
    for (size_t i = 0; i < n; i++) v[i] = next_unit(&e) >= p;
    return xir_node_result(at, 0, xir_node_product(at, x, end_numbers(at, type, v, n)));
}
