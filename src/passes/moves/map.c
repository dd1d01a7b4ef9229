/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

#include "moves/map.h"
#include <string.h>

bool map_of_dims(xir_i64s dims, move_map *out) {
    *out = (move_map){ .rank = dims.size };
    if (dims.size > MAP_DIMS) return false;
    for (size_t i = 0; i < dims.size; i++) {
        out->begin[i] = (uint8_t)out->n;
        if (dims.data[i] == 0 || dims.data[i] == XIR_UNKNOWN_DIM) return false;
        if (dims.data[i] == 1) continue;
        out->source[out->n] = (uint8_t)out->n;
        out->size[out->n++] = dims.data[i];
    }
    out->begin[dims.size] = (uint8_t)out->n;
    return true;
}

/* Cuts factor k into `outer` and the rest, which follow each other in the source, too. */
static bool cut(move_map *m, size_t k, int64_t outer) {
    if (m->n == MAP_FACTORS) return false;
    for (size_t i = 0; i < m->n; i++) m->source[i] = (uint8_t)(m->source[i] + (m->source[i] > m->source[k]));
    memmove(m->size + k + 1, m->size + k, (m->n - k) * sizeof *m->size);
    memmove(m->source + k + 1, m->source + k, m->n - k);
    m->n++;
    m->size[k] = outer;
    m->size[k + 1] /= outer;
    m->source[k + 1]++;
    return true;
}

bool map_reshape(move_map *m, xir_i64s dims) {
    size_t k = 0;
    if (dims.size > MAP_DIMS) return false;
    for (size_t i = 0; i < dims.size; i++) {
        int64_t left = dims.data[i];
        m->begin[i] = (uint8_t)k;
        if (left == 0 || left == XIR_UNKNOWN_DIM) return false;
        while (left != 1) {
            if (k == m->n) return false;
            if (m->size[k] == left) left = 1;
            else if (left < 0 || m->size[k] < 0) return false;
            else if (left % m->size[k] == 0) left /= m->size[k];
            else if (m->size[k] % left != 0 || !cut(m, k, left)) return false;
            else left = 1;
            k++;
        }
    }
    m->rank = dims.size;
    m->begin[m->rank] = (uint8_t)k;
    return k == m->n;
}

bool map_transpose(move_map *m, xir_i64s order) {
    const move_map from = *m;
    uint32_t seen = 0;
    if (order.size != m->rank) return false;
    m->n = 0;
    for (size_t i = 0; i < m->rank; i++) {
        const int64_t at = order.data[i] < 0 ? order.data[i] + (int64_t)m->rank : order.data[i];
        if (at < 0 || at >= (int64_t)m->rank || seen >> at & 1) return false;
        seen |= UINT32_C(1) << at;
        m->begin[i] = (uint8_t)m->n;
        for (size_t k = from.begin[at]; k < from.begin[at + 1]; k++, m->n++) {
            m->size[m->n] = from.size[k];
            m->source[m->n] = from.source[k];
        }
    }
    m->begin[m->rank] = (uint8_t)m->n;
    return true;
}

bool map_has_dims(const move_map *m, xir_i64s dims) {
    if (dims.size != m->rank) return false;
    for (size_t d = 0; d < dims.size; d++) {
        const size_t from = m->begin[d], to = m->begin[d + 1];
        int64_t n = from < to ? m->size[from] : 1;
        for (size_t k = from + 1; k < to; k++) {
            if (__builtin_mul_overflow(n, m->size[k], &n) || m->size[k] < 0) return false;
        }
        if (n != dims.data[d]) return false;
    }
    return true;
}

size_t map_factors(const move_map *m, int64_t *sizes, int64_t *order) {
    int64_t product[MAP_FACTORS];
    uint8_t first[MAP_FACTORS];
    size_t n = 0;
    for (size_t k = 0; k < m->n; k++) {
        const bool next = k && m->source[k] == m->source[k - 1] + 1 && m->size[k] > 0 && product[n - 1] > 0;
        if (next && !__builtin_mul_overflow(product[n - 1], m->size[k], &product[n - 1])) continue;
        product[n] = m->size[k];
        first[n++] = m->source[k];
    }
    for (size_t k = 0; k < n; k++) {
        size_t place = 0;
        for (size_t i = 0; i < n; i++) place += first[i] < first[k];
        sizes[place] = product[k];
        order[k] = (int64_t)place;
    }
    return n;
}
