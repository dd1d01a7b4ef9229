/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Cells around a tensor: see borders.h. */
#include "spec/borders.h"

static const char *const modes[] = {
    [XIR_PAD_CONSTANT] = "CONSTANT", [XIR_PAD_REFLECTION] = "REFLECTION", [XIR_PAD_REPLICATION] = "REPLICATION",
    [XIR_PAD_SYMMETRIC] = "SYMMETRIC",
};

bool borders_of_items(xir_node *at, const list_items *cells, borders *p) {
    *p = (borders){ .cells = xir_node_make_ints(at, cells->n, -1), .computed = !items_known(cells) };
    if (p->computed) p->amounts = make_list(at, cells);
    if (xir_node_failed(at)) return false;
    for (size_t i = 0; i < cells->n && !p->computed; i++) p->cells.v[i] = cells->v[i].v;
    return true;
}

xir_value *op_of_borders(xir_node *at, xir_value *x, const borders *p) {
    const bool whole = v_is_integer(x);
    if (p->filled && whole && !(p->value >= -0x1p63 && p->value < 0x1p63))
        return xir_node_unsupported(at, "integers padded with %g", p->value), NULL;
    const xir_set sets[] = {
        LIST("padding", &p->cells), WORD("mode", xir_str_of(modes[p->mode])),
        whole ? (xir_set)INT("value", (int64_t)p->value) : (xir_set)REAL("value", p->value),
    };
    return xir_node_make(at, "Pad", INS(x, p->computed ? p->amounts : NULL), (xir_sets){ sets, p->filled ? 3 : 2 });
}

xir_value *zeros_around(xir_node *at, xir_value *x, const xir_ints *cells) {
    return cells->v ? op_of_borders(at, x, &(borders){ .cells = *cells }) : NULL;
}

bool borders_of_op(xir_node *at, const xir_value *x, borders *p) {
    if (xir_node_failed(at) || !x) return false;
    const size_t n = 2 * v_rank(x);
    *p = (borders){ .amounts = xir_node_optional_input(at, 1), .filled = true, .value = xir_node_real(at, "value", 0) };
    p->computed = p->amounts && !xir_node_is_constant(at, 1);
    while (p->mode < XIR_PAD_SYMMETRIC && !xir_node_is(at, "mode", modes[p->mode])) p->mode++;
    const bool has = xir_node_items(at, "padding", &p->cells);
    if (p->amounts && !p->computed && !xir_node_ints(at, 1, &p->cells)) return false;
    if (!has || p->cells.n != n) return xir_node_unsupported(at, "padding without two numbers for each dim");
    return !xir_node_failed(at);
}

bool fixed_borders_of_op(xir_node *at, const xir_value *x, borders *p) {
    return borders_of_op(at, x, p) && (!p->computed || xir_node_unsupported(at, "padding is computed"));
}

const char *border_word(xir_node *at, const borders *p, const pad_words *words) {
    const char *word = words->of[p->mode];
    if (!word) xir_node_unsupported(at, "padding of the mode %s", modes[p->mode]);
    return word;
}
