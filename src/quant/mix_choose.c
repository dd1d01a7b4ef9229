/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The choice of a mix. Groups stand in the order of their cosines; the worst `wide` of them get more bits, the worst
 * `floats` of these stay in floats. More of either makes the results better, as a rule, so the least numbers are found
 * by halving: first of `wide` without floats, then of `floats` with as many as the budget allows. */
#include <math.h>
#include "mix.h"

enum { WIDE_BITS = 16 };

typedef struct choosing {
    xir_mix   *m;
    uint32_t  *order;        /* groups, the worst first, within the budget */
    size_t     n, room;      /* room: of `order`                            */
    xir_diags *why;
} choosing;

/* A number of groups, and what the network with them gives. */
typedef struct choice {
    size_t wide, floats, raised;
    double cosine, snr;
    bool   good, fits;       /* fits: within the budget */
} choice;

static double budget_of(const xir_mix *m) { return floor(m->budget * (double)m->n_stored + 1e-9); }

static bool is_good(const xir_mix *m, const choice *c) {
    return c->cosine >= m->below && (m->least_snr <= 0 || c->snr >= m->least_snr);
}

static void mark(const choosing *c, size_t wide, size_t floats) {
    for (size_t i = 0; i < c->m->n_groups; i++) {
        mix_group *g = &c->m->groups[i];
        g->chosen = false;
        g->bits = g->plain;
    }
    for (size_t i = 0; i < c->n && (i < wide || i < floats); i++) {
        mix_group *g = &c->m->groups[c->order[i]];
        g->chosen = true;
        g->bits = i < floats ? 0 : WIDE_BITS;
    }
}

/* The worst groups that the budget has room for. A group that does not fit is left out, whatever comes after it. */
static void list_worst(choosing *c) {
    const xir_mix *m = c->m;
    double room = budget_of(m);
    for (size_t i = 0; i < m->n_items; i++) {
        const mix_item *item = &m->items[i];
        if (i && m->items[i - 1].group == item->group) continue;   /* ops of a group are neighbours */
        const double values = m->groups[item->group].values;
        if (values > room) continue;
        room -= values;
        c->order[c->n++] = item->group;
    }
}

/* Quantises and runs the network with a choice. Findings of the pass are kept if it fails; *refused is true if the
 * scheme does not have the bits. */
static xir_status try_choice(const choosing *c, size_t wide, size_t floats, choice *out, bool *refused) {
    xir_mix *m = c->m;
    mix_text csv = { .alloc = m->alloc };
    xir_diags *found = xir_diags_new(m->ctx);
    xir_status status = XIR_OK;
    mark(c, wide, floats);
    mix_print_rows(m, &csv);
    mix_append(&csv, (xir_str){ "", 1 });
    xir_network *net = csv.failed || !found ? NULL : mix_quantise(m, csv.data, &status, found);
    if (!net && !status) status = mix_memory(c->why);
    *refused = status == XIR_E_BOUNDS && wide > floats;
    for (size_t i = 0; status && !*refused && i < xir_diags_count(found); i++)
        xir_diags_append(c->why, xir_diags_at(found, i));
    *out = (choice){ .wide = wide, .floats = floats };
    if (!status) status = mix_results(m, net, &out->cosine, &out->snr, c->why);
    if (!status) out->raised = mix_raised(m, net);
    if (!status && out->raised == SIZE_MAX) status = mix_memory(c->why);
    out->good = is_good(m, out);
    out->fits = (double)out->raised <= budget_of(m);
    m->state.tried += !*refused;
    xir_network_free(net);
    mix_text_free(&csv);
    xir_diags_free(found);
    return *refused ? XIR_OK : status;
}

static xir_status try_count(const choosing *c, size_t n, bool floats, size_t wide, choice *out, bool *refused) {
    return try_choice(c, floats ? wide : n, floats ? n : 0, out, refused);
}

/* The least number of groups that suffices, given that *best, which has `high` of them, does. */
static xir_status find_least(const choosing *c, size_t high, bool floats, size_t wide, choice *best) {
    size_t low = 0;
    xir_status status = XIR_OK;
    while (high - low > 1 && !status) {
        const size_t mid = low + (high - low) / 2;
        choice now;
        bool refused;
        status = try_count(c, mid, floats, wide, &now, &refused);
        if (!status && now.good && now.fits) {
            *best = now;
            high = mid;
        } else low = mid;
    }
    return status;
}

/* The greatest number of groups that the budget allows: an op in floats may leave others without stored values to read,
 * so more values are raised than those of the groups. *top is this number. Then the least that suffices, if it does. */
static xir_status find_number(const choosing *c, bool floats, size_t wide, choice *best, size_t *top, bool *refused) {
    size_t low = 0, high = c->n + 1, n = c->n;
    choice now, most = { .good = false };
    for (; high - low > 1; n = low + (high - low) / 2) {
        const xir_status status = try_count(c, n, floats, wide, &now, refused);
        if (status || *refused) return status;
        if (now.fits) {
            low = n;
            most = now;
            if (now.cosine > best->cosine) *best = now;
        } else high = n;
    }
    *top = low;
    if (!most.good) return XIR_OK;
    *best = most;
    return find_least(c, low, floats, wide, best);
}

static xir_status search(const choosing *c, const choice *plain, choice *best) {
    bool has_wide = true, refused = false;
    size_t wide = 0, top;
    xir_status status = XIR_OK;
    *best = *plain;
    if (best->good || !c->n) return XIR_OK;
    for (size_t g = 0; g < c->m->n_groups; g++) has_wide &= c->m->groups[g].plain < WIDE_BITS;
    if (has_wide) status = find_number(c, false, 0, best, &wide, &refused);
    if (status || best->good) return status;
    return find_number(c, true, wide, best, &top, &refused);
}

static xir_status choose(choosing *c) {
    xir_mix *m = c->m;
    choice plain = { .wide = 0 }, best;
    xir_status status = mix_results(m, m->plain, &plain.cosine, &plain.snr, c->why);
    if (status) return status;
    plain.good = is_good(m, &plain);
    m->state.tried = 1;
    list_worst(c);
    status = search(c, &plain, &best);
    if (status) return status;
    mark(c, best.wide, best.floats);
    m->state.good = best.good;
    m->state.raised = best.raised;
    m->state.cosine = best.cosine;
    m->state.snr = best.snr;
    m->state.plain_cosine = plain.cosine;
    m->state.plain_snr = plain.snr;
    return XIR_OK;
}

xir_status xir_mix_choose(xir_mix *m, xir_diags *why) {
    if (!m) return mix_fail(why, XIR_E_MISSING, "expected a mix, found NULL");
    if (m->failed) return mix_fail(why, XIR_E_INVALID, "a sample of the mix has failed; begin again");
    if (!m->n_samples) return mix_fail(why, XIR_E_MISSING, "the mix has no samples");
    choosing c = { .m = m, .room = m->n_groups, .why = why };
    c.order = mix_new(m->alloc, c.room, sizeof *c.order);
    const xir_status status = c.order ? choose(&c) : mix_memory(why);
    mix_drop(m->alloc, c.order, c.room, sizeof *c.order);
    return status;
}
