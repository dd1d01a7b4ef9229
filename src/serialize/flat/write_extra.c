/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* JSON in slots: maps, and whatever a table's other slots cannot hold. One sink writes all of it. What it remembers of
 * objects stays valid; what it remembers of values is dropped after each text. */
#include "flat/write.h"

static sink *begin(flat_writer *w) {
    w->json.out.size = 0;
    w->json.sink.status = w->b.status;
    return &w->json.sink;
}

/* The depth of lists and maps in the text. */
static uint32_t nesting(xir_str text) {
    uint32_t depth = 0, deepest = 0;
    bool quoted = false;
    for (size_t i = 0; i < text.size; i++) {
        char c = text.data[i];
        if (c == '"') quoted = !quoted;
        else if (quoted) i += c == '\\';
        else if ((c == '{' || c == '[') && ++depth > deepest) deepest = depth;
        else if (c == '}' || c == ']') depth--;
    }
    return deepest;
}

/* Ends the text; `known` levels of its map are counted for the table already. */
static uint32_t end(flat_writer *w, flat_fields *f, uint32_t known) {
    json_sink *j = &w->json;
    if (j->out.failed) flat_fail(w, XIR_E_MEMORY);
    if (j->sink.status) flat_fail(w, j->sink.status);
    if (flat_failed(w)) return 0;
    xir_str text = { j->out.data, j->out.size - 1 };   /* without the last comma */
    flat_over(f, nesting(text) - known);
    return flat_text(w, text);
}

/* Of an attribute, which may contain Params: they are written like any value. */
uint32_t flat_map(flat_writer *w, flat_fields *f, const xir_map *map) {
    if (!map || map->size == 0) return w->no_map;
    begin(w);
    memset((void *)w->json.values, 0, sizeof w->json.values);
    encode_any(&w->e, &(xir_any){ .kind = XIR_ANY_MAP, .as.map = *map });
    return end(w, f, 0);
}

uint32_t flat_plain_map(flat_writer *w, flat_fields *f, const xir_map *map) {
    w->e.plain = true;
    const uint32_t at = flat_map(w, f, map);
    w->e.plain = false;
    return at;
}

/* ---- extra ------------------------------------------------------------------------------------------------- */

void flat_item(flat_writer *w, extra_item item) {
    if (!mem_reserve(context_alloc(w->ctx), (void **)&w->items, &w->item_room, w->n_items + 1, sizeof *w->items)) {
        flat_fail(w, XIR_E_MEMORY);
        return;
    }
    w->items[w->n_items++] = item;
}

static bool has_bit(uint64_t bits, int i) { return i >= 0 && i < 64 && bits >> i & 1; }

void flat_row_items(flat_writer *w, const xir_class *cls, const void *body, uint64_t out, uint64_t over,
                    const xir_target *target) {
    for (uint32_t i = 0; i < cls->more->n_keys; i++) {
        const class_key *key = &cls->more->keys[i];
        extra_item item = { .key = key->name };
        if (key->old) continue;
        if (key->field == KEY_TARGET && target) {
            item.kind = EXTRA_OBJECT;
            item.as.object = (const xir_object *)target;
        } else if (key->field >= 0 && has_bit(out, key->field)) {
            item.kind = EXTRA_ABSENT;
        } else if (key->field >= 0 && has_bit(over, key->field)) {
            item.kind = EXTRA_ROW;
            item.as.row.row = &cls->fields[key->field];
            item.as.row.body = body;
        } else {
            continue;
        }
        flat_item(w, item);
    }
}

void flat_all_items(flat_writer *w, const xir_op *op, uint64_t out, bool target) {
    const xir_class *cls = op->cls;
    for (uint32_t i = 0; i < cls->more->n_keys; i++) {
        const class_key *key = &cls->more->keys[i];
        extra_item item = { .key = key->name };
        if (key->old || has_bit(out, key->field)) continue;
        if (key->field == KEY_TYPE) {
            item.kind = EXTRA_TEXT;
            item.as.text = cls->key;
        } else if (key->field == KEY_TARGET && target) {
            item.kind = EXTRA_OBJECT;
            item.as.object = (const xir_object *)op_target(op);
        } else if (key->field >= 0) {
            item.kind = EXTRA_ROW;
            item.as.row.row = &cls->fields[key->field];
            item.as.row.body = op->attrs;
        } else {
            continue;
        }
        flat_item(w, item);
    }
}

void flat_all_object_items(flat_writer *w, const xir_object *object, uint64_t out) {
    const xir_class *cls = object->cls;
    for (uint32_t i = 0; i < cls->more->n_keys; i++) {
        const class_key *key = &cls->more->keys[i];
        extra_item item = { .key = key->name };
        if (key->old || has_bit(out, key->field)) continue;
        if (key->field >= 0) {
            item.kind = EXTRA_ROW;
            item.as.row.row = &cls->fields[key->field];
            item.as.row.body = object;
        } else {
            item.kind = EXTRA_TEXT;   /* _type_key */
            item.as.text = cls->key;
        }
        flat_item(w, item);
    }
}

static void put_item(flat_writer *w, sink *s, const extra_item *item) {
    s->ops->name(s, item->key);
    switch (item->kind) {
    case EXTRA_ABSENT: s->ops->null(s); break;
    case EXTRA_ROW:    encode_field(&w->e, item->as.row.row, body_at(item->as.row.body, item->as.row.row)); break;
    case EXTRA_OBJECT: encode_object(&w->e, item->as.object); break;
    case EXTRA_TEXT:   s->ops->text(s, item->as.text); break;
    }
}

uint32_t flat_extra(flat_writer *w, flat_fields *f, const xir_map *undeclared) {
    size_t n = undeclared ? undeclared->size : 0, x = 0;
    if (w->n_items + n == 0 || flat_failed(w)) return 0;
    sink *s = begin(w);
    memset((void *)w->json.values, 0, sizeof w->json.values);
    s->ops->map(s, NULL, w->n_items + n);
    for (size_t i = 0; i < w->n_items || x < n;) {
        bool mine = i < w->n_items && (x == n || str_order(w->items[i].key, undeclared->entries[x].key) < 0);
        if (mine) {
            put_item(w, s, &w->items[i++]);
        } else {
            s->ops->name(s, undeclared->entries[x].key);
            encode_any(&w->e, &undeclared->entries[x++].value);
        }
    }
    s->ops->end(s);
    w->n_items = 0;
    return end(w, f, 1);
}

/* ---- Params inside ----------------------------------------------------------------------------------------- */

static bool list_one(void *user, xir_value *v) {
    flat_writer *w = user;
    if (!value_is_params(v)) return true;
    flat_params_at *known = &w->params[value_params(v)->number];
    if (known->listed == w->lists) return true;
    known->listed = w->lists;
    flat_push(w, flat_params(w, v), 0);
    return !flat_failed(w);
}

/* Recurses as deep as the text, whose depth the sink has limited. */
void flat_list_any(flat_writer *w, const xir_any *any) {
    if (flat_failed(w)) return;
    if (any->kind == XIR_ANY_PARAMS) list_one(w, any->as.params);
    for (size_t i = 0; any->kind == XIR_ANY_LIST && i < any->as.list.size; i++)
        flat_list_any(w, &any->as.list.items[i]);
    for (size_t i = 0; any->kind == XIR_ANY_MAP && i < any->as.map.size; i++)
        flat_list_any(w, &any->as.map.entries[i].value);
}

void flat_list_op(flat_writer *w, const xir_op *op) {
    if (!flat_failed(w)) op_walk_attr_params(op, list_one, w);
}

void flat_list_row(flat_writer *w, const xir_field *row, const void *body) {
    const void *at = body_at(body, row);
    if (row->kind == XIR_KIND_MAP) flat_list_any(w, &(xir_any){ .kind = XIR_ANY_MAP, .as.map = *(const xir_map *)at });
    const xir_values *list = row->kind == XIR_KIND_PARAMSS ? at : NULL;
    for (size_t i = 0; list && i < list->size; i++) {
        if (list->data[i]) list_one(w, list->data[i]);
    }
    const xir_ops *ops = row->kind == XIR_KIND_OPS ? at : NULL;
    for (size_t i = 0; ops && i < ops->size; i++) {
        const xir_op *child = ops->data[i];
        for (uint32_t j = 0; j < child->n_inputs; j++) {
            if (op_inputs(child)[j].value) list_one(w, op_inputs(child)[j].value);
        }
        flat_list_op(w, child);
    }
}
