/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Ops that only a conversion adds: those that move elements, such as a Transpose to channels last and back, and stand
 * for an op of the file that does more than that. Costs of a network of another format do not count them. */
#include <stdlib.h>
#include <string.h>
#include "cli.h"

enum { MOST_SOURCES = 16 };   /* of an op that are looked at; a conversion gives it one */

static bool only_moves(const xir_op *op) {
    return xir_op_is(op, xir_transpose_class()) || xir_op_is(op, xir_reshape_class()) ||
           xir_op_is(op, xir_copy_class()) || xir_op_is(op, xir_squeeze_class());
}

static int by_id(const void *a, const void *b) {
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

size_t source_at(const int64_t *ids, size_t n, int64_t id) {
    const int64_t *at = bsearch(&id, ids, n, sizeof *ids, by_id);
    return at ? (size_t)(at - ids) : SIZE_MAX;
}

bool sources_of(const xir_provenance *p, const xir_op *op, const int64_t *ids, size_t n_ids, size_t *out, size_t room,
                size_t *n) {
    int64_t found[MOST_SOURCES];
    size_t known = 0;
    *n = 0;
    if (xir_provenance_of_op(p, op, found, MOST_SOURCES, &known) != XIR_OK) return false;
    for (size_t i = 0; i < known && i < MOST_SOURCES && *n < room; i++) {
        out[*n] = source_at(ids, n_ids, found[i]);
        *n += out[*n] != SIZE_MAX;
    }
    return true;
}

int64_t *source_ids(const xir_provenance *p, size_t *n) {
    const xir_provenance_source *s;
    int64_t *ids = take(xir_provenance_source_count(p), sizeof *ids);
    for (*n = 0; (s = xir_provenance_source_at(p, *n)); ++*n) ids[*n] = s->id;
    if (*n) qsort(ids, *n, sizeof *ids, by_id);
    return ids;
}

bool *find_added(const xir_provenance *p, const xir_network *net) {
    size_t n, k, found[MOST_SOURCES];
    int64_t *ids = source_ids(p, &n);
    bool *works = take(n, sizeof *works), *added = take(xir_network_slot_count(net), sizeof *added), known = true;
    for (int moves = 0; moves < 2; moves++) {   /* first the ops that do more */
        for (const xir_op *op = xir_network_first(net); op && known; op = xir_op_next(op)) {
            if (only_moves(op) != (moves == 1)) continue;
            known = sources_of(p, op, ids, n, found, MOST_SOURCES, &k);
            for (size_t i = 0; i < k; i++) {
                if (moves) added[xir_op_slot(op)] |= works[found[i]];
                else works[found[i]] = true;
            }
        }
    }
    free(works);
    free(ids);
    if (known) return added;
    free(added);
    return NULL;
}
