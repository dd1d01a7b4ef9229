/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Plainer networks: attributes have their defaults, all elements of Params are one number, tags and names are gone. */
#include "reduction.h"

static xir_op *op_at(const xir_network *net, size_t i) {
    xir_op *op = xir_network_first(net);
    for (; op && i; i--) op = xir_op_next(op);
    return op;
}

/* ---- attributes -------------------------------------------------------------------------------------------------- */

enum { MOST_FIELDS = 64 };   /* of a class; the others keep what they have */

/* The default of an attribute as a value; false: it has none, or is an object or a list. */
static bool default_of(const xir_field *f, xir_attr *out) {
    *out = (xir_attr){ .kind = f->kind };
    if (!f->has_default) return false;
    switch (f->kind) {
    case XIR_KIND_BOOL: out->as.boolean = f->default_value.i != 0; return true;
    case XIR_KIND_I64:  out->as.i64 = f->default_value.i; return true;
    case XIR_KIND_U64:  out->as.u64 = (uint64_t)f->default_value.i; return true;
    case XIR_KIND_REAL: out->as.real = f->default_value.r; return true;
    case XIR_KIND_TEXT: out->as.text = f->default_text; return true;
    case XIR_KIND_ENUM: out->as.enumerator = (int)f->default_value.i; return true;
    default:            return false;
    }
}

/* Returns true if an absent attribute of a dialect's op has its default, or is found by the check of the dialect. Where
 * operators grow, older files lack attributes that others need. */
static bool has_defaults(const reducing *r, const xir_op *op) {
    xir_context *ctx = xir_network_context(r->best);
    const xir_str key = xir_class_key(xir_op_class(op));
    const xir_dialect_decl *dialect = xir_dialect_find(ctx, key);
    return dialect && !dialect->grows && xir_convert_find(ctx, key);
}

/* An op of a dialect without its k-th attribute, for k = 0 without all. */
static xir_network *without_attribute(reducing *r, const xir_op *was, size_t i, size_t k) {
    const xir_map *extra = xir_op_extra(was);
    const size_t n = extra ? extra->size : 0;
    if (k > n || n < (k ? 1 : 2) || !has_defaults(r, was)) return NULL;
    xir_network *net = reduce_clone(r);
    return net ? reduce_settle_again(r, net, reduce_drop_attribute(op_at(net, i), k ? k - 1 : SIZE_MAX)) : NULL;
}

/* Network i * MOST_FIELDS + k has the default in the k-th attribute of the i-th op. */
static xir_network *with_default(reducing *r, size_t i, const void *arg) {
    (void)arg;
    const xir_op *was = op_at(r->best, i / MOST_FIELDS);
    if (was && xir_class_is_dialect(xir_op_class(was)))
        return without_attribute(r, was, i / MOST_FIELDS, i % MOST_FIELDS);
    const xir_field *f = was && !r->is_dialect ? xir_class_field_at(xir_op_class(was), i % MOST_FIELDS) : NULL;
    xir_attr attr;
    if (!f || !default_of(f, &attr) || xir_op_attr_is(was, f->name, &attr)) return NULL;
    xir_network *net = reduce_clone(r);
    return net ? reduce_settle(r, net, xir_op_set(op_at(net, i / MOST_FIELDS), f->name, &attr)) : NULL;
}

/* Most ops are gone by now, so that a walk to each one does not count. */
bool reduce_attributes(reducing *r) {
    bool helped = false;
    const size_t to = xir_network_op_count(r->best) * MOST_FIELDS;
    if (r->is_dialect) r->faults = reduce_count_faults(r, r->best);
    for (size_t i = 0; i < to && !reduce_ends(r); i++) {
        i = reduce_first(r, i, to, with_default, NULL);
        helped = helped || i < to;
    }
    return helped;
}

/* ---- Params ------------------------------------------------------------------------------------------------------ */

/* Returns true if all elements of `size` bytes equal the first of them, or the zero byte. */
static bool are_equal(const char *bytes, uint64_t n, size_t size, bool zero) {
    for (uint64_t i = 0; i < n; i++)
        if (bytes[i] != (zero ? 0 : bytes[i % size])) return false;
    return true;
}

/* Makes all elements zero, or the first one. False: they are already, or cannot be; or no memory (r->status). */
static bool flatten(reducing *r, xir_value *params, bool zero) {
    uint64_t n = 0;
    const char *bytes = xir_params_has_data(params) ? xir_params_data(params, &n) : NULL;
    const uint64_t bits = xir_type_storage_bits(xir_type_element(xir_value_type(params)));
    const size_t size = bits % 8 ? 0 : (size_t)(bits / 8);
    if (r->is_dialect && xir_type_rank(xir_value_type(params)) < 2) return false;   /* perhaps axes, dims, or factors */
    if (!bytes || !n || (!zero && !size) || are_equal(bytes, n, size ? size : 1, zero)) return false;
    char *now = reduce_new(r, (size_t)n, 1);
    if (!now) return false;
    for (uint64_t i = 0; !zero && i < n; i++) now[i] = bytes[i % size];
    const bool done = !reduce_fails(r, xir_params_set_copy(params, now, (size_t)n));
    reduce_drop(r, now, (size_t)n, 1);
    return done;
}

/* The networks 0 and 1 have all Params flat, then 2i + 2 and 2i + 3 the i-th: zero, or its first element. */
static xir_network *with_flat(reducing *r, size_t i, const void *arg) {
    (void)arg;
    xir_network *net = reduce_clone(r);
    const size_t n = net ? xir_network_params(net, NULL, 0) : 0;
    xir_value **params = net ? reduce_new(r, n, sizeof *params) : NULL;
    bool any = false;
    if (params) xir_network_params(net, params, n);
    for (size_t k = 0; params && k < n && !r->status; k++)
        if (i < 2 || k == i / 2 - 1) any = flatten(r, params[k], i % 2 == 0) || any;
    reduce_drop(r, (void *)params, n, sizeof *params);
    return reduce_settle(r, net, r->status ? XIR_E_MEMORY : any ? XIR_OK : XIR_E_INVALID);
}

bool reduce_params(reducing *r) {
    bool helped = false;
    const size_t to = 2 * xir_network_params(r->best, NULL, 0) + 2;
    for (size_t i = 0; i < to && !reduce_ends(r); i++) {
        i = reduce_first(r, i, to, with_flat, NULL);
        helped = helped || i < to;
    }
    return helped;
}

/* ---- names and tags ---------------------------------------------------------------------------------------------- */

enum { TAGS = 1, OP_NAMES = 2, VALUE_NAMES = 4, ALL = 7 };

typedef struct clearing {
    unsigned   what;
    bool       any;
    xir_status status;
} clearing;

/* Removing a tag copies the others, so what has more tags keeps them: the work stays linear. */
enum { MOST_TAGS = 32 };

static bool has_few(const xir_map *map) { return map && map->size && map->size <= MOST_TAGS; }

static xir_walk_answer clear_op(void *user, xir_op *op) {
    clearing *c = user;
    const xir_map *tags;
    while (c->what & TAGS && !c->status && has_few(tags = xir_op_tags(op))) {
        c->status = xir_op_set_tag(op, tags->entries[0].key, NULL);
        c->any = true;
    }
    if (c->what & OP_NAMES && !c->status && xir_op_name(op).size) {
        c->status = xir_op_set_name(op, XIR_STR(""));
        c->any = true;
    }
    return c->status ? XIR_WALK_STOP : XIR_WALK_ON;
}

static xir_walk_answer clear_value(void *user, xir_value *value) {
    clearing *c = user;
    const xir_map *tags;
    while (c->what & TAGS && !c->status && has_few(tags = xir_value_tags(value))) {
        c->status = xir_value_set_tag(value, tags->entries[0].key, NULL);
        c->any = true;
    }
    if (c->what & VALUE_NAMES && !c->status && xir_value_name(value).size) {
        c->status = xir_value_set_name(value, XIR_STR(""));
        c->any = true;
    }
    return c->status ? XIR_WALK_STOP : XIR_WALK_ON;
}

static void clear_network(clearing *c, xir_network *net) {
    const xir_map *tags;
    while (c->what & TAGS && !c->status && has_few(tags = xir_network_tags(net))) {
        c->status = xir_network_set_tag(net, tags->entries[0].key, NULL);
        c->any = true;
    }
}

/* Network 0 has no tags and no names; those after it lack one kind of them. */
static xir_network *without_notes(reducing *r, size_t i, const void *arg) {
    (void)arg;
    static const unsigned kinds[] = { ALL, TAGS, OP_NAMES, VALUE_NAMES };
    clearing c = { .what = kinds[i] };
    xir_network *net = reduce_clone(r);
    if (!net) return NULL;
    clear_network(&c, net);
    const xir_walker walker = XIR_INIT(xir_walker, .user = &c, .op = clear_op, .value = clear_value,
                                       .params = clear_value);
    const xir_status walked = xir_network_walk(net, &walker, NULL);
    if (!c.status) c.status = walked;
    reduce_fails(r, c.status);
    return reduce_settle(r, net, c.status ? c.status : c.any ? XIR_OK : XIR_E_INVALID);
}

bool reduce_notes(reducing *r) {
    bool helped = false;
    for (size_t i = 0; i < 4 && !reduce_ends(r); i++) {
        i = reduce_first(r, i, 4, without_notes, NULL);
        helped = helped || i < 4;
    }
    return helped;
}
