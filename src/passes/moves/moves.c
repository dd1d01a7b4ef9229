/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The pass `moves`: writes what only moves elements the shortest way. First it merges runs of the same op; then rules
 * take runs of several as one map, and parts that are joined again. Each rewrite lessens the number of ops, or of
 * Transpositions. What rules leave may be a run of the same op again: then both are repeated. */
#include "moves/moves.h"

/* Runs the rules, then merges what they leave. `again`: both have changed something. */
static xir_status run_round(xir_pass *at, bool *again) {
    static const pass_rule *const families[] = { moves_parts, moves_picks, moves_turns };
    size_t before = at->changes;
    *again = false;
    xir_status status = rules_run(at, families, sizeof families / sizeof *families);
    if (status || at->changes == before) return status;
    before = at->changes;
    status = moves_merge(at);
    *again = at->changes != before;
    return status;
}

static xir_status run(xir_pass *at) {
    xir_status status = moves_merge(at);
    for (bool again = true; again && !status;) status = run_round(at, &again);
    return status;
}

const xir_pass_decl pass_moves = {
    XIR_PASS_HEAD("moves", "writes runs of reshapes, transpositions, slices and concatenations the shortest way"),
    .level = XIR_LEVEL_EXACT,
    .run = run,
};
