/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Asks classes which numbers the inputs of an op take, and ranges as sets of numbers. The TAKES function sees what
 * inference sees, plus the ranges of the outputs. */
#include <math.h>
#include "elements.h"
#include "graph.h"
#include "sized.h"

static const xir_numbers any = { .size = sizeof any, .low = -INFINITY, .high = INFINITY };

/* ---- ranges ----------------------------------------------------------------------------------------------------- */

bool numbers_are_any(const xir_numbers *r) {
    return r->low == -INFINITY && r->high == INFINITY && !(r->gap > 0) && !r->whole;
}

/* Returns true if no number is in a range. A bound that is NaN leaves nothing. */
static bool is_empty(const xir_numbers *r) {
    double low = r->low, high = r->high;
    if (r->gap > 0 && low > -r->gap) low = fmax(low, r->gap);
    if (r->gap > 0 && high < r->gap) high = fmin(high, -r->gap);
    if (r->whole) low = ceil(low), high = floor(high);
    return !(low <= high) || low == INFINITY || high == -INFINITY;
}

bool numbers_narrow(xir_numbers *r, const xir_numbers *by) {
    xir_numbers both = *r;
    if (!(by->low <= both.low)) both.low = by->low;
    if (!(by->high >= both.high)) both.high = by->high;
    if (!(by->gap <= both.gap)) both.gap = by->gap;
    both.whole |= by->whole;
    if (is_empty(&both)) return false;
    *r = both;
    return true;
}

/* ---- what a TAKES function asks for ----------------------------------------------------------------------------- */

bool xir_takes_output(const xir_infer *at, size_t i, xir_numbers *out) {
    const xir_numbers *known = at->takes.out && i < at->takes.n_out ? &at->takes.out[i] : &any;
    return sized_fill(NUMBERS_STRUCT, out, known, NULL) == XIR_OK && !numbers_are_any(known);
}

void xir_takes(xir_infer *at, size_t i, const xir_numbers *range) {
    xir_numbers by;
    if (!range || !at->takes.in || i >= at->n_inputs || sized_take(NUMBERS_STRUCT, &by, range, NULL) != XIR_OK) return;
    (void)numbers_narrow(&at->takes.in[i], &by);
}

void xir_takes_index(xir_infer *at, size_t i, int64_t dim) {
    if (dim > 0) xir_takes(at, i, &XIR_INIT(xir_numbers, .whole = true, .high = (double)(dim - 1)));
}

xir_numbers xir_numbers_any(void) { return xir_numbers_between(-INFINITY, INFINITY); }

void xir_takes_moved(xir_infer *at, size_t i, size_t o) {
    xir_numbers range = any;
    if (xir_takes_output(at, o, &range)) xir_takes(at, i, &range);
}

enum { MOST_KNOWN = 4096, AT_ONCE = 256, WIDEST = 8 };   /* numbers, and bytes of a number */

/* The least and the greatest of the elements; false if one is NaN. */
static bool scan(const tensor_elements *e, const xir_value *constant, size_t n, xir_numbers *out) {
    uint8_t bytes[MOST_KNOWN * WIDEST];
    double v[AT_ONCE];
    if (xir_params_read(constant, 0, bytes, (n * e->format.bits + 7) / 8) != XIR_OK) return false;
    for (size_t from = 0; from < n; from += AT_ONCE) {
        size_t count = n - from < AT_ONCE ? n - from : AT_ONCE;
        elements_read_reals(e, bytes, from, count, v);
        for (size_t k = 0; k < count; k++) {
            if (isnan(v[k])) return false;
            out->low = from + k && out->low < v[k] ? out->low : v[k];
            out->high = from + k && out->high > v[k] ? out->high : v[k];
        }
    }
    return true;
}

bool xir_takes_known(xir_infer *at, size_t i, xir_numbers *out) {
    const xir_value *value = xir_infer_input_value(at, i);
    const xir_type *type = value && xir_value_is_params(value) ? xir_value_type(value) : NULL;
    int64_t n = 0;
    xir_numbers found = any;
    tensor_elements e;
    if (!type || xir_type_elements(type, &n) != XIR_OK || n < 1 || n > MOST_KNOWN) return false;
    if (elements_open(&e, &at->ctx->alloc, type, NULL) != XIR_OK) return false;
    bool known = e.format.bits <= 8 * WIDEST && scan(&e, value, (size_t)n, &found);
    elements_close(&e);
    return known && sized_fill(NUMBERS_STRUCT, out, &found, NULL) == XIR_OK;
}

/* ---- asking ----------------------------------------------------------------------------------------------------- */

xir_status op_takes(const xir_op *op, const xir_numbers *out, xir_numbers *in) {
    for (size_t i = 0; i < op->n_inputs; i++) in[i] = any;
    if (!op->cls->more->takes || op->flags & OP_DRAFT) return XIR_OK;
    xir_infer at;
    object_pool pool;
    pool_init_reader(&pool, &op->net->pool);
    infer_start(&at, op->net, op->cls, op->attrs, op_target(op), NULL, op->n_inputs, name_text(op_label(op)), NULL);
    at.pool = &pool;
    at.op = op;
    at.takes = (infer_takes_seen){ .in = in, .out = out, .n_out = out ? op->n_outputs : 0 };
    xir_status status = XIR_OK;
    for (uint32_t i = 0; i < op->n_outputs && !status; i++) status = infer_see_output(&at, op_outputs(op)[i].type);
    if (!status && op->cls->more->takes(&at) != XIR_OK)
        for (size_t i = 0; i < op->n_inputs; i++) in[i] = any;
    infer_end(&at);
    pool_free(&pool);
    return status;
}
