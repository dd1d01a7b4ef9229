/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Runs for a mix. To measure ops by themselves, the network and its plain quantised copy are stepped side by side, and
 * after each op the copy goes on with the value of the network. Where an op gives floats that are stored by another op,
 * the error of the one and that of the other are added. */
#include "mix.h"
#include <math.h>
#include <string.h>

enum { BLOCK = 1024 };

/* Adds what was found for a value. With `computed` found is what is stored of `expected`, and `computed` what the op
 * made in its place. */
static xir_status add_up(mix_sums *sums, const xir_array *expected, const xir_array *found, const xir_array *computed) {
    double e[BLOCK], f[BLOCK], c[BLOCK];
    const size_t n = xir_array_count(expected);
    if (xir_array_count(found) != n || (computed && xir_array_count(computed) != n)) return XIR_E_BOUNDS;
    for (size_t at = 0; at < n; at += BLOCK) {
        const size_t some = n - at < BLOCK ? n - at : BLOCK;
        xir_status status = xir_array_reals(expected, at, some, e);
        if (!status) status = xir_array_reals(found, at, some, f);
        if (!status && computed) status = xir_array_reals(computed, at, some, c);
        if (status) return status;
        for (size_t i = 0; i < some; i++) {
            if (computed) f[i] += c[i] - e[i];
            sums->expected += e[i] * e[i];
            sums->found += f[i] * f[i];
            sums->both += e[i] * f[i];
            sums->error += (f[i] - e[i]) * (f[i] - e[i]);
        }
    }
    return XIR_OK;
}

/* Adds a finding for a status of a call that adds none, unless one has been added since `before`. */
static xir_status explain(xir_status status, size_t before, xir_diags *why) {
    if (!status || xir_diags_count(why) > before) return status;
    return status == XIR_E_MEMORY ? mix_memory(why)
                                  : mix_fail(why, status, "the numbers of a quantised value cannot be read");
}

/* ---- side by side ------------------------------------------------------------------------------------------------ */

typedef struct stepping {
    xir_mix        *m;
    xir_run_state  *real, *plain;
    xir_array     **expected, **computed;   /* by number of a value that is still to be stored */
    xir_diags      *why;
} stepping;

static xir_status lose(const stepping *s) {
    return mix_fail(s->why, XIR_E_INVALID, "the quantised copy computes in another order than the network");
}

/* The value of the copy gets the elements of the network's. */
static xir_status go_on_with(const stepping *s, const xir_value *w, const xir_array *expected) {
    xir_array *there = xir_array_cast(expected, xir_type_element(xir_value_type(w)), s->why);
    const xir_status status = there ? xir_run_set(s->plain, w, there, s->why) : XIR_E_MEMORY;
    xir_array_free(there);
    return status;
}

static bool is_real(const xir_value *v) {
    const xir_type *element = xir_type_element(xir_value_type(v));
    return element && xir_type_kind_of(element) == XIR_TYPE_FLOAT;
}

/* An op of a group that makes no stored value itself: its error counts for those that read it. */
static bool passes_error_on(const xir_mix *m, const xir_op *own, uint32_t number) {
    return m->group_of[xir_op_slot(own)] != NO_INDEX && !m->values[number].bits;
}

/* An op of the network has been computed in the copy, and in the network. */
static xir_status meet(stepping *s, const xir_op *op, const xir_op *own, size_t k) {
    xir_mix *m = s->m;
    const xir_value *v = xir_op_output(own, (int64_t)k), *w = xir_op_output(op, (int64_t)k);
    const uint32_t number = mix_number(m, v);
    if (number == NO_INDEX || !is_real(v) || !xir_value_uses(v) || passes_error_on(m, own, number)) return XIR_OK;
    xir_array *expected = xir_run_value(s->real, v, s->why), *found = expected ? xir_run_value(s->plain, w, s->why)
                                                                              : NULL;
    xir_status status = found ? XIR_OK : XIR_E_MEMORY;
    if (!status && mix_is_stored(w)) status = add_up(&m->values[number].sums, expected, found, NULL);
    if (!status) status = go_on_with(s, w, expected);
    if (!status && m->values[number].bits && !mix_is_stored(w) && !s->expected[number]) {
        s->expected[number] = expected;
        s->computed[number] = found;
        return XIR_OK;
    }
    xir_array_free(expected);
    xir_array_free(found);
    return status;
}

/* An op of the pass has been computed: it may store a value. */
static xir_status meet_border(stepping *s, const xir_op *op) {
    const xir_value *w = xir_op_output(op, 0);
    const uint32_t i = mix_is_stored(w) ? mix_source(s->m, w) : NO_INDEX;
    if (i == NO_INDEX || !s->expected[i]) return XIR_OK;
    xir_array *found = xir_run_value(s->plain, w, s->why);
    const xir_status status = found ? add_up(&s->m->values[i].sums, s->expected[i], found, s->computed[i])
                                    : XIR_E_MEMORY;
    xir_array_free(found);
    xir_array_free(s->expected[i]);
    xir_array_free(s->computed[i]);
    s->expected[i] = s->computed[i] = NULL;
    return status;
}

static xir_status step_both(stepping *s, bool *ended) {
    const xir_op *op, *own, *reached = NULL;
    xir_status status = xir_run_step(s->plain, &op, s->why);
    *ended = !op;
    if (status || !op) return status;
    own = mix_partner(s->m, op);
    if (!own) return meet_border(s, op);
    status = xir_run_step(s->real, &reached, s->why);
    if (!status && reached != own) return lose(s);
    for (size_t k = 0; k < xir_op_output_count(op) && !status; k++) status = meet(s, op, own, k);
    return status;
}

/* Keeps the results of the network, which are numbers. */
static xir_status keep_results(const stepping *s) {
    const xir_mix *m = s->m;
    xir_array **out = m->results + (m->n_samples - 1) * m->n_out;
    const xir_op *output = xir_network_output_op(m->net);
    for (size_t i = 0; i < m->n_out; i++) {
        mix_sums sums = { 0 };
        out[i] = xir_run_value(s->real, xir_op_input(output, (int64_t)i), s->why);
        if (!out[i]) return XIR_E_MEMORY;
        const xir_status status = add_up(&sums, out[i], out[i], NULL);
        if (status) return mix_fail(s->why, status, "a result of the network has no numbers");
        if (!isfinite(sums.expected)) return mix_fail(s->why, XIR_E_INVALID, "a result of the network is not finite");
    }
    return XIR_OK;
}

static xir_status open_runs(stepping *s) {
    const xir_mix *m = s->m;
    const xir_array *const *inputs = (const xir_array *const *)m->samples + (m->n_samples - 1) * m->n_in;
    const size_t before = xir_diags_count(s->why);
    s->real = xir_run_new(m->net, inputs, m->n_in, &m->run, s->why);
    if (s->real) s->plain = xir_run_new(m->plain, inputs, m->n_in, &m->run, s->why);
    if (s->plain) return XIR_OK;
    const xir_diag *d = xir_diags_at(s->why, before);
    return d ? d->code : XIR_E_MEMORY;
}

xir_status mix_measure(xir_mix *m, xir_diags *why) {
    xir_diags *own = why ? NULL : xir_diags_new(m->ctx);   /* a status is read from a finding */
    stepping s = { .m = m, .why = why ? why : own };
    const size_t before = xir_diags_count(s.why);
    bool ended = false;
    s.expected = mix_new(m->alloc, m->n_values, sizeof *s.expected);
    s.computed = mix_new(m->alloc, m->n_values, sizeof *s.computed);
    xir_status status = s.expected && s.computed && s.why ? XIR_OK : mix_memory(why);
    if (!status) status = open_runs(&s);
    while (!status && !ended) status = step_both(&s, &ended);
    if (!status) status = keep_results(&s);
    xir_run_free(s.real);
    xir_run_free(s.plain);
    for (size_t i = 0; s.expected && s.computed && i < m->n_values; i++) {
        xir_array_free(s.expected[i]);
        xir_array_free(s.computed[i]);
    }
    mix_drop(m->alloc, s.expected, m->n_values, sizeof *s.expected);
    mix_drop(m->alloc, s.computed, m->n_values, sizeof *s.computed);
    status = explain(status, before, s.why);
    xir_diags_free(own);
    return status;
}

/* ---- results ----------------------------------------------------------------------------------------------------- */

static xir_status run_sample(const xir_mix *m, const xir_network *net, size_t sample, mix_sums *sums, xir_array **out,
                             xir_diags *why) {
    const xir_array *const *inputs = (const xir_array *const *)m->samples + sample * m->n_in;
    xir_status status = xir_network_run(net, inputs, m->n_in, out, m->n_out, &m->run, why);
    for (size_t i = 0; i < m->n_out && !status; i++)
        status = add_up(&sums[i], m->results[sample * m->n_out + i], out[i], NULL);
    for (size_t i = 0; i < m->n_out; i++) {
        xir_array_free(out[i]);
        out[i] = NULL;
    }
    return status;
}

xir_status mix_results(const xir_mix *m, const xir_network *net, double *cosine, double *snr, xir_diags *why) {
    mix_sums *sums = mix_new(m->alloc, m->n_out, sizeof *sums);
    xir_array **out = mix_new(m->alloc, m->n_out, sizeof *out);
    const size_t before = xir_diags_count(why);
    xir_status status = sums && out ? XIR_OK : mix_memory(why);
    for (size_t i = 0; i < m->n_samples && !status; i++) status = run_sample(m, net, i, sums, out, why);
    *cosine = 1;
    *snr = INFINITY;
    for (size_t i = 0; i < m->n_out && !status; i++) {
        const double c = mix_cosine(&sums[i]);
        const double db = sums[i].error > 0 ? 10 * (log10(sums[i].expected) - log10(sums[i].error))
                        : sums[i].error == 0 ? INFINITY : -INFINITY;   /* NaN */
        *cosine = c < *cosine ? c : *cosine;
        *snr = db < *snr ? db : *snr;
    }
    mix_drop(m->alloc, sums, m->n_out, sizeof *sums);
    mix_drop(m->alloc, out, m->n_out, sizeof *out);
    return explain(status, before, why);
}
