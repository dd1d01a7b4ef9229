/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The positions of a tensor's elements after a run of Reshapes and Transpositions. The dims of the source are cut into
 * factors, each of which all ops of the run move as a whole; the result has the same factors in another order, and
 * each of its dims consists of some that are neighbours. Dims that are expressions are factors of their own: two are
 * equal if the expressions are. */
#ifndef PASSES_MOVES_MAP_H
#define PASSES_MOVES_MAP_H

#include <xir/ops.h>

enum { MAP_FACTORS = 32, MAP_DIMS = 16 };

typedef struct move_map {
    size_t  n, rank;
    int64_t size[MAP_FACTORS];          /* of each factor, in the order of the result; an expression is negative  */
    uint8_t source[MAP_FACTORS];        /* its place among the factors of the source                              */
    uint8_t begin[MAP_DIMS + 1];        /* dim d of the result has the factors from begin[d] to begin[d + 1]       */
} move_map;

/* Dims that stay where they are. Returns false if one is 0 or unknown, or if there are too many. */
bool map_of_dims(xir_i64s dims, move_map *out);
/* The same elements in other dims. Returns false if a dim would have a part of a factor that no division gives. */
bool map_reshape(move_map *m, xir_i64s dims);
/* Axes in another order. Returns false if that is not an order of the dims. */
bool map_transpose(move_map *m, xir_i64s order);
/* Returns true if the result has these dims. */
bool map_has_dims(const move_map *m, xir_i64s dims);
/* The fewest factors: those that are neighbours in source and result are one. Writes their sizes in the order of the
 * source, and for each in the order of the result its place in the source; returns how many there are. */
size_t map_factors(const move_map *m, int64_t *sizes, int64_t *order);

#endif
