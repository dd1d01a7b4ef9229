/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Tiles: a region whose maps do not fit a memory is computed part by part. Each tile is a part of every output of the
 * region; what it reads and computes follows from the NEEDS rows of the classes (needed.h). Tiles do not communicate:
 * what two of them need, both read or compute.
 *
 *     xir_tiles_options how = XIR_INIT(xir_tiles_options, .budget = 256 << 10, .letters = "HW");
 *     xir_tiles *tiles = xir_region_tiles(net, ops, n, &how, why);
 *     for (size_t i = 0; i < xir_tiles_count(tiles); i++) {
 *         xir_network *tile = xir_region_tile(tiles, i, why);           reads the inputs of the region, cut by Slice
 *         …
 *     }
 *     xir_tiles_free(tiles);
 *
 * The bytes that are alive while an op of a tile runs are those of its inputs and outputs, and of all parts that are
 * made or read before it and read after it. The parts of inputs are alive from their first use, those of outputs to the
 * end of the tile. Constants (Params) do not count. An op that may write over its input (SHARES rows, liveness.h) does
 * so if that is not read afterwards and has the same bytes. A cut of a value that another op needs whole is read in
 * place.
 *
 * If no tile fits, or only tiles that compute much twice, a tile may have a stage: one value inside is made piece by
 * piece, each from its own parts of the inputs, and only then are the other ops run. While a piece is made, the whole
 * value counts, and the piece as well. */
#ifndef XIR_TILES_H
#define XIR_TILES_H

#include <xir/needed.h>
#include <xir/region.h>

XIR_BEGIN

typedef struct xir_tiles xir_tiles;

typedef struct xir_tiles_options {
    uint32_t    size;       /* XIR_INIT(xir_tiles_options)                                                          */
    uint64_t    budget;     /* bytes                                                                                */
    const char *letters;    /* the axes along which outputs are cut, one to three letters of their layouts: "HW"    */
    bool        whole;      /* no tile has a stage                                                                  */
} xir_tiles_options;

/* Finds tiles of one size (those at the ends may be smaller, or a little larger, because they need less of what is
 * around them) that fit the budget and together compute the fewest bytes.
 * The region is convex; values that ops outside of it use, or results of the network, are its outputs. With several
 * outputs, their axes of one letter are cut in proportion. An op whose class cannot compute a part (no NEEDS row, a
 * Reshape that mixes axes) is computed whole in each tile. The network must outlive the tiles, and not be changed.
 * Linear in ops, times the logarithm of the longest axis and the number of tiles along it, at most 65536 (the figures
 * of more tiles are estimated from some of them). NULL with a finding:
 *   XIR_E_MISSING   an argument is NULL, there are no ops, no letters
 *   XIR_E_INVALID   the ops are not a convex set of placed ops of the network (xir_region_check), or have an Input or
 *                   Output among them; an output does not have a letter; a value has no elements
 *   XIR_E_TYPE, XIR_E_BOUNDS, XIR_E_LIMIT   a value is not a tensor, has an open dim, or more than XIR_BOX_DIMS dims
 *   XIR_E_LIMIT     not even the smallest tiles fit; the finding names the op while which the most bytes are alive
 *   XIR_E_MEMORY, XIR_E_ABI */
XIR_API xir_tiles *xir_region_tiles(const xir_network *net, xir_op *const *ops, size_t n,
                                    const xir_tiles_options *options, xir_diags *why);
XIR_API void       xir_tiles_free(xir_tiles *tiles);   /* accepts NULL */

/* The number of tiles, in the order of their places: the last letter changes first. */
XIR_API size_t xir_tiles_count(const xir_tiles *tiles);
/* Fills `out` with the part of an output that tile `i` has. False for another value, past the last tile, and if `out`
 * does not have its size. */
XIR_API bool   xir_tiles_part(const xir_tiles *tiles, size_t i, const xir_value *output, xir_box *out);

/* The cost of all tiles together, in bytes of maps. */
typedef struct xir_tiles_cost {
    uint32_t      size;             /* XIR_INIT(xir_tiles_cost)                                                      */
    bool          staged;           /* tiles have a stage                                                            */
    uint64_t      peak;             /* the most that are alive; at most the budget                                   */
    const xir_op *op;               /* while this op runs                                                            */
    uint64_t      read, read_once;  /* parts of inputs of all tiles; without tiles                                   */
    uint64_t      made, made_once;  /* parts that ops make, of all tiles; without tiles                              */
} xir_tiles_cost;
/* XIR_E_MISSING if `tiles` is NULL, XIR_E_ABI. */
XIR_API xir_status xir_tiles_cost_of(const xir_tiles *tiles, xir_tiles_cost *out, xir_diags *why);

/* Makes the network of one tile. Its inputs are those of the region, whole and in the order of their first use; its
 * outputs are the parts that the tile has of those outputs of the region of which it has any. Ops are copies with the
 * attributes that their parts ask for (less padding where a part is not at the border), between Slices; Concat joins
 * the pieces of a stage. The values are the same to the bit as those of the region. NULL with a finding: XIR_E_MISSING,
 * XIR_E_BOUNDS past the last tile, XIR_E_INVALID if the NEEDS row of a class is wrong (the op of a part has other
 * dims), XIR_E_MEMORY. */
XIR_API xir_network *xir_region_tile(const xir_tiles *tiles, size_t i, xir_diags *why);
/* Makes a network of all tiles, whose outputs Concat joins: it computes what the region does. */
XIR_API xir_network *xir_tiles_network(const xir_tiles *tiles, xir_diags *why);

XIR_END

#endif
