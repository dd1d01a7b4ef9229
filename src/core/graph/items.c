/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Walks back over the ops that compute a list. The rules for single ops are those of the classes (ctx->op_items). */
#include "items.h"
#include "elements.h"

enum { WIDEST = 8 };                       /* bytes of the widest item */
/* Of one walk; past them items are unknown. `work` counts the lists that are asked for and the items that are computed:
 * networks with open dims need some thirty, and a file may have a walk for each op. */
enum { MOST_WORK = 512, MOST_DEPTH = 48 };

bool items_count(const xir_type *type, size_t *n) {
    int64_t count;
    if (!xir_type_as_tensor(type) || xir_type_rank(type) > 1) return false;
    xir_type_kind kind = xir_type_kind_of(xir_type_element(type));
    if (kind != XIR_TYPE_INTEGER && kind != XIR_TYPE_BOOL) return false;
    if (xir_type_elements(type, &count) != XIR_OK || count > MOST_ITEMS) return false;
    *n = (size_t)count;
    return true;
}

bool items_of_params(const xir_value *v, item_list *out) {
    uint8_t bytes[MOST_ITEMS * WIDEST];
    int64_t read[MOST_ITEMS];
    if (!value_is_params(v) || !items_count(v->type, &out->n)) return false;
    const element_format f = element_format_of(xir_type_element(v->type));
    if (f.kind == ELEMENT_NONE || f.bits > 8 * WIDEST) return false;
    /* The type may have been replaced by one of other elements: then there may be fewer bytes than it takes. */
    if (out->n && xir_params_read(v, 0, bytes, (out->n * f.bits + 7) / 8)) return false;
    if (out->n) elements_to_ints(xir_type_element(v->type), bytes, 0, out->n, read);
    for (size_t i = 0; i < out->n; i++) {
        bool fits = expr_is_number(read[i]) && (read[i] >= 0 || f.kind != ELEMENT_UNSIGNED);
        out->v[i] = fits ? read[i] : EXPR_UNKNOWN;
    }
    return true;
}

/* The lists found so far, each with the op that makes it, in memory that grows by one list at a time. */
typedef struct found { struct found *next; const xir_op *op; bool known; item_list items; } found;
typedef struct items_walk {
    object_pool *pool;
    arena        room;
    found       *all;
    size_t       work, depth;
} items_walk;

static bool walk_items(void *user, const xir_value *v, item_list *out) {
    items_walk *w = user;
    if (!v || ++w->work > MOST_WORK) return false;
    if (value_is_params(v)) return items_of_params(v, out);
    const xir_op *op = value_op(v);
    size_t n;
    if (!op || op->n_outputs != 1 || !items_count(v->type, &n)) return false;
    for (const found *f = w->all; f; f = f->next) {
        if (f->op != op) continue;
        if (f->known) *out = f->items;
        return f->known;
    }
    if (w->depth == MOST_DEPTH) return false;
    found *f = arena_take(&w->room, sizeof *f);
    if (!f) {
        w->pool->forgot = true;
        return false;
    }
    *f = (found){ .next = w->all, .op = op };   // an op that depends on itself is unknown
    w->all = f;
    w->work += n;
    w->depth++;
    f->known = op->net->ctx->op_items(w->pool, op, walk_items, w, &f->items) && f->items.n == n;
    w->depth--;
    if (f->known) *out = f->items;
    return f->known;
}

bool items_of_value(object_pool *pool, const xir_value *v, item_list *out) {
    if (!v || value_is_params(v)) return v && items_of_params(v, out);
    if (!value_op(v) || !value_op(v)->net->ctx->op_items) return false;
    items_walk w = { .pool = pool };
    arena_init(&w.room, &value_op(v)->net->ctx->alloc);
    bool known = walk_items(&w, v, out);
    arena_free(&w.room);
    return known;
}
