/* Which op of one network is which of the other, in time near linear in ops and uses. In this order, each step among what the steps
 * before left over:
 *
 *   1. A name that is not empty and stands once in both.
 *   2. The same id and class. Ids are numbers that tools hand out, and after an op was put in and all were numbered anew,
 *      equal ids mean nothing; so the ops that can be told without them (by name, or by a content that stands once in both)
 *      are asked first whether ids agree. If most do not, this step comes last.
 *   3. A content (class, attributes, types) that stands once in both; the only source, the only sink.
 *   4. Neighbours of mates: the maker of the same input, the users of the same output. First those of the same content, then,
 *      where only one is left on either side, those of the same class; in the end several, in their order. */
#include <stdlib.h>
#include <string.h>
#include "diff.h"

void mates_init(mates *m, const xir_network *a, const xir_network *b) {
    size_t slots_a = xir_network_slot_count(a) + (size_t)1, slots_b = xir_network_slot_count(b) + (size_t)1;
    *m = (mates){
        .a = a, .b = b,
        .of_a = take(slots_a, sizeof *m->of_a), .of_b = take(slots_b, sizeof *m->of_b),
        .index_a = take(slots_a, sizeof *m->index_a), .index_b = take(slots_b, sizeof *m->index_b),
    };
}

void mates_free(mates *m) {
    free((void *)m->of_a);
    free((void *)m->of_b);
    free(m->index_a);
    free(m->index_b);
}

xir_op *mate_of_a(const mates *m, const xir_op *op) { return m->of_a[xir_op_slot(op)]; }
xir_op *mate_of_b(const mates *m, const xir_op *op) { return m->of_b[xir_op_slot(op)]; }

bool same_class(const xir_class *a, const xir_class *b) { return a == b || xir_str_equal(xir_class_key(a), xir_class_key(b)); }

/* ---- hashing ------------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t h, uint64_t v) {
    h ^= v + UINT64_C(0x9E3779B97F4A7C15) + (h << 6) + (h >> 2);
    h *= UINT64_C(0xFF51AFD7ED558CCD);
    return h ^ h >> 32;
}

static uint64_t hash_bytes(uint64_t h, const void *data, size_t size) {
    const unsigned char *p = data;
    for (; size >= 8; size -= 8, p += 8) {
        uint64_t word;
        memcpy(&word, p, 8);
        h = mix(h, word);
    }
    uint64_t rest = 0;
    if (size) memcpy(&rest, p, size);
    return mix(h, rest ^ (uint64_t)size << 56);
}

static uint64_t hash_text(uint64_t h, xir_str s) { return hash_bytes(mix(h, s.size), s.data, s.size); }
static uint64_t hash_object(uint64_t h, const xir_object *o) { return mix(h, o ? xir_object_hash(o) : 1); }

static uint64_t hash_real(uint64_t h, double v) {
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return mix(h, bits);
}

/* Of Params only what they are: their bytes may not be there, and their names and ids are often numbers. */
static uint64_t hash_params(uint64_t h, const xir_value *v) { return v ? hash_object(h, xir_type_object(xir_value_type(v))) : mix(h, 2); }

static uint64_t hash_map(uint64_t h, const xir_map *map);
static uint64_t hash_any(uint64_t h, const xir_any *any) {
    h = mix(h, any->kind);
    switch (any->kind) {
    case XIR_ANY_NULL:   return h;
    case XIR_ANY_BOOL:   return mix(h, any->as.boolean);
    case XIR_ANY_INT:    return mix(h, (uint64_t)any->as.integer);
    case XIR_ANY_UINT:   return mix(h, any->as.uinteger);
    case XIR_ANY_REAL:   return hash_real(h, any->as.real);
    case XIR_ANY_TEXT:   return hash_text(h, any->as.text);
    case XIR_ANY_MAP:    return hash_map(h, &any->as.map);
    case XIR_ANY_PARAMS: return hash_params(h, any->as.params);
    case XIR_ANY_LIST:
        for (size_t i = 0; i < any->as.list.size; i++) h = hash_any(h, &any->as.list.items[i]);
        return h;
    }
    return h;
}

static uint64_t hash_map(uint64_t h, const xir_map *map) {
    for (size_t i = 0; map && i < map->size; i++) h = hash_any(hash_text(h, map->entries[i].key), &map->entries[i].value);
    return h;
}

static uint64_t hash_attr(uint64_t h, const xir_attr *attr) {
    if (attr->is_null) return mix(h, 3);
    switch (attr->kind) {
    case XIR_KIND_BOOL:  return mix(h, attr->as.boolean);
    case XIR_KIND_I64:   return mix(h, (uint64_t)attr->as.i64);
    case XIR_KIND_U64:   return mix(h, attr->as.u64);
    case XIR_KIND_REAL:  return hash_real(h, attr->as.real);
    case XIR_KIND_TEXT:  return hash_text(h, attr->as.text);
    case XIR_KIND_ENUM:  return mix(h, (uint64_t)attr->as.enumerator);
    case XIR_KIND_REF:   return hash_object(h, attr->as.ref);
    case XIR_KIND_MAP:   return hash_map(h, &attr->as.map);
    case XIR_KIND_BOOLS: return hash_bytes(h, attr->as.bools.data, attr->as.bools.size * sizeof(bool));
    case XIR_KIND_I64S:  return hash_bytes(h, attr->as.i64s.data, attr->as.i64s.size * sizeof(int64_t));
    case XIR_KIND_REALS: return hash_bytes(h, attr->as.reals.data, attr->as.reals.size * sizeof(double));
    case XIR_KIND_TEXTS:
        for (size_t i = 0; i < attr->as.texts.size; i++) h = hash_text(h, attr->as.texts.data[i]);
        return h;
    case XIR_KIND_REFS:
        for (size_t i = 0; i < attr->as.refs.size; i++) h = hash_object(h, attr->as.refs.data[i]);
        return h;
    case XIR_KIND_RUNS:
        for (size_t i = 0; i < attr->as.runs.size; i++) {
            const xir_run *run = &attr->as.runs.data[i];
            h = hash_real(mix(mix(mix(h, (uint64_t)run->end), (uint64_t)run->m), (uint64_t)run->exp), (double)run->value);
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

/* What an op is, whatever it is called and whoever its neighbours are. */
static uint64_t content_of(const xir_op *op) {
    const xir_class *cls = xir_op_class(op);
    uint64_t h = hash_text(mix(0, xir_op_input_count(op)), xir_class_key(cls));
    for (size_t i = 0; i < xir_class_field_count(cls); i++) {
        xir_attr attr;
        if (xir_op_get(op, xir_class_field_at(cls, i)->name, &attr) == XIR_OK) h = hash_attr(h, &attr);
    }
    h = hash_map(h, xir_op_extra(op));
    for (size_t i = 0; i < xir_op_output_count(op); i++) {
        h = hash_object(h, xir_type_object(xir_value_type(xir_op_output(op, (int64_t)i))));
    }
    for (size_t i = 0; i < xir_op_input_count(op); i++) {
        const xir_value *v = xir_op_input(op, (int64_t)i);
        if (v && xir_value_is_params(v)) h = hash_params(mix(h, i), v);
    }
    return h | 1;   /* 0 is no key */
}

/* ---- two lists ----------------------------------------------------------------------------------- */

typedef struct side {
    xir_op *const *ops;
    size_t         n;
    uint64_t      *content;
    uint64_t      *keys;
    uint32_t      *index;    /* by slot: the position; of ops of other lists anything */
} side;

enum { LEVELS = 3 };

typedef struct queue {
    uint32_t *pairs;         /* positions in a */
    size_t    n, room, next;
} queue;

typedef struct matching {
    mates *m;
    side   a, b;
    queue  levels[LEVELS];   /* mates whose neighbours are still to be looked at: strictly, less so, at last */
} matching;

static void side_init(side *s, uint32_t *index, xir_op *const *ops, size_t n) {
    *s = (side){ .ops = ops, .n = n, .index = index };
    s->content = take(n, sizeof *s->content);
    s->keys = take(n, sizeof *s->keys);
    for (size_t i = 0; i < n; i++) {
        s->content[i] = content_of(ops[i]);
        index[xir_op_slot(ops[i])] = (uint32_t)i;
    }
}

static void side_free(side *s) {
    free(s->content);
    free(s->keys);
}

/* The position of an op in the list, or SIZE_MAX. */
static size_t position(const side *s, const xir_op *op) {
    size_t at = s->index[xir_op_slot(op)];
    return at < s->n && s->ops[at] == op ? at : SIZE_MAX;
}

static bool taken_a(const matching *m, size_t i) { return mate_of_a(m->m, m->a.ops[i]) != NULL; }
static bool taken_b(const matching *m, size_t i) { return mate_of_b(m->m, m->b.ops[i]) != NULL; }

static void pair(matching *m, size_t i, size_t j) {
    xir_op *a = m->a.ops[i], *b = m->b.ops[j];
    m->m->of_a[xir_op_slot(a)] = b;
    m->m->of_b[xir_op_slot(b)] = a;
    for (int level = 0; level < LEVELS; level++) {
        queue *q = &m->levels[level];
        if (q->n == q->room) {
            q->room = q->room * 2 + 64;
            q->pairs = resize(q->pairs, q->room * sizeof *q->pairs);
        }
        q->pairs[q->n++] = (uint32_t)i;
    }
}

/* ---- keys that stand once in both ---------------------------------------------------------------- */

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

typedef uint64_t key_fn(const side *s, size_t i);

static uint64_t name_key(const side *s, size_t i) {
    xir_str name = xir_op_name(s->ops[i]);
    return name.size ? hash_text(7, name) | 1 : 0;
}
static uint64_t class_hash(const side *s, size_t i) { return hash_text(11, xir_class_key(xir_op_class(s->ops[i]))); }
static uint64_t id_key(const side *s, size_t i)      { return mix(class_hash(s, i), (uint64_t)xir_op_id(s->ops[i])) | 1; }
static uint64_t content_key(const side *s, size_t i) { return s->content[i]; }
static uint64_t end_key(const side *s, size_t i) {
    uint32_t ends = xir_class_traits(xir_op_class(s->ops[i])) & (XIR_TRAIT_SOURCE | XIR_TRAIT_SINK);
    return ends ? class_hash(s, i) | 1 : 0;
}

static void set_keys(side *s, key_fn *key) {
    for (size_t i = 0; i < s->n; i++) s->keys[i] = key(s, i);
}

/* Calls `found` for every pair of free ops whose key stands once in both lists. */
static void once_in_both(matching *m, key_fn *key, void (*found)(matching *m, size_t i, size_t j, void *user), void *user) {
    size_t room = 16;
    while (room < 2 * (m->a.n + m->b.n)) room *= 2;
    bucket *table = take(room, sizeof *table);
    set_keys(&m->a, key);
    set_keys(&m->b, key);
    for (size_t i = 0; i < m->a.n; i++) {
        if (!m->a.keys[i] || taken_a(m, i)) continue;
        bucket *k = find_bucket(table, room, m->a.keys[i]);
        k->n_a++;
        k->i = (uint32_t)i;
    }
    for (size_t j = 0; j < m->b.n; j++) {
        if (!m->b.keys[j] || taken_b(m, j)) continue;
        bucket *k = find_bucket(table, room, m->b.keys[j]);
        k->n_b++;
        k->j = (uint32_t)j;
    }
    /* In the order of the first list, so that what follows does not depend on hashes. */
    for (size_t i = 0; i < m->a.n; i++) {
        if (!m->a.keys[i] || taken_a(m, i)) continue;
        const bucket *k = find_bucket(table, room, m->a.keys[i]);
        if (k->n_a == 1 && k->n_b == 1) found(m, i, k->j, user);
    }
    free(table);
}

static void accept_pair(matching *m, size_t i, size_t j, void *user) {
    (void)user;
    pair(m, i, j);
}

typedef struct poll { size_t agree, disagree; } poll;
static void ask(matching *m, size_t i, size_t j, void *user) {
    poll *p = user;
    if (xir_op_id(m->a.ops[i]) == xir_op_id(m->b.ops[j])) p->agree++;
    else p->disagree++;
}

static bool ids_are_kept(matching *m) {
    poll p = { 0 };
    for (size_t i = 0; i < m->a.n; i++) {
        const xir_op *mate = mate_of_a(m->m, m->a.ops[i]);
        if (mate && xir_op_id(mate) == xir_op_id(m->a.ops[i])) p.agree++;
        else if (mate) p.disagree++;
    }
    once_in_both(m, content_key, ask, &p);
    return p.agree >= p.disagree;
}

/* ---- neighbours ---------------------------------------------------------------------------------- */

/* A free op that uses an output of one that has a mate. */
typedef struct user_op {
    const xir_class *cls;
    size_t           input;      /* where */
    uint64_t         content;    /* 0: does not count now */
    size_t           at;         /* its position          */
} user_op;

static int by_use(const void *a, const void *b) {
    const user_op *x = a, *y = b;
    if (x->cls != y->cls) return (uintptr_t)x->cls < (uintptr_t)y->cls ? -1 : 1;
    if (x->input != y->input) return x->input < y->input ? -1 : 1;
    if (x->content != y->content) return x->content < y->content ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

static bool same_group(const user_op *x, const user_op *y) {
    return x->cls == y->cls && x->input == y->input && x->content == y->content;
}

typedef struct users { user_op *items; size_t n; } users;

static users free_users(const matching *m, const side *s, const xir_value *v, bool strict, bool (*taken)(const matching *, size_t)) {
    size_t n = xir_value_use_count(v);
    users u = { take(n, sizeof *u.items), 0 };
    for (const xir_use *use = xir_value_uses(v); use && u.n < n; use = xir_use_next(use)) {
        const xir_op *op = xir_use_op(use);
        size_t at = position(s, op);
        if (at == SIZE_MAX || taken(m, at)) continue;
        u.items[u.n++] = (user_op){ xir_op_class(op), xir_use_index(use), strict ? s->content[at] : 0, at };
    }
    if (u.n) qsort(u.items, u.n, sizeof *u.items, by_use);
    return u;
}

/* Users of the same output: strictly, all of one content in their order; otherwise one where one is left; at last all. */
static void match_users(matching *m, const xir_value *a, const xir_value *b, int level) {
    if (!xir_value_uses(a) || !xir_value_uses(b)) return;
    users x = free_users(m, &m->a, a, level == 0, taken_a), y = free_users(m, &m->b, b, level == 0, taken_b);
    for (size_t i = 0, j = 0; i < x.n && j < y.n;) {
        if (!same_group(&x.items[i], &y.items[j])) {
            user_op p = x.items[i], q = y.items[j];
            p.at = q.at = 0;
            if (by_use(&p, &q) < 0) i++;
            else j++;
            continue;
        }
        size_t end_i = i, end_j = j;
        while (end_i < x.n && same_group(&x.items[i], &x.items[end_i])) end_i++;
        while (end_j < y.n && same_group(&y.items[j], &y.items[end_j])) end_j++;
        bool clear = level != 1 || (end_i - i == 1 && end_j - j == 1);
        for (; clear && i < end_i && j < end_j; i++, j++) {
            if (!taken_a(m, x.items[i].at) && !taken_b(m, y.items[j].at)) pair(m, x.items[i].at, y.items[j].at);
        }
        i = end_i;
        j = end_j;
    }
    free(x.items);
    free(y.items);
}

/* Makers of the same input, through the same output. */
static void match_maker(matching *m, const xir_value *a, const xir_value *b, int level) {
    const xir_op *p = a ? xir_value_op(a) : NULL, *q = b ? xir_value_op(b) : NULL;
    if (!p || !q || xir_value_index(a) != xir_value_index(b) || !same_class(xir_op_class(p), xir_op_class(q))) return;
    size_t i = position(&m->a, p), j = position(&m->b, q);
    if (i == SIZE_MAX || j == SIZE_MAX || taken_a(m, i) || taken_b(m, j)) return;
    if (level > 0 || m->a.content[i] == m->b.content[j]) pair(m, i, j);
}

static void look_around(matching *m, size_t i, int level) {
    const xir_op *a = m->a.ops[i], *b = mate_of_a(m->m, a);
    size_t inputs = xir_op_input_count(a) < xir_op_input_count(b) ? xir_op_input_count(a) : xir_op_input_count(b);
    size_t outputs = xir_op_output_count(a) < xir_op_output_count(b) ? xir_op_output_count(a) : xir_op_output_count(b);
    for (size_t k = 0; k < inputs; k++) match_maker(m, xir_op_input(a, (int64_t)k), xir_op_input(b, (int64_t)k), level);
    for (size_t k = 0; k < outputs; k++) match_users(m, xir_op_output(a, (int64_t)k), xir_op_output(b, (int64_t)k), level);
}

/* The strictest look that is still to be had, until there is none. */
static void match_neighbours(matching *m) {
    for (int level = 0; level < LEVELS;) {
        queue *q = &m->levels[level];
        if (q->next == q->n) {
            level++;
            continue;
        }
        look_around(m, q->pairs[q->next++], level);
        level = 0;
    }
}

/* ---- the whole ----------------------------------------------------------------------------------- */

void match_ops(mates *found, xir_op *const *a, size_t n_a, xir_op *const *b, size_t n_b) {
    if (!n_a || !n_b) return;
    matching m = { .m = found };
    side_init(&m.a, found->index_a, a, n_a);
    side_init(&m.b, found->index_b, b, n_b);
    once_in_both(&m, name_key, accept_pair, NULL);
    bool by_id = ids_are_kept(&m);
    if (by_id) once_in_both(&m, id_key, accept_pair, NULL);
    once_in_both(&m, content_key, accept_pair, NULL);
    once_in_both(&m, end_key, accept_pair, NULL);
    match_neighbours(&m);
    if (!by_id) {
        once_in_both(&m, id_key, accept_pair, NULL);
        match_neighbours(&m);
    }
    side_free(&m.a);
    side_free(&m.b);
    for (int level = 0; level < LEVELS; level++) free(m.levels[level].pairs);
}

void find_moved(const mates *m, xir_op *const *a, size_t n_a, xir_op *const *b, size_t n_b, bool *moved) {
    /* Where the mates of a's ops stand in b, and the longest rising part of that: the others have moved. */
    size_t *where = take(n_a, sizeof *where), *last = take(n_a, sizeof *last), *before = take(n_a, sizeof *before);
    for (size_t j = 0; j < n_b; j++) m->index_b[xir_op_slot(b[j])] = (uint32_t)j;
    size_t length = 0;
    for (size_t i = 0; i < n_a; i++) {
        const xir_op *mate = mate_of_a(m, a[i]);
        moved[i] = mate != NULL;
        if (!mate) continue;
        where[i] = m->index_b[xir_op_slot(mate)];
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
    free(where);
    free(last);
    free(before);
}
