/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* xir stats --tiles: the ops of each scope as a region that is computed in tiles along H and W. */
#include <stdlib.h>
#include <string.h>
#include "stats.h"

static const char letters[] = "HW";

typedef struct scoped_op { xir_str scope; xir_op *op; size_t place; } scoped_op;

static int by_scope(const void *a, const void *b) {
    const scoped_op *x = a, *y = b;
    const size_t least = x->scope.size < y->scope.size ? x->scope.size : y->scope.size;
    int order = least ? memcmp(x->scope.data, y->scope.data, least) : 0;
    if (!order) order = (x->scope.size > y->scope.size) - (x->scope.size < y->scope.size);
    return order ? order : (x->place > y->place) - (x->place < y->place);
}

/* Lists the ops between Input and Output, scope by scope. */
static scoped_op *list_ops(const stats *s, uint64_t depth, size_t *n) {
    const xir_network *net = s->l->net;
    scoped_op *ops = take(xir_network_op_count(net) + 1, sizeof *ops);
    size_t place = 0;
    *n = 0;
    for (xir_op *op = xir_network_first(net); op; op = xir_op_next(op), place++) {
        if (xir_class_traits(xir_op_class(op)) & (XIR_TRAIT_SOURCE | XIR_TRAIT_SINK)) continue;
        ops[*n] = (scoped_op){ stats_scope(xir_op_name(op), depth), op, place };
        ++*n;
    }
    qsort(ops, *n, sizeof *ops, by_scope);
    return ops;
}

static double ratio(uint64_t a, uint64_t b) { return b ? (double)a / (double)b : 1; }

/* The extents of the first tile along the letters, of the first output that has them. */
static void first_tile(const xir_tiles *tiles, xir_op *const *ops, size_t n, int64_t out[2]) {
    for (size_t i = 0; i < n; i++)
        for (size_t o = 0; o < xir_op_output_count(ops[i]); o++) {
            const xir_value *v = xir_op_output(ops[i], (int64_t)o);
            xir_box part = XIR_INIT(xir_box);
            if (!xir_tiles_part(tiles, 0, v, &part)) continue;
            for (int a = 0; a < 2; a++) {
                const int64_t k = xir_layout_index(xir_type_layout(xir_value_type(v)), letters[a]);
                out[a] = k < 0 ? 0 : part.end[k] - part.begin[k];
            }
            return;
        }
}

static void put_tiles(const xir_tiles *tiles, const stats_row *row, xir_op *const *ops, size_t n, json_out *j) {
    xir_tiles_cost cost = XIR_INIT(xir_tiles_cost);
    int64_t extent[2] = { 0, 0 };
    char peak[16];
    (void)xir_tiles_cost_of(tiles, &cost, NULL);
    first_tile(tiles, ops, n, extent);
    if (j) {
        json_int(j, "tiles", (int64_t)xir_tiles_count(tiles));
        json_int(j, "height", extent[0]);
        json_int(j, "width", extent[1]);
        json_bool(j, "staged", cost.staged);
        json_uint(j, "peak_bytes", cost.peak);
        json_uint(j, "made_bytes", cost.made);
        json_uint(j, "made_once_bytes", cost.made_once);
        json_uint(j, "read_bytes", cost.read);
        json_uint(j, "read_once_bytes", cost.read_once);
        return;
    }
    text name = { 0 };
    stats_name(&name, row, 40);
    stats_count(peak, cost.peak, true);
    printf("%-40.*s %6zu  %4lld x %-4lld %9s  %6.2f  %6.2f%s\n", (int)name.size, name.data ? name.data : "",
           xir_tiles_count(tiles), (long long)extent[0], (long long)extent[1], peak, ratio(cost.made, cost.made_once),
           ratio(cost.read, cost.read_once), cost.staged ? "  in stages" : "");
    text_free(&name);
}

static void put_refusal(const xir_diags *why, const stats_row *row, json_out *j) {
    const xir_diag *d = xir_diags_at(why, 0);
    const xir_str message = d ? d->message : XIR_STR("out of memory");
    if (j) {
        json_null(j, "tiles");
        json_str(j, "reason", message);
        return;
    }
    text name = { 0 };
    stats_name(&name, row, 40);
    printf("%-40.*s      -  %.*s\n", (int)name.size, name.data ? name.data : "", (int)message.size, message.data);
    text_free(&name);
}

void stats_tiles(const stats *s, uint64_t depth, json_out *j) {
    size_t n, end;
    scoped_op *ops = list_ops(s, depth, &n);
    xir_op **region = take(n + 1, sizeof *region);
    char bytes[16];
    stats_count(bytes, s->tiles, true);
    if (j) json_open(j, "tiles", '[');
    else printf("\ntiles of %s along H and W\n%-40s %6s  %11s %9s  %6s  %6s\n", bytes, "scope", "tiles", "size", "peak",
                "made", "read");
    for (size_t i = 0; i < n; i = end) {
        const xir_tiles_options how = XIR_INIT(xir_tiles_options, .budget = s->tiles, .letters = letters);
        const stats_row row = { .name = ops[i].scope };
        for (end = i; end < n && (end == i || !by_scope(&(scoped_op){ ops[i].scope, NULL, ops[end].place }, &ops[end]));
             end++) region[end - i] = ops[end].op;
        xir_diags *why = new_diags();
        xir_tiles *tiles = xir_region_tiles(s->l->net, region, end - i, &how, why);
        if (j) {
            json_open(j, NULL, '{');
            json_str(j, "scope", ops[i].scope);
        }
        if (tiles) put_tiles(tiles, &row, region, end - i, j);
        else put_refusal(why, &row, j);
        if (j) json_close(j, '}');
        xir_tiles_free(tiles);
        xir_diags_free(why);
    }
    if (j) json_close(j, ']');
    free(region);
    free(ops);
}
