/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The least and the greatest number of each channel: of the elements of the last dim. Samples may differ in all other
 * dims. If they differ in this one, the value has no channels. */
#include "channels.h"
#include <string.h>

static size_t bytes_of(size_t n) { return 2 * n * sizeof(double); }

bool channels_make(record *r, const xir_allocator *alloc, size_t n) {
    double *room = n <= SIZE_MAX / (2 * sizeof(double)) ? alloc->resize(alloc->user, NULL, 0, bytes_of(n)) : NULL;
    if (!room) return false;
    memset(room, 0, bytes_of(n));
    r->channels = n;
    r->low = room;
    r->high = room + n;
    return true;
}

void channels_free(record *r, const xir_allocator *alloc) {
    if (r->low) alloc->resize(alloc->user, r->low, bytes_of(r->channels), 0);
    r->channels = 0;
    r->low = r->high = NULL;
}

/* Samples before had another number: what they counted is dropped. */
static bool drop(record *r, const xir_allocator *alloc) {
    channels_free(r, alloc);
    r->uneven = true;
    return true;
}

bool channels_open(record *r, const xir_allocator *alloc, size_t n) {
    if (r->uneven || r->channels == n) return true;
    if (r->channels || r->bins.count || n == 0) return drop(r, alloc);
    if (!channels_make(r, alloc, n)) return false;
    for (size_t i = 0; i < n; i++) {
        r->low[i] = INFINITY;
        r->high[i] = -INFINITY;
    }
    return true;
}

void channels_add(record *r, const double *x, size_t from, size_t n) {
    if (!r->channels) return;
    size_t at = from % r->channels;
    for (size_t i = 0; i < n; at = 0) {
        const size_t row = n - i < r->channels - at ? n - i : r->channels - at;
        double *low = r->low + at, *high = r->high + at;
        for (size_t k = 0; k < row; k++) {
            const double v = x[i + k] + 0.0;   /* not -0, which equals 0 */
            low[k] = v < low[k] ? v : low[k];
            high[k] = v > high[k] ? v : high[k];
        }
        i += row;
    }
}

bool channels_merge(record *to, const record *from, const xir_allocator *alloc) {
    if (!from->bins.count && !from->uneven) return true;
    if (from->uneven || to->uneven || (to->bins.count && to->channels != from->channels)) return drop(to, alloc);
    const bool first = !to->bins.count;
    if (!from->channels) return true;
    if (first && !channels_make(to, alloc, from->channels)) return false;
    for (size_t i = 0; i < from->channels; i++) {
        to->low[i] = first || from->low[i] < to->low[i] ? from->low[i] : to->low[i];
        to->high[i] = first || from->high[i] > to->high[i] ? from->high[i] : to->high[i];
    }
    return true;
}

size_t xir_calibration_channels(const xir_calibration *c, size_t i, const double **min, const double **max) {
    const record *r = c && i < c->n ? &c->records[i] : NULL;
    if (min) *min = r ? r->low : NULL;
    if (max) *max = r ? r->high : NULL;
    return r ? r->channels : 0;
}
