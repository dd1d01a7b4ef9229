/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Ranges of values: see ranges.h. */
#include "ranges.h"
#include <math.h>
#include <xir/calibrate.h>
#include "support/upkeep.h"
#include "types.h"

const value_range *ranges_find(const value_ranges *r, const xir_value *value) {
    const uint32_t *at = pointer_table_find(&r->of, value);
    return at ? &r->items[*at] : NULL;
}

void ranges_free(value_ranges *r) {
    pointer_table_free(&r->of);
    mem_free(r->alloc, r->items, r->room * sizeof *r->items);
    mem_free(r->alloc, r->sats, r->sat_room * sizeof *r->sats);
}

static bool put(value_ranges *r, const xir_value *value, value_range range) {
    if (r->n == r->room) {
        const size_t room = r->room ? r->room * 2 : 64;
        value_range *items = r->alloc->resize(r->alloc->user, r->items, r->room * sizeof *items, room * sizeof *items);
        if (!items) return false;
        r->items = items;
        r->room = room;
    }
    r->items[r->n] = range;
    return pointer_table_add(&r->of, value, (uint32_t)r->n++) != NULL;
}

/* ---- where ranges are from -------------------------------------------------------------------------------------- */

typedef struct measuring {
    xir_pass               *at;
    const xir_calibration  *c;         /* NULL: only calibrated types */
    xir_range_options       how;       /* on two sides                */
    const precision        *said;
    value_ranges           *r;
    size_t                  missing, found, with_channels;
    xir_str                 first;     /* the first that is missing */
} measuring;

static bool of_type(const xir_type *element, value_range *out) {
    const xir_calibrated_type *type = xir_calibrated_type_of((const xir_object *)element);
    if (!type || !type->min.size || !type->max.size || !type->sat.size) return false;
    *out = (value_range){ .low = type->min.data[0], .high = type->max.data[0], .sat = type->sat.data[0] };
    out->low = out->low < 0 ? out->low : 0;
    out->high = out->high > 0 ? out->high : 0;
    out->sat = out->sat > 0 ? out->sat : 0;
    return true;
}

/* The method for a value, and the bits: the row of its op comes first. */
static xir_range_options how_of(const measuring *m, const xir_value *value) {
    xir_range_options how = m->how;
    const xir_op *op = value_op(value);
    const op_precision *said = m->said && op ? precision_of(m->said, op) : NULL;
    if (said && said->bits) how.bits = said->bits;
    if (said && said->method_said) how.method = said->method;
    return how;
}

/* The range of each channel, within that of the value. A channel has far fewer numbers than the value, so other samples
 * exceed its range more often: it gets half as much more. It is a step of the value's at least, for channels that were
 * nearly always 0. */
enum { MOST_APART = 128 };
static double range_of_channel(double low, double high, double sat) {
    return fmin(fmax(1.5 * fmax(fabs(low), fabs(high)), sat / MOST_APART), sat);
}

static xir_status take_channels(measuring *m, size_t i, const xir_value *value, value_range *range) {
    const double *low, *high;
    value_ranges *r = m->r;
    const size_t n = xir_calibration_channels(m->c, i, &low, &high), rank = xir_type_rank(value->type);
    if (!n || !rank || xir_type_dim(value->type, (int64_t)rank - 1, false) != (int64_t)n) return XIR_OK;
    if (!mem_reserve(r->alloc, (void **)&r->sats, &r->sat_room, r->n_sats + n, sizeof *r->sats)) return XIR_E_MEMORY;
    for (size_t c = 0; c < n; c++) r->sats[r->n_sats + c] = range_of_channel(low[c], high[c], range->sat);
    range->first = r->n_sats;
    range->n = n;
    r->n_sats += n;
    m->with_channels++;
    return XIR_OK;
}

static xir_status measure_one(measuring *m, const xir_value *value) {
    const xir_type *element = xir_type_element(value->type);
    value_range range = { .n = 0 };
    if (!element) return XIR_OK;
    if (of_type(element, &range)) return put(m->r, value, range) ? XIR_OK : XIR_E_MEMORY;
    if (!m->c || xir_type_kind_of(element) != XIR_TYPE_FLOAT) return XIR_OK;
    const xir_str name = xir_value_name(value);
    if (name.size && !xir_network_value_by_name(m->at->net, name)) return XIR_E_MEMORY;   /* of the table of names */
    const size_t i = xir_calibration_find(m->c, value);
    if (i == SIZE_MAX) {
        if (!m->missing++) m->first = xir_value_name(value);
        return XIR_OK;
    }
    double below;
    xir_diags *why = m->at->why;
    xir_range_options how = how_of(m, value);
    xir_status status = xir_calibration_range(m->c, i, &how, &range.low, &range.high, why);
    how.symmetric = true;
    if (!status) status = xir_calibration_range(m->c, i, &how, &below, &range.sat, why);
    if (!status && m->r->channels) status = take_channels(m, i, value, &range);
    m->found++;
    if (!status && !put(m->r, value, range)) status = XIR_E_MEMORY;
    return status;
}

static xir_status measure_all(measuring *m) {
    xir_pass *at = m->at;
    xir_status status = XIR_OK;
    for (const xir_op *op = at->net->first; op && !status; op = op->next)
        for (uint32_t i = 0; i < op->n_outputs && !status; i++) status = measure_one(m, &op_outputs(op)[i]);
    if (status || !m->c) return status;
    if (!m->found && m->missing)
        return xir_pass_fail(at, XIR_E_MISSING, NULL, "none of the %zu floating-point values is in the calibration, "
                             "'" XIR_PRI "' first: it is of another network, or of another state of this one",
                             m->missing, XIR_ARG(m->first));
    if (m->r->channels && m->found && !m->with_channels)
        return xir_pass_fail(at, XIR_E_MISSING, NULL, "the calibration has no ranges of channels: xir calibrate "
                             "--channels counts them");
    if (m->missing)
        xir_pass_diag(at, XIR_WARNING, NULL, "%zu values are not in the calibration, '" XIR_PRI "' first: they stay "
                      "floating-point numbers", m->missing, XIR_ARG(m->first));
    return XIR_OK;
}

static xir_status read_method(xir_pass *at, measuring *m, uint32_t bits) {
    const xir_str word = xir_pass_text(at, "method");
    xir_range_method method;
    if (!xir_range_method_of(word, &method))
        return xir_pass_fail(at, XIR_E_UNKNOWN, NULL, "there is no method '" XIR_PRI "': expected max, average, "
                             "percentile, mse or kld", XIR_ARG(word));
    const double percent = xir_pass_real(at, "percent");
    if (!(percent > 0 && percent <= 100))
        return xir_pass_fail(at, XIR_E_BOUNDS, NULL, "percent: expected a percentage above 0, at most 100, found %g",
                             percent);
    m->how = XIR_INIT(xir_range_options, .method = method, .percent = percent, .bits = bits);
    return XIR_OK;
}

xir_status ranges_measure(xir_pass *at, uint32_t bits, const precision *said, value_ranges *r) {
    measuring m = { .at = at, .said = said, .r = r };
    const xir_str path = xir_pass_text(at, "calibration");
    pointer_table_init(&r->of, r->alloc);
    xir_status status = read_method(at, &m, bits);
    if (status) return status;
    xir_calibration *c = NULL;
    if (path.size) {
        char *text = mem_new(r->alloc, path.size + 1);
        if (!text) return pass_no_memory(at);
        memcpy(text, path.data, path.size);
        text[path.size] = '\0';
        c = xir_calibration_load(at->net->ctx, text, at->why);
        mem_free(r->alloc, text, path.size + 1);
        if (!c) return pass_status_of_latest(at, XIR_E_IO);
    }
    m.c = c;
    status = measure_all(&m);
    xir_calibration_free(c);
    return status == XIR_E_MEMORY ? pass_no_memory(at) : status;
}
