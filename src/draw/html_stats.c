/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Statistics of the elements of Params. The bytes are read twice, in pieces: once for the range, once for the bars. */
#include <math.h>
#include <string.h>
#include <xir/array.h>
#include "html_out.h"

enum { PIECE = 2048 };

/* Mean and squares after Welford: no sum of squares loses its digits. */
static void count(html_stats *s, const double *piece, size_t n, uint64_t *finite) {
    for (size_t i = 0; i < n; i++) {
        const double v = piece[i];
        s->zeros += v == 0;
        s->nans += isnan(v) != 0;
        s->infinities += isinf(v) != 0;
        if (!isfinite(v)) continue;
        const double away = v - s->mean;
        s->mean += away / (double)++*finite;
        s->deviation += away * (v - s->mean);
        if (*finite == 1 || v < s->min) s->min = v;
        if (*finite == 1 || v > s->max) s->max = v;
    }
}

static void fill_bins(html_stats *s, const double *piece, size_t n) {
    const double range = s->max / 2 - s->min / 2;      /* of two finite numbers, always finite */
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(piece[i])) continue;
        const double at = range > 0 ? (piece[i] / 2 - s->min / 2) / range * HTML_BINS : 0;
        s->bins[at >= HTML_BINS ? HTML_BINS - 1 : (size_t)at]++;
    }
}

/* Makes an array of Params, or returns NULL with the status. */
static xir_array *array_of(const xir_value *params, xir_status *status) {
    xir_diags *why = xir_diags_new(xir_network_context(xir_value_network(params)));
    xir_array *array = why ? xir_array_from_params(params, why) : NULL;
    *status = array ? XIR_OK : xir_diags_count(why) ? xir_diags_at(why, 0)->code : XIR_E_MEMORY;
    xir_diags_free(why);
    return array;
}

xir_status html_statistics(const xir_value *params, html_stats *out) {
    double piece[PIECE];
    xir_status status;
    *out = (html_stats){ 0 };
    if (!xir_params_has_data(params)) return XIR_E_MISSING;
    xir_array *array = array_of(params, &status);
    if (!array) return status;
    const size_t n = xir_array_count(array);
    uint64_t finite = 0;
    for (int pass = 0; pass < 2 && !status; pass++) {
        for (size_t at = 0; at < n && !status; at += PIECE) {
            const size_t size = n - at < PIECE ? n - at : PIECE;
            status = xir_array_reals(array, at, size, piece);
            if (!status && pass == 0) count(out, piece, size, &finite);
            if (!status && pass == 1) fill_bins(out, piece, size);
        }
    }
    xir_array_free(array);
    if (!finite) out->min = out->max = out->mean = out->deviation = NAN;
    else out->deviation = sqrt(out->deviation / (double)finite);
    return status;
}
