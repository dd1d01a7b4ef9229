/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Beginning and finishing, growing lists, and tags. */
#include <stdio.h>
#include "dialect/dialect.h"
#include "name_dims.h"

void *dialect_add_slow(dialect *d, dialect_list *list, size_t item) {
    if (!mem_reserve(d->alloc, &list->data, &list->room, list->size + 1, item)) {
        trace_memory(&d->trace);
        return NULL;
    }
    return (char *)list->data + item * list->size++;
}

bool dialect_begin(dialect *d, const dialect_about *about, const format_reading *how, blob *whole) {
    xir_network *net = xir_network_new(how->ctx, "", about->framework, "");
    if (!net) {
        diag_memory(how->why);
        return false;
    }
    *d = (dialect){ .ctx = how->ctx, .net = net, .how = how, .about = about, .base = whole->bytes, .whole = whole,
                    .alloc = context_alloc(how->ctx), .parts = { .whole = whole },
                    .trace = { .ctx = how->ctx, .why = how->why, .file = how->name } };
    snprintf(d->type_key, sizeof d->type_key, "%s.type", about->prefix);
    name_table_init(&d->names, d->alloc);
    arena_init(&d->scratch, d->alloc);
    return true;
}

static void free_node(dialect *d, dialect_node *node) {
    dialect_list_free(d, &node->in, sizeof(dialect_ref));
    dialect_list_free(d, &node->out, sizeof(dialect_ref));
    dialect_list_free(d, &node->slots, sizeof(xir_any));
    dialect_list_free(d, &node->attrs, sizeof(xir_entry));
    dialect_list_free(d, &node->captures, sizeof(xir_str));
}

static void free_files(dialect *d) {
    if (!d->has_files) return;
    dialect_parts *parts = d->file_parts.data;
    for (size_t i = 0; i < d->file_parts.size; i++) dialect_parts_free(&parts[i]);
    dialect_list_free(d, &d->file_parts, sizeof(dialect_parts));
    named_files_end(&d->files);
}

static bool name_dims(dialect *d) {
    bool named;
    return net_name_dims(d->net, &named) == XIR_OK || trace_memory(&d->trace);
}

xir_network *dialect_finish(dialect *d, bool ok) {
    ok = ok && dialect_make_inputs(d) && dialect_make_outputs(d) && dialect_drop_unused(d, NULL) &&
         !dialect_failed(d) && name_dims(d);
    free_node(d, &d->node);
    dialect_list_free(d, &d->numbers, sizeof(xir_value *));
    dialect_list_free(d, &d->values, sizeof(xir_value *));
    dialect_list_free(d, &d->inputs, sizeof(dialect_end));
    dialect_list_free(d, &d->outputs, sizeof(dialect_end));
    mem_free(d->alloc, d->types, d->type_room * sizeof *d->types);
    mem_free(d->alloc, d->type_slots, d->type_slot_room * sizeof *d->type_slots);
    name_table_free(&d->names);
    free_files(d);
    dialect_parts_free(&d->parts);
    arena_free(&d->scratch);
    if (ok) return d->net;
    xir_network_free(d->net);
    return NULL;
}

/* ---- tags ------------------------------------------------------------------------------------------------------ */

bool dialect_tag(dialect *d, const xir_map **tags, const char *key, xir_any value) {
    if (dialect_failed(d)) return false;
    return map_with(&d->net->arena, *tags, xir_str_of(key), &value, tags) || trace_memory(&d->trace);
}

bool dialect_tag_kept(dialect *d, const xir_map **tags, const char *key, xir_any value) {
    if (!dialect_tag(d, tags, key, xir_any_null())) return false;
    for (size_t i = 0; i < (*tags)->size; i++) {
        xir_entry *e = (xir_entry *)(uintptr_t)&(*tags)->entries[i];   /* of the map that was just made */
        if (xir_str_equal(e->key, xir_str_of(key))) e->value = value;
    }
    return true;
}

bool dialect_tag_text(dialect *d, const xir_map **tags, const char *key, xir_str text) {
    return text.size ? dialect_tag(d, tags, key, xir_any_text(text)) : !dialect_failed(d);
}

bool dialect_tag_entries(dialect *d, const xir_map **tags, const char *key, dialect_list *entries) {
    if (!entries->size) return !dialect_failed(d);
    xir_entry *sorted = entries->data;
    size_t n = 0;
    if (!entries_sort(&d->scratch, sorted, entries->size)) return trace_memory(&d->trace);
    for (size_t i = 0; i < entries->size; i++) {
        if (i + 1 == entries->size || !xir_str_equal(sorted[i].key, sorted[i + 1].key)) sorted[n++] = sorted[i];
    }
    entries->size = 0;
    return dialect_tag(d, tags, key, xir_any_map(sorted, n));
}

bool dialect_value_tags(dialect *d, xir_value *v, const xir_map *tags) {
    if (!tags) return !dialect_failed(d);
    value_more *more = value_need_more(v);
    if (!more) return trace_memory(&d->trace);
    if (!more->tags) more->tags = tags;
    for (size_t i = 0; more->tags != tags && i < tags->size; i++) {
        if (!map_with(&d->net->arena, more->tags, tags->entries[i].key, &tags->entries[i].value, &more->tags)) {
            return trace_memory(&d->trace);
        }
    }
    return true;
}
