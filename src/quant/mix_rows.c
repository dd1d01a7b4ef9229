/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The choice of a mix as a CSV for the pass quantize. An op without a name that a row can have is called by its id. */
#include "mix.h"
#include <stdio.h>
#include <string.h>

void mix_append(mix_text *out, xir_str text) {
    if (out->failed || !text.size) return;
    if (text.size > out->room - out->size) {
        size_t room = out->room ? out->room : 256;
        while (room < out->size + text.size) room *= 2;
        char *now = out->alloc->resize(out->alloc->user, out->data, out->room, room);
        out->failed = now == NULL;
        if (!now) return;
        out->data = now;
        out->room = room;
    }
    memcpy(out->data + out->size, text.data, text.size);
    out->size += text.size;
}

void mix_text_free(mix_text *out) {
    if (out->data) out->alloc->resize(out->alloc->user, out->data, out->room, 0);
}

/* Returns true if a cell can be the name, and nothing else has it. */
static bool names(const xir_network *net, const xir_op *op) {
    const xir_str name = xir_op_name(op);
    for (size_t i = 0; i < name.size; i++)
        if (name.data[i] == '"' || (unsigned char)name.data[i] < ' ') return false;
    return name.size && !xir_str_equal(name, XIR_STR("*")) && xir_network_op_by_name(net, name) == op;
}

enum { ID_ROOM = 24 };
static xir_str id_of(const xir_op *op, char room[ID_ROOM]) {
    return (xir_str){ room, (size_t)snprintf(room, ID_ROOM, "%lld", (long long)xir_op_id(op)) };
}

bool mix_has_name(const xir_network *net, const xir_op *op) {
    char room[ID_ROOM];
    return names(net, op) || !xir_network_op_by_name(net, id_of(op, room));
}

/* The last word of a class. */
static xir_str word_of(const xir_op *op) {
    const xir_str key = xir_class_key(xir_op_class(op));
    size_t at = key.size;
    while (at && key.data[at - 1] != ':') at--;
    return (xir_str){ key.data + at, key.size - at };
}

/* Returns true if an op moves what another op of its group makes: it has the bits of its input in any case. */
static bool moves(const xir_mix *m, const xir_op *op) {
    const mix_value *v = &m->values[m->first[xir_op_slot(op)]];
    return v->bits && v->root != m->first[xir_op_slot(op)];
}

static void print_row(const xir_mix *m, const mix_item *item, mix_text *out) {
    char room[ID_ROOM], bits[16];
    const mix_group *g = &m->groups[item->group];
    const bool named = names(m->net, item->op);
    snprintf(bits, sizeof bits, "%u", g->bits);
    if (named) mix_append(out, XIR_STR("\""));
    mix_append(out, named ? xir_op_name(item->op) : id_of(item->op, room));
    mix_append(out, named ? XIR_STR("\",") : XIR_STR(","));
    mix_append(out, word_of(item->op));
    mix_append(out, XIR_STR(","));
    mix_append(out, g->bits ? xir_str_of(bits) : XIR_STR("float"));
    mix_append(out, XIR_STR(",,\n"));
}

void mix_print_rows(const xir_mix *m, mix_text *out) {
    mix_append(out, XIR_STR("op,type,bits,per,saturation\n"));
    for (size_t i = 0; i < m->n_items; i++) {
        const mix_group *g = &m->groups[m->items[i].group];
        if (g->chosen && !(g->bits && moves(m, m->items[i].op))) print_row(m, &m->items[i], out);
    }
}
