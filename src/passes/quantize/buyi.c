/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The constants of products whose maps hold x / N, as integers: weights w * Nx / Nz, a bias b / Nz. Buyi multiplies by
 * m * 2^-e:
 *
 *   weights   sint(b), m * 2^-e with 1 <= m <= 255, one e for all channels, so that the greatest m is above 127. A
 *             scale is never less than the weights need
 *   bias      sint(2b), m * 2^-n with the same m, 0 <= e - n <= 5, b <= n <= 2b
 *   depthwise one scale for weights and bias: n = e
 *   Matmul    one scale for all channels
 *   two maps  Nx * Ny / Nz is m * 2^-e, which decides Nz
 *
 * Where no such numbers exist, Nz grows: the constants become less, and a step of the result coarser. */
#include <math.h>
#include <xir/exec.h>
#include <xir/icraft.h>
#include <xir/ops.h>
#include "factors.h"
#include "support/upkeep.h"

enum { TRIES = 200, ROUNDS = 16 };

/* ---- m * 2^-e --------------------------------------------------------------------------------------------------- */

/* The e for which the greatest of the scales has an m of 128 to 255, the upper half of those that there are. */
static int exponent_of(const quantizing *q, double greatest) {
    if (!(greatest > 0)) return 0;
    int e = ilogb((double)q->scheme.most_m) - ilogb(greatest);
    while (ceil(ldexp(greatest, e)) > q->scheme.most_m) e--;
    return e;
}

static int64_t m_of(const quantizing *q, double scale, int e) {
    const double m = ceil(ldexp(scale, e));
    return m < 1 ? 1 : m > q->scheme.most_m ? q->scheme.most_m : (int64_t)m;
}

/* The scales m[c] * 2^-e. NULL without memory. */
static const xir_scales *exp_scales(const quantizing *q, const int64_t *m, int e, size_t n, int64_t axis) {
    const xir_allocator *alloc = &q->net->alloc;
    int64_t *exps = mem_new(alloc, n * sizeof *exps);
    double *origins = mem_new(alloc, n * sizeof *origins);
    for (size_t c = 0; c < n && exps && origins; c++) {
        exps[c] = e;
        origins[c] = ldexp((double)m[c], -e);
    }
    const xir_scales *scales = exps && origins
        ? xir_exp_scales_from(q->net->ctx, m, exps, origins, n, n > 1 ? axis : -1) : NULL;
    mem_free(alloc, exps, n * sizeof *exps);
    mem_free(alloc, origins, n * sizeof *origins);
    return scales;
}

/* The element type of constants with such scales. */
static const xir_type *exp_integers(const quantizing *q, const int64_t *m, int e, size_t n, int64_t axis,
                                    int64_t bits) {
    const xir_type *storage = xir_type_sint(q->net->ctx, bits);
    const xir_scales *scales = storage ? exp_scales(q, m, e, n, axis) : NULL;
    return scales ? xir_type_quantized(q->net->ctx, scales, NULL, 0, storage, NULL) : NULL;
}

static xir_status set_cut(xir_op *op, const xir_scales *scales) {
    return scales ? xir_op_set(op, XIR_STR("cut_scale"), &(xir_attr){ .kind = XIR_KIND_REF,
                               .as.ref = (const xir_object *)scales }) : XIR_E_MEMORY;
}


/* ---- convolutions and matrix products --------------------------------------------------------------------------- */

typedef struct product {
    xir_op   *op;
    constant  w, bias;
    bool      depthwise;
    int       bits;
    size_t    n_bias;
    double   *most, *most_bias, *scales;   /* greatest |w|, greatest |b|, with their ratios; room for either */
    int64_t  *m;
    int       e, n;
} product;

/* Chooses m, e and n if Nz grows by a factor. False if there are none. */
static bool choose(const quantizing *q, product *p, double growth) {
    const int b = p->bits, shift = (int)q->scheme.most_shift;
    const double most_w = ldexp(1, b - 1) - 1, most_b = ldexp(1, 2 * b - 1) - 1;
    double greatest = 0;
    for (size_t c = 0; c < p->w.n; c++) {
        double s = p->most[c] / growth / most_w;
        if (p->depthwise && p->n_bias) s = fmax(s, p->most_bias[p->n_bias == 1 ? 0 : c] / growth / most_b);
        p->scales[c] = s;
        greatest = fmax(greatest, s);
    }
    const int least = b, most = p->depthwise ? 2 * b : 2 * b + shift;
    p->e = greatest > 0 ? exponent_of(q, greatest) : most;
    if (p->e < least) return false;
    if (p->e > most) p->e = most;
    for (size_t c = 0; c < p->w.n; c++) p->m[c] = m_of(q, p->scales[c], p->e);
    p->n = p->depthwise || p->e < 2 * b ? p->e : 2 * b;
    for (size_t c = 0; c < p->n_bias && !p->depthwise; c++) {
        const double need = p->most_bias[c] / growth, m = (double)p->m[p->w.n == 1 ? 0 : c];
        while (p->n >= b && p->n >= p->e - shift && need > most_b * ldexp(m, -p->n)) p->n--;
    }
    return p->n >= b && p->n >= p->e - shift;
}

static xir_status store_product(quantizing *q, product *p) {
    const int64_t b = p->bits;
    const double most_w = ldexp(1, (int)b - 1) - 1, most_b = ldexp(1, 2 * (int)b - 1) - 1;
    const xir_type *element = exp_integers(q, p->m, p->e, p->w.n, p->w.axis, b);
    for (size_t c = 0; c < p->w.n; c++) p->scales[c] = ldexp((double)p->m[c], -p->e);
    xir_value *made = element ? constant_store(q, &p->w, element, p->scales, most_w) : NULL;
    xir_status status = made ? xir_op_set_input(p->op, 1, made) : XIR_E_MEMORY;
    if (status || !p->n_bias) return status;
    element = exp_integers(q, p->m, p->n, p->bias.n, p->bias.axis, 2 * b);
    for (size_t c = 0; c < p->bias.n; c++) p->scales[c] = ldexp((double)p->m[c], -p->n);
    made = element ? constant_store(q, &p->bias, element, p->scales, most_b) : NULL;
    return made ? xir_op_set_input(p->op, 2, made) : XIR_E_MEMORY;
}

/* A convolution in which each input channel has kernels of its own. */
static bool is_depthwise(const xir_op *op) {
    xir_attr groups;
    if (xir_op_is(op, xir_matmul_class()) || xir_op_get(op, XIR_STR("groups"), &groups) != XIR_OK) return false;
    return groups.as.i64 > 1 && xir_type_axis_dim(xir_op_input(op, 1)->type, 'I', false) == 1;
}

/* A product of a map and constants, which are floats. */
static bool is_of_constants(const quantizing *q, const xir_op *op) {
    const xir_value *bias = is_product(op) ? xir_op_input(op, 2) : NULL;
    return role_of(q, op) == ROLE_COMPUTES && is_product(op) && is_stored(xir_op_input(op, 0)) &&
           is_constant(xir_op_input(op, 1)) && (!bias || is_constant(bias));
}

/* Opens the constants, and looks at them. */
static xir_status look_at(quantizing *q, product *p) {
    const int64_t axis = xir_op_is(p->op, xir_matmul_class()) ? -1 : weights_axis(q, p->op, 1);
    const op_precision *said = precision_of(&q->precision, p->op);
    const xir_value *x = xir_op_input(p->op, 0), *z = xir_op_output(p->op, 0);
    p->bits = said && said->bits ? (int)said->bits
        : q->again ? (int)q->bits : (int)xir_type_storage_bits((is_stored(z) ? z : x)->type);
    p->depthwise = is_depthwise(p->op);
    xir_status status = product_open(q, p->op, axis, &p->w, &p->bias);
    if (status) return status;
    p->n_bias = p->bias.value ? p->bias.n : 0;
    const size_t n = p->w.n > p->n_bias ? p->w.n : p->n_bias;
    p->most = mem_new(&q->net->alloc, 3 * n * sizeof(double));
    p->m = mem_new(&q->net->alloc, n * sizeof *p->m);
    if (!p->most || !p->m) return XIR_E_MEMORY;
    p->most_bias = p->most + n;
    p->scales = p->most_bias + n;
    status = constant_look(q, p->op, &p->w, p->most);
    return status || !p->n_bias ? status : constant_look(q, p->op, &p->bias, p->most_bias);
}

static void close_product(const quantizing *q, product *p) {
    const size_t n = p->w.n > p->n_bias ? p->w.n : p->n_bias;
    mem_free(&q->net->alloc, p->most, 3 * n * sizeof(double));
    mem_free(&q->net->alloc, p->m, n * sizeof *p->m);
    constant_close(q, &p->w);
    constant_close(q, &p->bias);
}

/* ---- ratios that fit --------------------------------------------------------------------------------------------- */

/* Multiplies the ratios of a map, and of all that are joined with them. Each set has one ratio before, so all its
 * channels set the same one. */
static void raise(quantizing *q, const map_channels *c, double *room, double growth) {
    ratio_plan *p = &q->plan;
    for (uint32_t i = 0; i < c->n; i++) room[i] = p->ratio[ratios_root(p, c->first + i)];
    for (uint32_t i = 0; i < c->n; i++) p->ratio[ratios_root(p, c->first + i)] = (double)(float)(room[i] * growth);
}

/* A result that is a float has the ratio 1: where no scale fits, the op computes with floats. */
static xir_status leave_product(quantizing *q, xir_op *op) {
    if (q->again) return xir_pass_fail(q->at, XIR_E_UNSUPPORTED, op, "no m * 2^-e reaches the constants; keep the op");
    if (q->strict)
        return xir_pass_fail(q->at, XIR_E_UNSUPPORTED, op, "no m * 2^-e reaches the constants of the op");
    q->roles[op->slot] = ROLE_NONE;
    if (!q->left++) q->first_left = op;
    pointer_table_free(&q->casts);   /* Casts that ops read so far may be after this one */
    pointer_table_init(&q->casts, &q->net->alloc);
    return read_floats(q, op);
}

static xir_status fit_product(quantizing *q, xir_op *op, bool *changed) {
    product p = { .op = op };
    const map_channels *c = ratios_of(&q->plan, xir_op_output(op, 0));
    xir_status status = look_at(q, &p);
    double growth = 1;
    for (int tries = 0; !status && !choose(q, &p, growth) && c && tries < TRIES; tries++) growth *= 1.25;
    if (!status && !choose(q, &p, growth)) status = leave_product(q, op);
    else if (!status && growth > 1) {
        double *room = mem_new(&q->net->alloc, c->n * sizeof *room);
        if (room) raise(q, c, room, growth);
        else status = XIR_E_MEMORY;
        mem_free(&q->net->alloc, room, c->n * sizeof *room);
        *changed = true;
    }
    close_product(q, &p);
    return status;
}

static bool is_of_two_maps(const quantizing *q, const xir_op *op) {
    return role_of(q, op) == ROLE_COMPUTES && (is_product(op) || xir_op_is(op, xir_multiply_class())) &&
           is_stored(xir_op_input(op, 0)) && is_stored(xir_op_input(op, 1));
}

/* The greatest m * 2^-e that is not above the product of the ratios; false if e would be negative. */
static bool cut_of(const quantizing *q, const xir_op *op, int64_t *m, int *e) {
    const ratio_plan *p = &q->plan;
    const double cut = ratio_at(p, xir_op_input(op, 0), 0) * ratio_at(p, xir_op_input(op, 1), 0) /
                       ratio_at(p, xir_op_output(op, 0), 0);
    *e = ilogb((double)q->scheme.most_m) - ilogb(cut);
    *m = (int64_t)floor(ldexp(cut, *e) * (1 + 1e-6));   /* Nz was rounded to float32 */
    if (*m > q->scheme.most_m) {
        *m = (q->scheme.most_m + 1) / 2;
        --*e;
    }
    return *e >= 0;
}

static void fit_two_maps(quantizing *q, const xir_op *op, bool *changed) {
    const ratio_plan *p = &q->plan;
    const map_channels *c = ratios_of(p, xir_op_output(op, 0));
    int64_t m;
    int e;
    if (!c || !cut_of(q, op, &m, &e)) return;
    const double both = ratio_at(p, xir_op_input(op, 0), 0) * ratio_at(p, xir_op_input(op, 1), 0);
    const double now = (double)(float)(both / ldexp((double)m, -e)), was = p->ratio[ratios_root(p, c->first)];
    if (fabs(now - was) <= 1e-6 * was) return;
    p->ratio[ratios_root(p, c->first)] = now;
    *changed = true;
}

xir_status buyi_fit(quantizing *q) {
    bool changed = true;
    xir_status status = XIR_OK;
    for (int round = 0; round < ROUNDS && changed && !status; round++) {
        changed = false;
        for (xir_op *op = q->net->first; op && !status; op = op->next) {
            if (is_of_constants(q, op)) status = fit_product(q, op, &changed);
            else if (is_of_two_maps(q, op)) fit_two_maps(q, op, &changed);
        }
    }
    return status;
}

/* ---- storing ----------------------------------------------------------------------------------------------------- */

xir_status buyi_store(quantizing *q, xir_op *op, bool *stored) {
    *stored = is_of_constants(q, op);
    if (!*stored) return XIR_OK;
    product p = { .op = op };
    xir_status status = look_at(q, &p);
    if (!status && !choose(q, &p, 1))
        status = xir_pass_fail(q->at, XIR_E_UNSUPPORTED, op, "no m * 2^-e reaches the constants of the op; keep it");
    if (!status) status = store_product(q, &p);
    close_product(q, &p);
    return status;
}

xir_status buyi_cut(quantizing *q, xir_op *op) {
    const xir_value *z = xir_op_output(op, 0);
    const ratio_plan *p = &q->plan;
    const double both = ratio_at(p, xir_op_input(op, 0), 0) * ratio_at(p, xir_op_input(op, 1), 0);
    const size_t n = (size_t)last_dim(z->type);
    const xir_allocator *alloc = &q->net->alloc;
    int64_t m;
    int e;
    if (!is_stored(z) || !cut_of(q, op, &m, &e) || fabs(ldexp((double)m, -e) * ratio_at(p, z, 0) / both - 1) > 1e-5)
        return set_cut(op, xir_scales_from(q->net->ctx, NULL, 0, -1));   /* the types determine everything */
    int64_t *room = mem_new(alloc, n * sizeof *room);
    if (!room) return XIR_E_MEMORY;
    for (size_t c = 0; c < n; c++) room[c] = m;
    const xir_scales *scales = exp_scales(q, room, e, n, -1);
    mem_free(alloc, room, n * sizeof *room);
    return set_cut(op, scales);
}
