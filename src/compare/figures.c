/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The figures of one pair, in one pass over its elements, block by block. */
#include "comparison.h"
#include "loops.h"
#include <math.h>

enum { BLOCK = 1024 };

typedef struct measuring {
    double               absolute, relative;
    const compare_loops *loops;
    sums                 s;
    uint64_t             infinite;   /* of found               */
    bool                 odd;        /* one side alone is NaN or infinite, or of the other sign */
    compare_measure     *out;
} measuring;

static const compare_loops *fastest_loops(void) {
    size_t n = 1;
    while (compare_loops_at(n)) n++;
    return compare_loops_at(n - 1);
}

static double total(const double *lanes) {
    double sum = 0;
    for (size_t k = 0; k < LANES; k++) sum += lanes[k];
    return sum;
}

static double greatest(const double *lanes) {
    double most = 0;
    for (size_t k = 0; k < LANES; k++) most = lanes[k] > most ? lanes[k] : most;
    return most;
}

static void merge(sums *all, const sums *block) {
    for (size_t k = 0; k < LANES; k++) {
        all->of_expected[k] += block->of_expected[k];
        all->of_found[k] += block->of_found[k];
        all->of_product[k] += block->of_product[k];
        all->of_error[k] += block->of_error[k];
        if (block->largest[k] > all->largest[k]) all->largest[k] = block->largest[k];
    }
}

/* Takes out what is not finite: an element that differs so is noted, and then both are 0. */
static void take_odd(measuring *m, double *e, double *f, size_t n, size_t at) {
    for (size_t i = 0; i < n; i++) {
        m->infinite += isinf(f[i]) != 0;
        if (isfinite(e[i]) && isfinite(f[i])) continue;
        const bool same = e[i] == f[i] || (isnan(e[i]) && isnan(f[i]));
        if (!same) {
            m->out->differ++;
            if (!m->odd) {
                m->out->at = at + i;
                m->out->expected = e[i];
                m->out->found = f[i];
            }
            m->odd = true;
        }
        e[i] = f[i] = 0;
    }
}

static void note_largest(measuring *m, const double *e, const double *f, size_t n, size_t at, double largest) {
    compare_measure *out = m->out;
    if (!(largest > out->figures.largest)) return;
    out->figures.largest = largest;
    for (size_t i = 0; i < n && !m->odd; i++) {
        if (fabs(f[i] - e[i]) != largest) continue;
        out->at = at + i;
        out->expected = e[i];
        out->found = f[i];
        return;
    }
}

/* The room after the block is 0 up to a whole number of lanes. A sum of squares that is not finite shows that an
 * element is not; then the block is added again without such elements. */
static void take_block(measuring *m, double *e, double *f, size_t n, size_t at) {
    sums block = { { 0 } };
    size_t room = n;
    for (; room % LANES; room++) e[room] = f[room] = 0;
    m->loops->add(&block, e, f, room);
    if (!isfinite(total(block.of_expected) + total(block.of_found))) {
        take_odd(m, e, f, n, at);
        block = (sums){ { 0 } };
        m->loops->add(&block, e, f, room);
    }
    const double largest = greatest(block.gap);
    merge(&m->s, &block);
    note_largest(m, e, f, n, at, largest);
    if (largest > m->absolute) m->out->differ += m->loops->count_beyond(m->absolute, m->relative, e, f, room);
}

static void finish(measuring *m) {
    compare_measure *out = m->out;
    xir_compare_figures *g = &out->figures;
    const double expected = total(m->s.of_expected), found = total(m->s.of_found), error = total(m->s.of_error);
    const double largest = greatest(m->s.largest);
    if (m->odd) {
        g->largest = g->relative = INFINITY;
        g->cosine = 0;
        g->snr = -INFINITY;
        return;
    }
    g->relative = g->largest == 0 ? 0 : largest > 0 ? g->largest / largest : INFINITY;
    g->cosine = expected > 0 && found > 0 ? total(m->s.of_product) / sqrt(expected) / sqrt(found)
                                          : (expected > 0) == (found > 0);
    if (g->cosine > 1) g->cosine = 1;
    g->snr = error > 0 ? 10 * (log10(expected) - log10(error)) : INFINITY;
}

/* ---- saturated elements ------------------------------------------------------------------------------------------ */

/* Counts the stored numbers of a quantised array that are at a limit of their type: the highest one; the lowest one,
 * unless it is the zero point; and the one above the lowest, where rounding rules leave out the lowest. */
static xir_status count_saturated(const xir_compare *c, const xir_array *array, uint64_t *count, xir_diags *why) {
    const xir_type *type = xir_array_type(array), *storage = xir_type_storage(xir_type_element(type));
    const xir_integer_type *integer = xir_integer_type_of(xir_type_object(storage));
    const xir_i64s zeros = xir_type_zero_points(type);
    const uint64_t bits = xir_type_storage_bits(storage);
    size_t size;
    *count = 0;
    if (!integer || !bits || bits > 32) return XIR_OK;
    const xir_type *stored = xir_type_with_element(c->ctx, type, storage, NULL);
    const void *bytes = xir_array_data(array, &size);
    if (!stored) return XIR_OK;   /* its distribution does not go with plain integers */
    xir_array *numbers = xir_array_copy(c->ctx, stored, bytes, size, why);
    if (!numbers) return XIR_E_MEMORY;
    const int64_t zero = zeros.size == 1 ? zeros.data[0] : 0;
    const int64_t high = integer->sign ? ((int64_t)1 << (bits - 1)) - 1 : ((int64_t)1 << bits) - 1;
    const number_limits ends = { integer->sign ? -high : 0, high, zero };
    const compare_loops *loops = fastest_loops();
    const size_t n = xir_array_count(numbers);
    int64_t block[BLOCK + LANES];
    xir_status status = XIR_OK;
    for (size_t at = 0; at < n && !status; at += BLOCK) {
        const size_t some = n - at < BLOCK ? n - at : BLOCK;
        size_t room = some;
        status = xir_array_i64s(numbers, at, some, block);
        for (; room % LANES; room++) block[room] = high;
        if (!status) *count += loops->count_at_limits(&ends, block, room) - (room - some);
    }
    xir_array_free(numbers);
    return status;
}

/* ---- a pair ------------------------------------------------------------------------------------------------------ */

xir_status compare_measure_pair(const xir_compare *c, const xir_array *expected, const xir_array *found,
                                compare_measure *out, xir_diags *why) {
    double e[BLOCK + LANES], f[BLOCK + LANES];
    measuring m = { c->how.absolute, c->how.relative, .loops = fastest_loops(), .out = out };
    const size_t n = xir_array_count(expected);
    *out = (compare_measure){ .of = n };
    xir_status status = XIR_OK;
    for (size_t at = 0; at < n && !status; at += BLOCK) {
        const size_t some = n - at < BLOCK ? n - at : BLOCK;
        status = xir_array_reals(expected, at, some, e);
        if (!status) status = xir_array_reals(found, at, some, f);
        if (!status) take_block(&m, e, f, some, at);
    }
    if (status)
        return xir_diags_add(why, XIR_ERROR, status, XIR_STR(""), "the elements of a value cannot be read as numbers");
    finish(&m);
    uint64_t saturated = m.infinite;
    if (xir_type_is_quantized(xir_type_element(xir_array_type(found))))
        status = count_saturated(c, found, &saturated, why);
    out->figures.saturated = n ? (double)saturated / (double)n : 0;
    return status;
}

/* ---- samples ----------------------------------------------------------------------------------------------------- */

static double *figure(xir_compare_figures *g, size_t i) {
    double *const all[FIGURES] = { &g->largest, &g->relative, &g->cosine, &g->snr, &g->saturated };
    return all[i];
}

/* Of cosines and dB less is worse. */
static bool is_worse(size_t i, double a, double b) { return i == 2 || i == 3 ? a < b : a > b; }

bool compare_is_bad(const xir_compare *c, const compare_measure *m) {
    return c->how.by_snr ? m->figures.snr < c->how.least_snr : m->differ != 0;
}

void compare_note(xir_compare *c, size_t pair, const compare_measure *m) {
    xir_compare_pair *p = &c->pairs[pair];
    compare_sums *s = &c->sums[pair];
    xir_compare_figures now = m->figures;
    if (!p->samples || is_worse(0, now.largest, p->worst.largest)) {
        p->at = m->at;
        p->expected = m->expected;
        p->found = m->found;
    }
    if (!p->samples || m->differ > p->differ) p->differ = m->differ;
    p->of = m->of;
    for (size_t i = 0; i < FIGURES; i++) {
        const double v = *figure(&now, i);
        if (!p->samples || is_worse(i, v, *figure(&p->worst, i))) *figure(&p->worst, i) = v;
        if (isfinite(v)) s->sum[i] += v;
        s->n[i] += isfinite(v) != 0;
        *figure(&p->mean, i) = s->n[i] ? s->sum[i] / (double)s->n[i] : v;
    }
    p->samples++;
    p->bad = p->bad || compare_is_bad(c, m);
}

void compare_note_shape(xir_compare *c, size_t pair) {
    c->pairs[pair].same_shape = false;
    c->pairs[pair].bad = true;
}
