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

size_t sources_of(const xir_provenance *p, const xir_op *op, const int64_t *ids, size_t n_ids, size_t *out,
                  size_t room) {
    int64_t found[MOST_SOURCES];
    size_t n = 0, known = 0;
    if (xir_provenance_of_op(p, op, found, MOST_SOURCES, &n) != XIR_OK) return 0;
    for (size_t i = 0; i < n && i < MOST_SOURCES && known < room; i++) {
        const int64_t *at = bsearch(&found[i], ids, n_ids, sizeof *ids, by_id);
        if (at) out[known++] = (size_t)(at - ids);
    }
    return known;
}

int64_t *source_ids(const xir_provenance *p, size_t *n) {
    const xir_provenance_source *s;
    int64_t *ids = take(xir_provenance_source_count(p), sizeof *ids);
    for (*n = 0; (s = xir_provenance_source_at(p, *n)); ++*n) ids[*n] = s->id;
    if (*n) qsort(ids, *n, sizeof *ids, by_id);
    return ids;
}

bool *find_added(const xir_provenance *p, const xir_network *net) {
    size_t n, found[MOST_SOURCES];
    int64_t *ids = source_ids(p, &n);
    bool *works = take(n, sizeof *works), *added = take(xir_network_slot_count(net), sizeof *added);
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) {
        const size_t k = only_moves(op) ? 0 : sources_of(p, op, ids, n, found, MOST_SOURCES);
        for (size_t i = 0; i < k; i++) works[found[i]] = true;
    }
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) {
        const size_t k = only_moves(op) ? sources_of(p, op, ids, n, found, MOST_SOURCES) : 0;
        for (size_t i = 0; i < k; i++) added[xir_op_slot(op)] |= works[found[i]];
    }
    free(works);
    free(ids);
    return added;
}
