/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Nodes. An operator becomes an op with its parameters as attributes; a <param> an input of the network with the
 * declared type; a <const> Params. What the usual writer would store differently is in the tag TSM_TAG_PARAMS:
 *
 *     name     the name, if another node has it too, or if it is empty
 *     order    the names of all parameters, unless they are sorted
 *     types    type and dims of tensors by the names of their parameters: [5, 4, 2]
 *     more     the parameters of a <param> or <const> that its type, its elements and its name do not say
 *     again    what parameters have whose names the node has before: a tensor is described by its bytes, several are a
 *              list of such, none is null. Their names are in the tag "source.repeated": the first one counts
 *
 * The id of an op is the number of its node plus one. */
#include <stdlib.h>
#include "source_tags.h"
#include "tsm/tsm.h"

enum { ORDER_ENTRIES = 5 };

/* One parameter of a node. */
typedef struct param {
    const uint8_t *at;
    xir_str        name;
    uint32_t       fields;
    tsm_tensor     t;         /* the first                                  */
    tsm_cursor     first;     /* at it                                      */
    bool           again;     /* the node has the name before               */
} param;

static int by_address(const void *key, const void *item) {
    const uint8_t *const *a = key, *const *b = item;
    return *a < *b ? -1 : *a > *b;
}

/* The scan has been over it: nothing is refused any more. */
static bool next_param(tsm_reader *r, tsm_cursor *c, param *out) {
    out->at = c->p;
    if (!tsm_take_text(c, &out->name, "") || !tsm_take_count(c, 1, &out->fields, "")) return false;
    out->first = *c;
    tsm_tensor other;
    for (uint32_t k = 0; k < out->fields; k++)
        if (!tsm_take_tensor(c, UINT64_MAX, k ? &other : &out->t)) return false;
    out->again = r->again.size && bsearch(&out->at, r->again.data, r->again.size, sizeof out->at, by_address);
    return !dialect_failed(&r->d);
}

static tsm_cursor cursor_at(tsm_reader *r, const uint8_t *p) {
    tsm_cursor c = r->c;
    c.p = p;
    return c;
}

/* ---- what is unusual --------------------------------------------------------------------------------------------- */

static bool add_entry(tsm_reader *r, dialect_list *list, xir_str key, xir_any value) {
    xir_entry *out = dialect_add(&r->d, list, sizeof *out);
    if (out) *out = (xir_entry){ key, value };
    return out;
}

/* [dtype, dims…] */
static bool type_list(tsm_reader *r, const tsm_tensor *t, xir_any *out) {
    xir_any *items = arena_take(&r->d.scratch, (t->rank + (size_t)1) * sizeof *items);
    if (!items) return trace_memory(&r->d.trace);
    items[0] = xir_any_int(t->dtype);
    for (uint32_t i = 0; i < t->rank; i++) items[i + 1] = xir_any_int(tsm_dim(t, i));
    *out = xir_any_list(items, t->rank + (size_t)1);
    return true;
}

static bool note_type(tsm_reader *r, const param *p, const xir_any *value) {
    xir_any list;
    if (tsm_is_usual(p->name, value, &p->t)) return true;
    return type_list(r, &p->t, &list) && add_entry(r, &r->types, p->name, list);
}

static bool list_order(tsm_reader *r, const tsm_node *n, xir_any *out) {
    tsm_cursor c = cursor_at(r, n->params);
    xir_any *items = arena_take(&r->d.scratch, n->n_params * sizeof *items);
    if (!items) return trace_memory(&r->d.trace);
    for (uint32_t i = 0; i < n->n_params; i++) {
        param p;
        if (!next_param(r, &c, &p)) return false;
        items[i] = xir_any_text(p.name);
    }
    *out = xir_any_list(items, n->n_params);
    return true;
}

/* Returns true if the node has its name alone. Names are not unique in files. */
static bool is_own_name(tsm_reader *r, uint32_t i, bool *own) {
    const xir_str name = r->nodes[i].name;
    *own = false;
    if (!name.size) return true;
    const uint32_t *first = text_table_add(&r->node_names, name, i);
    if (!first) return trace_memory(&r->d.trace);
    *own = *first == i;
    return true;
}

static bool has_name(const xir_map *tags) {
    const xir_any *tag = xir_map_find(tags, XIR_STR(TSM_TAG_PARAMS));
    return tag && xir_map_find(&tag->as.map, XIR_STR("name"));
}

static bool map_of(tsm_reader *r, dialect_list *list, xir_any *out) {
    xir_entry *entries = list->data;
    if (!entries_sort(&r->d.scratch, entries, list->size)) return trace_memory(&r->d.trace);
    *out = xir_any_map(entries, list->size);
    return true;
}

/* Gathers the tag of a node; r->types and r->more are of its parameters. */
static bool tag_params(tsm_reader *r, uint32_t i, const xir_map **tags) {
    const tsm_node *n = &r->nodes[i];
    xir_entry entries[ORDER_ENTRIES];
    xir_any value;
    size_t size = 0;
    bool own;
    if (!is_own_name(r, i, &own)) return false;
    if (r->repeats.size) {
        xir_any *items = arena_copy(&r->d.scratch, r->repeats.data, r->repeats.size * sizeof *items);
        if (!items) return trace_memory(&r->d.trace);
        entries[size++] = (xir_entry){ XIR_STR("again"), xir_any_list(items, r->repeats.size) };
    }
    if (r->more.size) {
        if (!map_of(r, &r->more, &value)) return false;
        entries[size++] = (xir_entry){ XIR_STR("more"), value };
    }
    if (!own) entries[size++] = (xir_entry){ XIR_STR("name"), xir_any_text(n->name) };
    if (!n->sorted) {
        if (!list_order(r, n, &value)) return false;
        entries[size++] = (xir_entry){ XIR_STR("order"), value };
    }
    if (r->types.size) {
        if (!map_of(r, &r->types, &value)) return false;
        entries[size++] = (xir_entry){ XIR_STR("types"), value };
    }
    if (r->repeated.size && !dialect_tag(&r->d, tags, source_tag_key(SOURCE_REPEATED).data,
                                         xir_any_list(r->repeated.data, r->repeated.size))) return false;
    return !size || dialect_tag(&r->d, tags, TSM_TAG_PARAMS, xir_any_map(entries, size));
}

/* ---- Params ------------------------------------------------------------------------------------------------------ */

/* Elements that XIR does not have keep their bytes, without a type. */
static xir_value *make_params(tsm_reader *r, xir_str name, const tsm_tensor *t) {
    dialect *d = &r->d;
    const xir_type *element = dialect_element(d, t->dtype), *type = NULL;
    const xir_map *tags = NULL;
    xir_any list;
    blob *data = NULL;
    r->dims.size = 0;
    for (uint32_t i = 0; element && i < t->rank; i++) {
        int64_t *dim = dialect_add(d, &r->dims, sizeof *dim);
        if (!dim) return NULL;
        *dim = tsm_dim(t, i);
    }
    if (element && !(type = dialect_tensor(d, element, r->dims.data, r->dims.size))) return NULL;
    if (dialect_failed(d)) return NULL;
    if (!type && (!type_list(r, t, &list) || !dialect_tag(d, &tags, TSM_TAG_TYPE, list))) return NULL;
    if (!d->how->no_params && !(data = dialect_part(d, r->parts, tsm_at(&r->c, t->data), t->bytes))) return NULL;
    xir_value *v = dialect_params(d, name, type, data);
    return v && dialect_value_tags(d, v, tags) ? v : NULL;
}

/* Several tensors, or none: a list of Params, or null. */
static bool packed(tsm_reader *r, const param *p, xir_any *out) {
    tsm_cursor c = p->first;
    *out = xir_any_null();
    if (!p->fields) return true;
    xir_any *items = arena_take(&r->d.net->arena, p->fields * sizeof *items);
    if (!items) return trace_memory(&r->d.trace);
    for (uint32_t k = 0; k < p->fields; k++) {
        tsm_tensor t;
        if (!tsm_take_tensor(&c, UINT64_MAX, &t)) return false;
        if (!dialect_any_params(&r->d, make_params(r, XIR_STR(""), &t), &items[k])) return false;
    }
    *out = xir_any_list(items, p->fields);
    return true;
}

/* ---- descriptions ------------------------------------------------------------------------------------------------ */

/* A tensor in a tag: {"data", "type"}. */
static bool describe_tensor(tsm_reader *r, const tsm_tensor *t, xir_any *out) {
    xir_entry *entries = arena_take(&r->d.scratch, 2 * sizeof *entries);
    xir_any list;
    buffer text;
    if (!entries || !type_list(r, t, &list)) return trace_memory(&r->d.trace);
    buffer_init(&text, r->d.alloc);
    tsm_put_digits(&text, t->data, (size_t)t->bytes);
    const char *kept = text.failed ? NULL : arena_copy(&r->d.scratch, text.data ? text.data : "", text.size);
    const size_t size = text.size;
    buffer_free(&text);
    if (!kept) return trace_memory(&r->d.trace);
    entries[0] = (xir_entry){ XIR_STR("data"), xir_any_text((xir_str){ kept, size }) };
    entries[1] = (xir_entry){ XIR_STR("type"), list };
    *out = xir_any_map(entries, 2);
    return true;
}

static bool describe(tsm_reader *r, const param *p, xir_any *out) {
    tsm_cursor c = p->first;
    *out = xir_any_null();
    if (p->fields <= 1) return !p->fields || describe_tensor(r, &p->t, out);
    xir_any *items = arena_take(&r->d.scratch, p->fields * sizeof *items);
    if (!items) return trace_memory(&r->d.trace);
    for (uint32_t k = 0; k < p->fields; k++) {
        tsm_tensor t;
        if (!tsm_take_tensor(&c, UINT64_MAX, &t) || !describe_tensor(r, &t, &items[k])) return false;
    }
    *out = xir_any_list(items, p->fields);
    return true;
}

/* Adds a parameter whose name the node has already. */
static bool add_repeat(tsm_reader *r, const param *p) {
    xir_any value;
    if (!describe(r, p, &value)) return false;
    xir_any *out = dialect_add(&r->d, &r->repeats, sizeof *out);
    xir_any *name = out ? dialect_add(&r->d, &r->repeated, sizeof *name) : NULL;
    if (!name) return false;
    ((xir_any *)r->repeats.data)[r->repeats.size - 1] = value;
    *name = xir_any_text(p->name);
    return true;
}

/* ---- operators --------------------------------------------------------------------------------------------------- */

static bool add_attribute(tsm_reader *r, const param *p, bool only_types) {
    xir_any value;
    if (p->fields == 1 && tsm_read_plain(r, &p->t, &value)) {
        if (!note_type(r, p, &value)) return false;
        return only_types || dialect_node_attr_kept(&r->d, p->name, value);
    }
    if (dialect_failed(&r->d)) return false;
    if (only_types) return true;
    bool ok = p->fields == 1 ? dialect_any_params(&r->d, make_params(r, XIR_STR(""), &p->t), &value)
                             : packed(r, p, &value);
    return ok && dialect_node_attr_kept(&r->d, p->name, value);
}

static bool add_attributes(tsm_reader *r, const tsm_node *n, bool only_types) {
    tsm_cursor c = cursor_at(r, n->params);
    for (uint32_t i = 0; i < n->n_params; i++) {
        param p;
        if (!next_param(r, &c, &p)) return false;
        if (p.again && !add_repeat(r, &p)) return false;
        if (p.again || tsm_is(p.name, "#op") || tsm_is(p.name, "#name")) continue;
        if (!add_attribute(r, &p, only_types)) return false;
    }
    return true;
}

/* The tag of the last node of an operator, if it follows from the bytes of its parameters. */
static tsm_memo *memo_of(tsm_reader *r, const dialect_type *type) {
    return &r->memos[hash_pointer(type->cls) % TSM_MEMOS];
}

static bool take_attributes(tsm_reader *r, uint32_t i) {
    const tsm_node *n = &r->nodes[i];
    dialect *d = &r->d;
    xir_str bytes = { NULL, 0 };
    bool own = false;
    if (n->usual) bytes = (xir_str){ (const char *)n->rest, (size_t)(n->inputs - 4 - n->rest) };
    tsm_memo *memo = memo_of(r, d->node.type);
    const bool again = dialect_node_attrs_again(d, bytes);
    if (dialect_failed(d)) return false;
    if (again && memo->cls == d->node.type->cls && is_own_name(r, i, &own) && own) {
        d->node.tags = memo->tags;
        return true;
    }
    r->types.size = r->more.size = r->repeats.size = r->repeated.size = 0;
    if (!add_attributes(r, n, again) || !dialect_node_attrs_done(d)) return false;
    const xir_map *tags = NULL;
    if (!tag_params(r, i, &tags)) return false;
    d->node.tags = tags;
    *memo = (tsm_memo){ NULL, NULL };
    if (bytes.size && !(tags && has_name(tags))) *memo = (tsm_memo){ d->node.type->cls, tags };
    return true;
}

bool tsm_make_op(tsm_reader *r, uint32_t i) {
    const tsm_node *n = &r->nodes[i];
    dialect *d = &r->d;
    dialect_node_begin(d);
    if (!dialect_node_type(d, XIR_STR(""), n->op)) return false;
    for (uint32_t k = 0; k < n->n_inputs; k++)
        if (!dialect_node_in_ref(d, dialect_number(tsm_input(n, k)))) return false;
    if (!dialect_node_out_ref(d, dialect_number(i)) || !take_attributes(r, i)) return false;
    xir_op *op = dialect_node_end(d, n->name);
    if (op) op->id = (int64_t)i + 1;   /* the network has no tables of ids yet */
    return op && dialect_name_value(d, &op_outputs(op)[0], n->name);
}

/* ---- constants --------------------------------------------------------------------------------------------------- */

/* A parameter of a <param> or <const> that goes into the tag. */
static bool add_more(tsm_reader *r, const param *p) {
    xir_any value;
    if (p->fields == 1 && tsm_read_plain(r, &p->t, &value))
        return note_type(r, p, &value) && add_entry(r, &r->more, p->name, value);
    return !dialect_failed(&r->d) && describe(r, p, &value) && add_entry(r, &r->more, p->name, value);
}

bool tsm_make_const(tsm_reader *r, uint32_t i) {
    tsm_node *n = &r->nodes[i];
    dialect *d = &r->d;
    tsm_cursor c = cursor_at(r, n->usual ? n->rest : n->params);
    const xir_map *tags = NULL;
    tsm_tensor value = { 0 };
    if (n->made) return true;   /* later, as an op */
    r->types.size = r->more.size = r->repeats.size = r->repeated.size = 0;
    for (uint32_t k = n->usual ? 2 : 0; k < n->n_params; k++) {
        param p;
        if (!next_param(r, &c, &p) || (p.again && !add_repeat(r, &p))) return false;
        if (p.again || tsm_is(p.name, "#op") || tsm_is(p.name, "#name")) continue;
        if (tsm_is(p.name, "value")) {
            value = p.t;
            continue;
        }
        const bool device = tsm_is(p.name, "device") && p.fields == 1 && tsm_is_text(&p.t);
        bool ok = device && tsm_is_utf8(tsm_text(&p.t)) ? dialect_tag(d, &tags, TSM_TAG_DEVICE,
                                                                      xir_any_text(tsm_text(&p.t)))
                                                        : add_more(r, &p);
        if (!ok) return false;
    }
    if (!tag_params(r, i, &tags)) return false;
    n->params_value = make_params(r, n->name, &value);
    return n->params_value && dialect_value_tags(d, n->params_value, tags) &&
           dialect_constant_ref(d, n->params_value, dialect_number(i));
}

/* ---- inputs ------------------------------------------------------------------------------------------------------ */

/* The declared dims, −1 for an open one. */
static bool take_dims(tsm_reader *r, const tsm_tensor *t) {
    r->dims.size = 0;
    if (t->rank != 1 || t->elements > TSM_RANK_MOST) return false;
    for (size_t i = 0; i < t->elements; i++) {
        int64_t *dim = dialect_add(&r->d, &r->dims, sizeof *dim);
        if (!dim || !tsm_integer(t, i, dim) || *dim < -1 || *dim > INT32_MAX) return false;
    }
    return true;
}

static bool declared_type(tsm_reader *r, const param *dtype, const param *dims, dialect_declared *out) {
    xir_any plain;
    int64_t code = -1;
    bool ok = dtype->fields == 1 && dtype->t.rank == 0 && tsm_integer(&dtype->t, 0, &code) && code >= 0 &&
              dialect_has_element(&r->d, (uint64_t)code) && dims->fields == 1 && take_dims(r, &dims->t);
    if (dialect_failed(&r->d)) return false;
    if (!ok) return true;
    out->type = dialect_tensor(&r->d, dialect_element(&r->d, (uint64_t)code), r->dims.data, r->dims.size);
    bool noted = out->type && tsm_read_plain(r, &dtype->t, &plain) && note_type(r, dtype, &plain) &&
                 tsm_read_plain(r, &dims->t, &plain) && note_type(r, dims, &plain);
    return noted || trace_memory(&r->d.trace);
}

bool tsm_declare_input(tsm_reader *r, uint32_t i, dialect_declared *out) {
    const tsm_node *n = &r->nodes[i];
    param dtype = { .fields = 0 }, dims = dtype;
    tsm_cursor c = cursor_at(r, n->params);
    r->types.size = r->more.size = r->repeats.size = r->repeated.size = 0;
    for (uint32_t k = 0; k < n->n_params; k++) {
        param p;
        if (!next_param(r, &c, &p) || (p.again && !add_repeat(r, &p))) return false;
        if (p.again) continue;
        if (tsm_is(p.name, "#dtype")) dtype = p;
        if (tsm_is(p.name, "#shape")) dims = p;
    }
    if (!declared_type(r, &dtype, &dims, out)) return false;
    c = cursor_at(r, n->params);
    for (uint32_t k = 0; k < n->n_params; k++) {
        param p;
        if (!next_param(r, &c, &p)) return false;
        const bool of_type = out->type && (p.at == dtype.at || p.at == dims.at);
        if (of_type || p.again || tsm_is(p.name, "#op") || tsm_is(p.name, "#name")) continue;
        if (!add_more(r, &p)) return false;
    }
    return tag_params(r, i, &out->tags);
}
