/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Matches the ops of two networks, in time near linear in ops and uses. Each step works on what the steps before left
 * over, in this order:
 *
 *   1. A name that is not empty and appears once in both, unless names are ignored.
 *   2. The same id and class. Tools hand out ids, and if an op was inserted and all were renumbered, equal ids mean
 *      nothing. So ids are first tested on the ops that can be matched without them (by name, or by a content that
 *      appears once in both). If most of them disagree, this step comes last.
 *   3. A content (class, attributes, types) that appears once in both; the only source, the only sink.
 *   4. Neighbours of matched ops: the op that makes the same input, the users of the same output. First those of the
 *      same content; then, if only one is left on either side, those of the same class; finally several, in order. */
#include <stdlib.h>
#include "diff.h"
#include "hash.h"

bool diff_same_class(const xir_class *a, const xir_class *b) { return a == b || xir_str_equal(a->key, b->key); }

/* ---- hashing ------------------------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t h, uint64_t v) {
    return hash_mix(h ^ UINT64_C(0x9E3779B97F4A7C15), v ^ UINT64_C(0xC4CEB9FE1A85EC53)) + h;
}

static uint64_t text_hash(uint64_t h, xir_str s)              { return mix(h, hash_text(0, s.data, s.size)); }
static uint64_t list_hash(uint64_t h, const void *p, size_t n) { return mix(h, hash_bytes(n, p, n)); }
static uint64_t object_hash(uint64_t h, const xir_object *o)  { return mix(h, o ? xir_object_hash(o) : 1); }

static uint64_t hash_real(uint64_t h, double v) {
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return mix(h, bits);
}

/* Hashes only what Params are: their bytes may be missing, and their names and ids are often numbers. */
static uint64_t hash_params(uint64_t h, const xir_value *v) {
    return v ? object_hash(h, xir_type_object(xir_value_type(v))) : mix(h, 2);
}

static uint64_t hash_map(uint64_t h, const xir_map *map);
static uint64_t hash_any(uint64_t h, const xir_any *any) {
    h = mix(h, any->kind);
    switch (any->kind) {
    case XIR_ANY_NULL:   return h;
    case XIR_ANY_BOOL:   return mix(h, any->as.boolean);
    case XIR_ANY_INT:    return mix(h, (uint64_t)any->as.integer);
    case XIR_ANY_UINT:   return mix(h, any->as.uinteger);
    case XIR_ANY_REAL:   return hash_real(h, any->as.real);
    case XIR_ANY_TEXT:   return text_hash(h, any->as.text);
    case XIR_ANY_MAP:    return hash_map(h, &any->as.map);
    case XIR_ANY_PARAMS: return hash_params(h, any->as.params);
    case XIR_ANY_LIST:
        for (size_t i = 0; i < any->as.list.size; i++) h = hash_any(h, &any->as.list.items[i]);
        return h;
    }
    return h;
}

static uint64_t hash_map(uint64_t h, const xir_map *map) {
    for (size_t i = 0; map && i < map->size; i++) {
        h = hash_any(text_hash(h, map->entries[i].key), &map->entries[i].value);
    }
    return h;
}

static uint64_t hash_attr(uint64_t h, const xir_attr *attr) {
    if (attr->is_null) return mix(h, 3);
    switch (attr->kind) {
    case XIR_KIND_BOOL:  return mix(h, attr->as.boolean);
    case XIR_KIND_I64:   return mix(h, (uint64_t)attr->as.i64);
    case XIR_KIND_U64:   return mix(h, attr->as.u64);
    case XIR_KIND_REAL:  return hash_real(h, attr->as.real);
    case XIR_KIND_TEXT:  return text_hash(h, attr->as.text);
    case XIR_KIND_ENUM:  return mix(h, (uint64_t)attr->as.enumerator);
    case XIR_KIND_REF:   return object_hash(h, attr->as.ref);
    case XIR_KIND_MAP:   return hash_map(h, &attr->as.map);
    case XIR_KIND_BOOLS: return list_hash(h, attr->as.bools.data, attr->as.bools.size * sizeof(bool));
    case XIR_KIND_I64S:  return list_hash(h, attr->as.i64s.data, attr->as.i64s.size * sizeof(int64_t));
    case XIR_KIND_REALS: return list_hash(h, attr->as.reals.data, attr->as.reals.size * sizeof(double));
    case XIR_KIND_TEXTS:
        for (size_t i = 0; i < attr->as.texts.size; i++) h = text_hash(h, attr->as.texts.data[i]);
        return h;
    case XIR_KIND_REFS:
        for (size_t i = 0; i < attr->as.refs.size; i++) h = object_hash(h, attr->as.refs.data[i]);
        return h;
    case XIR_KIND_RUNS:
        for (size_t i = 0; i < attr->as.runs.size; i++) {
            const xir_run *run = &attr->as.runs.data[i];
            h = mix(mix(mix(h, (uint64_t)run->end), (uint64_t)run->m), (uint64_t)run->exp);
            h = hash_real(h, (double)run->value);
        }
        return h;
    case XIR_KIND_PARAMS: return hash_params(h, attr->as.params);
    case XIR_KIND_PARAMSS:
        for (size_t i = 0; i < attr->as.values.size; i++) h = hash_params(h, attr->as.values.data[i]);
        return h;
    case XIR_KIND_OPS:   return mix(h, attr->as.ops.size);
    case XIR_KIND_COUNT: break;
    }
    return h;
}

/* A hash of what an op is, without its name and its neighbours. */
static uint64_t content_of(const xir_op *op) {
    const xir_class *cls = xir_op_class(op);
    uint64_t h = text_hash(mix(0, xir_op_input_count(op)), xir_class_key(cls));
    for (size_t i = 0; i < xir_class_field_count(cls); i++) {
        xir_attr attr;
        if (xir_op_get(op, xir_class_field_at(cls, i)->name, &attr) == XIR_OK) h = hash_attr(h, &attr);
    }
    h = hash_map(h, xir_op_extra(op));
    for (size_t i = 0; i < xir_op_output_count(op); i++) {
        h = object_hash(h, xir_type_object(xir_value_type(xir_op_output(op, (int64_t)i))));
    }
    for (size_t i = 0; i < xir_op_input_count(op); i++) {
        const xir_value *v = xir_op_input(op, (int64_t)i);
        if (v && xir_value_is_params(v)) h = hash_params(mix(h, i), v);
    }
    return h | 1;   /* 0 means "no key" */
}

/* ---- two lists ------------------------------------------------------------------------------------------------ */

typedef struct list {
    diff_side     *side;
    xir_op *const *ops;
    size_t         n;
    uint64_t      *content, *keys;
} list;

enum { LEVELS = 3 };

typedef struct user_op user_op;
typedef struct users { user_op *items; size_t n, room; } users;

typedef struct matching {
    xir_diff *d;
    list      a, b;
    uint32_t *pairs;           /* positions in a of matched ops, in the order in which they were found                */
    size_t    n_pairs, most;
    size_t    next[LEVELS];    /* the next ones whose neighbours are to be matched: strictly, loosely, finally        */
    users     x, y;            /* room for users of a value                                                           */
} matching;

static bool list_init(xir_diff *d, list *l, diff_side *side, xir_op *const *ops, size_t n) {
    *l = (list){ .side = side, .ops = ops, .n = n };
    l->content = diff_take(d, n, sizeof *l->content);
    l->keys = diff_take(d, n, sizeof *l->keys);
    if (d->failed) return false;
    for (size_t i = 0; i < n; i++) {
        l->content[i] = content_of(ops[i]);
        side->index[ops[i]->slot] = (uint32_t)i;
    }
    return true;
}

static void list_free(xir_diff *d, list *l) {
    diff_give(d, l->content, l->n, sizeof *l->content);
    diff_give(d, l->keys, l->n, sizeof *l->keys);
}

/* The position of an op in the list, or SIZE_MAX. */
static size_t position(const list *l, const xir_op *op) {
    size_t at = l->side->index[op->slot];   /* undefined for ops of other lists */
    return at < l->n && l->ops[at] == op ? at : SIZE_MAX;
}

static bool taken(const list *l, size_t i) { return diff_match_of(l->side, l->ops[i]) != NULL; }

static void pair(matching *m, size_t i, size_t j) {
    xir_op *a = m->a.ops[i], *b = m->b.ops[j];
    m->a.side->matches[a->slot] = b;
    m->b.side->matches[b->slot] = a;
    m->pairs[m->n_pairs++] = (uint32_t)i;
}

/* ---- keys that appear once in both ----------------------------------------------------------------------------- */

typedef struct bucket {
    uint64_t key;
    uint32_t n_a, n_b, i, j;
} bucket;

static bucket *find_bucket(bucket *table, size_t room, uint64_t key) {
    size_t at = (size_t)(key ^ key >> 29) & (room - 1);
    while (table[at].key && table[at].key != key) at = (at + 1) & (room - 1);
    table[at].key = key;
    return &table[at];
}

typedef uint64_t key_fn(const list *l, size_t i);

static uint64_t name_key(const list *l, size_t i) {
    xir_str name = xir_op_name(l->ops[i]);
    return name.size ? text_hash(7, name) | 1 : 0;
}
static uint64_t class_hash(const list *l, size_t i)  { return text_hash(11, l->ops[i]->cls->key); }
static uint64_t id_key(const list *l, size_t i)      { return mix(class_hash(l, i), (uint64_t)l->ops[i]->id) | 1; }
static uint64_t content_key(const list *l, size_t i) { return l->content[i]; }
static uint64_t end_key(const list *l, size_t i) {
    uint32_t ends = xir_class_traits(l->ops[i]->cls) & (XIR_TRAIT_SOURCE | XIR_TRAIT_SINK);
    return ends ? class_hash(l, i) | 1 : 0;
}

static void set_keys(list *l, key_fn *key) {
    for (size_t i = 0; i < l->n; i++) l->keys[i] = key(l, i);
}

/* Calls `found` for every pair of free ops whose key appears once in both lists. */
static void once_in_both(matching *m, key_fn *key, void (*found)(matching *m, size_t i, size_t j, void *user),
                         void *user) {
    size_t room = 16;
    while (room < 2 * (m->a.n + m->b.n)) room *= 2;
    bucket *table = diff_take(m->d, room, sizeof *table);
    if (!table) return;
    set_keys(&m->a, key);
    set_keys(&m->b, key);
    for (size_t i = 0; i < m->a.n; i++) {
        if (!m->a.keys[i] || taken(&m->a, i)) continue;
        bucket *k = find_bucket(table, room, m->a.keys[i]);
        k->n_a++;
        k->i = (uint32_t)i;
    }
    for (size_t j = 0; j < m->b.n; j++) {
        if (!m->b.keys[j] || taken(&m->b, j)) continue;
        bucket *k = find_bucket(table, room, m->b.keys[j]);
        k->n_b++;
        k->j = (uint32_t)j;
    }
    /* In the order of the first list, so that the result does not depend on hashes. */
    for (size_t i = 0; i < m->a.n; i++) {
        if (!m->a.keys[i] || taken(&m->a, i)) continue;
        const bucket *k = find_bucket(table, room, m->a.keys[i]);
        if (k->n_a == 1 && k->n_b == 1) found(m, i, k->j, user);
    }
    diff_give(m->d, table, room, sizeof *table);
}

static void accept_pair(matching *m, size_t i, size_t j, void *user) {
    (void)user;
    pair(m, i, j);
}

typedef struct poll { size_t agree, disagree; } poll;
static void ask(matching *m, size_t i, size_t j, void *user) {
    poll *p = user;
    if (m->a.ops[i]->id == m->b.ops[j]->id) p->agree++;
    else p->disagree++;
}

static bool ids_are_kept(matching *m) {
    poll p = { 0 };
    for (size_t i = 0; i < m->a.n; i++) {
        const xir_op *match = diff_match_of(m->a.side, m->a.ops[i]);
        if (match && match->id == m->a.ops[i]->id) p.agree++;
        else if (match) p.disagree++;
    }
    once_in_both(m, content_key, ask, &p);
    return p.agree >= p.disagree;
}

/* ---- neighbours ------------------------------------------------------------------------------------------------ */

/* A free op that uses an output of a matched op. */
struct user_op {
    const xir_class *cls;
    size_t           input;      /* the position of the use */
    uint64_t         content;    /* 0: ignored now */
    size_t           at;         /* its position          */
};

/* By keys of classes, not by their addresses, so that the order is the same in every run. */
static int by_group(const user_op *x, const user_op *y) {
    if (x->cls != y->cls) {
        int order = str_order(x->cls->key, y->cls->key);
        if (order) return order;
    }
    if (x->input != y->input) return x->input < y->input ? -1 : 1;
    return (x->content > y->content) - (x->content < y->content);
}

static int by_use(const void *a, const void *b) {
    const user_op *x = a, *y = b;
    int order = by_group(x, y);
    return order ? order : (x->at > y->at) - (x->at < y->at);
}

/* The free users of a value that are in the list. */
static bool free_users(matching *m, const list *l, const xir_value *v, bool strict, users *u) {
    u->n = 0;
    if (!mem_reserve(m->d->alloc, (void **)&u->items, &u->room, xir_value_use_count(v), sizeof *u->items)) {
        m->d->failed = true;
        return false;
    }
    for (const xir_use *use = xir_value_uses(v); use && u->n < u->room; use = xir_use_next(use)) {
        const xir_op *op = xir_use_op(use);
        size_t at = position(l, op);
        if (at == SIZE_MAX || taken(l, at)) continue;
        u->items[u->n++] = (user_op){ op->cls, xir_use_index(use), strict ? l->content[at] : 0, at };
    }
    if (u->n > 1) qsort(u->items, u->n, sizeof *u->items, by_use);
    return u->n > 0;
}

/* Matches users of the same output: strictly, all of one content in order; loosely, one if only one is left; finally
 * all. */
static void match_users(matching *m, const xir_value *a, const xir_value *b, int level) {
    if (!xir_value_uses(a) || !xir_value_uses(b)) return;
    users *x = &m->x, *y = &m->y;
    if (!free_users(m, &m->a, a, level == 0, x) || !free_users(m, &m->b, b, level == 0, y)) return;
    for (size_t i = 0, j = 0; i < x->n && j < y->n;) {
        int order = by_group(&x->items[i], &y->items[j]);
        if (order) {
            if (order < 0) i++;
            else j++;
            continue;
        }
        size_t end_i = i, end_j = j;
        while (end_i < x->n && by_group(&x->items[i], &x->items[end_i]) == 0) end_i++;
        while (end_j < y->n && by_group(&y->items[j], &y->items[end_j]) == 0) end_j++;
        bool clear = level != 1 || (end_i - i == 1 && end_j - j == 1);
        for (; clear && i < end_i && j < end_j; i++, j++) {
            if (!taken(&m->a, x->items[i].at) && !taken(&m->b, y->items[j].at)) pair(m, x->items[i].at, y->items[j].at);
        }
        i = end_i;
        j = end_j;
    }
}

/* Matches the ops that make the same input, through the same output. */
static void match_maker(matching *m, const xir_value *a, const xir_value *b, int level) {
    const xir_op *p = a ? xir_value_op(a) : NULL, *q = b ? xir_value_op(b) : NULL;
    if (!p || !q || xir_value_index(a) != xir_value_index(b) || !diff_same_class(p->cls, q->cls)) return;
    size_t i = position(&m->a, p), j = position(&m->b, q);
    if (i == SIZE_MAX || j == SIZE_MAX || taken(&m->a, i) || taken(&m->b, j)) return;
    if (level > 0 || m->a.content[i] == m->b.content[j]) pair(m, i, j);
}

static void look_around(matching *m, size_t i, int level) {
    const xir_op *a = m->a.ops[i], *b = diff_match_of(m->a.side, a);
    size_t inputs = a->n_inputs < b->n_inputs ? a->n_inputs : b->n_inputs;
    size_t outputs = a->n_outputs < b->n_outputs ? a->n_outputs : b->n_outputs;
    for (size_t k = 0; k < inputs; k++) match_maker(m, op_inputs(a)[k].value, op_inputs(b)[k].value, level);
    for (size_t k = 0; k < outputs; k++) match_users(m, &op_outputs(a)[k], &op_outputs(b)[k], level);
}

/* Tries the strictest level with work left, until there is none. */
static void match_neighbours(matching *m) {
    for (int level = 0; level < LEVELS && !m->d->failed;) {
        if (m->next[level] == m->n_pairs) {
            level++;
            continue;
        }
        look_around(m, m->pairs[m->next[level]++], level);
        level = 0;
    }
}

/* ---- names that were exchanged --------------------------------------------------------------------------------- */

/* The key of a change from one content to another. */
static uint64_t change_key(uint64_t from, uint64_t to) { return mix(mix(13, from), to) | 1; }

/* Counts pairs of ops, all matched by name, whose contents changed into each other's. */
static void find_exchanged(matching *m) {
    size_t room = 16;
    while (room < 2 * m->n_pairs) room *= 2;
    bucket *table = m->n_pairs > 1 ? diff_take(m->d, room, sizeof *table) : NULL;
    if (!table) return;
    xir_diff_counts *counts = &m->d->counts;
    for (size_t k = 0; k < m->n_pairs; k++) {
        size_t i = m->pairs[k], j = position(&m->b, diff_match_of(m->a.side, m->a.ops[i]));
        uint64_t from = m->a.content[i], to = m->b.content[j];
        if (from == to) continue;
        bucket *other = find_bucket(table, room, change_key(to, from));
        if (other->n_a) {
            other->n_a--;
            counts->exchanged += 2;
            if (!counts->exchanged_a[0]) {
                counts->exchanged_a[0] = m->a.ops[other->i];
                counts->exchanged_a[1] = m->a.ops[i];
            }
            continue;
        }
        bucket *own = find_bucket(table, room, change_key(from, to));
        own->n_a++;
        own->i = (uint32_t)i;
    }
    diff_give(m->d, table, room, sizeof *table);
}

/* ---- the whole ------------------------------------------------------------------------------------------------- */

static void match_lists(matching *m) {
    if (!(m->d->how.ignore & XIR_DIFF_IGNORE_NAMES)) {
        once_in_both(m, name_key, accept_pair, NULL);
        find_exchanged(m);
    }
    bool by_id = ids_are_kept(m);
    if (by_id) once_in_both(m, id_key, accept_pair, NULL);
    once_in_both(m, content_key, accept_pair, NULL);
    once_in_both(m, end_key, accept_pair, NULL);
    match_neighbours(m);
    if (!by_id) {
        once_in_both(m, id_key, accept_pair, NULL);
        match_neighbours(m);
    }
}

void diff_match(xir_diff *d, xir_op *const *a, size_t n_a, xir_op *const *b, size_t n_b) {
    if (!n_a || !n_b) return;
    matching m = { .d = d, .most = n_a < n_b ? n_a : n_b };
    m.pairs = diff_take(d, m.most, sizeof *m.pairs);
    bool ready = list_init(d, &m.a, &d->a, a, n_a);
    if (ready && list_init(d, &m.b, &d->b, b, n_b)) match_lists(&m);
    list_free(d, &m.a);
    list_free(d, &m.b);
    mem_free(d->alloc, m.x.items, m.x.room * sizeof *m.x.items);
    mem_free(d->alloc, m.y.items, m.y.room * sizeof *m.y.items);
    diff_give(d, m.pairs, m.most, sizeof *m.pairs);
}

/* Finds the positions in b of the matches of a's ops, and the longest increasing subsequence: the other ops have
 * moved. */
void diff_find_moved(xir_diff *d, xir_op *const *a, size_t n_a, xir_op *const *b, size_t n_b, bool *moved) {
    size_t *where = diff_take(d, 3 * n_a, sizeof *where), *last = where ? where + n_a : NULL,
            *before = where ? last + n_a : NULL;
    for (size_t j = 0; j < n_b; j++) d->b.index[b[j]->slot] = (uint32_t)j;
    size_t length = 0;
    for (size_t i = 0; i < n_a && where; i++) {
        const xir_op *match = diff_match_of(&d->a, a[i]);
        moved[i] = match != NULL;
        if (!match) continue;
        where[i] = d->b.index[match->slot];
        size_t low = 0, high = length;
        while (low < high) {
            size_t middle = (low + high) / 2;
            if (where[last[middle]] < where[i]) low = middle + 1;
            else high = middle;
        }
        before[i] = low ? last[low - 1] : SIZE_MAX;
        last[low] = i;
        if (low == length) length++;
    }
    for (size_t i = length ? last[length - 1] : SIZE_MAX; i != SIZE_MAX; i = before[i]) moved[i] = false;
    diff_give(d, where, 3 * n_a, sizeof *where);
}
