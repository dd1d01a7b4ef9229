/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Nodes. A node becomes one op of an opaque class: its type, its inputs and outputs, and its attributes unchanged. */
#include "dialect/dialect.h"

/* ---- types ----------------------------------------------------------------------------------------------------- */

static bool same_text(xir_str a, xir_str b) {
    return a.size == b.size && (!a.size || memcmp(a.data, b.data, a.size) == 0);
}

static uint32_t *type_slot(const dialect *d, xir_str domain, xir_str name) {
    uint64_t hash = hash_text(d->names.seed, name.data, name.size);
    if (domain.size) hash = hash_text(hash, domain.data, domain.size);
    size_t at = (uint32_t)(hash ^ hash >> 32) & (d->type_slot_room - 1);
    for (; d->type_slots[at]; at = (at + 1) & (d->type_slot_room - 1)) {
        const dialect_type *t = &d->types[d->type_slots[at] - 1];
        if (same_text(t->name, name) && same_text(t->domain, domain)) break;
    }
    return &d->type_slots[at];
}

static bool grow_types(dialect *d) {
    size_t room = d->type_slot_room ? 2 * d->type_slot_room : 64;
    uint32_t *slots = mem_new(d->alloc, room * sizeof *slots);
    if (!slots) return false;
    memset(slots, 0, room * sizeof *slots);
    mem_free(d->alloc, d->type_slots, d->type_slot_room * sizeof *slots);
    d->type_slots = slots;
    d->type_slot_room = room;
    for (size_t i = 0; i < d->n_types; i++) *type_slot(d, d->types[i].domain, d->types[i].name) = (uint32_t)i + 1;
    return true;
}

static const xir_class *class_of(dialect *d, xir_str domain, xir_str name) {
    buffer key;
    buffer_init(&key, d->alloc);
    buffer_str(&key, d->about->prefix);
    buffer_str(&key, "::");
    buffer_put(&key, domain.data, domain.size);
    if (domain.size) buffer_char(&key, '.');
    buffer_put(&key, name.data, name.size);
    const xir_class *cls = key.failed ? NULL : class_opaque(d->ctx, (xir_str){ key.data, key.size }, true);
    buffer_free(&key);
    return cls;
}

static dialect_type *find_type(dialect *d, xir_str domain, xir_str name) {
    if (2 * (d->n_types + 1) > d->type_slot_room && !grow_types(d)) return NULL;
    uint32_t *slot = type_slot(d, domain, name);
    if (*slot) return &d->types[*slot - 1];
    dialect_type made = { .name = name, .domain = domain, .cls = class_of(d, domain, name) };
    if (!made.cls) return NULL;
    made.attrs = net_attrs(d->net, made.cls, made.cls->defaults);
    if (!made.attrs) return NULL;
    if (!mem_reserve(d->alloc, (void **)&d->types, &d->type_room, d->n_types + 1, sizeof made)) return NULL;
    d->types[d->n_types++] = made;
    *slot = (uint32_t)d->n_types;
    return &d->types[d->n_types - 1];
}

/* ---- describing a node ---------------------------------------------------------------------------------------- */

void dialect_node_begin(dialect *d) {
    dialect_node *n = &d->node;
    n->type = NULL;
    n->extra = n->tags = NULL;
    n->in.size = n->out.size = n->slots.size = n->attrs.size = n->captures.size = n->n_sorted = 0;
    n->bytes.size = 0;
}

bool dialect_node_type(dialect *d, xir_str domain, xir_str name) {
    if (dialect_failed(d)) return false;
    d->node.type = find_type(d, domain, name);
    return d->node.type || trace_memory(&d->trace);
}

bool dialect_node_slot(dialect *d, size_t i, xir_str slot) {
    dialect_list *slots = &d->node.slots;
    if (dialect_failed(d)) return false;
    while (slots->size <= i) {
        xir_any *out = dialect_add(d, slots, sizeof *out);
        if (!out) return false;
        *out = xir_any_null();
    }
    ((xir_any *)slots->data)[i] = xir_any_text(slot);
    return true;
}

/* A key that ops have already gets the format's prefix, and so does a key that begins with the prefix. */
static bool make_key(dialect *d, xir_str key, xir_str *out) {
    const char *prefix = d->about->prefix;
    size_t n = strlen(prefix) + 1;
    bool begins = key.size >= n && memcmp(key.data, prefix, n - 1) == 0 && key.data[n - 1] == '.';
    bool taken = begins || class_find_key(d->node.type->cls, key, 0);
    if (!taken) return arena_text(&d->net->arena, key, out) || trace_memory(&d->trace);
    char *text = arena_take(&d->net->arena, key.size + n);
    if (!text) return trace_memory(&d->trace);
    memcpy(text, prefix, n - 1);
    text[n - 1] = '.';
    if (key.size) memcpy(text + n, key.data, key.size);
    *out = (xir_str){ text, n + key.size };
    return true;
}

/* Most keys are those of an earlier node, and without prefix. */
static bool find_key(dialect *d, xir_str key, xir_str *out) {
    dialect_key *known = &d->keys[dialect_hash(d, key) % DIALECT_KEYS];
    *out = known->text;
    if (known->cls == d->node.type->cls && same_text(known->text, key)) return true;
    if (!make_key(d, key, out)) return false;
    if (out->size == key.size) *known = (dialect_key){ d->node.type->cls, *out };
    return true;
}

static void note_order(dialect_node *n, bool sorted, size_t added) {
    const xir_entry *first = (const xir_entry *)n->attrs.data + (n->attrs.size - added);
    bool follows = sorted && n->n_sorted + added == n->attrs.size;
    if (follows && n->n_sorted) follows = str_order(first[-1].key, first->key) < 0;
    if (follows) n->n_sorted += added;
}

bool dialect_node_attr_kept(dialect *d, xir_str key, xir_any value) {
    xir_entry *out = dialect_failed(d) ? NULL : dialect_add(d, &d->node.attrs, sizeof *out);
    if (!out) return false;
    out->value = value;
    if (!find_key(d, key, &out->key)) return false;
    note_order(&d->node, true, 1);
    return true;
}

bool dialect_node_attrs_kept(dialect *d, const xir_entry *entries, size_t n, bool sorted) {
    dialect_list *attrs = &d->node.attrs;
    if (dialect_failed(d)) return false;
    if (!n) return true;
    if (!mem_reserve(d->alloc, &attrs->data, &attrs->room, attrs->size + n, sizeof *entries))
        return trace_memory(&d->trace);
    memcpy((xir_entry *)attrs->data + attrs->size, entries, n * sizeof *entries);
    attrs->size += n;
    note_order(&d->node, sorted, n);
    return true;
}

bool dialect_node_attr(dialect *d, xir_str key, const xir_any *value) {
    xir_any copy;
    if (dialect_failed(d)) return false;
    if (!any_copy(&d->net->arena, value, &copy)) return trace_memory(&d->trace);
    return dialect_node_attr_kept(d, key, copy);
}

bool dialect_node_attrs_again(dialect *d, xir_str bytes) {
    dialect_node *n = &d->node;
    if (dialect_failed(d)) return false;
    n->bytes = bytes;
    n->n_params = d->net->n_params;
    n->tags_before = n->tags;
    for (size_t i = 0; bytes.size && i < DIALECT_LATE; i++) {
        if (!same_text(n->type->late[i].bytes, bytes)) continue;
        n->extra = n->type->late[i].extra;
        return true;
    }
    return false;
}

bool dialect_node_capture(dialect *d, xir_str name) {
    xir_str *out = dialect_failed(d) ? NULL : dialect_add(d, &d->node.captures, sizeof *out);
    if (out) *out = name;
    return out != NULL;
}

/* ---- the op ---------------------------------------------------------------------------------------------------- */

static bool refuse_again(dialect *d, xir_str key) {
    return DIALECT_FAIL(d, XIR_NO_BYTE, XIR_E_EXISTS, "the attribute \"%.*s\" appears twice", CLIP(key));
}

/* Sorts the node's attributes, and remembers them with the type if nothing in them belongs to this node alone. */
bool dialect_node_attrs_done(dialect *d) {
    dialect_node *n = &d->node;
    size_t size = n->attrs.size;
    if (dialect_failed(d)) return false;
    if (!size) return true;
    xir_entry *entries = arena_copy(&d->net->arena, n->attrs.data, size * sizeof *entries);
    xir_map *map = arena_take(&d->net->arena, sizeof *map);
    const bool sorted = n->n_sorted == size;
    if (!entries || !map || (!sorted && !entries_sort(&d->scratch, entries, size))) return trace_memory(&d->trace);
    for (size_t i = 1; i < size && !sorted; i++) {
        if (xir_str_equal(entries[i - 1].key, entries[i].key)) return refuse_again(d, entries[i].key);
    }
    *map = (xir_map){ entries, size };
    n->attrs.size = n->n_sorted = 0;
    n->extra = map;
    if (n->bytes.size && d->net->n_params == n->n_params && n->tags == n->tags_before && !n->captures.size) {
        const size_t at = n->type->n_late++ % DIALECT_LATE;
        n->type->late[at].bytes = n->bytes;
        n->type->late[at].extra = map;
    }
    return true;
}

static bool tag_captures(dialect *d, dialect_node *n) {
    const xir_str *names = n->captures.data;
    size_t size = n->captures.size;
    if (!size) return true;
    xir_any *list = arena_take(&d->scratch, size * sizeof *list);
    if (!list) return trace_memory(&d->trace);
    for (size_t i = 0; i < size; i++) list[i] = xir_any_text(names[i]);
    return dialect_tag(d, &n->tags, source_tag_key(SOURCE_CAPTURES).data, xir_any_list(list, size));
}

/* Nodes of one type usually name their inputs alike, and have no other tags. */
static bool tag_slots(dialect *d, dialect_node *n) {
    const xir_any list = xir_any_list(n->slots.data, n->slots.size);
    const xir_map *last = n->type->slots;
    bool alone = !n->tags;
    if (!n->slots.size) return true;
    if (alone && last && xir_any_equal(&last->entries[0].value, &list)) {
        n->tags = last;
        return true;
    }
    if (!dialect_tag(d, &n->tags, source_tag_key(SOURCE_INPUTS).data, list)) return false;
    if (alone) n->type->slots = n->tags;
    return true;
}

static bool add_value(dialect *d, dialect_ref ref) {
    xir_value **out = dialect_add(d, &d->values, sizeof *out);
    if (!out) return false;
    *out = dialect_is_nothing(ref) ? NULL : dialect_use(d, ref);
    return dialect_is_nothing(ref) || *out;
}

/* The values that the op uses: its inputs, then the captures of its graphs. */
static bool find_values(dialect *d, const dialect_node *n) {
    const dialect_ref *in = n->in.data;
    const xir_str *captures = n->captures.data;
    size_t size = n->in.size;
    /* Absent inputs at the end are left out. */
    while (size && dialect_is_nothing(in[size - 1]) && !n->captures.size) size--;
    d->values.size = 0;
    for (size_t i = 0; i < size; i++) {
        if (!add_value(d, in[i])) return false;
    }
    for (size_t i = 0; i < n->captures.size; i++) {
        if (!add_value(d, dialect_name(d, captures[i]))) return false;
    }
    return true;
}

static bool define_outputs(dialect *d, const dialect_node *n, xir_op *op) {
    const dialect_ref *out = n->out.data;
    for (size_t i = 0; i < n->out.size; i++) {
        xir_value *v = &op_outputs(op)[i];
        if (!dialect_name_value(d, v, out[i].text) || !dialect_define(d, v, out[i])) return false;
    }
    return true;
}

bool dialect_node_fits(dialect *d) {
    if (dialect_failed(d)) return false;
    return (uint64_t)d->n_nodes < d->ctx->limits.max_ops ||
           DIALECT_FAIL(d, XIR_NO_BYTE, XIR_E_LIMIT, "more ops than the limit of %" PRIu64, d->ctx->limits.max_ops);
}

xir_op *dialect_node_end(dialect *d, xir_str name) {
    dialect_node *n = &d->node;
    if (!dialect_node_fits(d)) return NULL;
    if (!dialect_node_attrs_done(d) || !dialect_unite_captures(d) || !tag_captures(d, n) || !tag_slots(d, n) ||
        !find_values(d, n)) return NULL;
    void *rest;
    xir_op *op = op_make_whole(d->net, n->type->cls, n->type->attrs, d->values.data, d->values.size, n->out.size, 0,
                               &rest);
    const label *text = op ? net_name(d->net, name) : NULL;
    op_more *more = text && (n->extra || n->tags) ? op_need_more(op) : NULL;
    if (!text || (!more && (n->extra || n->tags))) {
        trace_memory(&d->trace);
        return NULL;
    }
    op_set_label(op, text);
    if (more) {
        more->extra = n->extra;
        more->tags = n->tags;
    }
    if (!define_outputs(d, n, op)) return NULL;
    op->id = ++d->n_nodes;   /* the network has no id tables yet that would need an update */
    op_link(op, NULL);
    return op;
}
