/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The dims and the inputs from which an unknown value is computed: they decide it. The walk goes back from the value.
 * Where an item is an expression over dims, these are named and the walk ends; at an input of the network, this
 * is named. The walk gives up after some ops, or at an op whose results are drawn at random. */
#include <stdio.h>
#include "node/node.h"
#include "text.h"

enum { MOST_OPS = 500, MOST_NAMES = 3 };

typedef struct decider_list { xir_str names[MOST_NAMES]; size_t n; } decider_list;

typedef struct deciders {
    conversion      *c;
    pointer_table    seen;                /* values                                      */
    const xir_value *queue[MOST_OPS];
    size_t           n, done;
    decider_list     dims, inputs;
    bool             data;                /* something else decides, or too much of them */
} deciders;

static void name(deciders *d, decider_list *list, xir_str text) {
    for (size_t i = 0; i < list->n; i++)
        if (xir_str_equal(list->names[i], text)) return;
    if (!text.size || list->n == MOST_NAMES) d->data = true;
    else list->names[list->n++] = text;
}

static bool name_symbol(void *user, size_t i) {
    deciders *d = user;
    name(d, &d->dims, symbol_at(&d->c->net->pool, i)->name);
    return true;
}

static void push(deciders *d, const xir_value *v) {
    if (!v || xir_value_is_params(v)) return;
    const uint32_t *place = pointer_table_add(&d->seen, v, (uint32_t)d->n);
    if (!place || d->n == MOST_OPS) d->data = true;
    else if (*place == d->n) d->queue[d->n++] = v;
}

/* Names the symbols of the items, if all of them are known. */
static bool name_items(deciders *d, const xir_value *v) {
    item_list list;
    if (!conversion_items(d->c, v, &list)) return false;
    for (size_t i = 0; i < list.n; i++)
        if (list.v[i] == EXPR_UNKNOWN) return false;
    for (size_t i = 0; i < list.n; i++) expr_walk(&d->c->net->pool, list.v[i], name_symbol, d);
    return true;
}

static void look_at(deciders *d, const xir_value *v) {
    const xir_op *op = xir_value_op(v);
    if (op && op == xir_network_input_op(d->c->net)) name(d, &d->inputs, xir_value_name(v));
    else if (!op || xir_op_has_trait(op, XIR_TRAIT_IMPURE)) d->data = true;
    else if (!name_items(d, v))
        for (size_t i = 0; i < xir_op_input_count(op); i++) push(d, xir_op_input(op, (int64_t)i));
}

/* "the dims batch and sequence" */
static void put_list(char *text, size_t room, const decider_list *list, const char *kind, const char *quote) {
    size_t n = strlen(text);
    for (size_t i = 0; i < list->n && n < room; i++) {
        const char *before = !i ? "" : i + 1 == list->n ? " and " : ", ";
        n += (size_t)snprintf(text + n, room - n, "%s%s%s%s%s%.*s%s", i ? "" : "the ", i ? "" : kind,
                              i ? "" : list->n > 1 ? "s " : " ", before, quote, CLIP_TO(list->names[i], 40), quote);
    }
}

const char *conversion_deciders(conversion *c, const xir_value *v, char *text, size_t room) {
    deciders d = { .c = c };
    pointer_table_init(&d.seen, context_alloc(c->ctx));
    push(&d, v);
    while (d.done < d.n && !d.data) look_at(&d, d.queue[d.done++]);
    pointer_table_free(&d.seen);
    *text = '\0';
    if (!d.data) {
        put_list(text, room, &d.dims, "dim", "");
        if (d.dims.n) snprintf(text + strlen(text), room - strlen(text), ", which can be bound");
        if (d.dims.n && d.inputs.n) snprintf(text + strlen(text), room - strlen(text), ", and ");
        put_list(text, room, &d.inputs, "input", "'");
        if (d.inputs.n) snprintf(text + strlen(text), room - strlen(text), ", which can be fixed");
    }
    if (!*text) snprintf(text, room, "data");
    return text;
}
