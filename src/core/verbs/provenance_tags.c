/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Provenance in files: lists of ids in the tags of ops and values. A file may say anything: a tag that is not a list of
 * ids is a warning and counts as missing, and ids need not be those of any op that exists. */
#include "provenance_ask.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static const xir_str ops_key = { XIR_PROVENANCE_OPS, sizeof XIR_PROVENANCE_OPS - 1 };
static const xir_str values_key = { XIR_PROVENANCE_VALUES, sizeof XIR_PROVENANCE_VALUES - 1 };

/* ---- writing ---------------------------------------------------------------------------------------------------- */

/* Without a recorder all tags are removed. */
typedef struct writing {
    origin_walk w;
    xir_any    *items;
    size_t      room;
} writing;

/* The ids as the tag of an op, or of a value; none, as no tag. False without memory: `ids` is NULL. */
static bool write_ids(writing *t, xir_op *op, xir_value *v, xir_str key, const int64_t *ids, size_t n) {
    if (n && ids && !mem_reserve(t->w.p->alloc, (void **)&t->items, &t->room, n, sizeof *t->items)) return false;
    for (size_t i = 0; ids && i < n; i++) t->items[i] = xir_any_int(ids[i]);
    const xir_any list = xir_any_list(t->items, n), *tag = n ? &list : NULL;
    if (!ids || (!tag && !xir_map_find(op ? xir_op_tags(op) : xir_value_tags(v), key))) return ids;
    return (op ? xir_op_set_tag(op, key, tag) : xir_value_set_tag(v, key, tag)) == XIR_OK;
}

static const int64_t none[1];

static bool write_value(writing *t, xir_value *v) {
    size_t n = 0;
    const int64_t *ids = t->w.p ? value_walk_ids(&t->w, value_origin_of(t->w.p, v), &n) : none;
    return write_ids(t, NULL, v, values_key, ids, n);
}

static bool write_op(void *user, xir_op *op) {
    writing *t = user;
    size_t n = 0;
    const int64_t *ids = t->w.p ? origin_walk_ids(&t->w, origin_of_op(t->w.p, op), &n) : none;
    if (!write_ids(t, op, NULL, ops_key, ids, n)) return false;
    for (uint32_t i = 0; i < op->n_outputs; i++)
        if (!write_value(t, &op_outputs(op)[i])) return false;
    return op->cls->plain || op_each_child(op, write_op, user);
}

static bool write_params(void *user, xir_value *v) {
    writing *t = user;
    size_t n = 0;
    const int64_t *ids = t->w.p ? origin_walk_ids(&t->w, origin_of_value(t->w.p, v), &n) : none;
    return write_ids(t, NULL, v, ops_key, ids, n) && write_value(t, v);
}

static xir_status write_all(writing *t, xir_network *net) {
    bool ok = true;
    for (xir_op *op = net->first; op && ok; op = op->next) ok = write_op(t, op);
    return ok && net_walk_params(net, write_params, t) ? XIR_OK : XIR_E_MEMORY;
}

xir_status xir_provenance_write_tags(const xir_provenance *p) {
    if (!p || p->status) return xir_provenance_status(p);
    writing t = { .w.p = p };
    const xir_status status = write_all(&t, p->net);
    mem_free(p->alloc, t.items, t.room * sizeof *t.items);
    origin_walk_free(&t.w);
    return status;
}

xir_status xir_provenance_remove_tags(xir_network *net) {
    return net ? write_all(&(writing){ .room = 0 }, net) : XIR_E_MISSING;
}

bool xir_provenance_has_tags(const xir_network *net) {
    const xir_op *op = net ? net->first : NULL;
    while (op && !xir_map_find(xir_op_tags(op), ops_key)) op = op->next;
    return op;
}

/* ---- reading ---------------------------------------------------------------------------------------------------- */

#define NO_PLACE SIZE_MAX

typedef struct reading {
    xir_provenance *p;
    xir_diags      *why;
    int64_t        *ids;         /* of all tags; then ascending, each once */
    size_t          n, room;
    size_t          place;       /* of the op that is read; NO_PLACE: Params */
    bool            gathers;     /* the first walk: ids are gathered       */
} reading;

static bool is_list_of_ids(const xir_any *tag) {
    if (tag->kind != XIR_ANY_LIST) return false;
    for (size_t i = 0; i < tag->as.list.size; i++) {
        const xir_any *id = &tag->as.list.items[i];
        if (id->kind != XIR_ANY_INT || id->as.integer < 0) return false;
    }
    return true;
}

/* The list of a tag; NULL if there is none, or if it is malformed: then the first walk says so. */
static const xir_list *ids_of(const reading *t, const xir_map *tags, xir_str key, const char *what, int64_t id) {
    const xir_any *tag = xir_map_find(tags, key);
    char path[64] = "";
    if (!tag || is_list_of_ids(tag)) return tag ? &tag->as.list : NULL;
    if (!t->gathers) return NULL;
    if (t->place != NO_PLACE) snprintf(path, sizeof path, "/ops/%zu", t->place);
    xir_diags_add(t->why, XIR_WARNING, XIR_E_TYPE, xir_str_of(path),
                  "the tag %.*s of %s %" PRId64 " does not count: expected a list of ids, found something else",
                  (int)key.size, key.data, what, id);
    return NULL;
}

static bool gather(reading *t, const xir_list *list) {
    if (!provenance_keep(t->p, mem_reserve(t->p->alloc, (void **)&t->ids, &t->room, t->n + list->size,
                                           sizeof *t->ids))) return false;
    for (size_t i = 0; i < list->size; i++) t->ids[t->n++] = list->items[i].as.integer;
    return true;
}

/* Makes an origin of a list of sources. */
static bool become(const reading *t, uint32_t target, const xir_list *list) {
    xir_provenance *p = t->p;
    const size_t bytes = list->size * sizeof(uint32_t);
    uint32_t *of = mem_new(p->alloc, bytes + !bytes);
    if (!provenance_keep(p, of)) return false;
    for (size_t i = 0; i < list->size; i++) {
        const int64_t *at = bsearch(&list->items[i].as.integer, t->ids, t->n, sizeof *t->ids, ids_compare);
        of[i] = at ? (uint32_t)(at - t->ids) + 1 : 0;
    }
    origin_absorb(p, target, of, list->size);
    mem_free(p->alloc, of, bytes + !bytes);
    return !p->status;
}

static bool read_values(const reading *t, const xir_value *v) {
    xir_provenance *p = t->p;
    const xir_list *list = ids_of(t, xir_value_tags(v), values_key, "value", v->id);
    uint32_t all = 0;
    if (t->gathers || !list || pointer_table_find(&p->value_at, v)) return true;
    for (size_t i = 0; i < list->size && value_source_join(p, &all, list->items[i].as.integer); i++) {}
    if (all && !p->status) provenance_keep(p, pointer_table_add(&p->value_at, v, all));
    return !p->status;
}

static bool read_op(void *user, xir_op *op) {
    reading *t = user;
    const xir_list *list = ids_of(t, xir_op_tags(op), ops_key, "op", op->id);
    if (list && !(t->gathers ? gather(t, list) : become(t, op->slot, list))) return false;
    for (uint32_t i = 0; i < op->n_outputs; i++)
        if (!read_values(t, &op_outputs(op)[i])) return false;
    return op->cls->plain || op_each_child(op, read_op, user);
}

static bool read_params(void *user, xir_value *v) {
    reading *t = user;
    const xir_list *list = ids_of(t, xir_value_tags(v), ops_key, "value", v->id);
    const uint32_t target = ORIGIN_PARAMS | value_params(v)->number;
    if (list && !(t->gathers ? gather(t, list) : become(t, target, list))) return false;
    return read_values(t, v);
}

static bool walk(reading *t) {
    bool ok = true;
    t->place = 0;
    for (xir_op *op = t->p->net->first; op && ok; op = op->next, t->place++) ok = read_op(t, op);
    t->place = NO_PLACE;
    return ok && net_walk_params(t->p->net, read_params, t);
}

void tags_to_origins(xir_provenance *p, xir_diags *why) {
    reading t = { .p = p, .why = why, .gathers = true };
    bool ok = walk(&t);
    t.n = ids_in_order(t.ids, t.n);
    for (size_t i = 0; i < t.n && ok; i++) {
        const xir_provenance_source one = { .id = t.ids[i], .name = { "", 0 } };
        ok = source_add(p, one) && origin_add(p, ORIGIN_NONE, 0, 0);
    }
    t.gathers = false;
    if (ok) walk(&t);
    mem_free(p->alloc, t.ids, t.room * sizeof *t.ids);
}
