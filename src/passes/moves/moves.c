/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The pass `moves`: writes what only moves elements the shortest way. First it merges runs of the same op; then rules
 * take runs of several as one map, and parts that are joined again. Each rewrite lessens the number of ops, or of
 * Transpositions. What rules leave may be a run of the same op again: then both are repeated. */
#include "moves/moves.h"

static xir_status run(xir_pass *at) {
    static const pass_rule *const families[] = { moves_parts, moves_picks, moves_turns };
    xir_status status = moves_merge(at);
    for (size_t before = SIZE_MAX; !status && at->changes != before;) {
        before = at->changes;
        status = rules_run(at, families, sizeof families / sizeof *families);
        if (status || at->changes == before) break;
        before = at->changes;
        status = moves_merge(at);
    }
    return status;
}

const xir_pass_decl pass_moves = {
    XIR_PASS_HEAD("moves", "writes runs of reshapes, transpositions, slices and concatenations the shortest way"),
    .level = XIR_LEVEL_EXACT,
    .run = run,
};
