/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Atoms and polynomials, each once. Both tables use open addressing and are at most half full. Atoms and records are
 * never removed: they are freed with the pool. */
#include <stdio.h>
#include "symbol_table.h"
#include "utf8.h"

static const uint64_t seed = 0x53796d626f6c3031u;

symbol_table *symbol_table_of(object_pool *pool) {
    if (pool->symbols) return pool->symbols;
    symbol_table *t = arena_take(&pool->arena, sizeof *t);
    if (!t) return NULL;
    *t = (symbol_table){ .pool = pool };
    pool->symbols = t;
    return t;
}

void symbols_free(object_pool *pool) {
    symbol_table *t = pool->symbols;
    if (!t) return;
    const xir_allocator *alloc = pool->arena.alloc;
    mem_free(alloc, t->atoms, t->atom_room * sizeof *t->atoms);
    mem_free(alloc, t->symbols, t->symbol_room * sizeof *t->symbols);
    mem_free(alloc, t->by_hash, t->hash_room * sizeof *t->by_hash);
    mem_free(alloc, (void *)t->records, t->record_room * sizeof *t->records);
    pool->symbols = NULL;   // the rest is in the arena
}

bool expr_no_memory(object_pool *pool) {
    symbol_table *t = pool->symbols;
    const bool forgot = pool->forgot, is_so = forgot || (t && t->no_memory);
    if (forgot) pool->forgot = false;
    if (is_so && t) t->no_memory = false;
    return is_so;
}

static bool no_memory(symbol_table *t) {
    t->no_memory = true;
    return false;
}

/* ---- the order --------------------------------------------------------------------------------------------- */

/* Parts are in the table once, so equal ones are the same number: the recursion follows only the first difference, and
 * atoms are at most max_expr_depth deep. */
static int atom_order(const symbol_table *t, uint32_t i, uint32_t j) {
    if (i == j) return 0;
    const atom *a = &t->atoms[i], *b = &t->atoms[j];
    if (a->kind != b->kind) return a->kind < b->kind ? -1 : 1;
    if (a->kind == ATOM_SYMBOL) return str_order(a->range.name, b->range.name);
    int order = expr_order(t, a->a, b->a);
    if (!order && a->kind != ATOM_FLOOR) order = expr_order(t, a->b, b->b);
    return order ? order : (a->divisor > b->divisor) - (a->divisor < b->divisor);
}

/* Terms of a higher degree come first. */
int term_order(const symbol_table *t, const poly_term *a, const poly_term *b) {
    if (a->n != b->n) return a->n > b->n ? -1 : 1;
    for (uint32_t i = 0; i < a->n; i++) {
        int order = atom_order(t, a->atoms[i], b->atoms[i]);
        if (order) return order;
    }
    return 0;
}

/* Numbers come last. */
int expr_order(const symbol_table *t, expr a, expr b) {
    if (a == b) return 0;
    if (expr_is_number(a) && expr_is_number(b)) return a < b ? -1 : 1;
    const poly_record *p = record_of(t, a), *q = record_of(t, b);
    if (!p || !q) return p ? -1 : 1;
    for (uint32_t i = 0; i < p->n && i < q->n; i++) {
        int order = term_order(t, &p->terms[i], &q->terms[i]);
        if (order) return order;
        if (p->terms[i].factor != q->terms[i].factor) return p->terms[i].factor < q->terms[i].factor ? -1 : 1;
    }
    return p->n > q->n ? -1 : 1;
}

/* ---- atoms ------------------------------------------------------------------------------------------------- */

static uint64_t hash_atom(const atom *a) {
    const int64_t parts[4] = { a->kind, a->divisor, a->a, a->b };
    uint64_t hash = hash_bytes(seed, parts, sizeof parts);
    return a->kind == ATOM_SYMBOL ? hash_bytes(hash, a->range.name.data, a->range.name.size) : hash;
}

static bool same_atom(const atom *a, const atom *b) {
    return a->hash == b->hash && a->kind == b->kind && a->divisor == b->divisor && a->a == b->a && a->b == b->b &&
           xir_str_equal(a->range.name, b->range.name);
}

static uint32_t *atom_slot(const symbol_table *t, const atom *like) {
    size_t at = like->hash & (t->hash_room - 1);
    while (t->by_hash[at] && !same_atom(&t->atoms[t->by_hash[at] - 1], like)) at = (at + 1) & (t->hash_room - 1);
    return &t->by_hash[at];
}

static bool grow_atoms(symbol_table *t) {
    const xir_allocator *alloc = t->pool->arena.alloc;
    size_t room = t->hash_room ? t->hash_room * 2 : 32;
    if (!mem_reserve(alloc, (void **)&t->atoms, &t->atom_room, t->n_atoms + 1, sizeof *t->atoms)) return false;
    if ((t->n_atoms + 1) * 2 <= t->hash_room) return true;
    if (t->n_atoms >= UINT32_MAX / 4) return false;
    uint32_t *slots = mem_new(alloc, room * sizeof *slots);
    if (!slots) return false;
    memset(slots, 0, room * sizeof *slots);
    mem_free(alloc, t->by_hash, t->hash_room * sizeof *slots);
    t->by_hash = slots;
    t->hash_room = room;
    for (size_t i = 0; i < t->n_atoms; i++) *atom_slot(t, &t->atoms[i]) = (uint32_t)i + 1;
    return true;
}

/* Weight and depth of an atom with this part. */
static void weigh(const symbol_table *t, expr part, atom *out) {
    const poly_record *record = record_of(t, part);
    for (uint32_t i = 0; record && i < record->n; i++) {
        const poly_term *term = &record->terms[i];
        out->weight++;
        for (uint32_t k = 0; k < term->n; k++) {
            const atom *inner = &t->atoms[term->atoms[k]];
            out->weight += inner->weight;
            if (inner->depth >= out->depth) out->depth = inner->depth + 1;
        }
    }
}

/* The values of an atom, from those of its parts. */
static void set_range(const object_pool *pool, atom *a) {
    int64_t least[2] = { 0 }, most[2] = { 0 };
    a->as_of = pool->symbols->narrowed;
    if (a->kind == ATOM_SYMBOL) return;
    expr_range(pool, a->a, &least[0], &most[0]);
    if (a->kind == ATOM_FLOOR) {
        a->range.least = least[0] == INT64_MIN ? INT64_MIN : floor_div_i64(least[0], a->divisor);
        a->range.most = most[0] == INT64_MAX ? INT64_MAX : floor_div_i64(most[0], a->divisor);
        return;
    }
    expr_range(pool, a->b, &least[1], &most[1]);
    bool max = a->kind == ATOM_MAX;
    a->range.least = (least[0] > least[1]) == max ? least[0] : least[1];
    a->range.most = (most[0] > most[1]) == max ? most[0] : most[1];
}

const symbol *atom_range(const object_pool *pool, uint32_t i) {
    atom *a = &pool->symbols->atoms[i];
    if (a->as_of != pool->symbols->narrowed) set_range(pool, a);
    return &a->range;
}

bool atom_of(object_pool *pool, const atom *like, uint32_t *out) {
    symbol_table *t = symbol_table_of(pool);
    atom made = *like;
    made.hash = hash_atom(&made);
    if (!t) return false;
    if (!grow_atoms(t)) return no_memory(t);
    uint32_t *slot = atom_slot(t, &made);
    if (*slot) {
        *out = *slot - 1;
        return true;
    }
    made.weight = made.depth = 1;
    if (made.kind != ATOM_SYMBOL) weigh(t, made.a, &made);
    if (made.kind == ATOM_MAX || made.kind == ATOM_MIN) weigh(t, made.b, &made);
    const xir_limits *limits = &pool->ctx->limits;
    if (made.weight > limits->max_expr_weight || made.depth > limits->max_expr_depth) return false;
    set_range(pool, &made);
    *out = (uint32_t)t->n_atoms;
    t->atoms[t->n_atoms++] = made;
    *slot = *out + 1;
    return true;
}

/* ---- records ----------------------------------------------------------------------------------------------- */

static const poly_record **record_slot(const symbol_table *t, expr handle) {
    size_t at = (uint64_t)handle & (t->record_room - 1);
    while (t->records[at] && t->records[at]->handle != handle) at = (at + 1) & (t->record_room - 1);
    return &t->records[at];
}

const poly_record *record_of(const symbol_table *t, expr handle) {
    return t && t->n_records && expr_is_symbolic(handle) ? *record_slot(t, handle) : NULL;
}

bool expr_is_of(const object_pool *pool, expr e) { return record_of(pool_with(pool, e)->symbols, e) != NULL; }

static bool grow_records(symbol_table *t) {
    if ((t->n_records + 1) * 2 <= t->record_room) return true;
    size_t before = t->record_room, room = before ? before * 2 : 32;
    const poly_record **old = t->records, **now = mem_new(t->pool->arena.alloc, room * sizeof *now);
    if (!now) return false;
    memset((void *)now, 0, room * sizeof *now);
    t->records = now;
    t->record_room = room;
    for (size_t i = 0; i < before; i++) {
        if (old[i]) *record_slot(t, old[i]->handle) = old[i];
    }
    mem_free(t->pool->arena.alloc, (void *)old, before * sizeof *old);
    return true;
}

/* The part of a term that means something. */
static size_t term_bytes(const poly_term *term) {
    return offsetof(poly_term, atoms) + term->n * sizeof *term->atoms;
}

/* From the contents, not from the numbers of atoms, which differ from pool to pool. */
static expr handle_of(const symbol_table *t, const poly *p) {
    uint64_t hash = hash_mix(seed, p->n + 1);
    for (uint32_t i = 0; i < p->n; i++) {
        const poly_term *term = &p->terms[i];
        hash = hash_bytes(hash, &term->factor, sizeof term->factor);
        for (uint32_t k = 0; k < term->n; k++) {
            hash = hash_bytes(hash, &t->atoms[term->atoms[k]].hash, sizeof t->atoms[0].hash);
        }
    }
    int64_t below = (int64_t)(hash >> 2);   // 0 to 2^62 - 1
    if (below == -(EXPR_LEAST + 1)) below = 0;   // would be EXPR_UNKNOWN
    return EXPR_LEAST - 1 - below;
}

static bool same_terms(const poly_record *r, const poly *p) {
    if (r->n != p->n) return false;
    for (uint32_t i = 0; i < p->n; i++) {
        const poly_term *a = &r->terms[i], *b = &p->terms[i];
        if (a->n != b->n || memcmp(a, b, term_bytes(b))) return false;
    }
    return true;
}

void poly_load(const object_pool *pool, expr e, poly *out) {
    if (expr_is_symbolic(e) && pool_with(pool, e) != pool)
        e = expr_translate((object_pool *)(uintptr_t)pool, pool->base, e);
    if (expr_is_number(e)) {
        poly_number(out, e);
        return;
    }
    const poly_record *record = record_of(pool->symbols, e);
    out->unknown = !record;
    out->n = record ? record->n : 0;
    for (uint32_t i = 0; i < out->n; i++) memcpy(&out->terms[i], &record->terms[i], sizeof record->terms[i]);
}

expr poly_store(object_pool *pool, const poly *p) {
    int64_t number;
    uint32_t weight = 0;
    symbol_table *t = pool->symbols;
    if (p->unknown) return EXPR_UNKNOWN;
    if (poly_is_number(p, &number)) return number;
    for (uint32_t i = 0; i < p->n; i++) {
        weight++;
        for (uint32_t k = 0; k < p->terms[i].n; k++) weight += t->atoms[p->terms[i].atoms[k]].weight;
    }
    if (weight > pool->ctx->limits.max_expr_weight) return EXPR_UNKNOWN;
    expr handle = handle_of(t, p);
    const poly_record *known = record_of(t, handle);
    if (known) return same_terms(known, p) ? handle : EXPR_UNKNOWN;   // two polynomials would have one handle
    poly_record *made = grow_records(t) ? arena_take(&pool->arena, sizeof *made + p->n * sizeof *made->terms) : NULL;
    if (!made) {
        no_memory(t);
        return EXPR_UNKNOWN;
    }
    made->handle = handle;
    made->n = p->n;
    memset(made->terms, 0, p->n * sizeof *made->terms);
    for (uint32_t i = 0; i < p->n; i++) memcpy(&made->terms[i], &p->terms[i], term_bytes(&p->terms[i]));
    *record_slot(t, handle) = made;
    t->n_records++;
    return handle;
}

/* ---- symbols ----------------------------------------------------------------------------------------------- */

const symbol *symbol_at(const object_pool *pool, size_t i) {
    const symbol_table *t = pool->symbols;
    return t && i < t->n_symbols ? &t->atoms[t->symbols[i]].range : NULL;
}

size_t symbol_of(const object_pool *pool, expr e) {
    const poly_record *record = record_of(pool->symbols, e);
    if (!record || record->n != 1 || record->terms[0].n != 1 || record->terms[0].factor != 1) return SIZE_MAX;
    const atom *a = &pool->symbols->atoms[record->terms[0].atoms[0]];
    return a->kind == ATOM_SYMBOL ? a->number : SIZE_MAX;
}

bool symbol_name_ok(xir_str name) {
    if (name.size == 0 || name.size > SYMBOL_NAME_MOST) return false;
    const char *end = name.data + name.size;
    for (const char *p = name.data; p < end;) {
        unsigned char c = (unsigned char)*p;
        size_t n = c < 0x80 ? (c >= 0x20 && c != 0x7f) : utf8_length(p, end);
        if (n == 0) return false;
        p += n;
    }
    return true;
}

static expr store_atom(object_pool *pool, uint32_t i) {
    poly p;
    poly_atom(&p, i);
    return poly_store(pool, &p);
}

expr symbol_find(const object_pool *pool, xir_str name) {
    const symbol_table *t = pool->symbols;
    if (!t || !t->n_atoms) return EXPR_UNKNOWN;
    atom like = { .kind = ATOM_SYMBOL, .range.name = name };
    like.hash = hash_atom(&like);
    uint32_t found = *atom_slot(t, &like);
    return found ? store_atom((object_pool *)(uintptr_t)pool, found - 1) : EXPR_UNKNOWN;
}

static xir_status declared_badly(xir_diags *why, xir_status code, const char *format, ...) XIR_PRINTF(3, 4);
static xir_status declared_badly(xir_diags *why, xir_status code, const char *format, ...) {
    va_list args;
    va_start(args, format);
    diag_failv(why, &(xir_diag){ .severity = XIR_ERROR, .code = code, .byte = XIR_NO_BYTE }, format, args);
    va_end(args);
    return code;
}

/* Fewer values for a symbol: what depends on it has fewer values too. */
static void narrow(symbol_table *t, atom *a, int64_t least, int64_t most) {
    if (least <= a->range.least && most >= a->range.most) return;
    if (least > a->range.least) a->range.least = least;
    if (most < a->range.most) a->range.most = most;
    t->narrowed++;
}

xir_status symbol_declare(object_pool *pool, xir_str name, int64_t least, int64_t most, expr *out, xir_diags *why) {
    symbol_table *t = symbol_table_of(pool);
    atom like = { .kind = ATOM_SYMBOL, .range = { name, least, most } };
    uint32_t i;
    if (!symbol_name_ok(name)) {
        return declared_badly(why, XIR_E_SYNTAX, "expected the name of a symbol (1 to %d bytes of UTF-8 without "
                              "control characters), found %zu bytes", SYMBOL_NAME_MOST, name.size);
    }
    if (least < 0 || most < least || most >= POLY_FACTOR) {
        return declared_badly(why, XIR_E_BOUNDS, "expected an interval within 0..2^62 - 1 for the symbol '%.*s', "
                              "found %lld..%lld", (int)name.size, name.data, (long long)least, (long long)most);
    }
    if (!t || !grow_atoms(t)) return diag_memory(why);
    like.hash = hash_atom(&like);
    const uint32_t *slot = atom_slot(t, &like);
    if (*slot) {
        atom *old = &t->atoms[*slot - 1];
        if (least > old->range.most || most < old->range.least) {
            return declared_badly(why, XIR_E_EXISTS, "expected values within %lld..%lld for the symbol '%.*s', found "
                                  "%lld..%lld", (long long)old->range.least, (long long)old->range.most,
                                  (int)name.size, name.data, (long long)least, (long long)most);
        }
        i = *slot - 1;
        narrow(t, old, least, most);
    } else if (t->n_symbols >= pool->ctx->limits.max_symbols) {
        return declared_badly(why, XIR_E_LIMIT, "expected up to %u symbols, found more",
                              pool->ctx->limits.max_symbols);
    } else {
        if (!mem_reserve(pool->arena.alloc, (void **)&t->symbols, &t->symbol_room, t->n_symbols + 1,
                         sizeof *t->symbols) || !arena_text(&pool->arena, name, &like.range.name)) {
            return diag_memory(why);
        }
        like.number = (uint32_t)t->n_symbols;
        if (!atom_of(pool, &like, &i)) return diag_memory(why);
        t->symbols[t->n_symbols++] = i;
    }
    *out = store_atom(pool, i);
    if (expr_no_memory(pool)) return diag_memory(why);
    return XIR_OK;
}
