/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The constants of ops whose maps hold x / N. They are stored for these numbers: weights w * Nx / Nz, a bias b / Nz,
 * the factors of Add and of products of two maps likewise (docs/executor.md). Buyi multiplies by m * 2^-e:
 *
 *   weights   sint(b), m * 2^-e with 1 <= m <= 255, one e for all channels, so that the greatest m is above 127. A
 *             scale is never less than the weights need
 *   bias      sint(2b), m * 2^-n with the same m, 0 <= e - n <= 5, b <= n <= 2b
 *   depthwise one scale for weights and bias: n = e
 *   Matmul    one scale for all channels
 *
 * Where no such numbers exist, Nz grows: the constants become less, and a step of the result coarser. */
#include <math.h>
#include <xir/exec.h>
#include <xir/icraft.h>
#include <xir/ops.h>
#include "constants.h"
#include "support/upkeep.h"

enum { MOST_M = 255, MOST_SHIFT = 5, TRIES = 200 };

double ratio_of(const xir_value *v) {
    const xir_norm_ratios *ratios = v ? xir_type_norm_ratios(v->type) : NULL;
    return ratios && xir_norm_ratios_count(ratios) ? xir_norm_ratios_at(ratios, 0) : 1;
}

/* Gives a result another ratio. */
static xir_status set_ratio(quantizing *q, xir_value *v, double ratio) {
    const xir_type *element = normalised_element(q, v->type, ratio);
    const xir_type *type = element ? xir_type_with_element(q->net->ctx, v->type, element, q->at->why) : NULL;
    return type ? xir_value_set_type(v, type) : XIR_E_MEMORY;
}

/* ---- m * 2^-e --------------------------------------------------------------------------------------------------- */

/* The e for which the greatest of the scales has an m of 128 to 255. */
static int exponent_of(double greatest) {
    if (!(greatest > 0)) return 0;
    int e = 7 - ilogb(greatest);
    while (ceil(ldexp(greatest, e)) > MOST_M) e--;
    return e;
}

static int64_t m_of(double scale, int e) {
    const double m = ceil(ldexp(scale, e));
    return m < 1 ? 1 : m > MOST_M ? MOST_M : (int64_t)m;
}

/* The element type of constants with the scales m[c] * 2^-e. */
static const xir_type *exp_integers(const quantizing *q, const int64_t *m, int e, size_t n, int64_t axis,
                                    int64_t bits) {
    const xir_allocator *alloc = &q->net->alloc;
    int64_t *exps = mem_new(alloc, n * sizeof *exps);
    double *origins = mem_new(alloc, n * sizeof *origins);
    const xir_type *out = NULL, *storage = xir_type_sint(q->net->ctx, bits);
    for (size_t c = 0; c < n && exps && origins; c++) {
        exps[c] = e;
        origins[c] = ldexp((double)m[c], -e);
    }
    const xir_scales *scales = exps && origins
        ? xir_exp_scales_from(q->net->ctx, m, exps, origins, n, n > 1 ? axis : -1) : NULL;
    if (scales && storage) out = xir_type_quantized(q->net->ctx, scales, NULL, 0, storage, NULL);
    mem_free(alloc, exps, n * sizeof *exps);
    mem_free(alloc, origins, n * sizeof *origins);
    return out;
}

/* ---- convolutions and matrix products --------------------------------------------------------------------------- */

typedef struct product {
    xir_op   *op;
    constant  w, bias;
    bool      has_bias, depthwise;
    double   *most, *most_bias, *scales;   /* greatest |w|, greatest |b|; room for either */
    int64_t  *m;
    int       e, n;
    double    nx, nz;
} product;

/* Chooses m, e and n for the present Nz. False if there are none. */
static bool choose(const quantizing *q, product *p) {
    const int b = (int)q->bits;
    const double most_w = ldexp(1, b - 1) - 1, most_b = ldexp(1, 2 * b - 1) - 1, factor = p->nx / p->nz;
    double greatest = 0;
    for (size_t c = 0; c < p->w.n; c++) {
        double s = p->most[c] * factor / most_w;
        if (p->depthwise && p->has_bias) s = fmax(s, p->most_bias[p->bias.n == 1 ? 0 : c] / p->nz / most_b);
        p->scales[c] = s;
        greatest = fmax(greatest, s);
    }
    const int least = b, most = p->depthwise ? 2 * b : 2 * b + MOST_SHIFT;
    p->e = greatest > 0 ? exponent_of(greatest) : most;
    if (p->e < least) return false;
    if (p->e > most) p->e = most;
    for (size_t c = 0; c < p->w.n; c++) p->m[c] = m_of(p->scales[c], p->e);
    p->n = p->depthwise || p->e < 2 * b ? p->e : 2 * b;
    for (size_t c = 0; c < p->bias.n && p->has_bias && !p->depthwise; c++) {
        const double need = p->most_bias[c] / p->nz, m = (double)p->m[p->w.n == 1 ? 0 : c];
        while (p->n >= b && p->n >= p->e - MOST_SHIFT && need > most_b * ldexp(m, -p->n)) p->n--;
    }
    return p->n >= b && p->n >= p->e - MOST_SHIFT;
}

/* A result that is stored may have a greater ratio. */
static xir_status fit(quantizing *q, product *p, bool *fits) {
    xir_value *out = xir_op_output(p->op, 0);
    const double before = p->nz;
    int tries = 0;
    while (!(*fits = choose(q, p)) && is_stored(out) && tries++ < TRIES) p->nz = (double)(float)(p->nz * 1.25);
    return *fits && p->nz != before ? set_ratio(q, out, p->nz) : XIR_OK;
}

static xir_status store_product(quantizing *q, product *p) {
    const int64_t b = q->bits;
    const double most_w = ldexp(1, (int)b - 1) - 1, most_b = ldexp(1, 2 * (int)b - 1) - 1;
    const xir_type *element = exp_integers(q, p->m, p->e, p->w.n, p->w.axis, b);
    for (size_t c = 0; c < p->w.n; c++) p->scales[c] = ldexp((double)p->m[c], -p->e);
    p->w.factor = p->nx / p->nz;
    xir_value *made = element ? constant_store(q, &p->w, element, p->scales, most_w) : NULL;
    xir_status status = made ? xir_op_set_input(p->op, 1, made) : XIR_E_MEMORY;
    if (status || !p->has_bias) return status;
    element = exp_integers(q, p->m, p->n, p->bias.n, p->bias.axis, 2 * b);
    for (size_t c = 0; c < p->bias.n; c++) p->scales[c] = ldexp((double)p->m[c], -p->n);
    p->bias.factor = 1 / p->nz;
    made = element ? constant_store(q, &p->bias, element, p->scales, most_b) : NULL;
    return made ? xir_op_set_input(p->op, 2, made) : XIR_E_MEMORY;
}

/* A convolution in which each input channel has kernels of its own. */
static bool is_depthwise(const xir_op *op) {
    xir_attr groups;
    if (xir_op_is(op, xir_matmul_class()) || xir_op_get(op, XIR_STR("groups"), &groups) != XIR_OK) return false;
    return groups.as.i64 > 1 && xir_type_axis_dim(xir_op_input(op, 1)->type, 'I', false) == 1;
}

static xir_status open_product(quantizing *q, product *p, bool *fits) {
    xir_value *bias = xir_op_input(p->op, 2);
    const int64_t channels = xir_op_is(p->op, xir_matmul_class()) ? -1 : weights_axis(q, p->op, 1);
    xir_status status = constant_open(q, p->op, xir_op_input(p->op, 1), channels, &p->w);
    *fits = !bias || is_constant(bias);
    if (status || !bias || !*fits) return status;
    const int64_t axis = p->w.n > 1 ? bias_axis(bias->type, (int64_t)p->w.n) : -1;
    *fits = p->w.n == 1 || axis >= 0;
    if (!*fits) return XIR_OK;
    p->has_bias = true;
    return constant_open(q, p->op, bias, axis, &p->bias);
}

static xir_status normalise_product(quantizing *q, xir_op *op, bool *fits) {
    product p = { .op = op, .nx = ratio_of(xir_op_input(op, 0)), .nz = ratio_of(xir_op_output(op, 0)) };
    p.depthwise = is_depthwise(op);
    xir_status status = open_product(q, &p, fits);
    const size_t size = 3 * p.w.n * sizeof(double), size_m = p.w.n * sizeof *p.m;
    double *room = status || !*fits ? NULL : mem_new(&q->net->alloc, size);
    p.m = room ? mem_new(&q->net->alloc, size_m) : NULL;
    if (!status && *fits && !p.m) status = XIR_E_MEMORY;
    if (p.m) {
        p.most = room;
        p.most_bias = p.most + p.w.n;
        p.scales = p.most_bias + p.w.n;
        status = constant_look(q, op, &p.w, p.most);
        if (!status && p.has_bias) status = constant_look(q, op, &p.bias, p.most_bias);
        if (!status) status = fit(q, &p, fits);
        if (!status && *fits) status = store_product(q, &p);
    }
    mem_free(&q->net->alloc, p.m, size_m);
    mem_free(&q->net->alloc, room, size);
    constant_close(&p.w);
    constant_close(&p.bias);
    return status;
}

/* ---- other ops -------------------------------------------------------------------------------------------------- */

/* A product of two maps is multiplied by Nx * Ny / Nz = m * 2^-e, which decides Nz. A result that is a float has no Nz,
 * and then the op computes with the real numbers of its maps. */
static xir_status normalise_two_maps(quantizing *q, xir_op *op, bool *fits) {
    xir_value *out = xir_op_output(op, 0);
    const double both = ratio_of(xir_op_input(op, 0)) * ratio_of(xir_op_input(op, 1));
    if (!is_stored(out)) return XIR_OK;
    int e = exponent_of(both / ratio_of(out));
    *fits = e >= 0;
    if (!*fits) return XIR_OK;
    const int64_t m = m_of(both / ratio_of(out), e), exps = e;
    const double cut = ldexp((double)m, -e);
    const size_t n = xir_norm_ratios_count(xir_type_norm_ratios(out->type)), size = n * sizeof(double);
    int64_t *ms = mem_new(&q->net->alloc, size), *es = mem_new(&q->net->alloc, size);
    double *origins = mem_new(&q->net->alloc, size);
    for (size_t c = 0; c < n && ms && es && origins; c++) {
        ms[c] = m;
        es[c] = exps;
        origins[c] = cut;
    }
    const xir_scales *scales = ms && es && origins
        ? xir_exp_scales_from(q->net->ctx, ms, es, origins, n, -1) : NULL;
    mem_free(&q->net->alloc, ms, size);
    mem_free(&q->net->alloc, es, size);
    mem_free(&q->net->alloc, origins, size);
    if (!scales) return XIR_E_MEMORY;
    const xir_attr attr = { .kind = XIR_KIND_REF, .as.ref = (const xir_object *)scales };
    const xir_status status = xir_op_set(op, XIR_STR("cut_scale"), &attr);
    return status ? status : set_ratio(q, out, both / cut);
}

/* New Params of an operand, multiplied by a factor; they stay floats. */
static xir_status scale_operand(quantizing *q, xir_op *op, uint32_t at, double factor) {
    constant c;
    xir_status status = constant_open(q, op, xir_op_input(op, at), -1, &c);
    c.factor = factor;
    xir_value *made = status ? NULL : constant_store(q, &c, xir_type_element(c.value->type), NULL, 0);
    if (!status) status = made ? xir_op_set_input(op, at, made) : XIR_E_MEMORY;
    constant_close(&c);
    return status;
}

static xir_status scale_factor(quantizing *q, xir_op *op, const char *name, const xir_refs *list, double factor) {
    if (list->size != 1) return XIR_E_UNSUPPORTED;
    const double was = xir_scalar_as_real((const xir_scalar *)list->data[0]);
    const xir_object *now = (const xir_object *)xir_scalar_real(q->net->ctx, was * factor);
    const xir_attr attr = { .kind = XIR_KIND_REFS, .as.refs = { &now, 1 } };
    return now ? xir_op_set(op, xir_str_of(name), &attr) : XIR_E_MEMORY;
}

/* A factor for each map, and the constant's own numbers divided by Nz. */
static xir_status normalise_add(quantizing *q, xir_op *op, bool *fits) {
    const double nz = ratio_of(xir_op_output(op, 0));
    const xir_add_attrs *a = xir_add_of(op);
    *fits = a->alpha.size == 1 && a->beta.size == 1;
    for (uint32_t i = 0; i < 2; i++) *fits &= is_stored(xir_op_input(op, i)) || is_constant(xir_op_input(op, i));
    for (uint32_t i = 0; i < 2 && *fits; i++) {
        const xir_value *v = xir_op_input(op, i);
        const xir_add_attrs *now = xir_add_of(op);
        const xir_status status = is_stored(v)
            ? scale_factor(q, op, i ? "beta" : "alpha", i ? &now->beta : &now->alpha, ratio_of(v) / nz)
            : scale_operand(q, op, i, 1 / nz);
        if (status) return status;
    }
    return XIR_OK;
}

static xir_status normalise_multiply(quantizing *q, xir_op *op, bool *fits) {
    const xir_value *x = xir_op_input(op, 0), *y = xir_op_input(op, 1);
    if (is_stored(x) && is_stored(y)) return normalise_two_maps(q, op, fits);
    const uint32_t at = is_constant(x) ? 0 : 1;
    const xir_value *map = at ? x : y;
    *fits = is_stored(map) && is_constant(at ? y : x);
    return *fits ? scale_operand(q, op, at, ratio_of(map) / ratio_of(xir_op_output(op, 0))) : XIR_OK;
}

xir_status normalise_constants(quantizing *q, xir_op *op, bool *fits, bool *changed) {
    bool normalised;
    xir_status status = XIR_OK;
    *fits = true;
    if (is_product(op)) {
        const xir_value *x = xir_op_input(op, 0), *y = xir_op_input(op, 1);
        if (is_stored(x) && is_constant(y)) status = normalise_product(q, op, fits);
        else if (is_stored(x) && is_stored(y) && !xir_op_input(op, 2)) status = normalise_two_maps(q, op, fits);
        else *fits = false;
    } else if (xir_op_is(op, xir_add_class())) status = normalise_add(q, op, fits);
    else if (xir_op_is(op, xir_multiply_class())) status = normalise_multiply(q, op, fits);
    if (status || !*fits) return status;
    const bool has_constants = is_product(op) || xir_op_is(op, xir_add_class()) || xir_op_is(op, xir_multiply_class());
    *changed = has_constants && (is_stored(xir_op_output(op, 0)) || is_constant(xir_op_input(op, 0)) ||
                                 value_is_params(xir_op_input(op, 1)) || xir_op_is(op, xir_add_class()));
    status = xir_op_is_normalised(op, &normalised, NULL);
    *fits = status == XIR_OK;
    return status == XIR_E_MEMORY ? status : XIR_OK;
}
