/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The tiles of an op: a NEEDS row may say that an op of the class computes a part alone. The op is cut into
 * tiles along one axis, as large as fit a half of the bytes, then a quarter, and so on; joined, they have the bits that
 * the op computes. An op that cannot compute a part is a whole in each tile, so any class may be asked. */
#include "trying.h"

/* An op whose results an Output takes, because the outputs of a region are the values that others use. */
static made make_used(trying *t, const drawn *d) {
    made m = trial_make(t, d);
    xir_value *results[MOST_OUTPUTS];
    size_t n = 0;
    for (; m.op && n < xir_op_output_count(m.op) && n < MOST_OUTPUTS; n++) results[n] = xir_op_output(m.op, (int64_t)n);
    const xir_class *cls = xir_class_find_decl(t->ctx, xir_output_class());
    const bool good = n && xir_network_add(m.net, &XIR_INIT(xir_op_desc, .cls = cls, .inputs = results, .n_inputs = n,
                                                            .id = XIR_NO_ID));
    if (!good) trial_unmake(&m);
    return m;
}

static uint64_t bytes_of(const arrays *a) {
    uint64_t all = 0;
    size_t size = 0;
    for (size_t i = 0; i < a->n_in; i++, all += size)
        if (!a->in[i] || !xir_array_data(a->in[i], &size)) size = 0;
    for (size_t o = 0; o < a->n_out; o++, all += size)
        if (!xir_array_data(a->out[o], &size)) size = 0;
    return all;
}

static void compare_tiles(trying *t, const xir_network *net, const arrays *a, char letter, size_t n) {
    const xir_array *in[MOST_INPUTS];
    xir_array *out[MOST_OUTPUTS] = { NULL };
    xir_diags *found = xir_diags_new(t->ctx);
    size_t n_in = 0;
    for (size_t i = 0; i < a->n_in; i++)
        if (a->in[i]) in[n_in++] = a->in[i];
    const xir_status status = xir_network_run(net, in, n_in, out, a->n_out, NULL, found);
    const xir_diag *d = trial_first(found);
    if (status && status != XIR_E_MEMORY)
        trial_fault(t, FAULT_TILES, "NEEDS says that an op computes a part alone, but that op fails (%s) where %s "
                    "is cut along %c into %zu tiles: %.*s", xir_status_name(status), t->line, letter, n,
                    d ? xir_str_shown_(d->message.size) : 0, d ? d->message.data : "");
    for (size_t o = 0; o < a->n_out; o++) {
        if (!status && !trial_same_array(a->out[o], out[o]))
            trial_fault(t, FAULT_TILES, "NEEDS says that an op computes a part alone, but output %zu of %s has other "
                        "numbers where it is cut along %c into %zu tiles: name all that a part needs, set the "
                        "attributes that differ (xir_tile_i64), or do not call xir_tile_same", o, t->line, letter, n);
        xir_array_free(out[o]);
    }
    xir_diags_free(found);
}

/* Returns false if there are no such tiles. */
static bool try_budget(trying *t, const made *m, const arrays *a, char letter, uint64_t budget) {
    const char letters[] = { letter, '\0' };
    const xir_tiles_options how = XIR_INIT(xir_tiles_options, .budget = budget, .letters = letters, .whole = true);
    xir_op *op = m->op;
    xir_tiles *tiles = xir_region_tiles(m->net, &op, 1, &how, NULL);
    if (!tiles) return false;
    const size_t n = xir_tiles_count(tiles);
    xir_diags *found = xir_diags_new(t->ctx);
    xir_network *net = n > 1 ? xir_tiles_network(tiles, found) : NULL;
    const xir_diag *d = trial_first(found);
    if (net) compare_tiles(t, net, a, letter, n);
    else if (d && d->code == XIR_E_INVALID)
        trial_fault(t, FAULT_TILES, "NEEDS is wrong about the tiles of %s, cut along %c: %.*s", t->line, letter,
                    xir_str_shown_(d->message.size), d->message.data);
    xir_network_free(net);
    xir_diags_free(found);
    xir_tiles_free(tiles);
    return true;
}

void trial_tiles(trying *t, const drawn *d) {
    arrays a = { .n_in = 0 };
    const bool explained = t->told[FAULT_PARTS] || t->told[FAULT_DIFFERS] || t->told[FAULT_NEEDS_LITTLE];
    if (explained || xir_class_needs(t->cls) == XIR_NEEDS_ALL) return;
    trial_step(t, "its tiles");
    made m = make_used(t, d);
    if (m.op && xir_op_can_run(m.op) && trial_inputs(t, &m, d->seed, &a) && trial_run(&m, &a, NULL) == XIR_OK) {
        const xir_layout *layout = xir_type_layout(xir_value_type(xir_op_output(m.op, 0)));
        const size_t rank = layout ? xir_layout_rank(layout) : 0;
        const char letter = rank ? xir_layout_axis(layout, trial_below(t, rank)) : '*';
        for (uint64_t budget = bytes_of(&a) / 2; budget && letter != '*'; budget /= 2)
            if (!try_budget(t, &m, &a, letter, budget)) break;
    }
    trial_free(&a);
    trial_unmake(&m);
}
