/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Short lists of integers that are known while a network is converted: dims, and what is computed from them. Exporters
 * write much such shape arithmetic. An item that depends on an open dim is an expression or unknown; that does not
 * affect the other items. The rules are those of the classes (items.h); here each list is computed once. */
#include "node/node.h"

/* The list that the conversion has computed for a value, or NULL. */
static const item_list *known_list(conversion *c, const xir_value *v) {
    if (!v || xir_value_is_params(v) || !value_op(v) || v != op_outputs(value_op(v))) return NULL;
    uint32_t slot = value_op(v)->slot;
    return slot < c->known_room ? c->known[slot] : NULL;
}

bool conversion_items(conversion *c, const xir_value *v, item_list *out) {
    const item_list *known = known_list(c, v);
    if (!known) return items_of_value(&c->net->pool, v, out);   // Params, or made before the conversion
    memcpy(out, known, offsetof(item_list, v) + known->n * sizeof *known->v);
    return true;
}

bool conversion_ints(conversion *c, const xir_value *v, xir_ints *out) {
    item_list list;
    if (!v || !conversion_items(c, v, &list)) return false;
    *out = (xir_ints){ arena_take(&c->brief, (list.n + 1) * sizeof *out->v), list.n };
    c->no_memory |= !out->v;
    for (size_t i = 0; out->v && i < list.n; i++) out->v[i] = expr_is_number(list.v[i]) ? list.v[i] : OPEN_ITEM;
    return out->v;
}

void conversion_forget(conversion *c, const xir_op *op) {
    if (op->slot < c->known_room) c->known[op->slot] = NULL;
}

static bool input_items(void *user, const xir_value *v, item_list *out) { return conversion_items(user, v, out); }

static bool remember(conversion *c, const xir_op *op, const item_list *list) {
    size_t before = c->known_room;
    item_list *k = arena_take(&c->scratch, offsetof(item_list, v) + list->n * sizeof *list->v);
    c->no_memory |= !k || !mem_reserve(context_alloc(c->ctx), (void **)&c->known, &c->known_room, op->slot + (size_t)1,
                                       sizeof *c->known);
    if (c->no_memory) return false;
    memset((void *)(c->known + before), 0, (c->known_room - before) * sizeof *c->known);
    memcpy(k, list, offsetof(item_list, v) + list->n * sizeof *list->v);
    c->known[op->slot] = k;
    return true;
}

bool conversion_learn(conversion *c, const xir_op *op) {
    item_list list;
    if (!c->ctx->op_items || !c->ctx->op_items(&c->net->pool, op, input_items, c, &list)) return false;
    if (expr_no_memory(&c->net->pool)) c->no_memory = true;
    if (c->no_memory || !remember(c, op, &list)) return false;
    for (size_t i = 0; i < list.n; i++) {
        if (!expr_is_number(list.v[i])) return false;
    }
    return true;
}

xir_value *conversion_known_params(conversion *c, const xir_op *op) {
    const xir_type *type = xir_value_type(xir_op_output(op, 0));
    const item_list *k = c->known[op->slot];
    uint8_t bytes[MOST_ITEMS * sizeof(int64_t)];
    uint64_t size;
    if (xir_type_bytes(type, &size) != XIR_OK || size > sizeof bytes ||
        !elements_of_ints(xir_type_element(type), k->v, k->n, bytes)) return NULL;
    c->bytes.constants += size;
    return xir_params_copy(c->net, XIR_STR(""), type, bytes, (size_t)size);
}
